//! The order in which a region with sums of products is computed: which reductions along columns take one turn over them, and which of
//! them follow a running maximum. `cute-tile` estimates by it, `cute-partition` executes it.
//!
//! A reduction that needs what another one gives of all columns takes a turn of its own over them, unless it is a sum of what is
//! proportional to a power of the other one's negative: exp(s - m) x, with m the maximum of s. What was summed up with a smaller maximum is then
//! multiplied by exp(old m - new m) (Milakov and Gimelshein 2018).

use cute_arith::ReduceOp;
use cute_ir::{
    Failure, diag,
    fused::{self, Dependences, Modes, Product},
    maps::{kind_of, modes_of, reductions},
    mlir::*,
    ops::{arith, cute, math},
    types::{self, MemRef},
};
use melior::ir::ValueLike;
use std::collections::{HashMap, HashSet};

/// The modes of a block's tensors: rows, columns, the mode of the products of both, and columns of products along columns.
pub(crate) const ROWS: usize = 0;
pub(crate) const COLUMNS: usize = 1;
pub(crate) const INNER: usize = 2;
pub(crate) const OUTER: usize = 3;

/// The registers that hold a value of a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Domain {
    /// A number that is the same for a block.
    Number,
    /// A number for each row of a thread.
    Rows,
    /// A thread's part of a tile of rows and columns.
    Columns,
    /// A thread's part of a tile of rows and columns of products along columns.
    Outer,
}

impl Domain {
    /// The registers for a value that differs along those modes. Errors: modes that no registers are of.
    pub(crate) fn of(modes: &Modes) -> Result<Self, String> {
        let has = |mode| modes.contains(&mode);
        match (has(COLUMNS), has(INNER), has(OUTER)) {
            (_, true, _) => Err("differs along the mode that products are summed along".to_owned()),
            (true, _, true) => {
                Err("differs along columns and along those of products along columns".to_owned())
            }
            (true, ..) => Ok(Self::Columns),
            (.., true) => Ok(Self::Outer),
            _ if has(ROWS) => Ok(Self::Rows),
            _ => Ok(Self::Number),
        }
    }
}

/// A reduction along columns.
#[derive(Clone)]
pub(crate) struct Reduced<'c> {
    pub(crate) reduce: cute::AllReduce<'c>,
    pub(crate) kind: ReduceOp,
    /// The product that it sums; none of another reduction.
    pub(crate) product: Option<Product<'c>>,
    /// The running maximum that it follows.
    pub(crate) follows: Option<Follows<'c>>,
    /// True where what is summed, or the computed factor of a product, is 0 where the reduction that leads is of -inf.
    pub(crate) vanishes: bool,
}

/// A running maximum, or minimum, that a sum follows: what is summed is proportional to exp(- row times), where `row` is computed of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Follows<'c> {
    /// The result of the reduction that leads.
    pub(crate) lead: Val<'c>,
    /// The number of a row that is subtracted.
    pub(crate) row: Val<'c>,
    /// Numbers that are the same along columns, by which it is multiplied.
    pub(crate) times: Vec<Val<'c>>,
    /// The name of the power, to the base of e or of 2.
    pub(crate) power: &'static str,
}

/// A turn over all columns.
#[derive(Clone, Default)]
pub(crate) struct Phase<'c> {
    /// The reductions, in the region's order.
    pub(crate) reduced: Vec<Reduced<'c>>,
    /// The outputs that have an element for each column, by their places.
    pub(crate) outputs: Vec<usize>,
}

/// A region with sums of products, whose modes are those of a block.
pub(crate) struct Fused<'c> {
    pub(crate) body: Blk<'c>,
    /// The modes along which values differ, by the names of a block's modes.
    pub(crate) dependences: Dependences,
    /// All sums of products, in the region's order.
    pub(crate) products: Vec<Product<'c>>,
    /// The sums of products along K, in the region's order.
    pub(crate) scores: Vec<Product<'c>>,
    /// The turns over all columns.
    pub(crate) phases: Vec<Phase<'c>>,
}

