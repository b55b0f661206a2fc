// A launch passes the shared memory that its kernel needs.
//
// RUN: cute-opt %s --cute-to-nvvm --split-input-file --verify-diagnostics | FileCheck %s

// More than 48 KB too; the launch of another kernel keeps what it says, and so does one of a kernel that does not say.
// CHECK-LABEL: func.func @host
// CHECK-DAG:     %[[SIZE:.*]] = arith.constant 65536 : i32
// CHECK-DAG:     %[[OLD:.*]] = arith.constant 77 : i32
// CHECK:         gpu.launch_func @kernels::@sized {{.*}} dynamic_shared_memory_size %[[SIZE]]
// CHECK:         %[[NONE:.*]] = arith.constant 0 : i32
// CHECK:         gpu.launch_func @kernels::@none {{.*}} dynamic_shared_memory_size %[[NONE]]
// CHECK:         gpu.launch_func @kernels::@silent {{.*}} dynamic_shared_memory_size %[[OLD]]
// CHECK:         gpu.launch_func @other::@others {{.*}} dynamic_shared_memory_size %[[OLD]]
module attributes {gpu.container_module} {
  func.func @host() {
    %one = arith.constant 1 : index
    %old = arith.constant 77 : i32
    gpu.launch_func @kernels::@sized blocks in (%one, %one, %one) threads in (%one, %one, %one) dynamic_shared_memory_size %old
    gpu.launch_func @kernels::@none blocks in (%one, %one, %one) threads in (%one, %one, %one) dynamic_shared_memory_size %old
    gpu.launch_func @kernels::@silent blocks in (%one, %one, %one) threads in (%one, %one, %one) dynamic_shared_memory_size %old
    gpu.launch_func @other::@others blocks in (%one, %one, %one) threads in (%one, %one, %one) dynamic_shared_memory_size %old
    return
  }
  gpu.module @kernels [#nvvm.target<chip = "sm_90">] {
    gpu.func @sized() kernel attributes {cute.dynamic_smem = 65536 : i64} {
      gpu.return
    }
    gpu.func @none() kernel attributes {cute.dynamic_smem = 0 : i64} {
      gpu.return
    }
    gpu.func @silent() kernel {
      gpu.return
    }
  }
  gpu.binary @other [#gpu.object<#nvvm.target, "nothing">]
}

// -----

module attributes {gpu.container_module} {
  func.func @host() {
    %one = arith.constant 1 : index
    // expected-error @+1 {{expected a launch with dynamic_shared_memory_size, for the kernel needs 1024 bytes; write `dynamic_shared_memory_size %c0`}}
    gpu.launch_func @kernels::@sized blocks in (%one, %one, %one) threads in (%one, %one, %one)
    return
  }
  gpu.module @kernels [#nvvm.target<chip = "sm_90">] {
    gpu.func @sized() kernel attributes {cute.dynamic_smem = 1024 : i64} {
      gpu.return
    }
  }
}
