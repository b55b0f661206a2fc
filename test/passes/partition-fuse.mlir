// What a block computes of a map with sums of products: factors through shared memory, products, and what is made of them in the registers of the accumulators.
//
// RUN: cute-opt %s --cute-tile="arch=sm_80" --cute-partition --split-input-file | FileCheck %s
// RUN: cute-opt %s --cute-tile="arch=sm_80" --cute-partition --split-input-file | cute-opt --split-input-file | FileCheck %s

// The queries are loaded once. One loop goes over the keys: the maximum leads, and both sums follow it, after those that were summed up have been multiplied.
// What is behind the last key has a score of -inf, and so no part in any of them.
// CHECK-LABEL: gpu.func @attention_kernel(
// CHECK-SAME:    cute.synchronize
// CHECK-NOT:     cute.block
// CHECK:         cute.copy({{.*}}simt_async_copy
// CHECK:         %[[A:.*]] = cute.mma.make_fragment A
// CHECK:         cute.copy({{.*}}ldsm
// CHECK:         cute.clear(%[[SUMS:.*]]) : (!cute.memref<f32, rmem, align<16>, "((2,2),1,4)
// CHECK:         scf.for %[[J:.*]] = %{{.*}} to %{{.*}} step %{{.*}} : i32 {
// CHECK:           cute.copy({{.*}}simt_async_copy
// CHECK:           cute.copy({{.*}}simt_async_copy
// CHECK:           cute.gemm(%{{.*}}, %[[S:.*]], %[[A]], %{{.*}}, %[[S]])
// CHECK:           cute.transform(%[[S]], %{{.*}}, %[[SCORES:.*]]) : ({{.*}}!cute.coord_tensor<
// CHECK:             cute.elem_less
// CHECK:             arith.select %{{.*}}, %{{.*}}, %{{.*}} : f32
// CHECK-COUNT-2:   vector.reduction <maximumf>, %{{.*}} : vector<16xf32> into f32
// CHECK-COUNT-2:   gpu.subgroup_reduce maximumf %{{.*}} cluster(size = 4)
// CHECK:           arith.maximumf
// CHECK:           arith.cmpf oeq
// CHECK:           math.exp
// CHECK:           arith.select
// CHECK-COUNT-2:   vector.reduction <add>
// CHECK-NOT:       gpu.subgroup_reduce
// CHECK:           cute.transform(%[[SUMS]], %{{.*}}, %[[SUMS]])
// CHECK:             arith.mulf
// CHECK:             arith.truncf %{{.*}} : f32 to f16
// CHECK:           %[[P:.*]] = cute.make_view(%{{.*}}) : !cute.memref<f16, rmem, align<16>, "((2,2,2),1,4):((1,2,4),0,8)">
// CHECK:           cute.copy({{.*}}ldsm{{.*}} t>
// CHECK:           cute.gemm(%{{.*}}, %[[SUMS]], %[[P]], %{{.*}}, %[[SUMS]])
// CHECK:         } {cute.stages = 2 : i64}
// CHECK-NOT:     scf.for
// CHECK-COUNT-2: gpu.subgroup_reduce add %{{.*}} cluster(size = 4)
// CHECK:         arith.divf
// CHECK:         cute.copy({{.*}}universal_copy<f16, 32 b>{{.*}}smem
// CHECK:         cute.copy({{.*}}universal_copy<f16, 128 b>{{.*}}smem{{.*}}gmem
!q = !cute.memref<f16, gmem, align<16>, "(?,?,?,64,32):(?{div=8},64,0,1,0)">
!k = !cute.memref<f16, gmem, align<16>, "(?,?,?,64,32):(?{div=8},0,64,1,0)">
!v = !cute.memref<f16, gmem, align<16>, "(?,?,?,64,32):(?{div=8},0,32,0,1)">
!o = !cute.memref<f16, gmem, align<16>, "(?,?,?,64,32):(?{div=8},32,0,0,1)">
func.func @attention(%Q: !q, %K: !k, %V: !v, %O: !o) {
  cute.map ins(%Q, %K, %V : !q, !k, !v) outs(%O : !o) {
  ^bb0(%q: f16, %k: f16, %v: f16):
    %q32 = arith.extf %q : f16 to f32
    %k32 = arith.extf %k : f16 to f32
    %qk = arith.mulf %q32, %k32 : f32
    %s = cute.all_reduce "add" %qk along [3] : f32
    %m = cute.all_reduce "maximum" %s along [2] : f32
    %d = arith.subf %s, %m : f32
    %e = math.exp %d : f32
    %l = cute.all_reduce "add" %e along [2] : f32
    %h = arith.truncf %e : f32 to f16
    %h32 = arith.extf %h : f16 to f32
    %v32 = arith.extf %v : f16 to f32
    %pv = arith.mulf %h32, %v32 : f32
    %o = cute.all_reduce "add" %pv along [2] : f32
    %r = arith.divf %o, %l : f32
    %o16 = arith.truncf %r : f32 to f16
    cute.yield %o16 : f16
  }
  return
}

