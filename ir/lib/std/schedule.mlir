// The order in which blocks go through the tiles of a matrix of %tiles_m by %tiles_n tiles, and how they share the work. %i is the number of a tile, from 0 on: a block
// that takes one tile has its own number, one that stays counts on by the number of blocks. Numbers are i32 without a sign.

// Along M first: blocks that run at once share tiles of B.
func.func private @tile_along_m(%i: i32, %tiles_m: i32, %tiles_n: i32) -> (i32, i32) {
  %m = arith.remui %i, %tiles_m : i32
  %n = arith.divui %i, %tiles_m : i32
  return %m, %n : i32, i32
}

// Along N first: blocks that run at once share tiles of A.
func.func private @tile_along_n(%i: i32, %tiles_m: i32, %tiles_n: i32) -> (i32, i32) {
  %m = arith.divui %i, %tiles_n : i32
  %n = arith.remui %i, %tiles_n : i32
  return %m, %n : i32, i32
}

// In bands of GROUP tiles along M, the last of which may have fewer: up to GROUP tiles along M, then the next ones along N. What runs at once is about as high as it is
// wide, and needs as little of A and B as can be.
func.func private @grouped_tile(%i: i32, %tiles_m: i32, %tiles_n: i32) -> (i32, i32)
    attributes {cute.parameters = {GROUP = 8}} {
  %m, %n, %band = cute.call @tile_in_bands<{GROUP = #cute.param<"GROUP">}>(%i, %tiles_m, %tiles_n) -> (i32, i32, i32)
  return %m, %n : i32, i32
}

// The same, where every other band is gone through from its last tiles along N to its first, so that what a band begins with is what the one before has left in L2.
func.func private @serpentine_tile(%i: i32, %tiles_m: i32, %tiles_n: i32) -> (i32, i32)
    attributes {cute.parameters = {GROUP = 8}} {
  %m, %along, %band = cute.call @tile_in_bands<{GROUP = #cute.param<"GROUP">}>(%i, %tiles_m, %tiles_n) -> (i32, i32, i32)
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %odd = arith.andi %band, %c1 : i32
  %goes_back = arith.cmpi ne, %odd, %c0 : i32
  %last = arith.subi %tiles_n, %c1 : i32
  %back = arith.subi %last, %along : i32
  %n = arith.select %goes_back, %back, %along : i32
  return %m, %n : i32, i32
}

// The place of a tile of bands of GROUP tiles along M, and the number of its band.
func.func private @tile_in_bands(%i: i32, %tiles_m: i32, %tiles_n: i32) -> (i32, i32, i32)
    attributes {cute.parameters = {GROUP = "integer"}} {
  %group = cute.param "GROUP"
  %each = arith.muli %tiles_n, %group : i32
  %band = arith.divui %i, %each : i32
  %first = arith.muli %band, %group : i32
  %left = arith.subi %tiles_m, %first : i32
  %height = arith.minui %left, %group : i32
  %before = arith.muli %band, %each : i32
  %within = arith.subi %i, %before : i32
  %n = arith.divui %within, %height : i32
  %row = arith.remui %within, %height : i32
  %m = arith.addi %first, %row : i32
  return %m, %n, %band : i32, i32, i32
}

// Stream-K: the part of %units steps of all tiles, one behind the other, that block %block of %blocks has, from the first to before the last. Parts differ by one step.
func.func private @stream_k_part(%block: i32, %blocks: i32, %units: i32) -> (i32, i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %each = arith.divui %units, %blocks : i32
  %left = arith.remui %units, %blocks : i32
  %whole = arith.muli %block, %each : i32
  %more = arith.minui %block, %left : i32
  %first = arith.addi %whole, %more : i32
  %takes_more = arith.cmpi ult, %block, %left : i32
  %one = arith.select %takes_more, %c1, %c0 : i32
  %length = arith.addi %each, %one : i32
  %end = arith.addi %first, %length : i32
  return %first, %end : i32, i32
}

// Stream-K: of a part that goes on at step %unit of all and ends before %end, the tile that it is in, of %steps steps each, and the steps of that tile which the part has,
// from the first to before the last. The part goes on at %unit + last - first. The block that has a tile's first step stores it, and adds what the others leave.
func.func private @stream_k_tile(%unit: i32, %end: i32, %steps: i32) -> (i32, i32, i32) {
  %tile = arith.divui %unit, %steps : i32
  %first = arith.remui %unit, %steps : i32
  %left = arith.subi %end, %unit : i32
  %to = arith.addi %first, %left : i32
  %last = arith.minui %to, %steps : i32
  return %tile, %first, %last : i32, i32, i32
}
