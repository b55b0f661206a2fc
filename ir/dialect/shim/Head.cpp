//===- Head.cpp - ops whose types are left out ----------------------------===//
//
// Part of cute-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Syntax.h"
#include <algorithm>

using namespace mlir;
using namespace cute;

/// Who is told of wrong types instead of the user.
static thread_local const Mended *mending = nullptr;

HeadParser::HeadParser(OpAsmParser &inner, StringRef op, Traits traits, StringRef texts)
    : ForwardingParser(inner), traits(traits), leaves(takesLeaves(op)), texts(texts) {}

bool HeadParser::takesLeaves(StringRef op) {
  return llvm::is_contained(
      {"cute.make_int_tuple", "cute.make_shape", "cute.make_stride", "cute.make_coord"}, op);
}

//===----------------------------------------------------------------------===//
// The head
//===----------------------------------------------------------------------===//

ParseResult HeadParser::parseOptionalAttrDict(NamedAttrList &result) {
  behindAttributes = true;
  if (!traits.oneRegion)
    return inner.parseOptionalAttrDict(result);
  // A brace behind the operands begins attributes, also where a region was meant.
  SmallVector<Diagnostic, 1> errors;
  ParseResult parsed = success();
  {
    ScopedDiagnosticHandler handler(getContext(), [&](Diagnostic &diagnostic) {
      errors.push_back(std::move(diagnostic));
      return success();
    });
    parsed = inner.parseOptionalAttrDict(result);
  }
  for (Diagnostic &diagnostic : errors) {
    if (failed(parsed))
      diagnostic << "; where types are left out, a region follows its arguments in brackets, as in "
                    "cute.transform(%x, %y) (%e) { ... }";
    getContext()->getDiagEngine().emit(std::move(diagnostic));
  }
  return parsed;
}

ParseResult HeadParser::parseColon() {
  if (!behindAttributes || traits.segments)
    return inner.parseColon();
  SMLoc where = getCurrentLocation();
  if (succeeded(inner.parseOptionalColon())) {
    typesBegin = where;
    if (pattern.find_first_not_of("$,") == std::string::npos)
      return success();
    return emitError(where, "expected no types behind a tuple that is written out: it says them");
  }
  atEnd = true;
  return failure();
}

ParseResult HeadParser::parseOperand(UnresolvedOperand &result, bool allowResultNumber) {
  if (OptionalParseResult text = parseText(result); text.has_value())
    return *text;
  if (inner.parseOperand(result, allowResultNumber))
    return failure();
  operands.push_back(result);
  return success();
}

OptionalParseResult HeadParser::parseOptionalOperand(UnresolvedOperand &result,
                                                     bool allowResultNumber) {
  OptionalParseResult given = inner.parseOptionalOperand(result, allowResultNumber);
  if (given.has_value() && succeeded(*given))
    operands.push_back(result);
  return given;
}

ParseResult HeadParser::parseOperandList(SmallVectorImpl<UnresolvedOperand> &result,
                                         Delimiter delimiter, bool allowResultNumber,
                                         int requiredOperandCount) {
  size_t before = result.size();
  if (!leaves && delimiter == Delimiter::None && requiredOperandCount < 0) {
    do {
      UnresolvedOperand operand;
      OptionalParseResult given = parseText(operand);
      if (!given.has_value())
        given = parseOptionalOperand(operand, allowResultNumber);
      if (!given.has_value() && result.size() == before)
        return success();
      // Says that there is none.
      if (!given.has_value())
        return inner.parseOperand(operand, allowResultNumber);
      if (failed(*given))
        return failure();
      result.push_back(operand);
    } while (succeeded(inner.parseOptionalComma()));
    return success();
  }
  if (leaves && delimiter == Delimiter::None) {
    if (parsePattern(result, pattern))
      return failure();
  } else if (inner.parseOperandList(result, delimiter, allowResultNumber, requiredOperandCount)) {
    return failure();
  }
  operands.append(result.begin() + before, result.end());
  return success();
}

//===----------------------------------------------------------------------===//
// Types that are left out
//===----------------------------------------------------------------------===//

/// Uses a value as one of a type. Where it has another one, `own` is that: MLIR's parser tells it only of such a use, as an
/// argument of the error.
static ParseResult useAs(OpAsmParser &parser, const OpAsmParser::UnresolvedOperand &operand,
                         Type type, SmallVectorImpl<Value> &result, Type &own,
                         SmallVectorImpl<Diagnostic> &errors) {
  ScopedDiagnosticHandler handler(parser.getContext(), [&](Diagnostic &diagnostic) {
    for (const DiagnosticArgument &argument : diagnostic.getArguments())
      if (argument.getKind() == DiagnosticArgument::DiagnosticArgumentKind::Type &&
          argument.getAsType() != type)
        own = argument.getAsType();
    errors.push_back(std::move(diagnostic));
    return success();
  });
  return parser.resolveOperand(operand, type, result);
}

