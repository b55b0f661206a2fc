//===- DslOps.td - integers with facts, and what else kernels of the DSL use ===//
//
// Part of cute-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CUTE_DSL_OPS_TD
#define CUTE_DSL_OPS_TD

include "CuteTypes.td"

def Cute_Facts : Cute_Group<"Facts", [{
  What is known of a value beside what is computed.
}]>;

def Cute_AssumeOp : Cute_Op<"assume", [Pure]> {
  let summary = "An integer of which a divisor is known";
  let description = [{
    A promise: a kernel that is given another number has no meaning.

    ```mlir
    // Given %x: i32
    %y = cute.assume(%x) : (i32) -> !cute.i32<divby 8>
    %o = cute.make_int_tuple(%y) : (!cute.i32<divby 8>) -> !cute.int_tuple<"?{div=8}">
    ```
  }];
  let arguments = (ins Cute_ScalarType:$value);
  let results = (outs Cute_ScalarType:$result);
  let assemblyFormat = "`(` $value `)` attr-dict `:` functional-type($value, $result)";
  let opDocGroup = Cute_Facts;
}

def Cute_DerefineOp : Cute_Op<"derefine", [Pure]> {
  let summary = "The same value with less in its type";
  let description = [{
    Numbers that the operand's type says may be `?` in the result's, divisors and alignments
    smaller.

    ```mlir
    // Given %c: !cute.coord<"(0,?{div=8})">
    %d = cute.derefine(%c) : !cute.coord<"(0,?{div=8})"> to !cute.coord<"(?,?)">
    ```
  }];
  let arguments = (ins AnyType:$value);
  let results = (outs AnyType:$result);
  let assemblyFormat = "`(` $value `)` attr-dict `:` qualified(type($value)) `to` qualified(type($result))";
  let opDocGroup = Cute_Facts;
}

def Cute_SmCountOp : Cute_Op<"sm_count", [Pure]> {
  let summary = "The number of multiprocessors of the device that a function launches kernels on";
  let description = [{
    It is read when the function is called, from the device that runs it: one package has a grid for
    each GPU. It is for host functions, whose launches pass it on as a size or as a number; a kernel
    knows its grid.

    ```mlir
    // A persistent grid: a block for each multiprocessor, and no more than there are tiles.
    // Given %tiles: index
    %sms = cute.sm_count() : index
    %blocks = arith.minsi %sms, %tiles : index
    ```
  }];
  let arguments = (ins);
  let results = (outs Index:$count);
  let assemblyFormat = "`(` `)` attr-dict `:` type($count)";
  let opDocGroup = Cute_Facts;
}

def Cute_ComputeValuesOp : Cute_Op<"compute_values"> {
  let summary = "Integers that an entry of `cute.computes` leaves open";
  let description = [{
    `cute.computes` of a host function says what it computes, as attributes, which hold no values. Coordinates of `at_a`, `at_b` or
    `at_c` that only a launch knows stand here: the dynamic leaves of the start, the shape and the strides, in that order, of the entry of that
    name of the compute of that index. `cute-tile` leaves them.

    ```mlir
    // Given %n: i32
    cute.compute_values(%n) of 0 "at_a" : i32
    ```
  }];
  let arguments = (ins Variadic<AnySignlessIntegerOrIndex>:$values, I64Attr:$compute, StrAttr:$entry);
  let assemblyFormat = "`(` $values `)` `of` $compute $entry attr-dict `:` type($values)";
  let opDocGroup = Cute_Facts;
}

def Cute_ComputeViewOp : Cute_Op<"compute_view"> {
  let summary = "A tensor of `cute.computes` that is no argument of the function";
  let description = [{
    Entries of `cute.computes` name tensors by the index of an argument. A tensor in a `cute.workspace`, and a view of an argument, has an index behind these, which
    this op gives it: with its type, the pointer at which it begins, and the integers that are the dynamic leaves of its layout, those of the shape before those of
    the strides. A package says then where the tensor is (`docs/package.md`), so that the ops that write and read it are verified. `cute-tile` leaves these ops.

    ```mlir
    // Given %p: !cute.ptr<f16, gmem, align<256>>, %n: i32
    cute.compute_view 3 !cute.memref<f16, gmem, align<256>, "(?,64):(64,1)"> (%p : !cute.ptr<f16, gmem, align<256>>) leaves(%n : i32)
    ```
  }];
  let arguments = (ins Cute_PtrType:$start, Variadic<AnySignlessIntegerOrIndex>:$leaves, I64Attr:$index, TypeAttr:$tensor);
  let assemblyFormat = "$index $tensor `(` $start `:` qualified(type($start)) `)` (`leaves` `(` $leaves^ `:` type($leaves) `)`)? attr-dict";
  let opDocGroup = Cute_Facts;
}

def Cute_ComputeHereOp : Cute_Op<"compute_here"> {
  let summary = "The place of what an entry of `cute.computes` is about";
  let description = [{
    What the compute of that index says takes place where this op is executed: in a branch of an `scf.if`, on its condition. A compute that no such op is about always takes
    place. `cute-tile` leaves these ops in branches.

    ```mlir
    cute.compute_here 0
    ```
  }];
  let arguments = (ins I64Attr:$compute);
  let assemblyFormat = "$compute attr-dict";
  let opDocGroup = Cute_Facts;
}

