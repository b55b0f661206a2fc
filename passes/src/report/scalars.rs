//! The integers of a kernel for every thread of a block: what `arith` computes of thread indices.

use super::linear::{Linear, Symbols};
use crate::arch::WARP;
use cute_arith::Predicate;
use cute_ir::block::dimension_of;
use cute_ir::mlir::*;
use cute_ir::ops::{arith, cute_nvgpu, gpu, nvvm};
use melior::ir::ValueLike;
use std::{collections::HashMap, rc::Rc};

/// A value for each thread of a block, or one for all of them. Nothing is known of a thread's where it is `None`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Lanes(Rc<Vec<Option<Linear>>>);

impl Lanes {
    pub(super) fn uniform(value: Linear) -> Self {
        Self(Rc::new(vec![Some(value)]))
    }

    pub(super) fn unknown() -> Self {
        Self(Rc::new(vec![None]))
    }

    pub(super) fn each(values: Vec<Option<Linear>>) -> Self {
        Self(Rc::new(values))
    }

    /// Returns the value of one thread.
    pub(super) fn at(&self, thread: usize) -> Option<&Linear> {
        let index = if self.0.len() == 1 { 0 } else { thread };
        self.0.get(index)?.as_ref()
    }

    /// The value where all threads have one and the same.
    pub(super) fn shared(&self) -> Option<&Linear> {
        let first = self.0.first()?.as_ref()?;
        let same = self.0[1..].iter().all(|v| v.as_ref() == Some(first));
        same.then_some(first)
    }

    pub(super) fn map(&self, mut f: impl FnMut(&Linear) -> Option<Linear>) -> Self {
        Self::each(self.0.iter().map(|v| f(v.as_ref()?)).collect())
    }

    pub(super) fn zip(
        &self,
        other: &Lanes,
        mut f: impl FnMut(&Linear, &Linear) -> Option<Linear>,
    ) -> Self {
        let count = self.0.len().max(other.0.len());
        Self::each((0..count).map(|i| f(self.at(i)?, other.at(i)?)).collect())
    }
}

/// The integers of a kernel.
pub(super) struct Scalars {
    pub symbols: Symbols,
    /// Threads of a block along x, y and z.
    pub block: [i64; 3],
    values: HashMap<ValueKey, Lanes>,
}

impl Symbols {
    /// The results of an operation, thread by thread.
    fn apply(&mut self, op: cute_arith::Op, a: &Lanes, b: &Lanes) -> Lanes {
        use cute_arith::Op;
        let shift = |by: &i64| (0..62).contains(by);
        let known = |lanes: &Lanes| lanes.shared().and_then(Linear::known);
        match op {
            Op::Add => a.zip(b, Linear::add),
            Op::Sub => a.zip(b, Linear::sub),
            Op::Mul => a.zip(b, |a, b| self.mul(a, b)),
            Op::DivU | Op::DivS | Op::FloorDivS => a.zip(b, |a, b| match b.known() {
                Some(d) => self.div(a, d),
                None => Some(self.other("div", &[a, b])),
            }),
            Op::CeilDivU | Op::CeilDivS => a.zip(b, |a, b| match b.known() {
                Some(d) => self.div(&a.add(&(d - 1).into())?, d),
                None => Some(self.other("ceildiv", &[a, b])),
            }),
            Op::RemU | Op::RemS => a.zip(b, |a, b| match b.known() {
                Some(d) => self.rem(a, d),
                None => Some(self.other("rem", &[a, b])),
            }),
            Op::Shl => match known(b).filter(shift) {
                Some(by) => a.map(|a| a.scale(1 << by)),
                None => Lanes::unknown(),
            },
            Op::ShrU | Op::ShrS => match known(b).filter(shift) {
                Some(by) => a.map(|a| self.div(a, 1 << by)),
                None => a.zip(b, |a, b| match (a.known(), b.known().filter(shift)) {
                    (Some(a), Some(by)) => Op::ShrS.exact(a, by).map(Linear::from),
                    _ => Some(self.other("shr", &[a, b])),
                }),
            },
            Op::And | Op::Or | Op::Xor => a.zip(b, |a, b| self.bits(op, a, b)),
            Op::MinS | Op::MinU | Op::MaxS | Op::MaxU => {
                // Which one it is follows from the difference, where that is known.
                let (name, is_first) = match op {
                    Op::MinS | Op::MinU => ("min", Predicate::Sle),
                    _ => ("max", Predicate::Sge),
                };
                a.zip(b, |a, b| {
                    Some(match a.sub(b)?.known() {
                        Some(d) if is_first.holds(d.cmp(&0)) => a.clone(),
                        Some(_) => b.clone(),
                        None => self.other(name, &[a, b]),
                    })
                })
            }
        }
    }
}

impl Scalars {
    pub(super) fn new(block: [i64; 3]) -> Self {
        Self {
            symbols: Symbols::default(),
            block,
            values: HashMap::new(),
        }
    }

