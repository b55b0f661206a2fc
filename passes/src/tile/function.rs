//! Kernels as functions: what passes and the assembler are told of each, whatever it computes.

use crate::kernel;
use cute_ir::ops::{arith, gpu};
use cute_ir::{
    Failure,
    attributes::{GPU_KERNEL, MIN_BLOCKS, NOALIAS},
    mlir::*,
    types::CuteType,
};
use melior::ir::{Attribute, Type, ValueLike, r#type::FunctionType};

/// The index of this block along x.
pub(super) fn block_index<'c>(b: Builder<'c>) -> Result<Val<'c>, Failure> {
    block_index_along(b, "x")
}

/// The index of this block along a dimension of the grid.
pub(super) fn block_index_along<'c>(b: Builder<'c>, along: &str) -> Result<Val<'c>, Failure> {
    kernel::along(b, gpu::BLOCK_ID, along)
}

/// The place of a value among a kernel's arguments, where it goes if it is none yet.
pub(super) fn place_of<'c>(arguments: &mut Vec<Val<'c>>, value: Val<'c>) -> usize {
    let known = arguments.iter().position(|other| *other == value);
    known.unwrap_or_else(|| {
        arguments.push(value);
        arguments.len() - 1
    })
}

/// A kernel, but for its body.
pub(super) struct Kernel<'a, 'c> {
    pub(super) name: &'a str,
    pub(super) arguments: Vec<Type<'c>>,
    /// Threads of a block.
    pub(super) threads: i64,
    /// Blocks of the grid, where they are known.
    pub(super) blocks: Option<i64>,
    /// Attributes that others do not have.
    pub(super) attributes: Vec<(&'static str, Attribute<'c>)>,
}

impl<'c> Kernel<'_, 'c> {
    /// Writes the kernel at `place`; `body` writes its body.
    pub(super) fn write(
        self,
        place: Builder<'c>,
        body: impl FnOnce(Builder<'c>, Blk<'c>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let (location, context) = (place.location, place.context);
        let typed: Vec<_> = self.arguments.iter().map(|ty| (*ty, location)).collect();
        let (region, block) = Detached::with_block(&typed);
        // Blocks read what is read while others write.
        let fact = |ty: &Type<'c>| match CuteType::of(*ty) {
            Some(CuteType::MemRef(_) | CuteType::Ptr(_)) => format!("{{{NOALIAS}}}"),
            _ => "{}".to_owned(),
        };
        let facts: Vec<_> = self.arguments.iter().map(fact).collect();
        let threads = i32::try_from(self.threads).unwrap_or(i32::MAX);
        let ty = FunctionType::new(context, &self.arguments, &[]);
        let mut attributes = vec![
            ("sym_name", place.string(self.name)),
            ("function_type", place.type_attribute(ty.into())),
            (GPU_KERNEL, place.unit()),
            ("known_block_size", place.i32_array(&[threads, 1, 1])),
            (
                "arg_attrs",
                place.attribute(&format!("[{}]", facts.join(", ")))?,
            ),
        ];
        attributes.extend(self.attributes);
        if !attributes.iter().any(|(name, _)| *name == MIN_BLOCKS) {
            // Without it ptxas may spill to fit more blocks than shared memory allows.
            attributes.push((MIN_BLOCKS, place.integer(place.i32_type(), 1)));
        }
        let blocks = self.blocks.and_then(|all| i32::try_from(all).ok());
        if let Some(blocks) = blocks.filter(|blocks| *blocks > 0) {
            attributes.push(("known_grid_size", place.i32_array(&[blocks, 1, 1])));
        }
        place.with_regions(gpu::FUNC, &[], &[], &attributes, vec![region])?;
        let b = Builder::at_end(context, block, location);
        body(b, block)?;
        b.op(gpu::RETURN, &[], &[], &[])?;
        Ok(())
    }
}

/// A number in 32 bits.
pub(super) fn narrow<'c>(b: Builder<'c>, number: Val<'c>) -> Result<Val<'c>, Failure> {
    match number.r#type() == b.i32_type() {
        true => Ok(number),
        false => b.value(arith::TRUNCI, &[number], b.i32_type(), &[]),
    }
}
