// A prologue becomes a transformation on the way into the factor's tile in shared memory, and a function that the host verifies by.
//
// RUN: cute-opt %s --cute-tile="arch=sm_80 tile=64x64x32 warps=2x2 stages=2" --split-input-file | FileCheck %s
// RUN: cute-opt %s --cute-tile="arch=sm_80 tile=64x64x32 warps=2x2 stages=2" --split-input-file \
// RUN:   | cute-opt --split-input-file | FileCheck %s

// Tiles, atoms and products are those of the type that is multiplied; what is the same for all tiles along K is loaded once.
// CHECK-LABEL: func.func private @scaled_prologue_b(%{{.*}}: i8, %{{.*}}: f16, %{{.*}}: f16) -> f16
// CHECK:         arith.constant 2.0
// CHECK:         %[[Y:.*]] = arith.mulf
// CHECK-NEXT:    %[[X:.*]] = arith.mulf %[[Y]], %arg1
// CHECK-NEXT:    return %[[X]] : f16
// CHECK-LABEL: func.func @scaled
// CHECK-SAME:    cute.computes = [{accumulate = f32, gemm = array<i64: 0, 1, 2>, ins_b = array<i64: 3>, prologue_b = @scaled_prologue_b, scalars_b = array<i64: 4>}]
// CHECK-LABEL: gpu.func @scaled_kernel
// CHECK-SAME:    %[[POINT:[a-z0-9]*]]: f16) kernel
// CHECK-SAME:    A = [<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, group
// CHECK-SAME:    B = [<!cute_nvgpu.atom.universal_copy<f16, 128 b>, immediate, smem = <S<2,4,3>, "(64,32):(32,1)">, buffers = 2>, <!cute_nvgpu.atom.ldsm<val_type = f16
// CHECK:         cute.memref.alloca() : !cute.memref<f16, smem, align<512>, S<2,4,3>, "(64,32):(32,1)">
// CHECK-NEXT:    %[[SHARED:.*]] = cute.memref.alloca() : !cute.memref<f16, smem, align<512>, S<2,4,3>, "(64,32):(32,1)">
// CHECK:         %[[HELD:.*]] = cute.memref.alloca() : !cute.memref<f16, rmem, "(64,32):(1,0)">
// CHECK:         cute.block.copy B (%{{.*}}, %[[HELD]]) within(
// CHECK:         scf.for
// CHECK:           cute.block.copy A
// CHECK:           %[[AT:.*]] = cute.slice(%{{.*}}) : !cute.coord_tensor
// CHECK:           %[[BYTES:.*]] = cute.slice(%{{.*}}) : !cute.memref<i8, gmem
// CHECK:           cute.block.transform B ins(%[[BYTES]], %[[HELD]] : !cute.memref<i8, gmem, align<16>, "(64,32):(64,1)">, !cute.memref<f16, rmem, "(64,32):(1,0)">) outs(%[[SHARED]] : {{.*}}) within(%[[AT]], %{{.*}} :
// CHECK-NEXT:      ^bb0(%[[B:.*]]: i8, %[[S:.*]]: f16):
// CHECK:             arith.subf %{{.*}}, %[[POINT]]
// CHECK:             cute.yield %{{.*}} : f16
// CHECK:           cute.block.gemm
!a = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
!b = !cute.memref<i8, gmem, align<16>, "(100,64):(64,1)">
!c = !cute.memref<f16, gmem, align<16>, "(64,100):(100,1)">
!s = !cute.memref<f16, gmem, align<16>, "(100,64):(1,0)">
func.func @scaled(%A: !a, %B: !b, %C: !c, %scale: !s, %point: f16) {
  %two = arith.constant 2.0 : f16
  cute.contract ins(%A, %B : !a, !b) outs(%C : !c) accumulate f32 prologue B ins(%scale : !s) {
  ^bb0(%b: i8, %s: f16):
    %f = arith.sitofp %b : i8 to f16
    %y = arith.subf %f, %point : f16
    %z = arith.mulf %y, %two : f16
    %x = arith.mulf %z, %s : f16
    cute.yield %x : f16
  }
  return
}

// -----

// Of C by columns factors change places, and a prologue goes with its factor; a number of two regions is passed once, and so is
// a tensor. What is another one along K is read by tiles.
// CHECK-LABEL: func.func private @turned_prologue_a(%{{.*}}: f32, %{{.*}}: f32) -> f16
// CHECK-LABEL: func.func private @turned_epilogue(%{{.*}}: f32, %{{.*}}: f32) -> f32
// CHECK-LABEL: func.func @turned
// CHECK-SAME:    cute.computes = [{accumulate = f32, epilogue = @turned_epilogue, gemm = array<i64: 0, 1, 2>, ins_a = array<i64: 0>, prologue_a = @turned_prologue_a, scalars = array<i64: 3>}]
// CHECK-LABEL: gpu.func @turned_kernel(%arg0: {{.*}}, %arg1: {{.*}}, %arg2: {{.*}}, %arg3: f32) kernel
// CHECK-SAME:    A = [<!cute_nvgpu.atom.simt_async_copy<f16
// CHECK-SAME:    B = [<!cute_nvgpu.atom.universal_copy<f16, 64 b>
// CHECK-NOT:     cute.block.copy B
// CHECK:         scf.for
// CHECK:           cute.block.copy A
// CHECK:           cute.block.transform B ins(%{{.*}}, %{{.*}} : !cute.memref<f32, gmem, {{.*}}>, !cute.memref<f32, gmem, {{.*}}>)
!t = !cute.memref<f32, gmem, align<16>, "(64,64):(64,1)">
!h = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
!u = !cute.memref<f32, gmem, align<16>, "(64,64):(1,64)">
func.func @turned(%A: !t, %B: !h, %C: !u, %scale: f32) {
  cute.contract ins(%A, %B : !t, !h) outs(%C : !u) accumulate f32 prologue A ins(%A : !t) {
  ^bb0(%a: f32, %other: f32):
    %y = arith.mulf %a, %other : f32
    %x = arith.truncf %y : f32 to f16
    cute.yield %x : f16
  } epilogue {
  ^bb0(%sum: f32):
    %x = arith.mulf %sum, %scale : f32
    cute.yield %x : f32
  }
  return
}
