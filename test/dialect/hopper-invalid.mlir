// What barriers, TMA and products of warpgroups refuse: what was expected, what was found, what to do.
//
// RUN: cute-opt %s --split-input-file --verify-diagnostics

!bars = !cute.memref<i64, gmem, align<8>, "4:1">
func.func @barriers_elsewhere(%b: !bars, %i: i32) {
  // expected-error @+1 {{expected mbarriers, a tensor of i64 in smem without a swizzle}}
  cute_nvgpu.mbarrier_arrive %b[%i] : !bars
  return
}

// -----

!bars = !cute.memref<i32, smem, align<8>, "4:1">
func.func @barriers_of_another_type(%b: !bars, %i: i32) {
  // expected-error @+1 {{found one of i32 in smem}}
  cute_nvgpu.mbarrier_arrive %b[%i] : !bars
  return
}

// -----

!bars = !cute.memref<i64, smem, align<8>, "4:1">
func.func @which_barrier(%b: !bars) {
  // expected-error @+1 {{expected one mbarrier, or the index of one of the 4: write %barriers[%i]}}
  cute_nvgpu.mbarrier_arrive %b : !bars
  return
}

// -----

!bars = !cute.memref<i64, smem, align<8>, "4:1">
func.func @no_arrivals(%b: !bars, %i: i32) {
  %none = arith.constant 0 : i32
  // expected-error @+1 {{expected 1 to 1048575, as an mbarrier counts, found 0}}
  cute_nvgpu.mbarrier_init %b[%i], %none : !bars
  return
}

// -----

!bars = !cute.memref<i64, smem, align<8>, "4:1">
func.func @too_many_bytes(%b: !bars, %i: i32) {
  %all = arith.constant 1048576 : i32
  // expected-error @+1 {{expected 0 to 1048575, as an mbarrier counts, found 1048576}}
  cute_nvgpu.mbarrier_arrive_and_expect_tx %b[%i], %all : !bars
  return
}

// -----

// expected-error @+1 {{expected copy_bits = 131072, those of 8192 elements of f16, found 65536}}
func.func @other_bits(%a: !cute_nvgpu.atom.tma_load<f16, copy_bits = 65536, tma_gbasis = <"(64,128):(1@1,1@0)">, swizzle = 128>) { return }

// -----

// expected-error @+1 {{1 to 5 modes of at most 256 elements}}
func.func @too_long(%a: !cute_nvgpu.atom.tma_load<f16, copy_bits = 327680, tma_gbasis = <"(64,320):(1@1,1@0)">, swizzle = 128>) { return }

// -----

!mat = !cute.memref<f16, gmem, align<16>, "(?,?):(?{div=8},1)">
!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 65536, tma_gbasis = <"(64,64):(1@1,1@0)">, swizzle = 128>
!coords = !cute.coord_tensor<"(0,0)", "(?,?):(1@1,1@0)">
!tile = !cute.composed_layout<"S<3,4,3> o 0 o (128,64):(64,1)">
func.func @another_box(%A: !mat, %t: !tile) {
  // expected-error @+1 {{expected the atom !cute_nvgpu.atom.tma_load<f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, swizzle = 128>, found}}
  %load, %c = cute_nvgpu.atom.make_tma_load(%A, %t) : (!mat, !tile) -> (!load, !coords)
  return
}

// -----

!mat = !cute.memref<f16, gmem, align<16>, "(?,?):(?,1)">
!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, swizzle = 128>
!coords = !cute.coord_tensor<"(0,0)", "(?,?):(1@1,1@0)">
!tile = !cute.composed_layout<"S<3,4,3> o 0 o (128,64):(64,1)">
func.func @rows_anywhere(%A: !mat, %t: !tile) {
  // expected-error @+1 {{expected strides that are positive multiples of 16 bytes, found (?,?):(?,1); write ?{div=8} where that is so}}
  %load, %c = cute_nvgpu.atom.make_tma_load(%A, %t) : (!mat, !tile) -> (!load, !coords)
  return
}

// -----

