//===- LayoutArithmetic.td - sums, quotients, and comparisons of tuples ---===//
//
// Part of cute-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CUTE_LAYOUT_ARITHMETIC_TD
#define CUTE_LAYOUT_ARITHMETIC_TD

include "CuteTypes.td"

def Cute_Arithmetic : Cute_Group<"Arithmetic", [{
  Element by element, on tuples.
}]>;

class Cute_SumOp<string mnemonic> : Cute_InferredOp<mnemonic, [Pure]> {
  let arguments = (ins Cute_ArithTupleType:$lhs, Cute_ArithTupleType:$rhs);
  let results = (outs Cute_ArithTupleType:$result);
  let assemblyFormat = "`(` operands `)` attr-dict `:` functional-type(operands, results)";
  let opDocGroup = Cute_Arithmetic;
}

def Cute_TupleAddOp : Cute_SumOp<"tuple_add"> {
  let summary = "The sum, element by element";
  let description = [{
    The shorter tuple counts as continued by 0, and a static 0 goes with any tuple.

    Precondition: both sides of one kind, and with leaves at the same places.

    ```mlir
    // Given %a: !cute.int_tuple<"(1,?)">, %b: !cute.int_tuple<"(2,3)">
    %s = cute.tuple_add(%a, %b) : (!cute.int_tuple<"(1,?)">, !cute.int_tuple<"(2,3)">) -> !cute.int_tuple<"(3,?)">
    ```
  }];
}

def Cute_TupleSubOp : Cute_SumOp<"tuple_sub"> {
  let summary = "The difference, element by element";
  let description = [{
    As `cute.tuple_add`; a static 0 goes with any tuple on the right side only.

    ```mlir
    // Given %a: !cute.int_tuple<"(4,?)">, %b: !cute.int_tuple<"(1,3)">
    %d = cute.tuple_sub(%a, %b) : (!cute.int_tuple<"(4,?)">, !cute.int_tuple<"(1,3)">) -> !cute.int_tuple<"(3,?)">
    ```
  }];
}

def Cute_ShapeDivOp : Cute_DivisionOp<"shape_div"> {
  let summary = "What is left of a shape when elements are taken together by another one";
  let description = [{
    Tuples are divided mode by mode; a tuple by an integer from the left, each mode
    taking what it can of the divisor.

    Precondition: of each pair of static integers one divides the other, and no
    divisor is 0.

    Where the divisor is static and has no 0, the op may be moved before a check.

    ```mlir
    // Given %a: !cute.shape<"(4,8)">, %b: !cute.shape<"8">
    %q = cute.shape_div(%a, %b) : (!cute.shape<"(4,8)">, !cute.shape<"8">) -> !cute.shape<"(1,4)">
    ```
  }];
  let arguments = (ins Cute_ShapeType:$a, Cute_ShapeType:$b);
  let results = (outs Cute_ShapeType:$result);
  let assemblyFormat = "`(` operands `)` attr-dict `:` functional-type(operands, results)";
  let opDocGroup = Cute_Arithmetic;
}

def Cute_CeilDivOp : Cute_DivisionOp<"ceil_div"> {
  let summary = "The quotient, rounded up";
  let description = [{
    How many tiles cover a shape. Tuples are divided mode by mode, and modes that the
    tiler does not name stay. By a tile it is the shape of the rest that a divide by the
    tile leaves.

    Precondition: the tiler has no more modes than the input, no 0, and no `_`.

    Where the tiler is a tuple, static and without a 0, the op may be moved before a
    check.

    ```mlir
    // Given %a: !cute.shape<"(100,?)">, %b: !cute.shape<"(32,16)">
    %q = cute.ceil_div(%a, %b) : (!cute.shape<"(100,?)">, !cute.shape<"(32,16)">) -> !cute.shape<"(4,?)">
    ```
  }];
  let arguments = (ins Cute_ArithTupleType:$input,
                       AnyTypeOf<[Cute_IntTupleType, Cute_ShapeType, Cute_TileType],
                         "!cute.int_tuple, !cute.shape or !cute.tile">:$tiler);
  let results = (outs Cute_ArithTupleType:$result);
  let assemblyFormat = "`(` operands `)` attr-dict `:` functional-type(operands, results)";
  let opDocGroup = Cute_Arithmetic;
}

def Cute_ElemLessOp : Cute_Op<"elem_less", [Pure]> {
  let summary = "Whether each leaf is less than the one in its place";
  let description = [{
    The test that a coordinate lies within a shape.

    Precondition: congruent operands.

    ```mlir
    // Given %c: !cute.coord<"(?,1)">, %s: !cute.shape<"(4,8)">
    %b = cute.elem_less(%c, %s) : (!cute.coord<"(?,1)">, !cute.shape<"(4,8)">) -> i1
    ```
  }];
  defvar Operand = AnyTypeOf<[Cute_IntTupleType, Cute_ShapeType, Cute_CoordType],
    "!cute.int_tuple, !cute.shape or !cute.coord">;
  let arguments = (ins Operand:$lhs, Operand:$rhs);
  let results = (outs I1:$result);
  let assemblyFormat = "`(` operands `)` attr-dict `:` functional-type(operands, results)";
  let opDocGroup = Cute_Arithmetic;
}

def Cute_EqualOp : Cute_Op<"equal", [Pure]> {
  let summary = "Whether two values of one kind are equal";
  let description = [{
    Values of different profiles are not equal. A text or a tuple is of the first
    operand's kind, as in `cute.equal(%shape, "(4,8)")`; where that is not known, a
    word says it: `cute.equal(%open, shape "(4,8)")`.

    Precondition: operands of one kind.

    ```mlir
    // Given %a: !cute.layout<"(4,?):(1,4)">, %b: !cute.layout<"(4,8):(1,4)">
    %e = cute.equal(%a, %b) : (!cute.layout<"(4,?):(1,4)">, !cute.layout<"(4,8):(1,4)">) -> i1
    ```
  }];
  defvar Operand = AnyTypeOf<[Cute_IntTupleType, Cute_ShapeType, Cute_CoordType, Cute_StrideType,
    Cute_LayoutType], "!cute.int_tuple, !cute.shape, !cute.coord, !cute.stride or !cute.layout">;
  let arguments = (ins Operand:$lhs, Operand:$rhs);
  let results = (outs I1:$result);
  let assemblyFormat = "`(` operands `)` attr-dict `:` functional-type(operands, results)";
  let opDocGroup = Cute_Arithmetic;
}

#endif
