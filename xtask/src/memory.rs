//! A sample of the lit tests under valgrind: Debian's LLVM has no assertions, so that the use of what is erased would be seen
//! by nobody else.

use crate::process::quiet;
use crate::setup::{self, Setup};
use crate::workspace::{Profile, Workspace};
use anyhow::{Context, Result};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The tests: those of passes that erase most, on valid and on invalid IR.
pub const SAMPLE: [&str; 10] = [
    "passes/expand-pipeline.mlir",
    "passes/fold-static.mlir",
    "passes/fragments-to-values.mlir",
    "passes/lower-layouts.mlir",
    "passes/lower-layouts-invalid.mlir",
    "passes/lower-pipeline.mlir",
    "passes/partition.mlir",
    "passes/simplify-indices.mlir",
    "issues/copies-in-loops-of-any-kind.mlir",
    "issues/said-once.mlir",
];

/// Makes a folder of programs in which cute-opt runs under valgrind: an access of memory that is not its own ends it with status
/// 99. The others are the workspace's.
pub fn programs(workspace: &Workspace, setup: &Setup, others: &[&str]) -> Result<PathBuf> {
    let valgrind = setup::valgrind()?;
    let built = workspace.programs(Profile::Dev);
    let folder = built.join("valgrind");
    std::fs::create_dir_all(&folder)?;
    let stripped = folder.join("cute-opt.stripped");
    // Debian 12's valgrind cannot read Rust's debug information; names of functions are left.
    quiet(
        Command::new(setup.llvm_bin.join("llvm-objcopy"))
            .arg("--strip-debug")
            .args([&built.join("cute-opt"), &stripped]),
    )?;
    for name in others.iter().filter(|name| **name != "cute-opt") {
        let name = name.trim_end_matches("-cli");
        let link = folder.join(name);
        let _ = std::fs::remove_file(&link);
        symlink(built.join(name), &link)
            .with_context(|| format!("{} cannot be made", link.display()))?;
    }
    let script = folder.join("cute-opt");
    std::fs::write(&script, wrapper(&valgrind, &stripped))?;
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755))?;
    Ok(folder)
}

fn wrapper(valgrind: &Path, program: &Path) -> String {
    let quoted = |path: &Path| format!("'{}'", path.display().to_string().replace('\'', "'\\''"));
    format!(
        "#!/bin/sh\nexec {} --quiet --error-exitcode=99 --undef-value-errors=no {} \"$@\"\n",
        quoted(valgrind),
        quoted(program)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sample_is_there() {
        let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../test");
        for name in SAMPLE {
            assert!(tests.join(name).is_file(), "{name}");
        }
    }

    #[test]
    fn paths_are_quoted() {
        let text = wrapper(Path::new("/usr/bin/valgrind"), Path::new("/a b/it's"));
        assert!(text.contains("exec '/usr/bin/valgrind' --quiet"), "{text}");
        assert!(text.contains(r"'/a b/it'\''s' "), "{text}");
    }
}
