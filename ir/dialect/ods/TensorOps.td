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

#endif
