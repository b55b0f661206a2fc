// MMA atoms, tiled MMAs, partitions, fragments and products.
//
// RUN: cute-opt %s --split-input-file | cute-opt --split-input-file | FileCheck %s
// RUN: cute-opt %s --split-input-file --mlir-print-op-generic | cute-opt --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @atoms(
// CHECK: cute.make_atom() : () -> !cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >
// CHECK: cute.make_atom() : () -> !cute_nvgpu.sm80.mma<16x8x16, elem_type = (bf16, bf16, f32) >
func.func @atoms() {
  %atom = cute.make_atom() : () -> !cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >
  %atom_0 = cute.make_atom() : () -> !cute_nvgpu.sm80.mma<16x8x16, elem_type = (bf16, bf16, f32) >
  return
}

// -----

// CHECK-LABEL: func.func @universal_fma(
// CHECK: cute.make_atom() : () -> !cute_nvgpu.atom.universal_fma<1x1x1, (f32, f32) -> f32 >
func.func @universal_fma() {
  %atom = cute.make_atom() : () -> !cute_nvgpu.atom.universal_fma<1x1x1, (f32, f32) -> f32 >
  return
}

// -----

// CHECK-LABEL: func.func @tiled(
// CHECK: cute.make_atom() : () -> !cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >
// CHECK: cute.make_tiled_mma({{%.+}}) : !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(2,2,1):(1,2,0)">, permutation_MNK = <"[32:1;32:1;16:1]">>
// CHECK: return {{%.+}} : !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(2,2,1):(1,2,0)">, permutation_MNK = <"[32:1;32:1;16:1]">>
!mma_f16_f16_f32_16x8x16_ = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(2,2,1):(1,2,0)">, permutation_MNK = <"[32:1;32:1;16:1]">>
func.func @tiled() -> !mma_f16_f16_f32_16x8x16_ {
  %atom = cute.make_atom() : () -> !cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >
  %0 = cute.make_tiled_mma(%atom) : !mma_f16_f16_f32_16x8x16_
  return %0 : !mma_f16_f16_f32_16x8x16_
}

// -----

// CHECK-LABEL: func.func @tiled_plain(
// Without a permutation.
!mma_bf16_bf16_f32_16x8x16_ = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (bf16, bf16, f32) >, atom_layout_MNK = <"(4,1,1):(1,0,0)">>
func.func @tiled_plain(%m: !mma_bf16_bf16_f32_16x8x16_) {
  return
}

// -----

// CHECK-LABEL: func.func @tiled_fma(
// CHECK: cute.make_coord({{%.+}}) : (i32) -> !cute.coord<"?">
// CHECK: cute.tiled.mma.partition C ({{%.+}}, {{%.+}}, {{%.+}}) : (!cute.tiled_mma<!cute_nvgpu.atom.universal_fma<1x1x1, (f32, f32) -> f32 >, atom_layout_MNK = <"(16,16,1):(16,1,0)">, permutation_MNK = <"[(16,4):(4,1);(16,4):(4,1);_]">>, !cute.memref<f32, gmem, align<16>, "(128,128):(?{i64 div=256},1)">, !cute.coord<"?">) -> !cute.memref<f32, gmem, align<16>, "(1,(4,2),(4,2)):(0,(?{i64 div=256},?{i64 div=16384}),(1,64))">
!mma_f32_f32_f32_1x1x1_ = !cute.tiled_mma<!cute_nvgpu.atom.universal_fma<1x1x1, (f32, f32) -> f32 >, atom_layout_MNK = <"(16,16,1):(16,1,0)">, permutation_MNK = <"[(16,4):(4,1);(16,4):(4,1);_]">>
func.func @tiled_fma(%m: !mma_f32_f32_f32_1x1x1_, %g: !cute.memref<f32, gmem, align<16>, "(128,128):(?{i64 div=256},1)">, %t: i32) {
  %coord = cute.make_coord(%t) : (i32) -> !cute.coord<"?">
  %ptn_C = cute.tiled.mma.partition C (%m, %g, %coord) : (!mma_f32_f32_f32_1x1x1_, !cute.memref<f32, gmem, align<16>, "(128,128):(?{i64 div=256},1)">, !cute.coord<"?">) -> !cute.memref<f32, gmem, align<16>, "(1,(4,2),(4,2)):(0,(?{i64 div=256},?{i64 div=16384}),(1,64))">
  return
}

// -----

