// What cannot be tiled is refused where it stands, with the reason and a cure.
//
// RUN: cute-opt %s --cute-tile="arch=sm_80 tile=32x32x32 warps=1x2 stages=1" --split-input-file --verify-diagnostics

// Basis strides give coordinates, not places.
!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
!e = !cute.memref<f16, gmem, align<16>, "(64,64):(1@0,1@1)">
func.func @basis(%A: !e, %B: !t, %C: !t) {
  // expected-error @below {{expected A with strides that are integers, found (64,64):(1@0,1@1)}}
  cute.contract ins(%A, %B : !e, !t) outs(%C : !t) accumulate f32
  return
}

// -----

!t = !cute.memref<i32, gmem, align<16>, "(64,64):(64,1)">
func.func @i32(%A: !t, %B: !t, %C: !t) {
  // expected-error @below {{no atom multiplies i32 here yet: expected A of f16, bf16, tf32, f64, i8, ui8, f8E4M3FN, f8E5M2 or f32, found i32}}
  cute.contract ins(%A, %B : !t, !t) outs(%C : !t) accumulate f32
  return
}

// -----

!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
!b = !cute.memref<f16, gmem, align<16>, "(64,32):(32,1)">
func.func @mismatch(%A: !t, %B: !b, %C: !t) {
  // expected-error @below {{expected the same K of A and B, found 64 and 32}}
  cute.contract ins(%A, %B : !t, !b) outs(%C : !t) accumulate f32
  return
}

// -----

!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
!c = !cute.memref<f16, gmem, align<16>, "(64,64):(32,1)">
func.func @overlapping_rows(%A: !t, %B: !t, %C: !c) {
  // expected-error @below {{expected elements of C that do not overlap, found (64,64):(32,1): 64 elements that are 32 apart, where others reach over 64}}
  cute.contract ins(%A, %B : !t, !t) outs(%C : !c) accumulate f32
  return
}

// -----

!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
!s = !cute.memref<f16, smem, align<16>, "(64,64):(64,1)">
func.func @smem(%A: !s, %B: !t, %C: !t) {
  // expected-error @below {{expected A in gmem, found smem}}
  cute.contract ins(%A, %B : !s, !t) outs(%C : !t) accumulate f32
  return
}

// -----

!t = !cute.memref<bf16, gmem, align<16>, "(64,64):(64,1)">
func.func @accumulate_bf16(%A: !t, %B: !t, %C: !t) {
  // expected-error @below {{no atom accumulates bf16 products in bf16 here yet; expected `accumulate f32`}}
  cute.contract ins(%A, %B : !t, !t) outs(%C : !t) accumulate bf16
  return
}

// -----

// Sums of integers are not rounded.
!t = !cute.memref<i8, gmem, align<16>, "(64,64):(64,1)">
!c = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
func.func @another_output(%A: !t, %B: !t, %C: !c) {
  // expected-error @below {{expected C of i32, found f16}}
  cute.contract ins(%A, %B : !t, !t) outs(%C : !c) accumulate i32
  return
}

// -----

// All have a batch, or none.
!t = !cute.memref<f16, gmem, align<16>, "(64,64,2):(64,1,4096)">
!b = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
func.func @batch_of_one(%A: !t, %B: !b, %C: !t) {
  // expected-error @below {{expected B (N,K) of rank 3, as A has a batch behind M and K, found (64,64):(64,1)}}
  cute.contract ins(%A, %B : !t, !b) outs(%C : !t) accumulate f32
  return
}

// -----

!t = !cute.memref<f16, gmem, align<16>, "(64,64,2):(64,1,4096)">
!b = !cute.memref<f16, gmem, align<16>, "(64,64,3):(64,1,0)">
func.func @another_batch(%A: !t, %B: !b, %C: !t) {
  // expected-error @below {{expected the same batch of A and B, found 2 and 3: A is (64,64,2), B is (64,64,3), C is (64,64,2)}}
  cute.contract ins(%A, %B : !t, !b) outs(%C : !t) accumulate f32
  return
}

// -----

// Each product has a C of its own.
// Elements of which the type knows that they are at one place, beside an extent that a launch brings.
!t = !cute.memref<f16, gmem, align<16>, "((8,?),64):((64,512),1)">
!b = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
!c = !cute.memref<f16, gmem, align<16>, "((8,?),64):((0,64),1)">
func.func @nested_at_one_place(%A: !t, %B: !b, %C: !c) {
  // expected-error @below {{expected elements of C that do not overlap, found ((8,?),64):((0,64),1): 8 elements that are 0 apart, all at one place}}
  cute.contract ins(%A, %B : !t, !b) outs(%C : !c) accumulate f32
  return
}

// -----

