//! `cute-lower-pipeline`: pipelines become asynchronous groups and barriers.
//!
//! Tokens say what to wait for; how long ago each was made says how. A wait for a commit with n
//! commits after it is `cp.async.wait_group n`, and a barrier, since other threads copied parts of
//! the buffer too; where stores fill the buffer it is a barrier, unless one has passed since. An acquire
//! needs a barrier only if none has passed since the release that it takes. Ages are least ones over all ways to reach the operation: a branch that need not be taken counts for
//! nothing, and loops are gone through until they settle. Slots are iterations modulo the number of stages.

use crate::{
    divergence::Divergence,
    kernel::{body_of_kernel, second_body},
    synchronize::wait_for_copies,
};
use cute_ir::ops::{arith, cute, gpu, nvvm};
use cute_ir::{Anchor, Failure, PassSpec, mlir::*, types::CuteType};
use cute_layout::atoms::Completion;
use melior::ir::{ValueLike, operation::OperationLike};
use std::collections::{BTreeMap, HashMap};

/// The pass.
pub(crate) const PASS: PassSpec = PassSpec {
    name: "cute-lower-pipeline",
    description: "Lower pipelines to asynchronous groups and barriers",
    anchor: Anchor::Kernel,
    options: &[],
    run,
};

fn run<'c>(rewriter: &'c Rewriter<'c>, kernel: Op<'c>, _: &[&str]) -> Result<(), Failure> {
    let body = body_of_kernel(kernel)?;
    if !concerns_pipelines(kernel) {
        return Ok(());
    }
    let mut ages = Ages {
        tokens: Tokens::new(),
        waits: HashMap::new(),
        barriers: HashMap::new(),
        divergence: Divergence::of(kernel),
    };
    ages.block(body)?;
    rebuild(rewriter, kernel, body, &ages)
}

/// Tells whether there are pipelines or tokens in an operation, or tokens pass through it.
fn concerns_pipelines(op: Op<'_>) -> bool {
    nested_ops(op).into_iter().chain([op]).any(|op| {
        is_of_a_pipeline(op)
            || operands_of(op).into_iter().any(is_token)
            || blocks_of(op)
                .into_iter()
                .flat_map(arguments_of)
                .any(is_token)
    })
}

/// Tells whether an operation makes, fills or empties a ring of buffers.
fn is_of_a_pipeline(op: Op<'_>) -> bool {
    matches!(
        name_of(op),
        cute::PIPELINE_CREATE
            | cute::PIPELINE_PRODUCER_ACQUIRE
            | cute::PIPELINE_PRODUCER_COMMIT
            | cute::PIPELINE_PRODUCER_TAIL
            | cute::PIPELINE_CONSUMER_WAIT
            | cute::PIPELINE_CONSUMER_RELEASE
    )
}

/// The numbers of commits and barriers that came after a token was made, at least.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Age {
    commits: i64,
    barriers: i64,
}

impl Age {
    const NEW: Age = Age {
        commits: 0,
        barriers: 0,
    };
    /// A buffer that was never used is as free as can be.
    const FOREVER: Age = Age {
        commits: i64::MAX,
        barriers: i64::MAX,
    };

    fn least(self, other: Age) -> Age {
        Age {
            commits: self.commits.min(other.commits),
            barriers: self.barriers.min(other.barriers),
        }
    }
}

/// The ages of tokens at a place of the program.
type Tokens = BTreeMap<ValueKey, Age>;

/// The ages where two ways meet: the least of both, for tokens that there are on both.
fn join(one: &Tokens, other: &Tokens) -> Tokens {
    one.iter()
        .filter_map(|(token, age)| Some((*token, age.least(*other.get(token)?))))
        .collect()
}

struct Ages {
    tokens: Tokens,
    /// The number of commits that each wait leaves in flight, by operation.
    waits: HashMap<OpKey, i64>,
    /// Tells whether an acquire or a wait needs a barrier, by operation.
    barriers: HashMap<OpKey, bool>,
    divergence: Divergence,
}

fn id(op: Op) -> OpKey {
    op_key(op)
}

