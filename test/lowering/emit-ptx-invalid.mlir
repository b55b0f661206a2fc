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
// expected-error @below {{unsupported architecture 'sm_123': expected one of sm_75, sm_80, sm_86, sm_87, sm_88, sm_89, sm_90, sm_90a, sm_100,}}
gpu.module @chip [#nvvm.target<chip = "sm_123">] {
  llvm.func @k() attributes {gpu.kernel, nvvm.kernel} {
    llvm.return
  }
}

// -----

// expected-error @below {{unsupported architecture 'sm_80:(8,1)': expected one of sm_75, }}
gpu.module @layout [#nvvm.target<chip = "sm_80:(8,1)">] {
  llvm.func @k() attributes {gpu.kernel, nvvm.kernel} {
    llvm.return
  }
}

// -----

// sm_101 is what LLVM calls sm_110 as well, and ptxas 13.0 does not.
// expected-error @below {{unsupported architecture 'sm_101a': expected one of sm_75, }}
gpu.module @renamed [#nvvm.target<chip = "sm_90a">, #nvvm.target<chip = "sm_101a">] {
  llvm.func @k() attributes {gpu.kernel, nvvm.kernel} {
    llvm.return
  }
}
