// Algorithms of CuTe, each in a kernel written by hand: they run on the emulator, where a test compares what they leave.
//
// RUN: cute-opt %s --cute-compile="arch=sm_90a" | FileCheck %s
// RUN: cute-opt %s --cute-compile="arch=sm_80" | FileCheck %s
//
// CHECK: gpu.binary @kernels

!thread = !cute.coord<"?">

// A transposition through shared memory.
!A = !cute.memref<f32, gmem, align<16>, "(64,32):(32,1)">
!At = !cute.memref<f32, gmem, align<16>, "(32,64):(64,1)">
!Av = !cute.memref<f32, gmem, align<16>, "(64,32):(1,64)">
!sA = !cute.memref<f32, smem, align<16>, "(64,32):(32,1)">
!sPart = !cute.memref<f32, smem, align<4>, "(4,4):(512,8)">
!gPart = !cute.memref<f32, gmem, align<4>, "(4,4):(16,512)">

// y = 2 x + 3 y within bounds.
!V = !cute.memref<f32, gmem, align<16>, "(1000,3):(1,1000)">
!vTile = !cute.memref<f32, gmem, align<16>, "(256,3):(1,1000)">
!vPart = !cute.memref<f32, gmem, align<4>, "(4,3):(64,1000)">
!I = !cute.coord_tensor<"(0,0)", "(1000,3):(1@0,1@1)">
!iTile = !cute.coord_tensor<"(?,0)", "(256,3):(1@0,1@1)">
!iPart = !cute.coord_tensor<"(?,0)", "(4,3):(64@0,1@1)">
!pred = !cute.memref<i1, rmem, "(4,3):(1,4)">

// A product by multiply-adds, from shared memory.
!fA = !cute.memref<f32, gmem, align<16>, "(32,16):(16,1)">
!fsA = !cute.memref<f32, smem, align<16>, "(32,16):(1,36)">
!fC = !cute.memref<f32, gmem, align<16>, "(32,32):(1,32)">
!fpA = !cute.memref<f32, smem, align<4>, "(2,16):(16,36)">
!fpB = !cute.memref<f32, smem, align<4>, "(4,16):(8,36)">
!fpC = !cute.memref<f32, gmem, align<4>, "(2,4):(16,256)">
!frC = !cute.memref<f32, rmem, "(2,4):(1,2)">

// A product by tensor cores, from shared memory and back.
!mma_atom = !cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>
!mma = !cute.tiled_mma<!mma_atom, atom_layout_MNK = <"(2,1,1):(1,0,0)">, permutation_MNK = <"[32:1;16:1;16:1]">>
!ldsm = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
!hA = !cute.memref<f16, gmem, align<16>, "(64,32):(32,1)">
!hB = !cute.memref<f16, gmem, align<16>, "(32,32):(32,1)">
!hC = !cute.memref<f32, gmem, align<16>, "(64,32):(32,1)">
!hsA = !cute.memref<f16, smem, align<512>, S<2,4,3>, "(64,32):(32,1)">
!hsB = !cute.memref<f16, smem, align<16>, "(32,32):(40,1)">
!hsC = !cute.memref<f32, smem, align<16>, "(64,32):(36,1)">

// Sums, products and extremes of rows.
!rows = !cute.memref<f32, gmem, align<16>, "(128,24):(24,1)">
!row = !cute.memref<f32, gmem, align<16>, "(24):(1)">
!out = !cute.memref<f32, gmem, align<16>, "(128,5):(1,128)">

// Values in another order than memory's, the same on both sides, and in registers.
!ordered = !cute.memref<f16, gmem, align<16>, "((2,4),2,32):((4,1),8,16)">
!sOrdered = !cute.memref<f16, smem, align<16>, "((2,4),2,32):((4,1),8,16)">
!plain = !cute.memref<f16, gmem, align<16>, "((2,4),2,32):((1,2),8,16)">
!ordered_t = !cute.memref<f16, gmem, align<16>, "((2,4),2):((4,1),8)">
!sOrdered_t = !cute.memref<f16, smem, align<16>, "((2,4),2):((4,1),8)">
!plain_t = !cute.memref<f16, gmem, align<16>, "((2,4),2):((1,2),8)">
!rPlain = !cute.memref<f16, rmem, align<16>, "((2,4),2):((1,2),8)">
!vector = !cute_nvgpu.atom.universal_copy<f16, 128 b>

