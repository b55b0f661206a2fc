// What no kernel of a map with sums of products can be is refused where it stands.
//
// RUN: cute-opt %s --cute-tile="arch=sm_80" --split-input-file --verify-diagnostics

!a = !cute.memref<f32, gmem, align<16>, "(?,?,64):(64,0,1)">
!b = !cute.memref<f32, gmem, align<16>, "(?,?,64):(0,64,1)">
!d = !cute.memref<f32, gmem, align<16>, "(?,?,64):(?,1,0)">
func.func @narrow(%A: !a, %B: !b, %D: !d) {
  cute.map ins(%A, %B : !a, !b) outs(%D : !d) {
  ^bb0(%a: f32, %b: f32):
    %ab = arith.mulf %a, %b : f32
    // expected-error @below {{'cute.all_reduce' op expected factors of a sum of products along mode 2 that are f16 or bf16, widened to f32 by arith.extf, found an element of f32}}
    %s = cute.all_reduce "add" %ab along [2] : f32
    %x = cute.all_reduce "maximum" %s along [1] : f32
    %y = arith.divf %s, %x : f32
    cute.yield %y : f32
  }
  return
}

// -----

!a = !cute.memref<f16, gmem, align<16>, "(?,?,512):(512,0,1)">
!b = !cute.memref<f16, gmem, align<16>, "(?,?,512):(0,512,1)">
!d = !cute.memref<f16, gmem, align<16>, "(?,?{div=8},512):(?{div=8},1,0)">
!r = !cute.memref<f32, gmem, align<16>, "(?,?,512):(1,0,0)">
func.func @deep(%A: !a, %B: !b, %D: !d) {
  // expected-error @below {{'cute.map' op expected at most 256 elements along modes [2], summed along by products, which a block holds all of, found 512; write the product as a cute.contract}}
  cute.map ins(%A, %B : !a, !b) outs(%D : !d) {
  ^bb0(%a: f16, %b: f16):
    %aw = arith.extf %a : f16 to f32
    %bw = arith.extf %b : f16 to f32
    %ab = arith.mulf %aw, %bw : f32
    %s = cute.all_reduce "add" %ab along [2] : f32
    %x = cute.all_reduce "maximum" %s along [1] : f32
    %y = arith.divf %s, %x : f32
    %r = arith.truncf %y : f32 to f16
    cute.yield %r : f16
  }
  return
}

// -----

!a = !cute.memref<f16, gmem, align<16>, "(?,?,?{div=8}):(?{div=8},0,1)">
!b = !cute.memref<f16, gmem, align<16>, "(?,?,?{div=8}):(0,?{div=8},1)">
!d = !cute.memref<f16, gmem, align<16>, "(?,?{div=8},?{div=8}):(?{div=8},1,0)">
func.func @open(%A: !a, %B: !b, %D: !d) {
  // expected-error @below {{'cute.map' op expected a known extent along mode [2] of input 0, which a block has the whole of, found (?,?,?{div=8}):(?{div=8},0,1)}}
  cute.map ins(%A, %B : !a, !b) outs(%D : !d) {
  ^bb0(%a: f16, %b: f16):
    %aw = arith.extf %a : f16 to f32
    %bw = arith.extf %b : f16 to f32
    %ab = arith.mulf %aw, %bw : f32
    %s = cute.all_reduce "add" %ab along [2] : f32
    %x = cute.all_reduce "maximum" %s along [1] : f32
    %y = arith.divf %s, %x : f32
    %r = arith.truncf %y : f32 to f16
    cute.yield %r : f16
  }
  return
}

// -----

!a = !cute.memref<f16, gmem, align<16>, "(?,?,64):(64,0,1)">
!b = !cute.memref<f16, gmem, align<16>, "(?,?,64):(0,64,1)">
!d = !cute.memref<f16, gmem, align<16>, "(?,?{div=8},64):(?{div=8},1,0)">
!r = !cute.memref<f32, gmem, align<16>, "(?,?,64):(1,0,0)">
func.func @in_place(%A: !a, %B: !b, %D: !d) {
  // expected-error @below {{'cute.map' op reads output 0, which is written once along mode 2 while others may still read it; expected an output of its own}}
  cute.map ins(%A, %B, %D : !a, !b, !d) outs(%D : !d) {
  ^bb0(%a: f16, %b: f16, %c: f16):
    %aw = arith.extf %a : f16 to f32
    %bw = arith.extf %b : f16 to f32
    %ab = arith.mulf %aw, %bw : f32
    %s = cute.all_reduce "add" %ab along [2] : f32
    %cw = arith.extf %c : f16 to f32
    %t = arith.addf %s, %cw : f32
    %r = arith.truncf %t : f32 to f16
    cute.yield %r : f16
  }
  return
}

