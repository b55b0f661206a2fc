// Products with prologues, for test/compile/prologues.test.

!a = !cute.memref<f16, gmem, align<16>, "(40,72):(72,1)">
!w = !cute.memref<i8, gmem, align<16>, "(56,72):(72,1)">
!u = !cute.memref<ui8, gmem, align<16>, "(56,72):(72,1)">
!c = !cute.memref<f16, gmem, align<16>, "(40,56):(56,1)">
!rows = !cute.memref<f16, gmem, align<16>, "(56,72):(1,0)">
!points = !cute.memref<ui8, gmem, align<8>, "(56,72):(1,0)">
!bias = !cute.memref<f16, gmem, align<16>, "(40,56):(0,1)">

// Weights of 8 bits with a scale for each column of the product.
func.func @scaled(%A: !a, %B: !w, %C: !c, %scale: !rows) {
  cute.contract ins(%A, %B : !a, !w) outs(%C : !c) accumulate f32 prologue B ins(%scale : !rows) {
  ^bb0(%b: i8, %s: f16):
    %f = arith.sitofp %b : i8 to f16
    %x = arith.mulf %f, %s : f16
    cute.yield %x : f16
  }
  return
}

// The same without a sign and with zero points: what is not there is 0 and no zero point.
func.func @zero_points(%A: !a, %B: !u, %C: !c, %scale: !rows, %point: !points, %bias: !bias) {
  cute.contract ins(%A, %B : !a, !u) outs(%C : !c) accumulate f32 prologue B ins(%point, %scale : !points, !rows) {
  ^bb0(%b: i8, %p: i8, %s: f16):
    %f = arith.uitofp %b : i8 to f16
    %z = arith.uitofp %p : i8 to f16
    %y = arith.subf %f, %z : f16
    %x = arith.mulf %y, %s : f16
    cute.yield %x : f16
  } epilogue ins(%bias : !bias) {
  ^bb0(%sum: f32, %b: f16):
    %wide = arith.extf %b : f16 to f32
    %y = arith.addf %sum, %wide : f32
    %r = arith.truncf %y : f32 to f16
    cute.yield %r : f16
  }
  return
}

// One scale for all, a number of the function, and a constant from around the region; integers in between.
func.func @numbers(%A: !a, %B: !w, %C: !c, %scale: f32 {cute.name = "scale"}) {
  %three = arith.constant 3 : i32
  cute.contract ins(%A, %B : !a, !w) outs(%C : !c) accumulate f32 prologue B {
  ^bb0(%b: i8):
    %wide = arith.extsi %b : i8 to i32
    %moved = arith.subi %wide, %three : i32
    %f = arith.sitofp %moved : i32 to f32
    %y = arith.mulf %f, %scale : f32
    %x = arith.truncf %y : f32 to f16
    cute.yield %x : f16
  }
  return
}

// -----

// Both factors are cast, nothing is aligned, and C lies by columns, so that the factors change places.
!a1 = !cute.memref<f32, gmem, "(37,45):(45,1)">
!b1 = !cute.memref<i8, gmem, "(35,45):(1,35)">
!c1 = !cute.memref<f32, gmem, "(37,35):(1,37)">
!s1 = !cute.memref<f32, gmem, "(37,45):(1,37)">
!k1 = !cute.memref<bf16, gmem, "(35,45):(0,1)">
func.func @both(%A: !a1, %B: !b1, %C: !c1, %left: !s1, %line: !k1) {
  cute.contract ins(%A, %B : !a1, !b1) outs(%C : !c1) accumulate f32 prologue A ins(%left : !s1) {
  ^bb0(%a: f32, %s: f32):
    %y = arith.addf %a, %s : f32
    %x = arith.truncf %y : f32 to bf16
    cute.yield %x : bf16
  } prologue B ins(%line : !k1) {
  ^bb0(%b: i8, %k: bf16):
    %f = arith.sitofp %b : i8 to f32
    %w = arith.extf %k : bf16 to f32
    %y = arith.mulf %f, %w : f32
    %x = arith.truncf %y : f32 to bf16
    cute.yield %x : bf16
  }
  return
}

// -----

