// What the verifiers of copies, products and other ops on tensors, and the inference of their result types, refuse, and where it is instructive,
// the nearest thing that they accept.
//
// RUN: cute-opt %s --split-input-file --verify-diagnostics

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
