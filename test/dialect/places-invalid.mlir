// What is refused of coordinates and index tensors of products, and of whole matrices of blocks.
//
// RUN: cute-opt %s --split-input-file --verify-diagnostics

!x = !cute.memref<f16, gmem, align<16>, "(16,8,8):(1,16,128)">
!f = !cute.memref<f16, gmem, align<16>, "(32,144):(144,1)">
!y = !cute.memref<f16, gmem, align<16>, "(64,32):(32,1)">
!at = !cute.coord_tensor<"(0,-1)", "((8,8),(16,3,3)):((1@1,1@1),(1@0,1@1,1@1))">
func.func @too_few(%X: !x, %F: !f, %Y: !y, %at: !at) {
  // expected-error @below {{takes A at coordinates: expected coordinates of 3 integers, one for each mode of (16,8,8):(1,16,128), found (0,-1)}}
  cute.contract ins(%X, %F : !x, !f) outs(%Y : !y) accumulate f32 at A(%at : !at)
  return
}

// -----

!x = !cute.memref<f16, gmem, align<16>, "(16,(8,4),8):(1,(16,200),1000)">
!f = !cute.memref<f16, gmem, align<16>, "(32,144):(144,1)">
!y = !cute.memref<f16, gmem, align<16>, "(64,32):(32,1)">
!at = !cute.coord_tensor<"(0,-1,-1)", "((8,8),(16,3,3)):((1@1,1@2),(1@0,1@1,1@2))">
func.func @nested(%X: !x, %F: !f, %Y: !y, %at: !at) {
  // expected-error @below {{expected a tensor whose modes have an extent and a stride each, found (16,(8,4),8):(1,(16,200),1000); give each leaf a mode and a coordinate}}
  cute.contract ins(%X, %F : !x, !f) outs(%Y : !y) accumulate f32 at A(%at : !at)
  return
}

// -----

!x = !cute.memref<f16, gmem, align<16>, "(16,8,8):(1,16,128)">
!f = !cute.memref<f16, gmem, align<16>, "(32,144):(144,1)">
!y = !cute.memref<f16, gmem, align<16>, "(60,32):(32,1)">
!at = !cute.coord_tensor<"(0,-1,-1)", "((8,8),(16,3,3)):((1@1,1@2),(1@0,1@1,1@2))">
func.func @sizes(%X: !x, %F: !f, %Y: !y, %at: !at) {
  // expected-error @below {{expected the same M of A and C, found 64 and 60: A is ((8,8),(16,3,3)), B is (32,144), C is (60,32)}}
  cute.contract ins(%X, %F : !x, !f) outs(%Y : !y) accumulate f32 at A(%at : !at)
  return
}

// -----

!a = !cute.memref<f16, gmem, align<16>, "(64,16):(16,1)">
!b = !cute.memref<f16, gmem, align<16>, "(16,16):(16,1)">
!c = !cute.memref<f16, gmem, align<16>, "(16,8,8):(1,16,128)">
!at = !cute.coord_tensor<"(0,1,0)", "((8,8),16):((1@1,1@2),1@0)">
func.func @outside(%A: !a, %B: !b, %C: !c, %at: !at) {
  // expected-error @below {{writes C at coordinates: expected coordinates inside of the tensor (16,8,8):(1,16,128), found 1 to 8 along mode 1 of 8}}
  cute.contract ins(%A, %B : !a, !b) outs(%C : !c) accumulate f32 at C(%at : !at)
  return
}

// -----

!a = !cute.memref<f16, gmem, align<16>, "(64,16):(16,1)">
!b = !cute.memref<f16, gmem, align<16>, "(16,16):(16,1)">
!c = !cute.memref<f16, gmem, align<16>, "(16,16,8):(1,16,256)">
!at = !cute.coord_tensor<"(0,0,0)", "((8,8),16):((1@1,1@1),1@0)">
func.func @twice(%A: !a, %B: !b, %C: !c, %at: !at) {
  // expected-error @below {{writes C at coordinates: expected elements that are written once, found steps along mode 1 of ((8,8),16):((1@1,1@1),1@0) that may meet}}
  cute.contract ins(%A, %B : !a, !b) outs(%C : !c) accumulate f32 at C(%at : !at)
  return
}

// -----

