// A GEMM's main loop on shared memory of any layout, with Volta's tensor cores: C = alpha A B^T + beta C, f16 in, f32 out.
//
// A block's tile is 64 x 96, 16 of K at a time. In shared memory A's rows are 17 elements apart, one more than they have, and
// B's 96 rows are three groups of 32, one behind the other. Nothing below depends on that but the types: partitions, fragments
// and products follow from the layouts, as in CuTe's introduction to MMA atoms (0t_mma_atom.md). mainloop_sm70, _sm75 and
// _sm80 differ in the atom alone.
//
// The atom is a product of 8 x 8 x 4 by 8 threads of a warp (a quad pair); 4 x 4 of them are 32 x 32 x 4 by 128 threads. It
// takes A with neighbours along K and B with neighbours along N, as they lie here, so that B is read 4 elements at a time.
// GPUs after Volta do it slowly.
//
//     cute-opt examples/kernels/mainloop_sm70.mlir --cute-compile="arch=sm_90a package=mainloop_sm70.cutepkg" -o /dev/null
//     cute-run mainloop_sm70.cutepkg --bench
//
// RUN: cute-opt %s --cute-compile="arch=sm_90a package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator --seeds 3
// RUN: cute-run %t.cutepkg --device=emulator --seeds 3 --set alpha=2 --set beta=0.5

// A (M,K), rows one after the other; B (N,K), columns; C (M,N), rows.
!A = !cute.memref<f16, gmem, align<16>, "(128,64):(64,1)">
!B = !cute.memref<f16, gmem, align<16>, "(192,64):(1,192)">
!C = !cute.memref<f32, gmem, align<16>, "(128,192):(192,1)">
!sA = !cute.memref<f16, smem, align<16>, "(64,16):(17,1)">
!sB = !cute.memref<f16, smem, align<16>, "((32,3),16):((1,512),32)">

// Copies: of A 8 elements at once from global memory, where rows are aligned, and one at a time to shared memory, where they
// are not; of B 4 at once from and to.
!octet = !cute_nvgpu.atom.universal_copy<f16, 128 b>
!quad = !cute_nvgpu.atom.universal_copy<f16, 64 b>
!element = !cute_nvgpu.atom.universal_copy<f16, 16 b>
// Threads and values are the same for both sides of A: 64 x 2 threads with 1 x 8 elements. Of B 8 x 16 threads with 4 x 1.
!load_A = !cute.tiled_copy<!octet, layout_copy_tv = <"((2,64),8):((512,1),64)">, tiler_mn = <"[64:1;16:1]">>
!store_A = !cute.tiled_copy<!element, layout_copy_tv = <"((2,64),8):((512,1),64)">, tiler_mn = <"[64:1;16:1]">>
!copy_B = !cute.tiled_copy<!quad, layout_copy_tv = <"(128,4):(4,1)">, tiler_mn = <"[32:1;16:1]">>
!mma_atom = !cute_nvgpu.sm70.mma<8x8x4, ab_major = (k, mn), elem_type = (f16, f16, f32)>
!mma = !cute.tiled_mma<!mma_atom, atom_layout_MNK = <"(4,4,1):(1,4,0)">, permutation_MNK = <"_">>

!tArA = !cute.memref<f16, rmem, align<16>, "((8,1),1,1):((1,0),0,0)">

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @mainloop_kernel(%A: !A {cute.noalias}, %B: !B {cute.noalias}, %C: !C {cute.noalias}, %alpha: f32, %beta: f32) kernel
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
      %tiles = arith.constant 4 : i32
      %cta = cute.static "[64:1;96:1;16:1]"
      %at = cute.make_coord(%m, %n, _)
      %gA = cute.local_tile(%A, %cta, %at, "(1,_,1)")
      %gB = cute.local_tile(%B, %cta, %at, "(_,1,1)")
      %gC = cute.local_tile(%C, %cta, %at, "(1,1,_)")
      %sA = cute.memref.alloca() : !sA
      %sB = cute.memref.alloca() : !sB

      // Copying. A goes through registers, which one copy fills and the other empties: the same 8 elements, as one vector and
      // as eight.
      %load_A = cute.static : !load_A
      %store_A = cute.static : !store_A
      %copy_B = cute.static : !copy_B
      %tAgA = cute.tiled.copy.partition_S(%load_A, %gA, %t)
      %tAsA = cute.tiled.copy.partition_D(%store_A, %sA, %t)
      %tArA = cute.memref.alloca() : !tArA
      %tArA_1 = cute.tiled.copy.retile(%store_A, %tArA)
      %tBgB = cute.tiled.copy.partition_S(%copy_B, %gB, %t)
      %tBsB = cute.tiled.copy.partition_D(%copy_B, %sB, %t)

      // Multiplying: what this thread holds of A and B, and registers for it; what it holds of C, and the sums.
      %mma = cute.static : !mma
      %tCsA = cute.tiled.mma.partition A (%mma, %sA, %t)
      %tCsB = cute.tiled.mma.partition B (%mma, %sB, %t)
      %tCgC = cute.tiled.mma.partition C (%mma, %gC, %t)
      %tCrA = cute.mma.make_fragment A (%mma, %tCsA)
      %tCrB = cute.mma.make_fragment B (%mma, %tCsB)
      %tCrC = cute.mma.make_fragment C (%mma, %tCgC)
      cute.clear(%tCrC)

      scf.for %k = %c0 to %tiles step %c1 : i32 {
        // Tile k to shared memory.
        %here = cute.make_coord(_, _, _, %k)
        %a = cute.slice(%tAgA, %here)
        %b = cute.slice(%tBgB, %here)
        cute.copy(%load_A, %a, %tArA)
        cute.copy(%store_A, %tArA_1, %tAsA)
        cute.copy(%copy_B, %b, %tBsB)
        gpu.barrier
        // To registers, by loads as wide as the layouts allow, and into the sums: (V,M,K) x (V,N,K) => (V,M,N), a loop over K,
        // M and N whose body is one atom.
        cute.autovec_copy(%tCsA, %tCrA)
        cute.autovec_copy(%tCsB, %tCrB)
        cute.gemm(%mma, %tCrC, %tCrA, %tCrB, %tCrC)
        // Nobody may overwrite the tiles while another thread still reads.
        gpu.barrier
      }

      // C = alpha * sums + beta * C
      cute.axpby(%alpha, %tCrC, %beta, %tCgC)
      gpu.return
    }
  }

  // The host: 2 x 2 blocks.
  func.func @gemm(%A: !A {cute.name = "A"}, %B: !B {cute.name = "B"}, %C: !C {cute.name = "C"},
                  %alpha: f32 {cute.name = "alpha", cute.default = 1.0 : f32}, %beta: f32 {cute.name = "beta", cute.default = 0.0 : f32})
      attributes {cute.computes = [{gemm = array<i64: 0, 1, 2>, accumulate = f32, alpha = 3 : index, beta = 4 : index}]} {
    %c0 = arith.constant 0 : i32
    %one = arith.constant 1 : index
    %blocks = arith.constant 2 : index
    %threads = arith.constant 128 : index
    gpu.launch_func @kernels::@mainloop_kernel blocks in (%blocks, %blocks, %one) threads in (%threads, %one, %one)
      dynamic_shared_memory_size %c0 args(%A : !A, %B : !B, %C : !C, %alpha : f32, %beta : f32)
    return
  }
}
