// C = alpha A B^T + beta C in f16, summed in f32, for matrices of any M, and N and K that are multiples of 8: sgemm_sm80 with
// ragged edges.
//
// The last tile along M, N or K may reach over the end of a matrix. Which elements are there, a tensor of coordinates knows:
// the identity tensor of a matrix' shape, cut up and partitioned exactly as the matrix is, holds at each place where in the
// matrix it lies. Compared with the shape that gives a predicate for each copy of 16 bytes, which is there or not as a whole;
// `cp.async` writes zeros where it is not. All else is as in sgemm_sm80, which explains it.
//
//     cute-opt examples/kernels/sgemm_sm80_dynamic.mlir --cute-compile="arch=sm_90a package=sgemm_sm80_dynamic.cutepkg" -o /dev/null
//     cute-run sgemm_sm80_dynamic.cutepkg --bench --shape A=4001x4008 --shape B=4000x4008 --shape C=4001x4000
//
// RUN: cute-opt %s --cute-compile="arch=sm_80 package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator --seeds 3 --shape A=129x200 --shape B=136x200 --shape C=129x136 --set alpha=2 --set beta=0.5
// RUN: cute-run %t.cutepkg --device=emulator --seeds 3 --shape A=3x8 --shape B=8x8 --shape C=3x8
// RUN: cute-run %t.cutepkg --device=emulator --seeds 3 --layout "A=(70,264):(272,1)" --layout "B=(40,264):(264,1)" --layout "C=(70,40):(48,1)"

// A (M,K), B (N,K) and C (M,N), rows one after the other, each at a multiple of 16 bytes.
!mat = !cute.memref<f16, gmem, align<16>, "(?,?{div=8}):(?{div=8},1)">
// Three tiles. A row is 128 bytes, all banks once, so 8 rows of a column would be in the same banks; the swizzle exchanges
// the row's 16-byte pieces by the number of the row, and both the copies' writes and ldmatrix's reads are free of conflicts.
!sA = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(128,64,3):(64,1,8192)">

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

