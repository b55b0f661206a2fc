//! `cute-run` on a map with a reduction.

use std::process::{Command, Output};

use cute_runtime::package::{Expr, Param, ReduceOp, Region, RegionOp, ScalarOp};
use cute_runtime::{Access, Arg, Compute, Function, ImageSource, KernelInfo, Launch, Map, Package};
use serde_json::Value;
use tempfile::TempDir;

/// A block of one thread for each row of eight numbers: their mean, and how far each is from it.
const PTX: &str = "
.version 8.0
.target sm_80
.address_size 64
.visible .entry center(.param .u64 x, .param .u64 y, .param .u64 means)
{
  .reg .pred %p; .reg .b32 %r<4>; .reg .b64 %d<8>; .reg .f32 %f<4>;
  ld.param.u64 %d1, [x]; ld.param.u64 %d2, [y]; ld.param.u64 %d3, [means]; mov.u32 %r1, %ctaid.x;
  mul.wide.u32 %d4, %r1, 32; add.u64 %d1, %d1, %d4; add.u64 %d2, %d2, %d4; mul.wide.u32 %d4, %r1, 4; add.u64 %d3, %d3, %d4;
  mov.f32 %f1, 0f00000000; mov.u32 %r2, 0; mov.u64 %d5, %d1;
sum:
  ld.global.f32 %f2, [%d5]; add.f32 %f1, %f1, %f2;
  add.u64 %d5, %d5, 4; add.u32 %r2, %r2, 1; setp.lt.u32 %p, %r2, 8; @%p bra sum;
  mul.f32 %f1, %f1, 0f3E000000; st.global.f32 [%d3], %f1; mov.u32 %r2, 0;
store:
  ld.global.f32 %f2, [%d1]; sub.f32 %f2, %f2, %f1; st.global.f32 [%d2], %f2;
  add.u64 %d1, %d1, 4; add.u64 %d2, %d2, 4; add.u32 %r2, %r2, 1; setp.lt.u32 %p, %r2, 8; @%p bra store;
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
    let launch = Launch {
        grid: [Expr::Leaf(0, 0), Expr::Constant(1), Expr::Constant(1)],
        params: vec![Param::Pointer(0), Param::Pointer(1), Param::Pointer(2)],
        ..Launch::fixed("center", [1, 1, 1], [1, 1, 1], 0, [])
    };
    let region = Region {
        ops: vec![
            RegionOp::reduce(ReduceOp::Mean, 0, [1], "f32"),
            RegionOp::apply(ScalarOp::Sub, [0, 1], "f32"),
        ],
        yields: vec![2, 1],
    };
    let args = vec![
        tensor("x", "(?,8):(8,1)", Access::Read),
        tensor("y", "(?,8):(8,1)", Access::Write),
        tensor("means", "(?,8):(1,0)", Access::Write),
    ];
    Function::new("center", args, vec![launch]).computing(vec![Compute::Map(Map {
        inputs: vec![0],
        outputs: vec![1, 2],
        region,
    })])
}

struct Bench {
    folder: TempDir,
}

impl Bench {
    fn new(ptx: &str) -> Bench {
        let folder = tempfile::tempdir().unwrap();
        let image = ImageSource {
            arch: "sm_80".into(),
            ptx: Some(ptx.into()),
            cubin: None,
            kernels: vec![KernelInfo {
                name: "center".into(),
                ..KernelInfo::default()
            }],
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
        let shapes = ["x", "y", "means"].map(|name| format!("--shape={name}={rows}x8"));
        let mut args = vec!["--device=emulator"];
        args.extend(shapes.iter().map(String::as_str));
        args.extend(more);
        self.run(&args)
    }
}

#[test]
fn it_runs_and_is_verified() {
    let bench = Bench::new(PTX);
    for (rows, more) in [(1, &[][..]), (7, &["--seeds=3"]), (100, &["--seed=5"])] {
        let output = bench.emulate(rows, &[&["--json"], more].concat());
        assert!(output.status.success(), "{output:?}");
        let json: Value = serde_json::from_slice(&output.stdout).unwrap();
        let result = &json["results"][0];
        assert_eq!(result["status"], "right");
        for (report, name, compared) in [(0, "y", 8 * rows), (1, "means", rows)] {
            let report = &result["verification"][report];
            assert_eq!(report["kind"], "map");
            assert_eq!(report["name"], name);
            assert_eq!(report["compared"], compared);
            assert_eq!(report["method"]["kind"], "full");
        }
    }
    // All tensors have one shape.
    let output = bench.run(&[
        "--device=emulator",
        "--shape=x=4x8",
        "--shape=y=4x8",
        "--shape=means=5x8",
    ]);
    assert_eq!(output.status.code(), Some(2));
    let says = String::from_utf8_lossy(&output.stderr).into_owned();
    let expected = "expected all tensors of one shape, found E0 (4,8), D0 (4,8), D1 (5,8)";
    assert!(says.contains(expected), "{says}");
}

#[test]
fn a_wrong_result_is_found() {
    // A sum of seven; a factor that is a little off; means that are not stored.
    for (right, wrong, says) in [
        (
            "setp.lt.u32 %p, %r2, 8; @%p bra sum;",
            "setp.lt.u32 %p, %r2, 7; @%p bra sum;",
            "elements of means are wrong",
        ),
        ("0f3E000000", "0f3E000100", "elements of y are wrong"),
        (
            "st.global.f32 [%d3], %f1;",
            "",
            "elements of means were never written",
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
fn info_tells_what_it_computes() {
    let output = Bench::new(PTX).run(&["--info"]);
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8(output.stdout).unwrap();
    let says = "computes y(i,j) = x(i,j) - t0, means(i,j) = t0, t0 = mean over j of x(i,j)";
    assert!(said.contains(says), "expected `{says}` in:\n{said}");
}
