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

// -----

func.func @no_roles() {
  // expected-error @below {{expected a role, such as 'role(%thread, %warp) warps 4 { ... }'}}
  cute.warp_specialize
  return
}

// -----

func.func @registers_of_some() {
  cute.warp_specialize
  role(%t, %warp) warps 4 registers 40 {
  }
  // expected-error @below {{expected 'registers' of all roles or of none}}
  role(%t, %warp) warps 8 {
  }
  return
}

// -----

func.func @no_warp() {
  // expected-error @below {{expected roles of at least one warp, and at most 32 in all, found [4, 0]}}
  cute.warp_specialize
  role(%t, %warp) warps 4 {
  }
  role(%t, %warp) warps 0 {
  }
  return
}

// -----

func.func @too_many_warps() {
  // expected-error @below {{expected roles of at least one warp, and at most 32 in all, found [4, 32]}}
  cute.warp_specialize
  role(%t, %warp) warps 4 {
  }
  role(%t, %warp) warps 32 {
  }
  return
}

// -----

func.func @odd_registers() {
  // expected-error @below {{expected multiples of 8 registers from 24 to 256, as setmaxnreg takes, found 44}}
  cute.warp_specialize
  role(%t, %warp) warps 4 registers 44 {
  }
  return
}

// -----

func.func @half_a_warpgroup() {
  // expected-error @below {{expected roles of whole warpgroups, multiples of 4 warps, where they say registers, which setmaxnreg gives to a warpgroup, found 2}}
  cute.warp_specialize
  role(%t, %warp) warps 2 registers 40 {
  }
  return
}

// -----

func.func @warps_of_others() {
  // expected-error @below {{expected the warps of each of its roles, found 1 roles and the warps of 2}}
  "cute.warp_specialize"() <{warps = array<i64: 4, 4>}> ({
  ^bb0(%t: i32, %warp: i32):
  }) : () -> ()
  return
}

// -----

func.func @registers_of_others() {
  // expected-error @below {{expected the registers of each of 1 roles or of none, found those of 2}}
  "cute.warp_specialize"() <{warps = array<i64: 4>, registers = array<i64: 40, 40>}> ({
  ^bb0(%t: i32, %warp: i32):
  }) : () -> ()
  return
}

// -----

func.func @other_arguments() {
  // expected-error @below {{expected two arguments of role 0, the index of the thread and that of the warp, both i32}}
  "cute.warp_specialize"() <{warps = array<i64: 4>}> ({
  ^bb0(%t: i64, %warp: i32):
  }) : () -> ()
  return
}
