// A convolution of 3 by 3 with padding, as one kernel: Y = relu(X * F + bias), X (C,W,H,N) images of 64 channels, F a filter for each of 128 results.
//
//     cute-opt examples/convolution.mlir --cute-compile="arch=sm_90a package=convolution.cutepkg" -o /dev/null
//     cute-run convolution.cutepkg --bench
//
// It is a product of X at coordinates and of F: the row (q,p,n) and the column (c,s,r) of X are its element (c, q + s - 1, p + r - 1, n), and 0 where
// that is outside of the image. Steps between pixels are `2@1,2@2`, distances of taps `2@1,2@2` among those of columns.
!x = !cute.memref<f16, gmem, align<16>, "(64,56,56,32):(1,64,3584,200704)">
!f = !cute.memref<f16, gmem, align<16>, "(128,(64,3,3)):(576,(1,64,192))">
!y = !cute.memref<f16, gmem, align<16>, "(100352,128):(128,1)">
!bias = !cute.memref<f16, gmem, align<16>, "(100352,128):(0,1)">
!im2col = !cute.coord_tensor<"(0,-1,-1,0)", "((56,56,32),(64,3,3)):((1@1,1@2,1@3),(1@0,1@1,1@2))">

func.func @convolution(%X: !x, %F: !f, %Y: !y, %bias: !bias) {
  %first = cute.static : !cute.int_tuple<"(0,-1,-1,0)">
  %from = cute.make_arith_tuple_iter(%first) : (!cute.int_tuple<"(0,-1,-1,0)">) -> !cute.arith_tuple_iter<"(0,-1,-1,0)">
  %at = cute.make_view(%from) : !im2col
  cute.contract ins(%X, %F) outs(%Y) accumulate f32 at A(%at) epilogue ins(%bias) {
  ^bb0(%sum: f32, %b: f16):
    %zero = arith.constant 0.0 : f32
    %wide = arith.extf %b : f16 to f32
    %moved = arith.addf %sum, %wide : f32
    %kept = arith.maximumf %moved, %zero : f32
    %y = arith.truncf %kept : f32 to f16
    cute.yield %y : f16
  }
  return
}
