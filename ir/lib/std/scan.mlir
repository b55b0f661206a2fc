// Running sums of a number of each thread, over a warp and over a block, in the order of the threads. All threads of the warp or the block call them.
// %exchange is a tensor of a number for each warp in shared memory, which nobody else uses until all threads have the result: each scan has its own, or there
// is a barrier between them. %thread is the thread's number in the block.

// The sum of the lanes of a warp up to this one, with it. In step i each lane adds what the lane has that stands 2^i before it, if there is one.
func.func private @warp_inclusive_sum_i32(%x: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c5 = arith.constant 5 : i32
  %c32 = arith.constant 32 : i32
  %sum = scf.for %i = %c0 to %c5 step %c1 iter_args(%s = %x) -> (i32) : i32 {
    %distance = arith.shli %c1, %i : i32
    %other, %valid = gpu.shuffle up %s, %distance, %c32 : i32
    %more = arith.addi %other, %s : i32
    %total = arith.select %valid, %more, %s : i32
    scf.yield %total : i32
  } {cute.unroll}
  return %sum : i32
}

// The sum of the lanes of a warp before this one; 0 in the first.
func.func private @warp_exclusive_sum_i32(%x: i32) -> i32 {
  %sum = cute.call @warp_inclusive_sum_i32(%x) -> i32
  %before = cute.call @of_lane_before_i32(%sum) -> i32
  return %before : i32
}

// The number that the lane before this one has; 0 in the first.
func.func private @of_lane_before_i32(%x: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c32 = arith.constant 32 : i32
  %other, %valid = gpu.shuffle up %x, %c1, %c32 : i32
  %before = arith.select %valid, %other, %zero : i32
  return %before : i32
}

// The sum of the threads of a block of WARPS warps, 32 at most, up to this one, with it, and the sum of all.
func.func private @block_inclusive_sum_i32(%x: i32, %exchange: !cute.any, %thread: i32) -> (i32, i32)
    attributes {cute.parameters = {WARPS = "integer"}} {
  %warps = cute.param "WARPS"
  cute.check_warps(%exchange, %warps)
  %sum = cute.call @warp_inclusive_sum_i32(%x) -> i32
  %before, %all = cute.call @of_warps_before_i32(%sum, %exchange, %thread, %warps) -> (i32, i32)
  %up_to = arith.addi %before, %sum : i32
  return %up_to, %all : i32, i32
}

// The sum of the threads of a block of WARPS warps, 32 at most, before this one, and the sum of all.
func.func private @block_exclusive_sum_i32(%x: i32, %exchange: !cute.any, %thread: i32) -> (i32, i32)
    attributes {cute.parameters = {WARPS = "integer"}} {
  %warps = cute.param "WARPS"
  cute.check_warps(%exchange, %warps)
  %sum = cute.call @warp_inclusive_sum_i32(%x) -> i32
  %before_lane = cute.call @of_lane_before_i32(%sum) -> i32
  %before, %all = cute.call @of_warps_before_i32(%sum, %exchange, %thread, %warps) -> (i32, i32)
  %up_to = arith.addi %before, %before_lane : i32
  return %up_to, %all : i32, i32
}

// The sum of the warps before this one, and the sum of all, where %sum of the last lane is the sum of its warp.
func.func private @of_warps_before_i32(%sum: i32, %exchange: !cute.any, %thread: i32, %warps: i32) -> (i32, i32) {
  %zero = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c31 = arith.constant 31 : i32
  %c32 = arith.constant 32 : i32
  %lane = arith.remui %thread, %c32 : i32
  %warp = arith.divui %thread, %c32 : i32
  %speaks = arith.cmpi eq, %lane, %c31 : i32
  scf.if %speaks {
    %mine = cute.make_coord(%warp)
    cute.memref.store(%exchange, %mine, %sum)
  }
  gpu.barrier
  %listens = arith.cmpi ult, %lane, %warps : i32
  %theirs = scf.if %listens -> (i32) {
    %at = cute.make_coord(%lane)
    %y = cute.memref.load(%exchange, %at) -> i32
    scf.yield %y : i32
  } else {
    scf.yield %zero : i32
  }
  // All warps have the same lanes here, so that a lane's number is that of the warp it speaks for.
  %sums = cute.call @warp_inclusive_sum_i32(%theirs) -> i32
  %sums_before = cute.call @of_lane_before_i32(%sums) -> i32
  %before, %before_valid = gpu.shuffle idx %sums_before, %warp, %c32 : i32
  %all, %all_valid = gpu.shuffle idx %sums, %c31, %c32 : i32
  return %before, %all : i32, i32
}

