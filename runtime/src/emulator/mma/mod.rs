//! Matrix products of a warp, and the instructions that bring matrices into its registers.
//!
//! Which lane holds which element of `mma.sync` stands in one place, [`MmaAtom`]; [`Mma::of`] makes tables of it when a
//! kernel is decoded. Source: PTX ISA, "Matrix multiply-accumulate operation using mma instruction".
//!
//! Products of `f16`, `bf16`, `tf32` and 8-bit floats are exact; they and C are added in `f64`, in the order of K, and the sum is
//! rounded once. PTX leaves order and precision of these sums open, so results of a GPU differ in the
//! last bits. Products of `f64` are a chain of `fma`. Integers are exact, and then wrap, or with
//! `.satfinite` become the nearest.

mod matrix;
mod metadata;
mod sparse;
mod table;
mod warpgroup;
mod wmma;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use cute_layout::atoms::{BitOp, Elem, MmaAtom};

pub(super) use matrix::{Matrices, transpose};
pub(super) use metadata::Misplaced;
pub(super) use sparse::SparseMma;
pub(super) use warpgroup::{CHUNK, Descriptor, Factors, WARP_ROWS, WarpgroupMma, ZEROS};
pub(super) use wmma::{Fragment, MATRIX, Move, REGISTERS, Wmma};

use super::alu::{
    Format, Mode, Mods, Unknown, bf16_to_f32, f16_to_f64, from_bits, fused_f64, narrow,
};
use super::{LANES, Row};
use table::Table;

/// `mma.sync` of one shape and types, decoded.
#[derive(Clone, Debug)]
pub(super) struct Mma {
    /// M, N, K of one product, and how many products a warp makes at once.
    shape: [usize; 3],
    tiles: usize,
    /// D, A, B, C.
    types: [Elem; 4],
    saturate: bool,
    /// The operation that multiplies elements of one bit.
    bit_op: Option<BitOp>,
    /// The rounding of each step of a product of `f64`.
    rounding: Mode,
    /// The places of the values that lanes hold: A by rows, B and C by rows too.
    a: Table,
    b: Table,
    c: Table,
    d: Table,
}

/// Columns of B and C in every shape.
const N: usize = 8;
/// The most elements of A, which are of one bit.
const MOST: usize = 16 * 256;

const TYPES: &[(&str, Elem)] = &[
    ("f16", Elem::F16),
    ("bf16", Elem::BF16),
    ("tf32", Elem::TF32),
    ("f32", Elem::F32),
    ("f64", Elem::F64),
    ("b1", Elem::B1),
    ("s4", Elem::I4),
    ("u4", Elem::U4),
    ("s8", Elem::I8),
    ("u8", Elem::U8),
    ("s32", Elem::I32),
    ("e4m3", Elem::F8E4M3),
    ("e5m2", Elem::F8E5M2),
];

const LAYOUTS: &[(&str, bool)] = &[("row", false), ("col", true)];

const BIT_OPS: &[(&str, BitOp)] = &[("xor", BitOp::Xor), ("and", BitOp::And)];

impl Mma {
    /// `mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32` without its first word. Errors: a modifier that is
    /// not known or not in its place; a shape that has no such types.
    pub(super) fn of(modifiers: &[&str]) -> Result<Mma, Unknown> {
        static KNOWN: Mutex<BTreeMap<String, Mma>> = Mutex::new(BTreeMap::new());
        // Kernels have few of them, many times, and are decoded for each launch.
        let name = modifiers.join(".");
        let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(mma) = known().get(&name) {
            return Ok(mma.clone());
        }
        let mma = Mma::read(modifiers)?;
        known().insert(name, mma.clone());
        Ok(mma)
    }

