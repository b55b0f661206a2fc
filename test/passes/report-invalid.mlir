// What the report cannot say is said to be so, and is no error; its options are checked.
//
// RUN: cute-opt %s --cute-report -o /dev/null 2>&1 | FileCheck %s
// RUN: not cute-opt %s --cute-report=arch=sm_10 -o /dev/null 2>&1 | FileCheck %s --check-prefix=ARCH
// RUN: not cute-opt %s --cute-report=json=%t.none/report.json -o /dev/null 2>&1 | FileCheck %s --check-prefix=FILE

// ARCH: cute-report: arch: unsupported architecture 'sm_10': expected one of sm_75
// FILE: cute-report: cannot write {{.*}}report.json: {{.*}}; give json= a path in a folder that is there

!g = !cute.memref<f32, gmem, align<16>, "(32,32):(32,1)">
!s = !cute.memref<f32, smem, align<16>, "(32,32):(32,1)">

gpu.module @kernels {
  // No size of a block, and indices from memory.
  // CHECK: remark: kernel gather: a block of a size that is not known (write known_block_size; figures are those of a first warp along x)
  // CHECK-SAME: (sm_90, assumed)
  gpu.func @gather(%A: !g, %index: !cute.memref<i32, gmem, align<4>, "32:1">) kernel {
    %tx = gpu.thread_id x
    %t = arith.index_cast %tx : index to i32
    %at = cute.make_coord(%t) : (i32) -> !cute.coord<"?">
    // CHECK: remark: ld.global: a warp touches 4 sectors, ideal 4, and 1 line, ideal 1
    %i = cute.memref.load(%index, %at) : (!cute.memref<i32, gmem, align<4>, "32:1">, !cute.coord<"?">) -> i32
    %to = cute.make_coord(%i) : (i32) -> !cute.coord<"(?,0)">
    // CHECK: remark: ld.global: sectors are not known: the address depends on something other than indices of threads, blocks and loops and the kernel's integers
    %x = cute.memref.load(%A, %to) : (!g, !cute.coord<"(?,0)">) -> f32
    %col = cute.make_coord(%t) : (i32) -> !cute.coord<"(?,1)">
    %s = cute.memref.alloca() : !s
    // Rows of 128 bytes: all lanes at one bank.
    // CHECK: remark: st.shared: 32 wavefronts a warp access, ideal 1; the swizzle S<5,2,5> on the tensor makes it 1 instead of 32 passes in all, at best 1
    cute.memref.store(%s, %col, %x) : (!s, !cute.coord<"(?,1)">, f32) -> ()
    gpu.return
  }

  // What cannot be lowered.
  // CHECK: remark: what memory accesses cost is not known: copies or multiplies tiles of a block; expected the attribute cute.plan on the kernel
  gpu.func @tiles(%A: !g) kernel {
    %s = cute.memref.alloca() : !s
    cute.block.copy A (%A, %s) : (!g, !s)
    gpu.return
  }
}

// CHECK: {{^}}kernel gather:
// CHECK: {{^}}kernel tiles:
// CHECK: what memory accesses cost is not known