ParseResult cute::typeOf(OpAsmParser &parser, const OpAsmParser::UnresolvedOperand &operand,
                         Type &type) {
  // It is used as one of a type that no value has.
  MLIRContext *context = parser.getContext();
  Type none = OpaqueType::get(StringAttr::get(context, "cute"), "a type that is left out");
  SmallVector<Diagnostic, 1> errors;
  SmallVector<Value> value;
  type = Type();
  if (failed(useAs(parser, operand, none, value, type, errors))) {
    if (type)
      return success();
    for (Diagnostic &diagnostic : errors)
      context->getDiagEngine().emit(std::move(diagnostic));
    return failure();
  }
  return parser.emitError(operand.location)
         << "use of value '" << operand.name
         << "', which is not defined before; define it, or, where it is defined further on, write the "
            "types of the operands, ' : (...)'";
}

/// `(%x, %y) { ... }`: the region with its arguments, each of which may have a type behind it.
ParseResult HeadParser::parseBody(OperationState &state,
                                  function_ref<DictionaryAttr()> attributes) {
  SmallVector<Argument> arguments;
  SmallVector<Type> types;
  Region &region = *state.addRegion();
  SMLoc where = getCurrentLocation();
  if (failed(inner.parseOptionalLParen())) {
    OptionalParseResult given = inner.parseOptionalRegion(region);
    return given.has_value() ? *given : success();
  }
  auto one = [&]() -> ParseResult {
    if (inner.parseArgument(arguments.emplace_back()))
      return failure();
    return succeeded(inner.parseOptionalColon()) ? inner.parseType(arguments.back().type) : success();
  };
  if (failed(inner.parseOptionalRParen()) && (parseCommaSeparatedList(one) || inner.parseRParen()))
    return failure();
  if (!llvm::all_of(arguments, [](const Argument &argument) { return argument.type; })) {
    NamedAttrList all(attributes());
    all.set("arguments", getBuilder().getUnitAttr());
    if (failed(inferTypes(state.name.getStringRef(), getContext(), getEncodedSourceLoc(where),
                          state.operands, all.getDictionary(getContext()), types)))
      return failure();
    if (types.size() != arguments.size())
      return emitError(where) << "expected the names of " << types.size()
                              << " arguments of the region, of the types " << types << ", found "
                              << arguments.size();
    for (auto [argument, type] : llvm::zip(arguments, types))
      if (!argument.type)
        argument.type = type;
  }
  return inner.parseRegion(region, arguments);
}

/// The whole text that an op is in, of which the parser tells the op's place alone: a language server's. Empty where it is not found.
StringRef HeadParser::textFromStart(FileLineColLoc here) {
  const char *start = getNameLoc().getPointer();
  // There are at least as many characters before a place as lines; the first line says its own column.
  for (unsigned line = here.getLine(); line > 1;) {
    unsigned before = line - 1;
    start -= before;
    line -= std::count(start, start + before, '\n');
  }
  auto first = dyn_cast<FileLineColLoc>(getEncodedSourceLoc(SMLoc::getFromPointer(start)));
  if (!first || first.getLine() != 1)
    return {};
  return StringRef(start - (first.getColumn() - 1));
}

/// The text of the module, and its file's name: which function a call means is said elsewhere in it.
void HeadParser::addText(NamedAttrList &attributes) {
  SMLoc here = getNameLoc();
  auto location = here.getPointer() ? dyn_cast<FileLineColLoc>(getEncodedSourceLoc(here)) : FileLineColLoc();
  if (!location)
    return;
  attributes.set("file", location.getFilename());
  auto take = [](MlirStringRef text, void *user) {
    auto &attributes = *static_cast<NamedAttrList *>(user);
    attributes.set("text", StringAttr::get(attributes.begin()->getName().getContext(), unwrap(text)));
  };
  if (callbacks().textAround(wrap(location.getFilename().getValue()), location.getLine(), take, &attributes))
    return;
  if (StringRef text = textFromStart(location); text.data())
    attributes.set("text", getBuilder().getStringAttr(text));
}

