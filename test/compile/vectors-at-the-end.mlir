// Three numbers at the end of a tensor, which LLVM loads as a vector of four: the fourth is not read, and no mistake of the kernel.
//
// RUN: cute-opt %s --cute-compile="arch=sm_80 package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --emit ptx --to %t.ptx
// RUN: FileCheck %s --check-prefix=PTX --input-file %t.ptx
// RUN: cute-run %t.cutepkg --device=emulator --seeds 2 | FileCheck %s
// PTX: ld.global.nc.v4.b32
// CHECK: right
// CHECK: no findings

!x = !cute.memref<f32, gmem, align<16>, "3:1">

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @copy(%x: !x {cute.noalias}, %y: !x) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
      %a = cute.memref.load(%x, coord "0")
      %b = cute.memref.load(%x, coord "1")
      %c = cute.memref.load(%x, coord "2")
      cute.memref.store(%y, coord "0", %a)
      cute.memref.store(%y, coord "1", %b)
      cute.memref.store(%y, coord "2", %c)
      gpu.return
    }
  }
  func.func @copy(%x: !x {cute.name = "x"}, %y: !x {cute.name = "y"}) attributes {cute.computes = [{copy = array<i64: 0, 1>}]} {
    %one = cute.static shape "1"
    cute.launch @kernels::@copy blocks(%one) args(%x, %y)
    return
  }
}
