// The last tiles are dealt out by even ranges along K: a block goes through the segments of its range, and the second kernel adds those of shared tiles.
//
// RUN: cute-opt %s --cute-tile="arch=sm_80 tile=64x64x32 warps=2x2 stages=2 stream=2 split=3" | FileCheck %s
// RUN: cute-opt %s --cute-tile="arch=sm_80 tile=64x64x32 warps=2x2 stages=2 stream=auto split=3" | FileCheck %s --check-prefix=AUTO
// RUN: cute-opt %s --cute-tile="arch=sm_80 tile=64x64x32 warps=2x2 stages=2 stream=2 split=2" | FileCheck %s --check-prefix=PAIR
//
// Of two that share a tile at most none has a range that is shorter than it, and a whole wave is dealt out with the rest.
// PAIR:         %[[WAVE:.*]] = arith.muli %{{.*}}, %{{.*}}
// PAIR-NEXT:     %[[BEHIND:.*]] = arith.remsi %{{.*}}, %[[WAVE]]
// PAIR-NEXT:     %[[MORE:.*]] = arith.addi %[[BEHIND]], %[[WAVE]]
// PAIR-NEXT:     arith.minsi %{{.*}}, %[[MORE]]
//
// AUTO: split = 3, stream = {{[1-9]}}
//
// CHECK-LABEL: func.func @gemm
// CHECK:         %[[SMS:.*]] = cute.sm_count
// CHECK:         %[[TWO:.*]] = arith.constant 2 : index
// CHECK:         %[[WAVE:.*]] = arith.muli %[[SMS]], %[[TWO]]
// CHECK:         %[[BEHIND:.*]] = arith.remsi %{{.*}}, %[[WAVE]]
// CHECK-NEXT:    %[[ALL:.*]] = arith.muli %[[BEHIND]],
// CHECK:         arith.cmpi sle, %[[ALL]],
// CHECK:         %[[W:.*]] = cute.workspace
// CHECK:         gpu.launch_func {{ *}}@gemm_kernels::@gemm_kernel {{.*}}%[[W]]
// CHECK:         scf.if
// CHECK:           gpu.launch_func {{ *}}@gemm_kernels::@gemm_kernel_parts {{.*}}%[[W]]
//
// CHECK-LABEL: gpu.func @gemm_kernel(
// CHECK-SAME:    split = 3, stream = 2,
// CHECK-SAME:    C = [<!cute_nvgpu.atom.universal_copy<f32, 64 b>, immediate, smem = <S<{{.*}}, "(64,64):(64,1)">
// CHECK-NOT:     known_grid_size
// CHECK:         scf.for
// CHECK:           cute.clear
// CHECK:           scf.for
// CHECK:             cute.block.gemm
// CHECK:           } {cute.stages = 2
// CHECK:           scf.if
// CHECK:             cute.block.copy C
// CHECK:             cute.block.transform C
// CHECK:           } else {
// CHECK-NOT:         smem
// CHECK:             cute.block.copy C
//
// CHECK-LABEL: gpu.func @gemm_kernel_parts(
// CHECK:         %[[FROM:.*]] = arith.muli
// CHECK:         %[[TO:.*]] = arith.addi %[[FROM]],
// CHECK:         %[[FIRST:.*]] = arith.divui %[[FROM]],
// CHECK:         %[[BEFORE:.*]] = arith.subi %[[TO]],
// CHECK:         %[[LAST:.*]] = arith.divui %[[BEFORE]],
// CHECK:         %[[SHARED:.*]] = arith.cmpi ne, %[[FIRST]], %[[LAST]]
// CHECK:         scf.if %[[SHARED]]
// CHECK:           %[[IS:.*]] = arith.cmpi ule, %{{.*}}, %[[LAST]]
// CHECK:           cute.block.transform C
// CHECK-NEXT:      ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32, %[[C:.*]]: f32):
// CHECK-NEXT:        %[[TWO:.*]] = arith.addf %[[A]], %[[B]] : f32
// CHECK-NEXT:        %[[THREE:.*]] = arith.addf %[[TWO]], %[[C]] : f32
// CHECK-NEXT:        %[[ALL:.*]] = arith.select %[[IS]], %[[THREE]], %[[TWO]] : f32
// CHECK-NEXT:        arith.truncf %[[ALL]] : f32 to f16
!t = !cute.memref<f16, gmem, align<16>, "(3000,4096):(4096,1)">
!c = !cute.memref<f16, gmem, align<16>, "(3000,3000):(3000,1)">
func.func @gemm(%A: !t, %B: !t, %C: !c) {
  cute.contract ins(%A, %B : !t, !t) outs(%C : !c) accumulate f32
  return
}
