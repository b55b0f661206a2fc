// Columns of pixels: the number of a place becomes the coordinates of a pixel, and how many places there are is computed of the images.
//
// RUN: cute-opt %s --pass-pipeline="builtin.module(cute-lower-algorithms)" | FileCheck %s
// RUN: cute-opt %s --pass-pipeline="builtin.module(cute-lower-algorithms,cute-lower-layouts)" | FileCheck %s --check-prefix=HOST

!x = !cute.memref<f16, gmem, align<16>, "(32,?,?,?):(1,?{div=8},?{div=8},?{div=8})">
!load = !cute_nvgpu.atom.im2col_tma_load<f16, copy_bits = 65536, tma_gbasis = <"(32,128):(1@1,1@0)">, lower_corner = "(-1,0)", upper_corner = "(-1,-2)", stride = "(2,1)", swizzle = 64>
!coords = !cute.coord_tensor<"(0,0,0,0,?,?)", "(?,(32,3,3)):(1@1,(1@0,1@2,1@3))">
!gX = !cute.coord_tensor<"(0,?{div=128},0,?,?,?)", "(128,(32,2,1)):(1@1,(1@0,1@2,1@3))">
!sX = !cute.memref<f16, smem, align<512>, S<2,4,3>, "(128,(32,2)):(32,(1,4096))">
!bars = !cute.memref<i64, smem, align<8>, "4:1">

module attributes {gpu.container_module} {
  gpu.module @kernels attributes {targets = [#nvvm.target<chip = "sm_90a">]} {
    // CHECK-LABEL: gpu.func @columns
    // CHECK-SAME:    (%[[ATOM:.*]]: !cute_nvgpu.atom.im2col_tma_load
    gpu.func @columns(%load: !load, %X: !coords, %m: i32, %r: i32) kernel {
      %s = cute.memref.alloca() : !sX
      %bars = cute.memref.alloca() : !bars
      %tile = cute.static "[128:1;[32:1;2:1;1:1]]"
      %at = cute.make_coord(%m, (0, 0, %r))
      %g = cute.local_tile(%X, %tile, %at)
      // Two elements of the filter along W: two columns, of places every other pixel from -1 on.
      // CHECK:      %[[FIRST:.*]]:4 = cute.get_scalars
      // CHECK:      %[[W:.*]] = arith.remui %[[FIRST]]#0, %[[FIRST]]#2
      // CHECK:      %[[W2:.*]] = arith.muli %[[W]], %{{.*}}
      // CHECK:      %[[WAT:.*]] = arith.addi %[[W2]], %{{.*}}
      // CHECK:      %[[ROWS:.*]] = arith.divui %[[FIRST]]#0, %[[FIRST]]#2
      // CHECK:      %[[H:.*]] = arith.remui %[[ROWS]], %[[FIRST]]#3
      // CHECK:      %[[N:.*]] = arith.divui %[[ROWS]], %[[FIRST]]#3
      // CHECK:      cute_nvgpu.tma_load(%[[ATOM]], [%{{.*}}, %[[WAT]], %[[H]], %[[N]], %{{.*}}, %[[FIRST]]#1], %{{.*}}) on
      // CHECK:      cute_nvgpu.tma_load(%[[ATOM]], [{{.*}}, %[[FIRST]]#1], %{{.*}}) on
      cute_nvgpu.tma_load(%load, [%g], %s) on %bars[%m] : (!load, [!gX], !sX), !bars
      // CHECK:      cute_nvgpu.tma_prefetch(%[[ATOM]], [{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}])
      // CHECK:      cute_nvgpu.tma_prefetch(
      cute_nvgpu.tma_prefetch(%load, [%g])
      gpu.return
    }
  }

  // (W - 1) / 2 + 1 places along W, H - 3 + 1 along H, and their product with the images.
  // HOST-LABEL: func.func @host
  // HOST:         %[[LEAVES:.*]]:6 = builtin.unrealized_conversion_cast
  // HOST:         %[[A:.*]] = arith.addi %[[LEAVES]]#0, %{{.*}}
  // HOST:         arith.divsi %[[A]], %{{.*}}
  // HOST:         gpu.launch_func
  func.func @host(%X: !x, %m: i32) {
    %one = arith.constant 1 : index
    %place = cute.static "S<2,4,3> o 0 o (128,(32,2)):(32,(1,4096))"
    %load, %coords = cute_nvgpu.atom.make_im2col_tma_load(%X, %place) lower_corner [-1, 0] upper_corner [-1, -2] stride [2, 1] filter [3, 3]
    gpu.launch_func @kernels::@columns blocks in (%one, %one, %one) threads in (%one, %one, %one) args(%load : !load, %coords : !coords, %m : i32, %m : i32)
    return
  }
}
