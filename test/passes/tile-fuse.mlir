// What cute-tile makes of maps with sums of products: which rows and columns a block computes, and by which plans.
//
// RUN: cute-opt %s --cute-tile="arch=sm_80" --split-input-file | FileCheck %s
// RUN: cute-opt %s --cute-tile="arch=sm_80" --split-input-file | cute-opt --split-input-file | FileCheck %s

// Blocks of 64 rows; columns in a loop, two tiles under way. The function that verifies has the modes of the map, the kernel those of a block.
// CHECK:       func.func private @attention_map(
// CHECK:         cute.all_reduce "add" %{{.*}} along [3] : f32
// CHECK:         cute.all_reduce "maximum" %{{.*}} along [2] : f32
// CHECK:       func.func @attention(
// CHECK-SAME:    map = @attention_map
// CHECK:         cf.assert %{{.*}}, "expected at least one element along mode [2], which is reduced"
// CHECK:         gpu.launch_func {{.*}} threads in (%{{.*}}, %{{.*}}, %{{.*}})
// CHECK:       gpu.func @attention_kernel(
// CHECK-SAME:    known_block_size = array<i32: 128, 1, 1>
// CHECK:         cute.slice(%{{.*}}, %{{.*}}) : {{.*}}!cute.coord<"(_,_,_,_,?)">
// CHECK:         cute.block.fuse ins({{.*}}"(?,?,64,32):(64,0,1,0)">, {{.*}}"(?,?,64,32):(0,64,1,0)">, {{.*}}"(?,?,64,32):(0,32,0,1)">) outs({{.*}}"(?,?,64,32):(32,0,0,1)">) at(%{{.*}} : !cute.coord<"(?{div=64},0)">)
// CHECK:           cute.all_reduce "add" %{{.*}} along [2] {cute.plan = #cute.plan<tile = 64x64x64, stages = 2,
// CHECK-SAME:        B = [{{.*}}num_matrices = 4, n>, immediate>]
// CHECK:           cute.all_reduce "maximum" %{{.*}} along [1] : f32
// CHECK:           cute.all_reduce "add" %{{.*}} along [1] : f32
// CHECK:           cute.all_reduce "add" %{{.*}} along [1] {cute.plan = #cute.plan<tile = 64x32x64, stages = 2,
// CHECK-SAME:        B = [{{.*}}smem = <S<2,4,3>, "(32,64):(1,32)">, {{.*}}num_matrices = 4, t>, immediate>]
// CHECK:         }{{$}}
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

// Nothing is reduced along columns: blocks share them. Two products of one factor have one plan.
// Launches whose rows are of whole pairs take a kernel of their own.
// CHECK-LABEL: func.func @both(
// CHECK:         cf.assert %{{.*}}, "expected elements of output 0 that do not overlap: a stride of mode 0 that is at least the extent of mode 1"
// CHECK:         %[[N:.*]] = arith.remsi
// CHECK:         %[[LINE:.*]] = arith.remsi
// CHECK:         scf.if
// CHECK:           gpu.launch_func @both_kernels::@both_kernel_0
// CHECK:         } else {
// CHECK:           gpu.launch_func @both_kernels::@both_kernel_1
// CHECK:       gpu.func @both_kernel_0(
// CHECK:         cute.block.fuse {{.*}} outs(%{{.*}} : !cute.memref<f32, gmem, align<16>, "(?,?{div=2},64,1):(?{div=2},1,0,0)">)
// CHECK-LABEL: gpu.func @both_kernel_1(
// CHECK:         arith.remui
// CHECK:         cute.block.fuse {{.*}} at(%{{.*}} : !cute.coord<"(?{div=64},?{div=64})">)
// CHECK-COUNT-2: cute.all_reduce "add" %{{.*}} along [2] {cute.plan = #cute.plan<tile = 64x64x64, stages = 1,
// CHECK:         } {held}
!a = !cute.memref<bf16, gmem, align<16>, "(?,?,64):(64,0,1)">
!b = !cute.memref<bf16, gmem, align<16>, "(?,?,64):(0,64,1)">
!d = !cute.memref<f32, gmem, align<16>, "(?,?,64):(?,1,0)">
func.func @both(%A: !a, %B: !b, %C: !b, %D: !d) {
  cute.map ins(%A, %B, %C : !a, !b, !b) outs(%D : !d) {
  ^bb0(%a: bf16, %b: bf16, %c: bf16):
    %a32 = arith.extf %a : bf16 to f32
    %b32 = arith.extf %b : bf16 to f32
    %c32 = arith.extf %c : bf16 to f32
    %ab = arith.mulf %a32, %b32 : f32
    %ac = arith.mulf %a32, %c32 : f32
    %x = cute.all_reduce "add" %ab along [2] : f32
    %y = cute.all_reduce "add" %ac along [2] : f32
    %d = arith.mulf %x, %y : f32
    cute.yield %d : f32
  }
  return
}

