//! `cute-lower-handed-pipelines`: pipelines that warps with roles pass on by hand become mbarriers.
//!
//! A place has two: one that its bytes complete, or the copies of the threads that fill it, and one at which a thread of each warp that reads it arrives. What is
//! number i is in place i modulo the number of places, for the (i / places)th time, whose lowest bit is the parity of its phase. The bytes of a place are those
//! of the loads on it, times the blocks that send as many; its readers are counted when it is made, so that neither stands in the kernel twice.

use crate::{
    arch::WARP,
    bulk_loads::Load,
    divergence::Divergence,
    kernel::{body_of_kernel, thread_index},
    mbarriers::{alone, barrier_of_cluster, expect, fence_proxy, mbarriers},
    memory::{root_of, touched},
    shared::in_shared,
    specialize::asynchronous_product,
    warp_specialize::role_of,
};
use cute_arith::Predicate;
use cute_ir::ops::{arith, cute, cute_nvgpu, gpu, nvvm};
use cute_ir::{
    Anchor, Expected, Failure, PassSpec,
    attributes::ROLES,
    block::block_size_of,
    diag::{self, each},
    mlir::*,
    types::CuteType,
};
use melior::ir::{ValueLike, operation::OperationLike};
use std::collections::{HashMap, HashSet};

/// The pass.
pub(crate) const PASS: PassSpec = PassSpec {
    name: "cute-lower-handed-pipelines",
    description: "Lower pipelines between warps with roles to mbarriers",
    anchor: Anchor::Kernel,
    options: &[],
    run,
};

fn run<'c>(rewriter: &'c Rewriter<'c>, kernel: Op<'c>, _: &[&str]) -> Result<(), Failure> {
    let body = body_of_kernel(kernel)?;
    let ops = nested_ops_of(body);
    let creates = ops.iter().copied();
    let creates: Vec<_> = creates.filter_map(cute_nvgpu::PipelineCreate::of).collect();
    let (Some(first), Some(last)) = (creates.first(), creates.last()) else {
        return Ok(());
    };
    if attribute_of(kernel, ROLES).is_some() {
        return Err(Builder::before(first.op()).error(format!(
            "makes a pipeline in a kernel with {ROLES}, whose rings are made for it; expected loads without barriers there, or no {ROLES}"
        )));
    }
    let threads = threads_of(kernel)?;
    let pipelines = creates.iter().map(|create| Pipeline::of(*create, threads));
    let pipelines = pipelines.collect::<Result<Vec<_>, _>>()?;
    check_order(body, last.op(), &pipelines)?;
    let divergence = Divergence::of(kernel);
    each(&pipelines, |pipeline| pipeline.check_threads(&divergence))?;

    let b = Builder::before(first.op());
    let made = pipelines.into_iter().map(|pipeline| pipeline.allocate(b));
    let made = made.collect::<Result<Vec<_>, _>>()?;
    let b = Builder::after(last.op()).step("pipelines");
    let thread = thread_index(b)?;
    let is_first = b.compare(Predicate::Eq, thread, b.i32(0)?)?;
    alone(b, is_first, |b| {
        for pipeline in &made {
            pipeline.init(b)?;
        }
        b.op(nvvm::FENCE_MBARRIER_INIT, &[], &[], &[])?;
        Ok(())
    })?;
    if made.iter().any(|pipeline| pipeline.of.blocks > 1) {
        // What made the mbarriers is fenced: arrivals need not wait for more.
        barrier_of_cluster(b, nvvm::CLUSTER_ARRIVE_RELAXED)?;
    } else {
        b.op(gpu::BARRIER, &[], &[], &[])?;
    }
    let lane = b.value(arith::REMUI, &[thread, b.i32(WARP)?], b.i32_type(), &[])?;

    let read = read_by_threads(&ops);
    let multiplies = ops.iter().any(|op| asynchronous_product(*op).is_some());
    let mut old = Vec::new();
    for pipeline in &made {
        old.extend(pipeline.lower(lane, read.as_ref(), multiplies)?);
    }
    old.extend(creates.iter().map(|create| create.op()));
    rewriter.erase_all(old)
}

