// What the verifiers of the algorithms refuse, and what they say to do instead.
//
// RUN: cute-opt %s --split-input-file --verify-diagnostics

//===----------------------------------------------------------------------===//
// copy
//===----------------------------------------------------------------------===//

!g = !cute.memref<f32, gmem, align<16>, "(4,2):(1,64)">
!r = !cute.memref<f32, rmem, "(4,2):(1,4)">
func.func @copy_of_five(%a: !cute_nvgpu.atom.universal_copy<f32, 128 b>, %g: !g, %r: !r) {
  // expected-error @below {{'cute.copy' op expected (tiled copy or copy atom, source, destination), perhaps with a predicate behind them, found 5 operands}}
  cute.copy(%a, %g, %r, %r, %r) : (!cute_nvgpu.atom.universal_copy<f32, 128 b>, !g, !r, !r, !r)
  return
}

// -----

!g = !cute.memref<f32, gmem, align<16>, "(4,2):(1,64)">
!r = !cute.memref<f32, rmem, "(4,2):(1,4)">
func.func @copy_by_a_tensor(%g: !g, %r: !r) {
  // expected-error @below {{'cute.copy' op expected a tiled copy or a copy atom, found !cute.memref<f32, rmem, "(4,2):(1,4)">; make one by cute.make_atom and cute.make_tiled_copy}}
  cute.copy(%r, %g, %r) : (!r, !g, !r)
  return
}

// -----

!a = !cute_nvgpu.atom.universal_copy<f32, 128 b>
!g = !cute.memref<f32, gmem, align<16>, "(4,2):(1,64)">
!r = !cute.memref<f16, rmem, "(4,2):(1,4)">
func.func @copy_converts(%a: !a, %g: !g, %r: !r) {
  // expected-error @below {{expected the same element type on both sides, found f32 and f16; use cute.convert}}
  cute.copy(%a, %g, %r) : (!a, !g, !r)
  return
}

// -----

!a = !cute_nvgpu.atom.universal_copy<f16, 128 b>
!g = !cute.memref<f32, gmem, align<16>, "(4,2):(1,64)">
!r = !cute.memref<f32, rmem, "(4,2):(1,4)">
func.func @atom_of_another_element(%a: !a, %g: !g, %r: !r) {
  // expected-error @below {{expected tensors of elements of 16 bits}}
  cute.copy(%a, %g, %r) : (!a, !g, !r)
  return
}

// -----

!a = !cute_nvgpu.atom.universal_copy<f32, 128 b>
!g = !cute.memref<f32, gmem, align<16>, "(8,2):(1,64)">
!r = !cute.memref<f32, rmem, "(8,2):(1,8)">
func.func @not_the_atoms_values(%a: !a, %g: !g, %r: !r) {
  // expected-error @below {{expected a source (V,...) or ((V,R),...) with the V of the atom, 4 values, found 8 values in mode 0 of (8,2):(1,64); partition it by the copy, or divide it by 4}}
  cute.copy(%a, %g, %r) : (!a, !g, !r)
  return
}

// -----

!a = !cute_nvgpu.atom.universal_copy<f32, 128 b>
!g = !cute.memref<f32, gmem, align<16>, "(4,2):(1,64)">
!r = !cute.memref<f32, rmem, "(4,3):(1,4)">
func.func @not_as_many_atoms(%a: !a, %g: !g, %r: !r) {
  // expected-error @below {{expected as many atoms on both sides, found [2] in the source (4,2):(1,64) and [3] in the destination (4,3):(1,4), which differ first in mode 0; partition tensors of one shape by one copy}}
  cute.copy(%a, %g, %r) : (!a, !g, !r)
  return
}

// -----

!a = !cute_nvgpu.atom.universal_copy<f32, 128 b>
!g = !cute.memref<f32, gmem, align<16>, "(4,?):(1,64)">
!r = !cute.memref<f32, rmem, "(4,3):(1,4)">
func.func @unknown_extents(%a: !a, %g: !g, %r: !r) {
  // expected-error @below {{expected a source of known extents, found (4,?); take a tile of known extents by cute.local_tile}}
  cute.copy(%a, %g, %r) : (!a, !g, !r)
  return
}

// -----

!a = !cute_nvgpu.atom.universal_copy<f32, 128 b>
!g = !cute.memref<f32, gmem, align<16>, "(4,2):(64,1)">
!r = !cute.memref<f32, rmem, "(4,2):(1,4)">
func.func @not_side_by_side(%a: !a, %g: !g, %r: !r) {
  // expected-error @below {{failed to vectorize: the values of a thread in the source lie at 4:64, expected places side by side; use an atom of one element, or cute.autovec_copy, which takes as many as lie side by side}}
  cute.copy(%a, %g, %r) : (!a, !g, !r)
  return
}

// -----

// A column-major tile under a copy of rows.
!copy = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"((8,16),8):((128,1),16)">, tiler_mn = <"[16:1;64:1]">>
!tile = !cute.memref<f16, gmem, align<16>, "(128,64):(1,128)">
!part = !cute.memref<f16, gmem, align<2>, "((8,1),8,1):((128,0),16,0)">
!frg = !cute.memref<f16, rmem, "((8,1),8,1):((1,0),8,0)">
func.func @rows_of_a_column_major_tile(%copy: !copy, %tile: !tile, %r: !frg, %t: !cute.coord<"?">) {
  %p = cute.tiled.copy.partition_S(%copy, %tile, %t) : (!copy, !tile, !cute.coord<"?">) -> !part
  // expected-error @below {{failed to vectorize: the values of a thread in the source lie at 8:128, expected places side by side; the contiguous mode of (128,64):(1,128) is another one: use thread layout (16,8):(1,16) with value layout (8,1)}}
  cute.copy(%copy, %p, %r) : (!copy, !part, !frg)
  return
}

