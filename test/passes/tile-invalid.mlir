// What cannot be tiled is refused where it stands, with the reason and a cure.
//
// RUN: cute-opt %s --cute-tile="arch=sm_80 tile=32x32x32 warps=1x2 stages=1" --split-input-file --verify-diagnostics

!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
!odd = !cute.memref<f16, gmem, align<16>, "(80,64):(64,1)">
!out = !cute.memref<f16, gmem, align<16>, "(80,64):(64,1)">
func.func @divides(%A: !odd, %B: !t, %C: !out) {
  // expected-error-re @below {{'cute.contract' op the tile 32x32x32 does not divide the problem 80x64x64; tails are not supported yet; tile=16x{{[0-9x]+}} warps={{[0-9x]+}} stages={{[0-9]+}} fits}}
  cute.contract ins(%A, %B : !odd, !t) outs(%C : !out) accumulate f32
  return
}

// -----

!a = !cute.memref<f16, gmem, align<16>, "(100,64):(64,1)">
!b = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
!c = !cute.memref<f16, gmem, align<16>, "(100,64):(64,1)">
func.func @nothing_divides(%A: !a, %B: !b, %C: !c) {
  // expected-error @below {{does not divide the problem 100x64x64; tails are not supported yet; no tile divides it: pad M, N and K to multiples of 16, better of 128}}
  cute.contract ins(%A, %B : !a, !b) outs(%C : !c) accumulate f32
  return
}

// -----

!t = !cute.memref<f32, gmem, align<16>, "(64,64):(64,1)">
func.func @f32(%A: !t, %B: !t, %C: !t) {
  // expected-error @below {{no atom multiplies f32 here yet: expected A of f16, found f32}}
  cute.contract ins(%A, %B : !t, !t) outs(%C : !t) accumulate f32
  return
}

// -----

!t = !cute.memref<bf16, gmem, align<16>, "(64,64):(64,1)">
func.func @bf16(%A: !t, %B: !t, %C: !t) {
  // expected-error @below {{no atom multiplies bf16 here yet: expected A of f16, found bf16}}
  cute.contract ins(%A, %B : !t, !t) outs(%C : !t) accumulate f32
  return
}

// -----

!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
!c = !cute.memref<f32, gmem, align<16>, "(64,64):(64,1)">
func.func @f32_output(%A: !t, %B: !t, %C: !c) {
  // expected-error @below {{expected C of f16, found f32}}
  cute.contract ins(%A, %B : !t, !t) outs(%C : !c) accumulate f32
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
!a = !cute.memref<f16, gmem, align<8>, "(64,64):(64,1)">
func.func @alignment(%A: !a, %B: !t, %C: !t) {
  // expected-error @below {{copies 16 bytes at a time, but A is aligned to 8 bytes; expected align<16>}}
  cute.contract ins(%A, %B : !a, !t) outs(%C : !t) accumulate f32
  return
}

// -----

// Nothing is said of the alignment: it is the element's.
!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
!c = !cute.memref<f16, gmem, "(64,64):(64,1)">
func.func @no_alignment(%A: !t, %B: !t, %C: !c) {
  // expected-error @below {{copies 16 bytes at a time, but C is aligned to 2 bytes; expected align<16>}}
  cute.contract ins(%A, %B : !t, !t) outs(%C : !c) accumulate f32
  return
}

// -----

!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
!b = !cute.memref<f16, gmem, align<16>, "(64,64):(68,1)">
func.func @rows_apart(%A: !t, %B: !b, %C: !t) {
  // expected-error @below {{the rows of B are 136 bytes apart; expected a stride that is a multiple of 8}}
  cute.contract ins(%A, %B : !t, !b) outs(%C : !t) accumulate f32
  return
}

// -----

!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
!c = !cute.memref<f16, gmem, align<16>, "(64,64):(32,1)">
func.func @overlapping_rows(%A: !t, %B: !t, %C: !c) {
  // expected-error @below {{expected rows of C that do not overlap: a stride of at least 64, found 32}}
  cute.contract ins(%A, %B : !t, !t) outs(%C : !c) accumulate f32
  return
}

// -----

!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
!a = !cute.memref<f16, gmem, align<16>, "(64,64):(1,64)">
func.func @m_major(%A: !a, %B: !t, %C: !t) {
  // expected-error @below {{expected A with its second mode contiguous (stride 1, A and B K-major, C row-major), found (64,64):(1,64); other majors are not supported yet: transpose it}}
  cute.contract ins(%A, %B : !a, !t) outs(%C : !t) accumulate f32
  return
}

// -----

!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
!c = !cute.memref<f16, gmem, align<16>, "(64,64):(1,64)">
func.func @column_major(%A: !t, %B: !t, %C: !c) {
  // expected-error @below {{expected C with its second mode contiguous}}
  cute.contract ins(%A, %B : !t, !t) outs(%C : !c) accumulate f32
  return
}

// -----

// Blocked rows are no row-major matrix, whatever their size.
!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
!a = !cute.memref<f16, gmem, align<16>, "((8,8),64):((64,4096),1)">
func.func @nested(%A: !a, %B: !t, %C: !t) {
  // expected-error @below {{expected A with its second mode contiguous}}
  cute.contract ins(%A, %B : !a, !t) outs(%C : !t) accumulate f32
  return
}

// -----

!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
!a = !cute.memref<f16, gmem, align<16>, "(?,64):(64,1)">
!c = !cute.memref<f16, gmem, align<16>, "(?,64):(64,1)">
func.func @dynamic(%A: !a, %B: !t, %C: !c) {
  // expected-error @below {{expected a static layout of A, found (?,64):(64,1); dynamic shapes are not supported yet: write the extents}}
  cute.contract ins(%A, %B : !a, !t) outs(%C : !c) accumulate f32
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

!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
func.func @accumulate_f16(%A: !t, %B: !t, %C: !t) {
  // expected-error @below {{no atom accumulates f16 products in f16 here yet; expected `accumulate f32`}}
  cute.contract ins(%A, %B : !t, !t) outs(%C : !t) accumulate f16
  return
}