impl<'c> Fused<'c> {
    /// The order of a region on tensors of these types, whose modes are those of a block by `names`; those of a batch have none. Errors: what a block does not compute.
    pub(crate) fn of(
        body: Blk<'c>,
        inputs: &[MemRef<'c>],
        outputs: &[MemRef<'c>],
        names: &[Option<usize>],
    ) -> Result<Self, Failure> {
        let own = Dependences::of(body, inputs);
        let name = |mode: usize| names.get(mode).copied().flatten();
        let mut fused = Self {
            body,
            dependences: own.renamed(name),
            products: Vec::new(),
            scores: Vec::new(),
            phases: Vec::new(),
        };
        let mut along_columns = Vec::new();
        let mut factors = HashSet::new();
        for reduce in reductions(body) {
            let product = Product::of(reduce, &own);
            fused.products.extend(product);
            let fail = |message: String| {
                diag::error(
                    location_of(reduce.result()),
                    format!("'{}' op {message}", cute::ALL_REDUCE),
                )
            };
            if let Some(product) = &product {
                product.narrow().map_err(fail)?;
                factors.insert(key(reduce.value()));
                factors.extend(product.factors.map(key));
            }
            if reduce.value().r#type().to_string() != "f32" {
                return Err(fail(format!(
                    "beside sums of products expected reductions of f32, found {}; convert before and behind it",
                    reduce.value().r#type()
                )));
            }
            let modes: Vec<usize> = modes_of(&reduce)
                .into_iter()
                .filter_map(|mode| name(usize::try_from(mode).ok()?))
                .collect();
            match (product, &modes[..]) {
                (Some(product), [INNER]) => fused.scores.push(product),
                (product, [COLUMNS]) => along_columns.push((reduce, product)),
                (None, [INNER]) => {
                    return Err(fail(
                        "reduces along the mode that products are summed along what is no product of a factor with rows and one with \
                         columns; reduce it by another cute.map before"
                            .to_owned(),
                    ));
                }
                _ => {
                    return Err(fail(format!(
                        "beside sums of products expected reductions along one mode that a block has the whole of, found {:?}",
                        modes_of(&reduce)
                    )));
                }
            }
        }
        fused.check_values(&factors)?;
        let columns = names.iter().position(|name| *name == Some(COLUMNS));
        // Of one column, an output may be said to be the same along columns.
        let has_columns = |(output, value): (&MemRef<'c>, &Val<'c>)| {
            columns.is_some_and(|mode| fused::steps_along(&output.layout, mode))
                || fused.domain(*value) == Domain::Columns
        };
        let yielded = fused.yielded();
        let outputs: Vec<bool> = outputs.iter().zip(&yielded).map(has_columns).collect();
        fused.order(&along_columns, &outputs)?;
        Ok(fused)
    }

    /// The values that the region yields.
    pub(crate) fn yielded(&self) -> Vec<Val<'c>> {
        cute_ir::region::yielded(self.body)
    }

    /// Tells whether an output, by its place, is stored for each column.
    pub(crate) fn has_columns(&self, output: usize) -> bool {
        let mut phases = self.phases.iter();
        phases.any(|phase| phase.outputs.contains(&output))
    }

    /// The registers that hold a value.
    pub(crate) fn domain(&self, value: Val<'c>) -> Domain {
        Domain::of(&self.dependences.modes(value)).unwrap_or(Domain::Number)
    }

