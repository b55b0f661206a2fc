// Operands that are tuples of values and stand where none may, or of values that are none of a tuple.
//
// RUN: cute-opt %s --split-input-file --verify-diagnostics

!m = !cute.memref<f32, gmem, align<16>, "(128,64):(64,1)">
func.func @a_tile_of_values(%A: !m, %i: i32) {
  // expected-error @+1 {{expected a tile of known extents, such as (64,32), found a tuple with values}}
  %a = cute.local_tile(%A, (%i,32), (%i, _))
  return
}

// -----

func.func @a_tile_of_tuples(%A: !cute.memref<f32, gmem, "(128,64):(64,1)">, %i: i32) {
  // expected-error @+1 {{expected an extent for each mode, such as (64,32), or a tile in full, such as "[64:1;(2,16):(1,4)]", found ((8,4),32)}}
  %a = cute.local_tile(%A, ((8,4),32), (%i, _))
  return
}

// -----

func.func @a_tuple_of_numbers(%A: !cute.memref<f32, gmem, "(128,64):(64,1)">, %x: f32) {
  // expected-error @+1 {{'cute.make_coord' op expected i32, i64 or an !cute.int_tuple of one dynamic leaf for each value of the tuple, found f32}}
  %a = cute.slice(%A, (%x, _))
  return
}

// -----

func.func @of_what_is_defined_later(%A: !cute.memref<f32, gmem, "(128,64):(64,1)">) {
  // expected-error @+1 {{use of value '%later', which is not defined before}}
  %a = cute.slice(%A, (%later, _))
  %later = arith.constant 0 : i32
  return
}

// -----

func.func @no_tuple_there(%A: !cute.memref<f32, gmem, "(128,64):(64,1)">, %i: i32, %x: f32) {
  // expected-error @+1 {{custom op 'cute.memref.store' expected a value, found a tuple}}
  cute.memref.store(%A, (%i, 0), (%x))
  return
}

// -----

func.func @a_layout(%A: !cute.memref<f32, gmem, "(128,64):(64,1)">, %i: i32) {
  // expected-error @+1 {{expected a layout, such as "(8,4):(4,1)", found a tuple}}
  %p = cute.local_partition(%A, (8, 4), (%i))
  return
}

// -----

func.func @without_its_end(%A: !cute.memref<f32, gmem, "(128,64):(64,1)">, %i: i32) {
  // expected-error @+1 {{expected ')'}}
  %a = cute.slice(%A, (%i, _)
  return
}

// -----

gpu.module @kernels {
  func.func private @g(%x: !cute.any) {
    return
  }
  func.func private @of_a_call(%i: i32) {
    // expected-error @+1 {{expected a value, a layout or a tile, found a tuple, of which a call does not say what it is; make it, as by cute.make_coord}}
    cute.call @g((%i, 0))
    return
  }
}

// -----

func.func @beside_no_value() {
  // expected-error @+1 {{expected a text beside an operand that is a value and is defined before}}
  %a = cute.crd2idx((0, 1), (2, 2))
  return
}

// -----

// A type of a tuple that is written is checked.
func.func @another_type(%A: !cute.memref<f32, gmem, "(128,64):(64,1)">, %i: i32) {
  // expected-error @+1 {{expected the type '!cute.coord<"(_,?)">', found a text of '!cute.coord<"(?,_)">'}}
  %a = cute.slice(%A, (%i, _)) : !cute.memref<f32, gmem, "(128,64):(64,1)">, !cute.coord<"(_,?)">
  return
}
