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
  cute.check_warps(%exchange, %warps)
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
  cute.check_warps(%exchange, %warps)
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

// The sum over a block whose warps are a multiple of 4, by which every thread reads the numbers of all: fewer steps than @block_sum. %exchange is a tensor of an
// f32 for each warp that is aligned to 16 bytes.
func.func private @block_sum_vectors(%x: f32, %exchange: !cute.any, %thread: i32) -> f32 {
  %sum = cute.call @warp_sum(%x) -> f32
  %sums = cute.call @vector_of_warps(%sum, %exchange, %thread)
  %all = cute.deferred "vector.reduction"<{kind = #vector.kind<add>}>(%sums) -> f32
  return %all : f32
}

// The largest number of such a block; NaN where one is NaN.
func.func private @block_max_vectors(%x: f32, %exchange: !cute.any, %thread: i32) -> f32 {
  %max = cute.call @warp_max(%x) -> f32
  %maxima = cute.call @vector_of_warps(%max, %exchange, %thread)
  %all = cute.deferred "vector.reduction"<{kind = #vector.kind<maximumf>}>(%maxima) -> f32
  return %all : f32
}

// The numbers of all warps as a vector: one lane of each says its own, and every thread reads all.
func.func private @vector_of_warps(%x: f32, %exchange: !cute.any, %thread: i32) -> !cute.any {
  cute.check_warps(%exchange) {exactly}
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
  %frag = cute.make_fragment_like(%exchange)
  cute.autovec_copy(%exchange, %frag)
  %all = cute.memref.load_vec %frag
  return %all : !cute.any
}

// The largest number of the four threads that hold a row of an accumulator of mma.sync, whose lanes are 4 i to 4 i + 3; NaN where one is NaN.
func.func private @quad_max(%x: f32) -> f32 {
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c32 = arith.constant 32 : i32
  %next, %next_valid = gpu.shuffle xor %x, %c1, %c32 : f32
  %max_2 = arith.maximumf %x, %next : f32
  %other, %other_valid = gpu.shuffle xor %max_2, %c2, %c32 : f32
  %max_4 = arith.maximumf %max_2, %other : f32
  return %max_4 : f32
}

// The sum over those four threads.
func.func private @quad_sum(%x: f32) -> f32 {
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c32 = arith.constant 32 : i32
  %next, %next_valid = gpu.shuffle xor %x, %c1, %c32 : f32
  %sum_2 = arith.addf %x, %next : f32
  %other, %other_valid = gpu.shuffle xor %sum_2, %c2, %c32 : f32
  %sum_4 = arith.addf %sum_2, %other : f32
  return %sum_4 : f32
}
