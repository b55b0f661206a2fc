//===- HopperAtoms.td - atoms of TMA as CuTe DSL has them -----------------===//
//
// Part of cute-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CUTE_HOPPER_ATOMS_TD
#define CUTE_HOPPER_ATOMS_TD

include "CuteNvgpu.td"
include "CuteTypes.td"
include "HopperOps.td"

def CuteNvgpu_DslTma : Cute_Group<"Atoms of TMA as CuTe DSL has them", [{
  CuTe DSL tells a tensor map that a launch passes from the atom that copies by it. `cute-read-dsl`, which `--cute-compile` runs, makes of both the atoms that
  are used here, `!cute_nvgpu.atom.tma_load` and `tma_store`, which say their swizzle, and of `cute.copy` by them `cute_nvgpu.tma_load` and `tma_store`.
}]>;

class CuteNvgpu_NonExecTmaType<string name, string mnem, string example> : CuteNvgpu_Type<name, mnem> {
  let description = [{
    `copy_bits` and `tma_gbasis` are those of `!cute_nvgpu.atom.tma_load`. What stands behind them, `internal_val_type` or `tma_format`, follows from the type of the
    elements, and is kept as it is written.

    ```mlir
    }] # example # [{
    ```
  }];
}

def CuteNvgpu_NonExecTmaLoadType : CuteNvgpu_NonExecTmaType<"NonExecTmaLoad", "atom.non_exec_tiled_tma_load",
    "!cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90, f16, copy_bits = 131072, tma_gbasis = <\"(64,128):(1@1,1@0)\">, internal_val_type = f16>"> {
  let summary = "A tensor map for loads, as a launch passes it";
  let parameters = (ins StringRefParameter<"sm_90">:$arch, "::mlir::Type":$valType, "int64_t":$bits, StringRefParameter<"box">:$basis,
                        StringRefParameter<"format, or nothing">:$format);
  let assemblyFormat = [{ `<` custom<Keyword>($arch) `,` $valType `,` `copy_bits` `=` $bits `,` `tma_gbasis` `=` `<` $basis `>`
    `` custom<MapFormat>($format) `>` }];
}

def CuteNvgpu_NonExecTmaStoreType : CuteNvgpu_NonExecTmaType<"NonExecTmaStore", "atom.non_exec_tiled_tma_store",
    "!cute_nvgpu.atom.non_exec_tiled_tma_store<f16, copy_bits = 131072, tma_gbasis = <\"(64,128):(1@1,1@0)\">, tma_format = F16_RN>"> {
  let summary = "A tensor map for stores, as a launch passes it";
  let parameters = (ins "::mlir::Type":$valType, "int64_t":$bits, StringRefParameter<"box">:$basis, StringRefParameter<"format, or nothing">:$format);
  let assemblyFormat = [{ `<` $valType `,` `copy_bits` `=` $bits `,` `tma_gbasis` `=` `<` $basis `>` `` custom<MapFormat>($format) `>` }];
}

def CuteNvgpu_NonExecTmaLoad : Type<CPred<"::llvm::isa<::cute_nvgpu::NonExecTmaLoadType>($_self)">, "a tensor map for loads">;
def CuteNvgpu_NonExecTmaStore : Type<CPred<"::llvm::isa<::cute_nvgpu::NonExecTmaStoreType>($_self)">, "a tensor map for stores">;
def CuteNvgpu_NonExecTma : AnyTypeOf<[CuteNvgpu_NonExecTmaLoad, CuteNvgpu_NonExecTmaStore], "a tensor map, !cute_nvgpu.atom.non_exec_tiled_tma_load or its like">;

def CuteNvgpu_TmaLoadFieldAttr : CuteNvgpu_FieldAttr<"TmaLoadField", "atom_copy_field_tmaload", "tma_bar">;
def CuteNvgpu_TmaStoreFieldAttr : CuteNvgpu_FieldAttr<"TmaStoreField", "atom_copy_field_tmastore", "cache_policy">;

def CuteNvgpu_TiledTmaLoadAttr : AttrDef<CuteNvgpu_Dialect, "TiledTmaLoad"> {
  let mnemonic = "tiled_tma_load";
  let summary = "The instruction of a tensor map for loads";
  let description = [{
    ```mlir
    #cute_nvgpu.tiled_tma_load<sm_90>
    ```
  }];
  let parameters = (ins StringRefParameter<"sm_90">:$arch);
  let assemblyFormat = "`<` custom<Keyword>($arch) `>`";
}

class CuteNvgpu_MakeNonExecOp<string mnemonic, Type atom> : CuteNvgpu_Op<mnemonic, [NoMemoryEffect]> {
  let results = (outs atom:$atom, Cute_CoordTensorType:$coords);
  let opDocGroup = CuteNvgpu_DslTma;
}

