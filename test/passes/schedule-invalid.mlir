// RUN: cute-opt %s --cute-schedule=overlap=perhaps --verify-diagnostics

gpu.module @kernels {
  // expected-error @below {{cute-schedule: overlap: expected true or false, found 'perhaps'}}
  gpu.func @kernel() kernel {
    gpu.return
  }
}