// The sum of the lanes of a warp up to this one, with it. In step i each lane adds what the lane has that stands 2^i before it, if there is one.
func.func private @warp_inclusive_sum_f32(%x: f32) -> f32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c5 = arith.constant 5 : i32
  %c32 = arith.constant 32 : i32
  %sum = scf.for %i = %c0 to %c5 step %c1 iter_args(%s = %x) -> (f32) : i32 {
    %distance = arith.shli %c1, %i : i32
    %other, %valid = gpu.shuffle up %s, %distance, %c32 : f32
    %more = arith.addf %other, %s : f32
    %total = arith.select %valid, %more, %s : f32
    scf.yield %total : f32
  } {cute.unroll}
  return %sum : f32
}

// The sum of the lanes of a warp before this one; 0.0 in the first.
func.func private @warp_exclusive_sum_f32(%x: f32) -> f32 {
  %sum = cute.call @warp_inclusive_sum_f32(%x) -> f32
  %before = cute.call @of_lane_before_f32(%sum) -> f32
  return %before : f32
}

// The number that the lane before this one has; 0.0 in the first.
func.func private @of_lane_before_f32(%x: f32) -> f32 {
  %zero = arith.constant 0.0 : f32
  %c1 = arith.constant 1 : i32
  %c32 = arith.constant 32 : i32
  %other, %valid = gpu.shuffle up %x, %c1, %c32 : f32
  %before = arith.select %valid, %other, %zero : f32
  return %before : f32
}

// The sum of the threads of a block of WARPS warps, 32 at most, up to this one, with it, and the sum of all.
func.func private @block_inclusive_sum_f32(%x: f32, %exchange: !cute.any, %thread: i32) -> (f32, f32)
    attributes {cute.parameters = {WARPS = "integer"}} {
  %warps = cute.param "WARPS"
  cute.check_warps(%exchange, %warps)
  %sum = cute.call @warp_inclusive_sum_f32(%x) -> f32
  %before, %all = cute.call @of_warps_before_f32(%sum, %exchange, %thread, %warps) -> (f32, f32)
  %up_to = arith.addf %before, %sum : f32
  return %up_to, %all : f32, f32
}

// The sum of the threads of a block of WARPS warps, 32 at most, before this one, and the sum of all.
func.func private @block_exclusive_sum_f32(%x: f32, %exchange: !cute.any, %thread: i32) -> (f32, f32)
    attributes {cute.parameters = {WARPS = "integer"}} {
  %warps = cute.param "WARPS"
  cute.check_warps(%exchange, %warps)
  %sum = cute.call @warp_inclusive_sum_f32(%x) -> f32
  %before_lane = cute.call @of_lane_before_f32(%sum) -> f32
  %before, %all = cute.call @of_warps_before_f32(%sum, %exchange, %thread, %warps) -> (f32, f32)
  %up_to = arith.addf %before, %before_lane : f32
  return %up_to, %all : f32, f32
}

// The sum of the warps before this one, and the sum of all, where %sum of the last lane is the sum of its warp.
func.func private @of_warps_before_f32(%sum: f32, %exchange: !cute.any, %thread: i32, %warps: i32) -> (f32, f32) {
  %zero = arith.constant 0.0 : f32
  %c1 = arith.constant 1 : i32
  %c31 = arith.constant 31 : i32
  %c32 = arith.constant 32 : i32
  %lane = arith.remui %thread, %c32 : i32
  %warp = arith.divui %thread, %c32 : i32
  %speaks = arith.cmpi eq, %lane, %c31 : i32
  scf.if %speaks {
    %mine = cute.make_coord(%warp)
    cute.memref.store(%exchange, %mine, %sum)
  }
  gpu.barrier
  %listens = arith.cmpi ult, %lane, %warps : i32
  %theirs = scf.if %listens -> (f32) {
    %at = cute.make_coord(%lane)
    %y = cute.memref.load(%exchange, %at) -> f32
    scf.yield %y : f32
  } else {
    scf.yield %zero : f32
  }
  // All warps have the same lanes here, so that a lane's number is that of the warp it speaks for.
  %sums = cute.call @warp_inclusive_sum_f32(%theirs) -> f32
  %sums_before = cute.call @of_lane_before_f32(%sums) -> f32
  %before, %before_valid = gpu.shuffle idx %sums_before, %warp, %c32 : f32
  %all, %all_valid = gpu.shuffle idx %sums, %c31, %c32 : f32
  return %before, %all : f32, f32
}
