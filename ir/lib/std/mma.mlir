// Products of tiles by a tiled MMA: operands from shared memory into fragments, step by step of K, and accumulators that are stored. A tiled copy is made of
// the MMA by cute.mma.make_tiled_copy; %thread is the coordinate of the thread.

cute.import "std/copy"

// Registers for a thread's part of operand A of tiles of a shape, and the same as a tiled copy fills them.
func.func private @fragment_A(%mma: !cute.any, %copy: !cute.any, %shape: !cute.any) -> (!cute.any, !cute.any) {
  %part = cute.tiled.mma.partition_shape A (%mma, %shape)
  %frag = cute.mma.make_fragment A (%mma, %part)
  %filled = cute.tiled.copy.retile(%copy, %frag)
  return %frag, %filled : !cute.any, !cute.any
}

// The same of operand B.
func.func private @fragment_B(%mma: !cute.any, %copy: !cute.any, %shape: !cute.any) -> (!cute.any, !cute.any) {
  %part = cute.tiled.mma.partition_shape B (%mma, %shape)
  %frag = cute.mma.make_fragment B (%mma, %part)
  %filled = cute.tiled.copy.retile(%copy, %frag)
  return %frag, %filled : !cute.any, !cute.any
}

// A thread's part of a tile in shared memory that is operand A, loaded into registers.
func.func private @load_A(%mma: !cute.any, %copy: !cute.any, %tile: !cute.any, %thread: !cute.any) -> !cute.any {
  %shape = cute.get_shape(%tile)
  %frag, %filled = cute.call @fragment_A(%mma, %copy, %shape)
  cute.call @load_tile(%copy, %tile, %filled, %thread)
  return %frag : !cute.any
}

// The accumulators of a tile of a shape, which are zero.
func.func private @accumulators(%mma: !cute.any, %shape: !cute.any) -> !cute.any {
  %part = cute.tiled.mma.partition_shape C (%mma, %shape)
  %sums = cute.mma.make_fragment C (%mma, %part)
  cute.clear(%sums)
  return %sums : !cute.any
}

// Loads a step of K of an operand: what a tiled copy moves from a thread's part of a tile into the fragment as the copy fills it.
func.func private @load_step(%copy: !cute.any, %part: !cute.any, %filled: !cute.any, %step: i32) {
  %at = cute.make_coord(_, _, %step)
  %from = cute.slice(%part, %at)
  %to = cute.slice(%filled, %at)
  cute.copy(%copy, %from, %to)
  return
}

// The same from place %place of a ring, whose places are the last mode.
func.func private @load_step_at(%copy: !cute.any, %ring: !cute.any, %place: i32, %filled: !cute.any, %step: i32) {
  %at = cute.make_coord(_, _, _, %place)
  %part = cute.slice(%ring, %at)
  cute.call @load_step(%copy, %part, %filled, %step)
  return
}

// Adds the product of a step of K to the accumulators.
func.func private @multiply_step(%mma: !cute.any, %a: !cute.any, %b: !cute.any, %sums: !cute.any, %step: i32) {
  %at = cute.make_coord(_, _, %step)
  %a_step = cute.slice(%a, %at)
  %b_step = cute.slice(%b, %at)
  cute.gemm(%mma, %sums, %a_step, %b_step, %sums)
  return
}

// Adds the product of two tiles in shared memory to the accumulators. Each step of K is loaded before it is multiplied.
func.func private @multiply_tiles(%mma: !cute.any, %copy_A: !cute.any, %tile_A: !cute.any, %copy_B: !cute.any, %tile_B: !cute.any, %sums: !cute.any,
                                  %thread: !cute.any) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %shape_A = cute.get_shape(%tile_A)
  %a, %filled_A = cute.call @fragment_A(%mma, %copy_A, %shape_A)
  %shape_B = cute.get_shape(%tile_B)
  %b, %filled_B = cute.call @fragment_B(%mma, %copy_B, %shape_B)
  %part_A = cute.tiled.copy.partition_S(%copy_A, %tile_A, %thread)
  %part_B = cute.tiled.copy.partition_S(%copy_B, %tile_B, %thread)
  %size = cute.size<[2]>(%part_B)
  %steps = cute.get_scalars(%size) -> i32
  scf.for %i = %c0 to %steps step %c1 : i32 {
    cute.call @load_step(%copy_A, %part_A, %filled_A, %i)
    cute.call @load_step(%copy_B, %part_B, %filled_B, %i)
    cute.call @multiply_step(%mma, %a, %b, %sums, %i)
  } {cute.unroll}
  return
}

