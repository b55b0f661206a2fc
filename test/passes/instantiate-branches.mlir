// RUN: cute-opt %s --cute-instantiate | FileCheck %s

// A branch that a module's parameters decide is gone where these have values.
module attributes {cute.parameters = {N = 6}} {
  gpu.module @own {
    // CHECK-LABEL: gpu.func @of_module
    // CHECK-NOT: scf.if
    // CHECK: cute.static : !cute.layout<"6:1">
    // CHECK-NOT: cute.static
    // CHECK: gpu.return
    gpu.func @of_module() kernel {
      %divides = cute.param "N % 4 == 0"
      scf.if %divides {
        %l = cute.static "($(N/4),4):(4,1)"
      } else {
        %l = cute.static "$N:1"
      }
      gpu.return
    }
  }
}
