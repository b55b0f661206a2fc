// A copy of a matrix of any shape, known when the kernel is launched: tiles within it by vectors, tiles over its ends by elements, each
// with a predicate (`cute.copy_tile`).
//
// What CuTe's predicated copies do for shapes that are whole numbers of vectors (tiled_copy_if.mlir), for all others as well: a row may
// end within a vector, and what lies behind it is no part of the tensor and must not be written. All that is asked of a tensor is that
// rows start at multiples of 16 bytes.
//
// RUN: cute-opt %s --cute-compile="arch=sm_90a package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator --seeds 3 --shape src=150x203 --shape dst=150x203
// RUN: cute-run %t.cutepkg --device=emulator --seeds 3 --shape src=64x256 --shape dst=64x256
// RUN: cute-run %t.cutepkg --device=emulator --seeds 3 --shape src=1x1 --shape dst=1x1
//
// On a GPU: cute-run tiled_copy_if_dynamic.cutepkg --bench --shape src=16383x4095 --shape dst=16383x4095

// Any shape; the distance between rows is a multiple of 4 elements, and may be more than their length.
!T = !cute.memref<f32, gmem, align<16>, "(?,?):(?{i64 div=4},1)">
// A warp copies 512 bytes of a row, 8 warps as many rows: with vectors of four elements.
!vector = !cute_nvgpu.atom.universal_copy<f32, 128 b>
!copy = !cute.tiled_copy<!vector, layout_copy_tv = <"((32,8),4):((32,1),8)">, tiler_mn = <"[8:1;128:1]">>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    cute.import "std/index"
    gpu.func @copy_if_kernel(%S: !T, %D: !T) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
      %x = cute.call @block_x()
      %y = cute.call @block_y()
      %thread = cute.call @thread()
      %block = cute.make_coord(%y, %x)

      // The block's tile: of both tensors, and of the coordinates, whose shape is known as late as theirs.
      %shape = cute.get_shape(%S)
      %C = cute.make_identity_tensor(%shape)
      %tiler = cute.static "[64:1;128:1]"
      %gS = cute.local_tile(%S, %tiler, %block)
      %gD = cute.local_tile(%D, %tiler, %block)
      %gC = cute.local_tile(%C, %tiler, %block)

      // Most tiles are within the shape as a whole, as their last element is: eight vectors of a thread, nothing asked. Of tiles over an end
      // 32 elements of a thread are copied, each with its coordinate.
      %copy = cute.static : !copy
      cute.copy_tile(%copy, %thread, %gS, %gD) within(%gC, %shape)
      gpu.return
    }
  }

  // A block for each tile, those that reach over the end too; neighbours have tiles of the same rows.
  func.func @copy_if(%S: !T, %D: !T) attributes {cute.computes = [{copy = array<i64: 0, 1>}]} {
    %shape = cute.get_shape(%S)
    %tiles = cute.ceil_div(%shape, "(64,128)")
    %down, %across = cute.get_scalars(%tiles)
    %blocks = cute.make_shape(%across, %down)
    cute.launch @kernels::@copy_if_kernel blocks(%blocks) args(%S, %D)
    return
  }
}
