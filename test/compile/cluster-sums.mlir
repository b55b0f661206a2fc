// Products of whole tensors by clusters whose blocks share each tile along K, and add their sums through shared memory: right on the emulator without findings, of all types,
// batches and epilogues, also where K has no turn for a block, or none at all, and where a cluster has several tiles.
//
// RUN: cute-opt %S/warpgroups.mlir --cute-compile="arch=sm_90a cluster=1x1x2 package=%t-2.cutepkg" -o /dev/null
// RUN: cute-opt %S/warpgroups.mlir --cute-compile="arch=sm_90a cluster=1x1x4 package=%t-4.cutepkg" -o /dev/null
// RUN: cute-run %t-2.cutepkg --info | FileCheck %s --check-prefix=INFO
// RUN: cute-run %t-2.cutepkg --function along_k --device=emulator --sms 2 --seeds 3 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t-4.cutepkg --function along_k --device=emulator --sms 4 --seeds 3 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t-2.cutepkg --function along_m_n --device=emulator --sms 4 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t-2.cutepkg --function columns --device=emulator --sms 2 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t-2.cutepkg --function integers --device=emulator --sms 2 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t-4.cutepkg --function bytes --device=emulator --sms 4 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t-2.cutepkg --function tf32 --device=emulator --sms 2 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t-2.cutepkg --function batch --device=emulator --sms 2 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t-2.cutepkg --function odd --device=emulator --sms 2 --seeds 2 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t-2.cutepkg --function epilogue --device=emulator --sms 2 --seeds 2 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t-2.cutepkg --function open --device=emulator --sms 2 --shape A=200x136 --shape B=264x136 --shape C=200x264 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t-4.cutepkg --function open --device=emulator --sms 4 --shape A=200x72 --shape B=264x72 --shape C=200x264 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t-2.cutepkg --function open --device=emulator --sms 2 --shape A=64x0 --shape B=72x0 --shape C=64x72 | FileCheck %s --check-prefix=RIGHT
//
// INFO: cluster 2x1x1, beside what is before
//
// RIGHT: : right;
// RIGHT: no findings
