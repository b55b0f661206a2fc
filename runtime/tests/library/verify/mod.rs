mod chain;
mod epilogue;
mod fused;
mod lines;
mod map;
mod map_found;
mod places;
mod prologue;
mod reduced;

use std::collections::BTreeMap;
use std::sync::Mutex;

use cute_runtime::package::{Access, Arg};
use cute_runtime::package::{Compute, Function, Gemm};
use cute_runtime::tensor::generate;
use cute_runtime::tensor::{HostTensor, Matrix};
use cute_runtime::verify::*;

/// C = A * B^T with M, N, K that are no multiples of anything the checks use.
struct Case {
    function: Function,
    tensors: Vec<HostTensor>,
    config: Config,
}

const M: usize = 300;
const N: usize = 260;
const K: usize = 70;

fn function(layouts: [&str; 3], elements: [&str; 3], accumulate: &str) -> Function {
    let arg = |i: usize, name: &str, access| Arg::Tensor {
        name: name.into(),
        element: elements[i].into(),
        layout: layouts[i].into(),
        align: 8,
        access,
    };
    Function::new(
        "gemm",
        vec![
            arg(0, "A", Access::Read),
            arg(1, "B", Access::Read),
            arg(2, "C", Access::Write),
        ],
        vec![],
    )
    .computing(vec![Compute::Gemm(Gemm::new(0, 1, 2, accumulate))])
}

/// Multiplies as a GPU does: products added in f32, rounded to C's type at the end.
fn multiply(tensors: &mut [HostTensor], accumulate: impl Fn(f64, f64) -> f64 + Sync) {
    let [a, b, c] = tensors else {
        unreachable!("three tensors")
    };
    let (a, b) = (Matrix::new(a).unwrap(), Matrix::new(b).unwrap());
    let (m, k) = (a.rows(), a.columns());
    c.fill_with(|index| {
        let (row, column) = (index as usize % m, index as usize / m);
        (0..k).fold(0.0, |sum, l| {
            accumulate(sum, a.get(row, l) * b.get(column, l))
        })
    });
}

fn in_f32(sum: f64, term: f64) -> f64 {
    f64::from((sum + term) as f32)
}

impl Case {
    fn new(layouts: [&str; 3], elements: [&str; 3]) -> Case {
        // Many tests begin with the same right result.
        static MADE: Mutex<BTreeMap<String, Vec<HostTensor>>> = Mutex::new(BTreeMap::new());
        let function = function(layouts, elements, "f32");
        let key = format!("{layouts:?} {elements:?}");
        let make = || {
            let mut tensors = generate(&function, 11).unwrap();
            multiply(&mut tensors, in_f32);
            tensors
        };
        let tensors = MADE.lock().unwrap().entry(key).or_insert_with(make).clone();
        let config = Config {
            data: Data::IndependentMeanZero,
            ..Config::default()
        };
        Case {
            function,
            tensors,
            config,
        }
    }

    fn half() -> Case {
        let layouts = ["(300,70):(70,1)", "(260,70):(1,260)", "(300,260):(264,1)"];
        Case::new(layouts, ["f16", "f16", "f16"])
    }

    /// Probes of segments of 32 columns and a few lines, instead of every element.
    fn probed(mut self) -> Case {
        self.config.full_limit = 0;
        self.config.probe_budget = (M * N * K) as u64 / 4;
        self.config.lines = 6;
        self
    }

    fn verify(&self) -> Report {
        verify(&self.function, &self.tensors, &self.config)
            .unwrap()
            .remove(0)
    }

    fn c(&mut self) -> &mut HostTensor {
        &mut self.tensors[2]
    }

    fn change(&mut self, row: usize, column: usize, change: impl Fn(f64) -> f64) {
        let index = (row + column * M) as i64;
        let value = self.c().get(index).unwrap();
        self.c().set(index, change(value));
    }
}

fn worst_of(report: &Report) -> (usize, usize) {
    let worst = report.worst.as_ref().unwrap();
    (worst.row, worst.column)
}

#[test]
fn right_results_pass() {
    let layouts = ["(300,70):(70,1)", "(260,70):(70,1)", "(300,260):(1,300)"];
    for elements in [
        ["f16"; 3],
        ["bf16"; 3],
        ["f16", "f16", "f32"],
        ["f32"; 3],
        ["i8", "i8", "i32"],
    ] {
        for data in [Data::IndependentMeanZero, Data::Any] {
            let mut case = Case::new(layouts, elements);
            case.config.data = data;
            let report = case.probed().verify();
            assert!(report.passed(), "{elements:?}: {report}");
        }
        let report = Case::new(layouts, elements).verify();
        assert!(report.passed(), "{elements:?}: {report}");
        assert_eq!(
            (report.compared, &report.method),
            ((M * N) as u64, &Method::Full)
        );
    }
}

