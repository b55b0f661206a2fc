//! Products with prologues: right results pass, each kind of mistake is found.

use cute_arith::ScalarOp as Op;
use cute_runtime::Element;
use cute_runtime::package::{Access, Arg, Region, RegionOp};
use cute_runtime::package::{Compute, Function, Gemm, Prologue};
use cute_runtime::tensor::{HostTensor, Matrix};
use cute_runtime::tensor::{generate, round_to};
use cute_runtime::verify::*;

const M: usize = 48;
const K: usize = 64;

/// `f16(B) * scale`, of a scale for each column of the product.
fn scaled() -> Region {
    Region {
        ops: vec![
            RegionOp::apply(Op::Convert, [0], "f16"),
            RegionOp::apply(Op::Mul, [2, 1], "f16"),
        ],
        yields: vec![3],
    }
}

/// `f16(f16(B) * scale + 0.1)`, which may be rounded once or twice.
fn moved() -> Region {
    Region {
        ops: vec![
            RegionOp::apply(Op::Convert, [0], "f16"),
            RegionOp::apply(Op::Mul, [2, 1], "f16"),
            RegionOp::constant(0.1, "f16"),
            RegionOp::apply(Op::Add, [3, 4], "f16"),
        ],
        yields: vec![5],
    }
}

fn function(stored: &str, region: Region) -> Function {
    let arg = |name: &str, element: &str, layout: &str, access| Arg::Tensor {
        name: name.into(),
        element: element.into(),
        layout: layout.into(),
        align: 8,
        access,
    };
    let args = vec![
        arg("A", "f16", "(48,64):(64,1)", Access::Read),
        arg("B", stored, "(40,64):(64,1)", Access::Read),
        arg("C", "f32", "(48,40):(40,1)", Access::Write),
        arg("scale", "f16", "(40,64):(1,0)", Access::Read),
    ];
    let gemm = Gemm {
        prologue_b: Some(Box::new(Prologue {
            inputs: vec![3],
            region,
        })),
        ..Gemm::new(0, 1, 2, "f32")
    };
    Function::new("gemm", args, vec![]).computing(vec![Compute::Gemm(gemm)])
}

/// The result of `element`, which gives what is multiplied of an element of B and its scale.
fn computed(function: &Function, element: impl Fn(f64, f64) -> f64 + Sync) -> Vec<HostTensor> {
    let mut tensors = generate(function, 7).unwrap();
    let mut c = tensors[2].clone();
    {
        let [a, b, scale] = [0, 1, 3].map(|at| Matrix::new(&tensors[at]).unwrap());
        c.fill_with(|index| {
            let (row, column) = (index as usize % M, index as usize / M);
            (0..K).fold(0.0, |sum, k| {
                let factor = element(b.get(column, k), scale.get(column, k));
                round_to(Element::F32, sum + a.get(row, k) * factor)
            })
        });
    }
    tensors[2] = c;
    tensors
}

fn report(function: &Function, tensors: &[HostTensor], config: &Config) -> Report {
    let mut reports = verify(function, tensors, config).unwrap();
    reports.remove(0)
}

fn f16(x: f64) -> f64 {
    round_to(Element::F16, x)
}

/// In full and by probes.
fn configs() -> [Config; 2] {
    let full = Config {
        data: Data::IndependentMeanZero,
        ..Config::default()
    };
    let probed = Config {
        full_limit: 0,
        ..full.clone()
    };
    [full, probed]
}

#[test]
fn one_product_of_exact_numbers_has_one_result() {
    let function = function("i8", scaled());
    for config in configs() {
        let right = computed(&function, |b, scale| f16(b * scale));
        assert!(report(&function, &right, &config).passed());
        // Scales that are left away, or taken as they are for the next column, or products that are not rounded.
        let without = computed(&function, |b, _| b);
        assert!(!report(&function, &without, &config).passed());
        let wide = computed(&function, |b, scale| b * scale);
        assert!(!report(&function, &wide, &config).passed());
        let cut = computed(&function, |b, scale| round_to(Element::Bf16, b * scale));
        assert!(!report(&function, &cut, &config).passed());
    }
}

#[test]
fn products_are_scaled() {
    let region = Region {
        ops: vec![
            RegionOp::apply(Op::Convert, [0], "f16"),
            RegionOp::apply(Op::Convert, [1], "f32"),
        ],
        yields: vec![2, 3],
    };
    let function = function("i8", region);
    for config in configs() {
        let right = computed(&function, |b, scale| b * scale);
        assert!(report(&function, &right, &config).passed());
        let without = computed(&function, |b, _| b);
        assert!(!report(&function, &without, &config).passed());
        let rounded = computed(&function, |b, scale| f16(b * scale));
        assert!(!report(&function, &rounded, &config).passed());
    }
}

#[test]
fn what_may_be_rounded_in_several_ways_is_right_in_each() {
    let function = function("i8", moved());
    let tenth = f16(0.1);
    for config in configs() {
        for element in [
            |b: f64, scale: f64, tenth: f64| f16(f16(b * scale) + tenth),
            |b: f64, scale: f64, tenth: f64| f16(b.mul_add(scale, tenth)),
        ] {
            let right = computed(&function, |b, scale| element(b, scale, tenth));
            let report = report(&function, &right, &config);
            assert!(report.passed(), "{report}");
        }
        let without = computed(&function, |b, scale| f16(b * scale));
        assert!(!report(&function, &without, &config).passed());
    }
}

#[test]
fn zeros_that_are_multiplied_beyond_the_end_are_found() {
    let function = function("i8", moved());
    let config = &configs()[0];
    let mut tensors = computed(&function, |b, scale| f16(f16(b * scale) + f16(0.1)));
    // As if one more element were there, whose prologue is 0.1.
    let value = tensors[2].get(5).unwrap();
    tensors[2].set(5, value + 0.1);
    assert!(!report(&function, &tensors, config).passed());
}

#[test]
fn bytes_have_the_sign_that_the_region_reads() {
    let unsigned = Region {
        ops: vec![
            RegionOp::apply(Op::Convert, [0], "u8"),
            RegionOp::apply(Op::Convert, [2], "f16"),
            RegionOp::apply(Op::Mul, [3, 1], "f16"),
        ],
        yields: vec![4],
    };
    let function = function("i8", unsigned);
    let config = &configs()[0];
    let lower_bits = |b: f64| if b < 0.0 { b + 256.0 } else { b };
    let right = computed(&function, |b, scale| f16(lower_bits(b) * scale));
    assert!(report(&function, &right, config).passed());
    let signed = computed(&function, |b, scale| f16(b * scale));
    assert!(!report(&function, &signed, config).passed());
}

#[test]
fn what_no_type_holds_is_said() {
    let function = function("f16", scaled());
    let mut tensors = computed(&function, |b, scale| f16(b * scale));
    tensors[1].set(3, 60000.0);
    tensors[3].set(3, 60000.0);
    let error = verify(&function, &tensors, &Config::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "what the prologue makes of B at (3,0) may be no finite number of f16; scale the inputs down"
    );
}
