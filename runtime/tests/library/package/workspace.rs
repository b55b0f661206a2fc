//! Workspaces, and launches that take place on a condition.

use super::manifest;
use cute_runtime::package::*;
use cute_runtime::plan::{Planned, Value, check_disjoint, plan, workspace_bytes};
use cute_runtime::tensor::{ArgError, Given, HostTensor, generate_given};

/// Two launches on a vector of `n` numbers: one of blocks of partial sums where n is at least 64, and one of the whole.
fn function() -> Function {
    let tensor = |name: &str, access| Arg::Tensor {
        name: name.into(),
        element: "f32".into(),
        layout: "(?):(1)".into(),
        align: 4,
        access,
    };
    let apply = |op, a: Expr, b: i64| Expr::apply(op, vec![a, Expr::Constant(b)]);
    let n = || Expr::Leaf(0, 0);
    let blocks = || apply(Op::Sub, n(), 64);
    let split = Launch {
        grid: [blocks(), Expr::Constant(1), Expr::Constant(1)],
        params: vec![
            Param::Pointer(0),
            Param::Pointer(1),
            Param::Workspace(Expr::Constant(0)),
            Param::Workspace(apply(Op::Mul, n(), 4)),
        ],
        when: Some(Expr::apply(Op::Lt, vec![Expr::Constant(64), n()])),
        disjoint: vec![[0, 1]],
        ..Launch::fixed("split", [1, 1, 1], [32, 1, 1], 0, [])
    };
    Function {
        workspace: Some(apply(Op::Mul, n(), 8)),
        requires: vec![Requirement {
            condition: Expr::apply(Op::Le, vec![n(), Expr::Constant(1000)]),
            message: "there are at most 1000 numbers".into(),
        }],
        ..Function::new(
            "sum",
            vec![tensor("x", Access::Read), tensor("y", Access::Write)],
            vec![
                split,
                Launch::fixed("whole", [1, 1, 1], [32, 1, 1], 0, [0, 1]),
            ],
        )
    }
}

fn tensors(function: &Function, n: i64) -> Vec<HostTensor> {
    let given = [Given::Shape(vec![n]), Given::Shape(vec![n])];
    generate_given(function, &given, 1).unwrap()
}

fn build(function: Function) -> Result<Package, PackageError> {
    Package::builder("test").function(function).build()
}

#[test]
fn they_round_trip() {
    let package = build(function()).unwrap();
    let read = Package::from_bytes(&package.to_bytes().unwrap()).unwrap();
    assert_eq!(read, package);
    let json = manifest(&package);
    let function = &json["functions"][0];
    assert_eq!(
        function["workspace"],
        serde_json::json!({"mul": [{"leaf": [0, 0]}, 8]})
    );
    assert_eq!(
        function["requires"][0]["message"],
        "there are at most 1000 numbers"
    );
    let launch = &function["launches"][0];
    assert_eq!(
        launch["when"],
        serde_json::json!({"lt": [64, {"leaf": [0, 0]}]})
    );
    assert_eq!(
        launch["params"][3],
        serde_json::json!({"workspace": {"mul": [{"leaf": [0, 0]}, 4]}})
    );
    let whole = function["launches"][1].as_object().unwrap();
    assert!(!whole.contains_key("when") && !whole.contains_key("disjoint"));
}

#[test]
fn a_launch_takes_place_where_its_condition_holds() {
    let function = function();
    let large = tensors(&function, 100);
    let launches = plan(&function, &large, 1).unwrap();
    let of: Vec<_> = launches
        .iter()
        .map(|l| (l.launch, l.kernel.as_str()))
        .collect();
    assert_eq!(of, [(0, "split"), (1, "whole")]);
    assert_eq!(launches[0].grid, [36, 1, 1]);
    assert_eq!(
        launches[0].params[2..],
        [Value::Workspace(0), Value::Workspace(400)]
    );
    let apart = [(0x1000, 400), (0x2000, 400)];
    let same = [(0x1000, 400), (0x1000, 400)];
    assert!(check_disjoint(&function, &launches, &apart).is_ok());
    assert!(check_disjoint(&function, &launches, &same).is_err());
    // A grid of -4 blocks is not looked at, nor what the kernel that is not launched was compiled for.
    let small = tensors(&function, 60);
    let launches = plan(&function, &small, 1).unwrap();
    assert_eq!((launches.len(), launches[0].launch), (1, 1));
    assert!(check_disjoint(&function, &launches, &same).is_ok());
}

