//===- Parts.cpp - types and attributes by their parts --------------------===//
//
// Part of cute-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Syntax.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace cute;

static CuteParts parts(CuteKind kind, ArrayRef<Type> types, ArrayRef<StringRef> texts,
                       ArrayRef<int64_t> ints, ArrayRef<ArrayAttr> arrays) {
  // The lists are made from the `.td` files, and so is the room for them.
  CuteParts result = {};
  result.kind = kind;
  for (Type type : types)
    result.types[result.numTypes++] = wrap(type);
  for (StringRef text : texts)
    result.texts[result.numTexts++] = wrap(text);
  for (int64_t value : ints)
    result.ints[result.numInts++] = value;
  for (ArrayAttr array : arrays)
    result.arrays[result.numArrays++] = wrap(Attribute(array));
  return result;
}

static LogicalResult verifyParts(Emit emitError, CuteParts parts) {
  std::string message;
  if (callbacks().verifyParts(&parts, append, &message))
    return success();
  return emitError() << message;
}

/// The parts that Rust gives.
struct Reader {
  const CuteParts *parts;
  Location at;
  Emit emit;

  CuteKind kind() const { return static_cast<CuteKind>(parts->kind); }
  MLIRContext *context() const { return at.getContext(); }
  Type types(int i) const { return unwrap(parts->types[i]); }
  StringRef texts(int i) const { return unwrap(parts->texts[i]); }
  int64_t ints(int i) const { return parts->ints[i]; }
  ArrayAttr arrays(int i) const { return llvm::cast<ArrayAttr>(unwrap(parts->arrays[i])); }
  bool has(int types, int texts, int ints, int arrays) const {
    if (parts->numTypes == types && parts->numTexts == texts && parts->numInts == ints &&
        parts->numArrays == arrays)
      return true;
    emit() << "expected " << types << " types, " << texts << " texts, " << ints << " integers and "
           << arrays << " arrays for kind " << parts->kind << ", found " << parts->numTypes << ", "
           << parts->numTexts << ", " << parts->numInts << " and " << parts->numArrays;
    return false;
  }
  std::nullptr_t unknown() const {
    emit() << "expected another kind of type or attribute than number " << parts->kind;
    return nullptr;
  }
};

#include "CuteParts.cpp.inc"

MlirType cuteTypeGet(MlirLocation location, const CuteParts *parts) {
  Location at = unwrap(location);
  auto emit = [&] { return mlir::emitError(at); };
  return wrap(typeOf(Reader{parts, at, emit}));
}

MlirAttribute cuteAttributeGet(MlirLocation location, const CuteParts *parts) {
  Location at = unwrap(location);
  auto emit = [&] { return mlir::emitError(at); };
  return wrap(attributeOf(Reader{parts, at, emit}));
}

void *cuteTypeTable(MlirType type) {
  Dialect &dialect = unwrap(type).getDialect();
  if (auto *own = llvm::dyn_cast<CuteDialect>(&dialect))
    return own->table;
  if (auto *own = llvm::dyn_cast<cute_nvgpu::CuteNvgpuDialect>(&dialect))
    return own->table;
  return nullptr;
}

cute::CuteDialect::~CuteDialect() { callbacks().dropTable(table); }
cute_nvgpu::CuteNvgpuDialect::~CuteNvgpuDialect() { callbacks().dropTable(table); }
