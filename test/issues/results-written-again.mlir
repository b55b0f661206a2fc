// Several ops of a function that write one tensor: the last one's result is left, and compared. What was read before it was written over is known; what an op of the function left is not.
//
// RUN: cute-opt %s --cute-compile="arch=sm_80 package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator --function again | FileCheck %s --check-prefix=AGAIN
// RUN: cute-run %t.cutepkg --device=emulator --function over | FileCheck %s --check-prefix=OVER
// RUN: %python -c "import sys; text = open(sys.argv[1]).read(); open(sys.argv[2], 'w').write(text.replace('//LOST ', ''))" %s %t.mlir
// RUN: cute-opt %t.mlir --cute-compile="arch=sm_80 package=%t.lost.cutepkg" -o /dev/null
// RUN: not cute-run %t.lost.cutepkg --device=emulator --function lost 2>&1 | FileCheck %s --check-prefix=ERROR
// AGAIN: C {{.*}}: right
// AGAIN-NOT: C {{.*}}:
// OVER: C {{.*}}: right
// OVER: A {{.*}}: right
// ERROR: error: {{.*}}C is written by an op of the function that reads it after another one wrote it

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

//LOST func.func @lost(%A: !h, %B: !h, %C: !c {cute.name = "C"}) {
//LOST   cute.contract ins(%A, %B) outs(%C) accumulate f32
//LOST   cute.contract ins(%A, %B) outs(%C) accumulate f32 epilogue ins(%C) {
//LOST   ^bb0(%sum: f32, %before: f32):
//LOST     %all = arith.addf %sum, %before : f32
//LOST     cute.yield %all : f32
//LOST   }
//LOST   return
//LOST }
