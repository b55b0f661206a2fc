//! Files of this program that lie beside it.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

/// The path of a library, which cargo leaves in `deps` beside this program, and an installation in the same folder or in `../lib`.
///
/// # Errors
/// If there is none: `purpose` says what it is for, and `build` how it is made.
pub fn find(name: &str, purpose: &str, build: &str) -> anyhow::Result<PathBuf> {
    let own = std::env::current_exe().context("cannot find this program")?;
    // A link leads to the folder that it was installed into.
    let own = own.canonicalize().unwrap_or(own);
    let folder = own.parent().unwrap_or(Path::new("."));
    let places = ["deps", "", "../lib", "../lib/cute"].map(|place| folder.join(place).join(name));
    if let Some(place) = places.iter().find(|place| place.is_file()) {
        return Ok(place.clone());
    }
    let places: Vec<String> = places
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    bail!(
        "expected {name}, which {purpose}, beside this program; found none in {}; copy it there from where cute-run was built, or {build}",
        places.join(", ")
    )
}
