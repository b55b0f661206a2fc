// C = A B^T with A and B of 8 bits (e4m3) and C of bf16, by wgmma, whose sums threads add up in f32.
//
// Warps have roles and blocks stay, as in wgmma_tma_persistent.mlir: one thread brings tiles into a ring (TMA), two warpgroups multiply them, 64 x 192 of C
// each. The sums differ. Where operands have 8 bits, Hopper's tensor cores keep fewer bits of a sum than f32 has, about 14 by DeepSeek's report, and cut off
// the others, so that the error grows with K. Here each step of the loop, 128 of K, starts sums of its own, and the threads add these to the sums of all of
// K, which are whole f32 (CUTLASS and DeepGEMM do the same).
//
// A thread has both in registers, 96 of each. A warpgroup has to wait for its products before it can add; tensor cores then have those of the other one.
//
// What lies over the end of a tensor arrives as zeros and is not stored, so that any M and K will do, and N of whole 16 bytes, which TMA stores at once; rows are multiples of 16 bytes apart.
//
//     cute-opt examples/kernels/sm90/wgmma_fp8.mlir --cute-compile="arch=sm_90a package=fp8.cutepkg" -o /dev/null
//     cute-run fp8.cutepkg --bench --shape A=4096x4096 --shape B=4096x4096 --shape C=4096x4096
//
// RUN: cute-opt %s --cute-compile="arch=sm_90a package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator --sms 2 --seeds 2 --shape A=256x640 --shape B=384x640 --shape C=256x384
// RUN: cute-run %t.cutepkg --device=emulator --sms 1 --shape A=136x208 --shape B=200x208 --shape C=136x200

