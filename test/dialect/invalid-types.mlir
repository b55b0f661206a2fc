// What types require of their parameters. Where a limit is tested, the type on the other side of
// it stands beside it and is accepted.
//
// RUN: cute-opt %s --split-input-file --verify-diagnostics

//===----------------------------------------------------------------------===//
// Text of the layout algebra
//===----------------------------------------------------------------------===//

// expected-error @below {{expected `,` or `)`, found the end}}
func.func private @open_tuple(!cute.int_tuple<"(1,2">)

// -----

// expected-error @below {{expected an integer, `?` or `(`, found `_`}}
func.func private @underscore_in_shape(!cute.shape<"(4,_)">)

// -----

func.func private @underscore_in_coord(!cute.coord<"(4,_)">)

// -----

// expected-error @below {{found `x`}}
func.func private @letters(!cute.int_tuple<"x">)

// -----

// expected-error @below {{expected the end of the text, found `,`}}
func.func private @two_values(!cute.int_tuple<"1,2">)

// -----

// expected-error @below {{expected an integer of 64 bits, found 9223372036854775808}}
func.func private @too_large(!cute.int_tuple<"9223372036854775808">)

// -----

func.func private @largest(!cute.int_tuple<"9223372036854775807">)

// -----

// expected-error @below {{expected `i32`, `i64` or `div=N` after `?{`}}
func.func private @unknown_width(!cute.int_tuple<"?{i16}">)

// -----

// expected-error @below {{expected a positive divisor, or 0 of a number that is 0, found -8}}
func.func private @negative_divisor(!cute.int_tuple<"?{div=-8}">)

// -----

// expected-error @below {{use one kind of stride throughout}}
func.func private @mixed_strides(!cute.stride<"(1@0,4)">)

// -----

// expected-error @below {{expected string}}
func.func private @unquoted(!cute.layout<(2,3)>)

// -----

// expected-error @below {{expected a stride congruent to shape (2,3), found (1,2,3); give both the same nesting}}
func.func private @not_congruent(!cute.layout<"(2,3):(1,2,3)">)

// -----

// expected-error @below {{expected positive integers (or `?`) in a shape, found (0,3); make every extent at least 1}}
func.func private @empty_mode(!cute.layout<"(0,3):(1,2)">)

// -----

// expected-error @below {{found an overflow; make the shape or stride smaller}}
func.func private @overflow(!cute.layout<"(4,4):(9223372036854775807,1)">)

// -----

// expected-error @below {{expected `;` or `]`, found `,`}}
func.func private @tile_separator(!cute.tile<"[4:1,2:1]">)

// -----

// expected-error @below {{expected `S<B,M,S>`, found `T`}}
func.func private @swizzle_letter(!cute.swizzle<"T<3,4,3>">)

// -----

// |S| is at least B.
// expected-error @below {{S<3,4,2>}}
func.func private @swizzle_shift(!cute.swizzle<"S<3,4,2>">)

// -----

func.func private @swizzle_shift_of_b(!cute.swizzle<"S<3,4,3>">)

// -----

// expected-error @below {{a scalar offset and integer strides under a swizzle}}
func.func private @composed_offset(!cute.composed_layout<"S<3,5,4> o (0,0) o (8,4):(1,8)">)

// -----

// expected-error @below {{expected `o`}}
func.func private @composed_word(!cute.composed_layout<"S<3,5,4> x 0 o (8,4)">)

// -----

//===----------------------------------------------------------------------===//
// Tensors and pointers
//===----------------------------------------------------------------------===//

// expected-error @below {{expected the memory space gmem, smem, dsmem, rmem, generic or tmem, found 'global'}}
func.func private @space(!cute.memref<f16, global, "8:1">)

// -----

// expected-error @below {{expected the memory space gmem, smem, dsmem, rmem, generic or tmem, found 'shared'}}
func.func private @pointer_space(!cute.ptr<f16, shared>)

// -----

// expected-error @below {{expected an integer or floating-point element type, found}}
func.func private @element(!cute.memref<vector<2xf16>, gmem, "8:1">)

// -----

// expected-error @below {{expected elements of 4 bits or of whole bytes in memory, found i3}}
func.func private @three_bits(!cute.memref<i3, gmem, "8:1">)

// -----

func.func private @nibbles_in_registers(!cute.memref<i4, rmem, "8:1">)

// -----

// expected-error @below {{expected an alignment that is a power of two, found 48}}
func.func private @align(!cute.memref<f16, gmem, align<48>, "8:1">)

// -----

// expected-error @below {{expected an alignment that is a power of two, found -16}}
func.func private @negative_align(!cute.memref<f16, gmem, align<-16>, "8:1">)

// -----

