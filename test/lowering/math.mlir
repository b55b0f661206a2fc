// Functions of numbers, and operations on whole vectors, as instructions: there is no library of device functions to call.
//
// RUN: cute-opt %s --cute-to-nvvm --split-input-file | FileCheck %s
// RUN: cute-opt %s --cute-to-nvvm --split-input-file | cute-opt --split-input-file | FileCheck %s
// RUN: cute-opt %s --pass-pipeline="builtin.module(cute-to-nvvm,cse,gpu.module(convert-scf-to-cf,convert-gpu-to-nvvm{index-bitwidth=32},reconcile-unrealized-casts),cute-emit-ptx)" --split-input-file | FileCheck %s --check-prefix=PTX

!A = !cute.memref<f32, gmem, "64:1">
!at = !cute.coord<"?">

// CHECK-LABEL: gpu.module @numbers
// CHECK:         llvm.call_intrinsic "llvm.nvvm.ex2.approx"(%{{.*}}) : (f32) -> f32
// An exponential is a power of two of another exponent, a logarithm one to base two.
// CHECK:         %[[LOG2E:.*]] = llvm.mlir.constant(1.4426950{{.*}} : f32) : f32
// CHECK:         %[[Y:.*]] = llvm.fmul %{{.*}}, %[[LOG2E]] : f32
// CHECK:         llvm.call_intrinsic "llvm.nvvm.ex2.approx"(%[[Y]]) : (f32) -> f32
// CHECK:         %[[L:.*]] = llvm.call_intrinsic "llvm.nvvm.lg2.approx.f"(%{{.*}}) : (f32) -> f32
// CHECK:         llvm.fmul %[[L]], %{{.*}} : f32
// CHECK:         llvm.call_intrinsic "llvm.nvvm.rsqrt.approx.f"(%{{.*}}) : (f32) -> f32
// CHECK:         llvm.call_intrinsic "llvm.maxnum"(%{{.*}}, %{{.*}}) : (f32, f32) -> f32
// Narrower numbers go through f32.
// CHECK:         %[[W:.*]] = llvm.fpext %{{.*}} : f16 to f32
// CHECK:         %[[R:.*]] = llvm.call_intrinsic "llvm.nvvm.rsqrt.approx.f"(%[[W]]) : (f32) -> f32
// CHECK:         llvm.fptrunc %[[R]] : f32 to f16
// CHECK-NOT:     math.
// PTX-LABEL:     gpu.binary @numbers
// PTX:           ex2.approx.f32
// PTX:           mul{{.*}}.f32 {{.*}}0f3FB8AA3B
// PTX:           ex2.approx.f32
// PTX:           lg2.approx.f32
// PTX:           mul{{.*}}.f32 {{.*}}0f3F317218
// PTX:           rsqrt.approx.f32
// PTX:           max.f32
// PTX:           rsqrt.approx.f32
// PTX:           cvt.rn.f16.f32
// PTX-NOT:       call
gpu.module @numbers [#nvvm.target<chip = "sm_90a", features = "+ptx80", O = 3>] {
  gpu.func @numbers(%A: !A, %x: f32, %h: f16, %i: i32) kernel {
    %at = cute.make_coord(%i) : (i32) -> !at
    %0 = math.exp2 %x : f32
    %1 = math.exp %0 : f32
    %2 = math.log %1 : f32
    %3 = math.rsqrt %2 : f32
    %4 = arith.maxnumf %3, %x : f32
    %5 = math.rsqrt %h : f16
    %6 = arith.extf %5 : f16 to f32
    %7 = arith.mulf %4, %6 : f32
    cute.memref.store(%A, %at, %7) : (!A, !at, f32) -> ()
    gpu.return
  }
}

// -----

!A = !cute.memref<f32, gmem, "64:1">
!at = !cute.coord<"?">

