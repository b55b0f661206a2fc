// A function may give its kernels a workspace: each op has bytes of its own, and of two branches those of the one that is taken.
//
// RUN: cute-opt %s --cute-compile="arch=sm_80 package=%t.cutepkg" -o /dev/null
// RUN: cute-run --info %t.cutepkg | FileCheck %s
// RUN: cute-run %t.cutepkg --device=emulator --no-verify --seeds 2 --function chain
// RUN: cute-run %t.cutepkg --device=emulator --no-verify --seeds 2 --function branches --set n=1
// RUN: cute-run %t.cutepkg --device=emulator --no-verify --seeds 2 --function branches --set n=0
//
// What no kernel wrote there is not read.
// RUN: %python %inputs/status.py 1 cute-run %t.cutepkg --device=emulator --no-verify --function unwritten 2>&1 | FileCheck %s --check-prefix=UNWRITTEN
// UNWRITTEN: uninitialised memory:
// UNWRITTEN: workspace at byte

!t = !cute.memref<f32, gmem, align<16>, "(128):(1)">
!w = !cute.ptr<f32, gmem, align<16>>
!l = !cute.layout<"(128):(1)">

module attributes {gpu.container_module} {

gpu.module @kernels {
  gpu.func @copy(%from: !t, %to: !t) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %tx = gpu.thread_id x
    %t = arith.index_cast %tx : index to i32
    %at = cute.make_coord(%t) : (i32) -> !cute.coord<"?">
    %x = cute.memref.load(%from, %at) : (!t, !cute.coord<"?">) -> f32
    cute.memref.store(%to, %at, %x) : (!t, !cute.coord<"?">, f32) -> ()
    gpu.return
  }
  gpu.func @copy_in(%from: !t, %to: !w) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %tx = gpu.thread_id x
    %t = arith.index_cast %tx : index to i32
    %at = cute.make_coord(%t) : (i32) -> !cute.coord<"?">
    %l = cute.static : !l
    %v = cute.make_view(%to, %l) : !t
    %x = cute.memref.load(%from, %at) : (!t, !cute.coord<"?">) -> f32
    cute.memref.store(%v, %at, %x) : (!t, !cute.coord<"?">, f32) -> ()
    gpu.return
  }
}

// A pointer is passed as it is, or as a tensor that starts there.
// CHECK:      function chain
// CHECK:      workspace: 1280 B
// CHECK-NEXT: launch 0: copy_in(arg0, workspace), grid
// CHECK-NEXT: launch 1: copy(workspace, workspace + 512), grid
// CHECK-NEXT: launch 2: copy(workspace + 512, arg1), grid
func.func @chain(%x: !t {cute.access = "read"}, %y: !t {cute.access = "write"}) {
  %none = arith.constant 0 : i32
  %one = arith.constant 1 : index
  %threads = arith.constant 128 : index
  %some = arith.constant 512 : index
  %more = arith.constant 516 : index
  %l = cute.static : !l
  %a = cute.workspace(%some) : !w
  %b = cute.workspace(%more) : !w
  %from = cute.make_view(%a, %l) : !t
  %to = cute.make_view(%b, %l) : !t
  gpu.launch_func @kernels::@copy_in blocks in (%one, %one, %one) threads in (%threads, %one, %one) dynamic_shared_memory_size %none args(%x : !t, %a : !w)
  gpu.launch_func @kernels::@copy blocks in (%one, %one, %one) threads in (%threads, %one, %one) dynamic_shared_memory_size %none args(%from : !t, %to : !t)
  gpu.launch_func @kernels::@copy blocks in (%one, %one, %one) threads in (%threads, %one, %one) dynamic_shared_memory_size %none args(%to : !t, %y : !t)
  return
}

// What both branches need is there once; what is behind them, behind the larger one of those that are taken.
// CHECK:      function branches
// CHECK:      v0 = (select(lt(0, n), 1024, 512) + 512)
// CHECK:      workspace: v0 B
// CHECK:      launch 1: copy(workspace, workspace + 512)
// CHECK:      launch 3: copy_in(arg0, workspace), grid
// CHECK:      launch 4: copy_in(arg0, workspace + select(lt(0, n), 1024, 512)), grid
func.func @branches(%x: !t {cute.access = "read"}, %y: !t {cute.access = "read_write"}, %n: i32 {cute.name = "n"}) {
  %none = arith.constant 0 : i32
  %one = arith.constant 1 : index
  %threads = arith.constant 128 : index
  %some = arith.constant 512 : index
  %zero = arith.constant 0 : i32
  %l = cute.static : !l
  %is = arith.cmpi sgt, %n, %zero : i32
  scf.if %is {
    %a = cute.workspace(%some) : !w
    %b = cute.workspace(%some) : !w
    %from = cute.make_view(%a, %l) : !t
    %to = cute.make_view(%b, %l) : !t
    gpu.launch_func @kernels::@copy_in blocks in (%one, %one, %one) threads in (%threads, %one, %one) dynamic_shared_memory_size %none args(%x : !t, %a : !w)
    gpu.launch_func @kernels::@copy blocks in (%one, %one, %one) threads in (%threads, %one, %one) dynamic_shared_memory_size %none args(%from : !t, %to : !t)
    gpu.launch_func @kernels::@copy blocks in (%one, %one, %one) threads in (%threads, %one, %one) dynamic_shared_memory_size %none args(%to : !t, %y : !t)
  } else {
    %a = cute.workspace(%some) : !w
    gpu.launch_func @kernels::@copy_in blocks in (%one, %one, %one) threads in (%threads, %one, %one) dynamic_shared_memory_size %none args(%x : !t, %a : !w)
  }
  %c = cute.workspace(%some) : !w
  gpu.launch_func @kernels::@copy_in blocks in (%one, %one, %one) threads in (%threads, %one, %one) dynamic_shared_memory_size %none args(%x : !t, %c : !w)
  return
}

func.func @unwritten(%x: !t {cute.access = "read"}, %y: !t {cute.access = "write"}) {
  %none = arith.constant 0 : i32
  %one = arith.constant 1 : index
  %threads = arith.constant 128 : index
  %some = arith.constant 512 : index
  %l = cute.static : !l
  %a = cute.workspace(%some) : !w
  %from = cute.make_view(%a, %l) : !t
  gpu.launch_func @kernels::@copy blocks in (%one, %one, %one) threads in (%threads, %one, %one) dynamic_shared_memory_size %none args(%from : !t, %y : !t)
  return
}

}
