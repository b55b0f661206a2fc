// Coordinates that only a launch knows: those of factors are computed in 32 bits, and steps of C are not 0, as each element is written once.
//
// RUN: cute-opt %s --cute-compile="arch=sm_80 package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator --function coordinates --set arg3=-1 --set arg4=1 | FileCheck %s
// RUN: cute-run %t.cutepkg --device=emulator --function coordinates --set arg3=0 --set arg4=1073741821 | FileCheck %s
// RUN: not cute-run %t.cutepkg --device=emulator --function coordinates --set arg3=0 --set arg4=2147483647 2>&1 | FileCheck %s --check-prefix=WIDE
// RUN: not cute-run %t.cutepkg --device=emulator --function coordinates --set arg3=-1 --set arg4=-2147483648 2>&1 | FileCheck %s --check-prefix=WIDE
// RUN: cute-run %t.cutepkg --device=emulator --function step --set arg3=0 --set arg4=2 | FileCheck %s
// RUN: not cute-run %t.cutepkg --device=emulator --function step --set arg3=0 --set arg4=0 2>&1 | FileCheck %s --check-prefix=STEP
//
// CHECK: right; every element compared
// CHECK: no findings
// WIDE: expected coordinates of A along mode 1 of its tensor that are integers of 32 bits
// STEP: expected steps along mode 1 of the tensor of C that are not 0: each element is written once

!x = !cute.memref<f16, gmem, align<2>, "(1,4):(1,1)">
!f = !cute.memref<f16, gmem, align<2>, "(8,(1,3)):(3,(1,1))">
!y = !cute.memref<f32, gmem, align<4>, "(4,8):(8,1)">
func.func @coordinates(%X: !x, %F: !f, %Y: !y, %s: i32, %d: i32) {
  %o = cute.make_int_tuple(%s) : (i32) -> !cute.int_tuple<"(0,?)">
  %i = cute.make_arith_tuple_iter(%o) : (!cute.int_tuple<"(0,?)">) -> !cute.arith_tuple_iter<"(0,?)">
  %shape = cute.static : !cute.shape<"(4,(1,3))">
  %stride = cute.make_stride(%d) : (i32) -> !cute.stride<"(1@1,(1@0,?@1))">
  %layout = cute.make_layout(%shape, %stride) : (!cute.shape<"(4,(1,3))">, !cute.stride<"(1@1,(1@0,?@1))">) -> !cute.layout<"(4,(1,3)):(1@1,(1@0,?@1))">
  %at = cute.make_view(%i, %layout) : !cute.coord_tensor<"(0,?)", "(4,(1,3)):(1@1,(1@0,?@1))">
  cute.contract ins(%X, %F) outs(%Y) accumulate f32 at A(%at)
  return
}

!xc = !cute.memref<f16, gmem, align<2>, "(8,16):(16,1)">
!fc = !cute.memref<f16, gmem, align<2>, "(8,16):(16,1)">
!yc = !cute.memref<f32, gmem, align<4>, "(8,20):(20,1)">
func.func @step(%X: !xc, %F: !fc, %Y: !yc, %s: i32, %d: i32) {
  %o = cute.make_int_tuple(%s) : (i32) -> !cute.int_tuple<"(0,?)">
  %i = cute.make_arith_tuple_iter(%o) : (!cute.int_tuple<"(0,?)">) -> !cute.arith_tuple_iter<"(0,?)">
  %shape = cute.static : !cute.shape<"(8,8)">
  %stride = cute.make_stride(%d) : (i32) -> !cute.stride<"(1@0,?@1)">
  %layout = cute.make_layout(%shape, %stride) : (!cute.shape<"(8,8)">, !cute.stride<"(1@0,?@1)">) -> !cute.layout<"(8,8):(1@0,?@1)">
  %at = cute.make_view(%i, %layout) : !cute.coord_tensor<"(0,?)", "(8,8):(1@0,?@1)">
  cute.contract ins(%X, %F) outs(%Y) accumulate f32 at C(%at)
  return
}
