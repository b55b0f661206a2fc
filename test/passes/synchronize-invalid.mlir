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

// -----

!s = !cute.memref<f32, smem, align<16>, "32:1">
!copy = !cute.tiled_copy<!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, layout_copy_tv = <"((4,8,2),((2,2,2),(1,1))):((32,1,0),((16,8,128),(16,256)))">, tiler_mn = <"[16:1;16:1]">>
!part = !cute.memref<f16, smem, align<512>, S<2,4,3>, "((8,1),2,2):((1,16),512,16)">
!c = !cute.coord<"?">

// An atom of a warp gives each of its threads another part.
gpu.module @kernels {
  gpu.func @by_a_part(%i: !c, %j: !c, %v: f32) kernel attributes {cute.synchronize} {
    %s = cute.memref.alloca() : !s
    %p = cute.memref.alloca() : !part
    %copy = cute.static : !copy
    %all = cute.atom_load(%copy, %p) at [0, 1, 0] : (!copy, !part) -> vector<8xf16>
    %x = vector.extract %all[0] : f16 from vector<8xf16>
    %if = arith.cmpf olt, %x, %x : f16
    // expected-note @below {{this depends on the thread}}
    scf.if %if {
      cute.memref.store(%s, %i, %v) : (!s, !c, f32) -> ()
      // expected-error @below {{not all threads of the block need come here alike}}
      %y = cute.memref.load(%s, %j) : (!s, !c) -> f32
    }
    gpu.return
  }
}

// -----

!s = !cute.memref<f32, smem, align<16>, "32:1">
!r = !cute.memref<i32, rmem, "4:1">
!c = !cute.coord<"?">

// Registers are a thread's own.
gpu.module @kernels {
  gpu.func @by_registers(%i: !c, %j: !c, %v: f32) kernel attributes {cute.synchronize} {
    %s = cute.memref.alloca() : !s
    %r = cute.memref.alloca() : !r
    %n = cute.memref.load(%r, %i) : (!r, !c) -> i32
    %if = arith.cmpi ult, %n, %n : i32
    // expected-note @below {{this depends on the thread}}
    scf.if %if {
      cute.memref.store(%s, %i, %v) : (!s, !c, f32) -> ()
      // expected-error @below {{not all threads of the block need come here alike}}
      %x = cute.memref.load(%s, %j) : (!s, !c) -> f32
    }
    gpu.return
  }
}
