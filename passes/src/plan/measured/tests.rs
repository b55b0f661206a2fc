use super::super::{Access, Chosen, Packed, Reduced, Request, Rules, choose};
use super::*;
use crate::plan::estimate::Numbers;
use cute_target::Archs;
use melior::{Context, ir::Type};

/// Rows whose elements are moved by eight.
const ROWS: Access = Access {
    major: 1,
    known: true,
    apart: false,
    vector: 8,
    lines: 8,
    pitch: 64,
    placed: false,
};

const SMS: i64 = 132;

fn problem(context: &Context, extents: [Option<i64>; 3]) -> Problem<'_> {
    Problem {
        extents,
        batch: Some(1),
        has_groups: false,
        elements: [Type::parse(context, "f16").unwrap(); 3],
        accumulate: Type::parse(context, "f32").unwrap(),
        accesses: [ROWS; 3],
        boxes: [None; 2],
        fed: [None; 2],
        scaled: None,
        reduced: Reduced::default(),
        epilogue: None,
        packed: Packed::default(),
    }
}

fn hopper() -> Archs {
    Arch::find("sm_90a").unwrap().into()
}

fn time(plan: &str, extents: [i64; 4], ns: u64) -> Time {
    Time {
        arch: "sm_90".to_owned(),
        sms: 132,
        device: "a GPU".to_owned(),
        problem: "f16 f16 f32 f16 kkn 8x8x8".to_owned(),
        extents,
        plan: plan.to_owned(),
        ns,
    }
}

fn table(times: &[Time]) -> Table {
    let mut table = Table::default();
    for time in times {
        table.add(time.clone());
    }
    table
}

fn chosen<'c>(problem: &Problem<'c>, table: &Table, most: usize) -> Vec<Chosen<'c>> {
    let request = Request::default();
    choose(problem, Rules::of(&request, table), &hopper(), most).unwrap()
}

fn plan_of(problem: &Problem<'_>, table: &Table) -> String {
    let [one] = &chosen(problem, table, 1)[..] else {
        panic!("one plan of a known problem")
    };
    one.asking.clone()
}

/// All candidates of a problem, as a package of candidates has them.
fn all<'c>(problem: &Problem<'c>, table: &Table) -> Vec<Chosen<'c>> {
    let request = Request {
        candidates: Some(1000),
        ..Request::default()
    };
    choose(problem, Rules::of(&request, table), &hopper(), 1).unwrap()
}

#[test]
fn the_own_table_is_one() {
    let own = own().unwrap();
    check(own).unwrap();
    assert_eq!(own.text(), OWN, "cargo xtask tune writes it");
}

#[test]
fn products_have_names() {
    let context = cute_ir::context();
    let known = problem(&context, [Some(64); 3]);
    assert_eq!(known.kind(), "f16 f16 f32 f16 kkn 8x8x8");
    let column = Access {
        major: 0,
        vector: 1,
        ..ROWS
    };
    let other = Problem {
        accesses: [column, column, ROWS],
        fed: [
            Some(super::super::Fed {
                stored: known.elements[0],
                vector: 8,
                bits: 8,
                held: 1,
                group: Some(64),
                along_k: false,
            }),
            None,
        ],
        ..known
    };
    assert_eq!(
        other.kind(),
        "f16 f16 f32 f16 mnn 1x1x8, A of 8 bits beside 1 groups of 64"
    );
}

