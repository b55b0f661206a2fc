// Functions of other forms than one product of three arguments.
//
// RUN: cute-opt %s --cute-tile="arch=sm_80 tile=32x32x32 warps=1x2 stages=1" --split-input-file | FileCheck %s

!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">

// Two products: two kernels in one module, numbered, launched in order, and both are said. A tensor may be read twice.
// CHECK-LABEL: func.func @two(
// CHECK-SAME:    %[[A:.*]]: !cute.memref<{{.*}}>, %[[B:.*]]: !cute.memref<{{.*}}>, %[[C:.*]]: !cute.memref<{{.*}}>)
// CHECK-SAME:    cute.computes = [{accumulate = f32, gemm = array<i64: 0, 0, 1>}, {accumulate = f32, gemm = array<i64: 1, 0, 2>}]
// CHECK:         gpu.launch_func @two_0_kernels::@two_0_kernel {{.*}} args(%[[A]] : {{.*}}, %[[B]] : {{.*}})
// CHECK:         gpu.launch_func @two_0_kernels::@two_1_kernel {{.*}} args(%[[B]] : {{.*}}, %[[A]] : {{.*}}, %[[C]] : {{.*}})
// CHECK:       gpu.module @two_0_kernels
// CHECK:         gpu.func @two_0_kernel
// CHECK:         gpu.func @two_1_kernel
// CHECK-NOT:   gpu.module
func.func @two(%A: !t, %B: !t, %C: !t) {
  cute.contract ins(%A, %A : !t, !t) outs(%B : !t) accumulate f32
  cute.contract ins(%B, %A : !t, !t) outs(%C : !t) accumulate f32
  return
}

// -----

!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">

// Arguments in another order, and one that the product does not use.
// CHECK-LABEL: func.func @order
// CHECK-SAME:    gemm = array<i64: 3, 1, 0>
func.func @order(%C: !t, %B: !t, %unused: !t, %A: !t) {
  cute.contract ins(%A, %B : !t, !t) outs(%C : !t) accumulate f32
  return
}

// -----

// Rows further apart than they are long.
// CHECK-LABEL: gpu.func @padded_kernel
// CHECK:         cute.local_tile({{.*}}) -> !cute.memref<f16, gmem, align<16>, "(32,32,2):(72,1,32)">
// CHECK:         cute.local_tile({{.*}}) -> !cute.memref<f16, gmem, align<16>, "(32,32,2):(64,1,32)">
// CHECK:         cute.local_tile({{.*}}) -> !cute.memref<f16, gmem, align<16>, "(32,32):(80,1)">
func.func @padded(%A: !cute.memref<f16, gmem, align<16>, "(64,64):(72,1)">,
                  %B: !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">,
                  %C: !cute.memref<f16, gmem, align<16>, "(64,64):(80,1)">) {
  cute.contract
    ins(%A, %B : !cute.memref<f16, gmem, align<16>, "(64,64):(72,1)">, !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">)
    outs(%C : !cute.memref<f16, gmem, align<16>, "(64,64):(80,1)">) accumulate f32
  return
}

// -----

!t = !cute.memref<f16, gmem, align<16>, "(32,32):(32,1)">

// One block, one step.
// CHECK-LABEL: gpu.func @one_tile_kernel
// CHECK-SAME:    known_grid_size = array<i32: 1, 1, 1>
// CHECK:         arith.constant 1 : i32
// CHECK:         scf.for
func.func @one_tile(%A: !t, %B: !t, %C: !t) {
  cute.contract ins(%A, %B : !t, !t) outs(%C : !t) accumulate f32
  return
}

// -----

!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">

// A function without a product is left alone, and there is no kernel.
// CHECK-LABEL: func.func @nothing
// CHECK-NEXT:    cute.block.copy
// CHECK-NEXT:    return
// CHECK-NOT:   gpu.module
func.func @nothing(%A: !t, %B: !t) {
  cute.block.copy B (%A, %B) : (!t, !t)
  return
}
