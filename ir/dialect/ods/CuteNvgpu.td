//===- CuteNvgpu.td - NVIDIA's atoms --------------------------------------===//
//
// Part of cute-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CUTE_NVGPU_TD
#define CUTE_NVGPU_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"

def CuteNvgpu_Dialect : Dialect {
  let name = "cute_nvgpu";
  let cppNamespace = "::cute_nvgpu";
  let summary = "NVIDIA's copy and MMA atoms";
  let description = [{
    One type an instruction. Its thread-value layouts stand in the table of the
    `cute-layout` crate, which everything reads.
  }];
  let useDefaultTypePrinterParser = 1;
}

class CuteNvgpu_Type<string name, string mnem> : TypeDef<CuteNvgpu_Dialect, name> {
  let mnemonic = mnem;
  let genVerifyDecl = 1;
}

def CuteNvgpu_UniversalCopyType : CuteNvgpu_Type<"UniversalCopy", "atom.universal_copy"> {
  let summary = "An ordinary load and store of `bits` bits by each thread";
  let description = [{
    ```mlir
    !cute_nvgpu.atom.universal_copy<f16, 128 b>
    ```
  }];
  let parameters = (ins "::mlir::Type":$valType, "int64_t":$bits);
  let assemblyFormat = "`<` $valType `,` $bits `b` `>`";
}

def CuteNvgpu_SimtAsyncCopyType : CuteNvgpu_Type<"SimtAsyncCopy", "atom.simt_async_copy"> {
  let summary = "cp.async from global to shared memory (PTX ISA, cp.async)";
  let description = [{
    `cache = always` is `.ca`, `cache = global` is `.cg`, which copies 16 bytes.

    ```mlir
    !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
    ```
  }];
  let parameters = (ins "::mlir::Type":$valType,
    StringRefParameter<"always or global">:$cache, "int64_t":$bits);
  let assemblyFormat = "`<` $valType `,` `cache` `=` custom<Keyword>($cache) `,` $bits `b` `>`";
}

def CuteNvgpu_LdsmType : CuteNvgpu_Type<"Ldsm", "atom.ldsm"> {
  let summary = "ldmatrix from shared memory (PTX ISA, ldmatrix)";
  let description = [{
    `n` is plain, `t` transposed.

    ```mlir
    !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
    ```
  }];
  let parameters = (ins "::mlir::Type":$valType, StringRefParameter<"matrix shape">:$mode,
    StringRefParameter<"element size">:$pattern, "int64_t":$numMatrices,
    StringRefParameter<"n or t">:$transpose);
  let assemblyFormat = [{
    `<` `val_type` `=` $valType `,` `mode` `=` `<` $mode `>` `,` `sz_pattern` `=`
    custom<Keyword>($pattern) `,` `num_matrices` `=` $numMatrices `,`
    custom<Keyword>($transpose) `>` }];
}

def CuteNvgpu_Sm80MmaType : CuteNvgpu_Type<"Sm80Mma", "sm80.mma"> {
  let summary = "mma.sync of SM80 (PTX ISA, mma)";
  let description = [{
    The element types are those of A, B and the accumulator.

    ```mlir
    !cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >
    ```
  }];
  let parameters = (ins "int64_t":$m, "int64_t":$n, "int64_t":$k,
    "::mlir::Type":$aType, "::mlir::Type":$bType, "::mlir::Type":$accType);
  let assemblyFormat = [{
    `<` custom<ShapeMNK>($m, $n, $k) `,` `elem_type` `=` `(` $aType `,` $bType `,`
        $accType `)` ` ` `>` }];
}

#endif