#[test]
fn a_launch_with_a_condition_is_not_fixed() {
    let mut function = function();
    assert!(Planned::fixed(&function, 0).is_none());
    assert_eq!(Planned::fixed(&function, 1).map(|l| l.launch), Some(1));
    assert!(Planned::fixed(&function, 2).is_none());
    let launch = &mut function.launches[1];
    launch.when = Some(Expr::Leaf(0, 0));
    assert!(!launch.is_fixed() && !launch.asks_device());
    launch.when = Some(Expr::SmCount);
    assert!(launch.asks_device());
    assert!(function.asks_device());
    function.launches[1].when = Some(Expr::Constant(1));
    assert!(Planned::fixed(&function, 1).is_some());
    // What never takes place may have any size.
    function.launches[1].when = Some(Expr::Constant(0));
    function.launches[1].grid = Expr::all([0, 1, 1]);
    assert!(Planned::fixed(&function, 1).is_none());
    assert!(!function.asks_device());
    assert_eq!(plan(&function, &tensors(&function, 60), 1), Ok(vec![]));
    build(function.clone()).unwrap();
    function.workspace = Some(Expr::SmCount);
    assert!(function.asks_device());
}

#[test]
fn the_workspace_follows_from_the_arguments() {
    let mut function = function();
    let few = tensors(&function, 60);
    assert_eq!(workspace_bytes(&function, &few, 1), Ok(480));
    let many = tensors(&function, 1001);
    let says = |function: &Function, tensors: &[HostTensor]| {
        let of = workspace_bytes(function, tensors, 1).unwrap_err();
        let planned = plan(function, tensors, 1).unwrap_err();
        assert_eq!(of, planned);
        assert!(matches!(of, ArgError::Call { .. }));
        of.to_string()
    };
    assert_eq!(
        says(&function, &many),
        "function sum: there are at most 1000 numbers"
    );
    let less = |by: i64| Expr::apply(Op::Sub, vec![Expr::Leaf(0, 0), Expr::Constant(by)]);
    function.workspace = Some(less(61));
    assert_eq!(
        says(&function, &few),
        "function sum: workspace: expected 0 to 2^40 bytes, found -1"
    );
    function.workspace = Some(Expr::apply(Op::Div, vec![Expr::Constant(1), less(60)]));
    assert!(says(&function, &few).contains("div(1, 0) has no result"));
    function.workspace = None;
    assert_eq!(workspace_bytes(&function, &few, 1), Ok(0));
}

#[test]
fn pointers_are_into_the_workspace() {
    let mut function = function();
    let tensors = tensors(&function, 100);
    function.launches[0].params[3] = Param::Workspace(Expr::Constant(800));
    assert!(plan(&function, &tensors, 1).is_ok());
    for (offset, says) in [
        (
            801,
            "launch of split: a parameter is byte 801 of the workspace, which has 800",
        ),
        (
            -1,
            "launch of split: a parameter is byte -1 of the workspace, which has 800",
        ),
    ] {
        function.launches[0].params[3] = Param::Workspace(Expr::Constant(offset));
        let error = plan(&function, &tensors, 1).unwrap_err().to_string();
        assert_eq!(error, says);
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let refused = |change: &dyn Fn(&mut Function), says: &str| {
        let mut function = function();
        change(&mut function);
        let error = build(function).unwrap_err().to_string();
        assert!(error.contains(says), "expected `{says}` in: {error}");
    };
    refused(
        &|f| f.workspace = None,
        "expected a function with a workspace, into which a parameter points, found none",
    );
    refused(
        &|f| f.workspace = Some(Expr::Constant(-1)),
        "workspace: expected 0 to 2^40 bytes, found -1",
    );
    refused(
        &|f| f.workspace = Some(Expr::Leaf(0, 9)),
        "workspace: expected a dynamic leaf of x below 1, found 9",
    );
    refused(
        &|f| f.launches[0].params[2] = Param::Workspace(Expr::Leaf(9, 0)),
        "params: expected an argument index below 2, found 9",
    );
    refused(
        &|f| f.launches[1].when = Some(Expr::Scalar(0)),
        "when: expected an argument that is a scalar, found the tensor x",
    );
    refused(
        &|f| f.launches[1].grid = Expr::all([0, 1, 1]),
        "expected a grid from",
    );
}
