// Attention as maps, on the emulator, compared with their regions in f64.
//
// RUN: cute-opt %s --cute-compile="arch=sm_80 package=%t.cutepkg" -o /dev/null
//
// Batches and heads, with a mask for each, and the logarithm of the sum of each row's powers beside; a head of keys for several of queries, as a mode of its own
// and as a part of one:
//
// RUN: cute-run %t.cutepkg --device=emulator --function heads --shape Q=2x3x70x100x64x32 --shape K=2x3x70x100x64x32 --shape V=2x3x70x100x64x32 --shape O=2x3x70x100x64x32 --shape mask=2x3x70x100x64x32 --shape L=2x3x70x100x64x32 | FileCheck %s --check-prefix=HEADS
// HEADS: O (2,3,70,100,64,32), map: right
// HEADS: L (2,3,70,100,64,32), map: right
// RUN: cute-run %t.cutepkg --device=emulator --function grouped --shape Q=2x3x32x96x64x64 --shape K=2x3x32x96x64x64 --shape V=2x3x32x96x64x64 --shape O=2x3x32x96x64x64
// RUN: cute-run %t.cutepkg --device=emulator --function nested --layout "Q=((3,2),32,96,64,64):((4096,12800),64,0,1,0)" --layout "K=((3,2),32,96,64,64):((0,6400),0,64,1,0)" --layout "V=((3,2),32,96,64,64):((0,6400),0,64,0,1)" --layout "O=((3,2),32,96,64,64):((4096,12800),64,0,0,1)"
//
// Other orders of strides; depths that atoms do not divide; elements that lie by themselves; as deep as can be:
//
// RUN: cute-run %t.cutepkg --device=emulator --function turned --shape Q=40x72x64x48 --shape K=40x72x64x48 --shape V=40x72x64x48 --shape O=40x72x64x48
// RUN: cute-run %t.cutepkg --device=emulator --function odd --seeds 2 --shape Q=70x72x20x12 --shape K=70x72x20x12 --shape V=70x72x20x12 --shape O=70x72x20x12 --set scale=1
// RUN: cute-run %t.cutepkg --device=emulator --function prime --shape Q=17x40x7x5 --shape K=17x40x7x5 --shape V=17x40x7x5 --shape O=17x40x7x5
// RUN: cute-run %t.cutepkg --device=emulator --function deep --shape Q=64x128x128x128 --shape K=64x128x128x128 --shape V=64x128x128x128 --shape O=64x128x128x128 --shape mask=64x128x128x128
// RUN: cute-run %t.cutepkg --device=emulator --function deepest --shape Q=64x100x256x64 --shape K=64x100x256x64 --shape V=64x100x256x64 --shape O=64x100x256x64
//
// Extents that are known; a single query; a single key; scores whose maximum grows or falls:
//
// RUN: cute-run %t.cutepkg --device=emulator --function known --seeds 2
// RUN: cute-run %t.cutepkg --device=emulator --function short --set scale=-1
// RUN: cute-run %t.cutepkg --device=emulator --function decode --shape Q=1x200x64x64 --shape K=1x200x64x64 --shape V=1x200x64x64 --shape O=1x200x64x64
// RUN: cute-run %t.cutepkg --device=emulator --function decode --shape Q=1x1x64x64 --shape K=1x1x64x64 --shape V=1x1x64x64 --shape O=1x1x64x64
// RUN: cute-run %t.cutepkg --device=emulator --function odd --seeds 2 --shape Q=33x500x20x12 --shape K=33x500x20x12 --shape V=33x500x20x12 --shape O=33x500x20x12 --set scale=4
//
// Rows of which the first tiles, the last ones or all have no score but -inf:
//
// RUN: rm -rf %t.folder && mkdir %t.folder
// RUN: %python %inputs/masked.py make %t.folder 20 150
// RUN: cute-run %t.cutepkg --device=emulator --function masked --no-verify --input Q=%t.folder/Q.npy --input K=%t.folder/K.npy --input V=%t.folder/V.npy --input mask=%t.folder/mask.npy --shape O=20x150x8x8 --output O=%t.folder/O.npy
// RUN: %python %inputs/masked.py check %t.folder 20 150
//
// A sum that does not follow the maximum is found.
//
// RUN: %python %inputs/edit_ptx.py %t.cutepkg %t.wrong.cutepkg ex2.approx.f32 tanh.approx.f32
// RUN: %python %inputs/status.py 1 cute-run %t.wrong.cutepkg --device=emulator --function known | FileCheck %s --check-prefix=WRONG
// WRONG: O (128,192,64,64), map: WRONG

