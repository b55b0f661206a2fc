//===- LayoutIndex.td - sizes, and coordinates to indices and back --------===//
//
// Part of cute-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CUTE_LAYOUT_INDEX_TD
#define CUTE_LAYOUT_INDEX_TD

include "CuteTypes.td"

def Cute_SizeIndex : Cute_Group<"Sizes and indices", [{
  Everything is colexicographic: the first mode is the fastest.
}]>;

class Cute_IndexOp<string mnemonic> : Cute_InferredOp<mnemonic, [Pure]> {
  let opDocGroup = Cute_SizeIndex;
}

def Cute_SizeOp : Cute_IndexOp<"size"> {
  let summary = "The number of coordinates, of the whole or of the mode at a path";
  let description = [{
    The product of the extents. `mode` is a path as in `cute.get`.

    ```mlir
    // Given %l: !cute.layout<"((2,4),?):((1,2),8)">
    %n = cute.size(%l) : (!cute.layout<"((2,4),?):((1,2),8)">) -> !cute.int_tuple<"?">
    %m = cute.size<[0]>(%l) : (!cute.layout<"((2,4),?):((1,2),8)">) -> !cute.int_tuple<"8">
    ```
  }];
  let arguments = (ins AnyTypeOf<[Cute_ShapeType, Cute_IntTupleType, Cute_LayoutType,
                           Cute_ComposedLayoutType, Cute_MemRefType, Cute_CoordTensorType, Cute_SmemDescViewType],
                           "!cute.shape, !cute.int_tuple, !cute.layout, !cute.composed_layout, "
                           "!cute.memref, !cute.coord_tensor or !cute_nvgpu.smem_desc_view">:$input,
                       OptionalAttr<DenseI32ArrayAttr>:$mode);
  let results = (outs Cute_IntTupleType:$result);
  let assemblyFormat = [{ (`<` $mode^ `>`)? `(` $input `)` attr-dict `:`
    functional-type($input, $result) }];
}

def Cute_CosizeOp : Cute_IndexOp<"cosize"> {
  let summary = "One more than the largest offset";
  let description = [{
    1 plus the sum of (extent - 1) * |stride| over the modes. `mode` is a path as in
    `cute.get`. With basis elements, the product of that over the coordinates.

    Errors: a composed layout whose inner part is a layout.

    ```mlir
    // Given %l: !cute.layout<"(4,8):(1,16)">
    %n = cute.cosize(%l) : (!cute.layout<"(4,8):(1,16)">) -> !cute.int_tuple<"116">
    ```
  }];
  let arguments = (ins Cute_AnyLayoutType:$input, OptionalAttr<DenseI32ArrayAttr>:$mode);
  let results = (outs Cute_IntTupleType:$result);
  let assemblyFormat = [{ (`<` $mode^ `>`)? `(` $input `)` attr-dict `:`
    functional-type($input, $result) }];
}

class Cute_ProductOfLeavesOp<string mnemonic> : Cute_IndexOp<mnemonic> {
  let arguments = (ins Cute_ArithTupleType:$input);
  let results = (outs Cute_ArithTupleType:$result);
  let assemblyFormat = "`(` $input `)` attr-dict `:` functional-type($input, $result)";
}

def Cute_TupleProductOp : Cute_ProductOfLeavesOp<"tuple_product"> {
  let summary = "The product of all leaves";
  let description = [{
    The result has the input's kind; of a tuple without leaves it is 1.

    ```mlir
    // Given %s: !cute.shape<"(2,(3,4))">
    %p = cute.tuple_product(%s) : (!cute.shape<"(2,(3,4))">) -> !cute.shape<"24">
    ```
  }];
}

def Cute_TupleProductEachOp : Cute_ProductOfLeavesOp<"tuple_product_each"> {
  let summary = "The product of the leaves of each mode at the top";
  let description = [{
    The result has the input's kind.

    ```mlir
    // Given %s: !cute.shape<"(2,(3,4))">
    %p = cute.tuple_product_each(%s) : (!cute.shape<"(2,(3,4))">) -> !cute.shape<"(2,12)">
    ```
  }];
}

def Cute_LayoutEvalOp : Cute_IndexOp<"layout_eval"> {
  let summary = "The offset that a layout gives a coordinate";
  let description = [{
    The coordinate is an integer, or has a mode for each of the layout's; an integer
    in the place of a tuple is taken colexicographically. With basis elements the
    offset is a tuple. A `_` counts as 0.

    Errors: a coordinate of another profile.

    ```mlir
    // Given %c: !cute.coord<"(2,?)">, %l: !cute.layout<"(4,8):(1,16)">
    %o = cute.layout_eval(%c, %l) : (!cute.coord<"(2,?)">, !cute.layout<"(4,8):(1,16)">) -> !cute.int_tuple<"?">
    ```
  }];
  let arguments = (ins Cute_CoordType:$coord, Cute_AnyLayoutType:$layout);
  let results = (outs Cute_IntTupleType:$result);
  let assemblyFormat = [{ `(` $coord `,` $layout `)` attr-dict `:`
    functional-type(operands, results) }];
}

