!X = !cute.memref<f16, gmem, align<16>, "(?,4096):(4096,1)">
!row = !cute.memref<f16, gmem, align<16>, "4096:1">
!part = !cute.memref<f16, gmem, align<16>, "((8,1),2):((1,8),2048)">
!frag = !cute.memref<f16, rmem, align<16>, "((8,1),2):((1,0),8)">
!partial = !cute.memref<f32, smem, align<16>, "8:1">
!tpartial = !cute.memref<f32, smem, align<16>, "((4,1),2):((1,4),4)">
!partials = !cute.memref<f32, rmem, align<16>, "((4,1),2):((1,0),4)">
!atom = !cute_nvgpu.atom.universal_copy<f16, 128 b>
!copy = !cute.tiled_copy<!atom, layout_copy_tv = <"(256,8):(8,1)">, tiler_mn = <"[2048:1]">>
!atom_f32 = !cute_nvgpu.atom.universal_copy<f32, 128 b>
!gather = !cute.tiled_copy<!atom_f32, layout_copy_tv = <"(1,4):(0,1)">, tiler_mn = <"[4:1]">>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @rms_norm_kernel(%X: !X, %W: !row, %Y: !X, %epsilon: f32) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
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
      %tx_w = cute.tiled.copy.partition_S(%copy, %W, %thread) : (!copy, !row, !cute.coord<"?">) -> !part
      %tx_y = cute.tiled.copy.partition_D(%copy, %y, %thread) : (!copy, !row, !cute.coord<"?">) -> !part
      %frag_x = cute.memref.alloca() : !frag
      %frag_w = cute.memref.alloca() : !frag
      cute.copy(%copy, %tx_x, %frag_x) : (!copy, !part, !frag)
      cute.copy(%copy, %tx_w, %frag_w) : (!copy, !part, !frag)
      %v16 = cute.memref.load_vec %frag_x : !frag
      %v = arith.extf %v16 : vector<16xf16> to vector<16xf32>
      %squares = arith.mulf %v, %v : vector<16xf32>
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %c5 = arith.constant 5 : i32
      %c16 = arith.constant 16 : i32
      %c32 = arith.constant 32 : i32
      %lane = arith.remui %tx32, %c32 : i32
      %warp32 = arith.divui %tx32, %c32 : i32
      %warp = cute.make_coord(%warp32) : (i32) -> !cute.coord<"?">
      %first = arith.cmpi eq, %lane, %c0 : i32
      %atom_f32 = cute.make_atom() : () -> !atom_f32
      %gather = cute.make_tiled_copy(%atom_f32) : !gather
      %all = cute.static : !cute.coord<"0">

      %thread_sum = vector.reduction <add>, %squares : vector<16xf32> into f32
      %warp_sum = scf.for %i = %c0 to %c5 step %c1 iter_args(%m = %thread_sum) -> (f32) : i32 {
        %offset = arith.shrui %c16, %i : i32
        %other, %valid = gpu.shuffle xor %m, %offset, %c32 : f32
        %total = arith.addf %m, %other : f32
        scf.yield %total : f32
      } {cute.unroll}
      %sums = cute.memref.alloca() : !partial
      scf.if %first {
        cute.memref.store(%sums, %warp, %warp_sum) : (!partial, !cute.coord<"?">, f32) -> ()
      }
      gpu.barrier
      %tx_sums = cute.tiled.copy.partition_S(%gather, %sums, %all) : (!gather, !partial, !cute.coord<"0">) -> !tpartial
      %r_sums = cute.memref.alloca() : !partials
      cute.copy(%gather, %tx_sums, %r_sums) : (!gather, !tpartial, !partials)
      %warp_sums = cute.memref.load_vec %r_sums : !partials
      %sum = vector.reduction <add>, %warp_sums : vector<8xf32> into f32

      %n = arith.constant 2.44140625e-04 : f32
      %mean = math.fma %sum, %n, %epsilon : f32
      %scale = math.rsqrt %mean : f32
      %scales = vector.broadcast %scale : f32 to vector<16xf32>
      %w16 = cute.memref.load_vec %frag_w : !frag
      %w = arith.extf %w16 : vector<16xf16> to vector<16xf32>
      %xs = arith.mulf %v, %scales : vector<16xf32>
      %xsw = arith.mulf %xs, %w : vector<16xf32>
      %out = arith.truncf %xsw : vector<16xf32> to vector<16xf16>
      %frag_y = cute.memref.alloca() : !frag
      cute.memref.store_vec %out, %frag_y : vector<16xf16>, !frag
      cute.copy(%copy, %frag_y, %tx_y) : (!copy, !frag, !part)
      gpu.return
    }
  }
  func.func @rms_norm(%X: !X, %W: !row, %Y: !X, %epsilon: f32) attributes {cute.computes = [{rms_norm = array<i64: 0, 1, 2>, epsilon = 3 : index}]} {
    %c1 = arith.constant 1 : index
    %c256 = arith.constant 256 : index
    %s = arith.constant 0 : i32
    %l = cute.get_layout(%X) : !X
    %rows32 = cute.get_scalars <{only_dynamic}>(%l) : !cute.layout<"(?,4096):(4096,1)">
    %rows = arith.index_cast %rows32 : i32 to index
    gpu.launch_func @kernels::@rms_norm_kernel blocks in (%rows, %c1, %c1) threads in (%c256, %c1, %c1) dynamic_shared_memory_size %s args(%X : !X, %W : !row, %Y : !X, %epsilon : f32)
    return
  }
}
