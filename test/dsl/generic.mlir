// The generic form of ops whose pretty form hides an attribute: names, kinds and places of the attributes.
//
// RUN: cute-opt %s --split-input-file | cute-opt --split-input-file | FileCheck %s
// RUN: cute-opt %s --split-input-file --mlir-print-op-generic | cute-opt --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @modes(
// CHECK: cute.get<[1]> ({{%.+}}) : !cute.layout<"(128,4):(4,1)"> -> !cute.layout<"4:1">
// CHECK: cute.select<[1, 0]> ({{%.+}}) : !cute.layout<"(128,4):(4,1)"> -> !cute.layout<"(4,128):(1,4)">
// CHECK: cute.size<[]> ({{%.+}}) : (!cute.layout<"(128,4):(4,1)">) -> !cute.int_tuple<"512">
// CHECK: cute.cosize<[]> ({{%.+}}) : (!cute.layout<"(128,4):(4,1)">) -> !cute.int_tuple<"512">
// CHECK: cute.group_modes<1, 2> ({{%.+}}) : (!cute.memref<f16, smem, align<16>, "((8,1),4):((1,0),512)">) -> !cute.memref<f16, smem, align<16>, "((8,1),(4)):((1,0),(512))">
func.func @modes(%l: !cute.layout<"(128,4):(4,1)">, %m: !cute.memref<f16, smem, align<16>, "((8,1),4):((1,0),512)">) {
  %0 = "cute.get"(%l) <{mode = array<i32: 1>}> : (!cute.layout<"(128,4):(4,1)">) -> !cute.layout<"4:1">
  %1 = "cute.select"(%l) <{mode = array<i32: 1, 0>}> : (!cute.layout<"(128,4):(4,1)">) -> !cute.layout<"(4,128):(1,4)">
  %2 = "cute.size"(%l) <{mode = array<i32>}> : (!cute.layout<"(128,4):(4,1)">) -> !cute.int_tuple<"512">
  %3 = "cute.cosize"(%l) <{mode = array<i32>}> : (!cute.layout<"(128,4):(4,1)">) -> !cute.int_tuple<"512">
  %4 = "cute.group_modes"(%m) <{begin = 1 : i32, end = 2 : i32}> : (!cute.memref<f16, smem, align<16>, "((8,1),4):((1,0),512)">) -> !cute.memref<f16, smem, align<16>, "((8,1),(4)):((1,0),(512))">
  return
}

// -----

// CHECK-LABEL: func.func @ranks(
// CHECK: cute.append_to_rank<3> ({{%.+}}, {{%.+}}) : !cute.layout<"((8,1),1):((1,0),0)">, !cute.layout<"1:0">
// CHECK: cute.recast_layout<16, 16> ({{%.+}}) : !cute.layout<"((8,1),1):((1,0),0)"> -> !cute.layout<"((8,1),1):((1,0),0)">
func.func @ranks(%a: !cute.layout<"((8,1),1):((1,0),0)">, %b: !cute.layout<"1:0">) {
  %0 = "cute.append_to_rank"(%a, %b) <{rank = 3 : si32}> : (!cute.layout<"((8,1),1):((1,0),0)">, !cute.layout<"1:0">) -> !cute.layout<"((8,1),1,1):((1,0),0,0)">
  %1 = "cute.recast_layout"(%a) <{new_type_bits = 16 : i32, old_type_bits = 16 : i32}> : (!cute.layout<"((8,1),1):((1,0),0)">) -> !cute.layout<"((8,1),1):((1,0),0)">
  return
}

// -----

// CHECK-LABEL: func.func @tiles(
// CHECK: cute.make_tile() : () -> !cute.tile<"[128:1;128:1]">
// CHECK: cute.make_coord({{%.+}}) : (i32) -> !cute.coord<"(?,0)">
// CHECK: cute.local_tile({{%.+}}, {{%.+}}, {{%.+}}) : (!cute.memref<bf16, gmem, align<16>, "(256,128):(128,1)">, !cute.tile<"[128:1;128:1]">, !cute.coord<"(?,0)">) -> !cute.memref<bf16, gmem, align<16>, "(128,128):(128,1)">
func.func @tiles(%m: !cute.memref<bf16, gmem, align<16>, "(256,128):(128,1)">, %x: i32) {
  %0 = "cute.make_tile"() : () -> !cute.tile<"[128:1;128:1]">
  %1 = "cute.make_coord"(%x) : (i32) -> !cute.coord<"(?,0)">
  %2 = "cute.local_tile"(%m, %0, %1) <{operandSegmentSizes = array<i32: 1, 1, 1>}> : (!cute.memref<bf16, gmem, align<16>, "(256,128):(128,1)">, !cute.tile<"[128:1;128:1]">, !cute.coord<"(?,0)">) -> !cute.memref<bf16, gmem, align<16>, "(128,128):(128,1)">
  return
}

