// Places of tensors in shared memory.
//
// RUN: cute-opt %s --cute-allocate-shared --split-input-file | FileCheck %s
// RUN: cute-opt %s --cute-allocate-shared --split-input-file | cute-opt --split-input-file | FileCheck %s

!plan_mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,1,1):(1,1,0)">, permutation_MNK = <"[16:1;16:1;16:1]">>
!plan_in = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
!plan_load = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
!plan_pair = !cute_nvgpu.atom.universal_copy<f16, 32 b>
!plan_out = !cute_nvgpu.atom.universal_copy<f16, 128 b>
#plan = #cute.plan<tile = 32x32x32, stages = 1, raster = 1, mma = !plan_mma,
  A = [<!plan_in, group, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 1>, <!plan_load, immediate>],
  B = [<!plan_in, group, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 1>, <!plan_load, immediate>],
  C = [<!plan_pair, immediate, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 1>, <!plan_out, immediate>]>
!copy = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"((4,16),8):((128,1),16)">, tiler_mn = <"[16:1;32:1]">>
!s = !cute.memref<f16, smem, align<512>, S<2,4,3>, "(32,32):(32,1)">
!p = !cute.memref<f16, smem, align<512>, S<2,4,3>, "((8,1),2,1):((1,8),512,32)">

// %a and %b are used at one time, %c after them: it takes the place of %a (cute-synchronize puts the barrier between). Views
// do not count as uses; what is made outside of a loop and used in it lives as long as the loop.
// CHECK-LABEL: gpu.func @reuse
// CHECK-SAME:    cute.dynamic_smem = 4096 : i64
// CHECK:         %[[A:.*]] = cute.memref.alloca() {offset = 0 : i64}
// CHECK:         %[[B:.*]] = cute.memref.alloca() {offset = 2048 : i64}
// CHECK:         %[[C:.*]] = cute.memref.alloca() {offset = 0 : i64}
// CHECK-NOT:     gpu.barrier
// CHECK:         gpu.return
gpu.module @kernels [#nvvm.target<chip = "sm_80">] {
  gpu.func @reuse(%copy: !copy, %v: vector<8xf16>) kernel attributes {cute.plan = #plan, cute.synchronize} {
    %t = cute.static : !cute.coord<"0">
    %a = cute.memref.alloca() : !s
    %b = cute.memref.alloca() : !s
    %c = cute.memref.alloca() : !s
    %pa = cute.tiled.copy.partition_D(%copy, %a, %t) : (!copy, !s, !cute.coord<"0">) -> !p
    %pb = cute.tiled.copy.partition_D(%copy, %b, %t) : (!copy, !s, !cute.coord<"0">) -> !p
    %pc = cute.tiled.copy.partition_D(%copy, %c, %t) : (!copy, !s, !cute.coord<"0">) -> !p
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c4 = arith.constant 4 : i32
    scf.for %k = %c0 to %c4 step %c1 : i32 {
      cute.atom_store(%copy, %v, %pa) at [0, 0, 0] : (!copy, vector<8xf16>, !p)
      cute.atom_store(%copy, %v, %pb) at [0, 0, 0] : (!copy, vector<8xf16>, !p)
    }
    cute.atom_store(%copy, %v, %pc) at [0, 0, 0] : (!copy, vector<8xf16>, !p)
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
!copy = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"((4,16),8):((128,1),16)">, tiler_mn = <"[16:1;32:1]">>
!s = !cute.memref<f16, smem, align<512>, S<2,4,3>, "(32,32):(32,1)">
!p = !cute.memref<f16, smem, align<512>, S<2,4,3>, "((8,1),2,1):((1,8),512,32)">

// As behind a barrier.
// CHECK-LABEL: gpu.func @barrier
// CHECK-SAME:    cute.dynamic_smem = 2048 : i64
// CHECK:         offset = 0
// CHECK:         offset = 0
// CHECK:         cute.atom_store
// CHECK-NEXT:    gpu.barrier
// CHECK-NEXT:    cute.atom_store
gpu.module @kernels [#nvvm.target<chip = "sm_80">] {
  gpu.func @barrier(%copy: !copy, %v: vector<8xf16>) kernel attributes {cute.plan = #plan, cute.synchronize} {
    %t = cute.static : !cute.coord<"0">
    %a = cute.memref.alloca() : !s
    %c = cute.memref.alloca() : !s
    %pa = cute.tiled.copy.partition_D(%copy, %a, %t) : (!copy, !s, !cute.coord<"0">) -> !p
    %pc = cute.tiled.copy.partition_D(%copy, %c, %t) : (!copy, !s, !cute.coord<"0">) -> !p
    cute.atom_store(%copy, %v, %pa) at [0, 0, 0] : (!copy, vector<8xf16>, !p)
    gpu.barrier
    cute.atom_store(%copy, %v, %pc) at [0, 0, 0] : (!copy, vector<8xf16>, !p)
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
!small = !cute.memref<f16, smem, align<16>, "(32,4):(4,1)">
!large = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(32,64):(64,1)">

// Whole tensors are used where they are copied. All at one time: the largest comes first, the next
// behind it at a multiple of its alignment.
// CHECK-LABEL: gpu.func @together
// CHECK-SAME:    cute.dynamic_smem = 8448 : i64
// CHECK:         cute.memref.alloca() {offset = 8192 : i64} : !cute.memref<f16, smem, align<16>, "(32,4):(4,1)">
// CHECK:         cute.memref.alloca() {offset = 0 : i64} : !cute.memref<f16, smem, align<1024>
// CHECK:         cute.memref.alloca() {offset = 4096 : i64} : !cute.memref<f16, smem, align<1024>
// CHECK-NOT:     gpu.barrier
// Registers have no place.
// CHECK:         cute.memref.alloca() : !cute.memref<f32, rmem, "4:1">
// CHECK-NOT:     gpu.barrier
gpu.module @kernels [#nvvm.target<chip = "sm_80">] {
  gpu.func @together() kernel attributes {cute.plan = #plan, cute.synchronize} {
    %a = cute.memref.alloca() : !small
    %b = cute.memref.alloca() : !large
    %c = cute.memref.alloca() : !large
    %r = cute.memref.alloca() : !cute.memref<f32, rmem, "4:1">
    cute.block.copy A (%a, %a) : (!small, !small)
    cute.block.copy A (%b, %c) : (!large, !large)
    cute.block.copy A (%a, %a) : (!small, !small)
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
!s = !cute.memref<f16, smem, align<128>, "(64,512):(512,1)">

// The size stands on the kernel, beyond 48 KB too, and also where there is nothing to place.
// CHECK-LABEL: gpu.func @sized
// CHECK-SAME:    cute.dynamic_smem = 65536 : i64
// CHECK-LABEL: gpu.func @none
// CHECK-SAME:    cute.dynamic_smem = 0 : i64
  gpu.module @kernels [#nvvm.target<chip = "sm_90">] {
    gpu.func @sized() kernel attributes {cute.plan = #plan, cute.synchronize} {
      %a = cute.memref.alloca() : !s
      cute.block.copy A (%a, %a) : (!s, !s)
      gpu.return
    }
    gpu.func @none() kernel attributes {cute.plan = #plan, cute.synchronize} {
      gpu.return
    }
  }

// -----

!s = !cute.memref<f32, smem, align<16>, "32:1">
!c = !cute.coord<"?">

// Tensors that a turn of a loop makes live within the turn, also where the loop is one of tiles: the second takes the place of
// the first. What is made outside of it lives as long as the loop does.
// CHECK-LABEL: gpu.func @in_a_loop
// CHECK-SAME:    cute.dynamic_smem = 256 : i64
// CHECK:         cute.memref.alloca() {offset = 0 : i64}
// CHECK:         scf.for
// CHECK:           cute.memref.alloca() {offset = 128 : i64}
// CHECK:           cute.memref.alloca() {offset = 128 : i64}
gpu.module @kernels [#nvvm.target<chip = "sm_80">] {
  gpu.func @in_a_loop(%at: !c, %v: f32) kernel attributes {cute.synchronize} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c4 = arith.constant 4 : i32
    %all = cute.memref.alloca() : !s
    scf.for %k = %c0 to %c4 step %c1 : i32 {
      %a = cute.memref.alloca() : !s
      %b = cute.memref.alloca() : !s
      cute.memref.store(%a, %at, %v) : (!s, !c, f32) -> ()
      %x = cute.memref.load(%a, %at) : (!s, !c) -> f32
      cute.memref.store(%b, %at, %x) : (!s, !c, f32) -> ()
      %y = cute.memref.load(%b, %at) : (!s, !c) -> f32
      cute.memref.store(%all, %at, %y) : (!s, !c, f32) -> ()
    }
    gpu.return
  }
}

// -----

!s = !cute.memref<f32, smem, align<16>, "32:1">
!c = !cute.coord<"?">

// All threads take one branch or the other: what is made in one takes the place of what is made in the other. Where the thread
// decides, both are there at one time.
// CHECK-LABEL: gpu.func @in_branches
// CHECK-SAME:    cute.dynamic_smem = 128 : i64
// CHECK-LABEL: gpu.func @in_branches_of_threads
// CHECK-SAME:    cute.dynamic_smem = 256 : i64
gpu.module @kernels [#nvvm.target<chip = "sm_80">] {
  gpu.func @in_branches(%at: !c, %v: f32, %if: i1) kernel attributes {cute.synchronize} {
    scf.if %if {
      %a = cute.memref.alloca() : !s
      cute.memref.store(%a, %at, %v) : (!s, !c, f32) -> ()
    } else {
      %b = cute.memref.alloca() : !s
      cute.memref.store(%b, %at, %v) : (!s, !c, f32) -> ()
    }
    gpu.return
  }
  gpu.func @in_branches_of_threads(%at: !c, %v: f32) kernel attributes {cute.synchronize} {
    %t = gpu.thread_id x
    %c16 = arith.constant 16 : index
    %if = arith.cmpi ult, %t, %c16 : index
    scf.if %if {
      %a = cute.memref.alloca() : !s
      cute.memref.store(%a, %at, %v) : (!s, !c, f32) -> ()
    } else {
      %b = cute.memref.alloca() : !s
      cute.memref.store(%b, %at, %v) : (!s, !c, f32) -> ()
    }
    gpu.return
  }
}
