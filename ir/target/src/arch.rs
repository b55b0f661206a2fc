//! Names of architectures (`sm_80`, `sm_90a`, `sm_120f`), which of them are compiled for, and which GPU runs which code.

use std::fmt;
use std::str::FromStr;

use crate::chips::{Chip, EMITTED};
use crate::multiprocessor::Multiprocessor;

/// The features that an architecture's suffix promises (PTX ISA, `.target`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Features {
    /// The features without a suffix, which every later architecture has too.
    Baseline,
    /// `f`: features of the family, which are the chips of the same major version.
    Family,
    /// `a`: features of exactly this version, of no later one.
    Specific,
}

/// An architecture that code is compiled for, such as `sm_90a`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Arch {
    /// The number of the compute capability.
    pub major: u32,
    /// The number of the compute capability.
    pub minor: u32,
    /// The features that the suffix promises.
    pub features: Features,
}

/// A text that names no architecture.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no architecture; expected sm_ and two or three digits with an optional a or f, such as sm_80 or sm_90a"
)]
pub struct BadArch(pub String);

/// A name of an architecture that nothing is compiled for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unsupported {
    /// No name was given.
    #[error("no architecture: give arch=, one of {}", known())]
    None,
    /// `native` was given where nobody asks the driver.
    #[error(
        "arch=native is for --cute-compile, which asks the driver for this machine's GPU: expected one of {}",
        known()
    )]
    Native,
    /// Another name.
    #[error("unsupported architecture '{name}': expected one of {}", known())]
    Name {
        /// The text that was given.
        name: String,
    },
}

/// A GPU that no architecture here is for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "no code is compiled for compute capability {major}.{minor}: there is {}{}",
    known(),
    or_older(older)
)]
pub struct NoArch {
    major: u32,
    minor: u32,
    /// The newest architecture whose PTX the driver compiles for that GPU.
    older: Option<Arch>,
}

fn known() -> String {
    let names: Vec<String> = Arch::all().map(|arch| arch.to_string()).collect();
    names.join(", ")
}

fn or_older(arch: &Option<Arch>) -> String {
    arch.map_or_else(String::new, |arch| {
        format!("; its driver can compile the PTX for {arch}, so that arch={arch} will do")
    })
}

/// Chips of Jetson and Drive, between which and others there is no binary compatibility.
const TEGRA: [(u32, u32); 4] = [(7, 2), (8, 7), (10, 1), (11, 0)];

impl Arch {
    /// The architectures that are compiled for, the oldest first.
    pub fn all() -> impl Iterator<Item = Arch> {
        Chip::all().iter().flat_map(Chip::archs)
    }

    /// The architecture of that name. Errors: it is none that is compiled for; the message lists them.
    pub fn find(name: &str) -> Result<Arch, Unsupported> {
        match name {
            "" => Err(Unsupported::None),
            "native" => Err(Unsupported::Native),
            _ => name
                .parse()
                .ok()
                .filter(|arch: &Arch| arch.ptx_version().is_some())
                .ok_or_else(|| Unsupported::Name {
                    name: name.to_owned(),
                }),
        }
    }

    /// The architecture to compile for where only that GPU shall run the code: the one that has all of its instructions.
    /// Errors: a chip that nothing is compiled for.
    pub fn for_gpu((major, minor): (u32, u32)) -> Result<Arch, NoArch> {
        Chip::of((major, minor))
            .and_then(|chip| chip.archs().last())
            .ok_or_else(|| NoArch {
                major,
                minor,
                older: Arch::all()
                    .filter(|arch| arch.features == Features::Baseline)
                    .filter(|arch| arch.ptx_runs_on((major, minor)))
                    .last(),
            })
    }

    /// The least PTX ISA version that knows it, as in 80 for 8.0; nothing where it is none that is compiled for.
    pub fn brought_by_ptx(self) -> Option<u32> {
        Chip::of((self.major, self.minor))?.brought_by(self.features)
    }

    /// The least PTX ISA version that knows it and all that is emitted; nothing where it is none that is compiled for.
    pub fn ptx_version(self) -> Option<u32> {
        Some(self.brought_by_ptx()?.max(EMITTED))
    }

    /// Tells whether the tensor cores multiply floating-point numbers of 8 bits by `mma.sync`: QMMA in the machine code of sm_89 and of sm_120 and
    /// later. Where PTX has the instruction besides, on sm_90 to sm_110, ptxas makes conversions and products of f16 of each, in the registers of a
    /// kernel's main loop (ptxas 13.0, looked at by nvdisasm).
    pub fn multiplies_eight_bit_floats(self) -> bool {
        (self.major, self.minor) == (8, 9) || self.major >= 12
    }

    /// The limits of its multiprocessor.
    pub fn multiprocessor(self) -> Multiprocessor {
        Multiprocessor::of(self.major, self.minor)
    }