func.func @heads(%Q: !cute.memref<f16, gmem, align<16>, "(?,?,?,?,64,32):(?{div=8},?{div=8},64,0,1,0)"> {cute.name = "Q"}, %K: !cute.memref<f16, gmem, align<16>, "(?,?,?,?,64,32):(?{div=8},?{div=8},0,64,1,0)"> {cute.name = "K"}, %V: !cute.memref<f16, gmem, align<16>, "(?,?,?,?,64,32):(?{div=8},?{div=8},0,32,0,1)"> {cute.name = "V"}, %mask: !cute.memref<f32, gmem, align<4>, "(?,?,?,?,64,32):(0,?,?,1,0,0)"> {cute.name = "mask"}, %O: !cute.memref<f16, gmem, align<16>, "(?,?,?,?,64,32):(?{div=8},?{div=8},32,0,0,1)"> {cute.name = "O"}, %L: !cute.memref<f32, gmem, align<4>, "(?,?,?,?,64,32):(?,?,1,0,0,0)"> {cute.name = "L"}, %scale: f32 {cute.name = "scale", cute.default = 0.25 : f32}) {
  cute.map ins(%Q, %K, %V, %mask : !cute.memref<f16, gmem, align<16>, "(?,?,?,?,64,32):(?{div=8},?{div=8},64,0,1,0)">, !cute.memref<f16, gmem, align<16>, "(?,?,?,?,64,32):(?{div=8},?{div=8},0,64,1,0)">, !cute.memref<f16, gmem, align<16>, "(?,?,?,?,64,32):(?{div=8},?{div=8},0,32,0,1)">, !cute.memref<f32, gmem, align<4>, "(?,?,?,?,64,32):(0,?,?,1,0,0)">) outs(%O, %L : !cute.memref<f16, gmem, align<16>, "(?,?,?,?,64,32):(?{div=8},?{div=8},32,0,0,1)">, !cute.memref<f32, gmem, align<4>, "(?,?,?,?,64,32):(?,?,1,0,0,0)">) {
  ^bb0(%q: f16, %k: f16, %v: f16, %b: f32):
    %qw = arith.extf %q : f16 to f32
    %kw = arith.extf %k : f16 to f32
    %qk = arith.mulf %qw, %kw : f32
    %s0 = cute.all_reduce "add" %qk along [4] : f32
    %s1 = arith.mulf %s0, %scale : f32
    %s2 = arith.addf %s1, %b : f32
    %m = cute.all_reduce "maximum" %s2 along [3] : f32
    %d = arith.subf %s2, %m : f32
    %e = math.exp %d : f32
    %l = cute.all_reduce "add" %e along [3] : f32
    %h = arith.truncf %e : f32 to f16
    %hw = arith.extf %h : f16 to f32
    %vw = arith.extf %v : f16 to f32
    %pv = arith.mulf %hw, %vw : f32
    %o = cute.all_reduce "add" %pv along [3] : f32
    %on = arith.divf %o, %l : f32
    %r = arith.truncf %on : f32 to f16
    %log = math.log %l : f32
    %lse = arith.addf %log, %m : f32
    cute.yield %r, %lse : f16, f32
  }
  return
}