/// The threads of the kernel's blocks, which are along x alone.
fn threads_of(kernel: Op<'_>) -> Result<i64, Failure> {
    match block_size_of(kernel) {
        Some([threads, 1, 1]) => Ok(threads),
        Some([x, y, z]) => Err(diag::error(
            kernel.location(),
            format!(
                "has pipelines and blocks of {x} x {y} x {z} threads; expected threads along x alone"
            ),
        )),
        None => Err(diag::error(
            kernel.location(),
            "has pipelines and no known_block_size; expected how many threads a block has, known_block_size = array<i32: 384, 1, 1>",
        )),
    }
}

/// The tensors in shared memory, by the values that allocate them, that other instructions than products of warpgroups read; nothing where one cannot be told.
fn read_by_threads(ops: &[Op<'_>]) -> Option<HashSet<ValueKey>> {
    let mut read = HashSet::new();
    for op in ops.iter().copied() {
        let is_bulk = matches!(name_of(op), cute_nvgpu::TMA_STORE | cute_nvgpu::BULK_STORE);
        if is_bulk || op.region_count() > 0 || asynchronous_product(op).is_some() {
            continue;
        }
        let values = touched(op, EffectKind::Read).into_iter();
        for value in values.filter(|value| in_shared(*value)) {
            let root = root_of(value);
            defining_op(root).filter(|op| name_of(*op) == cute::MEMREF_ALLOCA)?;
            read.insert(key(root));
        }
    }
    Some(read)
}

/// Refuses pipelines that are made within a loop or a branch, and uses ahead of where all threads have met.
fn check_order<'c>(body: Blk<'c>, last: Op<'c>, pipelines: &[Pipeline<'c>]) -> Result<(), Failure> {
    let places: HashMap<_, _> = (ops_of(body).into_iter().enumerate())
        .map(|(place, op)| (op_key(op), place))
        .collect();
    let place_of = |op: Op<'c>| {
        let mut around = std::iter::successors(Some(op), |op| parent_op(*op));
        around.find_map(|op| places.get(&op_key(op)).copied())
    };
    for pipeline in pipelines {
        let create = pipeline.create.op();
        if !places.contains_key(&op_key(create)) {
            return Err(diag::error(
                create.location(),
                "makes a pipeline within a loop or a branch; expected it in the kernel's own block, where all threads come by once",
            ));
        }
        let early = users_of(pipeline.create.pipeline())
            .into_iter()
            .find(|user| place_of(*user) <= place_of(last));
        if let Some(user) = early {
            return Err(diag::error_with_notes(
                user.location(),
                "uses a pipeline before the last one is made; expected all uses behind it, where all threads have met",
                &[(last.location(), "the last pipeline")],
            ));
        }
    }
    Ok(())
}

/// A ring of buffers by hand.
struct Pipeline<'c> {
    create: cute_nvgpu::PipelineCreate<'c>,
    places: i64,
    /// The warps of a block that read a place.
    warps: i64,
    /// The blocks of the cluster that fill each other's places.
    blocks: i64,
    /// The threads whose `cp.async` fill a place; none where bulk copies do.
    threads: Option<i64>,
    acquires: Vec<cute_nvgpu::PipelineProducerAcquire<'c>>,
    commits: Vec<cute_nvgpu::PipelineProducerCommit<'c>>,
    waits: Vec<cute_nvgpu::PipelineConsumerWait<'c>>,
    releases: Vec<cute_nvgpu::PipelineConsumerRelease<'c>>,
    loads: Vec<Load<'c>>,
}

