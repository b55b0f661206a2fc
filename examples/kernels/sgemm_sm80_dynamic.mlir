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
!any = !cute.layout<"(?,?{div=8}):(?{div=8},1)">
!shape = !cute.shape<"(?,?{div=8})">
!where = !cute.coord<"(?,?)">
!thread = !cute.coord<"?">
// A block's tile: 128 x 128 of C, 64 of K at a time; and which one.
!cta = !cute.tile<"[128:1;128:1;64:1]">
!at = !cute.coord<"(?,?,_)">
!gA = !cute.memref<f16, gmem, align<16>, "(128,64,?):(?{div=8},1,64)">
!gC = !cute.memref<f16, gmem, align<16>, "(128,128):(?{div=8},1)">
// Coordinates: of all of a matrix, and of those tiles.
!cMat = !cute.coord_tensor<"(0,0)", "(?,?{div=8}):(1@0,1@1)">
!cA = !cute.coord_tensor<"(?,0)", "(128,64,?):(1@0,1@1,64@1)">
!cC = !cute.coord_tensor<"(?,?)", "(128,128):(1@0,1@1)">
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

// Parts of a thread that copies: ((vector, vectors), of M, of K, tiles of K, or places of the ring).
!tAgA = !cute.memref<f16, gmem, align<16>, "((8,1),8,1,?):((1,8),?{div=128},64,64)">
!tAgA_k = !cute.memref<f16, gmem, align<16>, "((8,1),8,1):((1,8),?{div=128},64)">
!tAsA = !cute.memref<f16, smem, align<16>, S<3,4,3>, "((8,1),8,1,3):((1,8),1024,64,8192)">
!tAsA_p = !cute.memref<f16, smem, align<16>, S<3,4,3>, "((8,1),8,1):((1,8),1024,64)">
// The coordinates of the first elements of its vectors, and a predicate for each vector.
!tAcA = !cute.coord_tensor<"(?,?)", "((8,1),8,1,?):((1@1,8@1),16@0,64@1,64@1)">
!tAcA_k = !cute.coord_tensor<"(?,?)", "(8,1):(16@0,64@1)">
!tApA = !cute.memref<i1, rmem, "(8,1):(1,0)">
// What it multiplies: (values of the atom, of M or N, of K).
!part_A = !cute.shape<"((2,2,2),4,4)">
!part_B = !cute.shape<"((2,2),8,4)">
!part_C = !cute.shape<"((2,2),4,8)">
!tCrA = !cute.memref<f16, rmem, "((2,2,2),4,4):((1,2,4),8,32)">
!tCrB = !cute.memref<f16, rmem, "((2,2),8,4):((1,2),4,32)">
!tCrC = !cute.memref<f32, rmem, "((2,2),4,8):((1,2),4,16)">
!tCrA_k = !cute.memref<f16, rmem, "((2,2,2),4):((1,2,4),8)">
!tCrB_k = !cute.memref<f16, rmem, "((2,2),8):((1,2),4)">
// The same as ldmatrix fetches it: (values of the copy, of M or N, of K, places of the ring) in shared memory, and the
// fragments seen that way.
!tXsA = !cute.memref<f16, smem, align<16>, S<3,4,3>, "((8,1),4,4,3):((1,16),2048,16,8192)">
!tXsA_p = !cute.memref<f16, smem, align<16>, S<3,4,3>, "((8,1),4,4):((1,16),2048,16)">
!tXsA_k = !cute.memref<f16, smem, align<16>, S<3,4,3>, "((8,1),4):((1,16),2048)">
!tXrA = !cute.memref<f16, rmem, "((8,1),4,4):((1,0),8,32)">
!tXrA_k = !cute.memref<f16, rmem, "((8,1),4):((1,0),8)">
!tXrB = !cute.memref<f16, rmem, "((8,1),4,4):((1,32),8,32)">
!tXrB_k = !cute.memref<f16, rmem, "((8,1),4):((1,32),8)">
// C, a fourth of N at a time: the sums, their f16, that seen as pairs, and the pairs in global memory.
!sums = !cute.layout<"((2,2),4,2,4):((1,2),4,16,32)">
!tCrC_4 = !cute.memref<f32, rmem, "((2,2),4,2,4):((1,2),4,16,32)">
!tCrC_n = !cute.memref<f32, rmem, "((2,2),4,2):((1,2),4,16)">
!tCrH_n = !cute.memref<f16, rmem, "((2,2),4,2):((1,2),4,16)">
!tYrH_n = !cute.memref<f16, rmem, "((2,(2,2)),4,1):((1,(2,16)),4,32)">
!tYrH_v = !cute.memref<f16, rmem, "((2,(2,2)),4):((1,(2,16)),4)">
!tYgC = !cute.memref<f16, gmem, align<4>, "((2,(2,2)),4,4):((1,(?{div=64},16)),?{div=256},32)">
!tYgC_n = !cute.memref<f16, gmem, align<4>, "((2,(2,2)),4):((1,(?{div=64},16)),?{div=256})">
// The coordinates of the pairs' first elements, and a predicate for each.
!tYcC = !cute.coord_tensor<"(?,?)", "((2,(2,2)),4,4):((1@1,(8@0,16@1)),32@0,32@1)">
!tYcC_n = !cute.coord_tensor<"(?,?)", "(2,2,4):(8@0,16@1,32@0)">
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
      %t = cute.make_coord(%t32) : (i32) -> !thread
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %c2 = arith.constant 2 : i32
      %c3 = arith.constant 3 : i32
      %c4 = arith.constant 4 : i32
      // Tiles of A and B, one behind the other along K, and the tile of C.
      %cta = cute.static : !cta
      %at = cute.make_coord(%m, %n) : (i32, i32) -> !at
      %gA = cute.local_tile(%A, %cta, %at) {proj = #cute.coord<"(1,_,1)">} : (!mat, !cta, !at) -> !gA
      %gB = cute.local_tile(%B, %cta, %at) {proj = #cute.coord<"(_,1,1)">} : (!mat, !cta, !at) -> !gA
      %gC = cute.local_tile(%C, %cta, %at) {proj = #cute.coord<"(1,1,_)">} : (!mat, !cta, !at) -> !gC
      %lgA = cute.get_layout(%gA) : !gA
      %tiles, %ld = cute.get_scalars <{only_dynamic}>(%lgA) : !cute.layout<"(128,64,?):(?{div=8},1,64)">
      %last = arith.subi %tiles, %c1 : i32
      // Their coordinates, in the same way.
      %lA = cute.get_layout(%A) : !mat
      %lB = cute.get_layout(%B) : !mat
      %lC = cute.get_layout(%C) : !mat
      %MK = cute.get_shape(%lA) : !any -> !shape
      %NK = cute.get_shape(%lB) : !any -> !shape
      %MN = cute.get_shape(%lC) : !any -> !shape
      %iA = cute.make_identity_tensor(%MK : !shape) : !cMat
      %iB = cute.make_identity_tensor(%NK : !shape) : !cMat
      %iC = cute.make_identity_tensor(%MN : !shape) : !cMat
      %cA = cute.local_tile(%iA, %cta, %at) {proj = #cute.coord<"(1,_,1)">} : (!cMat, !cta, !at) -> !cA
      %cB = cute.local_tile(%iB, %cta, %at) {proj = #cute.coord<"(_,1,1)">} : (!cMat, !cta, !at) -> !cA
      %cC = cute.local_tile(%iC, %cta, %at) {proj = #cute.coord<"(1,1,_)">} : (!cMat, !cta, !at) -> !cC
      %sA = cute.memref.alloca() : !sA
      %sB = cute.memref.alloca() : !sA

      // Copying into the ring.
      %cp_async = cute.make_atom() : () -> !cp_async
      %copy = cute.make_tiled_copy(%cp_async) : !copy
      %tAgA = cute.tiled.copy.partition_S(%copy, %gA, %t) : (!copy, !gA, !thread) -> !tAgA
      %tBgB = cute.tiled.copy.partition_S(%copy, %gB, %t) : (!copy, !gA, !thread) -> !tAgA
      %tAsA = cute.tiled.copy.partition_D(%copy, %sA, %t) : (!copy, !sA, !thread) -> !tAsA
      %tBsB = cute.tiled.copy.partition_D(%copy, %sB, %t) : (!copy, !sA, !thread) -> !tAsA
      %tAcA = cute.tiled.copy.partition_S(%copy, %cA, %t) : (!copy, !cA, !thread) -> !tAcA
      %tBcB = cute.tiled.copy.partition_S(%copy, %cB, %t) : (!copy, !cA, !thread) -> !tAcA
      %tApA = cute.memref.alloca() : !tApA
      %tBpB = cute.memref.alloca() : !tApA

      // Multiplying: fragments for a whole tile, of which two steps of K are alive at a time.
      %mma_sync = cute.make_atom() : () -> !mma_sync
      %mma = cute.make_tiled_mma(%mma_sync) : !mma
      %part_A = cute.static : !part_A
      %part_B = cute.static : !part_B
      %part_C = cute.static : !part_C
      %tCrA = cute.mma.make_fragment A (%mma, %part_A) : (!mma, !part_A) -> !tCrA
      %tCrB = cute.mma.make_fragment B (%mma, %part_B) : (!mma, !part_B) -> !tCrB
      %tCrC = cute.mma.make_fragment C (%mma, %part_C) : (!mma, !part_C) -> !tCrC
      cute.clear(%tCrC) : (!tCrC)

      // From the ring into the fragments, which are seen as ldmatrix fills them: retile moves nothing.
      %ldmatrix = cute.make_atom() : () -> !ldmatrix
      %copy_A = cute.make_tiled_copy(%ldmatrix) : !copy_A
      %copy_B = cute.make_tiled_copy(%ldmatrix) : !copy_B
      %tXsA = cute.tiled.copy.partition_S(%copy_A, %sA, %t) : (!copy_A, !sA, !thread) -> !tXsA
      %tXsB = cute.tiled.copy.partition_S(%copy_B, %sB, %t) : (!copy_B, !sA, !thread) -> !tXsA
      %tXrA = cute.tiled.copy.retile(%copy_A, %tCrA) : (!copy_A, !tCrA) -> !tXrA
      %tXrB = cute.tiled.copy.retile(%copy_B, %tCrB) : (!copy_B, !tCrB) -> !tXrB

      // Tiles 0 and 1 start on their way, each a group that can be waited for. (A second tile that is not there is the first.)
      scf.for %p = %c0 to %c2 step %c1 : i32 {
        %k = arith.minsi %p, %last : i32
        %from = cute.make_coord(%k) : (i32) -> !cute.coord<"(_,_,_,?)">
        %to = cute.make_coord(%p) : (i32) -> !cute.coord<"(_,_,_,?)">
        %a = cute.slice(%tAgA, %from) : !tAgA, !cute.coord<"(_,_,_,?)">
        %b = cute.slice(%tBgB, %from) : !tAgA, !cute.coord<"(_,_,_,?)">
        %x = cute.slice(%tAsA, %to) : !tAsA, !cute.coord<"(_,_,_,?)">
        %y = cute.slice(%tBsB, %to) : !tAsA, !cute.coord<"(_,_,_,?)">
        // Which of its vectors are there: where the first element is, the others are.
        %first = cute.make_coord(%k) : (i32) -> !cute.coord<"(0,_,_,?)">
        %ca = cute.slice(%tAcA, %first) : !tAcA, !cute.coord<"(0,_,_,?)">
        %cb = cute.slice(%tBcB, %first) : !tAcA, !cute.coord<"(0,_,_,?)">
        cute.transform(%ca, %tApA) : (!tAcA_k, !tApA) {
        ^bb0(%c: !where):
          %is = cute.elem_less(%c, %MK) : !where, !shape
          cute.yield %is : i1
        }
        cute.transform(%cb, %tBpB) : (!tAcA_k, !tApA) {
        ^bb0(%c: !where):
          %is = cute.elem_less(%c, %NK) : !where, !shape
          cute.yield %is : i1
        }
        cute.copy(%copy, %a, %x, %tApA) : (!copy, !tAgA_k, !tAsA_p, !tApA)
        cute.copy(%copy, %b, %y, %tBpB) : (!copy, !tAgA_k, !tAsA_p, !tApA)
        nvvm.cp.async.commit.group
      } {cute.unroll}

      // Tile 0 is there when at most one group is still under way, for this thread's copies; for all threads' behind the barrier.
      nvvm.cp.async.wait.group 1
      gpu.barrier
      // Its step 0 into the fragments.
      %step0 = cute.static : !cute.coord<"(_,_,0)">
      %step0_place0 = cute.static : !cute.coord<"(_,_,0,0)">
      %rA0 = cute.slice(%tXrA, %step0) : !tXrA, !cute.coord<"(_,_,0)">
      %rB0 = cute.slice(%tXrB, %step0) : !tXrB, !cute.coord<"(_,_,0)">
      %sA0 = cute.slice(%tXsA, %step0_place0) : !tXsA, !cute.coord<"(_,_,0,0)">
      %sB0 = cute.slice(%tXsB, %step0_place0) : !tXsA, !cute.coord<"(_,_,0,0)">
      cute.copy(%copy_A, %sA0, %rA0) : (!copy_A, !tXsA_k, !tXrA_k)
      cute.copy(%copy_B, %sB0, %rB0) : (!copy_B, !tXsA_k, !tXrB_k)

      // The place of the ring that is read, and the one that is written: at first 0 and 2.
      %places:2 = scf.for %k = %c0 to %tiles step %c1 iter_args(%read = %c0, %write = %c2) -> (i32, i32) : i32 {
        // Tile k + 2 starts on its way, to where tile k - 1 was: the last barrier said that everybody has read that. Behind the
        // last tile it is the last one again, so that as many groups are under way in every turn.
        %k2 = arith.addi %k, %c2 : i32
        %next = arith.minsi %k2, %last : i32
        %from = cute.make_coord(%next) : (i32) -> !cute.coord<"(_,_,_,?)">
        %to = cute.make_coord(%write) : (i32) -> !cute.coord<"(_,_,_,?)">
        %a = cute.slice(%tAgA, %from) : !tAgA, !cute.coord<"(_,_,_,?)">
        %b = cute.slice(%tBgB, %from) : !tAgA, !cute.coord<"(_,_,_,?)">
        %x = cute.slice(%tAsA, %to) : !tAsA, !cute.coord<"(_,_,_,?)">
        %y = cute.slice(%tBsB, %to) : !tAsA, !cute.coord<"(_,_,_,?)">
        %first = cute.make_coord(%next) : (i32) -> !cute.coord<"(0,_,_,?)">
        %ca = cute.slice(%tAcA, %first) : !tAcA, !cute.coord<"(0,_,_,?)">
        %cb = cute.slice(%tBcB, %first) : !tAcA, !cute.coord<"(0,_,_,?)">
        cute.transform(%ca, %tApA) : (!tAcA_k, !tApA) {
        ^bb0(%c: !where):
          %is = cute.elem_less(%c, %MK) : !where, !shape
          cute.yield %is : i1
        }
        cute.transform(%cb, %tBpB) : (!tAcA_k, !tApA) {
        ^bb0(%c: !where):
          %is = cute.elem_less(%c, %NK) : !where, !shape
          cute.yield %is : i1
        }
        cute.copy(%copy, %a, %x, %tApA) : (!copy, !tAgA_k, !tAsA_p, !tApA)
        cute.copy(%copy, %b, %y, %tBpB) : (!copy, !tAgA_k, !tAsA_p, !tApA)
        nvvm.cp.async.commit.group

        // Steps 0 to 2 of K: fetch the next, multiply this one.
        %place = cute.make_coord(%read) : (i32) -> !cute.coord<"(_,_,_,?)">
        %tXsA_p = cute.slice(%tXsA, %place) : !tXsA, !cute.coord<"(_,_,_,?)">
        %tXsB_p = cute.slice(%tXsB, %place) : !tXsA, !cute.coord<"(_,_,_,?)">
        scf.for %i = %c0 to %c3 step %c1 : i32 {
          %j = arith.addi %i, %c1 : i32
          %this = cute.make_coord(%i) : (i32) -> !cute.coord<"(_,_,?)">
          %after = cute.make_coord(%j) : (i32) -> !cute.coord<"(_,_,?)">
          %sA1 = cute.slice(%tXsA_p, %after) : !tXsA_p, !cute.coord<"(_,_,?)">
          %sB1 = cute.slice(%tXsB_p, %after) : !tXsA_p, !cute.coord<"(_,_,?)">
          %rA1 = cute.slice(%tXrA, %after) : !tXrA, !cute.coord<"(_,_,?)">
          %rB1 = cute.slice(%tXrB, %after) : !tXrB, !cute.coord<"(_,_,?)">
          cute.copy(%copy_A, %sA1, %rA1) : (!copy_A, !tXsA_k, !tXrA_k)
          cute.copy(%copy_B, %sB1, %rB1) : (!copy_B, !tXsA_k, !tXrB_k)
          %fA = cute.slice(%tCrA, %this) : !tCrA, !cute.coord<"(_,_,?)">
          %fB = cute.slice(%tCrB, %this) : !tCrB, !cute.coord<"(_,_,?)">
          cute.gemm(%mma, %tCrC, %fA, %fB, %tCrC) : (!mma, !tCrC, !tCrA_k, !tCrB_k, !tCrC)
        } {cute.unroll}

        // Step 3: everything of this tile has been fetched. Wait for the next one (all groups but the newest), say so to the
        // other threads, and fetch its step 0 while step 3 of this one is multiplied.
        nvvm.cp.async.wait.group 1
        gpu.barrier
        %read1 = arith.addi %read, %c1 : i32
        %wraps = arith.cmpi eq, %read1, %c3 : i32
        %read_next = arith.select %wraps, %c0, %read1 : i32
        %place_next = cute.make_coord(%read_next) : (i32) -> !cute.coord<"(_,_,0,?)">
        %sA2 = cute.slice(%tXsA, %place_next) : !tXsA, !cute.coord<"(_,_,0,?)">
        %sB2 = cute.slice(%tXsB, %place_next) : !tXsA, !cute.coord<"(_,_,0,?)">
        cute.copy(%copy_A, %sA2, %rA0) : (!copy_A, !tXsA_k, !tXrA_k)
        cute.copy(%copy_B, %sB2, %rB0) : (!copy_B, !tXsA_k, !tXrB_k)
        %step3 = cute.static : !cute.coord<"(_,_,3)">
        %fA3 = cute.slice(%tCrA, %step3) : !tCrA, !cute.coord<"(_,_,3)">
        %fB3 = cute.slice(%tCrB, %step3) : !tCrB, !cute.coord<"(_,_,3)">
        cute.gemm(%mma, %tCrC, %fA3, %fB3, %tCrC) : (!mma, !tCrC, !tCrA_k, !tCrB_k, !tCrC)
        // The place that was read is written next.
        scf.yield %read_next, %read : i32, i32
      }
      // Nothing may be under way into shared memory that is no longer this block's.
      nvvm.cp.async.wait.group 0

      // C = alpha * sums + beta * C, a fourth of N at a time, in f32; C is not read where beta is 0.
      %zero = arith.constant 0.0 : f32
      %reads = arith.cmpf une, %beta, %zero : f32
      %pair = cute.make_atom() : () -> !pair
      %copy_C = cute.make_tiled_copy(%pair) : !copy_C
      %tYgC = cute.tiled.copy.partition_D(%copy_C, %gC, %t) : (!copy_C, !gC, !thread) -> !tYgC
      %tYcC = cute.tiled.copy.partition_D(%copy_C, %cC, %t) : (!copy_C, !cC, !thread) -> !tYcC
      %sums = cute.get_iter(%tCrC) : !tCrC
      %fourths = cute.static : !sums
      %tCrC_4 = cute.make_view(%sums, %fourths) : !tCrC_4
      scf.for %i = %c0 to %c4 step %c1 : i32 {
        %fourth = cute.make_coord(%i) : (i32) -> !cute.coord<"(_,_,_,?)">
        %x = cute.slice(%tCrC_4, %fourth) : !tCrC_4, !cute.coord<"(_,_,_,?)">
        %here = cute.make_coord(%i) : (i32) -> !cute.coord<"(_,_,?)">
        %g = cute.slice(%tYgC, %here) : !tYgC, !cute.coord<"(_,_,?)">
        %p = cute.memref.alloca() : !tYpC
        %firsts = cute.make_coord(%i) : (i32) -> !cute.coord<"((0,(_,_)),_,?)">
        %cc = cute.slice(%tYcC, %firsts) : !tYcC, !cute.coord<"((0,(_,_)),_,?)">
        cute.transform(%cc, %p) : (!tYcC_n, !tYpC) {
        ^bb0(%c: !where):
          %is = cute.elem_less(%c, %MN) : !where, !shape
          cute.yield %is : i1
        }
        %h = cute.memref.alloca() : !tCrH_n
        %hp = cute.tiled.copy.retile(%copy_C, %h) : (!copy_C, !tCrH_n) -> !tYrH_n
        %hv = cute.slice(%hp, %step0) : !tYrH_n, !cute.coord<"(_,_,0)">
        cute.clear(%h) : (!tCrH_n)
        scf.if %reads {
          cute.copy(%copy_C, %g, %hv, %p) : (!copy_C, !tYgC_n, !tYrH_v, !tYpC)
        }
        %y = cute.convert(%h) : (!tCrH_n) -> !tCrC_n
        cute.axpby(%alpha, %x, %beta, %y) : (f32, !tCrC_n, f32, !tCrC_n)
        %o = cute.convert(%y) : (!tCrC_n) -> !tCrH_n
        %op = cute.tiled.copy.retile(%copy_C, %o) : (!copy_C, !tCrH_n) -> !tYrH_n
        %ov = cute.slice(%op, %step0) : !tYrH_n, !cute.coord<"(_,_,0)">
        cute.copy(%copy_C, %ov, %g, %p) : (!copy_C, !tYrH_v, !tYgC_n, !tYpC)
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
    %lC = cute.get_layout(%C) : !mat
    %M, %N, %ldC = cute.get_scalars <{only_dynamic}>(%lC) : !any
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
