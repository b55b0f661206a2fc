// What a thread multiplies is computed in its registers where its tile in shared memory has elements as they are stored: K is permuted so that a thread multiplies neighbours,
// and both factors are loaded by vectors in the order in which they lie there.
//
// RUN: cute-opt %s --cute-tile="arch=sm_80 tile=64x64x64 warps=2x2 stages=2 prologue=registers" | FileCheck %s --check-prefix=TILE
// RUN: cute-opt %s --cute-tile="arch=sm_80 tile=64x64x64 warps=2x2 stages=2 prologue=registers" --cute-partition | FileCheck %s
// RUN: cute-opt %s --cute-tile="arch=sm_80 tile=64x64x64 warps=2x2 stages=2 prologue=registers" --cute-partition | cute-opt | FileCheck %s

// TILE-LABEL: gpu.func @scaled_kernel
// TILE-SAME:    permutation_MNK = <"[32:1;16:1;(2,4,2,4):(1,16,2,4)]">
// TILE-SAME:    B = [<!cute_nvgpu.atom.simt_async_copy<i8, cache = global, 128 b>, group, smem = <"(64,64):(64,1)">, buffers = 2>, <!cute_nvgpu.atom.universal_copy<i8, 128 b>, immediate>]
// TILE:         %[[SCALES:.*]] = cute.memref.alloca() : !cute.memref<f16, rmem, "(64,64):(1,0)">
// TILE:         cute.block.copy B ({{.*}}, %[[SCALES]])
// TILE:         scf.for
// TILE:           cute.block.copy A ({{.*}}, %[[A:.*]]) : (
// TILE:           cute.block.copy B ({{.*}}, %[[BYTES:.*]]) : (
// TILE:           %[[B:.*]] = cute.memref.alloca() : !cute.memref<f16, rmem, "(64,64):(64,1)">
// TILE:           cute.block.transform B ins(%[[BYTES]], %[[SCALES]] : {{.*}}) outs(%[[B]] :
// TILE:           cute.block.gemm(%[[A]], %[[B]], %{{.*}})

// CHECK-LABEL: gpu.func @scaled_kernel
// CHECK-NOT:     cute.block
// CHECK:         %[[SCALES:.*]] = cute.memref.alloca() : !cute.memref<f16, rmem, "((2,2),4,4):((0,0),1,0)">
// CHECK:         cute.autovec_copy(%{{.*}}, %[[SCALES]])
// CHECK:         scf.for
// CHECK-COUNT-2:   cute.copy(%{{.*}}) : (!cute.tiled_copy<!cute_nvgpu.atom.simt_async_copy
// CHECK:           %[[BYTES:.*]] = cute.memref.alloca() : !cute.memref<i8, rmem, "((2,2),4,4):((1,2),16,4)">
// CHECK:           cute.autovec_copy(%{{.*}}, %[[BYTES]])
// CHECK:           %[[B:.*]] = cute.memref.alloca() : !cute.memref<f16, rmem, "((2,2),4,4):((1,2),16,4)">
// CHECK:           %[[W:.*]] = cute.memref.load_vec
// CHECK:           %[[S:.*]] = cute.memref.load_vec
// CHECK:           %[[F:.*]] = arith.sitofp %[[W]] : vector<16xi8> to vector<16xf16>
// CHECK:           %[[X:.*]] = arith.mulf %[[F]], %[[S]] : vector<16xf16>
// CHECK-COUNT-4:   cute.memref.store_vec
// CHECK:           %[[A:.*]] = cute.memref.alloca() : !cute.memref<f16, rmem, "((2,2,2),2,4):((1,16,2),32,4)">
// CHECK:           cute.autovec_copy(%{{.*}}, %[[A]])
// CHECK:           cute.gemm(%{{.*}}, %{{.*}}, %[[A]], %[[B]], %{{.*}})
!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
!w = !cute.memref<i8, gmem, align<16>, "(64,64):(64,1)">
!s = !cute.memref<f16, gmem, align<16>, "(64,64):(1,0)">
func.func @scaled(%A: !t, %B: !w, %C: !t, %scale: !s) {
  cute.contract ins(%A, %B : !t, !w) outs(%C : !t) accumulate f32 prologue B ins(%scale : !s) {
  ^bb0(%b: i8, %s: f16):
    %f = arith.sitofp %b : i8 to f16
    %x = arith.mulf %f, %s : f16
    cute.yield %x : f16
  }
  return
}
