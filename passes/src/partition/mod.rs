//! `cute-partition`: from tiles of a block to what each thread holds.
//!
//! Whole-tile copies and products become tiled copies and tiled MMAs, partitioned at the thread's
//! index; which thread holds what comes from their layouts alone. Who waits for whom is left to later passes
//! (`cute.synchronize`).

mod fragments;
mod fuse;
mod indexed;
mod map;
mod prologue;
mod promote;
mod reduced;
mod reduction;
mod roles;
mod steps;
mod transform;

pub(crate) use promote::part_at;
pub(crate) use transform::{LOADED, held_once, varying};

use crate::divergence::Divergence;
use crate::kernel::{body_of_kernel, is_of_a_block, thread_index};
use cute_ir::ops::{arith, cute};
use cute_ir::{
    Anchor, Expected, Failure, PassSpec,
    attributes::{PLAN, ROLES, SYNCHRONIZE},
    block::block_size_of,
    diag,
    mlir::*,
    plan::{OPERANDS, Plan, name_of_operand},
    types::memref_of,
    types::{self, CuteType, MemRef, Space},
};
use cute_layout::{IntTuple, Layout, Operand, Swizzle, atoms::Completion, int, tuple};
use melior::ir::{Type, ValueLike, operation::OperationLike};
use std::collections::HashMap;

/// Vectors of a thread that are copied over the end of a matrix by ops of their own, at most: each needs an address and a condition, which LLVM
/// keeps in registers from one tile to the next.
const VECTORS_WRITTEN: i64 = 8;

/// The pass.
pub const PASS: PassSpec = PassSpec {
    name: "cute-partition",
    description: "Partition the tiles of a block over its threads",
    anchor: Anchor::Kernel,
    options: &[],
    run,
};

fn run<'c>(rewriter: &'c Rewriter<'c>, kernel: Op<'c>, _: &[&str]) -> Result<(), Failure> {
    let wrong = |e| diag::error(kernel.location(), e);
    let divergence = Divergence::of(kernel);
    for op in nested_ops(kernel) {
        if is_of_a_block(op) {
            divergence.check(op, "is done by all threads of the block together")?;
        }
        if let Some(map) = cute::BlockMap::of(op) {
            map::lower(map)?;
            rewriter.erase(op)?;
        } else if let Some(fused) = cute::BlockFuse::of(op) {
            fuse::lower(rewriter, kernel, fused)?;
            rewriter.erase(op)?;
        }
    }
    // A kernel that somebody wrote by hand is partitioned already, unless it works on whole tiles.
    let Some(plan) = attribute_of(kernel, PLAN).and_then(Plan::of) else {
        if nested_ops(kernel).into_iter().any(is_of_a_block) {
            return Err(wrong(
                "copies or multiplies tiles of a block; expected the attribute cute.plan on the kernel, as cute-tile leaves it, \
                 to say by which atoms"
                    .to_owned(),
            ));
        }
        return Ok(());
    };
    // Threads that copy by TMA are none of a kernel whose warps have no roles: one that adds sums.
    let threads = match attribute_of(kernel, ROLES) {
        Some(_) => plan.threads(),
        None => plan.multiplying_threads(),
    };
    let threads = threads.map_err(wrong)?;
    if let Some(size) = block_size_of(kernel)
        && size != [threads, 1, 1]
    {
        return Err(wrong(format!(
            "expected known_block_size of {threads}, 1, 1, the threads of the tiled MMA of cute.plan, found {}, {}, {}",
            size[0], size[1], size[2]
        )));
    }
    let body = body_of_kernel(kernel)?;
    Partition::new(rewriter, plan, body, kernel)?.block(body)?;
    set_attribute(kernel, SYNCHRONIZE, Builder::before(kernel).unit());
    Ok(())
}

