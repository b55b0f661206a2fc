//! The cache of compiled packages: a folder of entries, each named by a hash of all that decides what a compilation gives.
//!
//! The content of an entry is its maker's affair: some byte strings ([`Entry`]). [`Compiler`](crate::Compiler) keeps a package and
//! what was said of it, `cute-opt --cache` also the module that it prints.

mod identity;
mod imports;
mod key;
mod said;
mod store;
#[cfg(test)]
mod tests;

pub use key::Key;
pub(crate) use said::{read as read_said, write as write_said};
pub use store::Entry;

use std::{
    env, io,
    path::{Path, PathBuf},
};

/// The reason why the cache was of no use. Nobody has to give up for it: what is not cached is compiled.
#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    /// A folder that cannot be read or written.
    #[error(
        "the cache cannot {action} {}: {error}; what is compiled is not kept: make the folder writable, or name another one",
        path.display()
    )]
    Io {
        /// The operation that was tried: `read`, `write`, `list` or `make`.
        action: &'static str,
        /// The file or the folder.
        path: PathBuf,
        /// The system's message.
        error: io::Error,
    },
    /// An environment that says nothing of where the cache is.
    #[error(
        "expected a folder for the cache, found neither CUTE_CACHE_DIR, XDG_CACHE_HOME nor a home folder: set CUTE_CACHE_DIR"
    )]
    NoFolder,
    /// A bound that is none.
    #[error(
        "CUTE_CACHE_LIMIT: expected a number of bytes, such as 300000000, 512M or 2G, found '{0}'"
    )]
    Limit(String),
    /// Options that name no architecture, or one that is not there.
    #[error("{0}")]
    Options(String),
    /// Bytecode that imports something, of which nobody but a reader of bytecode can tell what.
    #[error(
        "expected a text, of which it is known what it imports, found bytecode with imports, of which nothing is kept: give it as text"
    )]
    Bytecode,
    /// A program of which nothing tells one build from another.
    #[error(
        "expected the file of the running program, by which the cache tells one build of the compiler from another, found none: {0}"
    )]
    NoBuild(io::Error),
    /// No assembler, or none that can be looked at: compiling says more.
    #[error("expected ptxas, of which cached code is made, found none that can be read: {0}")]
    NoAssembler(String),
}

/// A cache of compiled packages in a folder, which any number of threads and processes may share.
///
/// It holds a number of bytes at most: entries that were not used for the longest time make room for new ones. Nothing but
/// its own files is ever removed from the folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cache {
    folder: PathBuf,
    limit: u64,
}

impl Cache {
    /// The bound where none is set: 1 GiB.
    pub const LIMIT: u64 = 1 << 30;

    /// A cache in a folder of its own, which is made when something is first kept in it.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
            limit: Self::LIMIT,
        }
    }

    /// The cache of this user, which `cute-opt --cache` has too: `$CUTE_CACHE_DIR`, or `cute-opt` in `$XDG_CACHE_HOME` or
    /// `~/.cache`; bounded by `$CUTE_CACHE_LIMIT`, in bytes or with a K, M or G of 1024. A `folder` wins over the first three.
    ///
    /// # Errors
    /// [`CacheError::NoFolder`], [`CacheError::Limit`].
    pub fn from_environment(folder: Option<PathBuf>) -> Result<Self, CacheError> {
        let given = |name| env::var_os(name).filter(|value| !value.is_empty());
        let folder = folder
            .or_else(|| given("CUTE_CACHE_DIR").map(PathBuf::from))
            .or_else(|| Some(dirs::cache_dir()?.join("cute-opt")))
            .ok_or(CacheError::NoFolder)?;
        let cache = Self::at(folder);
        let Some(limit) = given("CUTE_CACHE_LIMIT") else {
            return Ok(cache);
        };
        let bytes = limit.to_str().and_then(bytes);
        let bytes = bytes.ok_or_else(|| CacheError::Limit(limit.to_string_lossy().into_owned()))?;
        Ok(cache.limit(bytes))
    }

    /// Bounds the bytes of all entries; what is larger by itself is not kept.
    #[must_use]
    pub fn limit(mut self, bytes: u64) -> Self {
        self.limit = bytes;
        self
    }

    /// The folder of the entries.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

/// Reads a number of bytes: digits, and a K, M or G.
fn bytes(text: &str) -> Option<u64> {
    let (digits, shift) = match text.as_bytes().last()?.to_ascii_uppercase() {
        b'K' => (&text[..text.len() - 1], 10),
        b'M' => (&text[..text.len() - 1], 20),
        b'G' => (&text[..text.len() - 1], 30),
        _ => (text, 0),
    };
    digits.parse::<u64>().ok()?.checked_mul(1 << shift)
}