    /// Checks that all values but factors of products, and what they are made of, have registers.
    fn check_values(&self, factors: &HashSet<ValueKey>) -> Result<(), Failure> {
        let mut factors = factors.clone();
        for op in ops_of(self.body) {
            for value in results_of(op) {
                let Err(why) = Domain::of(&self.dependences.modes(value)) else {
                    continue;
                };
                if factors.contains(&key(value)) {
                    continue;
                }
                return Err(diag::error(
                    location_of(value),
                    format!(
                        "'{}' op {why}, and is no factor of a sum of products as it is stored, widened to f32; such values are in no registers \
                         of a block: compute them by another cute.map before",
                        name_of(op)
                    ),
                ));
            }
        }
        // What is widened is an element as it is stored, but for what is computed of rows and columns.
        for product in &self.products {
            for value in product.narrow().into_iter().flatten() {
                factors.insert(key(value));
                let is_element = block_argument(value).is_some_and(|(block, _)| block == self.body);
                if !is_element && self.dependences.modes(value).contains(&INNER) {
                    return Err(diag::error(
                        location_of(value),
                        "expected factors of a sum of products that are stored in tensors, found one that is computed for each element of \
                         the mode that is summed along; compute it by another cute.map before",
                    ));
                }
            }
        }
        Ok(())
    }

    /// Puts reductions along columns, and outputs that have an element for each column, in turns over columns.
    fn order(
        &mut self,
        all: &[(cute::AllReduce<'c>, Option<Product<'c>>)],
        outputs: &[bool],
    ) -> Result<(), Failure> {
        let mut phase_of: HashMap<ValueKey, usize> = HashMap::new();
        let mut phases: Vec<Phase<'c>> = vec![Phase::default()];
        let mut put = |at: usize| {
            if phases.len() <= at {
                phases.resize_with(at + 1, Phase::default);
            }
            at
        };
        let mut placed = Vec::new();
        for (reduce, product) in all {
            let kind = kind_of(reduce).ok_or_else(|| {
                diag::error(location_of(reduce.result()), "expected a known kind")
            })?;
            let needs = self.needs(reduce.value(), &phase_of);
            let last = needs.iter().map(|value| phase_of[&key(*value)]).max();
            let mut at = last.unwrap_or(0);
            let (mut follows, mut vanishes) = (None, false);
            let open: Vec<_> = needs
                .into_iter()
                .filter(|value| Some(phase_of[&key(*value)]) == last)
                .collect();
            if !open.is_empty() {
                if let ([lead], ReduceOp::Add | ReduceOp::Mean) = (&open[..], kind)
                    && let Some(mut classes) = Classes::of(self, *lead)
                {
                    follows = classes.follows(reduce.value());
                    // What is the same along columns is not masked along them.
                    let led = classes.lead.value();
                    vanishes = self.domain(led) == Domain::Columns
                        && classes.vanishes(reduce.value(), product.as_ref());
                }
                at += usize::from(follows.is_none());
            }
            phase_of.insert(key(reduce.result()), at);
            put(at);
            placed.push((
                at,
                Reduced {
                    reduce: *reduce,
                    kind,
                    product: *product,
                    follows,
                    vanishes,
                },
            ));
        }
        let yielded = self.yielded();
        let mut stored = Vec::new();
        for (place, (has_columns, value)) in outputs.iter().zip(&yielded).enumerate() {
            if !has_columns {
                continue;
            }
            let needs = self.needs(*value, &phase_of);
            let at = needs.iter().map(|value| phase_of[&key(*value)] + 1).max();
            let at = at.unwrap_or(0);
            put(at);
            stored.push((at, place));
        }
        for (at, reduced) in placed {
            phases[at].reduced.push(reduced);
        }
        for (at, place) in stored {
            phases[at].outputs.push(place);
        }
        self.phases = phases;
        Ok(())
    }

