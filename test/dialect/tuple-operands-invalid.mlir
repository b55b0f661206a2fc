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
  // expected-error @+1 {{expected ')', found the end of the line}}
  %a = cute.slice(%A, (%i, _)
  return
}

// -----

gpu.module @kernels {
  func.func private @g(%x: !cute.any) {
    return
  }
  func.func private @of_a_call(%i: i32) {
    // expected-error @+1 {{expected the word for what a tuple is, which a call does not say, as in coord (%i, 0), shape (128, 64) or tile (128, 64)}}
    cute.call @g((%i, 0))
    return
  }
}

// -----

func.func @beside_no_value() {
  // expected-error @+1 {{expected a text behind a value, such as an argument of the function, found none before it}}
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

// -----

gpu.module @kernels {
  func.func private @g(%x: !cute.any) {
    return
  }
  func.func private @a_text_of_a_call(%i: i32) {
    // expected-error @+1 {{expected the word for what a tuple is, which a call does not say, as in coord "(0,_)", found "(8,4)"}}
    cute.call @g("(8,4)")
    return
  }
}

// -----

gpu.module @kernels {
  func.func private @g(%x: !cute.any) {
    return
  }
  func.func private @a_word_alone(%i: i32) {
    // expected-error @+1 {{expected a text or a tuple behind 'coord', as in coord (128, 64)}}
    cute.call @g(coord %i)
    return
  }
}

// -----

gpu.module @kernels {
  func.func private @g(%x: !cute.any) {
    return
  }
  func.func private @a_layout_of_values(%i: i32) {
    // expected-error @+1 {{expected a layout, such as "(8,4):(4,1)", found a tuple}}
    cute.call @g(layout (%i, 4))
    return
  }
}

// -----

func.func @compared_with_nothing(%s: !cute.shape<"(8,4)">) {
  // expected-error @+1 {{expected the value first that this is compared with, or the word for what it is, as in shape "(4,8)"}}
  %e = cute.equal("(8,4)", %s)
  return
}

// -----

func.func private @compared_with_what_is_open(%s: !cute.any) {
  // expected-error @+1 {{expected the word for what this is, as in shape "(4,8)", as it is compared with a value of '!cute.any'}}
  %e = cute.equal(%s, "(8,4)")
  return
}

// -----

func.func @another_kind(%A: !cute.memref<f32, gmem, "(128,64):(64,1)">) {
  // expected-error @+1 {{'cute.slice' op}}
  %s = cute.slice(%A, shape "(128,64)")
  return
}

// -----

func.func @no_kind(%A: !cute.memref<f32, gmem, "(128,64):(64,1)">, %x: f32) {
  // expected-error @+1 {{expected a value, found 'coord'}}
  cute.memref.store(%A, (0, 0), coord (0))
  return
}
