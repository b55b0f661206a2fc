// RUN: cute-opt %s --cute-instantiate="set=V=8" --split-input-file --verify-diagnostics
// RUN: not cute-opt %S/../Inputs/generic.mlir --cute-instantiate="set=D=64,T=8" 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: not cute-opt %S/../Inputs/generic.mlir --cute-instantiate="set=D=x,T=f16" 2>&1 | FileCheck %s --check-prefix=INTEGER
// RUN: not cute-opt %S/../Inputs/generic.mlir --cute-instantiate="set=D=64,T=f16,L=4x" 2>&1 | FileCheck %s --check-prefix=LAYOUT
// RUN: not cute-opt %S/../Inputs/generic.mlir --cute-instantiate="set='D=(4,8):(8,1),T=f16'" 2>&1 | FileCheck %s --check-prefix=KIND1
// RUN: not cute-opt %S/../Inputs/generic.mlir --cute-instantiate="set='D=64,T=#cute.layout<\"4:1\">'" 2>&1 | FileCheck %s --check-prefix=KIND2
// RUN: not cute-opt %S/../Inputs/generic.mlir --cute-instantiate="set='D=64,T=f16,L=#cute.tile<\"[4:1]\">'" 2>&1 | FileCheck %s --check-prefix=KIND3
// RUN: not cute-opt %S/../Inputs/generic.mlir --cute-instantiate="set='D=64,T=f16,A=!cute_nvgpu.atom.universal_copy<f16, 65 b>'" 2>&1 | FileCheck %s --check-prefix=KIND4
// RUN: not cute-opt %S/../Inputs/generic.mlir --cute-instantiate="set='D=64,T=!cute.param<\"A\">'" 2>&1 | FileCheck %s --check-prefix=KIND5
// RUN: not cute-opt %S/../Inputs/generic.mlir --cute-instantiate="set=D=64,T=f16,L=#cute.lay" 2>&1 | FileCheck %s --check-prefix=KIND6
// RUN: not cute-opt %S/../Inputs/generic.mlir --cute-instantiate="set=D=64,T=f16,L=f32" 2>&1 | FileCheck %s --check-prefix=KIND7
// RUN: not cute-opt %S/../Inputs/generic.mlir --cute-instantiate="set=DD=64,T=f16" 2>&1 | FileCheck %s --check-prefix=MEANT
// RUN: not cute-opt %S/../Inputs/generic.mlir --cute-instantiate="set=D=66,T=f16" 2>&1 | FileCheck %s --check-prefix=VALUE
// RUN: not cute-opt %S/../Inputs/generic.mlir --cute-compile="arch=sm_80 set=D" 2>&1 | FileCheck %s --check-prefix=FORM
//
// TYPE-NOT: error
// TYPE: generic.mlir:2:1: error: 'builtin.module' op has the parameter T, of which set says the value: expected a type, such as f16 or !cute_nvgpu.atom.universal_copy<f16, 64 b>, found the integer 8; its parameters are A (type), D (integer), L (layout), T (type), V (integer)
// INTEGER: error: 'builtin.module' op has the parameter D, of which set says the value: expected an integer of 64 bits, found 'x'; its parameters are
// LAYOUT: error: 'builtin.module' op has the parameter L, of which set says the value: expected a layout, such as (4,8):(8,1), found '4x' (at offset 1: expected the end of the text, found `x`); its parameters are
// KIND1: has the parameter D, of which set says the value: expected an integer of 64 bits, found the layout (4,8):(8,1); its parameters are
// KIND2: has the parameter T, of which set says the value: expected a type, such as {{.*}}, found the layout 4:1; its parameters are
// KIND3: has the parameter L, of which set says the value: expected a layout, such as (4,8):(8,1), found the tile [4:1]; its parameters are
// KIND4: has the parameter A, of which set says the value: expected a type, such as {{.*}}, found '!cute_nvgpu.atom.universal_copy<f16, 65 b>' ({{.*}}65{{.*}}); its parameters are
// KIND5: has the parameter T, of which set says the value: expected a type, such as {{.*}}, found !cute.param<"A">, which depends on the parameter A itself; its parameters are
// KIND6: has the parameter L, of which set says the value: expected a layout, such as (4,8):(8,1), found '#cute.lay' ({{.*}}); its parameters are
// KIND7: has the parameter L, of which set says the value: expected a layout, such as (4,8):(8,1), found the type f32; its parameters are
// One that is misspelt is said beside what is missing for it.
// MEANT: error: set: expected values of the module's parameters, A (type), D (integer), L (layout), T (type), V (integer), found one of 'DD'; did you mean 'D'?
// MEANT: error: 'builtin.module' op expected a value of the parameter D of the module, which has no default
// VALUE: generic.mlir:5:13: error: in the type !cute.tiled_copy<{{.*}}> with A = !cute_nvgpu.atom.universal_copy<f32, 128 b>, D = 66, L = (4,8):(8,1), T = f16, V = 4: at offset 4: expected a multiple of 4, found 66
// FORM: error: --cute-compile: set: expected NAME=VALUE, several parted by commas, as in set=D=128,T=f16, found 'D'

