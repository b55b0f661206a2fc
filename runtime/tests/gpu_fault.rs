//! A kernel that faults, alone in its process: the driver refuses everything after it. Run as
//! `tests/gpu.rs`.

use cute_runtime::cuda::CudaDevice;
use cute_runtime::device::Device;
use cute_runtime::{Function, ImageSource, KernelInfo, Launch, Package};

const PTX: &str = "
.version 7.8
.target sm_80
.address_size 64
.visible .entry fault()
{
  .reg .b64 %a; .reg .b32 %v;
  mov.u64 %a, 16; mov.u32 %v, 0; st.global.b32 [%a], %v; ret;
}
";

#[test]
#[ignore = "needs a GPU"]
fn a_fault_names_the_kernel() {
    let launch = Launch::fixed("fault", [1; 3], [1; 3], 0, []);
    let function = Function::new("f", vec![], vec![launch]);
    let kernels = vec![KernelInfo {
        name: "fault".into(),
        ..KernelInfo::default()
    }];
    let image = ImageSource {
        arch: "sm_80".into(),
        ptx: Some(PTX.into()),
        cubin: None,
        kernels,
    };
    let package = Package::builder("test")
        .function(function)
        .image(image)
        .build()
        .unwrap();

    let device = CudaDevice::open(0).unwrap();
    let mut program = device
        .load(&package, package.function(None).unwrap())
        .unwrap();
    let error = program.run(&mut []).unwrap_err();
    assert!(error.is_fault() && error.is_wrong_result());
    let text = error.to_string();
    assert!(
        text.starts_with("kernel fault failed: CUDA_ERROR_ILLEGAL_ADDRESS"),
        "{text}"
    );
    assert!(
        program.run(&mut []).unwrap_err().is_fault(),
        "nothing runs after it"
    );
}
