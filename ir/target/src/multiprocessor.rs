//! The resources of a multiprocessor for the blocks that run on it, and the number of blocks that fit.
//!
//! Sources: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability"; for chips that it has no column
//! for, and for how registers and shared memory are handed out, the toolkit's `cuda_occupancy.h`, with which Nsight Compute's limits by registers, warps and blocks
//! agree (`runtime/tests/kernels.rs`). Its limit by shared memory is that of the part of L1 that the driver has set aside for
//! this launch, which is enough for the other limits, and not what the multiprocessor could have.

/// Threads of a warp.
pub const WARP: u32 = 32;
/// Threads of a warpgroup, four warps that multiply together (PTX ISA, "wgmma").
pub const WARPGROUP: u32 = 128;
/// Threads of one block, at most.
pub const THREADS_PER_BLOCK: u32 = 1024;
/// 32-bit registers of a multiprocessor, and of a block at most.
pub const REGISTERS: u32 = 65536;
/// Registers of one thread, at most.
pub const REGISTERS_PER_THREAD: u32 = 255;
/// Registers are handed from one warpgroup to another in multiples of so many (PTX ISA, "setmaxnreg").
pub const SETMAXNREG_UNIT: u32 = 8;
/// Bytes of shared memory that the system takes of each block, from compute capability 8.0.
pub const RESERVED_SHARED: u32 = 1024;

/// Parts of a multiprocessor that have registers and warps of their own.
const PARTS: u32 = 4;
/// Registers are handed to a warp in this many.
const REGISTER_UNIT: u32 = 256;

/// The resources of one multiprocessor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Multiprocessor {
    /// Bytes of shared memory, what the system takes of each block included.
    pub shared_memory: u32,
    /// Bytes that the system takes of each block.
    pub reserved: u32,
    /// Bytes of shared memory that a block may have, with the opt-in.
    pub block_shared_memory: u32,
    /// Shared memory is handed out in this many bytes.
    pub shared_unit: u32,
    /// Warps that it runs at once; threads are [`WARP`] times as many.
    pub warps: u32,
    /// Blocks that it runs at once.
    pub blocks: u32,
}

/// Registers that a block of so many warpgroups has, for one thread of each together: a launch gives all of its threads the same number, a multiple of 8, and
/// `setmaxnreg` moves no others (PTX ISA, "setmaxnreg"). With five warpgroups these are 480 of the 512 that a multiprocessor has.
pub const fn registers_of_warpgroups(warpgroups: u32) -> u32 {
    let warpgroups = if warpgroups == 0 { 1 } else { warpgroups };
    let each = REGISTERS / (warpgroups * WARPGROUP);
    let each = if each > REGISTERS_PER_THREAD {
        REGISTERS_PER_THREAD
    } else {
        each
    };
    each / SETMAXNREG_UNIT * SETMAXNREG_UNIT * warpgroups
}

impl Multiprocessor {
    /// The multiprocessor of a compute capability. A later one than is known here has what the newest of its kind has. Which figures are
    /// assumed, [`crate::Chip::assumed`] says.
    pub const fn of(major: u32, minor: u32) -> Multiprocessor {
        // Kilobytes of shared memory, warps, blocks.
        let (kilobytes, warps, blocks) = match (major, minor) {
            (..=6, _) => (96, 64, 32),
            (7, 0..=4) => (96, 64, 32),
            (7, _) => (64, 32, 16),
            (8, 0) => (164, 64, 32),
            (8, 7) => (164, 48, 16),
            (8, 9) => (100, 48, 24),
            (8, _) => (100, 48, 16),
            (11, _) => (228, 48, 24),
            (12.., _) => (100, 48, 24),
            _ => (228, 64, 32),
        };
        let reserved = if major >= 8 { RESERVED_SHARED } else { 0 };
        Multiprocessor {
            shared_memory: 1024 * kilobytes,
            reserved,
            block_shared_memory: if major <= 6 {
                48 * 1024
            } else {
                1024 * kilobytes - reserved
            },
            shared_unit: if major >= 8 { 128 } else { 256 },
            warps,
            blocks,
        }
    }

    /// Returns the number of blocks like this that run at once. `registers` a thread are not known if 0; more than a block can
    /// have, of whatever it be, are 0 blocks.
    pub fn occupancy(
        &self,
        threads: u32,
        registers: u32,
        static_and_dynamic_shared: u64,
    ) -> Occupancy {
        let warps = threads.div_ceil(WARP).max(1);
        let unit = u64::from(self.shared_unit);
        let shared = static_and_dynamic_shared
            .saturating_add(u64::from(self.reserved))
            .div_ceil(unit)
            .saturating_mul(unit);
        let by_registers = (registers != 0).then(|| {
            let of_a_warp = registers
                .saturating_mul(WARP)
                .checked_next_multiple_of(REGISTER_UNIT)
                .unwrap_or(u32::MAX);
            if registers > REGISTERS_PER_THREAD || warps.saturating_mul(of_a_warp) > REGISTERS {
                0
            } else {
                // A warp lives in one part.
                PARTS * (REGISTERS / PARTS / of_a_warp) / warps
            }
        });
        let by = Limits {
            blocks: self.blocks,
            warps: if threads > THREADS_PER_BLOCK {
                0
            } else {
                self.warps / warps
            },
            registers: by_registers,
            shared_memory: if static_and_dynamic_shared > u64::from(self.block_shared_memory) {
                0
            } else {
                // A block that needs none is not limited by it.
                u64::from(self.shared_memory)
                    .checked_div(shared)
                    .and_then(|blocks| u32::try_from(blocks).ok())
                    .unwrap_or(u32::MAX)
            },
        };
        let blocks = by
            .blocks
            .min(by.warps)
            .min(by.shared_memory)
            .min(by.registers.unwrap_or(u32::MAX));
        Occupancy {
            blocks,
            warps: blocks.saturating_mul(warps),
            most_warps: self.warps,
            by,
        }
    }
}

