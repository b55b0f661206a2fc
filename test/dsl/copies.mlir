// Copy atoms, tiled copies, their partitions and calls.
//
// RUN: cute-opt %s --split-input-file | cute-opt --split-input-file | FileCheck %s
// RUN: cute-opt %s --split-input-file --mlir-print-op-generic | cute-opt --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @universal(
// CHECK: cute.make_atom() : () -> !cute_nvgpu.atom.universal_copy<f32>
// CHECK: cute.make_atom() : () -> !cute_nvgpu.atom.universal_copy<f16, 128 b>
// CHECK: cute.make_atom() : () -> !cute_nvgpu.atom.universal_copy<bf16, 16 b>
// CHECK: cute.make_atom() : () -> !cute_nvgpu.atom.universal_copy<i8, 32 b>
// CHECK: cute.make_atom() : () -> !cute_nvgpu.atom.universal_copy<i32, 64 b>
func.func @universal() {
  %atom = cute.make_atom() : () -> !cute_nvgpu.atom.universal_copy<f32>
  %atom_0 = cute.make_atom() : () -> !cute_nvgpu.atom.universal_copy<f16, 128 b>
  %atom_1 = cute.make_atom() : () -> !cute_nvgpu.atom.universal_copy<bf16, 16 b>
  %atom_2 = cute.make_atom() : () -> !cute_nvgpu.atom.universal_copy<i8, 32 b>
  %atom_3 = cute.make_atom() : () -> !cute_nvgpu.atom.universal_copy<i32, 64 b>
  return
}

// -----

// CHECK-LABEL: func.func @universal_without_width(
// CHECK: cute.make_atom() : () -> !cute_nvgpu.atom.universal_copy<f8E4M3FN>
func.func @universal_without_width() {
  %atom = cute.make_atom() : () -> !cute_nvgpu.atom.universal_copy<f8E4M3FN>
  return
}

// -----

// CHECK-LABEL: func.func @universal_eviction(
// CHECK: cute.make_atom() : () -> !cute_nvgpu.atom.universal_copy<f32, 32 b, l1_cache_eviction_priority=no_allocate>
func.func @universal_eviction() {
  %atom = cute.make_atom() : () -> !cute_nvgpu.atom.universal_copy<f32, 32 b, l1_cache_eviction_priority=no_allocate>
  return
}

// -----

// CHECK-LABEL: func.func @async(
// CHECK: cute.make_atom() : () -> !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
// CHECK: cute.make_atom() : () -> !cute_nvgpu.atom.simt_async_copy<f32, cache = always, 32 b>
func.func @async() {
  %atom = cute.make_atom() : () -> !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
  %atom_0 = cute.make_atom() : () -> !cute_nvgpu.atom.simt_async_copy<f32, cache = always, 32 b>
  return
}

// -----

// CHECK-LABEL: func.func @ldmatrix(
// CHECK: cute.make_atom() : () -> !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
// CHECK: cute.make_atom() : () -> !cute_nvgpu.atom.ldsm<val_type = bf16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, t>
func.func @ldmatrix() {
  %atom = cute.make_atom() : () -> !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
  %atom_0 = cute.make_atom() : () -> !cute_nvgpu.atom.ldsm<val_type = bf16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, t>
  return
}

// -----

// CHECK-LABEL: func.func @stmatrix(
// CHECK: cute.make_atom() : () -> !cute_nvgpu.atom.stsm<f16, mode = <"(8,8)">, num_matrices = 4, n>
// CHECK: cute.make_atom() : () -> !cute_nvgpu.atom.stsm<bf16, mode = <"(8,8)">, num_matrices = 4, t>
func.func @stmatrix() {
  %atom = cute.make_atom() : () -> !cute_nvgpu.atom.stsm<f16, mode = <"(8,8)">, num_matrices = 4, n>
  %atom_0 = cute.make_atom() : () -> !cute_nvgpu.atom.stsm<bf16, mode = <"(8,8)">, num_matrices = 4, t>
  return
}

