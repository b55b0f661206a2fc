// Products of whole tensors in branches of scf.if: launches that a call takes or leaves.
//
// RUN: cute-opt %s --cute-compile="arch=sm_80 variants=2 package=%t.cutepkg" -o /dev/null 2>&1 | FileCheck %s --check-prefix=WARNING
// RUN: cute-run %t.cutepkg --device=emulator --function plain --shape X=40x64 --shape C=40x48 --output C=%t.plain.npy
// RUN: cute-run %t.cutepkg --device=emulator --function choose --no-verify --shape X=40x64 --shape C=40x48 --set negates=0 --output C=%t.one.npy
// RUN: cmp %t.plain.npy %t.one.npy
// RUN: cute-run %t.cutepkg --device=emulator --function negated --shape X=40x64 --shape C=40x48 --output C=%t.negated.npy
// RUN: cute-run %t.cutepkg --device=emulator --function choose --no-verify --shape X=40x64 --shape C=40x48 --set negates=1 --output C=%t.other.npy
// RUN: cmp %t.negated.npy %t.other.npy
// WARNING: [[@LINE+24]]:5: warning: 'cute.contract' op is in a branch, so that a package does not say what the function computes, and cute-run does not verify it

!x = !cute.memref<f16, gmem, align<16>, "(?,64):(64,1)">
!w = !cute.memref<f16, gmem, align<16>, "(48,64):(64,1)">
!c = !cute.memref<f32, gmem, align<16>, "(?,48):(48,1)">

func.func @plain(%X: !x {cute.name = "X"}, %W: !w {cute.name = "W"}, %C: !c {cute.name = "C"}) {
  cute.contract ins(%X, %W) outs(%C) accumulate f32
  return
}

func.func @negated(%X: !x {cute.name = "X"}, %W: !w {cute.name = "W"}, %C: !c {cute.name = "C"}) {
  cute.contract ins(%X, %W) outs(%C) accumulate f32 epilogue {
  ^bb0(%sum: f32):
    %less = arith.negf %sum : f32
    cute.yield %less : f32
  }
  return
}

func.func @choose(%X: !x {cute.name = "X"}, %W: !w {cute.name = "W"}, %C: !c {cute.name = "C"}, %negates: i32 {cute.name = "negates"}) {
  %zero = arith.constant 0 : i32
  %is = arith.cmpi ne, %negates, %zero : i32
  scf.if %is {
    cute.contract ins(%X, %W) outs(%C) accumulate f32 epilogue {
    ^bb0(%sum: f32):
      %less = arith.negf %sum : f32
      cute.yield %less : f32
    }
  } else {
    cute.contract ins(%X, %W) outs(%C) accumulate f32
  }
  return
}
