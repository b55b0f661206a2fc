// What ops on values of the layout algebra refuse: types that do not follow from the operands, operands that do not fit, and
// results that no layout is. An op whose result types are written is refused twice: by its own rule, and by MLIR.
//
// RUN: cute-opt %s --split-input-file --verify-diagnostics

//===----------------------------------------------------------------------===//
// Constructors
//===----------------------------------------------------------------------===//

func.func @static_dynamic_tile() {
  // expected-error @below {{'cute.static' op expected a type that says its whole value, found !cute.tile<"[(?,3):(1,4)]">; make a value with dynamic leaves by the cute.make_ op of its type}}
  cute.static : !cute.tile<"[(?,3):(1,4)]">
  return
}

// -----

func.func @operand_with_modes(%t: !cute.int_tuple<"(?,?)">) {
  // expected-error @below {{'cute.make_shape' op expected operands to be i32, i64 or a !cute.int_tuple of one leaf}}
  cute.make_shape(%t) : (!cute.int_tuple<"(?,?)">) -> !cute.shape<"?">
  return
}

// -----

func.func @operand_of_another_kind(%s: !cute.shape<"?">) {
  // expected-error @below {{operand #0 must be variadic of i32, i64, or !cute.int_tuple of one leaf, but got '!cute.shape<"?">'}}
  cute.make_stride(%s) : (!cute.shape<"?">) -> !cute.stride<"?">
  return
}

// -----

func.func @constant_too_wide(%t: !cute.int_tuple<"2147483648">) {
  // expected-error @below {{'cute.make_int_tuple' op expected operand 0 to fit `?` (32 bits), found 2147483648}}
  cute.make_int_tuple(%t) : (!cute.int_tuple<"2147483648">) -> !cute.int_tuple<"?">
  return
}

// -----

func.func @constant_not_divisible(%t: !cute.int_tuple<"12">) {
  // expected-error @below {{'cute.make_tile' op expected operand 0 to fit `?{div=8}` (32 bits), found 12}}
  cute.make_tile(%t) : (!cute.int_tuple<"12">) -> !cute.tile<"[?{div=8}:1]">
  return
}

// -----

func.func @profiles(%s: !cute.shape<"(4,8)">, %d: !cute.stride<"(1,(4,2))">) {
  // expected-error @below {{'cute.make_layout' op expected a stride congruent to shape (4,8), found (1,(4,2))}}
  cute.make_layout(%s, %d) : (!cute.shape<"(4,8)">, !cute.stride<"(1,(4,2))">) -> !cute.layout<"(4,8):(1,4)">
  return
}

// -----

func.func @empty_extent(%s: !cute.shape<"(4,0)">, %d: !cute.stride<"(1,4)">) {
  // expected-error @below {{'cute.make_layout' op expected positive integers (or `?`) in a shape, found (4,0)}}
  cute.make_layout(%s, %d) : (!cute.shape<"(4,0)">, !cute.stride<"(1,4)">) -> !cute.layout<"(4,8):(1,4)">
  return
}

// -----

func.func @not_the_inferred_layout(%s: !cute.shape<"(?,8)">, %d: !cute.stride<"(1,?)">) {
  // expected-error @below {{'cute.make_layout' op expected a result of type '!cute.layout<"(?,8):(1,?)">', which follows from its operands, found '!cute.layout<"(4,8):(1,4)">'}}
  cute.make_layout(%s, %d) : (!cute.shape<"(?,8)">, !cute.stride<"(1,?)">) -> !cute.layout<"(4,8):(1,4)">
  return
}

// -----

func.func @swizzled_coordinates(%w: !cute.swizzle<"S<3,4,3>">, %o: !cute.int_tuple<"(0,0)">, %l: !cute.layout<"(4,8):(1@0,1@1)">) {
  // expected-error @below {{'cute.make_composed_layout' op expected a scalar offset and integer strides under a swizzle}}
  cute.make_composed_layout(%w, %o, %l) : (!cute.swizzle<"S<3,4,3>">, !cute.int_tuple<"(0,0)">, !cute.layout<"(4,8):(1@0,1@1)">) -> !cute.composed_layout<"S<3,4,3> o 0 o (4,8):(1,4)">
  return
}

// -----

func.func @dynamic_order(%s: !cute.shape<"(4,8)">, %o: !cute.int_tuple<"(?,0)">) {
  // expected-error @below {{'cute.make_ordered_layout' op expected a static order, found (?,0)}}
  cute.make_ordered_layout(%s, %o) : (!cute.shape<"(4,8)">, !cute.int_tuple<"(?,0)">) -> !cute.layout<"(4,8):(8,1)">
  return
}

// -----

//===----------------------------------------------------------------------===//
// Accessors
//===----------------------------------------------------------------------===//

