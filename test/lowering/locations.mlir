// PTX says which line each instruction comes from, and which step of what that line asks for.
//
// RUN: cute-opt %s --pass-pipeline="builtin.module(cute-to-nvvm,cute-simplify-indices,cse,gpu.module(convert-scf-to-cf,convert-gpu-to-nvvm{index-bitwidth=32},reconcile-unrealized-casts),cute-emit-ptx)" -o %t.mlir
// RUN: %python %inputs/places.py < %t.mlir | FileCheck %s --implicit-check-not=nowhere
//
// ptxas takes it, for each architecture.
// RUN: cute-opt %t.mlir --cute-assemble -o /dev/null
//
// An algorithm is one line: steps tell what it has become.
// RUN: cute-opt %inputs/gemm.mlir --cute-compile="arch=sm_80 tile=32x32x32 warps=1x2 stages=2" -o %t.gemm.mlir
// RUN: %python %inputs/places.py --op < %t.gemm.mlir | FileCheck %s --check-prefix=STEPS --implicit-check-not=nowhere
// STEPS:     {cute.contract} mov.u32
// STEPS-DAG: {cute.contract} [copy A] cp.async.cg.shared.global
// STEPS-DAG: {cute.contract} [copy B] cp.async.cg.shared.global
// STEPS-DAG: {cute.contract} [commit copies] cp.async.commit_group
// STEPS:     {cute.contract} [wait for copies] cp.async.wait_group
// STEPS:     {cute.contract} [wait for copies] bar.sync
// STEPS-DAG: {cute.contract} [load A] ldmatrix
// STEPS-DAG: {cute.contract} [load B] ldmatrix
// STEPS-DAG: {cute.contract} [multiply] mma.sync
// STEPS:     {cute.contract} [convert C] cvt
// STEPS:     {cute.contract} [wait for other threads] bar.sync
// STEPS:     {cute.contract} [gather C] st.shared
// STEPS:     {cute.contract} [wait for other threads] bar.sync
// STEPS:     {cute.contract} [store C] ld.shared
// STEPS:     {cute.contract} [store C] st.global
// STEPS-NOT: {cute.contract} {{(ld|st|cp|bar|mma)}}
//
// Whoever prints a level and compiles on from there is led to the lines of what was printed.
// RUN: cute-opt %inputs/gemm.mlir --pass-pipeline="builtin.module(cute-tile{arch=sm_80 tile=32x32x32 warps=1x2 stages=2})" -o %t.tiled.mlir
// RUN: cute-opt %t.tiled.mlir --pass-pipeline="builtin.module(cute-partition,cute-fragments-to-values,cse,cute-make-rings,cute-assign-latencies,cute-schedule,cute-expand-pipeline,cse,cute-lower-pipeline,cute-allocate-shared,cute-synchronize,cute-lower-layouts,cute-to-nvvm,cute-simplify-indices,cse,gpu.module(convert-scf-to-cf,convert-gpu-to-nvvm{index-bitwidth=32},reconcile-unrealized-casts),cute-emit-ptx)" -o %t.tiled.ptx.mlir
// RUN: %python %inputs/places.py --op < %t.tiled.ptx.mlir | FileCheck %s --check-prefix=TILED --implicit-check-not=nowhere
// TILED-DAG: {cute.block.copy} cp.async.cg.shared.global
// TILED-DAG: {scf.for} [commit copies] cp.async.commit_group
// TILED:     {scf.for} [wait for copies] bar.sync
// TILED-DAG: {cute.block.gemm} [load A] ldmatrix
// TILED-DAG: {cute.block.gemm} [load B] ldmatrix
// TILED-DAG: {cute.block.gemm} mma.sync
// TILED:     {cute.convert} cvt
// TILED:     {cute.block.copy} st.shared
// TILED:     {cute.block.copy} [wait for other threads] bar.sync
// TILED:     {cute.block.copy} st.global
//
// RUN: cute-opt %inputs/gemm.mlir --pass-pipeline="builtin.module(cute-tile{arch=sm_80 tile=32x32x32 warps=1x2 stages=3},cute-partition,cute-fragments-to-values,cse,cute-make-rings,cute-assign-latencies,cute-schedule,cute-expand-pipeline,cse)" -o %t.expanded.mlir
// RUN: cute-opt %t.expanded.mlir --pass-pipeline="builtin.module(cute-lower-pipeline,cute-allocate-shared,cute-synchronize,cute-lower-layouts,cute-to-nvvm,cute-simplify-indices,cse,gpu.module(convert-scf-to-cf,convert-gpu-to-nvvm{index-bitwidth=32},reconcile-unrealized-casts),cute-emit-ptx)" -o %t.expanded.ptx.mlir
// RUN: %python %inputs/places.py --op < %t.expanded.ptx.mlir | FileCheck %s --check-prefix=EXPANDED --implicit-check-not=nowhere
// EXPANDED-DAG: {cute.atom_copy} cp.async.cg.shared.global
// EXPANDED-DAG: {cute.pipeline.producer_commit} cp.async.commit_group
// EXPANDED:     {cute.pipeline.consumer_wait} cp.async.wait_group
// EXPANDED:     {cute.pipeline.consumer_wait} bar.sync
// EXPANDED-DAG: {cute.atom_load} ldmatrix
// EXPANDED-DAG: {cute.atom_mma} mma.sync
// EXPANDED:     {cute.pipeline.producer_tail} cp.async.wait_group
// EXPANDED:     {cute.atom_store} st.shared
// EXPANDED:     {cute.atom_store} st.global
//
// Text that is no file has a name as well.
// RUN: cute-opt --cute-compile="arch=sm_80 tile=32x32x32 warps=1x2 stages=1" < %inputs/gemm.mlir | %python %inputs/places.py | FileCheck %s --check-prefix=STDIN
// STDIN: <stdin>:4:3 [copy A] cp.async

