!S = !cute.memref<f32, gmem, align<16>, "(?{div=64},?{div=64}):(?{i64 div=64},1)">
!gS = !cute.memref<f32, gmem, align<16>, "(64,64):(?{i64 div=64},1)">
!tS = !cute.memref<f32, gmem, align<16>, "((4,1),2,2):((1,4),?{i64 div=2048},32)">
!s = !cute.memref<f32, smem, align<8192>, S<3,4,6>, "(64,64):(64,1)">
!st = !cute.memref<f32, smem, align<8192>, S<3,4,6>, "(64,64):(1,64)">
!atom = !cute_nvgpu.atom.universal_copy<f32, 128 b>
!one = !cute_nvgpu.atom.universal_copy<f32, 32 b>
!copy = !cute.tiled_copy<!atom, layout_copy_tv = <"((8,32),4):((128,1),32)">, tiler_mn = <"[32:1;32:1]">>
!scatter = !cute.tiled_copy<!one, layout_copy_tv = <"((8,32),4):((128,1),32)">, tiler_mn = <"[32:1;32:1]">>
!frag = !cute.memref<f32, rmem, align<16>, "((4,1),2,2):((1,0),4,8)">
!tst = !cute.memref<f32, smem, S<3,4,6>, "((1,4),2,2):((0,64),32,2048)">
!ts = !cute.memref<f32, smem, align<16>, S<3,4,6>, "((4,1),2,2):((1,4),2048,32)">
!frag1 = !cute.memref<f32, rmem, align<16>, "((1,4),2,2):((0,1),4,8)">

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @transpose_kernel(%S: !S, %D: !S) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
      %bx = gpu.block_id x
      %by = gpu.block_id y
      %tx = gpu.thread_id x
      %bx32 = arith.index_cast %bx : index to i32
      %by32 = arith.index_cast %by : index to i32
      %tx32 = arith.index_cast %tx : index to i32
      %from = cute.make_coord(%by32, %bx32) : (i32, i32) -> !cute.coord<"(?,?)">
      %to = cute.make_coord(%bx32, %by32) : (i32, i32) -> !cute.coord<"(?,?)">
      %thread = cute.make_coord(%tx32) : (i32) -> !cute.coord<"?">
      %tile = cute.static : !cute.tile<"[64:1;64:1]">
      %gS = cute.local_tile(%S, %tile, %from) : (!S, !cute.tile<"[64:1;64:1]">, !cute.coord<"(?,?)">) -> !gS
      %gD = cute.local_tile(%D, %tile, %to) : (!S, !cute.tile<"[64:1;64:1]">, !cute.coord<"(?,?)">) -> !gS
      %s = cute.memref.alloca() : !s
      %p = cute.get_iter(%s) : !s
      %lt = cute.static : !cute.layout<"(64,64):(1,64)">
      %st = cute.make_view(%p, %lt) : !st
      %atom = cute.make_atom() : () -> !atom
      %one = cute.make_atom() : () -> !one
      %copy = cute.make_tiled_copy(%atom) : !copy
      %scatter = cute.make_tiled_copy(%one) : !scatter
      %tgS = cute.tiled.copy.partition_S(%copy, %gS, %thread) : (!copy, !gS, !cute.coord<"?">) -> !tS
      %tsS = cute.tiled.copy.partition_D(%scatter, %st, %thread) : (!scatter, !st, !cute.coord<"?">) -> !tst
      %tsD = cute.tiled.copy.partition_S(%copy, %s, %thread) : (!copy, !s, !cute.coord<"?">) -> !ts
      %tgD = cute.tiled.copy.partition_D(%copy, %gD, %thread) : (!copy, !gS, !cute.coord<"?">) -> !tS
      %frag = cute.memref.alloca() : !frag
      %frag1 = cute.memref.alloca() : !frag1
      cute.copy(%copy, %tgS, %frag) : (!copy, !tS, !frag)
      %v = cute.memref.load_vec %frag : !frag
      cute.memref.store_vec %v, %frag1 : vector<16xf32>, !frag1
      cute.copy(%scatter, %frag1, %tsS) : (!scatter, !frag1, !tst)
      gpu.barrier
      %frag2 = cute.memref.alloca() : !frag
      cute.copy(%copy, %tsD, %frag2) : (!copy, !ts, !frag)
      cute.copy(%copy, %frag2, %tgD) : (!copy, !frag, !tS)
      gpu.return
    }
  }
  func.func @transpose(%S: !S, %D: !S) attributes {cute.computes = [{transpose = array<i64: 0, 1>}]} {
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c256 = arith.constant 256 : index
    %smem = arith.constant 0 : i32
    %l = cute.get_layout(%S) : !S
    %m32, %n32, %ld = cute.get_scalars <{only_dynamic}>(%l) : !cute.layout<"(?{div=64},?{div=64}):(?{i64 div=64},1)">
    %m = arith.index_cast %m32 : i32 to index
    %n = arith.index_cast %n32 : i32 to index
    %gm = arith.divsi %m, %c64 : index
    %gn = arith.divsi %n, %c64 : index
    gpu.launch_func @kernels::@transpose_kernel blocks in (%gn, %gm, %c1) threads in (%c256, %c1, %c1) dynamic_shared_memory_size %smem args(%S : !S, %D : !S)
    return
  }
}
