// From tiles of a block to what each thread holds.
//
// The kernel below is written by hand: one block of two warps computes 32 x 32 of C, in two steps of 32.
//
// RUN: cute-opt %s --cute-partition --cute-synchronize --cse | FileCheck %s
// RUN: cute-opt %s --cute-partition --cute-synchronize --cse | cute-opt | FileCheck %s

!plan_mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,2,1):(1,1,0)">, permutation_MNK = <"[16:1;32:1;16:1]">>
!plan_in = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
!plan_load = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
!plan_pair = !cute_nvgpu.atom.universal_copy<f16, 32 b>
!plan_out = !cute_nvgpu.atom.universal_copy<f16, 128 b>
#plan = #cute.plan<tile = 32x32x32, stages = 1, raster = 1, mma = !plan_mma,
  A = [<!plan_in, group, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 1>, <!plan_load, immediate>],
  B = [<!plan_in, group, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 1>, <!plan_load, immediate>],
  C = [<!plan_pair, immediate, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 1>, <!plan_out, immediate>]>
!A = !cute.memref<f16, gmem, align<16>, "(32,64):(64,1)">
!C = !cute.memref<f16, gmem, align<16>, "(32,32):(96,1)">
!gk = !cute.memref<f16, gmem, align<16>, "(32,32,2):(64,1,32)">
!g = !cute.memref<f16, gmem, align<16>, "(32,32):(64,1)">
!s = !cute.memref<f16, smem, align<512>, S<2,4,3>, "(32,32):(32,1)">
!acc = !cute.memref<f32, rmem, "(32,32):(32,1)">
!half = !cute.memref<f16, rmem, "(32,32):(32,1)">

// CHECK-LABEL: gpu.func @kernel(
// CHECK-SAME:    %[[A:.*]]: !cute.memref<f16, gmem, align<16>, "(32,64):(64,1)">, %[[B:.*]]: !cute.memref<{{.*}}>, %[[C:.*]]: !cute.memref<f16, gmem, align<16>, "(32,32):(96,1)">

// What all of it is partitioned by is made once, where the kernel begins.
// CHECK:         %[[TX:.*]] = gpu.thread_id x
// CHECK:         %[[TI:.*]] = arith.index_cast %[[TX]] : index to i32
// CHECK:         %[[TID:.*]] = cute.make_coord(%[[TI]]) : (i32) -> !cute.coord<"?">

// Two warps along N, and for each two atoms along N, as one ldmatrix.x4 feeds both.
// CHECK:         %[[MMA:.*]] = cute.make_tiled_mma(%{{.*}}) : !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,2,1):(1,1,0)">, permutation_MNK = <"[16:1;32:1;16:1]">>
// 4 threads of 8 elements along a row of 32, 16 rows at a time.
// CHECK:         %[[LOAD:.*]] = cute.make_tiled_copy(%{{.*}}) : !cute.tiled_copy<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, layout_copy_tv = <"((4,16),8):((128,1),16)">, tiler_mn = <"[16:1;32:1]">>
// As the MMA holds A, and B.
// CHECK:         %[[LDA:.*]] = cute.make_tiled_copy(%{{.*}}) : !cute.tiled_copy<!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, layout_copy_tv = <"((4,8,2),((2,2,2),(1,1))):((32,1,0),((16,8,128),(16,256)))">, tiler_mn = <"[16:1;16:1]">>
// CHECK:         %[[LDB:.*]] = cute.make_tiled_copy(%{{.*}}) : !cute.tiled_copy<!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, layout_copy_tv = <"((4,16),((2,2),(2,1))):((64,1),((32,256),(16,512)))">, tiler_mn = <"[32:1;16:1]">>
// Pairs of the accumulators, then whole vectors.
// CHECK:         %[[STC:.*]] = cute.make_tiled_copy(%{{.*}}) : !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 32 b>, layout_copy_tv = <"((4,8,2),((2,2),(1,2))):((32,1,128),((16,8),(16,256)))">, tiler_mn = <"[16:1;32:1]">>
// CHECK:         %[[OUT:.*]] = cute.make_tiled_copy(%{{.*}}) : !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"((4,16),8):((128,1),16)">, tiler_mn = <"[16:1;32:1]">>

