// An import stays for as long as there are calls of what it imports, whatever MLIR's own passes take for dead.
//
// RUN: cute-opt %s --cse --canonicalize | FileCheck %s

// CHECK: cute.import "std/index"
// CHECK: cute.call @block_x()
gpu.module @kernels {
  cute.import "std/index"
  func.func @k() -> i32 {
    %x = cute.call @block_x() : () -> i32
    return %x : i32
  }
}
