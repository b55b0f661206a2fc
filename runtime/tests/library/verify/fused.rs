//! Fused maps: what is right passes, in whatever order and from however many tiles it was computed, and mistakes are found.

use super::map::{Case, ORDERS, Setup, op, reduce};
use cute_arith::ScalarOp as Op;
use cute_runtime::Element;
use cute_runtime::package::ReduceOp;
use cute_runtime::package::RegionOp;
use cute_runtime::tensor::round_to;
use cute_runtime::verify::*;

/// The extents of batch, rows, columns, K and E.
const EXTENTS: [i64; 5] = [2, 6, 40, 8, 5];

/// The values of [`attention`] by their numbers: scores, the power of each, and the sum of them.
const SCORE: usize = 8;
const POWER: usize = 11;
const SUM: usize = 12;

/// The scores times a number, softmax, and the mean of the values by it; the logarithm of each row's sum of powers beside.
fn attention() -> Setup {
    let ops = vec![
        op(Op::Convert, &[0], "f32"),
        op(Op::Convert, &[1], "f32"),
        op(Op::Mul, &[3, 4], "f32"),
        reduce(ReduceOp::Add, 5, &[3], "f32"),
        RegionOp::constant(0.25, "f32"),
        op(Op::Mul, &[6, 7], "f32"),
        reduce(ReduceOp::Maximum, SCORE, &[2], "f32"),
        op(Op::Sub, &[SCORE, 9], "f32"),
        op(Op::Exp, &[10], "f32"),
        reduce(ReduceOp::Add, POWER, &[2], "f32"),
        op(Op::Convert, &[POWER], "f16"),
        op(Op::Convert, &[13], "f32"),
        op(Op::Convert, &[2], "f32"),
        op(Op::Mul, &[14, 15], "f32"),
        reduce(ReduceOp::Add, 16, &[2], "f32"),
        op(Op::Div, &[17, SUM], "f32"),
        op(Op::Convert, &[18], "f16"),
        op(Op::Log, &[SUM], "f32"),
        op(Op::Add, &[20, 9], "f32"),
    ];
    let inputs = [
        ("f16", "(2,6,40,8,5):(48,8,0,1,0)"),
        ("f16", "(2,6,40,8,5):(320,0,8,1,0)"),
        ("f16", "(2,6,40,8,5):(200,0,5,0,1)"),
    ];
    let outputs = [
        ("f16", "(2,6,40,8,5):(30,5,0,0,1)"),
        ("f32", "(2,6,40,8,5):(6,1,0,0,0)"),
    ];
    Setup::new(&inputs, &outputs, ops, &[19, 21])
}

/// Two products of one factor, and what is made of both.
fn gated() -> Setup {
    let ops = vec![
        op(Op::Convert, &[0], "f32"),
        op(Op::Convert, &[1], "f32"),
        op(Op::Convert, &[2], "f32"),
        op(Op::Mul, &[3, 4], "f32"),
        op(Op::Mul, &[3, 5], "f32"),
        reduce(ReduceOp::Add, 6, &[2], "f32"),
        reduce(ReduceOp::Add, 7, &[2], "f32"),
        op(Op::Tanh, &[8], "f32"),
        op(Op::Mul, &[10, 9], "f32"),
    ];
    let inputs = [
        ("bf16", "(20,24,16):(16,0,1)"),
        ("bf16", "(20,24,16):(0,16,1)"),
        ("bf16", "(20,24,16):(0,1,24)"),
    ];
    Setup::new(&inputs, &[("f32", "(20,24,16):(24,1,0)")], ops, &[11])
}

/// The distance of elements from the mean of their row, at most in each column.
fn crossed() -> Setup {
    let ops = vec![
        reduce(ReduceOp::Mean, 0, &[1], "f32"),
        op(Op::Sub, &[0, 1], "f32"),
        op(Op::Abs, &[2], "f32"),
        reduce(ReduceOp::Maximum, 3, &[0], "f32"),
    ];
    let tensors = [("f32", "(30,50):(50,1)"), ("f32", "(30,50):(0,1)")];
    Setup::new(&tensors[..1], &tensors[1..], ops, &[4])
}

