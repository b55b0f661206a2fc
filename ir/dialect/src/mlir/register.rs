//! Dialects, passes and pipelines, made known to MLIR.

use super::{
    Op, Rewriter,
    attempts::{self, AttemptsSpec},
    changes,
    context::context_from_raw,
    ffi,
    graph::kernels,
    parts,
    parts::Kind,
};
use crate::{
    diag::{self, Failure},
    infer, library, parameters,
    plan::{Movement, Plan},
    types, verify,
};
use melior::{
    Context,
    dialect::DialectRegistry,
    ir::{Attribute, Location, OperationRef, Type, TypeLike, operation::OperationLike},
};
use mlir_sys::*;
use std::{
    ffi::{CString, c_int, c_void},
    panic::Location as Caller,
    sync::{Mutex, MutexGuard, Once, PoisonError},
};

/// An option of a pass or a pipeline, as text.
#[derive(Clone, Copy, Debug)]
pub struct OptionSpec {
    /// The name, as it is written before `=`.
    pub name: &'static str,
    /// The meaning, for `--help` and for the documentation of fields.
    pub description: &'static str,
    /// The value where none is given.
    pub default: &'static str,
}

/// The ops that a pass is called with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// The module.
    Module,
    /// The module, before its parameters and those of its functions have values. Every other pass refuses IR that declares some.
    Parametric,
    /// Each kernel, a `gpu.func`, by itself: the op that the pass is scheduled on, or all that are within it. A pipeline that
    /// schedules the pass on kernels (`gpu.module(gpu.func(...))`) has MLIR run them side by side. A kernel that fails keeps
    /// none of the others from being compiled.
    Kernel,
    /// The op that the pass is scheduled on, whichever it is.
    Any,
}

impl Anchor {
    /// The names of the ops that MLIR may schedule the pass on, separated by commas; empty for any.
    fn scheduled_on(self) -> &'static str {
        match self {
            Anchor::Module | Anchor::Parametric => "builtin.module",
            Anchor::Kernel => "builtin.module,gpu.module,gpu.func",
            Anchor::Any => "",
        }
    }
}

/// The function of a pass. It is called with the right to erase, the operation and its options' values, in the order in
/// which they are declared. It emits its own diagnostics. Passes run on several threads at once.
pub type RunPass = for<'c> fn(&'c Rewriter<'c>, Op<'c>, &[&str]) -> Result<(), Failure>;

/// A pass, known to MLIR by name.
#[derive(Clone, Copy, Debug)]
pub struct PassSpec {
    /// The name, as it is written in a pipeline.
    pub name: &'static str,
    /// The purpose in a sentence, for `--help`.
    pub description: &'static str,
    /// The ops that it is called with.
    pub anchor: Anchor,
    /// The options, in the order in which their values are passed.
    pub options: &'static [OptionSpec],
    /// The function that does the work.
    pub run: RunPass,
}

/// A named pipeline: options in, a textual pipeline out, or what is wrong with the options.
#[derive(Clone, Copy, Debug)]
pub struct PipelineSpec {
    /// The name, as it is written on the command line.
    pub name: &'static str,
    /// The purpose in a sentence, for `--help`.
    pub description: &'static str,
    /// The options, for `--help`; the text of all is passed as one.
    pub options: &'static [OptionSpec],
    /// The function that makes the textual pipeline of the text of the options.
    pub build: fn(&str) -> Result<String, String>,
}

static PASSES: Mutex<Vec<PassSpec>> = Mutex::new(Vec::new());
static ATTEMPTS: Mutex<Vec<AttemptsSpec>> = Mutex::new(Vec::new());
static PIPELINES: Mutex<Vec<PipelineSpec>> = Mutex::new(Vec::new());

/// The number of the first pass of attempts among all passes.
const FIRST_ATTEMPTS: isize = 1 << 20;

fn lock<T>(list: &Mutex<T>) -> MutexGuard<'_, T> {
    list.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Installs the callbacks and registers the upstream passes, once in a process.
