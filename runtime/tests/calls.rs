//! Calls with memory of the caller: on the emulator, and on a driver without a GPU that writes down what is launched.

use std::ffi::c_void;
use std::path::{Path, PathBuf};
use std::process::Command;

use cute_runtime::call::{
    Argument, CallError, DL_CPU, DLDataType, DLDevice, DLTensor, Entry, Memory, Problem, Stream,
    TensorView, Workspace,
};
use cute_runtime::cuda::{CudaDevice, LaunchTimes};
use cute_runtime::device::{Device, DeviceError};
use cute_runtime::emulator::Config;
use cute_runtime::package::{Expr, Im2colParam, MapOf, MapParam, Op, Param, SharedSwizzle};
use cute_runtime::tensor::{Given, generate_given};
use cute_runtime::{
    Access, Arg, Element, Function, HostTensor, ImageSource, KernelInfo, Launch, Number, Package,
};

/// `scale` makes y of x, times a number; `keep` and `back` do so through a workspace. The first lines are for the driver without a
/// GPU: the bytes of the kernels' parameters.
const PTX: &str = "
//params scale 8 8 4 4 8 4
//params keep 8 8 4
//params back 8 8 4 4
//params moved 128 8 128
//params columns 128
.version 8.0
.target sm_80
.address_size 64
.visible .entry scale(.param .u64 in, .param .u64 out, .param .u32 n, .param .u32 ldi, .param .u64 ldo, .param .f32 alpha)
.maxntid 32, 1, 1
{
  .reg .pred %p; .reg .b32 %r<8>; .reg .b64 %d<8>; .reg .f32 %f<4>;
  ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out]; ld.param.u32 %r1, [n]; ld.param.u32 %r2, [ldi];
  ld.param.u64 %d3, [ldo]; ld.param.f32 %f1, [alpha];
  mov.u32 %r3, %ctaid.x; shl.b32 %r3, %r3, 5; mov.u32 %r4, %tid.x; add.u32 %r3, %r3, %r4;
  setp.ge.u32 %p, %r3, %r1; @%p ret;
  mov.u32 %r5, %ctaid.y;
  mad.lo.u32 %r6, %r5, %r2, %r3; mul.wide.u32 %d4, %r6, 4; add.u64 %d1, %d1, %d4;
  cvt.u64.u32 %d5, %r5; cvt.u64.u32 %d6, %r3; mad.lo.u64 %d5, %d5, %d3, %d6; shl.b64 %d5, %d5, 2; add.u64 %d2, %d2, %d5;
  ld.global.f32 %f2, [%d1]; mul.f32 %f2, %f2, %f1; st.global.f32 [%d2], %f2;
  ret;
}
.visible .entry keep(.param .u64 x, .param .u64 w, .param .u32 n)
{
  .reg .pred %p; .reg .b32 %r<4>; .reg .b64 %d<4>; .reg .f32 %f<4>;
  ld.param.u64 %d1, [x]; ld.param.u64 %d2, [w]; ld.param.u32 %r2, [n]; mov.u32 %r1, %tid.x; setp.ge.u32 %p, %r1, %r2; @%p ret;
  mul.wide.u32 %d3, %r1, 4;
  add.u64 %d1, %d1, %d3; add.u64 %d2, %d2, %d3; ld.global.f32 %f1, [%d1]; st.global.f32 [%d2], %f1;
  ret;
}
.visible .entry columns(.param .align 64 .b8 x[128])
{
  ret;
}
.visible .entry moved(.param .align 64 .b8 x[128], .param .u64 p, .param .align 64 .b8 y[128])
{
  ret;
}
.visible .entry back(.param .u64 w, .param .u64 y, .param .u32 n, .param .f32 alpha)
{
  .reg .pred %p; .reg .b32 %r<4>; .reg .b64 %d<4>; .reg .f32 %f<4>;
  ld.param.u64 %d1, [w]; ld.param.u64 %d2, [y]; ld.param.u32 %r2, [n]; mov.u32 %r1, %tid.x; setp.ge.u32 %p, %r1, %r2; @%p ret;
  ld.param.f32 %f2, [alpha]; mul.wide.u32 %d3, %r1, 4;
  add.u64 %d1, %d1, %d3; add.u64 %d2, %d2, %d3; ld.global.f32 %f1, [%d1]; mul.f32 %f1, %f1, %f2; st.global.f32 [%d2], %f1;
  ret;
}
";

