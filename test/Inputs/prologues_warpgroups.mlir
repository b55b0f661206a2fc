// Products with prologues that warpgroups compute in registers, for test/compile/prologues-warpgroups.test.

!a = !cute.memref<f16, gmem, align<16>, "(?,256):(256,1)">
!w = !cute.memref<i8, gmem, align<16>, "(128,256):(256,1)">
!c = !cute.memref<f16, gmem, align<16>, "(?,128):(128,1)">
!columns = !cute.memref<f16, gmem, align<16>, "(128,256):(1,0)">

// A scale for each column of the product, and any number of rows: what is multiplied is the transposed product.
func.func @columns(%A: !a, %B: !w, %C: !c, %scale: !columns) {
  cute.contract ins(%A, %B) outs(%C) accumulate f32 prologue B ins(%scale) {
  ^bb0(%b: i8, %s: f16):
    %f = arith.sitofp %b : i8 to f16
    %x = arith.mulf %f, %s : f16
    cute.yield %x : f16
  }
  return
}

// -----

!a1 = !cute.memref<f16, gmem, align<16>, "(72,512):(512,1)">
!w1 = !cute.memref<f8E4M3FN, gmem, align<16>, "(128,512):(512,1)">
!c1 = !cute.memref<f16, gmem, align<16>, "(72,128):(128,1)">
!groups1 = !cute.memref<f16, gmem, align<16>, "(128,(128,4)):(4,(0,1))">

// Float8, with a scale for each group of 128 along K.
func.func @groups(%A: !a1, %B: !w1, %C: !c1, %scale: !groups1) {
  cute.contract ins(%A, %B) outs(%C) accumulate f32 prologue B ins(%scale) {
  ^bb0(%b: f8E4M3FN, %s: f16):
    %f = arith.extf %b : f8E4M3FN to f16
    %x = arith.mulf %f, %s : f16
    cute.yield %x : f16
  }
  return
}

// -----

!a2 = !cute.memref<ui8, gmem, align<16>, "(128,256):(256,1)">
!w2 = !cute.memref<bf16, gmem, align<16>, "(40,256):(256,1)">
!c2 = !cute.memref<f32, gmem, align<16>, "(128,40):(40,1)">
!points2 = !cute.memref<ui8, gmem, align<16>, "(128,256):(1,0)">
!rows2 = !cute.memref<bf16, gmem, align<16>, "(128,256):(1,0)">

// A of bytes without a sign, with a zero point and a scale for each row, to bf16: what is multiplied is the product itself.
func.func @rows(%A: !a2, %B: !w2, %C: !c2, %point: !points2, %scale: !rows2) {
  cute.contract ins(%A, %B) outs(%C) accumulate f32 prologue A ins(%point, %scale) {
  ^bb0(%a: i8, %p: i8, %s: bf16):
    %f = arith.uitofp %a : i8 to f32
    %z = arith.uitofp %p : i8 to f32
    %y = arith.subf %f, %z : f32
    %n = arith.truncf %y : f32 to bf16
    %x = arith.mulf %n, %s : bf16
    cute.yield %x : bf16
  }
  return
}

// -----

!a3 = !cute.memref<f16, gmem, align<16>, "(96,128,3):(128,1,12288)">
!w3 = !cute.memref<f8E5M2, gmem, align<16>, "(64,128,3):(128,1,8192)">
!c3 = !cute.memref<f16, gmem, align<16>, "(96,64,3):(64,1,6144)">
!bias3 = !cute.memref<f16, gmem, align<16>, "(96,64,3):(0,1,0)">
!rest3 = !cute.memref<f16, gmem, align<16>, "(96,64,3):(64,1,6144)">

// A batch, with a bias: an epilogue is computed of sums in registers, whose columns are rows of C.
func.func @biased(%A: !a3, %B: !w3, %C: !c3, %bias: !bias3) {
  cute.contract ins(%A, %B) outs(%C) accumulate f32 prologue B {
  ^bb0(%b: f8E5M2):
    %f = arith.extf %b : f8E5M2 to f16
    cute.yield %f : f16
  } epilogue ins(%bias) {
  ^bb0(%sum: f32, %own: f16):
    %wide = arith.extf %own : f16 to f32
    %all = arith.addf %sum, %wide : f32
    %x = arith.truncf %all : f32 to f16
    cute.yield %x : f16
  }
  return
}

// The same with a matrix that is added, which sums in shared memory are stored for.
func.func @residual(%A: !a3, %B: !w3, %C: !c3, %rest: !rest3) {
  cute.contract ins(%A, %B) outs(%C) accumulate f32 prologue B {
  ^bb0(%b: f8E5M2):
    %f = arith.extf %b : f8E5M2 to f16
    cute.yield %f : f16
  } epilogue ins(%rest) {
  ^bb0(%sum: f32, %own: f16):
    %wide = arith.extf %own : f16 to f32
    %all = arith.addf %sum, %wide : f32
    %x = arith.truncf %all : f32 to f16
    cute.yield %x : f16
  }
  return
}

// -----

!a4 = !cute.memref<i8, gmem, align<16>, "(128,256):(256,1)">
!w4 = !cute.memref<f16, gmem, align<16>, "(72,256):(1,72)">
!c4 = !cute.memref<f16, gmem, align<16>, "(128,72):(1,128)">

// C column by column, with A of bytes and B row by row.
func.func @by_columns(%A: !a4, %B: !w4, %C: !c4) {
  cute.contract ins(%A, %B) outs(%C) accumulate f32 prologue A {
  ^bb0(%a: i8):
    %f = arith.sitofp %a : i8 to f16
    cute.yield %f : f16
  }
  return
}
