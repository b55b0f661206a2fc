// RUN: cute-opt %s --cute-inline --split-input-file --verify-diagnostics

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @copy() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
      gpu.return
    }
  }
  func.func @misspelt(%grid: !cute.shape<"?">) {
    // expected-error @below {{'cute.launch' op expected a kernel in a gpu.module, such as @kernels::@copy, found @kernels::@cpoy, of which there is none; did you mean '@kernels::@copy'?}}
    cute.launch @kernels::@cpoy blocks(%grid) args()
    return
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @copy() kernel {
      gpu.return
    }
  }
  func.func @unknown_threads(%grid: !cute.shape<"?">) {
    // expected-error @below {{'cute.launch' op expected known_block_size on @kernels::@copy, such as known_block_size = array<i32: 128, 1, 1>, which says how many threads a block has}}
    cute.launch @kernels::@copy blocks(%grid) args()
    return
  }
}
