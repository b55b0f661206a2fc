//===- Groups.h - ops whose operands are in groups --------------*- C++ -*-===//
//
// Part of cute-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Such an op has types in several places: in the brackets of some groups, and
// behind its attributes. Where a colon is missing, the op's own parser is given
// the types of the values, and brackets and commas between them that are not
// in the text, so that it finds the groups as ever.
//
//===----------------------------------------------------------------------===//

#ifndef CUTE_SHIM_GROUPS_H
#define CUTE_SHIM_GROUPS_H

#include "Forward.h"
#include "mlir/IR/Diagnostics.h"

namespace cute {

class GroupParser : public ForwardingParser {
public:
  using ForwardingParser::ForwardingParser;

  /// Reads the end of the op. Where types are to be mended, it says which text was wrong.
  ParseResult mend();

  ParseResult parseOperand(UnresolvedOperand &result, bool allowResultNumber) override;
  OptionalParseResult parseOptionalOperand(UnresolvedOperand &result,
                                           bool allowResultNumber) override;
  ParseResult parseOperandList(SmallVectorImpl<UnresolvedOperand> &result, Delimiter delimiter,
                               bool allowResultNumber, int requiredOperandCount) override;

  ParseResult parseColon() override;
  ParseResult parseColonType(Type &result) override;
  ParseResult parseColonTypeList(SmallVectorImpl<Type> &result) override;
  ParseResult parseType(Type &result) override;
  ParseResult parseCustomTypeWithFallback(
      Type &result, function_ref<ParseResult(Type &result)> parseType) override;
  OptionalParseResult parseOptionalType(Type &result) override;
  ParseResult parseCommaSeparatedList(Delimiter delimiter, function_ref<ParseResult()> parseElement,
                                      StringRef context) override;

  ParseResult parseComma() override;
  ParseResult parseOptionalComma() override;
  ParseResult parseLParen() override;
  ParseResult parseRParen() override;
  ParseResult parseLSquare() override;
  ParseResult parseRSquare() override;

  ParseResult resolveOperand(const UnresolvedOperand &operand, Type type,
                             SmallVectorImpl<Value> &result) override;

private:
  struct Operand {
    UnresolvedOperand operand;
    /// The number of operands of the list that this one begins; 0 where it begins none.
    size_t list;
    /// Set once its type has been read or given.
    bool typed;
  };
  /// The types of some operands, as they are written: from a colon to what follows.
  struct Section {
    SMLoc begin, end;
    SmallVector<size_t> operands;
    bool wrong;
  };

  std::optional<size_t> next();
  ParseResult give(Type &type);
  void take();
  void endSection();
  /// Tells whether brackets and commas are not in the text: in brackets that are there, only commas between types are not.
  bool fakes() const { return leftOut && brackets.empty(); }

  SmallVector<Operand> all;
  /// The number of operands that there were when each bracket opened that is open.
  SmallVector<size_t> brackets;
  SmallVector<Section> sections;
  /// Set where types are given of the values, and while they are being read.
  bool leftOut = false, written = false;
};

} // namespace cute

#endif
