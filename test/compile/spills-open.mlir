// A product whose every plan but the smallest ones spills: each access has an address and conditions of its own, and nothing of it is known.
//
// RUN: cute-opt %s --cute-compile="arch=sm_80 variants=2 package=%t.cutepkg" -o /dev/null 2>&1 | FileCheck %s --check-prefix=SAID
// RUN: cute-run %t.cutepkg --device=emulator --shape A=3x8x6x2 --layout "B=(5,(3,3,3)):(27,(1,3,9))" --shape C=96x5 --set arg3=-1 --set arg4=-1 --set arg5=1 --set arg6=1 --set arg7=1 --set arg8=1 --set arg9=8 --set arg10=6 --set arg11=2 | FileCheck %s
//
// SAID: remark: the kernel open_kernel_{{[0-9]}} has too few registers by tile={{.*}}; another plan is chosen in its place
// CHECK: right; every element compared
// CHECK: no findings

!x = !cute.memref<f16, gmem, align<2>, "(?,?,?,?):(1,?,?,?)">
!f = !cute.memref<f16, gmem, align<2>, "(?,(?,?,?)):(?,(1,?,?))">
!y = !cute.memref<f32, gmem, align<4>, "(?,?):(?,1)">
func.func @open(%X: !x, %F: !f, %Y: !y, %pw: i32, %ph: i32, %sw: i32, %sh: i32, %dw: i32, %dh: i32, %q: i32, %p: i32, %n: i32) {
  %l = cute.get_layout(%F) : !f
  %k, %c, %s, %r, %s1, %s2, %s3 = cute.get_scalars(%l) {only_dynamic} : !cute.layout<"(?,(?,?,?)):(?,(1,?,?))">
  %o = cute.make_int_tuple(%pw, %ph) : (i32, i32) -> !cute.int_tuple<"(0,?,?,0)">
  %i = cute.make_arith_tuple_iter(%o) : (!cute.int_tuple<"(0,?,?,0)">) -> !cute.arith_tuple_iter<"(0,?,?,0)">
  %shape = cute.make_shape(%q, %p, %n, %c, %s, %r) : (i32, i32, i32, i32, i32, i32) -> !cute.shape<"((?,?,?),(?,?,?))">
  %stride = cute.make_stride(%sw, %sh, %dw, %dh) : (i32, i32, i32, i32) -> !cute.stride<"((?@1,?@2,1@3),(1@0,?@1,?@2))">
  %layout = cute.make_layout(%shape, %stride) : (!cute.shape<"((?,?,?),(?,?,?))">, !cute.stride<"((?@1,?@2,1@3),(1@0,?@1,?@2))">) -> !cute.layout<"((?,?,?),(?,?,?)):((?@1,?@2,1@3),(1@0,?@1,?@2))">
  %at = cute.make_view(%i, %layout) : !cute.coord_tensor<"(0,?,?,0)", "((?,?,?),(?,?,?)):((?@1,?@2,1@3),(1@0,?@1,?@2))">
  cute.contract ins(%X, %F) outs(%Y) accumulate f32 at A(%at)
  return
}