// expected-error @below {{expected an alignment of at least the element's 4 bytes, found 2}}
func.func private @small_align(!cute.memref<f32, gmem, align<2>, "8:1">)

// -----

// expected-error @below {{expected an alignment of at least the element's 2 bytes, found 1}}
func.func private @small_pointer_align(!cute.ptr<f16, gmem, align<1>>)

// -----

// expected-error @below {{expected a swizzle only on tensors in smem, found one in gmem}}
func.func private @swizzled_gmem(!cute.memref<f16, gmem, align<512>, S<2,4,3>, "8:1">)

// -----

// expected-error @below {{expected a swizzle only on tensors in smem, found one in rmem}}
func.func private @swizzled_rmem(!cute.ptr<f16, rmem, S<2,4,3>>)

// -----

// expected-error @below {{S<3,4,2>}}
func.func private @bad_swizzle(!cute.memref<f16, smem, align<512>, S<3,4,2>, "8:1">)

// -----

// expected-error @below {{expected ', "layout"'}}
func.func private @no_layout(!cute.memref<f16, smem, align<512>>)

// -----

// expected-error @below {{expected align<N> or S<B,M,S>}}
func.func private @pointer_layout(!cute.ptr<f16, smem, "8:1">)

// -----

// expected-error @below {{expected a stride congruent to shape 8, found (1,2); give both the same nesting}}
func.func private @tensor_layout(!cute.memref<f16, smem, "8:(1,2)">)

// -----

//===----------------------------------------------------------------------===//
// Atoms
//===----------------------------------------------------------------------===//

// expected-error @below {{`UniversalCopy` expected one of [8, 16, 32, 64, 128] bits, found 256}}
func.func private @wide_copy(!cute_nvgpu.atom.universal_copy<f16, 256 b>)

// -----

// expected-error @below {{expected elements that UniversalCopy<16> moves whole, found elements of 32 bits}}
func.func private @narrow_copy(!cute_nvgpu.atom.universal_copy<f32, 16 b>)

// -----

// expected-error @below {{expected an element type with a width, found vector<2xf16>}}
func.func private @copied_vectors(!cute_nvgpu.atom.universal_copy<vector<2xf16>, 32 b>)

// -----

// expected-error @below {{cache = global copies 128 bits, found 64; write cache = always}}
func.func private @cg_8_bytes(!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 64 b>)

// -----

func.func private @ca_8_bytes(!cute_nvgpu.atom.simt_async_copy<f16, cache = always, 64 b>)

// -----

// expected-error @below {{`cp.async` expected one of [4, 8, 16] bytes, found 2}}
func.func private @ca_2_bytes(!cute_nvgpu.atom.simt_async_copy<f16, cache = always, 16 b>)

// -----

// expected-error @below {{expected cache = always or global, found 'never'}}
func.func private @cache(!cute_nvgpu.atom.simt_async_copy<f16, cache = never, 128 b>)

// -----

// expected-error @below {{`ldmatrix` expected one of [1, 2, 4] matrices, found 3}}
func.func private @three_matrices(!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 3, n>)

// -----

// expected-error @below {{expected n or t, found 'x'}}
func.func private @transposition(!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, x>)

// -----

// expected-error @below {{expected mode = <"(8,8)">, sz_pattern = u16, found mode = <"(16,16)">, sz_pattern = u8}}
func.func private @matrix_mode(!cute_nvgpu.atom.ldsm<val_type = i8, mode = <"(16,16)">, sz_pattern = u8, num_matrices = 2, t>)

// -----

// Transposed, it moves 16 bits at a time.
// expected-error @below {{found elements of 32 bits}}
func.func private @transposed_words(!cute_nvgpu.atom.ldsm<val_type = f32, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, t>)

// -----

func.func private @plain_words(!cute_nvgpu.atom.ldsm<val_type = f32, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>)

// -----

// The message lists the atoms that there are.
// expected-error-re @below {{expected a sm80.mma of the table, one of {{.*}}16x8x16 (f16, f16, f32){{.*}}, found 16x16x16 (f16, f16, f32)}}
func.func private @no_such_shape(!cute_nvgpu.sm80.mma<16x16x16, elem_type = (f16, f16, f32)>)

// -----

// expected-error @below {{expected a shape MxNxK, found 2 extents}}
func.func private @two_extents(!cute_nvgpu.sm80.mma<16x8, elem_type = (f16, f16, f32)>)

// -----

// expected-error @below {{found 16x8x16 (f16, bf16, f32)}}
func.func private @mixed_elements(!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, bf16, f32)>)

// -----

// expected-error @below {{no atom knows the element type i7}}
func.func private @odd_element(!cute_nvgpu.sm80.mma<16x8x16, elem_type = (i7, i7, i32)>)

