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
    let stripped = |name: &str, option: &str| -> Result<PathBuf> {
        let program = folder.join(name);
        quiet(
            Command::new(setup.llvm_bin.join("llvm-objcopy"))
                .arg(option)
                .args([&built.join("cute-opt"), &program]),
        )?;
        Ok(program)
    };
    // Reading names takes a fifth of a run.
    let bare = stripped("cute-opt.bare", "--strip-all")?;
    // Debian 12's valgrind cannot read Rust's debug information; names of functions are left.
    let named = stripped("cute-opt.named", "--strip-debug")?;
    for name in others.iter().filter(|name| **name != "cute-opt") {
        let name = name.trim_end_matches("-cli");
        let link = folder.join(name);
        let _ = std::fs::remove_file(&link);
        symlink(built.join(name), &link)
            .with_context(|| format!("{} cannot be made", link.display()))?;
    }
    let script = folder.join("cute-opt");
    std::fs::write(&script, wrapper(&valgrind, &bare, &named))?;
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755))?;
    Ok(folder)
}

/// The options by which valgrind translates code in less time: as most of it runs a few times only, that is most of a run. Traces of calls, which
/// they may cut short, are told by the second run.
const TRANSLATION: &str =
    "--vex-guest-chase=no --vex-iropt-level=1 --vex-iropt-register-updates=sp-at-mem-access";

/// The program that stands for cute-opt. Where something is found, it is run once more for the names of functions, and for where memory came from.
fn wrapper(valgrind: &Path, bare: &Path, named: &Path) -> String {
    let quoted = |path: &Path| format!("'{}'", path.display().to_string().replace('\'', "'\\''"));
    let valgrind = format!(
        "{} --quiet --error-exitcode=99 --undef-value-errors=no",
        quoted(valgrind)
    );
    format!(
        "#!/bin/sh\n\
         {valgrind} --keep-stacktraces=none {TRANSLATION} {} \"$@\"\n\
         status=$?\n\
         [ $status -ne 99 ] || {valgrind} {} \"$@\" >/dev/null\n\
         exit $status\n",
        quoted(bare),
        quoted(named)
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
        let [bare, named] = ["/a b/it's", "/named"].map(Path::new);
        let text = wrapper(Path::new("/usr/bin/valgrind"), bare, named);
        assert!(text.contains("\n'/usr/bin/valgrind' --quiet"), "{text}");
        assert!(text.contains(r"'/a b/it'\''s' "), "{text}");
    }
}
