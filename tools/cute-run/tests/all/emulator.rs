//! `cute-run` on the emulator, on good kernels and on bad input.

use std::path::PathBuf;
use std::process::{Command, Output};

use cute_runtime::{
    Access, Arg, Element, Expr, Function, HostTensor, ImageSource, KernelInfo, Launch, Package,
    Parsed,
};
use serde_json::Value;
use tempfile::TempDir;

/// A kernel of two parameters around a body, with registers for all that the tests need.
fn ptx(body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.extern .shared .align 16 .b8 smem[];\n\
         .visible .entry kernel(.param .u64 in, .param .u64 out)\n{{\n.reg .b32 %r<9>;\n.reg .b64 %d<9>;\n.reg .pred %p<3>;\n\
         .shared .align 4 .b8 s[256];\n{body}\n}}\n"
    )
}

/// out[tid] = in[tid]
const COPY: &str = "ld.param.u64 %d1, [in];\nld.param.u64 %d2, [out];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %d3, %r1, 4;\n\
                    add.s64 %d1, %d1, %d3;\nadd.s64 %d2, %d2, %d3;\nld.global.u32 %r2, [%d1];\nst.global.u32 [%d2], %r2;\nret;";

/// The same through shared memory, read by the thread's neighbour in the other warp: without a
/// barrier, a race.
const RACE: &str = "ld.param.u64 %d1, [in];\nld.param.u64 %d2, [out];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %d3, %r1, 4;\n\
                    add.s64 %d1, %d1, %d3;\nadd.s64 %d2, %d2, %d3;\nld.global.u32 %r2, [%d1];\nmov.u32 %r3, s;\n\
                    shl.b32 %r4, %r1, 2;\nadd.s32 %r5, %r3, %r4;\nst.shared.u32 [%r5], %r2;\nxor.b32 %r6, %r4, 128;\n\
                    add.s32 %r6, %r3, %r6;\nld.shared.u32 %r7, [%r6];\nst.global.u32 [%d2], %r7;\nret;";

fn function() -> Function {
    let tensor = |name: &str, access| Arg::Tensor {
        name: name.into(),
        element: "i32".into(),
        layout: "64:1".into(),
        align: 16,
        access,
    };
    Function::new(
        "f",
        vec![tensor("in", Access::Read), tensor("out", Access::Write)],
        vec![Launch::fixed("kernel", [1, 1, 1], [64, 1, 1], 0, [0, 1])],
    )
}

fn image(arch: &str, ptx: Option<&str>, cubin: bool) -> ImageSource {
    ImageSource {
        arch: arch.into(),
        ptx: ptx.map(str::to_string),
        cubin: cubin.then(|| b"\x7fELF, in a way".to_vec()),
        kernels: vec![KernelInfo {
            name: "kernel".into(),
            ..KernelInfo::default()
        }],
    }
}

struct Bench {
    folder: TempDir,
}