func.func @shape_of_underscore(%t: !cute.tile<"[4:1;_]">) {
  // expected-error @below {{'cute.get_shape' op expected a tile without `_`, found [4:1;_]}}
  cute.get_shape(%t) : !cute.tile<"[4:1;_]"> -> !cute.shape<"(4,1)">
  return
}

// -----

func.func @layouts_of_none(%t: !cute.tile<"[_;_]">) {
  // expected-error @below {{'cute.get_layouts_from_tile' op expected a tile with at least one layout, found [_;_]}}
  cute.get_layouts_from_tile(%t) : !cute.tile<"[_;_]">
  return
}

// -----

func.func @mode_behind_a_leaf(%l: !cute.layout<"(4,8):(1,4)">) {
  // expected-error @below {{'cute.get' op expected mode indices that end at a leaf, found 1 more after depth 1}}
  cute.get<[1, 0]>(%l) : !cute.layout<"(4,8):(1,4)"> -> !cute.layout<"8:4">
  return
}

// -----

func.func @no_such_mode(%l: !cute.layout<"(4,8):(1,4)">) {
  // expected-error @below {{'cute.select' op expected a mode index in [0, 2)}}
  cute.select<[0, 2]>(%l) : !cute.layout<"(4,8):(1,4)"> -> !cute.layout<"(4,8):(1,4)">
  return
}

// -----

func.func @underscore_is_no_integer(%c: !cute.coord<"(_,1)">) {
  // expected-error @below {{'cute.to_int_tuple' op expected integers throughout, found (_,1)}}
  cute.to_int_tuple(%c) : !cute.coord<"(_,1)"> -> !cute.int_tuple<"(0,1)">
  return
}

// -----

//===----------------------------------------------------------------------===//
// Algebra
//===----------------------------------------------------------------------===//

// A(B(2)) is 102, where the only layout of B's shape that begins as A o B does gives 100.
func.func @composition_is_no_layout(%a: !cute.layout<"(6,2):(1,100)">, %b: !cute.layout<"4:4">) {
  // expected-error @below {{'cute.composition' op expected (6,2):(1,100) o 4:4 to be a layout}}
  cute.composition(%a, %b) : (!cute.layout<"(6,2):(1,100)">, !cute.layout<"4:4">) -> !cute.layout<"(2,2):(4,100)">
  return
}

// -----

func.func @profile_too_long(%l: !cute.layout<"(4,8):(1,4)">, %p: !cute.coord<"(0,0,0)">) {
  // expected-error @below {{'cute.coalesce' op expected a profile of at most 2 modes for (4,8):(1,4), found (0,0,0)}}
  cute.coalesce(%l, %p) : (!cute.layout<"(4,8):(1,4)">, !cute.coord<"(0,0,0)">) -> !cute.layout<"32:1">
  return
}

// -----

func.func @no_complement(%l: !cute.layout<"(4,2):(1,10)">, %s: !cute.shape<"40">) {
  // expected-error @below {{'cute.complement' op expected an injective layout whose strides divide in order, found (4,2):(1,10)}}
  cute.complement(%l, %s) : (!cute.layout<"(4,2):(1,10)">, !cute.shape<"40">) -> !cute.layout<"(2,2):(4,20)">
  return
}

// -----

func.func @open_complement_of_a_dynamic_layout(%l: !cute.layout<"?:2">) {
  // expected-error @below {{'cute.complement' op expected a static layout where there is no cotarget, found ?:2}}
  cute.complement(%l) : (!cute.layout<"?:2">) -> !cute.layout<"2:1">
  return
}

// -----

func.func @empty_group(%l: !cute.layout<"(4,8):(1,4)">) {
  // expected-error @below {{'cute.group_modes' op expected 0 <= begin < end <= 2, the rank of (4,8):(1,4), found begin 1 and end 1}}
  cute.group_modes<1, 1>(%l) : (!cute.layout<"(4,8):(1,4)">) -> !cute.layout<"(4,8):(1,4)">
  return
}

// -----

func.func @recast_apart(%l: !cute.layout<"(3,4):(1,3)">) {
  // expected-error @below {{'cute.recast_layout' op `upcast` expected a multiple of 2 elements at stride 1, found (3,4):(1,3)}}
  cute.recast_layout<32, 16>(%l) : !cute.layout<"(3,4):(1,3)"> -> !cute.layout<"(2,4):(1,2)">
  return
}

// -----

func.func @coordinate_too_long(%l: !cute.layout<"(4,8):(1,4)">, %c: !cute.coord<"(_,_,0)">) {
  // expected-error @below {{'cute.slice' op expected a coordinate whose profile (4,8) refines, found (_,_,0)}}
  cute.slice(%l, %c) : !cute.layout<"(4,8):(1,4)">, !cute.coord<"(_,_,0)">
  return
}

// -----

