// What the ops that CuTe DSL prints refuse, and what the forms of text do not read.
//
// RUN: cute-opt %s --split-input-file --verify-diagnostics

func.func @assume_width(%x: i32) {
  // expected-error@+1 {{expected integers of one width}}
  %0 = cute.assume(%x) : (i32) -> !cute.i64<divby 8>
  return
}

// -----

// expected-error@+1 {{expected a divisor of at least 1, found 0}}
func.func private @no_divisor(!cute.i32<divby 0>)

// -----

func.func @derefine_more(%c: !cute.coord<"(0,?)">) {
  // expected-error@+1 {{expected a type that says less than}}
  %0 = cute.derefine(%c) : !cute.coord<"(0,?)"> to !cute.coord<"(0,?{div=8})">
  return
}

// -----

func.func @derefine_rank(%c: !cute.coord<"(0,?)">) {
  // expected-error@+1 {{expected a type that says less than}}
  %0 = cute.derefine(%c) : !cute.coord<"(0,?)"> to !cute.coord<"?">
  return
}

// -----

func.func @derefine_alignment(%p: !cute.ptr<f16, gmem, align<8>>) {
  // expected-error@+1 {{expected a type that says less than}}
  %0 = cute.derefine(%p) : !cute.ptr<f16, gmem, align<8>> to !cute.ptr<f16, gmem, align<16>>
  return
}

// -----

func.func @address_width(%p: !cute.ptr<f16, gmem>) {
  // expected-error@+1 {{expected a result of type i64, as addresses in gmem are wide, found i32}}
  %0 = cute.ptrtoint(%p) : !cute.ptr<f16, gmem> to i32
  return
}

// -----

func.func @address_of_register(%p: !cute.ptr<f16, rmem>) {
  // expected-error@+1 {{expected memory with addresses, found rmem}}
  %0 = cute.ptrtoint(%p) : !cute.ptr<f16, rmem> to i32
  return
}

// -----

func.func @unaligned(%i: i64) {
  // expected-error@+1 {{expected an integer that 16 is known to divide, as the pointer is aligned, found i64; use cute.assume}}
  %0 = cute.inttoptr(%i) : i64 to !cute.ptr<f16, gmem, align<16>>
  return
}

// -----

func.func @zero(%a: !cute.int_tuple<"?">) {
  %0 = cute.make_int_tuple() : () -> !cute.int_tuple<"0">
  // expected-error@+1 {{expected a divisor other than 0 for ?, found 0}}
  %1 = cute.tuple_div(%a, %0) : (!cute.int_tuple<"?">, !cute.int_tuple<"0">) -> !cute.int_tuple<"?">
  return
}

// -----

func.func @places(%a: !cute.int_tuple<"?">) {
  // expected-error@+1 {{expected a value for each {} in the text, 2, found 1}}
  cute.print("{} {}\0A", %a) : !cute.int_tuple<"?">
  return
}

// -----

func.func @view_without_layout(%p: !cute.ptr<f16, gmem>) {
  // expected-error@+1 {{expected a layout as operand 1, for the type does not say all of (?,4):(4,1)}}
  %0 = cute.make_view(%p) : !cute.memref<f16, gmem, "(?,4):(4,1)">
  return
}

// -----

func.func @other_start(%p: !cute.ptr<f16, gmem>, %l: !cute.layout<"8:1">) {
  // expected-error@+1 {{expected a start of type}}
  %0 = "cute.make_view"(%p, %l) : (!cute.ptr<f16, gmem>, !cute.layout<"8:1">) -> !cute.memref<f16, gmem, align<16>, "8:1">
  return
}

// -----

// expected-error@+1 {{expected a swizzled layout only of tensors in smem, found one in gmem}}
func.func private @swizzled_gmem(!cute.memref<f16, gmem, "S<3,3,3> o 0 o (64,8):(1,64)">)

// -----

func.func @four_bits(%m: !cute.memref<i4, gmem, "8:1">, %c: !cute.coord<"0">) {
  // expected-error@+1 {{accesses elements of 4 bits, which have no addresses of their own}}
  %0 = cute.memref.load(%m, %c) : (!cute.memref<i4, gmem, "8:1">, !cute.coord<"0">) -> i4
  return
}

// -----

func.func @no_types(%m: !cute.layout<"8:1">) {
  // expected-error@+1 {{1 operands present, but expected 2}}
  %0 = cute.get_stride(%m) : !cute.layout<"8:1">, !cute.layout<"8:1">
  return
}

// -----

func.func @modes(%m: !cute.layout<"8:1">) {
  // expected-error@+1 {{expected a list of modes, found ["a"]}}
  %0 = cute.size(%m) <{mode = ["a"]}> : (!cute.layout<"8:1">) -> !cute.int_tuple<"8">
  return
}

// -----

func.func @two_coordinates(%l: !cute.layout<"(4,2):(1,4)">, %c: !cute.coord<"(1,_)">) {
  // expected-error@+1 {{expected a coordinate as an operand or as an attribute, found both}}
  %0 = cute.dice(%l, %c, "(1,_)") : (!cute.layout<"(4,2):(1,4)">, !cute.coord<"(1,_)">) -> !cute.layout<"4:1">
  return
}
