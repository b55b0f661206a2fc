// What has no value form.
//
// RUN: cute-opt %s --cute-fragments-to-values --split-input-file --verify-diagnostics

!f = !cute.memref<f32, rmem, "(4,2):(1,4)">
gpu.module @kernels {
  gpu.func @never_written() kernel {
    // expected-note @below {{the registers are allocated here}}
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
    // expected-error @below {{'cute.block.copy' op is done by all threads of the block together; run cute-partition first}}
    cute.block.copy A (%g, %s) : (!g, !s)
    gpu.return
  }
}

// -----

!s = !cute.memref<f16, smem, align<128>, "(32,32):(32,1)">
!acc = !cute.memref<f32, rmem, "(32,32):(32,1)">
gpu.module @kernels {
  gpu.func @whole_gemm(%s: !s) kernel {
    %acc = cute.memref.alloca() : !acc
    // expected-error @below {{'cute.block.gemm' op is done by all threads of the block together; run cute-partition first}}
    cute.block.gemm(%s, %s, %acc) : (!s, !s, !acc)
    gpu.return
  }
}

// -----

!f = !cute.memref<f32, rmem, "(4,2):(1,4)">
gpu.module @kernels {
  gpu.func @sliced(%i: i32) kernel {
    %f = cute.memref.alloca() : !f
    cute.clear(%f) : (!f)
    %c = cute.make_coord(%i) : (i32) -> !cute.coord<"(_,?)">
    // expected-error @below {{indexes registers by a value that is not known when the kernel is compiled; use constants, or write cute.unroll on the loop whose index it comes from}}
    %s = cute.slice(%f, %c) : !f, !cute.coord<"(_,?)">
    gpu.return
  }
}

// -----

!f = !cute.memref<f32, rmem, "(4,2):(1,4)">
gpu.module @kernels {
  gpu.func @half_written(%if: i1) kernel {
    // expected-note @below {{the registers are allocated here}}
    %f = cute.memref.alloca() : !f
    %c = cute.static : !cute.coord<"0">
    scf.if %if {
      cute.clear(%f) : (!f)
    }
    // expected-error @below {{reads registers that nothing has written; cute.clear them first}}
    %s = cute.memref.load(%f, %c) : (!f, !cute.coord<"0">) -> f32
    gpu.return
  }
}

// -----

!f = !cute.memref<f32, rmem, "(4,2):(1,4)">
gpu.module @kernels {
  gpu.func @unrolled(%n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    // expected-error @below {{expected constant bounds of a loop with cute.unroll}}
    scf.for %i = %c0 to %n step %c1 {
      %f = cute.memref.alloca() : !f
      cute.clear(%f) : (!f)
    } {cute.unroll}
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
  gpu.func @no_number() kernel {
    %f = cute.memref.alloca() : !f
    cute.clear(%f) : (!f)
    // expected-error @below {{converts f32 to tf32, and tf32 has no conversion; expected f8E4M3FN, f8E5M2, f16, bf16, f32, f64, or integers of 8, 16, 32 or 64 bits}}
    %i = cute.convert(%f) : (!f) -> !cute.memref<tf32, rmem, align<4>, "(4,2):(1,4)">
    gpu.return
  }
}

// -----

!f = !cute.memref<f64, rmem, "(4,2):(1,4)">
gpu.module @kernels {
  gpu.func @too_far() kernel {
    %f = cute.memref.alloca() : !f
    cute.clear(%f) : (!f)
    // expected-error @below {{converts f64 to f8E4M3FN, which no GPU does at once; convert to f32 first}}
    %i = cute.convert(%f) : (!f) -> !cute.memref<f8E4M3FN, rmem, "(4,2):(1,4)">
    gpu.return
  }
}
