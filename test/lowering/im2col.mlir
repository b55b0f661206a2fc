// Loads by im2col become instructions: the coordinates of a pixel, and offsets of 16 bits behind the mbarrier.
//
// RUN: cute-opt %s --cute-to-nvvm | FileCheck %s

!bars = !cute.memref<i64, smem, align<8>, "4:1">
!line = !cute_nvgpu.atom.im2col_tma_load<f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, lower_corner = "(-1)", upper_corner = "(-1)", stride = "(1)", swizzle = 128>
!image = !cute_nvgpu.atom.im2col_tma_load<f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, lower_corner = "(-1,-1)", upper_corner = "(-1,-1)", stride = "(1,1)", swizzle = 128>
!volume = !cute_nvgpu.atom.im2col_tma_load<f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, lower_corner = "(-1,-1,-1)", upper_corner = "(-1,-1,-1)", stride = "(1,1,1)", swizzle = 128>
!tiled = !cute_nvgpu.atom.tma_load<f16, copy_bits = 131072, tma_gbasis = <"(64,128,1,1):(1@1,1@0,1@2,1@3)">, swizzle = 128>
!s = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "8192:1">
gpu.module @kernels attributes {targets = [#nvvm.target<chip = "sm_90a">]} {
  // CHECK-LABEL: gpu.func @copies
  // CHECK-SAME:    (%[[LINE:.*]]: !llvm.ptr, %[[IMAGE:.*]]: !llvm.ptr, %[[VOLUME:.*]]: !llvm.ptr, %[[TILED:.*]]: !llvm.ptr, %[[X:.*]]: i32, %[[O:.*]]: i32, %[[MASK:.*]]: i16)
  // CHECK-SAME:    cute.tensor_maps = array<i64: 0, 1, 2, 3>
  gpu.func @copies(%line: !line, %image: !image, %volume: !volume, %tiled: !tiled, %x: i32, %o: i32, %mask: i16) kernel {
    %s = cute.memref.alloca() {offset = 0 : i64} : !s
    %bars = cute.memref.alloca() {offset = 16384 : i64} : !bars
    // As many numbers as a tiled load of four modes has, of which it is told by the atom.
    // CHECK: "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes [$0], [$1, {$3, $4, $5, $6}], [$2];", "l,l,l,r,r,r,r,~{memory}" %{{.*}}, %[[TILED]]
    cute_nvgpu.tma_load(%tiled, [%x, %x, %x, %o], %s) on %bars[%x] : (!tiled, [i32, i32, i32, i32], !s), !bars
    // CHECK: %[[H:.*]] = arith.trunci %[[O]] : i32 to i16
    // CHECK: "cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [$0], [$1, {$3, $4, $5}], [$2], {$6};", "l,l,l,r,r,r,h,~{memory}" %{{.*}}, %[[LINE]], %{{.*}}, %[[X]], %[[X]], %[[X]], %[[H]]
    cute_nvgpu.tma_load(%line, [%x, %x, %x, %o], %s) on %bars[%x] : (!line, [i32, i32, i32, i32], !s), !bars
    // To several blocks, with a policy of L2 behind the mask.
    // CHECK: "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint [$0], [$1, {$3, $4, $5, $6}], [$2], {$7, $8}, $9, $10;", "l,l,l,r,r,r,r,h,h,h,l,~{memory}" %{{.*}}, %[[IMAGE]]
    cute_nvgpu.tma_load(%image, [%x, %x, %x, %x, %o, %o], %s) on %bars[%x] multicast(%mask) policy "evict_last" : (!image, [i32, i32, i32, i32, i32, i32], !s), !bars
    // CHECK: "cp.async.bulk.tensor.5d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [$0], [$1, {$3, $4, $5, $6, $7}], [$2], {$8, $9, $10};", "l,l,l,r,r,r,r,r,h,h,h,~{memory}" %{{.*}}, %[[VOLUME]]
    cute_nvgpu.tma_load(%volume, [%x, %x, %x, %x, %x, %o, %o, %o], %s) on %bars[%x] : (!volume, [i32, i32, i32, i32, i32, i32, i32, i32], !s), !bars
    // CHECK: "cp.async.bulk.prefetch.tensor.4d.L2.global.im2col [$0, {$1, $2, $3, $4}], {$5, $6};", "l,r,r,r,r,h,h,~{memory}" %[[IMAGE]]
    cute_nvgpu.tma_prefetch(%image, [%x, %x, %x, %x, %o, %o]) : (!image, [i32, i32, i32, i32, i32, i32])
    // CHECK: "cp.async.bulk.prefetch.tensor.3d.L2.global.im2col.L2::cache_hint [$0, {$1, $2, $3}], {$4}, $5;", "l,r,r,r,h,l,~{memory}" %[[LINE]]
    cute_nvgpu.tma_prefetch(%line, [%x, %x, %x, %o]) policy "evict_last" : (!line, [i32, i32, i32, i32])
    gpu.return
  }
}
