// Softmax, layer norm and RMS norm of the rows of a matrix, each one op on whole tensors and one kernel of it, for any number of rows and of columns.
//
// A region says what becomes of an element; `cute.all_reduce` in it is over all elements of a row. What is computed of a row alone, such as
// a reciprocal, is computed once for each. `cute-run` verifies the outputs by the same regions.
//
// RUN: cute-opt %s --cute-compile="arch=sm_90a package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator --function=softmax --shape x=5x1000 --shape y=5x1000
// RUN: cute-run %t.cutepkg --device=emulator --function=layer_norm --shape x=3x4096 --shape weight=3x4096 --shape bias=3x4096 --shape y=3x4096
// RUN: cute-run %t.cutepkg --device=emulator --sms=2 --function=layer_norm --shape x=75x1001 --shape weight=75x1001 --shape bias=75x1001 --shape y=75x1001
// RUN: cute-run %t.cutepkg --device=emulator --sms=2 --function=rms_norm --shape x=37x2500 --shape weight=37x2500 --shape y=37x2500 --set epsilon=1e-5
// RUN: cute-run %t.cutepkg --device=emulator --function=rms_norm --shape x=2x5001 --shape weight=2x5001 --shape y=2x5001 --set epsilon=1e-5
//
// On a GPU: cute-run norms.cutepkg --function=softmax --bench --shape x=16384x4096 --shape y=16384x4096

!rows = !cute.memref<f16, gmem, align<16>, "(?,?):(?,1)">
// The same for all rows: a stride of 0.
!line = !cute.memref<f16, gmem, align<16>, "(?,?):(0,1)">

// y(i,j) = exp(x(i,j) - largest of row i) / sum over l of exp(x(i,l) - largest of row i)
func.func @softmax(%x: !rows {cute.name = "x"}, %y: !rows {cute.name = "y"}) {
  cute.map ins(%x) outs(%y) {
  ^bb0(%e: f16):
    %one = arith.constant 1.0 : f32
    %wide = arith.extf %e : f16 to f32
    %largest = cute.all_reduce "maximum" %wide along [1] : f32
    %below = arith.subf %wide, %largest : f32
    %power = math.exp %below : f32
    %sum = cute.all_reduce "add" %power along [1] : f32
    %share = arith.divf %one, %sum : f32
    %weight = arith.mulf %power, %share : f32
    %out = arith.truncf %weight : f32 to f16
    cute.yield %out : f16
  }
  return
}

// y(i,j) = (x(i,j) - mean) / sqrt(mean of the squares of that + 1e-5) * weight(j) + bias(j)
func.func @layer_norm(%x: !rows {cute.name = "x"}, %weight: !line {cute.name = "weight"}, %bias: !line {cute.name = "bias"},
                      %y: !rows {cute.name = "y"}) {
  cute.map ins(%x, %weight, %bias) outs(%y) {
  ^bb0(%e: f16, %w: f16, %b: f16):
    %epsilon = arith.constant 1.0e-5 : f32
    %wide = arith.extf %e : f16 to f32
    %mean = cute.all_reduce "mean" %wide along [1] : f32
    %off = arith.subf %wide, %mean : f32
    %square = arith.mulf %off, %off : f32
    %variance = cute.all_reduce "mean" %square along [1] : f32
    %moved = arith.addf %variance, %epsilon : f32
    %scale = math.rsqrt %moved : f32
    %normed = arith.mulf %off, %scale : f32
    %w32 = arith.extf %w : f16 to f32
    %b32 = arith.extf %b : f16 to f32
    %sum = math.fma %normed, %w32, %b32 : f32
    %out = arith.truncf %sum : f32 to f16
    cute.yield %out : f16
  }
  return
}

// y(i,j) = x(i,j) / sqrt(mean over l of x(i,l)^2 + epsilon) * weight(j), with a number that the caller gives
func.func @rms_norm(%x: !rows {cute.name = "x"}, %weight: !line {cute.name = "weight"}, %y: !rows {cute.name = "y"},
                    %epsilon: f32 {cute.name = "epsilon"}) {
  cute.map ins(%x, %weight) outs(%y) {
  ^bb0(%e: f16, %w: f16):
    %wide = arith.extf %e : f16 to f32
    %square = arith.mulf %wide, %wide : f32
    %mean = cute.all_reduce "mean" %square along [1] : f32
    %moved = arith.addf %mean, %epsilon : f32
    %scale = math.rsqrt %moved : f32
    %normed = arith.mulf %wide, %scale : f32
    %w32 = arith.extf %w : f16 to f32
    %weighted = arith.mulf %normed, %w32 : f32
    %out = arith.truncf %weighted : f32 to f16
    cute.yield %out : f16
  }
  return
}
