// RUN: cute-opt %s --cute-inline --split-input-file --verify-diagnostics

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @copy() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
      gpu.return
    }
  }
  func.func @misspelt(%grid: !cute.shape<"?">) {
    // expected-error @below {{'cute.launch' op expected a kernel in a gpu.module, found @kernels::@cpoy, of which there is none; did you mean '@kernels::@copy'?}}
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

// -----

gpu.module @kernels {
  // expected-note @below {{the kernel is here}}
  gpu.func @copy(%from: !cute.memref<f32, gmem, "32:1">, %n: i32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    gpu.return
  }
}
func.func @too_few(%grid: !cute.shape<"?">, %from: !cute.memref<f32, gmem, "32:1">) {
  // expected-error @below {{'cute.launch' op expected 2 arguments, as @kernels::@copy takes, found 1}}
  cute.launch @kernels::@copy blocks(%grid) args(%from)
  return
}

// -----

gpu.module @kernels {
  // expected-note @below {{the kernel is here}}
  gpu.func @copy(%from: !cute.memref<f32, gmem, "32:1">) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    gpu.return
  }
}
func.func @another_type(%grid: !cute.shape<"?">, %from: !cute.memref<f32, gmem, "64:1">) {
  // expected-error @below {{'cute.launch' op expected argument 0 of type !cute.memref<f32, gmem, "32:1">, as @kernels::@copy takes it, found !cute.memref<f32, gmem, "64:1">}}
  cute.launch @kernels::@copy blocks(%grid) args(%from)
  return
}

// -----

gpu.module @kernels {
  gpu.func @helper() attributes {known_block_size = array<i32: 32, 1, 1>} {
    gpu.return
  }
}
func.func @no_kernel(%grid: !cute.shape<"?">) {
  // expected-error @below {{'cute.launch' op expected a kernel, found @kernels::@helper without the word kernel behind its arguments, which runs on no grid}}
  cute.launch @kernels::@helper blocks(%grid) args()
  return
}
