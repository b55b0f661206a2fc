// Where only a launch knows K, it says in how many parts a kernel splits it: one kernel that multiplies serves several launches, each with a second one that adds as many parts. M and N may be known, so that
// the tiles are, but not the blocks.
// RUN: cute-opt %s --cute-compile="arch=sm_90a package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --function open_k --info | FileCheck %s
// RUN: cute-run %t.cutepkg --function open_k --device=emulator --shape A=64x4096 --shape B=96x4096 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t.cutepkg --function open_k --device=emulator --shape A=64x1000 --shape B=96x1000 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t.cutepkg --function open_k --device=emulator --shape A=64x520 --shape B=96x520 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t.cutepkg --function open_k --device=emulator --shape A=64x8 --shape B=96x8 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t.cutepkg --function rows --device=emulator --shape A=1x2048 --shape B=896x2048 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t.cutepkg --function batch --device=emulator --shape A=40x1536x3 --shape B=72x1536x3 --shape C=40x72x3 --seeds 2 | FileCheck %s --check-prefix=RIGHT

// RIGHT: right

// CHECK: function open_k
// CHECK: launch {{[0-9]+}}: [[K:open_k_kernel_[0-9]+]]_parts(
// CHECK: launch {{[0-9]+}}: [[K]](
// CHECK: launch {{[0-9]+}}: open_k_kernel_{{[0-9]+}}_parts(

!a = !cute.memref<f16, gmem, align<16>, "(64,?{div=8}):(?{div=8},1)">
!b = !cute.memref<f16, gmem, align<16>, "(96,?{div=8}):(?{div=8},1)">
!c = !cute.memref<f16, gmem, align<16>, "(64,96):(96,1)">
func.func @open_k(%A: !a, %B: !b, %C: !c) {
  cute.contract ins(%A, %B) outs(%C) accumulate f32
  return
}

!row = !cute.memref<f16, gmem, align<16>, "(1,?{div=8}):(?{div=8},1)">
!weights = !cute.memref<f16, gmem, align<16>, "(896,?{div=8}):(?{div=8},1)">
!out = !cute.memref<f16, gmem, align<16>, "(1,896):(896,1)">
func.func @rows(%A: !row, %B: !weights, %C: !out) {
  cute.contract ins(%A, %B) outs(%C) accumulate f32
  return
}

!all = !cute.memref<f16, gmem, align<16>, "(?,?{div=8},?):(?{div=8},1,?{div=8})">
func.func @batch(%A: !all, %B: !all, %C: !all) {
  cute.contract ins(%A, %B) outs(%C) accumulate f32
  return
}
