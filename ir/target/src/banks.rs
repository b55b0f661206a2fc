//! Bank conflicts of one warp's access to shared memory.
//!
//! 32 banks of 4 bytes. A pass over the banks, a wavefront, takes from each bank one word at most; lanes that touch the
//! same word share it, in loads and in stores, whether they touch all of it or different bytes. Lanes are served in
//! phases, in lane order, inactive lanes in their places: 32 lanes of up to 4 bytes, 16 of 8 bytes, 8 of 16 bytes. A
//! phase without an active lane takes no pass.
//!
//! Loads of 8 and 16 bytes a lane do better where neighbours want the same: if each active lane `l` finds lane `l ^ 1`
//! inactive or at its own address, or if each finds lane `l ^ 2` so, then two phases are served as one, 32 lanes of 8
//! bytes, 16 of 16 bytes. All of the warp decides, not each pair of phases: halves that share at different distances do
//! not merge. Stores, ldmatrix and stmatrix never do so.
//!
//! Sources: CUDA C++ Programming Guide, "Shared Memory", for banks; for phases and their merging, Nsight Compute's
//! `l1tex__data_pipe_lsu_wavefronts_mem_shared` of single instructions on an H100, which these rules reproduce on every
//! pattern tried (`runtime/tests/counters/sm_90.txt`).

use smallvec::SmallVec;

/// Banks of shared memory.
pub const NUM_BANKS: i64 = 32;
/// Bytes of one word of a bank.
pub const BANK_BYTES: i64 = 4;
// Lanes of a warp.
const LANES: usize = 32;

/// The kind of an access of a warp to shared memory, which says whether phases may be served together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// `ld.shared`.
    Load,
    /// `st.shared`; also the rows of ldmatrix and stmatrix, loads though the former are.
    Store,
}

/// The number of passes over the banks that one store takes, and one ldmatrix or stmatrix; the most that a load takes.
///
/// `byte_offsets` holds the offset of each lane, all of them active, in lane order; `access_bytes` is what each lane
/// moves: 1, 2, 4, 8 or 16. A conflict-free access takes [`ideal`] passes; no lanes take none. More than 32 lanes are
/// several warps.
pub fn wavefronts(byte_offsets: &[i64], access_bytes: u32) -> u32 {
    byte_offsets
        .chunks(LANES)
        .map(|lanes| {
            let mut addresses = [0; LANES];
            for (a, &at) in addresses.iter_mut().zip(lanes) {
                // 2^64 is a multiple of a row of banks, so that a negative offset keeps its bank.
                *a = at as u64;
            }
            let active = u32::MAX >> (LANES - lanes.len());
            warp_wavefronts(&addresses, active, access_bytes, Access::Store)
        })
        .sum()
}

/// The number of passes over the banks that one warp's access takes: lane `l` accesses `access_bytes` (1, 2, 4, 8 or 16)
/// at `addresses[l]` if bit `l` of `active` is set.
pub fn warp_wavefronts(
    addresses: &[u64; LANES],
    active: u32,
    access_bytes: u32,
    access: Access,
) -> u32 {
    let mut lanes = lanes_a_phase(access_bytes);
    if access == Access::Load && lanes < LANES && merges(addresses, active) {
        lanes *= 2;
    }
    let phase = if misaligned(addresses, active, access_bytes) {
        straddling
    } else {
        aligned
    };
    let all = u32::MAX >> (LANES - lanes);
    (0..LANES)
        .step_by(lanes)
        .map(|first| phase(addresses, active & (all << first), access_bytes))
        .sum()
}

/// The number of passes over the banks that `cp.async` of `bytes` a lane (4, 8 or 16) takes, from global memory at `from`
/// to shared memory at `to`.
///
/// Unlike in loads and stores, lanes share nothing: a pass takes from each bank that holds a source, and gives to each
/// bank of a destination, what one lane moves. The bank of a source is its address's in its 128-byte line. Lanes in
/// `zeros`, which write zeros alone, read from no bank.
pub fn async_copy_wavefronts(
    to: &[u64; LANES],
    from: &[u64; LANES],
    active: u32,
    zeros: u32,
    bytes: u32,
) -> u32 {
    let phase = lanes_a_phase(bytes);
    let all = u32::MAX >> (LANES - phase);
    let mut passes = 0;
    for first in (0..LANES).step_by(phase) {
        let mut rest = active & (all << first);
        while rest != 0 {
            // Lanes in order, each that still finds its banks free.
            let (mut read, mut written) = (0, 0);
            for lane in 0..LANES {
                if rest >> lane & 1 == 0 {
                    continue;
                }
                let source = if zeros >> lane & 1 == 1 {
                    0
                } else {
                    banks_of(from[lane], bytes)
                };
                let target = banks_of(to[lane], bytes);
                if read & source == 0 && written & target == 0 {
                    (read, written) = (read | source, written | target);
                    rest &= !(1 << lane);
                }
            }
            passes += 1;
        }
    }
    passes
}

