// A product of numbers of 8 bits with scales of blocks, as one kernel: C = A B^T, A (M,K) with a scale for each row and 128 of K, B (N,K) with one for each 128 by 128.
//
//     cute-opt examples/scaled_fp8.mlir --cute-compile="arch=sm_90a package=scaled_fp8.cutepkg" -o /dev/null
//     cute-run scaled_fp8.cutepkg --bench
//
// A prologue yields the element as it is, and a scale behind it. The sums of 128 of K stay in tensor cores; threads multiply them by both scales and add them up in
// f32, which keeps more bits than the tensor cores' sums do.
!a = !cute.memref<f8E4M3FN, gmem, align<16>, "(4096,7168):(7168,1)">
!b = !cute.memref<f8E4M3FN, gmem, align<16>, "(4096,7168):(7168,1)">
// Scales of neighbouring rows lie side by side; of a group of elements they are one: a stride of 0.
!scales_a = !cute.memref<f32, gmem, align<4>, "(4096,(128,56)):(1,(0,4096))">
!scales_b = !cute.memref<f32, gmem, align<4>, "((128,32),(128,56)):((0,56),(0,1))">
!c = !cute.memref<bf16, gmem, align<16>, "(4096,4096):(4096,1)">

func.func @scaled_fp8(%A: !a, %B: !b, %C: !c, %of_A: !scales_a, %of_B: !scales_b) {
  cute.contract ins(%A, %B) outs(%C) accumulate f32 prologue A ins(%of_A) {
  ^bb0(%a: f8E4M3FN, %scale: f32):
    cute.yield %a, %scale : f8E4M3FN, f32
  } prologue B ins(%of_B) {
  ^bb0(%b: f8E4M3FN, %scale: f32):
    cute.yield %b, %scale : f8E4M3FN, f32
  }
  return
}
