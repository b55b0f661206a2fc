//! Calls with memory and streams of cudarc, on a GPU of compute capability 8.0 or newer:
//! `cargo test -p cute-runtime-tests --test calls_gpu -- --ignored --test-threads 1`.

use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaSlice, CudaStream, DevicePtr, sys};
use cute_runtime::call::{Argument, CudarcTensor, Entry, Memory, Stream, TensorView, Workspace};
use cute_runtime::package::{Expr, Op, Param};
use cute_runtime::{Access, Arg, Element, Function, ImageSource, KernelInfo, Launch, Package};

/// `y = 2 x` of any number of elements, through the workspace: `twice` leaves it there, and `copy` takes it.
const PTX: &str = "
.version 7.8
.target sm_80
.address_size 64
.visible .entry twice(.param .u64 x, .param .u64 w, .param .u32 n)
{
  .reg .pred %p; .reg .b32 %r<6>; .reg .b64 %d<4>; .reg .f32 %f<2>;
  ld.param.u64 %d1, [x]; ld.param.u64 %d2, [w]; ld.param.u32 %r2, [n];
  mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mov.u32 %r1, %tid.x; mad.lo.u32 %r1, %r3, %r4, %r1;
  setp.ge.u32 %p, %r1, %r2; @%p ret;
  mul.wide.u32 %d3, %r1, 4; add.u64 %d1, %d1, %d3; add.u64 %d2, %d2, %d3;
  ld.global.f32 %f1, [%d1]; add.f32 %f1, %f1, %f1; st.global.f32 [%d2], %f1;
  ret;
}
.visible .entry copy(.param .u64 x, .param .u64 w, .param .u32 n)
{
  .reg .pred %p; .reg .b32 %r<6>; .reg .b64 %d<4>; .reg .f32 %f<2>;
  ld.param.u64 %d1, [x]; ld.param.u64 %d2, [w]; ld.param.u32 %r2, [n];
  mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mov.u32 %r1, %tid.x; mad.lo.u32 %r1, %r3, %r4, %r1;
  setp.ge.u32 %p, %r1, %r2; @%p ret;
  mul.wide.u32 %d3, %r1, 4; add.u64 %d1, %d1, %d3; add.u64 %d2, %d2, %d3;
  ld.global.f32 %f1, [%d1]; st.global.f32 [%d2], %f1;
  ret;
}
";

fn package() -> Package {
    let tensor = |name: &str, access| Arg::Tensor {
        name: name.into(),
        element: "f32".into(),
        layout: "(?):(1)".into(),
        align: 4,
        access,
    };
    let n = || Expr::Leaf(0, 0);
    let launch = |kernel: &str, from: Param, to: Param| Launch {
        grid: [
            Expr::apply(Op::CeilDiv, vec![n(), Expr::Constant(128)]),
            Expr::Constant(1),
            Expr::Constant(1),
        ],
        params: vec![from, to, Param::Leaf(0, 0)],
        ..Launch::fixed(kernel, [1, 1, 1], [128, 1, 1], 0, [])
    };
    let memory = || Param::Workspace(Expr::Constant(0));
    let function = Function {
        workspace: Some(Expr::apply(Op::Mul, vec![n(), Expr::Constant(4)])),
        ..Function::new(
            "double",
            vec![tensor("x", Access::Read), tensor("y", Access::Write)],
            vec![
                launch("twice", Param::Pointer(0), memory()),
                launch("copy", memory(), Param::Pointer(1)),
            ],
        )
    };
    let kernel = |name: &str| KernelInfo {
        name: name.into(),
        ..KernelInfo::default()
    };
    let image = ImageSource {
        arch: "sm_80".into(),
        ptx: Some(PTX.into()),
        cubin: None,
        kernels: ["twice", "copy"].map(kernel).into(),
    };
    let builder = Package::builder("test").function(function).image(image);
    builder.build().unwrap()
}

fn entry() -> Entry {
    let package = package();
    Entry::on_gpu(&package, package.function(None).unwrap(), 0).unwrap()
}

fn numbers(count: usize, from: usize) -> Vec<f32> {
    (from..from + count).map(|i| i as f32).collect()
}

fn doubled(values: &[f32]) -> Vec<f32> {
    values.iter().map(|value| 2.0 * value).collect()
}

/// The memory of a slice, whoever orders its uses.
fn address(slice: &CudaSlice<u8>, stream: &Arc<CudaStream>) -> u64 {
    let (address, _order) = slice.device_ptr(stream);
    address
}