// -----

// And the other way round.
!copy = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"(128,8):(8,1)">, tiler_mn = <"[128:1;8:1]">>
!tile = !cute.memref<f16, gmem, align<16>, "(128,64):(64,1)">
!part = !cute.memref<f16, gmem, align<2>, "((8,1),1,8):((64,0),0,8)">
!frg = !cute.memref<f16, rmem, "((8,1),1,8):((1,0),0,8)">
func.func @columns_of_a_row_major_tile(%copy: !copy, %tile: !tile, %r: !frg, %t: !cute.coord<"?">) {
  %p = cute.tiled.copy.partition_S(%copy, %tile, %t) : (!copy, !tile, !cute.coord<"?">) -> !part
  // expected-error @below {{use thread layout (16,8):(8,1) with value layout (1,8)}}
  cute.copy(%copy, %p, %r) : (!copy, !part, !frg)
  return
}

// -----

!a = !cute_nvgpu.atom.universal_copy<f16, 128 b>
!g = !cute.memref<f16, gmem, align<16>, "((2,4),2):((1,2),64)">
!s = !cute.memref<f16, smem, align<16>, "((2,4),2):((4,1),8)">
func.func @mixed_orders(%a: !a, %g: !g, %s: !s) {
  // expected-error @below {{expected one order of an atom's values on both sides, found (2,4):(1,2) in the source and (2,4):(4,1) in the destination: copied as vectors, the values would change places; give both sides one order, or use an atom of one element}}
  cute.copy(%a, %g, %s) : (!a, !g, !s)
  return
}

// -----

// The same order on both sides is as good as any.
!a = !cute_nvgpu.atom.universal_copy<f16, 128 b>
!g = !cute.memref<f16, gmem, align<16>, "((2,4),2):((4,1),64)">
!s = !cute.memref<f16, smem, align<16>, "((2,4),2):((4,1),8)">
func.func @one_order(%a: !a, %g: !g, %s: !s) {
  cute.copy(%a, %g, %s) : (!a, !g, !s)
  return
}

// -----

!a = !cute_nvgpu.atom.universal_copy<f16, 128 b>
!g = !cute.memref<f16, gmem, align<8>, "(8,2):(1,64)">
!r = !cute.memref<f16, rmem, "(8,2):(1,8)">
func.func @not_aligned(%a: !a, %g: !g, %r: !r) {
  // expected-error @below {{the source is accessed 16 bytes at a time but is aligned to 8 bytes; expected align<16>, or an atom of 64 bits}}
  cute.copy(%a, %g, %r) : (!a, !g, !r)
  return
}

// -----

!a = !cute_nvgpu.atom.universal_copy<f16, 128 b>
!g = !cute.memref<f16, gmem, align<16>, "(8,2):(1,68)">
!r = !cute.memref<f16, rmem, "(8,2):(1,8)">
func.func @steps_not_aligned(%a: !a, %g: !g, %r: !r) {
  // expected-error @below {{the source is accessed 16 bytes at a time, but mode 1 steps by 68 elements of 2 bytes, which is not known to be a multiple of that; pad it to a multiple of 8, or use a narrower atom}}
  cute.copy(%a, %g, %r) : (!a, !g, !r)
  return
}

// -----

!a = !cute_nvgpu.atom.universal_copy<f16, 128 b>
!g = !cute.memref<f16, gmem, align<16>, "(8,2):(1,?)">
!r = !cute.memref<f16, rmem, "(8,2):(1,8)">
func.func @unknown_steps(%a: !a, %g: !g, %r: !r) {
  // expected-error @below {{write it ?{div=8}, if it is}}
  cute.copy(%a, %g, %r) : (!a, !g, !r)
  return
}

// -----

!a = !cute_nvgpu.atom.universal_copy<f16, 128 b>
!s = !cute.memref<f16, smem, align<512>, S<3,3,3>, "(8,2):(1,64)">
!r = !cute.memref<f16, rmem, "(8,2):(1,8)">
func.func @swizzle_takes_vectors_apart(%a: !a, %s: !s, %r: !r) {
  // expected-error @below {{the source is accessed 16 bytes at a time, which its swizzle S<3,3,3> takes apart; expected a swizzle S<B,M,S> with 2^M at least 16, such as S<3,4,3>}}
  cute.copy(%a, %s, %r) : (!a, !s, !r)
  return
}

// -----

!a = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
!g = !cute.memref<f16, gmem, align<16>, "(8,2):(1,64)">
!r = !cute.memref<f16, rmem, "(8,2):(1,8)">
func.func @spaces(%a: !a, %g: !g, %r: !r) {
  // expected-error @below {{copies from gmem to rmem with an atom that copies from gmem to smem}}
  cute.copy(%a, %g, %r) : (!a, !g, !r)
  return
}

// -----

!a = !cute_nvgpu.atom.universal_copy<f16, 128 b>
!g = !cute.memref<f16, gmem, align<16>, "(8,2):(1,64)">
!r = !cute.memref<f16, rmem, "(8,2):(1,8)">
!p = !cute.memref<f32, rmem, "(2):(1)">
func.func @predicate_of_floats(%a: !a, %g: !g, %r: !r, %p: !p) {
  // expected-error @below {{expected a predicate of i1 or i8, found f32}}
  cute.copy(%a, %g, %r, %p) : (!a, !g, !r, !p)
  return
}

// -----

