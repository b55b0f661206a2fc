// Factors whose lines begin where neither TMA nor wide copies can take them are copied into a workspace first, where that is asked for or faster: of all types and orders,
// of batches, of both factors or one, of sizes that only a launch knows, and of empty ones.
//
// RUN: cute-opt %s --cute-compile="arch=sm_90a pack=ab package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator --sms 4 --function rows | FileCheck %s --check-prefixes=RIGHT
// RUN: cute-run %t.cutepkg --device=emulator --sms 4 --function columns | FileCheck %s --check-prefixes=RIGHT
// RUN: cute-run %t.cutepkg --device=emulator --sms 4 --function crossed | FileCheck %s --check-prefixes=RIGHT
// RUN: cute-run %t.cutepkg --device=emulator --sms 4 --function bytes | FileCheck %s --check-prefixes=RIGHT
// RUN: cute-run %t.cutepkg --device=emulator --sms 4 --function floats | FileCheck %s --check-prefixes=RIGHT
// RUN: cute-run %t.cutepkg --device=emulator --sms 4 --function doubles | FileCheck %s --check-prefixes=RIGHT
// RUN: cute-run %t.cutepkg --device=emulator --sms 4 --function narrow | FileCheck %s --check-prefixes=RIGHT
// RUN: cute-run %t.cutepkg --device=emulator --sms 4 --function batch | FileCheck %s --check-prefixes=RIGHT
// RUN: cute-run %t.cutepkg --device=emulator --sms 4 --function shared | FileCheck %s --check-prefixes=RIGHT
// RUN: cute-run %t.cutepkg --device=emulator --sms 4 --function apart | FileCheck %s --check-prefixes=RIGHT
// RUN: cute-run %t.cutepkg --device=emulator --sms 4 --function open --shape A=70x37 --shape B=41x37 --shape C=70x41 | FileCheck %s --check-prefixes=RIGHT
// RUN: cute-run %t.cutepkg --device=emulator --sms 4 --function open --shape A=1x1 --shape B=3x1 --shape C=1x3 | FileCheck %s --check-prefixes=RIGHT
// RUN: cute-run %t.cutepkg --device=emulator --sms 4 --function open --shape A=5x0 --shape B=3x0 --shape C=5x3 | FileCheck %s --check-prefixes=RIGHT
// RUN: cute-run %t.cutepkg --device=emulator --sms 4 --function open --shape A=0x5 --shape B=3x5 --shape C=0x3
// RUN: cute-run %t.cutepkg --device=emulator --sms 4 --function open_batch --shape A=33x17x3 --shape B=21x17x3 --shape C=33x21x3 | FileCheck %s --check-prefixes=RIGHT
// RUN: cute-run %t.cutepkg --info | FileCheck %s --check-prefix=INFO
// RIGHT: right
// RIGHT: no findings

// Both are copied by one kernel.
// INFO-LABEL: function rows
// INFO: workspace: {{[0-9]+}} B
// INFO: rows_pack_kernel(A, workspace, B, workspace + 25600, 50, 34), grid 50x2x1
// INFO: map of workspace (43 x 200)
!A = !cute.memref<f16, gmem, align<16>, "(200,43):(43,1)">
!B = !cute.memref<f16, gmem, align<16>, "(136,43):(43,1)">
!C = !cute.memref<f16, gmem, align<16>, "(200,136):(136,1)">
func.func @rows(%A: !A, %B: !B, %C: !C) {
  cute.contract ins(%A, %B : !A, !B) outs(%C : !C) accumulate f32
  return
}

!At = !cute.memref<bf16, gmem, align<16>, "(75,40):(1,75)">
!Bt = !cute.memref<bf16, gmem, align<16>, "(61,40):(1,61)">
!Ct = !cute.memref<bf16, gmem, align<16>, "(75,61):(1,75)">
func.func @columns(%A: !At, %B: !Bt, %C: !Ct) {
  cute.contract ins(%A, %B : !At, !Bt) outs(%C : !Ct) accumulate f32
  return
}

!Ax = !cute.memref<f16, gmem, align<2>, "(64,39):(1,64)">
!Bx = !cute.memref<f16, gmem, align<2>, "(72,39):(39,1)">
!Cx = !cute.memref<f32, gmem, align<16>, "(64,72):(72,1)">
func.func @crossed(%A: !Ax, %B: !Bx, %C: !Cx) {
  cute.contract ins(%A, %B : !Ax, !Bx) outs(%C : !Cx) accumulate f32
  return
}

