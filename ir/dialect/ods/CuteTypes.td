//===- CuteTypes.td - the types of the cute dialect -----------------------===//
//
// Part of cute-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CUTE_TYPES_TD
#define CUTE_TYPES_TD

include "CuteAttrs.td"
include "CuteBase.td"
include "mlir/IR/BuiltinTypeInterfaces.td"

class Cute_Type<string name, string mnem> : TypeDef<Cute_Dialect, name> {
  let mnemonic = mnem;
}

//===----------------------------------------------------------------------===//
// Values of the layout algebra. The parameter is the canonical text: parsing
// rewrites what was written into it, so equal values are the same type.
//===----------------------------------------------------------------------===//

class Cute_TextType<string name, string mnem> : Cute_Type<name, mnem> {
  let parameters = (ins StringRefParameter<"canonical text">:$text);
  let hasCustomAssemblyFormat = 1;
}

def Cute_IntTupleType : Cute_TextType<"IntTuple", "int_tuple"> {
  let summary = "An integer or a nested tuple of integers";
  let description = [{
    Leaves are static (`4`), or dynamic: `?` (32 bits), `?{i64}`, and with a
    known divisor `?{div=8}`, `?{i64 div=16}`.

    ```mlir
    !cute.int_tuple<"(1,(2,?))">
    !cute.int_tuple<"?{i64 div=16}">
    ```
  }];
}
def Cute_ShapeType : Cute_TextType<"Shape", "shape"> {
  let summary = "The extents of a layout";
  let description = [{
    Leaves as in `!cute.int_tuple`. An extent of a layout is positive; a shape
    by itself may also hold 0.

    ```mlir
    !cute.shape<"(4,(2,?))">
    ```
  }];
}
def Cute_StrideType : Cute_TextType<"Stride", "stride"> {
  let summary = "The strides of a layout";
  let description = [{
    Leaves as in `!cute.int_tuple`, or scaled basis elements: `4@0`, `1@1@0`, the
    outermost mode last. A stride holds integers or basis elements, not both (0
    goes with either), and no basis path ends within another one.

    ```mlir
    !cute.stride<"(1,(4,?))">
    !cute.stride<"(1@0,?@1)">
    ```
  }];
}
def Cute_CoordType : Cute_TextType<"Coord", "coord"> {
  let summary = "A coordinate, `_` where a mode is kept";
  let description = [{
    Leaves as in `!cute.int_tuple`, or `_`. A `_` is known at compile time, so
    `(_,1)` is static.

    ```mlir
    !cute.coord<"(_,_,?)">
    ```
  }];
}
def Cute_LayoutType : Cute_TextType<"Layout", "layout"> {
  let summary = "A shape and a congruent stride: a function from coordinates to offsets";
  let description = [{
    A shape written alone is column-major.

    ```mlir
    !cute.layout<"((2,2),8):((1,4),8)">
    !cute.layout<"(?,8):(1@0,1@1)">
    ```
  }];
}
def Cute_TileType : Cute_TextType<"Tile", "tile"> {
  let summary = "A by-mode tiler: a list of layouts, nested tiles and `_`";
  let description = [{
    `_` leaves a mode as it is.

    ```mlir
    !cute.tile<"[128:1;(2,4):(1,8);_]">
    !cute.tile<"[?:1;[4:1;_]]">
    ```
  }];
}
def Cute_SwizzleType : Cute_TextType<"Swizzle", "swizzle"> {
  let summary = "S<B,M,S>: bits [M+S, M+S+B) are xored into bits [M, M+B)";
  let description = [{
    |S| is at least B, and B + M + |S| at most 32.

    ```mlir
    !cute.swizzle<"S<3,4,3>">
    ```
  }];
}
def Cute_ComposedLayoutType : Cute_TextType<"ComposedLayout", "composed_layout"> {
  let summary = "A swizzle or a layout, after an offset, after a layout";
  let description = [{
    `A o offset o B` maps a coordinate `c` to `A(offset + B(c))`. The sum is an
    integer, or, where A is a layout, a coordinate of A. A swizzle without bits
    at offset 0 does nothing: that is written as the layout B.

    ```mlir
    !cute.composed_layout<"S<3,5,4> o 0 o (8,4):(1,8)">
    !cute.composed_layout<"(4,5):(1,4) o (0,0) o (2,3):(1@0,1@1)">
    ```
  }];
}

class Cute_DivisibleType<string name, string mnem> : Cute_Type<name, mnem> {
  let parameters = (ins "int64_t":$divisor);
  let assemblyFormat = "`<` `divby` $divisor `>`";
  let genVerifyDecl = 1;
}

