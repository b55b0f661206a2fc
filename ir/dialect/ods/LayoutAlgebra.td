//===- LayoutAlgebra.td - composition, complement, inverses, and slices ---===//
//
// Part of cute-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CUTE_LAYOUT_ALGEBRA_TD
#define CUTE_LAYOUT_ALGEBRA_TD

include "CuteTypes.td"

def Cute_LayoutAlgebra : Cute_Group<"Layout algebra", [{
  Functions of layouts. A result is the right function, or there is an error: what
  cannot be written as a layout is refused, with a coordinate that shows it.

  An op on a composed layout `A o offset o B` works on B, and gives a plain layout
  where A and the offset turn out to do nothing.
}]>;

class Cute_AlgebraOp<string mnemonic> : Cute_InferredOp<mnemonic, [Pure]> {
  let opDocGroup = Cute_LayoutAlgebra;
}

def Cute_CompositionOp : Cute_AlgebraOp<"composition"> {
  let summary = "The layout R with R(c) = lhs(rhs(c))";
  let description = [{
    A layout on the right is a function; a shape or a tile works mode by mode, where
    `_` keeps the mode. The left side counts as continued beyond its domain by its
    last mode.

    Postcondition: the result's shape is congruent to the right side's, or finer.

    Errors: no layout is that function; the message has a coordinate at which every
    candidate differs. With dynamic leaves, what does not follow from the static
    ones is inferred as CuTe does, and dynamic.

    ```mlir
    // Given %a: !cute.layout<"(6,2):(8,2)">, %b: !cute.layout<"(4,3):(3,1)">
    %r = cute.composition(%a, %b) : (!cute.layout<"(6,2):(8,2)">, !cute.layout<"(4,3):(3,1)">) -> !cute.layout<"((2,2),3):((24,2),8)">
    ```
  }];
  let arguments = (ins Cute_LayoutOrTensorType:$lhs, Cute_TilerType:$rhs);
  let results = (outs Cute_LayoutOrTensorType:$result);
  let assemblyFormat = [{ `(` $lhs `,` $rhs `)` attr-dict `:`
    functional-type(operands, results) }];
}

def Cute_CoalesceOp : Cute_AlgebraOp<"coalesce"> {
  let summary = "The same function of an integer with as few modes as can be";
  let description = [{
    Neighbouring modes `s0:d0` and `s1:s0*d0` become `s0*s1:d0`, and modes of size 1
    go. With a profile, each mode that it names is coalesced by itself, and so
    stays one mode.

    Precondition: no tuple in the profile has more modes than the layout there.

    Postcondition: the size is kept, and so is the value at every integer below it.

    ```mlir
    // Given %l: !cute.layout<"(2,(1,6)):(1,(6,2))">, %p: !cute.coord<"(1,1)">
    %a = cute.coalesce(%l) : (!cute.layout<"(2,(1,6)):(1,(6,2))">) -> !cute.layout<"12:1">
    %b = cute.coalesce(%l, %p) : (!cute.layout<"(2,(1,6)):(1,(6,2))">, !cute.coord<"(1,1)">) -> !cute.layout<"(2,6):(1,2)">
    ```
  }];
  let arguments = (ins Cute_LayoutOrTensorType:$input, Optional<Cute_CoordType>:$target_profile);
  let results = (outs Cute_LayoutOrTensorType:$result);
  let assemblyFormat = [{ `(` $input (`,` $target_profile^)? `)` attr-dict `:`
    functional-type(operands, results) }];
}

def Cute_FlattenOp : Cute_AlgebraOp<"flatten"> {
  let summary = "The same leaves without nesting";
  let description = [{
    A single leaf stays a leaf.

    ```mlir
    // Given %l: !cute.layout<"((2,3),4):((1,?),8)">
    %f = cute.flatten(%l) : (!cute.layout<"((2,3),4):((1,?),8)">) -> !cute.layout<"(2,3,4):(1,?,8)">
    ```
  }];
  let arguments = (ins Cute_IndexableOrTensorType:$input);
  let results = (outs Cute_IndexableOrTensorType:$result);
  let assemblyFormat = "`(` $input `)` attr-dict `:` functional-type(operands, results)";
}

