// What atoms refuse, and what they say instead.
//
// RUN: cute-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{a sm80.mma of the table, one of 16x8x8 (f16, f16, f32), 16x8x16 (f16, f16, f32), found 16x8x15 (f16, f16, f32)}}
func.func private @shape(!cute_nvgpu.sm80.mma<16x8x15, elem_type = (f16, f16, f32)>)

// -----

// expected-error @below {{found 16x8x16 (f16, bf16, f32)}}
func.func private @mixed(!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, bf16, f32)>)

// -----

// expected-error @below {{no atom knows the element type index}}
func.func private @element(!cute_nvgpu.sm80.mma<16x8x16, elem_type = (index, f16, f32)>)

// -----

// expected-error @below {{expected a shape MxNxK, found 2 extents}}
func.func private @rank(!cute_nvgpu.sm80.mma<16x8, elem_type = (f16, f16, f32)>)

// -----

// expected-error @below {{expected integers of 8 or 4 bits to saturate, of which SM80_16x8x16_F32F16F16F32_TN has none}}
func.func private @saturated(!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) int_overflow = satfinite>)

// -----

// expected-error @below {{expected int_overflow = wrapped or satfinite, found 'saturate'}}
func.func private @overflow(!cute_nvgpu.sm80.mma<16x8x32, elem_type = (i8, i8, i32) int_overflow = saturate>)

// -----

// Bits are multiplied in one of two ways.
// expected-error @below {{found 16x8x256 (i1, i1, i32)}}
func.func private @bits(!cute_nvgpu.sm80.mma<16x8x256, elem_type = (i1, i1, i32)>)

// -----

// expected-error @below {{expected ab_major of k or mn, found 'm'}}
func.func private @major(!cute_nvgpu.sm70.mma<8x8x4, ab_major = (m, k), elem_type = (f16, f16, f32)>)

// -----

// expected-error @below {{a sm70.mma of the table, one of 8x8x4 (f16, f16, f16) ab_major (k, k)}}
func.func private @volta(!cute_nvgpu.sm70.mma<8x8x4, ab_major = (k, k), elem_type = (bf16, bf16, f32)>)

// -----

// expected-error @below {{a sm75.mma of the table, one of 8x8x16 (i8, i8, i32), found 8x8x16 (ui8, ui8, i32)}}
func.func private @turing(!cute_nvgpu.sm75.mma<8x8x16, elem_type = (ui8, ui8, i32)>)

// -----

// expected-error @below {{a sm89.mma of the table}}
func.func private @ada(!cute_nvgpu.sm89.mma<16x8x16, elem_type = (f8E4M3FN, f8E4M3FN, f32)>)

// -----

// expected-error @below {{one of 16x8x4 (f64, f64, f64), 16x8x8 (f64, f64, f64), 16x8x16 (f64, f64, f64), found 8x8x4}}
func.func private @doubles(!cute_nvgpu.sm90.warp_mma<8x8x4, elem_type = (f64, f64, f64)>)

// -----

// expected-error @below {{expected neg = a, b or ab, found 'c'}}
func.func private @wgmma_sign(!cute_nvgpu.sm90.mma<64x128x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss neg = c>)

// -----

// expected-error @below {{expected floating-point numbers to change the signs of, found (i8, i8, i32)}}
func.func private @wgmma_integers(!cute_nvgpu.sm90.mma<64x128x32, ab_major = (k, k), elem_type = (i8, i8, i32), frag_kind = ss neg = a>)

// -----

// expected-error @below {{expected types of sm90.mma, of which single bits (PTX ISA, wgmma.mma_async of .b1) have no atom here, found (i1, i1, i32); take !cute_nvgpu.sm80.mma<16x8x256, elem_type = (i1, i1, i32) binary_op = and>, or xor}}
func.func private @wgmma_bits(!cute_nvgpu.sm90.mma<64x128x256, ab_major = (k, k), elem_type = (i1, i1, i32), frag_kind = ss>)

// -----

// expected-error @below {{expected a type of the dialect, found '!cute_nvgpu.sm90.mma_sp'; sparse products (PTX ISA, mma.sp and wgmma.mma_async.sp) have no atom here: expand A, and take the dense one}}
func.func private @wgmma_sparse(!cute_nvgpu.sm90.mma_sp<64x128x32, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>)

// -----

