use super::super::{Packed, Problem, Rules, Table};
use super::*;
use cute_ir::options::{OptionValue, Options};
use cute_target::{Arch, Requirement};
use melior::{Context, ir::Type};
use std::sync::OnceLock;

fn arch(name: &str) -> Arch {
    Arch::find(name).unwrap()
}

fn builder(context: &Context) -> Builder<'_> {
    let half = Type::parse(context, "f16").unwrap();
    Builder::new([half; 3], single(context), [ROWS; 3], [None; 2], [false; 2]).unwrap()
}

fn single(context: &Context) -> Type<'_> {
    Type::parse(context, "f32").unwrap()
}

/// Rows whose elements are moved by eight.
const ROWS: Access = Access {
    major: 1,
    known: true,
    apart: false,
    placed: false,
    vector: 8,
    lines: 8,
    pitch: 64,
};

fn problem(context: &Context, extents: [i64; 3]) -> Problem<'_> {
    Problem {
        extents: extents.map(Some),
        batch: Some(1),
        has_groups: false,
        elements: [Type::parse(context, "f16").unwrap(); 3],
        accumulate: single(context),
        accesses: [ROWS; 3],
        boxes: [None; 2],
        fed: [None; 2],
        scaled: None,
        reduced: super::super::Reduced::default(),
        epilogue: None,
        packed: Packed::default(),
    }
}

/// The rules of a request alone: nothing is avoided, and nothing was measured.
fn rules(request: &Request) -> Rules<'_> {
    static NONE: OnceLock<Table> = OnceLock::new();
    Rules::of(request, NONE.get_or_init(Table::default))
}

/// The plan of a problem, the fastest one of those that are asked for.
fn chosen<'c>(problem: &Problem<'c>, request: &Request, arch: Arch) -> Result<Plan<'c>, String> {
    let made = super::super::choose(problem, rules(request), &arch.into(), 1)?;
    let [one] = &made[..] else {
        panic!("one plan of a known problem")
    };
    Ok(one.plan.clone())
}

#[test]
fn the_number_of_multiprocessors_decides_where_the_grid_is_small() {
    let context = cute_ir::context();
    let tile = |sms| {
        let request = Request {
            sms,
            instructions: Some(super::super::Instructions::Mma),
            ..Request::default()
        };
        let plan = chosen(&problem(&context, [1024; 3]), &request, arch("sm_90a"));
        plan.unwrap().tile
    };
    assert_eq!(tile(Some(16)), [128, 256, 64]);
    assert_eq!(tile(Some(64)), [128, 128, 64]);
    assert_eq!(tile(Some(127)), [128, 128, 64]);
    assert_eq!(tile(Some(128)), [128, 64, 64]);
    assert_eq!(tile(None), tile(Some(132)));
}

#[test]
fn every_entry_of_the_table_fits_every_architecture_somehow() {
    let context = cute_ir::context();
    let builder = builder(&context);
    for choice in builder.table(RASTER) {
        for arch in Requirement::Since(8, 0).archs() {
            let request = Request {
                tile: Some(choice.tile),
                warps: Some(choice.warps),
                ..Request::default()
            };
            assert!(
                chosen(&problem(&context, choice.tile), &request, arch).is_ok(),
                "{choice:?} {arch}"
            );
        }
    }
}

#[test]
fn a_plan_says_what_it_was_chosen_by() {
    let context = cute_ir::context();
    let builder = builder(&context);
    for choice in builder.table(3) {
        for swizzle in [
            SwizzleChoice::Auto,
            SwizzleChoice::None,
            SwizzleChoice::read("S<1,4,3>").unwrap(),
        ] {
            for (split, stream) in [(1, 0), (5, 0), (5, 2)] {
                let choice = Choice {
                    swizzle,
                    split,
                    stream,
                    ..choice
                };
                let plan = builder.plan(choice).unwrap();
                assert_eq!((plan.split, plan.stream), (split, stream));
                let (_, read) = Builder::of(&plan).unwrap();
                // Another choice may give the same plan, by the same swizzle.
                assert_eq!(builder.plan(read).unwrap(), plan);
                let location = Location::unknown(&context);
                let attribute = plan.attribute(location).unwrap();
                assert_eq!(Plan::of(attribute), Some(plan));
            }
        }
    }
}

