//! NVIDIA's architectures, as a compiler, a loader and an emulator see them: which there are, what a multiprocessor of each
//! has, which GPU runs which code, which instruction exists where, and what accesses to memory cost.
//!
//! *Invariant:* nothing here compares numbers of architectures to find out whether an instruction exists. sm_90a is not
//! sm_90, and sm_120 is no superset of sm_90a: an instruction has a [`Requirement`], and [`Arch::has`] answers.
#![warn(missing_docs, unreachable_pub)]

mod arch;
mod archs;
pub mod banks;
mod chips;
mod multiprocessor;
mod requirement;
pub mod sectors;
mod space;
mod timing;

pub use arch::{Arch, BadArch, Features, NoArch, Unsupported};
pub use archs::Archs;
pub use chips::{Chip, table};
pub use multiprocessor::{
    Limits, Multiprocessor, Occupancy, REGISTERS, REGISTERS_PER_THREAD, RESERVED_SHARED,
    SETMAXNREG_UNIT, THREADS_PER_BLOCK, WARP, WARPGROUP, registers_of_warpgroups,
};
pub use requirement::Requirement;
pub use space::Space;
pub use timing::{Cost, Timing, Unit};
