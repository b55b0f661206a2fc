// Two modules may have kernels of one name: each launch gets the size of its own.
//
// RUN: cute-opt %s --cute-to-nvvm --canonicalize | FileCheck %s
// CHECK-DAG: %[[LARGE:.*]] = arith.constant 65536 : i32
// CHECK-DAG: %[[NONE:.*]] = arith.constant 0 : i32
// CHECK:     gpu.launch_func @first::@kernel {{.*}} dynamic_shared_memory_size %[[LARGE]]
// CHECK:     gpu.launch_func @second::@kernel {{.*}} dynamic_shared_memory_size %[[NONE]]

module attributes {gpu.container_module} {
  func.func @host() {
    %one = arith.constant 1 : index
    %zero = arith.constant 0 : i32
    gpu.launch_func @first::@kernel blocks in (%one, %one, %one) threads in (%one, %one, %one) dynamic_shared_memory_size %zero
    gpu.launch_func @second::@kernel blocks in (%one, %one, %one) threads in (%one, %one, %one) dynamic_shared_memory_size %zero
    return
  }
  gpu.module @first [#nvvm.target<chip = "sm_90">] {
    gpu.func @kernel() kernel attributes {cute.dynamic_smem = 65536 : i64} {
      gpu.return
    }
  }
  gpu.module @second [#nvvm.target<chip = "sm_90">] {
    gpu.func @kernel() kernel attributes {cute.dynamic_smem = 0 : i64} {
      gpu.return
    }
  }
}
