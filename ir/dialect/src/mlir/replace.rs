//! The types and the attributes of an op that name parameters, and others in their places.

use super::{
    Op, changes, ffi,
    parts::{KINDS, Kind},
};
use crate::diag;
use melior::ir::{Attribute, AttributeLike, Location, Type, TypeLike, operation::OperationLike};
use mlir_sys::*;
use std::ffi::{c_int, c_void};

/// An attribute that names parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Text {
    /// `#cute.param`: the name of one, or an integer that is computed of some.
    Expression,
    /// A value of the layout algebra, of the kind of the type of the same name.
    Value(Kind),
}

struct Given<'c, 'f> {
    at: Location<'c>,
    ty: &'f mut dyn FnMut(Type<'c>) -> Option<Type<'c>>,
    text: &'f mut dyn FnMut(Text, &str) -> Option<Attribute<'c>>,
}

/// Puts what `ty` and `text` give in place of the types and attributes of `op` that name parameters: in its results, its attributes and the
/// arguments of its regions, not in the ops within. What they give nothing for stays.
pub(crate) fn replace_parameters<'c>(
    op: Op<'c>,
    ty: &mut dyn FnMut(Type<'c>) -> Option<Type<'c>>,
    text: &mut dyn FnMut(Text, &str) -> Option<Attribute<'c>>,
) {
    unsafe extern "C" fn on_type(it: MlirType, user: *mut c_void) -> MlirType {
        // SAFETY: `user` is the pair below, which nobody else has meanwhile.
        let given = unsafe { &mut *user.cast::<Given<'_, '_>>() };
        // SAFETY: the type is one of the op's context.
        let it = unsafe { Type::from_raw(it) };
        let answer = diag::catch_panics(given.at, "a parameter", || Ok((given.ty)(it)));
        match answer.ok().flatten() {
            Some(ty) => ty.to_raw(),
            None => MlirType {
                ptr: std::ptr::null(),
            },
        }
    }
    unsafe extern "C" fn on_text(
        kind: c_int,
        text: MlirStringRef,
        user: *mut c_void,
    ) -> MlirAttribute {
        // SAFETY: as above.
        let given = unsafe { &mut *user.cast::<Given<'_, '_>>() };
        // SAFETY: the text is an attribute's own.
        let text = std::str::from_utf8(unsafe { ffi::bytes(text) }).unwrap_or_default();
        let kind = match kind {
            ffi::EXPRESSION => Some(Text::Expression),
            kind => usize::try_from(kind)
                .ok()
                .and_then(|at| KINDS.get(at))
                .map(|kind| Text::Value(*kind)),
        };
        let answer = || Ok(kind.and_then(|kind| (given.text)(kind, text)));
        match diag::catch_panics(given.at, "a parameter", answer)
            .ok()
            .flatten()
        {
            Some(attribute) => attribute.to_raw(),
            None => MlirAttribute {
                ptr: std::ptr::null(),
            },
        }
    }
    changes::count();
    let at = op.location();
    let mut given = Given { at, ty, text };
    // SAFETY: the op lives, and the pair outlives the call.
    unsafe {
        let user = std::ptr::from_mut(&mut given).cast();
        ffi::cuteReplaceParameters(op.to_raw(), on_type, on_text, user);
    }
}
