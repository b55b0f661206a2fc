//===- FunctionOps.td - calls of functions on values of the dialect -------===//
//
// Part of cute-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CUTE_FUNCTION_OPS_TD
#define CUTE_FUNCTION_OPS_TD

include "CuteTypes.td"

def Cute_Functions : Cute_Group<"Functions", [{
  Functions are `func.func`; those on tensors, layouts, atoms and tiled operations are put in place of their calls
  by `cute-inline`.
}]>;

def Cute_CallOp : Cute_Op<"call"> {
  let summary = "A call of a function, by which types that the function leaves open are known";
  let description = [{
    Calls a `func.func` of the same `gpu.module`. Where the function says `!cute.any`, an argument may be of any type; all other
    types are as it says. The results are of the types that follow from the arguments, which `cute-inline` finds when it puts the
    function in place of the call: until then they are `!cute.any`, unless they are written.

    ```mlir
    // Given %copy: !cute.any, %tensor: !cute.any, %thread: !cute.coord<"?">
    %part = cute.call @part(%copy, %tensor, %thread)
    cute.call @clear(%part)
    ```

    [kernels.md](kernels.md) has functions that are called so.
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<AnyType>:$args);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = "$callee `(` $args `)` attr-dict `:` functional-type($args, $results)";
  let opDocGroup = Cute_Functions;
}

#endif
