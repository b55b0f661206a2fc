// What no pass lowers is said in the author's words, before anything is lowered.
//
// RUN: cute-opt %s --split-input-file --verify-diagnostics --cute-check -o /dev/null
// RUN: not cute-opt %s --split-input-file --cute-compile="arch=sm_80" -o /dev/null 2>&1 | FileCheck %s
// CHECK-NOT: legalize
// CHECK-NOT: !llvm
// CHECK-NOT: places:

!g = !cute.memref<f32, gmem, align<16>, "128:1">
!where = !cute.coord<"?">
gpu.module @call {
  // expected-error @below {{functions on tensors, pointers and atoms are put in place of their calls, and @ld, (!cute.memref<f32, gmem, align<16>, "128:1">, !cute.coord<"?">) -> f32, is still here: call it by its name in place of taking its address, and run cute-inline first}}
  func.func private @ld(%x: !g, %c: !where) -> f32 {
    %y = cute.memref.load(%x, %c) : (!g, !where) -> f32
    return %y : f32
  }
  gpu.func @f(%A: !g, %B: !g) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %tx = gpu.thread_id x
    %t = arith.index_cast %tx : index to i32
    %c = cute.make_coord(%t) : (i32) -> !cute.coord<"?">
    %ld = func.constant @ld : (!g, !where) -> f32
    %w = func.call_indirect %ld(%A, %c) : (!g, !where) -> f32
    cute.memref.store(%B, %c, %w) : (!g, !where, f32) -> ()
    gpu.return
  }
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(1,1,1):(0,0,0)">, permutation_MNK = <"[16:1;8:1;16:1]">>
gpu.module @atom {
  // expected-error @below {{expected kernel arguments that a launch can pass, tensors in gmem and numbers, found argument 0 of type !cute.tiled_mma<}}
  gpu.func @f(%mma: !mma) kernel {
    gpu.return
  }
}

// -----

gpu.module @other {
  // expected-error @below {{found argument 2 of type tuple<i32>; pass a number as f16, f32, i8 to i64 or i1, and anything else as a tensor in gmem}}
  gpu.func @f(%x: f32, %is: i1, %t: tuple<i32>) kernel {
    gpu.return
  }
}

// -----

gpu.module @shared {
  // expected-error @below {{a launch has no smem to pass: allocate it in the kernel by cute.memref.alloca}}
  gpu.func @f(%s: !cute.memref<f32, smem, "4:1">) kernel {
    gpu.return
  }
}

// -----

// Coordinates are passed.
gpu.module @coordinates {
  func.func private @first(%c: !cute.coord<"(?,?)">) -> i32 {
    %i, %j = cute.get_scalars(%c) : !cute.coord<"(?,?)">
    return %i : i32
  }
  gpu.func @f(%c: !cute.coord<"(?,?)">) kernel {
    %i = func.call @first(%c) : (!cute.coord<"(?,?)">) -> i32
    gpu.return
  }
}

// -----

gpu.module @allocation {
  func.func private @f() {
    // expected-error @below {{expected 'cute.memref.alloca' in a kernel, whose registers and shared memory it takes, found it in the function @f}}
    %s = cute.memref.alloca() : !cute.memref<f32, smem, "4:1">
    return
  }
}

// -----

gpu.module @block {
  // expected-error @below {{expected known_block_size of at least 1 thread along x, y and z, and at most 1024 in all, found 0 x 1 x 1}}
  gpu.func @none() kernel attributes {known_block_size = array<i32: 0, 1, 1>} {
    gpu.return
  }
}

// -----

gpu.module @block {
  // expected-error @below {{at most 1024 in all, found 64 x 32 x 1}}
  gpu.func @many() kernel attributes {known_block_size = array<i32: 64, 32, 1>} {
    gpu.return
  }
}
