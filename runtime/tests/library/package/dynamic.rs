//! The statements of a package on arguments that come with a launch, and those that it may not make.

use super::{computing, manifest, refused as refused_of, says_of};
use cute_runtime::package::*;

/// `out = alpha * in` on tensors whose shape comes with the launch.
fn scale() -> Function {
    let tensor = |name: &str, access| Arg::Tensor {
        name: name.into(),
        element: "f32".into(),
        layout: "(?,?):(?{i64 div=4},1)".into(),
        align: 16,
        access,
    };
    let scalar = |name: &str, element: &str, default| Arg::Scalar {
        name: name.into(),
        element: element.into(),
        default,
    };
    let blocks = Expr::apply(Op::CeilDiv, vec![Expr::Leaf(0, 1), Expr::Constant(128)]);
    Function {
        requires: vec![Requirement {
            condition: Expr::apply(Op::Lt, vec![Expr::Constant(0), Expr::Scalar(3)]),
            message: "n is positive".into(),
        }],
        computes: vec![Compute::Axpby {
            x: 0,
            y: 1,
            alpha: Factor::Argument { scalar: 2 },
            beta: Factor::Constant(0.0),
            accumulate: None,
        }],
        ..Function::new(
            "scale",
            vec![
                tensor("in", Access::Read),
                tensor("out", Access::Write),
                scalar("alpha", "f32", Some(Number::Real(2.0))),
                scalar("n", "i32", None),
            ],
            vec![Launch {
                grid: [blocks, Expr::Leaf(0, 0), Expr::Constant(1)],
                params: vec![
                    Param::Pointer(0),
                    Param::Leaf(0, 1),
                    Param::Leaf(0, 2),
                    Param::Scalar(2),
                    Param::Integer(Expr::Scalar(3), 32),
                ],
                ..Launch::fixed("gemm_kernel", [1, 1, 1], [128, 1, 1], 0, [])
            }],
        )
    }
}

fn builder(function: Function, params: &[&str]) -> PackageBuilder {
    Package::builder("test")
        .function(function)
        .image(ImageSource {
            arch: "sm_80".into(),
            ptx: Some(".version 9.0\n".into()),
            cubin: None,
            kernels: vec![KernelInfo {
                name: "gemm_kernel".into(),
                params: params.iter().map(|param| (*param).to_string()).collect(),
                ..KernelInfo::default()
            }],
        })
}

const PARAMS: [&str; 5] = [".u64", ".u32", ".u64", ".f32", ".u32"];

#[track_caller]
fn refused(change: impl FnOnce(&mut Function), says: &str) {
    let mut function = scale();
    change(&mut function);
    let error = builder(function, &PARAMS).build().unwrap_err().to_string();
    assert!(error.contains(says), "expected `{says}` in: {error}");
}

#[test]
fn round_trip() {
    let package = builder(scale(), &PARAMS).build().unwrap();
    let bytes = package.to_bytes().unwrap();
    assert_eq!(Package::from_bytes(&bytes).unwrap(), package);
    // As the documentation has it.
    let json = manifest(&package);
    let function = &json["functions"][0];
    assert_eq!(
        function["args"][2],
        serde_json::json!({"kind": "scalar", "name": "alpha", "type": "f32", "default": 2.0})
    );
    assert_eq!(
        function["launches"][0]["params"],
        serde_json::json!([{"pointer": 0}, {"leaf": [0, 1]}, {"leaf": [0, 2]}, {"scalar": 2}, {"integer": [{"scalar": 3}, 32]}])
    );
    assert_eq!(
        function["launches"][0]["grid"],
        serde_json::json!([{"ceil_div": [{"leaf": [0, 1]}, 128]}, {"leaf": [0, 0]}, 1])
    );
    assert_eq!(
        function["computes"][0],
        serde_json::json!({"kind": "axpby", "x": 0, "y": 1, "alpha": {"scalar": 2}, "beta": 0.0})
    );
}

