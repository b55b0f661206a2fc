// Ranges along K are dealt out to blocks of warps, of tiles that several may share.
//
// RUN: cute-opt %s --cute-tile="arch=sm_90a" --split-input-file --verify-diagnostics
// RUN: not cute-opt %S/../../examples/gemm_f16_512.mlir --cute-tile="arch=sm_90a stream=auto instructions=wgmma" 2>&1 | FileCheck %s --check-prefix=WGMMA
// RUN: not cute-opt %S/../../examples/gemm_f16_512.mlir --cute-tile="arch=sm_90a stream=auto teams=2" 2>&1 | FileCheck %s --check-prefix=WGMMA
// RUN: not cute-opt %S/../../examples/gemm_f16_512.mlir --cute-tile="arch=sm_80 stream=auto split=1" 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: not cute-opt %S/../../examples/gemm_f16_512.mlir --cute-tile="arch=sm_80 stream=33" 2>&1 | FileCheck %s --check-prefix=MOST
// RUN: not cute-opt %S/../../examples/gemm_f16_512.mlir --cute-tile="arch=sm_80 stream=1 tile=256x256x64" 2>&1 | FileCheck %s --check-prefix=LARGE
//
// WGMMA: gemm_f16_512.mlir:5:3: error: 'cute.contract' op asks for stream, whose ranges along K blocks of warpgroups do not take here yet, and for wgmma, clusters or teams; expected instructions=mma without them, or split alone; tile={{.*}} stream=none{{.*}} fits
// ONE:   gemm_f16_512.mlir:5:3: error: 'cute.contract' op asks for stream, whose ranges share tiles, and for split=1; expected split=2 or more, the blocks that share a tile at most, or stream=none; tile={{.*}} stream=none fits
// MOST:  error: cute-tile: stream: expected none, auto, or 1 to 32 blocks that a multiprocessor runs at once, found '33'
// LARGE: gemm_f16_512.mlir:5:3: error: 'cute.contract' op {{.*}}; tile={{.*}} fits

!a = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
!b = !cute.memref<f16, gmem, align<16>, "(32,64,4):(64,1,2048)">
!c = !cute.memref<f16, gmem, align<16>, "(64,32):(32,1)">
!e = !cute.memref<i32, gmem, "4:1">
func.func @groups(%A: !a, %B: !b, %C: !c, %E: !e) {
  // expected-error @below {{has groups of rows, of which only the GPU knows how many each has; expected no stream=}}
  cute.contract ins(%A, %B : !a, !b) outs(%C : !c) accumulate f32 {cute.stream = 2 : i64} groups M(%E : !e)
  return
}

// -----

!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
!r = !cute.memref<f32, gmem, align<16>, "(64,64):(1,0)">
func.func @reduced(%A: !t, %B: !t, %C: !t, %D: !r) {
  // expected-error @below {{reduces an output, which is a block's part of all sums along K, and asks for stream, whose ranges share tiles; expected stream=none}}
  cute.contract ins(%A, %B : !t, !t) outs(%C, %D reduce maximum : !t, !r) accumulate f32 {cute.stream = 2 : i64} epilogue {
  ^bb0(%sum: f32):
    %c = arith.truncf %sum : f32 to f16
    cute.yield %c, %sum : f16, f32
  }
  return
}

// -----

!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
func.func @of_a_wave(%A: !t, %B: !t, %C: !t) {
  // expected-error @below {{expected cute.stream = an integer from 1 to 32, found 0 : i64}}
  cute.contract ins(%A, %B : !t, !t) outs(%C : !t) accumulate f32 {cute.stream = 0 : i64}
  return
}
