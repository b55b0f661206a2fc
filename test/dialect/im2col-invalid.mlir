// What atoms of TMA that load by im2col refuse: what was expected, what was found, what to do.
//
// RUN: cute-opt %s --split-input-file --verify-diagnostics

!x = !cute.memref<f16, gmem, align<16>, "(?,?,?):(1,?{div=8},?{div=8})">
func.func @a_corner_too_many(%X: !x) {
  %place = cute.static "S<3,4,3> o 0 o (128,64):(64,1)"
  // expected-error @+1 {{expected a tensor of 4 modes, (C,W,H,N): channels, 2 of pixels, as corners are given for, and images, found (?,?,?):(1,?{div=8},?{div=8}); order the modes so, or give a corner for each mode of pixels}}
  %a, %c = cute_nvgpu.atom.make_im2col_tma_load(%X, %place) lower_corner [0, 0] upper_corner [0, 0] filter [1, 1]
  return
}

// -----

!x = !cute.memref<f16, gmem, align<16>, "(?,?,?):(1,?{div=8},?{div=8})">
func.func @lists_of_other_lengths(%X: !x) {
  %place = cute.static "S<3,4,3> o 0 o (128,64):(64,1)"
  // expected-error @+1 {{in each of lower_corner, upper_corner and stride, found 2 of upper_corner}}
  %a, %c = cute_nvgpu.atom.make_im2col_tma_load(%X, %place) lower_corner [0] upper_corner [0, 0] filter [1]
  return
}

// -----

!x = !cute.memref<f16, gmem, align<16>, "(?,?,?):(1,?{div=8},?{div=8})">
func.func @no_corners(%X: !x) {
  %place = cute.static "S<3,4,3> o 0 o (128,64):(64,1)"
  // expected-error @+1 {{found 0 of lower_corner; give one for each mode of the tensor but the first, channels, and the last, images}}
  %a, %c = cute_nvgpu.atom.make_im2col_tma_load(%X, %place) lower_corner [] upper_corner [] filter []
  return
}

// -----

!x = !cute.memref<f16, gmem, align<16>, "(?,?,?,?):(1,?{div=8},?{div=8},?{div=8})">
func.func @a_corner_of_too_many_bits(%X: !x) {
  %place = cute.static "S<3,4,3> o 0 o (128,64):(64,1)"
  // expected-error @+1 {{expected lower_corner of -128 to 127 along H, as a tensor map of 4 modes has it, found -129; pad the tensor in memory}}
  %a, %c = cute_nvgpu.atom.make_im2col_tma_load(%X, %place) lower_corner [0, -129] upper_corner [0, 0] filter [1, 1]
  return
}

// -----

!x = !cute.memref<f16, gmem, align<16>, "(?,?,?,?):(1,?{div=8},?{div=8},?{div=8})">
func.func @a_long_stride(%X: !x) {
  %place = cute.static "S<3,4,3> o 0 o (128,64):(64,1)"
  // expected-error @+1 {{expected a stride of 1 to 8 along W, found 9; fold a longer one into the tensor's stride}}
  %a, %c = cute_nvgpu.atom.make_im2col_tma_load(%X, %place) lower_corner [0, 0] upper_corner [0, 0] stride [9, 1] filter [1, 1]
  return
}

// -----

!x = !cute.memref<f16, gmem, align<16>, "(?,?,?,?,?):(1,?{div=8},?{div=8},?{div=8},?{div=8})">
func.func @a_filter_out_of_reach(%X: !x) {
  %place = cute.static "S<3,4,3> o 0 o (128,64):(64,1)"
  // expected-error @+1 {{along D, not 0 pixels apart, whose last one is at most 31 pixels from the first, as an instruction on 5 modes has it, found 3 elements, 16 pixels apart; split the filter}}
  %a, %c = cute_nvgpu.atom.make_im2col_tma_load(%X, %place) lower_corner [0, 0, 0] upper_corner [0, 0, 0] filter [1, 1, 3] dilation [1, 1, 16]
  return
}

// -----

!x = !cute.memref<f16, gmem, align<16>, "(?,?,?):(1,?{div=8},?{div=8})">
func.func @no_dilation(%X: !x) {
  %place = cute.static "S<3,4,3> o 0 o (128,64):(64,1)"
  // expected-error @+1 {{found 3 elements, 0 pixels apart}}
  %a, %c = cute_nvgpu.atom.make_im2col_tma_load(%X, %place) lower_corner [0] upper_corner [0] filter [3] dilation [0]
  return
}

