//! `wgmma.mma_async`: shapes and types, descriptors of operands in shared memory, and the products of a warp's 16 rows.
//!
//! Sources: PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions", and CuTe's `mma_traits_sm90_gmma.hpp`.
//! Sums are taken as those of `mma.sync`: exact products and the accumulator in `f64`, in the order of K, rounded once at the end of an
//! instruction. PTX leaves order and precision open.

use cute_layout::atoms::Elem;
use rustc_hash::FxHashMap;

use super::metadata::{Metadata, Misplaced};
use super::{E4M3, E5M2, TYPES, can_saturate, shape};
use crate::emulator::alu::{Format, Mode, Mods, Unknown, bf16_to_f32, f16_to_f64, narrow};
use crate::emulator::lanes::{LANES, Row};
use crate::tensor_map::MapSwizzle;

/// Bytes of a row of an operand: K of every type.
pub(crate) const ROW_BYTES: usize = 32;
/// Bytes that lie together in every layout.
pub(crate) const CHUNK: usize = 16;
/// Rows of A and D that a warp has.
pub(crate) const WARP_ROWS: usize = 16;
/// Rows of A and D that a warpgroup has.
const ROWS: usize = 64;

/// `wgmma.mma_async` of one shape and types, decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WarpgroupMma {
    pub n: usize,
    pub k: usize,
    d: Elem,
    a: Elem,
    b: Elem,
    saturate: bool,
    /// The metadata of A where it is stored by half; K is that of what is stored.
    metadata: Option<Metadata>,
    /// Tells whether A and B are negated.
    pub negate: [bool; 2],
    /// Tells whether A and B lie along M and N in shared memory.
    pub transpose: [bool; 2],
}

impl WarpgroupMma {
    /// `mma_async.sync.aligned.m64n128k16.f32.f16.f16` without its first word, before the immediates are known.
    pub(crate) fn of(modifiers: &[&str]) -> Result<WarpgroupMma, Unknown> {
        let mut mods = Mods::new("wgmma", modifiers);
        mods.required(&[("mma_async", ())])?;
        let sparse = mods.eat("sp");
        for name in ["sync", "aligned"] {
            mods.required(&[(name, ())])?;
        }
        let Some([m, n, k]) = mods.peek().and_then(shape) else {
            return Err(mods.unexpected("a shape such as `.m64n128k16`"));
        };
        let wrong = mods.unexpected(
            "a shape of m64, N a multiple of 8 from 8 to 256, and K of 32 bytes (.sp: of 64)",
        );
        mods.advance();
        let mut saturate = mods.eat("satfinite");
        let mut types = [Elem::F32; 3];
        for ty in &mut types {
            *ty = mods.required(TYPES)?;
        }
        saturate |= mods.eat("satfinite");
        let [d, a, b] = types;
        if a == Elem::B1 {
            for word in ["and", "popc"] {
                mods.required(&[(word, ())])?;
            }
        }
        mods.end()?;
        let is_f8 = |ty| matches!(ty, Elem::F8E4M3 | Elem::F8E5M2);
        let is_i8 = |ty| matches!(ty, Elem::I8 | Elem::U8);
        let types_go = match (d, a, b) {
            (Elem::F16 | Elem::F32, Elem::F16, Elem::F16) => true,
            (Elem::F32, Elem::BF16, Elem::BF16) | (Elem::F32, Elem::TF32, Elem::TF32) => true,
            (Elem::F16 | Elem::F32, a, b) if is_f8(a) && is_f8(b) => true,
            (Elem::I32, Elem::B1, Elem::B1) => true,
            (Elem::I32, a, b) => is_i8(a) && is_i8(b),
            _ => false,
        };
        if !types_go || saturate && !can_saturate(a, d) {
            return Err(mods.unknown("types of D, A and B that wgmma has", "others"));
        }
        let n_goes =
            (8..=256).contains(&n) && n % 8 == 0 && (d != Elem::I32 || n <= 24 || n % 16 == 0);
        let stored = if sparse { k / 2 } else { k };
        let is_whole = stored * a.bits() == 8 * ROW_BYTES as i64;
        if m != ROWS as i64 || !n_goes || !is_whole || sparse && (k % 2 != 0 || a == Elem::B1) {
            return Err(wrong);
        }
        Ok(WarpgroupMma {
            n: n as usize,
            k: stored as usize,
            metadata: sparse.then(|| Metadata::of(a, k as usize, false)),
            d,
            a,
            b,
            saturate,
            negate: [false; 2],
            transpose: [false; 2],
        })
    }

