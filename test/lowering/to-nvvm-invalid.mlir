// What has no instruction.
//
// RUN: cute-opt %s --cute-to-nvvm --split-input-file --verify-diagnostics

!s = !cute.memref<f16, smem, align<128>, "8:1">
gpu.module @kernels {
  gpu.func @no_place() kernel {
    // expected-error @below {{expected a tensor that has its place in shared memory; run cute-allocate-shared first}}
    %s = cute.memref.alloca() : !s
    gpu.return
  }
}

// -----

!g = !cute.memref<f16, gmem, align<16>, "(32,32):(64,1)">
gpu.module @kernels {
  gpu.func @whole_copy(%a: !g, %b: !g) kernel {
    // expected-error @below {{'cute.copy' has no instruction form; an earlier pass of --cute-compile lowers it}}
    cute.copy(%a, %b) : (!g, !g)
    gpu.return
  }
}

// -----

!g = !cute.memref<f16, gmem, align<16>, "(32,32):(64,1)">
gpu.module @kernels {
  gpu.func @whole_gemm(%a: !g, %b: !g) kernel {
    // expected-error @below {{'cute.gemm' has no instruction form}}
    cute.gemm(%a, %a, %b) accumulate f32 : (!g, !g, !g)
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @foreign_coordinate(%c: !cute.coord<"?">, %t: !cute.memref<f16, gmem, "(8,4):(1,8)">) kernel {
    %o = cute.static : !cute.coord<"(_,1)">
    %s = cute.slice(%t, %o) : !cute.memref<f16, gmem, "(8,4):(1,8)">, !cute.coord<"(_,1)">
    // expected-error @below {{expected a coordinate that this kernel makes; run cute-lower-layouts first}}
    %u = cute.slice(%t, %c) : !cute.memref<f16, gmem, "(8,4):(1,8)">, !cute.coord<"?">
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @no_instruction(%x: f32) kernel {
    // expected-error @below {{'math.acosh' has no instruction; write it with math.absf, math.ceil}}
    %0 = math.acosh %x : f32
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @too_wide(%x: vector<2xf64>) kernel {
    // expected-error @below {{'math.exp2' is an instruction of f32, and of f16 and bf16 through it; found f64: convert it}}
    %0 = math.exp2 %x : vector<2xf64>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @one_dimension(%x: f32) kernel {
    // expected-error @below {{expected a vector of one dimension}}
    %0 = vector.broadcast %x : f32 to vector<2x2xf32>
    gpu.return
  }
}
