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
// A warp copies 512 bytes of a row, 8 warps as many rows: with vectors of four elements, or with the same elements one at a time.
!vector = !cute_nvgpu.atom.universal_copy<f32, 128 b>
!element = !cute_nvgpu.atom.universal_copy<f32, 32 b>
!by_vectors = !cute.tiled_copy<!vector, layout_copy_tv = <"((32,8),4):((32,1),8)">, tiler_mn = <"[8:1;128:1]">>
!by_elements = !cute.tiled_copy<!element, layout_copy_tv = <"((32,8),4):((32,1),8)">, tiler_mn = <"[8:1;128:1]">>
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
      %block = cute.make_coord(%by32, %bx32)
      %thread = cute.make_coord(%tx32)

      // The block's tile: of both tensors, and of the coordinates, whose shape is known as late as theirs.
      %layout = cute.get_layout(%S)
      %shape = cute.get_shape(%layout)
      %C = cute.make_identity_tensor(%shape)
      %tiler = cute.static "[64:1;128:1]"
      %gS = cute.local_tile(%S, %tiler, %block)
      %gD = cute.local_tile(%D, %tiler, %block)
      %gC = cute.local_tile(%C, %tiler, %block)

      // A tile whose last element is within the shape is within it as a whole. All threads of a block agree on that.
      %corner = cute.memref.load(%gC, "(63,127)")
      %whole = cute.elem_less(%corner, %shape)
      scf.if %whole {
        // Most tiles: eight vectors of a thread, nothing asked.
        %copy = cute.static : !by_vectors
        %tS = cute.tiled.copy.partition_S(%copy, %gS, %thread)
        %tD = cute.tiled.copy.partition_D(%copy, %gD, %thread)
        %frag = cute.memref.alloca() : !vector_frag
        cute.copy(%copy, %tS, %frag)
        cute.copy(%copy, %frag, %tD)
      } else {
        // Tiles over an end: 32 elements of a thread, each with its coordinate.
        %copy = cute.static : !by_elements
        %tS = cute.tiled.copy.partition_S(%copy, %gS, %thread)
        %tD = cute.tiled.copy.partition_D(%copy, %gD, %thread)
        %tC = cute.tiled.copy.partition_S(%copy, %gC, %thread)
        %pred = cute.memref.alloca() : !pred
        cute.transform(%tC, %pred) (%at) {
          %within = cute.elem_less(%at, %shape)
          cute.yield %within
        }
        %frag = cute.memref.alloca() : !element_frag
        cute.clear(%frag)
        cute.copy_if(%copy, %pred, %tS, %frag)
        cute.copy_if(%copy, %pred, %frag, %tD)
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
    %layout = cute.get_layout(%S)
    %m32, %n32, %ld = cute.get_scalars <{only_dynamic}>(%layout)
    %m = arith.index_cast %m32 : i32 to index
    %n = arith.index_cast %n32 : i32 to index
    %down = arith.ceildivsi %m, %c64 : index
    %across = arith.ceildivsi %n, %c128 : index
    gpu.launch_func @kernels::@copy_if_kernel blocks in (%across, %down, %c1) threads in (%c256, %c1, %c1)
      dynamic_shared_memory_size %smem args(%S : !T, %D : !T)
    return
  }
}
