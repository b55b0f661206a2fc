// Products with epilogues, for test/compile/epilogues.test.

!a = !cute.memref<f16, gmem, align<16>, "(70,40):(40,1)">
!b = !cute.memref<f16, gmem, align<16>, "(56,40):(40,1)">
!c = !cute.memref<f16, gmem, align<16>, "(70,56):(56,1)">
!columns = !cute.memref<f16, gmem, align<16>, "(70,56):(0,1)">
!rows = !cute.memref<f32, gmem, align<4>, "(70,56):(1,0)">
!single = !cute.memref<f32, gmem, align<4>, "(70,56):(0,0)">

// A bias for each column and GELU, by the error function.
func.func @gelu(%A: !a, %B: !b, %C: !c, %bias: !columns) {
  %half = arith.constant 0.5 : f32
  cute.contract ins(%A, %B : !a, !b) outs(%C : !c) accumulate f32 epilogue ins(%bias : !columns) {
  ^bb0(%sum: f32, %b: f16):
    %root = arith.constant 0.70710678 : f32
    %wide = arith.extf %b : f16 to f32
    %x = arith.addf %sum, %wide : f32
    %u = arith.mulf %x, %root : f32
    %e = math.erf %u : f32
    %h = arith.mulf %x, %half : f32
    %y = math.fma %h, %e, %h : f32
    %c = arith.truncf %y : f32 to f16
    cute.yield %c : f16
  }
  return
}

// C = alpha A B^T + beta C, in its own place, and what it was before ReLU besides; factors for rows and for all.
func.func @residual(%A: !a, %B: !b, %C: !c, %before: !c, %scale: !rows, %all: !single,
                    %alpha: f32 {cute.name = "alpha"}, %beta: f32 {cute.name = "beta"}) {
  cute.contract ins(%A, %B : !a, !b) outs(%C, %before : !c, !c) accumulate f32
      epilogue ins(%C, %scale, %all : !c, !rows, !single) {
  ^bb0(%sum: f32, %old: f16, %row: f32, %one: f32):
    %zero = arith.constant 0.0 : f32
    %wide = arith.extf %old : f16 to f32
    %scaled = arith.mulf %sum, %alpha : f32
    %added = arith.mulf %wide, %beta : f32
    %both = arith.addf %scaled, %added : f32
    %times = arith.mulf %both, %row : f32
    %x = arith.mulf %times, %one : f32
    %is = arith.cmpf ogt, %x, %zero : f32
    %kept = arith.select %is, %x, %zero : f32
    %c = arith.truncf %kept : f32 to f16
    %p = arith.truncf %x : f32 to f16
    cute.yield %c, %p : f16, f16
  }
  return
}

// -----

// Nothing is aligned, and C and the residual lie by columns.
!a1 = !cute.memref<bf16, gmem, "(37,41):(41,1)">
!b1 = !cute.memref<bf16, gmem, "(35,41):(41,1)">
!c1 = !cute.memref<bf16, gmem, "(37,35):(1,37)">
!r1 = !cute.memref<bf16, gmem, "(37,35):(35,1)">
func.func @columns(%A: !a1, %B: !b1, %C: !c1, %left: !r1, %up: !c1) {
  cute.contract ins(%A, %B : !a1, !b1) outs(%C : !c1) accumulate f32 epilogue ins(%left, %up : !r1, !c1) {
  ^bb0(%sum: f32, %l: bf16, %u: bf16):
    %x = arith.extf %l : bf16 to f32
    %y = arith.extf %u : bf16 to f32
    %s = arith.addf %sum, %x : f32
    %t = math.tanh %s : f32
    %z = arith.mulf %t, %y : f32
    %c = arith.truncf %z : f32 to bf16
    cute.yield %c : bf16
  }
  return
}

// -----

// Bytes are scaled to bytes again.
!a2 = !cute.memref<i8, gmem, align<16>, "(48,64):(64,1)">
!c2 = !cute.memref<i8, gmem, align<16>, "(48,48):(48,1)">
!s2 = !cute.memref<f32, gmem, align<16>, "(48,48):(0,1)">
func.func @bytes(%A: !a2, %B: !a2, %C: !c2, %scale: !s2) {
  cute.contract ins(%A, %B : !a2, !a2) outs(%C : !c2) accumulate i32 epilogue ins(%scale : !s2) {
  ^bb0(%sum: i32, %s: f32):
    %small = arith.constant 0.001 : f32
    %most = arith.constant 127.0 : f32
    %least = arith.constant -128.0 : f32
    %x = arith.sitofp %sum : i32 to f32
    %t = arith.mulf %x, %s : f32
    %u = arith.mulf %t, %small : f32
    %v = arith.minimumf %u, %most : f32
    %w = arith.maximumf %v, %least : f32
    %c = arith.fptosi %w : f32 to i8
    cute.yield %c : i8
  }
  return
}

// -----

// Sums in f16, a batch, no inputs.
!a3 = !cute.memref<f16, gmem, align<16>, "(20,24,3):(24,1,480)">
!c3 = !cute.memref<f32, gmem, align<16>, "(20,20,3):(20,1,400)">
func.func @batch(%A: !a3, %B: !a3, %C: !c3, %factor: f32 {cute.name = "factor"}) {
  cute.contract ins(%A, %B : !a3, !a3) outs(%C : !c3) accumulate f16 epilogue {
  ^bb0(%sum: f16):
    %x = arith.extf %sum : f16 to f32
    %c = arith.mulf %x, %factor : f32
    cute.yield %c : f32
  }
  return
}

// -----

// Whatever the launch brings, a bias and its own residual.
!any = !cute.memref<f16, gmem, align<16>, "(?,?):(?,1)">
!bias = !cute.memref<f16, gmem, align<2>, "(?,?):(0,1)">
func.func @open(%A: !any, %B: !any, %C: !any, %bias: !bias, %res: !any) {
  cute.contract ins(%A, %B : !any, !any) outs(%C : !any) accumulate f32 epilogue ins(%bias, %res : !bias, !any) {
  ^bb0(%sum: f32, %b: f16, %r: f16):
    %x = arith.extf %b : f16 to f32
    %y = arith.extf %r : f16 to f32
    %s = arith.addf %sum, %x : f32
    %t = arith.addf %s, %y : f32
    %c = arith.truncf %t : f32 to f16
    cute.yield %c : f16
  }
  return
}
