// What maps say is computed: on the emulator, compared with their regions in f64.
//
// RUN: cute-opt %s --cute-compile="arch=sm_80 package=%t.80.cutepkg" -o /dev/null
// RUN: cute-opt %s --cute-compile="arch=sm_90a package=%t.90.cutepkg" -o /dev/null
//
// Every output of every function, by the packages of both architectures:
//
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function softmax | FileCheck %s --check-prefix=SOFTMAX
// SOFTMAX-COUNT-2: D0 (5,1000), map: right; every element compared
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function rank3_first
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function rank3_last | FileCheck %s --check-prefix=RANK3
// RANK3: D0 (20,12,40), map: right
// RANK3: D1 (20,12,40), map: right
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function column_sums
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function long
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function thin
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function in_place
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function one_column --shape E0=300x1 --shape D0=300x1
//
// Rows of a few, of 1000 to 5000 by each of the kernels for such, and of more than any holds; of whole vectors, of pairs, and of others:
//
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function layer_norm --shape E0=4x1 --shape E1=4x1 --shape E2=4x1 --shape D0=4x1
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function layer_norm --shape E0=17x33 --shape E1=17x33 --shape E2=17x33 --shape D0=17x33
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function layer_norm --shape E0=3x1000 --shape E1=3x1000 --shape E2=3x1000 --shape D0=3x1000
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function layer_norm --shape E0=2x1001 --shape E1=2x1001 --shape E2=2x1001 --shape D0=2x1001
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function layer_norm --shape E0=2x1002 --shape E1=2x1002 --shape E2=2x1002 --shape D0=2x1002
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function layer_norm --shape E0=2x2500 --shape E1=2x2500 --shape E2=2x2500 --shape D0=2x2500
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function layer_norm --shape E0=2x3002 --shape E1=2x3002 --shape E2=2x3002 --shape D0=2x3002
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function layer_norm --shape E0=2x4998 --shape E1=2x4998 --shape E2=2x4998 --shape D0=2x4998
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function layer_norm --shape E0=1x4096 --shape E1=1x4096 --shape E2=1x4096 --shape D0=1x4096
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function layer_norm --shape E0=1x5000 --shape E1=1x5000 --shape E2=1x5000 --shape D0=1x5000
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function layer_norm --shape E0=1x5001 --shape E1=1x5001 --shape E2=1x5001 --shape D0=1x5001
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function layer_norm --shape E0=1x9000 --shape E1=1x9000 --shape E2=1x9000 --shape D0=1x9000
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function rms_norm --shape E0=7x1000 --shape E1=7x1000 --shape D0=7x1000 --shape D1=7x1000
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function rms_norm --shape E0=2x4099 --shape E1=2x4099 --shape D0=2x4099 --shape D1=2x4099
//
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function transpose --shape E0=33x65 --shape D0=33x65
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function cast --shape E0=33x65 --shape D0=33x65 --shape D1=33x65
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function transpose --shape E0=100x7 --shape D0=100x7
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function cast --shape E0=100x7 --shape D0=100x7 --shape D1=100x7
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function full_sum --shape E0=1 --shape D0=1
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function full_sum --shape E0=5000 --shape D0=5000
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function full_sum --shape E0=33000 --shape D0=33000
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function byte_sums --shape E0=20x1008 --shape D0=20x1008
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function byte_maximum --shape E0=20x1008 --shape D0=20x1008
//
// Of nothing, nothing is computed; of no elements there is no sum.
//
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function layer_norm --shape E0=0x50 --shape E1=0x50 --shape E2=0x50 --shape D0=0x50
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function cast --shape E0=5x0 --shape D0=5x0 --shape D1=5x0
// RUN: %python %inputs/status.py 2 cute-run %t.80.cutepkg --device=emulator --function full_sum --shape E0=0 --shape D0=0 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: expected at least one element along modes [0], which are reduced
// RUN: %python %inputs/status.py 2 cute-run %t.80.cutepkg --device=emulator --function cast --shape E0=5x7 --shape D0=5x7 --shape D1=5x8 2>&1 | FileCheck %s --check-prefix=SHAPE
// SHAPE: error: {{.*}}(5,8)
//
// Several kernels are in a package where rows are open, and one where they are known.
//
// RUN: cute-run --info %t.80.cutepkg | FileCheck %s --check-prefix=INFO
// INFO-LABEL: function softmax
// INFO:         computes D0(i,j) = t0 / (sum over j of t0), t0 = exp(E0(i,j) - (max over j of E0(i,j)))
// INFO:         launch 0: softmax_kernel(
// INFO-NOT:     launch 1
// INFO-LABEL: function layer_norm
// INFO:         requires le(1, E0.shape[1]): expected at least one element along modes [1], which are reduced
// INFO:         launch 0: layer_norm_kernel_0(
// INFO-NEXT:      when and(v0, le(E0.shape[1], 1024))
// INFO:         launch 9: layer_norm_kernel_9(
// INFO-NEXT:      when and({{.*}}, le(E0.shape[1], 1024))
// INFO:         launch 18: layer_norm_kernel_18(
// INFO-NOT:     launch 19
// INFO-LABEL: function rms_norm