ParseResult cute::endResults(OpAsmParser &parser, Type type) {
  SMLoc where = parser.getCurrentLocation();
  if (failed(parser.parseOptionalComma()))
    return success();
  std::string first;
  llvm::raw_string_ostream(first) << type;
  return parser.emitError(where) << "expected the types of several results in brackets, ' -> (" << first
                                 << ", ...)', found ',' behind the first; leave them out, with the arrow, where they "
                                    "follow from the operands";
}

/// Result types that stand behind an arrow though they follow. What comes behind is read by them, so that wrong ones are said, or mended, here.
ParseResult HeadParser::checkWritten(SMLoc begin, SMLoc end, OperationState &state,
                                     DictionaryAttr attributes, SmallVectorImpl<Type> &results) {
  StringRef op = state.name.getStringRef();
  Location location = getEncodedSourceLoc(getNameLoc());
  SmallVector<Type> inferred;
  {
    // What is wrong with operands is said by the verifier.
    ScopedDiagnosticHandler quiet(getContext(), [](Diagnostic &) { return success(); });
    if (failed(inferTypes(op, getContext(), location, state.operands, attributes, inferred)))
      return success();
  }
  bool open = llvm::any_of(inferred, [](Type type) { return isa<AnyType>(type); });
  if (open || compatibleTypes(inferred, results))
    return success();
  if (!mendsTypes())
    return refuseResults(location, op, inferred, results);
  results = inferred;
  mendSection(begin, end);
  return success();
}

ParseResult HeadParser::finish(OperationState &state,
                               function_ref<DictionaryAttr()> attributes) {
  // The check names the op itself.
  auto wrong = [&] { return mlir::emitError(getEncodedSourceLoc(getNameLoc())); };
  if (failed(state.name.verifyInherentAttrs(state.attributes, wrong)))
    return failure();
  SmallVector<Type> results;
  SMLoc begin = getCurrentLocation();
  bool written = succeeded(inner.parseOptionalArrow()) ||
                 succeeded(inner.parseOptionalKeyword("to"));
  if (written) {
    if (succeeded(inner.parseOptionalLParen())) {
      if (failed(inner.parseOptionalRParen()) && (parseTypeList(results) || inner.parseRParen()))
        return failure();
    } else if (inner.parseType(results.emplace_back()) || endResults(inner, results.back())) {
      return failure();
    }
  }
  SMLoc end = getCurrentLocation();
  for (const UnresolvedOperand &operand : operands) {
    Type type;
    if (Operation *text = textOf(operand))
      state.operands.push_back(text->getResult(0));
    else if (typeOf(inner, operand, type) || inner.resolveOperand(operand, type, state.operands))
      return failure();
  }
  if (traits.oneRegion && parseBody(state, attributes))
    return failure();
  if (!written && !traits.noResults) {
    NamedAttrList all(attributes());
    if (leaves)
      all.set("pattern", getBuilder().getStringAttr(pattern));
    if (state.name.getStringRef() == "cute.call")
      addText(all);
    // How many there are where operands do not say it: as many as are named.
    all.set("results", getBuilder().getI64IntegerAttr(
                           traits.oneResult ? 1 : static_cast<int64_t>(inner.getNumResults())));
    if (failed(inferTypes(state.name.getStringRef(), getContext(), getEncodedSourceLoc(getNameLoc()),
                          state.operands, all.getDictionary(getContext()), results)))
      return failure();
  }
  if (written && traits.follow && checkWritten(begin, end, state, attributes(), results))
    return failure();
  bool mended = false, follow = false;
  if (written && state.name.getStringRef() == "cute.call" &&
      checkCall(state, attributes(), results, mended, follow))
    return failure();
  if (mended)
    (*mending)(begin, end, follow ? TypeRange() : TypeRange(results));
  size_t named = inner.getNumResults();
  if (named && results.empty())
    return mlir::emitError(getEncodedSourceLoc(getNameLoc()))
           << "'" << state.name << "' op gives no results, but " << named
           << (named == 1 ? " has a name; leave it out" : " have names; leave them out");
  if (named && named != results.size())
    return mlir::emitError(getEncodedSourceLoc(getNameLoc()))
           << "'" << state.name << "' op gives " << results.size() << " result"
           << (results.size() == 1 ? "" : "s") << ", of the types (" << results << "), but " << named
           << (named == 1 ? " has a name" : " have names") << "; name as many";
  state.addTypes(results);
  return success();
}

//===----------------------------------------------------------------------===//
// Types that are wrong
//===----------------------------------------------------------------------===//