fn tensor(name: &str, layout: &str, access: Access) -> Arg {
    Arg::Tensor {
        name: name.into(),
        element: "f32".into(),
        layout: layout.into(),
        align: 4,
        access,
    }
}

fn alpha() -> Arg {
    Arg::Scalar {
        name: "alpha".into(),
        element: "f32".into(),
        default: Some(Number::Real(1.0)),
    }
}

/// `y = alpha x` of matrices.
fn scale() -> Function {
    let blocks = Expr::apply(Op::CeilDiv, vec![Expr::Leaf(0, 1), Expr::Constant(32)]);
    let launch = Launch {
        grid: [blocks, Expr::Leaf(0, 0), Expr::Constant(1)],
        params: vec![
            Param::Pointer(0),
            Param::Pointer(1),
            Param::Leaf(0, 1),
            Param::Leaf(0, 2),
            Param::Leaf(1, 2),
            Param::Scalar(2),
        ],
        ..Launch::fixed("scale", [1, 1, 1], [32, 1, 1], 0, [])
    };
    let same = |leaf| cute_runtime::package::Requirement {
        condition: Expr::apply(Op::Eq, vec![Expr::Leaf(0, leaf), Expr::Leaf(1, leaf)]),
        message: "x and y have one shape".into(),
    };
    Function {
        requires: vec![same(0), same(1)],
        ..Function::new(
            "scale",
            vec![
                tensor("x", "(?,?):(?{div=4},1)", Access::Read),
                tensor("y", "(?,?):(?{i64},1)", Access::Write),
                alpha(),
            ],
            vec![launch],
        )
    }
}

/// `y = alpha x` of at most 32 numbers through a workspace.
fn through() -> Function {
    let n = || Expr::Leaf(0, 0);
    let memory = || Param::Workspace(Expr::Constant(256));
    let launch = |kernel: &str, params: Vec<Param>| Launch {
        params,
        ..Launch::fixed(kernel, [1, 1, 1], [32, 1, 1], 0, [])
    };
    let four = Expr::apply(Op::Mul, vec![n(), Expr::Constant(4)]);
    Function {
        workspace: Some(Expr::apply(Op::Add, vec![four, Expr::Constant(256)])),
        ..Function::new(
            "through",
            vec![
                tensor("x", "(?):(1)", Access::Read),
                tensor("y", "(?):(1)", Access::Write),
                alpha(),
            ],
            vec![
                launch("keep", vec![Param::Pointer(0), memory(), Param::Leaf(0, 0)]),
                launch(
                    "back",
                    vec![
                        memory(),
                        Param::Pointer(1),
                        Param::Leaf(0, 0),
                        Param::Scalar(2),
                    ],
                ),
            ],
        )
    }
}

/// A function whose kernel is passed tensor maps of x and y. What it does is of no matter.
fn moved() -> Function {
    let map = |arg| {
        Param::TensorMap(MapParam {
            of: MapOf::Tensor(arg),
            sizes: vec![Expr::Leaf(arg, 1), Expr::Leaf(arg, 0)],
            strides: vec![Expr::Leaf(arg, 2)],
            box_sizes: [32, 64].map(Into::into).to_vec(),
            swizzle: SharedSwizzle::Span(128),
            l2_promotion: None,
            im2col: None,
        })
    };
    let launch = Launch {
        params: vec![map(0), Param::Pointer(0), map(1)],
        ..Launch::fixed("moved", [1, 1, 1], [32, 1, 1], 0, [])
    };
    let arguments = [("x", Access::Read), ("y", Access::Write)];
    let arguments = arguments.map(|(name, access)| tensor(name, "(?,?):(?{div=4},1)", access));
    Function::new("moved", arguments.into(), vec![launch])
}

/// A function whose kernel is passed a map of images by im2col, (C,W,H,N).
fn columns() -> Function {
    let map = MapParam {
        of: MapOf::Tensor(0),
        sizes: (0..4).map(|leaf| Expr::Leaf(0, leaf)).collect(),
        strides: (4..7).map(|leaf| Expr::Leaf(0, leaf)).collect(),
        box_sizes: [32, 96].map(Into::into).to_vec(),
        swizzle: SharedSwizzle::Span(128),
        l2_promotion: None,
        im2col: Some(Im2colParam {
            lower: vec![-1, -2],
            upper: vec![-3, 1],
            strides: vec![2, 3],
        }),
    };
    let launch = Launch {
        params: vec![Param::TensorMap(map)],
        ..Launch::fixed("columns", [1, 1, 1], [32, 1, 1], 0, [])
    };
    let layout = "(?,?,?,?):(1,?{div=4},?{div=4},?{div=4})";
    Function::new(
        "columns",
        vec![tensor("x", layout, Access::Read)],
        vec![launch],
    )
}

