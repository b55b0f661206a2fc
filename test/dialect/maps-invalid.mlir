// What no map can be is refused where it stands.
//
// RUN: cute-opt %s --split-input-file --verify-diagnostics

!t = !cute.memref<f32, gmem, align<16>, "(64,32):(32,1)">
func.func @f(%X: !t, %Y: !t) {
  cute.map ins(%X : !t) outs(%Y : !t) {
  ^bb0(%x: f32):
    // expected-error @below {{expected the kind add, mean, maximum, minimum, found "mul"}}
    %r = cute.all_reduce "mul" %x along [1] : f32
    cute.yield %r : f32
  }
  return
}

// -----

!t = !cute.memref<f16, gmem, align<16>, "(64,32):(32,1)">
func.func @f(%X: !t, %Y: !t) {
  cute.map ins(%X : !t) outs(%Y : !t) {
  ^bb0(%x: f16):
    // expected-error @below {{expected numbers of f32, f64 or i32 to add; widen them before, by arith.extf or arith.extsi, found f16}}
    %r = cute.all_reduce "add" %x along [1] : f16
    cute.yield %r : f16
  }
  return
}

// -----

!t = !cute.memref<i64, gmem, align<16>, "(64,32):(32,1)">
func.func @f(%X: !t, %Y: !t) {
  cute.map ins(%X : !t) outs(%Y : !t) {
  ^bb0(%x: i64):
    // expected-error @below {{expected numbers of f32, f64 or i32 to add; widen them before, by arith.extf or arith.extsi, found i64}}
    %r = cute.all_reduce "add" %x along [1] : i64
    cute.yield %r : i64
  }
  return
}

// -----

!t = !cute.memref<i32, gmem, align<16>, "(64,32):(32,1)">
func.func @f(%X: !t, %Y: !t) {
  cute.map ins(%X : !t) outs(%Y : !t) {
  ^bb0(%x: i32):
    // expected-error @below {{expected numbers of f32 or f64 to take the mean of; widen them before, by arith.extf or arith.sitofp, found i32}}
    %r = cute.all_reduce "mean" %x along [1] : i32
    cute.yield %r : i32
  }
  return
}

// -----

!t = !cute.memref<i64, gmem, align<16>, "(64,32):(32,1)">
func.func @f(%X: !t, %Y: !t) {
  cute.map ins(%X : !t) outs(%Y : !t) {
  ^bb0(%x: i64):
    // expected-error @below {{expected numbers of 8 to 32 bits, or of f64, to compare, found i64}}
    %r = cute.all_reduce "maximum" %x along [1] : i64
    cute.yield %r : i64
  }
  return
}

// -----

!t = !cute.memref<f32, gmem, align<16>, "(64,32):(32,1)">
func.func @f(%X: !t, %Y: !t) {
  cute.map ins(%X : !t) outs(%Y : !t) {
  ^bb0(%x: f32):
    // expected-error @below {{expected the modes that are reduced, ascending, such as along [1], found []}}
    %r = cute.all_reduce "maximum" %x along [] : f32
    cute.yield %r : f32
  }
  return
}

// -----

!t = !cute.memref<f32, gmem, align<16>, "(64,32):(32,1)">
func.func @f(%X: !t, %Y: !t) {
  cute.map ins(%X : !t) outs(%Y : !t) {
  ^bb0(%x: f32):
    // expected-error @below {{expected the modes that are reduced, ascending, such as along [1], found [1, 0]}}
    %r = cute.all_reduce "maximum" %x along [1, 0] : f32
    cute.yield %r : f32
  }
  return
}

// -----

!t = !cute.memref<f32, gmem, align<16>, "(64,32):(32,1)">
func.func @f(%X: !t, %Y: !t) {
  cute.map ins(%X : !t) outs(%Y : !t) {
  ^bb0(%x: f32):
    // expected-error @below {{expected the modes that are reduced, ascending, such as along [1], found [-1]}}
    %r = cute.all_reduce "maximum" %x along [-1] : f32
    cute.yield %r : f32
  }
  return
}

// -----

func.func @nowhere(%x: f32) {
  // expected-error @below {{expected to be in the region of a cute.map; threads of a kernel reduce}}
  %sum = cute.all_reduce "add" %x along [0] : f32
  return
}

