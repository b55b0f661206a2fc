//! Tensors of computes that are no arguments, and computes on a condition.

use super::{refused, round_trip, sample_function};
use cute_runtime::package::{Compute, Expr, Function, Gemm, View, ViewOf};

fn view(layout: &str, leaves: Vec<Expr>, of: ViewOf) -> View {
    View {
        name: "H".into(),
        element: "f16".into(),
        layout: layout.into(),
        leaves,
        of,
    }
}

fn in_workspace(layout: &str, leaves: Vec<Expr>) -> View {
    view(layout, leaves, ViewOf::Workspace(Expr::Constant(512)))
}

fn when(condition: Expr) -> Compute {
    Compute::When {
        condition,
        compute: Box::new(Compute::Gemm(Gemm::new(3, 1, 2, "f32"))),
    }
}

/// A is copied into the workspace, and multiplied there on a condition.
fn chain(function: &mut Function) {
    function.workspace = Some(Expr::Constant(1024));
    function.views = vec![in_workspace("(8,4):(4,1)", Vec::new())];
    function.computes = vec![Compute::Copy { src: 0, dst: 3 }, when(Expr::SmCount)];
}

#[test]
fn views_and_conditions_are_as_documented() {
    let mut function = sample_function();
    chain(&mut function);
    let (package, computes) = round_trip(function);
    assert_eq!(
        computes,
        serde_json::json!({"kind": "copy", "src": 0, "dst": 3})
    );
    let function = package.function(None).unwrap();
    let json = serde_json::to_value(function).unwrap();
    assert_eq!(
        json["views"],
        serde_json::json!([{"name": "H", "element": "f16", "layout": "(8,4):(4,1)", "of": {"workspace": 512}}])
    );
    assert_eq!(
        json["computes"][1],
        serde_json::json!({
            "kind": "when",
            "condition": {"device": "sm_count"},
            "compute": {"kind": "gemm", "a": 3, "b": 1, "c": 2, "accumulate": "f32"}
        })
    );
    let whole = function.with_views();
    let texts = function.computes.iter().map(|one| one.describe(&whole));
    let texts: Vec<String> = texts.collect();
    assert_eq!(
        texts,
        [
            "H = A",
            "C(m,n) = sum over k of H(m,k) * B(n,k), accumulated in f32"
        ]
    );
    assert_eq!(
        (function.argument_of(2), function.argument_of(3)),
        (Some(2), None)
    );
}

fn byte(tensor: usize, offset: Expr) -> ViewOf {
    ViewOf::Byte { tensor, offset }
}

#[test]
fn views_that_cannot_be_are_refused() {
    let changed = |change: fn(&mut Function), says: &str| {
        refused(
            |function| {
                chain(function);
                change(function);
            },
            says,
        );
    };
    changed(
        |f| f.workspace = None,
        "view H: expected a function with a workspace, found none",
    );
    changed(
        |f| f.views[0].name = "A".into(),
        "arguments and views: expected each name once, found `A` twice",
    );
    changed(
        |f| f.views[0].element = "f12".into(),
        "view H: expected an element type",
    );
    changed(
        |f| f.views[0].layout = "(8,4".into(),
        "view H: expected a layout of a tensor",
    );
    changed(
        |f| f.views[0].layout = "(?,4):(4,1)".into(),
        "view H: expected 1 leaves, as its layout leaves open, found 0",
    );
    changed(
        |f| f.views[0].of = ViewOf::Argument(3),
        "view H: expected an argument index below 3, found 3",
    );
    changed(
        |f| f.views[0].of = byte(3, Expr::Constant(4)),
        "view H: expected an argument index below 3, found 3",
    );
    changed(
        |f| f.views[0].of = byte(0, Expr::Leaf(0, 0)),
        "view H, its first byte: expected a dynamic leaf of A below 0, found 0",
    );
    changed(
        |f| f.views[0].of = ViewOf::Workspace(Expr::Leaf(0, 0)),
        "view H, its first byte: expected a dynamic leaf of A below 0, found 0",
    );
    // Shapes are checked as those of arguments are; expressions know of arguments alone.
    changed(
        |f| f.views[0].layout = "(8,5):(5,1)".into(),
        "expected src and dst of one shape, found src (8,4), dst (8,5)",
    );
    changed(
        |f| f.computes = vec![when(Expr::Leaf(3, 0))],
        "expected an argument index below 3, found 3",
    );
    changed(
        |f| f.views.clear(),
        "expected an argument index below 3, found 3",
    );
    changed(
        |f| {
            f.computes = vec![Compute::When {
                condition: Expr::Constant(1),
                compute: Box::new(when(Expr::Constant(1))),
            }];
        },
        "expected one condition of a compute, found two",
    );
}
