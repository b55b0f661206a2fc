//===- Parts.cpp - types, taken apart, put together and verified ----------===//
//
// Part of cute-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Syntax.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace cute;

static CuteTypeParts parts(CuteTypeKind kind, ArrayRef<Type> types, ArrayRef<StringRef> texts,
                           ArrayRef<int64_t> ints) {
  // The lists are made from the `.td` files, and so is the room for them.
  CuteTypeParts result = {};
  result.kind = kind;
  for (Type type : types)
    result.types[result.numTypes++] = wrap(type);
  for (StringRef text : texts)
    result.texts[result.numTexts++] = wrap(text);
  for (int64_t value : ints)
    result.ints[result.numInts++] = value;
  return result;
}

static LogicalResult verifyParts(Emit emitError, CuteTypeParts parts) {
  std::string message;
  if (callbacks().verifyType(&parts, append, &message))
    return success();
  return emitError() << message;
}

/// The parts that Rust gives.
struct Reader {
  const CuteTypeParts *parts;
  Location at;
  Emit emit;

  CuteTypeKind kind() const { return static_cast<CuteTypeKind>(parts->kind); }
  MLIRContext *context() const { return at.getContext(); }
  Type types(int i) const { return unwrap(parts->types[i]); }
  StringRef texts(int i) const { return unwrap(parts->texts[i]); }
  int64_t ints(int i) const { return parts->ints[i]; }
  bool has(int types, int texts, int ints) const {
    if (parts->numTypes == types && parts->numTexts == texts && parts->numInts == ints)
      return true;
    emit() << "expected " << types << " types, " << texts << " texts and " << ints
           << " integers for a type of kind " << parts->kind << ", found " << parts->numTypes
           << ", " << parts->numTexts << " and " << parts->numInts;
    return false;
  }
  Type unknown() const {
    emit() << "expected a kind of type of the dialects, found number " << parts->kind;
    return {};
  }
};

#include "CuteParts.cpp.inc"

MlirType cuteTypeGet(MlirLocation location, const CuteTypeParts *parts) {
  Location at = unwrap(location);
  auto emit = [&] { return mlir::emitError(at); };
  return wrap(typeOf(Reader{parts, at, emit}));
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
