// Products of whole tensors by blocks of two teams, which take tiles in turn: right on the emulator without findings, also where a block has one tile, or an
// odd number of them, where K is empty or tiles reach over the ends, and where what is stored is computed by threads.
//
// RUN: cute-opt %S/warpgroups.mlir --cute-compile="arch=sm_90a teams=2 package=%t.cutepkg" -o /dev/null
// RUN: cute-opt %S/warpgroups.mlir --cute-compile="arch=sm_90a teams=2 cluster=2x1 package=%t-m.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --info | FileCheck %s --check-prefix=INFO
// RUN: cute-run %t.cutepkg --function along_k --device=emulator --sms 1 --seeds 3 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t.cutepkg --function along_k --device=emulator --sms 132 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t.cutepkg --function along_m_n --device=emulator --sms 1 --seeds 2 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t.cutepkg --function columns --device=emulator --sms 1 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t.cutepkg --function integers --device=emulator --sms 1 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t.cutepkg --function batch --device=emulator --sms 1 --seeds 2 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t.cutepkg --function odd --device=emulator --sms 1 --seeds 2 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t.cutepkg --function epilogue --device=emulator --sms 1 --seeds 2 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t.cutepkg --function open --device=emulator --sms 1 --shape A=328x136 --shape B=264x136 --shape C=328x264 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t.cutepkg --function open --device=emulator --sms 2 --shape A=328x600 --shape B=264x600 --shape C=328x264 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t.cutepkg --function open --device=emulator --sms 1 --shape A=328x0 --shape B=72x0 --shape C=328x72 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t-m.cutepkg --function along_k --device=emulator --sms 2 --seeds 2 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t-m.cutepkg --function open --device=emulator --sms 2 --shape A=328x600 --shape B=264x600 --shape C=328x264 | FileCheck %s --check-prefix=RIGHT
// RUN: not cute-opt %S/warpgroups.mlir --cute-compile="arch=sm_90a teams=2 instructions=mma package=%t-x.cutepkg" -o /dev/null 2>&1 | FileCheck %s --check-prefix=MMA
// RUN: not cute-opt %S/warpgroups.mlir --cute-compile="arch=sm_90a teams=2 split=2 package=%t-x.cutepkg" -o /dev/null 2>&1 | FileCheck %s --check-prefix=SPLIT
// RUN: not cute-opt %S/warpgroups.mlir --cute-compile="arch=sm_90a teams=5 tile=64x64x64 warps=4x1 package=%t-x.cutepkg" -o /dev/null 2>&1 | FileCheck %s --check-prefix=MANY
// RUN: not cute-opt %S/warpgroups.mlir --cute-compile="arch=sm_90a teams=2 tile=64x64x64 package=%t-x.cutepkg" -o /dev/null 2>&1 | FileCheck %s --check-prefix=TABLE
// RUN: not cute-opt %S/warpgroups.mlir --cute-compile="arch=sm_90a teams=2 tile=128x128x32 package=%t-x.cutepkg" -o /dev/null 2>&1 | FileCheck %s --check-prefix=DEPTH
// RUN: not cute-opt %S/warpgroups.mlir --cute-compile="arch=sm_90a teams=2 tile=128x128x64 warps=4x2 package=%t-x.cutepkg" -o /dev/null 2>&1 | FileCheck %s --check-prefix=WARPS
// RUN: not cute-opt %S/warpgroups.mlir --cute-compile="arch=sm_90a teams=3 package=%t-x.cutepkg" -o /dev/null 2>&1 | FileCheck %s --check-prefix=THREE
//
// INFO: block 384x1x1
//
// RIGHT: : right;
// RIGHT: no findings
//
// MMA: asks for teams, whose blocks have a warpgroup that loads for all, and for instructions=mma; expected instructions=wgmma
// SPLIT: expected one team where K is split, and where warps have no roles, found teams = 2 and split = 2
// MANY: expected teams of 1 to 4, found 5
// TABLE: expected a tile of 128x192x64, {{.*}}64x128x64, or warps=4x1 as well, which takes others; found tile=64x64x64 of 2 teams
// DEPTH: expected a tile of 64 along K, found tile=128x128x32
// WARPS: expected warpgroups along M alone, such as warps=8x1, found warps=4x2
// THREE: expected 1 or 2 teams, or a tile and its warps for others, found teams=3
