// Convolutions of lines and of volumes by im2col, in kernels whose warps get roles: loads without barriers become rings.
//
// RUN: cute-opt %s --cute-compile="arch=sm_90a package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --info --function lines | FileCheck %s --check-prefix=INFO
// RUN: cute-run %t.cutepkg --function lines --device=emulator --seeds 3 --shape X=32x37x9 --shape F=256x32x4 --shape Y=333x256 | FileCheck %s
// RUN: cute-run %t.cutepkg --function lines --device=emulator --seeds 2 --shape X=32x6x5 --shape F=256x32x4 --shape Y=30x256 | FileCheck %s
// RUN: cute-run %t.cutepkg --function volumes --device=emulator --seeds 3 --shape X=64x7x6x5x2 --shape F=256x64x2x2x2 --shape Y=144x256 | FileCheck %s
//
// CHECK: right; every element compared
// CHECK: no findings
// INFO: map of X (32 x X.shape[1] x X.shape[2]) by columns of 128 pixels of 32, from -3 to -3 by 1, swizzled by 64 B

!y = !cute.memref<f16, gmem, align<16>, "(?,?):(?{div=8},1)">
!of_Y = !cute.coord_tensor<"(0,0)", "(?,?):(1@1,1@0)">
!store = !cute_nvgpu.atom.tma_store<f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, swizzle = 128>
!sY = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(128,(64,4)):(64,(1,8192))">
!wgmma = !cute_nvgpu.sm90.mma<64x256x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
!mma = !cute.tiled_mma<!wgmma, atom_layout_MNK = <"(2,1,1):(1,0,0)">>
!half = !cute.memref<f16, rmem, "((2,2,32),1,1):((1,2,4),0,0)">

// A filter of 4 that is gone through from its end, every other pixel, as a gradient does it. A tile of K is two of its elements: two columns, 32 channels wide.
!x1 = !cute.memref<f16, gmem, align<16>, "(32,?,?):(1,?{div=8},?{div=8})">
!f1 = !cute.memref<f16, gmem, align<16>, "(256,32,4):(?{div=8},1,?{div=8})">
!of_X1 = !cute.coord_tensor<"(0,0,6,?)", "(?,(32,4)):(1@1,(1@0,-2@2))">
!of_F1 = !cute.coord_tensor<"(0,0,0)", "(256,32,4):(1@1,1@0,1@2)">
!load_X1 = !cute_nvgpu.atom.im2col_tma_load<f16, copy_bits = 65536, tma_gbasis = <"(32,128):(1@1,1@0)">, lower_corner = "(-3)", upper_corner = "(-3)", stride = "(1)", swizzle = 64>
!load_F1 = !cute_nvgpu.atom.tma_load<f16, copy_bits = 262144, tma_gbasis = <"(32,256,2):(1@1,1@0,1@2)">, swizzle = 64>
!gX1 = !cute.coord_tensor<"(0,?{div=128},?{div=2},?)", "(128,(32,2)):(1@1,(1@0,-2@2))">
!gF1 = !cute.coord_tensor<"(0,0,?{div=2})", "(256,32,2):(1@1,1@0,1@2)">
!sX1 = !cute.memref<f16, smem, align<512>, S<2,4,3>, "(128,(32,2)):(32,(1,4096))">
!sF1 = !cute.memref<f16, smem, align<512>, S<2,4,3>, "(256,(32,2)):(32,(1,8192))">

