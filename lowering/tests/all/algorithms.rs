//! The kernels of `test/compile/algorithms.mlir` on the emulator: what they leave is compared with what they say.

use cute_lowering::{CompileOptions, Compiler, Options};
use cute_runtime::{
    HostTensor,
    device::{Device, DeviceError},
    emulator::{Config, Emulator},
    tensor,
};
use std::path::Path;

/// Small integers, so that every sum is exact.
fn fill(tensor: &mut HostTensor, seed: i64) {
    for i in 0..tensor.layout().size() {
        tensor.set(i, ((i * 7 + i / 5 + seed) % 9 - 4) as f64);
    }
}

fn values(tensor: &HostTensor) -> Vec<f64> {
    (0..tensor.layout().size())
        .map(|i| tensor.get(i).unwrap_or(f64::NAN))
        .collect()
}

/// The arguments of a function before and after a run; the index of an element is colexicographic.
fn run(name: &str, arch: &str, seed: u64) -> (Vec<Vec<f64>>, Vec<Vec<f64>>) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../test/compile/algorithms.mlir");
    let text = std::fs::read_to_string(file).unwrap();
    run_text(&text, name, arch, seed, &|argument, i| fill(argument, i))
}

/// The same of any text; `fill` sets the elements of the argument of a number.
fn run_text(
    text: &str,
    name: &str,
    arch: &str,
    seed: u64,
    fill: &dyn Fn(&mut HostTensor, i64),
) -> (Vec<Vec<f64>>, Vec<Vec<f64>>) {
    let options = CompileOptions::parse(&format!("arch={arch}")).unwrap();
    let compiled = Compiler::new(&options).and_then(|c| c.compile_text("algorithms.mlir", text));
    let package = compiled.unwrap_or_else(|e| panic!("{e}")).package;
    let function = package.function(Some(name)).unwrap();
    let mut arguments = tensor::generate(function, 0).unwrap();
    let mut before = Vec::new();
    for (i, argument) in arguments.iter_mut().enumerate() {
        fill(argument, i as i64);
        before.push(values(argument));
    }
    let emulator = Emulator::new(Config {
        seed,
        ..Config::default()
    });
    let mut program = emulator.load(&package, function).unwrap();
    match program.run(&mut arguments) {
        Ok(()) => {}
        Err(DeviceError::Findings(found)) => {
            panic!("{name}: {}", DeviceError::Findings(found));
        }
        Err(error) => panic!("{name}: {error}"),
    }
    (before, arguments.iter().map(values).collect())
}

/// Runs a function and compares its last argument with `expected` of the arguments, element by element.
fn check(name: &str, expected: impl Fn(&[Vec<f64>], usize) -> f64) {
    for (arch, seed) in [("sm_90a", 0), ("sm_80", 1)] {
        let (before, after) = run(name, arch, seed);
        let last = after.last().unwrap();
        for (i, found) in last.iter().enumerate() {
            assert_eq!(
                *found,
                expected(&before, i),
                "{name} for {arch}, element {i}"
            );
        }
    }
}

#[test]
fn transpose() {
    // B (32,64), A (64,32): B(n,m) = A(m,n).
    check("transpose", |all, i| all[0][i / 32 + i % 32 * 64]);
}

#[test]
fn axpby() {
    check("axpby", |all, i| 2.0 * all[0][i] + 3.0 * all[1][i]);
}

/// The sum over k of A(m,k) B(n,k), for A of `rows` rows and B of `columns`.
fn product(all: &[Vec<f64>], [rows, columns, depth]: [usize; 3], i: usize) -> f64 {
    let (m, n) = (i % rows, i / rows);
    (0..depth)
        .map(|k| all[0][m + k * rows] * all[1][n + k * columns])
        .sum()
}

#[test]
fn multiply_add() {
    check("multiply_add", |all, i| product(all, [32, 32, 16], i));
}

#[test]
fn tensor_cores() {
    check("tensor_cores", |all, i| {
        2.0 * product(all, [64, 32, 32], i) + 3.0 * all[2][i]
    });
}

#[test]
fn reductions() {
    check("reductions", |all, i| {
        let row = (0..24).map(|k| all[0][i % 128 + k * 128]);
        match i / 128 {
            0 => row.sum(),
            1 => row.map(|x| x as f32).product::<f32>().into(),
            2 => row.fold(1.0, f64::min),
            3 => row.fold(0.0, f64::max),
            _ => row.map(|x| x * x).sum(),
        }
    });
}

#[test]
fn orders() {
    check("orders", |all, i| all[0][i]);
}

#[test]
fn ragged() {
    check("ragged", |all, i| all[0][i] + all[1][i]);
}

/// `z = x^y`, of 16 numbers and 16 exponents.
const POWERS: &str = r#"
!numbers = !cute.memref<f32, gmem, align<16>, "16:1">
!table = !cute.memref<f32, gmem, align<16>, "(16,16):(1,16)">
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @powers(%X: !numbers, %Y: !numbers, %Z: !table) kernel attributes {known_block_size = array<i32: 16, 16, 1>} {
      %tx = gpu.thread_id x
      %ty = gpu.thread_id y
      %i = arith.index_cast %tx : index to i32
      %j = arith.index_cast %ty : index to i32
      %of_x = cute.make_coord(%i)
      %of_y = cute.make_coord(%j)
      %of_z = cute.make_coord(%i, %j)
      %x = cute.memref.load(%X, %of_x)
      %y = cute.memref.load(%Y, %of_y)
      %z = math.powf %x, %y : f32
      cute.memref.store(%Z, %of_z, %z)
      gpu.return
    }
  }
  func.func @powers(%X: !numbers, %Y: !numbers, %Z: !table) {
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %s = arith.constant 0 : i32
    gpu.launch_func @kernels::@powers blocks in (%c1, %c1, %c1) threads in (%c16, %c16, %c1) dynamic_shared_memory_size %s args(%X : !numbers, %Y : !numbers, %Z : !table)
    return
  }
}
"#;

#[test]
fn powers() {
    const INFINITE: f32 = f32::INFINITY;
    let numbers = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        -0.5,
        1.0001,
        -3.0,
        2.0,
        1e-3,
        1e3,
        -10.0,
        INFINITE,
        -INFINITE,
        f32::NAN,
        7.25,
    ];
    let exponents = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        2.0,
        3.0,
        0.5,
        -0.5,
        2.5,
        -3.0,
        11.0,
        1e9,
        INFINITE,
        -INFINITE,
        f32::NAN,
        -2.0,
    ];
    let (_, after) = run_text(POWERS, "powers", "sm_90a", 0, &|argument, i| {
        let of = [numbers, exponents];
        let Some(values) = of.get(i as usize) else {
            return;
        };
        for (at, value) in values.iter().enumerate() {
            argument.set(at as i64, f64::from(*value));
        }
    });
    for (j, y) in exponents.into_iter().enumerate() {
        for (i, x) in numbers.into_iter().enumerate() {
            let found = after[2][i + 16 * j] as f32;
            let exact = x.powf(y);
            // C gives 1 for 1 to a NaN, and NaN for -1 to one.
            let same = found.to_bits() == exact.to_bits() || (found.is_nan() && exact.is_nan());
            let slack = y.abs() * x.abs().log2().abs().max(1.0) / (1 << 22) as f32;
            let close = ((found - exact) / exact).abs() <= slack + 1e-6;
            assert!(
                same || close,
                "{x} to the power of {y}: found {found}, expected {exact}"
            );
        }
    }
}
