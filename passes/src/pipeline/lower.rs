//! `cute-lower-pipeline`: pipelines become asynchronous groups and barriers.
//!
//! Tokens say what to wait for; how long ago each was made says how. A wait for a commit with n
//! commits after it is `cp.async.wait_group n`, and a barrier, since other threads copied parts of
//! the buffer too. An acquire needs a barrier only if none has passed since the release that it
//! takes. Ages are least ones over all ways to reach the operation, so loops are gone through until
//! they settle. Slots are iterations modulo the number of stages.

use crate::partition::{body_of_kernel, drop_body, kernels, second_body};
use cute_ir::{Failure, PassSpec, build::*, types::CuteType};
use melior::ir::{Value, ValueLike, operation::OperationLike};
use std::collections::HashMap;

/// The pass.
pub const PASS: PassSpec = PassSpec {
    name: "cute-lower-pipeline",
    description: "Lower pipelines to asynchronous groups and barriers",
    anchor: "builtin.module",
    options: &[],
    run,
};

fn run<'c>(module: Op<'c>, _: &[&str]) -> Result<(), Failure> {
    for kernel in kernels(module) {
        let body = body_of_kernel(kernel)?;
        let uses = nested_ops(kernel)
            .into_iter()
            .any(|op| name_of(op).starts_with("cute.pipeline."));
        if !uses {
            continue;
        }
        let mut ages = Ages::default();
        ages.block(body)?;
        rebuild(kernel, body, &ages)?;
    }
    Ok(())
}

/// How many commits and barriers came after a token was made, at least.
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

#[derive(Default)]
struct Ages {
    tokens: HashMap<usize, Age>,
    /// What each wait waits down to, by operation.
    waits: HashMap<usize, i64>,
    /// Whether an acquire needs a barrier.
    barriers: HashMap<usize, bool>,
}

fn id(op: Op) -> usize {
    op.to_raw().ptr as usize
}