// -----

// What is reduced along is columns, whichever factor has them: here mode 0. Few rows take few warps, and few columns are held at once.
// CHECK-LABEL: gpu.func @turned_kernel(
// CHECK-SAME:    known_block_size = array<i32: 32, 1, 1>
// CHECK:         cute.block.fuse ins({{.*}}"(10,40,32,1):(0,32,1,0)">, {{.*}}"(10,40,32,1):(32,0,1,0)">) outs({{.*}}"(10,40,32,1):(1,0,0,0)">)
// CHECK:           cute.all_reduce "add" %{{.*}} along [2] {cute.plan = #cute.plan<tile = 16x48x32, stages = 1,
// CHECK:           cute.all_reduce "maximum" %{{.*}} along [1] : f32
// CHECK:         } {held}
!a = !cute.memref<f16, gmem, align<16>, "(40,10,32):(32,0,1)">
!b = !cute.memref<f16, gmem, align<16>, "(40,10,32):(0,32,1)">
!r = !cute.memref<f32, gmem, align<16>, "(40,10,32):(0,1,0)">
func.func @turned(%A: !a, %B: !b, %R: !r) {
  cute.map ins(%A, %B : !a, !b) outs(%R : !r) {
  ^bb0(%a: f16, %b: f16):
    %a32 = arith.extf %a : f16 to f32
    %b32 = arith.extf %b : f16 to f32
    %ab = arith.mulf %a32, %b32 : f32
    %s = cute.all_reduce "add" %ab along [2] : f32
    %m = cute.all_reduce "maximum" %s along [0] : f32
    cute.yield %m : f32
  }
  return
}

// -----

// What products do not compute is reduced row by row: sums of f32, and long ones of what lies in pieces.
// CHECK-LABEL: gpu.func @wide_kernel
// CHECK:         cute.block.map
!a = !cute.memref<f32, gmem, align<16>, "(40,10,32):(32,0,1)">
!b = !cute.memref<f32, gmem, align<16>, "(40,10,32):(0,32,1)">
!r = !cute.memref<f32, gmem, align<16>, "(40,10,32):(10,1,0)">
func.func @wide(%A: !a, %B: !b, %R: !r) {
  cute.map ins(%A, %B : !a, !b) outs(%R : !r) {
  ^bb0(%a: f32, %b: f32):
    %ab = arith.mulf %a, %b : f32
    %s = cute.all_reduce "add" %ab along [2] : f32
    cute.yield %s : f32
  }
  return
}

// -----

