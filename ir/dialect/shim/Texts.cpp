//===- Texts.cpp - operands that are written out --------------------------===//
//
// Part of cute-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Syntax.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace cute;

/// The words for what a text or a tuple is, and the characters for their kinds.
static const std::pair<StringRef, char> words[] = {{"coord", 'c'}, {"shape", 's'},  {"stride", 't'},
                                                   {"tile", 'm'},  {"layout", 'l'}, {"int_tuple", 'i'}};

/// The word for the tuple that stands at an operand of a kind.
static StringRef tupleOf(char kind) {
  for (auto [word, of] : words)
    if (of == kind && kind != 'l')
      return word;
  return "int_tuple";
}

/// The kind of what an operand is compared with: that of the first one, if it is a value of a kind that is known.
ParseResult HeadParser::likeFirst(SMLoc where, char &kind) {
  Type type;
  if (operands.empty())
    return emitError(where, "expected the value first that this is compared with, or the word for what it is, as in "
                            "shape \"(4,8)\"");
  if (Operation *text = textOf(operands.front()))
    type = text->getResult(0).getType();
  else if (typeOf(inner, operands.front(), type))
    return failure();
  kind = llvm::TypeSwitch<Type, char>(type)
             .Case<CoordType>([](Type) { return 'c'; })
             .Case<ShapeType>([](Type) { return 's'; })
             .Case<StrideType>([](Type) { return 't'; })
             .Case<LayoutType>([](Type) { return 'l'; })
             .Case<IntTupleType>([](Type) { return 'i'; })
             .Default([](Type) { return '-'; });
  if (kind != '-')
    return success();
  return emitError(where, "expected the word for what this is, as in shape \"(4,8)\", as it is compared with a value of ")
         << type;
}

OwningOpRef<Operation *> HeadParser::staticOf(SMLoc where, Type type) {
  OperationState state(getEncodedSourceLoc(where), StaticOp::getOperationName());
  state.addTypes(type);
  return Operation::create(state);
}

/// `(%i, _, (%j, 8))` in place of an operand: the op that makes it, which is in no block yet.
ParseResult HeadParser::parseTuple(SMLoc where, char kind, OwningOpRef<Operation *> &made) {
  if (!StringRef("cstim").contains(kind))
    return emitError(where, kind == 'l'   ? "expected a layout, such as \"(8,4):(4,1)\", found a tuple"
                            : kind == 'a' ? "expected the word for what a tuple is, which a call does not say, as in coord (%i, 0), "
                                            "shape (128, 64) or tile (128, 64)"
                                          : "expected a value, found a tuple");
  SmallVector<UnresolvedOperand> values;
  std::string tuple;
  if (inner.parseLParen() || parsePattern(values, tuple) || inner.parseRParen())
    return failure();
  if (kind == 'm' && !values.empty())
    return emitError(where, "expected a tile of known extents, such as (64,32), found a tuple with values");
  if (kind == 'm' && StringRef(tuple).find_first_of("(_") != StringRef::npos)
    return emitError(where, "expected an extent for each mode, such as (64,32), or a tile in full, such as "
                            "\"[64:1;(2,16):(1,4)]\", found (")
           << tuple << ")";
  if (values.empty()) {
    std::string text = "(" + tuple + ")";
    // So many elements of each mode, as CuTe takes a shape for a tiler. As a text, a tuple would be one mode.
    if (kind == 'm')
      text = "[" + llvm::join(llvm::split(tuple, ","), ":1;") + ":1]";
    Type type = staticTypeOf(*this, where, tupleOf(kind), text);
    if (type)
      made = staticOf(where, type);
    return success(static_cast<bool>(type));
  }
  OperationState state(getEncodedSourceLoc(where), ("cute.make_" + tupleOf(kind)).str());
  for (const UnresolvedOperand &value : values) {
    Type type;
    if (typeOf(inner, value, type) || inner.resolveOperand(value, type, state.operands))
      return failure();
  }
  NamedAttrList attributes;
  attributes.set("pattern", getBuilder().getStringAttr(tuple));
  if (failed(inferTypes(state.name.getStringRef(), getContext(), state.location, state.operands,
                        attributes.getDictionary(getContext()), state.types)))
    return failure();
  made = Operation::create(state);
  return success();
}