// Threads that do not divide what they copy together, and a fill.
!odd = !cute.memref<f32, gmem, align<16>, "(9,20):(20,1)">
!sOdd = !cute.memref<f32, smem, align<16>, "(9,20):(1,9)">
!wide = !cute.memref<f32, gmem, align<16>, "(9,20):(24,1)">
!sWide = !cute.memref<f32, smem, align<16>, "(9,20):(20,1)">

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @transpose(%A: !A, %B: !At) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
      %tx = gpu.thread_id x
      %t = arith.index_cast %tx : index to i32
      %tid = cute.make_coord(%t) : (i32) -> !thread
      %s = cute.memref.alloca() : !sA
      cute.prefetch(%A) : (!A)
      cute.cooperative_copy(%tid, %A, %s) {threads = 128 : i64} : (!thread, !A, !sA)
      gpu.barrier
      %order = cute.static : !cute.layout<"(64,32):(32,1)">
      %Bt = cute.composition(%B, %order) : (!At, !cute.layout<"(64,32):(32,1)">) -> !Av
      %threads = cute.static : !cute.layout<"(16,8):(1,16)">
      %from = cute.local_partition(%s, %threads, %tid) : (!sA, !cute.layout<"(16,8):(1,16)">, !thread) -> !sPart
      %to = cute.local_partition(%Bt, %threads, %tid) : (!Av, !cute.layout<"(16,8):(1,16)">, !thread) -> !gPart
      cute.autovec_copy(%from, %to) : (!sPart, !gPart)
      gpu.return
    }
    gpu.func @axpby(%X: !V, %Y: !V) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      %tx = gpu.thread_id x
      %t = arith.index_cast %tx : index to i32
      %tid = cute.make_coord(%t) : (i32) -> !thread
      %bx = gpu.block_id x
      %b = arith.index_cast %bx : index to i32
      %block = cute.make_coord(%b) : (i32) -> !cute.coord<"(?,0)">
      %tile = cute.static : !cute.tile<"[256:1;3:1]">
      %threads = cute.static : !cute.layout<"(64,1):(1,64)">
      %shape = cute.static : !cute.shape<"(1000,3)">
      %bound = cute.static : !cute.coord<"(1000,3)">
      %x = cute.local_tile(%X, %tile, %block) : (!V, !cute.tile<"[256:1;3:1]">, !cute.coord<"(?,0)">) -> !vTile
      %y = cute.local_tile(%Y, %tile, %block) : (!V, !cute.tile<"[256:1;3:1]">, !cute.coord<"(?,0)">) -> !vTile
      %px = cute.local_partition(%x, %threads, %tid) : (!vTile, !cute.layout<"(64,1):(1,64)">, !thread) -> !vPart
      %py = cute.local_partition(%y, %threads, %tid) : (!vTile, !cute.layout<"(64,1):(1,64)">, !thread) -> !vPart
      %i = cute.make_identity_tensor(%shape : !cute.shape<"(1000,3)">) : !I
      %it = cute.local_tile(%i, %tile, %block) : (!I, !cute.tile<"[256:1;3:1]">, !cute.coord<"(?,0)">) -> !iTile
      %pi = cute.local_partition(%it, %threads, %tid) : (!iTile, !cute.layout<"(64,1):(1,64)">, !thread) -> !iPart
      %p = cute.memref.alloca() : !pred
      cute.transform(%pi, %p) : (!iPart, !pred) {
      ^bb0(%at: !cute.coord<"(?,?)">):
        %in = cute.elem_less(%at, %bound) : !cute.coord<"(?,?)">, !cute.coord<"(1000,3)">
        cute.yield %in : i1
      }
      %alpha = arith.constant 2.0 : f32
      %beta = arith.constant 3.0 : f32
      cute.axpby(%alpha, %px, %beta, %py, %p) : (f32, !vPart, f32, !vPart, !pred)
      gpu.return
    }
    gpu.func @multiply_add(%A: !fA, %B: !fA, %C: !fC) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
      %tx = gpu.thread_id x
      %t = arith.index_cast %tx : index to i32
      %tid = cute.make_coord(%t) : (i32) -> !thread
      %sA = cute.memref.alloca() : !fsA
      %sB = cute.memref.alloca() : !fsA
      cute.cooperative_copy(%tid, %A, %sA) {threads = 128 : i64} : (!thread, !fA, !fsA)
      cute.cooperative_copy(%tid, %B, %sB) {threads = 128 : i64} : (!thread, !fA, !fsA)
      gpu.barrier
      %threads = cute.static : !cute.layout<"(16,8):(1,16)">
      %pA = cute.local_partition(%sA, %threads, %tid) {proj = #cute.coord<"(1,_)">} : (!fsA, !cute.layout<"(16,8):(1,16)">, !thread) -> !fpA
      %pB = cute.local_partition(%sB, %threads, %tid) {proj = #cute.coord<"(_,1)">} : (!fsA, !cute.layout<"(16,8):(1,16)">, !thread) -> !fpB
      %pC = cute.local_partition(%C, %threads, %tid) : (!fC, !cute.layout<"(16,8):(1,16)">, !thread) -> !fpC
      %c = cute.memref.alloca() : !frC
      cute.clear(%c) : (!frC)
      cute.gemm(%c, %pA, %pB, %c) : (!frC, !fpA, !fpB, !frC)
      %one = arith.constant 1.0 : f32
      %zero = arith.constant 0.0 : f32
      cute.axpby(%one, %c, %zero, %pC) : (f32, !frC, f32, !fpC)
      gpu.return
    }
    gpu.func @tensor_cores(%A: !hA, %B: !hB, %C: !hC) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      %tx = gpu.thread_id x
      %t = arith.index_cast %tx : index to i32
      %tid = cute.make_coord(%t) : (i32) -> !thread
      %sA = cute.memref.alloca() : !hsA
      %sB = cute.memref.alloca() : !hsB
      %sC = cute.memref.alloca() : !hsC
      cute.cooperative_copy(%tid, %A, %sA) {threads = 64 : i64} : (!thread, !hA, !hsA)
      cute.cooperative_copy(%tid, %B, %sB) {threads = 64 : i64} : (!thread, !hB, !hsB)
      cute.cooperative_copy(%tid, %C, %sC) {threads = 64 : i64, max_vec_bits = 64 : i64} : (!thread, !hC, !hsC)
      gpu.barrier
      %atom = cute.make_atom() : () -> !mma_atom
      %mma = cute.make_tiled_mma(%atom) : !mma
      %alpha = arith.constant 2.0 : f32
      %beta = arith.constant 3.0 : f32
      cute.cooperative_gemm(%tid, %mma, %alpha, %sA, %sB, %beta, %sC) {copy_a = !ldsm} : (!thread, !mma, f32, !hsA, !hsB, f32, !hsC)
      gpu.barrier
      cute.cooperative_copy(%tid, %sC, %C) {threads = 64 : i64} : (!thread, !hsC, !hC)
      gpu.return
    }
    gpu.func @reductions(%X: !rows, %Y: !out) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
      %tx = gpu.thread_id x
      %t = arith.index_cast %tx : index to i32
      %at = cute.make_coord(%t) : (i32) -> !cute.coord<"(?,_)">
      %row = cute.slice(%X, %at) : !rows, !cute.coord<"(?,_)">
      %zero = arith.constant 0.0 : f32
      %one = arith.constant 1.0 : f32
      %sum = cute.reduce(%row, %zero) {kind = "add"} : (!row, f32) -> f32
      %product = cute.reduce(%row, %one) {kind = "mul"} : (!row, f32) -> f32
      %least = cute.reduce(%row, %one) {kind = "min"} : (!row, f32) -> f32
      %most = cute.reduce(%row, %zero) {kind = "max"} : (!row, f32) -> f32
      %squares = cute.reduce(%row, %zero) : (!row, f32) -> f32 {
      ^bb0(%so_far: f32, %e: f32):
        %s = arith.mulf %e, %e : f32
        %r = arith.addf %so_far, %s : f32
        cute.yield %r : f32
      }
      %c0 = cute.make_coord(%t) : (i32) -> !cute.coord<"(?,0)">
      %c1 = cute.make_coord(%t) : (i32) -> !cute.coord<"(?,1)">
      %c2 = cute.make_coord(%t) : (i32) -> !cute.coord<"(?,2)">
      %c3 = cute.make_coord(%t) : (i32) -> !cute.coord<"(?,3)">
      %c4 = cute.make_coord(%t) : (i32) -> !cute.coord<"(?,4)">
      cute.memref.store(%Y, %c0, %sum) : (!out, !cute.coord<"(?,0)">, f32) -> ()
      cute.memref.store(%Y, %c1, %product) : (!out, !cute.coord<"(?,1)">, f32) -> ()
      cute.memref.store(%Y, %c2, %least) : (!out, !cute.coord<"(?,2)">, f32) -> ()
      cute.memref.store(%Y, %c3, %most) : (!out, !cute.coord<"(?,3)">, f32) -> ()
      cute.memref.store(%Y, %c4, %squares) : (!out, !cute.coord<"(?,4)">, f32) -> ()
      gpu.return
    }
    gpu.func @orders(%A: !ordered, %B: !plain) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
      %tx = gpu.thread_id x
      %t = arith.index_cast %tx : index to i32
      %at = cute.make_coord(%t) : (i32) -> !cute.coord<"(_,_,?)">
      %s = cute.memref.alloca() : !sOrdered
      %r = cute.memref.alloca() : !rPlain
      %a = cute.slice(%A, %at) : !ordered, !cute.coord<"(_,_,?)">
      %m = cute.slice(%s, %at) : !sOrdered, !cute.coord<"(_,_,?)">
      %b = cute.slice(%B, %at) : !plain, !cute.coord<"(_,_,?)">
      %atom = cute.make_atom() : () -> !vector
      cute.copy(%atom, %a, %m) : (!vector, !ordered_t, !sOrdered_t)
      cute.copy(%atom, %m, %r) : (!vector, !sOrdered_t, !rPlain)
      cute.autovec_copy(%r, %b) : (!rPlain, !plain_t)
      gpu.return
    }
    gpu.func @ragged(%A: !odd, %W: !wide, %B: !odd) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
      %tx = gpu.thread_id x
      %t = arith.index_cast %tx : index to i32
      %tid = cute.make_coord(%t) : (i32) -> !thread
      %s = cute.memref.alloca() : !sOdd
      %w = cute.memref.alloca() : !sWide
      cute.cooperative_copy(%tid, %A, %s) {threads = 32 : i64} : (!thread, !odd, !sOdd)
      // 45 vectors of 4.
      cute.cooperative_copy(%tid, %W, %w) {threads = 32 : i64} : (!thread, !wide, !sWide)
      gpu.barrier
      %c9 = arith.constant 9 : i32
      %in = arith.cmpi slt, %t, %c9 : i32
      scf.if %in {
        %at = cute.make_coord(%t) : (i32) -> !cute.coord<"(?,_)">
        %x = cute.slice(%s, %at) : !sOdd, !cute.coord<"(?,_)">
        %y = cute.slice(%w, %at) : !sWide, !cute.coord<"(?,_)">
        %one = arith.constant 1.0 : f32
        cute.axpby(%one, %y, %one, %x) : (f32, !cute.memref<f32, smem, align<16>, "(20):(1)">, f32, !cute.memref<f32, smem, "(20):(9)">)
      }
      gpu.barrier
      cute.cooperative_copy(%tid, %s, %B) {threads = 32 : i64} : (!thread, !sOdd, !odd)
      gpu.return
    }
  }
  func.func @orders(%A: !ordered, %B: !plain) {
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %s = arith.constant 1024 : i32
    gpu.launch_func @kernels::@orders blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) dynamic_shared_memory_size %s args(%A : !ordered, %B : !plain)
    return
  }
  func.func @ragged(%A: !odd, %W: !wide, %B: !odd) {
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %s = arith.constant 1440 : i32
    gpu.launch_func @kernels::@ragged blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) dynamic_shared_memory_size %s args(%A : !odd, %W : !wide, %B : !odd)
    return
  }
  func.func @transpose(%A: !A, %B: !At) {
    %c1 = arith.constant 1 : index
    %c128 = arith.constant 128 : index
    %s = arith.constant 8192 : i32
    gpu.launch_func @kernels::@transpose blocks in (%c1, %c1, %c1) threads in (%c128, %c1, %c1) dynamic_shared_memory_size %s args(%A : !A, %B : !At)
    return
  }
  func.func @axpby(%X: !V, %Y: !V) {
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c64 = arith.constant 64 : index
    %s = arith.constant 0 : i32
    gpu.launch_func @kernels::@axpby blocks in (%c4, %c1, %c1) threads in (%c64, %c1, %c1) dynamic_shared_memory_size %s args(%X : !V, %Y : !V)
    return
  }
  func.func @multiply_add(%A: !fA, %B: !fA, %C: !fC) {
    %c1 = arith.constant 1 : index
    %c128 = arith.constant 128 : index
    %s = arith.constant 4608 : i32
    gpu.launch_func @kernels::@multiply_add blocks in (%c1, %c1, %c1) threads in (%c128, %c1, %c1) dynamic_shared_memory_size %s args(%A : !fA, %B : !fA, %C : !fC)
    return
  }
  func.func @tensor_cores(%A: !hA, %B: !hB, %C: !hC) {
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %s = arith.constant 16384 : i32
    gpu.launch_func @kernels::@tensor_cores blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) dynamic_shared_memory_size %s args(%A : !hA, %B : !hB, %C : !hC)
    return
  }
  func.func @reductions(%X: !rows, %Y: !out) {
    %c1 = arith.constant 1 : index
    %c128 = arith.constant 128 : index
    %s = arith.constant 0 : i32
    gpu.launch_func @kernels::@reductions blocks in (%c1, %c1, %c1) threads in (%c128, %c1, %c1) dynamic_shared_memory_size %s args(%X : !rows, %Y : !out)
    return
  }
}
