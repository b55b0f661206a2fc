//! `cargo xtask demo`: a GEMM from an IR file to a cubin, and a run of it on the GPU; where there is none, a
//! run of a smaller one on the emulator.

use crate::gpu;
use crate::process::{quiet, show};
use crate::setup::{self, Setup};
use crate::ui::seconds;
use crate::workspace::{Profile, Workspace};
use anyhow::{Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// The kernel that is shown.
const EXAMPLE: &str = "gemm_f16";
/// The same at a size that the emulator runs in a second.
const EMULATED: &str = "gemm_f16_512";

/// Installs, builds, compiles, runs.
pub fn run(workspace: &Workspace) -> Result<()> {
    let setup = setup::run(workspace)?;
    workspace.build(Profile::Release, &["cute-opt", "cute-run"])?;
    let found = match gpu::arch()? {
        // A Jetson's nvidia-smi does not say it; the driver does.
        None => native(workspace, &setup)?.then(|| "native".to_owned()),
        found => found,
    };
    let arch = found.as_deref().unwrap_or(gpu::DEFAULT_ARCH);
    let folder = workspace.target.join("demo");
    std::fs::create_dir_all(&folder)?;
    let demo = Demo {
        workspace,
        setup: &setup,
        arch,
        folder,
    };
    demo.compile(EXAMPLE)?;
    for kind in ["ptx", "cubin"] {
        demo.extract(EXAMPLE, kind)?;
    }
    let ok = if found.is_some() {
        println!("\n== running it on this machine's {arch}");
        demo.cute_run(EXAMPLE, &["--bench"])?
    } else {
        println!("\nThere is no GPU here. What was compiled:");
        let told = demo.cute_run(EXAMPLE, &["--info"])?;
        told && demo.emulate()?
    };
    let at = |extension| workspace.short(&demo.at(EXAMPLE, extension));
    println!("\npackage     {}", at("cutepkg"));
    println!("PTX         {}", at("ptx"));
    println!("cubin       {}", at("cubin"));
    println!("lowered IR  {}", at("mlir"));
    if found.is_none() {
        let runner = workspace.short(&demo.runner());
        println!(
            "\nOn a machine with a GPU: copy {runner} and {} there and run `./cute-run {EXAMPLE}.cutepkg --bench`",
            at("cutepkg")
        );
    }
    if !ok {
        bail!("cute-run failed: see its messages above");
    }
    Ok(())
}

/// Tells whether the driver finds a GPU that is compiled for.
fn native(workspace: &Workspace, setup: &Setup) -> Result<bool> {
    let folder = tempfile::tempdir()?;
    let source = workspace.root.join(format!("examples/{EMULATED}.mlir"));
    let package = folder.path().join("native.cutepkg");
    let mut compile = compile(workspace, &source, "arch=native", &package);
    compile.args(["-o", "/dev/null"]);
    Ok(quiet(compile.env("CUTE_PTXAS", &setup.ptxas)).is_ok())
}

/// The settings that the steps of the demo share.
struct Demo<'a> {
    workspace: &'a Workspace,
    setup: &'a Setup,
    arch: &'a str,
    /// The folder that everything is written to.
    folder: PathBuf,
}

impl Demo<'_> {
    fn at(&self, example: &str, extension: &str) -> PathBuf {
        self.folder.join(format!("{example}.{extension}"))
    }

    fn runner(&self) -> PathBuf {
        self.workspace.programs(Profile::Release).join("cute-run")
    }

    fn compile(&self, example: &str) -> Result<()> {
        let workspace = self.workspace;
        let source = workspace.root.join(format!("examples/{example}.mlir"));
        println!(
            "\n== compiling {} for {}",
            workspace.short(&source),
            self.arch
        );
        let start = Instant::now();
        let package = self.at(example, "cutepkg");
        let mut compile = compile(workspace, &source, &format!("arch={}", self.arch), &package);
        compile.arg("-o").arg(self.at(example, "mlir"));
        if !show(compile.env("CUTE_PTXAS", &self.setup.ptxas))? {
            bail!("the example did not compile: see the messages above");
        }
        println!("compiled in {}", seconds(start.elapsed()));
        Ok(())
    }

    fn extract(&self, example: &str, kind: &str) -> Result<()> {
        let to = self.at(example, kind);
        let to = to.to_string_lossy();
        if !self.cute_run(example, &["--emit", kind, "--to", &to])? {
            bail!(
                "cute-run could not take the {kind} out of {}",
                self.workspace.short(&self.at(example, "cutepkg"))
            );
        }
        Ok(())
    }

    /// Runs the small GEMM on the emulator; whether it is right.
    fn emulate(&self) -> Result<bool> {
        self.compile(EMULATED)?;
        println!("\n== running it on the emulator, which executes the PTX on the CPU");
        let start = Instant::now();
        let ok = self.cute_run(EMULATED, &["--device=emulator", "--report"])?;
        println!("\nemulated and verified in {}", seconds(start.elapsed()));
        Ok(ok)
    }

    fn cute_run(&self, example: &str, options: &[&str]) -> Result<bool> {
        let package = self.at(example, "cutepkg");
        show(Command::new(self.runner()).arg(package).args(options))
    }
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
