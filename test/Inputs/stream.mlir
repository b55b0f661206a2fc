// Products whose last tiles are dealt out by even ranges along K, for test/compile/stream-k.test.

// Six tiles of seven along K. Neither extent is a multiple of a tile.
!a0 = !cute.memref<f16, gmem, align<16>, "(70,104):(104,1)">
!b0 = !cute.memref<f16, gmem, align<16>, "(56,104):(104,1)">
!c0 = !cute.memref<f16, gmem, align<16>, "(70,56):(56,1)">
func.func @ragged(%A: !a0, %B: !b0, %C: !c0) {
  cute.contract ins(%A, %B : !a0, !b0) outs(%C : !c0) accumulate f32 {cute.stream = 1 : i64, cute.split = 2 : i64, cute.stages = 3 : i64, cute.tile = array<i64: 32, 32, 16>, cute.warps = array<i64: 1, 2>}
  return
}

// The same, of which up to five blocks share a tile.
func.func @shared(%A: !a0, %B: !b0, %C: !c0) {
  cute.contract ins(%A, %B : !a0, !b0) outs(%C : !c0) accumulate f32 {cute.stream = 2 : i64, cute.split = 5 : i64, cute.stages = 2 : i64, cute.tile = array<i64: 32, 32, 16>, cute.warps = array<i64: 1, 2>}
  return
}

// One element along K: nothing to share. Nothing is aligned to more than an element.
!a1 = !cute.memref<f16, gmem, "(37,1):(1,1)">
!b1 = !cute.memref<f16, gmem, "(35,1):(1,1)">
!c1 = !cute.memref<f16, gmem, "(37,35):(35,1)">
func.func @one(%A: !a1, %B: !b1, %C: !c1) {
  cute.contract ins(%A, %B : !a1, !b1) outs(%C : !c1) accumulate f32 {cute.stream = 1 : i64, cute.split = 4 : i64, cute.tile = array<i64: 16, 16, 16>, cute.warps = array<i64: 1, 1>}
  return
}

// Whole tiles, of two loops without a pipeline.
!a2 = !cute.memref<bf16, gmem, align<16>, "(64,256):(256,1)">
!b2 = !cute.memref<bf16, gmem, align<16>, "(128,256):(256,1)">
!c2 = !cute.memref<f32, gmem, align<16>, "(64,128):(128,1)">
func.func @whole(%A: !a2, %B: !b2, %C: !c2) {
  cute.contract ins(%A, %B : !a2, !b2) outs(%C : !c2) accumulate f32 {cute.stream = 1 : i64, cute.split = 3 : i64, cute.stages = 1 : i64, cute.tile = array<i64: 64, 64, 32>, cute.warps = array<i64: 2, 2>}
  return
}

// C by columns: the product of B and A.
!a3 = !cute.memref<bf16, gmem, align<16>, "(40,50):(1,40)">
!b3 = !cute.memref<bf16, gmem, align<4>, "(33,50):(50,1)">
!c3 = !cute.memref<f32, gmem, align<16>, "(40,33):(1,40)">
func.func @columns(%A: !a3, %B: !b3, %C: !c3) {
  cute.contract ins(%A, %B : !a3, !b3) outs(%C : !c3) accumulate f32 {cute.stream = 1 : i64, cute.split = 2 : i64, cute.tile = array<i64: 16, 16, 16>, cute.warps = array<i64: 1, 1>}
  return
}

// A batch of 3 x 2, of which the 2 share an A and the 3 a B: ranges go on from one product to the next.
!a4 = !cute.memref<f16, gmem, align<16>, "(20,72,(3,2)):(72,1,(1440,0))">
!b4 = !cute.memref<f16, gmem, align<16>, "(18,72,(3,2)):(72,1,(0,1296))">
!c4 = !cute.memref<f16, gmem, align<16>, "(20,18,(3,2)):(18,1,(360,1080))">
func.func @batch(%A: !a4, %B: !b4, %C: !c4) {
  cute.contract ins(%A, %B : !a4, !b4) outs(%C : !c4) accumulate f32 {cute.stream = 1 : i64, cute.split = 3 : i64, cute.tile = array<i64: 16, 16, 16>, cute.warps = array<i64: 1, 1>}
  return
}

