// C = A B^T in f16, summed in f32, for rows that TMA cannot take: a warpgroup brings tiles by `cp.async`, two multiply.
//
// TMA asks for rows at multiples of 16 bytes; here they are at multiples of 8. The roles are those of wgmma_tma_persistent.mlir: there are as many blocks as
// multiprocessors, each takes one tile of C after another, and the tiles of A and B for the next one are on their way while the sums of the last one go out. But all 128
// threads of the first warpgroup copy, 8 bytes each at a time, and commit them to the ring, a pipeline of 128 threads: an arrival of each comes when its copies so far are
// there, so that no thread waits for them. As `cp.async` writes in the generic proxy and wgmma reads in the asynchronous one, a wait for a place of such a pipeline has a fence behind it.
//
//     cute-opt examples/kernels/sm90/wgmma_cp_async.mlir --cute-compile="arch=sm_90a package=cp_async.cutepkg" -o /dev/null
//     cute-run cp_async.cutepkg --bench --shape A=4096x4092 --shape B=4096x4092 --shape C=4096x4096
//
// RUN: cute-opt %s --cute-compile="arch=sm_90a package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator --sms 2 --seeds 2 --shape A=256x196 --shape B=512x196 --shape C=256x512
// RUN: cute-run %t.cutepkg --device=emulator --sms 1 --seeds 2 --shape A=133x60 --shape B=262x60 --shape C=133x262

