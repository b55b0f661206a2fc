// RUN: cute-opt %s --cute-instantiate --cute-inline | FileCheck %s
// RUN: cute-opt %s | cute-opt | FileCheck %s --check-prefix TEXT

// A branch whose condition is known for a call is not there for it, and is not asked whether it would be valid.

// TEXT: cute.param "T == f16" : i1

gpu.module @kernels {
  // A quarter of N is there only where N is a multiple of four, and the sum of halves only of halves.
  func.func private @quarter(%x: !cute.any) -> i32 attributes {cute.parameters = {N = "integer", T = "type"}} {
    %divides = cute.param "N % 4 == 0"
    %n = scf.if %divides -> (i32) {
      %l = cute.static "($(N/4),4):(4,1)"
      %quarter = cute.param "N/4"
      scf.yield %quarter : i32
    } else {
      %other = cute.param "N + 1000"
      scf.yield %other : i32
    }
    %is_half = cute.param "T == f16"
    scf.if %is_half {
      %y = cute.deferred "arith.addf"(%x, %x) -> f16
    } else {
      %is_small = cute.param "N < 8"
      scf.if %is_small {
        %y = cute.deferred "arith.addi"(%x, %x) -> i32
      } else {
        %y = cute.deferred "arith.muli"(%x, %x) -> i32
      }
    }
    return %n : i32
  }

  // CHECK-LABEL: gpu.func @parameters
  // CHECK-NOT: scf.if
  // CHECK: arith.constant 2 : i32
  // CHECK: arith.addf
  // CHECK-NOT: arith.{{addi|muli}}
  // CHECK: arith.constant 1006 : i32
  // CHECK-NOT: arith.addf
  // CHECK: arith.addi
  // CHECK-NOT: arith.muli
  // CHECK: arith.constant 4 : i32
  // CHECK: arith.muli
  // CHECK-NOT: arith.addi
  // CHECK: gpu.return
  gpu.func @parameters(%h: f16, %i: i32) kernel {
    %a = cute.call @quarter<{N = 8, T = f16}>(%h)
    %b = cute.call @quarter<{N = 6, T = i32}>(%i)
    %c = cute.call @quarter<{N = 16, T = i32}>(%i)
    gpu.return
  }

  // By a static value: vectors of four are taken of what has four.
  func.func private @by_size(%l: !cute.any) -> i32 {
    %size = cute.size(%l)
    %four = cute.static int_tuple "4"
    %is_four = cute.equal(%size, %four)
    %r = scf.if %is_four -> (i32) {
      %parts = cute.logical_divide(%l, tile "[4:1]")
      %n = arith.constant 44 : i32
      scf.yield %n : i32
    } else {
      %number = cute.get_scalars(%size) -> i32
      %limit = arith.constant 3 : i32
      %is_less = arith.cmpi slt, %number, %limit : i32
      %m = scf.if %is_less -> (i32) {
        %n = arith.constant 55 : i32
        scf.yield %n : i32
      } else {
        %n = arith.constant 66 : i32
        scf.yield %n : i32
      }
      scf.yield %m : i32
    }
    return %r : i32
  }

  // CHECK-LABEL: gpu.func @values
  // CHECK-NOT: scf.if
  // CHECK: arith.constant 44 : i32
  // CHECK: arith.constant 55 : i32
  // CHECK: arith.constant 66 : i32
  // CHECK: gpu.return
  gpu.func @values() kernel {
    %four = cute.static "4:1"
    %two = cute.static "2:1"
    %six = cute.static "6:1"
    %a = cute.call @by_size(%four)
    %b = cute.call @by_size(%two)
    %c = cute.call @by_size(%six)
    gpu.return
  }

  // What threads decide stays.
  func.func private @by_thread(%x: !cute.any, %t: i1) attributes {cute.parameters = {N = 4}} {
    scf.if %t {
      %y = cute.deferred "arith.addf"(%x, %x) -> f32
    }
    return
  }

  // CHECK-LABEL: gpu.func @threads
  // CHECK: scf.if
  // CHECK: arith.addf
  gpu.func @threads(%x: f32, %t: i1) kernel {
    cute.call @by_thread(%x, %t)
    gpu.return
  }
}
