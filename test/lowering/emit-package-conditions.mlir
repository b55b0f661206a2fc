// A host function may launch one kernel or another: what decides is part of the package, and what several sizes have in common is
// computed once.
//
// RUN: cute-opt %s --cute-compile="arch=sm_80 package=%t.cutepkg" -o /dev/null
// RUN: cute-run --info %t.cutepkg | FileCheck %s
// RUN: cute-run %t.cutepkg --device=emulator --shape src=64 --shape dst=64 --report | FileCheck %s --check-prefix=SMALL
// RUN: cute-run %t.cutepkg --device=emulator --shape src=4096 --shape dst=4096 --report | FileCheck %s --check-prefix=LARGE
// RUN: not cute-run %t.cutepkg --device=emulator --shape src=4064 --shape dst=4064 2>&1 | FileCheck %s --check-prefix=PARTS

// CHECK:      v0 = max(((src.shape[0] * src.shape[0]) + (dst.shape[0] * 3)), 1)
// CHECK-NEXT: requires select(eq(lt(v0, 100000), 0), eq(rem(src.shape[0], 64), 0), 1): large vectors come in parts of 64
// CHECK-NEXT: launch 0: one({{.*}}), grid ({{.*}}), block 32x1x1
// CHECK-NEXT:   when lt(v0, 100000)
// CHECK-NEXT: launch 1: two({{.*}}), grid ({{.*}}), block 32x1x1
// CHECK-NEXT:   when and(eq(lt(v0, 100000), 0), le(100000, v0))

// SMALL:     dst (64), copy: right
// SMALL:     kernel one:
// SMALL-NOT: kernel two:
// LARGE:     dst (4096), copy: right
// LARGE-NOT: kernel one:
// LARGE:     kernel two:
// PARTS:     error: {{.*}}function copy: large vectors come in parts of 64

!t = !cute.memref<f32, gmem, align<4>, "(?):(1)">
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @one(%x: !t, %y: !t) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
      %b = gpu.block_id x
      %n = gpu.block_dim x
      %t = gpu.thread_id x
      %o = arith.muli %b, %n : index
      %i = arith.addi %o, %t : index
      %k = arith.index_cast %i : index to i32
      %at = cute.make_coord(%k) : (i32) -> !cute.coord<"?">
      %v = cute.memref.load(%x, %at) : (!t, !cute.coord<"?">) -> f32
      cute.memref.store(%y, %at, %v) : (!t, !cute.coord<"?">, f32) -> ()
      gpu.return
    }
    gpu.func @two(%x: !t, %y: !t) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
      %two = arith.constant 2 : index
      %b = gpu.block_id x
      %n = gpu.block_dim x
      %t = gpu.thread_id x
      %o = arith.muli %b, %n : index
      %i = arith.addi %o, %t : index
      %first = arith.muli %i, %two : index
      %k = arith.index_cast %first : index to i32
      %one = arith.constant 1 : i32
      %l = arith.addi %k, %one : i32
      %at = cute.make_coord(%k) : (i32) -> !cute.coord<"?">
      %next = cute.make_coord(%l) : (i32) -> !cute.coord<"?">
      %v = cute.memref.load(%x, %at) : (!t, !cute.coord<"?">) -> f32
      cute.memref.store(%y, %at, %v) : (!t, !cute.coord<"?">, f32) -> ()
      %w = cute.memref.load(%x, %next) : (!t, !cute.coord<"?">) -> f32
      cute.memref.store(%y, %next, %w) : (!t, !cute.coord<"?">, f32) -> ()
      gpu.return
    }
  }
  func.func @copy(%x: !t, %y: !t) attributes {cute.computes = [{copy = array<i64: 0, 1>}]} {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : index
    %three = arith.constant 3 : index
    %warp = arith.constant 32 : index
    %part = arith.constant 64 : index
    %limit = arith.constant 100000 : index
    %none = arith.constant 0 : index
    %layout = cute.get_layout(%x) : !t
    %length = cute.get_scalars<{only_dynamic}> (%layout) : !cute.layout<"(?):(1)">
    %other = cute.get_layout(%y) : !t
    %second = cute.get_scalars<{only_dynamic}> (%other) : !cute.layout<"(?):(1)">
    %n = arith.index_cast %length : i32 to index
    %m = arith.index_cast %second : i32 to index
    %square = arith.muli %n, %n : index
    %times = arith.muli %m, %three : index
    %sum = arith.addi %square, %times : index
    %work = arith.maxsi %sum, %one : index
    %small = arith.cmpi slt, %work, %limit : index
    %large = arith.cmpi sle, %limit, %work : index
    scf.if %small {
      %blocks = arith.ceildivsi %n, %warp : index
      gpu.launch_func @kernels::@one blocks in (%blocks, %one, %one) threads in (%warp, %one, %one) dynamic_shared_memory_size %zero args(%x : !t, %y : !t)
    } else {
      %rest = arith.remsi %n, %part : index
      %whole = arith.cmpi eq, %rest, %none : index
      cf.assert %whole, "large vectors come in parts of 64"
      %blocks = arith.ceildivsi %n, %part : index
      scf.if %large {
        gpu.launch_func @kernels::@two blocks in (%blocks, %one, %one) threads in (%warp, %one, %one) dynamic_shared_memory_size %zero args(%x : !t, %y : !t)
      }
    }
    return
  }
}
