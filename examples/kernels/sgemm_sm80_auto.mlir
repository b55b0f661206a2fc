// C = alpha A B^T + beta C in f16, summed in f32, as sgemm_sm80.mlir beside it, but with a plain loop over the tiles of K that the
// compiler makes a pipeline of.
//
// The loop copies a tile of A and B into shared memory, fetches fragments from it and multiplies them, and says that three tiles
// are to be under way (`cute.stages`). Which copies run ahead, what waits for what, the places in shared memory, the barriers and
// what happens at the ends of the loop is worked out by the compiler; `cute-print-schedule` shows it.
//
//     cute-opt examples/kernels/sgemm_sm80_auto.mlir --cute-compile="arch=sm_90a package=sgemm_sm80_auto.cutepkg" -o /dev/null
//     cute-run sgemm_sm80_auto.cutepkg --bench --shape A=4096x4096 --shape B=4096x4096 --shape C=4096x4096
//
// RUN: cute-opt %s --cute-compile="arch=sm_80 package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator --seeds 3 --shape A=128x64 --shape B=128x64 --shape C=128x128
// RUN: cute-run %t.cutepkg --device=emulator --seeds 3 --shape A=256x320 --shape B=128x320 --shape C=256x128 --set alpha=2 --set beta=0.5
// RUN: cute-run %t.cutepkg --device=emulator --seeds 3 --shape A=128x128 --shape B=256x128 --shape C=128x256 --set beta=1

// A (M,K), B (N,K) and C (M,N), rows one after the other, each at a multiple of 16 bytes.
!mat = !cute.memref<f16, gmem, align<16>, "(?,?):(?{div=8},1)">
// A tile. A row is 128 bytes, all banks once, so 8 rows of a column would be in the same banks; the swizzle exchanges
// the row's 16-byte pieces by the number of the row, and both the copies' writes and ldmatrix's reads are free of conflicts.
!sA = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(128,64):(64,1)">

// The instructions: 16 bytes a thread from global to shared memory, four 8 x 8 matrices a warp from shared memory, and the
// product of 16 x 16 and 16 x 8.
!cp_async = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
!ldmatrix = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
!mma_sync = !cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>
!pair = !cute_nvgpu.atom.universal_copy<f16, 32 b>
// 16 x 8 threads with 1 x 8 elements each: 16 rows of a tile at once, 8 neighbours a whole line of 128 bytes.
!copy = !cute.tiled_copy<!cp_async, layout_copy_tv = <"((8,16),8):((128,1),16)">, tiler_mn = <"[16:1;64:1]">>
// 2 x 2 warps. 32 of N at a time, so that a warp has two atoms of B side by side, which one ldmatrix of four matrices loads.
!mma = !cute.tiled_mma<!mma_sync, atom_layout_MNK = <"(2,2,1):(1,2,0)">, permutation_MNK = <"[32:1;32:1;16:1]">>
// How ldmatrix fetches A and B for that product, and how pairs of C are moved (make_tiled_copy_A, _B and _C in CuTe).
!copy_A = !cute.tiled_copy<!ldmatrix, layout_copy_tv = <"((4,8,2,2),((2,2,2),(1,1))):((64,1,16,0),((32,8,256),(32,512)))">, tiler_mn = <"[32:1;16:1]">>
!copy_B = !cute.tiled_copy<!ldmatrix, layout_copy_tv = <"((4,8,2,2),((2,2),(2,1))):((64,1,0,8),((32,256),(16,512)))">, tiler_mn = <"[32:1;16:1]">>
!copy_C = !cute.tiled_copy<!pair, layout_copy_tv = <"((4,8,2,2),((2,2),(1,2))):((64,1,16,256),((32,8),(32,512)))">, tiler_mn = <"[32:1;32:1]">>

