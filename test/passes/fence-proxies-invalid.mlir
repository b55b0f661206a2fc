// RUN: cute-opt %s --split-input-file --verify-diagnostics --pass-pipeline="builtin.module(gpu.module(gpu.func(cute-fence-proxies)))"

!tile = !cute.memref<f32, smem, align<128>, "(8,8):(8,1)">
!rmem = !cute.memref<f32, rmem, "(8,8):(8,1)">
!store = !cute_nvgpu.atom.tma_store<f32, copy_bits = 2048, tma_gbasis = <"(8,8):(1@1,1@0)">, swizzle = 0>
gpu.module @m {
  gpu.func @late(%atom: !store, %i: i32, %c: i1) kernel {
    %s = cute.memref.alloca() : !tile
    %r = cute.memref.alloca() : !rmem
    // expected-note @below {{written here}}
    cute.autovec_copy(%r, %s)
    // expected-note @below {{the barrier}}
    gpu.barrier
    scf.if %c {
      // expected-error @below {{'nvvm.fence.proxy' op stands behind the barrier at which the threads meet that wrote what 'cute_nvgpu.tma_store' takes, so that not all of them fence; expected it ahead of that barrier, or none: it is put in}}
      nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
      // expected-note @below {{taken here}}
      cute_nvgpu.tma_store(%atom, %s, [%i, %i])
    }
    gpu.return
  }
}