// expected-error @below {{expected sm90.mma of 64xNx16, N a multiple of 8 up to 256, found 64x100x16}}
func.func private @wgmma(!cute_nvgpu.sm90.mma<64x100x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>)

// -----

// expected-error @below {{as only f16 and bf16 are transposed on the way, not tf32}}
func.func private @wgmma_major(!cute_nvgpu.sm90.mma<64x128x8, ab_major = (k, mn), elem_type = (tf32, tf32, f32), frag_kind = ss>)

// -----

// expected-error @below {{expected an A in registers with ab_major = (k, ...), found ab_major = (mn, ...)}}
func.func private @wgmma_registers(!cute_nvgpu.sm90.mma<64x128x16, ab_major = (mn, k), elem_type = (f16, f16, f32), frag_kind = rs>)

// -----

// expected-error @below {{expected frag_kind = ss or rs, found 'sr'}}
func.func private @wgmma_kind(!cute_nvgpu.sm90.mma<64x128x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = sr>)

// -----

// expected-error @below {{scaled by f8E8M0FNU of 32, found 16x8x32 (f8E4M3FN, f8E4M3FN, f32) scaled by f8E8M0FNU of 16}}
func.func private @scales(!cute_nvgpu.SM120.mma_bs<16x8x32, elem_type = (f8E4M3FN, f8E4M3FN, f32), sf_type = f8E8M0FNU, vec_size = 16>)

// -----

// expected-error @below {{a atom.universal_fma of the table, one of 1x1x1 (f16, f16, f16), 1x1x1 (f16, f16, f32)}}
func.func private @fma(!cute_nvgpu.atom.universal_fma<1x1x1, (f32, f32) -> f64 >)

// -----

// expected-error @below {{expected one of [8, 16, 32, 64, 128] bits, found 48; split the copy into widths that the instruction has}}
func.func private @width(!cute_nvgpu.atom.universal_copy<f16, 48 b>)

// -----

// expected-error @below {{expected a positive number of bits, found 0}}
func.func private @nothing(!cute_nvgpu.atom.universal_copy<f16, 0 b>)

// -----

// expected-error @below {{expected elements that UniversalCopy<16> moves whole, found elements of 32 bits}}
func.func private @narrow(!cute_nvgpu.atom.universal_copy<f32, 16 b>)

// -----

// expected-error @below {{expected one of [8, 16, 32, 64, 128] bits an element, found 4}}
func.func private @auto(!cute_nvgpu.atom.universal_copy<i4>)

// -----

// expected-error @below {{expected one of [4, 8, 16] bytes, found 2}}
func.func private @async(!cute_nvgpu.atom.simt_async_copy<f16, cache = always, 16 b>)

// -----

// expected-error @below {{cp.async copies 32, 64 or 128 bits, found 12}}
func.func private @async_bits(!cute_nvgpu.atom.simt_async_copy<i8, cache = always, 12 b>)

// -----

// expected-error @below {{expected mode = <"(8,8)">, found mode = <"(8,16)">}}
func.func private @stsm_mode(!cute_nvgpu.atom.stsm<f16, mode = <"(8,16)">, num_matrices = 4, n>)

// -----

// expected-error @below {{expected one of [1, 2, 4] matrices, found 3}}
func.func private @stsm_count(!cute_nvgpu.atom.stsm<f16, mode = <"(8,8)">, num_matrices = 3, n>)

// -----

// expected-error @below {{expected elements that SM90_U16x2_STSM_T moves whole, found elements of 32 bits}}
func.func private @stsm_wide(!cute_nvgpu.atom.stsm<f32, mode = <"(8,8)">, num_matrices = 1, t>)

// -----

// expected-error @below {{expected t, as movmatrix transposes}}
func.func private @movm_plain(!cute_nvgpu.atom.movm<f16, mode = <"(8,8)">, num_matrices = 1, n>)

// -----

// expected-error @below {{expected num_matrices = 1, as movmatrix has no more, found 2; repeat the atom}}
func.func private @movm_count(!cute_nvgpu.atom.movm<f16, mode = <"(8,8)">, num_matrices = 2, t>)

// -----

// expected-error @below {{expected the reduction add, found min}}
func.func private @red_min(!cute_nvgpu.atom.red<f32, min, 32 b>)

// -----

