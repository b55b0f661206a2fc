//! Prologues of products: what a package says of them, and what it may not say.

use super::{build, round_trip, tensor};
use cute_arith::ScalarOp;
use cute_runtime::package::*;

/// A prologue with a scale for each column of the product.
fn scaled() -> Prologue {
    Prologue {
        inputs: vec![3],
        region: Region {
            ops: vec![
                RegionOp::apply(ScalarOp::Convert, [0], "f16"),
                RegionOp::apply(ScalarOp::Mul, [2, 1], "f16"),
            ],
            yields: vec![3],
        },
    }
}

fn function(prologue: Prologue) -> Function {
    let args = vec![
        tensor("A", "f16", "(8,4):(4,1)", Access::Read),
        tensor("B", "i8", "(6,4):(4,1)", Access::Read),
        tensor("C", "f16", "(8,6):(6,1)", Access::Write),
        tensor("scale", "f16", "(6,4):(1,0)", Access::Read),
    ];
    let gemm = Gemm {
        prologue_b: Some(Box::new(prologue)),
        ..Gemm::new(0, 1, 2, "f32")
    };
    Function::new("gemm", args, vec![]).computing(vec![Compute::Gemm(gemm)])
}

#[test]
fn prologues_round_trip() {
    let (package, computes) = round_trip(function(scaled()));
    // As the documentation has it.
    assert_eq!(
        computes,
        serde_json::json!({
            "kind": "gemm", "a": 0, "b": 1, "c": 2, "accumulate": "f32",
            "prologue_b": {
                "inputs": [3],
                "region": {
                    "ops": [
                        {"op": "convert", "of": [0], "type": "f16"},
                        {"op": "mul", "of": [2, 1], "type": "f16"}
                    ],
                    "yields": [3]
                }
            }
        })
    );
    let compute = &package.manifest().functions[0].computes[0];
    let roles: Vec<_> = compute
        .roles()
        .into_iter()
        .map(|role| (role.name.to_string(), role.arg))
        .collect();
    let expected = [("A", 0), ("B", 1), ("C", 2), ("B0", 3)];
    assert_eq!(roles, expected.map(|(name, arg)| (name.to_string(), arg)));
}

#[test]
fn prologues_are_described() {
    let function = function(scaled());
    assert_eq!(
        function.computes[0].describe(&function),
        "C(m,n) = sum over k of A(m,k) * (f16(B(n,k)) * scale(n,k)), accumulated in f32"
    );
    let mut twice = scaled();
    twice
        .region
        .ops
        .push(RegionOp::apply(ScalarOp::Fma, [3, 3, 3], "f16"));
    twice.region.yields = vec![4];
    let twice = self::function(twice);
    assert_eq!(
        twice.computes[0].describe(&twice),
        "C(m,n) = sum over k of A(m,k) * fma(b0, b0, b0), b0 = f16(B(n,k)) * scale(n,k), accumulated in f32"
    );
}

#[test]
fn what_is_no_prologue_is_refused() {
    let check = |change: &dyn Fn(&mut Prologue), expected: &str, found: &str| {
        let mut prologue = scaled();
        change(&mut prologue);
        let error = build(function(prologue)).unwrap_err().to_string();
        let says = [expected, found].iter().all(|part| error.contains(part));
        assert!(says, "{error}");
    };
    check(
        &|p| p.region.yields = vec![3, 3, 3],
        "one value that the region yields, which is multiplied, and perhaps a scale",
        "3",
    );
    check(
        &|p| p.region.yields = vec![3, 3],
        "a scale of f32",
        "found f16",
    );
    check(
        &|p| p.region.yields = vec![3, 4],
        "a yielded value below 4",
        "4",
    );
    check(
        &|p| p.region.yields = vec![4],
        "a yielded value below 4",
        "4",
    );
    check(
        &|p| p.region.ops[1] = RegionOp::apply(ScalarOp::Lt, [2, 1], "i1"),
        "a number that is multiplied",
        "i1",
    );
    check(
        &|p| p.region.ops[0].element = "f32".into(),
        "operands and a result that suit mul",
        "f32, f16 to f16",
    );
    // A tensor of another shape, and one that is written.
    check(
        &|p| p.inputs = vec![0],
        "A and its prologue's tensors (M,K), B and its prologue's tensors (N,K), C (M,N)",
        "B0 (8,4)",
    );
    check(
        &|p| p.inputs = vec![2],
        "C to be another argument than A and B and B0",
        "C for both",
    );
}
