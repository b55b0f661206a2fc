// What the options ask for and cannot be had. Where a configuration does not fit, the message names
// one that does (compile/cures.test compiles them).
//
// RUN: not cute-opt %s --cute-tile 2>&1 | FileCheck %s --check-prefix=NO-ARCH
// NO-ARCH: error: cute-tile: no architecture: give arch=, one of sm_75, sm_80, sm_86,
//
// RUN: not cute-opt %s --cute-tile="arch=sm_70" 2>&1 | FileCheck %s --check-prefix=ARCH
// ARCH: error: cute-tile: arch: unsupported architecture 'sm_70': expected one of sm_75, sm_80, sm_86,
//
// RUN: not cute-opt %s --cute-tile="arch=native" 2>&1 | FileCheck %s --check-prefix=NATIVE
// NATIVE: error: cute-tile: arch: arch=native is for --cute-compile, which asks the driver for this machine's GPU: expected one of sm_75,
//
// RUN: not cute-opt %s --cute-tile="arch=sm_75" 2>&1 | FileCheck %s --check-prefix=TURING
// TURING: tile-options.mlir:[[#]]:3: error: 'cute.contract' op is computed with SM80_CP_ASYNC_16, which exists on sm_80 and later; found arch=sm_75: compile it for an architecture that has it, or write the kernel by hand with atoms that sm_75 has (docs/kernels.md)
//
// RUN: not cute-opt %s --cute-tile="arch=sm_80 sms=none" 2>&1 | FileCheck %s --check-prefix=SMS
// SMS: error: cute-tile: sms: expected a positive number, found 'none'
//
// RUN: not cute-opt %s --cute-tile="arch=sm_80 tile=128x128" 2>&1 | FileCheck %s --check-prefix=EXTENTS
// EXTENTS: error: cute-tile: tile: expected 3 extents joined by x, such as 4x4x4, found '128x128'
//
// RUN: not cute-opt %s --cute-tile="arch=sm_80 warps=2" 2>&1 | FileCheck %s --check-prefix=WARPS
// WARPS: error: cute-tile: warps: expected 2 extents joined by x, such as 4x4, found '2'
//
// RUN: not cute-opt %s --cute-tile="arch=sm_80 stages=many" 2>&1 | FileCheck %s --check-prefix=STAGES
// STAGES: error: cute-tile: stages: expected a positive number, found 'many'
//
// RUN: not cute-opt %s --cute-tile="arch=sm_80 raster=0" 2>&1 | FileCheck %s --check-prefix=RASTER
// RASTER: error: cute-tile: raster: expected a positive number, found '0'
//
// RUN: not cute-opt %s --cute-tile="arch=sm_80 swizzle=128B" 2>&1 | FileCheck %s --check-prefix=SWIZZLE
// SWIZZLE: error: cute-tile: swizzle: expected auto, none or S<B,M,S>, found '128B'
//
// RUN: not cute-opt %s --cute-tile="arch=sm_80 swizzle=S<3,4,2>" 2>&1 | FileCheck %s --check-prefix=SHIFT
// SHIFT: error: cute-tile: swizzle: expected a swizzle with B, M >= 0, |S| >= B and B + M + |S| <= 32, found S<3,4,2>; widen S or narrow B
//
// RUN: not cute-opt %s --cute-tile="arch=sm_80 tile=0x32x32" 2>&1 | FileCheck %s --check-prefix=ZERO
// ZERO: error: 'cute.contract' op tile, warps, stages, raster and split are at least 1; tile={{.*}} fits
//
// RUN: not cute-opt %s --cute-tile="arch=sm_80 size=32" 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: {{^}}error: cute-tile: no such option 'size': expected arch, measured
//
// A tile that the warps' instructions do not make up.
// RUN: not cute-opt %s --cute-tile="arch=sm_80 tile=128x24x32 warps=2x1" 2>&1 | FileCheck %s --check-prefix=ATOMS
// ATOMS: tile-options.mlir:[[@LINE+29]]:3: error: 'cute.contract' op the tile 128x24x32 is not a multiple of 32x16x16, which (2,1,1) of SM80_16x8x16_F32F16F16F32_TN cover; tile={{[0-9x]+}} warps={{[0-9x]+}} stages={{[0-9]+}} fits
//
// RUN: not cute-opt %s --cute-tile="arch=sm_80 tile=512x512x32 warps=8x8" 2>&1 | FileCheck %s --check-prefix=THREADS
// THREADS: error: 'cute.contract' op 8x8 warps are 2048 threads, a block has at most 1024; tile={{.*}} fits
//
// More threads than there are vectors to copy.
// RUN: not cute-opt %s --cute-tile="arch=sm_80 tile=64x32x16 warps=4x2" 2>&1 | FileCheck %s --check-prefix=ROWS
// ROWS: error: 'cute.contract' op the way of A: 256 threads copy 128 rows of the 64x16 tile at a time, which does not divide 64; tile={{.*}} fits
//
// Shared memory: 4 x (256 + 128) x 64 x 2 bytes is more than sm_80 has, but not more than sm_90 has.
// RUN: not cute-opt %s --cute-tile="arch=sm_80 tile=256x128x64 warps=4x2 stages=4" 2>&1 | FileCheck %s --check-prefix=SHARED
// RUN: cute-opt %s --cute-tile="arch=sm_90 tile=256x128x64 warps=4x2 stages=4" -o /dev/null
// SHARED: error: 'cute.contract' op 4 stages of 256x128x64 need 196608 bytes of shared memory, sm_80 has 166912: 131072 by A, 65536 by B, then 65536 by C; tile=256x128x64 warps=4x2 stages=3 fits
//
// RUN: not cute-opt %s --cute-tile="arch=sm_120 tile=128x128x64 warps=2x2 stages=4" 2>&1 | FileCheck %s --check-prefix=SHARED-120
// SHARED-120: error: 'cute.contract' op 4 stages of 128x128x64 need 131072 bytes of shared memory, sm_120 has 101376: 65536 by A, 65536 by B, then 32768 by C; tile=128x128x64 warps=2x2 stages=3 fits
//
// Registers: 128 x 128 sums of a warp are 512 a thread.
// RUN: not cute-opt %s --cute-tile="arch=sm_80 tile=256x256x32 warps=2x2 stages=2" 2>&1 | FileCheck %s --check-prefix=REGISTERS
// RUN: cute-opt %s --cute-tile="arch=sm_80 tile=128x128x32 warps=2x2 stages=2" -o /dev/null
// REGISTERS: error: 'cute.contract' op 2x2 warps on 256x256 need about 682 registers a thread, at most 255 can be had; tile={{[0-9x]+}} warps={{[0-9x]+}} stages={{[0-9]+}} fits
//
// An attribute of the op is no better than an option.
// RUN: sed -e 's/accumulate f32/accumulate f32 {cute.stages = 99 : i64}/' %s > %t.mlir
// RUN: not cute-opt %t.mlir --cute-tile="arch=sm_80 tile=128x128x32 warps=2x2" 2>&1 | FileCheck %s --check-prefix=ATTRIBUTE
// ATTRIBUTE: error: 'cute.contract' op 99 stages of 128x128x32 need 1622016 bytes of shared memory, sm_80 has 166912: 811008 by A, 811008 by B, then 32768 by C; tile=128x128x32 warps=2x2 stages=10 fits

!t = !cute.memref<f16, gmem, align<16>, "(4096,4096):(4096,1)">
func.func @gemm(%A: !t, %B: !t, %C: !t) {
  cute.contract ins(%A, %B : !t, !t) outs(%C : !t) accumulate f32
  return
}
