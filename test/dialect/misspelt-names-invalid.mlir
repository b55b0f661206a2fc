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
// expected-error-re @+1 {{{{undefined symbol alias id 'something_else'; define it at the top of the file, as in !something_else = f32$}}}}
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

// -----

// Of the library, by the text that is imported, by one that is not, and by a call of another dialect, which finds only what stands in the module.
gpu.module @kernels {
  cute.import "std/copy"
  func.func private @own(%x: f32) {
    return
  }
  gpu.func @library(%x: f32) kernel {
    // expected-error @+1 {{'cute.call' op expected a func.func @load_withni in this gpu.module, found none; did you mean 'load_within'?}}
    cute.call @load_withni(%x)
    // expected-error @+1 {{'cute.call' op expected a func.func @wrap_sum in this gpu.module, found none; did you mean 'warp_sum'? it is one of the library: write cute.import "std/reduce" there}}
    %sum = cute.call @wrap_sum(%x)
    // expected-error @+1 {{'cute.call' op expected a func.func @block_x in this gpu.module, found none; it is one of the library: write cute.import "std/index" there}}
    %x0 = cute.call @block_x()
    // expected-error-re @+1 {{{{'cute.call' op expected a func.func @something_else in this gpu.module, found none$}}}}
    cute.call @something_else(%x)
    cute.call @own(%x)
    cute.call @load_within(%x)
    gpu.return
  }
}

// -----

gpu.module @kernels {
  cute.import "std/copy"
  gpu.func @library(%x: f32) kernel {
    // expected-error @+1 {{'func.call' op 'load_withni' does not reference a valid function; did you mean cute.call @load_within? By that is called what is imported}}
    func.call @load_withni(%x) : (f32) -> ()
    gpu.return
  }
}

// -----

// A file of functions, as it is imported.
cute.import "std/index"
func.func private @index() -> i32 {
  // expected-error @+1 {{'cute.call' op expected a func.func @blok_x in this gpu.module, found none; did you mean 'block_x'?}}
  %x = cute.call @blok_x() -> i32
  return %x : i32
}
gpu.module @kernels {
  gpu.func @none() kernel {
    gpu.return
  }
}
