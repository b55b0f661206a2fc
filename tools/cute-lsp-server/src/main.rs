//! `cute-lsp-server`: MLIR's own language server with the cute dialects, and what `cute-report` says on hover.
//!
//! MLIR's server has no hook for hovers, so this is a proxy around it: MLIR's server runs as a child of the same program, every
//! message passes through as it is, and the answers to `textDocument/hover` get the report's lines. The report is made by a
//! child too, so that no document can take the server down or hold it up.

mod documents;
mod framing;
mod hover;
mod proxy;

/// Arguments that say what a child is.
const SERVER: &str = "--cute-child=server";
const REPORT: &str = "--cute-child=report";

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
        _ => proxy::run(&arguments),
    };
    std::process::exit(status);
}