!mat = !cute.memref<f16, gmem, align<16>, "(?,?):(?{div=8},1)">
!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, swizzle = 128>
!coords = !cute.coord_tensor<"(0,0)", "(?,?):(1@1,1@0)">
!tile = !cute.composed_layout<"S<3,4,3> o 0 o (128,64):(1,128)">
func.func @transposed(%A: !mat, %t: !tile) {
  // expected-error @+1 {{TMA does not transpose}}
  %load, %c = cute_nvgpu.atom.make_tma_load(%A, %t) : (!mat, !tile) -> (!load, !coords)
  return
}

// -----

!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, swizzle = 128>
!tile = !cute.coord_tensor<"(?,?)", "(128,64):(1@1,1@0)">
!sA = !cute.memref<f16, smem, align<1024>, S<2,4,3>, "(128,64):(64,1)">
!bars = !cute.memref<i64, smem, align<8>, "1:0">
func.func @another_swizzle(%load: !load, %t: !tile, %s: !sA, %b: !bars, %i: i32) {
  // expected-error @+1 {{expected a tile with the swizzle of the atom, S<3,4,3>, found S<2,4,3>}}
  cute_nvgpu.tma_load(%load, [%t], %s) on %b[%i] : (!load, [!tile], !sA), !bars
  return
}

// -----

!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, swizzle = 128>
!tile = !cute.coord_tensor<"(?,?)", "(128,64):(1@1,1@0)">
!sA = !cute.memref<f16, smem, align<16>, S<3,4,3>, "(128,64):(64,1)">
!bars = !cute.memref<i64, smem, align<8>, "1:0">
func.func @within_a_pattern(%load: !load, %t: !tile, %s: !sA, %b: !bars, %i: i32) {
  // expected-error @+1 {{expected a tile that starts at a multiple of 1024 bytes, found align<16>}}
  cute_nvgpu.tma_load(%load, [%t], %s) on %b[%i] : (!load, [!tile], !sA), !bars
  return
}

// -----

!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, swizzle = 128>
!tile = !cute.coord_tensor<"(?,?)", "(64,64):(1@1,1@0)">
!sA = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64):(64,1)">
!bars = !cute.memref<i64, smem, align<8>, "1:0">
func.func @half_a_box(%load: !load, %t: !tile, %s: !sA, %b: !bars, %i: i32) {
  // expected-error @+1 {{boxes of 8192 elements one behind the other, 64 x 128, found 4096 elements to copy}}
  cute_nvgpu.tma_load(%load, [%t], %s) on %b[%i] : (!load, [!tile], !sA), !bars
  return
}

// -----

!store = !cute_nvgpu.atom.tma_store<f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, swizzle = 128>
!sA = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(128,64):(64,1)">
func.func @too_few_coordinates(%store: !store, %s: !sA, %i: i32) {
  // expected-error @+1 {{expected the coordinates of a tile, or 2 of i32, the contiguous dimension's first, found 1}}
  cute_nvgpu.tma_store(%store, %s, [%i]) : (!store, !sA, [i32])
  return
}

// -----

!row = !cute.memref<f32, gmem, align<4>, "256:1">
!srow = !cute.memref<f32, smem, align<16>, "256:1">
func.func @unaligned_bytes(%row: !row, %srow: !srow) {
  // expected-error @+1 {{expected tensors at multiples of 16 bytes, found align<4> in gmem}}
  cute_nvgpu.bulk_store(%srow, %row) : (!srow, !row)
  return
}

// -----

!row = !cute.memref<f32, gmem, align<16>, "254:1">
!srow = !cute.memref<f32, smem, align<16>, "254:1">
func.func @half_granules(%row: !row, %srow: !srow) {
  // expected-error @+1 {{expected a multiple of 16 bytes below 2^20, as an mbarrier counts, found 1016}}
  cute_nvgpu.bulk_store(%srow, %row) : (!srow, !row)
  return
}

// -----

