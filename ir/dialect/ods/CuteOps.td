//===- CuteOps.td - the ops of the cute dialect ---------------------------===//
//
// Part of cute-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CUTE_OPS_TD
#define CUTE_OPS_TD

include "CuteTypes.td"
include "CuteNvgpu.td"

//===----------------------------------------------------------------------===//
// Layout values
//===----------------------------------------------------------------------===//

def Cute_StaticOp : Cute_Op<"static", [Pure]> {
  let summary = "A value that its type says whole";
  let description = [{
    Example: `%t = cute.static : !cute.tile<"[128:1;32:1]">`
  }];
  let results = (outs AnyType:$result);
  let assemblyFormat = "attr-dict `:` qualified(type($result))";
}

def Cute_MakeCoordOp : Cute_Op<"make_coord", [Pure]> {
  let summary = "A coordinate from its dynamic leaves, left to right";
  let description = [{
    Example: `%c = cute.make_coord(%i) : (i32) -> !cute.coord<"(?,_)">`
  }];
  let arguments = (ins Variadic<AnyType>:$leaves);
  let results = (outs Cute_CoordType:$result);
  let assemblyFormat = "`(` $leaves `)` attr-dict `:` functional-type($leaves, $result)";
}

def Cute_Crd2IdxOp : Cute_InferredOp<"crd2idx", [Pure]> {
  let summary = "The offset that a layout gives a coordinate";
  let description = [{
    With a shape in place of the layout, the colexicographic index. A
    one-dimensional coordinate is taken colexicographically.

    Example:
    ```mlir
    %o = cute.crd2idx(%c, %l) : (!cute.coord<"?">, !cute.layout<"(8,4):(1,0)">) -> !cute.int_tuple<"?">
    ```
  }];
  let arguments = (ins Cute_CoordType:$coord, AnyTypeOf<[Cute_LayoutType, Cute_ShapeType]>:$layout);
  let results = (outs Cute_IntTupleType:$result);
  let assemblyFormat = "`(` $coord `,` $layout `)` attr-dict `:` functional-type(operands, $result)";
}

