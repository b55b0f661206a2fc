//! Kernels of a GPU module, compiled by LLVM side by side, in several modules that each have a context of their own.
//!
//! It is a short cut: what is written is what LLVM writes of the whole module, to the byte, and where that is not certain, the whole module is compiled.
//! Nothing of the result depends on how many threads there are.

mod text;

use cute_ir::{
    attributes::{GPU_KERNEL, NVVM_KERNEL},
    mlir::*,
    ops::llvm,
};
use std::{
    collections::HashSet,
    panic,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

/// The modules that kernels are put into, at most: LLVM sets up its passes for each, which takes as long as a small kernel.
const MODULES: usize = 8;

/// The bytes of a thread's stack: LLVM goes down along chains of operands.
const STACK: usize = 16 << 20;

/// The PTX of a `gpu.module` whose functions are in the LLVM dialect, as [`cute_ir::mlir::ptx`] gives it.
///
/// # Errors
/// What LLVM cannot compile, and what cannot be translated, which diagnostics have said.
pub(crate) fn ptx(module: Op<'_>, chip: &str, features: &str) -> Result<String, String> {
    if let Some(parts) = Parts::of(module) {
        let made = parts.translated(module)?;
        let threads = threads_of(context_of(module));
        let texts = side_by_side(made, threads, |part| part.ptx(chip, features))?;
        if let Some(text) = text::joined(&texts, &parts.names()) {
            return Ok(text);
        }
    }
    let text = cute_ir::mlir::ptx(module, chip, features)?;
    Ok(text::renumbered(&text, 0).0)
}

/// A module's kernels, which have no part in each other, and what stands around them.
struct Parts<'c> {
    /// Variables and declarations, in their order.
    shared: Vec<Op<'c>>,
    kernels: Vec<Op<'c>>,
}

impl<'c> Parts<'c> {
    /// The parts of a module; nothing where LLVM may compile a kernel otherwise because another one is there.
    fn of(module: Op<'c>) -> Option<Self> {
        let (mut shared, mut kernels) = (Vec::new(), Vec::new());
        for op in ops_of(body_of(module, 0)?) {
            match name_of(op) {
                llvm::FUNC if body_of(op, 0).is_none() => shared.push(op),
                // Functions that kernels call are inlined or not by how many do.
                llvm::FUNC if is_kernel(op) => kernels.push(op),
                llvm::MLIR_GLOBAL if nested_ops(op).is_empty() => shared.push(op),
                _ => return None,
            }
        }
        if kernels.len() < 2 {
            return None;
        }
        let names = kernels.iter().filter_map(|op| string_of(*op, "sym_name"));
        let names: HashSet<&str> = names.collect();
        let changes = shared.iter().copied().filter(|op| is_own_and_changes(*op));
        let changes = changes.filter_map(|op| string_of(op, "sym_name"));
        let changes: HashSet<&str> = changes.collect();
        let mut met = HashSet::new();
        for kernel in &kernels {
            let mut used = HashSet::new();
            for op in nested_ops(*kernel) {
                let symbol = match name_of(op) {
                    llvm::CALL => attribute_of(op, "callee"),
                    llvm::MLIR_ADDRESSOF => attribute_of(op, "global_name"),
                    llvm::INVOKE | llvm::BLOCKADDRESS | llvm::DSO_LOCAL_EQUIVALENT => return None,
                    _ => None,
                };
                let name = symbol.and_then(symbol_of);
                used.extend(name.and_then(|name| name.first().copied()));
            }
            let is_shared =
                |name: &&str| changes.contains(*name) && !met.insert((*name).to_owned());
            if used.iter().any(|name| names.contains(name)) || used.iter().any(is_shared) {
                return None;
            }
        }
        Some(Self { shared, kernels })
    }

    /// The names of all that the module has, in their order.
    fn names(&self) -> Vec<&'c str> {
        let all = self.shared.iter().chain(&self.kernels);
        all.filter_map(|op| string_of(*op, "sym_name")).collect()
    }

    /// The modules of LLVM's, which have the kernels in their order.
    fn translated(&self, module: Op<'c>) -> Result<Vec<LlvmModule>, String> {
        let kernels = self.kernels.len();
        let ends = (0..=MODULES).map(|at| at * kernels / MODULES);
        let ends: Vec<usize> = ends.collect();
        let ranges = ends.windows(2).map(|pair| &self.kernels[pair[0]..pair[1]]);
        let each = ranges.filter(|range| !range.is_empty()).map(|kernels| {
            let ops: Vec<Op<'c>> = [&*self.shared, kernels].concat();
            let mut part = OwnedCopy::of_parts(module, &ops)
                .map_err(|_| "a kernel cannot be compiled by itself".to_owned())?;
            part.with(|_, part| LlvmModule::of(part))
        });
        each.collect()
    }
}

