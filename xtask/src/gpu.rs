//! Tells whether there is a GPU, and which.

use crate::process::quiet;
use anyhow::Result;
use cute_target::Arch;
use std::process::Command;

/// The architecture to compile for where there is no GPU.
pub const DEFAULT_ARCH: &str = "sm_90a";

/// The architecture of the first GPU, as `cute-opt` wants it; nothing where nvidia-smi finds none. Errors: a GPU that nothing is
/// compiled for.
pub fn arch() -> Result<Option<String>> {
    let query = ["--query-gpu=compute_cap", "--format=csv,noheader"];
    let answer = quiet(Command::new("nvidia-smi").args(query)).unwrap_or_default();
    let found = capability_of(&answer).map(Arch::for_gpu).transpose()?;
    Ok(found.map(|arch| arch.to_string()))
}

/// Reads what `nvidia-smi` prints: a compute capability a line.
fn capability_of(answer: &str) -> Option<(u32, u32)> {
    let (major, minor) = answer.lines().next()?.trim().split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_architecture_is_read_from_the_compute_capability() {
        let arch = |answer| {
            let capability = capability_of(answer)?;
            Some(Arch::for_gpu(capability).unwrap().to_string())
        };
        assert_eq!(arch("9.0\n").as_deref(), Some(DEFAULT_ARCH));
        // An RTX 3090, a Jetson Orin, a B200, a DGX Spark.
        assert_eq!(arch("8.6\n9.0\n").as_deref(), Some("sm_86"));
        assert_eq!(arch("8.7\n").as_deref(), Some("sm_87"));
        assert_eq!(arch("10.0\n").as_deref(), Some("sm_100a"));
        assert_eq!(arch("12.1").as_deref(), Some("sm_121a"));
        assert_eq!(capability_of("No devices were found"), None);
        assert_eq!(capability_of("[N/A]"), None);
        assert_eq!(capability_of(""), None);
    }
}