def Cute_PtrToIntOp : Cute_Op<"ptrtoint", [Pure]> {
  let summary = "A pointer's address";
  let description = [{
    i32 in shared memory, where addresses count from the start of the block's window; i64 in
    global memory. A swizzle is left out: it is applied to the address of each access.

    ```mlir
    // Given %p: !cute.ptr<f16, gmem>
    %i = cute.ptrtoint(%p) : !cute.ptr<f16, gmem> to i64
    ```
  }];
  let arguments = (ins Cute_PtrType:$pointer);
  let results = (outs AnyTypeOf<[I32, I64]>:$address);
  let assemblyFormat = "`(` $pointer `)` attr-dict `:` qualified(type($pointer)) `to` type($address)";
  let opDocGroup = Cute_Facts;
}

def Cute_IntToPtrOp : Cute_Op<"inttoptr", [Pure]> {
  let summary = "The pointer to an address";
  let description = [{
    ```mlir
    // Given %i: i64
    %a = cute.assume(%i) : (i64) -> !cute.i64<divby 16>
    %p = cute.inttoptr(%a) : !cute.i64<divby 16> to !cute.ptr<f16, gmem, align<16>>
    ```
  }];
  let arguments = (ins Cute_ScalarType:$address);
  let results = (outs Cute_PtrType:$pointer);
  let assemblyFormat = "`(` $address `)` attr-dict `:` type($address) `to` qualified(type($pointer))";
  let opDocGroup = Cute_Facts;
}

class Cute_TupleOp<string mnemonic> : Cute_InferredOp<mnemonic, [Pure]> {
  let arguments = (ins Cute_ArithTupleType:$lhs, Cute_ArithTupleType:$rhs);
  let results = (outs Cute_ArithTupleType:$result);
  let assemblyFormat = "`(` operands `)` attr-dict `:` functional-type(operands, results)";
  let opDocGroup = Cute_Facts;
}

def Cute_TupleMulOp : Cute_TupleOp<"tuple_mul"> {
  let summary = "The product, leaf by leaf";
  let description = [{
    An integer beside a tuple counts for each leaf.

    ```mlir
    // Given %a: !cute.int_tuple<"(2,?)">, %b: !cute.int_tuple<"(3,8)">
    %c = cute.tuple_mul(%a, %b) : (!cute.int_tuple<"(2,?)">, !cute.int_tuple<"(3,8)">) -> !cute.int_tuple<"(6,?{div=8})">
    ```
  }];
}

class Cute_TupleDivisionOp<string mnemonic> : Cute_DivisionOp<mnemonic> {
  let arguments = (ins Cute_ArithTupleType:$lhs, Cute_ArithTupleType:$rhs);
  let results = (outs Cute_ArithTupleType:$result);
  let assemblyFormat = "`(` operands `)` attr-dict `:` functional-type(operands, results)";
  let opDocGroup = Cute_Facts;
}

def Cute_TupleDivOp : Cute_TupleDivisionOp<"tuple_div"> {
  let summary = "The quotient rounded towards zero, leaf by leaf";
  let description = [{
    Errors: a divisor that is known to be 0.

    ```mlir
    // Given %a: !cute.int_tuple<"(9,?)">, %b: !cute.int_tuple<"2">
    %c = cute.tuple_div(%a, %b) : (!cute.int_tuple<"(9,?)">, !cute.int_tuple<"2">) -> !cute.int_tuple<"(4,?)">
    ```
  }];
}

def Cute_TupleModOp : Cute_TupleDivisionOp<"tuple_mod"> {
  let summary = "The remainder with the dividend's sign, leaf by leaf";
  let description = [{
    Errors: a divisor that is known to be 0.

    ```mlir
    // Given %a: !cute.int_tuple<"(9,?)">, %b: !cute.int_tuple<"2">
    %c = cute.tuple_mod(%a, %b) : (!cute.int_tuple<"(9,?)">, !cute.int_tuple<"2">) -> !cute.int_tuple<"(1,?)">
    ```
  }];
}

class Cute_DottedProductOp<string mnemonic> : Cute_InferredOp<mnemonic, [Pure]> {
  let arguments = (ins Cute_ArithTupleType:$input);
  let results = (outs Cute_ArithTupleType:$result);
  let assemblyFormat = "`(` $input `)` attr-dict `:` functional-type($input, $result)";
  let opDocGroup = Cute_Facts;
}

def Cute_DottedProductAllOp : Cute_DottedProductOp<"tuple.product"> {
  let summary = "Another name of `cute.tuple_product`";
  let description = [{
    ```mlir
    // Given %s: !cute.int_tuple<"(2,(3,4))">
    %p = cute.tuple.product(%s) : (!cute.int_tuple<"(2,(3,4))">) -> !cute.int_tuple<"24">
    ```
  }];
}

def Cute_DottedProductEachOp : Cute_DottedProductOp<"tuple.product_each"> {
  let summary = "Another name of `cute.tuple_product_each`";
  let description = [{
    ```mlir
    // Given %s: !cute.int_tuple<"(2,(3,4))">
    %p = cute.tuple.product_each(%s) : (!cute.int_tuple<"(2,(3,4))">) -> !cute.int_tuple<"(2,12)">
    ```
  }];
}

def Cute_FilterOp : Cute_InferredOp<"filter", [Pure]> {
  let summary = "A layout without modes of size 1 or stride 0";
  let description = [{
    Coalesced. It reaches the same offsets, each as often as its strides that are not 0 do.

    ```mlir
    // Given %l: !cute.layout<"(4,8,2):(0,1,8)">
    %f = cute.filter(%l) : !cute.layout<"(4,8,2):(0,1,8)">
    ```
  }];
  let arguments = (ins Cute_LayoutType:$input);
  let results = (outs Cute_LayoutType:$result);
  let assemblyFormat = "`(` $input `)` attr-dict `:` qualified(type($input))";
  let opDocGroup = Cute_Facts;
}

#endif
