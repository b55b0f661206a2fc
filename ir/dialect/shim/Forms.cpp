//===- Forms.cpp - the forms of text that an op is read in ----------------===//
//
// Part of cute-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Forms.h"
#include "Syntax.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace cute;

namespace {
/// The meaning of the types behind the colon, where they are a list without brackets and without results.
enum class Lone {
  /// Those of the operands: the results follow.
  Operands,
  /// That of the result: the operands' follow.
  Result,
  /// That of the result, or, with an arrow behind it, of the operand.
  Either,
};

/// The reader of a type that is written without its name.
using Stripped = Type (*)(AsmParser &);

template <typename T> Type stripped(AsmParser &parser) { return T::parse(parser); }
} // namespace

struct cute::Form {
  Lone lone = Lone::Operands;
  /// The attributes of `<1, 3>`.
  SmallVector<StringRef, 2> numbers = {};
  /// The attribute that a text among the operands is, and what it becomes.
  StringRef text = {};
  bool coord = false;
  /// The number of operands before that text.
  size_t behind = 0;
  /// Tells whether types and attributes may be missing, or stand the other way round.
  bool loose = false;
  /// Tells whether the operands stand without brackets.
  bool bare = false;
  /// Tells whether the op has one result of type i1.
  bool truth = false;
  /// The readers of types without a name: each operand's, the result's.
  SmallVector<Stripped, 3> operands = {};
  Stripped result = nullptr;

  Stripped operand(size_t i) const { return i < operands.size() ? operands[i] : nullptr; }
};

/// The ops that are read in more forms than they are printed in.
static const llvm::StringMap<Form> &forms() {
  static const llvm::StringMap<Form> all = [] {
    llvm::StringMap<Form> map;
    auto add = [&](std::initializer_list<StringRef> names, Form form) {
      for (StringRef name : names)
        map[("cute." + name).str()] = form;
    };
    add({"get_shape", "select", "get", "to_int_tuple", "to_shape", "to_stride", "to_coord",
         "get_scalars", "size", "cosize", "make_layout_like", "logical_divide", "zipped_divide",
         "tiled_divide", "flat_divide", "shape_div", "ceil_div", "get_leaves", "slice",
         "composition", "coalesce", "get_iter", "get_layout", "recast_iter",
         "deref_arith_tuple_iter", "make_arith_tuple_iter", "add_offset"},
        {});
    add({"get_stride"}, {.operands = {stripped<LayoutType>}});
    add({"composed_get_inner", "composed_get_offset"}, {.operands = {stripped<ComposedLayoutType>}});
    add({"composed_get_outer"},
        {.operands = {stripped<ComposedLayoutType>}, .result = stripped<LayoutType>});
    add({"elem_less", "equal"}, {.truth = true});
    add({"group_modes"}, {.numbers = {"begin", "end"}});
    add({"recast_layout"}, {.numbers = {"new_type_bits", "old_type_bits"}});
    add({"append_to_rank", "prepend_to_rank"}, {.numbers = {"rank"}});
    add({"memref.store_vec"}, {.bare = true});
    add({"print"}, {.text = "fmt", .loose = true});
    add({"dice"}, {.text = "coord", .coord = true});
    add({"local_tile", "inner_partition", "local_partition"}, {.text = "proj", .coord = true, .behind = 3});
    add({"make_layout", "make_view", "make_identity_tensor", "memref.alloca"},
        {.lone = Lone::Result});
    map["cute_nvgpu.prefetch_tma_desc"] = {};
    add({"make_identity_layout"}, {.lone = Lone::Either});
    add({"make_composed_layout"},
        {.lone = Lone::Result,
         .operands = {nullptr, stripped<IntTupleType>, stripped<LayoutType>},
         .result = stripped<ComposedLayoutType>});
    return map;
  }();
  return all;
}

const Form *cute::findForm(StringRef op) {
  auto it = forms().find(op);
  return it == forms().end() ? nullptr : &it->second;
}