func.func @grouped(%Q: !cute.memref<bf16, gmem, align<16>, "(2,3,?,?,64,64):(12800,4096,64,0,1,0)"> {cute.name = "Q"}, %K: !cute.memref<bf16, gmem, align<16>, "(2,3,?,?,64,64):(6400,0,0,64,1,0)"> {cute.name = "K"}, %V: !cute.memref<bf16, gmem, align<16>, "(2,3,?,?,64,64):(6400,0,0,64,0,1)"> {cute.name = "V"}, %O: !cute.memref<bf16, gmem, align<16>, "(2,3,?,?,64,64):(12800,4096,64,0,0,1)"> {cute.name = "O"}, %scale: f32 {cute.name = "scale", cute.default = 0.25 : f32}) {
  cute.map ins(%Q, %K, %V : !cute.memref<bf16, gmem, align<16>, "(2,3,?,?,64,64):(12800,4096,64,0,1,0)">, !cute.memref<bf16, gmem, align<16>, "(2,3,?,?,64,64):(6400,0,0,64,1,0)">, !cute.memref<bf16, gmem, align<16>, "(2,3,?,?,64,64):(6400,0,0,64,0,1)">) outs(%O : !cute.memref<bf16, gmem, align<16>, "(2,3,?,?,64,64):(12800,4096,64,0,0,1)">) {
  ^bb0(%q: bf16, %k: bf16, %v: bf16):
    %qw = arith.extf %q : bf16 to f32
    %kw = arith.extf %k : bf16 to f32
    %qk = arith.mulf %qw, %kw : f32
    %s0 = cute.all_reduce "add" %qk along [4] : f32
    %s1 = arith.mulf %s0, %scale : f32
    %m = cute.all_reduce "maximum" %s1 along [3] : f32
    %d = arith.subf %s1, %m : f32
    %e = math.exp %d : f32
    %l = cute.all_reduce "add" %e along [3] : f32
    %h = arith.truncf %e : f32 to bf16
    %hw = arith.extf %h : bf16 to f32
    %vw = arith.extf %v : bf16 to f32
    %pv = arith.mulf %hw, %vw : f32
    %o = cute.all_reduce "add" %pv along [3] : f32
    %on = arith.divf %o, %l : f32
    %r = arith.truncf %on : f32 to bf16
    cute.yield %r : bf16
  }
  return
}

func.func @nested(%Q: !cute.memref<f16, gmem, align<16>, "((3,2),?,?,64,64):((4096,12800),64,0,1,0)"> {cute.name = "Q"}, %K: !cute.memref<f16, gmem, align<16>, "((3,2),?,?,64,64):((0,6400),0,64,1,0)"> {cute.name = "K"}, %V: !cute.memref<f16, gmem, align<16>, "((3,2),?,?,64,64):((0,6400),0,64,0,1)"> {cute.name = "V"}, %O: !cute.memref<f16, gmem, align<16>, "((3,2),?,?,64,64):((4096,12800),64,0,0,1)"> {cute.name = "O"}, %scale: f32 {cute.name = "scale", cute.default = 0.25 : f32}) {
  cute.map ins(%Q, %K, %V : !cute.memref<f16, gmem, align<16>, "((3,2),?,?,64,64):((4096,12800),64,0,1,0)">, !cute.memref<f16, gmem, align<16>, "((3,2),?,?,64,64):((0,6400),0,64,1,0)">, !cute.memref<f16, gmem, align<16>, "((3,2),?,?,64,64):((0,6400),0,64,0,1)">) outs(%O : !cute.memref<f16, gmem, align<16>, "((3,2),?,?,64,64):((4096,12800),64,0,0,1)">) {
  ^bb0(%q: f16, %k: f16, %v: f16):
    %qw = arith.extf %q : f16 to f32
    %kw = arith.extf %k : f16 to f32
    %qk = arith.mulf %qw, %kw : f32
    %s0 = cute.all_reduce "add" %qk along [3] : f32
    %s1 = arith.mulf %s0, %scale : f32
    %m = cute.all_reduce "maximum" %s1 along [2] : f32
    %d = arith.subf %s1, %m : f32
    %e = math.exp %d : f32
    %l = cute.all_reduce "add" %e along [2] : f32
    %h = arith.truncf %e : f32 to f16
    %hw = arith.extf %h : f16 to f32
    %vw = arith.extf %v : f16 to f32
    %pv = arith.mulf %hw, %vw : f32
    %o = cute.all_reduce "add" %pv along [2] : f32
    %on = arith.divf %o, %l : f32
    %r = arith.truncf %on : f32 to f16
    cute.yield %r : f16
  }
  return
}

