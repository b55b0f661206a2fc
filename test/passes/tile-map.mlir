// A map of whole tensors becomes a kernel whose blocks compute rows, or several of which a launch takes one.
//
// RUN: cute-opt %s --cute-tile="arch=sm_80 variants=3" --split-input-file | FileCheck %s
// RUN: cute-opt %s --cute-tile="arch=sm_80 variants=3" --split-input-file | cute-opt --split-input-file | FileCheck %s
// RUN: cute-opt %s --cute-tile="arch=sm_80 variants=1" --split-input-file | FileCheck %s --check-prefix=ONE

// The region becomes a function that the host verifies by, and of a kernel whose blocks take rows; numbers are passed, constants copied.
// CHECK-LABEL: func.func private @static_map(%{{.*}}: f16, %{{.*}}: f32) -> (f32, f32)
// CHECK:         arith.constant 2.0
// CHECK:         %[[SUM:.*]] = cute.all_reduce "add" %{{.*}} along [1] : f32
// CHECK:         return %{{.*}}, %[[SUM]] : f32, f32
// CHECK-LABEL: func.func @static(
// CHECK-SAME:    cute.computes = [{ins = array<i64: 0>, map = @static_map, outs = array<i64: 1, 2>, scalars = array<i64: 3>}]
// CHECK-NOT:     cf.assert
// CHECK:         %[[ROWS:.*]] = arith.constant 5 : index
// CHECK:         %[[THREADS:.*]] = arith.constant 64 : index
// CHECK:         gpu.launch_func @static_kernels::@static_kernel blocks in (%[[ROWS]], {{.*}}) threads in (%[[THREADS]], {{.*}}) {{.*}}args(%arg0 : {{.*}}, %arg1 : {{.*}}, %arg2 : {{.*}}, %arg3 : f32)
// CHECK-LABEL: gpu.func @static_kernel(
// CHECK-SAME:    %[[SCALE:[a-z0-9]*]]: f32) kernel attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 5, 1, 1>
// CHECK:         %[[AT:.*]] = cute.make_coord(%{{.*}}) : (i32) -> !cute.coord<"(?,0)">
// CHECK:         cute.block.map ins(%arg0 : {{.*}}) outs(%arg1, %arg2 : {{.*}}) at(%[[AT]] : !cute.coord<"(?,0)">) threads [1, 64] values [4, 8] {
// CHECK-NEXT:    ^bb0(%[[X:.*]]: f16):
// CHECK:           arith.constant 2.0
// CHECK:           arith.mulf %{{.*}}, %[[SCALE]]
// CHECK:           cute.all_reduce "add" %{{.*}} along [1] : f32
// CHECK:           cute.yield
// CHECK:         } {held}
!x = !cute.memref<f16, gmem, align<16>, "(5,2000):(2000,1)">
!y = !cute.memref<f32, gmem, align<16>, "(5,2000):(2000,1)">
!s = !cute.memref<f32, gmem, align<16>, "(5,2000):(1,0)">
func.func @static(%X: !x, %Y: !y, %S: !s, %scale: f32) {
  %two = arith.constant 2.0 : f32
  cute.map ins(%X : !x) outs(%Y, %S : !y, !s) {
  ^bb0(%x: f16):
    %wide = arith.extf %x : f16 to f32
    %scaled = arith.mulf %wide, %scale : f32
    %twice = arith.mulf %scaled, %two : f32
    %sum = cute.all_reduce "add" %twice along [1] : f32
    %y = arith.subf %twice, %sum : f32
    cute.yield %y, %sum : f32, f32
  }
  return
}

// -----