/// The passes of an access of so many lanes without conflicts or sharing: a row of banks a pass.
pub fn ideal(lanes: u32, access_bytes: u32) -> u32 {
    lanes.div_ceil(lanes_a_phase(access_bytes) as u32)
}

/// Lanes that are served together: as many as fill a row of banks, and no more than a warp.
pub fn lanes_a_phase(access_bytes: u32) -> usize {
    match access_bytes {
        0..=4 => 32,
        5..=8 => 16,
        _ => 8,
    }
}

// The banks of `bytes` aligned bytes, as a mask.
fn banks_of(address: u64, bytes: u32) -> u32 {
    let words = bytes.clamp(1, 16).div_ceil(BANK_BYTES as u32);
    let bank = (address / BANK_BYTES as u64 % NUM_BANKS as u64) as u32;
    ((1 << words) - 1) << (bank / words * words)
}

// Whether each active lane's neighbour, one or two lanes away, is inactive or at the same address.
fn merges(addresses: &[u64; LANES], active: u32) -> bool {
    [1, 2].into_iter().any(|distance| {
        (0..LANES).all(|lane| {
            let other = lane ^ distance;
            active >> lane & 1 == 0
                || active >> other & 1 == 0
                || addresses[lane] == addresses[other]
        })
    })
}

fn misaligned(addresses: &[u64; LANES], active: u32, access_bytes: u32) -> bool {
    let mut bits = 0;
    for (lane, at) in addresses.iter().enumerate() {
        bits |= if active >> lane & 1 == 1 { *at } else { 0 };
    }
    !access_bytes.is_power_of_two() || access_bytes > 16 || bits % u64::from(access_bytes) != 0
}

// The passes of lanes that are served together: the most distinct words that one bank has to give. Aligned accesses of
// several words fill as many banks side by side, so that these count as one bank.
fn aligned(addresses: &[u64; LANES], mut active: u32, access_bytes: u32) -> u32 {
    let bytes = access_bytes.max(BANK_BYTES as u32);
    let (shift, banks) = (
        bytes.trailing_zeros(),
        NUM_BANKS as u32 * BANK_BYTES as u32 / bytes,
    );
    // Of each bank, the lanes with distinct words.
    let mut held = [0u32; NUM_BANKS as usize];
    let mut most = 0;
    while active != 0 {
        let lane = active.trailing_zeros();
        active &= active - 1;
        let word = addresses[lane as usize] >> shift;
        let bank = &mut held[(word as u32 & (banks - 1)) as usize];
        let mut others = *bank;
        while others != 0 && addresses[others.trailing_zeros() as usize] >> shift != word {
            others &= others - 1;
        }
        if others == 0 {
            *bank |= 1 << lane;
            most = most.max(bank.count_ones());
        }
    }
    most
}

// The same for accesses that do not begin at a multiple of their size, word by word.
fn straddling(addresses: &[u64; LANES], active: u32, access_bytes: u32) -> u32 {
    let mut words: SmallVec<[u64; 2 * LANES]> = SmallVec::new();
    for lane in (0..LANES).filter(|lane| active >> lane & 1 == 1) {
        let first = addresses[lane] / BANK_BYTES as u64;
        let within = addresses[lane] % BANK_BYTES as u64;
        let count = (within + u64::from(access_bytes.clamp(1, 16))).div_ceil(BANK_BYTES as u64);
        words.extend((0..count).map(|k| first.wrapping_add(k)));
    }
    words.sort_unstable();
    words.dedup();
    let mut load = [0u32; NUM_BANKS as usize];
    for w in words {
        load[(w % NUM_BANKS as u64) as usize] += 1;
    }
    load.into_iter().max().unwrap_or(0)
}
