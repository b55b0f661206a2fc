// RUN: cute-opt %s --cute-instantiate --cute-inline --split-input-file --verify-diagnostics
// RUN: not cute-opt %s --cute-instantiate --cute-inline --split-input-file -o /dev/null 2>&1 | FileCheck %s
// CHECK:      branches-invalid.mlir:{{[0-9]+}}:12: error: 'arith.addf' op operand #0 must be floating-point-like
// CHECK:      branches-invalid.mlir:{{[0-9]+}}:5: note: called from
// CHECK-NEXT: cute.call @inner
// CHECK:      branches-invalid.mlir:{{[0-9]+}}:5: note: called from
// CHECK-NEXT: cute.call @outer

// The branch that is taken is verified, and what is wrong leads to the calls.
gpu.module @taken {
  func.func private @inner(%x: !cute.any) attributes {cute.parameters = {T = "type"}} {
    %is_half = cute.param "T == f16"
    scf.if %is_half {
      // expected-error @below {{'arith.addf' op operand #0 must be floating-point-like, but got 'i32'}}
      %y = cute.deferred "arith.addf"(%x, %x) -> i32
    } else {
      %y = cute.deferred "math.no_such_op"(%x) -> i32
    }
    return
  }
  func.func private @outer(%x: !cute.any) attributes {cute.parameters = {T = "type"}} {
    cute.call @inner<{T = #cute.param<"T">}>(%x)
    return
  }
  gpu.func @kernel(%x: i32) kernel {
    cute.call @outer<{T = f16}>(%x)
    gpu.return
  }
}

// -----

gpu.module @sides {
  func.func private @f() attributes {cute.parameters = {N = 4, T = f16}} {
    // expected-error @below {{'cute.param' op "T == N" with N = 4, T = f16: expected a type to compare f16 with, found N}}
    %c = cute.param "T == N"
    return
  }
  gpu.func @kernel() kernel {
    cute.call @f()
    gpu.return
  }
}

// -----

gpu.module @order {
  func.func private @f() attributes {cute.parameters = {T = f16}} {
    // expected-error @below {{'cute.param' op "T < f32" with T = f16: expected == or != between types, found <}}
    %c = cute.param "T < f32"
    return
  }
  gpu.func @kernel() kernel {
    cute.call @f()
    gpu.return
  }
}

// -----

gpu.module @no_bit {
  func.func private @f() attributes {cute.parameters = {N = 4}} {
    // expected-error @below {{'cute.param' op expected a result of type i1 of a comparison, found i32}}
    %c = cute.param "N == 4" : i32
    return
  }
}

// -----

gpu.module @no_comparison {
  func.func private @f() attributes {cute.parameters = {N = 4}} {
    // expected-error @below {{'cute.param' op expected a comparison for a result of type i1, such as "N == 1", found "N"}}
    %c = cute.param "N" : i1
    return
  }
}
