//! Verification of products of tensors at coordinates and of rows by index: what is right is right, and what reads one element elsewhere is not.

use crate::package::{step, tensor};
use cute_runtime::Element;
use cute_runtime::layout::Parsed;
use cute_runtime::package::{Access, At, Expr};
use cute_runtime::package::{Compute, Function, Gemm};
use cute_runtime::tensor::HostTensor;
use cute_runtime::tensor::generate;
use cute_runtime::verify::*;

/// Y(q,n) = the sum over channels c and taps s of X(c, q + s - 1) F(n,(c,s)).
fn convolution() -> Function {
    let args = vec![
        tensor("X", "f32", "(3,7):(1,4)", Access::Read),
        tensor("F", "f32", "(5,9):(9,1)", Access::Read),
        tensor("Y", "f32", "(7,5):(5,1)", Access::Write),
    ];
    let at = At {
        start: vec![Expr::Constant(0), Expr::Constant(-1)],
        modes: vec![vec![step(7, 1, 1)], vec![step(3, 1, 0), step(3, 1, 1)]],
    };
    let gemm = Gemm {
        at_a: Some(Box::new(at)),
        ..Gemm::new(0, 1, 2, "f32")
    };
    Function::new("f", args, vec![]).computing(vec![Compute::Gemm(gemm)])
}

fn convolve(tensors: &[HostTensor], from: i64) -> HostTensor {
    let mut y = HostTensor::zeroed(Element::F32, Parsed::parse("(7,5):(5,1)").unwrap()).unwrap();
    let at = |tensor: &HostTensor, index: i64| tensor.get(index).unwrap();
    for q in 0..7 {
        for n in 0..5 {
            let mut sum = 0.0;
            for s in 0..3 {
                let w = q + s + from;
                for c in (0..3).filter(|_| (0..7).contains(&w)) {
                    sum += at(&tensors[0], c + 3 * w) * at(&tensors[1], n + 5 * (c + 3 * s));
                }
            }
            y.set(q + 7 * n, sum);
        }
    }
    y
}

#[test]
fn convolutions_are_verified() {
    let function = convolution();
    let mut tensors = generate(&function, 3).unwrap();
    tensors[2] = convolve(&tensors, -1);
    let reports = verify(&function, &tensors, &Config::default()).unwrap();
    assert!(reports.iter().all(Report::passed), "{reports:?}");
    assert_eq!(reports[0].shape, [7, 5, 9]);
    // One pixel further.
    tensors[2] = convolve(&tensors, 0);
    assert!(!verify(&function, &tensors, &Config::default()).unwrap()[0].passed());
}

#[test]
fn rows_that_there_are_not_are_zeros() {
    let args = vec![
        tensor("T", "f32", "(4,6):(6,1)", Access::Read),
        tensor("B", "f32", "(3,6):(6,1)", Access::Read),
        tensor("C", "f32", "(5,3):(3,1)", Access::Write),
        tensor("I", "i64", "5:2", Access::Read),
    ];
    let gemm = Gemm {
        rows_a: Some(3),
        ..Gemm::new(0, 1, 2, "f32")
    };
    let function = Function::new("f", args, vec![]).computing(vec![Compute::Gemm(gemm)]);
    let mut tensors = generate(&function, 5).unwrap();
    let indices = [2, -1, 0, 4, i64::MIN];
    for (at, index) in indices.iter().enumerate() {
        tensors[3].set(at as i64, *index as f64);
    }
    let sum = |tensors: &[HostTensor], row: i64, n: i64| -> f64 {
        let at = |tensor: &HostTensor, index: i64| tensor.get(index).unwrap();
        (0..6)
            .map(|k| at(&tensors[0], row + 4 * k) * at(&tensors[1], n + 3 * k))
            .sum()
    };
    for (m, row) in indices.iter().enumerate() {
        for n in 0..3 {
            let value = if (0..4).contains(row) {
                sum(&tensors, *row, n)
            } else {
                0.0
            };
            tensors[2].set(m as i64 + 5 * n, value);
        }
    }
    assert!(verify(&function, &tensors, &Config::default()).unwrap()[0].passed());
    // What a row that there is not should not be.
    let other = sum(&tensors, 3, 0);
    tensors[2].set(3, other);
    assert!(!verify(&function, &tensors, &Config::default()).unwrap()[0].passed());
}