// -----

// Of what does not follow a maximum, a turn needs the whole of the last one: three loops, of which the last stores.
// CHECK-LABEL: gpu.func @turns_kernel(
// CHECK:         scf.for
// CHECK:           cute.gemm(
// CHECK-COUNT-2:   vector.reduction <add>
// CHECK:         } {cute.stages = 2 : i64}
// CHECK:         arith.sitofp
// CHECK:         arith.divf
// CHECK:         scf.for
// CHECK:           cute.gemm(
// CHECK-COUNT-2:   vector.reduction <add>
// CHECK:         } {cute.stages = 2 : i64}
// CHECK:         scf.for
// CHECK:           cute.gemm(
// CHECK:           math.rsqrt
// CHECK:           cute.copy({{.*}}universal_copy<f32, 32 b>
// CHECK:         } {cute.stages = 2 : i64}
// CHECK-NOT:     scf.for
!a = !cute.memref<f16, gmem, align<16>, "(64,?,64):(64,0,1)">
!b = !cute.memref<f16, gmem, align<16>, "(64,?,64):(0,64,1)">
!d = !cute.memref<f32, gmem, align<4>, "(64,?,64):(?,1,0)">
func.func @turns(%A: !a, %B: !b, %D: !d) {
  cute.map ins(%A, %B : !a, !b) outs(%D : !d) {
  ^bb0(%a: f16, %b: f16):
    %a32 = arith.extf %a : f16 to f32
    %b32 = arith.extf %b : f16 to f32
    %ab = arith.mulf %a32, %b32 : f32
    %s = cute.all_reduce "add" %ab along [2] : f32
    %mean = cute.all_reduce "mean" %s along [1] : f32
    %off = arith.subf %s, %mean : f32
    %square = arith.mulf %off, %off : f32
    %variance = cute.all_reduce "mean" %square along [1] : f32
    %scale = math.rsqrt %variance : f32
    %d = arith.mulf %off, %scale : f32
    cute.yield %d : f32
  }
  return
}

// -----

// A maximum that is scaled behind, or bounded below, leads as well; a sum of other powers of it takes a turn of its own.
// CHECK-LABEL: gpu.func @leads_kernel(
// CHECK:         scf.for
// CHECK-COUNT-2:   vector.reduction <maximumf>
// CHECK:           math.exp2
// CHECK-COUNT-2:   vector.reduction <add>
// CHECK:           math.exp2
// CHECK-COUNT-2:   vector.reduction <add>
// CHECK-NOT:       vector.reduction
// CHECK:         } {cute.stages = 2 : i64}
// CHECK:         scf.for
// CHECK-NOT:       vector.reduction <maximumf>
// CHECK:           math.exp
// CHECK-COUNT-2:   vector.reduction <add>
// CHECK:         } {cute.stages = 2 : i64}
// CHECK-NOT:     scf.for
!a = !cute.memref<f16, gmem, align<16>, "(64,?,64):(64,0,1)">
!b = !cute.memref<f16, gmem, align<16>, "(64,?,64):(0,64,1)">
!r = !cute.memref<f32, gmem, align<16>, "(64,?,64):(1,0,0)">
func.func @leads(%A: !a, %B: !b, %R: !r, %f: f32) {
  cute.map ins(%A, %B : !a, !b) outs(%R : !r) {
  ^bb0(%a: f16, %b: f16):
    %least = arith.constant -1.0e+4 : f32
    %half = arith.constant 0.5 : f32
    %a32 = arith.extf %a : f16 to f32
    %b32 = arith.extf %b : f16 to f32
    %ab = arith.mulf %a32, %b32 : f32
    %s = cute.all_reduce "add" %ab along [2] : f32
    %m = cute.all_reduce "maximum" %s along [1] : f32
    %bounded = arith.maximumf %m, %least : f32
    %d = arith.subf %s, %bounded : f32
    %df = arith.mulf %d, %f : f32
    %e = math.exp2 %df : f32
    %x = cute.all_reduce "add" %e along [1] : f32
    %sf = arith.mulf %s, %f : f32
    %mf = arith.mulf %m, %f : f32
    %c = arith.subf %sf, %mf : f32
    %g = math.exp2 %c : f32
    %y = cute.all_reduce "add" %g along [1] : f32
    %mh = arith.mulf %m, %half : f32
    %i = arith.subf %s, %mh : f32
    %j = math.exp %i : f32
    %z = cute.all_reduce "add" %j along [1] : f32
    %xy = arith.addf %x, %y : f32
    %r = arith.addf %xy, %z : f32
    cute.yield %r : f32
  }
  return
}

