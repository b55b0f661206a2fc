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

//===----------------------------------------------------------------------===//
// Types, taken apart and put together
//===----------------------------------------------------------------------===//

static CuteTypeParts partsOf(UniversalCopyType t) {
  return parts(CuteUniversalCopy, {t.getValType()}, {t.getEviction()}, {t.getBits()});
}
static CuteTypeParts partsOf(SimtAsyncCopyType t) {
  return parts(CuteSimtAsyncCopy, {t.getValType()}, {t.getCache()}, {t.getBits()});
}
static CuteTypeParts partsOf(LdsmType t) {
  return parts(CuteLdsm, {t.getValType()}, {t.getMode(), t.getPattern(), t.getTranspose()},
               {t.getNumMatrices()});
}
static CuteTypeParts partsOf(StsmType t) {
  return parts(CuteStsm, {t.getValType()}, {t.getMode(), t.getTranspose()}, {t.getNumMatrices()});
}
static CuteTypeParts partsOf(MovmType t) {
  return parts(CuteMovm, {t.getValType()}, {t.getMode(), t.getTranspose()}, {t.getNumMatrices()});
}
template <typename T>
static CuteTypeParts mmaParts(int kind, T t, ArrayRef<StringRef> texts = {}) {
  return parts(kind, {t.getAType(), t.getBType(), t.getAccType()}, texts,
               {t.getM(), t.getN(), t.getK()});
}
static CuteTypeParts partsOf(UniversalFmaType t) { return mmaParts(CuteUniversalFma, t); }
static CuteTypeParts partsOf(Sm70MmaType t) {
  return mmaParts(CuteSm70Mma, t, {t.getAMajor(), t.getBMajor()});
}
static CuteTypeParts partsOf(Sm75MmaType t) { return mmaParts(CuteSm75Mma, t); }
static CuteTypeParts partsOf(Sm80MmaType t) {
  return mmaParts(CuteSm80Mma, t, {t.getIntOverflow(), t.getBinaryOp()});
}
static CuteTypeParts partsOf(Sm89MmaType t) { return mmaParts(CuteSm89Mma, t); }
static CuteTypeParts partsOf(Sm90WarpMmaType t) { return mmaParts(CuteSm90WarpMma, t); }
static CuteTypeParts partsOf(Sm90MmaType t) {
  return mmaParts(CuteSm90Mma, t, {t.getAMajor(), t.getBMajor(), t.getFragKind()});
}
static CuteTypeParts partsOf(Sm120MmaType t) { return mmaParts(CuteSm120Mma, t); }
static CuteTypeParts partsOf(Sm120MmaBsType t) {
  return parts(CuteSm120MmaBs, {t.getAType(), t.getBType(), t.getAccType(), t.getScaleType()}, {},
               {t.getM(), t.getN(), t.getK(), t.getVecSize()});
}

#define CUTE_NVGPU_TYPES(MACRO)                                                                  \
  MACRO(UniversalCopy) MACRO(SimtAsyncCopy) MACRO(Ldsm) MACRO(Stsm) MACRO(Movm)                  \
  MACRO(UniversalFma) MACRO(Sm70Mma) MACRO(Sm75Mma) MACRO(Sm80Mma) MACRO(Sm89Mma)                \
  MACRO(Sm90WarpMma) MACRO(Sm90Mma) MACRO(Sm120Mma) MACRO(Sm120MmaBs)

bool cute::nvgpuTypeParts(Type type, CuteTypeParts *result) {
  return llvm::TypeSwitch<Type, bool>(type)
#define CUTE_NVGPU_CASE(T)                                                                       \
  .Case([&](T##Type t) {                                                                         \
    *result = partsOf(t);                                                                        \
    return true;                                                                                 \
  })
      CUTE_NVGPU_TYPES(CUTE_NVGPU_CASE)
      .Default([](Type) { return false; });
}

