//===- CuteNvgpu.td - NVIDIA's atoms --------------------------------------===//
//
// Part of cute-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CUTE_NVGPU_TD
#define CUTE_NVGPU_TD

include "CuteBase.td"

def CuteNvgpu_Dialect : Dialect {
  let name = "cute_nvgpu";
  let cppNamespace = "::cute_nvgpu";
  let summary = "NVIDIA's copy and MMA atoms";
  let description = [{
    One type an instruction. Its thread-value layouts stand in the table of the
    `cute-layout` crate, which everything reads.

    Those that are "not lowered yet" are tables only: their layouts can be asked for,
    and a kernel that uses them is refused.
  }];
  let hasNonDefaultDestructor = 1;
  let usePropertiesForAttributes = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;

  let extraClassDeclaration = [{
    /// Rust's, of this dialect in this context.
    void *table = ::cute::newTable();
    template <typename... Ops> void addOperationsWithForms() {
      addOperations<::cute::WithForms<Ops>...>();
    }
    // `CUTE_PARSERS` has these.
    ::mlir::Type parseType(::mlir::DialectAsmParser &parser) const override;
    void printType(::mlir::Type type, ::mlir::DialectAsmPrinter &printer) const override;
    ::mlir::Attribute parseAttribute(::mlir::DialectAsmParser &parser, ::mlir::Type type) const override;
    void printAttribute(::mlir::Attribute attribute, ::mlir::DialectAsmPrinter &printer) const override;
    /// Names what an unknown op may have been meant to be.
    std::optional<ParseOpHook> getParseOperationHook(::llvm::StringRef) const override {
      return ::cute::unknownOperation();
    }
  }];
}

