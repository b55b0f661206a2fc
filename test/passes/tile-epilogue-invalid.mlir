// What no epilogue can be is refused where it stands.
//
// RUN: cute-opt %s --cute-tile="arch=sm_80" --split-input-file --verify-diagnostics

!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
func.func @no_region(%A: !t, %B: !t, %C: !t, %D: !t) {
  // expected-error @below {{expected an epilogue, a region that says what is stored in each tensor behind outs, found none}}
  cute.contract ins(%A, %B : !t, !t) outs(%C, %D : !t, !t) accumulate f32
  return
}

// -----

!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
!v = !cute.memref<f16, gmem, align<16>, "(64,32):(0,1)">
func.func @shape(%A: !t, %B: !t, %C: !t, %bias: !v) {
  // expected-error @below {{expected an input of the epilogue to have the shape of C, (64,64), found (64,32):(0,1); what is the same along a mode has the stride 0 there}}
  cute.contract ins(%A, %B : !t, !t) outs(%C : !t) accumulate f32 epilogue ins(%bias : !v) {
  ^bb0(%sum: f32, %b: f16):
    cute.yield %b : f16
  }
  return
}

// -----

!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
func.func @arguments(%A: !t, %B: !t, %C: !t) {
  // expected-error @below {{expected a region of the arguments (f32, f16), found (f32)}}
  cute.contract ins(%A, %B : !t, !t) outs(%C : !t) accumulate f32 epilogue ins(%A : !t) {
  ^bb0(%sum: f32):
    %c = arith.truncf %sum : f32 to f16
    cute.yield %c : f16
  }
  return
}

// -----

!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
func.func @yields(%A: !t, %B: !t, %C: !t) {
  // expected-error @below {{expected a yielded value of type f16, found f32}}
  cute.contract ins(%A, %B : !t, !t) outs(%C : !t) accumulate f32 epilogue {
  ^bb0(%sum: f32):
    cute.yield %sum : f32
  }
  return
}

// -----

!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
func.func @count(%A: !t, %B: !t, %C: !t, %D: !t) {
  // expected-error @below {{expected a region that yields (f16, f16), found (f16)}}
  cute.contract ins(%A, %B : !t, !t) outs(%C, %D : !t, !t) accumulate f32 epilogue {
  ^bb0(%sum: f32):
    %c = arith.truncf %sum : f32 to f16
    cute.yield %c : f16
  }
  return
}

// -----

!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
func.func @operation(%A: !t, %B: !t, %C: !t) {
  cute.contract ins(%A, %B : !t, !t) outs(%C : !t) accumulate f32 epilogue {
  ^bb0(%sum: f32):
    // expected-error @below {{expected an operation on numbers in an epilogue, which a kernel and the host compute alike: constants, arithmetic, comparisons and conversions of arith, bits of integers, and functions such as math.exp; found 'math.powf'; x^y is math.exp2 of y * math.log2(x)}}
    %p = math.powf %sum, %sum : f32
    %c = arith.truncf %p : f32 to f16
    cute.yield %c : f16
  }
  return
}

// -----

!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
func.func @captured(%A: !t, %B: !t, %C: !t, %x: f32) {
  %twice = arith.addf %x, %x : f32
  cute.contract ins(%A, %B : !t, !t) outs(%C : !t) accumulate f32 epilogue {
  ^bb0(%sum: f32):
    // expected-error @below {{an epilogue uses a number that the function computes, found in 'arith.mulf'; expected elements that are its own arguments, numbers that are arguments of the function, and constants}}
    %p = arith.mulf %sum, %twice : f32
    %c = arith.truncf %p : f32 to f16
    cute.yield %c : f16
  }
  return
}

// -----

!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
func.func @twice(%A: !t, %B: !t, %C: !t) {
  // expected-error @below {{writes one tensor as two outputs; expected tensors of their own}}
  cute.contract ins(%A, %B : !t, !t) outs(%C, %C : !t, !t) accumulate f32 epilogue {
  ^bb0(%sum: f32):
    %c = arith.truncf %sum : f32 to f16
    cute.yield %c, %c : f16, f16
  }
  return
}

// -----

!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
!o = !cute.memref<f16, gmem, align<16>, "(64,64):(32,1)">
func.func @overlap(%A: !t, %B: !t, %C: !t, %D: !o) {
  // expected-error @below {{expected elements of output 1 that do not overlap, found (64,64):(32,1)}}
  cute.contract ins(%A, %B : !t, !t) outs(%C, %D : !t, !o) accumulate f32 epilogue {
  ^bb0(%sum: f32):
    %c = arith.truncf %sum : f32 to f16
    cute.yield %c, %c : f16, f16
  }
  return
}

// -----

// Sums in registers: one output in registers as well, which nobody reduces, and coordinates for what stands beside them.
!sums = !cute.memref<f32, rmem, "(64,64):(64,1)">
!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
func.func @output_of_registers(%c: !t) {
  %sums = cute.memref.alloca() : !sums
  // expected-error @below {{'cute.block.transform' op expected an output of sums in registers in rmem, found gmem}}
  cute.block.transform C ins(%sums : !sums) outs(%c : !t) {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to f16
    cute.yield %y : f16
  }
  return
}

// -----

!sums = !cute.memref<f32, rmem, "(64,64):(64,1)">
!own = !cute.memref<f16, rmem, "(64,64):(64,1)">
func.func @outputs_of_registers() {
  %sums = cute.memref.alloca() : !sums
  %own = cute.memref.alloca() : !own
  // expected-error @below {{'cute.block.transform' op has its sums in registers; expected one output, which is not reduced}}
  cute.block.transform C ins(%sums : !sums) outs(%own, %own : !own, !own) {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to f16
    cute.yield %y, %y : f16, f16
  }
  return
}

// -----

!sums = !cute.memref<f32, rmem, "(64,64):(64,1)">
!own = !cute.memref<f16, rmem, "(64,64):(64,1)">
func.func @coordinates_of_registers(%coords: !cute.coord_tensor<"(0,0)", "(64,64):(1@0,1@1)">, %end: !cute.coord<"(?,?)">) {
  %sums = cute.memref.alloca() : !sums
  %own = cute.memref.alloca() : !own
  // expected-error @below {{'cute.block.transform' op expected an input beside sums in registers where coordinates are given}}
  cute.block.transform C ins(%sums : !sums) outs(%own : !own) within(%coords, %end : !cute.coord_tensor<"(0,0)", "(64,64):(1@0,1@1)">, !cute.coord<"(?,?)">) {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to f16
    cute.yield %y : f16
  }
  return
}