    fn read(modifiers: &[&str]) -> Result<Mma, Unknown> {
        let mut mods = Mods::new("mma", modifiers);
        mods.required(&[("sync", ())])?;
        mods.required(&[("aligned", ())])?;
        let Some(shape) = mods.peek().and_then(shape) else {
            return Err(mods.unexpected("a shape such as `.m16n8k16`"));
        };
        mods.advance();
        let columns = [mods.required(LAYOUTS)?, mods.required(LAYOUTS)?];
        let saturate = mods.eat("satfinite");
        let mut types = [Elem::F32; 4];
        for ty in &mut types {
            *ty = mods.required(TYPES)?;
        }
        let [d, a, b, c] = types;
        let bit_op = match a {
            Elem::B1 => Some(bit_op(&mut mods)?),
            _ => None,
        };
        mods.end()?;
        let unknown = || mods.unknown("a shape with types and layouts that it has", "others");
        // Of shapes but this, A is always by rows and B by columns.
        let quad_pairs = shape == [8, 8, 4] && a == Elem::F16;
        if saturate && !can_saturate(a, d) || !quad_pairs && columns != [false, true] {
            return Err(unknown());
        }
        let is_byte = |ty| matches!(ty, Elem::F8E4M3 | Elem::F8E5M2);
        let of_bytes = shape == [16, 8, 16]
            && [a, b].into_iter().all(is_byte)
            && matches!((d, c), (Elem::F32, Elem::F32) | (Elem::F16, Elem::F16));
        // Sums of halves on which sums of 32 bits are put.
        let widens = quad_pairs && (d, c) == (Elem::F32, Elem::F16);
        let atom = match (quad_pairs, of_bytes) {
            (true, _) if widens => MmaAtom::named(&quad_pair_name([d, a, b, d], columns)),
            (true, _) => MmaAtom::named(&quad_pair_name(types, columns)),
            // They lie as other bytes do.
            (_, true) => MmaAtom::find(shape, Elem::I8, Elem::I8, Elem::I32, Elem::I32),
            _ => MmaAtom::find(shape, a, b, c, d),
        };
        let mut atom = atom.map_err(|_| unknown())?;
        atom.bit_op = bit_op;
        (atom.a, atom.b, atom.d) = (a, b, d);
        if !widens {
            atom.c = c;
        }
        let mut mma = Mma::from_atom(&atom, saturate).ok_or_else(unknown)?;
        if widens {
            let name = quad_pair_name([c, a, b, c], columns);
            let of_halves = MmaAtom::named(&name).map_err(|_| unknown())?;
            let of_halves = Mma::from_atom(&of_halves, false).ok_or_else(unknown)?;
            (mma.c, mma.types[3]) = (of_halves.c, c);
        }
        Ok(mma)
    }

    /// None for an atom that is no product of this kind.
    fn from_atom(atom: &MmaAtom, saturate: bool) -> Option<Mma> {
        let extent = |i: usize| usize::try_from(atom.shape_mnk[i]).ok();
        let [m, n, k] = [extent(0)?, extent(1)?, extent(2)?];
        if n != N || m * k > MOST {
            return None;
        }
        Some(Mma {
            shape: [m, n, k],
            tiles: LANES / usize::try_from(atom.num_threads().ok()?).ok()?,
            types: [atom.d, atom.a, atom.b, atom.c],
            saturate,
            bit_op: atom.bit_op,
            rounding: Mode::Rn,
            a: Table::of(&atom.thr_id, &atom.a_tv, [m, k], false, atom.a)?,
            b: Table::of(&atom.thr_id, &atom.b_tv, [n, k], true, atom.b)?,
            c: Table::of(&atom.thr_id, &atom.c_tv, [m, n], false, atom.c)?,
            d: Table::of(&atom.thr_id, &atom.c_tv, [m, n], false, atom.d)?,
        })
    }

    /// Registers of D, A, B and C: of 64 bits for `f64`, else of 32.
    pub(super) fn registers(&self) -> [usize; 4] {
        [&self.d, &self.a, &self.b, &self.c].map(Table::registers)
    }

    /// The types of the elements of D, A, B and C.
    pub(super) fn elements(&self) -> [Elem; 4] {
        self.types
    }

    /// Multiplications with an addition.
    pub(super) fn macs(&self) -> u64 {
        let [m, n, k] = self.shape;
        (m * n * k * self.tiles) as u64
    }

