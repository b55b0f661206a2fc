// Copies and products of one atom, tensor maps, the atoms that are made of them, and descriptors, as CuTe DSL prints them.
//
// RUN: cute-opt %s --split-input-file | FileCheck %s
// RUN: cute-opt %s --split-input-file | cute-opt --split-input-file | FileCheck %s
// RUN: cute-opt %s --split-input-file --mlir-print-op-generic | cute-opt --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @calls(
// CHECK:       cute.copy(%{{.+}}, %{{.+}}, %{{.+}}) : (!cute.tiled_copy<{{.*}}>, !cute.memref<f16, rmem, align<32>, "(((2,2,2),1)):(((1,2,4),0))">, !cute.memref<f16, smem, align<16>, S<2,4,3>, "(((2,4),1)):(((1,2),0))">)
// CHECK-NEXT:  cute.copy(%{{.+}}, %{{.+}}, %{{.+}}) : (!cute.tiled_copy<
// CHECK-NEXT:  cute.gemm(%{{.+}}, %[[C:.+]], %{{.+}}, %{{.+}}, %[[C]]) : (!cute.tiled_mma<{{.*}}>, !cute.memref<f32, rmem, align<16>, "((2,2)):((1,2))">, !cute.memref<f16, rmem, align<16>, "((2,2,2)):((1,2,4))">, !cute.memref<f16, rmem, align<8>, "((2,2)):((1,2))">, !cute.memref<f32, rmem, align<16>, "((2,2)):((1,2))">)
// CHECK-NEXT:  cute.gemm(%{{.+}}, %[[C]], %{{.+}}, %{{.+}}, %[[C]]) : (!cute.tiled_mma<
!stsm = !cute.tiled_copy<!cute_nvgpu.atom.stsm<f16, mode = <"(8,8)">, num_matrices = 4, n>, layout_copy_tv = <"((4,32),((2,2,2),1)):((64,1),((256,32,512),0))">, tiler_mn = <"[(8,4,2):(1,16,8);(4,2,2):(2,1,8)]">>
!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
!r = !cute.memref<f16, rmem, align<32>, "(((2,2,2),1)):(((1,2,4),0))">
!s = !cute.memref<f16, smem, align<16>, S<2,4,3>, "(((2,4),1)):(((1,2),0))">
!c = !cute.memref<f32, rmem, align<16>, "((2,2)):((1,2))">
!a = !cute.memref<f16, rmem, align<16>, "((2,2,2)):((1,2,4))">
!b = !cute.memref<f16, rmem, align<8>, "((2,2)):((1,2))">
func.func @calls(%copy: !stsm, %r: !r, %s: !s, %mma: !mma, %c: !c, %a: !a, %b: !b) {
  cute.copy_atom_call(%copy, %r, %s) : (!stsm, !r, !s) -> ()
  "cute.copy_atom_call"(%copy, %r, %s) : (!stsm, !r, !s) -> ()
  cute.mma_atom_call(%mma, %c, %a, %b, %c) : (!mma, !c, !a, !b, !c) -> ()
  "cute.mma_atom_call"(%mma, %c, %a, %b, %c) : (!mma, !c, !a, !b, !c) -> ()
  return
}

// -----

