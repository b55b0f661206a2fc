// An intrinsic that the architecture does not have: an error, not an abort.
//
// RUN: not cute-opt %s --cute-compile="arch=sm_80" 2>&1 | FileCheck %s
// CHECK:     error: LLVM cannot compile this module: {{.*}}llvm.nvvm.prefetch.global.L2; is there an intrinsic or inline assembly that the architecture does not have? Nothing was written
// CHECK-NOT: Stack dump

gpu.module @kernels {
  gpu.func @k(%p: !llvm.ptr<1>) kernel {
    llvm.call_intrinsic "llvm.nvvm.prefetch.global.L2"(%p) : (!llvm.ptr<1>) -> ()
    gpu.return
  }
}
