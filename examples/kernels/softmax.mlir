// Softmax along the rows of a matrix: y(i,j) = exp(x(i,j)) / sum over l of exp(x(i,l)), computed with the row's maximum subtracted first.
//
// A block computes a row, and holds all of it in registers: it is read once and written once. In CuTe's terms: a tiled copy of vectors, and
// reductions of fragments, which threads of a warp finish by shuffles and warps through shared memory.
//
// The length of a row is a parameter, D: 4096, unless it is set. Of vectors whose length follows from it, ops of other dialects are deferred until it is known.
//
// RUN: cute-opt %s --cute-compile="arch=sm_90a package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator --seeds 3 --shape x=5x4096 --shape out=5x4096
// RUN: cute-opt %s --cute-compile="arch=sm_90a set=D=2048 package=%t.2048.cutepkg" -o /dev/null
// RUN: cute-run %t.2048.cutepkg --device=emulator --seeds 3 --shape x=5x2048 --shape out=5x2048
//
// On a GPU: cute-run softmax.cutepkg --bench --shape x=16384x4096 --shape out=16384x4096

// As many rows as there are.
!X = !cute.memref<f32, gmem, align<16>, "(?,$D):($D,1)">
// 256 threads with 4 neighbouring elements each take 1024 elements at once, so of 4096 a thread has 4 vectors, 1024 elements apart.
!atom = !cute_nvgpu.atom.universal_copy<f32, 128 b>
!copy = !cute.tiled_copy<!atom, layout_copy_tv = <"(256,4):(4,1)">, tiler_mn = <"[1024:1]">>
!frag = !cute.memref<f32, rmem, align<16>, "((4,1),$(D/1024)):((1,0),4)">
!elements = !cute.vector<"D/256", f32>
// What the 8 warps tell each other: a maximum and a sum each.
!exchange = !cute.memref<f32, smem, align<16>, "(8,2):(1,8)">
// Every thread reads all 8, by two vectors.
!gather = !cute.tiled_copy<!atom, layout_copy_tv = <"(1,4):(0,1)">, tiler_mn = <"[4:1]">>
!gather_frag = !cute.memref<f32, rmem, align<16>, "((4,1),2):((1,0),4)">

module attributes {gpu.container_module, cute.parameters = {D = 4096}} {
  gpu.module @kernels {
    cute.import "std/reduce"
    gpu.func @softmax_kernel(%X: !X, %Y: !X) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
      %c0 = arith.constant 0 : i32
      %c32 = arith.constant 32 : i32

      // The block's row of both tensors, and who this thread is.
      %bx = gpu.block_id x
      %tx = gpu.thread_id x
      %bx32 = arith.index_cast %bx : index to i32
      %tx32 = arith.index_cast %tx : index to i32
      %row = cute.make_coord(%bx32, _)
      %thread = cute.make_coord(%tx32)
      %lane = arith.remui %tx32, %c32 : i32
      %warp32 = arith.divui %tx32, %c32 : i32
      %warp = cute.make_coord(%warp32)
      %speaks = arith.cmpi eq, %lane, %c0 : i32
      %x = cute.slice(%X, %row)
      %y = cute.slice(%Y, %row)

      // The thread's elements of the row into registers, 16 of 4096; all loads are on their way before the first is waited for. From here on they are one vector.
      %copy = cute.static : !copy
      %tx_x = cute.tiled.copy.partition_S(%copy, %x, %thread)
      %tx_y = cute.tiled.copy.partition_D(%copy, %y, %thread)
      %frag = cute.memref.alloca() : !frag
      cute.copy(%copy, %tx_x, %frag)
      %v = cute.memref.load_vec %frag

      // Maxima and sums have places of their own, so that no thread writes one while another still reads the other.
      %exchange = cute.memref.alloca() : !exchange
      %first = cute.static coord "(_,0)"
      %second = cute.static coord "(_,1)"
      %maxima = cute.slice(%exchange, %first)
      %sums = cute.slice(%exchange, %second)
      %gather = cute.static : !gather
      %alone = cute.static coord "0"

      // The row's maximum: of a thread's elements, of a warp, of the block.
      %thread_max = cute.deferred "vector.reduction"<{kind = #vector.kind<maximumf>}>(%v) -> f32
      %warp_max = cute.call @warp_max(%thread_max)
      scf.if %speaks {
        cute.memref.store(%maxima, %warp, %warp_max)
      }
      gpu.barrier
      %all_maxima = cute.tiled.copy.partition_S(%gather, %maxima, %alone)
      %maxima_frag = cute.memref.alloca() : !gather_frag
      cute.copy(%gather, %all_maxima, %maxima_frag)
      %warp_maxima = cute.memref.load_vec %maxima_frag
      %max = vector.reduction <maximumf>, %warp_maxima : vector<8xf32> into f32

      // exp(x - max) = 2^(x log2(e) - max log2(e)): one multiply-add and one ex2 for each element, none above 1.
      %log2e = arith.constant 1.44269502 : f32
      %scaled_max = arith.mulf %max, %log2e : f32
      %less = arith.negf %scaled_max : f32
      %factor = cute.deferred "vector.broadcast"(%log2e) -> !elements
      %summand = cute.deferred "vector.broadcast"(%less) -> !elements
      %exponents = cute.deferred "math.fma"(%v, %factor, %summand)
      %e = cute.deferred "math.exp2"(%exponents)

      // The row's sum, as the maximum before. Pairs are added to pairs, so rounding errors grow with the logarithm of the length.
      %thread_sum = cute.deferred "vector.reduction"<{kind = #vector.kind<add>}>(%e) -> f32
      %warp_sum = cute.call @warp_sum(%thread_sum)
      scf.if %speaks {
        cute.memref.store(%sums, %warp, %warp_sum)
      }
      gpu.barrier
      %all_sums = cute.tiled.copy.partition_S(%gather, %sums, %alone)
      %sums_frag = cute.memref.alloca() : !gather_frag
      cute.copy(%gather, %all_sums, %sums_frag)
      %warp_sums = cute.memref.load_vec %sums_frag
      %sum = vector.reduction <add>, %warp_sums : vector<8xf32> into f32

      // The sum is between 1 and D, so that an approximate reciprocal is exact to the last bit but one; a division would take longer.
      %inverse = llvm.call_intrinsic "llvm.nvvm.rcp.approx.ftz.f"(%sum) : (f32) -> f32
      %inverses = cute.deferred "vector.broadcast"(%inverse) -> !elements
      %p = cute.deferred "arith.mulf"(%e, %inverses)
      cute.memref.store_vec %p, %frag
      cute.copy(%copy, %frag, %tx_y)
      gpu.return
    }
  }

  // A block for each row.
  func.func @softmax(%X: !X, %Y: !X) attributes {cute.computes = [{softmax = array<i64: 0, 1>}]} {
    %c1 = arith.constant 1 : index
    %c256 = arith.constant 256 : index
    %smem = arith.constant 0 : i32
    %layout = cute.get_layout(%X)
    %rows32 = cute.get_scalars <{only_dynamic}>(%layout) -> i32
    %rows = arith.index_cast %rows32 : i32 to index
    gpu.launch_func @kernels::@softmax_kernel blocks in (%rows, %c1, %c1) threads in (%c256, %c1, %c1)
      dynamic_shared_memory_size %smem args(%X : !X, %Y : !X)
    return
  }
}
