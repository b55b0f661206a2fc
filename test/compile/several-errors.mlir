// A kernel that fails keeps none of the others from being compiled as far as they go: one run says what is wrong with each,
// at whichever level that is, through the pipeline and by a pass alone.
//
// RUN: cute-opt %s --cute-compile=arch=sm_90 --verify-diagnostics
// RUN: not cute-opt %s --cute-partition -o /dev/null 2>&1 | FileCheck %s
// CHECK-COUNT-2: error: copies or multiplies tiles of a block

!s = !cute.memref<f16, smem, align<128>, "(64,64):(64,1)">
!large = !cute.memref<f16, smem, align<128>, "(1024,1024):(1024,1)">
module attributes {gpu.container_module} {
  gpu.module @first [#nvvm.target<chip = "sm_90">] {
    // expected-error @+1 {{copies or multiplies tiles of a block; expected the attribute cute.plan}}
    gpu.func @no_plan() kernel {
      %a = cute.memref.alloca() : !s
      cute.block.copy A (%a, %a) : (!s, !s)
      gpu.return
    }
    // expected-error @+1 {{the kernel needs 2097152 bytes of shared memory, sm_90 has}}
    gpu.func @too_large() kernel {
      // expected-note @+1 {{2097152 bytes from byte 0 on}}
      %a = cute.memref.alloca() : !large
      %at = cute.make_coord() : () -> !cute.coord<"(3,5)">
      %v = cute.memref.load(%a, %at) : (!large, !cute.coord<"(3,5)">) -> f16
      cute.memref.store(%a, %at, %v) : (!large, !cute.coord<"(3,5)">, f16) -> ()
      gpu.return
    }
    gpu.func @sound() kernel {
      gpu.return
    }
  }
  gpu.module @second [#nvvm.target<chip = "sm_90">] {
    // expected-error @+1 {{copies or multiplies tiles of a block; expected the attribute cute.plan}}
    gpu.func @no_plan() kernel {
      %a = cute.memref.alloca() : !s
      cute.block.copy A (%a, %a) : (!s, !s)
      gpu.return
    }
  }
}