    /// D = A B + C, where each has the registers that [`Mma::registers`] says; registers that are missing are zeros.
    pub(super) fn execute(&self, a: &[Row], b: &[Row], c: &[Row], d: &mut [Row]) {
        let [_, _, k] = self.shape;
        match (self.types[1], k) {
            (Elem::F64, _) => self.doubles(a, b, c, d),
            (Elem::I4 | Elem::U4 | Elem::I8 | Elem::U8, _) => {
                self.integers::<1024, 512>(a, b, c, d, |a, b| a * b);
            }
            (Elem::B1, _) => {
                let is_and = self.bit_op == Some(BitOp::And);
                let times = |a: i32, b: i32| if is_and { a & b } else { a ^ b };
                self.integers::<MOST, { MOST / 2 }>(a, b, c, d, times);
            }
            // Of at most these many elements.
            (_, 0..=16) => self.floats::<256, 128>(a, b, c, d),
            _ => self.floats::<512, 256>(a, b, c, d),
        }
    }

    fn floats<const A: usize, const B: usize>(
        &self,
        a: &[Row],
        b: &[Row],
        c: &[Row],
        d: &mut [Row],
    ) {
        let [m, _, k] = self.shape;
        let mut left = [0.0; A];
        let mut right = [0.0; B];
        let mut sum = [0.0; 256];
        gather(&self.a, self.types[1], a, &mut left);
        gather(&self.b, self.types[2], b, &mut right);
        gather(&self.c, self.types[3], c, &mut sum);
        multiply(m, k, self.tiles, &left, &right, &mut sum, |a, b, c| {
            a * b + c
        });
        match self.types[0] {
            Elem::F16 => self.d.write(&sum, d, |x| narrow(x, Format::F16, Mode::Rn)),
            _ => self.d.write(&sum, d, |x| match x.is_nan() {
                true => Format::F32.nan,
                false => (x as f32).to_bits().into(),
            }),
        }
    }

    fn doubles(&self, a: &[Row], b: &[Row], c: &[Row], d: &mut [Row]) {
        let [m, _, k] = self.shape;
        let (mut left, mut right, mut sum) = ([0.0; 256], [0.0; 128], [0.0; 128]);
        gather(&self.a, Elem::F64, a, &mut left);
        gather(&self.b, Elem::F64, b, &mut right);
        gather(&self.c, Elem::F64, c, &mut sum);
        match self.rounding {
            Mode::Rn => multiply(m, k, self.tiles, &left, &right, &mut sum, f64::mul_add),
            mode => multiply(m, k, self.tiles, &left, &right, &mut sum, |a, b, c| {
                fused_f64(a, b, c, mode)
            }),
        }
        self.d.write(&sum, d, |x| match x.is_nan() {
            true => Format::F64.nan,
            false => x.to_bits(),
        });
    }

    fn integers<const A: usize, const B: usize>(
        &self,
        a: &[Row],
        b: &[Row],
        c: &[Row],
        d: &mut [Row],
        times: impl Fn(i32, i32) -> i32,
    ) {
        let [m, _, k] = self.shape;
        let (mut left, mut right) = ([0i32; A], [0i32; B]);
        let (mut start, mut sum) = ([0i32; 128], [0i32; 128]);
        gather_integers(&self.a, self.types[1], a, &mut left);
        gather_integers(&self.b, self.types[2], b, &mut right);
        gather_integers(&self.c, Elem::I32, c, &mut start);
        // 64 products of bytes are far from 2^31.
        multiply(m, k, self.tiles, &left, &right, &mut sum, |a, b, c| {
            times(a, b) + c
        });
        for (sum, start) in sum.iter_mut().zip(start) {
            *sum = match self.saturate {
                true => start.saturating_add(*sum),
                false => start.wrapping_add(*sum),
            };
        }
        self.d.write(&sum, d, |x| u64::from(x as u32));
    }
}