// -----

// CHECK-LABEL: func.func @operands(
// CHECK: cute.make_coord({{%.+}}) : (i32) -> !cute.coord<"?">
// CHECK: cute.tiled.mma.partition C ({{%.+}}, {{%.+}}, {{%.+}}) : (!cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(2,2,1):(1,2,0)">, permutation_MNK = <"[32:1;32:1;16:1]">>, !cute.memref<f16, gmem, align<16>, "(128,128):(256,1)">, !cute.coord<"?">) -> !cute.memref<f16, gmem, align<4>, "((2,2),4,8):((1,2048),8192,16)">
// CHECK: cute.mma.make_fragment C ({{%.+}}, {{%.+}}) : (!cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(2,2,1):(1,2,0)">, permutation_MNK = <"[32:1;32:1;16:1]">>, !cute.memref<f16, gmem, align<4>, "((2,2),4,8):((1,2048),8192,16)">) -> !cute.memref<f32, rmem, align<16>, "((2,2),4,8):((1,2),4,16)">
!mma_f16_f16_f32_16x8x16_ = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(2,2,1):(1,2,0)">, permutation_MNK = <"[32:1;32:1;16:1]">>
func.func @operands(%m: !mma_f16_f16_f32_16x8x16_, %g: !cute.memref<f16, gmem, align<16>, "(128,128):(256,1)">, %t: i32) {
  %0 = "cute.make_coord"(%t) : (i32) -> !cute.coord<"?">
  %1 = "cute.tiled.mma.partition"(%m, %g, %0) <{operand_id = 2 : i32}> : (!mma_f16_f16_f32_16x8x16_, !cute.memref<f16, gmem, align<16>, "(128,128):(256,1)">, !cute.coord<"?">) -> !cute.memref<f16, gmem, align<4>, "((2,2),4,8):((1,2048),8192,16)">
  %2 = "cute.mma.make_fragment"(%m, %1) <{operand_id = 2 : i32}> : (!mma_f16_f16_f32_16x8x16_, !cute.memref<f16, gmem, align<4>, "((2,2),4,8):((1,2048),8192,16)">) -> !cute.memref<f32, rmem, align<16>, "((2,2),4,8):((1,2),4,16)">
  return
}

// -----

// CHECK-LABEL: func.func @texts(
// CHECK: cute.print("Hello world\0A", ) :
// CHECK: cute.print("block of memory: {}\0A", {{%.+}}) : !cute.memref<f32, smem, align<128>, "(8,2):(1,8)">
// CHECK: cute.dice({{%.+}}) {coord = #cute.coord<"(1,(1,1))">} : !cute.layout<"((128,8),(1,4)):((1@0,1@1),(0,8@1))">
func.func @texts(%m: !cute.memref<f32, smem, align<128>, "(8,2):(1,8)">, %l: !cute.layout<"((128,8),(1,4)):((1@0,1@1),(0,8@1))">) {
  "cute.print"() <{fmt = "Hello world\0A"}> : () -> ()
  "cute.print"(%m) <{fmt = "block of memory: {}\0A"}> : (!cute.memref<f32, smem, align<128>, "(8,2):(1,8)">) -> ()
  %0 = "cute.dice"(%l) <{coord = #cute.coord<"(1,(1,1))">}> : (!cute.layout<"((128,8),(1,4)):((1@0,1@1),(0,8@1))">) -> !cute.layout<"((128,8),1,4):((1@0,1@1),0,8@1)">
  return
}

// -----

// Version 4.4 says of a layout's operands which there are.
//
// CHECK-LABEL: func.func @segments(
// CHECK: cute.make_layout(%{{.+}}, %{{.+}}) : {{.*}}!cute.layout<"((8,?),?):((1,?),8)">
// CHECK: cute.make_layout(%{{.+}}) : {{.*}}!cute.layout<"(?,4):(1,?)">
func.func @segments(%s: !cute.shape<"((8,?),?)">, %d: !cute.stride<"((1,?),8)">, %t: !cute.shape<"(?,4)">) {
  %0 = "cute.make_layout"(%s, %d) <{operandSegmentSizes = array<i32: 1, 1>}> : (!cute.shape<"((8,?),?)">, !cute.stride<"((1,?),8)">) -> !cute.layout<"((8,?),?):((1,?),8)">
  %1 = "cute.make_layout"(%t) <{operandSegmentSizes = array<i32: 1, 0>}> : (!cute.shape<"(?,4)">) -> !cute.layout<"(?,4):(1,?)">
  return
}
