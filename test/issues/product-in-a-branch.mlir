// Products of whole tensors in branches of scf.if: launches that a call takes or leaves, and of which it says what they compute.
//
// RUN: cute-opt %s --cute-compile="arch=sm_80 variants=2 package=%t.cutepkg" -o /dev/null 2>&1 | FileCheck %s --check-prefix=SILENT --allow-empty
// RUN: cute-run --info %t.cutepkg | FileCheck %s --check-prefix=INFO
// RUN: cute-run %t.cutepkg --device=emulator --function plain --shape X=40x64 --shape C=40x48 --output C=%t.plain.npy
// RUN: cute-run %t.cutepkg --device=emulator --function choose --shape X=40x64 --shape C=40x48 --set negates=0 --output C=%t.one.npy | FileCheck %s --check-prefix=RIGHT
// RUN: cmp %t.plain.npy %t.one.npy
// RUN: cute-run %t.cutepkg --device=emulator --function negated --shape X=40x64 --shape C=40x48 --output C=%t.negated.npy
// RUN: cute-run %t.cutepkg --device=emulator --function choose --shape X=40x64 --shape C=40x48 --set negates=1 --output C=%t.other.npy | FileCheck %s --check-prefix=RIGHT
// RUN: cmp %t.negated.npy %t.other.npy
// RUN: cute-run %t.cutepkg --device=emulator --function perhaps --shape X=40x64 --shape C=40x48 --set n=3 | FileCheck %s --check-prefix=TAKEN
// RUN: cute-run %t.cutepkg --device=emulator --function perhaps --shape X=40x64 --shape C=40x48 --set n=-3 | FileCheck %s --check-prefix=LEFT
// SILENT-NOT: warning
//
// What one of both branches writes is written; what perhaps none does keeps what it has.
// INFO-LABEL: function choose
// INFO:       | C {{.*}} | write
// INFO:       computes, where {{.*negates.*}}: C(m,n) = -s, where s = sum over k of X(m,k) * W(n,k), accumulated in f32
// INFO-NEXT:  computes, where {{.*negates.*}}: C(m,n) = sum over k of X(m,k) * W(n,k), accumulated in f32
// INFO-LABEL: function perhaps
// INFO:       | C {{.*}} | read and write
// INFO:       computes, where lt(0, n): workspace.0(m,n) = sum over k of X(m,k) * W(n,k), accumulated in f32
// INFO-NEXT:  computes, where lt(0, n): C(i,j) = max(workspace.0(i,j), 0)
// INFO-NEXT:  tensor workspace.0 = f32 (?,48):(48,1), in the workspace, where ? is X.shape[0]
// RIGHT:      C (40,48), sums of 64: right
// TAKEN:      workspace.0 (40,48), sums of 64: right
// TAKEN:      C (40,48){{.*}}: right
// LEFT:       nothing to verify: all that perhaps computes stands in branches that this call does not take
// LEFT:       not compared: C
// LEFT:       not verified

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

func.func @perhaps(%X: !x {cute.name = "X"}, %W: !w {cute.name = "W"}, %C: !c {cute.name = "C"}, %n: i32 {cute.name = "n"}) {
  %zero = arith.constant 0 : i32
  %is = arith.cmpi sgt, %n, %zero : i32
  scf.if %is {
    %layout = cute.get_layout(%X)
    %m = cute.get_scalars(%layout) {only_dynamic} -> i32
    %rows = arith.index_cast %m : i32 to index
    %line = arith.constant 192 : index
    %bytes = arith.muli %rows, %line : index
    %p = cute.workspace(%bytes) : !cute.ptr<f32, gmem, align<256>>
    %shape = cute.make_shape(%m) : (i32) -> !cute.shape<"(?,48)">
    %stride = cute.static : !cute.stride<"(48,1)">
    %of = cute.make_layout(%shape, %stride) : (!cute.shape<"(?,48)">, !cute.stride<"(48,1)">) -> !cute.layout<"(?,48):(48,1)">
    %H = cute.make_view(%p, %of)
    cute.contract ins(%X, %W) outs(%H) accumulate f32
    cute.map ins(%H) outs(%C) {
    ^bb0(%x: f32):
      %none = arith.constant 0.0 : f32
      %y = arith.maximumf %x, %none : f32
      cute.yield %y : f32
    }
  }
  return
}