// -----

!t = !cute.memref<f32, gmem, align<16>, "(64,32):(32,1)">
func.func private @of_tensors(%X: !t, %x: f32) {
  // expected-error @below {{expected to be in the region of a cute.map; threads of a kernel reduce}}
  %sum = cute.all_reduce "add" %x along [0] : f32
  return
}

// -----

gpu.module @kernels {
  gpu.func @kernel(%x: f32) kernel {
    // expected-error @below {{expected to be in the region of a cute.map; threads of a kernel reduce by gpu.all_reduce or gpu.subgroup_reduce, a tensor of one thread by cute.reduce}}
    %sum = cute.all_reduce "add" %x along [1] : f32
    gpu.return
  }
}

// -----

!t = !cute.memref<f32, gmem, align<16>, "(64,32):(32,1)">
func.func @f(%X: !t, %Y: !t) {
  // expected-error @below {{expected reductions along the same modes, found [0] and [1]; write them as several maps, with a tensor between them}}
  cute.map ins(%X : !t) outs(%Y : !t) {
  ^bb0(%x: f32):
    %sum = cute.all_reduce "add" %x along [0] : f32
    %most = cute.all_reduce "maximum" %x along [1] : f32
    %y = arith.addf %sum, %most : f32
    cute.yield %y : f32
  }
  return
}

// -----

!t = !cute.memref<f32, gmem, align<16>, "(64,32):(32,1)">
func.func @f(%X: !t, %Y: !t) {
  // expected-error @below {{expected reductions along modes of tensors of rank 2, found [1, 2]}}
  cute.map ins(%X : !t) outs(%Y : !t) {
  ^bb0(%x: f32):
    %sum = cute.all_reduce "add" %x along [1, 2] : f32
    cute.yield %sum : f32
  }
  return
}

// -----

!t = !cute.memref<f32, gmem, align<16>, "(64,32):(32,1)">
!row = !cute.memref<f32, gmem, align<16>, "(64,32):(0,1)">
func.func @f(%X: !t, %Y: !row) {
  // expected-error @below {{expected output 0 to have elements of its own along mode 0, found (64,32):(0,1); only along what is reduced, an output is written once}}
  cute.map ins(%X : !t) outs(%Y : !row) {
  ^bb0(%x: f32):
    cute.yield %x : f32
  }
  return
}

// -----

!t = !cute.memref<f32, gmem, align<16>, "(64,32):(32,1)">
!s = !cute.memref<f32, gmem, align<16>, "(64,32):(1,0)">
func.func @f(%X: !t, %S: !s) {
  // expected-error @below {{reads output 0, which is written once along mode 1 while others may still read it; expected an output of its own}}
  cute.map ins(%X, %S : !t, !s) outs(%S : !s) {
  ^bb0(%x: f32, %s: f32):
    %sum = cute.all_reduce "add" %x along [1] : f32
    %next = arith.addf %s, %sum : f32
    cute.yield %next : f32
  }
  return
}

// -----

!t = !cute.memref<f32, gmem, align<16>, "(64,32):(32,1)">
!s = !cute.memref<f32, gmem, align<16>, "(64,32):(1,0)">
func.func @f(%X: !t, %Y: !t, %S: !s) {
  // expected-error @below {{yields values that differ along mode 1 to output 1, which has one there, as (64,32):(1,0) has the stride 0; expected the result of a cute.all_reduce along it, or what is computed of such}}
  cute.map ins(%X : !t) outs(%Y, %S : !t, !s) {
  ^bb0(%x: f32):
    %sum = cute.all_reduce "add" %x along [1] : f32
    %y = arith.subf %x, %sum : f32
    cute.yield %y, %y : f32, f32
  }
  return
}

// -----

!t = !cute.memref<f32, gmem, align<16>, "(64,32):(32,1)">
func.func @f(%X: !t, %Y: !t) {
  // expected-error @below {{writes one tensor as two outputs; expected tensors of their own}}
  cute.map ins(%X : !t) outs(%Y, %Y : !t, !t) {
  ^bb0(%x: f32):
    cute.yield %x, %x : f32, f32
  }
  return
}

// -----

