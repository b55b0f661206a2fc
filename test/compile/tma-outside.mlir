// TMA of what lies outside of a tensor: NaN where the atom says so, and zeros elsewhere.
//
// RUN: cute-opt %s --cute-compile="arch=sm_90a package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --info | FileCheck %s --check-prefix=INFO
// RUN: cute-run %t.cutepkg --device=emulator --no-verify --output nans=%t.nans.npy --output zeros=%t.zeros.npy
// RUN: %python -c "import struct,sys; read=lambda f: struct.unpack('<64f', open(f,'rb').read()[-256:]); n,z=read(sys.argv[1]),read(sys.argv[2]); print(sum(x!=x for x in n), n[:32]==z[:32], set(z[32:]))" %t.nans.npy %t.zeros.npy | FileCheck %s
// INFO: map of src (8 x 4) by boxes of 8 x 8, with NaN outside, misses of 256 B in L2, map of src (8 x 4) by boxes of 8 x 8, misses of 0 B in L2
// CHECK: 32 True {0.0}

!src = !cute.memref<f32, gmem, align<16>, "(4,8):(8,1)">
!dst = !cute.memref<f32, gmem, align<16>, "(8,8):(8,1)">
!load = !cute_nvgpu.atom.tma_load<f32, copy_bits = 2048, tma_gbasis = <"(8,8):(1@1,1@0)">, swizzle = 0>
!from = !cute.coord_tensor<"(0,0)", "(4,8):(1@1,1@0)">
!tile = !cute.memref<f32, smem, align<128>, "(8,8):(8,1)">
!bar = !cute.memref<i64, smem, align<8>, "1:0">

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @copy_kernel(%nan: !load, %zero: !load, %from: !from, %nans: !dst, %zeros: !dst) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %bytes = arith.constant 512 : i32
      %all = arith.constant -1 : i32
      %s = cute.memref.alloca() : !tile
      %q = cute.memref.alloca() : !tile
      %bar = cute.memref.alloca() : !bar
      %leader = nvvm.elect.sync -> i1
      scf.if %leader {
        cute_nvgpu.mbarrier_init %bar[%c0], %c1
        nvvm.fence.mbarrier.init
        cute_nvgpu.mbarrier_arrive_and_expect_tx %bar[%c0], %bytes
        cute_nvgpu.tma_load(%nan, [%c0, %c0], %s) on %bar[%c0]
        cute_nvgpu.tma_load(%zero, [%c0, %c0], %q) on %bar[%c0]
      }
      nvvm.bar.warp.sync %all : i32
      cute_nvgpu.mbarrier_wait %bar[%c0], %c0
      scf.if %leader {
        cute.autovec_copy(%s, %nans)
        cute.autovec_copy(%q, %zeros)
      }
      gpu.return
    }
  }
  func.func @copy(%S: !src {cute.name = "src"}, %D: !dst {cute.name = "nans"}, %E: !dst {cute.name = "zeros"}) {
    %tile = cute.static "(8,8):(8,1)"
    %nan, %from = cute_nvgpu.atom.make_tma_load(%S, %tile) oob_fill "nan" l2_promotion 256
    %zero, %same = cute_nvgpu.atom.make_tma_load(%S, %tile) l2_promotion 0
    %blocks = cute.static shape "1"
    cute.launch @kernels::@copy_kernel blocks(%blocks) args(%nan, %zero, %from, %D, %E)
    return
  }
}
