// An output that is reduced: a block that has whole lines stores what they come to; elsewhere blocks leave parts in a workspace, and a map of
// their own reduces those.
//
// RUN: cute-opt %s --cute-tile="arch=sm_80 tile=64x64x32 warps=2x4 stages=2" --split-input-file | FileCheck %s
// RUN: cute-opt %s --cute-tile="arch=sm_80 tile=64x64x32 warps=2x4 stages=2" --split-input-file | cute-opt --split-input-file | FileCheck %s

// One tile along N: straight to the output.
// CHECK-LABEL: func.func @whole(
// CHECK-SAME:    cute.computes = [{accumulate = f32, epilogue = @whole_epilogue, gemm = array<i64: 0, 1, 2>, outs = array<i64: 3>, reduce = ["maximum"]}]
// CHECK-NOT:     cute.workspace
// CHECK:         gpu.launch_func @whole_kernels::@whole_kernel
// CHECK-NOT:     gpu.launch_func
// CHECK:         gpu.func @whole_kernel(
// CHECK:           cute.block.transform C ins(%{{.*}} : !cute.memref<f32, smem, {{.*}}, "(64,64):(64,1)">) outs(%{{.*}}, %{{.*}} reduce maximum : !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">, !cute.memref<f32, gmem, "(64,64):(1,0)">)
!a = !cute.memref<f16, gmem, align<16>, "(128,64):(64,1)">
!b = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
!c = !cute.memref<f16, gmem, align<16>, "(128,64):(64,1)">
!r = !cute.memref<f32, gmem, align<4>, "(128,64):(1,0)">
func.func @whole(%A: !a, %B: !b, %C: !c, %most: !r) {
  cute.contract ins(%A, %B : !a, !b) outs(%C, %most reduce maximum : !c, !r) accumulate f32 epilogue {
  ^bb0(%sum: f32):
    %c = arith.truncf %sum : f32 to f16
    cute.yield %c, %sum : f16, f32
  }
  return
}

// -----

// Three tiles along N: parts of 128 rows, for each of them.
// CHECK-LABEL: func.func @parts(
// CHECK:         %[[BYTES:.*]] = arith.constant 1536 : index
// CHECK:         %[[PARTS:.*]] = cute.workspace(%[[BYTES]]) : !cute.ptr<f32, gmem, align<16>>
// CHECK:         gpu.launch_func @parts_kernels::@parts_kernel {{.*}}args(%{{.*}}, %[[PARTS]] : !cute.ptr<f32, gmem, align<16>>)
// CHECK:         cute.make_view(%[[PARTS]], %{{.*}}) : !cute.memref<f32, gmem, align<16>, "(128,3):(1,128)">
// CHECK:         gpu.launch_func @parts_kernels::@parts_reduce_0_kernel {{.*}}args(%[[PARTS]] : !cute.ptr<f32, gmem, align<16>>, %{{.*}} : !cute.memref<f32, gmem, "(128,192):(1,0)">, %{{.*}} : !cute.memref<f16
// CHECK:         gpu.func @parts_kernel(
// CHECK:           cute.block.transform C {{.*}} outs(%{{.*}}, %{{.*}} reduce add : {{.*}}!cute.memref<f32, gmem, "(64,64):(1,0)">)
// CHECK:         gpu.func @parts_reduce_0_kernel(%[[FROM:.*]]: !cute.ptr<f32, gmem, align<16>> {cute.noalias}
// CHECK:           cute.make_view(%[[FROM]], %{{.*}}) : !cute.memref<f32, gmem, align<16>, "(128,3):(1,128)">
// CHECK:           cute.block.map
// CHECK:             %[[SUM:.*]] = cute.all_reduce "add" %{{.*}} along [1] : f32
// CHECK:             %[[COUNT:.*]] = arith.sitofp %{{.*}} : i64 to f32
// CHECK:             arith.divf %[[SUM]], %[[COUNT]] : f32
!a = !cute.memref<f16, gmem, align<16>, "(128,64):(64,1)">
!b = !cute.memref<f16, gmem, align<16>, "(192,64):(64,1)">
!c = !cute.memref<f16, gmem, align<16>, "(128,192):(192,1)">
!r = !cute.memref<f32, gmem, align<4>, "(128,192):(1,0)">
func.func @parts(%A: !a, %B: !b, %C: !c, %mean: !r) {
  cute.contract ins(%A, %B : !a, !b) outs(%C, %mean reduce mean : !c, !r) accumulate f32 epilogue {
  ^bb0(%sum: f32):
    %c = arith.truncf %sum : f32 to f16
    cute.yield %c, %sum : f16, f32
  }
  return
}

// -----

// How many tiles there are, only a launch knows.
// CHECK-LABEL: func.func @open(
// CHECK:         cf.assert %{{.*}}, "expected at least one element along mode 0, along which output 1 is reduced"
// CHECK:         %[[PARTS:.*]] = cute.workspace(%{{.*}}) : !cute.ptr<f32, gmem, align<16>>
// CHECK:         cute.make_view(%[[PARTS]], %{{.*}}) : !cute.memref<f32, gmem, align<16>, "(?,?):(?{i64},1)">
// CHECK:         gpu.launch_func @open_kernels::@open_reduce_0_kernel {{.*}}args(%[[PARTS]] : !cute.ptr<f32, gmem, align<16>>, %{{.*}} : i32, %{{.*}} : i32, %{{.*}} : i64, %{{.*}} : !cute.memref
!any = !cute.memref<f16, gmem, align<16>, "(?,?):(?,1)">
!r = !cute.memref<f32, gmem, align<4>, "(?,?):(0,1)">
func.func @open(%A: !any, %B: !any, %C: !any, %sums: !r) {
  cute.contract ins(%A, %B : !any, !any) outs(%C, %sums reduce add : !any, !r) accumulate f32 epilogue {
  ^bb0(%sum: f32):
    %c = arith.truncf %sum : f32 to f16
    cute.yield %c, %sum : f16, f32
  }
  return
}
