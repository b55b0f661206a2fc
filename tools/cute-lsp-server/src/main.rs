//! The language server as a program of its own. `cute-opt` under the name `cute-lsp-server` is the same.
#![forbid(unsafe_code)]

fn main() {
    std::process::exit(cute_lsp_server::run(std::env::args().collect()));
}