// A (M,K), B (N,K) and C (M,N), rows one after the other.
!mat = !cute.memref<f8E4M3FN, gmem, align<16>, "(?,?):(?{div=16},1)">
!matC = !cute.memref<bf16, gmem, align<16>, "(?,?):(?{div=8},1)">
!coords = !cute.coord_tensor<"(0,0)", "(?,?):(1@1,1@0)">
// A block's tile: 128 x 192 of C, 128 of K at a time. A warpgroup's: 64 x 192 of C on its way out.
!load_A = !cute_nvgpu.atom.tma_load<f8E4M3FN, copy_bits = 131072, tma_gbasis = <"(128,128):(1@1,1@0)">, swizzle = 128>
!load_B = !cute_nvgpu.atom.tma_load<f8E4M3FN, copy_bits = 196608, tma_gbasis = <"(128,192):(1@1,1@0)">, swizzle = 128>
!store = !cute_nvgpu.atom.tma_store<bf16, copy_bits = 65536, tma_gbasis = <"(64,64):(1@1,1@0)">, swizzle = 128>
!ring_A = !cute.memref<f8E4M3FN, smem, align<1024>, S<3,4,3>, "(128,128,4):(128,1,16384)">
!ring_B = !cute.memref<f8E4M3FN, smem, align<1024>, S<3,4,3>, "(192,128,4):(128,1,24576)">
!outs = !cute.memref<bf16, smem, align<1024>, S<3,4,3>, "(64,(64,3),2):(64,(1,4096),12288)">
!bars = !cute.memref<i64, smem, align<8>, "4:1">
// Two warpgroups, one behind the other along M. The sums of one go out as those of a product of its own would.
!wgmma = !cute_nvgpu.sm90.mma<64x192x32, ab_major = (k, k), elem_type = (f8E4M3FN, f8E4M3FN, f32), frag_kind = ss>
!mma = !cute.tiled_mma<!wgmma, atom_layout_MNK = <"(2,1,1):(1,0,0)">>
!own = !cute.tiled_mma<!wgmma, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
!stsm = !cute_nvgpu.atom.stsm<bf16, mode = <"(8,8)">, num_matrices = 4, n>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @fp8_kernel(%load_A: !load_A, %A: !coords, %load_B: !load_B, %B: !coords, %store_C: !store, %C: !coords, %tiles_m: i32, %tiles: i32, %steps: i32) kernel
        attributes {known_block_size = array<i32: 384, 1, 1>} {
      %tx = gpu.thread_id x
      %bx = gpu.block_id x
      %gx = gpu.grid_dim x
      %t32 = arith.index_cast %tx : index to i32
      %block = arith.index_cast %bx : index to i32
      %blocks = arith.index_cast %gx : index to i32
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %c2 = arith.constant 2 : i32
      %c4 = arith.constant 4 : i32
      %c32 = arith.constant 32 : i32
      %c128 = arith.constant 128 : i32
      %c8 = arith.constant 8 : i32
      %no = arith.constant false
      // A tile of A and one of B.
      %bytes = arith.constant 40960 : i32
      %cta = cute.static "[128:1;192:1;128:1]"
      %sA = cute.memref.alloca() : !ring_A
      %sB = cute.memref.alloca() : !ring_B
      %outs = cute.memref.alloca() : !outs
      %full = cute.memref.alloca() : !bars
      %empty = cute.memref.alloca() : !bars

      %is_first = arith.cmpi eq, %t32, %c0 : i32
      scf.if %is_first {
        cute_nvgpu.prefetch_tma_desc(%load_A)
        cute_nvgpu.prefetch_tma_desc(%load_B)
        cute_nvgpu.prefetch_tma_desc(%store_C)
        scf.for %p = %c0 to %c4 step %c1 : i32 {
          cute_nvgpu.mbarrier_init %full[%p], %c1
          cute_nvgpu.mbarrier_init %empty[%p], %c8
        } {cute.unroll}
        nvvm.fence.mbarrier.init
      }
      gpu.barrier

      cute.warp_specialize
      role(%thread, %warp) warps 4 registers 40 {
        %is_warp = arith.cmpi eq, %warp, %c0 : i32
        scf.if %is_warp {
          %leader = nvvm.elect.sync -> i1
          scf.if %leader {
            // Steps are counted through all tiles: step i is in place i mod 4, for the (i / 4)th time.
            %end = scf.for %tile = %block to %tiles step %blocks iter_args(%first = %c0) -> (i32) : i32 {
              %m = arith.remui %tile, %tiles_m : i32
              %n = arith.divui %tile, %tiles_m : i32
              %at = cute.make_coord(%m, %n, _)
              %gA = cute.local_tile(%A, %cta, %at, "(1,_,1)")
              %gB = cute.local_tile(%B, %cta, %at, "(_,1,1)")
              scf.for %k = %c0 to %steps step %c1 : i32 {
                %i = arith.addi %first, %k : i32
                %slot = arith.remui %i, %c4 : i32
                %round = arith.divui %i, %c4 : i32
                %odd = arith.andi %round, %c1 : i32
                // A new place is free.
                %parity = arith.xori %odd, %c1 : i32
                cute_nvgpu.mbarrier_wait %empty[%slot], %parity
                %from = cute.make_coord(_, _, %k)
                %to = cute.make_coord(_, _, %slot)
                %a = cute.slice(%gA, %from)
                %b = cute.slice(%gB, %from)
                %x = cute.slice(%sA, %to)
                %y = cute.slice(%sB, %to)
                cute_nvgpu.mbarrier_arrive_and_expect_tx %full[%slot], %bytes
                cute_nvgpu.tma_load(%load_A, [%a], %x) on %full[%slot]
                cute_nvgpu.tma_load(%load_B, [%b], %y) on %full[%slot]
              }
              %next = arith.addi %first, %steps : i32
              scf.yield %next : i32
            }
          }
        }
      }
      role(%thread, %warp) warps 8 registers 232 {
        %row = arith.divui %warp, %c4 : i32
        // A barrier of its own for each warpgroup.
        %barrier = arith.addi %row, %c1 : i32
        %within = arith.remui %thread, %c128 : i32
        %t = cute.make_coord(%within)
        // Operands in shared memory are the same for all threads of a warpgroup: its first one's will do, which the warp knows.
        %group_first = arith.muli %row, %c128 : i32
        %g = cute.make_coord(%group_first)
        %stores = arith.cmpi eq, %within, %c0 : i32
        // One thread of a warp says that the warp is done with a place.
        %lane = arith.remui %thread, %c32 : i32
        %frees = arith.cmpi eq, %lane, %c0 : i32
        // The first of the four products along K of a step adds nothing to what is in its registers, which need no zeros before; the other three add.
        %wgmma = cute.make_atom(%no) -> !wgmma
        %mma = cute.make_tiled_mma(%wgmma) : !mma
        %own = cute.static : !own
        %tCsA = cute.tiled.mma.partition A (%mma, %sA, %g)
        %tCsB = cute.tiled.mma.partition B (%mma, %sB, %g)
        %part_C = cute.static shape "((2,2,24),1,1)"
        %mine = cute.make_coord(_, _, %row)
        %sC = cute.slice(%outs, %mine)
        %stsm = cute.make_atom() -> !stsm
        %copy = cute.mma.make_tiled_copy C (%own, %stsm)
        %tCsC = cute.tiled.copy.partition_D(%copy, %sC, %t)
        // The sums of a step, in the same registers for all steps. What they hold before is never added, but must have been written once.
        %acc = cute.mma.make_fragment C (%mma, %part_C)
        cute.clear(%acc)
        %end = scf.for %tile = %block to %tiles step %blocks iter_args(%first = %c0) -> (i32) : i32 {
          %m = arith.remui %tile, %tiles_m : i32
          %n = arith.divui %tile, %tiles_m : i32
          %sums = cute.mma.make_fragment C (%mma, %part_C)
          cute.clear(%sums)
          scf.for %k = %c0 to %steps step %c1 : i32 {
            %i = arith.addi %first, %k : i32
            %slot = arith.remui %i, %c4 : i32
            %round = arith.divui %i, %c4 : i32
            %parity = arith.andi %round, %c1 : i32
            cute_nvgpu.mbarrier_wait %full[%slot], %parity
            %now = cute.make_coord(_, _, _, %slot)
            %a = cute.slice(%tCsA, %now)
            %b = cute.slice(%tCsB, %now)
            cute_nvgpu.wgmma_fence(%acc)
            cute.gemm(%mma, %acc, %a, %b, %acc)
            cute_nvgpu.wgmma_commit_group
            cute_nvgpu.wgmma_wait_group 0 (%acc)
            // The place is free before the sums are added, so that the next tiles are on their way earlier.
            scf.if %frees {
              cute_nvgpu.mbarrier_arrive %empty[%slot]
            }
            %x = cute.memref.load_vec %acc
            %y = cute.memref.load_vec %sums
            %sum = arith.addf %x, %y : vector<96xf32>
            cute.memref.store_vec %sum, %sums
          }

          // All sums at once: a warpgroup has room for them in shared memory, and they go out while the next tile is multiplied. What went out before, if
          // anything has, has been read.
          %is_later = arith.cmpi ne, %tile, %block : i32
          %waits = arith.andi %is_later, %stores : i1
          scf.if %waits {
            nvvm.cp.async.bulk.wait_group 0 {read}
          }
          nvvm.barrier id = %barrier number_of_threads = %c128
          %bf16 = cute.convert(%sums) to bf16
          %tCrC = cute.tiled.copy.retile(%copy, %bf16)
          cute.copy(%copy, %tCrC, %tCsC)
          nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
          nvvm.barrier id = %barrier number_of_threads = %c128
          scf.if %stores {
            %m2 = arith.muli %m, %c2 : i32
            %rows = arith.addi %m2, %row : i32
            %to = cute.make_coord(%rows, %n)
            %gC = cute.local_tile(%C, "[64:1;192:1]", %to)
            cute_nvgpu.tma_store(%store_C, %sC, [%gC])
            nvvm.cp.async.bulk.commit.group
          }
          %next = arith.addi %first, %steps : i32
          scf.yield %next : i32
        }
        // Shared memory must stay until the last store has read it. The end of the kernel waits for what is written.
        scf.if %stores {
          nvvm.cp.async.bulk.wait_group 0 {read}
        }
      }
      gpu.return
    }
  }

  // The host: the maps, and as many blocks as there are multiprocessors, but no more than tiles.
  func.func @gemm(%A: !mat {cute.name = "A"}, %B: !mat {cute.name = "B"}, %C: !matC {cute.name = "C"})
      attributes {cute.computes = [{gemm = array<i64: 0, 1, 2>, accumulate = f32}]} {
    %c0 = arith.constant 0 : i32
    %bM = arith.constant 128 : i32
    %bN = arith.constant 192 : i32
    %bK = arith.constant 128 : i32
    %lA = cute.get_layout(%A)
    %lB = cute.get_layout(%B)
    %M, %K, %ldA = cute.get_scalars <{only_dynamic}>(%lA)
    %N, %K2, %ldB = cute.get_scalars <{only_dynamic}>(%lB)
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
    %load_A, %of_A = cute_nvgpu.atom.make_tma_load(%A, "S<3,4,3> o 0 o (128,128):(128,1)")
    %load_B, %of_B = cute_nvgpu.atom.make_tma_load(%B, "S<3,4,3> o 0 o (192,128):(128,1)")
    %store_C, %of_C = cute_nvgpu.atom.make_tma_store(%C, "S<3,4,3> o 0 o (64,(64,3)):(64,(1,4096))")
    gpu.launch_func @kernels::@fp8_kernel blocks in (%blocks, %one, %one) threads in (%threads, %one, %one)
      dynamic_shared_memory_size %c0
      args(%load_A : !load_A, %of_A : !coords, %load_B : !load_B, %of_B : !coords, %store_C : !store, %of_C : !coords, %m : i32, %tiles : i32, %steps : i32)
    return
  }
}