def CuteNvgpu_MakeNonExecTiledTmaLoadOp : CuteNvgpu_MakeNonExecOp<"atom.make_non_exec_tiled_tma_load", CuteNvgpu_NonExecTmaLoad> {
  let summary = "A tensor map that loads tiles of a tensor, and the tensor's coordinates";
  let description = [{
    The layout is that of a tile in shared memory, and `tile` goes from it to the modes of the tensor: `(128,64):(1@0,1@1)`. `num_multicast` blocks share a tile.

    ```mlir
    !mat = !cute.memref<f16, gmem, align<16>, "(?,?):(?{div=8},1)">
    !map = !cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90, f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, internal_val_type = f16>
    // Given %A: !mat, %layout: !cute.composed_layout<"S<3,4,3> o 0 o (128,64):(64,1)">, %tile: !cute.layout<"(128,64):(1@0,1@1)">
    %map, %coords = cute_nvgpu.atom.make_non_exec_tiled_tma_load(%A, %layout, %tile) <{kind = <sm_90> num_multicast = 1}>
      : (!mat, !cute.composed_layout<"S<3,4,3> o 0 o (128,64):(64,1)">, !cute.layout<"(128,64):(1@0,1@1)">) -> (!map, !cute.coord_tensor<"(0,0)", "(?,?):(1@1,1@0)">)
    ```
  }];
  let arguments = (ins Cute_MemRefType:$tensor, Cute_AnyLayoutType:$layout, Cute_LayoutType:$tile, CuteNvgpu_TiledTmaLoadAttr:$kind, I32Attr:$num_multicast);
  let assemblyFormat = [{ `(` $tensor `,` $layout `,` $tile `)` `<` `{` `kind` `=` $kind `num_multicast` `=` custom<Plain>($num_multicast) `}` `>` attr-dict
    `:` functional-type(operands, results) }];
}

def CuteNvgpu_MakeNonExecTiledTmaStoreOp : CuteNvgpu_MakeNonExecOp<"atom.make_non_exec_tiled_tma_store", CuteNvgpu_NonExecTmaStore> {
  let summary = "A tensor map that stores tiles of a tensor, and the tensor's coordinates";
  let description = [{
    As `cute_nvgpu.atom.make_non_exec_tiled_tma_load`.

    ```mlir
    !mat = !cute.memref<f16, gmem, align<16>, "(?,?):(?{div=8},1)">
    !map = !cute_nvgpu.atom.non_exec_tiled_tma_store<f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, internal_val_type = f16>
    // Given %C: !mat, %layout: !cute.layout<"(128,64):(64,1)">, %tile: !cute.layout<"(128,64):(1@0,1@1)">
    %map, %coords = cute_nvgpu.atom.make_non_exec_tiled_tma_store(%C, %layout, %tile)
      : (!mat, !cute.layout<"(128,64):(64,1)">, !cute.layout<"(128,64):(1@0,1@1)">) -> (!map, !cute.coord_tensor<"(0,0)", "(?,?):(1@1,1@0)">)
    ```
  }];
  let arguments = (ins Cute_MemRefType:$tensor, Cute_AnyLayoutType:$layout, Cute_LayoutType:$tile);
  let assemblyFormat = "`(` operands `)` attr-dict `:` functional-type(operands, results)";
}

def CuteNvgpu_MakeExecTmaOp : CuteNvgpu_Op<"atom.make_exec_tma", [Pure]> {
  let summary = "The atom that copies by a tensor map";
  let description = [{
    `cute_nvgpu.atom.set_value` says of a load on which mbarrier its bytes count, `tma_bar`, and `cute.copy` by the atom copies.

    ```mlir
    !map = !cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90, f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, internal_val_type = f16>
    !tma = !cute_nvgpu.atom.tma_load<f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">>
    // Given %map: !map, %bar: !cute.ptr<i64, smem>
    %atom = cute_nvgpu.atom.make_exec_tma(%map) : (!map) -> !tma
    %on = cute_nvgpu.atom.set_value(%atom, %bar : !cute.ptr<i64, smem>) {field = #cute_nvgpu.atom_copy_field_tmaload<tma_bar>} : !tma
    ```
  }];
  let arguments = (ins CuteNvgpu_NonExecTma:$map);
  let results = (outs AnyTypeOf<[CuteNvgpu_TmaLoad, CuteNvgpu_TmaStore]>:$atom);
  let assemblyFormat = "`(` $map `)` attr-dict `:` functional-type(operands, results)";
  let opDocGroup = CuteNvgpu_DslTma;
}

def CuteNvgpu_TmaPartitionOp : CuteNvgpu_Op<"atom.tma_partition", [Pure]> {
  let summary = "A tile in shared memory, and its coordinates, with the box of a tensor map as the first mode";
  let description = [{
    Mode 0 of both is the tile that one copy moves; what the others are stays. The layout is that of the blocks that share the tile, and the coordinate the one of this block
    among them: one block, `1:0` and 0.

    ```mlir
    !map = !cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90, f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, internal_val_type = f16>
    !sA = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((128,64),4):((64,1),8192)">
    !gA = !cute.coord_tensor<"(0,?)", "((128,64),?):((1@1,1@0),64@0)">
    // Given %map: !map, %block: !cute.coord<"0">, %blocks: !cute.layout<"1:0">, %sA: !sA, %gA: !gA
    %s, %g = cute_nvgpu.atom.tma_partition(%map, %block, %blocks, %sA, %gA) : (!map, !cute.coord<"0">, !cute.layout<"1:0">, !sA, !gA)
      -> (!cute.memref<f16, smem, align<1024>, S<3,4,3>, "((8192,1),4):((1,0),8192)">, !cute.coord_tensor<"(0,?)", "(((64,128),1),?):(((1@0,1@1),0),64@0)">)
    ```
  }];
  let arguments = (ins CuteNvgpu_NonExecTma:$map, Cute_CoordType:$block, Cute_LayoutType:$blocks, Cute_MemRefType:$smem, Cute_CoordTensorType:$coords);
  let results = (outs Cute_MemRefType:$smem_part, Cute_CoordTensorType:$coords_part);
  let assemblyFormat = "`(` operands `)` attr-dict `:` functional-type(operands, results)";
  let opDocGroup = CuteNvgpu_DslTma;
}

#endif
