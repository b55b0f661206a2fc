//! The number of registers that a kernel's vectors are live in at once: an estimate, for ptxas orders instructions anew.

use cute_ir::{
    mlir::*,
    ops::{arith, ub, vector},
    types,
};
use melior::ir::{ValueLike, operation::OperationLike};
use std::collections::HashMap;

/// The most 32-bit registers that vectors of numbers are live in at one point of a kernel whose fragments are values.
///
/// Scalars and addresses come on top.
pub(super) fn live(body: Blk<'_>) -> i64 {
    let mut spans = Spans::default();
    spans.block(body);
    let mut changes: Vec<(usize, i64)> = Vec::new();
    for (first, last, registers) in spans.of.into_values() {
        changes.push((first, registers));
        changes.push((last, -registers));
    }
    // What ends where another begins makes room for it.
    changes.sort_unstable();
    let (mut now, mut most) = (0, 0);
    for (_, change) in changes {
        now += change;
        most = most.max(now);
    }
    most
}

#[derive(Default)]
struct Spans {
    /// First and last position, and registers.
    of: HashMap<ValueKey, (usize, usize, i64)>,
    position: usize,
}

fn registers_of(value: Val<'_>) -> i64 {
    let Some((length, element)) = vector_of(value.r#type()) else {
        return 0;
    };
    let bits = types::element_bits(element).unwrap_or(32);
    length.saturating_mul(bits).div_euclid(32).max(1)
}

/// Tells whether the elements of a vector are one number, or are known, and take the registers of the others only where they become one of them.
fn is_one_number(op: Op<'_>) -> bool {
    match name_of(op) {
        arith::CONSTANT | ub::POISON | vector::BROADCAST => true,
        vector::FROM_ELEMENTS => operands_of(op).windows(2).all(|two| two[0] == two[1]),
        _ => false,
    }
}

impl Spans {
    fn define(&mut self, value: Val<'_>) {
        let registers = registers_of(value);
        if registers > 0 {
            let at = self.position;
            self.of.insert(key(value), (at, at, registers));
        }
    }

    fn block(&mut self, block: Blk<'_>) {
        for i in 0..super::walk::arguments(block) {
            self.define(argument(block, i));
        }
        for op in ops_of(block) {
            self.position += 1;
            self.op(op);
        }
    }

    fn op(&mut self, op: Op<'_>) {
        let at = self.position;
        for operand in operands_of(op) {
            self.used(operand, at);
        }
        let regions = op.region_count();
        if regions > 0 {
            let before = self.position;
            for i in 0..regions {
                if let Some(body) = body_of(op, i) {
                    self.block(body);
                }
            }
            self.position += 1;
            // A loop comes back to what it uses from outside.
            let after = self.position;
            for inner in nested_ops(op) {
                for operand in operands_of(inner) {
                    if self.of.get(&key(operand)).is_some_and(|s| s.0 < before) {
                        self.used(operand, after);
                    }
                }
            }
        }
        for i in (0..op.result_count()).filter(|_| !is_one_number(op)) {
            self.define(result_of(op, i));
        }
    }

    fn used(&mut self, value: Val<'_>, at: usize) {
        if let Some(span) = self.of.get_mut(&key(value)) {
            span.1 = span.1.max(at);
        }
    }
}
