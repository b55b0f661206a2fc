// Sums of products in maps, on the emulator, compared with their regions in f64: what is made of them, and reductions of that along columns.
//
// RUN: cute-opt %s --cute-compile="arch=sm_80 package=%t.cutepkg" -o /dev/null
//
// One product with more inputs; sizes that tiles divide or not; of no rows or columns nothing is computed:
//
// RUN: cute-run %t.cutepkg --device=emulator --function linear --shape A=64x64x64 --shape B=64x64x64 --shape bias=64x64x64 --shape X=64x64x64 --shape D=64x64x64 | FileCheck %s --check-prefix=LINEAR
// LINEAR: D (64,64,64), map: right; every element compared
// RUN: cute-run %t.cutepkg --device=emulator --function linear --shape A=70x136x64 --shape B=70x136x64 --shape bias=70x136x64 --shape X=70x136x64 --shape D=70x136x64
// RUN: cute-run %t.cutepkg --device=emulator --function linear --shape A=1x8x64 --shape B=1x8x64 --shape bias=1x8x64 --shape X=1x8x64 --shape D=1x8x64
// RUN: cute-run %t.cutepkg --device=emulator --function linear --shape A=0x64x64 --shape B=0x64x64 --shape bias=0x64x64 --shape X=0x64x64 --shape D=0x64x64
// RUN: cute-run %t.cutepkg --device=emulator --function linear --shape A=64x0x64 --shape B=64x0x64 --shape bias=64x0x64 --shape X=64x0x64 --shape D=64x0x64
//
// Two products of one factor, and what is made of both:
//
// RUN: cute-run %t.cutepkg --device=emulator --function swiglu --shape A=64x128x128 --shape B=64x128x128 --shape C=64x128x128 --shape D=64x128x128
// RUN: cute-run %t.cutepkg --device=emulator --function swiglu --shape A=100x136x128 --shape B=100x136x128 --shape C=100x136x128 --shape D=100x136x128
//
// Reductions along columns: as many columns as a block holds, and any, which it goes over as often as one reduction needs what another one gives:
//
// RUN: cute-run %t.cutepkg --device=emulator --seeds 2 --function held --shape A=70x100x64 --shape B=70x100x64 --shape D=70x100x64
// RUN: cute-run %t.cutepkg --device=emulator --seeds 2 --function scores --shape A=64x64x40 --shape B=64x64x40 --shape D=64x64x40 --shape L=64x64x40
// RUN: cute-run %t.cutepkg --device=emulator --seeds 2 --function scores --shape A=70x331x40 --shape B=70x331x40 --shape D=70x331x40 --shape L=70x331x40
// RUN: cute-run %t.cutepkg --device=emulator --function scores --shape A=3x1x40 --shape B=3x1x40 --shape D=3x1x40 --shape L=3x1x40
// RUN: cute-run %t.cutepkg --device=emulator --function rms --shape A=70x131x64 --shape B=70x131x64 --shape W=70x131x64 --shape R=70x131x64 --shape D=70x131x64
// RUN: cute-run %t.cutepkg --device=emulator --function turns --shape E0=64x200x64 --shape E1=64x200x64 --shape D0=64x200x64
// RUN: cute-run %t.cutepkg --device=emulator --function leads --shape E0=64x200x64 --shape E1=64x200x64 --shape D0=64x200x64
// RUN: cute-run %t.cutepkg --device=emulator --function leads --seeds 2 --shape E0=64x330x64 --shape E1=64x330x64 --shape D0=64x330x64 --set f=-0.25
// RUN: %python %inputs/status.py 2 cute-run %t.cutepkg --device=emulator --function scores --shape A=3x0x40 --shape B=3x0x40 --shape D=3x0x40 --shape L=3x0x40 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: expected at least one element along mode [1], which is reduced
//
// RUN: cute-run --info %t.cutepkg | FileCheck %s --check-prefix=INFO
// INFO-LABEL: function swiglu
// INFO:         launch 0: swiglu_kernel(
// INFO-NOT:     launch 1
// INFO-LABEL: function scores
//
// A kernel that is wrong is found: columns behind the last one that are not left out of a maximum, and another function.
//
// RUN: %python %inputs/edit_ptx.py %t.cutepkg %t.columns.cutepkg 0fFF800000 0f41200000
// RUN: %python %inputs/status.py 1 cute-run %t.columns.cutepkg --device=emulator --function scores --shape A=70x331x40 --shape B=70x331x40 --shape D=70x331x40 --shape L=70x331x40 | FileCheck %s --check-prefix=WRONG
// WRONG: L (70,331,40), map: WRONG
// RUN: %python %inputs/edit_ptx.py %t.cutepkg %t.products.cutepkg .f32.bf16.bf16.f32 .f32.f16.f16.f32
// RUN: %python %inputs/status.py 1 cute-run %t.products.cutepkg --device=emulator --function swiglu --shape A=64x128x128 --shape B=64x128x128 --shape C=64x128x128 --shape D=64x128x128

