// C = A B^T with A of bytes and B of f16, summed in f32, by TMA and wgmma: bytes become f16 on the way, in registers.
//
// wgmma multiplies two operands of one width, so that A, weights of 8 bits say, has to be made f16 first. Here half of its bytes travel: tiles of A lie in
// shared memory as bytes, each thread takes those that it has of the operand, makes f16 of them, and the product reads A from these registers
// (`frag_kind = rs`) and B from shared memory, where TMA put it.
//
// The kernel reads as one thread after another; `cute-specialize-warps` gives the loads to a warpgroup of their own, fences what a product takes from
// registers, and waits for the product before these are written again. A turn has two halves, with registers of their own: the bytes of the second one
// become f16 while the product of the first goes on. Blocks stay, and take one tile of C after another. What lies over the end of a tensor arrives as zeros, so that any M and K will do, and N of whole 16 bytes, which TMA stores at once; rows are multiples of 16 bytes apart.
//
//     cute-opt examples/kernels/sm90/wgmma_mixed.mlir --cute-compile="arch=sm_90a package=mixed.cutepkg" -o /dev/null
//     cute-run mixed.cutepkg --bench --shape A=4096x4096 --shape B=4096x4096 --shape C=4096x4096
//
// RUN: cute-opt %s --cute-compile="arch=sm_90a package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator --sms 2 --seeds 3 --shape A=128x320 --shape B=256x320 --shape C=128x256
// RUN: cute-run %t.cutepkg --device=emulator --sms 1 --seeds 2 --shape A=136x464 --shape B=264x464 --shape C=136x264

