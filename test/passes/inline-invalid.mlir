// RUN: cute-opt %s --cute-inline --split-input-file --verify-diagnostics
// RUN: not cute-opt %s --cute-inline --split-input-file 2>&1 | FileCheck %s
//
// Errors say by which calls they came about.
// CHECK:      inline-invalid.mlir:[[@LINE+7]]:5: error: 'func.call' op calls @first within itself
// CHECK:      inline-invalid.mlir:[[@LINE+10]]:5: note: called from
// CHECK:      inline-invalid.mlir:[[@LINE+13]]:5: note: called from

gpu.module @recursion {
  func.func private @second(%t: !cute.memref<f32, gmem, "8:1">) {
    // expected-error @below {{'func.call' op calls @first within itself; functions on tensors are put in place of their calls, so that none can recur: write a loop}}
    func.call @first(%t) : (!cute.memref<f32, gmem, "8:1">) -> ()
    return
  }
  func.func private @first(%t: !cute.memref<f32, gmem, "8:1">) {
    func.call @second(%t) : (!cute.memref<f32, gmem, "8:1">) -> ()
    return
  }
  gpu.func @kernel(%t: !cute.memref<f32, gmem, "8:1">) kernel {
    func.call @first(%t) : (!cute.memref<f32, gmem, "8:1">) -> ()
    gpu.return
  }
}

// -----

gpu.module @declared {
  // expected-note @below {{the function is here}}
  func.func private @clear(!cute.memref<f32, gmem, "8:1">)
  gpu.func @kernel(%t: !cute.memref<f32, gmem, "8:1">) kernel {
    // expected-error @below {{expected the body of @clear, which is put in place of its calls, found a declaration; write the function in this gpu.module}}
    func.call @clear(%t) : (!cute.memref<f32, gmem, "8:1">) -> ()
    gpu.return
  }
}

// -----

gpu.module @blocks {
  // expected-error @below {{expected one block in @clear, found several; write loops and branches as scf ops}}
  func.func private @clear(%t: !cute.memref<f32, gmem, "8:1">) {
    cf.br ^next
  ^next:
    return
  }
  gpu.func @kernel(%t: !cute.memref<f32, gmem, "8:1">) kernel {
    func.call @clear(%t) : (!cute.memref<f32, gmem, "8:1">) -> ()
    gpu.return
  }
}

// -----

// What is right in a function may be wrong in a kernel that calls it: a block has too few threads for its copy.
!T = !cute.memref<f32, gmem, align<16>, "(128,8):(1,128)">
!copy = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f32, 128 b>, layout_copy_tv = <"((32,8),4):((4,128),1)">, tiler_mn = <"[128:1;8:1]">>
gpu.module @threads {
  func.func private @clear(%t: !T, %thread: !cute.coord<"?">) {
    %copy = cute.static : !copy
    // expected-error @below {{'cute.tiled.copy.partition_D' op is a part of 256, one for each thread of the tiled copy, but blocks have 128 threads along x}}
    %part = cute.tiled.copy.partition_D(%copy, %t, %thread)
    cute.clear(%part)
    return
  }
  gpu.func @kernel(%t: !T) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %tx = gpu.thread_id x
    %i = arith.index_cast %tx : index to i32
    %thread = cute.make_coord(%i)
    func.call @clear(%t, %thread) : (!T, !cute.coord<"?">) -> ()
    gpu.return
  }
}
