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
#define GET_TYPEDEF_CLASSES
#include "CuteNvgpuTypes.cpp.inc"

LogicalResult cute_nvgpu::UniversalCopyType::verify(Emit emit, Type value, int64_t bits) {
  return verifyParts(emit, parts(CuteUniversalCopy, {value}, {}, {bits}));
}
LogicalResult cute_nvgpu::SimtAsyncCopyType::verify(Emit emit, Type value, StringRef cache,
                                                    int64_t bits) {
  return verifyParts(emit, parts(CuteSimtAsyncCopy, {value}, {cache}, {bits}));
}
LogicalResult cute_nvgpu::LdsmType::verify(Emit emit, Type value, StringRef mode,
                                           StringRef pattern, int64_t matrices,
                                           StringRef transpose) {
  return verifyParts(emit, parts(CuteLdsm, {value}, {mode, pattern, transpose}, {matrices}));
}
LogicalResult cute_nvgpu::Sm80MmaType::verify(Emit emit, int64_t m, int64_t n, int64_t k, Type a,
                                              Type b, Type acc) {
  return verifyParts(emit, parts(CuteSm80Mma, {a, b, acc}, {}, {m, n, k}));
}

void cute_nvgpu::CuteNvgpuDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "CuteNvgpuTypes.cpp.inc"
      >();
}