!async = !cute.tiled_copy<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, layout_copy_tv = <"((2,16),8):((128,1),16)">, tiler_mn = <"[16:1;16:1]">>
!ldsm = !cute.tiled_copy<!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, layout_copy_tv = <"((4,8),((2,2,2),(1,1))):((32,1),((16,8,128),(16,256)))">, tiler_mn = <"[16:1;16:1]">>
!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(1,1,1):(1,1,0)">, permutation_MNK = <"[16:1;16:1;16:1]">>
!A = !cute.memref<f16, gmem, align<16>, "(16,16):(64,1)">
!s = !cute.memref<f16, smem, align<128>, "(16,16):(16,1)">
!gp = !cute.memref<f16, gmem, align<16>, "((8,1),1,1):((1,8),1024,16)">
!sp = !cute.memref<f16, smem, align<16>, "((8,1),1,1):((1,8),256,16)">
!p = !cute.memref<f16, smem, align<16>, "((8,1),1,1):((1,16),256,16)">

module attributes {gpu.container_module} {
  gpu.module @kernels [#nvvm.target<chip = "sm_80">, #nvvm.target<chip = "sm_90a">, #nvvm.target<chip = "sm_120">] {
    gpu.func @product(%A: !A, %b: vector<4xf16>, %c: vector<4xf32>, %out: !llvm.ptr<1>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
      // CHECK: locations.mlir:[[@LINE+1]]:12 mov.u32
      %x = gpu.thread_id x
      %i = arith.index_cast %x : index to i32
      %atom = cute.make_atom() : () -> !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
      %copy = cute.make_tiled_copy(%atom) : !async
      %latom = cute.make_atom() : () -> !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
      %lcopy = cute.make_tiled_copy(%latom) : !ldsm
      %matom = cute.make_atom() : () -> !cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>
      %mma = cute.make_tiled_mma(%matom) : !mma
      %s = cute.memref.alloca() {offset = 0 : i64} : !s
      %t = cute.make_coord(%i) : (i32) -> !cute.coord<"?">
      %gp = cute.tiled.copy.partition_S(%copy, %A, %t) : (!async, !A, !cute.coord<"?">) -> !gp
      %sp = cute.tiled.copy.partition_D(%copy, %s, %t) : (!async, !s, !cute.coord<"?">) -> !sp
      // An address is computed for what uses it.
      // CHECK: locations.mlir:[[@LINE+2]]:7 add.s64
      // CHECK: locations.mlir:[[@LINE+1]]:7 cp.async.cg.shared.global
      cute.atom_copy(%copy, %gp, %sp) at [0, 0, 0] : (!async, !gp, !sp)
      // CHECK-NEXT: locations.mlir:[[@LINE+1]]:7 cp.async.commit_group
      nvvm.cp.async.commit.group
      // CHECK-NEXT: locations.mlir:[[@LINE+1]]:7 cp.async.wait_group
      nvvm.cp.async.wait.group 0
      // CHECK-NEXT: locations.mlir:[[@LINE+1]]:7 bar.sync
      gpu.barrier
      %p = cute.tiled.copy.partition_S(%lcopy, %s, %t) : (!ldsm, !s, !cute.coord<"?">) -> !p
      // CHECK: locations.mlir:[[@LINE+1]]:12 ldmatrix.sync.aligned.m8n8.x4.shared.b16
      %a = cute.atom_load(%lcopy, %p) at [0, 0, 0] : (!ldsm, !p) -> vector<8xf16>
      // CHECK: locations.mlir:[[@LINE+1]]:12 mma.sync
      %d = cute.atom_mma(%mma, %a, %b, %c) : (!mma, vector<8xf16>, vector<4xf16>, vector<4xf32>) -> vector<4xf32>
      // CHECK: locations.mlir:[[@LINE+1]]:7 st.global
      llvm.store %d, %out : vector<4xf32>, !llvm.ptr<1>
      // CHECK: locations.mlir:[[@LINE+1]]:7 ret
      gpu.return
    }
  }
}
