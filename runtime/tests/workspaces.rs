//! Functions with a workspace and with launches on a condition, on the emulator.

use cute_runtime::cuda::CudaDevice;
use cute_runtime::device::{Device, DeviceError, TimingConfig, Work, measure};
use cute_runtime::emulator::{Config, Emulator};
use cute_runtime::package::{Expr, Op, Param};
use cute_runtime::tensor::{Given, generate_given};
use cute_runtime::{Access, Arg, Function, HostTensor, ImageSource, KernelInfo, Launch, Package};

/// `halve` puts half of each number of x into the workspace, `twice` makes y of two of each number there; `copy` makes y of x.
const PTX: &str = "
.version 8.0
.target sm_80
.address_size 64
.visible .entry halve(.param .u64 x, .param .u64 w)
{
  .reg .b32 %r<4>; .reg .b64 %d<4>; .reg .f32 %f<4>;
  ld.param.u64 %d1, [x]; ld.param.u64 %d2, [w]; mov.u32 %r1, %tid.x; mul.wide.u32 %d3, %r1, 4;
  add.u64 %d1, %d1, %d3; add.u64 %d2, %d2, %d3; ld.global.f32 %f1, [%d1]; mul.f32 %f1, %f1, 0f3f000000; st.global.f32 [%d2], %f1;
  ret;
}
.visible .entry twice(.param .u64 w, .param .u64 y)
{
  .reg .b32 %r<4>; .reg .b64 %d<4>; .reg .f32 %f<4>;
  ld.param.u64 %d1, [w]; ld.param.u64 %d2, [y]; mov.u32 %r1, %tid.x; mul.wide.u32 %d3, %r1, 4;
  add.u64 %d1, %d1, %d3; add.u64 %d2, %d2, %d3; ld.global.f32 %f1, [%d1]; add.f32 %f1, %f1, %f1; st.global.f32 [%d2], %f1;
  ret;
}
.visible .entry copy(.param .u64 x, .param .u64 y)
{
  .reg .b32 %r<4>; .reg .b64 %d<4>; .reg .f32 %f<4>;
  ld.param.u64 %d1, [x]; ld.param.u64 %d2, [y]; mov.u32 %r1, %tid.x; mul.wide.u32 %d3, %r1, 4;
  add.u64 %d1, %d1, %d3; add.u64 %d2, %d2, %d3; ld.global.f32 %f1, [%d1]; st.global.f32 [%d2], %f1;
  ret;
}
";

const AT: i64 = 256;

/// y = x of at most 32 numbers: through the workspace where there are more than eight, else at once.
fn function() -> Function {
    let tensor = |name: &str, access| Arg::Tensor {
        name: name.into(),
        element: "f32".into(),
        layout: "(?):(1)".into(),
        align: 4,
        access,
    };
    let n = || Expr::Leaf(0, 0);
    let op = |op, a: Expr, b: Expr| Expr::apply(op, vec![a, b]);
    let many = op(Op::Lt, Expr::Constant(8), n());
    let few = op(Op::Le, n(), Expr::Constant(8));
    let launch = |kernel: &str, params: [Param; 2], when: &Expr| Launch {
        block: [n(), Expr::Constant(1), Expr::Constant(1)],
        params: params.into(),
        when: Some(when.clone()),
        ..Launch::fixed(kernel, [1, 1, 1], [32, 1, 1], 0, [])
    };
    let memory = || Param::Workspace(Expr::Constant(AT));
    let bytes = op(
        Op::Add,
        Expr::Constant(AT),
        op(Op::Mul, n(), Expr::Constant(4)),
    );
    let bytes = Expr::apply(Op::Select, vec![many.clone(), bytes, Expr::Constant(AT)]);
    Function {
        workspace: Some(bytes),
        ..Function::new(
            "copy",
            vec![tensor("x", Access::Read), tensor("y", Access::Write)],
            vec![
                launch("halve", [Param::Pointer(0), memory()], &many),
                launch("copy", [Param::Pointer(0), Param::Pointer(1)], &few),
                launch("twice", [memory(), Param::Pointer(1)], &many),
            ],
        )
    }
}

