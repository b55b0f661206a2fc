// Views of tensors that are refused.
//
// RUN: cute-opt %s --split-input-file --verify-diagnostics

func.func @load_slice(%t: !cute.memref<f32, gmem, "(8,4):(1,8)">, %c: !cute.coord<"(_,1)">) {
  // expected-error @below {{'cute.memref.load' op expected the coordinate of one element, found (_,1); take the part at `_` by cute.slice}}
  %v = cute.memref.load(%t, %c) : (!cute.memref<f32, gmem, "(8,4):(1,8)">, !cute.coord<"(_,1)">) -> f32
  return
}

// -----

func.func @load_type(%t: !cute.memref<f32, gmem, "(8,4):(1,8)">, %c: !cute.coord<"(0,1)">) {
  // expected-error @below {{'cute.memref.load' op expected a result of type f32, found f16}}
  %v = cute.memref.load(%t, %c) : (!cute.memref<f32, gmem, "(8,4):(1,8)">, !cute.coord<"(0,1)">) -> f16
  return
}

// -----

func.func @load_outside(%t: !cute.memref<f32, gmem, "(8,4):(1,8)">, %c: !cute.coord<"(0,4)">) {
  // expected-error @below {{'cute.memref.load' op expected a coordinate in [0, 4) of the mode 4:8, found 4}}
  %v = cute.memref.load(%t, %c) : (!cute.memref<f32, gmem, "(8,4):(1,8)">, !cute.coord<"(0,4)">) -> f32
  return
}

// -----

func.func @load_coordinate(%t: !cute.coord_tensor<"(0,?)", "(8,4):(1@0,1@1)">, %c: !cute.coord<"(2,1)">) {
  // expected-error @below {{'cute.memref.load' op expected a result of type !cute.coord<"(2,?)">, found i32}}
  %v = cute.memref.load(%t, %c) : (!cute.coord_tensor<"(0,?)", "(8,4):(1@0,1@1)">, !cute.coord<"(2,1)">) -> i32
  return
}

// -----

func.func @store_type(%t: !cute.memref<f32, gmem, "(8,4):(1,8)">, %c: !cute.coord<"(0,1)">, %v: i32) {
  // expected-error @below {{'cute.memref.store' op expected a value of type f32, found i32}}
  cute.memref.store(%t, %c, %v) : (!cute.memref<f32, gmem, "(8,4):(1,8)">, !cute.coord<"(0,1)">, i32) -> ()
  return
}

// -----

func.func @store_vec(%t: !cute.memref<f32, rmem, "(4,2):(1,4)">, %v: vector<4xf32>) {
  // expected-error @below {{'cute.memref.store_vec' op expected a value of type vector<8xf32>, found vector<4xf32>}}
  cute.memref.store_vec %v, %t : vector<4xf32>, !cute.memref<f32, rmem, "(4,2):(1,4)">
  return
}

// -----

func.func @recast_align(%t: !cute.memref<f16, smem, "(4,2):(1,4)">) {
  // expected-error @below {{'cute.recast' op expected a tensor aligned to the new element's 4 bytes, found 2}}
  %r = cute.recast(%t) : !cute.memref<f16, smem, "(4,2):(1,4)"> -> !cute.memref<i32, smem, "(2,2):(1,2)">
  return
}

// -----

func.func @recast_layout(%t: !cute.memref<f16, smem, align<4>, "(4,2):(1,4)">) {
  // expected-error @below {{'cute.recast' op expected a result of type !cute.memref<i32, smem, "(2,2):(1,2)">, found !cute.memref<i32, smem, "(4,2):(1,4)">}}
  %r = cute.recast(%t) : !cute.memref<f16, smem, align<4>, "(4,2):(1,4)"> -> !cute.memref<i32, smem, "(4,2):(1,4)">
  return
}

// -----

func.func @recast_space(%p: !cute.ptr<f16, smem>) {
  // expected-error @below {{'cute.recast_iter' op expected a pointer into smem, as the operand is, found gmem}}
  %r = cute.recast_iter(%p) : !cute.ptr<f16, smem> to !cute.ptr<i8, gmem>
  return
}

// -----

func.func @offset_tuple(%p: !cute.ptr<f16, smem>, %o: !cute.int_tuple<"(1,2)">) {
  // expected-error @below {{'cute.add_offset' op expected one integer as a pointer's offset, found (1,2)}}
  %r = cute.add_offset(%p, %o) : (!cute.ptr<f16, smem>, !cute.int_tuple<"(1,2)">) -> !cute.ptr<f16, smem>
  return
}

// -----

func.func @projection(%t: !cute.memref<f32, gmem, "(8,4):(1,8)">, %tile: !cute.tile<"[4:1;2:1;2:1]">, %c: !cute.coord<"(?,?,_)">) {
  // expected-error @below {{'cute.local_tile' op expected a projection of rank 3, as the tile [4:1;2:1;2:1], found (1,_)}}
  %r = cute.local_tile(%t, %tile, %c) {proj = #cute.coord<"(1,_)">} : (!cute.memref<f32, gmem, "(8,4):(1,8)">, !cute.tile<"[4:1;2:1;2:1]">, !cute.coord<"(?,?,_)">) -> !cute.memref<f32, gmem, "(4,2):(1,8)">
  return
}

// -----

func.func @threads(%t: !cute.memref<f32, gmem, "(8,4):(1,8)">, %l: !cute.layout<"(4,?):(1,4)">, %c: !cute.coord<"?">) {
  // expected-error @below {{'cute.local_partition' op expected a static layout of threads, found (4,?):(1,4)}}
  %r = cute.local_partition(%t, %l, %c) : (!cute.memref<f32, gmem, "(8,4):(1,8)">, !cute.layout<"(4,?):(1,4)">, !cute.coord<"?">) -> !cute.memref<f32, gmem, "(2,1):(4,0)">
  return
}

// -----

func.func @thread_tuple(%t: !cute.memref<f32, gmem, "(8,4):(1,8)">, %l: !cute.layout<"(4,2):(1,4)">, %c: !cute.coord<"(?,?)">) {
  // expected-error @below {{'cute.local_partition' op expected a thread index as the coordinate, found (?,?)}}
  %r = cute.local_partition(%t, %l, %c) : (!cute.memref<f32, gmem, "(8,4):(1,8)">, !cute.layout<"(4,2):(1,4)">, !cute.coord<"(?,?)">) -> !cute.memref<f32, gmem, "(2,2):(4,16)">
  return
}

// -----

func.func @identity(%s: !cute.shape<"(?,64)">) {
  // expected-error @below {{'cute.make_identity_tensor' op expected a result of type !cute.coord_tensor<"(0,0)", "(?,64):(1@0,1@1)">, found !cute.coord_tensor<"(0,0)", "(64,?):(1@0,1@1)">}}
  %r = cute.make_identity_tensor(%s : !cute.shape<"(?,64)">) : !cute.coord_tensor<"(0,0)", "(64,?):(1@0,1@1)">
  return
}

// -----

// expected-error @below {{expected a start with a number for each coordinate that the layout (8,4):(1@0,1@1) gives, found 0}}
func.func private @coordinates(!cute.coord_tensor<"0", "(8,4):(1@0,1@1)">)
