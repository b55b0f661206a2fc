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
// -----

!a = !cute.memref<f16, gmem, align<16>, "(?,?,64):(64,0,1)">
!b = !cute.memref<f16, gmem, align<16>, "(?,?,64):(0,64,1)">
!d = !cute.memref<f32, gmem, align<16>, "(?,?{div=8},64):(?{div=8},1,0)">
func.func @many(%A: !a, %B0: !b, %B1: !b, %B2: !b, %B3: !b, %B4: !b, %B5: !b, %B6: !b, %B7: !b, %B8: !b, %B9: !b, %B10: !b, %B11: !b, %B12: !b, %B13: !b, %B14: !b, %B15: !b, %B16: !b, %B17: !b, %B18: !b, %B19: !b, %B20: !b, %B21: !b, %B22: !b, %B23: !b, %B24: !b, %B25: !b, %D: !d) {
  // expected-error @below {{'cute.map' op needs about 270 registers a thread for 64 rows and 16 columns of a block, the least that it can take, at most 255 can be had; expected fewer products or fewer tensors beside them: write it as several maps}}
  cute.map ins(%A, %B0, %B1, %B2, %B3, %B4, %B5, %B6, %B7, %B8, %B9, %B10, %B11, %B12, %B13, %B14, %B15, %B16, %B17, %B18, %B19, %B20, %B21, %B22, %B23, %B24, %B25 : !a, !b, !b, !b, !b, !b, !b, !b, !b, !b, !b, !b, !b, !b, !b, !b, !b, !b, !b, !b, !b, !b, !b, !b, !b, !b, !b) outs(%D : !d) {
  ^bb0(%a: f16, %b0: f16, %b1: f16, %b2: f16, %b3: f16, %b4: f16, %b5: f16, %b6: f16, %b7: f16, %b8: f16, %b9: f16, %b10: f16, %b11: f16, %b12: f16, %b13: f16, %b14: f16, %b15: f16, %b16: f16, %b17: f16, %b18: f16, %b19: f16, %b20: f16, %b21: f16, %b22: f16, %b23: f16, %b24: f16, %b25: f16):
    %aw = arith.extf %a : f16 to f32
    %w0 = arith.extf %b0 : f16 to f32
    %p0 = arith.mulf %aw, %w0 : f32
    %s0 = cute.all_reduce "add" %p0 along [2] : f32
    %t0 = arith.mulf %s0, %s0 : f32
    %w1 = arith.extf %b1 : f16 to f32
    %p1 = arith.mulf %aw, %w1 : f32
    %s1 = cute.all_reduce "add" %p1 along [2] : f32
    %t1 = arith.addf %t0, %s1 : f32
    %w2 = arith.extf %b2 : f16 to f32
    %p2 = arith.mulf %aw, %w2 : f32
    %s2 = cute.all_reduce "add" %p2 along [2] : f32
    %t2 = arith.addf %t1, %s2 : f32
    %w3 = arith.extf %b3 : f16 to f32
    %p3 = arith.mulf %aw, %w3 : f32
    %s3 = cute.all_reduce "add" %p3 along [2] : f32
    %t3 = arith.addf %t2, %s3 : f32
    %w4 = arith.extf %b4 : f16 to f32
    %p4 = arith.mulf %aw, %w4 : f32
    %s4 = cute.all_reduce "add" %p4 along [2] : f32
    %t4 = arith.addf %t3, %s4 : f32
    %w5 = arith.extf %b5 : f16 to f32
    %p5 = arith.mulf %aw, %w5 : f32
    %s5 = cute.all_reduce "add" %p5 along [2] : f32
    %t5 = arith.addf %t4, %s5 : f32
    %w6 = arith.extf %b6 : f16 to f32
    %p6 = arith.mulf %aw, %w6 : f32
    %s6 = cute.all_reduce "add" %p6 along [2] : f32
    %t6 = arith.addf %t5, %s6 : f32
    %w7 = arith.extf %b7 : f16 to f32
    %p7 = arith.mulf %aw, %w7 : f32
    %s7 = cute.all_reduce "add" %p7 along [2] : f32
    %t7 = arith.addf %t6, %s7 : f32
    %w8 = arith.extf %b8 : f16 to f32
    %p8 = arith.mulf %aw, %w8 : f32
    %s8 = cute.all_reduce "add" %p8 along [2] : f32
    %t8 = arith.addf %t7, %s8 : f32
    %w9 = arith.extf %b9 : f16 to f32
    %p9 = arith.mulf %aw, %w9 : f32
    %s9 = cute.all_reduce "add" %p9 along [2] : f32
    %t9 = arith.addf %t8, %s9 : f32
    %w10 = arith.extf %b10 : f16 to f32
    %p10 = arith.mulf %aw, %w10 : f32
    %s10 = cute.all_reduce "add" %p10 along [2] : f32
    %t10 = arith.addf %t9, %s10 : f32
    %w11 = arith.extf %b11 : f16 to f32
    %p11 = arith.mulf %aw, %w11 : f32
    %s11 = cute.all_reduce "add" %p11 along [2] : f32
    %t11 = arith.addf %t10, %s11 : f32
    %w12 = arith.extf %b12 : f16 to f32
    %p12 = arith.mulf %aw, %w12 : f32
    %s12 = cute.all_reduce "add" %p12 along [2] : f32
    %t12 = arith.addf %t11, %s12 : f32
    %w13 = arith.extf %b13 : f16 to f32
    %p13 = arith.mulf %aw, %w13 : f32
    %s13 = cute.all_reduce "add" %p13 along [2] : f32
    %t13 = arith.addf %t12, %s13 : f32
    %w14 = arith.extf %b14 : f16 to f32
    %p14 = arith.mulf %aw, %w14 : f32
    %s14 = cute.all_reduce "add" %p14 along [2] : f32
    %t14 = arith.addf %t13, %s14 : f32
    %w15 = arith.extf %b15 : f16 to f32
    %p15 = arith.mulf %aw, %w15 : f32
    %s15 = cute.all_reduce "add" %p15 along [2] : f32
    %t15 = arith.addf %t14, %s15 : f32
    %w16 = arith.extf %b16 : f16 to f32
    %p16 = arith.mulf %aw, %w16 : f32
    %s16 = cute.all_reduce "add" %p16 along [2] : f32
    %t16 = arith.addf %t15, %s16 : f32
    %w17 = arith.extf %b17 : f16 to f32
    %p17 = arith.mulf %aw, %w17 : f32
    %s17 = cute.all_reduce "add" %p17 along [2] : f32
    %t17 = arith.addf %t16, %s17 : f32
    %w18 = arith.extf %b18 : f16 to f32
    %p18 = arith.mulf %aw, %w18 : f32
    %s18 = cute.all_reduce "add" %p18 along [2] : f32
    %t18 = arith.addf %t17, %s18 : f32
    %w19 = arith.extf %b19 : f16 to f32
    %p19 = arith.mulf %aw, %w19 : f32
    %s19 = cute.all_reduce "add" %p19 along [2] : f32
    %t19 = arith.addf %t18, %s19 : f32
    %w20 = arith.extf %b20 : f16 to f32
    %p20 = arith.mulf %aw, %w20 : f32
    %s20 = cute.all_reduce "add" %p20 along [2] : f32
    %t20 = arith.addf %t19, %s20 : f32
    %w21 = arith.extf %b21 : f16 to f32
    %p21 = arith.mulf %aw, %w21 : f32
    %s21 = cute.all_reduce "add" %p21 along [2] : f32
    %t21 = arith.addf %t20, %s21 : f32
    %w22 = arith.extf %b22 : f16 to f32
    %p22 = arith.mulf %aw, %w22 : f32
    %s22 = cute.all_reduce "add" %p22 along [2] : f32
    %t22 = arith.addf %t21, %s22 : f32
    %w23 = arith.extf %b23 : f16 to f32
    %p23 = arith.mulf %aw, %w23 : f32
    %s23 = cute.all_reduce "add" %p23 along [2] : f32
    %t23 = arith.addf %t22, %s23 : f32
    %w24 = arith.extf %b24 : f16 to f32
    %p24 = arith.mulf %aw, %w24 : f32
    %s24 = cute.all_reduce "add" %p24 along [2] : f32
    %t24 = arith.addf %t23, %s24 : f32
    %w25 = arith.extf %b25 : f16 to f32
    %p25 = arith.mulf %aw, %w25 : f32
    %s25 = cute.all_reduce "add" %p25 along [2] : f32
    %t25 = arith.addf %t24, %s25 : f32
    cute.yield %t25 : f32
  }
  return
}

