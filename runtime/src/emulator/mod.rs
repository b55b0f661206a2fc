//! A device that everybody has: PTX executed on the CPU.

pub mod alu;
mod lanes;

pub use lanes::{LANES, Mask, Row, lanes};
