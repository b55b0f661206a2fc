//! `cute-run --expect` on the emulator: outputs beside files, tolerances, and what is refused before anything runs.

use std::path::PathBuf;
use std::process::{Command, Output};

use cute_runtime::{
    Access, Arg, Compute, Element, Function, HostTensor, ImageSource, KernelInfo, Launch, Package,
    Parsed,
};
use serde_json::Value;
use tempfile::TempDir;

/// out[tid] = in[tid], for elements of that many bytes; threads from `to` on write nothing.
fn ptx(bytes: usize, to: usize) -> String {
    let bits = 8 * bytes;
    format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry kernel(.param .u64 in, .param .u64 out)\n{{\n\
         .reg .b32 %r<3>;\n.reg .b16 %h<2>;\n.reg .b64 %d<6>;\n.reg .pred %p;\n\
         ld.param.u64 %d1, [in];\nld.param.u64 %d2, [out];\nmov.u32 %r1, %tid.x;\nsetp.ge.u32 %p, %r1, {to};\n@%p ret;\n\
         mul.wide.u32 %d3, %r1, {bytes};\nadd.s64 %d1, %d1, %d3;\nadd.s64 %d2, %d2, %d3;\n\
         ld.global.u{bits} {register}, [%d1];\nst.global.u{bits} [%d2], {register};\nret;\n}}\n",
        register = match bytes {
            2 => "%h1",
            4 => "%r2",
            _ => "%d4",
        }
    )
}

struct Bench {
    folder: TempDir,
}

/// 8 rows of 8 elements.
const SHAPE: &str = "(8,8):(8,1)";

impl Bench {
    /// A package p.cutepkg that copies elements of that type, and the arguments' file in.npy: 0, 1, 2, ... by rows.
    fn new(element: &str, computes: Vec<Compute>, to: usize) -> Bench {
        let written = [("out", SHAPE, Access::Write)];
        Bench::writing(element, &written, computes, to)
    }

