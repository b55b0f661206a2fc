//! `wmma`: products of a warp, and fragments on their way between memory and registers.
//!
//! PTX leaves open which lane holds which element of a fragment. Here it is as ptxas has it from sm_80 on, because programs rely on that: a
//! product is one or two of `mma.sync`, so that fragments are made of those of [`MmaAtom`].
//!
//! | shape | product of `mma.sync` |
//! | --- | --- |
//! | m16n16k16, m16n16k8 | A with the left and with the right half of B's columns |
//! | m32n8k16 | the upper and the lower half of A's rows with B |
//! | m8n32k16 | turned: B's columns are the rows of the left operand, in two halves, and A's rows the columns of the right one |
//! | m8n8k4, m8n8k32, m8n8k128 | the same as `mma.sync` |
//!
//! A and B of `f16` have eight registers in every shape. Those that are too many hold the first ones again.
//!
//! Source: PTX ISA, "Matrix multiply-accumulate operation using wmma instructions".

mod fragment;

use std::fmt;

use cute_layout::atoms::{Elem, MmaAtom};

use super::{LAYOUTS, Mma, N, TYPES, bit_op, can_saturate};
use crate::emulator::alu::{Mode, Mods, Unknown};
use crate::emulator::lanes::{LANES, Row};
pub(crate) use fragment::{Fragment, Move};

/// The most elements of a matrix.
pub(crate) const MATRIX: usize = 512;
/// The most registers of a fragment.
pub(crate) const REGISTERS: usize = 8;
/// Values of a fragment of A or B in `f16`.
const HALVES: usize = 16;

/// The elements of a matrix of one shape by row and column, and of one line by its offset, for each value by lane.
type Places = Vec<[(usize, usize); LANES]>;

/// An operand of a product; D is as C.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    A,
    B,
    C,
}

/// The form of a fragment, which a load and the products of what it loads have to agree on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Form {
    part: Part,
    extents: [usize; 3],
    ty: Elem,
    /// Tells whether its lines are columns; none where products do not say.
    columns: Option<bool>,
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [m, n, k] = self.extents;
        let layout = match self.columns {
            Some(true) => ".col",
            Some(false) => ".row",
            None => "",
        };
        write!(f, "{layout}.m{m}n{n}k{k} of {}", self.ty)
    }
}

/// The way that products of `mma.sync` make up one of `wmma`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// Side by side, with one A.
    Columns,
    /// One above the other, with one B.
    Rows,
    /// As [`Way::Rows`], of the transposed product.
    Turned,
}

#[derive(Clone, Copy, Debug)]
struct Shape {
    /// M, N, K.
    extents: [usize; 3],
    way: Way,
    products: usize,
}

const fn shape(extents: [usize; 3], way: Way, products: usize) -> Shape {
    Shape {
        extents,
        way,
        products,
    }
}

const SHAPES: &[(&str, Shape)] = &[
    ("m16n16k16", shape([16, 16, 16], Way::Columns, 2)),
    ("m32n8k16", shape([32, 8, 16], Way::Rows, 2)),
    ("m8n32k16", shape([8, 32, 16], Way::Turned, 2)),
    ("m16n16k8", shape([16, 16, 8], Way::Columns, 2)),
    ("m8n8k4", shape([8, 8, 4], Way::Columns, 1)),
    ("m8n8k32", shape([8, 8, 32], Way::Columns, 1)),
    ("m8n8k128", shape([8, 8, 128], Way::Columns, 1)),
];

impl Shape {
    /// Tells whether the shape has elements of that type in A and B.
    fn has(&self, element: Elem) -> bool {
        match element {
            Elem::F16 | Elem::BF16 | Elem::I8 | Elem::U8 => self.extents[2] == 16,
            Elem::TF32 => self.extents[2] == 8,
            Elem::F64 => self.extents[2] == 4,
            Elem::I4 | Elem::U4 => self.extents[2] == 32,
            Elem::B1 => self.extents[2] == 128,
            _ => false,
        }
    }
}

