// A matrix added to another one four times over, by as many blocks at once: y += 4 x, by the tensor memory accelerator alone.
//
// Each block loads its tile of x into shared memory, and TMA adds it to y where it lies: no thread reads y, nor knows who else adds. Additions of an
// element are atomic and in no order. What lies over the end of a tensor is neither read nor changed.
//
//     cute-opt examples/kernels/sm90/tma_reduce.mlir --cute-compile="arch=sm_90a package=tma_reduce.cutepkg" -o /dev/null
//     cute-run tma_reduce.cutepkg --bench --shape x=8192x8192 --shape y=8192x8192
//
// RUN: cute-opt %s --cute-compile="arch=sm_90a package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator --seeds 3 --shape x=256x64 --shape y=256x64
// RUN: cute-run %t.cutepkg --device=emulator --seeds 2 --shape x=131x100 --shape y=131x100

!mat = !cute.memref<f32, gmem, align<16>, "(?,?):(?{div=4},1)">
// A tile of 128 rows of 32 elements: 128 bytes, which the swizzle spans.
!load = !cute_nvgpu.atom.tma_load<f32, copy_bits = 131072, tma_gbasis = <"(32,128):(1@1,1@0)">, swizzle = 128>
!store = !cute_nvgpu.atom.tma_store<f32, copy_bits = 131072, tma_gbasis = <"(32,128):(1@1,1@0)">, swizzle = 128>
// The coordinates of all elements, counted as a map counts: columns first.
!coords = !cute.coord_tensor<"(0,0)", "(?,?):(1@1,1@0)">
!sT = !cute.memref<f32, smem, align<1024>, S<3,4,3>, "(128,32):(32,1)">
!bar = !cute.memref<i64, smem, align<8>, "1:0">

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @tma_reduce_kernel(%load: !load, %from: !coords, %store: !store, %to: !coords) kernel
        attributes {known_block_size = array<i32: 32, 1, 1>} {
      %bx = gpu.block_id x
      %by = gpu.block_id y
      %i = arith.index_cast %bx : index to i32
      %j = arith.index_cast %by : index to i32
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %bytes = arith.constant 16384 : i32
      %all = arith.constant -1 : i32
      %tiler = cute.static "[128:1;32:1]"
      %at = cute.make_coord(%i, %j)
      %g = cute.local_tile(%from, %tiler, %at)
      %h = cute.local_tile(%to, %tiler, %at)
      %s = cute.memref.alloca() : !sT
      %bar = cute.memref.alloca() : !bar

      %leader = nvvm.elect.sync -> i1
      scf.if %leader {
        cute_nvgpu.prefetch_tma_desc(%load)
        cute_nvgpu.mbarrier_init %bar[%c0], %c1
        nvvm.fence.mbarrier.init
        // One arrival, and the bytes of the tile.
        cute_nvgpu.mbarrier_arrive_and_expect_tx %bar[%c0], %bytes
        cute_nvgpu.tma_load(%load, [%g], %s) on %bar[%c0]
      }
      // The others must not wait for a barrier that is not there yet.
      nvvm.bar.warp.sync %all : i32
      cute_nvgpu.mbarrier_wait %bar[%c0], %c0
      scf.if %leader {
        cute_nvgpu.tma_store(%store, %s, [%h]) reduce "add"
        nvvm.cp.async.bulk.commit.group
        nvvm.cp.async.bulk.wait_group 0
      }
      gpu.return
    }
  }

  func.func @tma_reduce(%S: !mat {cute.name = "x"}, %D: !mat {cute.name = "y"})
      attributes {cute.computes = [{axpby = array<i64: 0, 1>, alpha = 4.0 : f32, beta = 1.0 : f32}]} {
    %c0 = arith.constant 0 : i32
    %layout = cute.get_layout(%S)
    %m, %n, %ld = cute.get_scalars <{only_dynamic}>(%layout)
    %rows = arith.constant 128 : i32
    %columns = arith.constant 32 : i32
    %bm = arith.ceildivsi %m, %rows : i32
    %bn = arith.ceildivsi %n, %columns : i32
    %x = arith.index_cast %bm : i32 to index
    %y = arith.index_cast %bn : i32 to index
    // Four blocks for each tile.
    %one = arith.constant 1 : index
    %four = arith.constant 4 : index
    %threads = arith.constant 32 : index
    %tile = cute.static "S<3,4,3> o 0 o (128,32):(32,1)"
    %load, %from = cute_nvgpu.atom.make_tma_load(%S, %tile)
    %store, %to = cute_nvgpu.atom.make_tma_store(%D, %tile)
    gpu.launch_func @kernels::@tma_reduce_kernel blocks in (%x, %y, %four) threads in (%threads, %one, %one)
      dynamic_shared_memory_size %c0 args(%load : !load, %from : !coords, %store : !store, %to : !coords)
    return
  }
}