fn package() -> Package {
    let kernel = |name: &str| KernelInfo {
        name: name.into(),
        ..KernelInfo::default()
    };
    let image = ImageSource {
        arch: "sm_80".into(),
        ptx: Some(PTX.into()),
        cubin: None,
        kernels: ["scale", "keep", "back", "moved", "columns"]
            .map(kernel)
            .into(),
    };
    let builder = Package::builder("test")
        .function(scale())
        .function(through())
        .function(moved())
        .function(columns());
    builder.image(image).build().unwrap()
}

fn emulated(name: &str) -> Entry {
    let package = package();
    let function = package.function(Some(name)).unwrap();
    Entry::on_emulator(&package, function, Config::default()).unwrap()
}

/// Columns 1 to 5 of a matrix of seven, into every second column's place of rows of nine.
#[test]
fn views_of_slices_are_read_and_written_in_place() {
    let entry = emulated("scale");
    assert_eq!((entry.memory(), entry.code()), (Memory::Host, "sm_80 PTX"));
    let x: Vec<f32> = (0..24).map(|i| i as f32).collect();
    let mut y = vec![-1f32; 27];
    let (shape, rows, own) = ([3, 5], [8, 1], [9, 1]);
    let call = [
        TensorView::from_slice(&x[1..], &shape, Some(&rows))
            .unwrap()
            .into(),
        TensorView::from_slice_mut(&mut y[2..], &shape, Some(&own))
            .unwrap()
            .into(),
        2.5f32.into(),
    ];
    assert_eq!(entry.workspace_bytes(&call).unwrap(), 0);
    entry
        .launch(&call, Workspace::none(), Stream::DEFAULT)
        .unwrap();
    let mut expected = vec![-1f32; 27];
    for (i, j) in (0..3).flat_map(|i| (0..5).map(move |j| (i, j))) {
        expected[2 + 9 * i + j] = 2.5 * x[1 + 8 * i + j];
    }
    assert_eq!(y, expected, "and nothing beside it");
}

#[test]
fn host_tensors_and_dlpack_are_taken_alike() {
    let entry = emulated("scale");
    let given = [Given::Shape(vec![3, 6]), Given::Shape(vec![3, 6])];
    let mut tensors = generate_given(entry.function(), &given, 1).unwrap();
    let (x, y) = tensors.split_at_mut(1);
    let call = [
        TensorView::from(&x[0]).into(),
        TensorView::from(&mut y[0]).into(),
        Argument::Default,
    ];
    entry
        .launch(&call, Workspace::none(), Stream::DEFAULT)
        .unwrap();
    let (read, written) = (
        x[0].elements::<f32>().unwrap(),
        y[0].elements::<f32>().unwrap(),
    );
    assert!(read.iter().eq(written.iter()));

    // The same through the structs of DLPack, from the second row on.
    let mut out = [0f32; 12];
    let (mut shape, mut strides) = ([2i64, 6], [8i64, 1]);
    let mut dl = |data: *mut c_void, strides: *mut i64, byte_offset| DLTensor {
        data,
        device: DLDevice {
            device_type: DL_CPU,
            device_id: 0,
        },
        ndim: 2,
        dtype: DLDataType::of(Element::F32),
        shape: shape.as_mut_ptr(),
        strides,
        byte_offset,
    };
    let from = dl(
        x[0].bytes().as_ptr() as *mut c_void,
        strides.as_mut_ptr(),
        32,
    );
    let to = dl(out.as_mut_ptr().cast(), std::ptr::null_mut(), 0);
    // SAFETY: shape and strides are two numbers, and both tensors as long as that.
    let views = unsafe { [TensorView::from_dlpack(&from), TensorView::from_dlpack(&to)] };
    let [from, to] = views.map(Result::unwrap);
    let call = [from.read_only().into(), to.into(), 1f64.into()];
    entry
        .launch(&call, Workspace::none(), Stream::DEFAULT)
        .unwrap();
    let bytes = x[0].bytes()[32..].chunks_exact(4);
    let all: Vec<f32> = bytes
        .map(|b| f32::from_le_bytes(b.try_into().unwrap()))
        .collect();
    let expected: Vec<f32> = (0..12).map(|i| all[i / 6 * 8 + i % 6]).collect();
    assert_eq!(out[..], expected);
}