/// The number of blocks that each thing that they need leaves room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Limited by their number.
    pub blocks: u32,
    /// Blocks that there is room for, limited by their warps.
    pub warps: u32,
    /// Limited by their registers; none if it is not known how many they need.
    pub registers: Option<u32>,
    /// Limited by their shared memory.
    pub shared_memory: u32,
}

/// The number of blocks of a kernel that one multiprocessor runs at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occupancy {
    /// Blocks that run at once: the fewest of [`Occupancy::by`].
    pub blocks: u32,
    /// Warps of these blocks.
    pub warps: u32,
    /// Warps that the multiprocessor has room for.
    pub most_warps: u32,
    /// Blocks that each thing leaves room for.
    pub by: Limits,
}

impl Occupancy {
    /// Warps in percent of what there is room for.
    pub fn percent(&self) -> f64 {
        100.0 * f64::from(self.warps) / f64::from(self.most_warps)
    }

    /// Names what there is too little of for another block: `registers`, `shared memory`, `warps`, `blocks`.
    pub fn limited_by(&self) -> Vec<&'static str> {
        let all = [
            ("registers", self.by.registers),
            ("shared memory", Some(self.by.shared_memory)),
            ("warps", Some(self.by.warps)),
            ("blocks", Some(self.by.blocks)),
        ];
        all.into_iter()
            .filter(|(_, limit)| *limit == Some(self.blocks))
            .map(|(name, _)| name)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_have_what_the_guide_says() {
        let kilobytes = |major, minor| Multiprocessor::of(major, minor).block_shared_memory / 1024;
        let found: Vec<_> = [
            (6, 0),
            (7, 0),
            (7, 5),
            (8, 0),
            (8, 6),
            (8, 7),
            (8, 8),
            (8, 9),
            (9, 0),
            (10, 0),
            (10, 3),
            (11, 0),
            (12, 0),
            (12, 1),
        ]
        .into_iter()
        .map(|(major, minor)| kilobytes(major, minor))
        .collect();
        assert_eq!(
            found,
            [48, 96, 64, 163, 99, 163, 99, 99, 227, 227, 227, 227, 99, 99]
        );
    }

    #[test]
    fn the_scarcest_thing_decides() {
        let sm = Multiprocessor::of(9, 0);
        let at = |threads, registers, shared| {
            let found = sm.occupancy(threads, registers, shared);
            (found.blocks, found.warps, found.limited_by().join(", "))
        };
        // 228 KB: 9 blocks of 24 KB and the system's 1 KB.
        assert_eq!(at(128, 64, 24 * 1024), (8, 32, "registers".into()));
        assert_eq!(
            at(128, 56, 24 * 1024),
            (9, 36, "registers, shared memory".into())
        );
        assert_eq!(at(128, 40, 24 * 1024), (9, 36, "shared memory".into()));
        assert_eq!(at(128, 32, 0), (16, 64, "registers, warps".into()));
        assert_eq!(at(32, 32, 0), (32, 32, "blocks".into()));
        assert_eq!(at(33, 0, 0), (32, 64, "warps, blocks".into()));
        // 255 registers are 256: two warps a part, eight in all, and two of three warps.
        assert_eq!(at(96, 255, 0), (2, 6, "registers".into()));
        assert_eq!(
            at(256, 255, 227 * 1024),
            (1, 8, "registers, shared memory".into())
        );
        assert_eq!(sm.occupancy(128, 40, 24 * 1024).percent(), 56.25);
    }

    #[test]
    fn warpgroups_have_what_a_launch_gives_them() {
        // Of 255, 170, 128, 102, 85 and 64 registers that a thread could have, multiples of 8.
        let all = [2, 3, 4, 5, 6, 8].map(registers_of_warpgroups);
        assert_eq!(
            all,
            [2 * 248, 3 * 168, 4 * 128, 5 * 96, 6 * 80, 8 * 64],
            "for one thread of each warpgroup together"
        );
    }

    #[test]
    fn what_does_not_fit_is_none() {
        let sm = Multiprocessor::of(8, 0);
        for (threads, registers, shared) in [
            (1024, 72, 0),
            (32, 256, 0),
            (32, u32::MAX, 0),
            (1025, 1, 0),
            (u32::MAX, 0, 0),
            (32, 1, 164 * 1024),
            (32, 1, u64::MAX),
        ] {
            let found = sm.occupancy(threads, registers, shared);
            assert_eq!(
                (found.blocks, found.warps),
                (0, 0),
                "{threads} {registers} {shared}"
            );
        }
    }
}
