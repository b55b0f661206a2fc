//! The memory spaces of a GPU.

use std::{fmt, str::FromStr};

/// A memory space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// Global memory.
    Gmem,
    /// Shared memory of a block.
    Smem,
    /// Shared memory of a block of the cluster, which may be another one.
    Dsmem,
    /// Registers.
    Rmem,
    /// Any of the spaces that have addresses.
    Generic,
    /// Tensor memory of SM100.
    Tmem,
    /// Shared memory as `wgmma` is told of it, by descriptors that count in 16 bytes. No tensor is declared in it.
    Descriptors,
}

impl Space {
    /// The name as types have it: `gmem`, `smem`, `dsmem`, `rmem`, `generic`, `tmem`; `descriptors`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gmem => "gmem",
            Self::Smem => "smem",
            Self::Dsmem => "dsmem",
            Self::Rmem => "rmem",
            Self::Generic => "generic",
            Self::Tmem => "tmem",
            Self::Descriptors => "descriptors",
        }
    }
}

impl FromStr for Space {
    type Err = String;

    /// The space of that name. Errors: another text, with the names that there are.
    fn from_str(text: &str) -> Result<Self, String> {
        let all = [
            Self::Gmem,
            Self::Smem,
            Self::Dsmem,
            Self::Rmem,
            Self::Generic,
            Self::Tmem,
        ];
        let found = all.into_iter().find(|space| space.name() == text);
        found.ok_or_else(|| {
            format!(
                "expected the memory space gmem, smem, dsmem, rmem, generic or tmem, found '{text}'"
            )
        })
    }
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.name())
    }
}
