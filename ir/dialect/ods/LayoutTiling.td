//===- LayoutTiling.td - products, divides, and tilings of layouts --------===//
//
// Part of cute-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CUTE_LAYOUT_TILING_TD
#define CUTE_LAYOUT_TILING_TD

include "CuteTypes.td"

def Cute_Tiling : Cute_Group<"Products and divides", [{
  A product repeats a layout, a divide takes one apart into tiles. They differ in
  where the modes of the tile and those of the rest go.
}]>;

class Cute_ProductOp<string mnemonic> : Cute_InferredOp<mnemonic, [Pure]> {
  let arguments = (ins Cute_AnyLayoutType:$lhs, Cute_LayoutType:$rhs);
  let results = (outs Cute_AnyLayoutType:$result);
  let assemblyFormat = "`(` operands `)` attr-dict `:` functional-type(operands, results)";
  let opDocGroup = Cute_Tiling;
}

def Cute_LogicalProductOp : Cute_ProductOp<"logical_product"> {
  let summary = "A layout, repeated as another one says";
  let description = [{
    The result has two modes: the layout itself, and where its copies lie, which is
    the right side composed with the layout's complement.

    Precondition: a static left side; integer strides on the right, and a static right
    side where the left has basis elements.

    ```mlir
    // Given %a: !cute.layout<"(2,2):(4,1)">, %b: !cute.layout<"6:1">
    %p = cute.logical_product(%a, %b) : (!cute.layout<"(2,2):(4,1)">, !cute.layout<"6:1">) -> !cute.layout<"((2,2),(2,3)):((4,1),(2,8))">
    ```
  }];
}

def Cute_ZippedProductOp : Cute_ProductOp<"zipped_product"> {
  let summary = "A product with the modes of the tile in one mode, those of the copies in the other";
  let description = [{
    Preconditions as of `cute.logical_product`.

    ```mlir
    // Given %a: !cute.layout<"(2,2):(4,1)">, %b: !cute.layout<"6:1">
    %p = cute.zipped_product(%a, %b) : (!cute.layout<"(2,2):(4,1)">, !cute.layout<"6:1">) -> !cute.layout<"((2,2),(2,3)):((4,1),(2,8))">
    ```
  }];
}

def Cute_TiledProductOp : Cute_ProductOp<"tiled_product"> {
  let summary = "A product with the modes of the copies behind the tile";
  let description = [{
    (tile, copies of mode 0, copies of mode 1, ...). Preconditions as of
    `cute.logical_product`.

    ```mlir
    // Given %a: !cute.layout<"(2,2):(4,1)">, %b: !cute.layout<"6:1">
    %p = cute.tiled_product(%a, %b) : (!cute.layout<"(2,2):(4,1)">, !cute.layout<"6:1">) -> !cute.layout<"((2,2),2,3):((4,1),2,8)">
    ```
  }];
}

def Cute_FlatProductOp : Cute_ProductOp<"flat_product"> {
  let summary = "A product with all modes side by side";
  let description = [{
    Preconditions as of `cute.logical_product`.

    ```mlir
    // Given %a: !cute.layout<"(2,2):(4,1)">, %b: !cute.layout<"6:1">
    %p = cute.flat_product(%a, %b) : (!cute.layout<"(2,2):(4,1)">, !cute.layout<"6:1">) -> !cute.layout<"(2,2,2,3):(4,1,2,8)">
    ```
  }];
}