// -----

//===----------------------------------------------------------------------===//
// Tiled operations
//===----------------------------------------------------------------------===//

// expected-error @below {{expected a copy atom, such as !cute_nvgpu.atom.universal_copy, found i32}}
func.func private @copy_of_no_atom(!cute.tiled_copy<i32, layout_copy_tv = <"(32,8):(8,1)">, tiler_mn = <"[256:1]">>)

// -----

// expected-error @below {{expected a copy atom, such as !cute_nvgpu.atom.universal_copy}}
func.func private @copy_of_mma(!cute.tiled_copy<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>,
  layout_copy_tv = <"(32,8):(8,1)">, tiler_mn = <"[256:1]">>)

// -----

// expected-error @below {{expected an MMA atom, such as !cute_nvgpu.sm80.mma}}
func.func private @mma_of_copy(!cute.tiled_mma<!cute_nvgpu.atom.universal_copy<f16, 32 b>,
  atom_layout_MNK = <"(1,1,1):(0,0,0)">, permutation_MNK = <"_">>)

// -----

// expected-error @below {{expected an MMA atom, such as !cute_nvgpu.sm80.mma, found f32}}
func.func private @mma_of_no_atom(!cute.tiled_mma<f32, atom_layout_MNK = <"(1,1,1):(0,0,0)">, permutation_MNK = <"_">>)

// -----

// expected-error @below {{`tiled copy` expected a layout (thread, value) of rank 2, found (4,4,4):(16,4,1)}}
func.func private @tv_rank(!cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 16 b>,
  layout_copy_tv = <"(4,4,4):(16,4,1)">, tiler_mn = <"[64:1]">>)

// -----

// expected-error @below {{expected values a thread in multiples of the 8 that UniversalCopy<128> moves, found 4}}
func.func private @few_values(!cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>,
  layout_copy_tv = <"(32,4):(4,1)">, tiler_mn = <"[128:1]">>)

// -----

// expected-error @below {{expected threads in multiples of the 32 that SM75_U32x4_LDSM_N moves, found 16}}
func.func private @few_threads(!cute.tiled_copy<!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>,
  layout_copy_tv = <"(16,8):(8,1)">, tiler_mn = <"[128:1]">>)

// -----

// expected-error @below {{within the 64 elements of [64:1], found (32,8):(8,1); enlarge the tiler}}
func.func private @small_tiler(!cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>,
  layout_copy_tv = <"(32,8):(8,1)">, tiler_mn = <"[64:1]">>)

// -----

// expected-error @below {{`tiled copy` expected static integers, found _}}
func.func private @open_tiler(!cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>,
  layout_copy_tv = <"(32,8):(8,1)">, tiler_mn = <"_">>)

// -----

// expected-error @below {{`tiled MMA` expected at most three modes (M,N,K), found (1,1,1,1):(0,0,0,0)}}
func.func private @four_modes(!cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>,
  atom_layout_MNK = <"(1,1,1,1):(0,0,0,0)">, permutation_MNK = <"_">>)

// -----

// expected-error @below {{expected a permutation of M whose size is a multiple of 32, found 16:1; use 32:1, a multiple of it, or `_`}}
func.func private @small_permutation(!cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>,
  atom_layout_MNK = <"(2,1,1):(1,0,0)">, permutation_MNK = <"[16:1;8:1;16:1]">>)

// -----

//===----------------------------------------------------------------------===//
// Pipelines, and types that are not there
//===----------------------------------------------------------------------===//

// expected-error @below {{expected 1 to 1024 stages, found 0}}
func.func private @no_stages(!cute.pipeline<0>)

// -----

// expected-error @below {{expected 1 to 1024 stages, found 4294967296}}
func.func private @too_many_stages(!cute.pipeline<4294967296>)

// -----

// expected-error @below {{expected an alignment of at most 1073741824 bytes, found 4294967296}}
func.func private @aligned_to_everything(!cute.memref<f16, gmem, align<4294967296>, "8:1">)

// -----

// expected-error @below {{expected an alignment of at most 1073741824 bytes, found 2147483648}}
func.func private @aligned_beyond_an_attribute(!cute.ptr<f16, gmem, align<2147483648>>)

// -----

func.func private @one_stage(!cute.pipeline<1>)

// -----

// expected-error @below {{expected a type of the dialect, found '!cute.tensor'; here that is !cute.memref, and of coordinates !cute.coord_tensor}}
func.func private @unknown_type(!cute.tensor<"8:1">)

// -----

// expected-error @below {{expected a type of the dialect, found '!cute_nvgpu.sm100.mma'; did you mean}}
func.func private @unknown_atom(!cute_nvgpu.sm100.mma<64x8x16>)
