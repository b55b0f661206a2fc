// A copy of a matrix whose shape is no whole number of tiles: tiles reach over its ends, and predicates leave out what lies there.
//
// CuTe's counterpart is examples/cute/tutorial/tiled_copy_if.cu. A predicate is a question about coordinates, so a tensor whose elements
// are their own coordinates is tiled and partitioned like the others, and each thread finds in its part where its elements are. Here a
// question is asked for each instruction, which is enough as columns are whole numbers of vectors; tiled_copy_if_dynamic.mlir takes
// any shape.
//
// The shape and the type of elements are parameters, with as many elements V as 16 bytes have; copies are functions of the library.
//
// RUN: cute-opt %s --cute-compile="arch=sm_90a package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator --seeds 3
// RUN: cute-opt %s --cute-compile="arch=sm_90a set=M=264,N=100,T=f16,V=8 package=%t.f16.cutepkg" -o /dev/null
// RUN: cute-run %t.f16.cutepkg --device=emulator --seeds 3

!T = !cute.memref<!cute.param<"T">, gmem, align<16>, "($M,$N):(1,$M)">
// 32 threads along a column with V elements each, 8 threads along the rows.
!atom = !cute_nvgpu.atom.universal_copy<!cute.param<"T">, 128 b>
!copy = !cute.tiled_copy<!atom, layout_copy_tv = <"((32,8),$V):(($V,$(32*V)),1)">, tiler_mn = <"[$(32*V):1;8:1]">>
!frag = !cute.memref<!cute.param<"T">, rmem, align<16>, "(($V,1),1,8):((1,0),0,$V)">
// Of a vector's coordinates the first; a predicate for each.
!pred = !cute.memref<i1, rmem, "((1),1,8):((0),0,1)">

// By default 4 tiles and an eighth of one by 5 tiles and an eighth of one.
module attributes {gpu.container_module, cute.parameters = {M = 528, N = 328, T = f32, V = 4}} {
  gpu.module @kernels {
    cute.import "std/copy"
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
      %shape = cute.static shape "($M,$N)"
      %C = cute.make_identity_tensor(%shape)
      %tiler = cute.static "[$(32*V):1;64:1]"
      %gS = cute.local_tile(%S, %tiler, %block)
      %gD = cute.local_tile(%D, %tiler, %block)
      %gC = cute.local_tile(%C, %tiler, %block)

      // Whether the first element of each vector is within the shape; the others are as well, as M is a multiple of V.
      %copy = cute.static : !copy
      %pred = cute.memref.alloca() : !pred
      cute.call @vectors_within(%copy, %gC, %shape, %pred, %thread)

      // Nothing is loaded where a predicate is false: zeros are there, so that there is something to store.
      %frag = cute.memref.alloca() : !frag
      cute.call @load_tile_if(%copy, %pred, %gS, %frag, %thread)
      cute.call @store_tile_if(%copy, %pred, %frag, %gD, %thread)
      gpu.return
    }
  }

  // A block for each tile, those that reach over the end too.
  func.func @copy_if(%S: !T, %D: !T) attributes {cute.computes = [{copy = array<i64: 0, 1>}]} {
    %c1 = arith.constant 1 : index
    %down = cute.param "ceil_div(M, 32*V)" : index
    %across = cute.param "ceil_div(N, 64)" : index
    %c256 = arith.constant 256 : index
    %smem = arith.constant 0 : i32
    gpu.launch_func @kernels::@copy_if_kernel blocks in (%down, %across, %c1) threads in (%c256, %c1, %c1)
      dynamic_shared_memory_size %smem args(%S : !T, %D : !T)
    return
  }
}