!t = !cute.memref<f32, gmem, align<16>, "(64,32):(32,1)">
!s = !cute.memref<f32, smem, align<16>, "(64,32):(32,1)">
func.func @f(%X: !s, %Y: !t) {
  // expected-error @below {{expected input 0 in gmem, found smem}}
  cute.map ins(%X : !s) outs(%Y : !t) {
  ^bb0(%x: f32):
    cute.yield %x : f32
  }
  return
}

// -----

!t = !cute.memref<f32, gmem, align<16>, "(64,32):(32,1)">
!s = !cute.memref<f32, rmem, align<16>, "(64,32):(32,1)">
func.func @f(%X: !t, %Y: !s) {
  // expected-error @below {{expected output 0 in gmem, found rmem}}
  cute.map ins(%X : !t) outs(%Y : !s) {
  ^bb0(%x: f32):
    cute.yield %x : f32
  }
  return
}

// -----

!t = !cute.memref<f32, gmem, align<16>, "(64,32):(32,1)">
!o = !cute.memref<f32, gmem, align<16>, "(64,33):(33,1)">
func.func @f(%X: !o, %Y: !t) {
  // expected-error @below {{expected input 0 to have the shape of output 0, (64,32), found (64,33):(33,1); what is the same along a mode has the stride 0 there}}
  cute.map ins(%X : !o) outs(%Y : !t) {
  ^bb0(%x: f32):
    cute.yield %x : f32
  }
  return
}

// -----

!t = !cute.memref<f32, gmem, align<16>, "(64,32):(32,1)">
!o = !cute.memref<f32, gmem, align<16>, "(64):(1)">
func.func @f(%X: !t, %Y: !t, %Z: !o) {
  // expected-error @below {{expected output 1 to have the shape of output 0, (64,32), found (64):(1); what is the same along a mode has the stride 0 there}}
  cute.map ins(%X : !t) outs(%Y, %Z : !t, !o) {
  ^bb0(%x: f32):
    cute.yield %x, %x : f32, f32
  }
  return
}

// -----

!t = !cute.memref<f32, gmem, align<16>, "(64,32):(32,1)">
func.func @f(%X: !t, %Y: !t) {
  // expected-error @below {{expected a region of the arguments (f32), found (f16)}}
  cute.map ins(%X : !t) outs(%Y : !t) {
  ^bb0(%x: f16):
    %y = arith.extf %x : f16 to f32
    cute.yield %y : f32
  }
  return
}

// -----

!t = !cute.memref<f32, gmem, align<16>, "(64,32):(32,1)">
func.func @f(%X: !t, %Y: !t) {
  // expected-error @below {{expected a yielded value of type f32, found f16}}
  cute.map ins(%X : !t) outs(%Y : !t) {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to f16
    cute.yield %y : f16
  }
  return
}

// -----

!t = !cute.memref<f32, gmem, align<16>, "(64,32):(32,1)">
func.func @f(%X: !t, %Y: !t) {
  // expected-error @below {{expected a region that yields one value}}
  cute.map ins(%X : !t) outs(%Y : !t) {
  ^bb0(%x: f32):
    cute.yield %x, %x : f32, f32
  }
  return
}

// -----

!t = !cute.memref<f32, gmem, align<16>, "(64,32):(32,1)">
func.func @f(%X: !t, %Y: !t, %Z: !t) {
  // expected-error @below {{expected a region that yields (f32, f32), found (f32)}}
  cute.map ins(%X : !t) outs(%Y, %Z : !t, !t) {
  ^bb0(%x: f32):
    cute.yield %x : f32
  }
  return
}

// -----

!t = !cute.memref<f32, gmem, align<16>, "(64,32):(32,1)">
func.func @f(%X: !t, %Y: !t) {
  cute.map ins(%X : !t) outs(%Y : !t) {
  ^bb0(%x: f32):
    // expected-error @below {{expected an operation on numbers in a map, which a kernel and the host compute alike: constants, arithmetic, comparisons and conversions of arith, bits of integers, and functions such as math.exp; found 'math.powf'; x^y is math.exp2 of y * math.log2(x)}}
    %y = math.powf %x, %x : f32
    cute.yield %y : f32
  }
  return
}

// -----