fn is_token(value: Val) -> bool {
    matches!(CuteType::of(value.r#type()), Some(CuteType::Token))
}

fn missing(b: Builder) -> Failure {
    b.error("expected a token of this kernel's pipelines")
}

/// The way in which a thread knows that it has filled a place of a pipeline.
fn completion(pipeline: Val<'_>) -> Completion {
    match CuteType::of(pipeline.r#type()) {
        Some(CuteType::Pipeline { completion, .. }) => completion,
        _ => Completion::Group,
    }
}

/// Tells whether an operation is in a region that may be gone through again.
fn is_repeated(op: Op<'_>) -> bool {
    let around = std::iter::successors(parent_op(op), |op| parent_op(*op));
    around
        .take_while(|op| name_of(*op) != gpu::FUNC)
        .any(may_repeat)
}

/// The last operation of a block of a region.
fn terminator<'c>(block: Blk<'c>, b: Builder<'c>) -> Result<Op<'c>, Failure> {
    ops_of(block)
        .pop()
        .ok_or_else(|| b.error("expected a region that ends in a terminator"))
}

impl Ages {
    fn age(&self, token: Val, b: Builder) -> Result<Age, Failure> {
        self.tokens
            .get(&key(token))
            .copied()
            .ok_or_else(|| missing(b))
    }

    fn pass(&mut self, commits: i64, barriers: i64) {
        for age in self.tokens.values_mut() {
            age.commits = age.commits.saturating_add(commits);
            age.barriers = age.barriers.saturating_add(barriers);
        }
    }

    fn block(&mut self, block: Blk<'_>) -> Result<(), Failure> {
        for op in ops_of(block) {
            let b = Builder::before(op);
            if let Some(create) = cute::PipelineCreate::of(op) {
                // In a loop, others may still read what the turn before left.
                let age = if is_repeated(op) {
                    Age {
                        barriers: 0,
                        ..Age::FOREVER
                    }
                } else {
                    Age::FOREVER
                };
                self.tokens.insert(key(create.free()), age);
            } else if let Some(acquire) = cute::PipelineProducerAcquire::of(op) {
                let age = self.age(acquire.token(), b)?;
                let needed = age.barriers < 1;
                self.barriers.insert(id(op), needed);
                if needed {
                    self.divergence.check(op, NEEDS_ALL)?;
                    self.pass(0, 1);
                }
            } else if let Some(commit) = cute::PipelineProducerCommit::of(op) {
                if completion(commit.pipeline()) == Completion::Group {
                    self.pass(1, 0);
                }
                self.tokens.insert(key(commit.token()), Age::NEW);
            } else if let Some(wait) = cute::PipelineConsumerWait::of(op) {
                let age = self.age(wait.token(), b)?;
                if age.commits == i64::MAX {
                    return Err(b.error("waits for a buffer that nothing fills"));
                }
                // What this thread stored is there; others know so behind a barrier.
                let copies = completion(wait.pipeline()) == Completion::Group;
                let needed = copies || age.barriers < 1;
                if copies {
                    self.waits.insert(id(op), age.commits);
                }
                self.barriers.insert(id(op), needed);
                if needed {
                    self.divergence.check(op, NEEDS_ALL)?;
                    self.pass(0, 1);
                }
            } else if let Some(release) = cute::PipelineConsumerRelease::of(op) {
                self.tokens.insert(key(release.token()), Age::NEW);
            } else if op.region_count() > 0 {
                self.regions(op, b)?;
            } else {
                match name_of(op) {
                    nvvm::CP_ASYNC_COMMIT_GROUP => self.pass(1, 0),
                    gpu::BARRIER => self.pass(0, 1),
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// The only block of a region.
    fn only_block<'c>(op: Op<'c>, region: usize, b: Builder) -> Result<Blk<'c>, Failure> {
        match blocks_of_region(op, region)[..] {
            [block] => Ok(block),
            _ => Err(b.error(format!(
                "'{}' op has operations on pipelines in a region of several blocks; write loops and branches as scf ops",
                name_of(op)
            ))),
        }
    }

    /// An operation with regions: goes along the ways between them until the ages at their starts settle. What concerns no
    /// pipeline counts for nothing, as if it was not taken.
    fn regions(&mut self, op: Op<'_>, b: Builder) -> Result<(), Failure> {
        if !concerns_pipelines(op) {
            return Ok(());
        }
        let Some(ways) = ways_of(op) else {
            return Err(b.error(format!(
                "'{}' op has operations on pipelines within, and does not say which way control takes through its regions; \
                 expected these in the kernel's body or in scf ops",
                name_of(op)
            )));
        };
        let count = op.region_count();
        let before = std::mem::take(&mut self.tokens);
        let (mut entries, mut exits) = (vec![None; count], vec![None; count]);
        for round in 0.. {
            let mut settled = true;
            for region in (0..count).filter(|region| !blocks_of_region(op, *region).is_empty()) {
                let mut entry = self.meet(&ways, Some(region), &before, &exits, b)?;
                if let (true, Some(known), Some(new)) = (round > ROUNDS, &entries[region], &entry) {
                    entry = Some(join(known, new));
                }
                if entry.is_none() || entry == entries[region] {
                    continue;
                }
                settled = false;
                self.tokens = entry.clone().unwrap_or_default();
                entries[region] = entry;
                self.block(Self::only_block(op, region, b)?)?;
                exits[region] = Some(std::mem::take(&mut self.tokens));
            }
            if settled {
                break;
            }
        }
        self.tokens = self
            .meet(&ways, None, &before, &exits, b)?
            .unwrap_or_default();
        Ok(())
    }

    /// The ages where all ways to a point meet that have been gone so far; nothing where none has.
    fn meet(
        &self,
        ways: &[Way<'_>],
        to: RegionPoint,
        before: &Tokens,
        exits: &[Option<Tokens>],
        b: Builder,
    ) -> Result<Option<Tokens>, Failure> {
        let mut met: Option<Tokens> = None;
        for way in ways.iter().filter(|way| way.to == to) {
            let from = match way.from {
                None => before,
                Some(from) => match &exits[from] {
                    Some(exit) => exit,
                    None => continue,
                },
            };
            let mut tokens = from.clone();
            for (source, target) in way.values.iter().filter(|(source, _)| is_token(*source)) {
                let age = from.get(&key(*source)).copied().ok_or_else(|| missing(b))?;
                tokens.insert(key(*target), age);
            }
            met = Some(met.map_or(tokens.clone(), |met| join(&met, &tokens)));
        }
        Ok(met)
    }
}

/// Rounds from which on the ages at the start of a region only sink. A younger token asks for a barrier, and a barrier makes other
/// tokens older, which then ask for none: rounds could repeat for ever. Less than the age that a token has is always right.
const ROUNDS: usize = 8;

/// The reason why an operation of a pipeline concerns every thread.
const NEEDS_ALL: &str = "needs a barrier of all threads of the block";

/// The kernel's body again, without tokens.
fn rebuild<'c>(
    rewriter: &'c Rewriter<'c>,
    kernel: Op<'c>,
    old: Blk<'c>,
    ages: &Ages,
) -> Result<(), Failure> {
    let mut mapping = Mapping::new();
    let new = second_body(kernel, old, &mut mapping);
    let b = Builder::at_end(context_of(kernel), new, kernel.location());
    rewrite(&ops_of(old), b, ages, &mut mapping)?;
    rewriter.erase_blocks(&[old])
}

fn rewrite<'c>(
    ops: &[Op<'c>],
    b: Builder<'c>,
    ages: &Ages,
    mapping: &mut Mapping<'c>,
) -> Result<(), Failure> {
    for op in ops.iter().copied() {
        let b = b.at_location(op.location());
        if let Some(acquire) = cute::PipelineProducerAcquire::of(op) {
            if ages.barriers.get(&id(op)).copied().unwrap_or(true) {
                b.op(gpu::BARRIER, &[], &[], &[])?;
            }
            let slot = slot(acquire.pipeline(), acquire.iteration(), b, mapping)?;
            mapping.insert(key(acquire.slot()), slot);
        } else if let Some(wait) = cute::PipelineConsumerWait::of(op) {
            if let Some(groups) = ages.waits.get(&id(op)) {
                wait_for_copies(b, *groups)?;
            }
            if ages.barriers.get(&id(op)).copied().unwrap_or(true) {
                b.op(gpu::BARRIER, &[], &[], &[])?;
            }
            let slot = slot(wait.pipeline(), wait.iteration(), b, mapping)?;
            mapping.insert(key(wait.slot()), slot);
        } else {
            match name_of(op) {
                cute::PIPELINE_CREATE | cute::PIPELINE_CONSUMER_RELEASE => {}
                cute::PIPELINE_PRODUCER_COMMIT => {
                    let commit = cute::PipelineProducerCommit::of(op);
                    if commit.is_some_and(|op| completion(op.pipeline()) == Completion::Group) {
                        b.op(nvvm::CP_ASYNC_COMMIT_GROUP, &[], &[], &[])?;
                    }
                }
                cute::PIPELINE_PRODUCER_TAIL => {
                    wait_for_copies(b, 0)?;
                }
                _ if op.region_count() > 0 && concerns_pipelines(op) => {
                    without_tokens(op, b, ages, mapping)?;
                }
                _ => {
                    b.clone_op(op, mapping);
                }
            }
        }
    }
    Ok(())
}

/// The buffer of an iteration: modulo the number of buffers.
fn slot<'c>(
    pipeline: Val<'c>,
    iteration: Val<'c>,
    b: Builder<'c>,
    mapping: &Mapping<'c>,
) -> Result<Val<'c>, Failure> {
    let Some(CuteType::Pipeline { stages, .. }) = CuteType::of(pipeline.r#type()) else {
        return Err(b.error("expected a pipeline"));
    };
    let iteration = mapped(mapping, iteration);
    match constant_of(iteration) {
        Some(known) => b.i32(known.rem_euclid(stages)),
        None => {
            let stages = b.i32(stages)?;
            b.value(arith::REMUI, &[iteration, stages], b.i32_type(), &[])
        }
    }
}

/// A loop or a branch again, without the tokens that it carries, with its regions rewritten.
fn without_tokens<'c>(
    op: Op<'c>,
    b: Builder<'c>,
    ages: &Ages,
    mapping: &mut Mapping<'c>,
) -> Result<(), Failure> {
    let kept = |values: Vec<Val<'c>>| values.into_iter().filter(|v| !is_token(*v));
    let mut regions = Vec::new();
    for index in 0..op.region_count() {
        let Some(old) = body_of(op, index) else {
            regions.push(Detached::empty());
            continue;
        };
        let arguments: Vec<Val<'c>> = kept(arguments_of(old)).collect();
        let types: Vec<_> = arguments.iter().map(|v| (v.r#type(), b.location)).collect();
        let (region, new) = Detached::with_block(&types);
        for (old, new) in arguments.iter().zip(arguments_of(new)) {
            mapping.insert(key(*old), new);
        }
        let inner = Builder::at_end(b.context, new, b.location);
        let end = terminator(old, b)?;
        let mut ops = ops_of(old);
        ops.pop();
        rewrite(&ops, inner, ages, mapping)?;
        let yielded: Vec<_> = kept(operands_of(end)).map(|v| mapped(mapping, v)).collect();
        inner.op(name_of(end), &yielded, &[], &attributes_of(end))?;
        regions.push(region);
    }
    let operands: Vec<_> = kept(operands_of(op)).map(|v| mapped(mapping, v)).collect();
    let results: Vec<_> = kept(results_of(op)).collect();
    let types: Vec<_> = results.iter().map(|v| v.r#type()).collect();
    let built = b.with_regions(name_of(op), &operands, &types, &attributes_of(op), regions)?;
    for (old, new) in results.into_iter().zip(results_of(built)) {
        mapping.insert(key(old), new);
    }
    Ok(())
}

fn mapped<'c>(mapping: &Mapping<'c>, value: Val<'c>) -> Val<'c> {
    mapping.get(&key(value)).copied().unwrap_or(value)
}
