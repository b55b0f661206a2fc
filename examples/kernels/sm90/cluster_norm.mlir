// RMS norm of long rows, each by the four blocks of a cluster: y(i,j) = x(i,j) w(j) / sqrt(mean over l of x(i,l)^2 + epsilon).
//
// As in rms_norm.mlir a row is read once and stays in registers, but this one has 32768 elements, too many for the threads of a block. Each block has a quarter of it,
// and tells the others its sum through distributed shared memory: a store that arrives in another block's shared memory and counts its bytes on a barrier there
// (st.async). So a block waits for the four numbers that it needs, not for what else the other blocks do, and none of them goes through global memory.
//
//     cute-opt examples/kernels/sm90/cluster_norm.mlir --cute-compile="arch=sm_90a package=cluster_norm.cutepkg" -o /dev/null
//     cute-run cluster_norm.cutepkg --bench --shape x=4096x32768 --shape out=4096x32768 --set epsilon=1e-5
//
// RUN: cute-opt %s --cute-compile="arch=sm_90a package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator --seeds 3 --shape x=3x32768 --shape out=3x32768 --set epsilon=1e-5

!X = !cute.memref<f16, gmem, align<16>, "(?,32768):(32768,1)">
!weights = !cute.memref<f16, gmem, align<16>, "32768:1">
// 16 bytes are 8 elements: 256 threads take 2048 elements at once, so a thread has 4 vectors of its block's 8192 elements.
!copy = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"(256,8):(8,1)">, tiler_mn = <"[2048:1]">>
// What the 8 warps of a block tell each other, and the 4 blocks of a cluster.
!of_warps = !cute.memref<f32, smem, align<16>, "8:1">
!of_blocks = !cute.memref<f32, smem, align<16>, "4:1">
!bar = !cute.memref<i64, smem, align<8>, "1:0">

module attributes {gpu.container_module} {
  gpu.module @kernels {
    cute.import "std/index"
    cute.import "std/copy"
    cute.import "std/reduce"
    gpu.func @cluster_norm_kernel(%X: !X, %W: !weights {cute.noalias}, %Y: !X, %epsilon: f32) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %c4 = arith.constant 4 : i32
      // The cluster's row, the part of it that is this block's, and who this thread is.
      %bx = cute.call @block_x()
      %tx = cute.call @thread_index()
      %rank = nvvm.read.ptx.sreg.cluster.ctarank : i32
      %row = cute.make_coord(%bx, _)
      %thread = cute.make_coord(%tx)
      %part = cute.static "[8192:1]"
      %which = cute.make_coord(%rank)
      %x_row = cute.slice(%X, %row)
      %y_row = cute.slice(%Y, %row)
      %x = cute.local_tile(%x_row, %part, %which)
      %y = cute.local_tile(%y_row, %part, %which)
      %w = cute.local_tile(%W, %part, %which)

      // Four numbers of 4 bytes are to come, this block's own among them.
      %sums = cute.memref.alloca() : !of_blocks
      %bar = cute.memref.alloca() : !bar
      %bytes = arith.constant 16 : i32
      %is_first = arith.cmpi eq, %tx, %c0 : i32
      scf.if %is_first {
        cute_nvgpu.mbarrier_init %bar[%c0], %c1
        nvvm.fence.mbarrier.init
        cute_nvgpu.mbarrier_arrive_and_expect_tx %bar[%c0], %bytes
      }
      // Before anything is sent, every block of the cluster has begun, and has its barrier. Meanwhile elements and weights are on their way.
      nvvm.cluster.arrive
      %copy = cute.static : !copy
      %x_frag = cute.call @loaded(%copy, %x, %thread)
      %w_frag = cute.call @loaded(%copy, %w, %thread)
      %x_f16 = cute.memref.load_vec %x_frag -> vector<32xf16>
      %x_f32 = arith.extf %x_f16 : vector<32xf16> to vector<32xf32>
      %squares = arith.mulf %x_f32, %x_f32 : vector<32xf32>
      %thread_sum = vector.reduction <add>, %squares : vector<32xf32> into f32
      %exchange = cute.memref.alloca() : !of_warps
      %block_sum = cute.call @block_sum_vectors(%thread_sum, %exchange, %tx)
      nvvm.cluster.wait

      // Thread i tells block i, in the place that is this block's there.
      %tells = arith.cmpi ult, %tx, %c4 : i32
      scf.if %tells {
        %sums_there = cute_nvgpu.arch.map_dsmem(%sums, %tx)
        %bar_there = cute_nvgpu.arch.map_dsmem(%bar, %tx)
        %slot = cute.slice(%sums_there, %which)
        cute_nvgpu.st_async(%block_sum, %slot) on %bar_there[%c0]
      }
      // A block that has its four numbers is sent no more: it may end whenever it is done.
      cute_nvgpu.mbarrier_wait %bar[%c0], %c0
      %all = cute.make_fragment_like(%sums)
      cute.autovec_copy(%sums, %all)
      %four = cute.memref.load_vec %all -> vector<4xf32>
      %sum = vector.reduction <add>, %four : vector<4xf32> into f32

      // 1 / sqrt(sum / 32768 + epsilon), the same in all threads of the cluster.
      %share = arith.constant 3.0517578125e-05 : f32
      %mean = math.fma %sum, %share, %epsilon : f32
      %scale = math.rsqrt %mean : f32

      // Scaled and weighted in f32, rounded to f16 at the end.
      %scales = vector.broadcast %scale : f32 to vector<32xf32>
      %w_f16 = cute.memref.load_vec %w_frag -> vector<32xf16>
      %w_f32 = arith.extf %w_f16 : vector<32xf16> to vector<32xf32>
      %normed = arith.mulf %x_f32, %scales : vector<32xf32>
      %weighted = arith.mulf %normed, %w_f32 : vector<32xf32>
      %y_f16 = arith.truncf %weighted : vector<32xf32> to vector<32xf16>
      cute.memref.store_vec %y_f16, %x_frag
      cute.call @store_tile(%copy, %x_frag, %y, %thread)
      gpu.return
    }
  }

  // A cluster for each row: its blocks stand along y.
  func.func @cluster_norm(%X: !X, %W: !weights, %Y: !X, %epsilon: f32) attributes {
      cute.computes = [{rms_norm = array<i64: 0, 1, 2>, epsilon = 3 : index}]} {
    %shape = cute.get_shape(%X)
    %grid = cute.ceil_div(%shape, "(1,8192)")
    cute.launch @kernels::@cluster_norm_kernel clusters [1, 4, 1] blocks(%grid) args(%X, %W, %Y, %epsilon)
    return
  }
}
