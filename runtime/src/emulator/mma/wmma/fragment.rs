//! Fragments on their way between memory and registers: `wmma.load` and `wmma.store`.

use cute_layout::atoms::Elem;

use super::super::table::Table;
use super::super::{LAYOUTS, TYPES, gather_bits};
use super::{Form, HALVES, Part, Places, SHAPES, Shape, Wmma, is_narrow, sum_of};
use crate::emulator::alu::{Mods, Unknown};
use crate::emulator::lanes::{LANES, Row};
use crate::emulator::program::Space;

/// A fragment of one shape and type as `wmma.load` and `wmma.store` move it.
#[derive(Clone, Debug)]
pub(crate) struct Fragment {
    /// The form that products of it have to have, too.
    pub form: Form,
    /// The places of values in the matrix, line by line: a line is a row, or with `.col` a column.
    table: Table,
    /// Bytes of what is moved as one: of an element, or of a register of those that have less than a byte.
    pub bytes: usize,
    /// Elements of what is moved as one.
    pub elements: usize,
    /// The number of these in a line.
    pub length: usize,
    /// The accesses of the warp, which reach every element once.
    pub pieces: Vec<Piece>,
}

/// One access of a warp to memory: elements that lie side by side, for each lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    /// Bytes of a lane.
    pub bytes: usize,
    /// The line, and the first element in it, by lane.
    pub places: [(usize, usize); LANES],
}

/// `wmma.load` or `wmma.store`, decoded.
#[derive(Clone, Debug)]
pub(crate) struct Move {
    pub fragment: Fragment,
    pub is_store: bool,
    pub space: Space,
}

impl Move {
    /// `load.a.sync.aligned.row.m16n16k16.global.f16`, where what follows `aligned` comes in any order. Errors: a modifier that is not known,
    /// or that is missing; a shape that has no such type.
    pub(crate) fn of(modifiers: &[&str]) -> Result<Move, Unknown> {
        let mut mods = Mods::new("wmma", modifiers);
        let is_store = mods.required(&[("load", false), ("store", true)])?;
        let part = match is_store {
            true => mods.required(&[("d", Part::C)])?,
            false => mods.required(&[("a", Part::A), ("b", Part::B), ("c", Part::C)])?,
        };
        mods.required(&[("sync", ())])?;
        mods.required(&[("aligned", ())])?;
        let spaces = [
            ("global", Space::Global),
            ("shared", Space::Shared),
            ("shared::cta", Space::Shared),
        ];
        let (mut columns, mut shape, mut space, mut ty) = (None, None, None, None);
        while mods.peek().is_some() {
            let read = take(&mut mods, LAYOUTS, &mut columns)
                || take(&mut mods, SHAPES, &mut shape)
                || take(&mut mods, &spaces, &mut space)
                || take(&mut mods, TYPES, &mut ty);
            if !read {
                return Err(mods.unexpected(
                    "a layout, a shape, `.global` or `.shared`, and a type, each at most once",
                ));
            }
        }
        let (Some(columns), Some(shape), Some(ty)) = (columns, shape, ty) else {
            return Err(mods.unexpected("a layout, a shape and a type"));
        };
        if is_narrow(ty) && columns != (part == Part::B) {
            return Err(mods.unknown(
                "`.row` of A and `.col` of B where elements have less than a byte",
                "the other layout",
            ));
        }
        let fragment = Fragment::of(shape, part, ty, columns);
        Ok(Move {
            fragment: fragment
                .ok_or_else(|| mods.unknown("a shape with a type that it has", "another"))?,
            is_store,
            space: space.unwrap_or(Space::Generic),
        })
    }
}

/// Reads a modifier that was not read before.
fn take<T: Copy>(mods: &mut Mods<'_>, table: &[(&str, T)], to: &mut Option<T>) -> bool {
    if to.is_none() {
        *to = mods.one_of(table);
        return to.is_some();
    }
    false
}

