// Several ops of a function that write one tensor: the last one's result is left, and compared. What was read before it was written over is known; what an op of the function left is not.
//
// RUN: cute-opt %s --cute-compile="arch=sm_80 package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator --function again | FileCheck %s --check-prefix=AGAIN
// RUN: cute-run %t.cutepkg --device=emulator --function over | FileCheck %s --check-prefix=OVER
// RUN: not cute-run %t.cutepkg --device=emulator --function lost 2>&1 | FileCheck %s --check-prefix=LOST
// AGAIN: C {{.*}}: right
// AGAIN-NOT: C {{.*}}:
// OVER: C {{.*}}: right
// OVER: A {{.*}}: right
// LOST: error: {{.*}}C is written by an op of the function that reads it after another one wrote it

!h = !cute.memref<f16, gmem, align<16>, "(48,48):(48,1)">
!c = !cute.memref<f32, gmem, align<16>, "(48,48):(48,1)">

func.func @again(%A: !h, %B: !h, %C: !c {cute.name = "C"}) {
  cute.contract ins(%A, %A) outs(%C) accumulate f32
  cute.contract ins(%A, %B) outs(%C) accumulate f32
  return
}

func.func @over(%A: !h {cute.name = "A"}, %B: !h, %C: !c {cute.name = "C"}) {
  cute.contract ins(%A, %B) outs(%C) accumulate f32
  cute.map ins(%C) outs(%A) {
  ^bb0(%x: f32):
    %half = arith.truncf %x : f32 to f16
    cute.yield %half : f16
  }
  return
}

func.func @lost(%A: !h, %B: !h, %C: !c {cute.name = "C"}) {
  cute.contract ins(%A, %B) outs(%C) accumulate f32
  cute.contract ins(%A, %B) outs(%C) accumulate f32 epilogue ins(%C) {
  ^bb0(%sum: f32, %before: f32):
    %all = arith.addf %sum, %before : f32
    cute.yield %all : f32
  }
  return
}
