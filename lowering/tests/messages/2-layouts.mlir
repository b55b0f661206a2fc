// Layouts, tiles and coordinates
//
// A layout whose shape and stride are not congruent
func.func @f(%l: !cute.layout<"(8,4):1">) {
  return
}

// -----

// A bracket that is not closed
func.func @f(%t: !cute.memref<f32, gmem, "((8,4):(1,8)">) {
  return
}

// -----

// A tile of another rank than the tensor
func.func @f(%A: !cute.memref<f16, gmem, "(256,64):(64,1)">, %i: i32) {
  %tiler = cute.static "[64:1;32:1;16:1]"
  %at = cute.make_coord(%i, %i, _)
  %g = cute.local_tile(%A, %tiler, %at)
  return
}

// -----

// A coordinate beyond the mode
func.func @f(%A: !cute.memref<f16, gmem, "(8,4):(4,1)">) {
  %at = cute.static coord "(8,_)"
  %row = cute.slice(%A, %at)
  return
}

// -----

// A complement of a layout that overlaps
func.func @f() {
  %l = cute.static "(4,4):(1,2)"
  %c = cute.complement(%l)
  return
}

// -----

// An index in a coordinate
func.func @f() {
  %tx = gpu.thread_id x
  %thread = cute.make_coord(%tx)
  return
}

// -----

// A dynamic value that is called static
func.func @f() {
  %s = cute.static shape "(4,?)"
  return
}

// -----

// A result type that is not the one that follows
func.func @f(%A: !cute.memref<f16, gmem, align<16>, "(256,64):(64,1)">) {
  %l = cute.get_layout(%A) : !cute.memref<f16, gmem, align<16>, "(256,64):(64,1)"> -> !cute.layout<"(64,256):(1,64)">
  return
}

// -----

// A result type that nothing says
func.func @f(%f: !cute.memref<f16, rmem, align<4>, "(2,4):(1,2)">) {
  %w = cute.recast(%f)
  return
}

// -----

// A coordinate read as a whole row
func.func @f(%A: !cute.memref<f32, gmem, "(8,4):(4,1)">) {
  %at = cute.static coord "(1,_)"
  %x = cute.memref.load(%A, %at)
  return
}

// -----

// A value of another type stored
func.func @f(%A: !cute.memref<f16, gmem, "8:1">, %x: f32, %i: i32) {
  %at = cute.make_coord(%i)
  cute.memref.store(%A, %at, %x)
  return
}

// -----

// A composition that has no layout
func.func @f() {
  %l = cute.static "(4,6):(1,10)"
  %by = cute.static "5:3"
  %c = cute.composition(%l, %by)
  return
}

// -----

// A tuple that is not closed
func.func @f(%i: i32) {
  %at = cute.make_coord(%i, (0, _)
  return
}

// -----

// A projection of another rank
func.func @f(%A: !cute.memref<f16, gmem, "(256,64):(64,1)">, %i: i32) {
  %tiler = cute.static "[64:1;32:1;16:1]"
  %at = cute.make_coord(%i, %i, _)
  %g = cute.local_tile(%A, %tiler, %at, "(1,_)")
  return
}

// -----

// An index for an element
func.func @f(%A: !cute.memref<f32, gmem, "8:1">, %i: i32) {
  %x = cute.memref.load(%A, %i)
  return
}

// -----

// A wrong type behind an arrow, and what follows from it
func.func @f(%A: !cute.memref<f16, gmem, align<16>, "(?,64):(64,1)">) {
  %l = cute.get_layout(%A) -> !cute.layout<"(?,?):(?,1)">
  %m = cute.get_scalars <{only_dynamic}>(%l)
  return
}

// -----

// A tile written as a layout
func.func @f(%A: !cute.memref<f16, gmem, "(256,64):(64,1)">, %i: i32) {
  %tiler = cute.static "(64,32):(1,1)"
  %at = cute.make_coord(%i, %i)
  %g = cute.local_tile(%A, %tiler, %at)
  return
}

// -----

// Several results without brackets
func.func @f(%l: !cute.layout<"(?,?):(?,1)">) {
  %m, %n, %d = cute.get_scalars <{only_dynamic}>(%l) -> i32, i32, i32
  return
}

// -----

// A tuple of values for a tile
func.func @f(%A: !cute.memref<f16, gmem, align<16>, "(256,64):(64,1)">, %m: i32, %rows: i32) {
  %tile = cute.local_tile(%A, (%rows, 64), (%m, 0))
  return
}

// -----

// Fewer names than a layout has dynamic leaves
func.func @f(%A: !cute.memref<f16, gmem, "(?,?):(?,1)">) {
  %l = cute.get_layout(%A)
  %m, %n = cute.get_scalars <{only_dynamic}>(%l)
  return
}