func.func @turned(%Q: !cute.memref<f16, gmem, align<16>, "(?,?,64,48):(1,0,?{div=8},0)"> {cute.name = "Q"}, %K: !cute.memref<f16, gmem, align<16>, "(?,?,64,48):(0,1,?{div=8},0)"> {cute.name = "K"}, %V: !cute.memref<f16, gmem, align<16>, "(?,?,64,48):(0,1,0,?{div=8})"> {cute.name = "V"}, %O: !cute.memref<f16, gmem, align<16>, "(?,?,64,48):(1,0,0,?{div=8})"> {cute.name = "O"}, %scale: f32 {cute.name = "scale", cute.default = 0.25 : f32}) {
  cute.map ins(%Q, %K, %V : !cute.memref<f16, gmem, align<16>, "(?,?,64,48):(1,0,?{div=8},0)">, !cute.memref<f16, gmem, align<16>, "(?,?,64,48):(0,1,?{div=8},0)">, !cute.memref<f16, gmem, align<16>, "(?,?,64,48):(0,1,0,?{div=8})">) outs(%O : !cute.memref<f16, gmem, align<16>, "(?,?,64,48):(1,0,0,?{div=8})">) {
  ^bb0(%q: f16, %k: f16, %v: f16):
    %qw = arith.extf %q : f16 to f32
    %kw = arith.extf %k : f16 to f32
    %qk = arith.mulf %qw, %kw : f32
    %s0 = cute.all_reduce "add" %qk along [2] : f32
    %s1 = arith.mulf %s0, %scale : f32
    %m = cute.all_reduce "maximum" %s1 along [1] : f32
    %d = arith.subf %s1, %m : f32
    %e = math.exp2 %d : f32
    %l = cute.all_reduce "add" %e along [1] : f32
    %h = arith.truncf %e : f32 to f16
    %hw = arith.extf %h : f16 to f32
    %vw = arith.extf %v : f16 to f32
    %pv = arith.mulf %hw, %vw : f32
    %o = cute.all_reduce "add" %pv along [1] : f32
    %on = arith.divf %o, %l : f32
    %r = arith.truncf %on : f32 to f16
    cute.yield %r : f16
  }
  return
}

func.func @odd(%Q: !cute.memref<f16, gmem, align<16>, "(?,?,20,12):(20,0,1,0)"> {cute.name = "Q"}, %K: !cute.memref<f16, gmem, align<16>, "(?,?,20,12):(0,20,1,0)"> {cute.name = "K"}, %V: !cute.memref<f16, gmem, align<16>, "(?,?,20,12):(0,12,0,1)"> {cute.name = "V"}, %O: !cute.memref<f16, gmem, align<16>, "(?,?,20,12):(12,0,0,1)"> {cute.name = "O"}, %scale: f32 {cute.name = "scale", cute.default = 0.25 : f32}) {
  cute.map ins(%Q, %K, %V : !cute.memref<f16, gmem, align<16>, "(?,?,20,12):(20,0,1,0)">, !cute.memref<f16, gmem, align<16>, "(?,?,20,12):(0,20,1,0)">, !cute.memref<f16, gmem, align<16>, "(?,?,20,12):(0,12,0,1)">) outs(%O : !cute.memref<f16, gmem, align<16>, "(?,?,20,12):(12,0,0,1)">) {
  ^bb0(%q: f16, %k: f16, %v: f16):
    %qw = arith.extf %q : f16 to f32
    %kw = arith.extf %k : f16 to f32
    %qk = arith.mulf %qw, %kw : f32
    %s0 = cute.all_reduce "add" %qk along [2] : f32
    %s1 = arith.mulf %s0, %scale : f32
    %m = cute.all_reduce "maximum" %s1 along [1] : f32
    %d = arith.subf %s1, %m : f32
    %e = math.exp %d : f32
    %l = cute.all_reduce "add" %e along [1] : f32
    %h = arith.truncf %e : f32 to f16
    %hw = arith.extf %h : f16 to f32
    %vw = arith.extf %v : f16 to f32
    %pv = arith.mulf %hw, %vw : f32
    %o = cute.all_reduce "add" %pv along [1] : f32
    %on = arith.divf %o, %l : f32
    %r = arith.truncf %on : f32 to f16
    cute.yield %r : f16
  }
  return
}

