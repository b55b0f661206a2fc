//! Which image of a package a GPU runs.

use std::cmp::Reverse;

use crate::arch::{Arch, Features};
use crate::package::{Blob, Image, Package};

/// The form of the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Code {
    Cubin,
    /// Compiled by the driver when it is loaded.
    Ptx,
}

/// Code that the GPU can run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection<'p> {
    pub image: &'p Image,
    pub arch: Arch,
    pub code: Code,
    pub blob: Blob,
}

/// No image suits the GPU.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "no code for this GPU: the package has {has}, the GPU is {gpu} (compute capability {major}.{minor}); \
     compile for it with cute-opt --cute-compile=\"arch={cure}\""
)]
pub struct SelectError {
    has: String,
    gpu: String,
    major: u32,
    minor: u32,
    cure: String,
}

/// All code that a GPU of that compute capability can run, the best first: cubins before PTX, newer
/// architectures before older ones, and of one version the more specific. A loader takes the next
/// where the driver refuses one.
///
/// # Errors
/// [`SelectError`] if there is none.
pub fn select<'p>(
    package: &'p Package,
    gpu: (u32, u32),
    gpu_name: &str,
) -> Result<Vec<Selection<'p>>, SelectError> {
    let mut found = Vec::new();
    let mut has = Vec::new();
    for image in &package.manifest().images {
        // Packages are valid, so every architecture can be read.
        let Ok(arch) = image.arch.parse::<Arch>() else {
            continue;
        };
        for (code, blob) in [(Code::Cubin, image.cubin), (Code::Ptx, image.ptx)] {
            let Some(blob) = blob else { continue };
            let (name, runs) = match code {
                Code::Cubin => ("cubin", arch.cubin_runs_on(gpu)),
                Code::Ptx => ("PTX", arch.ptx_runs_on(gpu)),
            };
            has.push(format!("{arch} ({name})"));
            if runs {
                found.push(Selection {
                    image,
                    arch,
                    code,
                    blob,
                });
            }
        }
    }
    if found.is_empty() {
        return Err(SelectError {
            has: if has.is_empty() {
                "none".into()
            } else {
                has.join(", ")
            },
            gpu: gpu_name.to_string(),
            major: gpu.0,
            minor: gpu.1,
            cure: cure(gpu),
        });
    }
    let specific = |arch: Arch| match arch.features {
        Features::Baseline => 0,
        Features::Family => 1,
        Features::Specific => 2,
    };
    found.sort_by_key(|s| {
        (
            s.code,
            Reverse((s.arch.major, s.arch.minor, specific(s.arch))),
        )
    });
    Ok(found)
}

/// The architecture to compile for: only Hopper has kernels that need its specific features.
fn cure(gpu: (u32, u32)) -> String {
    let suffix = if gpu == (9, 0) { "a" } else { "" };
    format!("sm_{}{}{suffix}", gpu.0, gpu.1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::package::ImageSource;

    fn package(images: &[(&str, &str)]) -> Package {
        let builder = images
            .iter()
            .fold(Package::builder("test"), |builder, (arch, code)| {
                builder.image(ImageSource {
                    arch: (*arch).into(),
                    cubin: code.contains("cubin").then(|| b"cubin".to_vec()),
                    ptx: code.contains("ptx").then(|| "ptx".to_string()),
                    kernels: vec![],
                })
            });
        builder.build().unwrap()
    }

    fn chosen(package: &Package, gpu: (u32, u32)) -> Vec<String> {
        let all = select(package, gpu, "a GPU").unwrap();
        all.iter()
            .map(|s| format!("{} {:?}", s.arch, s.code))
            .collect()
    }

    #[test]
    fn the_best_code_comes_first() {
        let p = package(&[
            ("sm_80", "cubin ptx"),
            ("sm_90", "cubin"),
            ("sm_90a", "cubin ptx"),
            ("sm_86", "cubin"),
        ]);
        assert_eq!(
            chosen(&p, (9, 0)),
            ["sm_90a Cubin", "sm_90 Cubin", "sm_90a Ptx", "sm_80 Ptx"]
        );
        assert_eq!(
            chosen(&p, (8, 9)),
            ["sm_86 Cubin", "sm_80 Cubin", "sm_80 Ptx"]
        );
        assert_eq!(chosen(&p, (8, 0)), ["sm_80 Cubin", "sm_80 Ptx"]);
        assert_eq!(chosen(&p, (12, 0)), ["sm_80 Ptx"]);
    }

    #[test]
    fn other_gpus_are_told_what_to_do() {
        let p = package(&[("sm_80", "cubin"), ("sm_90a", "cubin ptx")]);
        let error = select(&p, (12, 0), "NVIDIA RTX 6000")
            .unwrap_err()
            .to_string();
        assert_eq!(
            error,
            "no code for this GPU: the package has sm_80 (cubin), sm_90a (cubin), sm_90a (PTX), the GPU is NVIDIA RTX 6000 \
             (compute capability 12.0); compile for it with cute-opt --cute-compile=\"arch=sm_120\""
        );
        let error = select(&package(&[("sm_80", "cubin")]), (9, 0), "H100")
            .unwrap_err()
            .to_string();
        assert!(error.contains("arch=sm_90a"), "{error}");
        let error = select(&package(&[]), (9, 0), "H100")
            .unwrap_err()
            .to_string();
        assert!(error.contains("the package has none"), "{error}");
    }
}
