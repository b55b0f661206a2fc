// Launches by a shape become those of MLIR, with the threads that the kernel says.
//
// RUN: cute-opt %s --cute-inline | FileCheck %s
// RUN: cute-opt %s --cute-instantiate --cute-inline | FileCheck %s

module attributes {gpu.container_module, cute.parameters = {WARPS = 4}} {
  gpu.module @kernels {
    gpu.func @one(%x: !cute.memref<f32, gmem, "(?,64):(64,1)">) kernel attributes {known_block_size = array<i32: 32, 2, 1>} {
      gpu.return
    }
  }
  // CHECK-LABEL: func.func @launched
  // CHECK: %[[SIZES:.*]]:2 = cute.get_scalars
  // CHECK: %[[M:.*]] = arith.index_cast %[[SIZES]]#0 : i32 to index
  // CHECK: %[[N:.*]] = arith.index_cast %[[SIZES]]#1 : i32 to index
  // CHECK: gpu.launch_func @kernels::@one blocks in (%[[M]], %[[N]], %{{.*}}) threads in (%c32, %c2, %{{.*}}) dynamic_shared_memory_size %c0{{.*}} args(%arg0 : {{.*}})
  func.func @launched(%x: !cute.memref<f32, gmem, "(?,64):(64,1)">) {
    %shape = cute.get_shape(%x)
    %tile = cute.static shape "(16,64)"
    %grid = cute.ceil_div(%shape, %tile)
    cute.launch @kernels::@one blocks(%grid) args(%x)
    return
  }
}