// A launch may bring several rows, all at one place.
!t = !cute.memref<f16, gmem, align<16>, "(?,?):(?{div=8},1)">
!c = !cute.memref<f16, gmem, align<16>, "(?,?):(0,1)">
func.func @rows_at_one_place(%A: !t, %B: !t, %C: !c) {
  // expected-error @below {{expected elements of C that do not overlap, found (?,?):(0,1): elements of which a launch brings the number that are 0 apart, all at one place; write an extent that is always 1 as 1}}
  cute.contract ins(%A, %B : !t, !t) outs(%C : !c) accumulate f32
  return
}

// -----

!t = !cute.memref<f16, gmem, align<16>, "(64,64,2):(64,1,4096)">
!c = !cute.memref<f16, gmem, align<16>, "(64,64,2):(64,1,0)">
func.func @shared_output(%A: !t, %B: !t, %C: !c) {
  // expected-error @below {{expected elements of C that do not overlap, found (64,64,2):(64,1,0): 2 elements that are 0 apart, all at one place}}
  cute.contract ins(%A, %B : !t, !t) outs(%C : !c) accumulate f32
  return
}

// -----

// What is known of M disagrees, though not all of it is known.
!a = !cute.memref<f16, gmem, align<16>, "(64,?):(?{div=8},1)">
!b = !cute.memref<f16, gmem, align<16>, "(64,?):(?{div=8},1)">
!c = !cute.memref<f16, gmem, align<16>, "(96,?):(?{div=8},1)">
func.func @partly_known(%A: !a, %B: !b, %C: !c) {
  // expected-error @below {{expected the same M of A and C, found 64 and 96}}
  cute.contract ins(%A, %B : !a, !b) outs(%C : !c) accumulate f32
  return
}

// -----

// Elements of other types are multiplied together where there is a product of both.
!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
!b = !cute.memref<bf16, gmem, align<16>, "(64,64):(64,1)">
func.func @mixed(%A: !t, %B: !b, %C: !t) {
  // expected-error @below {{no atom multiplies f16 and bf16 here yet: expected B of f16, found bf16}}
  cute.contract ins(%A, %B : !t, !b) outs(%C : !t) accumulate f32
  return
}

// -----

!t = !cute.memref<f8E4M3FN, gmem, align<16>, "(64,64):(64,1)">
!c = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
func.func @narrow_sums(%A: !t, %B: !t, %C: !c) {
  // expected-error @below {{no atom accumulates f8E4M3FN products in f16 here yet; expected `accumulate f32`}}
  cute.contract ins(%A, %B : !t, !t) outs(%C : !c) accumulate f16
  return
}

// -----

// What begins at the last element is no tensor of a launch.
!a = !cute.memref<f16, gmem, align<16>, "(64,64):(-64,1)">
!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
func.func @downwards(%A: !a, %B: !t, %C: !t) {
  // expected-error @below {{expected A with strides that are not negative, found -64 in (64,64):(-64,1); copy it into a tensor whose elements ascend}}
  cute.contract ins(%A, %B : !a, !t) outs(%C : !t) accumulate f32
  return
}

// -----

!c = !cute.memref<f16, gmem, align<16>, "(64,64):(-64,1)">
!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
func.func @written_downwards(%A: !t, %B: !t, %C: !c) {
  // expected-error @below {{expected C with strides that are not negative, found -64 in (64,64):(-64,1); copy it into a tensor whose elements ascend}}
  cute.contract ins(%A, %B : !t, !t) outs(%C : !c) accumulate f32
  return
}

// -----

!a = !cute.memref<f16, gmem, align<16>, "(64,64):(1125899906842624,1)">
!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
func.func @far(%A: !a, %B: !t, %C: !t) {
  // expected-error @below {{expected A that spans at most 2^40 elements, found 70931694131085376 in (64,64):(1125899906842624,1); make its strides smaller}}
  cute.contract ins(%A, %B : !a, !t) outs(%C : !t) accumulate f32
  return
}

// -----

!a = !cute.memref<f16, gmem, align<512>, "(64,64):(64,1)">
!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
func.func @aligned(%A: !a, %B: !t, %C: !t) {
  // expected-error @below {{expected A with an alignment of at most 256 bytes, which allocations of a GPU have, found align<512>}}
  cute.contract ins(%A, %B : !a, !t) outs(%C : !t) accumulate f32
  return
}

// -----

!t = !cute.memref<f16, gmem, align<16>, "(16,16,2,3):(16,1,256,512)">
func.func @batches(%A: !t, %B: !t, %C: !t) {
  // expected-error @below {{expected A (M,K) of rank 2, or 3 with a batch, whose modes are one: (M,K,(L0,L1)), found (16,16,2,3):(16,1,256,512)}}
  cute.contract ins(%A, %B : !t, !t) outs(%C : !t) accumulate f32
  return
}