// A (M,K), B (N,K) and C (M,N), rows one after the other.
!mA = !cute.memref<i8, gmem, align<16>, "(?,?):(?{div=16},1)">
!mB = !cute.memref<f16, gmem, align<16>, "(?,?):(?{div=8},1)">
!coords = !cute.coord_tensor<"(0,0)", "(?,?):(1@1,1@0)">
// A block's tile: 128 x 256 of C, 128 of K at a time, of which the swizzle spans all of A and half of B; 128 x 64 of C at a time on its way out.
!load_A = !cute_nvgpu.atom.tma_load<i8, copy_bits = 131072, tma_gbasis = <"(128,128):(1@1,1@0)">, swizzle = 128>
!load_B = !cute_nvgpu.atom.tma_load<f16, copy_bits = 262144, tma_gbasis = <"(64,256):(1@1,1@0)">, swizzle = 128>
!store = !cute_nvgpu.atom.tma_store<f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, swizzle = 128>
!sA = !cute.memref<i8, smem, align<1024>, S<3,4,3>, "(128,128):(128,1)">
!sB = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(256,(64,2)):(64,(1,16384))">
!sC = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(128,64):(64,1)">
// Two warpgroups, one behind the other along M. A part of C is dealt out as the product of so many columns would.
!wgmma = !cute_nvgpu.sm90.mma<64x256x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = rs>
!mma = !cute.tiled_mma<!wgmma, atom_layout_MNK = <"(2,1,1):(1,0,0)">>
!part_wgmma = !cute_nvgpu.sm90.mma<64x64x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = rs>
!part_mma = !cute.tiled_mma<!part_wgmma, atom_layout_MNK = <"(2,1,1):(1,0,0)">>
!tCrH = !cute.memref<f16, rmem, "((2,2,8),1,1):((1,2,4),0,0)">

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @mixed_kernel(%load_A: !load_A, %A: !coords, %load_B: !load_B, %B: !coords, %store_C: !store, %C: !coords, %tiles_m: i32, %tiles: i32, %steps: i32) kernel
        attributes {known_block_size = array<i32: 384, 1, 1>, cute.roles = array<i64: 40, 232>} {
      %tx = gpu.thread_id x
      %bx = gpu.block_id x
      %gx = gpu.grid_dim x
      %t32 = arith.index_cast %tx : index to i32
      %block = arith.index_cast %bx : index to i32
      %blocks = arith.index_cast %gx : index to i32
      %t = cute.make_coord(%t32)
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %c4 = arith.constant 4 : i32
      %c32 = arith.constant 32 : i32
      %c128 = arith.constant 128 : i32
      // Operands in shared memory are the same for all threads of a warpgroup: its first one's will do, which the warp knows.
      %warp_of = arith.divui %t32, %c32 : i32
      %warp = cute_nvgpu.arch.make_warp_uniform(%warp_of)
      %group = arith.divui %warp, %c4 : i32
      %first = arith.muli %group, %c128 : i32
      %g = cute.make_coord(%first)
      %cta = cute.static "[128:1;256:1;128:1]"
      %half_A = cute.static "[128:1;64:1]"
      %half_B = cute.static "[256:1;64:1]"
      %at0 = cute.static coord "(0,0)"
      %at1 = cute.static coord "(0,1)"
      %mma = cute.static : !mma
      %part_mma = cute.static : !part_mma
      %sA = cute.memref.alloca() : !sA
      %sB = cute.memref.alloca() : !sB
      %sC = cute.memref.alloca() : !sC
      %sA0 = cute.local_tile(%sA, %half_A, %at0)
      %sA1 = cute.local_tile(%sA, %half_A, %at1)
      %sB0 = cute.local_tile(%sB, %half_B, %at0)
      %sB1 = cute.local_tile(%sB, %half_B, %at1)
      %tCsA0 = cute.tiled.mma.partition A (%mma, %sA0, %t)
      %tCsB0 = cute.tiled.mma.partition B (%mma, %sB0, %g)
      %tCsA1 = cute.tiled.mma.partition A (%mma, %sA1, %t)
      %tCsB1 = cute.tiled.mma.partition B (%mma, %sB1, %g)
      %tCsC = cute.tiled.mma.partition C (%part_mma, %sC, %t)

      scf.for %tile = %block to %tiles step %blocks : i32 {
        %m = arith.remui %tile, %tiles_m : i32
        %n = arith.divui %tile, %tiles_m : i32
        %at = cute.make_coord(%m, %n, _)
        %gA = cute.local_tile(%A, %cta, %at, "(1,_,1)")
        %gB = cute.local_tile(%B, %cta, %at, "(_,1,1)")
        %acc = cute.mma.make_fragment C (%mma, "((2,2,32),1,1)")
        cute.clear(%acc)
        scf.for %k = %c0 to %steps step %c1 : i32 {
          %from = cute.make_coord(_, _, %k)
          %a_from = cute.slice(%gA, %from)
          %b_from = cute.slice(%gB, %from)
          cute_nvgpu.tma_load(%load_A, [%a_from], %sA)
          cute_nvgpu.tma_load(%load_B, [%b_from], %sB)
          %bytes0 = cute.make_fragment_like(%tCsA0)
          cute.autovec_copy(%tCsA0, %bytes0)
          %a0 = cute.make_fragment_like(%bytes0) of f16
          cute.transform(%bytes0, %a0) (%byte: i8) {
            %number = arith.sitofp %byte : i8 to f16
            cute.yield %number
          }
          cute.gemm(%mma, %acc, %a0, %tCsB0, %acc)
          %bytes1 = cute.make_fragment_like(%tCsA1)
          cute.autovec_copy(%tCsA1, %bytes1)
          %a1 = cute.make_fragment_like(%bytes1) of f16
          cute.transform(%bytes1, %a1) (%byte: i8) {
            %number = arith.sitofp %byte : i8 to f16
            cute.yield %number
          }
          cute.gemm(%mma, %acc, %a1, %tCsB1, %acc)
        } {cute.stages = 2}
        %iter = cute.get_iter(%acc)
        %sums = cute.make_view(%iter, "((2,2,8),1,1,4):((1,2,4),0,0,32)")
        %n4 = arith.muli %n, %c4 : i32
        scf.for %p = %c0 to %c4 step %c1 : i32 {
          %here = cute.make_coord(_, _, _, %p)
          %sum = cute.slice(%sums, %here)
          %columns = arith.addi %n4, %p : i32
          %to = cute.make_coord(%m, %columns)
          %gC = cute.local_tile(%C, "[128:1;64:1]", %to)
          %f16 = cute.convert(%sum) -> !tCrH
          cute.autovec_copy(%f16, %tCsC)
          cute_nvgpu.tma_store(%store_C, %sC, [%gC])
        } {cute.unroll}
      }
      gpu.return
    }
  }

  // The host: the maps, and as many blocks as there are multiprocessors, but no more than tiles.
  func.func @gemm(%A: !mA {cute.name = "A"}, %B: !mB {cute.name = "B"}, %C: !mB {cute.name = "C"})
      attributes {cute.computes = [{gemm = array<i64: 0, 1, 2>, accumulate = f32}]} {
    %c0 = arith.constant 0 : i32
    %bM = arith.constant 128 : i32
    %bN = arith.constant 256 : i32
    %bK = arith.constant 128 : i32
    %lA = cute.get_layout(%A)
    %lB = cute.get_layout(%B)
    %M, %K, %ldA = cute.get_scalars <{only_dynamic}>(%lA)
    %N, %K2, %ldB = cute.get_scalars <{only_dynamic}>(%lB)
    %m = arith.ceildivsi %M, %bM : i32
    %n = arith.ceildivsi %N, %bN : i32
    %steps = arith.ceildivsi %K, %bK : i32
    %tiles = arith.muli %m, %n : i32
    %sms_index = cute.sm_count() : index
    %sms = arith.index_cast %sms_index : index to i32
    %most = arith.minsi %sms, %tiles : i32
    %blocks = arith.index_cast %most : i32 to index
    %one = arith.constant 1 : index
    %threads = arith.constant 384 : index
    %load_A, %of_A = cute_nvgpu.atom.make_tma_load(%A, "S<3,4,3> o 0 o (128,128):(128,1)")
    %load_B, %of_B = cute_nvgpu.atom.make_tma_load(%B, "S<3,4,3> o 0 o (256,(64,2)):(64,(1,16384))")
    %store_C, %of_C = cute_nvgpu.atom.make_tma_store(%C, "S<3,4,3> o 0 o (128,64):(64,1)")
    gpu.launch_func @kernels::@mixed_kernel blocks in (%blocks, %one, %one) threads in (%threads, %one, %one)
      dynamic_shared_memory_size %c0
      args(%load_A : !load_A, %of_A : !coords, %load_B : !load_B, %of_B : !coords, %store_C : !store, %of_C : !coords, %m : i32, %tiles : i32, %steps : i32)
    return
  }
}
