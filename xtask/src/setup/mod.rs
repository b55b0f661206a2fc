//! `cargo xtask setup`: what building and testing need. Whatever is there already is only looked at, which takes
//! milliseconds; whatever is missing is installed, or the error says how to.

mod apt;
mod llvm;
mod tools;

use crate::process::on_path;
use crate::workspace::Workspace;
use anyhow::{Context, Result};
use std::path::PathBuf;

/// The things that setup found or installed.
pub struct Setup {
    /// The `bin` folder of LLVM.
    pub llvm_bin: PathBuf,
    /// The assembler.
    pub ptxas: PathBuf,
    /// The Python that runs lit.
    pub python: PathBuf,
    /// The folder of lit, for `PYTHONPATH`.
    pub python_packages: PathBuf,
}

/// LLVM's `bin` folder, for what needs nothing else.
pub fn llvm_bin() -> Result<PathBuf> {
    llvm::ready()
}

/// The program valgrind, after installing it where it is missing.
pub fn valgrind() -> Result<PathBuf> {
    if let Some(found) = on_path("valgrind") {
        return Ok(found);
    }
    apt::install(&["valgrind"])?;
    on_path("valgrind").context("valgrind was installed, and is not on the path")
}

/// The solver z3, after installing it where it is missing.
pub fn solver(workspace: &Workspace) -> Result<PathBuf> {
    tools::solver(&workspace.tools())
}

/// Installs what is missing.
pub fn run(workspace: &Workspace) -> Result<Setup> {
    let llvm_bin = llvm::ready()?;
    let tools = tools::ready(&workspace.tools())?;
    Ok(Setup {
        llvm_bin,
        ptxas: tools.ptxas,
        python: tools.python,
        python_packages: tools.python_packages,
    })
}
