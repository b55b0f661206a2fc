//! Computes other than products: right results pass, each kind of mistake is found.

use cute_runtime::Element;
use cute_runtime::package::{Access, Arg, Number};
use cute_runtime::package::{Compute, Factor, Function, Gemm};
use cute_runtime::tensor::HostTensor;
use cute_runtime::tensor::{Given, generate_given};
use cute_runtime::verify::*;

/// A function on tensors of those layouts and types; the last one is its output.
fn function(compute: Compute, tensors: &[(&str, &str)]) -> Function {
    let roles = compute.roles();
    let access = |index: usize| {
        let role = roles.iter().find(|role| role.arg == index);
        role.map_or(Access::Read, |role| role.access)
    };
    let args = tensors
        .iter()
        .enumerate()
        .map(|(index, (element, layout))| Arg::Tensor {
            name: format!("T{index}"),
            element: (*element).into(),
            layout: (*layout).into(),
            align: 8,
            access: access(index),
        });
    Function::new("f", args.collect(), vec![]).computing(vec![compute])
}

struct Case {
    function: Function,
    before: Vec<HostTensor>,
    after: Vec<HostTensor>,
}

impl Case {
    /// The output computed by `right`, of the inputs and the index of the element.
    fn new(
        compute: Compute,
        tensors: &[(&str, &str)],
        right: impl Fn(&[HostTensor], i64) -> f64 + Sync,
    ) -> Case {
        let function = function(compute, tensors);
        let before = generate_given(&function, &[], 5).unwrap();
        let mut after = before.clone();
        let output = function.computes[0].outputs()[0].arg;
        after[output].fill_with(|index| right(&before, index));
        Case {
            function,
            before,
            after,
        }
    }

    fn verify(&self) -> Report {
        let config = Config::default();
        let reports = verify_from(&self.function, Some(&self.before), &self.after, &config);
        reports.unwrap().remove(0)
    }

    fn output(&mut self) -> &mut HostTensor {
        let output = self.function.computes[0].outputs()[0].arg;
        &mut self.after[output]
    }

    /// The result is right; and no more if one element, the last one, is off by that factor.
    #[track_caller]
    fn is_held_to(&mut self, factor: f64) {
        let report = self.verify();
        assert!(report.passed(), "{report}");
        let elements = self.output().layout().size();
        assert_eq!(
            (report.compared, &report.method),
            (elements as u64, &Method::Full)
        );
        let value = self.output().get(elements - 1).unwrap();
        assert!(value != 0.0, "an element that a factor changes");
        self.output().set(elements - 1, value * factor);
        let report = self.verify();
        let worst = match &report.failures[..] {
            [
                Failure::Elements {
                    count: 1, worst, ..
                },
            ] => worst,
            _ => panic!("{report}"),
        };
        assert_eq!(worst.found, self.output().get(elements - 1).unwrap());
        // One that was never written.
        self.output().set(elements - 1, value);
        assert!(self.verify().passed());
        let size = self.output().element().size();
        if self.output().element().is_float() {
            let at = self.output().layout().at(0) as usize * size;
            self.output().bytes_mut()[at..at + size].fill(cute_runtime::tensor::POISON);
            let report = self.verify();
            assert!(
                matches!(report.failures[..], [Failure::Unwritten { count: 1, .. }]),
                "{report}"
            );
        }
    }
}

const ROWS12: &str = "(7,12):(16,1)";
const ROWS: &str = "(7,33):(40,1)";

