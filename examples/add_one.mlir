// y = x + 1 for vectors of any length: the smallest function that other programs can call (docs/export.md).
//
//     cute-opt examples/add_one.mlir --cute-compile="arch=sm_80 package=add_one.cutepkg" -o /dev/null
//     cute-run add_one.cutepkg --export .
!vector = !cute.memref<f32, gmem, align<4>, "(?):(1)">

func.func @add_one_cpu(%x: !vector, %y: !vector) {
  cute.map ins(%x) outs(%y) {
  ^bb0(%a: f32):
    %one = arith.constant 1.0 : f32
    %b = arith.addf %a, %one : f32
    cute.yield %b : f32
  }
  return
}
