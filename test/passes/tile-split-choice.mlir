// How many blocks share a tile is chosen where nothing else is asked for: by the estimate.
//
// RUN: cute-opt %s --cute-tile="arch=sm_90a" --split-input-file | FileCheck %s
// RUN: cute-opt %s --cute-tile="arch=sm_90a split=1" --split-input-file | FileCheck %s --check-prefix=ONE
// RUN: cute-opt %s --cute-tile="arch=sm_90a split=4" --split-input-file | FileCheck %s --check-prefix=FOUR
// RUN: cute-opt %s --cute-tile="arch=sm_90a tile=64x64x64" --split-input-file | FileCheck %s --check-prefix=ONE
// RUN: not cute-opt %s --cute-tile="arch=sm_90a split=33" --split-input-file 2>&1 | FileCheck %s --check-prefix=MOST
// RUN: not cute-opt %s --cute-tile="arch=sm_90a split=0" --split-input-file 2>&1 | FileCheck %s --check-prefix=LEAST
//
// ONE-NOT:  split =
// ONE-NOT:  cute.workspace
// FOUR:     split = 4,
// FOUR-NOT: split = {{[^4]}}
// MOST:     error: 'cute.contract' op split is at most 32, found 33
// LEAST:    error: cute-tile: split: expected a positive number, found '0'

// 22 tiles of warpgroups, and 256 turns for each.
// CHECK-LABEL: func.func @long
// CHECK:         cute.workspace
// CHECK:         #cute.plan<tile = 64x96x64, stages = 11, raster = 6, split = 6,
!a = !cute.memref<f16, gmem, align<16>, "(128,16384):(16384,1)">
!b = !cute.memref<f16, gmem, align<16>, "(1024,16384):(16384,1)">
!c = !cute.memref<f16, gmem, align<16>, "(128,1024):(1024,1)">
func.func @long(%A: !a, %B: !b, %C: !c) {
  cute.contract ins(%A, %B : !a, !b) outs(%C : !c) accumulate f32
  return
}

// -----

// A second kernel takes longer than what is gained.
// CHECK-LABEL: func.func @small
// CHECK-NOT:     cute.workspace
// CHECK-NOT:     split =
!t = !cute.memref<f16, gmem, align<16>, "(512,512):(512,1)">
func.func @small(%A: !t, %B: !t, %C: !t) {
  cute.contract ins(%A, %B : !t, !t) outs(%C : !t) accumulate f32
  return
}

// -----

// Where the launch brings K, one kernel for short ones, one whose clusters share tiles for longer ones, and another one for long ones, which is told in how many parts it
// splits K, what each of them has and how many have one more; only that has a workspace.
// CHECK-LABEL: func.func @open
// CHECK:         scf.if
// CHECK:           gpu.launch_func {{ *}}@open_kernels::@open_kernel_0
// CHECK:         scf.if
// CHECK:           gpu.launch_func {{ *}}@open_kernels::@open_kernel_1 clusters in
// CHECK:         scf.if
// CHECK:           %[[PARTS:.*]] = arith.constant 6 : index
// CHECK:           %[[EACH:.*]] = arith.divsi %{{.*}}, %[[PARTS]]
// CHECK:           %[[REST:.*]] = arith.remsi %{{.*}}, %[[PARTS]]
// CHECK:           %[[PARTS32:.*]] = arith.index_cast %[[PARTS]]
// CHECK:           %[[EACH32:.*]] = arith.index_cast %[[EACH]]
// CHECK:           %[[REST32:.*]] = arith.index_cast %[[REST]]
// CHECK:           %[[W:.*]] = cute.workspace
// CHECK:           gpu.launch_func {{ *}}@open_kernels::@open_kernel_2 {{.*}}%[[PARTS32]] : i32, %[[EACH32]] : i32, %[[REST32]] : i32, %[[W]]
// CHECK:           gpu.launch_func {{ *}}@open_kernels::@open_kernel_2_parts {{.*}}%[[W]]
// CHECK:         scf.if
// CHECK:           cute.workspace
// CHECK:           gpu.launch_func {{ *}}@open_kernels::@open_kernel_2 {{.*}}
// CHECK:           gpu.launch_func {{ *}}@open_kernels::@open_kernel_3_parts
// CHECK:         gpu.func @open_kernel_2(
// CHECK-NOT:     known_grid_size
// CHECK:         gpu.func @open_kernel_2_parts(
!l = !cute.memref<f16, gmem, align<16>, "(64,?{div=8}):(?{div=8},1)">
!s = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
func.func @open(%A: !l, %B: !l, %C: !s) {
  cute.contract ins(%A, %B : !l, !l) outs(%C : !s) accumulate f32
  return
}
