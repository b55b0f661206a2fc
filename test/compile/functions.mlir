// A kernel whose steps are functions on tensors, tiled copies and layouts, some of them generic: right on the emulator, and the code of the kernel that is
// written in one piece.
//
// RUN: cute-opt %s --cute-compile="arch=sm_90a package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator --seeds 2 --function by_functions --shape src=256x128 --shape dst=256x128
// RUN: cute-run %t.cutepkg --emit ptx --to %t.ptx
// RUN: grep -v -E '^[[:space:]]*\.(loc|file)|^//|\[param2\], [0-9]+;|callseq' %t.ptx | sed -n '/entry by_functions/,/^}/p' | sed -E 's/by_functions_kernel|BB[0-9]+_//g' > %t.functions
// RUN: grep -v -E '^[[:space:]]*\.(loc|file)|^//|\[param2\], [0-9]+;|callseq' %t.ptx | sed -n '/entry in_one_piece/,/^}/p' | sed -E 's/in_one_piece_kernel|BB[0-9]+_//g' > %t.piece
// RUN: FileCheck %s --input-file=%t.functions
// RUN: diff %t.functions %t.piece
// CHECK: st.global
//
// The report is on lines of functions, with their calls.
// RUN: cute-opt %s --cute-inline --cute-report -o /dev/null 2>&1 | FileCheck %s --check-prefix=REPORT
// REPORT: functions.mlir:[[#LOAD:]]:7: remark: ld.global: a warp touches 16 sectors, ideal 16, and 4 lines, ideal 4
// REPORT: functions.mlir:[[#]]:{{[0-9]+}}: note: called from

!T = !cute.memref<f32, gmem, align<16>, "(?{div=128},?{div=64}):(1,?{i64 div=128})">
!tile = !cute.memref<f32, gmem, align<16>, "(128,64):(1,?{i64 div=128})">
!copy = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f32, 128 b>, layout_copy_tv = <"((32,8),4):((4,128),1)">, tiler_mn = <"[128:1;8:1]">>
!frag = !cute.memref<f32, rmem, align<16>, "((4,1),1,8):((1,0),0,4)">
!block = !cute.coord<"(?,?)">
!thread = !cute.coord<"?">

module attributes {gpu.container_module} {
  gpu.module @kernels {
    func.func private @block() -> !block {
      %bx = gpu.block_id x
      %by = gpu.block_id y
      %bx32 = arith.index_cast %bx : index to i32
      %by32 = arith.index_cast %by : index to i32
      %block = cute.make_coord(%bx32, %by32)
      return %block : !block
    }
    func.func private @tile(%tensor: !cute.any, %tiler: !cute.any, %block: !block) -> !cute.any {
      %tile = cute.local_tile(%tensor, %tiler, %block)
      return %tile : !cute.any
    }
    func.func private @load(%copy: !copy, %tile: !tile, %thread: !thread) -> !frag {
      %from = cute.tiled.copy.partition_S(%copy, %tile, %thread)
      %frag = cute.memref.alloca() : !frag
      cute.copy(%copy, %from, %frag)
      return %frag : !frag
    }
    // Of any types, which each call gives.
    func.func private @store(%copy: !cute.any, %frag: !cute.any, %tile: !cute.any, %thread: !thread) {
      %to = cute.tiled.copy.partition_D(%copy, %tile, %thread)
      cute.copy(%copy, %frag, %to)
      return
    }
    gpu.func @by_functions_kernel(%S: !T, %D: !T) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
      %tx = gpu.thread_id x
      %tx32 = arith.index_cast %tx : index to i32
      %thread = cute.make_coord(%tx32)
      %block = cute.call @block()
      %tiler = cute.static "[128:1;64:1]"
      %gS = cute.call @tile(%S, %tiler, %block)
      %gD = cute.call @tile(%D, %tiler, %block)
      %copy = cute.static : !copy
      %frag = cute.call @load(%copy, %gS, %thread)
      cute.call @store(%copy, %frag, %gD, %thread)
      gpu.return
    }
    gpu.func @in_one_piece_kernel(%S: !T, %D: !T) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
      %tx = gpu.thread_id x
      %bx = gpu.block_id x
      %by = gpu.block_id y
      %bx32 = arith.index_cast %bx : index to i32
      %by32 = arith.index_cast %by : index to i32
      %tx32 = arith.index_cast %tx : index to i32
      %thread = cute.make_coord(%tx32)
      %block = cute.make_coord(%bx32, %by32)
      %tiler = cute.static "[128:1;64:1]"
      %gS = cute.local_tile(%S, %tiler, %block)
      %gD = cute.local_tile(%D, %tiler, %block)
      %copy = cute.static : !copy
      %tS = cute.tiled.copy.partition_S(%copy, %gS, %thread)
      %tD = cute.tiled.copy.partition_D(%copy, %gD, %thread)
      %frag = cute.memref.alloca() : !frag
      cute.copy(%copy, %tS, %frag)
      cute.copy(%copy, %frag, %tD)
      gpu.return
    }
  }
  func.func @by_functions(%src: !T {cute.name = "src"}, %dst: !T {cute.name = "dst"}) attributes {cute.computes = [{copy = array<i64: 0, 1>}]} {
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %c256 = arith.constant 256 : index
    %smem = arith.constant 0 : i32
    %layout = cute.get_layout(%src)
    %m32, %n32, %ld = cute.get_scalars <{only_dynamic}>(%layout)
    %m = arith.index_cast %m32 : i32 to index
    %n = arith.index_cast %n32 : i32 to index
    %across = arith.divsi %m, %c128 : index
    %along = arith.divsi %n, %c64 : index
    gpu.launch_func @kernels::@by_functions_kernel blocks in (%across, %along, %c1) threads in (%c256, %c1, %c1)
      dynamic_shared_memory_size %smem args(%src : !T, %dst : !T)
    return
  }
  func.func @in_one_piece(%src: !T {cute.name = "src"}, %dst: !T {cute.name = "dst"}) attributes {cute.computes = [{copy = array<i64: 0, 1>}]} {
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %c256 = arith.constant 256 : index
    %smem = arith.constant 0 : i32
    %layout = cute.get_layout(%src)
    %m32, %n32, %ld = cute.get_scalars <{only_dynamic}>(%layout)
    %m = arith.index_cast %m32 : i32 to index
    %n = arith.index_cast %n32 : i32 to index
    %across = arith.divsi %m, %c128 : index
    %along = arith.divsi %n, %c64 : index
    gpu.launch_func @kernels::@in_one_piece_kernel blocks in (%across, %along, %c1) threads in (%c256, %c1, %c1)
      dynamic_shared_memory_size %smem args(%src : !T, %dst : !T)
    return
  }
}