    /// The shape and the type of accumulators, without what may differ between products on the same ones.
    pub(crate) fn shape_alone(&self) -> WarpgroupMma {
        WarpgroupMma {
            a: self.d,
            b: self.d,
            k: 0,
            metadata: None,
            saturate: false,
            negate: [false; 2],
            transpose: [false; 2],
            ..*self
        }
    }

    /// Registers of D and of A that a thread holds.
    pub(crate) fn registers(&self) -> [usize; 2] {
        [self.n / if self.d == Elem::F16 { 4 } else { 2 }, 4]
    }

    /// The types of the elements of D and of A.
    pub(crate) fn elements(&self) -> [Elem; 2] {
        [self.d, self.a]
    }

    /// Tells whether A and B may be negated, and whether they may lie along M and N.
    pub(crate) fn options(&self) -> (bool, bool) {
        (self.d != Elem::I32, self.element_bits() == 16)
    }

    /// Bits of an element of A and B.
    fn element_bits(&self) -> usize {
        8 * ROW_BYTES / self.k
    }

    /// K of B.
    pub(crate) fn k_of_b(&self) -> usize {
        self.k * if self.metadata.is_some() { 2 } else { 1 }
    }

    /// Chunks of a row of B where it lies along K.
    pub(crate) fn chunks_of_b(&self) -> usize {
        self.k_of_b() / self.k * (ROW_BYTES / CHUNK)
    }

    /// The number of selectors of a product of an A that is stored by half; none of another one.
    pub(crate) fn selectors(&self) -> Option<usize> {
        self.metadata.map(|metadata| metadata.selectors())
    }

    /// Says which lanes give the metadata of A.
    pub(crate) fn select(&mut self, selector: usize) {
        if let Some(metadata) = &mut self.metadata {
            metadata.select(selector);
        }
    }

    /// The lanes that give the metadata of A.
    pub(crate) fn giving(&self) -> u32 {
        self.metadata.map_or(0, |metadata| metadata.giving())
    }

    /// Multiplications with an addition of one warp.
    pub(crate) fn macs(&self) -> u64 {
        (WARP_ROWS * self.n * self.k) as u64
    }

    /// The elements of a type that lie side by side in bytes, as many as there are places for.
    fn numbers(&self, ty: Elem, bytes: &[u8], to: &mut [f64]) {
        // The type is asked once, so that the compiler makes vectors of the loops.
        let halves = bytes
            .chunks_exact(2)
            .map(|x| u16::from_le_bytes([x[0], x[1]]));
        let each = to.iter_mut();
        match ty {
            // A product of these is their conjunction.
            Elem::B1 => each
                .enumerate()
                .for_each(|(place, to)| *to = (bytes[place / 8] >> (place % 8) & 1).into()),
            Elem::F16 => each
                .zip(halves)
                .for_each(|(to, half)| *to = f16_to_f64(half.into())),
            Elem::BF16 => each
                .zip(halves)
                .for_each(|(to, half)| *to = bf16_to_f32(half).into()),
            Elem::TF32 => each.zip(bytes.chunks_exact(4)).for_each(|(to, x)| {
                let bits = u32::from_le_bytes([x[0], x[1], x[2], x[3]]);
                // The 13 low bits are not looked at.
                *to = f32::from_bits(bits & !0x1fff).into();
            }),
            Elem::F8E4M3 => each
                .zip(bytes)
                .for_each(|(to, x)| *to = E4M3[usize::from(*x)]),
            Elem::F8E5M2 => each
                .zip(bytes)
                .for_each(|(to, x)| *to = E5M2[usize::from(*x)]),
            Elem::I8 => each.zip(bytes).for_each(|(to, x)| *to = (*x as i8).into()),
            _ => each.zip(bytes).for_each(|(to, x)| *to = (*x).into()),
        }
    }

