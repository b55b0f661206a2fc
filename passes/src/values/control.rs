//! Loops and branches that use register tensors.

use super::{
    Values,
    known::known,
    registers::{File, poison},
    unroll::Unroll,
    wgmma::{Operands, Way},
};
use crate::loops::{self, turns};
use cute_arith::Predicate;
use cute_ir::ops::{arith, scf};
use cute_ir::{
    Expected, Failure,
    args::{GemmArgs, ThreadCopy},
    attributes::MOST_TURNS,
    attributes::UNROLL,
    mlir::*,
};
use melior::ir::{BlockLike, ValueLike, operation::OperationLike};
use std::collections::BTreeSet;

impl<'c> Values<'c> {
    /// `scf.for`: written out where it says so; else a loop that carries the fragments from outside that it writes.
    pub(super) fn for_loop(&mut self, op: scf::For<'c>, b: Builder<'c>) -> Result<(), Failure> {
        // Loops that are written out in part are whole rounds and what is left by now.
        if Unroll::of(op.op()) == Some(Unroll::Whole) {
            return self.unrolled(op, b);
        }
        let old = op.region().expected(op.op(), "a body")?;
        let written = self.written(old);
        let bounds = [op.lower_bound(), op.upper_bound(), op.step()];
        let mut initial = self.map_all(op.init_args());
        let carried = initial.len();
        let entered = self.enter(&written, &mut initial, b)?;
        let types: Vec<_> = initial.iter().map(|v| v.r#type()).collect();
        let operands = [bounds.map(|v| self.map(v)).to_vec(), initial].concat();
        let mut arguments = vec![(argument(old, 0).r#type(), b.location)];
        arguments.extend(types.iter().map(|ty| (*ty, b.location)));
        let (region, new) = Detached::with_block(&arguments);
        let attributes = attributes_of(op.op());
        let built = b.with_regions(scf::FOR, &operands, &types, &attributes, vec![region])?;
        for (old, new) in arguments_of(old).into_iter().zip(arguments_of(new)) {
            self.mapping.insert(key(old), new);
        }
        self.take(&written, |i| {
            entered[i].then(|| argument(new, 1 + carried + i))
        });

        let inner = Builder::at_end(b.context, new, b.location);
        let mut ops = ops_of(old);
        let end = ops.pop().expected(op.op(), "an op that ends the block")?;
        let before = self.enter_region(&written, Way::Loop);
        for op in ops {
            self.op(op, inner.at_location(op.location()))?;
        }
        self.leave_region(before, (&written, Way::Loop), b)?;
        let mut yielded = self.map_all(operands_of(end));
        let mut left = Vec::new();
        for index in &written {
            for vector in &self.files[*index].vectors {
                left.push(vector.is_some());
                yielded.push(match vector {
                    Some(vector) => *vector,
                    None => argument(new, 1 + yielded.len()),
                });
            }
        }
        inner.op(scf::YIELD, &yielded, &[], &[])?;

        for (old, new) in op.results().into_iter().zip(results_of(built)) {
            self.mapping.insert(key(old), new);
        }
        self.take(&written, |i| left[i].then(|| result_of(built, carried + i)));
        Ok(())
    }

    /// A loop of known bounds, turn by turn.
    fn unrolled(&mut self, op: scf::For<'c>, b: Builder<'c>) -> Result<(), Failure> {
        let bound = |value| {
            known(self.map(value)).ok_or_else(|| {
                b.error(format!(
                    "expected constant bounds of a loop with {UNROLL}; take the attribute away, or make them constants"
                ))
            })
        };
        let (from, to) = (bound(op.lower_bound())?, bound(op.upper_bound())?);
        let step = bound(op.step())?;
        let unsigned = op.unsigned_cmp().is_some();
        let ty = op.lower_bound().r#type();
        loops::counts_up(b, Some(step))?;
        if turns(from, to, step, unsigned, ty) > MOST_TURNS.into() {
            return Err(b.error(format!(
                "expected a loop of at most {MOST_TURNS} turns with {UNROLL}, found one from {from} to {to} by {step}"
            )));
        }
        let body = op.region().expected(op.op(), "a body")?;
        let own: Vec<_> = ops_of(body)
            .into_iter()
            .flat_map(|op| std::iter::once(op).chain(nested_ops(op)))
            .flat_map(results_of)
            .collect();
        let mut carried = self.map_all(op.init_args());
        for turn in 0..turns(from, to, step, unsigned, ty) as i64 {
            let turn = from.wrapping_add(turn.wrapping_mul(step));
            let index = b.constant(ty, turn)?;
            let values = std::iter::once(index).chain(carried);
            for (argument, value) in arguments_of(body).into_iter().zip(values) {
                self.mapping.insert(key(argument), value);
            }
            let mut ops = ops_of(body);
            let end = ops.pop().expected(op.op(), "an op that ends the block")?;
            for op in ops {
                self.op(op, b.at_location(op.location()))?;
            }
            carried = self.map_all(operands_of(end));
            // What the turn made is not there before the next one makes it.
            for value in &own {
                self.views.forget(*value);
            }
        }
        for (result, value) in op.results().into_iter().zip(carried) {
            self.mapping.insert(key(result), value);
        }
        Ok(())
    }

    /// Adds the vectors of these files to what a loop starts with; whether each has been written. What nothing has written
    /// yet enters as nothing, and is not read before the loop writes it.
    fn enter(
        &self,
        files: &BTreeSet<usize>,
        initial: &mut Vec<Val<'c>>,
        b: Builder<'c>,
    ) -> Result<Vec<bool>, Failure> {
        let mut entered = Vec::new();
        for index in files {
            let file = &self.files[*index];
            let ty = b.vector(file.chunk, file.element);
            for vector in &file.vectors {
                entered.push(vector.is_some());
                initial.push(match vector {
                    Some(vector) => *vector,
                    None => poison(b, ty)?,
                });
            }
        }
        Ok(entered)
    }

    /// A region's block again, with the vectors of these files as arguments behind its own, and handed on last by the op that ends it, where
    /// the block has such an op. Beside it, the vectors that are written there.
    fn turn(
        &mut self,
        old: Blk<'c>,
        files: &BTreeSet<usize>,
        entered: &[bool],
        b: Builder<'c>,
    ) -> Result<(Detached<'c>, Vec<bool>), Failure> {
        let own = arguments_of(old);
        let vectors = files.iter().flat_map(|index| {
            let file = &self.files[*index];
            let ty = b.vector(file.chunk, file.element);
            file.vectors.iter().map(move |_| ty)
        });
        let types: Vec<_> = own.iter().map(|v| v.r#type()).chain(vectors).collect();
        let types: Vec<_> = types.into_iter().map(|ty| (ty, b.location)).collect();
        let (region, new) = Detached::with_block(&types);
        for (old, new) in own.iter().zip(arguments_of(new)) {
            self.mapping.insert(key(*old), new);
        }
        self.take(files, |i| entered[i].then(|| argument(new, own.len() + i)));
        let inner = Builder::at_end(b.context, new, b.location);
        let mut ops = ops_of(old);
        let end = old.terminator().and_then(|_| ops.pop());
        let before = self.enter_region(files, Way::Loop);
        for op in ops {
            self.op(op, inner.at_location(op.location()))?;
        }
        self.leave_region(before, (files, Way::Loop), b)?;
        let Some(end) = end else {
            return Ok((region, Vec::new()));
        };
        let mut handed = self.map_all(operands_of(end));
        let left = self.enter(files, &mut handed, inner)?;
        inner.op(name_of(end), &handed, &[], &attributes_of(end))?;
        Ok((region, left))
    }

    /// `scf.while`: it carries the fragments that either of its regions writes, through both.
    pub(super) fn while_loop(&mut self, op: scf::While<'c>, b: Builder<'c>) -> Result<(), Failure> {
        let [test, body] = blocks_of(op.op())[..] else {
            return Err(super::no_value_form(op.op(), b));
        };
        let mut written = self.written(test);
        written.extend(self.written(body));
        let mut initial = self.map_all(op.inits());
        let carried = initial.len();
        let entered = self.enter(&written, &mut initial, b)?;
        // The body's products go on into the test of the next turn.
        let before = self.enter_region(&written, Way::Loop);
        let (first, tested) = self.turn(test, &written, &entered, b)?;
        let (second, _) = self.turn(body, &written, &tested, b)?;
        self.leave_region(before, (&written, Way::Loop), b)?;
        let plain = op.results().len();
        let types: Vec<_> = op
            .results()
            .iter()
            .chain(&initial[carried..])
            .map(|v| v.r#type())
            .collect();
        let regions = vec![first, second];
        let attributes = attributes_of(op.op());
        let built = b.with_regions(scf::WHILE, &initial, &types, &attributes, regions)?;
        for (old, new) in op.results().into_iter().zip(results_of(built)) {
            self.mapping.insert(key(old), new);
        }
        self.take(&written, |i| tested[i].then(|| result_of(built, plain + i)));
        Ok(())
    }

    /// Any other operation with regions, of which none writes a fragment from outside.
    pub(super) fn reads_only(&mut self, op: Op<'c>, b: Builder<'c>) -> Result<(), Failure> {
        let mut regions = Vec::new();
        for index in 0..op.region_count() {
            match blocks_of_region(op, index)[..] {
                [] => regions.push(Detached::empty()),
                [block] if self.written(block).is_empty() => {
                    let (region, _) = self.turn(block, &BTreeSet::new(), &[], b)?;
                    regions.push(region);
                }
                _ => return Err(super::no_value_form(op, b)),
            }
        }
        let operands = self.map_all(operands_of(op));
        let types: Vec<_> = results_of(op).iter().map(|v| v.r#type()).collect();
        let built = b.with_regions(name_of(op), &operands, &types, &attributes_of(op), regions)?;
        for (old, new) in results_of(op).into_iter().zip(results_of(built)) {
            self.mapping.insert(key(old), new);
        }
        Ok(())
    }

    /// `scf.if`: it gives the fragments that a branch of it writes.
    pub(super) fn branch(&mut self, op: scf::If<'c>, b: Builder<'c>) -> Result<(), Failure> {
        let (then, other) = (op.then_region(), op.else_region());
        let mut written = BTreeSet::new();
        for block in [then, other].into_iter().flatten() {
            written.extend(self.written(block));
        }
        let before: Vec<File<'c>> = self.files.clone();
        let operands = self.operands.clone();
        let mut behind: Option<Operands<'c>> = None;
        let condition = self.map(op.condition());
        let first_turn = first_turn_of(op);
        let plain = op.results().len();
        let mut types: Vec<_> = op.results().iter().map(|v| v.r#type()).collect();
        for index in &written {
            let file = &self.files[*index];
            types.extend(
                file.vectors
                    .iter()
                    .map(|_| b.vector(file.chunk, file.element)),
            );
        }
        let mut regions = Vec::new();
        // What both branches leave written is written.
        let mut left = vec![true; types.len() - plain];
        for block in [then, other] {
            self.files[..before.len()].clone_from_slice(&before);
            let holds = regions.is_empty();
            let is_first = first_turn.is_some_and(|first| first == holds);
            self.enter_branch(
                &operands,
                behind.as_ref(),
                (key(condition), holds),
                is_first,
            );
            let (region, new) = Detached::with_block(&[]);
            let inner = Builder::at_end(b.context, new, b.location);
            let mut yielded = Vec::new();
            if let Some(block) = block {
                let mut ops = ops_of(block);
                let end = ops.pop().expected(op.op(), "an op that ends the block")?;
                let before = self.enter_region(&written, Way::Branch);
                for op in ops {
                    self.op(op, inner.at_location(op.location()))?;
                }
                self.leave_region(before, (&written, Way::Branch), b)?;
                yielded = self.map_all(operands_of(end));
            }
            let left_behind = std::mem::take(&mut self.operands);
            behind = Some(match behind {
                Some(behind) => behind.joined(left_behind),
                None => left_behind,
            });
            let mut place = 0;
            for index in &written {
                let file = self.files[*index].clone();
                for vector in file.vectors {
                    left[place] &= vector.is_some();
                    place += 1;
                    yielded.push(match vector {
                        Some(vector) => vector,
                        None => poison(inner, b.vector(file.chunk, file.element))?,
                    });
                }
            }
            inner.op(scf::YIELD, &yielded, &[], &[])?;
            regions.push(region);
        }
        let guard = operands.guard;
        self.operands = behind.unwrap_or(operands);
        self.operands.guard = guard;
        if types.is_empty() && other.is_none() {
            // Nothing comes out of it, so that one branch is enough.
            regions.truncate(1);
            regions.push(Detached::empty());
        }
        let attributes = attributes_of(op.op());
        let built = b.with_regions(scf::IF, &[condition], &types, &attributes, regions)?;
        for (old, new) in op.results().into_iter().zip(results_of(built)) {
            self.mapping.insert(key(old), new);
        }
        self.take(&written, |i| left[i].then(|| result_of(built, plain + i)));
        Ok(())
    }

    /// Sets the vectors of these files to consecutive values.
    fn take(&mut self, files: &BTreeSet<usize>, value: impl Fn(usize) -> Option<Val<'c>>) {
        let mut next = 0;
        for index in files {
            for vector in &mut self.files[*index].vectors {
                *vector = value(next);
                next += 1;
            }
        }
    }

    /// The files made so far that the block writes.
    fn written(&self, block: Blk<'c>) -> BTreeSet<usize> {
        let mut files = BTreeSet::new();
        for op in ops_of(block) {
            files.extend(
                targets_of(op)
                    .into_iter()
                    .filter_map(|tensor| self.root(tensor)),
            );
            for inner in blocks_of(op) {
                files.extend(self.written(inner));
            }
        }
        files
    }

    /// The values of the new body that stand for those of the old one.
    fn map_all(&self, values: Vec<Val<'c>>) -> Vec<Val<'c>> {
        values.into_iter().map(|value| self.map(value)).collect()
    }

    /// The file that a register tensor is a view of, where it was made before.
    fn root(&self, value: Val<'c>) -> Option<usize> {
        let mut value = value;
        loop {
            if let Some(place) = self.views.get(value) {
                return Some(place.start.file);
            }
            value = operands_of(defining_op(value)?)
                .into_iter()
                .find(|v| super::is_registers(v.r#type()))?;
        }
    }
}

/// Tells by which value of its condition a branch is taken in the first turn alone of the innermost loop around it: one that compares the loop's counter with its
/// lower bound.
fn first_turn_of(op: scf::If<'_>) -> Option<bool> {
    let mut above = parent_op(op.op())?;
    let around = loop {
        match scf::For::of(above) {
            Some(around) if Unroll::of(above) != Some(Unroll::Whole) => break around,
            None if scf::If::of(above).is_none() => return None,
            _ => above = parent_op(above)?,
        }
    };
    let compare = defining_op(op.condition()).filter(|op| name_of(*op) == arith::CMPI)?;
    let predicate = integer_of(compare, "predicate").and_then(Predicate::numbered)?;
    let index = argument(around.region()?, 0);
    let (predicate, bound) = match operands_of(compare)[..] {
        [a, b] if a == index => (predicate, b),
        [a, b] if b == index => (predicate.swapped(), a),
        _ => return None,
    };
    let lower = around.lower_bound();
    let step = match (constant_of(lower), constant_of(bound)) {
        (Some(lower), Some(bound)) => bound.checked_sub(lower)?,
        _ if lower == bound => 0,
        _ => return None,
    };
    let signed = around.unsigned_cmp().is_none();
    match (predicate, step) {
        (Predicate::Eq, 0) => Some(true),
        (Predicate::Ne, 0) => Some(false),
        (Predicate::Sle, 0) | (Predicate::Slt, 1) if signed => Some(true),
        (Predicate::Sgt, 0) | (Predicate::Sge, 1) if signed => Some(false),
        _ => None,
    }
}

/// The tensors that an op writes, beside what is within it. An op that does not say is taken to write all that it is given, as accumulators are
/// that are handed to products of a warpgroup.
fn targets_of(op: Op<'_>) -> Vec<Val<'_>> {
    // Of ops that take their operands in several forms, effects do not name the operand.
    if let Some(copy) = ThreadCopy::of(op) {
        return vec![copy.destination];
    }
    if let Some(GemmArgs::Mma { d, .. }) = GemmArgs::of(op) {
        return vec![d];
    }
    if op.region_count() > 0 {
        return Vec::new();
    }
    let Some(effects) = effects_of(op) else {
        return operands_of(op);
    };
    let written = effects.into_iter().filter(|e| e.kind == EffectKind::Write);
    written.filter_map(|effect| effect.value).collect()
}
