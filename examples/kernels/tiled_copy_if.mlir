// A copy of a matrix whose shape is no whole number of tiles: tiles reach over its ends, and predicates leave out what lies there.
//
// CuTe's counterpart is examples/cute/tutorial/tiled_copy_if.cu. A predicate is a question about coordinates, so a tensor whose elements
// are their own coordinates is tiled and partitioned like the others, and each thread finds in its part where its elements are. Here a
// question is asked for each instruction, which is enough as columns are whole numbers of vectors; tiled_copy_if_dynamic.mlir takes
// any shape.
//
// RUN: cute-opt %s --cute-compile="arch=sm_90a package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator --seeds 3

// 4 tiles and an eighth of one by 5 tiles and an eighth of one.
!T = !cute.memref<f32, gmem, align<16>, "(528,328):(1,528)">
// 32 threads along a column with four elements each, 8 threads along the rows.
!atom = !cute_nvgpu.atom.universal_copy<f32, 128 b>
!copy = !cute.tiled_copy<!atom, layout_copy_tv = <"((32,8),4):((4,128),1)">, tiler_mn = <"[128:1;8:1]">>
!frag = !cute.memref<f32, rmem, align<16>, "((4,1),1,8):((1,0),0,4)">
// Of a vector's coordinates the first; a predicate for each.
!pred = !cute.memref<i1, rmem, "((1),1,8):((0),0,1)">

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @copy_if_kernel(%S: !T {cute.noalias}, %D: !T {cute.noalias}) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
      %bx = gpu.block_id x
      %by = gpu.block_id y
      %tx = gpu.thread_id x
      %bx32 = arith.index_cast %bx : index to i32
      %by32 = arith.index_cast %by : index to i32
      %tx32 = arith.index_cast %tx : index to i32
      %block = cute.make_coord(%bx32, %by32)
      %thread = cute.make_coord(%tx32)

      // The block's tile: of both tensors, and of the coordinates.
      %shape = cute.static shape "(528,328)"
      %C = cute.make_identity_tensor(%shape)
      %tiler = cute.static "[128:1;64:1]"
      %gS = cute.local_tile(%S, %tiler, %block)
      %gD = cute.local_tile(%D, %tiler, %block)
      %gC = cute.local_tile(%C, %tiler, %block)

      // The thread's part, likewise.
      %copy = cute.static : !copy
      %tS = cute.tiled.copy.partition_S(%copy, %gS, %thread)
      %tD = cute.tiled.copy.partition_D(%copy, %gD, %thread)
      %tC = cute.tiled.copy.partition_S(%copy, %gC, %thread)

      // Whether the first element of each vector is within the shape; the others are as well, as 528 is a multiple of 4.
      %of_vectors = cute.static coord "((0,_),_,_)"
      %firstC = cute.slice(%tC, %of_vectors)
      %pred = cute.memref.alloca() : !pred
      cute.transform(%firstC, %pred) (%at) {
        %within = cute.elem_less(%at, %shape)
        cute.yield %within
      }

      // Nothing is loaded where a predicate is false: what is there before stays, so that there must be something.
      %frag = cute.memref.alloca() : !frag
      cute.clear(%frag)
      cute.copy_if(%copy, %pred, %tS, %frag)
      cute.copy_if(%copy, %pred, %frag, %tD)
      gpu.return
    }
  }

  // A block for each tile, those that reach over the end too.
  func.func @copy_if(%S: !T, %D: !T) attributes {cute.computes = [{copy = array<i64: 0, 1>}]} {
    %c1 = arith.constant 1 : index
    %c5 = arith.constant 5 : index
    %c6 = arith.constant 6 : index
    %c256 = arith.constant 256 : index
    %smem = arith.constant 0 : i32
    gpu.launch_func @kernels::@copy_if_kernel blocks in (%c5, %c6, %c1) threads in (%c256, %c1, %c1)
      dynamic_shared_memory_size %smem args(%S : !T, %D : !T)
    return
  }
}
