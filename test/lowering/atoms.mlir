// Atoms become the instructions of their tables.
//
// RUN: cute-opt %s --cute-to-nvvm --split-input-file | FileCheck %s

!copy = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"(32,8):(8,1)">, tiler_mn = <"[256:1]">>
!async = !cute.tiled_copy<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, layout_copy_tv = <"(32,8):(8,1)">, tiler_mn = <"[256:1]">>
!g = !cute.memref<f16, gmem, align<16>, "((8,1)):((1,0))">
!s = !cute.memref<f16, smem, align<16>, "((8,1)):((1,0))">

// The policy is an operand of what touches global memory, and of nothing else.
gpu.module @state {
  // CHECK-LABEL: gpu.func @policy
  // CHECK-SAME:    (%[[A:.*]]: !llvm.ptr<1> {{.*}}, %[[P:.*]]: i64, %[[I:.*]]: i1)
  gpu.func @policy(%a: !g, %p: i64, %i: i1) kernel {
    %s = cute.memref.alloca() {offset = 0 : i64} : !s
    %atom = cute.make_atom() : () -> !cute_nvgpu.atom.universal_copy<f16, 128 b>
    %set = cute_nvgpu.atom.set_value(%atom, %p : i64) {field = #cute_nvgpu.atom_copy_field_universal<cache_policy>} : !cute_nvgpu.atom.universal_copy<f16, 128 b>
    %copy = cute.make_tiled_copy(%set) : !copy
    %plain = cute.make_tiled_copy(%atom) : !copy
    // CHECK: llvm.inline_asm has_side_effects "ld.global.L2::cache_hint.v4.b32 {$0, $1, $2, $3}, [$4], $5;", "=r,=r,=r,=r,l,l,~{memory}" %[[A]], %[[P]]
    %v = cute.atom_load(%copy, %a) at [0] : (!copy, !g) -> vector<8xf16>
    // CHECK: llvm.store {{.*}} : vector<4xi32>, !llvm.ptr<3>
    cute.atom_store(%copy, %v, %s) at [0] : (!copy, vector<8xf16>, !s)
    // The atom that was set from has none.
    // CHECK: llvm.load {{.*}} : !llvm.ptr<1> -> vector<4xi32>
    %w = cute.atom_load(%plain, %a) at [0] : (!copy, !g) -> vector<8xf16>
    // CHECK: llvm.inline_asm has_side_effects "st.global.L2::cache_hint.v4.b32 [$0], {$1, $2, $3, $4}, $5;", "l,r,r,r,r,l,~{memory}"
    cute.atom_store(%copy, %w, %a) at [0] : (!copy, vector<8xf16>, !g)
    %ca = cute.make_atom(%p) : (i64) -> !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
    %async = cute.make_tiled_copy(%ca) : !async
    // CHECK: llvm.inline_asm has_side_effects "cp.async.cg.shared.global.L2::cache_hint [$0], [$1], 16, $2;", "l,l,l,~{memory}" %{{.*}}, %[[A]], %[[P]]
    cute.atom_copy(%async, %a, %s) at [0] : (!async, !g, !s)
    // CHECK: %[[BYTES:.*]] = arith.select %[[I]]
    // CHECK: llvm.inline_asm has_side_effects "cp.async.cg.shared.global.L2::cache_hint [$0], [$1], 16, $2, $3;", "l,l,r,l,~{memory}" %{{.*}}, %[[A]], %[[BYTES]], %[[P]]
    cute.atom_copy(%async, %a, %s) at [0] if %i : (!async, !g, !s)
    // What was set is what is read.
    %got = cute_nvgpu.atom.get_value(%copy : !copy) {field = #cute_nvgpu.atom_copy_field_universal<cache_policy>} : i64
    // CHECK: arith.addi %[[P]], %[[P]]
    %used = arith.addi %got, %got : i64
    gpu.return
  }
}

// -----

!stsm = !cute.tiled_copy<!cute_nvgpu.atom.stsm<f16, mode = <"(8,8)">, num_matrices = 2, t>, layout_copy_tv = <"((4,8),(2,2)):((16,1),(8,64))">, tiler_mn = <"[8:1;16:1]">>
!movm = !cute.tiled_copy<!cute_nvgpu.atom.movm<f16, mode = <"(8,8)">, num_matrices = 1, t>, layout_copy_tv = <"((4,8),2):((16,1),8)">, tiler_mn = <"[8:1;8:1]">>
!s = !cute.memref<f16, smem, align<16>, "((8,1)):((1,0))">

gpu.module @matrices {
  // CHECK-LABEL: gpu.func @store
  gpu.func @store(%v: vector<4xf16>, %w: vector<2xf16>) kernel {
    %s = cute.memref.alloca() {offset = 0 : i64} : !s
    %a = cute.make_atom() : () -> !cute_nvgpu.atom.stsm<f16, mode = <"(8,8)">, num_matrices = 2, t>
    %copy = cute.make_tiled_copy(%a) : !stsm
    // CHECK: nvvm.stmatrix %{{.*}}, %{{.*}}, %{{.*}} {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<col>
    cute.atom_store(%copy, %v, %s) at [0] : (!stsm, vector<4xf16>, !s)
    %m = cute.make_atom() : () -> !cute_nvgpu.atom.movm<f16, mode = <"(8,8)">, num_matrices = 1, t>
    %move = cute.make_tiled_copy(%m) : !movm
    // CHECK: llvm.inline_asm has_side_effects "movmatrix.sync.aligned.m8n8.trans.b16 $0, $1;", "=r,r"
    %t = cute.atom_move(%move, %w) : (!movm, vector<2xf16>) -> vector<2xf16>
    gpu.return
  }
}

// -----

!volta = !cute.tiled_mma<!cute_nvgpu.sm70.mma<8x8x4, ab_major = (mn, k), elem_type = (f16, f16, f16)>, atom_layout_MNK = <"(2,2,1):(1,2,0)">, permutation_MNK = <"[_;_;_]">>
!sat = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x32, elem_type = (ui8, i8, i32) int_overflow = satfinite>, atom_layout_MNK = <"(1,1,1):(0,0,0)">, permutation_MNK = <"[_;_;_]">>
!fp8 = !cute.tiled_mma<!cute_nvgpu.sm89.mma<16x8x32, elem_type = (f8E4M3FN, f8E5M2, f16)>, atom_layout_MNK = <"(1,1,1):(0,0,0)">, permutation_MNK = <"[_;_;_]">>
!f64 = !cute.tiled_mma<!cute_nvgpu.sm90.warp_mma<16x8x4, elem_type = (f64, f64, f64)>, atom_layout_MNK = <"(1,1,1):(0,0,0)">, permutation_MNK = <"[_;_;_]">>
!fma = !cute.tiled_mma<!cute_nvgpu.atom.universal_fma<1x1x1, (f16, f16) -> f32>, atom_layout_MNK = <"(1,1,1):(0,0,0)">, permutation_MNK = <"[_;_;_]">>

// CHECK: gpu.module @products [#nvvm.target<chip = "sm_90a">] attributes {cute.ptx = 87 : i64}
gpu.module @products [#nvvm.target<chip = "sm_90a">] {
  // CHECK-LABEL: gpu.func @mma
  gpu.func @mma(%a: vector<4xf16>, %c: vector<8xf16>, %i: vector<16xi8>, %j: vector<8xi8>, %k: vector<4xi32>, %h: vector<4xf16>,
                %x: vector<2xf64>, %y: vector<1xf64>, %z: vector<4xf64>, %p: vector<1xf16>, %q: vector<1xf32>) kernel {
    %0 = cute.static : !volta
    // Both by columns: A's neighbours are along M, B's along K.
    // CHECK: nvvm.mma.sync A[{{.*}}, {{.*}}] B[{{.*}}, {{.*}}] C[{{.*}}, {{.*}}, {{.*}}, {{.*}}] {layoutA = #nvvm.mma_layout<col>, layoutB = #nvvm.mma_layout<col>
    %1 = cute.atom_mma(%0, %a, %a, %c) : (!volta, vector<4xf16>, vector<4xf16>, vector<8xf16>) -> vector<8xf16>
    %2 = cute.static : !sat
    // CHECK: nvvm.mma.sync {{.*}}intOverflowBehavior = #nvvm.mma_int_overflow<satfinite>{{.*}}multiplicandAPtxType = #nvvm.mma_type<u8>, multiplicandBPtxType = #nvvm.mma_type<s8>
    %3 = cute.atom_mma(%2, %i, %j, %k) : (!sat, vector<16xi8>, vector<8xi8>, vector<4xi32>) -> vector<4xi32>
    %4 = cute.static : !fp8
    // CHECK: llvm.call_intrinsic "llvm.nvvm.mma.m16n8k32.row.col.f16.e4m3.e5m2.f16"
    %5 = cute.atom_mma(%4, %i, %j, %h) : (!fp8, vector<16xi8>, vector<8xi8>, vector<4xf16>) -> vector<4xf16>
    %6 = cute.static : !f64
    // CHECK: llvm.call_intrinsic "llvm.nvvm.mma.m16n8k4.row.col.f64"
    %7 = cute.atom_mma(%6, %x, %y, %z) : (!f64, vector<2xf64>, vector<1xf64>, vector<4xf64>) -> vector<4xf64>
    %8 = cute.static : !fma
    // CHECK-COUNT-2: llvm.fpext
    // CHECK: llvm.intr.fma({{.*}}) : (f32, f32, f32) -> f32
    %9 = cute.atom_mma(%8, %p, %p, %q) : (!fma, vector<1xf16>, vector<1xf16>, vector<1xf32>) -> vector<1xf32>
    gpu.return
  }
}
