// Modules that are no package, and places where none can be written.
//
// RUN: cute-opt %s --cute-emit-package="file=%t.cutepkg" --split-input-file --verify-diagnostics
// RUN: not cute-opt %S/../Inputs/gemm.mlir --cute-emit-package 2>&1 | FileCheck %s --check-prefix=FILE
// FILE: error: cute-emit-package: expected file=, the path of the package
//
// RUN: not cute-opt %S/../Inputs/gemm.mlir --cute-compile="arch=sm_80 tile=32x32x32 package=%t.missing/gemm.cutepkg" -o /dev/null 2>&1 | FileCheck %s --check-prefix=FOLDER
// FOLDER: error: cannot write {{.*}}gemm.cutepkg: {{.*}}No such file or directory
// RUN: not cute-opt %S/../Inputs/gemm.mlir --cute-compile="arch=sm_80 tile=32x32x32 package={x}" -o /dev/null 2>&1 | FileCheck %s --check-prefix=BRACES
// BRACES: error: {{.*}}{x}

module {
  // expected-error @below {{expected a function that launches kernels, and a gpu.binary of them; is there a cute.contract in a func.func?}}
  func.func @nothing() {
    return
  }
}

// -----

// expected-error @below {{expected compiled kernels; run cute-emit-ptx and cute-assemble first}}
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @k() kernel {
      gpu.return
    }
  }
}

// -----

module attributes {gpu.container_module} {
  func.func @floats(%x: f32) {
    %one = arith.constant 1 : index
    %zero = arith.constant 0 : i32
    // expected-error @below {{expected a size that is computed by integer operations of arith from the function's arguments, found arith.fptosi}}
    %i = arith.fptosi %x : f32 to i32
    %n = arith.index_cast %i : i32 to index
    gpu.launch_func @kernels::@k blocks in (%n, %one, %one) threads in (%one, %one, %one) dynamic_shared_memory_size %zero
    return
  }
  gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_80">, "x">]
}

// -----

module attributes {gpu.container_module} {
  // expected-error @below {{argument 0: expected tensors, and numbers of type i32, i64, f16, bf16, f32 or f64, as arguments, found i8}}
  func.func @integer(%n: i8) {
    %one = arith.constant 1 : index
    %zero = arith.constant 0 : i32
    gpu.launch_func @kernels::@k blocks in (%one, %one, %one) threads in (%one, %one, %one) dynamic_shared_memory_size %zero args(%n : i8)
    return
  }
  gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_80">, "x">]
}

// -----

module attributes {gpu.container_module} {
  func.func @no_shared_size() {
    %one = arith.constant 1 : index
    // expected-error @below {{expected a grid, a block and a dynamic_shared_memory_size; write `dynamic_shared_memory_size %c0` of an i32, which the compiler sets}}
    gpu.launch_func @kernels::@k blocks in (%one, %one, %one) threads in (%one, %one, %one)
    return
  }
  gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_80">, "x">]
}

// -----

module attributes {gpu.container_module} {
  // expected-error @below {{'func.func' op expected cute.computes = an array, found "product"}}
  func.func @computes() attributes {cute.computes = "product"} {
    %one = arith.constant 1 : index
    %zero = arith.constant 0 : i32
    gpu.launch_func @kernels::@k blocks in (%one, %one, %one) threads in (%one, %one, %one) dynamic_shared_memory_size %zero
    return
  }
  gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_80">, "x">]
}

// -----

// The kernel that is launched is not in the image.
module attributes {gpu.container_module} {
  // expected-error @below {{the package is not valid: invalid package: function missing, launch 0 (k)}}
  func.func @missing() {
    %one = arith.constant 1 : index
    %zero = arith.constant 0 : i32
    gpu.launch_func @kernels::@k blocks in (%one, %one, %one) threads in (%one, %one, %one) dynamic_shared_memory_size %zero
    return
  }
  gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_80">, bin = "x">]
}