    /// A, 16 rows by K, of chunks as [`Descriptor::chunks`] gives them.
    pub(crate) fn a_of_chunks(&self, chunks: &[[u8; CHUNK]], a: &mut [f64]) {
        let k = self.k;
        let chunks = (chunks, ROW_BYTES / CHUNK);
        match self.transpose[0] {
            false => self.along(self.a, chunks, |row, at, values| {
                a[row * k + at..][..values.len()].copy_from_slice(values);
            }),
            true => self.across(self.a, chunks.0, WARP_ROWS, |row, at, values| {
                let lines = a[row * k..].chunks_mut(k);
                lines
                    .zip(values)
                    .for_each(|(line, value)| line[at] = *value);
            }),
        }
        self.negated(0, a);
    }

    /// B, K by N, of chunks as [`Descriptor::chunks`] gives them.
    fn b_of_chunks(&self, chunks: &[[u8; CHUNK]], b: &mut [f64]) {
        let n = self.n;
        match self.transpose[1] {
            false => self.along(
                self.b,
                (chunks, self.chunks_of_b()),
                |column, at, values| {
                    let lines = b[at * n..].chunks_mut(n);
                    lines
                        .zip(values)
                        .for_each(|(line, value)| line[column] = *value);
                },
            ),
            true => self.across(self.b, chunks, n, |column, at, values| {
                b[at * n + column..][..values.len()].copy_from_slice(values);
            }),
        }
        self.negated(1, b);
    }

    /// Takes chunks that lie along K apart, so many a row: `put` gets a row, where in K the first element of a chunk is, and all of them.
    fn along(
        &self,
        ty: Elem,
        (chunks, in_row): (&[[u8; CHUNK]], usize),
        mut put: impl FnMut(usize, usize, &[f64]),
    ) {
        let mut values = [0.0; 8 * CHUNK];
        let values = &mut values[..8 * CHUNK / self.element_bits()];
        for (row, chunks) in chunks.chunks(in_row).enumerate() {
            for (index, chunk) in chunks.iter().enumerate() {
                self.numbers(ty, chunk, values);
                put(row, index * values.len(), values);
            }
        }
    }

    /// Takes chunks apart that lie along M or N: `put` gets the first row of a chunk, its place in K, and the elements of the rows from there.
    fn across(
        &self,
        ty: Elem,
        chunks: &[[u8; CHUNK]],
        extent: usize,
        mut put: impl FnMut(usize, usize, &[f64]),
    ) {
        let mut values = [0.0; 8 * CHUNK];
        let values = &mut values[..8 * CHUNK / self.element_bits()];
        for (at, chunks) in chunks.chunks(extent / values.len()).enumerate() {
            for (index, chunk) in chunks.iter().enumerate() {
                self.numbers(ty, chunk, values);
                put(index * values.len(), at, values);
            }
        }
    }

    fn negated(&self, operand: usize, values: &mut [f64]) {
        if self.negate[operand] {
            for value in values {
                *value = -*value;
            }
        }
    }

    /// A, 16 rows by K, of four registers.
    pub(crate) fn a_of_registers(&self, rows: &[Row], a: &mut [f64]) {
        let each = 32 / self.element_bits();
        for (register, row) in rows.iter().enumerate() {
            for (lane, word) in row.iter().enumerate() {
                let word = (*word as u32).to_le_bytes();
                let at = lane / 4 + register % 2 * 8;
                let start = lane % 4 * each + register / 2 * (self.k / 2);
                let to = &mut a[at * self.k + start..][..each];
                self.numbers(self.a, &word, to);
            }
        }
        self.negated(0, a);
    }

    /// The first of eight rows, and the first of eight columns, of what lanes hold in a register of D: each four lanes a row, in which two columns
    /// lie between one and the next. Of two elements in a register the second one lies beside the first.
    fn place(&self, register: usize) -> (usize, usize) {
        match self.d == Elem::F16 {
            true => (register % 2 * 8, register / 2 * 8),
            false => (register / 2 % 2 * 8, register / 4 * 8 + register % 2),
        }
    }

    /// Accumulators, 16 rows by N, of registers.
    pub(crate) fn read_d(&self, rows: &[Row], sum: &mut [f64]) {
        match self.d {
            Elem::F16 => self.read_pairs(rows, sum),
            Elem::I32 => self.read_words(rows, sum, |word| (word as i32).into()),
            _ => self.read_words(rows, sum, |word| f32::from_bits(word as u32).into()),
        }
    }

