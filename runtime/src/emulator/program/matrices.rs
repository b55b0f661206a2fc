//! Products of matrices of a warp, and the fragments of `wmma` in memory.

use super::super::mma::{Fragment, Mma, Wmma};
use super::{Reg, Space};

/// `mma.sync`
#[derive(Debug)]
pub(in crate::emulator) struct MmaOp {
    pub mma: Mma,
    pub d: Vec<Reg>,
    pub a: Vec<Reg>,
    pub b: Vec<Reg>,
    pub c: Vec<Reg>,
}

/// `wmma.mma`
#[derive(Debug)]
pub(in crate::emulator) struct WmmaOp {
    pub wmma: Wmma,
    pub d: Vec<Reg>,
    pub a: Vec<Reg>,
    pub b: Vec<Reg>,
    pub c: Vec<Reg>,
}

/// A fragment of `wmma` in memory: the address is the same in all lanes.
#[derive(Debug)]
pub(in crate::emulator) struct FragmentAccess {
    pub fragment: Fragment,
    pub space: Space,
    pub base: Reg,
    pub offset: i64,
    /// Elements from one line to the next; those of a line where there is none.
    pub stride: Option<Reg>,
    pub regs: Vec<Reg>,
}
