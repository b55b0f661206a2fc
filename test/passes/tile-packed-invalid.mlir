// Factors that are asked to be copied first and cannot be.
//
// RUN: cute-opt %s --cute-tile="arch=sm_90a pack=ab" --split-input-file --verify-diagnostics

!a = !cute.memref<f16, gmem, align<16>, "((8,4),33):((33,300),1)">
!b = !cute.memref<f16, gmem, align<16>, "(32,33):(33,1)">
!c = !cute.memref<f16, gmem, align<16>, "(32,32):(32,1)">
func.func @nested(%A: !a, %B: !b, %C: !c) {
  // expected-error @+1 {{'cute.contract' op asks for pack=a of A, ((8,4),33):((33,300),1), which cannot be copied first; expected a tensor of the product alone, of elements of whole bytes, with one extent and one stride along rows and columns, without coordinates, indices and groups of rows}}
  cute.contract ins(%A, %B : !a, !b) outs(%C : !c) accumulate f32
  return
}

// -----

!t = !cute.memref<f16, gmem, align<16>, "(32,33):(33,1)">
!c = !cute.memref<f16, gmem, align<16>, "(32,32):(32,1)">
func.func @twice(%A: !t, %C: !c) {
  // expected-error @+1 {{asks for pack=a of A, (32,33):(33,1), which cannot be copied first}}
  cute.contract ins(%A, %A : !t, !t) outs(%C : !c) accumulate f32
  return
}

// -----

!b = !cute.memref<f16, gmem, align<16>, "(32,33):(33,1)">
!r = !cute.memref<f16, gmem, align<16>, "(32,33):(0,1)">
!c = !cute.memref<f16, gmem, align<16>, "(32,32):(32,1)">
func.func @same(%A: !b, %B: !r, %C: !c) {
  // expected-error @+1 {{asks for pack=b of B, (32,33):(0,1), which cannot be copied first}}
  cute.contract ins(%A, %B : !b, !r) outs(%C : !c) accumulate f32
  return
}
