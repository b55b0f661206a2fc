func.func @main() {
  %m = arith.constant 8 : i32
  %n = arith.constant 6 : i32
  %s = cute.make_shape(%m, %n) : (i32, i32) -> !cute.shape<"(?,?)">
  %d = cute.make_stride(%n) : (i32) -> !cute.stride<"(1,?)">
  %l = cute.make_layout(%s, %d) : (!cute.shape<"(?,?)">, !cute.stride<"(1,?)">) -> !cute.layout<"(?,?):(1,?)">
  %k = arith.constant 16 : i32
  %t = cute.make_shape(%k) : (i32) -> !cute.shape<"?">
  %r = func.call @f(%l, %t) : (!cute.layout<"(?,?):(1,?)">, !cute.shape<"?">) -> !cute.layout<"(?,?):(?,?)">
  cute.print(%r) : !cute.layout<"(?,?):(?,?)">
  return
}
