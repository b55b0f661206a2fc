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
!atom = !cute_nvgpu.atom.universal_copy<f16, 128 b>
!copy = !cute.tiled_copy<!atom, layout_copy_tv = <"(256,8):(8,1)">, tiler_mn = <"[2048:1]">>
!frag = !cute.memref<f16, rmem, align<16>, "((8,1),2):((1,0),8)">
// What the 8 warps tell each other, which every thread reads by two vectors.
!warps = !cute.memref<f32, smem, align<16>, "8:1">
!atom_f32 = !cute_nvgpu.atom.universal_copy<f32, 128 b>
!gather = !cute.tiled_copy<!atom_f32, layout_copy_tv = <"(1,4):(0,1)">, tiler_mn = <"[4:1]">>
!gather_frag = !cute.memref<f32, rmem, align<16>, "((4,1),2):((1,0),4)">

module attributes {gpu.container_module} {
  gpu.module @kernels {
    cute.import "std/reduce"
    gpu.func @rms_norm_kernel(%X: !X, %W: !weights {cute.noalias}, %Y: !X, %epsilon: f32) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
      %c0 = arith.constant 0 : i32
      %c32 = arith.constant 32 : i32

      // The block's row, and who this thread is.
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

      // 16 elements and their weights into registers. The weights come from L2, as all blocks read the same; asked for now, they are there
      // when the sum is.
      %copy = cute.static : !copy
      %tx_x = cute.tiled.copy.partition_S(%copy, %x, %thread)
      %tx_w = cute.tiled.copy.partition_S(%copy, %W, %thread)
      %tx_y = cute.tiled.copy.partition_D(%copy, %y, %thread)
      %x_frag = cute.memref.alloca() : !frag
      %w_frag = cute.memref.alloca() : !frag
      cute.copy(%copy, %tx_x, %x_frag)
      cute.copy(%copy, %tx_w, %w_frag)

      // The sum of squares: of a thread's elements, and of a warp.
      %x_f16 = cute.memref.load_vec %x_frag
      %x_f32 = arith.extf %x_f16 : vector<16xf16> to vector<16xf32>
      %squares = arith.mulf %x_f32, %x_f32 : vector<16xf32>
      %thread_sum = vector.reduction <add>, %squares : vector<16xf32> into f32
      %warp_sum = cute.call @warp_sum(%thread_sum)

      // Then of the block: one lane of each warp says its sum, all threads read all sums.
      %sums = cute.memref.alloca() : !warps
      scf.if %speaks {
        cute.memref.store(%sums, %warp, %warp_sum)
      }
      gpu.barrier
      %gather = cute.static : !gather
      %alone = cute.static coord "0"
      %all_sums = cute.tiled.copy.partition_S(%gather, %sums, %alone)
      %sums_frag = cute.memref.alloca() : !gather_frag
      cute.copy(%gather, %all_sums, %sums_frag)
      %warp_sums = cute.memref.load_vec %sums_frag
      %sum = vector.reduction <add>, %warp_sums : vector<8xf32> into f32

      // 1 / sqrt(sum / 4096 + epsilon), the same in all threads.
      %share = arith.constant 2.44140625e-04 : f32
      %mean = math.fma %sum, %share, %epsilon : f32
      %scale = math.rsqrt %mean : f32

      // Scaled and weighted in f32, rounded to f16 at the end.
      %scales = vector.broadcast %scale : f32 to vector<16xf32>
      %w_f16 = cute.memref.load_vec %w_frag
      %w_f32 = arith.extf %w_f16 : vector<16xf16> to vector<16xf32>
      %normed = arith.mulf %x_f32, %scales : vector<16xf32>
      %weighted = arith.mulf %normed, %w_f32 : vector<16xf32>
      %y_f16 = arith.truncf %weighted : vector<16xf32> to vector<16xf16>
      cute.memref.store_vec %y_f16, %x_frag
      cute.copy(%copy, %x_frag, %tx_y)
      gpu.return
    }
  }

  // A block for each row. epsilon is a number that the caller gives.
  func.func @rms_norm(%X: !X, %W: !weights, %Y: !X, %epsilon: f32) attributes {
      cute.computes = [{rms_norm = array<i64: 0, 1, 2>, epsilon = 3 : index}]} {
    %c1 = arith.constant 1 : index
    %c256 = arith.constant 256 : index
    %smem = arith.constant 0 : i32
    %layout = cute.get_layout(%X)
    %rows32 = cute.get_scalars <{only_dynamic}>(%layout)
    %rows = arith.index_cast %rows32 : i32 to index
    gpu.launch_func @kernels::@rms_norm_kernel blocks in (%rows, %c1, %c1) threads in (%c256, %c1, %c1)
      dynamic_shared_memory_size %smem args(%X : !X, %W : !weights, %Y : !X, %epsilon : f32)
    return
  }
}
