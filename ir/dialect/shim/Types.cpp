//===- Types.cpp - types and attributes: syntax, parts, verification ------===//
//
// Part of cute-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Syntax.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace cute;

//===----------------------------------------------------------------------===//
// Syntax
//===----------------------------------------------------------------------===//

static ParseResult parseIntTupleText(AsmParser &parser, std::string &text) {
  return parseText(parser, CuteIntTuple, text);
}
static void printIntTupleText(AsmPrinter &printer, StringRef text) { printText(printer, text); }
static ParseResult parseTileText(AsmParser &parser, std::string &text) {
  return parseText(parser, CuteTile, text);
}
static void printTileText(AsmPrinter &printer, StringRef text) { printText(printer, text); }

/// An integer that is computed of parameters.
static ParseResult parseExpressionText(AsmParser &parser, std::string &text) {
  return parseText(parser, CUTE_EXPRESSION, text);
}
static void printExpressionText(AsmPrinter &printer, StringRef text) { printText(printer, text); }

/// `, permutation_MNK = <"tile">`, or nothing.
static ParseResult parsePermutation(AsmParser &parser, std::string &text) {
  if (failed(parser.parseOptionalComma()))
    return success();
  return failure(parser.parseKeyword("permutation_MNK") || parser.parseEqual() ||
                 parser.parseLess() || parseTileText(parser, text) || parser.parseGreater());
}
static void printPermutation(AsmPrinter &printer, StringRef text) {
  if (text.empty())
    return;
  printer << ", permutation_MNK = <";
  printTileText(printer, text);
  printer << '>';
}

/// `<"text">`, of a type or an attribute.
template <typename T, CuteKind kind> static T parseTextOf(AsmParser &parser) {
  std::string text;
  if (parser.parseLess() || parseText(parser, kind, text) || parser.parseGreater())
    return {};
  return T::get(parser.getContext(), text);
}

#define CUTE_TEXT_SYNTAX(T)                                                                      \
  Type cute::T##Type::parse(AsmParser &parser) {                                                 \
    return parseTextOf<cute::T##Type, Cute##T>(parser);                                          \
  }                                                                                              \
  void cute::T##Type::print(AsmPrinter &printer) const {                                         \
    printer << "<\"" << getText() << "\">";                                                      \
  }                                                                                              \
  Attribute cute::T##Attr::parse(AsmParser &parser, Type) {                                      \
    return parseTextOf<cute::T##Attr, Cute##T>(parser);                                          \
  }                                                                                              \
  void cute::T##Attr::print(AsmPrinter &printer) const {                                         \
    printer << "<\"" << getText() << "\">";                                                      \
  }

/// `<B,M,S>` behind an `S`.
static ParseResult parseSwizzle(AsmParser &parser, std::string &swizzle) {
  int64_t b, m, s;
  if (parser.parseLess() || parser.parseInteger(b) || parser.parseComma() ||
      parser.parseInteger(m) || parser.parseComma() || parser.parseInteger(s) ||
      parser.parseGreater())
    return failure();
  llvm::raw_string_ostream(swizzle) << "S<" << b << ',' << m << ',' << s << '>';
  return success();
}

/// `, align<N>` and `, S<B,M,S>`, each optional, as far as they go; then, for a memref, the layout.
static ParseResult parseEngine(AsmParser &parser, Type &element, std::string &space,
                               int64_t &align, std::string &swizzle, std::string *layout) {
  align = 0;
  if (parser.parseLess() || parser.parseType(element) || parser.parseComma() ||
      parseKeyword(parser, space))
    return failure();
  while (succeeded(parser.parseOptionalComma())) {
    if (succeeded(parser.parseOptionalKeyword("align"))) {
      if (parser.parseLess() || parser.parseInteger(align) || parser.parseGreater())
        return failure();
    } else if (succeeded(parser.parseOptionalKeyword("S"))) {
      if (parseSwizzle(parser, swizzle))
        return failure();
    } else if (layout) {
      if (parseText(parser, CuteMemRef, *layout))
        return failure();
      return parser.parseGreater();
    } else {
      return parser.emitError(parser.getCurrentLocation(), "expected align<N> or S<B,M,S>");
    }
  }
  if (layout)
    return parser.emitError(parser.getCurrentLocation(), "expected ', \"layout\"'");
  return parser.parseGreater();
}

static int64_t naturalAlignment(Type element) {
  return element.isIntOrFloat() ? std::max<int64_t>(element.getIntOrFloatBitWidth() / 8, 1) : 1;
}

static void printEngine(AsmPrinter &printer, Type element, StringRef space, int64_t align,
                        StringRef swizzle) {
  printer << '<' << element << ", " << space;
  if (align != naturalAlignment(element))
    printer << ", align<" << align << '>';
  if (!swizzle.empty())
    printer << ", " << swizzle;
}

Type cute::PtrType::parse(AsmParser &parser) {
  Type element;
  std::string space, swizzle;
  int64_t align;
  SMLoc where = parser.getCurrentLocation();
  if (parseEngine(parser, element, space, align, swizzle, nullptr))
    return {};
  return parser.getChecked<PtrType>(where, parser.getContext(), element, space,
                                    align ? align : naturalAlignment(element), swizzle);
}
void cute::PtrType::print(AsmPrinter &printer) const {
  printEngine(printer, getElementType(), getSpace(), getAlign(), getSwizzle());
  printer << '>';
}

