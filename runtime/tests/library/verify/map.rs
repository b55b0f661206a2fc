//! Maps: what is right passes, in whatever order it was summed.

use cute_arith::ScalarOp as Op;
use cute_runtime::Element;
use cute_runtime::package::{Access, Arg, Map, Number, ReduceOp, Region, RegionOp, RegionValue};
use cute_runtime::package::{Compute, Function};
use cute_runtime::tensor::HostTensor;
use cute_runtime::tensor::{generate, round_to};
use cute_runtime::verify::*;

/// Tensors (element type, layout), those that are read and those that are written, and the region.
#[derive(Clone)]
pub struct Setup {
    pub tensors: Vec<(&'static str, &'static str)>,
    pub inputs: Vec<usize>,
    pub outputs: Vec<usize>,
    pub region: Region,
}

const WHOLE: &str = "(48,80):(80,1)";
const PADDED: &str = "(48,80):(84,1)";
const ROW: &str = "(48,80):(0,1)";
const COLUMN: &str = "(48,80):(1,0)";

pub fn op(op: Op, of: &[usize], element: &str) -> RegionOp {
    RegionOp::apply(op, of.iter().copied(), element)
}

pub fn reduce(op: ReduceOp, of: usize, along: &[usize], element: &str) -> RegionOp {
    RegionOp::reduce(op, of, along.iter().copied(), element)
}

impl Setup {
    /// The tensors are the inputs, and then the outputs.
    pub fn new(
        inputs: &[(&'static str, &'static str)],
        outputs: &[(&'static str, &'static str)],
        ops: Vec<RegionOp>,
        yields: &[usize],
    ) -> Setup {
        let count = inputs.len();
        Setup {
            tensors: [inputs, outputs].concat(),
            inputs: (0..count).collect(),
            outputs: (count..count + outputs.len()).collect(),
            region: Region {
                ops,
                yields: yields.to_vec(),
            },
        }
    }
}

pub fn softmax(element: &'static str) -> Setup {
    let ops = vec![
        op(Op::Convert, &[0], "f32"),
        reduce(ReduceOp::Maximum, 1, &[1], "f32"),
        op(Op::Sub, &[1, 2], "f32"),
        op(Op::Exp, &[3], "f32"),
        reduce(ReduceOp::Add, 4, &[1], "f32"),
        op(Op::Div, &[4, 5], "f32"),
        op(Op::Convert, &[6], element),
    ];
    Setup::new(&[(element, WHOLE)], &[(element, PADDED)], ops, &[7])
}

/// `(x - mean) / sqrt(variance + 1e-5) * weight + bias`
pub fn layer_norm() -> Setup {
    let ops = vec![
        reduce(ReduceOp::Mean, 0, &[1], "f32"),
        op(Op::Sub, &[0, 3], "f32"),
        op(Op::Mul, &[4, 4], "f32"),
        reduce(ReduceOp::Mean, 5, &[1], "f32"),
        RegionOp::constant(1e-5, "f32"),
        op(Op::Add, &[6, 7], "f32"),
        op(Op::Rsqrt, &[8], "f32"),
        op(Op::Mul, &[4, 9], "f32"),
        op(Op::Fma, &[10, 1, 2], "f32"),
    ];
    let inputs = [("f32", WHOLE), ("f32", ROW), ("f32", ROW)];
    Setup::new(&inputs, &[("f32", WHOLE)], ops, &[11])
}

pub fn rms_norm() -> Setup {
    let ops = vec![
        op(Op::Convert, &[0], "f32"),
        op(Op::Mul, &[2, 2], "f32"),
        reduce(ReduceOp::Mean, 3, &[1], "f32"),
        op(Op::Sqrt, &[4], "f32"),
        op(Op::Div, &[2, 5], "f32"),
        op(Op::Convert, &[1], "f32"),
        op(Op::Mul, &[6, 7], "f32"),
        op(Op::Convert, &[8], "bf16"),
    ];
    let inputs = [("bf16", WHOLE), ("f16", ROW)];
    Setup::new(&inputs, &[("bf16", WHOLE)], ops, &[9])
}

/// Sums of rows, once for each.
pub fn row_sum(element: &'static str) -> Setup {
    let ops = vec![reduce(ReduceOp::Add, 0, &[1], element)];
    Setup::new(&[(element, WHOLE)], &[(element, COLUMN)], ops, &[1])
}

