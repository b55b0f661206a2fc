//===- Syntax.h - what both dialects parse and verify by -----------------===//
//
// Part of cute-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CUTE_SHIM_SYNTAX_H
#define CUTE_SHIM_SYNTAX_H

#include "Dialect.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"

namespace cute {
using namespace mlir;

/// Collects what a callback says.
inline void append(MlirStringRef text, void *user) {
  static_cast<std::string *>(user)->append(text.data, text.length);
}

inline ParseResult parseKeyword(AsmParser &parser, std::string &text) {
  StringRef keyword;
  if (parser.parseKeyword(&keyword))
    return failure();
  text = keyword.str();
  return success();
}
inline void printKeyword(AsmPrinter &printer, StringRef text) { printer << text; }

inline ParseResult parseShapeMNK(AsmParser &parser, int64_t &m, int64_t &n, int64_t &k) {
  SmallVector<int64_t> dims;
  SMLoc where = parser.getCurrentLocation();
  if (parser.parseDimensionList(dims, /*allowDynamic=*/false, /*withTrailingX=*/false))
    return failure();
  if (dims.size() != 3)
    return parser.emitError(where) << "expected a shape MxNxK, found " << dims.size()
                                   << " extents";
  m = dims[0], n = dims[1], k = dims[2];
  return success();
}
inline void printShapeMNK(AsmPrinter &printer, int64_t m, int64_t n, int64_t k) {
  printer << m << 'x' << n << 'x' << k;
}

inline CuteTypeParts parts(int kind, ArrayRef<Type> types, ArrayRef<StringRef> texts,
                           ArrayRef<int64_t> ints) {
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

inline LogicalResult verifyParts(function_ref<InFlightDiagnostic()> emitError,
                                 CuteTypeParts parts) {
  std::string message;
  if (callbacks().verifyType(&parts, append, &message))
    return success();
  return emitError() << message;
}

using Emit = function_ref<InFlightDiagnostic()>;

} // namespace cute

#endif
