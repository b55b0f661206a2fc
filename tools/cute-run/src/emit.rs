//! Extracts PTX or a cubin.

use anyhow::{Context, bail};
use cute_runtime::Image;

use crate::cli::{Cli, Emit};
use crate::job::read_package;

pub fn emit(cli: &Cli, kind: Emit) -> anyhow::Result<()> {
    let [path] = cli.packages.as_slice() else {
        bail!("--emit takes one package, found {}", cli.packages.len());
    };
    let Some(to) = &cli.to else {
        bail!("--emit needs --to FILE")
    };
    let package = read_package(path)?;
    let blob = |image: &Image| match kind {
        Emit::Ptx => image.ptx,
        Emit::Cubin => image.cubin,
    };
    let what = if kind == Emit::Ptx { "PTX" } else { "cubin" };
    let images = &package.manifest().images;
    let found: Vec<_> = images
        .iter()
        .filter(|image| cli.arch.as_ref().is_none_or(|arch| *arch == image.arch))
        .filter_map(|image| Some((image, blob(image)?)))
        .collect();
    let has: Vec<_> = images
        .iter()
        .filter(|image| blob(image).is_some())
        .map(|image| image.arch.as_str())
        .collect();
    let has = if has.is_empty() {
        "none".to_string()
    } else {
        has.join(", ")
    };
    let (image, blob) = match (found.as_slice(), &cli.arch) {
        ([one], _) => one,
        ([], Some(arch)) => bail!(
            "{}: expected a {what} for {arch}, found {has}",
            path.display()
        ),
        ([], None) => bail!("{}: expected a {what}, found {has}", path.display()),
        _ => bail!(
            "{}: expected one {what}, found {has}; choose one with --arch",
            path.display()
        ),
    };
    let bytes = package.blob(blob);
    std::fs::write(to, bytes).with_context(|| format!("cannot write {}", to.display()))?;
    println!(
        "{}: {what} for {}, {} bytes",
        to.display(),
        image.arch,
        bytes.len()
    );
    Ok(())
}