// Vectors: a function of each element, and pairs of elements until one is left.
// CHECK-LABEL: gpu.module @vectors
// CHECK-COUNT-4: llvm.call_intrinsic "llvm.nvvm.ex2.approx"
// CHECK:         llvm.call_intrinsic "llvm.fma"(%{{.*}}) : (vector<4xf32>, vector<4xf32>, vector<4xf32>) -> vector<4xf32>
// CHECK-COUNT-4: llvm.extractelement
// CHECK:         %[[S0:.*]] = arith.addf
// CHECK:         %[[S1:.*]] = arith.addf
// CHECK:         arith.addf %[[S0]], %[[S1]] : f32
// CHECK-COUNT-3: llvm.call_intrinsic "llvm.maxnum"
// CHECK:         llvm.bitcast %{{.*}} : vector<4xf32> to vector<4xi32>
// CHECK:         arith.maxui
// CHECK-NOT:     vector.
// PTX-LABEL:     gpu.binary @vectors
// PTX-COUNT-4:   ex2.approx.f32
// PTX-COUNT-4:   fma.rn.f32
gpu.module @vectors [#nvvm.target<chip = "sm_90a", features = "+ptx80", O = 3>] {
  gpu.func @vectors(%A: !A, %v: vector<4xf32>, %x: f32, %i: i32) kernel {
    %at = cute.make_coord(%i) : (i32) -> !at
    %e = math.exp2 %v : vector<4xf32>
    %b = vector.broadcast %x : f32 to vector<4xf32>
    %f = math.fma %e, %b, %v : vector<4xf32>
    %sum = vector.reduction <add>, %f : vector<4xf32> into f32
    %max = vector.reduction <maxnumf>, %f : vector<4xf32> into f32
    %bits = vector.bitcast %f : vector<4xf32> to vector<4xi32>
    %most = vector.reduction <maxui>, %bits : vector<4xi32> into i32
    %m = arith.bitcast %most : i32 to f32
    %0 = arith.addf %sum, %max : f32
    %1 = arith.addf %0, %m : f32
    cute.memref.store(%A, %at, %1) : (!A, !at, f32) -> ()
    gpu.return
  }
}

// -----

!A = !cute.memref<f32, gmem, "64:1">

// What stands in another branch is lowered, too.
// CHECK-LABEL: gpu.module @branches
// CHECK:         scf.if
// CHECK:           llvm.store
// CHECK:         } else {
// CHECK:           llvm.store
// CHECK-NOT:     cute.
gpu.module @branches [#nvvm.target<chip = "sm_90a", features = "+ptx80", O = 3>] {
  gpu.func @branches(%A: !A, %x: f32, %p: i1) kernel {
    %c0 = cute.static : !cute.coord<"0">
    %c1 = cute.static : !cute.coord<"1">
    scf.if %p {
      cute.memref.store(%A, %c0, %x) : (!A, !cute.coord<"0">, f32) -> ()
    } else {
      cute.memref.store(%A, %c1, %x) : (!A, !cute.coord<"1">, f32) -> ()
    }
    gpu.return
  }
}

// -----

// Exponentials that may be approximate are one instruction, which makes 0 of results below 2^-126.
// CHECK-LABEL: gpu.module @approximate
// CHECK:         llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz"(%{{.*}}) : (f32) -> f32
// CHECK:         llvm.fmul
// CHECK:         llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz"(%{{.*}}) : (f32) -> f32
// CHECK:         llvm.call_intrinsic "llvm.nvvm.ex2.approx"(%{{.*}}) : (f32) -> f32
// PTX-LABEL:     gpu.binary @approximate
// PTX:           ex2.approx.ftz.f32
// PTX:           ex2.approx.ftz.f32
// PTX:           ex2.approx.f32
gpu.module @approximate [#nvvm.target<chip = "sm_90a", features = "+ptx80", O = 3>] {
  gpu.func @approximate(%A: !cute.memref<f32, gmem, "64:1">, %x: f32, %i: i32) kernel {
    %at = cute.make_coord(%i)
    %0 = math.exp2 %x fastmath<afn> : f32
    %1 = math.exp %0 fastmath<fast> : f32
    %2 = math.exp2 %1 fastmath<nnan> : f32
    cute.memref.store(%A, %at, %2)
    gpu.return
  }
}