// A single row, and 0 becomes 1 where there is nothing.
!a2 = !cute.memref<f16, gmem, align<16>, "(1,200):(200,1)">
!w2 = !cute.memref<i8, gmem, align<16>, "(264,200):(200,1)">
!c2 = !cute.memref<f16, gmem, align<16>, "(1,264):(264,1)">
func.func @row(%A: !a2, %B: !w2, %C: !c2) {
  %one = arith.constant 1.0 : f16
  cute.contract ins(%A, %B : !a2, !w2) outs(%C : !c2) accumulate f32 prologue A {
  ^bb0(%a: f16):
    %x = arith.addf %a, %one : f16
    cute.yield %x : f16
  } prologue B {
  ^bb0(%b: i8):
    %f = arith.sitofp %b : i8 to f16
    %x = arith.addf %f, %one : f16
    cute.yield %x : f16
  }
  return
}

// -----

// Sizes and strides that a launch brings, several products, products of bytes.
!a3 = !cute.memref<f16, gmem, align<16>, "(?,?):(?,1)">
!w3 = !cute.memref<i8, gmem, align<16>, "(?,?):(?,1)">
!c3 = !cute.memref<f16, gmem, align<16>, "(?,?):(?,1)">
!s3 = !cute.memref<f32, gmem, "(?,?):(1,0)">
func.func @open(%A: !a3, %B: !w3, %C: !c3, %scale: !s3) {
  cute.contract ins(%A, %B : !a3, !w3) outs(%C : !c3) accumulate f32 prologue B ins(%scale : !s3) {
  ^bb0(%b: i8, %s: f32):
    %f = arith.sitofp %b : i8 to f32
    %y = arith.mulf %f, %s : f32
    %x = arith.truncf %y : f32 to f16
    cute.yield %x : f16
  }
  return
}

// -----

!a4 = !cute.memref<f16, gmem, align<16>, "(20,24,3):(24,1,480)">
!w4 = !cute.memref<i8, gmem, align<16>, "(20,24,3):(24,1,480)">
!c4 = !cute.memref<f16, gmem, align<16>, "(20,20,3):(20,1,400)">
!s4 = !cute.memref<f16, gmem, align<16>, "(20,24,3):(1,0,20)">
func.func @batch(%A: !a4, %B: !w4, %C: !c4, %scale: !s4) {
  cute.contract ins(%A, %B : !a4, !w4) outs(%C : !c4) accumulate f32 prologue B ins(%scale : !s4) {
  ^bb0(%b: i8, %s: f16):
    %f = arith.sitofp %b : i8 to f16
    %x = arith.mulf %f, %s : f16
    cute.yield %x : f16
  }
  return
}

// -----

!a5 = !cute.memref<i8, gmem, align<16>, "(40,96):(96,1)">
!c5 = !cute.memref<i32, gmem, align<16>, "(40,40):(40,1)">
!p5 = !cute.memref<i8, gmem, align<16>, "(40,96):(1,0)">
func.func @bytes(%A: !a5, %B: !a5, %C: !c5, %point: !p5) {
  cute.contract ins(%A, %B : !a5, !a5) outs(%C : !c5) accumulate i32 prologue A ins(%point : !p5) {
  ^bb0(%a: i8, %p: i8):
    %x = arith.subi %a, %p : i8
    cute.yield %x : i8
  }
  return
}

// -----

// A scale for each group of 32 along K, of tiles that hold several groups, and of tiles within one.
!a6 = !cute.memref<f16, gmem, align<16>, "(24,192):(192,1)">
!w6 = !cute.memref<i8, gmem, align<16>, "(40,192):(192,1)">
!c6 = !cute.memref<f16, gmem, align<16>, "(24,40):(40,1)">
!g6 = !cute.memref<f16, gmem, align<2>, "(40,(32,6)):(1,(0,40))">
func.func @groups(%A: !a6, %B: !w6, %C: !c6, %scale: !g6) {
  cute.contract ins(%A, %B : !a6, !w6) outs(%C : !c6) accumulate f32 prologue B ins(%scale : !g6) {
  ^bb0(%b: i8, %s: f16):
    %f = arith.sitofp %b : i8 to f16
    %x = arith.mulf %f, %s : f16
    cute.yield %x : f16
  }
  return
}

func.func @groups_within(%A: !a6, %B: !w6, %C: !c6, %scale: !g6) {
  cute.contract ins(%A, %B : !a6, !w6) outs(%C : !c6) accumulate f32 {cute.tile = array<i64: 32, 32, 16>}
      prologue B ins(%scale : !g6) {
  ^bb0(%b: i8, %s: f16):
    %f = arith.sitofp %b : i8 to f16
    %x = arith.mulf %f, %s : f16
    cute.yield %x : f16
  }
  return
}