!a = !cute.memref<f16, gmem, align<16>, "(64,16):(16,1)">
!b = !cute.memref<f16, gmem, align<16>, "(16,16):(16,1)">
!c = !cute.memref<f16, gmem, align<16>, "(16,8,8):(1,16,128)">
!at = !cute.coord_tensor<"(0,0,0)", "((8,8),16):((1@1,0),1@0)">
func.func @repeated(%A: !a, %B: !b, %C: !c, %at: !at) {
  // expected-error @below {{writes C at coordinates: expected elements that are written once, found coordinates that are the same for 8 of them in ((8,8),16):((1@1,0),1@0)}}
  cute.contract ins(%A, %B : !a, !b) outs(%C : !c) accumulate f32 at C(%at : !at)
  return
}

// -----

!t = !cute.memref<f16, gmem, align<16>, "(50,16):(16,1)">
!b = !cute.memref<f16, gmem, align<16>, "(16,16):(16,1)">
!c = !cute.memref<f16, gmem, align<16>, "(64,16):(16,1)">
!i = !cute.memref<f32, gmem, align<4>, "64:1">
func.func @floats(%T: !t, %B: !b, %C: !c, %I: !i) {
  // expected-error @below {{takes rows of A by index: expected indices of i32 or i64, found f32}}
  cute.contract ins(%T, %B : !t, !b) outs(%C : !c) accumulate f32 gather A(%I : !i)
  return
}

// -----

!t = !cute.memref<f16, gmem, align<16>, "(50,16,2):(16,1,800)">
!b = !cute.memref<f16, gmem, align<16>, "(16,16,2):(16,1,256)">
!c = !cute.memref<f16, gmem, align<16>, "(64,16,2):(16,1,1024)">
!i = !cute.memref<i32, gmem, align<4>, "64:1">
func.func @batch(%T: !t, %B: !b, %C: !c, %I: !i) {
  // expected-error @below {{takes rows of A by index: expected an index for each row and each of the batch, found 64:1 for the tensor (50,16,2):(16,1,800)}}
  cute.contract ins(%T, %B : !t, !b) outs(%C : !c) accumulate f32 gather A(%I : !i)
  return
}

// -----

!t = !cute.memref<f16, gmem, align<16>, "(50,16,2):(16,1,800)">
!b = !cute.memref<f16, gmem, align<16>, "(16,16,2):(16,1,256)">
!c = !cute.memref<f16, gmem, align<16>, "(64,16,2):(16,1,1024)">
!i = !cute.memref<i32, gmem, align<4>, "(64,3):(1,64)">
func.func @other_batch(%T: !t, %B: !b, %C: !c, %I: !i) {
  // expected-error @below {{takes rows of A by index: expected indices for each of the batch of 2, found (64,3):(1,64)}}
  cute.contract ins(%T, %B : !t, !b) outs(%C : !c) accumulate f32 gather A(%I : !i)
  return
}

// -----

!t = !cute.memref<f16, gmem, align<16>, "((5,10),16):((16,100),1)">
!b = !cute.memref<f16, gmem, align<16>, "(16,16):(16,1)">
!c = !cute.memref<f16, gmem, align<16>, "(64,16):(16,1)">
!i = !cute.memref<i32, gmem, align<4>, "64:1">
func.func @nested_rows(%T: !t, %B: !b, %C: !c, %I: !i) {
  // expected-error @below {{takes rows of A by index: expected rows that have one extent and one stride, found ((5,10),16):((16,100),1)}}
  cute.contract ins(%T, %B : !t, !b) outs(%C : !c) accumulate f32 gather A(%I : !i)
  return
}

// -----

!x = !cute.memref<f16, gmem, align<16>, "(16,64):(1,16)">
!b = !cute.memref<f16, gmem, align<16>, "(16,16):(16,1)">
!c = !cute.memref<f16, gmem, align<16>, "(64,16):(16,1)">
!i = !cute.memref<i32, gmem, align<4>, "64:1">
!at = !cute.coord_tensor<"(0,0)", "(64,16):(1@1,1@0)">
func.func @both(%X: !x, %B: !b, %C: !c, %I: !i, %at: !at) {
  // expected-error @below {{takes A at coordinates and its rows by index; expected one of them}}
  cute.contract ins(%X, %B : !x, !b) outs(%C : !c) accumulate f32 at A(%at : !at) gather A(%I : !i)
  return
}

// -----

!x = !cute.memref<f16, gmem, align<16>, "(16,64):(1,16)">
!i = !cute.memref<i32, gmem, align<4>, "64:1">
func.func @of_what(%X: !x, %I: !i) {
  // expected-error @below {{expected gather of A, B, found 'C'}}
  cute.contract ins(%X, %X : !x, !x) outs(%X : !x) accumulate f32 gather C(%I : !i)
  return
}

