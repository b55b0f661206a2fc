// What the verifiers of values, coordinates, offsets and allocations, and the inference of their result types, refuse, and where it is instructive,
// the nearest thing that they accept.
//
// RUN: cute-opt %s --split-input-file --verify-diagnostics

//===----------------------------------------------------------------------===//
// static, make_coord, make_atom
//===----------------------------------------------------------------------===//

func.func @static_dynamic_layout() {
  // expected-error @below {{'cute.static' op expected a type that says its whole value, found !cute.layout<"(?,4):(1,?)">}}
  cute.static : !cute.layout<"(?,4):(1,?)">
  return
}

// -----

func.func @static_dynamic_coord() {
  // expected-error @below {{'cute.static' op expected a type that says its whole value}}
  cute.static : !cute.coord<"(1,?)">
  return
}

// -----

func.func @static_dynamic_tile() {
  // expected-error @below {{'cute.static' op expected a type that says its whole value}}
  cute.static : !cute.tile<"[?:1;_]">
  return
}

// -----

func.func @static_dynamic_composed() {
  // expected-error @below {{'cute.static' op expected a type that says its whole value}}
  cute.static : !cute.composed_layout<"S<3,5,4> o ? o (8,4):(1,8)">
  return
}

// -----

// A tensor's type says what it is, not where.
func.func @static_tensor() {
  // expected-error @below {{'cute.static' op expected a type that says its whole value}}
  cute.static : !cute.memref<f16, gmem, "8:1">
  return
}

// -----

func.func @static_foreign() {
  // expected-error @below {{'cute.static' op expected a type that says its whole value, found i32}}
  cute.static : i32
  return
}

// -----

func.func @coord_count(%i: i32) {
  // expected-error @below {{expected 2 operand(s), one for each `?` of (?,(_,?)), found 1; give as many operands as the result type has `?`}}
  cute.make_coord(%i) : (i32) -> !cute.coord<"(?,(_,?))">
  return
}

// -----

func.func @coord_of_nothing_dynamic(%i: i32) {
  // expected-error @below {{expected 0 operand(s), one for each `?` of (1,_), found 1; give as many operands as the result type has `?`}}
  cute.make_coord(%i) : (i32) -> !cute.coord<"(1,_)">
  return
}

// -----

func.func @coord_width(%i: i32, %j: i32) {
  // expected-error @below {{expected operand 1 to fit `?{i64}` (64 bits), found `?` of 32 bits}}
  cute.make_coord(%i, %j) : (i32, i32) -> !cute.coord<"(?,?{i64})">
  return
}

// -----

func.func @coord_index(%i: index) {
  // expected-error @below {{operand #0 must be variadic of i32, i64, or !cute.int_tuple of one leaf, but got 'index'}}
  cute.make_coord(%i) : (index) -> !cute.coord<"?">
  return
}

// -----

func.func @coord_result(%i: i32) {
  // expected-error @below {{'cute.make_coord' op result #0 must be}}
  cute.make_coord(%i) : (i32) -> !cute.int_tuple<"?">
  return
}

// -----

func.func @atom() {
  // expected-error @below {{'cute.make_atom' op expected an atom of cute_nvgpu, found}}
  cute.make_atom() : () -> !cute.tile<"_">
  return
}

// -----

func.func @atom_foreign() {
  // expected-error @below {{'cute.make_atom' op expected an atom of cute_nvgpu, found i32}}
  cute.make_atom() : () -> i32
  return
}

// -----

//===----------------------------------------------------------------------===//
// crd2idx, get_scalars
//===----------------------------------------------------------------------===//

func.func @crd2idx_underscore(%c: !cute.coord<"(?,_)">, %l: !cute.layout<"(8,4):(1,8)">) {
  // expected-error @below {{'cute.crd2idx' op expected a coordinate without `_`, found (?,_)}}
  cute.crd2idx(%c, %l) : (!cute.coord<"(?,_)">, !cute.layout<"(8,4):(1,8)">) -> !cute.int_tuple<"?">
  return
}

// -----

func.func @crd2idx_rank(%c: !cute.coord<"(?,?,?)">, %l: !cute.layout<"(8,4):(1,8)">) {
  // expected-error @below {{'cute.crd2idx' op expected a coordinate of rank 2 (that of (8,4)), or an integer, found (?,?,?)}}
  cute.crd2idx(%c, %l) : (!cute.coord<"(?,?,?)">, !cute.layout<"(8,4):(1,8)">) -> !cute.int_tuple<"?">
  return
}

