// Sums of products of more than a block holds along K or E, or of what a launch brings, on the emulator, compared with their regions in f64.
//
// RUN: cute-opt %s --cute-compile="arch=sm_80 package=%t.cutepkg" -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK --allow-empty
// REMARK-NOT: error
//
// Slices of K, of two products of one factor; sizes that tiles divide or not:
//
// RUN: cute-run %t.cutepkg --device=emulator --function deep_swiglu --shape A=64x64x512 --shape B=64x64x512 --shape C=64x64x512 --shape D=64x64x512 | FileCheck %s --check-prefix=SWIGLU
// SWIGLU: D (64,64,512), map: right; every element compared
// RUN: cute-run %t.cutepkg --device=emulator --seeds 2 --function deep_swiglu --shape A=70x136x512 --shape B=70x136x512 --shape C=70x136x512 --shape D=70x136x512
//
// Whole vectors of the factors or elements one by one, as a launch brings them; K of a few slices and of a part of one; there must be something to sum up:
//
// RUN: cute-run %t.cutepkg --device=emulator --function open_scores --shape A=70x100x320 --shape B=70x100x320 --shape D=70x100x320 --shape L=70x100x320
// RUN: cute-run %t.cutepkg --device=emulator --seeds 2 --function open_scores --shape A=33x131x301 --shape B=33x131x301 --shape D=33x131x301 --shape L=33x131x301
// RUN: cute-run %t.cutepkg --device=emulator --function open_scores --shape A=17x40x7 --shape B=17x40x7 --shape D=17x40x7 --shape L=17x40x7
// RUN: cute-run %t.cutepkg --device=emulator --function open_scores --shape A=17x40x8 --shape B=17x40x8 --shape D=17x40x8 --shape L=17x40x8
// RUN: %python %inputs/status.py 2 cute-run %t.cutepkg --device=emulator --function open_scores --shape A=3x5x0 --shape B=3x5x0 --shape D=3x5x0 --shape L=3x5x0 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: expected at least one element along mode [2], which is reduced
//
// Blocks that share E; where there is nothing along it, there are no elements:
//
// RUN: cute-run %t.cutepkg --device=emulator --function open_attention --shape Q=40x72x104x200 --shape K=40x72x104x200 --shape V=40x72x104x200 --shape O=40x72x104x200 --shape L=40x72x104x200 | FileCheck %s --check-prefix=OPEN
// OPEN: O (40,72,104,200), map: right
// OPEN: L (40,72,104,200), map: right
// RUN: cute-run %t.cutepkg --device=emulator --function open_attention --shape Q=33x65x77x129 --shape K=33x65x77x129 --shape V=33x65x77x129 --shape O=33x65x77x129 --shape L=33x65x77x129
// RUN: cute-run %t.cutepkg --device=emulator --function open_attention --shape Q=20x30x16x8 --shape K=20x30x16x8 --shape V=20x30x16x8 --layout "O=(20,30,16,8):(9,0,0,1)" --shape L=20x30x16x8
// RUN: cute-run %t.cutepkg --device=emulator --function open_attention --shape Q=5x30x16x0 --shape K=5x30x16x0 --shape V=5x30x16x0 --shape O=5x30x16x0 --shape L=5x30x16x0
// RUN: cute-run %t.cutepkg --device=emulator --function deepest --shape Q=40x72x256x256 --shape K=40x72x256x256 --shape V=40x72x256x256 --shape O=40x72x256x256
//
// What a launch brings that overlaps is refused:
//
// RUN: %python %inputs/status.py 2 cute-run %t.cutepkg --device=emulator --function open_attention --shape Q=20x30x16x8 --shape K=20x30x16x8 --shape V=20x30x16x8 --layout "O=(20,30,16,8):(7,0,0,1)" --shape L=20x30x16x8 2>&1 | FileCheck %s --check-prefix=OVER
// OVER: expected elements of output 0 that do not overlap: a stride of mode 0 that is at least the extent of mode 3
// RUN: %python %inputs/status.py 2 cute-run %t.cutepkg --device=emulator --function heads --shape A=3x8x8x40 --shape B=3x8x8x40 --layout "D=(3,8,8,40):(60,8,1,0)" 2>&1 | FileCheck %s --check-prefix=HEADS
// HEADS: expected elements of output 0 that do not overlap: strides of modes [0, 1, 2], each larger than what those of smaller strides reach over
// RUN: cute-run %t.cutepkg --device=emulator --function heads --shape A=3x8x8x40 --shape B=3x8x8x40 --layout "D=(3,8,8,40):(8,24,1,0)"
// RUN: cute-run %t.cutepkg --device=emulator --function heads --shape A=3x0x8x40 --shape B=3x0x8x40 --layout "D=(3,0,8,40):(0,8,1,0)"
//
// Of one column, an output may be the same along columns; what is the same along columns is reduced as well:
//
// RUN: cute-run %t.cutepkg --device=emulator --function one_column --shape A=70x1x64 --shape B=70x1x64 --shape D=70x1x64 --shape M=70x1x64
// RUN: cute-run %t.cutepkg --device=emulator --function of_rows --shape A=33x70x64 --shape B=33x70x64 --shape R=33x70x64 --shape D=33x70x64
//
// RUN: cute-run --info %t.cutepkg | FileCheck %s --check-prefix=INFO
// INFO-LABEL: function open_scores
// INFO:         launch 0: open_scores_kernel_0(
// INFO-NEXT:      when v0
// INFO:         launch 1: open_scores_kernel_1(
// INFO-NEXT:      when eq(v0, 0)