// -----

!x = !cute.memref<f16, gmem, align<16>, "(16,64):(1,16)">
!at = !cute.coord_tensor<"(0,0)", "(64,16):(1@1,1@0)">
func.func @once(%X: !x, %at: !at) {
  // expected-error @below {{expected one at of A}}
  cute.contract ins(%X, %X : !x, !x) outs(%X : !x) accumulate f32 at A(%at : !at) at A(%at : !at)
  return
}

// -----

!w = !cute.memref<f16, gmem, align<16>, "((7,9),64):((64,512),1)">
!s = !cute.memref<f16, smem, align<512>, S<2,4,3>, "(32,32):(32,1)">
func.func @no_coordinates(%w: !w, %s: !s) {
  // expected-error @below {{has a whole matrix; expected within(%coords, %end), the coordinates that the tile has of it}}
  cute.block.copy A (%w, %s) {whole = array<i64: 0>} : (!w, !s)
  return
}

// -----

!w = !cute.memref<f16, gmem, align<16>, "((7,9),64):((64,512),1)">
!s = !cute.memref<f16, smem, align<512>, S<2,4,3>, "(32,32):(32,1)">
!c = !cute.coord_tensor<"(?,?)", "(32,32):(1@0,1@1)">
func.func @no_such(%w: !w, %s: !s, %c: !c, %e: !cute.coord<"(?,_)">) {
  // expected-error @below {{expected places of 2 tensors that are whole, found 2}}
  cute.block.copy A (%w, %s) within(%c, %e : !c, !cute.coord<"(?,_)">) {whole = array<i64: 2>} : (!w, !s)
  return
}

// -----

!w = !cute.memref<f16, gmem, align<16>, "(7,9,64):(64,512,1)">
!s = !cute.memref<f16, smem, align<512>, S<2,4,3>, "(32,32):(32,1)">
!c = !cute.coord_tensor<"(?,?)", "(32,32):(1@0,1@1)">
func.func @three_modes(%w: !w, %s: !s, %c: !c, %e: !cute.coord<"(?,_)">) {
  // expected-error @below {{expected a whole matrix of two modes in gmem, found (7,9,64):(64,512,1) in gmem}}
  cute.block.copy A (%w, %s) within(%c, %e : !c, !cute.coord<"(?,_)">) {whole = array<i64: 0>} : (!w, !s)
  return
}

// -----

!w = !cute.memref<f16, gmem, align<16>, "((7,9),64):((64,512),1)">
!s = !cute.memref<f16, smem, align<512>, S<2,4,3>, "(32,32):(32,1)">
!c = !cute.coord_tensor<"(?,?)", "(32,32):(1@0,1@1)">
!p = !cute.coord_tensor<"(0,0)", "(63,64):(1@1,1@0)">
func.func @other_shape(%w: !w, %s: !s, %c: !c, %e: !cute.coord<"(?,_)">, %p: !p, %l: !cute.coord<"(_,60)">) {
  // expected-error @below {{expected a coordinate for each element of ((7,9),64), found (63,64)}}
  cute.block.copy A (%w, %s) within(%c, %e : !c, !cute.coord<"(?,_)">) bounds(%p, %l : !p, !cute.coord<"(_,60)">) {whole = array<i64: 0>} : (!w, !s)
  return
}

// -----

!w = !cute.memref<f16, gmem, align<16>, "((7,9),64):((64,512),1)">
!s = !cute.memref<f16, smem, align<512>, S<2,4,3>, "(32,32):(32,1)">
!c = !cute.coord_tensor<"(?,?)", "(32,32):(1@0,1@1)">
!p = !cute.coord_tensor<"(0,0)", "((7,9),64):((1@1,8@1),1@0)">
func.func @limits(%w: !w, %s: !s, %c: !c, %e: !cute.coord<"(?,_)">, %p: !p, %l: !cute.coord<"(_,60,2)">) {
  // expected-error @below {{expected a limit for each integer of the coordinates (0,0), or _, found (_,60,2)}}
  cute.block.copy A (%w, %s) within(%c, %e : !c, !cute.coord<"(?,_)">) bounds(%p, %l : !p, !cute.coord<"(_,60,2)">) {whole = array<i64: 0>} : (!w, !s)
  return
}

// -----

