// Fences and waits are given accumulators, loops carry whether C is added, and dynamic shared memory becomes a tensor.
//
// RUN: cute-opt %s --cute-read-dsl | FileCheck %s

!mma = !cute.tiled_mma<!cute_nvgpu.sm90.mma<64x64x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = rs>, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
!acc = !cute.memref<f32, rmem, "((2,2,8),1,1):((1,2,4),0,0)">
!a = !cute.memref<f16, rmem, "((2,2,2),1,1):((1,2,4),0,0)">
!b = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((64,16),1,1):((64,1),0,0)">
module attributes {gpu.container_module} {
  gpu.module @k {
    // CHECK-LABEL: gpu.func @carried(
    // CHECK-SAME:    %[[COUNT:.+]]: i32, %[[FIRST:.+]]: i1)
    // CHECK:       %[[MEMORY:.+]] = cute.memref.alloca() : !cute.memref<i8, smem, align<1024>, "8192:1">
    // CHECK:       %[[START:.+]] = cute.get_iter(%[[MEMORY]]) : !cute.memref<i8, smem, align<1024>, "8192:1">
    // CHECK:       cute.recast_iter(%[[START]]) : !cute.ptr<i8, smem, align<1024>> to !cute.ptr<f16, smem, align<1024>, S<3,4,3>>
    // CHECK:       %[[ACC:.+]] = cute.memref.alloca() : !cute.memref<f32, rmem,
    // CHECK:       %[[A:.+]] = cute.memref.alloca() : !cute.memref<f16, rmem,
    // CHECK:       cute_nvgpu.wgmma_fence(%[[ACC]], %[[A]])
    // CHECK:       %[[MMA:.+]] = cute.static : !cute.tiled_mma<
    // CHECK:       %[[LEFT:.+]] = scf.for {{.*}} iter_args(%[[ADDS:.+]] = %[[FIRST]]) -> (i1)
    // CHECK:         %[[NOW:.+]] = cute_nvgpu.atom.set_value(%[[MMA]], %[[ADDS]] : i1)
    // CHECK:         cute.gemm(%[[NOW]], %[[ACC]], %[[A]], %{{.+}}, %[[ACC]])
    // CHECK:         cute_nvgpu.wgmma_commit_group
    // CHECK:         scf.yield %[[TRUE:.+]] : i1
    // CHECK:       cute_nvgpu.atom.set_value(%[[MMA]], %[[LEFT]] : i1)
    // CHECK:       cute_nvgpu.wgmma_wait_group 0(%[[ACC]])
    gpu.func @carried(%count: i32, %first: i1) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %true = arith.constant true
      %smem = cute_nvgpu.arch.get_dyn_smem() : !cute.ptr<i8, smem, align<1024>>
      %p = cute.recast_iter(%smem) : !cute.ptr<i8, smem, align<1024>> to !cute.ptr<f16, smem, align<1024>, S<3,4,3>>
      %b = cute.make_view(%p) : !b
      %acc = cute.memref.alloca() : !acc
      %a = cute.memref.alloca() : !a
      %mma = cute.static : !mma
      %begin = cute_nvgpu.atom.set_value(%mma, %first : i1) {field = #cute_nvgpu.atom_mma_field_sm90<accum_c>} : !mma
      nvvm.wgmma.fence.aligned
      %end = scf.for %i = %c0 to %count step %c1 iter_args(%now = %begin) -> (!mma) : i32 {
        cute.gemm(%now, %acc, %a, %b, %acc) : (!mma, !acc, !a, !b, !acc)
        nvvm.wgmma.commit.group.sync.aligned
        %next = cute_nvgpu.atom.set_value(%now, %true : i1) {field = #cute_nvgpu.atom_mma_field_sm90<accum_c>} : !mma
        scf.yield %next : !mma
      }
      cute.gemm(%end, %acc, %a, %b, %acc) : (!mma, !acc, !a, !b, !acc)
      nvvm.wgmma.wait.group.sync.aligned 0
      gpu.return
    }
  }

  func.func @host(%count: i32, %first: i1) {
    %one = arith.constant 1 : index
    %threads = arith.constant 128 : index
    %bytes = arith.constant 8192 : i32
    gpu.launch_func @k::@carried blocks in (%one, %one, %one) threads in (%threads, %one, %one) dynamic_shared_memory_size %bytes args(%count : i32, %first : i1)
    return
  }
}
