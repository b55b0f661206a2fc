// Texts in place of operands that are none, or stand where no text may.
//
// RUN: cute-opt %s --split-input-file --verify-diagnostics

!m = !cute.memref<f32, gmem, align<16>, "(128,64):(64,1)">
func.func @no_coordinate(%A: !m) {
  // expected-error @+1 {{at offset 4: expected `,` or `)`, found the end}}
  %s = cute.slice(%A, "(_,_")
  return
}

// -----

!m = !cute.memref<f32, gmem, align<16>, "(128,64):(64,1)">
func.func @a_shape_for_a_tile(%A: !m, %at: !cute.coord<"(?,?)">) {
  // expected-error @+1 {{expected the text of a tile, such as "[64:1;32:1]", found "(64,64)"}}
  %s = cute.local_tile(%A, "(64,64)", %at)
  return
}

// -----

func.func @beside_no_value() {
  // expected-error @+1 {{expected a text behind a value, such as an argument of the function, found none before it; write a cute.static here, and give its value}}
  %i = cute.crd2idx("(0,1)", "(2,2):(1,2)")
  return
}

// -----

!m = !cute.memref<f32, gmem, align<16>, "(128,64):(64,1)">
func.func @beside_what_is_defined_later() {
  // expected-error @+1 {{expected a text behind a value, such as an argument of the function, found none before it}}
  %s = cute.slice(%A, "(_,0)") : (!m, !cute.coord<"(_,0)">) -> !cute.memref<f32, gmem, align<16>, "128:64">
  %A = cute.memref.alloca() : !m
  return
}

// -----

!m = !cute.memref<f32, gmem, align<16>, "(128,64):(64,1)">
func.func @another_type(%A: !m) {
  // expected-error @+1 {{expected the type '!cute.tile<"[64:1;32:1]">', found a text of '!cute.tile<"[64:1;64:1]">'}}
  %z = cute.zipped_divide(%A, "[64:1;64:1]") : (!m, !cute.tile<"[64:1;32:1]">) -> !m
  return
}

// -----

!m = !cute.memref<f32, gmem, align<16>, "(128,64):(64,1)">
func.func @no_text_there(%A: !m, %x: f32) {
  // expected-error @+1 {{expected a value, found the text "8:1"}}
  cute.memref.store(%A, "(0,0)", "8:1")
  return
}

// -----

!m = !cute.memref<f32, gmem, align<16>, "(128,64):(64,1)">
func.func @a_type_that_says_no_value(%A: !m) {
  // expected-error @+1 {{'cute.static' op}}
  %z = cute.slice(%A, !cute.coord<"(_,?)">)
  return
}
