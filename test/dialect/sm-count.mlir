// The number of multiprocessors, in functions that launch and in launch plans.
//
// RUN: cute-opt %s --split-input-file --verify-diagnostics --verify-roundtrip -o /dev/null
// RUN: cute-opt %s --split-input-file --verify-diagnostics --cse | FileCheck %s

// CHECK-LABEL: func.func @once
// CHECK:         %[[N:.*]] = cute.sm_count() : index
// CHECK-NOT:     cute.sm_count
// CHECK:         arith.addi %[[N]], %[[N]]
func.func @once() -> index {
  %a = cute.sm_count() : index
  %b = cute.sm_count() : index
  %c = arith.addi %a, %b : index
  return %c : index
}

// -----

gpu.module @kernels {
  gpu.func @inside() kernel {
    // expected-error @below {{'cute.sm_count' op is for the host function that launches; expected it outside of kernels, where gpu.grid_dim says how many blocks there are, or its value passed on as an argument}}
    %n = cute.sm_count() : index
    gpu.return
  }
}