#[test]
fn candidates_come_once_each_by_their_estimates() {
    let context = cute_ir::context();
    let problem = problem(&context, [Some(512); 3]);
    let all = all(&problem, &Table::default());
    assert!(all.len() > 30);
    assert_eq!(all[0].asking, plan_of(&problem, &Table::default()));
    let names: std::collections::HashSet<_> = all.iter().map(|one| &one.asking).collect();
    assert_eq!(names.len(), all.len());
    let times: Vec<i64> = all
        .iter()
        .map(|one| one.time.estimate.known([512; 3], 1, SMS))
        .collect();
    // But for those that differ by less than a thousandth.
    let in_order = |pair: &[i64]| pair[1] - pair[0] >= -times[0] / 1000;
    assert!(times.windows(2).all(in_order), "{times:?}");
    let request = Request {
        candidates: Some(3),
        ..Request::default()
    };
    let none = Table::default();
    let three = choose(&problem, Rules::of(&request, &none), &hopper(), 1).unwrap();
    let names =
        |all: &[Chosen<'_>]| -> Vec<String> { all.iter().map(|one| one.asking.clone()).collect() };
    assert_eq!(names(&three), names(&all)[..3]);
}

#[test]
fn options_ask_for_the_very_plan() {
    let context = cute_ir::context();
    let problem = problem(&context, [Some(128), Some(4096), Some(11008)]);
    let none = Table::default();
    for one in all(&problem, &none) {
        use cute_ir::options::Options;
        let request = Request::parse(&one.asking).unwrap();
        assert_eq!(request.text(), one.asking);
        let asked = choose(&problem, Rules::of(&request, &none), &hopper(), 1).unwrap();
        assert_eq!(asked.len(), 1);
        assert_eq!(asked[0].plan, one.plan, "{}", one.asking);
    }
}

#[test]
fn a_measured_plan_wins_where_it_was_faster() {
    let context = cute_ir::context();
    let shape = [1024; 3];
    let problem = problem(&context, shape.map(Some));
    let all = all(&problem, &Table::default());
    let (best, other) = (&all[0].asking, &all[5].asking);
    let extents = [1024, 1024, 1024, 1];
    let both = |first, second| table(&[time(best, extents, first), time(other, extents, second)]);
    assert_eq!(plan_of(&problem, &both(9_000, 8_000)), *other);
    assert_eq!(plan_of(&problem, &both(8_000, 9_000)), *best);
    // The same input gives the same output.
    assert_eq!(plan_of(&problem, &both(9_000, 8_000)), *other);
    // It holds for shapes nearby, too, and far from it not.
    let near = self::problem(&context, [Some(1000), Some(1000), Some(1000)]);
    assert_eq!(plan_of(&near, &both(9_000, 8_000)), *other);
    let far = self::problem(&context, [Some(2048), Some(1024), Some(1024)]);
    assert_eq!(
        plan_of(&far, &both(9_000, 8_000)),
        plan_of(&far, &Table::default())
    );
}

#[test]
fn times_of_other_gpus_and_other_products_change_nothing() {
    let context = cute_ir::context();
    let problem = problem(&context, [Some(1024); 3]);
    let all = all(&problem, &Table::default());
    let extents = [1024, 1024, 1024, 1];
    let changes: [fn(&mut Time); 4] = [
        |time| time.arch = "sm_80".to_owned(),
        |time| time.sms = 108,
        |time| time.problem = "f16 f16 f32 f16 mkn 8x8x8".to_owned(),
        // A plan that is no candidate has no estimate to compare with.
        |time| time.plan = "tile=48x48x64 warps=1x1 stages=2".to_owned(),
    ];
    for change in changes {
        let mut fast = time(&all[7].asking, extents, 1);
        change(&mut fast);
        assert_eq!(plan_of(&problem, &table(&[fast])), all[0].asking);
    }
}

#[test]
fn of_several_devices_the_first_counts() {
    let context = cute_ir::context();
    let problem = problem(&context, [Some(1024); 3]);
    let all = all(&problem, &Table::default());
    let extents = [1024, 1024, 1024, 1];
    let of = |device: &str, plan: usize, ns| Time {
        device: device.to_owned(),
        ..time(&all[plan].asking, extents, ns)
    };
    let both = table(&[
        of("A", 0, 9_000),
        of("A", 3, 8_000),
        of("B", 0, 1_000),
        of("B", 3, 2_000),
    ]);
    assert_eq!(plan_of(&problem, &both), all[3].asking);
}

#[test]
fn bf16_takes_as_long_as_f16() {
    let context = cute_ir::context();
    let of_f16 = problem(&context, [Some(1024); 3]);
    let bf16 = Problem {
        elements: [Type::parse(&context, "bf16").unwrap(); 3],
        ..of_f16
    };
    let all = all(&of_f16, &Table::default());
    let extents = [1024, 1024, 1024, 1];
    let of = |plan: usize, ns| time(&all[plan].asking, extents, ns);
    let times = [of(0, 9_000), of(3, 7_000)];
    assert_eq!(plan_of(&bf16, &table(&times)), all[3].asking);
    // Its own times come first.
    let own = |time: Time| Time {
        problem: "bf16 bf16 f32 bf16 kkn 8x8x8".to_owned(),
        ..time
    };
    let [first, second] = times;
    let times = [own(of(0, 6_500)), first, own(of(3, 8_000)), second];
    assert_eq!(plan_of(&bf16, &table(&times)), all[0].asking);
    assert_eq!(plan_of(&of_f16, &table(&times)), all[3].asking);
}

#[test]
fn times_far_from_what_is_known_do_not_count() {
    let context = cute_ir::context();
    let open = problem(&context, [None, Some(4096), Some(4096)]);
    let all = all(&open, &Table::default());
    let factors = |n: i64| {
        let times = [
            time(&all[0].asking, [64, n, 4096, 1], 9_000),
            time(&all[1].asking, [64, n, 4096, 1], 90_000),
        ];
        let chosen = chosen(&open, &table(&times), 8);
        let with = chosen.iter().filter(|one| !one.time.factors.is_empty());
        with.count()
    };
    assert!(factors(4096) > 1);
    // Of the same class, and not within a sixteenth.
    assert_eq!(factors(3500), 0);
}

#[test]
fn times_are_scaled_by_estimates() {
    let context = cute_ir::context();
    let problem = problem(&context, [None, Some(4096), Some(4096)]);
    let request = Request {
        candidates: Some(1000),
        ..Request::default()
    };
    let builder = super::super::sm80::Builder::new(
        problem.elements,
        problem.accumulate,
        problem.accesses,
        problem.fed,
        [false; 2],
    )
    .unwrap();
    let candidates = builder.candidates(&request, &[1], &hopper()).unwrap();
    let estimate = |at: usize, m| candidates[at].estimate.known([m, 4096, 4096], 1, SMS);
    let extents = |m| [m, 4096, 4096, 1];
    // The first took twice its estimate at 4096 rows and three times at 3000, the second half of it.
    let ns = |picoseconds: i64| u64::try_from(picoseconds / 1000).unwrap();
    let table = table(&[
        time(
            &candidates[0].asking,
            extents(4096),
            ns(2 * estimate(0, 4096)),
        ),
        time(
            &candidates[0].asking,
            extents(3000),
            ns(3 * estimate(0, 3000)),
        ),
        time(
            &candidates[1].asking,
            extents(4096),
            ns(estimate(1, 4096) / 2),
        ),
    ]);
    let measured = Measured::of(&table, &problem, &candidates, hopper().first(), SMS);
    let factor = |at: usize, m: i64| {
        let near = measured.near([m, 4096, 4096], 1);
        let time = near.time(at, &candidates[at].estimate);
        (time as f64 / estimate(at, m) as f64 * 100.0).round()
    };
    assert_eq!(factor(0, 4096), 200.0);
    assert_eq!(factor(0, 4095), 200.0);
    assert_eq!(factor(0, 3100), 300.0);
    // Others as the middle one of those nearby, the upper one of two, and a tenth more.
    assert_eq!(factor(2, 4096), 220.0);
    assert_eq!(factor(1, 3100), 330.0);
    // Between and beyond them estimates stand.
    assert_eq!(factor(0, 3500), 100.0);
    assert_eq!(factor(0, 8192), 100.0);
    assert_eq!(factor(2, 1), 100.0);
}

#[test]
fn open_problems_are_calibrated_by_class() {
    let context = cute_ir::context();
    let open = problem(&context, [None, Some(4096), Some(4096)]);
    let plain = chosen(&open, &Table::default(), 3);
    assert!(plain.len() > 1 && plain.iter().all(|one| one.time.factors.is_empty()));
    let known = |one: &Chosen<'_>, m| one.time.estimate.known([m, 4096, 4096], 1, SMS);
    let own = plain.iter().min_by_key(|one| known(one, 4096)).unwrap();
    let asked = own.asking.clone();
    // What is best at 4096 rows takes three times its estimate there, and another one its estimate.
    let other = plain.iter().find(|one| one.asking != asked).unwrap();
    let ns = |picoseconds: i64| u64::try_from(picoseconds / 1000).unwrap();
    let extents = [4096, 4096, 4096, 1];
    let table = table(&[
        time(&asked, extents, ns(3 * known(own, 4096))),
        time(&other.asking, extents, ns(known(other, 4096))),
    ]);
    let calibrated = chosen(&open, &table, 3);
    let time = |one: &Chosen<'_>, m: i64| {
        let Ok(time) = one.time.time(&Numbers, &[m, 4096, 4096], &1, &SMS);
        time
    };
    for one in &calibrated {
        for m in [1, 64, 2896, 2897, 4096, 5792, 5793, 8192, 1 << 33] {
            let class = ShapeClass::of([m, 4096, 4096, 1]) == ShapeClass::of(extents);
            let ratio = time(one, m) as f64 / known(one, m) as f64;
            let expected = match (class, one.asking == asked) {
                (false, _) => 1.0,
                (true, true) => 3.0,
                (true, false) if one.asking == other.asking => 1.0,
                // The larger one of both, and a tenth more.
                (true, false) => 3.3,
            };
            assert!(
                (ratio - expected).abs() < 0.02,
                "{} {m}: {ratio}",
                one.asking
            );
        }
    }
}

#[test]
fn factors_that_go_wrong_are_bounded() {
    let entry = |measured, estimated| Entry {
        class: ShapeClass::of([1; 4]),
        extents: [1; 4],
        candidate: 0,
        times: [measured, estimated],
    };
    assert_eq!(entry(i64::MAX, 1).factor(), FACTORS[1]);
    assert_eq!(entry(1, i64::MAX).factor(), FACTORS[0]);
    assert_eq!(entry(7, 0).factor(), 7 * ONE);
}

#[test]
fn plans_that_ask_for_nothing_are_refused() {
    for (plan, says) in [
        ("tile=64x64", "3 extents"),
        ("fast=yes", "no such option 'fast'"),
        (
            "warps=2x2 tile=64x64x64",
            "expected the plan \"tile=64x64x64 warps=2x2\"",
        ),
    ] {
        let error = check(&table(&[time(plan, [1; 4], 1)])).unwrap_err();
        assert!(error.contains(says), "{error}");
    }
}