// -----

!q = !cute.memref<bf16, gmem, align<16>, "(3,40,1,24,64):(1536,0,0,64,1)">
!k = !cute.memref<bf16, gmem, align<16>, "(3,40,1,24,64):(64,0,64,0,1)">
!v = !cute.memref<bf16, gmem, align<16>, "(3,40,1,24,64):(0,1,40,0,0)">
!wide = !cute.memref<f32, gmem, align<16>, "(3,40,1,24,64):(960,1,0,40,0)">
!int = !cute.memref<i32, gmem, align<16>, "(3,40,1,24,64):(960,1,0,40,0)">
func.func @integers(%Q: !q, %K: !k, %V: !v, %O: !wide, %S: !int) {
  // expected-error @below {{'cute.map' op expected output 1, of i32, to have one element along mode 1, of columns of products along columns, as its value is computed for each column; write it as a map of its own}}
  cute.map ins(%Q, %K, %V : !q, !k, !v) outs(%O, %S : !wide, !int) {
  ^bb0(%q: bf16, %k: bf16, %v: bf16):
    %qw = arith.extf %q : bf16 to f32
    %kw = arith.extf %k : bf16 to f32
    %vw = arith.extf %v : bf16 to f32
    %qk = arith.mulf %qw, %kw : f32
    %score = cute.all_reduce "add" %qk along [4] : f32
    %whole = arith.fptosi %score : f32 to i32
    %p = arith.truncf %score : f32 to bf16
    %pw = arith.extf %p : bf16 to f32
    %pv = arith.mulf %pw, %vw : f32
    %o = cute.all_reduce "add" %pv along [2] : f32
    cute.yield %o, %whole : f32, i32
  }
  return
}