/// C = A B + C for each tile, all by rows.
#[inline(always)]
fn multiply<T: Copy + Default>(
    m: usize,
    k: usize,
    tiles: usize,
    a: &[T],
    b: &[T],
    c: &mut [T],
    fma: impl Fn(T, T, T) -> T,
) {
    for tile in 0..tiles {
        let rows = a[tile * m * k..].chunks_exact(k).take(m);
        let b = &b[tile * k * N..][..k * N];
        for (a, c) in rows.zip(c[tile * m * N..].chunks_exact_mut(N)) {
            let mut sum = [T::default(); N];
            sum.copy_from_slice(c);
            for (a, b) in a.iter().zip(b.chunks_exact(N)) {
                for (sum, b) in sum.iter_mut().zip(b) {
                    *sum = fma(*a, *b, *sum);
                }
            }
            c.copy_from_slice(&sum);
        }
    }
}

static E4M3: [f64; 256] = numbers(Format::E4M3);
static E5M2: [f64; 256] = numbers(Format::E5M2);

/// Every number of a format of 8 bits.
const fn numbers(format: Format) -> [f64; 256] {
    let mut numbers = [0.0; 256];
    let mut bits = 0;
    while bits < 256 {
        numbers[bits] = from_bits(bits as u64, format);
        bits += 1;
    }
    numbers
}

fn gather(table: &Table, ty: Elem, rows: &[Row], to: &mut [f64]) {
    match ty {
        Elem::F16 => table.read(rows, to, f16_to_f64),
        Elem::BF16 => table.read(rows, to, |x| bf16_to_f32(x as u16).into()),
        // The 13 low bits of the register are not looked at.
        Elem::TF32 => table.read(rows, to, |x| f32::from_bits(x as u32 & !0x1fff).into()),
        Elem::F32 => table.read(rows, to, |x| f32::from_bits(x as u32).into()),
        Elem::F8E4M3 => table.read(rows, to, |x| E4M3[x as usize & 0xff]),
        Elem::F8E5M2 => table.read(rows, to, |x| E5M2[x as usize & 0xff]),
        _ => table.read(rows, to, f64::from_bits),
    }
}

fn gather_integers(table: &Table, ty: Elem, rows: &[Row], to: &mut [i32]) {
    match ty {
        Elem::B1 => table.read(rows, to, |x| x as i32 & 1),
        Elem::I4 => table.read(rows, to, |x| (x as i32) << 28 >> 28),
        Elem::U4 => table.read(rows, to, |x| x as i32 & 15),
        Elem::I8 => table.read(rows, to, |x| (x as i8).into()),
        Elem::U8 => table.read(rows, to, |x| (x as u8).into()),
        _ => table.read(rows, to, |x| x as i32),
    }
}

/// Bits of elements as they are.
fn gather_bits(table: &Table, bytes: usize, rows: &[Row], to: &mut [u64]) {
    let mask = u64::MAX >> (64 - 8 * bytes);
    table.read(rows, to, |x| x & mask);
}

/// `.xor.popc` or `.and.popc`.
fn bit_op(mods: &mut Mods<'_>) -> Result<BitOp, Unknown> {
    let op = mods.required(BIT_OPS)?;
    mods.required(&[("popc", ())])?;
    Ok(op)
}

/// Tells whether there is `.satfinite` of these types of A and D; sums of bits have none.
fn can_saturate(a: Elem, d: Elem) -> bool {
    d == Elem::I32 && a != Elem::B1
}

/// M, N, K of `m16n8k16`.
fn shape(name: &str) -> Option<[i64; 3]> {
    let (m, rest) = name.strip_prefix('m')?.split_once('n')?;
    let (n, k) = rest.split_once('k')?;
    Some([m.parse().ok()?, n.parse().ok()?, k.parse().ok()?])
}

/// CuTe's name of the product of quad pairs: T for rows and N for columns, first of A and then of B.
fn quad_pair_name(types: [Elem; 4], columns: [bool; 2]) -> String {
    let [d, a, b, c] = types.map(|ty| ty.name().to_uppercase());
    let [of_a, of_b] = columns.map(|columns| if columns { 'N' } else { 'T' });
    format!("SM70_8x8x4_{d}{a}{b}{c}_{of_a}{of_b}")
}
