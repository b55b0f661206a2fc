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
!sA = !cute.memref<f32, smem, align<16>, "(128,8):(1,128)">

!element = !cute_nvgpu.atom.universal_copy<f32, 32 b>
!fma = !cute_nvgpu.atom.universal_fma<1x1x1, (f32, f32) -> f32>
// 32 x 8 threads with 4 x 1 elements each, that is all 128 x 8 of a tile, one element at a time.
!copy = !cute.tiled_copy<!element, layout_copy_tv = <"(256,4):(4,1)">, tiler_mn = <"[128:1;8:1]">>
// 16 x 16 threads over C; the permutation deals out M and N by fours.
!mma = !cute.tiled_mma<!fma, atom_layout_MNK = <"(16,16,1):(1,16,0)">, permutation_MNK = <"[(16,4):(4,1);(16,4):(4,1);_]">>
// A predicate for each element that a thread copies, and the elements on their way.
!tApA = !cute.memref<i1, rmem, "(4,1,1):(1,0,0)">
!tArA = !cute.memref<f32, rmem, align<16>, "((1,4),1,1):((0,1),0,0)">
// A predicate for each of a thread's elements of C.
!tCpC = !cute.memref<i1, rmem, "(1,(4,2),(4,2)):(0,(1,4),(8,32))">

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
      %t = cute.make_coord(%t32)
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32

      // The tiles ...
      %cta = cute.static "[128:1;128:1;8:1]"
      %at = cute.make_coord(%m, %n, _)
      %gA = cute.local_tile(%A, %cta, %at, "(1,_,1)")
      %gB = cute.local_tile(%B, %cta, %at, "(_,1,1)")
      %gC = cute.local_tile(%C, %cta, %at, "(1,1,_)")
      %lgA = cute.get_layout(%gA)
      %tiles, %ld, %step = cute.get_scalars <{only_dynamic}>(%lgA)
      // ... and in the same way their coordinates.
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

      // Copying: elements, their coordinates, and their places in shared memory, all partitioned by one tiled copy.
      %copy = cute.static : !copy
      %tAgA = cute.tiled.copy.partition_S(%copy, %gA, %t)
      %tBgB = cute.tiled.copy.partition_S(%copy, %gB, %t)
      %tAcA = cute.tiled.copy.partition_S(%copy, %cA, %t)
      %tBcB = cute.tiled.copy.partition_S(%copy, %cB, %t)
      %tAsA = cute.tiled.copy.partition_D(%copy, %sA, %t)
      %tBsB = cute.tiled.copy.partition_D(%copy, %sB, %t)
      %tApA = cute.memref.alloca() : !tApA
      %tBpB = cute.memref.alloca() : !tApA
      %tArA = cute.memref.alloca() : !tArA
      %tBrB = cute.memref.alloca() : !tArA

      // Multiplying.
      %mma = cute.static : !mma
      %tCsA = cute.tiled.mma.partition A (%mma, %sA, %t)
      %tCsB = cute.tiled.mma.partition B (%mma, %sB, %t)
      %tCgC = cute.tiled.mma.partition C (%mma, %gC, %t)
      %tCcC = cute.tiled.mma.partition C (%mma, %cC, %t)
      %tCrA = cute.mma.make_fragment A (%mma, %tCsA)
      %tCrB = cute.mma.make_fragment B (%mma, %tCsB)
      %tCrC = cute.mma.make_fragment C (%mma, %tCgC)
      cute.clear(%tCrC)

      scf.for %k = %c0 to %tiles step %c1 : i32 {
        %here = cute.make_coord(_, _, _, %k)
        %a = cute.slice(%tAgA, %here)
        %b = cute.slice(%tBgB, %here)
        %ca = cute.slice(%tAcA, %here)
        %cb = cute.slice(%tBcB, %here)
        // Which of them are there: a coordinate is less than the shape where it is less in every mode.
        cute.transform(%ca, %tApA) (%c) {
          %is = cute.elem_less(%c, %MK)
          cute.yield %is
        }
        cute.transform(%cb, %tBpB) (%c) {
          %is = cute.elem_less(%c, %NK)
          cute.yield %is
        }
        // Zeros, and over them what is there; then all of it to shared memory.
        cute.clear(%tArA)
        cute.clear(%tBrB)
        cute.copy(%copy, %a, %tArA, %tApA)
        cute.copy(%copy, %b, %tBrB, %tBpB)
        cute.autovec_copy(%tArA, %tAsA)
        cute.autovec_copy(%tBrB, %tBsB)
        gpu.barrier
        cute.autovec_copy(%tCsA, %tCrA)
        cute.autovec_copy(%tCsB, %tCrB)
        cute.gemm(%mma, %tCrC, %tCrA, %tCrB, %tCrC)
        // Nobody may overwrite the tiles while another thread still reads.
        gpu.barrier
      }

      // C = alpha * sums + beta * C, where C is.
      %tCpC = cute.memref.alloca() : !tCpC
      cute.transform(%tCcC, %tCpC) (%c) {
        %is = cute.elem_less(%c, %MN)
        cute.yield %is
      }
      cute.axpby(%alpha, %tCrC, %beta, %tCgC, %tCpC)
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
    %threads = arith.constant 256 : index
    gpu.launch_func @kernels::@sgemm_2_dynamic_kernel blocks in (%blocks_m, %blocks_n, %one) threads in (%threads, %one, %one)
      dynamic_shared_memory_size %c0 args(%A : !mat, %B : !mat, %C : !mat, %alpha : f32, %beta : f32)
    return
  }
}