pub fn initialize() {
    static ONCE: Once = Once::new();
    // SAFETY: the callbacks are set once, before anything that calls them; they are functions of this file and of `parts`.
    ONCE.call_once(|| unsafe {
        ffi::cuteSetCallbacks(&ffi::CuteCallbacks {
            canonicalize,
            verify_parts,
            verify_op,
            infer_types,
            operand_types,
            compatible,
            speculatable,
            verify_attribute,
            run_pass,
            new_table: parts::new_table,
            drop_table: parts::drop_table,
            build_pipeline,
            reworded,
            text_around,
            value_before,
            set_input,
            verify_symbols,
            verify_parameters,
        });
        ffi::cuteRegisterUpstreamPasses();
    });
}

/// Makes passes and pipelines known to MLIR, whose registries are the process's. A name that is
/// registered already is passed over.
pub fn register(passes: &[PassSpec], attempts: &[AttemptsSpec], pipelines: &[PipelineSpec]) {
    initialize();
    let mut known = lock(&ATTEMPTS);
    for pass in attempts {
        if known.iter().any(|other| other.name == pass.name) {
            continue;
        }
        let options = raw_options(pass.options);
        // SAFETY: the texts are static, and the shim copies the list.
        unsafe {
            ffi::cuteRegisterPass(
                FIRST_ATTEMPTS + known.len() as isize,
                ffi::string_ref(pass.name),
                ffi::string_ref(pass.description),
                ffi::string_ref(Anchor::Module.scheduled_on()),
                options.len() as isize,
                options.as_ptr(),
            );
        }
        known.push(*pass);
    }
    let mut known = lock(&PASSES);
    for pass in passes {
        if known.iter().any(|other| other.name == pass.name) {
            continue;
        }
        let options = raw_options(pass.options);
        // SAFETY: the texts are static, and the shim copies the list.
        unsafe {
            ffi::cuteRegisterPass(
                known.len() as isize,
                ffi::string_ref(pass.name),
                ffi::string_ref(pass.description),
                ffi::string_ref(pass.anchor.scheduled_on()),
                options.len() as isize,
                options.as_ptr(),
            );
        }
        known.push(*pass);
    }
    let mut known = lock(&PIPELINES);
    for pipeline in pipelines {
        if known.iter().any(|other| other.name == pipeline.name) {
            continue;
        }
        let options = raw_options(pipeline.options);
        // SAFETY: as of a pass.
        unsafe {
            ffi::cuteRegisterPipeline(
                known.len() as isize,
                ffi::string_ref(pipeline.name),
                ffi::string_ref(pipeline.description),
                options.len() as isize,
                options.as_ptr(),
            );
        }
        known.push(*pipeline);
    }
}

fn raw_options(options: &[OptionSpec]) -> Vec<ffi::CuteOption> {
    options
        .iter()
        .map(|option| ffi::CuteOption {
            name: ffi::string_ref(option.name),
            description: ffi::string_ref(option.description),
            init: ffi::string_ref(option.default),
        })
        .collect()
}

/// A registry of both dialects, those that they lower to, and their translations to LLVM IR.
/// To embed the dialects, append it to a context of your own.
pub fn registry() -> DialectRegistry {
    initialize();
    let registry = DialectRegistry::new();
    // SAFETY: the registry lives.
    unsafe { ffi::cuteRegisterDialects(registry.to_raw()) };
    registry
}

/// A context with every dialect of [`registry`] loaded.
pub fn context() -> Context {
    let context = Context::new();
    context.append_dialect_registry(&registry());
    context.load_all_available_dialects();
    // SAFETY: the context lives.
    unsafe { ffi::cuteContextPlain(context.to_raw()) };
    context
}

/// MLIR's own `mlir-opt` driver. Returns the exit status.
pub fn opt_main(arguments: impl IntoIterator<Item = String>) -> i32 {
    call_main(arguments, ffi::cuteOptMain)
}

/// MLIR's own language server. Returns the exit status.
pub fn lsp_server_main(arguments: impl IntoIterator<Item = String>) -> i32 {
    call_main(arguments, ffi::cuteLspServerMain)
}

fn call_main(
    arguments: impl IntoIterator<Item = String>,
    main: unsafe extern "C" fn(c_int, *mut *mut std::ffi::c_char) -> c_int,
) -> i32 {
    let arguments: Vec<CString> = arguments
        .into_iter()
        .filter_map(|text| CString::new(text).ok())
        .collect();
    let mut pointers: Vec<_> = arguments
        .iter()
        .map(|text| text.as_ptr().cast_mut())
        .collect();
    let count = pointers.len() as c_int;
    pointers.push(std::ptr::null_mut());
    // SAFETY: as C has it: so many texts, which outlive the call, and a null behind them.
    unsafe { main(count, pointers.as_mut_ptr()) }
}

