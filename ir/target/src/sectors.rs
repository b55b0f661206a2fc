//! Sectors and lines of global memory that one warp's access touches.
//!
//! Source: Nsight Compute's `l1tex__t_sectors_pipe_lsu_mem_global` and tag requests of single instructions on an H100, which
//! these rules reproduce on every pattern tried (`runtime/tests/counters/sm_90.txt`).

/// Bytes of a sector, the unit that L1 asks of L2.
pub const SECTOR_BYTES: u64 = 32;
/// Bytes of a line of L1, which one tag stands for.
pub const LINE_BYTES: u64 = 128;
// Lanes of a warp.
const LANES: usize = 32;

/// The distinct sectors and the distinct lines of an access: lane `l` accesses `bytes` (1, 2, 4, 8 or 16) at
/// `addresses[l]` if bit `l` of `active` is set.
pub fn sectors_and_lines(addresses: &[u64; LANES], active: u32, bytes: u32) -> (u32, u32) {
    // Each line with its sectors, as a mask. A lane touches two lines at most, the second if it is misaligned.
    let mut held = [(0u64, 0u32); 2 * LANES];
    let mut count = 0;
    let mut add = |address: u64| {
        let (line, sector) = (
            address / LINE_BYTES,
            1 << (address % LINE_BYTES / SECTOR_BYTES),
        );
        // Neighbours are mostly in the line that came last.
        match held[..count].iter_mut().rev().find(|x| x.0 == line) {
            Some(x) => x.1 |= sector,
            None => {
                held[count] = (line, sector);
                count += 1;
            }
        }
    };
    let mut rest = active;
    while rest != 0 {
        let first = addresses[rest.trailing_zeros() as usize];
        rest &= rest - 1;
        let last = first.wrapping_add(u64::from(bytes.clamp(1, 16)) - 1);
        add(first);
        if first / SECTOR_BYTES != last / SECTOR_BYTES {
            add(last);
        }
    }
    let sectors = held[..count].iter().map(|x| x.1.count_ones()).sum();
    (sectors, count as u32)
}

/// The sectors and the lines that so many bytes in a row touch, of which the first is at this address; none of no bytes.
pub fn sectors_and_lines_of_run(first: u64, bytes: u64) -> (u64, u64) {
    let Some(last) = bytes.checked_sub(1).map(|more| first.saturating_add(more)) else {
        return (0, 0);
    };
    let blocks = |size: u64| last / size - first / size + 1;
    (blocks(SECTOR_BYTES), blocks(LINE_BYTES))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_touch_what_their_bytes_touch() {
        assert_eq!(sectors_and_lines_of_run(0, 0), (0, 0));
        assert_eq!(sectors_and_lines_of_run(0, 128), (4, 1));
        assert_eq!(sectors_and_lines_of_run(16, 128), (5, 2));
        for (first, chunks) in [(0u64, 32u64), (16, 7), (112, 2), (48, 31)] {
            let mut addresses = [0; LANES];
            for (lane, address) in addresses.iter_mut().enumerate() {
                *address = first + 16 * (lane as u64).min(chunks - 1);
            }
            let (sectors, lines) = sectors_and_lines(&addresses, u32::MAX, 16);
            assert_eq!(
                sectors_and_lines_of_run(first, 16 * chunks),
                (u64::from(sectors), u64::from(lines))
            );
        }
    }
}