impl Fragment {
    fn of(shape: Shape, part: Part, ty: Elem, columns: bool) -> Option<Fragment> {
        // Any types of the other operands will do.
        let element = match (part, ty) {
            (Part::A | Part::B, ty) => ty,
            (Part::C, Elem::F32) if shape.extents[2] == 8 => Elem::TF32,
            (Part::C, Elem::F16 | Elem::F32) => Elem::F16,
            (Part::C, Elem::I32) => match shape.extents[2] {
                32 => Elem::I4,
                128 => Elem::B1,
                _ => Elem::I8,
            },
            (Part::C, ty) => ty,
        };
        let sum = match part {
            Part::C => ty,
            _ => sum_of(element),
        };
        let wmma = Wmma::new(shape, [sum, element, element, sum], false)?;
        let [m, n, k] = shape.extents;
        let (rows, width) = match part {
            Part::A => (m, k),
            Part::B => (k, n),
            Part::C => (m, n),
        };
        let of_element = usize::try_from(ty.bits()).ok()?;
        // What a lane has of these fills a register, and lies side by side.
        let bits = if is_narrow(ty) { 32 } else { of_element };
        let (bytes, elements) = (bits / 8, bits / of_element);
        let length = if columns { rows } else { width } / elements;
        let turn = |(row, column)| {
            let (line, offset) = if columns {
                (column, row)
            } else {
                (row, column)
            };
            (line, offset / elements)
        };
        let lines: Places = wmma
            .places(part)
            .into_iter()
            .step_by(elements)
            .map(|lanes| lanes.map(turn))
            .collect();
        let place = |(line, offset): (usize, usize)| (line * length + offset) as u16;
        let mut table: Vec<[u16; LANES]> = lines.iter().map(|lanes| lanes.map(place)).collect();
        if part != Part::C && ty == Elem::F16 {
            table = table.iter().copied().cycle().take(HALVES).collect();
        }
        Some(Fragment {
            form: Form {
                part,
                extents: shape.extents,
                ty,
                columns: (part != Part::C).then_some(columns),
            },
            table: Table::with_places(bits, table),
            bytes,
            elements,
            length,
            pieces: pieces(&lines, bytes),
        })
    }

    /// Registers of a lane: of 64 bits for `f64`, else of 32.
    pub(crate) fn registers(&self) -> usize {
        self.table.registers()
    }

    /// Tells whether the registers have 64 bits.
    pub(crate) fn is_double(&self) -> bool {
        self.bytes == 8
    }

    /// Bytes of what a lane holds, to which lines are aligned.
    pub(crate) fn size(&self) -> usize {
        self.registers() * self.bytes.max(4)
    }

    /// Registers of the elements of a matrix, line by line.
    pub(crate) fn to_registers(&self, elements: &[u64], registers: &mut [Row]) {
        self.table.write(elements, registers, |element| element);
    }

    /// Elements of a matrix, line by line, of registers.
    pub(crate) fn to_elements(&self, registers: &[Row], elements: &mut [u64]) {
        gather_bits(&self.table, self.bytes, registers, elements);
    }
}

/// The accesses by which the machine moves a fragment: what a lane holds side by side in memory at once, up to 16 bytes. Elements of 16 bits that
/// lie across go in pairs that lie along, and lanes exchange them.
fn pieces(lines: &Places, bytes: usize) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut rest = lines.as_slice();
    while let Some(first) = rest.first() {
        let beside = |(distance, lanes): (usize, &[(usize, usize); LANES])| {
            let pairs = lanes.iter().zip(first);
            pairs
                .clone()
                .all(|(place, first)| *place == (first.0, first.1 + distance))
        };
        let mut count = rest
            .iter()
            .enumerate()
            .take_while(|(at, lanes)| beside((*at, lanes)))
            .count();
        count = 1 << count.min(16 / bytes).ilog2();
        let mut places = *first;
        if count == 1 && bytes == 2 {
            // Two values of each lane are a block of 8 x 8.
            let (line, offset) = first[0];
            places = std::array::from_fn(|lane| (line + lane / 4, offset + 2 * (lane % 4)));
            count = 2;
        }
        pieces.push(Piece {
            bytes: bytes * count,
            places,
        });
        rest = &rest[count.min(rest.len())..];
    }
    pieces
}
