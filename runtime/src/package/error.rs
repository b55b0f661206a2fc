//! The errors of a package.

use std::io;
use std::path::PathBuf;

use super::FORMAT_VERSION;

/// Why a package could not be read, written or built. Each says what was expected, what was found,
/// and the cure.
#[derive(Debug, thiserror::Error)]
pub enum PackageError {
    #[error("cannot {action} {}: {error}", path.display())]
    Io {
        action: &'static str,
        path: PathBuf,
        error: io::Error,
    },

    #[error(
        "not a kernel package: expected the file to begin with `CUTEPKG\\0`, found {found}; \
         packages are written by cute-opt (--cute-compile)"
    )]
    Foreign { found: String },

    #[error(
        "package format version {found} is newer than version {FORMAT_VERSION}, the one that this program reads; \
         use the cute-run of the compiler that wrote the package, or compile it again"
    )]
    Newer { found: u32 },

    #[error(
        "package format version {found} is older than version {FORMAT_VERSION}, the one that this program reads; \
         compile the package again"
    )]
    Older { found: u32 },

    #[error("package is truncated: found {found} of {expected} bytes; copy or compile it again")]
    Truncated { expected: u64, found: u64 },

    #[error("package has {found} bytes where its header says {expected}; copy or compile it again")]
    TooLong { expected: u64, found: u64 },

    #[error(
        "package is damaged: checksum of the {part} is {found:#010x}, expected {expected:#010x}; copy or compile it again"
    )]
    Checksum {
        part: &'static str,
        expected: u32,
        found: u32,
    },

    #[error("package manifest cannot be understood: {0}; compile the package again")]
    Json(serde_json::Error),

    #[error("package is too large: {what} takes {found} bytes, the format allows {limit}")]
    TooLarge {
        what: &'static str,
        found: u64,
        limit: u64,
    },

    /// The manifest says something that cannot be.
    #[error("invalid package: {place}: expected {expected}, found {found}{}{cure}", if cure.is_empty() { "" } else { "; " })]
    Invalid {
        /// The place in the manifest: `function gemm, launch 0`.
        place: String,
        expected: String,
        found: String,
        /// The cure; may be empty.
        cure: String,
    },
}
