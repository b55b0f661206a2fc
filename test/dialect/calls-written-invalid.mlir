// RUN: cute-opt %s --split-input-file --verify-diagnostics

// The result types of a call are written as its function says them, if neither its arguments nor its parameters do; that is told when the text is read.
gpu.module @own {
  func.func private @kernel_of(%x: !cute.any) {
    // expected-error @below {{'cute.call' op expected result 0 of type 'i32', as @number gives it, found 'f32'; leave the type out}}
    %n = cute.call @number(%x) -> f32
    return
  }
  func.func private @number(%x: !cute.any) -> i32 {
    %n = arith.constant 1 : i32
    return %n : i32
  }
}

// -----

gpu.module @with_all_types {
  func.func private @two(!cute.any) -> (!cute.any, i32)
  func.func private @f(%x: f32) {
    // expected-error @below {{'cute.call' op expected result 1 of type 'i32', as @two gives it, found 'f32'; leave the type out}}
    %a, %b = cute.call @two(%x) : (f32) -> (f16, f32)
    return
  }
}

// -----

gpu.module @library {
  cute.import "std/reduce"
  func.func private @f(%x: f32) {
    // expected-error @below {{'cute.call' op expected result 0 of type 'f32', as @warp_sum gives it, found 'f16'; leave the type out}}
    %sum = cute.call @warp_sum(%x) -> f16
    return
  }
}

// -----

gpu.module @number {
  func.func private @one(!cute.any) -> i32
  func.func private @f(%x: f32) {
    // expected-error @below {{'cute.call' op expected as many results as @one has, 1, found 2; leave the types out}}
    %a, %b = cute.call @one(%x) -> (i32, i32)
    return
  }
}

// -----

// Which of two functions is meant, the text does not say here; and what is open is known to its call.
gpu.module @first {
  func.func private @same(f32) -> f32
}
gpu.module @second {
  func.func private @same(f32) -> f16
  func.func private @open(!cute.any) -> !cute.any
  func.func private @by_parameter() -> !cute.vector<"N", f32> attributes {cute.parameters = {N = "integer"}}
  func.func private @fixed() -> vector<4xf32>
  func.func private @f(%x: f32) attributes {cute.parameters = {M = 4}} {
    %a = cute.call @same(%x) -> f16
    %b = cute.call @open(%x) -> f64
    %c = cute.call @by_parameter<{N = 8}>() -> vector<8xf32>
    %d = cute.call @fixed() -> !cute.vector<"M", f32>
    return
  }
}
