//! `cute-layout`: evaluates, prints and draws CuTe layouts.

use std::process::ExitCode;

fn main() -> ExitCode {
    cute_layout_language::main()
}