fn is_kernel(function: Op<'_>) -> bool {
    let is_marked = |name| attribute_of(function, name).is_some();
    (is_marked(GPU_KERNEL) || is_marked(NVVM_KERNEL)) && linkage_is(function, "external")
}

fn linkage_is(op: Op<'_>, name: &str) -> bool {
    let linkage = attribute_of(op, "linkage");
    linkage.is_none_or(|linkage| linkage.to_string() == format!("#llvm.linkage<{name}>"))
}

/// Tells whether LLVM sees every use of a variable, and may keep it elsewhere by what they are.
fn is_own_and_changes(variable: Op<'_>) -> bool {
    name_of(variable) == llvm::MLIR_GLOBAL
        && attribute_of(variable, "constant").is_none()
        && !linkage_is(variable, "external")
}

/// Calls `work` with each item on so many threads at most, and gives the results in the order of the items. The first error in that order
/// is the one that is given.
fn side_by_side<T: Send, R: Send>(
    items: Vec<T>,
    threads: usize,
    work: impl Fn(T) -> Result<R, String> + Sync,
) -> Result<Vec<R>, String> {
    let count = items.len();
    let items: Vec<Mutex<Option<T>>> = items
        .into_iter()
        .map(|item| Mutex::new(Some(item)))
        .collect();
    let results: Vec<Mutex<Option<Result<R, String>>>> =
        (0..count).map(|_| Mutex::new(None)).collect();
    let next = AtomicUsize::new(0);
    let run = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(at) else { return };
            let item = item.lock().unwrap_or_else(PoisonError::into_inner).take();
            let result = item.map(&work);
            *results[at].lock().unwrap_or_else(PoisonError::into_inner) = result;
        }
    };
    thread::scope(|scope| {
        let others: Vec<_> = (1..threads.min(count))
            .map_while(|_| {
                let thread = thread::Builder::new().stack_size(STACK);
                // With fewer threads than were asked for it takes longer.
                thread.spawn_scoped(scope, run).ok()
            })
            .collect();
        run();
        for other in others {
            if let Err(panicked) = other.join() {
                panic::resume_unwind(panicked);
            }
        }
    });
    let results = results.into_iter().map(|result| {
        let result = result.into_inner().unwrap_or_else(PoisonError::into_inner);
        result.unwrap_or_else(|| Err("a kernel was not compiled".to_owned()))
    });
    results.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::binary::ops_named;

    /// A module of kernels with `head` before them; each has a loop, a branch of several ways, an array of its own, and the text of `body` in it.
    fn module(head: &str, kernels: usize, body: impl Fn(usize) -> String) -> String {
        let kernels = (0..kernels).map(|at| {
            format!(
                "  llvm.func @k{at}(%p: !llvm.ptr<1>, %n: i32) attributes {{gpu.kernel, nvvm.kernel}} {{
                     %c0 = llvm.mlir.constant(0 : i32) : i32
                     %c1 = llvm.mlir.constant(1 : i32) : i32
                     %many = llvm.mlir.constant({} : i32) : i32
                     %own = llvm.alloca %many x f32 : (i32) -> !llvm.ptr
                     llvm.br ^loop(%c0 : i32)
                   ^loop(%i: i32):
                     %place = llvm.getelementptr %p[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
                     %x = llvm.load %place : !llvm.ptr<1> -> f32
                     %kept = llvm.getelementptr %own[%i] : (!llvm.ptr, i32) -> !llvm.ptr, f32
                     llvm.store volatile %x, %kept : f32, !llvm.ptr
                     llvm.switch %i : i32, ^next [0: ^a, 1: ^b, 2: ^a, 3: ^b, 5: ^a, 6: ^b, 7: ^a]
                   ^a:
                     {}
                     llvm.br ^next
                   ^b:
                     llvm.store %x, %p : f32, !llvm.ptr<1>
                     llvm.br ^next
                   ^next:
                     %j = llvm.add %i, %c1 : i32
                     %more = llvm.icmp \"slt\" %j, %n : i32
                     llvm.cond_br %more, ^loop(%j : i32), ^end
                   ^end:
                     llvm.return
                   }}\n",
                at + 9,
                body(at)
            )
        });
        format!(
            "gpu.module @kernels [#nvvm.target<chip = \"sm_80\">] {{\n{head}\n{}}}",
            kernels.collect::<String>()
        )
    }

    /// Compares the PTX of a module with that of the whole of it. Returns whether it was compiled in parts.
    fn compared(text: &str) -> bool {
        let context = context();
        let module = parse_module(&context, "kernels.mlir", text).expect(text);
        let module: Op<'_> = ops_named(module.as_operation(), "gpu.module").unwrap()[0];
        let features = "+ptx80";
        let whole = cute_ir::mlir::ptx(module, "sm_80", features).unwrap();
        let (whole, _) = text::renumbered(&whole, 0);
        for _ in 0..2 {
            assert_eq!(ptx(module, "sm_80", features).unwrap(), whole);
        }
        let Some(parts) = Parts::of(module) else {
            return false;
        };
        let made = parts.translated(module).unwrap();
        let texts = side_by_side(made, 3, |part| part.ptx("sm_80", features)).unwrap();
        text::joined(&texts, &parts.names()).is_some()
    }

    const HEAD: &str = r#"
      llvm.mlir.global internal constant @message_1("one\00") {addr_space = 0 : i32}
      llvm.mlir.global internal constant @message_0("nought\00") {addr_space = 0 : i32}
      llvm.mlir.global internal constant @nobody("nobody\00") {addr_space = 0 : i32}
      llvm.func @vprintf(!llvm.ptr, !llvm.ptr) -> i32
      llvm.func @unused(i32)
      llvm.func @__assertfail(!llvm.ptr, !llvm.ptr, i32, !llvm.ptr, i64) attributes {passthrough = ["noreturn"]}
      llvm.mlir.global external @dynamic_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
      llvm.mlir.global internal @own.0() {addr_space = 3 : i32} : !llvm.array<32 x f32>
      llvm.mlir.global internal @own.1() {addr_space = 3 : i32} : !llvm.array<64 x f32>"#;

    fn says(message: usize) -> String {
        format!(
            "%m = llvm.mlir.addressof @message_{message} : !llvm.ptr
             %r = llvm.call @vprintf(%m, %own) : (!llvm.ptr, !llvm.ptr) -> i32
             %line = llvm.mlir.constant(7 : i32) : i32
             %size = llvm.mlir.constant(1 : i64) : i64
             llvm.call @__assertfail(%m, %m, %line, %m, %size) : (!llvm.ptr, !llvm.ptr, i32, !llvm.ptr, i64) -> ()"
        )
    }

    fn stores(shared: &str, length: usize) -> String {
        format!(
            "%s = llvm.mlir.addressof @{shared} : !llvm.ptr<3>
             %t = llvm.getelementptr %s[0, %i] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, !llvm.array<{length} x f32>
             llvm.store volatile %x, %t : f32, !llvm.ptr<3>"
        )
    }

    #[test]
    fn kernels_by_themselves_are_what_they_are_together() {
        assert!(compared(&module("", 3, |_| String::new())));
        // More than there are modules, so that some have several.
        assert!(compared(&module(HEAD, 21, |at| says(at % 2))));
        assert!(compared(&module(HEAD, 5, |at| match at {
            0 => says(0),
            1 => stores("own.0", 32),
            2 => says(0) + "\n" + &stores("dynamic_smem", 0),
            3 => stores("own.1", 64),
            _ => says(1),
        })));
    }

    #[test]
    fn kernels_that_have_something_in_common_are_compiled_together() {
        // Shared memory of two, a function that is called, and a constant that is there twice.
        assert!(!compared(&module(HEAD, 2, |_| stores("own.0", 32))));
        let function = "llvm.func internal @f(%x: f32) -> f32 {\n %y = llvm.fadd %x, %x : f32\n llvm.return %y : f32\n}";
        assert!(!compared(&module(function, 2, |_| {
            "%y = llvm.call @f(%x) : (f32) -> f32\nllvm.store %y, %p : f32, !llvm.ptr<1>".to_owned()
        })));
        assert!(!compared(&module(HEAD, 1, says)));
        let twice = HEAD
            .replace("nought", "one")
            .replace("internal constant", "internal unnamed_addr constant");
        assert!(!compared(&module(&twice, 2, says)));
    }

    #[test]
    fn the_first_error_is_given() {
        let work = |at: usize| match at % 7 {
            3 => Err(at.to_string()),
            _ => Ok(at),
        };
        for threads in [1, 2, 50] {
            let all = side_by_side((0..20).collect(), threads, work);
            assert_eq!(all, Err("3".to_owned()));
            let some = side_by_side(vec![1, 2, 4], threads, work);
            assert_eq!(some, Ok(vec![1, 2, 4]));
            assert_eq!(side_by_side(Vec::new(), threads, work), Ok(Vec::new()));
        }
    }
}
