// Maps that no layout makes easy.

// What is reduced lies in order in one tensor, and apart in another.
!x = !cute.memref<f32, gmem, align<16>, "(6,20,7):(300,1,40)">
!y = !cute.memref<f32, gmem, align<16>, "(6,20,7):(140,7,1)">
!s = !cute.memref<f32, gmem, align<4>, "(6,20,7):(1,0,0)">
func.func @apart(%x: !x, %y: !y, %s: !s) {
  cute.map ins(%x : !x) outs(%y, %s : !y, !s) {
  ^bb0(%e: f32):
    %m = cute.all_reduce "maximum" %e along [1, 2] : f32
    %d = arith.subf %e, %m : f32
    cute.yield %d, %m : f32, f32
  }
  return
}

!ox = !cute.memref<f16, gmem, align<16>, "(?,?,?):(?,1,?)">
!os = !cute.memref<f32, gmem, align<4>, "(?,?,?):(0,1,0)">
func.func @open_apart(%x: !ox, %s: !os) {
  cute.map ins(%x : !ox) outs(%s : !os) {
  ^bb0(%e: f16):
    %w = arith.extf %e : f16 to f32
    %m = cute.all_reduce "add" %w along [0, 2] : f32
    cute.yield %m : f32
  }
  return
}

!nx = !cute.memref<f32, gmem, align<16>, "((4,16),32):((32,256),1)">
!ns = !cute.memref<f32, gmem, align<16>, "((4,16),32):((0,0),1)">
func.func @nested_apart(%x: !nx, %s: !ns) {
  cute.map ins(%x : !nx) outs(%s : !ns) {
  ^bb0(%x0: f32):
    %sum = cute.all_reduce "add" %x0 along [0] : f32
    cute.yield %sum : f32
  }
  return
}

// Numbers of 8 bits, with a factor of 8 bits for each row.
!e4 = !cute.memref<f8E4M3FN, gmem, align<16>, "(24,64):(64,1)">
!e5 = !cute.memref<f8E5M2, gmem, align<1>, "(24,64):(1,0)">
!u8 = !cute.memref<ui8, gmem, align<1>, "(24,64):(0,1)">
!h = !cute.memref<f16, gmem, align<16>, "(24,64):(64,1)">
!m = !cute.memref<f32, gmem, align<4>, "(24,64):(1,0)">
func.func @narrow(%x: !e4, %f: !e5, %u: !u8, %y: !h, %s: !m) {
  cute.map ins(%x, %f, %u : !e4, !e5, !u8) outs(%y, %s : !h, !m) {
  ^bb0(%e: f8E4M3FN, %g: f8E5M2, %b: i8):
    %a = arith.extf %e : f8E4M3FN to f32
    %c = arith.extf %g : f8E5M2 to f32
    %d = arith.uitofp %b : i8 to f32
    %p = arith.mulf %a, %c : f32
    %q = arith.addf %p, %d : f32
    %most = cute.all_reduce "maximum" %q along [1] : f32
    %less = arith.subf %q, %most : f32
    %z = arith.truncf %less : f32 to f16
    cute.yield %z, %most : f16, f32
  }
  return
}

// One line, or few of them, is reduced by many blocks.
!v = !cute.memref<f32, gmem, align<16>, "(1000003):(1)">
!w = !cute.memref<f32, gmem, align<4>, "(1000003):(0)">
func.func @sum_of_all(%x: !v, %s: !w) {
  cute.map ins(%x : !v) outs(%s : !w) {
  ^bb0(%e: f32):
    %sum = cute.all_reduce "add" %e along [0] : f32
    cute.yield %sum : f32
  }
  return
}

// The norm of a tensor, and what it is divided by it: two passes over it, with numbers that are computed between them.
!big = !cute.memref<f16, gmem, align<16>, "(2,3,200000):(600000,200000,1)">
!of_two = !cute.memref<f32, gmem, align<4>, "(2,3,200000):(1,0,0)">
func.func @norm(%x: !big, %y: !big, %s: !of_two, %n: !of_two, %epsilon: f32 {cute.name = "epsilon", cute.default = 0.25 : f32}) {
  cute.map ins(%x : !big) outs(%y, %s, %n : !big, !of_two, !of_two) {
  ^bb0(%e: f16):
    %a = arith.extf %e : f16 to f32
    %mean = cute.all_reduce "mean" %a along [1, 2] : f32
    %most = cute.all_reduce "maximum" %a along [1, 2] : f32
    %d = arith.subf %a, %mean : f32
    %sq = arith.mulf %d, %d : f32
    %var = cute.all_reduce "mean" %sq along [1, 2] : f32
    %t = arith.addf %var, %epsilon : f32
    %r = math.rsqrt %t : f32
    %z = arith.mulf %d, %r : f32
    %h = arith.truncf %z : f32 to f16
    %both = arith.addf %r, %most : f32
    cute.yield %h, %var, %both : f16, f32, f32
  }
  return
}

// Columns, of which neighbours lie along rows; and lines of any length.
!tall = !cute.memref<f32, gmem, align<16>, "(400000,3):(3,1)">
!three = !cute.memref<f32, gmem, align<4>, "(400000,3):(0,1)">
func.func @columns(%x: !tall, %s: !three) {
  cute.map ins(%x : !tall) outs(%s : !three) {
  ^bb0(%e: f32):
    %sum = cute.all_reduce "add" %e along [0] : f32
    cute.yield %sum : f32
  }
  return
}
!any = !cute.memref<f32, gmem, align<16>, "(2,?):(?,1)">
!row = !cute.memref<f32, gmem, align<4>, "(2,?):(1,0)">
func.func @open_lines(%x: !any, %s: !row, %t: !row) {
  cute.map ins(%x : !any) outs(%s, %t : !row, !row) {
  ^bb0(%e: f32):
    %m = cute.all_reduce "maximum" %e along [1] : f32
    %a = cute.all_reduce "mean" %e along [1] : f32
    %d = arith.subf %a, %m : f32
    cute.yield %m, %d : f32, f32
  }
  return
}
