// C = A B^T in f16, summed in f32, by TMA and wgmma: CuTe's tutorial wgmma_tma_sm90.
//
// One thread starts the copies of whole tiles (TMA), which land in a ring of four places in shared memory; a warpgroup multiplies tiles as they lie
// there (wgmma), while the copies of later ones travel. Two barriers for each place say what is going on: `full` ends a phase when the bytes
// of a tile of A and one of B are there, `empty` when all threads are done with them. The sums go through shared memory to C by TMA as well.
//
// What lies over the end of a tensor arrives as zeros and is not stored, so that any M and K will do, and N of whole 16 bytes, which TMA stores at once; rows are multiples of 16 bytes apart.
//
//     cute-opt examples/kernels/sm90/wgmma_tma_sm90.mlir --cute-compile="arch=sm_90a package=wgmma_tma.cutepkg" -o /dev/null
//     cute-run wgmma_tma.cutepkg --bench --shape A=4096x4096 --shape B=4096x4096 --shape C=4096x4096
//
// RUN: cute-opt %s --cute-compile="arch=sm_90a package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator --seeds 3 --shape A=128x320 --shape B=128x320 --shape C=128x128
// RUN: cute-run %t.cutepkg --device=emulator --seeds 2 --shape A=136x456 --shape B=264x456 --shape C=136x264