!t = !cute.memref<f16, gmem, align<16>, "(32,32):(64,1)">
!s = !cute.memref<f16, smem, align<512>, S<2,4,3>, "(32,32):(32,1)">
!i = !cute.memref<i32, rmem, "(32,32):(1,0)">
func.func @rows_of_a_tile(%t: !t, %s: !s, %i: !i) {
  // expected-error @below {{has bounds or rows; expected the whole matrix that they are of, whole = array<i64: 0>}}
  cute.block.copy A (%t, %s) rows(%i : !i) : (!t, !s)
  return
}

// -----

!w = !cute.memref<f16, gmem, align<16>, "(50,64):(64,1)">
!s = !cute.memref<f16, smem, align<512>, S<2,4,3>, "(32,32):(32,1)">
!c = !cute.coord_tensor<"(?,?)", "(32,32):(1@0,1@1)">
!i = !cute.memref<i32, rmem, "(16,32):(1,0)">
func.func @rows_of_another_tile(%w: !w, %s: !s, %c: !c, %e: !cute.coord<"(?,_)">, %i: !i) {
  // expected-error @below {{expected an index of i32 or i64 in rmem for each element of the tile (32,32), found (16,32) of i32 in rmem}}
  cute.block.copy A (%w, %s) within(%c, %e : !c, !cute.coord<"(?,_)">) rows(%i : !i) {whole = array<i64: 0>} : (!w, !s)
  return
}

// -----

!sums = !cute.memref<f32, smem, align<1024>, "(32,32):(32,1)">
!w = !cute.memref<f16, gmem, align<16>, "((4,8),32):((32,200),1)">
!c = !cute.coord_tensor<"(?,?)", "(32,32):(1@0,1@1)">
!i = !cute.memref<i32, rmem, "(32,32):(1,0)">
func.func @rows_of_c(%s: !sums, %w: !w, %c: !c, %e: !cute.coord<"(?,_)">, %i: !i) {
  // expected-error @below {{expected bounds and rows of A and B only, found them of C}}
  cute.block.transform C ins(%s : !sums) outs(%w : !w) within(%c, %e : !c, !cute.coord<"(?,_)">) rows(%i : !i) {
  ^bb0(%sum: f32):
    %y = arith.truncf %sum : f32 to f16
    cute.yield %y : f16
  } {whole = array<i64: 1>}
  return
}

// -----

module attributes {gpu.container_module} {
  gpu.module @k {
    gpu.func @f(%n: i32) kernel {
      // expected-error @below {{is for the host function whose cute.computes it belongs to; expected it outside of kernels}}
      cute.compute_values(%n) of 0 "at_a" : i32
      gpu.return
    }
  }
}

// -----

func.func @negative(%n: i32) {
  // expected-error @below {{expected the index of a compute, found -1}}
  cute.compute_values(%n) of -1 "at_a" : i32
  return
}

// -----

// A step of 0 is none, whatever it is along.
!a = !cute.memref<f16, gmem, align<16>, "(64,16):(16,1)">
!b = !cute.memref<f16, gmem, align<16>, "(16,16):(16,1)">
!c = !cute.memref<f16, gmem, align<16>, "(16,8,8):(1,16,128)">
!at = !cute.coord_tensor<"(0,0,0)", "((8,8),16):((1@1,0@2),1@0)">
func.func @repeated_along(%A: !a, %B: !b, %C: !c, %at: !at) {
  // expected-error @below {{writes C at coordinates: expected elements that are written once, found coordinates that are the same for 8 of them in ((8,8),16):((1@1,0@2),1@0)}}
  cute.contract ins(%A, %B : !a, !b) outs(%C : !c) accumulate f32 at C(%at : !at)
  return
}

// -----

!x = !cute.memref<f16, gmem, align<2>, "(1,4):(1,1)">
!f = !cute.memref<f16, gmem, align<2>, "(8,(1,3)):(3,(1,1))">
!y = !cute.memref<f32, gmem, align<4>, "(4,8):(8,1)">
!at = !cute.coord_tensor<"(0,-1)", "(4,(1,3)):(1@1,(1@0,-2147483648@1))">
func.func @wide(%X: !x, %F: !f, %Y: !y, %at: !at) {
  // expected-error @below {{takes A at coordinates: expected coordinates that are integers of 32 bits, found -4294967297 to 2 along mode 1}}
  cute.contract ins(%X, %F : !x, !f) outs(%Y : !y) accumulate f32 at A(%at : !at)
  return
}
