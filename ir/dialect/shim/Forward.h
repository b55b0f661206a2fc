//===- Forward.h - parsers and printers that hand on ------------*- C++ -*-===//
//
// Part of cute-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All that MLIR's parser and printer of ops offer, handed on to another one as it
// is. A class derived from them overrides what it does otherwise.
//
//===----------------------------------------------------------------------===//

#ifndef CUTE_SHIM_FORWARD_H
#define CUTE_SHIM_FORWARD_H

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/IntegerSet.h"
#include "mlir/IR/OpImplementation.h"

namespace cute {
using namespace mlir;

class ForwardingParser : public OpAsmParser {
public:
  explicit ForwardingParser(OpAsmParser &inner) : inner(inner) {}

  using AsmParser::getCurrentLocation;
  using AsmParser::parseAttribute;
  using AsmParser::parseCommaSeparatedList;
  using AsmParser::parseKeyword;
  using AsmParser::parseOptionalInteger;
  using AsmParser::parseType;

  SMLoc getNameLoc() const override { return inner.getNameLoc(); }
  InFlightDiagnostic emitError(SMLoc loc, const Twine &message = {}) override {
    return inner.emitError(loc, message);
  }
  Builder &getBuilder() const override { return inner.getBuilder(); }
  SMLoc getCurrentLocation() override { return inner.getCurrentLocation(); }
  Location getEncodedSourceLoc(SMLoc loc) override { return inner.getEncodedSourceLoc(loc); }
  ParseResult parseArrow() override { return inner.parseArrow(); }
  ParseResult parseOptionalArrow() override { return inner.parseOptionalArrow(); }
  ParseResult parseLBrace() override { return inner.parseLBrace(); }
  ParseResult parseOptionalLBrace() override { return inner.parseOptionalLBrace(); }
  ParseResult parseRBrace() override { return inner.parseRBrace(); }
  ParseResult parseOptionalRBrace() override { return inner.parseOptionalRBrace(); }
  ParseResult parseColon() override { return inner.parseColon(); }
  ParseResult parseOptionalColon() override { return inner.parseOptionalColon(); }
  ParseResult parseComma() override { return inner.parseComma(); }
  ParseResult parseOptionalComma() override { return inner.parseOptionalComma(); }
  ParseResult parseEqual() override { return inner.parseEqual(); }
  ParseResult parseOptionalEqual() override { return inner.parseOptionalEqual(); }
  ParseResult parseLess() override { return inner.parseLess(); }
  ParseResult parseOptionalLess() override { return inner.parseOptionalLess(); }
  ParseResult parseGreater() override { return inner.parseGreater(); }
  ParseResult parseOptionalGreater() override { return inner.parseOptionalGreater(); }
  ParseResult parseQuestion() override { return inner.parseQuestion(); }
  ParseResult parseOptionalQuestion() override { return inner.parseOptionalQuestion(); }
  ParseResult parsePlus() override { return inner.parsePlus(); }
  ParseResult parseOptionalPlus() override { return inner.parseOptionalPlus(); }
  ParseResult parseSlash() override { return inner.parseSlash(); }
  ParseResult parseOptionalSlash() override { return inner.parseOptionalSlash(); }
  ParseResult parseMinus() override { return inner.parseMinus(); }
  ParseResult parseOptionalMinus() override { return inner.parseOptionalMinus(); }
  ParseResult parseStar() override { return inner.parseStar(); }
  ParseResult parseOptionalStar() override { return inner.parseOptionalStar(); }
  ParseResult parseVerticalBar() override { return inner.parseVerticalBar(); }
  ParseResult parseOptionalVerticalBar() override { return inner.parseOptionalVerticalBar(); }
  ParseResult parseOptionalString(std::string *string) override { return inner.parseOptionalString(string); }
  ParseResult parseBase64Bytes(std::vector<char> *bytes) override { return inner.parseBase64Bytes(bytes); }
  ParseResult parseLParen() override { return inner.parseLParen(); }
  ParseResult parseOptionalLParen() override { return inner.parseOptionalLParen(); }
  ParseResult parseRParen() override { return inner.parseRParen(); }
  ParseResult parseOptionalRParen() override { return inner.parseOptionalRParen(); }
  ParseResult parseLSquare() override { return inner.parseLSquare(); }
  ParseResult parseOptionalLSquare() override { return inner.parseOptionalLSquare(); }
  ParseResult parseRSquare() override { return inner.parseRSquare(); }
  ParseResult parseOptionalRSquare() override { return inner.parseOptionalRSquare(); }
  ParseResult parseEllipsis() override { return inner.parseEllipsis(); }
  ParseResult parseOptionalEllipsis() override { return inner.parseOptionalEllipsis(); }
  ParseResult parseFloat(double &result) override { return inner.parseFloat(result); }
  ParseResult parseFloat(const llvm::fltSemantics &semantics, APFloat &result) override {
    return inner.parseFloat(semantics, result);
  }
  OptionalParseResult parseOptionalInteger(APInt &result) override {
    return inner.parseOptionalInteger(result);
  }
  OptionalParseResult parseOptionalDecimalInteger(APInt &result) override {
    return inner.parseOptionalDecimalInteger(result);
  }
  ParseResult parseCommaSeparatedList(
      Delimiter delimiter, function_ref<ParseResult()> parseElementFn, StringRef contextMessage) override {
    return inner.parseCommaSeparatedList(delimiter, parseElementFn, contextMessage);
  }
  ParseResult parseKeyword(StringRef keyword, const Twine &msg) override {
    return inner.parseKeyword(keyword, msg);
  }
  ParseResult parseOptionalKeyword(StringRef keyword) override { return inner.parseOptionalKeyword(keyword); }
  ParseResult parseOptionalKeyword(StringRef *keyword) override {
    return inner.parseOptionalKeyword(keyword);
  }
  ParseResult parseOptionalKeyword(StringRef *keyword, ArrayRef<StringRef> allowedValues) override {
    return inner.parseOptionalKeyword(keyword, allowedValues);
  }
  ParseResult parseOptionalKeywordOrString(std::string *result) override {
    return inner.parseOptionalKeywordOrString(result);
  }
  ParseResult parseAttribute(Attribute &result, Type type) override {
    return inner.parseAttribute(result, type);
  }
  ParseResult parseCustomAttributeWithFallback(
      Attribute &result, Type type, function_ref<ParseResult(Attribute &result, Type type)> parseAttribute) override {
    return inner.parseCustomAttributeWithFallback(result, type, parseAttribute);
  }
  OptionalParseResult parseOptionalAttribute(Attribute &result, Type type) override {
    return inner.parseOptionalAttribute(result, type);
  }
  OptionalParseResult parseOptionalAttribute(ArrayAttr &result, Type type) override {
    return inner.parseOptionalAttribute(result, type);
  }
  OptionalParseResult parseOptionalAttribute(StringAttr &result, Type type) override {
    return inner.parseOptionalAttribute(result, type);
  }
  OptionalParseResult parseOptionalAttribute(SymbolRefAttr &result, Type type) override {
    return inner.parseOptionalAttribute(result, type);
  }
  ParseResult parseOptionalAttrDict(NamedAttrList &result) override {
    return inner.parseOptionalAttrDict(result);
  }
  ParseResult parseOptionalAttrDictWithKeyword(NamedAttrList &result) override {
    return inner.parseOptionalAttrDictWithKeyword(result);
  }
  ParseResult parseAffineMap(AffineMap &map) override { return inner.parseAffineMap(map); }
  ParseResult parseAffineExpr(
      ArrayRef<std::pair<StringRef, AffineExpr>> symbolSet, AffineExpr &expr) override {
    return inner.parseAffineExpr(symbolSet, expr);
  }
  ParseResult parseIntegerSet(IntegerSet &set) override { return inner.parseIntegerSet(set); }
  ParseResult parseOptionalSymbolName(StringAttr &result) override {
    return inner.parseOptionalSymbolName(result);
  }
  ParseResult parseType(Type &result) override { return inner.parseType(result); }
  ParseResult parseCustomTypeWithFallback(
      Type &result, function_ref<ParseResult(Type &result)> parseType) override {
    return inner.parseCustomTypeWithFallback(result, parseType);
  }
  OptionalParseResult parseOptionalType(Type &result) override { return inner.parseOptionalType(result); }
  ParseResult parseArrowTypeList(SmallVectorImpl<Type> &result) override {
    return inner.parseArrowTypeList(result);
  }
  ParseResult parseOptionalArrowTypeList(SmallVectorImpl<Type> &result) override {
    return inner.parseOptionalArrowTypeList(result);
  }
  ParseResult parseColonType(Type &result) override { return inner.parseColonType(result); }
  ParseResult parseColonTypeList(SmallVectorImpl<Type> &result) override {
    return inner.parseColonTypeList(result);
  }
  ParseResult parseOptionalColonTypeList(SmallVectorImpl<Type> &result) override {
    return inner.parseOptionalColonTypeList(result);
  }
  ParseResult parseDimensionList(
      SmallVectorImpl<int64_t> &dimensions, bool allowDynamic, bool withTrailingX) override {
    return inner.parseDimensionList(dimensions, allowDynamic, withTrailingX);
  }
  ParseResult parseXInDimensionList() override { return inner.parseXInDimensionList(); }
  ParseResult parseOptionalLocationSpecifier(std::optional<Location> &result) override {
    return inner.parseOptionalLocationSpecifier(result);
  }
  std::pair<StringRef, unsigned> getResultName(unsigned resultNo) const override {
    return inner.getResultName(resultNo);
  }
  size_t getNumResults() const override { return inner.getNumResults(); }
  Operation * parseGenericOperation(Block *insertBlock, Block::iterator insertPt) override {
    return inner.parseGenericOperation(insertBlock, insertPt);
  }
  FailureOr<OperationName> parseCustomOperationName() override { return inner.parseCustomOperationName(); }
  ParseResult parseGenericOperationAfterOpName(
      OperationState &result, std::optional<ArrayRef<UnresolvedOperand>> parsedOperandType, std::optional<ArrayRef<Block *>> parsedSuccessors, std::optional<MutableArrayRef<std::unique_ptr<Region>>> parsedRegions, std::optional<ArrayRef<NamedAttribute>> parsedAttributes, std::optional<Attribute> parsedPropertiesAttribute, std::optional<FunctionType> parsedFnType) override {
    return inner.parseGenericOperationAfterOpName(result, parsedOperandType, parsedSuccessors, parsedRegions, parsedAttributes, parsedPropertiesAttribute, parsedFnType);
  }
  ParseResult parseOperand(UnresolvedOperand &result, bool allowResultNumber) override {
    return inner.parseOperand(result, allowResultNumber);
  }
  OptionalParseResult parseOptionalOperand(UnresolvedOperand &result, bool allowResultNumber) override {
    return inner.parseOptionalOperand(result, allowResultNumber);
  }
  ParseResult parseOperandList(
      SmallVectorImpl<UnresolvedOperand> &result, Delimiter delimiter, bool allowResultNumber, int requiredOperandCount) override {
    return inner.parseOperandList(result, delimiter, allowResultNumber, requiredOperandCount);
  }
  ParseResult resolveOperand(const UnresolvedOperand &operand, Type type, SmallVectorImpl<Value> &result) override {
    return inner.resolveOperand(operand, type, result);
  }
  ParseResult parseAffineMapOfSSAIds(
      SmallVectorImpl<UnresolvedOperand> &operands, Attribute &map, StringRef attrName, NamedAttrList &attrs, Delimiter delimiter) override {
    return inner.parseAffineMapOfSSAIds(operands, map, attrName, attrs, delimiter);
  }
  ParseResult parseAffineExprOfSSAIds(
      SmallVectorImpl<UnresolvedOperand> &dimOperands, SmallVectorImpl<UnresolvedOperand> &symbOperands, AffineExpr &expr) override {
    return inner.parseAffineExprOfSSAIds(dimOperands, symbOperands, expr);
  }
  ParseResult parseArgument(Argument &result, bool allowType, bool allowAttrs) override {
    return inner.parseArgument(result, allowType, allowAttrs);
  }
  OptionalParseResult parseOptionalArgument(Argument &result, bool allowType, bool allowAttrs) override {
    return inner.parseOptionalArgument(result, allowType, allowAttrs);
  }
  ParseResult parseArgumentList(
      SmallVectorImpl<Argument> &result, Delimiter delimiter, bool allowType, bool allowAttrs) override {
    return inner.parseArgumentList(result, delimiter, allowType, allowAttrs);
  }
  ParseResult parseRegion(Region &region, ArrayRef<Argument> arguments, bool enableNameShadowing) override {
    return inner.parseRegion(region, arguments, enableNameShadowing);
  }
  OptionalParseResult parseOptionalRegion(
      Region &region, ArrayRef<Argument> arguments, bool enableNameShadowing) override {
    return inner.parseOptionalRegion(region, arguments, enableNameShadowing);
  }
  OptionalParseResult parseOptionalRegion(std::unique_ptr<Region> &region, ArrayRef<Argument> arguments, bool enableNameShadowing) override {
    return inner.parseOptionalRegion(region, arguments, enableNameShadowing);
  }
  ParseResult parseSuccessor(Block *&dest) override { return inner.parseSuccessor(dest); }
  OptionalParseResult parseOptionalSuccessor(Block *&dest) override {
    return inner.parseOptionalSuccessor(dest);
  }
  ParseResult parseSuccessorAndUseList(Block *&dest, SmallVectorImpl<Value> &operands) override {
    return inner.parseSuccessorAndUseList(dest, operands);
  }
  OptionalParseResult parseOptionalAssignmentList(
      SmallVectorImpl<Argument> &lhs, SmallVectorImpl<UnresolvedOperand> &rhs) override {
    return inner.parseOptionalAssignmentList(lhs, rhs);
  }

protected:
  OpAsmParser &inner;

