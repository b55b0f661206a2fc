//! Names of GPU architectures (`sm_80`, `sm_90a`) and which GPU runs which code.

use std::fmt;
use std::str::FromStr;

use cute_layout::sm::Multiprocessor;

/// What an architecture's suffix promises (PTX ISA, `.target`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Features {
    /// No suffix: cubins run on the same major version with the same or a higher minor one.
    Baseline,
    /// `f`: features of the family, which is the same major version.
    Family,
    /// `a`: features of exactly this version, of no later one.
    Specific,
}

/// A compilation target such as `sm_90a`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Arch {
    pub major: u32,
    pub minor: u32,
    pub features: Features,
}

/// The text names no architecture.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no architecture; expected sm_ and two or three digits with an optional a or f, such as sm_80 or sm_90a"
)]
pub struct BadArch(pub String);

impl Arch {
    /// What a multiprocessor of it has.
    pub fn multiprocessor(self) -> Multiprocessor {
        Multiprocessor::of(self.major, self.minor)
    }

    /// The most shared memory that a block may have, with the opt-in, in bytes.
    pub fn max_smem(self) -> u32 {
        self.multiprocessor().block_shared_memory
    }

    /// Whether a cubin for this architecture runs on a GPU of that compute capability.
    /// (CUDA C++ Programming Guide, binary compatibility.)
    pub fn cubin_runs_on(self, gpu: (u32, u32)) -> bool {
        match self.features {
            Features::Specific => gpu == (self.major, self.minor),
            Features::Baseline | Features::Family => gpu.0 == self.major && gpu.1 >= self.minor,
        }
    }

    /// Whether the driver can compile PTX for this architecture for a GPU of that compute
    /// capability.
    pub fn ptx_runs_on(self, gpu: (u32, u32)) -> bool {
        match self.features {
            Features::Specific => gpu == (self.major, self.minor),
            Features::Family => gpu.0 == self.major && gpu.1 >= self.minor,
            Features::Baseline => gpu >= (self.major, self.minor),
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
        if !(2..=3).contains(&digits.len()) || !digits.bytes().all(|b| b.is_ascii_digit()) {
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
            "compute_90",
            "sm_\u{e9}a",
            "sm_90aa",
        ] {
            assert!(text.parse::<Arch>().is_err(), "{text}");
        }
    }

    #[test]
    fn cubins_run_within_their_major_version() {
        assert!(arch("sm_80").cubin_runs_on((8, 0)));
        assert!(arch("sm_80").cubin_runs_on((8, 9)));
        assert!(!arch("sm_86").cubin_runs_on((8, 0)));
        assert!(!arch("sm_80").cubin_runs_on((9, 0)));
        assert!(arch("sm_90a").cubin_runs_on((9, 0)));
        assert!(!arch("sm_100a").cubin_runs_on((10, 3)));
        assert!(arch("sm_100f").cubin_runs_on((10, 3)));
    }

    #[test]
    fn ptx_runs_forward_but_not_when_specific() {
        assert!(arch("sm_80").ptx_runs_on((9, 0)));
        assert!(arch("sm_80").ptx_runs_on((12, 0)));
        assert!(!arch("sm_90").ptx_runs_on((8, 9)));
        assert!(!arch("sm_90a").ptx_runs_on((10, 0)));
        assert!(!arch("sm_100f").ptx_runs_on((12, 0)));
    }
}