!t = !cute.memref<f32, gmem, align<16>, "(64,32):(32,1)">
func.func @f(%X: !t, %Y: !t) {
  // expected-error @below {{expected a region of one block; write branches as arith.select or scf.if}}
  cute.map ins(%X : !t) outs(%Y : !t) {
  ^bb0(%x: f32):
    cf.br ^bb1
  ^bb1:
    cute.yield %x : f32
  }
  return
}

// -----

!x = !cute.memref<f32, gmem, align<16>, "(64):(1)">
gpu.module @kernels {
  gpu.func @kernel(%X: !x, %Y: !x, %at: !cute.coord<"(?,0)">) kernel {
    // expected-error @below {{expected tensors of rows and columns, found (64):(1)}}
    cute.block.map ins(%X : !x) outs(%Y : !x) at(%at : !cute.coord<"(?,0)">) threads [1, 128] values [4, 2] {
    ^bb0(%x: f32):
      %most = cute.all_reduce "maximum" %x along [1] : f32
      cute.yield %most : f32
    }
    gpu.return
  }
}

// -----

!x = !cute.memref<f32, gmem, align<16>, "(64,1000):(1000,1)">
gpu.module @kernels {
  gpu.func @kernel(%X: !x, %Y: !x, %at: !cute.coord<"(?,0)">) kernel {
    // expected-error @below {{expected reductions along mode 1, found [0]}}
    cute.block.map ins(%X : !x) outs(%Y : !x) at(%at : !cute.coord<"(?,0)">) threads [1, 128] values [4, 2] {
    ^bb0(%x: f32):
      %most = cute.all_reduce "maximum" %x along [0] : f32
      cute.yield %most : f32
    }
    gpu.return
  }
}

// -----

!x = !cute.memref<f32, gmem, align<16>, "(64,1000):(1000,1)">
gpu.module @kernels {
  gpu.func @kernel(%X: !x, %Y: !x, %at: !cute.coord<"?">) kernel {
    // expected-error @below {{expected the first row and the first column as a coordinate, found !cute.coord<"?">}}
    cute.block.map ins(%X : !x) outs(%Y : !x) at(%at : !cute.coord<"?">) threads [1, 128] values [4, 2] {
    ^bb0(%x: f32):
      %most = cute.all_reduce "maximum" %x along [1] : f32
      cute.yield %most : f32
    }
    gpu.return
  }
}

// -----

!x = !cute.memref<f32, gmem, align<16>, "(64,1000):(1000,1)">
gpu.module @kernels {
  gpu.func @kernel(%X: !x, %Y: !x, %at: !cute.coord<"(?,0)">) kernel {
    // expected-error @below {{expected two numbers of threads of at least 1, with a product of at most 1024, found Some([2, 1024])}}
    cute.block.map ins(%X : !x) outs(%Y : !x) at(%at : !cute.coord<"(?,0)">) threads [2, 1024] values [4, 2] {
    ^bb0(%x: f32):
      %most = cute.all_reduce "maximum" %x along [1] : f32
      cute.yield %most : f32
    }
    gpu.return
  }
}

// -----

!x = !cute.memref<f32, gmem, align<16>, "(64,1000):(1000,1)">
gpu.module @kernels {
  gpu.func @kernel(%X: !x, %Y: !x, %at: !cute.coord<"(?,0)">) kernel {
    // expected-error @below {{expected two numbers of threads of at least 1, with a product of at most 1024, found Some([128])}}
    cute.block.map ins(%X : !x) outs(%Y : !x) at(%at : !cute.coord<"(?,0)">) threads [128] values [4, 2] {
    ^bb0(%x: f32):
      %most = cute.all_reduce "maximum" %x along [1] : f32
      cute.yield %most : f32
    }
    gpu.return
  }
}

// -----

!x = !cute.memref<f32, gmem, align<16>, "(64,1000):(1000,1)">
gpu.module @kernels {
  gpu.func @kernel(%X: !x, %Y: !x, %at: !cute.coord<"(?,0)">) kernel {
    // expected-error @below {{expected two numbers of values of at least 1, with a product of at most 1024, found Some([0, 4])}}
    cute.block.map ins(%X : !x) outs(%Y : !x) at(%at : !cute.coord<"(?,0)">) threads [1, 128] values [0, 4] {
    ^bb0(%x: f32):
      %most = cute.all_reduce "maximum" %x along [1] : f32
      cute.yield %most : f32
    }
    gpu.return
  }
}

