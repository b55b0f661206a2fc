//===- LayoutConstructors.td - ops that make values of the layout algebra -===//
//
// Part of cute-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A fence of MLIR in a description is parsed and verified by a test. A line
// `// Given %x: type, ...` in it declares what the example takes.
//
//===----------------------------------------------------------------------===//

#ifndef CUTE_LAYOUT_CONSTRUCTORS_TD
#define CUTE_LAYOUT_CONSTRUCTORS_TD

include "CuteTypes.td"

def Cute_Constructors : Cute_Group<"Constructors", [{
  Values from what is known at compile time, which the type says, and the
  integers that fill its dynamic leaves.
}]>;

def Cute_StaticOp : Cute_Op<"static", [Pure, ConstantLike]> {
  let summary = "A value that its type says whole";
  let description = [{
    A value of the layout algebra may be written as its text, with the word for its kind in front: `int_tuple`, `shape`, `stride`,
    `coord`, `layout`, `tile`, `swizzle` or `composed_layout`. The last four need no word.

    Precondition: the type has no dynamic leaf. Besides the values of the layout
    algebra, atoms, tiled copies and tiled MMAs are values that their type says.

    It folds to the attribute of the same name, so that common subexpressions and
    dead values go as constants do.

    Errors: a type with a dynamic leaf, or one that says no value.

    ```mlir
    %t = cute.static : !cute.tile<"[128:1;32:1]">
    %l = cute.static : !cute.layout<"(4,8):(8,1)">
    %m = cute.static "(4,8):(8,1)"
    %c = cute.static coord "(0,_)"
    ```
  }];
  let results = (outs AnyType:$result);
  let hasFolder = 1;
  let assemblyFormat = "attr-dict `:` qualified(type($result))";
  let opDocGroup = Cute_Constructors;
}

/// A value of the result's type, its dynamic leaves filled from the left to the right.
class Cute_MakeFromLeavesOp<string mnemonic> : Cute_Op<mnemonic, [Pure]> {
  let arguments = (ins Variadic<Cute_IntegerType>:$leaves);
  let assemblyFormat = "`(` $leaves `)` attr-dict `:` functional-type($leaves, $result)";
  let opDocGroup = Cute_Constructors;
}

def Cute_MakeIntTupleOp : Cute_MakeFromLeavesOp<"make_int_tuple"> {
  let summary = "An integer tuple from its dynamic leaves";
  let description = [{
    The result's type says the profile and the static leaves; the operands fill its
    dynamic leaves, from the left to the right. An operand is an integer or an
    `!cute.int_tuple` of one leaf.

    The tuple may also be written out, with an operand in the place of each dynamic leaf, and without a type.

    Precondition: as many operands as dynamic leaves, each as wide as its leaf. A
    static operand fills a leaf whose width and divisor it fits.

    Errors: another number of operands, another width, an operand with modes.

    ```mlir
    // Given %i: i32, %j: i64
    %t = cute.make_int_tuple(%i, %j) : (i32, i64) -> !cute.int_tuple<"(?,(8,?{i64}))">
    %u = cute.make_int_tuple(%i, (8, %j))
    ```
  }];
  let results = (outs Cute_IntTupleType:$result);
}

def Cute_MakeShapeOp : Cute_MakeFromLeavesOp<"make_shape"> {
  let summary = "A shape from its dynamic extents";
  let description = [{
    Operands and errors as of `cute.make_int_tuple`.

    ```mlir
    // Given %m: i32
    %s = cute.make_shape(%m) : (i32) -> !cute.shape<"(?,64)">
    %t = cute.make_shape(%m, 64)
    ```
  }];
  let results = (outs Cute_ShapeType:$result);
}

def Cute_MakeStrideOp : Cute_MakeFromLeavesOp<"make_stride"> {
  let summary = "A stride from its dynamic leaves";
  let description = [{
    Operands and errors as of `cute.make_int_tuple`. The operand of a basis element
    such as `?@1` is its multiple.

    ```mlir
    // Given %d: i32, %b: i32
    %s = cute.make_stride(%d) : (i32) -> !cute.stride<"(1,?)">
    %c = cute.make_stride(%b) : (i32) -> !cute.stride<"(1@0,?@1)">
    ```
  }];
  let results = (outs Cute_StrideType:$result);
}

