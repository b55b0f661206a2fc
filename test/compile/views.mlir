// Ops on views of tensors that begin anywhere in an argument, or in a part of the workspace: launches pass the byte, and results are verified.
//
// RUN: cute-opt %s --cute-compile="arch=sm_80 package=%t.80.cutepkg" -o /dev/null
// RUN: cute-opt %s --cute-compile="arch=sm_90a package=%t.90.cutepkg" -o /dev/null
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function heads | FileCheck %s --check-prefix=HEADS
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function columns | FileCheck %s --check-prefix=COLUMNS
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function beside | FileCheck %s --check-prefix=BESIDE
// RUN: cute-run %t.80.cutepkg --device=emulator --function shifted | FileCheck %s --check-prefix=SHIFTED
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function tile --shape X=192x200 --set n=1 | FileCheck %s --check-prefix=TILE
// RUN: cute-run %t.80.cutepkg --info --function tile | FileCheck %s --check-prefix=INFO
// RUN: not cute-run %t.80.cutepkg --device=emulator --function tile --shape X=192x200 --set n=3 2>&1 | FileCheck %s --check-prefix=BEHIND
// RUN: not cute-run %t.90.cutepkg --device=emulator --function tile --shape X=192x200 --set n=-999 2>&1 | FileCheck %s --check-prefix=BEHIND
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function rows --shape X=80x64 --set from=0 --set to=40 | FileCheck %s --check-prefix=ROWS
// RUN: cute-run %t.80.cutepkg %t.90.cutepkg --device=emulator --function rows --shape X=80x64 --set from=48 --set to=8 | FileCheck %s --check-prefix=ROWS
// RUN: not cute-run %t.80.cutepkg --device=emulator --function rows --shape X=80x64 --set from=0 --set to=31 2>&1 | FileCheck %s --check-prefix=OVERLAP

!x = !cute.memref<f16, gmem, align<16>, "(40,128):(128,1)">
!w = !cute.memref<f16, gmem, align<16>, "(192,128):(128,1)">
!s = !cute.memref<f16, gmem, align<16>, "(40,40):(40,1)">

// Q, K and V side by side in the workspace, as one product leaves them.
// HEADS-COUNT-2: Y (40,40), sums of 64: right; every element compared
func.func @heads(%X: !x {cute.name = "X"}, %W: !w {cute.name = "W"}, %Y: !s {cute.name = "Y"}) {
  %bytes = arith.constant 15360 : index
  %packed = cute.workspace(%bytes) : !cute.ptr<f16, gmem, align<256>>
  %qkv = cute.make_view(%packed, "(40,192):(192,1)")
  cute.contract ins(%X, %W) outs(%qkv) accumulate f32
  %first = cute.make_coord(0, 0)
  %second = cute.make_coord(0, 1)
  %q = cute.local_tile(%qkv, "[40:1;64:1]", %first)
  %k = cute.local_tile(%qkv, "[40:1;64:1]", %second)
  cute.contract ins(%q, %k) outs(%Y) accumulate f32
  return
}

// Two ops write columns of one tensor.
// COLUMNS-COUNT-2: C.view.1 (40,64), sums of 128: right; every element compared
!c = !cute.memref<f16, gmem, align<16>, "(40,128):(128,1)">
!b = !cute.memref<f16, gmem, align<16>, "(64,128):(128,1)">
func.func @columns(%A: !x {cute.name = "A"}, %B: !b {cute.name = "B"}, %D: !b {cute.name = "D"}, %C: !c {cute.name = "C"}) {
  %first = cute.make_coord(0, 0)
  %second = cute.make_coord(0, 1)
  %left = cute.local_tile(%C, "[40:1;64:1]", %first)
  %right = cute.local_tile(%C, "[40:1;64:1]", %second)
  cute.contract ins(%A, %B) outs(%left) accumulate f32
  cute.contract ins(%A, %D) outs(%right) accumulate f32
  return
}

// An op reads columns and writes others of the same tensor.
// BESIDE-COUNT-2: {{.*}} right; every element compared
func.func @beside(%C: !c {cute.name = "C"}) {
  %first = cute.make_coord(0, 0)
  %second = cute.make_coord(0, 1)
  %left = cute.local_tile(%C, "[40:1;64:1]", %first)
  %right = cute.local_tile(%C, "[40:1;64:1]", %second)
  cute.map ins(%left) outs(%right) {
  ^bb0(%e: f16):
    %two = arith.addf %e, %e : f16
    cute.yield %two : f16
  }
  return
}

