//! Epilogues of products: what a package says of them, and what it may not say.

use super::{build, manifest, operation, refused, round_trip, says_of, tensor};
use cute_arith::ScalarOp;
use cute_runtime::package::*;

fn relu() -> Region {
    Region {
        ops: vec![
            RegionOp::apply(ScalarOp::Add, [0, 1], "f32"),
            RegionOp::constant(0.0, "f32"),
            RegionOp::apply(ScalarOp::Max, [2, 3], "f32"),
            RegionOp::apply(ScalarOp::Convert, [4], "f16"),
        ],
        yields: vec![5],
    }
}

/// `C = f16(max(s + bias, 0))`, of a bias for each column.
fn gemm() -> Gemm {
    Gemm {
        epilogue: Some(Epilogue {
            inputs: vec![3],
            outputs: vec![],
            reduce: vec![],
            region: relu(),
        }),
        ..Gemm::new(0, 1, 2, "f32")
    }
}

fn args() -> Vec<Arg> {
    vec![
        tensor("A", "f16", "(8,4):(4,1)", Access::Read),
        tensor("B", "f16", "(6,4):(4,1)", Access::Read),
        tensor("C", "f16", "(8,6):(6,1)", Access::Write),
        tensor("bias", "f32", "(8,6):(0,1)", Access::Read),
        tensor("sum", "f32", "(8,6):(6,1)", Access::Write),
        Arg::Scalar {
            name: "scale".into(),
            element: "f32".into(),
            default: None,
        },
    ]
}

fn function(gemm: Gemm) -> Function {
    Function::new("gemm", args(), vec![]).computing(vec![Compute::Gemm(gemm)])
}