// A (M,K) and B (N,K): what a thread copies at once, 4 elements, lies in a row as a whole or not at all. C (M,N) is stored by pairs.
!mat = !cute.memref<f16, gmem, align<8>, "(?,?{div=4}):(?{div=4},1)">
!out = !cute.memref<f16, gmem, align<4>, "(?,?{div=2}):(?{div=2},1)">
// 8 x 16 threads with 1 x 4 elements each: 8 rows of a tile at once.
!cp_async = !cute_nvgpu.atom.simt_async_copy<f16, cache = always, 64 b>
!copy = !cute.tiled_copy<!cp_async, layout_copy_tv = <"((16,8),4):((32,1),8)">, tiler_mn = <"[8:1;64:1]">>
// A block's tile is 128 x 256 of C, 64 of K at a time. Four of A and of B are in the ring, in the arrangement that wgmma reads.
!ring_A = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(128,64,4):(64,1,8192)">
!ring_B = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(256,64,4):(64,1,16384)">
// Two warpgroups, one behind the other along M. A half of C is dealt out as the product of half as many columns would, and stored by pairs.
!wgmma = !cute_nvgpu.sm90.mma<64x256x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
!half_wgmma = !cute_nvgpu.sm90.mma<64x128x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
!mma = !cute.tiled_mma<!wgmma, atom_layout_MNK = <"(2,1,1):(1,0,0)">>
!half_mma = !cute.tiled_mma<!half_wgmma, atom_layout_MNK = <"(2,1,1):(1,0,0)">>
!pair = !cute_nvgpu.atom.universal_copy<f16, 32 b>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    cute.import "std/index"
    cute.import "std/copy"
    // Copies a thread's parts of tile %k into place %place of a ring, %rows rows, 8 of the tile apart. What is not there becomes zeros. It is a loop, so that no
    // registers hold the addresses of all rows.
    func.func private @copy_rows(%copy: !cute.any, %source: !cute.any, %coords: !cute.any, %shape: !cute.any, %k: i32, %ring: !cute.any, %place: i32, %rows: i32) {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      scf.for %r = %c0 to %rows step %c1 : i32 {
        %from_at = cute.make_coord(_, %r, _, %k)
        %first_at = cute.make_coord(0, %r, _, %k)
        %to_at = cute.make_coord(_, %r, _, %place)
        %from = cute.slice(%source, %from_at)
        %firsts = cute.slice(%coords, %first_at)
        %to = cute.slice(%ring, %to_at)
        %pred = cute.call @within(%firsts, %shape)
        cute.copy(%copy, %from, %to, %pred)
      } {cute.unroll = 8}
      return
    }

    gpu.func @cp_async_kernel(%A: !mat, %B: !mat, %C: !out, %tiles_m: i32, %tiles: i32, %steps: i32) kernel
        attributes {known_block_size = array<i32: 384, 1, 1>} {
      %block = cute.call @block_x()
      %gx = gpu.grid_dim x
      %blocks = arith.index_cast %gx : index to i32
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %c2 = arith.constant 2 : i32
      %c4 = arith.constant 4 : i32
      %c16 = arith.constant 16 : i32
      %c32 = arith.constant 32 : i32
      %c128 = arith.constant 128 : i32
      %cta = cute.static "[128:1;256:1;64:1]"
      %sA = cute.memref.alloca() : !ring_A
      %sB = cute.memref.alloca() : !ring_B

      // A place is full when the copies of 128 threads are there, and empty when 8 warps are done with it.
      %ring = cute_nvgpu.pipeline.create warps 8 threads 128 : !cute.pipeline<4, mbarrier>

      cute.warp_specialize
      role(%thread, %warp) warps 4 registers 56 {
        %t = cute.make_coord(%thread)
        %copy = cute.static : !copy
        %iA, %MK = cute.call @coordinates(%A)
        %iB, %NK = cute.call @coordinates(%B)
        // Steps are counted through all tiles.
        %end = scf.for %tile = %block to %tiles step %blocks iter_args(%first = %c0) -> (i32) : i32 {
          %m = arith.remui %tile, %tiles_m : i32
          %n = arith.divui %tile, %tiles_m : i32
          %at = cute.make_coord(%m, %n, _)
          %gA = cute.local_tile(%A, %cta, %at, "(1,_,1)")
          %gB = cute.local_tile(%B, %cta, %at, "(_,1,1)")
          %cA = cute.local_tile(%iA, %cta, %at, "(1,_,1)")
          %cB = cute.local_tile(%iB, %cta, %at, "(_,1,1)")
          %tAgA, %tAsA = cute.call @parts(%copy, %gA, %sA, %t)
          %tBgB, %tBsB = cute.call @parts(%copy, %gB, %sB, %t)
          %tAcA = cute.tiled.copy.partition_S(%copy, %cA, %t)
          %tBcB = cute.tiled.copy.partition_S(%copy, %cB, %t)
          scf.for %k = %c0 to %steps step %c1 : i32 {
            %i = arith.addi %first, %k : i32
            %slot = cute_nvgpu.pipeline.producer_acquire(%ring, %i)
            cute.call @copy_rows(%copy, %tAgA, %tAcA, %MK, %k, %tAsA, %slot, %c16)
            cute.call @copy_rows(%copy, %tBgB, %tBcB, %NK, %k, %tBsB, %slot, %c32)
            cute_nvgpu.pipeline.producer_commit(%ring, %i)
          }
          %next = arith.addi %first, %steps : i32
          scf.yield %next : i32
        }
      }
      role(%thread, %warp) warps 8 registers 224 {
        %half_tile = cute.static "[128:1;128:1]"
        %t = cute.make_coord(%thread)
        // Operands in shared memory are the same for all threads of a warpgroup: its first one's will do, which the warp knows.
        %row = arith.divui %warp, %c4 : i32
        %group_first = arith.muli %row, %c128 : i32
        %g = cute.make_coord(%group_first)
        %mma = cute.static : !mma
        %half_mma = cute.static : !half_mma
        %pair = cute.make_atom() -> !pair
        %copy_C = cute.mma.make_tiled_copy C (%half_mma, %pair)
        %tCsA = cute.tiled.mma.partition A (%mma, %sA, %g)
        %tCsB = cute.tiled.mma.partition B (%mma, %sB, %g)
        %iC, %MN = cute.call @coordinates(%C)
        %end = scf.for %tile = %block to %tiles step %blocks iter_args(%first = %c0) -> (i32) : i32 {
          %m = arith.remui %tile, %tiles_m : i32
          %n = arith.divui %tile, %tiles_m : i32
          %acc = cute.mma.make_fragment C (%mma, "((2,2,32),1,1)")
          cute.clear(%acc)
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
          cute_nvgpu.wgmma_wait_group 0 (%acc)
          %next = arith.addi %first, %steps : i32
          %last = arith.subi %next, %c1 : i32
          cute_nvgpu.pipeline.consumer_release(%ring, %last)

          // The sums, a half at a time, straight from registers: four threads have 8 neighbours of a row between them.
          %iter = cute.get_iter(%acc)
          %sums = cute.make_view(%iter, "((2,2,16),1,1,2):((1,2,4),0,0,64)")
          %n2 = arith.muli %n, %c2 : i32
          scf.for %h = %c0 to %c2 step %c1 : i32 {
            %here = cute.make_coord(_, _, _, %h)
            %sum = cute.slice(%sums, %here)
            %columns = arith.addi %n2, %h : i32
            %to = cute.make_coord(%m, %columns)
            %gC = cute.local_tile(%C, %half_tile, %to)
            %cC = cute.local_tile(%iC, %half_tile, %to)
            %f16 = cute.convert(%sum) to f16
            %moved = cute.tiled.copy.retile(%copy_C, %f16)
            %place = cute.tiled.copy.partition_D(%copy_C, %gC, %t)
            %where = cute.tiled.copy.partition_D(%copy_C, %cC, %t)
            %firsts = cute.slice(%where, "((0,_),_,_)")
            %pred = cute.call @within(%firsts, %MN)
            cute.copy(%copy_C, %moved, %place, %pred)
          } {cute.unroll}
          scf.yield %next : i32
        }
      }
      gpu.return
    }
  }

  // The host: as many blocks as there are multiprocessors, but no more than tiles.
  func.func @gemm(%A: !mat {cute.name = "A"}, %B: !mat {cute.name = "B"}, %C: !out {cute.name = "C"})
      attributes {cute.computes = [{gemm = array<i64: 0, 1, 2>, accumulate = f32}]} {
    %bM = arith.constant 128 : i32
    %bN = arith.constant 256 : i32
    %bK = arith.constant 64 : i32
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
    %blocks = arith.minsi %sms, %tiles : i32
    %grid = cute.make_shape(%blocks)
    cute.launch @kernels::@cp_async_kernel blocks(%grid) args(%A, %B, %C, %m, %tiles, %steps)
    return
  }
}
