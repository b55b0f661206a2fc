//! Products of floating-point numbers of 8 bits on architectures whose tensor cores multiply none by `mma.sync`: both factors get a prologue that makes f16 of what
//! is multiplied, which is exact, so that the product is one of f16.

use super::matrix::WIDEST;
use crate::plan::{Instructions, Pack, Request};
use cute_ir::ops::{arith, cute};
use cute_ir::{
    Expected, Failure,
    attributes::PLAN,
    mlir::*,
    plan::Plan,
    region::yielded,
    types::{element_bits, is_float, memref_of},
};
use cute_ir::{
    contract::{self, divisor, group_of},
    types::MemRef,
};
use cute_layout::{IntTuple, Leaf};
use cute_target::{Archs, Requirement};
use melior::ir::{Type, ValueLike};

/// Tells whether a type is a floating-point number of 8 bits.
pub(super) fn is_narrow(ty: Type<'_>) -> bool {
    is_float(ty) && element_bits(ty) == Some(8)
}

/// The type of what is multiplied of a factor: what its prologue yields, or its elements.
fn multiplied<'c>(factor: Val<'c>, prologue: Option<Blk<'c>>) -> Option<Type<'c>> {
    match prologue {
        Some(block) => Some(yielded(block).first()?.r#type()),
        None => Some(memref_of(factor)?.element),
    }
}

/// Tells whether what is multiplied of a factor is what is stored, perhaps with a scale behind it.
fn is_as_stored(prologue: Option<Blk<'_>>) -> bool {
    prologue.is_none_or(|block| yielded(block).first() == arguments_of(block).first())
}

/// Elements of 8 bits along K of a tile of warpgroups, and of the smallest one of warps: groups that share a scale are of whole tiles.
const TILE_OF_WARPGROUPS: i64 = 128;
const TILE_OF_WARPS: i64 = 32;

/// Elements along K that share a number of a tensor that a prologue reads; none where there are no groups.
fn group_along_k(tensor: Val<'_>) -> Option<i64> {
    group_of(&memref_of(tensor)?.layout.mode(1).ok()?)
}

/// The product itself, or one of f16 in its place where an architecture multiplies no numbers of 8 bits.
pub(super) fn widened<'c>(
    rewriter: &Rewriter<'c>,
    op: Op<'c>,
    archs: &Archs,
    request: &Request,
) -> Result<Op<'c>, Failure> {
    let contract = cute::Contract::of(op).expected(op, "a product of whole tensors")?;
    let prologues = [contract.prologue_a(), contract.prologue_b()];
    let factors = [contract.a(), contract.b()];
    let narrow = |at: usize| multiplied(factors[at], prologues[at]).is_some_and(is_narrow);
    let own = archs.all().all(|arch| arch.multiplies_eight_bit_floats());
    let sums = contract.accumulate().and_then(type_value);
    let in_single = sums.is_some_and(|ty| is_float(ty) && element_bits(ty) == Some(32));
    let scales = [contract.inputs_a(), contract.inputs_b()].concat();
    let have_groups_of = |tile: i64| {
        let groups = scales.iter().filter_map(|scale| group_along_k(*scale));
        groups.into_iter().all(|group| group % tile == 0)
    };
    if !narrow(0) || !narrow(1) || !in_single || own && have_groups_of(TILE_OF_WARPS) {
        return Ok(op);
    }
    // Warpgroups multiply them, where TMA brings them.
    let of_warpgroups = archs.lacking(Requirement::Specific(9, 0)).is_none();
    let is_plain =
        prologues.iter().all(|prologue| is_as_stored(*prologue)) && contract.reduce().is_none();
    // Others are copied first, where the plan is left open.
    let is_chosen = request.first().is_none() || request.instructions == Some(Instructions::Wgmma);
    let copies = request.pack.is_none_or(|pack| pack == Pack([true; 2]))
        && is_chosen
        && request.candidates().is_none()
        && attribute_of(op, PLAN).is_none();
    let beside = [contract.inputs_a(), contract.inputs_b(), contract.inputs()].concat();
    let may_copy = copies
        && factors[0] != factors[1]
        && !factors.iter().any(|factor| beside.contains(factor))
        && contract.groups().is_none()
        && (0..2).all(|at| contract::places_of(contract, at) == (None, None));
    let in_lines =
        |factor: &Val<'c>| memref_of(*factor).is_some_and(|memref| is_along_k(&memref, may_copy));
    let may = request.instructions != Some(Instructions::Mma);
    let is_grouped = have_groups_of(TILE_OF_WARPGROUPS);
    if of_warpgroups && may && is_plain && is_grouped && factors.iter().all(in_lines) {
        return Ok(op);
    }
    // A plan that was given says what it multiplies.
    let given = attribute_of(op, PLAN).and_then(Plan::of);
    let given = given.and_then(|plan| plan.multiplied().ok());
    if given.is_some_and(|[a, ..]| is_narrow(a)) {
        return Ok(op);
    }
    let b = Builder::before(op);
    let epilogue = match contract.epilogue() {
        Some(block) => copy_of(b, block, |_, yielded| Ok(yielded))?,
        None => Detached::empty(),
    };
    let mut regions = vec![epilogue];
    for (factor, prologue) in factors.into_iter().zip(prologues) {
        let half = b.ty("f16")?;
        let wide =
            move |l: Builder<'c>, narrow: Val<'c>| l.value(arith::EXTF, &[narrow], half, &[]);
        regions.push(match prologue {
            Some(block) => copy_of(b, block, |l, yielded| {
                let (narrow, scale) = yielded.split_first().expected(l, "a yielded value")?;
                Ok([&[wide(l, *narrow)?], scale].concat())
            })?,
            None => {
                let element = memref_of(factor).expected(b, "a tensor")?.element;
                let (region, block) = Detached::with_block(&[(element, b.location)]);
                let l = Builder::at_end(b.context, block, b.location);
                let value = wide(l, argument(block, 0))?;
                l.op(cute::YIELD, &[value], &[], &[])?;
                region
            }
        });
    }
    let attributes = attributes_of(op);
    let new = b.with_regions(cute::CONTRACT, &operands_of(op), &[], &attributes, regions)?;
    rewriter.erase(op)?;
    Ok(new)
}

