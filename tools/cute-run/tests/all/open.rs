//! `cute-run` on a package that leaves shapes and numbers to the command line.

use std::path::PathBuf;
use std::process::{Command, Output};

use cute_runtime::package::{Expr, Op, Param, Requirement};
use cute_runtime::{
    Access, Arg, Compute, Element, Factor, Function, HostTensor, ImageSource, KernelInfo, Launch,
    Number, Package, Parsed,
};
use serde_json::Value;
use tempfile::TempDir;

/// `y(i) = alpha * x(i) + beta * y(i)` by a thread each; `n` follows the pointers, then the factors.
const PTX: &str = "
.version 8.0
.target sm_80
.address_size 64
.visible .entry axpby(.param .u64 x, .param .u64 y, .param .u32 n, .param .f32 alpha, .param .f32 beta)
{
  .reg .pred %p; .reg .b32 %r<8>; .reg .b64 %d<4>; .reg .f32 %f<6>;
  ld.param.u64 %d1, [x]; ld.param.u64 %d2, [y]; ld.param.u32 %r1, [n]; ld.param.f32 %f1, [alpha]; ld.param.f32 %f2, [beta];
  mov.u32 %r2, %ctaid.x; shl.b32 %r2, %r2, 6; mov.u32 %r3, %tid.x; add.u32 %r2, %r2, %r3;
  setp.ge.u32 %p, %r2, %r1; @%p ret;
  mul.wide.u32 %d3, %r2, 4; add.u64 %d1, %d1, %d3; add.u64 %d2, %d2, %d3;
  ld.global.f32 %f3, [%d1]; ld.global.f32 %f4, [%d2]; mul.f32 %f4, %f4, %f2; fma.rn.f32 %f4, %f3, %f1, %f4; st.global.f32 [%d2], %f4;
  ret;
}
";

fn function() -> Function {
    let tensor = |name: &str, access| Arg::Tensor {
        name: name.into(),
        element: "f32".into(),
        layout: "(?{div=2}):(1)".into(),
        align: 4,
        access,
    };
    let scalar = |name: &str, default| Arg::Scalar {
        name: name.into(),
        element: "f32".into(),
        default,
    };
    let blocks = Expr::apply(Op::CeilDiv, vec![Expr::Leaf(0, 0), Expr::Constant(64)]);
    Function {
        requires: vec![Requirement {
            condition: Expr::apply(Op::Le, vec![Expr::Leaf(0, 0), Expr::Constant(4096)]),
            message: "there are at most 4096 elements".into(),
        }],
        computes: vec![Compute::Axpby {
            x: 0,
            y: 1,
            alpha: Factor::Argument { scalar: 2 },
            beta: Factor::Argument { scalar: 3 },
            accumulate: None,
        }],
        ..Function::new(
            "axpby",
            vec![
                tensor("x", Access::Read),
                tensor("y", Access::ReadWrite),
                scalar("alpha", None),
                scalar("beta", Some(Number::Real(0.5))),
            ],
            vec![Launch {
                grid: [blocks, Expr::Constant(1), Expr::Constant(1)],
                params: vec![
                    Param::Pointer(0),
                    Param::Pointer(1),
                    Param::Leaf(0, 0),
                    Param::Scalar(2),
                    Param::Scalar(3),
                ],
                ..Launch::fixed("axpby", [1, 1, 1], [64, 1, 1], 0, [])
            }],
        )
    }
}

struct Bench {
    folder: TempDir,
}

impl Bench {
    fn new() -> Bench {
        let bench = Bench {
            folder: tempfile::tempdir().unwrap(),
        };
        bench.package(PTX);
        bench
    }

