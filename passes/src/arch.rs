//! The architectures that kernels are compiled for, with PTX's versions from the PTX ISA's table of targets. What a
//! multiprocessor has stands in [`cute_layout::sm`].

use cute_ir::build::{Op, attribute_of, parent_of};
use cute_layout::sm::{self, Multiprocessor};

/// An architecture that kernels are compiled for.
#[derive(Debug, PartialEq, Eq)]
pub struct Arch {
    /// As `ptxas -arch` names it.
    pub name: &'static str,
    /// Compute capability, 10 * major + minor.
    pub sm: u32,
    /// The least PTX ISA version that knows it and all that is emitted, as LLVM's feature.
    pub ptx: &'static str,
}

/// 32-bit registers of an SM.
pub const REGISTERS: i64 = sm::REGISTERS as i64;
/// Registers that one thread can have.
pub const REGISTERS_PER_THREAD: i64 = sm::REGISTERS_PER_THREAD as i64;
/// Threads of one block.
pub const THREADS_PER_BLOCK: i64 = sm::THREADS_PER_BLOCK as i64;
/// Threads of a warp.
pub const WARP: i64 = sm::WARP as i64;

/// Those that are supported.
pub const ARCHS: &[Arch] = &[
    Arch {
        name: "sm_80",
        sm: 80,
        ptx: "+ptx80",
    },
    Arch {
        name: "sm_89",
        sm: 89,
        ptx: "+ptx80",
    },
    Arch {
        name: "sm_90",
        sm: 90,
        ptx: "+ptx80",
    },
    Arch {
        name: "sm_90a",
        sm: 90,
        ptx: "+ptx80",
    },
    Arch {
        name: "sm_120",
        sm: 120,
        ptx: "+ptx87",
    },
];

impl Arch {
    /// Dynamic shared memory that a block may ask for, in bytes.
    pub fn shared_memory(&self) -> i64 {
        Multiprocessor::of(self.sm / 10, self.sm % 10)
            .block_shared_memory
            .into()
    }

    /// The architecture of that name, or what there is.
    pub fn find(name: &str) -> Result<&'static Arch, String> {
        ARCHS.iter().find(|arch| arch.name == name).ok_or_else(|| {
            let known: Vec<_> = ARCHS.iter().map(|arch| arch.name).collect();
            if name.is_empty() {
                format!("no architecture: give arch=, one of {}", known.join(", "))
            } else {
                format!(
                    "unsupported architecture '{name}': expected one of {}",
                    known.join(", ")
                )
            }
        })
    }
}

/// The architecture that a kernel is compiled for: what its `cute.config` says, else its module's `#nvvm.target`.
pub fn of_kernel(kernel: Op) -> Result<&'static Arch, String> {
    if let Some((_, arch)) = crate::config::Config::load_if_any(kernel)? {
        return Ok(arch);
    }
    let targets =
        parent_of(kernel, "gpu.module").and_then(|module| attribute_of(module, "targets"));
    let chip = targets.map(|targets| targets.to_string()).and_then(|text| {
        let rest = text.split("chip = \"").nth(1)?;
        Some(rest.split('"').next()?.to_owned())
    });
    match chip {
        Some(chip) => Arch::find(&chip),
        None => Err(
            "expected the attribute cute.config on the kernel, as cute-tile leaves it, or \
             #nvvm.target<chip = ...> on its gpu.module: run cute-tile{arch=...} first"
                .to_owned(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_names_are_answered_with_the_known_ones() {
        assert_eq!(Arch::find("sm_90a").map(|arch| arch.sm), Ok(90));
        let error = Arch::find("sm_70").unwrap_err();
        assert!(
            error.contains("'sm_70'") && error.contains("sm_80, sm_89"),
            "{error}"
        );
    }
}