impl<'c> Pipeline<'c> {
    fn of(create: cute_nvgpu::PipelineCreate<'c>, threads_of_block: i64) -> Result<Self, Failure> {
        let b = Builder::before(create.op());
        let Some(CuteType::Pipeline { stages, .. }) = CuteType::of(create.pipeline().r#type())
        else {
            return Err(b.error("expected a pipeline"));
        };
        let mut pipeline = Self {
            create,
            places: stages,
            warps: integer_of(create.op(), "warps").expected(b, "the number of warps")?,
            blocks: integer_of(create.op(), "blocks").unwrap_or(1),
            threads: integer_of(create.op(), "threads"),
            acquires: Vec::new(),
            commits: Vec::new(),
            waits: Vec::new(),
            releases: Vec::new(),
            loads: Vec::new(),
        };
        let filling = pipeline.threads.unwrap_or(1);
        if pipeline.warps * WARP > threads_of_block || filling > threads_of_block {
            return Err(b.error(format!(
                "makes a pipeline that {} warps read and {filling} thread{} fill{}, in blocks of {threads_of_block} threads; expected no more than there are",
                pipeline.warps,
                if filling == 1 { "" } else { "s" },
                if filling == 1 { "s" } else { "" },
            )));
        }
        for user in users_of(create.pipeline()) {
            pipeline.take(user)?;
        }
        pipeline.check()?;
        Ok(pipeline)
    }

    fn take(&mut self, user: Op<'c>) -> Result<(), Failure> {
        if let Some(op) = cute_nvgpu::PipelineProducerAcquire::of(user) {
            self.acquires.push(op);
        } else if let Some(op) = cute_nvgpu::PipelineProducerCommit::of(user) {
            self.commits.push(op);
        } else if let Some(op) = cute_nvgpu::PipelineConsumerWait::of(user) {
            self.waits.push(op);
        } else if let Some(op) = cute_nvgpu::PipelineConsumerRelease::of(user) {
            self.releases.push(op);
        } else if let Some(load) = Load::of(user) {
            self.loads.push(load);
        } else {
            return Err(diag::error(
                user.location(),
                format!(
                    "'{}' op takes a pipeline with mbarriers; expected only operations on pipelines, and loads `on` it",
                    name_of(user)
                ),
            ));
        }
        Ok(())
    }

    /// Refuses pipelines on which somebody would wait for ever.
    fn check(&self) -> Result<(), Failure> {
        let b = Builder::before(self.create.op());
        let missing = [
            (self.acquires.is_empty(), "fills", "producer_acquire"),
            (self.waits.is_empty(), "waits for", "consumer_wait"),
            (self.releases.is_empty(), "releases", "consumer_release"),
            (
                self.threads.is_some() && self.commits.is_empty(),
                "commits",
                "producer_commit",
            ),
        ];
        for (is_missing, what, op) in missing {
            if is_missing {
                return Err(b.error(format!(
                    "makes a pipeline that nobody {what}, so that others wait for ever; expected a cute_nvgpu.pipeline.{op} of it"
                )));
            }
        }
        match self.threads {
            Some(threads) => {
                if let Some(load) = self.loads.first() {
                    return Err(diag::error(
                        load.op.location(),
                        format!(
                            "loads on a pipeline that `cp.async` of {threads} threads fills; expected no `threads` where it is made, or copies by cp.async"
                        ),
                    ));
                }
            }
            None => {
                if let Some(commit) = self.commits.first() {
                    return Err(diag::error(
                        commit.op().location(),
                        "commits copies by cp.async to a pipeline that bulk copies fill; expected `threads` where it is made, as many as copy",
                    ));
                }
            }
        }
        let of_a_place = |load: &Load<'c>| {
            self.acquires.iter().any(|acquire| {
                load.place == Some(acquire.place()) && block_of(acquire.op()) == block_of(load.op)
            })
        };
        match self.loads.iter().find(|load| !of_a_place(load)) {
            Some(load) => Err(diag::error(
                load.op.location(),
                "loads on no place that this block of operations acquires, so that its bytes are not known; expected the result of a \
                 cute_nvgpu.pipeline.producer_acquire beside it as the index",
            )),
            None => Ok(()),
        }
    }

