// The layer of mixed experts of a language model: each token goes to some of 8 experts, which are two matrices each with SiLU in between.
//
//     cute-opt examples/experts.mlir --cute-compile="arch=sm_90a package=experts.cutepkg" -o /dev/null
//     cute-run experts.cutepkg --device=emulator --shape X=24x512 --shape index=40 --shape weights=40x512 --shape H=40x1024 --shape Y=40x512
//
// Rows are pairs of a token and an expert, in the order of experts: row m is of token `%tokens`(m), and the rows of expert e are those from
// `%ends`(e-1) to `%ends`(e), which only the GPU knows. The first product takes the tokens from where they lie, and the second multiplies each row by
// the weight that the token gives the expert.
!tokens = !cute.memref<f16, gmem, align<16>, "(?,512):(512,1)">
!rows = !cute.memref<f16, gmem, align<16>, "(?,512):(512,1)">
!hidden = !cute.memref<f16, gmem, align<16>, "(?,1024):(1024,1)">
!up = !cute.memref<f16, gmem, align<16>, "(1024,512,8):(512,1,524288)">
!down = !cute.memref<f16, gmem, align<16>, "(512,1024,8):(1024,1,524288)">
!index = !cute.memref<i32, gmem, "?:1">
!ends = !cute.memref<i32, gmem, "8:1">
!weights = !cute.memref<f32, gmem, "(?,512):(1,0)">

func.func @experts(%X: !tokens {cute.name = "X"}, %index: !index {cute.name = "index"}, %ends: !ends {cute.name = "ends"}, %up: !up {cute.name = "up"}, %down: !down {cute.name = "down"}, %weights: !weights {cute.name = "weights"}, %H: !hidden {cute.name = "H"}, %Y: !rows {cute.name = "Y"}) {
  cute.contract ins(%X, %up) outs(%H) accumulate f32 gather A(%index) groups M(%ends) epilogue {
  ^bb0(%s: f32):
    %one = arith.constant 1.0 : f32
    %minus = arith.negf %s : f32
    %e = math.exp %minus : f32
    %below = arith.addf %e, %one : f32
    %silu = arith.divf %s, %below : f32
    %h = arith.truncf %silu : f32 to f16
    cute.yield %h : f16
  }
  cute.contract ins(%H, %down) outs(%Y) accumulate f32 groups M(%ends) epilogue ins(%weights) {
  ^bb0(%s: f32, %w: f32):
    %y = arith.mulf %s, %w : f32
    %h = arith.truncf %y : f32 to f16
    cute.yield %h : f16
  }
  return
}
