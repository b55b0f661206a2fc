// TMA loads no more rows of the last tiles than there are: a second atom of a factor has a box of as many. Known extents, open ones, slices that blocks of a cluster load for each other, teams, parts of K; factors whose
// rows are contiguous keep whole boxes.
// RUN: cute-opt %s --cute-compile="arch=sm_90a tile=128x64x64 warps=4x1 stages=3 instructions=wgmma cluster=1x1 package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --function known --info | FileCheck %s --check-prefix=KNOWN
// RUN: cute-run %t.cutepkg --function known --device=emulator --sms 3 --seeds 2 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t.cutepkg --function open --info | FileCheck %s --check-prefix=OPEN
// RUN: cute-run %t.cutepkg --function open --device=emulator --shape A=197x256 --shape B=72x256 --shape C=197x72 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t.cutepkg --function open --device=emulator --shape A=128x72 --shape B=64x72 --shape C=128x64 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t.cutepkg --function open --device=emulator --shape A=1x64 --shape B=8x64 --shape C=1x8 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t.cutepkg --function batch --device=emulator --shape A=40x128x3 --shape B=72x128x3 --shape C=40x72x3 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t.cutepkg --function columns --info | FileCheck %s --check-prefix=COLUMNS
// RUN: cute-run %t.cutepkg --function columns --device=emulator --shape A=136x128 --shape C=136x128 | FileCheck %s --check-prefix=RIGHT
//
// Blocks of a cluster load halves of tiles for each other: parts that are whole, parts of which some rows are there, and parts that are outside altogether.
// RUN: cute-opt %s --cute-compile="arch=sm_90a tile=128x64x64 warps=8x1 stages=3 instructions=wgmma cluster=2x2 package=%t.2.cutepkg" -o /dev/null
// RUN: cute-run %t.2.cutepkg --function open --info | FileCheck %s --check-prefix=CLUSTER
// RUN: cute-run %t.2.cutepkg --function open --device=emulator --shape A=197x256 --shape B=136x256 --shape C=197x136 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t.2.cutepkg --function open --device=emulator --shape A=60x192 --shape B=72x192 --shape C=60x72 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-run %t.2.cutepkg --function open --device=emulator --sms 4 --shape A=320x64 --shape B=200x64 --shape C=320x200 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-opt %s --cute-compile="arch=sm_90a tile=64x32x64 warps=4x1 stages=4 teams=2 instructions=wgmma cluster=1x1 package=%t.3.cutepkg" -o /dev/null
// RUN: cute-run %t.3.cutepkg --function open --device=emulator --shape A=197x512 --shape B=136x512 --shape C=197x136 | FileCheck %s --check-prefix=RIGHT
// RUN: cute-opt %s --cute-compile="arch=sm_90a tile=64x32x64 warps=4x1 stages=4 split=3 instructions=wgmma cluster=1x1 package=%t.4.cutepkg" -o /dev/null
// RUN: cute-run %t.4.cutepkg --function open --device=emulator --shape A=197x512 --shape B=136x512 --shape C=197x136 | FileCheck %s --check-prefix=RIGHT

// RIGHT: right
// RIGHT: no findings

// KNOWN: known_kernel({{.*}}map of A (256 x 197) by boxes of 64 x 128, {{.*}}map of B (256 x 72) by boxes of 64 x 64, {{.*}}map of A (256 x 197) by boxes of 64 x the rest of 128, {{.*}}map of B (256 x 72) by boxes of 64 x the rest of 64,
// OPEN: open_kernel({{.*}}map of A ({{.*}}) by boxes of 64 x the rest of 128, {{.*}}map of B ({{.*}}) by boxes of 64 x the rest of 64,
// CLUSTER: open_kernel({{.*}}map of A ({{.*}}) by boxes of 64 x the rest of 64, {{.*}}map of B ({{.*}}) by boxes of 64 x the rest of 32,
// COLUMNS: columns_kernel({{.*}}map of A
// COLUMNS-NOT: the rest of
// COLUMNS-SAME: grid

!a = !cute.memref<f16, gmem, align<16>, "(197,256):(256,1)">
!b = !cute.memref<f16, gmem, align<16>, "(72,256):(256,1)">
!c = !cute.memref<f16, gmem, align<16>, "(197,72):(72,1)">
func.func @known(%A: !a, %B: !b, %C: !c) {
  cute.contract ins(%A, %B) outs(%C) accumulate f32
  return
}

!rows = !cute.memref<f16, gmem, align<16>, "(?,?{div=8}):(?{div=8},1)">
func.func @open(%A: !rows, %B: !rows, %C: !rows) {
  cute.contract ins(%A, %B) outs(%C) accumulate f32
  return
}

!all = !cute.memref<f16, gmem, align<16>, "(?,?{div=8},?):(?{div=8},1,?{div=8})">
func.func @batch(%A: !all, %B: !all, %C: !all) {
  cute.contract ins(%A, %B) outs(%C) accumulate f32
  return
}

// A by columns: the rows of a tile are a line of memory, whose end TMA fills.
!of_columns = !cute.memref<f16, gmem, align<16>, "(?{div=8},128):(1,?{div=8})">
!whole = !cute.memref<f16, gmem, align<16>, "(128,128):(128,1)">
!out = !cute.memref<f16, gmem, align<16>, "(?{div=8},128):(128,1)">
func.func @columns(%A: !of_columns, %B: !whole, %C: !out) {
  cute.contract ins(%A, %B) outs(%C) accumulate f32
  return
}