!a = !cute_nvgpu.atom.universal_copy<f16, 128 b>
!g = !cute.memref<f16, gmem, align<16>, "(8,2):(1,64)">
!r = !cute.memref<f16, rmem, "(8,2):(1,8)">
!p = !cute.memref<i8, smem, "(2):(1)">
func.func @predicate_in_memory(%a: !a, %g: !g, %r: !r, %p: !p) {
  // expected-error @below {{expected a predicate in rmem, found one in smem; load it into registers}}
  cute.copy(%a, %g, %r, %p) : (!a, !g, !r, !p)
  return
}

// -----

!a = !cute_nvgpu.atom.universal_copy<f16, 128 b>
!g = !cute.memref<f16, gmem, align<16>, "(8,2):(1,64)">
!r = !cute.memref<f16, rmem, "(8,2):(1,8)">
!p = !cute.memref<i1, rmem, "(8,2):(1,8)">
func.func @predicate_of_each_element(%a: !a, %g: !g, %r: !r, %p: !p) {
  // expected-error @below {{expected a predicate for each atom, of shape (2), found (8,2):(1,8); a mode for the atom's own values has extent 1 or stride 0}}
  cute.copy(%a, %g, %r, %p) : (!a, !g, !r, !p)
  return
}

// -----

!a = !cute_nvgpu.atom.universal_copy<f16, 128 b>
!g = !cute.memref<f16, gmem, align<16>, "(8,2):(1,64)">
!r = !cute.memref<f16, rmem, "(8,2):(1,8)">
!p = !cute.memref<i1, rmem, "(3):(1)">
func.func @predicate_of_three(%a: !a, %g: !g, %r: !r, %p: !p) {
  // expected-error @below {{'cute.copy_if' op expected a predicate for each atom, of shape (2), found}}
  cute.copy_if(%a, %p, %g, %r) : (!a, !p, !g, !r)
  return
}

// -----

!a = !cute_nvgpu.atom.universal_copy<f16, 128 b>
!g = !cute.memref<f16, gmem, align<16>, "(8,2):(1,64)">
!r = !cute.memref<f16, rmem, "(8,2):(1,8)">
!n = !cute.memref<i32, rmem, "(2):(1)">
func.func @counts_for_whole_vectors(%a: !a, %g: !g, %r: !r, %n: !n) {
  // expected-error @below {{expected a predicate of i1 or i8, found i32: how many elements of an atom there are is for cp.async alone, and UniversalCopy<128> moves all or none}}
  cute.copy(%a, %g, %r, %n) : (!a, !g, !r, !n)
  return
}

// -----

!a = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
!g = !cute.memref<f16, gmem, align<16>, "(8,2):(1,64)">
!s = !cute.memref<f16, smem, align<16>, "(8,2):(1,8)">
!n = !cute.memref<i32, smem, "(2):(1)">
func.func @counts_in_memory(%a: !a, %g: !g, %s: !s, %n: !n) {
  // expected-error @below {{expected numbers of elements in rmem, found them in smem; load them into registers}}
  cute.copy(%a, %g, %s, %n) : (!a, !g, !s, !n)
  return
}

// -----

!a = !cute_nvgpu.atom.simt_async_copy<i4, cache = global, 128 b>
!g = !cute.memref<i4, gmem, align<32>, "(32,2):(1,64)">
!s = !cute.memref<i4, smem, align<32>, "(32,2):(1,32)">
!n = !cute.memref<i32, rmem, "(2):(1)">
func.func @counts_of_parts_of_bytes(%a: !a, %g: !g, %s: !s, %n: !n) {
  // expected-error @below {{expected elements of whole bytes where a copy has numbers of elements, found elements of 4 bits; give it a predicate of i1}}
  cute.copy(%a, %g, %s, %n) : (!a, !g, !s, !n)
  return
}

// -----

//===----------------------------------------------------------------------===//
// copy_tile
//===----------------------------------------------------------------------===//

!copy = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"((4,32),8):((256,1),32)">, tiler_mn = <"[32:1;32:1]">>
!r = !cute.memref<f16, rmem, align<16>, "((8,1),1,1):((1,0),0,0)">
func.func @fragments_on_both_sides(%copy: !copy, %t: !cute.coord<"?">, %a: !r, %b: !r) {
  // expected-error @below {{expected a tile in gmem or smem on one side at least, found fragments on both; copy these by cute.autovec_copy}}
  cute.copy_tile(%copy, %t, %a, %b) : (!copy, !cute.coord<"?">, !r, !r)
  return
}

// -----

!copy = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"((4,32),8):((256,1),32)">, tiler_mn = <"[32:1;32:1]">>
!g = !cute.memref<f16, gmem, align<16>, "(64,32):(32,1)">
!s = !cute.memref<f16, smem, align<16>, "(32,32):(32,1)">
func.func @tiles_of_two_shapes(%copy: !copy, %t: !cute.coord<"?">, %g: !g, %s: !s) {
  // expected-error @below {{expected the same shape on both sides, found (64,32) and (32,32)}}
  cute.copy_tile(%copy, %t, %g, %s) : (!copy, !cute.coord<"?">, !g, !s)
  return
}

// -----

!copy = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"((4,32),8):((256,1),32)">, tiler_mn = <"[32:1;32:1]">>
!s = !cute.memref<f16, smem, align<16>, "(32,32):(32,1)">
!at = !cute.coord_tensor<"(?,?)", "(32,32):(1@0,1@1)">
func.func @bounds_of_shared_memory(%copy: !copy, %t: !cute.coord<"?">, %a: !s, %b: !s, %at: !at, %shape: !cute.shape<"(?,?)">) {
  // expected-error @below {{expected a tile in gmem where one may reach over the end of a matrix, found smem and smem}}
  cute.copy_tile(%copy, %t, %a, %b) within(%at, %shape : !at, !cute.shape<"(?,?)">) : (!copy, !cute.coord<"?">, !s, !s)
  return
}

// -----