#[test]
fn workspaces_are_the_callers() {
    let entry = emulated("through");
    let x: Vec<f32> = (0..20).map(|i| i as f32).collect();
    let mut y = vec![0f32; 20];
    let shape = [20];
    let call = [
        TensorView::from_slice(&x, &shape, None).unwrap().into(),
        TensorView::from_slice_mut(&mut y, &shape, None)
            .unwrap()
            .into(),
        2f32.into(),
    ];
    assert_eq!(entry.workspace_bytes(&call).unwrap(), 336);
    let says = |workspace: Workspace| {
        let error = entry.launch(&call, workspace, Stream::DEFAULT).unwrap_err();
        assert!(matches!(error, CallError::Workspace { .. }));
        error.to_string()
    };
    let expected = "through: expected a workspace of 336 bytes of the host, aligned to 1, found";
    let cure = "; ask for its bytes by Entry::workspace_bytes";
    assert_eq!(says(Workspace::none()), format!("{expected} none{cure}"));
    let mut short = vec![0; 335];
    let found = says(Workspace::from_slice(&mut short));
    assert_eq!(found, format!("{expected} 335 bytes of the host{cure}"));
    let mut nothing = |_| None;
    // SAFETY: nothing is given.
    let found = says(unsafe { Workspace::allocator(&mut nothing) });
    assert_eq!(
        found,
        format!("{expected} an allocator that has none{cure}")
    );
    let mut asked = Vec::new();
    let mut memory = vec![0u8; 336];
    let mut allocate = |bytes: u64| {
        asked.push(bytes);
        Some(memory.as_mut_ptr() as u64)
    };
    // SAFETY: the memory is there, and as long.
    let workspace = unsafe { Workspace::allocator(&mut allocate) };
    entry.launch(&call, workspace, Stream::DEFAULT).unwrap();
    assert_eq!(asked, [336]);
    // The emulator has memory of its own.
    let call = [call[0], call[1], 3f32.into()];
    entry
        .launch(&call, Workspace::of_stream(), Stream::DEFAULT)
        .unwrap();
    assert!(y.iter().zip(&x).all(|(y, x)| *y == 3.0 * x));
}

/// A finding of the emulator is an error, and so is memory that it would have twice.
#[test]
fn the_emulator_keeps_its_own_books() {
    let entry = emulated("scale");
    let mut memory = vec![0f32; 64];
    let base = memory.as_mut_ptr() as u64;
    let shape = [2, 8];
    let at = |offset: u64| {
        // SAFETY: all of it is within the memory, which nothing else uses.
        let view = unsafe {
            TensorView::from_raw(base + 4 * offset, Element::F32, &shape, None, Memory::Host)
        };
        Argument::Tensor(view.unwrap())
    };
    let error = entry.launch(
        &[at(0), at(12), Argument::Default],
        Workspace::none(),
        Stream::DEFAULT,
    );
    let error = error.unwrap_err();
    let argument = error.argument().unwrap();
    assert_eq!((argument.index, argument.problem), (1, Problem::Pointer));
    assert!(
        error.to_string().contains("in argument 0 (x), too"),
        "{error}"
    );
    entry
        .launch(
            &[at(0), at(16), Argument::Default],
            Workspace::none(),
            Stream::DEFAULT,
        )
        .unwrap();
    // Columns of one matrix are apart, though their spans are not.
    let rows = [16, 1];
    let half = |offset: u64| {
        // SAFETY: as above.
        let view = unsafe {
            TensorView::from_raw(
                base + 4 * offset,
                Element::F32,
                &shape,
                Some(&rows),
                Memory::Host,
            )
        };
        Argument::Tensor(view.unwrap())
    };
    entry
        .launch(
            &[half(0), half(8), Argument::Default],
            Workspace::none(),
            Stream::DEFAULT,
        )
        .unwrap();

    let mut function = scale();
    function.launches[0].grid[1] = Expr::Constant(1);
    let package = package();
    let entry = Entry::on_emulator(&package, &function, Config::default()).unwrap();
    let error = entry.launch(
        &[at(0), at(16), Argument::Default],
        Workspace::none(),
        Stream::DEFAULT,
    );
    assert!(matches!(
        error,
        Err(CallError::Device(DeviceError::Findings(_)))
    ));
}