#[test]
fn no_builder_answers_for_the_plan_of_another() {
    let context = cute_ir::context();
    let builder = builder(&context);
    let choice = builder.table(RASTER).next().unwrap();
    let mut plan = builder.plan(choice).unwrap();
    plan.paths[0][0].atom = plan.paths[2][1].atom;
    assert!(Builder::of(&plan).is_none());
}

/// The value of an option in the cure that an error names.
fn value(cure: &str, name: &str) -> String {
    let found = cure.trim_end_matches(" fits").split(' ').find_map(|part| {
        let value = part.strip_prefix(name)?.strip_prefix('=')?;
        Some(value.to_owned())
    });
    found.unwrap()
}

#[test]
fn what_does_not_fit_is_answered_with_what_does() {
    let context = cute_ir::context();
    let request = Request {
        tile: Some([256, 256, 64]),
        warps: Some([2, 2]),
        stages: Some(4),
        ..Request::default()
    };
    let problem = problem(&context, [4096; 3]);
    let error = chosen(&problem, &request, arch("sm_90a")).unwrap_err();
    let (_, cure) = error.rsplit_once("; ").unwrap();
    let [tile, warps, stages] = ["tile", "warps", "stages"].map(|name| value(cure, name));
    let cured = Request::of(&[&tile, &warps, &stages]).unwrap();
    assert!(chosen(&problem, &cured, arch("sm_90a")).is_ok(), "{error}");
}

#[test]
fn cures_have_room_for_the_swizzle_that_was_asked_for() {
    let context = cute_ir::context();
    let arch = arch("sm_120");
    for (tile, swizzle) in [
        ([160, 16, 48], "S<3,4,4>"),
        ([96, 64, 96], "S<4,5,-7>"),
        ([64, 64, 32], "S<1,5,-7>"),
        ([16, 16, 48], "S<3,4,-3>"),
    ] {
        let mut asked = Request {
            tile: Some(tile),
            warps: Some([1, 1]),
            stages: Some(64),
            swizzle: Some(SwizzleChoice::read(swizzle).unwrap()),
            ..Request::default()
        };
        let problem = problem(&context, tile.map(|extent| 3 * extent));
        // Each cure is asked for, until there is nothing to cure; the first one is right.
        let Err(error) = chosen(&problem, &asked, arch) else {
            panic!("64 stages of {tile:?} fit");
        };
        let Some((_, cure)) = error
            .rsplit_once("; ")
            .filter(|(_, it)| it.ends_with("fits"))
        else {
            assert!(error.contains("nothing fits with this swizzle"), "{error}");
            continue;
        };
        asked.tile = Some(OptionValue::read(&value(cure, "tile")).unwrap());
        asked.warps = Some(OptionValue::read(&value(cure, "warps")).unwrap());
        asked.stages = value(cure, "stages").parse().ok();
        assert!(chosen(&problem, &asked, arch).is_ok(), "{error}");
    }
}

#[test]
fn what_no_tile_divides_gets_one_that_is_as_fast() {
    let context = cute_ir::context();
    let tile = |extents| {
        let problem = problem(&context, extents);
        let plan = chosen(&problem, &Request::default(), arch("sm_90a"));
        plan.unwrap().tile
    };
    assert_eq!(tile([4095, 4095, 4096]), tile([4096; 3]));
    assert_eq!(tile([1000, 1000, 1001]), tile([1024; 3]));
    // Few rows are no reason for many empty ones.
    assert!(tile([1, 4096, 4096])[0] <= 64);
}

