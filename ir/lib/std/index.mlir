// Where a thread and its block are, of grids and blocks of one or two modes.

// The thread's number in its block.
func.func private @thread_index() -> i32 {
  %x = gpu.thread_id x
  %index = arith.index_cast %x : index to i32
  return %index : i32
}

// The thread's number in its block as a coordinate, which partitions take.
func.func private @thread() -> !cute.coord<"?"> {
  %index = cute.call @thread_index() -> i32
  %thread = cute.make_coord(%index)
  return %thread : !cute.coord<"?">
}

// The block's place along the first mode of the grid.
func.func private @block_x() -> i32 {
  %x = gpu.block_id x
  %index = arith.index_cast %x : index to i32
  return %index : i32
}

// The block's place along the second mode of the grid.
func.func private @block_y() -> i32 {
  %y = gpu.block_id y
  %index = arith.index_cast %y : index to i32
  return %index : i32
}
