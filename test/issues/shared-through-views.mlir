// A tensor in shared memory is in use wherever any view of it is: through partitions, pointers, and what a branch chooses. It
// was not where a view was made by local_partition or make_view, and then took no place from others.
//
// RUN: cute-opt %s --cute-allocate-shared --split-input-file | FileCheck %s

#config = {arch = "sm_90", raster = 1 : i64, stages = 1 : i64, swizzle = "auto", tile = array<i64: 32, 32, 32>, warps = array<i64: 1, 1>}
!s = !cute.memref<f32, smem, align<16>, "(128,8):(1,128)">
!p = !cute.memref<f32, smem, "(4,1):(32,1024)">
!l = !cute.layout<"(32,8):(1,32)">
!t = !cute.coord<"?">

// CHECK-LABEL: gpu.func @partitions
// CHECK-SAME:    cute.dynamic_smem = 8192 : i64
// CHECK:         cute.memref.alloca() {offset = 0 : i64}
// CHECK:         cute.memref.alloca() {offset = 4096 : i64}
gpu.module @kernels {
  gpu.func @partitions(%l: !l, %t: !t, %c: !cute.coord<"(0,0)">, %v: f32) kernel attributes {cute.config = #config} {
    %a = cute.memref.alloca() : !s
    %b = cute.memref.alloca() : !s
    %x = cute.local_partition(%a, %l, %t) : (!s, !l, !t) -> !p
    %y = cute.local_partition(%b, %l, %t) : (!s, !l, !t) -> !p
    cute.memref.store(%x, %c, %v) : (!p, !cute.coord<"(0,0)">, f32) -> ()
    cute.memref.store(%y, %c, %v) : (!p, !cute.coord<"(0,0)">, f32) -> ()
    %w = cute.memref.load(%x, %c) : (!p, !cute.coord<"(0,0)">) -> f32
    gpu.return
  }
}

// -----

#config = {arch = "sm_90", raster = 1 : i64, stages = 1 : i64, swizzle = "auto", tile = array<i64: 32, 32, 32>, warps = array<i64: 1, 1>}
!s = !cute.memref<f32, smem, align<16>, "(128,8):(1,128)">
!l = !cute.layout<"8:1">
!v = !cute.memref<f32, smem, align<16>, "8:1">

// CHECK-LABEL: gpu.func @pointers
// CHECK-SAME:    cute.dynamic_smem = 8192 : i64
gpu.module @kernels {
  gpu.func @pointers(%l: !l, %c: !cute.coord<"0">, %v: f32) kernel attributes {cute.config = #config} {
    %a = cute.memref.alloca() : !s
    %b = cute.memref.alloca() : !s
    %p = cute.get_iter(%a) : !s
    %q = cute.get_iter(%b) : !s
    %x = cute.make_view(%p, %l) : !v
    %y = cute.make_view(%q, %l) : !v
    cute.memref.store(%x, %c, %v) : (!v, !cute.coord<"0">, f32) -> ()
    cute.memref.store(%y, %c, %v) : (!v, !cute.coord<"0">, f32) -> ()
    %w = cute.memref.load(%x, %c) : (!v, !cute.coord<"0">) -> f32
    gpu.return
  }
}

// -----

#config = {arch = "sm_90", raster = 1 : i64, stages = 1 : i64, swizzle = "auto", tile = array<i64: 32, 32, 32>, warps = array<i64: 1, 1>}
!s = !cute.memref<f32, smem, align<16>, "(128,8):(1,128)">

// Which of the two is chosen, the condition says: both are in use.
// CHECK-LABEL: gpu.func @chosen
// CHECK-SAME:    cute.dynamic_smem = 8192 : i64
gpu.module @kernels {
  gpu.func @chosen(%i: i1, %c: !cute.coord<"(0,0)">, %v: f32) kernel attributes {cute.config = #config} {
    %a = cute.memref.alloca() : !s
    %b = cute.memref.alloca() : !s
    %x = scf.if %i -> !s {
      scf.yield %a : !s
    } else {
      scf.yield %b : !s
    }
    cute.memref.store(%x, %c, %v) : (!s, !cute.coord<"(0,0)">, f32) -> ()
    gpu.return
  }
}
