//! The kernels of a contraction, and which of them a launch takes: the first of those whose expectations hold with the shortest
//! estimated time.

use super::{Gemm, candidates, kernels_of, leaves::leaves_of, matrix, packed::Copies, targets_of};
use crate::plan::Arithmetic;
use cute_arith::{Op as Integer, Predicate};
use cute_ir::ops::{arith, cute, scf};
use cute_ir::{Expected, Failure, mlir::*};
use cute_layout::Layout;
use melior::ir::{ValueLike, operation::OperationLike};
use std::cell::RefCell;

/// Integers of the function that launches.
pub(super) struct Host<'c>(pub(super) Builder<'c>);

impl<'c> Arithmetic for Host<'c> {
    type Value = Val<'c>;
    type Error = Failure;

    fn constant(&self, value: i64) -> Result<Val<'c>, Failure> {
        self.0.constant(self.0.index_type(), value)
    }

    fn apply(&self, op: Integer, operands: [&Val<'c>; 2]) -> Result<Val<'c>, Failure> {
        let operands = operands.map(|value| *value);
        self.0.value(op.name(), &operands, self.0.index_type(), &[])
    }
}

/// Writes the kernels into their module, which is made if there is none, and a launch of one of them in place of the op.
pub(super) fn lower<'c>(
    rewriter: &Rewriter<'c>,
    ways: &[Gemm<'c>],
    module: Op<'c>,
    name: &str,
    home: &mut Option<Op<'c>>,
) -> Result<(), Failure> {
    let [first, ..] = ways else { return Ok(()) };
    let kernels = kernels_of(
        first.op,
        module,
        &format!("{name}_kernels"),
        &targets_of(&first.archs),
        home,
    )?;
    let body = body_of(kernels, 0).expected(kernels, "a body")?;
    let place = Builder::at_end(context_of(first.op), body, first.op.location());
    let mut symbols: Vec<Vec<String>> = Vec::new();
    for (at, way) in ways.iter().enumerate() {
        let kernel = match ways.len() {
            1 => format!("{name}_kernel"),
            _ => format!("{name}_kernel_{at}"),
        };
        let home = string_of(kernels, "sym_name").unwrap_or_default();
        let symbol = |kernel: &str| format!("@{home}::@{kernel}");
        let shared = ways[..at].iter().position(|other| way.shares_kernel(other));
        let multiplies = match shared {
            Some(other) => symbols[other][0].clone(),
            None => {
                way.kernel(place, &kernel)?;
                symbol(&kernel)
            }
        };
        let mut own = vec![multiplies];
        if way.plan.is_split() {
            let second = format!("{kernel}_parts");
            way.second_kernel(place, &second)?;
            own.push(symbol(&second));
        }
        symbols.push(own);
    }
    let host = Builder::before(first.op);
    let copies = RefCell::new(Copies::default());
    let pack = |host: Builder<'c>, way: &Gemm<'c>| {
        way.pack(
            rewriter,
            host,
            (module, kernels, name),
            &mut copies.borrow_mut(),
        )
    };
    let launch = |host: Builder<'c>, at: usize| {
        let workspaces = pack(host, &ways[at])?.launch(host, &symbols[at])?;
        let name = match ways.len() {
            1 => name.to_owned(),
            _ => format!("{name}_{at}"),
        };
        ways[at].combine(rewriter, host, (module, kernels, &name), &workspaces)
    };
    if let Some(named) = candidates::named(ways) {
        return candidates::lower(host, ways, &named, &launch);
    }
    let Some(taken) = taken(host, ways)? else {
        return launch(host, 0);
    };
    by_number(host, (taken, ways.len()), &launch)
}