// A filter of 2 by 2 by 2 over every other pixel along H.
!x3 = !cute.memref<f16, gmem, align<16>, "(64,?,?,?,?):(1,?{div=8},?{div=8},?{div=8},?{div=8})">
!f3 = !cute.memref<f16, gmem, align<16>, "(256,64,2,2,2):(?{div=8},1,?{div=8},?{div=8},?{div=8})">
!of_X3 = !cute.coord_tensor<"(0,0,0,0,0,?,?,?)", "(?,(64,2,2,2)):(1@1,(1@0,1@2,1@3,1@4))">
!of_F3 = !cute.coord_tensor<"(0,0,0,0,0)", "(256,64,2,2,2):(1@1,1@0,1@2,1@3,1@4)">
!load_X3 = !cute_nvgpu.atom.im2col_tma_load<f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, lower_corner = "(0,0,0)", upper_corner = "(-1,-1,-1)", stride = "(1,2,1)", swizzle = 128>
!load_F3 = !cute_nvgpu.atom.tma_load<f16, copy_bits = 262144, tma_gbasis = <"(64,256,1,1,1):(1@1,1@0,1@2,1@3,1@4)">, swizzle = 128>
!gX3 = !cute.coord_tensor<"(0,?{div=128},?,?,?,?,?,?)", "(128,(64,1,1,1)):(1@1,(1@0,1@2,1@3,1@4))">
!gF3 = !cute.coord_tensor<"(0,0,?,?,?)", "(256,64,1,1,1):(1@1,1@0,1@2,1@3,1@4)">
!sX3 = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(128,64):(64,1)">
!sF3 = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(256,64):(64,1)">

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // The sums as f16 to Y.
    func.func private @store(%acc: !cute.any, %mma: !mma, %thread: !cute.coord<"?">, %store: !store, %Y: !of_Y, %m: i32) {
      %c0 = arith.constant 0 : i32
      %s = cute.memref.alloca() : !sY
      %tile = cute.static "[128:1;256:1]"
      %at = cute.make_coord(%m, %c0)
      %g = cute.local_tile(%Y, %tile, %at)
      %half = cute.convert(%acc) -> !half
      %part = cute.tiled.mma.partition C (%mma, %s, %thread)
      cute.autovec_copy(%half, %part)
      cute_nvgpu.tma_store(%store, %s, [%g])
      return
    }

    gpu.func @lines_kernel(%load_X: !load_X1, %X: !of_X1, %load_F: !load_F1, %F: !of_F1, %store: !store, %Y: !of_Y) kernel
        attributes {known_block_size = array<i32: 384, 1, 1>, cute.roles = array<i64: 40, 232>} {
      %tx = gpu.thread_id x
      %bx = gpu.block_id x
      %t32 = arith.index_cast %tx : index to i32
      %m = arith.index_cast %bx : index to i32
      %thread = cute.make_coord(%t32)
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %c2 = arith.constant 2 : i32
      %c32 = arith.constant 32 : i32
      %mask = arith.constant -4 : i32
      %warp_of = arith.divui %t32, %c32 : i32
      %warp = cute_nvgpu.arch.make_warp_uniform(%warp_of)
      %group = arith.andi %warp, %mask : i32
      %group_first = arith.muli %group, %c32 : i32
      %first = cute.make_coord(%group_first)
      %mma = cute.static : !mma
      %sX = cute.memref.alloca() : !sX1
      %sF = cute.memref.alloca() : !sF1
      %a = cute.tiled.mma.partition A (%mma, %sX, %first)
      %b = cute.tiled.mma.partition B (%mma, %sF, %first)
      %part = cute.static shape "((2,2,32),1,1)"
      %acc = cute.mma.make_fragment C (%mma, %part)
      cute.clear(%acc)
      %tile_X = cute.static "[128:1;[32:1;2:1]]"
      %tile_F = cute.static "[256:1;32:1;2:1]"
      scf.for %k = %c0 to %c2 step %c1 : i32 {
        %at_X = cute.make_coord(%m, (0, %k))
        %at_F = cute.make_coord(0, 0, %k)
        %gX = cute.local_tile(%X, %tile_X, %at_X)
        %gF = cute.local_tile(%F, %tile_F, %at_F)
        cute_nvgpu.tma_load(%load_X, [%gX], %sX) : (!load_X1, [!gX1], !sX1)
        cute_nvgpu.tma_load(%load_F, [%gF], %sF) : (!load_F1, [!gF1], !sF1)
        cute.gemm(%mma, %acc, %a, %b, %acc)
      } {cute.stages = 2}
      cute.call @store(%acc, %mma, %thread, %store, %Y, %m)
      gpu.return
    }

    gpu.func @volumes_kernel(%load_X: !load_X3, %X: !of_X3, %load_F: !load_F3, %F: !of_F3, %store: !store, %Y: !of_Y) kernel
        attributes {known_block_size = array<i32: 384, 1, 1>, cute.roles = array<i64: 40, 232>} {
      %tx = gpu.thread_id x
      %bx = gpu.block_id x
      %t32 = arith.index_cast %tx : index to i32
      %m = arith.index_cast %bx : index to i32
      %thread = cute.make_coord(%t32)
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %c2 = arith.constant 2 : i32
      %c4 = arith.constant 4 : i32
      %c8 = arith.constant 8 : i32
      %c32 = arith.constant 32 : i32
      %mask = arith.constant -4 : i32
      %warp_of = arith.divui %t32, %c32 : i32
      %warp = cute_nvgpu.arch.make_warp_uniform(%warp_of)
      %group = arith.andi %warp, %mask : i32
      %group_first = arith.muli %group, %c32 : i32
      %first = cute.make_coord(%group_first)
      %mma = cute.static : !mma
      %sX = cute.memref.alloca() : !sX3
      %sF = cute.memref.alloca() : !sF3
      %a = cute.tiled.mma.partition A (%mma, %sX, %first)
      %b = cute.tiled.mma.partition B (%mma, %sF, %first)
      %part = cute.static shape "((2,2,32),1,1)"
      %acc = cute.mma.make_fragment C (%mma, %part)
      cute.clear(%acc)
      %tile_X = cute.static "[128:1;[64:1;1:1;1:1;1:1]]"
      %tile_F = cute.static "[256:1;64:1;1:1;1:1;1:1]"
      scf.for %k = %c0 to %c8 step %c1 : i32 {
        %s = arith.remui %k, %c2 : i32
        %half = arith.divui %k, %c2 : i32
        %r = arith.remui %half, %c2 : i32
        %t = arith.divui %k, %c4 : i32
        %at_X = cute.make_coord(%m, (0, %s, %r, %t))
        %at_F = cute.make_coord(0, 0, %s, %r, %t)
        %gX = cute.local_tile(%X, %tile_X, %at_X)
        %gF = cute.local_tile(%F, %tile_F, %at_F)
        cute_nvgpu.tma_load(%load_X, [%gX], %sX) : (!load_X3, [!gX3], !sX3)
        cute_nvgpu.tma_load(%load_F, [%gF], %sF) : (!load_F3, [!gF3], !sF3)
        cute.gemm(%mma, %acc, %a, %b, %acc)
      } {cute.stages = 3}
      cute.call @store(%acc, %mma, %thread, %store, %Y, %m)
      gpu.return
    }
  }

  func.func @lines(%X: !x1 {cute.name = "X"}, %F: !f1 {cute.name = "F"}, %Y: !y {cute.name = "Y"}) attributes {cute.computes = [{
      gemm = array<i64: 0, 1, 2>, accumulate = f32,
      at_a = !cute.coord_tensor<"(0,3,0)", "((?,?),(32,4)):((1@1,1@2),(1@0,-2@1))">,
      at_b = !cute.coord_tensor<"(0,0,0)", "(256,(32,4)):(1@0,(1@1,1@2))">}]} {
    %c0 = arith.constant 0 : i32
    %bM = arith.constant 128 : i32
    %lX = cute.get_layout(%X)
    %W, %N, %dW, %dN = cute.get_scalars <{only_dynamic}>(%lX)
    cute.compute_values(%W, %N) of 0 "at_a" : i32, i32
    %M = arith.muli %W, %N : i32
    %m = arith.ceildivsi %M, %bM : i32
    %blocks = arith.index_cast %m : i32 to index
    %one = arith.constant 1 : index
    %threads = arith.constant 384 : index
    %place_X = cute.static "S<2,4,3> o 0 o (128,(32,2)):(32,(1,4096))"
    %place_F = cute.static "S<2,4,3> o 0 o (256,32,2):(32,1,8192)"
    %place_Y = cute.static "S<3,4,3> o 0 o (128,64):(64,1)"
    %load_X, %of_X = cute_nvgpu.atom.make_im2col_tma_load(%X, %place_X) lower_corner [-3] upper_corner [-3] filter [4] dilation [-2]
    %load_F, %of_F = cute_nvgpu.atom.make_tma_load(%F, %place_F)
    %store, %of_Y = cute_nvgpu.atom.make_tma_store(%Y, %place_Y)
    gpu.launch_func @kernels::@lines_kernel blocks in (%blocks, %one, %one) threads in (%threads, %one, %one) dynamic_shared_memory_size %c0
      args(%load_X : !load_X1, %of_X : !of_X1, %load_F : !load_F1, %of_F : !of_F1, %store : !store, %of_Y : !of_Y)
    return
  }

  func.func @volumes(%X: !x3 {cute.name = "X"}, %F: !f3 {cute.name = "F"}, %Y: !y {cute.name = "Y"}) attributes {cute.computes = [{
      gemm = array<i64: 0, 1, 2>, accumulate = f32,
      at_a = !cute.coord_tensor<"(0,0,0,0,0)", "((?,?,?,?),(64,2,2,2)):((1@1,2@2,1@3,1@4),(1@0,1@1,1@2,1@3))">,
      at_b = !cute.coord_tensor<"(0,0,0,0,0)", "(256,(64,2,2,2)):(1@0,(1@1,1@2,1@3,1@4))">}]} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %bM = arith.constant 128 : i32
    %lX = cute.get_layout(%X)
    %W, %H, %D, %N, %dW, %dH, %dD, %dN = cute.get_scalars <{only_dynamic}>(%lX)
    %Q = arith.subi %W, %c1 : i32
    // Of H - 1 places every other one.
    %P = arith.divsi %H, %c2 : i32
    %Z = arith.subi %D, %c1 : i32
    cute.compute_values(%Q, %P, %Z, %N) of 0 "at_a" : i32, i32, i32, i32
    %QP = arith.muli %Q, %P : i32
    %QPZ = arith.muli %QP, %Z : i32
    %M = arith.muli %QPZ, %N : i32
    %m = arith.ceildivsi %M, %bM : i32
    %blocks = arith.index_cast %m : i32 to index
    %one = arith.constant 1 : index
    %threads = arith.constant 384 : index
    %place_X = cute.static "S<3,4,3> o 0 o (128,64):(64,1)"
    %place_F = cute.static "S<3,4,3> o 0 o (256,64,1,1,1):(64,1,0,0,0)"
    %load_X, %of_X = cute_nvgpu.atom.make_im2col_tma_load(%X, %place_X) lower_corner [0, 0, 0] upper_corner [-1, -1, -1] stride [1, 2, 1] filter [2, 2, 2]
    %load_F, %of_F = cute_nvgpu.atom.make_tma_load(%F, %place_F)
    %store, %of_Y = cute_nvgpu.atom.make_tma_store(%Y, %place_X)
    gpu.launch_func @kernels::@volumes_kernel blocks in (%blocks, %one, %one) threads in (%threads, %one, %one) dynamic_shared_memory_size %c0
      args(%load_X : !load_X3, %of_X : !of_X3, %load_F : !load_F3, %of_F : !of_F3, %store : !store, %of_Y : !of_Y)
    return
  }
}
