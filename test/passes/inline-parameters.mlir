// Functions whose parameters each call gives.
//
// RUN: cute-opt %s --cute-instantiate --cute-inline | FileCheck %s
// RUN: cute-opt %s | cute-opt --cute-instantiate --cute-inline | FileCheck %s
// RUN: cute-opt %s --strip-types | cute-opt --cute-instantiate --cute-inline | FileCheck %s
// RUN: cute-opt %s --emit-bytecode | cute-opt --cute-instantiate --cute-inline | FileCheck %s
// RUN: cute-opt %s | FileCheck %s --check-prefix=GENERIC

module attributes {cute.parameters = {E = 2}} {
  // CHECK-LABEL: gpu.module @kernels
  gpu.module @kernels {
    // GENERIC: func.func private @fill(%{{.*}}: !cute.any, %{{.*}}: f32) attributes {cute.parameters = {N = "integer", T = f32}}
    func.func private @fill(%t: !cute.any, %x: f32) attributes {cute.parameters = {N = "integer", T = f32}} {
      // GENERIC: cute.static : !cute.tile<"[$(N*E):1]">
      %tiler = cute.static tile "[$(N * E):1]"
      %zero = cute.static coord "0"
      // GENERIC: cute.local_tile({{[^:]*}}){{$}}
      %tile = cute.local_tile(%t, %tiler, %zero)
      %r = cute.memref.alloca() : !cute.memref<!cute.param<"T">, rmem, "$(N*E):1">
      cute.clear(%r)
      cute.autovec_copy(%r, %tile)
      return
    }
    // One that calls another one with what it is given.
    func.func private @both(%t: !cute.any, %x: f32) attributes {cute.parameters = {N = 4, T = "type"}} {
      // GENERIC: cute.call @fill<{N = #cute.param<"N/2">, T = #cute.param<"T">}>(
      cute.call @fill<{N = #cute.param<"N / 2">, T = #cute.param<"T">}>(%t, %x)
      return
    }
    // CHECK-NOT: func.func
    // CHECK: gpu.func @kernel(%[[A:.*]]: !cute.memref<f32, gmem, "64:1">, %[[B:.*]]: !cute.memref<f16, gmem, "64:1">, %{{.*}}: f32)
    gpu.func @kernel(%a: !cute.memref<f32, gmem, "64:1">, %b: !cute.memref<f16, gmem, "64:1">, %x: f32) kernel {
      // CHECK: cute.local_tile(%[[A]]{{.*}} -> !cute.memref<f32, gmem, "(16):(1)">
      // CHECK: cute.memref.alloca() : !cute.memref<f32, rmem, "16:1">
      cute.call @fill<{N = 8}>(%a, %x)
      // CHECK: cute.local_tile(%[[B]]{{.*}} -> !cute.memref<f16, gmem, "(32):(1)">
      // CHECK: cute.memref.alloca() : !cute.memref<f16, rmem, "32:1">
      cute.call @fill<{N = 16, T = f16}>(%b, %x)
      // CHECK: cute.local_tile(%[[B]]{{.*}} -> !cute.memref<f16, gmem, "(4):(1)">
      cute.call @both<{T = f16}>(%b, %x)
      // CHECK: %[[C:.*]] = arith.constant 6 : i32
      // CHECK: arith.addi %[[C]], %[[C]]
      %six = cute.call @three_times<{N = 2}>() -> i32
      %twelve = arith.addi %six, %six : i32
      gpu.return
    }
    // Ops of other dialects wait for types; vectors have as many elements as parameters say.
    // CHECK: gpu.func @vectors(%[[T:.*]]: !cute.memref<f32, rmem, "8:1">, %[[S:.*]]: f32)
    gpu.func @vectors(%t: !cute.memref<f32, rmem, "8:1">, %s: f32) kernel {
      // CHECK: %[[V:.*]] = cute.memref.load_vec %[[T]]
      // CHECK: %[[B:.*]] = vector.broadcast %[[S]] : f32 to vector<8xf32>
      // CHECK: %[[P:.*]] = arith.mulf %[[V]], %[[B]] : vector<8xf32>
      // CHECK: %[[M:.*]] = vector.reduction <maximumf>, %[[P]] : vector<8xf32> into f32
      // CHECK: arith.addf %[[M]], %[[M]] : f32
      %m = cute.call @largest<{N = 4}>(%t, %s) -> f32
      %two = arith.addf %m, %m : f32
      gpu.return
    }
    func.func private @largest(%t: !cute.any, %s: f32) -> f32 attributes {cute.parameters = {N = "integer"}} {
      // GENERIC: cute.memref.load_vec %{{[^:]*$}}
      %v = cute.memref.load_vec %t
      // GENERIC: cute.deferred "vector.broadcast"(%{{.*}}) : (f32) -> !cute.vector<"N*E", f32>
      %b = cute.deferred "vector.broadcast"(%s) -> !cute.vector<"N * E", f32>
      // GENERIC: cute.deferred "arith.mulf"(%{{.*}}, %{{.*}}) : (!cute.any, !cute.vector<"N*E", f32>) -> !cute.any
      %p = cute.deferred "arith.mulf"(%v, %b)
      // GENERIC: cute.deferred "vector.reduction"<{kind = #vector.kind<maximumf>}>(%{{.*}}) : (!cute.any) -> f32
      %m = cute.deferred "vector.reduction"<{kind = #vector.kind<maximumf>}>(%p) -> f32
      return %m : f32
    }
    func.func private @three_times() -> i32 attributes {cute.parameters = {N = 1}} {
      %n = cute.param "3 * N"
      return %n : i32
    }
  }
}