!x = !cute.memref<f32, gmem, align<16>, "(5,1000):(1000,1)">
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

// Rows that are known to the launch alone: several kernels, of which it takes one.
!open = !cute.memref<f16, gmem, align<16>, "(?,?):(?,1)">
!weight = !cute.memref<f16, gmem, align<16>, "(?,?):(0,1)">
func.func @layer_norm(%X: !open, %W: !weight, %B: !weight, %Y: !open, %epsilon: f32 {cute.default = 1.0e-5 : f32}) {
  cute.map ins(%X, %W, %B : !open, !weight, !weight) outs(%Y : !open) {
  ^bb0(%x: f16, %w: f16, %b: f16):
    %wide = arith.extf %x : f16 to f32
    %weight = arith.extf %w : f16 to f32
    %bias = arith.extf %b : f16 to f32
    %mean = cute.all_reduce "mean" %wide along [1] : f32
    %less = arith.subf %wide, %mean : f32
    %square = arith.mulf %less, %less : f32
    %variance = cute.all_reduce "mean" %square along [1] : f32
    %moved = arith.addf %variance, %epsilon : f32
    %scale = math.rsqrt %moved : f32
    %normed = arith.mulf %less, %scale : f32
    %scaled = math.fma %normed, %weight, %bias : f32
    %y = arith.truncf %scaled : f32 to f16
    cute.yield %y : f16
  }
  return
}

// What is the same along a row is written once.
!sums = !cute.memref<f32, gmem, align<16>, "(?,?):(1,0)">
func.func @rms_norm(%X: !open, %W: !weight, %Y: !open, %S: !sums, %epsilon: f32 {cute.default = 1.0e-5 : f32}) {
  cute.map ins(%X, %W : !open, !weight) outs(%Y, %S : !open, !sums) {
  ^bb0(%x: f16, %w: f16):
    %wide = arith.extf %x : f16 to f32
    %weight = arith.extf %w : f16 to f32
    %square = arith.mulf %wide, %wide : f32
    %sum = cute.all_reduce "add" %square along [1] : f32
    %mean = cute.all_reduce "mean" %square along [1] : f32
    %moved = arith.addf %mean, %epsilon : f32
    %scale = math.rsqrt %moved : f32
    %normed = arith.mulf %wide, %scale : f32
    %scaled = arith.mulf %normed, %weight : f32
    %y = arith.truncf %scaled : f32 to f16
    cute.yield %y, %sum : f16, f32
  }
  return
}

// Along the strided mode: neighbouring threads take neighbouring columns.
!tall = !cute.memref<bf16, gmem, align<16>, "(300,70):(70,1)">
!columns = !cute.memref<f32, gmem, align<16>, "(300,70):(0,1)">
func.func @column_sums(%X: !tall, %Y: !columns) {
  cute.map ins(%X : !tall) outs(%Y : !columns) {
  ^bb0(%x: bf16):
    %wide = arith.extf %x : bf16 to f32
    %sum = cute.all_reduce "add" %wide along [0] : f32
    cute.yield %sum : f32
  }
  return
}

!rows = !cute.memref<f32, gmem, align<4>, "(?,?):(?,1)">
!turned = !cute.memref<f32, gmem, align<4>, "(?,?):(1,?)">
func.func @transpose(%X: !rows, %Y: !turned) {
  cute.map ins(%X : !rows) outs(%Y : !turned) {
  ^bb0(%x: f32):
    cute.yield %x : f32
  }
  return
}

!single = !cute.memref<f32, gmem, align<16>, "(?,?):(?,1)">
!brain = !cute.memref<bf16, gmem, align<16>, "(?,?):(?,1)">
func.func @cast(%X: !single, %Y: !open, %Z: !brain) {
  cute.map ins(%X : !single) outs(%Y, %Z : !open, !brain) {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to f16
    %z = arith.truncf %x : f32 to bf16
    cute.yield %y, %z : f16, bf16
  }
  return
}

