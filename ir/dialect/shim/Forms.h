//===- Forms.h - the forms of text that an op is read in --------*- C++ -*-===//
//
// Part of cute-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An op is printed in one form, that of the published CuTe IR, which its
// assembly format gives. CuTe DSL prints several ops in another form. Both are
// read, by one parser that knows from a table what an op has.
//
//===----------------------------------------------------------------------===//

#ifndef CUTE_SHIM_FORMS_H
#define CUTE_SHIM_FORMS_H

#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/ExtensibleDialect.h"

namespace cute {

/// What is read of one op beyond its own assembly format.
struct Form;
const Form *findForm(llvm::StringRef op);
mlir::ParseResult parseForm(const Form &form, mlir::OpAsmParser &parser,
                            mlir::OperationState &state);

/// The op, read in every form. To MLIR it is the same op: it has the op's identity.
template <typename Op> struct WithForms : Op {
  using Op::Op;
  static mlir::ParseResult parse(mlir::OpAsmParser &parser, mlir::OperationState &state) {
    if (const Form *form = findForm(Op::getOperationName()))
      return parseForm(*form, parser, state);
    return Op::parse(parser, state);
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