!copy = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"((4,32),8):((256,1),32)">, tiler_mn = <"[32:1;32:1]">>
!g = !cute.memref<f16, gmem, align<16>, "(32,32):(64,1)">
!s = !cute.memref<f16, smem, align<16>, "(32,32):(32,1)">
!at = !cute.coord_tensor<"(?,?)", "(32,64):(1@0,1@1)">
func.func @coordinates_of_another_tile(%copy: !copy, %t: !cute.coord<"?">, %a: !g, %b: !s, %at: !at, %shape: !cute.shape<"(?,?)">) {
  // expected-error @below {{expected coordinates for each element of a tile of shape (32,32), found coordinates of shape (32,64); cut the tensor of cute.make_identity_tensor as the tile is cut}}
  cute.copy_tile(%copy, %t, %a, %b) within(%at, %shape : !at, !cute.shape<"(?,?)">) : (!copy, !cute.coord<"?">, !g, !s)
  return
}

// -----

!copy = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"((4,32),8):((256,1),32)">, tiler_mn = <"[32:1;32:1]">>
!g = !cute.memref<f16, gmem, align<16>, "(32,32):(64,1)">
!s = !cute.memref<f16, smem, align<16>, "(32,32):(32,1)">
!at = !cute.coord_tensor<"(?,?)", "(32,32):(1@0,1@1)">
func.func @shape_of_another_matrix(%copy: !copy, %t: !cute.coord<"?">, %a: !g, %b: !s, %at: !at, %shape: !cute.shape<"(?,?,?)">) {
  // expected-error @below {{expected a shape with a place for each integer of the coordinates (?,?), found (?,?,?); it is the shape that cute.make_identity_tensor was given}}
  cute.copy_tile(%copy, %t, %a, %b) within(%at, %shape : !at, !cute.shape<"(?,?,?)">) : (!copy, !cute.coord<"?">, !g, !s)
  return
}

// -----

!copy = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"((4,32),8):((256,1),32)">, tiler_mn = <"[32:1;32:1]">>
!g = !cute.memref<f16, gmem, align<16>, "(32,32):(64,1)">
!s = !cute.memref<f16, smem, align<16>, "(32,32):(32,1)">
gpu.module @few {
  gpu.func @threads(%a: !g) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %x = gpu.thread_id x
    %i = arith.index_cast %x : index to i32
    %t = cute.make_coord(%i)
    %copy = cute.static : !copy
    %s = cute.memref.alloca() : !s
    // expected-error @below {{'cute.copy_tile' op is a part of 128, one for each thread of the tiled copy, but blocks have 64 threads along x}}
    cute.copy_tile(%copy, %t, %a, %s)
    gpu.return
  }
}

// -----

//===----------------------------------------------------------------------===//
// copy_if, autovec_copy, basic_copy, cooperative_copy, prefetch
//===----------------------------------------------------------------------===//

!g = !cute.memref<f16, gmem, "(8,2):(1,64)">
!r = !cute.memref<f16, rmem, "(8,2):(1,8)">
!p = !cute.memref<i1, rmem, "(2):(1)">
func.func @too_few_predicates(%g: !g, %r: !r, %p: !p) {
  // expected-error @below {{expected a predicate for each of 16 elements, found 2 in (2):(1); give it the shape of the tensors}}
  cute.copy_if(%p, %g, %r) : (!p, !g, !r)
  return
}

// -----

!g = !cute.memref<f16, gmem, "(8,2):(1,64)">
!r = !cute.memref<f16, rmem, "(8,2):(1,8)">
func.func @copy_if_without_a_predicate(%g: !g, %r: !r) {
  // expected-error @below {{expected (predicate, source, destination) or (atom, predicate, source, destination), found 2 operands}}
  cute.copy_if(%g, %r) : (!g, !r)
  return
}

// -----

!g = !cute.memref<f16, gmem, "(8,2):(1,64)">
!r = !cute.memref<f16, rmem, "(8,3):(1,8)">
func.func @sizes_differ(%g: !g, %r: !r) {
  // expected-error @below {{'cute.autovec_copy' op expected as many elements on both sides, found 16 in the source (8,2):(1,64) and 24 in the destination (8,3):(1,8)}}
  cute.autovec_copy(%g, %r) : (!g, !r)
  return
}

// -----

!g = !cute.memref<f16, gmem, "(8,2):(1,64)">
!r = !cute.memref<f16, rmem, "(8,2):(1,8)">
func.func @odd_width(%g: !g, %r: !r) {
  // expected-error @below {{expected max_vec_bits of 8, 16, 32, 64 or 128, and at least the element's 16 bits, found 8}}
  cute.autovec_copy(%g, %r) {max_vec_bits = 8 : i64} : (!g, !r)
  return
}

// -----

!g = !cute.memref<f16, gmem, "(8,2):(1,64)">
!s = !cute.memref<f16, smem, "(8,2):(1,0)">
func.func @written_twice(%g: !g, %s: !s) {
  // expected-error @below {{writes each place of the destination (8,2):(1,0) 2 times, from different places of the source (8,2):(1,64); give the source stride 0 there too, or copy a slice}}
  cute.autovec_copy(%g, %s) : (!g, !s)
  return
}

// -----

!g = !cute.memref<f16, gmem, "(8,2):(1,64)">
!r = !cute.memref<f16, rmem, "(8,2):(1,8)">
func.func @basic_copy_with_an_atom(%a: !cute_nvgpu.atom.universal_copy<f16, 128 b>, %g: !g, %r: !r) {
  // expected-error @below {{expected (source, destination), found 3 operands; cute.copy takes an atom, cute.copy_if a predicate}}
  cute.basic_copy(%a, %g, %r) : (!cute_nvgpu.atom.universal_copy<f16, 128 b>, !g, !r)
  return
}

