//! The options of a run of a CUDA program.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

/// Options for CUDA programs, whose kernels the emulator runs; see docs/emulator-cuda.md.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "CUDA programs")]
#[group(id = "cuda_programs")]
pub struct Options {
    /// Runs a CUDA program, which everything behind this option is: the program and its arguments. It is linked with the CUDA runtime as
    /// a shared library (nvcc -cudart shared, clang -lcudart), version 12 or 13, and has PTX in it.
    #[arg(long, num_args = 1.., allow_hyphen_values = true, value_names = ["PROGRAM", "ARGUMENTS"])]
    pub cuda: Vec<OsString>,

    /// CUDA: writes launches, findings and calls that returned an error as JSON.
    #[arg(long, value_name = "FILE")]
    pub cuda_report: Option<PathBuf>,
}
