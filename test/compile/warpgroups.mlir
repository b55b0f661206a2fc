// Products of whole tensors by warpgroups: TMA, wgmma and roles from cute.contract alone, right on the emulator without findings.
//
// RUN: cute-opt %s --cute-compile="arch=sm_90a instructions=wgmma package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --function along_k --device=emulator --sms 2 --seeds 2 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t.cutepkg --function along_m_n --device=emulator --sms 2 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t.cutepkg --function columns --device=emulator --sms 2 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t.cutepkg --function integers --device=emulator --sms 2 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t.cutepkg --function bytes --device=emulator --sms 2 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t.cutepkg --function tf32 --device=emulator --sms 2 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t.cutepkg --function batch --device=emulator --sms 2 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t.cutepkg --function odd --device=emulator --sms 2 --seeds 2 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t.cutepkg --function epilogue --device=emulator --sms 2 --seeds 2 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t.cutepkg --function open --device=emulator --sms 2 --shape A=200x136 --shape B=264x136 --shape C=200x264 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t.cutepkg --function open --device=emulator --sms 2 --shape A=0x64 --shape B=264x64 --shape C=0x264 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t.cutepkg --function open --device=emulator --sms 2 --shape A=64x0 --shape B=72x0 --shape C=64x72 | FileCheck %s --check-prefix=RIGHT
//
// RIGHT: : right;
// RIGHT: no findings
//

!f16_256x128 = !cute.memref<f16, gmem, align<16>, "(256,128):(128,1)">
!f16_192x128 = !cute.memref<f16, gmem, align<16>, "(192,128):(128,1)">
!C = !cute.memref<f16, gmem, align<16>, "(256,192):(192,1)">
func.func @along_k(%A: !f16_256x128 {cute.name = "A"}, %B: !f16_192x128 {cute.name = "B"}, %C: !C {cute.name = "C"}) {
  cute.contract ins(%A, %B : !f16_256x128, !f16_192x128) outs(%C : !C) accumulate f32
  return
}

!A_m = !cute.memref<bf16, gmem, align<16>, "(256,128):(1,256)">
!B_n = !cute.memref<bf16, gmem, align<16>, "(192,128):(1,192)">
!C_bf16 = !cute.memref<bf16, gmem, align<16>, "(256,192):(192,1)">
func.func @along_m_n(%A: !A_m {cute.name = "A"}, %B: !B_n {cute.name = "B"}, %C: !C_bf16 {cute.name = "C"}) {
  cute.contract ins(%A, %B : !A_m, !B_n) outs(%C : !C_bf16) accumulate f32
  return
}

!C_columns = !cute.memref<f16, gmem, align<16>, "(256,192):(1,256)">
func.func @columns(%A: !f16_256x128 {cute.name = "A"}, %B: !f16_192x128 {cute.name = "B"}, %C: !C_columns {cute.name = "C"}) {
  cute.contract ins(%A, %B : !f16_256x128, !f16_192x128) outs(%C : !C_columns) accumulate f32
  return
}

!A_i8 = !cute.memref<i8, gmem, align<16>, "(128,256):(256,1)">
!B_i8 = !cute.memref<i8, gmem, align<16>, "(128,256):(256,1)">
!C_i32 = !cute.memref<i32, gmem, align<16>, "(128,128):(128,1)">
func.func @integers(%A: !A_i8 {cute.name = "A"}, %B: !B_i8 {cute.name = "B"}, %C: !C_i32 {cute.name = "C"}) {
  cute.contract ins(%A, %B : !A_i8, !B_i8) outs(%C : !C_i32) accumulate i32
  return
}

!A_f8 = !cute.memref<f8E4M3FN, gmem, align<16>, "(128,256):(256,1)">
!B_f8 = !cute.memref<f8E5M2, gmem, align<16>, "(128,256):(256,1)">
!C_128 = !cute.memref<f16, gmem, align<16>, "(128,128):(128,1)">
func.func @bytes(%A: !A_f8 {cute.name = "A"}, %B: !B_f8 {cute.name = "B"}, %C: !C_128 {cute.name = "C"}) {
  cute.contract ins(%A, %B : !A_f8, !B_f8) outs(%C : !C_128) accumulate f32
  return
}

!A_tf32 = !cute.memref<tf32, gmem, align<16>, "(128,96):(96,1)">
!C_f32 = !cute.memref<f32, gmem, align<16>, "(128,128):(128,1)">
func.func @tf32(%A: !A_tf32 {cute.name = "A"}, %B: !A_tf32 {cute.name = "B"}, %C: !C_f32 {cute.name = "C"}) {
  cute.contract ins(%A, %B : !A_tf32, !A_tf32) outs(%C : !C_f32) accumulate f32
  return
}

!A_batch = !cute.memref<f16, gmem, align<16>, "(128,128,3):(128,1,16384)">
!B_batch = !cute.memref<f16, gmem, align<16>, "(64,128,3):(128,1,8192)">
!C_batch = !cute.memref<f16, gmem, align<16>, "(128,64,3):(64,1,8192)">
func.func @batch(%A: !A_batch {cute.name = "A"}, %B: !B_batch {cute.name = "B"}, %C: !C_batch {cute.name = "C"}) {
  cute.contract ins(%A, %B : !A_batch, !B_batch) outs(%C : !C_batch) accumulate f32
  return
}

// TMA brings A and B, whose lines start at multiples of 16 bytes, and C goes out by threads.
!A_odd = !cute.memref<f16, gmem, align<16>, "(250,131):(136,1)">
!B_odd = !cute.memref<f16, gmem, align<16>, "(189,131):(136,1)">
!C_odd = !cute.memref<f16, gmem, align<2>, "(250,189):(189,1)">
func.func @odd(%A: !A_odd {cute.name = "A"}, %B: !B_odd {cute.name = "B"}, %C: !C_odd {cute.name = "C"}) {
  cute.contract ins(%A, %B : !A_odd, !B_odd) outs(%C : !C_odd) accumulate f32
  return
}

!bias = !cute.memref<f32, gmem, align<16>, "(250,189):(0,1)">
func.func @epilogue(%A: !A_odd {cute.name = "A"}, %B: !B_odd {cute.name = "B"}, %C: !C_odd {cute.name = "C"}, %bias: !bias {cute.name = "bias"}) {
  cute.contract ins(%A, %B : !A_odd, !B_odd) outs(%C : !C_odd) accumulate f32 epilogue ins(%bias : !bias) {
  ^bb0(%sum: f32, %b: f32):
    %biased = arith.addf %sum, %b : f32
    %zero = arith.constant 0.0 : f32
    %relu = arith.maximumf %biased, %zero : f32
    %rounded = arith.truncf %relu : f32 to f16
    cute.yield %rounded : f16
  }
  return
}

!open = !cute.memref<f16, gmem, align<16>, "(?,?):(?{div=8},1)">
func.func @open(%A: !open {cute.name = "A"}, %B: !open {cute.name = "B"}, %C: !open {cute.name = "C"}) {
  cute.contract ins(%A, %B : !open, !open) outs(%C : !open) accumulate f32
  return
}