func.func @prime(%Q: !cute.memref<f16, gmem, align<2>, "(?,?,7,5):(?,0,1,0)"> {cute.name = "Q"}, %K: !cute.memref<f16, gmem, align<2>, "(?,?,7,5):(0,?,1,0)"> {cute.name = "K"}, %V: !cute.memref<f16, gmem, align<2>, "(?,?,7,5):(0,?,0,1)"> {cute.name = "V"}, %O: !cute.memref<f16, gmem, align<2>, "(?,?,7,5):(?,0,0,1)"> {cute.name = "O"}, %scale: f32 {cute.name = "scale", cute.default = 0.25 : f32}) {
  cute.map ins(%Q, %K, %V : !cute.memref<f16, gmem, align<2>, "(?,?,7,5):(?,0,1,0)">, !cute.memref<f16, gmem, align<2>, "(?,?,7,5):(0,?,1,0)">, !cute.memref<f16, gmem, align<2>, "(?,?,7,5):(0,?,0,1)">) outs(%O : !cute.memref<f16, gmem, align<2>, "(?,?,7,5):(?,0,0,1)">) {
  ^bb0(%q: f16, %k: f16, %v: f16):
    %qw = arith.extf %q : f16 to f32
    %kw = arith.extf %k : f16 to f32
    %qk = arith.mulf %qw, %kw : f32
    %s0 = cute.all_reduce "add" %qk along [2] : f32
    %s1 = arith.mulf %s0, %scale : f32
    %m = cute.all_reduce "maximum" %s1 along [1] : f32
    %d = arith.subf %s1, %m : f32
    %e = math.exp %d : f32
    %l = cute.all_reduce "add" %e along [1] : f32
    %h = arith.truncf %e : f32 to f16
    %hw = arith.extf %h : f16 to f32
    %vw = arith.extf %v : f16 to f32
    %pv = arith.mulf %hw, %vw : f32
    %o = cute.all_reduce "add" %pv along [1] : f32
    %on = arith.divf %o, %l : f32
    %r = arith.truncf %on : f32 to f16
    cute.yield %r : f16
  }
  return
}

func.func @deep(%Q: !cute.memref<f16, gmem, align<16>, "(?,?,128,128):(128,0,1,0)"> {cute.name = "Q"}, %K: !cute.memref<f16, gmem, align<16>, "(?,?,128,128):(0,128,1,0)"> {cute.name = "K"}, %V: !cute.memref<f16, gmem, align<16>, "(?,?,128,128):(0,128,0,1)"> {cute.name = "V"}, %mask: !cute.memref<f16, gmem, align<2>, "(?,?,128,128):(0,1,0,0)"> {cute.name = "mask"}, %O: !cute.memref<f16, gmem, align<16>, "(?,?,128,128):(128,0,0,1)"> {cute.name = "O"}, %scale: f32 {cute.name = "scale", cute.default = 0.25 : f32}) {
  cute.map ins(%Q, %K, %V, %mask : !cute.memref<f16, gmem, align<16>, "(?,?,128,128):(128,0,1,0)">, !cute.memref<f16, gmem, align<16>, "(?,?,128,128):(0,128,1,0)">, !cute.memref<f16, gmem, align<16>, "(?,?,128,128):(0,128,0,1)">, !cute.memref<f16, gmem, align<2>, "(?,?,128,128):(0,1,0,0)">) outs(%O : !cute.memref<f16, gmem, align<16>, "(?,?,128,128):(128,0,0,1)">) {
  ^bb0(%q: f16, %k: f16, %v: f16, %b: f16):
    %qw = arith.extf %q : f16 to f32
    %kw = arith.extf %k : f16 to f32
    %qk = arith.mulf %qw, %kw : f32
    %s0 = cute.all_reduce "add" %qk along [2] : f32
    %s1 = arith.mulf %s0, %scale : f32
    %bw = arith.extf %b : f16 to f32
    %s2 = arith.addf %s1, %bw : f32
    %m = cute.all_reduce "maximum" %s2 along [1] : f32
    %d = arith.subf %s2, %m : f32
    %e = math.exp %d : f32
    %l = cute.all_reduce "add" %e along [1] : f32
    %h = arith.truncf %e : f32 to f16
    %hw = arith.extf %h : f16 to f32
    %vw = arith.extf %v : f16 to f32
    %pv = arith.mulf %hw, %vw : f32
    %o = cute.all_reduce "add" %pv along [1] : f32
    %on = arith.divf %o, %l : f32
    %r = arith.truncf %on : f32 to f16
    cute.yield %r : f16
  }
  return
}

