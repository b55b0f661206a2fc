// Names that a text does not define, beside those that it does: the one that was meant is told.
//
// RUN: cute-opt %s --split-input-file --verify-diagnostics

!tile = !cute.memref<f32, smem, "8:1">
// expected-error @+1 {{undefined symbol alias id 'tlie'; did you mean '!tile'?}}
func.func private @types(!tlie) -> !tile

// -----

!t = !cute.layout<"8:1">
#layout = #cute.layout<"8:1">
// expected-error @+1 {{undefined symbol alias id 'laout'; did you mean '#layout'?}}
func.func private @attributes(!t) attributes {a = #laout}

// -----

!far = !cute.layout<"8:1">
// expected-error-re @+1 {{{{undefined symbol alias id 'something_else'$}}}}
func.func private @nothing_near(!far) -> !something_else

// -----

!t = !cute.memref<f32, gmem, "8:1">
gpu.module @kernels {
  func.func private @scaled(%x: f32) -> f32 {
    return %x : f32
  }
  gpu.func @functions(%t: !t, %x: f32) kernel {
    // expected-error @+1 {{'func.call' op 'sacled' does not reference a valid function; did you mean 'scaled'?}}
    %y = func.call @sacled(%x) : (f32) -> f32
    gpu.return
  }
}

// -----

!t = !cute.memref<f32, gmem, "8:1">
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @first(%t: !t) kernel {
      gpu.return
    }
    gpu.func @second(%t: !t) kernel {
      gpu.return
    }
  }
  func.func @kernels_by_name(%t: !t) {
    %c1 = arith.constant 1 : index
    // expected-error @+1 {{'gpu.launch_func' op kernel function '@kernels::@secnd' is undefined; did you mean '@kernels::@second'?}}
    gpu.launch_func @kernels::@secnd blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%t : !t)
    return
  }
}
