// C = alpha A B^T + beta C in f32 for matrices of any size: sgemm_2 with ragged edges.
//
// The last tile along M, N or K may reach over the end of a matrix. Which elements are there, a tensor of coordinates knows:
// the identity tensor of a matrix' shape, cut up and partitioned exactly as the matrix is, holds at each place where in the
// matrix it lies. Compared with the shape that gives predicates; what is not there is read as 0, and not written.
// As columns may begin anywhere, global memory is accessed element by element; shared memory, whose layout is known, is not.
//
//     cute-opt examples/kernels/sgemm_2_dynamic.mlir --cute-compile="arch=sm_90a package=sgemm_2_dynamic.cutepkg" -o /dev/null
//     cute-run sgemm_2_dynamic.cutepkg --bench --shape A=4000x4001 --shape B=4002x4001 --shape C=4000x4002
//
// RUN: cute-opt %s --cute-compile="arch=sm_90a package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator --seeds 3 --shape A=129x19 --shape B=131x19 --shape C=129x131 --set alpha=2 --set beta=0.5
// RUN: cute-run %t.cutepkg --device=emulator --seeds 3 --shape A=3x1 --shape B=5x1 --shape C=3x5
// RUN: cute-run %t.cutepkg --device=emulator --seeds 3 --layout "A=(100,24):(1,101)" --layout "B=(70,24):(1,128)" --layout "C=(100,70):(1,103)"

// A (M,K), B (N,K) and C (M,N), columns one after the other (BLAS' "NT").
!mat = !cute.memref<f32, gmem, align<4>, "(?,?):(1,?)">
!any = !cute.layout<"(?,?):(1,?)">
!shape = !cute.shape<"(?,?)">
!where = !cute.coord<"(?,?)">
!thread = !cute.coord<"?">
// A block's tile: 128 x 128 of C, 8 of K at a time; and which one.
!cta = !cute.tile<"[128:1;128:1;8:1]">
!at = !cute.coord<"(?,?,_)">
!gA = !cute.memref<f32, gmem, "(128,8,?):(1,?,?)">
!gC = !cute.memref<f32, gmem, "(128,128):(1,?)">
!sA = !cute.memref<f32, smem, align<16>, "(128,8):(1,128)">
// Coordinates: of all of a matrix, and of those tiles.
!cMat = !cute.coord_tensor<"(0,0)", "(?,?):(1@0,1@1)">
!cA = !cute.coord_tensor<"(?,0)", "(128,8,?):(1@0,1@1,8@1)">
!cC = !cute.coord_tensor<"(?,?)", "(128,128):(1@0,1@1)">

