//! Kernel packages: one file that holds kernels for one or more architectures, the launches that
//! make a function of them, and what that function means. `docs/package.md` describes the bytes.

mod candidates;
mod compute;
mod error;
mod expr;
mod format;
mod limits;
mod manifest;
mod map;
mod places;
mod region;
mod validate;
mod validate_compute;
mod validate_region;
mod views;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

pub use candidates::{Candidate, CandidateChoice};
pub use compute::{Compute, Factor, Gemm, Role};
pub use cute_arith::{ReduceOp, ScalarOp};
pub use error::PackageError;
pub(crate) use expr::Environment;
pub use expr::{Expr, MAX_DEPTH, MAX_NODES, Op};
pub use format::{BLOB_ALIGN, FORMAT_VERSION, HEADER_LENGTH, MAGIC};
pub use limits::Limits;
pub(crate) use limits::Sizes;
pub use manifest::{
    Access, Arg, Blob, BoxSize, Function, Im2colParam, Image, KernelInfo, Launch, Manifest, MapOf,
    MapParam, Number, Outside, Param, Requirement, SharedSwizzle,
};
pub use map::Map;
pub(crate) use map::{repeats, varies};
pub(crate) use places::Known;
pub use places::{At, Step};
pub(crate) use region::ValueType;
pub use region::{Epilogue, MAX_REGION_OPS, Prologue, Region, RegionOp, RegionValue};
pub use views::{View, ViewOf};

/// A kernel package in memory. One that came from [`PackageBuilder::build`],
/// [`Package::from_bytes`] or [`Package::read_file`] is valid: every index, blob, layout and launch
/// was checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Package {
    manifest: Manifest,
    blobs: Vec<u8>,
}

/// The code of one architecture, which [`PackageBuilder::image`] takes.
#[derive(Clone, Debug, Default)]
pub struct ImageSource {
    /// `sm_80`, `sm_90a`, ...
    pub arch: String,
    /// PTX text, without a terminating zero; none where there is only a cubin.
    pub ptx: Option<String>,
    /// An ELF cubin; none where there is only PTX.
    pub cubin: Option<Vec<u8>>,
    /// The figures of the kernels that the code holds.
    pub kernels: Vec<KernelInfo>,
}

/// Collects functions and images into a [`Package`].
#[derive(Clone, Debug)]
pub struct PackageBuilder {
    manifest: Manifest,
    blobs: Vec<u8>,
}

impl PackageBuilder {
    /// Adds a function.
    #[must_use]
    pub fn function(mut self, function: Function) -> Self {
        self.manifest.functions.push(function);
        self
    }

    /// Adds the code of one architecture.
    #[must_use]
    pub fn image(mut self, source: ImageSource) -> Self {
        let ptx = source.ptx.map(|text| self.blob(text.as_bytes()));
        let cubin = source.cubin.map(|bytes| self.blob(&bytes));
        self.manifest.images.push(Image {
            arch: source.arch,
            ptx,
            cubin,
            kernels: source.kernels,
        });
        self
    }

    /// The package, checked.
    ///
    /// # Errors
    /// [`PackageError::Invalid`] if the parts do not fit together.
    pub fn build(self) -> Result<Package, PackageError> {
        validate::validate(&self.manifest, self.blobs.len() as u64)?;
        Ok(Package {
            manifest: self.manifest,
            blobs: self.blobs,
        })
    }

    fn blob(&mut self, bytes: &[u8]) -> Blob {
        self.blobs
            .resize(self.blobs.len().next_multiple_of(BLOB_ALIGN), 0);
        let offset = self.blobs.len() as u64;
        self.blobs.extend_from_slice(bytes);
        Blob {
            offset,
            length: bytes.len() as u64,
        }
    }
}

impl Package {
    /// Starts a package; `producer` names the program that writes it, with its version.
    pub fn builder(producer: impl Into<String>) -> PackageBuilder {
        PackageBuilder {
            manifest: Manifest {
                producer: producer.into(),
                ..Manifest::default()
            },
            blobs: Vec::new(),
        }
    }

