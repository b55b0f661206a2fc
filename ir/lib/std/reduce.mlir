// Sums and maxima of a number of each thread, over a warp and over a block. All threads of the warp or the block call them, and all get the result.

// The sum over a warp. In the butterfly each lane adds what the lane has whose number differs in one bit, 16 to 1, after which all have the same.
func.func private @warp_sum(%x: f32) -> f32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c5 = arith.constant 5 : i32
  %c16 = arith.constant 16 : i32
  %c32 = arith.constant 32 : i32
  %sum = scf.for %i = %c0 to %c5 step %c1 iter_args(%s = %x) -> (f32) : i32 {
    %bit = arith.shrui %c16, %i : i32
    %other, %valid = gpu.shuffle xor %s, %bit, %c32 : f32
    %total = arith.addf %s, %other : f32
    scf.yield %total : f32
  } {cute.unroll}
  return %sum : f32
}

// The largest number of a warp; NaN where one is NaN.
func.func private @warp_max(%x: f32) -> f32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c5 = arith.constant 5 : i32
  %c16 = arith.constant 16 : i32
  %c32 = arith.constant 32 : i32
  %max = scf.for %i = %c0 to %c5 step %c1 iter_args(%m = %x) -> (f32) : i32 {
    %bit = arith.shrui %c16, %i : i32
    %other, %valid = gpu.shuffle xor %m, %bit, %c32 : f32
    %larger = arith.maximumf %m, %other : f32
    scf.yield %larger : f32
  } {cute.unroll}
  return %max : f32
}

// The sum over a block of WARPS warps, 32 at most. %exchange is a tensor of as many f32 in shared memory, which nobody else uses until all threads have
// the result: each reduction has its own, or there is a barrier between them. %thread is the thread's number in the block.
func.func private @block_sum(%x: f32, %exchange: !cute.any, %thread: i32) -> f32
    attributes {cute.parameters = {WARPS = "integer"}} {
  %zero = arith.constant 0.0 : f32
  %warps = cute.param "WARPS"
  %sum = cute.call @warp_sum(%x) -> f32
  %given = cute.call @from_warps(%sum, %zero, %exchange, %thread, %warps) -> f32
  %all = cute.call @warp_sum(%given) -> f32
  return %all : f32
}

// The largest number of a block of WARPS warps; NaN where one is NaN. %exchange and %thread are as for @block_sum.
func.func private @block_max(%x: f32, %exchange: !cute.any, %thread: i32) -> f32
    attributes {cute.parameters = {WARPS = "integer"}} {
  %least = arith.constant 0xFF800000 : f32
  %warps = cute.param "WARPS"
  %max = cute.call @warp_max(%x) -> f32
  %given = cute.call @from_warps(%max, %least, %exchange, %thread, %warps) -> f32
  %all = cute.call @warp_max(%given) -> f32
  return %all : f32
}

// The numbers of all warps, each in a lane of every warp, and %none in the lanes beyond.
func.func private @from_warps(%x: f32, %none: f32, %exchange: !cute.any, %thread: i32, %warps: i32) -> f32 {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %lane = arith.remui %thread, %c32 : i32
  %warp = arith.divui %thread, %c32 : i32
  %speaks = arith.cmpi eq, %lane, %c0 : i32
  scf.if %speaks {
    %mine = cute.make_coord(%warp)
    cute.memref.store(%exchange, %mine, %x)
  }
  gpu.barrier
  %listens = arith.cmpi ult, %lane, %warps : i32
  %theirs = scf.if %listens -> (f32) {
    %at = cute.make_coord(%lane)
    %y = cute.memref.load(%exchange, %at) -> f32
    scf.yield %y : f32
  } else {
    scf.yield %none : f32
  }
  return %theirs : f32
}