Type cute::nvgpuTypeGet(Location at, const CuteTypeParts *p) {
  MLIRContext *context = at.getContext();
  auto emit = [&] { return mlir::emitError(at); };
  auto type = [&](int i) { return unwrap(p->types[i]); };
  auto text = [&](int i) { return unwrap(p->texts[i]); };
  auto whole = [&](int i) { return p->ints[i]; };
#define CUTE_NVGPU_MMA(T, ...)                                                                   \
  T##Type::getChecked(emit, context, whole(0), whole(1), whole(2), __VA_ARGS__)
  switch (p->kind) {
  case CuteUniversalCopy:
    return UniversalCopyType::getChecked(emit, context, type(0), whole(0), text(0));
  case CuteSimtAsyncCopy:
    return SimtAsyncCopyType::getChecked(emit, context, type(0), text(0), whole(0));
  case CuteLdsm:
    return LdsmType::getChecked(emit, context, type(0), text(0), text(1), whole(0), text(2));
  case CuteStsm:
    return StsmType::getChecked(emit, context, type(0), text(0), whole(0), text(1));
  case CuteMovm:
    return MovmType::getChecked(emit, context, type(0), text(0), whole(0), text(1));
  case CuteUniversalFma:
    return CUTE_NVGPU_MMA(UniversalFma, type(0), type(1), type(2));
  case CuteSm70Mma:
    return CUTE_NVGPU_MMA(Sm70Mma, text(0), text(1), type(0), type(1), type(2));
  case CuteSm75Mma:
    return CUTE_NVGPU_MMA(Sm75Mma, type(0), type(1), type(2));
  case CuteSm80Mma:
    return CUTE_NVGPU_MMA(Sm80Mma, type(0), type(1), type(2), text(0), text(1));
  case CuteSm89Mma:
    return CUTE_NVGPU_MMA(Sm89Mma, type(0), type(1), type(2));
  case CuteSm90WarpMma:
    return CUTE_NVGPU_MMA(Sm90WarpMma, type(0), type(1), type(2));
  case CuteSm90Mma:
    return CUTE_NVGPU_MMA(Sm90Mma, text(0), text(1), type(0), type(1), type(2), text(2));
  case CuteSm120Mma:
    return CUTE_NVGPU_MMA(Sm120Mma, type(0), type(1), type(2));
  case CuteSm120MmaBs:
    return CUTE_NVGPU_MMA(Sm120MmaBs, type(0), type(1), type(2), type(3), whole(3));
  default:
    return {};
  }
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

LogicalResult UniversalCopyType::verify(Emit emit, Type value, int64_t bits,
                                        StringRef eviction) {
  return verifyParts(emit, parts(CuteUniversalCopy, {value}, {eviction}, {bits}));
}
LogicalResult SimtAsyncCopyType::verify(Emit emit, Type value, StringRef cache, int64_t bits) {
  return verifyParts(emit, parts(CuteSimtAsyncCopy, {value}, {cache}, {bits}));
}
LogicalResult LdsmType::verify(Emit emit, Type value, StringRef mode, StringRef pattern,
                               int64_t matrices, StringRef transpose) {
  return verifyParts(emit, parts(CuteLdsm, {value}, {mode, pattern, transpose}, {matrices}));
}
LogicalResult StsmType::verify(Emit emit, Type value, StringRef mode, int64_t matrices,
                               StringRef transpose) {
  return verifyParts(emit, parts(CuteStsm, {value}, {mode, transpose}, {matrices}));
}
LogicalResult MovmType::verify(Emit emit, Type value, StringRef mode, int64_t matrices,
                               StringRef transpose) {
  return verifyParts(emit, parts(CuteMovm, {value}, {mode, transpose}, {matrices}));
}
LogicalResult Sm70MmaType::verify(Emit emit, int64_t m, int64_t n, int64_t k, StringRef aMajor,
                                  StringRef bMajor, Type a, Type b, Type acc) {
  return verifyParts(emit, parts(CuteSm70Mma, {a, b, acc}, {aMajor, bMajor}, {m, n, k}));
}
LogicalResult Sm80MmaType::verify(Emit emit, int64_t m, int64_t n, int64_t k, Type a, Type b,
                                  Type acc, StringRef overflow, StringRef op) {
  return verifyParts(emit, parts(CuteSm80Mma, {a, b, acc}, {overflow, op}, {m, n, k}));
}
LogicalResult Sm90MmaType::verify(Emit emit, int64_t m, int64_t n, int64_t k, StringRef aMajor,
                                  StringRef bMajor, Type a, Type b, Type acc, StringRef kind) {
  return verifyParts(emit, parts(CuteSm90Mma, {a, b, acc}, {aMajor, bMajor, kind}, {m, n, k}));
}
LogicalResult Sm120MmaBsType::verify(Emit emit, int64_t m, int64_t n, int64_t k, Type a, Type b,
                                     Type acc, Type scale, int64_t vec) {
  return verifyParts(emit, parts(CuteSm120MmaBs, {a, b, acc, scale}, {}, {m, n, k, vec}));
}
#define CUTE_NVGPU_VERIFY(T)                                                                     \
  LogicalResult T##Type::verify(Emit emit, int64_t m, int64_t n, int64_t k, Type a, Type b,      \
                                Type acc) {                                                      \
    return verifyParts(emit, parts(Cute##T, {a, b, acc}, {}, {m, n, k}));                        \
  }
CUTE_NVGPU_VERIFY(UniversalFma)
CUTE_NVGPU_VERIFY(Sm75Mma)
CUTE_NVGPU_VERIFY(Sm89Mma)
CUTE_NVGPU_VERIFY(Sm90WarpMma)
CUTE_NVGPU_VERIFY(Sm120Mma)

void CuteNvgpuDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "CuteNvgpuTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "CuteNvgpuAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "CuteNvgpuOps.cpp.inc"
      >();
}
