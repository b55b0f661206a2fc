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

/// A quoted text, replaced by its canonical form.
static ParseResult parseText(AsmParser &parser, int kind, std::string &text) {
  SMLoc where = parser.getCurrentLocation();
  std::string written, answer;
  if (parser.parseString(&written))
    return failure();
  if (!cute::callbacks().canonicalize(kind, wrap(StringRef(written)), cute::append, &answer))
    return parser.emitError(where) << answer;
  text = std::move(answer);
  return success();
}

static void printText(AsmPrinter &printer, StringRef text) { printer << '"' << text << '"'; }

static ParseResult parseLayoutText(AsmParser &parser, std::string &text) {
  return parseText(parser, CuteLayout, text);
}
static void printLayoutText(AsmPrinter &printer, StringRef text) { printText(printer, text); }
static ParseResult parseIntTupleText(AsmParser &parser, std::string &text) {
  return parseText(parser, CuteIntTuple, text);
}
static void printIntTupleText(AsmPrinter &printer, StringRef text) { printText(printer, text); }
static ParseResult parseTileText(AsmParser &parser, std::string &text) {
  return parseText(parser, CuteTile, text);
}
static void printTileText(AsmPrinter &printer, StringRef text) { printText(printer, text); }

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
template <typename T, CuteTypeKind kind> static T parseTextOf(AsmParser &parser) {
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
      int64_t b, m, s;
      if (parser.parseLess() || parser.parseInteger(b) || parser.parseComma() ||
          parser.parseInteger(m) || parser.parseComma() || parser.parseInteger(s) ||
          parser.parseGreater())
        return failure();
      llvm::raw_string_ostream(swizzle) << "S<" << b << ',' << m << ',' << s << '>';
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

//===----------------------------------------------------------------------===//
// Types, taken apart and put together
//===----------------------------------------------------------------------===//

LogicalResult cute::PtrType::verify(Emit emit, Type element, StringRef space, int64_t align,
                                    StringRef swizzle) {
  return verifyParts(emit, parts(CutePtr, {element}, {space, swizzle}, {align}));
}
LogicalResult cute::MemRefType::verify(Emit emit, Type element, StringRef space, int64_t align,
                                       StringRef swizzle, StringRef layout) {
  return verifyParts(emit, parts(CuteMemRef, {element}, {space, swizzle, layout}, {align}));
}
LogicalResult cute::CoordTensorType::verify(Emit emit, StringRef start, StringRef layout) {
  return verifyParts(emit, parts(CuteCoordTensor, {}, {start, layout}, {}));
}
LogicalResult cute::TiledCopyType::verify(Emit emit, Type atom, StringRef tv, StringRef tile) {
  return verifyParts(emit, parts(CuteTiledCopy, {atom}, {tv, tile}, {}));
}
LogicalResult cute::TiledMmaType::verify(Emit emit, Type atom, StringRef atoms, StringRef tile) {
  return verifyParts(emit, parts(CuteTiledMma, {atom}, {atoms, tile}, {}));
}
LogicalResult cute::DivisibleI32Type::verify(Emit emit, int64_t divisor) {
  return verifyParts(emit, parts(CuteDivisible, {}, {}, {32, divisor}));
}
LogicalResult cute::DivisibleI64Type::verify(Emit emit, int64_t divisor) {
  return verifyParts(emit, parts(CuteDivisible, {}, {}, {64, divisor}));
}
LogicalResult cute::PipelineType::verify(Emit emit, int64_t stages) {
  return verifyParts(emit, parts(CutePipeline, {}, {}, {stages}));
}
bool cuteTypeGetParts(MlirType type, CuteTypeParts *result) {
  return llvm::TypeSwitch<Type, bool>(unwrap(type))
#define CUTE_TEXT_PARTS(T)                                                                       \
  .Case([&](cute::T##Type t) {                                                                   \
    *result = parts(Cute##T, {}, {t.getText()}, {});                                             \
    return true;                                                                                 \
  })
      CUTE_TEXT_TYPES(CUTE_TEXT_PARTS)
      .Case([&](cute::PtrType t) {
        *result = parts(CutePtr, {t.getElementType()}, {t.getSpace(), t.getSwizzle()},
                        {t.getAlign()});
        return true;
      })
      .Case([&](cute::MemRefType t) {
        *result = parts(CuteMemRef, {t.getElementType()},
                        {t.getSpace(), t.getSwizzle(), t.getLayout()}, {t.getAlign()});
        return true;
      })
      .Case([&](cute::TiledCopyType t) {
        *result = parts(CuteTiledCopy, {t.getAtom()}, {t.getLayoutTv(), t.getTilerMn()}, {});
        return true;
      })
      .Case([&](cute::TiledMmaType t) {
        *result = parts(CuteTiledMma, {t.getAtom()}, {t.getAtomLayout(), t.getPermutation()}, {});
        return true;
      })
      .Case([&](cute::DivisibleI32Type t) {
        *result = parts(CuteDivisible, {}, {}, {32, t.getDivisor()});
        return true;
      })
      .Case([&](cute::DivisibleI64Type t) {
        *result = parts(CuteDivisible, {}, {}, {64, t.getDivisor()});
        return true;
      })
      .Case([&](cute::PipelineType t) {
        *result = parts(CutePipeline, {}, {}, {t.getStages()});
        return true;
      })
      .Case([&](cute::TokenType t) {
        *result = parts(CuteToken, {}, {}, {});
        return true;
      })
      .Case([&](cute::CoordTensorType t) {
        *result = parts(CuteCoordTensor, {}, {t.getStart(), t.getLayout()}, {});
        return true;
      })
      .Case([&](cute::ArithTupleIterType t) {
        *result = parts(CuteArithTupleIter, {}, {t.getText()}, {});
        return true;
      })
      .Default([&](Type t) { return cute::nvgpuTypeParts(t, result); });
}

MlirType cuteTypeGet(MlirLocation location, const CuteTypeParts *p) {
  Location at = unwrap(location);
  MLIRContext *context = at.getContext();
  auto emit = [&] { return mlir::emitError(at); };
  auto type = [&](int i) { return unwrap(p->types[i]); };
  auto text = [&](int i) { return unwrap(p->texts[i]); };
  auto whole = [&](int i) { return p->ints[i]; };
  switch (p->kind) {
#define CUTE_TEXT_GET(T)                                                                         \
  case Cute##T:                                                                                  \
    return wrap(Type(cute::T##Type::get(context, text(0))));
    CUTE_TEXT_TYPES(CUTE_TEXT_GET)
  case CutePtr:
    return wrap(Type(
        cute::PtrType::getChecked(emit, context, type(0), text(0), whole(0), text(1))));
  case CuteMemRef:
    return wrap(Type(cute::MemRefType::getChecked(emit, context, type(0), text(0), whole(0),
                                                  text(1), text(2))));
  case CuteTiledCopy:
    return wrap(Type(
        cute::TiledCopyType::getChecked(emit, context, type(0), text(0), text(1))));
  case CuteTiledMma:
    return wrap(Type(
        cute::TiledMmaType::getChecked(emit, context, type(0), text(0), text(1))));
  case CuteDivisible:
    if (whole(0) == 32)
      return wrap(Type(cute::DivisibleI32Type::getChecked(emit, context, whole(1))));
    return wrap(Type(cute::DivisibleI64Type::getChecked(emit, context, whole(1))));
  case CutePipeline:
    return wrap(Type(cute::PipelineType::getChecked(emit, context, whole(0))));
  case CuteToken:
    return wrap(Type(cute::TokenType::get(context)));
  case CuteCoordTensor:
    return wrap(Type(cute::CoordTensorType::getChecked(emit, context, text(0), text(1))));
  case CuteArithTupleIter:
    return wrap(Type(cute::ArithTupleIterType::get(context, text(0))));
  default:
    return wrap(cute::nvgpuTypeGet(at, p));
  }
}

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
