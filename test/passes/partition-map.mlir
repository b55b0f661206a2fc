// What a block computes of a map: each thread holds vectors of a row in registers, and reductions are over its own and then over the
// threads of the row.
//
// RUN: cute-opt %s --cute-tile="arch=sm_80 variants=1" --cute-partition --split-input-file | FileCheck %s
// RUN: cute-opt %s --cute-tile="arch=sm_80 variants=1" --cute-partition --split-input-file | cute-opt --split-input-file | FileCheck %s

// Two warps for a row: vectors that are not there count as nothing, and the first thread of a row writes what is written once.
// CHECK-LABEL: gpu.func @held_kernel(
// CHECK-NOT:     cute.block
// CHECK:         %[[THREADS:.*]] = arith.constant 64 : i32
// CHECK:         %[[LANE:.*]] = arith.remui %{{.*}}, %[[THREADS]] : i32
// CHECK-NOT:     arith.minsi
// CHECK:         %[[THERE:.*]] = cute.memref.alloca() : !cute.memref<i1, rmem, "8:1">
// CHECK:         %[[X:.*]] = cute.memref.alloca() : !cute.memref<f16, rmem, align<16>, "(4,8):(1,4)">
// CHECK:         cute.clear(%[[X]])
// CHECK-COUNT-8: cute.copy(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : (!cute_nvgpu.atom.universal_copy<f16, 64 b>, !cute.memref<f16, gmem
// CHECK:         %[[ZERO:.*]] = arith.constant 0.0{{.*}} : f32
// CHECK:         cute.transform(%[[X]], %{{.*}}, %[[WIDE:.*]]) : (!cute.memref<f16, rmem, align<16>, "(4,8):(1,4)">, !cute.memref<i1, rmem, "(4,8):(0,1)">,
// CHECK:           %[[VALUE:.*]] = arith.extf
// CHECK:           arith.select %{{.*}}, %[[VALUE]], %[[ZERO]] : f32
// CHECK:         %[[ALL:.*]] = cute.memref.load_vec %[[WIDE]]
// CHECK:         %[[PART:.*]] = vector.reduction <add>, %[[ALL]] : vector<32xf32> into f32
// CHECK:         %[[SUM:.*]] = gpu.all_reduce add %[[PART]]
// CHECK:         cute.transform(%[[X]], %[[Y:.*]]) :
// CHECK:           arith.subf %{{.*}}, %[[SUM]] : f32
// CHECK-COUNT-8: cute.copy(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : (!cute_nvgpu.atom.universal_copy<f32, 128 b>, !cute.memref<f32, rmem
// CHECK:         %[[FIRST:.*]] = arith.cmpi eq, %[[LANE]]
// CHECK:         scf.if %[[FIRST]] {
// CHECK:           cute.memref.store(%arg2, %{{.*}}, %[[SUM]])
!x = !cute.memref<f16, gmem, align<16>, "(5,2000):(2000,1)">
!y = !cute.memref<f32, gmem, align<16>, "(5,2000):(2000,1)">
!s = !cute.memref<f32, gmem, align<16>, "(5,2000):(1,0)">
func.func @held(%X: !x, %Y: !y, %S: !s) {
  cute.map ins(%X : !x) outs(%Y, %S : !y, !s) {
  ^bb0(%x: f16):
    %wide = arith.extf %x : f16 to f32
    %sum = cute.all_reduce "add" %wide along [1] : f32
    %y = arith.subf %wide, %sum : f32
    cute.yield %y, %sum : f32, f32
  }
  return
}

// -----

