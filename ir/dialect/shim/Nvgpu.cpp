//===- Nvgpu.cpp - the dialect of NVIDIA's atoms -------------------------===//
//
// Part of cute-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Syntax.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace cute;

#include "CuteNvgpuDialect.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "CuteNvgpuAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "CuteNvgpuTypes.cpp.inc"
#define GET_OP_CLASSES
#include "CuteNvgpuOps.cpp.inc"

using namespace cute_nvgpu;

CUTE_ATTRIBUTE_VERIFIERS(CuteNvgpuDialect)

static SmallVector<StringRef> typeNames() {
  return mnemonicsOf<
#define GET_TYPEDEF_LIST
#include "CuteNvgpuTypes.cpp.inc"
      >();
}
static SmallVector<StringRef> attributeNames() {
  return mnemonicsOf<
#define GET_ATTRDEF_LIST
#include "CuteNvgpuAttrs.cpp.inc"
      >();
}
CUTE_PARSERS(CuteNvgpuDialect)

void CuteNvgpuDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "CuteNvgpuTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "CuteNvgpuAttrs.cpp.inc"
      >();
  addOperationsWithForms<
#define GET_OP_LIST
#include "CuteNvgpuOps.cpp.inc"
      >();
}