// -----

!a = !cute.memref<f16, gmem, align<16>, "(?,?,64):(64,0,1)">
!b = !cute.memref<f16, gmem, align<16>, "(?,?,64):(0,64,1)">
!d = !cute.memref<f16, gmem, align<16>, "(?,?{div=8},64):(?{div=8},1,0)">
!r = !cute.memref<f32, gmem, align<16>, "(?,?,64):(1,0,0)">
func.func @inner(%A: !a, %B: !b, %D: !d) {
  cute.map ins(%A, %B : !a, !b) outs(%D : !d) {
  ^bb0(%a: f16, %b: f16):
    %aw = arith.extf %a : f16 to f32
    %bw = arith.extf %b : f16 to f32
    %aa = arith.mulf %aw, %aw : f32
    %ab = arith.mulf %aw, %bw : f32
    %s = cute.all_reduce "add" %ab along [2] : f32
    // expected-error @below {{'cute.all_reduce' op reduces along the mode that products are summed along what is no product of a factor with rows and one with columns; reduce it by another cute.map before}}
    %q = cute.all_reduce "add" %aa along [2] : f32
    %n = cute.all_reduce "maximum" %s along [1] : f32
    %p = arith.divf %s, %q : f32
    %t = arith.divf %p, %n : f32
    %r = arith.truncf %t : f32 to f16
    cute.yield %r : f16
  }
  return
}

// -----

!a = !cute.memref<f16, gmem, align<16>, "(?,?,64):(64,0,1)">
!b = !cute.memref<f16, gmem, align<16>, "(?,?,64):(0,64,1)">
!d = !cute.memref<f16, gmem, align<16>, "(?,?{div=8},64):(?{div=8},1,0)">
!r = !cute.memref<f32, gmem, align<16>, "(?,?,64):(1,0,0)">
!k = !cute.memref<f16, gmem, align<16>, "(?,?,64):(0,0,1)">
func.func @scaled(%A: !a, %B: !b, %D: !d, %K: !k) {
  // expected-error @below {{'cute.map' op expected a sum of products of elements as they are stored, widened by arith.extf, found factors that are computed; compute them by another cute.map before}}
  cute.map ins(%A, %B, %K : !a, !b, !k) outs(%D : !d) {
  ^bb0(%a: f16, %b: f16, %c: f16):
    %aw = arith.extf %a : f16 to f32
    %bw = arith.extf %b : f16 to f32
    %cw = arith.extf %c : f16 to f32
    %ac = arith.mulf %aw, %cw : f32
    %h = arith.truncf %ac : f32 to f16
    %hw = arith.extf %h : f16 to f32
    %ab = arith.mulf %hw, %bw : f32
    %s = cute.all_reduce "add" %ab along [2] : f32
    %x = cute.all_reduce "maximum" %s along [1] : f32
    %y = arith.divf %s, %x : f32
    %r = arith.truncf %y : f32 to f16
    cute.yield %r : f16
  }
  return
}

// -----

!a = !cute.memref<f16, gmem, align<16>, "(?,?,64):(64,0,1)">
!b = !cute.memref<f16, gmem, align<16>, "(?,?,64):(0,64,1)">
!d = !cute.memref<f16, gmem, align<16>, "(?,?{div=8},64):(?{div=8},1,0)">
!r = !cute.memref<f32, gmem, align<16>, "(?,?,64):(1,0,0)">
func.func @integers(%A: !a, %B: !b, %R: !r) {
  cute.map ins(%A, %B : !a, !b) outs(%R : !r) {
  ^bb0(%a: f16, %b: f16):
    %aw = arith.extf %a : f16 to f32
    %bw = arith.extf %b : f16 to f32
    %ab = arith.mulf %aw, %bw : f32
    %s = cute.all_reduce "add" %ab along [2] : f32
    %i = arith.fptosi %s : f32 to i32
    // expected-error @below {{'cute.all_reduce' op beside sums of products expected reductions of f32, found i32; convert before and behind it}}
    %m = cute.all_reduce "maximum" %i along [1] : i32
    %r = arith.sitofp %m : i32 to f32
    cute.yield %r : f32
  }
  return
}

