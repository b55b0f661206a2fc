// What the verifiers of views, tiled copies and tiled products, and the inference of their result types, refuse, and where it is instructive,
// the nearest thing that they accept.
//
// RUN: cute-opt %s --split-input-file --verify-diagnostics

//===----------------------------------------------------------------------===//
// slice, local_tile
//===----------------------------------------------------------------------===//

func.func @slice_rank(%t: !cute.memref<f16, gmem, "(8,4):(1,8)">, %c: !cute.coord<"(_,_,?)">) {
  // expected-error @below {{'cute.slice' op expected a coordinate of rank 2 for the layout (8,4):(1,8), found (_,_,?)}}
  cute.slice(%t, %c) : !cute.memref<f16, gmem, "(8,4):(1,8)">, !cute.coord<"(_,_,?)">
  return
}

// -----

func.func @slice_bounds(%t: !cute.memref<f16, gmem, "(8,4):(1,8)">, %c: !cute.coord<"(_,3)">, %d: !cute.coord<"(_,4)">) {
  cute.slice(%t, %c) : !cute.memref<f16, gmem, "(8,4):(1,8)">, !cute.coord<"(_,3)">
  // expected-error @below {{'cute.slice' op expected a coordinate in [0, 4) of the mode 4:8, found 4}}
  cute.slice(%t, %d) : !cute.memref<f16, gmem, "(8,4):(1,8)">, !cute.coord<"(_,4)">
  return
}

// -----

func.func @slice_negative(%t: !cute.memref<f16, gmem, "(8,4):(1,8)">, %c: !cute.coord<"(-1,_)">) {
  // expected-error @below {{expected a coordinate in [0, 8) of the mode 8:1, found -1}}
  cute.slice(%t, %c) : !cute.memref<f16, gmem, "(8,4):(1,8)">, !cute.coord<"(-1,_)">
  return
}

// -----

func.func @tile_rank(%t: !cute.memref<f16, gmem, "(8,4):(1,8)">, %b: !cute.tile<"[4:1;2:1;1:0]">, %c: !cute.coord<"(?)">) {
  // expected-error @below {{'cute.local_tile' op expected a tile of at most the tensor's rank 2, found [4:1;2:1;1:0]}}
  cute.local_tile(%t, %b, %c) : (!cute.memref<f16, gmem, "(8,4):(1,8)">, !cute.tile<"[4:1;2:1;1:0]">, !cute.coord<"(?)">) -> !cute.memref<f16, gmem, "8:1">
  return
}

// -----

func.func @tile_coord(%t: !cute.memref<f16, gmem, "(8,8):(1,8)">, %b: !cute.tile<"[4:1;4:1]">, %c: !cute.coord<"(?,?,?)">) {
  // expected-error @below {{'cute.local_tile' op expected a coordinate of rank 2}}
  cute.local_tile(%t, %b, %c) : (!cute.memref<f16, gmem, "(8,8):(1,8)">, !cute.tile<"[4:1;4:1]">, !cute.coord<"(?,?,?)">) -> !cute.memref<f16, gmem, "8:1">
  return
}

// -----

// The tile at a column starts anywhere in a row: 16-byte alignment is lost, and may not be declared.
func.func @tile_alignment(%t: !cute.memref<f16, gmem, align<16>, "(8,8):(8,1)">, %b: !cute.tile<"[8:1;2:1]">, %c: !cute.coord<"(0,?)">) {
  cute.local_tile(%t, %b, %c) : (!cute.memref<f16, gmem, align<16>, "(8,8):(8,1)">, !cute.tile<"[8:1;2:1]">, !cute.coord<"(0,?)">)
    -> !cute.memref<f16, gmem, align<4>, "(8,2):(8,1)">
  // expected-error @below {{expected a result of type '!cute.memref<f16, gmem, align<4>, "(8,2):(8,1)">', which follows from its operands}}
  cute.local_tile(%t, %b, %c) : (!cute.memref<f16, gmem, align<16>, "(8,8):(8,1)">, !cute.tile<"[8:1;2:1]">, !cute.coord<"(0,?)">)
    -> !cute.memref<f16, gmem, align<16>, "(8,2):(8,1)">
  return
}

// -----

//===----------------------------------------------------------------------===//
// Tiled operations and partitions
//===----------------------------------------------------------------------===//

!vectors = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"((4,16),8):((128,1),16)">, tiler_mn = <"[16:1;32:1]">>
func.func @copy_over_another_atom(%a: !cute_nvgpu.atom.universal_copy<f16, 64 b>) {
  // expected-note @above {{prior use here}}
  // expected-error @below {{expects different type than prior uses}}
  cute.make_tiled_copy(%a) : !vectors
  return
}

// -----

