//! Several ops of one function: through tensors in a workspace and views of arguments, and on conditions.

use cute_arith::ScalarOp as Op;
use cute_runtime::package::{
    Access, Arg, Compute, Expr, Function, Gemm, Map, Number, Op as Apply, Region, RegionOp, View,
    ViewOf,
};
use cute_runtime::tensor::{HostTensor, Matrix, generate, round_to};
use cute_runtime::verify::*;
use cute_runtime::{Element, Parsed};

const M: usize = 40;
const N: usize = 24;
const K: usize = 64;

/// Bytes before the tensor in the workspace.
const BEFORE: usize = 256;

/// X, W, D and a number n, as arguments; H, of f16, is in the workspace.
const H: usize = 4;

fn tensor(name: &str, element: &str, layout: &str, access: Access) -> Arg {
    Arg::Tensor {
        name: name.into(),
        element: element.into(),
        layout: layout.into(),
        align: 8,
        access,
    }
}

fn view(name: &str, element: &str, layout: &str, of: ViewOf) -> View {
    View {
        name: name.into(),
        element: element.into(),
        layout: layout.into(),
        leaves: Vec::new(),
        of,
    }
}

/// `D = H > threshold ? roundeven(H * 4) : 0`, a step at each quarter.
fn steps(threshold: f64) -> Compute {
    let region = Region {
        ops: vec![
            RegionOp::apply(Op::Convert, [0], "f32"),
            RegionOp::constant(threshold, "f32"),
            RegionOp::apply(Op::Gt, [1, 2], "i1"),
            RegionOp::constant(4.0, "f32"),
            RegionOp::apply(Op::Mul, [1, 4], "f32"),
            RegionOp::apply(Op::RoundEven, [5], "f32"),
            RegionOp::constant(0.0, "f32"),
            RegionOp::apply(Op::Select, [3, 6, 7], "f32"),
        ],
        yields: vec![8],
    };
    Compute::Map(Map {
        inputs: vec![H],
        outputs: vec![2],
        region,
    })
}

/// `H = X W^T`, and D of H.
fn chain() -> Function {
    let args = vec![
        tensor("X", "f16", "(40,64):(64,1)", Access::Read),
        tensor("W", "f16", "(24,64):(64,1)", Access::Read),
        tensor("D", "f32", "(40,24):(24,1)", Access::Write),
        Arg::Scalar {
            name: "n".into(),
            element: "i32".into(),
            default: Some(Number::Integer(1)),
        },
    ];
    Function {
        workspace: Some(Expr::Constant(4096)),
        views: vec![view(
            "H",
            "f16",
            "(40,24):(24,1)",
            ViewOf::Workspace(Expr::Constant(BEFORE as i64)),
        )],
        ..Function::new("chain", args, vec![])
    }
    .computing(vec![Compute::Gemm(Gemm::new(0, 1, H, "f16")), steps(0.5)])
}

/// What a run of the chain left.
#[derive(Clone)]
struct Ran {
    function: Function,
    tensors: Vec<HostTensor>,
    workspace: Vec<u8>,
}

impl Ran {
    /// Runs it as a kernel does that adds products in that order.
    fn new(reversed: bool) -> Ran {
        let function = chain();
        let mut tensors = generate(&function, 5).unwrap();
        let (x, w) = (
            Matrix::new(&tensors[0]).unwrap(),
            Matrix::new(&tensors[1]).unwrap(),
        );
        let sum = |row: usize, column: usize| {
            let term = |k: usize| x.get(row, k) * w.get(column, k);
            let add = |sum: f64, k: usize| round_to(Element::F16, sum + term(k));
            match reversed {
                true => (0..K).rev().fold(0.0, add),
                false => (0..K).fold(0.0, add),
            }
        };
        let layout = Parsed::parse("(40,24):(24,1)").unwrap();
        let mut h = HostTensor::poisoned(Element::F16, layout).unwrap();
        h.fill_with(|index| sum(index as usize % M, index as usize / M));
        let mut workspace = vec![0xff; 4096];
        workspace[BEFORE..BEFORE + h.bytes().len()].copy_from_slice(h.bytes());
        let d = |index: i64| {
            let value = h.get(index).unwrap();
            match value > 0.5 {
                true => round_to(Element::F32, value * 4.0).round_ties_even(),
                false => 0.0,
            }
        };
        tensors[2].fill_with(d);
        Ran {
            function,
            tensors,
            workspace,
        }
    }

