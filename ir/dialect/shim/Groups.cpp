//===- Groups.cpp - ops whose operands are in groups ----------------------===//
//
// Part of cute-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Groups.h"
#include "Head.h"

using namespace mlir;
using namespace cute;

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

ParseResult GroupParser::parseOperand(UnresolvedOperand &result, bool allowResultNumber) {
  if (inner.parseOperand(result, allowResultNumber))
    return failure();
  all.push_back({result, 0, false});
  return success();
}

OptionalParseResult GroupParser::parseOptionalOperand(UnresolvedOperand &result,
                                                      bool allowResultNumber) {
  OptionalParseResult given = inner.parseOptionalOperand(result, allowResultNumber);
  if (given.has_value() && succeeded(*given))
    all.push_back({result, 0, false});
  return given;
}

ParseResult GroupParser::parseOperandList(SmallVectorImpl<UnresolvedOperand> &result,
                                          Delimiter delimiter, bool allowResultNumber,
                                          int requiredOperandCount) {
  size_t before = result.size();
  if (inner.parseOperandList(result, delimiter, allowResultNumber, requiredOperandCount))
    return failure();
  for (size_t at = before; at < result.size(); ++at)
    all.push_back({result[at], at == before ? result.size() - before : 0, false});
  return success();
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// The operand whose type is read next: in brackets one that stands in them, at the end any that has none yet.
std::optional<size_t> GroupParser::next() {
  size_t from = brackets.empty() ? 0 : brackets.back();
  for (size_t at = from; at < all.size(); ++at)
    if (!all[at].typed)
      return at;
  return std::nullopt;
}

ParseResult GroupParser::parseColon() {
  SMLoc where = getCurrentLocation();
  if (succeeded(inner.parseOptionalColon())) {
    sections.push_back({where, {}, {}, false});
    written = true;
  } else {
    leftOut = true;
  }
  return success();
}

/// The type of the next operand, whose value says it.
ParseResult GroupParser::give(Type &type) {
  std::optional<size_t> at = next();
  if (!at)
    return emitError(getCurrentLocation(), "expected types of as many operands as there are");
  all[*at].typed = true;
  return typeOf(inner, all[*at].operand, type);
}

/// Notes that the type of the next operand was read.
void GroupParser::take() {
  std::optional<size_t> at = next();
  if (!written || !at)
    return;
  all[*at].typed = true;
  sections.back().operands.push_back(*at);
}

ParseResult GroupParser::parseType(Type &result) {
  if (leftOut)
    return give(result);
  take();
  return inner.parseType(result);
}

ParseResult GroupParser::parseCustomTypeWithFallback(
    Type &result, function_ref<ParseResult(Type &result)> parse) {
  if (leftOut)
    return give(result);
  take();
  return inner.parseCustomTypeWithFallback(result, parse);
}

OptionalParseResult GroupParser::parseOptionalType(Type &result) {
  if (leftOut)
    return OptionalParseResult(give(result));
  take();
  return inner.parseOptionalType(result);
}

ParseResult GroupParser::parseColonType(Type &result) {
  return failure(parseColon() || parseType(result));
}

ParseResult GroupParser::parseColonTypeList(SmallVectorImpl<Type> &result) {
  return failure(parseColon() || parseTypeList(result));
}

/// The length of lists where no types are written: a list of types is as long as the list of operands, and one of operands that
/// were read one by one as long as there are any.
ParseResult GroupParser::parseCommaSeparatedList(Delimiter delimiter,
                                                 function_ref<ParseResult()> parseElement,
                                                 StringRef context) {
  if (!leftOut)
    return inner.parseCommaSeparatedList(delimiter, parseElement, context);
  std::optional<size_t> at = next();
  if (!at)
    return success();
  size_t end = all[*at].list ? *at + all[*at].list : all.size();
  while ((at = next()) && *at < end)
    if (parseElement())
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// What stands between types
//===----------------------------------------------------------------------===//

ParseResult GroupParser::parseComma() {
  return fakes() || (leftOut && next()) ? success() : inner.parseComma();
}

/// A comma before the type of an operand that may be missing. Numbers have no types to write: the op has them.
ParseResult GroupParser::parseOptionalComma() {
  if (!fakes())
    return inner.parseOptionalComma();
  std::optional<size_t> at = next();
  Type type;
  if (!at)
    return failure();
  ScopedDiagnosticHandler quiet(getContext(), [](Diagnostic &) { return success(); });
  // A value that is not defined is an error where its type is given.
  return failure(succeeded(typeOf(inner, all[*at].operand, type)) && type.isIntOrIndex());
}

ParseResult GroupParser::parseLParen() {
  if (fakes())
    return success();
  brackets.push_back(all.size());
  return inner.parseLParen();
}

ParseResult GroupParser::parseRParen() {
  if (fakes())
    return success();
  if (!brackets.empty()) {
    leftOut = false;
    endSection();
    brackets.pop_back();
  }
  return inner.parseRParen();
}

ParseResult GroupParser::parseLSquare() { return fakes() ? success() : inner.parseLSquare(); }
ParseResult GroupParser::parseRSquare() { return fakes() ? success() : inner.parseRSquare(); }

//===----------------------------------------------------------------------===//
// Types that are wrong
//===----------------------------------------------------------------------===//

void GroupParser::endSection() {
  if (written)
    sections.back().end = getCurrentLocation();
  written = false;
}

ParseResult GroupParser::resolveOperand(const UnresolvedOperand &operand, Type type,
                                        SmallVectorImpl<Value> &result) {
  if (!mendsTypes())
    return inner.resolveOperand(operand, type, result);
  bool wrong = false;
  if (resolveOwn(inner, operand, type, result, wrong))
    return failure();
  for (Section &section : sections)
    for (size_t at : section.operands)
      section.wrong |= wrong && all[at].operand.location == operand.location;
  return success();
}

ParseResult GroupParser::mend() {
  endSection();
  for (const Section &section : sections)
    if (section.wrong)
      mendSection(section.begin, section.end);
  return success();
}