!vectors = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"((4,16),8):((128,1),16)">, tiler_mn = <"[16:1;32:1]">>
func.func @copy_over_another_atom_generic(%a: !cute_nvgpu.atom.universal_copy<f16, 64 b>) {
  // expected-error @below {{'cute.make_tiled_copy' op failed to verify that the operand is the atom of the result}}
  "cute.make_tiled_copy"(%a) : (!cute_nvgpu.atom.universal_copy<f16, 64 b>) -> !vectors
  return
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(1,1,1):(0,0,0)">, permutation_MNK = <"_">>
func.func @mma_over_another_atom(%a: !cute_nvgpu.sm80.mma<16x8x8, elem_type = (f16, f16, f32)>) {
  // expected-note @above {{prior use here}}
  // expected-error @below {{expects different type than prior uses}}
  cute.make_tiled_mma(%a) : !mma
  return
}

// -----

!vectors = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"((4,16),8):((128,1),16)">, tiler_mn = <"[16:1;32:1]">>
!tile = !cute.memref<f16, gmem, align<16>, "(24,32):(32,1)">
func.func @partition_divides(%c: !vectors, %t: !tile, %i: !cute.coord<"?">) {
  // expected-error @below {{a tensor whose mode 0 (M) is a multiple of 16, found (24,32):(32,1)}}
  cute.tiled.copy.partition_S(%c, %t, %i) : (!vectors, !tile, !cute.coord<"?">) -> !tile
  return
}

// -----

!vectors = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"((4,16),8):((128,1),16)">, tiler_mn = <"[16:1;32:1]">>
!tile = !cute.memref<f16, gmem, align<16>, "32:1">
func.func @partition_rank(%c: !vectors, %t: !tile, %i: !cute.coord<"?">) {
  // expected-error @below {{a tensor of rank at least 2, found 32:1}}
  cute.tiled.copy.partition_D(%c, %t, %i) : (!vectors, !tile, !cute.coord<"?">) -> !tile
  return
}

// -----

!vectors = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"((4,16),8):((128,1),16)">, tiler_mn = <"[16:1;32:1]">>
!tile = !cute.memref<f16, gmem, align<16>, "(32,32):(32,1)">
func.func @partition_threads(%c: !vectors, %t: !tile, %i: !cute.coord<"(?,?)">) {
  // expected-error @below {{'cute.tiled.copy.partition_S' op expected a thread index as the coordinate, found (?,?)}}
  cute.tiled.copy.partition_S(%c, %t, %i) : (!vectors, !tile, !cute.coord<"(?,?)">) -> !tile
  return
}

// -----

!vectors = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"((4,16),8):((128,1),16)">, tiler_mn = <"[16:1;32:1]">>
!tile = !cute.memref<f16, gmem, align<16>, "(32,32):(32,1)">
func.func @partition_any_thread(%c: !vectors, %t: !tile, %i: !cute.coord<"_">) {
  // expected-error @below {{'cute.tiled.copy.partition_D' op expected a thread index as the coordinate, found _}}
  cute.tiled.copy.partition_D(%c, %t, %i) : (!vectors, !tile, !cute.coord<"_">) -> !tile
  return
}

// -----

!vectors = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"((4,16),8):((128,1),16)">, tiler_mn = <"[16:1;32:1]">>
!tile = !cute.memref<f16, gmem, align<16>, "(32,32):(32,1)">
func.func @partition_declared(%c: !vectors, %t: !tile, %i: !cute.coord<"?">) {
  // expected-error @below {{expected a result of type '!cute.memref<f16, gmem, align<16>, "((8,1),2,1):((1,0),512,0)">', which follows from its operands}}
  cute.tiled.copy.partition_S(%c, %t, %i) : (!vectors, !tile, !cute.coord<"?">) -> !tile
  return
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(1,2,1):(1,1,0)">, permutation_MNK = <"[16:1;32:1;16:1]">>
!tile = !cute.memref<f16, smem, align<16>, "(32,24):(24,1)">
func.func @mma_divides(%m: !mma, %t: !tile, %i: !cute.coord<"?">) {
  // expected-error @below {{a tensor whose mode 1 (K) is a multiple of 16, found (32,24):(24,1)}}
  cute.tiled.mma.partition A (%m, %t, %i) : (!mma, !tile, !cute.coord<"?">) -> !tile
  return
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(1,2,1):(1,1,0)">, permutation_MNK = <"[16:1;32:1;16:1]">>
!tile = !cute.memref<f16, smem, align<16>, "(16,32):(32,1)">
func.func @mma_divides_n(%m: !mma, %t: !tile, %i: !cute.coord<"?">) {
  // expected-error @below {{a tensor whose mode 0 (N) is a multiple of 32, found (16,32):(32,1)}}
  cute.tiled.mma.partition B (%m, %t, %i) : (!mma, !tile, !cute.coord<"?">) -> !tile
  return
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(1,2,1):(1,1,0)">, permutation_MNK = <"[16:1;32:1;16:1]">>
!tile = !cute.memref<f16, smem, align<16>, "(32,32):(32,1)">
func.func @mma_thread(%m: !mma, %t: !tile, %i: !cute.coord<"(?,?)">) {
  // expected-error @below {{'cute.tiled.mma.partition' op expected a thread index as the coordinate, found (?,?)}}
  cute.tiled.mma.partition C (%m, %t, %i) : (!mma, !tile, !cute.coord<"(?,?)">) -> !tile
  return
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(1,2,1):(1,1,0)">, permutation_MNK = <"[16:1;32:1;16:1]">>
func.func @operand_letter(%m: !mma, %s: !cute.shape<"(32,32)">) {
  // expected-error @below {{expected A, B or C, found 'D'}}
  cute.tiled.mma.partition_shape D (%m, %s) : (!mma, !cute.shape<"(32,32)">) -> !cute.shape<"((2,2),2,2)">
  return
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(1,2,1):(1,1,0)">, permutation_MNK = <"[16:1;32:1;16:1]">>
func.func @operand_number(%m: !mma, %s: !cute.shape<"(32,32)">) {
  // expected-error @below {{expected operand_id 0, 1 or 2, found 3}}
  "cute.tiled.mma.partition_shape"(%m, %s) {operand_id = 3 : i32} : (!mma, !cute.shape<"(32,32)">) -> !cute.shape<"((2,2),2,2)">
  return
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(1,2,1):(1,1,0)">, permutation_MNK = <"[16:1;32:1;16:1]">>
func.func @operand_number_missing(%m: !mma, %s: !cute.shape<"(32,32)">) {
  // expected-error @below {{requires attribute 'operand_id'}}
  "cute.tiled.mma.partition_shape"(%m, %s) : (!mma, !cute.shape<"(32,32)">) -> !cute.shape<"((2,2),2,2)">
  return
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(1,2,1):(1,1,0)">, permutation_MNK = <"[16:1;32:1;16:1]">>
func.func @shape_divides(%m: !mma, %s: !cute.shape<"(32,24)">) {
  // expected-error @below {{a tensor whose mode 1 (N) is a multiple of 32}}
  cute.tiled.mma.partition_shape C (%m, %s) : (!mma, !cute.shape<"(32,24)">) -> !cute.shape<"((2,2),2,2)">
  return
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(1,2,1):(1,1,0)">, permutation_MNK = <"[16:1;32:1;16:1]">>
func.func @fragment_of_the_whole(%m: !mma, %s: !cute.shape<"(32,32)">) {
  // expected-error @below {{`fragment` expected a tensor of rank at least 3, found (32,32)}}
  cute.mma.make_fragment C (%m, %s) : (!mma, !cute.shape<"(32,32)">) -> !cute.memref<f32, rmem, "8:1">
  return
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(1,2,1):(1,1,0)">, permutation_MNK = <"[16:1;32:1;16:1]">>
func.func @fragment_values(%m: !mma, %s: !cute.shape<"((2,2),2,2)">) {
  // expected-error @below {{expected 8 values in mode 0, as SM80_16x8x16_F32F16F16F32_TN holds, found}}
  cute.mma.make_fragment A (%m, %s) : (!mma, !cute.shape<"((2,2),2,2)">) -> !cute.memref<f16, rmem, "8:1">
  return
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(1,2,1):(1,1,0)">, permutation_MNK = <"[16:1;32:1;16:1]">>
!part = !cute.memref<bf16, smem, "((2,2,2),2,2):((1,256,8),512,16)">
func.func @fragment_element(%m: !mma, %p: !part) {
  // expected-error @below {{'cute.mma.make_fragment' op expected a tensor of f16, as the atom multiplies, found bf16}}
  cute.mma.make_fragment A (%m, %p) : (!mma, !part) -> !cute.memref<f16, rmem, "8:1">
  return
}

// -----

!ldsm = !cute.tiled_copy<!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, layout_copy_tv = <"((4,8,2),((2,2,2),(1,1))):((32,1,0),((16,8,128),(16,256)))">, tiler_mn = <"[16:1;16:1]">>
!shared = !cute.memref<f16, smem, "((2,2,2),2,2):((1,2,4),16,8)">
func.func @retile_memory(%c: !ldsm, %f: !shared) {
  // expected-error @below {{'cute.tiled.copy.retile' op expected a fragment in rmem, found a tensor in smem; divide that by partition_S or partition_D}}
  cute.tiled.copy.retile(%c, %f) : (!ldsm, !shared) -> !shared
  return
}
