//===- Strip.cpp - ops printed without the types that follow --------------===//
//
// Part of cute-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Syntax.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace cute;

static bool strips = false;

bool cute::stripsTypes() { return strips; }
void cute::setStripsTypes(bool on) { strips = on; }

namespace {
/// Text on its way to a printer, held until it is known that it is not the colon before types.
class Held : public raw_ostream {
public:
  Held() { SetUnbuffered(); }
  std::string text;

private:
  void write_impl(const char *data, size_t size) override {
    text.append(data, size);
    written += size;
  }
  uint64_t current_pos() const override { return written; }
  uint64_t written = 0;
};

/// Prints an op by its own printer, whose text is held until something else is printed.
class HoldingPrinter : public ForwardingPrinter {
public:
  using ForwardingPrinter::ForwardingPrinter;

  raw_ostream &getStream() const override { return held; }
  void printNewline() override { release(), inner.printNewline(); }
  void printFloat(const APFloat &value) override { release(), inner.printFloat(value); }
  void printType(Type type) override {
    if (!takes(type))
      inner.printType(type);
  }
  LogicalResult printAlias(Type type) override {
    return takes(type) ? success() : inner.printAlias(type);
  }
  LogicalResult printAlias(Attribute attr) override { return release(), inner.printAlias(attr); }
  void printAttribute(Attribute attr) override { release(), inner.printAttribute(attr); }
  void printAttributeWithoutType(Attribute attr) override {
    release(), inner.printAttributeWithoutType(attr);
  }
  void printNamedAttribute(NamedAttribute attr) override {
    release(), inner.printNamedAttribute(attr);
  }
  void printKeywordOrString(StringRef keyword) override {
    release(), inner.printKeywordOrString(keyword);
  }
  void printString(StringRef string) override { release(), inner.printString(string); }
  void printSymbolName(StringRef symbol) override { release(), inner.printSymbolName(symbol); }
  void printResourceHandle(const AsmDialectResourceHandle &resource) override {
    release(), inner.printResourceHandle(resource);
  }
  void printOperand(Value value) override { release(), inner.printOperand(value); }
  void printRegionArgument(BlockArgument argument, ArrayRef<NamedAttribute> attrs,
                           bool omitType) override {
    release(), inner.printRegionArgument(argument, attrs, omitType);
  }
  void printOptionalAttrDict(ArrayRef<NamedAttribute> attrs,
                             ArrayRef<StringRef> elidedAttrs) override {
    release(), inner.printOptionalAttrDict(attrs, elidedAttrs);
  }

protected:
  mutable Held held;

  /// Tells whether a type is one that is not printed.
  virtual bool takes(Type type) = 0;
  virtual void release() {
    inner.getStream() << held.text;
    held.text.clear();
  }
};

/// Prints an op whose operands are in groups without their types, in brackets and at its end.
class GroupPrinter : public HoldingPrinter {
public:
  using HoldingPrinter::HoldingPrinter;

  void finish() {
    if (atEnd)
      held.text.clear();
    release();
  }
  void printRegion(Region &blocks, bool printEntryBlockArgs, bool printBlockTerminators,
                   bool printEmptyBlock) override {
    release();
    inner.printRegion(blocks, printEntryBlockArgs, printBlockTerminators, printEmptyBlock);
  }

private:
  /// Set while types are left out, and where they are those at the end, in brackets of their own.
  bool inTypes = false, atEnd = false;

  void release() override {
    HoldingPrinter::release();
    inTypes = false;
  }
  bool takes(Type) override {
    if (!inTypes) {
      StringRef before = StringRef(held.text).rtrim(" ([");
      if (!before.consume_back(":")) {
        release();
        return false;
      }
      atEnd = StringRef(held.text).drop_front(before.size()).contains('(');
      inner.getStream() << before.rtrim();
    }
    inTypes = true;
    held.text.clear();
    return true;
  }
};

/// Prints an op by its own printer, without the types behind its attributes.
class HeadPrinter : public HoldingPrinter {
public:
  using HoldingPrinter::HoldingPrinter;

  /// The end of the op, behind the attributes: texts, each before a type, and the last one.
  SmallVector<std::pair<std::string, Type>> tail;
  /// The types of the region's arguments that follow.
  SmallVector<Type> arguments;
  /// Called before a region that stands behind the types, and at the end.
  std::function<void()> end;

  void finish() {
    if (inTail) {
      inTail = false;
      held.text.clear();
      end();
    } else {
      release();
    }
  }

  void printOptionalAttrDict(ArrayRef<NamedAttribute> attrs,
                             ArrayRef<StringRef> elidedAttrs) override {
    release(), inner.printOptionalAttrDict(attrs, elidedAttrs);
    behindAttributes = true;
  }
  void printRegion(Region &blocks, bool printEntryBlockArgs, bool printBlockTerminators,
                   bool printEmptyBlock) override {
    bool stripped = inTail;
    finish();
    if (!stripped || blocks.empty())
      return inner.printRegion(blocks, printEntryBlockArgs, printBlockTerminators, printEmptyBlock);
    // Arguments in brackets tell the region from attributes.
    inner.getStream() << " (";
    llvm::interleaveComma(llvm::enumerate(blocks.getArguments()), inner.getStream(),
                          [&](auto indexed) {
                            auto [index, argument] = indexed;
                            inner.printRegionArgument(argument, {},
                                                      index < arguments.size() &&
                                                          arguments[index] == argument.getType());
                          });
    inner.getStream() << ") ";
    inner.printRegion(blocks, false, printBlockTerminators, printEmptyBlock);
  }

private:
  bool behindAttributes = false, inTail = false;

