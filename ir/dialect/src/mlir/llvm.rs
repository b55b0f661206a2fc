//! LLVM's NVPTX back end, through LLVM's C interface: a `gpu.module` in the LLVM dialect to PTX.
//!
//! mlir-sys links LLVM but declares none of its C functions, which are stable; those used here are
//! declared below.

use super::Op;

use std::{
    collections::HashSet,
    ffi::{CStr, CString, c_char, c_int, c_uint, c_void},
    ptr,
    sync::Once,
};

type Ref = *mut c_void;

const OPT_AGGRESSIVE: c_uint = 3;
const RELOC_DEFAULT: c_uint = 0;
const CODE_MODEL_DEFAULT: c_uint = 0;
const ASSEMBLY: c_uint = 0;

unsafe extern "C" {
    fn LLVMParseCommandLineOptions(
        count: c_int,
        arguments: *const *const c_char,
        overview: *const c_char,
    );
    fn LLVMInstallFatalErrorHandler(handler: unsafe extern "C" fn(*const c_char));
    fn LLVMInitializeNVPTXTargetInfo();
    fn LLVMInitializeNVPTXTarget();
    fn LLVMInitializeNVPTXTargetMC();
    fn LLVMInitializeNVPTXAsmPrinter();
    fn LLVMContextCreate() -> Ref;
    fn LLVMContextDispose(context: Ref);
    fn LLVMDisposeModule(module: Ref);
    fn LLVMSetTarget(module: Ref, triple: *const c_char);
    fn LLVMCreateTargetDataLayout(machine: Ref) -> Ref;
    fn LLVMSetModuleDataLayout(module: Ref, layout: Ref);
    fn LLVMDisposeTargetData(layout: Ref);
    fn LLVMGetTargetFromTriple(
        triple: *const c_char,
        target: *mut Ref,
        error: *mut *mut c_char,
    ) -> c_int;
    fn LLVMCreateTargetMachine(
        target: Ref,
        triple: *const c_char,
        cpu: *const c_char,
        features: *const c_char,
        level: c_uint,
        reloc: c_uint,
        model: c_uint,
    ) -> Ref;
    fn LLVMDisposeTargetMachine(machine: Ref);
    fn LLVMCreatePassBuilderOptions() -> Ref;
    fn LLVMDisposePassBuilderOptions(options: Ref);
    fn LLVMRunPasses(module: Ref, passes: *const c_char, machine: Ref, options: Ref) -> Ref;
    fn LLVMGetErrorMessage(error: Ref) -> *mut c_char;
    fn LLVMDisposeErrorMessage(message: *mut c_char);
    fn LLVMTargetMachineEmitToMemoryBuffer(
        machine: Ref,
        module: Ref,
        kind: c_uint,
        error: *mut *mut c_char,
        buffer: *mut Ref,
    ) -> c_int;
    fn LLVMGetBufferStart(buffer: Ref) -> *const c_char;
    fn LLVMGetBufferSize(buffer: Ref) -> usize;
    fn LLVMDisposeMemoryBuffer(buffer: Ref);
    fn LLVMDisposeMessage(message: *mut c_char);
    fn LLVMGetFirstFunction(module: Ref) -> Ref;
    fn LLVMGetNextFunction(function: Ref) -> Ref;
    fn LLVMGetFirstBasicBlock(function: Ref) -> Ref;
    fn LLVMGetNextBasicBlock(block: Ref) -> Ref;
    fn LLVMGetFirstInstruction(block: Ref) -> Ref;
    fn LLVMGetNextInstruction(instruction: Ref) -> Ref;
    fn LLVMIsACallInst(value: Ref) -> Ref;
    fn LLVMGetCalledValue(call: Ref) -> Ref;
    fn LLVMIsAInlineAsm(value: Ref) -> Ref;
    fn LLVMGetInlineAsmAsmString(assembly: Ref, length: *mut usize) -> *const c_char;
    fn LLVMGetEnumAttributeKindForName(name: *const c_char, length: usize) -> c_uint;
    fn LLVMCreateEnumAttribute(context: Ref, kind: c_uint, value: u64) -> Ref;
    fn LLVMAddCallSiteAttribute(call: Ref, index: c_uint, attribute: Ref);
    fn LLVMGetBasicBlockTerminator(block: Ref) -> Ref;
    fn LLVMGetNumSuccessors(terminator: Ref) -> c_uint;
    fn LLVMGetSuccessor(terminator: Ref, index: c_uint) -> Ref;
    fn LLVMGetMDKindIDInContext(context: Ref, name: *const c_char, length: c_uint) -> c_uint;
    fn LLVMGetMetadata(value: Ref, kind: c_uint) -> Ref;
    fn LLVMSetMetadata(value: Ref, kind: c_uint, node: Ref);
    fn LLVMMDStringInContext2(context: Ref, text: *const c_char, length: usize) -> Ref;
    fn LLVMMDNodeInContext2(context: Ref, members: *const Ref, count: usize) -> Ref;
    fn LLVMTemporaryMDNode(context: Ref, members: *const Ref, count: usize) -> Ref;
    fn LLVMMetadataReplaceAllUsesWith(temporary: Ref, node: Ref);
    fn LLVMMetadataAsValue(context: Ref, node: Ref) -> Ref;
    fn LLVMValueAsMetadata(value: Ref) -> Ref;
    fn LLVMInt1TypeInContext(context: Ref) -> Ref;
    fn LLVMConstInt(ty: Ref, value: u64, signed: c_int) -> Ref;
}

