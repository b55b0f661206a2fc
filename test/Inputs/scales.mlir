// Products with scales of groups along K, for test/compile/scales.test.

// Numbers of 8 bits: a scale for each row of A and each 128 of K, and one for each 128 by 128 of B.
!a = !cute.memref<f8E4M3FN, gmem, align<16>, "(?,512):(512,1)">
!b = !cute.memref<f8E4M3FN, gmem, align<16>, "(384,512):(512,1)">
!sa = !cute.memref<f32, gmem, align<4>, "(?,(128,4)):(1,(0,?))">
!sb = !cute.memref<f32, gmem, align<4>, "((128,3),(128,4)):((0,4),(0,1))">
!c = !cute.memref<bf16, gmem, align<16>, "(?,384):(384,1)">
func.func @blocks(%A: !a, %B: !b, %C: !c, %sA: !sa, %sB: !sb) {
  cute.contract ins(%A, %B : !a, !b) outs(%C : !c) accumulate f32 prologue A ins(%sA : !sa) {
  ^bb0(%a: f8E4M3FN, %s: f32):
    cute.yield %a, %s : f8E4M3FN, f32
  } prologue B ins(%sB : !sb) {
  ^bb0(%b: f8E4M3FN, %s: f32):
    cute.yield %b, %s : f8E4M3FN, f32
  }
  return
}

// Bytes that become f16, with a scale and the power of two of an exponent for each column and each 64 of K; of C column by column.
!a_2 = !cute.memref<f16, gmem, align<16>, "(40,192):(192,1)">
!w_2 = !cute.memref<i8, gmem, align<16>, "(56,192):(192,1)">
!s_2 = !cute.memref<f16, gmem, align<2>, "(56,(64,3)):(3,(0,1))">
!e_2 = !cute.memref<i8, gmem, "(56,(64,3)):(1,(0,56))">
!c_2 = !cute.memref<f16, gmem, align<16>, "(40,56):(1,40)">
func.func @weights(%A: !a_2, %W: !w_2, %C: !c_2, %scale: !s_2, %exponent: !e_2) {
  cute.contract ins(%A, %W : !a_2, !w_2) outs(%C : !c_2) accumulate f32 prologue B ins(%scale, %exponent : !s_2, !e_2) {
  ^bb0(%b: i8, %s: f16, %e: i8):
    %x = arith.sitofp %b : i8 to f16
    %eighth = arith.constant 0.125 : f32
    %wide = arith.extf %s : f16 to f32
    %power = arith.sitofp %e : i8 to f32
    %small = arith.mulf %power, %eighth : f32
    %scale_of = arith.mulf %wide, %small : f32
    cute.yield %x, %scale_of : f16, f32
  }
  return
}

// A number that the caller passes, and one for each row along all of K; an epilogue, and a batch.
!a_3 = !cute.memref<f16, gmem, align<16>, "(72,80,2):(80,1,5760)">
!b_3 = !cute.memref<f16, gmem, align<16>, "(64,80,2):(80,1,5120)">
!s_3 = !cute.memref<f32, gmem, align<4>, "(72,80,2):(1,0,72)">
!bias_3 = !cute.memref<f16, gmem, align<16>, "(72,64,2):(0,1,0)">
!c_3 = !cute.memref<f16, gmem, align<16>, "(72,64,2):(64,1,4608)">
func.func @rows(%A: !a_3, %B: !b_3, %C: !c_3, %scale: !s_3, %bias: !bias_3, %x: f32) {
  cute.contract ins(%A, %B : !a_3, !b_3) outs(%C : !c_3) accumulate f32 prologue A ins(%scale : !s_3) {
  ^bb0(%a: f16, %s: f32):
    cute.yield %a, %s : f16, f32
  } prologue B {
  ^bb0(%b: f16):
    cute.yield %b, %x : f16, f32
  } epilogue ins(%bias : !bias_3) {
  ^bb0(%sum: f32, %b: f16):
    %wide = arith.extf %b : f16 to f32
    %moved = arith.addf %sum, %wide : f32
    %out = arith.truncf %moved : f32 to f16
    cute.yield %out : f16
  }
  return
}

// Rows of experts, whose matrices have scales of blocks.
!rows_4 = !cute.memref<f8E4M3FN, gmem, align<16>, "(?,256):(256,1)">
!experts_4 = !cute.memref<f8E4M3FN, gmem, align<16>, "(128,256,3):(256,1,32768)">
!out_4 = !cute.memref<bf16, gmem, align<16>, "(?,128):(128,1)">
!ends_4 = !cute.memref<i32, gmem, "3:1">
!sr_4 = !cute.memref<f32, gmem, align<4>, "(?,(128,2)):(2,(0,1))">
!se_4 = !cute.memref<f32, gmem, align<4>, "((64,2),(128,2),3):((0,2),(0,1),4)">
func.func @experts(%A: !rows_4, %B: !experts_4, %C: !out_4, %ends: !ends_4, %sA: !sr_4, %sB: !se_4) {
  cute.contract ins(%A, %B : !rows_4, !experts_4) outs(%C : !out_4) accumulate f32 groups M(%ends : !ends_4) prologue A ins(%sA : !sr_4) {
  ^bb0(%a: f8E4M3FN, %s: f32):
    cute.yield %a, %s : f8E4M3FN, f32
  } prologue B ins(%sB : !se_4) {
  ^bb0(%b: f8E4M3FN, %s: f32):
    cute.yield %b, %s : f8E4M3FN, f32
  }
  return
}
