//! One package, launched on tensors of several sizes and with several numbers, on the emulator.

use cute_runtime::device::{Device, Work};
use cute_runtime::emulator::{Config, Emulator};
use cute_runtime::package::{Expr, Op, Param, Requirement};
use cute_runtime::plan::{Value, plan};
use cute_runtime::tensor::{Given, generate_given};
use cute_runtime::{
    Access, Arg, Compute, Factor, Function, HostTensor, ImageSource, KernelInfo, Launch, Number,
    Package, Parsed, verify,
};

/// `out(i,j) = alpha * in(i,j)`: a block of 32 threads has part of a row. What the launch passes: pointers, the second
/// extent, rows' strides of 32 and 64 bits, the factor.
const PTX: &str = "
.version 8.0
.target sm_80
.address_size 64
.visible .entry scale(.param .u64 in, .param .u64 out, .param .u32 n, .param .u32 ldi, .param .u64 ldo, .param .f32 alpha)
.maxntid 32, 1, 1
{
  .reg .pred %p; .reg .b32 %r<8>; .reg .b64 %d<8>; .reg .f32 %f<4>;
  ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out]; ld.param.u32 %r1, [n]; ld.param.u32 %r2, [ldi];
  ld.param.u64 %d3, [ldo]; ld.param.f32 %f1, [alpha];
  mov.u32 %r3, %ctaid.x; shl.b32 %r3, %r3, 5; mov.u32 %r4, %tid.x; add.u32 %r3, %r3, %r4;
  setp.ge.u32 %p, %r3, %r1; @%p ret;
  mov.u32 %r5, %ctaid.y;
  mad.lo.u32 %r6, %r5, %r2, %r3; mul.wide.u32 %d4, %r6, 4; add.u64 %d1, %d1, %d4;
  cvt.u64.u32 %d5, %r5; cvt.u64.u32 %d6, %r3; mad.lo.u64 %d5, %d5, %d3, %d6; shl.b64 %d5, %d5, 2; add.u64 %d2, %d2, %d5;
  ld.global.f32 %f2, [%d1]; mul.f32 %f2, %f2, %f1; st.global.f32 [%d2], %f2;
  ret;
}
";

fn function() -> Function {
    let tensor = |name: &str, layout: &str, access| Arg::Tensor {
        name: name.into(),
        element: "f32".into(),
        layout: layout.into(),
        align: 4,
        access,
    };
    let blocks = Expr::apply(Op::CeilDiv, vec![Expr::Leaf(0, 1), Expr::Constant(32)]);
    Function {
        requires: vec![Requirement {
            condition: Expr::apply(Op::Lt, vec![Expr::Leaf(0, 0), Expr::Constant(1000)]),
            message: "there are fewer than 1000 rows".into(),
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
                tensor("in", "(?,?):(?{div=4},1)", Access::Read),
                tensor("out", "(?,?):(?{i64},1)", Access::Write),
                Arg::Scalar {
                    name: "alpha".into(),
                    element: "f32".into(),
                    default: Some(Number::Real(1.0)),
                },
            ],
            vec![Launch {
                grid: [blocks, Expr::Leaf(0, 0), Expr::Constant(1)],
                params: vec![
                    Param::Pointer(0),
                    Param::Pointer(1),
                    Param::Leaf(0, 1),
                    Param::Leaf(0, 2),
                    Param::Leaf(1, 2),
                    Param::Scalar(2),
                ],
                ..Launch::fixed("scale", [1, 1, 1], [32, 1, 1], 0, [])
            }],
        )
    }
}

fn package(function: Function) -> Package {
    let image = ImageSource {
        arch: "sm_80".into(),
        ptx: Some(PTX.into()),
        cubin: None,
        kernels: vec![KernelInfo {
            name: "scale".into(),
            params: [".u64", ".u64", ".u32", ".u32", ".u64", ".f32"]
                .map(String::from)
                .into(),
            ..KernelInfo::default()
        }],
    };
    let package = Package::builder("test")
        .function(function)
        .image(image)
        .build()
        .unwrap();
    // As it is read from a file.
    Package::from_bytes(&package.to_bytes().unwrap()).unwrap()
}

fn shape(sizes: [i64; 2]) -> Given {
    Given::Shape(sizes.to_vec())
}

fn alpha(value: f64) -> Given {
    Given::Value(Number::Real(value))
}