// -----

!g = !cute.memref<f16, gmem, "(64,32):(32,1)">
!r = !cute.memref<f16, rmem, "(64,32):(32,1)">
func.func @cooperative_into_registers(%t: !cute.coord<"?">, %g: !g, %r: !r) {
  // expected-error @below {{expected a destination in gmem or smem, which all threads see, found one in rmem; copy a thread's registers by cute.autovec_copy or a tiled copy}}
  cute.cooperative_copy(%t, %g, %r) {threads = 128 : i64} : (!cute.coord<"?">, !g, !r)
  return
}

// -----

!g = !cute.memref<f16, gmem, "(64,32):(32,1)">
!s = !cute.memref<f16, smem, "(64,32):(32,1)">
func.func @too_many_threads(%t: !cute.coord<"?">, %g: !g, %s: !s) {
  // expected-error @below {{expected threads of 1 to 1024, as a block has, found 2048}}
  cute.cooperative_copy(%t, %g, %s) {threads = 2048 : i64} : (!cute.coord<"?">, !g, !s)
  return
}

// -----

!g = !cute.memref<f16, gmem, "(64,32):(32,1)">
!s = !cute.memref<f16, smem, "(64,32):(32,1)">
func.func @no_such_thread(%g: !g, %s: !s) {
  %t = cute.static : !cute.coord<"128">
  // expected-error @below {{expected a thread in [0, 128), found 128}}
  cute.cooperative_copy(%t, %g, %s) {threads = 128 : i64} : (!cute.coord<"128">, !g, !s)
  return
}

// -----

!g = !cute.memref<f16, gmem, "(64,32):(32,1)">
!s = !cute.memref<f16, smem, "(64,32):(32,1)">
func.func @thread_of_two_integers(%t: !cute.coord<"(?,?)">, %g: !g, %s: !s) {
  // expected-error @below {{expected the index of a thread, i32 or !cute.coord<"?">, found !cute.coord<"(?,?)">}}
  cute.cooperative_copy(%t, %g, %s) {threads = 128 : i64} : (!cute.coord<"(?,?)">, !g, !s)
  return
}

// -----

!g = !cute.memref<f16, gmem, "(64,32):(32,1)">
gpu.module @kernels {
  gpu.func @fewer_threads(%g: !g, %t: !cute.coord<"?">) kernel attributes {known_block_size = array<i32: 32, 2, 1>} {
    %s = cute.memref.alloca() : !cute.memref<f16, smem, "(64,32):(32,1)">
    // expected-error @below {{is done by 128 threads, but the kernel's blocks have 64; expected known_block_size of at least 128 threads, or fewer here}}
    cute.cooperative_copy(%t, %g, %s) {threads = 128 : i64} : (!cute.coord<"?">, !g, !cute.memref<f16, smem, "(64,32):(32,1)">)
    gpu.return
  }
}

// -----

!s = !cute.memref<f16, smem, "(64,32):(32,1)">
func.func @prefetch_of_shared_memory(%s: !s) {
  // expected-error @below {{expected a tensor in gmem to prefetch, found one in smem; what is there has no cache before it}}
  cute.prefetch(%s) : (!s)
  return
}

// -----

!g = !cute.memref<f16, gmem, "(64,32):(32,1)">
func.func @prefetch_level(%g: !g) {
  // expected-error @below {{expected level = "L1" or "L2", found "L3"}}
  cute.prefetch(%g) {level = "L3"} : (!g)
  return
}

// -----

//===----------------------------------------------------------------------===//
// gemm, cooperative_gemm
//===----------------------------------------------------------------------===//

!a = !cute.memref<f32, rmem, "(8,4):(1,8)">
!b = !cute.memref<f32, rmem, "(4,4):(1,4)">
!c = !cute.memref<f32, rmem, "(8,3):(1,8)">
func.func @extents_of_a_product(%a: !a, %b: !b, %c: !c) {
  // expected-error @below {{expected the same N of B and C in (M,K) x (N,K) => (M,N), found 4 and 3: A is (8,4), B is (4,4), C is (8,3)}}
  cute.gemm(%c, %a, %b, %c) : (!c, !a, !b, !c)
  return
}

// -----

!a = !cute.memref<f32, rmem, "(8,4):(1,8)">
!b = !cute.memref<f32, rmem, "(4):(1)">
!c = !cute.memref<f32, rmem, "(8,4):(1,8)">
func.func @ranks_of_a_product(%a: !a, %b: !b, %c: !c) {
  // expected-error @below {{expected A, B and C of ranks 1 1 1, 1 1 2, 2 2 2, 2 2 3 or 3 3 3, found 2 1 2}}
  cute.gemm(%c, %a, %b, %c) : (!c, !a, !b, !c)
  return
}

// -----

!a = !cute.memref<f32, gmem, "(8,4):(1,8)">
!b = !cute.memref<f32, rmem, "(4,4):(1,4)">
!c = !cute.memref<f32, rmem, "(8,4):(1,8)">
func.func @product_of_global_memory(%a: !a, %b: !b, %c: !c) {
  // expected-error @below {{expected A in rmem or smem, found gmem; copy it into a fragment}}
  cute.gemm(%c, %a, %b, %c) : (!c, !a, !b, !c)
  return
}

// -----

!a = !cute.memref<f32, rmem, "(8,4):(1,8)">
!b = !cute.memref<f32, rmem, "(4,4):(1,4)">
!c = !cute.memref<f32, smem, "(8,4):(1,8)">
func.func @product_into_shared_memory(%a: !a, %b: !b, %c: !c) {
  // expected-error @below {{expected D in rmem, found smem; accumulate in a fragment and copy it}}
  cute.gemm(%c, %a, %b, %c) : (!c, !a, !b, !c)
  return
}