/// Writes so many launches, each where a number is its own.
pub(super) fn by_number<'c>(
    host: Builder<'c>,
    (taken, count): (Val<'c>, usize),
    launch: &dyn Fn(Builder<'c>, usize) -> Result<(), Failure>,
) -> Result<(), Failure> {
    for at in 0..count {
        let number = host.constant(host.index_type(), at as i64)?;
        let is_taken = host.compare(Predicate::Eq, taken, number)?;
        let (then, body) = Detached::with_block(&[]);
        let branch = vec![then, Detached::empty()];
        host.with_regions(scf::IF, &[is_taken], &[], &[], branch)?;
        let body = Builder::at_end(host.context, body, host.location);
        launch(body, at)?;
        body.op(scf::YIELD, &[], &[], &[])?;
    }
    Ok(())
}

/// Writes the launch of the first whose condition holds; the last has none.
pub(super) fn choose<'c>(
    host: Builder<'c>,
    conditions: &[Option<Val<'c>>],
    launch: &dyn Fn(Builder<'c>, usize) -> Result<(), Failure>,
) -> Result<(), Failure> {
    fn from<'c>(
        host: Builder<'c>,
        conditions: &[Option<Val<'c>>],
        at: usize,
        launch: &dyn Fn(Builder<'c>, usize) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let Some(condition) = conditions.get(at) else {
            return Ok(());
        };
        let Some(condition) = condition else {
            return launch(host, at);
        };
        let (then, taken) = Detached::with_block(&[]);
        let (other, rest) = Detached::with_block(&[]);
        host.with_regions(scf::IF, &[*condition], &[], &[], vec![then, other])?;
        let [taken, rest] =
            [taken, rest].map(|block| Builder::at_end(host.context, block, host.location));
        launch(taken, at)?;
        from(rest, conditions, at + 1, launch)?;
        for inner in [taken, rest] {
            inner.op(scf::YIELD, &[], &[], &[])?;
        }
        Ok(())
    }
    from(host, conditions, 0, launch)
}

/// The way that a launch takes: of the first ones that expect what holds, and the same, the fastest; none where there is one way.
fn taken<'c>(host: Builder<'c>, ways: &[Gemm<'c>]) -> Result<Option<Val<'c>>, Failure> {
    if ways.len() < 2 {
        return Ok(None);
    }
    let index = host.index_type();
    let either =
        |condition, one, other| host.value(arith::SELECT, &[condition, one, other], index, &[]);
    let numbers: Vec<usize> = (0..ways.len()).collect();
    let expected: Vec<_> = ways.iter().map(Gemm::expected_of_op).collect();
    let alike = numbers.chunk_by(|one, other| expected[*one] == expected[*other]);
    let mut chosen = None;
    for group in alike.rev() {
        let fastest = fastest(host, ways, group)?;
        chosen = Some(match (ways[group[0]].fact(host)?, chosen) {
            (Some(holds), Some(others)) => either(holds, fastest, others)?,
            // Those that expect nothing come last.
            _ => fastest,
        });
    }
    Ok(chosen)
}

/// The number of the fastest of some ways, of the same time the first. They are compared in pairs, and those in pairs, so that no expression is deep.
fn fastest<'c>(host: Builder<'c>, ways: &[Gemm<'c>], group: &[usize]) -> Result<Val<'c>, Failure> {
    let n = Host(host);
    let mut all = Vec::new();
    for at in group {
        let time = if group.len() == 1 {
            n.constant(0)?
        } else {
            ways[*at].time(host)?
        };
        all.push((n.constant(*at as i64)?, time));
    }
    while all.len() > 1 {
        let mut winners = Vec::new();
        for pair in all.chunks(2) {
            winners.push(match pair {
                [(one, of_one), (other, of_other)] => {
                    let is_first = host.compare(Predicate::Sle, *of_one, *of_other)?;
                    let operands = [is_first, *one, *other];
                    let winner = host.value(arith::SELECT, &operands, host.index_type(), &[])?;
                    (winner, n.apply(Integer::MinS, [of_one, of_other])?)
                }
                _ => pair[0],
            });
        }
        all = winners;
    }
    let (winner, _) = all.first().expected(host, "a way")?;
    Ok(*winner)
}

/// Returns the condition that both hold, if they are given.
pub(super) fn both<'c>(
    host: Builder<'c>,
    one: Option<Val<'c>>,
    other: Option<Val<'c>>,
) -> Result<Option<Val<'c>>, Failure> {
    Ok(match (one, other) {
        (Some(one), Some(other)) => {
            Some(host.value(arith::ANDI, &[one, other], one.r#type(), &[])?)
        }
        (one, other) => one.or(other),
    })
}

/// The condition that the leaves which a launch brings, those of a shape and then those of a stride, are divided as one layout says, where another one does not
/// say so; none where nothing is expected.
pub(super) fn divided<'c>(
    host: Builder<'c>,
    open: Vec<Val<'c>>,
    layouts: [&Layout; 2],
) -> Result<Option<Val<'c>>, Failure> {
    let divisors = layouts.map(|layout| -> Vec<i64> {
        let both = [layout.shape().leaves(), layout.stride().leaves()].concat();
        let open = both.into_iter().filter(|leaf| !leaf.is_static());
        open.map(matrix::divisor).collect()
    });
    let mut all = None;
    for (value, (expected, known)) in open.into_iter().zip(divisors[0].iter().zip(&divisors[1])) {
        if expected != known {
            all = both(host, all, Some(is_multiple(host, value, *expected)?))?;
        }
    }
    Ok(all)
}

/// The condition that an integer is a multiple of a number.
fn is_multiple<'c>(host: Builder<'c>, value: Val<'c>, of: i64) -> Result<Val<'c>, Failure> {
    let index = host.index_type();
    let value = host.value(arith::INDEX_CAST, &[value], index, &[])?;
    if of == 0 {
        return host.compare(Predicate::Eq, value, host.constant(index, 0)?);
    }
    let by = host.constant(index, of)?;
    let rest = host.value(arith::REMSI, &[value, by], index, &[])?;
    host.compare(Predicate::Eq, rest, host.constant(index, 0)?)
}

impl<'c> Gemm<'c> {
    /// The divisors that a launch must bring: the place of a matrix, of a leaf of its layout, and what divides that.
    pub(super) fn expected(&self) -> Vec<(usize, usize, i64)> {
        let matrices = self.matrices.product.iter().enumerate();
        let all = matrices.flat_map(|(matrix, of)| {
            let leaves = of.expected().into_iter();
            leaves.map(move |(leaf, divisor)| (matrix, leaf, divisor))
        });
        all.collect()
    }

    /// The same by the matrices of the product, where the way's are those of the transposed one.
    fn expected_of_op(&self) -> Vec<(usize, usize, i64)> {
        let mut all = self.expected();
        for (matrix, ..) in all.iter_mut().filter(|(matrix, ..)| *matrix < 2) {
            if self.exchanged {
                *matrix = 1 - *matrix;
            }
        }
        all.sort_unstable();
        all
    }

    /// The condition that a launch brings that; none where nothing is expected.
    pub(super) fn fact(&self, host: Builder<'c>) -> Result<Option<Val<'c>>, Failure> {
        let mut all = None;
        for (matrix, leaf, divisor) in self.expected() {
            let tensor = self.matrices.product[matrix].tensor;
            let layout = host.infer(cute::GET_LAYOUT, &[tensor], &[])?;
            let leaf = leaves_of(host, layout)?.get(leaf).copied().flatten();
            let leaf = leaf.expected(host, "a leaf that a launch brings")?;
            let holds = is_multiple(host, leaf, divisor)?;
            all = both(host, all, Some(holds))?;
        }
        Ok(all)
    }

    /// The estimated time on the device of the launch.
    pub(super) fn time(&self, host: Builder<'c>) -> Result<Val<'c>, Failure> {
        let [mut m, mut n, k, batch] = self.sizes(host)?;
        if self.exchanged {
            (m, n) = (n, m);
        }
        let sms = host.value(cute::SM_COUNT, &[], host.index_type(), &[])?;
        let time = self.time.as_ref();
        let time = time.expected(host, "an estimate of the time")?;
        time.time(&Host(host), &[m, n, k], &batch, &sms)
    }

    /// M, N, K and the number of products, each 1 at least: of an empty problem, no time is better than another. Of groups of rows M is the mean.
    pub(super) fn sizes(&self, host: Builder<'c>) -> Result<[Val<'c>; 4], Failure> {
        let n = Host(host);
        let one = n.constant(1)?;
        let least = |value: Val<'c>| n.apply(Integer::MaxS, [&value, &one]);
        let extent = |axis: usize| match self.extents[axis].known {
            Some(known) => n.constant(known.max(1)),
            None => {
                let (matrix, mode) = self.extents[axis].from;
                least(self.dimension(host, &self.matrices.product[matrix], mode)?)
            }
        };
        if let Some(groups) = self.groups {
            let count = least(self.groups_of_launch(host, groups)?)?;
            let mean = n.apply(Integer::CeilDivS, [&extent(0)?, &count])?;
            return Ok([mean, extent(1)?, extent(2)?, count]);
        }
        let batch = match matrix::batch(&self.matrices.product) {
            Some(known) => n.constant(known.max(1))?,
            None => least(self.dimension(host, &self.matrices.product[2], 2)?)?,
        };
        Ok([extent(0)?, extent(1)?, extent(2)?, batch])
    }
}
