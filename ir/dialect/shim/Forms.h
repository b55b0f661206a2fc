//===- Forms.h - the forms of text that an op is read in --------*- C++ -*-===//
//
// Part of cute-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An op is printed in one form, that of the published CuTe IR, which its
// assembly format gives. CuTe DSL prints several ops in another form. Both are
// read, by one parser that knows from a table what an op has. Of each op the
// types may be left out, as far as they follow.
//
//===----------------------------------------------------------------------===//

#ifndef CUTE_SHIM_FORMS_H
#define CUTE_SHIM_FORMS_H

#include "Groups.h"
#include "Head.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/ExtensibleDialect.h"

namespace cute {

template <typename Op>
mlir::DictionaryAttr withProperties(mlir::MLIRContext *context, mlir::DictionaryAttr attributes,
                                    mlir::OpaqueProperties properties);

/// The trait of ops whose result types follow from operands and attributes, as Rust says.
template <typename ConcreteOp>
class RustInfer : public mlir::OpTrait::TraitBase<ConcreteOp, RustInfer> {};

/// The forms of one op beyond its own assembly format.
struct Form;
const Form *findForm(llvm::StringRef op);
/// The operands of an op that may be texts.
llvm::StringRef textOperandsOf(llvm::StringRef op);
mlir::ParseResult parseForm(const Form &form, mlir::OpAsmParser &parser,
                            mlir::OperationState &state);

bool hasOpenTypes(mlir::Operation *op);
/// Tells whether an op is printed without its types because they are not known yet.
bool leavesOutTypes(mlir::Operation *op);
mlir::LogicalResult verifyOpenOp(mlir::Operation *op);

/// Verifies an op as MLIR does: by its traits, as none of these ops has a verifier of its own beside them.
template <typename Concrete, template <typename> class... Traits>
mlir::LogicalResult verifyTraitsOf(mlir::Op<Concrete, Traits...> *, mlir::Operation *op) {
  return mlir::op_definition_impl::verifyTraits<Traits<Concrete>...>(op);
}
template <typename Concrete, template <typename> class... Traits>
mlir::LogicalResult verifyRegionTraitsOf(mlir::Op<Concrete, Traits...> *, mlir::Operation *op) {
  return mlir::op_definition_impl::verifyRegionTraits<Traits<Concrete>...>(op);
}

/// The op, read in every form. To MLIR it is the same op: it has the op's identity.
template <typename Op> struct WithForms : Op {
  using Op::Op;
  static Traits traits() {
    return {Op::template hasTrait<mlir::OpTrait::ZeroResults>(),
            Op::template hasTrait<mlir::OpTrait::OneRegion>(),
            Op::template hasTrait<mlir::OpTrait::AttrSizedOperandSegments>(),
            Op::template hasTrait<mlir::OpTrait::OneResult>(),
            Op::template hasTrait<RustInfer>()};
  }
  // What of an op's types is not known before a function is called is verified in its caller.
  static mlir::OperationName::VerifyInvariantsFn getVerifyInvariantsFn() {
    return [](mlir::Operation *op) {
      return hasOpenTypes(op) ? verifyOpenOp(op) : verifyTraitsOf(static_cast<Op *>(nullptr), op);
    };
  }
  static mlir::OperationName::VerifyRegionInvariantsFn getVerifyRegionInvariantsFn() {
    return [](mlir::Operation *op) {
      return hasOpenTypes(op) ? mlir::success()
                              : verifyRegionTraitsOf(static_cast<Op *>(nullptr), op);
    };
  }
  static mlir::OperationName::PrintAssemblyFn getPrintAssemblyFn() {
    return [](mlir::Operation *op, mlir::OpAsmPrinter &printer, mlir::StringRef dialect) {
      mlir::OpState::printOpName(op, printer, dialect);
      auto print = [op](mlir::OpAsmPrinter &p) { mlir::cast<Op>(op).print(p); };
      if (stripsTypes() || leavesOutTypes(op))
        printStripped(op, printer, traits(), print);
      else
        print(printer);
    };
  }
  static mlir::ParseResult parse(mlir::OpAsmParser &parser, mlir::OperationState &state) {
    if (Op::getOperationName() == "cute.static")
      if (mlir::OptionalParseResult text = parseStaticText(parser, state); text.has_value())
        return *text;
    if (traits().segments && traits().noResults) {
      GroupParser groups(parser);
      return failure(Op::parse(groups, state) || groups.mend());
    }
    HeadParser head(parser, Op::getOperationName(), traits(), textOperandsOf(Op::getOperationName()));
    const Form *form = findForm(Op::getOperationName());
    mlir::ParseResult parsed = form ? parseForm(*form, head, state) : Op::parse(head, state);
    mlir::MLIRContext *context = parser.getContext();
    auto attributes = [&] {
      return withProperties<Op>(context, state.attributes.getDictionary(context),
                                state.getRawProperties());
    };
    if (head.stopped())
      parsed = head.finish(state, attributes);
    else if (mlir::succeeded(parsed))
      parsed = head.mend(state, attributes);
    return failure(mlir::failed(parsed) || head.placeTexts(state));
  }
};

} // namespace cute

namespace mlir::detail {
template <typename Op> class TypeIDResolver<cute::WithForms<Op>, void> {
public:
  static TypeID resolveTypeID() { return TypeID::get<Op>(); }
};
} // namespace mlir::detail

#endif