!line = !cute.memref<f32, gmem, align<16>, "(?):(1)">
!one = !cute.memref<f32, gmem, align<16>, "(?):(0)">
func.func @full_sum(%X: !line, %Y: !one) {
  cute.map ins(%X : !line) outs(%Y : !one) {
  ^bb0(%x: f32):
    %sum = cute.all_reduce "add" %x along [0] : f32
    cute.yield %sum : f32
  }
  return
}

!cube = !cute.memref<f32, gmem, align<16>, "(20,12,40):(480,40,1)">
!slices = !cute.memref<f32, gmem, align<16>, "(20,12,40):(0,40,1)">
func.func @rank3_first(%X: !cube, %Y: !slices) {
  cute.map ins(%X : !cube) outs(%Y : !slices) {
  ^bb0(%x: f32):
    %most = cute.all_reduce "maximum" %x along [0] : f32
    cute.yield %most : f32
  }
  return
}

!numbers = !cute.memref<f32, gmem, align<16>, "(20,12,40):(1,0,0)">
func.func @rank3_last(%X: !cube, %Y: !cube, %S: !numbers) {
  cute.map ins(%X : !cube) outs(%Y, %S : !cube, !numbers) {
  ^bb0(%x: f32):
    %least = cute.all_reduce "minimum" %x along [1, 2] : f32
    %y = arith.subf %x, %least : f32
    cute.yield %y, %least : f32, f32
  }
  return
}

// Rows that are too long to be held are read again.
!long = !cute.memref<f32, gmem, align<16>, "(2,33000):(33000,1)">
func.func @long(%X: !long, %Y: !long) {
  cute.map ins(%X : !long) outs(%Y : !long) {
  ^bb0(%x: f32):
    %mean = cute.all_reduce "mean" %x along [1] : f32
    %less = arith.subf %x, %mean : f32
    %square = arith.mulf %less, %less : f32
    %variance = cute.all_reduce "mean" %square along [1] : f32
    %root = math.sqrt %variance : f32
    %y = arith.divf %less, %root : f32
    cute.yield %y : f32
  }
  return
}

// Rows of one element.
!thin = !cute.memref<f32, gmem, align<16>, "(1000,1):(1,1)">
func.func @thin(%X: !thin, %Y: !thin) {
  cute.map ins(%X : !thin) outs(%Y : !thin) {
  ^bb0(%x: f32):
    %sum = cute.all_reduce "add" %x along [1] : f32
    %y = arith.addf %sum, %x : f32
    cute.yield %y : f32
  }
  return
}

!bytes = !cute.memref<i8, gmem, align<16>, "(?,?{div=16}):(?{div=16},1)">
!words = !cute.memref<i32, gmem, align<16>, "(?,?):(1,0)">
func.func @byte_sums(%X: !bytes, %Y: !words) {
  cute.map ins(%X : !bytes) outs(%Y : !words) {
  ^bb0(%x: i8):
    %wide = arith.extsi %x : i8 to i32
    %sum = cute.all_reduce "add" %wide along [1] : i32
    cute.yield %sum : i32
  }
  return
}

!most = !cute.memref<i8, gmem, align<16>, "(?,?):(1,0)">
func.func @byte_maximum(%X: !bytes, %Y: !most) {
  cute.map ins(%X : !bytes) outs(%Y : !most) {
  ^bb0(%x: i8):
    %most = cute.all_reduce "maximum" %x along [1] : i8
    cute.yield %most : i8
  }
  return
}

// A block's threads beyond the last row read nothing of it, as others write it.
!own = !cute.memref<f32, gmem, align<16>, "(50,200):(200,1)">
func.func @in_place(%X: !own) {
  cute.map ins(%X : !own) outs(%X : !own) {
  ^bb0(%x: f32):
    %mean = cute.all_reduce "mean" %x along [1] : f32
    %y = arith.subf %x, %mean : f32
    cute.yield %y : f32
  }
  return
}

// One column, as the output alone says.
!some = !cute.memref<i8, gmem, align<16>, "(?,?):(?,1)">
!lone = !cute.memref<i8, gmem, align<16>, "(?,1):(?,1)">
func.func @one_column(%X: !some, %Y: !lone) {
  cute.map ins(%X : !some) outs(%Y : !lone) {
  ^bb0(%x: i8):
    %y = arith.addi %x, %x : i8
    cute.yield %y : i8
  }
  return
}
