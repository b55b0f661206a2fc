// Products of whole tensors that lie in a workspace, and of views of arguments: a package has them, and says nothing of what they compute.
//
// RUN: cute-opt %s --cute-compile="arch=sm_80 package=%t.80.cutepkg" -o /dev/null 2>&1 | FileCheck %s --check-prefix=WARNING
// RUN: cute-opt %s --cute-compile="arch=sm_90a package=%t.90.cutepkg" -o /dev/null
// RUN: cute-run %t.80.cutepkg --device=emulator --function steps --output C=%t.steps.npy
// RUN: cute-run %t.80.cutepkg --device=emulator --function at_once --no-verify --output C=%t.once.npy
// RUN: cmp %t.steps.npy %t.once.npy
// RUN: cute-run %t.90.cutepkg --device=emulator --function at_once --no-verify --expect C=%t.steps.npy --tolerance 1e-2,1e-2
// RUN: cute-run %t.80.cutepkg --device=emulator --function views --no-verify --output C=%t.views.npy
// RUN: cute-run %t.80.cutepkg --device=emulator --function plain --output C=%t.plain.npy
// RUN: cmp %t.views.npy %t.plain.npy
// RUN: not cute-run %t.80.cutepkg --device=emulator --function at_once 2>&1 | FileCheck %s --check-prefix=SILENT
// WARNING: [[@LINE+17]]:3: warning: 'cute.contract' op has a tensor that is no argument of the function, so that a package does not say what the function computes
// SILENT: function at_once does not say what it computes

!h = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
!d = !cute.memref<f32, gmem, align<16>, "(64,64):(1,64)">
!c = !cute.memref<f32, gmem, align<16>, "(64,64):(64,1)">

func.func @steps(%A: !h, %B: !h, %C: !c {cute.name = "C"}, %H: !h) {
  cute.contract ins(%A, %B) outs(%H) accumulate f32
  cute.contract ins(%H, %B) outs(%C) accumulate f32
  return
}

func.func @at_once(%A: !h, %B: !h, %C: !c {cute.name = "C"}) {
  %bytes = arith.constant 8192 : index
  %p = cute.workspace(%bytes) : !cute.ptr<f16, gmem, align<256>>
  %H = cute.make_view(%p, "(64,64):(64,1)")
  cute.contract ins(%A, %B) outs(%H) accumulate f32
  cute.contract ins(%H, %B) outs(%C) accumulate f32
  return
}

func.func @plain(%A: !h, %B: !h, %C: !d {cute.name = "C"}) {
  cute.contract ins(%A, %B) outs(%C) accumulate f32
  return
}

func.func @views(%A: !h, %B: !h, %C: !d {cute.name = "C"}) {
  %start = cute.get_iter(%A)
  %layout = cute.static : !cute.layout<"(64,64):(64,1)">
  %same = cute.make_view(%start, %layout)
  cute.contract ins(%same, %B) outs(%C) accumulate f32
  return
}
