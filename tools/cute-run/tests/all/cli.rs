//! The binary as a user meets it, without a GPU.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use cute_runtime::cuda::CudaDevice;
use cute_runtime::device::DeviceError;
use cute_runtime::{
    Access, Arg, Compute, Element, Function, Gemm, HostTensor, ImageSource, KernelInfo, Launch,
    Package, Parsed,
};
use tempfile::TempDir;

struct Bench {
    folder: TempDir,
}

fn package() -> Package {
    let tensor = |name: &str, layout: &str, access| Arg::Tensor {
        name: name.into(),
        element: "f16".into(),
        layout: layout.into(),
        align: 16,
        access,
    };
    let function = Function::new(
        "gemm",
        vec![
            tensor("A", "(64,32):(32,1)", Access::Read),
            tensor("B", "(48,32):(32,1)", Access::Read),
            tensor("C", "(64,48):(48,1)", Access::Write),
        ],
        vec![Launch {
            cluster: [2, 1, 1],
            ..Launch::fixed("gemm_kernel", [4, 3, 1], [128, 1, 1], 65536, 0..3)
        }],
    )
    .computing(vec![Compute::Gemm(Gemm::new(0, 1, 2, "f32"))]);
    let kernel = KernelInfo {
        name: "gemm_kernel".into(),
        registers: 168,
        dynamic_smem: 65536,
        spill_store_bytes: 24,
        spill_load_bytes: 40,
        threads: 128,
        params: vec![".u64".into(); 3],
        ..KernelInfo::default()
    };
    let image = |arch: &str| ImageSource {
        arch: arch.into(),
        ptx: Some(format!("// PTX of {arch}\n")),
        cubin: (arch == "sm_80").then(|| b"\x7fELF, in a way".to_vec()),
        kernels: vec![kernel.clone()],
    };
    Package::builder("test 1.0")
        .function(function)
        .image(image("sm_80"))
        .image(image("sm_90a"))
        .build()
        .unwrap()
}

