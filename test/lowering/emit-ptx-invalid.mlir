// What LLVM is not asked to compile.
//
// RUN: cute-opt %s --cute-emit-ptx --split-input-file --verify-diagnostics

// expected-error @below {{expected a gpu.module with a target, such as [#nvvm.target<chip = "sm_90a">]}}
gpu.module @no_target {
  llvm.func @k() attributes {gpu.kernel, nvvm.kernel} {
    llvm.return
  }
}

// -----

// LLVM would only warn, and emit PTX all the same.
// expected-error @below {{unsupported architecture 'sm_123': expected one of sm_80, sm_89, sm_90, sm_90a, sm_120}}
gpu.module @chip [#nvvm.target<chip = "sm_123">] {
  llvm.func @k() attributes {gpu.kernel, nvvm.kernel} {
    llvm.return
  }
}