    /// The results of those reductions that a value is computed from, without another one between.
    fn needs(&self, value: Val<'c>, reductions: &HashMap<ValueKey, usize>) -> Vec<Val<'c>> {
        let (mut left, mut met, mut found) = (vec![value], HashSet::new(), Vec::new());
        while let Some(value) = left.pop() {
            if !met.insert(key(value)) {
                continue;
            }
            if reductions.contains_key(&key(value)) {
                found.push(value);
                continue;
            }
            let own = defining_op(value).filter(|op| block_of(*op) == Some(self.body));
            left.extend(own.map(operands_of).unwrap_or_default());
        }
        found
    }
}

/// The way in which a value depends on a reduction that leads.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Class<'c> {
    /// Not at all.
    Free,
    /// It is the same along columns, and computed of it.
    Row,
    /// It is something free less a number of the row, all times some numbers; `alone` says that this is what the maximum is of, once.
    Less {
        row: Val<'c>,
        times: Vec<Val<'c>>,
        alone: bool,
    },
    /// It is proportional to a power of the negative, or with `alone` that itself.
    Power { follows: Follows<'c>, alone: bool },
}

impl Class<'_> {
    /// The class of a sum, or of one of both; none where they are not proportional to one power.
    fn with(&self, other: &Self) -> Option<Self> {
        match (self, other) {
            (
                Class::Power { follows, alone },
                Class::Power {
                    follows: same,
                    alone: too,
                },
            ) if follows == same => Some(Class::Power {
                follows: follows.clone(),
                alone: *alone && *too,
            }),
            _ => None,
        }
    }
}

/// The classes of values by a reduction that leads.
struct Classes<'a, 'c> {
    fused: &'a Fused<'c>,
    lead: cute::AllReduce<'c>,
    known: HashMap<ValueKey, Option<Class<'c>>>,
}

impl<'a, 'c> Classes<'a, 'c> {
    /// The classes by the reduction of which this is the result; none where none can lead.
    fn of(fused: &'a Fused<'c>, lead: Val<'c>) -> Option<Self> {
        let lead = cute::AllReduce::of(defining_op(lead)?)?;
        let leads = matches!(kind_of(&lead), Some(ReduceOp::Maximum | ReduceOp::Minimum));
        leads.then(|| Self {
            fused,
            lead,
            known: HashMap::new(),
        })
    }