// Four threads for a row: reductions are within the warp. What takes long is computed once for all that use it, and a row beyond the
// end is neither read nor written.
// CHECK-LABEL: gpu.func @softmax_kernel(
// CHECK:         %[[IS:.*]] = arith.cmpi slt, %[[ROW:.*]], %{{.*}} : i32
// CHECK-COUNT-7: arith.andi %{{.*}}, %[[IS]] : i1
// CHECK:         cute.transform
// CHECK:         %[[MOST:.*]] = vector.reduction <maximumf>
// CHECK:         gpu.subgroup_reduce maximumf %[[MOST]] cluster(size = 4)
// CHECK:         math.exp
// CHECK:         %[[PART:.*]] = vector.reduction <add>
// CHECK:         %[[SUM:.*]] = gpu.subgroup_reduce add %[[PART]] cluster(size = 4)
// CHECK-NOT:     math.exp
// CHECK:         arith.divf %{{.*}}, %[[SUM]] : f32
!x = !cute.memref<f32, gmem, align<16>, "(60,100):(100,1)">
func.func @softmax(%X: !x, %Y: !x) {
  cute.map ins(%X : !x) outs(%Y : !x) {
  ^bb0(%x: f32):
    %most = cute.all_reduce "maximum" %x along [1] : f32
    %less = arith.subf %x, %most : f32
    %power = math.exp %less : f32
    %sum = cute.all_reduce "add" %power along [1] : f32
    %y = arith.divf %power, %sum : f32
    cute.yield %y : f32
  }
  return
}

// -----

// Rows that no block holds are read in a loop for each reduction that depends on others, and once more to compute what is stored; of
// open rows, the number of columns is that of the tensor.
// CHECK-LABEL: gpu.func @open_kernel(
// CHECK:         %[[SIZE:.*]] = cute.size<[1]> (%arg0)
// CHECK:         %[[NONE:.*]] = arith.constant 0.0{{.*}} : f32
// CHECK:         %[[PART:.*]] = scf.for {{.*}} iter_args(%[[SUM:.*]] = %[[NONE]]) -> (f32)
// CHECK:           %[[OWN:.*]] = vector.reduction <add>
// CHECK:           %[[NEXT:.*]] = arith.addf %[[SUM]], %[[OWN]] : f32
// CHECK:           scf.yield %[[NEXT]] : f32
// CHECK:         %[[ALL:.*]] = gpu.all_reduce add %[[PART]]
// CHECK:         %[[COUNT:.*]] = arith.sitofp %{{.*}} : i32 to f32
// CHECK:         %[[MEAN:.*]] = arith.divf %[[ALL]], %[[COUNT]] : f32
// CHECK:         scf.for
// CHECK-NOT:       iter_args
// CHECK:           arith.subf %{{.*}}, %[[MEAN]] : f32
// CHECK:           !cute_nvgpu.atom.universal_copy<f32, 32 b>, !cute.memref<f32, rmem
!x = !cute.memref<f32, gmem, align<16>, "(?,?):(?,1)">
func.func @open(%X: !x, %Y: !x) {
  cute.map ins(%X : !x) outs(%Y : !x) {
  ^bb0(%x: f32):
    %mean = cute.all_reduce "mean" %x along [1] : f32
    %y = arith.subf %x, %mean : f32
    cute.yield %y : f32
  }
  return
}

// -----

// Where a warp has neighbouring rows, the threads of a row meet in shared memory.
// CHECK-LABEL: gpu.func @columns_kernel(
// CHECK:         %[[OWN:.*]] = vector.reduction <minsi>, %{{.*}} : vector<13xi32> into i32
// CHECK:         %[[SHARED:.*]] = cute.memref.alloca() : !cute.memref<i32, smem, "(32,8):(1,32)">
// CHECK:         cute.memref.store(%[[SHARED]], %{{.*}}, %[[OWN]])
// CHECK-NEXT:    gpu.barrier
// CHECK:         %[[ONE:.*]] = cute.memref.load(%[[SHARED]], %{{.*}}) : {{.*}} !cute.coord<"(?,0)">) -> i32
// CHECK:         %[[TWO:.*]] = cute.memref.load(%[[SHARED]], %{{.*}}) : {{.*}} !cute.coord<"(?,1)">) -> i32
// CHECK-NEXT:    arith.minsi %[[ONE]], %[[TWO]] : i32
// CHECK:         %[[LAST:.*]] = cute.memref.load(%[[SHARED]], %{{.*}}) : {{.*}} !cute.coord<"(?,7)">) -> i32
// CHECK-NEXT:    %[[LEAST:.*]] = arith.minsi %{{.*}}, %[[LAST]] : i32
// CHECK:         scf.if
// CHECK:           cute.memref.store(%{{.*}}, %{{.*}}, %[[LEAST]])
!x = !cute.memref<i32, gmem, align<16>, "(100,70):(70,1)">
!s = !cute.memref<i32, gmem, align<16>, "(100,70):(0,1)">
func.func @columns(%X: !x, %S: !s) {
  cute.map ins(%X : !x) outs(%S : !s) {
  ^bb0(%x: i32):
    %least = cute.all_reduce "minimum" %x along [0] : i32
    cute.yield %least : i32
  }
  return
}

