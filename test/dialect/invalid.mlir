// What the verifiers of ops and the inference of result types refuse, and where it is instructive,
// the nearest thing that they accept.
//
// RUN: cute-opt %s --split-input-file --verify-diagnostics

//===----------------------------------------------------------------------===//
// static, make_coord, make_atom
//===----------------------------------------------------------------------===//

func.func @static_dynamic_layout() {
  // expected-error @below {{'cute.static' op expected a type that says its whole value, found !cute.layout<"(?,4):(1,?)">}}
  cute.static : !cute.layout<"(?,4):(1,?)">
  return
}

// -----

func.func @static_dynamic_coord() {
  // expected-error @below {{'cute.static' op expected a type that says its whole value}}
  cute.static : !cute.coord<"(1,?)">
  return
}

// -----

func.func @static_dynamic_tile() {
  // expected-error @below {{'cute.static' op expected a type that says its whole value}}
  cute.static : !cute.tile<"[?:1;_]">
  return
}

// -----

func.func @static_dynamic_composed() {
  // expected-error @below {{'cute.static' op expected a type that says its whole value}}
  cute.static : !cute.composed_layout<"S<3,5,4> o ? o (8,4):(1,8)">
  return
}

// -----

// A tensor's type says what it is, not where.
func.func @static_tensor() {
  // expected-error @below {{'cute.static' op expected a type that says its whole value}}
  cute.static : !cute.memref<f16, gmem, "8:1">
  return
}

// -----

func.func @static_foreign() {
  // expected-error @below {{'cute.static' op expected a type that says its whole value, found i32}}
  cute.static : i32
  return
}

// -----

func.func @coord_count(%i: i32) {
  // expected-error @below {{expected 2 operand(s), one for each `?` of (?,(_,?)), found 1; give as many operands as the result type has `?`}}
  cute.make_coord(%i) : (i32) -> !cute.coord<"(?,(_,?))">
  return
}

// -----

func.func @coord_of_nothing_dynamic(%i: i32) {
  // expected-error @below {{expected 0 operand(s), one for each `?` of (1,_), found 1; give as many operands as the result type has `?`}}
  cute.make_coord(%i) : (i32) -> !cute.coord<"(1,_)">
  return
}

// -----

func.func @coord_width(%i: i32, %j: i32) {
  // expected-error @below {{expected operand 1 to fit `?{i64}` (64 bits), found `?` of 32 bits}}
  cute.make_coord(%i, %j) : (i32, i32) -> !cute.coord<"(?,?{i64})">
  return
}

// -----

func.func @coord_index(%i: index) {
  // expected-error @below {{operand #0 must be variadic of i32, i64, or !cute.int_tuple of one leaf, but got 'index'}}
  cute.make_coord(%i) : (index) -> !cute.coord<"?">
  return
}

// -----

func.func @coord_result(%i: i32) {
  // expected-error @below {{'cute.make_coord' op result #0 must be}}
  cute.make_coord(%i) : (i32) -> !cute.int_tuple<"?">
  return
}

// -----

func.func @atom() {
  // expected-error @below {{'cute.make_atom' op expected an atom of cute_nvgpu, found}}
  cute.make_atom() : () -> !cute.tile<"_">
  return
}

// -----

func.func @atom_foreign() {
  // expected-error @below {{'cute.make_atom' op expected an atom of cute_nvgpu, found i32}}
  cute.make_atom() : () -> i32
  return
}

// -----

//===----------------------------------------------------------------------===//
// crd2idx, get_scalars
//===----------------------------------------------------------------------===//

func.func @crd2idx_underscore(%c: !cute.coord<"(?,_)">, %l: !cute.layout<"(8,4):(1,8)">) {
  // expected-error @below {{'cute.crd2idx' op expected a coordinate without `_`, found (?,_)}}
  cute.crd2idx(%c, %l) : (!cute.coord<"(?,_)">, !cute.layout<"(8,4):(1,8)">) -> !cute.int_tuple<"?">
  return
}

// -----

func.func @crd2idx_rank(%c: !cute.coord<"(?,?,?)">, %l: !cute.layout<"(8,4):(1,8)">) {
  // expected-error @below {{'cute.crd2idx' op expected a coordinate of rank 2 (that of (8,4)), or an integer, found (?,?,?)}}
  cute.crd2idx(%c, %l) : (!cute.coord<"(?,?,?)">, !cute.layout<"(8,4):(1,8)">) -> !cute.int_tuple<"?">
  return
}

// -----

func.func @crd2idx_static_rank(%c: !cute.coord<"(1,2,3)">, %l: !cute.layout<"(8,4):(1,8)">) {
  // expected-error @below {{'cute.crd2idx' op expected a coordinate of rank 2 (that of (8,4)), or an integer, found (1,2,3)}}
  cute.crd2idx(%c, %l) : (!cute.coord<"(1,2,3)">, !cute.layout<"(8,4):(1,8)">) -> !cute.int_tuple<"?">
  return
}

// -----

