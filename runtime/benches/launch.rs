//! Benchmarks of the host's part of a launch, on a driver without a GPU whose calls do nothing.
//!
//! `cargo bench -p cute-runtime --bench launch` measures with criterion, `cargo bench -p cute-runtime --bench launch -- --table` prints
//! the best of many; both need a C compiler. What a call costs beyond the driver's is the difference between a row and `the driver's
//! call alone`. Beside a real driver: `cute-run PACKAGE --bench-launch`.

use std::hint::black_box;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

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

/// The functions: a product of open matrices, and the same with nothing left open and one kernel.
fn functions() -> [(&'static str, Function); 2] {
    let open = Function::from_json(OPEN).expect("a function");
    let mut fixed = open.clone();
    for arg in &mut fixed.args {
        if let cute_runtime::Arg::Tensor { layout, .. } = arg {
            *layout = "(1024,1024):(1024,1)".into();
        }
    }
    fixed.values.clear();
    fixed.requires.clear();
    fixed.launches.truncate(1);
    let launch = &mut fixed.launches[0];
    launch.grid = [64u32, 1, 1].map(Into::into);
    launch.when = None;
    launch.params = (0..3).map(Param::Pointer).collect();
    [("open GEMM, six kernels", open), ("static GEMM", fixed)]
}

/// A function that measures a case: it is given the names of the function and of the case, and what to do once.
type Measure<'m> = dyn FnMut(&str, &str, &mut dyn FnMut()) + 'm;

/// Runs each case by `measure`.
fn each(measure: &mut Measure) {
    let shape = [1024i64, 1024];
    let strides = [1024i64, 1];
    for (name, function) in functions() {
        let package = package(function);
        let function = package.function(None).expect("a function");
        let entry = Entry::on_gpu(&package, function, 0).expect("the driver");
        let arguments = square(&shape, &strides);
        let launch = |arguments: &[Argument]| {
            let done = entry.launch(black_box(arguments), Workspace::none(), Stream::DEFAULT);
            done.expect("a launch");
        };
        let mut bound = entry
            .bind(&arguments, Workspace::none(), Stream::DEFAULT)
            .expect("a call");
        measure(name, "the driver's call alone", &mut || {
            bound.launch().expect("a launch");
        });
        measure(name, "a call", &mut || launch(&arguments));
        // More sizes than are remembered, each another one than the one before.
        if !function.values.is_empty() {
            let sizes: Vec<[[i64; 2]; 2]> = (128..256).map(|n| [[8 * n; 2], [8 * n, 1]]).collect();
            let sizes = sizes.iter().map(|[shape, strides]| square(shape, strides));
            let sizes: Vec<_> = sizes.collect();
            let mut turn = 0;
            measure(name, "a call with other sizes each time", &mut || {
                turn = (turn + 1) % sizes.len();
                launch(&sizes[turn]);
            });
        }
        // What a call took before it was a list of steps, and takes to word an error.
        let given = vec![Given::Shape(shape.to_vec()); 3];
        let tensors = generate_given(function, &given, 0).expect("tensors");
        let signature = Signature::of(function).expect("layouts");
        measure(name, "general code: plan", &mut || {
            let planned = signature.plan(function, black_box(&tensors), 132);
            black_box(planned).expect("a plan");
        });
    }
}

/// The best of many: other work on the machine only adds.
fn table() {
    const SAMPLES: usize = 4000;
    const CALLS: u32 = 50;
    each(&mut |function, case, once| {
        let samples = (0..SAMPLES).map(|_| {
            let start = Instant::now();
            (0..CALLS).for_each(|_| once());
            start.elapsed().as_secs_f64() / f64::from(CALLS)
        });
        let best = samples.fold(f64::INFINITY, f64::min);
        println!("{function:<24} {case:<36} {:>8.0} ns", 1e9 * best);
    });
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
    if std::env::args().any(|a| a == "--table") {
        return table();
    }
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2))
        .sample_size(30)
        .configure_from_args();
    each(&mut |function, case, once| {
        let name = format!("{function}, {case}");
        criterion.bench_function(&name, |b| b.iter(&mut *once));
    });
    criterion.final_summary();
}
