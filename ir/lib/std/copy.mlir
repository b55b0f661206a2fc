// Tiles between memory and registers, by a tiled copy: whole ones, and those that reach over the end of a matrix. A fragment is a tensor in registers of
// the shape of a thread's part; %thread is the coordinate of the thread.

// Copies a thread's part of a tile into the same places of another one.
func.func private @copy_tile(%copy: !cute.any, %from: !cute.any, %to: !cute.any, %thread: !cute.any) {
  %source = cute.tiled.copy.partition_S(%copy, %from, %thread)
  %destination = cute.tiled.copy.partition_D(%copy, %to, %thread)
  cute.copy(%copy, %source, %destination)
  return
}

// A thread's parts of what a tiled copy reads and of what it writes.
func.func private @parts(%copy: !cute.any, %from: !cute.any, %to: !cute.any, %thread: !cute.any) -> (!cute.any, !cute.any) {
  %source = cute.tiled.copy.partition_S(%copy, %from, %thread)
  %destination = cute.tiled.copy.partition_D(%copy, %to, %thread)
  return %source, %destination : !cute.any, !cute.any
}

// Copies the parts of tile %i, where the source has tiles one behind the other as its last mode.
func.func private @copy_part(%copy: !cute.any, %source: !cute.any, %i: i32, %destination: !cute.any) {
  %at = cute.make_coord(_, _, _, %i)
  %from = cute.slice(%source, %at)
  cute.copy(%copy, %from, %destination)
  return
}

// Copies the parts of tile %i into place %place of a ring, the last mode of the destination.
func.func private @copy_into(%copy: !cute.any, %source: !cute.any, %i: i32, %ring: !cute.any, %place: i32) {
  %from, %to = cute.call @from_and_to(%source, %i, %ring, %place)
  cute.copy(%copy, %from, %to)
  return
}

// The parts of tile %i of a source and of place %place of a ring.
func.func private @from_and_to(%source: !cute.any, %i: i32, %ring: !cute.any, %place: i32) -> (!cute.any, !cute.any) {
  %from_at = cute.make_coord(_, _, _, %i)
  %to_at = cute.make_coord(_, _, _, %place)
  %from = cute.slice(%source, %from_at)
  %to = cute.slice(%ring, %to_at)
  return %from, %to : !cute.any, !cute.any
}

// Tells of what a copy moves at once of tile %i whether it begins within a shape. %coords is the thread's part of the tiles of coordinates.
func.func private @part_within(%coords: !cute.any, %i: i32, %shape: !cute.any) -> !cute.any {
  %first_at = cute.make_coord(0, _, _, %i)
  %firsts = cute.slice(%coords, %first_at)
  %pred = cute.call @within(%firsts, %shape)
  return %pred : !cute.any
}

// Tells which of some coordinates are less than a shape: a fragment of i1.
func.func private @within(%coords: !cute.any, %shape: !cute.any) -> !cute.any {
  %pred = cute.make_fragment_like(%coords) of i1
  cute.transform(%coords, %pred) (%at) {
    %is = cute.elem_less(%at, %shape) : (!cute.any, !cute.any) -> i1
    cute.yield %is
  }
  return %pred : !cute.any
}

// The tensor of a matrix' coordinates, and its shape, which they are compared with.
func.func private @coordinates(%matrix: !cute.any) -> (!cute.any, !cute.any) {
  %shape = cute.get_shape(%matrix)
  %coords = cute.make_identity_tensor(%shape)
  return %coords, %shape : !cute.any, !cute.any
}

// The tile of a matrix at a coordinate, the coordinates of its elements, and the shape that those of what is there are less than.
func.func private @tile_within(%matrix: !cute.any, %tiler: !cute.any, %at: !cute.any) -> (!cute.any, !cute.any, !cute.any) {
  %coords, %shape = cute.call @coordinates(%matrix)
  %tile = cute.local_tile(%matrix, %tiler, %at)
  %places = cute.local_tile(%coords, %tiler, %at)
  return %tile, %places, %shape : !cute.any, !cute.any, !cute.any
}

// Copies what there is of the tile of a matrix at a coordinate into a tile in shared memory or a fragment, which is 0 elsewhere.
func.func private @load_within(%copy: !cute.any, %matrix: !cute.any, %tiler: !cute.any, %at: !cute.any, %to: !cute.any, %thread: !cute.any) {
  %tile, %places, %shape = cute.call @tile_within(%matrix, %tiler, %at)
  cute.copy_tile(%copy, %thread, %tile, %to) within(%places, %shape)
  return
}

