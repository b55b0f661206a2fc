//! The program of `docs/embedding.md`, compiled as the page says, in a folder outside of the workspace.

use crate::process::show;
use crate::workspace::Workspace;
use anyhow::{Context, Result, anyhow};
use std::path::Path;

/// The page.
const PAGE: &str = "docs/embedding.md";
/// Its files.
const FILES: [&str; 3] = [".cargo/config.toml", "Cargo.toml", "src/main.rs"];
/// The path that stands in the page for this checkout.
const CHECKOUT: &str = "/path/to/cute-opt";
/// The settings of the page's `.cargo/config.toml`, for the LLVM that Debian installs.
const VARIABLES: [&str; 3] = [
    "MLIR_SYS_220_PREFIX",
    "TABLEGEN_220_PREFIX",
    "LIBCLANG_PATH",
];
const LLVM: &str = "/usr/lib/llvm-22";

/// Checks the program; whether it compiles. Dependencies that the workspace's own checks have compiled are used again.
pub fn check(workspace: &Workspace) -> Result<bool> {
    let page = std::fs::read_to_string(workspace.root.join(PAGE))
        .with_context(|| format!("{PAGE} cannot be read"))?;
    let manifest = workspace.root.join("Cargo.toml");
    let manifest = std::fs::read_to_string(&manifest)
        .with_context(|| format!("{} cannot be read", manifest.display()))?;
    let folder = tempfile::tempdir()?;
    for file in FILES {
        let text = fence(&page, file)
            .ok_or_else(|| anyhow!("{PAGE} has no fence after a line `{file}`"))?;
        let path = folder.path().join(file);
        std::fs::create_dir_all(path.parent().unwrap_or(folder.path()))?;
        let root = workspace.root.to_string_lossy();
        let mut text = text.replace(CHECKOUT, &root);
        if file == "Cargo.toml" {
            text += profiles(&manifest);
        }
        std::fs::write(path, text)?;
    }
    // The versions that are here, so that nothing is downloaded.
    std::fs::copy(
        workspace.root.join("Cargo.lock"),
        folder.path().join("Cargo.lock"),
    )?;
    let mut cargo = workspace.cargo();
    cargo
        .current_dir(folder.path())
        .args(["check", "--quiet", "--offline"]);
    if Path::new(LLVM).is_dir() {
        // `cargo xtask` has them from the workspace; the page's own must do.
        for variable in VARIABLES {
            cargo.env_remove(variable);
        }
    }
    show(&mut cargo)
}

/// The profiles of the workspace's manifest, which end it: with them dependencies are those that its own checks have compiled.
fn profiles(manifest: &str) -> &str {
    manifest
        .find("\n[profile.")
        .map_or("", |start| &manifest[start..])
}

/// The text of the fence that follows a line with the file's name.
fn fence<'p>(page: &'p str, file: &str) -> Option<&'p str> {
    let (_, after) = page.split_once(&format!("\n`{file}`\n"))?;
    let (_, after) = after.split_once("\n```")?;
    let (_, text) = after.split_once('\n')?;
    let (text, _) = text.split_once("\n```")?;
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_taken_out_of_the_page() {
        let page = "# A\n\n`src/main.rs`\n\n```rust\nfn main() {\n}\n```\n\n`Cargo.toml`\n\n```toml\n[package]\n```\n";
        assert_eq!(fence(page, "src/main.rs"), Some("fn main() {\n}"));
        assert_eq!(fence(page, "Cargo.toml"), Some("[package]"));
        assert_eq!(fence(page, "build.rs"), None);
    }

    #[test]
    fn profiles_end_the_manifest() {
        let own = profiles(include_str!("../../Cargo.toml"));
        let sections = own.lines().filter(|line| line.starts_with('['));
        let mut count = 0;
        for section in sections {
            assert!(section.starts_with("[profile."), "{section}");
            count += 1;
        }
        assert!(count > 2, "{own}");
        assert_eq!(profiles("[package]\n"), "");
    }

    #[test]
    fn the_page_has_the_files_and_the_variables() {
        let page = include_str!("../../docs/embedding.md");
        for file in FILES {
            assert!(fence(page, file).is_some(), "{file}");
        }
        let config = fence(page, FILES[0]).unwrap_or_default();
        for variable in VARIABLES {
            let line = format!("{variable} = \"{LLVM}");
            assert!(config.contains(&line), "{variable}");
        }
        // The same as in the workspace.
        let own = include_str!("../../.cargo/config.toml");
        assert!(
            config
                .lines()
                .all(|line| line.starts_with('#') || own.contains(line))
        );
    }
}
