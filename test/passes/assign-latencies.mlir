// Which unit an operation occupies: sums and products of numbers are done by the lanes for arithmetic, whichever dialect says
// them, approximate functions by those for functions; an exchange between threads goes the way that shared memory does.
//
// RUN: cute-opt %s --cute-assign-latencies | FileCheck %s

gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
  // CHECK-LABEL: gpu.func @units
  gpu.func @units(%v: vector<16xf32>, %count: i32) kernel attributes {known_block_size = array<i32: 32, 1, 1>, cute.synchronize} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c32 = arith.constant 32 : i32
    %zero = arith.constant 0.0 : f32
    %sum = scf.for %i = %c0 to %count step %c1 iter_args(%s = %zero) -> (f32) : i32 {
      // CHECK: math.fma {{.*}}{cute.cycles = 16 : i32, cute.latency = 4 : i32, cute.unit = "arithmetic"}
      %x = math.fma %v, %v, %v : vector<16xf32>
      // CHECK: math.exp2 {{.*}}{cute.cycles = 128 : i32, cute.latency = 18 : i32, cute.unit = "special"}
      %e = math.exp2 %x : vector<16xf32>
      // CHECK: vector.reduction {{.*}}{cute.cycles = 16 : i32, cute.latency = 4 : i32, cute.unit = "arithmetic"}
      %one = vector.reduction <add>, %e : vector<16xf32> into f32
      // CHECK: gpu.shuffle {{.*}}{cute.cycles = 4 : i32, cute.latency = 24 : i32, cute.unit = "memory"}
      %other, %valid = gpu.shuffle xor %one, %c1, %c32 : f32
      // CHECK: arith.addf {{.*}}{cute.cycles = 1 : i32, cute.latency = 4 : i32, cute.unit = "arithmetic"}
      %both = arith.addf %s, %other : f32
      scf.yield %both : f32
    } {cute.stages = 2 : i64}
    gpu.return
  }
}
