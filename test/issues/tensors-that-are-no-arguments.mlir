// Products of whole tensors that lie in a workspace, and of views of arguments: a package says where they are, and what is computed of them.
//
// RUN: cute-opt %s --cute-compile="arch=sm_80 package=%t.80.cutepkg" -o /dev/null 2>&1 | FileCheck %s --check-prefix=SILENT --allow-empty
// RUN: cute-opt %s --cute-compile="arch=sm_90a package=%t.90.cutepkg" -o /dev/null
// RUN: cute-run --info %t.80.cutepkg | FileCheck %s --check-prefix=INFO
// RUN: cute-run %t.80.cutepkg --device=emulator --function steps --output C=%t.steps.npy
// RUN: cute-run %t.80.cutepkg --device=emulator --function at_once --output C=%t.once.npy | FileCheck %s --check-prefix=ONCE
// RUN: cmp %t.steps.npy %t.once.npy
// RUN: cute-run %t.90.cutepkg --device=emulator --function at_once --expect C=%t.steps.npy --tolerance 1e-2,1e-2 | FileCheck %s --check-prefix=ONCE
// RUN: cute-run %t.80.cutepkg --device=emulator --function views --output C=%t.views.npy | FileCheck %s --check-prefix=VIEWS
// RUN: cute-run %t.80.cutepkg --device=emulator --function plain --output C=%t.plain.npy
// RUN: cmp %t.views.npy %t.plain.npy
// SILENT-NOT: warning
//
// INFO-LABEL: function at_once
// INFO:       computes workspace.0(m,n) = sum over k of arg0(m,k) * arg1(n,k), accumulated in f32
// INFO-NEXT:  computes C(m,n) = sum over k of workspace.0(m,k) * arg1(n,k), accumulated in f32
// INFO-NEXT:  tensor workspace.0 = f16 (64,64):(64,1), in the workspace
// INFO-LABEL: function views
// INFO:       computes C(m,n) = sum over k of arg0.view.0(m,k) * B(n,k), accumulated in f32
// INFO-NEXT:  tensor arg0.view.0 = f16 (64,64):(64,1), a view of arg0
// ONCE:       workspace.0 (64,64), sums of 64: right
// ONCE:       C (64,64), sums of 64: right
// VIEWS:      C (64,64), sums of 64: right

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
