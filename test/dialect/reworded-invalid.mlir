// Errors of MLIR's parser and verifiers, told with what was found and a cure.
//
// RUN: cute-opt %s --split-input-file --verify-diagnostics

gpu.module @kernels {
  gpu.func @another_return() kernel {
    // expected-error @+1 {{custom op 'return' expected one of the dialects arith, cf, cute, cute_nvgpu, func, gpu, llvm, math, nvvm, scf, vector before its first dot, found none; here that is gpu.return, of a kernel}}
    return
  }
}

// -----

func.func @another_dialect() {
  // expected-error @+1 {{found 'memref'; here that is cute.memref.alloca}}
  %x = memref.alloc() : memref<4xf32>
  return
}

// -----

func.func @a_misspelt_dialect(%s: !cute.shape<"8">) {
  // expected-error @+1 {{found 'cuet'; did you mean 'cute.size'?}}
  %x = cuet.size(%s)
  return
}

// -----

func.func @not_defined(%value: f32) {
  // expected-error @+1 {{expected a value that is defined, found %valeu; did you mean '%value'?}}
  %x = arith.addf %valeu, %value : f32
  return
}

// -----

func.func @a_number(%value: f32) {
  // expected-error @+1 {{expected a value, such as %x, found '4.0'; make it a value, as by %c = arith.constant 1.0 : f32}}
  %x = arith.addf %value, 4.0 : f32
  return
}

// -----

func.func @a_number_as_an_op() {
  // expected-error @+1 {{expected an op, found '4.0'; a number is made by arith.constant, as in arith.constant 1.0 : f32}}
  %x = 4.0
  return
}

// -----

func.func @no_types(%value: f32) {
  // expected-error @+1 {{expected ':' and types, found the end of the line; types may be left out behind ops of cute alone, so write them, as in arith.addf %x, %y : f32}}
  %x = arith.addf %value, %value
  return
}

// -----

func.func @an_integer() {
  // expected-error @+1 {{expected a number of a floating-point type, such as 1.0, found 1}}
  %x = arith.constant 1 : f32
  return
}

// -----

// expected-error @+1 {{undefined symbol alias id 'T'; define it at the top of the file, as in !T = f32}}
func.func private @no_alias(!T)

// -----

func.func @a_loop(%n: i32) {
  // expected-note @+1 {{prior use here}}
  %c0 = arith.constant 0 : i32
  // expected-error @+1 {{'index' vs 'i32'; a loop over i32 has it behind its step, as in step %c1 : i32}}
  scf.for %i = %c0 to %n step %c0 {
  }
  return
}

// -----

func.func @a_tuple(%s: !cute.shape<"(?,8)">, %i: i32) {
  // expected-note @+1 {{prior use here}}
  %n = cute.size(%s)
  // expected-error @+1 {{its number is cute.get_scalars(%n)}}
  %m = arith.addi %n, %i : i32
  return
}

// -----

func.func private @what_is_open(%s: !cute.any, %i: i32) {
  // expected-note @+1 {{prior use here}}
  %n = cute.get_scalars(%s)
  // expected-error @+1 {{what it is only a call or a parameter says: where that is always i32, write -> i32 behind the op that makes it, else take the op in as cute.deferred}}
  %m = arith.addi %n, %i : i32
  return
}

// -----

func.func @a_type_without_its_sign() {
  // expected-error @+1 {{expected a type, found 'cute.shape'; types of the dialects begin with '!', as in !cute.shape}}
  %x = ub.poison : cute.shape<"8">
  return
}

// -----

func.func @a_semicolon(%x: f32) {
  // expected-error @+1 {{unexpected character ';'; an op ends where the next one begins}}
  %y = arith.addf %x, %x : f32;
  return
}

// -----

gpu.module @kernels {
  gpu.func @without_an_end(%x: f32) kernel {
    // expected-error @+1 {{expected an op at the end of the block that ends it: gpu.return in a kernel, return in a function}}
    %y = arith.addf %x, %x : f32
  }
}

// -----

// expected-note @+1 {{see existing symbol definition here}}
func.func private @twice()
// expected-error @+1 {{redefinition of symbol named 'twice'; give one of them another name, or an instance another suffix}}
func.func private @twice()

// -----

func.func @a_value_twice(%x: f32) {
  // expected-note @+1 {{previously defined here}}
  %y = arith.negf %x : f32
  // expected-error @+1 {{redefinition of SSA value '%y'; a name stands for one value, so give this one another}}
  %y = arith.negf %x : f32
  return
}

// -----

func.func private @another_result(%x: !cute.any) -> f32 {
  // expected-error @+1 {{doesn't match function result type ('f32') in function @another_result; write -> !cute.any there, or convert it before}}
  return %x : !cute.any
}

// -----

module attributes {gpu.container_module} {
  gpu.module @k {
    gpu.func @kernel(%n: f32) kernel {
      gpu.return
    }
  }
  func.func @a_kernel_called(%x: f32) {
    // expected-error @+1 {{expected the name of a function beside it, found one within a module; kernels are launched by cute.launch}}
    func.call @k::@kernel(%x) : (f32) -> ()
    return
  }
}

// -----

gpu.module @kernels {
  // expected-note @+1 {{the kernel is here}}
  gpu.func @kernel(%x: f32) kernel {
    gpu.return
  }
  gpu.func @another(%x: f32) kernel {
    // expected-error @+1 {{'cute.call' op expected a func.func @kernel in this gpu.module, found a kernel, which a function of the host launches, by cute.launch; move what both need to a func.func}}
    cute.call @kernel(%x)
    gpu.return
  }
}

// -----

func.func @not_closed() {
  // expected-error @+1 {{expected an op, found the end of the text; something that '{' begins has no '}'}}
  return