// Sums that are not of f32.
!h = !cute.memref<f16, gmem, align<16>, "(40,48):(48,1)">
!hc = !cute.memref<f16, gmem, align<16>, "(40,40):(40,1)">
func.func @halves(%A: !h, %B: !h, %C: !hc) {
  cute.contract ins(%A, %B : !h, !h) outs(%C : !hc) accumulate f16 {cute.stream = 1 : i64, cute.split = 3 : i64, cute.tile = array<i64: 16, 16, 16>, cute.warps = array<i64: 1, 1>}
  return
}
!d = !cute.memref<f64, gmem, align<16>, "(34,30):(30,1)">
!dc = !cute.memref<f64, gmem, align<16>, "(34,34):(34,1)">
func.func @doubles(%A: !d, %B: !d, %C: !dc) {
  cute.contract ins(%A, %B : !d, !d) outs(%C : !dc) accumulate f64 {cute.stream = 1 : i64, cute.split = 2 : i64, cute.tile = array<i64: 16, 16, 8>, cute.warps = array<i64: 1, 1>}
  return
}
!i = !cute.memref<i8, gmem, align<16>, "(40,100):(112,1)">
!ic = !cute.memref<i32, gmem, align<16>, "(40,40):(40,1)">
func.func @bytes(%A: !i, %B: !i, %C: !ic) {
  cute.contract ins(%A, %B : !i, !i) outs(%C : !ic) accumulate i32 {cute.stream = 1 : i64, cute.split = 2 : i64, cute.tile = array<i64: 32, 32, 32>, cute.warps = array<i64: 1, 1>}
  return
}
!s = !cute.memref<f32, gmem, align<16>, "(50,60):(60,1)">
!sc = !cute.memref<f32, gmem, align<16>, "(50,50):(50,1)">
func.func @singles(%A: !s, %B: !s, %C: !sc) {
  cute.contract ins(%A, %B : !s, !s) outs(%C : !sc) accumulate f32 {cute.stream = 1 : i64, cute.split = 3 : i64, cute.tile = array<i64: 16, 32, 32>, cute.warps = array<i64: 1, 2>}
  return
}

// C = alpha A B^T + beta C, in its own place, what it was before ReLU besides, and factors for rows and for all.
!rows = !cute.memref<f32, gmem, align<4>, "(70,56):(1,0)">
!single = !cute.memref<f32, gmem, align<4>, "(70,56):(0,0)">
func.func @residual(%A: !a0, %B: !b0, %C: !c0, %before: !c0, %scale: !rows, %all: !single,
                    %alpha: f32 {cute.name = "alpha"}, %beta: f32 {cute.name = "beta"}) {
  cute.contract ins(%A, %B : !a0, !b0) outs(%C, %before : !c0, !c0) accumulate f32
      {cute.stream = 1 : i64, cute.split = 3 : i64, cute.tile = array<i64: 32, 32, 16>, cute.warps = array<i64: 1, 2>}
      epilogue ins(%C, %scale, %all : !c0, !rows, !single) {
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

// Weights of bytes, which a prologue converts and scales.
!w = !cute.memref<i8, gmem, align<16>, "(64,96):(96,1)">
!ws = !cute.memref<f16, gmem, align<16>, "(64,96):(1,0)">
!x = !cute.memref<f16, gmem, align<16>, "(40,96):(96,1)">
!xc = !cute.memref<f16, gmem, align<16>, "(40,64):(64,1)">
func.func @weights(%A: !x, %B: !w, %S: !ws, %C: !xc) {
  cute.contract ins(%A, %B : !x, !w) outs(%C : !xc) accumulate f32
      {cute.stream = 1 : i64, cute.split = 2 : i64, cute.tile = array<i64: 16, 32, 32>, cute.warps = array<i64: 1, 2>}
      prologue B ins(%S : !ws) {
  ^bb0(%q: i8, %s: f16):
    %f = arith.sitofp %q : i8 to f16
    %y = arith.mulf %f, %s : f16
    cute.yield %y : f16
  }
  return
}

// Whatever the launch brings.
!any = !cute.memref<f16, gmem, "(?,?):(?,?)">
func.func @anything(%A: !any, %B: !any, %C: !any) {
  cute.contract ins(%A, %B : !any, !any) outs(%C : !any) accumulate f32 {cute.stream = 1 : i64, cute.split = 3 : i64, cute.tile = array<i64: 32, 16, 16>, cute.warps = array<i64: 2, 1>}
  return
}
!open = !cute.memref<f16, gmem, align<16>, "(?,?{div=8},?):(?{div=8},1,?{div=8})">
func.func @batches(%A: !open, %B: !open, %C: !open) {
  cute.contract ins(%A, %B : !open, !open) outs(%C : !open) accumulate f32 {cute.stream = 1 : i64, cute.split = 2 : i64, cute.stages = 4 : i64, cute.tile = array<i64: 32, 32, 16>, cute.warps = array<i64: 1, 1>}
  return
}

// Two products, of which each has a part of the workspace.
!t = !cute.memref<f16, gmem, align<16>, "(48,48):(48,1)">
func.func @chain(%A: !t, %B: !t, %C: !t, %D: !t, %E: !t) {
  cute.contract ins(%A, %B : !t, !t) outs(%C : !t) accumulate f32 {cute.stream = 1 : i64, cute.split = 2 : i64, cute.tile = array<i64: 16, 16, 16>, cute.warps = array<i64: 1, 1>}
  cute.contract ins(%C, %D : !t, !t) outs(%E : !t) accumulate f32 {cute.stream = 1 : i64, cute.split = 3 : i64, cute.tile = array<i64: 32, 32, 16>, cute.warps = array<i64: 1, 1>}
  return
}
