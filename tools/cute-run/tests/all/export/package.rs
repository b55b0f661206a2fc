//! Packages that are made here, of PTX that somebody wrote.

use cute_runtime::package::{Expr, Op, Param, Requirement};
use cute_runtime::{Access, Arg, Function, ImageSource, KernelInfo, Launch, Number, Package};

/// `scale` makes y of x, times a number; `keep` and `back` do so through a workspace; `add_one` adds 1. The first lines are for the driver
/// without a GPU: the bytes of the kernels' parameters.
const PTX: &str = "
//params scale 8 8 4 4 8 4
//params keep 8 8 4
//params back 8 8 4 4
//params add_one 8 8 4
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
.visible .entry keep(.param .u64 x, .param .u64 w, .param .u32 n)
{
  .reg .pred %p; .reg .b32 %r<4>; .reg .b64 %d<4>; .reg .f32 %f<4>;
  ld.param.u64 %d1, [x]; ld.param.u64 %d2, [w]; ld.param.u32 %r2, [n]; mov.u32 %r1, %tid.x; setp.ge.u32 %p, %r1, %r2; @%p ret;
  mul.wide.u32 %d3, %r1, 4;
  add.u64 %d1, %d1, %d3; add.u64 %d2, %d2, %d3; ld.global.f32 %f1, [%d1]; st.global.f32 [%d2], %f1;
  ret;
}
.visible .entry back(.param .u64 w, .param .u64 y, .param .u32 n, .param .f32 alpha)
{
  .reg .pred %p; .reg .b32 %r<4>; .reg .b64 %d<4>; .reg .f32 %f<4>;
  ld.param.u64 %d1, [w]; ld.param.u64 %d2, [y]; ld.param.u32 %r2, [n]; mov.u32 %r1, %tid.x; setp.ge.u32 %p, %r1, %r2; @%p ret;
  ld.param.f32 %f2, [alpha]; mul.wide.u32 %d3, %r1, 4;
  add.u64 %d1, %d1, %d3; add.u64 %d2, %d2, %d3; ld.global.f32 %f1, [%d1]; mul.f32 %f1, %f1, %f2; st.global.f32 [%d2], %f1;
  ret;
}
.visible .entry add_one(.param .u64 x, .param .u64 y, .param .u32 n)
{
  .reg .pred %p; .reg .b32 %r<4>; .reg .b64 %d<4>; .reg .f32 %f<4>;
  ld.param.u64 %d1, [x]; ld.param.u64 %d2, [y]; ld.param.u32 %r2, [n]; mov.u32 %r1, %tid.x; setp.ge.u32 %p, %r1, %r2; @%p ret;
  mul.wide.u32 %d3, %r1, 4; mov.f32 %f2, STEP;
  add.u64 %d1, %d1, %d3; add.u64 %d2, %d2, %d3; ld.global.f32 %f1, [%d1]; add.f32 %f1, %f1, %f2; st.global.f32 [%d2], %f1;
  ret;
}
";

fn tensor(name: &str, layout: &str, access: Access) -> Arg {
    Arg::Tensor {
        name: name.into(),
        element: "f32".into(),
        layout: layout.into(),
        align: 4,
        access,
    }
}

fn alpha() -> Arg {
    Arg::Scalar {
        name: "alpha".into(),
        element: "f32".into(),
        default: Some(Number::Real(1.0)),
    }
}

fn same(leaf: usize) -> Requirement {
    Requirement {
        condition: Expr::apply(Op::Eq, vec![Expr::Leaf(0, leaf), Expr::Leaf(1, leaf)]),
        message: "x and y have one shape".into(),
    }
}

/// `y = alpha x` of matrices, which do not overlap.
fn scale() -> Function {
    let blocks = Expr::apply(Op::CeilDiv, vec![Expr::Leaf(0, 1), Expr::Constant(32)]);
    let launch = Launch {
        grid: [blocks, Expr::Leaf(0, 0), Expr::Constant(1)],
        params: vec![
            Param::Pointer(0),
            Param::Pointer(1),
            Param::Leaf(0, 1),
            Param::Leaf(0, 2),
            Param::Leaf(1, 2),
            Param::Scalar(2),
        ],
        disjoint: vec![[0, 1]],
        ..Launch::fixed("scale", [1, 1, 1], [32, 1, 1], 0, [])
    };
    Function {
        requires: vec![same(0), same(1)],
        ..Function::new(
            "scale",
            vec![
                tensor("x", "(?,?):(?{div=4},1)", Access::Read),
                tensor("y", "(?,?):(?{i64},1)", Access::Write),
                alpha(),
            ],
            vec![launch],
        )
    }
}

/// `y = alpha x` of at most 32 numbers through a workspace.
fn through() -> Function {
    let n = || Expr::Leaf(0, 0);
    let memory = || Param::Workspace(Expr::Constant(256));
    let launch = |kernel: &str, params: Vec<Param>| Launch {
        params,
        ..Launch::fixed(kernel, [1, 1, 1], [32, 1, 1], 0, [])
    };
    let four = Expr::apply(Op::Mul, vec![n(), Expr::Constant(4)]);
    Function {
        workspace: Some(Expr::apply(Op::Add, vec![four, Expr::Constant(256)])),
        ..Function::new(
            "through",
            vec![
                tensor("x", "(?):(1)", Access::Read),
                tensor("y", "(?):(1)", Access::Write),
                alpha(),
            ],
            vec![
                launch("keep", vec![Param::Pointer(0), memory(), Param::Leaf(0, 0)]),
                launch(
                    "back",
                    vec![
                        memory(),
                        Param::Pointer(1),
                        Param::Leaf(0, 0),
                        Param::Scalar(2),
                    ],
                ),
            ],
        )
    }
}

/// `y = x + 1` of at most 32 numbers, by a name that clients of TVM-FFI have.
fn add_one() -> Function {
    let launch = Launch {
        params: vec![Param::Pointer(0), Param::Pointer(1), Param::Leaf(0, 0)],
        ..Launch::fixed("add_one", [1, 1, 1], [32, 1, 1], 0, [])
    };
    Function {
        requires: vec![same(0)],
        ..Function::new(
            "add_one_cpu",
            vec![
                tensor("x", "(?):(1)", Access::Read),
                tensor("y", "(?):(1)", Access::Write),
            ],
            vec![launch],
        )
    }
}

/// `y = x + 1`, of one more than there are.
fn beyond() -> Function {
    let more = Expr::apply(Op::Add, vec![Expr::Leaf(0, 0), Expr::Constant(1)]);
    let mut function = add_one();
    function.name = "beyond".into();
    function.launches[0].params[2] = Param::Integer(more, 32);
    function
}

/// The package for an architecture; `add_one_cpu` adds `step`.
pub fn package(arch: &str, step: f32) -> Package {
    let kernel = |name: &str| KernelInfo {
        name: name.into(),
        ..KernelInfo::default()
    };
    let ptx = PTX
        .replace("STEP", &format!("0f{:08X}", step.to_bits()))
        .replace("sm_80", arch)
        .replace(".version 8.0", ".version 8.7");
    let image = ImageSource {
        arch: arch.into(),
        ptx: Some(ptx),
        cubin: None,
        kernels: ["scale", "keep", "back", "add_one"].map(kernel).into(),
    };
    let builder = Package::builder("test");
    let builder = [scale(), through(), add_one(), beyond()]
        .into_iter()
        .fold(builder, |builder, function| builder.function(function));
    builder.image(image).build().unwrap()
}