// -----

func.func @crd2idx_static_rank(%c: !cute.coord<"(1,2,3)">, %l: !cute.layout<"(8,4):(1,8)">) {
  // expected-error @below {{'cute.crd2idx' op expected a coordinate of rank 2 (that of (8,4)), or an integer, found (1,2,3)}}
  cute.crd2idx(%c, %l) : (!cute.coord<"(1,2,3)">, !cute.layout<"(8,4):(1,8)">) -> !cute.int_tuple<"?">
  return
}

// -----

// The declared type is compared with the inferred one: 1 + 2 * 8.
func.func @crd2idx_declared(%c: !cute.coord<"(1,2)">, %l: !cute.layout<"(8,4):(1,8)">) {
  cute.crd2idx(%c, %l) : (!cute.coord<"(1,2)">, !cute.layout<"(8,4):(1,8)">) -> !cute.int_tuple<"17">
  // expected-error @below {{expected a result of type '!cute.int_tuple<"17">', which follows from its operands, found '!cute.int_tuple<"18">'}}
  cute.crd2idx(%c, %l) : (!cute.coord<"(1,2)">, !cute.layout<"(8,4):(1,8)">) -> !cute.int_tuple<"18">
  return
}

// -----

func.func @crd2idx_operand(%c: !cute.coord<"?">, %l: !cute.tile<"8:1">) {
  // expected-error @below {{operand #1 must be}}
  cute.crd2idx(%c, %l) : (!cute.coord<"?">, !cute.tile<"8:1">) -> !cute.int_tuple<"?">
  return
}

// -----

func.func @scalars_count(%t: !cute.int_tuple<"(?,?)">) {
  // expected-error @below {{operation defines 2 results but was provided 3 to bind}}
  %s:3 = cute.get_scalars(%t) : !cute.int_tuple<"(?,?)">
  return
}

// -----

func.func @scalars_width(%t: !cute.int_tuple<"?{i64}">) -> i32 {
  // expected-note @below {{prior use here}}
  %s = cute.get_scalars(%t) : !cute.int_tuple<"?{i64}">
  // expected-error @below {{use of value '%s' expects different type than prior uses: 'i32' vs 'i64'}}
  return %s : i32
}

// -----

//===----------------------------------------------------------------------===//
// memref.alloca
//===----------------------------------------------------------------------===//

func.func @alloca_gmem() {
  // expected-error @below {{'cute.memref.alloca' op allocates in gmem; expected smem or rmem: pass it as an argument}}
  cute.memref.alloca() : !cute.memref<f16, gmem, "8:1">
  return
}

// -----

func.func @alloca_dynamic() {
  // expected-error @below {{expected a static layout to allocate, found (?,4):(4,1)}}
  cute.memref.alloca() : !cute.memref<f16, smem, "(?,4):(4,1)">
  return
}

// -----

// S<2,4,3> begins afresh each 2^(2+4+3) bytes.
func.func @alloca_align() {
  cute.memref.alloca() : !cute.memref<f16, smem, align<512>, S<2,4,3>, "(32,32):(32,1)">
  // expected-error @below {{swizzled by S<2,4,3> with an alignment of 256 bytes; expected a multiple of 512: write align<512>}}
  cute.memref.alloca() : !cute.memref<f16, smem, align<256>, S<2,4,3>, "(32,32):(32,1)">
  return
}

// -----

func.func @alloca_offset() {
  cute.memref.alloca() {offset = 256 : i64} : !cute.memref<f16, smem, align<128>, "8:1">
  // expected-error @below {{expected an offset that is a multiple of the alignment 128, found 64}}
  cute.memref.alloca() {offset = 64 : i64} : !cute.memref<f16, smem, align<128>, "8:1">
  return
}

// -----

func.func @alloca_negative_offset() {
  // expected-error @below {{expected an offset that is a multiple of the alignment 128, found -128}}
  cute.memref.alloca() {offset = -128 : i64} : !cute.memref<f16, smem, align<128>, "8:1">
  return
}

// -----

func.func @alloca_offset_type() {
  // expected-error @below {{attribute 'offset' failed to satisfy constraint: 64-bit signless integer attribute}}
  cute.memref.alloca() {offset = "0"} : !cute.memref<f16, smem, "8:1">
  return
}
