// cute-simplify-layouts=explain=LINE: the laws by which terms of a line became what they are. A prime marks what is computed of operands of open types.
//
// RUN: cute-opt %s --cute-simplify-layouts=explain=24 -o /dev/null 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: cute-opt %s --cute-simplify-layouts=explain=30 -o /dev/null 2>&1 | FileCheck %s --check-prefix=TILE
// RUN: cute-opt %s --cute-simplify-layouts=explain=35 -o /dev/null 2>&1 | FileCheck %s --check-prefix=STAYS
// RUN: cute-opt %s --cute-simplify-layouts=explain=1 -o /dev/null 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not cute-opt %s --cute-simplify-layouts=explain=size -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG
//
// SIZE:      explain.mlir:24:{{[0-9]+}}: remark: a term of the layout algebra, in 2 steps:
// SIZE-NEXT:   (size (composition' x0 (4,8):(2,16)))
// SIZE-NEXT:     = (size (4,8):(2,16)) by size-composition
// SIZE-NEXT:   (size (4,8):(2,16))
// SIZE-NEXT:     = 32 by what it gives
// SIZE-NEXT:   x0 is argument 0 of its block, ([[M:.*]],[[N:.*]]):(1,{{.*}})
// TILE:      (get.0 (zipped_divide x0 [4:1;2:1]))
// TILE:        = (composition x0 [4:1;2:1]) by what it gives
// STAYS:     explain.mlir:35:{{[0-9]+}}: remark: a term of the layout algebra that stays as it is
// NONE:      remark: explain=1: nothing of that line is a term of the layout algebra whose result something else uses; lines of this op with some: 24, 25, 30, 31, 35, 36
// WRONG:     error: explain: expected a positive number, found 'size'

func.func @size(%l: !cute.layout<"(?,?):(1,?)">) -> !cute.int_tuple<"?"> {
  %t = cute.static : !cute.layout<"(4,8):(2,16)">
  %r = cute.composition(%l, %t) : (!cute.layout<"(?,?):(1,?)">, !cute.layout<"(4,8):(2,16)">) -> !cute.layout<"((?,?),(?,?)):((2,?),(16,?))">
  %s = cute.size(%r) : (!cute.layout<"((?,?),(?,?)):((2,?),(16,?))">) -> !cute.int_tuple<"?">
  return %s : !cute.int_tuple<"?">
}
func.func @tile(%l: !cute.layout<"(?,?):(?,1)">) -> !cute.layout<"(4,2):(?,1)"> {
  %t = cute.static : !cute.tile<"[4:1;2:1]">
  %z = cute.zipped_divide(%l, %t) : (!cute.layout<"(?,?):(?,1)">, !cute.tile<"[4:1;2:1]">) -> !cute.layout<"((4,2),(?,?)):((?,1),(?,2))">
  %g = cute.get<[0]>(%z) : !cute.layout<"((4,2),(?,?)):((?,1),(?,2))"> -> !cute.layout<"(4,2):(?,1)">
  return %g : !cute.layout<"(4,2):(?,1)">
}
func.func @one(%l: !cute.layout<"(?,?):(?,1)">) -> !cute.int_tuple<"?"> {
  // Nothing is cheaper.
  %s = cute.size(%l) : (!cute.layout<"(?,?):(?,1)">) -> !cute.int_tuple<"?">
  return %s : !cute.int_tuple<"?">
}
