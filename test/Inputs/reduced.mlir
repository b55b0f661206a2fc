// Products of which something is stored for each row, for each column, or once.

!a = !cute.memref<f16, gmem, align<16>, "(200,64):(64,1)">
!b = !cute.memref<f16, gmem, align<16>, "(150,64):(64,1)">
!c = !cute.memref<f16, gmem, align<16>, "(200,150):(150,1)">
!rows = !cute.memref<f32, gmem, align<4>, "(200,150):(1,0)">
!columns = !cute.memref<f32, gmem, align<4>, "(200,150):(0,1)">
!one = !cute.memref<f32, gmem, align<4>, "(200,150):(0,0)">

// The largest one and the sum of each row.
func.func @rows(%A: !a, %B: !b, %C: !c, %most: !rows, %sums: !rows) {
  cute.contract ins(%A, %B : !a, !b) outs(%C, %most reduce maximum, %sums reduce add : !c, !rows, !rows) accumulate f32 epilogue {
  ^bb0(%sum: f32):
    %c = arith.truncf %sum : f32 to f16
    cute.yield %c, %sum, %sum : f16, f32, f32
  }
  return
}

// The gradient of a bias: sums of columns, beside a residual.
func.func @bias_gradient(%A: !a, %B: !b, %C: !c, %grad: !columns) {
  cute.contract ins(%A, %B : !a, !b) outs(%C, %grad reduce add : !c, !columns) accumulate f32 epilogue ins(%C : !c) {
  ^bb0(%sum: f32, %before: f16):
    %x = arith.extf %before : f16 to f32
    %y = arith.addf %sum, %x : f32
    %c = arith.truncf %y : f32 to f16
    cute.yield %c, %y : f16, f32
  }
  return
}

// A loss: the mean of the squares of what is missing to a target.
func.func @loss(%A: !a, %B: !b, %C: !c, %loss: !one, %target: !c) {
  cute.contract ins(%A, %B : !a, !b) outs(%C, %loss reduce mean : !c, !one) accumulate f32 epilogue ins(%target : !c) {
  ^bb0(%sum: f32, %t: f16):
    %x = arith.extf %t : f16 to f32
    %d = arith.subf %sum, %x : f32
    %sq = arith.mulf %d, %d : f32
    %c = arith.truncf %d : f32 to f16
    cute.yield %c, %sq : f16, f32
  }
  return
}

// One tile has whole lines: no second kernel.
!a1 = !cute.memref<i8, gmem, align<16>, "(16,64):(64,1)">
!b1 = !cute.memref<i8, gmem, align<16>, "(32,64):(64,1)">
!c1 = !cute.memref<i32, gmem, align<16>, "(16,32):(32,1)">
!r1 = !cute.memref<i32, gmem, align<4>, "(16,32):(1,0)">
!m1 = !cute.memref<i8, gmem, align<1>, "(16,32):(0,2)">
func.func @single(%A: !a1, %B: !b1, %C: !c1, %sums: !r1, %least: !m1) {
  cute.contract ins(%A, %B : !a1, !b1) outs(%C, %sums reduce add, %least reduce minimum : !c1, !r1, !m1) accumulate i32
    {cute.tile = array<i64: 16, 32, 32>, cute.warps = array<i64: 1, 1>} epilogue {
  ^bb0(%sum: i32):
    %last = arith.constant 127 : i32
    %first = arith.constant -128 : i32
    %low = arith.minsi %sum, %last : i32
    %in = arith.maxsi %low, %first : i32
    %byte = arith.trunci %in : i32 to i8
    cute.yield %sum, %sum, %byte : i32, i32, i8
  }
  return
}

// C by columns, a batch, sums in f64: rows are columns of what the kernel computes.
!a2 = !cute.memref<f64, gmem, align<8>, "(40,24,3):(24,1,960)">
!b2 = !cute.memref<f64, gmem, align<8>, "(36,24,3):(24,1,864)">
!c2 = !cute.memref<f64, gmem, align<8>, "(40,36,3):(1,40,1440)">
!r2 = !cute.memref<f64, gmem, align<8>, "(40,36,3):(1,0,40)">
!n2 = !cute.memref<f64, gmem, align<8>, "(40,36,3):(0,1,36)">
!s2 = !cute.memref<f64, gmem, align<8>, "(40,36,3):(0,0,2)">
func.func @batch(%A: !a2, %B: !b2, %C: !c2, %most: !r2, %mean: !n2, %all: !s2) {
  cute.contract ins(%A, %B : !a2, !b2) outs(%C, %most reduce maximum, %mean reduce mean, %all reduce add : !c2, !r2, !n2, !s2)
    accumulate f64 epilogue {
  ^bb0(%sum: f64):
    cute.yield %sum, %sum, %sum, %sum : f64, f64, f64, f64
  }
  return
}

// Whatever the launch brings.
!any = !cute.memref<f16, gmem, align<16>, "(?,?):(?,1)">
!of_rows = !cute.memref<f32, gmem, align<4>, "(?,?):(?,0)">
!of_columns = !cute.memref<f16, gmem, align<2>, "(?,?):(0,1)">
!of_all = !cute.memref<f32, gmem, align<4>, "(?,?):(0,0)">
func.func @open(%A: !any, %B: !any, %C: !any, %sums: !of_rows, %most: !of_columns, %mean: !of_all) {
  cute.contract ins(%A, %B : !any, !any) outs(%C, %sums reduce add, %most reduce maximum, %mean reduce mean : !any, !of_rows, !of_columns, !of_all)
    accumulate f32 epilogue {
  ^bb0(%sum: f32):
    %c = arith.truncf %sum : f32 to f16
    cute.yield %c, %sum, %c, %sum : f16, f32, f16, f32
  }
  return
}