func.func @dynamic_dice(%l: !cute.layout<"(4,8):(1,4)">, %c: !cute.coord<"(_,?)">) {
  // expected-error @below {{'cute.dice' op expected a static coordinate, found (_,?)}}
  cute.dice(%l, %c) : !cute.layout<"(4,8):(1,4)">, !cute.coord<"(_,?)">
  return
}

// -----

func.func @not_sliceable(%t: !cute.tile<"[4:1;_]">, %c: !cute.coord<"(_,0)">) {
  // expected-error @below {{'cute.slice' op expected input to be !cute.shape, !cute.stride, !cute.int_tuple, !cute.coord, !cute.layout or !cute.composed_layout, found !cute.tile `[4:1;_]`}}
  cute.slice(%t, %c) : !cute.tile<"[4:1;_]">, !cute.coord<"(_,0)">
  return
}

// -----

func.func @inverse_of_negative_strides(%l: !cute.layout<"(4,4):(-1,4)">) {
  // expected-error @below {{'cute.left_inverse' op expected non-negative strides in `left_inverse`}}
  cute.left_inverse(%l) : (!cute.layout<"(4,4):(-1,4)">) -> !cute.layout<"16:1">
  return
}

// -----

func.func @inverse_of_dynamic_extents(%l: !cute.layout<"(?,4):(1@0,1@1)">) {
  // expected-error @below {{'cute.right_inverse' op expected a static shape beside basis strides, found (?,4):(1@0,1@1)}}
  cute.right_inverse(%l) : (!cute.layout<"(?,4):(1@0,1@1)">) -> !cute.layout<"4:1">
  return
}

// -----

//===----------------------------------------------------------------------===//
// Sizes, indices, arithmetic
//===----------------------------------------------------------------------===//

func.func @cosize_of_a_function(%c: !cute.composed_layout<"(8,8):(8,1) o 3 o (4,2):(2,16)">) {
  // expected-error @below {{'cute.cosize' op expected a composed layout whose inner function is a swizzle, found (8,8):(8,1) o 3 o (4,2):(2,16)}}
  cute.cosize(%c) : (!cute.composed_layout<"(8,8):(8,1) o 3 o (4,2):(2,16)">) -> !cute.int_tuple<"64">
  return
}

// -----

func.func @not_a_coordinate(%c: !cute.coord<"(1,2,3)">, %s: !cute.shape<"(4,8)">) {
  // expected-error @below {{'cute.crd2idx' op expected a coordinate whose profile (4,8) refines, found (1,2,3)}}
  cute.crd2idx(%c, %s) : (!cute.coord<"(1,2,3)">, !cute.shape<"(4,8)">) -> !cute.int_tuple<"9">
  return
}

// -----

func.func @not_an_index(%i: !cute.int_tuple<"(1,2,3)">, %s: !cute.shape<"(4,8)">) {
  // expected-error @below {{'cute.idx2crd' op expected an index of rank 2 (that of (4,8)), or an integer, found (1,2,3)}}
  cute.idx2crd(%i, %s) : (!cute.int_tuple<"(1,2,3)">, !cute.shape<"(4,8)">) -> !cute.coord<"(1,2)">
  return
}

// -----

func.func @increment_of_underscore(%c: !cute.coord<"(_,2)">, %s: !cute.shape<"(4,8)">) {
  // expected-error @below {{'cute.increment_coord' op expected a coordinate without `_`, found (_,2)}}
  cute.increment_coord(%c, %s) : (!cute.coord<"(_,2)">, !cute.shape<"(4,8)">) -> !cute.coord<"(0,3)">
  return
}

// -----

func.func @no_rank(%s: !cute.shape<"(4,8)">, %e: !cute.shape<"1">) {
  // expected-error @below {{'cute.append_to_rank' op expected a rank from 1 to 4096, found 0}}
  cute.append_to_rank<0>(%s, %e) : !cute.shape<"(4,8)">, !cute.shape<"1">
  return
}

// -----

func.func @element_of_another_kind(%s: !cute.shape<"(4,8)">, %e: !cute.stride<"1">) {
  // expected-error @below {{'cute.prepend_to_rank' op expected element to be of the kind of the input, found !cute.stride `1`}}
  cute.prepend_to_rank<3>(%s, %e) : !cute.shape<"(4,8)">, !cute.stride<"1">
  return
}

// -----

func.func @sum_of_two_kinds(%a: !cute.int_tuple<"(1,2)">, %b: !cute.shape<"(1,2)">) {
  // expected-error @below {{'cute.tuple_add' op expected rhs to be of the kind of lhs, found !cute.shape `(1,2)`}}
  cute.tuple_add(%a, %b) : (!cute.int_tuple<"(1,2)">, !cute.shape<"(1,2)">) -> !cute.int_tuple<"(2,4)">
  return
}