// -----

// A launch plan knows arguments, not views of them.
!t = !cute.memref<f16, gmem, align<16>, "(8,2):(1,8)">
!v = !cute.memref<f16, gmem, align<16>, "(8):(1)">
module attributes {gpu.container_module} {
  func.func @view(%t: !t) {
    %one = arith.constant 1 : index
    %zero = arith.constant 0 : i32
    %c = cute.static : !cute.coord<"(_,1)">
    %v = cute.slice(%t, %c) : !t, !cute.coord<"(_,1)">
    // expected-error @below {{the function's own arguments}}
    gpu.launch_func @kernels::@k blocks in (%one, %one, %one) threads in (%one, %one, %one) dynamic_shared_memory_size %zero args(%v : !v)
    return
  }
  gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_80">, "x">]
}

// -----

module attributes {gpu.container_module} {
  // expected-error @below {{cute.computes: expected a dictionary with one of gemm, copy, transpose, add, axpby, softmax, rms_norm, attention, map, arguments by index, found}}
  func.func @computes() attributes {cute.computes = [{conv = array<i64: 0, 1>}]} {
    %one = arith.constant 1 : index
    %zero = arith.constant 0 : i32
    gpu.launch_func @kernels::@k blocks in (%one, %one, %one) threads in (%one, %one, %one) dynamic_shared_memory_size %zero
    return
  }
  gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_80">, "x">]
}

// -----

module attributes {gpu.container_module} {
  // expected-error @below {{cute.computes: expected copy = array<i64: src, dst>, arguments by index}}
  func.func @computes() attributes {cute.computes = [{copy = array<i64: 0, 1, 2>}]} {
    %one = arith.constant 1 : index
    %zero = arith.constant 0 : i32
    gpu.launch_func @kernels::@k blocks in (%one, %one, %one) threads in (%one, %one, %one) dynamic_shared_memory_size %zero
    return
  }
  gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_80">, "x">]
}

// -----

module attributes {gpu.container_module} {
  // expected-error @below {{cute.computes: expected copy = array<i64: src, dst>, arguments by index}}
  func.func @computes() attributes {cute.computes = [{copy = array<i64: 0, -1>}]} {
    %one = arith.constant 1 : index
    %zero = arith.constant 0 : i32
    gpu.launch_func @kernels::@k blocks in (%one, %one, %one) threads in (%one, %one, %one) dynamic_shared_memory_size %zero
    return
  }
  gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_80">, "x">]
}

// -----

module attributes {gpu.container_module} {
  // expected-error @below {{cute.computes: softmax has accumulate, found epsilon}}
  func.func @computes() attributes {cute.computes = [{softmax = array<i64: 0, 1>, epsilon = 1.0 : f32}]} {
    %one = arith.constant 1 : index
    %zero = arith.constant 0 : i32
    gpu.launch_func @kernels::@k blocks in (%one, %one, %one) threads in (%one, %one, %one) dynamic_shared_memory_size %zero
    return
  }
  gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_80">, "x">]
}

// -----

module attributes {gpu.container_module} {
  // expected-error @below {{cute.computes: expected epsilon = 1.0 : f32, a number, or epsilon = 3 : index, the argument that has it, found 3 : i32}}
  func.func @computes() attributes {cute.computes = [{rms_norm = array<i64: 0, 1, 2>, epsilon = 3 : i32}]} {
    %one = arith.constant 1 : index
    %zero = arith.constant 0 : i32
    gpu.launch_func @kernels::@k blocks in (%one, %one, %one) threads in (%one, %one, %one) dynamic_shared_memory_size %zero
    return
  }
  gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_80">, "x">]
}

// -----

