// Products of whole tensors by clusters of blocks, which share loads by multicast: right on the emulator without findings, also where M and N are no
// multiple of what a cluster computes, where blocks have no tile, and where sizes are open.
//
// RUN: cute-opt %S/warpgroups.mlir --cute-compile="arch=sm_90a cluster=2x1 package=%t-m.cutepkg" -o /dev/null
// RUN: cute-opt %S/warpgroups.mlir --cute-compile="arch=sm_90a cluster=1x2 package=%t-n.cutepkg" -o /dev/null
// RUN: cute-opt %S/warpgroups.mlir --cute-compile="arch=sm_90a cluster=2x2 package=%t-mn.cutepkg" -o /dev/null
// RUN: cute-run %t-m.cutepkg --info | FileCheck %s --check-prefix=INFO
// RUN: cute-run %t-mn.cutepkg --info | FileCheck %s --check-prefix=FOUR
// RUN: cute-run %t-m.cutepkg --function along_k --device=emulator --sms 4 --seeds 2 | FileCheck %s --check-prefix=RIGHT
// A chip of fewer multiprocessors than a cluster has blocks, as the emulator may be told to be, runs one cluster.
// RUN: cute-run %t-m.cutepkg --function along_k --device=emulator --sms 1 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t-n.cutepkg --function along_k --device=emulator --sms 4 --seeds 2 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t-mn.cutepkg --function along_k --device=emulator --sms 4 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t-m.cutepkg --function along_m_n --device=emulator --sms 4 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t-n.cutepkg --function along_m_n --device=emulator --sms 4 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t-n.cutepkg --function batch --device=emulator --sms 4 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t-m.cutepkg --function epilogue --device=emulator --sms 4 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t-mn.cutepkg --function odd --device=emulator --sms 4 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t-mn.cutepkg --function open --device=emulator --sms 4 --shape A=200x136 --shape B=264x136 --shape C=200x264 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t-m.cutepkg --function open --device=emulator --sms 4 --shape A=64x0 --shape B=72x0 --shape C=64x72 | FileCheck %s --check-prefix=RIGHT
// RUN: not cute-opt %S/warpgroups.mlir --cute-compile="arch=sm_90a cluster=2x1 instructions=mma package=%t-x.cutepkg" -o /dev/null 2>&1 | FileCheck %s --check-prefix=MMA
// RUN: not cute-opt %S/warpgroups.mlir --cute-compile="arch=sm_90a cluster=2x1x2 package=%t-x.cutepkg" -o /dev/null 2>&1 | FileCheck %s --check-prefix=BOTH
// RUN: not cute-opt %S/warpgroups.mlir --cute-compile="arch=sm_90a cluster=2x1x1x1 package=%t-x.cutepkg" -o /dev/null 2>&1 | FileCheck %s --check-prefix=FORM
// RUN: not cute-opt %S/warpgroups.mlir --cute-compile="arch=sm_90a cluster=4x4 package=%t-x.cutepkg" -o /dev/null 2>&1 | FileCheck %s --check-prefix=MANY
//
// INFO: cluster 2x1x1, beside what is before
//
// Of four blocks as many clusters stay as run at once: multiprocessors of a GPC may be left over.
//
// FOUR: grid ((min(max(div((sm_count * 15), 64), 1), {{.*}}) * 4), 1, 1), block {{.*}}, cluster 4x1x1
//
// RIGHT: : right;
// RIGHT: no findings
//
// MMA: asks for clusters, whose blocks share what TMA loads, and for instructions=mma; expected instructions=wgmma
// BOTH: expected one team, and no other blocks along M and N, in clusters whose blocks share tiles along K, found 2x1x2 and teams = 1
// FORM: expected at most 8 blocks along M and N, such as 2x1, or along M, N and K, such as 1x1x2, found '2x1x1x1'
// MANY: expected clusters of at most 8 blocks where warps have roles, and of one elsewhere, found 4x4x1