#[test]
fn outputs_may_be_reduced() {
    let reduced = |kind: &str, element: &str, layout: &str| {
        let mut gemm = gemm();
        let epilogue = gemm.epilogue.as_mut().unwrap();
        epilogue.outputs = vec![4];
        epilogue.reduce = vec![kind.into()];
        epilogue.region.yields = vec![5, 2];
        let mut function = function(gemm);
        function.args[4] = tensor("most", element, layout, Access::Write);
        function
    };
    let package = build(reduced("maximum", "f32", "(8,6):(1,0)")).unwrap();
    let json = manifest(&package);
    let epilogue = &json["functions"][0]["computes"][0]["epilogue"];
    assert_eq!(epilogue["reduce"], serde_json::json!(["maximum"]));
    assert_eq!(
        Package::from_bytes(&package.to_bytes().unwrap()).unwrap(),
        package
    );
    let function = package.function(None).unwrap();
    let text = function.computes[0].describe(function);
    assert!(text.contains("most(m) = max over n of t0"), "{text}");
    build(reduced("add", "f32", "(8,6):(0,1)")).unwrap();
    build(reduced("mean", "f32", "(8,6):(0,0)")).unwrap();
    for (function, says) in [
        (
            reduced("max", "f32", "(8,6):(1,0)"),
            "expected a reduction, one of add, mean, maximum, minimum, found max",
        ),
        (
            reduced("maximum", "f32", "(8,6):(6,1)"),
            "expected most, which is reduced, with stride 0 along whole rows, columns or both, found (8,6):(6,1)",
        ),
        (
            reduced("maximum", "f32", "(8,(3,2)):(1,(0,8))"),
            "with stride 0 along whole rows",
        ),
        (
            reduced("maximum", "f16", "(8,6):(1,0)"),
            "a value of type f16 for most",
        ),
    ] {
        let error = build(function).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
    let mut two = reduced("add", "f32", "(8,6):(0,1)");
    let Compute::Gemm(gemm) = &mut two.computes[0] else {
        unreachable!()
    };
    gemm.epilogue.as_mut().unwrap().reduce.push(String::new());
    let error = build(two).unwrap_err().to_string();
    assert!(
        error.contains("for each of 1 outputs besides C, found 2"),
        "{error}"
    );
}

#[test]
fn epilogues_round_trip() {
    let (_, computes) = round_trip(function(gemm()));
    // As the documentation has it.
    assert_eq!(
        computes,
        serde_json::json!({
            "kind": "gemm", "a": 0, "b": 1, "c": 2, "accumulate": "f32",
            "epilogue": {
                "inputs": [3],
                "region": {
                    "ops": [
                        {"op": "add", "of": [0, 1], "type": "f32"},
                        {"constant": 0.0, "type": "f32"},
                        {"op": "max", "of": [2, 3], "type": "f32"},
                        {"op": "convert", "of": [4], "type": "f16"}
                    ],
                    "yields": [5]
                }
            }
        })
    );
    let scalar = operation(r#"{"scalar": 5, "type": "f32"}"#);
    assert_eq!(scalar, Ok(RegionOp::scalar(5, "f32")));
    let one = operation(r#"{"constant": 1, "type": "f32"}"#);
    assert_eq!(one, Ok(RegionOp::constant(1.0, "f32")));
    for (bad, says) in [
        (
            r#"{"op": "pow", "of": [0], "type": "f32"}"#,
            "unknown operation `pow`",
        ),
        (r#"{"op": "add", "type": "f32"}"#, "`op` and `of`"),
        (
            r#"{"constant": 1, "scalar": 0, "type": "f32"}"#,
            "`op` and `of`",
        ),
        (r#"{"constant": 1}"#, "type"),
    ] {
        let error = operation(bad).unwrap_err();
        assert!(error.contains(says), "{error}");
    }
}

#[test]
fn tensors_of_an_epilogue_have_roles() {
    let mut gemm = gemm();
    let epilogue = gemm.epilogue.as_mut().unwrap();
    epilogue.inputs = vec![3, 2];
    epilogue.outputs = vec![4];
    let compute = Compute::Gemm(gemm);
    let roles: Vec<_> = compute
        .roles()
        .into_iter()
        .map(|role| (role.name.to_string(), role.arg, role.access))
        .collect();
    let role = |name: &str, arg, access| (name.to_string(), arg, access);
    assert_eq!(
        roles,
        [
            role("A", 0, Access::Read),
            role("B", 1, Access::Read),
            role("C", 2, Access::ReadWrite),
            role("E0", 3, Access::Read),
            role("E1", 2, Access::Read),
            role("D1", 4, Access::Write),
        ]
    );
    let outputs: Vec<usize> = compute.outputs().iter().map(|role| role.arg).collect();
    assert_eq!(outputs, [2, 4]);
    assert_eq!(
        compute.flops(&vec![vec![8, 4]; 6]),
        Some(2.0 * 8.0 * 4.0 * 4.0)
    );
}

#[test]
fn epilogues_are_described() {
    let function = function(gemm());
    assert_eq!(
        function.computes[0].describe(&function),
        "C(m,n) = f16(max(s + bias(m,n), 0)), where s = sum over k of A(m,k) * B(n,k), accumulated in f32"
    );
    let mut gelu = gemm();
    let epilogue = gelu.epilogue.as_mut().unwrap();
    epilogue.outputs = vec![4];
    epilogue.region = Region {
        ops: vec![
            RegionOp::scalar(5, "f32"),
            RegionOp::apply(ScalarOp::Mul, [0, 2], "f32"),
            RegionOp::apply(ScalarOp::Tanh, [3], "f32"),
            RegionOp::apply(ScalarOp::Neg, [1], "f32"),
            RegionOp::apply(ScalarOp::Lt, [3, 5], "i1"),
            RegionOp::apply(ScalarOp::Select, [6, 4, 3], "f32"),
            RegionOp::apply(ScalarOp::Convert, [7], "f16"),
        ],
        yields: vec![8, 3],
    };
    let compute = Compute::Gemm(gelu);
    assert_eq!(
        compute.describe(&function),
        "C(m,n) = f16(select(t0 < -bias(m,n), tanh(t0), t0)), sum(m,n) = t0, t0 = s * scale, \
         where s = sum over k of A(m,k) * B(n,k), accumulated in f32"
    );
    build(Function {
        computes: vec![compute],
        ..function
    })
    .unwrap();
}

#[test]
fn an_output_may_be_read() {
    let mut residual = gemm();
    residual.epilogue = Some(Epilogue {
        inputs: vec![2],
        outputs: vec![],
        reduce: vec![],
        region: Region {
            ops: vec![
                RegionOp::apply(ScalarOp::Convert, [1], "f32"),
                RegionOp::apply(ScalarOp::Add, [0, 2], "f32"),
                RegionOp::apply(ScalarOp::Convert, [3], "f16"),
            ],
            yields: vec![4],
        },
    });
    let mut function = function(residual);
    let error = build(function.clone()).unwrap_err().to_string();
    assert!(
        error.contains("expected C to be read and written, found C is only written"),
        "{error}"
    );
    function.args[2] = tensor("C", "f16", "(8,6):(6,1)", Access::ReadWrite);
    build(function).unwrap();
}

/// JSON has no infinities and no NaN: they are texts there.
#[test]
fn infinities_come_back() {
    for value in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1.5] {
        let op = RegionOp::constant(value, "f32");
        let text = serde_json::to_string(&op).unwrap();
        let back: RegionOp = serde_json::from_str(&text).unwrap();
        let RegionValue::Constant(found) = back.value else {
            panic!("{text}");
        };
        assert_eq!(found.to_bits(), value.to_bits(), "{text}");
    }
    let text = r#"{"constant": "infinite", "type": "f32"}"#;
    let error = serde_json::from_str::<RegionOp>(text).unwrap_err();
    let says =
        "expected a number, `inf`, `-inf` or `NaN` as a constant of a region, found `infinite`";
    assert!(error.to_string().contains(says), "{error}");
}

#[test]
fn epilogues_that_cannot_be_are_refused() {
    let with = |change: &dyn Fn(&mut Gemm, &mut Epilogue), says: &str| {
        let mut gemm = gemm();
        let mut epilogue = gemm.epilogue.take().unwrap();
        change(&mut gemm, &mut epilogue);
        gemm.epilogue = Some(epilogue);
        let error = build(function(gemm)).unwrap_err().to_string();
        assert!(error.contains(says), "expected `{says}` in: {error}");
    };
    let op = |at: usize, op: RegionOp, says: &str| {
        with(&|_, e| e.region.ops[at] = op.clone(), says);
    };
    with(
        &|g, _| g.alpha = Some(Factor::Constant(1.0)),
        "expected neither alpha nor beta nor tolerance beside it, found alpha",
    );
    with(&|g, _| g.beta = Some(Factor::Constant(0.0)), "found beta");
    with(&|g, _| g.tolerance = Some(0.5), "found tolerance");
    with(
        &|_, e| e.inputs = vec![9],
        "an argument index below 6, found 9",
    );
    with(
        &|_, e| e.inputs = vec![5],
        "expected an argument that is a tensor, found the scalar scale",
    );
    with(
        &|_, e| e.inputs = vec![4],
        "expected E0 to be read, found sum is only written",
    );
    with(
        &|_, e| e.inputs = vec![0],
        "expected A (M,K), B (N,K), C and the epilogue's tensors (M,N), found A (8,4), B (6,4), C (8,6), E0 (8,4)",
    );
    with(
        &|_, e| e.inputs = vec![],
        "expected operands that are values below 1 for operation 0",
    );
    with(
        &|_, e| e.outputs = vec![3],
        "expected D1 to be written, found bias is only read",
    );
    with(
        &|_, e| e.outputs = vec![2],
        "expected C to be another argument than A and B and D1, found C for both",
    );
    with(
        &|_, e| e.outputs = vec![4],
        "expected 2 values that the region yields, one for each output, found 1",
    );
    with(
        &|_, e| e.region.yields = vec![6],
        "expected a yielded value below 6, found 6",
    );
    with(
        &|_, e| e.region.yields = vec![4],
        "expected a value of type f16 for C, found f32; convert it",
    );
    op(
        0,
        RegionOp::apply(ScalarOp::Add, [0, 2], "f32"),
        "expected operands that are values below 2 for operation 0 of the region, found 2",
    );
    op(
        0,
        RegionOp::apply(ScalarOp::Add, [0], "f32"),
        "expected 2 operands of add for operation 0 of the region, found 1",
    );
    op(
        0,
        RegionOp::apply(ScalarOp::Add, [0, 1], "f31"),
        "expected a type for operation 0 of the region, found unknown element type `f31`",
    );
    op(
        0,
        RegionOp::apply(ScalarOp::Add, [0, 1], "f16"),
        "operands and a result that suit add for operation 0 of the region, found f32, f32 to f16",
    );
    op(0, RegionOp::apply(ScalarOp::Lt, [0, 1], "f32"), "suit lt");
    op(0, RegionOp::apply(ScalarOp::And, [0, 1], "i1"), "suit and");
    op(0, RegionOp::apply(ScalarOp::Ne, [0, 1], "f32"), "suit ne");
    op(
        0,
        RegionOp::apply(ScalarOp::BitAnd, [0, 1], "f32"),
        "suit bit_and",
    );
    op(
        0,
        RegionOp::apply(ScalarOp::ShiftLeft, [0, 1], "i1"),
        "suit shift_left",
    );
    op(
        0,
        RegionOp::apply(ScalarOp::Select, [0, 1, 1], "f32"),
        "suit select",
    );
    op(
        0,
        RegionOp::scalar(5, "f16"),
        "expected a scalar of type f16 for operation 0 of the region, found f32",
    );
    op(
        0,
        RegionOp::scalar(2, "f16"),
        "expected an argument that is a scalar, found the tensor C",
    );
    op(
        1,
        RegionOp::constant(f64::NAN, "i32"),
        "a number of type i32 for operation 1 of the region, found NaN",
    );
    op(
        1,
        RegionOp::constant(f64::INFINITY, "f8E4M3FN"),
        "a number of type f8E4M3FN for operation 1 of the region, found inf",
    );
    op(1, RegionOp::constant(1e39, "f32"), "a number of type f32");
    op(1, RegionOp::constant(0.5, "i32"), "a number of type i32");
    op(1, RegionOp::constant(-129.0, "i8"), "a number of type i8");
    op(1, RegionOp::constant(128.0, "i8"), "a number of type i8");
    op(1, RegionOp::constant(-1.0, "u8"), "a number of type u8");
    op(1, RegionOp::constant(2.0, "i1"), "a number of type i1");
    with(
        &|_, e| {
            let zero = RegionOp::constant(0.0, "f32");
            e.region.ops.resize(MAX_REGION_OPS + 1, zero);
        },
        "expected at most 256 operations in a region, found 257",
    );
    // Integers have no roots.
    let mut integers = function(Gemm {
        epilogue: Some(Epilogue {
            region: Region {
                ops: vec![RegionOp::apply(ScalarOp::Sqrt, [0], "i32")],
                yields: vec![1],
            },
            ..Epilogue::default()
        }),
        ..Gemm::new(0, 1, 2, "i32")
    });
    integers.args[2] = tensor("C", "i32", "(8,6):(6,1)", Access::Write);
    let error = build(integers).unwrap_err().to_string();
    assert!(error.contains("suit sqrt"), "{error}");
    // The others are as they were.
    says_of(
        Gemm::new(0, 0, 2, "f32"),
        "expected A (M,K), B (N,K), C (M,N), found",
    );
    refused(
        |f| f.computes = vec![Compute::Gemm(Gemm::new(0, 2, 2, "f32"))],
        "expected C to be another argument than A and B, found C for both",
    );
}
