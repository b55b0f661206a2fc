//! Maps: what a package says of them, and what it may not say.

use super::{build, computing, operation, round_trip, tensor};
use cute_runtime::package::*;

/// `Y = f16(exp(f32(X) - max) / sum)`, and the sums.
fn softmax() -> Map {
    Map {
        inputs: vec![0],
        outputs: vec![1, 2],
        region: Region {
            ops: vec![
                RegionOp::apply(ScalarOp::Convert, [0], "f32"),
                RegionOp::reduce(ReduceOp::Maximum, 1, [1], "f32"),
                RegionOp::apply(ScalarOp::Sub, [1, 2], "f32"),
                RegionOp::apply(ScalarOp::Exp, [3], "f32"),
                RegionOp::reduce(ReduceOp::Add, 4, [1], "f32"),
                RegionOp::apply(ScalarOp::Div, [4, 5], "f32"),
                RegionOp::apply(ScalarOp::Convert, [6], "f16"),
            ],
            yields: vec![7, 5],
        },
    }
}

fn args() -> Vec<Arg> {
    vec![
        tensor("X", "f16", "(8,6):(6,1)", Access::Read),
        tensor("Y", "f16", "(8,6):(1,8)", Access::Write),
        tensor("sums", "f32", "(8,6):(1,0)", Access::Write),
        tensor("row", "f32", "(8,6):(0,1)", Access::Read),
        tensor("counts", "i32", "(?,(2,?)):(?,(1,?))", Access::ReadWrite),
        tensor("long", "f16", "48:1", Access::Read),
        Arg::Scalar {
            name: "scale".into(),
            element: "f32".into(),
            default: None,
        },
    ]
}

fn function(map: Map) -> Function {
    Function::new("f", args(), vec![]).computing(vec![Compute::Map(map)])
}

