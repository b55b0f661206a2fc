//! A device that everybody has: PTX executed on the CPU.

mod lanes;
pub mod traffic;

pub use lanes::{LANES, Mask, Row, lanes};
