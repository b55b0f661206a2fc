// red.global.add of f16: vectors on sm_90, an instruction for each 32 bits before. (f32: examples/kernels/reduce_add.mlir.)
//
// RUN: cute-opt %s --cute-compile="arch=sm_90a package=%t.90.cutepkg" -o /dev/null
// RUN: cute-run %t.90.cutepkg --emit ptx --to %t.90.ptx
// RUN: FileCheck %s --check-prefix=SM90 --input-file=%t.90.ptx
// RUN: cute-run %t.90.cutepkg --device=emulator --seeds=3
// RUN: cute-opt %s --cute-compile="arch=sm_80 package=%t.80.cutepkg" -o /dev/null
// RUN: cute-run %t.80.cutepkg --emit ptx --to %t.80.ptx
// RUN: FileCheck %s --check-prefix=SM80 --input-file=%t.80.ptx
// RUN: cute-run %t.80.cutepkg --device=emulator --seeds=3
//
// SM90: red.global.add.noftz.v4.f16x2
// SM80-COUNT-4: red.global.add.noftz.f16x2

!H = !cute.memref<f16, gmem, align<16>, "(256):(1)">
!load16 = !cute_nvgpu.atom.universal_copy<f16, 128 b>
!add16 = !cute_nvgpu.atom.red<f16, add, 128 b>
!loads16 = !cute.tiled_copy<!load16, layout_copy_tv = <"(32,8):(8,1)">, tiler_mn = <"[256:1]">>
!adds16 = !cute.tiled_copy<!add16, layout_copy_tv = <"(32,8):(8,1)">, tiler_mn = <"[256:1]">>
!part16 = !cute.memref<f16, gmem, align<16>, "((8,1),1):((1,0),0)">
!frag16 = !cute.memref<f16, rmem, align<16>, "((8,1),1):((1,0),0)">
!thread = !cute.coord<"?">

module attributes {gpu.container_module} {
  gpu.module @kernels {
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
  func.func @halves(%X: !H, %Y: !H) attributes {cute.computes = [{axpby = array<i64: 0, 1>, alpha = 1.0 : f32, beta = 1.0 : f32}]} {
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %smem = arith.constant 0 : i32
    gpu.launch_func @kernels::@halves_kernel blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1)
      dynamic_shared_memory_size %smem args(%X : !H, %Y : !H)
    return
  }
}