#[test]
fn maps_round_trip() {
    let (_, computes) = round_trip(function(softmax()));
    // As the documentation has it.
    assert_eq!(
        computes,
        serde_json::json!({
            "kind": "map", "inputs": [0], "outputs": [1, 2], "region": {
                "ops": [
                    {"op": "convert", "of": [0], "type": "f32"},
                    {"reduce": "maximum", "of": [1], "along": [1], "type": "f32"},
                    {"op": "sub", "of": [1, 2], "type": "f32"},
                    {"op": "exp", "of": [3], "type": "f32"},
                    {"reduce": "add", "of": [4], "along": [1], "type": "f32"},
                    {"op": "div", "of": [4, 5], "type": "f32"},
                    {"op": "convert", "of": [6], "type": "f16"}
                ],
                "yields": [7, 5]
            }
        })
    );
    // What nothing is read for.
    let text = r#"{"kind": "map", "outputs": [1], "region": {"ops": [], "yields": [0]}}"#;
    let function = computing(text).unwrap();
    assert!(
        matches!(&function.computes[0], Compute::Map(map) if map.inputs.is_empty() && map.outputs == [1])
    );
    assert!(!function.to_json().unwrap().contains(r#""inputs""#));
    for (bad, says) in [
        (
            r#"{"reduce": "max", "of": [0], "along": [0], "type": "f32"}"#,
            "unknown reduction `max`",
        ),
        (
            r#"{"reduce": "add", "of": [0], "type": "f32"}"#,
            "`reduce`, `of` and `along`",
        ),
        (
            r#"{"op": "add", "of": [0, 0], "along": [1], "type": "f32"}"#,
            "`reduce`, `of` and `along`",
        ),
        (
            r#"{"op": "add", "reduce": "add", "of": [0], "along": [1], "type": "f32"}"#,
            "`reduce`, `of` and `along`",
        ),
        (
            r#"{"constant": 1, "along": [1], "type": "f32"}"#,
            "`reduce`, `of` and `along`",
        ),
        (
            r#"{"reduce": "add", "of": [0, 1], "along": [0], "type": "f32"}"#,
            "a reduction is `of` one value, found 2",
        ),
    ] {
        let error = operation(bad).unwrap_err();
        assert!(error.contains(says), "{error}");
    }
}

#[test]
fn tensors_of_a_map_have_roles() {
    let mut map = softmax();
    map.inputs = vec![0, 1];
    let compute = Compute::Map(map);
    let roles: Vec<_> = compute
        .roles()
        .into_iter()
        .map(|role| (role.name.to_string(), role.arg, role.access))
        .collect();
    let role = |name: &str, arg, access| (name.to_string(), arg, access);
    assert_eq!(
        roles,
        [
            role("E0", 0, Access::Read),
            role("E1", 1, Access::Read),
            role("D0", 1, Access::ReadWrite),
            role("D1", 2, Access::Write),
        ]
    );
    let outputs: Vec<usize> = compute.outputs().iter().map(|role| role.arg).collect();
    assert_eq!((outputs, compute.kind()), (vec![1, 2], "map"));
    assert_eq!(compute.flops(&vec![vec![8, 4]; 4]), None);
    assert_eq!((compute.accumulate(), compute.factors()), (None, vec![]));
    assert!(compute.epilogue().is_none());
}

#[test]
fn maps_are_described() {
    let mut function = function(softmax());
    assert_eq!(
        function.computes[0].describe(&function),
        "Y(i,j) = f16(t1 / t2), sums(i,j) = t2, t0 = f32(X(i,j)), t1 = exp(t0 - (max over j of t0)), t2 = sum over j of t1"
    );
    let region = Region {
        ops: vec![
            RegionOp::scalar(6, "f32"),
            RegionOp::apply(ScalarOp::Mul, [0, 1], "f32"),
            RegionOp::reduce(ReduceOp::Mean, 2, [0, 1], "f32"),
            RegionOp::apply(ScalarOp::Neg, [3], "f32"),
            RegionOp::reduce(ReduceOp::Minimum, 4, [0, 1], "f32"),
        ],
        yields: vec![5],
    };
    function.computes = vec![Compute::Map(Map {
        inputs: vec![3],
        outputs: vec![2],
        region,
    })];
    assert_eq!(
        function.computes[0].describe(&function),
        "sums(i,j) = min over i,j of -(mean over i,j of row(i,j) * scale)"
    );
    build(function.clone()).unwrap();
    // Modes beyond those that have a letter.
    function.args[0] = tensor("X", "f16", "(1,1,1,1,1,1,2):(1,1,1,1,1,1,1)", Access::Read);
    function.args[1] = tensor("Y", "f16", "(1,1,1,1,1,1,2):(1,1,1,1,1,1,0)", Access::Write);
    function.computes = vec![Compute::Map(Map {
        inputs: vec![0],
        outputs: vec![1],
        region: Region {
            ops: vec![RegionOp::reduce(ReduceOp::Maximum, 0, [6], "f16")],
            yields: vec![1],
        },
    })];
    assert_eq!(
        function.computes[0].describe(&function),
        "Y(i,j,k,l,m,n,i6) = max over i6 of X(i,j,k,l,m,n,i6)"
    );
    build(function).unwrap();
}

#[test]
fn an_output_may_be_an_input() {
    let map = Map {
        inputs: vec![1],
        outputs: vec![1],
        region: Region {
            ops: vec![RegionOp::apply(ScalarOp::Neg, [0], "f16")],
            yields: vec![1],
        },
    };
    let mut function = function(map);
    let error = build(function.clone()).unwrap_err().to_string();
    assert!(
        error.contains("expected D0 to be read and written, found Y is only written"),
        "{error}"
    );
    function.args[1] = tensor("Y", "f16", "(8,6):(1,8)", Access::ReadWrite);
    build(function).unwrap();
}

/// `change` changes the map on softmax, which is then refused for that reason.
#[track_caller]
fn refused(change: impl FnOnce(&mut Map), says: &str) {
    let mut map = softmax();
    change(&mut map);
    let error = build(function(map)).unwrap_err().to_string();
    assert!(error.contains(says), "expected `{says}` in: {error}");
}

#[test]
fn tensors_that_do_not_suit_a_map_are_refused() {
    refused(
        |m| m.outputs = vec![],
        "function f, compute 0: expected at least one output, found none",
    );
    refused(|m| m.inputs = vec![9], "an argument index below 7, found 9");
    refused(
        |m| m.inputs = vec![6],
        "expected an argument that is a tensor, found the scalar scale",
    );
    refused(
        |m| m.inputs = vec![2],
        "expected D1 to be read and written, found sums is only written",
    );
    refused(
        |m| {
            m.inputs = vec![2];
            m.outputs = vec![1];
        },
        "expected E0 to be read, found sums is only written",
    );
    refused(
        |m| m.outputs = vec![0, 2],
        "expected D0 to be written, found X is only read",
    );
    refused(
        |m| m.outputs = vec![1, 1],
        "expected D0 to be another argument than D1, found Y for both",
    );
    refused(
        |m| m.inputs = vec![5],
        "expected D0 with one mode, found (8,6)",
    );
    let mut wide = function(softmax());
    wide.args[1] = tensor("Y", "f16", "(8,7):(1,8)", Access::Write);
    let error = build(wide).unwrap_err().to_string();
    assert!(
        error.contains("expected all tensors of one shape, found E0 (8,6), D0 (8,7), D1 (8,6)"),
        "{error}"
    );
    // Sizes that are not known may be any.
    let counted = |layout: &str| {
        let mut function = function(Map {
            inputs: vec![4],
            outputs: vec![4],
            region: Region {
                ops: vec![],
                yields: vec![0],
            },
        });
        function.args[4] = tensor("counts", "i32", layout, Access::ReadWrite);
        build(function)
    };
    counted("(?,(2,?)):(?,(1,?))").unwrap();
    counted("?:?").unwrap();
    let error = counted("():()").unwrap_err().to_string();
    assert!(
        error.contains("expected tensors of one mode or more, found none"),
        "{error}"
    );
}

#[test]
fn regions_that_do_not_suit_a_map_are_refused() {
    let op = |at: usize, op: RegionOp, says: &str| {
        refused(|m| m.region.ops[at] = op, says);
    };
    refused(
        |m| m.region.yields = vec![7],
        "expected 2 values that the region yields, one for each output, found 1",
    );
    refused(
        |m| m.region.yields = vec![7, 8],
        "expected a yielded value below 8, found 8",
    );
    refused(
        |m| m.region.yields = vec![6, 5],
        "expected a value of type f16 for Y, found f32; convert it",
    );
    op(
        1,
        RegionOp::reduce(ReduceOp::Maximum, 2, [1], "f32"),
        "expected an operand that is a value below 2 for operation 1 of the region, found 2",
    );
    op(
        1,
        RegionOp::reduce(ReduceOp::Maximum, 0, [1], "f32"),
        "expected an operand and a result that suit maximum for operation 1 of the region, found f16 to f32",
    );
    op(
        1,
        RegionOp::reduce(ReduceOp::Add, 0, [1], "f16"),
        "suit add for operation 1 of the region, found f16 to f16",
    );
    op(
        1,
        RegionOp::reduce(ReduceOp::Mean, 1, [1], "i32"),
        "suit mean for operation 1 of the region, found f32 to i32",
    );
    op(
        1,
        RegionOp::reduce(ReduceOp::Maximum, 1, [], "f32"),
        "expected modes in ascending order, each once, for operation 1 of the region, found []",
    );
    op(
        1,
        RegionOp::reduce(ReduceOp::Maximum, 1, [1, 1], "f32"),
        "in ascending order, each once, for operation 1 of the region, found [1, 1]",
    );
    op(
        1,
        RegionOp::reduce(ReduceOp::Maximum, 1, [1, 0], "f32"),
        "in ascending order, each once, for operation 1 of the region, found [1, 0]",
    );
    refused(
        |m| {
            m.region.ops[1] = RegionOp::reduce(ReduceOp::Maximum, 1, [1, 2], "f32");
            m.region.ops[4] = RegionOp::reduce(ReduceOp::Add, 4, [1, 2], "f32");
        },
        "expected reductions along modes below 2, which the tensors have, found 2; modes count from 0",
    );
    // Truth values are reduced by nothing.
    op(
        1,
        RegionOp::reduce(ReduceOp::Maximum, 1, [1], "i1"),
        "suit maximum",
    );
    // An epilogue has one element at a time.
    let mut args = args();
    args[0] = tensor("A", "f16", "(8,4):(4,1)", Access::Read);
    args.push(tensor("B", "f16", "(6,4):(4,1)", Access::Read));
    let ops = vec![
        RegionOp::reduce(ReduceOp::Maximum, 0, [1], "f32"),
        RegionOp::apply(ScalarOp::Convert, [1], "f16"),
    ];
    let region = Region {
        ops,
        yields: vec![2],
    };
    let gemm = Gemm {
        epilogue: Some(Epilogue {
            region,
            ..Epilogue::default()
        }),
        ..Gemm::new(0, 7, 1, "f32")
    };
    let function = Function::new("f", args, vec![]).computing(vec![Compute::Gemm(gemm)]);
    let error = build(function).unwrap_err().to_string();
    assert!(
        error.contains(
            "epilogue: expected operations on single elements, found a reduction along [1]; reduce in a map of its own"
        ),
        "{error}"
    );
}

#[test]
fn what_has_one_place_has_one_value() {
    let says = "expected a value for sums that is the same along mode 1, where elements of sums lie at one place, \
                found one that varies; reduce it along that mode, or give the output a stride there";
    refused(|m| m.region.yields = vec![7, 6], says);
    // What is made of a reduction and of an element varies as the element does.
    refused(
        |m| {
            let difference = RegionOp::apply(ScalarOp::Sub, [4, 5], "f32");
            m.region.ops.push(difference);
            m.region.yields = vec![7, 8];
        },
        says,
    );
    let with = |inputs: Vec<usize>, ops: Vec<RegionOp>, sums: &str| {
        let yields = vec![inputs.len() + ops.len() - 1];
        let mut function = function(Map {
            inputs,
            outputs: vec![2],
            region: Region { ops, yields },
        });
        function.args[2] = tensor("sums", "f32", sums, Access::Write);
        build(function).map(drop).map_err(|error| error.to_string())
    };
    let negated = || vec![RegionOp::apply(ScalarOp::Neg, [0], "f32")];
    // What is read varies where it has strides, and a constant nowhere.
    assert_eq!(with(vec![3], negated(), "(8,6):(0,1)"), Ok(()));
    assert!(
        with(vec![3], negated(), "(8,6):(1,0)")
            .unwrap_err()
            .contains("along mode 1")
    );
    assert!(
        with(vec![3], negated(), "(8,6):(0,0)")
            .unwrap_err()
            .contains("along mode 1")
    );
    assert_eq!(with(vec![3], negated(), "(8,?):(?,?)"), Ok(()));
    assert_eq!(
        with(vec![], vec![RegionOp::constant(1.0, "f32")], "(8,6):(0,0)"),
        Ok(())
    );
    // Two elements of each four lie at one place.
    assert!(
        with(vec![3], negated(), "(8,(2,3)):(3,(0,1))")
            .unwrap_err()
            .contains("along mode 1")
    );
    // A reduction along the one mode leaves the other.
    let means = || vec![RegionOp::reduce(ReduceOp::Mean, 0, [0], "f32")];
    assert_eq!(with(vec![3], means(), "(8,6):(0,1)"), Ok(()));
    assert!(
        with(vec![3], means(), "(8,6):(0,0)")
            .unwrap_err()
            .contains("along mode 1")
    );
    // One element has one place.
    let mut function = function(Map {
        inputs: vec![0],
        outputs: vec![1],
        region: Region {
            ops: vec![],
            yields: vec![0],
        },
    });
    function.args[0] = tensor("X", "f16", "(8,1):(1,1)", Access::Read);
    function.args[1] = tensor("Y", "f16", "(8,1):(1,0)", Access::Write);
    build(function).unwrap();
}