struct Partition<'c> {
    rewriter: &'c Rewriter<'c>,
    plan: Plan<'c>,
    /// The place where thread-wide values are made: the kernel's start.
    top: Builder<'c>,
    thread: Val<'c>,
    mma: Val<'c>,
    mma_type: CuteType<'c>,
    /// The replacements of the block's register tensors, by value.
    fragments: HashMap<ValueKey, Val<'c>>,
    /// The register tensors among them that are A or B, computed in registers.
    factors: HashMap<ValueKey, Operand>,
    /// Those that are computed just before they are multiplied, while the product before goes on.
    computed: HashMap<ValueKey, fragments::Computed<'c>>,
    /// The parts that threads hold of tensors that scales are computed of, by value.
    held: HashMap<ValueKey, promote::Once<'c>>,
}

fn wrong<E: ToString>(b: Builder) -> impl Fn(E) -> Failure {
    move |error| b.error(error.to_string())
}

impl<'c> Partition<'c> {
    fn new(
        rewriter: &'c Rewriter<'c>,
        plan: Plan<'c>,
        body: Blk<'c>,
        kernel: Op<'c>,
    ) -> Result<Self, Failure> {
        let first = ops_of(body).into_iter().next();
        let first = first.expected(kernel, "an op in the body")?;
        let top = Builder::before(first).at_location(kernel.location());
        let thread = top.coord(&IntTuple::dynamic(), &[thread_index(top)?])?;

        let ty = plan.mma;
        let mma_type = CuteType::of(ty).expected(top, "a tiled MMA")?;
        let mma = tiled_mma(top, ty, &[])?;
        Ok(Self {
            rewriter,
            plan,
            top,
            thread,
            mma,
            mma_type,
            fragments: HashMap::new(),
            factors: HashMap::new(),
            computed: HashMap::new(),
            held: HashMap::new(),
        })
    }

    fn block(&mut self, block: Blk<'c>) -> Result<(), Failure> {
        let mut dead = Vec::new();
        for op in ops_of(block) {
            let b = Builder::before(op);
            let allocation = cute::MemrefAlloca::of(op).map(|op| op.result());
            if let Some(tensor) = allocation.filter(|tensor| is_registers(*tensor)) {
                if self.is_held(tensor) {
                    // Made where it is filled.
                    dead.push(op);
                    continue;
                }
                let fragment = self.accumulators(b, tensor)?;
                self.fragments.insert(key(tensor), fragment);
            } else if let Some(part) = self.part_of_registers(op, b)? {
                self.fragments.insert(key(result_of(op, 0)), part);
            } else if let Some(clear) = cute::Clear::of(op) {
                let fragment = self.fragment(b, clear.tensor())?;
                b.op(cute::CLEAR, &[fragment], &[], &[])?;
            } else if let Some(convert) = cute::Convert::of(op) {
                let fragment = self.fragment(b, convert.tensor())?;
                let (Some(from), Some(to)) = (memref_of(fragment), memref_of(convert.result()))
                else {
                    return Err(b.error("expected tensors"));
                };
                let to = cute_ir::tensor::registers(to.element, from.layout);
                let ty = to.to_type(b.location)?;
                let converted = b.value(cute::CONVERT, &[fragment], ty, &[])?;
                self.fragments.insert(key(convert.result()), converted);
            } else if let Some(gemm) = cute::BlockGemm::of(op) {
                self.gemm(b, gemm)?;
            } else if let Some(promote) = cute::BlockPromote::of(op) {
                self.promote(b, promote)?;
            } else if let Some(sum) = cute::BlockClusterSum::of(op) {
                self.cluster_sum(b, sum)?;
            } else if let Some(copy) = cute::BlockCopy::of(op) {
                self.copy(b, copy)?;
            } else if let Some(transform) = cute::BlockTransform::of(op) {
                match prologue::operand_of(op) {
                    Some(operand @ (Operand::A | Operand::B)) => {
                        let outputs = transform.outputs();
                        let made = outputs.first().and_then(|tensor| memref_of(*tensor));
                        match made.is_some_and(|made| made.space == Space::Rmem) {
                            true => self.compute_fragment(b, operand, transform)?,
                            false => self.feed(b, operand, transform)?,
                        }
                    }
                    _ => self.transform(b, transform)?,
                }
            } else {
                for inner in blocks_of(op) {
                    self.block(inner)?;
                }
                continue;
            }
            dead.push(op);
        }
        self.rewriter.erase_all(dead)
    }

