//===- Names.cpp - names that are not there ------------------------------===//
//
// Part of cute-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Syntax.h"
#include <algorithm>

using namespace mlir;
using namespace cute;

std::string cute::didYouMean(StringRef name, ArrayRef<StringRef> names, StringRef prefix) {
  unsigned least = std::clamp<size_t>(name.size() / 3, 1, 3) + 1;
  StringRef nearest;
  for (StringRef known : names)
    if (unsigned distance = name.edit_distance(known, /*AllowReplacements=*/true, least);
        distance < least) {
      least = distance;
      nearest = known;
    }
  return nearest.empty() ? "" : ("; did you mean '" + prefix + nearest + "'?").str();
}

namespace {
/// A name that CuTe's C++ or Python has in place of the dialect's.
struct Elsewhere {
  StringRef name, here;
};
} // namespace

static const Elsewhere elsewhere[] = {
    {"make_tensor", "cute.make_view"},
    {"make_rmem_tensor", "cute.memref.alloca, of a type in rmem"},
    {"make_tensor_like", "cute.make_fragment_like"},
    {"make_tiled_copy_A", "cute.mma.make_tiled_copy A"},
    {"make_tiled_copy_B", "cute.mma.make_tiled_copy B"},
    {"make_tiled_copy_C", "cute.mma.make_tiled_copy C"},
    {"partition_fragment_A", "cute.mma.make_fragment A"},
    {"partition_fragment_B", "cute.mma.make_fragment B"},
    {"partition_fragment_C", "cute.mma.make_fragment C"},
    {"partition_A", "cute.tiled.mma.partition A"},
    {"partition_B", "cute.tiled.mma.partition B"},
    {"partition_C", "cute.tiled.mma.partition C"},
    {"retile_S", "cute.tiled.copy.retile"},
    {"retile_D", "cute.tiled.copy.retile"},
    {"shape", "cute.get_shape"},
    {"stride", "cute.get_stride"},
    {"layout", "cute.get_layout"},
    {"copy_aligned", "cute.autovec_copy"},
    {"thread_idx", "gpu.thread_id"},
    {"block_idx", "gpu.block_id"},
    {"syncthreads", "gpu.barrier"},
    {"cp_async_fence", "nvvm.cp.async.commit.group"},
    {"cp_async_wait", "nvvm.cp.async.wait.group"},
};

std::string cute::meantOp(StringRef name, ArrayRef<StringRef> names) {
  auto [dialect, rest] = name.split('.');
  for (StringRef known : names)
    if (known.ends_with(("." + rest).str()))
      return ("; did you mean '" + known + "'?").str();
  for (const Elsewhere &known : elsewhere)
    if (known.name == rest)
      return ("; here that is " + known.here).str();
  std::string meant = didYouMean(name, names);
  return meant.empty() ? "; docs/ops.md has all ops of " + dialect.str() : meant;
}

InFlightDiagnostic cute::refuseName(DialectAsmParser &parser, SMLoc where, char sigil,
                                    StringRef dialect, StringRef name,
                                    ArrayRef<StringRef> names) {
  std::string prefix = (Twine(sigil) + dialect + ".").str();
  std::string meant = didYouMean(name, names, prefix);
  if (sigil == '!' && name == "tensor")
    meant = "; here that is !cute.memref, and of coordinates !cute.coord_tensor";
  else if (sigil == '!' && name.starts_with("sm") &&
           (name.contains("sparse") || name.ends_with("mma_sp") || name.ends_with("mma.sp")))
    meant = "; sparse products (PTX ISA, mma.sp and wgmma.mma_async.sp) have no atom here: expand A, and take the dense one";
  else if (meant.empty())
    meant = "; docs/ops.md has all of them";
  return parser.emitError(where) << "expected " << (sigil == '!' ? "a type" : "an attribute")
                                 << " of the dialect, found '" << prefix << name << "'" << meant;
}
