//===- ops.td - the ops with wrappers in Rust -----------------------------===//
//
// Part of cute-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Those of ods/CuteOps.td but for DslOps.td, in which some have the name of
// another one with a dot for a `_`: in Rust both would be one name.
//
//===----------------------------------------------------------------------===//

include "CuteTypes.td"
include "CuteNvgpu.td"
include "LayoutConstructors.td"
include "LayoutAccessors.td"
include "LayoutAlgebra.td"
include "LayoutIndex.td"
include "LayoutArithmetic.td"
include "LayoutTiling.td"
include "TensorOps.td"
include "ViewOps.td"
include "AtomOps.td"
include "AlgorithmOps.td"
include "PipelineOps.td"
