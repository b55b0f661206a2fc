// How many elements a tensor has by which warps exchange numbers.
//
// RUN: cute-opt %s | FileCheck %s --check-prefixes=CHECK,HELD
// RUN: cute-opt %s --strip-types | FileCheck %s --check-prefix=SHORT
// RUN: cute-opt %s --cute-inline | FileCheck %s --implicit-check-not=cute.check_warps

!eight = !cute.memref<f32, smem, align<16>, "8:1">
gpu.module @kernels {
  // CHECK-LABEL: gpu.func @exact
  gpu.func @exact() kernel attributes {known_block_size = array<i32: 64, 4, 1>} {
    %exchange = cute.memref.alloca() : !eight
    %warps = arith.constant 8 : i32
    // HELD: cute.check_warps(%{{.*}}) {exactly} : (!cute.memref<f32, smem, align<16>, "8:1">) -> ()
    // SHORT: cute.check_warps(%{{.*}}) {exactly}{{$}}
    cute.check_warps(%exchange) {exactly}
    // HELD: cute.check_warps(%{{.*}}, %{{.*}}) : (!cute.memref<f32, smem, align<16>, "8:1">, i32) -> ()
    // SHORT: cute.check_warps(%{{.*}}, %{{.*}}){{$}}
    cute.check_warps(%exchange, %warps)
    gpu.return
  }
  // A part of a warp is one.
  // CHECK-LABEL: gpu.func @more
  gpu.func @more() kernel attributes {known_block_size = array<i32: 100, 1, 1>} {
    %exchange = cute.memref.alloca() : !eight
    cute.check_warps(%exchange)
    gpu.return
  }
  // CHECK-LABEL: gpu.func @nobody_knows
  gpu.func @nobody_knows() kernel {
    %exchange = cute.memref.alloca() : !eight
    cute.check_warps(%exchange) {exactly}
    gpu.return
  }
}
