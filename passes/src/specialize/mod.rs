//! `cute-specialize-warps`: a kernel is cut into roles, of warps that copy and warps that compute.
//!
//! In a kernel with `cute.roles` loads by TMA have no barriers: the kernel reads as if one thread did one thing after another. The last
//! warpgroup gets the loads, and of the rest what they need; the others get everything else. Each tensor that is loaded becomes a ring
//! of as many places as `cute.stages` of the loop says, and tensors that the same operations use share one. A ring has two mbarriers a
//! place: one that its bytes complete, and one that those who used it arrive at. Products of warpgroups go on while their warps do: what
//! they are given is released, and their sums are touched, behind a wait for them; a loop lets one of them go on into its next turn.
//! Stores by TMA are started by one thread, behind a fence and a barrier of those who compute.
//!
//! Where `cute.cluster` says that blocks form clusters, a load with `multicast` fills a slice of a tensor in several of them. Then a place of its ring
//! is empty when the warps of all blocks of the cluster have said so, and no block leaves before all have ended.
//!
//! Where `cute.teams` stands on a loop, those who compute are so many teams, which take its turns in turn: one multiplies while the sums of another go
//! out. The rings are for all, so that each team skips the places of the others' turns; tensors that are not loaded exist once for each.
//!
//! Where there are loads by the threads of a warp (`cute.block.warp_load`), all of that warp has the part of those who copy, and one thread of it starts the loads by TMA.
//! A place of such a ring is full when the copies of all threads are there.
//!
//! Where blocks of a cluster share tiles, `cute.block.cluster_sum` becomes stores into each other's shared memory.
//!
//! `rings.rs` finds the rings, `needed.rs` what loads need, `rest.rs` what loads of the last rows leave out; `emit.rs` writes a role's part, `compute.rs` what only those who compute have, `cluster.rs` sums of a cluster's blocks,
//! `warp.rs` copies by the threads of a warp.

mod cluster;
mod compute;
mod emit;
mod needed;
mod parts;
mod rest;
mod rings;
mod teams;
mod warp;

use crate::{
    arch::{WARP, WARPGROUP},
    divergence::Together,
    kernel::{body_of_kernel, thread_index},
    launch::{depend, lets_kernels_behind_start},
    mbarriers::{alone, barrier_of_cluster},
    memory::root_of,
    pipeline::rings::{ring_of, slice},
    shared::in_shared,
    warp_specialize::{budget_of, share},
};
use cluster::Exchange;
use cute_arith::Predicate;
use cute_ir::ops::{arith, cute, cute_nvgpu, gpu, nvvm, scf};
use cute_ir::{
    Anchor, Expected, Failure, PassSpec,
    attributes::{CLUSTER, MIN_BLOCKS, MOST_REGISTERS, RING, ROLES, SYNCHRONIZE, TOGETHER},
    block::block_size_of,
    diag,
    mlir::*,
    types::{CuteType, memref_of},
};
use cute_target::registers_of_warpgroups;
use emit::Emit;
use melior::ir::{ValueLike, operation::OperationLike};
use rings::Ring;
pub(crate) use rings::asynchronous_product;
use std::collections::HashSet;
use teams::{Team, Teams};

/// The pass.
pub const PASS: PassSpec = PassSpec {
    name: "cute-specialize-warps",
    description: "Cut kernels into warps that copy by TMA and warps that compute",
    anchor: Anchor::Kernel,
    options: &[],
    run,
};

/// The barrier of the first team of a block's threads that compute; 0 is that of all of them.
const BARRIER: i64 = 1;

/// The part of a kernel that some of its warps have.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// It loads.
    Copies,
    /// It does everything else.
    Computes,
}

/// The values that tell threads apart.
#[derive(Clone, Copy)]
struct Who<'c> {
    /// True in the first thread of a team of those who compute.
    is_first: Val<'c>,
    /// The index of this thread in its warp.
    lane: Val<'c>,
    /// The teams of those who compute.
    together: Together,
    /// The team of this thread, where there are several.
    team: Option<Team<'c>>,
    /// The mbarriers of blocks that share tiles, where they do.
    exchange: Option<Exchange<'c>>,
}

