// The options of MLIR's driver around a compilation.
//
// The pipeline is printed, with its options, and what is printed is a pipeline.
// RUN: cute-opt %s --cute-compile="arch=sm_80 tile=32x32x32 warps=1x2" --dump-pass-pipeline -o %t.mlir 2>&1 | FileCheck %s --check-prefix=DUMP
// DUMP:      builtin.module(
// DUMP-NEXT:   cute-instantiate{set=},
// DUMP-NEXT:   cute-warn-uncalled,
// DUMP-NEXT:   cute-inline,
// DUMP-NEXT:   cute-read-dsl,
// DUMP-NEXT:   cute-check,
// DUMP-NEXT:   cute-tile{arch=sm_80 {{.*}}tile=32x32x32 {{.*}}warps=1x2},
// DUMP-NEXT:   gpu.module(
// DUMP-NEXT:     gpu.func(
// DUMP-NEXT:       cute-lower-handed-pipelines,
// DUMP-NEXT:       cute-lower-warp-specialize,
// DUMP-NEXT:       cute-fence-proxies,
// DUMP-NEXT:       cute-partition,
// DUMP:        cute-to-nvvm,
// DUMP:        gpu.module(
// DUMP:        cute-assemble
// DUMP-NEXT: )
//
// simplify=false leaves egg out; it is in otherwise.
// RUN: cute-opt %s --cute-compile="arch=sm_80 tile=32x32x32" --dump-pass-pipeline -o /dev/null 2>&1 | FileCheck %s --check-prefix=EGG
// RUN: cute-opt %s --cute-compile="arch=sm_80 tile=32x32x32 simplify=false" --dump-pass-pipeline -o /dev/null 2>&1 | FileCheck %s --check-prefix=NO-EGG
// EGG: cute-simplify-indices
// NO-EGG: cute-to-nvvm
// NO-EGG-NOT: cute-simplify-indices
// NO-EGG: cute-assemble
//
// A package is one pass more, and quotes keep a path together.
// RUN: rm -rf %t.dir && mkdir %t.dir
// RUN: cute-opt %s --cute-compile="arch=sm_80 tile=32x32x32 warps=1x2 package='%t.dir/a b.cutepkg'" -o /dev/null
// RUN: cute-run --info "%t.dir/a b.cutepkg" | FileCheck %s --check-prefix=PACKAGE
// PACKAGE: launch 0: gemm_kernel(A, B, C)
//
// An option that is given twice is an error, of the pipeline and of a pass alone.
// RUN: not cute-opt %s --cute-compile="arch=sm_80 stages=2 stages=3" -o /dev/null 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: the option stages is given twice, as '2' and as '3'; expected it once
// RUN: not cute-opt %s --cute-tile="arch=sm_80 stages=2 stages=3" -o /dev/null 2>&1 | FileCheck %s --check-prefix=TWICE-PASS
// TWICE-PASS: cute-tile: the option stages is given twice; expected it once
//
// RUN: cute-opt %s --cute-compile="arch=sm_80 tile=32x32x32 warps=1x2" --mlir-timing -o /dev/null 2>&1 | FileCheck %s --check-prefix=TIMING
// TIMING: Execution time report
// TIMING-DAG: cute-tile
// TIMING-DAG: cute-to-nvvm
// TIMING-DAG: cute-assemble
//
// With threads and without them, the result is the same.
// RUN: cute-opt %s --cute-compile="arch=sm_80 tile=32x32x32 warps=1x2" --mlir-disable-threading -o %t.single.mlir
// RUN: cmp %t.mlir %t.single.mlir
// And as bytecode.
// RUN: cute-opt %s --cute-compile="arch=sm_80 tile=32x32x32 warps=1x2" --emit-bytecode -o %t.mlirbc
// RUN: cute-opt %t.mlirbc -o %t.read.mlir
// RUN: cmp %t.mlir %t.read.mlir
//
// A failure leaves a reproducer, which fails in the same way.
// RUN: not cute-opt %s --cute-compile="arch=sm_80 tile=512x512x32" --mlir-pass-pipeline-crash-reproducer=%t.crash.mlir -o /dev/null 2>&1 | FileCheck %s --check-prefix=CRASH
// CRASH: 'cute.contract' op
// CRASH: {{.*}}.crash.mlir
// RUN: FileCheck %s --check-prefix=REPRODUCER --input-file=%t.crash.mlir
// REPRODUCER: cute.contract
// REPRODUCER: pipeline: "builtin.module(cute-instantiate{set=}, cute-warn-uncalled, cute-inline, cute-read-dsl, cute-check, cute-tile{arch=sm_80
// RUN: not cute-opt --run-reproducer %t.crash.mlir 2>&1 | FileCheck %s --check-prefix=AGAIN
// AGAIN: 'cute.contract' op
//
// The passes are known by name, with their options.
// RUN: cute-opt --help | FileCheck %s --check-prefix=HELP
// HELP-DAG: --cute-allocate-shared
// HELP-DAG: --cute-assemble
// HELP-DAG: --cute-compile
// HELP-DAG: --cute-emit-package
// HELP-DAG: --cute-emit-ptx
// HELP-DAG: --cute-fragments-to-values
// HELP-DAG: --cute-partition
// HELP-DAG: --cute-tile
// HELP-DAG: --cute-to-nvvm
// HELP-DAG: --tile=<string> {{ *}}- M, N and K of a block's tile
//
// RUN: cute-opt --show-dialects | FileCheck %s --check-prefix=DIALECTS
// DIALECTS: arith,builtin,cf,cute,cute_nvgpu,func,gpu,llvm,math,nvvm,scf,ub,vector

!t = !cute.memref<f16, gmem, align<16>, "(128,128):(128,1)">
func.func @gemm(%A: !t, %B: !t, %C: !t) {
  cute.contract ins(%A, %B : !t, !t) outs(%C : !t) accumulate f32
  return
}
