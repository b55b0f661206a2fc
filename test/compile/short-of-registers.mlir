// A plan whose products run one after another for want of registers is an error where somebody asked for it, and gives way to others where
// it was chosen. Which plans those are ptxas alone knows: this one needs the epilogue and parts of K in a cluster beside factors in registers.
//
// RUN: %python %inputs/status.py 1 cute-opt %s --cute-compile="arch=sm_90a tile=128x224x128 stages=2 cluster=1x1x2" -o /dev/null 2>&1 | FileCheck %s --check-prefix=ASKED
// ASKED: short-of-registers.mlir:[[# @LINE + 9]]:3: error: products of the kernel product_kernel run one after another for want of registers, says ptxas; choose a smaller tile of C
//
// RUN: cute-opt %s --cute-compile="arch=sm_90a" -o %t.mlir 2>&1 | FileCheck %s --check-prefix=CHOSEN
// CHOSEN:     remark: the kernel product_kernel_{{[0-9]+}} has too few registers by tile=128x224x128 warps=8x1 stages=2; another plan is chosen in its place
// CHOSEN-NOT: error
// RUN: FileCheck %s --input-file=%t.mlir
// CHECK-NOT: tile = 128x224x128, stages = 2,
// CHECK:     gpu.binary
func.func @product(%A: !cute.memref<f16, gmem, align<16>, "(?,4096):(4096,1)"> {cute.name = "A"}, %B: !cute.memref<i8, gmem, align<16>, "(4096,4096):(4096,1)"> {cute.name = "B"}, %C0: !cute.memref<f16, gmem, align<16>, "(?,4096):(4096,1)"> {cute.name = "C0"}, %E0: !cute.memref<f16, gmem, align<16>, "(?,4096):(0,1)"> {cute.name = "E0"}) {
  cute.contract ins(%A, %B : !cute.memref<f16, gmem, align<16>, "(?,4096):(4096,1)">, !cute.memref<i8, gmem, align<16>, "(4096,4096):(4096,1)">)
    outs(%C0 : !cute.memref<f16, gmem, align<16>, "(?,4096):(4096,1)">) accumulate f32 prologue B {
  ^bb0(%x: i8):
    %y = arith.sitofp %x : i8 to f16
    cute.yield %y : f16
  } epilogue ins(%E0 : !cute.memref<f16, gmem, align<16>, "(?,4096):(0,1)">) {
  ^bb0(%sum: f32, %e0: f16):
    %v0 = arith.extf %e0 : f16 to f32
    %v1 = arith.mulf %sum, %v0 : f32
    %v2 = arith.truncf %v1 : f32 to f16
    cute.yield %v2 : f16
  }
  return
}
