//! Maps: each kind of mistake is found, and nothing is said where nothing can be.

use super::map::*;
use cute_arith::ScalarOp as Op;
use cute_runtime::Element;
use cute_runtime::package::{Compute, ReduceOp};
use cute_runtime::tensor::HostTensor;
use cute_runtime::verify::*;

/// Checks that an output is wrong, compared as a whole and, where `anywhere` is wrong, in part.
#[track_caller]
fn found(setup: &Setup, output: usize, anywhere: bool, break_it: impl Fn(&mut Case)) -> Report {
    let mut case = setup.case();
    assert!(
        case.reports()[output].passed(),
        "{}",
        case.reports()[output]
    );
    break_it(&mut case);
    let report = case.reports().swap_remove(output);
    assert!(!report.passed(), "{report}");
    if anywhere {
        let sampled = case.sampled().reports().swap_remove(output);
        assert!(!sampled.passed(), "{sampled}");
    }
    report
}

/// An element of each output that is off by little: by two units in the last place of what is rounded to a short type, by a part in
/// ten thousand of what is computed in f32, where terms do not cancel.
#[test]
fn a_single_wrong_element_is_found() {
    for (i, setup) in all().iter().enumerate() {
        for (at, output) in setup.outputs.iter().enumerate() {
            let mut case = setup.case();
            let tensor = &mut case.after[*output];
            let index = tensor.layout().size() - 1;
            let value = tensor.get(index).unwrap();
            let off = match tensor.element() {
                Element::F16 => value * (1.0 + 2f64.powi(-9)),
                Element::Bf16 => value * (1.0 + 2f64.powi(-6)),
                Element::F32 if i == ONE_LINE => value + 1e-4,
                Element::F32 => value * (1.0 + 1e-4),
                Element::F64 => value * (1.0 + 1e-13),
                _ => value + 1.0,
            };
            tensor.set(index, if value == 0.0 { 1e-3 } else { off });
            let report = case.reports().swap_remove(at);
            let worst = report.worst.as_ref().unwrap();
            assert_eq!(
                worst.found,
                case.after[*output].get(index).unwrap(),
                "{i}: {report}"
            );
            let one = |f: &Failure| matches!(f, Failure::Elements { count: 1, .. });
            assert!(
                report.failures.len() == 1 && one(&report.failures[0]),
                "{i}: {report}"
            );
            // It is where the layout says: the first of those at one place.
            let shape = case.after[*output].layout().shape();
            let mut last: Vec<i64> = shape.iter().map(|size| size - 1).collect();
            for (mode, last) in last.iter_mut().enumerate() {
                if case.after[*output].layout().is_repeated(mode) {
                    *last = 0;
                }
            }
            let column = last[shape.len() - 1] as usize;
            let (mut row, mut weight) = (0, 1);
            for mode in 0..shape.len() - 1 {
                row += last[mode] * weight;
                weight *= shape[mode];
            }
            assert_eq!(
                (worst.row, worst.column),
                (row as usize, column),
                "{i}: {report}"
            );
        }
    }
}

/// A maximum that misses one element, where that is the largest.
#[test]
fn a_wrong_maximum_is_found() {
    let report = found(&below_maximum(), 0, true, |case| {
        let tensor = case.before[0].clone();
        let second = |column: i64| {
            let mut all: Vec<f64> = (0..48)
                .map(|i| tensor.get(i + 48 * column).unwrap())
                .collect();
            all.sort_by(f64::total_cmp);
            all[46]
        };
        case.compute(Order::Lanes, |index, value, v| match value {
            1 => second(index / 48),
            _ => v,
        });
    });
    assert!(
        report
            .failures
            .iter()
            .any(|f| matches!(f, Failure::Elements { .. }))
    );
    // Of a single column.
    found(&below_maximum(), 1, false, |case| {
        case.compute(Order::Lanes, |index, value, v| match (value, index / 48) {
            (1, 37) => v + 2f64.powi(-8),
            _ => v,
        });
    });
    // That of the rows instead.
    found(&below_maximum(), 0, true, |case| {
        let map = case.map();
        let mut other = map.clone();
        other.region.ops[0] = reduce(ReduceOp::Maximum, 0, &[1], "f16");
        case.function.computes = vec![Compute::Map(other)];
        case.compute(Order::Lanes, |_, _, v| v);
        case.function.computes = vec![Compute::Map(map)];
    });
}