// However many elements there are, as an answer does not depend on a look at each.
!row = !cute.memref<f32, gmem, align<16>, "2305843009213693952:1">
!srow = !cute.memref<f32, smem, align<16>, "256:1">
func.func @many_elements(%row: !row, %srow: !srow) {
  // expected-error @+1 {{expected as many elements of one type on both sides, found 1024 bytes of f32 and 9223372036854775807 of f32}}
  cute_nvgpu.bulk_store(%srow, %row) : (!srow, !row)
  return
}

// -----

!row = !cute.memref<f32, gmem, align<16>, "(16,16):(32,1)">
!srow = !cute.memref<f32, smem, align<16>, "(16,16):(16,1)">
func.func @rows_with_gaps(%row: !row, %srow: !srow) {
  // expected-error @+1 {{expected contiguous elements in the order of memory}}
  cute_nvgpu.bulk_store(%srow, %row) : (!srow, !row)
  return
}

// -----

func.func @no_accumulators() {
  // expected-error @+1 {{expected the accumulators of the products, found none}}
  cute_nvgpu.wgmma_fence() : () -> ()
  return
}

// -----

!acc = !cute.memref<f32, rmem, "((2,2,8),1,1):((1,2,4),0,0)">
func.func @too_many_groups(%acc: !acc) {
  // expected-error @+1 {{expected 0 to 7 groups that may be under way, found 8}}
  cute_nvgpu.wgmma_wait_group 8 (%acc) : (!acc) -> ()
  return
}

// -----

