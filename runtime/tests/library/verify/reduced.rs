//! Outputs of an epilogue that are reduced: right results pass, each kind of mistake is found.

use cute_runtime::Element;
use cute_runtime::package::{Access, Arg, Epilogue, ReduceOp, Region};
use cute_runtime::package::{Compute, Function, Gemm};
use cute_runtime::tensor::{HostTensor, Matrix};
use cute_runtime::tensor::{generate, round_to};
use cute_runtime::verify::*;

const M: usize = 70;
const N: usize = 50;
const K: usize = 32;

/// The elements of C that are reduced, and where the result lies.
const OUTPUTS: [(ReduceOp, &str); 4] = [
    (ReduceOp::Maximum, "(70,50):(1,0)"),
    (ReduceOp::Add, "(70,50):(0,1)"),
    (ReduceOp::Mean, "(70,50):(0,0)"),
    (ReduceOp::Minimum, "(70,50):(2,0)"),
];

struct Case {
    function: Function,
    before: Vec<HostTensor>,
    after: Vec<HostTensor>,
    config: Config,
}

/// The sums themselves, and what they come to.
fn case() -> Case {
    let tensor = |name: &str, element: &str, layout: &str, access| Arg::Tensor {
        name: name.into(),
        element: element.into(),
        layout: layout.into(),
        align: 4,
        access,
    };
    let mut args = vec![
        tensor("A", "f16", "(70,32):(32,1)", Access::Read),
        tensor("B", "f16", "(50,32):(32,1)", Access::Read),
        tensor("C", "f32", "(70,50):(50,1)", Access::Write),
    ];
    let mut epilogue = Epilogue {
        region: Region {
            ops: vec![],
            yields: vec![0; 1 + OUTPUTS.len()],
        },
        ..Epilogue::default()
    };
    for (at, (op, layout)) in OUTPUTS.iter().enumerate() {
        epilogue.outputs.push(args.len());
        epilogue.reduce.push(op.name().to_owned());
        args.push(tensor(
            &format!("D{}", at + 1),
            "f32",
            layout,
            Access::Write,
        ));
    }
    let gemm = Gemm {
        epilogue: Some(epilogue),
        ..Gemm::new(0, 1, 2, "f32")
    };
    let function = Function::new("gemm", args, vec![]).computing(vec![Compute::Gemm(gemm)]);
    let before = generate(&function, 3).unwrap();
    let mut after = before.clone();
    let [a, b] = [0, 1].map(|at| Matrix::new(&before[at]).unwrap());
    let sum = |row: usize, column: usize| {
        (0..K).fold(0.0, |sum, k| {
            round_to(Element::F32, sum + a.get(row, k) * b.get(column, k))
        })
    };
    after[2].fill_with(|index| sum(index as usize % M, index as usize / M));
    for (at, (op, layout)) in OUTPUTS.iter().enumerate() {
        let layout = cute_runtime::layout::Parsed::parse(layout).unwrap();
        let is_one = |mode: usize| layout.mode_leaves(mode)[0].1 == 0;
        let (rows, columns) = (is_one(0), is_one(1));
        after[3 + at].fill_with(|index| {
            let (row, column) = (index as usize % M, index as usize / M);
            let of_rows = if rows { 0..M } else { row..row + 1 };
            let all = of_rows.flat_map(|row| {
                let of_columns = if columns { 0..N } else { column..column + 1 };
                of_columns.map(move |column| (row, column))
            });
            let all: Vec<f64> = all.map(|(row, column)| sum(row, column)).collect();
            round_to(Element::F32, op.exact(&all))
        });
    }
    Case {
        function,
        before,
        after,
        config: Config {
            data: Data::IndependentMeanZero,
            ..Config::default()
        },
    }
}

impl Case {
    fn reports(&self) -> Result<Vec<Report>, VerifyError> {
        let before = Some(&self.before[..]);
        verify_from(&self.function, before, &self.after, &self.config)
    }

    /// Changes an element of an output behind C, by its row and column.
    fn set(&mut self, output: usize, row: usize, column: usize, value: impl Fn(f64) -> f64) {
        let index = (row + column * M) as i64;
        let tensor = &mut self.after[2 + output];
        let before = tensor.get(index).unwrap();
        tensor.set(index, value(before));
    }

    /// Ten rows and about as many columns alone are computed.
    fn sampled(mut self) -> Case {
        self.config.full_limit = 0;
        self.config.probe_budget = (2 * K * 10 * N) as u64;
        self
    }
}

#[test]
fn right_results_pass() {
    let reports = case().reports().unwrap();
    assert_eq!(reports.len(), 1 + OUTPUTS.len());
    for (report, compared) in reports.iter().zip([M * N, M, N, 1, M]) {
        assert!(report.passed(), "{report}");
        assert_eq!(report.compared, compared as u64, "{report}");
    }
}

#[test]
fn mistakes_are_found() {
    type Break = fn(&mut Case);
    let all: [(usize, Break); 8] = [
        // The second largest one.
        (1, |case| case.set(1, 17, 0, |x| x - 0.25)),
        (1, |case| case.set(1, 0, 0, |_| f64::NAN)),
        // Another row's.
        (1, |case| {
            let other = case.after[3].get(5).unwrap();
            case.set(1, 4, 0, |_| other);
        }),
        // A column without one of its sums.
        (2, |case| case.set(2, 0, 49, |x| x - 3.0)),
        (2, |case| case.set(2, 0, 7, |_| 0.0)),
        // A sum in place of a mean.
        (3, |case| case.set(3, 0, 0, |x| x * (M * N) as f64)),
        (4, |case| case.set(4, 69, 0, |x| x + 0.5)),
        (4, |case| case.after[6].fill_with(|_| 0.0)),
    ];
    for (output, break_it) in all {
        let mut case = case();
        break_it(&mut case);
        let reports = case.reports().unwrap();
        for (at, report) in reports.iter().enumerate() {
            assert_eq!(report.passed(), at != output, "{at} {output}: {report}");
        }
    }
}

#[test]
fn what_was_never_written_is_found() {
    let mut case = case();
    let layout = cute_runtime::layout::Parsed::parse(OUTPUTS[0].1).unwrap();
    case.after[3] = HostTensor::poisoned(Element::F32, layout).unwrap();
    let reports = case.reports().unwrap();
    let text = reports[1].to_string();
    assert!(
        text.contains("70 elements of D1 were never written"),
        "{text}"
    );
}

#[test]
fn lines_of_a_large_product_are_compared() {
    let mut case = case().sampled();
    // What is reduced along both needs all of it.
    let error = case.reports().unwrap_err().to_string();
    assert!(
        error.contains("D3 is reduced over a product that is too large"),
        "{error}"
    );
    let Compute::Gemm(gemm) = &mut case.function.computes[0] else {
        unreachable!()
    };
    let epilogue = gemm.epilogue.as_mut().unwrap();
    for list in [&mut epilogue.outputs, &mut epilogue.region.yields] {
        list.remove(2);
    }
    epilogue.reduce.remove(2);
    let reports = case.reports().unwrap();
    for (report, all) in reports[1..].iter().zip([M, N, M]) {
        assert!(report.passed(), "{report}");
        assert!(
            report.compared > 0 && report.compared < all as u64,
            "{report}"
        );
    }
    case.after[3].fill_with(|_| 1e6);
    assert!(!case.reports().unwrap()[1].passed());
    case.set(1, 33, 0, |_| f64::NAN);
    assert!(!case.reports().unwrap()[1].passed());
}
