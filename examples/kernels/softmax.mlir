// Softmax along the rows of a matrix: y(i,j) = exp(x(i,j)) / sum over l of exp(x(i,l)), computed with the row's maximum subtracted first.
//
// A block computes a row, and holds all of it in registers: it is read once and written once. In CuTe's terms: a tiled copy of vectors, and
// reductions of fragments, which threads of a warp finish by shuffles and warps through shared memory.
//
// RUN: cute-opt %s --cute-compile="arch=sm_90a package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator --seeds 3 --shape x=5x4096 --shape out=5x4096
//
// On a GPU: cute-run softmax.cutepkg --bench --shape x=16384x4096 --shape out=16384x4096

// As many rows as there are.
!X = !cute.memref<f32, gmem, align<16>, "(?,4096):(4096,1)">
// 256 threads with 4 neighbouring elements each take 1024 elements at once, so a thread has 4 vectors, 1024 elements apart.
!atom = !cute_nvgpu.atom.universal_copy<f32, 128 b>
!copy = !cute.tiled_copy<!atom, layout_copy_tv = <"(256,4):(4,1)">, tiler_mn = <"[1024:1]">>
!frag = !cute.memref<f32, rmem, align<16>, "((4,1),4):((1,0),4)">
// What the 8 warps tell each other: a maximum and a sum each.
!exchange = !cute.memref<f32, smem, align<16>, "(8,2):(1,8)">
// Every thread reads all 8, by two vectors.
!gather = !cute.tiled_copy<!atom, layout_copy_tv = <"(1,4):(0,1)">, tiler_mn = <"[4:1]">>
!gather_frag = !cute.memref<f32, rmem, align<16>, "((4,1),2):((1,0),4)">

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @softmax_kernel(%X: !X, %Y: !X) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %c5 = arith.constant 5 : i32
      %c16 = arith.constant 16 : i32
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

      // 16 elements of the row into registers; all loads are on their way before the first is waited for. From here on they are one vector.
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

      // The row's maximum: of a thread's elements, of a warp, of the block. In the butterfly each lane exchanges what it has with the lane
      // whose number differs in one bit, 16 to 1, after which all lanes have the same. The loop is written out.
      %thread_max = vector.reduction <maximumf>, %v : vector<16xf32> into f32
      %warp_max = scf.for %i = %c0 to %c5 step %c1 iter_args(%m = %thread_max) -> (f32) : i32 {
        %bit = arith.shrui %c16, %i : i32
        %other, %valid = gpu.shuffle xor %m, %bit, %c32 : f32
        %larger = arith.maximumf %m, %other : f32
        scf.yield %larger : f32
      } {cute.unroll}
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
      %factor = vector.broadcast %log2e : f32 to vector<16xf32>
      %summand = vector.broadcast %less : f32 to vector<16xf32>
      %exponents = math.fma %v, %factor, %summand : vector<16xf32>
      %e = math.exp2 %exponents : vector<16xf32>

      // The row's sum, as the maximum before. Pairs are added to pairs, so rounding errors grow with the logarithm of the length.
      %thread_sum = vector.reduction <add>, %e : vector<16xf32> into f32
      %warp_sum = scf.for %i = %c0 to %c5 step %c1 iter_args(%s = %thread_sum) -> (f32) : i32 {
        %bit = arith.shrui %c16, %i : i32
        %other, %valid = gpu.shuffle xor %s, %bit, %c32 : f32
        %total = arith.addf %s, %other : f32
        scf.yield %total : f32
      } {cute.unroll}
      scf.if %speaks {
        cute.memref.store(%sums, %warp, %warp_sum)
      }
      gpu.barrier
      %all_sums = cute.tiled.copy.partition_S(%gather, %sums, %alone)
      %sums_frag = cute.memref.alloca() : !gather_frag
      cute.copy(%gather, %all_sums, %sums_frag)
      %warp_sums = cute.memref.load_vec %sums_frag
      %sum = vector.reduction <add>, %warp_sums : vector<8xf32> into f32

      // The sum is between 1 and 4096, so that an approximate reciprocal is exact to the last bit but one; a division would take longer.
      %inverse = llvm.call_intrinsic "llvm.nvvm.rcp.approx.ftz.f"(%sum) : (f32) -> f32
      %inverses = vector.broadcast %inverse : f32 to vector<16xf32>
      %p = arith.mulf %e, %inverses : vector<16xf32>
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
    %rows32 = cute.get_scalars <{only_dynamic}>(%layout)
    %rows = arith.index_cast %rows32 : i32 to index
    gpu.launch_func @kernels::@softmax_kernel blocks in (%rows, %c1, %c1) threads in (%c256, %c1, %c1)
      dynamic_shared_memory_size %smem args(%X : !X, %Y : !X)
    return
  }
}