def Cute_GetScalarsOp : Cute_InferredOp<"get_scalars", [Pure]> {
  let summary = "The leaves of an integer tuple as integers";
  let description = [{ Example: `%i = cute.get_scalars(%o) : !cute.int_tuple<"?">` }];
  let arguments = (ins Cute_IntTupleType:$tuple);
  let results = (outs Variadic<AnySignlessInteger>:$scalars);
  let assemblyFormat = "`(` $tuple `)` attr-dict `:` qualified(type($tuple))";
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

def Cute_AllocaOp : Cute_Op<"memref.alloca", [MemoryEffects<[MemAlloc]>]> {
  let summary = "A tensor in shared memory or in registers, for the kernel's lifetime";
  let description = [{
    `offset` is the byte offset in the kernel's dynamic shared memory, once
    `cute-allocate-shared` has placed it.

    Example: `%s = cute.memref.alloca() : !cute.memref<f16, smem, align<512>, S<2,4,3>, "(128,32):(32,1)">`
  }];
  let arguments = (ins OptionalAttr<I64Attr>:$offset);
  let results = (outs Cute_MemRefType:$result);
  let assemblyFormat = "`(` `)` attr-dict `:` qualified(type($result))";
}

def Cute_LocalTileOp : Cute_InferredOp<"local_tile", [Pure]> {
  let summary = "The tile of a tensor at a coordinate";
  let description = [{
    `zipped_divide` by the tile, then a slice of the rest: modes at `_` stay,
    behind the tile's own.

    Example:
    ```mlir
    %g = cute.local_tile(%A, %t, %c) : (!cute.memref<f16, gmem, align<16>, "(256,64):(64,1)">,
      !cute.tile<"[128:1;32:1]">, !cute.coord<"(?,_)">) -> !cute.memref<f16, gmem, align<16>, "(128,32,2):(64,1,32)">
    ```
  }];
  let arguments = (ins Cute_MemRefType:$tensor, Cute_TileType:$tile, Cute_CoordType:$coord);
  let results = (outs Cute_MemRefType:$result);
  let assemblyFormat = "`(` $tensor `,` $tile `,` $coord `)` attr-dict `:` functional-type(operands, $result)";
}

def Cute_SliceOp : Cute_InferredOp<"slice", [Pure]> {
  let summary = "The part of a tensor at a coordinate: modes at `_` stay";
  let description = [{
    Example: `%s = cute.slice(%g, %c) : !cute.memref<f16, gmem, "(128,32,2):(64,1,32)">, !cute.coord<"(_,_,?)">`
  }];
  let arguments = (ins Cute_MemRefType:$tensor, Cute_CoordType:$coord);
  let results = (outs Cute_MemRefType:$result);
  let assemblyFormat = "`(` operands `)` attr-dict `:` type(operands)";
}

//===----------------------------------------------------------------------===//
// Atoms and partitions
//===----------------------------------------------------------------------===//

def Cute_MakeAtomOp : Cute_Op<"make_atom", [Pure]> {
  let summary = "An atom";
  let description = [{ Example: `%a = cute.make_atom() : () -> !cute_nvgpu.atom.universal_copy<f16, 128 b>` }];
  let results = (outs AnyType:$atom);
  let assemblyFormat = "`(` `)` attr-dict `:` functional-type(operands, $atom)";
}

/// The atom's type is the one that the tiled operation is over.
class AtomOf<string cppType> : TypesMatchWith<
    "the operand is the atom of the result", "result", "atom",
    "::llvm::cast<::cute::" # cppType # ">($_self).getAtom()">;

def Cute_MakeTiledCopyOp : Cute_Op<"make_tiled_copy", [Pure, AtomOf<"TiledCopyType">]> {
  let summary = "A tiled copy over an atom";
  let description = [{ Example: `%t = cute.make_tiled_copy(%atom) : !copy` }];
  let arguments = (ins AnyType:$atom);
  let results = (outs Cute_TiledCopyType:$result);
  let assemblyFormat = "`(` $atom `)` attr-dict `:` qualified(type($result))";
}

def Cute_MakeTiledMmaOp : Cute_Op<"make_tiled_mma", [Pure, AtomOf<"TiledMmaType">]> {
  let summary = "A tiled MMA over an atom";
  let description = [{ Example: `%t = cute.make_tiled_mma(%atom) : !mma` }];
  let arguments = (ins AnyType:$atom);
  let results = (outs Cute_TiledMmaType:$result);
  let assemblyFormat = "`(` $atom `)` attr-dict `:` qualified(type($result))";
}

class Cute_PartitionOp<string mnemonic, string what> : Cute_InferredOp<mnemonic, [Pure]> {
  let summary = "The part of a copy's " # what # " that a thread moves";
  let description = [{
    The result's modes are ((atom values, rest), rest of M, rest of N, ...).

    Example: `%p = cute.tiled.copy.partition_S(%copy, %tensor, %thread) : (...) -> !cute.memref<...>`
  }];
  let arguments = (ins Cute_TiledCopyType:$copy, Cute_MemRefType:$tensor, Cute_CoordType:$thread);
  let results = (outs Cute_MemRefType:$result);
  let assemblyFormat = "`(` operands `)` attr-dict `:` functional-type(operands, $result)";
}
def Cute_PartitionSOp : Cute_PartitionOp<"tiled.copy.partition_S", "source">;
def Cute_PartitionDOp : Cute_PartitionOp<"tiled.copy.partition_D", "destination">;

def Cute_RetileOp : Cute_InferredOp<"tiled.copy.retile", [Pure]> {
  let summary = "A fragment of an MMA, arranged as a copy moves it";
  let description = [{ Example: `%r = cute.tiled.copy.retile(%copy, %frg) : (...) -> !cute.memref<...>` }];
  let arguments = (ins Cute_TiledCopyType:$copy, Cute_MemRefType:$fragment);
  let results = (outs Cute_MemRefType:$result);
  let assemblyFormat = "`(` operands `)` attr-dict `:` functional-type(operands, $result)";
}

def Cute_MmaPartitionOp : Cute_InferredOp<"tiled.mma.partition", [Pure]> {
  let summary = "The part of an MMA's operand that a thread holds";
  let description = [{
    `operand_id` is 0, 1 or 2 for A, B or C. The result's modes are
    (MMA, MMA_M, MMA_K), (MMA, MMA_N, MMA_K) or (MMA, MMA_M, MMA_N).

    Example: `%p = cute.tiled.mma.partition A (%mma, %tensor, %thread) : (...) -> !cute.memref<...>`
  }];
  let arguments = (ins Cute_TiledMmaType:$mma, Cute_MemRefType:$tensor, Cute_CoordType:$thread,
                       I32Attr:$operand_id);
  let results = (outs Cute_MemRefType:$result);
  let assemblyFormat = [{ custom<OperandId>($operand_id) `(` $mma `,` $tensor `,` $thread `)`
    attr-dict `:` functional-type(operands, $result) }];
}

def Cute_PartitionShapeOp : Cute_InferredOp<"tiled.mma.partition_shape", [Pure]> {
  let summary = "The shape of a thread's part of an MMA's operand";
  let description = [{
    Example: `%s = cute.tiled.mma.partition_shape C (%mma, %shape) : (...) -> !cute.shape<"((2,2),4,8)">`
  }];
  let arguments = (ins Cute_TiledMmaType:$mma, Cute_ShapeType:$shape, I32Attr:$operand_id);
  let results = (outs Cute_ShapeType:$result);
  let assemblyFormat = [{ custom<OperandId>($operand_id) `(` $mma `,` $shape `)`
    attr-dict `:` functional-type(operands, $result) }];
}

def Cute_MakeFragmentOp : Cute_InferredOp<"mma.make_fragment", [MemoryEffects<[MemAlloc]>]> {
  let summary = "Registers for a thread's part of an MMA's operand";
  let description = [{
    Takes the partitioned operand, or its shape. C's fragment has the accumulator's type.

    Example: `%f = cute.mma.make_fragment A (%mma, %part) : (...) -> !cute.memref<f16, rmem, ...>`
  }];
  let arguments = (ins Cute_TiledMmaType:$mma,
                       AnyTypeOf<[Cute_MemRefType, Cute_ShapeType]>:$tensor, I32Attr:$operand_id);
  let results = (outs Cute_MemRefType:$result);
  let assemblyFormat = [{ custom<OperandId>($operand_id) `(` $mma `,` $tensor `)`
    attr-dict `:` functional-type(operands, $result) }];
}

//===----------------------------------------------------------------------===//
// Algorithms
//===----------------------------------------------------------------------===//

def Cute_CopyOp : Cute_Op<"copy", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Copies one tensor into another of the same shape";
  let description = [{
    `cute.copy(%src, %dst)` is done by all threads of the block;
    `cute.copy(%tiled_copy, %src, %dst)` by one thread, on its partitions.

    Example: `cute.copy(%c, %s, %d) : (!copy, !src, !dst)`
  }];
  let arguments = (ins Variadic<AnyType>:$args);
  let assemblyFormat = "`(` $args `)` attr-dict `:` `(` type($args) `)`";
}

