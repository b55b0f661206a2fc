// Candidates for products, of which whoever measures chooses one.
//
// RUN: cute-opt %s --cute-tile="arch=sm_90a instructions=mma candidates=2" --split-input-file | FileCheck %s
// RUN: cute-opt %s --cute-tile="arch=sm_90a instructions=mma candidates=2" --split-input-file | cute-opt --split-input-file | FileCheck %s
// RUN: not cute-opt %S/../compile/plan.mlir --cute-tile="arch=sm_80 candidates=2" 2>&1 | FileCheck %s --check-prefix=GIVEN
//
// GIVEN: error: 'cute.contract' op has a cute.plan, and candidates are asked for beside it; expected one of them

// The best by their estimates; each is launched where it is the chosen one.
// CHECK-LABEL: func.func @known
// CHECK:         %[[I:.*]] = cute.candidates of(%{{.*}}) plans ["tile=128x256x64 warps=2x4 stages=3", "tile=256x128x64 warps=4x2 stages=3"] problems ["f16 f16 f32 f16 kkn 8x8x8", "f16 f16 f32 f16 kkn 8x8x8"] generation 1
// CHECK:         %[[FIRST:.*]] = arith.cmpi eq, %[[I]], %{{.*}} : index
// CHECK:         scf.if %[[FIRST]] {
// CHECK-NOT:       cf.assert
// CHECK:           gpu.launch_func @known_kernels::@known_kernel_0
// CHECK:         }
// CHECK:         %[[SECOND:.*]] = arith.cmpi eq, %[[I]], %{{.*}} : index
// CHECK:         scf.if %[[SECOND]] {
// CHECK:           gpu.launch_func @known_kernels::@known_kernel_1
// CHECK-LABEL: gpu.func @known_kernel_0
// CHECK-SAME:    #cute.plan<tile = 128x256x64
// CHECK-LABEL: gpu.func @known_kernel_1
// CHECK-SAME:    #cute.plan<tile = 256x128x64
!k = !cute.memref<f16, gmem, align<16>, "(4096,4096):(4096,1)">
func.func @known(%A: !k, %B: !k, %C: !k) {
  cute.contract ins(%A, %B : !k, !k) outs(%C : !k) accumulate f32
  return
}

// -----

// A candidate that splits K has both of its kernels in its branch, and a workspace.
// CHECK-LABEL: func.func @split
// CHECK:         plans ["tile={{[0-9x]+}} warps={{[0-9x]+}} stages={{[0-9]+}} split={{[0-9]+}}"
// CHECK:         scf.if
// CHECK:           cute.workspace
// CHECK:           gpu.launch_func @split_kernels::@split_kernel_0
// CHECK:           gpu.launch_func @split_kernels::@split_kernel_0_parts
// CHECK:         }
!s = !cute.memref<f16, gmem, align<16>, "(64,16384):(16384,1)">
!d = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
func.func @split(%A: !s, %B: !s, %C: !d) {
  cute.contract ins(%A, %B : !s, !s) outs(%C : !d) accumulate f32
  return
}

// -----

// Where nothing is known of strides there are candidates for rows of whole vectors, which a launch must bring, and for any.
// CHECK-LABEL: func.func @any
// CHECK:         %[[TIME:.*]] = arith.select %[[FACT:.*]], %{{.*}}, %{{.*}} : index
// CHECK:         cute.candidates
// CHECK-SAME:      problems ["f16 f16 f32 f16 kkn 8x8x8", "f16 f16 f32 f16 kkn 8x8x8", "f16 f16 f32 f16 kkn 1x1x1", "f16 f16 f32 f16 kkn 1x1x1"]
// CHECK:         scf.if
// CHECK:           cf.assert %{{.*}}, "candidate 0 (tile={{.*}}) expects extents and strides that are multiples of as many elements as its accesses move (f16 f16 f32 f16 kkn 8x8x8)"
// CHECK:           gpu.launch_func @any_kernels::@any_kernel_0
// CHECK:         scf.if
// CHECK:         scf.if
// CHECK-NOT:       cf.assert
// CHECK:           gpu.launch_func @any_kernels::@any_kernel_2
!o = !cute.memref<f16, gmem, align<16>, "(?,?):(?,1)">
func.func @any(%A: !o, %B: !o, %C: !o) {
  cute.contract ins(%A, %B : !o, !o) outs(%C : !o) accumulate f32
  return
}
