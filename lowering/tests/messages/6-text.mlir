// Text that does not parse
//
// A return of a function in a kernel
gpu.module @kernels {
  gpu.func @f() kernel {
    return
  }
}

// -----

// An op of another dialect of MLIR
func.func @f() {
  %x = memref.alloc() : memref<4xf32>
  return
}

// -----

// A value that nothing defines
func.func @f(%scale: f32) {
  %x = arith.addf %scael, %scale : f32
  return
}

// -----

// A number where a value stands
gpu.module @kernels {
  gpu.func @f(%x: !cute.memref<f32, gmem, "(64,64):(64,1)">) kernel {
    cute.memref.store(%x, (0, 0), 1.0)
    gpu.return
  }
}

// -----

// Types left out of an op of another dialect
func.func @f(%x: f32) -> f32 {
  %y = arith.addf %x, %x
  return %y : f32
}

// -----

// A tuple for a number
func.func @f(%s: !cute.shape<"(?,8)">, %i: i32) {
  %n = cute.size(%s)
  %m = arith.addi %n, %i : i32
  return
}

// -----

// A loop over i32 without its type
func.func @f(%n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 {
  }
  return
}

// -----

// A number of a generic function in an op that knows its types
func.func private @f(%s: !cute.any, %i: i32) {
  %n = cute.get_scalars(%s)
  %m = arith.addi %n, %i : i32
  return
}

// -----

// A tuple of a call without the word for what it is
gpu.module @kernels {
  cute.import "std/copy"
  gpu.func @f(%x: !cute.memref<f32, gmem, "(64,64):(64,1)">) kernel {
    %tile, %places, %shape = cute.call @tile_within(%x, (32, 32), (0, 0))
    gpu.return
  }
}

// -----

// A kernel without an end
gpu.module @kernels {
  gpu.func @f(%x: f32) kernel {
    %y = arith.addf %x, %x : f32
  }
}

// -----

// A brace too few
gpu.module @kernels {
  gpu.func @f(%x: f32) kernel {
    gpu.return
  }

// -----

// A kernel that is called
gpu.module @kernels {
  gpu.func @scale(%x: f32) kernel {
    gpu.return
  }
  gpu.func @f(%x: f32) kernel {
    cute.call @scale(%x)
    gpu.return
  }
}

// -----

// A misspelt number of threads
gpu.module @kernels {
  gpu.func @f(%x: f32) kernel attributes {block_size = array<i32: 128, 1, 1>} {
    gpu.return
  }
}

// -----

// A list of values with spaces and no quotes
// arch=sm_80 set=D=128, T=f16
module attributes {cute.parameters = {D = 64, T = f16}} {
}
