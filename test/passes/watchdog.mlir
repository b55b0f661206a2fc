// Waits for mbarriers that end with an assertion where a phase does not.
//
// RUN: cute-opt %s --split-input-file --pass-pipeline="builtin.module(gpu.module(gpu.func(cute-watchdog)))" | FileCheck %s

!bars = !cute.memref<i64, smem, align<8>, "2:1">
!bar = !cute.memref<i64, smem, align<8>, "1:0">
gpu.module @kernels {
  // A ring: each place has an assertion of its own, and what is waited for is asked again while it is not late.
  // CHECK-LABEL: gpu.func @ring
  // CHECK: %[[BARS:.*]] = cute.memref.alloca
  // CHECK: %[[START:.*]] = nvvm.read.ptx.sreg.globaltimer
  // CHECK: scf.while
  // CHECK: %[[ENDED:.*]] = cute_nvgpu.mbarrier_try_wait %[[BARS]][%[[I:.*]]], %{{.*}}
  // CHECK: %[[AGAIN:.*]] = arith.cmpi eq, %[[ENDED]], %{{.*}}
  // CHECK: %[[NOW:.*]] = nvvm.read.ptx.sreg.globaltimer
  // CHECK: %[[WAITED:.*]] = arith.subi %[[NOW]], %[[START]]
  // CHECK: %[[LATE:.*]] = arith.cmpi ugt, %[[WAITED]], %{{.*}}
  // CHECK: %[[FAILS:.*]] = arith.andi %[[AGAIN]], %[[LATE]]
  // CHECK: scf.if %[[FAILS]]
  // CHECK: %[[FIRST:.*]] = arith.cmpi ne, %[[I]], %{{.*}}
  // CHECK: cf.assert %[[FIRST]], "mbarrier 0 of {{.*}}watchdog.mlir:{{[0-9]+}}:13 has not ended its phase for 2 s, at the wait of {{.*}}watchdog.mlir:{{[0-9]+}}:5: fewer arrive
  // CHECK: cf.assert %{{.*}}, "mbarrier 1 of
  // CHECK: cf.assert %false{{.*}}, "an mbarrier of
  // CHECK: scf.condition(%[[AGAIN]])
  // CHECK-NOT: cute_nvgpu.mbarrier_wait
  gpu.func @ring(%i: i32, %parity: i32) kernel {
    %bars = cute.memref.alloca() : !bars
    cute_nvgpu.mbarrier_wait %bars[%i], %parity : !bars
    gpu.return
  }

  // CHECK-LABEL: gpu.func @one
  // CHECK: cf.assert %{{.*}}, "mbarrier 0 of
  // CHECK-NOT: cf.assert
  gpu.func @one(%parity: i32) kernel {
    %c0 = arith.constant 0 : i32
    %bar = cute.memref.alloca() : !bar
    cute_nvgpu.mbarrier_wait %bar[%c0], %parity : !bar
    gpu.return
  }
}
