//===- TensorOps.td - tensors in shared memory and in registers ------------===//
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

def Cute_AllocaOp : Cute_Op<"memref.alloca"> {
  let summary = "A tensor in shared memory or in registers, for the kernel's lifetime";
  let description = [{
    `offset` is the byte offset in the kernel's dynamic shared memory, once
    `cute-allocate-shared` has placed it. A layout that is given is the type's.

    ```mlir
    %s = cute.memref.alloca() : !cute.memref<f16, smem, align<512>, S<2,4,3>, "(128,32):(32,1)">
    ```
  }];
  let arguments = (ins Optional<Cute_AnyLayoutType>:$layout, OptionalAttr<I64Attr>:$offset);
  let results = (outs Res<Cute_MemRefType, "", [MemAlloc]>:$result);
  let assemblyFormat = [{ `(` ($layout^ `:` qualified(type($layout)))? `)` attr-dict `:`
    qualified(type($result)) }];
  let opDocGroup = Cute_Tensors;
}

def Cute_MakeFragmentLikeOp : Cute_InferredOp<"make_fragment_like"> {
  let summary = "Registers of the shape of a tensor";
  let description = [{
    CuTe's `make_fragment_like`: a tensor in registers with the modes of another one, which is usually a thread's part of a
    tile. It is compact, with its modes in the order of the other's strides where these are known, and without what the other
    repeats, such as vectors of one predicate. Its elements are of the same type, or of the one behind `of`.

    ```mlir
    !part = !cute.memref<f32, gmem, align<16>, "((4,1),1,8):((1,0),0,1024)">
    // Given %part: !part
    %f = cute.make_fragment_like(%part) : (!part) -> !cute.memref<f32, rmem, align<16>, "((4,1),1,8):((1,0),0,4)">
    %h = cute.make_fragment_like(%part) of f16 : (!part) -> !cute.memref<f16, rmem, align<16>, "((4,1),1,8):((1,0),0,4)">
    ```
  }];
  let arguments = (ins Cute_TensorType:$tensor, OptionalAttr<TypeAttr>:$element);
  let results = (outs Res<Cute_MemRefType, "", [MemAlloc]>:$result);
  let assemblyFormat = "`(` $tensor `)` (`of` $element^)? attr-dict `:` functional-type($tensor, $result)";
  let opDocGroup = Cute_Tensors;
}

def Cute_WorkspaceOp : Cute_Op<"workspace"> {
  let summary = "Device memory that a call of a function of the host has beside its arguments";
  let description = [{
    So many bytes, which follow from the function's arguments. Whoever calls the function of a package brings them
    (`docs/package.md`); nobody clears them, nor reads what kernels leave there. Each op has bytes of its own; of those in the two
    branches of an `scf.if` only one is there. The pointer, or a tensor that `cute.make_view` makes of it, is what a launch passes on.

    ```mlir
    // Given %bytes: index
    %w = cute.workspace(%bytes) : !cute.ptr<f32, gmem, align<256>>
    ```
  }];
  let arguments = (ins Index:$bytes);
  let results = (outs Res<Cute_PtrType, "", [MemAlloc]>:$pointer);
  let assemblyFormat = "`(` $bytes `)` attr-dict `:` qualified(type($pointer))";
  let opDocGroup = Cute_Tensors;
}

#endif
