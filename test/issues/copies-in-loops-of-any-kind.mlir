// Copies and fragments in a loop that counts its turns itself, and in regions that run once: what is written there is carried.
//
// RUN: cute-opt %s --cute-fragments-to-values --split-input-file | FileCheck %s

!g = !cute.memref<f16, gmem, align<16>, "((8,1),1):((1,0),0)">
!s = !cute.memref<f16, smem, align<16>, "((8,1),1):((1,0),0)">
!copy = !cute.tiled_copy<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, layout_copy_tv = <"(1,8):(8,1)">, tiler_mn = <"[8:1]">>
gpu.module @k [#nvvm.target<chip = "sm_80">] {
  // CHECK-LABEL: gpu.func @copies
  // CHECK: scf.while
  // CHECK: } do {
  // CHECK:   cute.atom_copy
  // CHECK:   scf.yield
  // CHECK: scf.execute_region
  // CHECK:   cute.atom_copy
  gpu.func @copies(%g: !g, %n: i32) kernel {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %copy = cute.static : !copy
    %s = cute.memref.alloca() : !s
    %r = scf.while (%i = %zero) : (i32) -> i32 {
      %more = arith.cmpi slt, %i, %n : i32
      scf.condition(%more) %i : i32
    } do {
    ^bb0(%i: i32):
      cute.copy(%copy, %g, %s) : (!copy, !g, !s)
      %next = arith.addi %i, %one : i32
      scf.yield %next : i32
    }
    scf.execute_region {
      cute.copy(%copy, %g, %s) : (!copy, !g, !s)
      scf.yield
    }
    gpu.return
  }
}

// -----

!r = !cute.memref<f32, rmem, "4:1">
!g = !cute.memref<f32, gmem, align<16>, "4:1">
gpu.module @k [#nvvm.target<chip = "sm_80">] {
  // The fragment goes through both regions and comes out of the loop.
  // CHECK-LABEL: gpu.func @fragment
  // CHECK: %[[R:.*]]:2 = scf.while (%{{.*}} = %{{.*}}, %[[IN:.*]] = %{{.*}}) : (i32, vector<{{.*}}xf32>) -> (i32, vector<{{.*}}xf32>) {
  // CHECK:   scf.condition(%{{.*}}) %{{.*}}, %[[IN]] : i32, vector<
  // CHECK: } do {
  // CHECK: ^bb0(%{{.*}}: i32, %[[BODY:.*]]: vector<
  // CHECK:   %[[PART:.*]] = vector.extract_strided_slice %[[BODY]] {offsets = [0]
  // CHECK:   %[[V:.*]] = vector.extract %[[PART]][0]
  // CHECK:   arith.addf %[[V]]
  // CHECK:   %[[NEW:.*]] = vector.insert %{{.*}}, %[[BODY]] [0]
  // CHECK:   scf.yield %{{.*}}, %[[NEW]] : i32, vector<
  // CHECK: vector.extract_strided_slice %[[R]]#1
  gpu.func @fragment(%g: !g, %n: i32) kernel {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %x = arith.constant 1.0 : f32
    %c0 = cute.static : !cute.coord<"0">
    %r = cute.memref.alloca() : !r
    cute.clear(%r) : (!r)
    %w = scf.while (%i = %zero) : (i32) -> i32 {
      %more = arith.cmpi slt, %i, %n : i32
      scf.condition(%more) %i : i32
    } do {
    ^bb0(%i: i32):
      %v = cute.memref.load(%r, %c0) : (!r, !cute.coord<"0">) -> f32
      %sum = arith.addf %v, %x : f32
      cute.memref.store(%r, %c0, %sum) : (!r, !cute.coord<"0">, f32) -> ()
      %next = arith.addi %i, %one : i32
      scf.yield %next : i32
    }
    %out = cute.memref.load(%r, %c0) : (!r, !cute.coord<"0">) -> f32
    cute.memref.store(%g, %c0, %out) : (!g, !cute.coord<"0">, f32) -> ()
    gpu.return
  }
}