// -----

// A block does not hold all of K: slices of both factors are summed up within each tile of columns, three under way at once. Blocks share E, and what is the same along
// E is written by the first of them.
// CHECK-LABEL: gpu.func @slices_kernel(
// CHECK:         cute.clear(%[[SUMS:.*]]) : (!cute.memref<f32, rmem, align<16>, "((2,2),1,16)
// CHECK:         scf.for
// CHECK:           cute.copy({{.*}}simt_async_copy
// CHECK:           cute.clear(%[[S:.*]]) : (!cute.memref<f32, rmem, align<16>, "((2,2),1,8)
// CHECK:           scf.for
// CHECK-COUNT-2:     cute.copy({{.*}}simt_async_copy
// CHECK-COUNT-2:     cute.copy({{.*}}ldsm
// CHECK:             cute.gemm(%{{.*}}, %[[S]], %{{.*}}, %{{.*}}, %[[S]])
// CHECK:           } {cute.stages = 3 : i64}
// CHECK:           cute.gemm(%{{.*}}, %[[SUMS]], %{{.*}}, %{{.*}}, %[[SUMS]])
// CHECK:         }{{$}}
// CHECK:         scf.if
// CHECK:           cute.memref.store
!q = !cute.memref<f16, gmem, align<16>, "(?,?,512,256):(512,0,1,0)">
!k = !cute.memref<f16, gmem, align<16>, "(?,?,512,256):(0,512,1,0)">
!v = !cute.memref<f16, gmem, align<16>, "(?,?,512,256):(0,256,0,1)">
!o = !cute.memref<f16, gmem, align<16>, "(?,?,512,256):(256,0,0,1)">
!l = !cute.memref<f32, gmem, align<4>, "(?,?,512,256):(1,0,0,0)">
func.func @slices(%Q: !q, %K: !k, %V: !v, %O: !o, %L: !l) {
  cute.map ins(%Q, %K, %V : !q, !k, !v) outs(%O, %L : !o, !l) {
  ^bb0(%q: f16, %k: f16, %v: f16):
    %q32 = arith.extf %q : f16 to f32
    %k32 = arith.extf %k : f16 to f32
    %qk = arith.mulf %q32, %k32 : f32
    %s = cute.all_reduce "add" %qk along [2] : f32
    %m = cute.all_reduce "maximum" %s along [1] : f32
    %d = arith.subf %s, %m : f32
    %e = math.exp %d : f32
    %l = cute.all_reduce "add" %e along [1] : f32
    %h = arith.truncf %e : f32 to f16
    %h32 = arith.extf %h : f16 to f32
    %v32 = arith.extf %v : f16 to f32
    %pv = arith.mulf %h32, %v32 : f32
    %o = cute.all_reduce "add" %pv along [1] : f32
    %r = arith.divf %o, %l : f32
    %o16 = arith.truncf %r : f32 to f16
    cute.yield %o16, %l : f16, f32
  }
  return
}
