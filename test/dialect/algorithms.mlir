// Algorithms survive a round trip as they were written.
//
// RUN: cute-opt %s | FileCheck %s
// RUN: cute-opt %s | cute-opt | FileCheck %s

!g = !cute.memref<f32, gmem, align<16>, "(4,2):(1,64)">
!s = !cute.memref<f32, smem, align<16>, "(4,2):(1,4)">
!r = !cute.memref<f32, rmem, "(4,2):(1,4)">
!p = !cute.memref<i1, rmem, "(4,2):(1,4)">
!b = !cute.memref<i8, rmem, "(1,2):(0,1)">
!a = !cute_nvgpu.atom.universal_copy<f32, 128 b>
!tiled = !cute.tiled_copy<!a, layout_copy_tv = <"(2,4):(4,1)">, tiler_mn = <"[4:1;2:1]">>
!c = !cute.coord_tensor<"(0,0)", "(4,2):(1@0,1@1)">

// CHECK-LABEL: func.func @copies
func.func @copies(%a: !a, %g: !g, %s: !s, %r: !r, %p: !p, %b: !b, %t: !cute.coord<"?">, %i: i32, %tiled: !tiled, %c: !c, %bound: !cute.coord<"(3,?)">) {
  // CHECK: cute.copy(%{{.*}}, %{{.*}}, %{{.*}}) : (!cute_nvgpu.atom.universal_copy<f32, 128 b>, !cute.memref<f32, gmem, align<16>, "(4,2):(1,64)">, !cute.memref<f32, rmem, "(4,2):(1,4)">)
  cute.copy(%a, %g, %r) : (!a, !g, !r)
  // CHECK: cute.copy({{.*}}) : ({{.*}}, !cute.memref<i8, rmem, "(1,2):(0,1)">)
  cute.copy(%a, %g, %r, %b) : (!a, !g, !r, !b)
  // CHECK: cute.copy_if({{.*}}) : (!cute.memref<i1, rmem, "(4,2):(1,4)">, {{.*}})
  cute.copy_if(%p, %g, %r) : (!p, !g, !r)
  // CHECK: cute.copy_if({{.*}}) : (!cute_nvgpu.atom.universal_copy<f32, 128 b>, {{.*}})
  cute.copy_if(%a, %b, %g, %r) : (!a, !b, !g, !r)
  // CHECK: cute.copy_tile(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : (!cute.tiled_copy<{{.*}}>, !cute.coord<"?">, !cute.memref<f32, gmem, {{.*}}>, !cute.memref<f32, smem, {{.*}}>)
  cute.copy_tile(%tiled, %t, %g, %s)
  // CHECK: cute.copy_tile(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) within(%{{.*}}, %{{.*}} : !cute.coord_tensor<"(0,0)", "(4,2):(1@0,1@1)">, !cute.coord<"(3,?)">) : (!cute.tiled_copy
  cute.copy_tile(%tiled, %t, %g, %s) within(%c, %bound)
  // CHECK: cute.autovec_copy({{.*}}) {max_vec_bits = 64 : i64} : (
  cute.autovec_copy(%g, %r) {max_vec_bits = 64 : i64} : (!g, !r)
  // CHECK: cute.basic_copy(
  cute.basic_copy(%r, %g) : (!r, !g)
  // CHECK: cute.prefetch({{.*}}) {level = "L1"} : (
  cute.prefetch(%g) {level = "L1"} : (!g)
  // CHECK: cute.prefetch({{.*}}) : (!cute_nvgpu.atom.universal_copy<f32, 128 b>, {{.*}})
  cute.prefetch(%a, %g) : (!a, !g)
  // CHECK: cute.cooperative_copy({{.*}}) {max_vec_bits = 32 : i64, threads = 8 : i64} : (!cute.coord<"?">, {{.*}})
  cute.cooperative_copy(%t, %g, %s) {threads = 8 : i64, max_vec_bits = 32 : i64} : (!cute.coord<"?">, !g, !s)
  // CHECK: cute.cooperative_copy({{.*}}) {threads = 8 : i64} : (i32, {{.*}})
  cute.cooperative_copy(%i, %s, %g) {threads = 8 : i64} : (i32, !s, !g)
  return
}