func.func @deepest(%Q: !cute.memref<f16, gmem, align<16>, "(?,?,256,64):(256,0,1,0)"> {cute.name = "Q"}, %K: !cute.memref<f16, gmem, align<16>, "(?,?,256,64):(0,256,1,0)"> {cute.name = "K"}, %V: !cute.memref<f16, gmem, align<16>, "(?,?,256,64):(0,64,0,1)"> {cute.name = "V"}, %O: !cute.memref<f16, gmem, align<16>, "(?,?,256,64):(64,0,0,1)"> {cute.name = "O"}, %scale: f32 {cute.name = "scale", cute.default = 0.25 : f32}) {
  cute.map ins(%Q, %K, %V : !cute.memref<f16, gmem, align<16>, "(?,?,256,64):(256,0,1,0)">, !cute.memref<f16, gmem, align<16>, "(?,?,256,64):(0,256,1,0)">, !cute.memref<f16, gmem, align<16>, "(?,?,256,64):(0,64,0,1)">) outs(%O : !cute.memref<f16, gmem, align<16>, "(?,?,256,64):(64,0,0,1)">) {
  ^bb0(%q: f16, %k: f16, %v: f16):
    %qw = arith.extf %q : f16 to f32
    %kw = arith.extf %k : f16 to f32
    %qk = arith.mulf %qw, %kw : f32
    %s0 = cute.all_reduce "add" %qk along [2] : f32
    %s1 = arith.mulf %s0, %scale : f32
    %m = cute.all_reduce "maximum" %s1 along [1] : f32
    %d = arith.subf %s1, %m : f32
    %e = math.exp %d : f32
    %l = cute.all_reduce "add" %e along [1] : f32
    %h = arith.truncf %e : f32 to f16
    %hw = arith.extf %h : f16 to f32
    %vw = arith.extf %v : f16 to f32
    %pv = arith.mulf %hw, %vw : f32
    %o = cute.all_reduce "add" %pv along [1] : f32
    %on = arith.divf %o, %l : f32
    %r = arith.truncf %on : f32 to f16
    cute.yield %r : f16
  }
  return
}