// -----

func.func @leaf_from_tuple(%a: !cute.int_tuple<"(1,2)">, %b: !cute.int_tuple<"1">) {
  // expected-error @below {{'cute.tuple_sub' op expected tuples of one nesting, where only a known 0 may stand for a tuple, found (1,2) and 1}}
  cute.tuple_sub(%a, %b) : (!cute.int_tuple<"(1,2)">, !cute.int_tuple<"1">) -> !cute.int_tuple<"(0,2)">
  return
}

// -----

func.func @sum_overflows(%a: !cute.int_tuple<"9223372036854775807">, %b: !cute.int_tuple<"1">) {
  // expected-error @below {{found an overflow}}
  cute.tuple_add(%a, %b) : (!cute.int_tuple<"9223372036854775807">, !cute.int_tuple<"1">) -> !cute.int_tuple<"0">
  return
}

// -----

func.func @divided_by_zero(%a: !cute.shape<"(4,8)">, %b: !cute.shape<"(2,0)">) {
  // expected-error @below {{'cute.ceil_div' op expected positive integers (or `?`) in a shape, found 0}}
  cute.ceil_div(%a, %b) : (!cute.shape<"(4,8)">, !cute.shape<"(2,0)">) -> !cute.shape<"(2,8)">
  return
}

// -----

func.func @does_not_divide(%a: !cute.shape<"6">, %b: !cute.shape<"4">) {
  // expected-error @below {{'cute.shape_div' op expected sizes one of which divides the other, found 6 by 4}}
  cute.shape_div(%a, %b) : (!cute.shape<"6">, !cute.shape<"4">) -> !cute.shape<"2">
  return
}

// -----

func.func @not_congruent(%a: !cute.coord<"(1,2)">, %b: !cute.shape<"(4,(8,2))">) {
  // expected-error @below {{'cute.elem_less' op expected congruent tuples, found (1,2) and (4,(8,2))}}
  cute.elem_less(%a, %b) : (!cute.coord<"(1,2)">, !cute.shape<"(4,(8,2))">) -> i1
  return
}

// -----

func.func @equal_of_two_kinds(%a: !cute.coord<"(1,2)">, %b: !cute.shape<"(1,2)">) {
  // expected-error @below {{'cute.equal' op expected rhs to be of the kind of lhs, found !cute.shape `(1,2)`}}
  cute.equal(%a, %b) : (!cute.coord<"(1,2)">, !cute.shape<"(1,2)">) -> i1
  return
}

// -----

//===----------------------------------------------------------------------===//
// Products and divides
//===----------------------------------------------------------------------===//

func.func @dynamic_product(%a: !cute.layout<"(?,2):(1,4)">, %b: !cute.layout<"4:1">) {
  // expected-error @below {{'cute.blocked_product' op expected a static block, found (?,2):(1,4)}}
  cute.blocked_product(%a, %b) : (!cute.layout<"(?,2):(1,4)">, !cute.layout<"4:1">) -> !cute.layout<"4:1">
  return
}

// -----

func.func @tiler_too_long(%l: !cute.layout<"(4,8):(1,4)">, %s: !cute.shape<"(2,2,2)">) {
  // expected-error @below {{'cute.flat_divide' op expected a tiler of at most 2 modes, the rank of (4,8):(1,4), found [2:1;2:1;2:1]}}
  cute.flat_divide(%l, %s) : (!cute.layout<"(4,8):(1,4)">, !cute.shape<"(2,2,2)">) -> !cute.layout<"4:1">
  return
}

// -----

func.func @not_an_order(%l: !cute.layout<"(2,4):(4,1)">, %s: !cute.shape<"(4,8)">, %o: !cute.int_tuple<"(1,1)">) {
  // expected-error @below {{'cute.tile_to_shape' op expected a static permutation of 0 to 1, found (1,1)}}
  cute.tile_to_shape(%l, %s, %o) : (!cute.layout<"(2,4):(4,1)">, !cute.shape<"(4,8)">, !cute.int_tuple<"(1,1)">) -> !cute.layout<"4:1">
  return
}

// -----

// A composed layout that does nothing beyond its outer one has the type of that.
// expected-error @below {{expected a composed layout with swizzle bits or an offset, found S<0,4,3> o 0 o (8,4):(1,8); write !cute.layout<"(8,4):(1,8)">}}
func.func private @composed_of_nothing(!cute.composed_layout<"S<0,4,3> o 0 o (8,4):(1,8)">)

// -----

// expected-error @below {{expected string}}
func.func private @attribute_unquoted() attributes {a = #cute.layout<4>}

// -----

// expected-error @below {{expected a stride congruent to shape (4,8), found 1}}
func.func private @attribute_not_congruent() attributes {a = #cute.layout<"(4,8):1">}
