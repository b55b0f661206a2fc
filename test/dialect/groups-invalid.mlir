// Products of groups of rows that are none.
//
// RUN: cute-opt %s --split-input-file --verify-diagnostics

!a = !cute.memref<f16, gmem, align<16>, "(64,16):(16,1)">
!b = !cute.memref<f16, gmem, align<16>, "(32,16,4):(16,1,512)">
!c = !cute.memref<f16, gmem, align<16>, "(64,32):(32,1)">
!e = !cute.memref<f32, gmem, "4:1">
func.func @floats(%A: !a, %B: !b, %C: !c, %E: !e) {
  // expected-error @below {{expected ends of groups of i32 or i64, found f32}}
  cute.contract ins(%A, %B : !a, !b) outs(%C : !c) accumulate f32 groups M(%E : !e)
  return
}

// -----

!a = !cute.memref<f16, gmem, align<16>, "(64,16):(16,1)">
!b = !cute.memref<f16, gmem, align<16>, "(32,16,4):(16,1,512)">
!c = !cute.memref<f16, gmem, align<16>, "(64,32):(32,1)">
!e = !cute.memref<i32, gmem, "5:1">
func.func @other_count(%A: !a, %B: !b, %C: !c, %E: !e) {
  // expected-error @below {{expected an end of a group for each of the 4 matrices of B, found 5:1}}
  cute.contract ins(%A, %B : !a, !b) outs(%C : !c) accumulate f32 groups M(%E : !e)
  return
}

// -----

!a = !cute.memref<f16, gmem, align<16>, "(64,16):(16,1)">
!b = !cute.memref<f16, gmem, align<16>, "(32,16):(16,1)">
!c = !cute.memref<f16, gmem, align<16>, "(64,32):(32,1)">
!e = !cute.memref<i32, gmem, "4:1">
func.func @one_matrix(%A: !a, %B: !b, %C: !c, %E: !e) {
  // expected-error @below {{has groups of rows; expected B (N,K,G) of rank 3, found (32,16):(16,1)}}
  cute.contract ins(%A, %B : !a, !b) outs(%C : !c) accumulate f32 groups M(%E : !e)
  return
}

// -----

!a = !cute.memref<f16, gmem, align<16>, "(64,16):(16,1)">
!b = !cute.memref<f16, gmem, align<16>, "(32,16,4):(16,1,512)">
!c = !cute.memref<f16, gmem, align<16>, "(64,32):(32,1)">
!e = !cute.memref<i32, gmem, "(2,(1,2)):(1,(0,8))">
func.func @nested(%A: !a, %B: !b, %C: !c, %E: !e) {
  // expected-error @below {{expected ends of groups in one mode of one extent and one stride, found (2,(1,2)):(1,(0,8))}}
  cute.contract ins(%A, %B : !a, !b) outs(%C : !c) accumulate f32 groups M(%E : !e)
  return
}

// -----

!a = !cute.memref<f16, gmem, align<16>, "(64,16):(16,1)">
!b = !cute.memref<f16, gmem, align<16>, "(32,16,4):(16,1,512)">
!c = !cute.memref<f16, gmem, align<16>, "(64,32):(32,1)">
!e = !cute.memref<i32, smem, "4:1">
func.func @shared(%A: !a, %B: !b, %C: !c, %E: !e) {
  // expected-error @below {{expected a tensor of ends of groups in gmem, found smem}}
  cute.contract ins(%A, %B : !a, !b) outs(%C : !c) accumulate f32 groups M(%E : !e)
  return
}

// -----

!a = !cute.memref<f16, gmem, align<16>, "(64,16):(16,1)">
!b = !cute.memref<f16, gmem, align<16>, "(32,24,4):(24,1,768)">
!c = !cute.memref<f16, gmem, align<16>, "(64,32):(32,1)">
!e = !cute.memref<i32, gmem, "4:1">
func.func @other_k(%A: !a, %B: !b, %C: !c, %E: !e) {
  // expected-error @below {{expected the same K of A and B, found 16 and 24}}
  cute.contract ins(%A, %B : !a, !b) outs(%C : !c) accumulate f32 groups M(%E : !e)
  return
}

// -----

!t = !cute.memref<f16, gmem, align<16>, "(90,16):(16,1)">
!b = !cute.memref<f16, gmem, align<16>, "(32,16,4):(16,1,512)">
!c = !cute.memref<f16, gmem, align<16>, "(90,32):(32,1)">
!i = !cute.memref<i32, gmem, "(32,4):(1,32)">
!e = !cute.memref<i32, gmem, "4:1">
func.func @by_index(%T: !t, %B: !b, %C: !c, %I: !i, %E: !e) {
  // expected-error @below {{has groups of rows, and a factor or C at coordinates, or rows of B by index; expected one of them}}
  cute.contract ins(%T, %B : !t, !b) outs(%C : !c) accumulate f32 gather B(%I : !i) groups M(%E : !e)
  return
}

// -----

!a = !cute.memref<f16, gmem, align<16>, "(64,16):(16,1)">
!b = !cute.memref<f16, gmem, align<16>, "(32,16,4):(16,1,512)">
!c = !cute.memref<f16, gmem, align<16>, "(64,32):(32,1)">
!r = !cute.memref<f32, gmem, align<16>, "(64,32):(1,0)">
!e = !cute.memref<i32, gmem, "4:1">
func.func @reduced(%A: !a, %B: !b, %C: !c, %R: !r, %E: !e) {
  // expected-error @below {{has groups of rows, and reduces an output; expected one of them: reduce it by a cute.map}}
  cute.contract ins(%A, %B : !a, !b) outs(%C, %R reduce maximum : !c, !r) accumulate f32 groups M(%E : !e) epilogue {
  ^bb0(%sum: f32):
    %c = arith.truncf %sum : f32 to f16
    cute.yield %c, %sum : f16, f32
  }
  return
}

// -----

!a = !cute.memref<f16, gmem, align<16>, "((8,8),16):((16,256),1)">
!b = !cute.memref<f16, gmem, align<16>, "(32,16,4):(16,1,512)">
!c = !cute.memref<f16, gmem, align<16>, "(64,32):(32,1)">
!e = !cute.memref<i32, gmem, "4:1">
func.func @nested_rows(%A: !a, %B: !b, %C: !c, %E: !e) {
  // expected-error @below {{has groups of rows; expected rows of A that have one extent and one stride, found ((8,8),16):((16,256),1)}}
  cute.contract ins(%A, %B : !a, !b) outs(%C : !c) accumulate f32 groups M(%E : !e)
  return
}

// -----

!a = !cute.memref<f16, gmem, align<16>, "(64,16):(16,1)">
!e = !cute.memref<i32, gmem, "4:1">
func.func @of_what(%A: !a, %E: !e) {
  // expected-error @below {{expected groups of M, found 'N'}}
  cute.contract ins(%A, %A : !a, !a) outs(%A : !a) accumulate f32 groups N(%E : !e)
  return
}
