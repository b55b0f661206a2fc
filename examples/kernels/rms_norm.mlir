// RMS norm of the rows of a matrix: y(i,j) = x(i,j) w(j) / sqrt(mean over l of x(i,l)^2 + epsilon).
//
// Elements are f16, everything is computed in f32 and rounded once. A block computes a row, held in registers; as in softmax.mlir, threads
// of a warp add up by shuffles, and warps through shared memory.
//
// RUN: cute-opt %s --cute-compile="arch=sm_90a package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator --seeds 3 --shape x=5x4096 --shape out=5x4096 --set epsilon=1e-5
//
// On a GPU: cute-run rms_norm.cutepkg --bench --shape x=32768x4096 --shape out=32768x4096 --set epsilon=1e-5

// As many rows as there are, and a weight for each column.
!X = !cute.memref<f16, gmem, align<16>, "(?,4096):(4096,1)">
!weights = !cute.memref<f16, gmem, align<16>, "4096:1">
// 16 bytes are 8 elements: 256 threads take 2048 elements at once, so a thread has 2 vectors.
!copy = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"(256,8):(8,1)">, tiler_mn = <"[2048:1]">>
// What the 8 warps tell each other.
!exchange = !cute.memref<f32, smem, align<16>, "8:1">

module attributes {gpu.container_module} {
  gpu.module @kernels {
    cute.import "std/index"
    cute.import "std/copy"
    cute.import "std/reduce"
    gpu.func @rms_norm_kernel(%X: !X, %W: !weights {cute.noalias}, %Y: !X, %epsilon: f32) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
      // The block's row, and who this thread is.
      %bx = cute.call @block_x()
      %tx = cute.call @thread_index()
      %thread = cute.make_coord(%tx)
      %x = cute.slice(%X, (%bx, _))
      %y = cute.slice(%Y, (%bx, _))

      // 16 elements and their weights into registers, and on as f32. The weights come from L2, as all blocks read the same; asked for now, they
      // are there when the sum is.
      %x_f16 = cute.call @loaded_vec(!copy, %x, %thread) -> vector<16xf16>
      %w_f16 = cute.call @loaded_vec(!copy, %W, %thread) -> vector<16xf16>
      %x_f32 = arith.extf %x_f16 : vector<16xf16> to vector<16xf32>

      // The sum of squares: of a thread's elements, and of the block.
      %squares = arith.mulf %x_f32, %x_f32 : vector<16xf32>
      %thread_sum = vector.reduction <add>, %squares : vector<16xf32> into f32
      %sums = cute.memref.alloca() : !exchange
      %sum = cute.call @block_sum_vectors(%thread_sum, %sums, %tx)

      // 1 / sqrt(sum / 4096 + epsilon), the same in all threads.
      %share = arith.constant 2.44140625e-04 : f32
      %mean = math.fma %sum, %share, %epsilon : f32
      %scale = math.rsqrt %mean : f32

      // Scaled and weighted in f32, rounded to f16 at the end.
      %scales = vector.broadcast %scale : f32 to vector<16xf32>
      %w_f32 = arith.extf %w_f16 : vector<16xf16> to vector<16xf32>
      %normed = arith.mulf %x_f32, %scales : vector<16xf32>
      %weighted = arith.mulf %normed, %w_f32 : vector<16xf32>
      %y_f16 = arith.truncf %weighted : vector<16xf32> to vector<16xf16>
      cute.call @store_vec(!copy, %y_f16, %y, %thread)
      gpu.return
    }
  }

  // A block for each row. epsilon is a number that the caller gives.
  func.func @rms_norm(%X: !X, %W: !weights, %Y: !X, %epsilon: f32) attributes {
      cute.computes = [{rms_norm = array<i64: 0, 1, 2>, epsilon = 3 : index}]} {
    %shape = cute.get_shape(%X)
    %grid = cute.ceil_div(%shape, "(1,4096)")
    cute.launch @kernels::@rms_norm_kernel blocks(%grid) args(%X, %W, %Y, %epsilon)
    return
  }
}
