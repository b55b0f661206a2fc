// A kernel whose threads all wait for what is before it in the stream, ahead of whatever they do to global memory and before they end, is launched beside that.
//
// RUN: cute-opt %s --cute-to-nvvm --split-input-file --verify-diagnostics | FileCheck %s

!row = !cute.memref<f32, gmem, align<16>, "256:1">
!own = !cute.memref<f32, smem, "256:1">
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
  // What it does to shared memory before is its own.
  gpu.func @shared(%row: !row, %x: f32) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    %at = cute.static : !at
    %own = cute.memref.alloca() {offset = 0} : !own
    cute.memref.store(%own, %at, %x) : (!own, !at, f32) -> ()
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    gpu.barrier
    nvvm.griddepcontrol wait
    cute.memref.store(%row, %at, %x) : (!row, !at, f32) -> ()
    gpu.return
  }
  // Each in its own place: one side of a branch at once, the other in turns that may be none, and at the end.
  gpu.func @apart(%row: !row, %x: f32, %is: i1, %turns: i32) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    %at = cute.static : !at
    scf.if %is {
      nvvm.setmaxregister increase 232
      nvvm.griddepcontrol wait
      nvvm.griddepcontrol launch_dependents
      cute.memref.store(%row, %at, %x) : (!row, !at, f32) -> ()
    } else {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      scf.for %i = %c0 to %turns step %c1 : i32 {
        nvvm.griddepcontrol wait
        cute.memref.store(%row, %at, %x) : (!row, !at, f32) -> ()
      }
    }
    nvvm.griddepcontrol wait
    gpu.return
  }
  gpu.func @both(%row: !row, %x: f32, %is: i1) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    %at = cute.static : !at
    scf.if %is {
      nvvm.griddepcontrol wait
    } else {
      nvvm.griddepcontrol wait
    }
    cute.memref.store(%row, %at, %x) : (!row, !at, f32) -> ()
    gpu.return
  }
  // What is behind it would not wait for what is before it.
  gpu.func @perhaps(%row: !row, %x: f32, %turns: i32) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    %at = cute.static : !at
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %turns step %c1 : i32 {
      nvvm.griddepcontrol wait
      cute.memref.store(%row, %at, %x) : (!row, !at, f32) -> ()
    }
    gpu.return
  }
  gpu.func @behind_turns(%row: !row, %x: f32, %turns: i32) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    %at = cute.static : !at
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %turns step %c1 : i32 {
      nvvm.griddepcontrol wait
    }
    cute.memref.store(%row, %at, %x) : (!row, !at, f32) -> ()
    nvvm.griddepcontrol wait
    gpu.return
  }
}
// CHECK-LABEL: func.func @host
// CHECK: gpu.launch_func @kernels::@waits {{.*}} {cute.dependent}
// CHECK: gpu.launch_func @kernels::@late
// CHECK-NOT: cute.dependent
// CHECK: gpu.launch_func @kernels::@sometimes
// CHECK-NOT: cute.dependent
// CHECK: gpu.launch_func @kernels::@shared {{.*}} {cute.dependent}
// CHECK: gpu.launch_func @kernels::@apart {{.*}} {cute.dependent}
// CHECK: gpu.launch_func @kernels::@both {{.*}} {cute.dependent}
// CHECK: gpu.launch_func @kernels::@perhaps
// CHECK-NOT: cute.dependent
// CHECK: gpu.launch_func @kernels::@behind_turns
// CHECK-NOT: cute.dependent
// CHECK: return
func.func @host(%row: !row, %x: f32, %is: i1, %turns: i32) {
  %one = arith.constant 1 : index
  %none = arith.constant 0 : i32
  gpu.launch_func @kernels::@waits blocks in (%one, %one, %one) threads in (%one, %one, %one) dynamic_shared_memory_size %none args(%row : !row, %x : f32)
  gpu.launch_func @kernels::@late blocks in (%one, %one, %one) threads in (%one, %one, %one) dynamic_shared_memory_size %none args(%row : !row, %x : f32)
  gpu.launch_func @kernels::@sometimes blocks in (%one, %one, %one) threads in (%one, %one, %one) dynamic_shared_memory_size %none args(%row : !row, %x : f32, %is : i1)
  gpu.launch_func @kernels::@shared blocks in (%one, %one, %one) threads in (%one, %one, %one) dynamic_shared_memory_size %none args(%row : !row, %x : f32)
  gpu.launch_func @kernels::@apart blocks in (%one, %one, %one) threads in (%one, %one, %one) dynamic_shared_memory_size %none args(%row : !row, %x : f32, %is : i1, %turns : i32)
  gpu.launch_func @kernels::@both blocks in (%one, %one, %one) threads in (%one, %one, %one) dynamic_shared_memory_size %none args(%row : !row, %x : f32, %is : i1)
  gpu.launch_func @kernels::@perhaps blocks in (%one, %one, %one) threads in (%one, %one, %one) dynamic_shared_memory_size %none args(%row : !row, %x : f32, %turns : i32)
  gpu.launch_func @kernels::@behind_turns blocks in (%one, %one, %one) threads in (%one, %one, %one) dynamic_shared_memory_size %none args(%row : !row, %x : f32, %turns : i32)
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
  // expected-error @below {{expected a kernel whose threads all wait, by nvvm.griddepcontrol, ahead of whatever they do to global memory, or no cute.dependent: the compiler sets it}}
  gpu.launch_func @kernels::@kernel blocks in (%one, %one, %one) threads in (%one, %one, %one) dynamic_shared_memory_size %none args(%row : !row, %x : f32) {cute.dependent}
  return
}
}