/// The maximum of each column, and how far elements are below it.
pub fn below_maximum() -> Setup {
    let ops = vec![
        reduce(ReduceOp::Maximum, 0, &[0], "f16"),
        op(Op::Sub, &[0, 1], "f16"),
    ];
    Setup::new(
        &[("f16", WHOLE)],
        &[("f16", ROW), ("f16", WHOLE)],
        ops,
        &[1, 2],
    )
}

pub fn transpose() -> Setup {
    Setup::new(
        &[("f16", WHOLE)],
        &[("f16", "(48,80):(1,48)")],
        vec![],
        &[0],
    )
}

pub fn cast() -> Setup {
    let ops = vec![op(Op::Convert, &[0], "f16")];
    Setup::new(&[("f32", WHOLE)], &[("f16", WHOLE)], ops, &[1])
}

/// Sums of bytes in integers, and what each is beside the smallest.
pub fn integers() -> Setup {
    let ops = vec![
        op(Op::Convert, &[0], "i32"),
        reduce(ReduceOp::Add, 1, &[1], "i32"),
        reduce(ReduceOp::Minimum, 1, &[1], "i32"),
        op(Op::Sub, &[1, 3], "i32"),
    ];
    Setup::new(
        &[("i8", WHOLE)],
        &[("i32", COLUMN), ("i32", WHOLE)],
        ops,
        &[2, 4],
    )
}

/// One line of all there is.
pub fn one_line() -> Setup {
    let ops = vec![
        reduce(ReduceOp::Mean, 0, &[0], "f32"),
        op(Op::Sub, &[0, 1], "f32"),
    ];
    Setup::new(
        &[("f32", "20000:1")],
        &[("f32", "20000:0"), ("f32", "20000:2")],
        ops,
        &[1, 2],
    )
}

/// Shares of the sum along the first of three modes, one of which nests.
pub fn along_the_first() -> Setup {
    let ops = vec![
        op(Op::Abs, &[0], "f32"),
        reduce(ReduceOp::Add, 1, &[0], "f32"),
        op(Op::Div, &[0, 2], "f32"),
    ];
    let tensors = [
        ("f32", "(50,(2,3),9):(60,(1,20),2)"),
        ("f32", "(50,6,9):(54,9,1)"),
    ];
    Setup::new(&tensors[..1], &tensors[1..], ops, &[3])
}

/// Bytes, scaled by the largest magnitude along the last two of three modes, and that.
pub fn along_the_last() -> Setup {
    let ops = vec![
        op(Op::Abs, &[0], "f32"),
        reduce(ReduceOp::Maximum, 1, &[1, 2], "f32"),
        RegionOp::constant(127.0, "f32"),
        op(Op::Div, &[0, 2], "f32"),
        op(Op::Mul, &[4, 3], "f32"),
        op(Op::RoundEven, &[5], "f32"),
        op(Op::Convert, &[6], "i8"),
    ];
    let outputs = [("i8", "(30,8,12):(1,30,240)"), ("f32", "(30,8,12):(1,0,0)")];
    Setup::new(&[("f32", "(30,8,12):(96,12,1)")], &outputs, ops, &[7, 2])
}

/// A map in place, by which elements below the mean of their row become 0.
pub fn in_place() -> Setup {
    let ops = vec![
        op(Op::Convert, &[0], "f32"),
        reduce(ReduceOp::Mean, 1, &[1], "f32"),
        op(Op::Sub, &[1, 2], "f32"),
        RegionOp::constant(0.0, "f32"),
        op(Op::Max, &[3, 4], "f32"),
        op(Op::Convert, &[5], "f16"),
    ];
    Setup {
        outputs: vec![0],
        ..Setup::new(&[("f16", PADDED)], &[], ops, &[6])
    }
}

/// An activation of three modes, of which the last is short, times a number.
pub fn activation() -> Setup {
    let ops = vec![
        RegionOp::scalar(2, "f32"),
        op(Op::Mul, &[0, 1], "f32"),
        op(Op::Tanh, &[2], "f32"),
    ];
    let tensors = [("f32", "(96,5,3):(1,96,480)"), ("f32", "(96,5,3):(15,3,1)")];
    Setup::new(&tensors[..1], &tensors[1..], ops, &[3])
}

/// The place of [`one_line`] in [`all`].
pub const ONE_LINE: usize = 10;

pub fn all() -> Vec<Setup> {
    vec![
        softmax("f16"),
        softmax("f32"),
        layer_norm(),
        rms_norm(),
        row_sum("f32"),
        row_sum("f64"),
        below_maximum(),
        transpose(),
        cast(),
        integers(),
        one_line(),
        along_the_first(),
        along_the_last(),
        in_place(),
        activation(),
    ]
}