    fn fragment(&self, b: Builder<'c>, value: Val<'c>) -> Result<Val<'c>, Failure> {
        self.fragments
            .get(&key(value))
            .copied()
            .ok_or_else(|| b.error("expected a register tensor that this block allocates"))
    }

    /// Each thread's part of a register tile of the block.
    fn accumulators(&self, b: Builder<'c>, tensor: Val<'c>) -> Result<Val<'c>, Failure> {
        let memref = memref_of(tensor).expected(b, "a tensor as its result")?;
        if let Err(error) =
            cute_ir::tensor::partition_shape(&self.mma_type, memref.layout.shape(), 2)
        {
            return Err(b.error(format!(
                "expected a register tensor that the tiled MMA of cute.plan can divide, as an accumulator of the block's tile, found {}: \
                 {error}; a kernel whose threads have their own registers takes no cute.plan and no copy or product of whole tiles",
                memref.layout
            )));
        }
        let shape = types::shape_type(b.context, memref.layout.shape());
        let shape = b.static_value(shape)?;
        let id = [("operand_id", b.integer(b.i32_type(), 2))];
        let part = b.infer(cute::TILED_MMA_PARTITION_SHAPE, &[self.mma, shape], &id)?;
        b.infer(cute::MMA_MAKE_FRAGMENT, &[self.mma, part], &id)
    }

    /// C += A B, or C = A B, with A and B in shared memory, or in registers where they are computed there.
    fn gemm(&self, b: Builder<'c>, op: cute::BlockGemm<'c>) -> Result<(), Failure> {
        let factors = [op.a(), op.b()];
        let accumulators = self.fragment(b, op.c())?;
        let overwrites = op.overwrite().is_some();
        if self.plan.has_roles() {
            return self.product_of_warpgroups(b, factors, (accumulators, overwrites));
        }
        if overwrites {
            b.op(cute::CLEAR, &[accumulators], &[], &[])?;
        }
        let mut fragments = Vec::new();
        for (id, shared) in factors.iter().enumerate() {
            let b = b.step(["load A", "load B"][id]);
            if memref_of(*shared).is_some_and(|factor| factor.space == Space::Rmem) {
                if self.factors.get(&key(*shared)) != Some(&OPERANDS[id]) {
                    return Err(b.error(format!(
                        "expected {name} in shared memory, or in registers where a cute.block.transform {name} computes it",
                        name = name_of_operand(OPERANDS[id])
                    )));
                }
                fragments.push(self.fragment(b, *shared)?);
                continue;
            }
            let by_vectors = self.plan.loads_by_vectors(OPERANDS[id]);
            if by_vectors.map_err(wrong(b))? {
                fragments.push(self.load_fragment(b, OPERANDS[id], *shared)?);
                continue;
            }
            let attributes = [("operand_id", b.integer(b.i32_type(), id as i64))];
            let part = self.part_of(b, OPERANDS[id], self.mma, *shared)?;
            let fragment = b.infer(cute::MMA_MAKE_FRAGMENT, &[self.mma, part], &attributes)?;
            let copy = self.tiled_copy(b, OPERANDS[id], 1)?;
            let source = b.infer(
                cute::TILED_COPY_PARTITION_S,
                &[copy, *shared, self.thread],
                &[],
            )?;
            let destination = b.infer(cute::TILED_COPY_RETILE, &[copy, fragment], &[])?;
            b.copy(&[copy, source, destination])?;
            fragments.push(fragment);
        }
        let mut arguments = vec![self.mma, accumulators];
        arguments.extend(fragments);
        arguments.push(accumulators);
        b.op(cute::GEMM, &arguments, &[], &[])?;
        Ok(())
    }

    fn copy(&mut self, b: Builder<'c>, copy: cute::BlockCopy<'c>) -> Result<(), Failure> {
        let (source, destination) = (copy.source(), copy.destination());
        let (Some(from), Some(to)) = (memref_of(source), memref_of(destination)) else {
            return Err(b.error("expected tensors"));
        };
        let operand = &prologue::operand_of(copy.op()).expected(b, "A, B or C")?;
        if *operand != Operand::C && [from.space, to.space] == [Space::Gmem, Space::Rmem] {
            return self.hold(b, *operand, copy);
        }
        if *operand == Operand::C && to.space == Space::Rmem {
            return self.hold_once(b, copy);
        }
        if [from.space, to.space] == [Space::Rmem, Space::Gmem] {
            return self.store(b, copy, *operand);
        }
        let place = self.movement(*operand, &from, &to).map_err(wrong(b))?;
        match indexed::operand_of_whole(copy) {
            Some(Operand::C) => return self.store_whole(b, copy, place),
            Some(operand) => return self.copy_factor(b, copy, (operand, place)),
            None => {}
        }
        let source = match from.space {
            Space::Rmem => self.fragment(b, source)?,
            _ => source,
        };
        if self.plan.has_roles() && from.space == Space::Rmem {
            return self.gather(b, source, destination);
        }
        if [from.space, to.space] == [Space::Smem, Space::Gmem]
            && let (Some(coords), Some(end)) = (copy.coords(), copy.end())
        {
            return self.copy_out(b, [source, destination], coords, end);
        }
        let tiled = self.tiled_copy(b, *operand, place)?;
        let part = |name: &str, tensor: Val<'c>| b.infer(name, &[tiled, tensor, self.thread], &[]);
        let source = match from.space {
            Space::Rmem => b.infer(cute::TILED_COPY_RETILE, &[tiled, source], &[])?,
            _ => part(cute::TILED_COPY_PARTITION_S, source)?,
        };
        let destination = part(cute::TILED_COPY_PARTITION_D, destination)?;
        let predicate = match (copy.coords(), copy.end()) {
            (Some(coords), Some(end)) => {
                let coords = part(cute::TILED_COPY_PARTITION_S, coords)?;
                Some(self.predicate(b, coords, end)?)
            }
            _ => None,
        };
        let movement = self.plan.path(*operand).get(place);
        let row = movement
            .expected(b, "a movement of the plan")?
            .row()
            .map_err(wrong(b))?;
        if [from.space, to.space] != [Space::Gmem, Space::Smem]
            || row.completion == Completion::Group
        {
            let operands = [tiled, source, destination].into_iter().chain(predicate);
            b.copy(&operands.collect::<Vec<_>>())?;
            return Ok(());
        }
        // Through registers, so that the loads are on their way together. What is not there is 0.
        let part = memref_of(source).expected(b, "a tensor")?;
        let layout = Layout::col_major(part.layout.shape()).map_err(wrong(b))?;
        let ty = cute_ir::tensor::registers(part.element, layout).to_type(b.location)?;
        let fragment = b.value(cute::MEMREF_ALLOCA, &[], ty, &[])?;
        if predicate.is_some() {
            b.op(cute::CLEAR, &[fragment], &[], &[])?;
        }
        let load = [tiled, source, fragment].into_iter().chain(predicate);
        b.copy(&load.collect::<Vec<_>>())?;
        b.copy(&[tiled, fragment, destination])?;
        Ok(())
    }

    /// Copies a tile of C that may reach over the end of a matrix out of shared memory.
    fn copy_out(
        &self,
        b: Builder<'c>,
        [source, destination]: [Val<'c>; 2],
        coords: Val<'c>,
        end: Val<'c>,
    ) -> Result<(), Failure> {
        let steps = self.steps(b, source, steps::Most::Vectors(VECTORS_WRITTEN))?;
        let l = steps.inner;
        let coords = steps.part(coords, cute::TILED_COPY_PARTITION_S)?;
        let source = steps.part(source, cute::TILED_COPY_PARTITION_S)?;
        let destination = steps.part(destination, cute::TILED_COPY_PARTITION_D)?;
        let there = self.predicate(l, coords, end)?;
        l.copy(&[steps.tiled, source, destination, there])?;
        steps.end()
    }

    /// Stores a tile of C straight from registers, as the tiled MMA holds it, by the widest vectors that both sides allow.
    fn store(
        &self,
        b: Builder<'c>,
        copy: cute::BlockCopy<'c>,
        operand: Operand,
    ) -> Result<(), Failure> {
        if operand != Operand::C {
            return Err(b.error(format!(
                "no way to copy a tile of {} from {} to {}",
                name_of_operand(operand),
                Space::Rmem,
                Space::Gmem
            )));
        }
        if copy.coords().is_some() {
            return Err(b.error(
                "expected a whole tile where C goes straight from registers to global memory, found one that may reach over the \
                 end of a matrix; copy it through shared memory",
            ));
        }
        let fragment = self.fragment(b, copy.source())?;
        let part = self.part_of(b, Operand::C, self.mma, copy.destination())?;
        b.op(cute::AUTOVEC_COPY, &[fragment, part], &[], &[])?;
        Ok(())
    }

    /// A thread's part of a tensor of an operand's shape, as a tiled MMA deals it out.
    fn part_of(
        &self,
        b: Builder<'c>,
        operand: Operand,
        mma: Val<'c>,
        tensor: Val<'c>,
    ) -> Result<Val<'c>, Failure> {
        let id = [("operand_id", b.integer(b.i32_type(), operand as i64))];
        b.infer(cute::TILED_MMA_PARTITION, &[mma, tensor, self.thread], &id)
    }

    /// Computes which vectors of a thread are there: an i1 in registers for each, of the coordinates of their first elements.
    fn predicate(&self, b: Builder<'c>, coords: Val<'c>, end: Val<'c>) -> Result<Val<'c>, Failure> {
        let Some(CuteType::CoordTensor { layout, .. }) = CuteType::get(coords.r#type()) else {
            return Err(b.error("expected coordinates"));
        };
        // The first of each vector, which is there as a whole or not.
        let keep = std::iter::repeat_n(IntTuple::underscore(), layout.rank().saturating_sub(1));
        let first = tuple(std::iter::once(int(0)).chain(keep));
        let first = b.static_value(types::coord_type(b.context, &first))?;
        let first = b.infer(cute::SLICE, &[coords, first], &[])?;
        is_there(b, first, end)
    }

    /// The movement of the plan that copies an operand between two tensors, by its place on the operand's way. Errors: spaces
    /// that are not on it; a tile in shared memory that is not the plan's.
    fn movement(
        &self,
        operand: Operand,
        from: &MemRef<'c>,
        to: &MemRef<'c>,
    ) -> Result<usize, String> {
        let ends = [from.space, to.space];
        let place = Plan::spaces(operand).windows(2).position(|two| two == ends);
        let name = name_of_operand(operand);
        let Some(place) = place else {
            return Err(format!(
                "no way to copy a tile of {name} from {} to {}",
                from.space, to.space
            ));
        };
        let (planned, _) = self.plan.shared(operand)?;
        let found = if place == 0 { to } else { from };
        if found.element == planned.element
            && found.layout == planned.layout
            && found.byte_swizzle() == planned.swizzle
        {
            return Ok(place);
        }
        let found = if to.space == Space::Smem { to } else { from };
        Err(format!(
            "expected the tile of {name} in shared memory that cute.plan copies from {} to {}, {}, found {}",
            from.space,
            to.space,
            text(planned.swizzle, &planned.layout),
            text(found.byte_swizzle(), &found.layout)
        ))
    }

    /// The tiled copy of a movement of the plan, made where the kernel starts.
    fn tiled_copy(
        &self,
        b: Builder<'c>,
        operand: Operand,
        place: usize,
    ) -> Result<Val<'c>, Failure> {
        let top = self.top;
        let tiled = self.plan.tiled_copy(operand, place).map_err(wrong(b))?;
        let movement = self.plan.path(operand).get(place);
        let atom = movement.expected(b, "a movement of the plan")?.atom;
        let ty = types::tiled_copy_type(top.location, atom, tiled.layout_tv(), tiled.tiler_mn())?;
        let atom = top.value(cute::MAKE_ATOM, &[], atom, &[])?;
        top.value(cute::MAKE_TILED_COPY, &[atom], ty, &[])
    }
}

