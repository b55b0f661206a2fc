//! Benchmarks of the emulator's speed.
//!
//! `cargo bench -p cute-runtime --bench emulator` measures each kernel with criterion;
//! `cargo bench -p cute-runtime --bench emulator -- --table` prints times and thread instructions a second. `CUTE_BENCH_PACKAGE`
//! names a package whose first function is measured, too.

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::Criterion;
use cute_runtime::device::{Device, Program};
use cute_runtime::emulator::{Config, Emulator};
use cute_runtime::plan::Planned;
use cute_runtime::{
    Access, Arg, Function, HostTensor, ImageSource, KernelInfo, Launch, Package, tensor,
};

/// The PTX that the compiler made of a GEMM of 512 x 512 x 256 f16 for sm_80.
const GEMM: &str = include_str!("gemm_512x512x256.ptx");

/// A kernel to measure.
struct Case {
    name: String,
    /// A block runs on one core.
    blocks: u32,
    package: Package,
    function: Function,
}

/// A kernel that does something 2000 times, and writes to one tensor. %t is the thread, %a the address of its word of shared
/// memory.
fn text(body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.extern .shared .align 16 .b8 smem[];\n\
         .visible .entry k(.param .u64 out)\n{{\n.reg .pred %p; .reg .b32 %t, %a, %i, %x, %y, %z, %h<4>; .reg .b64 %o, %w; .reg .f32 %f<4>;\n\
         mov.u32 %t, %tid.x; shl.b32 %a, %t, 2; mov.u32 %x, smem; add.u32 %a, %a, %x; mov.u32 %y, 1; mov.u32 %z, 2;\n\
         mov.u32 %h0, 0; mov.u32 %h1, 0; mov.u32 %h2, 0; mov.u32 %h3, 0; mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0;\n\
         mov.f32 %f3, %f0; st.shared.u32 [%a], %t; mov.u32 %i, 0;\nL:\n{body}\n\
         add.u32 %i, %i, 1; setp.lt.u32 %p, %i, 2000; @%p bra L;\n\
         ld.param.u64 %o, [out]; mul.wide.u32 %w, %t, 4; add.s64 %o, %o, %w; st.global.u32 [%o], %y; ret;\n}}\n"
    )
}

fn case(name: &str, ptx: String, kernel: &str, sizes: [u32; 3], args: Vec<Arg>) -> Case {
    let [blocks, threads, dynamic_smem] = sizes;
    let function = Function {
        launches: vec![Launch::fixed(
            kernel,
            [blocks, 1, 1],
            [threads, 1, 1],
            dynamic_smem,
            0..args.len(),
        )],
        ..Function::new("f", args, vec![])
    };
    let image = ImageSource {
        arch: "sm_80".into(),
        ptx: Some(ptx),
        cubin: None,
        kernels: vec![KernelInfo {
            name: kernel.into(),
            ..KernelInfo::default()
        }],
    };
    let package = Package::builder("bench")
        .function(function.clone())
        .image(image)
        .build();
    Case {
        name: name.into(),
        blocks,
        package: package.expect("a package"),
        function,
    }
}

fn argument(name: &str, element: &str, layout: &str, access: Access) -> Arg {
    Arg::Tensor {
        name: name.into(),
        element: element.into(),
        layout: layout.into(),
        align: 16,
        access,
    }
}

fn cases() -> Vec<Case> {
    let small = |name, body| {
        let out = argument("out", "i32", "256:1", Access::Write);
        case(name, text(body), "k", [1, 256, 4096], vec![out])
    };
    let mut all = vec![
        small(
            "integers",
            "add.u32 %x, %x, %y; xor.b32 %y, %y, %x; shl.b32 %z, %x, 3; mad.lo.s32 %x, %z, %y, %i; and.b32 %z, %z, 255;\n\
             sub.u32 %y, %x, %z; max.u32 %x, %x, %y; shr.u32 %z, %x, 5;",
        ),
        small(
            "shared memory and barriers",
            "xor.b32 %z, %a, 128; bar.sync 0; ld.shared.u32 %x, [%z]; ld.shared.u32 %y, [%z]; add.u32 %x, %x, %y; bar.sync 0;\n\
             st.shared.u32 [%a], %x;",
        ),
        small(
            "mma",
            "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%h0, %h1, %h2, %h3}, {%h0, %h1}, {%f0, %f1, %f2, %f3};",
        ),
    ];
    let gemm = vec![
        argument("A", "f16", "(512,256):(256,1)", Access::Read),
        argument("B", "f16", "(512,256):(256,1)", Access::Read),
        argument("C", "f16", "(512,512):(512,1)", Access::Write),
    ];
    all.push(case(
        "GEMM 512x512x256 f16",
        GEMM.into(),
        "gemm_kernel",
        [128, 64, 24576],
        gemm,
    ));
    if let Some(path) = std::env::var_os("CUTE_BENCH_PACKAGE") {
        let package = Package::read_file(&path).expect("a package");
        let function = package.function(None).expect("a function").clone();
        all.push(Case {
            name: path.to_string_lossy().into_owned(),
            blocks: fixed_blocks(&function),
            package,
            function,
        });
    }
    all
}

/// Blocks of the first launch.
fn fixed_blocks(function: &Function) -> u32 {
    let planned = Planned::fixed(function, 0).expect("a launch of known size");
    planned.grid.iter().product()
}

fn run(program: &mut dyn Program, tensors: &mut [HostTensor]) {
    // A finding would be measured for nothing.
    program.run(tensors).expect("no findings");
}

/// A kernel that is loaded, and its arguments.
fn prepare<'e>(emulator: &'e Emulator, case: &Case) -> (Box<dyn Program + 'e>, Vec<HostTensor>) {
    let program = emulator
        .load(&case.package, &case.function)
        .expect("a kernel");
    let tensors = tensor::generate(&case.function, 0).expect("tensors");
    (program, tensors)
}

/// Times without loading: the best of some, since other work on the machine only adds.
fn table() {
    const RUNS: usize = 12;
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get() as u32);
    println!(
        "{:<28} {:>10} {:>22} {:>28}",
        "", "ms", "thread instructions", "M a second on each core"
    );
    let emulator = Emulator::new(Config::default());
    for case in cases() {
        let (mut program, mut tensors) = prepare(&emulator, &case);
        let times = (0..RUNS).map(|_| {
            let start = Instant::now();
            run(program.as_mut(), &mut tensors);
            start.elapsed().as_secs_f64()
        });
        let best = times.fold(f64::INFINITY, f64::min);
        let launches = &program.report().expect("a report").launches;
        let threads: u64 = launches
            .iter()
            .map(|launch| launch.thread_instructions)
            .sum();
        let used = f64::from(cores.min(case.blocks));
        println!(
            "{:<28} {:>10.2} {:>22} {:>28.1}",
            case.name,
            1e3 * best,
            threads,
            threads as f64 / best / used / 1e6
        );
    }
}

fn each(criterion: &mut Criterion) {
    let emulator = Emulator::new(Config::default());
    for case in cases() {
        let (mut program, mut tensors) = prepare(&emulator, &case);
        criterion.bench_function(&case.name, |b| {
            b.iter(|| run(program.as_mut(), black_box(&mut tensors)));
        });
    }
}

fn main() {
    if std::env::args().any(|a| a == "--table") {
        return table();
    }
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(3))
        .sample_size(10)
        .configure_from_args();
    each(&mut criterion);
    criterion.final_summary();
}