#[test]
fn copies_are_exact() {
    let copy = || Compute::Copy { src: 0, dst: 1 };
    for element in [
        "f8E4M3FN", "f8E5M2", "f16", "bf16", "tf32", "f32", "f64", "i8", "i32", "i64",
    ] {
        let mut case = Case::new(
            copy(),
            &[(element, ROWS), (element, "(7,33):(1,7)")],
            |t, i| t[0].get(i).unwrap(),
        );
        case.is_held_to(2.0);
    }
    // The smallest difference, and one that is none as a number.
    let mut case = Case::new(copy(), &[("f32", "8:1"), ("f32", "8:1")], |t, i| {
        t[0].get(i).unwrap()
    });
    case.after[1].bytes_mut()[4] ^= 1;
    assert!(!case.verify().passed());
    case.after[1].bytes_mut()[4] ^= 1;
    case.before[0].set(3, 0.0);
    case.after[0].set(3, 0.0);
    case.after[1].set(3, -0.0);
    let report = case.verify();
    assert!(
        matches!(report.failures[..], [Failure::Elements { count: 1, .. }]),
        "{report}"
    );
    // Tensors of more modes, and of one.
    for layouts in [
        ["(3,(2,2),5):(1,(3,6),12)", "(3,(2,2),5):(20,(10,5),1)"],
        ["60:1", "60:2"],
    ] {
        let tensors = layouts.map(|layout| ("f16", layout));
        Case::new(copy(), &tensors, |t, i| t[0].get(i).unwrap()).is_held_to(1.001);
    }
    // Converted.
    let mut case = Case::new(copy(), &[("f32", ROWS), ("f16", ROWS)], |t, i| {
        t[0].get(i).unwrap()
    });
    case.is_held_to(1.002);
}

#[test]
fn padding_and_shapes_are_looked_at() {
    let mut case = Case::new(
        Compute::Copy { src: 0, dst: 1 },
        &[("f32", "(4,3):(3,1)"), ("f32", "(4,3):(5,1)")],
        |t, i| t[0].get(i).unwrap(),
    );
    case.after[1].bytes_mut()[3 * 4] = 0;
    let report = case.verify();
    assert!(
        matches!(report.failures[..], [Failure::Padding { byte: 12, .. }]),
        "{report}"
    );
    assert!(
        report.to_string().starts_with("T1 (4,3), copy: WRONG"),
        "{report}"
    );
}

#[test]
fn transposes_are_exact() {
    let compute = Compute::Transpose { src: 0, dst: 1 };
    let tensors = [("f16", "(5,9):(9,1)"), ("f16", "(9,5):(8,1)")];
    let right = |t: &[HostTensor], i: i64| t[0].get(i / 9 + i % 9 * 5).unwrap();
    let mut case = Case::new(compute, &tensors, right);
    case.is_held_to(1.001);
    // As if it had been copied in the order of memory.
    let before = case.before[0].clone();
    case.after[1].fill_with(|i| before.get(i).unwrap());
    assert!(!case.verify().passed());
}

#[test]
fn sums_are_rounded_once() {
    let add = |accumulate: Option<&str>| Compute::Add {
        a: 0,
        b: 1,
        out: 2,
        accumulate: accumulate.map(String::from),
    };
    let sum = |t: &[HostTensor], i: i64| t[0].get(i).unwrap() + t[1].get(i).unwrap();
    for (element, factor) in [
        ("f16", 1.002),
        ("f32", 1.0000004),
        ("f64", 1.0 + 1e-15),
        ("i32", 2.0),
        ("f8E4M3FN", 1.2),
    ] {
        Case::new(add(None), &[(element, ROWS); 3], sum).is_held_to(factor);
    }
    let axpby = |beta: f64| Compute::Axpby {
        x: 0,
        y: 1,
        alpha: Factor::Constant(1.5),
        beta: Factor::Constant(beta),
        accumulate: None,
    };
    let scaled = |beta: f64| {
        move |t: &[HostTensor], i: i64| {
            1.5 * t[0].get(i).unwrap()
                + if beta == 0.0 {
                    0.0
                } else {
                    beta * t[1].get(i).unwrap()
                }
        }
    };
    Case::new(axpby(-0.5), &[("f32", ROWS); 2], scaled(-0.5)).is_held_to(1.00001);
    Case::new(axpby(0.0), &[("f32", ROWS); 2], scaled(0.0)).is_held_to(1.00001);
    // Without what was there, nothing can be said.
    let case = Case::new(axpby(-0.5), &[("f32", ROWS); 2], scaled(-0.5));
    let error = verify(&case.function, &case.after, &Config::default()).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("argument T1 is read and written"),
        "{error}"
    );
}