#[test]
fn eight_threads_call_one_entry() {
    let entry = emulated("scale");
    std::thread::scope(|scope| {
        for thread in 1..=8i64 {
            let entry = &entry;
            scope.spawn(move || {
                for turn in 1..=6 {
                    let shape = [thread, 4 * turn];
                    let count = (thread * 4 * turn) as usize;
                    let x: Vec<f32> = (0..count).map(|i| (i as i64 * thread) as f32).collect();
                    let mut y = vec![0f32; count];
                    let call = [
                        TensorView::from_slice(&x, &shape, None).unwrap().into(),
                        TensorView::from_slice_mut(&mut y, &shape, None)
                            .unwrap()
                            .into(),
                        (turn as f32).into(),
                    ];
                    entry
                        .launch(&call, Workspace::none(), Stream::DEFAULT)
                        .unwrap();
                    assert!(y.iter().zip(&x).all(|(y, x)| *y == turn as f32 * x));
                }
            });
        }
    });
}

#[test]
fn functions_that_cannot_run_are_said_at_once() {
    let empty = Package::builder("test").function(scale()).build().unwrap();
    let function = empty.function(None).unwrap();
    let error = Entry::on_emulator(&empty, function, Config::default())
        .err()
        .unwrap();
    assert!(
        error.to_string().starts_with("the package: expected PTX"),
        "{error}"
    );
    let error = empty.function(Some("other")).unwrap_err().to_string();
    assert_eq!(
        error,
        "expected a function named `other`, found `scale`; ask for one by its name"
    );
    if std::env::var_os(READY).is_none() && CudaDevice::open(0).is_err() {
        let error = Entry::on_gpu(&empty, function, 0)
            .err()
            .unwrap()
            .to_string();
        assert!(
            error.starts_with("no CUDA driver found") || error.contains("finds no GPU"),
            "{error}"
        );
        assert!(
            !error.contains("--"),
            "no option of a program is named: {error}"
        );
    }
}

/// Set in the process whose driver has no GPU.
const READY: &str = "CUTE_TEST_DRIVER";