  FailureOr<AsmDialectResourceHandle> parseResourceHandle(Dialect *dialect) override {
    return (inner.*static_cast<FailureOr<AsmDialectResourceHandle> (AsmParser::*)(Dialect *)>(
                &Reach::parseResourceHandle))(dialect);
  }
  LogicalResult pushCyclicParsing(const void *opaquePointer) override {
    return (inner.*&Reach::pushCyclicParsing)(opaquePointer);
  }
  void popCyclicParsing() override { return (inner.*&Reach::popCyclicParsing)(); }
  ParseResult parseKeywordOrCompletion(StringRef *keyword) override {
    return (inner.*&Reach::parseKeywordOrCompletion)(keyword);
  }
  void codeCompleteExpectedTokens(ArrayRef<StringRef> tokens) override {
    return (inner.*&Reach::codeCompleteExpectedTokens)(tokens);
  }

private:
  /// The way to what MLIR keeps for classes that are derived from its own.
  struct Reach : OpAsmParser {
    using AsmParser::parseResourceHandle;
    using AsmParser::pushCyclicParsing;
    using AsmParser::popCyclicParsing;
    using AsmParser::parseKeywordOrCompletion;
    using AsmParser::codeCompleteExpectedTokens;
  };
};

class ForwardingPrinter : public OpAsmPrinter {
public:
  explicit ForwardingPrinter(OpAsmPrinter &inner) : inner(inner) {}

