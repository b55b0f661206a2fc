// What of CuTe DSL's types has no addresses here.
//
// RUN: cute-opt %s --split-input-file --cute-to-nvvm --verify-diagnostics

gpu.module @k {
  gpu.func @generic(%p: !cute.ptr<f16, generic>) kernel {
    // expected-error @below {{'cute.make_view' op is in generic, which is not lowered; expected gmem or smem}}
    %v = cute.make_view(%p) : !cute.memref<f16, generic, "(4):(1)">
    gpu.return
  }
}

// -----

gpu.module @k {
  gpu.func @unaligned() kernel {
    %s = cute.memref.alloca() {offset = 0 : i64} : !cute.memref<f16, smem, align<1024>, "(8,64):(64,1)">
    %p = cute.get_iter(%s) : !cute.memref<f16, smem, align<1024>, "(8,64):(64,1)">
    %q = cute.derefine(%p) : !cute.ptr<f16, smem, align<1024>> to !cute.ptr<f16, smem, align<128>>
    // expected-error @below {{is a tensor swizzled by S<3,3,3> in elements, S<3,4,3> in bytes, that is aligned to 128 bytes; expected a multiple of 1024: write align<1024>}}
    %v = cute.make_view(%q) : !cute.memref<f16, smem, align<128>, "S<3,3,3> o 0 o (8,64):(64,1)">
    gpu.return
  }
}