/// The order in which a kernel sums a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Order {
    Forwards,
    Backwards,
    Pairwise,
    /// In 32 sums of every 32nd element; means by a factor.
    Lanes,
}

pub const ORDERS: [Order; 4] = [
    Order::Forwards,
    Order::Backwards,
    Order::Pairwise,
    Order::Lanes,
];

/// The sum of numbers of that type, rounded after each addition.
pub fn sum(order: Order, element: Element, terms: &[f64]) -> f64 {
    let add = |a: f64, b: &f64| round_to(element, a + b);
    match order {
        Order::Forwards => terms.iter().fold(0.0, add),
        Order::Backwards => terms.iter().rev().fold(0.0, add),
        Order::Pairwise if terms.len() < 3 => terms.iter().fold(0.0, add),
        Order::Pairwise => {
            let (left, right) = terms.split_at(terms.len() / 2);
            add(sum(order, element, left), &sum(order, element, right))
        }
        Order::Lanes => {
            let lane = |lane: usize| terms.iter().skip(lane).step_by(32).fold(0.0, add);
            let lanes: Vec<f64> = (0..32).map(lane).collect();
            sum(Order::Pairwise, element, &lanes)
        }
    }
}

fn reduced(op: ReduceOp, order: Order, element: Element, terms: &[f64]) -> f64 {
    match op {
        ReduceOp::Add => sum(order, element, terms),
        ReduceOp::Mean => {
            let (sum, count) = (sum(order, element, terms), terms.len() as f64);
            match order {
                Order::Lanes => round_to(element, sum * round_to(element, 1.0 / count)),
                _ => round_to(element, sum / count),
            }
        }
        op => op.exact(terms),
    }
}

pub struct Case {
    pub function: Function,
    pub before: Vec<HostTensor>,
    pub after: Vec<HostTensor>,
    pub config: Config,
}

impl Setup {
    fn function(&self) -> Function {
        let map = Map {
            inputs: self.inputs.clone(),
            outputs: self.outputs.clone(),
            region: self.region.clone(),
        };
        let access = |arg: &usize| match (self.inputs.contains(arg), self.outputs.contains(arg)) {
            (true, true) => Access::ReadWrite,
            (_, true) => Access::Write,
            _ => Access::Read,
        };
        let mut args = Vec::new();
        for (index, (element, layout)) in self.tensors.iter().enumerate() {
            args.push(Arg::Tensor {
                name: format!("T{index}"),
                element: (*element).into(),
                layout: (*layout).into(),
                align: 8,
                access: access(&index),
            });
        }
        args.push(Arg::Scalar {
            name: "scale".into(),
            element: "f32".into(),
            default: Some(Number::Real(0.75)),
        });
        let function = Function::new("f", args, vec![]).computing(vec![Compute::Map(map)]);
        // It is one that a package may have.
        let package = cute_runtime::package::Package::builder("test").function(function.clone());
        package.build().unwrap();
        function
    }

    /// Random inputs, and outputs that nothing was written to.
    pub fn start(&self) -> Case {
        let function = self.function();
        let before = generate(&function, 7).unwrap();
        Case {
            after: before.clone(),
            function,
            before,
            config: Config::default(),
        }
    }

    /// A right result, as a GPU has it: every operation rounded to its type.
    pub fn case(&self) -> Case {
        let mut case = self.start();
        case.compute(Order::Lanes, |_, _, value| value);
        case
    }
}

impl Case {
    pub fn map(&self) -> Map {
        let Compute::Map(map) = &self.function.computes[0] else {
            unreachable!()
        };
        map.clone()
    }

