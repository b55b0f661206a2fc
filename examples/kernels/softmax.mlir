!X = !cute.memref<f32, gmem, align<16>, "(?,4096):(4096,1)">
!row = !cute.memref<f32, gmem, align<16>, "4096:1">
!part = !cute.memref<f32, gmem, align<16>, "((4,1),4):((1,4),1024)">
!frag = !cute.memref<f32, rmem, align<16>, "((4,1),4):((1,0),4)">
!exchange = !cute.memref<f32, smem, align<16>, "(8,2):(1,8)">
!partial = !cute.memref<f32, smem, align<16>, "8:1">
!tpartial = !cute.memref<f32, smem, align<16>, "((4,1),2):((1,4),4)">
!partials = !cute.memref<f32, rmem, align<16>, "((4,1),2):((1,0),4)">
!atom = !cute_nvgpu.atom.universal_copy<f32, 128 b>
!copy = !cute.tiled_copy<!atom, layout_copy_tv = <"(256,4):(4,1)">, tiler_mn = <"[1024:1]">>
!gather = !cute.tiled_copy<!atom, layout_copy_tv = <"(1,4):(0,1)">, tiler_mn = <"[4:1]">>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @softmax_kernel(%X: !X, %Y: !X) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
      %bx = gpu.block_id x
      %tx = gpu.thread_id x
      %bx32 = arith.index_cast %bx : index to i32
      %tx32 = arith.index_cast %tx : index to i32
      %block = cute.make_coord(%bx32) : (i32) -> !cute.coord<"(?,_)">
      %thread = cute.make_coord(%tx32) : (i32) -> !cute.coord<"?">
      %x = cute.slice(%X, %block) : !X, !cute.coord<"(?,_)">
      %y = cute.slice(%Y, %block) : !X, !cute.coord<"(?,_)">
      %atom = cute.make_atom() : () -> !atom
      %copy = cute.make_tiled_copy(%atom) : !copy
      %tx_x = cute.tiled.copy.partition_S(%copy, %x, %thread) : (!copy, !row, !cute.coord<"?">) -> !part
      %tx_y = cute.tiled.copy.partition_D(%copy, %y, %thread) : (!copy, !row, !cute.coord<"?">) -> !part
      %frag = cute.memref.alloca() : !frag
      cute.copy(%copy, %tx_x, %frag) : (!copy, !part, !frag)
      %v = cute.memref.load_vec %frag : !frag

      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %c5 = arith.constant 5 : i32
      %c16 = arith.constant 16 : i32
      %c32 = arith.constant 32 : i32
      %lane = arith.remui %tx32, %c32 : i32
      %warp32 = arith.divui %tx32, %c32 : i32
      %warp = cute.make_coord(%warp32) : (i32) -> !cute.coord<"?">
      %first = arith.cmpi eq, %lane, %c0 : i32
      %gather = cute.make_tiled_copy(%atom) : !gather
      %all = cute.static : !cute.coord<"0">

      %thread_max = vector.reduction <maximumf>, %v : vector<16xf32> into f32
      %warp_max = scf.for %i = %c0 to %c5 step %c1 iter_args(%m = %thread_max) -> (f32) : i32 {
        %offset = arith.shrui %c16, %i : i32
        %other, %valid = gpu.shuffle xor %m, %offset, %c32 : f32
        %larger = arith.maximumf %m, %other : f32
        scf.yield %larger : f32
      } {cute.unroll}
      %exchange = cute.memref.alloca() : !exchange
      %to_0 = cute.static : !cute.coord<"(_,0)">
      %to_1 = cute.static : !cute.coord<"(_,1)">
      %maxima = cute.slice(%exchange, %to_0) : !exchange, !cute.coord<"(_,0)">
      %sums = cute.slice(%exchange, %to_1) : !exchange, !cute.coord<"(_,1)">
      scf.if %first {
        cute.memref.store(%maxima, %warp, %warp_max) : (!partial, !cute.coord<"?">, f32) -> ()
      }
      gpu.barrier
      %tx_maxima = cute.tiled.copy.partition_S(%gather, %maxima, %all) : (!gather, !partial, !cute.coord<"0">) -> !tpartial
      %r_maxima = cute.memref.alloca() : !partials
      cute.copy(%gather, %tx_maxima, %r_maxima) : (!gather, !tpartial, !partials)
      %warp_maxima = cute.memref.load_vec %r_maxima : !partials
      %max = vector.reduction <maximumf>, %warp_maxima : vector<8xf32> into f32

      %log2e = arith.constant 1.44269502 : f32
      %log2es = vector.broadcast %log2e : f32 to vector<16xf32>
      %scaled = arith.mulf %max, %log2e : f32
      %minus = arith.negf %scaled : f32
      %minuses = vector.broadcast %minus : f32 to vector<16xf32>
      %exponents = math.fma %v, %log2es, %minuses : vector<16xf32>
      %e = math.exp2 %exponents : vector<16xf32>

      %thread_sum = vector.reduction <add>, %e : vector<16xf32> into f32
      %warp_sum = scf.for %i = %c0 to %c5 step %c1 iter_args(%m = %thread_sum) -> (f32) : i32 {
        %offset = arith.shrui %c16, %i : i32
        %other, %valid = gpu.shuffle xor %m, %offset, %c32 : f32
        %total = arith.addf %m, %other : f32
        scf.yield %total : f32
      } {cute.unroll}
      scf.if %first {
        cute.memref.store(%sums, %warp, %warp_sum) : (!partial, !cute.coord<"?">, f32) -> ()
      }
      gpu.barrier
      %tx_sums = cute.tiled.copy.partition_S(%gather, %sums, %all) : (!gather, !partial, !cute.coord<"0">) -> !tpartial
      %r_sums = cute.memref.alloca() : !partials
      cute.copy(%gather, %tx_sums, %r_sums) : (!gather, !tpartial, !partials)
      %warp_sums = cute.memref.load_vec %r_sums : !partials
      %sum = vector.reduction <add>, %warp_sums : vector<8xf32> into f32

      %inverse = llvm.call_intrinsic "llvm.nvvm.rcp.approx.ftz.f"(%sum) : (f32) -> f32
      %inverses = vector.broadcast %inverse : f32 to vector<16xf32>
      %p = arith.mulf %e, %inverses : vector<16xf32>
      cute.memref.store_vec %p, %frag : vector<16xf32>, !frag
      cute.copy(%copy, %frag, %tx_y) : (!copy, !frag, !part)
      gpu.return
    }
  }
  func.func @softmax(%X: !X, %Y: !X) attributes {cute.computes = [{softmax = array<i64: 0, 1>}]} {
    %c1 = arith.constant 1 : index
    %c256 = arith.constant 256 : index
    %s = arith.constant 0 : i32
    %l = cute.get_layout(%X) : !X
    %rows32 = cute.get_scalars <{only_dynamic}>(%l) : !cute.layout<"(?,4096):(4096,1)">
    %rows = arith.index_cast %rows32 : i32 to index
    gpu.launch_func @kernels::@softmax_kernel blocks in (%rows, %c1, %c1) threads in (%c256, %c1, %c1) dynamic_shared_memory_size %s args(%X : !X, %Y : !X)
    return
  }
}