// A predicate for each vector of a thread.
!tApA = !cute.memref<i1, rmem, "(8,1):(1,0)">
// A thread's part of C, a fourth of N at a time: the sums, and their f16.
!tCrC_n = !cute.memref<f32, rmem, "((2,2),4,2):((1,2),4,16)">
!tCrH_n = !cute.memref<f16, rmem, "((2,2),4,2):((1,2),4,16)">
// A predicate for each pair.
!tYpC = !cute.memref<i1, rmem, "((2,2),4):((1,2),4)">

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @sgemm_sm80_dynamic_kernel(%A: !mat, %B: !mat, %C: !mat, %alpha: f32, %beta: f32) kernel
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
      %c2 = arith.constant 2 : i32
      %c3 = arith.constant 3 : i32
      %c4 = arith.constant 4 : i32
      // A block's tile: 128 x 128 of C. Those of A and B are one behind the other along K.
      %cta = cute.static "[128:1;128:1;64:1]"
      %at = cute.make_coord(%m, %n, _)
      %gA = cute.local_tile(%A, %cta, %at, "(1,_,1)")
      %gB = cute.local_tile(%B, %cta, %at, "(_,1,1)")
      %gC = cute.local_tile(%C, %cta, %at, "(1,1,_)")
      %lgA = cute.get_layout(%gA)
      %tiles, %ld = cute.get_scalars <{only_dynamic}>(%lgA)
      %last = arith.subi %tiles, %c1 : i32
      // Their coordinates, in the same way.
      %lA = cute.get_layout(%A)
      %lB = cute.get_layout(%B)
      %lC = cute.get_layout(%C)
      %MK = cute.get_shape(%lA)
      %NK = cute.get_shape(%lB)
      %MN = cute.get_shape(%lC)
      %iA = cute.make_identity_tensor(%MK)
      %iB = cute.make_identity_tensor(%NK)
      %iC = cute.make_identity_tensor(%MN)
      %cA = cute.local_tile(%iA, %cta, %at, "(1,_,1)")
      %cB = cute.local_tile(%iB, %cta, %at, "(_,1,1)")
      %cC = cute.local_tile(%iC, %cta, %at, "(1,1,_)")
      %sA = cute.memref.alloca() : !sA
      %sB = cute.memref.alloca() : !sA

      // Copying into the ring. A thread's part is ((vector, vectors), of M, of K, tiles of K or places of the ring).
      %copy = cute.static : !copy
      %tAgA = cute.tiled.copy.partition_S(%copy, %gA, %t)
      %tBgB = cute.tiled.copy.partition_S(%copy, %gB, %t)
      %tAsA = cute.tiled.copy.partition_D(%copy, %sA, %t)
      %tBsB = cute.tiled.copy.partition_D(%copy, %sB, %t)
      %tAcA = cute.tiled.copy.partition_S(%copy, %cA, %t)
      %tBcB = cute.tiled.copy.partition_S(%copy, %cB, %t)
      %tApA = cute.memref.alloca() : !tApA
      %tBpB = cute.memref.alloca() : !tApA

      // Multiplying: fragments for a whole tile, of which two steps of K are alive at a time.
      %mma = cute.static : !mma
      %part_A = cute.static shape "((2,2,2),4,4)"
      %part_B = cute.static shape "((2,2),8,4)"
      %part_C = cute.static shape "((2,2),4,8)"
      %tCrA = cute.mma.make_fragment A (%mma, %part_A)
      %tCrB = cute.mma.make_fragment B (%mma, %part_B)
      %tCrC = cute.mma.make_fragment C (%mma, %part_C)
      cute.clear(%tCrC)

      // From the ring into the fragments, which are seen as ldmatrix fills them, (values of the copy, of M or N, of K): retile moves nothing.
      %copy_A = cute.static : !copy_A
      %copy_B = cute.static : !copy_B
      %tXsA = cute.tiled.copy.partition_S(%copy_A, %sA, %t)
      %tXsB = cute.tiled.copy.partition_S(%copy_B, %sB, %t)
      %tXrA = cute.tiled.copy.retile(%copy_A, %tCrA)
      %tXrB = cute.tiled.copy.retile(%copy_B, %tCrB)

      // Tiles 0 and 1 start on their way, each a group that can be waited for. (A second tile that is not there is the first.)
      scf.for %p = %c0 to %c2 step %c1 : i32 {
        %k = arith.minsi %p, %last : i32
        %from = cute.make_coord(_, _, _, %k)
        %to = cute.make_coord(_, _, _, %p)
        %a = cute.slice(%tAgA, %from)
        %b = cute.slice(%tBgB, %from)
        %x = cute.slice(%tAsA, %to)
        %y = cute.slice(%tBsB, %to)
        // Which of its vectors are there: where the first element is, the others are.
        %first = cute.make_coord(0, _, _, %k)
        %ca = cute.slice(%tAcA, %first)
        %cb = cute.slice(%tBcB, %first)
        cute.transform(%ca, %tApA) (%c) {
          %is = cute.elem_less(%c, %MK)
          cute.yield %is
        }
        cute.transform(%cb, %tBpB) (%c) {
          %is = cute.elem_less(%c, %NK)
          cute.yield %is
        }
        cute.copy(%copy, %a, %x, %tApA)
        cute.copy(%copy, %b, %y, %tBpB)
        nvvm.cp.async.commit.group
      } {cute.unroll}

      // Tile 0 is there when at most one group is still under way, for this thread's copies; for all threads' behind the barrier.
      nvvm.cp.async.wait.group 1
      gpu.barrier
      // Its step 0 into the fragments.
      %step0 = cute.static coord "(_,_,0)"
      %step0_place0 = cute.static coord "(_,_,0,0)"
      %rA0 = cute.slice(%tXrA, %step0)
      %rB0 = cute.slice(%tXrB, %step0)
      %sA0 = cute.slice(%tXsA, %step0_place0)
      %sB0 = cute.slice(%tXsB, %step0_place0)
      cute.copy(%copy_A, %sA0, %rA0)
      cute.copy(%copy_B, %sB0, %rB0)

      // The place of the ring that is read, and the one that is written: at first 0 and 2.
      %places:2 = scf.for %k = %c0 to %tiles step %c1 iter_args(%read = %c0, %write = %c2) -> (i32, i32) : i32 {
        // Tile k + 2 starts on its way, to where tile k - 1 was: the last barrier said that everybody has read that. Behind the
        // last tile it is the last one again, so that as many groups are under way in every turn.
        %k2 = arith.addi %k, %c2 : i32
        %next = arith.minsi %k2, %last : i32
        %from = cute.make_coord(_, _, _, %next)
        %to = cute.make_coord(_, _, _, %write)
        %a = cute.slice(%tAgA, %from)
        %b = cute.slice(%tBgB, %from)
        %x = cute.slice(%tAsA, %to)
        %y = cute.slice(%tBsB, %to)
        %first = cute.make_coord(0, _, _, %next)
        %ca = cute.slice(%tAcA, %first)
        %cb = cute.slice(%tBcB, %first)
        cute.transform(%ca, %tApA) (%c) {
          %is = cute.elem_less(%c, %MK)
          cute.yield %is
        }
        cute.transform(%cb, %tBpB) (%c) {
          %is = cute.elem_less(%c, %NK)
          cute.yield %is
        }
        cute.copy(%copy, %a, %x, %tApA)
        cute.copy(%copy, %b, %y, %tBpB)
        nvvm.cp.async.commit.group

        // Steps 0 to 2 of K: fetch the next, multiply this one.
        %place = cute.make_coord(_, _, _, %read)
        %tXsA_p = cute.slice(%tXsA, %place)
        %tXsB_p = cute.slice(%tXsB, %place)
        scf.for %i = %c0 to %c3 step %c1 : i32 {
          %j = arith.addi %i, %c1 : i32
          %this = cute.make_coord(_, _, %i)
          %after = cute.make_coord(_, _, %j)
          %sA1 = cute.slice(%tXsA_p, %after)
          %sB1 = cute.slice(%tXsB_p, %after)
          %rA1 = cute.slice(%tXrA, %after)
          %rB1 = cute.slice(%tXrB, %after)
          cute.copy(%copy_A, %sA1, %rA1)
          cute.copy(%copy_B, %sB1, %rB1)
          %fA = cute.slice(%tCrA, %this)
          %fB = cute.slice(%tCrB, %this)
          cute.gemm(%mma, %tCrC, %fA, %fB, %tCrC)
        } {cute.unroll}

        // Step 3: everything of this tile has been fetched. Wait for the next one (all groups but the newest), say so to the
        // other threads, and fetch its step 0 while step 3 of this one is multiplied.
        nvvm.cp.async.wait.group 1
        gpu.barrier
        %read1 = arith.addi %read, %c1 : i32
        %wraps = arith.cmpi eq, %read1, %c3 : i32
        %read_next = arith.select %wraps, %c0, %read1 : i32
        %place_next = cute.make_coord(_, _, 0, %read_next)
        %sA2 = cute.slice(%tXsA, %place_next)
        %sB2 = cute.slice(%tXsB, %place_next)
        cute.copy(%copy_A, %sA2, %rA0)
        cute.copy(%copy_B, %sB2, %rB0)
        %step3 = cute.static coord "(_,_,3)"
        %fA3 = cute.slice(%tCrA, %step3)
        %fB3 = cute.slice(%tCrB, %step3)
        cute.gemm(%mma, %tCrC, %fA3, %fB3, %tCrC)
        // The place that was read is written next.
        scf.yield %read_next, %read : i32, i32
      }
      // Nothing may be under way into shared memory that is no longer this block's.
      nvvm.cp.async.wait.group 0

      // C = alpha * sums + beta * C, a fourth of N at a time, in f32; C is not read where beta is 0.
      %zero = arith.constant 0.0 : f32
      %reads = arith.cmpf une, %beta, %zero : f32
      %copy_C = cute.static : !copy_C
      %tYgC = cute.tiled.copy.partition_D(%copy_C, %gC, %t)
      %tYcC = cute.tiled.copy.partition_D(%copy_C, %cC, %t)
      %sums = cute.get_iter(%tCrC)
      %fourths = cute.static "((2,2),4,2,4):((1,2),4,16,32)"
      %tCrC_4 = cute.make_view(%sums, %fourths)
      scf.for %i = %c0 to %c4 step %c1 : i32 {
        %fourth = cute.make_coord(_, _, _, %i)
        %x = cute.slice(%tCrC_4, %fourth)
        %here = cute.make_coord(_, _, %i)
        %g = cute.slice(%tYgC, %here)
        %p = cute.memref.alloca() : !tYpC
        %firsts = cute.make_coord((0, (_, _)), _, %i)
        %cc = cute.slice(%tYcC, %firsts)
        cute.transform(%cc, %p) (%c) {
          %is = cute.elem_less(%c, %MN)
          cute.yield %is
        }
        %h = cute.memref.alloca() : !tCrH_n
        %hp = cute.tiled.copy.retile(%copy_C, %h)
        %hv = cute.slice(%hp, %step0)
        cute.clear(%h)
        scf.if %reads {
          cute.copy(%copy_C, %g, %hv, %p)
        }
        %y = cute.convert(%h) -> !tCrC_n
        cute.axpby(%alpha, %x, %beta, %y)
        %o = cute.convert(%y) -> !tCrH_n
        %op = cute.tiled.copy.retile(%copy_C, %o)
        %ov = cute.slice(%op, %step0)
        cute.copy(%copy_C, %ov, %g, %p)
      } {cute.unroll}
      gpu.return
    }
  }

  // The host: as many blocks as tiles cover C.
  func.func @sgemm(%A: !mat {cute.name = "A"}, %B: !mat {cute.name = "B"}, %C: !mat {cute.name = "C"},
                   %alpha: f32 {cute.name = "alpha", cute.default = 1.0 : f32}, %beta: f32 {cute.name = "beta", cute.default = 0.0 : f32})
      attributes {cute.computes = [{gemm = array<i64: 0, 1, 2>, accumulate = f32, alpha = 3 : index, beta = 4 : index}]} {
    %c0 = arith.constant 0 : i32
    %bM = arith.constant 128 : i32
    %lC = cute.get_layout(%C)
    %M, %N, %ldC = cute.get_scalars <{only_dynamic}>(%lC)
    %m = arith.ceildivsi %M, %bM : i32
    %n = arith.ceildivsi %N, %bM : i32
    %blocks_m = arith.index_cast %m : i32 to index
    %blocks_n = arith.index_cast %n : i32 to index
    %one = arith.constant 1 : index
    %threads = arith.constant 128 : index
    gpu.launch_func @kernels::@sgemm_sm80_dynamic_kernel blocks in (%blocks_m, %blocks_n, %one) threads in (%threads, %one, %one)
      dynamic_shared_memory_size %c0 args(%A : !mat, %B : !mat, %C : !mat, %alpha : f32, %beta : f32)
    return
  }
}