// -----

!mma = !cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>
!a = !cute.memref<f16, rmem, "(8,4):(1,8)">
!b = !cute.memref<f16, rmem, "(4,4):(1,4)">
!c = !cute.memref<f32, rmem, "(8,4):(1,8)">
func.func @atom_without_values(%mma: !mma, %a: !a, %b: !b, %c: !c) {
  // expected-error @below {{expected an atom of one value where the ranks are (M,K) x (N,K) => (M,N), found one that takes 8 of A; give A, B and C a first mode of the atom's values}}
  cute.gemm(%mma, %a, %b, %c) : (!mma, !a, !b, !c)
  return
}

// -----

!mma = !cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>
!a = !cute.memref<f16, rmem, "(4,2,2):(1,4,8)">
!b = !cute.memref<f16, rmem, "(4,2,2):(1,4,8)">
!c = !cute.memref<f32, rmem, "(4,2,2):(1,4,8)">
func.func @not_the_atoms_a(%mma: !mma, %a: !a, %b: !b, %c: !c) {
  // expected-error @below {{expected 8 values of a thread in mode 0 of A, as the atom takes, found 4; make the fragment by cute.mma.make_fragment}}
  cute.gemm(%mma, %c, %a, %b, %c) : (!mma, !c, !a, !b, !c)
  return
}

// -----

!mma = !cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>
!a = !cute.memref<f16, rmem, "(8,2,2):(1,8,16)">
!b = !cute.memref<f16, rmem, "(4,2,2):(1,4,8)">
!c = !cute.memref<f16, rmem, "(4,2,2):(1,4,8)">
func.func @not_the_atoms_types(%mma: !mma, %a: !a, %b: !b, %c: !c) {
  // expected-error @below {{expected D of f32, as the atom has it, found f16; make it by cute.mma.make_fragment C}}
  cute.gemm(%mma, %c, %a, %b, %c) : (!mma, !c, !a, !b, !c)
  return
}

// -----