module attributes {gpu.container_module} {
  // expected-error @below {{cute.computes: expected attention = array<i64: Q, K, V, O>, arguments by index}}
  func.func @computes() attributes {cute.computes = [{attention = array<i64: 0, 1, 2>}]} {
    %one = arith.constant 1 : index
    %zero = arith.constant 0 : i32
    gpu.launch_func @kernels::@k blocks in (%one, %one, %one) threads in (%one, %one, %one) dynamic_shared_memory_size %zero
    return
  }
  gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_80">, "x">]
}

// -----

module attributes {gpu.container_module} {
  // expected-error @below {{expected causal = true or false, or 1 or 0, found 2 : i64}}
  func.func @computes() attributes {cute.computes = [{attention = array<i64: 0, 1, 2, 3>, causal = 2}]} {
    %one = arith.constant 1 : index
    %zero = arith.constant 0 : i32
    gpu.launch_func @kernels::@k blocks in (%one, %one, %one) threads in (%one, %one, %one) dynamic_shared_memory_size %zero
    return
  }
  gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_80">, "x">]
}

// -----

module attributes {gpu.container_module} {
  // expected-error @below {{cute.computes: attention has scale, causal, accumulate, found epsilon}}
  func.func @computes() attributes {cute.computes = [{attention = array<i64: 0, 1, 2, 3>, epsilon = 1.0 : f32}]} {
    %one = arith.constant 1 : index
    %zero = arith.constant 0 : i32
    gpu.launch_func @kernels::@k blocks in (%one, %one, %one) threads in (%one, %one, %one) dynamic_shared_memory_size %zero
    return
  }
  gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_80">, "x">]
}

// -----

module attributes {gpu.container_module} {
  // expected-error @below {{cute.computes: expected scale = 1.0 : f32, a number, or scale = 3 : index, the argument that has it, found 4 : i32}}
  func.func @computes() attributes {cute.computes = [{attention = array<i64: 0, 1, 2, 3>, scale = 4 : i32}]} {
    %one = arith.constant 1 : index
    %zero = arith.constant 0 : i32
    gpu.launch_func @kernels::@k blocks in (%one, %one, %one) threads in (%one, %one, %one) dynamic_shared_memory_size %zero
    return
  }
  gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_80">, "x">]
}

// -----

module attributes {gpu.container_module} {
  // expected-error @below {{cute.computes: expected accumulate = f32 or another type, found 32 : i32}}
  func.func @computes() attributes {cute.computes = [{gemm = array<i64: 0, 1, 2>, accumulate = 32 : i32}]} {
    %one = arith.constant 1 : index
    %zero = arith.constant 0 : i32
    gpu.launch_func @kernels::@k blocks in (%one, %one, %one) threads in (%one, %one, %one) dynamic_shared_memory_size %zero
    return
  }
  gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_80">, "x">]
}

// -----

module attributes {gpu.container_module} {
  // expected-error @below {{argument 0: expected cute.access = "read", "write" or "read_write", found "rw"}}
  func.func @access(%t: !cute.memref<f16, gmem, align<16>, "8:1"> {cute.access = "rw"}) {
    %one = arith.constant 1 : index
    %zero = arith.constant 0 : i32
    gpu.launch_func @kernels::@k blocks in (%one, %one, %one) threads in (%one, %one, %one) dynamic_shared_memory_size %zero
    return
  }
  gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_80">, "x">]
}

// -----

module attributes {gpu.container_module} {
  // expected-error @below {{expected cute.default = a number, found "one"}}
  func.func @default(%x: f32 {cute.default = "one"}) {
    %one = arith.constant 1 : index
    %zero = arith.constant 0 : i32
    gpu.launch_func @kernels::@k blocks in (%one, %one, %one) threads in (%one, %one, %one) dynamic_shared_memory_size %zero
    return
  }
  gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_80">, "x">]
}

// -----

module attributes {gpu.container_module} {
  // expected-error @below {{expected cute.name = a string, found 1 : i64}}
  func.func @name(%x: f32 {cute.name = 1}) {
    %one = arith.constant 1 : index
    %zero = arith.constant 0 : i32
    gpu.launch_func @kernels::@k blocks in (%one, %one, %one) threads in (%one, %one, %one) dynamic_shared_memory_size %zero
    return
  }
  gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_80">, "x">]
}

