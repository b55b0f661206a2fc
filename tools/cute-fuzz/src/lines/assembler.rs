//! NVIDIA's assembler without its optimizer, to tell its mistakes from those of the emulator.

use anyhow::{Context, Result, bail};
use std::ffi::OsString;
use std::process::Command;

/// Returns the machine code of a PTX text for an architecture, as `ptxas -O0` makes it: `$CUTE_PTXAS`, or the one on the path.
///
/// # Errors
/// If there is no ptxas, or it refuses the text.
pub fn unoptimized(text: &str, arch: &str) -> Result<Vec<u8>> {
    let named = std::env::var_os("CUTE_PTXAS").filter(|path| !path.is_empty());
    let ptxas = named.unwrap_or_else(|| OsString::from("ptxas"));
    let folder = tempfile::tempdir()?;
    let (source, code) = (folder.path().join("k.ptx"), folder.path().join("k.cubin"));
    std::fs::write(&source, text)?;
    let done = Command::new(&ptxas)
        .args(["-O0", "-arch", arch, "-o"])
        .args([&code, &source])
        .output()
        .with_context(|| format!("{} cannot be run", ptxas.display()))?;
    if !done.status.success() {
        bail!("{}", String::from_utf8_lossy(&done.stderr));
    }
    Ok(std::fs::read(code)?)
}