fn run<'c>(rewriter: &'c Rewriter<'c>, kernel: Op<'c>, _: &[&str]) -> Result<(), Failure> {
    let Some(registers) = attribute_of(kernel, ROLES).and_then(i64s_of) else {
        let by_warp = |op: &Op<'c>| cute::BlockWarpLoad::of(*op).is_some();
        return match nested_ops(kernel).into_iter().find(by_warp) {
            Some(load) => Err(diag::error(
                load.location(),
                format!(
                    "'{}' op is for a warp that copies beside others, in a kernel without roles; expected {ROLES} on the kernel, or cute.block.copy",
                    cute::BLOCK_WARP_LOAD
                ),
            )),
            None => Ok(()),
        };
    };
    let wrong = |message: String| diag::error(kernel.location(), message);
    let [of_copies, of_computes] = registers[..] else {
        return Err(wrong(format!(
            "expected {ROLES} of two numbers of registers"
        )));
    };
    if let Some(odd) = registers.iter().find(|registers| *registers % 8 != 0) {
        return Err(wrong(format!(
            "expected {ROLES} of multiples of 8 registers, as setmaxnreg takes, found {odd}"
        )));
    }
    let threads = match block_size_of(kernel) {
        Some([x, 1, 1]) if x % WARPGROUP == 0 && x > WARPGROUP => x - WARPGROUP,
        found => {
            return Err(wrong(format!(
                "expected known_block_size of whole warpgroups along x, one that copies and at least one that computes, such as 384, 1, 1, \
                 found {}",
                found.map_or("none".to_owned(), |[x, y, z]| format!("{x}, {y}, {z}"))
            )));
        }
    };
    let teams = Teams::of(kernel, threads)?;
    let warpgroups = u32::try_from(threads / WARPGROUP + 1).unwrap_or(u32::MAX);
    let budget = i64::from(registers_of_warpgroups(warpgroups));
    let all = of_copies + of_computes * (threads / WARPGROUP);
    if all > budget {
        return Err(wrong(format!(
            "{of_copies} registers for the warpgroup that copies and {of_computes} for each of {} that compute are {all}, a block of so many \
             has {budget} for one thread of each; take fewer in {ROLES}",
            threads / WARPGROUP
        )));
    }
    let is_prefetch = |op: &Op<'c>| name_of(*op) == cute_nvgpu::TMA_PREFETCH;
    if let Some(prefetch) = nested_ops(kernel).into_iter().find(is_prefetch) {
        return Err(diag::error(
            prefetch.location(),
            format!(
                "'{}' op is for one thread, in a kernel with {ROLES}, whose loads run ahead by themselves; expected none, or more places by cute.stages",
                cute_nvgpu::TMA_PREFETCH
            ),
        ));
    }
    // By these ptxas knows the registers at entry, which roles share; else it takes as few as it needs where sums are small, and ignores what roles ask for (C7508).
    if [MIN_BLOCKS, MOST_REGISTERS]
        .iter()
        .all(|name| attribute_of(kernel, name).is_none())
    {
        let here = Builder::before(kernel);
        let share = share(all, i64::from(warpgroups));
        set_attribute(kernel, MOST_REGISTERS, here.integer(here.i32_type(), share));
    }
    // A kernel may say itself where what is behind it may start.
    let lets_next_start = nested_ops(kernel)
        .into_iter()
        .any(lets_kernels_behind_start);
    let blocks = integer_of(kernel, CLUSTER).unwrap_or(1);
    let rings = rings::of(kernel, blocks)?;
    let needed = needed::of(kernel, &rings)?;
    let body = body_of_kernel(kernel)?;
    let mut old = ops_of(body);
    old.retain(|op| name_of(*op) != gpu::RETURN);
    let first = *old.first().expected(kernel, "an op in the body")?;
    let top = Builder::before(first).at_location(kernel.location());
    let staged = compute::staged(kernel);
    let exchanged = nested_ops(kernel).into_iter();
    let exchanged = exchanged.filter_map(cute::BlockClusterSum::of);
    let exchanged: HashSet<_> = exchanged.map(|sum| key(root_of(sum.exchange()))).collect();

    // What all threads see: memory that they share, and the barriers of rings.
    let mut mapping = Mapping::new();
    let loaded: HashSet<_> = rings.iter().flat_map(Ring::roots).collect();
    // Tensors that each team has one of, and where all of them are.
    let mut own: Vec<(Val<'c>, Val<'c>)> = Vec::new();
    for op in nested_ops(kernel) {
        let tensor = cute::MemrefAlloca::of(op).map(|op| op.result());
        let Some(tensor) = tensor.filter(|tensor| in_shared(*tensor)) else {
            continue;
        };
        if !loaded.contains(&key(tensor)) {
            let at = top.at_location(op.location());
            let copy = match teams.count {
                1 => at.clone_op(op, &mut mapping),
                count => {
                    let memref = memref_of(tensor).expected(op, "a tensor")?;
                    let all = ring_of(&memref, count).map_err(|e| at.error(e))?;
                    let copy =
                        at.op(cute::MEMREF_ALLOCA, &[], &[all.to_type(at.location)?], &[])?;
                    own.push((tensor, result_of(copy, 0)));
                    copy
                }
            };
            let is_exchanged = exchanged.contains(&key(tensor));
            if staged.contains(&key(tensor)) || is_exchanged {
                // Its accesses are ordered here.
                set_attribute(copy, RING, top.unit());
            }
        }
    }
    let order = teams.allocate(top)?;
    let exchange = Exchange::allocate(kernel, top, (blocks, teams.threads))?;
    let rings = rings
        .into_iter()
        .map(|ring| ring.allocate(top))
        .collect::<Result<Vec<_>, _>>()?;
    let thread = thread_index(top)?;
    let zero = top.i32(0)?;
    let is_first = top.compare(Predicate::Eq, thread, zero)?;
    alone(top.step("barriers"), is_first, |init| {
        prefetch(init, kernel)?;
        for ring in &rings {
            ring.init(init, teams.threads / WARP)?;
        }
        teams.init(init, order)?;
        if let Some(exchange) = exchange {
            exchange.init(init)?;
        }
        init.op(nvvm::FENCE_MBARRIER_INIT, &[], &[], &[])?;
        Ok(())
    })?;
    let mut clears = false;
    for ring in &rings {
        clears |= ring.clear_missing(
            top.step("clear rows outside"),
            (thread, threads + WARPGROUP),
            &mapping,
        )?;
    }
    match blocks {
        1 => {
            top.op(gpu::BARRIER, &[], &[], &[])?;
        }
        // What other blocks load into this one is behind what was cleared here.
        _ if clears => barrier_of_cluster(top, nvvm::CLUSTER_ARRIVE)?,
        // What made the mbarriers is fenced: arrivals need not wait for more.
        _ => barrier_of_cluster(top, nvvm::CLUSTER_ARRIVE_RELAXED)?,
    }
    // All of that may be done while what is before in the stream still runs. Each role waits for that on its own: those who copy when they know what. What is behind
    // in the stream may start as soon as this kernel's blocks need not wait: earlier its blocks would take multiprocessors on which this kernel's are to run.

    // The number of a warp is told to ptxas, so that it knows that the warps of a branch stay together.
    let warp = top.value(arith::DIVUI, &[thread, top.i32(WARP)?], top.i32_type(), &[])?;
    let warp = top.value(
        cute_nvgpu::ARCH_MAKE_WARP_UNIFORM,
        &[warp],
        top.i32_type(),
        &[],
    )?;
    let first_of_copies = top.i32(threads / WARP)?;
    let computes = top.compare(Predicate::Ult, warp, first_of_copies)?;
    let (of_computing, computing) = Detached::with_block(&[]);
    let (of_copying, copying) = Detached::with_block(&[]);
    let lane = top.value(arith::REMUI, &[thread, top.i32(WARP)?], top.i32_type(), &[])?;
    let together = teams.together();
    let attributes = [(TOGETHER, together.attribute(top))];
    let regions = vec![of_computing, of_copying];
    top.with_regions(scf::IF, &[computes], &[], &attributes, regions)?;
    let mut who = Who {
        is_first,
        lane,
        together,
        team: None,
        exchange,
    };

    let b = Builder::at_end(top.context, copying, top.location);
    budget_of(b, "decrease", of_copies)?;
    let is_one = b.compare(Predicate::Eq, warp, first_of_copies)?;
    let of_copies = mapping.clone();
    alone(b, is_one, |one| {
        let leads = one.value(nvvm::ELECT_SYNC, &[], one.ty("i1")?, &[])?;
        let emit = |leads| Emit::new(Role::Copies, &rings, &needed, &staged, who, leads);
        match rings.iter().any(|ring| ring.is_by_warp) {
            // The other threads of the warp copy as well.
            true => emit(Some(leads)).all(&old, one, of_copies),
            false => alone(one, leads, |leader| emit(None).all(&old, leader, of_copies)),
        }
    })?;
    b.op(scf::YIELD, &[], &[], &[])?;

    let b = Builder::at_end(top.context, computing, top.location);
    budget_of(b, "increase", of_computes)?;
    depend(b, "wait")?;
    if !lets_next_start {
        depend(b, "launch_dependents")?;
    }
    if let Some(order) = order {
        let team = teams.team(b, [thread, warp], order)?;
        who.is_first = b.compare(Predicate::Eq, team.thread, b.i32(0)?)?;
        who.team = Some(team);
        for (tensor, all) in own {
            let view = slice(b, all, team.number)?;
            if view.r#type() != tensor.r#type() {
                return Err(b.error(format!(
                    "the tensor of one of several teams is {}, that of all is {}; expected a tensor whose bytes are a multiple of its alignment",
                    view.r#type(),
                    tensor.r#type()
                )));
            }
            mapping.insert(key(tensor), view);
        }
    }
    let emit = Emit::new(Role::Computes, &rings, &needed, &staged, who, None);
    emit.all(&old, b, mapping)?;
    b.op(scf::YIELD, &[], &[], &[])?;
    // Nobody ends before what is before in the stream: what is behind waits for this kernel alone.
    depend(top, "wait")?;
    if blocks > 1 {
        // Others may still arrive here, and load into this block's shared memory.
        barrier_of_cluster(top, nvvm::CLUSTER_ARRIVE)?;
    }

    rewriter.erase_all(old)?;
    remove_attribute(kernel, ROLES);
    remove_attribute(kernel, CLUSTER);
    set_attribute(kernel, SYNCHRONIZE, top.unit());
    Ok(())
}

/// Brings the tensor maps of a kernel into the cache.
fn prefetch<'c>(b: Builder<'c>, kernel: Op<'c>) -> Result<(), Failure> {
    let Some(body) = body_of(kernel, 0) else {
        return Ok(());
    };
    for atom in arguments_of(body) {
        if let Some(CuteType::Tma { .. }) = CuteType::get(atom.r#type()) {
            b.op(cute_nvgpu::PREFETCH_TMA_DESC, &[atom], &[], &[])?;
        }
    }
    Ok(())
}
