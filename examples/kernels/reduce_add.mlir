// A vector added to another one four times over, by as many blocks at once: y += 4 x. It shows reductions into global memory.
//
// Each block adds its tile of x to y without asking who else does: a reduction of an element is atomic, and reductions are in no order. 16 bytes
// of a thread are one instruction on sm_90 and later, and four before. Vectors over the end have a predicate.
//
// RUN: cute-opt %s --cute-compile="arch=sm_90a package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator --seeds 3 --shape x=5000 --shape y=5000
// RUN: cute-run %t.cutepkg --device=emulator --seeds 3 --shape x=4 --shape y=4
// RUN: cute-opt %s --cute-compile="arch=sm_80 package=%t.80.cutepkg" -o /dev/null
// RUN: cute-run %t.80.cutepkg --device=emulator --seeds 3 --shape x=3072 --shape y=3072
//
// On a GPU: cute-run reduce_add.cutepkg --bench --shape x=16777216 --shape y=16777216

// Any length that is a number of vectors.
!V = !cute.memref<f32, gmem, align<16>, "(?{div=4}):(1)">
!load = !cute_nvgpu.atom.universal_copy<f32, 128 b>
!add = !cute_nvgpu.atom.red<f32, add, 128 b>
!by_loads = !cute.tiled_copy<!load, layout_copy_tv = <"(256,4):(4,1)">, tiler_mn = <"[1024:1]">>
!by_adds = !cute.tiled_copy<!add, layout_copy_tv = <"(256,4):(4,1)">, tiler_mn = <"[1024:1]">>
!frag = !cute.memref<f32, rmem, align<16>, "((4,1),1):((1,0),0)">
!pred = !cute.memref<i1, rmem, "((1,1),1):((0,0),0)">

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @reduce_add_kernel(%X: !V, %Y: !V) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
      %bx = gpu.block_id x
      %tx = gpu.thread_id x
      %bx32 = arith.index_cast %bx : index to i32
      %tx32 = arith.index_cast %tx : index to i32
      %block = cute.make_coord((%bx32))
      %thread = cute.make_coord(%tx32)

      %layout = cute.get_layout(%X)
      %shape = cute.get_shape(%layout)
      %C = cute.make_identity_tensor(%shape)
      %tiler = cute.static "[1024:1]"
      %gX = cute.local_tile(%X, %tiler, %block)
      %gY = cute.local_tile(%Y, %tiler, %block)
      %gC = cute.local_tile(%C, %tiler, %block)
      %loads = cute.static : !by_loads
      %adds = cute.static : !by_adds
      %tX = cute.tiled.copy.partition_S(%loads, %gX, %thread)
      %tY = cute.tiled.copy.partition_D(%adds, %gY, %thread)
      %tC = cute.tiled.copy.partition_S(%loads, %gC, %thread)

      // A vector is within the shape as a whole, or not at all.
      %at = cute.memref.load(%tC, "((0,0),0)")
      %within = cute.elem_less(%at, %shape)
      %pred = cute.memref.alloca() : !pred
      cute.fill(%pred, %within)
      %frag = cute.memref.alloca() : !frag
      cute.clear(%frag)
      cute.copy(%loads, %tX, %frag, %pred)
      cute.copy(%adds, %frag, %tY, %pred)
      gpu.return
    }
  }

  // Four blocks for each tile.
  func.func @reduce_add(%X: !V {cute.name = "x"}, %Y: !V {cute.name = "y"}) attributes {
      cute.computes = [{axpby = array<i64: 0, 1>, alpha = 4.0 : f32, beta = 1.0 : f32}]} {
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c256 = arith.constant 256 : index
    %c1024 = arith.constant 1024 : index
    %smem = arith.constant 0 : i32
    %layout = cute.get_layout(%X)
    %n32 = cute.get_scalars <{only_dynamic}>(%layout)
    %n = arith.index_cast %n32 : i32 to index
    %tiles = arith.ceildivsi %n, %c1024 : index
    gpu.launch_func @kernels::@reduce_add_kernel blocks in (%tiles, %c4, %c1) threads in (%c256, %c1, %c1)
      dynamic_shared_memory_size %smem args(%X : !V, %Y : !V)
    return
  }
}