#[test]
fn the_estimated_norm_is_the_norm() {
    let exact = Case::half().verify().relative_error.unwrap();
    let estimate = Case::half().probed().verify().relative_error.unwrap();
    assert!(
        (estimate / exact - 1.0).abs() < 0.05,
        "{estimate} for {exact}"
    );
    // Rounding to f16 dominates: between a fifth of and a whole unit roundoff.
    assert!((1e-4..4.9e-4).contains(&exact), "{exact}");
}

#[test]
fn one_result_has_one_report_to_the_last_bit() {
    for case in [Case::half(), Case::half().probed()] {
        let figures = || {
            let report = case.verify();
            let error = report.relative_error.unwrap();
            (error.to_bits(), report.relative_limit.to_bits())
        };
        let first = figures();
        for _ in 0..20 {
            assert_eq!(figures(), first);
        }
    }
}

#[test]
fn a_single_wrong_element_is_found_and_named() {
    for (row, column) in [(0, 0), (299, 259), (123, 77)] {
        let mut case = Case::half();
        case.change(row, column, |v| v + 0.25);
        let report = case.verify();
        assert_eq!(worst_of(&report), (row, column));
        assert!(
            matches!(&report.failures[0], Failure::Elements { count: 1, .. }),
            "{report}"
        );
        assert!(
            report
                .to_string()
                .contains(&format!("the worst at ({row},{column}): expected")),
            "{report}"
        );

        let mut case = Case::half().probed();
        case.change(row, column, |v| v + 2.0);
        let report = case.verify();
        assert_eq!(worst_of(&report), (row, column), "{report}");
        assert!(!report.passed());
    }
}

#[test]
fn two_errors_that_cancel_are_found() {
    // Equal and opposite in one segment: each probe sees them with probability 1/2.
    let mut case = Case::half().probed();
    case.change(201, 70, |v| v + 8.0);
    case.change(201, 75, |v| v - 8.0);
    let report = case.verify();
    assert!(
        report.failures.iter().any(|f| matches!(
            f,
            Failure::Segments {
                row: 201,
                first_column: 64,
                ..
            }
        )),
        "{report}"
    );
}

#[test]
fn a_transposed_product_is_found() {
    for probed in [false, true] {
        let layouts = ["(64,48):(48,1)", "(64,48):(48,1)", "(64,64):(64,1)"];
        let mut case = Case::new(layouts, ["f16"; 3]);
        let mut transposed = case.tensors[2].clone();
        transposed.fill_with(|index| case.tensors[2].get(index % 64 * 64 + index / 64).unwrap());
        case.tensors[2] = transposed;
        let case = if probed { case.probed() } else { case };
        let report = case.verify();
        assert!(
            matches!(&report.failures[0], Failure::Elements { .. }),
            "{report}"
        );
        assert!(report.relative_error.unwrap() > 0.5);
    }
}

#[test]
fn a_tile_of_zeros_is_found_wherever_it_is() {
    for (row, column) in [(0, 0), (144, 96), (284, 244)] {
        for case in [Case::half(), Case::half().probed()] {
            let mut case = case;
            for i in 0..16 {
                for j in 0..16 {
                    case.change(row + i, column + j, |_| 0.0);
                }
            }
            let report = case.verify();
            let (r, c) = worst_of(&report);
            assert!(
                (row..row + 16).contains(&r) && (column..column + 16).contains(&c),
                "{report}"
            );
            assert!(!report.passed());
        }
    }
}

#[test]
fn a_missing_step_of_the_sum_is_found() {
    for case in [Case::half(), Case::half().probed()] {
        let mut case = case;
        let mut short = generate(&case.function, 11).unwrap();
        let zero_from = 64 * M as i64;
        short[0].fill_with(|i| {
            if i < zero_from {
                case.tensors[0].get(i).unwrap()
            } else {
                0.0
            }
        });
        multiply(&mut short, in_f32);
        case.tensors[2] = short.remove(2);
        assert!(!case.verify().passed());
    }
}

#[test]
fn an_accumulator_in_half_precision_is_found() {
    for case in [Case::half(), Case::half().probed()] {
        let mut case = case;
        multiply(&mut case.tensors, |sum, term| {
            half::f16::from_f64(sum + term).to_f64()
        });
        let report = case.verify();
        assert!(
            report
                .failures
                .iter()
                .any(|f| matches!(f, Failure::Norm { .. })),
            "{report}"
        );
    }
}

