// C = A B^T in f16, summed in f32: two warpgroups that multiply in turn (ping-pong), and pairs of blocks that share B.
//
// A block has three warpgroups. One thread of the first brings tiles into a ring (TMA). The other two, called teams here, take tiles of C alternately, each a
// whole one of 128 x 192: while one team multiplies (wgmma), the other stores its sums, so that tensor cores always have something to do. The warpgroups of
// wgmma_tma_persistent.mlir share a tile, and tensor cores wait while it goes out; the shorter K is, the more of the time that takes.
//
// Teams take turns by two barriers in shared memory. A team waits at its own before the first product of a tile, and the other one arrives there as soon as
// it has started its last product. It does not wait for that to end first, so that the products of the two follow each other without a gap.
//
// Blocks come in clusters of two, whose tiles of C are neighbours along M and so need the same tiles of B. Each block loads one half of such a tile into the
// shared memory of both (multicast): 28 KB from L2 for each step of K in place of 40. As it fills a part of the other block's ring, too, a place of the ring
// is only empty when the teams of both blocks are done with it, which the pipeline knows.
//
// What lies over the end of a tensor arrives as zeros and is not stored, so that any M and K will do, and N of whole 16 bytes, which TMA stores at once; rows are multiples of 16 bytes apart.
//
//     cute-opt examples/kernels/sm90/wgmma_pingpong.mlir --cute-compile="arch=sm_90a package=pingpong.cutepkg" -o /dev/null
//     cute-run pingpong.cutepkg --bench --shape A=8192x512 --shape B=8192x512 --shape C=8192x8192
//
// RUN: cute-opt %s --cute-compile="arch=sm_90a package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator --sms 2 --seeds 2 --shape A=512x320 --shape B=384x320 --shape C=512x384
// RUN: cute-run %t.cutepkg --device=emulator --sms 5 --shape A=648x136 --shape B=200x136 --shape C=648x200

