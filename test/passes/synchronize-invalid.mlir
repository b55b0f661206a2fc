// RUN: cute-opt %s --cute-synchronize --split-input-file --verify-diagnostics

!s = !cute.memref<f32, smem, align<16>, "32:1">
!c = !cute.coord<"?">

gpu.module @kernels {
  gpu.func @some_threads(%i: !c, %j: !c, %v: f32) kernel attributes {cute.synchronize} {
    %t = gpu.thread_id x
    %c16 = arith.constant 16 : index
    %if = arith.cmpi ult, %t, %c16 : index
    %s = cute.memref.alloca() : !s
    // expected-note @below {{this depends on the thread}}
    scf.if %if {
      cute.memref.store(%s, %i, %v) : (!s, !c, f32) -> ()
      // expected-error @below {{shares bytes of shared memory with an access before it and needs a barrier of all threads of the block, but not all threads of the block need come here alike}}
      %x = cute.memref.load(%s, %j) : (!s, !c) -> f32
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error @below {{has the attribute 'cute.ring', where nothing reads it; expected it on a cute.memref.alloca in smem}}
  gpu.func @not_a_tensor() kernel attributes {cute.ring} {
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @registers() kernel {
    // expected-error @below {{expected it on a cute.memref.alloca in smem}}
    %a = cute.memref.alloca() {cute.ring} : !cute.memref<f32, rmem, "4:1">
    gpu.return
  }
}
