// Atoms, as CuTe DSL prints them where it has them: each type is read back as it is printed.
//
// RUN: cute-opt %s | cute-opt | FileCheck %s

// CHECK-LABEL: func.func @copies
func.func @copies(
  // CHECK-SAME: !cute_nvgpu.atom.universal_copy<f16, 128 b>
  %universal: !cute_nvgpu.atom.universal_copy<f16, 128 b>,
  // CHECK-SAME: !cute_nvgpu.atom.universal_copy<f32>
  %auto: !cute_nvgpu.atom.universal_copy<f32>,
  // CHECK-SAME: !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
  %cg: !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>,
  // CHECK-SAME: !cute_nvgpu.atom.simt_async_copy<f32, cache = always, 32 b>
  %ca: !cute_nvgpu.atom.simt_async_copy<f32, cache = always, 32 b>,
  // CHECK-SAME: !cute_nvgpu.atom.ldsm<val_type = bf16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, t>
  %ldsm: !cute_nvgpu.atom.ldsm<val_type = bf16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, t>,
  // CHECK-SAME: !cute_nvgpu.atom.stsm<f16, mode = <"(8,8)">, num_matrices = 2, n>
  %stsm: !cute_nvgpu.atom.stsm<f16, mode = <"(8,8)">, num_matrices = 2, n>,
  // CHECK-SAME: !cute_nvgpu.atom.movm<f16, mode = <"(8,8)">, num_matrices = 1, t>
  %movm: !cute_nvgpu.atom.movm<f16, mode = <"(8,8)">, num_matrices = 1, t>) {
  return
}

// CHECK-LABEL: func.func @products
func.func @products(
  // CHECK-SAME: !cute_nvgpu.atom.universal_fma<1x1x1, (f32, f32) -> f32 >
  %fma: !cute_nvgpu.atom.universal_fma<1x1x1, (f32, f32) -> f32 >,
  // CHECK-SAME: !cute_nvgpu.sm70.mma<8x8x4, ab_major = (k, mn), elem_type = (f16, f16, f32) >
  %sm70: !cute_nvgpu.sm70.mma<8x8x4, ab_major = (k, mn), elem_type = (f16, f16, f32)>,
  // CHECK-SAME: !cute_nvgpu.sm75.mma<8x8x16, elem_type = (i8, i8, i32) >
  %sm75: !cute_nvgpu.sm75.mma<8x8x16, elem_type = (i8, i8, i32) >,
  // CHECK-SAME: !cute_nvgpu.sm80.mma<16x8x16, elem_type = (bf16, bf16, f32) >
  %sm80: !cute_nvgpu.sm80.mma<16x8x16, elem_type = (bf16, bf16, f32) >,
  // CHECK-SAME: !cute_nvgpu.sm80.mma<16x8x32, elem_type = (i8, ui8, i32) int_overflow = satfinite>
  %satfinite: !cute_nvgpu.sm80.mma<16x8x32, elem_type = (i8, ui8, i32) int_overflow = satfinite>,
  // CHECK-SAME: !cute_nvgpu.sm80.mma<16x8x32, elem_type = (ui8, ui8, i32) >
  %wrapped: !cute_nvgpu.sm80.mma<16x8x32, elem_type = (ui8, ui8, i32) int_overflow = wrapped>,
  // CHECK-SAME: !cute_nvgpu.sm80.mma<16x8x64, elem_type = (i4, ui4, i32) >
  %s4: !cute_nvgpu.sm80.mma<16x8x64, elem_type = (i4, ui4, i32) >,
  // CHECK-SAME: !cute_nvgpu.sm80.mma<16x8x256, elem_type = (i1, i1, i32) binary_op = xor>
  %b1: !cute_nvgpu.sm80.mma<16x8x256, elem_type = (i1, i1, i32) binary_op = xor>,
  // CHECK-SAME: !cute_nvgpu.sm89.mma<16x8x32, elem_type = (f8E4M3FN, f8E5M2, f32) >
  %sm89: !cute_nvgpu.sm89.mma<16x8x32, elem_type = (f8E4M3FN, f8E5M2, f32) >,
  // CHECK-SAME: !cute_nvgpu.sm90.warp_mma<16x8x16, elem_type = (f64, f64, f64) >
  %f64: !cute_nvgpu.sm90.warp_mma<16x8x16, elem_type = (f64, f64, f64) >,
  // CHECK-SAME: !cute_nvgpu.sm90.mma<64x128x16, ab_major = (k, mn), elem_type = (f16, f16, f32), frag_kind = rs>
  %sm90: !cute_nvgpu.sm90.mma<64x128x16, ab_major = (k, mn), elem_type = (f16, f16, f32), frag_kind = rs>,
  // CHECK-SAME: !cute_nvgpu.sm90.mma<64x128x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss neg = ab>
  %neg: !cute_nvgpu.sm90.mma<64x128x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss neg = ab>,
  // CHECK-SAME: !cute_nvgpu.sm90.mma<64x64x32, ab_major = (k, k), elem_type = (i8, ui8, i32), frag_kind = rs int_overflow = satfinite>
  %saturated: !cute_nvgpu.sm90.mma<64x64x32, ab_major = (k, k), elem_type = (i8, ui8, i32), frag_kind = rs int_overflow = satfinite>,
  // CHECK-SAME: !cute_nvgpu.sm120.mma<16x8x32, elem_type = (f6E3M2FN, f4E2M1FN, f32) >
  %sm120: !cute_nvgpu.sm120.mma<16x8x32, elem_type = (f6E3M2FN, f4E2M1FN, f32) >,
  // CHECK-SAME: !cute_nvgpu.SM120.mma_bs<16x8x64, elem_type = (f4E2M1FN, f4E2M1FN, f32), sf_type = f8E4M3FN, vec_size = 16>
  %bs: !cute_nvgpu.SM120.mma_bs<16x8x64, elem_type = (f4E2M1FN, f4E2M1FN, f32), sf_type = f8E4M3FN, vec_size = 16>) {
  return
}