//===-- Callbacks ---------------------------------------------------------===//
// The shim calls these as `cute.h` says: what it hands over lives, in its context, until they return; a sink takes any text.

unsafe fn answer(text: &str, sink: ffi::StringSink, user: *mut c_void) {
    // SAFETY: the shim's, as above.
    unsafe { sink(ffi::string_ref(text), user) }
}

/// Sends the good or the bad text to `sink`; a panic is a bad text.
unsafe fn reply(
    sink: ffi::StringSink,
    user: *mut c_void,
    body: impl FnOnce() -> Result<String, String> + std::panic::UnwindSafe,
) -> bool {
    let result = std::panic::catch_unwind(body)
        .unwrap_or_else(|_| Err("internal error: please report it with the input".to_owned()));
    match result {
        Ok(text) => {
            // SAFETY: the shim's, as above.
            unsafe { answer(&text, sink, user) };
            true
        }
        Err(text) => {
            // SAFETY: the shim's, as above.
            unsafe { answer(&text, sink, user) };
            false
        }
    }
}

unsafe fn utf8(text: MlirStringRef) -> Result<&'static str, String> {
    // SAFETY: the shim's, as above.
    std::str::from_utf8(unsafe { ffi::bytes(text) })
        .map_err(|error| format!("expected UTF-8 text: {error}"))
}

unsafe extern "C" fn reworded(
    message: MlirStringRef,
    file: MlirStringRef,
    line: usize,
    column: usize,
    sink: ffi::StringSink,
    user: *mut c_void,
) -> bool {
    // SAFETY: the shim's, as above.
    unsafe {
        reply(sink, user, || {
            let (message, file) = (utf8(message)?, utf8(file)?);
            Ok(library::reworded(message, file, line, column))
        })
    }
}

unsafe extern "C" fn text_around(
    file: MlirStringRef,
    line: usize,
    sink: ffi::StringSink,
    user: *mut c_void,
) -> bool {
    // SAFETY: the shim's, as above.
    let Ok(file) = (unsafe { utf8(file) }) else {
        return false;
    };
    let found = library::with_text(file, line, |text, _| {
        // SAFETY: the shim's, as above.
        unsafe { answer(text, sink, user) }
    });
    found.is_some()
}

unsafe extern "C" fn value_before(
    file: MlirStringRef,
    line: usize,
    column: usize,
    text: MlirStringRef,
    sink: ffi::StringSink,
    user: *mut c_void,
) -> bool {
    // SAFETY: the shim's, as above.
    let given = unsafe { utf8(file).and_then(|file| Ok((file, utf8(text)?))) };
    let Ok((file, text)) = given else {
        return false;
    };
    // SAFETY: the shim's, as above.
    unsafe {
        reply(sink, user, || {
            library::value_before(file, text, line, column).ok_or_else(String::new)
        })
    }
}

unsafe extern "C" fn set_input(
    name: MlirStringRef,
    text: MlirStringRef,
    marker: MlirStringRef,
    sink: ffi::StringSink,
    user: *mut c_void,
) {
    // SAFETY: the shim's, as above.
    let given = unsafe { (utf8(name), utf8(text), utf8(marker)) };
    // Bytecode is no text.
    if let (Ok(name), Ok(text), Ok(marker)) = given {
        let read = library::respelled(text);
        library::set_input(name, &read, marker);
        if let std::borrow::Cow::Owned(read) = &read {
            // SAFETY: the sink is the shim's, and takes a copy of the text.
            unsafe { sink(ffi::string_ref(read), user) };
        }
    }
}

unsafe extern "C" fn canonicalize(
    kind: c_int,
    text: MlirStringRef,
    sink: ffi::StringSink,
    user: *mut c_void,
) -> bool {
    // SAFETY: the shim's, as above.
    unsafe {
        reply(sink, user, || {
            if kind == ffi::EXPRESSION {
                return types::canonical_expression(utf8(text)?);
            }
            let kind = usize::try_from(kind)
                .ok()
                .and_then(|at| parts::KINDS.get(at));
            types::canonicalize(*kind.ok_or("unknown kind of type")?, utf8(text)?)
        })
    }
}