// A view that begins at an odd element has elements that are aligned to 2 bytes.
// SHIFTED: Y (40,40), sums of 120: right; every element compared
func.func @shifted(%X: !x {cute.name = "X"}, %Y: !s {cute.name = "Y"}) {
  %start = cute.get_iter(%X)
  %one = cute.static : !cute.int_tuple<"1">
  %next = cute.add_offset(%start, %one)
  %a = cute.make_view(%next, "(40,120):(128,1)")
  cute.contract ins(%a, %a) outs(%Y) accumulate f32
  return
}

// A tile that only a launch knows. It is within the tensor, or nothing is launched.
// TILE-COUNT-2: Y (64,64), sums of 64: right; every element compared
// INFO: requires {{.*}}: expected a view within X, from its first byte to its last
// INFO: launch 0: {{.*}}(X
// BEHIND: expected a view within X, from its first byte to its last; begin it at another element, or give it other extents ({{.*}}views.mlir:
!open = !cute.memref<f16, gmem, align<16>, "(?,?):(?{div=8},1)">
!y = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
func.func @tile(%X: !open {cute.name = "X"}, %Y: !y {cute.name = "Y"}, %n: i32 {cute.name = "n"}) {
  %whole = cute.make_coord(_, 0)
  %mine = cute.make_coord(_, %n)
  %rows = cute.local_tile(%X, "[64:1;64:1]", %whole)
  %others = cute.local_tile(%X, "[64:1;64:1]", %mine)
  %zero = cute.make_coord(_, _, 0)
  %two = cute.make_coord(_, _, 2)
  %a = cute.slice(%rows, %zero)
  %b = cute.slice(%others, %two)
  cute.contract ins(%a, %b) outs(%Y) accumulate f32
  return
}

// Rows that a launch chooses, read and written: they are apart, or nothing is launched.
// ROWS-COUNT-2: {{.*}} right; every element compared
// OVERLAP: apart, as one of them is written: both are views of one tensor
!rows = !cute.memref<f16, gmem, align<16>, "(?,64):(64,1)">
func.func @rows(%X: !rows {cute.name = "X"}, %from: i32 {cute.name = "from"}, %to: i32 {cute.name = "to"}) {
  %start = cute.get_iter(%X)
  %length = cute.static : !cute.int_tuple<"64">
  %i = cute.make_int_tuple(%from)
  %j = cute.make_int_tuple(%to)
  %at_i = cute.tuple_mul(%i, %length)
  %at_j = cute.tuple_mul(%j, %length)
  %read = cute.add_offset(%start, %at_i)
  %written = cute.add_offset(%start, %at_j)
  %source = cute.make_view(%read, "(32,64):(64,1)")
  %target = cute.make_view(%written, "(32,64):(64,1)")
  cute.map ins(%source) outs(%target) {
  ^bb0(%e: f16):
    cute.yield %e : f16
  }
  return
}

// A stride that a number gives is what the view's type says, or nothing is launched.
// STRIDE: Y (40,64), map: right; every element compared
// PROMISE: expected extents and strides of a view of X that its type (40,64):(?{div=8},1) has: none negative, and multiples of what it says
// RUN: cute-run %t.80.cutepkg --device=emulator --function promised --set ld=72 | FileCheck %s --check-prefix=STRIDE
// RUN: not cute-run %t.80.cutepkg --device=emulator --function promised --set ld=65 2>&1 | FileCheck %s --check-prefix=PROMISE
// RUN: not cute-run %t.80.cutepkg --device=emulator --function promised --set ld=-64 2>&1 | FileCheck %s --check-prefix=PROMISE
!line = !cute.memref<f16, gmem, align<16>, "4096:1">
!z = !cute.memref<f16, gmem, align<16>, "(40,64):(64,1)">
func.func @promised(%X: !line {cute.name = "X"}, %Y: !z {cute.name = "Y"}, %ld: i32 {cute.name = "ld"}) {
  %start = cute.get_iter(%X)
  %shape = cute.static shape "(40,64)"
  %stride = cute.make_stride(%ld) -> !cute.stride<"(?{div=8},1)">
  %layout = cute.make_layout(%shape, %stride)
  %a = cute.make_view(%start, %layout)
  cute.map ins(%a) outs(%Y) {
  ^bb0(%e: f16):
    cute.yield %e : f16
  }
  return
}
