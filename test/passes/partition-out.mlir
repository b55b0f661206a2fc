// C out of shared memory where it may reach over the end of a matrix, and its lines begin anywhere: a thread copies 64 numbers one by one, in a loop
// of eight at a time. Written out, the addresses and conditions of all would be kept in registers from one tile to the next, and spilled.
//
// RUN: cute-opt %s --cute-tile="arch=sm_90a tile=128x128x64 warps=4x1 teams=2" --cute-partition | FileCheck %s
// A spill is an error.
// RUN: cute-opt %s --cute-compile="arch=sm_90a tile=128x128x64 warps=4x1 teams=2 package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator --sms 2 --shape A=150x72x2 --shape B=131x72x2 --shape C=150x131x2 | FileCheck %s --check-prefix=RIGHT
// RIGHT: right

// Rows of eight turns: 16 of a tile's 128 in each.
// CHECK-LABEL: gpu.func @open_kernel(
// CHECK:         scf.for
// CHECK-SAME:      step
// CHECK:         cute.autovec_copy
// CHECK:         %[[C8:.*]] = arith.constant 8 : i32
// CHECK:         scf.for %[[TURN:.*]] = %{{.*}} to %[[C8]] step
// CHECK:           %[[AT:.*]] = cute.make_coord(%[[TURN]]) : (i32) -> !cute.coord<"(?,0)">
// CHECK:           cute.local_tile({{.*}}!cute.tile<"[16:1;64:1]">, !cute.coord<"(?,0)">)
// CHECK:           cute.copy({{.*}}!cute.memref<i1, rmem, "(8,1):(1,0)">)
// CHECK-NEXT:    }
!m = !cute.memref<f16, gmem, align<16>, "(?,?,?):(?{i64 div=8},1,?{i64 div=8})">
!c = !cute.memref<f16, gmem, align<2>, "(?,?,?):(?{i64},1,?{i64})">
func.func @open(%A: !m, %B: !m, %C: !c) {
  cute.contract ins(%A, %B : !m, !m) outs(%C : !c) accumulate f32
  return
}
