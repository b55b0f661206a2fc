//! `--export`: a package as a library that programs call, with its headers and a description.

mod header;
mod names;
mod object;

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process;

use anyhow::{Context, anyhow, bail};
use cute::contract;
use cute_runtime::{Function, Package};
use serde_json::json;

use crate::beside;
use crate::cli::Cli;
use crate::job::read_package;
use object::Exported;

/// The file of the generic object.
const GENERIC: &str = "libcute.so";

/// A package in the words of C.
struct Library<'p> {
    /// Also the start of the names of files and symbols.
    name: String,
    functions: Vec<Named<'p>>,
}

/// A function with its names.
struct Named<'p> {
    function: &'p Function,
    /// The name in C++, and with the library's before it in C.
    name: String,
    symbols: Exported,
}

/// Writes the library of a package, its headers and its description.
///
/// # Errors
/// A package that is none, names that are one in C, no generic object, or a folder that cannot be written.
pub fn export(cli: &Cli, folder: &Path) -> anyhow::Result<()> {
    let [path] = cli.packages.as_slice() else {
        bail!("--export takes one package, found {}", cli.packages.len());
    };
    let package = read_package(path)?;
    let library = Library::new(path, &package)?;
    let bytes = package.to_bytes()?;
    let (generic_path, generic) = generic()?;
    let file = format!("lib{}.so", library.name);
    let exported: Vec<&Named> = library.functions.iter().collect();
    let symbols: Vec<Exported> = exported.iter().map(|named| named.symbols.clone()).collect();
    let code = object::library(&generic, &file, &symbols, &bytes)
        .with_context(|| generic_path.display().to_string())?;
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let description = describe(&library, &package, &bytes);
    for (file, contents) in [
        (file, code),
        (
            format!("{}.h", library.name),
            header::c(&library).into_bytes(),
        ),
        (
            format!("{}.hpp", library.name),
            header::cpp(&library).into_bytes(),
        ),
        (
            format!("{}.json", library.name),
            format!("{description:#}\n").into_bytes(),
        ),
    ] {
        let to = folder.join(file);
        write(&to, &contents).with_context(|| format!("cannot write {}", to.display()))?;
        println!("{}: {} bytes", to.display(), contents.len());
    }
    Ok(())
}

impl<'p> Library<'p> {
    fn new(path: &Path, package: &'p Package) -> anyhow::Result<Library<'p>> {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let name = names::name(&stem).ok_or_else(|| {
            anyhow!(
                "{}: expected a name with a letter or digit, which the library has after it; rename the file",
                path.display()
            )
        })?;
        let all = &package.manifest().functions;
        if all.is_empty() {
            bail!(
                "{}: expected a package with functions, found none",
                path.display()
            );
        }
        let mut seen: HashMap<String, &str> = HashMap::new();
        let mut functions = Vec::new();
        for (index, function) in all.iter().enumerate() {
            if function.name.contains('\0') {
                bail!(
                    "{}: expected a function's name without zero bytes, found `{}`; rename it",
                    path.display(),
                    function.name.escape_debug()
                );
            }
            let own = names::name(&function.name).unwrap_or_else(|| format!("function{index}"));
            if let Some(other) = seen.insert(own.clone(), &function.name) {
                bail!(
                    "{}: functions `{other}` and `{}` are both {own} in C; rename one",
                    path.display(),
                    function.name
                );
            }
            functions.push(Named {
                function,
                symbols: Exported {
                    c: format!("cute_{name}_{own}"),
                    tvm: format!("{}{}", contract::TVM_PREFIX, function.name),
                },
                name: own,
            });
        }
        Ok(Library { name, functions })
    }
}

/// The generic object.
fn generic() -> anyhow::Result<(PathBuf, Vec<u8>)> {
    let path = beside::find(
        GENERIC,
        "--export makes libraries of",
        "build it (cargo build -p cute-run)",
    )?;
    let bytes = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok((path, bytes))
}

/// A description for programs that call the library without its headers.
fn describe(library: &Library, package: &Package, bytes: &[u8]) -> serde_json::Value {
    let functions = library.functions.iter().map(|named| {
        let function = named.function;
        let requires: Vec<&str> = function
            .requires
            .iter()
            .map(|requirement| requirement.message.as_str())
            .collect();
        json!({
            "name": function.name,
            "c": named.symbols.c,
            "tvm_ffi": named.symbols.tvm,
            "args": function.args,
            "requires": requires,
            "workspace": function.workspace.is_some(),
        })
    });
    let functions: Vec<serde_json::Value> = functions.collect();
    let manifest = package.manifest();
    let images = manifest.images.iter().map(|image| {
        json!({"arch": image.arch, "ptx": image.ptx.is_some(), "cubin": image.cubin.is_some()})
    });
    json!({
        "library": format!("lib{}.so", library.name),
        "package": {
            "bytes": bytes.len(),
            "blake3": blake3::hash(bytes).to_hex().as_str(),
            "producer": manifest.producer,
        },
        "images": images.collect::<Vec<_>>(),
        "functions": functions,
    })
}

/// Writes a file through another and a rename: a program that has the old library loaded keeps it.
fn write(to: &Path, contents: &[u8]) -> std::io::Result<()> {
    let mut temporary = std::ffi::OsString::from(".");
    temporary.push(to.file_name().unwrap_or_default());
    temporary.push(format!(".{}.tmp", process::id()));
    let temporary = to.with_file_name(temporary);
    let written = fs::write(&temporary, contents).and_then(|()| fs::rename(&temporary, to));
    if written.is_err() {
        // The first error is the one to report.
        let _ = fs::remove_file(&temporary);
    }
    written
}
