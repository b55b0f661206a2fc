//! `cute-run` on a product with an epilogue, whose sums go through a workspace.

use std::process::{Command, Output};

use cute_runtime::package::{Epilogue, Expr, Op, Param, Region, RegionOp, Requirement, ScalarOp};
use cute_runtime::{
    Access, Arg, Compute, Function, Gemm, ImageSource, KernelInfo, Launch, Number, Package,
};
use serde_json::Value;
use tempfile::TempDir;

/// A block for each row and a thread for each column: `sums` puts sums of 16 products into the workspace; `relu` makes
/// `max(scale * sum + bias, 0)` of them.
const PTX: &str = "
.version 8.0
.target sm_80
.address_size 64
.visible .entry sums(.param .u64 a, .param .u64 b, .param .u64 w)
{
  .reg .pred %p; .reg .b32 %r<8>; .reg .b64 %d<8>; .reg .f32 %f<4>;
  ld.param.u64 %d1, [a]; ld.param.u64 %d2, [b]; ld.param.u64 %d3, [w];
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; mov.u32 %r5, %ntid.x;
  mul.wide.u32 %d4, %r1, 64; add.u64 %d1, %d1, %d4; mul.wide.u32 %d4, %r2, 64; add.u64 %d2, %d2, %d4;
  mad.lo.u32 %r3, %r1, %r5, %r2; mul.wide.u32 %d4, %r3, 4; add.u64 %d3, %d3, %d4;
  mov.f32 %f1, 0f00000000; mov.u32 %r4, 0;
loop:
  ld.global.f32 %f2, [%d1]; ld.global.f32 %f3, [%d2]; fma.rn.f32 %f1, %f2, %f3, %f1;
  add.u64 %d1, %d1, 4; add.u64 %d2, %d2, 4; add.u32 %r4, %r4, 1; setp.lt.u32 %p, %r4, 16; @%p bra loop;
  st.global.f32 [%d3], %f1;
  ret;
}
.visible .entry relu(.param .u64 w, .param .u64 bias, .param .u64 c, .param .f32 scale)
{
  .reg .b32 %r<8>; .reg .b64 %d<8>; .reg .f32 %f<4>;
  ld.param.u64 %d1, [w]; ld.param.u64 %d2, [bias]; ld.param.u64 %d3, [c]; ld.param.f32 %f3, [scale];
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; mov.u32 %r5, %ntid.x;
  mad.lo.u32 %r3, %r1, %r5, %r2; mul.wide.u32 %d4, %r3, 4; add.u64 %d1, %d1, %d4; add.u64 %d3, %d3, %d4;
  mul.wide.u32 %d4, %r2, 4; add.u64 %d2, %d2, %d4;
  ld.global.f32 %f1, [%d1]; ld.global.f32 %f2, [%d2]; fma.rn.f32 %f1, %f1, %f3, %f2; max.f32 %f1, %f1, 0f00000000; st.global.f32 [%d3], %f1;
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
    let m = || Expr::Leaf(0, 0);
    let grid = || [m(), Expr::Constant(1), Expr::Constant(1)];
    let memory = || Param::Workspace(Expr::Constant(256));
    let sums = Launch {
        grid: grid(),
        params: vec![Param::Pointer(0), Param::Pointer(1), memory()],
        when: Some(Expr::apply(Op::Lt, vec![Expr::Constant(0), m()])),
        ..Launch::fixed("sums", [1, 1, 1], [32, 1, 1], 0, [])
    };
    let relu = Launch {
        grid: grid(),
        params: vec![
            memory(),
            Param::Pointer(3),
            Param::Pointer(2),
            Param::Scalar(4),
        ],
        ..Launch::fixed("relu", [1, 1, 1], [32, 1, 1], 0, [])
    };
    let region = Region {
        ops: vec![
            RegionOp::scalar(4, "f32"),
            RegionOp::apply(ScalarOp::Mul, [0, 2], "f32"),
            RegionOp::apply(ScalarOp::Add, [3, 1], "f32"),
            RegionOp::constant(0.0, "f32"),
            RegionOp::apply(ScalarOp::Max, [4, 5], "f32"),
        ],
        yields: vec![6],
    };
    let bytes = Expr::apply(Op::Mul, vec![m(), Expr::Constant(128)]);
    Function {
        requires: vec![Requirement {
            condition: Expr::apply(Op::Le, vec![m(), Expr::Constant(100)]),
            message: "there are at most 100 rows".into(),
        }],
        workspace: Some(Expr::apply(Op::Add, vec![bytes, Expr::Constant(256)])),
        computes: vec![Compute::Gemm(Gemm {
            epilogue: Some(Epilogue {
                inputs: vec![3],
                outputs: vec![],
                reduce: vec![],
                region,
            }),
            ..Gemm::new(0, 1, 2, "f32")
        })],
        ..Function::new(
            "linear",
            vec![
                tensor("x", "(?,16):(16,1)", Access::Read),
                tensor("w", "(32,16):(16,1)", Access::Read),
                tensor("y", "(?,32):(32,1)", Access::Write),
                tensor("bias", "(?,32):(0,1)", Access::Read),
                Arg::Scalar {
                    name: "scale".into(),
                    element: "f32".into(),
                    default: Some(Number::Real(1.5)),
                },
            ],
            vec![sums, relu],
        )
    }
}