// CHECK-LABEL: func.func @partitions(
// CHECK: cute.make_coord({{%.+}}) : (i32) -> !cute.coord<"?">
// CHECK: cute.tiled.mma.partition A ({{%.+}}, {{%.+}}, {{%.+}}) : (!cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(2,2,1):(1,2,0)">, permutation_MNK = <"[32:1;32:1;16:1]">>, !cute.memref<f16, smem, align<1024>, "(128,32):(32,1)">, !cute.coord<"?">) -> !cute.memref<f16, smem, align<4>, "((2,2,2),4,2):((1,256,8),1024,16)">
// CHECK: cute.tiled.mma.partition B ({{%.+}}, {{%.+}}, {{%.+}}) : (!cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(2,2,1):(1,2,0)">, permutation_MNK = <"[32:1;32:1;16:1]">>, !cute.memref<f16, smem, align<1024>, "(128,32):(32,1)">, !cute.coord<"?">) -> !cute.memref<f16, smem, align<4>, "((2,2),8,2):((1,8),512,16)">
// CHECK: cute.tiled.mma.partition C ({{%.+}}, {{%.+}}, {{%.+}}) : (!cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(2,2,1):(1,2,0)">, permutation_MNK = <"[32:1;32:1;16:1]">>, !cute.memref<f16, gmem, align<16>, "(128,128):(?{i64 div=8},1)">, !cute.coord<"?">) -> !cute.memref<f16, gmem, align<4>, "((2,2),4,8):((1,?{i64 div=64}),?{i64 div=256},16)">
!mma_f16_f16_f32_16x8x16_ = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(2,2,1):(1,2,0)">, permutation_MNK = <"[32:1;32:1;16:1]">>
func.func @partitions(%m: !mma_f16_f16_f32_16x8x16_, %s: !cute.memref<f16, smem, align<1024>, "(128,32):(32,1)">, %c: !cute.memref<f16, gmem, align<16>, "(128,128):(?{i64 div=8},1)">, %t: i32) {
  %coord = cute.make_coord(%t) : (i32) -> !cute.coord<"?">
  %ptn_A = cute.tiled.mma.partition A (%m, %s, %coord) : (!mma_f16_f16_f32_16x8x16_, !cute.memref<f16, smem, align<1024>, "(128,32):(32,1)">, !cute.coord<"?">) -> !cute.memref<f16, smem, align<4>, "((2,2,2),4,2):((1,256,8),1024,16)">
  %ptn_B = cute.tiled.mma.partition B (%m, %s, %coord) : (!mma_f16_f16_f32_16x8x16_, !cute.memref<f16, smem, align<1024>, "(128,32):(32,1)">, !cute.coord<"?">) -> !cute.memref<f16, smem, align<4>, "((2,2),8,2):((1,8),512,16)">
  %ptn_C = cute.tiled.mma.partition C (%m, %c, %coord) : (!mma_f16_f16_f32_16x8x16_, !cute.memref<f16, gmem, align<16>, "(128,128):(?{i64 div=8},1)">, !cute.coord<"?">) -> !cute.memref<f16, gmem, align<4>, "((2,2),4,8):((1,?{i64 div=64}),?{i64 div=256},16)">
  return
}

// -----

// CHECK-LABEL: func.func @shapes(
// CHECK: cute.make_shape() : () -> !cute.shape<"(128,128)">
// CHECK: cute.tiled.mma.partition_shape C ({{%.+}}, {{%.+}}) : (!cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(2,2,1):(1,2,0)">, permutation_MNK = <"[32:1;32:1;16:1]">>, !cute.shape<"(128,128)">) -> !cute.shape<"((2,2),4,8)">
!mma_f16_f16_f32_16x8x16_ = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(2,2,1):(1,2,0)">, permutation_MNK = <"[32:1;32:1;16:1]">>
func.func @shapes(%m: !mma_f16_f16_f32_16x8x16_) {
  %shape = cute.make_shape() : () -> !cute.shape<"(128,128)">
  %0 = cute.tiled.mma.partition_shape C (%m, %shape) : (!mma_f16_f16_f32_16x8x16_, !cute.shape<"(128,128)">) -> !cute.shape<"((2,2),4,8)">
  return
}

// -----