/// Tells whether a factor lies along K in lines that TMA can move, or in any where it may be copied first.
fn is_along_k(memref: &MemRef<'_>, may_copy: bool) -> bool {
    let strides = memref.layout.stride().modes().to_vec();
    let is_copied = |mode: usize| {
        let of = |all: &IntTuple| all.get(mode)?.as_leaf().cloned();
        let leaves = of(memref.layout.shape()).zip(of(memref.layout.stride()));
        leaves.is_some_and(|(n, s)| n != Leaf::Static(1) && s != Leaf::Static(0))
    };
    let is_contiguous = strides.get(1).and_then(IntTuple::as_static) == Some(1);
    if may_copy && strides.len() == 2 && is_contiguous && (0..2).all(is_copied) {
        return true;
    }
    let is_line = |stride: &IntTuple| {
        let leaf = stride.as_leaf();
        leaf.is_some_and(|leaf| {
            *leaf != Leaf::Static(0) && divisor(leaf) * memref.element_bytes() % WIDEST == 0
        })
    };
    let others = strides.iter().enumerate().filter(|(mode, _)| *mode != 1);
    memref.align % WIDEST == 0
        && is_contiguous
        && others.into_iter().all(|(_, stride)| is_line(stride))
}

/// A copy of a region of one block, which yields what `change` makes of what the block yields.
fn copy_of<'c>(
    b: Builder<'c>,
    block: Blk<'c>,
    change: impl FnOnce(Builder<'c>, Vec<Val<'c>>) -> Result<Vec<Val<'c>>, Failure>,
) -> Result<Detached<'c>, Failure> {
    let arguments: Vec<_> = arguments_of(block)
        .into_iter()
        .map(|value| (value.r#type(), location_of(value)))
        .collect();
    let (region, copy) = Detached::with_block(&arguments);
    let l = Builder::at_end(b.context, copy, b.location);
    let yielded = l.clone_body(block, &arguments_of(copy), &mut Mapping::new())?;
    let yielded = change(l, yielded)?;
    l.op(cute::YIELD, &yielded, &[], &[])?;
    Ok(region)
}