#[test]
fn inputs_cut_to_tf32_are_found() {
    let layouts = ["(300,70):(70,1)", "(260,70):(70,1)", "(300,260):(1,300)"];
    let mut case = Case::new(layouts, ["f32"; 3]);
    let mut cut = case.tensors.clone();
    for (t, original) in cut.iter_mut().zip(&case.tensors).take(2) {
        t.fill_with(|i| half::f16::from_f64(original.get(i).unwrap()).to_f64());
    }
    multiply(&mut cut, in_f32);
    case.tensors[2] = cut.remove(2);
    assert!(!case.verify().passed());
    assert!(!case.probed().verify().passed());
}

#[test]
fn unwritten_and_nan_elements_are_told_apart() {
    for case in [Case::half(), Case::half().probed()] {
        let mut case = case;
        case.change(17, 5, |_| f64::NAN);
        let report = case.verify();
        assert_eq!(
            report.failures,
            [Failure::NotANumber {
                name: "C".into(),
                count: 1,
                row: 17,
                column: 5
            }]
        );
        assert_eq!(report.method, Method::ScanOnly);
        let at = (17 * 264 + 5) * 2;
        case.c().bytes_mut()[at..at + 2].fill(cute_runtime::tensor::POISON);
        let report = case.verify();
        assert_eq!(
            report.failures,
            [Failure::Unwritten {
                name: "C".into(),
                count: 1,
                row: 17,
                column: 5
            }]
        );
    }
}

#[test]
fn overwritten_padding_is_found() {
    let mut case = Case::half();
    let byte = (3 * 264 + 261) * 2;
    case.c().bytes_mut()[byte] = 0;
    let report = case.verify();
    assert_eq!(
        report.failures,
        [Failure::Padding {
            name: "C".into(),
            byte
        }]
    );
}

#[test]
fn infinite_elements_are_found() {
    for case in [Case::half(), Case::half().probed()] {
        let mut case = case;
        case.change(100, 130, |_| f64::INFINITY);
        let report = case.verify();
        assert!(!report.passed());
        assert_eq!(worst_of(&report), (100, 130));
    }
}

#[test]
fn what_cannot_be_verified_is_an_error() {
    let mut case = Case::half();
    case.tensors[1].set(3, f64::INFINITY);
    let error = verify(&case.function, &case.tensors, &case.config)
        .unwrap_err()
        .to_string();
    assert!(error.contains("argument B is inf at (3,0)"), "{error}");

    let mut case = Case::half();
    for i in 0..2 {
        case.tensors[i].fill_with(|_| 200.0);
    }
    multiply(&mut case.tensors, in_f32);
    let error = verify(&case.function, &case.tensors, &case.config)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("is 2800000, which f16 cannot hold"),
        "{error}"
    );

    case.function.computes.clear();
    let error = verify(&case.function, &case.tensors, &case.config)
        .unwrap_err()
        .to_string();
    assert!(error.contains("does not say what it computes"), "{error}");
}

fn promise(case: &mut Case, tolerance: f64) {
    let Compute::Gemm(gemm) = &mut case.function.computes[0] else {
        unreachable!()
    };
    gemm.tolerance = Some(tolerance);
}

#[test]
fn a_promise_tightens_the_limit() {
    let mut case = Case::half();
    promise(&mut case, 1e-6);
    let report = case.verify();
    assert!(
        matches!(report.failures[..], [Failure::Norm { limit: 1e-6, .. }]),
        "{report}"
    );
    promise(&mut case, 1.0);
    let report = case.verify();
    assert!(report.passed() && report.relative_limit < 0.01, "{report}");
}

#[test]
fn all_positive_data_added_towards_zero_passes() {
    // The worst that tensor cores do: every addition cut off in the same direction.
    let layouts = ["(40,8192):(8192,1)", "(40,8192):(8192,1)", "(40,40):(40,1)"];
    let function = function(layouts, ["f16", "f16", "f32"], "f32");
    let mut tensors = generate(&function, 1).unwrap();
    for t in &mut tensors[..2] {
        let original = t.clone();
        t.fill_with(|i| original.get(i).unwrap().abs());
    }
    multiply(&mut tensors, |sum, term| {
        let exact = sum + term;
        let nearest = exact as f32;
        f64::from(if f64::from(nearest) > exact {
            f32::from_bits(nearest.to_bits() - 1)
        } else {
            nearest
        })
    });
    let report = verify(&function, &tensors, &Config::default())
        .unwrap()
        .remove(0);
    assert!(report.passed(), "{report}");
}
