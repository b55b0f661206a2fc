//! The plans that estimates choose for `sm_90a`, as they were measured to be fast (`docs/performance/choice.md`).

use super::super::{
    Access, Chosen, Fed, Instructions, Packed, Problem, Reduced, Request, Rules, Table, choose,
    request::Cluster,
};
use cute_target::Archs;
use melior::{Context, ir::Type};

/// Rows one after the other, each a multiple of so many elements long.
fn rows(pitch: i64) -> Access {
    Access {
        major: 1,
        known: true,
        apart: false,
        placed: false,
        vector: 8,
        lines: 8,
        pitch,
    }
}

fn chosen<'c>(
    context: &'c Context,
    extents: [i64; 3],
    pitch: i64,
    request: &Request,
) -> Chosen<'c> {
    choose_one(&problem(context, extents, pitch), request).unwrap()
}

fn choose_one<'c>(problem: &Problem<'c>, request: &Request) -> Result<Chosen<'c>, String> {
    let arch: Archs = "sm_90a".parse::<cute_target::Arch>().unwrap().into();
    let table = Table::default();
    let made = choose(problem, Rules::of(request, &table), &arch, 1)?;
    Ok(made.into_iter().next().unwrap())
}

/// The same with B of bytes, and a scale for each column of C or for groups of so many along K.
fn of_bytes<'c>(context: &'c Context, extents: [i64; 3], group: Option<i64>) -> Problem<'c> {
    let fed = Fed {
        stored: Type::parse(context, "i8").unwrap(),
        vector: 16,
        bits: 8,
        held: 1,
        group,
        along_k: group.is_some(),
    };
    let bytes = Access {
        lines: 16,
        ..rows(128)
    };
    Problem {
        fed: [None, Some(fed)],
        accesses: [rows(64), bytes, rows(64)],
        ..problem(context, extents, 64)
    }
}

fn problem(context: &Context, extents: [i64; 3], pitch: i64) -> Problem<'_> {
    Problem {
        extents: extents.map(Some),
        batch: Some(1),
        has_groups: false,
        elements: [Type::parse(context, "f16").unwrap(); 3],
        accumulate: Type::parse(context, "f32").unwrap(),
        accesses: [rows(pitch); 3],
        boxes: [None; 2],
        fed: [None; 2],
        scaled: None,
        reduced: Reduced::default(),
        epilogue: None,
        packed: Packed::default(),
    }
}

#[test]
fn weights_of_bytes_are_what_warpgroups_take_from_registers() {
    let context = cute_ir::context();
    let of = |extents| choose_one(&of_bytes(&context, extents, None), &Request::default()).unwrap();
    // Measured: each is the fastest of those of its grid.
    for (extents, tile, cluster) in [
        ([16, 4096, 4096], [64, 16], [1, 1, 2]),
        ([32, 8192, 8192], [128, 32], [1, 1, 2]),
        ([64, 4096, 4096], [64, 64], [1, 1, 2]),
        ([128, 8192, 8192], [128, 128], [1, 1, 2]),
        ([512, 4096, 4096], [64, 256], [1, 1, 1]),
        ([4096, 4096, 4096], [128, 256], [1, 1, 1]),
    ] {
        let chosen = of(extents);
        let plan = &chosen.plan;
        assert!(chosen.exchanged, "{extents:?}");
        assert_eq!(
            (&plan.tile[..], plan.cluster),
            (&[tile[0], tile[1], 128][..], cluster),
            "{extents:?}"
        );
        assert_eq!(plan.part_along_k(), Some(64));
    }
    // Rows of the other factor that TMA cannot have, and rows or K that tiles do not divide, are left to warps.
    for extents in [[16, 4096, 4096 + 64], [16, 4096 + 32, 4096]] {
        assert!(!of(extents).exchanged, "{extents:?}");
    }
    // Numbers of groups are read in each turn: of 16 rows warps are faster.
    let few = of_bytes(&context, [16, 4096, 4096], Some(128));
    assert!(!choose_one(&few, &Request::default()).unwrap().exchanged);
    let many = of_bytes(&context, [64, 4096, 4096], Some(128));
    assert!(choose_one(&many, &Request::default()).unwrap().exchanged);
    // What needs both factors from registers has no such plan.
    let both = Problem {
        fed: [few.fed[1]; 2],
        ..few
    };
    let request = Request {
        instructions: Some(Instructions::Wgmma),
        ..Request::default()
    };
    let why = choose_one(&both, &request).unwrap_err();
    assert!(why.contains("a prologue of one factor"), "{why}");
}