// -----

!x = !cute.memref<f16, gmem, align<16>, "(?,?,?):(1,?{div=8},?{div=8})">
func.func @a_filter_of_another_rank(%X: !x) {
  %place = cute.static "S<3,4,3> o 0 o (128,64):(64,1)"
  // expected-error @+1 {{expected 1 numbers of filter, as many as of lower_corner, found 2; give one for each mode of pixels}}
  %a, %c = cute_nvgpu.atom.make_im2col_tma_load(%X, %place) lower_corner [0] upper_corner [0] filter [3, 3]
  return
}

// -----

!x = !cute.memref<f16, gmem, align<16>, "(64,5,?):(1,64,?{div=8})">
func.func @a_filter_wider_than_the_image(%X: !x) {
  %place = cute.static "S<3,4,3> o 0 o (128,64):(64,1)"
  // expected-error @+1 {{expected corners with a pixel between them along W, in (64,5,?):(1,64,?{div=8}), found lower_corner 0 and upper_corner -6; pad more}}
  %a, %c = cute_nvgpu.atom.make_im2col_tma_load(%X, %place) lower_corner [0] upper_corner [-6] filter [7]
  return
}

// -----

!x = !cute.memref<f16, gmem, align<16>, "(?,?,?,?):(?{div=8},?{div=8},1,?{div=8})">
func.func @channels_apart(%X: !x) {
  %place = cute.static "S<3,4,3> o 0 o (128,64):(64,1)"
  // expected-error @+1 {{expected a tensor whose first mode, channels, has stride 1, found (?,?,?,?):(?{div=8},?{div=8},1,?{div=8}); lay images out as NHWC}}
  %a, %c = cute_nvgpu.atom.make_im2col_tma_load(%X, %place) lower_corner [0, 0] upper_corner [0, 0] filter [1, 1]
  return
}

// -----

!x = !cute.memref<f16, gmem, align<16>, "(?,?,?):(1,?,?{div=8})">
func.func @pixels_anywhere(%X: !x) {
  %place = cute.static "S<3,4,3> o 0 o (128,64):(64,1)"
  // expected-error @+1 {{expected strides that are positive multiples of 16 bytes, found (?,?,?):(1,?,?{div=8})}}
  %a, %c = cute_nvgpu.atom.make_im2col_tma_load(%X, %place) lower_corner [0] upper_corner [0] filter [1]
  return
}

// -----

!x = !cute.memref<f16, gmem, align<16>, "(?,?,?):(1,?{div=8},?{div=8})">
func.func @a_place_of_three_modes(%X: !x) {
  %place = cute.static "(128,64,4):(64,1,8192)"
  // expected-error @+1 {{expected a layout in shared memory of two modes, pixels and channels, found (128,64,4):(64,1,8192)}}
  %a, %c = cute_nvgpu.atom.make_im2col_tma_load(%X, %place) lower_corner [0] upper_corner [0] filter [1]
  return
}

// -----

!x = !cute.memref<f16, gmem, align<16>, "(?,?,?):(1,?{div=8},?{div=8})">
func.func @pixels_side_by_side(%X: !x) {
  %place = cute.static "(64,64):(1,64)"
  // expected-error @+1 {{expected shared memory to be contiguous along the mode that global memory is contiguous along}}
  %a, %c = cute_nvgpu.atom.make_im2col_tma_load(%X, %place) lower_corner [0] upper_corner [0] filter [1]
  return
}

// -----

!x = !cute.memref<f16, gmem, align<16>, "(?,?,?):(1,?{div=8},?{div=8})">
!load = !cute_nvgpu.atom.im2col_tma_load<f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, lower_corner = "(-1)", upper_corner = "(0)", stride = "(1)", swizzle = 128>
!place = !cute.composed_layout<"S<3,4,3> o 0 o (128,64):(64,1)">
func.func @another_atom(%X: !x, %place: !place) {
  // expected-error @+1 {{expected the atom !cute_nvgpu.atom.im2col_tma_load<f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, lower_corner = "(0)"}}
  %a, %c = cute_nvgpu.atom.make_im2col_tma_load(%X, %place) lower_corner [0] upper_corner [0] filter [1] : (!x, !place) -> (!load, !cute.coord_tensor<"(0,0,0,?)", "(?,(?,1)):(1@1,(1@0,1@2))">)
  return
}