fn package(function: Function) -> Package {
    let kernel = |name: &str| KernelInfo {
        name: name.into(),
        params: vec![".u64".into(); 2],
        ..KernelInfo::default()
    };
    let image = ImageSource {
        arch: "sm_80".into(),
        ptx: Some(PTX.into()),
        cubin: None,
        kernels: ["halve", "twice", "copy"].map(kernel).into(),
    };
    let package = Package::builder("test").function(function).image(image);
    let package = package.build().unwrap();
    Package::from_bytes(&package.to_bytes().unwrap()).unwrap()
}

fn run(function: Function, n: i64) -> (Result<(), DeviceError>, Vec<HostTensor>, usize) {
    let package = package(function);
    let function = package.function(None).unwrap();
    let emulator = Emulator::new(Config::default());
    let mut program = emulator.load(&package, function).unwrap();
    let given = [Given::Shape(vec![n]), Given::Shape(vec![n])];
    let mut tensors = generate_given(function, &given, 3).unwrap();
    let result = program.run(&mut tensors);
    let launches = program.report().map_or(0, |report| report.launches.len());
    (result, tensors, launches)
}

#[test]
fn launches_share_the_workspace() {
    for (n, launches) in [(32, 2), (9, 2), (8, 1), (1, 1)] {
        let (result, tensors, found) = run(function(), n);
        result.unwrap();
        assert_eq!(tensors[1].bytes(), tensors[0].bytes(), "{n}");
        assert_eq!(found, launches, "{n}");
    }
}

#[track_caller]
fn finds(change: impl FnOnce(&mut Function), n: i64, says: &[&str]) {
    let mut changed = function();
    change(&mut changed);
    let error = run(changed, n).0.unwrap_err().to_string();
    for text in says {
        assert!(error.contains(text), "expected `{text}` in: {error}");
    }
}

#[test]
fn mistakes_in_the_workspace_are_found() {
    // Nothing wrote what is read.
    finds(
        |f| drop(f.launches.remove(0)),
        32,
        &[
            "uninitialised memory",
            "kernel twice",
            "workspace at byte 256",
        ],
    );
    // Four bytes are missing at the end.
    finds(
        |f| {
            let all = f.workspace.take().unwrap_or(Expr::Constant(0));
            f.workspace = Some(Expr::apply(Op::Sub, vec![all, Expr::Constant(4)]));
        },
        32,
        &["workspace"],
    );
    finds(
        |f| f.workspace = Some(Expr::Constant(1 << 38)),
        32,
        &["the workspace of copy: expected at most 1073741824 bytes, found 274877906944"],
    );
    // Without a launch nothing is written.
    finds(
        |f| f.launches[1].when = Some(Expr::Constant(0)),
        8,
        &["y at element (0)"],
    );
}

#[test]
#[ignore = "needs a GPU"]
fn a_gpu_has_a_workspace() {
    let device = CudaDevice::open(0).unwrap();
    let arguments = |function: &Function, n: i64| {
        let given = [Given::Shape(vec![n]), Given::Shape(vec![n])];
        generate_given(function, &given, 3).unwrap()
    };
    let package_of = package(function());
    let right = package_of.function(None).unwrap();
    let mut program = device.load(&package_of, right).unwrap();
    for n in [32, 9, 8, 1] {
        let mut tensors = arguments(right, n);
        program.run(&mut tensors).unwrap();
        assert_eq!(tensors[1].bytes(), tensors[0].bytes(), "{n}");
        // Runs in a row have one workspace.
        let watch = program.stopwatch(&tensors).unwrap();
        let config = TimingConfig { warmup: 2, reps: 5 };
        let measured = measure(&mut [watch], &[Work::default()], &config).unwrap();
        assert_eq!(measured[0].reps, 5);
    }
    // Four bytes are missing at the end, for which there is a guard.
    let mut short = function();
    let all = short.workspace.take().unwrap_or(Expr::Constant(0));
    short.workspace = Some(Expr::apply(Op::Sub, vec![all, Expr::Constant(4)]));
    let package_of = package(short);
    let short = package_of.function(None).unwrap();
    let mut program = device.load(&package_of, short).unwrap();
    let error = program.run(&mut arguments(short, 32)).unwrap_err();
    let found = matches!(
        &error,
        DeviceError::OutOfBounds { name, count: 4, distance: 1, side: "after" } if name == "(workspace)"
    );
    assert!(found, "{error}");
}
