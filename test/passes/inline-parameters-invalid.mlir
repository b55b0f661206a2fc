// RUN: cute-opt %s --cute-instantiate --cute-inline --split-input-file --verify-diagnostics

gpu.module @missing {
  // expected-note @below {{the function is here}}
  func.func private @f() attributes {cute.parameters = {N = "integer"}} {
    return
  }
  gpu.func @kernel() kernel {
    // expected-error @below {{'cute.call' op expected a value of the parameter N of @f, which has no default; give it one behind the name, as in @f<{D = 64}> for a parameter D}}
    cute.call @f()
    gpu.return
  }
}

// -----

gpu.module @unknown {
  // expected-note @below {{the function is here}}
  func.func private @f() attributes {cute.parameters = {rows = 4, columns = 4}} {
    return
  }
  gpu.func @kernel() kernel {
    // expected-error @below {{'cute.call' op expected values of the parameters of @f, columns, rows, found one of 'row'; did you mean 'rows'?}}
    cute.call @f<{row = 8}>()
    gpu.return
  }
}

// -----

gpu.module @kind {
  // expected-note @below {{the function is here}}
  func.func private @f() attributes {cute.parameters = {T = f32}} {
    return
  }
  gpu.func @kernel() kernel {
    // expected-error @below {{'cute.call' op expected a type as the parameter T of @f, found the integer 8}}
    cute.call @f<{T = 8}>()
    gpu.return
  }
}

// -----

// What does not go for these values is said at the op of the function, with the values.
gpu.module @text {
  func.func private @f() attributes {cute.parameters = {N = 4}} {
    // expected-error @below {{in the type !cute.layout<"($(N/4),2):(2,1)"> with N = 6: at offset 4: expected a multiple of 4, found 6; ceil_div(6,4) rounds up}}
    %l = cute.static "($(N/4),2):(2,1)"
    return
  }
  gpu.func @kernel() kernel {
    cute.call @f()
    cute.call @f<{N = 6}>()
    gpu.return
  }
}

// -----

gpu.module @extent {
  func.func private @f() attributes {cute.parameters = {N = 4}} {
    // expected-error @below {{in the type !cute.layout<"($(N-4),2):(2,1)"> with N = 4: at offset 0: expected}}
    %l = cute.static "($(N-4),2):(2,1)"
    return
  }
  gpu.func @kernel() kernel {
    cute.call @f()
    gpu.return
  }
}

// -----

gpu.module @argument {
  // expected-note @below {{the function is here}}
  func.func private @f(%t: !cute.memref<f32, gmem, "$N:1">) attributes {cute.parameters = {N = 4}} {
    return
  }
  gpu.func @kernel(%t: !cute.memref<f32, gmem, "8:1">) kernel {
    // expected-error @below {{'cute.call' op expected argument 0 of type !cute.memref<f32, gmem, "4:1">, as @f takes it, found !cute.memref<f32, gmem, "8:1">}}
    cute.call @f(%t)
    gpu.return
  }
}

// -----

// What depends on types is verified with those of the call.
gpu.module @verified {
  func.func private @f(%t: !cute.any) attributes {cute.parameters = {T = f32}} {
    %r = cute.memref.alloca() : !cute.memref<!cute.param<"T">, rmem, "8:1">
    // expected-error @below {{'cute.autovec_copy' op expected the same element type on both sides, found f32 and f16; use cute.convert}}
    cute.autovec_copy(%t, %r)
    return
  }
  gpu.func @kernel(%t: !cute.memref<f32, gmem, "8:1">) kernel {
    cute.call @f(%t)
    cute.call @f<{T = f16}>(%t)
    gpu.return
  }
}

// -----

// expected-error @below {{'gpu.module' op has the attribute 'cute.parameters': expected one of "integer", "type", "layout", "tile" for D, which says its kind where it has no default, found "int"}}
gpu.module @word attributes {cute.parameters = {D = "int"}} {
}

// -----

// expected-error @below {{'func.func' op has the attribute 'cute.parameters': expected the parameters columns, rows, found 'row', which is not declared; did you mean 'rows'?}}
func.func private @name() attributes {cute.parameters = {rows = 4, columns = 4}} {
  %l = cute.static "($row,4):(4,1)"
  return
}

// -----

gpu.module @kernel {
  // expected-error @below {{'gpu.func' op has the attribute 'cute.parameters', where nothing reads it; expected it on a module, a gpu.module or a func.func}}
  gpu.func @kernel() kernel attributes {cute.parameters = {D = 4}} {
    gpu.return
  }
}

// -----

func.func private @expression() attributes {cute.parameters = {D = 4}} {
  // expected-error @below {{'cute.param' op expected an integer that is computed of parameters: at offset 3: expected an integer, a parameter or `(`, found the end}}
  %n = cute.param "D *"
  return
}

// -----

func.func private @profile() attributes {cute.parameters = {D = 4}} {
  // expected-error @below {{at offset 0: expected}}
  %l = cute.static layout "($D,4):(4,1,1)"
  return
}

// -----

gpu.module @deferred {
  gpu.func @kernel(%x: f32) kernel {
    // expected-error @below {{'cute.deferred' op expected the name of an op with its dialect's, such as "arith.addf", found "arith.multiply"}}
    %y = cute.deferred "arith.multiply"(%x)
    gpu.return
  }
}

// -----

// What an op is deferred for is verified with the types of the call.
gpu.module @late {
  func.func private @f(%t: !cute.any) {
    %v = cute.memref.load_vec %t
    // expected-error @below {{'arith.mulf' op operand #0 must be floating-point-like}}
    %p = cute.deferred "arith.mulf"(%v, %v)
    return
  }
  gpu.func @kernel(%t: !cute.memref<i32, rmem, "8:1">) kernel {
    cute.call @f(%t)
    gpu.return
  }
}

// -----

gpu.module @import {
  // expected-error @below {{'cute.import' op expected a part of the library, std/copy, std/index, std/mma, std/reduce, std/scan, std/schedule or std/softmax, or a path that ends in .mlir, found "std/reduces"; did you mean 'std/reduce'?}}
  cute.import "std/reduces"
}
