//! Bank conflicts of the access patterns that GEMMs have.

use cute_layout::{CopyAtom, Layout, MmaAtom, Swizzle, Tile, TiledCopy, TiledMma};
use cute_target::banks::{Access, ideal, warp_wavefronts, wavefronts};

fn lanes(n: i64, f: impl Fn(i64) -> i64) -> Vec<i64> {
    (0..n).map(f).collect()
}

#[test]
fn words_of_a_warp() {
    assert_eq!(wavefronts(&lanes(32, |l| 4 * l), 4), 1);
    assert_eq!(wavefronts(&lanes(32, |l| 8 * l), 4), 2);
    assert_eq!(wavefronts(&lanes(32, |l| 128 * l), 4), 32);
    assert_eq!(
        wavefronts(&lanes(32, |l| 132 * l), 4),
        1,
        "padding by a word"
    );
    assert_eq!(wavefronts(&lanes(32, |_| 64), 4), 1, "one word for all");
    assert_eq!(wavefronts(&lanes(32, |l| 2 * l), 2), 1, "two lanes a word");
    assert_eq!(wavefronts(&lanes(32, |l| 128 * (l % 2)), 4), 2);
    assert_eq!(wavefronts(&[], 4), 0);
}

#[test]
fn wide_accesses_go_by_parts_of_a_warp() {
    assert_eq!((wavefronts(&lanes(32, |l| 8 * l), 8), ideal(32, 8)), (2, 2));
    assert_eq!(
        (wavefronts(&lanes(32, |l| 16 * l), 16), ideal(32, 16)),
        (4, 4)
    );
    assert_eq!(wavefronts(&lanes(32, |l| 128 * l), 16), 32);
    assert_eq!(
        (ideal(32, 4), ideal(8, 16), ideal(1, 4), ideal(0, 4)),
        (1, 1, 1, 0)
    );
}

#[test]
fn loads_merge_phases_where_neighbours_share() {
    let load = |f: fn(u64) -> u64, active, bytes| {
        let addresses = std::array::from_fn(|l| f(l as u64));
        warp_wavefronts(&addresses, active, bytes, Access::Load)
    };
    assert_eq!(load(|l| 8 * l, u32::MAX, 8), 2);
    assert_eq!(load(|l| 8 * (l / 2), u32::MAX, 8), 1);
    assert_eq!(load(|l| 8 * l, 0x5555_5555, 8), 2, "conflicts remain");
    assert_eq!(load(|l| 16 * (l & !2), u32::MAX, 16), 4, "and here");
    assert_eq!(load(|l| 16 * (l / 2), u32::MAX, 16), 2);
    assert_eq!(wavefronts(&lanes(32, |l| 16 * (l / 2)), 16), 4, "a store");
    let half = |l| if l < 16 { 16 * (l / 2) } else { 16 * l };
    assert_eq!(load(half, u32::MAX, 16), 4, "one half does not suffice");
    assert_eq!(load(|l| 128 * l, 0, 4), 0);
}

/// Counted word by word, whatever the alignment and whichever lanes are active.
#[test]
fn stores_take_as_many_passes_as_the_fullest_bank_has_words() {
    let mut state = 1u64;
    let mut random = |below: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1);
        (state >> 33) % below
    };
    for n in 0..20_000 {
        let bytes = 1 << random(5);
        let (spread, align) = ([64, 256, 4096][n % 3], [1, bytes][n % 2]);
        let addresses = std::array::from_fn(|_| random(spread) / align * align);
        let active = (random(1 << 16) | random(1 << 16) << 16) as u32 | [0, u32::MAX][n / 2 % 2];
        let lanes_a_phase = [32, 32, 32, 16, 8][bytes.trailing_zeros() as usize];
        let mut want = 0;
        for first in (0..32).step_by(lanes_a_phase) {
            let mut banks = vec![std::collections::BTreeSet::new(); 32];
            for lane in (first..first + lanes_a_phase).filter(|l| active >> l & 1 == 1) {
                for byte in addresses[lane]..addresses[lane] + bytes {
                    banks[(byte / 4 % 32) as usize].insert(byte / 4);
                }
            }
            want += banks.iter().map(|b| b.len()).max().unwrap_or(0);
        }
        let found = warp_wavefronts(&addresses, active, bytes as u32, Access::Store);
        assert_eq!(
            found as usize, want,
            "{bytes} bytes, {active:#x}, {addresses:?}"
        );
    }
}

/// ldmatrix of a 128x32 tile of halves: rows of 64 bytes conflict, S<2,4,3> on byte addresses cures it.
#[test]
fn a_swizzle_makes_ldmatrix_conflict_free() {
    let atom = MmaAtom::named("SM80_16x8x16_F32F16F16F32_TN").expect("atom");
    let warps = Layout::parse("(2,2,1)").expect("warps");
    let mma =
        TiledMma::new(atom, warps, Tile::parse("[32:1;32:1;16:1]").expect("tile")).expect("mma");
    let copy = TiledCopy::make_tiled_copy_a(CopyAtom::ldmatrix(4, false, 16).expect("atom"), &mma)
        .expect("copy");
    let p = copy
        .partition_s(&Layout::parse("(128,32):(32,1)").expect("smem"))
        .expect("partition");
    let rows = lanes(32, |l| 2 * (p.thr.at(l) + p.val.at(0)));
    assert_eq!(wavefronts(&rows, 16), 16);
    let swizzle = Swizzle::new(2, 4, 3).expect("64-byte rows");
    let rows: Vec<i64> = rows.into_iter().map(|b| swizzle.apply(b)).collect();
    assert_eq!(wavefronts(&rows, 16), ideal(32, 16));
}
