//! The integers of a kernel for every thread of a block: what `arith` computes of thread indices.

use super::linear::{Linear, Symbols};
use cute_ir::block::dimension_of;
use cute_ir::mlir::*;
use cute_ir::ops::{arith, gpu, nvvm};
use melior::ir::ValueLike;
use std::{collections::HashMap, rc::Rc};

/// A value for each thread of a block, or one for all of them. Nothing is known of a thread's where it is `None`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Lanes(Rc<Vec<Option<Linear>>>);

impl Lanes {
    pub fn uniform(value: Linear) -> Self {
        Self(Rc::new(vec![Some(value)]))
    }

    pub fn unknown() -> Self {
        Self(Rc::new(vec![None]))
    }

    pub fn each(values: Vec<Option<Linear>>) -> Self {
        Self(Rc::new(values))
    }

    /// Returns the value of one thread.
    pub fn at(&self, thread: usize) -> Option<&Linear> {
        let index = if self.0.len() == 1 { 0 } else { thread };
        self.0.get(index)?.as_ref()
    }

    /// The value where all threads have one and the same.
    pub fn shared(&self) -> Option<&Linear> {
        let first = self.0.first()?.as_ref()?;
        let same = self.0[1..].iter().all(|v| v.as_ref() == Some(first));
        same.then_some(first)
    }

    pub fn map(&self, mut f: impl FnMut(&Linear) -> Option<Linear>) -> Self {
        Self::each(self.0.iter().map(|v| f(v.as_ref()?)).collect())
    }

    pub fn zip(
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

/// The names of the predicates of `arith.cmpi`, in the order of their numbers.
const PREDICATES: [&str; 10] = [
    "eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge",
];

impl Scalars {
    pub fn new(block: [i64; 3]) -> Self {
        Self {
            symbols: Symbols::default(),
            block,
            values: HashMap::new(),
        }
    }

    pub fn threads(&self) -> usize {
        self.block.iter().product::<i64>() as usize
    }

    pub fn get(&self, value: Val) -> Lanes {
        self.values
            .get(&key(value))
            .cloned()
            .unwrap_or_else(Lanes::unknown)
    }

    pub fn set(&mut self, value: Val, lanes: Lanes) {
        self.values.insert(key(value), lanes);
    }

    /// A number that is the same for all threads, and that `divisor` divides.
    pub fn symbol(&mut self, divisor: i64) -> Lanes {
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
    pub fn op(&mut self, op: Op) {
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
                self.threads_of(|t| (t[0] + x * (t[1] + y * t[2])) % 32)
            }
            nvvm::READ_PTX_SREG_TID_X => self.threads_of(|index| index[0]),
            nvvm::READ_PTX_SREG_TID_Y => self.threads_of(|index| index[1]),
            nvvm::READ_PTX_SREG_TID_Z => self.threads_of(|index| index[2]),
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
            arith::ADDI => a.zip(&b, Linear::add),
            arith::SUBI => a.zip(&b, Linear::sub),
            arith::MULI => a.zip(&b, |a, b| symbols.mul(a, b)),
            arith::DIVUI | arith::DIVSI | arith::FLOORDIVSI => a.zip(&b, |a, b| match b.known() {
                Some(d) => symbols.div(a, d),
                None => Some(symbols.other("div", &[a, b])),
            }),
            arith::CEILDIVUI | arith::CEILDIVSI => a.zip(&b, |a, b| match b.known() {
                Some(d) => symbols.div(&a.add(&(d - 1).into())?, d),
                None => Some(symbols.other("ceildiv", &[a, b])),
            }),
            arith::REMUI | arith::REMSI => a.zip(&b, |a, b| match b.known() {
                Some(d) => symbols.rem(a, d),
                None => Some(symbols.other("rem", &[a, b])),
            }),
            arith::SHLI => match known(&b).filter(|s| (0..62).contains(s)) {
                Some(s) => a.map(|a| a.scale(1 << s)),
                None => Lanes::unknown(),
            },
            arith::SHRUI | arith::SHRSI => match known(&b).filter(|s| (0..62).contains(s)) {
                Some(s) => a.map(|a| symbols.div(a, 1 << s)),
                None => a.zip(&b, |a, b| match (a.known(), b.known()) {
                    (Some(a), Some(s)) if (0..62).contains(&s) => Some((a >> s).into()),
                    _ => Some(symbols.other("shr", &[a, b])),
                }),
            },
            arith::ANDI => a.zip(&b, |a, b| symbols.bits("and", a, b, |a, b| a & b)),
            arith::ORI => a.zip(&b, |a, b| symbols.bits("or", a, b, |a, b| a | b)),
            arith::XORI => a.zip(&b, |a, b| symbols.bits("xor", a, b, |a, b| a ^ b)),
            arith::MINSI | arith::MINUI => a.zip(&b, |a, b| {
                Some(match a.sub(b)?.known() {
                    Some(d) => (if d <= 0 { a } else { b }).clone(),
                    None => symbols.other("min", &[a, b]),
                })
            }),
            arith::MAXSI | arith::MAXUI => a.zip(&b, |a, b| {
                Some(match a.sub(b)?.known() {
                    Some(d) => (if d >= 0 { a } else { b }).clone(),
                    None => symbols.other("max", &[a, b]),
                })
            }),
            arith::CMPI => {
                let Some(predicate) = integer_of(op, "predicate")
                    .and_then(|p| PREDICATES.get(usize::try_from(p).ok()?))
                else {
                    return;
                };
                a.zip(&b, |a, b| {
                    Some(match a.sub(b)?.known() {
                        Some(d) => i64::from(match *predicate {
                            "eq" => d == 0,
                            "ne" => d != 0,
                            "slt" | "ult" => d < 0,
                            "sle" | "ule" => d <= 0,
                            "sgt" | "ugt" => d > 0,
                            _ => d >= 0,
                        })
                        .into(),
                        None => symbols.other(predicate, &[a, b]),
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
            _ => return,
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