!wgmma = !cute_nvgpu.sm90.mma<64x128x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
!tiled = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f32>, layout_copy_tv = <"(32,4):(4,1)">, tiler_mn = <"[128:1]">>

// State: atoms are values.
// CHECK-LABEL: func.func @state
func.func @state(%policy: i64, %true: i1) -> i64 {
  // CHECK: %[[ATOM:.*]] = cute.make_atom() : () -> !cute_nvgpu.atom.universal_copy<f32>
  %atom = cute.make_atom() : () -> !cute_nvgpu.atom.universal_copy<f32>
  // CHECK: %[[SET:.*]] = cute_nvgpu.atom.set_value(%[[ATOM]], %{{.*}} : i64) {field = #cute_nvgpu.atom_copy_field_universal<cache_policy>} : !cute_nvgpu.atom.universal_copy<f32>
  %set = cute_nvgpu.atom.set_value(%atom, %policy : i64) {field = #cute_nvgpu.atom_copy_field_universal<cache_policy>} : !cute_nvgpu.atom.universal_copy<f32>
  // CHECK: %[[TILED:.*]] = cute.make_tiled_copy(%[[SET]])
  %tiled = cute.make_tiled_copy(%set) : !tiled
  // What is tiled over an atom has its state.
  // CHECK: %[[AGAIN:.*]] = cute_nvgpu.atom.set_value(%[[TILED]], %{{.*}} : i64) {field = #cute_nvgpu.atom_copy_field_universal<cache_policy>} : !cute.tiled_copy<
  %again = cute_nvgpu.atom.set_value(%tiled, %policy : i64) {field = #cute_nvgpu.atom_copy_field_universal<cache_policy>} : !tiled
  // CHECK: cute.make_atom(%{{.*}}) : (i1) -> !cute_nvgpu.sm90.mma<64x128x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
  %mma = cute.make_atom(%true) : (i1) -> !wgmma
  // CHECK: cute_nvgpu.atom.set_value(%{{.*}}, %{{.*}} : i1) {field = #cute_nvgpu.atom_mma_field_sm90<accum_c>} : !cute_nvgpu.sm90.mma<
  %mma2 = cute_nvgpu.atom.set_value(%mma, %true : i1) {field = #cute_nvgpu.atom_mma_field_sm90<accum_c>} : !wgmma
  // CHECK: cute_nvgpu.atom.get_value(%[[AGAIN]] : !cute.tiled_copy<{{.*}}>) {field = #cute_nvgpu.atom_copy_field_universal<cache_policy>} : i64
  %got = cute_nvgpu.atom.get_value(%again : !tiled) {field = #cute_nvgpu.atom_copy_field_universal<cache_policy>} : i64
  return %got : i64
}

!movm = !cute.tiled_copy<!cute_nvgpu.atom.movm<f16, mode = <"(8,8)">, num_matrices = 1, t>, layout_copy_tv = <"((4,8),2):((16,1),8)">, tiler_mn = <"[8:1;8:1]">>
!stsm = !cute.tiled_copy<!cute_nvgpu.atom.stsm<f16, mode = <"(8,8)">, num_matrices = 1, n>, layout_copy_tv = <"(32,2):(2,1)">, tiler_mn = <"[8:1;8:1]">>
!part = !cute.memref<f16, smem, align<16>, "((8,1),1,1):((1,0),0,0)">
!vec = !cute.memref<f32, gmem, align<16>, "((1,4)):((0,1))">

// CHECK-LABEL: func.func @values
func.func @values(%m: !movm, %s: !stsm, %t: !tiled, %p: !part, %g: !vec, %v: vector<2xf16>) {
  // CHECK: cute.atom_move(%{{.*}}, %{{.*}}) : ({{.*}}, vector<2xf16>) -> vector<2xf16>
  %moved = cute.atom_move(%m, %v) : (!movm, vector<2xf16>) -> vector<2xf16>
  // CHECK: cute.atom_store(%{{.*}}, %{{.*}}, %{{.*}}) at [0, 0, 0]
  cute.atom_store(%s, %moved, %p) at [0, 0, 0] : (!stsm, vector<2xf16>, !part)
  // As many elements as the vector has.
  // CHECK: cute.atom_load(%{{.*}}, %{{.*}}) at [2] : ({{.*}}) -> vector<2xf32>
  %two = cute.atom_load(%t, %g) at [2] : (!tiled, !vec) -> vector<2xf32>
  // CHECK: cute.atom_load(%{{.*}}, %{{.*}}) at [0] : ({{.*}}) -> vector<4xf32>
  %four = cute.atom_load(%t, %g) at [0] : (!tiled, !vec) -> vector<4xf32>
  cute.atom_store(%t, %four, %g) at [0] : (!tiled, vector<4xf32>, !vec)
  return
}

!fp8 = !cute.tiled_mma<!cute_nvgpu.sm89.mma<16x8x32, elem_type = (f8E4M3FN, f8E5M2, f32)>, atom_layout_MNK = <"(1,1,1):(0,0,0)">, permutation_MNK = <"[_;_;_]">>
!u8 = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x32, elem_type = (ui8, i8, i32)>, atom_layout_MNK = <"(1,1,1):(0,0,0)">, permutation_MNK = <"[_;_;_]">>
!tf32 = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x8, elem_type = (tf32, tf32, f32)>, atom_layout_MNK = <"(1,1,1):(0,0,0)">, permutation_MNK = <"[_;_;_]">>

// Vectors hold what registers do.
// CHECK-LABEL: func.func @registers
func.func @registers(%fp8: !fp8, %u8: !u8, %tf32: !tf32, %a: vector<16xi8>, %b: vector<8xi8>, %c: vector<4xf32>,
                     %i: vector<4xi32>, %x: vector<4xf32>, %y: vector<2xf32>) {
  // CHECK: cute.atom_mma({{.*}}) : ({{.*}}, vector<16xi8>, vector<8xi8>, vector<4xf32>) -> vector<4xf32>
  %0 = cute.atom_mma(%fp8, %a, %b, %c) : (!fp8, vector<16xi8>, vector<8xi8>, vector<4xf32>) -> vector<4xf32>
  // CHECK: cute.atom_mma({{.*}}) : ({{.*}}, vector<16xi8>, vector<8xi8>, vector<4xi32>) -> vector<4xi32>
  %1 = cute.atom_mma(%u8, %a, %b, %i) : (!u8, vector<16xi8>, vector<8xi8>, vector<4xi32>) -> vector<4xi32>
  // CHECK: cute.atom_mma({{.*}}) : ({{.*}}, vector<4xf32>, vector<2xf32>, vector<4xf32>) -> vector<4xf32>
  %2 = cute.atom_mma(%tf32, %x, %y, %c) : (!tf32, vector<4xf32>, vector<2xf32>, vector<4xf32>) -> vector<4xf32>
  return
}
