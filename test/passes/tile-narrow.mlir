// Numbers of 8 bits are multiplied as f16 where no tensor core multiplies them by mma.sync.
//
// RUN: cute-opt %s --cute-tile="arch=sm_90a instructions=mma" --split-input-file | FileCheck %s --check-prefixes=CHECK,WIDE
// RUN: cute-opt %s --cute-tile="arch=sm_80" --split-input-file | FileCheck %s --check-prefixes=CHECK,WIDE
// RUN: cute-opt %s --cute-tile="arch=sm_89,sm_90" --split-input-file | FileCheck %s --check-prefixes=CHECK,WIDE
// RUN: cute-opt %s --cute-tile="arch=sm_120" --split-input-file | FileCheck %s --check-prefixes=CHECK,OWN

// CHECK-LABEL: func.func @plain(
// WIDE-SAME:     prologue_a = @plain_prologue_a, prologue_b = @plain_prologue_b
// OWN-NOT:       prologue
// CHECK:       gpu.func @plain_kernel
// WIDE-SAME:     sm80.mma<16x8x16, elem_type = (f16, f16, f32) >
// OWN-SAME:      sm89.mma
// WIDE:          cute.block.transform A ins
// WIDE-NEXT:     ^bb0(%[[A:.*]]: f8E4M3FN):
// WIDE-NEXT:       %[[WIDE:.*]] = arith.extf %[[A]] : f8E4M3FN to f16
// WIDE-NEXT:       cute.yield %[[WIDE]] : f16
// WIDE:          cute.block.transform B ins
// WIDE:            arith.extf %{{.*}} : f8E5M2 to f16
!a = !cute.memref<f8E4M3FN, gmem, align<16>, "(64,64):(64,1)">
!b = !cute.memref<f8E5M2, gmem, align<16>, "(64,64):(64,1)">
!c = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
func.func @plain(%A: !a, %B: !b, %C: !c) {
  cute.contract ins(%A, %B : !a, !b) outs(%C : !c) accumulate f32
  return
}

// -----

// What is yielded is made wider, and an epilogue stays.
// CHECK-LABEL: func.func @yielded(
// CHECK-SAME:    epilogue = @yielded_epilogue
// CHECK:       gpu.func @yielded_kernel
// WIDE:          cute.block.transform A ins
// WIDE:            %[[NARROW:.*]] = arith.truncf %{{.*}} : f16 to f8E4M3FN
// WIDE:            arith.extf %[[NARROW]] : f8E4M3FN to f16
!h = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
!a = !cute.memref<f8E4M3FN, gmem, align<16>, "(64,64):(64,1)">
func.func @yielded(%A: !h, %B: !a, %C: !h) {
  cute.contract ins(%A, %B : !h, !a) outs(%C : !h) accumulate f32 prologue A {
  ^bb0(%x: f16):
    %y = arith.truncf %x : f16 to f8E4M3FN
    cute.yield %y : f8E4M3FN
  } epilogue {
  ^bb0(%s: f32):
    %c = arith.truncf %s : f32 to f16
    cute.yield %c : f16
  }
  return
}
