//! Conditions on arguments, in the words of whoever calls the function: what kernels ask of numbers that only the compiler knows of is said
//! of the arguments that these are computed of.

use cute_layout::Dyn;
use cute_runtime::{
    Pattern,
    package::{Arg, Expr, Op, Requirement},
};

/// Says what must fit 32 bits by the extents and strides that it is computed of, and what has 64 bits instead.
pub(super) fn in_own_words(requires: &mut [Requirement], values: &[Expr], args: &[Arg]) {
    for requirement in requires {
        let Some(number) = fits(&requirement.condition) else {
            continue;
        };
        let mut leaves = Vec::new();
        leaves_of(number, values, &mut leaves);
        let named: Vec<_> = leaves
            .iter()
            .filter_map(|of| Named::of(*of, args))
            .collect();
        if named.is_empty() {
            continue;
        }
        let leaf = |arg: usize, leaf: usize| {
            let named = Named::of((arg, leaf), args);
            named.map_or_else(String::new, |named| named.name)
        };
        let scalar = |arg: usize| {
            args.get(arg)
                .map_or_else(String::new, |arg| arg.name().to_owned())
        };
        let wider: Vec<_> = named
            .iter()
            .map(|of| format!("{} for {}", of.wider, of.name))
            .collect();
        requirement.message = format!(
            "expected {} to fit 32 bits, as what is computed of extents and strides of 32 bits has no more, found a number beyond; compile for 64: \
             write {} in the layout of the argument",
            number.text(&leaf, &scalar),
            wider.join(" and ")
        );
    }
}

/// The number of which a condition asks that it fits 32 bits.
fn fits(condition: &Expr) -> Option<&Expr> {
    let mut found = None;
    condition.walk(&mut |part| {
        if let Expr::Apply(Op::Le, operands) = part
            && let [Expr::Constant(least), number] = &operands[..]
            && *least == i64::from(i32::MIN)
        {
            found = found.or(Some(number));
        }
    });
    found
}

/// The arguments and their leaves that a number is computed of, each once.
fn leaves_of(number: &Expr, values: &[Expr], leaves: &mut Vec<(usize, usize)>) {
    let mut inner = Vec::new();
    number.walk(&mut |part| match part {
        Expr::Leaf(arg, leaf) if !leaves.contains(&(*arg, *leaf)) => leaves.push((*arg, *leaf)),
        // A value is computed of those before it.
        Expr::Value(at) => inner.extend(values.get(*at).map(|value| (*at, value))),
        _ => {}
    });
    for (at, value) in inner {
        leaves_of(value, &values[..at], leaves);
    }
}

/// A leaf of an argument, such as `A.stride[0]`, and the text of one that has 64 bits.
struct Named {
    name: String,
    wider: Dyn,
}

impl Named {
    fn of((arg, leaf): (usize, usize), args: &[Arg]) -> Option<Self> {
        let arg = args.get(arg)?;
        let Arg::Tensor { layout, .. } = arg else {
            return None;
        };
        let leaf = *Pattern::parse(layout).ok()?.dynamic_leaves().get(leaf)?;
        Some(Self {
            name: format!("{}.{leaf}", arg.name()),
            wider: Dyn::new(64, leaf.div),
        })
    }
}