#[test]
fn one_program_runs_on_tensors_of_several_sizes() {
    let package = package(function());
    let function = package.function(None).unwrap();
    let emulator = Emulator::new(Config::default());
    let mut program = emulator.load(&package, function).unwrap();
    for (sizes, layout, factor) in [
        ([3, 5], "(3,5):(9,1)", Some(2.5)),
        ([1, 1], "(1,1):(1,1)", Some(-1.0)),
        ([7, 100], "(7,100):(128,1)", None),
        ([40, 64], "(40,64):(64,1)", Some(0.5)),
    ] {
        let given = [
            shape(sizes),
            Given::Layout(Parsed::parse(layout).unwrap()),
            factor.map_or(Given::Nothing, alpha),
        ];
        let mut tensors = generate_given(function, &given, 3).unwrap();
        program
            .run(&mut tensors)
            .unwrap_or_else(|e| panic!("{sizes:?}: {e}"));
        let report = verify::verify(function, &tensors, &verify::Config::default())
            .unwrap()
            .remove(0);
        assert!(report.passed(), "{sizes:?}: {report}");
        assert_eq!(report.compared, (sizes[0] * sizes[1]) as u64);
        let blocks = program.report().unwrap().launches[0].blocks;
        assert_eq!(blocks as i64, (sizes[1] + 31) / 32 * sizes[0]);
        // Each element read once and written once.
        let work = Work::of(function, &tensors);
        assert_eq!(
            (work.flops, work.bytes),
            (None, Some((sizes[0] * sizes[1] * 8) as f64))
        );
        // With another factor it is another function.
        tensors[2] = HostTensor::scalar(tensors[2].element(), Number::Real(7.0)).unwrap();
        let report = verify::verify(function, &tensors, &verify::Config::default())
            .unwrap()
            .remove(0);
        assert!(!report.passed(), "{report}");
    }
}

#[test]
fn launches_are_planned() {
    let function = function();
    let given = [shape([3, 70]), shape([3, 70]), alpha(2.0)];
    let tensors = generate_given(&function, &given, 0).unwrap();
    let launches = plan(&function, &tensors, 132).unwrap();
    assert_eq!(launches[0].grid, [3, 3, 1]);
    let bytes = |bytes: &[u8]| Value::Bytes(bytes.to_vec());
    let params = [
        Value::Pointer(0),
        Value::Pointer(1),
        bytes(&70i32.to_le_bytes()),
        bytes(&72i32.to_le_bytes()),
        bytes(&70i64.to_le_bytes()),
        bytes(&2f32.to_le_bytes()),
    ];
    assert_eq!(launches[0].params, params);
}

/// A grid of two blocks a multiprocessor is another on another device.
#[test]
fn launches_follow_from_the_device() {
    let mut function = function();
    assert!(!function.launches[0].asks_device());
    let two = vec![Expr::Constant(2), Expr::SmCount];
    function.launches[0].grid[0] = Expr::apply(Op::Mul, two);
    assert!(function.launches[0].asks_device() && !function.launches[0].is_fixed());
    let given = [shape([3, 70]), shape([3, 70]), alpha(2.0)];
    let tensors = generate_given(&function, &given, 0).unwrap();
    for sm_count in [1, 16, 132] {
        let launches = plan(&function, &tensors, sm_count).unwrap();
        assert_eq!(launches[0].grid, [2 * sm_count, 3, 1]);
    }
}

/// Checks that nothing is launched: the error is there before.
#[track_caller]
fn refused(change: impl FnOnce(&mut Function), given: [Given; 3], says: &str) {
    let mut changed = function();
    change(&mut changed);
    let error = match generate_given(&changed, &given, 0) {
        Err(error) => error.to_string(),
        Ok(mut tensors) => {
            let package = package(changed);
            let emulator = Emulator::new(Config::default());
            let mut program = emulator
                .load(&package, package.function(None).unwrap())
                .unwrap();
            let error = program.run(&mut tensors).unwrap_err().to_string();
            assert!(program.report().is_none(), "it ran");
            error
        }
    };
    assert!(error.contains(says), "expected `{says}` in: {error}");
}