/// The index of attributes that are the call's own, not an argument's.
const FUNCTION_INDEX: c_uint = c_uint::MAX;

/// An LLVM object, and the function that frees it when it goes out of scope.
struct Owned(Ref, unsafe extern "C" fn(Ref));

impl Drop for Owned {
    fn drop(&mut self) {
        if !self.0.is_null() {
            // SAFETY: the object is owned here, and this is what frees it.
            unsafe { (self.1)(self.0) }
        }
    }
}

/// The options that LLVM has no other way to be given, behind a name of a program.
///
/// Strength reduction in loops gives each address a counter of its own, where addresses that share a base would do with an
/// addition; with this option it keeps what there was where its own is not cheaper.
const OPTIONS: [&CStr; 2] = [c"cute", c"--lsr-drop-solution"];

fn initialize() {
    static ONCE: Once = Once::new();
    // SAFETY: once in a process.
    ONCE.call_once(|| unsafe {
        LLVMInitializeNVPTXTargetInfo();
        LLVMInitializeNVPTXTarget();
        LLVMInitializeNVPTXTargetMC();
        LLVMInitializeNVPTXAsmPrinter();
        let arguments = OPTIONS.map(CStr::as_ptr);
        LLVMParseCommandLineOptions(
            OPTIONS.len() as c_int,
            arguments.as_ptr(),
            c"options of LLVM".as_ptr(),
        );
    });
}

unsafe fn take_message(message: *mut c_char) -> String {
    if message.is_null() {
        return "no message".to_owned();
    }
    // SAFETY: as LLVM's C interface has it: every object is one that it gave, and lives until it is disposed of.
    unsafe {
        let text = CStr::from_ptr(message).to_string_lossy().into_owned();
        LLVMDisposeMessage(message);
        text
    }
}

/// Each element of one of LLVM's lists.
fn each(first: Ref, next: unsafe extern "C" fn(Ref) -> Ref) -> impl Iterator<Item = Ref> {
    let some = |value: Ref| (!value.is_null()).then_some(value);
    // SAFETY: the value is an element of the list.
    std::iter::successors(some(first), move |value| some(unsafe { next(*value) }))
}

/// Instructions written as text that the threads of a warp execute together (`.sync`) must not be moved into branches, which
/// the LLVM dialect has no attribute for.
unsafe fn make_convergent(context: &Owned, llvm: &Owned) {
    // SAFETY: as LLVM's C interface has it: every object is one that it gave, and lives until it is disposed of.
    unsafe {
        let name = c"convergent";
        let kind = LLVMGetEnumAttributeKindForName(name.as_ptr(), name.count_bytes());
        let convergent = LLVMCreateEnumAttribute(context.0, kind, 0);
        let functions = each(LLVMGetFirstFunction(llvm.0), LLVMGetNextFunction);
        let blocks = functions.flat_map(|f| each(LLVMGetFirstBasicBlock(f), LLVMGetNextBasicBlock));
        let instructions =
            blocks.flat_map(|block| each(LLVMGetFirstInstruction(block), LLVMGetNextInstruction));
        for call in instructions.filter(|i| !LLVMIsACallInst(*i).is_null()) {
            let assembly = LLVMIsAInlineAsm(LLVMGetCalledValue(call));
            if assembly.is_null() {
                continue;
            }
            let mut length = 0;
            let text = LLVMGetInlineAsmAsmString(assembly, &mut length);
            let text = std::slice::from_raw_parts(text.cast::<u8>(), length);
            if text.windows(5).any(|part| part == b".sync") {
                LLVMAddCallSiteAttribute(call, FUNCTION_INDEX, convergent);
            }
        }
    }
}