!As = !cute.memref<i8, gmem, align<16>, "(40,77):(77,1)">
!Bs = !cute.memref<i8, gmem, align<16>, "(24,77):(77,1)">
!Cs = !cute.memref<i32, gmem, align<16>, "(40,24):(24,1)">
func.func @bytes(%A: !As, %B: !Bs, %C: !Cs) {
  cute.contract ins(%A, %B : !As, !Bs) outs(%C : !Cs) accumulate i32
  return
}

!Af = !cute.memref<tf32, gmem, align<16>, "(40,35):(35,1)">
!Bf = !cute.memref<tf32, gmem, align<16>, "(24,35):(35,1)">
!Cf = !cute.memref<f32, gmem, align<16>, "(40,24):(24,1)">
func.func @floats(%A: !Af, %B: !Bf, %C: !Cf) {
  cute.contract ins(%A, %B : !Af, !Bf) outs(%C : !Cf) accumulate f32
  return
}

!Ad = !cute.memref<f64, gmem, align<16>, "(24,11):(11,1)">
!Cd = !cute.memref<f64, gmem, align<16>, "(24,24):(24,1)">
func.func @doubles(%A: !Ad, %B: !Ad, %C: !Cd) {
  cute.contract ins(%A, %B : !Ad, !Ad) outs(%C : !Cd) accumulate f64
  return
}

// Elements that no register holds are copied as numbers of as many bits.
// INFO-LABEL: function narrow
// INFO: narrow_pack_kernel(A, workspace, B
!An = !cute.memref<f8E4M3FN, gmem, align<16>, "(70,75):(75,1)">
!Bn = !cute.memref<f8E5M2, gmem, align<16>, "(40,75):(75,1)">
!Cn = !cute.memref<f16, gmem, align<16>, "(70,40):(40,1)">
func.func @narrow(%A: !An, %B: !Bn, %C: !Cn) {
  cute.contract ins(%A, %B : !An, !Bn) outs(%C : !Cn) accumulate f32
  return
}

// What only some leaves of a batch share is copied for each product.
// INFO-LABEL: function batch
// INFO: batch_pack_kernel(A, workspace, B, workspace + 30720, 60, 36)
!Ab = !cute.memref<f16, gmem, align<16>, "(40,37,(2,3)):(37,1,(1480,2960))">
!Bb = !cute.memref<f16, gmem, align<16>, "(24,37,(2,3)):(37,1,(0,888))">
!Cb = !cute.memref<f16, gmem, align<16>, "(40,24,(2,3)):(24,1,(960,1920))">
func.func @batch(%A: !Ab, %B: !Bb, %C: !Cb) {
  cute.contract ins(%A, %B : !Ab, !Bb) outs(%C : !Cb) accumulate f32
  return
}

// Elements that do not lie side by side do so in the copy.
!Aa = !cute.memref<f16, gmem, align<2>, "(40,37):(100,2)">
!Ba = !cute.memref<f16, gmem, align<2>, "(24,37):(3,80)">
!Ca = !cute.memref<f16, gmem, align<16>, "(40,24):(24,1)">
func.func @apart(%A: !Aa, %B: !Ba, %C: !Ca) {
  cute.contract ins(%A, %B : !Aa, !Ba) outs(%C : !Ca) accumulate f32
  return
}

!Ao = !cute.memref<f16, gmem, align<2>, "(?,?):(?{i64},1)">
func.func @open(%A: !Ao, %B: !Ao, %C: !Ao) {
  cute.contract ins(%A, %B : !Ao, !Ao) outs(%C : !Ao) accumulate f32
  return
}

!Ap = !cute.memref<f16, gmem, align<2>, "(?,?,?):(?{i64},1,?{i64})">
func.func @open_batch(%A: !Ap, %B: !Ap, %C: !Ap) {
  cute.contract ins(%A, %B : !Ap, !Ap) outs(%C : !Ap) accumulate f32
  return
}

// What all products share is copied once.
// INFO-LABEL: function shared
// INFO: shared_pack_kernel(A, workspace, B, workspace + 30720, 60, 6)
!Bh = !cute.memref<f16, gmem, align<16>, "(24,37,6):(37,1,0)">
!Ch = !cute.memref<f16, gmem, align<16>, "(40,24,6):(24,1,960)">
!Ah = !cute.memref<f16, gmem, align<16>, "(40,37,6):(37,1,1480)">
func.func @shared(%A: !Ah, %B: !Bh, %C: !Ch) {
  cute.contract ins(%A, %B : !Ah, !Bh) outs(%C : !Ch) accumulate f32
  return
}
