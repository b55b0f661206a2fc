// What TMA copies, and what products of warpgroups read by descriptors.
//
// RUN: cute-opt %s --pass-pipeline='builtin.module(cute-report{arch=sm_90a})' -o /dev/null 2>&1 | FileCheck %s
// RUN: cute-opt %s --cute-report=json=%t.json -o /dev/null && FileCheck %s --check-prefix=JSON < %t.json

!near = !cute.memref<f16, gmem, align<16>, "(1024,1024):(1032,1)">
!far = !cute.memref<f16, gmem, align<16>, "(1024,1024):(1024,1)">
!thin = !cute.memref<f16, gmem, align<16>, "(1024,24):(24,1)">
!coords = !cute.coord_tensor<"(0,0)", "(1024,1024):(1@1,1@0)">
!coords_thin = !cute.coord_tensor<"(0,0)", "(1024,24):(1@1,1@0)">
!wide = !cute_nvgpu.atom.tma_load<f16, copy_bits = 65536, tma_gbasis = <"(64,64):(1@1,1@0)">, swizzle = 128>
!narrow = !cute_nvgpu.atom.tma_load<f16, copy_bits = 8192, tma_gbasis = <"(8,64):(1@1,1@0)">, swizzle = 0>
!out = !cute_nvgpu.atom.tma_store<f16, copy_bits = 65536, tma_gbasis = <"(64,64):(1@1,1@0)">, swizzle = 128>
!s = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64):(64,1)">
!s2 = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,(64,2)):(64,(1,4096))">
!t = !cute.memref<f16, smem, align<128>, "(64,8):(8,1)">
!bars = !cute.memref<i64, smem, align<8>, "1:1">
!row = !cute.memref<f32, gmem, align<32>, "1024:1">
!line = !cute.memref<f32, smem, align<128>, "1024:1">

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @copies(%from: !wide, %A: !coords, %thin: !narrow, %T: !coords_thin, %to: !out, %C: !coords, %unaligned: !wide, %mask: i16, %R: !row) kernel
        attributes {known_block_size = array<i32: 32, 1, 1>, cute.cluster = 4 : i64} {
      %c0 = arith.constant 0 : i32
      %s = cute.memref.alloca() : !s
      %two = cute.memref.alloca() : !s2
      %t = cute.memref.alloca() : !t
      %line = cute.memref.alloca() : !line
      %bar = cute.memref.alloca() : !bars
      %at = cute.static coord "(1,_)"
      %tile = cute.static "[64:1;64:1]"
      %here = cute.static coord "(1,1)"
      %a = cute.local_tile(%A, %tile, %here)
      // The strides that the launch passes say where rows begin.
      // CHECK: remark: TMA load: 1 box of 64x64 elements of f16, the contiguous mode first, 8192 bytes, swizzled by 128 bytes
      // CHECK: remark: TMA load: each of 64 rows of 128 bytes in global memory touches 4 sectors, ideal 4, and 1 line, ideal 1
      // CHECK: remark: TMA load: 64 passes over the banks of shared memory, ideal 64
      cute_nvgpu.tma_load(%from, [%a], %s) on %bar[%c0] : (!wide, [!cute.coord_tensor<"(64,64)", "(64,64):(1@1,1@0)">], !s), !bars
      // CHECK: remark: TMA load: each of 64 rows of 128 bytes in global memory touches 4 sectors at best and 5 at worst, ideal 4, and 1 line at best and 2 at worst, ideal 1
      // CHECK: remark: TMA load: 64 passes over the banks of shared memory, ideal 64
      // CHECK: remark: TMA load: multicast: global memory is read once for the blocks of the mask, at most 4
      cute_nvgpu.tma_load(%unaligned, [%a], %s) on %bar[%c0] multicast(%mask) : (!wide, [!cute.coord_tensor<"(64,64)", "(64,64):(1@1,1@0)">], !s), !bars
      %three = arith.constant 7 : i16
      // CHECK: remark: TMA load: multicast: global memory is read once for 3 blocks of the cluster
      cute_nvgpu.tma_load(%from, [%a], %s) on %bar[%c0] multicast(%three) : (!wide, [!cute.coord_tensor<"(64,64)", "(64,64):(1@1,1@0)">], !s), !bars
      // CHECK: remark: TMA load: 1 box of 8x64 elements of f16, the contiguous mode first, 1024 bytes, not swizzled
      // CHECK: remark: TMA load: each of 64 rows of 16 bytes in global memory touches 1 sector, ideal 1, and 1 line, ideal 1: a row fills 16 of 32 bytes of its sectors; take a box of whole 32 bytes along the contiguous mode
      // CHECK: remark: TMA load: 8 passes over the banks of shared memory, ideal 8
      cute_nvgpu.tma_load(%thin, [%c0, %c0], %t) on %bar[%c0] : (!narrow, [i32, i32], !t), !bars
      // CHECK: remark: TMA prefetch: 1 box of 64x64 elements of f16, the contiguous mode first, 8192 bytes{{$}}
      // CHECK-NOT: TMA prefetch: {{.*}} passes
      cute_nvgpu.tma_prefetch(%from, [%a]) : (!wide, [!cute.coord_tensor<"(64,64)", "(64,64):(1@1,1@0)">])
      %wide = cute.static "[64:1;128:1]"
      %c = cute.local_tile(%C, %wide, %here)
      // CHECK: remark: TMA reduction: 2 boxes of 64x64 elements of f16, the contiguous mode first, 8192 bytes each, 16384 in all, swizzled by 128 bytes
      cute_nvgpu.tma_store(%to, %two, [%c]) reduce "add" : (!out, !s2, [!cute.coord_tensor<"(128,64)", "(64,128):(1@1,1@0)">])
      // CHECK: remark: bulk load: 4096 bytes
      // CHECK: remark: bulk load: a row of 4096 bytes in global memory touches 128 sectors, ideal 128, and 32 lines at best and 33 at worst, ideal 32
      // CHECK: remark: bulk load: 32 passes over the banks of shared memory, ideal 32
      cute_nvgpu.bulk_load(%R, %line) on %bar[%c0] : (!row, !line), !bars
      // CHECK: remark: bulk store: a row of 4096 bytes
      cute_nvgpu.bulk_store(%line, %R) : (!line, !row)
      gpu.return
    }
  }
  func.func @launch(%A: !far, %T: !thin, %C: !far, %U: !near, %R: !row) {
    %one = arith.constant 1 : index
    %threads = arith.constant 32 : index
    %zero = arith.constant 0 : i32
    %mask = arith.constant 3 : i16
    %place = cute.static "S<3,4,3> o 0 o (64,64):(64,1)"
    %bare = cute.static "(64,8):(8,1)"
    %from, %of_A = cute_nvgpu.atom.make_tma_load(%A, %place) : (!far, !cute.composed_layout<"S<3,4,3> o 0 o (64,64):(64,1)">) -> (!wide, !coords)
    %thin, %of_T = cute_nvgpu.atom.make_tma_load(%T, %bare) : (!thin, !cute.layout<"(64,8):(8,1)">) -> (!narrow, !coords_thin)
    %to, %of_C = cute_nvgpu.atom.make_tma_store(%C, %place) : (!far, !cute.composed_layout<"S<3,4,3> o 0 o (64,64):(64,1)">) -> (!out, !coords)
    %unaligned, %of_U = cute_nvgpu.atom.make_tma_load(%U, %place) : (!near, !cute.composed_layout<"S<3,4,3> o 0 o (64,64):(64,1)">) -> (!wide, !coords)
    gpu.launch_func @kernels::@copies clusters in (%one, %one, %one) blocks in (%one, %one, %one) threads in (%threads, %one, %one) dynamic_shared_memory_size %zero
      args(%from : !wide, %of_A : !coords, %thin : !narrow, %of_T : !coords_thin, %to : !out, %of_C : !coords, %unaligned : !wide, %mask : i16, %R : !row)
    return
  }

  gpu.module @products {
    gpu.func @product() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
      %mma = cute.static : !cute.tiled_mma<!cute_nvgpu.sm90.mma<64x64x16, ab_major = (mn, k), elem_type = (f16, f16, f32), frag_kind = ss>, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
      %tx = gpu.thread_id x
      %t32 = arith.index_cast %tx : index to i32
      %t = cute.make_coord(%t32)
      %sA = cute.memref.alloca() : !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((64,2),64):((1,4096),64)">
      %sB = cute.memref.alloca() : !cute.memref<f16, smem, align<16>, "((8,8),(8,8)):((8,64),(1,512))">
      %a = cute.tiled.mma.partition A (%mma, %sA, %t)
      %b = cute.tiled.mma.partition B (%mma, %sB, %t)
      %acc = cute.mma.make_fragment C (%mma, "((2,2,8),2,1)")
      cute.clear(%acc)
      cute_nvgpu.wgmma_fence(%acc)
      // CHECK: remark: A by descriptors: MN-major, swizzled by 128 bytes, leading byte offset 0, stride byte offset 1024; 2 along M and 4 along K, 2048 bytes each, read in 16 passes over the banks, ideal 16
      // CHECK: remark: B by descriptors: K-major without a swizzle, leading byte offset 1024, stride byte offset 128; 1 along N and 4 along K, 2048 bytes each, read in 16 passes over the banks, ideal 16
      cute.gemm(%mma, %acc, %a, %b, %acc)
      cute_nvgpu.wgmma_commit_group
      cute_nvgpu.wgmma_wait_group 0 (%acc)
      gpu.return
    }
  }
}

// CHECK: cp.async.bulk.tensor {{ *}}8192 {{ *}}1 {{ *}}256 {{ *}}256 {{ *}}64 {{ *}}64 {{ *}}64/64

// JSON: "bytes":8192,"copies":1,"instruction":"cp.async.bulk.tensor","kind":"TMA load","multicast":null,"passes":{"found":64,"ideal":64},"rows":{"bytes":128,"count":64,"ideal_lines":1,"ideal_sectors":4,"lines":{"least":1,"most":1},"sectors":{"least":4,"most":4}}
// JSON: "descriptors":[{"atoms":2,"bytes":2048,"leading_byte_offset":0,"major":"mn","operand":"A","passes":{"found":16,"ideal":16},"steps":4,"stride_byte_offset":1024,"swizzle":128}