    fn package(&self, ptx: &str) {
        let image = ImageSource {
            arch: "sm_80".into(),
            ptx: Some(ptx.into()),
            cubin: None,
            kernels: vec![KernelInfo {
                name: "axpby".into(),
                ..KernelInfo::default()
            }],
        };
        Package::builder("test")
            .function(function())
            .image(image)
            .build()
            .unwrap()
            .write_file(self.path("p.cutepkg"))
            .unwrap();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn npy(&self, name: &str, layout: &str, value: impl Fn(i64) -> f64 + Sync) {
        let layout = Parsed::parse(layout).unwrap();
        let mut tensor = HostTensor::zeroed(Element::F32, layout).unwrap();
        tensor.fill_with(value);
        tensor.write_npy(self.path(name)).unwrap();
    }

    fn run(&self, args: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_cute-run"))
            .arg("p.cutepkg")
            .args(args)
            .arg("--device=emulator")
            .current_dir(&self.folder)
            .output()
            .unwrap()
    }

    /// Runs what must be right, and gives what it says.
    #[track_caller]
    fn right(&self, args: &[&str]) -> String {
        let output = self.run(args);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{args:?}: {stderr}");
        String::from_utf8(output.stdout).unwrap()
    }

    #[track_caller]
    fn refuses(&self, args: &[&str], says: &str) {
        let output = self.run(args);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {stderr}");
        assert!(stderr.starts_with("error: "), "{stderr}");
        assert!(stderr.contains(says), "expected `{says}` in: {stderr}");
        assert!(!stderr.contains("panicked"), "{stderr}");
    }
}

#[test]
fn shapes_and_numbers_come_from_the_command_line() {
    let bench = Bench::new();
    for size in ["2", "64", "130", "4096"] {
        let (x, y) = (format!("x={size}"), format!("y={size}"));
        let said = bench.right(&[
            "--shape",
            &x,
            "--shape",
            &y,
            "--set",
            "alpha=2",
            "--seeds=2",
        ]);
        let line =
            format!("y ({size}), axpby: right; every element compared with an f64 reference");
        assert!(said.contains(&line), "{said}");
        assert!(said.contains("no findings with 2 seeds"), "{said}");
    }
    let with_layout = [
        "--layout",
        "x=(6):(1)",
        "--shape=y=6",
        "--set=alpha=-1e-3",
        "--set=beta=-2",
    ];
    bench.right(&with_layout);
}

#[test]
fn shapes_come_from_files() {
    let bench = Bench::new();
    bench.npy("x.npy", "(70):(1)", |i| i as f64);
    bench.npy("y.npy", "(70):(1)", |i| 1000.0 * i as f64);
    let args = [
        "--input=x=x.npy",
        "--input=y=y.npy",
        "--output=y=out.npy",
        "--set=alpha=3",
        "--set=beta=2",
    ];
    bench.right(&args);
    let mut out = HostTensor::zeroed(Element::F32, Parsed::parse("(70):(1)").unwrap()).unwrap();
    out.read_npy(bench.path("out.npy")).unwrap();
    assert!((0..70).all(|i| out.get(i) == Some(2003.0 * i as f64)));
    // One from a file, the other said.
    bench.right(&["--input=x=x.npy", "--shape=y=70", "--set=alpha=3"]);

    bench.npy("short.npy", "(68):(1)", |_| 0.0);
    bench.npy("odd.npy", "(69):(1)", |_| 0.0);
    bench.npy("matrix.npy", "(7,10):(10,1)", |_| 0.0);
    let alpha = "--set=alpha=1";
    bench.refuses(
        &["--input=x=x.npy", "--input=y=short.npy", alpha],
        "p.cutepkg: function axpby: expected x and y of one shape, found x (70), y (68)",
    );
    bench.refuses(&["--input=x=odd.npy", "--input=y=odd.npy", alpha], "argument x: expected layout (?{div=2}):(1), found (69):(1): shape[0] is 69, which 2 does not divide; choose another size");
    bench.refuses(
        &["--input=x=matrix.npy", "--shape=y=70", alpha],
        "argument x: expected 1 sizes, one for each mode, found 2",
    );
    bench.refuses(
        &["--input=x=x.npy", "--shape=x=72", "--shape=y=72", alpha],
        "argument x: x.npy: expected shape [72], found [70]",
    );
    bench.refuses(
        &["--input=x=missing.npy", "--shape=y=70", alpha],
        "argument x: cannot read missing.npy",
    );
}

#[test]
fn what_is_missing_or_wrong_is_said() {
    let bench = Bench::new();
    let (x, y, alpha) = ("--shape=x=64", "--shape=y=64", "--set=alpha=1");
    bench.refuses(&[], "argument x: expected a shape for layout (?{div=2}):(1), which the package leaves open; give one, as --shape NAME=64x32, --layout or --input of a file do");
    bench.refuses(&[x, alpha], "argument y: expected a shape");
    bench.refuses(&[x, y], "argument alpha: expected a value of type f32, which the package leaves open; give one, as --set NAME=VALUE does");
    bench.refuses(
        &[x, y, alpha, "--set=gamma=1"],
        "--set gamma: expected one of axpby's arguments alpha, beta",
    );
    bench.refuses(
        &[x, y, alpha, "--set=x=1"],
        "--set x: expected one of axpby's arguments alpha, beta",
    );
    bench.refuses(
        &[x, y, alpha, "--shape=z=1"],
        "--shape z: expected one of axpby's arguments x, y",
    );
    bench.refuses(
        &[x, y, alpha, "--shape=alpha=1"],
        "--shape alpha: expected one of axpby's arguments x, y",
    );
    bench.refuses(
        &[x, y, alpha, "--layout=x=64:1"],
        "--layout x: expected each argument once, found it twice",
    );
    bench.refuses(
        &[x, y, alpha, alpha],
        "--set alpha: expected each argument once, found it twice",
    );
    bench.refuses(
        &[x, y, "--set=alpha=1e99"],
        "argument alpha: 1e99 is too large for f32",
    );
    bench.refuses(&[x, y, "--set=alpha=one"], "such as alpha=2.5");
    bench.refuses(
        &["--shape=x=64x2", y, alpha],
        "argument x: expected 1 sizes, one for each mode, found 2",
    );
    bench.refuses(
        &["--shape=x=65", "--shape=y=65", alpha],
        "which 2 does not divide",
    );
    bench.refuses(
        &["--layout=x=(64):(2)", y, alpha],
        "stride[0] is 2, and was compiled for 1",
    );
    bench.refuses(&["--shape=x=-1", y, alpha], "such as A=4096x1024");
    bench.refuses(
        &["--shape=x=4098", "--shape=y=4098", alpha],
        "function axpby: there are at most 4096 elements",
    );
    bench.refuses(
        &[x, y, alpha, "--input=alpha=x.npy"],
        "--input alpha: expected one of axpby's arguments x, y",
    );
}

#[test]
fn another_function_is_found_out() {
    let bench = Bench::new();
    // beta is not multiplied with.
    bench.package(&PTX.replace("mul.f32 %f4, %f4, %f2;", ""));
    let output = bench.run(&["--shape=x=64", "--shape=y=64", "--set=alpha=2", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let report = &json["results"][0]["verification"][0];
    assert_eq!(
        (&report["kind"], &report["shape"]),
        (&"axpby".into(), &serde_json::json!([64]))
    );
    assert_eq!(report["failures"][0]["kind"], "elements");
}

#[test]
fn info_tells_what_is_left_open() {
    let bench = Bench::new();
    let said = bench.right_info();
    for says in [
        "| x        | f32     | (?{div=2}):(1)           | 4 B   | read           |",
        "| alpha    | f32     | a number                 | -     | read           |",
        "| beta     | f32     | a number, 0.5 if not set | -     | read           |",
        "computes y = alpha * x + beta * y",
        "launch 0: axpby(x, y, x.shape[0], alpha, beta), grid (ceil_div(x.shape[0], 64), 1, 1), block 64x1x1, 0 B of dynamic shared memory",
        "requires le(x.shape[0], 4096): there are at most 4096 elements",
    ] {
        assert!(said.contains(says), "expected `{says}` in:\n{said}");
    }
}

impl Bench {
    fn right_info(&self) -> String {
        let output = Command::new(env!("CARGO_BIN_EXE_cute-run"))
            .args(["p.cutepkg", "--info"])
            .current_dir(&self.folder)
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    }
}
