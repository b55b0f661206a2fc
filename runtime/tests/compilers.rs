//! PTX of other compilers runs on the emulator: nvcc's, with the results that an H100 gave, and Triton's.
//!
//! The sources are beside the PTX in `tests/compilers`.

use cute_runtime::device::Device;
use cute_runtime::emulator::{Config, Emulator};
use cute_runtime::package::{
    Access, Arg, Compute, Function, Gemm, ImageSource, KernelInfo, Launch, Package,
};
use cute_runtime::tensor::{generate, tensor_for};
use cute_runtime::{HostTensor, verify};

/// The type of the words of an input.
#[derive(Clone, Copy)]
enum Kind {
    Integers,
    Floats,
    Halves,
    Doubles,
}

/// Kernels of `nvcc.ptx`, and the CRC-32 of what each wrote on an H100.
const MEASURED: [(&str, Kind, u32); 11] = [
    ("block_sum", Kind::Floats, 0x9a00_2c82),
    ("transpose", Kind::Floats, 0xb3f1_b33e),
    ("histogram", Kind::Integers, 0xf59d_93c8),
    ("pipeline", Kind::Floats, 0x3ad9_70c9),
    ("groups", Kind::Integers, 0xf6cb_677c),
    ("halves", Kind::Halves, 0xe3f0_8886),
    ("fp8s", Kind::Floats, 0x4a4b_c3d5),
    ("doubles", Kind::Doubles, 0x21b8_81ee),
    ("integers", Kind::Integers, 0x8c17_180b),
    ("floats", Kind::Floats, 0xdd06_7a19),
    ("divergent", Kind::Integers, 0x9467_58d9),
];

/// SplitMix64 of an index.
fn random(index: u64) -> u64 {
    let z = (index + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// 16 KiB of values that every format holds exactly.
fn data(kind: Kind, which: u64) -> Vec<u8> {
    let words = |count: u64| (0..count).map(move |i| random(i + which * 65536));
    match kind {
        Kind::Integers => words(4096).flat_map(|h| (h as u32).to_le_bytes()).collect(),
        Kind::Floats => words(4096)
            .map(|h| ((h >> 40) as f32 - (1 << 23) as f32) / (1 << 21) as f32)
            .flat_map(f32::to_le_bytes)
            .collect(),
        Kind::Halves => words(8192)
            .map(|h| half::f16::from_f64(((h & 0x7ff) as f64 - 1024.0) / 256.0))
            .flat_map(half::f16::to_le_bytes)
            .collect(),
        Kind::Doubles => words(2048)
            .map(|h| ((h >> 11) as f64 - (1u64 << 52) as f64) / (1u64 << 50) as f64)
            .flat_map(f64::to_le_bytes)
            .collect(),
    }
}

fn package(function: &Function, ptx: &str) -> Package {
    let name = function.launches[0].kernel.clone();
    let image = ImageSource {
        arch: "sm_80".into(),
        cubin: None,
        ptx: Some(ptx.into()),
        kernels: vec![KernelInfo {
            name,
            ..Default::default()
        }],
    };
    let builder = Package::builder("test").function(function.clone());
    builder.image(image).build().unwrap()
}

fn run(function: &Function, ptx: &str, seed: u64, tensors: &mut [HostTensor]) {
    let emulator = Emulator::new(Config {
        seed,
        ..Config::default()
    });
    let package = package(function, ptx);
    let mut program = emulator
        .load(&package, function)
        .unwrap_or_else(|error| panic!("{}: {error}", function.name));
    program
        .run(tensors)
        .unwrap_or_else(|error| panic!("{}, seed {seed}: {error}", function.name));
}

#[test]
fn kernels_of_nvcc_give_what_an_h100_gave() {
    let ptx = include_str!("compilers/nvcc.ptx");
    for (name, kind, expected) in MEASURED {
        let args: Vec<Arg> = ["a", "b", "c"]
            .iter()
            .map(|arg| Arg::Tensor {
                name: (*arg).into(),
                element: "i32".into(),
                layout: "4096:1".into(),
                align: 16,
                access: if *arg == "c" {
                    Access::ReadWrite
                } else {
                    Access::Read
                },
            })
            .collect();
        let function = Function::new(
            name,
            args,
            vec![Launch::fixed(
                name,
                [4, 1, 1],
                [128, 1, 1],
                16384,
                [0, 1, 2],
            )],
        );
        for seed in 0..3 {
            // Words that no thread writes stay all ones, as they were on the GPU.
            let mut tensors: Vec<HostTensor> = function
                .args
                .iter()
                .map(|arg| tensor_for(arg).unwrap())
                .collect();
            for (which, tensor) in tensors.iter_mut().take(2).enumerate() {
                let bytes = data(kind, which as u64);
                tensor.bytes_mut().copy_from_slice(&bytes);
            }
            run(&function, ptx, seed, &mut tensors);
            let found = crc32fast::hash(tensors[2].bytes());
            assert_eq!(found, expected, "{name}, seed {seed}: {found:#x}");
        }
    }
}

#[test]
fn a_matrix_product_of_triton_is_right() {
    let matrix = |name: &str, layout: &str, access| Arg::Tensor {
        name: name.into(),
        element: "f16".into(),
        layout: layout.into(),
        align: 16,
        access,
    };
    let function = Function::new(
        "matmul",
        vec![
            matrix("A", "(128,128):(128,1)", Access::Read),
            // B as (N,K).
            matrix("B", "(128,128):(1,128)", Access::Read),
            matrix("C", "(128,128):(128,1)", Access::Write),
        ],
        vec![Launch::fixed(
            "t_matmul",
            [2, 2, 1],
            [128, 1, 1],
            24576,
            // Triton adds two pointers to scratch memory, which it does not use here.
            [0, 1, 2, 2, 2],
        )],
    )
    .computing(vec![Compute::Gemm(Gemm::new(0, 1, 2, "f32"))]);
    for seed in 0..4 {
        let mut tensors = generate(&function, seed).unwrap();
        run(
            &function,
            include_str!("compilers/triton.ptx"),
            seed,
            &mut tensors,
        );
        let config = verify::Config::default();
        for report in verify::verify(&function, &tensors, &config).unwrap() {
            assert!(report.passed(), "{report:?}");
        }
    }
}
