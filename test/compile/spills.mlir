// A chosen plan whose kernel the assembler finds to spill registers gives way to the next one, which a remark says; one that somebody asked for is
// an error.
//
// RUN: cute-opt %s --cute-compile="arch=sm_90 package=%t.cutepkg" -o %t.mlir 2>&1 | FileCheck %s --check-prefix=SAID
// SAID:     spills.mlir:{{[0-9]+}}:3: remark: the kernel gemm_kernel{{.*}} has too few registers by tile=32x32x32 warps=1x2 stages=4; another plan is chosen in its place
// SAID-NOT: error
// RUN: FileCheck %s --input-file=%t.mlir
// CHECK:     spill_loads = 0 : i32
// CHECK-NOT: spill_loads = {{[1-9]}}
// RUN: cute-run %t.cutepkg --device=emulator --function gemm --shape A=31x95 --shape B=96x95 --shape C=31x96 --shape B0=96x95
//
// The same every time, and where it comes from the cache.
// RUN: cute-opt %s --cute-compile="arch=sm_90" -o %t.again.mlir
// RUN: diff %t.mlir %t.again.mlir
// RUN: rm -rf %t.cache
// RUN: cute-opt %s --cache=%t.cache --cute-compile="arch=sm_90" -o %t.first.mlir 2> %t.first
// RUN: cute-opt %s --cache=%t.cache --cute-compile="arch=sm_90" -o %t.second.mlir 2> %t.second
// RUN: diff %t.first %t.second
// RUN: diff %t.mlir %t.second.mlir
// RUN: FileCheck %s --check-prefix=SAID --input-file=%t.second
//
// Each level is printed, of the first plan and of the one that is left.
// RUN: cute-opt %s --cute-compile="arch=sm_90" --mlir-print-ir-after=cute-tile -o /dev/null 2>&1 | FileCheck %s --check-prefix=LEVELS
// LEVELS: IR Dump After {{.*}} (cute-tile)
// LEVELS: tile = 32x32x32
// LEVELS: remark:
// LEVELS: IR Dump After {{.*}} (cute-tile)
//
// RUN: %python %inputs/status.py 1 cute-opt %s --cute-compile="arch=sm_90 tile=32x32x32 warps=1x2 stages=4" -o /dev/null 2>&1 | FileCheck %s --check-prefix=ASKED
// ASKED: error: the kernel gemm_kernel spills registers: {{.*}}; try tile=
// ASKED-NOT: remark

!A = !cute.memref<f16, gmem, align<2>, "(31,95):(103,1)">
!B = !cute.memref<i8, gmem, align<128>, "(?,95):(?,1)">
!C = !cute.memref<f16, gmem, align<16>, "(?,?{div=16}):(?{div=8},1)">
!S = !cute.memref<bf16, gmem, align<2>, "(?,95):(?,1)">
func.func @gemm(%A: !A, %B: !B, %C: !C, %scale: !S) {
  cute.contract ins(%A, %B : !A, !B) outs(%C : !C) accumulate f32 prologue B ins(%scale : !S) {
  ^bb0(%x: i8, %e: bf16):
    %v0 = arith.sitofp %x : i8 to f16
    %v1 = arith.extf %e : bf16 to f32
    %v2 = arith.truncf %v1 : f32 to f16
    %v3 = arith.subf %v0, %v2 : f16
    %v4 = arith.constant 1.5 : f16
    %v5 = arith.addf %v3, %v4 : f16
    cute.yield %v5 : f16
  }
  return
}
