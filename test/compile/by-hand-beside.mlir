// A kernel that somebody wrote beside products of whole tensors, whose kernels go into its module: a package has one image for an architecture.
//
// RUN: cute-opt %s --cute-tile="arch=sm_80" | FileCheck %s
// CHECK-NOT:     gpu.module
// CHECK:         gpu.module @mine
// CHECK:           gpu.func @f_kernel(
// CHECK:           gpu.func @f_of_1_kernel(
// CHECK-NOT:     gpu.module
// RUN: cute-opt %s --cute-compile="arch=sm_80 package=%t.80.cutepkg" -o /dev/null
// RUN: cute-opt %s --cute-compile="arch=sm_90a package=%t.90.cutepkg" -o /dev/null
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator | FileCheck %s --check-prefix=RIGHT
// RIGHT-COUNT-2: C (33,40), sums of 64: right; every element compared
//
// Of several modules nobody says which it is.
//
// RUN: sed 's/^  gpu.module @mine/  gpu.module @other {}\n  gpu.module @mine/' %s > %t.mlir
// RUN: not cute-opt %t.mlir --cute-compile="arch=sm_80 package=%t.cutepkg" -o /dev/null 2>&1 | FileCheck %s --check-prefix=SEVERAL
// SEVERAL: expected one gpu.binary for each architecture; put the kernels into one gpu.module

!a = !cute.memref<f16, gmem, align<16>, "(33,64):(64,1)">
!b = !cute.memref<f16, gmem, align<16>, "(40,64):(64,1)">
!c = !cute.memref<f16, gmem, align<16>, "(33,40):(40,1)">
!v = !cute.memref<f32, gmem, align<16>, "128:1">
module attributes {gpu.container_module} {
  gpu.module @mine {
    // Its name is one that the product's kernel would have.
    gpu.func @f_kernel(%X: !v) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
      %t = gpu.thread_id x
      %i = arith.index_cast %t : index to i32
      %c = cute.make_coord(%i) : (i32) -> !cute.coord<"?">
      %x = cute.memref.load(%X, %c) : (!v, !cute.coord<"?">) -> f32
      %y = arith.addf %x, %x : f32
      cute.memref.store(%X, %c, %y) : (!v, !cute.coord<"?">, f32) -> ()
      gpu.return
    }
  }
  func.func @f(%A: !a, %B: !b, %C: !c, %X: !v) {
    %none = arith.constant 0 : i32
    %c1 = arith.constant 1 : index
    %c128 = arith.constant 128 : index
    gpu.launch_func @mine::@f_kernel blocks in (%c1, %c1, %c1) threads in (%c128, %c1, %c1) dynamic_shared_memory_size %none args(%X : !v)
    cute.contract ins(%A, %B : !a, !b) outs(%C : !c) accumulate f32
    return
  }
}