unsafe extern "C" fn verify_parts(
    parts: *const ffi::CuteParts,
    sink: ffi::StringSink,
    user: *mut c_void,
) -> bool {
    // SAFETY: the shim's, as above.
    unsafe {
        let parts = &*parts;
        reply(
            sink,
            user,
            std::panic::AssertUnwindSafe(|| {
                let parts = parts::Parts::from_raw(parts)?;
                match parts.kind {
                    Kind::Movement => Movement::from_parts(&parts)?.verify(),
                    Kind::Plan => Plan::from_parts(&parts)?.verify(),
                    _ => types::CuteType::from_parts(&parts)?.verify(),
                }
                .map(|()| String::new())
            }),
        )
    }
}

unsafe extern "C" fn verify_op(op: MlirOperation) -> bool {
    // SAFETY: the shim's, as above.
    let op = unsafe { OperationRef::from_raw(op) };
    diag::catch_panics(op.location(), "a verifier", || verify::verify(op)).is_ok()
}

unsafe extern "C" fn verify_symbols(op: MlirOperation) -> bool {
    // SAFETY: the shim's, as above.
    let op = unsafe { OperationRef::from_raw(op) };
    diag::catch_panics(op.location(), "a verifier", || verify::verify_symbols(op)).is_ok()
}

unsafe extern "C" fn verify_parameters(op: MlirOperation) -> bool {
    // SAFETY: the shim's, as above.
    let op = unsafe { OperationRef::from_raw(op) };
    diag::catch_panics(op.location(), "a verifier", || {
        parameters::verify_declared(op)
    })
    .is_ok()
}

unsafe extern "C" fn infer_types(
    op: MlirStringRef,
    context: MlirContext,
    location: MlirLocation,
    num_operands: isize,
    operands: *const MlirValue,
    attributes: MlirAttribute,
    sink: ffi::TypeSink,
    user: *mut c_void,
) -> bool {
    // SAFETY: the shim's, as above.
    unsafe {
        let location = Location::from_raw(location);
        let operands: Vec<Type> = match num_operands {
            0 => Vec::new(),
            n => std::slice::from_raw_parts(operands, n as usize)
                .iter()
                .map(|value| Type::from_raw(mlirValueGetType(*value)))
                .collect(),
        };
        let result = diag::catch_panics(location, "type inference", || {
            let name = utf8(op).map_err(|error| diag::error(location, error))?;
            let context = context_from_raw(context);
            let attributes = Attribute::from_option_raw(attributes)
                .ok_or_else(|| diag::error(location, "expected a dictionary of attributes"))?;
            let infer = || {
                infer::infer(name, context, &operands, attributes)
                    .map_err(|message| diag::error(location, format!("'{name}' op {message}")))
            };
            match infer::is_read(name, attributes) {
                true => infer(),
                false => parts::inferred(name, &operands, attributes, infer),
            }
        });
        match result {
            Ok(types) => {
                types.into_iter().for_each(|t| sink(t.to_raw(), user));
                true
            }
            Err(_) => false,
        }
    }
}

unsafe extern "C" fn operand_types(
    op: MlirStringRef,
    location: MlirLocation,
    num_operands: isize,
    result: MlirType,
    sink: ffi::TypeSink,
    user: *mut c_void,
) -> bool {
    // SAFETY: the shim's, as above.
    unsafe {
        let location = Location::from_raw(location);
        let result = Type::from_raw(result);
        let types = diag::catch_panics(location, "the types of operands", || {
            let name = utf8(op).map_err(|error| diag::error(location, error))?;
            infer::operand_types(name, num_operands as usize, result)
                .map_err(|message| diag::error(location, format!("'{name}' op {message}")))
        });
        match types {
            Ok(types) => {
                types.into_iter().for_each(|t| sink(t.to_raw(), user));
                true
            }
            Err(_) => false,
        }
    }
}

unsafe extern "C" fn compatible(inferred: MlirType, declared: MlirType) -> bool {
    // SAFETY: the shim's, as above.
    let (inferred, declared) = unsafe { (Type::from_raw(inferred), Type::from_raw(declared)) };
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        infer::compatible(inferred, declared)
    }))
    .unwrap_or(false)
}

unsafe extern "C" fn speculatable(op: MlirOperation) -> bool {
    // SAFETY: the shim's, as above.
    let op = unsafe { OperationRef::from_raw(op) };
    diag::catch_panics(op.location(), "an op's speculatability", || {
        Ok(infer::speculatable(op))
    })
    .unwrap_or(false)
}

