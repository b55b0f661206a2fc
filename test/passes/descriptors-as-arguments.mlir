// A function may take a descriptor, whose type has no parts: a pass that asks for parameters in it finds none.
// RUN: cute-opt %s --cute-allocate-shared | FileCheck %s

// CHECK: func.func @moved(%{{.*}}: !cute_nvgpu.smem_desc
func.func @moved(%desc: !cute_nvgpu.smem_desc, %two: !cute.int_tuple<"?{div=2}">) -> !cute_nvgpu.smem_desc {
  // CHECK: cute.add_offset
  %moved = cute.add_offset(%desc, %two)
  return %moved : !cute_nvgpu.smem_desc
}
