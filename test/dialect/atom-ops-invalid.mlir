// What the verifiers of ops on one atom, and of pipelines, and the inference of their result types, refuse, and where it is instructive,
// the nearest thing that they accept.
//
// RUN: cute-opt %s --split-input-file --verify-diagnostics

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