#[test]
fn arguments_that_do_not_suit_are_refused() {
    let layout = |text: &str| Given::Layout(Parsed::parse(text).unwrap());
    let same = |_: &mut Function| {};
    refused(
        same,
        [Given::Nothing, shape([3, 5]), alpha(1.0)],
        "argument in: expected a shape for layout (?,?):(?{div=4},1), which the package leaves open",
    );
    refused(
        same,
        [alpha(1.0), shape([3, 5]), alpha(1.0)],
        "argument in: it is a tensor, and takes no number",
    );
    refused(
        same,
        [shape([3, 5]), shape([3, 5]), shape([1, 1])],
        "argument alpha: it is a scalar of type f32, and has no layout",
    );
    refused(
        same,
        [Given::Shape(vec![3]), shape([3, 5]), alpha(1.0)],
        "argument in: expected 2 sizes, one for each mode, found 1",
    );
    refused(
        same,
        [layout("(3,5):(5,1)"), shape([3, 5]), alpha(1.0)],
        "stride[0] is 5, which 4 does not divide; pad the tensor",
    );
    refused(
        same,
        [layout("(3,5):(8,2)"), shape([3, 5]), alpha(1.0)],
        "stride[1] is 2, and was compiled for 1",
    );
    refused(
        same,
        [shape([3, 5]), shape([3, 6]), alpha(1.0)],
        "function scale: expected x and y of one shape, found x (3,5), y (3,6)",
    );
    refused(
        same,
        [shape([1000, 4]), shape([1000, 4]), alpha(1.0)],
        "function scale: there are fewer than 1000 rows",
    );
    refused(
        same,
        [shape([3, 5]), shape([3, 5]), alpha(1e300)],
        "too large for f32",
    );
    let good = || [shape([3, 5]), shape([3, 5]), alpha(1.0)];
    let grid = |expr: Expr| move |f: &mut Function| f.launches[0].grid[0] = expr;
    let less = Expr::apply(Op::Sub, vec![Expr::Leaf(0, 0), Expr::Constant(3)]);
    refused(
        grid(less.clone()),
        good(),
        "launch of scale: expected a grid from [1, 1, 1] to [2147483647, 65535, 65535], found [0, 3, 1]",
    );
    refused(
        grid(Expr::apply(Op::Div, vec![Expr::Constant(1), less])),
        good(),
        "launch of scale: grid: div(1, 0) has no result",
    );
    let large = Expr::apply(
        Op::Mul,
        vec![Expr::Leaf(0, 0), Expr::Constant(i64::MAX / 2)],
    );
    refused(
        grid(large.clone()),
        good(),
        "launch of scale: grid: mul(3, 4611686018427387903) has no result",
    );
    refused(
        |f| {
            f.launches[0].params[2] = Param::Integer(
                Expr::apply(Op::Shl, vec![Expr::Leaf(0, 1), Expr::Constant(40)]),
                32,
            )
        },
        good(),
        "launch of scale: a parameter is 5497558138880, which 32 bits do not hold",
    );
    refused(
        |f| {
            f.launches[0].block[0] =
                Expr::apply(Op::Mul, vec![Expr::Leaf(0, 0), Expr::Constant(1024)])
        },
        good(),
        "expected a block from [1, 1, 1]",
    );
    refused(
        |f| f.launches[0].block = [Expr::Leaf(0, 1), Expr::Constant(1024), Expr::Constant(1)],
        good(),
        "at most 1024 threads in a block, found 5120",
    );
    refused(
        |f| {
            f.launches[0].dynamic_smem =
                Expr::apply(Op::Mul, vec![Expr::Leaf(0, 1), Expr::Constant(50_000)])
        },
        good(),
        "at most 232448 bytes of dynamic shared memory, found 250000",
    );
    // What the kernel says is checked with the arguments, too.
    let threads = Expr::apply(Op::Mul, vec![Expr::Leaf(0, 1), Expr::Constant(8)]);
    refused(
        |f| f.launches[0].block[0] = threads,
        good(),
        "launch of scale: expected 1 to 32 threads in a block, found 40",
    );
    let mut tensors = generate_given(&function(), &good(), 0).unwrap();
    tensors[2] = HostTensor::scalar(cute_runtime::Element::F64, Number::Real(1.0)).unwrap();
    let error = plan(&function(), &tensors, 132).unwrap_err().to_string();
    assert_eq!(
        error,
        "argument alpha: expected elements of type f32, found f64"
    );
}

#[test]
fn the_kernel_takes_what_is_passed() {
    let mut swapped = function();
    swapped.launches[0].params.swap(3, 4);
    let image = ImageSource {
        arch: "sm_80".into(),
        ptx: Some(PTX.into()),
        cubin: None,
        kernels: vec![KernelInfo {
            name: "scale".into(),
            ..KernelInfo::default()
        }],
    };
    let package = Package::builder("test")
        .function(swapped)
        .image(image)
        .build()
        .unwrap();
    let emulator = Emulator::new(Config::default());
    let error = emulator
        .load(&package, package.function(None).unwrap())
        .err()
        .unwrap()
        .to_string();
    assert!(error.contains("launch of scale: expected parameters of [8, 8, 4, 8, 4, 4] bytes, which the launch passes"), "{error}");
}