    /// Refuses uses by other threads than the pipeline is made for, as far as roles and branches tell.
    fn check_threads(&self, divergence: &Divergence) -> Result<(), Failure> {
        // Whether all threads of a role come by with one number.
        let is_of_all = |op: Op<'c>, number: Val<'c>| {
            divergence.around(op).is_none() && !divergence.varies(number)
        };
        if self.threads.is_none() {
            let by_all = |acquire: &&cute_nvgpu::PipelineProducerAcquire<'c>| {
                role_of(acquire.op()).is_some() && is_of_all(acquire.op(), acquire.iteration())
            };
            if let Some(acquire) = self.acquires.iter().find(by_all) {
                return Err(diag::error(
                    acquire.op().location(),
                    format!(
                        "'{}' op is for one thread, which starts the loads of the place, and all threads of the role come here; expected it where nvvm.elect.sync of one warp holds",
                        name_of(acquire.op()),
                    ),
                ));
            }
        }
        let releases: Vec<_> = (self.releases.iter())
            .map(|release| (release.op(), release.iteration()))
            .collect();
        self.check_roles(&releases, self.warps, "release a place", "warps", is_of_all)?;
        if let Some(threads) = self.threads {
            let commits: Vec<_> = (self.commits.iter())
                .map(|commit| (commit.op(), commit.iteration()))
                .collect();
            self.check_roles(
                &commits,
                threads / WARP,
                "fill a place",
                "threads",
                is_of_all,
            )?;
        }
        Ok(())
    }

    /// Checks how many warps do something to a place by the warps of the roles that do.
    fn check_roles(
        &self,
        ops: &[(Op<'c>, Val<'c>)],
        warps: i64,
        what: &str,
        clause: &str,
        is_of_all: impl Fn(Op<'c>, Val<'c>) -> bool,
    ) -> Result<(), Failure> {
        let roles = ops
            .iter()
            .map(|(op, _)| role_of(*op))
            .collect::<Option<HashMap<_, _>>>();
        let Some(roles) = roles else { return Ok(()) };
        let unit = |warps: i64| {
            if clause == "threads" {
                warps * WARP
            } else {
                warps
            }
        };
        let all: i64 = roles.values().sum();
        let wrong = |op: Op<'c>, message: String| {
            let note = [(self.create.op().location(), "the pipeline")];
            Err(diag::error_with_notes(op.location(), message, &note))
        };
        if all < warps {
            return wrong(
                ops[0].0,
                format!(
                    "'{}' op: the roles that {what} have {} {clause}, and the pipeline is made for {}, for which others wait for ever; expected as many",
                    name_of(ops[0].0),
                    unit(all),
                    unit(warps)
                ),
            );
        }
        for (op, number) in ops {
            if let Some((_, of_role)) = role_of(*op)
                && of_role > warps
                && is_of_all(*op, *number)
            {
                return wrong(
                    *op,
                    format!(
                        "'{}' op: all {} {clause} of the role {what}, and the pipeline is made for {}, so that a phase is over before all are done; expected as many",
                        name_of(*op),
                        unit(of_role),
                        unit(warps)
                    ),
                );
            }
        }
        Ok(())
    }

    fn allocate(self, b: Builder<'c>) -> Result<Made<'c>, Failure> {
        Ok(Made {
            full: mbarriers(b, self.places)?,
            empty: mbarriers(b, self.places)?,
            of: self,
        })
    }

    /// The place of what has a number.
    fn place(&self, b: Builder<'c>, number: Val<'c>) -> Result<Val<'c>, Failure> {
        let places = b.i32(self.places)?;
        b.value(arith::REMUI, &[number, places], b.i32_type(), &[])
    }

    /// The parity of the phase that what has a number completes.
    fn parity(&self, b: Builder<'c>, number: Val<'c>) -> Result<Val<'c>, Failure> {
        let places = b.i32(self.places)?;
        let round = b.value(arith::DIVUI, &[number, places], b.i32_type(), &[])?;
        b.value(arith::ANDI, &[round, b.i32(1)?], b.i32_type(), &[])
    }
}

/// A pipeline with its mbarriers.
struct Made<'c> {
    of: Pipeline<'c>,
    full: Val<'c>,
    empty: Val<'c>,
}

impl<'c> Made<'c> {
    fn init(&self, b: Builder<'c>) -> Result<(), Failure> {
        let filling = self.of.threads.unwrap_or(1);
        for place in 0..self.of.places {
            for (barriers, count) in [
                (self.full, filling),
                (self.empty, self.of.warps * self.of.blocks),
            ] {
                let operands = [barriers, b.i32(place)?, b.i32(count)?];
                b.op(cute_nvgpu::MBARRIER_INIT, &operands, &[], &[])?;
            }
        }
        Ok(())
    }