    /// The way in which a sum of that value follows the one that leads; none where it does not.
    fn follows(&mut self, value: Val<'c>) -> Option<Follows<'c>> {
        match self.class(value)? {
            Class::Power { follows, .. } => Some(follows),
            _ => None,
        }
    }

    /// Tells whether a value, or the computed factor of the product that it is, is 0 where what leads is of -inf.
    fn vanishes(&mut self, value: Val<'c>, product: Option<&Product<'c>>) -> bool {
        let factors = product.map_or(vec![value], |product| product.factors.to_vec());
        factors.into_iter().any(|value| {
            let class = self.class(value);
            matches!(class, Some(Class::Power { alone: true, .. }))
        })
    }

    /// The class of a value; none where it has none.
    fn class(&mut self, value: Val<'c>) -> Option<Class<'c>> {
        if let Some(known) = self.known.get(&key(value)) {
            return known.clone();
        }
        let class = self.found(value);
        self.known.insert(key(value), class.clone());
        class
    }

    fn found(&mut self, value: Val<'c>) -> Option<Class<'c>> {
        let own = defining_op(value).filter(|op| block_of(*op) == Some(self.fused.body));
        let Some(op) = own else {
            return Some(Class::Free);
        };
        if value == self.lead.result() {
            return Some(Class::Row);
        }
        if cute::AllReduce::of(op).is_some() {
            // Of columns of other turns, or of scores.
            return Some(Class::Free);
        }
        let operands = operands_of(op);
        let classes: Option<Vec<_>> = operands.iter().map(|value| self.class(*value)).collect();
        let classes = classes?;
        if classes.iter().all(|class| *class == Class::Free) {
            return Some(Class::Free);
        }
        let is_of_row = |value: Val<'c>| {
            let modes = self.fused.dependences.modes(value);
            modes.iter().all(|mode| *mode == ROWS)
        };
        if is_of_row(value) {
            return classes
                .iter()
                .all(|class| matches!(class, Class::Free | Class::Row))
                .then_some(Class::Row);
        }
        match (name_of(op), &operands[..], &classes[..]) {
            (arith::SUBF, [base, row], [Class::Free, Class::Row]) => {
                let is_maximum = kind_of(&self.lead) == Some(ReduceOp::Maximum);
                self.is_led(*base, *row).then(|| Class::Less {
                    row: *row,
                    times: Vec::new(),
                    alone: is_maximum && *base == self.lead.value(),
                })
            }
            (arith::MULF, [_, by], [Class::Less { row, times, .. }, Class::Free])
            | (arith::MULF, [by, _], [Class::Free, Class::Less { row, times, .. }])
                if is_of_row(*by) =>
            {
                let times = times.iter().copied().chain([*by]).collect();
                Some(Class::Less {
                    row: *row,
                    times,
                    alone: false,
                })
            }
            (power @ (math::EXP | math::EXP2), _, [Class::Less { row, times, alone }]) => {
                Some(Class::Power {
                    follows: Follows {
                        lead: self.lead.result(),
                        row: *row,
                        times: times.clone(),
                        power: match power {
                            math::EXP2 => math::EXP2,
                            _ => math::EXP,
                        },
                    },
                    alone: *alone,
                })
            }
            (arith::MULF, _, [Class::Power { follows, .. }, Class::Free])
            | (arith::MULF, _, [Class::Free, Class::Power { follows, .. }])
            | (arith::DIVF, _, [Class::Power { follows, .. }, Class::Free]) => Some(Class::Power {
                follows: follows.clone(),
                alone: false,
            }),
            (arith::NEGF | arith::EXTF | arith::TRUNCF, _, [power @ Class::Power { .. }]) => {
                Some(power.clone())
            }
            (arith::ADDF | arith::SUBF, _, [one, other]) => one.with(other),
            (arith::SELECT, [_, then, other], [Class::Free, one, two]) => match (one, two) {
                (Class::Power { .. }, _) if is_zero(*other) => Some(one.clone()),
                (_, Class::Power { .. }) if is_zero(*then) => Some(two.clone()),
                _ => one.with(two),
            },
            _ => None,
        }
    }

    /// Tells whether what is left of `base` without `row` is bounded on the one side by what leads: `base` is what it reduces and `row` its result, both
    /// times one number perhaps; or `row` is that or another number of the row, whichever is larger or the condition says.
    fn is_led(&self, base: Val<'c>, row: Val<'c>) -> bool {
        let (value, result) = (self.lead.value(), self.lead.result());
        if base == value && row == result {
            return true;
        }
        let (Some(op), of_base) = (defining_op(row), defining_op(base)) else {
            return false;
        };
        let operands = operands_of(op);
        match (name_of(op), &operands[..]) {
            (arith::MULF, [x, y]) => {
                let by = match (*x == result, *y == result) {
                    (true, false) => *y,
                    (false, true) => *x,
                    _ => return false,
                };
                let base = of_base.filter(|op| name_of(*op) == arith::MULF);
                let base = base.map(operands_of).unwrap_or_default();
                base == [value, by] || base == [by, value]
            }
            (arith::SELECT, [_, x, y]) => {
                base == value && (*x == result && is_number(*y) || *y == result && is_number(*x))
            }
            (arith::MAXIMUMF | arith::MAXNUMF, [x, y]) => {
                let is_maximum = kind_of(&self.lead) == Some(ReduceOp::Maximum);
                base == value
                    && is_maximum
                    && (*x == result && is_number(*y) || *y == result && is_number(*x))
            }
            _ => false,
        }
    }
}

/// Tells whether a value is a constant.
fn is_number(value: Val<'_>) -> bool {
    defining_op(value).is_some_and(|op| name_of(op) == arith::CONSTANT)
}

/// Tells whether a value is the number 0.
fn is_zero(value: Val<'_>) -> bool {
    let constant = defining_op(value).and_then(arith::Constant::of);
    let number = constant.and_then(|op| op.value()).and_then(float_value);
    number == Some(0.0) && types::is_float(value.r#type())
}
