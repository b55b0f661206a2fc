// Functions that nothing calls are not compiled, which a warning says; those that are imported are not meant.
//
// RUN: cute-opt %s --cute-compile=arch=sm_80 -o /dev/null 2>&1 | FileCheck %s --implicit-check-not=warning:
// RUN: cute-opt %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=READ --allow-empty
// READ-NOT: warning

gpu.module @kernels {
  cute.import "std/index"
  // CHECK: uncalled.mlir:[[@LINE+1]]:3: warning: 'gpu.func' op @helper is no kernel, and nothing calls it: the compiled code is without it; write 'kernel' behind its arguments, if it is one
  gpu.func @helper(%x: f32) {
    gpu.return
  }
  // CHECK: uncalled.mlir:[[@LINE+1]]:3: warning: 'func.func' op nothing calls @generic: the compiled code is without it, and its types are not known for any call; call it, or take it out
  func.func private @generic(%x: !cute.any) -> !cute.any {
    return %x : !cute.any
  }
  func.func private @called(%x: f32) -> f32 {
    return %x : f32
  }
  func.func private @declared(f32) -> f32
  gpu.func @kernel(%x: !cute.memref<f32, gmem, "8:1">) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %v = cute.memref.load(%x, "0")
    %w = cute.call @called(%v)
    cute.memref.store(%x, "1", %w)
    gpu.return
  }
}
func.func @f(%x: !cute.memref<f32, gmem, "8:1">) {
  cute.launch @kernels::@kernel blocks("1") args(%x)
  return
}
// CHECK: uncalled.mlir:[[@LINE+1]]:1: warning: 'func.func' op nothing calls @g, and it is private: no package has it; leave 'private' out, or take the function out
func.func private @g(%x: !cute.memref<f32, gmem, "8:1">) {
  cute.launch @kernels::@kernel blocks("1") args(%x)
  return
}