fn is_token(value: Val) -> bool {
    matches!(CuteType::of(value.r#type()), Some(CuteType::Token))
}

impl Ages {
    fn age(&self, token: Val, b: Builder) -> Result<Age, Failure> {
        self.tokens
            .get(&key(token))
            .copied()
            .ok_or_else(|| b.error("expected a token of this kernel's pipelines"))
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
            let operands = operands_of(op);
            match name_of(op) {
                "cute.pipeline.create" => {
                    self.tokens.insert(key(result_of(op, 1)), Age::FOREVER);
                }
                "cute.pipeline.producer_acquire" => {
                    let age = self.age(operands[1], b)?;
                    let needed = age.barriers < 1;
                    self.barriers.insert(id(op), needed);
                    if needed {
                        self.pass(0, 1);
                    }
                }
                "cute.pipeline.producer_commit" => {
                    self.pass(1, 0);
                    self.tokens.insert(key(result_of(op, 0)), Age::NEW);
                }
                "cute.pipeline.consumer_wait" => {
                    let age = self.age(operands[1], b)?;
                    if age.commits == i64::MAX {
                        return Err(b.error("waits for a buffer that nothing fills"));
                    }
                    self.waits.insert(id(op), age.commits);
                    self.pass(0, 1);
                }
                "cute.pipeline.consumer_release" => {
                    self.tokens.insert(key(result_of(op, 0)), Age::NEW);
                }
                "nvvm.cp.async.commit.group" => self.pass(1, 0),
                "gpu.barrier" => self.pass(0, 1),
                "scf.for" => self.for_loop(op, b)?,
                _ => {
                    if let Some(inner) = body_of(op, 0) {
                        self.block(inner)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn for_loop(&mut self, op: Op<'_>, b: Builder) -> Result<(), Failure> {
        let body = body_of(op, 0).ok_or(Failure)?;
        let initial = operands_of(op)[3..].to_vec();
        let end = ops_of(body).pop().ok_or(Failure)?;
        let yielded = operands_of(end);
        let tokens: Vec<usize> = (0..initial.len())
            .filter(|i| is_token(initial[*i]))
            .collect();
        let mut entry = Vec::new();
        for i in &tokens {
            entry.push(self.age(initial[*i], b)?);
        }
        let before = self.tokens.clone();
        loop {
            self.tokens = before.clone();
            for (i, age) in tokens.iter().zip(&entry) {
                self.tokens.insert(key(argument(body, i + 1)), *age);
            }
            self.block(body)?;
            let mut next = Vec::new();
            for (i, age) in tokens.iter().zip(&entry) {
                next.push(age.least(self.age(yielded[*i], b)?));
            }
            if next == entry {
                break;
            }
            // Ages only fall, and are never below zero.
            entry = next;
        }
        // The loop may run no more than not at all: what it leaves is the least of both.
        for i in &tokens {
            let after = self.age(yielded[*i], b)?.least(before[&key(initial[*i])]);
            self.tokens.insert(key(result_of(op, *i)), after);
        }
        Ok(())
    }
}

/// The kernel's body again, without tokens.
fn rebuild<'c>(kernel: Op<'c>, old: Blk<'c>, ages: &Ages) -> Result<(), Failure> {
    let mut mapping = Mapping::new();
    let new = second_body(kernel, old, &mut mapping);
    let b = Builder::at_end(context_of(kernel), new, kernel.location());
    rewrite(&ops_of(old), b, ages, &mut mapping)?;
    drop_body(old);
    Ok(())
}

fn rewrite<'c>(
    ops: &[Op<'c>],
    b: Builder<'c>,
    ages: &Ages,
    mapping: &mut Mapping<'c>,
) -> Result<(), Failure> {
    for op in ops.iter().copied() {
        let b = b.at_location(op.location());
        match name_of(op) {
            "cute.pipeline.create" | "cute.pipeline.consumer_release" => {}
            "cute.pipeline.producer_acquire" => {
                if ages.barriers.get(&id(op)).copied().unwrap_or(true) {
                    b.op("gpu.barrier", &[], &[], &[])?;
                }
                slot(op, b, mapping)?;
            }
            "cute.pipeline.producer_commit" => {
                b.op("nvvm.cp.async.commit.group", &[], &[], &[])?;
            }
            "cute.pipeline.producer_tail" => {
                b.op(
                    "nvvm.cp.async.wait.group",
                    &[],
                    &[],
                    &[("n", b.integer(b.i32_type(), 0))],
                )?;
            }
            "cute.pipeline.consumer_wait" => {
                let groups = ages.waits.get(&id(op)).copied().unwrap_or(0);
                b.op(
                    "nvvm.cp.async.wait.group",
                    &[],
                    &[],
                    &[("n", b.integer(b.i32_type(), groups))],
                )?;
                b.op("gpu.barrier", &[], &[], &[])?;
                slot(op, b, mapping)?;
            }
            "scf.for" => for_loop(op, b, ages, mapping)?,
            _ => {
                b.clone_op(op, mapping);
            }
        }
    }
    Ok(())
}

/// The buffer of an iteration: modulo the number of buffers.
fn slot<'c>(op: Op<'c>, b: Builder<'c>, mapping: &mut Mapping<'c>) -> Result<(), Failure> {
    let operands = operands_of(op);
    let Some(CuteType::Pipeline { stages }) = CuteType::of(operands[0].r#type()) else {
        return Err(b.error("expected a pipeline"));
    };
    let iteration = mapping
        .get(&key(operands[2]))
        .copied()
        .unwrap_or(operands[2]);
    let slot = match defining_op(iteration).and_then(|op| integer_of(op, "value")) {
        Some(known) => b.i32(known.rem_euclid(stages))?,
        None => {
            let stages = b.i32(stages)?;
            b.value("arith.remui", &[iteration, stages], b.i32_type(), &[])?
        }
    };
    mapping.insert(key(result_of(op, 0)), slot);
    Ok(())
}

fn for_loop<'c>(
    op: Op<'c>,
    b: Builder<'c>,
    ages: &Ages,
    mapping: &mut Mapping<'c>,
) -> Result<(), Failure> {
    let old = body_of(op, 0).ok_or(Failure)?;
    let operands = operands_of(op);
    let map = |mapping: &Mapping<'c>, v: Val<'c>| mapping.get(&key(v)).copied().unwrap_or(v);
    let kept: Vec<usize> = (3..operands.len())
        .filter(|i| !is_token(operands[*i]))
        .collect();
    let mut initial: Vec<Value<'c, 'c>> = operands[..3].iter().map(|v| map(mapping, *v)).collect();
    initial.extend(kept.iter().map(|i| map(mapping, operands[*i])));
    let types: Vec<_> = initial[3..].iter().map(|v| v.r#type()).collect();
    let mut arguments = vec![(argument(old, 0).r#type(), b.location)];
    arguments.extend(types.iter().map(|ty| (*ty, b.location)));
    let (region, new) = region_with_block(&arguments);
    let built = b.with_regions("scf.for", &initial, &types, &[], vec![region])?;
    mapping.insert(key(argument(old, 0)), argument(new, 0));
    for (at, i) in kept.iter().enumerate() {
        mapping.insert(key(argument(old, i - 2)), argument(new, at + 1));
        mapping.insert(key(result_of(op, i - 3)), result_of(built, at));
    }
    let inner = Builder::at_end(b.context, new, b.location);
    let mut ops = ops_of(old);
    let end = ops.pop().ok_or(Failure)?;
    rewrite(&ops, inner, ages, mapping)?;
    let yielded = operands_of(end);
    let yielded: Vec<_> = kept.iter().map(|i| map(mapping, yielded[i - 3])).collect();
    inner.op("scf.yield", &yielded, &[], &[])?;
    Ok(())
}