#[test]
fn a_sum_that_lost_a_term_is_found() {
    let lost = |at: usize| {
        move |case: &mut Case| {
            // The last element of each row takes no part, as if a loop had ended early.
            case.compute(Order::Lanes, |index, value, v| match (value, index / 48) {
                (value, 79) if value == at => 0.0,
                _ => v,
            });
        }
    };
    for setup in [row_sum("f32"), row_sum("f64")] {
        let sums = |case: &mut Case| {
            let whole = case.before[0].clone();
            lost(0)(case);
            case.before[0] = whole;
        };
        found(&setup, 0, true, sums);
    }
    // In a softmax it is the other elements that show it.
    let report = found(&softmax("f32"), 0, true, lost(4));
    assert!(matches!(report.failures[0], Failure::Elements { count, .. } if count > 3000));
    // One byte, of one row, by one.
    found(&integers(), 0, false, |case| {
        case.compute(Order::Lanes, |index, value, v| match (value, index) {
            (2, index) if index % 48 == 11 => v + 1.0,
            _ => v,
        });
    });
    // Two terms of 20000, and the mean of one term fewer.
    found(&one_line(), 0, false, |case| {
        case.compute(Order::Pairwise, |_, value, v| match value {
            1 => v + 2.0 / 20000.0,
            _ => v,
        });
    });
    found(&layer_norm(), 0, true, |case| {
        case.compute(Order::Lanes, |_, value, v| match value {
            6 => v * 80.0 / 79.0,
            _ => v,
        });
    });
}

#[test]
fn a_missing_operation_is_found() {
    // No weight, no epsilon where it matters, no mean, no rounding to nearest.
    found(&rms_norm(), 0, true, |case| {
        case.compute(Order::Lanes, |_, value, v| if value == 7 { 1.0 } else { v });
    });
    found(&layer_norm(), 0, true, |case| {
        case.compute(Order::Lanes, |_, value, v| if value == 3 { 0.0 } else { v });
    });
    found(&activation(), 0, true, |case| {
        case.compute(Order::Lanes, |_, value, v| if value == 1 { 1.0 } else { v });
    });
    found(&cast(), 0, true, |case| {
        let input = case.before[0].clone();
        let toward_zero = |index: i64| {
            let value = input.get(index).unwrap();
            let near = cute_runtime::tensor::round_to(Element::F16, value);
            match near.abs() > value.abs() {
                // The next smaller one, of numbers that are not tiny.
                true => near - near.abs().log2().floor().exp2() * 2f64.powi(-10) * near.signum(),
                false => near,
            }
        };
        case.after[1].fill_with(toward_zero);
    });
}

#[test]
fn copies_are_compared_byte_by_byte() {
    for (setup, yields) in [(transpose(), vec![]), (softmax("f32"), vec![0])] {
        let mut setup = setup;
        if !yields.is_empty() {
            setup.region.ops.clear();
            setup.region.yields = yields;
        }
        let mut case = setup.case();
        for tensors in [&mut case.before, &mut case.after] {
            tensors[0].set(100, 0.0);
        }
        case.after[1].set(100, -0.0);
        let report = case.reports().remove(0);
        assert!(
            matches!(report.failures[..], [Failure::Elements { count: 1, .. }]),
            "{report}"
        );
        case.after[1].set(100, 0.0);
        assert!(case.reports()[0].passed());
    }
    // What is computed may have either sign of 0.
    let ops = vec![op(Op::Neg, &[0], "f32")];
    let mut case = Setup::new(&[("f32", "8:1")], &[("f32", "8:1")], ops, &[1]).case();
    for tensors in [&mut case.before, &mut case.after] {
        tensors[0].set(3, 0.0);
    }
    case.after[1].set(3, 0.0);
    assert!(case.reports()[0].passed());
    // Integers that f64 does not tell apart.
    let mut case = Setup::new(&[("i64", "8:1")], &[("i64", "8:1")], vec![], &[0]).case();
    let large = (1i64 << 60) + 1;
    for tensors in [&mut case.before, &mut case.after] {
        tensors[0].bytes_mut()[..8].copy_from_slice(&large.to_le_bytes());
    }
    case.after[1].bytes_mut()[..8].copy_from_slice(&large.to_le_bytes());
    assert!(case.reports()[0].passed(), "{}", case.reports()[0]);
    case.after[1].bytes_mut()[0] ^= 1;
    assert!(!case.reports()[0].passed());
    // As if the elements had been copied in the order of memory.
    found(&transpose(), 0, true, |case| {
        let bytes = case.before[0].bytes().to_vec();
        case.after[1].bytes_mut().copy_from_slice(&bytes);
    });
}

