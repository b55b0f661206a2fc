// The rules by which index arithmetic became what it is, asked for by the line that makes it or uses it.
//
// RUN: cute-opt %s --cute-simplify-indices="explain=19" -o /dev/null 2>&1 | FileCheck %s
// RUN: cute-opt %s --cute-simplify-indices="explain=20" -o /dev/null 2>&1 | FileCheck %s
// RUN: cute-opt %s --cute-simplify-indices="explain=17" -o /dev/null 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: cute-opt %s --cute-simplify-indices -o /dev/null 2>&1 | FileCheck %s --check-prefix=SILENT --allow-empty
// RUN: not cute-opt %s --cute-simplify-indices="explain=here" -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

gpu.module @kernels {
  gpu.func @rows(%p: !llvm.ptr<3>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c5 = arith.constant 5 : i32
    %c8 = arith.constant 8 : i32
    %x = gpu.thread_id x
    %t = arith.index_cast %x : index to i32

    %a = arith.muli %t, %c8 : i32
    %b = arith.addi %a, %c5 : i32

    %c = arith.divui %b, %c8 : i32
    %q = llvm.getelementptr %p[%c] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    %v = llvm.load %q : !llvm.ptr<3> -> i8
    llvm.store %v, %p : i8, !llvm.ptr<3>
    gpu.return
  }
}
// CHECK: :19:10: remark: index arithmetic, in {{[0-9]+}} steps:
// CHECK-NEXT: (/ (+ (* x0 8) 5) 8)
// CHECK-NEXT: = {{.*}} by div-add-mul
// CHECK: = x0 by
// CHECK: x0 is 'gpu.thread_id' of line 13, from 0 to 127
// NONE: remark: explain=17: nothing of that line is index arithmetic whose result something else uses; lines of this kernel with some: 19, 20
// SILENT-NOT: remark
// WRONG: error: {{.*}}explain{{.*}}here