#[test]
fn what_lies_otherwise_is_moved_otherwise() {
    let context = cute_ir::context();
    let half = Type::parse(&context, "f16").unwrap();
    let plan = |access: Access| {
        let problem = Problem {
            accesses: [access, ROWS, ROWS],
            ..problem(&context, [512; 3])
        };
        chosen(&problem, &Request::default(), arch("sm_80")).unwrap()
    };
    let first = |plan: &Plan<'_>| plan.path(Operand::A)[0].row().unwrap().num_val;
    for vector in [8, 4, 2, 1] {
        let made = plan(Access { vector, ..ROWS });
        assert_eq!(first(&made), vector);
        assert_eq!(made.major(Operand::A), Ok(1));
        assert_eq!(made.element(Operand::A), Ok(half));
    }
    let columns = plan(Access { major: 0, ..ROWS });
    assert_eq!(columns.major(Operand::A), Ok(0));
    assert!(
        columns.path(Operand::A)[1]
            .row()
            .unwrap()
            .name
            .ends_with("_T")
    );
}

#[test]
fn an_open_problem_gets_a_few_plans_that_are_fast_together() {
    let context = cute_ir::context();
    let open = Problem {
        extents: [None; 3],
        ..problem(&context, [1; 3])
    };
    let arch = arch("sm_90a");
    let request = Request {
        instructions: Some(super::super::Instructions::Mma),
        ..Request::default()
    };
    let made = super::super::choose(&open, rules(&request), &arch.into(), 6).unwrap();
    assert!((3..=6).contains(&made.len()), "{}", made.len());
    let builder = builder(&context);
    let all = builder.candidates(&Request::default(), &[1], &arch.into());
    let all = all.unwrap();
    let made_of = made.iter().map(|one| one.time.estimate);
    let all_of = all.iter().map(|one| one.estimate);
    let fastest = |of: &[Estimate], extents| {
        let times = of.iter().map(|one| one.known(extents, 1, 132));
        times.min().unwrap() as f64
    };
    let (made_of, all_of): (Vec<_>, Vec<_>) = (made_of.collect(), all_of.collect());
    let time = |extents: [i64; 3]| fastest(&made_of, extents) / fastest(&all_of, extents);
    // Nothing is lost where it takes long, and not much anywhere.
    assert_eq!(time([8192; 3]), 1.0);
    let sizes = [1, 24, 100, 200, 500, 1000, 3000, 5000];
    for m in sizes {
        for n in sizes {
            for k in sizes {
                assert!(time([m, n, k]) < 1.7, "{m} {n} {k} {}", time([m, n, k]));
            }
        }
    }
    // With one extent open there is less to choose from.
    let rows = Problem {
        extents: [None, Some(4096), Some(4096)],
        ..open
    };
    let request = Request::default();
    let few = super::super::choose(&rows, rules(&request), &arch.into(), 6).unwrap();
    assert!((2..=6).contains(&few.len()), "{}", few.len());
    let one = super::super::choose(&rows, rules(&request), &arch.into(), 1).unwrap();
    assert_eq!(one.len(), 1);
}

#[test]
fn k_is_split_where_that_is_worth_a_second_kernel() {
    let context = cute_ir::context();
    let chosen = |extents: [i64; 3], split| {
        let request = Request {
            split,
            instructions: Some(super::super::Instructions::Mma),
            ..Request::default()
        };
        let archs = arch("sm_90a").into();
        let made =
            super::super::choose(&problem(&context, extents), rules(&request), &archs, 1).unwrap();
        let one = made.first().unwrap();
        (one.plan.split, one.time.estimate.known(extents, 1, 132))
    };
    for extents in [[512; 3], [1024; 3], [4096; 3]] {
        assert_eq!(chosen(extents, None).0, 1, "{extents:?}");
    }
    for extents in [[128, 4096, 11008], [64, 64, 16384], [256, 256, 16384]] {
        let (split, time) = chosen(extents, None);
        assert!(split > 1, "{extents:?}");
        assert!(time < chosen(extents, Some(1)).1, "{extents:?}");
        assert_eq!(chosen(extents, Some(1)).0, 1);
        assert_eq!(chosen(extents, Some(7)).0, 7);
    }
}

