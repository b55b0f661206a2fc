//===- TensorOps.td - views of tensors, and algorithms on them ------------===//
//
// Part of cute-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CUTE_TENSOR_OPS_TD
#define CUTE_TENSOR_OPS_TD

include "CuteTypes.td"

def Cute_Tensors : Cute_Group<"Tensors", [{
  A tensor is a pointer and a layout. Views of it are pure: they move no data.
}]>;

def Cute_AllocaOp : Cute_Op<"memref.alloca", [MemoryEffects<[MemAlloc]>]> {
  let summary = "A tensor in shared memory or in registers, for the kernel's lifetime";
  let description = [{
    `offset` is the byte offset in the kernel's dynamic shared memory, once
    `cute-allocate-shared` has placed it. A layout that is given is the type's.

    ```mlir
    %s = cute.memref.alloca() : !cute.memref<f16, smem, align<512>, S<2,4,3>, "(128,32):(32,1)">
    ```
  }];
  let arguments = (ins Optional<Cute_LayoutType>:$layout, OptionalAttr<I64Attr>:$offset);
  let results = (outs Cute_MemRefType:$result);
  let assemblyFormat = [{ `(` ($layout^ `:` qualified(type($layout)))? `)` attr-dict `:`
    qualified(type($result)) }];
  let opDocGroup = Cute_Tensors;
}

def Cute_Algorithms : Cute_Group<"Algorithms", [{
  What is done with whole tensors, or with the part of one thread.
}]>;

def Cute_CopyOp : Cute_Op<"copy", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Copies one tensor into another of the same shape";
  let description = [{
    `cute.copy(%src, %dst)` is done by all threads of the block;
    `cute.copy(%tiled_copy, %src, %dst)` by one thread, on its partitions.

    ```mlir
    !copy = !cute.tiled_copy<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, layout_copy_tv = <"((4,16),8):((128,1),16)">, tiler_mn = <"[16:1;32:1]">>
    !tile = !cute.memref<f16, gmem, align<16>, "(32,32):(64,1)">
    !smem = !cute.memref<f16, smem, align<512>, S<2,4,3>, "(32,32):(32,1)">
    !part = !cute.memref<f16, gmem, align<16>, "((8,1),2,1):((1,8),1024,32)">
    !spart = !cute.memref<f16, smem, align<16>, S<2,4,3>, "((8,1),2,1):((1,8),512,32)">
    // Given %g: !tile, %s: !smem, %copy: !copy, %p: !part, %q: !spart
    cute.copy(%g, %s) : (!tile, !smem)
    cute.copy(%copy, %p, %q) : (!copy, !part, !spart)
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$args);
  let assemblyFormat = "`(` $args `)` attr-dict `:` `(` type($args) `)`";
  let opDocGroup = Cute_Algorithms;
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

    ```mlir
    !mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(1,2,1):(1,1,0)">, permutation_MNK = <"[16:1;32:1;16:1]">>
    !acc = !cute.memref<f32, rmem, "((2,2),2,2):((1,2),4,8)">
    !frgA = !cute.memref<f16, rmem, "((2,2,2),2,2):((1,2,4),16,8)">
    !frgB = !cute.memref<f16, rmem, "((2,2),2,2):((1,2),4,8)">
    !half = !cute.memref<f16, gmem, "(32,32):(32,1)">
    // Given %A: !half, %B: !half, %C: !half, %mma: !mma, %a: !frgA, %b: !frgB, %c: !acc
    cute.gemm(%A, %B, %C) accumulate f32 : (!half, !half, !half)
    cute.gemm(%A, %B, %C) : (!half, !half, !half)
    cute.gemm(%mma, %c, %a, %b, %c) : (!mma, !acc, !frgA, !frgB, !acc)
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$args, OptionalAttr<TypeAttr>:$accumulate);
  let assemblyFormat = [{ `(` $args `)` (`accumulate` $accumulate^)? attr-dict `:`
    `(` type($args) `)` }];
  let opDocGroup = Cute_Algorithms;
}

def Cute_ClearOp : Cute_Op<"clear", [MemoryEffects<[MemWrite]>]> {
  let summary = "Sets every element of a tensor to zero";
  let description = [{
    For accumulators: positive zero in the element type.

    ```mlir
    !acc = !cute.memref<f32, rmem, "((2,2),2,2):((1,2),4,8)">
    // Given %acc: !acc
    cute.clear(%acc) : (!acc)
    ```
  }];
  let arguments = (ins Cute_MemRefType:$tensor);
  let assemblyFormat = "`(` $tensor `)` attr-dict `:` `(` qualified(type($tensor)) `)`";
  let opDocGroup = Cute_Algorithms;
}

def Cute_ConvertOp : Cute_Op<"convert", [MemoryEffects<[MemRead, MemAlloc]>]> {
  let summary = "A register tensor with each element rounded to another type";
  let description = [{
    Rounds to nearest even. The layout is kept.

    ```mlir
    !acc = !cute.memref<f32, rmem, "((2,2),2,2):((1,2),4,8)">
    // Given %acc: !acc
    %h = cute.convert(%acc) : (!acc) -> !cute.memref<f16, rmem, "((2,2),2,2):((1,2),4,8)">
    ```
  }];
  let arguments = (ins Cute_MemRefType:$tensor);
  let results = (outs Cute_MemRefType:$result);
  let assemblyFormat = "`(` $tensor `)` attr-dict `:` functional-type($tensor, $result)";
  let opDocGroup = Cute_Algorithms;
}

#endif