/// A tiled MMA of that type, whose atom has that state.
fn tiled_mma<'c>(b: Builder<'c>, ty: Type<'c>, state: &[Val<'c>]) -> Result<Val<'c>, Failure> {
    let Some(CuteType::TiledMma { atom, .. }) = CuteType::of(ty) else {
        return Err(b.error("expected a tiled MMA in cute.plan"));
    };
    let atom = b.value(cute::MAKE_ATOM, state, atom, &[])?;
    b.value(cute::MAKE_TILED_MMA, &[atom], ty, &[])
}

/// Computes which coordinates are below an end: an i1 in registers for each.
pub(crate) fn is_there<'c>(
    b: Builder<'c>,
    coords: Val<'c>,
    end: Val<'c>,
) -> Result<Val<'c>, Failure> {
    let (Some(CuteType::CoordTensor { start, layout }), Some(CuteType::Coord(ends))) =
        (CuteType::get(coords.r#type()), CuteType::get(end.r#type()))
    else {
        return Err(b.error("expected coordinates and an end"));
    };
    let truth = types::int_type(b.context, 1);
    let shape = Layout::col_major(layout.shape()).map_err(wrong(b))?;
    let ty = cute_ir::tensor::registers(truth, shape).to_type(b.location)?;
    let there = b.value(cute::MEMREF_ALLOCA, &[], ty, &[])?;
    let at = cute_ir::algorithm::coordinate(start, layout).map_err(wrong(b))?;
    let at = types::coord_type(b.context, &at);
    let (region, inner) = Detached::with_block(&[(at, b.location)]);
    b.with_regions(cute::TRANSFORM, &[coords, there], &[], &[], vec![region])?;
    let l = Builder::at_end(b.context, inner, b.location);
    let mut all = None;
    for (mode, bound) in ends.modes().iter().enumerate() {
        if bound.has_underscore() {
            continue;
        }
        let mode = [("mode", l.i32_array(&[mode as i32]))];
        let [here, bound] =
            [argument(inner, 0), end].map(|value| l.infer(cute::GET, &[value], &mode));
        let is = l.value(cute::ELEM_LESS, &[here?, bound?], truth, &[])?;
        all = Some(match all {
            Some(before) => l.value(arith::ANDI, &[before, is], truth, &[])?,
            None => is,
        });
    }
    let all = all.map_or_else(|| l.constant(truth, 1), Ok)?;
    l.op(cute::YIELD, &[all], &[], &[])?;
    Ok(there)
}

/// A tile in shared memory, for errors.
fn text(swizzle: Option<Swizzle>, layout: &Layout) -> String {
    swizzle.map_or(layout.to_string(), |swizzle| format!("{swizzle} {layout}"))
}

fn is_registers(value: Val) -> bool {
    memref_of(value).is_some_and(|memref| memref.space == Space::Rmem)
}
