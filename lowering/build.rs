//! Puts a hash of the compiler's sources into the crate, by which its cache tells builds of one version apart.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
};

/// The crates that decide what comes out of a compilation.
const CRATES: &[&str] = &[
    "ir/target",
    "ir/arith",
    "ir/layout",
    "ir/dialect",
    "passes",
    "passes/simplify",
    "passes/layout-terms",
    "passes/measured",
    "lowering",
    "runtime",
];

/// The parts of a crate that are built; tests and benchmarks are not.
const PARTS: &[&str] = &["Cargo.toml", "build.rs", "build", "ods", "shim", "src"];

fn main() {
    let root = Path::new("..");
    // The library is part of what is compiled with it.
    let files = ["Cargo.toml", "Cargo.lock", "ir/lib"];
    let mut places: Vec<PathBuf> = files.iter().map(|file| root.join(file)).collect();
    for folder in CRATES {
        places.extend(PARTS.iter().map(|part| root.join(folder).join(part)));
    }
    let mut files = Vec::new();
    // Where the crates do not lie beside each other, as vendored ones do not, the hash is of those that are found.
    for place in places.iter().filter(|place| place.exists()) {
        println!("cargo:rerun-if-changed={}", place.display());
        if let Err(error) = collect(place, &mut files) {
            println!("cargo:warning=cannot list {}: {error}", place.display());
        }
    }
    files.sort();
    let mut hasher = blake3::Hasher::new();
    let mut add = |bytes: &[u8]| {
        hasher.update(&(bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    };
    for file in &files {
        add(file.to_string_lossy().as_bytes());
        add(&fs::read(file).unwrap_or_default());
    }
    for name in ["PROFILE", "OPT_LEVEL", "DEBUG", "TARGET"] {
        add(env::var(name).unwrap_or_default().as_bytes());
    }
    println!(
        "cargo:rustc-env=CUTE_SOURCES={}",
        hasher.finalize().to_hex()
    );
}

/// Adds a file, or the files of a folder.
fn collect(place: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if !place.is_dir() {
        files.push(place.to_path_buf());
        return Ok(());
    }
    for entry in fs::read_dir(place)? {
        collect(&entry?.path(), files)?;
    }
    Ok(())
}