    /// Computes all outputs; `change` changes a value of the region, by the element's index and the value's number.
    pub fn compute(&mut self, order: Order, change: impl Fn(i64, usize, f64) -> f64) {
        let map = self.map();
        let layout = self.before[map.outputs[0]].layout().clone();
        let all: Vec<i64> = (0..layout.size()).collect();
        let mut values: Vec<Vec<f64>> = Vec::new();
        for (at, input) in map.inputs.iter().enumerate() {
            let of = |index: &i64| change(*index, at, self.before[*input].get(*index).unwrap());
            values.push(all.iter().map(of).collect());
        }
        for region_op in &map.region.ops {
            // A truth value is 0 or 1.
            let element: Element = region_op.element.parse().unwrap_or(Element::F32);
            let at = values.len();
            let made: Vec<f64> = match &region_op.value {
                RegionValue::Constant(value) => vec![round_to(element, *value); all.len()],
                RegionValue::Scalar(arg) => {
                    vec![self.before[*arg].get(0).unwrap(); all.len()]
                }
                RegionValue::Op(op, of) => {
                    let result = |index: &i64| {
                        let of: Vec<f64> = of.iter().map(|v| values[*v][*index as usize]).collect();
                        let exact = op.exact(&of);
                        match *op == Op::Convert && !element.is_float() {
                            true => round_to(element, exact.trunc()),
                            false => round_to(element, exact),
                        }
                    };
                    all.iter().map(result).collect()
                }
                RegionValue::Reduce(op, of, along) => {
                    let mut lines = std::collections::BTreeMap::<Vec<i64>, Vec<f64>>::new();
                    let line = |index: &i64| {
                        let mut line = layout.coordinate(*index);
                        along.iter().for_each(|mode| line[*mode] = 0);
                        line
                    };
                    for index in &all {
                        let lines = lines.entry(line(index)).or_default();
                        lines.push(values[*of][*index as usize]);
                    }
                    let results: std::collections::BTreeMap<Vec<i64>, f64> = lines
                        .into_iter()
                        .map(|(line, terms)| (line, reduced(*op, order, element, &terms)))
                        .collect();
                    all.iter().map(|index| results[&line(index)]).collect()
                }
            };
            let changed = made
                .iter()
                .zip(&all)
                .map(|(v, index)| change(*index, at, *v));
            values.push(changed.collect());
        }
        for (output, value) in map.outputs.iter().zip(&map.region.yields) {
            for index in &all {
                self.after[*output].set(*index, values[*value][*index as usize]);
            }
        }
    }

    pub fn reports(&self) -> Vec<Report> {
        let before = Some(self.before.as_slice());
        verify_from(&self.function, before, &self.after, &self.config).unwrap()
    }

    /// The case of which only a part is compared, where there is more than one line.
    pub fn sampled(mut self) -> Case {
        let map = self.map();
        let elements = self.before[map.outputs[0]].layout().size() as u64;
        self.config.full_limit = 0;
        self.config.probe_budget = elements * 64 * (map.region.ops.len() as u64).max(1) / 2;
        if map.region.ops.is_empty() {
            self.config.probe_budget = elements / 2;
        }
        self
    }
}

#[test]
fn right_results_pass() {
    for (i, setup) in all().iter().enumerate() {
        for order in ORDERS {
            let mut case = setup.start();
            case.compute(order, |_, _, value| value);
            let reports = case.reports();
            assert_eq!(reports.len(), setup.outputs.len());
            for (report, output) in reports.iter().zip(&setup.outputs) {
                assert!(report.passed(), "{i} {order:?}: {report}");
                let places = case.after[*output].layout().places().count();
                assert_eq!(
                    (report.compared, report.undecided, &report.method),
                    (places as u64, 0, &Method::Full),
                    "{i}: {report}"
                );
                assert_eq!((report.kind, &report.name), ("map", &format!("T{output}")));
            }
            for report in case.sampled().reports() {
                assert!(report.passed(), "{i} {order:?}: {report}");
                assert!(
                    report.compared > 0 && report.undecided == 0,
                    "{i}: {report}"
                );
            }
        }
    }
}

/// Numbers beside a large one, and numbers that are each followed by nearly its negative: sums lose most of their digits.
#[test]
fn right_results_pass_where_digits_cancel() {
    for (i, setup) in all().iter().enumerate() {
        for data in 0..3 {
            let mut case = setup.start();
            for input in &setup.inputs {
                let start = case.before[*input].clone();
                if !start.element().is_float() {
                    continue;
                }
                let columns = *start.layout().shape().last().unwrap();
                let of = |index: i64| {
                    let x = start.get(index).unwrap();
                    let column = index / (start.layout().size() / columns);
                    match data {
                        0 => 100.0 + x / 16.0,
                        1 if column % 2 == 0 => 40.0 + x / 1024.0,
                        1 => x / 1024.0 - 40.0,
                        // One that is much larger than all others.
                        _ if column == 3 => 200.0,
                        _ => x / 64.0,
                    }
                };
                case.before[*input].fill_with(of);
                case.after[*input] = case.before[*input].clone();
            }
            for order in ORDERS {
                case.compute(order, |_, _, value| value);
                for report in case.reports() {
                    assert!(report.passed(), "{i} {data} {order:?}: {report}");
                    assert_eq!(report.undecided, 0, "{i} {data} {order:?}: {report}");
                }
            }
        }
    }
}

