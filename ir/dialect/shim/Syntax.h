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

/// The name of `names` that is spelt most like `name`, with the prefix and a question mark, where one is near.
std::string didYouMean(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> names,
                       llvm::StringRef prefix = "");
/// The op that may have been meant by one that is not there: one that is spelt alike, one that ends so, or what CuTe calls so elsewhere.
std::string meantOp(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> names);

/// Says that there is no type or attribute of a name, which is written behind `sigil`.
InFlightDiagnostic refuseName(DialectAsmParser &parser, SMLoc where, char sigil, StringRef dialect,
                              StringRef name, ArrayRef<StringRef> names);

template <typename... Named> SmallVector<StringRef> mnemonicsOf() {
  return {Named::getMnemonic()...};
}

/// The parsers and printers of a dialect's types and attributes: those that are generated, with errors that name what may have
/// been meant. `typeNames` and `attributeNames` stand before it.
#define CUTE_PARSERS(DIALECT)                                                                    \
  Type DIALECT::parseType(DialectAsmParser &parser) const {                                      \
    SMLoc where = parser.getCurrentLocation();                                                   \
    StringRef mnemonic;                                                                          \
    Type type;                                                                                   \
    OptionalParseResult parsed = generatedTypeParser(parser, &mnemonic, type);                   \
    if (parsed.has_value())                                                                      \
      return type;                                                                               \
    cute::refuseName(parser, where, '!', getNamespace(), mnemonic, typeNames());                 \
    return {};                                                                                   \
  }                                                                                              \
  void DIALECT::printType(Type type, DialectAsmPrinter &printer) const {                         \
    (void)generatedTypePrinter(type, printer);                                                   \
  }                                                                                              \
  Attribute DIALECT::parseAttribute(DialectAsmParser &parser, Type type) const {                 \
    SMLoc where = parser.getCurrentLocation();                                                   \
    StringRef mnemonic;                                                                          \
    Attribute attribute;                                                                         \
    OptionalParseResult parsed =                                                                 \
        generatedAttributeParser(parser, &mnemonic, type, attribute);                            \
    if (parsed.has_value())                                                                      \
      return attribute;                                                                          \
    cute::refuseName(parser, where, '#', getNamespace(), mnemonic, attributeNames());            \
    return {};                                                                                   \
  }                                                                                              \
  void DIALECT::printAttribute(Attribute attribute, DialectAsmPrinter &printer) const {          \
    (void)generatedAttributePrinter(attribute, printer);                                         \
  }

/// Collects what a callback says.
inline void append(MlirStringRef text, void *user) {
  static_cast<std::string *>(user)->append(text.data, text.length);
}

/// A quoted text, replaced by its canonical form.
inline ParseResult parseText(AsmParser &parser, int kind, std::string &text) {
  SMLoc where = parser.getCurrentLocation();
  std::string written, answer;
  if (parser.parseString(&written))
    return failure();
  if (!cute::callbacks().canonicalize(kind, wrap(StringRef(written)), cute::append, &answer))
    return parser.emitError(where) << answer;
  text = std::move(answer);
  return success();
}

inline void printText(AsmPrinter &printer, StringRef text) { printer << '"' << text << '"'; }

inline ParseResult parseLayoutText(AsmParser &parser, std::string &text) {
  return parseText(parser, CuteLayout, text);
}
inline void printLayoutText(AsmPrinter &printer, StringRef text) { printText(printer, text); }
inline ParseResult parseKeyword(AsmParser &parser, std::string &text) {
  StringRef keyword;
  if (parser.parseKeyword(&keyword))
    return failure();
  text = keyword.str();
  return success();
}
inline void printKeyword(AsmPrinter &printer, StringRef text) { printer << text; }

/// `tma_gbasis = <"box">, swizzle = 128`, without a swizzle, which is -1, or with what CuTe DSL writes before the box:
/// `mode = tiled, num_cta = 1, g_stride = <"()"> tma_gbasis = <"box">`.
inline ParseResult parseBoxAndSwizzle(AsmParser &parser, std::string &box, int64_t &swizzle) {
  swizzle = -1;
  auto quoted = [&](std::string &text) -> ParseResult {
    return failure(parser.parseEqual() || parser.parseLess() || parser.parseString(&text) || parser.parseGreater());
  };
  bool ofDsl = succeeded(parser.parseOptionalKeyword("mode"));
  if (ofDsl) {
    std::string strides;
    int64_t blocks;
    if (parser.parseEqual() || parser.parseKeyword("tiled") || parser.parseComma())
      return failure();
    if (succeeded(parser.parseOptionalKeyword("num_cta")) &&
        (parser.parseEqual() || parser.parseInteger(blocks) || parser.parseComma()))
      return failure();
    if (parser.parseKeyword("g_stride") || quoted(strides))
      return failure();
  }
  if (parser.parseKeyword("tma_gbasis") || quoted(box))
    return failure();
  if (ofDsl || failed(parser.parseOptionalComma()))
    return success();
  return failure(parser.parseKeyword("swizzle") || parser.parseEqual() || parser.parseInteger(swizzle));
}
inline void printBoxAndSwizzle(AsmPrinter &printer, StringRef box, int64_t swizzle) {
  printer << "tma_gbasis = <\"" << box << "\">";
  if (swizzle >= 0)
    printer << ", swizzle = " << swizzle;
}