#[test]
fn ranges_are_dealt_out_where_that_is_asked_for() {
    let context = cute_ir::context();
    let archs = arch("sm_90a").into();
    let by = |extents: [i64; 3], stream, split| {
        let request = Request {
            tile: Some([128, 128, 64]),
            warps: Some([2, 2]),
            stages: Some(3),
            stream,
            split,
            ..Request::default()
        };
        let made =
            super::super::choose(&problem(&context, extents), rules(&request), &archs, 1).unwrap();
        let [one] = &made[..] else {
            panic!("one plan of a known problem")
        };
        let time = one.time.estimate.known(extents, 1, 132);
        (one.plan.clone(), one.asking.clone(), time)
    };
    let of = |extents, stream: Option<Stream>| by(extents, stream, stream.map(|_| 2));
    // As many as have shared memory: 96 KiB each.
    let (plan, asking, _) = of([3000; 3], Some(Stream::Auto));
    assert_eq!((plan.split, plan.stream), (2, 2));
    assert!(asking.contains("split=2 stream=2"), "{asking}");
    assert_eq!(of([3000; 3], Some(Stream::Blocks(2))).0, plan);
    assert_eq!(of([3000; 3], Some(Stream::Blocks(1))).0.stream, 1);
    // 576 tiles are two waves of 264, and a small one. Sums of a wave and more are worth it where K is long, those of the small one alone where it is not.
    let time = |k, stream, split| by([3000, 3000, k], stream, split).2;
    let auto = Some(Stream::Auto);
    assert_eq!(of([3000; 3], None).0.stream, 0);
    assert!(time(12000, auto, Some(2)) < time(12000, None, None));
    assert!(time(3000, auto, Some(3)) < time(3000, None, None));
    assert!(time(3000, auto, Some(3)) < time(3000, auto, Some(2)));
    // Where all are whole there is a second kernel for nothing.
    let full = [128 * 22, 128 * 24, 3000];
    assert!(of(full, Some(Stream::Auto)).2 > of(full, None).2);
    // Sums are in shared memory as well, where banks count.
    assert!(plan.shared(Operand::C).unwrap().0.swizzle.is_some());
    let name = super::super::Avoid::name_of(&plan);
    assert_eq!(name, "128x128x64-2x2-3-2-2stream");
    assert_eq!(super::super::Avoid::read(&name).unwrap().0, [name.as_str()]);
    assert!(super::super::Avoid::read("128x128x64-2x2-3-2-0stream").is_err());
    // Nothing was measured that would say where it pays.
    for extents in [[3000; 3], [2048, 2304, 8192], [256, 256, 16384]] {
        let request = Request::default();
        assert_eq!(
            chosen(&problem(&context, extents), &request, arch("sm_90a"))
                .unwrap()
                .stream,
            0
        );
    }
}

#[test]
fn sums_of_parts_need_no_shared_memory_of_their_own() {
    let context = cute_ir::context();
    let sums = problem(&context, [128; 3]).staged_sums();
    let builder = Builder::new(
        sums.elements,
        sums.accumulate,
        sums.accesses,
        sums.fed,
        [false; 2],
    )
    .unwrap();
    let choice = Choice {
        tile: [128, 256, 32],
        stages: 2,
        ..builder.table(RASTER).next().unwrap()
    };
    // 128 KiB of sums, beside 48 of A and B.
    let archs = arch("sm_89").into();
    assert!(builder.fitting(choice, &archs).is_err());
    let split = Choice { split: 2, ..choice };
    let (plan, _) = builder.fitting(split, &archs).unwrap();
    assert_eq!(plan.shared(Operand::C).unwrap().0.swizzle, None);
}

/// A product of f16 by bytes, which a prologue makes f16 with something that is read once for a row.
fn of_bytes(context: &Context, extents: [i64; 3]) -> Problem<'_> {
    Problem {
        fed: [
            None,
            Some(Fed {
                stored: Type::parse(context, "i8").unwrap(),
                vector: 16,
                bits: 8,
                held: 1,
                group: None,
                along_k: false,
            }),
        ],
        ..problem(context, extents)
    }
}

