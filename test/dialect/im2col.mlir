// Atoms of TMA that load by im2col: read, and printed as they were; their types follow from the images and the filter.
//
// RUN: cute-opt %s | cute-opt | FileCheck %s
// RUN: cute-opt %s --mlir-print-op-generic | cute-opt | FileCheck %s

!line = !cute.memref<f16, gmem, align<16>, "(?,?,?):(1,?{div=8},?{div=8})">
!image = !cute.memref<f16, gmem, align<16>, "(64,17,?,8):(1,64,1088,?{div=8})">
!volume = !cute.memref<f32, gmem, align<16>, "(?,?,?,?,?):(1,?{div=4},?{div=4},?{div=4},?{div=4})">

// CHECK-LABEL: func.func @atoms
func.func @atoms(%line: !line, %image: !image, %volume: !volume) {
  %place = cute.static "S<3,4,3> o 0 o (128,64):(64,1)"
  // A number for W alone, and no strides.
  // CHECK:      cute_nvgpu.atom.make_im2col_tma_load(%{{.*}}, %{{.*}}) lower_corner [-2] upper_corner [0] filter [3] :
  // CHECK-SAME:   -> (!cute_nvgpu.atom.im2col_tma_load<f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, lower_corner = "(-2)", upper_corner = "(0)", stride = "(1)", swizzle = 128>,
  // CHECK-SAME:       !cute.coord_tensor<"(0,0,0,?)", "(?,(?,3)):(1@1,(1@0,1@2))">)
  %a, %of_line = cute_nvgpu.atom.make_im2col_tma_load(%line, %place) lower_corner [-2] upper_corner [0] filter [3]
  // What is known of the image is known of the coordinates: (17 - 1 + 2) / 2 places and one along W. A negative dilation begins at the filter's end.
  // CHECK:      cute_nvgpu.atom.make_im2col_tma_load(%{{.*}}, %{{.*}}) lower_corner [-1, 0] upper_corner [1, 0] stride [2, 3] filter [3, 1] dilation [-2, 1] :
  // CHECK-SAME:   lower_corner = "(-1,0)", upper_corner = "(1,0)", stride = "(2,3)"
  // CHECK-SAME:   !cute.coord_tensor<"(0,0,4,0,10,?)", "(?,(64,3,1)):(1@1,(1@0,-2@2,1@3))">)
  %b, %of_image = cute_nvgpu.atom.make_im2col_tma_load(%image, %place) lower_corner [-1, 0] upper_corner [1, 0] stride [2, 3] filter [3, 1] dilation [-2, 1]
  // More channels than the swizzle spans are several columns, and so are more pixels than 1024.
  %wide = cute.static "S<3,4,3> o 0 o (2048,(32,2)):(32,(1,65536))"
  // CHECK:      cute_nvgpu.atom.im2col_tma_load<f32, copy_bits = 1048576, tma_gbasis = <"(32,1024):(1@1,1@0)">
  // CHECK-SAME:   !cute.coord_tensor<"(0,0,0,0,0,?,?,?)", "(?,(?,2,2,2)):(1@1,(1@0,1@2,1@3,1@4))">)
  %c, %of_volume = cute_nvgpu.atom.make_im2col_tma_load(%volume, %wide) lower_corner [0, 0, 0] upper_corner [-1, -1, -1] filter [2, 2, 2]
  return
}

!load = !cute_nvgpu.atom.im2col_tma_load<f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, lower_corner = "(-1,-1)", upper_corner = "(-1,-1)", stride = "(1,1)", swizzle = 128>
!tile = !cute.coord_tensor<"(?{div=64},?{div=128},?,?,?,?)", "(128,64):(1@1,1@0)">
!sA = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(128,64):(64,1)">
!bars = !cute.memref<i64, smem, align<8>, "4:1">
// CHECK-LABEL: func.func @copies
func.func @copies(%load: !load, %t: !tile, %x: i32, %a: !sA, %bars: !bars, %mask: i16) {
  // CHECK: cute_nvgpu.prefetch_tma_desc(%{{.*}}) : !cute_nvgpu.atom.im2col_tma_load
  cute_nvgpu.prefetch_tma_desc(%load) : !load
  // CHECK: cute_nvgpu.tma_load(%{{.*}}, [%{{.*}}], %{{.*}}) on %{{.*}}[%{{.*}}] :
  cute_nvgpu.tma_load(%load, [%t], %a) on %bars[%x] : (!load, [!tile], !sA), !bars
  // CHECK: cute_nvgpu.tma_load(%{{.*}}, [%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}], %{{.*}}) on %{{.*}}[%{{.*}}] multicast(%{{.*}}) :
  cute_nvgpu.tma_load(%load, [%x, %x, %x, %x, %x, %x], %a) on %bars[%x] multicast(%mask) : (!load, [i32, i32, i32, i32, i32, i32], !sA), !bars
  // CHECK: cute_nvgpu.tma_prefetch(%{{.*}}, [%{{.*}}]) :
  cute_nvgpu.tma_prefetch(%load, [%t]) : (!load, [!tile])
  return
}
