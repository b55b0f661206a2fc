// RUN: cute-opt %s --split-input-file --verify-diagnostics --pass-pipeline="builtin.module(cute-check)"
//
// Bytes that a kernel expects of an mbarrier by hand, and those of the loads on it.

!coords = !cute.coord_tensor<"(?,?)", "(128,64):(1@1,1@0)">
!tma = !cute_nvgpu.atom.tma_load<f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, swizzle = 128>
!s = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(128,64):(64,1)">
!bars = !cute.memref<i64, smem, align<8>, "2:1">
gpu.module @m {
  gpu.func @too_many(%tma: !tma, %A: !coords, %i: i32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %s = cute.memref.alloca() : !s
    %q = cute.memref.alloca() : !s
    %full = cute.memref.alloca() : !bars
    %bytes = arith.constant 49152 : i32
    // expected-error @below {{'cute_nvgpu.mbarrier_arrive_and_expect_tx' op expects 49152 bytes of loads that bring 32768, so that whoever waits for them waits for ever; expected 32768, or a cute_nvgpu.pipeline, which counts them}}
    cute_nvgpu.mbarrier_arrive_and_expect_tx %full[%i], %bytes
    // expected-note @below {{16384 bytes}}
    cute_nvgpu.tma_load(%tma, [%A], %s) on %full[%i]
    // expected-note @below {{16384 bytes}}
    cute_nvgpu.tma_load(%tma, [%A], %q) on %full[%i]
    gpu.return
  }
}

// -----

!bytes = !cute.memref<i8, gmem, align<16>, "1024:1">
!s = !cute.memref<i8, smem, align<16>, "1024:1">
!bars = !cute.memref<i64, smem, align<8>, "2:1">
gpu.module @m {
  gpu.func @too_few(%g: !bytes, %i: i32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %s = cute.memref.alloca() : !s
    %full = cute.memref.alloca() : !bars
    %bytes = arith.constant 1008 : i32
    // expected-error @below {{expects 1008 bytes of loads that bring 1024, so that a place is full before all of it is there; expected 1024, or a cute_nvgpu.pipeline, which counts them}}
    cute_nvgpu.mbarrier_arrive_and_expect_tx %full[%i], %bytes
    // expected-note @below {{1024 bytes}}
    cute_nvgpu.bulk_load(%g, %s) on %full[%i]
    gpu.return
  }
}

// -----

// Nothing is said where another block of operations loads too, or where the number is not known.
!bytes = !cute.memref<i8, gmem, align<16>, "1024:1">
!s = !cute.memref<i8, smem, align<16>, "1024:1">
!bars = !cute.memref<i64, smem, align<8>, "2:1">
gpu.module @m {
  gpu.func @elsewhere(%g: !bytes, %i: i32, %c: i1, %n: i32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %s = cute.memref.alloca() : !s
    %full = cute.memref.alloca() : !bars
    %both = cute.memref.alloca() : !bars
    %bytes = arith.constant 2048 : i32
    cute_nvgpu.mbarrier_arrive_and_expect_tx %full[%i], %n
    cute_nvgpu.bulk_load(%g, %s) on %full[%i]
    cute_nvgpu.mbarrier_arrive_and_expect_tx %both[%i], %bytes
    cute_nvgpu.bulk_load(%g, %s) on %both[%i]
    scf.if %c {
      cute_nvgpu.bulk_load(%g, %s) on %both[%i]
    }
    gpu.return
  }
}
