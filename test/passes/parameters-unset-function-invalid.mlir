// A pass on a module says of a function in it that its parameters have no values.
// RUN: cute-opt %s --cute-report --verify-diagnostics

gpu.module @kernels {
  gpu.func @k() kernel {
    gpu.return
  }
  // expected-error @+1 {{found V declared here}}
  func.func private @f(%x: i32) attributes {cute.parameters = {V = "integer"}} {
    return
  }
}