/// Rows of the input as f64, and the column.
fn row(t: &HostTensor, index: i64, rows: i64) -> (Vec<f64>, usize) {
    let (m, n) = (index % rows, (index / rows) as usize);
    let count = t.layout().size() / rows;
    let row = (0..count).map(|j| t.get(m + j * rows).unwrap());
    (row.collect(), n)
}

#[test]
fn softmax_is_over_the_last_mode() {
    let softmax = || Compute::Softmax {
        x: 0,
        out: 1,
        accumulate: None,
    };
    // As a kernel does it, in f32.
    let right = |rows: i64| {
        move |t: &[HostTensor], i: i64| {
            let (row, j) = row(&t[0], i, rows);
            let row: Vec<f32> = row.into_iter().map(|x| x as f32).collect();
            let largest = row.iter().copied().fold(f32::MIN, f32::max);
            let term = |x: f32| ((x - largest) * std::f32::consts::LOG2_E).exp2();
            f64::from(term(row[j]) / row.iter().map(|x| term(*x)).sum::<f32>())
        }
    };
    Case::new(softmax(), &[("f32", ROWS); 2], right(7)).is_held_to(1.0001);
    Case::new(softmax(), &[("f16", ROWS); 2], right(7)).is_held_to(1.01);
    Case::new(softmax(), &[("f32", "77:1"); 2], right(1)).is_held_to(1.0001);
    // Over the other mode, and without the sum.
    let mut case = Case::new(softmax(), &[("f32", "(16,16):(16,1)"); 2], right(16));
    let other = case.before[0].clone();
    case.after[1].fill_with(|i| {
        let sum: f64 = (0..16)
            .map(|m| other.get(m + i / 16 * 16).unwrap().exp())
            .sum();
        other.get(i).unwrap().exp() / sum
    });
    assert!(!case.verify().passed());
    case.after[1].fill_with(|i| other.get(i).unwrap().exp());
    assert!(!case.verify().passed());
}

#[test]
fn rms_norm_is_over_the_last_mode() {
    let norm = |epsilon: f64| Compute::RmsNorm {
        x: 0,
        weight: 1,
        out: 2,
        epsilon: Factor::Constant(epsilon),
        accumulate: None,
    };
    let right = |epsilon: f32| {
        move |t: &[HostTensor], i: i64| {
            let (row, j) = row(&t[0], i, 7);
            let squares: f32 = row.iter().map(|x| (*x as f32) * (*x as f32)).sum();
            let scale = 1.0 / (squares / row.len() as f32 + epsilon).sqrt();
            f64::from(row[j] as f32 * scale * t[1].get(j as i64).unwrap() as f32)
        }
    };
    let tensors = |element| [(element, ROWS), (element, "33:1"), (element, ROWS)];
    Case::new(norm(1e-5), &tensors("f32"), right(1e-5)).is_held_to(1.0001);
    Case::new(norm(1e-5), &tensors("bf16"), right(1e-5)).is_held_to(1.02);
    // Another epsilon, and no weights.
    assert!(
        !Case::new(norm(1e-2), &tensors("f32"), right(0.0))
            .verify()
            .passed()
    );
    let mut case = Case::new(norm(1e-5), &tensors("f32"), right(1e-5));
    let (before, normed) = (case.before.clone(), case.after[2].clone());
    case.after[2].fill_with(|i| normed.get(i).unwrap() / before[1].get(i / 7).unwrap());
    assert!(!case.verify().passed());
    let case = Case::new(norm(-1.0), &tensors("f32"), right(1e-5));
    let error = verify(&case.function, &case.after, &Config::default()).unwrap_err();
    assert!(
        error.to_string().contains(
            "epsilon is -1; the result can be verified for numbers that are not negative only"
        ),
        "{error}"
    );
}

