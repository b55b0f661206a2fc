// Each op of MLIR's gpu dialect that an error names as one that kernels have compiles.
//
// RUN: cute-opt %s --cute-compile="arch=sm_90a" | FileCheck %s
// CHECK-DAG: bar.sync
// CHECK-DAG: %laneid
// CHECK-DAG: shfl.sync.bfly.b32 {{.*}}, 31, -1;
// CHECK-DAG: %cluster_nctaid.x
!y = !cute.memref<i32, gmem, align<16>, "4096:1">
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @k(%Y: !y) kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_cluster_size = array<i32: 2, 1, 1>} {
      %0 = gpu.thread_id x
      %1 = gpu.block_dim x
      %2 = gpu.block_id x
      %3 = gpu.cluster_block_id x
      %4 = gpu.cluster_dim_blocks x
      %5 = gpu.cluster_id x
      %6 = gpu.global_id x
      %7 = gpu.grid_dim x
      %8 = gpu.lane_id
      %s1 = arith.addi %0, %1 : index
      %s2 = arith.addi %s1, %2 : index
      %s3 = arith.addi %s2, %3 : index
      %s4 = arith.addi %s3, %4 : index
      %s5 = arith.addi %s4, %5 : index
      %s6 = arith.addi %s5, %6 : index
      %s7 = arith.addi %s6, %7 : index
      %s8 = arith.addi %s7, %8 : index
      %sum = arith.index_cast %s8 : index to i32
      %at = arith.index_cast %6 : index to i32
      gpu.barrier
      %c4 = arith.constant 4 : i32
      %c32 = arith.constant 32 : i32
      %other, %valid = gpu.shuffle xor %sum, %c4, %c32 : i32
      gpu.printf "%d\n", %other : i32
      cute.memref.store(%Y, (%at), %other)
      gpu.return
    }
  }
  func.func @f(%Y: !y {cute.name="Y"}) {
    %one = arith.constant 1 : index
    %two = arith.constant 2 : index
    %threads = arith.constant 128 : index
    %none = arith.constant 0 : i32
    gpu.launch_func @kernels::@k clusters in (%two, %one, %one) blocks in (%two, %one, %one) threads in (%threads, %one, %one) dynamic_shared_memory_size %none args(%Y : !y)
    return
  }
}
