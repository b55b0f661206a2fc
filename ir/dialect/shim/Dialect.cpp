//===- Dialect.cpp - the cute dialect, with all decisions left to Rust ----===//
//
// Part of cute-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Syntax.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace cute;

static CuteCallbacks theCallbacks;

const CuteCallbacks &cute::callbacks() { return theCallbacks; }
void cuteSetCallbacks(const CuteCallbacks *callbacks) { theCallbacks = *callbacks; }

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

static ParseResult refuseOperation(OpAsmParser &parser, OperationState &state) {
  StringRef op = state.name.getStringRef();
  SmallVector<StringRef> names;
  for (RegisteredOperationName known : parser.getContext()->getRegisteredOperations())
    if (known.getDialectNamespace() == "cute" || known.getDialectNamespace() == "cute_nvgpu")
      names.push_back(known.getStringRef());
  // The parser puts the op's name before it.
  return parser.emitError(parser.getNameLoc()) << "is unknown" << meantOp(op, names);
}

void cuteMeantOp(MlirContext context, MlirStringRef name, MlirStringCallback sink, void *user) {
  SmallVector<StringRef> names;
  for (RegisteredOperationName known : unwrap(context)->getRegisteredOperations())
    names.push_back(known.getStringRef());
  sink(wrap(StringRef(cute::didYouMean(unwrap(name), names))), user);
}

// The parser keeps a reference to it.
Dialect::ParseOpHook cute::unknownOperation() { return refuseOperation; }

LogicalResult cute::refuseResults(Location location, StringRef op, TypeRange inferred,
                                  TypeRange found) {
  if (inferred.size() != found.size())
    return emitError(location) << "'" << op << "' op expected " << inferred.size()
                               << (inferred.size() == 1 ? " result" : " results") << ", of the types (" << inferred
                               << "), which follow from its operands, found " << found.size() << " ("
                               << found << "); write all of them in brackets, or leave them out";
  return emitError(location) << "'" << op << "' op expected a result of type " << inferred
                             << ", which follows from its operands, found " << found;
}

/// The declared result types are those that follow from the operands.
static LogicalResult verifyResultTypes(Operation *op) {
  if (!op->hasTrait<RustInfer>())
    return success();
  SmallVector<Type> inferred;
  if (failed(inferTypes(op->getName().getStringRef(), op->getContext(), op->getLoc(),
                        op->getOperands(), op->getAttrDictionary(), inferred)))
    return failure();
  if (compatibleTypes(inferred, op->getResultTypes()))
    return success();
  return refuseResults(op->getLoc(), op->getName().getStringRef(), inferred, op->getResultTypes());
}

/// Attributes without a dialect's prefix are the op's own.
static LogicalResult verifyAttributeNames(Operation *op) {
  for (NamedAttribute attribute : op->getDiscardableAttrs()) {
    StringRef name = attribute.getName();
    if (name.contains('.'))
      continue;
    SmallVector<StringRef> names;
    for (StringAttr known : op->getName().getAttributeNames())
      names.push_back(known);
    // What an attribute of the dialects is called without its prefix, Rust says.
    std::string meant = didYouMean(name, names);
    if (meant.empty())
      return verifyAttribute(op, AttributeOf::Op, 0, attribute);
    return emitError(op->getLoc()) << "'" << op->getName() << "' op has no attribute '" << name
                                   << "'" << meant;
  }
  return success();
}

bool cute::isOpen(Type type) {
  Dialect &dialect = type.getDialect();
  if (auto vector = dyn_cast<VectorType>(type))
    return isOpen(vector.getElementType());
  CuteParts parts;
  if (!isa<CuteDialect, cute_nvgpu::CuteNvgpuDialect>(dialect) ||
      !cuteTypeGetParts(wrap(type), &parts))
    return false;
  if (parts.kind == CuteAny || parts.kind == CuteParam || parts.kind == CuteCounted)
    return true;
  for (intptr_t i = 0; i < parts.numTexts; ++i)
    if (unwrap(parts.texts[i]).contains('$'))
      return true;
  for (intptr_t i = 0; i < parts.numTypes; ++i)
    if (isOpen(unwrap(parts.types[i])))
      return true;
  return false;
}

