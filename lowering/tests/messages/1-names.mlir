// Names and text
//
// A misspelt op
func.func @f(%l: !cute.layout<"(8,4):(1,8)">) {
  %s = cute.get_shpae(%l)
  return
}

// -----

// A misspelt op of the architecture's dialect
func.func @f(%bars: !cute.memref<i64, smem, align<8>, "4:1">) {
  cute_nvgpu.mbarier_arrive(%bars)
  return
}

// -----

// An op by its name in C++
func.func @f(%l: !cute.layout<"(8,4):(1,8)">, %t: !cute.tile<"[4:1]">) {
  %s = cute.make_tensor(%l)
  return
}

// -----

// A misspelt type
func.func @f(%t: !cute.memreff<f32, gmem, "8:1">) {
  return
}

// -----

// A misspelt atom
!atom = !cute_nvgpu.atom.universal_cpy<f32, 128 b>
func.func @f(%a: !atom) {
  return
}

// -----

// A misspelt attribute of a loop
func.func @f(%lo: i32, %hi: i32, %step: i32) {
  scf.for %i = %lo to %hi step %step : i32 {
  } {cute.stagse = 3 : i64}
  return
}

// -----

// A misspelt alias of a type
!tile = !cute.memref<f32, smem, "8:1">
func.func @f(%t: !tlie) {
  return
}

// -----

// A misspelt alias of an attribute
!t = !cute.memref<f32, gmem, "8:1">
#threads = #cute.layout<"(8,4):(4,1)">
func.func @f(%t: !t) attributes {kept = #thread} {
  return
}

// -----

// A misspelt function
gpu.module @k {
  func.func private @scaled(%x: f32) -> f32 {
    return %x : f32
  }
  gpu.func @f(%t: !cute.memref<f32, gmem, "8:1">, %x: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %y = func.call @sacled(%x) : (f32) -> f32
    gpu.return
  }
}

// -----

// An attribute without its prefix
!t = !cute.memref<f16, gmem, align<16>, "(256,256):(256,1)">
func.func @f(%A: !t, %B: !t, %C: !t) {
  cute.contract ins(%A, %B : !t, !t) outs(%C : !t) accumulate f32 {stages = 3}
  return
}

// -----

// An attribute where nothing reads it
func.func @f() attributes {cute.tile = array<i64: 64, 64, 64>} {
  return
}

// -----

// An attribute of another form
!t = !cute.memref<f16, gmem, align<16>, "(256,256):(256,1)">
func.func @f(%A: !t, %B: !t, %C: !t) {
  cute.contract ins(%A, %B : !t, !t) outs(%C : !t) accumulate f32 {cute.tile = array<i64: 64, 64>}
  return
}

// -----

// A misspelt option
// arch=sm_80 stagse=3
func.func @f() {
  return
}

// -----

// An architecture that is not there
// arch=sm_81
func.func @f() {
  return
}

// -----

// A static tuple without the word for what it is
func.func @f() {
  %s = cute.static "(4,8)"
  return
}

// -----

// A value that is used before it is defined
func.func @f() {
  %s = cute.get_shape(%l)
  %l = cute.static "4:1"
  return
}

// -----

// A function of C++ that is another op here
func.func @f(%p: !cute.ptr<f32, gmem>, %l: !cute.layout<"8:1">) {
  %t = cute.make_tensor(%p, %l)
  return
}

// -----

// A partition without the part that divides
!copy = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f32, 128 b>, layout_copy_tv = <"((32,8),4):((4,128),1)">, tiler_mn = <"[128:1;8:1]">>
func.func @f(%S: !cute.memref<f32, gmem, align<16>, "(128,8):(1,128)">, %i: i32) {
  %copy = cute.static : !copy
  %thread = cute.make_coord(%i)
  %t = cute.partition_S(%copy, %S, %thread)
  return
}

// -----

// An attribute of a loop without its prefix
gpu.module @k {
  gpu.func @f() kernel {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %c1 step %c1 : i32 {
    } {unroll}
    gpu.return
  }
}

// -----

// An attribute of no kind
func.func @f() attributes {cute.threads = 128} {
  return
}

// -----

// An import of a file that is not there
gpu.module @kernels {
  cute.import "common/scale.mlir"
}

// -----

// An import of a file without its ending
gpu.module @kernels {
  cute.import "common/scale"
}

// -----

// A value of another kind than the parameter's
// arch=sm_80 set=T=128
module attributes {cute.parameters = {D = 64, T = f16}} {
}

// -----

// A parameter that is misspelt
// arch=sm_80 set=DIM=128
module attributes {cute.parameters = {DIMS = 64, T = f16}} {
}

// -----

// A function of the library without its import
gpu.module @kernels {
  gpu.func @f() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = cute.call @thread()
    gpu.return
  }
}

// -----

// A misspelt function of the library
gpu.module @kernels {
  cute.import "std/copy"
  gpu.func @f(%copy: !cute.any, %tile: !cute.any, %t: !cute.coord<"?">) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %part = cute.call @laoded(%copy, %tile, %t)
    gpu.return
  }
}

// -----

// A call with a name too few
gpu.module @kernels {
  cute.import "std/copy"
  gpu.func @f(%m: !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %coords = cute.call @coordinates(%m)
    gpu.return
  }
}

// -----

// An op that is deferred and misspelt
gpu.module @kernels {
  func.func private @exp(%v: !cute.any) {
    %e = cute.deferred "math.expp2"(%v)
    return
  }
  gpu.func @f(%x: f32) kernel {
    cute.call @exp(%x)
    gpu.return
  }
}

// -----

// A kernel that is launched by another name
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @copy_kernel() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
      gpu.return
    }
  }
  func.func @copy() {
    %grid = cute.static shape "(4,4)"
    cute.launch @kernels::@copy blocks(%grid) args()
    return
  }
}

// -----

// A value of a parameter that every instantiation says itself
// arch=sm_80 set=D=128
module {
  cute.instantiate @rows<{D = 64}> as "_64"
  module @rows attributes {cute.parameters = {D = 32}} {
    func.func @f(%x: !cute.memref<f32, gmem, "$D:1">) {
      return
    }
  }
}

// -----

// A value of a parameter that a layout cannot have, met twice
// arch=sm_80 set=D=1000
module attributes {cute.parameters = {D = 4096}} {
  func.func @f(%x: !cute.memref<f32, gmem, "($(D/256),256):(256,1)">) {
    %r = cute.get_layout(%x)
    return
  }
}

// -----

// A misspelt value
func.func @f(%layout: !cute.layout<"(8,4):(1,8)">) {
  %shape = cute.get_shape(%layuot)
  return
}
