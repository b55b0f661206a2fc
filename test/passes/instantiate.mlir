// Values stand in the places of parameters: defaults, those that are set, those of the call.
//
// RUN: cute-opt %s --cute-instantiate --split-input-file | FileCheck %s
// RUN: cute-opt %s --split-input-file | cute-opt --split-input-file --cute-instantiate | FileCheck %s
// RUN: cute-opt %s --strip-types --split-input-file | cute-opt --split-input-file --cute-instantiate | FileCheck %s
// RUN: cute-opt %s --split-input-file | FileCheck %s --check-prefix=GENERIC
// RUN: cute-opt %S/../Inputs/generic.mlir --emit-bytecode | cute-opt --cute-instantiate="set=D=128,T=f16,V=8" | FileCheck %s --check-prefix=SET
// RUN: cute-opt %S/../Inputs/generic.mlir --cute-instantiate="set='D=128,T=f16,V=8,L=(8,16):(16,1),A=!cute_nvgpu.atom.universal_copy<f16, 64 b>'" | FileCheck %s --check-prefix=ATOM
// Layouts and tiles may stand as attributes say them; spaces around names and values are none of these.
// RUN: cute-opt %S/../Inputs/generic.mlir --cute-instantiate="set='D = 128, T=f16,V=8, L=#cute.layout<\"(8,16):(16,1)\">, A = !cute_nvgpu.atom.universal_copy<f16, 64 b>'" | FileCheck %s --check-prefix=ATOM
// RUN: cute-opt %S/../Inputs/generic.mlir --cute-instantiate='set="D=128,T=f16,V=8,L=(8,16) : (16,1),A=!cute_nvgpu.atom.universal_copy<f16, 64 b>"' | FileCheck %s --check-prefix=ATOM

// CHECK-LABEL: module @integers {
// GENERIC-LABEL: module @integers attributes {cute.parameters = {D = 64 : i64}}
module @integers attributes {cute.parameters = {D = 64}} {
  // In types of arguments and results, in attributes, and as values.
  // GENERIC: func.func @host(%{{.*}}: !cute.memref<f32, gmem, "(?,$D):($D,1)">) -> index
  // CHECK: func.func @host(%[[X:.*]]: !cute.memref<f32, gmem, "(?,64):(64,1)">) -> index
  func.func @host(%x: !cute.memref<f32, gmem, "(?,$D) : ($D,1)">) -> index {
    // GENERIC: cute.get_layout(%{{[^:]*}}){{$}}
    // CHECK: cute.get_layout(%[[X]]) : !cute.memref<f32, gmem, "(?,64):(64,1)">{{$}}
    %l = cute.get_layout(%x)
    // GENERIC: cute.static : !cute.layout<"($D,$(D/4)):($(D/4),1)">
    // CHECK: cute.static : !cute.layout<"(64,16):(16,1)">
    %k = cute.static "($D, $(D / 4)) : ($(D/4), 1)"
    // CHECK: cute.static : !cute.tile<"[64:1;32:1]">
    %t = cute.static tile "[$D:1;$(D/2):1]"
    // CHECK: cute.static : !cute.coord<"(63,_)">
    %c = cute.static coord "($(D-1),_)"
    // GENERIC: %[[N:.*]] = cute.param "D * 2" : i32
    // CHECK: %[[N:.*]] = arith.constant 128 : i32
    %n = cute.param "D * 2"
    // CHECK: %[[M:.*]] = arith.constant 16 : index
    %m = cute.param "ceil_div(D, 4)" : index
    %zero = arith.constant 0 : i32
    // CHECK: scf.for
    scf.for %i = %zero to %n step %n : i32 {
      // CHECK: arith.constant 65 : i64
      %inner = cute.param "max(D, 7) + 1" : i64
    // CHECK: } {cute.unroll = 4 : i64}
    } {cute.unroll = #cute.param<"D / 16">}
    return %m : index
  }
}

// -----

// Of a module within another one; nearer ones come first.
// CHECK-LABEL: module @nested {
module @nested attributes {cute.parameters = {D = 64, E = 2}} {
  gpu.module @kernels attributes {cute.parameters = {D = 32}} {
    // CHECK: gpu.func @kernel(%{{.*}}: !cute.memref<f32, gmem, "(32,2):(2,1)">) kernel attributes {known_block_size = array<i32: 16, 1, 1>}
    gpu.func @kernel(%x: !cute.memref<f32, gmem, "($D,$E):($E,1)">) kernel attributes {
        cute.given = {known_block_size = [#cute.param<"D/2">, 1 : i32, 1 : i32]}} {
      gpu.return
    }
    // A function that is called is given what it needs of the parameters around it.
    // CHECK: func.func private @called(%{{.*}}: !cute.any) attributes {cute.parameters = {D = 32 : i64, E = 2 : i64, N = "integer"}}
    func.func private @called(%x: !cute.any) attributes {cute.parameters = {N = "integer"}} {
      // CHECK: cute.static : !cute.layout<"($N,$E):($E,1)">
      %l = cute.static "($N,$E):($E,1)"
      return
    }
  }
}

// -----

// A module, twice.
// CHECK-LABEL: module @copies attributes {gpu.container_module}
module @copies {
  module @scale attributes {gpu.container_module, cute.parameters = {D = 64, T = f32}} {
    gpu.module @kernels {
      gpu.func @kernel(%x: !cute.memref<!cute.param<"T">, gmem, "$D:1">) kernel {
        gpu.return
      }
    }
    func.func @scaled(%x: !cute.memref<!cute.param<"T">, gmem, "$D:1">) {
      %c1 = arith.constant 1 : index
      gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%x : !cute.memref<!cute.param<"T">, gmem, "$D:1">)
      return
    }
  }
  // CHECK-NOT: @scale attributes
  // CHECK: gpu.module @kernels_128
  // CHECK:   gpu.func @kernel(%{{.*}}: !cute.memref<f32, gmem, "128:1">) kernel
  // CHECK: func.func @scaled_128(%{{.*}}: !cute.memref<f32, gmem, "128:1">)
  // CHECK:   gpu.launch_func @kernels_128::@kernel
  cute.instantiate @scale<{D = 128}> as "_128"
  // CHECK: gpu.module @kernels_f16
  // CHECK: func.func @scaled_f16(%{{.*}}: !cute.memref<f16, gmem, "64:1">)
  // CHECK:   gpu.launch_func @kernels_f16::@kernel
  cute.instantiate @scale<{T = f16}> as "_f16"
}

// SET: func.func @copy(%{{.*}}: !cute.memref<f16, gmem, align<16>, "(?,128):(128,1)">)
// SET: cute.static : !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f32, 128 b>, layout_copy_tv = <"(16,8):(8,1)">, tiler_mn = <"[128:1]">>
// SET: cute.static : !cute.layout<"(4,8):(8,1)">
// SET: cute.memref.load_vec %{{.*}} : !cute.memref<f16, rmem, "8:1">
// SET: return %{{.*}} : vector<8xf16>

// ATOM: cute.static : !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 64 b>, layout_copy_tv = <"(16,8):(8,1)">, tiler_mn = <"[128:1]">>
// ATOM: cute.static : !cute.layout<"(8,16):(16,1)">
