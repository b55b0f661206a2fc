//! The CUDA device, with kernels written by hand. Run on a machine with a GPU of compute capability
//! 9.0 or newer: `cargo test -p cute-runtime-tests --test gpu -- --ignored --test-threads 1`.

use cute_runtime::cuda::CudaDevice;
use cute_runtime::device::{Device, DeviceError, TimingConfig, Work, measure};
use cute_runtime::verify::{self, Data, Failure};
use cute_runtime::{
    Access, Arg, Compute, Function, Gemm, HostTensor, ImageSource, KernelInfo, Launch, Package,
    tensor,
};

const M: usize = 192;
const N: usize = 160;
const K: usize = 96;
/// Rows of C are longer than what is written: there is padding.
const LDC: usize = 168;
const SMEM: u32 = 65536;

/// A thread computes one element of C. `before_store` may use %m, %n, %pa (A), %pc (C) and %c (the
/// element's address).
fn ptx(target: &str, before_store: &str) -> String {
    format!(
        ".version 7.8
.target {target}
.address_size 64
.extern .shared .align 16 .b8 smem[];
.visible .entry gemm(.param .u64 a, .param .u64 b, .param .u64 c)
{{
  .reg .pred %p<4>; .reg .b16 %h<4>; .reg .f32 %f<4>; .reg .b32 %r<8>; .reg .b32 %m, %n, %k;
  .reg .b64 %pa, %pb, %pc, %a, %b, %c, %rd<4>;
  ld.param.u64 %pa, [a]; ld.param.u64 %pb, [b]; ld.param.u64 %pc, [c];
  cvta.to.global.u64 %pa, %pa; cvta.to.global.u64 %pb, %pb; cvta.to.global.u64 %pc, %pc;
  mov.u32 %r0, %ctaid.x; mov.u32 %r1, %tid.x; mad.lo.u32 %m, %r0, 16, %r1;
  mov.u32 %r0, %ctaid.y; mov.u32 %r1, %tid.y; mad.lo.u32 %n, %r0, 16, %r1;
  mul.wide.u32 %rd0, %m, {row}; add.u64 %a, %pa, %rd0;
  mul.wide.u32 %rd0, %n, {row}; add.u64 %b, %pb, %rd0;
  mul.wide.u32 %rd0, %m, {row_c}; add.u64 %c, %pc, %rd0;
  mul.wide.u32 %rd0, %n, 2; add.u64 %c, %c, %rd0;
  mov.f32 %f0, 0f00000000; mov.u32 %k, 0;
loop:
  ld.global.b16 %h0, [%a]; ld.global.b16 %h1, [%b];
  cvt.f32.f16 %f1, %h0; cvt.f32.f16 %f2, %h1; fma.rn.f32 %f0, %f1, %f2, %f0;
  add.u64 %a, %a, 2; add.u64 %b, %b, 2; add.u32 %k, %k, 1;
  setp.lt.u32 %p0, %k, {K}; @%p0 bra loop;
  // Through the last bytes of the dynamic shared memory, which is more than 48 KB.
  mov.u32 %r2, %tid.x; mov.u32 %r3, %tid.y; mad.lo.u32 %r2, %r3, 16, %r2; shl.b32 %r2, %r2, 2;
  mov.u32 %r3, smem; add.u32 %r3, %r3, {smem_from}; add.u32 %r3, %r3, %r2;
  st.shared.f32 [%r3], %f0; ld.shared.f32 %f0, [%r3];
  cvt.rn.f16.f32 %h2, %f0;
  {before_store}
  st.global.b16 [%c], %h2;
done:
  ret;
}}
",
        row = 2 * K,
        row_c = 2 * LDC,
        smem_from = SMEM - 1024,
    )
}

