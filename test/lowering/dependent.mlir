// A kernel that waits for what is before it in the stream, ahead of whatever it does to global memory, is launched beside that.
//
// RUN: cute-opt %s --cute-to-nvvm --split-input-file --verify-diagnostics | FileCheck %s

!row = !cute.memref<f32, gmem, align<16>, "256:1">
!at = !cute.coord<"0">
module attributes {gpu.container_module} {
gpu.module @kernels attributes {targets = [#nvvm.target<chip = "sm_90a">]} {
  gpu.func @waits(%row: !row, %x: f32) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    gpu.barrier
    nvvm.griddepcontrol wait
    %at = cute.static : !at
    cute.memref.store(%row, %at, %x) : (!row, !at, f32) -> ()
    gpu.return
  }
  gpu.func @late(%row: !row, %x: f32) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    %at = cute.static : !at
    cute.memref.store(%row, %at, %x) : (!row, !at, f32) -> ()
    nvvm.griddepcontrol wait
    gpu.return
  }
  gpu.func @sometimes(%row: !row, %x: f32, %is: i1) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    scf.if %is {
      nvvm.griddepcontrol wait
    }
    %at = cute.static : !at
    cute.memref.store(%row, %at, %x) : (!row, !at, f32) -> ()
    gpu.return
  }
}
// CHECK-LABEL: func.func @host
// CHECK: gpu.launch_func @kernels::@waits {{.*}} {cute.dependent}
// CHECK: gpu.launch_func @kernels::@late
// CHECK-NOT: cute.dependent
// CHECK: gpu.launch_func @kernels::@sometimes
// CHECK-NOT: cute.dependent
// CHECK: return
func.func @host(%row: !row, %x: f32, %is: i1) {
  %one = arith.constant 1 : index
  %none = arith.constant 0 : i32
  gpu.launch_func @kernels::@waits blocks in (%one, %one, %one) threads in (%one, %one, %one) dynamic_shared_memory_size %none args(%row : !row, %x : f32)
  gpu.launch_func @kernels::@late blocks in (%one, %one, %one) threads in (%one, %one, %one) dynamic_shared_memory_size %none args(%row : !row, %x : f32)
  gpu.launch_func @kernels::@sometimes blocks in (%one, %one, %one) threads in (%one, %one, %one) dynamic_shared_memory_size %none args(%row : !row, %x : f32, %is : i1)
  return
}
}

// -----

!row = !cute.memref<f32, gmem, align<16>, "256:1">
!at = !cute.coord<"0">
module attributes {gpu.container_module} {
gpu.module @kernels attributes {targets = [#nvvm.target<chip = "sm_90a">]} {
  // expected-note @below {{the kernel is here}}
  gpu.func @kernel(%row: !row, %x: f32) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    %at = cute.static : !at
    cute.memref.store(%row, %at, %x) : (!row, !at, f32) -> ()
    gpu.return
  }
}
func.func @host(%row: !row, %x: f32) {
  %one = arith.constant 1 : index
  %none = arith.constant 0 : i32
  // expected-error @below {{expected a kernel that begins with nvvm.griddepcontrol wait, or no cute.dependent: the compiler sets it}}
  gpu.launch_func @kernels::@kernel blocks in (%one, %one, %one) threads in (%one, %one, %one) dynamic_shared_memory_size %none args(%row : !row, %x : f32) {cute.dependent}
  return
}
}
