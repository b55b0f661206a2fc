//! Products of tensors at coordinates and of rows by index: what a package says of them, and what it may not say.

use super::{build, round_trip, step, tensor};
use cute_runtime::package::*;

/// Taps of 3 with padding of 1, over lines of 5 pixels of 2 channels.
fn taps() -> At {
    At {
        start: vec![Expr::Constant(0), Expr::Constant(-1)],
        modes: vec![vec![step(5, 1, 1)], vec![step(2, 1, 0), step(3, 1, 1)]],
    }
}

fn function(gemm: Gemm) -> Function {
    let args = vec![
        tensor("X", "f16", "(2,5):(1,2)", Access::Read),
        tensor("F", "f16", "(4,6):(6,1)", Access::Read),
        tensor("Y", "f16", "(5,4):(4,1)", Access::Write),
        tensor("I", "i32", "5:1", Access::Read),
        tensor("Z", "f16", "(4,9):(1,4)", Access::Write),
    ];
    Function::new("gemm", args, vec![]).computing(vec![Compute::Gemm(gemm)])
}

fn at(at: At) -> Gemm {
    Gemm {
        at_a: Some(Box::new(at)),
        ..Gemm::new(0, 1, 2, "f32")
    }
}

fn refused(gemm: Gemm) -> String {
    build(function(gemm)).unwrap_err().to_string()
}

#[test]
fn places_round_trip() {
    let (package, computes) = round_trip(function(at(taps())));
    // As the documentation has it.
    assert_eq!(
        computes,
        serde_json::json!({
            "kind": "gemm", "a": 0, "b": 1, "c": 2, "accumulate": "f32",
            "at_a": {
                "start": [0, -1],
                "modes": [
                    [{"extent": 5, "by": 1, "along": 1}],
                    [{"extent": 2, "by": 1, "along": 0}, {"extent": 3, "by": 1, "along": 1}]
                ]
            }
        })
    );
    let function = &package.manifest().functions[0];
    assert_eq!(
        function.computes[0].describe(function),
        "Y(m,n) = sum over k of X(at (0,-1) + (5,(2,3)):(1@1,(1@0,1@1))(m,k)) * F(n,k), accumulated in f32"
    );
}

#[test]
fn coordinates_are_of_their_tensor() {
    let mut few = taps();
    few.start.pop();
    assert!(
        refused(at(few)).contains("coordinates of A: expected coordinates of a tensor of 2 modes")
    );
    let mut beyond = taps();
    beyond.modes[1][1].along = 2;
    assert!(
        refused(at(beyond))
            .contains("coordinates of A: expected coordinates of a tensor of 2 modes")
    );
    let mut short = taps();
    short.modes[0][0].extent = Expr::Constant(4);
    let found = refused(at(short));
    assert!(found.contains("A (4,6), B (4,6), C (5,4)"), "{found}");
    let mut open = taps();
    open.start[1] = Expr::Leaf(0, 0);
    assert!(
        refused(at(open)).contains("a coordinate"),
        "a leaf that there is not"
    );
}

#[test]
fn indices_are_integers() {
    let rows = |rows| Gemm {
        rows_a: Some(rows),
        ..Gemm::new(1, 1, 2, "f32")
    };
    let found = refused(rows(0));
    assert!(
        found.contains("IA: expected indices of i32 or i64"),
        "{found}"
    );
    assert!(
        build(function(rows(9))).is_err(),
        "an argument that there is not"
    );
    let both = Gemm {
        rows_a: Some(3),
        ..at(taps())
    };
    assert!(refused(both).contains("rows by index alone"));
    // M is that of the indices.
    let rows = Gemm {
        rows_a: Some(3),
        ..Gemm::new(1, 1, 2, "f32")
    };
    build(function(rows)).unwrap();
}

#[test]
fn groups_of_rows_have_ends() {
    let args = |ends: &str, element: &str| {
        vec![
            tensor("A", "f16", "(9,8):(8,1)", Access::Read),
            tensor("B", "f16", "(4,8,3):(8,1,32)", Access::Read),
            tensor("C", "f16", "(9,4):(4,1)", Access::Write),
            tensor("ends", element, ends, Access::Read),
        ]
    };
    let gemm = Gemm {
        groups: Some(3),
        ..Gemm::new(0, 1, 2, "f32")
    };
    let of = |args, gemm: &Gemm| {
        Function::new("f", args, vec![]).computing(vec![Compute::Gemm(gemm.clone())])
    };
    let (package, computes) = round_trip(of(args("3:1", "i32"), &gemm));
    // As the documentation has it.
    assert_eq!(
        computes,
        serde_json::json!({"kind": "gemm", "a": 0, "b": 1, "c": 2, "accumulate": "f32", "groups": 3})
    );
    let function = &package.manifest().functions[0];
    assert_eq!(
        function.computes[0].describe(function),
        "C(m,n) = sum over k of A(m,k) * B(n,k,g), g the first with m < ends(g), accumulated in f32"
    );
    let refused = |args, gemm: &Gemm| build(of(args, gemm)).unwrap_err().to_string();
    let found = refused(args("3:1", "f32"), &gemm);
    assert!(found.contains("ends of groups of i32 or i64"), "{found}");
    let found = refused(args("4:1", "i32"), &gemm);
    assert!(found.contains("ends (G)"), "{found}");
    let found = refused(
        args("9:1", "i32"),
        &Gemm {
            rows_b: Some(3),
            ..gemm
        },
    );
    assert!(found.contains("groups of rows alone"), "{found}");
}