func.func @known(%Q: !cute.memref<f16, gmem, align<16>, "(128,192,64,64):(64,0,1,0)"> {cute.name = "Q"}, %K: !cute.memref<f16, gmem, align<16>, "(128,192,64,64):(0,64,1,0)"> {cute.name = "K"}, %V: !cute.memref<f16, gmem, align<16>, "(128,192,64,64):(0,64,0,1)"> {cute.name = "V"}, %O: !cute.memref<f16, gmem, align<16>, "(128,192,64,64):(64,0,0,1)"> {cute.name = "O"}, %scale: f32 {cute.name = "scale", cute.default = 0.25 : f32}) {
  cute.map ins(%Q, %K, %V : !cute.memref<f16, gmem, align<16>, "(128,192,64,64):(64,0,1,0)">, !cute.memref<f16, gmem, align<16>, "(128,192,64,64):(0,64,1,0)">, !cute.memref<f16, gmem, align<16>, "(128,192,64,64):(0,64,0,1)">) outs(%O : !cute.memref<f16, gmem, align<16>, "(128,192,64,64):(64,0,0,1)">) {
  ^bb0(%q: f16, %k: f16, %v: f16):
    %qw = arith.extf %q : f16 to f32
    %kw = arith.extf %k : f16 to f32
    %qk = arith.mulf %qw, %kw : f32
    %s0 = cute.all_reduce "add" %qk along [2] : f32
    %s1 = arith.mulf %s0, %scale : f32
    %m = cute.all_reduce "maximum" %s1 along [1] : f32
    %d = arith.subf %s1, %m : f32
    %e = math.exp %d : f32
    %l = cute.all_reduce "add" %e along [1] : f32
    %h = arith.truncf %e : f32 to f16
    %hw = arith.extf %h : f16 to f32
    %vw = arith.extf %v : f16 to f32
    %pv = arith.mulf %hw, %vw : f32
    %o = cute.all_reduce "add" %pv along [1] : f32
    %on = arith.divf %o, %l : f32
    %r = arith.truncf %on : f32 to f16
    cute.yield %r : f16
  }
  return
}

func.func @short(%Q: !cute.memref<f16, gmem, align<16>, "(40,50,64,64):(64,0,1,0)"> {cute.name = "Q"}, %K: !cute.memref<f16, gmem, align<16>, "(40,50,64,64):(0,64,1,0)"> {cute.name = "K"}, %V: !cute.memref<f16, gmem, align<16>, "(40,50,64,64):(0,64,0,1)"> {cute.name = "V"}, %O: !cute.memref<f16, gmem, align<16>, "(40,50,64,64):(64,0,0,1)"> {cute.name = "O"}, %scale: f32 {cute.name = "scale", cute.default = 0.25 : f32}) {
  cute.map ins(%Q, %K, %V : !cute.memref<f16, gmem, align<16>, "(40,50,64,64):(64,0,1,0)">, !cute.memref<f16, gmem, align<16>, "(40,50,64,64):(0,64,1,0)">, !cute.memref<f16, gmem, align<16>, "(40,50,64,64):(0,64,0,1)">) outs(%O : !cute.memref<f16, gmem, align<16>, "(40,50,64,64):(64,0,0,1)">) {
  ^bb0(%q: f16, %k: f16, %v: f16):
    %qw = arith.extf %q : f16 to f32
    %kw = arith.extf %k : f16 to f32
    %qk = arith.mulf %qw, %kw : f32
    %s0 = cute.all_reduce "add" %qk along [2] : f32
    %s1 = arith.mulf %s0, %scale : f32
    %m = cute.all_reduce "maximum" %s1 along [1] : f32
    %d = arith.subf %s1, %m : f32
    %e = math.exp %d : f32
    %l = cute.all_reduce "add" %e along [1] : f32
    %h = arith.truncf %e : f32 to f16
    %hw = arith.extf %h : f16 to f32
    %vw = arith.extf %v : f16 to f32
    %pv = arith.mulf %hw, %vw : f32
    %o = cute.all_reduce "add" %pv along [1] : f32
    %on = arith.divf %o, %l : f32
    %r = arith.truncf %on : f32 to f16
    cute.yield %r : f16
  }
  return
}

