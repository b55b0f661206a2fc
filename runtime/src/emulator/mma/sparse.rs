//! `mma.sp`: products of a matrix A that is stored by half, by [`Metadata`] that say which half.
//!
//! Where elements of A are stored in registers is as in the dense product of half the K; B, C and D are as in the dense one.
//! Source: PTX ISA, "Matrix fragments for sparse mma".

use cute_layout::atoms::{Elem, MmaAtom};

use super::metadata::{MOST, Metadata, Misplaced, QUAD, ROWS};
use super::table::Table;
use super::{LAYOUTS, Mma, N, TYPES, can_saturate, gather, gather_integers, shape};
use crate::emulator::alu::{Format, Mode, Mods, Unknown, narrow};
use crate::emulator::{LANES, Row};

/// `mma.sp` of one shape and types, decoded.
#[derive(Clone, Debug)]
pub(crate) struct SparseMma {
    /// The product of what A stores: half of K.
    half: Mma,
    /// The places of the values of B that lanes hold, of all of K.
    b: Table,
    k: usize,
    metadata: Metadata,
}

impl SparseMma {
    /// `mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32` without its first word, before the selector is known. Errors: a modifier
    /// that is not known or not in its place; a shape that has no such types.
    pub(crate) fn of(modifiers: &[&str]) -> Result<SparseMma, Unknown> {
        let mut mods = Mods::new("mma", modifiers);
        let ordered = mods.required(&[("sp", false), ("sp::ordered_metadata", true)])?;
        for name in ["sync", "aligned"] {
            mods.required(&[(name, ())])?;
        }
        let Some([m, n, k]) = mods.peek().and_then(shape) else {
            return Err(mods.unexpected("a shape such as `.m16n8k32`"));
        };
        mods.advance();
        let columns = [mods.required(LAYOUTS)?, mods.required(LAYOUTS)?];
        let saturate = mods.eat("satfinite");
        let mut types = [Elem::F32; 4];
        for ty in &mut types {
            *ty = mods.required(TYPES)?;
        }
        mods.end()?;
        let [d, a, b, c] = types;
        let goes = match a {
            Elem::TF32 => matches!(k, 8 | 16),
            Elem::F16 | Elem::BF16 => matches!(k, 16 | 32),
            Elem::I8 | Elem::U8 => matches!(k, 32 | 64),
            Elem::F8E4M3 | Elem::F8E5M2 => k == 64 && (d, c) == (Elem::F32, Elem::F32),
            Elem::I4 | Elem::U4 => matches!(k, 64 | 128),
            _ => false,
        };
        let unknown = || mods.unknown("a shape with types and layouts that mma.sp has", "others");
        if !goes
            || (m, n) != (ROWS as i64, N as i64)
            || columns != [false, true]
            || saturate && !can_saturate(a, d)
        {
            return Err(unknown());
        }
        let atom = MmaAtom::find([m, n, k / 2], a, b, c, d).map_err(|_| unknown())?;
        let half = Mma::from_atom(&atom, saturate).ok_or_else(unknown)?;
        let b = twice(&half.b);
        Ok(SparseMma {
            half,
            b,
            k: k as usize,
            metadata: Metadata::of(a, k as usize, ordered),
        })
    }

    /// Gives the product its selector.
    pub(crate) fn select(&mut self, selector: usize) {
        self.metadata.select(selector);
    }

    /// The number of selectors that the instruction takes; the product of `f16` with sums of `f32` takes some of which nothing is defined.
    pub(crate) fn selectors(&self) -> usize {
        let [d, a, ..] = self.half.types;
        match (d, a, self.k) {
            (Elem::F32, Elem::F16, 32) => QUAD,
            _ => self.metadata.selectors(),
        }
    }

    /// The number of selectors for which something is defined.
    pub(crate) fn defined_selectors(&self) -> usize {
        self.metadata.selectors()
    }

    /// Tells whether its selector means something.
    pub(crate) fn is_selected(&self) -> bool {
        self.metadata.is_selected()
    }

    /// The lanes that give metadata.
    pub(crate) fn giving(&self) -> u32 {
        self.metadata.giving()
    }

