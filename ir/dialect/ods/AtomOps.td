//===- AtomOps.td - atoms, partitions, and atoms on values ----------------===//
//
// Part of cute-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CUTE_ATOM_OPS_TD
#define CUTE_ATOM_OPS_TD

include "CuteNvgpu.td"
include "CuteTypes.td"

def Cute_Partitions : Cute_Group<"Atoms and partitions", [{
  Which thread holds which value, by which instruction.
}]>;

def Cute_MakeAtomOp : Cute_Op<"make_atom", [Pure]> {
  let summary = "An atom";
  let description = [{
    An atom is what its type says: an instruction, and the values it moves or multiplies.
    Operands are its state, where it has any: all of it, or nothing.
    `cute_nvgpu.atom.set_value` sets parts of it.

    ```mlir
    %a = cute.make_atom() : () -> !cute_nvgpu.atom.universal_copy<f16, 128 b>
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$state);
  let results = (outs AnyType:$atom);
  let assemblyFormat = "`(` operands `)` attr-dict `:` functional-type(operands, $atom)";
  let opDocGroup = Cute_Partitions;
}

/// The atom's type is the one that the tiled operation is over.
class AtomOf<string cppType> : TypesMatchWith<
    "the operand is the atom of the result", "result", "atom",
    "::llvm::cast<::cute::" # cppType # ">($_self).getAtom()">;

def Cute_MakeTiledCopyOp : Cute_Op<"make_tiled_copy", [Pure, AtomOf<"TiledCopyType">]> {
  let summary = "A tiled copy over an atom";
  let description = [{
    How the atom is repeated over threads and values, the type says.

    ```mlir
    !copy = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"((4,16),8):((128,1),16)">, tiler_mn = <"[16:1;32:1]">>
    // Given %a: !cute_nvgpu.atom.universal_copy<f16, 128 b>
    %t = cute.make_tiled_copy(%a) : !copy
    ```
  }];
  let arguments = (ins AnyType:$atom);
  let results = (outs Cute_TiledCopyType:$result);
  let assemblyFormat = "`(` $atom `)` attr-dict `:` qualified(type($result))";
  let opDocGroup = Cute_Partitions;
}

def Cute_MakeTiledMmaOp : Cute_Op<"make_tiled_mma", [Pure, AtomOf<"TiledMmaType">]> {
  let summary = "A tiled MMA over an atom";
  let description = [{
    How the atom is repeated over warps and values, the type says.

    ```mlir
    !mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(1,2,1):(1,1,0)">, permutation_MNK = <"[16:1;32:1;16:1]">>
    // Given %a: !cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>
    %t = cute.make_tiled_mma(%a) : !mma
    ```
  }];
  let arguments = (ins AnyType:$atom);
  let results = (outs Cute_TiledMmaType:$result);
  let assemblyFormat = "`(` $atom `)` attr-dict `:` qualified(type($result))";
  let opDocGroup = Cute_Partitions;
}

class Cute_PartitionOp<string mnemonic> : Cute_InferredOp<mnemonic, [Pure]> {
  let arguments = (ins Cute_TiledCopyType:$copy, Cute_TensorType:$tensor, Cute_CoordType:$thread);
  let results = (outs Cute_TensorType:$result);
  let assemblyFormat = "`(` operands `)` attr-dict `:` functional-type(operands, $result)";
}

def Cute_PartitionSOp : Cute_PartitionOp<"tiled.copy.partition_S"> {
  let summary = "The part of a copy's source that a thread moves";
  let description = [{
    The result's modes are ((atom values, rest), rest of M, rest of N, ...).

    ```mlir
    !copy = !cute.tiled_copy<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, layout_copy_tv = <"((4,16),8):((128,1),16)">, tiler_mn = <"[16:1;32:1]">>
    !tile = !cute.memref<f16, gmem, align<16>, "(32,32):(64,1)">
    // Given %copy: !copy, %g: !tile, %thread: !cute.coord<"?">
    %p = cute.tiled.copy.partition_S(%copy, %g, %thread) : (!copy, !tile, !cute.coord<"?">)
      -> !cute.memref<f16, gmem, align<16>, "((8,1),2,1):((1,8),1024,32)">
    ```
  }];
  let opDocGroup = Cute_Partitions;
}

def Cute_PartitionDOp : Cute_PartitionOp<"tiled.copy.partition_D"> {
  let summary = "The part of a copy's destination that a thread moves";
  let description = [{
    The result's modes are ((atom values, rest), rest of M, rest of N, ...).

    ```mlir
    !copy = !cute.tiled_copy<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, layout_copy_tv = <"((4,16),8):((128,1),16)">, tiler_mn = <"[16:1;32:1]">>
    !smem = !cute.memref<f16, smem, align<512>, S<2,4,3>, "(32,32):(32,1)">
    // Given %copy: !copy, %s: !smem, %thread: !cute.coord<"?">
    %p = cute.tiled.copy.partition_D(%copy, %s, %thread) : (!copy, !smem, !cute.coord<"?">)
      -> !cute.memref<f16, smem, align<16>, S<2,4,3>, "((8,1),2,1):((1,8),512,32)">
    ```
  }];
  let opDocGroup = Cute_Partitions;
}

def Cute_RetileOp : Cute_InferredOp<"tiled.copy.retile", [Pure]> {
  let summary = "A fragment of an MMA, arranged as a copy moves it";
  let description = [{
    The fragment itself, seen through another layout: no data moves.

    ```mlir
    !copy = !cute.tiled_copy<!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, layout_copy_tv = <"((4,8,2),((2,2,2),(1,1))):((32,1,0),((16,8,128),(16,256)))">, tiler_mn = <"[16:1;16:1]">>
    !frgA = !cute.memref<f16, rmem, "((2,2,2),2,2):((1,2,4),16,8)">
    // Given %copy: !copy, %frg: !frgA
    %r = cute.tiled.copy.retile(%copy, %frg) : (!copy, !frgA) -> !cute.memref<f16, rmem, "((8,1),2,2):((1,0),16,8)">
    ```
  }];
  let arguments = (ins Cute_TiledCopyType:$copy, Cute_MemRefType:$fragment);
  let results = (outs Cute_MemRefType:$result);
  let assemblyFormat = "`(` operands `)` attr-dict `:` functional-type(operands, $result)";
  let opDocGroup = Cute_Partitions;
}

def Cute_MmaPartitionOp : Cute_InferredOp<"tiled.mma.partition", [Pure]> {
  let summary = "The part of an MMA's operand that a thread holds";
  let description = [{
    `operand_id` is 0, 1 or 2 for A, B or C. The result's modes are
    (MMA, MMA_M, MMA_K), (MMA, MMA_N, MMA_K) or (MMA, MMA_M, MMA_N).

    ```mlir
    !mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(1,2,1):(1,1,0)">, permutation_MNK = <"[16:1;32:1;16:1]">>
    !smem = !cute.memref<f16, smem, align<512>, S<2,4,3>, "(32,32):(32,1)">
    // Given %mma: !mma, %s: !smem, %thread: !cute.coord<"?">
    %p = cute.tiled.mma.partition A (%mma, %s, %thread) : (!mma, !smem, !cute.coord<"?">)
      -> !cute.memref<f16, smem, align<4>, S<2,4,3>, "((2,2,2),2,2):((1,256,8),512,16)">
    ```
  }];
  let arguments = (ins Cute_TiledMmaType:$mma, Cute_TensorType:$tensor, Cute_CoordType:$thread,
                       I32Attr:$operand_id);
  let results = (outs Cute_TensorType:$result);
  let assemblyFormat = [{ custom<OperandId>($operand_id) `(` $mma `,` $tensor `,` $thread `)`
    attr-dict `:` functional-type(operands, $result) }];
  let opDocGroup = Cute_Partitions;
}

def Cute_PartitionShapeOp : Cute_InferredOp<"tiled.mma.partition_shape", [Pure]> {
  let summary = "The shape of a thread's part of an MMA's operand";
  let description = [{
    What `cute.tiled.mma.partition` gives of a tensor of that shape, without the tensor.

    ```mlir
    !mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(1,2,1):(1,1,0)">, permutation_MNK = <"[16:1;32:1;16:1]">>
    // Given %mma: !mma, %shape: !cute.shape<"(32,32)">
    %s = cute.tiled.mma.partition_shape C (%mma, %shape) : (!mma, !cute.shape<"(32,32)">) -> !cute.shape<"((2,2),2,2)">
    ```
  }];
  let arguments = (ins Cute_TiledMmaType:$mma, Cute_ShapeType:$shape, I32Attr:$operand_id);
  let results = (outs Cute_ShapeType:$result);
  let assemblyFormat = [{ custom<OperandId>($operand_id) `(` $mma `,` $shape `)`
    attr-dict `:` functional-type(operands, $result) }];
  let opDocGroup = Cute_Partitions;
}

def Cute_MakeFragmentOp : Cute_InferredOp<"mma.make_fragment"> {
  let summary = "Registers for a thread's part of an MMA's operand, or descriptors of it";
  let description = [{
    Takes the partitioned operand, or its shape. C's fragment has the accumulator's type.

    Of an operand that the instruction reads in shared memory, as those of a warpgroup do, it is a view of descriptors, where the result is written as
    `!cute_nvgpu.smem_desc_view`: one for each atom of the partition (`cute_nvgpu.make_gmma_smem_desc`).

    ```mlir
    !mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(1,2,1):(1,1,0)">, permutation_MNK = <"[16:1;32:1;16:1]">>
    !acc = !cute.memref<f32, rmem, "((2,2),2,2):((1,2),4,8)">
    // Given %mma: !mma, %shape: !cute.shape<"((2,2),2,2)">
    %f = cute.mma.make_fragment C (%mma, %shape) : (!mma, !cute.shape<"((2,2),2,2)">) -> !acc
    ```
  }];
  let arguments = (ins Cute_TiledMmaType:$mma,
                       AnyTypeOf<[Cute_MemRefType, Cute_ShapeType]>:$tensor, I32Attr:$operand_id);
  let results = (outs Res<AnyTypeOf<[Cute_MemRefType, Cute_SmemDescViewType]>, "", [MemAlloc]>:$result);
  let assemblyFormat = [{ custom<OperandId>($operand_id) `(` $mma `,` $tensor `)`
    attr-dict `:` functional-type(operands, $result) }];
  let opDocGroup = Cute_Partitions;
}

def Cute_MakeTiledCopyOfMmaOp : Cute_InferredOp<"mma.make_tiled_copy", [Pure]> {
  let summary = "The tiled copy that moves the fragments of an MMA by an atom";
  let description = [{
    CuTe's `make_tiled_copy_A`, `_B` and `_C`: a thread copies what it has of the operand of the MMA, so that its
    fragment, seen through `cute.tiled.copy.retile`, is what the copy fills or stores.

    ```mlir
    !mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(1,2,1):(1,1,0)">, permutation_MNK = <"[16:1;32:1;16:1]">>
    !ldmatrix = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
    // Given %mma: !mma, %ldmatrix: !ldmatrix
    %copy = cute.mma.make_tiled_copy A (%mma, %ldmatrix) : (!mma, !ldmatrix) -> !cute.tiled_copy<!ldmatrix, layout_copy_tv = <"((4,8,2),((2,2,2),(1,1))):((32,1,0),((16,8,128),(16,256)))">, tiler_mn = <"[16:1;16:1]">>
    ```
  }];
  let arguments = (ins Cute_TiledMmaType:$mma, AnyType:$atom, I32Attr:$operand_id);
  let results = (outs Cute_TiledCopyType:$result);
  let assemblyFormat = [{ custom<OperandId>($operand_id) `(` $mma `,` $atom `)`
    attr-dict `:` functional-type(operands, $result) }];
  let opDocGroup = Cute_Partitions;
}

def Cute_AtomsOnValues : Cute_Group<"Atoms on values", [{
  One instruction each. `at` names the atom within a thread's partition: one index
  for each mode behind the atom's own values.
}]>;

def Cute_AtomLoadOp : Cute_Op<"atom_load", [AttrSizedOperandSegments]> {
  let summary = "One copy atom from memory into a vector";
  let description = [{
    Every thread of the warp takes part where the atom is one of a warp. A load of one thread from global memory
    may have a predicate: where it is false nothing is read, and the value behind `else` is what is loaded.

    ```mlir
    !copy = !cute.tiled_copy<!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, layout_copy_tv = <"((4,8,2),((2,2,2),(1,1))):((32,1,0),((16,8,128),(16,256)))">, tiler_mn = <"[16:1;16:1]">>
    !part = !cute.memref<f16, smem, align<16>, S<2,4,3>, "((8,1),2,2):((1,16),512,16)">
    !move = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"((4,16),8):((128,1),16)">, tiler_mn = <"[16:1;32:1]">>
    !gpart = !cute.memref<f16, gmem, align<16>, "((8,1),2,1):((1,8),1024,32)">
    // Given %copy: !copy, %p: !part, %move: !move, %g: !gpart, %is: i1, %old: vector<8xf16>
    %v = cute.atom_load(%copy, %p) at [0, 1, 0] : (!copy, !part) -> vector<8xf16>
    %w = cute.atom_load(%move, %g) at [0, 1, 0] if %is else %old : (!move, !gpart, vector<8xf16>) -> vector<8xf16>
    ```
  }];
  let arguments = (ins Cute_TiledCopyType:$copy, Arg<Cute_MemRefType, "", [MemRead]>:$source,
                       Optional<I1>:$predicate, Optional<AnyVectorOfAnyRank>:$otherwise, DenseI64ArrayAttr:$at);
  let results = (outs AnyVectorOfAnyRank:$value);
  let assemblyFormat = [{ `(` $copy `,` $source `)` `at` $at (`if` $predicate^ `else` $otherwise)? attr-dict `:`
    `(` qualified(type($copy)) `,` qualified(type($source)) (`,` type($otherwise)^)? `)` `->` type($value) }];
  let opDocGroup = Cute_AtomsOnValues;
}

def Cute_AtomStoreOp : Cute_Op<"atom_store"> {
  let summary = "One copy atom from a vector into memory";
  let description = [{
    The vector holds the atom's values, in the atom's order.

    ```mlir
    !copy = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"((4,16),8):((128,1),16)">, tiler_mn = <"[16:1;32:1]">>
    !part = !cute.memref<f16, gmem, align<16>, "((8,1),2,1):((1,8),1024,32)">
    // Given %copy: !copy, %v: vector<8xf16>, %p: !part
    cute.atom_store(%copy, %v, %p) at [0, 1, 0] : (!copy, vector<8xf16>, !part)
    ```
  }];
  let arguments = (ins Cute_TiledCopyType:$copy, AnyVectorOfAnyRank:$value,
                       Arg<Cute_MemRefType, "", [MemWrite]>:$destination, DenseI64ArrayAttr:$at);
  let assemblyFormat = "`(` operands `)` `at` $at attr-dict `:` `(` type(operands) `)`";
  let opDocGroup = Cute_AtomsOnValues;
}

def Cute_AtomMoveOp : Cute_Op<"atom_move", [Pure]> {
  let summary = "One copy atom from registers to registers of the warp";
  let description = [{
    Of `movmatrix`: every thread of the warp gives its part of a matrix and gets its part of the
    transposed one.

    ```mlir
    !copy = !cute.tiled_copy<!cute_nvgpu.atom.movm<f16, mode = <"(8,8)">, num_matrices = 1, t>, layout_copy_tv = <"((4,8),2):((16,1),8)">, tiler_mn = <"[8:1;8:1]">>
    // Given %copy: !copy, %v: vector<2xf16>
    %t = cute.atom_move(%copy, %v) : (!copy, vector<2xf16>) -> vector<2xf16>
    ```
  }];
  let arguments = (ins Cute_TiledCopyType:$copy, AnyVectorOfAnyRank:$value);
  let results = (outs AnyVectorOfAnyRank:$result);
  let assemblyFormat = "`(` operands `)` attr-dict `:` functional-type(operands, $result)";
  let opDocGroup = Cute_AtomsOnValues;
}

def Cute_AtomCopyOp : Cute_Op<"atom_copy"> {
  let summary = "One asynchronous copy atom from memory to memory";
  let description = [{
    It has landed when the group that it is committed in has been waited for. Where a predicate
    is given and false, nothing is read, and zeros are written. `count %n` is how many of the atom's elements
    are read, an i32; the others are written as zeros. A number below 0 is 0, one above all elements all of them.

    ```mlir
    !copy = !cute.tiled_copy<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, layout_copy_tv = <"((4,16),8):((128,1),16)">, tiler_mn = <"[16:1;32:1]">>
    !part = !cute.memref<f16, gmem, align<16>, "((8,1),2,1):((1,8),1024,32)">
    !spart = !cute.memref<f16, smem, align<16>, S<2,4,3>, "((8,1),2,1):((1,8),512,32)">
    // Given %copy: !copy, %src: !part, %dst: !spart, %p: i1, %n: i32
    cute.atom_copy(%copy, %src, %dst) at [0, 1, 0] if %p : (!copy, !part, !spart)
    cute.atom_copy(%copy, %src, %dst) at [0, 1, 0] count %n : (!copy, !part, !spart)
    ```
  }];
  let arguments = (ins Cute_TiledCopyType:$copy, Arg<Cute_MemRefType, "", [MemRead]>:$source,
                       Arg<Cute_MemRefType, "", [MemWrite]>:$destination,
                       Optional<AnyTypeOf<[I1, I32], "i1 or i32">>:$predicate,
                       DenseI64ArrayAttr:$at);
  let assemblyFormat = [{ `(` $copy `,` $source `,` $destination `)` `at` $at
    custom<Guard>($predicate, type($predicate))
    attr-dict `:` `(` qualified(type($copy)) `,` qualified(type($source)) `,` qualified(type($destination)) `)` }];
  let opDocGroup = Cute_AtomsOnValues;
}

def Cute_AtomMmaOp : Cute_Op<"atom_mma", [Pure]> {
  let summary = "One MMA atom on vectors: the result is A B + C";
  let description = [{
    A warp does it together; each thread gives and gets its own values. Vectors hold what registers
    do: of elements that LLVM has no type for, 8-bit floats and unsigned integers, signless integers
    of their width, and of tf32 f32.

    ```mlir
    !mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(1,2,1):(1,1,0)">, permutation_MNK = <"[16:1;32:1;16:1]">>
    // Given %mma: !mma, %a: vector<8xf16>, %b: vector<4xf16>, %c: vector<4xf32>
    %d = cute.atom_mma(%mma, %a, %b, %c) : (!mma, vector<8xf16>, vector<4xf16>, vector<4xf32>) -> vector<4xf32>
    ```
  }];
  let arguments = (ins Cute_TiledMmaType:$mma, AnyVectorOfAnyRank:$a, AnyVectorOfAnyRank:$b,
                       AnyVectorOfAnyRank:$c);
  let results = (outs AnyVectorOfAnyRank:$d);
  let assemblyFormat = "`(` operands `)` attr-dict `:` functional-type(operands, $d)";
  let opDocGroup = Cute_AtomsOnValues;
}

#endif
