//! Expressions as a list of steps on numbered registers: what trees of them give, without walking trees.
//!
//! A step without a result ends a list. What that means (an error, or nothing where the result is not used) is said by the trees
//! alone: whoever runs a list falls back to them.

use std::collections::HashMap;

use crate::package::{Expr, Op};

/// The number of a register.
pub(super) type Register = u16;

/// An operation of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Code {
    /// An operation of expressions.
    Apply(Op),
    /// A quotient by two to the power of the second operand's number, rounded towards zero, down and up, and what the first leaves.
    Shifted(Op),
    /// Nothing, if both are equal; else no result.
    Same,
    /// Nothing, if it is not 0; else no result.
    Holds,
}

/// A step: a register becomes the result of an operation on others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    code: Code,
    to: Register,
    of: [Register; 3],
}

/// Runs steps. Nothing where one has no result.
#[inline]
pub(super) fn run(steps: &[Step], registers: &mut [i64]) -> Option<()> {
    for step in steps {
        let [a, b, c] = step.of.map(|register| registers[usize::from(register)]);
        let value = match step.code {
            Code::Apply(op) => op.result([a, b, c])?,
            Code::Shifted(op) => shifted(op, a, u32::from(step.of[1])),
            Code::Same if a == b => continue,
            Code::Holds if a != 0 => continue,
            Code::Same | Code::Holds => return None,
        };
        registers[usize::from(step.to)] = value;
    }
    Some(())
}

/// The quotient of a division by `1 << power`, `power` being at most 62.
#[inline]
fn shifted(op: Op, a: i64, power: u32) -> i64 {
    let mask = (1i64 << power) - 1;
    // Towards zero: a negative dividend is shifted up before, which cannot overflow.
    let quotient = || (a + ((a >> 63) & mask)) >> power;
    match op {
        Op::CeilDiv => (a >> power) + i64::from(a & mask != 0),
        Op::FloorDiv => a >> power,
        Op::Rem => a - (quotient() << power),
        _ => quotient(),
    }
}

/// The place of a value while steps are made: registers are numbered when all are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Place {
    /// A register that a call fills.
    Input(Register),
    /// A number.
    Constant(i64),
    /// The result of a step.
    Result(Register),
    /// A number of the step itself, no register.
    Power(Register),
}

/// More registers than a function needs that a program wrote: such are evaluated as trees.
const MOST: usize = 1 << 14;

/// Makes steps of expressions.
pub(super) struct Builder<'f> {
    /// The values of the function.
    values: &'f [Expr],
    /// Registers of the dynamic leaves of each argument.
    pub(super) leaves: Vec<Vec<Register>>,
    /// Registers of each argument that is an integer.
    pub(super) scalars: Vec<Option<Register>>,
    sm_count: u32,
    scope: Scope,
    /// Results of the largest scope.
    results: usize,
    constants: HashMap<i64, Register>,
}

/// The steps that were made, and what they know.
#[derive(Clone, Default)]
struct Scope {
    steps: Vec<(Code, Place, [Place; 3])>,
    /// Equal operations are one step.
    known: HashMap<(Code, [Place; 3]), Place>,
    values: HashMap<usize, Place>,
    results: usize,
}

/// The state of a builder to go back to.
pub(super) struct Mark(Scope);

/// The registers of a finished program.
pub(super) struct Numbering {
    inputs: usize,
    constants: HashMap<i64, Register>,
}