// -----

module attributes {gpu.container_module} {
  func.func private @other()
  func.func @calls() {
    // expected-error @below {{'func.call' is no part of a launch plan, which has launches, integer arithmetic on arguments, scf.if, and cf.assert; move it out of the function that launches}}
    func.call @other() : () -> ()
    %one = arith.constant 1 : index
    %zero = arith.constant 0 : i32
    gpu.launch_func @kernels::@k blocks in (%one, %one, %one) threads in (%one, %one, %one) dynamic_shared_memory_size %zero
    return
  }
  gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_80">, "x">]
}

// -----

module attributes {gpu.container_module} {
  func.func @loops(%n: index) {
    %one = arith.constant 1 : index
    %zero = arith.constant 0 : i32
    // expected-error @below {{'scf.for' is no part of a launch plan}}
    scf.for %i = %one to %n step %one {
      gpu.launch_func @kernels::@k blocks in (%one, %one, %one) threads in (%one, %one, %one) dynamic_shared_memory_size %zero
    }
    return
  }
  gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_80">, "x">]
}

// -----

module attributes {gpu.container_module} {
  func.func @chip() {
    %one = arith.constant 1 : index
    %zero = arith.constant 0 : i32
    gpu.launch_func @kernels::@k blocks in (%one, %one, %one) threads in (%one, %one, %one) dynamic_shared_memory_size %zero
    return
  }
  // expected-error @below {{unsupported architecture 'sm_7': expected one of sm_75, sm_80, }}
  gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_7">, "x">]
}

// -----

module attributes {gpu.container_module} {
  func.func @result(%n: index) {
    %one = arith.constant 1 : index
    %zero = arith.constant 0 : i32
    %is = arith.cmpi slt, %n, %one : index
    // expected-error @below {{expected an scf.if without results in a launch plan; write a number that depends on a condition as arith.select}}
    %size = scf.if %is -> index {
      scf.yield %one : index
    } else {
      scf.yield %n : index
    }
    gpu.launch_func @kernels::@k blocks in (%size, %one, %one) threads in (%one, %one, %one) dynamic_shared_memory_size %zero
    return
  }
  gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_80">, "x">]
}

// -----

!t = !cute.memref<f16, gmem, align<16>, "(8,8):(8,1)">
module attributes {gpu.container_module} {
  // expected-error @below {{cute.computes: expected epilogue = @function, a func.func of numbers beside this one, found @other}}
  func.func @no_function(%a: !t) attributes {cute.computes = [{gemm = array<i64: 0, 0, 0>, accumulate = f32, epilogue = @other}]} {
    %one = arith.constant 1 : index
    %zero = arith.constant 0 : i32
    gpu.launch_func @kernels::@k blocks in (%one, %one, %one) threads in (%one, %one, %one) dynamic_shared_memory_size %zero
    return
  }
  gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_80">, "x">]
}

// -----

!t = !cute.memref<f16, gmem, align<16>, "(8,8):(8,1)">
module attributes {gpu.container_module} {
  // expected-error @below {{expected 2 arguments: the sum, the elements of 1 tensors, and 0 numbers; found 1}}
  func.func private @short(%sum: f32) -> f32 {
    return %sum : f32
  }
  func.func @arguments(%a: !t) attributes {cute.computes = [{gemm = array<i64: 0, 0, 0>, accumulate = f32, epilogue = @short, ins = array<i64: 0>}]} {
    %one = arith.constant 1 : index
    %zero = arith.constant 0 : i32
    gpu.launch_func @kernels::@k blocks in (%one, %one, %one) threads in (%one, %one, %one) dynamic_shared_memory_size %zero
    return
  }
  gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_80">, "x">]
}

// -----

