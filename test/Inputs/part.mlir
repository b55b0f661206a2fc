// A part of C, from a row on that a launch brings; test/compile/convolutions.test runs it.
//
// RUN: cute-run %t.part.cutepkg --device=emulator --set first=2
!a = !cute.memref<f16, gmem, align<16>, "(30,32):(32,1)">
!b = !cute.memref<f16, gmem, align<16>, "(24,32):(32,1)">
!c = !cute.memref<f16, gmem, align<16>, "(32,24):(24,1)">
!at = !cute.coord_tensor<"(?,0)", "(30,24):(1@0,1@1)">
func.func @part(%A: !a, %B: !b, %C: !c, %first: i32 {cute.name = "first"}) {
  %o = cute.make_int_tuple(%first) : (i32) -> !cute.int_tuple<"(?,0)">
  %i = cute.make_arith_tuple_iter(%o) : (!cute.int_tuple<"(?,0)">) -> !cute.arith_tuple_iter<"(?,0)">
  %at = cute.make_view(%i) : !at
  cute.contract ins(%A, %B : !a, !b) outs(%C : !c) accumulate f32 at C(%at : !at)
  return
}
