//! Loops and branches that use register tensors.

use super::{
    Values,
    registers::{File, poison},
};
use cute_ir::{Failure, build::*};
use melior::ir::{ValueLike, operation::OperationLike};
use std::collections::BTreeSet;

/// A loop with this attribute is written out: its index is then known to what it indexes.
pub(super) const UNROLL: &str = "cute.unroll";
/// More turns than anybody wants written out.
const MOST_TURNS: i64 = 4096;

impl<'c> Values<'c> {
    /// `scf.for`: written out where it says so; else a loop that carries the fragments from outside that it writes.
    pub(super) fn for_loop(&mut self, op: Op<'c>, b: Builder<'c>) -> Result<(), Failure> {
        if attribute_of(op, UNROLL).is_some() {
            return self.unrolled(op, b);
        }
        let old = body_of(op, 0).ok_or(Failure)?;
        let written = self.written(old);
        let operands = operands_of(op);
        let mut initial: Vec<Val<'c>> = operands.iter().map(|v| self.map(*v)).collect();
        let carried = operands.len() - 3;
        // What nothing has written yet enters as nothing, and is not read before the loop writes it.
        let mut entered = Vec::new();
        for index in &written {
            let file = &self.files[*index];
            let ty = b.vector(file.chunk, file.element);
            for vector in file.vectors.clone() {
                entered.push(vector.is_some());
                initial.push(match vector {
                    Some(vector) => vector,
                    None => poison(b, ty)?,
                });
            }
        }
        let types: Vec<_> = initial[3..].iter().map(|v| v.r#type()).collect();
        let mut arguments = vec![(argument(old, 0).r#type(), b.location)];
        arguments.extend(types.iter().map(|ty| (*ty, b.location)));
        let (region, new) = region_with_block(&arguments);
        let built = b.with_regions("scf.for", &initial, &types, &[], vec![region])?;
        for i in 0..=carried {
            self.mapping.insert(key(argument(old, i)), argument(new, i));
        }
        self.take(&written, |i| {
            entered[i].then(|| argument(new, 1 + carried + i))
        });

        let inner = Builder::at_end(b.context, new, b.location);
        let mut ops = ops_of(old);
        let end = ops.pop().ok_or(Failure)?;
        for op in ops {
            self.op(op, inner.at_location(op.location()))?;
        }
        let mut yielded: Vec<_> = operands_of(end).iter().map(|v| self.map(*v)).collect();
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
        inner.op("scf.yield", &yielded, &[], &[])?;

        for i in 0..carried {
            self.mapping
                .insert(key(result_of(op, i)), result_of(built, i));
        }
        self.take(&written, |i| left[i].then(|| result_of(built, carried + i)));
        Ok(())
    }

    /// A loop of known bounds, turn by turn.
    fn unrolled(&mut self, op: Op<'c>, b: Builder<'c>) -> Result<(), Failure> {
        let operands = operands_of(op);
        let mut bounds = Vec::new();
        for operand in &operands[..3] {
            bounds.push(self.known(self.map(*operand)).ok_or_else(|| {
                b.error(format!(
                    "expected constant bounds of a loop with {UNROLL}; take the attribute away, or make them constants"
                ))
            })?);
        }
        let [from, to, step] = bounds[..] else {
            return Err(Failure);
        };
        if step < 1 || (to - from) / step > MOST_TURNS {
            return Err(b.error(format!(
                "expected a loop of at most {MOST_TURNS} turns with {UNROLL}, found one from {from} to {to} by {step}"
            )));
        }
        let body = body_of(op, 0).ok_or(Failure)?;
        let ty = argument(body, 0).r#type();
        let mut carried: Vec<Val<'c>> = operands[3..].iter().map(|v| self.map(*v)).collect();
        let mut turn = from;
        while turn < to {
            let index = b.constant(ty, turn)?;
            self.mapping.insert(key(argument(body, 0)), index);
            for (i, value) in carried.iter().enumerate() {
                self.mapping.insert(key(argument(body, i + 1)), *value);
            }
            let mut ops = ops_of(body);
            let end = ops.pop().ok_or(Failure)?;
            for op in ops {
                self.op(op, b.at_location(op.location()))?;
            }
            carried = operands_of(end).iter().map(|v| self.map(*v)).collect();
            turn += step;
        }
        for (i, value) in carried.into_iter().enumerate() {
            self.mapping.insert(key(result_of(op, i)), value);
        }
        Ok(())
    }

    /// `scf.if`: it gives the fragments that a branch of it writes.
    pub(super) fn branch(&mut self, op: Op<'c>, b: Builder<'c>) -> Result<(), Failure> {
        let (then, other) = (body_of(op, 0), body_of(op, 1));
        let mut written = BTreeSet::new();
        for block in [then, other].into_iter().flatten() {
            written.extend(self.written(block));
        }
        let before: Vec<File<'c>> = self.files.clone();
        let condition = self.map(operands_of(op)[0]);
        let plain = op.result_count();
        let mut types: Vec<_> = (0..plain).map(|i| result_of(op, i).r#type()).collect();
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
            let (region, new) = region_with_block(&[]);
            let inner = Builder::at_end(b.context, new, b.location);
            let mut yielded = Vec::new();
            if let Some(block) = block {
                let mut ops = ops_of(block);
                let end = ops.pop().ok_or(Failure)?;
                for op in ops {
                    self.op(op, inner.at_location(op.location()))?;
                }
                yielded.extend(operands_of(end).iter().map(|v| self.map(*v)));
            }
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
            inner.op("scf.yield", &yielded, &[], &[])?;
            regions.push(region);
        }
        if types.is_empty() && other.is_none() {
            // Nothing comes out of it, so that one branch is enough.
            regions.truncate(1);
            regions.push(melior::ir::Region::new());
        }
        let built = b.with_regions("scf.if", &[condition], &types, &[], regions)?;
        for i in 0..plain {
            self.mapping
                .insert(key(result_of(op, i)), result_of(built, i));
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
            let operands = operands_of(op);
            let target = match name_of(op) {
                "cute.clear" | "cute.memref.store" => operands.first(),
                "cute.copy" => operands.get(2),
                "cute.gemm" | "cute.memref.store_vec" => operands.get(1),
                _ => None,
            };
            files.extend(target.and_then(|v| self.root(*v)));
            for region in 0..2 {
                if let Some(inner) = body_of(op, region) {
                    files.extend(self.written(inner));
                }
            }
        }
        files
    }

    /// The file that a register tensor is a view of, where it was made before.
    fn root(&self, value: Val<'c>) -> Option<usize> {
        let mut value = value;
        loop {
            if let Some(view) = self.views.get(&key(value)) {
                return Some(view.file);
            }
            value = operands_of(defining_op(value)?)
                .into_iter()
                .find(|v| super::is_registers(v.r#type()))?;
        }
    }
}
