// A copy of a matrix by the tensor memory accelerator: one thread starts each tile on its way, and nothing passes through registers.
//
// The launch makes two tensor maps, each of a tensor and of the layout that a tile has in shared memory. A load counts its bytes on a
// barrier in shared memory, which the threads wait for; a store is waited for by the thread that started it. What lies over the end of
// the tensor is not read and not written, so that any number of rows will do, and of columns whole 16 bytes, which TMA stores at once. Rows are multiples of 16 bytes apart.
//
//     cute-opt examples/kernels/sm90/tma_copy.mlir --cute-compile="arch=sm_90a package=tma_copy.cutepkg" -o /dev/null
//     cute-run tma_copy.cutepkg --bench --shape src=8192x8192 --shape dst=8192x8192
//
// RUN: cute-opt %s --cute-compile="arch=sm_90a package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator --seeds 3 --shape src=256x128 --shape dst=256x128
// RUN: cute-run %t.cutepkg --device=emulator --seeds 2 --shape src=131x200 --shape dst=131x200

!mat = !cute.memref<f16, gmem, align<16>, "(?,?):(?{div=8},1)">
// A tile of 32 rows of 256 elements, as many as a box may have side by side. No thread touches it, so that it needs no swizzle.
!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 131072, tma_gbasis = <"(256,32):(1@1,1@0)">, swizzle = 0>
!store = !cute_nvgpu.atom.tma_store<f16, copy_bits = 131072, tma_gbasis = <"(256,32):(1@1,1@0)">, swizzle = 0>
// The coordinates of all elements, counted as a map counts: columns first.
!coords = !cute.coord_tensor<"(0,0)", "(?,?):(1@1,1@0)">
!sT = !cute.memref<f16, smem, align<128>, "(32,256):(256,1)">
!bar = !cute.memref<i64, smem, align<8>, "1:0">

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @tma_copy_kernel(%load: !load, %from: !coords, %store: !store, %to: !coords) kernel
        attributes {known_block_size = array<i32: 32, 1, 1>} {
      %bx = gpu.block_id x
      %by = gpu.block_id y
      %j = arith.index_cast %bx : index to i32
      %i = arith.index_cast %by : index to i32
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %bytes = arith.constant 16384 : i32
      %all = arith.constant -1 : i32
      %tiler = cute.static "[32:1;256:1]"
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
        cute_nvgpu.tma_store(%store, %s, [%h])
        nvvm.cp.async.bulk.commit.group
        nvvm.cp.async.bulk.wait_group 0
      }
      gpu.return
    }
  }

  func.func @tma_copy(%S: !mat {cute.name = "src"}, %D: !mat {cute.name = "dst"}) attributes {cute.computes = [{copy = array<i64: 0, 1>}]} {
    %c0 = arith.constant 0 : i32
    %layout = cute.get_layout(%S)
    %m, %n, %ld = cute.get_scalars <{only_dynamic}>(%layout)
    %rows = arith.constant 32 : i32
    %columns = arith.constant 256 : i32
    %bm = arith.ceildivsi %m, %rows : i32
    %bn = arith.ceildivsi %n, %columns : i32
    %x = arith.index_cast %bm : i32 to index
    %y = arith.index_cast %bn : i32 to index
    %one = arith.constant 1 : index
    %threads = arith.constant 32 : index
    %tile = cute.static "(32,256):(256,1)"
    %load, %from = cute_nvgpu.atom.make_tma_load(%S, %tile)
    %store, %to = cute_nvgpu.atom.make_tma_store(%D, %tile)
    gpu.launch_func @kernels::@tma_copy_kernel blocks in (%y, %x, %one) threads in (%threads, %one, %one)
      dynamic_shared_memory_size %c0 args(%load : !load, %from : !coords, %store : !store, %to : !coords)
    return
  }
}