    /// Bytes of shared memory that a block may have, with the opt-in.
    pub fn max_smem(self) -> u32 {
        self.multiprocessor().block_shared_memory
    }

    /// Multiprocessors of a GPU that has it: how many there really are belongs to the GPU, so this serves to rank, and to
    /// emulate one.
    pub fn multiprocessors(self) -> u32 {
        // Of a chip that is none of these, the count of the oldest later one, or of the newest.
        let later = Chip::all()
            .iter()
            .find(|chip| chip.capability >= (self.major, self.minor));
        later
            .or(Chip::all().last())
            .map_or(1, |chip| chip.multiprocessors)
    }

    /// Tells whether a cubin for this architecture runs on a GPU of that compute capability.
    ///
    /// A cubin runs on chips of the same major version that are as new or newer; if it is for specific features, on that
    /// chip alone; a Jetson's or Drive's chip runs its own alone, and its cubins run nowhere else. (CUDA C++ Programming
    /// Guide, "Binary Compatibility", and "Family-Specific Features" of "Compute Capabilities".)
    pub fn cubin_runs_on(self, gpu: (u32, u32)) -> bool {
        let own = (self.major, self.minor);
        let bound = TEGRA.contains(&own) || TEGRA.contains(&gpu);
        match self.features {
            Features::Specific => gpu == own,
            Features::Baseline | Features::Family if bound => gpu == own,
            Features::Baseline | Features::Family => gpu.0 == own.0 && gpu.1 >= own.1,
        }
    }

    /// Tells whether the driver can compile PTX for this architecture for a GPU of that compute capability. (PTX ISA, `.target`.)
    pub fn ptx_runs_on(self, gpu: (u32, u32)) -> bool {
        let own = (self.major, self.minor);
        match self.features {
            Features::Specific => gpu == own,
            Features::Family => gpu.0 == own.0 && gpu.1 >= own.1,
            Features::Baseline => gpu >= own,
        }
    }
}

impl fmt::Display for Arch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let suffix = match self.features {
            Features::Baseline => "",
            Features::Family => "f",
            Features::Specific => "a",
        };
        write!(f, "sm_{}{}{suffix}", self.major, self.minor)
    }
}

impl FromStr for Arch {
    type Err = BadArch;