/// Attention of 7 rows over 33 keys, as a kernel does it: scores and sums in f32, keys by tens, terms rounded by `round`.
fn attended(scale: f64, round: fn(f32) -> f32) -> impl Fn(&[HostTensor], i64) -> f64 + Sync {
    move |t: &[HostTensor], i: i64| {
        let (m, e) = (i % 7, i / 7);
        let score = |n: i64| -> f32 {
            let products =
                (0..20).map(|d| t[0].get(m + d * 7).unwrap() * t[1].get(n + d * 33).unwrap());
            products.fold(0.0, |sum, x| sum + x as f32) * scale as f32
        };
        let (mut largest, mut sum, mut out) = (f32::NEG_INFINITY, 0.0, 0.0);
        for block in (0..33).collect::<Vec<_>>().chunks(10) {
            let before = largest;
            largest = block.iter().map(|n| score(*n)).fold(largest, f32::max);
            let less = (before - largest).exp();
            (sum, out) = (sum * less, out * less);
            for n in block {
                let term = (score(*n) - largest).exp();
                sum += term;
                out += round(term) * t[2].get(n + e * 33).unwrap() as f32;
            }
        }
        f64::from(out / sum)
    }
}

#[test]
fn attention_is_an_average_of_values() {
    let attention = |scale: f64, accumulate: Option<&str>| Compute::Attention {
        q: 0,
        k: 1,
        v: 2,
        out: 3,
        scale: Factor::Constant(scale),
        causal: false,
        accumulate: accumulate.map(String::from),
    };
    let tensors = |element: &'static str| {
        ["(7,20):(24,1)", "(33,20):(20,1)", "(33,12):(1,40)", ROWS12].map(|l| (element, l))
    };
    let halves = |x: f32| half::f16::from_f32(x).to_f32();
    for scale in [0.25, 3.0, -0.5] {
        let same = |x| x;
        let case = |element, round| {
            Case::new(
                attention(scale, None),
                &tensors(element),
                attended(scale, round),
            )
        };
        case("f32", same).is_held_to(1.01);
        case("f16", halves).is_held_to(1.05);
        // Terms of half the bits are right where V has no more. (With a large scale nearly all of the weight is a term of 1.)
        let found = !case("f32", halves).verify().passed();
        assert!(found || scale > 1.0, "{scale}");
    }
    // Another scale; a tenth of a key's part too little; sums that are not divided.
    let case = || {
        Case::new(
            attention(0.25, None),
            &tensors("f16"),
            attended(0.25, halves),
        )
    };
    assert!(case().verify().passed());
    let other = Case::new(
        attention(0.25, None),
        &tensors("f16"),
        attended(0.26, halves),
    );
    assert!(!other.verify().passed());
    let mut without = case();
    let (values, right) = (without.before[2].clone(), without.after[3].clone());
    without.after[3]
        .fill_with(|i| right.get(i).unwrap() - values.get(32 + i / 7 * 33).unwrap() / 330.0);
    assert!(!without.verify().passed());
    let mut unscaled = case();
    unscaled.after[3].fill_with(|i| right.get(i).unwrap() * 33.0);
    assert!(!unscaled.verify().passed());
    // Inputs that nothing can be said of.
    let mut infinite = case();
    for tensors in [&mut infinite.before, &mut infinite.after] {
        tensors[1].set(3, f64::INFINITY);
    }
    let error = verify(&infinite.function, &infinite.after, &Config::default()).unwrap_err();
    assert!(
        error.to_string().contains("argument T1 is inf at (3,0)"),
        "{error}"
    );
    let operations =
        attention(1.0, None).flops(&[vec![7, 20], vec![33, 20], vec![33, 12], vec![7, 12]]);
    assert_eq!(operations, Some(2.0 * 7.0 * 33.0 * (20.0 + 12.0)));
}

/// Attention of `m` rows over `n` keys in 4 heads, by `by` of them one of K, in 2 batches, in f64.
fn attended_in_heads(
    [m, n]: [i64; 2],
    causal: bool,
    head_of: fn(i64) -> i64,
) -> impl Fn(&[HostTensor], i64) -> f64 + Sync {
    move |t: &[HostTensor], i: i64| {
        let (row, e, head, batch) = (i % m, i / m % 6, i / m / 6 % 4, i / m / 24);
        let of_q = |d: i64| t[0].get(row + m * (d + 8 * (head + 4 * batch))).unwrap();
        let of = |tensor: usize, key: i64, column: i64, columns: i64| {
            let at = key + n * (column + columns * (head_of(head) + 2 * batch));
            t[tensor].get(at).unwrap()
        };
        let seen: Vec<i64> = (0..n)
            .filter(|key| !causal || *key <= row + n - m)
            .collect();
        let terms: Vec<f64> = seen
            .iter()
            .map(|key| (0..8).map(|d| of_q(d) * of(1, *key, d, 8)).sum::<f64>())
            .map(|score| (0.5 * score).exp())
            .collect();
        let sum: f64 = terms.iter().sum();
        let all: f64 = seen
            .iter()
            .zip(&terms)
            .map(|(key, term)| term * of(2, *key, e, 6))
            .sum();
        if seen.is_empty() { 0.0 } else { all / sum }
    }
}

