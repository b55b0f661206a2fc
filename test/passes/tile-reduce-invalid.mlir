// An output is reduced where its stride is 0, and nowhere else.
//
// RUN: cute-opt %s --cute-tile="arch=sm_80" --split-input-file --verify-diagnostics

!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
!r = !cute.memref<f32, gmem, align<16>, "(64,64):(1,0)">
func.func @no_kind(%A: !t, %B: !t, %C: !t, %D: !r) {
  // expected-error @below {{expected output 1 to be reduced along mode 1, where (64,64):(1,0) has the stride 0, by one of add, mean, maximum, minimum; write reduce and the kind behind its name, or give it a stride there}}
  cute.contract ins(%A, %B : !t, !t) outs(%C, %D : !t, !r) accumulate f32 epilogue {
  ^bb0(%sum: f32):
    %c = arith.truncf %sum : f32 to f16
    cute.yield %c, %sum : f16, f32
  }
  return
}

// -----

!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
!r = !cute.memref<f32, gmem, align<16>, "(64,64):(64,1)">
func.func @no_stride(%A: !t, %B: !t, %C: !t, %D: !r) {
  // expected-error @below {{expected output 1, which is reduced, to have the stride 0 along what it is reduced along, found (64,64):(64,1)}}
  cute.contract ins(%A, %B : !t, !t) outs(%C, %D reduce maximum : !t, !r) accumulate f32 epilogue {
  ^bb0(%sum: f32):
    %c = arith.truncf %sum : f32 to f16
    cute.yield %c, %sum : f16, f32
  }
  return
}

// -----

!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
!r = !cute.memref<f32, gmem, align<16>, "(64,(16,4)):(1,(0,64))">
func.func @in_part(%A: !t, %B: !t, %C: !t, %D: !r) {
  // expected-error @below {{expected output 1 to have one element along mode 1, or all of them, found (64,(16,4)):(1,(0,64)), which repeats some; give the whole mode the stride 0, or reduce the rest in a cute.map behind}}
  cute.contract ins(%A, %B : !t, !t) outs(%C, %D reduce maximum : !t, !r) accumulate f32 epilogue {
  ^bb0(%sum: f32):
    %c = arith.truncf %sum : f32 to f16
    cute.yield %c, %sum : f16, f32
  }
  return
}

// -----

!t = !cute.memref<f16, gmem, align<16>, "(64,64,2):(64,1,4096)">
!r = !cute.memref<f32, gmem, align<16>, "(64,64,2):(1,0,0)">
func.func @along_the_batch(%A: !t, %B: !t, %C: !t, %D: !r) {
  // expected-error @below {{expected output 1 to have elements of its own for each product of the batch, found (64,64,2):(1,0,0); reduce along the batch in a cute.map behind}}
  cute.contract ins(%A, %B : !t, !t) outs(%C, %D reduce add : !t, !r) accumulate f32 epilogue {
  ^bb0(%sum: f32):
    %c = arith.truncf %sum : f32 to f16
    cute.yield %c, %sum : f16, f32
  }
  return
}

// -----

!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
!r = !cute.memref<f32, gmem, align<16>, "(64,64):(1,0)">
func.func @kind(%A: !t, %B: !t, %C: !t, %D: !r) {
  // expected-error @below {{expected the kind add, mean, maximum, minimum behind reduce, found max}}
  cute.contract ins(%A, %B : !t, !t) outs(%C, %D reduce max : !t, !r) accumulate f32 epilogue {
  ^bb0(%sum: f32):
    %c = arith.truncf %sum : f32 to f16
    cute.yield %c, %sum : f16, f32
  }
  return
}

// -----

!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
!r = !cute.memref<f16, gmem, align<16>, "(64,64):(1,0)">
func.func @narrow_sums(%A: !t, %B: !t, %C: !t, %D: !r) {
  // expected-error @below {{output 1: expected numbers of f32, f64 or i32 to add; widen them before, by arith.extf or arith.extsi, found f16}}
  cute.contract ins(%A, %B : !t, !t) outs(%C, %D reduce add : !t, !r) accumulate f32 epilogue {
  ^bb0(%sum: f32):
    %c = arith.truncf %sum : f32 to f16
    cute.yield %c, %c : f16, f16
  }
  return
}

// -----

!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
!r = !cute.memref<f16, gmem, align<16>, "(64,64):(1,0)">
func.func @reads_it(%A: !t, %B: !t, %C: !t, %D: !r) {
  // expected-error @below {{reads output 1, which is reduced, for elements that others still compute; expected an output of its own}}
  cute.contract ins(%A, %B : !t, !t) outs(%C, %D reduce maximum : !t, !r) accumulate f32 epilogue ins(%D : !r) {
  ^bb0(%sum: f32, %before: f16):
    %c = arith.truncf %sum : f32 to f16
    cute.yield %c, %before : f16, f16
  }
  return
}

// -----

!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
!r = !cute.memref<f16, gmem, align<16>, "(64,64):(1,0)">
func.func @reduces_c(%A: !t, %B: !t, %C: !r) {
  // expected-error @below {{reduces C, which holds an element for each row and column; expected an output behind it to be reduced}}
  cute.contract ins(%A, %B : !t, !t) outs(%C reduce maximum : !r) accumulate f32 epilogue {
  ^bb0(%sum: f32):
    %c = arith.truncf %sum : f32 to f16
    cute.yield %c : f16
  }
  return
}

// -----

!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
!r = !cute.memref<f16, gmem, align<16>, "(64,64):(1,0)">
func.func @split(%A: !t, %B: !t, %C: !t, %D: !r) {
  // expected-error @below {{reduces an output, which is a block's part of all sums along K, and K is asked to be split in 2; expected split=1}}
  cute.contract ins(%A, %B : !t, !t) outs(%C, %D reduce maximum : !t, !r) accumulate f32 {cute.split = 2} epilogue {
  ^bb0(%sum: f32):
    %c = arith.truncf %sum : f32 to f16
    cute.yield %c, %c : f16, f16
  }
  return
}

// -----

!sums = !cute.memref<f32, smem, align<1024>, "(32,32):(32,1)">
!tile = !cute.memref<f32, gmem, align<16>, "(32,32):(64,1)">
!rows = !cute.memref<f32, gmem, align<16>, "(32,32):(1,0)">
func.func @mean_of_a_part(%s: !sums, %c: !tile, %r: !rows) {
  // expected-error @below {{takes the mean of a part of a line; expected the sum of it, which is divided where all parts are added}}
  cute.block.transform C ins(%s : !sums) outs(%c, %r reduce mean : !tile, !rows) {
  ^bb0(%sum: f32):
    cute.yield %sum, %sum : f32, f32
  }
  return
}