// The declared type is compared with the inferred one: 1 + 2 * 8.
func.func @crd2idx_declared(%c: !cute.coord<"(1,2)">, %l: !cute.layout<"(8,4):(1,8)">) {
  cute.crd2idx(%c, %l) : (!cute.coord<"(1,2)">, !cute.layout<"(8,4):(1,8)">) -> !cute.int_tuple<"17">
  // expected-error @below {{expected a result of type '!cute.int_tuple<"17">', which follows from its operands, found '!cute.int_tuple<"18">'}}
  cute.crd2idx(%c, %l) : (!cute.coord<"(1,2)">, !cute.layout<"(8,4):(1,8)">) -> !cute.int_tuple<"18">
  return
}

// -----

func.func @crd2idx_operand(%c: !cute.coord<"?">, %l: !cute.tile<"8:1">) {
  // expected-error @below {{operand #1 must be}}
  cute.crd2idx(%c, %l) : (!cute.coord<"?">, !cute.tile<"8:1">) -> !cute.int_tuple<"?">
  return
}

// -----

func.func @scalars_count(%t: !cute.int_tuple<"(?,?)">) {
  // expected-error @below {{operation defines 2 results but was provided 3 to bind}}
  %s:3 = cute.get_scalars(%t) : !cute.int_tuple<"(?,?)">
  return
}

// -----

func.func @scalars_width(%t: !cute.int_tuple<"?{i64}">) -> i32 {
  // expected-note @below {{prior use here}}
  %s = cute.get_scalars(%t) : !cute.int_tuple<"?{i64}">
  // expected-error @below {{use of value '%s' expects different type than prior uses: 'i32' vs 'i64'}}
  return %s : i32
}

// -----

//===----------------------------------------------------------------------===//
// memref.alloca
//===----------------------------------------------------------------------===//

func.func @alloca_gmem() {
  // expected-error @below {{'cute.memref.alloca' op allocates in gmem; expected smem or rmem: pass it as an argument}}
  cute.memref.alloca() : !cute.memref<f16, gmem, "8:1">
  return
}

// -----

func.func @alloca_dynamic() {
  // expected-error @below {{expected a static layout to allocate, found (?,4):(4,1)}}
  cute.memref.alloca() : !cute.memref<f16, smem, "(?,4):(4,1)">
  return
}

// -----

// S<2,4,3> begins afresh each 2^(2+4+3) bytes.
func.func @alloca_align() {
  cute.memref.alloca() : !cute.memref<f16, smem, align<512>, S<2,4,3>, "(32,32):(32,1)">
  // expected-error @below {{swizzled by S<2,4,3> with an alignment of 256 bytes; expected a multiple of 512: write align<512>}}
  cute.memref.alloca() : !cute.memref<f16, smem, align<256>, S<2,4,3>, "(32,32):(32,1)">
  return
}

// -----

func.func @alloca_offset() {
  cute.memref.alloca() {offset = 256 : i64} : !cute.memref<f16, smem, align<128>, "8:1">
  // expected-error @below {{expected an offset that is a multiple of the alignment 128, found 64}}
  cute.memref.alloca() {offset = 64 : i64} : !cute.memref<f16, smem, align<128>, "8:1">
  return
}

// -----

func.func @alloca_negative_offset() {
  // expected-error @below {{expected an offset that is a multiple of the alignment 128, found -128}}
  cute.memref.alloca() {offset = -128 : i64} : !cute.memref<f16, smem, align<128>, "8:1">
  return
}

// -----

func.func @alloca_offset_type() {
  // expected-error @below {{attribute 'offset' failed to satisfy constraint: 64-bit signless integer attribute}}
  cute.memref.alloca() {offset = "0"} : !cute.memref<f16, smem, "8:1">
  return
}

// -----

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

// -----

//===----------------------------------------------------------------------===//
// copy
//===----------------------------------------------------------------------===//

func.func @copy_operands(%t: !cute.memref<f16, gmem, "8:1">) {
  // expected-error @below {{'cute.copy' op expected (tiled copy or copy atom, source, destination), perhaps with a predicate behind them, found 1 operands}}
  cute.copy(%t) : (!cute.memref<f16, gmem, "8:1">)
  return
}

// -----

func.func @copy_foreign(%t: !cute.memref<f16, gmem, "8:1">, %v: vector<8xf16>) {
  // expected-error @below {{'cute.block.copy' op operand #1 must be A tensor: a pointer and a layout in elements, but got 'vector<8xf16>'}}
  cute.block.copy A (%t, %v) : (!cute.memref<f16, gmem, "8:1">, vector<8xf16>)
  return
}

// -----

func.func @copy_elements(%s: !cute.memref<f16, gmem, "8:1">, %d: !cute.memref<bf16, gmem, "8:1">) {
  // expected-error @below {{expected the same element type on both sides, found f16 and bf16; use cute.convert}}
  cute.block.copy A (%s, %d) : (!cute.memref<f16, gmem, "8:1">, !cute.memref<bf16, gmem, "8:1">)
  return
}

// -----

func.func @copy_shapes(%s: !cute.memref<f16, gmem, "(8,4):(1,8)">, %d: !cute.memref<f16, smem, "(4,8):(1,4)">) {
  // expected-error @below {{expected the same shape on both sides, found (8,4) and (4,8)}}
  cute.block.copy A (%s, %d) : (!cute.memref<f16, gmem, "(8,4):(1,8)">, !cute.memref<f16, smem, "(4,8):(1,4)">)
  return
}

