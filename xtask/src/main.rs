//! `cargo xtask`: what a newcomer and CI run. Needs no LLVM, so that it can install it.

mod bench;
mod clients;
mod demo;
mod docs;
mod fuzz;
mod gpu;
mod gpu_examples;
mod gpu_test;
mod memory;
mod outside;
mod process;
mod setup;
mod test;
mod tune;
mod ui;
mod wheel;
mod workspace;

use anyhow::Result;
use clap::{Parser, Subcommand};
use std::process::ExitCode;
use workspace::Workspace;

/// Development tasks of cute-opt.
#[derive(Parser)]
#[command(bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Installs what is missing: LLVM and MLIR 22, a C++ compiler, ptxas, libdevice, nvdisasm, lit.
    Setup,
    /// Compiles a GEMM from an IR file to a cubin, and runs it on the GPU; without one, a smaller one on the emulator.
    Demo,
    /// Everything that CI checks: formatting, lints, Rust tests, lit tests, the program of docs/embedding.md, and some fuzzing.
    Test(test::Options),
    /// Fuzzes the compiler, the package reader, the PTX parser and the emulator: docs/fuzzing.md.
    Fuzz(fuzz::Options),
    /// Calls exported libraries from programs of others and from the examples: TVM-FFI's own, Python, C, C++. Needs PyPI once.
    Clients,
    /// Makes the wheel of the Python module with the tools, installs it into a folder, and tests it there.
    Wheel,
    /// Compiles the kernels of test/gpu; if there is a GPU, runs them, and the examples for PyTorch and JAX where these are installed.
    GpuTest,
    /// Benchmarks of the crates, and how long compiling the example takes.
    Bench,
    /// Measures candidates for a list of problems, and adds the times to the compiler's table: docs/tuning.md.
    Tune(tune::Options),
    /// Writes docs/ops.md, the reference of ops, types and attributes, from their definitions.
    Docs,
    /// Writes the expectations of Rust tests anew from what comes out now.
    Bless,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match run(&arguments.task) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{}", ui::explained(&error));
            ExitCode::FAILURE
        }
    }
}

/// Tells whether the task succeeded; an error is for what kept it from being done.
fn run(task: &Task) -> Result<bool> {
    let workspace = Workspace::find()?;
    match task {
        Task::Setup => setup::run(&workspace).map(|_| true),
        Task::Demo => demo::run(&workspace).map(|()| true),
        Task::Test(options) => test::run(&workspace, options),
        Task::Fuzz(options) => fuzz::run(&workspace, options),
        Task::Clients => clients::run(&workspace),
        Task::Wheel => wheel::run(&workspace),
        Task::GpuTest => gpu_test::run(&workspace),
        Task::Bench => bench::run(&workspace).map(|()| true),
        Task::Tune(options) => tune::run(&workspace, options),
        Task::Docs => docs::run(&workspace).map(|()| true),
        Task::Bless => {
            setup::run(&workspace)?;
            process::show(
                workspace
                    .cargo()
                    .args(["test", "--workspace"])
                    .env("UPDATE_EXPECT", "1"),
            )
        }
    }
}