// D = relu(A B^T + bias) with bias for each column and residual
!la = !cute.memref<f16, gmem, align<16>, "(?,?,64):(64,0,1)">
!lb = !cute.memref<f16, gmem, align<16>, "(?,?,64):(0,64,1)">
!lbias = !cute.memref<f16, gmem, align<16>, "(?,?,64):(0,1,0)">
!ld = !cute.memref<f16, gmem, align<16>, "(?,?{div=8},64):(?{div=8},1,0)">
func.func @linear(%A: !la {cute.name = "A"}, %B: !lb {cute.name = "B"}, %bias: !lbias {cute.name = "bias"}, %X: !ld {cute.name = "X"}, %D: !ld {cute.name = "D"}) {
  cute.map ins(%A, %B, %bias, %X : !la, !lb, !lbias, !ld) outs(%D : !ld) {
  ^bb0(%a: f16, %b: f16, %c: f16, %x: f16):
    %aw = arith.extf %a : f16 to f32
    %bw = arith.extf %b : f16 to f32
    %ab = arith.mulf %aw, %bw : f32
    %s = cute.all_reduce "add" %ab along [2] : f32
    %cw = arith.extf %c : f16 to f32
    %xw = arith.extf %x : f16 to f32
    %t = arith.addf %s, %cw : f32
    %zero = arith.constant 0.0 : f32
    %u = arith.maximumf %t, %zero : f32
    %w = arith.addf %u, %xw : f32
    %r = arith.truncf %w : f32 to f16
    cute.yield %r : f16
  }
  return
}

