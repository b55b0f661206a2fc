// Two modules may have kernels of one name: each launch gets the size of its own.
//
// RUN: cute-opt %s --cute-allocate-shared --canonicalize | FileCheck %s
// CHECK-DAG: %[[LARGE:.*]] = arith.constant 65536 : i32
// CHECK-DAG: %[[NONE:.*]] = arith.constant 0 : i32
// CHECK:     gpu.launch_func @first::@kernel {{.*}} dynamic_shared_memory_size %[[LARGE]]
// CHECK:     gpu.launch_func @second::@kernel {{.*}} dynamic_shared_memory_size %[[NONE]]

#config = {arch = "sm_90", raster = 1 : i64, stages = 1 : i64, swizzle = "auto", tile = array<i64: 32, 32, 32>, warps = array<i64: 1, 1>}
!s = !cute.memref<f16, smem, align<128>, "(64,512):(512,1)">
module attributes {gpu.container_module} {
  func.func @host() {
    %one = arith.constant 1 : index
    %zero = arith.constant 0 : i32
    gpu.launch_func @first::@kernel blocks in (%one, %one, %one) threads in (%one, %one, %one) dynamic_shared_memory_size %zero
    gpu.launch_func @second::@kernel blocks in (%one, %one, %one) threads in (%one, %one, %one) dynamic_shared_memory_size %zero
    return
  }
  gpu.module @first {
    gpu.func @kernel() kernel attributes {cute.config = #config} {
      %a = cute.memref.alloca() : !s
      cute.copy(%a, %a) : (!s, !s)
      gpu.return
    }
  }
  gpu.module @second {
    gpu.func @kernel() kernel attributes {cute.config = #config} {
      gpu.return
    }
  }
}
