// C = A B^T in f16, summed in f32: two warpgroups that share a tile (cooperative), and pairs of blocks that share B.
//
// A block has three warpgroups. One thread of the first brings tiles into a ring (TMA); the other two multiply them (wgmma), 64 x 256 of C each, and have its registers. Blocks
// come in clusters of two, whose tiles of C are neighbours along M and so need the same tile of B: each block loads one half of it into the shared memory of both (multicast),
// 32 KB from L2 for each step of K in place of 48. There are as many blocks as multiprocessors, and each takes one tile after another; the tiles of the next one are on their way while
// sums of the last one go out, in halves, through shared memory that a warpgroup has to itself.
//
// The ring is a pipeline: how many bytes a place is to bring, how many warps of both blocks empty it, and which phase it is in, is the compiler's business. So is the number of the
// barrier that a warpgroup has for itself. The order of tiles is of the library.
//
// What lies over the end of a tensor arrives as zeros and is not stored, so that any M and K will do, and N of whole 16 bytes, which TMA stores at once; rows are multiples of 16 bytes apart.
//
//     cute-opt examples/kernels/sm90/wgmma_cooperative.mlir --cute-compile="arch=sm_90a package=cooperative.cutepkg" -o /dev/null
//     cute-run cooperative.cutepkg --bench --shape A=4096x4096 --shape B=4096x4096 --shape C=4096x4096
//
// RUN: cute-opt %s --cute-compile="arch=sm_90a package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator --sms 2 --seeds 2 --shape A=512x320 --shape B=512x320 --shape C=512x512
// RUN: cute-run %t.cutepkg --device=emulator --sms 5 --shape A=648x136 --shape B=264x136 --shape C=648x264