#[test]
fn attention_has_heads_and_a_diagonal() {
    let attention = |causal| Compute::Attention {
        q: 0,
        k: 1,
        v: 2,
        out: 3,
        scale: Factor::Constant(0.5),
        causal,
        accumulate: None,
    };
    let case = |[m, n]: [i64; 2], causal, computed: bool, head_of| {
        let layouts = [
            format!("({m},8,4,2):(8,1,{},{})", 8 * m, 32 * m),
            format!("({n},8,2,2):(8,1,{},{})", 8 * n, 16 * n),
            format!("({n},6,2,2):(6,1,{},{})", 6 * n, 12 * n),
            format!("({m},6,4,2):(6,1,{},{})", 6 * m, 24 * m),
        ];
        let tensors: Vec<_> = layouts.iter().map(|l| ("f32", l.as_str())).collect();
        let case = Case::new(
            attention(causal),
            &tensors,
            attended_in_heads([m, n], computed, head_of),
        );
        case.verify().passed()
    };
    for causal in [false, true] {
        // As many rows as keys, fewer, and more, of which the first have no keys.
        for sizes in [[7, 7], [5, 9], [9, 5]] {
            assert!(case(sizes, causal, causal, |head| head / 2), "{sizes:?}");
            assert!(!case(sizes, causal, !causal, |head| head / 2), "{sizes:?}");
            assert!(!case(sizes, causal, causal, |head| head % 2), "{sizes:?}");
        }
    }
    let operations = |causal, m, n| {
        attention(causal).flops(&[
            vec![m, 8, 4, 2],
            vec![n, 8, 2, 2],
            vec![n, 6, 2, 2],
            vec![m, 6, 4, 2],
        ])
    };
    let pairs = |pairs: f64| Some(2.0 * pairs * 14.0 * 8.0);
    assert_eq!(operations(false, 5, 9), pairs(45.0));
    assert_eq!(operations(true, 5, 9), pairs(5.0 + 6.0 + 7.0 + 8.0 + 9.0));
    assert_eq!(operations(true, 9, 5), pairs(1.0 + 2.0 + 3.0 + 4.0 + 5.0));
}

/// C = alpha A B^T + beta C, of (20,17) and (12,17).
fn scaled(gemm: Gemm, elements: [&str; 3], factors: [f64; 2]) -> Case {
    let layouts = ["(20,17):(17,1)", "(12,17):(17,1)", "(20,12):(12,1)"];
    let tensors: Vec<_> = elements.into_iter().zip(layouts).collect();
    let [alpha, beta] = factors;
    Case::new(Compute::Gemm(gemm), &tensors, move |t, i| {
        let (m, n) = (i % 20, i / 20);
        let sum: f64 = (0..17)
            .map(|k| t[0].get(m + k * 20).unwrap() * t[1].get(n + k * 12).unwrap())
            .sum();
        alpha * sum
            + if beta == 0.0 {
                0.0
            } else {
                beta * t[2].get(i).unwrap()
            }
    })
}

