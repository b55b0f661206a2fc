//===- FunctionOps.td - calls of functions on values of the dialect -------===//
//
// Part of cute-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CUTE_FUNCTION_OPS_TD
#define CUTE_FUNCTION_OPS_TD

include "CuteTypes.td"
include "mlir/IR/SymbolInterfaces.td"

def Cute_Functions : Cute_Group<"Functions", [{
  Functions are `func.func`; those on tensors, layouts, atoms and tiled operations are put in place of their calls
  by `cute-inline`. A function, a `gpu.module` and a module may have parameters, `cute.parameters`.
}]>;

def Cute_CallOp : Cute_Op<"call", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "A call of a function, by which types and parameters that the function leaves open are known";
  let description = [{
    Calls a `func.func` of the same `gpu.module`. Where the function says `!cute.any`, an argument may be of any type; all other
    types are as it says. The results are of the types that the function says, wherever it stands in the text or in what that imports. Those that follow
    from the arguments or the parameters, `cute-inline` finds when it puts the function in place of the call: until then they are `!cute.any`, unless they
    are written.

    In angle brackets stand the values of the function's parameters (`cute.parameters`), of those without a default all: integers, types, layouts
    and tiles, and `#cute.param` of the caller's own.

    A function that is not there, and that nothing imports, is an error with the one that may have been meant.

    ```mlir
    func.func private @part(!cute.any, !cute.any, !cute.coord<"?">) -> !cute.any
    func.func private @clear(!cute.any)
    func.func private @fill(!cute.any) attributes {cute.parameters = {D = "integer", T = "type"}}
    // Given %copy: !cute.any, %tensor: !cute.any, %thread: !cute.coord<"?">
    %part = cute.call @part(%copy, %tensor, %thread)
    cute.call @clear(%part)
    cute.call @fill<{D = 64, T = f16}>(%part)
    ```

    [kernels.md](kernels.md) has functions that are called so.
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, OptionalAttr<DictionaryAttr>:$parameters,
    Variadic<AnyType>:$args);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = [{
    $callee (`` `<` $parameters^ `>`)? `` `(` $args `)` attr-dict `:`
    functional-type($args, $results) }];
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::verifySymbolUses(::mlir::SymbolTableCollection &) {
      return ::cute::verifySymbols(*this);
    }
  }];
  let opDocGroup = Cute_Functions;
}

// What it does is to no memory; but without an effect it would be dead, and calls of what it imports of nothing.
def Cute_ImportOp : Cute_Op<"import", [MemoryEffects<[MemWrite]>]> {
  let summary = "Functions of the library or of a file, for the kernels of a GPU module";
  let description = [{
    Lets kernels and functions of the `gpu.module` that it stands in call functions by `cute.call`. A name that ends in `.mlir` is the path of a file;
    any other one is a part of the library that comes with the compiler. [library.md](library.md) has the parts and their functions, and what files are like.

    A relative path starts at the folder of the file that the import is written in, and at the current folder in a text that has no file. A file has `func.func` and
    `cute.import` at its top. Whatever is imported several times, by whatever paths, is taken once.

    Errors: a part that the library does not have; a file that is not there, cannot be read, or holds something else; a file that imports itself; a function
    of a name that the `gpu.module` or another text has as well; outside of a `gpu.module`.

    ```mlir
    cute.import "std/reduce"
    cute.import "../common/scale.mlir"
    ```
  }];
  let arguments = (ins StrAttr:$part);
  let assemblyFormat = "$part attr-dict";
  let opDocGroup = Cute_Functions;
}

def Cute_LaunchOp : Cute_Op<"launch"> {
  let summary = "A launch of a kernel by as many blocks as a shape says";
  let description = [{
    Stands in a function of the host. The shape has the extents of the grid, one to three of them, as `cute.ceil_div` gives them of a
    tensor's shape and a tile's. Blocks have as many threads as `known_block_size` of the kernel says. `cute-inline` makes a
    `gpu.launch_func` of it, which is what to write where a launch is asynchronous.

    `clusters` says how many blocks a cluster has along x, y and z of the grid, at most 8 in all; the grid is a multiple of them.

    Errors: a grid of more than three modes, or of none; clusters of no block or of more than 8; within a kernel; no such kernel; a kernel without `known_block_size`.

    ```mlir
    // Given %x: !cute.memref<f32, gmem, "(?,64):(64,1)">, %grid: !cute.shape<"(?,1)">
    cute.launch @kernels::@scale blocks(%grid) args(%x) : !cute.shape<"(?,1)">, (!cute.memref<f32, gmem, "(?,64):(64,1)">)
    cute.launch @kernels::@scale clusters [2, 1, 1] blocks(%grid) args(%x) : !cute.shape<"(?,1)">, (!cute.memref<f32, gmem, "(?,64):(64,1)">)
    ```
  }];
  let arguments = (ins SymbolRefAttr:$kernel, OptionalAttr<DenseI64ArrayAttr>:$clusters, Cute_ShapeType:$grid, Variadic<AnyType>:$args);
  let assemblyFormat = [{ $kernel (`clusters` $clusters^)? `blocks` `(` $grid `)` `args` `(` $args `)` attr-dict `:` qualified(type($grid)) `,`
    `(` type($args) `)` }];
  let opDocGroup = Cute_Functions;
}