def Cute_GemmOp : Cute_Op<"gemm", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "A matrix product: A (M,K), B (N,K), C (M,N)";
  let description = [{
    Three forms:
    - `cute.gemm(%A, %B, %C) accumulate f32`: C(m,n) is *set* to the sum over k of
      A(m,k) B(n,k), summed in the given type and rounded once to C's.
    - `cute.gemm(%A, %B, %C)`: C(m,n) is *added* to, in C's own type.
    - `cute.gemm(%mma, %D, %A, %B, %C)`: D = A B + C on one thread's fragments,
      (V,M,K) x (V,N,K) -> (V,M,N).

    Example:
    ```mlir
    cute.gemm(%A, %B, %C) accumulate f32 : (!a, !b, !c)
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$args, OptionalAttr<TypeAttr>:$accumulate);
  let assemblyFormat = [{ `(` $args `)` (`accumulate` $accumulate^)? attr-dict `:`
    `(` type($args) `)` }];
}

def Cute_ClearOp : Cute_Op<"clear", [MemoryEffects<[MemWrite]>]> {
  let summary = "Sets every element of a tensor to zero";
  let description = [{ Example: `cute.clear(%acc) : (!acc)` }];
  let arguments = (ins Cute_MemRefType:$tensor);
  let assemblyFormat = "`(` $tensor `)` attr-dict `:` `(` qualified(type($tensor)) `)`";
}

def Cute_ConvertOp : Cute_Op<"convert", [MemoryEffects<[MemRead, MemAlloc]>]> {
  let summary = "A register tensor with each element rounded to another type";
  let description = [{
    Rounds to nearest even. The layout is kept.

    Example: `%h = cute.convert(%acc) : (!acc) -> !half`
  }];
  let arguments = (ins Cute_MemRefType:$tensor);
  let results = (outs Cute_MemRefType:$result);
  let assemblyFormat = "`(` $tensor `)` attr-dict `:` functional-type($tensor, $result)";
}

//===----------------------------------------------------------------------===//
// Atoms on SSA values. `at` names the atom within a thread's partition: one
// index for each mode behind the atom's own values.
//===----------------------------------------------------------------------===//

def Cute_AtomLoadOp : Cute_Op<"atom_load", [MemoryEffects<[MemRead]>]> {
  let summary = "One copy atom from memory into a vector";
  let description = [{ Example: `%v = cute.atom_load(%copy, %part) at [0, 1, 0] : (!copy, !part) -> vector<8xf16>` }];
  let arguments = (ins Cute_TiledCopyType:$copy, Cute_MemRefType:$source, DenseI64ArrayAttr:$at);
  let results = (outs AnyVectorOfAnyRank:$value);
  let assemblyFormat = "`(` $copy `,` $source `)` `at` $at attr-dict `:` functional-type(operands, $value)";
}

def Cute_AtomStoreOp : Cute_Op<"atom_store", [MemoryEffects<[MemWrite]>]> {
  let summary = "One copy atom from a vector into memory";
  let description = [{ Example: `cute.atom_store(%copy, %v, %part) at [0, 1, 0] : (!copy, vector<2xf16>, !part)` }];
  let arguments = (ins Cute_TiledCopyType:$copy, AnyVectorOfAnyRank:$value,
                       Cute_MemRefType:$destination, DenseI64ArrayAttr:$at);
  let assemblyFormat = "`(` operands `)` `at` $at attr-dict `:` `(` type(operands) `)`";
}

def Cute_AtomCopyOp : Cute_Op<"atom_copy", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "One asynchronous copy atom from memory to memory";
  let description = [{
    It has landed when the group that it is committed in has been waited for. Where a predicate
    is given and false, nothing is read, and zeros are written.

    Example: `cute.atom_copy(%copy, %src, %dst) at [0, 1, 0] if %p : (!copy, !src, !dst)`
  }];
  let arguments = (ins Cute_TiledCopyType:$copy, Cute_MemRefType:$source,
                       Cute_MemRefType:$destination, Optional<I1>:$predicate,
                       DenseI64ArrayAttr:$at);
  let assemblyFormat = [{ `(` $copy `,` $source `,` $destination `)` `at` $at (`if` $predicate^)?
    attr-dict `:` `(` qualified(type($copy)) `,` qualified(type($source)) `,` qualified(type($destination)) `)` }];
}

def Cute_AtomMmaOp : Cute_Op<"atom_mma", [Pure]> {
  let summary = "One MMA atom on vectors: the result is A B + C";
  let description = [{
    Example:
    ```mlir
    %d = cute.atom_mma(%mma, %a, %b, %c) : (!mma, vector<8xf16>, vector<4xf16>, vector<4xf32>) -> vector<4xf32>
    ```
  }];
  let arguments = (ins Cute_TiledMmaType:$mma, AnyVectorOfAnyRank:$a, AnyVectorOfAnyRank:$b,
                       AnyVectorOfAnyRank:$c);
  let results = (outs AnyVectorOfAnyRank:$d);
  let assemblyFormat = "`(` operands `)` attr-dict `:` functional-type(operands, $d)";
}

//===----------------------------------------------------------------------===//
// Pipelines
//===----------------------------------------------------------------------===//

def Cute_PipelineCreateOp : Cute_Op<"pipeline.create", [MemoryEffects<[MemAlloc]>]> {
  let summary = "A ring of buffers, all free";
  let description = [{
    `free` is the token of the first use of each buffer.

    Example: `%p, %free = cute.pipeline.create : !cute.pipeline<3>, !cute.token`
  }];
  let results = (outs Cute_PipelineType:$pipeline, Cute_TokenType:$free);
  let assemblyFormat = "attr-dict `:` qualified(type($pipeline)) `,` qualified(type($free))";
}

class Cute_SlotOp<string mnemonic> : Cute_Op<mnemonic, [MemoryEffects<[MemRead, MemWrite]>]> {
  let arguments = (ins Cute_PipelineType:$pipeline, Cute_TokenType:$token, I32:$iteration);
  let results = (outs I32:$slot);
  let assemblyFormat = "`(` $pipeline `,` $token `,` $iteration `)` attr-dict `:` qualified(type($pipeline))";
}
def Cute_ProducerAcquireOp : Cute_SlotOp<"pipeline.producer_acquire"> {
  let summary = "Waits until the buffer of an iteration is free, and gives its index";
  let description = [{
    `token` is the release of the buffer's last use.

    Example: `%slot = cute.pipeline.producer_acquire(%p, %free, %k) : !cute.pipeline<3>`
  }];
}
def Cute_ConsumerWaitOp : Cute_SlotOp<"pipeline.consumer_wait"> {
  let summary = "Waits until the buffer of an iteration is filled, and gives its index";
  let description = [{
    `token` is the commit that filled it.

    Example: `%slot = cute.pipeline.consumer_wait(%p, %full, %k) : !cute.pipeline<3>`
  }];
}

def Cute_ProducerTailOp : Cute_Op<"pipeline.producer_tail", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Waits until every committed copy of this thread has landed";
  let description = [{
    Behind it the pipeline's buffers are not written any more by this thread's copies.

    Example: `cute.pipeline.producer_tail(%p) : !cute.pipeline<3>`
  }];
  let arguments = (ins Cute_PipelineType:$pipeline);
  let assemblyFormat = "`(` $pipeline `)` attr-dict `:` qualified(type($pipeline))";
}

class Cute_TokenOp<string mnemonic> : Cute_Op<mnemonic, [MemoryEffects<[MemRead, MemWrite]>]> {
  let arguments = (ins Cute_PipelineType:$pipeline);
  let results = (outs Cute_TokenType:$token);
  let assemblyFormat = "`(` $pipeline `)` attr-dict `:` qualified(type($pipeline))";
}
def Cute_ProducerCommitOp : Cute_TokenOp<"pipeline.producer_commit"> {
  let summary = "Closes the group of copies that fill a buffer";
  let description = [{ Example: `%full = cute.pipeline.producer_commit(%p) : !cute.pipeline<3>` }];
}
def Cute_ConsumerReleaseOp : Cute_TokenOp<"pipeline.consumer_release"> {
  let summary = "This thread reads the buffer no more";
  let description = [{ Example: `%free = cute.pipeline.consumer_release(%p) : !cute.pipeline<3>` }];
}

#endif
