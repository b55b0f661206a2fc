//===- ViewOps.td - tensors of pointers and of other tensors --------------===//
//
// Part of cute-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CUTE_VIEW_OPS_TD
#define CUTE_VIEW_OPS_TD

include "CuteTypes.td"

def Cute_Views : Cute_Group<"Views", [{
  A tensor is where it starts and a layout. Views of it are pure: they move no data. The ops of
  the layout algebra `group_modes`, `flatten`, `coalesce`, `select`, `composition`, `slice` and the
  divides take a tensor in place of a layout, and give one.
}]>;

class Cute_ViewOp<string mnemonic> : Cute_InferredOp<mnemonic, [Pure]> {
  let opDocGroup = Cute_Views;
}

def Cute_GetIterOp : Cute_ViewOp<"get_iter"> {
  let summary = "Where a tensor starts";
  let description = [{
    ```mlir
    // Given %A: !cute.memref<f16, gmem, align<16>, "(256,64):(64,1)">
    %p = cute.get_iter(%A) : !cute.memref<f16, gmem, align<16>, "(256,64):(64,1)">
    ```
  }];
  let arguments = (ins Cute_TensorOrDescriptorsType:$tensor);
  let results = (outs Cute_IterType:$result);
  let assemblyFormat = "`(` $tensor `)` attr-dict `:` type($tensor)";
}

def Cute_GetLayoutOp : Cute_ViewOp<"get_layout"> {
  let summary = "The layout of a tensor";
  let description = [{
    ```mlir
    // Given %A: !cute.memref<f16, gmem, "(?,64):(64,1)">
    %l = cute.get_layout(%A) : !cute.memref<f16, gmem, "(?,64):(64,1)">
    ```
  }];
  let arguments = (ins Cute_TensorOrDescriptorsType:$tensor);
  let results = (outs Cute_AnyLayoutType:$result);
  let assemblyFormat = "`(` $tensor `)` attr-dict `:` type($tensor)";
}

def Cute_MakeViewOp : Cute_Op<"make_view", [Pure]> {
  let summary = "The tensor of a start and a layout";
  let description = [{
    A static layout may be left out: the type says it.

    ```mlir
    // Given %p: !cute.ptr<f16, gmem, align<16>>, %l: !cute.layout<"(?,64):(64,1)">
    %A = cute.make_view(%p, %l) : !cute.memref<f16, gmem, align<16>, "(?,64):(64,1)">
    ```
  }];
  let arguments = (ins Cute_IterType:$iter, Optional<Cute_AnyLayoutType>:$layout);
  let results = (outs Cute_TensorOrDescriptorsType:$result);
  // The operands' types are those that the result's says.
  let assemblyFormat = [{ `(` $iter (`,` $layout^)? `)` attr-dict `:` type($result)
    custom<FromResult>(type($iter), type($layout)) }];
  let opDocGroup = Cute_Views;
}

def Cute_AddOffsetOp : Cute_ViewOp<"add_offset"> {
  let summary = "A pointer some elements on, or a coordinate further on";
  let description = [{
    What is known of the offset says what is left of the alignment.

    ```mlir
    // Given %p: !cute.ptr<f16, gmem, align<16>>, %o: !cute.int_tuple<"?{div=4}">
    %q = cute.add_offset(%p, %o) : (!cute.ptr<f16, gmem, align<16>>, !cute.int_tuple<"?{div=4}">) -> !cute.ptr<f16, gmem, align<8>>
    ```
  }];
  let arguments = (ins Cute_IterType:$iter, Cute_IntTupleType:$offset);
  let results = (outs Cute_IterType:$result);
  let assemblyFormat = "`(` operands `)` attr-dict `:` functional-type(operands, $result)";
}

def Cute_RecastIterOp : Cute_Op<"recast_iter", [Pure]> {
  let summary = "The same address as a pointer to other elements";
  let description = [{
    Also with a smaller alignment, or, in shared memory, another swizzle. A larger alignment is a
    promise; where the address is computed, it is not checked.

    ```mlir
    // Given %p: !cute.ptr<i8, smem, align<128>>
    %q = cute.recast_iter(%p) : !cute.ptr<i8, smem, align<128>> to !cute.ptr<f16, smem, align<128>>
    ```
  }];
  let arguments = (ins Cute_PtrType:$iter);
  let results = (outs Cute_PtrType:$result);
  let assemblyFormat = "`(` $iter `)` attr-dict `:` qualified(type($iter)) `to` qualified(type($result))";
  let opDocGroup = Cute_Views;
}