bool cute::hasOpenTypes(Operation *op) {
  for (Region &region : op->getRegions())
    if (!region.empty() && llvm::any_of(region.getArgumentTypes(), isOpen))
      return true;
  return llvm::any_of(op->getOperandTypes(), isOpen) || llvm::any_of(op->getResultTypes(), isOpen);
}

// Such types say nothing, and the formats of ops that infer their results have no room for one that does not follow from the operands.
bool cute::leavesOutTypes(Operation *op) {
  if (isa<MakeViewOp, MakeIdentityTensorOp>(op))
    return isa<AnyType>(op->getResult(0).getType());
  return isa<InferTypeOpInterface>(op) && hasOpenTypes(op);
}

/// Verifies what does not depend on the types that are not known: names of parameters and attributes, and attributes.
LogicalResult cute::verifyOpenOp(Operation *op) {
  if (!theCallbacks.verifyParameters(wrap(op)) || failed(verifyAttributeNames(op)))
    return failure();
  NamedAttrList attributes(op->getAttrDictionary());
  return op->getName().verifyInherentAttrs(attributes, [&] { return emitError(op->getLoc()); });
}

LogicalResult cute::verifyOp(Operation *op) {
  if (failed(verifyResultTypes(op)) || failed(verifyAttributeNames(op)))
    return failure();
  return success(theCallbacks.verifyOp(wrap(op)));
}

LogicalResult cute::verifySymbols(Operation *op) {
  return success(theCallbacks.verifySymbols(wrap(op)));
}

LogicalResult cute::verifyAttribute(Operation *op, AttributeOf where, unsigned index,
                                    NamedAttribute attribute) {
  return success(theCallbacks.verifyAttribute(wrap(op), static_cast<int>(where), index,
                                              wrap(attribute.getName().strref()),
                                              wrap(attribute.getValue())));
}

CUTE_ATTRIBUTE_VERIFIERS(cute::CuteDialect)

void cuteOpDropReferences(MlirOperation op) {
  // An operand that is only dropped stays, as a null.
  unwrap(op)->walk([](Operation *inner) { inner->setOperands({}); });
  unwrap(op)->dropAllReferences();
}

// As MLIR's OperationFingerPrint, but not by SHA-1, which takes as long as the passes: nobody forges IR.
uint64_t cuteOpFingerprint(MlirOperation op) {
  uint64_t hash = 0;
  SmallVector<uint64_t, 64> words;
  unwrap(op)->walk([&](Operation *inner) {
    words.assign({hash, inner->hashProperties()});
    auto add = [&](const void *pointer) { words.push_back(reinterpret_cast<uintptr_t>(pointer)); };
    add(inner);
    add(inner->getParentOp());
    add(inner->getRawDictionaryAttrs().getAsOpaquePointer());
    add(inner->getLoc().getAsOpaquePointer());
    for (Value operand : inner->getOperands())
      add(operand.getAsOpaquePointer());
    for (Block *successor : inner->getSuccessors())
      add(successor);
    for (Type type : inner->getResultTypes())
      add(type.getAsOpaquePointer());
    for (Region &region : inner->getRegions())
      for (Block &block : region) {
        add(&block);
        for (BlockArgument argument : block.getArguments()) {
          add(argument.getAsOpaquePointer());
          add(argument.getType().getAsOpaquePointer());
        }
      }
    hash = llvm::xxh3_64bits({reinterpret_cast<const uint8_t *>(words.data()), words.size_in_bytes()});
  });
  return hash;
}

void cuteWalkTypes(MlirOperation op, void (*sink)(MlirType, void *), void *user) {
  Operation *operation = unwrap(op);
  auto each = [&](Type type) { type.walk([&](Type inner) { sink(wrap(inner), user); }); };
  for (Type type : operation->getResultTypes())
    each(type);
  for (Region &region : operation->getRegions())
    for (Block &block : region)
      for (BlockArgument argument : block.getArguments())
        each(argument.getType());
  for (NamedAttribute attribute : operation->getAttrs())
    attribute.getValue().walk([&](TypeAttr type) { each(type.getValue()); });
}