    fn read_pairs(&self, rows: &[Row], sum: &mut [f64]) {
        for (register, row) in rows.iter().enumerate() {
            let (first, column) = self.place(register);
            let lines = sum[first * self.n..].chunks_mut(self.n);
            for (line, words) in lines.zip(row.chunks_exact(4)) {
                for (to, word) in line[column..].chunks_exact_mut(2).zip(words) {
                    to[0] = f16_to_f64(word & 0xffff);
                    to[1] = f16_to_f64(word >> 16 & 0xffff);
                }
            }
        }
    }

    #[inline(always)]
    fn read_words(&self, rows: &[Row], sum: &mut [f64], number: impl Fn(u64) -> f64) {
        for (register, row) in rows.iter().enumerate() {
            let (first, column) = self.place(register);
            let lines = sum[first * self.n..].chunks_mut(self.n);
            for (line, words) in lines.zip(row.chunks_exact(4)) {
                for (to, word) in line[column..].iter_mut().step_by(2).zip(words) {
                    *to = number(*word);
                }
            }
        }
    }

    /// Registers of accumulators, 16 rows by N.
    pub(crate) fn write_d(&self, sum: &[f64], rows: &mut [Row]) {
        match self.d {
            Elem::F16 => self.write_pairs(sum, rows),
            // Exact: 32 products of bytes, or 256 of bits, and a number of 32 bits.
            Elem::I32 if self.saturate => {
                self.write_words(sum, rows, |x| u64::from(x as i32 as u32));
            }
            Elem::I32 => self.write_words(sum, rows, |x| u64::from(x as i64 as u32)),
            _ => self.write_words(sum, rows, |x| match x.is_nan() {
                true => Format::F32.nan,
                false => u64::from((x as f32).to_bits()),
            }),
        }
    }

    fn write_pairs(&self, sum: &[f64], rows: &mut [Row]) {
        let half = |x: f64| narrow(x, Format::F16, Mode::Rn);
        for (register, row) in rows.iter_mut().enumerate() {
            let (first, column) = self.place(register);
            let lines = sum[first * self.n..].chunks(self.n);
            for (line, words) in lines.zip(row.chunks_exact_mut(4)) {
                for (from, word) in line[column..].chunks_exact(2).zip(words) {
                    *word = half(from[1]) << 16 | half(from[0]);
                }
            }
        }
    }

    #[inline(always)]
    fn write_words(&self, sum: &[f64], rows: &mut [Row], bits: impl Fn(f64) -> u64) {
        for (register, row) in rows.iter_mut().enumerate() {
            let (first, column) = self.place(register);
            let lines = sum[first * self.n..].chunks(self.n);
            for (line, words) in lines.zip(row.chunks_exact_mut(4)) {
                for (from, word) in line[column..].iter().step_by(2).zip(words) {
                    *word = bits(*from);
                }
            }
        }
    }

    /// D = A B + D: A what 16 rows store of K, by its metadata, B K by N, D 16 rows by N. Returns metadata that are wrong, with which
    /// the product means nothing.
    pub(crate) fn multiply_sparse(
        &self,
        a: &[f64],
        b: &[f64],
        d: &mut [f64],
        words: &Row,
    ) -> Option<Misplaced> {
        let metadata = self.metadata?;
        for (row, (a, d)) in a
            .chunks_exact(self.k)
            .zip(d.chunks_exact_mut(self.n))
            .enumerate()
        {
            let columns = metadata.columns(row, words);
            for (a, column) in a.iter().zip(columns) {
                for (d, b) in d.iter_mut().zip(&b[column * self.n..][..self.n]) {
                    *d += a * b;
                }
            }
        }
        metadata.misplaced(words, |row, at| a[row * self.k + at] == 0.0)
    }

    /// D = A B + D: A 16 rows by K, B K by N, D 16 rows by N.
    pub(crate) fn multiply(&self, a: &[f64], b: &[f64], d: &mut [f64]) {
        for (a, d) in a.chunks_exact(self.k).zip(d.chunks_exact_mut(self.n)) {
            for (a, b) in a.iter().zip(b.chunks_exact(self.n)) {
                for (d, b) in d.iter_mut().zip(b) {
                    *d += a * b;
                }
            }
        }
    }
}

/// Factors B that were read from shared memory, by the rank of the block and the descriptor: the warps of a warpgroup read the same one.
#[derive(Default)]
pub(crate) struct Factors(FxHashMap<(u32, u64), Factor>);

