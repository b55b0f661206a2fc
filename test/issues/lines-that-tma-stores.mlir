// TMA stores whole 16 bytes, wherever the lines of a tensor end among them (an H100 does): what is behind lines of C that end elsewhere stays as it is, since threads
// store them. Where only a launch knows, it takes the kernel that does.
//
// RUN: cute-opt %s --cute-compile="arch=sm_90a instructions=wgmma package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator --sms 4 --function columns | FileCheck %s --check-prefix=COLUMNS
// RUN: cute-run %t.cutepkg --device=emulator --sms 4 --function rows | FileCheck %s --check-prefix=ROWS
// RUN: cute-run %t.cutepkg --device=emulator --sms 4 --function open --layout "C=(96,252):(256,1)" --shape B=252x64
// RUN: cute-run %t.cutepkg --device=emulator --sms 4 --function open --layout "C=(96,256):(256,1)" --shape B=256x64
// RUN: cute-run %t.cutepkg --info | FileCheck %s --check-prefix=INFO
// COLUMNS: C (252,96), sums of 64: right
// COLUMNS: no findings
// ROWS: C (96,252), sums of 64: right
// ROWS: no findings
// INFO-NOT: map of C (252 x 96)

!A = !cute.memref<f16, gmem, align<16>, "(252,64):(64,1)">
!B = !cute.memref<f16, gmem, align<16>, "(96,64):(64,1)">
!C = !cute.memref<f16, gmem, align<16>, "(252,96):(1,256)">
func.func @columns(%A: !A, %B: !B, %C: !C) {
  cute.contract ins(%A, %B : !A, !B) outs(%C : !C) accumulate f32
  return
}

!D = !cute.memref<f16, gmem, align<16>, "(96,252):(256,1)">
func.func @rows(%A: !B, %B: !A, %C: !D) {
  cute.contract ins(%A, %B : !B, !A) outs(%C : !D) accumulate f32
  return
}

!O = !cute.memref<f16, gmem, align<16>, "(?,64):(64,1)">
!E = !cute.memref<f16, gmem, align<16>, "(96,?):(?{div=8},1)">
func.func @open(%A: !B, %B: !O, %C: !E) {
  cute.contract ins(%A, %B : !B, !O) outs(%C : !E) accumulate f32
  return
}