// -----

!t = !cute.memref<f32, gmem, align<16>, "(64,32):(32,1)">
func.func @f(%X: !t, %Y: !t) {
  // expected-error @below {{expected a region that computes elements}}
  "cute.map"(%X, %Y) <{operandSegmentSizes = array<i32: 1, 1>}> ({
  }) : (!t, !t) -> ()
  return
}

// -----

!t = !cute.memref<f32, gmem, align<16>, "(64,32):(32,1)">
func.func @f(%X: !t) {
  // expected-error @below {{expected a tensor behind outs}}
  "cute.map"(%X) <{operandSegmentSizes = array<i32: 1, 0>}> ({
  ^bb0(%x: f32):
    "cute.yield"() : () -> ()
  }) : (!t) -> ()
  return
}

// -----

!t = !cute.memref<f32, gmem, align<16>, "(64,32):(32,1)">
func.func @f(%X: !t) {
  // expected-error @below {{expected a region that ends in cute.yield, found 'llvm.unreachable'}}
  "cute.map"(%X, %X) <{operandSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%x: f32):
    %y = arith.addf %x, %x : f32
    llvm.unreachable
  }) : (!t, !t) -> ()
  return
}

// -----

!x = !cute.memref<f32, gmem, align<16>, "(64,1000):(1000,1)">
gpu.module @kernels {
  gpu.func @kernel(%X: !x, %Y: !x, %at: !cute.coord<"(?,0)">) kernel {
    // expected-error @below {{expected a region that computes elements}}
    "cute.block.map"(%X, %Y, %at) <{operandSegmentSizes = array<i32: 1, 1, 1>, threads = array<i64: 1, 128>, values = array<i64: 4, 2>}> ({
    }) : (!x, !x, !cute.coord<"(?,0)">) -> ()
    gpu.return
  }
}

// -----

!x = !cute.memref<f32, gmem, align<16>, "(64,1000):(1000,1)">
gpu.module @kernels {
  gpu.func @kernel(%X: !x, %Y: !x, %at: !cute.coord<"(?,?{div=2})">) kernel {
    // expected-error @below {{expected a first column that is a multiple of the 4 neighbours that a thread holds together, found ?{div=2}}}
    cute.block.map ins(%X : !x) outs(%Y : !x) at(%at : !cute.coord<"(?,?{div=2})">) threads [64, 8] values [4, 2] {
    ^bb0(%e: f32):
      cute.yield %e : f32
    }
    gpu.return
  }
}

// -----

!x = !cute.memref<f32, gmem, align<16>, "(64,1002):(1002,1)">
gpu.module @kernels {
  gpu.func @kernel(%X: !x, %Y: !x, %at: !cute.coord<"(?,0)">) kernel {
    // expected-error @below {{expected columns in multiples of the 4 neighbours that are moved together, found (64,1002)}}
    cute.block.map ins(%X : !x) outs(%Y : !x) at(%at : !cute.coord<"(?,0)">) threads [64, 8] values [4, 2] {
    ^bb0(%e: f32):
      cute.yield %e : f32
    }
    gpu.return
  }
}

// -----

!x = !cute.memref<f32, gmem, align<16>, "(66,1000):(1,66)">
gpu.module @kernels {
  gpu.func @kernel(%X: !x, %Y: !x, %at: !cute.coord<"(?,0)">) kernel {
    // expected-error @below {{expected rows in multiples of the 4 neighbours that are moved together, found (66,1000)}}
    cute.block.map ins(%X : !x) outs(%Y : !x) at(%at : !cute.coord<"(?,0)">) threads [64, 8] values [4, 2] {
    ^bb0(%e: f32):
      cute.yield %e : f32
    } {staged = array<i64: 0>, row_vector = 4 : i64}
    gpu.return
  }
}

// -----

!x = !cute.memref<f32, gmem, align<16>, "(64,1000):(1,64)">
gpu.module @kernels {
  gpu.func @kernel(%X: !x, %Y: !x, %at: !cute.coord<"(?,0)">) kernel {
    // expected-error @below {{expected rows in multiples of the 3 neighbours that are moved together, found (64,1000)}}
    cute.block.map ins(%X : !x) outs(%Y : !x) at(%at : !cute.coord<"(?,0)">) threads [64, 8] values [4, 2] {
    ^bb0(%e: f32):
      cute.yield %e : f32
    } {staged = array<i64: 0>, row_vector = 3 : i64}
    gpu.return
  }
}