#[test]
fn parts_that_are_written_are_inside() {
    let args = vec![
        tensor("A", "f32", "(2,3):(3,1)", Access::Read),
        tensor("B", "f32", "(2,3):(3,1)", Access::Read),
        tensor("C", "f32", "(4,2):(2,1)", Access::Write),
    ];
    let gemm = |first| Gemm {
        at_c: Some(Box::new(At {
            start: vec![Expr::Constant(first), Expr::Constant(0)],
            modes: vec![vec![step(2, 2, 0)], vec![step(2, 1, 1)]],
        })),
        ..Gemm::new(0, 1, 2, "f32")
    };
    let function = |first| {
        Function::new("f", args.clone(), vec![]).computing(vec![Compute::Gemm(gemm(first))])
    };
    let mut tensors = generate(&function(1), 5).unwrap();
    for m in 0..2 {
        for n in 0..2 {
            let at = |tensor: usize, index: i64| tensors[tensor].get(index).unwrap();
            let sum: f64 = (0..3).map(|k| at(0, m + 2 * k) * at(1, n + 2 * k)).sum();
            tensors[2].set(1 + 2 * m + 4 * n, sum);
        }
    }
    assert!(verify(&function(1), &tensors, &Config::default()).unwrap()[0].passed());
    let error = verify(&function(2), &tensors, &Config::default()).unwrap_err();
    assert!(
        error.to_string().contains("coordinates inside of C"),
        "{error}"
    );
}

/// Five rows of three groups, of which the second has none.
fn groups() -> (Function, Vec<HostTensor>) {
    let args = vec![
        tensor("A", "f32", "(5,6):(6,1)", Access::Read),
        tensor("B", "f32", "(3,6,3):(6,1,18)", Access::Read),
        tensor("C", "f32", "(5,3):(3,1)", Access::Write),
        tensor("ends", "i64", "3:1", Access::Read),
    ];
    let gemm = Gemm {
        groups: Some(3),
        ..Gemm::new(0, 1, 2, "f32")
    };
    let function = Function::new("f", args, vec![]).computing(vec![Compute::Gemm(gemm)]);
    let mut tensors = generate(&function, 2).unwrap();
    for (at, end) in [2, 2, 4].into_iter().enumerate() {
        tensors[3].set(at as i64, f64::from(end));
    }
    for row in 0..4 {
        let group = if row < 2 { 0 } else { 2 };
        for n in 0..3 {
            let value = sum_of_group(&tensors, row, n, group);
            tensors[2].set(row + 5 * n, value);
        }
    }
    (function, tensors)
}

fn sum_of_group(tensors: &[HostTensor], row: i64, n: i64, group: i64) -> f64 {
    let at = |tensor: &HostTensor, index: i64| tensor.get(index).unwrap();
    (0..6)
        .map(|k| at(&tensors[0], row + 5 * k) * at(&tensors[1], n + 3 * (k + 6 * group)))
        .sum()
}

#[test]
fn rows_are_multiplied_by_the_matrix_of_their_group() {
    let (function, mut tensors) = groups();
    let reports = verify(&function, &tensors, &Config::default()).unwrap();
    assert!(reports.iter().all(Report::passed), "{reports:?}");
    assert_eq!(reports[0].shape, [5, 3, 6]);
    assert_eq!(reports[0].compared, 12);
    // The matrix of another group.
    let other = sum_of_group(&tensors, 3, 1, 1);
    tensors[2].set(3 + 5, other);
    let reports = verify(&function, &tensors, &Config::default()).unwrap();
    assert!(
        matches!(
            reports[0].failures[..],
            [Failure::Product { index: 2, .. }, ..]
        ),
        "{reports:?}"
    );
}

#[test]
fn rows_behind_the_last_group_are_not_written() {
    let (function, mut tensors) = groups();
    let other = sum_of_group(&tensors, 4, 2, 2);
    tensors[2].set(4 + 5 * 2, other);
    let reports = verify(&function, &tensors, &Config::default()).unwrap();
    let found = reports[0].failures[0].to_string();
    assert_eq!(
        found,
        "C(4,2) was written, a row behind the last group of rows"
    );
}

#[test]
fn ends_of_groups_ascend_up_to_the_rows() {
    for ends in [[2, 1, 5], [-1, 2, 5], [2, 3, 6]] {
        let (function, mut tensors) = groups();
        for (at, end) in ends.into_iter().enumerate() {
            tensors[3].set(at as i64, f64::from(end));
        }
        let error = verify(&function, &tensors, &Config::default()).unwrap_err();
        assert!(
            error.to_string().contains("ends of groups of rows"),
            "{error}"
        );
    }
}
