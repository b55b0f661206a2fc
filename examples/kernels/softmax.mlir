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
!copy = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f32, 128 b>, layout_copy_tv = <"(256,4):(4,1)">, tiler_mn = <"[1024:1]">>
!elements = !cute.vector<"D/256", f32>
// What the 8 warps tell each other: a maximum or a sum each.
!exchange = !cute.memref<f32, smem, align<16>, "8:1">

module attributes {gpu.container_module, cute.parameters = {D = 4096}} {
  gpu.module @kernels {
    cute.import "std/index"
    cute.import "std/copy"
    cute.import "std/reduce"
    gpu.func @softmax_kernel(%X: !X, %Y: !X) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
      // The block's row of both tensors, and who this thread is.
      %bx = cute.call @block_x()
      %tx = cute.call @thread_index()
      %row = cute.make_coord(%bx, _)
      %thread = cute.make_coord(%tx)
      %x = cute.slice(%X, %row)
      %y = cute.slice(%Y, %row)

      // The thread's elements of the row into registers, 16 of 4096; all loads are on their way before the first is waited for. From here on they are one vector.
      %copy = cute.static : !copy
      %frag = cute.call @loaded(%copy, %x, %thread)
      %v = cute.memref.load_vec %frag

      // Maxima and sums have places of their own, so that no thread writes one while another still reads the other.
      %maxima = cute.memref.alloca() : !exchange
      %sums = cute.memref.alloca() : !exchange

      // The row's maximum: of a thread's elements, and of the block.
      %thread_max = cute.deferred "vector.reduction"<{kind = #vector.kind<maximumf>}>(%v) -> f32
      %max = cute.call @block_max_vectors(%thread_max, %maxima, %tx)

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
      %sum = cute.call @block_sum_vectors(%thread_sum, %sums, %tx)

      // The sum is between 1 and D, so that an approximate reciprocal is exact to the last bit but one; a division would take longer.
      %inverse = llvm.call_intrinsic "llvm.nvvm.rcp.approx.ftz.f"(%sum) : (f32) -> f32
      %inverses = cute.deferred "vector.broadcast"(%inverse) -> !elements
      %p = cute.deferred "arith.mulf"(%e, %inverses)
      cute.memref.store_vec %p, %frag
      cute.call @store_tile(%copy, %frag, %y, %thread)
      gpu.return
    }
  }

  // A block for each row.
  func.func @softmax(%X: !X, %Y: !X) attributes {cute.computes = [{softmax = array<i64: 0, 1>}]} {
    %shape = cute.get_shape(%X)
    %grid = cute.ceil_div(%shape, "(1,$D)")
    cute.launch @kernels::@softmax_kernel blocks(%grid) args(%X, %Y)
    return
  }
}
