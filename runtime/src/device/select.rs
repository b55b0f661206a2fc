//! The choice of the image of a package that a GPU runs.

use std::cmp::Reverse;

use crate::package::{Blob, Image, Package};
use cute_target::Arch;

/// The form of the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Code {
    /// Machine code of one architecture, in an ELF file.
    Cubin,
    /// Compiled by the driver when it is loaded.
    Ptx,
}

/// Code that the GPU can run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection<'p> {
    /// The image that holds the code.
    pub image: &'p Image,
    /// The architecture of the image.
    pub arch: Arch,
    /// The form of the code.
    pub code: Code,
    /// The bytes of the code in the package.
    pub blob: Blob,
}

/// No image suits the GPU.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "no code for this GPU: the package has {has}, the GPU is {gpu} (compute capability {major}.{minor}); \
     {cure}"
)]
pub struct SelectError {
    has: String,
    gpu: String,
    major: u32,
    minor: u32,
    /// The GPU's own architecture.
    arch: Option<Arch>,
    cure: String,
}

impl SelectError {
    /// The architecture to compile for; none of a GPU that there is no code for.
    pub fn arch(&self) -> Option<Arch> {
        self.arch
    }
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
        let own = Arch::for_gpu(gpu);
        return Err(SelectError {
            has: if has.is_empty() {
                "none".into()
            } else {
                has.join(", ")
            },
            gpu: gpu_name.to_string(),
            major: gpu.0,
            minor: gpu.1,
            cure: match &own {
                Ok(arch) => format!("compile the package for {arch}, too"),
                Err(error) => error.to_string(),
            },
            arch: own.ok(),
        });
    }
    // Of one version the most specific is last in the order of architectures.
    found.sort_by_key(|s| (s.code, Reverse(s.arch)));
    Ok(found)
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
        // An Orin takes nobody else's cubins.
        assert_eq!(chosen(&p, (8, 7)), ["sm_80 Ptx"]);
    }

    #[test]
    fn code_of_a_family_runs_in_it() {
        let p = package(&[
            ("sm_100", "cubin ptx"),
            ("sm_100f", "cubin"),
            ("sm_100a", "cubin ptx"),
            ("sm_103a", "cubin"),
        ]);
        assert_eq!(
            chosen(&p, (10, 0)),
            [
                "sm_100a Cubin",
                "sm_100f Cubin",
                "sm_100 Cubin",
                "sm_100a Ptx",
                "sm_100 Ptx"
            ]
        );
        assert_eq!(
            chosen(&p, (10, 3)),
            [
                "sm_103a Cubin",
                "sm_100f Cubin",
                "sm_100 Cubin",
                "sm_100 Ptx"
            ]
        );
        assert_eq!(chosen(&p, (11, 0)), ["sm_100 Ptx"]);
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
             (compute capability 12.0); compile the package for sm_120a, too"
        );
        let error = select(&package(&[("sm_80", "cubin")]), (9, 0), "H100")
            .unwrap_err()
            .to_string();
        assert!(
            error.ends_with("compile the package for sm_90a, too"),
            "{error}"
        );
        let error = select(&package(&[]), (9, 0), "H100")
            .unwrap_err()
            .to_string();
        assert!(error.contains("the package has none"), "{error}");
        let error = select(&p, (7, 0), "V100").unwrap_err().to_string();
        assert!(
            error.contains("no code is compiled for compute capability 7.0"),
            "{error}"
        );
    }
}