/// `wmma.mma` of one shape and types, decoded.
#[derive(Clone, Debug)]
pub(crate) struct Wmma {
    /// The product of which it is made.
    mma: Mma,
    shape: Shape,
    /// Tells of A and of B whether their lines are columns.
    columns: [bool; 2],
}

impl Wmma {
    /// `mma.sync.aligned.row.col.m16n16k16.f32.f32` without its first word. Errors: a modifier that is not known or not in its place; a
    /// shape that has no such types.
    pub(crate) fn of(modifiers: &[&str]) -> Result<Wmma, Unknown> {
        let mut mods = Mods::new("wmma", modifiers);
        mods.required(&[("mma", ())])?;
        let bit_op = match mods.peek() {
            Some("xor" | "and") => Some(bit_op(&mut mods)?),
            _ => None,
        };
        for name in ["sync", "aligned"] {
            mods.required(&[(name, ())])?;
        }
        // The places of elements are the same for both layouts.
        let columns = [mods.required(LAYOUTS)?, mods.required(LAYOUTS)?];
        let shape = mods.required(SHAPES)?;
        let mut saturate = mods.eat("satfinite");
        // nvcc has it behind the types.
        let mut rounding = mods.rounding();
        let mut types = vec![mods.required(TYPES)?, mods.required(TYPES)?];
        while types.len() < 4
            && let Some(ty) = mods.one_of(TYPES)
        {
            types.push(ty);
        }
        saturate |= mods.eat("satfinite");
        rounding = rounding.or_else(|| mods.rounding());
        mods.end()?;
        let types = match types[..] {
            [d, c] => [d, Elem::F16, Elem::F16, c],
            [d, a, b, c] if a != Elem::F16 => [d, a, b, c],
            _ => {
                return Err(mods.unknown(
                    "the types of D and C where A and B are `.f16`, else those of D, A, B and C",
                    "others",
                ));
            }
        };
        let unknown = || mods.unknown("a shape with types that it has", "others");
        let [d, a, _, _] = types;
        if saturate && !can_saturate(a, d) || rounding.is_some() && a != Elem::F64 {
            return Err(mods.unknown(
                "`.satfinite` of integers alone, and a rounding of `.f64` alone",
                "another type",
            ));
        }
        if bit_op.is_some() != (a == Elem::B1) {
            return Err(mods.unknown(
                "`.xor.popc` or `.and.popc` behind `wmma.mma` where A and B are `.b1`, and there alone",
                "another type",
            ));
        }
        if is_narrow(a) && columns != [false, true] {
            return Err(mods.unknown(
                "`.row.col` where elements have less than a byte",
                "another layout",
            ));
        }
        let mut wmma = Wmma::new(shape, types, saturate).ok_or_else(unknown)?;
        wmma.mma.rounding = rounding.unwrap_or(Mode::Rn);
        wmma.mma.bit_op = bit_op;
        wmma.columns = columns;
        Ok(wmma)
    }

    /// None where the shape has no such types, of D, A, B and C.
    fn new(shape: Shape, [d, a, b, c]: [Elem; 4], saturate: bool) -> Option<Wmma> {
        let sum = sum_of(a);
        let has = |ty| ty == sum || a == Elem::F16 && ty == Elem::F16;
        if a != b || !shape.has(a) || !has(c) || !has(d) {
            return None;
        }
        let [m, _, k] = shape.extents;
        let rows = if shape.products == 1 { m } else { 16 };
        let base = [rows as i64, N as i64, k as i64];
        let mut atom = MmaAtom::find(base, a, b, sum, sum).ok()?;
        (atom.c, atom.d) = (c, d);
        let mma = Mma::from_atom(&atom, saturate)?;
        Some(Wmma {
            mma,
            shape,
            columns: [false; 2],
        })
    }

    /// Registers of D, A, B and C: of 64 bits for `f64`, else of 32.
    pub(crate) fn registers(&self) -> [usize; 4] {
        let [d, _, _, c] = self.mma.registers();
        let [a, b] = match self.mma.types[1] {
            Elem::F16 => [HALVES / 2; 2],
            _ => self.distinct(),
        };
        [d * self.shape.products, a, b, c * self.shape.products]
    }

