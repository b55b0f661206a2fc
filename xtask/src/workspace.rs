//! The folders of the workspace.

use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The repository and its build folder.
pub struct Workspace {
    /// The folder of the workspace's `Cargo.toml`.
    pub root: PathBuf,
    /// The folder that cargo builds in.
    pub target: PathBuf,
}

/// The profile of a build: it decides which folder of the build folder programs lie in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// The profile of tests: one for all that CI builds.
    Dev,
    /// The profile of what is measured and shown.
    Release,
}

impl Workspace {
    /// The workspace that this program belongs to.
    pub fn find() -> Result<Workspace> {
        // Cargo says where the manifest is when it runs the program; without cargo, where it was built.
        let manifest = std::env::var("CARGO_MANIFEST_DIR")
            .unwrap_or_else(|_| env!("CARGO_MANIFEST_DIR").to_string());
        let Some(root) = Path::new(&manifest)
            .parent()
            .filter(|r| r.join("Cargo.toml").is_file())
        else {
            bail!("{manifest} is not in a checkout of the project: run `cargo xtask` inside one");
        };
        let here = std::env::current_dir().context("the current folder cannot be read")?;
        let target = target_dir(
            root,
            &here,
            std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from),
        );
        Ok(Workspace {
            root: root.to_path_buf(),
            target,
        })
    }

    /// Tools that are not installed globally: a folder laid out like a CUDA toolkit, and Python packages.
    pub fn tools(&self) -> PathBuf {
        self.target.join("tools")
    }

    /// The folder that cargo puts programs in.
    pub fn programs(&self, profile: Profile) -> PathBuf {
        self.target.join(match profile {
            Profile::Dev => "debug",
            Profile::Release => "release",
        })
    }

    /// Cargo, in the root of the workspace.
    pub fn cargo(&self) -> Command {
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo
            .current_dir(&self.root)
            .env("CARGO_TARGET_DIR", &self.target);
        if in_ci() {
            // Builds are not repeated there, and without preparation for the next one they take a tenth less.
            cargo.env("CARGO_INCREMENTAL", "0");
        }
        cargo
    }

    /// Cargo for what is built to be tested. In CI clippy is the compiler of the workspace, so that one pass over it lints and
    /// compiles; a lint is an error.
    pub fn testing(&self) -> Command {
        let mut cargo = self.cargo();
        if lints_in_builds() {
            // As `cargo clippy -- -D warnings` has it, which only checks.
            cargo
                .env("RUSTC_WORKSPACE_WRAPPER", "clippy-driver")
                .env("CLIPPY_ARGS", "-D__CLIPPY_HACKERY__warnings");
        }
        cargo
    }

    /// Builds the programs of the workspace as [`Workspace::build`] builds them for tests, but no tests; an error names some.
    pub fn build_programs(&self, packages: &[&str]) -> Result<()> {
        let mut cargo = self.testing();
        // With an example dependencies have the features that they have for tests, and are compiled once.
        cargo.args([
            "build",
            "--workspace",
            "--lib",
            "--bins",
            "--example",
            "embed",
        ]);
        self.built(&mut cargo, packages)
    }

    /// Builds programs; an error says which.
    pub fn build(&self, profile: Profile, packages: &[&str]) -> Result<()> {
        let mut cargo;
        match profile {
            Profile::Release => {
                cargo = self.cargo();
                cargo.args(["build", "--release"]);
                cargo.args(packages.iter().flat_map(|p| ["--package", p]));
            }
            // Of packages alone dependencies would have other features than in `cargo test --workspace`, and would be compiled anew.
            Profile::Dev => {
                cargo = self.testing();
                cargo.args(["build", "--workspace"]);
                cargo.args(if lints_in_builds() {
                    &["--all-targets"][..]
                } else {
                    // The library that Python loads is nobody's dependency.
                    &["--lib", "--bins", "--tests"]
                });
            }
        }
        self.built(&mut cargo, packages)
    }

    fn built(&self, cargo: &mut Command, packages: &[&str]) -> Result<()> {
        if !crate::process::show(cargo)? {
            bail!(
                "{} did not build: see the compiler's messages above",
                packages.join(", ")
            );
        }
        Ok(())
    }

    /// Builds the release program of a package, or its library where it has no program, linked with other arguments; an error says which.
    pub fn link(&self, package: &str, is_program: bool, argument: &str) -> Result<()> {
        let mut cargo = self.cargo();
        cargo.args(["rustc", "--release", "--package", package]);
        if is_program {
            cargo.args(["--bin", package]);
        } else {
            cargo.arg("--lib");
        }
        cargo.args(["--", "-C", &format!("link-arg={argument}")]);
        if !crate::process::show(&mut cargo)? {
            bail!("{package} was not linked with {argument}: see the compiler's messages above");
        }
        Ok(())
    }

    /// A path as one would type it in the root.
    pub fn short(&self, path: &Path) -> String {
        path.strip_prefix(&self.root)
            .unwrap_or(path)
            .display()
            .to_string()
    }
}

/// Tells whether CI runs this.
fn in_ci() -> bool {
    std::env::var_os("CI").is_some_and(|value| !value.is_empty())
}

/// Tells whether what is built to be tested is linted by that: in CI, which begins with nothing. Elsewhere what a developer has
/// built is tested, and clippy looks at what has changed.
pub fn lints_in_builds() -> bool {
    in_ci()
}

/// Cargo's rule: relative to the folder that it was started in.
fn target_dir(root: &Path, here: &Path, chosen: Option<PathBuf>) -> PathBuf {
    match chosen.filter(|c| !c.as_os_str().is_empty()) {
        Some(chosen) => here.join(chosen),
        None => root.join("target"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_build_folder_is_where_cargo_puts_it() {
        let at = |chosen: Option<&str>| {
            target_dir(
                Path::new("/repo"),
                Path::new("/repo/ir"),
                chosen.map(PathBuf::from),
            )
        };
        assert_eq!(at(None), Path::new("/repo/target"));
        assert_eq!(at(Some("")), Path::new("/repo/target"));
        assert_eq!(at(Some("build")), Path::new("/repo/ir/build"));
        assert_eq!(at(Some("/elsewhere")), Path::new("/elsewhere"));
    }

    #[test]
    fn this_test_runs_in_the_workspace() {
        let workspace = Workspace::find().unwrap();
        assert!(workspace.root.join("xtask/Cargo.toml").is_file());
        assert_eq!(
            workspace.short(&workspace.root.join("test/gpu")),
            "test/gpu"
        );
    }
}