#[test]
fn computes_round_trip() {
    let accumulate = || Some("f32".to_string());
    let all = [
        Compute::Gemm(Gemm {
            multiply: Some("tf32".into()),
            alpha: Some(Factor::Argument { scalar: 3 }),
            beta: Some(Factor::Constant(0.5)),
            tolerance: Some(0.1),
            ..Gemm::new(0, 1, 2, "f32")
        }),
        Compute::Copy { src: 0, dst: 1 },
        Compute::Transpose { src: 0, dst: 1 },
        Compute::Add {
            a: 0,
            b: 1,
            out: 2,
            accumulate: None,
        },
        Compute::Axpby {
            x: 0,
            y: 1,
            alpha: Factor::Constant(2.0),
            beta: Factor::Constant(1.0),
            accumulate: accumulate(),
        },
        Compute::Softmax {
            x: 0,
            out: 1,
            accumulate: accumulate(),
        },
        Compute::RmsNorm {
            x: 0,
            weight: 1,
            out: 2,
            epsilon: Factor::Constant(1e-5),
            accumulate: None,
        },
        Compute::Attention {
            q: 0,
            k: 1,
            v: 2,
            out: 3,
            scale: Factor::Argument { scalar: 4 },
            causal: true,
            accumulate: accumulate(),
        },
    ];
    for compute in all {
        let function = Function::new("f", vec![], vec![]).computing(vec![compute]);
        let json = function.to_json().unwrap();
        assert!(
            json.contains(&format!(r#"[{{"kind":"{}""#, function.computes[0].kind())),
            "{json}"
        );
        assert_eq!(Function::from_json(&json).unwrap(), function);
    }
    assert!(computing(r#"{"kind": "conv", "x": 0}"#).is_err());
    let launches = vec![Launch::fixed("k", [1; 3], [1; 3], 0, 0..1)];
    let json = Function::new("f", vec![], launches).to_json().unwrap();
    assert!(Function::from_json(&json).is_ok());
    let other = json.replace(r#"{"pointer":0}"#, r#"{"address":0}"#);
    assert!(other != json && Function::from_json(&other).is_err());
}

#[test]
fn arguments_that_cannot_be_are_refused() {
    let scalar = |element: &str, default| Arg::Scalar {
        name: "n".into(),
        element: element.into(),
        default,
    };
    refused(
        |f| f.args[3] = scalar("i8", None),
        "a scalar of type i32, i64, f16, bf16, f32 or f64, found i8",
    );
    refused(
        |f| f.args[3] = scalar("index", None),
        "unknown element type `index`",
    );
    refused(
        |f| f.args[3] = scalar("i32", Some(Number::Integer(1 << 31))),
        "a default of type i32, found 2147483648 does not fit i32",
    );
    refused(
        |f| f.args[3] = scalar("i32", Some(Number::Real(0.5))),
        "0.5 is no integer",
    );
    refused(
        |f| f.args[3] = scalar("f16", Some(Number::Real(1e6))),
        "1000000.0 is too large for f16",
    );
    refused(
        |f| {
            let Arg::Tensor { layout, .. } = &mut f.args[0] else {
                unreachable!()
            };
            *layout = "(?,?):(?,-1)".into();
        },
        "expected a layout of a tensor, found layout `(?,?):(?,-1)`: stride -1 is negative",
    );
}

#[test]
fn launches_that_cannot_be_are_refused() {
    let launch =
        |change: &dyn Fn(&mut Launch), says: &str| refused(|f| change(&mut f.launches[0]), says);
    launch(
        &|l| l.params[0] = Param::Pointer(4),
        "expected an argument index below 4, found 4",
    );
    launch(
        &|l| l.params[0] = Param::Pointer(2),
        "expected an argument that is a tensor, found the scalar alpha",
    );
    let byte = |tensor, offset| Param::Byte { tensor, offset };
    launch(
        &|l| l.params[0] = byte(4, Expr::Constant(8)),
        "expected an argument index below 4, found 4",
    );
    launch(
        &|l| l.params[0] = byte(2, Expr::Constant(8)),
        "expected an argument that is a tensor, found the scalar alpha",
    );
    launch(
        &|l| l.params[0] = byte(0, Expr::Leaf(0, 3)),
        "expected a dynamic leaf of in below 3, found 3",
    );
    launch(
        &|l| l.params[1] = Param::Leaf(0, 3),
        "expected a dynamic leaf of in below 3, found 3",
    );
    launch(
        &|l| l.params[1] = Param::Leaf(2, 0),
        "expected an argument that is a tensor, found the scalar alpha",
    );
    launch(
        &|l| l.params[1] = Param::Leaf(9, 0),
        "expected an argument index below 4, found 9",
    );
    launch(
        &|l| l.params[3] = Param::Scalar(0),
        "expected an argument that is a scalar, found the tensor in",
    );
    launch(
        &|l| l.params[3] = Param::Scalar(4),
        "expected an argument index below 4, found 4",
    );
    launch(
        &|l| l.params[4] = Param::Integer(Expr::Constant(1), 16),
        "an integer of 32 or 64 bits, found 16",
    );
    launch(
        &|l| l.params[4] = Param::Integer(Expr::Leaf(0, 7), 32),
        "params: expected a dynamic leaf of in below 3, found 7",
    );
    // Leaf 2 is of 64 bits, and the kernel takes 32.
    launch(
        &|l| l.params.swap(1, 2),
        "expected .u32 for parameter 1 of gemm_kernel, found 64 bits",
    );
    launch(
        &|l| l.params.truncate(4),
        "expected 5 arguments, the parameters of gemm_kernel, found 4",
    );
    launch(
        &|l| l.grid[0] = Expr::Leaf(0, 3),
        "grid: expected a dynamic leaf of in below 3, found 3",
    );
    launch(
        &|l| l.grid[0] = Expr::Leaf(1, 9),
        "grid: expected a dynamic leaf of out below 3, found 9",
    );
    launch(
        &|l| l.block[1] = Expr::Scalar(2),
        "block: expected a scalar that is an integer, found f32",
    );
    launch(
        &|l| l.block[1] = Expr::Scalar(1),
        "block: expected an argument that is a scalar, found the tensor out",
    );
    launch(
        &|l| l.dynamic_smem = Expr::Scalar(7),
        "dynamic_smem: expected an argument index below 4, found 7",
    );
    refused(
        |f| f.requires[0].condition = Expr::Scalar(7),
        "function scale, requires: expected an argument index below 4, found 7",
    );
    launch(
        &|l| l.when = Some(Expr::Scalar(2)),
        "when: expected a scalar that is an integer, found f32",
    );
    launch(
        &|l| l.grid[0] = Expr::Apply(Op::Add, vec![Expr::Constant(1)]),
        "expected 2 operands of add, found 1",
    );
    launch(
        &|l| {
            l.grid = Expr::all([1, 1, 1]);
            l.grid[1] = Expr::Apply(Op::Div, vec![Expr::Constant(1), Expr::Constant(0)]);
        },
        "expected sizes that can be computed, found grid: div(1, 0) has no result in 64 bits",
    );
    launch(&|l| l.cluster = [0, 1, 1], "a cluster of 1 to 16 blocks");
    let deep =
        |depth: usize| (1..depth).fold(Expr::Scalar(3), |e, _| Expr::Apply(Op::Fits32, vec![e]));
    launch(
        &|l| l.grid[0] = deep(MAX_DEPTH + 1),
        "nested 32 deep, found 33 parts, nested 33 deep",
    );
    let wide = |levels: usize| {
        (0..levels).fold(Expr::Scalar(3), |e, _| {
            Expr::Apply(Op::Add, vec![e.clone(), e])
        })
    };
    launch(&|l| l.grid[0] = wide(10), "at most 1024 parts");
    let mut function = scale();
    function.launches[0].grid = [deep(MAX_DEPTH), wide(9), Expr::Constant(1)];
    let package = builder(function, &PARAMS).build().unwrap();
    // Whatever is written can be read.
    assert_eq!(
        Package::from_bytes(&package.to_bytes().unwrap()).unwrap(),
        package
    );
}

#[test]
fn computes_that_cannot_be_are_refused() {
    let compute = |compute: Compute, says: &str| refused(|f| f.computes = vec![compute], says);
    let gemm = |gemm: Gemm, says: &str| says_of(gemm, says);
    compute(
        Compute::Copy { src: 0, dst: 9 },
        "an argument index below 4, found 9",
    );
    compute(
        Compute::Copy { src: 2, dst: 1 },
        "an argument that is a tensor, found the scalar alpha",
    );
    compute(
        Compute::Copy { src: 1, dst: 0 },
        "expected dst to be written, found in is only read",
    );
    compute(
        Compute::Copy { src: 1, dst: 1 },
        "expected dst to be another argument than src, found out for both",
    );
    refused(
        |f| {
            let Arg::Tensor { access, .. } = &mut f.args[0] else {
                unreachable!()
            };
            *access = Access::Write;
        },
        "expected x to be read, found in is only written",
    );
    compute(
        Compute::Axpby {
            x: 0,
            y: 1,
            alpha: Factor::Constant(1.0),
            beta: Factor::Constant(1.0),
            accumulate: None,
        },
        "expected y to be read and written, found out is only written",
    );
    let softmax = |accumulate: Option<&str>| Compute::Softmax {
        x: 0,
        out: 1,
        accumulate: accumulate.map(String::from),
    };
    compute(
        softmax(Some("f31")),
        "an accumulator type, found unknown element type `f31`",
    );
    let epsilon = |epsilon| Compute::RmsNorm {
        x: 0,
        weight: 0,
        out: 1,
        epsilon,
        accumulate: None,
    };
    compute(
        epsilon(Factor::Constant(f64::NAN)),
        "epsilon: expected a finite number, found NaN",
    );
    compute(
        epsilon(Factor::Argument { scalar: 0 }),
        "epsilon: expected an argument that is a scalar, found the tensor in",
    );
    compute(
        epsilon(Factor::Argument { scalar: 4 }),
        "epsilon: expected an argument index below 4, found 4",
    );
    compute(
        epsilon(Factor::Constant(0.0)),
        "expected weight with one mode, found (?,?)",
    );
    refused(
        |f| {
            f.computes = vec![softmax(None)];
            for arg in &mut f.args[..2] {
                let Arg::Tensor { element, .. } = arg else {
                    unreachable!()
                };
                *element = "i32".into();
            }
        },
        "tensors of floating-point numbers in softmax, found i32",
    );
    let attention = |scale| Compute::Attention {
        q: 0,
        k: 0,
        v: 0,
        out: 1,
        scale,
        causal: false,
        accumulate: None,
    };
    compute(
        attention(Factor::Constant(f64::INFINITY)),
        "scale: expected a finite number, found inf",
    );
    compute(
        attention(Factor::Argument { scalar: 0 }),
        "scale: expected an argument that is a scalar, found the tensor in",
    );
    refused(
        |f| {
            f.computes = vec![attention(Factor::Constant(1.0))];
            for arg in &mut f.args[..2] {
                let Arg::Tensor { element, .. } = arg else {
                    unreachable!()
                };
                *element = "i8".into();
            }
        },
        "tensors of floating-point numbers in attention, found i8",
    );
    let layouts = |compute: Compute, layouts: [&str; 2], says: &str| {
        refused(
            |f| {
                f.computes = vec![compute];
                f.launches.clear();
                for (arg, text) in f.args.iter_mut().zip(layouts) {
                    let Arg::Tensor { layout, .. } = arg else {
                        unreachable!()
                    };
                    *layout = text.into();
                }
            },
            says,
        );
    };
    let copy = || Compute::Copy { src: 0, dst: 1 };
    layouts(
        copy(),
        ["(?,8):(8,1)", "(?,9):(9,1)"],
        "expected src and dst of one shape, found src (?,8), dst (?,9)",
    );
    layouts(
        copy(),
        ["(?,8):(8,1)", "?:1"],
        "expected dst with two modes, found (?)",
    );
    let transpose = || Compute::Transpose { src: 0, dst: 1 };
    layouts(
        transpose(),
        ["(?,8):(8,1)", "(9,?):(1,9)"],
        "expected src (M,N), dst (N,M), found src (?,8), dst (9,?)",
    );
    layouts(
        transpose(),
        ["8:1", "8:1"],
        "expected src with two modes, found (8)",
    );
    layouts(
        attention(Factor::Constant(1.0)),
        ["(?,64):(64,1)", "(?,8):(8,1)"],
        "expected Q (M,D,...), K (N,D,...), V (N,E,...), O (M,E,...), found Q (?,64), K (?,64), V (?,64), O (?,8)",
    );
    layouts(
        attention(Factor::Constant(1.0)),
        ["(?,8,6):(48,1,8)", "(?,8,5):(40,1,8)"],
        "and heads of K divide those of Q",
    );
    layouts(
        attention(Factor::Constant(1.0)),
        ["8:1", "(?,8):(8,1)"],
        "expected Q with two modes, found (8)",
    );
    gemm(
        Gemm {
            multiply: Some("f19".into()),
            ..Gemm::new(0, 1, 2, "f32")
        },
        "unknown element type `f19`",
    );
    gemm(
        Gemm {
            tolerance: Some(-1.0),
            ..Gemm::new(0, 1, 2, "f32")
        },
        "a tolerance that is zero or positive",
    );
    gemm(
        Gemm {
            beta: Some(Factor::Constant(1.0)),
            ..Gemm::new(0, 1, 2, "f32")
        },
        "expected C to be read and written, found C is only written",
    );
    gemm(
        Gemm {
            alpha: Some(Factor::Argument { scalar: 1 }),
            ..Gemm::new(0, 1, 2, "f32")
        },
        "alpha: expected an argument that is a scalar, found the tensor B",
    );
    refused_of(
        |f| f.computes = vec![Compute::Transpose { src: 0, dst: 2 }],
        "expected src (M,N), dst (N,M), found src (8,4), dst (8,6)",
    );
}