// Descriptors count in 16 bytes: a step of K is 2.
//
// CHECK-LABEL: func.func @descriptors(
// CHECK:       cute.mma.make_fragment A (%{{.+}}, %{{.+}}) : ({{.*}}) -> !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1,2,4,(1,6)):(0,512,2,(0,1024))">
// CHECK:       cute.slice(%{{.+}}, %{{.+}}) : !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1,2,4,(1,6)):(0,512,2,(0,1024))">, !cute.coord<"(_,_,3,?)">
// CHECK:       cute.size<[2]> (%{{.+}}) : (!cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1,2,4,(1,6)):(0,512,2,(0,1024))">) -> !cute.int_tuple<"4">
// CHECK:       cute.get_layout(%{{.+}}) : !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1,2):(0,512)">
// CHECK:       %[[ITER:.+]] = cute.get_iter(%{{.+}}) : !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1,2):(0,512)">
// CHECK:       %[[NEXT:.+]] = cute.add_offset(%[[ITER]], %{{.+}}) : (!cute_nvgpu.smem_desc, !cute.int_tuple<"?{div=2}">) -> !cute_nvgpu.smem_desc
// CHECK:       cute.make_view(%[[NEXT]], %{{.+}}) : !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1,2):(0,512)">
// CHECK:       cute.make_view(%{{.+}}) : !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1,1,4,(1,6)):(0,0,2,(0,1024))">
// CHECK:       cute_nvgpu.make_gmma_smem_desc(%{{.+}} : !cute.ptr<f16, smem, align<1024>, S<3,4,3>>) layout = <"((64,16),2,4,(1,6)):((64,1),4096,16,(0,8192))">, major = <k> -> !cute_nvgpu.smem_desc
!mma = !cute.tiled_mma<!cute_nvgpu.sm90.mma<64x128x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
!tCsA = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((64,16),2,4,(1,6)):((64,1),4096,16,(0,8192))">
!view = !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1,2,4,(1,6)):(0,512,2,(0,1024))">
func.func @descriptors(%mma: !mma, %a: !tCsA, %at: !cute.coord<"(_,_,3,?)">, %two: !cute.int_tuple<"?{div=2}">, %desc: !cute_nvgpu.smem_desc) {
  %0 = cute.mma.make_fragment A (%mma, %a) : (!mma, !tCsA) -> !view
  %1 = cute.slice(%0, %at) : !view, !cute.coord<"(_,_,3,?)">
  %2 = cute.size(%0) <{mode = [2]}> : (!view) -> !cute.int_tuple<"4">
  %3 = cute.get_layout(%1) : !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1,2):(0,512)">
  %4 = "cute.get_iter"(%1) : (!cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1,2):(0,512)">) -> !cute_nvgpu.smem_desc
  %5 = cute.add_offset(%4, %two) : (!cute_nvgpu.smem_desc, !cute.int_tuple<"?{div=2}">) -> !cute_nvgpu.smem_desc
  %6 = "cute.make_view"(%5, %3) : (!cute_nvgpu.smem_desc, !cute.layout<"(1,2):(0,512)">) -> !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1,2):(0,512)">
  %7 = cute.make_view(%desc) : !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1,1,4,(1,6)):(0,0,2,(0,1024))">
  %8 = cute.get_iter(%a) : !tCsA
  %9 = cute_nvgpu.make_gmma_smem_desc(%8 : !cute.ptr<f16, smem, align<1024>, S<3,4,3>>) layout = <"((64,16),2,4,(1,6)):((64,1),4096,16,(0,8192))">, major = <k> -> !cute_nvgpu.smem_desc
  %10 = "cute_nvgpu.make_gmma_smem_desc"(%8) <{layout = #cute.layout<"((64,16),2,4,(1,6)):((64,1),4096,16,(0,8192))">, major = #cute_nvgpu.major<k>}> : (!cute.ptr<f16, smem, align<1024>, S<3,4,3>>) -> !cute_nvgpu.smem_desc
  return
}

// -----

