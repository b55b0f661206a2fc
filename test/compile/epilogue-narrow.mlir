// Epilogues on numbers of 8 bits: what a product leaves is rounded to them, and they are read as any others.
//
// RUN: cute-opt %s --cute-compile="arch=sm_89 package=%t.89.cutepkg" -o /dev/null
// RUN: cute-opt %s --cute-compile="arch=sm_90a package=%t.90.cutepkg" -o /dev/null
// RUN: cute-run %t.89.cutepkg %t.90.cutepkg --device=emulator --function linear | FileCheck %s
// RUN: cute-run %t.89.cutepkg %t.90.cutepkg --device=emulator --function columns | FileCheck %s
// RUN: cute-run %t.89.cutepkg %t.90.cutepkg --device=emulator --function parts | FileCheck %s
// RUN: cute-run %t.89.cutepkg %t.90.cutepkg --device=emulator --function open --shape A=72x64 --shape C=72x101 | FileCheck %s
// RUN: cute-run %t.89.cutepkg %t.90.cutepkg --device=emulator --function both | FileCheck %s
// CHECK-COUNT-2: C {{.*}}: right; every element compared
// CHECK-NOT: not compared
// RUN: not cute-opt %s --cute-compile="arch=sm_80 package=%t.80.cutepkg" -o /dev/null 2>&1 | FileCheck %s --check-prefix=OLD
// OLD: error: converts to f8E4M3FN, for which there are instructions from sm_89 on
//
// Two are rounded by one instruction.
// RUN: cute-run %t.90.cutepkg --emit ptx --to %t.ptx
// RUN: FileCheck %s --check-prefix=PAIRS --input-file %t.ptx
// PAIRS: .entry linear_kernel
// PAIRS-NOT: cvt.rn.satfinite.e4m3x2.f32 {{.*}}, 0f00000000,
// PAIRS: cvt.rn.satfinite.e4m3x2.f32

!A = !cute.memref<f8E4M3FN, gmem, align<16>, "(136,256):(256,1)">
!B = !cute.memref<f8E4M3FN, gmem, align<16>, "(208,256):(256,1)">
!C = !cute.memref<f8E4M3FN, gmem, align<16>, "(136,208):(208,1)">
!s = !cute.memref<f32, gmem, align<4>, "(136,208):(0,1)">
func.func @linear(%A: !A {cute.name = "A"}, %B: !B {cute.name = "B"}, %C: !C {cute.name = "C"}, %R: !C, %S: !s) {
  cute.contract ins(%A, %B : !A, !B) outs(%C : !C) accumulate f32 epilogue ins(%R, %S : !C, !s) {
  ^bb0(%sum: f32, %r: f8E4M3FN, %s: f32):
    %wide = arith.extf %r : f8E4M3FN to f32
    %scaled = arith.mulf %sum, %s : f32
    %v = arith.addf %scaled, %wide : f32
    %y = arith.truncf %v : f32 to f8E4M3FN
    cute.yield %y : f8E4M3FN
  }
  return
}

// Columns first, elements that begin anywhere.
!Ac = !cute.memref<f16, gmem, align<16>, "(131,72):(72,1)">
!Bc = !cute.memref<f16, gmem, align<16>, "(77,72):(72,1)">
!Cc = !cute.memref<f8E5M2, gmem, align<1>, "(131,77):(1,131)">
func.func @columns(%A: !Ac {cute.name = "A"}, %B: !Bc {cute.name = "B"}, %C: !Cc {cute.name = "C"}) {
  cute.contract ins(%A, %B : !Ac, !Bc) outs(%C : !Cc) accumulate f32 epilogue {
  ^bb0(%sum: f32):
    %zero = arith.constant 0.0 : f32
    %v = arith.maximumf %sum, %zero : f32
    %y = arith.truncf %v : f32 to f8E5M2
    cute.yield %y : f8E5M2
  }
  return
}

// Parts of K, whose sums are added first.
!Ap = !cute.memref<f16, gmem, align<16>, "(64,2048):(2048,1)">
!Bp = !cute.memref<f16, gmem, align<16>, "(128,2048):(2048,1)">
!Cp = !cute.memref<f8E4M3FN, gmem, align<16>, "(64,128):(128,1)">
func.func @parts(%A: !Ap {cute.name = "A"}, %B: !Bp {cute.name = "B"}, %C: !Cp {cute.name = "C"}) {
  cute.contract ins(%A, %B : !Ap, !Bp) outs(%C : !Cp) accumulate f32 epilogue {
  ^bb0(%sum: f32):
    %y = arith.truncf %sum : f32 to f8E4M3FN
    cute.yield %y : f8E4M3FN
  }
  return
}

!Ao = !cute.memref<f16, gmem, align<16>, "(?,64):(64,1)">
!Bo = !cute.memref<f16, gmem, align<16>, "(101,64):(64,1)">
!Co = !cute.memref<f8E4M3FN, gmem, align<1>, "(?,101):(101,1)">
func.func @open(%A: !Ao {cute.name = "A"}, %B: !Bo {cute.name = "B"}, %C: !Co {cute.name = "C"}) {
  cute.contract ins(%A, %B : !Ao, !Bo) outs(%C : !Co) accumulate f32 epilogue {
  ^bb0(%sum: f32):
    %y = arith.truncf %sum : f32 to f8E4M3FN
    cute.yield %y : f8E4M3FN
  }
  return
}

// The numbers of 8 bits beside those that they are of.
!Ch = !cute.memref<f16, gmem, align<16>, "(136,208):(208,1)">
func.func @both(%A: !A {cute.name = "A"}, %B: !B {cute.name = "B"}, %C: !Ch {cute.name = "C"}, %Q: !C {cute.name = "Q"}) {
  cute.contract ins(%A, %B : !A, !B) outs(%C, %Q : !Ch, !C) accumulate f32 epilogue {
  ^bb0(%sum: f32):
    %y = arith.truncf %sum : f32 to f16
    %q = arith.truncf %sum : f32 to f8E4M3FN
    cute.yield %y, %q : f16, f8E4M3FN
  }
  return
}
