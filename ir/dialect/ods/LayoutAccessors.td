//===- LayoutAccessors.td - ops that take values of the algebra apart -----===//
//
// Part of cute-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CUTE_LAYOUT_ACCESSORS_TD
#define CUTE_LAYOUT_ACCESSORS_TD

include "CuteTypes.td"

def Cute_Accessors : Cute_Group<"Accessors", [{
  Parts of values, and values of one kind as another kind.
}]>;

class Cute_AccessorOp<string mnemonic> : Cute_InferredOp<mnemonic, [Pure]> {
  let opDocGroup = Cute_Accessors;
}

def Cute_GetShapeOp : Cute_AccessorOp<"get_shape"> {
  let summary = "The shape of a layout, a composed layout, a tensor or a tile";
  let description = [{
    Of a composed layout, the shape of the outer layout; of a tensor, that of its layout; of a tile, the
    tuple of its layouts' shapes.

    Errors: a tile with `_`, which has no shape; take its layouts by
    `cute.get_layouts_from_tile`.

    ```mlir
    // Given %l: !cute.layout<"(?,8):(1,?)">
    %s = cute.get_shape(%l) : !cute.layout<"(?,8):(1,?)"> -> !cute.shape<"(?,8)">
    ```
  }];
  let arguments = (ins AnyTypeOf<[Cute_LayoutType, Cute_ComposedLayoutType, Cute_TileType, Cute_MemRefType,
                           Cute_CoordTensorType, Cute_SmemDescViewType],
                         "!cute.layout, !cute.composed_layout, !cute.tile, !cute.memref, "
                         "!cute.coord_tensor or !cute_nvgpu.smem_desc_view">:$input);
  let results = (outs Cute_ShapeType:$result);
  let assemblyFormat = "`(` $input `)` attr-dict `:` type($input) `->` qualified(type($result))";
}

def Cute_GetStrideOp : Cute_AccessorOp<"get_stride"> {
  let summary = "The stride of a layout";
  let description = [{
    ```mlir
    // Given %l: !cute.layout<"(?,8):(1,?)">
    %d = cute.get_stride(%l) : !cute.layout<"(?,8):(1,?)"> -> !cute.stride<"(1,?)">
    ```
  }];
  let arguments = (ins Cute_LayoutType:$input);
  let results = (outs Cute_StrideType:$result);
  let assemblyFormat = "`(` $input `)` attr-dict `:` type($input) `->` qualified(type($result))";
}

class Cute_ComposedPartOp<string mnemonic> : Cute_AccessorOp<mnemonic> {
  let arguments = (ins Cute_ComposedLayoutType:$input);
  let assemblyFormat = "`(` $input `)` attr-dict `:` type($input) `->` qualified(type($result))";
}

def Cute_ComposedGetInnerOp : Cute_ComposedPartOp<"composed_get_inner"> {
  let summary = "A of `A o offset o B`";
  let description = [{
    The swizzle or the layout that is applied last.

    ```mlir
    // Given %c: !cute.composed_layout<"S<3,5,4> o 0 o (8,4):(1,8)">
    %a = cute.composed_get_inner(%c) : !cute.composed_layout<"S<3,5,4> o 0 o (8,4):(1,8)"> -> !cute.swizzle<"S<3,5,4>">
    ```
  }];
  let results = (outs AnyTypeOf<[Cute_LayoutType, Cute_SwizzleType],
                        "!cute.layout or !cute.swizzle">:$result);
}

def Cute_ComposedGetOffsetOp : Cute_ComposedPartOp<"composed_get_offset"> {
  let summary = "The offset of `A o offset o B`";
  let description = [{
    ```mlir
    // Given %c: !cute.composed_layout<"S<3,5,4> o ? o (8,4):(1,8)">
    %o = cute.composed_get_offset(%c) : !cute.composed_layout<"S<3,5,4> o ? o (8,4):(1,8)"> -> !cute.int_tuple<"?">
    ```
  }];
  let results = (outs Cute_IntTupleType:$result);
}

def Cute_ComposedGetOuterOp : Cute_ComposedPartOp<"composed_get_outer"> {
  let summary = "B of `A o offset o B`";
  let description = [{
    The layout that a coordinate meets first.

    ```mlir
    // Given %c: !cute.composed_layout<"S<3,5,4> o 0 o (8,4):(1,8)">
    %b = cute.composed_get_outer(%c) : !cute.composed_layout<"S<3,5,4> o 0 o (8,4):(1,8)"> -> !cute.layout<"(8,4):(1,8)">
    ```
  }];
  let results = (outs Cute_LayoutType:$result);
  let assemblyFormat = "`(` $input `)` attr-dict `:` type($input) `->` type($result)";
}

def Cute_GetLeavesOp : Cute_AccessorOp<"get_leaves"> {
  let summary = "One value for each leaf, from the left to the right";
  let description = [{
    Each result has the input's kind; a layout in a tile is a `!cute.layout`, and `_`
    in a tile a `!cute.tile`.

    ```mlir
    // Given %s: !cute.shape<"(4,(?,8))">
    %a, %b, %c = cute.get_leaves(%s) : !cute.shape<"(4,(?,8))">
    ```
  }];
  let arguments = (ins Cute_TupleOrTileType:$input);
  let results = (outs Variadic<AnyTypeOf<[Cute_IntTupleType, Cute_ShapeType, Cute_StrideType,
    Cute_CoordType, Cute_LayoutType, Cute_TileType]>>:$results);
  let assemblyFormat = "`(` $input `)` attr-dict `:` type($input)";
}

