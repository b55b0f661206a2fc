//! `ldmatrix`, `stmatrix` and `movmatrix`: how 8 x 8 matrices of 16 bits lie in registers.
//!
//! A lane's register holds row `lane / 4`, columns `2 * (lane % 4)` and the one after, the lower one in the lower half; with
//! `.trans`, that of the transposed matrix. Lane `8 * i + r` gives the address of row r of matrix i.

use crate::emulator::alu::{Mods, Unknown};
use crate::emulator::{LANES, Row};

/// Rows of matrices as they lie in memory, by the lane that gives the address.
pub(super) type Rows = [[u8; 16]; LANES];

/// `ldmatrix` or `stmatrix`, decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Matrices {
    /// 1, 2 or 4; as many registers a lane.
    pub count: usize,
    pub transposed: bool,
    /// Tells whether the address says that it is in shared memory; else it is generic.
    pub shared: bool,
}

impl Matrices {
    /// `ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16` by its opcode and modifiers. Errors: modifiers that are not known or
    /// not in their place; shapes with elements of 8 bits and less.
    pub(crate) fn of(opcode: &str, modifiers: &[&str]) -> Result<Matrices, Unknown> {
        let mut mods = Mods::new(opcode, modifiers);
        for name in ["sync", "aligned", "m8n8"] {
            mods.required(&[(name, ())])?;
        }
        let count = mods.required(&[("x1", 1), ("x2", 2), ("x4", 4)])?;
        let transposed = mods.eat("trans");
        let shared = mods.eat("shared") || mods.eat("shared::cta");
        mods.required(&[("b16", ())])?;
        mods.end()?;
        Ok(Matrices {
            count,
            transposed,
            shared,
        })
    }

    /// Lanes whose addresses count: the first of them.
    pub(crate) fn lanes(&self) -> usize {
        8 * self.count
    }

    /// `ldmatrix`: what each register gets. Registers beyond [`Matrices::count`] stay.
    pub(crate) fn load(&self, rows: &Rows, d: &mut [Row]) {
        for (matrix, d) in rows.chunks_exact(8).zip(d).take(self.count) {
            for (lane, value) in d.iter_mut().enumerate() {
                let [low, high] = self
                    .elements(lane)
                    .map(|(row, column)| half(&matrix[row], column));
                *value = u64::from(high) << 16 | u64::from(low);
            }
        }
    }

    /// `stmatrix`: what each row becomes. Rows that no matrix has stay.
    pub(crate) fn store(&self, registers: &[Row], rows: &mut Rows) {
        for (matrix, register) in rows.chunks_exact_mut(8).zip(registers).take(self.count) {
            for (lane, value) in register.iter().enumerate() {
                for (part, (row, column)) in self.elements(lane).into_iter().enumerate() {
                    let element = (value >> (part * 16)) as u16;
                    matrix[row][2 * column..][..2].copy_from_slice(&element.to_le_bytes());
                }
            }
        }
    }

    /// Row and column of a lane's two elements in memory.
    fn elements(&self, lane: usize) -> [(usize, usize); 2] {
        [0, 1].map(|part| {
            let (row, column) = (lane / 4, 2 * (lane % 4) + part);
            match self.transposed {
                true => (column, row),
                false => (row, column),
            }
        })
    }
}

fn half(row: &[u8; 16], column: usize) -> u16 {
    u16::from_le_bytes([row[2 * column], row[2 * column + 1]])
}

/// `movmatrix.sync.aligned.m8n8.trans.b16`: the transposed matrix.
pub(crate) fn transpose(d: &mut Row, a: &Row) {
    let element = |row: usize, column: usize| a[row * 4 + column / 2] >> (column % 2 * 16) & 0xffff;
    for (lane, d) in d.iter_mut().enumerate() {
        let (row, column) = (lane / 4, 2 * (lane % 4));
        *d = element(column, row) | element(column + 1, row) << 16;
    }
}