// -----

!x = !cute.memref<f32, gmem, align<16>, "(66,1000):(1,66)">
gpu.module @kernels {
  gpu.func @kernel(%X: !x, %Y: !x, %at: !cute.coord<"(?,0)">) kernel {
    // expected-error @below {{expected row_vector to divide the 64 threads along rows and the 8 values of a thread, found 3}}
    cute.block.map ins(%X : !x) outs(%Y : !x) at(%at : !cute.coord<"(?,0)">) threads [64, 8] values [4, 2] {
    ^bb0(%e: f32):
      cute.yield %e : f32
    } {staged = array<i64: 0>, row_vector = 3 : i64}
    gpu.return
  }
}

// -----

!x = !cute.memref<f32, gmem, align<16>, "(64,1000):(1,64)">
gpu.module @kernels {
  gpu.func @kernel(%X: !x, %Y: !x, %at: !cute.coord<"(?,0)">) kernel {
    // expected-error @below {{expected staged inputs below 1, found 1}}
    cute.block.map ins(%X : !x) outs(%Y : !x) at(%at : !cute.coord<"(?,0)">) threads [64, 8] values [4, 2] {
    ^bb0(%e: f32):
      cute.yield %e : f32
    } {staged = array<i64: 1>, row_vector = 4 : i64}
    gpu.return
  }
}

// -----

!x = !cute.memref<f32, gmem, align<16>, "(64,1000):(1,64)">
gpu.module @kernels {
  gpu.func @kernel(%X: !x, %Y: !x, %at: !cute.coord<"(?,0)">) kernel {
    // expected-error @below {{expected staged inputs where nothing is reduced}}
    cute.block.map ins(%X : !x) outs(%Y : !x) at(%at : !cute.coord<"(?,0)">) threads [64, 8] values [4, 2] {
    ^bb0(%e: f32):
      %s = cute.all_reduce "add" %e along [1] : f32
      cute.yield %s : f32
    } {staged = array<i64: 0>, row_vector = 4 : i64}
    gpu.return
  }
}

// -----

!x = !cute.memref<f32, gmem, align<16>, "(64,1001):(1001,1)">
!y = !cute.memref<f32, gmem, align<16>, "(64,1001):(1,0)">
gpu.module @kernels {
  gpu.func @kernel(%X: !x, %Y: !y, %at: !cute.coord<"(?,0)">) kernel {
    // expected-error @below {{expected aligned_by to be the place of a tensor with the stride 1 along columns and elements of its own in each row, among 2 tensors, found 2}}
    cute.block.map ins(%X : !x) outs(%Y : !y) at(%at : !cute.coord<"(?,0)">) threads [1, 128] values [4, 2] {
    ^bb0(%x: f32):
      %most = cute.all_reduce "maximum" %x along [1] : f32
      cute.yield %most : f32
    } {aligned_by = 2 : i64, held}
    gpu.return
  }
}

// -----

!x = !cute.memref<f32, gmem, align<16>, "(64,1001):(1001,1)">
!y = !cute.memref<f32, gmem, align<16>, "(64,1001):(1,0)">
gpu.module @kernels {
  gpu.func @kernel(%X: !x, %Y: !y, %at: !cute.coord<"(?,0)">) kernel {
    // expected-error @below {{expected aligned_by to be the place of a tensor with the stride 1 along columns and elements of its own in each row, among 2 tensors, found 1}}
    cute.block.map ins(%X : !x) outs(%Y : !y) at(%at : !cute.coord<"(?,0)">) threads [1, 128] values [4, 2] {
    ^bb0(%x: f32):
      %most = cute.all_reduce "maximum" %x along [1] : f32
      cute.yield %most : f32
    } {aligned_by = 1 : i64, held}
    gpu.return
  }
}

// -----

