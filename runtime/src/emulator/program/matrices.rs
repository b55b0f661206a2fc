//! Products of matrices of a warp, and the fragments of `wmma` in memory.

use super::super::mma::{Fragment, Mma, SparseMma, Wmma};
use super::{Reg, Space};

/// A product of a warp and the registers of its matrices.
#[derive(Debug)]
pub(in crate::emulator) struct Product<M> {
    pub mma: M,
    pub d: Vec<Reg>,
    pub a: Vec<Reg>,
    pub b: Vec<Reg>,
    pub c: Vec<Reg>,
}

/// `mma.sync`
pub(in crate::emulator) type MmaOp = Product<Mma>;

/// `mma.sp`: a product, and the register with the metadata of A.
#[derive(Debug)]
pub(in crate::emulator) struct SparseOp {
    pub product: Product<SparseMma>,
    pub metadata: Reg,
}

/// `wmma.mma`
pub(in crate::emulator) type WmmaOp = Product<Wmma>;

impl<M> Product<M> {
    /// The registers that are read.
    pub(in crate::emulator) fn sources(&self) -> impl Iterator<Item = &Reg> {
        self.a.iter().chain(&self.b).chain(&self.c)
    }
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