    /// Registers of D, A, B and C, each of 32 bits.
    pub(crate) fn registers(&self) -> [usize; 4] {
        let [d, a, _, c] = self.half.registers();
        [d, a, self.b.registers(), c]
    }

    /// The types of the elements of D, A, B and C.
    pub(crate) fn elements(&self) -> [Elem; 4] {
        self.half.types
    }

    /// Multiplications with an addition: by what A stores.
    pub(crate) fn macs(&self) -> u64 {
        self.half.macs()
    }

    /// D = A B + C, where each has the registers that [`SparseMma::registers`] says. Returns metadata that are wrong, with which the
    /// product means nothing.
    pub(crate) fn execute(
        &self,
        [a, b, c]: [&[Row]; 3],
        metadata: &Row,
        d: &mut [Row],
    ) -> Option<Misplaced> {
        match self.half.types[1] {
            Elem::I4 | Elem::U4 | Elem::I8 | Elem::U8 => self.integers([a, b, c], metadata, d),
            _ => self.floats([a, b, c], metadata, d),
        }
    }

    fn floats(&self, [a, b, c]: [&[Row]; 3], metadata: &Row, d: &mut [Row]) -> Option<Misplaced> {
        let [of_d, of_a, of_b, of_c] = self.half.types;
        let (mut left, mut right) = ([0.0; ROWS * MOST], [0.0; 2 * MOST * N]);
        let mut sum = [0.0; ROWS * N];
        gather(&self.half.a, of_a, a, &mut left);
        gather(&self.b, of_b, b, &mut right);
        gather(&self.half.c, of_c, c, &mut sum);
        self.multiply(&left, &right, &mut sum, metadata, |a, b, c| a * b + c);
        self.half.d.write(&sum, d, |x: f64| match of_d {
            Elem::F16 => narrow(x, Format::F16, Mode::Rn),
            _ if x.is_nan() => Format::F32.nan,
            _ => (x as f32).to_bits().into(),
        });
        let held = self.k / 2;
        self.metadata
            .misplaced(metadata, |row, at| left[row * held + at] == 0.0)
    }

    fn integers(&self, [a, b, c]: [&[Row]; 3], metadata: &Row, d: &mut [Row]) -> Option<Misplaced> {
        let [_, of_a, of_b, _] = self.half.types;
        let (mut left, mut right) = ([0; ROWS * MOST], [0; 2 * MOST * N]);
        let (mut start, mut sum) = ([0; ROWS * N], [0; ROWS * N]);
        gather_integers(&self.half.a, of_a, a, &mut left);
        gather_integers(&self.b, of_b, b, &mut right);
        gather_integers(&self.half.c, Elem::I32, c, &mut start);
        // 64 products of bytes are far from 2^31.
        self.multiply(&left, &right, &mut sum, metadata, |a, b, c| a * b + c);
        for (sum, start) in sum.iter_mut().zip(start) {
            *sum = match self.half.saturate {
                true => start.saturating_add(*sum),
                false => start.wrapping_add(*sum),
            };
        }
        self.half.d.write(&sum, d, |x: i32| u64::from(x as u32));
        let held = self.k / 2;
        self.metadata
            .misplaced(metadata, |row, at| left[row * held + at] == 0)
    }

    /// C = A B + C, all by rows; what A does not store is multiplied by nothing.
    fn multiply<T: Copy>(
        &self,
        a: &[T],
        b: &[T],
        c: &mut [T],
        metadata: &Row,
        fma: impl Fn(T, T, T) -> T,
    ) {
        let held = self.k / 2;
        for (row, (a, c)) in a.chunks_exact(held).zip(c.chunks_exact_mut(N)).enumerate() {
            let columns = self.metadata.columns(row, metadata);
            for (a, column) in a.iter().zip(columns) {
                for (c, b) in c.iter_mut().zip(&b[column * N..][..N]) {
                    *c = fma(*a, *b, *c);
                }
            }
        }
    }
}

/// The table of an operand B of twice the K: the second half lies in the registers behind the first.
fn twice(half: &Table) -> Table {
    let elements = half.places().len() * LANES;
    let mut places = half.places().to_vec();
    places.extend(
        half.places()
            .iter()
            .map(|of_lanes| of_lanes.map(|at| at + elements as u16)),
    );
    Table::with_places(half.bits(), places)
}