def Cute_MakeCoordOp : Cute_MakeFromLeavesOp<"make_coord"> {
  let summary = "A coordinate from its dynamic leaves";
  let description = [{
    Operands and errors as of `cute.make_int_tuple`. `_` takes no operand.

    ```mlir
    // Given %i: i32
    %c = cute.make_coord(%i) : (i32) -> !cute.coord<"(?,_)">
    %d = cute.make_coord(%i, _)
    ```
  }];
  let results = (outs Cute_CoordType:$result);
}

def Cute_MakeTileOp : Cute_MakeFromLeavesOp<"make_tile"> {
  let summary = "A tile from the dynamic leaves of its layouts";
  let description = [{
    Operands and errors as of `cute.make_int_tuple`. Of each layout the shape comes
    first, then the stride; `_` takes no operand.

    ```mlir
    // Given %m: i32, %d: i32
    %t = cute.make_tile(%m, %d) : (i32, i32) -> !cute.tile<"[(?,3):(1,?);_]">
    ```
  }];
  let results = (outs Cute_TileType:$result);
}

def Cute_MakeLayoutOp : Cute_InferredOp<"make_layout", [Pure]> {
  let summary = "A layout from its shape and its stride";
  let description = [{
    Without a stride, column-major.

    Precondition: shape and stride are congruent, and every static extent is
    positive.

    Postcondition: the result has exactly that shape and that stride.

    ```mlir
    // Given %s: !cute.shape<"(?,8)">, %d: !cute.stride<"(1,?)">
    %l = cute.make_layout(%s, %d) : (!cute.shape<"(?,8)">, !cute.stride<"(1,?)">) -> !cute.layout<"(?,8):(1,?)">
    ```
  }];
  let arguments = (ins Cute_ShapeType:$shape, Optional<Cute_StrideType>:$stride);
  let results = (outs Cute_LayoutType:$layout);
  let assemblyFormat = "`(` $shape (`,` $stride^)? `)` attr-dict `:` functional-type(operands, $layout)";
  let opDocGroup = Cute_Constructors;
}

def Cute_MakeComposedLayoutOp : Cute_InferredOp<"make_composed_layout", [Pure]> {
  let summary = "`inner o offset o outer`";
  let description = [{
    The function that takes a coordinate c to inner(offset + outer(c)).

    Precondition: offset and the values of the outer layout can be added, and the
    inner one takes the sum: a swizzle takes an integer, a layout an integer or a
    coordinate of its own.

    ```mlir
    // Given %s: !cute.swizzle<"S<3,4,3>">, %o: !cute.int_tuple<"0">, %l: !cute.layout<"(8,64):(64,1)">
    %c = cute.make_composed_layout(%s, %o, %l) : (!cute.swizzle<"S<3,4,3>">, !cute.int_tuple<"0">, !cute.layout<"(8,64):(64,1)">) -> !cute.composed_layout<"S<3,4,3> o 0 o (8,64):(64,1)">
    ```
  }];
  let arguments = (ins AnyTypeOf<[Cute_LayoutType, Cute_SwizzleType],
                         "!cute.layout or !cute.swizzle">:$inner,
                       Cute_IntTupleType:$offset, Cute_LayoutType:$outer);
  let results = (outs Cute_ComposedLayoutType:$result);
  let assemblyFormat = [{ `(` $inner `,` $offset `,` $outer `)` attr-dict `:`
    `(` type($inner) `,` type($offset) `,` type($outer) `)` `->` type($result) }];
  let opDocGroup = Cute_Constructors;
}

//===----------------------------------------------------------------------===//
// Layouts made by a rule
//===----------------------------------------------------------------------===//

def Cute_AdvancedConstructors : Cute_Group<"Constructors by a rule", [{
  Layouts whose strides follow from a shape by a rule.
}]>;

