// TMA atoms of views that begin within their tensors: rows are copied in two launches, each of a view of its own, at a row that a launch brings.
//
// RUN: cute-opt %s --cute-compile="arch=sm_90a package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator --seeds 2 --shape src=100x264 --shape dst=100x264 --set split=37 | FileCheck %s
// RUN: cute-run %t.cutepkg --device=emulator --shape src=64x256 --shape dst=64x256 --set split=64 | FileCheck %s
// RUN: cute-run %t.cutepkg --info | FileCheck %s --check-prefix=INFO
// CHECK: right
// CHECK: no findings
// INFO: expected a view that begins at a multiple of 16 bytes of argument 0, as a tensor map does, for the TMA atom at
// INFO: expected a view that begins at a multiple of 16 bytes of argument 1, as a tensor map does, for the TMA atom at
// INFO: launch 1: move_kernel(map of src from byte ((split * src.stride[0]) * 2) on (
// INFO-SAME: map of dst from byte ((split * dst.stride[0]) * 2) on (

!mat = !cute.memref<f16, gmem, align<16>, "(?,?):(?{div=8},1)">
!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 131072, tma_gbasis = <"(256,32):(1@1,1@0)">, swizzle = 0>
!store = !cute_nvgpu.atom.tma_store<f16, copy_bits = 131072, tma_gbasis = <"(256,32):(1@1,1@0)">, swizzle = 0>
!coords = !cute.coord_tensor<"(0,0)", "(?,?):(1@1,1@0)">

module attributes {gpu.container_module} {
  gpu.module @kernels {
    cute.import "std/index"
    gpu.func @move_kernel(%load: !load, %from: !coords, %store: !store, %to: !coords) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
      %j = cute.call @block_x()
      %i = cute.call @block_y()
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %bytes = arith.constant 16384 : i32
      %all = arith.constant -1 : i32
      %at = cute.make_coord(%i, %j)
      %g = cute.local_tile(%from, "[32:1;256:1]", %at)
      %h = cute.local_tile(%to, "[32:1;256:1]", %at)
      %s = cute.memref.alloca() : !cute.memref<f16, smem, align<128>, "(32,256):(256,1)">
      %bar = cute.memref.alloca() : !cute.memref<i64, smem, align<8>, "1:0">
      %leader = nvvm.elect.sync -> i1
      scf.if %leader {
        cute_nvgpu.mbarrier_init %bar[%c0], %c1
        nvvm.fence.mbarrier.init
        cute_nvgpu.mbarrier_arrive_and_expect_tx %bar[%c0], %bytes
        cute_nvgpu.tma_load(%load, [%g], %s) on %bar[%c0]
      }
      nvvm.bar.warp.sync %all : i32
      cute_nvgpu.mbarrier_wait %bar[%c0], %c0
      scf.if %leader {
        cute_nvgpu.tma_store(%store, %s, [%h])
        nvvm.cp.async.bulk.commit.group
        nvvm.cp.async.bulk.wait_group 0
      }
      gpu.return
    }
  }

  // A view's map reads zeros behind the view's own rows, and writes none there.
  func.func @move(%S: !mat {cute.name = "src"}, %D: !mat {cute.name = "dst"}, %split: i32 {cute.name = "split"}) attributes {cute.computes = [{copy = array<i64: 0, 1>}]} {
    %c0 = arith.constant 0 : i32
    %one = arith.constant 1 : index
    %threads = arith.constant 32 : index
    %rows = arith.constant 32 : i32
    %columns = arith.constant 256 : i32
    %lS = cute.get_layout(%S)
    %m, %n, %ldS = cute.get_scalars <{only_dynamic}>(%lS)
    %lD = cute.get_layout(%D)
    %m2, %n2, %ldD = cute.get_scalars <{only_dynamic}>(%lD)
    %rest = arith.subi %m, %split : i32
    %bn = arith.ceildivsi %n, %columns : i32
    %x = arith.index_cast %bn : i32 to index

    %before = cute.make_shape(%split, %n)
    %stride_S = cute.make_stride(%ldS) : (i32) -> !cute.stride<"(?{div=8},1)">
    %stride_D = cute.make_stride(%ldD) : (i32) -> !cute.stride<"(?{div=8},1)">
    %first_S = cute.make_layout(%before, %stride_S)
    %first_D = cute.make_layout(%before, %stride_D)
    %begin_S = cute.get_iter(%S)
    %begin_D = cute.get_iter(%D)
    %S0 = cute.make_view(%begin_S, %first_S)
    %D0 = cute.make_view(%begin_D, %first_D)
    %load0, %from0 = cute_nvgpu.atom.make_tma_load(%S0, "(32,256):(256,1)")
    %store0, %to0 = cute_nvgpu.atom.make_tma_store(%D0, "(32,256):(256,1)")
    %b0 = arith.ceildivsi %split, %rows : i32
    %y0 = arith.index_cast %b0 : i32 to index
    gpu.launch_func @kernels::@move_kernel blocks in (%x, %y0, %one) threads in (%threads, %one, %one)
      dynamic_shared_memory_size %c0 args(%load0 : !load, %from0 : !coords, %store0 : !store, %to0 : !coords)

    %at = cute.make_coord(%split, 0)
    %later_S = cute.domain_offset(%at, %S)
    %later_D = cute.domain_offset(%at, %D)
    %behind = cute.make_shape(%rest, %n)
    %second_S = cute.make_layout(%behind, %stride_S)
    %second_D = cute.make_layout(%behind, %stride_D)
    %middle_S = cute.get_iter(%later_S)
    %middle_D = cute.get_iter(%later_D)
    %S1 = cute.make_view(%middle_S, %second_S)
    %D1 = cute.make_view(%middle_D, %second_D)
    %load1, %from1 = cute_nvgpu.atom.make_tma_load(%S1, "(32,256):(256,1)")
    %store1, %to1 = cute_nvgpu.atom.make_tma_store(%D1, "(32,256):(256,1)")
    %b1 = arith.ceildivsi %rest, %rows : i32
    %none = arith.cmpi eq, %rest, %c0 : i32
    scf.if %none {
    } else {
      %y1 = arith.index_cast %b1 : i32 to index
      gpu.launch_func @kernels::@move_kernel blocks in (%x, %y1, %one) threads in (%threads, %one, %one)
        dynamic_shared_memory_size %c0 args(%load1 : !load, %from1 : !coords, %store1 : !store, %to1 : !coords)
    }
    return
  }
}
