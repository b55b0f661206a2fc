// Products of modes of several leaves, which lie in no order; small, for the emulator.
!a = !cute.memref<f16, gmem, align<16>, "((12,10),(64,6)):((1000,20000),(1,80))">
!b = !cute.memref<f16, gmem, align<16>, "((48,2),384):((384,20000),1)">
!c = !cute.memref<f16, gmem, align<16>, "((10,12),(16,6)):((2000,20000),(1,128))">
func.func @all(%A: !a, %B: !b, %C: !c) {
  cute.contract ins(%A, %B : !a, !b) outs(%C : !c) accumulate f32
  return
}

// Elements one by one, and C column by column.
!aw = !cute.memref<f32, gmem, align<4>, "((3,5,4),(7,9)):((1,100,7),(500,3500))">
!bw = !cute.memref<f32, gmem, align<4>, "((5,11),63):((7,40),900)">
!cw = !cute.memref<f32, gmem, align<4>, "((6,10),(11,5)):((1,8),(100,1100))">
func.func @narrow(%A: !aw, %B: !bw, %C: !cw) {
  cute.contract ins(%A, %B : !aw, !bw) outs(%C : !cw) accumulate f32
  return
}

// Leaves that only a launch knows.
!ao = !cute.memref<f16, gmem, align<16>, "((?,?),(?{div=8},?)):((?{div=8},?{div=8}),(1,?{div=8}))">
!bo = !cute.memref<f16, gmem, align<16>, "(?,?{div=8}):(?{div=8},1)">
!co = !cute.memref<f16, gmem, align<16>, "((?,?),(?,?)):((?,?),(1,?))">
func.func @open(%A: !ao, %B: !bo, %C: !co) {
  cute.contract ins(%A, %B : !ao, !bo) outs(%C : !co) accumulate f32
  return
}

// A batch, and a prologue and an epilogue with tensors of several leaves: a scale for each image, a bias for each row, a residual, and a second
// output. Sums in parts of K add the same.
!ab = !cute.memref<i8, gmem, align<16>, "((7,6),96,(2,2)):((96,700),1,(10000,30000))">
!bb = !cute.memref<f16, gmem, align<16>, "(40,(32,3),(2,2)):(32,(1,2000),(9000,0))">
!cb = !cute.memref<f16, gmem, align<16>, "(42,(8,5),(2,2)):(40,(1,2000),(20000,50000))">
!image = !cute.memref<f16, gmem, align<16>, "((7,6),96,(2,2)):((0,1),0,(6,12))">
!tap = !cute.memref<f16, gmem, align<16>, "(42,(32,3),(2,2)):(0,(0,1),(0,0))">
!row = !cute.memref<f16, gmem, align<16>, "((2,21),40,(2,2)):((21,1),0,(42,84))">
!residual = !cute.memref<f16, gmem, align<16>, "((7,6),(10,4),(2,2)):((10,80),(1,1000),(4000,8000))">
!second = !cute.memref<f32, gmem, align<16>, "((6,7),40,(2,2)):((40,300),1,(3000,9000))">
func.func @regions(%A: !ab, %B: !bb, %C: !cb, %image: !image, %tap: !tap, %row: !row, %residual: !residual, %second: !second) {
  cute.contract ins(%A, %B : !ab, !bb) outs(%C, %second : !cb, !second) accumulate f32 prologue A ins(%image, %tap : !image, !tap) {
  ^bb0(%x: i8, %s: f16, %t: f16):
    %f = arith.sitofp %x : i8 to f16
    %y = arith.mulf %f, %s : f16
    %z = arith.addf %y, %t : f16
    cute.yield %z : f16
  } epilogue ins(%row, %residual : !row, !residual) {
  ^bb0(%sum: f32, %b: f16, %r: f16):
    %wide = arith.extf %b : f16 to f32
    %other = arith.extf %r : f16 to f32
    %x = arith.addf %sum, %wide : f32
    %y = arith.addf %x, %other : f32
    %c = arith.truncf %y : f32 to f16
    cute.yield %c, %x : f16, f32
  }
  return
}
