//===- Head.h - ops whose types are left out --------------------*- C++ -*-===//
//
// Part of cute-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An op's text has a head, what stands before the colon, and its types. Where
// the types are left out, the operands have those of their values, and the
// results those that Rust infers.
//
//===----------------------------------------------------------------------===//

#ifndef CUTE_SHIM_HEAD_H
#define CUTE_SHIM_HEAD_H

#include "Forward.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OwningOpRef.h"

namespace cute {

/// The traits of an op's definition that decide how its types may be left out.
struct Traits {
  bool noResults, oneRegion, segments, oneResult;
  /// Set where no other result types are right than those that follow.
  bool follow;
};

/// Stops an op's own parser behind its head where no colon follows, and keeps what the head has.
class HeadParser : public ForwardingParser {
public:
  /// `texts` has a character for each operand that may be a text (`textOperandsOf`).
  HeadParser(OpAsmParser &inner, StringRef op, Traits traits, StringRef texts);

  /// Tells whether the operands of an op are the leaves of its result, a tuple.
  static bool takesLeaves(StringRef op);
  /// Tells whether the op's own parser has failed because nothing follows the head.
  bool stopped() const { return atEnd; }
  /// Reads what is left of an op whose types are left out: results behind an arrow, and a region.
  ParseResult finish(OperationState &state, function_ref<DictionaryAttr()> attributes);

  /// Reads the end of an op whose types are written. Where types are to be mended, it takes those that follow instead of
  /// wrong ones, and says which text was wrong.
  ParseResult mend(OperationState &state, function_ref<DictionaryAttr()> attributes);

  /// Puts the values of operands that are texts before the op, where all is read: behind another operand's, which is as far up as they are the same, and a tuple behind
  /// the last of its own values.
  ParseResult placeTexts(OperationState &state);

  ParseResult parseColon() override;
  ParseResult parseOptionalAttrDict(NamedAttrList &result) override;
  ParseResult parseOperand(UnresolvedOperand &result, bool allowResultNumber) override;
  OptionalParseResult parseOptionalOperand(UnresolvedOperand &result,
                                           bool allowResultNumber) override;
  ParseResult parseOperandList(SmallVectorImpl<UnresolvedOperand> &result, Delimiter delimiter,
                               bool allowResultNumber, int requiredOperandCount) override;

  ParseResult resolveOperand(const UnresolvedOperand &operand, Type type,
                             SmallVectorImpl<Value> &result) override;
  ParseResult parseRegion(Region &region, ArrayRef<Argument> arguments,
                          bool enableNameShadowing) override;
  OptionalParseResult parseOptionalRegion(Region &region, ArrayRef<Argument> arguments,
                                          bool enableNameShadowing) override;
  OptionalParseResult parseOptionalRegion(std::unique_ptr<Region> &region,
                                          ArrayRef<Argument> arguments,
                                          bool enableNameShadowing) override;

private:
  void endTypes();
  ParseResult checkWritten(SMLoc begin, SMLoc end, OperationState &state, DictionaryAttr attributes,
                           SmallVectorImpl<Type> &results);
  ParseResult checkCall(OperationState &state, DictionaryAttr attributes, SmallVectorImpl<Type> &results,
                        bool &wrong, bool &follow);
  ParseResult parseBody(OperationState &state, function_ref<DictionaryAttr()> attributes);
  void addText(mlir::NamedAttrList &attributes);
  ParseResult parsePattern(SmallVectorImpl<UnresolvedOperand> &result, std::string &pattern);
  StringRef textFromStart(FileLineColLoc here);
  Value nearest();
  ParseResult likeFirst(SMLoc where, char &kind);
  ParseResult parseTuple(SMLoc where, char kind, OwningOpRef<Operation *> &made);
  OwningOpRef<Operation *> staticOf(SMLoc where, Type type);
  OptionalParseResult parseText(UnresolvedOperand &result);
  Operation *textOf(const UnresolvedOperand &operand);

  Traits traits;
  /// Tells whether the operands are leaves of a tuple, which may be written out around them.
  bool leaves;
  bool behindAttributes = false, atEnd = false;
  /// The text of the types that are written, from the colon to what follows, and whether one of an operand is wrong.
  SMLoc typesBegin, typesEnd;
  bool wrongOperand = false;
  SmallVector<UnresolvedOperand> operands;
  /// The operands that may be texts, and the ops that make their values, which are in no block yet: a `cute.static`, or what makes a tuple of values.
  StringRef texts;
  SmallVector<OwningOpRef<Operation *>> statics;
  /// The tuple around the operands, each of which is `$`.
  std::string pattern;
};

/// A value that its type says whole, by the text of it alone.
OptionalParseResult parseStaticText(OpAsmParser &parser, OperationState &state);

/// The type of a value that its type says whole, by the text of it and the word for its kind, which may be missing where it is no tuple. Null where there is no such
/// value, which is said at `where`.
Type staticTypeOf(OpAsmParser &parser, SMLoc where, StringRef keyword, StringRef text);

/// Called with the text of each op's types that are not those that follow, from the colon to the next token, and with the
/// result types that are to stand there, if they do not follow.
using Mended = llvm::function_ref<void(SMLoc begin, SMLoc end, TypeRange results)>;
/// Reads the types of each op that is parsed while `run` runs on this thread, and calls `mended` instead of an error where they
/// are wrong.
void mendTypes(Mended mended, function_ref<void()> run);

/// Refuses a comma behind the one type that stands behind an arrow without brackets.
ParseResult endResults(OpAsmParser &parser, Type type);

/// Tells whether a type is not known before a function is called or a parameter has a value: one that each call gives, or that names a parameter.
bool isOpen(Type type);

/// Says which result types an op should have.
LogicalResult refuseResults(Location location, StringRef op, TypeRange inferred, TypeRange found);

/// Tells whether types are to be mended.
bool mendsTypes();
/// Says that the types between two places are wrong, which those of the operands follow in place of.
void mendSection(SMLoc begin, SMLoc end);
/// Uses a value as one of a type, and as what it is where that is `wrong`.
ParseResult resolveOwn(OpAsmParser &parser, const OpAsmParser::UnresolvedOperand &operand, Type type,
                       SmallVectorImpl<Value> &result, bool &wrong);
/// The type of a value that is defined.
ParseResult typeOf(OpAsmParser &parser, const OpAsmParser::UnresolvedOperand &operand, Type &type);

/// Tells whether ops are printed without the types that follow.
bool stripsTypes();
void setStripsTypes(bool on);
/// Prints what is behind an op's name, without the types that follow. `print` is the op's own printer.
void printStripped(Operation *op, OpAsmPrinter &printer, Traits traits,
                   function_ref<void(OpAsmPrinter &)> print);

} // namespace cute

#endif
