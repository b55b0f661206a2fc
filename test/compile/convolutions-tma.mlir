// Convolutions and their gradients by TMA's im2col and products of warpgroups, and factors whose modes have several leaves by its boxes.
//
// Activations X (C,W,H,N), filters F (K,(C,S,R)), results Y ((Q,P,N),K); small, for the emulator.
//
// RUN: cute-opt %s --cute-compile="arch=sm_90a variants=2 package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --info | FileCheck %s --check-prefix=INFO
// RUN: cute-run %t.cutepkg --device=emulator --function same | FileCheck %s
// RUN: cute-run %t.cutepkg --device=emulator --function strided | FileCheck %s
// RUN: cute-run %t.cutepkg --device=emulator --function columns | FileCheck %s
// RUN: cute-run %t.cutepkg --device=emulator --function filter | FileCheck %s
// RUN: cute-run %t.cutepkg --device=emulator --function input | FileCheck %s
// RUN: cute-run %t.cutepkg --device=emulator --function input_of_filter | FileCheck %s
// RUN: cute-run %t.cutepkg --device=emulator --function three | FileCheck %s
// RUN: cute-run %t.cutepkg --device=emulator --function c96 | FileCheck %s
// RUN: cute-run %t.cutepkg --device=emulator --function tf32 | FileCheck %s
// RUN: cute-run %t.cutepkg --device=emulator --function s8 | FileCheck %s
// RUN: cute-run %t.cutepkg --device=emulator --function line | FileCheck %s
// RUN: cute-run %t.cutepkg --device=emulator --function planes | FileCheck %s
// RUN: cute-run %t.cutepkg --device=emulator --function turned | FileCheck %s
// RUN: cute-run %t.cutepkg --device=emulator --function images --shape A=64x14x10x1 --shape C=140x96 | FileCheck %s
// RUN: cute-run %t.cutepkg --device=emulator --function images --shape A=64x14x10x5 --shape C=700x96 | FileCheck %s
// RUN: cute-run %t.cutepkg --device=emulator --function images --shape A=64x14x10x0 --shape C=0x96
// RUN: not cute-run %t.cutepkg --device=emulator --function images --shape A=64x14x10x5 --shape C=699x96 2>&1 | FileCheck %s --check-prefix=SHAPE
//
// CHECK: right; every element compared
// CHECK: no findings
// SHAPE: error
//
// INFO: launch {{.*}} same_kernel({{.*}} map of A (64 x 14 x 10 x 2) by columns of {{[0-9]+}} pixels of 64, from -1,-1 to -1,-1 by 1,1
// INFO: launch {{.*}} strided_kernel({{.*}} by columns of {{[0-9]+}} pixels of 64, from -2,-2 to -3,-3 by 2,2
// INFO: launch {{.*}} columns_kernel({{.*}} map of A (64 x 14 x 10 x 2) by columns of
// INFO: launch {{.*}} filter_kernel({{.*}} map of B (64 x 14 x 10 x 2) by columns of 64 pixels of
// INFO: launch {{.*}} input_kernel({{.*}} from -1,-1 to -1,-1 by 1,1
// INFO: launch {{.*}} input_of_filter_kernel({{.*}} map of B (96 x 64 x 9) by boxes of
// INFO: launch {{.*}} three_kernel({{.*}} map of A (64 x 6 x 5 x 4 x 2) by columns of
// INFO: launch {{.*}} images_kernel_0({{.*}} map of A (64 x 14 x 10 x A.shape[3]) by columns of
// INFO: launch {{.*}} c96_kernel({{.*}} by columns of {{[0-9]+}} pixels of 32
// INFO: launch {{.*}} tf32_kernel({{.*}} by columns of {{[0-9]+}} pixels of 32
// INFO: launch {{.*}} s8_kernel({{.*}} by columns of {{[0-9]+}} pixels of 128
// INFO: launch {{.*}} line_kernel({{.*}} map of A (64 x 50 x 3) by columns of {{[0-9]+}} pixels of 64, from 0 to -4 by 3
// INFO: launch 0: planes_kernel{{[_a-z0-9]*}}(A, B, C{{(, workspace)?}}), grid
// INFO: launch 0: turned_kernel{{[_a-z0-9]*}}(A, B, C{{(, workspace)?}}), grid

