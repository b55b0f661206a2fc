// Functions of any name: kernels get one that PTX takes, and that no other kernel has.
//
// RUN: cute-opt %s --cute-compile="arch=sm_80 package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator --function "my-func.v1 x" | FileCheck %s
// RUN: cute-run %t.cutepkg --device=emulator --function f | FileCheck %s
// RUN: cute-run %t.cutepkg --device=emulator --function f_0 | FileCheck %s
// RUN: cute-run --info %t.cutepkg | FileCheck %s --check-prefix=INFO
// CHECK: C{{.*}} right
// INFO-DAG: my_func_v1_x_kernel
// INFO-DAG: f_0_kernel
// INFO-DAG: f_1_kernel
// INFO-DAG: f_0_of_1_kernel

!h = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
!c = !cute.memref<f32, gmem, align<16>, "(64,64):(64,1)">
!d = !cute.memref<f32, gmem, align<16>, "(64,64):(1,64)">

func.func @"my-func.v1 x"(%A: !h, %C: !c) {
  cute.contract ins(%A, %A) outs(%C) accumulate f32
  return
}

func.func @f(%A: !h, %C: !c {cute.name = "C"}, %D: !d) {
  cute.contract ins(%A, %A) outs(%C) accumulate f32
  cute.contract ins(%A, %A) outs(%D) accumulate f32
  return
}

func.func @f_0(%A: !h, %C: !d) {
  cute.contract ins(%A, %A) outs(%C) accumulate f32
  return
}
