// A tensor of a pipelined loop that is read as elements of other types: the places of its ring are recast as the tensor was.
//
// RUN: cute-opt %s --cute-compile="arch=sm_80 package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator --seeds 2 | FileCheck %s
// CHECK: right
// CHECK: no findings

!T = !cute.memref<f32, gmem, align<16>, "1024:1">
!S = !cute.memref<f32, smem, align<16>, "128:1">
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @k(%X: !T {cute.noalias}, %Y: !T {cute.noalias}, %n: i32) kernel attributes {known_block_size = array<i32: 128, 1, 1>, cute.synchronize} {
      %tx = gpu.thread_id x
      %t = arith.index_cast %tx : index to i32
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %c2 = arith.constant 2 : i32
      %c16 = arith.constant 16 : i32
      %c127 = arith.constant 127 : i32
      %c128 = arith.constant 128 : i32
      %u = arith.subi %c127, %t : i32
      // Each thread reads the halves of another one's number.
      %low = arith.muli %u, %c2 : i32
      %high = arith.addi %low, %c1 : i32
      %s = cute.memref.alloca() : !S
      %words = cute.recast(%s) to i32
      %halves = cute.recast(%words) to i16
      scf.for %k = %c0 to %n step %c1 : i32 {
        %b = arith.muli %k, %c128 : i32
        %at = arith.addi %b, %t : i32
        %x = cute.memref.load(%X, (%at)) -> f32
        cute.memref.store(%s, (%t), %x)
        %l = cute.memref.load(%halves, (%low)) -> i16
        %h = cute.memref.load(%halves, (%high)) -> i16
        %lower = arith.extui %l : i16 to i32
        %upper = arith.extui %h : i16 to i32
        %moved = arith.shli %upper, %c16 : i32
        %v = arith.ori %moved, %lower : i32
        %w = arith.bitcast %v : i32 to f32
        %to = arith.addi %b, %u : i32
        cute.memref.store(%Y, (%to), %w)
      } {cute.stages = 3}
      gpu.return
    }
  }
  func.func @f(%X: !T {cute.name = "src"}, %Y: !T {cute.name = "dst"}) attributes {cute.computes = [{copy = array<i64: 0, 1>}]} {
    %turns = arith.constant 8 : i32
    cute.launch @kernels::@k blocks((1)) args(%X, %Y, %turns)
    return
  }
}