void cute::mendTypes(Mended mended, function_ref<void()> run) {
  mending = &mended;
  run();
  mending = nullptr;
}

bool cute::mendsTypes() { return mending; }
void cute::mendSection(SMLoc begin, SMLoc end) { (*mending)(begin, end, {}); }

ParseResult cute::resolveOwn(OpAsmParser &parser, const OpAsmParser::UnresolvedOperand &operand,
                             Type type, SmallVectorImpl<Value> &result, bool &wrong) {
  Type own;
  SmallVector<Diagnostic, 1> errors;
  if (succeeded(useAs(parser, operand, type, result, own, errors)))
    return success();
  if (own) {
    wrong = true;
    return parser.resolveOperand(operand, own, result);
  }
  for (Diagnostic &diagnostic : errors)
    parser.getContext()->getDiagEngine().emit(std::move(diagnostic));
  return failure();
}

ParseResult HeadParser::resolveOperand(const UnresolvedOperand &operand, Type type,
                                       SmallVectorImpl<Value> &result) {
  if (Operation *text = textOf(operand)) {
    Type own = text->getResult(0).getType();
    result.push_back(text->getResult(0));
    if (own != type && mending)
      wrongOperand = true;
    else if (own != type)
      return emitError(operand.location) << "expected the type " << type << ", found a text of " << own;
    return success();
  }
  if (!mending || !typesBegin.isValid())
    return inner.resolveOperand(operand, type, result);
  return resolveOwn(inner, operand, type, result, wrongOperand);
}

/// The types end where the region begins that stands behind them.
void HeadParser::endTypes() {
  if (!typesEnd.isValid())
    typesEnd = getCurrentLocation();
}

ParseResult HeadParser::parseRegion(Region &region, ArrayRef<Argument> arguments,
                                    bool enableNameShadowing) {
  endTypes();
  return inner.parseRegion(region, arguments, enableNameShadowing);
}

OptionalParseResult HeadParser::parseOptionalRegion(Region &region, ArrayRef<Argument> arguments,
                                                    bool enableNameShadowing) {
  endTypes();
  return inner.parseOptionalRegion(region, arguments, enableNameShadowing);
}

OptionalParseResult HeadParser::parseOptionalRegion(std::unique_ptr<Region> &region,
                                                    ArrayRef<Argument> arguments,
                                                    bool enableNameShadowing) {
  endTypes();
  return inner.parseOptionalRegion(region, arguments, enableNameShadowing);
}

/// Result types of a call that its function says otherwise, where it is known and neither arguments nor parameters say them. What the function leaves open
/// stays as it is written; where that is nothing, all `follow`.
ParseResult HeadParser::checkCall(OperationState &state, DictionaryAttr attributes,
                                  SmallVectorImpl<Type> &results, bool &wrong, bool &follow) {
  NamedAttrList all(attributes);
  addText(all);
  all.set("checks", getBuilder().getUnitAttr());
  all.set("results", getBuilder().getI64IntegerAttr(static_cast<int64_t>(results.size())));
  Location location = getEncodedSourceLoc(getNameLoc());
  SmallVector<Type> inferred;
  {
    // A function that is not there is said by the verifier.
    ScopedDiagnosticHandler quiet(getContext(), [](Diagnostic &) { return success(); });
    if (failed(inferTypes(state.name.getStringRef(), getContext(), location, state.operands,
                          all.getDictionary(getContext()), inferred)))
      return success();
  }
  follow = !llvm::any_of(inferred, [](Type type) { return isa<AnyType>(type); });
  auto callee = dyn_cast_or_null<FlatSymbolRefAttr>(attributes.get("callee"));
  StringRef name = callee ? callee.getValue() : StringRef();
  if (inferred.size() != results.size()) {
    wrong = true;
    if (mending && follow) {
      results.assign(inferred.begin(), inferred.end());
      return success();
    }
    return mlir::emitError(location) << "'cute.call' op expected as many results as @" << name << " has, "
                                     << inferred.size() << ", found " << results.size()
                                     << "; leave the types out";
  }
  for (auto [i, says, is] : llvm::enumerate(results, inferred)) {
    if (says == is || isOpen(is) || isOpen(says))
      continue;
    wrong = true;
    if (!mending)
      return mlir::emitError(location)
             << "'cute.call' op expected result " << i << " of type " << is << ", as @" << name
             << " gives it, found " << says << "; leave the type out";
    says = is;
  }
  return success();
}

