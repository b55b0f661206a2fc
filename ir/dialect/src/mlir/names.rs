//! The code that is made of the `.td` files for Rust: the names of ops, and typed accessors to what they are made of.

/// The ops of our dialects and of those that they are lowered to: for each a constant with its name, and a handle with its
/// operands, results, regions and attributes by name, as its `.td` file has them.
///
/// An accessor of an op that its dialect has not verified may panic, which the boundary to MLIR makes an error of.
pub mod ops {
    #![allow(clippy::wrong_self_convention, clippy::too_many_arguments)]

    use super::super::{
        Blk, Op, Val, attribute_of, body_of, i32s_of, name_of, operands_of, results_of,
    };
    use melior::ir::Attribute;

    /// The arity of a group of operands or results.
    #[derive(Clone, Copy, PartialEq, Eq)]
    enum Arity {
        One,
        Optional,
        Variadic,
    }

    /// The values of a group: by the sizes of all groups where the op has them, else by what the others leave.
    fn group<'c>(
        op: Op<'c>,
        values: Vec<Val<'c>>,
        arities: &[Arity],
        segments: Option<&str>,
        index: usize,
    ) -> Option<Vec<Val<'c>>> {
        let sizes = match segments {
            Some(name) => attribute_of(op, name)
                .and_then(i32s_of)?
                .into_iter()
                .map(usize::try_from)
                .collect::<Result<Vec<_>, _>>()
                .ok()?,
            None => {
                let open = arities.iter().filter(|a| **a != Arity::One).count();
                let rest = values.len().checked_sub(arities.len() - open)?;
                let share = rest.checked_div(open).unwrap_or(0);
                arities
                    .iter()
                    .map(|arity| if *arity == Arity::One { 1 } else { share })
                    .collect()
            }
        };
        let start: usize = sizes.get(..index)?.iter().sum();
        let end = start.checked_add(*sizes.get(index)?)?;
        Some(values.get(start..end)?.to_vec())
    }

    #[track_caller]
    fn malformed(op: Op<'_>, kind: &str, name: &str) -> ! {
        panic!("'{}' op has no {kind} '{name}'", name_of(op))
    }

    macro_rules! groups {
        ($one:ident, $optional:ident, $variadic:ident, $values:ident, $segments:literal, $kind:literal) => {
            #[track_caller]
            fn $variadic<'c>(
                op: Op<'c>,
                name: &str,
                arities: &[Arity],
                segments: bool,
                index: usize,
            ) -> Vec<Val<'c>> {
                let segments = segments.then_some($segments);
                group(op, $values(op), arities, segments, index)
                    .unwrap_or_else(|| malformed(op, $kind, name))
            }

            #[track_caller]
            fn $optional<'c>(
                op: Op<'c>,
                name: &str,
                arities: &[Arity],
                segments: bool,
                index: usize,
            ) -> Option<Val<'c>> {
                $variadic(op, name, arities, segments, index)
                    .first()
                    .copied()
            }

            #[track_caller]
            fn $one<'c>(
                op: Op<'c>,
                name: &str,
                arities: &[Arity],
                segments: bool,
                index: usize,
            ) -> Val<'c> {
                $optional(op, name, arities, segments, index)
                    .unwrap_or_else(|| malformed(op, $kind, name))
            }
        };
    }
    groups!(
        one_operand,
        optional_operand,
        variadic_operand,
        operands_of,
        "operandSegmentSizes",
        "operand"
    );
    groups!(
        one_result,
        optional_result,
        variadic_result,
        results_of,
        "resultSegmentSizes",
        "result"
    );

    include!(concat!(env!("OUT_DIR"), "/ops.rs"));
}