/// Keeps LLVM from making loops over vectors of loops: what belongs into a vector has been put there before. LLVM 22 gives wrong
/// code for loops over bytes at `(i + c) mod 2^n`, whose vectors reach over the place where the offsets begin anew. The
/// switch of the pass builder does nothing, as `default<O2>` turns it on again.
unsafe fn keep_loops(context: &Owned, llvm: &Owned) {
    // SAFETY: as LLVM's C interface has it: every object is one that it gave, and lives until it is disposed of.
    unsafe {
        let name = c"llvm.loop";
        let length = c_uint::try_from(name.count_bytes()).unwrap_or_default();
        let kind = LLVMGetMDKindIDInContext(context.0, name.as_ptr(), length);
        let enable = c"llvm.loop.vectorize.enable";
        let enable = LLVMMDStringInContext2(context.0, enable.as_ptr(), enable.count_bytes());
        let no = LLVMConstInt(LLVMInt1TypeInContext(context.0), 0, 0);
        let property = [enable, LLVMValueAsMetadata(no)];
        let property = LLVMMDNodeInContext2(context.0, property.as_ptr(), property.len());
        for function in each(LLVMGetFirstFunction(llvm.0), LLVMGetNextFunction) {
            let blocks = each(LLVMGetFirstBasicBlock(function), LLVMGetNextBasicBlock);
            let mut before = HashSet::new();
            for block in blocks {
                before.insert(block);
                let end = LLVMGetBasicBlockTerminator(block);
                if end.is_null() || !LLVMGetMetadata(end, kind).is_null() {
                    continue;
                }
                let mut next = (0..LLVMGetNumSuccessors(end)).map(|i| LLVMGetSuccessor(end, i));
                if !next.any(|block| before.contains(&block)) {
                    continue;
                }
                // A loop's node is its own first member.
                let itself = LLVMTemporaryMDNode(context.0, ptr::null(), 0);
                let members = [itself, property];
                let node = LLVMMDNodeInContext2(context.0, members.as_ptr(), members.len());
                LLVMMetadataReplaceAllUsesWith(itself, node);
                LLVMSetMetadata(end, kind, LLVMMetadataAsValue(context.0, node));
            }
        }
    }
}

/// The PTX of a `gpu.module` whose functions are in the LLVM dialect.
pub fn ptx(module: Op<'_>, chip: &str, features: &str) -> Result<String, String> {
    LlvmModule::of(module)?.ptx(chip, features)
}

/// A module of LLVM's in a context of its own, which another thread than the one that made it may compile.
pub struct LlvmModule {
    // Freed in this order.
    module: Owned,
    context: Owned,
}

// SAFETY: the context and the module in it are nobody else's, and nothing of LLVM's in them is of the thread that made them.
unsafe impl Send for LlvmModule {}

impl LlvmModule {
    /// Translates a `gpu.module` whose functions are in the LLVM dialect. Errors: what cannot be translated, which diagnostics have said.
    pub fn of(module: Op<'_>) -> Result<Self, String> {
        initialize();
        // SAFETY: as LLVM's C interface has it: the context is owned by what is returned, as is the module.
        unsafe {
            let context = Owned(LLVMContextCreate(), LLVMContextDispose);
            let llvm = mlir_sys::mlirTranslateModuleToLLVMIR(module.to_raw(), context.0.cast());
            let module = Owned(llvm.cast(), LLVMDisposeModule);
            if module.0.is_null() {
                return Err("the module cannot be translated to LLVM IR".to_owned());
            }
            Ok(Self { module, context })
        }
    }

    /// The PTX of the module for a chip with features.
    pub fn ptx(self, chip: &str, features: &str) -> Result<String, String> {
        compile(&self.context, &self.module, chip, features)
    }
}

