// Registers that nothing has written: the error is at the read, with the write that was perhaps meant for them.
//
// RUN: cute-opt %s --cute-fragments-to-values --verify-diagnostics

!g = !cute.memref<f32, gmem, align<16>, "((4,1),1):((1,0),0)">
!f = !cute.memref<f32, rmem, align<16>, "((4,1),1):((1,0),0)">
!atom = !cute_nvgpu.atom.universal_copy<f32, 128 b>
gpu.module @kernels {
  gpu.func @twice(%A: !g, %B: !g, %C: !g) kernel {
    %atom = cute.make_atom() : () -> !atom
    // expected-note @below {{the registers are allocated here}}
    %fa = cute.memref.alloca() : !f
    %fb = cute.memref.alloca() : !f
    // expected-note @below {{other registers of that type are written here, and not read before they are written again or used: were these meant?}}
    cute.copy(%atom, %A, %fb) : (!atom, !g, !f)
    cute.copy(%atom, %B, %fb) : (!atom, !g, !f)
    // expected-error @below {{reads registers that nothing has written}}
    %a = cute.memref.load_vec %fa : !f
    %b = cute.memref.load_vec %fb : !f
    %c = arith.addf %a, %b : vector<4xf32>
    cute.memref.store_vec %c, %fa : !f
    cute.copy(%atom, %fa, %C) : (!atom, !f, !g)
    gpu.return
  }
}