// -----

// expected-error @+1 {{expected a number along W, and perhaps H and D, such as (-1,-1), found -1}}
func.func @no_list(%a: !cute_nvgpu.atom.im2col_tma_load<f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, lower_corner = "-1", upper_corner = "(0)", stride = "(1)", swizzle = 128>) { return }

// -----

// expected-error @+1 {{expected upper_corner of -16 to 15 along W, as a tensor map of 5 modes has it, found 16}}
func.func @an_atom_out_of_range(%a: !cute_nvgpu.atom.im2col_tma_load<f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, lower_corner = "(0,0,0)", upper_corner = "(16,0,0)", stride = "(1,1,1)", swizzle = 128>) { return }

// -----

// expected-error @+1 {{expected a column such as (64,128):(1@1,1@0), of at most 256 channels, which are mode 1, by 1024 pixels, which are mode 0}}
func.func @too_many_pixels(%a: !cute_nvgpu.atom.im2col_tma_load<f16, copy_bits = 2097152, tma_gbasis = <"(64,2048):(1@1,1@0)">, lower_corner = "(0)", upper_corner = "(0)", stride = "(1)", swizzle = 128>) { return }

// -----

!load = !cute_nvgpu.atom.im2col_tma_load<f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, lower_corner = "(-1,-1)", upper_corner = "(-1,-1)", stride = "(1,1)", swizzle = 128>
!tile = !cute.coord_tensor<"(?{div=64},?{div=128})", "(128,64):(1@1,1@0)">
!sA = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(128,64):(64,1)">
!bars = !cute.memref<i64, smem, align<8>, "4:1">
func.func @coordinates_of_a_matrix(%load: !load, %t: !tile, %x: i32, %a: !sA, %bars: !bars) {
  // expected-error @+1 {{expected 6 coordinates, as cute_nvgpu.atom.make_im2col_tma_load gives them together with the atom, found (?{div=64},?{div=128})}}
  cute_nvgpu.tma_load(%load, [%t], %a) on %bars[%x] : (!load, [!tile], !sA), !bars
  return
}

// -----

!load = !cute_nvgpu.atom.im2col_tma_load<f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, lower_corner = "(-1,-1)", upper_corner = "(-1,-1)", stride = "(1,1)", swizzle = 128>
!sA = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(128,64):(64,1)">
!bars = !cute.memref<i64, smem, align<8>, "4:1">
func.func @no_offsets(%load: !load, %x: i32, %a: !sA, %bars: !bars) {
  // expected-error @+1 {{expected the coordinates of a tile, or 6 of i32, the contiguous dimension's first, 4 of a pixel and 2 offsets of the filter, found 4}}
  cute_nvgpu.tma_load(%load, [%x, %x, %x, %x], %a) on %bars[%x] : (!load, [i32, i32, i32, i32], !sA), !bars
  return
}

// -----

!load = !cute_nvgpu.atom.im2col_tma_load<f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, lower_corner = "(-1)", upper_corner = "(-1)", stride = "(1)", swizzle = 128>
!tile = !cute.coord_tensor<"(?{div=64},?,?,?)", "(128,64):(2@1,1@0)">
!sA = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(128,64):(64,1)">
!bars = !cute.memref<i64, smem, align<8>, "4:1">
func.func @every_other_pixel(%load: !load, %t: !tile, %x: i32, %a: !sA, %bars: !bars) {
  // expected-error @+1 {{expected a tile that lies in shared memory as boxes of 8192 elements one behind the other, 64 x 128}}
  cute_nvgpu.tma_load(%load, [%t], %a) on %bars[%x] : (!load, [!tile], !sA), !bars
  return
}

// -----

!x = !cute.memref<f16, gmem, align<16>, "(?,?,?):(1,?{div=8},?{div=8})">
gpu.module @kernels {
  gpu.func @in_a_kernel(%X: !x) kernel {
    %place = cute.static "S<3,4,3> o 0 o (128,64):(64,1)"
    // expected-error @+1 {{stands in a kernel; expected it in the function that launches}}
    %a, %c = cute_nvgpu.atom.make_im2col_tma_load(%X, %place) lower_corner [0] upper_corner [0] filter [1]
    gpu.return
  }
}
