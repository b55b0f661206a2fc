//! Effects of ops on memory, and the ways control takes through its regions, as MLIR's interfaces say.

use super::{Op, Val, ffi};
use crate::types::CuteType;
use melior::ir::{Value, ValueLike};
use mlir_sys::MlirValue;
use std::ffi::{c_int, c_void};

/// The kind of an effect on memory (MLIR, `SideEffectInterfaces.td`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EffectKind {
    /// Memory comes into being.
    Allocate,
    /// Memory ends.
    Free,
    /// Memory is read.
    Read,
    /// Memory is written.
    Write,
}

/// One effect of an op: its kind, and the value of the tensor or the pipeline that it is on, where it is on one.
#[derive(Clone, Copy, Debug)]
pub struct Effect<'c> {
    /// The kind of the effect.
    pub kind: EffectKind,
    /// The tensor or the pipeline; none where the effect is on nothing that is a value.
    pub value: Option<Val<'c>>,
}

/// The effects of `op` and of the ops within it; nothing where one of them does not say what it does.
pub fn effects_of<'c>(op: Op<'c>) -> Option<Vec<Effect<'c>>> {
    unsafe extern "C" fn sink(kind: c_int, value: MlirValue, user: *mut c_void) {
        let kind = match kind {
            0 => EffectKind::Allocate,
            1 => EffectKind::Free,
            2 => EffectKind::Read,
            _ => EffectKind::Write,
        };
        // SAFETY: `user` is the list below, which nothing else holds during the call; a value lives as long as its op.
        unsafe {
            let effects = &mut *user.cast::<Vec<Effect<'_>>>();
            let value = (!value.ptr.is_null()).then(|| Value::from_raw(value));
            effects.push(Effect { kind, value });
        }
    }
    let mut effects: Vec<Effect<'c>> = Vec::new();
    // SAFETY: the op lives; the sink is handed the list, for the call only.
    let known = unsafe { ffi::cuteOpEffects(op.to_raw(), sink, (&raw mut effects).cast()) };
    // The elements of coordinate tensors are computed, and are in no memory.
    effects.retain(|effect| !effect.value.is_some_and(is_coordinates));
    known.then_some(effects)
}

fn is_coordinates(value: Val<'_>) -> bool {
    matches!(
        super::read(value.r#type()),
        Some(CuteType::CoordTensor { .. })
    )
}

/// Tells whether an op, with all that is within it, only computes its results: it neither touches memory nor makes any.
pub fn is_pure(op: Op<'_>) -> bool {
    effects_of(op).is_some_and(|effects| effects.is_empty())
}

/// A place between the regions of an op: before or behind it, or one of its regions.
pub type RegionPoint = Option<usize>;

/// One way that control takes through the regions of an op (MLIR, `RegionBranchOpInterface`).
#[derive(Clone, Debug)]
pub struct Way<'c> {
    /// The region that control comes from; nothing where it comes from before the op.
    pub from: RegionPoint,
    /// The region that control goes to; nothing where it goes on behind the op.
    pub to: RegionPoint,
    /// The values that go along, each with the argument or the result that it becomes.
    pub values: Vec<(Val<'c>, Val<'c>)>,
}

impl Way<'_> {
    /// Tells whether it leads back to a region that was gone through, or stays in one.
    pub fn is_back(&self) -> bool {
        self.from.is_some() && self.to.is_some() && self.to <= self.from
    }
}

/// Tells whether a region of `op` may be gone through again: it says so, or has regions and does not say.
pub fn may_repeat(op: Op<'_>) -> bool {
    ways_of(op).is_none_or(|ways| ways.iter().any(Way::is_back))
}

/// The ways of control through the regions of `op`, none where it has no regions; nothing where it has regions and does not
/// say.
pub fn ways_of<'c>(op: Op<'c>) -> Option<Vec<Way<'c>>> {
    unsafe extern "C" fn sink(
        from: isize,
        to: isize,
        count: isize,
        values: *const MlirValue,
        inputs: *const MlirValue,
        user: *mut c_void,
    ) {
        // SAFETY: `user` is the list below, which nothing else holds during the call; both arrays have `count` values, which
        // live as long as their ops and blocks.
        unsafe {
            let ways = &mut *user.cast::<Vec<Way<'_>>>();
            let pairs = (0..usize::try_from(count).unwrap_or(0)).map(|i| {
                (
                    Value::from_raw(*values.add(i)),
                    Value::from_raw(*inputs.add(i)),
                )
            });
            ways.push(Way {
                from: usize::try_from(from).ok(),
                to: usize::try_from(to).ok(),
                values: pairs.collect(),
            });
        }
    }
    let mut ways: Vec<Way<'c>> = Vec::new();
    // SAFETY: the op lives; the sink is handed the list, for the call only.
    let known = unsafe { ffi::cuteOpFlow(op.to_raw(), sink, (&raw mut ways).cast()) };
    known.then_some(ways)
}
