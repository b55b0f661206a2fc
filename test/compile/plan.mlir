// A product may say by which plan it is computed, and the plan of a kernel may be changed: either is another kernel, and
// computes the same.
//
// Products of 16x8x8, of which four along N are fed by one load, copies of 8 bytes into tiles that are not swizzled, two warps
// along M.
// RUN: cute-opt %s --cute-compile="arch=sm_80 package=%t.cutepkg" -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: cute-run %t.cutepkg --device=emulator --seeds=2
//
// CHECK:     cute.plan = #cute.plan<tile = 64x32x16, stages = 3, raster = 1
// CHECK:     .maxntid 64, 1, 1
// CHECK:     cp.async.ca.shared.global [{{.*}}], [{{.*}}], 8;
// CHECK:     ldmatrix.sync.aligned.m8n8.x4
// CHECK:     mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32
//
// The kernel of the compiler's own plan, changed to load two matrices at a time.
// RUN: cute-opt %inputs/gemm_small.mlir --cute-tile="arch=sm_80 tile=32x32x32 warps=1x2 stages=2" > %t.tiled.mlir
// RUN: FileCheck %s --input-file=%t.tiled.mlir --check-prefix=TILED
// RUN: sed -e 's/num_matrices = 4/num_matrices = 2/g' %t.tiled.mlir > %t.changed.mlir
// RUN: cute-opt %t.changed.mlir --cute-compile="arch=sm_80 package=%t.changed.cutepkg" -o %t.lowered.mlir
// RUN: FileCheck %s --input-file=%t.lowered.mlir --check-prefix=CHANGED
// RUN: cute-run %t.changed.cutepkg --device=emulator --seeds=2
//
// TILED:       cute.plan = #cute.plan<{{.*}}num_matrices = 4
// CHANGED-NOT: ldmatrix.sync.aligned.m8n8.x4
// CHANGED:     ldmatrix.sync.aligned.m8n8.x2
// CHANGED:     mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
//
// How many steps are in flight is read from the loop.
// RUN: sed -e 's/cute.stages = 2 : i64/cute.stages = 1 : i64/' %t.tiled.mlir > %t.serial.mlir
// RUN: cute-opt %t.serial.mlir --cute-compile="arch=sm_80 package=%t.serial.cutepkg" -o %t.lowered.mlir
// RUN: FileCheck %s --input-file=%t.lowered.mlir --check-prefix=SERIAL
// RUN: cute-run %t.serial.cutepkg --device=emulator --seeds=2
//
// TILED:      cute.stages = 2 : i64
// SERIAL:     dynamic_smem = 4096 : i32

!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x8, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(2,1,1):(1,2,0)">, permutation_MNK = <"[64:1;32:1;8:1]">>
!copy = !cute_nvgpu.atom.simt_async_copy<f16, cache = always, 64 b>
!load = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
!pair = !cute_nvgpu.atom.universal_copy<f16, 32 b>
!store = !cute_nvgpu.atom.universal_copy<f16, 64 b>
#plan = #cute.plan<tile = 64x32x16, stages = 3, raster = 1, mma = !mma,
  A = [<!copy, group, smem = <"(64,16):(16,1)">, buffers = 3>, <!load, immediate>],
  B = [<!copy, group, smem = <"(32,16):(16,1)">, buffers = 3>, <!load, immediate>],
  C = [<!pair, immediate, smem = <S<2,4,3>, "(64,32):(32,1)">, buffers = 1>, <!store, immediate>]>

func.func @gemm(%A: !t, %B: !t, %C: !t) {
  cute.contract ins(%A, %B : !t, !t) outs(%C : !t) accumulate f32 {cute.plan = #plan}
  return
}