!x = !cute.memref<f16, gmem, align<16>, "(64,14,10,2):(1,64,896,8960)">
!f = !cute.memref<f16, gmem, align<16>, "(96,(64,3,3)):(576,(1,64,192))">
!y = !cute.memref<f16, gmem, align<16>, "(280,96):(96,1)">
!same = !cute.coord_tensor<"(0,-1,-1,0)", "((14,10,2),(64,3,3)):((1@1,1@2,1@3),(1@0,1@1,1@2))">
func.func @same(%X: !x, %F: !f, %Y: !y) {
  %o = cute.static : !cute.int_tuple<"(0,-1,-1,0)">
  %i = cute.make_arith_tuple_iter(%o) : (!cute.int_tuple<"(0,-1,-1,0)">) -> !cute.arith_tuple_iter<"(0,-1,-1,0)">
  %at = cute.make_view(%i) : !same
  cute.contract ins(%X, %F : !x, !f) outs(%Y : !y) accumulate f32 at A(%at : !same)
  return
}
// Steps of 2, elements of the filter 2 apart along H, 5 by 3 of them; sums in parts of K.
!s2 = !cute.coord_tensor<"(0,-2,-2,0)", "((7,5,2),(64,5,3)):((2@1,2@2,1@3),(1@0,1@1,2@2))">
!f2 = !cute.memref<f16, gmem, align<16>, "(96,(64,5,3)):(960,(1,64,320))">
!y2 = !cute.memref<f32, gmem, align<16>, "(70,96):(96,1)">
func.func @strided(%X: !x, %F: !f2, %Y: !y2) {
  %o = cute.static : !cute.int_tuple<"(0,-2,-2,0)">
  %i = cute.make_arith_tuple_iter(%o) : (!cute.int_tuple<"(0,-2,-2,0)">) -> !cute.arith_tuple_iter<"(0,-2,-2,0)">
  %at = cute.make_view(%i) : !s2
  cute.contract ins(%X, %F : !x, !f2) outs(%Y : !y2) accumulate f32 at A(%at : !s2)
  return
}
// Y by columns: the images are what B is.
!yt = !cute.memref<f16, gmem, align<16>, "(280,96):(1,280)">
func.func @columns(%X: !x, %F: !f, %Y: !yt) {
  %o = cute.static : !cute.int_tuple<"(0,-1,-1,0)">
  %i = cute.make_arith_tuple_iter(%o) : (!cute.int_tuple<"(0,-1,-1,0)">) -> !cute.arith_tuple_iter<"(0,-1,-1,0)">
  %at = cute.make_view(%i) : !same
  cute.contract ins(%X, %F : !x, !f) outs(%Y : !yt) accumulate f32 at A(%at : !same)
  return
}
// The gradient of the filter: channels are rows, those of one element of the filter in each load.
!dy = !cute.memref<f16, gmem, align<16>, "(96,280):(1,96)">
!df = !cute.memref<f32, gmem, align<16>, "(96,576):(576,1)">
!taps = !cute.coord_tensor<"(0,-1,-1,0)", "((64,3,3),(14,10,2)):((1@0,1@1,1@2),(1@1,1@2,1@3))">
func.func @filter(%dY: !dy, %X: !x, %dF: !df) {
  %o = cute.static : !cute.int_tuple<"(0,-1,-1,0)">
  %i = cute.make_arith_tuple_iter(%o) : (!cute.int_tuple<"(0,-1,-1,0)">) -> !cute.arith_tuple_iter<"(0,-1,-1,0)">
  %at = cute.make_view(%i) : !taps
  cute.contract ins(%dY, %X : !dy, !x) outs(%dF : !df) accumulate f32 at B(%at : !taps)
  return
}
// The gradient of the input, through the filter from its end.
!dyt = !cute.memref<f16, gmem, align<16>, "(64,14,10,2):(1,64,896,8960)">
!ft = !cute.memref<f16, gmem, align<16>, "(96,(64,3,3)):(576,(1,64,192))">
!dx = !cute.memref<f16, gmem, align<16>, "(280,96):(96,1)">
!back = !cute.coord_tensor<"(0,1,1,0)", "((14,10,2),(64,3,3)):((1@1,1@2,1@3),(1@0,-1@1,-1@2))">
func.func @input(%dY: !dyt, %F: !ft, %dX: !dx) {
  %o = cute.static : !cute.int_tuple<"(0,1,1,0)">
  %i = cute.make_arith_tuple_iter(%o) : (!cute.int_tuple<"(0,1,1,0)">) -> !cute.arith_tuple_iter<"(0,1,1,0)">
  %at = cute.make_view(%i) : !back
  cute.contract ins(%dY, %F : !dyt, !ft) outs(%dX : !dx) accumulate f32 at A(%at : !back)
  return
}
// The same of the filter as the forward convolution has it: K of three leaves, and rows side by side.
!ft2 = !cute.memref<f16, gmem, align<16>, "(96,(64,3,3)):(1,(864,96,288))">
func.func @input_of_filter(%dY: !dyt, %F: !ft2, %dX: !dx) {
  %o = cute.static : !cute.int_tuple<"(0,1,1,0)">
  %i = cute.make_arith_tuple_iter(%o) : (!cute.int_tuple<"(0,1,1,0)">) -> !cute.arith_tuple_iter<"(0,1,1,0)">
  %at = cute.make_view(%i) : !back
  cute.contract ins(%dY, %F : !dyt, !ft2) outs(%dX : !dx) accumulate f32 at A(%at : !back)
  return
}
// Three dimensions.
!x3 = !cute.memref<f16, gmem, align<16>, "(64,6,5,4,2):(1,64,384,1920,7680)">
!f3 = !cute.memref<f16, gmem, align<16>, "(32,(64,3,3,3)):(1728,(1,64,192,576))">
!y3 = !cute.memref<f16, gmem, align<16>, "(240,32):(32,1)">
!cube = !cute.coord_tensor<"(0,-1,-1,-1,0)", "((6,5,4,2),(64,3,3,3)):((1@1,1@2,1@3,1@4),(1@0,1@1,1@2,1@3))">
func.func @three(%X: !x3, %F: !f3, %Y: !y3) {
  %o = cute.static : !cute.int_tuple<"(0,-1,-1,-1,0)">
  %i = cute.make_arith_tuple_iter(%o) : (!cute.int_tuple<"(0,-1,-1,-1,0)">) -> !cute.arith_tuple_iter<"(0,-1,-1,-1,0)">
  %at = cute.make_view(%i) : !cube
  cute.contract ins(%X, %F : !x3, !f3) outs(%Y : !y3) accumulate f32 at A(%at : !cube)
  return
}
// Any number of images: the rows of Y.
!xb = !cute.memref<f16, gmem, align<16>, "(64,14,10,?):(1,64,896,8960)">
!yb = !cute.memref<f16, gmem, align<16>, "(?,96):(96,1)">
!sameb = !cute.coord_tensor<"(0,-1,-1,0)", "((14,10,?),(64,3,3)):((1@1,1@2,1@3),(1@0,1@1,1@2))">
func.func @images(%X: !xb, %F: !f, %Y: !yb) {
  %l = cute.get_layout(%X)
  %N = cute.get_scalars <{only_dynamic}>(%l)
  %o = cute.static : !cute.int_tuple<"(0,-1,-1,0)">
  %i = cute.make_arith_tuple_iter(%o) : (!cute.int_tuple<"(0,-1,-1,0)">) -> !cute.arith_tuple_iter<"(0,-1,-1,0)">
  %s = cute.make_shape(%N) : (i32) -> !cute.shape<"((14,10,?),(64,3,3))">
  %d = cute.static : !cute.stride<"((1@1,1@2,1@3),(1@0,1@1,1@2))">
  %L = cute.make_layout(%s, %d)
  %at = cute.make_view(%i, %L) : !sameb
  cute.contract ins(%X, %F : !xb, !f) outs(%Y : !yb) accumulate f32 at A(%at : !sameb)
  return
}