// -----

// CHECK-LABEL: func.func @tiled_async(
// CHECK: cute.make_atom() : () -> !cute_nvgpu.atom.simt_async_copy<f32, cache = always, 128 b>
// CHECK: cute.make_tiled_copy({{%.+}}) : !cute.tiled_copy<!cute_nvgpu.atom.simt_async_copy<f32, cache = always, 128 b>, layout_copy_tv = <"(256,4):(4,1)">, tiler_mn = <"[128:1;8:1]">>
// CHECK: cute.make_coord({{%.+}}) : (i32) -> !cute.coord<"?">
// CHECK: cute.tiled.copy.partition_S({{%.+}}, {{%.+}}, {{%.+}}) : (!cute.tiled_copy<!cute_nvgpu.atom.simt_async_copy<f32, cache = always, 128 b>, layout_copy_tv = <"(256,4):(4,1)">, tiler_mn = <"[128:1;8:1]">>, !cute.memref<f32, gmem, align<16>, "(128,8,8):(1,256,2048)">, !cute.coord<"?">) -> !cute.memref<f32, gmem, align<16>, "((4,1),1,1,8):((1,0),0,0,2048)">
// CHECK: cute.make_coord({{%.+}}) : (i32) -> !cute.coord<"?">
// CHECK: cute.tiled.copy.partition_D({{%.+}}, {{%.+}}, {{%.+}}) : (!cute.tiled_copy<!cute_nvgpu.atom.simt_async_copy<f32, cache = always, 128 b>, layout_copy_tv = <"(256,4):(4,1)">, tiler_mn = <"[128:1;8:1]">>, !cute.memref<f32, smem, align<1024>, "(128,8,3):(1,128,1024)">, !cute.coord<"?">) -> !cute.memref<f32, smem, align<16>, "((4,1),1,1,3):((1,0),0,0,1024)">
!copy_ldgsts = !cute.tiled_copy<!cute_nvgpu.atom.simt_async_copy<f32, cache = always, 128 b>, layout_copy_tv = <"(256,4):(4,1)">, tiler_mn = <"[128:1;8:1]">>
func.func @tiled_async(%t: i32, %g: !cute.memref<f32, gmem, align<16>, "(128,8,8):(1,256,2048)">, %s: !cute.memref<f32, smem, align<1024>, "(128,8,3):(1,128,1024)">) {
  %atom = cute.make_atom() : () -> !cute_nvgpu.atom.simt_async_copy<f32, cache = always, 128 b>
  %0 = cute.make_tiled_copy(%atom) : !copy_ldgsts
  %coord = cute.make_coord(%t) : (i32) -> !cute.coord<"?">
  %src_partitioned = cute.tiled.copy.partition_S(%0, %g, %coord) : (!copy_ldgsts, !cute.memref<f32, gmem, align<16>, "(128,8,8):(1,256,2048)">, !cute.coord<"?">) -> !cute.memref<f32, gmem, align<16>, "((4,1),1,1,8):((1,0),0,0,2048)">
  %coord_0 = cute.make_coord(%t) : (i32) -> !cute.coord<"?">
  %dst_partitioned = cute.tiled.copy.partition_D(%0, %s, %coord_0) : (!copy_ldgsts, !cute.memref<f32, smem, align<1024>, "(128,8,3):(1,128,1024)">, !cute.coord<"?">) -> !cute.memref<f32, smem, align<16>, "((4,1),1,1,3):((1,0),0,0,1024)">
  return
}

// -----

