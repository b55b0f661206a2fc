// What types say of dynamic strides is known to the report: columns that start at lines are read line by line.
//
// RUN: cute-opt %s --cute-report -o /dev/null 2>&1 | FileCheck %s

!lines = !cute.memref<f32, gmem, align<512>, "(?{div=128},?):(1,?{i64 div=128})">
!any = !cute.memref<f32, gmem, align<512>, "(?{div=128},?):(1,?{i64})">

gpu.module @kernels {
  gpu.func @columns(%A: !lines, %B: !any) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %tx = gpu.thread_id x
    %bx = gpu.block_id x
    %t = arith.index_cast %tx : index to i32
    %b = arith.index_cast %bx : index to i32
    %at = cute.make_coord(%t, %b) : (i32, i32) -> !cute.coord<"(?,?)">
    // CHECK: remark: ld.global: a warp touches 4 sectors, ideal 4, and 1 line, ideal 1
    %x = cute.memref.load(%A, %at) : (!lines, !cute.coord<"(?,?)">) -> f32
    // CHECK: remark: st.global: a warp touches 4 sectors at best and 5 at worst, ideal 4, and 1 line at best and 2 at worst
    cute.memref.store(%B, %at, %x) : (!any, !cute.coord<"(?,?)">, f32) -> ()
    gpu.return
  }
}