    /// The forms of A, B and C that it takes.
    pub(crate) fn forms(&self) -> [Form; 3] {
        let [a, b] = self.columns.map(Some);
        let [_, of_a, of_b, of_c] = self.mma.types;
        let form = |part, ty, columns| Form {
            part,
            extents: self.shape.extents,
            ty,
            columns,
        };
        [
            form(Part::A, of_a, a),
            form(Part::B, of_b, b),
            form(Part::C, of_c, None),
        ]
    }

    /// Registers of A and B that hold what no other one holds.
    pub(crate) fn distinct(&self) -> [usize; 2] {
        let [_, left, right, _] = self.mma.registers();
        let products = self.shape.products;
        match self.shape.way {
            Way::Columns => [left, right * products],
            Way::Rows => [left * products, right],
            Way::Turned => [right, left * products],
        }
    }

    /// The types of the elements of D, A, B and C.
    pub(crate) fn elements(&self) -> [Elem; 4] {
        self.mma.elements()
    }

    /// Multiplications with an addition.
    pub(crate) fn macs(&self) -> u64 {
        self.mma.macs() * self.shape.products as u64
    }

    /// D = A B + C, where each has the registers that [`Wmma::registers`] says; registers that are missing are zeros.
    pub(crate) fn execute(&self, a: &[Row], b: &[Row], c: &[Row], d: &mut [Row]) {
        let [of_d, of_left, of_right, of_c] = self.mma.registers();
        let (left, right) = match self.shape.way {
            Way::Turned => (b, a),
            _ => (a, b),
        };
        let is_wide = self.shape.way == Way::Columns;
        for (product, d) in d.chunks_exact_mut(of_d).enumerate() {
            let first = |count: usize, moves: bool| if moves { product * count } else { 0 };
            self.mma.execute(
                part(left, first(of_left, !is_wide), of_left),
                part(right, first(of_right, is_wide), of_right),
                part(c, first(of_c, true), of_c),
                d,
            );
        }
    }

    /// Row and column of each value of a fragment.
    fn places(&self, part: Part) -> Places {
        let [m, _, k] = self.mma.shape;
        let Shape { way, products, .. } = self.shape;
        let is_turned = way == Way::Turned;
        let (table, width) = match (part, is_turned) {
            (Part::C, _) => (&self.mma.c, N),
            (Part::A, false) | (Part::B, true) => (&self.mma.a, k),
            (Part::B, false) | (Part::A, true) => (&self.mma.b, N),
        };
        // The rows and columns between what one product has and what the next one has.
        let step = match (part, way) {
            (Part::B | Part::C, Way::Columns) => (0, N),
            (Part::A | Part::C, Way::Rows) | (Part::B | Part::C, Way::Turned) => (m, 0),
            _ => (0, 0),
        };
        let count = if step == (0, 0) { 1 } else { products };
        let mut places = Places::new();
        for product in 0..count {
            for lanes in table.places() {
                places.push(lanes.map(|place| {
                    let place = usize::from(place);
                    let row = place / width + product * step.0;
                    let column = place % width + product * step.1;
                    if is_turned {
                        (column, row)
                    } else {
                        (row, column)
                    }
                }));
            }
        }
        places
    }
}

/// Registers from some on, as many as there are.
fn part(rows: &[Row], first: usize, count: usize) -> &[Row] {
    let rest = rows.get(first..).unwrap_or_default();
    &rest[..count.min(rest.len())]
}

/// The type of sums of products; of `f16` there are those of that type, too.
fn sum_of(factor: Elem) -> Elem {
    match factor {
        Elem::F16 | Elem::BF16 | Elem::TF32 => Elem::F32,
        Elem::I8 | Elem::U8 | Elem::I4 | Elem::U4 | Elem::B1 => Elem::I32,
        other => other,
    }
}

/// Tells whether elements have less than a byte.
fn is_narrow(element: Elem) -> bool {
    element.bits() < 8
}