// CHECK-LABEL: func.func @partition_gmem(
// CHECK: cute.make_coord({{%.+}}) : (i32) -> !cute.coord<"?">
// CHECK: cute.tiled.copy.partition_S({{%.+}}, {{%.+}}, {{%.+}}) : (!cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f32>, layout_copy_tv = <"((32,4),(4,4)):((64,4),(16,1))">, tiler_mn = <"[16:1;128:1]">>, !cute.memref<f32, gmem, "(16,128):(?{i64},1)">, !cute.coord<"?">) -> !cute.memref<f32, gmem, "((1,(4,4)),1,1):((0,(1,?{i64})),0,0)">
!copy_simt = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f32>, layout_copy_tv = <"((32,4),(4,4)):((64,4),(16,1))">, tiler_mn = <"[16:1;128:1]">>
func.func @partition_gmem(%t: i32, %copy: !copy_simt, %g: !cute.memref<f32, gmem, "(16,128):(?{i64},1)">) {
  %coord = cute.make_coord(%t) : (i32) -> !cute.coord<"?">
  %src_partitioned = cute.tiled.copy.partition_S(%copy, %g, %coord) : (!copy_simt, !cute.memref<f32, gmem, "(16,128):(?{i64},1)">, !cute.coord<"?">) -> !cute.memref<f32, gmem, "((1,(4,4)),1,1):((0,(1,?{i64})),0,0)">
  return
}

// -----

// CHECK-LABEL: func.func @partition_coordinates(
// CHECK: cute.make_coord({{%.+}}) : (i32) -> !cute.coord<"?">
// CHECK: cute.tiled.copy.partition_S({{%.+}}, {{%.+}}, {{%.+}}) : (!cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"((16,8),8):((64,1),8)">, tiler_mn = <"[8:1;128:1]">>, !cute.coord_tensor<"(?{div=128},?{div=128})", "(128,128):(1@0,1@1)">, !cute.coord<"?">) -> !cute.coord_tensor<"(?,?{div=8})", "((8,1),16,1):((1@1,0),8@0,0)">
!copy_simt = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"((16,8),8):((64,1),8)">, tiler_mn = <"[8:1;128:1]">>
func.func @partition_coordinates(%t: i32, %copy: !copy_simt, %c: !cute.coord_tensor<"(?{div=128},?{div=128})", "(128,128):(1@0,1@1)">) {
  %coord = cute.make_coord(%t) : (i32) -> !cute.coord<"?">
  %src_partitioned = cute.tiled.copy.partition_S(%copy, %c, %coord) : (!copy_simt, !cute.coord_tensor<"(?{div=128},?{div=128})", "(128,128):(1@0,1@1)">, !cute.coord<"?">) -> !cute.coord_tensor<"(?,?{div=8})", "((8,1),16,1):((1@1,0),8@0,0)">
  return
}

// -----

// CHECK-LABEL: func.func @retile(
// CHECK: cute.tiled.copy.retile({{%.+}}, {{%.+}}) : (!cute.tiled_copy<!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, layout_copy_tv = <"((4,8,2,2),((2,2,2),(1,1))):((64,1,16,0),((32,8,256),(0,0)))">, tiler_mn = <"[32:1;16:1]">>, !cute.memref<f16, rmem, align<16>, "((2,2,2),4,2):((1,2,4),8,32)">) -> !cute.memref<f16, rmem, align<16>, "((8,1),4,2):((1,0),8,32)">
!copy_ldsm_4_ = !cute.tiled_copy<!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, layout_copy_tv = <"((4,8,2,2),((2,2,2),(1,1))):((64,1,16,0),((32,8,256),(0,0)))">, tiler_mn = <"[32:1;16:1]">>
func.func @retile(%copy: !copy_ldsm_4_, %r: !cute.memref<f16, rmem, align<16>, "((2,2,2),4,2):((1,2,4),8,32)">) {
  %retiled = cute.tiled.copy.retile(%copy, %r) : (!copy_ldsm_4_, !cute.memref<f16, rmem, align<16>, "((2,2,2),4,2):((1,2,4),8,32)">) -> !cute.memref<f16, rmem, align<16>, "((8,1),4,2):((1,0),8,32)">
  return
}

