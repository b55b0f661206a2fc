// RUN: cute-opt %s --split-input-file --cute-lower-layouts --verify-diagnostics

func.func private @printf(!llvm.ptr) -> i32
func.func @show(%a: !cute.coord<"?">) {
  // expected-error @below {{cannot print: expected @printf to be the C library's, 'llvm.func @printf(!llvm.ptr, ...) -> i32', found 'func.func' of that name; rename it}}
  cute.print(%a) : !cute.coord<"?">
  return
}

// -----

func.func @f(%l: !cute.layout<"?:1">) {
  return
}
func.func @indirect(%l: !cute.layout<"?:1">) {
  // expected-error @below {{cannot take the address of a function of type (!cute.layout<"?:1">) -> (), for layouts are passed as their dynamic leaves; call it by name, or give it integers}}
  %f = func.constant @f : (!cute.layout<"?:1">) -> ()
  func.call_indirect %f(%l) : (!cute.layout<"?:1">) -> ()
  return
}

// -----

func.func @cast(%i: i32) -> !cute.layout<"?:1"> {
  // expected-error @below {{cannot compute the dynamic leaves of a value of type !cute.layout<"?:1">}}
  %l = builtin.unrealized_conversion_cast %i : i32 to !cute.layout<"?:1">
  return %l : !cute.layout<"?:1">
}

// -----

// The arguments of a region whose op does not pass leaves stay as they are.
func.func @reduced(%l: !cute.int_tuple<"?">, %n: index) {
  %one = arith.constant 1 : index
  %r = scf.parallel (%i) = (%one) to (%n) step (%one) init (%l) -> !cute.int_tuple<"?"> {
    // expected-error @below {{cannot compute the dynamic leaves of a value of type !cute.int_tuple<"?">}}
    scf.reduce(%l : !cute.int_tuple<"?">) {
    ^bb0(%a: !cute.int_tuple<"?">, %b: !cute.int_tuple<"?">):
      %s = cute.tuple_add(%a, %b) : (!cute.int_tuple<"?">, !cute.int_tuple<"?">) -> !cute.int_tuple<"?">
      scf.reduce.return %s : !cute.int_tuple<"?">
    }
  }
  return
}

// -----

// A tensor of coordinates has leaves as well: those of its extents.
func.func @coordinates(%i: i32) {
  // expected-error @below {{cannot compute the dynamic leaves of a value of type !cute.coord_tensor<"(0,0)", "(?,4):(1@1,1@0)">}}
  %x = builtin.unrealized_conversion_cast %i : i32 to !cute.coord_tensor<"(0,0)", "(?,4):(1@1,1@0)">
  func.call @take(%x) : (!cute.coord_tensor<"(0,0)", "(?,4):(1@1,1@0)">) -> ()
  return
}
func.func @take(%x: !cute.coord_tensor<"(0,0)", "(?,4):(1@1,1@0)">) {
  return
}