def Cute_ComplementOp : Cute_AlgebraOp<"complement"> {
  let summary = "A layout of the offsets that a layout leaves out";
  let description = [{
    Its offsets are increasing and, but for 0, none of the input's; input and
    complement side by side reach all offsets below the size of the cotarget,
    or, without one, below the input's own cosize. Of a layout as the cotarget
    only the shape counts.

    Precondition: static strides, unless the input has but one mode; integer ones
    where there is a cotarget; without one, a static layout.

    Errors: an input that takes two coordinates to one offset, or whose offsets
    interleave, so that no layout fills the gaps.

    ```mlir
    // Given %l: !cute.layout<"3:2">, %s: !cute.shape<"24">
    %c = cute.complement(%l, %s) : (!cute.layout<"3:2">, !cute.shape<"24">) -> !cute.layout<"(2,4):(1,6)">
    ```
  }];
  let arguments = (ins Cute_LayoutType:$input, Optional<Cute_ShapeOrLayoutType>:$cotarget);
  let results = (outs Cute_LayoutType:$result);
  let assemblyFormat = [{ `(` $input (`,` $cotarget^)? `)` attr-dict `:`
    functional-type(operands, results) }];
}

def Cute_GroupModesOp : Cute_AlgebraOp<"group_modes"> {
  let summary = "Modes [begin, end) as one mode";
  let description = [{
    Precondition: 0 <= begin < end <= rank.

    ```mlir
    // Given %l: !cute.layout<"(2,3,4):(1,2,6)">
    %g = cute.group_modes<1, 3>(%l) : (!cute.layout<"(2,3,4):(1,2,6)">) -> !cute.layout<"(2,(3,4)):(1,(2,6))">
    ```
  }];
  let arguments = (ins Cute_LayoutOrTensorType:$input, I32Attr:$begin, I32Attr:$end);
  let results = (outs Cute_LayoutOrTensorType:$result);
  let assemblyFormat = [{ `<` $begin `,` $end `>` `(` $input `)` attr-dict `:`
    functional-type($input, $result) }];
}

def Cute_RecastLayoutOp : Cute_AlgebraOp<"recast_layout"> {
  let summary = "The layout of the same bits as elements of another width";
  let description = [{
    `<new, old>` are the widths in bits. Where new is R times old, strides are
    divided by R and the mode of stride 1 shrinks; where old is R times new, strides
    are multiplied by R and that mode grows. Otherwise it is recast by way of a width
    that both divide. The swizzle of a composed layout moves by log2(R) bits.

    Precondition: positive widths; integer strides; a composed layout's offset is
    static and, to a wider type, divisible.

    Errors: a stride or an extent that the wider type does not divide.

    ```mlir
    // Given %l: !cute.layout<"(32,4):(1,32)">
    %r = cute.recast_layout<32, 8>(%l) : !cute.layout<"(32,4):(1,32)"> -> !cute.layout<"(8,4):(1,8)">
    ```
  }];
  let arguments = (ins I32Attr:$new_type_bits, I32Attr:$old_type_bits, Cute_AnyLayoutType:$src);
  let results = (outs Cute_AnyLayoutType:$dst);
  let assemblyFormat = [{ `<` $new_type_bits `,` $old_type_bits `>` `(` $src `)` attr-dict `:`
    qualified(type($src)) `->` qualified(type($dst)) }];
}