fn package(arch: &str, cluster: [u32; 3], before_store: &str) -> Package {
    let arg = |name: &str, layout: String, access| Arg::Tensor {
        name: name.into(),
        element: "f16".into(),
        layout,
        align: 16,
        access,
    };
    let function = Function::new(
        "gemm",
        vec![
            arg("A", format!("({M},{K}):({K},1)"), Access::Read),
            arg("B", format!("({N},{K}):({K},1)"), Access::Read),
            arg("C", format!("({M},{N}):({LDC},1)"), Access::Write),
        ],
        vec![Launch {
            cluster,
            ..Launch::fixed(
                "gemm",
                [M as u32 / 16, N as u32 / 16, 1],
                [16, 16, 1],
                SMEM,
                0..3,
            )
        }],
    )
    .computing(vec![Compute::Gemm(Gemm::new(0, 1, 2, "f32"))]);
    let kernel = KernelInfo {
        name: "gemm".into(),
        params: vec![".u64".into(); 3],
        ..KernelInfo::default()
    };
    let image = ImageSource {
        arch: arch.into(),
        ptx: Some(ptx(arch, before_store)),
        cubin: None,
        kernels: vec![kernel],
    };
    Package::builder("test")
        .function(function)
        .image(image)
        .build()
        .unwrap()
}

fn run(package: &Package) -> Result<Vec<HostTensor>, DeviceError> {
    let function = package.function(None).unwrap();
    let mut tensors = tensor::generate(function, 1).unwrap();
    let device = CudaDevice::open(0)?;
    let mut program = device.load(package, function)?;
    program.run(&mut tensors)?;
    Ok(tensors)
}

fn failures(package: &Package) -> Vec<Failure> {
    let tensors = run(package).unwrap();
    let config = verify::Config {
        data: Data::IndependentMeanZero,
        ..verify::Config::default()
    };
    verify::verify(package.function(None).unwrap(), &tensors, &config)
        .unwrap()
        .remove(0)
        .failures
}

#[test]
#[ignore = "needs a GPU"]
fn right_kernels_are_right() {
    assert_eq!(failures(&package("sm_80", [1, 1, 1], "")), []);
    // Stores only where the cluster is as asked for.
    let in_cluster = "mov.u32 %r4, %cluster_nctaid.x; setp.ne.u32 %p1, %r4, 4; @%p1 bra done;";
    assert_eq!(failures(&package("sm_90", [4, 1, 1], in_cluster)), []);
    let alone = failures(&package("sm_90", [1, 1, 1], in_cluster));
    assert!(
        matches!(alone[..], [Failure::Unwritten { .. }]),
        "{alone:?}"
    );
}

#[test]
#[ignore = "needs a GPU"]
fn ptx_is_compiled_with_a_note() {
    let package = package("sm_80", [1, 1, 1], "");
    let device = CudaDevice::open(0).unwrap();
    let program = device
        .load(&package, package.function(None).unwrap())
        .unwrap();
    assert_eq!(program.code(), "sm_80 PTX");
    assert_eq!(
        program.note(),
        Some("the driver compiled the PTX for sm_80")
    );
}

#[test]
#[ignore = "needs a GPU"]
fn wrong_kernels_are_found() {
    let skip = "setp.eq.u32 %p1, %m, 5; setp.eq.and.u32 %p1, %n, 7, %p1; @%p1 bra done;";
    let found = failures(&package("sm_80", [1, 1, 1], skip));
    assert_eq!(
        found,
        [Failure::Unwritten {
            name: "C".into(),
            count: 1,
            row: 5,
            column: 7
        }]
    );

    let nan = "setp.eq.u32 %p1, %m, 5; setp.eq.and.u32 %p1, %n, 7, %p1; @%p1 mov.b16 %h2, 0x7fff;";
    let found = failures(&package("sm_80", [1, 1, 1], nan));
    assert_eq!(
        found,
        [Failure::NotANumber {
            name: "C".into(),
            count: 1,
            row: 5,
            column: 7
        }]
    );

    let zero = "setp.eq.u32 %p1, %m, 190; setp.eq.and.u32 %p1, %n, 159, %p1; @%p1 mov.b16 %h2, 0;";
    let found = failures(&package("sm_80", [1, 1, 1], zero));
    assert!(
        matches!(&found[..], [Failure::Elements { count: 1, worst, .. }, ..] if (worst.row, worst.column) == (190, 159)),
        "{found:?}"
    );

    let padding = "setp.eq.u32 %p1, %m, 0; setp.eq.and.u32 %p1, %n, 0, %p1; @%p1 st.global.b16 [%c+322], %h2;";
    let found = failures(&package("sm_80", [1, 1, 1], padding));
    assert!(
        matches!(found[..], [Failure::Padding { byte: 322, .. }]),
        "{found:?}"
    );
}