!x = !cute.memref<f32, gmem, align<4>, "(64,1001):(1001,1)">
!y = !cute.memref<f32, gmem, align<16>, "(64,1001):(1,0)">
gpu.module @kernels {
  gpu.func @kernel(%X: !x, %Y: !y, %at: !cute.coord<"(?,0)">) kernel {
    // expected-error @below {{expected tensors aligned to the 16 bytes of a vector where vectors begin at aligned elements, found align<4>}}
    cute.block.map ins(%X : !x) outs(%Y : !y) at(%at : !cute.coord<"(?,0)">) threads [1, 128] values [4, 2] {
    ^bb0(%x: f32):
      %most = cute.all_reduce "maximum" %x along [1] : f32
      cute.yield %most : f32
    } {aligned_by = 0 : i64, held}
    gpu.return
  }
}

// -----

!x = !cute.memref<f32, gmem, align<16>, "(64,1001):(1001,1)">
!y = !cute.memref<f32, gmem, align<16>, "(64,1001):(1,0)">
gpu.module @kernels {
  gpu.func @kernel(%X: !x, %Y: !y, %at: !cute.coord<"(?,0)">) kernel {
    // expected-error @below {{expected vectors of a power of two of at least 2 neighbours, and twice as many threads along columns, where vectors begin at aligned elements, found 4 and 4}}
    cute.block.map ins(%X : !x) outs(%Y : !y) at(%at : !cute.coord<"(?,0)">) threads [1, 4] values [4, 2] {
    ^bb0(%x: f32):
      %most = cute.all_reduce "maximum" %x along [1] : f32
      cute.yield %most : f32
    } {aligned_by = 0 : i64, held}
    gpu.return
  }
}

// -----

!x = !cute.memref<f32, gmem, align<16>, "(64,1001):(1001,1)">
!y = !cute.memref<f32, gmem, align<16>, "(64,1001):(1,0)">
gpu.module @kernels {
  gpu.func @kernel(%X: !x, %Y: !y, %at: !cute.coord<"(?,0)">) kernel {
    // expected-error @below {{expected no by_rows, columns or staged where vectors begin at aligned elements}}
    cute.block.map ins(%X : !x) outs(%Y : !y) at(%at : !cute.coord<"(?,0)">) threads [1, 128] values [4, 2] {
    ^bb0(%x: f32):
      %most = cute.all_reduce "maximum" %x along [1] : f32
      cute.yield %most : f32
    } {aligned_by = 0 : i64, by_rows, held}
    gpu.return
  }
}

// -----

!x = !cute.memref<f32, gmem, align<16>, "(64,1000):(1000,1)">
gpu.module @kernels {
  gpu.func @kernel(%X: !x, %Y: !x, %at: !cute.coord<"(?,0)">) kernel {
    // expected-error @below {{expected rows that are held, and all of their columns, where blocks stay; write held beside stays, and no columns}}
    cute.block.map ins(%X : !x) outs(%Y : !x) at(%at : !cute.coord<"(?,0)">) threads [1, 128] values [4, 2] {
    ^bb0(%x: f32):
      %most = cute.all_reduce "maximum" %x along [1] : f32
      %less = arith.subf %x, %most : f32
      cute.yield %less : f32
    } {stays}
    gpu.return
  }
}

// -----

// Kernels and the host round to the nearest number.
!x = !cute.memref<f32, gmem, align<16>, "4096:1">
!y = !cute.memref<f16, gmem, align<16>, "4096:1">
func.func @rounding(%X: !x, %Y: !y) {
  cute.map ins(%X) outs(%Y) {
  ^bb0(%x: f32):
    %nearest = arith.truncf %x to_nearest_even : f32 to f16
    // expected-error @below {{expected 'arith.truncf' with the rounding mode to_nearest_even, or with none, which is the same, as that is how conversions round; found toward_zero; take it away}}
    %y = arith.truncf %x toward_zero : f32 to f16
    cute.yield %y : f16
  }
  return
}

// -----

// A part of a mode lies at one place.
!t = !cute.memref<f32, gmem, align<16>, "((8,?),64):((64,512),1)">
!row = !cute.memref<f32, gmem, align<16>, "((8,?),64):((0,64),1)">
func.func @f(%X: !t, %Y: !row) {
  // expected-error @below {{expected output 0 to have elements of its own along mode 0, found ((8,?),64):((0,64),1); only along what is reduced, an output is written once}}
  cute.map ins(%X : !t) outs(%Y : !row) {
  ^bb0(%x: f32):
    cute.yield %x : f32
  }
  return
}