    fn writing(
        element: &str,
        written: &[(&str, &str, Access)],
        computes: Vec<Compute>,
        to: usize,
    ) -> Bench {
        let folder = tempfile::tempdir().unwrap();
        let tensor = |&(name, layout, access): &(&str, &str, Access)| Arg::Tensor {
            name: name.into(),
            element: element.into(),
            layout: layout.into(),
            align: 16,
            access,
        };
        let ty: Element = element.parse().unwrap();
        let function = Function::new(
            "f",
            [("in", SHAPE, Access::Read)]
                .iter()
                .chain(written)
                .map(tensor)
                .collect(),
            vec![Launch::fixed("kernel", [1, 1, 1], [64, 1, 1], 0, [0, 1])],
        )
        .computing(computes);
        let image = ImageSource {
            arch: "sm_80".into(),
            ptx: Some(ptx(ty.size(), to)),
            cubin: None,
            kernels: vec![KernelInfo {
                name: "kernel".into(),
                ..KernelInfo::default()
            }],
        };
        let package = Package::builder("test 1.0").function(function).image(image);
        let bench = Bench { folder };
        package
            .build()
            .unwrap()
            .write_file(bench.path("p.cutepkg"))
            .unwrap();
        bench.file("in.npy", element, SHAPE, |i| i);
        bench
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// An array whose elements are a function of their places by rows.
    fn file(&self, name: &str, element: &str, layout: &str, value: impl Fn(f64) -> f64) {
        let layout = Parsed::parse(layout).unwrap();
        let mut tensor = HostTensor::zeroed(element.parse().unwrap(), layout).unwrap();
        for index in 0..tensor.layout().size() {
            let at = tensor.layout().at(index);
            tensor.set(index, value(at as f64));
        }
        tensor.write_npy(self.path(name)).unwrap();
    }

    fn run(&self, args: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_cute-run"))
            .args(["p.cutepkg", "--device=emulator"])
            .args(args)
            .current_dir(&self.folder)
            .env("CUDA_VISIBLE_DEVICES", "")
            .output()
            .unwrap()
    }

    /// Runs with in.npy; stdout and stderr.
    #[track_caller]
    fn ends(&self, code: i32, args: &[&str]) -> (String, String) {
        let output = self.run(&[&["--input=in=in.npy"], args].concat());
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let (out, err) = (text(output.stdout), text(output.stderr));
        assert_eq!(output.status.code(), Some(code), "{args:?}: {out}{err}");
        assert!(!err.contains("panicked"), "{err}");
        (out, err)
    }

    #[track_caller]
    fn prints(&self, code: i32, args: &[&str], says: &str) {
        let (out, err) = self.ends(code, args);
        assert!(out.contains(says), "expected `{says}` in: {out}{err}");
    }

    /// Nothing runs: the device is not named.
    #[track_caller]
    fn refuses(&self, args: &[&str], says: &str) {
        let (out, err) = self.ends(2, args);
        assert!(
            err.contains(says) && out.is_empty(),
            "expected `{says}` in: {out}{err}"
        );
    }
}

fn copy() -> Vec<Compute> {
    vec![Compute::Copy { src: 0, dst: 1 }]
}

#[test]
fn packages_that_do_not_say_what_they_compute_are_verified() {
    let bench = Bench::new("f32", vec![], 64);
    bench.file("right.npy", "f32", SHAPE, |i| i);
    bench.file("near.npy", "f32", SHAPE, |i| i * (1.0 + 5e-6));
    bench.file("far.npy", "f32", SHAPE, |i| if i == 9.0 { 9.5 } else { i });
    bench.prints(
        0,
        &["--expect=out=right.npy"],
        "right: out: 64 elements as expected, by right.npy",
    );
    bench.prints(
        0,
        &["--expect=out=near.npy"],
        "|out - ref| at most 1.000e-5 |ref| + ",
    );
    let args = ["--expect=out=far.npy", "--seeds=3"];
    bench.prints(
        1,
        &args,
        "WRONG: out: 1 of 64 elements wrong; at [1, 1]: expected 9.5, found 9",
    );
    // Without it there is still nothing to verify by.
    let (_, err) = bench.ends(2, &[]);
    assert!(
        err.contains("compare outputs with files (--expect NAME=reference.npy)"),
        "{err}"
    );
    let (out, _) = bench.ends(1, &["--expect=out=far.npy", "--json"]);
    let json: Value = serde_json::from_str(&out).unwrap();
    let expected = &json["results"][0]["expected"][0];
    assert_eq!(json["results"][0]["status"], "wrong");
    assert_eq!(
        (&expected["name"], &expected["wrong"]),
        (&"out".into(), &1.into())
    );
    assert_eq!(expected["first"]["at"], serde_json::json!([1, 1]));
    assert_eq!(expected["max_abs_error"], 0.5);
    // A NaN is expected where the reference has one, and is no distance.
    bench.file(
        "in.npy",
        "f32",
        SHAPE,
        |i| if i == 3.0 { f64::NAN } else { i },
    );
    bench.file(
        "nan.npy",
        "f32",
        SHAPE,
        |i| if i == 3.0 { f64::NAN } else { i },
    );
    bench.prints(0, &["--expect=out=nan.npy"], "64 elements as expected");
    bench.prints(
        1,
        &["--expect=out=right.npy"],
        "at [0, 3]: expected 3, found NaN",
    );
}

#[test]
fn tolerances_are_relative_then_absolute() {
    let bench = Bench::new("f32", vec![], 64);
    bench.file("ref.npy", "f32", SHAPE, |i| i * 1.01 + 0.001);
    let with = |tolerance: &'static str| ["--expect=out=ref.npy", tolerance];
    bench.prints(
        1,
        &with("--tolerance=out=0.02"),
        "1 of 64 elements wrong; at [0, 0]",
    );
    bench.prints(
        0,
        &with("--tolerance=out=0.02,0.01"),
        "at most 2.000e-2 |ref| + 1.000e-2",
    );
    bench.prints(0, &with("--tolerance=0.02,0.01"), "64 elements as expected");
    bench.prints(1, &with("--tolerance=0"), "every element equal");
    // What is said of one output counts before what is said of all.
    let args = [
        "--expect=out=ref.npy",
        "--tolerance=0",
        "--tolerance=out=0.02,0.01",
    ];
    bench.prints(0, &args, "64 elements as expected");
}

#[test]
fn expectations_stand_beside_what_the_package_says() {
    let bench = Bench::new("f32", copy(), 64);
    bench.file("right.npy", "f32", SHAPE, |i| i);
    bench.file("wrong.npy", "f32", SHAPE, |i| i + 1.0);
    let (out, _) = bench.ends(0, &["--expect=out=right.npy"]);
    assert!(
        out.contains("out (8,8), copy: right") && out.contains("right: out"),
        "{out}"
    );
    let (out, _) = bench.ends(1, &["--expect=out=wrong.npy"]);
    assert!(
        out.contains("out (8,8), copy: right") && out.contains("WRONG: out"),
        "{out}"
    );
    // In its place.
    let (out, _) = bench.ends(0, &["--expect=out=right.npy", "--no-verify"]);
    assert!(
        !out.contains("copy: right") && out.contains("right: out"),
        "{out}"
    );
    // Random arguments are compared, too.
    let output = bench.run(&["--expect=out=right.npy"]);
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn element_types_decide() {
    for (element, near, far) in [
        ("f16", 1.0 + 8e-4, 1.01),
        ("f64", 1.0 + 1e-8, 1.0 + 1e-6),
        ("i32", 1.0, 1.02),
    ] {
        let bench = Bench::new(element, vec![], 64);
        bench.file("near.npy", element, SHAPE, |i| i * near);
        bench.file("far.npy", element, SHAPE, |i| (i * far).ceil());
        bench.prints(0, &["--expect=out=near.npy"], "64 elements as expected");
        bench.prints(1, &["--expect=out=far.npy"], "elements wrong");
    }
    // NumPy has no bf16: the reference is not rounded to it.
    let bench = Bench::new("bf16", vec![], 64);
    bench.file("ref.npy", "f32", SHAPE, |i| i * 1.001);
    bench.prints(0, &["--expect=out=ref.npy"], "at most 1.600e-2 |ref|");
    bench.prints(
        1,
        &["--expect=out=ref.npy", "--tolerance=1e-4"],
        "elements wrong",
    );
    // Large integers are not rounded.
    let bench = Bench::new("i64", vec![], 64);
    let large = 9_007_199_254_740_992.0;
    bench.file("in.npy", "i64", SHAPE, |_| large);
    bench.file("ref.npy", "i64", SHAPE, |_| large);
    bench.prints(0, &["--expect=out=ref.npy"], "every element equal");
}

#[test]
fn what_was_not_written_is_wrong() {
    let bench = Bench::new("f32", vec![], 63);
    bench.file("ref.npy", "f32", SHAPE, |i| {
        if i == 63.0 { f64::NAN } else { i }
    });
    bench.prints(
        1,
        &["--expect=out=ref.npy"],
        "1 of 64 elements wrong; at [7, 7]: expected NaN, found nothing that was written",
    );
}

#[test]
fn bytes_between_elements_must_stay() {
    let layout = "(8,7):(8,1)";
    let bench = Bench::writing("f32", &[("out", layout, Access::Write)], vec![], 62);
    bench.file("ref.npy", "f32", layout, |i| i);
    let args = ["--expect=out=ref.npy", "--tolerance=0,1"];
    bench.prints(
        1,
        &args,
        "byte 28 of out, between two of its elements, was overwritten",
    );
}

#[test]
fn outputs_that_nothing_is_compared_with_are_named() {
    let written = [
        ("out", SHAPE, Access::Write),
        ("more", SHAPE, Access::ReadWrite),
    ];
    let bench = Bench::writing("f32", &written, vec![], 64);
    bench.file("ref.npy", "f32", SHAPE, |i| i);
    bench.prints(0, &["--expect=out=ref.npy"], "note: not compared: more");
}

#[test]
fn wrong_names_files_and_numbers_are_refused_before_anything_runs() {
    let bench = Bench::new("f32", vec![], 64);
    bench.file("ref.npy", "f32", SHAPE, |i| i);
    bench.file("f16.npy", "f16", SHAPE, |i| i);
    bench.file("flat.npy", "f32", "64:1", |i| i);
    std::fs::write(bench.path("text.npy"), "no array").unwrap();
    for (args, says) in [
        (
            &["--expect=in=ref.npy"][..],
            "--expect in: expected one of f's arguments out",
        ),
        (
            &["--expect=c=ref.npy"],
            "--expect c: expected one of f's arguments out",
        ),
        (
            &["--expect=ref.npy"],
            "--expect ref.npy: expected the name of an output, =, and a file, such as C=reference.npy",
        ),
        (
            &["--expect=out=none.npy"],
            "--expect out: cannot read none.npy",
        ),
        (&["--expect=out=text.npy"], "expected an .npy file"),
        (
            &["--expect=out=f16.npy"],
            "f16.npy: expected elements of type f32 (<f4), found <f2; convert them with array.astype",
        ),
        (
            &["--expect=out=flat.npy"],
            "flat.npy: expected shape [8, 8], found [64]",
        ),
        (
            &["--expect=out=ref.npy", "--expect=out=ref.npy"],
            "--expect out: expected each output once, found it twice",
        ),
        (
            &["--tolerance=1"],
            "--tolerance is for outputs that --expect names",
        ),
        (
            &["--tolerance=out=1"],
            "--tolerance out: expected an output that --expect names; add --expect out=FILE.npy",
        ),
        (
            &["--expect=out=ref.npy", "--tolerance=in=1"],
            "--tolerance in: expected one of f's arguments out",
        ),
        (
            &["--expect=out=ref.npy", "--tolerance=1", "--tolerance=2"],
            "--tolerance 2: expected one tolerance without a name, found two",
        ),
        (
            &[
                "--expect=out=ref.npy",
                "--tolerance=out=1",
                "--tolerance=out=2",
            ],
            "--tolerance out: expected each output once, found it twice",
        ),
        (
            &["--expect=out=ref.npy", "--tolerance=out=-1"],
            "--tolerance out=-1: expected a number of at least 0",
        ),
        (&["--expect=out=ref.npy", "--tolerance=x"], "found `x`"),
        (&["--expect=out=ref.npy", "--tune"], "cannot be used with"),
        (&["--tolerance=1", "--info"], "cannot be used with"),
    ] {
        bench.refuses(args, says);
    }
    // NumPy has none of the type.
    let bench = Bench::new("bf16", vec![], 64);
    bench.file("f64.npy", "f64", SHAPE, |i| i);
    bench.refuses(
        &["--expect=out=f64.npy"],
        "bf16 (<f4), as NumPy has no bf16, found <f8",
    );
}
