// A copy of a matrix of any shape, known when the kernel is launched: tiles within it by vectors, tiles over its ends by elements, each
// with a predicate.
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
!layout = !cute.layout<"(?,?):(?{i64 div=4},1)">
!shape = !cute.shape<"(?,?)">
!C = !cute.coord_tensor<"(0,0)", "(?,?):(1@0,1@1)">
!at_block = !cute.coord<"(?,?)">
!at_thread = !cute.coord<"?">
!tiler = !cute.tile<"[64:1;128:1]">
!tile = !cute.memref<f32, gmem, align<16>, "(64,128):(?{i64 div=4},1)">
!tileC = !cute.coord_tensor<"(?,?)", "(64,128):(1@0,1@1)">
// A warp copies 512 bytes of a row, 8 warps as many rows: with vectors of four elements, or with the same elements one at a time.
!vector = !cute_nvgpu.atom.universal_copy<f32, 128 b>
!element = !cute_nvgpu.atom.universal_copy<f32, 32 b>
!by_vectors = !cute.tiled_copy<!vector, layout_copy_tv = <"((32,8),4):((32,1),8)">, tiler_mn = <"[8:1;128:1]">>
!by_elements = !cute.tiled_copy<!element, layout_copy_tv = <"((32,8),4):((32,1),8)">, tiler_mn = <"[8:1;128:1]">>
!vectors = !cute.memref<f32, gmem, align<16>, "((4,1),8,1):((1,4),?{i64 div=32},0)">
!elements = !cute.memref<f32, gmem, align<16>, "((1,4),8,1):((0,1),?{i64 div=32},0)">
!elementsC = !cute.coord_tensor<"(?,?)", "((1,4),8,1):((0,1@1),8@0,0)">
!vector_frag = !cute.memref<f32, rmem, align<16>, "((4,1),8,1):((1,0),4,0)">
!element_frag = !cute.memref<f32, rmem, align<16>, "((1,4),8,1):((0,1),4,0)">
!pred = !cute.memref<i1, rmem, "((1,4),8,1):((0,1),4,0)">

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @copy_if_kernel(%S: !T, %D: !T) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
      %bx = gpu.block_id x
      %by = gpu.block_id y
      %tx = gpu.thread_id x
      %bx32 = arith.index_cast %bx : index to i32
      %by32 = arith.index_cast %by : index to i32
      %tx32 = arith.index_cast %tx : index to i32
      %block = cute.make_coord(%by32, %bx32) : (i32, i32) -> !at_block
      %thread = cute.make_coord(%tx32) : (i32) -> !at_thread

      // The block's tile: of both tensors, and of the coordinates, whose shape is known as late as theirs.
      %layout = cute.get_layout(%S) : !T
      %shape = cute.get_shape(%layout) : !layout -> !shape
      %C = cute.make_identity_tensor(%shape : !shape) : !C
      %tiler = cute.static : !tiler
      %gS = cute.local_tile(%S, %tiler, %block) : (!T, !tiler, !at_block) -> !tile
      %gD = cute.local_tile(%D, %tiler, %block) : (!T, !tiler, !at_block) -> !tile
      %gC = cute.local_tile(%C, %tiler, %block) : (!C, !tiler, !at_block) -> !tileC

      // A tile whose last element is within the shape is within it as a whole. All threads of a block agree on that.
      %last = cute.static : !cute.coord<"(63,127)">
      %corner = cute.memref.load(%gC, %last) : (!tileC, !cute.coord<"(63,127)">) -> !cute.coord<"(?,?)">
      %whole = cute.elem_less(%corner, %shape) : !cute.coord<"(?,?)">, !shape
      scf.if %whole {
        // Most tiles: eight vectors of a thread, nothing asked.
        %vector = cute.make_atom() : () -> !vector
        %copy = cute.make_tiled_copy(%vector) : !by_vectors
        %tS = cute.tiled.copy.partition_S(%copy, %gS, %thread) : (!by_vectors, !tile, !at_thread) -> !vectors
        %tD = cute.tiled.copy.partition_D(%copy, %gD, %thread) : (!by_vectors, !tile, !at_thread) -> !vectors
        %frag = cute.memref.alloca() : !vector_frag
        cute.copy(%copy, %tS, %frag) : (!by_vectors, !vectors, !vector_frag)
        cute.copy(%copy, %frag, %tD) : (!by_vectors, !vector_frag, !vectors)
      } else {
        // Tiles over an end: 32 elements of a thread, each with its coordinate.
        %element = cute.make_atom() : () -> !element
        %copy = cute.make_tiled_copy(%element) : !by_elements
        %tS = cute.tiled.copy.partition_S(%copy, %gS, %thread) : (!by_elements, !tile, !at_thread) -> !elements
        %tD = cute.tiled.copy.partition_D(%copy, %gD, %thread) : (!by_elements, !tile, !at_thread) -> !elements
        %tC = cute.tiled.copy.partition_S(%copy, %gC, %thread) : (!by_elements, !tileC, !at_thread) -> !elementsC
        %pred = cute.memref.alloca() : !pred
        cute.transform(%tC, %pred) : (!elementsC, !pred) {
        ^bb0(%at: !cute.coord<"(?,?)">):
          %within = cute.elem_less(%at, %shape) : !cute.coord<"(?,?)">, !shape
          cute.yield %within : i1
        }
        %frag = cute.memref.alloca() : !element_frag
        cute.clear(%frag) : (!element_frag)
        cute.copy_if(%copy, %pred, %tS, %frag) : (!by_elements, !pred, !elements, !element_frag)
        cute.copy_if(%copy, %pred, %frag, %tD) : (!by_elements, !pred, !element_frag, !elements)
      }
      gpu.return
    }
  }

  // A block for each tile, those that reach over the end too.
  func.func @copy_if(%S: !T, %D: !T) attributes {cute.computes = [{copy = array<i64: 0, 1>}]} {
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %c256 = arith.constant 256 : index
    %smem = arith.constant 0 : i32
    %layout = cute.get_layout(%S) : !T
    %m32, %n32, %ld = cute.get_scalars <{only_dynamic}>(%layout) : !layout
    %m = arith.index_cast %m32 : i32 to index
    %n = arith.index_cast %n32 : i32 to index
    %down = arith.ceildivsi %m, %c64 : index
    %across = arith.ceildivsi %n, %c128 : index
    gpu.launch_func @kernels::@copy_if_kernel blocks in (%across, %down, %c1) threads in (%c256, %c1, %c1)
      dynamic_shared_memory_size %smem args(%S : !T, %D : !T)
    return
  }
}
