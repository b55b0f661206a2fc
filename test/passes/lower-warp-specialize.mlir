// RUN: cute-opt %s --split-input-file --pass-pipeline="builtin.module(gpu.module(gpu.func(cute-lower-warp-specialize)))" | FileCheck %s
//
// Roles of warps: branches on the uniform number of the warp, registers, and indices within the role.

gpu.module @roles {
  // The block begins with as many registers as roles ask for together, in multiples of 8: 40 + 2 x 232 = 504, 168 for a thread.
  // CHECK-LABEL: gpu.func @with_registers
  // CHECK-SAME: nvvm.maxnreg = 168 : i32
  // CHECK: %[[X:.*]] = gpu.thread_id x
  // CHECK: %[[T:.*]] = arith.index_cast %[[X]]
  // CHECK: %[[OF:.*]] = arith.divui %[[T]], %c32_i32
  // CHECK: %[[WARP:.*]] = cute_nvgpu.arch.make_warp_uniform(%[[OF]])
  // CHECK: %[[FIRST:.*]] = arith.cmpi ult, %[[WARP]], %c4_i32
  // CHECK: scf.if %[[FIRST]] {
  // CHECK-NEXT: nvvm.setmaxregister decrease 40
  // CHECK-NEXT: llvm.inline_asm has_side_effects "copy $0 $1;", "r,r" %[[T]], %[[WARP]]
  // CHECK: } else {
  // CHECK-NEXT: nvvm.setmaxregister increase 232
  // CHECK: %[[T2:.*]] = arith.subi %[[T]], %c128_i32
  // CHECK: %[[W2:.*]] = arith.subi %[[WARP]], %c4_i32
  // CHECK: llvm.inline_asm has_side_effects "multiply $0 $1;", "r,r" %[[T2]], %[[W2]]
  // CHECK-NOT: cute.warp_specialize
  gpu.func @with_registers() kernel attributes {known_block_size = array<i32: 384, 1, 1>} {
    cute.warp_specialize
    role(%t, %warp) warps 4 registers 40 {
      llvm.inline_asm has_side_effects "copy $0 $1;", "r,r" %t, %warp : (i32, i32) -> ()
    }
    role(%t, %warp) warps 8 registers 232 {
      llvm.inline_asm has_side_effects "multiply $0 $1;", "r,r" %t, %warp : (i32, i32) -> ()
    }
    gpu.return
  }

  // Three roles of single warps, without registers: one branch in the other.
  // CHECK-LABEL: gpu.func @three
  // CHECK-NOT: maxnreg
  // CHECK: arith.cmpi ult, %{{.*}}, %c1_i32
  // CHECK: scf.if
  // CHECK-NEXT: "one;"
  // CHECK: } else {
  // CHECK: arith.cmpi ult, %{{.*}}, %c3_i32
  // CHECK: scf.if
  // CHECK: "two;"
  // CHECK: } else {
  // CHECK: "three;"
  // CHECK-NOT: setmaxregister
  gpu.func @three() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    cute.warp_specialize
    role(%t, %warp) warps 1 {
      llvm.inline_asm has_side_effects "one;", "" : () -> ()
    }
    role(%t, %warp) warps 2 {
      llvm.inline_asm has_side_effects "two;", "" : () -> ()
    }
    role(%t, %warp) warps 1 {
      llvm.inline_asm has_side_effects "three;", "" : () -> ()
    }
    gpu.return
  }

  // What the kernel says itself stays: threads begin with 128, so that a role of 128 asks for nothing.
  // CHECK-LABEL: gpu.func @given
  // CHECK-SAME: nvvm.maxnreg = 128 : i32
  // CHECK: nvvm.setmaxregister decrease 56
  // CHECK: } else {
  // CHECK: scf.if
  // CHECK-NOT: setmaxregister
  // CHECK: "same;"
  // CHECK: } else {
  // CHECK: nvvm.setmaxregister increase 200
  gpu.func @given() kernel attributes {known_block_size = array<i32: 384, 1, 1>, nvvm.maxnreg = 128 : i32} {
    cute.warp_specialize
    role(%t, %warp) warps 4 registers 56 {
    }
    role(%t, %warp) warps 4 registers 128 {
      llvm.inline_asm has_side_effects "same;", "" : () -> ()
    }
    role(%t, %warp) warps 4 registers 200 {
    }
    gpu.return
  }

  // Blocks of which two run at once have half of the registers each: 80 of 160 for a thread.
  // CHECK-LABEL: gpu.func @two_blocks
  // CHECK-SAME: nvvm.minctasm = 2 : i32
  // CHECK-NOT: maxnreg
  // CHECK: nvvm.setmaxregister decrease 40
  // CHECK: nvvm.setmaxregister increase 96
  gpu.func @two_blocks() kernel attributes {known_block_size = array<i32: 384, 1, 1>, nvvm.minctasm = 2 : i32} {
    cute.warp_specialize
    role(%t, %warp) warps 4 registers 40 {
    }
    role(%t, %warp) warps 8 registers 96 {
    }
    gpu.return
  }
}
