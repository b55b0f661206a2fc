// Factors that are copied into a workspace first: which, and what a launch chooses among.
//
// RUN: cute-opt %s --cute-tile="arch=sm_90a" --split-input-file | FileCheck %s
// RUN: cute-opt %s --cute-tile="arch=sm_90a pack=none" --split-input-file | FileCheck %s --check-prefix=NONE
// RUN: cute-opt %s --cute-tile="arch=sm_90a pack=a variants=1" --split-input-file | FileCheck %s --check-prefix=ONE
// NONE-NOT: _pack_

// Large ones are.
// CHECK-LABEL: func.func @large
// CHECK-DAG:     %[[A:.*]] = cute.workspace({{.*}}) : !cute.ptr<f16, gmem, align<128>>
// CHECK-DAG:     %[[B:.*]] = cute.workspace({{.*}}) : !cute.ptr<f16, gmem, align<128>>
// CHECK:         gpu.launch_func @large_kernels::@large_pack_kernel blocks in (%{{.*}}, %c2{{.*}}, %c1{{.*}})
// CHECK:         cute_nvgpu.atom.make_tma_load({{.*}}"(2048,2047):(2048,1)">
// CHECK:         gpu.launch_func @large_kernels::@large_kernel
// CHECK:       gpu.func @large_kernel(
// CHECK-SAME:    !cute.memref<f16, gmem, align<128>, "(2048,2047):(2048,1)">
// CHECK:       gpu.func @large_pack_kernel(
// CHECK:         cute.block.map
// CHECK:         cute.block.map
// ONE-LABEL:   func.func @large
// ONE:           gpu.launch_func @large_kernels::@large_pack_a_kernel
// ONE-NOT:       _pack_b
// ONE:           gpu.launch_func @large_kernels::@large_kernel
!t = !cute.memref<f16, gmem, align<16>, "(2048,2047):(2047,1)">
!c = !cute.memref<f16, gmem, align<16>, "(2048,2048):(2048,1)">
func.func @large(%A: !t, %B: !t, %C: !c) {
  cute.contract ins(%A, %B : !t, !t) outs(%C : !c) accumulate f32
  return
}

// -----

// Of few rows it takes longer to copy the other factor than to load it one by one.
// CHECK-LABEL: func.func @few
// CHECK-NOT:     _pack_
// CHECK:         gpu.launch_func @few_kernels::@few_kernel
!a = !cute.memref<f16, gmem, align<16>, "(8,4095):(4095,1)">
!b = !cute.memref<f16, gmem, align<16>, "(4096,4095):(4095,1)">
!c = !cute.memref<f16, gmem, align<16>, "(8,4096):(4096,1)">
func.func @few(%A: !a, %B: !b, %C: !c) {
  cute.contract ins(%A, %B : !a, !b) outs(%C : !c) accumulate f32
  return
}

// -----

// Where rows are of whole vectors nothing is copied; only a launch knows whether they are.
// CHECK-LABEL: func.func @open
// CHECK:         scf.if
// CHECK:         gpu.launch_func @open_kernels::@open_kernel_0
// CHECK:         cute.workspace
// CHECK:         gpu.launch_func @open_kernels::@open_pack_kernel
// CHECK-NEXT:    {{.*}}cute.get_layout
// CHECK:       gpu.func @open_pack_kernel(
// CHECK-NOT:   gpu.func @open_pack_kernel
// ONE-LABEL:   func.func @open
// ONE:           gpu.launch_func @open_kernels::@open_pack_a_kernel
!o = !cute.memref<f16, gmem, align<16>, "(?,?):(?{i64},1)">
func.func @open(%A: !o, %B: !o, %C: !o) {
  cute.contract ins(%A, %B : !o, !o) outs(%C : !o) accumulate f32
  return
}

// -----

// Where lines begin at multiples of 16 bytes as they are, there is nothing to choose.
// CHECK-LABEL: func.func @even
// CHECK-NOT:     _pack_
// CHECK:         gpu.launch_func @even_kernels::@even_kernel
// CHECK-NOT:     gpu.func @even_pack
!t = !cute.memref<f16, gmem, align<16>, "(2048,2048):(2048,1)">
func.func @even(%A: !t, %B: !t, %C: !t) {
  cute.contract ins(%A, %B : !t, !t) outs(%C : !t) accumulate f32
  return
}
