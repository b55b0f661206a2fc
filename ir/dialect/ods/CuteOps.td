//===- CuteOps.td - the ops of the cute dialect ---------------------------===//
//
// Part of cute-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CUTE_OPS_TD
#define CUTE_OPS_TD

include "CuteTypes.td"
include "CuteNvgpu.td"

// Values of the layout algebra.
include "LayoutConstructors.td"
include "LayoutAccessors.td"
include "LayoutAlgebra.td"
include "LayoutIndex.td"
include "LayoutArithmetic.td"
include "LayoutTiling.td"

// Tensors and what is done with them.
include "TensorOps.td"
include "ViewOps.td"
include "DslOps.td"
include "AtomOps.td"
include "AlgorithmOps.td"
include "FunctionOps.td"
include "PipelineOps.td"
include "HopperOps.td"
include "HopperPipelines.td"
include "HopperDescriptors.td"
include "HopperAtoms.td"

#endif