void cuteReplaceParameters(MlirOperation op, MlirType (*type)(MlirType, void *),
                           MlirAttribute (*text)(int, MlirStringRef, void *), void *user) {
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](Type it) -> std::optional<std::pair<Type, WalkResult>> {
    if (isa<AnyType>(it) || !isOpen(it))
      return std::nullopt;
    MlirType given = type(wrap(it), user);
    return std::make_pair(given.ptr ? unwrap(given) : it, WalkResult::skip());
  });
  replacer.addReplacement([&](Attribute it) -> std::optional<std::pair<Attribute, WalkResult>> {
    auto [kind, written] = llvm::TypeSwitch<Attribute, std::pair<int, StringRef>>(it)
                               .Case([](ParamAttr a) {
                                 return std::make_pair(CUTE_EXPRESSION, a.getText());
                               })
#define CUTE_TEXT_OF(T)                                                                          \
  .Case([](cute::T##Attr a) { return std::make_pair(int(Cute##T), a.getText()); })
                                   CUTE_TEXT_TYPES(CUTE_TEXT_OF)
                               .Default([](Attribute) { return std::make_pair(0, StringRef()); });
    if (kind != CUTE_EXPRESSION && !written.contains('$'))
      return std::nullopt;
    MlirAttribute given = text(kind, wrap(written), user);
    return std::make_pair(given.ptr ? unwrap(given) : it, WalkResult::skip());
  });
  replacer.replaceElementsIn(unwrap(op), /*replaceAttrs=*/true, /*replaceLocs=*/false,
                             /*replaceTypes=*/true);
}

bool cuteOpEffects(MlirOperation op, void (*sink)(int, MlirValue, void *), void *user) {
  std::optional<SmallVector<MemoryEffects::EffectInstance>> effects =
      getEffectsRecursively(unwrap(op));
  if (!effects)
    return false;
  for (const MemoryEffects::EffectInstance &effect : *effects) {
    int kind = isa<MemoryEffects::Allocate>(effect.getEffect()) ? 0
               : isa<MemoryEffects::Free>(effect.getEffect())   ? 1
               : isa<MemoryEffects::Read>(effect.getEffect())   ? 2
                                                                : 3;
    sink(kind, wrap(effect.getValue()), user);
  }
  return true;
}

bool cuteOpFlow(MlirOperation op,
                void (*sink)(intptr_t, intptr_t, intptr_t, const MlirValue *, const MlirValue *,
                             void *),
                void *user) {
  Operation *operation = unwrap(op);
  if (operation->getNumRegions() == 0)
    return true;
  auto branch = dyn_cast<RegionBranchOpInterface>(operation);
  if (!branch)
    return false;
  auto number = [](const RegionSuccessor &to) -> intptr_t {
    return to.isParent() ? -1 : intptr_t(to.getSuccessor()->getRegionNumber());
  };
  auto give = [&](intptr_t from, const RegionSuccessor &to, ValueRange values) {
    SmallVector<MlirValue> sources, targets;
    for (auto [value, input] : llvm::zip(values, to.getSuccessorInputs())) {
      sources.push_back(wrap(value));
      targets.push_back(wrap(input));
    }
    sink(from, number(to), sources.size(), sources.data(), targets.data(), user);
  };
  SmallVector<RegionSuccessor> successors;
  branch.getSuccessorRegions(RegionBranchPoint::parent(), successors);
  for (const RegionSuccessor &to : successors)
    give(-1, to, branch.getEntrySuccessorOperands(to));
  for (Region &region : operation->getRegions())
    for (Block &block : region) {
      auto end = block.empty() ? nullptr : dyn_cast<RegionBranchTerminatorOpInterface>(block.back());
      if (!end)
        continue;
      successors.clear();
      branch.getSuccessorRegions(RegionBranchPoint(end), successors);
      for (const RegionSuccessor &to : successors)
        give(region.getRegionNumber(), to, end.getSuccessorOperands(to));
    }
  return true;
}

LogicalResult cute::inferTypes(StringRef op, MLIRContext *context,
                               std::optional<Location> location, ValueRange operands,
                               DictionaryAttr attributes, SmallVectorImpl<Type> &types) {
  SmallVector<MlirValue> values;
  for (Value value : operands)
    values.push_back(wrap(value));
  Location at = location ? *location : UnknownLoc::get(context);
  auto sink = [](MlirType type, void *user) {
    static_cast<SmallVectorImpl<Type> *>(user)->push_back(unwrap(type));
  };
  return success(theCallbacks.inferTypes(wrap(op), wrap(context), wrap(at), values.size(),
                                         values.data(), wrap(Attribute(attributes)), sink,
                                         &types));
}

bool cute::compatibleTypes(TypeRange inferred, TypeRange declared) {
  if (inferred.size() != declared.size())
    return false;
  for (auto [left, right] : llvm::zip(inferred, declared))
    if (left != right && !theCallbacks.compatible(wrap(left), wrap(right)))
      return false;
  return true;
}

static ParseResult parseOperandId(OpAsmParser &parser, IntegerAttr &attr) {
  SMLoc where = parser.getCurrentLocation();
  StringRef keyword;
  if (parser.parseKeyword(&keyword))
    return failure();
  int id = llvm::StringSwitch<int>(keyword).Case("A", 0).Case("B", 1).Case("C", 2).Default(-1);
  if (id < 0)
    return parser.emitError(where) << "expected A, B or C, found '" << keyword << "'";
  attr = parser.getBuilder().getI32IntegerAttr(id);
  return success();
}
static void printOperandId(OpAsmPrinter &printer, Operation *, IntegerAttr attr) {
  static const char *const names[] = {"A", "B", "C"};
  int64_t id = attr.getInt();
  if (id >= 0 && id < 3)
    printer << names[id] << ' ';
  else
    printer << "<invalid> ";
}

/// `if %p`, an i1, or `count %n`, an i32, or nothing.
static ParseResult parseGuard(OpAsmParser &parser,
                              std::optional<OpAsmParser::UnresolvedOperand> &guard, Type &type) {
  int width = succeeded(parser.parseOptionalKeyword("if")) ? 1
              : succeeded(parser.parseOptionalKeyword("count")) ? 32
                                                                : 0;
  if (!width)
    return success();
  type = parser.getBuilder().getIntegerType(width);
  return parser.parseOperand(guard.emplace());
}
static void printGuard(OpAsmPrinter &printer, Operation *, Value guard, Type type) {
  if (guard)
    printer << (type.isInteger(1) ? "if " : "count ") << guard;
}

/// `%c, %most reduce maximum : !c, !most`: the kind of each output that is reduced, the empty text of the others, nothing where none is.
static ParseResult parseOutputs(OpAsmParser &parser,
                                SmallVectorImpl<OpAsmParser::UnresolvedOperand> &outputs,
                                SmallVectorImpl<Type> &types, ArrayAttr &reduce) {
  SmallVector<StringRef> kinds;
  bool reduces = false;
  auto output = [&]() -> ParseResult {
    kinds.emplace_back();
    if (parser.parseOperand(outputs.emplace_back()))
      return failure();
    if (failed(parser.parseOptionalKeyword("reduce")))
      return success();
    reduces = true;
    return parser.parseKeyword(&kinds.back());
  };
  if (parser.parseCommaSeparatedList(output) || parser.parseColonTypeList(types))
    return failure();
  if (reduces)
    reduce = parser.getBuilder().getStrArrayAttr(kinds);
  return success();
}
static void printOutputs(OpAsmPrinter &printer, Operation *, OperandRange outputs, TypeRange types,
                         ArrayAttr reduce) {
  for (auto [index, output] : llvm::enumerate(outputs)) {
    if (index)
      printer << ", ";
    printer << output;
    auto kind = reduce && index < reduce.size() ? dyn_cast<StringAttr>(reduce[index]) : StringAttr();
    if (kind && !kind.empty())
      printer << " reduce " << kind.getValue();
  }
  printer << " : " << types;
}

/// `prologue A ins(%x : !x) { ... } prologue B { ... }`, of which either may be missing.
static ParseResult parsePrologues(OpAsmParser &parser,
                                  SmallVectorImpl<OpAsmParser::UnresolvedOperand> &inputsA,
                                  SmallVectorImpl<Type> &typesA, Region &regionA,
                                  SmallVectorImpl<OpAsmParser::UnresolvedOperand> &inputsB,
                                  SmallVectorImpl<Type> &typesB, Region &regionB) {
  while (succeeded(parser.parseOptionalKeyword("prologue"))) {
    SMLoc where = parser.getCurrentLocation();
    StringRef operand;
    if (parser.parseKeyword(&operand))
      return failure();
    if (operand != "A" && operand != "B")
      return parser.emitError(where) << "expected a prologue of A or B, found '" << operand << "'";
    bool isA = operand == "A";
    Region &region = isA ? regionA : regionB;
    if (!region.empty() || (isA && !regionB.empty()))
      return parser.emitError(where) << "expected one prologue of A, then one of B";
    auto &inputs = isA ? inputsA : inputsB;
    auto &types = isA ? typesA : typesB;
    if (succeeded(parser.parseOptionalKeyword("ins")) &&
        (parser.parseLParen() || parser.parseOperandList(inputs) || parser.parseColonTypeList(types) ||
         parser.parseRParen()))
      return failure();
    if (parser.parseRegion(region))
      return failure();
    if (region.empty())
      return parser.emitError(where) << "expected a region that ends in cute.yield";
  }
  return success();
}
static void printPrologues(OpAsmPrinter &printer, Operation *, OperandRange inputsA,
                           TypeRange typesA, Region &regionA, OperandRange inputsB,
                           TypeRange typesB, Region &regionB) {
  auto print = [&](const char *operand, OperandRange inputs, TypeRange types, Region &region) {
    if (region.empty() && inputs.empty())
      return;
    printer << " prologue " << operand << ' ';
    if (!inputs.empty())
      printer << "ins(" << inputs << " : " << types << ") ";
    printer.printRegion(region);
  };
  print("A", inputsA, typesA, regionA);
  print("B", inputsB, typesB, regionB);
}

/// `role(%thread, %warp) warps 4 registers 40 { ... }`, once for each role; all say registers, or none does.
static ParseResult parseRoles(OpAsmParser &parser, SmallVectorImpl<std::unique_ptr<Region>> &roles,
                              DenseI64ArrayAttr &warps, DenseI64ArrayAttr &registers) {
  SmallVector<int64_t> warpsOfRoles, registersOfRoles;
  SMLoc where = parser.getNameLoc();
  while (succeeded(parser.parseOptionalKeyword("role"))) {
    OpAsmParser::Argument thread, warp;
    if (parser.parseLParen() || parser.parseArgument(thread) || parser.parseComma() ||
        parser.parseArgument(warp) || parser.parseRParen() || parser.parseKeyword("warps") ||
        parser.parseInteger(warpsOfRoles.emplace_back()))
      return failure();
    SMLoc budget = parser.getCurrentLocation();
    bool says = succeeded(parser.parseOptionalKeyword("registers"));
    if (!roles.empty() && says != !registersOfRoles.empty())
      return parser.emitError(budget, "expected 'registers' of all roles or of none");
    if (says && parser.parseInteger(registersOfRoles.emplace_back()))
      return failure();
    thread.type = warp.type = parser.getBuilder().getI32Type();
    if (parser.parseRegion(*roles.emplace_back(std::make_unique<Region>()), {thread, warp}))
      return failure();
    if (roles.back()->empty())
      roles.back()->emplaceBlock().addArguments(
          {thread.type, warp.type}, {parser.getEncodedSourceLoc(where), parser.getEncodedSourceLoc(where)});
  }
  if (roles.empty())
    return parser.emitError(where, "expected a role, such as 'role(%thread, %warp) warps 4 { ... }'");
  warps = parser.getBuilder().getDenseI64ArrayAttr(warpsOfRoles);
  if (!registersOfRoles.empty())
    registers = parser.getBuilder().getDenseI64ArrayAttr(registersOfRoles);
  return success();
}
static void printRoles(OpAsmPrinter &printer, Operation *, RegionRange roles, DenseI64ArrayAttr warps,
                       DenseI64ArrayAttr registers) {
  for (auto [index, role] : llvm::enumerate(roles)) {
    printer.printNewline();
    printer << "role(";
    printer.printRegionArgument(role->getArgument(0), {}, /*omitType=*/true);
    printer << ", ";
    printer.printRegionArgument(role->getArgument(1), {}, /*omitType=*/true);
    printer << ") warps " << warps[index] << ' ';
    if (registers)
      printer << "registers " << registers[index] << ' ';
    printer.printRegion(*role, /*printEntryBlockArgs=*/false);
  }
}

/// `at A(%coords : type)`, `gather B(%index : type)`, `groups M(%ends : type)`: where elements of A, B and C are, beside their layouts.
static ParseResult parsePlaces(OpAsmParser &parser,
                               std::optional<OpAsmParser::UnresolvedOperand> &atA, Type &typeOfA,
                               std::optional<OpAsmParser::UnresolvedOperand> &atB, Type &typeOfB,
                               std::optional<OpAsmParser::UnresolvedOperand> &atC, Type &typeOfC,
                               std::optional<OpAsmParser::UnresolvedOperand> &rowsA, Type &typeOfRowsA,
                               std::optional<OpAsmParser::UnresolvedOperand> &rowsB,
                               Type &typeOfRowsB,
                               std::optional<OpAsmParser::UnresolvedOperand> &groups,
                               Type &typeOfGroups) {
  auto parse = [&](StringRef word, ArrayRef<StringRef> names,
                   ArrayRef<std::optional<OpAsmParser::UnresolvedOperand> *> operands,
                   ArrayRef<Type *> types) -> ParseResult {
    while (succeeded(parser.parseOptionalKeyword(word))) {
      SMLoc where = parser.getCurrentLocation();
      StringRef name;
      if (parser.parseKeyword(&name))
        return failure();
      size_t at = llvm::find(names, name) - names.begin();
      if (at == names.size())
        return parser.emitError(where) << "expected " << word << " of " << llvm::join(names, ", ")
                                       << ", found '" << name << "'";
      if (*operands[at])
        return parser.emitError(where) << "expected one " << word << " of " << name;
      operands[at]->emplace();
      if (parser.parseLParen() || parser.parseOperand(**operands[at]) ||
          parser.parseColonType(*types[at]) || parser.parseRParen())
        return failure();
    }
    return success();
  };
  return failure(parse("at", {"A", "B", "C"}, {&atA, &atB, &atC}, {&typeOfA, &typeOfB, &typeOfC}) ||
                 parse("gather", {"A", "B"}, {&rowsA, &rowsB}, {&typeOfRowsA, &typeOfRowsB}) ||
                 parse("groups", {"M"}, {&groups}, {&typeOfGroups}));
}
static void printPlaces(OpAsmPrinter &printer, Operation *, Value atA, Type, Value atB, Type,
                        Value atC, Type, Value rowsA, Type, Value rowsB, Type, Value groups, Type) {
  auto print = [&](const char *text, Value value) {
    if (value)
      printer << ' ' << text << '(' << value << " : " << value.getType() << ')';
  };
  print("at A", atA);
  print("at B", atB);
  print("at C", atC);
  print("gather A", rowsA);
  print("gather B", rowsB);
  print("groups M", groups);
}

/// `"text", %a, %b`, or values alone.
static ParseResult parsePrintOperands(OpAsmParser &parser, StringAttr &,
                                      SmallVectorImpl<OpAsmParser::UnresolvedOperand> &) {
  return parser.emitError(parser.getNameLoc(), "expected a form");
}
static void printPrintOperands(OpAsmPrinter &printer, Operation *, StringAttr fmt,
                               OperandRange values) {
  if (fmt)
    printer << fmt << ", ";
  llvm::interleaveComma(values, printer);
}

/// Nothing: a product of whole tensors, which says what it sums in, is another op.
static ParseResult parseOfOneThread(OpAsmParser &parser,
                                    const SmallVectorImpl<OpAsmParser::UnresolvedOperand> &) {
  SMLoc where = parser.getCurrentLocation();
  if (failed(parser.parseOptionalKeyword("accumulate")))
    return success();
  return parser.emitError(where, "is a product of one thread; a product of whole tensors is "
                                 "`cute.contract ins(%A, %B : ...) outs(%C : ...) accumulate ...`");
}
static void printOfOneThread(OpAsmPrinter &, Operation *, OperandRange) {}

/// A rank, which CuTe DSL keeps as a signed integer.
static ParseResult parseRank(OpAsmParser &parser, Attribute &rank) {
  int32_t value;
  if (parser.parseInteger(value))
    return failure();
  rank = parser.getBuilder().getI32IntegerAttr(value);
  return success();
}
static void printRank(OpAsmPrinter &printer, Operation *, Attribute rank) {
  if (auto integer = dyn_cast_or_null<IntegerAttr>(rank))
    printer << integer.getValue();
  else
    printer << rank;
}

/// The operands' types are not written: `parseForm` has them from the result.
static ParseResult parseFromResult(OpAsmParser &parser, Type &, Type &) {
  return parser.emitError(parser.getNameLoc(), "expected a form");
}
static void printFromResult(OpAsmPrinter &, Operation *, Type, Type) {}

#include "CuteDialect.cpp.inc"
#define GET_OP_CLASSES
#include "CuteOps.cpp.inc"

/// Asks Rust whether an op may be moved before a check.
static Speculation::Speculatability speculatability(Operation *op) {
  return theCallbacks.speculatable(wrap(op)) ? Speculation::Speculatable
                                             : Speculation::NotSpeculatable;
}
Speculation::Speculatability cute::ShapeDivOp::getSpeculatability() {
  return speculatability(getOperation());
}
Speculation::Speculatability cute::TupleDivOp::getSpeculatability() {
  return speculatability(getOperation());
}
Speculation::Speculatability cute::TupleModOp::getSpeculatability() {
  return speculatability(getOperation());
}
Speculation::Speculatability cute::CeilDivOp::getSpeculatability() {
  return speculatability(getOperation());
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

/// The attribute of the type's name that says the same; for atoms and what is over them, which have
/// none, the type itself.
static Attribute valueOf(Type type) {
  return llvm::TypeSwitch<Type, Attribute>(type)
#define CUTE_TEXT_VALUE(T)                                                                       \
  .Case([](cute::T##Type t) { return cute::T##Attr::get(t.getContext(), t.getText()); })
      CUTE_TEXT_TYPES(CUTE_TEXT_VALUE)
      .Default([](Type t) { return TypeAttr::get(t); });
}

OpFoldResult cute::StaticOp::fold(FoldAdaptor) { return valueOf(getType()); }

Operation *cute::CuteDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type,
                                                  Location location) {
  if (valueOf(type) != value)
    return nullptr;
  OperationState state(location, cute::StaticOp::getOperationName());
  state.addTypes(type);
  return builder.create(state);
}

/// Errors of MLIR's parser and verifiers are told as Rust words them; whoever listens gets them then.
static LogicalResult reword(Diagnostic &diagnostic) {
  if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
    return failure();
  auto place = diagnostic.getLocation()->findInstanceOf<FileLineColLoc>();
  if (!place)
    return failure();
  std::string said = diagnostic.str(), told;
  if (!theCallbacks.reworded(wrap(StringRef(said)), wrap(place.getFilename().getValue()), place.getLine(),
                             place.getColumn(), append, &told) ||
      told.empty())
    return failure();
  StringRef more = told;
  if (more.consume_front(said)) {
    diagnostic << more;
    return failure();
  }
  // What it says now has no need of notes.
  DiagnosticEngine &engine = diagnostic.getLocation()->getContext()->getDiagEngine();
  Diagnostic anew(diagnostic.getLocation(), DiagnosticSeverity::Error);
  anew << told;
  engine.emit(std::move(anew));
  return success();
}

void cute::CuteDialect::initialize() {
  getContext()->getDiagEngine().registerHandler(reword);
  registerTypesAndAttributes();
  addOperationsWithForms<
#define GET_OP_LIST
#include "CuteOps.cpp.inc"
      >();
}