  /// Takes the types behind the attributes, and keeps them.
  bool takes(Type type) override {
    if (!inTail && !(behindAttributes && StringRef(held.text).ltrim().starts_with(":"))) {
      release();
      return false;
    }
    inTail = true;
    tail.push_back({held.text, type});
    held.text.clear();
    return true;
  }
};
} // namespace

/// Tells whether the parser has seen a value when it comes to a use in `op`.
static bool isBefore(Value value, Operation *op) {
  Block *block = value.getParentBlock();
  Operation *definition = value.getDefiningOp();
  for (Operation *around = op; around; around = around->getParentOp()) {
    Block *of = around->getBlock();
    if (!of)
      return false;
    if (of == block)
      return !definition || (definition != around && definition->isBeforeInBlock(around));
    if (of->getParent() == block->getParent()) {
      for (Block &other : *of->getParent())
        if (&other == block || &other == of)
          return &other == block;
    }
  }
  return false;
}

/// `%i, _, (%j, 8)`: the tuple of the result's type, with an operand in the place of each dynamic leaf; its pattern has a `$`
/// there. Nothing of a tuple whose leaves cannot be written among operands.
static bool writtenOut(StringRef text, ValueRange operands, std::string &pattern) {
  if (text.contains('@') || text.contains('/') || text.contains('$'))
    return false;
  size_t used = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '?') {
      pattern += text[at];
      continue;
    }
    pattern += '$';
    ++used;
    if (at + 1 < text.size() && text[at + 1] == '{')
      at = text.find('}', at);
    if (at == StringRef::npos)
      return false;
  }
  // Modes side by side need no brackets of their own.
  if (StringRef(pattern).starts_with("(")) {
    int depth = 0;
    bool comma = false;
    for (char c : pattern) {
      depth += c == '(' ? 1 : c == ')' ? -1 : 0;
      comma |= c == ',' && depth == 1;
    }
    if (comma)
      pattern = pattern.substr(1, pattern.size() - 2);
  }
  return used == operands.size() && !pattern.empty();
}

static StringRef textOf(Type type) {
  return llvm::TypeSwitch<Type, StringRef>(type)
#define CUTE_TEXT_OF(T) .Case([](cute::T##Type t) { return t.getText(); })
      CUTE_TEXT_TYPES(CUTE_TEXT_OF)
      .Default([](Type) { return StringRef(); });
}

static StringRef mnemonicOf(Type type) {
  return llvm::TypeSwitch<Type, StringRef>(type)
#define CUTE_MNEMONIC_OF(T) .Case([](cute::T##Type) { return cute::T##Type::getMnemonic(); })
      CUTE_TEXT_TYPES(CUTE_MNEMONIC_OF)
      .Default([](Type) { return StringRef(); });
}

/// The types that Rust infers for an op, with these attributes beside its own; none where it infers none.
static SmallVector<Type> inferQuietly(Operation *op, DictionaryAttr attributes) {
  SmallVector<Type> inferred;
  ScopedDiagnosticHandler quiet(op->getContext(), [](Diagnostic &) { return success(); });
  if (failed(inferTypes(op->getName().getStringRef(), op->getContext(), op->getLoc(),
                        op->getOperands(), attributes, inferred)))
    inferred.clear();
  return inferred;
}

static bool follow(Operation *op, DictionaryAttr attributes) {
  return TypeRange(inferQuietly(op, attributes)) == op->getResultTypes();
}

void cute::printStripped(Operation *op, OpAsmPrinter &printer, Traits traits,
                         function_ref<void(OpAsmPrinter &)> print) {
  StringRef name = op->getName().getStringRef();
  StringRef text = op->getNumResults() == 1 ? textOf(op->getResult(0).getType()) : "";
  if (name == "cute.static" && !text.empty()) {
    printer << ' ' << mnemonicOf(op->getResult(0).getType()) << ' ';
    printer.printString(text);
    return printer.printOptionalAttrDict(op->getAttrs());
  }
  if ((traits.segments && !traits.noResults) ||
      !llvm::all_of(op->getOperands(), [&](Value value) { return isBefore(value, op); }))
    return print(printer);
  if (traits.segments) {
    GroupPrinter groups(printer);
    print(groups);
    return groups.finish();
  }
  if (HeadParser::takesLeaves(name)) {
    std::string pattern;
    NamedAttrList all(op->getAttrDictionary());
    if (writtenOut(text, op->getOperands(), pattern)) {
      all.set("pattern", StringAttr::get(op->getContext(), pattern));
      if (follow(op, all.getDictionary(op->getContext()))) {
        auto operand = op->operand_begin();
        printer << '(';
        for (char c : pattern) {
          if (c == '$')
            printer.printOperand(*operand++);
          else
            printer << c << (c == ',' ? " " : "");
        }
        printer << ')';
        return printer.printOptionalAttrDict(op->getAttrs());
      }
    }
  }
  HeadPrinter head(printer);
  head.end = [&] {
    if (traits.noResults || follow(op, op->getAttrDictionary()))
      return;
    // What has the types of results alone is as short as it can be.
    bool own = llvm::equal(op->getResultTypes(), head.tail,
                           [](Type type, auto &held) { return type == held.second; });
    if (own && !head.tail.empty() && StringRef(head.tail.front().first).trim() == ":") {
      for (auto &[before, type] : head.tail)
        printer << before << type;
      return;
    }
    printer.printArrowTypeList(op->getResultTypes());
  };
  if (traits.oneRegion) {
    NamedAttrList all(op->getAttrDictionary());
    all.set("arguments", UnitAttr::get(op->getContext()));
    head.arguments = inferQuietly(op, all.getDictionary(op->getContext()));
  }
  print(head);
  head.finish();
}