/// Runs the tests of the driver in a process that finds it.
#[test]
fn calls_reach_the_driver() {
    let folder = tempfile::tempdir().unwrap();
    let library = folder.path().join("libcuda.so.1");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("driver/cuda.c");
    let built = Command::new("cc")
        .args(["-O1", "-Wall", "-Werror", "-shared", "-fPIC", "-o"])
        .args([&library, &source])
        .output()
        .unwrap();
    assert!(
        built.status.success(),
        "{}",
        String::from_utf8_lossy(&built.stderr)
    );
    let ran = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--test-threads", "1", "driver_without_a_gpu"])
        .env("LD_LIBRARY_PATH", folder.path())
        .env(READY, &library)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(
        ran.status.success(),
        "{said}\n{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    assert!(said.contains("test result: ok. 5 passed"), "{said}");
}

/// Counts allocations of this thread.
struct Counting;

thread_local! {
    static ALLOCATIONS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

// SAFETY: all is the system's.
unsafe impl std::alloc::GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: std::alloc::Layout) -> *mut u8 {
        // A thread that ends has none any more.
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's.
        unsafe { std::alloc::System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: std::alloc::Layout) {
        // SAFETY: the caller's.
        unsafe { std::alloc::System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

mod driver_without_a_gpu {
    use super::*;
    use cudarc::driver::sys;

    /// The last launch of this thread, as `tests/driver/cuda.c` writes it down.
    #[repr(C)]
    #[derive(Clone, Copy)]
    struct Last {
        kernel: [u8; 64],
        grid: [u32; 3],
        block: [u32; 3],
        smem: u32,
        cluster: [u32; 3],
        stream: u64,
        context: u64,
        params: u32,
        values: [u64; 64],
        /// Address, rank, type, swizzle, 5 sizes, 4 strides, 3 extents of the box.
        map: [u64; 16],
        launches: u64,
    }

    impl Last {
        fn kernel(&self) -> &str {
            let end = self.kernel.iter().position(|byte| *byte == 0).unwrap();
            std::str::from_utf8(&self.kernel[..end]).unwrap()
        }
    }

    /// The driver, if this process has it.
    fn library() -> Option<libloading::Library> {
        let path = PathBuf::from(std::env::var_os(READY)?);
        // SAFETY: the library has no initialisers.
        Some(unsafe { libloading::Library::new(path) }.unwrap())
    }

    fn last(library: &libloading::Library) -> Last {
        // SAFETY: the function has this type, and gives a pointer to memory of this thread.
        unsafe {
            let get: libloading::Symbol<unsafe extern "C" fn() -> *const Last> =
                library.get(b"fake_last\0").unwrap();
            *get()
        }
    }

    fn count(library: &libloading::Library, name: &[u8]) -> i32 {
        // SAFETY: the function has this type.
        unsafe {
            let get: libloading::Symbol<unsafe extern "C" fn() -> i32> = library.get(name).unwrap();
            get()
        }
    }

    fn on_gpu<'a>(
        address: u64,
        shape: &'a [i64],
        strides: Option<&'a [i64]>,
        gpu: u32,
    ) -> Argument<'a> {
        // SAFETY: kernels do nothing there.
        let view = unsafe {
            TensorView::from_raw(address, Element::F32, shape, strides, Memory::Cuda(gpu))
        };
        Argument::Tensor(view.unwrap())
    }

    #[test]
    #[ignore = "is run by calls_reach_the_driver"]
    fn tensor_maps_are_encoded_for_each_call() {
        let Some(library) = library() else { return };
        let package = package();
        let function = package.function(Some("moved")).unwrap();
        let entry = Entry::on_gpu(&package, function, 0).unwrap();
        let call = |address: u64, rows: i64| {
            let (shape, strides) = ([rows, 40], [44, 1]);
            let arguments = [
                on_gpu(address, &shape, Some(&strides), 0),
                on_gpu(address + 0x10000, &shape, Some(&strides), 0),
            ];
            entry.launch(&arguments, Workspace::none(), Stream::DEFAULT)
        };
        // The second call of a shape takes what the first has computed, but for addresses.
        for (address, rows) in [(0x10000, 7), (0x20000, 7), (0x20010, 9)] {
            call(address, rows as i64).unwrap();
            let last = last(&library);
            assert_eq!(last.kernel(), "moved");
            assert_eq!(last.values[..3], [address, address, address + 0x10000]);
            let expected = [
                address + 0x10000,
                2,
                7,
                3,
                40,
                rows,
                0,
                0,
                0,
                176,
                0,
                0,
                0,
                32,
                64,
                0,
            ];
            assert_eq!(last.map, expected);
        }
        let launches = last(&library).launches;
        let error = call(0x10008, 7).unwrap_err().to_string();
        assert!(
            error.contains("moved") && error.contains("16") && error.contains("0x10008"),
            "{error}"
        );
        assert_eq!(last(&library).launches, launches);
        let before = ALLOCATIONS.get();
        call(0x20000, 7).unwrap();
        assert_eq!(ALLOCATIONS.get(), before);
    }

    #[test]
    #[ignore = "is run by calls_reach_the_driver"]
    fn maps_by_im2col_are_encoded_as_such() {
        let Some(library) = library() else { return };
        let package = package();
        let function = package.function(Some("columns")).unwrap();
        let entry = Entry::on_gpu(&package, function, 0).unwrap();
        let call = |address: u64, height: i64| {
            let (shape, strides) = ([40, 9, height, 3], [1, 44, 400, 4000]);
            let x = on_gpu(address, &shape, Some(&strides), 0);
            entry.launch(&[x], Workspace::none(), Stream::DEFAULT)
        };
        for (address, height) in [(0x10000, 7), (0x20000, 7), (0x20010, 8)] {
            call(address, height).unwrap();
            let last = last(&library);
            assert_eq!(last.kernel(), "columns");
            let (steps, corners) = (0x0103_0201, 0x01fd_feff);
            let height = height as u64;
            let sizes = [40, 9, height, 3, steps];
            let expected = [
                &[address, 4, 7, 3][..],
                &sizes,
                &[176, 1600, 16000, corners, 32, 96, 2],
            ];
            assert_eq!(last.map[..], expected.concat());
        }
        // Under an upper corner of -3 and a lower one of -1 a width of 9 has pixels, of 2 none.
        let (shape, strides) = ([40, 2, 7, 3], [1, 44, 400, 4000]);
        let narrow = [on_gpu(0x10000, &shape, Some(&strides), 0)];
        let error = entry.launch(&narrow, Workspace::none(), Stream::DEFAULT);
        let error = error.unwrap_err().to_string();
        assert!(error.contains("-1 and -3 leave none"), "{error}");
    }

    #[test]
    #[ignore = "is run by calls_reach_the_driver"]
    fn launches_are_what_was_asked_for() {
        let Some(library) = library() else { return };
        let package = package();
        let entry = Entry::on_gpu(&package, package.function(Some("scale")).unwrap(), 1).unwrap();
        assert_eq!(
            (entry.memory(), entry.code()),
            (Memory::Cuda(1), "sm_80 PTX")
        );
        assert_eq!(entry.note(), Some("the driver compiled the PTX for sm_80"));
        let (shape, x, y) = ([3, 70], [72, 1], [70, 1]);
        let call = [
            on_gpu(0x1000, &shape, Some(&x), 1),
            on_gpu(0x9000, &shape, Some(&y), 1),
            2.5f32.into(),
        ];
        // SAFETY: the driver does not look at it.
        let stream = unsafe { Stream::from_raw(0x77 as *mut c_void) };
        let before = last(&library).launches;
        entry.launch(&call, Workspace::none(), stream).unwrap();
        let found = last(&library);
        assert_eq!((found.kernel(), found.launches), ("scale", before + 1));
        assert_eq!(
            (found.grid, found.block, found.smem),
            ([3, 3, 1], [32, 1, 1], 0)
        );
        assert_eq!((found.stream, found.cluster), (0x77, [0; 3]));
        assert_ne!(found.context, 0);
        let alpha = u64::from(2.5f32.to_bits());
        assert_eq!(
            found.values[..found.params as usize],
            [0x1000, 0x9000, 70, 72, 70, alpha]
        );
        // The context is current for as long as the call takes.
        let mut current = std::ptr::null_mut();
        // SAFETY: the pointer is to a live variable.
        unsafe { sys::cuCtxGetCurrent(&mut current) };
        assert!(current.is_null());
        // The same again, from another thread, by what was remembered; and other addresses.
        std::thread::scope(|scope| {
            let run = || {
                let call = |address| {
                    [
                        on_gpu(address, &shape, Some(&x), 1),
                        on_gpu(0x9000, &shape, Some(&y), 1),
                        2.5f32.into(),
                    ]
                };
                entry
                    .launch(&call(0x5000), Workspace::none(), Stream::DEFAULT)
                    .unwrap();
                let found = last(&library);
                assert_eq!((found.values[0], found.stream), (0x5000, 0));
                entry
                    .launch(&call(0x1000), Workspace::none(), Stream::DEFAULT)
                    .unwrap();
                assert_eq!(last(&library).values[0], 0x1000);
            };
            scope.spawn(run);
        });
        // No call takes memory from the heap: not with sizes that it has seen, nor with others.
        let before = ALLOCATIONS.with(std::cell::Cell::get);
        for turn in 0..1000i64 {
            let (shape, rows) = ([3, 4 * (1 + turn % 50)], [4 * (1 + turn % 50), 1]);
            let call = [
                on_gpu(0x10000, &shape, Some(&rows), 1),
                on_gpu(0x20000, &shape, None, 1),
                2.5f32.into(),
            ];
            entry.launch(&call, Workspace::none(), stream).unwrap();
        }
        assert_eq!(ALLOCATIONS.with(std::cell::Cell::get), before);
        // What is refused is not launched.
        let before = last(&library).launches;
        let host = [on_gpu(0x1000, &shape, Some(&x), 0), call[1], call[2]];
        let error = entry.launch(&host, Workspace::none(), stream).unwrap_err();
        assert_eq!(error.argument().map(|argument| argument.index), Some(0));
        assert_eq!(last(&library).launches, before);
        // SAFETY: as above.
        let bad = unsafe { Stream::from_raw(0xbad as *mut c_void) };
        let error = entry
            .launch(&call, Workspace::none(), bad)
            .unwrap_err()
            .to_string();
        assert_eq!(
            error,
            "launching scale failed: CUDA_ERROR_INVALID_VALUE (invalid argument)"
        );
        drop(entry);
        assert_eq!(
            (
                count(&library, b"fake_modules\0"),
                count(&library, b"fake_retained\0")
            ),
            (0, 0)
        );
    }

    #[test]
    #[ignore = "is run by calls_reach_the_driver"]
    fn workspaces_large_blocks_and_clusters_are_passed_on() {
        let Some(library) = library() else { return };
        let package = package();
        let entry = Entry::on_gpu(&package, package.function(Some("through")).unwrap(), 0).unwrap();
        let shape = [20];
        let call = [
            on_gpu(0x1000, &shape, None, 0),
            on_gpu(0x2000, &shape, None, 0),
            0.5f32.into(),
        ];
        // SAFETY: kernels do nothing there.
        let memory =
            |address, bytes, gpu| unsafe { Workspace::from_raw(address, bytes, Memory::Cuda(gpu)) };
        entry
            .launch(&call, memory(0x10000, 336, 0), Stream::DEFAULT)
            .unwrap();
        let found = last(&library);
        assert_eq!(
            (found.kernel(), found.values[0], found.values[1]),
            ("back", 0x10100, 0x2000)
        );
        for (workspace, found) in [
            (memory(0x10080, 336, 0), "memory at 0x10080"),
            (memory(0x10000, 336, 1), "336 bytes of GPU 1"),
            (memory(0, 336, 0), "memory at 0x0"),
        ] {
            let error = entry
                .launch(&call, workspace, Stream::DEFAULT)
                .unwrap_err()
                .to_string();
            assert!(
                error.contains(&format!(
                    "336 bytes of GPU 0, aligned to 256, found {found}"
                )),
                "{error}"
            );
        }
        // Memory of the stream, which it has back behind the launches, those that are refused, too.
        for (stream, refused) in [(0x77, false), (0xbad, true)] {
            // SAFETY: the driver does not look at it.
            let stream = unsafe { Stream::from_raw(stream as *mut c_void) };
            let before = last(&library).launches;
            let result = entry.launch(&call, Workspace::of_stream(), stream);
            let launched = last(&library).launches - before;
            assert_eq!(
                (result.is_err(), launched),
                (refused, if refused { 0 } else { 2 })
            );
            assert_eq!(count(&library, b"fake_on_streams\0"), 0);
            // The entry's own, made by its first call that needs one.
            assert_eq!(count(&library, b"fake_pools\0"), 1);
        }
        assert_eq!(last(&library).values[0] % 256, 0);
        let bound = entry.bind(&call, Workspace::of_stream(), Stream::DEFAULT);
        let error = bound.err().unwrap().to_string();
        assert!(
            error.contains("found memory of a stream, which each call has for itself"),
            "{error}"
        );
        let mut bound = entry
            .bind(&call, memory(0x20000, 400, 0), Stream::DEFAULT)
            .unwrap();
        assert_eq!(bound.launches(), 2);
        for _ in 0..2 {
            bound.launch().unwrap();
            assert_eq!(last(&library).values[0], 0x20100);
        }
        // More shared memory than needs no opt-in, in a cluster.
        let mut function = scale();
        let columns = Expr::Leaf(0, 1);
        function.launches[0].dynamic_smem =
            Expr::apply(Op::Mul, vec![columns, Expr::Constant(1000)]);
        function.launches[0].cluster = [1, 2, 1];
        let entry = Entry::on_gpu(&package, &function, 0).unwrap();
        for (n, rows) in [(70, 72), (200, 200), (64, 64)] {
            let (shape, strides) = ([4, n], [rows, 1]);
            let call = [
                on_gpu(0x10000, &shape, Some(&strides), 0),
                on_gpu(0x20000, &shape, Some(&strides), 0),
                Argument::Default,
            ];
            entry
                .launch(&call, Workspace::none(), Stream::DEFAULT)
                .unwrap();
            let found = last(&library);
            assert_eq!((found.smem, found.cluster), (1000 * n as u32, [1, 2, 1]));
        }
        let (shape, strides) = ([4, 240], [240, 1]);
        let call = [
            on_gpu(0x10000, &shape, Some(&strides), 0),
            on_gpu(0x20000, &shape, Some(&strides), 0),
            Argument::Default,
        ];
        let error = entry
            .launch(&call, Workspace::none(), Stream::DEFAULT)
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("at most 232448 bytes of dynamic shared memory, found 240000"),
            "{error}"
        );
    }

    /// Runs of tensors of the host, and measurements, use the same driver.
    #[test]
    #[ignore = "is run by calls_reach_the_driver"]
    fn programs_and_measurements_use_the_driver_alike() {
        let Some(library) = library() else { return };
        let package = package();
        let function = package.function(Some("through")).unwrap();
        let given = [Given::Shape(vec![20]), Given::Shape(vec![20])];
        let mut tensors: Vec<HostTensor> = generate_given(function, &given, 1).unwrap();
        let device = CudaDevice::open(0).unwrap();
        let mut program = device.load(&package, function).unwrap();
        program.run(&mut tensors).unwrap();
        assert_eq!(last(&library).kernel(), "back");
        drop(program);
        drop(device);
        let before = last(&library).launches;
        let times = LaunchTimes::measure(&package, function, &tensors, (0, 5)).unwrap();
        assert_eq!((times.launches, times.rounds, times.calls), (2, 5, 64));
        assert_eq!(last(&library).launches, before + 6 * 64 * 2 * 2);
        assert!(times.call.median > 0.0 && times.driver.median > 0.0);
        assert_eq!(count(&library, b"fake_modules\0"), 0);
    }
}