def Cute_GetScalarsOp : Cute_AccessorOp<"get_scalars"> {
  let summary = "The integers of a value, from the left to the right";
  let description = [{
    An integer for each leaf, i32 or i64 as the leaf is wide; a static leaf is an i32
    where it fits. `_` gives none, a basis element its multiple and its path, the outermost
    mode first, a swizzle its three parameters. With `only_dynamic`, the dynamic leaves alone.

    ```mlir
    // Given %o: !cute.int_tuple<"?">, %l: !cute.layout<"(?,8):(1,?{i64})">
    %i = cute.get_scalars(%o) : !cute.int_tuple<"?">
    %m, %d = cute.get_scalars <{only_dynamic}>(%l) : !cute.layout<"(?,8):(1,?{i64})">
    ```
  }];
  let arguments = (ins Cute_AnyType:$cute_value, UnitAttr:$only_dynamic);
  let results = (outs Variadic<AnyIntOfWidths<[32, 64]>>:$scalars);
  let assemblyFormat = [{ (`<` `{` `only_dynamic` `}` `>` $only_dynamic^)? `(` $cute_value `)`
    attr-dict `:` qualified(type($cute_value)) }];
}

def Cute_GetOp : Cute_AccessorOp<"get"> {
  let summary = "The mode at a path";
  let description = [{
    `mode` is the path from the outermost mode inwards; without one, the value itself.

    Errors: an index that is no mode of what it is taken from; a path that goes on
    behind a leaf.

    ```mlir
    // Given %l: !cute.layout<"((2,?),8):((1,2),?)">
    %m = cute.get<[0, 1]>(%l) : !cute.layout<"((2,?),8):((1,2),?)"> -> !cute.layout<"?:2">
    ```
  }];
  let arguments = (ins Cute_AnyIndexableType:$input, OptionalAttr<DenseI32ArrayAttr>:$mode);
  let results = (outs Cute_AnyIndexableType:$result);
  let assemblyFormat = [{ (`<` $mode^ `>`)? `(` $input `)` attr-dict `:` type($input) `->`
    type($result) }];
}

def Cute_SelectOp : Cute_AccessorOp<"select"> {
  let summary = "Some of the modes at the top, in a given order";
  let description = [{
    `mode` lists them; one mode may be chosen more than once.

    Errors: an index that is no mode at the top.

    ```mlir
    // Given %l: !cute.layout<"(2,3,4):(1,2,6)">
    %s = cute.select<[2, 0]>(%l) : !cute.layout<"(2,3,4):(1,2,6)"> -> !cute.layout<"(4,2):(6,1)">
    ```
  }];
  let arguments = (ins Cute_IndexableOrTensorType:$input, DenseI32ArrayAttr:$mode);
  let results = (outs Cute_IndexableOrTensorType:$result);
  let assemblyFormat = "`<` $mode `>` `(` $input `)` attr-dict `:` type($input) `->` type($result)";
}

class Cute_CastOp<string mnemonic> : Cute_AccessorOp<mnemonic> {
  let arguments = (ins Cute_IntTupleType:$src);
  let assemblyFormat = [{ `(` $src `)` attr-dict `:` qualified(type($src)) `->`
    qualified(type($result)) }];
}

def Cute_ToIntTupleOp : Cute_CastOp<"to_int_tuple"> {
  let summary = "A shape, stride or coordinate as an integer tuple";
  let description = [{
    Errors: `_` and basis elements, which are no integers.

    ```mlir
    // Given %s: !cute.shape<"(?,8)">
    %t = cute.to_int_tuple(%s) : !cute.shape<"(?,8)"> -> !cute.int_tuple<"(?,8)">
    ```
  }];
  let arguments = (ins Cute_TupleType:$src);
  let results = (outs Cute_IntTupleType:$result);
}

def Cute_ToShapeOp : Cute_CastOp<"to_shape"> {
  let summary = "An integer tuple as a shape";
  let description = [{
    ```mlir
    // Given %t: !cute.int_tuple<"(?,8)">
    %s = cute.to_shape(%t) : !cute.int_tuple<"(?,8)"> -> !cute.shape<"(?,8)">
    ```
  }];
  let results = (outs Cute_ShapeType:$result);
}

def Cute_ToStrideOp : Cute_CastOp<"to_stride"> {
  let summary = "An integer tuple as a stride";
  let description = [{
    ```mlir
    // Given %t: !cute.int_tuple<"(1,?)">
    %s = cute.to_stride(%t) : !cute.int_tuple<"(1,?)"> -> !cute.stride<"(1,?)">
    ```
  }];
  let results = (outs Cute_StrideType:$result);
}

def Cute_ToCoordOp : Cute_CastOp<"to_coord"> {
  let summary = "An integer tuple as a coordinate";
  let description = [{
    ```mlir
    // Given %t: !cute.int_tuple<"(1,?)">
    %s = cute.to_coord(%t) : !cute.int_tuple<"(1,?)"> -> !cute.coord<"(1,?)">
    ```
  }];
  let results = (outs Cute_CoordType:$result);
}

def Cute_GetLayoutsFromTileOp : Cute_AccessorOp<"get_layouts_from_tile"> {
  let summary = "The layouts of a tile, from the left to the right";
  let description = [{
    Those of nested tiles too; `_` gives none.

    Errors: a tile without a layout.

    ```mlir
    // Given %t: !cute.tile<"[(?,3):(1,?);_;4:1]">
    %a, %b = cute.get_layouts_from_tile(%t) : !cute.tile<"[(?,3):(1,?);_;4:1]">
    ```
  }];
  let arguments = (ins Cute_TileType:$tile);
  let results = (outs Variadic<Cute_LayoutType>:$layouts);
  let assemblyFormat = "`(` $tile `)` attr-dict `:` type($tile)";
}

#endif