// Of rows whose length only a launch knows there are kernels of several lengths, of wide accesses and of any; a launch checks shapes.
// CHECK-LABEL: func.func @dynamic(
// CHECK:         cf.assert %{{.*}}, "expected mode 0 of output 0 to have the extent of mode 0 of input 0"
// CHECK:         cf.assert %{{.*}}, "expected mode 1 of output 0 to have the extent of mode 1 of input 0"
// CHECK:         cf.assert %{{.*}}, "expected at least one element along modes [1], which are reduced"
// CHECK:         cf.assert %{{.*}}, "expected elements of output 0 that do not overlap: a stride of mode 0 that is at least the extent of mode 1"
// CHECK:         arith.constant 8 : index
// CHECK:         arith.remsi
// CHECK:         %[[SHORT:.*]] = arith.constant 1024 : index
// CHECK:         arith.cmpi sle, %{{.*}}, %[[SHORT]]
// CHECK:         %[[FIRST:.*]] = arith.andi
// CHECK:         %[[LONG:.*]] = arith.constant 4096 : index
// CHECK:         arith.cmpi sle, %{{.*}}, %[[LONG]]
// CHECK:         %[[SECOND:.*]] = arith.andi
// CHECK:         scf.if %[[FIRST]] {
// CHECK:           gpu.launch_func @dynamic_kernels::@dynamic_kernel_0
// CHECK:         } else {
// CHECK:           scf.if %[[SECOND]] {
// CHECK:             gpu.launch_func @dynamic_kernels::@dynamic_kernel_1
// CHECK:           } else {
// CHECK:             gpu.launch_func @dynamic_kernels::@dynamic_kernel_2
// CHECK-LABEL: gpu.func @dynamic_kernel_0(
// CHECK:         %[[X:.*]] = cute.make_view({{.*}}) : !cute.memref<f16, gmem, align<16>, "(?,?{div=8}):(?{div=8},1)">
// CHECK:         cute.block.map ins(%[[X]] : {{.*}} threads [4, 32] values [8, 4] {
// CHECK:         } {held}
// CHECK-LABEL: gpu.func @dynamic_kernel_1(
// CHECK:         cute.block.map {{.*}} threads [1, 128] values [8, 4] {
// CHECK:         } {held}
// CHECK-LABEL: gpu.func @dynamic_kernel_2(
// CHECK-NOT:     div=8
// CHECK:         cute.block.map ins(%arg0 : {{.*}} threads [1, 512] values [1, 16] {
// CHECK-NOT:     held
// CHECK:         gpu.return
// CHECK-NOT:   gpu.func
// ONE-LABEL:   func.func @dynamic(
// ONE-NOT:       scf.if
// ONE:           gpu.launch_func @dynamic_kernels::@dynamic_kernel
// ONE-NOT:       gpu.launch_func
// ONE:         gpu.func @dynamic_kernel(
// ONE-NOT:     gpu.func @dynamic
// ONE-LABEL:   func.func @columns(
!x = !cute.memref<f16, gmem, align<16>, "(?,?):(?,1)">
func.func @dynamic(%X: !x, %Y: !x) {
  cute.map ins(%X : !x) outs(%Y : !x) {
  ^bb0(%x: f16):
    %most = cute.all_reduce "maximum" %x along [1] : f16
    %y = arith.subf %x, %most : f16
    cute.yield %y : f16
  }
  return
}

// -----

// What is reduced along are the columns: mode 0 here, and neighbouring threads take neighbouring rows where these lie side by side.
// CHECK-LABEL: gpu.func @columns_kernel(
// CHECK-SAME:    known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 3, 1, 1>
// CHECK:         %[[X:.*]] = cute.make_view({{.*}}) : !cute.memref<f32, gmem, align<16>, "(70,100):(1,70)">
// CHECK:         %[[S:.*]] = cute.make_view({{.*}}) : !cute.memref<f32, gmem, align<16>, "(70,100):(1,0)">
// CHECK:         cute.block.map ins(%[[X]] : {{.*}}) outs(%[[S]] : {{.*}}) at(%{{.*}} : !cute.coord<"(?{div=32},0)">) threads [32, 8] values [1, 13] {
// CHECK:           cute.all_reduce "add" %{{.*}} along [1] : f32
// CHECK:         } {by_rows, held}
!x = !cute.memref<f32, gmem, align<16>, "(100,70):(70,1)">
!s = !cute.memref<f32, gmem, align<16>, "(100,70):(0,1)">
func.func @columns(%X: !x, %S: !s) {
  cute.map ins(%X : !x) outs(%S : !s) {
  ^bb0(%x: f32):
    %sum = cute.all_reduce "add" %x along [0] : f32
    cute.yield %sum : f32
  }
  return
}

// -----