func.func @decode(%Q: !cute.memref<f16, gmem, align<16>, "(1,?,64,64):(64,0,1,0)"> {cute.name = "Q"}, %K: !cute.memref<f16, gmem, align<16>, "(1,?,64,64):(0,64,1,0)"> {cute.name = "K"}, %V: !cute.memref<f16, gmem, align<16>, "(1,?,64,64):(0,64,0,1)"> {cute.name = "V"}, %O: !cute.memref<f16, gmem, align<16>, "(1,?,64,64):(64,0,0,1)"> {cute.name = "O"}, %scale: f32 {cute.name = "scale", cute.default = 0.25 : f32}) {
  cute.map ins(%Q, %K, %V : !cute.memref<f16, gmem, align<16>, "(1,?,64,64):(64,0,1,0)">, !cute.memref<f16, gmem, align<16>, "(1,?,64,64):(0,64,1,0)">, !cute.memref<f16, gmem, align<16>, "(1,?,64,64):(0,64,0,1)">) outs(%O : !cute.memref<f16, gmem, align<16>, "(1,?,64,64):(64,0,0,1)">) {
  ^bb0(%q: f16, %k: f16, %v: f16):
    %qw = arith.extf %q : f16 to f32
    %kw = arith.extf %k : f16 to f32
    %qk = arith.mulf %qw, %kw : f32
    %s0 = cute.all_reduce "add" %qk along [2] : f32
    %s1 = arith.mulf %s0, %scale : f32
    %m = cute.all_reduce "maximum" %s1 along [1] : f32
    %d = arith.subf %s1, %m : f32
    %e = math.exp %d : f32
    %l = cute.all_reduce "add" %e along [1] : f32
    %h = arith.truncf %e : f32 to f16
    %hw = arith.extf %h : f16 to f32
    %vw = arith.extf %v : f16 to f32
    %pv = arith.mulf %hw, %vw : f32
    %o = cute.all_reduce "add" %pv along [1] : f32
    %on = arith.divf %o, %l : f32
    %r = arith.truncf %on : f32 to f16
    cute.yield %r : f16
  }
  return
}

func.func @masked(%Q: !cute.memref<f16, gmem, align<16>, "(?,?,8,8):(8,0,1,0)"> {cute.name = "Q"}, %K: !cute.memref<f16, gmem, align<16>, "(?,?,8,8):(0,8,1,0)"> {cute.name = "K"}, %V: !cute.memref<f16, gmem, align<16>, "(?,?,8,8):(0,8,0,1)"> {cute.name = "V"}, %mask: !cute.memref<f32, gmem, align<4>, "(?,?,8,8):(?,1,0,0)"> {cute.name = "mask"}, %O: !cute.memref<f16, gmem, align<16>, "(?,?,8,8):(8,0,0,1)"> {cute.name = "O"}, %scale: f32 {cute.name = "scale", cute.default = 0.25 : f32}) {
  cute.map ins(%Q, %K, %V, %mask : !cute.memref<f16, gmem, align<16>, "(?,?,8,8):(8,0,1,0)">, !cute.memref<f16, gmem, align<16>, "(?,?,8,8):(0,8,1,0)">, !cute.memref<f16, gmem, align<16>, "(?,?,8,8):(0,8,0,1)">, !cute.memref<f32, gmem, align<4>, "(?,?,8,8):(?,1,0,0)">) outs(%O : !cute.memref<f16, gmem, align<16>, "(?,?,8,8):(8,0,0,1)">) {
  ^bb0(%q: f16, %k: f16, %v: f16, %b: f32):
    %qw = arith.extf %q : f16 to f32
    %kw = arith.extf %k : f16 to f32
    %qk = arith.mulf %qw, %kw : f32
    %s0 = cute.all_reduce "add" %qk along [2] : f32
    %s1 = arith.mulf %s0, %scale : f32
    %s2 = arith.addf %s1, %b : f32
    %m = cute.all_reduce "maximum" %s2 along [1] : f32
    %d = arith.subf %s2, %m : f32
    %e = math.exp %d : f32
    %l = cute.all_reduce "add" %e along [1] : f32
    %h = arith.truncf %e : f32 to f16
    %hw = arith.extf %h : f16 to f32
    %vw = arith.extf %v : f16 to f32
    %pv = arith.mulf %hw, %vw : f32
    %o = cute.all_reduce "add" %pv along [1] : f32
    %on = arith.divf %o, %l : f32
    %r = arith.truncf %on : f32 to f16
    cute.yield %r : f16
  }
  return
}