// A (M,K), B (N,K) and C (M,N), rows one after the other.
!mat = !cute.memref<f16, gmem, align<16>, "(?,?):(?{div=8},1)">
!coords = !cute.coord_tensor<"(0,0)", "(?,?):(1@1,1@0)">
// A place of the ring: 128 rows of 128 bytes, which the swizzle spans, for A and B alike. C is two of those side by side.
!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, swizzle = 128>
!store = !cute_nvgpu.atom.tma_store<f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, swizzle = 128>
!ring = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(128,64,4):(64,1,8192)">
!sC = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(128,(64,2)):(64,(1,8192))">
!bars = !cute.memref<i64, smem, align<8>, "4:1">
// The product of a warpgroup: 64 x 128, 16 of K. A and B are in shared memory, where it reads them itself; so a thread's part of them is
// the whole of them: (values of the atom, atoms of M or N, of K, places of the ring).
!wgmma = !cute_nvgpu.sm90.mma<64x128x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
!mma = !cute.tiled_mma<!wgmma, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
!tCrH = !cute.memref<f16, rmem, "((2,2,16),2,1):((1,2,4),64,0)">

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @wgmma_tma_kernel(%load_A: !load, %A: !coords, %load_B: !load, %B: !coords, %store_C: !store, %C: !coords, %tiles: i32) kernel
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
      %c32 = arith.constant 32 : i32
      %threads = arith.constant 128 : i32
      // A tile of A and one of B.
      %bytes = arith.constant 32768 : i32
      %warp_of = arith.divui %t32, %c32 : i32
      %warp = cute_nvgpu.arch.make_warp_uniform(%warp_of)
      %produces = arith.cmpi eq, %warp, %c0 : i32

      %cta = cute.static "[128:1;128:1;64:1]"
      %at = cute.make_coord(%m, %n, _)
      %gA = cute.local_tile(%A, %cta, %at, "(1,_,1)")
      %gB = cute.local_tile(%B, %cta, %at, "(_,1,1)")
      %gC = cute.local_tile(%C, %cta, %at, "(1,1,_)")
      %sA = cute.memref.alloca() : !ring
      %sB = cute.memref.alloca() : !ring
      %sC = cute.memref.alloca() : !sC
      %full = cute.memref.alloca() : !bars
      %empty = cute.memref.alloca() : !bars

      // The barriers, before anybody uses them.
      scf.if %produces {
        %leader = nvvm.elect.sync -> i1
        scf.if %leader {
          cute_nvgpu.prefetch_tma_desc(%load_A)
          cute_nvgpu.prefetch_tma_desc(%load_B)
          cute_nvgpu.prefetch_tma_desc(%store_C)
          scf.for %p = %c0 to %c4 step %c1 : i32 {
            cute_nvgpu.mbarrier_init %full[%p], %c1
            cute_nvgpu.mbarrier_init %empty[%p], %threads
          } {cute.unroll}
          nvvm.fence.mbarrier.init
        }
      }
      gpu.barrier

      // The first tiles start on their way.
      scf.if %produces {
        %leader = nvvm.elect.sync -> i1
        scf.if %leader {
          scf.for %p = %c0 to %c4 step %c1 : i32 {
            %is = arith.cmpi slt, %p, %tiles : i32
            scf.if %is {
              %here = cute.make_coord(_, _, %p)
              %a = cute.slice(%gA, %here)
              %b = cute.slice(%gB, %here)
              %x = cute.slice(%sA, %here)
              %y = cute.slice(%sB, %here)
              cute_nvgpu.mbarrier_arrive_and_expect_tx %full[%p], %bytes
              cute_nvgpu.tma_load(%load_A, [%a], %x) on %full[%p]
              cute_nvgpu.tma_load(%load_B, [%b], %y) on %full[%p]
            }
          } {cute.unroll}
        }
      }
      %mma = cute.static : !mma
      %tCsA = cute.tiled.mma.partition A (%mma, %sA, %t)
      %tCsB = cute.tiled.mma.partition B (%mma, %sB, %t)
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
        %a = cute.slice(%tCsA, %now)
        %b = cute.slice(%tCsB, %now)
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
              %from = cute.make_coord(_, _, %next)
              %to = cute.make_coord(_, _, %freed)
              %p = cute.slice(%gA, %from)
              %q = cute.slice(%gB, %from)
              %x = cute.slice(%sA, %to)
              %y = cute.slice(%sB, %to)
              cute_nvgpu.mbarrier_arrive_and_expect_tx %full[%freed], %bytes
              cute_nvgpu.tma_load(%load_A, [%p], %x) on %full[%freed]
              cute_nvgpu.tma_load(%load_B, [%q], %y) on %full[%freed]
            }
          }
        }
      }
      cute_nvgpu.wgmma_wait_group 0 (%acc)

      // The sums as f16, to shared memory, and from there to C. The copy out sees what threads wrote behind their fences and the barrier.
      %half = cute.convert(%acc) -> !tCrH
      %tCsC = cute.tiled.mma.partition C (%mma, %sC, %t)
      cute.autovec_copy(%half, %tCsC)
      nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
      gpu.barrier
      scf.if %produces {
        %leader = nvvm.elect.sync -> i1
        scf.if %leader {
          cute_nvgpu.tma_store(%store_C, %sC, [%gC])
          nvvm.cp.async.bulk.commit.group
          nvvm.cp.async.bulk.wait_group 0
        }
      }
      gpu.return
    }
  }

  // The host: the maps, how many blocks, and how many tiles along K.
  func.func @gemm(%A: !mat {cute.name = "A"}, %B: !mat {cute.name = "B"}, %C: !mat {cute.name = "C"})
      attributes {cute.computes = [{gemm = array<i64: 0, 1, 2>, accumulate = f32}]} {
    %c0 = arith.constant 0 : i32
    %bM = arith.constant 128 : i32
    %bK = arith.constant 64 : i32
    %lA = cute.get_layout(%A)
    %lB = cute.get_layout(%B)
    %M, %K, %ldA = cute.get_scalars <{only_dynamic}>(%lA)
    %N, %K2, %ldB = cute.get_scalars <{only_dynamic}>(%lB)
    %m = arith.ceildivsi %M, %bM : i32
    %n = arith.ceildivsi %N, %bM : i32
    %tiles = arith.ceildivsi %K, %bK : i32
    %blocks_m = arith.index_cast %m : i32 to index
    %blocks_n = arith.index_cast %n : i32 to index
    %one = arith.constant 1 : index
    %threads = arith.constant 128 : index
    %place = cute.static "S<3,4,3> o 0 o (128,64):(64,1)"
    %load_A, %of_A = cute_nvgpu.atom.make_tma_load(%A, %place)
    %load_B, %of_B = cute_nvgpu.atom.make_tma_load(%B, %place)
    %store_C, %of_C = cute_nvgpu.atom.make_tma_store(%C, %place)
    gpu.launch_func @kernels::@wgmma_tma_kernel blocks in (%blocks_m, %blocks_n, %one) threads in (%threads, %one, %one)
      dynamic_shared_memory_size %c0
      args(%load_A : !load, %of_A : !coords, %load_B : !load, %of_B : !coords, %store_C : !store, %of_C : !coords, %tiles : i32)
    return
  }
}
