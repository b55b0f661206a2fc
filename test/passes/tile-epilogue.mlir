// An epilogue becomes a transformation of C's tile in shared memory, and a function that the host verifies by.
//
// RUN: cute-opt %s --cute-tile="arch=sm_80 tile=64x64x32 warps=2x2 stages=2" --split-input-file | FileCheck %s
// RUN: cute-opt %s --cute-tile="arch=sm_80 tile=64x64x32 warps=2x2 stages=2" --split-input-file \
// RUN:   | cute-opt --split-input-file | FileCheck %s

// The region with what it uses from around it: constants are copied, numbers are passed.
// CHECK-LABEL: func.func private @scaled_epilogue(%{{.*}}: f32, %{{.*}}: f16, %{{.*}}: f32) -> f16
// CHECK:         arith.constant 2.0
// CHECK:         %[[C:.*]] = arith.truncf
// CHECK-NEXT:    return %[[C]] : f16
// CHECK-LABEL: func.func @scaled
// CHECK-SAME:    cute.computes = [{accumulate = f32, epilogue = @scaled_epilogue, gemm = array<i64: 0, 1, 2>, ins = array<i64: 3>, scalars = array<i64: 4>}]
// CHECK:         gpu.launch_func {{.*}} args(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : f32)
// CHECK-LABEL: gpu.func @scaled_kernel
// CHECK-SAME:    %[[ALPHA:[a-z0-9]*]]: f32) kernel
// CHECK-SAME:    C = [<!cute_nvgpu.atom.universal_copy<f32, 64 b>, immediate, smem = <S<2,5,3>, "(64,64):(64,1)">, buffers = 1>, <!cute_nvgpu.atom.universal_copy<f32, 128 b>, immediate>]
// CHECK:         cute.block.copy C (%{{.*}}, %[[SUMS:.*]]) : (!cute.memref<f32, rmem, "(64,64):(64,1)">
// CHECK:         %[[BIAS:.*]] = cute.local_tile(%arg3
// CHECK:         cute.block.transform C ins(%[[SUMS]], %[[BIAS]] : {{.*}}) outs(%{{.*}} : {{.*}}) within(%{{.*}}, %{{.*}} :
// CHECK-NEXT:    ^bb0(%[[SUM:.*]]: f32, %[[B:.*]]: f16):
// CHECK-NEXT:      %[[TWO:.*]] = arith.constant 2.0
// CHECK-NEXT:      arith.mulf %[[SUM]], %[[ALPHA]]
// CHECK:           cute.yield %{{.*}} : f16
!a = !cute.memref<f16, gmem, align<16>, "(100,64):(64,1)">
!b = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
!c = !cute.memref<f16, gmem, align<16>, "(100,64):(64,1)">
!v = !cute.memref<f16, gmem, align<16>, "(100,64):(0,1)">
func.func @scaled(%A: !a, %B: !b, %C: !c, %bias: !v, %alpha: f32) {
  %two = arith.constant 2.0 : f32
  cute.contract ins(%A, %B : !a, !b) outs(%C : !c) accumulate f32 epilogue ins(%bias : !v) {
  ^bb0(%sum: f32, %b: f16):
    %x = arith.mulf %sum, %alpha : f32
    %y = arith.extf %b : f16 to f32
    %z = math.fma %y, %two, %x : f32
    %w = arith.truncf %z : f32 to f16
    cute.yield %w : f16
  }
  return
}

// -----

// Of C by columns, what else there is is turned with it; a tensor is passed once, however often it is named.
// CHECK-LABEL: func.func @turned
// CHECK:         gpu.launch_func {{.*}} args(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : {{[^,]*}}, {{.*}}) 
// CHECK-LABEL: gpu.func @turned_kernel(%arg0: {{.*}}, %arg1: {{.*}}, %arg2: {{.*}}, %arg3: {{[^%]*}}) kernel
// CHECK-DAG:     cute.select<[1, 0]> (%arg2)
// CHECK-DAG:     cute.select<[1, 0]> (%arg3)
// CHECK:         cute.block.transform C ins(%{{.*}}, %{{.*}}, %{{.*}} : !cute.memref<f32, smem, {{.*}}) outs(%{{.*}}, %{{.*}} : !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">, !cute.memref<f16, gmem, align<16>, "(64,64):(1,64)">)
!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
!u = !cute.memref<f16, gmem, align<16>, "(64,64):(1,64)">
func.func @turned(%A: !t, %B: !t, %C: !u, %D: !t) {
  cute.contract ins(%A, %B : !t, !t) outs(%C, %D : !u, !t) accumulate f32 epilogue ins(%C, %A : !u, !t) {
  ^bb0(%sum: f32, %old: f16, %a: f16):
    %x = arith.truncf %sum : f32 to f16
    %y = arith.addf %x, %old : f16
    %z = arith.mulf %y, %a : f16
    cute.yield %y, %z : f16, f16
  }
  return
}
