// Each function of the library, in kernels that the emulator runs.
//
// RUN: cute-opt %s --cute-compile="arch=sm_90a package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --function=softmax --device=emulator --seeds 3 --shape x=3x1024 --shape out=3x1024
// RUN: cute-run %t.cutepkg --function=copied --device=emulator --seeds 3
// RUN: cute-run %t.cutepkg --function=product --device=emulator --seeds 3 --set alpha=2 --set beta=0.5
// RUN: cute-run %t.cutepkg --function=attention --device=emulator --seeds 3
// RUN: cute-opt %s --cute-compile="arch=sm_80 set=WARPS=3,T=f16,V=8 package=%t.3.cutepkg" -o /dev/null
// RUN: cute-run %t.3.cutepkg --function=softmax --device=emulator --seeds 3 --shape x=3x384 --shape out=3x384
// RUN: cute-run %t.3.cutepkg --function=copied --device=emulator --seeds 3

!X = !cute.memref<f32, gmem, align<16>, "(?,$(128*WARPS)):($(128*WARPS),1)">
!rows = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f32, 128 b>, layout_copy_tv = <"($(32*WARPS),4):(4,1)">, tiler_mn = <"[$(128*WARPS):1]">>
!exchange = !cute.memref<f32, smem, "$WARPS:1">
!M = !cute.memref<!cute.param<"T">, gmem, align<16>, "(256,64):(1,256)">
!tiles = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<!cute.param<"T">, 128 b>, layout_copy_tv = <"((32,8),$V):(($V,$(32*V)),1)">, tiler_mn = <"[$(32*V):1;8:1]">>
!frag = !cute.memref<!cute.param<"T">, rmem, align<16>, "(($V,1),1,8):((1,0),0,$V)">
!A = !cute.memref<f16, gmem, align<16>, "(128,64):(64,1)">
!C = !cute.memref<f16, gmem, align<16>, "(128,128):(128,1)">
!shared = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64):(64,1)">
!async = !cute.tiled_copy<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, layout_copy_tv = <"((8,8),8):((64,1),8)">, tiler_mn = <"[8:1;64:1]">>
!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(2,1,1):(1,2,2)">, permutation_MNK = <"[32:1;16:1;16:1]">>
!ldmatrix = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
!ldmatrix_t = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, t>
!pair = !cute_nvgpu.atom.universal_copy<f16, 32 b>

