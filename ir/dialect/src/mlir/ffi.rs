//! `shim/cute.h`, as Rust sees it.

use super::parts::{MAX_ARRAYS, MAX_INTS, MAX_TEXTS, MAX_TYPES};
use mlir_sys::*;
use std::ffi::{c_char, c_int, c_void};

#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct CuteParts {
    pub kind: c_int,
    pub num_types: isize,
    pub num_texts: isize,
    pub num_ints: isize,
    pub num_arrays: isize,
    pub types: [MlirType; MAX_TYPES],
    pub texts: [MlirStringRef; MAX_TEXTS],
    pub ints: [i64; MAX_INTS],
    pub arrays: [MlirAttribute; MAX_ARRAYS],
}

impl CuteParts {
    pub(super) fn empty(kind: c_int) -> Self {
        Self {
            kind,
            num_types: 0,
            num_texts: 0,
            num_ints: 0,
            num_arrays: 0,
            types: [MlirType {
                ptr: std::ptr::null(),
            }; MAX_TYPES],
            texts: [MlirStringRef {
                data: std::ptr::null(),
                length: 0,
            }; MAX_TEXTS],
            ints: [0; MAX_INTS],
            arrays: [MlirAttribute {
                ptr: std::ptr::null(),
            }; MAX_ARRAYS],
        }
    }
}

#[repr(C)]
pub(super) struct CuteOption {
    pub name: MlirStringRef,
    pub description: MlirStringRef,
    pub init: MlirStringRef,
}

/// `CUTE_EXPRESSION`: instead of the number of a type, an integer that is computed of parameters.
pub(super) const EXPRESSION: c_int = -1;

/// `CUTE_PASS_FAILED`: a pass has failed, which diagnostics have said.
pub(super) const PASS_FAILED: c_int = 0;
/// `CUTE_PASS_CHANGED`: a pass has changed IR.
pub(super) const PASS_CHANGED: c_int = 1;
/// `CUTE_PASS_UNCHANGED`: a pass has left IR as it was.
pub(super) const PASS_UNCHANGED: c_int = 2;

pub(super) type StringSink = unsafe extern "C" fn(MlirStringRef, *mut c_void);
pub(super) type TypeSink = unsafe extern "C" fn(MlirType, *mut c_void);
pub(super) type EffectSink = unsafe extern "C" fn(c_int, MlirValue, *mut c_void);
pub(super) type FlowSink =
    unsafe extern "C" fn(isize, isize, isize, *const MlirValue, *const MlirValue, *mut c_void);

#[repr(C)]
pub(super) struct CuteCallbacks {
    pub canonicalize: unsafe extern "C" fn(c_int, MlirStringRef, StringSink, *mut c_void) -> bool,
    pub verify_parts: unsafe extern "C" fn(*const CuteParts, StringSink, *mut c_void) -> bool,
    pub verify_op: unsafe extern "C" fn(MlirOperation) -> bool,
    pub infer_types: unsafe extern "C" fn(
        MlirStringRef,
        MlirContext,
        MlirLocation,
        isize,
        *const MlirValue,
        MlirAttribute,
        TypeSink,
        *mut c_void,
    ) -> bool,
    pub operand_types: unsafe extern "C" fn(
        MlirStringRef,
        MlirLocation,
        isize,
        MlirType,
        TypeSink,
        *mut c_void,
    ) -> bool,
    pub compatible: unsafe extern "C" fn(MlirType, MlirType) -> bool,
    pub speculatable: unsafe extern "C" fn(MlirOperation) -> bool,
    pub verify_attribute:
        unsafe extern "C" fn(MlirOperation, c_int, isize, MlirStringRef, MlirAttribute) -> bool,
    pub run_pass: unsafe extern "C" fn(isize, MlirOperation, isize, *const MlirStringRef) -> c_int,
    pub new_table: unsafe extern "C" fn() -> *mut c_void,
    pub drop_table: unsafe extern "C" fn(*mut c_void),
    pub build_pipeline: unsafe extern "C" fn(isize, MlirStringRef, StringSink, *mut c_void) -> bool,
    pub reworded: unsafe extern "C" fn(
        MlirStringRef,
        MlirStringRef,
        usize,
        usize,
        StringSink,
        *mut c_void,
    ) -> bool,
    pub text_around: unsafe extern "C" fn(MlirStringRef, usize, StringSink, *mut c_void) -> bool,
    pub value_before: unsafe extern "C" fn(
        MlirStringRef,
        usize,
        usize,
        MlirStringRef,
        StringSink,
        *mut c_void,
    ) -> bool,
    pub set_input:
        unsafe extern "C" fn(MlirStringRef, MlirStringRef, MlirStringRef, StringSink, *mut c_void),
    pub verify_symbols: unsafe extern "C" fn(MlirOperation) -> bool,
    pub verify_parameters: unsafe extern "C" fn(MlirOperation) -> bool,
}

