// From a product of whole tensors to a kernel in which a block computes a tile.
//
// RUN: cute-opt %s --cute-tile="arch=sm_80 tile=32x32x32 warps=1x2 stages=1" | FileCheck %s
// RUN: cute-opt %s --cute-tile="arch=sm_90a tile=32x32x16 warps=1x2 stages=3 swizzle=none raster=1" | FileCheck %s --check-prefix=OPTIONS
// RUN: cute-opt %s --cute-tile="arch=sm_80 tile=32x32x32 warps=1x2 swizzle=S<1,4,3>" | FileCheck %s --check-prefix=SWIZZLE
// RUN: cute-opt %s --cute-tile="arch=sm_89" | FileCheck %s --check-prefix=CHOSEN
//
// What comes out is valid and goes in again.
// RUN: cute-opt %s --cute-tile="arch=sm_80 tile=32x32x32 warps=1x2 stages=1" | cute-opt | FileCheck %s

!A = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
!B = !cute.memref<f16, gmem, align<16>, "(96,64):(64,1)">
!C = !cute.memref<f16, gmem, align<16>, "(64,96):(96,1)">

// The function keeps its arguments, launches the kernel and says what is computed by which of them.
// CHECK:       module attributes {gpu.container_module} {
// CHECK-LABEL: func.func @gemm(
// CHECK-SAME:    %[[A:arg0]]: !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
// CHECK-SAME:    %[[B:arg1]]: !cute.memref<f16, gmem, align<16>, "(96,64):(64,1)">
// CHECK-SAME:    %[[C:arg2]]: !cute.memref<f16, gmem, align<16>, "(64,96):(96,1)">
// CHECK-SAME:    attributes {cute.computes = [{accumulate = f32, gemm = array<i64: 0, 1, 2>}]}
// CHECK-NOT:     cute.contract
// 2 x 3 tiles; two warps.
// CHECK-DAG:     %[[BLOCKS:.*]] = arith.constant 6 : index
// CHECK-DAG:     %[[THREADS:.*]] = arith.constant 64 : index
// CHECK-DAG:     %[[SHARED:.*]] = arith.constant 0 : i32
// CHECK:         gpu.launch_func @gemm_kernels::@gemm_kernel blocks in (%[[BLOCKS]], %{{.*}}, %{{.*}}) threads in (%[[THREADS]], %{{.*}}, %{{.*}}) dynamic_shared_memory_size %[[SHARED]] args(%[[A]] : {{.*}}, %[[B]] : {{.*}}, %[[C]] : {{.*}})
// CHECK-NEXT:    return
func.func @gemm(%A: !A, %B: !B, %C: !C) {
  cute.contract ins(%A, %B : !A, !B) outs(%C : !C) accumulate f32
  return
}

// CHECK:       gpu.module @gemm_kernels [#nvvm.target<O = 3, chip = "sm_80", features = "+ptx80">] {
// CHECK-NEXT:    gpu.func @gemm_kernel(%[[A:.*]]: !cute.memref<{{.*}}> {cute.noalias}, %[[B:.*]]: !cute.memref<{{.*}}> {cute.noalias}, %[[C:.*]]: !cute.memref<{{.*}}> {cute.noalias}) kernel attributes {
// CHECK-SAME:      cute.plan = #cute.plan<tile = 32x32x32, stages = 1, raster = 8, mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,2,1):(1,1,0)">, permutation_MNK = <"[16:1;32:1;16:1]">>,
// CHECK-SAME:      A = [<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, group, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 1>, <!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, immediate>],
// CHECK-SAME:      B = [<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, group, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 1>, <!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, immediate>],
// CHECK-SAME:      C = [<!cute_nvgpu.atom.universal_copy<f16, 32 b>, immediate, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 1>, <!cute_nvgpu.atom.universal_copy<f16, 128 b>, immediate>]>
// CHECK-SAME:      known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 6, 1, 1>

// The block's place: along M first.
// CHECK:           %[[ID:.*]] = gpu.block_id x
// CHECK:           %[[BLOCK:.*]] = arith.index_cast %[[ID]] : index to i32
// CHECK:           %[[BC:.*]] = cute.make_coord(%[[BLOCK]]) : (i32) -> !cute.coord<"?">
// CHECK:           %[[LM:.*]] = cute.static : !cute.layout<"(2,3,1):(1,0,2)">
// CHECK:           %[[OM:.*]] = cute.crd2idx(%[[BC]], %[[LM]])
// CHECK:           %[[M:.*]] = cute.get_scalars (%[[OM]])
// CHECK:           %[[LN:.*]] = cute.static : !cute.layout<"(2,3,1):(0,1,0)">
// CHECK:           %[[ON:.*]] = cute.crd2idx(%{{.*}}, %[[LN]])
// CHECK:           %[[N:.*]] = cute.get_scalars (%[[ON]])