#[test]
fn reports_are_the_same_whenever_they_are_made() {
    for case in [one_line().case(), layer_norm().case().sampled()] {
        let report = || {
            let mut reports = case.reports();
            reports.iter_mut().for_each(|report| report.seconds = 0.0);
            reports
        };
        let first = report();
        for _ in 0..4 {
            assert_eq!(report(), first);
        }
    }
}

#[test]
fn samples_are_one_of_each_band() {
    // Three passes of 1, 3 and 5 operations, two of which reduce: 64 * 11 for each of the 80 elements of a row.
    let mut case = softmax("f16").case();
    case.config.full_limit = 64 * 11 * 80 * 48 - 1;
    case.config.probe_budget = 64 * 11 * 80 * 12;
    let report = case.reports().remove(0);
    assert_eq!(report.method, Method::Lines { lines: 12, of: 48 });
    assert_eq!(report.compared, 12 * 80);
    let text = report.to_string();
    assert!(
        text.contains("12 of 48 lines, one of each of as many bands"),
        "{text}"
    );
    // So that seven rows are met wherever they are.
    for row in 0..42 {
        let mut case = softmax("f16").case();
        case.config = Config {
            full_limit: 0,
            probe_budget: 64 * 11 * 80 * 12,
            ..Config::default()
        };
        case.compute(Order::Lanes, |index, value, v| {
            let is_in = (row..row + 7).contains(&(index % 48));
            if value == 7 && is_in { v + 0.01 } else { v }
        });
        assert!(!case.reports()[0].passed(), "{row}");
    }
    case.config.full_limit += 1;
    assert_eq!(case.reports()[0].method, Method::Full);
    // A line at least; and no more than there are.
    for (budget, lines) in [
        (0, Method::Lines { lines: 1, of: 48 }),
        (u64::MAX, Method::Full),
    ] {
        case.config.full_limit = 0;
        case.config.probe_budget = budget;
        assert_eq!(case.reports()[0].method, lines);
    }
}

#[test]
fn samples_of_single_elements_are_rows_and_columns() {
    let mut case = cast().case();
    case.config.full_limit = 0;
    case.config.probe_budget = 2 * 64 * 80 * 12;
    let report = case.reports().remove(0);
    let method = Method::Sampled {
        rows: 12,
        columns: 20,
    };
    assert_eq!(report.method, method);
    assert_eq!(report.compared, 12 * 80 + 20 * 48);
    for (row, column) in [(0, 0), (41, 3), (17, 73), (30, 40)] {
        for (height, width) in [(7, 1), (1, 7)] {
            let mut case = cast().case();
            case.config = Config {
                full_limit: 0,
                probe_budget: 2 * 64 * 80 * 12,
                ..Config::default()
            };
            case.compute(Order::Lanes, |index, value, v| {
                let is_in = (row..row + height).contains(&(index % 48))
                    && (column..column + width).contains(&(index / 48));
                if value == 1 && is_in { v + 1.0 } else { v }
            });
            assert!(!case.reports()[0].passed(), "{row} {column}");
        }
    }
    // A tensor of one mode has elements alone.
    let ops = vec![op(Op::Neg, &[0], "f32")];
    let line = Setup::new(&[("f32", "1000:1")], &[("f32", "1000:1")], ops, &[1]);
    let mut case = line.case();
    case.config.full_limit = 0;
    case.config.probe_budget = 2 * 64 * 100;
    let report = case.reports().remove(0);
    let method = Method::Sampled {
        rows: 0,
        columns: 100,
    };
    assert_eq!((report.method, report.compared), (method, 100));
}

#[test]
fn tensors_may_be_empty() {
    let sum = || vec![reduce(ReduceOp::Maximum, 0, &[1], "f32")];
    for layout in ["(0,5):(5,1)", "(5,0):(1,1)"] {
        let mut function = Setup::new(
            &[("f32", "(?,?):(?,1)")],
            &[("f32", "(?,?):(?,1)")],
            sum(),
            &[1],
        )
        .function();
        function.args.pop();
        let layout = cute_runtime::layout::Parsed::parse(layout).unwrap();
        let tensor = || HostTensor::poisoned(Element::F32, layout.clone()).unwrap();
        let reports = verify(&function, &[tensor(), tensor()], &Config::default()).unwrap();
        assert!(
            reports[0].passed() && reports[0].compared == 0,
            "{}",
            reports[0]
        );
    }
}