def Cute_InstantiateOp : Cute_Op<"instantiate", [NoMemoryEffect]> {
  let summary = "A module with parameters, once more with values for them";
  let description = [{
    Puts what is in a module within this one, `module @name attributes {cute.parameters = ...}`, in its own place: with these values for its
    parameters, and with a suffix behind the names of its functions and GPU modules, so that several of them stand side by side. Parameters
    that are not given have their defaults. Modules that others are made of so are gone behind `cute-instantiate`.
    [kernels.md](kernels.md) has one.

    Errors: no such module; a value of another kind than the parameter's, a parameter that the module does not have, one without a value.

    ```mlir
    cute.instantiate @scale<{D = 128}> as "_128"
    cute.instantiate @scale<{D = 256, T = f16}> as "_256_f16"
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$source, OptionalAttr<DictionaryAttr>:$parameters, StrAttr:$suffix);
  let assemblyFormat = "$source (`` `<` $parameters^ `>`)? `as` $suffix attr-dict";
  let opDocGroup = Cute_Functions;
}

def Cute_DeferredOp : Cute_Op<"deferred"> {
  let summary = "An op of another dialect on values whose types are not known yet";
  let description = [{
    Ops of `arith`, `math`, `vector` and other dialects ask for the types of their operands. Where such a type is open, or names parameters, this op
    stands for one: with its name, its attributes in angle brackets, and its operands. It becomes that op when the types are known, and is
    verified then. Its results are of the types that the op itself infers, unless they are written. It has no regions.

    Errors: a name that no op has; when types are known, those of that op.

    ```mlir
    // Given %x: !cute.any, %y: !cute.any, %s: f32
    %z = cute.deferred "arith.mulf"(%x, %y)
    %v = cute.deferred "vector.broadcast"(%s) -> !cute.vector<"N", f32>
    %m = cute.deferred "vector.reduction"<{kind = #vector.kind<maximumf>}>(%z) -> f32
    ```
  }];
  let arguments = (ins StrAttr:$stands_for, OptionalAttr<DictionaryAttr>:$with, Variadic<AnyType>:$args);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = [{
    $stands_for (`` `<` $with^ `>`)? `` `(` $args `)` attr-dict `:` functional-type($args, $results) }];
  let opDocGroup = Cute_Functions;
}

def Cute_CheckWarpsOp : Cute_Op<"check_warps"> {
  let summary = "A requirement of a function: as many elements as blocks have warps";
  let description = [{
    Says that a tensor, by which the threads of a block exchange a number of each warp, has at least as many elements as blocks have warps; with `exactly`, that it has no more
    either, as where all of it is read. A number behind it, a constant or a parameter, is to be that of the warps. It is verified in a kernel whose `known_block_size`
    says how many threads blocks have, and after `cute-inline` put functions in place of their calls, which takes it away.

    Errors: in such a kernel, another number of elements or of warps.

    ```mlir
    // Given %exchange: !cute.memref<f32, smem, align<16>, "8:1">, %warps: i32
    cute.check_warps(%exchange) {exactly}
    cute.check_warps(%exchange, %warps)
    ```
  }];
  let arguments = (ins Cute_MemRefType:$tensor, Optional<I32>:$warps, UnitAttr:$exactly);
  let assemblyFormat = "`(` operands `)` attr-dict `:` functional-type(operands, results)";
  let opDocGroup = Cute_Functions;
}

def Cute_ParamOp : Cute_Op<"param", [Pure]> {
  let summary = "The integer that a parameter stands for, or a comparison of some";
  let description = [{
    A constant that is known once parameters are: an integer parameter of the function or module around it, or arithmetic on some, as in
    `#cute.param`. It becomes an `arith.constant`. Where no type is written, it is an i32.

    Two of them are compared by `==`, `!=`, `<`, `<=`, `>` and `>=`, types by the first two; that is an i1. An `scf.if` by a condition that is known when a
    function is put in place of its call, or a module is instantiated, is that branch alone which is taken: by comparisons of parameters, by static values
    (`cute.equal`, `cute.get_scalars`), and by arithmetic on these. What the other branch has is neither instantiated nor verified then.

    Errors: a text that is no such arithmetic or comparison; when parameters are known, a value that the type does not hold, and a type that is compared with something else.

    ```mlir
    %d = cute.param "D"
    %threads = cute.param "D/16" : index
    %is_half = cute.param "T == f16"
    scf.if %is_half {
    }
    ```
  }];
  let arguments = (ins StrAttr:$value);
  let results = (outs AnyTypeOf<[I1, I32, I64, Index], "i1, i32, i64 or index">:$result);
  let assemblyFormat = "$value attr-dict `:` type($result)";
  let opDocGroup = Cute_Functions;
}

#endif
