//! Bank conflicts of the access patterns that GEMMs have.

use cute_layout::banks::{ideal, wavefronts};
use cute_layout::{CopyAtom, Layout, MmaAtom, Swizzle, Tile, TiledCopy, TiledMma};

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