def Cute_RecastOp : Cute_Op<"recast", [Pure]> {
  let summary = "A tensor's bits as elements of another type";
  let description = [{
    The layout is that of `cute.recast_layout`: the contiguous mode of narrower elements is longer,
    of wider ones shorter. The type of elements may stand behind `to`, by which the result's type follows.

    Errors: elements that are not side by side where wider ones are made of them; a width that
    neither divides the other nor is a multiple of it.

    ```mlir
    // Given %f: !cute.memref<f16, rmem, align<4>, "(2,4):(1,2)">
    %w = cute.recast(%f) : !cute.memref<f16, rmem, align<4>, "(2,4):(1,2)"> -> !cute.memref<i32, rmem, "(1,4):(1,1)">
    %v = cute.recast(%f) to i32 : !cute.memref<f16, rmem, align<4>, "(2,4):(1,2)"> -> !cute.memref<i32, rmem, "(1,4):(1,1)">
    ```
  }];
  let arguments = (ins Cute_MemRefType:$tensor, OptionalAttr<TypeAttr>:$element);
  let results = (outs Cute_MemRefType:$result);
  let assemblyFormat = "`(` $tensor `)` (`to` $element^)? attr-dict `:` qualified(type($tensor)) `->` qualified(type($result))";
  let opDocGroup = Cute_Views;
}

def Cute_MakeArithTupleIterOp : Cute_ViewOp<"make_arith_tuple_iter"> {
  let summary = "The start of a coordinate tensor";
  let description = [{
    ```mlir
    // Given %o: !cute.int_tuple<"(0,?)">
    %i = cute.make_arith_tuple_iter(%o) : (!cute.int_tuple<"(0,?)">) -> !cute.arith_tuple_iter<"(0,?)">
    ```
  }];
  let arguments = (ins Cute_IntTupleType:$coord);
  let results = (outs Cute_ArithTupleIterType:$result);
  let assemblyFormat = "`(` $coord `)` attr-dict `:` functional-type($coord, $result)";
}

def Cute_DerefArithTupleIterOp : Cute_ViewOp<"deref_arith_tuple_iter"> {
  let summary = "The coordinate at which a coordinate tensor starts";
  let description = [{
    ```mlir
    // Given %i: !cute.arith_tuple_iter<"(0,?)">
    %o = cute.deref_arith_tuple_iter(%i) : !cute.arith_tuple_iter<"(0,?)">
    ```
  }];
  let arguments = (ins Cute_ArithTupleIterType:$iter);
  let results = (outs Cute_IntTupleType:$result);
  let assemblyFormat = "`(` $iter `)` attr-dict `:` qualified(type($iter))";
}

def Cute_MakeIdentityTensorOp : Cute_Op<"make_identity_tensor", [Pure]> {
  let summary = "The tensor of a shape whose elements are their own coordinates";
  let description = [{
    ```mlir
    // Given %s: !cute.shape<"(?,64)">
    %c = cute.make_identity_tensor(%s : !cute.shape<"(?,64)">) : !cute.coord_tensor<"(0,0)", "(?,64):(1@0,1@1)">
    ```
  }];
  let arguments = (ins Cute_ShapeType:$shape);
  let results = (outs Cute_CoordTensorType:$result);
  let assemblyFormat = "`(` $shape `:` qualified(type($shape)) `)` attr-dict `:` qualified(type($result))";
  let opDocGroup = Cute_Views;
}

class Cute_TilePartitionOp<string mnemonic> : Cute_ViewOp<mnemonic> {
  let arguments = (ins Cute_TensorType:$tensor, Cute_TileType:$tile, Cute_CoordType:$coord,
                       OptionalAttr<Cute_CoordAttr>:$proj);
  let results = (outs Cute_TensorType:$result);
  let assemblyFormat = "`(` $tensor `,` $tile `,` $coord `)` attr-dict `:` functional-type(operands, $result)";
}

