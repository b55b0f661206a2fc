// Of a problem whose sizes are open there are several kernels, of which a launch takes one.
//
// RUN: cute-opt %s --cute-tile="arch=sm_90a instructions=mma variants=3" --split-input-file | FileCheck %s
// RUN: cute-opt %s --cute-tile="arch=sm_90a instructions=mma variants=3" --split-input-file | cute-opt --split-input-file | FileCheck %s
// RUN: cute-opt %s --cute-tile="arch=sm_90a instructions=mma variants=1" --split-input-file | FileCheck %s --check-prefix=ONE
// RUN: cute-opt %s --cute-tile="arch=sm_90a tile=32x32x32 warps=2x2" --split-input-file | FileCheck %s --check-prefix=ONE
// RUN: cute-opt %s --cute-tile="arch=sm_80,sm_90a instructions=mma variants=1" --split-input-file | FileCheck %s --check-prefix=OLDER
// OLDER-NOT: nvvm.griddepcontrol

// The one with the shortest estimated time on the device of the launch.
// CHECK-LABEL: func.func @sizes
// CHECK:         cf.assert
// CHECK:         cute.sm_count
// CHECK:         arith.cmpi sle
// CHECK:         %[[PAIR:.*]] = arith.select
// CHECK:         arith.cmpi sle
// CHECK:         %[[TAKEN:.*]] = arith.select %{{.*}}, %[[PAIR]], %{{.*}} : index
// CHECK:         %[[FIRST:.*]] = arith.cmpi eq, %[[TAKEN]]
// CHECK:         scf.if %[[FIRST]] {
// CHECK:           gpu.launch_func @sizes_kernels::@sizes_kernel_0
// CHECK:         %[[SECOND:.*]] = arith.cmpi eq, %[[TAKEN]]
// CHECK:         scf.if %[[SECOND]] {
// CHECK:           gpu.launch_func @sizes_kernels::@sizes_kernel_1
// CHECK:         %[[THIRD:.*]] = arith.cmpi eq, %[[TAKEN]]
// CHECK:         scf.if %[[THIRD]] {
// CHECK:           gpu.launch_func @sizes_kernels::@sizes_kernel_2
// CHECK:         return
// CHECK-LABEL: gpu.func @sizes_kernel_0
// CHECK-SAME:    #cute.plan<tile = 128x256x64
// What is before in the stream is waited for by the kernel itself, where all architectures can.
// CHECK:         nvvm.griddepcontrol wait
// CHECK-NEXT:    nvvm.griddepcontrol launch_dependents
// CHECK-LABEL: gpu.func @sizes_kernel_1
// CHECK-LABEL: gpu.func @sizes_kernel_2
// CHECK-NOT:   gpu.func
// ONE-LABEL:   func.func @sizes
// ONE-NOT:       scf.if
// ONE:           gpu.launch_func @sizes_kernels::@sizes_kernel
// ONE-NOT:       gpu.launch_func
// ONE:         gpu.func @sizes_kernel(
!t = !cute.memref<f16, gmem, align<16>, "(?,?{div=8}):(?{div=8},1)">
func.func @sizes(%A: !t, %B: !t, %C: !t) {
  cute.contract ins(%A, %B : !t, !t) outs(%C : !t) accumulate f32
  return
}

// -----

// Where nothing is said of strides, one kernel takes any, and the others rows of whole vectors.
// CHECK-LABEL: func.func @strides
// CHECK:         arith.cmpi eq
// CHECK:         arith.andi %{{.*}}, %{{.*}} : i1
// CHECK:         %[[TAKEN:.*]] = arith.select %{{.*}}, %c0{{[_0-9]*}}, %{{.*}} : index
// CHECK:         %[[FIRST:.*]] = arith.cmpi eq, %[[TAKEN]]
// CHECK:         scf.if %[[FIRST]]
// CHECK:           gpu.launch_func @strides_kernels::@strides_kernel_0
// CHECK:           scf.if
// CHECK:             gpu.launch_func @strides_kernels::@strides_kernel_1
// CHECK:             gpu.launch_func @strides_kernels::@strides_kernel_2
// CHECK-LABEL: gpu.func @strides_kernel_0(%arg0: !cute.memref<f16, gmem, align<16>, "(?,?):(?,1)">
// CHECK-SAME:    simt_async_copy<f16, cache = global, 128 b>
// CHECK:         cute.make_view({{.*}}) : !cute.memref<f16, gmem, align<16>, "(?,?{div=8}):(?{div=8},1)">
// CHECK-LABEL: gpu.func @strides_kernel_2(
// CHECK-SAME:    universal_copy<f16, 16 b>
// CHECK-NOT:     div=8
// CHECK:         gpu.return
!t = !cute.memref<f16, gmem, align<16>, "(?,?):(?,1)">
func.func @strides(%A: !t, %B: !t, %C: !t) {
  cute.contract ins(%A, %B : !t, !t) outs(%C : !t) accumulate f32
  return
}

// -----

// Nothing is open, or nothing better can be expected: one kernel.
// CHECK-LABEL: func.func @known
// CHECK-NOT:     scf.if
// CHECK-LABEL: gpu.func @known_kernel(
!k = !cute.memref<f16, gmem, "(63,65):(65,1)">
!l = !cute.memref<f16, gmem, "(63,63):(63,1)">
func.func @known(%A: !k, %B: !k, %C: !l) {
  cute.contract ins(%A, %B : !k, !k) outs(%C : !l) accumulate f32
  return
}
