//! Sectors and lines of global memory.

use cute_target::sectors::{SECTOR_BYTES, sectors_and_lines as distinct};

use crate::emulator::{Mask, Row, lanes};

/// The work that one instruction of a warp asks of L1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sectors {
    /// Sectors of 32 bytes; none if no lane is active.
    pub sectors: u32,
    /// Lines of 128 bytes, each a tag to look up.
    pub lines: u32,
    /// The sectors that the bytes of its active lanes fill, or `sectors`, where lanes share so much that this is less.
    pub ideal: u32,
}

/// `ld.global`, `st.global` and the global side of `cp.async`, of `bytes` a lane (1, 2, 4, 8 or 16; a vector's elements
/// together): distinct sectors and lines.
pub fn global_sectors(addresses: &Row, active: Mask, bytes: u32) -> Sectors {
    let (sectors, lines) = distinct(addresses, active, bytes);
    Sectors {
        sectors,
        lines,
        ideal: ideal(active, bytes).min(sectors),
    }
}

/// `atom.global` and `red.global`: lanes with the same address go one after the other, so that each round of lanes with
/// different addresses asks for its sectors and lines. (Measured for 4 bytes a lane.) The ideal is a load's.
pub fn global_atomic_sectors(addresses: &Row, active: Mask, bytes: u32) -> Sectors {
    let (once, _) = distinct(addresses, active, bytes);
    let mut result = Sectors {
        ideal: ideal(active, bytes).min(once),
        ..Sectors::default()
    };
    let mut rest = active;
    while rest != 0 {
        let mut round = 0;
        for lane in lanes(rest) {
            if lanes(round).all(|other| addresses[other] != addresses[lane]) {
                round |= 1 << lane;
            }
        }
        rest &= !round;
        let (sectors, lines) = distinct(addresses, round, bytes);
        result.sectors += sectors;
        result.lines += lines;
    }
    result
}

fn ideal(active: Mask, bytes: u32) -> u32 {
    let moved = u64::from(active.count_ones()) * u64::from(bytes);
    u32::try_from(moved.div_ceil(SECTOR_BYTES)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Mask = u32::MAX;

    fn at(f: impl Fn(u64) -> u64, active: Mask, bytes: u32) -> [u32; 3] {
        let s = global_sectors(&std::array::from_fn(|l| f(l as u64)), active, bytes);
        [s.sectors, s.lines, s.ideal]
    }

    #[test]
    fn sectors_and_lines() {
        assert_eq!(at(|l| 4 * l, ALL, 4), [4, 1, 4]);
        assert_eq!(at(|l| 4 * l + 16, ALL, 4), [5, 2, 4]);
        assert_eq!(at(|l| 16 * l, ALL, 16), [16, 4, 16]);
        assert_eq!(at(|l| 16 * l, 0xff, 16), [4, 1, 4]);
        assert_eq!(at(|l| 8192 * l, ALL, 2), [32, 32, 2]);
        assert_eq!(at(|l| 8192 * (l / 4) + 16 * (l % 4), ALL, 16), [16, 8, 16]);
        assert_eq!(at(|_| 96, ALL, 4), [1, 1, 1], "shared by all");
        assert_eq!(at(|l| 4 * l, 0, 4), [0, 0, 0]);
        // Misaligned, and at the end of the address space.
        assert_eq!(at(|_| 120, 1, 16), [2, 2, 1]);
        assert_eq!(at(|_| u64::MAX, 1, 16), [2, 2, 1]);
        assert_eq!(at(|l| 256 * l + 127, ALL, 2)[..2], [64, 64]);
    }

    #[test]
    fn atomics_on_the_same_address_go_one_after_the_other() {
        let at = |f: fn(u64) -> u64| {
            let s = global_atomic_sectors(&std::array::from_fn(|l| f(l as u64)), ALL, 4);
            [s.sectors, s.lines, s.ideal]
        };
        assert_eq!(at(|l| 4 * l), [4, 1, 4]);
        assert_eq!(at(|_| 0), [32, 32, 1]);
        assert_eq!(at(|l| 64 * (l % 2)), [32, 16, 2]);
        // The first half of the warp has pairs.
        assert_eq!(at(|l| if l < 16 { 4 * (l & !1) } else { 4 * l }), [6, 2, 4]);
    }
}
