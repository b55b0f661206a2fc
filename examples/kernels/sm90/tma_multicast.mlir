// A matrix copied to two places by pairs of blocks that read it once between them: TMA loads with multicast in a cluster.
//
// Both blocks of a cluster want the same tile. Each loads one half of it and has that put into the shared memory of both, at the same place, so that a tile comes
// from L2 once and not twice. So the blocks of a product of matrices may share the tiles of A that they all need; here each block just stores the tile, to
// a destination of its own.
//
// Bytes count on the barrier of the block that they arrive in. So each block waits at its own barrier for both halves, one of which the other block has sent, and
// that barrier has to be there before the other block sends anything: all threads of the cluster meet before the first load. They meet again before a block
// ends, since the shared memory of a block that has ended is no longer its own, and nothing may arrive there. Here a block has waited for all that it gets
// anyway; a kernel that arrives at the barriers of other blocks as well, to say that a place is free, could not do without.
//
// What lies over the end of a tensor arrives as zeros, which count as well, and is not stored: any number of rows will do, and columns of whole 16 bytes. Rows are multiples of
// 16 bytes apart.
//
//     cute-opt examples/kernels/sm90/tma_multicast.mlir --cute-compile="arch=sm_90a package=tma_multicast.cutepkg" -o /dev/null
//     cute-run tma_multicast.cutepkg --bench --shape src=8192x8192 --shape dst0=8192x8192 --shape dst1=8192x8192
//
// RUN: cute-opt %s --cute-compile="arch=sm_90a package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator --seeds 3 --shape src=256x128 --shape dst0=256x128 --shape dst1=256x128
// RUN: cute-run %t.cutepkg --device=emulator --seeds 3 --shape src=131x200 --shape dst0=131x200 --shape dst1=131x200

!mat = !cute.memref<f16, gmem, align<16>, "(?,?):(?{div=8},1)">
!coords = !cute.coord_tensor<"(0,0)", "(?,?):(1@1,1@0)">
// A tile of 128 rows of 64 elements, 128 bytes, which the swizzle spans. It is loaded by halves of 64 rows and stored as a whole.
!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 65536, tma_gbasis = <"(64,64):(1@1,1@0)">, swizzle = 128>
!store = !cute_nvgpu.atom.tma_store<f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, swizzle = 128>
!tile = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(128,64):(64,1)">
!bar = !cute.memref<i64, smem, align<8>, "1:0">

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @tma_multicast_kernel(%load: !load, %from: !coords, %store0: !store, %to0: !coords, %store1: !store, %to1: !coords) kernel
        attributes {known_block_size = array<i32: 32, 1, 1>} {
      %bx = gpu.block_id x
      %by = gpu.block_id y
      %block = arith.index_cast %bx : index to i32
      %j = arith.index_cast %by : index to i32
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %c2 = arith.constant 2 : i32
      // Both halves, whoever sends them.
      %bytes = arith.constant 16384 : i32
      // A bit for each block of the cluster.
      %both = arith.constant 3 : i16
      // Clusters are of two blocks along x: which tile they copy, and which of the two this one is.
      %i = arith.divui %block, %c2 : i32
      %rank = arith.remui %block, %c2 : i32

      %halves = cute.static "[64:1;64:1]"
      %tiler = cute.static "[128:1;64:1]"
      // Half `rank` of tile (i,j) in the source, and in shared memory.
      %first = arith.muli %i, %c2 : i32
      %row = arith.addi %first, %rank : i32
      %at_half = cute.make_coord(%row, %j)
      %g = cute.local_tile(%from, %halves, %at_half)
      %s = cute.memref.alloca() : !tile
      %mine = cute.make_coord(%rank, 0)
      %part = cute.local_tile(%s, %halves, %mine)
      %bar = cute.memref.alloca() : !bar

      %leader = nvvm.elect.sync -> i1
      scf.if %leader {
        cute_nvgpu.prefetch_tma_desc(%load)
        cute_nvgpu.mbarrier_init %bar[%c0], %c1
        // Seen by the whole cluster, and by copies.
        nvvm.fence.mbarrier.init
      }
      // Both barriers are there, before anything arrives at either.
      nvvm.cluster.arrive
      nvvm.cluster.wait

      scf.if %leader {
        // One arrival, and the bytes of both halves. Those of the other block may come before they are expected: the phase does not end, as the arrival is missing.
        cute_nvgpu.mbarrier_arrive_and_expect_tx %bar[%c0], %bytes
        cute_nvgpu.tma_load(%load, [%g], %part) on %bar[%c0] multicast(%both)
      }
      cute_nvgpu.mbarrier_wait %bar[%c0], %c0
      // This block has all that it gets. It says so now and waits for the other one to say so at the end, so that the store need not wait.
      nvvm.cluster.arrive

      scf.if %leader {
        %at = cute.make_coord(%i, %j)
        %is_first = arith.cmpi eq, %rank, %c0 : i32
        scf.if %is_first {
          %h = cute.local_tile(%to0, %tiler, %at)
          cute_nvgpu.tma_store(%store0, %s, [%h])
        } else {
          %h = cute.local_tile(%to1, %tiler, %at)
          cute_nvgpu.tma_store(%store1, %s, [%h])
        }
        nvvm.cp.async.bulk.commit.group
        nvvm.cp.async.bulk.wait_group 0
      }
      nvvm.cluster.wait
      gpu.return
    }
  }

  // The host: the maps, and a cluster for each tile.
  func.func @tma_multicast(%S: !mat {cute.name = "src"}, %D0: !mat {cute.name = "dst0"}, %D1: !mat {cute.name = "dst1"})
      attributes {cute.computes = [{copy = array<i64: 0, 1>}, {copy = array<i64: 0, 2>}]} {
    %c0 = arith.constant 0 : i32
    %layout = cute.get_layout(%S)
    %m, %n, %ld = cute.get_scalars <{only_dynamic}>(%layout)
    %rows = arith.constant 128 : i32
    %columns = arith.constant 64 : i32
    %bm = arith.ceildivsi %m, %rows : i32
    %bn = arith.ceildivsi %n, %columns : i32
    %c2 = arith.constant 2 : i32
    %blocks = arith.muli %bm, %c2 : i32
    %x = arith.index_cast %blocks : i32 to index
    %y = arith.index_cast %bn : i32 to index
    %one = arith.constant 1 : index
    %two = arith.constant 2 : index
    %threads = arith.constant 32 : index
    %tile = cute.static "S<3,4,3> o 0 o (128,64):(64,1)"
    %load, %from = cute_nvgpu.atom.make_tma_load(%S, "S<3,4,3> o 0 o (64,64):(64,1)")
    %store0, %to0 = cute_nvgpu.atom.make_tma_store(%D0, %tile)
    %store1, %to1 = cute_nvgpu.atom.make_tma_store(%D1, %tile)
    gpu.launch_func @kernels::@tma_multicast_kernel clusters in (%two, %one, %one) blocks in (%x, %y, %one) threads in (%threads, %one, %one)
      dynamic_shared_memory_size %c0
      args(%load : !load, %from : !coords, %store0 : !store, %to0 : !coords, %store1 : !store, %to1 : !coords)
    return
  }
}
