// A package that leaves shapes and numbers to the launch: what the host function computes of them is what the package says, and
// one package runs on tensors of several sizes.
//
// RUN: rm -rf %t && mkdir %t
// RUN: cute-opt %s --cute-compile="arch=sm_80 package=%t/scale.cutepkg" -o /dev/null
// RUN: cute-run --info %t/scale.cutepkg | FileCheck %s --check-prefix=INFO
// RUN: cute-run %t/scale.cutepkg --device=emulator --shape x=5x64 --shape y=5x64 --set alpha=2.5 | FileCheck %s --check-prefix=SMALL
// RUN: cute-run %t/scale.cutepkg --device=emulator --shape x=33x96 --layout "y=(33,96):(100,1)" | FileCheck %s --check-prefix=LARGE
// RUN: not cute-run %t/scale.cutepkg --device=emulator --shape x=5x48 --shape y=5x48 2>&1 | FileCheck %s --check-prefix=WHOLE
// RUN: not cute-run %t/scale.cutepkg --device=emulator --shape x=5x64 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not cute-run %t/scale.cutepkg --device=emulator --shape x=5x64 --layout "y=(5,64):(66,1)" 2>&1 | FileCheck %s --check-prefix=DIVIDED

!T = !cute.memref<f32, gmem, align<16>, "(?,?):(?{div=4},1)">
!L = !cute.layout<"(?,?):(?{div=4},1)">

// INFO:      | x        | f32     | (?,?):(?{div=4},1)     | 16 B  | read   |
// INFO-NEXT: | y        | f32     | (?,?):(?{div=4},1)     | 16 B  | write  |
// INFO-NEXT: | alpha    | f32     | a number, 2.0 if not set | -     | read   |
// INFO-NEXT: computes y = alpha * x
// INFO-NEXT: requires eq(rem(x.shape[1], 32), 0): blocks are whole
// INFO-NEXT: launch 0: scale(x, x.shape[0], x.shape[1], x.stride[0], y, y.shape[0], y.shape[1], y.stride[0], alpha), grid (ceil_div(x.shape[1], 32), x.shape[0], 1), block 32x1x1, 0 B of dynamic shared memory
// INFO:      .u64 .u32 .u32 .u32 .u64 .u32 .u32 .u32 .f32

// SMALL: y (5,64), axpby: right
// SMALL: no findings
// LARGE: y (33,96), axpby: right
// LARGE: no findings
// WHOLE: error: {{.*}}scale.cutepkg: function scale_all: blocks are whole
// MISSING: error: argument y: expected a shape for layout (?,?):(?{div=4},1)
// DIVIDED: error: argument y: expected layout (?,?):(?{div=4},1), found (5,64):(66,1): stride[0] is 66, which 4 does not divide; pad the tensor

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @scale(%in: !T, %out: !T, %alpha: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
      %bx = gpu.block_id x
      %by = gpu.block_id y
      %tx = gpu.thread_id x
      %w = gpu.block_dim x
      %j0 = arith.muli %bx, %w : index
      %j1 = arith.addi %j0, %tx : index
      %j = arith.index_cast %j1 : index to i32
      %i = arith.index_cast %by : index to i32
      %c = cute.make_coord(%i, %j) : (i32, i32) -> !cute.coord<"(?,?)">
      %v = cute.memref.load(%in, %c) : (!T, !cute.coord<"(?,?)">) -> f32
      %s = arith.mulf %v, %alpha : f32
      cute.memref.store(%out, %c, %s) : (!T, !cute.coord<"(?,?)">, f32) -> ()
      gpu.return
    }
  }
  func.func @scale_all(%in: !T, %out: !T, %alpha: f32 {cute.default = 2.0 : f32}) attributes {
      cute.computes = [{axpby = array<i64: 0, 1>, alpha = 2 : index, beta = 0.0 : f32}]} {
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0 : i32
    %threads = arith.constant 32 : index
    %width = arith.constant 32 : i32
    %l = cute.get_layout(%in) : !T
    %m, %n, %ld = cute.get_scalars <{only_dynamic}>(%l) : !L
    %rest = arith.remsi %n, %width : i32
    %whole = arith.cmpi eq, %rest, %zero : i32
    cf.assert %whole, "blocks are whole"
    %blocks = arith.ceildivui %n, %width : i32
    %gx = arith.index_cast %blocks : i32 to index
    %gy = arith.index_cast %m : i32 to index
    gpu.launch_func @kernels::@scale blocks in (%gx, %gy, %c1) threads in (%threads, %c1, %c1)
      dynamic_shared_memory_size %zero args(%in : !T, %out : !T, %alpha : f32)
    return
  }
}
