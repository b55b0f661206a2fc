//! The errors of a package.

use std::io;
use std::path::PathBuf;

use super::FORMAT_VERSION;

/// The reason why a package could not be read, written or built. Each says what was expected, what was found,
/// and the cure.
#[derive(Debug, thiserror::Error)]
pub enum PackageError {
    /// The file could not be read or written.
    #[error("cannot {action} {}: {error}", path.display())]
    Io {
        /// The action that failed: `read` or `write`.
        action: &'static str,
        /// Path of the file.
        path: PathBuf,
        /// The reason that the operating system gives.
        error: io::Error,
    },

    /// The file is no package.
    #[error(
        "not a kernel package: expected the file to begin with `CUTEPKG\\0`, found {found}; \
         packages are written by cute-opt (--cute-compile)"
    )]
    Foreign {
        /// The start of the file, or that it is empty.
        found: String,
    },

    /// The package is of a newer version of the format.
    #[error(
        "package format version {found} is newer than version {FORMAT_VERSION}, the one that this program reads; \
         use the cute-run of the compiler that wrote the package, or compile it again"
    )]
    Newer {
        /// The version of the package.
        found: u32,
    },

    /// The package is of an older version of the format.
    #[error(
        "package format version {found} is older than version {FORMAT_VERSION}, the one that this program reads; \
         compile the package again"
    )]
    Older {
        /// The version of the package.
        found: u32,
    },

    /// The package ends too early.
    #[error("package is truncated: found {found} of {expected} bytes; copy or compile it again")]
    Truncated {
        /// Bytes that the package should have, as far as could be read.
        expected: u64,
        /// Bytes that the package has.
        found: u64,
    },

    /// The package goes on after its end.
    #[error("package has {found} bytes where its header says {expected}; copy or compile it again")]
    TooLong {
        /// Bytes that the header says.
        expected: u64,
        /// Bytes that the package has.
        found: u64,
    },

    /// A checksum does not match.
    #[error(
        "package is damaged: checksum of the {part} is {found:#010x}, expected {expected:#010x}; copy or compile it again"
    )]
    Checksum {
        /// The part that is summed up: `header` or `contents`.
        part: &'static str,
        /// The checksum (CRC-32) that the package states.
        expected: u32,
        /// The checksum of the bytes that were read.
        found: u32,
    },

    /// The manifest is no JSON of the expected form.
    #[error("package manifest cannot be understood: {0}; compile the package again")]
    Json(serde_json::Error),

    /// A part of the package is larger than the format allows.
    #[error("package is too large: {what} takes {found} bytes, the format allows {limit}")]
    TooLarge {
        /// The name of the part, such as `the manifest`.
        what: &'static str,
        /// Bytes of the part.
        found: u64,
        /// The most bytes that the part may have.
        limit: u64,
    },

    /// The package has no such function, or several where one is to be chosen by itself.
    #[error("expected {expected}, found {found}; ask for one by its name")]
    Function {
        /// The function that was asked for.
        expected: String,
        /// The names of those there are.
        found: String,
    },

    /// The manifest says something that cannot be.
    #[error("invalid package: {place}: expected {expected}, found {found}{}{cure}", if cure.is_empty() { "" } else { "; " })]
    Invalid {
        /// The place in the manifest: `function gemm, launch 0`.
        place: String,
        /// The values that the format allows there.
        expected: String,
        /// The value that the manifest has there.
        found: String,
        /// The cure; may be empty.
        cure: String,
    },
}
