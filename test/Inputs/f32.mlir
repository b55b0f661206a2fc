// Products of f32 by multiply-adds of single threads, for test/compile/f32.test.

// Rows and columns, sizes that nothing divides.
!a = !cute.memref<f32, gmem, align<16>, "(200,120):(120,1)">
!b = !cute.memref<f32, gmem, align<16>, "(136,120):(1,136)">
!c = !cute.memref<f32, gmem, align<16>, "(200,136):(136,1)">
func.func @tn(%A: !a, %B: !b, %C: !c) {
  cute.contract ins(%A, %B : !a, !b) outs(%C : !c) accumulate f32
  return
}

// Stored as f16, with a bias and ReLU.
!bias = !cute.memref<f32, gmem, align<16>, "(200,136):(0,1)">
!h = !cute.memref<f16, gmem, align<16>, "(200,136):(136,1)">
func.func @relu(%A: !a, %B: !b, %C: !h, %bias: !bias) {
  cute.contract ins(%A, %B : !a, !b) outs(%C : !h) accumulate f32 epilogue ins(%bias : !bias) {
  ^bb0(%s: f32, %b: f32):
    %x = arith.addf %s, %b : f32
    %z = arith.constant 0.0 : f32
    %y = arith.maximumf %x, %z : f32
    %c = arith.truncf %y : f32 to f16
    cute.yield %c : f16
  }
  return
}

// -----

// Nothing is aligned.
!a1 = !cute.memref<f32, gmem, align<4>, "(77,51):(51,1)">
!b1 = !cute.memref<f32, gmem, align<4>, "(33,51):(51,1)">
!c1 = !cute.memref<f32, gmem, align<4>, "(77,33):(33,1)">
func.func @odd(%A: !a1, %B: !b1, %C: !c1) {
  cute.contract ins(%A, %B : !a1, !b1) outs(%C : !c1) accumulate f32
  return
}

// -----

// Both by columns: vectors of four.
!a2 = !cute.memref<f32, gmem, align<16>, "(128,64):(1,128)">
!c2 = !cute.memref<f32, gmem, align<16>, "(128,128):(128,1)">
func.func @nn(%A: !a2, %B: !a2, %C: !c2) {
  cute.contract ins(%A, %B : !a2, !a2) outs(%C : !c2) accumulate f32 {cute.tile = array<i64: 128, 128, 16>}
  return
}

// -----

// Whatever the launch brings.
!any = !cute.memref<f32, gmem, align<16>, "(?,?):(?,1)">
func.func @open(%A: !any, %B: !any, %C: !any) {
  cute.contract ins(%A, %B : !any, !any) outs(%C : !any) accumulate f32
  return
}