fn all() -> Vec<Setup> {
    vec![attention(), gated(), crossed()]
}

/// The same, compared in part.
fn sampled(mut case: Case) -> Vec<Report> {
    case.config.full_limit = 0;
    case.config.probe_budget = 60_000;
    case.reports()
}

#[test]
fn right_results_pass() {
    for (i, setup) in all().iter().enumerate() {
        assert!(is_fused(&setup.region, setup.inputs.len()));
        for order in ORDERS {
            let mut case = setup.start();
            case.compute(order, |_, _, value| value);
            for (report, output) in case.reports().iter().zip(&setup.outputs) {
                assert!(report.passed(), "{i} {order:?}: {report}");
                let places = case.after[*output].layout().places().count();
                assert_eq!(
                    (report.compared, report.undecided, &report.method),
                    (places as u64, 0, &Method::Full),
                    "{i}: {report}"
                );
            }
            for report in sampled(case) {
                assert!(report.passed(), "{i} {order:?}: {report}");
                assert!(report.compared > 0, "{i}: {report}");
            }
        }
    }
}

/// The result of [`attention`] tile by tile of columns, with the maximum of what was met; `change` changes the power by which what was
/// summed up is multiplied.
fn in_tiles(
    case: &mut Case,
    tile: i64,
    order: impl Fn(i64) -> i64,
    change: impl Fn(i64, f64) -> f64,
) {
    let [batches, rows, columns, inner, outer] = EXTENTS;
    let f32 = |value: f64| round_to(Element::F32, value);
    let f16 = |value: f64| round_to(Element::F16, value);
    let index = |at: [i64; 5]| {
        let mut weight = 1;
        let parts = at.iter().zip(EXTENTS).map(|(at, extent)| {
            let part = at * weight;
            weight *= extent;
            part
        });
        parts.sum::<i64>()
    };
    let element = |case: &Case, input: usize, at| case.before[input].get(index(at)).unwrap();
    for b in 0..batches {
        for m in 0..rows {
            let (mut most, mut sum) = (f64::NEG_INFINITY, 0.0);
            let mut sums = vec![0.0; outer as usize];
            for first in (0..columns).step_by(tile as usize) {
                let met = (first..columns.min(first + tile)).map(&order);
                let met: Vec<i64> = met.collect();
                let score = |n: &i64| {
                    let product = |k: i64| {
                        element(case, 0, [b, m, 0, k, 0]) * element(case, 1, [b, 0, *n, k, 0])
                    };
                    f32(f32((0..inner).map(product).sum::<f64>()) * 0.25)
                };
                let scores: Vec<f64> = met.iter().map(score).collect();
                let now = scores.iter().copied().fold(most, f64::max);
                let power = match most {
                    f64::NEG_INFINITY => 0.0,
                    _ => change(first, f32((most - now).exp())),
                };
                most = now;
                let powers: Vec<f64> = scores.iter().map(|s| f32(f32(s - now).exp())).collect();
                sum = f32(f32(sum * power) + powers.iter().sum::<f64>());
                for (e, all) in sums.iter_mut().enumerate() {
                    let of = met
                        .iter()
                        .zip(&powers)
                        .map(|(n, p)| f16(*p) * element(case, 2, [b, 0, *n, 0, e as i64]));
                    *all = f32(f32(*all * power) + of.sum::<f64>());
                }
            }
            for n in 0..columns {
                for k in 0..inner {
                    for (e, all) in sums.iter().enumerate() {
                        let at = index([b, m, n, k, e as i64]);
                        case.after[3].set(at, f16(f32(all / sum)));
                        case.after[4].set(at, f32(f32(sum.ln()) + most));
                    }
                }
            }
        }
    }
}