#[test]
fn bytes_are_computed_in_registers_by_neighbours_along_k() {
    let context = cute_ir::context();
    let request = Request::default();
    let plan = chosen(
        &of_bytes(&context, [16, 8192, 8192]),
        &request,
        arch("sm_90a"),
    );
    let plan = plan.unwrap();
    assert_eq!(
        [Operand::A, Operand::B].map(|factor| plan.computes_fragments(factor).unwrap()),
        [false, true]
    );
    assert!(plan.loads_by_vectors(Operand::A).unwrap());
    assert!(!plan.loads_by_vectors(Operand::C).unwrap());
    // As fast as measured within 3 %: 16x64x256 by four warps, K in two parts.
    assert_eq!((plan.tile, plan.split), ([16, 64, 256], 2));
    let (builder, choice) = Builder::of(&plan).unwrap();
    assert_eq!(builder.plan(choice).unwrap(), plan);
    // What has other extents than tiles, and what is not along K, goes by shared memory.
    let odd = of_bytes(&context, [16, 8200, 8192]);
    let column = Access { major: 0, ..ROWS };
    let turned = Problem {
        accesses: [ROWS, column, ROWS],
        ..of_bytes(&context, [16, 8192, 8192])
    };
    for other in [&odd, &turned] {
        let plan = chosen(other, &request, arch("sm_90a")).unwrap();
        assert!(!plan.computes_fragments(Operand::B).unwrap());
        let asked = Request {
            prologue: Some(super::super::Prologue::Registers),
            ..Request::default()
        };
        let error = chosen(other, &asked, arch("sm_90a")).unwrap_err();
        assert!(error.contains("asks for prologue=registers"), "{error}");
    }
}

#[test]
fn of_two_factors_of_bytes_the_one_whose_extents_are_known_is_computed_in_registers() {
    let context = cute_ir::context();
    let one = of_bytes(&context, [16, 8192, 8192]);
    let open = Problem {
        extents: [None, Some(8192), Some(8192)],
        fed: [one.fed[1]; 2],
        ..one
    };
    let request = Request {
        prologue: Some(super::super::Prologue::Registers),
        ..Request::default()
    };
    let archs = arch("sm_80").into();
    let made = super::super::choose(&open, rules(&request), &archs, 8).unwrap();
    for chosen in made {
        let factors = [Operand::A, Operand::B];
        let computes = factors.map(|factor| chosen.plan.computes_fragments(factor).unwrap());
        assert_eq!(computes, [false, true]);
    }
}

#[test]
fn rows_in_groups_are_not_computed_in_registers() {
    let context = cute_ir::context();
    let one = of_bytes(&context, [64, 512, 512]);
    let of = |fed| Problem {
        has_groups: true,
        batch: Some(4),
        fed,
        ..one
    };
    let computes = |fed| {
        let plan = chosen(&of(fed), &Request::default(), arch("sm_80")).unwrap();
        [Operand::A, Operand::B].map(|factor| plan.computes_fragments(factor).unwrap())
    };
    let bytes = one.fed[1];
    assert_eq!(computes([bytes, None]), [false, false]);
    assert!(!computes([bytes, bytes])[0]);
    let request = Request {
        prologue: Some(super::super::Prologue::Registers),
        ..Request::default()
    };
    let asked = |fed| chosen(&of(fed), &request, arch("sm_80"));
    let error = asked([bytes, None]).unwrap_err();
    assert!(error.contains("no groups of its rows"), "{error}");
    let plan = asked([None, bytes]).unwrap();
    assert!(plan.computes_fragments(Operand::B).unwrap());
}

#[test]
fn halves_of_all_banks_are_of_neighbours() {
    let swizzle = |line| of_halves(line).unwrap().map(|swizzle| swizzle.to_string());
    assert_eq!(swizzle(64), None);
    assert_eq!(swizzle(128).as_deref(), Some("S<1,6,1>"));
    assert_eq!(swizzle(256).as_deref(), Some("S<1,6,2>"));
    assert_eq!(swizzle(192), None);
    // Eight threads, of two lines, load 16 bytes each: of every two lines that are neighbours in all 32 banks.
    for line in [64, 128, 256] {
        for first in (0..8).step_by(2) {
            let mut banks: Vec<i64> = (0..8)
                .flat_map(|thread| {
                    let place = (first + thread / 4) * line + thread % 4 * 16;
                    let place = of_halves(line).unwrap().map_or(place, |s| s.apply(place));
                    (0..4).map(move |word| (place / 4 + word) % 32)
                })
                .collect();
            banks.sort_unstable();
            assert!(banks.windows(2).all(|two| two[0] != two[1]), "{line}");
        }
    }
}
