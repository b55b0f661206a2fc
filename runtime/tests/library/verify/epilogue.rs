//! Products with an epilogue: right results pass, each kind of mistake is found.

use cute_arith::ScalarOp as Op;
use cute_runtime::Element;
use cute_runtime::package::{Access, Arg, Epilogue, Region, RegionOp};
use cute_runtime::package::{Compute, Function, Gemm};
use cute_runtime::tensor::{HostTensor, Matrix};
use cute_runtime::tensor::{generate, round_to};
use cute_runtime::verify::*;

const M: usize = 96;
const N: usize = 80;
const K: usize = 64;

/// A product, the inputs and further outputs of its epilogue (element type, layout), and the region.
struct Setup {
    /// The types of A and B, of the sums, and of C.
    types: [&'static str; 3],
    inputs: Vec<(&'static str, &'static str)>,
    outputs: Vec<&'static str>,
    region: Region,
    /// Tells whether the first input is C.
    reads_c: bool,
}

const ROW: &str = "(96,80):(0,1)";
const COLUMN: &str = "(96,80):(1,0)";
const WHOLE: &str = "(96,80):(80,1)";

fn op(op: Op, of: &[usize], element: &str) -> RegionOp {
    RegionOp::apply(op, of.iter().copied(), element)
}

fn region(ops: Vec<RegionOp>, yields: &[usize]) -> Region {
    Region {
        ops,
        yields: yields.to_vec(),
    }
}

/// `f16(max(s + bias, 0))`
fn bias_relu() -> Setup {
    Setup {
        types: ["f16", "f32", "f16"],
        inputs: vec![("f32", ROW)],
        outputs: vec![],
        region: region(
            vec![
                op(Op::Add, &[0, 1], "f32"),
                RegionOp::constant(0.0, "f32"),
                op(Op::Max, &[2, 3], "f32"),
                op(Op::Convert, &[4], "f16"),
            ],
            &[5],
        ),
        reads_c: false,
    }
}

/// `x / 2 (1 + erf(x / sqrt(2)))` of the sum times a number for each row.
fn gelu_erf() -> Setup {
    Setup {
        types: ["f16", "f32", "f16"],
        inputs: vec![("f32", COLUMN)],
        outputs: vec![],
        region: region(
            vec![
                op(Op::Mul, &[0, 1], "f32"),
                RegionOp::constant(std::f64::consts::FRAC_1_SQRT_2, "f32"),
                op(Op::Mul, &[2, 3], "f32"),
                op(Op::Erf, &[4], "f32"),
                RegionOp::constant(1.0, "f32"),
                op(Op::Add, &[5, 6], "f32"),
                RegionOp::constant(0.5, "f32"),
                op(Op::Mul, &[2, 8], "f32"),
                op(Op::Mul, &[9, 7], "f32"),
                op(Op::Convert, &[10], "f16"),
            ],
            &[11],
        ),
        reads_c: false,
    }
}

/// `x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))`, and the sum itself as a second output.
fn gelu_tanh() -> Setup {
    Setup {
        types: ["bf16", "f32", "bf16"],
        inputs: vec![],
        outputs: vec!["f32"],
        region: region(
            vec![
                op(Op::Mul, &[0, 0], "f32"),
                op(Op::Mul, &[1, 0], "f32"),
                RegionOp::constant(0.044715, "f32"),
                op(Op::Fma, &[2, 3, 0], "f32"),
                RegionOp::constant((2.0 / std::f64::consts::PI).sqrt(), "f32"),
                op(Op::Mul, &[4, 5], "f32"),
                op(Op::Tanh, &[6], "f32"),
                RegionOp::constant(0.5, "f32"),
                op(Op::Mul, &[0, 8], "f32"),
                op(Op::Fma, &[9, 7, 9], "f32"),
                op(Op::Convert, &[10], "bf16"),
            ],
            &[11, 0],
        ),
        reads_c: false,
    }
}

/// `C = f16(s + C)`
fn residual() -> Setup {
    Setup {
        types: ["f16", "f32", "f16"],
        inputs: vec![("f16", WHOLE)],
        outputs: vec![],
        region: region(
            vec![
                op(Op::Convert, &[1], "f32"),
                op(Op::Add, &[0, 2], "f32"),
                op(Op::Convert, &[3], "f16"),
            ],
            &[4],
        ),
        reads_c: true,
    }
}

/// Sums of bytes times a number for each row, rounded, kept within the type and made bytes.
fn requantize() -> Setup {
    Setup {
        types: ["i8", "i32", "i8"],
        inputs: vec![("f32", COLUMN)],
        outputs: vec![],
        region: region(
            vec![
                op(Op::Convert, &[0], "f32"),
                op(Op::Mul, &[2, 1], "f32"),
                op(Op::RoundEven, &[3], "f32"),
                RegionOp::constant(127.0, "f32"),
                op(Op::Min, &[4, 5], "f32"),
                RegionOp::constant(-128.0, "f32"),
                op(Op::Max, &[6, 7], "f32"),
                op(Op::Convert, &[8], "i8"),
            ],
            &[9],
        ),
        reads_c: false,
    }
}

/// Eight times what a leaky relu leaves, rounded to a byte: where a sum decides, rounding may decide otherwise.
fn leaky_quantize() -> Setup {
    Setup {
        types: ["f16", "f32", "i8"],
        inputs: vec![],
        outputs: vec![],
        region: region(
            vec![
                RegionOp::constant(0.0, "f32"),
                op(Op::Lt, &[0, 1], "i1"),
                RegionOp::constant(0.1, "f32"),
                op(Op::Mul, &[0, 3], "f32"),
                op(Op::Select, &[2, 4, 0], "f32"),
                RegionOp::constant(8.0, "f32"),
                op(Op::Mul, &[5, 6], "f32"),
                op(Op::RoundEven, &[7], "f32"),
                RegionOp::constant(127.0, "f32"),
                op(Op::Min, &[8, 9], "f32"),
                op(Op::Convert, &[10], "i8"),
            ],
            &[11],
        ),
        reads_c: false,
    }
}

struct Case {
    function: Function,
    before: Vec<HostTensor>,
    after: Vec<HostTensor>,
    config: Config,
}

impl Setup {
    fn function(&self) -> Function {
        let arg = |name: &str, element: &str, layout: &str, access| Arg::Tensor {
            name: name.into(),
            element: element.into(),
            layout: layout.into(),
            align: 8,
            access,
        };
        let [factor, accumulate, result] = self.types;
        let c = if self.reads_c {
            Access::ReadWrite
        } else {
            Access::Write
        };
        let mut args = vec![
            arg("A", factor, "(96,64):(64,1)", Access::Read),
            arg("B", factor, "(80,64):(64,1)", Access::Read),
            arg("C", result, WHOLE, c),
        ];
        let mut epilogue = Epilogue {
            region: self.region.clone(),
            ..Epilogue::default()
        };
        for (i, (element, layout)) in self.inputs.iter().enumerate() {
            if self.reads_c && i == 0 {
                epilogue.inputs.push(2);
                continue;
            }
            epilogue.inputs.push(args.len());
            args.push(arg(&format!("E{i}"), element, layout, Access::Read));
        }
        for (i, element) in self.outputs.iter().enumerate() {
            epilogue.outputs.push(args.len());
            let name = format!("D{}", i + 1);
            args.push(arg(&name, element, "(96,80):(84,1)", Access::Write));
        }
        let gemm = Gemm {
            epilogue: Some(epilogue),
            ..Gemm::new(0, 1, 2, accumulate)
        };
        Function::new("gemm", args, vec![]).computing(vec![Compute::Gemm(gemm)])
    }