class CuteNvgpu_Type<string name, string mnem> : TypeDef<CuteNvgpu_Dialect, name> {
  let mnemonic = mnem;
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

def CuteNvgpu_UniversalCopyType : CuteNvgpu_Type<"UniversalCopy", "atom.universal_copy"> {
  let summary = "An ordinary load and store by each thread, of as many bits as it says";
  let description = [{
    Without a width, as many elements are moved at once as lie next to each other on
    both sides and are aligned, up to 128 bits.

    ```mlir
    !cute_nvgpu.atom.universal_copy<f16, 128 b>
    !cute_nvgpu.atom.universal_copy<f32>
    ```

    `l1_cache_eviction_priority=no_allocate` is a hint to the cache. It is kept, and not
    lowered: it changes no value.

    State: `cache_policy`, an i64, of copies from and to global memory.
  }];
  let parameters = (ins "::mlir::Type":$valType, "int64_t":$bits,
    StringRefParameter<"eviction priority, or nothing">:$eviction);
  let assemblyFormat = "`<` $valType `` custom<BitsAndEviction>($bits, $eviction) `>`";
}

def CuteNvgpu_SimtAsyncCopyType : CuteNvgpu_Type<"SimtAsyncCopy", "atom.simt_async_copy"> {
  let summary = "cp.async from global to shared memory (PTX ISA, cp.async)";
  let description = [{
    `cache = always` is `.ca`, `cache = global` is `.cg`, which copies 16 bytes.

    ```mlir
    !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
    ```

    State: `cache_policy`, an i64.
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

def CuteNvgpu_StsmType : CuteNvgpu_Type<"Stsm", "atom.stsm"> {
  let summary = "stmatrix to shared memory (PTX ISA, stmatrix)";
  let description = [{
    `n` is plain, `t` transposed.

    ```mlir
    !cute_nvgpu.atom.stsm<f16, mode = <"(8,8)">, num_matrices = 4, n>
    ```
  }];
  let parameters = (ins "::mlir::Type":$valType, StringRefParameter<"matrix shape">:$mode,
    "int64_t":$numMatrices, StringRefParameter<"n or t">:$transpose);
  let assemblyFormat = [{
    `<` $valType `,` `mode` `=` `<` $mode `>` `,` `num_matrices` `=` $numMatrices `,`
    custom<Keyword>($transpose) `>` }];
}

def CuteNvgpu_MovmType : CuteNvgpu_Type<"Movm", "atom.movm"> {
  let summary = "movmatrix: a matrix in registers, transposed (PTX ISA, movmatrix)";
  let description = [{
    ```mlir
    !cute_nvgpu.atom.movm<f16, mode = <"(8,8)">, num_matrices = 1, t>
    ```
  }];
  let parameters = (ins "::mlir::Type":$valType, StringRefParameter<"matrix shape">:$mode,
    "int64_t":$numMatrices, StringRefParameter<"t">:$transpose);
  let assemblyFormat = [{
    `<` $valType `,` `mode` `=` `<` $mode `>` `,` `num_matrices` `=` $numMatrices `,`
    custom<Keyword>($transpose) `>` }];
}

def CuteNvgpu_RedType : CuteNvgpu_Type<"Red", "atom.red"> {
  let summary = "red.global.add: values in registers, added to what is in global memory (PTX ISA, red)";
  let description = [{
    32, 64 or 128 bits of f32, f16 or bf16 by each thread, each element atomically and in no order. 32 bits
    are one instruction on every architecture, 64 and 128 on sm_90 and later; before, they are one for
    each 32 bits. bf16 is there since sm_90.

    ```mlir
    !cute_nvgpu.atom.red<f32, add, 128 b>
    ```
  }];
  let parameters = (ins "::mlir::Type":$valType, StringRefParameter<"add">:$op, "int64_t":$bits);
  let assemblyFormat = "`<` $valType `,` custom<Keyword>($op) `,` $bits `b` `>`";
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

def CuteNvgpu_UniversalFmaType : CuteNvgpu_Type<"UniversalFma", "atom.universal_fma"> {
  let summary = "A multiply-add by each thread";
  let description = [{
    Types are those of A, B and the accumulator.

    ```mlir
    !cute_nvgpu.atom.universal_fma<1x1x1, (f32, f32) -> f32 >
    ```
  }];
  let parameters = (ins "int64_t":$m, "int64_t":$n, "int64_t":$k,
    "::mlir::Type":$aType, "::mlir::Type":$bType, "::mlir::Type":$accType);
  let assemblyFormat = [{
    `<` custom<ShapeMNK>($m, $n, $k) `,` `(` $aType `,` $bType `)` `->` $accType ` ` `>` }];
}

/// A shape and the element types of A, B and the accumulator.
class CuteNvgpu_MmaType<string name, string mnem, string what, string example>
    : CuteNvgpu_Type<name, mnem> {
  let summary = what;
  let description = [{
    The element types are those of A, B and the accumulator.

    ```mlir
    }] # example # [{
    ```
  }];
  let parameters = (ins "int64_t":$m, "int64_t":$n, "int64_t":$k,
    "::mlir::Type":$aType, "::mlir::Type":$bType, "::mlir::Type":$accType);
  let assemblyFormat = [{
    `<` custom<ShapeMNK>($m, $n, $k) `,` `elem_type` `=` `(` $aType `,` $bType `,`
        $accType `)` ` ` `>` }];
}

def CuteNvgpu_Sm70MmaType : CuteNvgpu_Type<"Sm70Mma", "sm70.mma"> {
  let summary = "mma.sync of quad pairs (PTX ISA, mma.m8n8k4)";
  let description = [{
    `ab_major` says along which mode A and B have neighbours in a thread: `k`, or
    `mn`, which is M for A and N for B.

    ```mlir
    !cute_nvgpu.sm70.mma<8x8x4, ab_major = (k, mn), elem_type = (f16, f16, f32) >
    ```
  }];
  let parameters = (ins "int64_t":$m, "int64_t":$n, "int64_t":$k,
    StringRefParameter<"k or mn">:$aMajor, StringRefParameter<"k or mn">:$bMajor,
    "::mlir::Type":$aType, "::mlir::Type":$bType, "::mlir::Type":$accType);
  let assemblyFormat = [{
    `<` custom<ShapeMNK>($m, $n, $k) `,` `ab_major` `=` `(` custom<Keyword>($aMajor) `,`
        custom<Keyword>($bMajor) `)` `,` `elem_type` `=` `(` $aType `,` $bType `,`
        $accType `)` ` ` `>` }];
}

def CuteNvgpu_Sm75MmaType : CuteNvgpu_MmaType<"Sm75Mma", "sm75.mma",
    "mma.sync of SM75 (PTX ISA, mma)",
    "!cute_nvgpu.sm75.mma<16x8x8, elem_type = (f16, f16, f32) >">;

def CuteNvgpu_Sm80MmaType : CuteNvgpu_Type<"Sm80Mma", "sm80.mma"> {
  let summary = "mma.sync of SM80 (PTX ISA, mma)";
  let description = [{
    The element types are those of A, B and the accumulator; `ui8` is unsigned.
    With `int_overflow = satfinite` a sum of integers that does not fit becomes the
    nearest that does. `binary_op` is `xor` or `and`, of single bits.

    ```mlir
    !cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >
    !cute_nvgpu.sm80.mma<16x8x32, elem_type = (i8, ui8, i32) int_overflow = satfinite>
    ```
  }];
  let parameters = (ins "int64_t":$m, "int64_t":$n, "int64_t":$k,
    "::mlir::Type":$aType, "::mlir::Type":$bType, "::mlir::Type":$accType,
    StringRefParameter<"satfinite, or nothing">:$intOverflow,
    StringRefParameter<"xor, and, or nothing">:$binaryOp);
  let assemblyFormat = [{
    `<` custom<ShapeMNK>($m, $n, $k) `,` `elem_type` `=` `(` $aType `,` $bType `,`
        $accType `)` ` ` `` custom<IntOptions>($intOverflow, $binaryOp) `>` }];
}

def CuteNvgpu_Sm89MmaType : CuteNvgpu_MmaType<"Sm89Mma", "sm89.mma",
    "mma.sync on 8-bit floats (PTX ISA, mma)",
    "!cute_nvgpu.sm89.mma<16x8x32, elem_type = (f8E4M3FN, f8E5M2, f32) >">;

def CuteNvgpu_Sm90WarpMmaType : CuteNvgpu_MmaType<"Sm90WarpMma", "sm90.warp_mma",
    "mma.sync of SM90 (PTX ISA, mma)",
    "!cute_nvgpu.sm90.warp_mma<16x8x8, elem_type = (f64, f64, f64) >">;

def CuteNvgpu_Sm90MmaType : CuteNvgpu_Type<"Sm90Mma", "sm90.mma"> {
  let summary = "wgmma.mma_async (PTX ISA, wgmma), with A in shared memory (ss) or in registers (rs)";
  let description = [{
    `frag_kind` says where A and B come from, `r` for registers and `s` for shared
    memory. `cute.make_atom` takes the state `accum_c`: whether C is added.
    With `int_overflow = satfinite` a sum of integers that does not fit becomes the
    nearest that does. `neg` is `a`, `b` or `ab`: the floating-point factors that
    are multiplied with their signs changed.

    ```mlir
    !cute_nvgpu.sm90.mma<64x128x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
    !cute_nvgpu.sm90.mma<64x128x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss neg = a>
    ```

    State: `accum_c`, an i1.
  }];
  let parameters = (ins "int64_t":$m, "int64_t":$n, "int64_t":$k,
    StringRefParameter<"k or mn">:$aMajor, StringRefParameter<"k or mn">:$bMajor,
    "::mlir::Type":$aType, "::mlir::Type":$bType, "::mlir::Type":$accType,
    StringRefParameter<"ss or rs">:$fragKind,
    StringRefParameter<"satfinite, or nothing">:$intOverflow,
    StringRefParameter<"a, b, ab, or nothing">:$neg);
  let assemblyFormat = [{
    `<` custom<ShapeMNK>($m, $n, $k) `,` `ab_major` `=` `(` custom<Keyword>($aMajor) `,`
        custom<Keyword>($bMajor) `)` `,` `elem_type` `=` `(` $aType `,` $bType `,`
        $accType `)` `,` `frag_kind` `=` custom<Keyword>($fragKind)
        `` custom<WarpgroupOptions>($intOverflow, $neg) `>` }];
}

def CuteNvgpu_Sm120MmaType : CuteNvgpu_MmaType<"Sm120Mma", "sm120.mma",
    "mma.sync on floats of 8, 6 and 4 bits (PTX ISA, mma with .kind::f8f6f4); not lowered yet",
    "!cute_nvgpu.sm120.mma<16x8x32, elem_type = (f8E4M3FN, f4E2M1FN, f32) >">;

def CuteNvgpu_Sm120MmaBsType : CuteNvgpu_Type<"Sm120MmaBs", "SM120.mma_bs"> {
  let summary = "mma.sync with scales of blocks of K (PTX ISA, mma with .block_scale); not lowered yet";
  let description = [{
    `sf_type` is the type of a scale, and `vec_size` how many values along K it
    scales.

    ```mlir
    !cute_nvgpu.SM120.mma_bs<16x8x64, elem_type = (f4E2M1FN, f4E2M1FN, f32), sf_type = f8E8M0FNU, vec_size = 32>
    ```
  }];
  let parameters = (ins "int64_t":$m, "int64_t":$n, "int64_t":$k,
    "::mlir::Type":$aType, "::mlir::Type":$bType, "::mlir::Type":$accType,
    "::mlir::Type":$scaleType, "int64_t":$vecSize);
  let assemblyFormat = [{
    `<` custom<ShapeMNK>($m, $n, $k) `,` `elem_type` `=` `(` $aType `,` $bType `,`
        $accType `)` `,` `sf_type` `=` $scaleType `,` `vec_size` `=` $vecSize `>` }];
}

//===----------------------------------------------------------------------===//
// State
//===----------------------------------------------------------------------===//

/// Which part of an atom's state an op is about, by the atom's family.
class CuteNvgpu_FieldAttr<string name, string mnem, string part> : AttrDef<CuteNvgpu_Dialect, name> {
  let mnemonic = mnem;
  let summary = "A part of an atom's state";
  let description = [{
    ```mlir
    #cute_nvgpu.}] # mnem # [{<}] # part # [{>
    ```
  }];
  let parameters = (ins StringRefParameter<"name of the field">:$field);
  let assemblyFormat = "`<` custom<Keyword>($field) `>`";
}

def CuteNvgpu_UniversalFieldAttr
    : CuteNvgpu_FieldAttr<"UniversalField", "atom_copy_field_universal", "cache_policy">;
def CuteNvgpu_SimtAsyncFieldAttr
    : CuteNvgpu_FieldAttr<"SimtAsyncField", "atom_copy_field_simt_async", "cache_policy">;
def CuteNvgpu_Sm90FieldAttr
    : CuteNvgpu_FieldAttr<"Sm90Field", "atom_mma_field_sm90", "accum_c">;

/// An op on the state of atoms.
class CuteNvgpu_Op<string mnemonic, list<Trait> traits = []>
    : Op<CuteNvgpu_Dialect, mnemonic, !listconcat(traits, [RustVerify])> {
  // Rust builds ops by their names, so that C++ need not compile the builders. `mlir-tblgen` wants one in their place.
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins), [{ (void)$_state; }]>];
}

def CuteNvgpu_State : Cute_Group<"State of atoms", [{
  Atoms are values, and hold what their instruction is given beside its operands.
}]>;

def CuteNvgpu_SetValueOp : CuteNvgpu_Op<"atom.set_value",
    [Pure, TypesMatchWith<"the result is an atom as the operand", "result", "atom", "$_self">]> {
  let summary = "The atom with a part of its state set";
  let description = [{
    The atom given is left as it is: atoms are values.

    ```mlir
    !atom = !cute_nvgpu.atom.universal_copy<f32, 128 b>
    // Given %atom: !atom, %policy: i64
    %a = cute_nvgpu.atom.set_value(%atom, %policy : i64) {field = #cute_nvgpu.atom_copy_field_universal<cache_policy>} : !atom
    ```
  }];
  let arguments = (ins AnyType:$atom, AnyType:$value, AnyAttr:$field);
  let results = (outs AnyType:$result);
  let assemblyFormat = "`(` $atom `,` $value `:` type($value) `)` attr-dict `:` qualified(type($result))";
  let opDocGroup = CuteNvgpu_State;
}

def CuteNvgpu_GetValueOp : CuteNvgpu_Op<"atom.get_value", [Pure]> {
  let summary = "A part of an atom's state";
  let description = [{
    What was set, by `cute_nvgpu.atom.set_value` or by `cute.make_atom`.

    ```mlir
    !atom = !cute_nvgpu.atom.universal_copy<f32, 128 b>
    // Given %atom: !atom
    %policy = cute_nvgpu.atom.get_value(%atom : !atom) {field = #cute_nvgpu.atom_copy_field_universal<cache_policy>} : i64
    ```
  }];
  let arguments = (ins AnyType:$atom, AnyAttr:$field);
  let results = (outs AnyType:$value);
  let assemblyFormat = "`(` $atom `:` qualified(type($atom)) `)` attr-dict `:` type($value)";
  let opDocGroup = CuteNvgpu_State;
}

#endif