def Cute_SliceOp : Cute_AlgebraOp<"slice"> {
  let summary = "The modes at `_` of a coordinate";
  let description = [{
    Modes at an integer go; in a composed layout and in a tensor they move the offset,
    or the start. Within a tuple of the coordinate the rule is applied again, and
    what is left joins the modes outside.

    Precondition: the coordinate is weakly congruent to the input. Under a swizzle,
    the outer layout is static, and the coordinate has a `_`.

    Of a tensor the result keeps the element type and the memory space, and as much
    of the alignment as every start has.

    ```mlir
    // Given %l: !cute.layout<"(2,3,4):(1,2,6)">, %c: !cute.coord<"(_,1,_)">
    // Given %t: !cute.memref<f16, gmem, "(128,32,2):(64,1,32)">, %d: !cute.coord<"(_,_,?)">
    %s = cute.slice(%l, %c) : !cute.layout<"(2,3,4):(1,2,6)">, !cute.coord<"(_,1,_)">
    %u = cute.slice(%t, %d) : !cute.memref<f16, gmem, "(128,32,2):(64,1,32)">, !cute.coord<"(_,_,?)">
    ```
  }];
  let arguments = (ins Cute_SliceableType:$input, Cute_CoordType:$coord);
  let results = (outs Cute_SliceableType:$result);
  let assemblyFormat = "`(` operands `)` attr-dict `:` type(operands)";
}

def Cute_DiceOp : Cute_AlgebraOp<"dice"> {
  let summary = "The modes at the integers of a coordinate";
  let description = [{
    What `cute.slice` drops. The integers themselves do not count, and a composed
    layout keeps its offset.

    The coordinate is an operand or an attribute.

    Precondition: the coordinate is static and weakly congruent to the input.

    ```mlir
    // Given %l: !cute.layout<"(2,3,4):(1,2,6)">, %c: !cute.coord<"(0,_,0)">
    %d = cute.dice(%l, %c) : !cute.layout<"(2,3,4):(1,2,6)">, !cute.coord<"(0,_,0)">
    ```
  }];
  let arguments = (ins Cute_TupleOrLayoutType:$input, Optional<Cute_CoordType>:$at,
                       OptionalAttr<Cute_CoordAttr>:$coord);
  let results = (outs Cute_TupleOrLayoutType:$result);
  let assemblyFormat = "`(` operands `)` attr-dict `:` type(operands)";
}

def Cute_RightInverseOp : Cute_AlgebraOp<"right_inverse"> {
  let summary = "The largest layout R with L(R(i)) = i";
  let description = [{
    For as many i, from 0 on, as the layout reaches without a gap: the result may be
    smaller than the layout.

    Modes of dynamic stride are passed over, and behind a mode of dynamic extent it is
    not known which comes next: `(16,?):(1,16)` has itself as its inverse, `(?,16):(1,16)`
    has `?:1`.

    Precondition: a static shape where strides are basis elements.

    ```mlir
    // Given %l: !cute.layout<"(4,8):(8,1)">
    %r = cute.right_inverse(%l) : (!cute.layout<"(4,8):(8,1)">) -> !cute.layout<"(8,4):(4,1)">
    ```
  }];
  let arguments = (ins Cute_LayoutType:$input);
  let results = (outs Cute_LayoutType:$result);
  let assemblyFormat = "`(` $input `)` attr-dict `:` functional-type(operands, results)";
}

def Cute_LeftInverseOp : Cute_AlgebraOp<"left_inverse"> {
  let summary = "A layout R with R(L(i)) = i";
  let description = [{
    At offsets that the layout does not reach, R is what its form gives there.

    Precondition: a static layout that takes no two coordinates to one offset, but
    for modes of stride 0.

    ```mlir
    // Given %l: !cute.layout<"(4,8):(8,1)">
    %r = cute.left_inverse(%l) : (!cute.layout<"(4,8):(8,1)">) -> !cute.layout<"(8,4):(4,1)">
    ```
  }];
  let arguments = (ins Cute_LayoutType:$input);
  let results = (outs Cute_LayoutType:$result);
  let assemblyFormat = "`(` $input `)` attr-dict `:` functional-type(operands, results)";
}

#endif