#[test]
fn what_is_not_written_is_found() {
    for (i, setup) in all().iter().enumerate() {
        for (at, output) in setup.outputs.iter().enumerate() {
            let element = setup.case().after[*output].element();
            if !element.is_float() {
                // Bytes have no poison, and are compared.
                found(setup, at, true, |case| {
                    case.after[*output]
                        .bytes_mut()
                        .fill(cute_runtime::tensor::POISON);
                });
                continue;
            }
            for sampled in [false, true] {
                let mut case = setup.case();
                let place = case.after[*output].layout().at(1) as usize * element.size();
                let bytes = &mut case.after[*output].bytes_mut()[place..place + element.size()];
                bytes.fill(cute_runtime::tensor::POISON);
                let (row, column) = match case.after[*output].layout() {
                    layout if layout.is_repeated(0) => (0, 0),
                    layout if layout.rank() == 1 => (0, 1),
                    _ => (1, 0),
                };
                let case = if sampled { case.sampled() } else { case };
                let unwritten = Failure::Unwritten {
                    name: format!("T{output}"),
                    count: 1,
                    row,
                    column,
                };
                assert_eq!(case.reports()[at].failures, [unwritten], "{i}");
            }
        }
    }
}

#[test]
fn padding_is_looked_at() {
    let mut case = softmax("f16").case();
    case.after[1].bytes_mut()[80 * 2] = 0;
    let report = case.reports().remove(0);
    let padding = Failure::Padding {
        name: "T1".into(),
        byte: 160,
    };
    assert_eq!(report.failures, [padding]);
}

#[test]
fn a_nan_that_nothing_gives_is_found() {
    for setup in [
        softmax("f16"),
        along_the_first(),
        activation(),
        row_sum("f32"),
    ] {
        for sampled in [false, true] {
            let mut case = setup.case();
            let layout = case.after[1].layout().clone();
            let index = 7;
            case.after[1].set(index, f64::NAN);
            let shape = layout.shape();
            let column = match layout.is_repeated(shape.len() - 1) {
                true => 0,
                false => layout.coordinate(index)[shape.len() - 1] as usize,
            };
            let row = index as usize % (layout.size() / shape[shape.len() - 1]) as usize;
            let case = if sampled { case.sampled() } else { case };
            let report = case.reports().remove(0);
            let nan = Failure::NotANumber {
                name: "T1".into(),
                count: 1,
                row,
                column,
            };
            assert!(report.failures.contains(&nan), "{report}");
        }
    }
}

#[test]
fn what_was_there_before_is_what_is_read() {
    // Rows that are read a second time, after they were written.
    found(&in_place(), 0, true, |case| {
        let before = std::mem::replace(&mut case.before[0], case.after[0].clone());
        case.compute(Order::Lanes, |_, _, v| v);
        case.before[0] = before;
    });
    let case = in_place().case();
    let error = verify(&case.function, &case.after, &case.config).unwrap_err();
    assert!(matches!(error, VerifyError::NoBefore(name) if name == "T0"));
}