  raw_ostream &getStream() const override { return inner.getStream(); }
  void printNewline() override { inner.printNewline(); }
  void increaseIndent() override { inner.increaseIndent(); }
  void decreaseIndent() override { inner.decreaseIndent(); }
  void printFloat(const APFloat &value) override { inner.printFloat(value); }
  void printType(Type type) override { inner.printType(type); }
  void printAttribute(Attribute attr) override { inner.printAttribute(attr); }
  void printAttributeWithoutType(Attribute attr) override {
    inner.printAttributeWithoutType(attr);
  }
  void printNamedAttribute(NamedAttribute attr) override { inner.printNamedAttribute(attr); }
  LogicalResult printAlias(Attribute attr) override { return inner.printAlias(attr); }
  LogicalResult printAlias(Type type) override { return inner.printAlias(type); }
  void printKeywordOrString(StringRef keyword) override { inner.printKeywordOrString(keyword); }
  void printString(StringRef string) override { inner.printString(string); }
  void printSymbolName(StringRef symbolRef) override { inner.printSymbolName(symbolRef); }
  void printResourceHandle(const AsmDialectResourceHandle &resource) override {
    inner.printResourceHandle(resource);
  }
  void printOptionalLocationSpecifier(Location loc) override {
    inner.printOptionalLocationSpecifier(loc);
  }
  void printRegionArgument(BlockArgument arg, ArrayRef<NamedAttribute> argAttrs,
                           bool omitType) override {
    inner.printRegionArgument(arg, argAttrs, omitType);
  }
  void printOperand(Value value) override { inner.printOperand(value); }
  void printOperand(Value value, raw_ostream &os) override { inner.printOperand(value, os); }
  void printSuccessor(Block *successor) override { inner.printSuccessor(successor); }
  void printSuccessorAndUseList(Block *successor, ValueRange succOperands) override {
    inner.printSuccessorAndUseList(successor, succOperands);
  }
  void printOptionalAttrDict(ArrayRef<NamedAttribute> attrs,
                             ArrayRef<StringRef> elidedAttrs) override {
    inner.printOptionalAttrDict(attrs, elidedAttrs);
  }
  void printOptionalAttrDictWithKeyword(ArrayRef<NamedAttribute> attrs,
                                        ArrayRef<StringRef> elidedAttrs) override {
    inner.printOptionalAttrDictWithKeyword(attrs, elidedAttrs);
  }
  void printCustomOrGenericOp(Operation *op) override { inner.printCustomOrGenericOp(op); }
  void printGenericOp(Operation *op, bool printOpName) override {
    inner.printGenericOp(op, printOpName);
  }
  void printRegion(Region &blocks, bool printEntryBlockArgs, bool printBlockTerminators,
                   bool printEmptyBlock) override {
    inner.printRegion(blocks, printEntryBlockArgs, printBlockTerminators, printEmptyBlock);
  }
  void shadowRegionArgs(Region &region, ValueRange namesToUse) override {
    inner.shadowRegionArgs(region, namesToUse);
  }
  void printAffineMapOfSSAIds(AffineMapAttr mapAttr, ValueRange operands) override {
    inner.printAffineMapOfSSAIds(mapAttr, operands);
  }
  void printAffineExprOfSSAIds(AffineExpr expr, ValueRange dimOperands,
                               ValueRange symOperands) override {
    inner.printAffineExprOfSSAIds(expr, dimOperands, symOperands);
  }

protected:
  OpAsmPrinter &inner;

  LogicalResult pushCyclicPrinting(const void *opaquePointer) override {
    return (inner.*&Reach::pushCyclicPrinting)(opaquePointer);
  }
  void popCyclicPrinting() override { (inner.*&Reach::popCyclicPrinting)(); }

private:
  struct Reach : OpAsmPrinter {
    using AsmPrinter::popCyclicPrinting;
    using AsmPrinter::pushCyclicPrinting;
  };
};

} // namespace cute

#endif