// expected-error @below {{expected f32, f16 or bf16 to add, found i32}}
func.func private @red_integers(!cute_nvgpu.atom.red<i32, add, 32 b>)

// -----

// expected-error @below {{expected one of [32, 64, 128] bits}}
func.func private @red_narrow(!cute_nvgpu.atom.red<f16, add, 16 b>)

// -----

!red = !cute_nvgpu.atom.red<f32, add, 64 b>
!reg = !cute.memref<f32, rmem, align<8>, "(2):(1)">
!smem = !cute.memref<f32, smem, align<8>, "(2):(1)">
func.func @red_into_shared_memory(%from: !reg, %to: !smem) {
  %red = cute.make_atom() : () -> !red
  // expected-error @below {{copies from rmem to smem with an atom that copies from rmem to gmem}}
  cute.copy(%red, %from, %to) : (!red, !reg, !smem)
  return
}

// -----

func.func @field(%policy: i64) {
  %atom = cute.make_atom() : () -> !cute_nvgpu.atom.universal_copy<f32>
  // expected-error @below {{expected a field of the atom's state, #cute_nvgpu.atom_copy_field_universal<cache_policy> : i64, found #cute_nvgpu.atom_copy_field_universal<tma_bar>}}
  %set = cute_nvgpu.atom.set_value(%atom, %policy : i64) {field = #cute_nvgpu.atom_copy_field_universal<tma_bar>} : !cute_nvgpu.atom.universal_copy<f32>
  return
}

// -----

// A field of another family.
func.func @family(%policy: i64) {
  %atom = cute.make_atom() : () -> !cute_nvgpu.atom.universal_copy<f32>
  // expected-error @below {{found #cute_nvgpu.atom_copy_field_simt_async<cache_policy>}}
  %set = cute_nvgpu.atom.set_value(%atom, %policy : i64) {field = #cute_nvgpu.atom_copy_field_simt_async<cache_policy>} : !cute_nvgpu.atom.universal_copy<f32>
  return
}

// -----

func.func @no_fields(%x: i64) {
  %atom = cute.make_atom() : () -> !cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>
  // expected-error @below {{expected a field of the atom's state, of which this atom has none}}
  %set = cute_nvgpu.atom.set_value(%atom, %x : i64) {field = #cute_nvgpu.atom_mma_field_sm90<accum_c>} : !cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>
  return
}

// -----

func.func @field_type(%x: i32) {
  %atom = cute.make_atom() : () -> !cute_nvgpu.atom.universal_copy<f32>
  // expected-error @below {{expected cache_policy to be of type i64, found i32}}
  %set = cute_nvgpu.atom.set_value(%atom, %x : i32) {field = #cute_nvgpu.atom_copy_field_universal<cache_policy>} : !cute_nvgpu.atom.universal_copy<f32>
  return
}

// -----

func.func @got(%atom: !cute_nvgpu.atom.universal_copy<f32>) {
  // expected-error @below {{expected cache_policy to be of type i64, found i32}}
  %got = cute_nvgpu.atom.get_value(%atom : !cute_nvgpu.atom.universal_copy<f32>) {field = #cute_nvgpu.atom_copy_field_universal<cache_policy>} : i32
  return
}

// -----

func.func @not_an_atom(%x: i64) {
  // expected-error @below {{expected an atom or what is tiled over one, found i64}}
  %got = cute_nvgpu.atom.get_value(%x : i64) {field = #cute_nvgpu.atom_copy_field_universal<cache_policy>} : i64
  return
}

// -----

func.func @initial(%x: i32) {
  // expected-error @below {{expected no state, or all of it, #cute_nvgpu.atom_copy_field_universal<cache_policy> : i64, found (i32)}}
  %atom = cute.make_atom(%x) : (i32) -> !cute_nvgpu.atom.universal_copy<f32>
  return
}

// -----

func.func @initial_of_none(%x: i32) {
  // expected-error @below {{expected no state, or all of it, of which this atom has none, found (i32)}}
  %atom = cute.make_atom(%x) : (i32) -> !cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>
  return
}

// -----

!stsm = !cute.tiled_copy<!cute_nvgpu.atom.stsm<f16, mode = <"(8,8)">, num_matrices = 1, n>, layout_copy_tv = <"(32,2):(2,1)">, tiler_mn = <"[8:1;8:1]">>
!part = !cute.memref<f16, gmem, align<16>, "((8,1),1,1):((1,0),0,0)">
func.func @spaces(%s: !stsm, %p: !part, %v: vector<2xf16>) {
  // expected-error @below {{copies from rmem to gmem with an atom that copies from rmem to smem}}
  cute.atom_store(%s, %v, %p) at [0, 0, 0] : (!stsm, vector<2xf16>, !part)
  return
}

// -----

!stsm = !cute.tiled_copy<!cute_nvgpu.atom.stsm<f16, mode = <"(8,8)">, num_matrices = 1, n>, layout_copy_tv = <"(32,2):(2,1)">, tiler_mn = <"[8:1;8:1]">>
!part = !cute.memref<f16, smem, align<8>, "((8,1),1,1):((1,0),0,0)">
func.func @alignment(%s: !stsm, %p: !part, %v: vector<2xf16>) {
  // expected-error @below {{the destination is accessed 16 bytes at a time but is aligned to 8 bytes; expected align<16>}}
  cute.atom_store(%s, %v, %p) at [0, 0, 0] : (!stsm, vector<2xf16>, !part)
  return
}

// -----

!stsm = !cute.tiled_copy<!cute_nvgpu.atom.stsm<f16, mode = <"(8,8)">, num_matrices = 1, n>, layout_copy_tv = <"(32,2):(2,1)">, tiler_mn = <"[8:1;8:1]">>
!part = !cute.memref<f16, smem, align<16>, "((8,1),1,1):((1,0),0,0)">
func.func @stored(%s: !stsm, %p: !part, %v: vector<8xf16>) {
  // expected-error @below {{expected a value of type vector<2xf16>, found vector<8xf16>}}
  cute.atom_store(%s, %v, %p) at [0, 0, 0] : (!stsm, vector<8xf16>, !part)
  return
}

// -----

!movm = !cute.tiled_copy<!cute_nvgpu.atom.movm<f16, mode = <"(8,8)">, num_matrices = 1, t>, layout_copy_tv = <"((4,8),2):((16,1),8)">, tiler_mn = <"[8:1;8:1]">>
func.func @moved(%m: !movm, %v: vector<4xf16>) {
  // expected-error @below {{expected a value of type vector<2xf16>}}
  %t = cute.atom_move(%m, %v) : (!movm, vector<4xf16>) -> vector<4xf16>
  return
}

// -----

!copy = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 32 b>, layout_copy_tv = <"(32,2):(2,1)">, tiler_mn = <"[64:1]">>
func.func @not_movm(%m: !copy, %v: vector<2xf16>) {
  // expected-error @below {{expected !cute_nvgpu.atom.movm; other atoms load, store or copy memory}}
  %t = cute.atom_move(%m, %v) : (!copy, vector<2xf16>) -> vector<2xf16>
  return
}

// -----

!auto = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f32>, layout_copy_tv = <"(32,4):(4,1)">, tiler_mn = <"[128:1]">>
!vec = !cute.memref<f32, gmem, align<16>, "((1,4)):((0,1))">
func.func @unaligned(%c: !auto, %g: !vec) {
  // expected-error @below {{moves 8 bytes at once from 4 bytes on in a tensor of align<16>; expected a multiple of 8}}
  %v = cute.atom_load(%c, %g) at [1] : (!auto, !vec) -> vector<2xf32>
  return
}

// -----

!auto = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f32>, layout_copy_tv = <"(32,4):(4,1)">, tiler_mn = <"[128:1]">>
!vec = !cute.memref<f32, gmem, align<16>, "((1,4)):((0,2))">
func.func @scattered(%c: !auto, %g: !vec) {
  // expected-error @below {{expected 2 elements side by side from 0 on, found that 1 is none of ((1,4)):((0,2))}}
  %v = cute.atom_load(%c, %g) at [0] : (!auto, !vec) -> vector<2xf32>
  return
}

// -----

!auto = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f32>, layout_copy_tv = <"(32,4):(4,1)">, tiler_mn = <"[128:1]">>
!vec = !cute.memref<f32, gmem, align<16>, "((1,8)):((0,1))">
func.func @wide(%c: !auto, %g: !vec) {
  // expected-error @below {{N a power of two and at most 4, found vector<8xf32>}}
  %v = cute.atom_load(%c, %g) at [0] : (!auto, !vec) -> vector<8xf32>
  return
}
