//! A device that everybody has: PTX executed on the CPU.
//!
//! The program that runs is the text that a package carries, decoded once into rows and indices ([`decode`]). Each
//! block runs on one core, its warps in turns that a seed decides; blocks run on all cores. The
//! programming model is taken at its word: a copy is under way until it is waited for, threads are
//! ordered by what orders them and by nothing else ([`clocks`]), an address is aligned as the argument
//! promises and no better. What a kernel must not do is a [`Finding`], and the run goes on.

mod address;
// For tests, which stand outside so that the library is compiled once.
#[doc(hidden)]
pub mod alu;
mod block;
mod cause;
mod clocks;
mod decode;
mod device;
mod exec;
mod finding;
mod global;
mod lanes;
mod launch;
mod memory;
mod mma;
mod process;
mod program;
mod report;
mod session;
mod shared;
mod steer;
mod timeline;
pub mod traffic;
mod watch;

pub use cause::{Cause, Cure, Gap, causes};
pub use decode::DecodeError;
pub(crate) use device::Emulated;
pub use device::{Config, Emulator};
pub use finding::{Finding, Kind, Site, Thread, merge};
pub use lanes::{LANES, Mask, Row, lanes, select};
pub use process::{ProcessReport, SETTINGS, Settings};
pub use report::{Counts, LaunchReport, Line, Occupancy, Passes, Report, Step, Traffic};
pub use session::{Argument, Grid, KernelFacts, Memory, Module, Pointer, Session, Signature};
pub use steer::{Exploration, Preemption, Schedule};
pub use timeline::{BlockTimeline, Stretch, Timeline, perfetto};
