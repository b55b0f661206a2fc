// C = A B^T with A of bytes and B of f16, summed in f32, by TMA and wgmma: bytes become f16 on the way, in registers.
//
// wgmma multiplies two operands of one width, so that A, weights of 8 bits say, has to be made f16 first. Here half of its bytes travel: tiles of A lie in
// shared memory as bytes, each thread takes those that it has of the operand, makes f16 of them, and the product reads A from these registers
// (`frag_kind = rs`) and B from shared memory, where TMA put it.
//
// A thread's elements of A are written anew in each turn, so that the products of a turn are waited for in it; other blocks of the multiprocessor
// multiply meanwhile. What lies over the end of a tensor arrives as zeros, so that any M, N and K will do; rows are multiples of 16 bytes apart.
//
//     cute-opt examples/kernels/sm90/wgmma_mixed.mlir --cute-compile="arch=sm_90a package=mixed.cutepkg" -o /dev/null
//     cute-run mixed.cutepkg --bench --shape A=4096x4096 --shape B=4096x4096 --shape C=4096x4096
//
// RUN: cute-opt %s --cute-compile="arch=sm_90a package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator --seeds 3 --shape A=128x320 --shape B=128x320 --shape C=128x128
// RUN: cute-run %t.cutepkg --device=emulator --seeds 2 --shape A=136x464 --shape B=264x464 --shape C=136x264