#[test]
fn products_are_scaled_and_added() {
    let gemm = |accumulate: &str, alpha: f64, beta: f64| Gemm {
        alpha: Some(Factor::Constant(alpha)),
        beta: Some(Factor::Constant(beta)),
        ..Gemm::new(0, 1, 2, accumulate)
    };
    for (elements, accumulate) in [
        (["f16"; 3], "f32"),
        (["f32"; 3], "f32"),
        (["f64"; 3], "f64"),
        (["i8", "i8", "i32"], "i32"),
    ] {
        for [alpha, beta] in [[2.0, 3.0], [-3.0, 0.0], [1.0, -1.0]] {
            let right = || scaled(gemm(accumulate, alpha, beta), elements, [alpha, beta]);
            let report = right().verify();
            assert!(report.passed(), "{elements:?} {alpha} {beta}: {report}");
            // The same with probes.
            let mut case = right();
            let config = Config {
                full_limit: 0,
                lines: 2,
                ..Config::default()
            };
            let probed = |case: &Case| {
                verify_from(&case.function, Some(&case.before), &case.after, &config)
                    .unwrap()
                    .remove(0)
            };
            assert!(probed(&case).passed(), "{}", probed(&case));
            let value = case.output().get(77).unwrap();
            case.output().set(77, value + 9.0);
            assert!(!case.verify().passed() && !probed(&case).passed());
        }
    }
    // Other factors than the function says.
    for factors in [[2.0, 2.0], [1.0, 3.0], [2.0, 0.0]] {
        assert!(
            !scaled(gemm("f32", 2.0, 3.0), ["f16"; 3], factors)
                .verify()
                .passed()
        );
    }
    let case = scaled(gemm("i32", 0.5, 0.0), ["i8", "i8", "i32"], [0.5, 0.0]);
    let error = verify(&case.function, &case.after, &Config::default()).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("alpha is 0.5; the result can be verified for integers, as sums are only"),
        "{error}"
    );
}

#[test]
fn factors_may_be_arguments() {
    let gemm = Gemm {
        alpha: Some(Factor::Argument { scalar: 3 }),
        ..Gemm::new(0, 1, 2, "f32")
    };
    let mut case = scaled(gemm, ["f16"; 3], [2.5, 0.0]);
    case.function.args.push(Arg::Scalar {
        name: "alpha".into(),
        element: "f32".into(),
        default: None,
    });
    for (alpha, right) in [(2.5, true), (2.0, false)] {
        let scalar = HostTensor::scalar(Element::F32, Number::Real(alpha)).unwrap();
        for tensors in [&mut case.before, &mut case.after] {
            tensors.truncate(3);
            tensors.push(scalar.clone());
        }
        assert_eq!(case.verify().passed(), right, "{alpha}");
    }
    let error = generate_given(&case.function, &[], 0)
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "argument alpha: expected a value of type f32, which the package leaves open; give one, Given::Value"
    );
    let given = [
        Given::Nothing,
        Given::Nothing,
        Given::Nothing,
        Given::Value(Number::Integer(3)),
    ];
    assert_eq!(
        generate_given(&case.function, &given, 0).unwrap()[3].get(0),
        Some(3.0)
    );
}

#[test]
fn narrow_types_of_products() {
    let gemm = || Gemm::new(0, 1, 2, "f32");
    for elements in [
        ["f8E4M3FN", "f8E4M3FN", "f32"],
        ["f8E5M2", "f8E4M3FN", "f16"],
        ["tf32", "tf32", "f32"],
    ] {
        let mut case = scaled(gemm(), elements, [1.0, 0.0]);
        assert!(case.verify().passed(), "{elements:?}: {}", case.verify());
        let value = case.output().get(7).unwrap();
        case.output().set(7, value + 2.0);
        assert!(!case.verify().passed(), "{elements:?}");
    }
    // f32 cut down to tf32 is right where the function says so, and else wrong.
    let cut = |multiply: Option<&str>| {
        let gemm = Gemm {
            multiply: multiply.map(String::from),
            ..gemm()
        };
        let mut case = scaled(gemm, ["f32"; 3], [1.0, 0.0]);
        let short = |x: f64| f64::from(f32::from_bits((x as f32).to_bits() & !0x1fff));
        let before = case.before.clone();
        case.after[2].fill_with(|i| {
            let (m, n) = (i % 20, i / 20);
            (0..17)
                .map(|k| {
                    short(before[0].get(m + k * 20).unwrap())
                        * short(before[1].get(n + k * 12).unwrap())
                })
                .sum()
        });
        case.verify()
    };
    assert!(cut(Some("tf32")).passed(), "{}", cut(Some("tf32")));
    assert!(!cut(None).passed(), "{}", cut(None));
}
