//! `cargo xtask demo`: a GEMM from an IR file to a cubin, and a run of it if there is a GPU.

use crate::process::show;
use crate::ui::seconds;
use crate::workspace::{Profile, Workspace};
use crate::{gpu, setup};
use anyhow::{Result, bail};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

/// The kernel that is shown.
const EXAMPLE: &str = "gemm_f16";

/// Installs, builds, compiles, runs.
pub fn run(workspace: &Workspace) -> Result<()> {
    let setup = setup::run(workspace)?;
    workspace.build(Profile::Release, &["cute-opt", "cute-run"])?;
    let found = gpu::arch();
    let arch = found.as_deref().unwrap_or(gpu::DEFAULT_ARCH);
    let folder = workspace.target.join("demo");
    std::fs::create_dir_all(&folder)?;
    let at = |extension: &str| folder.join(format!("{EXAMPLE}.{extension}"));
    let (source, package) = (
        workspace.root.join(format!("examples/{EXAMPLE}.mlir")),
        at("cutepkg"),
    );
    println!("\n== compiling {} for {arch}", workspace.short(&source));
    let start = Instant::now();
    let mut compile = compile(workspace, &source, &format!("arch={arch}"), &package);
    if !show(
        compile
            .arg("-o")
            .arg(at("mlir"))
            .env("CUTE_PTXAS", &setup.ptxas),
    )? {
        bail!("the example did not compile: see the messages above");
    }
    println!("compiled in {}", seconds(start.elapsed()));
    let runner = workspace.programs(Profile::Release).join("cute-run");
    for kind in ["ptx", "cubin"] {
        if !show(
            Command::new(&runner)
                .arg(&package)
                .args(["--emit", kind, "--to"])
                .arg(at(kind)),
        )? {
            bail!(
                "cute-run could not take the {kind} out of {}",
                workspace.short(&package)
            );
        }
    }
    let ok = if found.is_some() {
        println!("\n== running it on this machine's {arch}");
        show(Command::new(&runner).arg(&package).arg("--bench"))?
    } else {
        println!("\nThere is no GPU here, so the kernel is not run. What was compiled:");
        show(Command::new(&runner).arg(&package).arg("--info"))?
    };
    println!("\npackage     {}", workspace.short(&package));
    println!("PTX         {}", workspace.short(&at("ptx")));
    println!("cubin       {}", workspace.short(&at("cubin")));
    println!("lowered IR  {}", workspace.short(&at("mlir")));
    if found.is_none() {
        let (runner, package) = (workspace.short(&runner), workspace.short(&package));
        println!(
            "\nOn a machine with a GPU: copy {runner} and {package} there and run `./cute-run {EXAMPLE}.cutepkg --bench`"
        );
    }
    if !ok {
        bail!("cute-run failed: see its messages above");
    }
    Ok(())
}

/// The compiler on one file, making a package; in the root, so that messages name files as one types them.
pub fn compile(workspace: &Workspace, source: &Path, options: &str, package: &Path) -> Command {
    let (source, package) = (workspace.short(source), workspace.short(package));
    let mut compile = Command::new(workspace.programs(Profile::Release).join("cute-opt"));
    compile
        .current_dir(&workspace.root)
        .arg(source)
        .arg(format!("--cute-compile={options} package={package}"));
    compile
}
