// Products of groups of rows that no kernel is for.
//
// RUN: cute-opt %s --cute-tile="arch=sm_80" --split-input-file --verify-diagnostics

!a = !cute.memref<f16, gmem, align<16>, "(64,(8,8)):(100,(1,10))">
!b = !cute.memref<f16, gmem, align<16>, "(32,64,4):(64,1,2048)">
!c = !cute.memref<f16, gmem, align<16>, "(64,32):(32,1)">
!e = !cute.memref<i32, gmem, "4:1">
func.func @pieces(%A: !a, %B: !b, %C: !c, %E: !e) {
  // expected-error @below {{has groups of rows; expected A with one extent and one stride for each mode, found (64,(8,8)):(100,(1,10))}}
  cute.contract ins(%A, %B : !a, !b) outs(%C : !c) accumulate f32 groups M(%E : !e)
  return
}

// -----

!a = !cute.memref<f16, gmem, align<16>, "(3000000000,16):(0,1)">
!b = !cute.memref<f16, gmem, align<16>, "(8,16,4):(16,1,128)">
!c = !cute.memref<f16, gmem, align<16>, "(3000000000,8):(8,1)">
!e = !cute.memref<i32, gmem, "4:1">
func.func @many(%A: !a, %B: !b, %C: !c, %E: !e) {
  // expected-error @below {{has groups of rows; expected at most 2147483647 of them, an integer of 32 bits, found (3000000000,8):(8,1)}}
  cute.contract ins(%A, %B : !a, !b) outs(%C : !c) accumulate f32 groups M(%E : !e)
  return
}

// -----

!a = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
!b = !cute.memref<f16, gmem, align<16>, "(32,64,4):(64,1,2048)">
!c = !cute.memref<f16, gmem, align<16>, "(64,32):(32,1)">
!e = !cute.memref<i32, gmem, "4:1">
func.func @written(%A: !a, %B: !b, %C: !c, %E: !e) {
  // expected-error @below {{has groups of rows, of which only the GPU knows how many each has; expected no split=}}
  cute.contract ins(%A, %B : !a, !b) outs(%C : !c) accumulate f32 {cute.split = 2 : i64} groups M(%E : !e)
  return
}
