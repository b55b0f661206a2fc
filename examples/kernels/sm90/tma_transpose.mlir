// The transpose of a matrix of f16: tiles come and go by the tensor memory accelerator, and 8 x 8 matrices are turned on their way through registers.
//
// TMA reads rows of 256 bytes of the source, in two boxes of 128 bytes, which is how far its swizzle reaches, and writes rows of 128 bytes of the destination; what lies over the end of the source arrives as zeros, and rows over the end of the destination it does not touch. What is left for the
// threads is the turn itself, from one tile in shared memory to another. `ldmatrix` reads rows of 16 bytes of the first, and a thread gets pairs of neighbours
// of a row; `stmatrix` with `trans` takes the same registers for pairs of a column, and writes rows of 16 bytes of the second. So no thread handles single
// elements, and as both tiles are swizzled, which TMA does and undoes, no access waits for a bank.
//
// Rows of both matrices are multiples of 16 bytes apart, and the source may have any number of columns. Those of the destination are multiples of 8 elements: TMA stores
// whole 16 bytes, and would write over a gap behind a row.
//
//     cute-opt examples/kernels/sm90/tma_transpose.mlir --cute-compile="arch=sm_90a package=tma_transpose.cutepkg" -o /dev/null
//     cute-run tma_transpose.cutepkg --bench --shape src=8192x8192 --shape dst=8192x8192
//
// RUN: cute-opt %s --cute-compile="arch=sm_90a package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator --seeds 3 --shape src=256x128 --shape dst=128x256
// RUN: cute-run %t.cutepkg --device=emulator --seeds 3 --shape src=72x264 --shape dst=264x72
// RUN: cute-run %t.cutepkg --device=emulator --seeds 2 --shape src=136x67 --shape dst=67x136

!mat = !cute.memref<f16, gmem, align<16>, "(?,?):(?{div=8},1)">
!coords = !cute.coord_tensor<"(0,0)", "(?,?):(1@1,1@0)">
// A tile of 64 rows of 128 elements of the source, as two of 64: 128 bytes, which the swizzle spans. Of the destination it is one of 128 rows of 64.
!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 65536, tma_gbasis = <"(64,64):(1@1,1@0)">, swizzle = 128>
!store = !cute_nvgpu.atom.tma_store<f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, swizzle = 128>
!tile = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,(64,2)):(64,(1,4096))">
!turned = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(128,64):(64,1)">
// One barrier, and room that keeps a fourth block away: three on a multiprocessor have fewer pages of memory open than seven.
!bar = !cute.memref<i64, smem, align<8>, "5376:1">

// Four 8 x 8 matrices an instruction, 16 x 16 elements, and eight warps, four one below the other and two beside. Of each matrix the thread of lane 4 r + t has elements 2 t and
// 2 t + 1 of row r in a register. These registers are what the two copies have in common, and what their layouts say; which thread gives the address of which
// 16 bytes follows from the instruction.
!ldmatrix = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
!stmatrix = !cute_nvgpu.atom.stsm<f16, mode = <"(8,8)">, num_matrices = 4, t>
!read = !cute.tiled_copy<!ldmatrix, layout_copy_tv = <"((4,8,(4,2)),(2,2,2)):((128,1,(16,1024)),(64,8,512))">, tiler_mn = <"[64:1;32:1]">>
!write = !cute.tiled_copy<!stmatrix, layout_copy_tv = <"((4,8,(4,2)),(2,2,2)):((128,1,(16,1024)),(64,8,512))">, tiler_mn = <"[64:1;32:1]">>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    cute.import "std/index"
    cute.import "std/copy"
    gpu.func @tma_transpose_kernel(%load: !load, %from: !coords, %store: !store, %to: !coords) kernel
        attributes {known_block_size = array<i32: 256, 1, 1>} {
      %t32 = cute.call @thread_index()
      %t = cute.make_coord(%t32)
      %x = cute.call @block_x()
      %y = cute.call @block_y()
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %c32 = arith.constant 32 : i32
      %bytes = arith.constant 16384 : i32
      %warp_of = arith.divui %t32, %c32 : i32
      %warp = cute_nvgpu.arch.make_warp_uniform(%warp_of)
      %starts = arith.cmpi eq, %warp, %c0 : i32

      // Tile (x,y) of the source becomes tile (y,x) of the destination. Blocks that follow each other go down the source, so that what runs at once writes whole rows.
      %tiler = cute.static "[64:1;128:1]"
      %tiler_turned = cute.static "[128:1;64:1]"
      %here = cute.make_coord(%x, %y)
      %there = cute.make_coord(%y, %x)
      %g = cute.local_tile(%from, %tiler, %here)
      %h = cute.local_tile(%to, %tiler_turned, %there)
      %s = cute.memref.alloca() : !tile
      %d = cute.memref.alloca() : !turned
      %bar = cute.memref.alloca() : !bar

      scf.if %starts {
        %leader = nvvm.elect.sync -> i1
        scf.if %leader {
          cute_nvgpu.prefetch_tma_desc(%load)
          cute_nvgpu.prefetch_tma_desc(%store)
          cute_nvgpu.mbarrier_init %bar[%c0], %c1
          nvvm.fence.mbarrier.init
          cute_nvgpu.mbarrier_arrive_and_expect_tx %bar[%c0], %bytes
          // What was read stays in the cache longer than what was written, which so leaves it in larger pieces.
          cute_nvgpu.tma_load(%load, [%g], %s) on %bar[%c0] policy "evict_last"
        }
      }
      // The others must not wait for a barrier that is not there yet.
      gpu.barrier
      cute_nvgpu.mbarrier_wait %bar[%c0], %c0

      // The destination's tile by the coordinates (m,n) of the source: its rows are n.
      %dt = cute.composition(%d, "(64,128):(128,1)")
      %read = cute.static : !read
      %write = cute.static : !write
      %part = cute.call @loaded(%read, %s, %t)
      cute.call @store_tile(%write, %part, %dt, %t)

      // The copy out sees what threads wrote behind their fences and the barrier.
      nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
      gpu.barrier
      scf.if %starts {
        %leader = nvvm.elect.sync -> i1
        scf.if %leader {
          cute_nvgpu.tma_store(%store, %d, [%h])
          nvvm.cp.async.bulk.commit.group
          nvvm.cp.async.bulk.wait_group 0
        }
      }
      gpu.return
    }
  }

  // The host: the maps, and a block for each tile of the source.
  func.func @tma_transpose(%S: !mat {cute.name = "src"}, %D: !mat {cute.name = "dst"}) attributes {cute.computes = [{transpose = array<i64: 0, 1>}]} {
    %shape = cute.get_shape(%S)
    %grid = cute.ceil_div(%shape, "(64,128)")
    %tile = cute.static "S<3,4,3> o 0 o (64,(64,2)):(64,(1,4096))"
    %turned = cute.static "S<3,4,3> o 0 o (128,64):(64,1)"
    %load, %from = cute_nvgpu.atom.make_tma_load(%S, %tile)
    %store, %to = cute_nvgpu.atom.make_tma_store(%D, %turned)
    cute.launch @kernels::@tma_transpose_kernel blocks(%grid) args(%load, %from, %store, %to)
    return
  }
}
