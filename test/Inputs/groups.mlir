// Groups of rows, each multiplied by a matrix of its own.

!a = !cute.memref<f16, gmem, align<16>, "(300,128):(128,1)">
!b = !cute.memref<f16, gmem, align<16>, "(72,128,5):(128,1,9216)">
!c = !cute.memref<f16, gmem, align<16>, "(300,72):(72,1)">
!ends = !cute.memref<i32, gmem, "5:1">
func.func @experts(%A: !a, %B: !b, %C: !c, %ends: !ends) {
  cute.contract ins(%A, %B : !a, !b) outs(%C : !c) accumulate f32 groups M(%ends : !ends)
  return
}

// N of B side by side; routing weights for rows, a bias for columns, two outputs.
!bt = !cute.memref<f16, gmem, align<16>, "(72,128,5):(1,72,9216)">
!d = !cute.memref<f32, gmem, align<16>, "(300,72):(80,1)">
!rows = !cute.memref<f32, gmem, align<4>, "(300,72):(1,0)">
!bias = !cute.memref<f16, gmem, align<2>, "(300,72):(0,1)">
func.func @weighted(%A: !a, %B: !bt, %C: !c, %D: !d, %rows: !rows, %bias: !bias, %ends: !ends) {
  cute.contract ins(%A, %B : !a, !bt) outs(%C, %D : !c, !d) accumulate f32 groups M(%ends : !ends)
      epilogue ins(%rows, %bias : !rows, !bias) {
  ^bb0(%sum: f32, %row: f32, %b: f16):
    %wide = arith.extf %b : f16 to f32
    %moved = arith.addf %sum, %wide : f32
    %scaled = arith.mulf %moved, %row : f32
    %c = arith.truncf %scaled : f32 to f16
    cute.yield %c, %scaled : f16, f32
  }
  return
}

// Bytes with a scale for each column of each matrix, and rows of A with numbers of their own.
!w = !cute.memref<i8, gmem, align<16>, "(72,128,5):(128,1,9216)">
!scales = !cute.memref<f16, gmem, align<2>, "(72,128,5):(1,0,72)">
!of_a = !cute.memref<f16, gmem, align<2>, "(300,128):(1,0)">
func.func @bytes(%A: !a, %W: !w, %C: !c, %scales: !scales, %of_a: !of_a, %ends: !ends) {
  cute.contract ins(%A, %W : !a, !w) outs(%C : !c) accumulate f32 groups M(%ends : !ends)
      prologue A ins(%of_a : !of_a) {
  ^bb0(%x: f16, %s: f16):
    %y = arith.mulf %x, %s : f16
    cute.yield %y : f16
  } prologue B ins(%scales : !scales) {
  ^bb0(%w: i8, %s: f16):
    %f = arith.sitofp %w : i8 to f16
    %x = arith.mulf %f, %s : f16
    cute.yield %x : f16
  }
  return
}

// Rows of A lie side by side: a group begins anywhere among them.
!at = !cute.memref<f16, gmem, align<16>, "(304,128):(1,304)">
!ct = !cute.memref<f16, gmem, align<16>, "(304,72):(72,1)">
!one = !cute.memref<i64, gmem, "1:1">
!bone = !cute.memref<f16, gmem, align<16>, "(72,128,1):(128,1,9216)">
func.func @side_by_side(%A: !at, %B: !bone, %C: !ct, %ends: !one) {
  cute.contract ins(%A, %B : !at, !bone) outs(%C : !ct) accumulate f32 groups M(%ends : !one)
  return
}

// What only a launch knows.
!ao = !cute.memref<f16, gmem, align<16>, "(?,?{div=8}):(?{div=8},1)">
!bo = !cute.memref<f16, gmem, align<16>, "(?{div=8},?{div=8},?):(?{div=8},1,?{div=8})">
!co = !cute.memref<f16, gmem, align<16>, "(?,?{div=8}):(?{div=8},1)">
!eo = !cute.memref<i64, gmem, "?:1">
func.func @open(%A: !ao, %B: !bo, %C: !co, %ends: !eo) {
  cute.contract ins(%A, %B : !ao, !bo) outs(%C : !co) accumulate f32 groups M(%ends : !eo)
  return
}

// Rows of a table by index: the first layer of mixed experts, with no copy of the rows that go to each.
!t = !cute.memref<f16, gmem, align<16>, "(90,128):(128,1)">
!tokens = !cute.memref<i32, gmem, "300:1">
func.func @by_index(%T: !t, %B: !b, %C: !c, %tokens: !tokens, %ends: !ends) {
  cute.contract ins(%T, %B : !t, !b) outs(%C : !c) accumulate f32 gather A(%tokens : !tokens) groups M(%ends : !ends)
  return
}
