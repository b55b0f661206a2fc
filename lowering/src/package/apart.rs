//! Views of one tensor, or of one part of the workspace: within it, and apart where an op writes one and reads another one.
//!
//! Both are conditions of a launch where only that knows them. Two views are known to be apart where one ends before the other one begins, or where each has columns of
//! its own of rows that are as far from each other in both.

use super::begin::pointer_to;
use super::plan::{HostPlan, checked};
use cute_ir::{
    Failure,
    attributes::NAME,
    diag,
    mlir::{
        Op, Val, ValueKey, argument_attribute, block_argument, key, parent_of, place_of,
        string_value,
    },
    ops::func,
    types::{MemRef, element_bits, memref_of},
};
use cute_layout::{IntTuple, Layout, Leaf};
use cute_runtime::package::{Compute, Expr, Op as Apply, Param, ViewOf};
use melior::ir::operation::OperationLike;

/// The bytes of a tensor in the memory that it is in.
#[derive(Clone)]
pub(super) struct Span<'c> {
    /// The op that asks for it, where errors are reported.
    pub(super) op: Op<'c>,
    /// The argument or the part of the workspace.
    pub(super) root: ValueKey,
    pub(super) of: ViewOf,
    /// Bytes of the first element of the argument, or of the workspace, before it.
    begin: Expr,
    /// Extents, and bytes from one element to the next.
    modes: Vec<[Expr; 2]>,
    /// Bytes of an element.
    size: i64,
}

impl<'c> Span<'c> {
    /// The span of a tensor of this type, whose dynamic leaves are `leaves`, those of the shape before those of the stride.
    pub(super) fn new(
        op: Op<'c>,
        (root, of): (ValueKey, ViewOf),
        memref: &MemRef<'c>,
        leaves: impl IntoIterator<Item = Expr>,
    ) -> Self {
        let mut leaves = leaves.into_iter();
        let mut values = |all: &IntTuple| -> Vec<Expr> {
            let all = all.leaves().into_iter();
            let all = all.map(|leaf| {
                leaf.as_static()
                    .map(Expr::Constant)
                    .or_else(|| leaves.next())
            });
            all.map(|value| value.unwrap_or(Expr::Constant(0)))
                .collect()
        };
        let shape = values(memref.layout.shape());
        let stride = values(memref.layout.stride());
        let size = element_bits(memref.element).map_or(1, |bits| (bits / 8).max(1));
        let bytes = |stride| apply(Apply::Mul, [stride, Expr::Constant(size)]);
        Span {
            op,
            root,
            begin: of.offset().cloned().unwrap_or(Expr::Constant(0)),
            of,
            modes: shape
                .into_iter()
                .zip(stride)
                .map(|(extent, stride)| [extent, bytes(stride)])
                .collect(),
            size,
        }
    }

    /// The span of a tensor argument; none of other values.
    pub(super) fn of_argument(op: Op<'c>, value: Val<'c>) -> Option<Self> {
        let (_, index) = block_argument(value)?;
        let memref = memref_of(value)?;
        let leaves = (0..).map(|leaf| Expr::Leaf(index, leaf));
        let of = ViewOf::Argument(index);
        Some(Self::new(op, (key(value), of), &memref, leaves))
    }

    /// The name of the argument that it is in, or that of the workspace.
    fn name_of_memory(&self) -> String {
        let Some(tensor) = self.of.argument() else {
            return "the workspace".to_owned();
        };
        parent_of(self.op, func::FUNC)
            .and_then(|function| argument_attribute(function, tensor, NAME))
            .and_then(string_value)
            .map_or_else(|| format!("argument {tensor}"), str::to_owned)
    }

    /// Bytes from its first one to its last one, with those modes alone whose strides are asked for.
    fn reach(&self, has: impl Fn(&Expr) -> bool) -> Expr {
        let modes = self.modes.iter().filter(|[_, stride]| has(stride));
        modes.fold(Expr::Constant(self.size), |all, [extent, stride]| {
            let last = apply(Apply::Sub, [extent.clone(), Expr::Constant(1)]);
            apply(Apply::Add, [all, apply(Apply::Mul, [last, stride.clone()])])
        })
    }