// -----

// Without reductions a block takes a part of some rows, and what is the same along a row is loaded once.
// CHECK-LABEL: gpu.func @scaled_kernel(
// CHECK:         %[[SCALE:.*]] = cute.memref.load(%arg1, %{{.*}}) : {{.*}} -> f32
// CHECK-NOT:     gpu.barrier
// CHECK:         arith.mulf %{{.*}}, %[[SCALE]] : f32
// CHECK:         gpu.return
!x = !cute.memref<f32, gmem, align<16>, "(64,4096):(4096,1)">
!s = !cute.memref<f32, gmem, align<16>, "(64,4096):(1,0)">
func.func @scaled(%X: !x, %S: !s, %Y: !x) {
  cute.map ins(%X, %S : !x, !s) outs(%Y : !x) {
  ^bb0(%x: f32, %s: f32):
    %y = arith.mulf %x, %s : f32
    cute.yield %y : f32
  }
  return
}

// -----

// Rows that begin anywhere: vectors begin behind as many elements as align the row, and each thread has one element beside them, of those before and behind.
// What is the same in each row is read in two vectors, which are shifted; it is read behind the reduction, a vector at a time.
// CHECK-LABEL: gpu.func @anywhere_kernel(
// CHECK:         %[[OFFSET:.*]] = cute.get_scalars (%{{.*}}) : !cute.int_tuple
// CHECK:         %[[BEFORE:.*]] = arith.subi %{{.*}}, %[[OFFSET]] : i32
// CHECK:         %[[HEAD:.*]] = arith.andi %[[BEFORE]], %{{.*}} : i32
// CHECK:         %[[FIRST:.*]] = arith.addi %{{.*}}, %[[HEAD]] : i32
// CHECK:         cute.assume(%[[FIRST]]) : (i32) -> !cute.i32<divby 8>
// CHECK-COUNT-4: cute.copy(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : (!cute_nvgpu.atom.universal_copy<f16, 128 b>, !cute.memref<f16, gmem, align<16>, "8:1">
// CHECK:         cute.copy(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : (!cute_nvgpu.atom.universal_copy<f16, 16 b>, !cute.memref<f16, gmem
// CHECK:         gpu.all_reduce
// CHECK-COUNT-2: cute.copy(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : (!cute_nvgpu.atom.universal_copy<f16, 128 b>, !cute.memref<f16, gmem
// CHECK:         vector.bitcast %{{.*}} : vector<16xf16> to vector<8xi32>
// CHECK:         cute.copy(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : (!cute_nvgpu.atom.universal_copy<f16, 128 b>, !cute.memref<f16, rmem
!x = !cute.memref<f16, gmem, align<16>, "(300,2001):(2001,1)">
!w = !cute.memref<f16, gmem, align<16>, "(300,2001):(0,1)">
func.func @anywhere(%X: !x, %W: !w, %Y: !x) {
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

// Blocks that stay: what is the same for all rows is shifted once and kept in shared memory, by vectors and by the element beside them. The rows of a thread are as far
// apart as all blocks reach; the elements of the next one are asked for before this one is computed, if there is a next one.
// CHECK-LABEL: gpu.func @stays_kernel(
// CHECK-SAME:    cute.stays, {{.*}}nvvm.minctasm = {{[0-9]+}} : i32
// CHECK:         %[[BLOCKS:.*]] = gpu.grid_dim x
// CHECK:         %[[WORD:.*]] = arith.index_cast %[[BLOCKS]] : index to i32
// CHECK:         %[[EACH:.*]] = arith.muli %[[WORD]], %{{.*}} : i32
// CHECK:         %[[TURNS:.*]] = arith.ceildivui %{{.*}}, %[[EACH]] : i32
// CHECK:         cute.memref.alloca() : !cute.memref<f16, smem, align<16>, "(8,4,64):(1,512,8)">
// CHECK:         vector.bitcast %{{.*}} : vector<16xf16> to vector<8xi32>
// CHECK:         cute.autovec_copy(%{{.*}}, %{{.*}}) : (!cute.memref<f16, rmem, align<16>, "(8):(1)">, !cute.memref<f16, smem
// CHECK:         %[[NEXT:.*]] = cute.memref.alloca() : !cute.memref<f16, rmem, align<16>, "(8,4):(1,8)">
// CHECK:         cute.memref.alloca() : !cute.memref<f16, smem, align<16>, "(1,1,64):(1,64,1)">
// CHECK:         scf.for %[[TURN:.*]] = %{{.*}} to %[[TURNS]]
// CHECK-NOT:       vector.bitcast
// CHECK:           %[[BEHIND:.*]] = arith.addi %[[TURN]], %{{.*}} : i32
// CHECK:           arith.cmpi slt, %[[BEHIND]], %[[TURNS]] : i32
// CHECK:           %[[OWN:.*]] = cute.memref.alloca() : !cute.memref<f16, rmem, align<16>, "(8,4):(1,8)">
// CHECK:           cute.autovec_copy(%[[NEXT]], %[[OWN]])
// CHECK:           cute.clear(%[[NEXT]])
// CHECK:           cute.copy(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : (!cute_nvgpu.atom.universal_copy<f16, 128 b>, !cute.memref<f16, gmem
// CHECK:           cute.transform(%[[OWN]]
// CHECK:           gpu.all_reduce
// CHECK:           cute.autovec_copy(%{{.*}}, %{{.*}}) : (!cute.memref<f16, smem, align<16>, "(8):(1)">, !cute.memref<f16, rmem
// CHECK:           cute.copy(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : (!cute_nvgpu.atom.universal_copy<f16, 128 b>, !cute.memref<f16, rmem
!x = !cute.memref<f16, gmem, align<16>, "(3000,2001):(2001,1)">
!w = !cute.memref<f16, gmem, align<16>, "(3000,2001):(0,1)">
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

// Offsets of rows that take 64 bits: what is before the first vector has 32.
// CHECK-LABEL: gpu.func @far_kernel(
// CHECK:         arith.trunci %{{.*}} : i64 to i32
// CHECK:         %[[HEAD:.*]] = arith.andi %{{.*}} : i32
// CHECK:         %[[LONG:.*]] = arith.extsi %[[HEAD]] : i32 to i64
// CHECK:         %[[FIRST:.*]] = arith.addi %{{.*}}, %[[LONG]] : i64
// CHECK:         cute.assume(%[[FIRST]]) : (i64) -> !cute.i64<divby 8>
!far = !cute.memref<f16, gmem, align<16>, "(300,2001):(2147483655,1)">
!s = !cute.memref<f16, gmem, align<16>, "(300,2001):(1,0)">
func.func @far(%X: !far, %S: !s) {
  cute.map ins(%X : !far) outs(%S : !s) {
  ^bb0(%x: f16):
    %most = cute.all_reduce "maximum" %x along [1] : f16
    cute.yield %most : f16
  }
  return
}
