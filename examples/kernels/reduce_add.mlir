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
!layout = !cute.layout<"(?{div=4}):(1)">
!shape = !cute.shape<"(?{div=4})">
!C = !cute.coord_tensor<"(0)", "(?{div=4}):(1@0)">
!at_block = !cute.coord<"(?)">
!at_thread = !cute.coord<"?">
!tiler = !cute.tile<"[1024:1]">
!tile = !cute.memref<f32, gmem, align<16>, "(1024):(1)">
!tileC = !cute.coord_tensor<"(?{div=1024})", "(1024):(1@0)">
!load = !cute_nvgpu.atom.universal_copy<f32, 128 b>
!add = !cute_nvgpu.atom.red<f32, add, 128 b>
!by_loads = !cute.tiled_copy<!load, layout_copy_tv = <"(256,4):(4,1)">, tiler_mn = <"[1024:1]">>
!by_adds = !cute.tiled_copy<!add, layout_copy_tv = <"(256,4):(4,1)">, tiler_mn = <"[1024:1]">>
!part = !cute.memref<f32, gmem, align<16>, "((4,1),1):((1,0),0)">
!partC = !cute.coord_tensor<"(?{div=4})", "((4,1),1):((1@0,0),0)">
!frag = !cute.memref<f32, rmem, align<16>, "((4,1),1):((1,0),0)">
!pred = !cute.memref<i1, rmem, "((1,1),1):((0,0),0)">

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @reduce_add_kernel(%X: !V, %Y: !V) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
      %bx = gpu.block_id x
      %tx = gpu.thread_id x
      %bx32 = arith.index_cast %bx : index to i32
      %tx32 = arith.index_cast %tx : index to i32
      %block = cute.make_coord(%bx32) : (i32) -> !at_block
      %thread = cute.make_coord(%tx32) : (i32) -> !at_thread

      %layout = cute.get_layout(%X) : !V
      %shape = cute.get_shape(%layout) : !layout -> !shape
      %C = cute.make_identity_tensor(%shape : !shape) : !C
      %tiler = cute.static : !tiler
      %gX = cute.local_tile(%X, %tiler, %block) : (!V, !tiler, !at_block) -> !tile
      %gY = cute.local_tile(%Y, %tiler, %block) : (!V, !tiler, !at_block) -> !tile
      %gC = cute.local_tile(%C, %tiler, %block) : (!C, !tiler, !at_block) -> !tileC

      %load = cute.make_atom() : () -> !load
      %add = cute.make_atom() : () -> !add
      %loads = cute.make_tiled_copy(%load) : !by_loads
      %adds = cute.make_tiled_copy(%add) : !by_adds
      %tX = cute.tiled.copy.partition_S(%loads, %gX, %thread) : (!by_loads, !tile, !at_thread) -> !part
      %tY = cute.tiled.copy.partition_D(%adds, %gY, %thread) : (!by_adds, !tile, !at_thread) -> !part
      %tC = cute.tiled.copy.partition_S(%loads, %gC, %thread) : (!by_loads, !tileC, !at_thread) -> !partC

      // A vector is within the shape as a whole, or not at all.
      %first = cute.static : !cute.coord<"((0,0),0)">
      %at = cute.memref.load(%tC, %first) : (!partC, !cute.coord<"((0,0),0)">) -> !cute.coord<"(?{div=4})">
      %within = cute.elem_less(%at, %shape) : !cute.coord<"(?{div=4})">, !shape
      %pred = cute.memref.alloca() : !pred
      cute.fill(%pred, %within) : (!pred, i1)
      %frag = cute.memref.alloca() : !frag
      cute.clear(%frag) : (!frag)
      cute.copy(%loads, %tX, %frag, %pred) : (!by_loads, !part, !frag, !pred)
      cute.copy(%adds, %frag, %tY, %pred) : (!by_adds, !frag, !part, !pred)
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
    %layout = cute.get_layout(%X) : !V
    %n32 = cute.get_scalars <{only_dynamic}>(%layout) : !layout
    %n = arith.index_cast %n32 : i32 to index
    %tiles = arith.ceildivsi %n, %c1024 : index
    gpu.launch_func @kernels::@reduce_add_kernel blocks in (%tiles, %c4, %c1) threads in (%c256, %c1, %c1)
      dynamic_shared_memory_size %smem args(%X : !V, %Y : !V)
    return
  }
}