unsafe extern "C" fn verify_attribute(
    op: MlirOperation,
    place: c_int,
    index: isize,
    name: MlirStringRef,
    value: MlirAttribute,
) -> bool {
    // SAFETY: the shim's, as above.
    let (op, value) = unsafe { (OperationRef::from_raw(op), Attribute::from_raw(value)) };
    diag::catch_panics(op.location(), "a verifier", || {
        // SAFETY: the shim's, as above.
        let name = unsafe { utf8(name) }.map_err(|error| diag::error(op.location(), error))?;
        let place = match place {
            0 => verify::Place::Op,
            1 => verify::Place::Argument(index as usize),
            _ => verify::Place::Result(index as usize),
        };
        verify::attribute(op, place, name, value)
    })
    .is_ok()
}

unsafe extern "C" fn run_pass(
    index: isize,
    op: MlirOperation,
    num_options: isize,
    options: *const MlirStringRef,
) -> c_int {
    // SAFETY: the shim's, as above.
    let done = unsafe {
        let options: Vec<&str> = match num_options {
            0 => Vec::new(),
            n => std::slice::from_raw_parts(options, n as usize)
                .iter()
                .map(|text| utf8(*text).unwrap_or_default())
                .collect(),
        };
        match usize::try_from(index - FIRST_ATTEMPTS) {
            Ok(index) => {
                let Some(pass) = lock(&ATTEMPTS).get(index).copied() else {
                    return ffi::PASS_FAILED;
                };
                let run = std::panic::AssertUnwindSafe(|| attempts::run(&pass, op, &options));
                std::panic::catch_unwind(run)
                    .unwrap_or(false)
                    .then_some(true)
            }
            Err(_) => {
                let Some(pass) = lock(&PASSES).get(index as usize).copied() else {
                    return ffi::PASS_FAILED;
                };
                run_on_op(&pass, op, &options)
            }
        }
    };
    match done {
        None => ffi::PASS_FAILED,
        Some(true) => ffi::PASS_CHANGED,
        Some(false) => ffi::PASS_UNCHANGED,
    }
}

/// Runs a pass, and tells whether it has changed anything; nothing where it has failed, which diagnostics have said.
///
/// # Safety
/// The op is that of the pass that this thread runs, and nobody has a handle of it or of what is within it.
unsafe fn run_on_op(pass: &PassSpec, op: MlirOperation, options: &[&str]) -> Option<bool> {
    let before = changes::so_far();
    // SAFETY: the op lives. Builds for tests see whether all that changes IR counts.
    let fingerprint = cfg!(debug_assertions).then(|| unsafe { ffi::cuteOpFingerprint(op) });
    // SAFETY: the caller's.
    let done = unsafe {
        Rewriter::scope(op, |rewriter, op| {
            if pass.anchor != Anchor::Parametric && parameters::have_values(pass.name, op).is_err()
            {
                return false;
            }
            let on = match pass.anchor {
                Anchor::Module | Anchor::Parametric | Anchor::Any => vec![op],
                Anchor::Kernel => kernels(op),
            };
            let done = diag::each(on, |op| {
                let run = || (pass.run)(rewriter, op, options);
                diag::catch_panics(op.location(), pass.name, run)
            });
            done.is_ok()
        })
    };
    let changed = changes::so_far() != before;
    if let Some(before) = fingerprint.filter(|_| done && !changed) {
        // SAFETY: the op lives.
        let (after, op) = unsafe { (ffi::cuteOpFingerprint(op), OperationRef::from_raw(op)) };
        if after != before {
            let text = format!("{} has changed IR, and nothing has counted it", pass.name);
            diag::bug(op.location(), Caller::caller(), &text);
            return None;
        }
    }
    done.then_some(changed)
}

unsafe extern "C" fn build_pipeline(
    index: isize,
    options: MlirStringRef,
    sink: ffi::StringSink,
    user: *mut c_void,
) -> bool {
    // SAFETY: the shim's, as above.
    unsafe {
        reply(sink, user, || {
            let options = utf8(options)?;
            let pipeline = lock(&PIPELINES).get(index as usize).copied();
            let pipeline = pipeline.ok_or_else(|| "unknown pipeline".to_owned())?;
            (pipeline.build)(options)
        })
    }
}