    /// A right result, as a GPU has it: every operation rounded to its type.
    fn case(&self) -> Case {
        let function = self.function();
        let before = generate(&function, 7).unwrap();
        let mut case = Case {
            after: before.clone(),
            function,
            before,
            config: Config {
                data: Data::IndependentMeanZero,
                ..Config::default()
            },
        };
        case.compute(|_, _, value| value);
        case
    }
}

impl Case {
    fn epilogue(&self) -> (Gemm, Epilogue) {
        let Compute::Gemm(gemm) = &self.function.computes[0] else {
            unreachable!()
        };
        (gemm.clone(), gemm.epilogue.clone().unwrap())
    }

    /// Computes all outputs; `change` changes a value of the region, by the element's index and the value's number.
    fn compute(&mut self, change: impl Fn(i64, usize, f64) -> f64 + Sync) {
        let (gemm, epilogue) = self.epilogue();
        let accumulate: Element = gemm.accumulate.parse().unwrap();
        let (a, b) = (&self.before[0], &self.before[1]);
        let (a, b) = (Matrix::new(a).unwrap(), Matrix::new(b).unwrap());
        let outputs: Vec<usize> = [2].into_iter().chain(epilogue.outputs.clone()).collect();
        for (output, yielded) in outputs.iter().zip(&epilogue.region.yields) {
            let value = |index: i64| {
                let (row, column) = (index as usize % M, index as usize / M);
                let sum = (0..K).fold(0.0, |sum, k| {
                    round_to(accumulate, sum + a.get(row, k) * b.get(column, k))
                });
                let mut values = vec![change(index, 0, sum)];
                for input in &epilogue.inputs {
                    let input = self.before[*input].get(index).unwrap();
                    values.push(change(index, values.len(), input));
                }
                for op in &epilogue.region.ops {
                    let (exact, rounds) = match &op.value {
                        cute_runtime::package::RegionValue::Constant(value) => (*value, false),
                        cute_runtime::package::RegionValue::Scalar(_)
                        | cute_runtime::package::RegionValue::Reduce(..) => unreachable!(),
                        cute_runtime::package::RegionValue::Op(of_op, of) => {
                            let of: Vec<f64> = of.iter().map(|v| values[*v]).collect();
                            (of_op.exact(&of), *of_op == Op::Convert)
                        }
                    };
                    // A truth value is 0 or 1.
                    let element: Element = op.element.parse().unwrap_or(Element::F32);
                    let exact = match rounds && !element.is_float() {
                        true => exact.trunc(),
                        false => exact,
                    };
                    let rounded = round_to(element, exact);
                    values.push(change(index, values.len(), rounded));
                }
                values[*yielded]
            };
            let mut made = self.after[*output].clone();
            made.fill_with(value);
            self.after[*output] = made;
        }
    }