    /// 1 where it has no elements.
    fn is_empty(&self) -> Expr {
        let is_zero = |extent: &Expr| apply(Apply::Eq, [extent.clone(), Expr::Constant(0)]);
        let modes = self.modes.iter().map(|[extent, _]| is_zero(extent));
        modes.fold(Expr::Constant(0), either)
    }

    /// 1 where all its bytes are between two bytes of its memory, or where it has none.
    fn is_within(&self, [first, last]: &[Expr; 2]) -> Expr {
        let end = apply(Apply::Add, [self.begin.clone(), self.reach(|_| true)]);
        let ends = apply(Apply::Le, [end, last.clone()]);
        let begins = apply(Apply::Le, [first.clone(), self.begin.clone()]);
        either(self.is_empty(), both(begins, ends))
    }

    /// 1 where it is known to have no byte in common with another one of the same memory.
    fn is_apart(&self, other: &Span<'_>) -> Expr {
        let ends = |one: &Span<'_>| apply(Apply::Add, [one.begin.clone(), one.reach(|_| true)]);
        let before =
            |one: &Span<'_>, next: &Span<'_>| apply(Apply::Le, [ends(one), next.begin.clone()]);
        let mut holds = either(before(self, other), before(other, self));
        let strides = self.modes.iter().map(|[_, stride]| stride);
        for row in strides.filter(|row| row.constant() != Some(0)) {
            if other.modes.iter().any(|[_, stride]| stride == row) {
                holds = either(holds, self.has_other_columns(other, row));
            }
        }
        holds
    }

    /// 1 where both have columns of their own of rows that are so many bytes apart.
    fn has_other_columns(&self, other: &Span<'_>, row: &Expr) -> Expr {
        let length = apply(Apply::Max, [row.clone(), Expr::Constant(1)]);
        let is_within_row = |stride: &Expr| match (stride.constant(), row.constant()) {
            (Some(stride), Some(row)) => stride % row != 0,
            _ => stride != row,
        };
        let columns = |one: &Span<'_>| {
            let first = apply(Apply::Rem, [one.begin.clone(), length.clone()]);
            let end = apply(Apply::Add, [first.clone(), one.reach(is_within_row)]);
            (first, end)
        };
        let ((first, end), (of_other, other_end)) = (columns(self), columns(other));
        let fits = [&end, &other_end].map(|end| apply(Apply::Le, [end.clone(), length.clone()]));
        let [fits, other_fits] = fits;
        let before = apply(Apply::Le, [end, of_other]);
        let behind = apply(Apply::Le, [other_end, first]);
        both(both(fits, other_fits), either(before, behind))
    }
}

impl<'c> HostPlan<'c> {
    /// Asks a launch that a view of `start` is within that: an argument, or a part of the workspace.
    ///
    /// # Errors
    /// It is known not to be.
    pub(super) fn require_within(
        &mut self,
        view: &Span<'c>,
        start: Val<'c>,
        when: Option<&Expr>,
    ) -> Result<(), Failure> {
        let ends = match self.parts.get(&key(start)) {
            Some(ends) => ends.clone(),
            None => match Span::of_argument(view.op, start) {
                Some(whole) => [Expr::Constant(0), whole.reach(|_| true)],
                None => return Ok(()),
            },
        };
        let name = view.name_of_memory();
        let message = format!(
            "expected a view within {name}, from its first byte to its last; begin it at another element, or give it other extents"
        );
        self.hold(view.op, view.is_within(&ends), when, message)
    }

    /// Asks a launch that extents and strides of a view are what its type says: multiples, and not negative. Those of arguments are looked at with these.
    ///
    /// # Errors
    /// One is known not to be.
    pub(super) fn require_leaves(
        &mut self,
        view: &Span<'c>,
        layout: &Layout,
        leaves: &[Expr],
        when: Option<&Expr>,
    ) -> Result<(), Failure> {
        let of_shape = layout.shape().leaves().into_iter();
        let open = of_shape
            .chain(layout.stride().leaves())
            .filter_map(Leaf::as_dynamic);
        for (open, leaf) in open.zip(leaves) {
            if matches!(leaf, Expr::Leaf(..)) {
                continue;
            }
            let rest = apply(Apply::Rem, [leaf.clone(), Expr::Constant(open.div)]);
            let divides = match open.div {
                1 => Expr::Constant(1),
                _ => apply(Apply::Eq, [rest, Expr::Constant(0)]),
            };
            let is_positive = apply(Apply::Le, [Expr::Constant(0), leaf.clone()]);
            let name = view.name_of_memory();
            let message = format!(
                "expected extents and strides of a view of {name} that its type {layout} has: none negative, and multiples of what it says"
            );
            self.hold(view.op, both(is_positive, divides), when, message)?;
        }
        Ok(())
    }