#[test]
fn small_products_and_few_rows_are_of_warpgroups() {
    let context = cute_ir::context();
    let of = |extents| chosen(&context, extents, 64, &Request::default());
    for extents in [
        [512; 3],
        [1152; 3],
        [256, 4096, 4096],
        [64, 4096, 4096],
        [640; 3],
        // Of the last tiles no more is loaded than there is.
        [1, 4096, 4096],
        [16, 4096, 4096],
    ] {
        assert!(of(extents).plan.has_roles(), "{extents:?}");
    }
}

#[test]
fn tiles_fit_the_multiprocessors() {
    let context = cute_ir::context();
    let of = |extents| chosen(&context, extents, 64, &Request::default()).plan;
    // 8 x 16 tiles for 132 multiprocessors, and 56 of 192 x 128 in place of two waves.
    assert_eq!(of([1024, 4096, 4096]).tile, [128, 256, 64]);
    assert_eq!(of([1536; 3]).tile, [192, 96, 64]);
    assert_eq!(of([1024; 3]).tile[..2], [64, 128]);
}

#[test]
fn teams_hide_what_short_sums_leave_to_do() {
    let context = cute_ir::context();
    let of = |extents| chosen(&context, extents, 64, &Request::default()).plan;
    for extents in [[8192, 8192, 512], [16384, 4096, 512], [12288, 2304, 768]] {
        let plan = of(extents);
        assert_eq!((plan.teams, plan.threads()), (2, Ok(384)), "{extents:?}");
    }
    // Blocks of one tile have nothing to hide it behind.
    assert_eq!(of([1024, 4096, 4096]).teams, 1);
    let request = Request {
        teams: Some(2),
        ..Request::default()
    };
    let asked = chosen(&context, [1024, 4096, 4096], 64, &request);
    assert_eq!(asked.plan.teams, 2);
    assert!(asked.asking.contains("teams=2"), "{}", asked.asking);
}

#[test]
fn clusters_share_lines_that_begin_between_those_of_l2() {
    let context = cute_ir::context();
    let of = |extents, pitch| chosen(&context, extents, pitch, &Request::default()).plan;
    // Rows of 6000 bytes.
    assert_eq!(of([3000; 3], 8).blocks_of_cluster(), 2);
    assert_eq!(of([3072; 3], 64).blocks_of_cluster(), 1);
}

#[test]
fn blocks_of_one_warpgroup_start_late_on_lines_that_begin_elsewhere() {
    let context = cute_ir::context();
    let of = |extents, pitch| chosen(&context, extents, pitch, &Request::default()).plan;
    // Measured: 7.7 us, and 8.9 by 64 x 128, which is as fast as any where lines are whole.
    assert_eq!(of([1000; 3], 8).tile[..2], [128, 64]);
    assert_eq!(of([1024; 3], 64).tile[..2], [64, 128]);
    // 10.1 us for 13.7, and 23.7 for 32.
    assert_eq!(of([1000, 2000, 1000], 8).tile[..2], [128, 128]);
    assert_eq!(of([520, 3064, 3064], 8).tile[..2], [128, 128]);
    // So few lines are no later.
    assert_eq!(of([600; 3], 8).tile[..2], [64, 64]);
}

