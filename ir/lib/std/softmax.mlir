// A softmax of scores that come a tile at a time, weighting a sum, as attention has it. Scores and sums are accumulators of mma.sync: each thread has parts
// of some rows, and the four threads whose lanes are 4 i to 4 i + 3 have a row between them. Of each row are kept the largest score that was met, by all four,
// and the sum of this thread's terms. A term is exp(scale (s - max)) = 2^(s factor - max factor), where factor is scale log2(e): one multiply-add and one ex2,
// and none is above 1 where the scale is positive, as it has to be.

cute.import "std/reduce"

// The largest scores and the sums of terms of the rows of which a thread has scores, before the first is met.
func.func private @softmax_begin(%scores: !cute.any) -> (!cute.any, !cute.any) {
  %lowest = arith.constant 0xFF800000 : f32
  %rows = cute.slice(%scores, "((0,_),_,0)")
  %largest = cute.make_fragment_like(%rows)
  %sums = cute.make_fragment_like(%rows)
  cute.fill(%largest, %lowest)
  cute.clear(%sums)
  return %largest, %sums : !cute.any, !cute.any
}

// Makes terms of the scores of a tile, where they stand, adds them to the sums, and makes %out, what was summed up with the terms met before, fit the
// larger maxima. What comes next is %out += terms V.
func.func private @softmax_step(%scores: !cute.any, %out: !cute.any, %largest: !cute.any, %sums: !cute.any, %factor: f32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %size = cute.size<[1]>(%scores)
  %atoms = cute.get_scalars(%size) -> i32
  scf.for %m = %c0 to %atoms step %c1 : i32 {
    scf.for %r = %c0 to %c2 step %c1 : i32 {
      %row = cute.make_coord((_, %r), %m, _)
      %its = cute.make_coord(%r, %m)
      %scores_row = cute.slice(%scores, %row)
      %out_row = cute.slice(%out, %row)

      // The row's maximum: two exchanges, after which all four threads know it.
      %s = cute.memref.load_vec %scores_row
      %max_1 = cute.deferred "vector.reduction"<{kind = #vector.kind<maximumf>}>(%s) -> f32
      %max_4 = cute.call @quad_max(%max_1) -> f32
      %before = cute.memref.load(%largest, %its) -> f32
      %max = arith.maximumf %before, %max_4 : f32
      cute.memref.store(%largest, %its, %max)

      // What was summed up so far is too large by this power: 0 the first time, when nothing was, and exactly 1 where the maximum is the one that it was.
      %change = arith.subf %before, %max : f32
      %exponent = arith.mulf %change, %factor : f32
      %rescale = math.exp2 %exponent : f32

      %scaled_max = arith.mulf %max, %factor : f32
      %less = arith.negf %scaled_max : f32
      %factors = cute.call @splat(%factor, %scores_row)
      %summands = cute.call @splat(%less, %scores_row)
      %powers = cute.deferred "math.fma"(%s, %factors, %summands)
      %terms = cute.deferred "math.exp2"(%powers)
      cute.memref.store_vec %terms, %scores_row

      // The sum stays the thread's own until the end: all four threads multiply theirs by the same powers.
      %more = cute.deferred "vector.reduction"<{kind = #vector.kind<add>}>(%terms) -> f32
      %sum = cute.memref.load(%sums, %its) -> f32
      %new_sum = math.fma %sum, %rescale, %more : f32
      cute.memref.store(%sums, %its, %new_sum)
      cute.call @scale_by(%out_row, %rescale)
    } {cute.unroll}
  } {cute.unroll}
  return
}

// Divides each row of %out by its sum, of all four threads that have terms of it. A sum is 1 at least, as one term is, so that an approximate reciprocal will
// do.
func.func private @softmax_end(%out: !cute.any, %sums: !cute.any) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %size = cute.size<[1]>(%out)
  %atoms = cute.get_scalars(%size) -> i32
  scf.for %m = %c0 to %atoms step %c1 : i32 {
    scf.for %r = %c0 to %c2 step %c1 : i32 {
      %row = cute.make_coord((_, %r), %m, _)
      %its = cute.make_coord(%r, %m)
      %out_row = cute.slice(%out, %row)
      %sum_1 = cute.memref.load(%sums, %its) -> f32
      %sum_4 = cute.call @quad_sum(%sum_1) -> f32
      %inverse = llvm.call_intrinsic "llvm.nvvm.rcp.approx.ftz.f"(%sum_4) : (f32) -> f32
      cute.call @scale_by(%out_row, %inverse)
    } {cute.unroll}
  } {cute.unroll}
  return
}

// Multiplies what is in registers by a number.
func.func private @scale_by(%tensor: !cute.any, %by: f32) {
  %x = cute.memref.load_vec %tensor
  %factors = cute.call @splat(%by, %tensor)
  %scaled = cute.deferred "arith.mulf"(%x, %factors)
  cute.memref.store_vec %scaled, %tensor
  return
}

// A vector of a number as often as a tensor has elements.
func.func private @splat(%x: f32, %like: !cute.any) -> !cute.any {
  %frag = cute.make_fragment_like(%like)
  cute.fill(%frag, %x)
  %all = cute.memref.load_vec %frag
  return %all : !cute.any
}
