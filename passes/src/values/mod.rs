//! `cute-fragments-to-values`: register tensors become SSA values.
//!
//! A fragment is held as one vector for each run of its first mode, which is what one MMA atom
//! takes (`registers.rs`). Copies and products are unrolled to atoms on these vectors (`copies.rs`, `products.rs`); a loop
//! carries the vectors of the fragments that it writes, or is written out (`control.rs`; in part `unroll.rs`). Products of warpgroups are in `wgmma.rs`, and in `sums.rs` which of them may be under way. What a copy delivers in another
//! arrangement than the fragment's is taken apart and put together again element by element, as the layouts say. Views of
//! registers must be known: their coordinates are constants once loops are written out.

mod control;
mod convert;
mod copies;
mod elements;
mod known;
mod products;
mod registers;
mod sums;
pub(crate) mod unroll;
mod wgmma;

pub(crate) use copies::positions;
pub(crate) use known::known;
pub(crate) use unroll::UNSIGNED;

use crate::kernel::{body_of_kernel, second_body};
use cute_ir::ops::{cute, cute_nvgpu, scf};
use cute_ir::{
    Anchor, Failure, PassSpec,
    args::GemmArgs,
    attributes::UNROLL,
    interpret::Views,
    mlir::*,
    types::{CuteType, MemRef, Space},
};
use known::{Known, Start};
use melior::ir::{Type, ValueLike, operation::OperationLike};
use registers::{File, View};

/// The pass.
pub const PASS: PassSpec = PassSpec {
    name: "cute-fragments-to-values",
    description: "Turn register tensors into SSA vectors carried by loops",
    anchor: Anchor::Kernel,
    options: &[],
    run,
};

fn run<'c>(rewriter: &'c Rewriter<'c>, kernel: Op<'c>, _: &[&str]) -> Result<(), Failure> {
    unroll::by_factors(rewriter, kernel)?;
    let old = body_of_kernel(kernel)?;
    let mut values = Values::default();
    let new = second_body(kernel, old, &mut values.mapping);
    let b = Builder::at_end(context_of(kernel), new, kernel.location());
    values.block(old, b)?;
    rewriter.erase_blocks(&[old])
}

#[derive(Default)]
struct Values<'c> {
    files: Vec<File<'c>>,
    /// Register tensors, and pointers into them, by value.
    views: Views<'c, Start>,
    mapping: Mapping<'c>,
    /// The files that products of a warpgroup may be adding to or read A from, and those that were fenced since they were written.
    operands: wgmma::Operands<'c>,
}

/// Tells whether values of this type are in registers.
fn is_registers(ty: Type<'_>) -> bool {
    matches!(
        CuteType::of(ty),
        Some(
            CuteType::MemRef(MemRef {
                space: Space::Rmem,
                ..
            }) | CuteType::Ptr(MemRef {
                space: Space::Rmem,
                ..
            })
        )
    )
}

fn no_value_form(op: Op<'_>, b: Builder<'_>) -> Failure {
    b.error(format!(
        "'{}' uses a register tensor in a way that has no value form; register tensors are written in the kernel's body, in \
         scf.for, scf.while and scf.if",
        name_of(op)
    ))
}