// SwiGLU with 512 of K
!a = !cute.memref<bf16, gmem, align<16>, "(?,?,512):(512,0,1)">
!b = !cute.memref<bf16, gmem, align<16>, "(?,?,512):(0,512,1)">
!d = !cute.memref<bf16, gmem, align<16>, "(?,?{div=8},512):(?{div=8},1,0)">
func.func @deep_swiglu(%A: !a {cute.name = "A"}, %B: !b {cute.name = "B"}, %C: !b {cute.name = "C"}, %D: !d {cute.name = "D"}) {
  cute.map ins(%A, %B, %C : !a, !b, !b) outs(%D : !d) {
  ^bb0(%a: bf16, %b: bf16, %c: bf16):
    %aw = arith.extf %a : bf16 to f32
    %bw = arith.extf %b : bf16 to f32
    %cw = arith.extf %c : bf16 to f32
    %ab = arith.mulf %aw, %bw : f32
    %ac = arith.mulf %aw, %cw : f32
    %g = cute.all_reduce "add" %ab along [2] : f32
    %u = cute.all_reduce "add" %ac along [2] : f32
    %one = arith.constant 1.0 : f32
    %n = arith.negf %g : f32
    %e = math.exp %n : f32
    %t = arith.addf %e, %one : f32
    %s = arith.divf %g, %t : f32
    %w = arith.mulf %s, %u : f32
    %r = arith.truncf %w : f32 to bf16
    cute.yield %r : bf16
  }
  return
}
// softmax of scores, everything open
!sa = !cute.memref<f16, gmem, align<16>, "(?,?,?):(?,0,1)">
!sb = !cute.memref<f16, gmem, align<16>, "(?,?,?):(0,?,1)">
!sd = !cute.memref<f32, gmem, align<4>, "(?,?,?):(?,1,0)">
!sr = !cute.memref<f32, gmem, align<4>, "(?,?,?):(1,0,0)">
func.func @open_scores(%A: !sa {cute.name = "A"}, %B: !sb {cute.name = "B"}, %D: !sd {cute.name = "D"}, %L: !sr {cute.name = "L"}) {
  cute.map ins(%A, %B : !sa, !sb) outs(%D, %L : !sd, !sr) {
  ^bb0(%a: f16, %b: f16):
    %aw = arith.extf %a : f16 to f32
    %bw = arith.extf %b : f16 to f32
    %ab = arith.mulf %aw, %bw : f32
    %s = cute.all_reduce "add" %ab along [2] : f32
    %m = cute.all_reduce "maximum" %s along [1] : f32
    %x = arith.subf %s, %m : f32
    %tenth = arith.constant 0.0625 : f32
    %x1 = arith.mulf %x, %tenth : f32
    %e = math.exp %x1 : f32
    %l = cute.all_reduce "add" %e along [1] : f32
    %r = arith.divf %e, %l : f32
    %log = math.log %l : f32
    cute.yield %r, %log : f32, f32
  }
  return
}
// attention, K and E open
!q = !cute.memref<f16, gmem, align<16>, "(?,?,?,?):(?,0,1,0)">
!k = !cute.memref<f16, gmem, align<16>, "(?,?,?,?):(0,?,1,0)">
!v = !cute.memref<f16, gmem, align<16>, "(?,?,?,?):(0,?,0,1)">
!o = !cute.memref<f16, gmem, align<16>, "(?,?,?,?):(?,0,0,1)">
!l = !cute.memref<f32, gmem, align<4>, "(?,?,?,?):(1,0,0,0)">
func.func @open_attention(%Q: !q {cute.name = "Q"}, %K: !k {cute.name = "K"}, %V: !v {cute.name = "V"}, %O: !o {cute.name = "O"}, %L: !l {cute.name = "L"}, %scale: f32 {cute.name = "scale", cute.default = 0.0625 : f32}) {
  cute.map ins(%Q, %K, %V : !q, !k, !v) outs(%O, %L : !o, !l) {
  ^bb0(%qe: f16, %ke: f16, %ve: f16):
    %qw = arith.extf %qe : f16 to f32
    %kw = arith.extf %ke : f16 to f32
    %qk = arith.mulf %qw, %kw : f32
    %s0 = cute.all_reduce "add" %qk along [2] : f32
    %s1 = arith.mulf %s0, %scale : f32
    %m = cute.all_reduce "maximum" %s1 along [1] : f32
    %dd = arith.subf %s1, %m : f32
    %e = math.exp %dd : f32
    %ll = cute.all_reduce "add" %e along [1] : f32
    %h = arith.truncf %e : f32 to f16
    %hw = arith.extf %h : f16 to f32
    %vw = arith.extf %ve : f16 to f32
    %pv = arith.mulf %hw, %vw : f32
    %oo = cute.all_reduce "add" %pv along [1] : f32
    %on = arith.divf %oo, %ll : f32
    %r = arith.truncf %on : f32 to f16
    %log = math.log %ll : f32
    %lse = arith.addf %log, %m : f32
    cute.yield %r, %lse : f16, f32
  }
  return
}
// attention, deep
!q6 = !cute.memref<f16, gmem, align<16>, "(?,?,256,256):(256,0,1,0)">
!k6 = !cute.memref<f16, gmem, align<16>, "(?,?,256,256):(0,256,1,0)">
!v6 = !cute.memref<f16, gmem, align<16>, "(?,?,256,256):(0,256,0,1)">
!o6 = !cute.memref<f16, gmem, align<16>, "(?,?,256,256):(256,0,0,1)">
func.func @deepest(%Q: !q6 {cute.name = "Q"}, %K: !k6 {cute.name = "K"}, %V: !v6 {cute.name = "V"}, %O: !o6 {cute.name = "O"}, %scale: f32 {cute.name = "scale", cute.default = 0.0625 : f32}) {
  cute.map ins(%Q, %K, %V : !q6, !k6, !v6) outs(%O : !o6) {
  ^bb0(%qe: f16, %ke: f16, %ve: f16):
    %qw = arith.extf %qe : f16 to f32
    %kw = arith.extf %ke : f16 to f32
    %qk = arith.mulf %qw, %kw : f32
    %s0 = cute.all_reduce "add" %qk along [2] : f32
    %s1 = arith.mulf %s0, %scale : f32
    %m = cute.all_reduce "maximum" %s1 along [1] : f32
    %dd = arith.subf %s1, %m : f32
    %e = math.exp %dd : f32
    %ll = cute.all_reduce "add" %e along [1] : f32
    %h = arith.truncf %e : f32 to f16
    %hw = arith.extf %h : f16 to f32
    %vw = arith.extf %ve : f16 to f32
    %pv = arith.mulf %hw, %vw : f32
    %oo = cute.all_reduce "add" %pv along [1] : f32
    %on = arith.divf %oo, %ll : f32
    %r = arith.truncf %on : f32 to f16
    cute.yield %r : f16
  }
  return
}
// scores of heads
!ha = !cute.memref<f16, gmem, align<16>, "(?,?,?,40):(?{div=8},40,0,1)">
!hb = !cute.memref<f16, gmem, align<16>, "(?,?,?,40):(?{div=8},0,40,1)">
!hd = !cute.memref<f16, gmem, align<16>, "(?,?,?,40):(?,?,1,0)">
func.func @heads(%A: !ha {cute.name = "A"}, %B: !hb {cute.name = "B"}, %D: !hd {cute.name = "D"}) {
  cute.map ins(%A, %B : !ha, !hb) outs(%D : !hd) {
  ^bb0(%a: f16, %b: f16):
    %aw = arith.extf %a : f16 to f32
    %bw = arith.extf %b : f16 to f32
    %ab = arith.mulf %aw, %bw : f32
    %s = cute.all_reduce "add" %ab along [3] : f32
    %r = arith.truncf %s : f32 to f16
    cute.yield %r : f16
  }
  return
}
// one column
!oa = !cute.memref<f16, gmem, align<16>, "(?,1,64):(64,0,1)">
!ob = !cute.memref<f16, gmem, align<16>, "(?,1,64):(0,64,1)">
!od = !cute.memref<f32, gmem, align<4>, "(?,1,64):(1,0,0)">
func.func @one_column(%A: !oa {cute.name = "A"}, %B: !ob {cute.name = "B"}, %D: !od {cute.name = "D"}, %M: !od {cute.name = "M"}) {
  cute.map ins(%A, %B : !oa, !ob) outs(%D, %M : !od, !od) {
  ^bb0(%a: f16, %b: f16):
    %aw = arith.extf %a : f16 to f32
    %bw = arith.extf %b : f16 to f32
    %ab = arith.mulf %aw, %bw : f32
    %s = cute.all_reduce "add" %ab along [2] : f32
    %m = cute.all_reduce "maximum" %s along [1] : f32
    cute.yield %s, %m : f32, f32
  }
  return
}
// reductions along columns of what is the same along them
!ra = !cute.memref<f16, gmem, align<16>, "(?,?,64):(64,0,1)">
!rb = !cute.memref<f16, gmem, align<16>, "(?,?,64):(0,64,1)">
!rr = !cute.memref<f32, gmem, align<4>, "(?,?,64):(1,0,0)">
!rd = !cute.memref<f32, gmem, align<4>, "(?,?,64):(?,1,0)">
func.func @of_rows(%A: !ra {cute.name = "A"}, %B: !rb {cute.name = "B"}, %R: !rr {cute.name = "R"}, %D: !rd {cute.name = "D"}) {
  cute.map ins(%A, %B, %R : !ra, !rb, !rr) outs(%D : !rd) {
  ^bb0(%a: f16, %b: f16, %r: f32):
    %aw = arith.extf %a : f16 to f32
    %bw = arith.extf %b : f16 to f32
    %ab = arith.mulf %aw, %bw : f32
    %s = cute.all_reduce "add" %ab along [2] : f32
    %m = cute.all_reduce "maximum" %r along [1] : f32
    %d = arith.subf %r, %m : f32
    %e = math.exp %d : f32
    %l = cute.all_reduce "add" %e along [1] : f32
    %x = arith.divf %s, %l : f32
    cute.yield %x : f32
  }
  return
}