// A thread's part of C, a fourth of N at a time: the sums, and their f16.
!tCrC_n = !cute.memref<f32, rmem, "((2,2),4,2):((1,2),4,16)">
!tCrH_n = !cute.memref<f16, rmem, "((2,2),4,2):((1,2),4,16)">

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @sgemm_sm80_auto_kernel(%A: !mat, %B: !mat, %C: !mat, %alpha: f32, %beta: f32) kernel
        attributes {known_block_size = array<i32: 128, 1, 1>} {
      // Who this thread is, and which tile of C its block computes.
      %tx = gpu.thread_id x
      %bx = gpu.block_id x
      %by = gpu.block_id y
      %t32 = arith.index_cast %tx : index to i32
      %m = arith.index_cast %bx : index to i32
      %n = arith.index_cast %by : index to i32
      %t = cute.make_coord(%t32)
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %c4 = arith.constant 4 : i32
      // A block's tile: 128 x 128 of C. Those of A and B are one behind the other along K.
      %cta = cute.static "[128:1;128:1;64:1]"
      %at = cute.make_coord(%m, %n, _)
      %gA = cute.local_tile(%A, %cta, %at, "(1,_,1)")
      %gB = cute.local_tile(%B, %cta, %at, "(_,1,1)")
      %gC = cute.local_tile(%C, %cta, %at, "(1,1,_)")
      %lA = cute.get_layout(%gA)
      %tiles, %ld = cute.get_scalars <{only_dynamic}>(%lA)
      %sA = cute.memref.alloca() : !sA
      %sB = cute.memref.alloca() : !sA

      // Copying a tile into shared memory.
      %copy = cute.static : !copy
      %tAgA = cute.tiled.copy.partition_S(%copy, %gA, %t)
      %tBgB = cute.tiled.copy.partition_S(%copy, %gB, %t)
      %tAsA = cute.tiled.copy.partition_D(%copy, %sA, %t)
      %tBsB = cute.tiled.copy.partition_D(%copy, %sB, %t)

      // Multiplying: fragments for a whole tile, and the sums.
      %mma = cute.static : !mma
      %part_A = cute.static shape "((2,2,2),4,4)"
      %part_B = cute.static shape "((2,2),8,4)"
      %part_C = cute.static shape "((2,2),4,8)"
      %tCrA = cute.mma.make_fragment A (%mma, %part_A)
      %tCrB = cute.mma.make_fragment B (%mma, %part_B)
      %tCrC = cute.mma.make_fragment C (%mma, %part_C)
      cute.clear(%tCrC)

      // From shared memory into the fragments, which are seen as ldmatrix fills them: retile moves nothing.
      %copy_A = cute.static : !copy_A
      %copy_B = cute.static : !copy_B
      %tXsA = cute.tiled.copy.partition_S(%copy_A, %sA, %t)
      %tXsB = cute.tiled.copy.partition_S(%copy_B, %sB, %t)
      %tXrA = cute.tiled.copy.retile(%copy_A, %tCrA)
      %tXrB = cute.tiled.copy.retile(%copy_B, %tCrB)

      // Tile after tile along K, with three under way.
      scf.for %k = %c0 to %tiles step %c1 : i32 {
        %tile = cute.make_coord(_, _, _, %k)
        %a = cute.slice(%tAgA, %tile)
        %b = cute.slice(%tBgB, %tile)
        cute.copy(%copy, %a, %tAsA)
        cute.copy(%copy, %b, %tBsB)
        scf.for %i = %c0 to %c4 step %c1 : i32 {
          %step = cute.make_coord(_, _, %i)
          %sA_i = cute.slice(%tXsA, %step)
          %sB_i = cute.slice(%tXsB, %step)
          %rA_i = cute.slice(%tXrA, %step)
          %rB_i = cute.slice(%tXrB, %step)
          cute.copy(%copy_A, %sA_i, %rA_i)
          cute.copy(%copy_B, %sB_i, %rB_i)
          %fA = cute.slice(%tCrA, %step)
          %fB = cute.slice(%tCrB, %step)
          cute.gemm(%mma, %tCrC, %fA, %fB, %tCrC)
        } {cute.unroll}
      } {cute.stages = 3 : i64}

      // C = alpha * sums + beta * C, a fourth of N at a time, in f32; C is not read where beta is 0.
      %step0 = cute.static coord "(_,_,0)"
      %zero = arith.constant 0.0 : f32
      %reads = arith.cmpf une, %beta, %zero : f32
      %copy_C = cute.static : !copy_C
      %tYgC = cute.tiled.copy.partition_D(%copy_C, %gC, %t)
      %sums = cute.get_iter(%tCrC)
      %fourths = cute.static "((2,2),4,2,4):((1,2),4,16,32)"
      %tCrC_4 = cute.make_view(%sums, %fourths)
      scf.for %i = %c0 to %c4 step %c1 : i32 {
        %fourth = cute.make_coord(_, _, _, %i)
        %x = cute.slice(%tCrC_4, %fourth)
        %here = cute.make_coord(_, _, %i)
        %g = cute.slice(%tYgC, %here)
        %h = cute.memref.alloca() : !tCrH_n
        %hp = cute.tiled.copy.retile(%copy_C, %h)
        %hv = cute.slice(%hp, %step0)
        cute.clear(%h)
        scf.if %reads {
          cute.copy(%copy_C, %g, %hv)
        }
        %y = cute.convert(%h) -> !tCrC_n
        cute.axpby(%alpha, %x, %beta, %y)
        %o = cute.convert(%y) -> !tCrH_n
        %op = cute.tiled.copy.retile(%copy_C, %o)
        %ov = cute.slice(%op, %step0)
        cute.copy(%copy_C, %ov, %g)
      } {cute.unroll}
      gpu.return
    }
  }

  // The host: how many blocks, and what they are given. Sizes come from the tensors themselves.
  func.func @sgemm(%A: !mat {cute.name = "A"}, %B: !mat {cute.name = "B"}, %C: !mat {cute.name = "C"},
                   %alpha: f32 {cute.name = "alpha", cute.default = 1.0 : f32}, %beta: f32 {cute.name = "beta", cute.default = 0.0 : f32})
      attributes {cute.computes = [{gemm = array<i64: 0, 1, 2>, accumulate = f32, alpha = 3 : index, beta = 4 : index}]} {
    %c0 = arith.constant 0 : i32
    %bM = arith.constant 128 : i32
    %bK = arith.constant 64 : i32
    %lA = cute.get_layout(%A)
    %lB = cute.get_layout(%B)
    %M, %K, %ldA = cute.get_scalars <{only_dynamic}>(%lA)
    %N, %K2, %ldB = cute.get_scalars <{only_dynamic}>(%lB)
    // Tiles must divide the problem: nothing above asks whether an element is there.
    %rM = arith.remsi %M, %bM : i32
    %rN = arith.remsi %N, %bM : i32
    %rK = arith.remsi %K, %bK : i32
    %rMN = arith.ori %rM, %rN : i32
    %r = arith.ori %rMN, %rK : i32
    %whole = arith.cmpi eq, %r, %c0 : i32
    cf.assert %whole, "expected M and N that are multiples of 128, and K of 64"
    %m = arith.divsi %M, %bM : i32
    %n = arith.divsi %N, %bM : i32
    %blocks_m = arith.index_cast %m : i32 to index
    %blocks_n = arith.index_cast %n : i32 to index
    %one = arith.constant 1 : index
    %threads = arith.constant 128 : index
    gpu.launch_func @kernels::@sgemm_sm80_auto_kernel blocks in (%blocks_m, %blocks_n, %one) threads in (%threads, %one, %one)
      dynamic_shared_memory_size %c0 args(%A : !mat, %B : !mat, %C : !mat, %alpha : f32, %beta : f32)
    return
  }
}