// -----

!a = !cute.memref<f16, gmem, align<16>, "(?,?,64):(64,0,1)">
!b = !cute.memref<f16, gmem, align<16>, "(?,?,64):(0,64,1)">
!d = !cute.memref<f16, gmem, align<16>, "(?,?{div=8},64):(?{div=8},1,0)">
!r = !cute.memref<f32, gmem, align<16>, "(?,?,64):(1,0,0)">
!o = !cute.memref<f32, gmem, align<16>, "(1,1,64):(1,1,0)">
func.func @both(%A: !a, %B: !b, %R: !r) {
  // expected-error @below {{'cute.map' op reduces along rows, mode 1, as well as along columns, mode 0, beside sums of products; write one of them as a map of its own}}
  cute.map ins(%A, %B : !a, !b) outs(%R : !r) {
  ^bb0(%a: f16, %b: f16):
    %aw = arith.extf %a : f16 to f32
    %bw = arith.extf %b : f16 to f32
    %ab = arith.mulf %aw, %bw : f32
    %s = cute.all_reduce "add" %ab along [2] : f32
    %m = cute.all_reduce "maximum" %s along [1] : f32
    %n = cute.all_reduce "maximum" %s along [0] : f32
    %t = arith.addf %m, %n : f32
    %u = cute.all_reduce "add" %t along [1] : f32
    cute.yield %u : f32
  }
  return
}

// -----

!a = !cute.memref<f16, gmem, align<16>, "(?,?,64):(64,0,1)">
!b = !cute.memref<f16, gmem, align<16>, "(?,?,64):(0,64,1)">
!d = !cute.memref<f16, gmem, align<16>, "(?,?{div=8},64):(?{div=8},1,0)">
!r = !cute.memref<f32, gmem, align<16>, "(?,?,64):(1,0,0)">
func.func @together(%A: !a, %B: !b, %R: !r) {
  // expected-error @below {{'cute.map' op reduces along rows, mode 1, as well as along columns, mode 0, beside sums of products; write one of them as a map of its own}}
  cute.map ins(%A, %B : !a, !b) outs(%R : !r) {
  ^bb0(%a: f16, %b: f16):
    %aw = arith.extf %a : f16 to f32
    %bw = arith.extf %b : f16 to f32
    %ab = arith.mulf %aw, %bw : f32
    %s = cute.all_reduce "add" %ab along [2] : f32
    %m = cute.all_reduce "maximum" %s along [0, 1] : f32
    cute.yield %m : f32
  }
  return
}

// -----

!a = !cute.memref<f16, gmem, align<16>, "(?,?,64):(64,0,1)">
!b = !cute.memref<f16, gmem, align<16>, "(?,?,64):(0,64,1)">
!d = !cute.memref<f16, gmem, align<16>, "(?,?{div=8},64):(?{div=8},1,0)">
!r = !cute.memref<f32, gmem, align<16>, "(?,?,64):(1,0,0)">
!c = !cute.memref<f16, gmem, align<16>, "(?,?,64):(0,1,0)">
func.func @apart(%A: !a, %B: !b, %C: !c, %D: !d, %E: !c) {
  // expected-error @below {{'cute.map' op expected output 1 to have elements of its own along mode 0, of which several blocks compute indices, found (?,?,64):(0,1,0)}}
  cute.map ins(%A, %B, %C : !a, !b, !c) outs(%D, %E : !d, !c) {
  ^bb0(%a: f16, %b: f16, %c: f16):
    %aw = arith.extf %a : f16 to f32
    %bw = arith.extf %b : f16 to f32
    %ab = arith.mulf %aw, %bw : f32
    %s = cute.all_reduce "add" %ab along [2] : f32
    %x = cute.all_reduce "maximum" %s along [1] : f32
    %y = arith.divf %s, %x : f32
    %r = arith.truncf %y : f32 to f16
    cute.yield %r, %c : f16, f16
  }
  return
}

// -----