!t = !cute.memref<f16, gmem, align<16>, "(8,8):(8,1)">
module attributes {gpu.container_module} {
  func.func private @power(%sum: f32) -> f32 {
    // expected-error @below {{'math.powf' is no operation on numbers that the host can compute to verify a kernel; expected arith.addf, }}
    %x = math.powf %sum, %sum : f32
    return %x : f32
  }
  func.func @operation(%a: !t) attributes {cute.computes = [{gemm = array<i64: 0, 0, 0>, accumulate = f32, epilogue = @power}]} {
    %one = arith.constant 1 : index
    %zero = arith.constant 0 : i32
    gpu.launch_func @kernels::@k blocks in (%one, %one, %one) threads in (%one, %one, %one) dynamic_shared_memory_size %zero
    return
  }
  gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_80">, "x">]
}

// -----

!t = !cute.memref<f16, gmem, align<16>, "(8,8):(8,1)">
module attributes {gpu.container_module} {
  // expected-error @below {{cute.computes: ins, outs and scalars are those of an epilogue; expected epilogue = @function}}
  func.func @inputs(%a: !t) attributes {cute.computes = [{gemm = array<i64: 0, 0, 0>, accumulate = f32, ins = array<i64: 0>}]} {
    %one = arith.constant 1 : index
    %zero = arith.constant 0 : i32
    gpu.launch_func @kernels::@k blocks in (%one, %one, %one) threads in (%one, %one, %one) dynamic_shared_memory_size %zero
    return
  }
  gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_80">, "x">]
}

// -----

// The bytes of a workspace.
module attributes {gpu.container_module} {
  gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_80">, kernels = <[#gpu.kernel_metadata<"kernel", !llvm.func<void (ptr<1>)>>]>, bin = "x">]
  func.func @computed(%x: f32) {
    %one = arith.constant 1 : index
    %none = arith.constant 0 : i32
    // expected-error @below {{expected a size that is computed by integer operations of arith from the function's arguments, found arith.fptosi}}
    %n = arith.fptosi %x : f32 to i64
    %bytes = arith.index_cast %n : i64 to index
    %w = cute.workspace(%bytes) : !cute.ptr<f32, gmem, align<256>>
    %p = builtin.unrealized_conversion_cast %w : !cute.ptr<f32, gmem, align<256>> to !llvm.ptr<1>
    gpu.launch_func @kernels::@kernel blocks in (%one, %one, %one) threads in (%one, %one, %one) dynamic_shared_memory_size %none args(%p : !llvm.ptr<1>)
    return
  }
}

// -----

// A launch computes in 64 bits, where these would not wrap.
module attributes {gpu.container_module} {
  func.func @narrow(%n: i32) {
    %one = arith.constant 1 : index
    %zero = arith.constant 0 : i32
    %a = arith.trunci %n : i32 to i16
    %b = arith.muli %a, %a : i16
    // expected-error @below {{expected integers of type i1, i32, i64 or index, in which a launch computes, found i16 in 'arith.extsi'; compute in i32, which a launch checks for results that 32 bits do not hold}}
    %c = arith.extsi %b : i16 to i32
    %blocks = arith.index_cast %c : i32 to index
    gpu.launch_func @kernels::@k blocks in (%blocks, %one, %one) threads in (%one, %one, %one) dynamic_shared_memory_size %zero
    return
  }
  gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_80">, "x">]
}

// -----

module attributes {gpu.container_module} {
  func.func @wide(%n: i64) {
    %one = arith.constant 1 : index
    %zero = arith.constant 0 : i32
    %a = arith.extsi %n : i64 to i128
    // expected-error @below {{found i128 in 'arith.trunci'}}
    %b = arith.trunci %a : i128 to i64
    %blocks = arith.index_cast %b : i64 to index
    gpu.launch_func @kernels::@k blocks in (%blocks, %one, %one) threads in (%one, %one, %one) dynamic_shared_memory_size %zero
    return
  }
  gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_80">, "x">]
}
