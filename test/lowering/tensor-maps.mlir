// Tensor maps of views: a map has the sizes of the view, also those that a launch computes, and begins where the view does, at a multiple of 16 bytes.
//
// RUN: cute-opt %s --cute-compile="arch=sm_90a package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --info | FileCheck %s
// CHECK: launch 0: rows_kernel(map of S (256 x rows) by boxes of 256 x 32
//
// RUN: sed 's,// known: ,,; s/make_view(%begin/make_view(%later/' %s > %t.known.mlir
// RUN: cute-opt %t.known.mlir --cute-compile="arch=sm_90a package=%t.known.cutepkg" -o /dev/null
// RUN: cute-run %t.known.cutepkg --info | FileCheck %s --check-prefix=KNOWN
// KNOWN: launch 0: rows_kernel(map of S from byte 128 on (256 x rows) by boxes of 256 x 32
//
// Elements that a launch brings: it asks for the 16 bytes that a type promises.
// RUN: sed 's,// open: ,,; s/make_view(%begin/make_view(%later/' %s > %t.open.mlir
// RUN: cute-opt %t.open.mlir --cute-compile="arch=sm_90a package=%t.open.cutepkg" -o /dev/null
// RUN: cute-run %t.open.cutepkg --info | FileCheck %s --check-prefix=OPEN
// OPEN: expected a view that begins at a multiple of 16 bytes of argument 0, as a tensor map does, for the TMA atom at {{.*}}open.mlir:[[#]]:[[#]]; begin it at another element, or copy it by cp.async
// OPEN: launch 0: rows_kernel(map of S from byte (rows * 2) on (256 x rows) by boxes of 256 x 32
// RUN: cute-run %t.open.cutepkg --device=emulator --no-verify --shape S=64x256 --set rows=8
// RUN: not cute-run %t.open.cutepkg --device=emulator --no-verify --shape S=64x256 --set rows=9 2>&1 | FileCheck %s --check-prefix=REFUSED
// REFUSED: expected a view that begins at a multiple of 16 bytes of argument 0, as a tensor map does, for the TMA atom at {{.*}}open.mlir:[[#]]:[[#]]; begin it at another element, or copy it by cp.async
//
// A view that begins before its argument, and those that begin between multiples of 16 bytes.
// RUN: sed 's,// known: ,,; s/int_tuple "64"/int_tuple "-64"/; s/make_view(%begin/make_view(%later/' %s > %t.before.mlir
// RUN: not cute-opt %t.before.mlir --cute-compile="arch=sm_90a package=%t.before.cutepkg" -o /dev/null 2>&1 | FileCheck %s --check-prefix=BEFORE
// RUN: not ls %t.before.cutepkg
// BEFORE: mlir:[[#]]:[[#]]: error: expected a view that begins at a multiple of 16 bytes of argument 0, as a tensor map does, for the TMA atom, found byte -128; begin it at another element, or copy it by cp.async
// RUN: sed 's,// known: ,,; s/int_tuple "64"/int_tuple "4"/; s/make_view(%begin/make_view(%later/' %s > %t.between.mlir
// RUN: not cute-opt %t.between.mlir --cute-compile="arch=sm_90a" -o /dev/null 2>&1 | FileCheck %s --check-prefix=BETWEEN
// RUN: sed 's,// open: ,,; s/ -> !cute.int_tuple<.*//; s/make_view(%begin/make_view(%later/' %s > %t.unknown.mlir
// RUN: not cute-opt %t.unknown.mlir --cute-compile="arch=sm_90a" -o /dev/null 2>&1 | FileCheck %s --check-prefix=BETWEEN
// BETWEEN: mlir:[[#]]:[[#]]: error: 'cute_nvgpu.atom.make_tma_load' op expected a tensor that starts at a multiple of 16 bytes, as TMA asks, found align<{{[28]}}>; begin a view at such an element, and where only a launch knows that, promise it, as in cute.make_int_tuple(%i) -> !cute.int_tuple<"?{div=8}">: the launch asks

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
    // known: %far = cute.static int_tuple "64"
    // open: %far = cute.make_int_tuple(%rows) -> !cute.int_tuple<"?{div=8}">
    // known: %later = cute.add_offset(%begin, %far)
    // open: %later = cute.add_offset(%begin, %far)
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