// A (M,K), B (N,K) and C (M,N), rows one after the other.
!mat = !cute.memref<f16, gmem, align<16>, "(?,?):(?{div=8},1)">
!coords = !cute.coord_tensor<"(0,0)", "(?,?):(1@1,1@0)">
// A block's tile: 128 x 256 of C, 64 of K at a time. It loads 128 rows of B for itself and the other block. A warpgroup stores 64 x 128 of C at a time.
!load_A = !cute_nvgpu.atom.tma_load<f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, swizzle = 128>
!load_B = !cute_nvgpu.atom.tma_load<f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, swizzle = 128>
!store = !cute_nvgpu.atom.tma_store<f16, copy_bits = 65536, tma_gbasis = <"(64,64):(1@1,1@0)">, swizzle = 128>
!ring_A = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(128,64,4):(64,1,8192)">
!ring_B = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(256,64,4):(64,1,16384)">
!outs = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,(64,2),2):(64,(1,4096),8192)">
// Two warpgroups, one behind the other along M. A half of C is dealt out as the product of half as many columns would, and goes to shared memory four 8 x 8 matrices at a time.
!wgmma = !cute_nvgpu.sm90.mma<64x256x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
!half_wgmma = !cute_nvgpu.sm90.mma<64x128x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
!mma = !cute.tiled_mma<!wgmma, atom_layout_MNK = <"(2,1,1):(1,0,0)">>
!half = !cute.tiled_mma<!half_wgmma, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
!stsm = !cute_nvgpu.atom.stsm<f16, mode = <"(8,8)">, num_matrices = 4, n>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    cute.import "std/schedule"

    gpu.func @cooperative_kernel(%load_A: !load_A, %A: !coords, %load_B: !load_B, %B: !coords, %store_C: !store, %C: !coords,
                                 %pairs_m: i32, %tiles_n: i32, %tiles: i32, %steps: i32) kernel attributes {known_block_size = array<i32: 384, 1, 1>} {
      %bx = gpu.block_id x
      %gx = gpu.grid_dim x
      %block = arith.index_cast %bx : index to i32
      %blocks = arith.index_cast %gx : index to i32
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %c2 = arith.constant 2 : i32
      %c4 = arith.constant 4 : i32
      %c128 = arith.constant 128 : i32
      // A bit for each block of the cluster.
      %both = arith.constant 3 : i16
      %cluster = arith.divui %block, %c2 : i32
      %rank = arith.remui %block, %c2 : i32
      %clusters = arith.divui %blocks, %c2 : i32
      %sA = cute.memref.alloca() : !ring_A
      %sB = cute.memref.alloca() : !ring_B
      %outs = cute.memref.alloca() : !outs
      // Four places, which the eight warps of both warpgroups read, and the two blocks fill for each other.
      %ring = cute_nvgpu.pipeline.create warps 8 blocks 2 : !cute.pipeline<4, mbarrier>
      // A barrier of its own for each warpgroup that multiplies.
      %barriers = cute_nvgpu.named_barriers 2

      cute.warp_specialize
      role(%thread, %warp) warps 4 registers 40 {
        %is_warp = arith.cmpi eq, %warp, %c0 : i32
        scf.if %is_warp {
          %leader = nvvm.elect.sync -> i1
          scf.if %leader {
            cute_nvgpu.prefetch_tma_desc(%load_A)
            cute_nvgpu.prefetch_tma_desc(%load_B)
            %tile_B = cute.static "[128:1;64:1]"
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
                %place = cute_nvgpu.pipeline.producer_acquire(%ring, %i)
                %from = cute.make_coord(_, _, %k)
                %to = cute.make_coord(_, _, %place)
                %a = cute.slice(%gA, %from)
                %b = cute.slice(%gB, %from)
                %x = cute.slice(%sA, %to)
                %whole = cute.slice(%sB, %to)
                %y = cute.local_tile(%whole, %tile_B, %mine)
                cute_nvgpu.tma_load(%load_A, [%a], %x) on %ring[%place]
                cute_nvgpu.tma_load(%load_B, [%b], %y) on %ring[%place] multicast(%both)
              }
              %next = arith.addi %first, %steps : i32
              scf.yield %next : i32
            }
          }
        }
      }
      role(%thread, %warp) warps 8 registers 232 {
        %row = arith.divui %warp, %c4 : i32
        %within = arith.remui %thread, %c128 : i32
        %t = cute.make_coord(%within)
        // Operands in shared memory are the same for all threads of a warpgroup: its first one's will do, which the warp knows.
        %group_first = arith.muli %row, %c128 : i32
        %g = cute.make_coord(%group_first)
        %stores = arith.cmpi eq, %within, %c0 : i32
        %barrier = arith.addi %barriers, %row : i32
        %mma = cute.static : !mma
        %half = cute.static : !half
        %tCsA = cute.tiled.mma.partition A (%mma, %sA, %g)
        %tCsB = cute.tiled.mma.partition B (%mma, %sB, %g)
        %ours = cute.make_coord(_, _, %row)
        %sC = cute.slice(%outs, %ours)
        %stsm = cute.make_atom() -> !stsm
        %copy = cute.mma.make_tiled_copy C (%half, %stsm)
        %tCsC = cute.tiled.copy.partition_D(%copy, %sC, %t)
        %end = scf.for %tile = %cluster to %tiles step %clusters iter_args(%first = %c0) -> (i32) : i32 {
          %pair, %n = cute.call @grouped_tile(%tile, %pairs_m, %tiles_n)
          %pair2 = arith.muli %pair, %c2 : i32
          %m = arith.addi %pair2, %rank : i32
          %acc = cute.mma.make_fragment C (%mma, "((2,2,32),1,1)")
          cute.clear(%acc)
          scf.for %k = %c0 to %steps step %c1 : i32 {
            %i = arith.addi %first, %k : i32
            %place = cute_nvgpu.pipeline.consumer_wait(%ring, %i)
            %now = cute.make_coord(_, _, _, %place)
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
          cute_nvgpu.wgmma_wait_group 0 (%acc)
          %next = arith.addi %first, %steps : i32
          %last = arith.subi %next, %c1 : i32
          cute_nvgpu.pipeline.consumer_release(%ring, %last)

          // The sums, a half at a time.
          %iter = cute.get_iter(%acc)
          %sums = cute.make_view(%iter, "((2,2,16),1,1,2):((1,2,4),0,0,64)")
          %m2 = arith.muli %m, %c2 : i32
          %rows = arith.addi %m2, %row : i32
          %n2 = arith.muli %n, %c2 : i32
          scf.for %h = %c0 to %c2 step %c1 : i32 {
            %here = cute.make_coord(_, _, _, %h)
            %sum = cute.slice(%sums, %here)
            %columns = arith.addi %n2, %h : i32
            %to = cute.make_coord(%rows, %columns)
            %gC = cute.local_tile(%C, "[64:1;128:1]", %to)
            // What went out before, if anything has, has been read.
            %before = arith.addi %first, %h : i32
            %is_later = arith.cmpi sgt, %before, %c0 : i32
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
          scf.yield %next : i32
        }
        // Shared memory must stay until the last store has read it. The end of the kernel waits for what is written.
        scf.if %stores {
          nvvm.cp.async.bulk.wait_group 0 {read}
        }
      }
      // The other block may still send its half of B here, and its warps arrive at barriers here: neither block is gone before both are done.
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
    %both = arith.constant 256 : i32
    %bK = arith.constant 64 : i32
    %lA = cute.get_layout(%A)
    %lB = cute.get_layout(%B)
    %M, %K, %ldA = cute.get_scalars <{only_dynamic}>(%lA)
    %N, %K2, %ldB = cute.get_scalars <{only_dynamic}>(%lB)
    // Two tiles are 256 rows, and one 256 columns.
    %m = arith.ceildivsi %M, %both : i32
    %n = arith.ceildivsi %N, %both : i32
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
    %load_B, %of_B = cute_nvgpu.atom.make_tma_load(%B, "S<3,4,3> o 0 o (128,64):(64,1)")
    %store_C, %of_C = cute_nvgpu.atom.make_tma_store(%C, "S<3,4,3> o 0 o (64,(64,2)):(64,(1,4096))")
    gpu.launch_func @kernels::@cooperative_kernel clusters in (%two, %one, %one) blocks in (%blocks, %one, %one) threads in (%threads, %one, %one)
      dynamic_shared_memory_size %c0
      args(%load_A : !load_A, %of_A : !coords, %load_B : !load_B, %of_B : !coords, %store_C : !store, %of_C : !coords,
           %m : i32, %n : i32, %tiles : i32, %steps : i32)
    return
  }
}