// expected-error @below {{'builtin.module' op expected a value of the parameter D of @missing, which has no default; give it one, or set it, as in set=D=128 for a parameter D}}
module @missing attributes {cute.parameters = {D = "integer", V = 1}} {
}

// -----

// expected-error @below {{set: expected values of the module's parameters, D (integer), W (integer), found one of 'V'}}
module @other attributes {cute.parameters = {D = 2, W = 1}} {
}

// -----

// A function that kernels call has its values in the calls.
// expected-error @below {{set: expected values of the module's parameters, of which the module has none, found one of 'V'; that of @f has a value in each call, as in cute.call @f<{V = ...}>}}
module @called {
  gpu.module @kernels {
    func.func private @f() attributes {cute.parameters = {V = 1}} {
      return
    }
  }
}

// -----

module @source attributes {cute.parameters = {V = 1}} {
  // expected-error @below {{'cute.instantiate' op expected a module @scales with cute.parameters beside it, found none; did you mean 'scale'?}}
  cute.instantiate @scales<{D = 2}> as "_2"
  module @scale attributes {cute.parameters = {D = 1}} {
  }
}

// -----

module @value attributes {cute.parameters = {V = 1}} {
  // expected-error @below {{'cute.instantiate' op expected an integer as the parameter D of @scale, found the type f32}}
  cute.instantiate @scale<{D = f32}> as "_2"
  // expected-note @below {{the module is here}}
  module @scale attributes {cute.parameters = {D = 1}} {
  }
}

// -----

// What does not go for the values of one copy is said with its place.
module @chain attributes {cute.parameters = {V = 1}} {
  cute.instantiate @scale<{D = 6}> as "_6"
  module @scale attributes {cute.parameters = {D = 4}} {
    // expected-error @below {{in the type !cute.memref<f32, gmem, "$(D/4):1"> with D = 6, V = 8: at offset 3: expected a multiple of 4, found 6; ceil_div(6,4) rounds up}}
    func.func @scaled(%x: !cute.memref<f32, gmem, "$(D / 4):1">) {
      return
    }
  }
}

// -----

module @given attributes {cute.parameters = {V = 1}} {
  // expected-error @below {{expected an integer of 32 bits, found 8589934592 in}}
  func.func @f() attributes {cute.given = {other = [#cute.param<"V * 1073741824">, 1 : i32]}} {
    return
  }
}

// -----

module @wide attributes {cute.parameters = {V = 1}} {
  func.func @f() {
    // expected-error @below {{'cute.param' op "V * 1073741824" with V = 8: expected an integer of 32 bits, found 8589934592; write its type, i64}}
    %n = cute.param "V * 1073741824"
    return
  }
}

// -----

module @type attributes {cute.parameters = {V = 1}} {
  func.func @f() {
    // expected-error @below {{expected a type, found the parameter V, which is the integer 8}}
    %r = cute.memref.alloca() : !cute.memref<!cute.param<"V">, rmem, "8:1">
    return
  }
}

// -----

module @set {
  // expected-error @below {{'cute.instantiate' op says the value of V, as all do that V is a parameter of, so that what set says of it changes nothing; leave V out here, or out of set}}
  cute.instantiate @scale<{V = 6}> as "_6"
  cute.instantiate @scale<{V = 4}> as "_4"
  module @scale attributes {cute.parameters = {V = 4}} {
    func.func @scaled(%x: !cute.memref<f32, gmem, "$V:1">) {
      return
    }
  }
}

// -----

// expected-error @below {{set: the value of V changes nothing, for what has this parameter is not made; expected a cute.instantiate of its module}}
module @unmade {
  module @scale attributes {cute.parameters = {V = 4}} {
  }
}
