// red.global.add: vectors on sm_90, an instruction for each 32 bits before; lanes that add to one element take turns, which the report and
// the emulator count alike.
//
// RUN: cute-opt %s --cute-compile="arch=sm_90a package=%t.90.cutepkg" -o /dev/null
// RUN: cute-run %t.90.cutepkg --emit ptx --to %t.90.ptx
// RUN: FileCheck %s --check-prefix=SM90 --input-file=%t.90.ptx
// RUN: cute-run %t.90.cutepkg --device=emulator --seeds=3 --function sums --no-verify
// RUN: cute-run %t.90.cutepkg --device=emulator --seeds=3 --function halves
// RUN: cute-opt %s --cute-compile="arch=sm_80 package=%t.80.cutepkg" -o /dev/null
// RUN: cute-run %t.80.cutepkg --emit ptx --to %t.80.ptx
// RUN: FileCheck %s --check-prefix=SM80 --input-file=%t.80.ptx
// RUN: cute-run %t.80.cutepkg --device=emulator --seeds=3 --function sums --no-verify
// RUN: cute-opt %s --cute-report="arch=sm_90a" -o /dev/null 2>&1 | FileCheck %s --check-prefix=REPORT
//
// SM90-LABEL: .entry sums_kernel
// SM90: red.global.add.v2.f32
// SM90-LABEL: .entry halves_kernel
// SM90: red.global.add.noftz.v4.f16x2
// SM80-LABEL: .entry sums_kernel
// SM80: red.global.add.f32 [%[[P:rd[0-9]+]]],
// SM80: red.global.add.f32 [%[[P]]+4],
// SM80-LABEL: .entry halves_kernel
// SM80-COUNT-4: red.global.add.noftz.f16x2
//
// Of 32 threads, four at a time add to the same 8 bytes of two sectors.
// REPORT: red.global: 8 bytes a thread, 1 instruction a thread
// REPORT: red.global: a warp touches 8 sectors, ideal 2

!X = !cute.memref<f32, gmem, align<16>, "(64):(1)">
!Y = !cute.memref<f32, gmem, align<16>, "((16,4)):((1,0))">
!H = !cute.memref<f16, gmem, align<16>, "(256):(1)">
!load = !cute_nvgpu.atom.universal_copy<f32, 64 b>
!add = !cute_nvgpu.atom.red<f32, add, 64 b>
!loads = !cute.tiled_copy<!load, layout_copy_tv = <"(32,2):(2,1)">, tiler_mn = <"[64:1]">>
!adds = !cute.tiled_copy<!add, layout_copy_tv = <"(32,2):(2,1)">, tiler_mn = <"[64:1]">>
!part = !cute.memref<f32, gmem, align<8>, "((2,1),1):((1,0),0)">
!frag = !cute.memref<f32, rmem, align<8>, "((2,1),1):((1,0),0)">
!load16 = !cute_nvgpu.atom.universal_copy<f16, 128 b>
!add16 = !cute_nvgpu.atom.red<f16, add, 128 b>
!loads16 = !cute.tiled_copy<!load16, layout_copy_tv = <"(32,8):(8,1)">, tiler_mn = <"[256:1]">>
!adds16 = !cute.tiled_copy<!add16, layout_copy_tv = <"(32,8):(8,1)">, tiler_mn = <"[256:1]">>
!part16 = !cute.memref<f16, gmem, align<16>, "((8,1),1):((1,0),0)">
!frag16 = !cute.memref<f16, rmem, align<16>, "((8,1),1):((1,0),0)">
!thread = !cute.coord<"?">

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @sums_kernel(%X: !X, %Y: !Y) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
      %tx = gpu.thread_id x
      %tx32 = arith.index_cast %tx : index to i32
      %thread = cute.make_coord(%tx32) : (i32) -> !thread
      %load = cute.make_atom() : () -> !load
      %add = cute.make_atom() : () -> !add
      %loads = cute.make_tiled_copy(%load) : !loads
      %adds = cute.make_tiled_copy(%add) : !adds
      %tX = cute.tiled.copy.partition_S(%loads, %X, %thread) : (!loads, !X, !thread) -> !part
      %tY = cute.tiled.copy.partition_D(%adds, %Y, %thread) : (!adds, !Y, !thread) -> !part
      %frag = cute.memref.alloca() : !frag
      cute.copy(%loads, %tX, %frag) : (!loads, !part, !frag)
      cute.copy(%adds, %frag, %tY) : (!adds, !frag, !part)
      gpu.return
    }
    gpu.func @halves_kernel(%X: !H, %Y: !H) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
      %tx = gpu.thread_id x
      %tx32 = arith.index_cast %tx : index to i32
      %thread = cute.make_coord(%tx32) : (i32) -> !thread
      %load = cute.make_atom() : () -> !load16
      %add = cute.make_atom() : () -> !add16
      %loads = cute.make_tiled_copy(%load) : !loads16
      %adds = cute.make_tiled_copy(%add) : !adds16
      %tX = cute.tiled.copy.partition_S(%loads, %X, %thread) : (!loads16, !H, !thread) -> !part16
      %tY = cute.tiled.copy.partition_D(%adds, %Y, %thread) : (!adds16, !H, !thread) -> !part16
      %frag = cute.memref.alloca() : !frag16
      cute.copy(%loads, %tX, %frag) : (!loads16, !part16, !frag16)
      cute.copy(%adds, %frag, %tY) : (!adds16, !frag16, !part16)
      gpu.return
    }
  }
  // What y holds cannot be said by a compute: that nothing is found is what is asked.
  func.func @sums(%X: !X, %Y: !Y {cute.access = "read_write"}) {
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %smem = arith.constant 0 : i32
    gpu.launch_func @kernels::@sums_kernel blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1)
      dynamic_shared_memory_size %smem args(%X : !X, %Y : !Y)
    return
  }
  func.func @halves(%X: !H, %Y: !H) attributes {cute.computes = [{axpby = array<i64: 0, 1>, alpha = 1.0 : f32, beta = 1.0 : f32}]} {
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %smem = arith.constant 0 : i32
    gpu.launch_func @kernels::@halves_kernel blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1)
      dynamic_shared_memory_size %smem args(%X : !H, %Y : !H)
    return
  }
}
