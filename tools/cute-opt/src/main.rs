//! `cute-opt`: MLIR's own driver with the cute dialects, our passes by name, and the pipeline
//! `--cute-compile`.

fn main() {
    cute_lowering::initialize();
    cute_lowering::exit_on_fatal_errors();
    std::process::exit(cute_ir::opt_main(std::env::args()));
}