/// A value that varies where the output has one place is right at none, if no layout forbids it before the launch.
#[test]
fn one_place_holds_one_value() {
    let ops = vec![op(Op::Neg, &[0], "f32")];
    let setup = Setup::new(
        &[("f32", "(6,20):(20,1)")],
        &[("f32", "(6,20):(?,?)")],
        ops,
        &[1],
    );
    let mut case = setup.clone();
    case.tensors[1].1 = "(6,20):(20,1)";
    let case = case.case();
    let mut function = case.function.clone();
    if let cute_runtime::package::Arg::Tensor { layout, .. } = &mut function.args[1] {
        *layout = "(6,20):(?,?)".into();
    }
    let layout = cute_runtime::layout::Parsed::parse("(6,20):(1,0)").unwrap();
    let mut out = HostTensor::poisoned(Element::F32, layout).unwrap();
    out.fill_with(|index| -case.before[0].get(index).unwrap());
    let mut after = case.after.clone();
    after[1] = out;
    let reports = verify_from(&function, Some(&after), &after, &case.config).unwrap();
    let wrong = |f: &Failure| matches!(f, Failure::Elements { count: 114, .. });
    assert!(reports[0].failures.iter().any(wrong), "{}", reports[0]);
}

#[test]
fn nothing_is_said_of_what_is_not_defined() {
    // The logarithm of what may be negative, of about half of all.
    let ops = vec![
        reduce(ReduceOp::Mean, 0, &[1], "f32"),
        op(Op::Sub, &[0, 1], "f32"),
        op(Op::Log, &[2], "f32"),
    ];
    let tensors = [("f32", "(48,80):(80,1)"), ("f32", "(48,80):(80,1)")];
    let setup = Setup::new(&tensors[..1], &tensors[1..], ops, &[3]);
    let report = setup.case().reports().remove(0);
    assert!(report.passed(), "{report}");
    let part = report.undecided as f64 / (48.0 * 80.0);
    assert!((0.4..0.6).contains(&part), "{report}");
    assert_eq!(report.compared + report.undecided, 48 * 80);
    // A quotient by a sum that may be 0, and a sum of what f32 may not hold.
    for (value, divide) in [(0.0, true), (3e38, false)] {
        let ops = vec![
            reduce(ReduceOp::Add, 0, &[1], "f32"),
            op(if divide { Op::Div } else { Op::Max }, &[0, 1], "f32"),
        ];
        let setup = Setup::new(&tensors[..1], &tensors[1..], ops, &[2]);
        let mut case = setup.case();
        case.before[0].fill_with(|index| if index / 48 % 2 == 0 { value } else { -value });
        case.after[0] = case.before[0].clone();
        case.after[1].fill_with(|_| 0.0);
        let before = Some(case.before.as_slice());
        let error = verify_from(&case.function, before, &case.after, &case.config).unwrap_err();
        assert!(matches!(error, VerifyError::Undecided(name) if name == "T1"));
    }
}

#[test]
fn inputs_are_finite() {
    for (setup, input, index, place) in [
        (softmax("f32"), 0, 5 + 9 * 48, (5, 9)),
        // The second of the bias: a row.
        (layer_norm(), 2, 9 * 48, (0, 9)),
        (along_the_last(), 0, 4 + 3 * 30 + 7 * 240, (4 + 3 * 30, 7)),
    ] {
        let mut case = setup.case();
        for tensors in [&mut case.before, &mut case.after] {
            tensors[input].set(index, f64::NEG_INFINITY);
        }
        let before = Some(case.before.as_slice());
        let error = verify_from(&case.function, before, &case.after, &case.config).unwrap_err();
        let VerifyError::NotFinite {
            row, column, name, ..
        } = error
        else {
            panic!("{error}")
        };
        assert_eq!((name, (row, column)), (format!("T{input}"), place));
    }
    let mut case = activation().case();
    for tensors in [&mut case.before, &mut case.after] {
        tensors[2].set(0, f64::NAN);
    }
    let before = Some(case.before.as_slice());
    let error = verify_from(&case.function, before, &case.after, &case.config).unwrap_err();
    let says = "a scalar of the map is NaN";
    assert!(error.to_string().contains(says), "{error}");
}
