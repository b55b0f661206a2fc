!T = !cute.memref<f32, gmem, align<16>, "(?{div=128},?{div=64}):(1,?{i64 div=128})">
!tile = !cute.memref<f32, gmem, align<16>, "(128,64):(1,?{i64 div=128})">
!part = !cute.memref<f32, gmem, align<16>, "((4,1),1,8):((1,?{i64 div=128}),128,?{i64 div=1024})">
!frag = !cute.memref<f32, rmem, align<16>, "((4,1),1,8):((1,0),0,4)">
!atom = !cute_nvgpu.atom.universal_copy<f32, 128 b>
!copy = !cute.tiled_copy<!atom, layout_copy_tv = <"((32,8),4):((4,128),1)">, tiler_mn = <"[128:1;8:1]">>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @copy_kernel(%S: !T, %D: !T) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
      %bx = gpu.block_id x
      %by = gpu.block_id y
      %tx = gpu.thread_id x
      %bx32 = arith.index_cast %bx : index to i32
      %by32 = arith.index_cast %by : index to i32
      %tx32 = arith.index_cast %tx : index to i32
      %block = cute.make_coord(%bx32, %by32) : (i32, i32) -> !cute.coord<"(?,?)">
      %thread = cute.make_coord(%tx32) : (i32) -> !cute.coord<"?">
      %tile = cute.static : !cute.tile<"[128:1;64:1]">
      %gS = cute.local_tile(%S, %tile, %block) : (!T, !cute.tile<"[128:1;64:1]">, !cute.coord<"(?,?)">) -> !tile
      %gD = cute.local_tile(%D, %tile, %block) : (!T, !cute.tile<"[128:1;64:1]">, !cute.coord<"(?,?)">) -> !tile
      %atom = cute.make_atom() : () -> !atom
      %copy = cute.make_tiled_copy(%atom) : !copy
      %tS = cute.tiled.copy.partition_S(%copy, %gS, %thread) : (!copy, !tile, !cute.coord<"?">) -> !part
      %tD = cute.tiled.copy.partition_D(%copy, %gD, %thread) : (!copy, !tile, !cute.coord<"?">) -> !part
      %frag = cute.memref.alloca() : !frag
      cute.copy(%copy, %tS, %frag) : (!copy, !part, !frag)
      cute.copy(%copy, %frag, %tD) : (!copy, !frag, !part)
      gpu.return
    }
  }
  func.func @copy(%S: !T, %D: !T) attributes {cute.computes = [{copy = array<i64: 0, 1>}]} {
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %c256 = arith.constant 256 : index
    %s = arith.constant 0 : i32
    %l = cute.get_layout(%S) : !T
    %m32, %n32, %ld = cute.get_scalars <{only_dynamic}>(%l) : !cute.layout<"(?{div=128},?{div=64}):(1,?{i64 div=128})">
    %m = arith.index_cast %m32 : i32 to index
    %n = arith.index_cast %n32 : i32 to index
    %gm = arith.divsi %m, %c128 : index
    %gn = arith.divsi %n, %c64 : index
    gpu.launch_func @kernels::@copy_kernel blocks in (%gm, %gn, %c1) threads in (%c256, %c1, %c1) dynamic_shared_memory_size %s args(%S : !T, %D : !T)
    return
  }
}
