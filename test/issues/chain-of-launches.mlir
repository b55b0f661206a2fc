// Launches by hand that hand a tensor on in a workspace, and say what each computes: all are verified, and the one that is wrong is named.
//
// RUN: cute-opt %s --cute-compile="arch=sm_80 package=%t.cutepkg" -o /dev/null
// RUN: cute-run --info %t.cutepkg | FileCheck %s --check-prefix=INFO
// RUN: cute-run %t.cutepkg --device=emulator --seeds 2 --function right | FileCheck %s --check-prefix=RIGHT
// RUN: %python %inputs/status.py 1 cute-run %t.cutepkg --device=emulator --function second_is_wrong 2>&1 | FileCheck %s --check-prefix=SECOND
// RUN: %python %inputs/status.py 1 cute-run %t.cutepkg --device=emulator --function first_is_wrong 2>&1 | FileCheck %s --check-prefix=FIRST
// RUN: %python %inputs/status.py 1 cute-run %t.cutepkg --device=emulator --function branch_is_wrong --set n=1 2>&1 | FileCheck %s --check-prefix=BRANCH
// RUN: cute-run %t.cutepkg --device=emulator --function branch_is_wrong --set n=0 2>&1 | FileCheck %s --check-prefix=OTHER
//
// INFO-LABEL: function right
// INFO:       computes workspace.0 = x
// INFO-NEXT:  computes y(i) = select(workspace.0(i) > 0.5, 1, 0) + round_even(workspace.0(i))
// INFO-NEXT:  tensor workspace.0 = f32 (128):(1), in the workspace
//
// The second op decides by what the first one left.
// RIGHT:      workspace.0 (128){{.*}}: right
// RIGHT:      y (128){{.*}}: right
//
// SECOND:     workspace.0 (128){{.*}}: right
// SECOND:     y (128){{.*}}: WRONG
// SECOND:     1 of the compared elements of y are wrong
//
// What follows from a wrong number is right.
// FIRST:      workspace.0 (128){{.*}}: WRONG
// FIRST:      1 of the compared elements of workspace.0 are wrong
// FIRST:      y (128){{.*}}: right
//
// BRANCH:     1 of the compared elements of y are wrong
// OTHER:      y (128){{.*}}: right

!t = !cute.memref<f32, gmem, align<16>, "(128):(1)">
!w = !cute.ptr<f32, gmem, align<16>>

module attributes {gpu.container_module} {

gpu.module @kernels {
  // Copies, and adds to the element of that index.
  gpu.func @copy(%from: !t, %to: !t, %wrong: i32) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %tx = gpu.thread_id x
    %t = arith.index_cast %tx : index to i32
    %at = cute.make_coord(%t) : (i32) -> !cute.coord<"?">
    %x = cute.memref.load(%from, %at) : (!t, !cute.coord<"?">) -> f32
    %is = arith.cmpi eq, %t, %wrong : i32
    %one = arith.constant 1.0 : f32
    %none = arith.constant 0.0 : f32
    %more = arith.select %is, %one, %none : f32
    %y = arith.addf %x, %more : f32
    cute.memref.store(%to, %at, %y) : (!t, !cute.coord<"?">, f32) -> ()
    gpu.return
  }
  // What @steps computes, and adds to the element of that index.
  gpu.func @step(%from: !t, %to: !t, %wrong: i32) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %tx = gpu.thread_id x
    %t = arith.index_cast %tx : index to i32
    %at = cute.make_coord(%t) : (i32) -> !cute.coord<"?">
    %x = cute.memref.load(%from, %at) : (!t, !cute.coord<"?">) -> f32
    %is = arith.cmpi eq, %t, %wrong : i32
    %half = arith.constant 0.5 : f32
    %one = arith.constant 1.0 : f32
    %none = arith.constant 0.0 : f32
    %more = arith.select %is, %one, %none : f32
    %above = arith.cmpf ogt, %x, %half : f32
    %first = arith.select %above, %one, %none : f32
    %round = math.roundeven %x : f32
    %sum = arith.addf %first, %round : f32
    %y = arith.addf %sum, %more : f32
    cute.memref.store(%to, %at, %y) : (!t, !cute.coord<"?">, f32) -> ()
    gpu.return
  }
}

func.func private @steps(%x: f32) -> f32 {
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %none = arith.constant 0.0 : f32
  %above = arith.cmpf ogt, %x, %half : f32
  %first = arith.select %above, %one, %none : f32
  %round = math.roundeven %x : f32
  %y = arith.addf %first, %round : f32
  return %y : f32
}