// Copies a tile in shared memory or a fragment into what there is of the tile of a matrix at a coordinate.
func.func private @store_within(%copy: !cute.any, %from: !cute.any, %matrix: !cute.any, %tiler: !cute.any, %at: !cute.any, %thread: !cute.any) {
  %tile, %places, %shape = cute.call @tile_within(%matrix, %tiler, %at)
  cute.copy_tile(%copy, %thread, %from, %tile) within(%places, %shape)
  return
}

// A thread's part of a tile in registers.
func.func private @loaded(%copy: !cute.any, %tile: !cute.any, %thread: !cute.any) -> !cute.any {
  %part = cute.tiled.copy.partition_S(%copy, %tile, %thread)
  %frag = cute.make_fragment_like(%part)
  cute.copy(%copy, %part, %frag)
  return %frag : !cute.any
}

// A thread's part of a tile as a vector.
func.func private @loaded_vec(%copy: !cute.any, %tile: !cute.any, %thread: !cute.any) -> !cute.any {
  %frag = cute.call @loaded(%copy, %tile, %thread)
  %vec = cute.memref.load_vec %frag
  return %vec : !cute.any
}

// Loads a thread's part of a tile into a fragment.
func.func private @load_tile(%copy: !cute.any, %tile: !cute.any, %frag: !cute.any, %thread: !cute.any) {
  %part = cute.tiled.copy.partition_S(%copy, %tile, %thread)
  cute.copy(%copy, %part, %frag)
  return
}

// Stores a fragment into a thread's part of a tile.
func.func private @store_tile(%copy: !cute.any, %frag: !cute.any, %tile: !cute.any, %thread: !cute.any) {
  %part = cute.tiled.copy.partition_D(%copy, %tile, %thread)
  cute.copy(%copy, %frag, %part)
  return
}

// Stores a vector into a thread's part of a tile.
func.func private @store_vec(%copy: !cute.any, %vec: !cute.any, %tile: !cute.any, %thread: !cute.any) {
  %part = cute.tiled.copy.partition_D(%copy, %tile, %thread)
  %frag = cute.make_fragment_like(%part)
  cute.memref.store_vec %vec, %frag
  cute.copy(%copy, %frag, %part)
  return
}

// Copies a tile by way of a thread's registers: read by one tiled copy, and written by another one that gives a thread the same elements.
func.func private @copy_through(%read: !cute.any, %write: !cute.any, %from: !cute.any, %to: !cute.any, %thread: !cute.any) {
  %loaded = cute.call @loaded(%read, %from, %thread)
  %frag = cute.tiled.copy.retile(%write, %loaded)
  cute.call @store_tile(%write, %frag, %to, %thread)
  return
}

// Says in %pred which vectors of a thread's part of a tile begin within a shape. %coords is the tile of the coordinates of a matrix, made by
// cute.make_identity_tensor and tiled as the matrix is; %pred is a fragment of i1 with an element for each vector. Vectors have to lie within the shape as a
// whole or not at all.
func.func private @vectors_within(%copy: !cute.any, %coords: !cute.any, %shape: !cute.any, %pred: !cute.any, %thread: !cute.any) {
  %part = cute.tiled.copy.partition_S(%copy, %coords, %thread)
  %first = cute.slice(%part, "((0,_),_,_)")
  cute.transform(%first, %pred) (%at) {
    %within = cute.elem_less(%at, %shape) : (!cute.any, !cute.any) -> i1
    cute.yield %within
  }
  return
}

// Loads a thread's part of a tile into a fragment where %pred is true, and zeros elsewhere.
func.func private @load_tile_if(%copy: !cute.any, %pred: !cute.any, %tile: !cute.any, %frag: !cute.any, %thread: !cute.any) {
  %part = cute.tiled.copy.partition_S(%copy, %tile, %thread)
  cute.clear(%frag)
  cute.copy_if(%copy, %pred, %part, %frag)
  return
}

// Stores a fragment into a thread's part of a tile where %pred is true.
func.func private @store_tile_if(%copy: !cute.any, %pred: !cute.any, %frag: !cute.any, %tile: !cute.any, %thread: !cute.any) {
  %part = cute.tiled.copy.partition_D(%copy, %tile, %thread)
  cute.copy_if(%copy, %pred, %frag, %part)
  return
}