!element = !cute_nvgpu.atom.universal_copy<f32, 32 b>
!fma = !cute_nvgpu.atom.universal_fma<1x1x1, (f32, f32) -> f32>
// 32 x 8 threads with 4 x 1 elements each, that is all 128 x 8 of a tile, one element at a time.
!copy = !cute.tiled_copy<!element, layout_copy_tv = <"(256,4):(4,1)">, tiler_mn = <"[128:1;8:1]">>
// 16 x 16 threads over C; the permutation deals out M and N by fours.
!mma = !cute.tiled_mma<!fma, atom_layout_MNK = <"(16,16,1):(1,16,0)">, permutation_MNK = <"[(16,4):(4,1);(16,4):(4,1);_]">>
// Parts of a thread that copies: ((element, elements), of M, of K, tiles of K); their coordinates; and a predicate for each.
!tAgA = !cute.memref<f32, gmem, "((1,4),1,1,?):((0,1),128,?,?)">
!tAgA_k = !cute.memref<f32, gmem, "((1,4),1,1):((0,1),128,?)">
!tAcA = !cute.coord_tensor<"(?,?)", "((1,4),1,1,?):((0,1@0),128@0,8@1,8@1)">
!tAcA_k = !cute.coord_tensor<"(?,?)", "((1,4),1,1):((0,1@0),128@0,8@1)">
!tApA = !cute.memref<i1, rmem, "(4,1,1):(1,0,0)">
!tArA = !cute.memref<f32, rmem, align<16>, "((1,4),1,1):((0,1),0,0)">
!tAsA = !cute.memref<f32, smem, align<16>, "((1,4),1,1):((0,1),128,1024)">
// Parts of a thread that multiplies: (1 value of the atom, 8 of M, 8 of K); of C (1, 8 of M, 8 of N).
!tCsA = !cute.memref<f32, smem, align<16>, "(1,(4,2),8):(0,(1,64),128)">
!tCrA = !cute.memref<f32, rmem, "(1,(4,2),8):(0,(1,4),8)">
!tCgC = !cute.memref<f32, gmem, "(1,(4,2),(4,2)):(0,(1,64),(?,?))">
!tCcC = !cute.coord_tensor<"(?,?)", "(1,(4,2),(4,2)):(0,(1@0,64@0),(1@1,64@1))">
!tCpC = !cute.memref<i1, rmem, "(1,(4,2),(4,2)):(0,(1,4),(8,32))">
!tCrC = !cute.memref<f32, rmem, "(1,(4,2),(4,2)):(0,(1,4),(8,32))">

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @sgemm_2_dynamic_kernel(%A: !mat, %B: !mat, %C: !mat, %alpha: f32, %beta: f32) kernel
        attributes {known_block_size = array<i32: 256, 1, 1>} {
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

      // The tiles ...
      %cta = cute.static : !cta
      %at = cute.make_coord(%m, %n) : (i32, i32) -> !at
      %gA = cute.local_tile(%A, %cta, %at) {proj = #cute.coord<"(1,_,1)">} : (!mat, !cta, !at) -> !gA
      %gB = cute.local_tile(%B, %cta, %at) {proj = #cute.coord<"(_,1,1)">} : (!mat, !cta, !at) -> !gA
      %gC = cute.local_tile(%C, %cta, %at) {proj = #cute.coord<"(1,1,_)">} : (!mat, !cta, !at) -> !gC
      %lgA = cute.get_layout(%gA) : !gA
      %tiles, %ld, %step = cute.get_scalars <{only_dynamic}>(%lgA) : !cute.layout<"(128,8,?):(1,?,?)">
      // ... and in the same way their coordinates.
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

      // Copying: elements, their coordinates, and their places in shared memory, all partitioned by one tiled copy.
      %element = cute.make_atom() : () -> !element
      %copy = cute.make_tiled_copy(%element) : !copy
      %tAgA = cute.tiled.copy.partition_S(%copy, %gA, %t) : (!copy, !gA, !thread) -> !tAgA
      %tBgB = cute.tiled.copy.partition_S(%copy, %gB, %t) : (!copy, !gA, !thread) -> !tAgA
      %tAcA = cute.tiled.copy.partition_S(%copy, %cA, %t) : (!copy, !cA, !thread) -> !tAcA
      %tBcB = cute.tiled.copy.partition_S(%copy, %cB, %t) : (!copy, !cA, !thread) -> !tAcA
      %tAsA = cute.tiled.copy.partition_D(%copy, %sA, %t) : (!copy, !sA, !thread) -> !tAsA
      %tBsB = cute.tiled.copy.partition_D(%copy, %sB, %t) : (!copy, !sA, !thread) -> !tAsA
      %tApA = cute.memref.alloca() : !tApA
      %tBpB = cute.memref.alloca() : !tApA
      %tArA = cute.memref.alloca() : !tArA
      %tBrB = cute.memref.alloca() : !tArA

      // Multiplying.
      %fma = cute.make_atom() : () -> !fma
      %mma = cute.make_tiled_mma(%fma) : !mma
      %tCsA = cute.tiled.mma.partition A (%mma, %sA, %t) : (!mma, !sA, !thread) -> !tCsA
      %tCsB = cute.tiled.mma.partition B (%mma, %sB, %t) : (!mma, !sA, !thread) -> !tCsA
      %tCgC = cute.tiled.mma.partition C (%mma, %gC, %t) : (!mma, !gC, !thread) -> !tCgC
      %tCcC = cute.tiled.mma.partition C (%mma, %cC, %t) : (!mma, !cC, !thread) -> !tCcC
      %tCrA = cute.mma.make_fragment A (%mma, %tCsA) : (!mma, !tCsA) -> !tCrA
      %tCrB = cute.mma.make_fragment B (%mma, %tCsB) : (!mma, !tCsA) -> !tCrA
      %tCrC = cute.mma.make_fragment C (%mma, %tCgC) : (!mma, !tCgC) -> !tCrC
      cute.clear(%tCrC) : (!tCrC)

      scf.for %k = %c0 to %tiles step %c1 : i32 {
        %here = cute.make_coord(%k) : (i32) -> !cute.coord<"(_,_,_,?)">
        %a = cute.slice(%tAgA, %here) : !tAgA, !cute.coord<"(_,_,_,?)">
        %b = cute.slice(%tBgB, %here) : !tAgA, !cute.coord<"(_,_,_,?)">
        %ca = cute.slice(%tAcA, %here) : !tAcA, !cute.coord<"(_,_,_,?)">
        %cb = cute.slice(%tBcB, %here) : !tAcA, !cute.coord<"(_,_,_,?)">
        // Which of them are there: a coordinate is less than the shape where it is less in every mode.
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
        // Zeros, and over them what is there; then all of it to shared memory.
        cute.clear(%tArA) : (!tArA)
        cute.clear(%tBrB) : (!tArA)
        cute.copy(%copy, %a, %tArA, %tApA) : (!copy, !tAgA_k, !tArA, !tApA)
        cute.copy(%copy, %b, %tBrB, %tBpB) : (!copy, !tAgA_k, !tArA, !tApA)
        cute.autovec_copy(%tArA, %tAsA) : (!tArA, !tAsA)
        cute.autovec_copy(%tBrB, %tBsB) : (!tArA, !tAsA)
        gpu.barrier
        cute.autovec_copy(%tCsA, %tCrA) : (!tCsA, !tCrA)
        cute.autovec_copy(%tCsB, %tCrB) : (!tCsA, !tCrA)
        cute.gemm(%mma, %tCrC, %tCrA, %tCrB, %tCrC) : (!mma, !tCrC, !tCrA, !tCrA, !tCrC)
        // Nobody may overwrite the tiles while another thread still reads.
        gpu.barrier
      }

      // C = alpha * sums + beta * C, where C is.
      %tCpC = cute.memref.alloca() : !tCpC
      cute.transform(%tCcC, %tCpC) : (!tCcC, !tCpC) {
      ^bb0(%c: !where):
        %is = cute.elem_less(%c, %MN) : !where, !shape
        cute.yield %is : i1
      }
      cute.axpby(%alpha, %tCrC, %beta, %tCgC, %tCpC) : (f32, !tCrC, f32, !tCgC, !tCpC)
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
    %threads = arith.constant 256 : index
    gpu.launch_func @kernels::@sgemm_2_dynamic_kernel blocks in (%blocks_m, %blocks_n, %one) threads in (%threads, %one, %one)
      dynamic_shared_memory_size %c0 args(%A : !mat, %B : !mat, %C : !mat, %alpha : f32, %beta : f32)
    return
  }
}