// -----

// CHECK-LABEL: func.func @copy(
// CHECK: cute.copy({{%.+}}, {{%.+}}, {{%.+}}) : (!cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"((16,8),8):((64,1),8)">, tiler_mn = <"[8:1;128:1]">>, !cute.memref<f16, rmem, align<32>, "((8,1),(4)):((1,0),(8))">, !cute.memref<f16, gmem, align<16>, "((8,1),(4)):((1,0),(1024))">)
!copy_simt = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"((16,8),8):((64,1),8)">, tiler_mn = <"[8:1;128:1]">>
func.func @copy(%copy: !copy_simt, %r: !cute.memref<f16, rmem, align<32>, "((8,1),(4)):((1,0),(8))">, %g: !cute.memref<f16, gmem, align<16>, "((8,1),(4)):((1,0),(1024))">) {
  cute.copy(%copy, %r, %g) : (!copy_simt, !cute.memref<f16, rmem, align<32>, "((8,1),(4)):((1,0),(8))">, !cute.memref<f16, gmem, align<16>, "((8,1),(4)):((1,0),(1024))">)
  return
}

// -----

// CHECK-LABEL: func.func @copy_by_atom(
// CHECK: cute.make_atom() : () -> !cute_nvgpu.atom.universal_copy<f16, 128 b>
// CHECK: cute.copy({{%.+}}, {{%.+}}, {{%.+}}) : (!cute_nvgpu.atom.universal_copy<f16, 128 b>, !cute.memref<f16, smem, align<16>, "(8,4):(1,64)">, !cute.memref<f16, rmem, align<32>, "(8,4):(1,8)">)
func.func @copy_by_atom(%s: !cute.memref<f16, smem, align<16>, "(8,4):(1,64)">, %r: !cute.memref<f16, rmem, align<32>, "(8,4):(1,8)">) {
  %atom = cute.make_atom() : () -> !cute_nvgpu.atom.universal_copy<f16, 128 b>
  cute.copy(%atom, %s, %r) : (!cute_nvgpu.atom.universal_copy<f16, 128 b>, !cute.memref<f16, smem, align<16>, "(8,4):(1,64)">, !cute.memref<f16, rmem, align<32>, "(8,4):(1,8)">)
  return
}

// -----

// CHECK-LABEL: func.func @copy_predicated(
// CHECK: cute.copy({{%.+}}, {{%.+}}, {{%.+}}, {{%.+}}) : (!cute.tiled_copy<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, layout_copy_tv = <"((4,32),8):((256,1),32)">, tiler_mn = <"[32:1;32:1]">>, !cute.memref<f16, gmem, align<16>, "((8,1),(4)):((1,0),(4096))">, !cute.memref<f16, smem, align<16>, "((8,1),(4)):((1,0),(1024))">, !cute.memref<i8, rmem, align<32>, "(1,(4)):(4,(1))">)
!copy_ldgsts = !cute.tiled_copy<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, layout_copy_tv = <"((4,32),8):((256,1),32)">, tiler_mn = <"[32:1;32:1]">>
func.func @copy_predicated(%copy: !copy_ldgsts, %g: !cute.memref<f16, gmem, align<16>, "((8,1),(4)):((1,0),(4096))">, %s: !cute.memref<f16, smem, align<16>, "((8,1),(4)):((1,0),(1024))">, %p: !cute.memref<i8, rmem, align<32>, "(1,(4)):(4,(1))">) {
  cute.copy(%copy, %g, %s, %p) : (!copy_ldgsts, !cute.memref<f16, gmem, align<16>, "((8,1),(4)):((1,0),(4096))">, !cute.memref<f16, smem, align<16>, "((8,1),(4)):((1,0),(1024))">, !cute.memref<i8, rmem, align<32>, "(1,(4)):(4,(1))">)
  return
}