!acc = !cute.memref<f32, smem, align<16>, "((2,2,8),1,1):((1,2,4),0,0)">
func.func @accumulators_in_memory(%acc: !acc) {
  // expected-error @+1 {{expected accumulators in rmem}}
  cute_nvgpu.wgmma_fence(%acc) : (!acc) -> ()
  return
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm90.mma<64x64x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
!part = !cute.memref<f16, smem, align<1024>, "((64,16),1,4):((64,1),0,16)">
func.func @no_descriptor(%mma: !mma, %a: !part, %v: vector<32xf32>) {
  // expected-error @+1 {{A: `wgmma descriptor` expected an operand of 64 by 16 elements of 16 bits in one of the canonical K-major layouts}}
  %d = cute_nvgpu.atom_wgmma(%mma, %a, %a, %v) at [0, 0] : (!mma, !part, !part, vector<32xf32>) -> vector<32xf32>
  return
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm90.mma<64x64x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
!part = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((64,16),1,1099511627776):((64,1),0,16)">
func.func @many_atoms(%mma: !mma, %a: !part, %v: vector<32xf32>) {
  // expected-error @+1 {{A: expected at most 262144 atoms along a mode, found 1099511627776:16}}
  %d = cute_nvgpu.atom_wgmma(%mma, %a, %a, %v) at [0, 0] : (!mma, !part, !part, vector<32xf32>) -> vector<32xf32>
  return
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm90.mma<64x64x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
!part = !cute.memref<f16, smem, align<32>, S<3,4,3>, "((64,16),1,4):((64,1),0,16)">
func.func @starts_within_a_pattern(%mma: !mma, %a: !part, %v: vector<32xf32>) {
  // expected-error @+1 {{expected A to start at a multiple of 1024 bytes, where its swizzle begins, found align<32>}}
  %d = cute_nvgpu.atom_wgmma(%mma, %a, %a, %v) at [0, 0] : (!mma, !part, !part, vector<32xf32>) -> vector<32xf32>
  return
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm90.mma<64x64x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = rs>, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
!part = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((64,16),1,4):((64,1),0,16)">
func.func @too_few_registers(%mma: !mma, %a: vector<8xi32>, %b: !part, %v: vector<32xf32>) {
  // expected-error @+1 {{expected A in smem, or, for an atom with frag_kind = rs, 4 words of i32 for each of 4 steps of K, found vector<8xi32>}}
  %d = cute_nvgpu.atom_wgmma(%mma, %a, %b, %v) at [0, 0] : (!mma, vector<8xi32>, !part, vector<32xf32>) -> vector<32xf32>
  return
}

// -----

func.func @more_kept_than_given(%v: vector<32xf32>) {
  // expected-error @+1 {{expected `kept` values of A behind the accumulators, 2, found 1 values}}
  %d = cute_nvgpu.wgmma_wait_group 0 (%v) {kept = 2 : i32} : (vector<32xf32>) -> vector<32xf32>
  return
}

// -----

!tma = !cute_nvgpu.atom.tma_store<f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, swizzle = 128>
!tile = !cute.coord_tensor<"(?,?)", "(128,64):(1@1,1@0)">
!sC = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(128,64):(64,1)">
func.func @no_such_reduction(%atom: !tma, %tile: !tile, %sC: !sC) {
  // expected-error @+1 {{expected a reduction that TMA has for f16, add, min, max, found "xor"}}
  cute_nvgpu.tma_store(%atom, %sC, [%tile]) reduce "xor" : (!tma, !sC, [!tile])
  return
}

// -----

!tma = !cute_nvgpu.atom.tma_store<i8, copy_bits = 65536, tma_gbasis = <"(64,128):(1@1,1@0)">, swizzle = 64>
!tile = !cute.coord_tensor<"(?,?)", "(128,64):(1@1,1@0)">
!sC = !cute.memref<i8, smem, align<1024>, S<2,4,3>, "(128,64):(64,1)">
func.func @bytes_are_not_reduced(%atom: !tma, %tile: !tile, %sC: !sC) {
  // expected-error @+1 {{expected elements that TMA reduces, f16, bf16, f32 or i32, found i8; store them, or reduce by atomic operations of threads}}
  cute_nvgpu.tma_store(%atom, %sC, [%tile]) reduce "add" : (!tma, !sC, [!tile])
  return
}

// -----

!row = !cute.memref<f32, gmem, align<16>, "256:1">
func.func @no_such_policy(%row: !row) {
  // expected-error @+1 {{expected a policy of L2, evict_first, evict_last, evict_normal, evict_unchanged, found "keep"}}
  cute_nvgpu.bulk_prefetch(%row) policy "keep" : !row
  return
}

// -----

!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, swizzle = 128>
!tile = !cute.coord_tensor<"(?,?)", "(64,96):(1@1,1@0)">
func.func @prefetched_boxes(%load: !load, %tile: !tile) {
  // expected-error @+1 {{expected a tile of whole boxes of 64 x 128, found (64,96):(1@1,1@0)}}
  cute_nvgpu.tma_prefetch(%load, [%tile]) : (!load, [!tile])
  return
}

// -----

!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, swizzle = 128>
func.func @prefetched_coordinates(%load: !load, %i: i32) {
  // expected-error @+1 {{expected the coordinates of a tile, or 2 of i32, the contiguous dimension's first, found 3}}
  cute_nvgpu.tma_prefetch(%load, [%i, %i, %i]) : (!load, [i32, i32, i32])
  return
}

// -----

!row = !cute.memref<f32, gmem, align<4>, "256:1">
func.func @prefetched_bytes(%row: !row) {
  // expected-error @+1 {{expected tensors at multiples of 16 bytes, found align<4> in gmem}}
  cute_nvgpu.bulk_prefetch(%row) : !row
  return
}

// -----

!mat = !cute.memref<f16, gmem, align<16>, "(64,252):(256,1)">
!plain = !cute.layout<"(64,64):(64,1)">
!store = !cute_nvgpu.atom.tma_store<f16, copy_bits = 65536, tma_gbasis = <"(64,64):(1@1,1@0)">, swizzle = 0>
!coords = !cute.coord_tensor<"(0,0)", "(64,252):(1@1,1@0)">
func.func @lines_of_stores(%C: !mat, %p: !plain) {
  // expected-error @below {{expected lines of whole 16 bytes, all of which TMA stores, found 252 elements of 2: it would write over what is behind them; store them by threads, or make lines longer}}
  %store, %to = cute_nvgpu.atom.make_tma_store(%C, %p) : (!mat, !plain) -> (!store, !coords)
  return
}

// -----

!mat = !cute.memref<f16, gmem, align<16>, "(?,?):(?{div=8},1)">
!tile = !cute.composed_layout<"S<3,4,3> o 0 o (128,64):(64,1)">
func.func @rest_along_no_mode(%A: !mat, %t: !tile) {
  // expected-error @+1 {{expected a mode of the tensor for the rest, 0 to 1, found 2}}
  %load, %c = cute_nvgpu.atom.make_tma_load(%A, %t) rest 2
  return
}

// -----

!mat = !cute.memref<f16, gmem, align<16>, "(?,?):(?{div=8},1)">
!tile = !cute.composed_layout<"S<3,4,3> o 0 o (128,64):(64,1)">
func.func @rest_along_lines(%A: !mat, %t: !tile) {
  // expected-error @+1 {{expected a rest along a mode that is not contiguous, found mode 1, which is: leave `rest` out, zeros arrive from outside}}
  %load, %c = cute_nvgpu.atom.make_tma_load(%A, %t) rest 1
  return
}

// -----

!mat = !cute.memref<f16, gmem, align<16>, "(?,?):(?{div=8},1)">
!tile = !cute.composed_layout<"S<3,4,3> o 0 o (512,64):(64,1)">
func.func @rest_of_several_boxes(%A: !mat, %t: !tile) {
  // expected-error @+1 {{expected a box that goes through all 512 elements of a tile along mode 0, found one of 256; take smaller tiles, or leave `rest` out}}
  %load, %c = cute_nvgpu.atom.make_tma_load(%A, %t) rest 0
  return
}

// -----

!bars = !cute.memref<i64, smem, align<8>, "4:1">
!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, swizzle = 128>
!tile = !cute.coord_tensor<"(?,?)", "(128,64):(1@1,1@0)">
!sA = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(128,64):(64,1)">
func.func @rest_beside_a_barrier(%load: !load, %t: !tile, %s: !sA, %b: !bars, %i: i32) {
  // expected-error @+1 {{expected no rest(%rows, %missing) beside an mbarrier; say on the mbarrier how many bytes the atom brings}}
  cute_nvgpu.tma_load(%load, [%t], %s) on %b[%i] rest(%i, %i) : (!load, [!tile], !sA), !bars
  return
}

// -----

!mat = !cute.memref<i4, gmem, align<16>, "(32,32):(32,1)">
func.func @half_bytes(%A: !mat) {
  // expected-error @+1 {{expected elements of 8, 16, 32 or 64 bits, which a tensor map has, found i4; move several of them as one element of 8 bits}}
  %load, %c = cute_nvgpu.atom.make_tma_load(%A, "(32,32):(32,1)")
  return
}

// -----

!mat = !cute.memref<i32, gmem, align<16>, "(?,?):(?{div=4},1)">
func.func @nan_of_integers(%A: !mat) {
  %t = cute.static "(8,8):(8,1)"
  // expected-error @below {{expected floats of 16, 32 or 64 bits, whose elements outside of the tensor TMA makes NaN, found i32; leave oob_fill out: they arrive as zeros}}
  %load, %c = cute_nvgpu.atom.make_tma_load(%A, %t) oob_fill "nan"
  return
}

// -----

!mat = !cute.memref<f32, gmem, align<16>, "(?,?):(?{div=4},1)">
func.func @other_fill(%A: !mat) {
  %t = cute.static "(8,8):(8,1)"
  // expected-error @below {{expected oob_fill "zero" or "nan", found "one"}}
  %load, %c = cute_nvgpu.atom.make_tma_load(%A, %t) oob_fill "one"
  return
}

// -----

!mat = !cute.memref<f32, gmem, align<16>, "(?,?):(?{div=4},1)">
func.func @other_promotion(%A: !mat) {
  %t = cute.static "(8,8):(8,1)"
  // expected-error @below {{expected an l2_promotion of 0, 64, 128 or 256 bytes, found 32}}
  %store, %c = cute_nvgpu.atom.make_tma_store(%A, %t) l2_promotion 32
  return
}
