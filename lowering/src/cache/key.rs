//! The key of an entry: a hash of everything that decides what a compilation gives.

use super::{CacheError, identity, imports};
use crate::{CompileOptions, ptxas};
use std::{fmt, fs};

/// The form of keys and of what entries hold. It changes where the meaning of an entry does.
const FORM: &[u8] = b"cute-opt cache 3";

/// The name of an entry: a hash of the input, the options, this build of the compiler and the assembler.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key(pub(super) blake3::Hash);

impl Key {
    /// Makes the key of what is compiled of a text, by the name that it has in places: the files that it imports count as well. `more` is all else that options do not
    /// say. Where packages are written does not count, and of options only what they say: `arch=native` is the
    /// architecture of this machine, if the options are [resolved](CompileOptions::resolved). Of a table of measured times its text counts, wherever it is.
    ///
    /// # Errors
    /// [`CacheError::Options`]: options that nothing is compiled with, or a table that cannot be read. [`CacheError::Bytecode`]: bytecode that imports. [`CacheError::NoBuild`], [`CacheError::NoAssembler`]: a key
    /// that would not say who compiles.
    pub fn new(
        options: &CompileOptions,
        name: &str,
        text: &[u8],
        more: &[&[u8]],
    ) -> Result<Self, CacheError> {
        let imported = imports::of(name, text)?;
        let table = options.measured.as_ref().map(fs::read);
        let table = table.transpose().map_err(|e| {
            let file = options.measured.clone().unwrap_or_default();
            CacheError::Options(format!("measured={}: {e}", file.display()))
        })?;
        let options = CompileOptions {
            package: None,
            measured: None,
            ..options.clone()
        };
        let passes = options.pipeline().map_err(CacheError::Options)?;
        let build = identity::build()?;
        let assembler = match ptxas::file() {
            Ok(path) => identity::of_file(&path),
            // Without one packages hold PTX alone.
            Err(ptxas::PtxasError::Missing { .. }) => Ok(String::new()),
            Err(error) => return Err(CacheError::NoAssembler(error.to_string())),
        };
        let assembler = assembler.map_err(|e| CacheError::NoAssembler(e.to_string()))?;
        let mut hasher = blake3::Hasher::new();
        let mut add = |bytes: &[u8]| {
            hasher.update(&(bytes.len() as u64).to_le_bytes());
            hasher.update(bytes);
        };
        add(FORM);
        add(build.as_bytes());
        add(assembler.as_bytes());
        add(passes.as_bytes());
        add(&[u8::from(table.is_some())]);
        add(&table.unwrap_or_default());
        [name.as_bytes(), text, &imported]
            .iter()
            .chain(more)
            .for_each(|part| add(part));
        Ok(Self(hasher.finalize()))
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.to_hex())
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({self})")
    }
}