/// `"(_,0)"`, perhaps with the word for what it is before it, or a type that says the whole value, `!copy`, in place of an operand.
OptionalParseResult HeadParser::parseText(UnresolvedOperand &result) {
  size_t place = operands.size();
  SMLoc where = getCurrentLocation();
  auto take = [&](OwningOpRef<Operation *> made) {
    // Values have names; this one has its place among the texts.
    result = UnresolvedOperand{where, StringRef(), static_cast<unsigned>(statics.size())};
    statics.push_back(std::move(made));
    operands.push_back(result);
    return success();
  };
  if (const char *next = where.getPointer(); next && *next == '!') {
    Type type;
    return inner.parseType(type) ? failure() : take(staticOf(where, type));
  }
  if (texts.empty())
    return std::nullopt;
  char kind = place < texts.size() ? texts[place] : texts.back() == 'a' ? 'a' : '-';
  StringRef word;
  bool worded = succeeded(inner.parseOptionalKeyword(&word, to_vector(llvm::make_first_range(words))));
  if (worded) {
    if (kind == '-')
      return emitError(where, "expected a value, found '") << word << "'";
    kind = llvm::find_if(words, [&](const auto &known) { return known.first == word; })->second;
    where = getCurrentLocation();
  }
  bool isTupleHere = where.getPointer() && *where.getPointer() == '(';
  if (kind == '=' && (isTupleHere || (where.getPointer() && *where.getPointer() == '"')) && likeFirst(where, kind))
    return failure();
  if (isTupleHere) {
    OwningOpRef<Operation *> tuple;
    if (parseTuple(where, kind, tuple))
      return failure();
    return take(std::move(tuple));
  }
  std::string text;
  if (failed(inner.parseOptionalString(&text))) {
    if (!worded)
      return std::nullopt;
    return emitError(where, "expected a text or a tuple behind '") << word << "', as in " << word
                                                                  << (kind == 'l' ? " \"(8,4):(4,1)\"" : " (128, 64)");
  }
  if (kind == '-')
    return emitError(where, "expected a value, found the text \"") << text << '"';
  StringRef rest = text;
  bool isTuple = !rest.contains(':') && !rest.contains('[') && !rest.contains("S<");
  // `$L` is of whatever kind its place asks for.
  bool isParameter = rest.consume_front("$") && llvm::all_of(rest, [](char c) { return isalnum(c) || c == '_'; });
  if (isTuple && kind == 'a')
    return emitError(where, "expected the word for what a tuple is, which a call does not say, as in coord \"(0,_)\", found \"")
           << text << '"';
  if (isTuple && (kind == 'l' || kind == 'm') && !isParameter)
    return emitError(where, kind == 'l' ? "expected the text of a layout, such as \"(8,4):(4,1)\", found \""
                                        : "expected the text of a tile, such as \"[64:1;32:1]\", found \"")
           << text << '"';
  StringRef keyword = worded ? word : !isTuple ? "" : kind == 'l' ? "layout" : tupleOf(kind);
  Type type = staticTypeOf(*this, where, keyword, text);
  return type ? take(staticOf(where, type)) : failure();
}

Operation *HeadParser::textOf(const UnresolvedOperand &operand) {
  return operand.name.empty() && operand.number < statics.size() ? *statics[operand.number] : nullptr;
}

/// Tells whether a value is defined behind another one, where both are before some op. Regions that are being read are in no op yet, so that the text tells values of
/// several blocks apart.
static bool isBehind(Value value, Value other) {
  if (value.getParentBlock() != other.getParentBlock()) {
    auto place = dyn_cast<FileLineColLoc>(value.getLoc()), before = dyn_cast<FileLineColLoc>(other.getLoc());
    if (!place || !before)
      return false;
    return std::pair(place.getLine(), place.getColumn()) > std::pair(before.getLine(), before.getColumn());
  }
  Operation *made = value.getDefiningOp(), *before = other.getDefiningOp();
  return made && (!before || before->isBeforeInBlock(made));
}

