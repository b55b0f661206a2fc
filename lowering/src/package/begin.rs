//! The places where views begin: the argument, or the part of the workspace, and the byte of it.

use super::plan::{HostPlan, bits, checked};
use cute_ir::{
    Failure, diag,
    mlir::{Op, Val, block_argument, defining_op, key, name_of, operands_of, place_of},
    ops::cute,
    types::{self, CuteType, memref_of},
};
use cute_layout::IntTuple;
use cute_runtime::package::{Expr, MapOf, Op as Apply, Param, ViewOf};
use cute_runtime::tensor_map::{GRANULE, is_map_start};
use melior::ir::{ValueLike, operation::OperationLike};

/// Bytes of which a tensor map begins at a multiple.
const MAP_START: i64 = GRANULE as i64;

impl<'c> HostPlan<'c> {
    /// The pointer that a launch passes, into an argument or into the workspace; nothing for other values.
    pub(super) fn pointer(
        &mut self,
        launch: Op<'c>,
        value: Val<'c>,
    ) -> Result<Option<Param>, Failure> {
        if bits(value.r#type()).is_some() {
            return Ok(None);
        }
        Ok(self.begin(launch, value)?.map(pointer_to))
    }

    /// The place where a tensor, or what a pointer leads to, begins; nothing where it is neither in an argument nor in the workspace. `user` is where errors are
    /// reported that have no better place.
    pub(super) fn begin(
        &mut self,
        user: Op<'c>,
        value: Val<'c>,
    ) -> Result<Option<ViewOf>, Failure> {
        let (start, steps) = start_and_steps(value);
        if let Some([before, _]) = self.parts.get(&key(start)).cloned() {
            let offset = self.offset(user, &steps)?;
            return Ok(Some(ViewOf::Workspace(sum(before, offset))));
        }
        let Some((_, tensor)) = block_argument(start).filter(|_| memref_of(start).is_some()) else {
            return Ok(None);
        };
        Ok(Some(match self.offset(user, &steps)? {
            Expr::Constant(0) => ViewOf::Argument(tensor),
            offset => ViewOf::Byte { tensor, offset },
        }))
    }

    /// The bytes of some steps together.
    fn offset(&mut self, user: Op<'c>, steps: &[cute::AddOffset<'c>]) -> Result<Expr, Failure> {
        let mut all = Expr::Constant(0);
        for step in steps {
            let op = step.op();
            let fail = |message: &str| Err(diag::error(op.location(), message));
            let Some(CuteType::Ptr(pointer)) = CuteType::of(step.iter().r#type()) else {
                return fail("expected a step from a pointer to elements");
            };
            let size = types::element_bits(pointer.element).unwrap_or(0);
            if size == 0 || size % 8 != 0 {
                return fail("expected a step over elements of whole bytes");
            }
            let Some(CuteType::IntTuple(IntTuple::Leaf(leaf))) =
                CuteType::of(step.offset().r#type())
            else {
                return fail("expected a step over one number of elements");
            };
            let elements = match (leaf.as_static(), integers_of(step.offset()).as_deref()) {
                (Some(elements), _) => Expr::Constant(elements),
                (None, Some(&[elements])) => self.expression(user, elements)?,
                _ => {
                    return fail(
                        "expected a step over a number of elements that integers of the function say",
                    );
                }
            };
            let bytes = Expr::Constant(size / 8);
            all = sum(all, Expr::apply(Apply::Mul, vec![elements, bytes]));
        }
        let all = checked(user, all)?;
        self.shared(user, all)
    }

    /// The same tensor for a tensor map, which begins at a multiple of 16 bytes. Errors: it does not. Where only a launch knows, the launch is asked.
    pub(super) fn begin_of_map(
        &mut self,
        atom: Val<'c>,
        launch: Op<'c>,
        (of, like): (ViewOf, usize),
    ) -> Result<MapOf, Failure> {
        let here = defining_op(atom).unwrap_or(launch);
        let place = match &of {
            ViewOf::Argument(tensor) => return Ok(MapOf::Tensor(*tensor)),
            ViewOf::Byte { tensor, .. } => format!("argument {tensor}"),
            ViewOf::Workspace(_) => "the workspace".to_owned(),
        };
        let needs = format!(
            "expected a view that begins at a multiple of {MAP_START} bytes of {place}, as a tensor map does, for the TMA atom"
        );
        let cure = "begin it at another element, or copy it by cp.async";
        let offset = of.offset().cloned().unwrap_or(Expr::Constant(0));
        match offset.constant() {
            Some(known) if is_map_start(known) => {}
            Some(wrong) => {
                return Err(diag::error(
                    here.location(),
                    format!("{needs}, found byte {wrong}; {cure}"),
                ));
            }
            // A type may promise it, which nobody has looked at.
            None if !self.is_part(&offset) => {
                let rest = vec![offset.clone(), Expr::Constant(MAP_START)];
                let rest = Expr::apply(Apply::Rem, rest);
                let condition = Expr::apply(Apply::Eq, vec![rest, Expr::Constant(0)]);
                let place = place_of(here.location());
                let place = place.map(|at| format!(" at {}:{}:{}", at.file, at.line, at.column));
                let message = format!("{needs}{}; {cure}", place.unwrap_or_default());
                self.map_starts.push((condition, message));
            }
            None => {}
        }
        Ok(match of {
            ViewOf::Byte { tensor, offset } => MapOf::Byte { tensor, offset },
            ViewOf::Argument(tensor) => MapOf::Tensor(tensor),
            ViewOf::Workspace(workspace) => MapOf::Workspace { like, workspace },
        })
    }

    /// Tells whether a byte of the workspace is where a part of it begins, at a multiple of what all are aligned to.
    fn is_part(&self, offset: &Expr) -> bool {
        self.parts.values().any(|[first, _]| first == offset)
    }
}

