//===- Dialect.h - the C++ classes of both dialects -------------*- C++ -*-===//
//
// Part of cute-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CUTE_SHIM_DIALECT_H
#define CUTE_SHIM_DIALECT_H

#include "Forms.h"
#include "cute.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace cute {

const CuteCallbacks &callbacks();
inline void *newTable() { return callbacks().newTable(); }

llvm::LogicalResult verifyOp(mlir::Operation *op);
/// Verifies the names of other ops that an op is about.
llvm::LogicalResult verifySymbols(mlir::Operation *op);
llvm::LogicalResult inferTypes(llvm::StringRef op, mlir::MLIRContext *context,
                               std::optional<mlir::Location> location,
                               mlir::ValueRange operands, mlir::DictionaryAttr attributes,
                               llvm::SmallVectorImpl<mlir::Type> &types);

/// The parser of an op that the dialects lack: an error that names the op that is spelt most alike.
mlir::Dialect::ParseOpHook unknownOperation();

/// Tells whether a value of an op is of a type that each call of a function gives.
bool hasOpenTypes(mlir::Operation *op);

/// Tells whether the declared types say the same as the inferred ones.
bool compatibleTypes(mlir::TypeRange inferred, mlir::TypeRange declared);

/// All attributes of an op: those in the dictionary, and those that are its properties.
template <typename Op>
mlir::DictionaryAttr withProperties(mlir::MLIRContext *context, mlir::DictionaryAttr attributes,
                                    mlir::OpaqueProperties properties) {
  using Properties = std::remove_reference_t<decltype(std::declval<Op>().getProperties())>;
  if constexpr (!std::is_same_v<Properties, mlir::EmptyProperties>) {
    mlir::NamedAttrList all(attributes);
    if (properties)
      if (auto own = llvm::dyn_cast_or_null<mlir::DictionaryAttr>(
              Op::getPropertiesAsAttr(context, *properties.as<Properties *>())))
        for (mlir::NamedAttribute entry : own)
          all.set(entry.getName(), entry.getValue());
    return all.getDictionary(context);
  }
  return attributes;
}

/// Hands the verification of an attribute that one of the dialects names to Rust.
enum class AttributeOf { Op = 0, Argument = 1, Result = 2 };
llvm::LogicalResult verifyAttribute(mlir::Operation *op, AttributeOf where, unsigned index,
                                    mlir::NamedAttribute attribute);

/// The type of a tensor's start, and of its layout.
mlir::Type iterOf(mlir::Type tensor);
mlir::Type layoutOf(mlir::Type tensor);

template <typename ConcreteOp>
class RustVerify : public mlir::OpTrait::TraitBase<ConcreteOp, RustVerify> {
public:
  // Region traits are verified last, when operands and attributes are known to be well formed.
  static llvm::LogicalResult verifyRegionTrait(mlir::Operation *op) { return verifyOp(op); }
};

} // namespace cute

/// The types, each with an attribute of the same name, whose parameter is a canonical text.
#define CUTE_TEXT_TYPES(MACRO)                                                                   \
  MACRO(IntTuple)                                                                                \
  MACRO(Shape) MACRO(Stride) MACRO(Coord) MACRO(Layout) MACRO(Tile) MACRO(Swizzle)               \
      MACRO(ComposedLayout)

#include "CuteDialect.h.inc"
#include "CuteNvgpuDialect.h.inc"

/// The hooks by which MLIR has a dialect verify its attributes.
#define CUTE_ATTRIBUTE_VERIFIERS(DIALECT)                                                        \
  LogicalResult DIALECT::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {     \
    return cute::verifyAttribute(op, cute::AttributeOf::Op, 0, attribute);                       \
  }                                                                                              \
  LogicalResult DIALECT::verifyRegionArgAttribute(Operation *op, unsigned, unsigned index,       \
                                                  NamedAttribute attribute) {                    \
    return cute::verifyAttribute(op, cute::AttributeOf::Argument, index, attribute);             \
  }                                                                                              \
  LogicalResult DIALECT::verifyRegionResultAttribute(Operation *op, unsigned, unsigned index,    \
                                                     NamedAttribute attribute) {                 \
    return cute::verifyAttribute(op, cute::AttributeOf::Result, index, attribute);               \
  }

#define GET_ATTRDEF_CLASSES
#include "CuteAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "CuteTypes.h.inc"
#define GET_ATTRDEF_CLASSES
#include "CuteNvgpuAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "CuteNvgpuTypes.h.inc"

#define GET_OP_CLASSES
#include "CuteOps.h.inc"
#define GET_OP_CLASSES
#include "CuteNvgpuOps.h.inc"

#endif
