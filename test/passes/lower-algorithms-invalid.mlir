// RUN: cute-opt %s --cute-lower-algorithms --split-input-file --verify-diagnostics

!x = !cute.memref<f8E4M3FN, rmem, "(4):(1)">
gpu.module @kernels {
  gpu.func @small_floats(%a: f8E4M3FN) kernel {
    %x = cute.memref.alloca() : !x
    // expected-error @below {{cannot calculate with f8E4M3FN; convert to f16, bf16 or f32 by cute.convert first}}
    cute.axpby(%a, %x, %a, %x) : (f8E4M3FN, !x, f8E4M3FN, !x)
    gpu.return
  }
}

// -----

!g = !cute.memref<f32, gmem, "(128,128):(128,1)">
gpu.module @kernels {
  gpu.func @a_whole_tile(%g: !g) kernel {
    // expected-error @below {{expected a thread's tensor of at most 4096 elements, found 16384 in (128,128):(128,1); partition it over threads}}
    cute.transform(%g) : (!g) {
    ^bb0(%e: f32):
      %r = arith.negf %e : f32
      cute.yield %r : f32
    }
    gpu.return
  }
}

// -----

!g = !cute.memref<f32, gmem, "(1024,128):(128,1)">
gpu.module @kernels {
  gpu.func @many_requests(%g: !g) kernel {
    // expected-error @below {{expected a thread's tensor of at most 4096 requests, found 8192 in (1024,128):(128,1); partition it over threads}}
    cute.prefetch(%g) : (!g)
    gpu.return
  }
}