/// `, internal_val_type = f16`, `, tma_format = F16_RN`, or nothing.
inline ParseResult parseMapFormat(AsmParser &parser, std::string &text) {
  StringRef name, format;
  if (failed(parser.parseOptionalComma()))
    return success();
  SMLoc where = parser.getCurrentLocation();
  if (parser.parseKeyword(&name))
    return failure();
  if (name != "internal_val_type" && name != "tma_format")
    return parser.emitError(where) << "expected internal_val_type or tma_format, found '" << name << "'";
  if (parser.parseEqual())
    return failure();
  llvm::raw_string_ostream stream(text);
  stream << name << " = ";
  if (name == "tma_format") {
    if (parser.parseKeyword(&format))
      return failure();
    stream << format;
    return success();
  }
  Type type;
  if (parser.parseType(type))
    return failure();
  stream << type;
  return success();
}
inline void printMapFormat(AsmPrinter &printer, StringRef text) {
  if (!text.empty())
    printer << ", " << text;
}

/// An integer without its type.
inline ParseResult parsePlain(OpAsmParser &parser, IntegerAttr &value) {
  int32_t number;
  if (parser.parseInteger(number))
    return failure();
  value = parser.getBuilder().getI32IntegerAttr(number);
  return success();
}
inline void printPlain(OpAsmPrinter &printer, Operation *, IntegerAttr value) { printer << value.getInt(); }

/// `, keyword`, or nothing, which is the empty text.
inline ParseResult parseOptionalKeyword(AsmParser &parser, std::string &text) {
  return parser.parseOptionalComma() ? success() : parseKeyword(parser, text);
}
inline void printOptionalKeyword(AsmPrinter &printer, StringRef text) {
  if (!text.empty())
    printer << ", " << text;
}

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

/// `, N b`, or nothing, which is 0.
inline ParseResult parseBits(AsmParser &parser, int64_t &bits) {
  bits = 0;
  if (parser.parseOptionalComma())
    return success();
  SMLoc where = parser.getCurrentLocation();
  if (parser.parseInteger(bits) || parser.parseKeyword("b"))
    return failure();
  if (bits < 1)
    return parser.emitError(where) << "expected a positive number of bits, found " << bits;
  return success();
}
inline void printBits(AsmPrinter &printer, int64_t bits) {
  if (bits)
    printer << ", " << bits << " b";
}

/// `, N b` and `, l1_cache_eviction_priority=PRIORITY`, each or neither.
inline ParseResult parseBitsAndEviction(AsmParser &parser, int64_t &bits, std::string &eviction) {
  bits = 0;
  while (succeeded(parser.parseOptionalComma())) {
    SMLoc where = parser.getCurrentLocation();
    if (succeeded(parser.parseOptionalKeyword("l1_cache_eviction_priority"))) {
      if (parser.parseEqual() || parseKeyword(parser, eviction))
        return failure();
      continue;
    }
    if (parser.parseInteger(bits) || parser.parseKeyword("b"))
      return failure();
    if (bits < 1)
      return parser.emitError(where) << "expected a positive number of bits, found " << bits;
  }
  return success();
}
inline void printBitsAndEviction(AsmPrinter &printer, int64_t bits, StringRef eviction) {
  printBits(printer, bits);
  if (!eviction.empty())
    printer << ", l1_cache_eviction_priority=" << eviction;
}

/// `NAME = KEYWORD`, or nothing, which leaves the text as it is.
inline ParseResult parseClause(AsmParser &parser, StringRef name, std::string &text) {
  if (failed(parser.parseOptionalKeyword(name)))
    return success();
  return failure(parser.parseEqual() || parseKeyword(parser, text));
}

/// `int_overflow = satfinite`, or `wrapped` or nothing, which is an empty text.
inline ParseResult parseIntOverflow(AsmParser &parser, std::string &overflow) {
  if (parseClause(parser, "int_overflow", overflow))
    return failure();
  if (overflow == "wrapped")
    overflow.clear();
  return success();
}

/// `int_overflow = satfinite` and `binary_op = xor`, each or neither.
inline ParseResult parseIntOptions(AsmParser &parser, std::string &overflow, std::string &op) {
  if (parseIntOverflow(parser, overflow))
    return failure();
  return parseClause(parser, "binary_op", op);
}
inline void printIntOptions(AsmPrinter &printer, StringRef overflow, StringRef op) {
  if (!overflow.empty())
    printer << "int_overflow = " << overflow;
  if (!op.empty())
    printer << (overflow.empty() ? "" : " ") << "binary_op = " << op;
}

/// ` int_overflow = satfinite` and ` neg = ab`, each or neither.
inline ParseResult parseWarpgroupOptions(AsmParser &parser, std::string &overflow, std::string &neg) {
  if (parseIntOverflow(parser, overflow))
    return failure();
  return parseClause(parser, "neg", neg);
}
inline void printWarpgroupOptions(AsmPrinter &printer, StringRef overflow, StringRef neg) {
  if (!overflow.empty())
    printer << " int_overflow = " << overflow;
  if (!neg.empty())
    printer << " neg = " << neg;
}

using Emit = function_ref<InFlightDiagnostic()>;

} // namespace cute

#endif