impl<'f> Builder<'f> {
    /// A builder for a function's values, on a device with `sm_count` multiprocessors; `integers` tells which arguments are numbers
    /// that expressions may have, `leaves` how many dynamic leaves each has.
    pub(super) fn new(
        values: &'f [Expr],
        leaves: &[usize],
        integers: &[bool],
        sm_count: u32,
    ) -> Option<Builder<'f>> {
        let mut next = 0usize;
        let mut input = || {
            next += 1;
            Register::try_from(next - 1).ok()
        };
        let leaves: Option<Vec<Vec<Register>>> = leaves
            .iter()
            .map(|count| (0..*count).map(|_| input()).collect())
            .collect();
        let mut scalars = Vec::new();
        for is_integer in integers {
            scalars.push(if *is_integer { Some(input()?) } else { None });
        }
        Some(Builder {
            values,
            leaves: leaves?,
            scalars,
            sm_count,
            scope: Scope::default(),
            results: 0,
            constants: HashMap::new(),
        })
    }

    /// Remembers what is known here, for steps that do not always run.
    pub(super) fn mark(&self) -> (Mark, usize) {
        (Mark(self.scope.clone()), self.scope.steps.len())
    }

    /// Forgets what was made since then, and hands it over.
    pub(super) fn reset(&mut self, (mark, from): (Mark, usize)) -> Steps {
        self.results = self.results.max(self.scope.results);
        let scope = std::mem::replace(&mut self.scope, mark.0);
        Steps(scope.steps[from..].to_vec())
    }

    /// Hands over all that was made.
    pub(super) fn all(&self) -> Steps {
        Steps(self.scope.steps.clone())
    }

    /// The place of an expression's value; nothing if it has too many parts, or what no function that was checked has.
    pub(super) fn value(&mut self, expr: &Expr) -> Option<Place> {
        // Values are made in their order and not one within the other: there may be a thousand.
        let mut wanted = vec![false; self.values.len()];
        let mut open = Vec::new();
        let mut ask = |expr: &Expr, open: &mut Vec<usize>, made: &HashMap<usize, Place>| {
            expr.walk(&mut |part| {
                if let Expr::Value(at) = part
                    && !made.contains_key(at)
                    && wanted.get(*at) == Some(&false)
                {
                    wanted[*at] = true;
                    open.push(*at);
                }
            });
        };
        ask(expr, &mut open, &self.scope.values);
        while let Some(at) = open.pop() {
            ask(&self.values[at], &mut open, &self.scope.values);
        }
        for (at, _) in wanted.iter().enumerate().filter(|(_, wanted)| **wanted) {
            let values = self.values;
            let place = self.part(&values[at])?;
            self.scope.values.insert(at, place);
        }
        self.part(expr)
    }

    /// The place of a product of values.
    pub(super) fn product(&mut self, factors: &[Place]) -> Option<Place> {
        let mut product = Place::Constant(1);
        for factor in factors {
            product = self.apply(Op::Mul, [product, *factor, Place::Constant(0)])?;
        }
        Some(product)
    }

    /// Asks that two values be equal.
    pub(super) fn same(&mut self, a: Place, b: Place) {
        if a != b {
            let of = [a, b, Place::Constant(0)];
            self.scope.steps.push((Code::Same, Place::Constant(0), of));
            self.note(of);
        }
    }

    /// Asks that a value be not 0.
    pub(super) fn holds(&mut self, a: Place) {
        if !matches!(a, Place::Constant(value) if value != 0) {
            let of = [a, Place::Constant(0), Place::Constant(0)];
            self.scope.steps.push((Code::Holds, Place::Constant(0), of));
            self.note(of);
        }
    }

    /// Takes care that a place has a register.
    pub(super) fn keep(&mut self, place: Place) {
        self.note([place; 3]);
    }

    fn note(&mut self, of: [Place; 3]) {
        for place in of {
            if let Place::Constant(value) = place {
                let next = self.constants.len() as Register;
                self.constants.entry(value).or_insert(next);
            }
        }
    }

    fn part(&mut self, expr: &Expr) -> Option<Place> {
        match expr {
            Expr::Constant(value) => Some(Place::Constant(*value)),
            Expr::SmCount => Some(Place::Constant(self.sm_count.into())),
            Expr::Leaf(arg, leaf) => Some(Place::Input(*self.leaves.get(*arg)?.get(*leaf)?)),
            Expr::Scalar(arg) => Some(Place::Input((*self.scalars.get(*arg)?)?)),
            Expr::Value(at) => self.scope.values.get(at).copied(),
            Expr::Apply(op, operands) => {
                let mut of = [Place::Constant(0); 3];
                if operands.len() != op.arity() {
                    return None;
                }
                for (place, operand) in of.iter_mut().zip(operands) {
                    *place = self.part(operand)?;
                }
                self.apply(*op, of)
            }
        }
    }

    fn apply(&mut self, op: Op, of: [Place; 3]) -> Option<Place> {
        use Place::Constant;
        match (op, of) {
            (_, [Constant(a), Constant(b), Constant(c)]) => {
                // What has no result stays a step, which then has none.
                if let Some(value) = op.result([a, b, c]) {
                    return Some(Constant(value));
                }
            }
            (Op::Mul, [a, Constant(1), _] | [Constant(1), a, _])
            | (Op::Add, [a, Constant(0), _] | [Constant(0), a, _])
            | (Op::CeilDiv | Op::Div | Op::FloorDiv, [a, Constant(1), _]) => return Some(a),
            _ => {}
        }
        let (code, of) = match (op, of) {
            (Op::CeilDiv | Op::Div | Op::FloorDiv | Op::Rem, [a, Constant(by), _])
                if by > 0 && by.count_ones() == 1 =>
            {
                let power = Place::Power(by.trailing_zeros() as Register);
                (Code::Shifted(op), [a, power, Constant(0)])
            }
            _ => (Code::Apply(op), of),
        };
        if let Some(known) = self.scope.known.get(&(code, of)) {
            return Some(*known);
        }
        if self.scope.steps.len() >= MOST {
            return None;
        }
        let to = Place::Result(self.scope.results as Register);
        self.scope.results += 1;
        self.scope.steps.push((code, to, of));
        self.scope.known.insert((code, of), to);
        self.note(of);
        Some(to)
    }

    /// Numbers the registers; what a call begins with is in them. Nothing is made after it.
    pub(super) fn finish(mut self) -> Option<(Numbering, Vec<i64>)> {
        self.note([Place::Constant(0); 3]);
        let inputs =
            self.leaves.iter().map(Vec::len).sum::<usize>() + self.scalars.iter().flatten().count();
        let results = self.results.max(self.scope.results);
        let count = inputs + self.constants.len() + results;
        if count > MOST {
            return None;
        }
        // Powers of two stand where registers do, and are below this.
        let mut registers = vec![0; count.max(64)];
        for (value, at) in &self.constants {
            registers[inputs + usize::from(*at)] = *value;
        }
        let numbering = Numbering {
            inputs,
            constants: self.constants,
        };
        Some((numbering, registers))
    }
}

/// Steps whose registers are not numbered yet.
pub(super) struct Steps(Vec<(Code, Place, [Place; 3])>);

impl Numbering {
    /// Registers that a call fills: the first.
    pub(super) fn inputs(&self) -> usize {
        self.inputs
    }

    /// The register of a place that was kept or is of a step.
    pub(super) fn register(&self, place: Place) -> Register {
        let constants = self.inputs + self.constants.len();
        match place {
            Place::Input(register) | Place::Power(register) => register,
            Place::Constant(value) => {
                let at = self.constants.get(&value).copied().unwrap_or_default();
                (self.inputs + usize::from(at)) as Register
            }
            Place::Result(register) => (constants + usize::from(register)) as Register,
        }
    }

    /// Steps with their registers.
    pub(super) fn steps(&self, steps: &Steps) -> Vec<Step> {
        let step = |(code, to, of): &(Code, Place, [Place; 3])| Step {
            code: *code,
            to: self.register(*to),
            of: of.map(|place| self.register(place)),
        };
        steps.0.iter().map(step).collect()
    }
}

#[cfg(test)]
impl Steps {
    /// The number of them.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}