    fn from_str(text: &str) -> Result<Self, BadArch> {
        let bad = || BadArch(text.to_string());
        let rest = text.strip_prefix("sm_").ok_or_else(bad)?;
        let (digits, features) = match rest.as_bytes().last() {
            Some(b'a') => (&rest[..rest.len() - 1], Features::Specific),
            Some(b'f') => (&rest[..rest.len() - 1], Features::Family),
            _ => (rest, Features::Baseline),
        };
        let is_number = digits.bytes().all(|b| b.is_ascii_digit()) && !digits.starts_with('0');
        if !(2..=3).contains(&digits.len()) || !is_number {
            return Err(bad());
        }
        // The last digit is the minor version: sm_120 is 12.0.
        let number: u32 = digits.parse().map_err(|_| bad())?;
        Ok(Arch {
            major: number / 10,
            minor: number % 10,
            features,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arch(text: &str) -> Arch {
        text.parse().unwrap()
    }

    #[test]
    fn text_reads_back() {
        for text in [
            "sm_70", "sm_80", "sm_89", "sm_90", "sm_90a", "sm_100f", "sm_120a",
        ] {
            assert_eq!(arch(text).to_string(), text);
        }
        assert_eq!((arch("sm_120").major, arch("sm_120").minor), (12, 0));
        for text in [
            "",
            "sm_",
            "sm_9",
            "sm_90b",
            "sm_+90",
            "sm_9a",
            "sm_1234",
            "sm_075",
            "compute_90",
            "sm_\u{e9}a",
            "sm_90aa",
        ] {
            assert!(text.parse::<Arch>().is_err(), "{text}");
        }
    }

    #[test]
    fn unknown_names_are_answered_with_the_known_ones() {
        assert_eq!(Arch::find("sm_90a"), Ok(arch("sm_90a")));
        assert_eq!(Arch::find("sm_121f"), Ok(arch("sm_121f")));
        for name in ["sm_70", "sm_90f", "sm_80a", "sm_101", "(8,8):(8,1)"] {
            let error = Arch::find(name).unwrap_err().to_string();
            assert!(
                error.contains(&format!(
                    "'{name}': expected one of sm_75, sm_80, sm_86, sm_87"
                )),
                "{error}"
            );
        }
        let error = Arch::find("").unwrap_err().to_string();
        assert!(error.contains("give arch=, one of sm_75"), "{error}");
        let error = Arch::find("native").unwrap_err().to_string();
        assert!(error.contains("for --cute-compile"), "{error}");
    }

    #[test]
    fn a_gpu_has_an_architecture_of_its_own() {
        for (gpu, name) in [
            ((7, 5), "sm_75"),
            ((8, 6), "sm_86"),
            ((8, 7), "sm_87"),
            ((9, 0), "sm_90a"),
            ((10, 0), "sm_100a"),
            ((12, 1), "sm_121a"),
        ] {
            assert_eq!(Arch::for_gpu(gpu).unwrap().to_string(), name);
        }
        let error = Arch::for_gpu((7, 0)).unwrap_err().to_string();
        assert!(
            error.starts_with("no code is compiled for compute capability 7.0: there is sm_75")
                && error.ends_with("sm_121a"),
            "{error}"
        );
        let error = Arch::for_gpu((13, 0)).unwrap_err().to_string();
        assert!(error.ends_with("so that arch=sm_121 will do"), "{error}");
        let error = Arch::for_gpu((10, 9)).unwrap_err().to_string();
        assert!(error.ends_with("so that arch=sm_103 will do"), "{error}");
    }

    #[test]
    fn each_is_known_to_a_version_of_ptx() {
        for (name, ptx) in [
            ("sm_75", 80),
            ("sm_88", 90),
            ("sm_90", 80),
            ("sm_100", 86),
            ("sm_100f", 88),
            ("sm_103a", 88),
            ("sm_110", 90),
            ("sm_120", 87),
        ] {
            assert_eq!(arch(name).ptx_version(), Some(ptx), "{name}");
        }
        assert_eq!(arch("sm_70").ptx_version(), None);
        assert_eq!(arch("sm_75").brought_by_ptx(), Some(63));
    }

    #[test]
    fn cubins_run_within_their_major_version() {
        assert!(arch("sm_80").cubin_runs_on((8, 0)));
        assert!(arch("sm_80").cubin_runs_on((8, 9)));
        assert!(arch("sm_86").cubin_runs_on((8, 9)));
        assert!(!arch("sm_86").cubin_runs_on((8, 0)));
        assert!(!arch("sm_80").cubin_runs_on((9, 0)));
        assert!(!arch("sm_75").cubin_runs_on((8, 0)));
        assert!(arch("sm_100").cubin_runs_on((10, 3)));
        assert!(arch("sm_120").cubin_runs_on((12, 1)));
        assert!(!arch("sm_100").cubin_runs_on((12, 0)));
        assert!(!arch("sm_100").cubin_runs_on((11, 0)));
    }

    /// Family-specific code runs in its family, from its own version on; specific code on its own version.
    #[test]
    fn cubins_with_a_suffix_run_where_its_features_are() {
        assert!(arch("sm_90a").cubin_runs_on((9, 0)));
        assert!(!arch("sm_90a").cubin_runs_on((10, 0)));
        assert!(!arch("sm_100a").cubin_runs_on((10, 3)));
        assert!(arch("sm_100f").cubin_runs_on((10, 0)));
        assert!(arch("sm_100f").cubin_runs_on((10, 3)));
        assert!(!arch("sm_103f").cubin_runs_on((10, 0)));
        assert!(!arch("sm_100f").cubin_runs_on((11, 0)));
        assert!(!arch("sm_100f").cubin_runs_on((12, 0)));
        assert!(arch("sm_120f").cubin_runs_on((12, 1)));
        assert!(!arch("sm_120a").cubin_runs_on((12, 1)));
        assert!(!arch("sm_121f").cubin_runs_on((12, 0)));
    }

    #[test]
    fn a_jetson_runs_its_own_cubins_alone() {
        assert!(arch("sm_87").cubin_runs_on((8, 7)));
        assert!(!arch("sm_80").cubin_runs_on((8, 7)));
        assert!(!arch("sm_86").cubin_runs_on((8, 7)));
        assert!(!arch("sm_87").cubin_runs_on((8, 9)));
        assert!(arch("sm_110f").cubin_runs_on((11, 0)));
        // PTX runs everywhere from its version on.
        assert!(arch("sm_80").ptx_runs_on((8, 7)));
        assert!(arch("sm_87").ptx_runs_on((8, 9)));
    }

    #[test]
    fn ptx_runs_forward_but_not_when_specific() {
        assert!(arch("sm_80").ptx_runs_on((9, 0)));
        assert!(arch("sm_80").ptx_runs_on((12, 0)));
        assert!(!arch("sm_90").ptx_runs_on((8, 9)));
        assert!(!arch("sm_90a").ptx_runs_on((10, 0)));
        assert!(arch("sm_100f").ptx_runs_on((10, 3)));
        assert!(!arch("sm_103f").ptx_runs_on((10, 0)));
        assert!(!arch("sm_100f").ptx_runs_on((12, 0)));
        assert!(arch("sm_100").ptx_runs_on((12, 0)));
    }
}