    /// Writes what its operations are, and returns those that are done with. `read` are the tensors that threads read, and `multiplies` tells whether there are
    /// products of warpgroups.
    fn lower(
        &self,
        lane: Val<'c>,
        read: Option<&HashSet<ValueKey>>,
        multiplies: bool,
    ) -> Result<Vec<Op<'c>>, Failure> {
        let of = &self.of;
        for load in &of.loads {
            let operands = operands_of(load.op).into_iter().enumerate();
            for (index, _) in operands.filter(|(_, value)| *value == of.create.pipeline()) {
                set_operand(load.op, index, self.full);
            }
        }
        for acquire in &of.acquires {
            self.acquire(*acquire)?;
        }
        for commit in &of.commits {
            let b = Builder::before(commit.op());
            let operands = [self.full, of.place(b, commit.iteration())?];
            let noinc = [("noinc", b.unit())];
            b.op(cute_nvgpu::CP_ASYNC_MBARRIER_ARRIVE, &operands, &[], &noinc)?;
        }
        for wait in &of.waits {
            let b = Builder::before(wait.op());
            let place = of.place(b, wait.iteration())?;
            let parity = of.parity(b, wait.iteration())?;
            b.op(
                cute_nvgpu::MBARRIER_WAIT,
                &[self.full, place, parity],
                &[],
                &[],
            )?;
            if of.threads.is_some() && multiplies {
                // Products of warpgroups do not come to memory the way that copies by threads do.
                fence_proxy(b)?;
            }
            replace_uses(wait.place(), place);
        }
        for release in &of.releases {
            self.release(*release, lane, read)?;
        }
        let ops = [
            of.acquires.iter().map(|op| op.op()).collect::<Vec<_>>(),
            of.commits.iter().map(|op| op.op()).collect(),
            of.waits.iter().map(|op| op.op()).collect(),
            of.releases.iter().map(|op| op.op()).collect(),
        ];
        Ok(ops.concat())
    }

    fn acquire(&self, acquire: cute_nvgpu::PipelineProducerAcquire<'c>) -> Result<(), Failure> {
        let (of, b) = (&self.of, Builder::before(acquire.op()));
        let place = of.place(b, acquire.iteration())?;
        // A place that nothing has filled yet is free: the phase before the first one is over.
        let parity = of.parity(b, acquire.iteration())?;
        let other = b.value(arith::XORI, &[parity, b.i32(1)?], b.i32_type(), &[])?;
        b.op(
            cute_nvgpu::MBARRIER_WAIT,
            &[self.empty, place, other],
            &[],
            &[],
        )?;
        if of.threads.is_none() {
            let loads = of.loads.iter();
            let own = loads.filter(|load| load.place == Some(acquire.place()));
            let bytes = own.map(|load| load.bytes(of.blocks));
            let bytes: i64 = bytes.sum::<Result<_, _>>()?;
            if bytes == 0 {
                return Err(b.error(
                    "acquires a place on which nothing is loaded; expected loads `on` the pipeline at this index",
                ));
            }
            expect(b, [self.full, place], b.i32(bytes)?)?;
        }
        replace_uses(acquire.place(), place);
        Ok(())
    }

    fn release(
        &self,
        release: cute_nvgpu::PipelineConsumerRelease<'c>,
        lane: Val<'c>,
        read: Option<&HashSet<ValueKey>>,
    ) -> Result<(), Failure> {
        let (of, b) = (&self.of, Builder::before(release.op()));
        let place = of.place(b, release.iteration())?;
        let mut filled = of.loads.iter().map(|load| key(root_of(load.destination)));
        let is_read = read.is_none_or(|read| filled.any(|root| read.contains(&root)));
        if is_read {
            // Bulk copies do not come to memory the way that loads do.
            fence_proxy(b)?;
        }
        if is_read || of.threads.is_some() {
            b.op(nvvm::BAR_WARP_SYNC, &[b.i32(-1)?], &[], &[])?;
        }
        let arrives = b.compare(Predicate::Ult, lane, b.i32(of.blocks)?)?;
        alone(b, arrives, |b| {
            match of.blocks {
                1 => b.op(cute_nvgpu::MBARRIER_ARRIVE, &[self.empty, place], &[], &[])?,
                _ => b.op(
                    cute_nvgpu::MBARRIER_ARRIVE_AT,
                    &[self.empty, place, lane],
                    &[],
                    &[],
                )?,
            };
            Ok(())
        })
    }
}