// A (M,K), B (N,K) and C (M,N), rows one after the other.
!mat = !cute.memref<f16, gmem, align<16>, "(?,?):(?{div=8},1)">
!coords = !cute.coord_tensor<"(0,0)", "(?,?):(1@1,1@0)">
// A team's tile: 128 x 192 of C, 64 of K at a time. A block loads 96 rows of B for itself and the other one. 64 x 192 of C go out at a time.
!load_A = !cute_nvgpu.atom.tma_load<f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, swizzle = 128>
!load_B = !cute_nvgpu.atom.tma_load<f16, copy_bits = 98304, tma_gbasis = <"(64,96):(1@1,1@0)">, swizzle = 128>
!store = !cute_nvgpu.atom.tma_store<f16, copy_bits = 65536, tma_gbasis = <"(64,64):(1@1,1@0)">, swizzle = 128>
!ring_A = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(128,64,4):(64,1,8192)">
!ring_B = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(192,64,4):(64,1,12288)">
!outs = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,(64,3),2):(64,(1,4096),12288)">
!turns = !cute.memref<i64, smem, align<8>, "2:1">
// A team's product: two atoms, one below the other. Sums go to shared memory four 8 x 8 matrices at a time (stmatrix).
!wgmma = !cute_nvgpu.sm90.mma<64x192x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
!mma = !cute.tiled_mma<!wgmma, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
!stsm = !cute_nvgpu.atom.stsm<f16, mode = <"(8,8)">, num_matrices = 4, n>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    cute.import "std/schedule"

    gpu.func @pingpong_kernel(%load_A: !load_A, %A: !coords, %load_B: !load_B, %B: !coords, %store_C: !store, %C: !coords,
                              %pairs_m: i32, %tiles_n: i32, %tiles: i32, %steps: i32) kernel attributes {known_block_size = array<i32: 384, 1, 1>} {
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
      // A bit for each block of the cluster.
      %both = arith.constant 3 : i16
      %cluster = arith.divui %block, %c2 : i32
      %rank = arith.remui %block, %c2 : i32
      %clusters = arith.divui %blocks, %c2 : i32
      %sA = cute.memref.alloca() : !ring_A
      %sB = cute.memref.alloca() : !ring_B
      %outs = cute.memref.alloca() : !outs
      %turns = cute.memref.alloca() : !turns

      %is_first = arith.cmpi eq, %t32, %c0 : i32
      scf.if %is_first {
        cute_nvgpu.prefetch_tma_desc(%load_A)
        cute_nvgpu.prefetch_tma_desc(%load_B)
        cute_nvgpu.prefetch_tma_desc(%store_C)
        // A team is let go on by one thread of each warp of the other one.
        scf.for %p = %c0 to %c2 step %c1 : i32 {
          cute_nvgpu.mbarrier_init %turns[%p], %c4
        } {cute.unroll}
        nvvm.fence.mbarrier.init
      }
      // Four places, each of which four warps of both blocks read, those of the team whose tile it is for. All barriers are there before anything arrives at them: the threads of both blocks meet here.
      %ring = cute_nvgpu.pipeline.create warps 4 blocks 2 : !cute.pipeline<4, mbarrier>
      // A barrier of its own for each team.
      %barriers = cute_nvgpu.named_barriers 2

      cute.warp_specialize
      role(%thread, %warp) warps 4 registers 40 {
        %is_warp = arith.cmpi eq, %warp, %c0 : i32
        scf.if %is_warp {
          %leader = nvvm.elect.sync -> i1
          scf.if %leader {
            %tile_B = cute.static "[96:1;64:1]"
            %mine = cute.make_coord(%rank, 0)
            // Steps are counted through all tiles.
            %end = scf.for %tile = %cluster to %tiles step %clusters iter_args(%first = %c0) -> (i32) : i32 {
              %pair, %n = cute.call @grouped_tile(%tile, %pairs_m, %tiles_n)
              %pair2 = arith.muli %pair, %c2 : i32
              %m = arith.addi %pair2, %rank : i32
              %n2 = arith.muli %n, %c2 : i32
              %half = arith.addi %n2, %rank : i32
              %at_A = cute.make_coord(%m, _)
              %at_B = cute.make_coord(%half, _)
              %gA = cute.local_tile(%A, "[128:1;64:1]", %at_A)
              %gB = cute.local_tile(%B, %tile_B, %at_B)
              scf.for %k = %c0 to %steps step %c1 : i32 {
                %i = arith.addi %first, %k : i32
                %slot = cute_nvgpu.pipeline.producer_acquire(%ring, %i)
                %from = cute.make_coord(_, _, %k)
                %to = cute.make_coord(_, _, %slot)
                %a = cute.slice(%gA, %from)
                %b = cute.slice(%gB, %from)
                %x = cute.slice(%sA, %to)
                %whole = cute.slice(%sB, %to)
                %y = cute.local_tile(%whole, %tile_B, %mine)
                cute_nvgpu.tma_load(%load_A, [%a], %x) on %ring[%slot]
                cute_nvgpu.tma_load(%load_B, [%b], %y) on %ring[%slot] multicast(%both)
              }
              %next = arith.addi %first, %steps : i32
              scf.yield %next : i32
            }
          }
        }
      }
      role(%thread, %warp) warps 8 registers 232 {
        %team = arith.divui %warp, %c4 : i32
        %other = arith.subi %c1, %team : i32
        %within = arith.remui %thread, %c128 : i32
        %t = cute.make_coord(%within)
        // Operands in shared memory are the same for all threads of a warpgroup, and each team has a whole tile: the first thread's will do.
        %g = cute.make_coord(%c0)
        %stores = arith.cmpi eq, %within, %c0 : i32
        %lane = arith.remui %thread, %c32 : i32
        %leads = arith.cmpi eq, %lane, %c0 : i32
        %barrier = arith.addi %barriers, %team : i32
        %mma = cute.static : !mma
        %tCsA = cute.tiled.mma.partition A (%mma, %sA, %g)
        %tCsB = cute.tiled.mma.partition B (%mma, %sB, %g)
        %ours = cute.make_coord(_, _, %team)
        %sC = cute.slice(%outs, %ours)
        %stsm = cute.make_atom() -> !stsm
        %copy = cute.mma.make_tiled_copy C (%mma, %stsm)
        %tCsC = cute.tiled.copy.partition_D(%copy, %sC, %t)
        // The second team begins with the block's second tile, whose steps are behind those of the first. Each skips the steps of the other's tiles.
        %begin = arith.muli %team, %clusters : i32
        %from = arith.addi %cluster, %begin : i32
        %by = arith.muli %clusters, %c2 : i32
        %steps2 = arith.muli %steps, %c2 : i32
        %first_step = arith.muli %team, %steps : i32
        // Nobody has a turn before the first team, which waits for the phase before the first: that is over. The second team waits for the first phase.
        %end:2 = scf.for %tile = %from to %tiles step %by iter_args(%first = %first_step, %turn = %other) -> (i32, i32) : i32 {
          %pair, %n = cute.call @grouped_tile(%tile, %pairs_m, %tiles_n)
          %pair2 = arith.muli %pair, %c2 : i32
          %m = arith.addi %pair2, %rank : i32
          %acc = cute.mma.make_fragment C (%mma, "((2,2,24),2,1)")
          cute.clear(%acc)
          // The other team has started all products of the tile before.
          cute_nvgpu.mbarrier_wait %turns[%team], %turn
          scf.for %k = %c0 to %steps step %c1 : i32 {
            %i = arith.addi %first, %k : i32
            %slot = cute_nvgpu.pipeline.consumer_wait(%ring, %i)
            %now = cute.make_coord(_, _, _, %slot)
            %a = cute.slice(%tCsA, %now)
            %b = cute.slice(%tCsB, %now)
            cute_nvgpu.wgmma_fence(%acc)
            cute.gemm(%mma, %acc, %a, %b, %acc)
            cute_nvgpu.wgmma_commit_group
            // The step before is over, and its place free.
            cute_nvgpu.wgmma_wait_group 1 (%acc)
            %later = arith.cmpi sgt, %k, %c0 : i32
            scf.if %later {
              %before = arith.subi %i, %c1 : i32
              cute_nvgpu.pipeline.consumer_release(%ring, %before)
            }
          }
          // The last product is still under way. Those of the other team may queue up behind it.
          scf.if %leads {
            cute_nvgpu.mbarrier_arrive %turns[%other]
          }
          cute_nvgpu.wgmma_wait_group 0 (%acc)
          %next_tile = arith.addi %first, %steps : i32
          %last = arith.subi %next_tile, %c1 : i32
          cute_nvgpu.pipeline.consumer_release(%ring, %last)

          // The sums, 64 rows at a time, while the other team multiplies.
          %iter = cute.get_iter(%acc)
          %sums = cute.make_view(%iter, "((2,2,24),1,1,2):((1,2,4),0,0,96)")
          %m2 = arith.muli %m, %c2 : i32
          %done = arith.subi %tile, %from : i32
          scf.for %h = %c0 to %c2 step %c1 : i32 {
            %here = cute.make_coord(_, _, _, %h)
            %sum = cute.slice(%sums, %here)
            %rows = arith.addi %m2, %h : i32
            %to = cute.make_coord(%rows, %n)
            %gC = cute.local_tile(%C, "[64:1;192:1]", %to)
            // What this team stored before, if anything, has been read.
            %before = arith.addi %done, %h : i32
            %is_later = arith.cmpi ugt, %before, %c0 : i32
            %waits = arith.andi %is_later, %stores : i1
            scf.if %waits {
              nvvm.cp.async.bulk.wait_group 0 {read}
            }
            nvvm.barrier id = %barrier number_of_threads = %c128
            %f16 = cute.convert(%sum) to f16
            %tCrC = cute.tiled.copy.retile(%copy, %f16)
            cute.copy(%copy, %tCrC, %tCsC)
            nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
            nvvm.barrier id = %barrier number_of_threads = %c128
            scf.if %stores {
              cute_nvgpu.tma_store(%store_C, %sC, [%gC])
              nvvm.cp.async.bulk.commit.group
            }
          } {cute.unroll}
          %next = arith.addi %first, %steps2 : i32
          %next_turn = arith.xori %turn, %c1 : i32
          scf.yield %next, %next_turn : i32, i32
        }
        // Shared memory must stay until the last store has read it, if this team had a tile. The end of the kernel waits for what is written.
        %had = arith.cmpi slt, %from, %tiles : i32
        %waits = arith.andi %had, %stores : i1
        scf.if %waits {
          nvvm.cp.async.bulk.wait_group 0 {read}
        }
      }
      // The other block may still send its half of B here, and its teams arrive at barriers here: neither block is gone before both are done.
      nvvm.cluster.arrive
      nvvm.cluster.wait
      gpu.return
    }
  }

  // The host: the maps, and as many clusters as there are pairs of multiprocessors, but no more than pairs of tiles.
  func.func @gemm(%A: !mat {cute.name = "A"}, %B: !mat {cute.name = "B"}, %C: !mat {cute.name = "C"})
      attributes {cute.computes = [{gemm = array<i64: 0, 1, 2>, accumulate = f32}]} {
    %c0 = arith.constant 0 : i32
    %c2 = arith.constant 2 : i32
    %rows = arith.constant 256 : i32
    %columns = arith.constant 192 : i32
    %bK = arith.constant 64 : i32
    %lA = cute.get_layout(%A)
    %lB = cute.get_layout(%B)
    %M, %K, %ldA = cute.get_scalars <{only_dynamic}>(%lA)
    %N, %K2, %ldB = cute.get_scalars <{only_dynamic}>(%lB)
    %m = arith.ceildivsi %M, %rows : i32
    %n = arith.ceildivsi %N, %columns : i32
    %steps = arith.ceildivsi %K, %bK : i32
    %tiles = arith.muli %m, %n : i32
    %sms_index = cute.sm_count() : index
    %sms = arith.index_cast %sms_index : index to i32
    %pairs = arith.divsi %sms, %c2 : i32
    %most = arith.minsi %pairs, %tiles : i32
    %most2 = arith.muli %most, %c2 : i32
    %blocks = arith.index_cast %most2 : i32 to index
    %one = arith.constant 1 : index
    %two = arith.constant 2 : index
    %threads = arith.constant 384 : index
    %load_A, %of_A = cute_nvgpu.atom.make_tma_load(%A, "S<3,4,3> o 0 o (128,64):(64,1)")
    %load_B, %of_B = cute_nvgpu.atom.make_tma_load(%B, "S<3,4,3> o 0 o (96,64):(64,1)")
    %store_C, %of_C = cute_nvgpu.atom.make_tma_store(%C, "S<3,4,3> o 0 o (64,(64,3)):(64,(1,4096))")
    gpu.launch_func @kernels::@pingpong_kernel clusters in (%two, %one, %one) blocks in (%blocks, %one, %one) threads in (%threads, %one, %one)
      dynamic_shared_memory_size %c0
      args(%load_A : !load_A, %of_A : !coords, %load_B : !load_B, %of_B : !coords, %store_C : !store, %of_C : !coords,
           %m : i32, %n : i32, %tiles : i32, %steps : i32)
    return
  }
}
