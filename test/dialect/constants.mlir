// `cute.static` is a constant: it folds to an attribute, is made again where one is needed, and is shared. Which ops may be
// moved before a check.
//
// RUN: cute-opt %s --canonicalize --split-input-file | FileCheck %s
// RUN: cute-opt %s --sccp --split-input-file | FileCheck %s --check-prefix=SCCP
// RUN: cute-opt %s --loop-invariant-code-motion --split-input-file | FileCheck %s --check-prefix=LICM

// Equal values are one, those of other types are others, though the text is the same.
// CHECK-LABEL: func.func @shared
// CHECK-DAG:     %[[S:.*]] = cute.static : !cute.shape<"(4,8)">
// CHECK-DAG:     %[[T:.*]] = cute.static : !cute.stride<"(4,8)">
// CHECK-NOT:     cute.static
// CHECK:         return %[[S]], %[[S]], %[[T]]
func.func @shared() -> (!cute.shape<"(4,8)">, !cute.shape<"(4,8)">, !cute.stride<"(4,8)">) {
  %a = cute.static : !cute.shape<"(4,8)">
  %b = cute.static : !cute.shape<"(4,8)">
  %c = cute.static : !cute.stride<"(4,8)">
  return %a, %b, %c : !cute.shape<"(4,8)">, !cute.shape<"(4,8)">, !cute.stride<"(4,8)">
}

// -----

// What has no attribute of its own is a constant by its type.
// CHECK-LABEL: func.func @atoms
// CHECK:         %[[A:.*]] = cute.static : !cute_nvgpu.atom.universal_copy<f16, 128 b>
// CHECK-NOT:     cute.static
// CHECK:         return %[[A]], %[[A]]
func.func @atoms() -> (!cute_nvgpu.atom.universal_copy<f16, 128 b>, !cute_nvgpu.atom.universal_copy<f16, 128 b>) {
  %a = cute.static : !cute_nvgpu.atom.universal_copy<f16, 128 b>
  %b = cute.static : !cute_nvgpu.atom.universal_copy<f16, 128 b>
  return %a, %b : !cute_nvgpu.atom.universal_copy<f16, 128 b>, !cute_nvgpu.atom.universal_copy<f16, 128 b>
}

// -----

// A constant that goes into a function is made again there.
// SCCP-LABEL: func.func private @callee
// SCCP:         %[[L:.*]] = cute.static : !cute.layout<"(4,8):(8,1)">
// SCCP:         return %[[L]]
func.func private @callee(%l: !cute.layout<"(4,8):(8,1)">) -> !cute.layout<"(4,8):(8,1)"> {
  return %l : !cute.layout<"(4,8):(8,1)">
}
func.func @caller() -> !cute.layout<"(4,8):(8,1)"> {
  %l = cute.static : !cute.layout<"(4,8):(8,1)">
  %r = func.call @callee(%l) : (!cute.layout<"(4,8):(8,1)">) -> !cute.layout<"(4,8):(8,1)">
  return %r : !cute.layout<"(4,8):(8,1)">
}

// -----

// A division leaves a loop that may not run only where its divisor is known and has no 0; what is pure leaves it always.
// LICM-LABEL: func.func @divisions
// LICM-DAG:     cute.shape_div(%{{.*}}, %{{.*}}) : (!cute.shape<"?">, !cute.shape<"4">) -> !cute.shape<"?">
// LICM-DAG:     cute.ceil_div(%{{.*}}, %{{.*}}) : (!cute.shape<"?">, !cute.int_tuple<"4">) -> !cute.shape<"?">
// LICM-DAG:     cute.tuple_add
// LICM:         scf.for
// LICM-DAG:       cute.shape_div(%{{.*}}, %{{.*}}) : (!cute.shape<"?">, !cute.shape<"?">) -> !cute.shape<"?">
// LICM-DAG:       cute.ceil_div(%{{.*}}, %{{.*}}) : (!cute.shape<"?">, !cute.shape<"?">) -> !cute.shape<"?">
// LICM-DAG:       cute.ceil_div(%{{.*}}, %{{.*}}) : (!cute.shape<"?">, !cute.tile<"[4:1]">) -> !cute.shape<"?">
// LICM:         }
func.func @divisions(%a: !cute.shape<"?">, %d: !cute.shape<"?">, %f: !cute.shape<"4">, %i: !cute.int_tuple<"4">, %t: !cute.tile<"[4:1]">,
                     %n: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  scf.for %k = %zero to %n step %one {
    %0 = cute.shape_div(%a, %f) : (!cute.shape<"?">, !cute.shape<"4">) -> !cute.shape<"?">
    %1 = cute.ceil_div(%a, %i) : (!cute.shape<"?">, !cute.int_tuple<"4">) -> !cute.shape<"?">
    %2 = cute.shape_div(%a, %d) : (!cute.shape<"?">, !cute.shape<"?">) -> !cute.shape<"?">
    %3 = cute.ceil_div(%a, %d) : (!cute.shape<"?">, !cute.shape<"?">) -> !cute.shape<"?">
    %4 = cute.ceil_div(%a, %t) : (!cute.shape<"?">, !cute.tile<"[4:1]">) -> !cute.shape<"?">
    %5 = cute.tuple_add(%a, %d) : (!cute.shape<"?">, !cute.shape<"?">) -> !cute.shape<"?">
    cute.print(%0) : !cute.shape<"?">
    cute.print(%1) : !cute.shape<"?">
    cute.print(%2) : !cute.shape<"?">
    cute.print(%3) : !cute.shape<"?">
    cute.print(%4) : !cute.shape<"?">
    cute.print(%5) : !cute.shape<"?">
  }
  return
}

// -----

// A dead division is gone, and so is a dead value of every other op; what prints stays.
// CHECK-LABEL: func.func @dead
// CHECK-NEXT:    cute.print
// CHECK-NEXT:    return
func.func @dead(%a: !cute.shape<"?">, %d: !cute.shape<"?">) {
  %0 = cute.shape_div(%a, %d) : (!cute.shape<"?">, !cute.shape<"?">) -> !cute.shape<"?">
  %1 = cute.size(%a) : (!cute.shape<"?">) -> !cute.int_tuple<"?">
  cute.print(%a) : !cute.shape<"?">
  return
}

// -----

// An attribute for each value, canonical as the type is.
// CHECK-LABEL: func.func private @attributes
// CHECK-SAME:    a = #cute.int_tuple<"(1,(2,?))">
// CHECK-SAME:    b = #cute.shape<"(4,8)">
// CHECK-SAME:    c = #cute.stride<"(1@0,?@1)">
// CHECK-SAME:    d = #cute.coord<"(_,1)">
// CHECK-SAME:    e = #cute.layout<"(4,8):(1,4)">
// CHECK-SAME:    f = #cute.tile<"[128:1;_]">
// CHECK-SAME:    g = #cute.swizzle<"S<3,4,3>">
// CHECK-SAME:    h = #cute.composed_layout<"S<3,5,4> o 0 o (8,4):(1,8)">
func.func private @attributes() attributes {
  a = #cute.int_tuple<" (1,(2, ?))">, b = #cute.shape<"(4,8)">, c = #cute.stride<"(1@0,?@1)">, d = #cute.coord<"(_,1)">,
  e = #cute.layout<"(4,8)">, f = #cute.tile<"[128;_]">, g = #cute.swizzle<"S<3,4,3>">,
  h = #cute.composed_layout<"S<3,5,4> o 0 o (8,4):(1,8)">}
