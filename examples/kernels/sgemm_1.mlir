// C = alpha A B^T + beta C in f32, with partitions alone: CuTe's tutorial sgemm_1.
//
// Each block has a tile of C. It goes along K: all threads copy a tile of A and one of B to shared memory, wait for each
// other, multiply, and wait again before the next tiles come. Who copies and who multiplies what is a layout of threads
// laid over the tile (`cute.local_partition`): no instruction is chosen, so that every access is of one element.
//
//     cute-opt examples/kernels/sgemm_1.mlir --cute-compile="arch=sm_90a package=sgemm_1.cutepkg" -o /dev/null
//     cute-run sgemm_1.cutepkg --bench --shape A=4096x4096 --shape B=4096x4096 --shape C=4096x4096
//
// RUN: cute-opt %s --cute-compile="arch=sm_90a package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator --seeds 3 --shape A=128x24 --shape B=256x24 --shape C=128x256
// RUN: cute-run %t.cutepkg --device=emulator --seeds 3 --shape A=128x8 --shape B=128x8 --shape C=128x128 --set alpha=2 --set beta=0.5

// A (M,K), B (N,K) and C (M,N), columns one after the other (BLAS' "NT"). Columns begin at multiples of 16 bytes.
!mat = !cute.memref<f32, gmem, align<16>, "(?,?):(1,?{div=4})">
!sA = !cute.memref<f32, smem, align<16>, "(128,8):(1,128)">
// A thread's part of C: every 16th row of A and of B, so 8 x 8 elements.
!tCrC = !cute.memref<f32, rmem, "(8,8):(1,8)">

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @sgemm_1_kernel(%A: !mat, %B: !mat, %C: !mat, %alpha: f32, %beta: f32) kernel
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
      // Three tiles from one tiler of (M,N,K): `proj` leaves out the mode that a tensor does not have, as Step<_1, X, _1> does.
      // A's and B's tiles lie one behind the other along K, their last mode.
      %cta = cute.static "[128:1;128:1;8:1]"
      %at = cute.make_coord(%m, %n, _)
      %gA = cute.local_tile(%A, %cta, %at, "(1,_,1)")
      %gB = cute.local_tile(%B, %cta, %at, "(_,1,1)")
      %gC = cute.local_tile(%C, %cta, %at, "(1,1,_)")
      %lA = cute.get_layout(%gA)
      %tiles, %ld, %step = cute.get_scalars <{only_dynamic}>(%lA)

      // A tile of A and one of B, in shared memory.
      %sA = cute.memref.alloca() : !sA
      %sB = cute.memref.alloca() : !sA

      // Copying: what this thread takes from global memory, and where it puts it.
      %tA = cute.static "(32,8):(1,32)"
      %tAgA = cute.local_partition(%gA, %tA, %t)
      %tBgB = cute.local_partition(%gB, %tA, %t)
      %tAsA = cute.local_partition(%sA, %tA, %t)
      %tBsB = cute.local_partition(%sB, %tA, %t)

      // Multiplying: the threads lie over (M,N). A has no N, so all 16 threads along N read the same rows of it; `proj` says so.
      %tC = cute.static "(16,16):(1,16)"
      %tCsA = cute.local_partition(%sA, %tC, %t, "(1,_)")
      %tCsB = cute.local_partition(%sB, %tC, %t, "(_,1)")
      %tCgC = cute.local_partition(%gC, %tC, %t)

      // The sums stay in registers.
      %tCrC = cute.memref.alloca() : !tCrC
      cute.clear(%tCrC)

      scf.for %k = %c0 to %tiles step %c1 : i32 {
        // This thread's part of tile k ...
        %here = cute.make_coord(_, _, %k)
        %a = cute.slice(%tAgA, %here)
        %b = cute.slice(%tBgB, %here)
        // ... goes to shared memory. The rows are 32 apart, so this is element by element.
        cute.autovec_copy(%a, %tAsA)
        cute.autovec_copy(%b, %tBsB)
        // All of the tile is there once every thread is here.
        gpu.barrier
        // (M,K) x (N,K) => (M,N): for each k, 8 + 8 loads from shared memory and 64 multiply-adds.
        cute.gemm(%tCrC, %tCsA, %tCsB, %tCrC)
        // Nobody may overwrite it while another thread still reads.
        gpu.barrier
      }

      // C = alpha * sums + beta * C
      cute.axpby(%alpha, %tCrC, %beta, %tCgC)
      gpu.return
    }
  }

  // The host: how many blocks, and what they are given. Sizes come from the tensors themselves.
  func.func @sgemm(%A: !mat {cute.name = "A"}, %B: !mat {cute.name = "B"}, %C: !mat {cute.name = "C"},
                   %alpha: f32 {cute.name = "alpha", cute.default = 1.0 : f32}, %beta: f32 {cute.name = "beta", cute.default = 0.0 : f32})
      attributes {cute.computes = [{gemm = array<i64: 0, 1, 2>, accumulate = f32, alpha = 3 : index, beta = 4 : index}]} {
    %c0 = arith.constant 0 : i32
    %bM = arith.constant 128 : i32
    %bK = arith.constant 8 : i32
    %lA = cute.get_layout(%A)
    %lB = cute.get_layout(%B)
    %M, %K, %ldA = cute.get_scalars <{only_dynamic}>(%lA)
    %N, %K2, %ldB = cute.get_scalars <{only_dynamic}>(%lB)
    // Tiles must divide the problem: nothing below asks whether an element is there.
    %rM = arith.remsi %M, %bM : i32
    %rN = arith.remsi %N, %bM : i32
    %rK = arith.remsi %K, %bK : i32
    %rMN = arith.ori %rM, %rN : i32
    %r = arith.ori %rMN, %rK : i32
    %whole = arith.cmpi eq, %r, %c0 : i32
    cf.assert %whole, "expected M and N that are multiples of 128, and K of 8"
    %m = arith.divsi %M, %bM : i32
    %n = arith.divsi %N, %bM : i32
    %blocks_m = arith.index_cast %m : i32 to index
    %blocks_n = arith.index_cast %n : i32 to index
    %one = arith.constant 1 : index
    %threads = arith.constant 256 : index
    gpu.launch_func @kernels::@sgemm_1_kernel blocks in (%blocks_m, %blocks_n, %one) threads in (%threads, %one, %one)
      dynamic_shared_memory_size %c0 args(%A : !mat, %B : !mat, %C : !mat, %alpha : f32, %beta : f32)
    return
  }
}