/// Operands that may be written as texts, a character each: what a tuple is there, `c` a coordinate, `s` a shape, `i` an int_tuple, `t` a stride, `l` and `m` nothing, as a
/// layout or a tile stands there, as does `a`, the last one, of all operands from there on, `=` what the first operand is. Other texts say themselves what they are.
/// `-` is a value.
static const llvm::StringMap<StringRef> &textOperands() {
  static const llvm::StringMap<StringRef> all = [] {
    llvm::StringMap<StringRef> map;
    auto add = [&](StringRef kinds, std::initializer_list<StringRef> names) {
      for (StringRef name : names)
        map["cute" + name.str()] = kinds;
    };
    add("--c", {".tiled.copy.partition_S", ".tiled.copy.partition_D", ".tiled.mma.partition"});
    add("-mc", {".local_tile", ".inner_partition", ".outer_partition"});
    add("-lc", {".local_partition"});
    add("-s", {".tiled.mma.partition_shape", ".mma.make_fragment"});
    add("-l", {".make_view", "_nvgpu.atom.make_tma_load", "_nvgpu.atom.make_tma_store",
               "_nvgpu.atom.make_im2col_tma_load"});
    add("ss", {".composition", ".logical_divide", ".zipped_divide", ".tiled_divide", ".flat_divide",
               ".logical_product", ".zipped_product", ".tiled_product", ".flat_product",
               ".raked_product", ".blocked_product", ".append_to_rank", ".prepend_to_rank",
               ".complement", ".shape_div", ".ceil_div"});
    add("sc", {".slice", ".coalesce"});
    add("ii", {".tuple_add", ".tuple_sub", ".tuple_mul", ".tuple_div", ".tuple_mod"});
    add("cs", {".crd2idx", ".layout_eval", ".increment_coord", ".elem_less"});
    add("is", {".idx2crd"});
    add("st", {".make_layout"});
    add("si", {".make_ordered_layout"});
    add("-is", {".make_composed_layout"});
    add("ssi", {".tile_to_shape"});
    add("-i", {".add_offset"});
    add("c-", {".domain_offset"});
    add("-c-", {".memref.load", ".memref.store"});
    add("s", {".launch", ".make_identity_tensor", ".make_identity_layout", ".size", ".get",
              ".get_scalars", ".get_leaves", ".select", ".to_coord", ".to_int_tuple", ".flatten",
              ".group_modes", ".dice", ".tuple.product", ".tuple.product_each"});
    add("i", {".make_arith_tuple_iter", ".to_shape", ".to_stride", ".tuple_product", ".tuple_product_each"});
    add("l", {".get_shape", ".get_stride", ".cosize", ".filter", ".left_inverse", ".right_inverse",
              ".recast_layout", ".make_layout_like"});
    add("-c---s", {".copy_tile"});
    add("a", {".call"});
    add("==", {".equal"});
    return map;
  }();
  return all;
}

StringRef cute::textOperandsOf(StringRef op) { return textOperands().lookup(op); }

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

/// `[1, 0]`
static ParseResult parseModes(OpAsmParser &parser, OperationState &state, StringRef name) {
  SmallVector<int32_t> modes;
  auto one = [&] { return parser.parseInteger(modes.emplace_back()); };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, one))
    return failure();
  state.addAttribute(name, parser.getBuilder().getDenseI32ArrayAttr(modes));
  return success();
}