Type cute::MemRefType::parse(AsmParser &parser) {
  Type element;
  std::string space, swizzle, layout;
  int64_t align;
  SMLoc where = parser.getCurrentLocation();
  if (parseEngine(parser, element, space, align, swizzle, &layout))
    return {};
  return parser.getChecked<MemRefType>(where, parser.getContext(), element, space,
                                       align ? align : naturalAlignment(element), swizzle,
                                       layout);
}
void cute::MemRefType::print(AsmPrinter &printer) const {
  printEngine(printer, getElementType(), getSpace(), getAlign(), getSwizzle());
  printer << ", \"" << getLayout() << "\">";
}

/// `, smem = <S<B,M,S>, "layout">, buffers = N`, the swizzle optional, or nothing.
static ParseResult parseSharedTile(AsmParser &parser, std::string &swizzle, std::string &layout,
                                   int64_t &buffers) {
  buffers = 0;
  if (failed(parser.parseOptionalComma()))
    return success();
  if (parser.parseKeyword("smem") || parser.parseEqual() || parser.parseLess())
    return failure();
  if (succeeded(parser.parseOptionalKeyword("S")) &&
      (parseSwizzle(parser, swizzle) || parser.parseComma()))
    return failure();
  return failure(parseLayoutText(parser, layout) || parser.parseGreater() ||
                 parser.parseComma() || parser.parseKeyword("buffers") || parser.parseEqual() ||
                 parser.parseInteger(buffers));
}
static void printSharedTile(AsmPrinter &printer, StringRef swizzle, StringRef layout,
                            int64_t buffers) {
  if (layout.empty())
    return;
  printer << ", smem = <";
  if (!swizzle.empty())
    printer << swizzle << ", ";
  printText(printer, layout);
  printer << ">, buffers = " << buffers;
}

/// `[<...>, ...]`, movements without their name.
static ParseResult parseMovements(AsmParser &parser, ArrayAttr &movements) {
  SmallVector<Attribute> all;
  auto each = [&]() -> ParseResult {
    auto movement = FieldParser<MovementAttr>::parse(parser);
    if (failed(movement))
      return failure();
    all.push_back(*movement);
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, each))
    return failure();
  movements = ArrayAttr::get(parser.getContext(), all);
  return success();
}
static void printMovements(AsmPrinter &printer, ArrayAttr movements) {
  printer << '[';
  llvm::interleaveComma(movements, printer, [&](Attribute movement) {
    printer.printStrippedAttrOrType(llvm::cast<MovementAttr>(movement));
  });
  printer << ']';
}

#define GET_ATTRDEF_CLASSES
#include "CuteAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "CuteTypes.cpp.inc"

CUTE_TEXT_TYPES(CUTE_TEXT_SYNTAX)

Type cute::ArithTupleIterType::parse(AsmParser &parser) {
  return parseTextOf<cute::ArithTupleIterType, CuteIntTuple>(parser);
}
void cute::ArithTupleIterType::print(AsmPrinter &printer) const {
  printer << "<\"" << getText() << "\">";
}

Type cute::ParamType::parse(AsmParser &parser) {
  return parseTextOf<cute::ParamType, CuteParam>(parser);
}
void cute::ParamType::print(AsmPrinter &printer) const {
  printer << "<\"" << getText() << "\">";
}
/// A parameter where an attribute stands may be computed of several, as in a text.
Attribute cute::ParamAttr::parse(AsmParser &parser, Type) {
  std::string text;
  if (parser.parseLess() || parseExpressionText(parser, text) || parser.parseGreater())
    return {};
  return ParamAttr::get(parser.getContext(), text);
}
void cute::ParamAttr::print(AsmPrinter &printer) const {
  printer << "<\"" << getText() << "\">";
}

Type cute::iterOf(Type tensor) {
  if (auto t = llvm::dyn_cast<CoordTensorType>(tensor))
    return ArithTupleIterType::get(t.getContext(), t.getStart());
  auto t = llvm::cast<MemRefType>(tensor);
  return PtrType::get(t.getContext(), t.getElementType(), t.getSpace(), t.getAlign(),
                      t.getSwizzle());
}

Type cute::layoutOf(Type tensor) {
  if (auto t = llvm::dyn_cast<CoordTensorType>(tensor))
    return LayoutType::get(t.getContext(), t.getLayout());
  auto t = llvm::cast<MemRefType>(tensor);
  return LayoutType::get(t.getContext(), t.getLayout());
}

static SmallVector<StringRef> typeNames() {
  return mnemonicsOf<
#define GET_TYPEDEF_LIST
#include "CuteTypes.cpp.inc"
      >();
}
static SmallVector<StringRef> attributeNames() {
  return mnemonicsOf<
#define GET_ATTRDEF_LIST
#include "CuteAttrs.cpp.inc"
      >();
}
CUTE_PARSERS(cute::CuteDialect)

void cute::CuteDialect::registerTypesAndAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "CuteAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "CuteTypes.cpp.inc"
      >();
}