!a = !cute.memref<f16, gmem, align<16>, "(?,?,1):(1,0,1)">
!b = !cute.memref<f16, gmem, align<16>, "(?,?,1):(0,1,1)">
!d = !cute.memref<f16, gmem, align<16>, "(?,?{div=8},1):(?{div=8},1,0)">
func.func @in_one_place(%A: !a, %B: !b, %D: !d) {
  // expected-error @below {{'cute.map' op writes output 0, which it reads for other tiles as well; expected a tensor of its own}}
  cute.map ins(%A, %B, %D : !a, !b, !d) outs(%D : !d) {
  ^bb0(%a: f16, %b: f16, %c: f16):
    %aw = arith.extf %a : f16 to f32
    %bw = arith.extf %b : f16 to f32
    %ab = arith.mulf %aw, %bw : f32
    %s = cute.all_reduce "add" %ab along [2] : f32
    %x = cute.all_reduce "maximum" %s along [1] : f32
    %y = arith.divf %s, %x : f32
    %cw = arith.extf %c : f16 to f32
    %t = arith.addf %y, %cw : f32
    %r = arith.truncf %t : f32 to f16
    cute.yield %r : f16
  }
  return
}

// -----

!q = !cute.memref<f16, gmem, align<16>, "(?,?,64,64):(64,0,1,0)">
!k = !cute.memref<f16, gmem, align<16>, "(?,?,64,64):(0,64,1,0)">
!v = !cute.memref<f16, gmem, align<16>, "(?,?,64,64):(0,64,0,1)">
!o = !cute.memref<f16, gmem, align<16>, "(?,?,64,64):(64,0,0,1)">
!y = !cute.memref<f16, gmem, align<16>, "(?,?,64,64):(?,1,0,?)">
func.func @output(%Q: !q, %K: !k, %V: !v, %O: !o, %Y: !y) {
  // expected-error @below {{'cute.map' op expected output 1 with elements along columns, mode 1, or along those of products along columns, mode 3, found both in (?,?,64,64):(?,1,0,?)}}
  cute.map ins(%Q, %K, %V : !q, !k, !v) outs(%O, %Y : !o, !y) {
  ^bb0(%a: f16, %b: f16, %c: f16):
    %aw = arith.extf %a : f16 to f32
    %bw = arith.extf %b : f16 to f32
    %ab = arith.mulf %aw, %bw : f32
    %s = cute.all_reduce "add" %ab along [2] : f32
    %h = arith.truncf %s : f32 to f16
    %hw = arith.extf %h : f16 to f32
    %cw = arith.extf %c : f16 to f32
    %pv = arith.mulf %hw, %cw : f32
    %o = cute.all_reduce "add" %pv along [1] : f32
    %r = arith.truncf %o : f32 to f16
    cute.yield %r, %h : f16, f16
  }
  return
}

// -----

!a = !cute.memref<f16, gmem, align<16>, "(?,?,64):(64,0,1)">
!b = !cute.memref<f16, gmem, align<16>, "(?,?,64):(0,64,1)">
!d = !cute.memref<f16, gmem, align<16>, "(?,?{div=8},64):(?{div=8},1,0)">
!r = !cute.memref<f32, gmem, align<16>, "(?,?,64):(1,0,0)">
!n = !cute.memref<f8E4M3FN, gmem, align<16>, "(?,?,64):(?,1,0)">
func.func @narrow_elements(%A: !a, %B: !b, %D: !d, %N: !n) {
  // expected-error @below {{'cute.map' op does not compute with elements of f8E4M3FN here yet, as input 2 has; expected f16, bf16, f32 or integers}}
  cute.map ins(%A, %B, %N : !a, !b, !n) outs(%D : !d) {
  ^bb0(%a: f16, %b: f16, %c: f8E4M3FN):
    %aw = arith.extf %a : f16 to f32
    %bw = arith.extf %b : f16 to f32
    %ab = arith.mulf %aw, %bw : f32
    %s = cute.all_reduce "add" %ab along [2] : f32
    %x = cute.all_reduce "maximum" %s along [1] : f32
    %y = arith.divf %s, %x : f32
    %r = arith.truncf %y : f32 to f16
    cute.yield %r : f16
  }
  return
}

// -----

