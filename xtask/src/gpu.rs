//! Is there a GPU, and which.

use crate::process::quiet;
use std::process::Command;

/// The architecture to compile for where there is no GPU.
pub const DEFAULT_ARCH: &str = "sm_90a";

/// The architecture of the first GPU, as `cute-opt` wants it.
pub fn arch() -> Option<String> {
    let query = ["--query-gpu=compute_cap", "--format=csv,noheader"];
    arch_of(&quiet(Command::new("nvidia-smi").args(query)).ok()?)
}

/// From what `nvidia-smi` prints: a compute capability a line.
fn arch_of(answer: &str) -> Option<String> {
    let (major, minor) = answer.lines().next()?.trim().split_once('.')?;
    let (major, minor): (u32, u32) = (major.parse().ok()?, minor.parse().ok()?);
    // The instructions of Hopper's own path exist only in the target with the `a`.
    let suffix = if (major, minor) == (9, 0) { "a" } else { "" };
    Some(format!("sm_{major}{minor}{suffix}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_architecture_is_read_from_the_compute_capability() {
        assert_eq!(arch_of("9.0\n").as_deref(), Some(DEFAULT_ARCH));
        assert_eq!(arch_of("8.6\n9.0\n").as_deref(), Some("sm_86"));
        assert_eq!(arch_of("12.0").as_deref(), Some("sm_120"));
        assert_eq!(arch_of("No devices were found"), None);
        assert_eq!(arch_of(""), None);
    }
}