// CHECK:         %[[GA:.*]] = cute.local_tile(%[[A]],
// CHECK:         %[[GB:.*]] = cute.local_tile(%[[B]],
// CHECK:         %[[SA:.*]] = cute.memref.alloca() : !cute.memref<f16, smem, align<512>, S<2,4,3>, "(32,32):(32,1)">
// CHECK:         %[[SB:.*]] = cute.memref.alloca() : !cute.memref<f16, smem, align<512>, S<2,4,3>, "(32,32):(32,1)">

// 4 values of an atom, 2 atoms along M, 2 along N.
// CHECK:         %[[SHAPE:.*]] = cute.tiled.mma.partition_shape C (%[[MMA]], %{{.*}}) : ({{.*}}, !cute.shape<"(32,32)">) -> !cute.shape<"((2,2),2,2)">
// CHECK:         %[[ACC:.*]] = cute.mma.make_fragment C (%[[MMA]], %[[SHAPE]]) : ({{.*}}) -> !cute.memref<f32, rmem, align<16>, "((2,2),2,2):((1,2),4,8)">
// CHECK:         cute.clear(%[[ACC]])
// CHECK:         scf.for %[[K:.*]] = %{{.*}} to %{{.*}} step %{{.*}} : i32 {
// CHECK:           %[[CK:.*]] = cute.make_coord(%[[K]])
// CHECK:           %[[TA:.*]] = cute.slice(%[[GA]], %[[CK]])
// CHECK:           %[[TAG:.*]] = cute.tiled.copy.partition_S(%[[LOAD]], %[[TA]], %[[TID]]) : ({{.*}}) -> !cute.memref<f16, gmem, align<16>, "((8,1),2,1):((1,0),1024,0)">
// CHECK:           %[[TAS:.*]] = cute.tiled.copy.partition_D(%[[LOAD]], %[[SA]], %[[TID]]) : ({{.*}}) -> !cute.memref<f16, smem, align<16>, S<2,4,3>, "((8,1),2,1):((1,0),512,0)">
// CHECK:           cute.copy(%[[LOAD]], %[[TAG]], %[[TAS]])
// CHECK:           %[[TB:.*]] = cute.slice(%[[GB]], %[[CK]])
// CHECK:           %[[TBG:.*]] = cute.tiled.copy.partition_S(%[[LOAD]], %[[TB]], %[[TID]])
// CHECK:           %[[TBS:.*]] = cute.tiled.copy.partition_D(%[[LOAD]], %[[SB]], %[[TID]])
// CHECK:           cute.copy(%[[LOAD]], %[[TBG]], %[[TBS]])
// CHECK:           %[[PA:.*]] = cute.tiled.mma.partition A (%[[MMA]], %[[SA]], %[[TID]])
// CHECK:           %[[FA:.*]] = cute.mma.make_fragment A (%[[MMA]], %[[PA]]) : ({{.*}}) -> !cute.memref<f16, rmem, align<16>, "((2,2,2),2,2):((1,2,4),16,8)">
// CHECK:           %[[FROMA:.*]] = cute.tiled.copy.partition_S(%[[LDA]], %[[SA]], %[[TID]]) : ({{.*}}) -> !cute.memref<f16, smem, align<16>, S<2,4,3>, "((8,1),2,2):((1,0),512,16)">
// CHECK:           %[[TOA:.*]] = cute.tiled.copy.retile(%[[LDA]], %[[FA]]) : ({{.*}}) -> !cute.memref<f16, rmem, align<16>, "((8,1),2,2):((1,0),16,8)">

