//! Benchmarks of the host's part of a launch, on a driver without a GPU whose calls do nothing.
//!
//! `cargo bench -p cute-runtime --bench launch`; needs a C compiler. What a call costs beyond the driver's is the difference between
//! a row and `the driver's call alone`. Beside a real driver: `cute-run PACKAGE --bench-launch`.

use std::hint::black_box;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use criterion::Criterion;
use cute_runtime::call::{Argument, Entry, Memory, Stream, TensorView, Workspace};
use cute_runtime::plan::Signature;
use cute_runtime::tensor::{Given, generate_given};
use cute_runtime::{Element, Function, ImageSource, KernelInfo, Package, Param};

/// A product of open matrices as the compiler writes it: six kernels, of which the sizes choose.
const OPEN: &str = include_str!("open_gemm.json");
/// The driver.
const DRIVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/driver/cuda.c");
/// Set in the process that has the driver.
const READY: &str = "CUTE_BENCH_DRIVER";

/// Runs this program again with the driver in the place of CUDA's.
fn with_driver() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let library = folder.path().join("libcuda.so.1");
    let built = Command::new("cc")
        .args(["-O2", "-shared", "-fPIC", "-o"])
        .args([&library, Path::new(DRIVER)])
        .status();
    assert!(built.expect("a C compiler").success());
    folder
}

fn package(function: Function) -> Package {
    // The driver reads comments alone.
    let mut ptx = String::new();
    let mut kernels = Vec::new();
    for launch in &function.launches {
        let bytes = launch.params.iter();
        let bytes = bytes.map(|param| param.bytes(&function).unwrap_or(8).to_string());
        let bytes: Vec<String> = bytes.collect();
        ptx += &format!("//params {} {}\n", launch.kernel, bytes.join(" "));
        kernels.push(KernelInfo {
            name: launch.kernel.clone(),
            ..KernelInfo::default()
        });
    }
    let image = ImageSource {
        arch: "sm_80".into(),
        ptx: Some(ptx),
        cubin: None,
        kernels,
    };
    let package = Package::builder("bench").function(function).image(image);
    package.build().expect("a package")
}

/// Three square matrices, apart from each other.
fn square<'a>(shape: &'a [i64; 2], strides: &'a [i64; 2]) -> Vec<Argument<'a>> {
    let matrix = |at: u64| {
        // SAFETY: the driver reads no memory.
        let view = unsafe {
            TensorView::from_raw(
                at << 32,
                Element::F16,
                shape,
                Some(strides),
                Memory::Cuda(0),
            )
        };
        Argument::Tensor(view.expect("a view"))
    };
    (1..=3).map(matrix).collect()
}

fn each(criterion: &mut Criterion) {
    let open: Function = serde_json::from_str(OPEN).expect("a function");
    // The same with nothing left open, and one kernel.
    let mut fixed = open.clone();
    let closed: Vec<String> = ["A", "B", "C"]
        .map(|_| "(1024,1024):(1024,1)".into())
        .into();
    for (arg, text) in fixed.args.iter_mut().zip(closed) {
        if let cute_runtime::Arg::Tensor { layout, .. } = arg {
            *layout = text;
        }
    }
    fixed.values.clear();
    fixed.requires.clear();
    fixed.computes.truncate(1);
    fixed.launches.truncate(1);
    let launch = &mut fixed.launches[0];
    launch.grid = [64u32, 1, 1].map(Into::into);
    launch.when = None;
    launch.params = (0..3).map(Param::Pointer).collect();

    let shape = [1024i64, 1024];
    let strides = [1024i64, 1];
    for (name, function) in [("open GEMM, six kernels", open), ("static GEMM", fixed)] {
        let mut group = criterion.benchmark_group(name);
        let package = package(function);
        let function = package.function(None).expect("a function");
        let entry = Entry::on_gpu(&package, function, 0).expect("the driver");
        let arguments = square(&shape, &strides);
        let mut bound = entry
            .bind(&arguments, Workspace::none(), Stream::DEFAULT)
            .expect("a call");
        group.bench_function("the driver's call alone", |b| b.iter(|| bound.launch()));
        group.bench_function("a call", |b| {
            b.iter(|| entry.launch(black_box(&arguments), Workspace::none(), Stream::DEFAULT));
        });
        // More sizes than are remembered, each another one than the one before.
        let sizes: Vec<[[i64; 2]; 2]> = (128..256).map(|n| [[8 * n; 2], [8 * n, 1]]).collect();
        let sizes: Vec<_> = sizes
            .iter()
            .map(|[shape, strides]| square(shape, strides))
            .collect();
        if entry
            .launch(&sizes[1], Workspace::none(), Stream::DEFAULT)
            .is_ok()
        {
            let mut turn = 0;
            group.bench_function("a call with other sizes each time", |b| {
                b.iter(|| {
                    turn = (turn + 1) % sizes.len();
                    entry.launch(black_box(&sizes[turn]), Workspace::none(), Stream::DEFAULT)
                });
            });
        }
        // What a call took before it was a list of steps, and takes to word an error.
        let given = vec![Given::Shape(shape.to_vec()); 3];
        let tensors = generate_given(function, &given, 0).expect("tensors");
        let signature = Signature::of(function).expect("layouts");
        group.bench_function("general code: plan", |b| {
            b.iter(|| signature.plan(function, black_box(&tensors), 132));
        });
        group.finish();
    }
}

fn main() {
    if std::env::var_os(READY).is_none() {
        let folder = with_driver();
        let mut again = Command::new(std::env::current_exe().expect("this program"));
        again.args(std::env::args_os().skip(1));
        again.env("LD_LIBRARY_PATH", folder.path()).env(READY, "1");
        let status = again.status().expect("this program");
        drop(folder);
        std::process::exit(status.code().unwrap_or(1));
    }
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2))
        .sample_size(30)
        .configure_from_args();
    each(&mut criterion);
    criterion.final_summary();
}