    fn verify(&self) -> Result<Vec<Report>, VerifyError> {
        let memory = Memory {
            before: None,
            after: &self.tensors,
            workspace: Some(&self.workspace),
            sm_count: None,
        };
        let config = Config {
            data: Data::IndependentMeanZero,
            ..Config::default()
        };
        verify_memory(&self.function, &memory, &config)
    }

    /// The names of the outputs that are right (true) and wrong.
    fn verdicts(&self) -> Vec<(String, bool)> {
        let reports = self.verify().unwrap().into_iter();
        reports
            .map(|report| (report.name.clone(), report.passed()))
            .collect()
    }

    fn error(&self) -> String {
        self.verify().unwrap_err().to_string()
    }

    /// The element of H at an index of rows and columns, to be changed.
    fn set_h(&mut self, [row, column]: [usize; 2], value: f64) {
        let layout = Parsed::parse("1:0").unwrap();
        let mut one = HostTensor::zeroed(Element::F16, layout).unwrap();
        one.set(0, value);
        let at = BEFORE + 2 * (row * N + column);
        self.workspace[at..at + 2].copy_from_slice(one.bytes());
    }
}

fn is(all: &[(&str, bool)]) -> Vec<(String, bool)> {
    all.iter()
        .map(|(name, right)| ((*name).to_owned(), *right))
        .collect()
}

#[test]
fn each_op_is_verified_by_what_it_read() {
    let [one, other] = [false, true].map(Ran::new);
    // Both are right, and each decides by its own sums: some lie on two sides of a step.
    for ran in [&one, &other] {
        assert_eq!(ran.verdicts(), is(&[("H", true), ("D", true)]));
        let reports = ran.verify().unwrap();
        assert!(reports.iter().all(|report| report.undecided == 0));
        assert!(
            reports
                .iter()
                .all(|report| report.compared == (M * N) as u64)
        );
    }
    let differ = (0..(M * N) as i64).filter(|i| one.tensors[2].get(*i) != other.tensors[2].get(*i));
    assert!(differ.count() > 0, "no sum is near a step");
    // What one of them left does not suit what the other one read.
    let mixed = Ran {
        workspace: other.workspace,
        ..one
    };
    assert_eq!(mixed.verdicts(), is(&[("H", true), ("D", false)]));
}

#[test]
fn the_op_that_is_wrong_is_named() {
    let right = Ran::new(false);
    let mut second = right.clone();
    let old = second.tensors[2].get(77).unwrap();
    second.tensors[2].set(77, old + 1.0);
    assert_eq!(second.verdicts(), is(&[("H", true), ("D", false)]));
    // A threshold that few elements are at.
    let mut other = right.clone();
    other.function.computes[1] = steps(0.75);
    assert_eq!(other.verdicts(), is(&[("H", true), ("D", false)]));
    // The second op follows from what the first one left, which is wrong.
    let mut first = right.clone();
    first.set_h([3, 4], 100.0);
    let at = 3 + 4 * M as i64;
    first.tensors[2].set(at, 400.0);
    assert_eq!(first.verdicts(), is(&[("H", false), ("D", true)]));
    let mut unwritten = right.clone();
    unwritten.workspace[BEFORE..BEFORE + 2].fill(0xff);
    let reports = unwritten.verify().unwrap_err().to_string();
    assert!(reports.contains("argument H is NaN at (0,0)"), "{reports}");
}