// What was copied has landed, for all threads, before it is read.
// CHECK-NOT:       cute.copy
// CHECK:           nvvm.cp.async.commit.group
// CHECK-NEXT:      nvvm.cp.async.wait.group 0
// CHECK-NEXT:      gpu.barrier
// CHECK:           cute.copy(%[[LDA]], %[[FROMA]], %[[TOA]])
// CHECK-NOT:       gpu.barrier
// CHECK:           %[[PB:.*]] = cute.tiled.mma.partition B (%[[MMA]], %[[SB]], %[[TID]])
// CHECK:           %[[FB:.*]] = cute.mma.make_fragment B (%[[MMA]], %[[PB]]) : ({{.*}}) -> !cute.memref<f16, rmem, align<8>, "((2,2),2,2):((1,2),8,4)">
// CHECK:           %[[FROMB:.*]] = cute.tiled.copy.partition_S(%[[LDB]], %[[SB]], %[[TID]])
// CHECK:           %[[TOB:.*]] = cute.tiled.copy.retile(%[[LDB]], %[[FB]])
// CHECK:           cute.copy(%[[LDB]], %[[FROMB]], %[[TOB]])
// CHECK:           cute.gemm(%[[MMA]], %[[ACC]], %[[FA]], %[[FB]], %[[ACC]])
// Read before the next step overwrites it.
// CHECK-NEXT:      gpu.barrier
// CHECK-NEXT:    }

// CHECK:         %[[HALF:.*]] = cute.convert(%[[ACC]]) : ({{.*}}) -> !cute.memref<f16, rmem, "((2,2),2,2):((1,2),4,8)">
// CHECK:         %[[SC:.*]] = cute.memref.alloca()
// CHECK:         %[[REG:.*]] = cute.tiled.copy.retile(%[[STC]], %[[HALF]]) : ({{.*}}) -> !cute.memref<f16, rmem, "((2,(2,2)),2,1):((1,(2,8)),4,0)">
// CHECK:         %[[TCS:.*]] = cute.tiled.copy.partition_D(%[[STC]], %[[SC]], %[[TID]]) : ({{.*}}) -> !cute.memref<f16, smem, align<4>, S<2,4,3>, "((2,(2,2)),2,1):((1,(256,16)),512,0)">
// CHECK:         cute.copy(%[[STC]], %[[REG]], %[[TCS]])
// CHECK:         %[[SCO:.*]] = cute.tiled.copy.partition_S(%[[OUT]], %[[SC]], %[[TID]])
// CHECK:         %[[GCO:.*]] = cute.tiled.copy.partition_D(%[[OUT]], %[[C]], %[[TID]]) : ({{.*}}) -> !cute.memref<f16, gmem, align<16>, "((8,1),2,1):((1,0),1536,0)">
// Written by one thread, read by another; nothing asynchronous is left to wait for.
// CHECK-NEXT:    gpu.barrier
// CHECK-NEXT:    cute.copy(%[[OUT]], %[[SCO]], %[[GCO]])
// CHECK-NEXT:    gpu.return
gpu.module @kernels {
  gpu.func @kernel(%A: !A, %B: !A, %C: !C) kernel attributes {
      cute.plan = #plan,
      known_block_size = array<i32: 64, 1, 1>} {
    %t = cute.static : !cute.tile<"[32:1;32:1]">
    %o = cute.static : !cute.coord<"(0,_)">
    %ga = cute.local_tile(%A, %t, %o) : (!A, !cute.tile<"[32:1;32:1]">, !cute.coord<"(0,_)">) -> !gk
    %gb = cute.local_tile(%B, %t, %o) : (!A, !cute.tile<"[32:1;32:1]">, !cute.coord<"(0,_)">) -> !gk
    %sa = cute.memref.alloca() : !s
    %sb = cute.memref.alloca() : !s
    %acc = cute.memref.alloca() : !acc
    cute.clear(%acc) : (!acc)
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    scf.for %k = %c0 to %c2 step %c1 : i32 {
      %ck = cute.make_coord(%k) : (i32) -> !cute.coord<"(_,_,?)">
      %ta = cute.slice(%ga, %ck) : !gk, !cute.coord<"(_,_,?)">
      cute.block.copy A (%ta, %sa) : (!g, !s)
      %tb = cute.slice(%gb, %ck) : !gk, !cute.coord<"(_,_,?)">
      cute.block.copy B (%tb, %sb) : (!g, !s)
      cute.block.gemm(%sa, %sb, %acc) : (!s, !s, !acc)
    }
    %half = cute.convert(%acc) : (!acc) -> !half
    %sc = cute.memref.alloca() : !s
    cute.block.copy C (%half, %sc) : (!half, !s)
    cute.block.copy C (%sc, %C) : (!s, !C)
    gpu.return
  }
}