#[test]
fn what_follows_a_running_maximum_passes() {
    for tile in [16, 17, 40] {
        for backwards in [false, true] {
            let mut case = attention().start();
            let order = |n: i64| if backwards { EXTENTS[2] - 1 - n } else { n };
            in_tiles(&mut case, tile, order, |_, power| power);
            for report in case.reports() {
                assert!(report.passed(), "{tile} {backwards}: {report}");
            }
        }
    }
}

#[test]
fn what_does_not_follow_it_is_found() {
    let mut case = attention().start();
    in_tiles(&mut case, 16, |n| n, |_, _| 1.0);
    assert!(case.reports().iter().all(|report| !report.passed()));
    let mut case = attention().start();
    in_tiles(
        &mut case,
        16,
        |n| n,
        |first, power| if first == 32 { power * 1.01 } else { power },
    );
    assert!(case.reports().iter().all(|report| !report.passed()));
}

/// An element that is off by little, wherever it is.
#[test]
fn a_single_wrong_element_is_found() {
    for (i, setup) in all().iter().enumerate() {
        for (at, output) in setup.outputs.iter().enumerate() {
            let mut case = setup.case();
            let tensor = &mut case.after[*output];
            let last = tensor.layout().size() - 1;
            let value = tensor.get(last).unwrap();
            let off = match tensor.element() {
                Element::F16 => 2f64.powi(-6),
                _ => 2f64.powi(-9),
            };
            tensor.set(last, value * (1.0 + off) + off);
            let report = case.reports().swap_remove(at);
            assert!(!report.passed(), "{i}: {report}");
            let worst = report.worst.as_ref().unwrap();
            assert_eq!(
                worst.found,
                case.after[*output].get(last).unwrap(),
                "{i}: {report}"
            );
        }
    }
}

/// A column that takes no part, one that takes part twice, a factor that is left out, and another order of operations.
#[test]
fn mistakes_of_kernels_are_found() {
    let layout = |case: &Case| case.before[0].layout().clone();
    type Change = fn(&[i64], usize, f64) -> f64;
    let mistakes: [(&str, Change); 4] = [
        ("a column is left out", |at, value, number| match value {
            POWER if at[2] == 39 => 0.0,
            _ => number,
        }),
        ("a column counts twice", |at, value, number| match value {
            POWER if at[2] == 0 => 2.0 * number,
            _ => number,
        }),
        ("scores are not scaled", |_, value, number| match value {
            SCORE => 4.0 * number,
            _ => number,
        }),
        (
            "an element of K is left out",
            |at, value, number| match value {
                5 if at[3] == 7 => 0.0,
                _ => number,
            },
        ),
    ];
    for (name, change) in mistakes {
        let mut case = attention().start();
        let layout = layout(&case);
        case.compute(ORDERS[0], |index, value, number| {
            change(&layout.coordinate(index), value, number)
        });
        for report in case.reports() {
            assert!(!report.passed(), "{name}: {report}");
        }
        assert!(
            sampled(case).iter().any(|report| !report.passed()),
            "{name}"
        );
    }
}

/// Elements that are not finite are compared wherever they are, and those that nobody wrote are found.
#[test]
fn what_was_not_computed_is_found() {
    let mut case = attention().case();
    let last = case.after[3].layout().size() - 1;
    case.after[3].set(last, f64::NAN);
    let reports = sampled(case);
    assert!(
        !reports[0].passed() && reports[1].passed(),
        "{}",
        reports[0]
    );
    for report in attention().start().reports() {
        assert!(!report.passed(), "{report}");
    }
}

/// Nothing is said of inputs that are not finite.
#[test]
fn inputs_must_be_finite() {
    let mut case = attention().case();
    case.before[1].set(5, f64::INFINITY);
    let before = Some(case.before.as_slice());
    let said = verify_from(&case.function, before, &case.after, &case.config);
    assert!(matches!(said, Err(VerifyError::NotFinite { .. })));
}