impl<'c> Values<'c> {
    fn map(&self, value: Val<'c>) -> Val<'c> {
        self.mapping.get(&key(value)).copied().unwrap_or(value)
    }

    fn block(&mut self, block: Blk<'c>, b: Builder<'c>) -> Result<(), Failure> {
        for op in ops_of(block) {
            self.op(op, b.at_location(op.location()))?;
        }
        Ok(())
    }

    fn op(&mut self, op: Op<'c>, b: Builder<'c>) -> Result<(), Failure> {
        if self.on_registers(op, b)? {
            return Ok(());
        }
        if crate::kernel::is_of_a_block(op) {
            Err(b.error(format!(
                "'{}' op is done by all threads of the block together; run cute-partition first",
                name_of(op)
            )))
        } else if name_of(op) == cute::COPY {
            self.copy(op, b)
        } else if name_of(op) == cute::GEMM {
            match GemmArgs::of(op) {
                Some(args @ GemmArgs::Mma { mma, .. })
                    if wgmma::is_of_a_warpgroup(mma.r#type()) =>
                {
                    self.warpgroup_gemm(args, b)
                }
                args => self.gemm(args, b),
            }
        } else if matches!(
            name_of(op),
            cute_nvgpu::WGMMA_FENCE | cute_nvgpu::WGMMA_WAIT_GROUP
        ) && self.touches(op)
        {
            self.accumulators(op, b)
        } else if name_of(op) == cute_nvgpu::WGMMA_COMMIT_GROUP {
            self.operands.committed += 1;
            b.clone_op(op, &mut self.mapping);
            Ok(())
        } else if let Some(op) = scf::For::of(op) {
            self.for_loop(op, b)
        } else if let Some(branch) = scf::If::of(op).filter(|_| self.touches_within(op)) {
            self.branch(branch, b)
        } else if let Some(op) = scf::While::of(op).filter(|_| self.touches_within(op)) {
            self.while_loop(op, b)
        } else if name_of(op) == scf::YIELD {
            Err(b.error("a loop's end outside of a loop"))
        } else {
            if !self.touches(op) && self.touches_within(op) {
                return self.reads_only(op, b);
            }
            if self.touches(op) {
                return Err(no_value_form(op, b));
            }
            b.clone_op(op, &mut self.mapping);
            Ok(())
        }
    }

    /// An op that makes registers, reads or writes them, or shows them as another type; false where `op` is none.
    fn on_registers(&mut self, op: Op<'c>, b: Builder<'c>) -> Result<bool, Failure> {
        let held = |value: Val<'c>| is_registers(value.r#type());
        if self.follow(op, b)? {
            return Ok(true);
        }
        if let Some(get) = cute::GetLayout::of(op).filter(|get| held(get.tensor())) {
            let layout = b.static_value(get.result().r#type())?;
            self.mapping.insert(key(get.result()), layout);
        } else if matches!(name_of(op), cute::SIZE | cute::GET_SHAPE)
            && operands_of(op).into_iter().all(held)
        {
            let result = result_of(op, 0);
            let known = b.static_value(result.r#type())?;
            self.mapping.insert(key(result), known);
        } else if let Some(load) = cute::MemrefLoad::of(op).filter(|op| held(op.tensor())) {
            self.load(load, b)?;
        } else if let Some(store) = cute::MemrefStore::of(op).filter(|op| held(op.tensor())) {
            self.store(store, b)?;
        } else if let Some(load) = cute::MemrefLoadVec::of(op).filter(|op| held(op.tensor())) {
            self.load_vector(load, b)?;
        } else if let Some(store) = cute::MemrefStoreVec::of(op).filter(|op| held(op.tensor())) {
            self.store_vector(store, b)?;
        } else if let Some(clear) = cute::Clear::of(op).filter(|op| held(op.tensor())) {
            self.clear(clear.tensor(), b)?;
        } else if let Some(convert) = cute::Convert::of(op) {
            self.convert(convert, b)?;
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    fn touches(&self, op: Op<'c>) -> bool {
        operands_of(op).iter().any(|v| is_registers(v.r#type()))
            || (0..op.result_count()).any(|i| is_registers(result_of(op, i).r#type()))
    }

    /// Tells whether something within `op` is about registers, or has a value form.
    fn touches_within(&self, op: Op<'c>) -> bool {
        nested_ops(op)
            .into_iter()
            .any(|inner| self.touches(inner) || name_of(inner) == cute::COPY)
    }

    /// The registers of a tensor.
    fn registers(&mut self, value: Val<'c>, b: Builder<'c>) -> Result<View<'c>, Failure> {
        let place = self.views.get(value).ok_or_else(|| known::no_start(b))?;
        let view = View::at(place);
        self.touch(view.file, b)?;
        Ok(view)
    }

    /// Notes which registers the tensor is that `op` makes; false where it makes none in registers.
    fn follow(&mut self, op: Op<'c>, b: Builder<'c>) -> Result<bool, Failure> {
        self.views
            .op(&mut Known::new(op, b, &self.mapping, &mut self.files), op)
    }
}

fn unknown(b: Builder) -> Failure {
    b.error(format!(
        "indexes registers by a value that is not known when the kernel is compiled; use constants, or write \
         {UNROLL} on the loop whose index it comes from"
    ))
}