#[test]
fn four_blocks_share_a_wide_tile_of_b_in_one_round() {
    let context = cute_ir::context();
    let of = |extents| chosen(&context, extents, 64, &Request::default()).plan;
    let plan = of([1536, 896, 4864]);
    assert_eq!((plan.tile, plan.cluster), ([64, 192, 64], [4, 1, 1]));
    // Four times as many rows are four rounds, and blocks of a cluster wait for one another in each.
    assert!(of([6144, 896, 4864]).blocks_of_cluster() < 4);
}

#[test]
fn few_rows_split_k_where_the_second_kernel_starts_beside_the_first() {
    let context = cute_ir::context();
    let of = |extents| chosen(&context, extents, 64, &Request::default()).plan;
    assert!(of([33, 1024, 4096]).split > 1);
    assert!(of([160, 1280, 10240]).split > 1);
    assert_eq!(of([4096; 3]).split, 1);
}

#[test]
fn small_tiles_share_no_loads() {
    let context = cute_ir::context();
    // Blocks of a cluster take longer to agree on a place of the ring than such a tile's products take.
    for tile in [[64, 64, 64], [64, 96, 64]] {
        let request = Request {
            tile: Some(tile),
            instructions: Some(Instructions::Wgmma),
            ..Request::default()
        };
        for extents in [[768, 768, 3072], [8192; 3]] {
            let plan = chosen(&context, extents, 64, &request).plan;
            assert_eq!(plan.blocks_of_cluster(), 1, "{tile:?} {extents:?}");
        }
    }
}

#[test]
fn rings_have_as_many_places_as_fit() {
    let context = cute_ir::context();
    let request = Request {
        tile: Some([64, 64, 64]),
        warps: Some([4, 1]),
        instructions: Some(Instructions::Wgmma),
        ..Request::default()
    };
    // 227 KiB, of which 8 are C's and 2 beside: 13 of 16.
    assert_eq!(
        chosen(&context, [768, 768, 3072], 64, &request).plan.stages,
        13
    );
}

#[test]
fn tiles_at_once_are_as_many_rows_as_columns() {
    let context = cute_ir::context();
    let wide = Request {
        tile: Some([128, 256, 64]),
        warps: Some([8, 1]),
        instructions: Some(Instructions::Wgmma),
        ..Request::default()
    };
    let raster = |extents, request: Request| chosen(&context, extents, 64, &request).plan.raster;
    let large = [8192; 3];
    // 132 tiles of 128 x 256 are some 2080 rows and columns, whichever is longer, of a block or of two that share loads.
    assert_eq!(raster(large, wide), 16);
    let cluster = Some(Cluster([2, 1, 1]));
    assert_eq!(raster(large, Request { cluster, ..wide }), 8);
    let tile = Some([256, 128, 64]);
    assert_eq!(raster(large, Request { tile, ..wide }), 8);
    // Two teams of a block have two tiles.
    let narrow = Request {
        tile: Some([128, 128, 64]),
        warps: Some([4, 1]),
        ..wide
    };
    let teams = Some(2);
    assert_eq!(raster(large, Request { teams, ..narrow }), 16);
    assert_eq!(raster(large, narrow), 11);
    // What is asked for, and where more is written than read.
    let asked = Some(3);
    let request = Request {
        raster: asked,
        ..wide
    };
    assert_eq!(raster(large, request), 3);
    assert_eq!(raster([8192, 8192, 128], wide), 8);
}

#[test]
fn long_products_take_what_a_hot_chip_takes() {
    let context = cute_ir::context();
    let of = |extents| chosen(&context, extents, 64, &Request::default()).plan;
    // Measured: 1410 us by two teams, 1550 by tiles of 192 x 192, whose loads hide better where the clock is high.
    let plan = of([4096, 28672, 4096]);
    assert_eq!((plan.tile[..2].to_vec(), plan.teams), (vec![128, 192], 2));
    // 228 us by tiles of 256 x 160, 233 by two teams of 128 x 160.
    let plan = of([8192, 1280, 8192]);
    assert_eq!((plan.tile[..2].to_vec(), plan.teams), (vec![256, 160], 1));
}
