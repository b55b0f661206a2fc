//! `cute-lsp-server`: MLIR's own language server with the cute dialects, what `cute-report` and the reference say on hover, hints of types
//! that are left out, and an action that mends wrong types.
//!
//! MLIR's server has no hook for these, so this is a proxy around it: MLIR's server runs as a child of the same program, every
//! message passes through as it is, the answers to `textDocument/hover` get the report's lines and the op's documentation, those to
//! `textDocument/inlayHint` the hints, and those to `textDocument/codeAction` the action. What needs the document parsed is made by children
//! too, so that no document can take the server down or hold it up.

mod actions;
mod child;
mod docs;
mod documents;
mod framing;
mod hints;
mod hover;
mod proxy;

/// Arguments that say what a child is.
const SERVER: &str = "--cute-child=server";
const REPORT: &str = "--cute-child=report";
const MEND: &str = "--cute-child=mend";
const HINTS: &str = "--cute-child=hints";

fn main() {
    let mut arguments: Vec<String> = std::env::args().collect();
    let status = match arguments.get(1).map(String::as_str) {
        Some(SERVER) => {
            arguments.remove(1);
            cute_lowering::initialize();
            cute_ir::lsp_server_main(arguments)
        }
        Some(REPORT) => {
            cute_lowering::initialize();
            hover::report_on_stdin()
        }
        Some(MEND) => {
            cute_lowering::initialize();
            actions::mend_stdin()
        }
        Some(HINTS) => {
            cute_lowering::initialize();
            hints::hints_on_stdin()
        }
        _ => proxy::run(&arguments),
    };
    std::process::exit(status);
}
