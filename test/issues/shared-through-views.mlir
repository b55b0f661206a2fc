// A tensor in shared memory is in use wherever any view of it is: through partitions, pointers, and what a branch chooses. It
// was not where a view was made by local_partition or make_view, and then took no place from others.
//
// RUN: cute-opt %s --cute-allocate-shared --split-input-file | FileCheck %s

!plan_mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,1,1):(1,1,0)">, permutation_MNK = <"[16:1;16:1;16:1]">>
!plan_in = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
!plan_load = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
!plan_pair = !cute_nvgpu.atom.universal_copy<f16, 32 b>
!plan_out = !cute_nvgpu.atom.universal_copy<f16, 128 b>
#plan = #cute.plan<tile = 32x32x32, stages = 1, raster = 1, mma = !plan_mma,
  A = [<!plan_in, group, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 1>, <!plan_load, immediate>],
  B = [<!plan_in, group, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 1>, <!plan_load, immediate>],
  C = [<!plan_pair, immediate, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 1>, <!plan_out, immediate>]>
!s = !cute.memref<f32, smem, align<16>, "(128,8):(1,128)">
!p = !cute.memref<f32, smem, "(4,1):(32,1024)">
!l = !cute.layout<"(32,8):(1,32)">
!t = !cute.coord<"?">

// CHECK-LABEL: gpu.func @partitions
// CHECK-SAME:    cute.dynamic_smem = 8192 : i64
// CHECK:         cute.memref.alloca() {offset = 0 : i64}
// CHECK:         cute.memref.alloca() {offset = 4096 : i64}
gpu.module @kernels [#nvvm.target<chip = "sm_90">] {
  gpu.func @partitions(%l: !l, %t: !t, %c: !cute.coord<"(0,0)">, %v: f32) kernel attributes {cute.plan = #plan} {
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

!plan_mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,1,1):(1,1,0)">, permutation_MNK = <"[16:1;16:1;16:1]">>
!plan_in = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
!plan_load = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
!plan_pair = !cute_nvgpu.atom.universal_copy<f16, 32 b>
!plan_out = !cute_nvgpu.atom.universal_copy<f16, 128 b>
#plan = #cute.plan<tile = 32x32x32, stages = 1, raster = 1, mma = !plan_mma,
  A = [<!plan_in, group, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 1>, <!plan_load, immediate>],
  B = [<!plan_in, group, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 1>, <!plan_load, immediate>],
  C = [<!plan_pair, immediate, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 1>, <!plan_out, immediate>]>
!s = !cute.memref<f32, smem, align<16>, "(128,8):(1,128)">
!l = !cute.layout<"8:1">
!v = !cute.memref<f32, smem, align<16>, "8:1">

// CHECK-LABEL: gpu.func @pointers
// CHECK-SAME:    cute.dynamic_smem = 8192 : i64
gpu.module @kernels [#nvvm.target<chip = "sm_90">] {
  gpu.func @pointers(%l: !l, %c: !cute.coord<"0">, %v: f32) kernel attributes {cute.plan = #plan} {
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

!plan_mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,1,1):(1,1,0)">, permutation_MNK = <"[16:1;16:1;16:1]">>
!plan_in = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
!plan_load = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
!plan_pair = !cute_nvgpu.atom.universal_copy<f16, 32 b>
!plan_out = !cute_nvgpu.atom.universal_copy<f16, 128 b>
#plan = #cute.plan<tile = 32x32x32, stages = 1, raster = 1, mma = !plan_mma,
  A = [<!plan_in, group, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 1>, <!plan_load, immediate>],
  B = [<!plan_in, group, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 1>, <!plan_load, immediate>],
  C = [<!plan_pair, immediate, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 1>, <!plan_out, immediate>]>
!s = !cute.memref<f32, smem, align<16>, "(128,8):(1,128)">

// Which of the two is chosen, the condition says: both are in use.
// CHECK-LABEL: gpu.func @chosen
// CHECK-SAME:    cute.dynamic_smem = 8192 : i64
gpu.module @kernels [#nvvm.target<chip = "sm_90">] {
  gpu.func @chosen(%i: i1, %c: !cute.coord<"(0,0)">, %v: f32) kernel attributes {cute.plan = #plan} {
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