// SwiGLU
!a = !cute.memref<bf16, gmem, align<16>, "(?,?,128):(128,0,1)">
!b = !cute.memref<bf16, gmem, align<16>, "(?,?,128):(0,128,1)">
!d = !cute.memref<bf16, gmem, align<16>, "(?,?{div=8},128):(?{div=8},1,0)">
func.func @swiglu(%A: !a {cute.name = "A"}, %B: !b {cute.name = "B"}, %C: !b {cute.name = "C"}, %D: !d {cute.name = "D"}) {
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
// softmax of scores, columns open: three turns
!sa = !cute.memref<f16, gmem, align<16>, "(?,?,40):(40,0,1)">
!sb = !cute.memref<f16, gmem, align<16>, "(?,?,40):(0,40,1)">
!sd = !cute.memref<f32, gmem, align<4>, "(?,?,40):(?,1,0)">
!sr = !cute.memref<f32, gmem, align<4>, "(?,?,40):(1,0,0)">
func.func @scores(%A: !sa {cute.name = "A"}, %B: !sb {cute.name = "B"}, %D: !sd {cute.name = "D"}, %L: !sr {cute.name = "L"}) {
  cute.map ins(%A, %B : !sa, !sb) outs(%D, %L : !sd, !sr) {
  ^bb0(%a: f16, %b: f16):
    %aw = arith.extf %a : f16 to f32
    %bw = arith.extf %b : f16 to f32
    %ab = arith.mulf %aw, %bw : f32
    %s = cute.all_reduce "add" %ab along [2] : f32
    %m = cute.all_reduce "maximum" %s along [1] : f32
    %x = arith.subf %s, %m : f32
    %e = math.exp %x : f32
    %l = cute.all_reduce "add" %e along [1] : f32
    %r = arith.divf %e, %l : f32
    %log = math.log %l : f32
    %lse = arith.addf %log, %m : f32
    cute.yield %r, %lse : f32, f32
  }
  return
}
// softmax of scores held: 96 columns
!ha = !cute.memref<f16, gmem, align<16>, "(?,100,64):(64,0,1)">
!hb = !cute.memref<f16, gmem, align<16>, "(?,100,64):(0,1,104)">
!hd = !cute.memref<f16, gmem, align<16>, "(?,100,64):(104,1,0)">
func.func @held(%A: !ha {cute.name = "A"}, %B: !hb {cute.name = "B"}, %D: !hd {cute.name = "D"}) {
  cute.map ins(%A, %B : !ha, !hb) outs(%D : !hd) {
  ^bb0(%a: f16, %b: f16):
    %aw = arith.extf %a : f16 to f32
    %bw = arith.extf %b : f16 to f32
    %ab = arith.mulf %aw, %bw : f32
    %s = cute.all_reduce "add" %ab along [2] : f32
    %m = cute.all_reduce "maximum" %s along [1] : f32
    %x = arith.subf %s, %m : f32
    %e = math.exp %x : f32
    %l = cute.all_reduce "add" %e along [1] : f32
    %q = arith.divf %e, %l : f32
    %r = arith.truncf %q : f32 to f16
    cute.yield %r : f16
  }
  return
}
// RMS norm of a product, columns open, with a weight for each column and a scale for each row
!na = !cute.memref<f16, gmem, align<16>, "(?,?,64):(?{div=8},0,1)">
!nb = !cute.memref<f16, gmem, align<16>, "(?,?,64):(0,?{div=8},1)">
!nw = !cute.memref<f32, gmem, align<4>, "(?,?,64):(0,1,0)">
!nr = !cute.memref<f16, gmem, align<2>, "(?,?,64):(3,0,0)">
!nd = !cute.memref<f16, gmem, align<2>, "(?,?,64):(?,1,0)">
func.func @rms(%A: !na {cute.name = "A"}, %B: !nb {cute.name = "B"}, %W: !nw {cute.name = "W"}, %R: !nr {cute.name = "R"}, %D: !nd {cute.name = "D"}, %eps: f32 {cute.name = "eps", cute.default = 1.0e-5 : f32}) {
  cute.map ins(%A, %B, %W, %R : !na, !nb, !nw, !nr) outs(%D : !nd) {
  ^bb0(%a: f16, %b: f16, %w: f32, %row: f16):
    %aw = arith.extf %a : f16 to f32
    %bw = arith.extf %b : f16 to f32
    %ab = arith.mulf %aw, %bw : f32
    %s = cute.all_reduce "add" %ab along [2] : f32
    %q = arith.mulf %s, %s : f32
    %mean = cute.all_reduce "mean" %q along [1] : f32
    %moved = arith.addf %mean, %eps : f32
    %f = math.rsqrt %moved : f32
    %n = arith.mulf %s, %f : f32
    %t = arith.mulf %n, %w : f32
    %rw = arith.extf %row : f16 to f32
    %v = arith.mulf %t, %rw : f32
    %r = arith.truncf %v : f32 to f16
    cute.yield %r : f16
  }
  return
}

// Of what does not follow a maximum, a turn needs the whole of the last one: three loops, of which the last stores.
!ta = !cute.memref<f16, gmem, align<16>, "(64,?,64):(64,0,1)">
!tb = !cute.memref<f16, gmem, align<16>, "(64,?,64):(0,64,1)">
!td = !cute.memref<f32, gmem, align<4>, "(64,?,64):(?,1,0)">
func.func @turns(%A: !ta, %B: !tb, %D: !td) {
  cute.map ins(%A, %B : !ta, !tb) outs(%D : !td) {
  ^bb0(%a: f16, %b: f16):
    %a32 = arith.extf %a : f16 to f32
    %b32 = arith.extf %b : f16 to f32
    %ab = arith.mulf %a32, %b32 : f32
    %s = cute.all_reduce "add" %ab along [2] : f32
    %mean = cute.all_reduce "mean" %s along [1] : f32
    %off = arith.subf %s, %mean : f32
    %square = arith.mulf %off, %off : f32
    %variance = cute.all_reduce "mean" %square along [1] : f32
    %scale = math.rsqrt %variance : f32
    %d = arith.mulf %off, %scale : f32
    cute.yield %d : f32
  }
  return
}

// A maximum that is scaled behind, or bounded below, leads as well; a sum of other powers of it takes a turn of its own.
!ea = !cute.memref<f16, gmem, align<16>, "(64,?,64):(64,0,1)">
!eb = !cute.memref<f16, gmem, align<16>, "(64,?,64):(0,64,1)">
!er = !cute.memref<f32, gmem, align<16>, "(64,?,64):(1,0,0)">
func.func @leads(%A: !ea, %B: !eb, %R: !er, %f: f32 {cute.name = "f", cute.default = 0.5 : f32}) {
  cute.map ins(%A, %B : !ea, !eb) outs(%R : !er) {
  ^bb0(%a: f16, %b: f16):
    %least = arith.constant -1.0e+4 : f32
    %half = arith.constant 0.5 : f32
    %a32 = arith.extf %a : f16 to f32
    %b32 = arith.extf %b : f16 to f32
    %ab = arith.mulf %a32, %b32 : f32
    %s = cute.all_reduce "add" %ab along [2] : f32
    %m = cute.all_reduce "maximum" %s along [1] : f32
    %bounded = arith.maximumf %m, %least : f32
    %d = arith.subf %s, %bounded : f32
    %df = arith.mulf %d, %f : f32
    %e = math.exp2 %df : f32
    %x = cute.all_reduce "add" %e along [1] : f32
    %sf = arith.mulf %s, %f : f32
    %mf = arith.mulf %m, %f : f32
    %c = arith.subf %sf, %mf : f32
    %g = math.exp2 %c : f32
    %y = cute.all_reduce "add" %g along [1] : f32
    %mh = arith.mulf %m, %half : f32
    %i = arith.subf %s, %mh : f32
    %j = math.exp %i : f32
    %z = cute.all_reduce "add" %j along [1] : f32
    %xy = arith.addf %x, %y : f32
    %r = arith.addf %xy, %z : f32
    cute.yield %r : f32
  }
  return
}
