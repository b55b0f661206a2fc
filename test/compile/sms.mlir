// The number of multiprocessors, by which a configuration is chosen: from sms=, else that of a GPU of the architecture.
//
// RUN: cute-opt %s --cute-tile="arch=sm_90a instructions=mma sms=16" | FileCheck %s --check-prefix=FEW
// RUN: cute-opt %s --cute-tile="arch=sm_87" | FileCheck %s --check-prefix=ORIN
// RUN: cute-opt %s --cute-tile="arch=sm_90a instructions=mma sms=132" | FileCheck %s --check-prefix=MANY
// RUN: cute-opt %s --cute-tile="arch=sm_90a instructions=mma" | FileCheck %s --check-prefix=MANY
//
// It goes through the whole way down.
// RUN: cute-opt %s --cute-compile="arch=sm_90a instructions=mma sms=16" -o %t.mlir
// RUN: FileCheck %s --check-prefix=BINARY --input-file=%t.mlir

// K is none of which the compiler has measured times.
!t = !cute.memref<f16, gmem, align<16>, "(1024,768):(768,1)">
!c = !cute.memref<f16, gmem, align<16>, "(1024,1024):(1024,1)">

// FEW:  tile = 128x256x64
// ORIN: tile = 128x256x64
// MANY: tile = 128x64x64
// BINARY: tile = 128x256x64
func.func @gemm(%A: !t, %B: !t, %C: !c) {
  cute.contract ins(%A, %B : !t, !t) outs(%C : !c) accumulate f32
  return
}
