//! Bank conflicts of one warp's access to shared memory.
//!
//! 32 banks of 4 bytes. Lanes that touch the same 4-byte word share it. An access of 8 bytes a lane is served by
//! half-warps, one of 16 by quarter-warps, each on its own. Source: CUDA C++ Programming Guide, "Shared Memory".

use smallvec::SmallVec;

/// Banks of shared memory.
pub const NUM_BANKS: i64 = 32;
/// Bytes of one word of a bank.
pub const BANK_BYTES: i64 = 4;

/// How many passes over the banks one access takes.
///
/// `byte_offsets` holds the offset of each active lane, in lane order; `access_bytes` is what each lane moves: 1, 2, 4, 8
/// or 16. A conflict-free access takes [`ideal`] passes; no lanes take none.
pub fn wavefronts(byte_offsets: &[i64], access_bytes: u32) -> u32 {
    byte_offsets
        .chunks(lanes_a_phase(access_bytes))
        .map(|lanes| phase(lanes, access_bytes))
        .sum()
}

/// The passes of an access without conflicts or sharing: one a phase.
pub fn ideal(lanes: u32, access_bytes: u32) -> u32 {
    lanes.div_ceil(lanes_a_phase(access_bytes) as u32)
}

fn lanes_a_phase(access_bytes: u32) -> usize {
    match access_bytes {
        0..=4 => 32,
        5..=8 => 16,
        _ => 8,
    }
}

// The passes of lanes that are served together: the most distinct words that one bank has to give.
fn phase(lanes: &[i64], access_bytes: u32) -> u32 {
    let mut words: SmallVec<[i64; 32]> = SmallVec::new();
    for &at in lanes {
        let last = at.saturating_add(i64::from(access_bytes.clamp(1, 16)) - 1);
        words.extend(at.div_euclid(BANK_BYTES)..=last.div_euclid(BANK_BYTES));
    }
    words.sort_unstable();
    words.dedup();
    let mut load = [0u32; NUM_BANKS as usize];
    for w in words {
        load[w.rem_euclid(NUM_BANKS) as usize] += 1;
    }
    load.into_iter().max().unwrap_or(0)
}
