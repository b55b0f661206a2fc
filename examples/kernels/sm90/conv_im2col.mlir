// Y = X * F in f16, summed in f32: a convolution of 3 by 3 with padding by 1 and a stride of 2, by TMA's im2col and wgmma.
//
// X (C,W,H,N) are images with their channels side by side, NHWC; F (K,C,S,R) has a filter for each of K results, KRSC; Y (M,K) has a row for each place at
// which the filter stands, along W, then H, then the images: NPQK. So it is a product of a matrix (M,(C,S,R)) of X, which is nowhere in memory, and of
// F, and the kernel is that of wgmma_tma_sm90.mlir: a ring of places that TMA fills, one thread that starts copies, a warpgroup that multiplies.
//
// A tile of X is 128 places under one element of the filter, 64 channels: one instruction copies it, a column of pixels that goes on over the ends of rows and of
// images. Where the filter reaches over an image, and behind the last image, zeros arrive. A tile of F is a box of that element of the filter.
//
//     cute-opt examples/kernels/sm90/conv_im2col.mlir --cute-compile="arch=sm_90a package=conv_im2col.cutepkg" -o /dev/null
//     cute-run conv_im2col.cutepkg --bench --shape X=256x56x56x32 --shape F=256x256x3x3 --shape Y=25088x256
//
// Rows of 5 places of images of 5 by 4: tiles begin and end within rows, and the last one is a quarter full.
//
// RUN: cute-opt %s --cute-compile="arch=sm_90a package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator --seeds 3 --shape X=64x9x7x8 --shape F=128x64x3x3 --shape Y=160x128
//
// Channels and results that fill no tile, pixels of an even extent, and images that are padded in memory.
//
// RUN: cute-run %t.cutepkg --device=emulator --seeds 2 --shape X=72x12x11x5 --shape F=136x72x3x3 --shape Y=180x136
// RUN: cute-run %t.cutepkg --device=emulator --layout "X=(24,16,3,4):(1,32,520,1600)" --shape F=8x24x3x3 --shape Y=64x8