#[test]
fn branches_are_followed_as_launches_are() {
    let mut ran = Ran::new(false);
    let n = || Expr::Scalar(3);
    let is_taken = |number: i64| Expr::apply(Apply::Eq, vec![n(), Expr::Constant(number)]);
    let when = |number, compute| Compute::When {
        condition: is_taken(number),
        compute: Box::new(compute),
    };
    let second = ran.function.computes.pop().unwrap();
    ran.function.computes.push(when(1, second));
    ran.function.computes.push(when(2, steps(0.75)));
    assert_eq!(ran.verdicts(), is(&[("H", true), ("D", true)]));
    let number = |value| HostTensor::scalar(Element::I32, Number::Integer(value)).unwrap();
    ran.tensors[3] = number(2);
    assert_eq!(ran.verdicts(), is(&[("H", true), ("D", false)]));
    // What no branch computes is nobody's.
    ran.tensors[3] = number(0);
    assert_eq!(ran.verdicts(), is(&[("H", true)]));
    // Nothing of a branch that was not taken is looked at.
    ran.function.computes.remove(0);
    ran.tensors[3] = number(2);
    let error = ran.error();
    assert!(error.contains("no op before it writes it"), "{error}");
    ran.tensors[3] = number(0);
    ran.workspace.clear();
    assert_eq!(ran.verdicts(), is(&[]));
    let on_device = Expr::apply(Apply::Lt, vec![Expr::SmCount, n()]);
    let computes = &mut ran.function.computes;
    let Compute::When { condition, .. } = &mut computes[0] else {
        unreachable!("it is on a condition")
    };
    *condition = on_device;
    assert_eq!(
        ran.error(),
        "function chain: nothing tells which branch was taken: the number of multiprocessors is not known"
    );
}

#[test]
fn memory_that_is_missing_is_told() {
    let right = Ran::new(false);
    let error = verify_from(&right.function, None, &right.tensors, &Config::default());
    let error = error.unwrap_err().to_string();
    assert!(
        error.starts_with("H is in the workspace, which is needed"),
        "{error}"
    );
    let mut small = right.clone();
    small.workspace.truncate(BEFORE + 100);
    assert_eq!(
        small.error(),
        "function chain: H: needs 1920 bytes, and has 100 of the workspace"
    );
    // H is written once more behind what read it.
    let mut lost = right.clone();
    let first = lost.function.computes[0].clone();
    lost.function.computes.push(first);
    let error = lost.error();
    assert!(
        error.starts_with(
            "H is written by an op of the function that reads it after another one wrote it"
        ),
        "{error}"
    );
}

/// Two ops that write the upper and the lower rows of D, through views of the workspace, the lower of which begins at a byte.
fn halves(second: i64) -> Ran {
    let mut ran = Ran::new(false);
    ran.function.args[2] = tensor("D", "f32", "(40,24):(24,1)", Access::ReadWrite);
    let at = |byte: i64| ViewOf::Workspace(Expr::Constant(byte));
    ran.function.views = vec![
        view("upper", "f16", "(40,8):(24,1)", at(BEFORE as i64)),
        view("lower", "f16", "(40,8):(24,1)", at(BEFORE as i64 + second)),
        view("D.line", "f32", "(960):(1)", ViewOf::Argument(2)),
    ];
    ran
}

#[test]
fn views_that_share_elements_are_told_from_those_that_do_not() {
    // Columns 0 to 8, and columns 8 to 16: lines interleave, and nothing is shared.
    let mut ran = halves(16);
    ran.function.computes = vec![Compute::Gemm(Gemm::new(0, 1, 4, "f16"))];
    ran.function.args[1] = tensor("W", "f16", "(8,64):(64,1)", Access::Read);
    let layout = Parsed::parse("(8,64):(64,1)").unwrap();
    let mut w = HostTensor::zeroed(Element::F16, layout).unwrap();
    w.fill_with(|index| {
        ran.tensors[1]
            .get(index % 8 + index / 8 * N as i64)
            .unwrap()
    });
    ran.tensors[1] = w;
    assert_eq!(ran.verdicts(), is(&[("upper", true)]));
    let copy = |src, dst| Compute::Copy { src, dst };
    ran.function.computes.push(copy(4, 5));
    assert_eq!(ran.verdicts(), is(&[("upper", true), ("lower", false)]));
    // From column 4 on, some are: what the first op left is not there any more.
    let mut shared = ran.clone();
    shared.function.views[1].of = ViewOf::Workspace(Expr::Constant(BEFORE as i64 + 8));
    let error = shared.error();
    assert!(
        error.starts_with("upper is written by an op of the function, and some of its elements again by a later one"),
        "{error}"
    );
}