    pub(super) fn threads(&self) -> usize {
        self.block.iter().product::<i64>() as usize
    }

    pub(super) fn get(&self, value: Val) -> Lanes {
        self.values
            .get(&key(value))
            .cloned()
            .unwrap_or_else(Lanes::unknown)
    }

    pub(super) fn set(&mut self, value: Val, lanes: Lanes) {
        self.values.insert(key(value), lanes);
    }

    /// A number that is the same for all threads, and that `divisor` divides.
    pub(super) fn symbol(&mut self, divisor: i64) -> Lanes {
        Lanes::uniform(Linear::symbol(self.symbols.fresh(divisor)))
    }

    fn threads_of(&self, f: impl Fn([i64; 3]) -> i64) -> Lanes {
        let [x, y, _] = self.block;
        let index = |t: i64| [t % x, t / x % y, t / x / y];
        Lanes::each(
            (0..self.threads() as i64)
                .map(|t| Some(f(index(t)).into()))
                .collect(),
        )
    }

    /// Evaluates an op without regions; results that it does not know of stay unknown.
    pub(super) fn op(&mut self, op: Op) {
        if op_results(op) != 1 {
            return;
        }
        let [a, b, c] = {
            let mut lanes = operands_of(op).into_iter().map(|value| self.get(value));
            std::array::from_fn(|_| lanes.next().unwrap_or_else(Lanes::unknown))
        };
        let count = self.threads();
        let symbols = &mut self.symbols;
        let known = |lanes: &Lanes| lanes.shared().and_then(Linear::known);
        let value = match name_of(op) {
            arith::CONSTANT => match integer_of(op, "value") {
                Some(value) => Lanes::uniform(value.into()),
                None => return,
            },
            gpu::THREAD_ID => {
                let d = dimension(op);
                self.threads_of(|index| index[d])
            }
            gpu::LANE_ID | nvvm::READ_PTX_SREG_LANEID => {
                let [x, y, _] = self.block;
                self.threads_of(|t| (t[0] + x * (t[1] + y * t[2])) % WARP)
            }
            nvvm::READ_PTX_SREG_TID_X => self.threads_of(|index| index[0]),
            nvvm::READ_PTX_SREG_TID_Y => self.threads_of(|index| index[1]),
            nvvm::READ_PTX_SREG_TID_Z => self.threads_of(|index| index[2]),
            // What the first thread of a warp has.
            cute_nvgpu::ARCH_MAKE_WARP_UNIFORM => {
                let first = |t: usize| a.at(t - t % WARP as usize).cloned();
                Lanes::each((0..count).map(first).collect())
            }
            gpu::BLOCK_DIM => Lanes::uniform(self.block[dimension(op)].into()),
            gpu::BLOCK_ID => {
                Lanes::uniform(symbols.other(["block x", "block y", "block z"][dimension(op)], &[]))
            }
            gpu::GRID_DIM => {
                Lanes::uniform(symbols.other(["grid x", "grid y", "grid z"][dimension(op)], &[]))
            }
            arith::INDEX_CAST
            | arith::INDEX_CASTUI
            | arith::EXTSI
            | arith::EXTUI
            | arith::TRUNCI => a,
            arith::CMPI => {
                let Some(predicate) = integer_of(op, "predicate").and_then(Predicate::numbered)
                else {
                    return;
                };
                a.zip(&b, |a, b| {
                    Some(match a.sub(b)?.known() {
                        Some(d) => i64::from(predicate.holds(d.cmp(&0))).into(),
                        None => symbols.other(predicate.name(), &[a, b]),
                    })
                })
            }
            arith::SELECT => {
                if let Some(condition) = known(&a) {
                    if condition != 0 { b } else { c }
                } else {
                    Lanes::each(
                        (0..count)
                            .map(|t| {
                                let (yes, no) = (b.at(t), c.at(t));
                                match a.at(t).map(Linear::known) {
                                    Some(Some(condition)) => {
                                        if condition != 0 { yes } else { no }.cloned()
                                    }
                                    _ if yes == no => yes.cloned(),
                                    _ => Some(symbols.other("select", &[a.at(t)?, yes?, no?])),
                                }
                            })
                            .collect(),
                    )
                }
            }
            name => match cute_arith::Op::named(name) {
                Some(op) => symbols.apply(op, &a, &b),
                None => return,
            },
        };
        self.set(result_of(op, 0), value);
    }
}

fn op_results(op: Op) -> usize {
    use melior::ir::operation::OperationLike;
    op.result_count()
}

/// The dimension of an op, x where it does not say.
fn dimension(op: Op) -> usize {
    dimension_of(op).unwrap_or(0)
}

/// Tells whether a value is an integer or an index.
pub(super) fn is_integer(value: Val) -> bool {
    let ty = value.r#type();
    is_index(ty) || int_width(ty).is_some()
}