/// Puts an op behind what makes a value.
static void insertBehind(Value value, OwningOpRef<Operation *> &op) {
  if (Operation *made = value.getDefiningOp())
    made->getBlock()->getOperations().insertAfter(made->getIterator(), op.release());
  else
    cast<BlockArgument>(value).getOwner()->push_front(op.release());
}

/// The value that is defined last of those that the text says may be used here; null where there is none.
Value HeadParser::nearest() {
  auto place = dyn_cast<FileLineColLoc>(getEncodedSourceLoc(getNameLoc()));
  if (!place || !getNameLoc().getPointer())
    return {};
  std::string name;
  auto ask = [&](StringRef text) {
    return callbacks().valueBefore(wrap(place.getFilename().getValue()), place.getLine(), place.getColumn(), wrap(text),
                                   append, &name);
  };
  if (!ask("") && !ask(textFromStart(place)))
    return {};
  ScopedDiagnosticHandler quiet(getContext(), [](Diagnostic &) { return success(); });
  UnresolvedOperand operand{getNameLoc(), name, 0};
  Type type;
  SmallVector<Value> values;
  if (name.empty() || typeOf(inner, operand, type) || inner.resolveOperand(operand, type, values))
    return {};
  return values.front();
}

ParseResult HeadParser::placeTexts(OperationState &state) {
  if (statics.empty())
    return success();
  auto isText = [&](Operation *op) {
    return llvm::any_of(statics, [&](OwningOpRef<Operation *> &text) { return *text == op; });
  };
  Value beside;
  for (Value value : state.operands) {
    Operation *made = value.getDefiningOp();
    // What is used before it is defined is in no block yet.
    if (!made || (!isText(made) && made->getBlock())) {
      beside = value;
      break;
    }
  }
  for (OwningOpRef<Operation *> &text : statics) {
    if (text->getNumOperands() == 0)
      continue;
    Value last = text->getOperand(0);
    for (Value value : text->getOperands())
      if (isBehind(value, last))
        last = value;
    if (!beside)
      beside = last;
    insertBehind(last, text);
  }
  if (!beside)
    beside = nearest();
  if (!beside)
    return mlir::emitError((*statics.front())->getLoc())
           << "expected a text behind a value, such as an argument of the function, found none before it; write a "
              "cute.static here, and give its value";
  for (OwningOpRef<Operation *> &text : statics)
    if (text)
      insertBehind(beside, text);
  return success();
}

/// `%i, _, (%j, 8)`, up to the bracket behind it. `pattern` is the same with `$` for each value.
ParseResult HeadParser::parsePattern(SmallVectorImpl<UnresolvedOperand> &result, std::string &pattern) {
  SmallVector<char> open;
  for (;;) {
    SMLoc where = getCurrentLocation();
    while (succeeded(inner.parseOptionalLParen())) {
      if (open.size() == 64)
        return emitError(where, "expected a tuple of at most 64 levels");
      open.push_back('(');
      pattern += '(';
    }
    UnresolvedOperand operand;
    OptionalParseResult given = inner.parseOptionalOperand(operand, true);
    int64_t number;
    OptionalParseResult integer;
    if (given.has_value()) {
      if (failed(*given))
        return failure();
      result.push_back(operand);
      pattern += '$';
    } else if ((integer = parseOptionalInteger(number)).has_value()) {
      if (failed(*integer))
        return failure();
      pattern += std::to_string(number);
    } else if (succeeded(inner.parseOptionalKeyword("_"))) {
      pattern += '_';
    } else if (open.empty() && pattern.empty()) {
      return success();
    } else {
      return emitError(where, "expected a value, an integer, '_' or a tuple of those");
    }
    while (!open.empty() && succeeded(inner.parseOptionalRParen())) {
      open.pop_back();
      pattern += ')';
    }
    if (failed(inner.parseOptionalComma()))
      break;
    pattern += ',';
  }
  return open.empty() ? success() : inner.parseRParen();
}
