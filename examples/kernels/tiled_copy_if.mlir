!T = !cute.memref<f32, gmem, align<16>, "(528,328):(1,528)">
!C = !cute.coord_tensor<"(0,0)", "(528,328):(1@0,1@1)">
!tile = !cute.memref<f32, gmem, align<16>, "(128,64):(1,528)">
!tileC = !cute.coord_tensor<"(?,?)", "(128,64):(1@0,1@1)">
!part = !cute.memref<f32, gmem, align<16>, "((4,1),1,8):((1,4),128,4224)">
!partC = !cute.coord_tensor<"(?,?)", "((4,1),1,8):((1@0,1@1),128@0,8@1)">
!frag = !cute.memref<f32, rmem, align<16>, "((4,1),1,8):((1,0),0,4)">
!pred = !cute.memref<i1, rmem, "(1,1,8):(0,0,1)">
!atom = !cute_nvgpu.atom.universal_copy<f32, 128 b>
!copy = !cute.tiled_copy<!atom, layout_copy_tv = <"((32,8),4):((4,128),1)">, tiler_mn = <"[128:1;8:1]">>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @copy_if_kernel(%S: !T, %D: !T) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
      %bx = gpu.block_id x
      %by = gpu.block_id y
      %tx = gpu.thread_id x
      %bx32 = arith.index_cast %bx : index to i32
      %by32 = arith.index_cast %by : index to i32
      %tx32 = arith.index_cast %tx : index to i32
      %block = cute.make_coord(%bx32, %by32) : (i32, i32) -> !cute.coord<"(?,?)">
      %thread = cute.make_coord(%tx32) : (i32) -> !cute.coord<"?">
      %tile = cute.static : !cute.tile<"[128:1;64:1]">
      %shape = cute.static : !cute.shape<"(528,328)">
      %C = cute.make_identity_tensor(%shape : !cute.shape<"(528,328)">) : !C
      %gS = cute.local_tile(%S, %tile, %block) : (!T, !cute.tile<"[128:1;64:1]">, !cute.coord<"(?,?)">) -> !tile
      %gD = cute.local_tile(%D, %tile, %block) : (!T, !cute.tile<"[128:1;64:1]">, !cute.coord<"(?,?)">) -> !tile
      %gC = cute.local_tile(%C, %tile, %block) : (!C, !cute.tile<"[128:1;64:1]">, !cute.coord<"(?,?)">) -> !tileC
      %atom = cute.make_atom() : () -> !atom
      %copy = cute.make_tiled_copy(%atom) : !copy
      %tS = cute.tiled.copy.partition_S(%copy, %gS, %thread) : (!copy, !tile, !cute.coord<"?">) -> !part
      %tD = cute.tiled.copy.partition_D(%copy, %gD, %thread) : (!copy, !tile, !cute.coord<"?">) -> !part
      %tC = cute.tiled.copy.partition_S(%copy, %gC, %thread) : (!copy, !tileC, !cute.coord<"?">) -> !partC
      %pred = cute.memref.alloca() : !pred
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %c8 = arith.constant 8 : i32
      scf.for %n = %c0 to %c8 step %c1 : i32 {
        %at = cute.make_coord(%n) : (i32) -> !cute.coord<"((0,0),0,?)">
        %c = cute.memref.load(%tC, %at) : (!partC, !cute.coord<"((0,0),0,?)">) -> !cute.coord<"(?,?)">
        %within = cute.elem_less(%c, %shape) : !cute.coord<"(?,?)">, !cute.shape<"(528,328)">
        %p = cute.make_coord(%n) : (i32) -> !cute.coord<"(0,0,?)">
        cute.memref.store(%pred, %p, %within) : (!pred, !cute.coord<"(0,0,?)">, i1) -> ()
      } {cute.unroll}
      %frag = cute.memref.alloca() : !frag
      cute.clear(%frag) : (!frag)
      cute.copy(%copy, %tS, %frag, %pred) : (!copy, !part, !frag, !pred)
      cute.copy(%copy, %frag, %tD, %pred) : (!copy, !frag, !part, !pred)
      gpu.return
    }
  }
  func.func @copy_if(%S: !T, %D: !T) attributes {cute.computes = [{copy = array<i64: 0, 1>}]} {
    %c1 = arith.constant 1 : index
    %c5 = arith.constant 5 : index
    %c6 = arith.constant 6 : index
    %c256 = arith.constant 256 : index
    %s = arith.constant 0 : i32
    gpu.launch_func @kernels::@copy_if_kernel blocks in (%c5, %c6, %c1) threads in (%c256, %c1, %c1) dynamic_shared_memory_size %s args(%S : !T, %D : !T)
    return
  }
}
