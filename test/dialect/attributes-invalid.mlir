// Attributes of the dialects are known where they stand, and have the form that is read there.
//
// RUN: cute-opt %s --split-input-file --verify-diagnostics

!t = !cute.memref<f16, gmem, align<16>, "(256,256):(256,1)">
func.func @two_numbers(%A: !t, %B: !t, %C: !t) {
  // expected-error @below {{'cute.contract' op expected cute.tile = array<i64: 16, 16, 16>, 3 integers from 1 to 65536, found array<i64: 64, 64>}}
  cute.contract ins(%A, %B : !t, !t) outs(%C : !t) accumulate f32 {cute.tile = array<i64: 64, 64>}
  return
}

// -----

!t = !cute.memref<f16, gmem, align<16>, "(256,256):(256,1)">
func.func @misspelt(%A: !t, %B: !t, %C: !t) {
  // expected-error @below {{'cute.contract' op has the attribute 'cute.tiles', which nothing reads; did you mean 'cute.tile'?}}
  cute.contract ins(%A, %B : !t, !t) outs(%C : !t) accumulate f32 {cute.tiles = array<i64: 64, 64, 64>}
  return
}

// -----

!t = !cute.memref<f16, gmem, align<16>, "(256,256):(256,1)">
func.func @without_prefix(%A: !t, %B: !t, %C: !t) {
  // expected-error @below {{'cute.contract' op has no attribute 'stages'; did you mean 'cute.stages'?}}
  cute.contract ins(%A, %B : !t, !t) outs(%C : !t) accumulate f32 {stages = 3}
  return
}

// -----

!t = !cute.memref<f16, gmem, align<16>, "(256,256):(256,1)">
func.func @no_stages(%A: !t, %B: !t, %C: !t) {
  // expected-error @below {{expected cute.stages = an integer from 1 to 1024, found 0 : i64}}
  cute.contract ins(%A, %B : !t, !t) outs(%C : !t) accumulate f32 {cute.stages = 0}
  return
}

// -----

!t = !cute.memref<f16, gmem, align<16>, "(256,256):(256,1)">
func.func @no_stages(%A: !t, %B: !t, %C: !t) {
  // expected-error @below {{expected cute.split = an integer from 1 to 32, found 33 : i64}}
  cute.contract ins(%A, %B : !t, !t) outs(%C : !t) accumulate f32 {cute.split = 33}
  return
}

// -----

!t = !cute.memref<f16, gmem, align<16>, "(256,256):(256,1)">
func.func @swizzle_of_numbers(%A: !t, %B: !t, %C: !t) {
  // expected-error @below {{expected cute.swizzle = a string, found array<i64: 3, 4, 3>}}
  cute.contract ins(%A, %B : !t, !t) outs(%C : !t) accumulate f32 {cute.swizzle = array<i64: 3, 4, 3>}
  return
}

// -----

// expected-error @below {{'func.func' op has the attribute 'cute.tile', where nothing reads it; expected it on a cute.contract}}
func.func @elsewhere() attributes {cute.tile = array<i64: 64, 64, 64>} {
  return
}

// -----

// expected-error @below {{'func.func' op expected cute.name = a string, found 1 : i64}}
func.func @a_number_as_name(%A: i32 {cute.name = 1}) {
  return
}

// -----

// expected-error @below {{has the attribute 'cute.noalias' of argument 0, where nothing reads it; expected it on an argument of a gpu.func that is a tensor or a pointer in gmem}}
func.func @a_fact_of_kernels(%A: !cute.memref<f16, gmem, "8:1"> {cute.noalias}) {
  return
}

// -----

gpu.module @k {
  // expected-error @below {{has the attribute 'cute.noalias' of argument 0, where nothing reads it}}
  gpu.func @a_number(%n: i32 {cute.noalias}) kernel {
    gpu.return
  }
}

// -----

// expected-error @below {{has the attribute 'cute.name' of result 0, where nothing reads it}}
func.func private @result() -> (i32 {cute.name = "x"})

// -----

func.func @stage_out_of_range(%a: i32, %i: index) {
  scf.for %k = %i to %i step %i {
    // expected-error @below {{expected cute.stage = an integer from 0 to 1023, found 2147483647 : i32}}
    %b = arith.addi %a, %a {cute.stage = 2147483647 : i32} : i32
  }
  return
}

// -----

func.func @unroll_by_nothing(%i: index) {
  // expected-error @below {{expected cute.unroll = 1 to 4096, as many turns at a time, or the name alone, found 0 : i32}}
  scf.for %k = %i to %i step %i {
  } {cute.unroll = 0 : i32}
  return
}

// -----

// expected-error @below {{'builtin.module' op has the attribute 'cute_nvgpu.target', which nothing reads}}
module attributes {cute_nvgpu.target = "sm_80"} {}

// -----

// expected-error @below {{'func.func' op has the attribute 'cute.occupancy', which nothing reads; expected one of cute.computes}}
func.func @no_kind() attributes {cute.occupancy = 128 : i64} {
  return
}

// -----

func.func @near_another_place(%i: index) {
  // expected-error @below {{'scf.for' op has the attribute 'cute.stagse', which nothing reads; did you mean 'cute.stages'?}}
  scf.for %k = %i to %i step %i {
  } {cute.stagse = 2 : i64}
  return
}