    /// Returns the manifest, which was checked where the package is valid.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The bytes of a blob of this package's manifest; empty for a blob that is not of this
    /// package.
    pub fn blob(&self, blob: &Blob) -> &[u8] {
        let range = usize::try_from(blob.offset)
            .ok()
            .zip(usize::try_from(blob.offset.saturating_add(blob.length)).ok());
        range
            .and_then(|(from, to)| self.blobs.get(from..to))
            .unwrap_or_default()
    }

    /// The function of that name, or the only one if `name` is none.
    ///
    /// # Errors
    /// [`PackageError::Function`], which lists the functions there are.
    pub fn function(&self, name: Option<&str>) -> Result<&Function, PackageError> {
        let functions = &self.manifest.functions;
        let found = match name {
            Some(name) => functions.iter().find(|f| f.name == name),
            None if functions.len() == 1 => functions.first(),
            None => None,
        };
        found.ok_or_else(|| PackageError::Function {
            expected: name.map_or_else(
                || "exactly one function".into(),
                |n| format!("a function named `{n}`"),
            ),
            found: match functions.as_slice() {
                [] => "none".into(),
                all => all
                    .iter()
                    .map(|f| format!("`{}`", f.name))
                    .collect::<Vec<_>>()
                    .join(", "),
            },
        })
    }

    /// The bytes of the file.
    ///
    /// # Errors
    /// If the manifest is larger than 4 GiB.
    pub fn to_bytes(&self) -> Result<Vec<u8>, PackageError> {
        format::encode(&self.manifest, &self.blobs)
    }

    /// Reads and checks a package.
    ///
    /// # Errors
    /// Every [`PackageError`] but `Io`. It never panics, whatever the bytes are.
    pub fn from_bytes(bytes: &[u8]) -> Result<Package, PackageError> {
        let (manifest, blobs) = format::decode(bytes)?;
        validate::validate(&manifest, blobs.len() as u64)?;
        Ok(Package {
            manifest,
            blobs: blobs.to_vec(),
        })
    }

    /// Reads and checks a package file.
    ///
    /// # Errors
    /// As [`Package::from_bytes`], and `Io`.
    pub fn read_file(path: impl AsRef<Path>) -> Result<Package, PackageError> {
        let path = path.as_ref();
        let bytes = fs::read(path).map_err(|error| PackageError::Io {
            action: "read",
            path: path.to_path_buf(),
            error,
        })?;
        Package::from_bytes(&bytes)
    }

    /// Writes the file through a temporary one beside it and a rename: a reader finds the old file
    /// or the new one, never half of one.
    ///
    /// # Errors
    /// `Io`, and what [`Package::to_bytes`] gives.
    pub fn write_file(&self, path: impl AsRef<Path>) -> Result<(), PackageError> {
        let path = path.as_ref();
        let bytes = self.to_bytes()?;
        let temporary = temporary_beside(path);
        let written = write_new(&temporary, &bytes).and_then(|()| fs::rename(&temporary, path));
        written.map_err(|error| {
            // The first error is the one to report; a file that was never made cannot be removed.
            let _ = fs::remove_file(&temporary);
            PackageError::Io {
                action: "write",
                path: path.to_path_buf(),
                error,
            }
        })
    }
}

/// A name in the same folder, as a rename across file systems is not atomic.
fn temporary_beside(path: &Path) -> PathBuf {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(
        ".{}.{}.tmp",
        std::process::id(),
        NEXT.fetch_add(1, Ordering::Relaxed)
    ));
    path.with_file_name(name)
}

/// Writes a new file. It is not waited for until the disk has it, as long as that is busy: what a power failure leaves of a package is found by its
/// checksum, and a package can be compiled again.
fn write_new(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(path)?;
    file.write_all(bytes)
}