// -----

func.func @copy_ranks(%s: !cute.memref<f16, gmem, "(8,4):(1,8)">, %d: !cute.memref<f16, smem, "32:1">) {
  // expected-error @below {{expected the same shape on both sides, found (8,4) and 32}}
  cute.block.copy A (%s, %d) : (!cute.memref<f16, gmem, "(8,4):(1,8)">, !cute.memref<f16, smem, "32:1">)
  return
}

// -----

!part = !cute.memref<f16, gmem, align<16>, "((8,1),2,1):((1,8),1024,32)">
func.func @copy_by_no_copy(%c: !cute.tile<"_">, %s: !part, %d: !part) {
  // expected-error @below {{'cute.copy' op expected a tiled copy or a copy atom, found !cute.tile<"_">; make one by cute.make_atom and cute.make_tiled_copy}}
  cute.copy(%c, %s, %d) : (!cute.tile<"_">, !part, !part)
  return
}

// -----

!vectors = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"((4,16),8):((128,1),16)">, tiler_mn = <"[16:1;32:1]">>
!from = !cute.memref<f16, gmem, align<16>, "((8,1),2,1):((1,8),1024,32)">
!to = !cute.memref<f16, smem, align<16>, "((8,1),4,1):((1,8),512,32)">
func.func @copy_atoms(%c: !vectors, %s: !from, %d: !to) {
  // expected-error @below {{expected as many atoms on both sides, found [1, 2, 1] in the source ((8,1),2,1):((1,8),1024,32) and [1, 4, 1] in the destination}}
  cute.copy(%c, %s, %d) : (!vectors, !from, !to)
  return
}

// -----

!vectors = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"((4,16),8):((128,1),16)">, tiler_mn = <"[16:1;32:1]">>
!tile = !cute.memref<f16, gmem, align<16>, "(32,32):(32,1)">
func.func @copy_unpartitioned(%c: !vectors, %s: !tile, %d: !tile) {
  // expected-error @below {{'cute.copy' op expected a source (V,...) or ((V,R),...) with the V of the atom, 8 values, found 32 values in mode 0 of (32,32):(32,1); partition it by the copy, or divide it by 8}}
  cute.copy(%c, %s, %d) : (!vectors, !tile, !tile)
  return
}

// -----

// cp.async copies from global to shared memory, and not back.
!async = !cute.tiled_copy<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, layout_copy_tv = <"((4,16),8):((128,1),16)">, tiler_mn = <"[16:1;32:1]">>
!gmem = !cute.memref<f16, gmem, align<16>, "((8,1),2,1):((1,8),1024,32)">
!smem = !cute.memref<f16, smem, align<16>, "((8,1),2,1):((1,8),512,32)">
func.func @copy_spaces(%c: !async, %s: !smem, %d: !gmem) {
  cute.copy(%c, %d, %s) : (!async, !gmem, !smem)
  // expected-error @below {{'cute.copy' op copies from smem to gmem with an atom that copies from gmem to smem}}
  cute.copy(%c, %s, %d) : (!async, !smem, !gmem)
  return
}

// -----

!ldsm = !cute.tiled_copy<!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, layout_copy_tv = <"((4,8,2),((2,2,2),(1,1))):((32,1,0),((16,8,128),(16,256)))">, tiler_mn = <"[16:1;16:1]">>
!gmem = !cute.memref<f16, gmem, align<16>, "((8,1),2,2):((1,16),512,16)">
!rmem = !cute.memref<f16, rmem, "((8,1),2,2):((1,0),16,8)">
func.func @ldmatrix_from_gmem(%c: !ldsm, %s: !gmem, %d: !rmem) {
  // expected-error @below {{copies from gmem to rmem with an atom that copies from smem to rmem}}
  cute.copy(%c, %s, %d) : (!ldsm, !gmem, !rmem)
  return
}

// -----

// A thread's values lie 64 apart: no vector holds them.
!vectors = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"((4,16),8):((128,1),16)">, tiler_mn = <"[16:1;32:1]">>
!from = !cute.memref<f16, gmem, align<16>, "((8,1),2,1):((64,512),16,2048)">
!to = !cute.memref<f16, smem, align<16>, "((8,1),2,1):((1,8),512,32)">
func.func @copy_strided_source(%c: !vectors, %s: !from, %d: !to) {
  // expected-error @below {{'cute.copy' op failed to vectorize: the values of a thread in the source lie at 8:64, expected places side by side; use a value layout along the contiguous mode, or a narrower atom}}
  cute.copy(%c, %s, %d) : (!vectors, !from, !to)
  return
}

// -----

!vectors = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"((4,16),8):((128,1),16)">, tiler_mn = <"[16:1;32:1]">>
!from = !cute.memref<f16, gmem, align<16>, "((8,1),2,1):((64,512),16,2048)">
!to = !cute.memref<f16, smem, align<16>, "((8,1),2,1):((1,8),512,32)">
func.func @copy_strided_destination(%c: !vectors, %s: !to, %d: !from) {
  // expected-error @below {{failed to vectorize: the values of a thread in the destination lie at 8:64}}
  cute.copy(%c, %s, %d) : (!vectors, !to, !from)
  return
}