!mma = !cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>
!a = !cute.memref<f16, rmem, "(8,2,2):(1,8,16)">
!b = !cute.memref<f16, rmem, "(4,2,2):(1,4,8)">
!c = !cute.memref<f32, rmem, "(4,2,2):(1,4,8)">
!d = !cute.memref<f32, rmem, "(4,2,1):(1,4,8)">
func.func @another_d(%mma: !mma, %a: !a, %b: !b, %c: !c, %d: !d) {
  // expected-error @below {{expected D and C of one shape, found (4,2,1) and (4,2,2)}}
  cute.gemm(%mma, %d, %a, %b, %c) : (!mma, !d, !a, !b, !c)
  return
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(2,1,1):(1,0,0)">, permutation_MNK = <"[32:1;16:1;16:1]">>
!a = !cute.memref<f16, smem, align<16>, "(48,32):(32,1)">
!b = !cute.memref<f16, smem, align<16>, "(32,32):(32,1)">
!c = !cute.memref<f32, smem, align<16>, "(48,32):(32,1)">
func.func @not_a_multiple_of_the_tile(%t: !cute.coord<"?">, %mma: !mma, %x: f32, %a: !a, %b: !b, %c: !c) {
  // expected-error @below {{expected M to be a multiple of the tiled MMA's 32, found 48; pad the shared tiles with zeros, or tile the atom less}}
  cute.cooperative_gemm(%t, %mma, %x, %a, %b, %x, %c) : (!cute.coord<"?">, !mma, f32, !a, !b, f32, !c)
  return
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(2,1,1):(1,0,0)">, permutation_MNK = <"[32:1;16:1;16:1]">>
!a = !cute.memref<f16, smem, align<16>, "(32,32):(32,1)">
!b = !cute.memref<f16, smem, align<16>, "(32,16):(32,1)">
!c = !cute.memref<f32, smem, align<16>, "(32,32):(32,1)">
func.func @another_k(%t: !cute.coord<"?">, %mma: !mma, %x: f32, %a: !a, %b: !b, %c: !c) {
  // expected-error @below {{expected the same K of A and B, found 32 and 16}}
  cute.cooperative_gemm(%t, %mma, %x, %a, %b, %x, %c) : (!cute.coord<"?">, !mma, f32, !a, !b, f32, !c)
  return
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(2,1,1):(1,0,0)">, permutation_MNK = <"[32:1;16:1;16:1]">>
!a = !cute.memref<f16, smem, align<16>, "(32,32):(32,1)">
!c = !cute.memref<f32, rmem, "((2,2),2,4):((1,2),4,8)">
func.func @not_the_fragment(%t: !cute.coord<"?">, %mma: !mma, %a: !a, %c: !c) {
  // expected-error @below {{expected the fragment of a C of (32,32), of shape}}
  cute.cooperative_gemm(%t, %mma, %a, %a, %c) : (!cute.coord<"?">, !mma, !a, !a, !c)
  return
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(2,1,1):(1,0,0)">, permutation_MNK = <"[32:1;16:1;16:1]">>
!a = !cute.memref<f16, smem, align<16>, "(32,32):(32,1)">
!c = !cute.memref<f32, smem, align<16>, "(32,32):(32,1)">
func.func @loaded_by_another_atom(%t: !cute.coord<"?">, %mma: !mma, %x: f32, %a: !a, %c: !c) {
  // expected-error @below {{expected copy_b to be a copy atom of f16, found !cute_nvgpu.atom.universal_copy<f32, 32 b>}}
  cute.cooperative_gemm(%t, %mma, %x, %a, %a, %x, %c) {copy_b = !cute_nvgpu.atom.universal_copy<f32, 32 b>} : (!cute.coord<"?">, !mma, f32, !a, !a, f32, !c)
  return
}

// -----

//===----------------------------------------------------------------------===//
// fill, axpby, transform, reduce
//===----------------------------------------------------------------------===//

!r = !cute.memref<f32, rmem, "(4,2):(1,4)">
func.func @fill_with_another_type(%r: !r, %v: f16) {
  // expected-error @below {{expected a value of type f32, found f16}}
  cute.fill(%r, %v) : (!r, f16)
  return
}

// -----

!x = !cute.memref<f32, rmem, "(4,2):(1,4)">
!y = !cute.memref<f32, rmem, "(4,3):(1,4)">
func.func @axpby_of_other_sizes(%v: f32, %x: !x, %y: !y) {
  // expected-error @below {{expected as many elements on both sides, found 8 in the source (4,2):(1,4) and 12 in the destination (4,3):(1,4)}}
  cute.axpby(%v, %x, %v, %y) : (f32, !x, f32, !y)
  return
}

// -----

!x = !cute.memref<f32, rmem, "(4,2):(1,4)">
!y = !cute.memref<f16, rmem, "(4,2):(1,4)">
func.func @axpby_of_other_types(%v: f32, %x: !x, %y: !y) {
  // expected-error @below {{expected x and y of one element type, found f32 and f16; use cute.convert}}
  cute.axpby(%v, %x, %v, %y) : (f32, !x, f32, !y)
  return
}

// -----

!x = !cute.memref<f32, rmem, "(4,2):(1,4)">
!y = !cute.memref<f32, gmem, "(4,2):(1,0)">
func.func @axpby_into_one_place(%v: f32, %x: !x, %y: !y) {
  // expected-error @below {{writes each place of y 2 times, as (4,2):(1,0) has modes of stride 0; use a slice without them}}
  cute.axpby(%v, %x, %v, %y) : (f32, !x, f32, !y)
  return
}

// -----

!x = !cute.memref<f32, rmem, "(4,2):(1,4)">
!y = !cute.memref<f16, rmem, "(4,2):(1,4)">
func.func @transform_yields_another_type(%x: !x, %y: !y) {
  // expected-error @below {{expected a yielded value of type f16, found f32}}
  cute.transform(%x, %y) : (!x, !y) {
  ^bb0(%e: f32):
    cute.yield %e : f32
  }
  return
}

// -----

!x = !cute.memref<f32, rmem, "(4,2):(1,4)">
func.func @transform_of_other_arguments(%x: !x) {
  // expected-error @below {{expected a region of the arguments (f32), found (f32, f32)}}
  cute.transform(%x) : (!x) {
  ^bb0(%e: f32, %f: f32):
    cute.yield %e : f32
  }
  return
}

// -----

!c = !cute.coord_tensor<"(0,0)", "(4,2):(1@0,1@1)">
func.func @transform_of_coordinates(%c: !c) {
  // expected-error @below {{expected a tensor in memory or registers as the last one, which is written}}
  cute.transform(%c) : (!c) {
  ^bb0(%e: !cute.coord<"(?,?)">):
    cute.yield %e : !cute.coord<"(?,?)">
  }
  return
}

// -----

!x = !cute.memref<f32, rmem, "(4,2):(1,4)">
func.func @reduce_by_nothing(%x: !x, %v: f32) {
  // expected-error @below {{expected a kind, such as {kind = "add"}, or a region of two arguments}}
  %s = cute.reduce(%x, %v) : (!x, f32) -> f32
  return
}

// -----

!x = !cute.memref<f32, rmem, "(4,2):(1,4)">
func.func @reduce_by_division(%x: !x, %v: f32) {
  // expected-error @below {{expected the kind add, mul, min or max, found "div"; write others as a region}}
  %s = cute.reduce(%x, %v) {kind = "div"} : (!x, f32) -> f32
  return
}

// -----

!x = !cute.memref<f32, rmem, "(4,2):(1,4)">
func.func @reduce_to_another_type(%x: !x, %v: f64) {
  // expected-error @below {{expected an initial value of type f32, found f64}}
  %s = cute.reduce(%x, %v) {kind = "add"} : (!x, f64) -> f64
  return
}

// -----

//===----------------------------------------------------------------------===//
// Threads of tiled operations
//===----------------------------------------------------------------------===//

!copy = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"((4,16),8):((128,1),16)">, tiler_mn = <"[16:1;32:1]">>
!tile = !cute.memref<f16, gmem, align<16>, "(32,32):(64,1)">
func.func @thread_of_another_copy(%copy: !copy, %g: !tile) {
  %t = cute.static : !cute.coord<"64">
  // expected-error @below {{expected a thread in [0, 64), as the tiled operation has, found 64}}
  %p = cute.tiled.copy.partition_S(%copy, %g, %t) : (!copy, !tile, !cute.coord<"64">)
    -> !cute.memref<f16, gmem, align<16>, "((8,1),2,1):((1,8),1024,32)">
  return
}

// -----

// The row of wgmma says that B is read in shared memory, and A where it is not in registers.
!mma = !cute_nvgpu.sm90.mma<64x8x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = rs>
!a = !cute.memref<f16, rmem, "((2,2,2),1,1):((1,2,4),0,0)">
!b = !cute.memref<f16, rmem, "((8,16),1,1):((1,8),0,0)">
!c = !cute.memref<f32, rmem, "((2,2,1),1,1):((1,2,0),0,0)">
func.func @operand_in_registers(%mma: !mma, %a: !a, %b: !b, %c: !c) {
  // expected-error @below {{expected B in smem, where SM90_64x8x16_F32F16F16_RS<K,K> reads it, found rmem; copy it into shared memory}}
  cute.gemm(%mma, %c, %a, %b, %c) : (!mma, !c, !a, !b, !c)
  return
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm90.mma<64x8x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
!a = !cute.memref<f16, smem, align<128>, "((64,16),1,1):((1,64),0,0)">
func.func @fragment_of_shared_memory(%mma: !mma, %a: !a) {
  // expected-error @below {{A: `wgmma descriptor` expected an operand of 64 by 16 elements of 16 bits in one of the canonical K-major layouts, found (64,16):(1,64), which has (1,0) at 1; lay it out as ((8,8),(8,2)):((8,128),(1,64))}}
  %f = cute.mma.make_fragment A (%mma, %a) : (!mma, !a) -> !cute.memref<f16, rmem, "1:0">
  return
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm90.mma<64x8x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
func.func @fragment_of_a_shape(%mma: !mma, %a: !cute.shape<"((64,16),1,1)">) {
  // expected-error @below {{expected an operand that SM90_64x8x16_F32F16F16_SS<K,K> takes from registers, found A, which it reads in shared memory by descriptors: no fragment holds it}}
  %f = cute.mma.make_fragment A (%mma, %a) : (!mma, !cute.shape<"((64,16),1,1)">) -> !cute.memref<f16, rmem, "1:0">
  return
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm90.mma<64x8x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
func.func @product_of_values(%mma: !mma, %a: vector<8xf16>, %c: vector<4xf32>) {
  // expected-error @below {{expected an atom that takes its operands from registers and is done at once, found SM90_64x8x16_F32F16F16_SS<K,K>}}
  %d = cute.atom_mma(%mma, %a, %a, %c) : (!mma, vector<8xf16>, vector<8xf16>, vector<4xf32>) -> vector<4xf32>
  return
}

// -----

!acc = !cute.memref<f32, rmem, "(64,128):(128,1)">
!exchange = !cute.memref<f32, smem, align<16>, "((4,8),128,1):((1,512),4,4096)">
func.func @cluster_sum_of_other_types(%sums: !cute.memref<f16, rmem, "(64,128):(128,1)">, %exchange: !exchange, %turn: i32) {
  // expected-error @+1 {{expected sums of one type of 32 bits on both sides, found f16 and f32}}
  cute.block.cluster_sum(%sums, %exchange, %turn) : (!cute.memref<f16, rmem, "(64,128):(128,1)">, !exchange)
  return
}

// -----

!acc = !cute.memref<f32, rmem, "(64,128):(128,1)">
!exchange = !cute.memref<f32, smem, align<16>, "((4,8),128,1):((1,512),4,4096)">
func.func @cluster_sum_elsewhere(%sums: !exchange, %turn: i32) {
  // expected-error @+1 {{expected sums in rmem, found smem}}
  cute.block.cluster_sum(%sums, %sums, %turn) : (!exchange, !exchange)
  return
}

// -----

!acc = !cute.memref<f32, rmem, "(64,128):(128,1)">
!exchange = !cute.memref<f32, smem, align<16>, "(3,128,1):(1,4,512)">
func.func @cluster_sum_of_three(%sums: !acc, %exchange: !exchange, %turn: i32) {
  // expected-error @+1 {{expected a multiple of 4 values of a thread, which are sent at once, found 3}}
  cute.block.cluster_sum(%sums, %exchange, %turn) : (!acc, !exchange)
  return
}

// -----

!acc = !cute.memref<f32, rmem, "(64,128):(128,1)">
!exchange = !cute.memref<f32, smem, align<16>, "4096:1">
func.func @cluster_sum_of_one_mode(%sums: !acc, %exchange: !exchange, %turn: i32) {
  // expected-error @+1 {{expected an exchange of (values, threads, other blocks) of a known layout without a swizzle}}
  cute.block.cluster_sum(%sums, %exchange, %turn) : (!acc, !exchange)
  return
}

// -----

!from = !cute.memref<f32, gmem, align<4>, "(64,64):(1,0)">
!to = !cute.memref<f32, rmem, "(64,64):(1,0)">
func.func @warp_load_into_registers(%from: !from, %to: !to) {
  // expected-error @below {{expected a tile in gmem and one in smem, found gmem and rmem}}
  cute.block.warp_load (%from, %to) : (!from, !to)
  return
}

// -----

!from = !cute.memref<f16, gmem, align<4>, "(64,64):(1,0)">
!to = !cute.memref<f16, smem, align<4>, "(64,64):(1,0)">
func.func @warp_load_of_halves(%from: !from, %to: !to) {
  // expected-error @below {{expected elements of 4, 8 or 16 bytes, which cp.async copies, found f16}}
  cute.block.warp_load (%from, %to) : (!from, !to)
  return
}

// -----

!from = !cute.memref<f32, gmem, align<4>, "(64,64):(1,64)">
!to = !cute.memref<f32, smem, align<4>, "(64,64):(1,0)">
func.func @warp_load_of_more(%from: !from, %to: !to) {
  // expected-error @below {{expected a destination with a place for each element of (64,64):(1,64), found (64,64):(1,0)}}
  cute.block.warp_load (%from, %to) : (!from, !to)
  return
}

// -----

!from = !cute.memref<f32, gmem, align<4>, "(64,64):(1,0)">
!to = !cute.memref<f32, smem, align<4>, "(64,64):(1,0)">
!at = !cute.coord_tensor<"(?,?)", "(64,64):(1@0,1@1)">
!end = !cute.coord<"(?,_)">
func.func @warp_load_without_end(%from: !from, %to: !to, %at: !at) {
  // expected-error @below {{expected both coordinates and an end, or neither}}
  "cute.block.warp_load"(%from, %to, %at) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> : (!from, !to, !at) -> ()
  return
}
