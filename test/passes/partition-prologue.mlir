// What a prologue computes, a thread does vector by vector on the way to shared memory: it loads what is stored, computes, and stores.
//
// RUN: cute-opt %s --cute-tile="arch=sm_80 tile=64x64x64 warps=2x2 stages=2 prologue=shared" --cute-partition --split-input-file | FileCheck %s
// RUN: cute-opt %s --cute-tile="arch=sm_80 tile=64x64x64 warps=2x2 stages=2 prologue=shared" --cute-partition --split-input-file \
// RUN:   | cute-opt --split-input-file | FileCheck %s

// Four vectors of eight bytes; a scale for each is there before the loop, once for all of its elements.
// CHECK-LABEL: gpu.func @scaled_kernel
// CHECK-NOT:     cute.block
// CHECK:         %[[SCALES:.*]] = cute.memref.alloca() : !cute.memref<f16, rmem, "((8,1),4,1):((0,0),1,0)">
// CHECK:         cute.autovec_copy(%{{.*}}, %[[SCALES]])
// CHECK:         scf.for
// CHECK:           %[[BYTES:.*]] = cute.memref.alloca() : !cute.memref<i8, rmem, "((8,1),4,1):((1,0),8,0)">
// CHECK:           cute.autovec_copy(%{{.*}}, %[[BYTES]])
// CHECK:           %[[RESULT:.*]] = cute.memref.alloca() : !cute.memref<f16, rmem, "((8,1),4,1):((1,0),8,0)">
// CHECK:           %[[SOME:.*]] = cute.slice(%[[BYTES]]
// CHECK:           %[[B:.*]] = cute.memref.load_vec %[[SOME]]
// CHECK:           %[[ONE:.*]] = cute.slice(%[[SCALES]]
// CHECK:           %[[S:.*]] = cute.memref.load_vec %[[ONE]] : !cute.memref<f16, rmem, "((8,1)):((0,0))">
// CHECK:           %[[F:.*]] = arith.sitofp %[[B]] : vector<8xi8> to vector<8xf16>
// CHECK:           %[[X:.*]] = arith.mulf %[[F]], %[[S]] : vector<8xf16>
// CHECK-NOT:       arith.select
// CHECK:           %[[PLACE:.*]] = cute.slice(%[[RESULT]]
// CHECK:           cute.memref.store_vec %[[X]], %[[PLACE]]
// CHECK-COUNT-3:   cute.memref.store_vec
// CHECK:           cute.copy(%{{.*}}, %[[RESULT]], %{{.*}}) : (!cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>
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

// -----

// What may not be there is not loaded, and is 0 behind the region, whatever that makes of 0; numbers of 8 bits are what registers
// hold their bits as.
// CHECK-LABEL: gpu.func @edges_kernel
// CHECK:         scf.for
// CHECK:           cute.copy(%{{.*}}) : (!cute.tiled_copy<!cute_nvgpu.atom.simt_async_copy
// CHECK:           %[[THERE:.*]] = cute.memref.alloca() : !cute.memref<i1, rmem, "(4,1):(1,0)">
// CHECK:           %[[BITS:.*]] = cute.memref.alloca() : !cute.memref<i8, rmem, "((8,1),4,1):((1,0),8,0)">
// CHECK:           cute.clear(%[[BITS]])
// CHECK:           cute.copy(%{{.*}}, %{{.*}}, %[[VECTORS:.*]], %{{.*}}) : (!cute_nvgpu.atom.universal_copy<f8E4M3FN, 64 b>
// CHECK:           %[[B:.*]] = cute.memref.load_vec
// CHECK:           %[[N:.*]] = arith.bitcast %[[B]] : vector<8xi8> to vector<8xf8E4M3FN>
// CHECK:           %[[ONE:.*]] = arith.constant 1.0
// CHECK:           %[[ONES:.*]] = vector.from_elements %[[ONE]], %[[ONE]],
// CHECK:           %[[F:.*]] = arith.extf %[[N]] : vector<8xf8E4M3FN> to vector<8xf16>
// CHECK:           %[[X:.*]] = arith.addf %[[F]], %[[ONES]] : vector<8xf16>
// CHECK:           %[[IS:.*]] = cute.memref.load(%[[THERE]]
// CHECK:           %[[ZERO:.*]] = arith.constant dense<0.0
// CHECK:           %[[KEPT:.*]] = arith.select %[[IS]], %[[X]], %[[ZERO]] : vector<8xf16>
// CHECK:           cute.memref.store_vec %[[KEPT]]
!a = !cute.memref<f16, gmem, align<16>, "(64,72):(72,1)">
!e = !cute.memref<f8E4M3FN, gmem, align<16>, "(64,72):(72,1)">
!c = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
func.func @edges(%A: !a, %B: !e, %C: !c) {
  cute.contract ins(%A, %B : !a, !e) outs(%C : !c) accumulate f32 prologue B {
  ^bb0(%b: f8E4M3FN):
    %one = arith.constant 1.0 : f16
    %f = arith.extf %b : f8E4M3FN to f16
    %x = arith.addf %f, %one : f16
    cute.yield %x : f16
  }
  return
}