/// The pointer to where a view begins.
pub(super) fn pointer_to(of: ViewOf) -> Param {
    match of {
        ViewOf::Argument(tensor) => Param::Pointer(tensor),
        ViewOf::Byte { tensor, offset } => Param::Byte { tensor, offset },
        ViewOf::Workspace(offset) => Param::Workspace(offset),
    }
}

/// The sum of two expressions, of which one may be 0.
fn sum(a: Expr, b: Expr) -> Expr {
    match (&a, &b) {
        (Expr::Constant(0), _) => b,
        (_, Expr::Constant(0)) => a,
        _ => Expr::apply(Apply::Add, vec![a, b]),
    }
}

/// The dynamic leaves of a layout that ops of the function make of integers; nothing for a layout that comes of anything else.
pub(super) fn integers_of(layout: Val<'_>) -> Option<Vec<Val<'_>>> {
    if bits(layout.r#type()).is_some() {
        return Some(vec![layout]);
    }
    let op = defining_op(layout)?;
    match name_of(op) {
        cute::STATIC => Some(Vec::new()),
        cute::MAKE_LAYOUT | cute::MAKE_SHAPE | cute::MAKE_STRIDE | cute::MAKE_INT_TUPLE => {
            let of = operands_of(op).into_iter().map(integers_of);
            Some(of.collect::<Option<Vec<_>>>()?.concat())
        }
        _ => None,
    }
}

/// The value whose pointer it is that a cast, a view or a view's start is of: a workspace, or a tensor that is an argument.
fn start_of(value: Val<'_>) -> Val<'_> {
    let mut value = value;
    while let Some(op) = defining_op(value) {
        let start = match &operands_of(op)[..] {
            [one] if name_of(op) == "builtin.unrealized_conversion_cast" => *one,
            [one] if matches!(name_of(op), cute::GET_ITER | cute::RECAST_ITER) => *one,
            _ => match cute::MakeView::of(op) {
                Some(view) => view.iter(),
                None => break,
            },
        };
        value = start;
    }
    value
}

/// The value that [`start_of`] gives, of a view that may begin elsewhere: with the steps from there to where it begins.
pub(super) fn start_and_steps<'c>(value: Val<'c>) -> (Val<'c>, Vec<cute::AddOffset<'c>>) {
    let (mut value, mut steps) = (start_of(value), Vec::new());
    while let Some(step) = defining_op(value).and_then(cute::AddOffset::of) {
        steps.push(step);
        value = start_of(step.iter());
    }
    (value, steps)
}