unsafe extern "C" {
    pub(super) fn cuteSetCallbacks(callbacks: *const CuteCallbacks);
    pub(super) fn cuteRegisterDialects(registry: MlirDialectRegistry);
    pub(super) fn cuteRegisterUpstreamPasses();
    pub(super) fn cuteContextPlain(context: MlirContext);
    pub(super) fn cuteTypeGetParts(r#type: MlirType, parts: *mut CuteParts) -> bool;
    pub(super) fn cuteAttributeGetParts(attribute: MlirAttribute, parts: *mut CuteParts) -> bool;
    pub(super) fn cuteAttributeGet(
        location: MlirLocation,
        parts: *const CuteParts,
    ) -> MlirAttribute;
    pub(super) fn cuteTypeGet(location: MlirLocation, parts: *const CuteParts) -> MlirType;
    pub(super) fn cuteTypeTable(r#type: MlirType) -> *mut c_void;
    pub(super) fn cuteOpDropReferences(op: MlirOperation);
    pub(super) fn cuteOpFingerprint(op: MlirOperation) -> u64;
    pub(super) fn cuteMeantOp(
        context: MlirContext,
        name: MlirStringRef,
        sink: StringSink,
        user: *mut c_void,
    );
    pub(super) fn cuteTargetGet(
        target: MlirAttribute,
        chip: *mut MlirStringRef,
        features: *mut MlirStringRef,
    ) -> bool;
    pub(super) fn cuteModuleParse(
        context: MlirContext,
        text: MlirStringRef,
        name: MlirStringRef,
    ) -> MlirModule;
    pub(super) fn cuteMendTypes(
        context: MlirContext,
        text: MlirStringRef,
        name: MlirStringRef,
        sink: unsafe extern "C" fn(isize, isize, MlirStringRef, *mut c_void),
        user: *mut c_void,
    ) -> bool;
    pub(super) fn cuteRunWithin(
        op: MlirOperation,
        pipeline: MlirStringRef,
        said: *mut *mut c_void,
    ) -> bool;
    pub(super) fn cuteRelease(context: MlirContext, said: *mut c_void, emits: bool);
    pub(super) fn cuteTakeContents(module: MlirOperation, other: MlirOperation);
    pub(super) fn cuteRegisterPass(
        index: isize,
        name: MlirStringRef,
        description: MlirStringRef,
        anchors: MlirStringRef,
        num_options: isize,
        options: *const CuteOption,
    );
    pub(super) fn cuteRegisterPipeline(
        index: isize,
        name: MlirStringRef,
        description: MlirStringRef,
        num_options: isize,
        options: *const CuteOption,
    );
    pub(super) fn cuteEmitError(
        location: MlirLocation,
        message: MlirStringRef,
        num_notes: isize,
        note_locations: *const MlirLocation,
        notes: *const MlirStringRef,
    );
    pub(super) fn cuteEmitRemark(location: MlirLocation, message: MlirStringRef);
    pub(super) fn cuteWalkTypes(
        op: MlirOperation,
        sink: unsafe extern "C" fn(MlirType, *mut c_void),
        user: *mut c_void,
    );
    pub(super) fn cuteReplaceParameters(
        op: MlirOperation,
        r#type: unsafe extern "C" fn(MlirType, *mut c_void) -> MlirType,
        text: unsafe extern "C" fn(c_int, MlirStringRef, *mut c_void) -> MlirAttribute,
        user: *mut c_void,
    );
    pub(super) fn cuteEmitWarning(
        location: MlirLocation,
        message: MlirStringRef,
        num_notes: isize,
        note_locations: *const MlirLocation,
        notes: *const MlirStringRef,
    );
    pub(super) fn cuteOpEffects(op: MlirOperation, sink: EffectSink, user: *mut c_void) -> bool;
    pub(super) fn cuteOpFlow(op: MlirOperation, sink: FlowSink, user: *mut c_void) -> bool;
    pub(super) fn cuteOptMain(argc: c_int, argv: *mut *mut c_char) -> c_int;
    pub(super) fn cuteLspServerMain(argc: c_int, argv: *mut *mut c_char) -> c_int;
}

pub(super) fn string_ref(text: &str) -> MlirStringRef {
    MlirStringRef {
        data: text.as_ptr().cast(),
        length: text.len(),
    }
}

/// A sink that adds text to a `String`.
///
/// # Safety
/// `text` outlives the call, and `user` is a `String` that nobody else has meanwhile.
pub(super) unsafe extern "C" fn append(text: MlirStringRef, user: *mut c_void) {
    // SAFETY: the caller's.
    let (said, text) = unsafe { (&mut *user.cast::<String>(), bytes(text)) };
    said.push_str(&String::from_utf8_lossy(text));
}

/// # Safety
/// `text` must point at `length` bytes that outlive `'a`.
pub(super) unsafe fn bytes<'a>(text: MlirStringRef) -> &'a [u8] {
    if text.length == 0 {
        return &[];
    }
    // SAFETY: the caller's.
    unsafe { std::slice::from_raw_parts(text.data.cast(), text.length) }
}
