// C = A B^T in f16, summed in f32, by warps with roles that nobody wrote.
//
// The kernel is written as if one thread did one thing after another: a block takes one tile of C after another, of each it loads tiles of A and
// B (TMA) and multiplies them (wgmma), and then it stores the sums in four parts (TMA). cute-specialize-warps cuts it: one warpgroup loads ahead
// into rings of four places, two multiply; it makes the mbarriers, the waits, the fences and the phases. What wgmma_tma_persistent.mlir
// writes out by hand is made here.
//
//     cute-opt examples/kernels/sm90/wgmma_tma_auto.mlir --cute-compile="arch=sm_90a package=auto.cutepkg" -o /dev/null
//     cute-run auto.cutepkg --bench --shape A=4096x4096 --shape B=4096x4096 --shape C=4096x4096
//
// RUN: cute-opt %s --cute-compile="arch=sm_90a package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator --sms 2 --seeds 2 --shape A=256x320 --shape B=512x320 --shape C=256x512
// RUN: cute-run %t.cutepkg --device=emulator --sms 1 --shape A=136x72 --shape B=264x72 --shape C=136x264

!mat = !cute.memref<f16, gmem, align<16>, "(?,?):(?{div=8},1)">
!any = !cute.layout<"(?,?):(?{div=8},1)">
!coords = !cute.coord_tensor<"(0,0)", "(?,?):(1@1,1@0)">
// A block's tile: 128 x 256 of C, 64 of K at a time; 128 x 64 of C at a time on its way out.
!cta = !cute.tile<"[128:1;256:1;64:1]">
!at = !cute.coord<"(?,?,_)">
!place_A = !cute.composed_layout<"S<3,4,3> o 0 o (128,64):(64,1)">
!place_B = !cute.composed_layout<"S<3,4,3> o 0 o (256,64):(64,1)">
!load_A = !cute_nvgpu.atom.tma_load<f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, swizzle = 128>
!load_B = !cute_nvgpu.atom.tma_load<f16, copy_bits = 262144, tma_gbasis = <"(64,256):(1@1,1@0)">, swizzle = 128>
!slot_A = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(128,64):(64,1)">
!slot_B = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(256,64):(64,1)">
!gA = !cute.coord_tensor<"(0,?{div=128})", "(128,64,?):(1@1,1@0,64@0)">
!gB = !cute.coord_tensor<"(0,?{div=256})", "(256,64,?):(1@1,1@0,64@0)">
!out = !cute.tile<"[128:1;64:1]">
!place_C = !cute.composed_layout<"S<3,4,3> o 0 o (128,64):(64,1)">
!store = !cute_nvgpu.atom.tma_store<f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, swizzle = 128>
!gC = !cute.coord_tensor<"(?{div=64},?{div=128})", "(128,64):(1@1,1@0)">
!sC = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(128,64):(64,1)">
// Two warpgroups, one behind the other along M. A part of C is dealt out as the product of so many columns would.
!part_wgmma = !cute_nvgpu.sm90.mma<64x64x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
!part_mma = !cute.tiled_mma<!part_wgmma, atom_layout_MNK = <"(2,1,1):(1,0,0)">>
!parts = !cute.layout<"((2,2,8),1,1,4):((1,2,4),0,0,32)">
!tCrC_4 = !cute.memref<f32, rmem, "((2,2,8),1,1,4):((1,2,4),0,0,32)">
!tCrC_p = !cute.memref<f32, rmem, "((2,2,8),1,1):((1,2,4),0,0)">
!tCrH = !cute.memref<f16, rmem, "((2,2,8),1,1):((1,2,4),0,0)">
!tCsC = !cute.memref<f16, smem, align<4>, S<3,4,3>, "((2,2,8),1,1):((1,512,8),0,0)">
!wgmma = !cute_nvgpu.sm90.mma<64x256x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
!mma = !cute.tiled_mma<!wgmma, atom_layout_MNK = <"(2,1,1):(1,0,0)">>
!tCsA = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((64,16),1,4):((64,1),0,16)">
!tCsB = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((256,16),1,4):((64,1),0,16)">
!part_C = !cute.shape<"((2,2,32),1,1)">
!tCrC = !cute.memref<f32, rmem, "((2,2,32),1,1):((1,2,4),0,0)">

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @auto_kernel(%load_A: !load_A, %A: !coords, %load_B: !load_B, %B: !coords, %store_C: !store, %C: !coords, %tiles_m: i32, %tiles: i32, %steps: i32) kernel
        attributes {known_block_size = array<i32: 384, 1, 1>, cute.roles = array<i64: 40, 232>} {
      %tx = gpu.thread_id x
      %bx = gpu.block_id x
      %gx = gpu.grid_dim x
      %t32 = arith.index_cast %tx : index to i32
      %block = arith.index_cast %bx : index to i32
      %blocks = arith.index_cast %gx : index to i32
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %c4 = arith.constant 4 : i32
      %c32 = arith.constant 32 : i32
      %c128 = arith.constant 128 : i32
      %t = cute.make_coord(%t32) : (i32) -> !cute.coord<"?">
      // Operands in shared memory are the same for all threads of a warpgroup: its first one's will do, which the warp knows.
      %warp_of = arith.divui %t32, %c32 : i32
      %warp = cute_nvgpu.arch.make_warp_uniform(%warp_of) : i32
      %group = arith.divui %warp, %c4 : i32
      %group_first = arith.muli %group, %c128 : i32
      %g = cute.make_coord(%group_first) : (i32) -> !cute.coord<"?">
      %cta = cute.static : !cta
      %out = cute.static : !out
      %wgmma = cute.make_atom() : () -> !wgmma
      %mma = cute.make_tiled_mma(%wgmma) : !mma
      %part_wgmma = cute.make_atom() : () -> !part_wgmma
      %part_mma = cute.make_tiled_mma(%part_wgmma) : !part_mma
      %part_C = cute.static : !part_C
      %parts = cute.static : !parts
      %sA = cute.memref.alloca() : !slot_A
      %sB = cute.memref.alloca() : !slot_B
      %sC = cute.memref.alloca() : !sC
      %tCsA = cute.tiled.mma.partition A (%mma, %sA, %g) : (!mma, !slot_A, !cute.coord<"?">) -> !tCsA
      %tCsB = cute.tiled.mma.partition B (%mma, %sB, %g) : (!mma, !slot_B, !cute.coord<"?">) -> !tCsB
      %tCsC = cute.tiled.mma.partition C (%part_mma, %sC, %t) : (!part_mma, !sC, !cute.coord<"?">) -> !tCsC

      scf.for %tile = %block to %tiles step %blocks : i32 {
        %m = arith.remui %tile, %tiles_m : i32
        %n = arith.divui %tile, %tiles_m : i32
        %at = cute.make_coord(%m, %n) : (i32, i32) -> !at
        %gA = cute.local_tile(%A, %cta, %at) {proj = #cute.coord<"(1,_,1)">} : (!coords, !cta, !at) -> !gA
        %gB = cute.local_tile(%B, %cta, %at) {proj = #cute.coord<"(_,1,1)">} : (!coords, !cta, !at) -> !gB
        %acc = cute.mma.make_fragment C (%mma, %part_C) : (!mma, !part_C) -> !tCrC
        cute.clear(%acc) : (!tCrC)
        scf.for %k = %c0 to %steps step %c1 : i32 {
          %from = cute.make_coord(%k) : (i32) -> !cute.coord<"(_,_,?)">
          %a = cute.slice(%gA, %from) : !gA, !cute.coord<"(_,_,?)">
          %b = cute.slice(%gB, %from) : !gB, !cute.coord<"(_,_,?)">
          cute_nvgpu.tma_load(%load_A, [%a], %sA)
          cute_nvgpu.tma_load(%load_B, [%b], %sB)
          cute.gemm(%mma, %acc, %tCsA, %tCsB, %acc) : (!mma, !tCrC, !tCsA, !tCsB, !tCrC)
        } {cute.stages = 4}
        %iter = cute.get_iter(%acc) : !tCrC
        %sums = cute.make_view(%iter, %parts) : !tCrC_4
        %n4 = arith.muli %n, %c4 : i32
        scf.for %p = %c0 to %c4 step %c1 : i32 {
          %here = cute.make_coord(%p) : (i32) -> !cute.coord<"(_,_,_,?)">
          %sum = cute.slice(%sums, %here) : !tCrC_4, !cute.coord<"(_,_,_,?)">
          %columns = arith.addi %n4, %p : i32
          %to = cute.make_coord(%m, %columns) : (i32, i32) -> !cute.coord<"(?,?)">
          %gC = cute.local_tile(%C, %out, %to) : (!coords, !out, !cute.coord<"(?,?)">) -> !gC
          %f16 = cute.convert(%sum) : (!tCrC_p) -> !tCrH
          cute.autovec_copy(%f16, %tCsC) : (!tCrH, !tCsC)
          cute_nvgpu.tma_store(%store_C, %sC, [%gC])
        } {cute.unroll}
      }
      gpu.return
    }
  }

  // The host: the maps, and as many blocks as there are multiprocessors, but no more than tiles.
  func.func @gemm(%A: !mat {cute.name = "A"}, %B: !mat {cute.name = "B"}, %C: !mat {cute.name = "C"})
      attributes {cute.computes = [{gemm = array<i64: 0, 1, 2>, accumulate = f32}]} {
    %c0 = arith.constant 0 : i32
    %bM = arith.constant 128 : i32
    %bN = arith.constant 256 : i32
    %bK = arith.constant 64 : i32
    %lA = cute.get_layout(%A) : !mat
    %lB = cute.get_layout(%B) : !mat
    %M, %K, %ldA = cute.get_scalars <{only_dynamic}>(%lA) : !any
    %N, %K2, %ldB = cute.get_scalars <{only_dynamic}>(%lB) : !any
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
    %place_A = cute.static : !place_A
    %place_B = cute.static : !place_B
    %place_C = cute.static : !place_C
    %load_A, %of_A = cute_nvgpu.atom.make_tma_load(%A, %place_A) : (!mat, !place_A) -> (!load_A, !coords)
    %load_B, %of_B = cute_nvgpu.atom.make_tma_load(%B, %place_B) : (!mat, !place_B) -> (!load_B, !coords)
    %store_C, %of_C = cute_nvgpu.atom.make_tma_store(%C, %place_C) : (!mat, !place_C) -> (!store, !coords)
    gpu.launch_func @kernels::@auto_kernel blocks in (%blocks, %one, %one) threads in (%threads, %one, %one)
      dynamic_shared_memory_size %c0
      args(%load_A : !load_A, %of_A : !coords, %load_B : !load_B, %of_B : !coords, %store_C : !store, %of_C : !coords, %m : i32, %tiles : i32, %steps : i32)
    return
  }
}