def Cute_DivisibleI32Type : Cute_DivisibleType<"DivisibleI32", "i32"> {
  let summary = "An i32 that a number is known to divide";
  let description = [{
    ```mlir
    !cute.i32<divby 8>
    ```
  }];
}
def Cute_DivisibleI64Type : Cute_DivisibleType<"DivisibleI64", "i64"> {
  let summary = "An i64 that a number is known to divide";
  let description = [{
    ```mlir
    !cute.i64<divby 16>
    ```
  }];
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

def Cute_PtrType : Cute_Type<"Ptr", "ptr"> {
  let summary = "A typed pointer into a memory space";
  let description = [{
    `align<N>` is in bytes, the element's own size where it is not written. A
    swizzle acts on the byte address.

    ```mlir
    !cute.ptr<f16, smem, align<1024>, S<3,4,3>>
    ```
  }];
  let parameters = (ins
    "::mlir::Type":$elementType, StringRefParameter<"gmem, smem, dsmem, rmem, generic or tmem">:$space,
    "int64_t":$align, StringRefParameter<"swizzle or empty">:$swizzle);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Cute_MemRefType : Cute_Type<"MemRef", "memref"> {
  let summary = "A tensor: a pointer and a layout in elements";
  let description = [{
    The element at coordinate `c` lies at `swizzle(pointer + layout(c) * size)`. In the layout's
    place may stand `S<B,M,S> o offset o layout`, where the swizzle acts on the offset in elements.
    In `rmem` a tensor lives in registers: of one thread after partitioning;
    before it, of the block's threads together.
    `dsmem` is shared memory of a block of the cluster, as `cute_nvgpu.arch.map_dsmem` gives it.

    ```mlir
    !cute.memref<f16, smem, align<512>, S<2,4,3>, "(128,32,3):(32,1,4096)">
    ```
  }];
  let parameters = (ins
    "::mlir::Type":$elementType, StringRefParameter<"gmem, smem, dsmem, rmem, generic or tmem">:$space,
    "int64_t":$align, StringRefParameter<"swizzle or empty">:$swizzle,
    StringRefParameter<"layout">:$layout);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Cute_CoordTensorType : Cute_Type<"CoordTensor", "coord_tensor"> {
  let summary = "A tensor whose elements are coordinates, computed and not stored";
  let description = [{
    The element at `c` is `start + layout(c)`: the strides are basis elements. Partitioned
    alongside data, it says which element of the whole each thread has.

    ```mlir
    !cute.coord_tensor<"(0,0)", "(?,?):(1@0,1@1)">
    ```
  }];
  let parameters = (ins StringRefParameter<"coordinate">:$start, StringRefParameter<"layout">:$layout);
  let assemblyFormat = "`<` custom<IntTupleText>($start) `,` custom<LayoutText>($layout) `>`";
  let genVerifyDecl = 1;
}

def Cute_ArithTupleIterType : Cute_TextType<"ArithTupleIter", "arith_tuple_iter"> {
  let summary = "Where a coordinate tensor starts";
  let description = [{
    For a `!cute.coord_tensor` what a pointer is for a `!cute.memref`.

    ```mlir
    !cute.arith_tuple_iter<"(0,?)">
    ```
  }];
}

//===----------------------------------------------------------------------===//
// Tiled operations
//===----------------------------------------------------------------------===//

def Cute_TiledCopyType : Cute_Type<"TiledCopy", "tiled_copy"> {
  let summary = "A copy atom repeated over threads and values";
  let description = [{
    `layout_copy_tv` maps (thread, value) to the tile `tiler_mn`,
    colexicographically.

    ```mlir
    !cute.tiled_copy<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>,
      layout_copy_tv = <"((4,32),8):((256,1),32)">, tiler_mn = <"[32:1;32:1]">>
    ```
  }];
  let parameters = (ins "::mlir::Type":$atom,
    StringRefParameter<"(thread, value) layout">:$layoutTv,
    StringRefParameter<"tile">:$tilerMn);
  let assemblyFormat = [{
    `<` $atom `,` `layout_copy_tv` `=` `<` custom<LayoutText>($layoutTv) `>` `,`
        `tiler_mn` `=` `<` custom<TileText>($tilerMn) `>` `>` }];
  let genVerifyDecl = 1;
}

def Cute_TiledMmaType : Cute_Type<"TiledMma", "tiled_mma"> {
  let summary = "An MMA atom repeated over warps and values";
  let description = [{
    `atom_layout_MNK` places atoms over M, N and K; `permutation_MNK` is the
    tile that they cover, by mode. Where it is not written, and where a mode is `_`,
    that is what the atoms cover once.

    ```mlir
    !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >,
      atom_layout_MNK = <"(2,2,1):(1,2,0)">, permutation_MNK = <"[32:1;32:1;16:1]">>
    ```
  }];
  let parameters = (ins "::mlir::Type":$atom,
    StringRefParameter<"atoms over (M,N,K)">:$atomLayout,
    StringRefParameter<"tile">:$permutation);
  let assemblyFormat = [{
    `<` $atom `,` `atom_layout_MNK` `=` `<` custom<LayoutText>($atomLayout) `>` ``
        custom<Permutation>($permutation) `>` }];
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Pipelines
//===----------------------------------------------------------------------===//

def Cute_PipelineType : Cute_Type<"Pipeline", "pipeline"> {
  let summary = "A ring of buffers between those who fill them and those who read them";
  let description = [{
    The parameters are the number of buffers, at least 1, and how a thread knows that it has filled one: by groups of
    asynchronous copies where nothing is written, `immediate` where stores fill it, or `mbarrier` where those who fill it are other warps, which
    `cute_nvgpu.pipeline.create` makes.

    ```mlir
    !cute.pipeline<3>
    !cute.pipeline<2, immediate>
    !cute.pipeline<4, mbarrier>
    ```
  }];
  let parameters = (ins "int64_t":$stages, StringRefParameter<"immediate, mbarrier, or nothing">:$completion);
  let assemblyFormat = "`<` $stages `` custom<OptionalKeyword>($completion) `>`";
  let genVerifyDecl = 1;
}

def Cute_OpenType : Cute_Type<"Any", "any"> {
  let summary = "A type that each call of a function gives";
  let description = [{
    Stands for the type of a function's argument or result, and for those of all values that depend on it, until `cute-inline` puts the
    function in place of a call. An op on such values is verified there, with the types of that call.

    ```mlir
    !cute.any
    ```
  }];
}

def Cute_ParamType : TypeDef<Cute_Dialect, "Param", [VectorElementTypeInterface]> {
  let mnemonic = "param";
  let summary = "The type that a parameter stands for";
  let description = [{
    Stands for the type that a parameter of a module or function is given, an element type or an atom, wherever a type may stand: in
    tensors, atoms, vectors and tiled operations. `cute-instantiate` and `cute-inline` put that type in its place. Integers, layouts and tiles that
    are parameters stand in texts, as in `"($M,64):(64,1)"`.

    ```mlir
    !cute.param<"T">
    !cute.memref<!cute.param<"T">, gmem, align<16>, "(?,$D):($D,1)">
    !cute.tiled_copy<!cute.param<"A">, layout_copy_tv = <"($N,$V):($V,1)">, tiler_mn = <"[$(N*V):1]">>
    ```
  }];
  let parameters = (ins StringRefParameter<"name">:$text);
  let hasCustomAssemblyFormat = 1;
}

def Cute_CountedType : Cute_Type<"Counted", "vector"> {
  let summary = "A vector of as many elements as parameters say";
  let description = [{
    Stands for the `vector` of one mode that it is when parameters are known: the number of its elements is arithmetic on integer parameters, as
    in `#cute.param`.

    ```mlir
    !cute.vector<"D/256", f32>
    !cute.vector<"V", !cute.param<"T">>
    ```
  }];
  let parameters = (ins StringRefParameter<"number of elements">:$length, "::mlir::Type":$elementType);
  let assemblyFormat = "`<` custom<ExpressionText>($length) `,` $elementType `>`";
}

def Cute_TokenType : Cute_Type<"Token", "token"> {
  let summary = "Evidence that a buffer of a pipeline was filled or freed";
  let description = [{
    A producer's commit gives the token that a consumer's wait takes; a
    consumer's release gives the one that a producer's acquire takes.

    ```mlir
    !cute.token
    ```
  }];
}

//===----------------------------------------------------------------------===//
// What ops on the layout algebra take and give
//===----------------------------------------------------------------------===//

/// An integer that fills a dynamic leaf. That the tuple is a single leaf is verified in Rust.
def Cute_IntegerType : AnyTypeOf<[I32, I64, Cute_DivisibleI32Type, Cute_DivisibleI64Type,
    Cute_IntTupleType], "i32, i64, or !cute.int_tuple of one leaf">;

/// An integer, with what is known of it.
def Cute_ScalarType : AnyTypeOf<[I32, I64, Cute_DivisibleI32Type, Cute_DivisibleI64Type],
    "i32, i64, !cute.i32 or !cute.i64">;

/// A type of another dialect, by its name.
class Cute_Named<string name> : Type<CPred<"$_self.getAbstractType().getName() == \"" # name # "\"">, "!" # name>;

/// A descriptor of an operand of `wgmma`, and a view of several.
def Cute_SmemDescType : Cute_Named<"cute_nvgpu.smem_desc">;
def Cute_SmemDescViewType : Cute_Named<"cute_nvgpu.smem_desc_view">;
/// A pointer of LLVM's.
def Cute_LlvmPtrType : Cute_Named<"llvm.ptr">;

/// What has a start and a layout.
def Cute_TensorType : AnyTypeOf<[Cute_MemRefType, Cute_CoordTensorType],
    "!cute.memref or !cute.coord_tensor">;
def Cute_TensorOrDescriptorsType : AnyTypeOf<[Cute_MemRefType, Cute_CoordTensorType, Cute_SmemDescViewType],
    "!cute.memref, !cute.coord_tensor or !cute_nvgpu.smem_desc_view">;

/// Where a tensor starts.
def Cute_IterType : AnyTypeOf<[Cute_PtrType, Cute_ArithTupleIterType, Cute_SmemDescType],
    "!cute.ptr, !cute.arith_tuple_iter or !cute_nvgpu.smem_desc">;

/// Any value of the layout algebra.
def Cute_AnyType : AnyTypeOf<[Cute_IntTupleType, Cute_ShapeType, Cute_StrideType, Cute_CoordType,
    Cute_LayoutType, Cute_TileType, Cute_SwizzleType, Cute_ComposedLayoutType],
    "a value of the layout algebra">;

/// What may be seen through another layout: a layout, or a tensor.
def Cute_LayoutOrTensorType : AnyTypeOf<[Cute_LayoutType, Cute_ComposedLayoutType, Cute_MemRefType,
    Cute_CoordTensorType], "!cute.layout, !cute.composed_layout, !cute.memref or !cute.coord_tensor">;

def Cute_AnyLayoutType : AnyTypeOf<[Cute_LayoutType, Cute_ComposedLayoutType],
    "!cute.layout or !cute.composed_layout">;

/// What has modes.
def Cute_AnyIndexableType : AnyTypeOf<[Cute_IntTupleType, Cute_ShapeType, Cute_StrideType,
    Cute_CoordType, Cute_LayoutType, Cute_TileType, Cute_ComposedLayoutType],
    "!cute.int_tuple, !cute.shape, !cute.stride, !cute.coord, !cute.layout, !cute.tile or "
    "!cute.composed_layout">;

def Cute_IndexableOrTensorType : AnyTypeOf<[Cute_IntTupleType, Cute_ShapeType, Cute_StrideType,
    Cute_CoordType, Cute_LayoutType, Cute_TileType, Cute_ComposedLayoutType, Cute_MemRefType,
    Cute_CoordTensorType],
    "!cute.int_tuple, !cute.shape, !cute.stride, !cute.coord, !cute.layout, !cute.tile, "
    "!cute.composed_layout, !cute.memref or !cute.coord_tensor">;

def Cute_TupleType : AnyTypeOf<[Cute_IntTupleType, Cute_ShapeType, Cute_StrideType,
    Cute_CoordType], "!cute.int_tuple, !cute.shape, !cute.stride or !cute.coord">;

def Cute_TupleOrTileType : AnyTypeOf<[Cute_IntTupleType, Cute_ShapeType, Cute_StrideType,
    Cute_CoordType, Cute_TileType],
    "!cute.int_tuple, !cute.shape, !cute.stride, !cute.coord or !cute.tile">;

def Cute_TupleOrLayoutType : AnyTypeOf<[Cute_IntTupleType, Cute_ShapeType, Cute_StrideType,
    Cute_CoordType, Cute_LayoutType, Cute_ComposedLayoutType],
    "!cute.int_tuple, !cute.shape, !cute.stride, !cute.coord, !cute.layout or "
    "!cute.composed_layout">;

/// What `cute.slice` takes beside tuples and layouts: a tensor, of which it gives a part.
def Cute_SliceableType : AnyTypeOf<[Cute_IntTupleType, Cute_ShapeType, Cute_StrideType,
    Cute_CoordType, Cute_LayoutType, Cute_ComposedLayoutType, Cute_MemRefType,
    Cute_CoordTensorType, Cute_SmemDescViewType],
    "!cute.int_tuple, !cute.shape, !cute.stride, !cute.coord, !cute.layout, "
    "!cute.composed_layout, !cute.memref, !cute.coord_tensor or !cute_nvgpu.smem_desc_view">;

/// What element-wise arithmetic takes.
def Cute_ArithTupleType : AnyTypeOf<[Cute_IntTupleType, Cute_ShapeType],
    "!cute.int_tuple or !cute.shape">;

def Cute_ShapeOrLayoutType : AnyTypeOf<[Cute_ShapeType, Cute_LayoutType],
    "!cute.shape or !cute.layout">;

/// The right side of a composition, and what divides a layout.
def Cute_TilerType : AnyTypeOf<[Cute_LayoutType, Cute_ShapeType, Cute_TileType],
    "!cute.layout, !cute.shape or !cute.tile">;

#endif
