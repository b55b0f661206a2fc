// RUN: cute-opt %s --split-input-file --verify-diagnostics

func.func @warps() {
  // expected-error @below {{expected 1 to 32 warps, found 33}}
  %p = cute_nvgpu.pipeline.create warps 33 : !cute.pipeline<4, mbarrier>
  return
}

// -----

func.func @blocks() {
  // expected-error @below {{expected 1 to 16 blocks, found 0}}
  %p = cute_nvgpu.pipeline.create warps 4 blocks 0 : !cute.pipeline<4, mbarrier>
  return
}

// -----

func.func @both() {
  // expected-error @below {{expected no blocks beside threads, as cp.async fills the shared memory of its own block alone}}
  %p = cute_nvgpu.pipeline.create warps 4 blocks 2 threads 128 : !cute.pipeline<4, mbarrier>
  return
}

// -----

func.func @kind() {
  // expected-error @below {{expected a pipeline with mbarriers, such as !cute.pipeline<4, mbarrier>, found !cute.pipeline<4>}}
  %p = cute_nvgpu.pipeline.create warps 4 : !cute.pipeline<4>
  return
}

// -----

func.func @other_family(%p: !cute.pipeline<4, mbarrier>) {
  // expected-error @below {{expected a pipeline that tokens pass on, such as !cute.pipeline<4>, found !cute.pipeline<4, mbarrier>; use the cute_nvgpu.pipeline operations on it}}
  %t = cute.pipeline.consumer_release(%p) : !cute.pipeline<4, mbarrier>
  return
}

// -----

!row = !cute.memref<f32, gmem, align<16>, "256:1">
!rows = !cute.memref<f32, smem, align<16>, "256:1">
func.func @loads(%x: !row, %s: !rows, %p: !cute.pipeline<4>, %i: i32) {
  // expected-error @below {{expected mbarriers of smem, or a pipeline with mbarriers of this block, !cute.pipeline<N, mbarrier>, found !cute.pipeline<4>}}
  cute_nvgpu.bulk_load(%x, %s) on %p[%i]
  return
}

// -----

func.func @barriers() {
  // expected-error @below {{expected 1 to 15 barriers, as a block has 16 with that of gpu.barrier, found 16}}
  %b = cute_nvgpu.named_barriers 16
  return
}