// Its rows of A, its rows of B, all along K; its tile of C.
// CHECK:           %[[CA:.*]] = cute.make_coord(%[[M]]) : (i32) -> !cute.coord<"(?,_)">
// CHECK:           %[[GA:.*]] = cute.local_tile(%[[A]], %{{.*}}, %[[CA]]) : ({{.*}}) -> !cute.memref<f16, gmem, align<16>, "(32,32,2):(64,1,32)">
// CHECK:           %[[CB:.*]] = cute.make_coord(%[[N]]) : (i32) -> !cute.coord<"(?,_)">
// CHECK:           %[[GB:.*]] = cute.local_tile(%[[B]], %{{.*}}, %[[CB]]) : ({{.*}}) -> !cute.memref<f16, gmem, align<16>, "(32,32,2):(64,1,32)">
// CHECK:           %[[CC:.*]] = cute.make_coord(%[[M]], %[[N]]) : (i32, i32) -> !cute.coord<"(?,?)">
// CHECK:           %[[GC:.*]] = cute.local_tile(%[[C]], %{{.*}}, %[[CC]]) : ({{.*}}) -> !cute.memref<f16, gmem, align<16>, "(32,32):(96,1)">

// Rows of 64 bytes: S<2,4,3> spreads eight of them over all banks.
// CHECK:           %[[SA:.*]] = cute.memref.alloca() : !cute.memref<f16, smem, align<512>, S<2,4,3>, "(32,32):(32,1)">
// CHECK:           %[[SB:.*]] = cute.memref.alloca() : !cute.memref<f16, smem, align<512>, S<2,4,3>, "(32,32):(32,1)">
// CHECK:           %[[ACC:.*]] = cute.memref.alloca() : !cute.memref<f32, rmem, "(32,32):(32,1)">
// CHECK:           cute.clear(%[[ACC]])

// 64 / 32 steps along K.
// CHECK-DAG:       %[[FROM:.*]] = arith.constant 0 : i32
// CHECK-DAG:       %[[TO:.*]] = arith.constant 2 : i32
// CHECK-DAG:       %[[STEP:.*]] = arith.constant 1 : i32
// CHECK:           scf.for %[[K:.*]] = %[[FROM]] to %[[TO]] step %[[STEP]] : i32 {
// CHECK:             %[[CK:.*]] = cute.make_coord(%[[K]]) : (i32) -> !cute.coord<"(_,_,?)">
// CHECK:             %[[TA:.*]] = cute.slice(%[[GA]], %[[CK]])
// CHECK:             cute.block.copy A (%[[TA]], %[[SA]])
// CHECK:             %[[TB:.*]] = cute.slice(%[[GB]], %[[CK]])
// CHECK:             cute.block.copy B (%[[TB]], %[[SB]])
// CHECK:             cute.block.gemm(%[[SA]], %[[SB]], %[[ACC]]) : (
// How many steps are in flight stands on the loop.
// CHECK:           } {cute.stages = 1 : i64}

// Rounded, and out through shared memory.
// CHECK:           %[[HALF:.*]] = cute.convert(%[[ACC]]) : (!cute.memref<f32, rmem, "(32,32):(32,1)">) -> !cute.memref<f16, rmem, "(32,32):(32,1)">
// CHECK:           %[[SC:.*]] = cute.memref.alloca() : !cute.memref<f16, smem, align<512>, S<2,4,3>, "(32,32):(32,1)">
// CHECK:           cute.block.copy C (%[[HALF]], %[[SC]])
// CHECK:           cute.block.copy C (%[[SC]], %[[GC]])
// CHECK:           gpu.return

// OPTIONS:       arith.constant 6 : index
// OPTIONS:       chip = "sm_90a"
// OPTIONS:       cute.plan = #cute.plan<tile = 32x32x16, stages = 3, raster = 1, mma = {{.*}} atom_layout_MNK = <"(1,2,1):(1,1,0)">, {{.*}} A = {{.*}} smem = <"(32,16):(16,1)">, buffers = 3>
// One block along M after the other; all of N before the next.
// OPTIONS:       cute.static : !cute.layout<"(1,3,2):(1,0,1)">
// OPTIONS:       cute.static : !cute.layout<"(1,3,2):(0,1,0)">
// OPTIONS:       cute.memref.alloca() : !cute.memref<f16, smem, align<128>, "(32,16):(16,1)">
// OPTIONS:       cute.memref.alloca() : !cute.memref<f16, smem, align<128>, "(32,16):(16,1)">
// OPTIONS:       arith.constant 4 : i32

// SWIZZLE:       smem = <S<1,4,3>, "(32,32):(32,1)">
// SWIZZLE:       cute.memref.alloca() : !cute.memref<f16, smem, align<256>, S<1,4,3>, "(32,32):(32,1)">

// What is not asked for is chosen by how long it takes.
// CHOSEN:        arith.constant [[BLOCKS:.*]] : index
// CHOSEN:        cute.plan = #cute.plan<tile = {{16|32|64}}x{{16|32|48|64|96}}x{{16|32|64|128}}, stages = {{[0-9]+}}, raster = 8, {{.*}} atom_layout_MNK = <"({{[1-9]}},{{[1-9]}},1):{{.*}}known_grid_size = array<i32: [[BLOCKS]], 1, 1>