    /// Asks launches that what ops write is apart from what they read and write beside it, where both are views of one tensor or of one part of the workspace; `of` gives
    /// the span of a tensor of computes.
    ///
    /// # Errors
    /// Views that are not known to be apart, and kernels that are given two views of one tensor that no op has.
    pub(super) fn require_apart(
        &mut self,
        computes: &[Compute],
        of: impl Fn(usize) -> Option<Span<'c>>,
    ) -> Result<(), Failure> {
        let mut known: Vec<[Param; 2]> = Vec::new();
        for compute in computes {
            let roles = compute.roles();
            for (at, one) in roles.iter().enumerate() {
                for other in &roles[at + 1..] {
                    let writes = one.access.writes() || other.access.writes();
                    let (Some(first), Some(second)) = (of(one.arg), of(other.arg)) else {
                        continue;
                    };
                    if !writes || one.arg == other.arg || first.root != second.root {
                        continue;
                    }
                    let message = format!(
                        "expected {} and {} apart, as one of them is written: both are views of one tensor, and neither ends before the other one begins, nor has columns of its own; \
                         write a tensor of its own, or other views",
                        one.name, other.name
                    );
                    let is_apart = first.is_apart(&second);
                    // The op is where the later one of both was first asked for, or behind it.
                    let later = if one.arg > other.arg { &first } else { &second };
                    self.hold(later.op, is_apart, compute.condition(), message)?;
                    known.push([first.of, second.of].map(pointer_to));
                }
            }
        }
        let all = std::mem::take(&mut self.same_tensor);
        diag::each(all, |(op, pair)| {
            let [a, b] = &pair;
            let is_known = |[x, y]: &[Param; 2]| [x, y] == [a, b] || [x, y] == [b, a];
            match known.iter().any(is_known) {
                true => Ok(()),
                false => Err(diag::error(
                    op.location(),
                    "passes views of one tensor as arguments of a kernel that was promised, by cute.noalias, that what it writes is reached through one argument only; \
                     expected two tensors, or a kernel without the promise",
                )),
            }
        })
    }

    /// Asks a launch for a condition. Errors: one that never holds.
    fn hold(
        &mut self,
        op: Op<'c>,
        condition: Expr,
        when: Option<&Expr>,
        message: String,
    ) -> Result<(), Failure> {
        match condition.constant() {
            Some(0) => Err(diag::error(op.location(), message)),
            Some(_) => Ok(()),
            None => {
                let place = place_of(op.location());
                let place = place.map(|at| format!(" ({}:{}:{})", at.file, at.line, at.column));
                let message = message + &place.unwrap_or_default();
                let condition = checked(op, condition)?;
                self.require(op, when, condition, message)
            }
        }
    }
}

fn apply<const N: usize>(op: Apply, operands: [Expr; N]) -> Expr {
    Expr::apply(op, operands.to_vec())
}

/// 1 where one of two truth values holds; a known one is left out.
fn either(a: Expr, b: Expr) -> Expr {
    match (a.constant(), b.constant()) {
        (Some(0), _) => b,
        (_, Some(0)) => a,
        (Some(_), _) | (_, Some(_)) => Expr::Constant(1),
        _ => apply(Apply::Or, [a, b]),
    }
}

/// 1 where both of two truth values hold; a known one is left out.
fn both(a: Expr, b: Expr) -> Expr {
    match (a.constant(), b.constant()) {
        (Some(0), _) | (_, Some(0)) => Expr::Constant(0),
        (Some(_), _) => b,
        (_, Some(_)) => a,
        _ => apply(Apply::And, [a, b]),
    }
}