def Cute_LocalTileOp : Cute_TilePartitionOp<"local_tile"> {
  let summary = "The tile of a tensor at a coordinate";
  let description = [{
    `zipped_divide` by the tile, then a slice of the rest: modes at `_` stay, behind the tile's
    own; a coordinate with fewer modes is filled up with `_`. `proj` keeps the modes of tile and
    coordinate at which it is not `_`, as `Step<_1, X, _1>` does in CuTe. A tile that does not divide
    the tensor reaches over its end in the last place: what lies there is the reader's to leave out.

    ```mlir
    // Given %A: !cute.memref<f16, gmem, align<16>, "(256,64):(64,1)">, %t: !cute.tile<"[128:1;32:1]">, %c: !cute.coord<"(?,_)">
    %g = cute.local_tile(%A, %t, %c) : (!cute.memref<f16, gmem, align<16>, "(256,64):(64,1)">,
      !cute.tile<"[128:1;32:1]">, !cute.coord<"(?,_)">) -> !cute.memref<f16, gmem, align<16>, "(128,32,2):(64,1,32)">
    ```
  }];
}

def Cute_InnerPartitionOp : Cute_TilePartitionOp<"inner_partition"> {
  let summary = "The tile of a tensor at a coordinate";
  let description = [{
    Another name of `cute.local_tile`, as in CuTe.

    ```mlir
    // Given %A: !cute.memref<f16, gmem, align<16>, "(256,64):(64,1)">, %t: !cute.tile<"[128:1;32:1]">, %c: !cute.coord<"(?,1)">
    %g = cute.inner_partition(%A, %t, %c) : (!cute.memref<f16, gmem, align<16>, "(256,64):(64,1)">,
      !cute.tile<"[128:1;32:1]">, !cute.coord<"(?,1)">) -> !cute.memref<f16, gmem, align<16>, "(128,32):(64,1)">
    ```
  }];
}

def Cute_OuterPartitionOp : Cute_ViewOp<"outer_partition"> {
  let summary = "The elements at one coordinate of every tile of a tensor";
  let description = [{
    `zipped_divide` by the tile, then a slice of the tile: the rest's modes stay.

    ```mlir
    // Given %A: !cute.memref<f16, gmem, align<16>, "(256,64):(64,1)">, %t: !cute.tile<"[128:1;32:1]">, %c: !cute.coord<"(?,?)">
    %g = cute.outer_partition(%A, %t, %c) : (!cute.memref<f16, gmem, align<16>, "(256,64):(64,1)">,
      !cute.tile<"[128:1;32:1]">, !cute.coord<"(?,?)">) -> !cute.memref<f16, gmem, "(2,2):(8192,32)">
    ```
  }];
  let arguments = (ins Cute_TensorType:$tensor, Cute_TileType:$tile, Cute_CoordType:$coord);
  let results = (outs Cute_TensorType:$result);
  let assemblyFormat = "`(` $tensor `,` $tile `,` $coord `)` attr-dict `:` functional-type(operands, $result)";
}

def Cute_LocalPartitionOp : Cute_ViewOp<"local_partition"> {
  let summary = "What one of a layout of threads holds of a tensor";
  let description = [{
    The tensor is divided by the shape of `threads`; of each tile the thread holds the element at its
    own coordinate, which is its index taken apart by the layout. `proj` as of `cute.local_tile`.

    ```mlir
    // Given %A: !cute.memref<f32, smem, "(128,8):(1,128)">, %t: !cute.layout<"(32,8):(1,32)">, %i: !cute.coord<"?">
    %g = cute.local_partition(%A, %t, %i) : (!cute.memref<f32, smem, "(128,8):(1,128)">,
      !cute.layout<"(32,8):(1,32)">, !cute.coord<"?">) -> !cute.memref<f32, smem, "(4,1):(32,0)">
    ```
  }];
  let arguments = (ins Cute_TensorType:$tensor, Cute_LayoutType:$threads, Cute_CoordType:$index,
                       OptionalAttr<Cute_CoordAttr>:$proj);
  let results = (outs Cute_TensorType:$result);
  let assemblyFormat = "`(` $tensor `,` $threads `,` $index `)` attr-dict `:` functional-type(operands, $result)";
}