#[test]
fn a_view_has_the_elements_of_its_argument() {
    let mut ran = halves(16);
    let copy = |src, dst| Compute::Copy { src, dst };
    // D, read as one line of elements, goes into D once more: read as it was before.
    ran.function
        .args
        .push(tensor("E", "f32", "(960):(1)", Access::Write));
    let mut line = HostTensor::poisoned(Element::F32, Parsed::parse("(960):(1)").unwrap()).unwrap();
    let d = ran.tensors[2].bytes().to_vec();
    line.bytes_mut().copy_from_slice(&d);
    ran.tensors.push(line);
    // The views are behind the arguments.
    ran.function.computes = vec![copy(7, 4)];
    let error = ran.error();
    assert!(
        error.starts_with("argument D.line is read and written"),
        "{error}"
    );
    ran.function.args[2] = tensor("D", "f32", "(40,24):(24,1)", Access::Read);
    assert_eq!(ran.verdicts(), is(&[("E", true)]));
    ran.tensors[4].set(17, -1.0);
    assert_eq!(ran.verdicts(), is(&[("E", false)]));
    ran.function.views[2].layout = "(960):(2)".into();
    assert_eq!(
        ran.error(),
        "function chain: D.line: needs 7676 bytes, and has 3840 of D"
    );
}

#[test]
fn a_view_that_begins_at_a_byte_has_the_elements_from_there() {
    let mut ran = Ran::new(false);
    // C has the product in its columns 24 to 48, and keeps what it had before in the others.
    let layout = Parsed::parse("(40,48):(48,1)").unwrap();
    let mut c = HostTensor::zeroed(Element::F16, layout).unwrap();
    c.fill_with(|index| (index % 7) as f64);
    let before = c.clone();
    let h = &ran.workspace[BEFORE..BEFORE + 2 * M * N];
    for row in 0..M {
        let to = 2 * (row * 2 * N + N);
        c.bytes_mut()[to..to + 2 * N].copy_from_slice(&h[2 * row * N..2 * (row + 1) * N]);
    }
    ran.function.args[2] = tensor("C", "f16", "(40,48):(48,1)", Access::ReadWrite);
    let at = |byte| ViewOf::Byte {
        tensor: 2,
        offset: Expr::Constant(byte),
    };
    ran.function.views = vec![view("right", "f16", "(40,24):(48,1)", at(2 * N as i64))];
    ran.function.workspace = None;
    ran.function.computes = vec![Compute::Gemm(Gemm::new(0, 1, H, "f16"))];
    let mut tensors = ran.tensors.clone();
    tensors[2] = before;
    ran.tensors[2] = c;
    let verified = |ran: &Ran| -> Result<Vec<Report>, VerifyError> {
        let memory = Memory {
            before: Some(&tensors),
            after: &ran.tensors,
            workspace: None,
            sm_count: None,
        };
        let config = Config {
            data: Data::IndependentMeanZero,
            ..Config::default()
        };
        verify_memory(&ran.function, &memory, &config)
    };
    let report = verified(&ran).unwrap().remove(0);
    assert!(report.passed() && report.name == "right", "{report}");
    // One of its elements, and one beside it.
    let mut wrong = ran.clone();
    wrong.tensors[2].set(M as i64 * (N as i64 + 3), 99.0);
    assert!(!verified(&wrong).unwrap()[0].passed());
    let mut beside = ran.clone();
    beside.tensors[2].set(M as i64 * 3, 99.0);
    let report = verified(&beside).unwrap().remove(0);
    assert!(!report.passed());
    let said = report.failures[0].to_string();
    assert_eq!(said, "byte 6 of C, which no output has, was overwritten");
    ran.function.views[0].of = at(2 * N as i64 + 2);
    assert_eq!(
        verified(&ran).unwrap_err().to_string(),
        "function chain: right: needs 3792 bytes, and has 3790 of C"
    );
}