// Adds the product of A in registers and of a tile of B in shared memory to the accumulators. Each step of K is loaded before it is multiplied.
func.func private @multiply_by_tile(%mma: !cute.any, %a: !cute.any, %copy_B: !cute.any, %tile_B: !cute.any, %sums: !cute.any, %thread: !cute.any) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %shape_B = cute.get_shape(%tile_B)
  %b, %filled_B = cute.call @fragment_B(%mma, %copy_B, %shape_B)
  %part_B = cute.tiled.copy.partition_S(%copy_B, %tile_B, %thread)
  %size = cute.size<[2]>(%part_B)
  %steps = cute.get_scalars(%size) -> i32
  scf.for %i = %c0 to %steps step %c1 : i32 {
    cute.call @load_step(%copy_B, %part_B, %filled_B, %i)
    cute.call @multiply_step(%mma, %a, %b, %sums, %i)
  } {cute.unroll}
  return
}

// Stores accumulators into a thread's part of a tile, each rounded to T.
func.func private @store_sums(%copy: !cute.any, %sums: !cute.any, %tile: !cute.any, %thread: !cute.any)
    attributes {cute.parameters = {T = "type"}} {
  %rounded = cute.convert(%sums) to !cute.param<"T">
  %frag = cute.tiled.copy.retile(%copy, %rounded)
  cute.call @store_tile(%copy, %frag, %tile, %thread)
  return
}

// Puts alpha times the accumulators plus beta times what is there into a thread's part of a tile of elements of T: computed in f32, rounded once, a part along
// N at a time, so that few registers hold elements of the tile. PARTS is the layout of the accumulators as (values, M, N of a part, parts), where a part is what
// the tiled copy has for a thread in one of its own tiles. Nothing is read where beta is 0.
func.func private @axpby_tile(%copy: !cute.any, %alpha: f32, %sums: !cute.any, %beta: f32, %tile: !cute.any, %thread: !cute.any)
    attributes {cute.parameters = {T = "type", PARTS = "layout"}} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  %reads = arith.cmpf une, %beta, %zero : f32
  %there = cute.tiled.copy.partition_D(%copy, %tile, %thread)
  %start = cute.get_iter(%sums)
  %layout = cute.static "$PARTS"
  %parts = cute.make_view(%start, %layout)
  %size = cute.size<[2]>(%there)
  %count = cute.get_scalars(%size) -> i32
  scf.for %i = %c0 to %count step %c1 : i32 {
    %part = cute.make_coord(_, _, _, %i)
    %x = cute.slice(%parts, %part)
    %at = cute.make_coord(_, _, %i)
    %place = cute.slice(%there, %at)
    %read = cute.make_fragment_like(%x) of !cute.param<"T">
    %read_moved = cute.tiled.copy.retile(%copy, %read)
    %read_part = cute.group_modes<1, 3>(%read_moved)
    cute.clear(%read)
    scf.if %reads {
      cute.copy(%copy, %place, %read_part)
    }
    %y = cute.convert(%read) to f32
    cute.axpby(%alpha, %x, %beta, %y)
    %rounded = cute.convert(%y) to !cute.param<"T">
    %moved = cute.tiled.copy.retile(%copy, %rounded)
    %moved_part = cute.group_modes<1, 3>(%moved)
    cute.copy(%copy, %moved_part, %place)
  } {cute.unroll}
  return
}

// The same where the tile reaches over the end of a matrix. %coords is the tile of its coordinates and %shape its shape; what the copy moves at once lies within
// the shape as a whole or not at all.
func.func private @axpby_tile_within(%copy: !cute.any, %alpha: f32, %sums: !cute.any, %beta: f32, %tile: !cute.any, %coords: !cute.any, %shape: !cute.any,
                                     %thread: !cute.any) attributes {cute.parameters = {T = "type", PARTS = "layout"}} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0.0 : f32
  %reads = arith.cmpf une, %beta, %zero : f32
  %there = cute.tiled.copy.partition_D(%copy, %tile, %thread)
  %where = cute.tiled.copy.partition_D(%copy, %coords, %thread)
  %start = cute.get_iter(%sums)
  %layout = cute.static "$PARTS"
  %parts = cute.make_view(%start, %layout)
  %size = cute.size<[2]>(%there)
  %count = cute.get_scalars(%size) -> i32
  scf.for %i = %c0 to %count step %c1 : i32 {
    %part = cute.make_coord(_, _, _, %i)
    %x = cute.slice(%parts, %part)
    %at = cute.make_coord(_, _, %i)
    %place = cute.slice(%there, %at)
    %first_at = cute.make_coord((0, _), _, %i)
    %firsts = cute.slice(%where, %first_at)
    %pred = cute.call @within(%firsts, %shape)
    %read = cute.make_fragment_like(%x) of !cute.param<"T">
    %read_moved = cute.tiled.copy.retile(%copy, %read)
    %read_part = cute.group_modes<1, 3>(%read_moved)
    cute.clear(%read)
    scf.if %reads {
      cute.copy(%copy, %place, %read_part, %pred)
    }
    %y = cute.convert(%read) to f32
    cute.axpby(%alpha, %x, %beta, %y)
    %rounded = cute.convert(%y) to !cute.param<"T">
    %moved = cute.tiled.copy.retile(%copy, %rounded)
    %moved_part = cute.group_modes<1, 3>(%moved)
    cute.copy(%copy, %moved_part, %place, %pred)
  } {cute.unroll}
  return
}
