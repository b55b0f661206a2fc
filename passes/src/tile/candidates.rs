//! The candidates for a contraction that a package holds, of which somebody who measures chooses one.

use super::{Gemm, Named, variants::by_number};
use cute_ir::ops::{arith, cf, cute};
use cute_ir::{Failure, mlir::*};

/// The names of candidates; none where a launch chooses.
pub(super) fn named<'g>(ways: &'g [Gemm<'_>]) -> Option<Vec<&'g Named>> {
    ways.iter().map(|way| way.named.as_ref()).collect()
}

/// Writes the choice, and the launches of each candidate where it is the chosen one.
pub(super) fn lower<'c>(
    host: Builder<'c>,
    ways: &[Gemm<'c>],
    named: &[&Named],
    launch: &dyn Fn(Builder<'c>, usize) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let [first, ..] = ways else { return Ok(()) };
    let index = host.index_type();
    let facts = ways.iter().map(|way| way.fact(host));
    let facts: Vec<Option<Val<'c>>> = facts.collect::<Result<_, _>>()?;
    let mut operands = first.sizes(host)?.to_vec();
    for (way, fact) in ways.iter().zip(&facts) {
        let time = way.time(host)?;
        operands.push(match fact {
            Some(fact) => {
                let never = host.constant(index, -1)?;
                host.value(arith::SELECT, &[*fact, time, never], index, &[])?
            }
            None => time,
        });
    }
    let texts = |text: fn(&Named) -> &str| {
        let all: Vec<_> = named.iter().map(|named| host.string(text(named))).collect();
        array_attribute(host.context, &all)
    };
    let attributes = [
        ("plans", texts(|named| &named.plan)),
        ("problems", texts(|named| &named.problem)),
        (
            "generation",
            host.i64_attribute(crate::plan::GENERATION.into()),
        ),
    ];
    let chosen = host.value(cute::CANDIDATES, &operands, index, &attributes)?;
    by_number(host, (chosen, ways.len()), &|body, at| {
        if let Some(holds) = facts[at] {
            let message = format!(
                "candidate {at} ({}) expects extents and strides that are multiples of as many elements as its accesses move ({})",
                named[at].plan, named[at].problem
            );
            body.op(cf::ASSERT, &[holds], &[], &[("msg", body.string(&message))])?;
        }
        launch(body, at)
    })
}