ParseResult HeadParser::mend(OperationState &state, function_ref<DictionaryAttr()> attributes) {
  bool isCall = state.name.getStringRef() == "cute.call";
  if (isCall && !state.types.empty()) {
    endTypes();
    bool wrong = false, follow = false;
    if (checkCall(state, attributes(), state.types, wrong, follow))
      return failure();
    if (mending && typesBegin.isValid() && (wrong || wrongOperand))
      (*mending)(typesBegin, typesEnd, follow ? TypeRange() : TypeRange(state.types));
    return success();
  }
  if (!mending || !typesBegin.isValid())
    return success();
  endTypes();
  bool follows = traits.noResults;
  SmallVector<Type> inferred;
  if (!follows) {
    ScopedDiagnosticHandler quiet(getContext(), [](Diagnostic &) { return success(); });
    NamedAttrList all(attributes());
    all.set("results", getBuilder().getI64IntegerAttr(static_cast<int64_t>(state.types.size())));
    follows = succeeded(inferTypes(state.name.getStringRef(), getContext(),
                                   getEncodedSourceLoc(getNameLoc()), state.operands,
                                   all.getDictionary(getContext()), inferred));
    // What is open may be known to whoever wrote it.
    follows &= !llvm::any_of(inferred, [](Type type) { return isa<AnyType>(type); });
  }
  // A tuple's own type says more than its operands do.
  follows &= !leaves;
  bool wrong = follows && !traits.noResults && !compatibleTypes(inferred, state.types);
  if (!wrong && !wrongOperand)
    return success();
  if (wrong)
    state.types.assign(inferred.begin(), inferred.end());
  (*mending)(typesBegin, typesEnd, follows ? TypeRange() : TypeRange(state.types));
  return success();
}

//===----------------------------------------------------------------------===//
// Static values
//===----------------------------------------------------------------------===//

namespace {
struct StaticKind {
  StringRef keyword;
  CuteKind kind;
  Type (*get)(MLIRContext *, StringRef);
};
} // namespace

Type cute::staticTypeOf(OpAsmParser &parser, SMLoc where, StringRef keyword, StringRef text) {
  static const StaticKind kinds[] = {
#define CUTE_STATIC_KIND(T)                                                                      \
  {T##Type::getMnemonic(), Cute##T, [](MLIRContext *context, StringRef text) -> Type {           \
     return T##Type::get(context, text);                                                         \
   }},
      CUTE_TEXT_TYPES(CUTE_STATIC_KIND)};
  bool named = !keyword.empty();
  std::string answer;
  for (const StaticKind &kind : kinds) {
    if (named && kind.keyword != keyword)
      continue;
    // Without a word for it, only what no other kind is written as: a tuple could be any of several.
    if (!named && (llvm::is_contained({CuteIntTuple, CuteShape, CuteStride, CuteCoord}, kind.kind) ||
                   text.find_first_of(":S[") == StringRef::npos))
      continue;
    answer.clear();
    if (callbacks().canonicalize(kind.kind, wrap(text), append, &answer))
      return kind.get(parser.getContext(), answer);
    if (named) {
      parser.emitError(where) << answer;
      return {};
    }
  }
  if (named)
    parser.emitError(where) << "expected int_tuple, shape, stride, coord, layout, tile, swizzle or "
                               "composed_layout, found '"
                            << keyword << "'";
  else
    parser.emitError(where)
        << "expected the text of a layout, a tile, a swizzle or a composed layout, found \"" << text
        << (text.starts_with("$") ? "\"; of a parameter write what it is, as in cute.static layout \"$L\""
                                  : "\"; of a tuple write what it is, as in cute.static coord \"(0,_)\"");
  return {};
}

OptionalParseResult cute::parseStaticText(OpAsmParser &parser, OperationState &state) {
  StringRef keyword;
  SMLoc where = parser.getCurrentLocation();
  bool named = succeeded(parser.parseOptionalKeyword(&keyword));
  std::string text;
  SMLoc textAt = parser.getCurrentLocation();
  if (failed(parser.parseOptionalString(&text))) {
    if (!named)
      return std::nullopt;
    return parser.emitError(textAt, "expected the text of the value, as in cute.static coord \"(0,_)\"");
  }
  bool isKind = llvm::is_contained({
#define CUTE_STATIC_WORD(T) T##Type::getMnemonic(),
                                       CUTE_TEXT_TYPES(CUTE_STATIC_WORD)},
                                   keyword);
  Type type = staticTypeOf(parser, named && !isKind ? where : textAt, keyword, text);
  if (!type)
    return failure();
  state.addTypes(type);
  return parser.parseOptionalAttrDict(state.attributes);
}