// CHECK-LABEL: func.func @elements
func.func @elements(%g: !g, %r: !r, %p: !p, %c: !c, %x: f32, %bound: !cute.coord<"(3,?)">) -> f32 {
  // CHECK: cute.clear(%{{.*}}) : (!cute.memref<f32, gmem
  cute.clear(%g) : (!g)
  // CHECK: cute.fill(%{{.*}}, %{{.*}}) : (!cute.memref<f32, rmem, "(4,2):(1,4)">, f32)
  cute.fill(%r, %x) : (!r, f32)
  // CHECK: cute.axpby({{.*}}) : (f32, {{.*}}, f32, {{.*}}, !cute.memref<i1, rmem, "(4,2):(1,4)">)
  cute.axpby(%x, %r, %x, %g, %p) : (f32, !r, f32, !g, !p)
  // CHECK: cute.transform(%{{.*}}, %{{.*}}) : (!cute.coord_tensor<{{.*}}>, !cute.memref<i1, rmem, "(4,2):(1,4)">) {
  // CHECK-NEXT: ^bb0(%[[AT:.*]]: !cute.coord<"(?,?)">):
  // CHECK-NEXT:   %[[IN:.*]] = cute.elem_less(%[[AT]]
  // CHECK-NEXT:   cute.yield %[[IN]] : i1
  cute.transform(%c, %p) : (!c, !p) {
  ^bb0(%at: !cute.coord<"(?,?)">):
    %in = cute.elem_less(%at, %bound) : !cute.coord<"(?,?)">, !cute.coord<"(3,?)">
    cute.yield %in : i1
  }
  // CHECK: cute.reduce({{.*}}) {kind = "max"} : (!cute.memref<f32, rmem, "(4,2):(1,4)">, f32) -> f32
  // CHECK-NOT: {
  // CHECK: cute.reduce({{.*}}) : (!cute.memref<f32, gmem, align<16>, "(4,2):(1,64)">, f32) -> f32 {
  %most = cute.reduce(%r, %x) {kind = "max"} : (!r, f32) -> f32
  %sum = cute.reduce(%g, %most) : (!g, f32) -> f32 {
  ^bb0(%so_far: f32, %e: f32):
    %s = arith.addf %so_far, %e : f32
    cute.yield %s : f32
  }
  return %sum : f32
}

!fma = !cute_nvgpu.atom.universal_fma<1x1x1, (f32, f32) -> f32 >
!v = !cute.memref<f32, rmem, "(1):(0)">
!m = !cute.memref<f32, rmem, "(4):(1)">
!n = !cute.memref<f32, rmem, "(2):(1)">
!mk = !cute.memref<f32, smem, "(4,8):(1,4)">
!nk = !cute.memref<f32, smem, "(2,8):(1,2)">
!vm = !cute.memref<f32, rmem, "(1,4):(0,1)">
!vn = !cute.memref<f32, rmem, "(1,2):(0,1)">
!vmn = !cute.memref<f32, rmem, "(1,4,2):(0,1,4)">
!vmk = !cute.memref<f32, rmem, "(1,4,8):(0,1,4)">
!vnk = !cute.memref<f32, rmem, "(1,2,8):(0,1,2)">

// CHECK-LABEL: func.func @products
func.func @products(%fma: !fma, %v: !v, %m: !m, %n: !n, %mk: !mk, %nk: !nk, %mn: !r, %vm: !vm, %vn: !vn, %vmn: !vmn, %vmk: !vmk, %vnk: !vnk) {
  // CHECK-COUNT-8: cute.gemm(
  cute.gemm(%fma, %v, %v, %v, %v) : (!fma, !v, !v, !v, !v)
  cute.gemm(%fma, %mn, %m, %n, %mn) : (!fma, !r, !m, !n, !r)
  cute.gemm(%mn, %m, %n, %mn) : (!r, !m, !n, !r)
  cute.gemm(%fma, %mk, %nk, %mn) : (!fma, !mk, !nk, !r)
  cute.gemm(%mn, %mk, %nk, %mn) : (!r, !mk, !nk, !r)
  cute.gemm(%fma, %vmn, %vm, %vn, %vmn) : (!fma, !vmn, !vm, !vn, !vmn)
  cute.gemm(%fma, %vmn, %vmk, %vnk, %vmn) : (!fma, !vmn, !vmk, !vnk, !vmn)
  cute.gemm(%fma, %vmk, %vnk, %vmn) : (!fma, !vmk, !vnk, !vmn)
  return
}