!x = !cute.memref<f16, gmem, align<16>, "(?,?,?,?):(1,?{div=8},?{div=8},?{div=8})">
!f = !cute.memref<f16, gmem, align<16>, "(?,?,3,3):(?{div=8},1,?{div=8},?{div=8})">
!y = !cute.memref<f16, gmem, align<16>, "(?,?):(?{div=8},1)">
// The coordinates of X: the channel, the place of the filter, its element along W and H, and how many places there are along W and H.
!of_X = !cute.coord_tensor<"(0,0,0,0,?,?)", "(?,(?,3,3)):(1@1,(1@0,1@2,1@3))">
!of_F = !cute.coord_tensor<"(0,0,0,0)", "(?,?,3,3):(1@1,1@0,1@2,1@3)">
!of_Y = !cute.coord_tensor<"(0,0)", "(?,?):(1@1,1@0)">
// Places from pixel -1 to the last but one, every other: (padding - 2) behind the last pixel, where the filter still ends within the padding.
!load_X = !cute_nvgpu.atom.im2col_tma_load<f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, lower_corner = "(-1,-1)", upper_corner = "(-1,-1)", stride = "(2,2)", swizzle = 128>
!load_F = !cute_nvgpu.atom.tma_load<f16, copy_bits = 131072, tma_gbasis = <"(64,128,1,1):(1@1,1@0,1@2,1@3)">, swizzle = 128>
!store_Y = !cute_nvgpu.atom.tma_store<f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, swizzle = 128>
// A block's tiles, channels of 64 and elements of the filter behind them; one of them.
!gX = !cute.coord_tensor<"(0,?{div=128},0,0,?,?)", "(128,(64,1,1),(?,3,3)):(1@1,(1@0,1@2,1@3),(64@0,1@2,1@3))">
!gF = !cute.coord_tensor<"(0,?{div=128},0,0)", "(128,64,1,1,?,3,3):(1@1,1@0,1@2,1@3,64@0,1@2,1@3)">
!ring = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(128,64,4):(64,1,8192)">
!sY = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(128,(64,2)):(64,(1,8192))">
!bars = !cute.memref<i64, smem, align<8>, "4:1">
!wgmma = !cute_nvgpu.sm90.mma<64x128x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
!mma = !cute.tiled_mma<!wgmma, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
!tCrH = !cute.memref<f16, rmem, "((2,2,16),2,1):((1,2,4),64,0)">

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // Starts copying tile %k of a block to a place of the ring: all channels of an element of the filter, then the next element.
    func.func private @load(%load_X: !load_X, %gX: !gX, %load_F: !load_F, %gF: !gF, %sX: !ring, %sF: !ring, %full: !bars, %k: i32, %parts: i32,
                            %p: i32) {
      %c3 = arith.constant 3 : i32
      // A tile of X and one of F.
      %bytes = arith.constant 32768 : i32
      %c = arith.remui %k, %parts : i32
      %element = arith.divui %k, %parts : i32
      %s = arith.remui %element, %c3 : i32
      %r = arith.divui %element, %c3 : i32
      %from = cute.make_coord(_, _, (%c, %s, %r))
      %of = cute.make_coord(_, _, _, _, %c, %s, %r)
      %to = cute.make_coord(_, _, %p)
      %a = cute.slice(%gX, %from)
      %b = cute.slice(%gF, %of)
      %x = cute.slice(%sX, %to)
      %y = cute.slice(%sF, %to)
      cute_nvgpu.mbarrier_arrive_and_expect_tx %full[%p], %bytes
      cute_nvgpu.tma_load(%load_X, [%a], %x) on %full[%p]
      cute_nvgpu.tma_load(%load_F, [%b], %y) on %full[%p]
      return
    }

    gpu.func @conv_im2col_kernel(%load_X: !load_X, %X: !of_X, %load_F: !load_F, %F: !of_F, %store_Y: !store_Y, %Y: !of_Y, %parts: i32) kernel
        attributes {known_block_size = array<i32: 128, 1, 1>} {
      %tx = gpu.thread_id x
      %bx = gpu.block_id x
      %by = gpu.block_id y
      %t32 = arith.index_cast %tx : index to i32
      %m = arith.index_cast %bx : index to i32
      %n = arith.index_cast %by : index to i32
      %t = cute.make_coord(%t32)
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %c3 = arith.constant 3 : i32
      %c4 = arith.constant 4 : i32
      %c9 = arith.constant 9 : i32
      %c32 = arith.constant 32 : i32
      %threads = arith.constant 128 : i32
      %tiles = arith.muli %parts, %c9 : i32
      %warp_of = arith.divui %t32, %c32 : i32
      %warp = cute_nvgpu.arch.make_warp_uniform(%warp_of)
      %produces = arith.cmpi eq, %warp, %c0 : i32

      // 128 places by 64 channels of an element of the filter, and the filters' part of that.
      %at_X = cute.make_coord(%m, _)
      %gX = cute.local_tile(%X, "[128:1;[64:1;1:1;1:1]]", %at_X)
      %at_F = cute.make_coord(%n, _, _, _)
      %gF = cute.local_tile(%F, "[128:1;64:1;1:1;1:1]", %at_F)
      %at_Y = cute.make_coord(%m, %n)
      %gY = cute.local_tile(%Y, "[128:1;128:1]", %at_Y)
      %sX = cute.memref.alloca() : !ring
      %sF = cute.memref.alloca() : !ring
      %sY = cute.memref.alloca() : !sY
      %full = cute.memref.alloca() : !bars
      %empty = cute.memref.alloca() : !bars

      // The barriers, before anybody uses them.
      scf.if %produces {
        %leader = nvvm.elect.sync -> i1
        scf.if %leader {
          cute_nvgpu.prefetch_tma_desc(%load_X)
          cute_nvgpu.prefetch_tma_desc(%load_F)
          cute_nvgpu.prefetch_tma_desc(%store_Y)
          scf.for %p = %c0 to %c4 step %c1 : i32 {
            cute_nvgpu.mbarrier_init %full[%p], %c1
            cute_nvgpu.mbarrier_init %empty[%p], %threads
          } {cute.unroll}
          nvvm.fence.mbarrier.init
        }
      }
      gpu.barrier

      // The first tiles start on their way: there are at least nine.
      scf.if %produces {
        %leader = nvvm.elect.sync -> i1
        scf.if %leader {
          scf.for %p = %c0 to %c4 step %c1 : i32 {
            cute.call @load(%load_X, %gX, %load_F, %gF, %sX, %sF, %full, %p, %parts, %p)
          } {cute.unroll}
        }
      }
      %mma = cute.static : !mma
      %tCsX = cute.tiled.mma.partition A (%mma, %sX, %t)
      %tCsF = cute.tiled.mma.partition B (%mma, %sF, %t)
      %acc = cute.mma.make_fragment C (%mma, "((2,2,16),2,1)")
      cute.clear(%acc)

      // Tile k is multiplied while those behind it travel. When its products have begun, those of tile k - 1 are over: its place is free, and
      // takes tile k + 3.
      scf.for %k = %c0 to %tiles step %c1 : i32 {
        %slot = arith.remui %k, %c4 : i32
        %round = arith.divui %k, %c4 : i32
        %parity = arith.andi %round, %c1 : i32
        cute_nvgpu.mbarrier_wait %full[%slot], %parity
        %now = cute.make_coord(_, _, _, %slot)
        %a = cute.slice(%tCsX, %now)
        %b = cute.slice(%tCsF, %now)
        cute_nvgpu.wgmma_fence(%acc)
        cute.gemm(%mma, %acc, %a, %b, %acc)
        cute_nvgpu.wgmma_commit_group
        cute_nvgpu.wgmma_wait_group 1 (%acc)

        %later = arith.cmpi sgt, %k, %c0 : i32
        scf.if %later {
          %before = arith.subi %k, %c1 : i32
          %freed = arith.remui %before, %c4 : i32
          cute_nvgpu.mbarrier_arrive %empty[%freed]
          %next = arith.addi %k, %c3 : i32
          %is = arith.cmpi slt, %next, %tiles : i32
          %issues = arith.andi %is, %produces : i1
          scf.if %issues {
            %round_before = arith.divui %before, %c4 : i32
            %parity_before = arith.andi %round_before, %c1 : i32
            cute_nvgpu.mbarrier_wait %empty[%freed], %parity_before
            %leader = nvvm.elect.sync -> i1
            scf.if %leader {
              cute.call @load(%load_X, %gX, %load_F, %gF, %sX, %sF, %full, %next, %parts, %freed)
            }
          }
        }
      }
      cute_nvgpu.wgmma_wait_group 0 (%acc)

      // The sums as f16, to shared memory, and from there to Y. The copy out sees what threads wrote behind their fences and the barrier.
      %half = cute.convert(%acc) -> !tCrH
      %tCsY = cute.tiled.mma.partition C (%mma, %sY, %t)
      cute.autovec_copy(%half, %tCsY)
      nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
      gpu.barrier
      scf.if %produces {
        %leader = nvvm.elect.sync -> i1
        scf.if %leader {
          cute_nvgpu.tma_store(%store_Y, %sY, [%gY])
          nvvm.cp.async.bulk.commit.group
          nvvm.cp.async.bulk.wait_group 0
        }
      }
      gpu.return
    }
  }

  // The host: the maps, how many blocks, and how many tiles of channels an element of the filter has.
  func.func @conv_im2col(%X: !x {cute.name = "X"}, %F: !f {cute.name = "F"}, %Y: !y {cute.name = "Y"}) attributes {cute.computes = [{
      gemm = array<i64: 0, 1, 2>, accumulate = f32,
      at_a = !cute.coord_tensor<"(0,-1,-1,0)", "((?,?,?),(?,3,3)):((2@1,2@2,1@3),(1@0,1@1,1@2))">,
      at_b = !cute.coord_tensor<"(0,0,0,0)", "(?,(?,3,3)):(1@0,(1@1,1@2,1@3))">}]} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %bM = arith.constant 128 : i32
    %bC = arith.constant 64 : i32
    %lX = cute.get_layout(%X)
    %lF = cute.get_layout(%F)
    %C, %W, %H, %N, %dW, %dH, %dN = cute.get_scalars <{only_dynamic}>(%lX)
    %K, %C2, %dK, %dS, %dR = cute.get_scalars <{only_dynamic}>(%lF)
    // Places of the filter along W and H: every other pixel from -1 on.
    %lastW = arith.subi %W, %c1 : i32
    %lastH = arith.subi %H, %c1 : i32
    %stepsW = arith.divsi %lastW, %c2 : i32
    %stepsH = arith.divsi %lastH, %c2 : i32
    %Q = arith.addi %stepsW, %c1 : i32
    %P = arith.addi %stepsH, %c1 : i32
    cute.compute_values(%Q, %P, %N, %C) of 0 "at_a" : i32, i32, i32, i32
    cute.compute_values(%K, %C) of 0 "at_b" : i32, i32
    %QP = arith.muli %Q, %P : i32
    %M = arith.muli %QP, %N : i32
    %m = arith.ceildivsi %M, %bM : i32
    %n = arith.ceildivsi %K, %bM : i32
    %parts = arith.ceildivsi %C, %bC : i32
    %blocks_m = arith.index_cast %m : i32 to index
    %blocks_n = arith.index_cast %n : i32 to index
    %one = arith.constant 1 : index
    %threads = arith.constant 128 : index
    %place = cute.static "S<3,4,3> o 0 o (128,64):(64,1)"
    %load_X, %of_X = cute_nvgpu.atom.make_im2col_tma_load(%X, %place) lower_corner [-1, -1] upper_corner [-1, -1] stride [2, 2] filter [3, 3]
    %load_F, %of_F = cute_nvgpu.atom.make_tma_load(%F, "S<3,4,3> o 0 o (128,64,1,1):(64,1,0,0)")
    %store_Y, %of_Y = cute_nvgpu.atom.make_tma_store(%Y, %place)
    gpu.launch_func @kernels::@conv_im2col_kernel blocks in (%blocks_m, %blocks_n, %one) threads in (%threads, %one, %one)
      dynamic_shared_memory_size %c0
      args(%load_X : !load_X, %of_X : !of_X, %load_F : !load_F, %of_F : !of_F, %store_Y : !store_Y, %of_Y : !of_Y, %parts : i32)
    return
  }
}
