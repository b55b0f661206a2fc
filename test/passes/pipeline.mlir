// The ring of buffers, the pipeline's events, and the stages that the schedule gives them.
//
// RUN: cute-opt %s --cute-tile="arch=sm_80 tile=32x32x32 warps=1x1 stages=3" --cute-partition \
// RUN:   --cute-fragments-to-values --cse --cute-pipeline | FileCheck %s
// RUN: cute-opt %s --cute-tile="arch=sm_80 tile=32x32x32 warps=1x1 stages=3" --cute-partition \
// RUN:   --cute-fragments-to-values --cse --cute-pipeline | cute-opt | FileCheck %s
// RUN: cute-opt %s --cute-tile="arch=sm_80 tile=32x32x32 warps=1x1 stages=1" --cute-partition \
// RUN:   --cute-fragments-to-values --cse --cute-pipeline | FileCheck %s --check-prefix=ONE

// CHECK-DAG: cute.memref.alloca() : !cute.memref<f16, smem, align<512>, S<2,4,3>, "(32,32,3):(32,1,1024)">
// CHECK: %[[P:.*]], %[[FREE:.*]] = cute.pipeline.create : !cute.pipeline<3>, !cute.token
// The releases of the last three iterations are carried; the oldest is the one that is taken.
// CHECK: scf.for %[[K:.*]] = {{.*}} iter_args({{.*}}%{{.*}} = %[[FREE]], %{{.*}} = %[[FREE]], %[[OLDEST:.*]] = %[[FREE]])
// CHECK: %[[SLOT:.*]] = cute.pipeline.producer_acquire(%[[P]], %[[OLDEST]], %[[K]]) {{.*}}cute.stage = 0
// CHECK: cute.make_coord(%[[SLOT]])
// CHECK-COUNT-8: cute.atom_copy({{.*}}cute.stage = 0
// CHECK: %[[FULL:.*]] = cute.pipeline.producer_commit(%[[P]]) {{.*}}cute.stage = 0
// The first slice of K is loaded an iteration before it is multiplied.
// CHECK: cute.pipeline.consumer_wait(%[[P]], %[[FULL]], %[[K]]) {{.*}}cute.stage = 1
// CHECK: cute.atom_load({{.*}}at [0, 0, 0] {{.*}}cute.stage = 1
// CHECK: cute.atom_load({{.*}}at [0, 1, 1] {{.*}}cute.stage = 2
// CHECK: cute.pipeline.consumer_release(%[[P]]) {{.*}}cute.stage = 2
// CHECK-COUNT-16: cute.atom_mma({{.*}}cute.stage = 2
// CHECK-NOT: gpu.barrier
// CHECK: scf.yield

// One buffer is no pipeline.
// ONE-NOT: cute.pipeline
// ONE: gpu.barrier

!t = !cute.memref<f16, gmem, align<16>, "(64,256):(256,1)">
!c = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
func.func @gemm(%A: !t, %B: !t, %C: !c) {
  cute.contract ins(%A, %B : !t, !t) outs(%C : !c) accumulate f32
  return
}