// A (M,K), B (N,K) and C (M,N), rows one after the other.
!mA = !cute.memref<i8, gmem, align<16>, "(?,?):(?{div=16},1)">
!mB = !cute.memref<f16, gmem, align<16>, "(?,?):(?{div=8},1)">
!coords = !cute.coord_tensor<"(0,0)", "(?,?):(1@1,1@0)">
// A place of the ring: 128 rows of 64 elements, as wide as the swizzles of A and B.
!load_A = !cute_nvgpu.atom.tma_load<i8, copy_bits = 65536, tma_gbasis = <"(64,128):(1@1,1@0)">, swizzle = 64>
!load_B = !cute_nvgpu.atom.tma_load<f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, swizzle = 128>
!store = !cute_nvgpu.atom.tma_store<f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, swizzle = 128>
!ring_A = !cute.memref<i8, smem, align<1024>, S<2,4,3>, "(128,64,4):(64,1,8192)">
!ring_B = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(128,64,4):(64,1,8192)">
!sC = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(128,(64,2)):(64,(1,8192))">
!bars = !cute.memref<i64, smem, align<8>, "4:1">
!wgmma = !cute_nvgpu.sm90.mma<64x128x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = rs>
// Two warpgroups, one behind the other along M.
!mma = !cute.tiled_mma<!wgmma, atom_layout_MNK = <"(2,1,1):(1,0,0)">>
!tile = !cute.coord_tensor<"(?{div=64},?{div=128})", "(128,64):(1@1,1@0)">
!slot_A = !cute.memref<i8, smem, align<1024>, S<2,4,3>, "(128,64):(64,1)">
!slot_B = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(128,64):(64,1)">
!tCrH = !cute.memref<f16, rmem, "((2,2,16),1,1):((1,2,4),0,0)">

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @mixed_kernel(%load_A: !load_A, %A: !coords, %load_B: !load_B, %B: !coords, %store_C: !store, %C: !coords, %tiles: i32) kernel
        attributes {known_block_size = array<i32: 256, 1, 1>} {
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
      %c128 = arith.constant 128 : i32
      // All threads read a place, and say that they are done with it.
      %threads = arith.constant 256 : i32
      // A tile of A and one of B.
      %bytes = arith.constant 24576 : i32
      %warp_of = arith.divui %t32, %c32 : i32
      %warp = cute_nvgpu.arch.make_warp_uniform(%warp_of)
      %produces = arith.cmpi eq, %warp, %c0 : i32
      // Operands in shared memory are the same for all threads of a warpgroup: its first one's will do, which the warp knows.
      %group = arith.divui %warp, %c4 : i32
      %first = arith.muli %group, %c128 : i32
      %g = cute.make_coord(%first)

      %cta = cute.static "[128:1;128:1;64:1]"
      %at = cute.make_coord(%m, %n, _)
      %gA = cute.local_tile(%A, %cta, %at, "(1,_,1)")
      %gB = cute.local_tile(%B, %cta, %at, "(_,1,1)")
      %gC = cute.local_tile(%C, %cta, %at, "(1,1,_)")
      %sA = cute.memref.alloca() : !ring_A
      %sB = cute.memref.alloca() : !ring_B
      %sC = cute.memref.alloca() : !sC
      %full = cute.memref.alloca() : !bars
      %empty = cute.memref.alloca() : !bars

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
              cute_nvgpu.tma_load(%load_A, [%a], %x) on %full[%p] : (!load_A, [!tile], !slot_A), !bars
              cute_nvgpu.tma_load(%load_B, [%b], %y) on %full[%p] : (!load_B, [!tile], !slot_B), !bars
            }
          } {cute.unroll}
        }
      }
      %mma = cute.static : !mma
      %tCsA = cute.tiled.mma.partition A (%mma, %sA, %t)
      %tCsB = cute.tiled.mma.partition B (%mma, %sB, %g)
      %tCsC = cute.tiled.mma.partition C (%mma, %sC, %t)
      %part_C = cute.static shape "((2,2,16),1,1)"
      %acc = cute.mma.make_fragment C (%mma, %part_C)
      cute.clear(%acc)

      scf.for %k = %c0 to %tiles step %c1 : i32 {
        %slot = arith.remui %k, %c4 : i32
        %round = arith.divui %k, %c4 : i32
        %parity = arith.andi %round, %c1 : i32
        cute_nvgpu.mbarrier_wait %full[%slot], %parity
        %now = cute.make_coord(_, _, _, %slot)
        %of_bytes = cute.slice(%tCsA, %now)
        %a8 = cute.make_fragment_like(%of_bytes)
        cute.autovec_copy(%of_bytes, %a8)
        %a = cute.make_fragment_like(%a8) of f16
        cute.transform(%a8, %a) (%byte: i8) {
          %number = arith.sitofp %byte : i8 to f16
          cute.yield %number
        }
        %b = cute.slice(%tCsB, %now)
        cute_nvgpu.wgmma_fence(%acc, %a)
        cute.gemm(%mma, %acc, %a, %b, %acc)
        cute_nvgpu.wgmma_commit_group
        cute_nvgpu.wgmma_wait_group 0 (%acc)

        // TMA is not to write what a thread has read before it knows that it has.
        nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
        cute_nvgpu.mbarrier_arrive %empty[%slot]
        // The place of the turn before takes a tile three turns ahead: the other warps have mostly left it by now.
        %next = arith.addi %k, %c3 : i32
        %later = arith.cmpi sgt, %k, %c0 : i32
        %is = arith.cmpi slt, %next, %tiles : i32
        %both = arith.andi %is, %later : i1
        %issues = arith.andi %both, %produces : i1
        scf.if %issues {
          %before = arith.subi %k, %c1 : i32
          %freed = arith.remui %before, %c4 : i32
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
            cute_nvgpu.tma_load(%load_A, [%p], %x) on %full[%freed] : (!load_A, [!tile], !slot_A), !bars
            cute_nvgpu.tma_load(%load_B, [%q], %y) on %full[%freed] : (!load_B, [!tile], !slot_B), !bars
          }
        }
      }

      // The sums as f16, to shared memory, and from there to C.
      %half = cute.convert(%acc) -> !tCrH
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
  func.func @gemm(%A: !mA {cute.name = "A"}, %B: !mB {cute.name = "B"}, %C: !mB {cute.name = "C"})
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
    %threads = arith.constant 256 : index
    %place_A = cute.static "S<2,4,3> o 0 o (128,64):(64,1)"
    %place = cute.static "S<3,4,3> o 0 o (128,64):(64,1)"
    %load_A, %of_A = cute_nvgpu.atom.make_tma_load(%A, %place_A)
    %load_B, %of_B = cute_nvgpu.atom.make_tma_load(%B, %place)
    %store_C, %of_C = cute_nvgpu.atom.make_tma_store(%C, %place)
    gpu.launch_func @kernels::@mixed_kernel blocks in (%blocks_m, %blocks_n, %one) threads in (%threads, %one, %one)
      dynamic_shared_memory_size %c0
      args(%load_A : !load_A, %of_A : !coords, %load_B : !load_B, %of_B : !coords, %store_C : !store, %of_C : !coords, %tiles : i32)
    return
  }
}
