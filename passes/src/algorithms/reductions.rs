//! Reductions over the threads of a warp and of a block: `gpu.subgroup_reduce` and `gpu.all_reduce`.
//!
//! In a warp, threads exchange what they have with the thread whose index differs in one bit, bit by bit (a butterfly), so that
//! all of them end with the same sum. The warps of a block tell each other theirs through shared memory.

use super::Lower;
use cute_ir::ops::{arith, cute, gpu, scf, vector};
use cute_ir::{
    Expected, Failure,
    block::block_size,
    mlir::vector_of,
    mlir::*,
    tensor,
    types::{self, MemRef, Space},
};
use cute_layout::{IntTuple, Layout, int};
use melior::ir::{Attribute, Type, ValueLike};

/// Threads of a warp.
const WARP: i64 = crate::arch::WARP;

/// The operation of a reduction on two numbers of a type, by `#gpu<all_reduce_op ...>`.
pub(crate) fn operation(kind: &str, element: Type<'_>) -> Option<&'static str> {
    let float = types::is_float(element);
    Some(match (kind, float) {
        ("add", true) => arith::ADDF,
        ("add", false) => arith::ADDI,
        ("mul", true) => arith::MULF,
        ("mul", false) => arith::MULI,
        ("minnumf", true) => arith::MINNUMF,
        ("maxnumf", true) => arith::MAXNUMF,
        ("minimumf", true) => arith::MINIMUMF,
        ("maximumf", true) => arith::MAXIMUMF,
        ("minsi", false) => arith::MINSI,
        ("maxsi", false) => arith::MAXSI,
        ("minui", false) => arith::MINUI,
        ("maxui", false) => arith::MAXUI,
        ("and", false) => arith::ANDI,
        ("or", false) => arith::ORI,
        ("xor", false) => arith::XORI,
        _ => return None,
    })
}

/// The way in which two numbers become one: the operation of a kind, or the region of `gpu.all_reduce`.
struct Combine<'c> {
    op: Op<'c>,
    name: Option<&'static str>,
    body: Option<Blk<'c>>,
}

impl<'c> Combine<'c> {
    /// Reads how two numbers become one: by `kind`, or by `body` where there is none.
    fn of(
        l: Lower<'c>,
        op: Op<'c>,
        kind: Option<Attribute<'c>>,
        body: Option<Blk<'c>>,
        element: Type<'c>,
    ) -> Result<Self, Failure> {
        let Some(kind) = kind.map(|a| a.to_string()) else {
            return Ok(Self {
                op,
                name: None,
                body,
            });
        };
        let kind = kind
            .strip_prefix("#gpu<all_reduce_op ")
            .and_then(|rest| rest.strip_suffix('>'))
            .unwrap_or(&kind);
        match operation(kind, element) {
            Some(name) => Ok(Self {
                op,
                name: Some(name),
                body,
            }),
            None => Err(l.b.error(format!(
                "'{}' op reduces {element} by {kind}, which is not on such numbers",
                name_of(op)
            ))),
        }
    }

    fn apply(&self, l: Lower<'c>, left: Val<'c>, right: Val<'c>) -> Result<Val<'c>, Failure> {
        let ty = left.r#type();
        match self.name {
            Some(name) => l.b.value(name, &[left, right], ty, &[]),
            None => l.computed(self.op, self.body, &[left, right]),
        }
    }
}

impl<'c> Lower<'c> {
    /// Checks that every warp of the block is whole: the threads of a butterfly wait for each other.
    fn whole_warps(&self, op: Op<'c>) -> Result<Option<i64>, Failure> {
        let Some(size) = block_size(op) else {
            return Ok(None);
        };
        let threads = size.into_iter().fold(1, i64::saturating_mul);
        if threads % WARP != 0 {
            return Err(self.b.error(format!(
                "'{}' is done by whole warps of {WARP} threads, but the kernel's blocks have {threads} threads; expected \
                 known_block_size of a multiple of {WARP} threads",
                name_of(op)
            )));
        }
        Ok(Some(threads))
    }