impl Bench {
    fn new() -> Bench {
        Bench {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes p.cutepkg, of these images.
    fn package(&self, function: Function, images: Vec<ImageSource>) {
        let builder = Package::builder("test 1.0").function(function);
        let package = images.into_iter().fold(builder, |b, image| b.image(image));
        package
            .build()
            .unwrap()
            .write_file(self.path("p.cutepkg"))
            .unwrap();
    }

    fn kernel(&self, body: &str) {
        self.package(function(), vec![image("sm_80", Some(&ptx(body)), false)]);
    }

    fn run(&self, args: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_cute-run"))
            .args(["p.cutepkg"])
            .args(args)
            .current_dir(&self.folder)
            .env("CUDA_VISIBLE_DEVICES", "")
            .output()
            .unwrap()
    }

    /// Runs on the emulator, without a reference to compare with; stdout and stderr.
    #[track_caller]
    fn ends(&self, code: i32, args: &[&str]) -> (String, String) {
        let args: Vec<&str> = ["--device=emulator", "--no-verify"]
            .iter()
            .chain(args)
            .copied()
            .collect();
        let output = self.run(&args);
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let (out, err) = (text(output.stdout), text(output.stderr));
        assert_eq!(output.status.code(), Some(code), "{out}{err}");
        assert!(!err.contains("panicked"), "{err}");
        (out, err)
    }

    #[track_caller]
    fn refuses(&self, args: &[&str], says: &str) {
        let (_, err) = self.ends(2, args);
        assert!(err.contains(says), "expected `{says}` in: {err}");
    }

    #[track_caller]
    fn json(&self, code: i32, args: &[&str]) -> Value {
        let args: Vec<&str> = ["--json"].iter().chain(args).copied().collect();
        serde_json::from_str(&self.ends(code, &args).0).unwrap()
    }
}

#[test]
fn a_right_kernel_runs() {
    let bench = Bench::new();
    bench.kernel(COPY);
    let (out, err) = bench.ends(0, &["--output", "out=out.npy"]);
    assert!(out.starts_with("emulator ("), "{out}");
    assert!(
        out.contains("p.cutepkg: f, sm_80 PTX\n  not verified\n"),
        "{out}"
    );
    assert_eq!(err, "");
    // What is written can be read again, and is the input.
    let mut written = HostTensor::zeroed(Element::I32, Parsed::parse("64:1").unwrap()).unwrap();
    written.read_npy(bench.path("out.npy")).unwrap();
    let values: Vec<_> = (0..64).map(|i| written.get(i).unwrap()).collect();
    assert!(values.iter().any(|v| *v != values[0]), "{values:?}");

    let json = bench.json(0, &[]);
    assert_eq!(json["device"]["kind"], "emulator");
    let result = &json["results"][0];
    assert_eq!(result["findings"], serde_json::json!([]));
    assert_eq!(result["report"], Value::Null);
    let json = bench.json(0, &["--report"]);
    let launch = &json["results"][0]["report"]["launches"][0];
    assert_eq!(launch["kernel"], "kernel");
    assert_eq!(launch["thread_instructions"], 9 * 64);
    let (out, _) = bench.ends(0, &["--report"]);
    for says in [
        "\nkernel kernel: 1 blocks of 64 threads, ",
        "instructions: 18 by warps, 576 by threads (100.0 % of the lanes)\n",
        "| global loads ",
        "the package does not say how many registers it needs",
    ] {
        assert!(out.contains(says), "expected `{says}` in: {out}");
    }
}

#[test]
fn without_a_gpu_auto_emulates_and_says_so() {
    let bench = Bench::new();
    bench.kernel(COPY);
    let output = bench.run(&["--no-verify"]);
    let out = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(out.contains("  note: no GPU"), "{out}");
    assert!(out.contains("emulated\n"), "{out}");
}

#[test]
fn time_is_not_emulated() {
    let bench = Bench::new();
    bench.kernel(COPY);
    bench.refuses(
        &["--bench"],
        "error: --bench needs a GPU: the emulator does not measure time; leave out --bench",
    );
    let output = bench.run(&["--bench"]);
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{err}");
    assert!(err.starts_with("error: --bench needs a GPU: the emulator does not measure time: "));
    assert!(output.stdout.is_empty());
}

#[test]
fn findings_are_blocks_of_text_and_values() {
    let bench = Bench::new();
    bench.kernel(RACE);
    let (out, err) = bench.ends(1, &[]);
    let at = out
        .find("shared-memory race: ")
        .unwrap_or_else(|| panic!("{out}"));
    let block: Vec<&str> = out[at..].lines().take(4).collect();
    assert!(block[0].contains("PTX line "), "{out}");
    assert!(
        block[0].contains("ld.shared.u32") || block[0].contains("st.shared.u32"),
        "{out}"
    );
    assert!(
        block[1].starts_with("  ") && block[1].contains("warp"),
        "{out}"
    );
    assert!(
        block[2].starts_with("  kernel kernel; block (0,0,0), warp "),
        "{out}"
    );
    assert!(block[2].contains("; shared memory at byte "), "{out}");
    assert!(
        block[3].starts_with("  the other access: PTX line "),
        "{out}"
    );
    assert!(err.starts_with("wrong result: p.cutepkg: "), "{err}");
    assert!(err.contains("shared-memory race"), "{err}");

    let json = bench.json(1, &[]);
    let result = &json["results"][0];
    assert_eq!(result["status"], "wrong");
    let one: Vec<&Value> = result["findings"].as_array().unwrap().iter().collect();
    let race = one.iter().find(|f| f["kind"] == "shared-race");
    let race = race.unwrap_or_else(|| panic!("{result}"));
    assert_eq!(race["kernel"], "kernel");
    assert!(race["site"]["ptx_line"].as_u64() > Some(10), "{race}");

    // None is printed, all are counted, and JSON has them anyway.
    let (out, _) = bench.ends(1, &["--findings=0"]);
    assert!(!out.contains("shared-memory race: "), "{out}");
    assert!(out.contains("more finding"), "{out}");
    assert!(
        !bench.json(1, &["--findings=0"])["results"][0]["findings"]
            .as_array()
            .unwrap()
            .is_empty()
    );

    // More seeds find the same at least, and each place once.
    let more = bench.json(1, &["--seeds", "8"]);
    let more = more["results"][0]["findings"].as_array().unwrap();
    let places = |findings: &mut dyn Iterator<Item = &Value>| {
        let key = |f: &Value| format!("{} {} {}", f["kind"], f["site"], f["other"]);
        findings.map(key).collect::<Vec<_>>()
    };
    let (few, many) = (places(&mut one.into_iter()), places(&mut more.iter()));
    assert!(
        few.iter().all(|place| many.contains(place)),
        "{few:?} {many:?}"
    );
    let unique: std::collections::BTreeSet<_> = many.iter().collect();
    assert_eq!(unique.len(), many.len(), "{many:?}");
}

#[test]
fn what_kernels_print_goes_to_stdout() {
    let bench = Bench::new();
    let text = ".version 8.0\n.target sm_80\n.address_size 64\n.extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n\
                .global .align 1 .b8 hello[7] = {104, 101, 108, 108, 111, 10, 0};\n\
                .visible .entry kernel(.param .u64 in, .param .u64 out)\n{\n.reg .b32 %r<9>;\n.reg .b64 %d<9>;\n.reg .pred %p<3>;\n\
                mov.u32 %r1, %tid.x;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra DONE;\n\
                mov.u64 %d1, hello;\ncvta.global.u64 %d1, %d1;\nmov.b64 %d2, 0;\n{\n.param .b64 p0;\n.param .b64 p1;\n.param .b32 q;\n\
                st.param.b64 [p0], %d1;\nst.param.b64 [p1], %d2;\ncall.uni (q), vprintf, (p0, p1);\nld.param.b32 %r2, [q];\n}\nDONE:\n"
        .to_string()
        + COPY
        + "\n}\n";
    bench.package(function(), vec![image("sm_80", Some(&text), false)]);
    let (out, _) = bench.ends(0, &[]);
    assert!(out.contains("\nhello\n"), "{out}");
    assert_eq!(bench.json(0, &[])["results"][0]["printed"], "hello\n");
}

#[test]
fn packages_without_ptx_that_can_be_run() {
    let bench = Bench::new();
    bench.package(
        function(),
        vec![image("sm_80", None, true), image("sm_90a", None, true)],
    );
    bench.refuses(
        &[],
        "the package: expected PTX, which is what the emulator executes, found only cubins, for sm_80, sm_90a; compile it again",
    );
    bench.package(function(), vec![]);
    bench.refuses(&[], "found no code; compile it again");

    let good = ptx(COPY);
    bench.package(
        function(),
        vec![
            image("sm_80", Some(&good), false),
            image("sm_90", Some("nonsense"), false),
        ],
    );
    bench.refuses(
        &[],
        "error: p.cutepkg: the PTX for sm_90: PTX line 1, column 1: expected `.version`",
    );
    bench.ends(0, &["--arch", "sm_80"]);
    bench.refuses(
        &["--arch", "sm_70"],
        "expected PTX for sm_70, found PTX for sm_80, sm_90",
    );

    bench.kernel("ld.global.u32 %r1, [%d1;\nret;");
    bench.refuses(&[], "the PTX for sm_80: PTX line 11, column ");
    bench.kernel("frobnicate.sync.b32 %r1, %r2;\nret;");
    let (_, err) = bench.ends(2, &[]);
    assert!(
        err.contains("line 11") && err.contains("frobnicate.sync.b32"),
        "{err}"
    );
    bench.kernel("tcgen05.fence::before_thread_sync;\nret;");
    let (_, err) = bench.ends(2, &[]);
    assert!(
        err.contains("line 11") && err.contains("tcgen05.fence::before_thread_sync"),
        "{err}"
    );

    let other = ptx(COPY).replace(".entry kernel(", ".entry other(");
    bench.package(function(), vec![image("sm_80", Some(&other), false)]);
    let (_, err) = bench.ends(2, &[]);
    assert!(err.contains("kernel"), "{err}");
    let one = ptx("ret;").replace(", .param .u64 out", "");
    bench.package(function(), vec![image("sm_80", Some(&one), false)]);
    bench.refuses(&[], "launch of kernel: expected 2 parameters of 8 bytes");
}

#[test]
fn damaged_and_foreign_packages() {
    let bench = Bench::new();
    bench.kernel(COPY);
    let whole = std::fs::read(bench.path("p.cutepkg")).unwrap();
    let damage = |at: usize, value: u8| {
        let mut bytes = whole.clone();
        bytes[at] = value;
        std::fs::write(bench.path("p.cutepkg"), bytes).unwrap();
    };
    damage(whole.len() - 40, whole[whole.len() - 40] ^ 1);
    bench.refuses(&[], "package is damaged: checksum of the contents");
    damage(8, 9);
    bench.refuses(&[], "format version 9 is newer than version 3");
    damage(8, 0);
    bench.refuses(&[], "format version 0 is older than version 3");
    damage(0, b'X');
    bench.refuses(&[], "not a kernel package");
    std::fs::write(bench.path("p.cutepkg"), &whole[..whole.len() / 2]).unwrap();
    bench.refuses(&[], "package is truncated");
}

#[test]
fn arguments_that_do_not_fit() {
    let bench = Bench::new();
    bench.kernel(COPY);
    let npy = |element, layout: &str| {
        HostTensor::zeroed(element, Parsed::parse(layout).unwrap())
            .unwrap()
            .write_npy(bench.path("a.npy"))
            .unwrap();
    };
    npy(Element::F32, "64:1");
    bench.refuses(
        &["--input", "in=a.npy"],
        "expected elements of type i32 (<i4), found <f4",
    );
    npy(Element::I32, "(64,1):(1,1)");
    bench.refuses(
        &["--input", "in=a.npy"],
        "argument in: a.npy: expected shape [64], found [64, 1]",
    );
    npy(Element::I32, "63:1");
    bench.refuses(&["--input", "in=a.npy"], "expected shape [64], found [63]");
    npy(Element::I32, "64:1");
    bench.ends(0, &["--input", "in=a.npy"]);
}

#[test]
fn kernels_that_never_end() {
    let bench = Bench::new();
    bench.kernel("AGAIN:\nbra AGAIN;\nret;");
    let (out, err) = bench.ends(
        1,
        &["--max-instructions", "10000", "--output", "out=out.npy"],
    );
    assert!(
        out.contains("the block has executed 10000 instructions and has not ended"),
        "{out}"
    );
    assert!(out.contains("instruction limit: "), "{out}");
    assert!(
        out.contains("raise the limit (`max_instructions`) by --max-instructions=N\n"),
        "{out}"
    );
    assert!(
        out.contains("note: ended before its time with seed 0"),
        "{out}"
    );
    assert!(err.starts_with("wrong result: p.cutepkg: "), "{err}");
    assert!(!bench.path("out.npy").exists());
    bench.refuses(&["--max-instructions", "0"], "0 is not in 1..");

    // Half of a warp waits for the other half at a barrier that comes too late.
    bench.kernel("mov.u32 %r1, %tid.x;\nsetp.lt.u32 %p1, %r1, 32;\n@%p1 bar.sync 1, 64;\n@%p1 ret;\nWAIT:\nbar.sync 2, 128;\nret;");
    let (out, _) = bench.ends(1, &[]);
    assert!(out.contains("deadlock: "), "{out}");
}

#[test]
fn launches_that_no_device_has() {
    let bench = Bench::new();
    let launch = |change: &dyn Fn(&mut Launch), body: &str| {
        let mut function = function();
        change(&mut function.launches[0]);
        bench.package(function, vec![image("sm_80", Some(&ptx(body)), false)]);
    };
    let dynamic = format!("mov.u32 %r8, smem;\n{COPY}");
    launch(&|launch| launch.dynamic_smem = 200_000.into(), &dynamic);
    bench.refuses(&[], "launch of kernel: expected at most 166912 bytes of shared memory in a block of sm_80, found 200256");
    let narrow = ptx(COPY).replace("out)\n{", "out)\n.maxntid 32, 1, 1\n{");
    bench.package(function(), vec![image("sm_80", Some(&narrow), false)]);
    bench.refuses(
        &[],
        "launch of kernel: expected 1 to 32 threads in a block, found 64",
    );
    launch(
        &|launch| {
            launch.cluster = [2, 1, 1];
            launch.grid = Expr::all([2, 1, 1]);
        },
        COPY,
    );
    bench.refuses(
        &[],
        "launch of kernel: expected no clusters, which sm_80 does not have, found [2, 1, 1]",
    );
    launch(
        &|launch| launch.grid = Expr::all([1 << 20, 1 << 10, 1]),
        COPY,
    );
    bench.refuses(&[], "launch of kernel: expected a grid of 1 to 2^");
}

#[test]
fn devices_and_options_that_do_not_go_together() {
    let bench = Bench::new();
    bench.kernel(COPY);
    for (args, says) in [
        (&["--device=gpu"] as &[_], "expected auto, cuda, cuda:N"),
        (&["--device=cuda"], "error: "),
        (&["--device=0"], "error: "),
        (&["--seeds=0"], "0 is not in 1.."),
        (&["--info", "--report"], "cannot be used with"),
        (&["--info", "--arch=sm_80"], "cannot be used with"),
        (
            &["--emit=ptx", "--to=x", "--seeds=2"],
            "cannot be used with",
        ),
    ] {
        let output = bench.run(args);
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{err}");
        assert!(err.contains(says), "expected `{says}` in: {err}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn findings_are_kept_where_the_result_cannot_be_verified() {
    let bench = Bench::new();
    bench.kernel(RACE);
    let output = bench.run(&["--device=emulator"]);
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert!(err.contains("shared-memory race"), "{err}");
    assert!(err.contains("does not say what it computes"), "{err}");
}