// CHECK-LABEL: gpu.func @pieces_kernel
// CHECK:         cute.block.map
!a = !cute.memref<f16, gmem, align<16>, "(40,10,(2,256)):(512,0,(256,1))">
!b = !cute.memref<f16, gmem, align<16>, "(40,10,(2,256)):(0,512,(256,1))">
!r = !cute.memref<f32, gmem, align<16>, "(40,10,(2,256)):(10,1,(0,0))">
func.func @pieces(%A: !a, %B: !b, %R: !r) {
  cute.map ins(%A, %B : !a, !b) outs(%R : !r) {
  ^bb0(%a: f16, %b: f16):
    %a32 = arith.extf %a : f16 to f32
    %b32 = arith.extf %b : f16 to f32
    %ab = arith.mulf %a32, %b32 : f32
    %s = cute.all_reduce "add" %ab along [2] : f32
    cute.yield %s : f32
  }
  return
}

// -----

// What a block does not hold of K comes in slices, of which several are under way.
// CHECK-LABEL: gpu.func @long_kernel
// CHECK:         cute.block.fuse
// CHECK:           cute.all_reduce "add" %{{.*}} along [2] {cute.plan = #cute.plan<tile = 64x16x64, stages = 3,
!a = !cute.memref<f16, gmem, align<16>, "(40,10,512):(512,0,1)">
!b = !cute.memref<f16, gmem, align<16>, "(40,10,512):(0,512,1)">
!r = !cute.memref<f32, gmem, align<16>, "(40,10,512):(10,1,0)">
func.func @long(%A: !a, %B: !b, %R: !r) {
  cute.map ins(%A, %B : !a, !b) outs(%R : !r) {
  ^bb0(%a: f16, %b: f16):
    %a32 = arith.extf %a : f16 to f32
    %b32 = arith.extf %b : f16 to f32
    %ab = arith.mulf %a32, %b32 : f32
    %s = cute.all_reduce "add" %ab along [2] : f32
    cute.yield %s : f32
  }
  return
}

// -----

// Where K and E are open as well, blocks share E, and what is the same along E is written for the first tile. A launch that brings whole vectors takes the first
// kernel, one that brings them of the factors the second.
// CHECK-LABEL: func.func @open(
// CHECK:         cf.assert %{{.*}}, "expected elements of output 0 that do not overlap: a stride of mode 0 that is at least the extent of mode 3"
// CHECK:         scf.if
// CHECK:           gpu.launch_func @open_kernels::@open_kernel_0
// CHECK:         } else {
// CHECK:           scf.if
// CHECK:             gpu.launch_func @open_kernels::@open_kernel_1
// CHECK:           } else {
// CHECK:             gpu.launch_func @open_kernels::@open_kernel_2
// CHECK:       gpu.func @open_kernel_0(
// CHECK-SAME:    cute.fused = #cute.plan<tile = 128x64x64
// CHECK:         cute.block.fuse ins({{.*}}"(?,?,?{div=8},?):(?{div=8},0,1,0)">, {{.*}} at(%{{.*}} : !cute.coord<"(?{div=128},0,?{div=128})">)
// CHECK:           cute.all_reduce "add" %{{.*}} along [2] {cute.plan = #cute.plan<tile = 128x64x64, stages = 3,
// CHECK:           cute.all_reduce "add" %{{.*}} along [1] {cute.plan = #cute.plan<tile = 128x128x64, stages = 1,
// CHECK:       gpu.func @open_kernel_2(
// CHECK:         cute.block.fuse ins({{.*}}"(?,?,?,?):(?,0,1,0)">
!q = !cute.memref<f16, gmem, align<16>, "(?,?,?,?):(?,0,1,0)">
!k = !cute.memref<f16, gmem, align<16>, "(?,?,?,?):(0,?,1,0)">
!v = !cute.memref<f16, gmem, align<16>, "(?,?,?,?):(0,?,0,1)">
!o = !cute.memref<f16, gmem, align<16>, "(?,?,?,?):(?,0,0,1)">
!l = !cute.memref<f32, gmem, align<4>, "(?,?,?,?):(1,0,0,0)">
func.func @open(%Q: !q, %K: !k, %V: !v, %O: !o, %L: !l) {
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