struct Factor {
    mma: WarpgroupMma,
    chunks: Vec<[u8; CHUNK]>,
    numbers: Vec<f64>,
}

/// Factors that are kept, at most.
const MOST_FACTORS: usize = 32;

impl Factors {
    /// B, K by N, of chunks as [`Descriptor::chunks`] gives them for the descriptor of a block.
    pub(crate) fn of(
        &mut self,
        mma: &WarpgroupMma,
        place: (u32, u64),
        chunks: Vec<[u8; CHUNK]>,
    ) -> &[f64] {
        if self.0.len() == MOST_FACTORS && !self.0.contains_key(&place) {
            self.0.clear();
        }
        let factor = self.0.entry(place).or_insert_with(|| Factor {
            mma: *mma,
            chunks: Vec::new(),
            numbers: Vec::new(),
        });
        // Memory may have changed in between.
        if factor.mma != *mma || factor.chunks != chunks {
            factor.numbers.clear();
            factor.numbers.resize(mma.k_of_b() * mma.n, 0.0);
            mma.b_of_chunks(&chunks, &mut factor.numbers);
            (factor.mma, factor.chunks) = (*mma, chunks);
        }
        &factor.numbers
    }
}

/// The place of an operand in shared memory (PTX ISA, "Matrix Descriptor Format").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Descriptor {
    start: u64,
    leading: u64,
    stride: u64,
    pub swizzle: MapSwizzle,
}

impl Descriptor {
    /// Error: what no descriptor says, in words.
    pub(crate) fn of(bits: u64) -> Result<Descriptor, String> {
        let field = |at: u32| (bits >> at & 0x3fff) << 4;
        // What has no meaning is zero.
        let unused = bits & 0x3ff1_c000_c000_c000;
        if unused != 0 {
            return Err(format!(
                "expected a matrix descriptor, found {bits:#018x}, which has bits {unused:#x} that mean nothing; keep addresses and offsets to 14 bits of 16 bytes"
            ));
        }
        let swizzle = match bits >> 62 {
            0 => MapSwizzle::None,
            1 => MapSwizzle::B128,
            2 => MapSwizzle::B64,
            _ => MapSwizzle::B32,
        };
        let found = bits >> 49 & 7;
        let start = field(0);
        let rows = (1u64 << swizzle.bits()) - 1;
        if found != 0 || start >> 7 & rows != 0 {
            return Err(format!(
                "expected an operand whose swizzle pattern begins at a multiple of {} bytes, with a base offset of 0, found one in the pattern that holds {start:#x}, with {found}; align it",
                128 << swizzle.bits()
            ));
        }
        Ok(Descriptor {
            start,
            leading: field(16),
            stride: field(32),
            swizzle,
        })
    }

    /// Addresses of the chunks of an operand: of `extent` rows or columns from `first` on. Along K, `in_row` chunks a row; else all chunks of
    /// one k after those of the one before.
    pub(crate) fn chunks(
        &self,
        (transposed, in_row): (bool, usize),
        first: usize,
        extent: usize,
        k: usize,
    ) -> impl Iterator<Item = u64> + '_ {
        let span = self.swizzle.span().unwrap_or(CHUNK) as u64;
        let wide = span / CHUNK as u64;
        let count = if transposed {
            extent / 8 * k
        } else {
            extent * in_row
        };
        (0..count).map(move |index| {
            let offset = if transposed {
                let (chunk, k) = (first / 8 + index % (extent / 8), index / (extent / 8));
                let (chunk, k) = (chunk as u64, k as u64);
                let (along, groups) = match self.swizzle {
                    MapSwizzle::None => (self.stride, self.leading),
                    _ => (self.leading, self.stride),
                };
                chunk % wide * CHUNK as u64 + chunk / wide * along + k % 8 * span + k / 8 * groups
            } else {
                let (row, chunk) = ((first + index / in_row) as u64, (index % in_row) as u64);
                let apart = match self.swizzle {
                    MapSwizzle::None => self.leading,
                    _ => CHUNK as u64,
                };
                row % 8 * span + row / 8 * self.stride + chunk * apart
            };
            self.swizzle.apply(self.start + offset)
        })
    }
}

/// A row of zeros.
pub(crate) const ZEROS: Row = [0; LANES];
