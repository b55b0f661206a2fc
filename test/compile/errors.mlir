// What is wrong with a command line is said in words, and the exit status is not zero.
//
// RUN: not cute-opt %t.missing.mlir --cute-compile="arch=sm_80" 2>&1 | FileCheck %s --check-prefix=FILE
// FILE: {{^}}error: {{.*}}.missing.mlir: cannot be read: No such file or directory
//
// RUN: not cute-opt %s -o %t.missing/x.mlir 2>&1 | FileCheck %s --check-prefix=WRITE
// WRITE: {{^}}error: -o: cannot write {{.*}}.missing/x.mlir: No such file or directory
//
// RUN: not cute-opt %s --pass-pipeline="builtin.module(cute-tiel)" 2>&1 | FileCheck %s --check-prefix=PIPELINE
// PIPELINE: {{^}}error: --pass-pipeline:1:1: {{.*}}'cute-tiel' does not refer to a registered pass or pass pipeline
//
// RUN: not cute-opt %s --cute-comple="arch=sm_80" 2>&1 | FileCheck %s --check-prefix=FLAG
// FLAG: Unknown command line argument '--cute-comple=arch=sm_80'
// FLAG: Did you mean '--cute-compile=arch=sm_80'?
//
// RUN: not cute-opt %s --cute-compile 2>&1 | FileCheck %s --check-prefix=NO-ARCH
// NO-ARCH: {{^}}error: --cute-compile: no architecture: give arch=, one of sm_75, sm_80, sm_86, sm_87, sm_88, sm_89, sm_90, sm_90a, sm_100,
//
// RUN: not cute-opt %s --cute-compile="arch=sm_70" 2>&1 | FileCheck %s --check-prefix=ARCH
// ARCH: {{^}}error: --cute-compile: arch: unsupported architecture 'sm_70': expected one of sm_75, sm_80, sm_86, sm_87, sm_88, sm_89, sm_90, sm_90a, sm_100,
//
// RUN: not cute-opt %s --cute-compile="arch=sm_80 tiles=32x32x32" 2>&1 | FileCheck %s --check-prefix=OPTION
// OPTION: {{^}}error: --cute-compile: no such option 'tiles': expected arch, simplify, watchdog, package, {{.*}}tile, warps, stages, swizzle, raster, split, stream, instructions, {{.*}}variants, {{.*}}sms; did you mean 'tile'?
//
// RUN: not cute-opt %s --cute-compile="sm_80" 2>&1 | FileCheck %s --check-prefix=PAIR
// PAIR: {{^}}error: --cute-compile: expected name=value, found 'sm_80'
//
// RUN: not cute-opt %s --cute-compile="arch=sm_80 tile=128" 2>&1 | FileCheck %s --check-prefix=TILE
// TILE: {{^}}error: --cute-compile: tile: expected 3 extents joined by x, such as 4x4x4, found '128'
//
// RUN: not cute-opt %s --cute-compile="arch=sm_80 tile=axbxc" 2>&1 | FileCheck %s --check-prefix=NUMBERS
// NUMBERS: {{^}}error: --cute-compile: tile: expected 3 extents joined by x, such as 4x4x4, found 'axbxc'
//
// RUN: not cute-opt %s --cute-compile="arch=sm_80 warps=2x2x2" 2>&1 | FileCheck %s --check-prefix=WARPS
// WARPS: --cute-compile: warps: expected 2 extents joined by x, such as 4x4, found '2x2x2'
//
// RUN: not cute-opt %s --cute-compile="arch=sm_80 stages=0" 2>&1 | FileCheck %s --check-prefix=STAGES
// STAGES: --cute-compile: stages: expected a positive number, found '0'
//
// RUN: not cute-opt %s --cute-compile="arch=sm_80 raster=-1" 2>&1 | FileCheck %s --check-prefix=RASTER
// RASTER: --cute-compile: raster: expected a positive number, found '-1'
//
// RUN: not cute-opt %s --cute-compile="arch=sm_80 swizzle=3" 2>&1 | FileCheck %s --check-prefix=SWIZZLE
// SWIZZLE: --cute-compile: swizzle: expected auto, none or S<B,M,S>, found '3'
//
// RUN: not cute-opt %s --cute-compile="arch=sm_80 simplify=maybe" 2>&1 | FileCheck %s --check-prefix=SIMPLIFY
// SIMPLIFY: --cute-compile: simplify: expected true or false, found 'maybe'
//
// RUN: not cute-opt %s --cute-compile="arch=sm_80 package='gemm.cutepkg" 2>&1 | FileCheck %s --check-prefix=QUOTE
// QUOTE: --cute-compile: expected a closing ' in ''gemm.cutepkg'
//
// What an option is given is known to be wrong only when the pass that reads it runs: no place of the text is named.
// RUN: not cute-opt %s --cute-compile="arch=sm_80 measured=%t.none" 2>&1 | FileCheck %s --check-prefix=MEASURED
// MEASURED: {{^}}error: cute-tile: measured={{.*}}.none: expected a file that can be read: No such file or directory
// RUN: not cute-opt %s --cute-compile="arch=sm_80 set=D=3" 2>&1 | FileCheck %s --check-prefix=SET
// SET: {{^}}error: set: expected values of the module's parameters, of which the module has none, found one of 'D'
// RUN: not cute-opt %s --cute-compile="arch=sm_80 package=%t.none/x.cutepkg" 2>&1 | FileCheck %s --check-prefix=PACKAGE
// PACKAGE: {{^}}error: cannot write {{.*}}.none/x.cutepkg: No such file or directory
//
// Where the program stands wrong, the place is named.
// RUN: not cute-opt %s --cute-compile="arch=sm_80 tile=512x512x32" 2>&1 | FileCheck %s --check-prefix=PLACE
// PLACE: errors.mlir:[[@LINE+13]]:3: error: 'cute.contract' op {{.*}} fits
//
// RUN: not cute-opt %s --pass-pipeline="builtin.module(cute-tile{arch=sm_80},cute-tile2)" 2>&1 | FileCheck %s --check-prefix=PASS
// PASS: 'cute-tile2' does not refer to a registered pass or pass pipeline
//
// A pass on the module is no pass on functions, and one on kernels is only for what has kernels.
// RUN: not cute-opt %s --pass-pipeline="func.func(cute-tile)" 2>&1 | FileCheck %s --check-prefix=ANCHOR
// ANCHOR: Can't add pass 'cute-tile' restricted to 'builtin.module' on a PassManager intended to run on 'func.func'
// RUN: not cute-opt %s --pass-pipeline="builtin.module(func.func(cute-partition))" 2>&1 | FileCheck %s --check-prefix=KERNELS
// KERNELS: unable to schedule pass 'cute-partition' on a PassManager intended to run on 'func.func'!

!t = !cute.memref<f16, gmem, align<16>, "(768,768):(768,1)">
func.func @gemm(%A: !t, %B: !t, %C: !t) {
  cute.contract ins(%A, %B : !t, !t) outs(%C : !t) accumulate f32
  return
}