// -----

!vectors = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"((4,16),8):((128,1),16)">, tiler_mn = <"[16:1;32:1]">>
!from = !cute.memref<f16, gmem, align<8>, "((8,1),2,1):((1,8),1024,32)">
!to = !cute.memref<f16, smem, align<16>, "((8,1),2,1):((1,8),512,32)">
func.func @copy_misaligned(%c: !vectors, %s: !from, %d: !to) {
  // expected-error @below {{the source is accessed 16 bytes at a time but is aligned to 8 bytes; expected align<16>, or an atom of 64 bits}}
  cute.copy(%c, %s, %d) : (!vectors, !from, !to)
  return
}

// -----

//===----------------------------------------------------------------------===//
// gemm, clear, convert
//===----------------------------------------------------------------------===//

!t = !cute.memref<f16, gmem, "(8,4):(1,8)">
func.func @gemm_operands(%t: !t) {
  // expected-error @below {{'cute.gemm' op expected (mma, D, A, B, C), (mma, A, B, C) or (D, A, B, C), found 2 operands}}
  cute.gemm(%t, %t) : (!t, !t)
  return
}

// -----

!t = !cute.memref<f16, gmem, "(8,8):(1,8)">
func.func @gemm_foreign(%t: !t, %i: i32) {
  // expected-error @below {{'cute.block.gemm' op operand #2 must be A tensor: a pointer and a layout in elements, but got 'i32'}}
  cute.block.gemm(%t, %t, %i) : (!t, !t, i32)
  return
}

// -----

!a = !cute.memref<f16, gmem, "(8,4,2):(1,8,32)">
!b = !cute.memref<f16, gmem, "(8,4):(1,8)">
!c = !cute.memref<f16, gmem, "(8,8):(1,8)">
func.func @gemm_rank(%a: !a, %b: !b, %c: !c) {
  // expected-error @below {{expected A (M,K) of rank 2, found (8,4,2):(1,8,32)}}
  cute.block.gemm(%a, %b, %c) : (!a, !b, !c)
  return
}

// -----

!a = !cute.memref<f16, gmem, "(8,4):(1,8)">
!b = !cute.memref<f16, gmem, "(16,6):(1,16)">
!c = !cute.memref<f16, gmem, "(8,16):(1,8)">
func.func @gemm_k(%a: !a, %b: !b, %c: !c) {
  // expected-error @below {{expected the same K of A and B, found 4 and 6: A is (8,4), B is (16,6), C is (8,16)}}
  cute.contract ins(%a, %b : !a, !b) outs(%c : !c) accumulate f32
  return
}

// -----

!a = !cute.memref<f16, gmem, "(8,4):(1,8)">
!b = !cute.memref<f16, gmem, "(16,4):(1,16)">
!c = !cute.memref<f16, gmem, "(4,16):(1,4)">
func.func @gemm_m(%a: !a, %b: !b, %c: !c) {
  // expected-error @below {{expected the same M of A and C, found 8 and 4}}
  cute.contract ins(%a, %b : !a, !b) outs(%c : !c) accumulate f32
  return
}

// -----

!a = !cute.memref<f16, gmem, "(8,4):(1,8)">
!b = !cute.memref<f16, gmem, "(16,4):(1,16)">
!c = !cute.memref<f16, gmem, "(8,8):(1,8)">
func.func @gemm_n(%a: !a, %b: !b, %c: !c) {
  // expected-error @below {{expected the same N of B and C, found 16 and 8}}
  cute.contract ins(%a, %b : !a, !b) outs(%c : !c) accumulate f32
  return
}

// -----

// Extents that are not known are not compared.
!a = !cute.memref<f16, gmem, "(?,4):(1,?)">
!b = !cute.memref<f16, gmem, "(16,4):(1,16)">
!c = !cute.memref<f16, gmem, "(?,16):(1,?)">
func.func @gemm_dynamic(%a: !a, %b: !b, %c: !c) {
  cute.contract ins(%a, %b : !a, !b) outs(%c : !c) accumulate f32
  return
}

// -----

!a = !cute.memref<f16, gmem, "(8,4):(1,8)">
!c = !cute.memref<f16, gmem, "(8,8):(1,8)">
func.func @gemm_accumulate(%a: !a, %b: !a, %c: !c) {
  // expected-error @below {{expected a number type to accumulate in, found vector<4xf32>}}
  cute.contract ins(%a, %b : !a, !a) outs(%c : !c) accumulate vector<4xf32>
  return
}

// -----