// CHECK-LABEL: func.func @products(
// CHECK:       cute.gemm(%{{.+}}, %[[C:.+]], %{{.+}}, %{{.+}}, %[[C]]) : (!cute.tiled_mma<{{.*}}>, !cute.memref<f32, rmem, align<32>, "((2,2,16),2,1):((1,2,4),64,0)">, !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1,2):(0,512)">, !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1,1):(0,0)">, !cute.memref<f32, rmem, align<32>, "((2,2,16),2,1):((1,2,4),64,0)">)
// CHECK:       cute.gemm(%{{.+}}, %[[V:.+]], %{{.+}}, %{{.+}}, %[[V]]) : ({{.*}}, !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">, !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">, {{.*}})
// CHECK:       cute_nvgpu.atom.set_value(%{{.+}}, %{{.+}} : i1) {field = #cute_nvgpu.atom_mma_field_sm90<accum_c>}
!mma = !cute.tiled_mma<!cute_nvgpu.sm90.mma<64x128x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
!acc = !cute.memref<f32, rmem, align<32>, "((2,2,16),2,1):((1,2,4),64,0)">
!one = !cute.memref<f32, rmem, align<32>, "((2,2,16)):((1,2,4))">
!dA = !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1,2):(0,512)">
!dB = !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1,1):(0,0)">
!d = !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">
func.func @products(%mma: !mma, %acc: !acc, %a: !dA, %b: !dB, %one: !one, %x: !d, %y: !d, %adds: i1) {
  cute.gemm(%mma, %acc, %a, %b, %acc) : (!mma, !acc, !dA, !dB, !acc)
  cute.mma_atom_call(%mma, %one, %x, %y, %one) : (!mma, !one, !d, !d, !one) -> ()
  %0 = "cute_nvgpu.atom.set_value"(%mma, %adds) <{field = #cute_nvgpu.atom_mma_field_sm90<accum_c>}> : (!mma, i1) -> !mma
  return
}

// -----

// Tensor maps of versions 4.3 and 4.4, which say the type of their elements in two ways.
//
// CHECK-LABEL: func.func @maps(
// CHECK:       cute_nvgpu.prefetch_tma_desc(%{{.+}}) : !cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90, f16, copy_bits = 131072, tma_gbasis = <"(64,128,1):(1@1,1@0,1@2)">, internal_val_type = f16>
// CHECK:       %[[E:.+]] = cute_nvgpu.atom.make_exec_tma(%{{.+}}) : (!cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90, f16, copy_bits = 131072, tma_gbasis = <"(64,128,1):(1@1,1@0,1@2)">, tma_format = F16_RN>) -> !cute_nvgpu.atom.tma_load<f16, copy_bits = 131072, tma_gbasis = <"(64,128,1):(1@1,1@0,1@2)">>
// CHECK:       cute_nvgpu.atom.set_value(%[[E]], %{{.+}} : !cute.ptr<i64, smem>) {field = #cute_nvgpu.atom_copy_field_tmaload<tma_bar>} : !cute_nvgpu.atom.tma_load<
// CHECK:       cute_nvgpu.atom.make_exec_tma(%{{.+}}) : (!cute_nvgpu.atom.non_exec_tiled_tma_store<f16, copy_bits = 32768, tma_gbasis = <"(32,64,1):(1@1,1@0,1@2)">, internal_val_type = f16>) -> !cute_nvgpu.atom.tma_store<f16, copy_bits = 32768, tma_gbasis = <"(32,64,1):(1@1,1@0,1@2)">>
!old = !cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90, f16, copy_bits = 131072, tma_gbasis = <"(64,128,1):(1@1,1@0,1@2)">, internal_val_type = f16>
!new = !cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90, f16, copy_bits = 131072, tma_gbasis = <"(64,128,1):(1@1,1@0,1@2)">, tma_format = F16_RN>
!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 131072, mode = tiled, num_cta = 1, g_stride = <"()"> tma_gbasis = <"(64,128,1):(1@1,1@0,1@2)">>
!map = !cute_nvgpu.atom.non_exec_tiled_tma_store<f16, copy_bits = 32768, tma_gbasis = <"(32,64,1):(1@1,1@0,1@2)">, internal_val_type = f16>
!store = !cute_nvgpu.atom.tma_store<f16, copy_bits = 32768, mode = tiled, g_stride = <"()"> tma_gbasis = <"(32,64,1):(1@1,1@0,1@2)">>
func.func @maps(%old: !old, %new: !new, %map: !map, %bar: !cute.ptr<i64, smem>) {
  cute_nvgpu.prefetch_tma_desc(%old) : (!old) -> ()
  %0 = "cute_nvgpu.atom.make_exec_tma"(%new) : (!new) -> !load
  %1 = cute_nvgpu.atom.set_value(%0, %bar : !cute.ptr<i64, smem>) {field = #cute_nvgpu.atom_copy_field_tmaload<tma_bar>} : !load
  %2 = cute_nvgpu.atom.make_exec_tma(%map) : (!map) -> !store
  return
}

// -----

// CHECK-LABEL: func.func @host(
// CHECK:       %{{.+}}, %{{.+}} = cute_nvgpu.atom.make_non_exec_tiled_tma_load(%{{.+}}, %{{.+}}, %{{.+}}) <{kind = <sm_90> num_multicast = 1}> : (
// CHECK:       %{{.+}}, %{{.+}} = cute_nvgpu.atom.make_non_exec_tiled_tma_load(%{{.+}}, %{{.+}}, %{{.+}}) <{kind = <sm_90> num_multicast = 1}> : (
// CHECK:       %{{.+}}, %{{.+}} = cute_nvgpu.atom.make_non_exec_tiled_tma_store(%{{.+}}, %{{.+}}, %{{.+}}) : (
!mat = !cute.memref<f16, gmem, align<16>, "(?,?,?):(?{i64},1,?{i64})">
!sA = !cute.composed_layout<"S<3,4,3> o 0 o ((8,16),(64,1)):((64,512),(1,0))">
!tile = !cute.layout<"(128,64):(1@0,1@1)">
!map = !cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90, f16, copy_bits = 131072, tma_gbasis = <"(64,128,1):(1@1,1@0,1@2)">, internal_val_type = f16>
!out = !cute_nvgpu.atom.non_exec_tiled_tma_store<f16, copy_bits = 131072, tma_gbasis = <"(64,128,1):(1@1,1@0,1@2)">, internal_val_type = f16>
!coords = !cute.coord_tensor<"(0,0,0)", "(?,?,?):(1@1,1@0,1@2)">
func.func @host(%A: !mat, %layout: !sA, %tile: !tile) {
  %atom, %c = cute_nvgpu.atom.make_non_exec_tiled_tma_load(%A, %layout, %tile) <{kind = <sm_90> num_multicast = 1}> : (!mat, !sA, !tile) -> (!map, !coords)
  %0:2 = "cute_nvgpu.atom.make_non_exec_tiled_tma_load"(%A, %layout, %tile) <{kind = #cute_nvgpu.tiled_tma_load<sm_90>, num_multicast = 1 : i32}> : (!mat, !sA, !tile) -> (!map, !coords)
  %1:2 = cute_nvgpu.atom.make_non_exec_tiled_tma_store(%A, %layout, %tile) : (!mat, !sA, !tile) -> (!out, !coords)
  return
}

// -----

// CHECK-LABEL: func.func @partition(
// CHECK:       cute_nvgpu.atom.tma_partition(%{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}) : ({{.*}}) -> (!cute.memref<f16, smem, align<1024>, S<3,4,3>, "((8192,1),(1,6)):((1,0),(0,8192))">, !cute.coord_tensor<"(0,?{div=128},?)", "(((64,128),1),?):(((1@0,1@1),0),64@0)">)
!map = !cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90, f16, copy_bits = 131072, tma_gbasis = <"(64,128,1):(1@1,1@0,1@2)">, internal_val_type = f16>
!sA = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(((8,16),(64,1)),(1,6)):(((64,512),(1,0)),(0,8192))">
!gA = !cute.coord_tensor<"(0,?{div=128},?)", "((128,64),?):((1@1,1@0),64@0)">
func.func @partition(%map: !map, %block: !cute.coord<"0">, %blocks: !cute.layout<"(1):(0)">, %s: !sA, %g: !gA) {
  %0, %1 = cute_nvgpu.atom.tma_partition(%map, %block, %blocks, %s, %g) : (!map, !cute.coord<"0">, !cute.layout<"(1):(0)">, !sA, !gA) -> (!cute.memref<f16, smem, align<1024>, S<3,4,3>, "((8192,1),(1,6)):((1,0),(0,8192))">, !cute.coord_tensor<"(0,?{div=128},?)", "(((64,128),1),?):(((1@0,1@1),0),64@0)">)
  return
}

// -----

// Of an operand with M next to each other, 16 of K are 16 rows of 128 bytes: 128 units.
//
// CHECK-LABEL: func.func @descriptors_along_m(
// CHECK:       cute.mma.make_fragment A (%{{.+}}, %{{.+}}) : ({{.*}}) -> !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1,2,4):(0,512,128)">
// CHECK:       cute_nvgpu.make_gmma_smem_desc(%{{.+}} : !cute.ptr<f16, smem, align<1024>, S<3,4,3>>) layout = <"((64,16),2,4):((1,64),4096,1024)">, major = <mn> -> !cute_nvgpu.smem_desc
!mma = !cute.tiled_mma<!cute_nvgpu.sm90.mma<64x128x16, ab_major = (mn, k), elem_type = (f16, f16, f32), frag_kind = ss>, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
!tCsA = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((64,16),2,4):((1,64),4096,1024)">
func.func @descriptors_along_m(%mma: !mma, %a: !tCsA) {
  %0 = cute.mma.make_fragment A (%mma, %a) : (!mma, !tCsA) -> !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1,2,4):(0,512,128)">
  %1 = cute.get_iter(%a) : !tCsA
  %2 = cute_nvgpu.make_gmma_smem_desc(%1 : !cute.ptr<f16, smem, align<1024>, S<3,4,3>>) layout = <"((64,16),2,4):((1,64),4096,1024)">, major = <mn> -> !cute_nvgpu.smem_desc
  return
}
