// Each function of the library, in kernels that the emulator runs.
//
// RUN: cute-opt %s --cute-compile="arch=sm_90a package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --function=softmax --device=emulator --seeds 3 --shape x=3x1024 --shape out=3x1024
// RUN: cute-run %t.cutepkg --function=copied --device=emulator --seeds 3
// RUN: cute-opt %s --cute-compile="arch=sm_80 set=WARPS=3,T=f16,V=8 package=%t.3.cutepkg" -o /dev/null
// RUN: cute-run %t.3.cutepkg --function=softmax --device=emulator --seeds 3 --shape x=3x384 --shape out=3x384
// RUN: cute-run %t.3.cutepkg --function=copied --device=emulator --seeds 3

!X = !cute.memref<f32, gmem, align<16>, "(?,$(128*WARPS)):($(128*WARPS),1)">
!rows = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f32, 128 b>, layout_copy_tv = <"($(32*WARPS),4):(4,1)">, tiler_mn = <"[$(128*WARPS):1]">>
!row = !cute.memref<f32, rmem, align<16>, "((4,1),1):((1,0),0)">
!exchange = !cute.memref<f32, smem, "$WARPS:1">
!M = !cute.memref<!cute.param<"T">, gmem, align<16>, "(256,64):(1,256)">
!tiles = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<!cute.param<"T">, 128 b>, layout_copy_tv = <"((32,8),$V):(($V,$(32*V)),1)">, tiler_mn = <"[$(32*V):1;8:1]">>
!frag = !cute.memref<!cute.param<"T">, rmem, align<16>, "(($V,1),1,8):((1,0),0,$V)">

module attributes {gpu.container_module, cute.parameters = {WARPS = 8, T = f32, V = 4}} {
  gpu.module @kernels {
    cute.import "std/reduce"
    cute.import "std/copy"

    // A row for each block; a warp has 128 elements of it.
    gpu.func @softmax_kernel(%X: !X, %Y: !X) kernel attributes {
        cute.given = {known_block_size = [#cute.param<"32*WARPS">, 1 : i32, 1 : i32]}} {
      %bx = gpu.block_id x
      %tx = gpu.thread_id x
      %bx32 = arith.index_cast %bx : index to i32
      %tx32 = arith.index_cast %tx : index to i32
      %at = cute.make_coord(%bx32, _)
      %thread = cute.make_coord(%tx32)
      %x = cute.slice(%X, %at)
      %y = cute.slice(%Y, %at)
      %copy = cute.static : !rows
      %frag = cute.memref.alloca() : !row
      cute.call @load_tile(%copy, %x, %frag, %thread)
      %v = cute.memref.load_vec %frag
      %largest = vector.reduction <maximumf>, %v : vector<4xf32> into f32
      %maxima = cute.memref.alloca() : !exchange
      %max = cute.call @block_max<{WARPS = #cute.param<"WARPS">}>(%largest, %maxima, %tx32) -> f32
      %maxs = vector.broadcast %max : f32 to vector<4xf32>
      %less = arith.subf %v, %maxs : vector<4xf32>
      %e = math.exp %less : vector<4xf32>
      %part = vector.reduction <add>, %e : vector<4xf32> into f32
      %sums = cute.memref.alloca() : !exchange
      %sum = cute.call @block_sum<{WARPS = #cute.param<"WARPS">}>(%part, %sums, %tx32) -> f32
      %all = vector.broadcast %sum : f32 to vector<4xf32>
      %p = arith.divf %e, %all : vector<4xf32>
      cute.memref.store_vec %p, %frag
      cute.call @store_tile(%copy, %frag, %y, %thread)
      gpu.return
    }

    gpu.func @copy_kernel(%S: !M {cute.noalias}, %D: !M {cute.noalias}) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
      %bx = gpu.block_id x
      %tx = gpu.thread_id x
      %zero = arith.constant 0 : i32
      %bx32 = arith.index_cast %bx : index to i32
      %tx32 = arith.index_cast %tx : index to i32
      %block = cute.make_coord(%bx32, %zero)
      %thread = cute.make_coord(%tx32)
      %shape = cute.static shape "(256,64)"
      %C = cute.make_identity_tensor(%shape)
      %tiler = cute.static "[$(32*V):1;64:1]"
      %gS = cute.local_tile(%S, %tiler, %block)
      %gD = cute.local_tile(%D, %tiler, %block)
      %gC = cute.local_tile(%C, %tiler, %block)
      %copy = cute.static : !tiles
      %pred = cute.memref.alloca() : !cute.memref<i1, rmem, "((1),1,8):((0),0,1)">
      cute.call @vectors_within(%copy, %gC, %shape, %pred, %thread)
      %frag = cute.memref.alloca() : !frag
      cute.call @load_tile_if(%copy, %pred, %gS, %frag, %thread)
      cute.call @store_tile_if(%copy, %pred, %frag, %gD, %thread)
      gpu.return
    }
  }

  func.func @softmax(%X: !X, %Y: !X) attributes {cute.computes = [{softmax = array<i64: 0, 1>}]} {
    %c1 = arith.constant 1 : index
    %threads = cute.param "32*WARPS" : index
    %smem = arith.constant 0 : i32
    %layout = cute.get_layout(%X)
    %rows32 = cute.get_scalars <{only_dynamic}>(%layout) -> i32
    %rows = arith.index_cast %rows32 : i32 to index
    gpu.launch_func @kernels::@softmax_kernel blocks in (%rows, %c1, %c1) threads in (%threads, %c1, %c1)
      dynamic_shared_memory_size %smem args(%X : !X, %Y : !X)
    return
  }

  // A tile more than there is.
  func.func @copied(%S: !M, %D: !M) attributes {cute.computes = [{copy = array<i64: 0, 1>}]} {
    %c1 = arith.constant 1 : index
    %c256 = arith.constant 256 : index
    %blocks = cute.param "256/(32*V) + 1" : index
    %smem = arith.constant 0 : i32
    gpu.launch_func @kernels::@copy_kernel blocks in (%blocks, %c1, %c1) threads in (%c256, %c1, %c1)
      dynamic_shared_memory_size %smem args(%S : !M, %D : !M)
    return
  }
}