    /// `gpu.subgroup_reduce`
    pub(super) fn subgroup_reduce(&self, reduce: gpu::SubgroupReduce<'c>) -> Result<bool, Failure> {
        let (op, value) = (reduce.op(), reduce.value());
        self.whole_warps(op)?;
        let size = reduce.cluster_size().and_then(integer_value);
        let stride = reduce.cluster_stride().and_then(integer_value);
        let (size, stride) = (size.unwrap_or(WARP), stride.unwrap_or(1));
        let fits = size.checked_mul(stride).is_some_and(|span| span <= WARP);
        if size < 1 || stride < 1 || !fits || size.count_ones() > 1 || stride.count_ones() > 1 {
            return Err(self.b.error(format!(
                "'{}' op expected clusters of a power of two of threads within a warp of {WARP}, found size {size} and stride \
                 {stride}",
                name_of(op)
            )));
        }
        let ty = value.r#type();
        let combine = |element| Combine::of(*self, op, reduce.op_(), None, element);
        let reduced = match vector_of(ty) {
            None => self.butterfly(&combine(ty)?, value, size, stride)?,
            Some((length, element)) => {
                self.check_vector(length)?;
                let combine = combine(element)?;
                let parts = (0..length)
                    .map(|i| {
                        let at = [("static_position", self.b.i64_array(&[i]))];
                        let part = self.b.value(vector::EXTRACT, &[value], element, &at)?;
                        self.butterfly(&combine, part, size, stride)
                    })
                    .collect::<Result<Vec<_>, _>>()?;
                self.b.value(vector::FROM_ELEMENTS, &parts, ty, &[])?
            }
        };
        replace_uses(reduce.result(), reduced);
        Ok(true)
    }

    fn check_vector(&self, length: i64) -> Result<(), Failure> {
        if length <= super::MOST {
            return Ok(());
        }
        Err(self.b.error(format!(
            "expected a vector of at most {} elements, found {length}",
            super::MOST
        )))
    }

    /// Combines what `size` threads have, each `stride` behind the other, combined for all of them.
    fn butterfly(
        &self,
        combine: &Combine<'c>,
        value: Val<'c>,
        size: i64,
        stride: i64,
    ) -> Result<Val<'c>, Failure> {
        let mut value = value;
        let mut bit = stride;
        while bit < size * stride {
            let other = self.exchanged(value, bit)?;
            value = combine.apply(*self, value, other)?;
            bit *= 2;
        }
        Ok(value)
    }