def Cute_DomainOffsetOp : Cute_ViewOp<"domain_offset"> {
  let summary = "A tensor from a coordinate on";
  let description = [{
    The same layout, starting at the coordinate, which may be outside of the tensor: `(-1,-1)` is where the halo of one
    element starts that a stencil or padding needs. Elements that are outside are only there to be predicated away: an
    identity tensor with the same offset has their coordinates.

    ```mlir
    // Given %A: !cute.memref<f32, gmem, "(128,8):(1,128)">, %c: !cute.coord<"(?,0)">
    %g = cute.domain_offset(%c, %A) : (!cute.coord<"(?,0)">, !cute.memref<f32, gmem, "(128,8):(1,128)">)
      -> !cute.memref<f32, gmem, "(128,8):(1,128)">
    ```
  }];
  let arguments = (ins Cute_CoordType:$coord, Cute_TensorType:$tensor);
  let results = (outs Cute_TensorType:$result);
  let assemblyFormat = "`(` operands `)` attr-dict `:` functional-type(operands, $result)";
}

def Cute_Elements : Cute_Group<"Elements", [{
  Single elements of tensors, and all of a register tensor's as one vector.
}]>;

def Cute_LoadOp : Cute_Op<"memref.load"> {
  let summary = "One element of a tensor";
  let description = [{
    Of a coordinate tensor the element is a coordinate, which `cute.get_scalars` takes apart.

    ```mlir
    // Given %A: !cute.memref<f32, gmem, "(128,8):(1,128)">, %c: !cute.coord<"(?,?)">
    %v = cute.memref.load(%A, %c) : (!cute.memref<f32, gmem, "(128,8):(1,128)">, !cute.coord<"(?,?)">) -> f32
    ```
  }];
  let arguments = (ins Arg<Cute_TensorType, "", [MemRead]>:$tensor, Cute_CoordType:$coord);
  let results = (outs AnyType:$value);
  let assemblyFormat = "`(` operands `)` attr-dict `:` functional-type(operands, $value)";
  let opDocGroup = Cute_Elements;
}

def Cute_StoreOp : Cute_Op<"memref.store"> {
  let summary = "Sets one element of a tensor";
  let description = [{
    ```mlir
    // Given %A: !cute.memref<f32, gmem, "(128,8):(1,128)">, %c: !cute.coord<"(?,?)">, %v: f32
    cute.memref.store(%A, %c, %v) : (!cute.memref<f32, gmem, "(128,8):(1,128)">, !cute.coord<"(?,?)">, f32) -> ()
    ```
  }];
  let arguments = (ins Arg<Cute_MemRefType, "", [MemWrite]>:$tensor, Cute_CoordType:$coord, AnyType:$value);
  let assemblyFormat = "`(` operands `)` attr-dict `:` functional-type(operands, results)";
  let opDocGroup = Cute_Elements;
}

def Cute_LoadVecOp : Cute_InferredOp<"memref.load_vec"> {
  let summary = "All elements of a tensor as a vector, colexicographically";
  let description = [{
    ```mlir
    // Given %f: !cute.memref<f32, rmem, "(2,4):(4,1)">
    %v = cute.memref.load_vec %f : !cute.memref<f32, rmem, "(2,4):(4,1)">
    ```
  }];
  let arguments = (ins Arg<Cute_MemRefType, "", [MemRead]>:$tensor);
  let results = (outs AnyVectorOfAnyRank:$value);
  let assemblyFormat = "$tensor attr-dict `:` qualified(type($tensor))";
  let opDocGroup = Cute_Elements;
}

def Cute_StoreVecOp : Cute_Op<"memref.store_vec"> {
  let summary = "Sets all elements of a tensor from a vector, colexicographically";
  let description = [{
    ```mlir
    // Given %v: vector<8xf32>, %f: !cute.memref<f32, rmem, "(2,4):(4,1)">
    cute.memref.store_vec %v, %f : vector<8xf32>, !cute.memref<f32, rmem, "(2,4):(4,1)">
    ```
  }];
  let arguments = (ins AnyVectorOfAnyRank:$value, Arg<Cute_MemRefType, "", [MemWrite]>:$tensor);
  let assemblyFormat = "$value `,` $tensor attr-dict `:` type($value) `,` qualified(type($tensor))";
  let opDocGroup = Cute_Elements;
}

#endif
