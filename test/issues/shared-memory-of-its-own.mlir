// Tensors of a kernel by hand share bytes where a barrier that its author wrote orders them; without one each has its own, as long as
// that leaves as many blocks at once. Where there is no room for both, they share, and a barrier is put between.
//
// RUN: cute-opt %s --cute-allocate-shared --cute-synchronize --split-input-file | FileCheck %s

!s = !cute.memref<f32, smem, align<16>, "1024:1">
!c = !cute.coord<"?">

// CHECK-LABEL: gpu.func @apart
// CHECK-SAME:    cute.dynamic_smem = 8192 : i64
// CHECK:         offset = 0 : i64
// CHECK:         offset = 4096 : i64
// CHECK-NOT:     gpu.barrier
// CHECK:         gpu.return
gpu.module @kernels [#nvvm.target<chip = "sm_80">] {
  gpu.func @apart(%i: !c, %x: f32) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %a = cute.memref.alloca() : !s
    %b = cute.memref.alloca() : !s
    cute.memref.store(%a, %i, %x) : (!s, !c, f32) -> ()
    cute.memref.store(%b, %i, %x) : (!s, !c, f32) -> ()
    gpu.return
  }
}

// -----

!s = !cute.memref<f32, smem, align<16>, "1024:1">
!c = !cute.coord<"?">

// CHECK-LABEL: gpu.func @ordered
// CHECK-SAME:    cute.dynamic_smem = 4096 : i64
// CHECK:         gpu.barrier
// CHECK-NOT:     gpu.barrier
// CHECK:         gpu.return
gpu.module @kernels [#nvvm.target<chip = "sm_80">] {
  gpu.func @ordered(%i: !c, %x: f32) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %a = cute.memref.alloca() : !s
    %b = cute.memref.alloca() : !s
    cute.memref.store(%a, %i, %x) : (!s, !c, f32) -> ()
    gpu.barrier
    cute.memref.store(%b, %i, %x) : (!s, !c, f32) -> ()
    gpu.return
  }
}

// -----

// 96 KB each: sm_80 has 163 KB for a block.
!s = !cute.memref<f32, smem, align<16>, "24576:1">
!c = !cute.coord<"?">

// CHECK-LABEL: gpu.func @no_room
// CHECK-SAME:    cute.dynamic_smem = 98304 : i64
// CHECK:         cute.memref.store
// CHECK-NEXT:    gpu.barrier
// CHECK-NEXT:    cute.memref.store
gpu.module @kernels [#nvvm.target<chip = "sm_80">] {
  gpu.func @no_room(%i: !c, %x: f32) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %a = cute.memref.alloca() : !s
    %b = cute.memref.alloca() : !s
    cute.memref.store(%a, %i, %x) : (!s, !c, f32) -> ()
    cute.memref.store(%b, %i, %x) : (!s, !c, f32) -> ()
    gpu.return
  }
}

// -----

// 64 KB each: with both at once a multiprocessor of sm_80 runs one block, with one of them two.
!s = !cute.memref<f32, smem, align<16>, "16384:1">
!c = !cute.coord<"?">

// CHECK-LABEL: gpu.func @more_blocks
// CHECK-SAME:    cute.dynamic_smem = 65536 : i64
// CHECK:         gpu.barrier
gpu.module @kernels [#nvvm.target<chip = "sm_80">] {
  gpu.func @more_blocks(%i: !c, %x: f32) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %a = cute.memref.alloca() : !s
    %b = cute.memref.alloca() : !s
    cute.memref.store(%a, %i, %x) : (!s, !c, f32) -> ()
    cute.memref.store(%b, %i, %x) : (!s, !c, f32) -> ()
    gpu.return
  }
}
