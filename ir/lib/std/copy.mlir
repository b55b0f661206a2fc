// Tiles between memory and registers, by a tiled copy: whole ones, and those that reach over the end of a matrix. A fragment is a tensor in registers of
// the shape of a thread's part; %thread is the coordinate of the thread.

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

// Says in %pred which vectors of a thread's part of a tile begin within a shape. %coords is the tile of the coordinates of a matrix, made by
// cute.make_identity_tensor and tiled as the matrix is; %pred is a fragment of i1 with an element for each vector. Vectors have to lie within the shape as a
// whole or not at all.
func.func private @vectors_within(%copy: !cute.any, %coords: !cute.any, %shape: !cute.any, %pred: !cute.any, %thread: !cute.any) {
  %part = cute.tiled.copy.partition_S(%copy, %coords, %thread)
  %of_vectors = cute.static coord "((0,_),_,_)"
  %first = cute.slice(%part, %of_vectors)
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