    /// The value of the thread whose index in the warp differs in `bit`.
    fn exchanged(&self, value: Val<'c>, bit: i64) -> Result<Val<'c>, Failure> {
        let b = self.b;
        let ty = value.r#type();
        let bits = types::element_bits(ty);
        match bits {
            Some(1..=32) => {
                let whole = self.shuffle(self.widened(value)?, bit)?;
                self.narrowed(whole, ty)
            }
            Some(64) => {
                let whole = self.cast(value, b.i64_type())?;
                let half = b.constant(b.i64_type(), 32)?;
                let high = b.value(arith::SHRUI, &[whole, half], b.i64_type(), &[])?;
                let mut halves = [whole, high];
                for part in &mut halves {
                    let narrow = b.value(arith::TRUNCI, &[*part], b.i32_type(), &[])?;
                    let narrow = self.shuffle(narrow, bit)?;
                    *part = b.value(arith::EXTUI, &[narrow], b.i64_type(), &[])?;
                }
                let high = b.value(arith::SHLI, &[halves[1], half], b.i64_type(), &[])?;
                let whole = b.value(arith::ORI, &[halves[0], high], b.i64_type(), &[])?;
                self.cast(whole, ty)
            }
            _ => Err(b.error(format!(
                "expected numbers of at most 64 bits to reduce over threads, found {ty}; numbers of type index are cast by \
                 arith.index_cast"
            ))),
        }
    }

    /// The same bits as another type.
    fn cast(&self, value: Val<'c>, to: Type<'c>) -> Result<Val<'c>, Failure> {
        if value.r#type() == to {
            return Ok(value);
        }
        self.b.value(arith::BITCAST, &[value], to, &[])
    }

    /// The integer of 32 bits that holds a narrower number; others as they are.
    fn widened(&self, value: Val<'c>) -> Result<Val<'c>, Failure> {
        match types::element_bits(value.r#type()) {
            Some(bits @ 1..=31) => {
                let bits = types::int_type(self.b.context, bits as u32);
                let whole = self.cast(value, bits)?;
                let word = self.b.i32_type();
                self.b.value(arith::EXTUI, &[whole], word, &[])
            }
            _ => Ok(value),
        }
    }

    /// The number of type `ty` that [`Lower::widened`] made this of.
    fn narrowed(&self, value: Val<'c>, ty: Type<'c>) -> Result<Val<'c>, Failure> {
        match types::element_bits(ty) {
            Some(bits @ 1..=31) => {
                let bits = types::int_type(self.b.context, bits as u32);
                let part = self.b.value(arith::TRUNCI, &[value], bits, &[])?;
                self.cast(part, ty)
            }
            _ => Ok(value),
        }
    }

    fn shuffle(&self, value: Val<'c>, bit: i64) -> Result<Val<'c>, Failure> {
        let b = self.b;
        let (bit, width) = (b.i32(bit)?, b.i32(WARP)?);
        let mode = [("mode", b.attribute("#gpu<shuffle_mode xor>")?)];
        let types = [value.r#type(), b.ty("i1")?];
        let op = b.op(gpu::SHUFFLE, &[value, bit, width], &types, &mode)?;
        let shuffle = gpu::Shuffle::of(op).expected(b, "a shuffle")?;
        Ok(shuffle.shuffle_result())
    }

    /// The index of the thread in its block, x the fastest.
    fn thread_in_block(&self, size: [i64; 3]) -> Result<Val<'c>, Failure> {
        let b = self.b;
        let mut sum: Option<Val<'c>> = None;
        let mut before = 1;
        for (name, extent) in ["x", "y", "z"].iter().zip(size) {
            if extent != 1 || sum.is_none() {
                let dimension = b.attribute(&format!("#gpu<dim {name}>"))?;
                let index = b.value(
                    gpu::THREAD_ID,
                    &[],
                    b.index_type(),
                    &[("dimension", dimension)],
                )?;
                let mut index = b.value(arith::INDEX_CAST, &[index], b.i32_type(), &[])?;
                if before != 1 {
                    let before = b.i32(before)?;
                    index = b.value(arith::MULI, &[index, before], b.i32_type(), &[])?;
                }
                sum = Some(match sum {
                    None => index,
                    Some(sum) => b.value(arith::ADDI, &[sum, index], b.i32_type(), &[])?,
                });
            }
            before *= extent;
        }
        sum.expected(b, "a block of threads")
    }

    /// `gpu.all_reduce`
    pub(super) fn all_reduce(&self, reduce: gpu::AllReduce<'c>) -> Result<bool, Failure> {
        let (op, value) = (reduce.op(), reduce.value());
        let b = self.b;
        let (Some(threads), Some(size)) = (self.whole_warps(op)?, block_size(op)) else {
            return Err(b.error(format!(
                "'{}' op is done by all threads of a block, whose number is not known; give the kernel \
                 known_block_size = array<i32: x, y, z>",
                gpu::ALL_REDUCE
            )));
        };
        let element = value.r#type();
        let combine = Combine::of(*self, op, reduce.op_(), reduce.body(), element)?;
        let mut value = self.butterfly(&combine, value, WARP, 1)?;
        let warps = threads / WARP;
        if types::element_bits(element).is_none_or(|bits| bits < 8) {
            return Err(b.error(format!(
                "expected numbers of 8 to 64 bits to reduce over a block, found {element}; extend it to i32 first"
            )));
        }
        if warps > 1 {
            value = self.over_warps(op, &combine, value, warps, size)?;
        }
        replace_uses(reduce.result(), value);
        Ok(true)
    }

    /// Combines what the warps of a block have for all threads.
    fn over_warps(
        &self,
        op: Op<'c>,
        combine: &Combine<'c>,
        value: Val<'c>,
        warps: i64,
        size: [i64; 3],
    ) -> Result<Val<'c>, Failure> {
        let b = self.b;
        let element = value.r#type();
        // A word for each warp: loads of narrower numbers are put together to words, with more in them than was written.
        let value = self.widened(value)?;
        let wrong = |e: cute_layout::LayoutError| b.error(e.to_string());
        // Words are loaded together, as many as a power of two: those beyond the last warp's are written too.
        let cells = warps.unsigned_abs().next_power_of_two() as i64;
        let layout = Layout::col_major(&int(cells)).map_err(wrong)?;
        let shared = MemRef {
            space: Space::Smem,
            align: super::WIDEST / 8,
            ..tensor::registers(value.r#type(), layout.clone())
        };
        let ty = shared.to_type(b.location)?;
        // At the start of the kernel, where all memory is.
        let kernel = parent_of(op, gpu::FUNC).expected(op, "a kernel around it")?;
        let first = ops_of(body_of(kernel, 0).expected(kernel, "a body")?);
        let top = Builder::before(*first.first().expected(kernel, "an op in the body")?)
            .at_location(b.location);
        let shared = top.value(cute::MEMREF_ALLOCA, &[], ty, &[])?;
        let thread = self.thread_in_block(size)?;
        let warp_size = b.i32(WARP)?;
        let lane = b.value(arith::REMUI, &[thread, warp_size], b.i32_type(), &[])?;
        let warp = b.value(arith::DIVUI, &[thread, warp_size], b.i32_type(), &[])?;
        if is_repeated(op) {
            // What was there the last time has been read by everybody.
            b.op(gpu::BARRIER, &[], &[], &[])?;
        }
        self.if_below(lane, 1, |inner| {
            let at = inner.coord(&IntTuple::dynamic(), &[warp])?;
            let store = cute::MEMREF_STORE;
            inner.b.op(store, &[shared, at, value], &[], &[])?;
            if cells == warps {
                return Ok(());
            }
            inner.if_below(warp, cells - warps, |inner| {
                let behind = inner.b.i32(warps)?;
                let index = inner
                    .b
                    .value(arith::ADDI, &[warp, behind], inner.b.i32_type(), &[])?;
                let at = inner.coord(&IntTuple::dynamic(), &[index])?;
                inner.b.op(store, &[shared, at, value], &[], &[])?;
                Ok(())
            })
        })?;
        b.op(gpu::BARRIER, &[], &[], &[])?;
        let loaded = self.registers(value.r#type(), layout.shape())?;
        self.copy_vectors(shared, loaded, super::WIDEST)?;
        let mut parts = (0..warps)
            .map(|i| {
                let at = self.coord(&int(i), &[])?;
                let part = b.value(cute::MEMREF_LOAD, &[loaded, at], value.r#type(), &[])?;
                self.narrowed(part, element)
            })
            .collect::<Result<Vec<_>, _>>()?;
        while parts.len() > 1 {
            parts = parts
                .chunks(2)
                .map(|pair| match *pair {
                    [left, right] => combine.apply(*self, left, right),
                    _ => Ok(pair[0]),
                })
                .collect::<Result<Vec<_>, _>>()?;
        }
        Ok(parts[0])
    }
}

/// Tells whether a loop may come to an op more than once.
fn is_repeated(op: Op<'_>) -> bool {
    [scf::FOR, scf::WHILE, scf::PARALLEL, scf::FORALL]
        .iter()
        .any(|name| parent_of(op, name).is_some())
}