impl Bench {
    fn new() -> Bench {
        let bench = Bench {
            folder: tempfile::tempdir().unwrap(),
        };
        package().write_file(bench.path("gemm.cutepkg")).unwrap();
        bench
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs in the folder, with every GPU hidden: results are the same on machines that have one.
    fn run(&self, args: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_cute-run"))
            .args(args)
            .current_dir(&self.folder)
            .env("CUDA_VISIBLE_DEVICES", "")
            .output()
            .unwrap()
    }

    #[track_caller]
    fn fails(&self, args: &[&str], says: &str) {
        let output = self.run(args);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(stderr.starts_with("error: "), "{stderr}");
        assert!(stderr.contains(says), "expected `{says}` in: {stderr}");
        assert!(!stderr.contains("panicked"), "{stderr}");
        assert!(output.stdout.is_empty());
    }

    #[track_caller]
    fn succeeds(&self, args: &[&str]) -> String {
        let output = self.run(args);
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    }

    fn npy(&self, name: &str, element: Element, layout: &str) {
        HostTensor::zeroed(element, Parsed::parse(layout).unwrap())
            .unwrap()
            .write_npy(self.path(name))
            .unwrap();
    }
}

fn bytes_of(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap()
}

#[test]
fn files_that_are_no_packages() {
    let bench = Bench::new();
    bench.fails(
        &["missing.cutepkg"],
        "error: cannot read missing.cutepkg: No such file or directory (os error 2)\n",
    );
    let whole = bytes_of(&bench.path("gemm.cutepkg"));
    std::fs::write(bench.path("short.cutepkg"), &whole[..whole.len() - 9]).unwrap();
    let says = format!(
        "short.cutepkg: package is truncated: found {} of {} bytes",
        whole.len() - 9,
        whole.len()
    );
    bench.fails(&["short.cutepkg"], &says);
    std::fs::write(bench.path("a.cubin"), b"\x7fELF\x02\x01").unwrap();
    bench.fails(
        &["a.cubin"],
        "not a kernel package: expected the file to begin with `CUTEPKG\\0`, found an ELF file",
    );
    let mut damaged = whole.clone();
    damaged[100] ^= 4;
    std::fs::write(bench.path("damaged.cutepkg"), &damaged).unwrap();
    bench.fails(
        &["damaged.cutepkg"],
        "package is damaged: checksum of the contents",
    );
    let mut newer = whole;
    newer[8] = 7;
    std::fs::write(bench.path("newer.cutepkg"), &newer).unwrap();
    bench.fails(
        &["newer.cutepkg", "--info"],
        "format version 7 is newer than version 3",
    );
    bench.fails(&["gemm.cutepkg", "missing.cutepkg"], "missing.cutepkg");
}

#[test]
fn no_gpu() {
    let bench = Bench::new();
    let says = match CudaDevice::open(0) {
        Err(DeviceError::NoDriver) => {
            "error: no CUDA driver found (libcuda.so.1); install an NVIDIA driver"
        }
        // The test hides the GPUs of a machine that has a driver.
        _ => "error: the CUDA driver finds no GPU",
    };
    bench.fails(&["gemm.cutepkg", "--device=cuda"], says);
    bench.fails(&["gemm.cutepkg", "--device=0", "--bench", "--json"], says);
    bench.fails(
        &[
            "gemm.cutepkg",
            "gemm.cutepkg",
            "--device=cuda:0",
            "--bench",
            "--interleave",
        ],
        says,
    );
    // Without a choice it would be emulated, but not measured.
    let bench_it = ["gemm.cutepkg", "gemm.cutepkg", "--bench", "--interleave"];
    bench.fails(&bench_it, "the emulator does not measure time");
}

#[test]
fn inputs_that_do_not_fit() {
    let bench = Bench::new();
    bench.npy("narrow.npy", Element::F16, "(64,31):(31,1)");
    bench.fails(
        &["gemm.cutepkg", "--input", "A=narrow.npy"],
        "argument A: narrow.npy: expected shape [64, 32], found [64, 31]",
    );
    bench.npy("single.npy", Element::F32, "(64,32):(32,1)");
    bench.fails(
        &["gemm.cutepkg", "--input", "A=single.npy"],
        "expected elements of type f16 (<f2), found <f4",
    );
    std::fs::write(bench.path("text.npy"), "1 2 3").unwrap();
    bench.fails(
        &["gemm.cutepkg", "--input", "A=text.npy"],
        "text.npy: expected an .npy file",
    );
    bench.npy("whole.npy", Element::F16, "(64,32):(32,1)");
    let whole = bytes_of(&bench.path("whole.npy"));
    std::fs::write(bench.path("short.npy"), &whole[..whole.len() - 1]).unwrap();
    bench.fails(
        &["gemm.cutepkg", "--input", "A=short.npy"],
        "expected 4096 bytes of elements, found 4095",
    );
    bench.fails(
        &["gemm.cutepkg", "--input", "A=missing.npy"],
        "argument A: cannot read missing.npy",
    );
}

#[test]
fn arguments_that_do_not_fit() {
    let bench = Bench::new();
    bench.fails(
        &["gemm.cutepkg", "--function", "gem"],
        "expected a function named `gem`, found `gemm`",
    );
    bench.fails(
        &["gemm.cutepkg", "--input", "X=x.npy"],
        "--input X: expected one of gemm's arguments A, B",
    );
    bench.fails(
        &["gemm.cutepkg", "--input", "C=x.npy"],
        "--input C: expected one of gemm's arguments A, B",
    );
    bench.fails(
        &["gemm.cutepkg", "--output", "A=x.npy"],
        "--output A: expected one of gemm's arguments C",
    );
    bench.fails(
        &["gemm.cutepkg", "--output", "C=x", "--output", "C=y"],
        "found it twice",
    );
    bench.fails(&["gemm.cutepkg", "--input", "A"], "such as A=a.npy");
    bench.fails(
        &["gemm.cutepkg", "gemm.cutepkg", "--output", "C=c.npy"],
        "overwrite each other's file",
    );
    bench.fails(
        &["gemm.cutepkg", "--bench", "--reps", "0"],
        "0 is not in 1..",
    );
    bench.fails(&["gemm.cutepkg", "--interleave"], "--bench");
    bench.fails(&[], "PACKAGE");
}

#[test]
fn info_tells_what_a_package_holds() {
    let bench = Bench::new();
    let text = bench.succeeds(&["gemm.cutepkg", "--info"]);
    for says in [
        "gemm.cutepkg: written by test 1.0",
        "function gemm",
        "| A        | f16     | (64,32):(32,1) | 16 B  | read   |",
        "computes C(m,n) = sum over k of A(m,k) * B(n,k), accumulated in f32",
        "launch 0: gemm_kernel(A, B, C), grid 4x3x1, block 128x1x1, cluster 2x1x1, 65536 B of dynamic shared memory",
        "image sm_80: PTX of 16 B cubin of 14 B",
        "image sm_90a: PTX of 17 B no cubin",
        "24 B, 40 B",
    ] {
        assert!(text.contains(says), "expected `{says}` in:\n{text}");
    }
    let json: serde_json::Value =
        serde_json::from_str(&bench.succeeds(&["gemm.cutepkg", "--info", "--json"])).unwrap();
    assert_eq!(json["functions"][0]["args"][2]["access"], "write");
    assert_eq!(json["images"][0]["kernels"][0]["registers"], 168);
}

#[test]
fn info_counts_the_instructions_of_the_ptx() {
    let bench = Bench::new();
    let ptx = ".version 8.0\n.target sm_80\n.visible .entry first() {\n ld.global.v4.b32 {%a, %b, %c, %d}, [%e];\n \
               ld.global.b32 %a, [%e];\n add.s32 %a, %a, 1;\n ret;\n}\n.visible .entry second() { bar.sync 0; ret; }\n";
    let kernel = |name: &str| KernelInfo {
        name: name.into(),
        ..KernelInfo::default()
    };
    let image = |arch: &str, ptx: Option<&str>, name: &str| ImageSource {
        arch: arch.into(),
        ptx: ptx.map(String::from),
        cubin: Some(b"\x7fELF".to_vec()),
        kernels: vec![kernel(name)],
    };
    let package = Package::builder("test 1.0")
        .image(image("sm_80", Some(ptx), "first"))
        .image(image("sm_89", None, "first"))
        .image(image("sm_90", Some("// nothing\n"), "first"))
        .image(image("sm_120", Some(ptx), "third"))
        .build()
        .unwrap();
    package.write_file(bench.path("mix.cutepkg")).unwrap();

    let text = bench.succeeds(&["mix.cutepkg", "--info"]);
    let row = |name: &str| {
        let line = text.lines().find(|line| {
            line.starts_with(&format!("| {name} ")) && line.matches('|').count() == 15
        });
        let cells = line.unwrap_or_else(|| panic!("{text}")).split('|').skip(2);
        cells.map(str::trim).collect::<Vec<_>>().join("|")
    };
    assert_eq!(row("first"), "0|0|0|1 x 16 B, 1 x 4 B|0|0|0|0|1|0|1|0|4|");
    assert_eq!(row("second"), "0|0|0|0|0|0|0|1|0|0|1|0|2|");
    for says in [
        "instructions: not known: the image carries no PTX",
        "instructions: not known: PTX line 2, column 1: expected `.version`, with which PTX begins, found the end of the text",
        "kernel third is not in the PTX",
    ] {
        assert!(text.contains(says), "expected `{says}` in:\n{text}");
    }

    let json: serde_json::Value =
        serde_json::from_str(&bench.succeeds(&["mix.cutepkg", "--info", "--json"])).unwrap();
    let images = &json["images"];
    let first = &images[0]["instructions"]["first"];
    assert_eq!(first["global_loads"], serde_json::json!({"16": 1, "4": 1}));
    assert_eq!(
        (&first["integer"], &first["control"]),
        (&1.into(), &1.into())
    );
    assert_eq!(images[0]["instructions_error"], serde_json::Value::Null);
    assert_eq!(images[1]["instructions_error"], "the image carries no PTX");
    assert_eq!(images[1]["instructions"], serde_json::Value::Null);
    assert!(
        images[2]["instructions_error"]
            .as_str()
            .unwrap()
            .contains("line 2, column 1")
    );
}

#[test]
fn code_is_extracted() {
    let bench = Bench::new();
    bench.succeeds(&["gemm.cutepkg", "--emit", "cubin", "--to", "gemm.cubin"]);
    assert_eq!(bytes_of(&bench.path("gemm.cubin")), b"\x7fELF, in a way");
    let said = bench.succeeds(&[
        "gemm.cutepkg",
        "--emit",
        "ptx",
        "--arch",
        "sm_90a",
        "--to",
        "gemm.ptx",
    ]);
    assert_eq!(said, "gemm.ptx: PTX for sm_90a, 17 bytes\n");
    assert_eq!(bytes_of(&bench.path("gemm.ptx")), b"// PTX of sm_90a\n");
    bench.fails(
        &["gemm.cutepkg", "--emit", "ptx", "--to", "x"],
        "expected one PTX, found sm_80, sm_90a; choose one with --arch",
    );
    bench.fails(
        &[
            "gemm.cutepkg",
            "--emit",
            "cubin",
            "--arch",
            "sm_90a",
            "--to",
            "x",
        ],
        "expected a cubin for sm_90a, found sm_80",
    );
    bench.fails(&["gemm.cutepkg", "--emit", "ptx"], "--to");
    assert!(!bench.path("x").exists());
}
