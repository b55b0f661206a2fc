// Outputs beside C of one row or one column, whatever their stride there: they are not reduced.
//
// RUN: cute-opt %s --cute-compile="arch=sm_80 variants=1 package=%t.80.cutepkg" -o /dev/null
// RUN: cute-opt %s --cute-compile="arch=sm_90a variants=1 package=%t.90.cutepkg" -o /dev/null
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function column --shape B=1x240 --shape C=256x1 | FileCheck %s --check-prefix=COLUMN
// COLUMN-COUNT-2: D1 (256,1), {{.*}}: right
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function row --shape A=1x240 --shape C=1x769 | FileCheck %s --check-prefix=ROW
// ROW-COUNT-2: D1 (1,769), {{.*}}: right
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function open --shape A=1x240 --shape C=1x769 --shape D1=1x769 | FileCheck %s --check-prefix=OPEN
// OPEN-COUNT-2: D1 (1,769), {{.*}}: right

!A = !cute.memref<f16, gmem, align<16>, "(256,240):(240,1)">
!B = !cute.memref<f16, gmem, align<16>, "(?,240):(240,1)">
!C = !cute.memref<f16, gmem, align<2>, "(256,?):(25,1)">
!D = !cute.memref<f16, gmem, align<8>, "(256,1):(2,512)">
func.func @column(%A: !A, %B: !B, %C: !C, %D: !D) {
  cute.contract ins(%A, %B : !A, !B) outs(%C, %D : !C, !D) accumulate f32 epilogue {
  ^bb0(%sum: f32):
    %narrow = arith.truncf %sum : f32 to f16
    cute.yield %narrow, %narrow : f16, f16
  }
  return
}

!x = !cute.memref<f16, gmem, align<16>, "(?,240):(240,1)">
!w = !cute.memref<f16, gmem, align<16>, "(769,240):(240,1)">
!y = !cute.memref<f16, gmem, align<2>, "(?,769):(800,1)">
!wide = !cute.memref<f32, gmem, align<16>, "(1,769):(0,1)">
func.func @row(%x: !x, %w: !w, %y: !y, %wide: !wide) {
  cute.contract ins(%x, %w : !x, !w) outs(%y, %wide : !y, !wide) accumulate f32 epilogue {
  ^bb0(%sum: f32):
    %narrow = arith.truncf %sum : f32 to f16
    cute.yield %narrow, %sum : f16, f32
  }
  return
}

!any = !cute.memref<f32, gmem, align<16>, "(1,?):(0,1)">
func.func @open(%x: !x, %w: !w, %y: !y, %wide: !any) {
  cute.contract ins(%x, %w : !x, !w) outs(%y, %wide : !y, !any) accumulate f32 epilogue {
  ^bb0(%sum: f32):
    %narrow = arith.truncf %sum : f32 to f16
    cute.yield %narrow, %sum : f16, f32
  }
  return
}