// Rows that are too long for the registers of a block are read again.
// CHECK-LABEL: gpu.func @long_kernel(
// CHECK:         cute.block.map {{.*}} threads [1, 512] values [4, 4] {
// CHECK-NOT:     held
// CHECK:         gpu.return
!x = !cute.memref<f32, gmem, align<16>, "(3,70000):(70000,1)">
func.func @long(%X: !x, %Y: !x) {
  cute.map ins(%X : !x) outs(%Y : !x) {
  ^bb0(%x: f32):
    %mean = cute.all_reduce "mean" %x along [1] : f32
    %y = arith.subf %x, %mean : f32
    cute.yield %y : f32
  }
  return
}

// -----

// Where nothing is reduced, a block takes a part of a row, of which a launch tells how many there are.
// CHECK-LABEL: func.func @cast(
// CHECK:         %[[PARTS:.*]] = arith.index_cast %{{.*}} : index to i32
// CHECK:         gpu.launch_func @cast_kernels::@cast_kernel_0 {{.*}} args(%arg0 : {{.*}}, %arg1 : {{.*}}, %[[PARTS]] : i32)
// CHECK-LABEL: gpu.func @cast_kernel_0(
// CHECK-SAME:    %[[COUNT:[a-z0-9]*]]: i32) kernel
// CHECK:         %[[PART:.*]] = arith.remui %{{.*}}, %[[COUNT]]
// CHECK:         arith.divui %{{.*}}, %[[COUNT]]
// CHECK:         arith.muli %[[PART]]
// CHECK:         cute.block.map {{.*}} at(%{{.*}} : !cute.coord<"(?,?{div=4096})">) threads [1, 256] values [4, 4] {
// CHECK-LABEL: gpu.func @cast_kernel_1(
// CHECK:         cute.block.map {{.*}} threads [1, 256] values [1, 16] {
!x = !cute.memref<f32, gmem, align<16>, "(?,?):(?,1)">
!y = !cute.memref<f16, gmem, align<16>, "(?,?):(?,1)">
func.func @cast(%X: !x, %Y: !y) {
  cute.map ins(%X : !x) outs(%Y : !y) {
  ^bb0(%x: f32):
    %h = arith.truncf %x : f32 to f16
    cute.yield %h : f16
  }
  return
}

// -----

// Rows that begin anywhere have vectors from the first aligned element on: with one tensor always, with two where a launch finds that their rows begin alike.
// CHECK-LABEL: func.func @one(
// CHECK-NOT:     scf.if
// CHECK:         gpu.launch_func @one_kernels::@one_kernel
// CHECK-LABEL: gpu.func @one_kernel(
// CHECK:         cute.block.map {{.*}} threads [1, 64] values [8, 4] {
// CHECK:         } {aligned_by = 0 : i64, held}
// CHECK-NOT:   gpu.func
!x = !cute.memref<f16, gmem, align<16>, "(300,2001):(2001,1)">
!s = !cute.memref<f16, gmem, align<16>, "(300,2001):(1,0)">
func.func @one(%X: !x, %S: !s) {
  cute.map ins(%X : !x) outs(%S : !s) {
  ^bb0(%x: f16):
    %most = cute.all_reduce "maximum" %x along [1] : f16
    cute.yield %most : f16
  }
  return
}

// -----

// Where two strides are known and differ from each other by no multiple of a vector, elements are moved one by one.
// CHECK-LABEL: gpu.func @apart_kernel(
// CHECK:         cute.block.map {{.*}} values [1, {{[0-9]+}}] {
// CHECK-NOT:     aligned_by
// CHECK:         gpu.return
!x = !cute.memref<f16, gmem, align<16>, "(300,2001):(2001,1)">
!y = !cute.memref<f16, gmem, align<16>, "(300,2001):(2002,1)">
func.func @apart(%X: !x, %Y: !y) {
  cute.map ins(%X : !x) outs(%Y : !y) {
  ^bb0(%x: f16):
    %most = cute.all_reduce "maximum" %x along [1] : f16
    %y = arith.subf %x, %most : f16
    cute.yield %y : f16
  }
  return
}

// -----

