// What has no value form.
//
// RUN: cute-opt %s --cute-fragments-to-values --split-input-file --verify-diagnostics

!f = !cute.memref<f32, rmem, "(4,2):(1,4)">
gpu.module @kernels {
  gpu.func @never_written() kernel {
    %f = cute.memref.alloca() : !f
    // expected-error @below {{reads registers that nothing has written; cute.clear them first}}
    %h = cute.convert(%f) : (!f) -> !cute.memref<f16, rmem, "(4,2):(1,4)">
    gpu.return
  }
}

// -----

!g = !cute.memref<f16, gmem, align<16>, "(32,32):(64,1)">
!s = !cute.memref<f16, smem, align<128>, "(32,32):(32,1)">
gpu.module @kernels {
  gpu.func @whole_copy(%g: !g, %s: !s) kernel {
    // expected-error @below {{expected a partitioned copy; run cute-partition first}}
    cute.copy(%g, %s) : (!g, !s)
    gpu.return
  }
}

// -----

!s = !cute.memref<f16, smem, align<128>, "(32,32):(32,1)">
!acc = !cute.memref<f32, rmem, "(32,32):(32,1)">
gpu.module @kernels {
  gpu.func @whole_gemm(%s: !s) kernel {
    %acc = cute.memref.alloca() : !acc
    // expected-error @below {{expected a product of fragments; run cute-partition first}}
    cute.gemm(%s, %s, %acc) : (!s, !s, !acc)
    gpu.return
  }
}

// -----

!f = !cute.memref<f32, rmem, "(4,2):(1,4)">
gpu.module @kernels {
  gpu.func @sliced() kernel {
    %f = cute.memref.alloca() : !f
    cute.clear(%f) : (!f)
    %c = cute.static : !cute.coord<"(_,0)">
    // expected-error @below {{'cute.slice' uses a register tensor in a way that has no value form}}
    %s = cute.slice(%f, %c) : !f, !cute.coord<"(_,0)">
    gpu.return
  }
}

// -----

!f = !cute.memref<f32, rmem, "(4,2):(1,4)">
gpu.module @kernels {
  gpu.func @foreign(%f: !f) kernel {
    // expected-error @below {{expected a tensor in rmem that this kernel allocates}}
    %h = cute.convert(%f) : (!f) -> !cute.memref<f16, rmem, "(4,2):(1,4)">
    gpu.return
  }
}

// -----

!f = !cute.memref<f32, rmem, "(4,2):(1,4)">
gpu.module @kernels {
  gpu.func @same_width() kernel {
    %f = cute.memref.alloca() : !f
    cute.clear(%f) : (!f)
    // expected-error @below {{expected floating-point types of different widths}}
    %i = cute.convert(%f) : (!f) -> !cute.memref<i32, rmem, "(4,2):(1,4)">
    gpu.return
  }
}