// 96 channels, of which a turn has 32; of tf32 32; of bytes 128.
!x_c96 = !cute.memref<bf16, gmem, align<16>, "(96,14,10,2):(1,96,1344,13440)">
!f_c96 = !cute.memref<bf16, gmem, align<16>, "(128,(96,3,3)):(864,(1,96,288))">
!y_c96 = !cute.memref<bf16, gmem, align<16>, "(280,128):(128,1)">
!t_c96 = !cute.coord_tensor<"(0,-1,-1,0)", "((14,10,2),(96,3,3)):((1@1,1@2,1@3),(1@0,1@1,1@2))">
func.func @c96(%X: !x_c96, %F: !f_c96, %Y: !y_c96) {
  %o = cute.static : !cute.int_tuple<"(0,-1,-1,0)">
  %i = cute.make_arith_tuple_iter(%o) : (!cute.int_tuple<"(0,-1,-1,0)">) -> !cute.arith_tuple_iter<"(0,-1,-1,0)">
  %at = cute.make_view(%i) : !t_c96
  cute.contract ins(%X, %F : !x_c96, !f_c96) outs(%Y : !y_c96) accumulate f32 at A(%at : !t_c96)
  return
}

!x_tf32 = !cute.memref<tf32, gmem, align<16>, "(32,14,10,2):(1,32,448,4480)">
!f_tf32 = !cute.memref<tf32, gmem, align<16>, "(64,(32,3,3)):(288,(1,32,96))">
!y_tf32 = !cute.memref<f32, gmem, align<16>, "(280,64):(64,1)">
!t_tf32 = !cute.coord_tensor<"(0,-1,-1,0)", "((14,10,2),(32,3,3)):((1@1,1@2,1@3),(1@0,1@1,1@2))">
func.func @tf32(%X: !x_tf32, %F: !f_tf32, %Y: !y_tf32) {
  %o = cute.static : !cute.int_tuple<"(0,-1,-1,0)">
  %i = cute.make_arith_tuple_iter(%o) : (!cute.int_tuple<"(0,-1,-1,0)">) -> !cute.arith_tuple_iter<"(0,-1,-1,0)">
  %at = cute.make_view(%i) : !t_tf32
  cute.contract ins(%X, %F : !x_tf32, !f_tf32) outs(%Y : !y_tf32) accumulate f32 at A(%at : !t_tf32)
  return
}