// A kernel for rows of whole vectors, one for rows that begin alike, one for any.
// CHECK-LABEL: func.func @alike(
// CHECK:         cf.assert %{{.*}}, "expected elements of output 0 that do not overlap
// CHECK:         arith.cmpi eq, %{{[0-9]+}}, %{{[0-9]+}} : index
// CHECK-NEXT:    scf.if
// CHECK-LABEL: gpu.func @alike_kernel_0(
// CHECK-NOT:     aligned_by
// CHECK-LABEL: gpu.func @alike_kernel_1(
// CHECK:         cute.block.map {{.*}} values [8, {{[0-9]+}}] {
// CHECK:         } {aligned_by = 0 : i64}
// CHECK-LABEL: gpu.func @alike_kernel_2(
// CHECK:         cute.block.map {{.*}} values [1, {{[0-9]+}}] {
// CHECK-NOT:     aligned_by
// CHECK:         gpu.return
!x = !cute.memref<f16, gmem, align<16>, "(?,?):(?,1)">
func.func @alike(%X: !x, %Y: !x) {
  cute.map ins(%X : !x) outs(%Y : !x) {
  ^bb0(%x: f16):
    %y = arith.negf %x : f16
    cute.yield %y : f16
  }
  return
}

// -----

// Where something is the same for all rows, blocks of rows that begin anywhere stay: no more of them than multiprocessors have room for, in multiples of a vector, so that
// all rows of a thread are as far from being aligned.
// CHECK-LABEL: func.func @stays(
// CHECK:         %[[SMS:.*]] = cute.sm_count
// CHECK:         %[[ROOM:.*]] = arith.muli %[[SMS]], %{{.*}} : index
// CHECK:         %[[WHOLE:.*]] = arith.divsi %[[ROOM]], %[[VECTOR:.*]] : index
// CHECK:         %[[MOST:.*]] = arith.maxsi %[[WHOLE]], %{{.*}} : index
// CHECK:         %[[NEEDED:.*]] = arith.ceildivsi %{{.*}}, %[[VECTOR]] : index
// CHECK:         %[[ALL:.*]] = arith.minsi %[[NEEDED]], %[[MOST]] : index
// CHECK:         arith.muli %[[ALL]], %[[VECTOR]] : index
// CHECK-LABEL: gpu.func @stays_kernel(
// CHECK-SAME:    cute.stays
// CHECK-SAME:    nvvm.minctasm
// CHECK-NOT:     known_grid_size
// CHECK:         } {aligned_by = 0 : i64, held, stays}
!x = !cute.memref<f16, gmem, align<16>, "(?,2001):(2001,1)">
!w = !cute.memref<f16, gmem, align<16>, "(?,2001):(0,1)">
func.func @stays(%X: !x, %W: !w, %Y: !x) {
  cute.map ins(%X, %W : !x, !w) outs(%Y : !x) {
  ^bb0(%x: f16, %w: f16):
    %most = cute.all_reduce "maximum" %x along [1] : f16
    %less = arith.subf %x, %most : f16
    %y = arith.mulf %less, %w : f16
    cute.yield %y : f16
  }
  return
}

// -----

// Of fewer rows than there is room for each block has one, and numbers of a row would be waited for in each.
// CHECK-LABEL: gpu.func @few_kernel(
// CHECK:         } {aligned_by = 0 : i64, held}
!x = !cute.memref<f16, gmem, align<16>, "(300,2001):(2001,1)">
!w = !cute.memref<f16, gmem, align<16>, "(300,2001):(0,1)">
func.func @few(%X: !x, %W: !w, %Y: !x) {
  cute.map ins(%X, %W : !x, !w) outs(%Y : !x) {
  ^bb0(%x: f16, %w: f16):
    %most = cute.all_reduce "maximum" %x along [1] : f16
    %less = arith.subf %x, %most : f16
    %y = arith.mulf %less, %w : f16
    cute.yield %y : f16
  }
  return
}

// -----

// CHECK-LABEL: gpu.func @numbers_kernel(
// CHECK:         } {aligned_by = 0 : i64, held}
!x = !cute.memref<f16, gmem, align<16>, "(3000,2001):(2001,1)">
!w = !cute.memref<f16, gmem, align<16>, "(3000,2001):(0,1)">
!s = !cute.memref<f16, gmem, align<16>, "(3000,2001):(1,0)">
func.func @numbers(%X: !x, %W: !w, %S: !s, %Y: !x) {
  cute.map ins(%X, %W, %S : !x, !w, !s) outs(%Y : !x) {
  ^bb0(%x: f16, %w: f16, %s: f16):
    %most = cute.all_reduce "maximum" %x along [1] : f16
    %less = arith.subf %x, %most : f16
    %scaled = arith.mulf %less, %s : f16
    %y = arith.mulf %scaled, %w : f16
    cute.yield %y : f16
  }
  return
}