!acc = !cute.memref<f32, rmem, "((2,2),2,2):((1,2),4,8)">
!a = !cute.memref<f16, rmem, "((2,2,2),2,2):((1,2,4),16,8)">
!b = !cute.memref<f16, rmem, "((2,2),2,2):((1,2),8,4)">
func.func @fragments_by_no_mma(%m: i32, %d: !acc, %a: !a, %b: !b) {
  // expected-error @below {{'cute.gemm' op expected an MMA atom or a tiled MMA, found i32; make one by cute.make_atom and cute.make_tiled_mma}}
  cute.gemm(%m, %d, %a, %b, %d) : (i32, !acc, !a, !b, !acc)
  return
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(1,2,1):(1,1,0)">, permutation_MNK = <"[16:1;32:1;16:1]">>
!acc = !cute.memref<f16, rmem, "((2,2),2,2):((1,2),4,8)">
!a = !cute.memref<f16, rmem, "((2,2,2),2,2):((1,2,4),16,8)">
!b = !cute.memref<f16, rmem, "((2,2),2,2):((1,2),8,4)">
func.func @fragment_accumulator(%m: !mma, %d: !acc, %a: !a, %b: !b) {
  // expected-error @below {{expected D of f32, as the atom has it, found f16; make it by cute.mma.make_fragment C, or choose an atom of other types}}
  cute.gemm(%m, %d, %a, %b, %d) : (!mma, !acc, !a, !b, !acc)
  return
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(1,2,1):(1,1,0)">, permutation_MNK = <"[16:1;32:1;16:1]">>
!acc = !cute.memref<f32, rmem, "((2,2),2,2):((1,2),4,8)">
!a = !cute.memref<f16, rmem, "((2,2,2),2):((1,2,4),16)">
!b = !cute.memref<f16, rmem, "((2,2),2,2):((1,2),8,4)">
func.func @fragment_rank(%m: !mma, %d: !acc, %a: !a, %b: !b) {
  // expected-error @below {{'cute.gemm' op expected A, B and C of ranks 1 1 1, 1 1 2, 2 2 2, 2 2 3 or 3 3 3, found 2 3 3: ((2,2,2),2):((1,2,4),16), ((2,2),2,2):((1,2),8,4) and ((2,2),2,2):((1,2),4,8); (V,M,K) x (V,N,K) => (V,M,N) is what partitions and fragments have}}
  cute.gemm(%m, %d, %a, %b, %d) : (!mma, !acc, !a, !b, !acc)
  return
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(1,2,1):(1,1,0)">, permutation_MNK = <"[16:1;32:1;16:1]">>
!acc = !cute.memref<f32, rmem, "((2,2),2,2):((1,2),4,8)">
!a = !cute.memref<f16, rmem, "((2,2,2),4,2):((1,2,4),16,8)">
!b = !cute.memref<f16, rmem, "((2,2),2,2):((1,2),8,4)">
func.func @fragment_m(%m: !mma, %d: !acc, %a: !a, %b: !b) {
  // expected-error @below {{'cute.gemm' op expected the same M of A and C in (V,M,K) x (V,N,K) => (V,M,N), found 4 and 2: A is ((2,2,2),4,2), B is ((2,2),2,2), C is ((2,2),2,2)}}
  cute.gemm(%m, %d, %a, %b, %d) : (!mma, !acc, !a, !b, !acc)
  return
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(1,2,1):(1,1,0)">, permutation_MNK = <"[16:1;32:1;16:1]">>
!acc = !cute.memref<f32, rmem, "((2,2),2,2):((1,2),4,8)">
!a = !cute.memref<f16, rmem, "((2,2,2),2,2):((1,2,4),16,8)">
!b = !cute.memref<f16, rmem, "((2,2),4,2):((1,2),8,4)">
func.func @fragment_n(%m: !mma, %d: !acc, %a: !a, %b: !b) {
  // expected-error @below {{'cute.gemm' op expected the same N of B and C in (V,M,K) x (V,N,K) => (V,M,N), found 4 and 2: A is ((2,2,2),2,2), B is ((2,2),4,2), C is ((2,2),2,2)}}
  cute.gemm(%m, %d, %a, %b, %d) : (!mma, !acc, !a, !b, !acc)
  return
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(1,2,1):(1,1,0)">, permutation_MNK = <"[16:1;32:1;16:1]">>
!acc = !cute.memref<f32, rmem, "((2,2),2,2):((1,2),4,8)">
!a = !cute.memref<f16, rmem, "((2,2,2),2,1):((1,2,4),16,8)">
!b = !cute.memref<f16, rmem, "((2,2),2,2):((1,2),8,4)">
func.func @fragment_k(%m: !mma, %d: !acc, %a: !a, %b: !b) {
  // expected-error @below {{'cute.gemm' op expected the same K of A and B in (V,M,K) x (V,N,K) => (V,M,N), found 1 and 2: A is ((2,2,2),2,1), B is ((2,2),2,2), C is ((2,2),2,2)}}
  cute.gemm(%m, %d, %a, %b, %d) : (!mma, !acc, !a, !b, !acc)
  return
}

// -----

func.func @clear_foreign(%i: i32) {
  // expected-error @below {{operand #0 must be}}
  cute.clear(%i) : (i32)
  return
}

// -----

func.func @convert_space(%t: !cute.memref<f32, smem, "8:1">) {
  // expected-error @below {{'cute.convert' op expected tensors in rmem}}
  cute.convert(%t) : (!cute.memref<f32, smem, "8:1">) -> !cute.memref<f16, rmem, "8:1">
  return
}

// -----

func.func @convert_layout(%t: !cute.memref<f32, rmem, "(4,2):(1,4)">) {
  // expected-error @below {{'cute.convert' op expected the same layout, found (4,2):(1,4) and (4,2):(2,1)}}
  cute.convert(%t) : (!cute.memref<f32, rmem, "(4,2):(1,4)">) -> !cute.memref<f16, rmem, "(4,2):(2,1)">
  return
}

// -----

//===----------------------------------------------------------------------===//
// Atoms on values
//===----------------------------------------------------------------------===//

!vectors = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"((4,16),8):((128,1),16)">, tiler_mn = <"[16:1;32:1]">>
!part = !cute.memref<f16, smem, align<16>, "((8,1),2,1):((1,8),512,32)">
func.func @load_length(%c: !vectors, %p: !part) {
  // expected-error @below {{'cute.atom_load' op expected a result of type vector<8xf16>, found vector<4xf16>}}
  cute.atom_load(%c, %p) at [0, 0, 0] : (!vectors, !part) -> vector<4xf16>
  return
}

// -----

!vectors = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"((4,16),8):((128,1),16)">, tiler_mn = <"[16:1;32:1]">>
!part = !cute.memref<f16, smem, align<16>, "((2147483647,1),2,1):((1,8),512,32)">
func.func @load_many(%c: !vectors, %p: !part) {
  // expected-error @below {{'cute.atom_load' op expected an atom of at most 4096 values, found 2147483647 in 2147483647:1; put what the atom repeats in the modes behind it}}
  cute.atom_load(%c, %p) at [0, 0, 0] : (!vectors, !part) -> vector<8xf16>
  return
}

// -----

!vectors = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"((4,16),8):((128,1),16)">, tiler_mn = <"[16:1;32:1]">>
!part = !cute.memref<f16, smem, align<16>, "((8,1),2,1):((1,8),?,32)">
func.func @load_dynamic(%c: !vectors, %p: !part) {
  // expected-error @below {{'cute.atom_load' op the source is accessed 16 bytes at a time, but mode 1 steps by ? elements of 2 bytes, which is not known to be a multiple of that; write it ?{div=8}, if it is}}
  cute.atom_load(%c, %p) at [0, 1, 0] : (!vectors, !part) -> vector<8xf16>
  return
}

// -----

!vectors = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"((4,16),8):((128,1),16)">, tiler_mn = <"[16:1;32:1]">>
!part = !cute.memref<f16, smem, align<16>, "((8,1),2,1):((1,8),512,32)">
func.func @load_element(%c: !vectors, %p: !part) {
  // expected-error @below {{expected a result of type vector<8xf16>, found vector<8xbf16>}}
  cute.atom_load(%c, %p) at [0, 0, 0] : (!vectors, !part) -> vector<8xbf16>
  return
}

// -----

!vectors = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"((4,16),8):((128,1),16)">, tiler_mn = <"[16:1;32:1]">>
!part = !cute.memref<f16, smem, align<16>, "((8,1),2,1):((1,8),512,32)">
func.func @load_beyond(%c: !vectors, %p: !part) {
  cute.atom_load(%c, %p) at [0, 1, 0] : (!vectors, !part) -> vector<8xf16>
  // expected-error @below {{'cute.atom_load' op expected an atom within [1, 2, 1], found [0, 2, 0]}}
  cute.atom_load(%c, %p) at [0, 2, 0] : (!vectors, !part) -> vector<8xf16>
  return
}

// -----

!vectors = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"((4,16),8):((128,1),16)">, tiler_mn = <"[16:1;32:1]">>
!part = !cute.memref<f16, smem, align<16>, "((8,1),2,1):((1,8),512,32)">
func.func @load_at(%c: !vectors, %p: !part) {
  // expected-error @below {{'cute.atom_load' op expected an atom within [1, 2, 1], found [0]}}
  cute.atom_load(%c, %p) at [0] : (!vectors, !part) -> vector<8xf16>
  return
}

// -----

!async = !cute.tiled_copy<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, layout_copy_tv = <"((4,16),8):((128,1),16)">, tiler_mn = <"[16:1;32:1]">>
!part = !cute.memref<f16, gmem, align<16>, "((8,1),2,1):((1,8),512,32)">
func.func @load_async(%c: !async, %p: !part) {
  // expected-error @below {{'cute.atom_load' op copies from gmem to rmem with an atom that copies from gmem to smem}}
  cute.atom_load(%c, %p) at [0, 0, 0] : (!async, !part) -> vector<8xf16>
  return
}

// -----

!vectors = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"((4,16),8):((128,1),16)">, tiler_mn = <"[16:1;32:1]">>
!part = !cute.memref<f16, smem, align<4>, "((8,1),2,1):((1,8),512,32)">
func.func @load_misaligned(%c: !vectors, %p: !part) {
  // expected-error @below {{the source is accessed 16 bytes at a time but is aligned to 4 bytes; expected align<16>, or an atom of 32 bits}}
  cute.atom_load(%c, %p) at [0, 0, 0] : (!vectors, !part) -> vector<8xf16>
  return
}

// -----

!vectors = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"((4,16),8):((128,1),16)">, tiler_mn = <"[16:1;32:1]">>
!part = !cute.memref<f16, smem, align<16>, "((8,1),2,1):((1,8),512,32)">
func.func @store_length(%c: !vectors, %p: !part, %v: vector<4xf16>) {
  // expected-error @below {{'cute.atom_store' op expected a value of type vector<8xf16>, found vector<4xf16>}}
  cute.atom_store(%c, %v, %p) at [0, 0, 0] : (!vectors, vector<4xf16>, !part)
  return
}

// -----

!vectors = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"((4,16),8):((128,1),16)">, tiler_mn = <"[16:1;32:1]">>
!part = !cute.memref<f16, smem, align<16>, "((8,1),2,1):((1,8),512,32)">
func.func @store_beyond(%c: !vectors, %p: !part, %v: vector<8xf16>) {
  // expected-error @below {{'cute.atom_store' op expected an atom within [1, 2, 1], found [0, -1, 0]}}
  cute.atom_store(%c, %v, %p) at [0, -1, 0] : (!vectors, vector<8xf16>, !part)
  return
}

// -----

!ldsm = !cute.tiled_copy<!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, layout_copy_tv = <"((4,8,2),((2,2,2),(1,1))):((32,1,0),((16,8,128),(16,256)))">, tiler_mn = <"[16:1;16:1]">>
!part = !cute.memref<f16, smem, align<16>, "((8,1),2,2):((1,16),512,16)">
func.func @store_ldmatrix(%c: !ldsm, %p: !part, %v: vector<8xf16>) {
  // expected-error @below {{'cute.atom_store' op copies from rmem to smem with an atom that copies from smem to rmem}}
  cute.atom_store(%c, %v, %p) at [0, 0, 0] : (!ldsm, vector<8xf16>, !part)
  return
}

// -----

!vectors = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"((4,16),8):((128,1),16)">, tiler_mn = <"[16:1;32:1]">>
!from = !cute.memref<f16, gmem, align<16>, "((8,1),2,1):((1,8),1024,32)">
!to = !cute.memref<f16, smem, align<16>, "((8,1),2,1):((1,8),512,32)">
func.func @atom_copy_synchronous(%c: !vectors, %s: !from, %d: !to) {
  // expected-error @below {{'cute.atom_copy' op expected an asynchronous atom; use atom_load and atom_store}}
  cute.atom_copy(%c, %s, %d) at [0, 0, 0] : (!vectors, !from, !to)
  return
}

// -----

!async = !cute.tiled_copy<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, layout_copy_tv = <"((4,16),8):((128,1),16)">, tiler_mn = <"[16:1;32:1]">>
!from = !cute.memref<f16, gmem, align<16>, "((8,1),2,1):((1,8),1024,32)">
!to = !cute.memref<f16, smem, align<16>, "((8,1),2,1):((1,8),512,32)">
func.func @atom_copy_back(%c: !async, %s: !from, %d: !to) {
  // expected-error @below {{'cute.atom_copy' op copies from smem to gmem with an atom that copies from gmem to smem}}
  cute.atom_copy(%c, %d, %s) at [0, 0, 0] : (!async, !to, !from)
  return
}

// -----

// Both sides have to have the atom.
!async = !cute.tiled_copy<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, layout_copy_tv = <"((4,16),8):((128,1),16)">, tiler_mn = <"[16:1;32:1]">>
!from = !cute.memref<f16, gmem, align<16>, "((8,1),4,1):((1,8),1024,32)">
!to = !cute.memref<f16, smem, align<16>, "((8,1),2,1):((1,8),512,32)">
func.func @atom_copy_beyond(%c: !async, %s: !from, %d: !to) {
  // expected-error @below {{'cute.atom_copy' op expected an atom within [1, 2, 1], found [0, 3, 0]}}
  cute.atom_copy(%c, %s, %d) at [0, 3, 0] : (!async, !from, !to)
  return
}

// -----

!async = !cute.tiled_copy<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, layout_copy_tv = <"((4,16),8):((128,1),16)">, tiler_mn = <"[16:1;32:1]">>
!from = !cute.memref<f16, gmem, align<16>, "((8,1),2,1):((1,8),1024,32)">
!to = !cute.memref<f16, smem, align<16>, "((8,1),2,1):((2,16),512,32)">
func.func @atom_copy_strided(%c: !async, %s: !from, %d: !to) {
  // expected-error @below {{failed to vectorize: the values of a thread in the destination lie at 8:2}}
  cute.atom_copy(%c, %s, %d) at [0, 0, 0] : (!async, !from, !to)
  return
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(1,2,1):(1,1,0)">, permutation_MNK = <"[16:1;32:1;16:1]">>
func.func @mma_a(%m: !mma, %a: vector<4xf16>, %b: vector<4xf16>, %c: vector<4xf32>) {
  // expected-error @below {{'cute.atom_mma' op expected A of type vector<8xf16>, found vector<4xf16>}}
  cute.atom_mma(%m, %a, %b, %c) : (!mma, vector<4xf16>, vector<4xf16>, vector<4xf32>) -> vector<4xf32>
  return
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(1,2,1):(1,1,0)">, permutation_MNK = <"[16:1;32:1;16:1]">>
func.func @mma_b(%m: !mma, %a: vector<8xf16>, %b: vector<2x2xf16>, %c: vector<4xf32>) {
  // expected-error @below {{'cute.atom_mma' op expected B of type vector<4xf16>, found vector<2x2xf16>}}
  cute.atom_mma(%m, %a, %b, %c) : (!mma, vector<8xf16>, vector<2x2xf16>, vector<4xf32>) -> vector<4xf32>
  return
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(1,2,1):(1,1,0)">, permutation_MNK = <"[16:1;32:1;16:1]">>
func.func @mma_c(%m: !mma, %a: vector<8xf16>, %b: vector<4xf16>, %c: vector<4xf16>) {
  // expected-error @below {{'cute.atom_mma' op expected C of type vector<4xf32>, found vector<4xf16>}}
  cute.atom_mma(%m, %a, %b, %c) : (!mma, vector<8xf16>, vector<4xf16>, vector<4xf16>) -> vector<4xf32>
  return
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(1,2,1):(1,1,0)">, permutation_MNK = <"[16:1;32:1;16:1]">>
func.func @mma_d(%m: !mma, %a: vector<8xf16>, %b: vector<4xf16>, %c: vector<4xf32>) {
  // expected-error @below {{'cute.atom_mma' op expected D of type vector<4xf32>, found vector<8xf32>}}
  cute.atom_mma(%m, %a, %b, %c) : (!mma, vector<8xf16>, vector<4xf16>, vector<4xf32>) -> vector<8xf32>
  return
}

// -----

//===----------------------------------------------------------------------===//
// Pipelines, and ops that are not there
//===----------------------------------------------------------------------===//

func.func @iteration(%p: !cute.pipeline<2>, %t: !cute.token, %k: index) {
  // expected-note @above {{prior use here}}
  // expected-error @below {{expects different type than prior uses: 'i32' vs 'index'}}
  cute.pipeline.producer_acquire(%p, %t, %k) : !cute.pipeline<2>
  return
}

// -----

!async = !cute.tiled_copy<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, layout_copy_tv = <"((4,16),8):((128,1),16)">, tiler_mn = <"[16:1;32:1]">>
!from = !cute.memref<f16, gmem, align<16>, "((8,1),2,1):((1,8),1024,32)">
!to = !cute.memref<f16, smem, align<16>, "((8,1),2,1):((1,8),512,32)">
func.func @atom_copy_predicate(%c: !async, %s: !from, %d: !to, %if: i32) {
  // expected-note @above {{prior use here}}
  // expected-error @below {{expects different type than prior uses: 'i1' vs 'i32'}}
  cute.atom_copy(%c, %s, %d) at [0, 0, 0] if %if : (!async, !from, !to)
  return
}

// -----

func.func @create_order() {
  // expected-error @below {{result #0 must be}}
  "cute.pipeline.create"() : () -> (!cute.token, !cute.pipeline<2>)
  return
}

// -----

func.func @unregistered() {
  // expected-error @below {{custom op 'cute.transpose' is unknown}}
  cute.transpose()
  return
}

// -----

func.func @unregistered_generic() {
  // expected-error @below {{unregistered operation 'cute.transpose' found in dialect ('cute')}}
  "cute.transpose"() : () -> ()
  return
}

// -----

// What was one op of three levels names the op of each.
!t = !cute.memref<f16, gmem, "(32,32):(32,1)">
func.func @copy_of_a_block(%a: !t, %b: !t) {
  // expected-error @below {{'cute.copy' op expected (tiled copy or copy atom, source, destination), perhaps with a predicate behind them, found 2 operands; a copy of a tile by all threads of the block is cute.block.copy}}
  cute.copy(%a, %b) : (!t, !t)
  return
}

// -----

!t = !cute.memref<f16, gmem, "(32,32):(32,1)">
func.func @product_of_a_block(%a: !t) {
  // expected-error @below {{'cute.gemm' op expected (mma, D, A, B, C), (mma, A, B, C) or (D, A, B, C), found 3 operands; a product of tiles by all threads of the block is cute.block.gemm, one of whole tensors cute.contract}}
  cute.gemm(%a, %a, %a) : (!t, !t, !t)
  return
}

// -----

!t = !cute.memref<f16, gmem, "(32,32):(32,1)">
func.func @product_of_whole_tensors(%a: !t) {
  // expected-error @below {{'cute.gemm' is a product of one thread; a product of whole tensors is `cute.contract ins(%A, %B : ...) outs(%C : ...) accumulate ...`}}
  cute.gemm(%a, %a, %a) accumulate f32 : (!t, !t, !t)
  return
}

// -----

// Spaces of the levels.
!t = !cute.memref<f16, gmem, "(32,32):(32,1)">
!s = !cute.memref<f16, smem, "(32,32):(32,1)">
func.func @contract_in_shared_memory(%a: !t, %s: !s) {
  // expected-error @below {{'cute.contract' op expected B in gmem, found smem}}
  cute.contract ins(%a, %s : !t, !s) outs(%a : !t) accumulate f32
  return
}

// -----

!s = !cute.memref<f16, smem, "(32,32):(32,1)">
func.func @sums_in_shared_memory(%s: !s) {
  // expected-error @below {{'cute.block.gemm' op expected C in rmem, found smem}}
  cute.block.gemm(%s, %s, %s) : (!s, !s, !s)
  return
}