def Cute_MakeLayoutLikeOp : Cute_InferredOp<"make_layout_like", [Pure]> {
  let summary = "A compact layout of the same shape, with its modes in the same order";
  let description = [{
    The mode of the smallest stride that is not 0 gets stride 1, and the others
    follow by the size of their strides: memory for a copy of a tensor. Modes of
    stride 0 keep it. Of a composed layout it is the outer layout that counts.
    Strides that depend on the order of dynamic ones are dynamic; where the order is
    known, `cute.make_ordered_layout` is told it, and keeps what is static.

    Precondition: integer strides; the inner part of a composed layout is a swizzle.

    Postcondition: the result has the source's shape, and its strides have no gaps.

    ```mlir
    // Given %l: !cute.layout<"(4,2):(4,1)">
    %r = cute.make_layout_like(%l) : !cute.layout<"(4,2):(4,1)"> -> !cute.layout<"(4,2):(2,1)">
    ```
  }];
  let arguments = (ins Cute_AnyLayoutType:$src);
  let results = (outs Cute_LayoutType:$result);
  let assemblyFormat = "`(` $src `)` attr-dict `:` type($src) `->` qualified(type($result))";
  let opDocGroup = Cute_AdvancedConstructors;
}

def Cute_MakeOrderedLayoutOp : Cute_InferredOp<"make_ordered_layout", [Pure]> {
  let summary = "A compact layout whose modes follow one another in a given order";
  let description = [{
    `order` gives each mode a rank: the smallest gets stride 1, the next one the
    product of what came before, and so on.

    Precondition: `order` is static and weakly congruent to the shape.

    Errors: a dynamic order; one whose profile is not the shape's.

    ```mlir
    // Given %s: !cute.shape<"(4,3,?,2)">, %o: !cute.int_tuple<"(2,1,3,4)">
    %l = cute.make_ordered_layout(%s, %o) : (!cute.shape<"(4,3,?,2)">, !cute.int_tuple<"(2,1,3,4)">) -> !cute.layout<"(4,3,?,2):(3,1,12,?)">
    ```
  }];
  let arguments = (ins Cute_ShapeType:$shape, Cute_IntTupleType:$order);
  let results = (outs Cute_LayoutType:$layout);
  let assemblyFormat = [{ `(` $shape `,` $order `)` attr-dict `:`
    functional-type(operands, $layout) }];
  let opDocGroup = Cute_AdvancedConstructors;
}

def Cute_MakeIdentityLayoutOp : Cute_InferredOp<"make_identity_layout", [Pure]> {
  let summary = "The layout that takes a coordinate to itself";
  let description = [{
    Each leaf's stride is the basis element of its own place: `1@0` for mode 0,
    `1@1@0` for the second leaf of mode 0.

    ```mlir
    // Given %s: !cute.shape<"(?,(2,3))">
    %l = cute.make_identity_layout(%s) : !cute.shape<"(?,(2,3))"> -> !cute.layout<"(?,(2,3)):(1@0,(1@0@1,1@1@1))">
    ```
  }];
  let arguments = (ins Cute_ShapeType:$shape);
  let results = (outs Cute_LayoutType:$result);
  let assemblyFormat = [{ `(` $shape `)` attr-dict `:` qualified(type($shape)) `->`
    qualified(type($result)) }];
  let opDocGroup = Cute_AdvancedConstructors;
}

//===----------------------------------------------------------------------===//
// Diagnostics
//===----------------------------------------------------------------------===//

def Cute_Diagnostics : Cute_Group<"Diagnostics", [{
  Ops for whoever debugs a kernel.
}]>;

def Cute_PrintOp : Cute_Op<"print", [MemoryEffects<[MemWrite]>]> {
  let summary = "Prints a value while the program runs";
  let description = [{
    Prints the value as its type writes it, with numbers in the place of dynamic
    leaves. It counts as a write, so that it stays where it is. With a text in front, each
    `{}` in it stands for a value, and nothing is printed behind it.

    ```mlir
    // Given %l: !cute.layout<"(2,?):(1,?)">
    cute.print(%l) : !cute.layout<"(2,?):(1,?)">
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$values, OptionalAttr<StrAttr>:$fmt);
  let assemblyFormat = "`(` `` custom<PrintOperands>($fmt, $values) `)` `:` type($values) attr-dict";
  let opDocGroup = Cute_Diagnostics;
}

#endif
