// Epilogues of products of warpgroups, computed of sums in registers where they read rows, columns or nothing, by one team: no sums go through shared memory, and C goes
// out by TMA where its rows allow it. Right on the emulator, of sizes that tiles divide and of others.
//
// RUN: cute-opt %s --cute-tile="arch=sm_90a instructions=wgmma teams=1" | FileCheck %s --check-prefix=TILE
// RUN: cute-opt %s --cute-compile="arch=sm_90a instructions=wgmma teams=1 package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --function columns --device=emulator --sms 2 --seeds 2 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t.cutepkg --function rows --device=emulator --sms 2 --seeds 2 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t.cutepkg --function number --device=emulator --sms 2 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t.cutepkg --function odd --device=emulator --sms 2 --seeds 2 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t.cutepkg --function turned --device=emulator --sms 2 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t.cutepkg --function integers --device=emulator --sms 2 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t.cutepkg --function whole --device=emulator --sms 2 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t.cutepkg --function open --device=emulator --sms 2 --shape A=200x136 --shape B=264x136 --shape C=200x264 --shape scale=200x264 --shape bias=200x264 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t.cutepkg --function open --device=emulator --sms 2 --shape A=65x0 --shape B=72x0 --shape C=65x72 --shape scale=65x72 --shape bias=65x72 | FileCheck %s --check-prefix=RIGHT
//
// The same with K shared by a cluster, and with two teams, whose sums go through shared memory.
// RUN: cute-opt %s --cute-compile="arch=sm_90a instructions=wgmma cluster=1x1x2 package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --function columns --device=emulator --sms 4 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t.cutepkg --function odd --device=emulator --sms 4 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-opt %s --cute-tile="arch=sm_90a instructions=wgmma teams=2" | FileCheck %s --check-prefix=TEAMS
//
// RIGHT: : right;
// RIGHT: no findings

!A = !cute.memref<f16, gmem, align<16>, "(256,128):(128,1)">
!B = !cute.memref<f16, gmem, align<16>, "(192,128):(128,1)">
!C = !cute.memref<f16, gmem, align<16>, "(256,192):(192,1)">
!each_column = !cute.memref<f16, gmem, align<16>, "(256,192):(0,1)">
!each_row = !cute.memref<f32, gmem, align<4>, "(256,192):(1,0)">
!one = !cute.memref<f32, gmem, align<4>, "(256,192):(0,0)">

// TILE-LABEL: gpu.func @columns_kernel
// TILE: cute.block.transform C ins(%{{.*}}, %{{.*}} : !cute.memref<f32, rmem, {{.*}}>, !cute.memref<f16, gmem, {{.*}}>) outs(%[[C:.*]] : !cute.memref<f16, rmem,
// TILE: cute.block.copy C (%[[C]], %
// TILE: cute_nvgpu.tma_store
// TEAMS-LABEL: gpu.func @columns_kernel
// TEAMS: cute.block.transform C ins(%{{.*}}, %{{.*}} : !cute.memref<f32, smem, {{.*}}>, !cute.memref<f16, gmem, {{.*}}>) outs(%{{.*}} : !cute.memref<f16, gmem,
func.func @columns(%A: !A {cute.name = "A"}, %B: !B {cute.name = "B"}, %C: !C {cute.name = "C"}, %bias: !each_column {cute.name = "bias"}) {
  cute.contract ins(%A, %B : !A, !B) outs(%C : !C) accumulate f32 epilogue ins(%bias : !each_column) {
  ^bb0(%sum: f32, %e: f16):
    %b = arith.extf %e : f16 to f32
    %x = arith.addf %sum, %b : f32
    %zero = arith.constant 0.0 : f32
    %y = arith.maximumf %x, %zero : f32
    %z = arith.truncf %y : f32 to f16
    cute.yield %z : f16
  }
  return
}

// What it yields is not rounded last: f16 is multiplied.
func.func @rows(%A: !A {cute.name = "A"}, %B: !B {cute.name = "B"}, %C: !C {cute.name = "C"}, %scale: !each_row {cute.name = "scale"}) {
  cute.contract ins(%A, %B : !A, !B) outs(%C : !C) accumulate f32 epilogue ins(%scale : !each_row) {
  ^bb0(%sum: f32, %e: f32):
    %x = arith.mulf %sum, %e : f32
    %y = arith.truncf %x : f32 to f16
    %half = arith.constant 0.5 : f16
    %z = arith.mulf %y, %half : f16
    cute.yield %z : f16
  }
  return
}

!C_f32 = !cute.memref<f32, gmem, align<16>, "(256,192):(192,1)">
func.func @number(%A: !A {cute.name = "A"}, %B: !B {cute.name = "B"}, %C: !C_f32 {cute.name = "C"}, %scale: !one {cute.name = "scale"}, %alpha: f32 {cute.name = "alpha", cute.default = 0.75 : f32}) {
  cute.contract ins(%A, %B : !A, !B) outs(%C : !C_f32) accumulate f32 epilogue ins(%scale : !one) {
  ^bb0(%sum: f32, %e: f32):
    %x = arith.mulf %sum, %e : f32
    %y = arith.mulf %x, %alpha : f32
    cute.yield %y : f32
  }
  return
}

