!T = !cute.memref<f32, gmem, align<16>, "(?,?):(?{i64 div=4},1)">
!C = !cute.coord_tensor<"(0,0)", "(?,?):(1@0,1@1)">
!tiler = !cute.tile<"[64:1;128:1]">
!at_block = !cute.coord<"(?,?)">
!at_thread = !cute.coord<"?">
!tile = !cute.memref<f32, gmem, align<16>, "(64,128):(?{i64 div=4},1)">
!tileC = !cute.coord_tensor<"(?,?)", "(64,128):(1@0,1@1)">
!vec = !cute_nvgpu.atom.universal_copy<f32, 128 b>
!one = !cute_nvgpu.atom.universal_copy<f32, 32 b>
!copy = !cute.tiled_copy<!vec, layout_copy_tv = <"((32,8),4):((32,1),8)">, tiler_mn = <"[8:1;128:1]">>
!copy1 = !cute.tiled_copy<!one, layout_copy_tv = <"((32,8),4):((32,1),8)">, tiler_mn = <"[8:1;128:1]">>
!part = !cute.memref<f32, gmem, align<16>, "((4,1),8,1):((1,4),?{i64 div=32},0)">
!part1 = !cute.memref<f32, gmem, align<16>, "((1,4),8,1):((0,1),?{i64 div=32},0)">
!partC = !cute.coord_tensor<"(?,?)", "((1,4),8,1):((0,1@1),8@0,0)">
!frag = !cute.memref<f32, rmem, align<16>, "((4,1),8,1):((1,0),4,0)">
!frag1 = !cute.memref<f32, rmem, align<16>, "((1,4),8,1):((0,1),4,0)">
!pred = !cute.memref<i1, rmem, "(4,8,1):(1,4,0)">

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @copy_if_kernel(%S: !T, %D: !T) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
      %bx = gpu.block_id x
      %by = gpu.block_id y
      %tx = gpu.thread_id x
      %bx32 = arith.index_cast %bx : index to i32
      %by32 = arith.index_cast %by : index to i32
      %tx32 = arith.index_cast %tx : index to i32
      %block = cute.make_coord(%bx32, %by32) : (i32, i32) -> !at_block
      %thread = cute.make_coord(%tx32) : (i32) -> !at_thread
      %tiler = cute.static : !tiler
      %l = cute.get_layout(%S) : !T
      %shape = cute.get_shape(%l) : !cute.layout<"(?,?):(?{i64 div=4},1)"> -> !cute.shape<"(?,?)">
      %C = cute.make_identity_tensor(%shape : !cute.shape<"(?,?)">) : !C
      %gS = cute.local_tile(%S, %tiler, %block) : (!T, !tiler, !at_block) -> !tile
      %gD = cute.local_tile(%D, %tiler, %block) : (!T, !tiler, !at_block) -> !tile
      %gC = cute.local_tile(%C, %tiler, %block) : (!C, !tiler, !at_block) -> !tileC

      %last = cute.static : !cute.coord<"(63,127)">
      %corner = cute.memref.load(%gC, %last) : (!tileC, !cute.coord<"(63,127)">) -> !cute.coord<"(?,?)">
      %whole = cute.elem_less(%corner, %shape) : !cute.coord<"(?,?)">, !cute.shape<"(?,?)">
      scf.if %whole {
        %vec = cute.make_atom() : () -> !vec
        %copy = cute.make_tiled_copy(%vec) : !copy
        %tS = cute.tiled.copy.partition_S(%copy, %gS, %thread) : (!copy, !tile, !at_thread) -> !part
        %tD = cute.tiled.copy.partition_D(%copy, %gD, %thread) : (!copy, !tile, !at_thread) -> !part
        %frag = cute.memref.alloca() : !frag
        cute.copy(%copy, %tS, %frag) : (!copy, !part, !frag)
        cute.copy(%copy, %frag, %tD) : (!copy, !frag, !part)
      } else {
        %one = cute.make_atom() : () -> !one
        %copy = cute.make_tiled_copy(%one) : !copy1
        %tS = cute.tiled.copy.partition_S(%copy, %gS, %thread) : (!copy1, !tile, !at_thread) -> !part1
        %tD = cute.tiled.copy.partition_D(%copy, %gD, %thread) : (!copy1, !tile, !at_thread) -> !part1
        %tC = cute.tiled.copy.partition_S(%copy, %gC, %thread) : (!copy1, !tileC, !at_thread) -> !partC
        %pred = cute.memref.alloca() : !pred
        %c0 = arith.constant 0 : i32
        %c1 = arith.constant 1 : i32
        %c4 = arith.constant 4 : i32
        %c8 = arith.constant 8 : i32
        scf.for %m = %c0 to %c8 step %c1 : i32 {
          scf.for %n = %c0 to %c4 step %c1 : i32 {
            %at = cute.make_coord(%n, %m) : (i32, i32) -> !cute.coord<"((0,?),?,0)">
            %c = cute.memref.load(%tC, %at) : (!partC, !cute.coord<"((0,?),?,0)">) -> !cute.coord<"(?,?)">
            %within = cute.elem_less(%c, %shape) : !cute.coord<"(?,?)">, !cute.shape<"(?,?)">
            %p = cute.make_coord(%n, %m) : (i32, i32) -> !cute.coord<"(?,?,0)">
            cute.memref.store(%pred, %p, %within) : (!pred, !cute.coord<"(?,?,0)">, i1) -> ()
          } {cute.unroll}
        } {cute.unroll}
        %frag = cute.memref.alloca() : !frag1
        cute.clear(%frag) : (!frag1)
        cute.copy(%copy, %tS, %frag, %pred) : (!copy1, !part1, !frag1, !pred)
        cute.copy(%copy, %frag, %tD, %pred) : (!copy1, !frag1, !part1, !pred)
      }
      gpu.return
    }
  }
  func.func @copy_if(%S: !T, %D: !T) attributes {cute.computes = [{copy = array<i64: 0, 1>}]} {
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %c256 = arith.constant 256 : index
    %smem = arith.constant 0 : i32
    %l = cute.get_layout(%S) : !T
    %m32, %n32, %ld = cute.get_scalars <{only_dynamic}>(%l) : !cute.layout<"(?,?):(?{i64 div=4},1)">
    %m = arith.index_cast %m32 : i32 to index
    %n = arith.index_cast %n32 : i32 to index
    %gm = arith.ceildivsi %m, %c64 : index
    %gn = arith.ceildivsi %n, %c128 : index
    gpu.launch_func @kernels::@copy_if_kernel blocks in (%gm, %gn, %c1) threads in (%c256, %c1, %c1) dynamic_shared_memory_size %smem args(%S : !T, %D : !T)
    return
  }
}
