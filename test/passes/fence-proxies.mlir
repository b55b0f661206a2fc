// RUN: cute-opt %s --split-input-file --pass-pipeline="builtin.module(gpu.module(gpu.func(cute-fence-proxies)))" | FileCheck %s
//
// Fences of proxies in kernels that order everything themselves: ahead of the barrier behind which the async proxy comes.

!tile = !cute.memref<f32, smem, align<128>, "(8,8):(8,1)">
!rmem = !cute.memref<f32, rmem, "(8,8):(8,1)">
!store = !cute_nvgpu.atom.tma_store<f32, copy_bits = 2048, tma_gbasis = <"(8,8):(1@1,1@0)">, swizzle = 0>
!load = !cute_nvgpu.atom.tma_load<f32, copy_bits = 2048, tma_gbasis = <"(8,8):(1@1,1@0)">, swizzle = 0>
!bar = !cute.memref<i64, smem, align<8>, "1:0">

gpu.module @m {
  // Written, then stored by TMA: once, ahead of the barrier.
  // CHECK-LABEL: gpu.func @missing
  // CHECK: cute.autovec_copy
  // CHECK-NEXT: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
  // CHECK-NEXT: gpu.barrier
  // CHECK-NOT: nvvm.fence.proxy
  // CHECK: cute_nvgpu.tma_store
  gpu.func @missing(%atom: !store, %i: i32, %c: i1) kernel {
    %s = cute.memref.alloca() : !tile
    %r = cute.memref.alloca() : !rmem
    cute.autovec_copy(%r, %s)
    gpu.barrier
    scf.if %c {
      cute_nvgpu.tma_store(%atom, %s, [%i, %i])
    }
    gpu.return
  }

  // There already.
  // CHECK-LABEL: gpu.func @there
  // CHECK: cute.autovec_copy
  // CHECK-NEXT: nvvm.fence.proxy
  // CHECK-NEXT: gpu.barrier
  // CHECK-NOT: nvvm.fence.proxy
  // CHECK: gpu.return
  gpu.func @there(%atom: !store, %i: i32, %c: i1) kernel {
    %s = cute.memref.alloca() : !tile
    %r = cute.memref.alloca() : !rmem
    cute.autovec_copy(%r, %s)
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    gpu.barrier
    scf.if %c {
      cute_nvgpu.tma_store(%atom, %s, [%i, %i])
    }
    gpu.return
  }

  // A thread that stores what it wrote itself.
  // CHECK-LABEL: gpu.func @alone
  // CHECK: cute.autovec_copy
  // CHECK-NEXT: nvvm.fence.proxy
  // CHECK-NEXT: cute_nvgpu.tma_store
  gpu.func @alone(%atom: !store, %i: i32) kernel {
    %s = cute.memref.alloca() : !tile
    %r = cute.memref.alloca() : !rmem
    cute.autovec_copy(%r, %s)
    cute_nvgpu.tma_store(%atom, %s, [%i, %i])
    gpu.return
  }

  // What is read is overwritten in the next turn of the loop.
  // CHECK-LABEL: gpu.func @overwritten
  // CHECK: scf.for
  // CHECK: cute_nvgpu.tma_load
  // CHECK: cute.autovec_copy
  // CHECK-NEXT: nvvm.fence.proxy
  // CHECK-NEXT: gpu.barrier
  gpu.func @overwritten(%atom: !load, %i: i32, %n: i32, %c: i1) kernel {
    %s = cute.memref.alloca() : !tile
    %r = cute.memref.alloca() : !rmem
    %full = cute.memref.alloca() : !bar
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %k = %c0 to %n step %c1 : i32 {
      scf.if %c {
        cute_nvgpu.tma_load(%atom, [%i, %k], %s) on %full[%c0]
      }
      cute_nvgpu.mbarrier_wait %full[%c0], %c0
      cute.autovec_copy(%s, %r)
      gpu.barrier
    }
    gpu.return
  }

  // Other tensors, and those that TMA both fills and stores, need none.
  // CHECK-LABEL: gpu.func @others
  // CHECK-NOT: nvvm.fence.proxy
  // CHECK: gpu.return
  gpu.func @others(%from: !load, %atom: !store, %i: i32) kernel {
    %s = cute.memref.alloca() : !tile
    %q = cute.memref.alloca() : !tile
    %r = cute.memref.alloca() : !rmem
    %full = cute.memref.alloca() : !bar
    %c0 = arith.constant 0 : i32
    cute.autovec_copy(%r, %q)
    gpu.barrier
    cute_nvgpu.tma_load(%from, [%i, %i], %s) on %full[%c0]
    cute_nvgpu.mbarrier_wait %full[%c0], %c0
    cute_nvgpu.tma_store(%atom, %s, [%i, %i])
    gpu.return
  }

  // A way on which nothing is written leaves what was open open, and one fence does for both ways.
  // CHECK-LABEL: gpu.func @branches
  // CHECK: scf.if
  // CHECK: nvvm.fence.proxy
  // CHECK: } else {
  // CHECK-NEXT: cute.clear
  // CHECK-NEXT: }
  // CHECK-NEXT: nvvm.fence.proxy
  // CHECK-NEXT: gpu.barrier
  // CHECK-NOT: nvvm.fence.proxy
  // CHECK: gpu.return
  gpu.func @branches(%atom: !store, %i: i32, %c: i1) kernel {
    %s = cute.memref.alloca() : !tile
    %r = cute.memref.alloca() : !rmem
    scf.if %c {
      cute.autovec_copy(%r, %s)
      nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    } else {
      cute.clear(%s)
    }
    gpu.barrier
    cute_nvgpu.tma_store(%atom, %s, [%i, %i])
    gpu.return
  }

  // Fenced late, by all, who meet once more.
  // CHECK-LABEL: gpu.func @once_more
  // CHECK: nvvm.fence.proxy
  // CHECK-NOT: nvvm.fence.proxy
  // CHECK: gpu.return
  gpu.func @once_more(%atom: !store, %i: i32) kernel {
    %s = cute.memref.alloca() : !tile
    %r = cute.memref.alloca() : !rmem
    cute.autovec_copy(%r, %s)
    gpu.barrier
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    gpu.barrier
    cute_nvgpu.tma_store(%atom, %s, [%i, %i])
    gpu.return
  }
}