struct Bench {
    folder: TempDir,
}

impl Bench {
    fn new(ptx: &str) -> Bench {
        let folder = tempfile::tempdir().unwrap();
        let kernel = |name: &str| KernelInfo {
            name: name.into(),
            ..KernelInfo::default()
        };
        let image = ImageSource {
            arch: "sm_80".into(),
            ptx: Some(ptx.into()),
            cubin: None,
            kernels: ["sums", "relu"].map(kernel).into(),
        };
        let package = Package::builder("test").function(function()).image(image);
        let package = package.build().unwrap();
        package.write_file(folder.path().join("p.cutepkg")).unwrap();
        Bench { folder }
    }

    fn run(&self, args: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_cute-run"))
            .arg("p.cutepkg")
            .args(args)
            .current_dir(&self.folder)
            .output()
            .unwrap()
    }

    fn emulate(&self, rows: u32, more: &[&str]) -> Output {
        let shapes = ["x", "y", "bias"].map(|name| match name {
            "x" => format!("--shape=x={rows}x16"),
            name => format!("--shape={name}={rows}x32"),
        });
        let mut args = vec!["--device=emulator"];
        args.extend(shapes.iter().map(String::as_str));
        args.extend(more);
        self.run(&args)
    }
}

#[test]
fn it_runs_and_is_verified() {
    let bench = Bench::new(PTX);
    for rows in [1, 7, 100] {
        let output = bench.emulate(rows, &["--json", "--set", "scale=0.25"]);
        assert!(output.status.success(), "{output:?}");
        let json: Value = serde_json::from_slice(&output.stdout).unwrap();
        let report = &json["results"][0]["verification"][0];
        assert_eq!(json["results"][0]["status"], "right");
        assert_eq!(report["compared"], rows * 32);
        assert_eq!(report["undecided"], 0);
    }
    let output = bench.emulate(101, &[]);
    assert_eq!(output.status.code(), Some(2));
    let says = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        says.contains("function linear: there are at most 100 rows"),
        "{says}"
    );
}

#[test]
fn a_wrong_epilogue_is_found() {
    // No maximum; the bias of the column beside; what is read before it is written.
    for (right, wrong, says) in [
        (
            "max.f32 %f1, %f1, 0f00000000;",
            "",
            "elements of y are wrong",
        ),
        (
            "ld.global.f32 %f2, [%d2]; fma",
            "xor.b64 %d2, %d2, 4; ld.global.f32 %f2, [%d2]; fma",
            "elements of y are wrong",
        ),
        (
            "st.global.f32 [%d3], %f1;\n  ret;\n}\n.visible .entry relu",
            "ret;\n}\n.visible .entry relu",
            "uninitialised memory",
        ),
    ] {
        assert!(PTX.contains(right));
        let output = Bench::new(&PTX.replace(right, wrong)).emulate(7, &[]);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said).into_owned();
        assert!(said.contains(says), "expected `{says}` in:\n{said}");
    }
}

#[test]
fn info_tells_all_of_it() {
    let output = Bench::new(PTX).run(&["--info"]);
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8(output.stdout).unwrap();
    for says in [
        "computes y(m,n) = max((s * scale) + bias(m,n), 0), where s = sum over k of x(m,k) * w(n,k), accumulated in f32",
        "requires le(x.shape[0], 100): there are at most 100 rows",
        "workspace: ((x.shape[0] * 128) + 256) B",
        "launch 0: sums(x, w, workspace + 256), grid (x.shape[0], 1, 1), block 32x1x1, 0 B of dynamic shared memory\n  when lt(0, x.shape[0])",
        "launch 1: relu(workspace + 256, bias, y, scale)",
    ] {
        assert!(said.contains(says), "expected `{says}` in:\n{said}");
    }
}