!a = !cute.memref<f16, gmem, align<16>, "(?,?,?,64):(?{div=8},64,0,1)">
!b = !cute.memref<f16, gmem, align<16>, "(?,?,?,64):(?{div=8},0,64,1)">
!r = !cute.memref<f32, gmem, align<16>, "(?,?,?,64):(0,1,0,0)">
func.func @batch(%A: !a, %B: !b, %R: !r) {
  // expected-error @below {{'cute.map' op reduces along mode 0, of which each index is computed apart, beside sums of products; expected reductions along columns, mode 2: write the others as a map of their own}}
  cute.map ins(%A, %B : !a, !b) outs(%R : !r) {
  ^bb0(%a: f16, %b: f16):
    %aw = arith.extf %a : f16 to f32
    %bw = arith.extf %b : f16 to f32
    %ab = arith.mulf %aw, %bw : f32
    %s = cute.all_reduce "add" %ab along [3] : f32
    %m = cute.all_reduce "maximum" %s along [2] : f32
    %n = cute.all_reduce "add" %m along [0] : f32
    cute.yield %n : f32
  }
  return
}

// -----

!a = !cute.memref<f16, gmem, align<16>, "(?,(8,8),64):(64,(0,0),1)">
!b = !cute.memref<f16, gmem, align<16>, "(?,(8,8),64):(0,(1024,64),1)">
!r = !cute.memref<f32, gmem, align<16>, "(?,(8,8),64):(1,(0,0),0)">
func.func @strided(%A: !a, %B: !b, %R: !r) {
  // expected-error @below {{'cute.map' op expected input 1 with one stride along mode 1, found (8,8):(1024,64); make a copy of it that lies in order}}
  cute.map ins(%A, %B : !a, !b) outs(%R : !r) {
  ^bb0(%a: f16, %b: f16):
    %aw = arith.extf %a : f16 to f32
    %bw = arith.extf %b : f16 to f32
    %ab = arith.mulf %aw, %bw : f32
    %s = cute.all_reduce "add" %ab along [2] : f32
    %m = cute.all_reduce "maximum" %s along [1] : f32
    cute.yield %m : f32
  }
  return
}

// -----

!a = !cute.memref<f16, gmem, align<16>, "(?,?,64,64):(4096,0,64,1)">
!b = !cute.memref<f16, gmem, align<16>, "(?,?,64,64):(0,4096,64,1)">
!d = !cute.memref<f16, gmem, align<16>, "(?,?{div=8},64,64):(?{div=8},1,0,0)">
!e = !cute.memref<f16, gmem, align<16>, "(?,?,64,64):(64,0,0,1)">
!f = !cute.memref<f16, gmem, align<16>, "(?,?,64,64):(0,64,0,1)">
func.func @two_inner(%A: !a, %B: !b, %E: !e, %F: !f, %D: !d) {
  // expected-error @below {{'cute.map' op expected products of elements summed along one mode, found modes 3 and 2; write them as several maps}}
  cute.map ins(%A, %B, %E, %F : !a, !b, !e, !f) outs(%D : !d) {
  ^bb0(%a: f16, %b: f16, %c: f16, %d: f16):
    %aw = arith.extf %a : f16 to f32
    %bw = arith.extf %b : f16 to f32
    %cw = arith.extf %c : f16 to f32
    %dw = arith.extf %d : f16 to f32
    %cd = arith.mulf %cw, %dw : f32
    %s = cute.all_reduce "add" %cd along [3] : f32
    %ab = arith.mulf %aw, %bw : f32
    %t = cute.all_reduce "add" %ab along [2] : f32
    %u = cute.all_reduce "add" %t along [3] : f32
    %v = arith.addf %s, %u : f32
    %r = arith.truncf %v : f32 to f16
    cute.yield %r : f16
  }
  return
}

// -----

!q = !cute.memref<f16, gmem, align<16>, "(?,?,256,256):(256,0,1,0)">
!k = !cute.memref<f16, gmem, align<16>, "(?,?,256,256):(0,256,1,0)">
!v = !cute.memref<f16, gmem, align<16>, "(?,?,256,256):(0,256,0,1)">
!o = !cute.memref<f16, gmem, align<16>, "(?,?,256,256):(256,0,0,1)">
func.func @large(%Q: !q, %K: !k, %V: !v, %O: !o) {
  // expected-error @below {{'cute.map' op needs about 390 registers a thread for 16 rows and 16 columns of a block, at most 255 can be had; expected fewer elements along modes [2, 3], which a block holds all of}}
  cute.map ins(%Q, %K, %V : !q, !k, !v) outs(%O : !o) {
  ^bb0(%a: f16, %b: f16, %c: f16):
    %aw = arith.extf %a : f16 to f32
    %bw = arith.extf %b : f16 to f32
    %ab = arith.mulf %aw, %bw : f32
    %s = cute.all_reduce "add" %ab along [2] : f32
    %m = cute.all_reduce "maximum" %s along [1] : f32
    %d = arith.subf %s, %m : f32
    %e = math.exp %d : f32
    %l = cute.all_reduce "add" %e along [1] : f32
    %h = arith.truncf %e : f32 to f16
    %hw = arith.extf %h : f16 to f32
    %vw = arith.extf %c : f16 to f32
    %pv = arith.mulf %hw, %vw : f32
    %o = cute.all_reduce "add" %pv along [1] : f32
    %on = arith.divf %o, %l : f32
    %r = arith.truncf %on : f32 to f16
    cute.yield %r : f16
  }
  return
}

