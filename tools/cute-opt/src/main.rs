//! `cute-opt`: MLIR's own driver with the cute dialects, our passes by name, the pipeline
//! `--cute-compile`, a cache of what that makes (`--cache`), and types mended in the text (`--fix-types`). Under the name `cute-lsp-server` it
//! is the language server, so that one file holds MLIR for both, and under the name `cute-layout` it is that program.
#![forbid(unsafe_code)]

mod cached;
mod command;
mod mend;

use command::Command;
use std::{path::Path, process::ExitCode};

/// The allocator of everything in this program, MLIR and LLVM with it: a sixth of a compilation was the system's. It takes the place of C's functions, which Rust
/// calls as well: by its own interface for Rust, which asks for an alignment each time, allocations take twice as long. Tests, whose builds have
/// assertions, keep the system's, in which valgrind sees the use of what was freed.
#[cfg(not(debug_assertions))]
#[used]
static ALLOCATOR: unsafe fn(&mimalloc::MiMalloc, std::alloc::Layout) -> *mut u8 =
    <mimalloc::MiMalloc as std::alloc::GlobalAlloc>::alloc;

fn main() -> ExitCode {
    let program = std::env::args_os().next();
    let name = program
        .as_deref()
        .and_then(|path| Path::new(path).file_name());
    if name.is_some_and(|name| name == "cute-layout") {
        return cute_layout_language::main();
    }
    let arguments: Result<Vec<String>, _> = std::env::args_os()
        .map(|argument| argument.into_string())
        .collect();
    let arguments = match arguments {
        Ok(arguments) => arguments,
        Err(argument) => {
            let found = argument.to_string_lossy();
            eprintln!("error: expected arguments in UTF-8, found '{found}'; rename the file");
            std::process::exit(1);
        }
    };
    if cute_lsp_server::is_meant(&arguments) {
        std::process::exit(cute_lsp_server::run(arguments));
    }
    if let Some(request) = mend::Request::of(&arguments) {
        cute_lowering::initialize();
        cute_lowering::exit_on_fatal_errors();
        if let Err(error) = request.and_then(|request| request.run()) {
            eprintln!("error: {error}");
            std::process::exit(1);
        }
        return ExitCode::SUCCESS;
    }
    // Before anything of MLIR is set up, which takes longer than everything that the cache does.
    let (arguments, cached) = match Command::of(&arguments) {
        Command::Plain => (arguments, Ok(None)),
        Command::Cached(request) => {
            let done = cached::run(&request);
            (request.plain, done)
        }
        Command::Uncached { plain, why } => (plain, Err(why)),
    };
    match cached {
        Ok(Some(status)) => std::process::exit(status),
        Ok(None) => {}
        Err(why) => eprintln!("warning: --cache: {why}"),
    }
    cute_lowering::initialize();
    cute_lowering::exit_on_fatal_errors();
    std::process::exit(cute_ir::opt_main(plain(arguments)));
}

/// The arguments with MLIR's option by which an error names its place alone: without it, the op is printed behind each error of MLIR's.
fn plain(mut arguments: Vec<String>) -> Vec<String> {
    const OPTION: &str = "mlir-print-op-on-diagnostic";
    if !arguments.iter().any(|argument| argument.contains(OPTION)) {
        arguments.insert(1.min(arguments.len()), format!("--{OPTION}=false"));
    }
    arguments
}

#[cfg(test)]
mod tests {
    use super::plain;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn ops_are_printed_behind_errors_where_that_is_asked_for() {
        let expected = "cute-opt --mlir-print-op-on-diagnostic=false a.mlir";
        assert_eq!(plain(words("cute-opt a.mlir")), words(expected));
        let asked = "cute-opt a.mlir --mlir-print-op-on-diagnostic";
        assert_eq!(plain(words(asked)), words(asked));
    }
}