/// `<[1]>`, `<1, 3>` or `<{mode = [1]}>`, if there is one.
static ParseResult parseAngle(const Form &form, OpAsmParser &parser, OperationState &state) {
  if (failed(parser.parseOptionalLess()))
    return success();
  SMLoc where = parser.getCurrentLocation();
  if (succeeded(parser.parseOptionalLBrace())) {
    if (succeeded(parser.parseOptionalRBrace()))
      return parser.parseGreater();
    do {
      std::string name;
      if (parser.parseKeywordOrString(&name))
        return failure();
      if (failed(parser.parseOptionalEqual())) {
        state.addAttribute(name, parser.getBuilder().getUnitAttr());
        continue;
      }
      if (name == "mode") {
        Attribute value;
        OptionalParseResult named = parser.parseOptionalAttribute(value);
        // `[1]` is an array of i64 to MLIR.
        auto array = named.has_value() && succeeded(*named) ? dyn_cast<ArrayAttr>(value) : nullptr;
        if (!named.has_value() || failed(*named))
          return failure();
        if (array) {
          SmallVector<int32_t> modes;
          for (Attribute entry : array) {
            auto integer = dyn_cast<IntegerAttr>(entry);
            if (!integer || !integer.getValue().isSignedIntN(32))
              return parser.emitError(where, "expected a list of modes, found ") << value;
            modes.push_back(static_cast<int32_t>(integer.getValue().getSExtValue()));
          }
          value = parser.getBuilder().getDenseI32ArrayAttr(modes);
        }
        state.addAttribute(name, value);
        continue;
      }
      Attribute value;
      if (parser.parseAttribute(value))
        return failure();
      state.addAttribute(name, value);
    } while (succeeded(parser.parseOptionalComma()));
    return failure(parser.parseRBrace() || parser.parseGreater());
  }
  if (form.numbers.empty())
    return failure(parseModes(parser, state, "mode") || parser.parseGreater());
  for (StringRef name : form.numbers) {
    int32_t value;
    if ((name != form.numbers.front() && parser.parseComma()) || parser.parseInteger(value))
      return failure();
    // `<3 : i32>`, as an attribute prints where its type is not known.
    Type type;
    if (succeeded(parser.parseOptionalColon()) && parser.parseType(type))
      return failure();
    state.addAttribute(name, parser.getBuilder().getI32IntegerAttr(value));
  }
  return parser.parseGreater();
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// `(%a, %b, "(1,_,1)")`; a single operand may have its type behind it.
static ParseResult parseOperands(const Form &form, OpAsmParser &parser, OperationState &state,
                                 SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands,
                                 SmallVectorImpl<Type> &types) {
  auto one = [&]() -> ParseResult {
    SMLoc where = parser.getCurrentLocation();
    std::string text;
    if (!form.text.empty() && operands.size() >= form.behind &&
        succeeded(parser.parseOptionalString(&text))) {
      if (!form.coord) {
        state.addAttribute(form.text, parser.getBuilder().getStringAttr(text));
        return success();
      }
      std::string answer;
      if (!callbacks().canonicalize(CuteCoord, wrap(StringRef(text)), append, &answer))
        return parser.emitError(where) << answer;
      state.addAttribute(form.text, CoordAttr::get(parser.getContext(), answer));
      return success();
    }
    if (form.loose) {
      OpAsmParser::UnresolvedOperand operand;
      OptionalParseResult given = parser.parseOptionalOperand(operand);
      if (given.has_value() && succeeded(*given))
        operands.push_back(operand);
      return success(!given.has_value() || succeeded(*given));
    }
    return parser.parseOperand(operands.emplace_back());
  };
  if (form.bare)
    return parser.parseCommaSeparatedList(one);
  if (parser.parseLParen())
    return failure();
  if (succeeded(parser.parseOptionalRParen()))
    return success();
  if (parser.parseCommaSeparatedList(one))
    return failure();
  if (succeeded(parser.parseOptionalColon()) && parser.parseType(types.emplace_back()))
    return failure();
  return parser.parseRParen();
}

//===----------------------------------------------------------------------===//
// Signatures
//===----------------------------------------------------------------------===//

static ParseResult parseOneType(OpAsmParser &parser, Stripped strip, Type &type) {
  if (!strip)
    return parser.parseType(type);
  OptionalParseResult whole = parser.parseOptionalType(type);
  if (whole.has_value())
    return *whole;
  type = strip(parser);
  return success(static_cast<bool>(type));
}

static ParseResult parseResults(const Form &form, OpAsmParser &parser,
                                SmallVectorImpl<Type> &results) {
  if (failed(parser.parseOptionalLParen()))
    return failure(parseOneType(parser, form.result, results.emplace_back()) || endResults(parser, results.back()));
  if (succeeded(parser.parseOptionalRParen()))
    return success();
  auto one = [&] { return parseOneType(parser, form.result, results.emplace_back()); };
  return failure(parser.parseCommaSeparatedList(one) || parser.parseRParen());
}

ParseResult cute::parseForm(const Form &form, OpAsmParser &parser, OperationState &state) {
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<Type> types, results;
  if (parseAngle(form, parser, state))
    return failure();
  SMLoc where = parser.getCurrentLocation();
  if (parseOperands(form, parser, state, operands, types) || parseAngle(form, parser, state) ||
      parser.parseOptionalAttrDict(state.attributes) || parser.parseColon())
    return failure();

  bool written = false;
  auto arrow = [&] {
    written = succeeded(parser.parseOptionalArrow()) || succeeded(parser.parseOptionalKeyword("to"));
    return written;
  };
  if (form.loose && operands.empty())
    return parser.parseOptionalAttrDict(state.attributes);
  if (succeeded(parser.parseOptionalLParen())) {
    types.clear();
    auto one = [&] {
      Stripped strip = form.operand(types.size());
      return parseOneType(parser, strip, types.emplace_back());
    };
    if (failed(parser.parseOptionalRParen()) &&
        (parser.parseCommaSeparatedList(one) || parser.parseRParen()))
      return failure();
    if (arrow() && parseResults(form, parser, results))
      return failure();
  } else {
    SmallVector<Type> list;
    auto one = [&] {
      Stripped strip = form.lone == Lone::Result ? form.result : form.operand(list.size());
      return parseOneType(parser, strip, list.emplace_back());
    };
    if (parser.parseCommaSeparatedList(one))
      return failure();
    if (form.lone != Lone::Result && arrow()) {
      types = list;
      if (parseResults(form, parser, results))
        return failure();
    } else if (form.lone == Lone::Operands) {
      types = list;
    } else {
      results = list;
      written = true;
    }
  }

  if (form.loose && parser.parseOptionalAttrDict(state.attributes))
    return failure();
  // As the parsers do that assembly formats make: what is not of an attribute's kind is an error.
  auto wrong = [&] {
    return parser.emitError(parser.getNameLoc())
           << "'" << state.name.getStringRef() << "' op ";
  };
  if (failed(state.name.verifyInherentAttrs(state.attributes, wrong)))
    return failure();
  MLIRContext *context = parser.getContext();
  Location location = parser.getEncodedSourceLoc(parser.getNameLoc());
  StringRef name = state.name.getStringRef();
  auto sink = [](MlirType type, void *user) {
    static_cast<SmallVectorImpl<Type> *>(user)->push_back(unwrap(type));
  };
  // What is not written of the operands follows from the result, or from the operand that is.
  Type known = types.empty() && results.size() == 1 ? results[0] : Type();
  if (form.bare && types.size() == 1 && operands.size() > 1)
    known = types[0];
  if (known && !operands.empty()) {
    types.clear();
    if (!callbacks().operandTypes(wrap(name), wrap(location), operands.size(), wrap(known), sink,
                                  &types))
      return failure();
  }
  if (types.size() != operands.size())
    return parser.emitError(where) << operands.size() << " operands present, but expected "
                                   << types.size();
  if (parser.resolveOperands(operands, types, where, state.operands))
    return failure();
  if (!written && form.truth)
    results.push_back(parser.getBuilder().getI1Type());
  else if (!written && state.name.hasInterface<InferTypeOpInterface>() &&
           failed(inferTypes(name, context, location, state.operands,
                             state.attributes.getDictionary(context), results)))
    return failure();
  state.addTypes(results);
  return success();
}
