// What no kernel of a map can be is refused where it stands.
//
// RUN: cute-opt %s --cute-tile="arch=sm_80" --split-input-file --verify-diagnostics

!x = !cute.memref<f32, gmem, align<16>, "(64,32):(32,1)">
!t = !cute.memref<f4E2M1FN, gmem, align<16>, "(64,32):(32,1)">
func.func @element(%X: !t, %Y: !x) {
  // expected-error @below {{'cute.map' op does not compute with elements of f4E2M1FN here yet, as input 0 has; expected f8E4M3FN, f8E5M2, f16, bf16, f32, f64 or integers}}
  cute.map ins(%X : !t) outs(%Y : !x) {
  ^bb0(%x: i4):
    %zero = arith.constant 0.0 : f32
    cute.yield %zero : f32
  }
  return
}

// -----

!x = !cute.memref<f32, gmem, align<16>, "(64,32):(32,1)">
!o = !cute.memref<f32, gmem, align<16>, "(64,32):(16,1)">
func.func @overlap(%X: !x, %Y: !o) {
  // expected-error @below {{'cute.map' op expected elements of output 0 that do not overlap, found (64,32):(16,1): 64 elements that are 16 apart, where others reach over 32}}
  cute.map ins(%X : !x) outs(%Y : !o) {
  ^bb0(%x: f32):
    cute.yield %x : f32
  }
  return
}

// -----

!x = !cute.memref<f32, gmem, align<16>, "(64,32):(32,1)">
func.func @computed(%X: !x, %Y: !x, %scale: f32) {
  %twice = arith.addf %scale, %scale : f32
  cute.map ins(%X : !x) outs(%Y : !x) {
  ^bb0(%x: f32):
    // expected-error @below {{a map uses a number that the function computes, found in 'arith.mulf'; expected elements that are its own arguments, numbers that are arguments of the function, and constants}}
    %y = arith.mulf %x, %twice : f32
    cute.yield %y : f32
  }
  return
}

// -----

!x = !cute.memref<f32, gmem, align<16>, "(64,32):(1@0,1@1)">
func.func @basis(%X: !x, %Y: !x) {
  // expected-error @below {{with strides that are integers}}
  cute.map ins(%X : !x) outs(%Y : !x) {
  ^bb0(%x: f32):
    cute.yield %x : f32
  }
  return
}

// -----

!x = !cute.memref<f32, gmem, align<16>, "(64,32):(32,1)">
func.func @loop(%X: !x, %Y: !x, %count: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  scf.for %i = %zero to %count step %one {
    // expected-error @below {{'cute.map' op is in a loop; a launch plan is a list: write it in the function's body, or in branches of scf.if}}
    cute.map ins(%X : !x) outs(%Y : !x) {
    ^bb0(%x: f32):
      cute.yield %x : f32
    }
  }
  return
}

// -----

!x = !cute.memref<f32, gmem, align<16>, "(8,4,16):(64,16,1)">
!o = !cute.memref<f32, gmem, align<16>, "(8,4,16):(1,8,0)">
func.func @once_in_part(%X: !x, %Y: !o) {
  // expected-error @below {{'cute.map' op expected output 0 with the stride 0 along all of the modes [2, 0] that are reduced, or with elements of its own along them, found (8,4,16):(1,8,0); write it once by a cute.map of its own}}
  cute.map ins(%X : !x) outs(%Y : !o) {
  ^bb0(%x: f32):
    %sum = cute.all_reduce "add" %x along [0, 2] : f32
    cute.yield %sum : f32
  }
  return
}