func.func @right(%x: !t {cute.name = "x"}, %y: !t {cute.name = "y"}) attributes {cute.computes = [{copy = array<i64: 0, 2>}, {map = @steps, ins = array<i64: 2>, outs = array<i64: 1>}]} {
  %none = arith.constant 0 : i32
  %no = arith.constant -1 : i32
  %here = arith.constant 77 : i32
  %one = arith.constant 1 : index
  %threads = arith.constant 128 : index
  %some = arith.constant 512 : index
  %p = cute.workspace(%some) : !w
  %h = cute.make_view(%p, "(128):(1)") : !t
  cute.compute_view 2 !t (%p : !w)
  gpu.launch_func @kernels::@copy blocks in (%one, %one, %one) threads in (%threads, %one, %one) dynamic_shared_memory_size %none args(%x : !t, %h : !t, %no : i32)
  gpu.launch_func @kernels::@step blocks in (%one, %one, %one) threads in (%threads, %one, %one) dynamic_shared_memory_size %none args(%h : !t, %y : !t, %no : i32)
  return
}

func.func @second_is_wrong(%x: !t {cute.name = "x"}, %y: !t {cute.name = "y"}) attributes {cute.computes = [{copy = array<i64: 0, 2>}, {map = @steps, ins = array<i64: 2>, outs = array<i64: 1>}]} {
  %none = arith.constant 0 : i32
  %no = arith.constant -1 : i32
  %here = arith.constant 77 : i32
  %one = arith.constant 1 : index
  %threads = arith.constant 128 : index
  %some = arith.constant 512 : index
  %p = cute.workspace(%some) : !w
  %h = cute.make_view(%p, "(128):(1)") : !t
  cute.compute_view 2 !t (%p : !w)
  gpu.launch_func @kernels::@copy blocks in (%one, %one, %one) threads in (%threads, %one, %one) dynamic_shared_memory_size %none args(%x : !t, %h : !t, %no : i32)
  gpu.launch_func @kernels::@step blocks in (%one, %one, %one) threads in (%threads, %one, %one) dynamic_shared_memory_size %none args(%h : !t, %y : !t, %here : i32)
  return
}

func.func @first_is_wrong(%x: !t {cute.name = "x"}, %y: !t {cute.name = "y"}) attributes {cute.computes = [{copy = array<i64: 0, 2>}, {map = @steps, ins = array<i64: 2>, outs = array<i64: 1>}]} {
  %none = arith.constant 0 : i32
  %no = arith.constant -1 : i32
  %here = arith.constant 77 : i32
  %one = arith.constant 1 : index
  %threads = arith.constant 128 : index
  %some = arith.constant 512 : index
  %p = cute.workspace(%some) : !w
  %h = cute.make_view(%p, "(128):(1)") : !t
  cute.compute_view 2 !t (%p : !w)
  gpu.launch_func @kernels::@copy blocks in (%one, %one, %one) threads in (%threads, %one, %one) dynamic_shared_memory_size %none args(%x : !t, %h : !t, %here : i32)
  gpu.launch_func @kernels::@step blocks in (%one, %one, %one) threads in (%threads, %one, %one) dynamic_shared_memory_size %none args(%h : !t, %y : !t, %no : i32)
  return
}

func.func @branch_is_wrong(%x: !t {cute.name = "x"}, %y: !t {cute.name = "y"}, %n: i32 {cute.name = "n"}) attributes {cute.computes = [{copy = array<i64: 0, 1>}, {map = @steps, ins = array<i64: 0>, outs = array<i64: 1>}]} {
  %none = arith.constant 0 : i32
  %no = arith.constant -1 : i32
  %here = arith.constant 77 : i32
  %one = arith.constant 1 : index
  %threads = arith.constant 128 : index
  %is = arith.cmpi eq, %n, %none : i32
  scf.if %is {
    cute.compute_here 0
    gpu.launch_func @kernels::@copy blocks in (%one, %one, %one) threads in (%threads, %one, %one) dynamic_shared_memory_size %none args(%x : !t, %y : !t, %no : i32)
  } else {
    cute.compute_here 1
    gpu.launch_func @kernels::@step blocks in (%one, %one, %one) threads in (%threads, %one, %one) dynamic_shared_memory_size %none args(%x : !t, %y : !t, %here : i32)
  }
  return
}

}
