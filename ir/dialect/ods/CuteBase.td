//===- CuteBase.td - the cute dialect and the base classes of its ops -----===//
//
// Part of cute-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CUTE_BASE_TD
#define CUTE_BASE_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Cute_Dialect : Dialect {
  let name = "cute";
  let cppNamespace = "::cute";
  let summary = "CuTe layouts, tensors and tiled operations";
  let description = [{
    Layouts, tensors and tiled operations that know no architecture. Where an
    op or a type exists in the open CuTe IR or in the IR that CuTe DSL prints,
    its text is the same here.

    What a layout means is decided by the `cute-layout` crate: each type
    carries the canonical text of its value, and verifiers and result types
    are computed in Rust.

    An operand that is static, a coordinate, a shape, a tiler or a layout, may be
    written by its text, as in `cute.local_tile(%A, "[64:1;64:1]", %at)`, and any
    that its type says whole by its type, as in `cute.copy(!copy, %a, %b)`. It is
    read as a `cute.static` behind what makes another operand, or behind the last
    value before it. A word before a text or a tuple says what it is where its
    place does not: `cute.call @f(coord (%i, 0), tile (128, 64))`.
  }];
  let hasNonDefaultDestructor = 1;
  // What `cute.static` folds to becomes `cute.static` again.
  let hasConstantMaterializer = 1;
  // Attributes of the dialect on ops, arguments and results of others are known and well formed, or errors.
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let usePropertiesForAttributes = 1;
  let dependentDialects = [];
  let extraClassDeclaration = [{
    /// Rust's, of this dialect in this context.
    void *table = ::cute::newTable();
    void registerTypesAndAttributes();
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

/// Hands the verification of an op to Rust (`verify.rs`).
def RustVerify : NativeOpTrait<"RustVerify"> {
  let cppNamespace = "::cute";
}

/// Has Rust infer the result types (`infer.rs`), for `RustVerify` to compare them with those that are declared.
def RustInfer : NativeOpTrait<"RustInfer"> {
  let cppNamespace = "::cute";
}

class Cute_Op<string mnemonic, list<Trait> traits = []>
    : Op<Cute_Dialect, mnemonic, !listconcat(traits, [RustVerify])> {
  // Rust builds ops by their names, so that C++ need not compile the builders. `mlir-tblgen` wants one in their place.
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins), [{ (void)$_state; }]>];
}

/// A group of ops in the reference.
class Cute_Group<string title, string text> : OpDocGroup {
  let summary = title;
  let description = text;
}

/// An op whose result types Rust infers from its operands (`infer.rs`).
class Cute_InferredOp<string mnemonic, list<Trait> traits = []>
    : Cute_Op<mnemonic, !listconcat(traits, [RustInfer,
        DeclareOpInterfaceMethods<InferTypeOpInterface>])> {
  let extraClassDeclaration = [{
    static bool isCompatibleReturnTypes(::mlir::TypeRange inferred, ::mlir::TypeRange declared);
    // `RustVerify` compares declared types with inferred ones: MLIR would say the same error twice.
    static ::llvm::LogicalResult refineReturnTypes(
        ::mlir::MLIRContext *, std::optional<::mlir::Location>, ::mlir::ValueRange,
        ::mlir::DictionaryAttr, ::mlir::OpaqueProperties, ::mlir::RegionRange,
        ::llvm::SmallVectorImpl<::mlir::Type> &) {
      return ::llvm::success();
    }
  }];
  let extraClassDefinition = [{
    bool $cppClass::isCompatibleReturnTypes(::mlir::TypeRange inferred, ::mlir::TypeRange declared) {
      return ::cute::compatibleTypes(inferred, declared);
    }
    ::llvm::LogicalResult $cppClass::inferReturnTypes(
        ::mlir::MLIRContext *context, std::optional<::mlir::Location> location,
        ::mlir::ValueRange operands, ::mlir::DictionaryAttr attributes,
        ::mlir::OpaqueProperties properties, ::mlir::RegionRange,
        ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      return ::cute::inferTypes(getOperationName(), context, location, operands,
                                ::cute::withProperties<$cppClass>(context, attributes, properties),
                                types);
    }
  }];
}

/// An inferred op without effects that may be moved before a check only where no division by zero
/// can come of it, which Rust decides from the types.
class Cute_DivisionOp<string mnemonic> : Cute_InferredOp<mnemonic, [NoMemoryEffect,
    DeclareOpInterfaceMethods<ConditionallySpeculatable, ["getSpeculatability"]>]>;

#endif