    fn reports(&self) -> Vec<Report> {
        verify_from(
            &self.function,
            Some(&self.before),
            &self.after,
            &self.config,
        )
        .unwrap()
    }

    fn sampled(mut self) -> Case {
        self.config.full_limit = 0;
        let (_, epilogue) = self.epilogue();
        // Rows and columns, of which an element takes so much: ten of the 96 rows, twelve of the 80 columns.
        let each = (K + 64 * epilogue.region.ops.len()) as u64;
        self.config.probe_budget = 2 * each * 10 * N as u64;
        self
    }

    fn set(&mut self, tensor: usize, row: usize, column: usize, change: impl Fn(f64) -> f64) {
        let index = (row + column * M) as i64;
        let value = self.after[tensor].get(index).unwrap();
        self.after[tensor].set(index, change(value));
    }
}

/// Checks that the only output is wrong, in full and by rows and columns.
#[track_caller]
fn found(setup: &Setup, break_it: impl Fn(&mut Case)) -> Vec<Report> {
    let mut case = setup.case();
    break_it(&mut case);
    let reports = case.reports();
    assert!(!reports[0].passed(), "{}", reports[0]);
    let sampled = case.sampled().reports();
    assert!(!sampled[0].passed(), "{}", sampled[0]);
    reports
}

fn all() -> Vec<Setup> {
    vec![
        bias_relu(),
        gelu_erf(),
        gelu_tanh(),
        residual(),
        requantize(),
        leaky_quantize(),
    ]
}

#[test]
fn right_results_pass() {
    for (i, setup) in all().iter().enumerate() {
        for data in [Data::IndependentMeanZero, Data::Any] {
            let mut case = setup.case();
            case.config.data = data;
            for case in [&case, &setup.case().sampled()] {
                let reports = case.reports();
                assert_eq!(reports.len(), 1 + setup.outputs.len());
                for report in &reports {
                    assert!(report.passed(), "{i}: {report}");
                    assert_eq!(report.undecided, 0, "{i}: {report}");
                }
            }
            let report = &case.reports()[0];
            assert_eq!(
                (report.compared, &report.method),
                ((M * N) as u64, &Method::Full)
            );
        }
    }
}

#[test]
fn samples_are_one_of_each_band() {
    let report = bias_relu().case().sampled().reports().remove(0);
    assert_eq!(
        report.method,
        Method::Sampled {
            rows: 10,
            columns: 8
        }
    );
    assert_eq!(report.compared, (10 * N + 8 * M) as u64);
    assert!(
        report.to_string().contains("10 rows and 8 columns"),
        "{report}"
    );
    // So that a tile with twice as many rows as a band is met wherever it is.
    for row in (0..M - 19).step_by(7) {
        let mut case = bias_relu().case().sampled();
        for i in 0..19 {
            case.set(2, row + i, 33, |v| v + 1.0);
        }
        assert!(!case.reports()[0].passed(), "{row}");
    }
}

/// A number that is rounded to f16 may be off by half a unit, and by what the sum is: a single element that is off by two is found.
#[test]
fn a_single_wrong_element_is_found() {
    for (i, setup) in all().iter().enumerate() {
        let mut case = setup.case();
        let off = |v: f64| match i {
            4 | 5 => v + 1.0 - 2.0 * f64::from(u8::from(v > 0.0)),
            2 => v * (1.0 + 2f64.powi(-6)) + 1e-3,
            _ => v * (1.0 + 2f64.powi(-9)) + 1e-3,
        };
        case.set(2, 41, 17, off);
        let report = case.reports().remove(0);
        let worst = report.worst.as_ref().unwrap();
        assert_eq!((worst.row, worst.column), (41, 17), "{i}: {report}");
        assert!(
            matches!(&report.failures[0], Failure::Elements { count: 1, .. }),
            "{i}: {report}"
        );
    }
}

#[test]
fn a_wrong_bias_is_found() {
    // One element of it, by its column.
    let reports = found(&bias_relu(), |case| {
        case.compute(|index, value, v| {
            if value == 1 && index as usize / M == 60 {
                v + 0.5
            } else {
                v
            }
        });
    });
    let worst = reports[0].worst.as_ref().unwrap();
    assert_eq!(worst.column, 60);
    // None at all, and that of the column beside.
    found(&bias_relu(), |case| {
        case.compute(|_, value, v| if value == 1 { 0.0 } else { v });
    });
    found(&bias_relu(), |case| {
        let bias = case.before[3].clone();
        case.compute(|index, value, v| match value {
            1 => bias.get((index + M as i64) % (M * N) as i64).unwrap(),
            _ => v,
        });
    });
}

#[test]
fn a_missing_activation_is_found() {
    found(&bias_relu(), |case| {
        case.compute(|_, value, v| if value == 3 { -1e30 } else { v });
    });
    for setup in [gelu_erf(), gelu_tanh()] {
        // The factor 1 + erf or 1 + tanh is 2.
        found(&setup, |case| {
            case.compute(|_, value, v| match (value, setup.inputs.len()) {
                (5, 1) | (7, 0) => 1.0,
                _ => v,
            });
        });
    }
}

/// The two forms of gelu differ by less than 5e-4, and one is not the other in f32.
#[test]
fn one_gelu_is_not_the_other() {
    let mut exact = gelu_erf();
    exact.types[2] = "f32";
    exact.region.ops.pop();
    exact.region.yields = vec![10];
    let case = exact.case();
    assert!(case.reports()[0].passed(), "{}", case.reports()[0]);
    found(&exact, |case| {
        case.compute(|_, value, v| match value {
            // erf(z), of the tanh that stands in for it.
            5 => {
                let x = v * 0.0 + inverse_erf(v) * std::f64::consts::SQRT_2;
                ((2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x * x * x)).tanh()
            }
            _ => v,
        });
    });
}

/// The number whose error function that is, by bisection.
fn inverse_erf(y: f64) -> f64 {
    let (mut low, mut high) = (-4.0, 4.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if libm::erf(middle) < y {
            low = middle
        } else {
            high = middle
        }
    }
    low
}

#[test]
fn a_wrong_column_and_swapped_inputs_are_found() {
    found(&residual(), |case| {
        for row in 0..M {
            let beside = case.after[2].get((row + 31 * M) as i64).unwrap();
            case.set(2, row, 30, |_| beside);
        }
    });
    // s + 2 x - y, of two whole inputs.
    let mut setup = residual();
    setup.reads_c = false;
    setup.inputs = vec![("f32", WHOLE), ("f32", WHOLE)];
    setup.region = region(
        vec![
            op(Op::Add, &[0, 1], "f32"),
            op(Op::Sub, &[3, 2], "f32"),
            op(Op::Convert, &[4], "f16"),
        ],
        &[5],
    );
    assert!(setup.case().reports()[0].passed());
    found(&setup, |case| {
        case.before.swap(3, 4);
        case.compute(|_, _, v| v);
        case.before.swap(3, 4);
    });
}

#[test]
fn what_was_there_before_is_what_is_read() {
    // C added a second time, as if the launch had read what it wrote.
    found(&residual(), |case| {
        let before = case.before[2].clone();
        case.after[2].fill_with(|index| before.get(index).unwrap() * 2.0);
    });
    let case = residual().case();
    let error = verify(&case.function, &case.after, &case.config).unwrap_err();
    assert!(matches!(error, VerifyError::NoBefore(name) if name == "C"));
}

#[test]
fn what_is_not_written_is_found() {
    let mut case = gelu_tanh().case();
    let at = case.after[3].layout().at((5 + 9 * M) as i64) as usize * 4;
    case.after[3].bytes_mut()[at..at + 4].fill(cute_runtime::tensor::POISON);
    let mut sampled = gelu_tanh().case().sampled();
    sampled.after = case.after.clone();
    for case in [case, sampled] {
        let reports = case.reports();
        assert!(reports[0].passed(), "{}", reports[0]);
        let unwritten = Failure::Unwritten {
            name: "D1".into(),
            count: 1,
            row: 5,
            column: 9,
        };
        assert_eq!(reports[1].failures, [unwritten]);
    }
    // Bytes have no poison, and are compared.
    found(&requantize(), |case| case.after[2] = case.before[2].clone());
}

#[test]
fn padding_of_every_output_is_looked_at() {
    let mut case = gelu_tanh().case();
    case.after[3].bytes_mut()[81 * 4] = 0;
    let reports = case.reports();
    assert!(reports[0].passed(), "{}", reports[0]);
    let padding = |f: &Failure| matches!(f, Failure::Padding { name, byte: 324 } if name == "D1");
    assert!(reports[1].failures.iter().any(padding), "{}", reports[1]);
}

#[test]
fn a_nan_that_no_sum_gives_is_found() {
    for case in [bias_relu().case(), bias_relu().case().sampled()] {
        let mut case = case;
        case.set(2, 77, 3, |_| f64::NAN);
        let report = case.reports().remove(0);
        let nan = |f: &Failure| {
            matches!(
                f,
                Failure::NotANumber {
                    count: 1,
                    row: 77,
                    column: 3,
                    ..
                }
            )
        };
        assert!(report.failures.iter().any(nan), "{report}");
    }
}

#[test]
fn nothing_is_said_of_what_is_not_defined() {
    // The logarithm of what may be negative.
    let mut setup = bias_relu();
    setup.region = region(
        vec![
            op(Op::Add, &[0, 1], "f32"),
            op(Op::Log, &[2], "f32"),
            op(Op::Convert, &[3], "f16"),
        ],
        &[4],
    );
    let report = setup.case().reports().remove(0);
    assert!(report.passed(), "{report}");
    let part = report.undecided as f64 / (M * N) as f64;
    assert!((0.4..0.6).contains(&part), "{report}");
    assert_eq!(report.compared + report.undecided, (M * N) as u64);
    setup.region.ops[0] = op(Op::Div, &[0, 1], "f32");
    let mut case = setup.case();
    case.before[3].fill_with(|_| 0.0);
    case.after[3].fill_with(|_| 0.0);
    let error = verify(&case.function, &case.after, &case.config).unwrap_err();
    assert!(matches!(error, VerifyError::Undecided(name) if name == "C"));
}

#[test]
fn sums_in_half_precision_are_found() {
    let mut case = residual().case();
    let half = residual();
    let mut less = Setup {
        types: ["f16", "f16", "f16"],
        ..half
    };
    less.region.ops[1] = op(Op::Add, &[0, 2], "f32");
    let mut other = less.case();
    case.after[2] = std::mem::replace(&mut other.after[2], case.after[2].clone());
    let report = case.reports().remove(0);
    assert!(!report.passed(), "{report}");
}
