// RUN: cute-opt %s --split-input-file --verify-diagnostics

func.func @type_is_needed(%f: !cute.memref<f16, rmem, align<4>, "(2,4):(1,2)">) {
  // expected-error @+1 {{'cute.recast' op expected the type of its result, which does not follow from its operands: write it behind them, ' -> ' and the type, or the type of its elements, as in ' to i32'}}
  %w = cute.recast(%f)
  return
}

// -----

func.func @no_operand() {
  // expected-error @+1 {{'cute.make_atom' op expected the type of its result}}
  %a = cute.make_atom()
  return
}

// -----

func.func @not_defined() {
  // expected-error @+1 {{use of value '%l', which is not defined before; define it, or, where it is defined further on, write the types of the operands, ' : (...)'}}
  %s = cute.get_shape(%l)
  %l = cute.static "4:1"
  return
}

// -----

func.func @no_such_result(%l: !cute.layout<"4:1">) {
  // expected-error @+1 {{reference to invalid result number}}
  %s = cute.get_shape(%l#1)
  return
}

// -----

func.func @operand(%x: f32) {
  // expected-error @+1 {{'cute.get_shape' op expected a type of the dialect as operand 0, found f32}}
  %s = cute.get_shape(%x)
  return
}

// -----

func.func @results(%l: !cute.layout<"4:1">) {
  // expected-error @+1 {{'cute.get_shape' op gives 1 result, of the types ('!cute.shape<"4">'), but 2 have names; name as many}}
  %s, %t = cute.get_shape(%l)
  return
}

// -----

func.func @wrong_result(%l: !cute.layout<"4:1">) {
  // expected-error @+1 {{'cute.get_shape' op expected a result of type '!cute.shape<"4">', which follows from its operands, found '!cute.shape<"5">'}}
  %s = cute.get_shape(%l) -> !cute.shape<"5">
  return
}

// -----

func.func @index(%i: index) {
  // expected-error @+1 {{'cute.make_coord' op expected i32, i64 or an !cute.int_tuple of one dynamic leaf for each value of the tuple, found index; an index becomes an i32 by arith.index_cast, and a number that is known is written as it is}}
  %c = cute.make_coord(%i)
  return
}

// -----

func.func @nothing() {
  // expected-error @+1 {{'cute.make_coord' op expected a tuple, found nothing between the brackets}}
  %c = cute.make_coord()
  return
}

// -----

func.func @typed_tuple(%i: i32) {
  // expected-error @+1 {{expected no types behind a tuple that is written out: it says them}}
  %c = cute.make_coord(%i, 0) : (i32) -> !cute.coord<"(?,0)">
  return
}

// -----

func.func @leaf(%i: i32) {
  // expected-error @+1 {{expected a value, an integer, '_' or a tuple of those}}
  %c = cute.make_coord(%i, x)
  return
}

// -----

func.func @underscore() {
  // expected-error @+1 {{'cute.make_shape' op}}
  %c = cute.make_shape(_, 4)
  return
}

// -----

func.func @kind() {
  // expected-error @+1 {{expected the text of a layout, a tile, a swizzle or a composed layout, found "(4,8)"; of a tuple write what it is, as in cute.static coord "(0,_)"}}
  %s = cute.static "(4,8)"
  return
}

// -----

func.func @keyword() {
  // expected-error @+1 {{expected int_tuple, shape, stride, coord, layout, tile, swizzle or composed_layout, found 'shapes'}}
  %s = cute.static shapes "(4,8)"
  return
}

// -----

func.func @text() {
  // expected-error @+1 {{expected the text of the value, as in cute.static coord "(0,_)"}}
  %s = cute.static shape 4
  return
}

// -----

func.func @dynamic() {
  // expected-error @+1 {{'cute.static' op expected a type that says its whole value}}
  %s = cute.static shape "(4,?)"
  return
}

// -----

func.func @names(%t: !cute.memref<f16, rmem, "8:1">) {
  // expected-error @+1 {{expected the names of 1 arguments of the region, of the types 'f16', found 2}}
  cute.transform(%t, %t) (%a, %b) {
    cute.yield %a
  }
  return
}

// -----

func.func @brace(%t: !cute.memref<f16, rmem, "8:1">) {
  // expected-error @+1 {{expected attribute name; where types are left out, a region follows its arguments in brackets, as in cute.transform(%x, %y) (%e) { ... }}}
  cute.transform(%t, %t) {
  ^bb0(%a: f16):
    cute.yield %a
  }
  return
}

// -----

func.func @tile(%A: !cute.memref<f16, gmem, "(256,64):(64,1)">, %c: !cute.coord<"(?,_)">) {
  %t = cute.static "[64:1;32:1;2:1]"
  // expected-error @+1 {{'cute.local_tile' op}}
  %g = cute.local_tile(%A, %t, %c)
  return
}

// -----

func.func private @forgotten(%x: !cute.any) {
  // expected-error @below {{expected an integer of a known type in a tuple, found !cute.any; write the type of what gives it, as in cute.call @block_x() -> i32}}
  %at = cute.make_coord(%x, _)
  return
}

// -----

func.func @recast_to_what(%f: !cute.memref<f16, rmem, align<4>, "(2,4):(1,2)">) {
  // expected-error @+1 {{'cute.recast' op expected the type of a number, such as f16 or i32, for elements, found !cute.layout<"4:1">}}
  %w = cute.recast(%f) to !cute.layout<"4:1">
  return
}

// -----

func.func @recast_to_another(%f: !cute.memref<f16, rmem, align<4>, "(2,4):(1,2)">) {
  // expected-error @+1 {{'cute.recast' op expected a result of type !cute.memref<i32, rmem, "(1,4):(1,1)">, found !cute.memref<f32, rmem, "(1,4):(1,1)">}}
  %w = cute.recast(%f) to i32 : !cute.memref<f16, rmem, align<4>, "(2,4):(1,2)"> -> !cute.memref<f32, rmem, "(1,4):(1,1)">
  return
}

// -----

func.func @group_not_defined(%x: !cute.memref<f32, gmem, "8:1">) {
  // expected-error @+1 {{use of value '%y', which is not defined before}}
  cute.map ins(%x) outs(%y) {
  ^bb0(%a: f32):
    cute.yield %a
  }
  return
}

// -----

func.func @group_with_types_missing(%x: !cute.memref<f32, gmem, "8:1">) {
  // expected-error @+1 {{expected ')'}}
  cute.map ins(%x !cute.memref<f32, gmem, "8:1">) outs(%x) {
  ^bb0(%a: f32):
    cute.yield %a
  }
  return
}

// -----

func.func @several_without_brackets(%l: !cute.layout<"(?,?):(1,?)">) {
  // expected-error @+1 {{custom op 'cute.get_scalars' expected the types of several results in brackets, ' -> (i32, ...)', found ',' behind the first; leave them out, with the arrow, where they follow from the operands}}
  %a, %b, %c, %d = cute.get_scalars(%l) -> i32, i32, i32, i32
  return
}

// -----

func.func @several_behind_a_type(%l: !cute.layout<"(?,?):(1,?)">) {
  // expected-error @+1 {{expected the types of several results in brackets}}
  %a, %b, %c, %d = cute.get_scalars(%l) : !cute.layout<"(?,?):(1,?)"> -> i32, i32, i32, i32
  return
}

// -----

func.func @too_few(%l: !cute.layout<"(?,?):(1,?)">) {
  // expected-error @+1 {{'cute.get_scalars' op expected 4 results, of the types ('i32', 'i32', 'i32', 'i32'), which follow from its operands, found 2 ('i32', 'i32'); write all of them in brackets, or leave them out}}
  %a, %b = cute.get_scalars(%l) -> (i32, i32)
  return
}
