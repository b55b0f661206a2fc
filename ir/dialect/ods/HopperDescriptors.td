//===- HopperDescriptors.td - operands of wgmma as descriptors ------------===//
//
// Part of cute-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CUTE_HOPPER_DESCRIPTORS_TD
#define CUTE_HOPPER_DESCRIPTORS_TD

include "CuteAttrs.td"
include "CuteNvgpu.td"
include "CuteTypes.td"
include "HopperOps.td"

def CuteNvgpu_Descriptors : Cute_Group<"Descriptors of a warpgroup's operands", [{
  `wgmma` is told of an operand in shared memory by 64 bits: where it starts, and which of the canonical arrangements it has (PTX ISA, "Matrix descriptor format").
  A descriptor is a start that steps: `cute.add_offset` moves it by units of 16 bytes, and `cute.make_view` of it and a layout is a view of descriptors,
  one for each atom of an operand, `(1,M,K)`, whose strides are in these units. Views are sliced as tensors are, and products take them in place of partitions.
  One step along K of an operand with K next to each other is 32 bytes, 2 units.
}]>;

def CuteNvgpu_SmemDescType : CuteNvgpu_Type<"SmemDesc", "smem_desc"> {
  let summary = "A descriptor of an operand of a warpgroup's product in shared memory";
  let description = [{
    ```mlir
    !cute_nvgpu.smem_desc
    ```
  }];
  let genVerifyDecl = 0;
}

def CuteNvgpu_SmemDescViewType : CuteNvgpu_Type<"SmemDescView", "smem_desc_view"> {
  let summary = "Descriptors, one for each atom of an operand";
  let description = [{
    The layout goes from atoms to units of 16 bytes.

    ```mlir
    !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1,2,4):(0,512,2)">
    ```
  }];
  let parameters = (ins "::mlir::Type":$iter, StringRefParameter<"layout">:$layout);
  let assemblyFormat = "`<` $iter `,` custom<LayoutText>($layout) `>`";
}

def CuteNvgpu_MajorAttr : AttrDef<CuteNvgpu_Dialect, "Major"> {
  let mnemonic = "major";
  let summary = "The mode of an operand along which its elements are next to each other";
  let description = [{
    `k`, or `mn` of M and N.

    ```mlir
    #cute_nvgpu.major<k>
    ```
  }];
  let parameters = (ins StringRefParameter<"k or mn">:$mode);
  let assemblyFormat = "`<` custom<Keyword>($mode) `>`";
}

def CuteNvgpu_MakeGmmaSmemDescOp : CuteNvgpu_Op<"make_gmma_smem_desc", [Pure]> {
  let summary = "A descriptor of the operand of an atom of a warpgroup that starts at a pointer";
  let description = [{
    `layout` is that of a partition, `((MN,K),...)` in elements: its first mode, the operand of one atom, has to be one of the canonical arrangements, with the swizzle
    of the pointer; another is an error that says which would do. `major` says along which mode elements are next to each other. `cute.mma.make_fragment` makes
    descriptors of a whole partition.

    ```mlir
    // Given %p: !cute.ptr<f16, smem, align<1024>, S<3,4,3>>
    %d = cute_nvgpu.make_gmma_smem_desc(%p : !cute.ptr<f16, smem, align<1024>, S<3,4,3>>) layout = <"((64,16),2,4):((64,1),4096,16)">, major = <k> -> !cute_nvgpu.smem_desc
    %view = cute.make_view(%d) : !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1,2,4):(0,512,2)">
    ```
  }];
  let arguments = (ins Cute_PtrType:$iter, Cute_LayoutAttr:$layout, CuteNvgpu_MajorAttr:$major);
  let results = (outs Cute_SmemDescType:$descriptor);
  let assemblyFormat = [{ `(` $iter `:` qualified(type($iter)) `)` `layout` `=` $layout `,` `major` `=` $major attr-dict
    `->` type($descriptor) }];
  let opDocGroup = CuteNvgpu_Descriptors;
}

#endif