module attributes {gpu.container_module, cute.parameters = {WARPS = 8, T = f32, V = 4}} {
  gpu.module @kernels {
    cute.import "std/index"
    cute.import "std/copy"
    cute.import "std/mma"
    cute.import "std/reduce"
    cute.import "std/softmax"

    // A row for each block; a warp has 128 elements of it.
    gpu.func @softmax_kernel(%X: !X, %Y: !X) kernel attributes {
        cute.given = {known_block_size = [#cute.param<"32*WARPS">, 1 : i32, 1 : i32]}} {
      %bx32 = cute.call @block_x() -> i32
      %tx32 = cute.call @thread_index() -> i32
      %at = cute.make_coord(%bx32, _)
      %thread = cute.make_coord(%tx32)
      %x = cute.slice(%X, %at)
      %y = cute.slice(%Y, %at)
      %copy = cute.static : !rows
      %v = cute.call @loaded_vec(%copy, %x, %thread) -> vector<4xf32>
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
      cute.call @store_vec(%copy, %p, %y, %thread)
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

    // A tile of C for each block of two warps, and all of K at once.
    gpu.func @product_kernel(%A: !A, %B: !A, %C: !C, %alpha: f32, %beta: f32) kernel attributes {known_block_size = array<i32: 64, 1, 1>, cute.synchronize} {
      %t = cute.call @thread()
      %m = cute.call @block_x() -> i32
      %n = cute.call @block_y() -> i32
      %tiler = cute.static "[64:1;64:1]"
      %at_A = cute.make_coord(%m, 0)
      %at_B = cute.make_coord(%n, 0)
      %at_C = cute.make_coord(%m, %n)
      %gA = cute.local_tile(%A, %tiler, %at_A)
      %gB = cute.local_tile(%B, %tiler, %at_B)
      %gC = cute.local_tile(%C, %tiler, %at_C)
      %iC, %MN = cute.call @coordinates(%C)
      %cC = cute.local_tile(%iC, %tiler, %at_C)
      %copy = cute.static : !async
      %mma = cute.static : !mma
      %ldmatrix = cute.make_atom() -> !ldmatrix
      %pair = cute.make_atom() -> !pair
      %copy_A = cute.mma.make_tiled_copy A (%mma, %ldmatrix)
      %copy_B = cute.mma.make_tiled_copy B (%mma, %ldmatrix)
      %copy_C = cute.mma.make_tiled_copy C (%mma, %pair)
      %sA = cute.memref.alloca() : !shared
      %sB = cute.memref.alloca() : !shared
      cute.call @copy_tile(%copy, %gA, %sA, %t)
      cute.call @copy_tile(%copy, %gB, %sB, %t)
      %shape = cute.static shape "(64,64)"
      %sums = cute.call @accumulators(%mma, %shape)
      cute.call @multiply_tiles(%mma, %copy_A, %sA, %copy_B, %sB, %sums, %t)
      cute.call @axpby_tile_within<{T = f16, PARTS = #cute.layout<"((2,2),2,2,4):((1,2),4,8,16)">}>(%copy_C, %alpha, %sums, %beta, %gC, %cC, %MN, %t)
      gpu.return
    }

    // 64 queries for two warps: each has two atoms of rows, and a thread four rows.
    gpu.func @attention_kernel(%Q: !A, %K: !A, %V: !A, %O: !A) kernel attributes {known_block_size = array<i32: 64, 1, 1>, cute.synchronize} {
      %t = cute.call @thread()
      %m = cute.call @block_x() -> i32
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %c2 = arith.constant 2 : i32
      %tiler = cute.static "[64:1;64:1]"
      %mine = cute.make_coord(%m, 0)
      %all = cute.static coord "(_,0)"
      %gQ = cute.local_tile(%Q, %tiler, %mine)
      %gK = cute.local_tile(%K, %tiler, %all)
      %gV = cute.local_tile(%V, %tiler, %all)
      %gO = cute.local_tile(%O, %tiler, %mine)
      %sQ = cute.memref.alloca() : !shared
      %sK = cute.memref.alloca() : !shared
      %sV = cute.memref.alloca() : !shared
      %transposed = cute.static "(64,64):(64,1)"
      %sVt = cute.composition(%sV, %transposed)
      %copy = cute.static : !async
      %mma = cute.static : !mma
      %ldmatrix = cute.make_atom() -> !ldmatrix
      %ldmatrix_t = cute.make_atom() -> !ldmatrix_t
      %pair = cute.make_atom() -> !pair
      %copy_Q = cute.mma.make_tiled_copy A (%mma, %ldmatrix)
      %copy_K = cute.mma.make_tiled_copy B (%mma, %ldmatrix)
      %copy_V = cute.mma.make_tiled_copy B (%mma, %ldmatrix_t)
      %copy_O = cute.mma.make_tiled_copy C (%mma, %pair)
      %tKgK, %tKsK = cute.call @parts(%copy, %gK, %sK, %t)
      %tVgV, %tVsV = cute.call @parts(%copy, %gV, %sV, %t)
      cute.call @copy_tile(%copy, %gQ, %sQ, %t)
      %rQ = cute.call @load_A(%mma, %copy_Q, %sQ, %t)
      %shape = cute.static shape "(64,64)"
      %rS = cute.call @accumulators(%mma, %shape)
      %rO = cute.call @accumulators(%mma, %shape)
      %largest, %terms = cute.call @softmax_begin(%rS)
      %factor = arith.constant 0.180336878 : f32
      scf.for %j = %c0 to %c2 step %c1 : i32 {
        cute.call @copy_part(%copy, %tKgK, %j, %tKsK)
        cute.call @copy_part(%copy, %tVgV, %j, %tVsV)
        cute.clear(%rS)
        cute.call @multiply_by_tile(%mma, %rQ, %copy_K, %sK, %rS, %t)
        cute.call @softmax_step(%rS, %rO, %largest, %terms, %factor)
        %rP = cute.convert(%rS) to f16
        %as_A = cute.static "((2,2,2),2,4):((1,2,8),4,16)"
        %tOrP = cute.composition(%rP, %as_A)
        cute.call @multiply_by_tile(%mma, %tOrP, %copy_V, %sVt, %rO, %t)
      } {cute.stages = 2 : i64}
      cute.call @softmax_end(%rO, %terms)
      cute.call @store_sums<{T = f16}>(%copy_O, %rO, %gO, %t)
      gpu.return
    }
  }

  func.func @softmax(%X: !X, %Y: !X) attributes {cute.computes = [{softmax = array<i64: 0, 1>}]} {
    %shape = cute.get_shape(%X)
    %row = cute.static shape "(1,$(128*WARPS))"
    %grid = cute.ceil_div(%shape, %row)
    cute.launch @kernels::@softmax_kernel blocks(%grid) args(%X, %Y)
    return
  }

  // A tile more than there is.
  func.func @copied(%S: !M, %D: !M) attributes {cute.computes = [{copy = array<i64: 0, 1>}]} {
    %blocks = cute.static shape "$(256/(32*V) + 1)"
    cute.launch @kernels::@copy_kernel blocks(%blocks) args(%S, %D)
    return
  }

  func.func @product(%A: !A, %B: !A, %C: !C, %alpha: f32 {cute.name = "alpha"}, %beta: f32 {cute.name = "beta"})
      attributes {cute.computes = [{gemm = array<i64: 0, 1, 2>, accumulate = f32, alpha = 3 : index, beta = 4 : index}]} {
    %blocks = cute.static shape "(2,2)"
    cute.launch @kernels::@product_kernel blocks(%blocks) args(%A, %B, %C, %alpha, %beta)
    return
  }

  func.func @attention(%Q: !A, %K: !A, %V: !A, %O: !A) attributes {
      cute.computes = [{attention = array<i64: 0, 1, 2, 3>, scale = 0.125 : f32, accumulate = f32}]} {
    %blocks = cute.static shape "2"
    cute.launch @kernels::@attention_kernel blocks(%blocks) args(%Q, %K, %V, %O)
    return
  }
}