#[test]
#[ignore = "needs a GPU"]
fn writes_out_of_bounds_are_found() {
    let before = "setp.eq.u32 %p1, %m, 0; setp.eq.and.u32 %p1, %n, 0, %p1; @%p1 st.global.b16 [%pc+-6], %h2;";
    let error = run(&package("sm_80", [1, 1, 1], before)).unwrap_err();
    assert!(
        matches!(
            error,
            DeviceError::OutOfBounds {
                side: "before",
                count: 2,
                distance: 5,
                ..
            }
        ),
        "{error}"
    );

    // One more row.
    let after = format!(
        "add.u64 %rd1, %c, {}; setp.eq.u32 %p1, %m, {}; @%p1 st.global.b16 [%rd1], %h2;",
        2 * LDC,
        M - 1
    );
    let error = run(&package("sm_80", [1, 1, 1], &after)).unwrap_err();
    assert!(
        matches!(error, DeviceError::OutOfBounds { side: "after", .. }) && error.is_wrong_result(),
        "{error}"
    );

    let input = "setp.eq.u32 %p1, %m, 0; setp.eq.and.u32 %p1, %n, 0, %p1; @%p1 st.global.b16 [%pa+10], %h2;";
    let error = run(&package("sm_80", [1, 1, 1], input)).unwrap_err();
    assert!(
        matches!(error, DeviceError::InputChanged { byte: 10 | 11, .. }),
        "{error}"
    );
}

#[test]
#[ignore = "needs a GPU"]
fn what_the_gpu_cannot_do_is_refused() {
    let error = run(&package("sm_80", [1, 1, 1], "this is no instruction;"))
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("loading the PTX for sm_80 failed: CUDA_ERROR_INVALID_PTX"),
        "{error}"
    );
    assert!(
        error.contains("Parsing error near"),
        "the compiler's words: {error}"
    );
    let error = CudaDevice::open(1000).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("GPU 1000 was asked for"), "{error}");
    let error = run(&package("sm_121a", [1, 1, 1], ""))
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("no code for this GPU: the package has sm_121a (PTX)"),
        "{error}"
    );
}

#[test]
#[ignore = "needs a GPU"]
fn times_are_plausible() {
    let packages = [
        package("sm_80", [1, 1, 1], ""),
        package("sm_90", [2, 1, 1], ""),
    ];
    let device = CudaDevice::open(0).unwrap();
    let mut programs: Vec<_> = packages
        .iter()
        .map(|p| device.load(p, p.function(None).unwrap()).unwrap())
        .collect();
    let function = packages[0].function(None).unwrap();
    let tensors = tensor::generate(function, 1).unwrap();
    let mut watches: Vec<_> = programs
        .iter_mut()
        .map(|p| p.stopwatch(&tensors).unwrap())
        .collect();
    let work = [Work::of(function, &tensors); 2];
    let config = TimingConfig {
        warmup: 5,
        reps: 50,
    };
    for m in measure(&mut watches, &work, &config).unwrap() {
        assert_eq!(m.work.flops, Some(2.0 * (M * N * K) as f64));
        assert!(m.sets > 100, "{m:?}");
        assert!(
            (1e-7..1e-3).contains(&m.each.median) && (1e-7..1e-3).contains(&m.batch),
            "{m:?}"
        );
        assert!(
            m.each.min <= m.each.p10 && m.each.p90 <= m.each.max,
            "{m:?}"
        );
    }
}
