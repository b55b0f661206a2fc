// Tensor maps of views: of a view that begins where an argument does a map has the sizes, also those that a launch computes; of one that begins elsewhere there is none.
//
// RUN: cute-opt %s --cute-compile="arch=sm_90a package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --info | FileCheck %s
// RUN: sed 's,// offset: ,,; s/make_view(%begin/make_view(%later/' %s > %t.mlir
// RUN: not cute-opt %t.mlir --cute-compile="arch=sm_90a package=%t.later.cutepkg" -o /dev/null 2>&1 | FileCheck %s --check-prefix=LATER
// RUN: not ls %t.later.cutepkg
// CHECK: launch 0: rows_kernel(map of S (256 x rows) by boxes of 256 x 32
// LATER: mlir:[[#]]:[[#]]: error: expected a TMA atom that {{.*}} makes of an argument of the function, or of a view that begins where one does; a launch plan has no other tensors

!mat = !cute.memref<f16, gmem, align<16>, "(?,256):(256,1)">
!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 131072, tma_gbasis = <"(256,32):(1@1,1@0)">, swizzle = 0>
!coords = !cute.coord_tensor<"(0,0)", "(?,256):(1@1,1@0)">

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @rows_kernel(%load: !load, %from: !coords) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
      cute_nvgpu.prefetch_tma_desc(%load)
      gpu.return
    }
  }

  // The rows that are asked for, of a tensor that may have more.
  func.func @rows(%S: !mat {cute.name = "S"}, %rows: i32 {cute.name = "rows"}) {
    %one = arith.constant 1 : index
    %threads = arith.constant 32 : index
    %c0 = arith.constant 0 : i32
    %tile = cute.static "(32,256):(256,1)"
    %begin = cute.get_iter(%S)
    // offset: %far = cute.static int_tuple "64"
    // offset: %later = cute.add_offset(%begin, %far)
    %shape = cute.make_shape(%rows) : (i32) -> !cute.shape<"(?,256)">
    %stride = cute.static : !cute.stride<"(256,1)">
    %layout = cute.make_layout(%shape, %stride)
    %part = cute.make_view(%begin, %layout)
    %load, %from = cute_nvgpu.atom.make_tma_load(%part, %tile)
    gpu.launch_func @kernels::@rows_kernel blocks in (%one, %one, %one) threads in (%threads, %one, %one)
      dynamic_shared_memory_size %c0 args(%load : !load, %from : !coords)
    return
  }
}
