//! The banks of shared memory: where elements fall, and what an access costs.

use std::fmt::Write;

use cute_layout::{Layout, Swizzle};
use cute_target::banks::{BANK_BYTES, NUM_BANKS, ideal, wavefronts};
use serde_json::{Value as Json, json};

use crate::failure::Fault;
use crate::grid::{Grid, Window};
use crate::table;

/// Threads of a warp.
const WARP: usize = 32;
/// The most threads of a block.
const MAX_THREADS: i64 = 1024;

/// A layout in shared memory.
#[derive(Debug)]
pub struct Memory {
    /// The layout.
    pub grid: Grid,
    /// Bits of an element.
    pub bits: i64,
    /// A swizzle of byte addresses.
    pub swizzle: Option<Swizzle>,
}

/// The cost of one warp's access.
#[derive(Debug)]
pub struct Warp {
    /// Its first thread.
    pub first: usize,
    /// Its threads.
    pub threads: usize,
    /// Passes over the banks.
    pub wavefronts: u32,
    /// Passes without conflicts.
    pub ideal: u32,
}

/// An access by threads.
#[derive(Debug)]
pub struct Access {
    /// Bytes of each thread.
    pub bytes: u32,
    /// Warp by warp.
    pub warps: Vec<Warp>,
}

impl Memory {
    // The bit address of element `offset`.
    fn bit(&self, offset: i64) -> Result<i64, Fault> {
        let address = offset.checked_mul(self.bits).and_then(|bit| {
            let Some(s) = self.swizzle else {
                return Some(bit);
            };
            let byte = s.apply(bit.div_euclid(8)).checked_mul(8)?;
            byte.checked_add(bit.rem_euclid(8))
        });
        address.ok_or_else(|| {
            Fault::Call("expected addresses that fit 64 bits, found an overflow".into())
        })
    }

    /// The bank of each element of a window.
    pub fn banks(&self, w: Window) -> Result<Vec<Vec<i64>>, Fault> {
        let mut rows = self.grid.values(w)?;
        for v in rows.iter_mut().flatten() {
            *v = self
                .bit(*v)?
                .div_euclid(8 * BANK_BYTES)
                .rem_euclid(NUM_BANKS);
        }
        Ok(rows)
    }

    /// The cost of an access: thread `t` begins at element `threads(t)` of the layout (an index, first mode fastest) and
    /// takes `vector` elements in a row.
    ///
    /// Errors: widths that no access has; threads outside the layout; vectors that leave it, are misaligned, or that the
    /// swizzle tears apart.
    pub fn access(&self, threads: &Layout, vector: i64) -> Result<Access, Fault> {
        let fail = |message: String| Err(Fault::Call(message));
        let bits = self.bits.checked_mul(vector).unwrap_or(0);
        let bytes = bits / 8;
        if bits % 8 != 0 || !matches!(bytes, 1 | 2 | 4 | 8 | 16) {
            return fail(format!(
                "expected an access of 1, 2, 4, 8 or 16 bytes a thread, found {vector} elements of {} bits; change --vector",
                self.bits
            ));
        }
        let count = threads.size()?;
        if count > MAX_THREADS {
            return fail(format!(
                "expected at most {MAX_THREADS} threads, found {count} in {threads}"
            ));
        }
        let flat = threads.flat_or("banks")?;
        let (rows, columns) = self.grid.size;
        let mut addresses = Vec::with_capacity(count as usize);
        for t in 0..count {
            let index = flat.at(t);
            let size = rows.checked_mul(columns).unwrap_or(i64::MAX);
            if !(0..size).contains(&index) {
                return fail(format!(
                    "expected threads to begin at elements 0 to {} of {}, found {index} at thread {t}",
                    size - 1,
                    self.grid.title
                ));
            }
            let start = self.grid.at(index % rows, index / rows)?;
            let Some(address) = self.vector_address(start, vector)? else {
                return fail(format!(
                    "expected thread {t} to access {bytes} aligned bytes in a row, found that it begins at offset {start}, where \
                     they are misaligned or the swizzle parts them; make --vector smaller, or the swizzle's base larger"
                ));
            };
            addresses.push(address);
        }
        let warps = addresses.chunks(WARP).enumerate().map(|(i, lanes)| Warp {
            first: i * WARP,
            threads: lanes.len(),
            wavefronts: wavefronts(lanes, bytes as u32),
            ideal: ideal(lanes.len() as u32, bytes as u32),
        });
        Ok(Access {
            bytes: bytes as u32,
            warps: warps.collect(),
        })
    }

    // The byte address of a vector, if it is aligned and in one piece.
    fn vector_address(&self, start: i64, vector: i64) -> Result<Option<i64>, Fault> {
        let first = self.bit(start)?;
        let width = self.bits * vector;
        if first.rem_euclid(width) != 0 {
            return Ok(None);
        }
        for k in 1..vector {
            let next = start.checked_add(k).map(|at| self.bit(at)).transpose()?;
            if next.is_none() || next != first.checked_add(k * self.bits) {
                return Ok(None);
            }
        }
        Ok(Some(first / 8))
    }
}

impl Access {
    /// Passes, and passes without conflicts, over all warps.
    pub fn totals(&self) -> (u32, u32) {
        self.warps
            .iter()
            .fold((0, 0), |(w, i), x| (w + x.wavefronts, i + x.ideal))
    }

    /// A line a warp, and the sum.
    pub fn text(&self) -> String {
        let mut out = format!("access of {} bytes a thread\n", self.bytes);
        // Writing to a string cannot fail.
        for w in &self.warps {
            let _ = writeln!(
                out,
                "threads {} to {}: {} wavefronts, ideal {}, {}",
                w.first,
                w.first + w.threads - 1,
                w.wavefronts,
                w.ideal,
                verdict(w.wavefronts, w.ideal)
            );
        }
        let (waves, ideal) = self.totals();
        let _ = writeln!(
            out,
            "total: {waves} wavefronts, ideal {ideal}, {}",
            verdict(waves, ideal)
        );
        out
    }

    /// The same for tools.
    pub fn json(&self) -> Json {
        let warp = |w: &Warp| json!({ "first": w.first, "threads": w.threads, "wavefronts": w.wavefronts, "ideal": w.ideal });
        let (waves, ideal) = self.totals();
        json!({
            "bytes": self.bytes, "wavefronts": waves, "ideal": ideal,
            "warps": self.warps.iter().map(warp).collect::<Vec<_>>(),
        })
    }
}

/// The words for so many passes where so few would do.
pub fn verdict(waves: u32, ideal: u32) -> String {
    if waves > ideal {
        format!(
            "conflicts: {:.1} times the ideal",
            f64::from(waves) / f64::from(ideal.max(1))
        )
    } else {
        "no conflicts".to_string()
    }
}

/// The table of the banks that [`Memory::banks`] gave.
pub fn text(memory: &Memory, mut rows: Vec<Vec<i64>>) -> String {
    let swizzle = memory
        .swizzle
        .map_or(String::new(), |s| format!(", {s} on byte addresses"));
    let head = format!(
        "{}, elements of {} bits{swizzle}\nbank of each element\n",
        memory.grid.title, memory.bits
    );
    if memory.grid.vector {
        rows = vec![rows.into_iter().flatten().collect()];
    }
    head + &table::matrix(NUM_BANKS - 1, &rows)
}
