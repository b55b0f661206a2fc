//! LLVM and MLIR 22, clang's library, and a C++ compiler: found by the files that a build needs.

use super::apt;
use crate::process::{on_path, quiet};
use crate::ui::found;
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// The release that melior and mlir-sys are for.
const MAJOR: u32 = 22;
/// The folder that Debian and Ubuntu install it in.
const DEFAULT_PREFIX: &str = "/usr/lib/llvm-22";
/// Names the folder of another installation. `.cargo/config.toml` sets it to the default.
const PREFIX_VARIABLE: &str = "MLIR_SYS_220_PREFIX";

/// The files of LLVM's folder that a build needs, and the package of each. Any one of the files will do.
const IN_PREFIX: [(&[&str], &str); 8] = [
    (
        &["lib/libLLVMCore.a", "lib/libLLVM.so", "lib/libLLVM.dylib"],
        "llvm-22-dev",
    ),
    (&["bin/llvm-config"], "llvm-22-dev"),
    (&["lib/cmake/mlir/MLIRConfig.cmake"], "libmlir-22-dev"),
    (&["bin/llvm-tblgen"], "llvm-22"),
    (&["bin/mlir-tblgen"], "mlir-22-tools"),
    (&["bin/FileCheck"], "llvm-22-tools"),
    (
        &["lib/libclang.so", "lib/libclang.so.1", "lib/libclang-22.so"],
        "libclang-22-dev",
    ),
    (&["bin/clang"], "clang-22"),
];

/// The files that Debian's build of LLVM links, besides, and the package of each.
const DEBIAN_ONLY: [(&[&str], &str); 4] = [
    (&["/usr/lib/llvm-22/lib/libPolly.a"], "libpolly-22-dev"),
    (&["/usr/include/zlib.h"], "zlib1g-dev"),
    (&["/usr/include/zstd.h"], "libzstd-dev"),
    (&["/usr/include/libxml2/libxml/parser.h"], "libxml2-dev"),
];

/// LLVM's `bin` folder, after installing what is missing.
pub fn ready() -> Result<PathBuf> {
    let start = Instant::now();
    let prefix = std::env::var_os(PREFIX_VARIABLE)
        .filter(|p| !p.is_empty())
        .map_or(DEFAULT_PREFIX.into(), PathBuf::from);
    let exists = |path: &Path| path.exists();
    let mut missing = missing(&prefix, &exists);
    if !["c++", "g++", "clang++"]
        .iter()
        .any(|compiler| on_path(compiler).is_some())
    {
        missing.push("g++");
    }
    if !missing.is_empty() {
        let from_elsewhere =
            prefix != Path::new(DEFAULT_PREFIX) && missing.iter().any(|p| p.contains("22"));
        if from_elsewhere {
            bail!("{}", incomplete(&prefix, &missing));
        }
        apt::install(&missing)?;
    }
    let config = prefix.join("bin/llvm-config");
    let version = quiet(Command::new(&config).arg("--version")).with_context(|| {
        format!(
            "{} does not run\ncure: install llvm-22-dev again",
            config.display()
        )
    })?;
    check_version(&version, &config)?;
    let place = format!("{} in {}", version.trim(), prefix.display());
    found("LLVM and MLIR", &place, start.elapsed());
    Ok(prefix.join("bin"))
}

/// The packages whose files are not there.
fn missing(prefix: &Path, exists: &dyn Fn(&Path) -> bool) -> Vec<&'static str> {
    let in_prefix = IN_PREFIX
        .iter()
        .map(|(files, package)| (files, package, prefix));
    // Absolute paths, which `join` takes as they are.
    let besides = DEBIAN_ONLY
        .iter()
        .filter(|_| prefix == Path::new(DEFAULT_PREFIX))
        .map(|(files, package)| (files, package, prefix));
    let mut packages = Vec::new();
    for (files, package, folder) in in_prefix.chain(besides) {
        if !files.iter().any(|file| exists(&folder.join(file))) && !packages.contains(package) {
            packages.push(*package);
        }
    }
    packages
}

fn incomplete(prefix: &Path, packages: &[&str]) -> String {
    format!(
        "{PREFIX_VARIABLE} names {}, which lacks what these packages hold: {}\n\
         cure: name the folder of a complete LLVM {MAJOR} with MLIR and clang, or unset it to use {DEFAULT_PREFIX}",
        prefix.display(),
        packages.join(" ")
    )
}

/// Refuses other releases: the bindings are made for one.
fn check_version(version: &str, config: &Path) -> Result<()> {
    let version = version.trim();
    let major = version
        .split('.')
        .next()
        .and_then(|m| m.parse::<u32>().ok());
    if major != Some(MAJOR) {
        bail!(
            "LLVM {version} was found at {}, but LLVM {MAJOR} is needed\n\
             cure: name the folder of LLVM {MAJOR} in {PREFIX_VARIABLE} and TABLEGEN_220_PREFIX, or unset them to use {DEFAULT_PREFIX}",
            config.display()
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_files_name_their_packages() {
        let debian = Path::new(DEFAULT_PREFIX);
        assert_eq!(missing(debian, &|_| true), [""; 0]);
        let all = missing(debian, &|_| false);
        assert_eq!(all.len(), 11, "llvm-22-dev stands for two files: {all:?}");
        assert_eq!(
            missing(debian, &|p| !p.ends_with("mlir-tblgen")),
            ["mlir-22-tools"]
        );
        assert_eq!(
            missing(debian, &|p| p != Path::new("/usr/include/zstd.h")),
            ["libzstd-dev"]
        );
        // One of several names is enough.
        assert_eq!(missing(debian, &|p| !p.ends_with("libclang.so")), [""; 0]);
    }

    #[test]
    fn another_installation_is_not_asked_for_debians_libraries() {
        let other = Path::new("/opt/llvm");
        assert_eq!(missing(other, &|p| p.starts_with("/opt/llvm")), [""; 0]);
        assert!(
            incomplete(other, &["clang-22"])
                .contains("names /opt/llvm, which lacks what these packages hold: clang-22")
        );
    }

    #[test]
    fn other_releases_are_refused_by_name_and_place() {
        let config = Path::new("/usr/bin/llvm-config");
        assert!(check_version("22.1.0\n", config).is_ok());
        let error = check_version("14.0.6", config).unwrap_err().to_string();
        assert!(
            error.starts_with(
                "LLVM 14.0.6 was found at /usr/bin/llvm-config, but LLVM 22 is needed"
            ),
            "{error}"
        );
        assert!(check_version("", config).is_err());
        assert!(check_version("220.1", config).is_err());
    }
}