// Rows of 190 elements: TMA has no such C.
!B_odd = !cute.memref<f16, gmem, align<16>, "(189,128):(128,1)">
!A_odd = !cute.memref<f16, gmem, align<16>, "(250,128):(128,1)">
!C_odd = !cute.memref<bf16, gmem, align<2>, "(250,189):(189,1)">
!column_odd = !cute.memref<bf16, gmem, align<2>, "(250,189):(0,1)">
!row_odd = !cute.memref<f16, gmem, align<2>, "(250,189):(1,0)">
// TILE-LABEL: gpu.func @odd_kernel
// TILE: cute.block.transform C {{.*}} within(
func.func @odd(%A: !A_odd {cute.name = "A"}, %B: !B_odd {cute.name = "B"}, %C: !C_odd {cute.name = "C"}, %bias: !column_odd {cute.name = "bias"}, %scale: !row_odd {cute.name = "scale"}) {
  cute.contract ins(%A, %B : !A_odd, !B_odd) outs(%C : !C_odd) accumulate f32 epilogue ins(%bias, %scale : !column_odd, !row_odd) {
  ^bb0(%sum: f32, %e: bf16, %f: f16):
    %b = arith.extf %e : bf16 to f32
    %s = arith.extf %f : f16 to f32
    %y = math.fma %sum, %s, %b : f32
    %z = arith.truncf %y : f32 to bf16
    cute.yield %z : bf16
  }
  return
}

!C_turned = !cute.memref<f16, gmem, align<16>, "(256,192):(1,256)">
func.func @turned(%A: !A {cute.name = "A"}, %B: !B {cute.name = "B"}, %C: !C_turned {cute.name = "C"}, %bias: !each_column {cute.name = "bias"}) {
  cute.contract ins(%A, %B : !A, !B) outs(%C : !C_turned) accumulate f32 epilogue ins(%bias : !each_column) {
  ^bb0(%sum: f32, %e: f16):
    %b = arith.extf %e : f16 to f32
    %y = arith.addf %sum, %b : f32
    %z = arith.truncf %y : f32 to f16
    cute.yield %z : f16
  }
  return
}

!A_i8 = !cute.memref<i8, gmem, align<16>, "(128,256):(256,1)">
!C_i8 = !cute.memref<f16, gmem, align<16>, "(128,128):(128,1)">
!scale_i8 = !cute.memref<f32, gmem, align<4>, "(128,128):(0,1)">
func.func @integers(%A: !A_i8 {cute.name = "A"}, %B: !A_i8 {cute.name = "B"}, %C: !C_i8 {cute.name = "C"}, %scale: !scale_i8 {cute.name = "scale"}) {
  cute.contract ins(%A, %B : !A_i8, !A_i8) outs(%C : !C_i8) accumulate i32 epilogue ins(%scale : !scale_i8) {
  ^bb0(%sum: i32, %s: f32):
    %x = arith.sitofp %sum : i32 to f32
    %y = arith.mulf %x, %s : f32
    %z = arith.truncf %y : f32 to f16
    cute.yield %z : f16
  }
  return
}

// A matrix as large as C is read as it lies, by vectors, beside sums in shared memory.
// TILE-LABEL: gpu.func @whole_kernel
// TILE: cute.block.transform C ins(%{{.*}}, %{{.*}} : !cute.memref<f32, smem, {{.*}}>
func.func @whole(%A: !A {cute.name = "A"}, %B: !B {cute.name = "B"}, %C: !C {cute.name = "C"}, %residual: !C {cute.name = "residual"}) {
  cute.contract ins(%A, %B : !A, !B) outs(%C : !C) accumulate f32 epilogue ins(%residual : !C) {
  ^bb0(%sum: f32, %e: f16):
    %b = arith.extf %e : f16 to f32
    %y = arith.addf %sum, %b : f32
    %z = arith.truncf %y : f32 to f16
    cute.yield %z : f16
  }
  return
}

!open = !cute.memref<f16, gmem, align<16>, "(?,?{div=8}):(?{div=8},1)">
!open_rows = !cute.memref<f32, gmem, align<4>, "(?,?{div=8}):(1,0)">
!open_columns = !cute.memref<f16, gmem, align<16>, "(?,?{div=8}):(0,1)">
func.func @open(%A: !open {cute.name = "A"}, %B: !open {cute.name = "B"}, %C: !open {cute.name = "C"}, %scale: !open_rows {cute.name = "scale"}, %bias: !open_columns {cute.name = "bias"}) {
  cute.contract ins(%A, %B : !open, !open) outs(%C : !open) accumulate f32 {cute.tile = array<i64: 64, 64, 64>, cute.warps = array<i64: 4, 1>} epilogue ins(%scale, %bias : !open_rows, !open_columns) {
  ^bb0(%sum: f32, %s: f32, %e: f16):
    %b = arith.extf %e : f16 to f32
    %y = math.fma %sum, %s, %b : f32
    %z = arith.truncf %y : f32 to f16
    cute.yield %z : f16
  }
  return
}
