//! `cute-lsp-server`: MLIR's own language server with the cute dialects.

fn main() {
    cute_lowering::initialize();
    std::process::exit(cute_ir::lsp_server_main(std::env::args()));
}