// CHECK-LABEL: func.func @fragments(
// CHECK: cute.mma.make_fragment A ({{%.+}}, {{%.+}}) : (!cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(2,2,1):(1,2,0)">, permutation_MNK = <"[32:1;32:1;16:1]">>, !cute.memref<f16, smem, align<4>, "((2,2,2),4,2):((1,256,?{div=8}),1024,?{div=16})">) -> !cute.memref<f16, rmem, align<16>, "((2,2,2),4,2):((1,2,4),8,32)">
// CHECK: cute.mma.make_fragment B ({{%.+}}, {{%.+}}) : (!cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(2,2,1):(1,2,0)">, permutation_MNK = <"[32:1;32:1;16:1]">>, !cute.memref<f16, smem, align<4>, "((2,2),8,2):((1,?{div=8}),512,?{div=16})">) -> !cute.memref<f16, rmem, align<8>, "((2,2),8,2):((1,2),4,32)">
!mma_f16_f16_f32_16x8x16_ = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(2,2,1):(1,2,0)">, permutation_MNK = <"[32:1;32:1;16:1]">>
func.func @fragments(%m: !mma_f16_f16_f32_16x8x16_, %a: !cute.memref<f16, smem, align<4>, "((2,2,2),4,2):((1,256,?{div=8}),1024,?{div=16})">, %b: !cute.memref<f16, smem, align<4>, "((2,2),8,2):((1,?{div=8}),512,?{div=16})">) {
  %frg_A = cute.mma.make_fragment A (%m, %a) : (!mma_f16_f16_f32_16x8x16_, !cute.memref<f16, smem, align<4>, "((2,2,2),4,2):((1,256,?{div=8}),1024,?{div=16})">) -> !cute.memref<f16, rmem, align<16>, "((2,2,2),4,2):((1,2,4),8,32)">
  %frg_B = cute.mma.make_fragment B (%m, %b) : (!mma_f16_f16_f32_16x8x16_, !cute.memref<f16, smem, align<4>, "((2,2),8,2):((1,?{div=8}),512,?{div=16})">) -> !cute.memref<f16, rmem, align<8>, "((2,2),8,2):((1,2),4,32)">
  return
}

// -----

// CHECK-LABEL: func.func @product(
// CHECK: cute.gemm({{%.+}}, {{%.+}}, {{%.+}}, {{%.+}}, {{%.+}}) : (!cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(2,2,1):(1,2,0)">, permutation_MNK = <"[32:1;32:1;16:1]">>, !cute.memref<f32, rmem, align<16>, "((2,2),4,8):((1,2),4,16)">, !cute.memref<f16, rmem, align<16>, "((2,2,2),4):((1,2,4),8)">, !cute.memref<f16, rmem, align<8>, "((2,2),8):((1,2),4)">, !cute.memref<f32, rmem, align<16>, "((2,2),4,8):((1,2),4,16)">)
!mma_f16_f16_f32_16x8x16_ = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(2,2,1):(1,2,0)">, permutation_MNK = <"[32:1;32:1;16:1]">>
func.func @product(%m: !mma_f16_f16_f32_16x8x16_, %c: !cute.memref<f32, rmem, align<16>, "((2,2),4,8):((1,2),4,16)">, %a: !cute.memref<f16, rmem, align<16>, "((2,2,2),4):((1,2,4),8)">, %b: !cute.memref<f16, rmem, align<8>, "((2,2),8):((1,2),4)">) {
  cute.gemm(%m, %c, %a, %b, %c) : (!mma_f16_f16_f32_16x8x16_, !cute.memref<f32, rmem, align<16>, "((2,2),4,8):((1,2),4,16)">, !cute.memref<f16, rmem, align<16>, "((2,2,2),4):((1,2,4),8)">, !cute.memref<f16, rmem, align<8>, "((2,2),8):((1,2),4)">, !cute.memref<f32, rmem, align<16>, "((2,2),4,8):((1,2),4,16)">)
  return
}

// -----

// CHECK-LABEL: func.func @fragments_fma(
// CHECK: cute.mma.make_fragment A ({{%.+}}, {{%.+}}) : (!cute.tiled_mma<!cute_nvgpu.atom.universal_fma<1x1x1, (f32, f32) -> f32 >, atom_layout_MNK = <"(16,16,1):(16,1,0)">, permutation_MNK = <"[(16,4):(4,1);(16,4):(4,1);_]">>, !cute.memref<f32, smem, align<16>, "(1,(4,2),8):(0,(1,64),128)">) -> !cute.memref<f32, rmem, "(1,(4,2),8):(0,(1,4),8)">
// A fragment of the universal FMA: one f32 a value mode, so no alignment beyond the element's own.
!mma_f32_f32_f32_1x1x1_ = !cute.tiled_mma<!cute_nvgpu.atom.universal_fma<1x1x1, (f32, f32) -> f32 >, atom_layout_MNK = <"(16,16,1):(16,1,0)">, permutation_MNK = <"[(16,4):(4,1);(16,4):(4,1);_]">>
func.func @fragments_fma(%m: !mma_f32_f32_f32_1x1x1_, %a: !cute.memref<f32, smem, align<16>, "(1,(4,2),8):(0,(1,64),128)">) {
  %frg_A = cute.mma.make_fragment A (%m, %a) : (!mma_f32_f32_f32_1x1x1_, !cute.memref<f32, smem, align<16>, "(1,(4,2),8):(0,(1,64),128)">) -> !cute.memref<f32, rmem, "(1,(4,2),8):(0,(1,4),8)">
  return
}