def Cute_Crd2IdxOp : Cute_IndexOp<"crd2idx"> {
  let summary = "The colexicographic index of a coordinate in a shape";
  let description = [{
    With a layout in the place of the shape, the offset that the layout gives the
    coordinate, as of `cute.layout_eval`, but that `_` is an error.

    Precondition: the coordinate is weakly congruent to the shape.

    ```mlir
    // Given %c: !cute.coord<"(1,2)">, %s: !cute.shape<"(4,8)">, %d: !cute.coord<"?">, %l: !cute.layout<"(8,4):(1,0)">
    %i = cute.crd2idx(%c, %s) : (!cute.coord<"(1,2)">, !cute.shape<"(4,8)">) -> !cute.int_tuple<"9">
    %o = cute.crd2idx(%d, %l) : (!cute.coord<"?">, !cute.layout<"(8,4):(1,0)">) -> !cute.int_tuple<"?">
    ```
  }];
  let arguments = (ins Cute_CoordType:$coord, AnyTypeOf<[Cute_ShapeType, Cute_LayoutType,
                         Cute_ComposedLayoutType],
                         "!cute.shape, !cute.layout or !cute.composed_layout">:$shape);
  let results = (outs Cute_IntTupleType:$result);
  let assemblyFormat = [{ `(` $coord `,` $shape `)` attr-dict `:`
    functional-type(operands, results) }];
}

def Cute_Idx2CrdOp : Cute_IndexOp<"idx2crd"> {
  let summary = "The coordinate of a colexicographic index in a shape";
  let description = [{
    A tuple of indices is taken mode by mode.

    Precondition: the index is an integer, or has as many modes as the shape.

    ```mlir
    // Given %i: !cute.int_tuple<"16">, %s: !cute.shape<"(3,(2,3))">
    %c = cute.idx2crd(%i, %s) : (!cute.int_tuple<"16">, !cute.shape<"(3,(2,3))">) -> !cute.coord<"(1,(1,2))">
    ```
  }];
  let arguments = (ins Cute_IntTupleType:$index, Cute_ShapeType:$shape);
  let results = (outs Cute_CoordType:$result);
  let assemblyFormat = [{ `(` $index `,` $shape `)` attr-dict `:`
    functional-type(operands, results) }];
}

def Cute_IncrementCoordOp : Cute_IndexOp<"increment_coord"> {
  let summary = "The next coordinate in a shape";
  let description = [{
    The first leaf is counted up; where it reaches its extent it starts again at 0, and
    the next one is counted up. The last leaf does not start again: behind the last
    coordinate it is its extent.

    Precondition: the coordinate is congruent to the shape and has no `_`.

    ```mlir
    // Given %c: !cute.coord<"(3,1)">, %s: !cute.shape<"(4,8)">
    %n = cute.increment_coord(%c, %s) : (!cute.coord<"(3,1)">, !cute.shape<"(4,8)">) -> !cute.coord<"(0,2)">
    ```
  }];
  let arguments = (ins Cute_CoordType:$coord, Cute_ShapeType:$shape);
  let results = (outs Cute_CoordType:$result);
  let assemblyFormat = [{ `(` $coord `,` $shape `)` attr-dict `:`
    functional-type(operands, results) }];
}

class Cute_ToRankOp<string mnemonic> : Cute_IndexOp<mnemonic> {
  let arguments = (ins AnyAttrOf<[I32Attr, SI32Attr]>:$rank, Cute_TupleOrLayoutType:$input,
                       Cute_TupleOrLayoutType:$element);
  let results = (outs Cute_TupleOrLayoutType:$result);
  let assemblyFormat = [{ `<` custom<Rank>($rank) `>` `(` $input `,` $element `)` attr-dict `:`
    qualified(type($input)) `,` qualified(type($element)) }];
}

def Cute_AppendToRankOp : Cute_ToRankOp<"append_to_rank"> {
  let summary = "Adds an element behind a value's modes until there are `rank`";
  let description = [{
    A value of that rank or more is left as it is.

    Precondition: a positive rank; an element of the input's kind, and a layout
    for a composed layout.

    ```mlir
    // Given %s: !cute.shape<"(4,8)">, %e: !cute.shape<"1">
    %r = cute.append_to_rank<3>(%s, %e) : !cute.shape<"(4,8)">, !cute.shape<"1">
    ```
  }];
}

def Cute_PrependToRankOp : Cute_ToRankOp<"prepend_to_rank"> {
  let summary = "Adds an element before a value's modes until there are `rank`";
  let description = [{
    As `cute.append_to_rank`, in front.

    ```mlir
    // Given %s: !cute.shape<"(4,8)">, %e: !cute.shape<"1">
    %r = cute.prepend_to_rank<3>(%s, %e) : !cute.shape<"(4,8)">, !cute.shape<"1">
    ```
  }];
}

#endif