#[test]
#[ignore = "needs a GPU"]
fn slices_of_cudarc_are_read_and_written() {
    let entry = entry();
    let stream = CudaContext::new(0).unwrap().new_stream().unwrap();
    for count in [1, 1000, 100_000] {
        let values = numbers(count, 3);
        let x = stream.clone_htod(&values).unwrap();
        let mut y: CudaSlice<f32> = stream.alloc_zeros(count).unwrap();
        let memory: CudaSlice<u8> = stream.alloc_zeros(4 * count).unwrap();
        let shape = [count as i64];
        {
            // SAFETY: the call is on the stream, and queued before these go.
            let (x, y) = unsafe {
                let x = CudarcTensor::read::<f32, _>(&x, &stream, &shape, None).unwrap();
                let y = CudarcTensor::write::<f32, _>(&mut y, &stream, &shape, None).unwrap();
                (x, y)
            };
            let call = [x.view().into(), y.view().into()];
            let bytes = entry.workspace_bytes(&call).unwrap();
            assert_eq!(bytes, 4 * count as u64);
            // SAFETY: the memory is as long, and freed in the order of the stream.
            let workspace =
                unsafe { Workspace::from_raw(address(&memory, &stream), bytes, Memory::Cuda(0)) };
            entry
                .launch(&call, workspace, Stream::from(&*stream))
                .unwrap();
        }
        assert_eq!(stream.clone_dtoh(&y).unwrap(), doubled(&values));
        let long = [count as i64 + 1];
        // SAFETY: it is refused.
        let error = unsafe { CudarcTensor::read::<f32, _>(&x, &stream, &long, None) };
        assert!(
            error
                .err()
                .unwrap()
                .to_string()
                .contains("a slice of at least")
        );
    }
}

/// A call is captured, and what it launched runs on what the memory holds later.
#[test]
#[ignore = "needs a GPU"]
fn calls_are_captured_in_graphs() {
    let entry = entry();
    let context = CudaContext::new(0).unwrap();
    let stream = context.new_stream().unwrap();
    const COUNT: usize = 1000;
    let mut x = stream.clone_htod(&numbers(COUNT, 0)).unwrap();
    let y: CudaSlice<f32> = stream.alloc_zeros(COUNT).unwrap();
    let memory: CudaSlice<u8> = stream.alloc_zeros(4 * COUNT).unwrap();
    stream.synchronize().unwrap();
    let shape = [COUNT as i64];
    let view = |slice: &CudaSlice<f32>| {
        let (address, _order) = slice.device_ptr(&stream);
        // SAFETY: the slices live until the graph has run, and all is on one stream.
        let view =
            unsafe { TensorView::from_raw(address, Element::F32, &shape, None, Memory::Cuda(0)) };
        Argument::Tensor(view.unwrap())
    };
    let call = [view(&x), view(&y)];
    let at = address(&memory, &stream);
    let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
    stream.begin_capture(mode).unwrap();
    // SAFETY: as of the slices.
    let workspace = unsafe { Workspace::from_raw(at, 4 * COUNT as u64, Memory::Cuda(0)) };
    let launched = entry.launch(&call, workspace, Stream::from(&*stream));
    let flags = sys::CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
    let graph = stream.end_capture(flags).unwrap().expect("a graph");
    launched.unwrap();
    assert_eq!(
        stream.clone_dtoh(&y).unwrap(),
        vec![0.0; COUNT],
        "nothing ran yet"
    );
    for from in [5, 70] {
        let values = numbers(COUNT, from);
        stream.memcpy_htod(&values, &mut x).unwrap();
        graph.launch().unwrap();
        assert_eq!(stream.clone_dtoh(&y).unwrap(), doubled(&values));
    }
}

/// One entry, eight threads, a stream each.
#[test]
#[ignore = "needs a GPU"]
fn threads_launch_on_streams_of_their_own() {
    let entry = entry();
    let context = CudaContext::new(0).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (entry, context) = (&entry, &context);
            scope.spawn(move || {
                let stream = context.new_stream().unwrap();
                for turn in 1..50 {
                    let count = 64 * turn + thread;
                    let values = numbers(count, turn);
                    let x = stream.clone_htod(&values).unwrap();
                    let mut y: CudaSlice<f32> = stream.alloc_zeros(count).unwrap();
                    let memory: CudaSlice<u8> = stream.alloc_zeros(4 * count).unwrap();
                    let shape = [count as i64];
                    // SAFETY: the call is on the stream, and queued before these go.
                    unsafe {
                        let x = CudarcTensor::read::<f32, _>(&x, &stream, &shape, None).unwrap();
                        let y =
                            CudarcTensor::write::<f32, _>(&mut y, &stream, &shape, None).unwrap();
                        let call = [x.view().into(), y.view().into()];
                        let bytes = 4 * count as u64;
                        let at = address(&memory, &stream);
                        let workspace = Workspace::from_raw(at, bytes, Memory::Cuda(0));
                        entry
                            .launch(&call, workspace, Stream::from(&*stream))
                            .unwrap();
                    }
                    assert_eq!(stream.clone_dtoh(&y).unwrap(), doubled(&values));
                }
            });
        }
    });
}
