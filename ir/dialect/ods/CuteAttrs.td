//===- CuteAttrs.td - values of the layout algebra as attributes ----------===//
//
// Part of cute-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CUTE_ATTRS_TD
#define CUTE_ATTRS_TD

include "CuteBase.td"

/// The parameter is the canonical text, as in the type of the same name.
class Cute_TextAttr<string name, string mnem> : AttrDef<Cute_Dialect, name> {
  let mnemonic = mnem;
  let parameters = (ins StringRefParameter<"canonical text">:$text);
  let hasCustomAssemblyFormat = 1;
}

def Cute_IntTupleAttr : Cute_TextAttr<"IntTuple", "int_tuple"> {
  let summary = "The value of an `!cute.int_tuple`";
  let description = [{
    What `cute.static` of that type folds to.

    ```mlir
    #cute.int_tuple<"(1,(2,?))">
    ```
  }];
}
def Cute_ShapeAttr : Cute_TextAttr<"Shape", "shape"> {
  let summary = "The value of a `!cute.shape`";
  let description = [{
    What `cute.static` of that type folds to.

    ```mlir
    #cute.shape<"(4,(2,8))">
    ```
  }];
}
def Cute_StrideAttr : Cute_TextAttr<"Stride", "stride"> {
  let summary = "The value of a `!cute.stride`";
  let description = [{
    What `cute.static` of that type folds to.

    ```mlir
    #cute.stride<"(1@0,1@1)">
    ```
  }];
}
def Cute_CoordAttr : Cute_TextAttr<"Coord", "coord"> {
  let summary = "The value of a `!cute.coord`";
  let description = [{
    What `cute.static` of that type folds to.

    ```mlir
    #cute.coord<"(_,1)">
    ```
  }];
}
def Cute_LayoutAttr : Cute_TextAttr<"Layout", "layout"> {
  let summary = "The value of a `!cute.layout`";
  let description = [{
    What `cute.static` of that type folds to.

    ```mlir
    #cute.layout<"(4,8):(1,4)">
    ```
  }];
}
def Cute_TileAttr : Cute_TextAttr<"Tile", "tile"> {
  let summary = "The value of a `!cute.tile`";
  let description = [{
    What `cute.static` of that type folds to.

    ```mlir
    #cute.tile<"[128:1;_]">
    ```
  }];
}
def Cute_SwizzleAttr : Cute_TextAttr<"Swizzle", "swizzle"> {
  let summary = "The value of a `!cute.swizzle`";
  let description = [{
    What `cute.static` of that type folds to.

    ```mlir
    #cute.swizzle<"S<3,4,3>">
    ```
  }];
}
def Cute_ComposedLayoutAttr : Cute_TextAttr<"ComposedLayout", "composed_layout"> {
  let summary = "The value of a `!cute.composed_layout`";
  let description = [{
    What `cute.static` of that type folds to.

    ```mlir
    #cute.composed_layout<"S<3,5,4> o 0 o (8,4):(1,8)">
    ```
  }];
}

#endif