def Cute_RakedProductOp : Cute_ProductOp<"raked_product"> {
  let summary = "A product mode by mode, copies interleaved";
  let description = [{
    Mode i is (copies of mode i, tile's mode i): neighbours belong to different copies.
    Preconditions as of `cute.logical_product`.

    ```mlir
    // Given %a: !cute.layout<"(3,4):(4,1)">, %b: !cute.layout<"(2,5):(1,2)">
    %p = cute.raked_product(%a, %b) : (!cute.layout<"(3,4):(4,1)">, !cute.layout<"(2,5):(1,2)">) -> !cute.layout<"((2,3),(5,4)):((12,4),(24,1))">
    ```
  }];
}

def Cute_BlockedProductOp : Cute_ProductOp<"blocked_product"> {
  let summary = "A product mode by mode, copies as blocks";
  let description = [{
    Mode i is (tile's mode i, copies of mode i): a copy is a block. Preconditions as of
    `cute.logical_product`.

    ```mlir
    // Given %a: !cute.layout<"(3,4):(4,1)">, %b: !cute.layout<"(2,5):(1,2)">
    %p = cute.blocked_product(%a, %b) : (!cute.layout<"(3,4):(4,1)">, !cute.layout<"(2,5):(1,2)">) -> !cute.layout<"((3,2),(4,5)):((4,12),(1,24))">
    ```
  }];
}

class Cute_DivideOp<string mnemonic> : Cute_InferredOp<mnemonic, [Pure]> {
  let arguments = (ins Cute_LayoutOrTensorType:$input, Cute_TilerType:$tiler);
  let results = (outs Cute_LayoutOrTensorType:$result);
  let assemblyFormat = "`(` operands `)` attr-dict `:` functional-type(operands, results)";
  let opDocGroup = Cute_Tiling;
}

def Cute_LogicalDivideOp : Cute_DivideOp<"logical_divide"> {
  let summary = "A layout as (tile, rest)";
  let description = [{
    By a layout, of the whole: the input composed with the tiler, and with the tiler's
    complement. By a shape or a tile, of each mode by itself; `_` and modes that
    the tiler does not name stay.

    Precondition: a shape or a tile has no more modes than the input; a tiler has
    static strides, unless it has but one mode, and within a tile integer ones.

    Where the tiler does not divide the input, the rest counts a last tile that
    reaches beyond it: such coordinates need a predicate.

    ```mlir
    // Given %l: !cute.layout<"(8,16):(16,1)">, %t: !cute.tile<"[4:1;8:1]">
    %d = cute.logical_divide(%l, %t) : (!cute.layout<"(8,16):(16,1)">, !cute.tile<"[4:1;8:1]">) -> !cute.layout<"((4,2),(8,2)):((16,64),(1,8))">
    ```
  }];
}

def Cute_ZippedDivideOp : Cute_DivideOp<"zipped_divide"> {
  let summary = "A layout as ((tile's modes), (modes of the rest))";
  let description = [{
    Preconditions as of `cute.logical_divide`.

    ```mlir
    // Given %l: !cute.layout<"(8,16):(16,1)">, %t: !cute.tile<"[4:1;8:1]">
    %d = cute.zipped_divide(%l, %t) : (!cute.layout<"(8,16):(16,1)">, !cute.tile<"[4:1;8:1]">) -> !cute.layout<"((4,8),(2,2)):((16,1),(64,8))">
    ```
  }];
}

def Cute_TiledDivideOp : Cute_DivideOp<"tiled_divide"> {
  let summary = "A layout as ((tile's modes), modes of the rest)";
  let description = [{
    Preconditions as of `cute.logical_divide`.

    ```mlir
    // Given %l: !cute.layout<"(8,16):(16,1)">, %t: !cute.tile<"[4:1;8:1]">
    %d = cute.tiled_divide(%l, %t) : (!cute.layout<"(8,16):(16,1)">, !cute.tile<"[4:1;8:1]">) -> !cute.layout<"((4,8),2,2):((16,1),64,8)">
    ```
  }];
}

def Cute_FlatDivideOp : Cute_DivideOp<"flat_divide"> {
  let summary = "A layout as (tile's modes, modes of the rest)";
  let description = [{
    Preconditions as of `cute.logical_divide`.

    ```mlir
    // Given %l: !cute.layout<"(8,16):(16,1)">, %t: !cute.tile<"[4:1;8:1]">
    %d = cute.flat_divide(%l, %t) : (!cute.layout<"(8,16):(16,1)">, !cute.tile<"[4:1;8:1]">) -> !cute.layout<"(4,8,2,2):(16,1,64,8)">
    ```
  }];
}

def Cute_TileToShapeOp : Cute_InferredOp<"tile_to_shape", [Pure]> {
  let summary = "A layout repeated until it has a given shape";
  let description = [{
    The copies follow one another by `order`, mode 0 first where there is none.

    Precondition: the layout has no more modes than the shape; `order` is static and
    names each mode of the shape once.

    Postcondition: mode i is as large as mode i of the shape, where the layout's
    mode i divides that.

    ```mlir
    // Given %l: !cute.layout<"(2,4):(4,1)">, %s: !cute.shape<"(4,8)">, %o: !cute.int_tuple<"(1,0)">
    %a = cute.tile_to_shape(%l, %s) : (!cute.layout<"(2,4):(4,1)">, !cute.shape<"(4,8)">) -> !cute.layout<"((2,2),(4,2)):((4,8),(1,16))">
    %b = cute.tile_to_shape(%l, %s, %o) : (!cute.layout<"(2,4):(4,1)">, !cute.shape<"(4,8)">, !cute.int_tuple<"(1,0)">) -> !cute.layout<"((2,2),(4,2)):((4,16),(1,8))">
    ```
  }];
  let arguments = (ins Cute_AnyLayoutType:$input, Cute_ShapeType:$shape,
                       Optional<Cute_IntTupleType>:$order);
  let results = (outs Cute_AnyLayoutType:$result);
  let assemblyFormat = [{ `(` $input `,` $shape (`,` $order^)? `)` attr-dict `:`
    functional-type(operands, results) }];
  let opDocGroup = Cute_Tiling;
}

#endif