// -----

!q = !cute.memref<f16, gmem, align<16>, "(?,?,64,64):(64,0,1,0)">
!k = !cute.memref<f16, gmem, align<16>, "(?,?,64,64):(0,64,1,0)">
!v = !cute.memref<f16, gmem, align<16>, "(?,?,64,64):(0,64,0,1)">
!o = !cute.memref<f16, gmem, align<16>, "(?,?,64,64):(64,0,0,1)">
func.func @not_narrow(%Q: !q, %K: !k, %V: !v, %O: !o) {
  cute.map ins(%Q, %K, %V : !q, !k, !v) outs(%O : !o) {
  ^bb0(%a: f16, %b: f16, %c: f16):
    %aw = arith.extf %a : f16 to f32
    %bw = arith.extf %b : f16 to f32
    %ab = arith.mulf %aw, %bw : f32
    %s = cute.all_reduce "add" %ab along [2] : f32
    %m = cute.all_reduce "maximum" %s along [1] : f32
    %d = arith.subf %s, %m : f32
    %e = math.exp %d : f32
    %l = cute.all_reduce "add" %e along [1] : f32
    %h = arith.truncf %e : f32 to f16
    %hw = arith.extf %h : f16 to f32
    %vw = arith.extf %c : f16 to f32
    %vs = arith.mulf %vw, %vw : f32
    %pv = arith.mulf %e, %vw : f32
    // expected-error @below {{'cute.all_reduce' op expected factors of a sum of products along mode 1 that are f16 or bf16, widened to f32 by arith.extf, found 'math.exp' of f32}}
    %o = cute.all_reduce "add" %pv along [1] : f32
    %on = arith.divf %o, %l : f32
    %r = arith.truncf %on : f32 to f16
    cute.yield %r : f16
  }
  return
}

// -----

!q = !cute.memref<f16, gmem, align<16>, "(?,?,64,64):(64,0,1,0)">
!k = !cute.memref<f16, gmem, align<16>, "(?,?,64,64):(0,64,1,0)">
!v = !cute.memref<f16, gmem, align<16>, "(?,?,64,64):(0,64,0,1)">
!o = !cute.memref<f16, gmem, align<16>, "(?,?,64,64):(64,0,0,1)">
func.func @spread(%Q: !q, %K: !k, %V: !v, %O: !o) {
  cute.map ins(%Q, %K, %V : !q, !k, !v) outs(%O : !o) {
  ^bb0(%a: f16, %b: f16, %c: f16):
    %aw = arith.extf %a : f16 to f32
    %bw = arith.extf %b : f16 to f32
    %ab = arith.mulf %aw, %bw : f32
    %s = cute.all_reduce "add" %ab along [2] : f32
    %m = cute.all_reduce "maximum" %s along [1] : f32
    %d = arith.subf %s, %m : f32
    %e = math.exp %d : f32
    %l = cute.all_reduce "add" %e along [1] : f32
    %h = arith.truncf %e : f32 to f16
    %hw = arith.extf %h : f16 to f32
    %vw = arith.extf %c : f16 to f32
    // expected-error @below {{'arith.addf' op differs along columns and along those of products along columns, and is no factor of a sum of products as it is stored, widened to f32; such values are in no registers of a block: compute them by another cute.map before}}
    %x = arith.addf %hw, %vw : f32
    %y = cute.all_reduce "maximum" %x along [1] : f32
    %pv = arith.mulf %hw, %vw : f32
    %o = cute.all_reduce "add" %pv along [1] : f32
    %on = arith.divf %o, %l : f32
    %z = arith.addf %on, %y : f32
    %r = arith.truncf %z : f32 to f16
    cute.yield %r : f16
  }
  return
}