fn compile(context: &Owned, llvm: &Owned, chip: &str, features: &str) -> Result<String, String> {
    let text = |text: &str| CString::new(text).map_err(|_| "a name with a zero byte".to_owned());
    let (triple, chip, features) = (text("nvptx64-nvidia-cuda")?, text(chip)?, text(features)?);
    // SAFETY: as LLVM's C interface has it: every object is one that it gave, and lives until it is disposed of.
    unsafe {
        let (mut target, mut error) = (ptr::null_mut(), ptr::null_mut());
        if LLVMGetTargetFromTriple(triple.as_ptr(), &mut target, &mut error) != 0 {
            return Err(format!(
                "this LLVM has no NVPTX back end: {}",
                take_message(error)
            ));
        }
        let machine = Owned(
            LLVMCreateTargetMachine(
                target,
                triple.as_ptr(),
                chip.as_ptr(),
                features.as_ptr(),
                OPT_AGGRESSIVE,
                RELOC_DEFAULT,
                CODE_MODEL_DEFAULT,
            ),
            LLVMDisposeTargetMachine,
        );
        LLVMSetTarget(llvm.0, triple.as_ptr());
        let layout = Owned(LLVMCreateTargetDataLayout(machine.0), LLVMDisposeTargetData);
        LLVMSetModuleDataLayout(llvm.0, layout.0);
        make_convergent(context, llvm);
        keep_loops(context, llvm);
        optimize(llvm, &machine)?;
        emit(llvm, &machine)
    }
}

unsafe fn optimize(llvm: &Owned, machine: &Owned) -> Result<(), String> {
    // SAFETY: as LLVM's C interface has it: every object is one that it gave, and lives until it is disposed of.
    unsafe {
        let options = Owned(
            LLVMCreatePassBuilderOptions(),
            LLVMDisposePassBuilderOptions,
        );
        let error = LLVMRunPasses(llvm.0, PASSES.as_ptr(), machine.0, options.0);
        if error.is_null() {
            return Ok(());
        }
        let message = LLVMGetErrorMessage(error);
        let text = CStr::from_ptr(message).to_string_lossy().into_owned();
        LLVMDisposeErrorMessage(message);
        Err(format!("LLVM's passes failed: {text}"))
    }
}

const PASSES: &CStr = c"default<O2>";

unsafe fn emit(llvm: &Owned, machine: &Owned) -> Result<String, String> {
    // SAFETY: as LLVM's C interface has it: every object is one that it gave, and lives until it is disposed of.
    unsafe {
        let (mut buffer, mut error) = (ptr::null_mut(), ptr::null_mut());
        let failed = LLVMTargetMachineEmitToMemoryBuffer(
            machine.0,
            llvm.0,
            ASSEMBLY,
            &mut error,
            &mut buffer,
        );
        if failed != 0 {
            return Err(format!("LLVM cannot emit PTX: {}", take_message(error)));
        }
        let buffer = Owned(buffer, LLVMDisposeMemoryBuffer);
        let bytes = std::slice::from_raw_parts(
            LLVMGetBufferStart(buffer.0).cast::<u8>(),
            LLVMGetBufferSize(buffer.0),
        );
        String::from_utf8(bytes.to_vec())
            .map_err(|_| "LLVM emitted PTX that is not UTF-8".to_owned())
    }
}

/// Makes what LLVM gives up on end the program with an error and status 1, instead of aborting with a dump of its stack: for
/// programs that are a compiler and nothing else. LLVM gives up where an instruction has no form on the architecture, and
/// cannot go on.
pub fn exit_on_fatal_errors() {
    unsafe extern "C" fn give_up(reason: *const c_char) {
        // SAFETY: LLVM gives a text that ends with a zero byte.
        let reason = unsafe { CStr::from_ptr(reason) }.to_string_lossy();
        // Streams that LLVM closes when the program has ended say so here, too: of a pipe that nobody reads any more there is nothing to
        // say.
        match reason.strip_prefix("IO failure on output stream: ") {
            Some("Broken pipe") => {}
            Some(error) => eprintln!(
                "error: expected to write the output, found: {error}; is there room, and a right to write there?"
            ),
            None => eprintln!(
                "error: LLVM cannot compile this module: {reason}; is there an intrinsic or inline assembly that the \
                 architecture does not have? Nothing was written"
            ),
        }
        // SAFETY: the program ends. What is registered for its end may be under way already.
        unsafe { _exit(1) }
    }
    unsafe extern "C" {
        fn _exit(status: c_int) -> !;
    }
    // SAFETY: the handler does not return.
    unsafe { LLVMInstallFatalErrorHandler(give_up) }
}