!x_s8 = !cute.memref<i8, gmem, align<16>, "(128,14,10,2):(1,128,1792,17920)">
!f_s8 = !cute.memref<i8, gmem, align<16>, "(64,(128,3,3)):(1152,(1,128,384))">
!y_s8 = !cute.memref<i32, gmem, align<16>, "(280,64):(64,1)">
!t_s8 = !cute.coord_tensor<"(0,-1,-1,0)", "((14,10,2),(128,3,3)):((1@1,1@2,1@3),(1@0,1@1,1@2))">
func.func @s8(%X: !x_s8, %F: !f_s8, %Y: !y_s8) {
  %o = cute.static : !cute.int_tuple<"(0,-1,-1,0)">
  %i = cute.make_arith_tuple_iter(%o) : (!cute.int_tuple<"(0,-1,-1,0)">) -> !cute.arith_tuple_iter<"(0,-1,-1,0)">
  %at = cute.make_view(%i) : !t_s8
  cute.contract ins(%X, %F : !x_s8, !f_s8) outs(%Y : !y_s8) accumulate i32 at A(%at : !t_s8)
  return
}

// Signals of one dimension without padding, every third place, and of images that are padded in memory.
!x1 = !cute.memref<f16, gmem, align<16>, "(64,50,3):(1,72,4096)">
!f1 = !cute.memref<f16, gmem, align<16>, "(40,(64,5)):(320,(1,64))">
!y1 = !cute.memref<f16, gmem, align<16>, "(48,40):(40,1)">
!line = !cute.coord_tensor<"(0,0,0)", "((16,3),(64,5)):((3@1,1@2),(1@0,1@1))">
func.func @line(%X: !x1, %F: !f1, %Y: !y1) {
  %o = cute.static : !cute.int_tuple<"(0,0,0)">
  %i = cute.make_arith_tuple_iter(%o) : (!cute.int_tuple<"(0,0,0)">) -> !cute.arith_tuple_iter<"(0,0,0)">
  %at = cute.make_view(%i) : !line
  cute.contract ins(%X, %F : !x1, !f1) outs(%Y : !y1) accumulate f32 at A(%at : !line)
  return
}

// What TMA cannot load this way is multiplied by warps: images whose channels do not lie side by side, 16 of them, places in another order.
!xc = !cute.memref<f16, gmem, align<16>, "(64,16,8,2):(128,1,16,8192)">
!fc = !cute.memref<f16, gmem, align<16>, "(32,(64,3,3)):(576,(1,64,192))">
!yc = !cute.memref<f16, gmem, align<16>, "(256,32):(32,1)">
!planes = !cute.coord_tensor<"(0,-1,-1,0)", "((16,8,2),(64,3,3)):((1@1,1@2,1@3),(1@0,1@1,1@2))">
func.func @planes(%X: !xc, %F: !fc, %Y: !yc) {
  %o = cute.static : !cute.int_tuple<"(0,-1,-1,0)">
  %i = cute.make_arith_tuple_iter(%o) : (!cute.int_tuple<"(0,-1,-1,0)">) -> !cute.arith_tuple_iter<"(0,-1,-1,0)">
  %at = cute.make_view(%i) : !planes
  cute.contract ins(%X, %F : !xc, !fc) outs(%Y : !yc) accumulate f32 at A(%at : !planes)
  return
}
!turned = !cute.coord_tensor<"(0,-1,-1,0)", "((10,14,2),(64,3,3)):((1@2,1@1,1@3),(1@0,1@1,1@2))">
func.func @turned(%X: !x, %F: !f, %Y: !y) {
  %o = cute.static : !cute.int_tuple<"(0,-1,-1,0)">
  %i = cute.make_arith_tuple_iter(%o) : (!cute.int_tuple<"(0,-1,-1,0)">) -> !cute.arith_tuple_iter<"(0,-1,-1,0)">
  %at = cute.make_view(%i) : !turned
  cute.contract ins(%X, %F : !x, !f) outs(%Y : !y) accumulate f32 at A(%at : !turned)
  return
}
