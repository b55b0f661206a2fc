// One GEMM for every architecture; for sm_90a, by its own instructions; and for sm_75, which has no asynchronous copies, a kernel written by hand. ptxas assembles
// each; its warnings and spills are errors.
//
// RUN: rm -rf %t && mkdir %t
//
// DEFINE: %{arch} =
// DEFINE: %{compile} = cute-opt %s --cute-compile="arch=%{arch} package=%t/%{arch}.cutepkg" -o %t/%{arch}.mlir
// DEFINE: %{check} = FileCheck %s --input-file=%t/%{arch}.mlir -DARCH=%{arch}
// DEFINE: %{info} = cute-run --info %t/%{arch}.cutepkg | FileCheck %s --check-prefix=INFO -DARCH=%{arch}
//
// REDEFINE: %{arch} = sm_80
// RUN: %{compile}
// RUN: %{check}
// RUN: %{info}
//
// REDEFINE: %{arch} = sm_86
// RUN: %{compile}
// RUN: %{check}
// RUN: %{info}
//
// REDEFINE: %{arch} = sm_87
// RUN: %{compile}
// RUN: %{check}
// RUN: %{info}
//
// REDEFINE: %{arch} = sm_88
// RUN: %{compile}
// RUN: %{check}
// RUN: %{info}
//
// REDEFINE: %{arch} = sm_89
// RUN: %{compile}
// RUN: %{check}
// RUN: %{info}
//
// REDEFINE: %{arch} = sm_90
// RUN: %{compile}
// RUN: %{check}
// RUN: %{info}
//
// REDEFINE: %{arch} = sm_90a
// RUN: %{compile}
// RUN: FileCheck %s --input-file=%t/sm_90a.mlir --check-prefix=SM90A
// RUN: cute-run --info %t/sm_90a.cutepkg | FileCheck %s --check-prefix=SM90A-INFO
//
// REDEFINE: %{arch} = sm_100
// RUN: %{compile}
// RUN: %{check}
// RUN: %{info}
//
// REDEFINE: %{arch} = sm_100f
// RUN: %{compile}
// RUN: %{check}
// RUN: %{info}
//
// REDEFINE: %{arch} = sm_100a
// RUN: %{compile}
// RUN: %{check}
// RUN: %{info}
//
// REDEFINE: %{arch} = sm_103
// RUN: %{compile}
// RUN: %{check}
// RUN: %{info}
//
// REDEFINE: %{arch} = sm_103f
// RUN: %{compile}
// RUN: %{check}
// RUN: %{info}
//
// REDEFINE: %{arch} = sm_103a
// RUN: %{compile}
// RUN: %{check}
// RUN: %{info}
//
// REDEFINE: %{arch} = sm_110
// RUN: %{compile}
// RUN: %{check}
// RUN: %{info}
//
// REDEFINE: %{arch} = sm_110f
// RUN: %{compile}
// RUN: %{check}
// RUN: %{info}
//
// REDEFINE: %{arch} = sm_110a
// RUN: %{compile}
// RUN: %{check}
// RUN: %{info}
//
// REDEFINE: %{arch} = sm_120
// RUN: %{compile}
// RUN: %{check}
// RUN: %{info}
//
// REDEFINE: %{arch} = sm_120f
// RUN: %{compile}
// RUN: %{check}
// RUN: %{info}
//
// REDEFINE: %{arch} = sm_120a
// RUN: %{compile}
// RUN: %{check}
// RUN: %{info}
//
// REDEFINE: %{arch} = sm_121
// RUN: %{compile}
// RUN: %{check}
// RUN: %{info}
//
// REDEFINE: %{arch} = sm_121f
// RUN: %{compile}
// RUN: %{check}
// RUN: %{info}
//
// REDEFINE: %{arch} = sm_121a
// RUN: %{compile}
// RUN: %{check}
// RUN: %{info}
//
// RUN: cute-opt %S/../../examples/kernels/mainloop_sm75.mlir --cute-compile="arch=sm_75 package=%t/sm_75.cutepkg" -o %t/sm_75.mlir
// RUN: FileCheck %s --check-prefix=SM75 --input-file=%t/sm_75.mlir
// RUN: cute-run %t/sm_75.cutepkg --device=emulator
//
// The same input gives the same package, byte by byte.
// RUN: cute-opt %s --cute-compile="arch=sm_90a package=%t/again.cutepkg" -o /dev/null
// RUN: cmp %t/sm_90a.cutepkg %t/again.cutepkg

!t = !cute.memref<f16, gmem, align<16>, "(512,512):(512,1)">

// CHECK:      func.func @gemm(
// CHECK:      gpu.launch_func @gemm_kernels::@gemm_kernel
// CHECK-NOT:  gpu.module
// CHECK:      gpu.binary @gemm_kernels
// CHECK-SAME:   #nvvm.target<O = 3, chip = "[[ARCH]]",
// CHECK-SAME:   spill_loads = 0 : i32, spill_stores = 0 : i32, stack = 0 : i32
// CHECK-SAME:   bin = "\7FELF
// CHECK-SAME:   .target [[ARCH]]\0A
// CHECK-SAME:   cp.async.cg.shared.global
// CHECK-SAME:   ldmatrix.sync.aligned.m8n8.x4
// CHECK-SAME:   mma.sync.aligned.m16n8k16
// 16 bytes at a time; newer architectures count them in 64 bits.
// CHECK-SAME:   st.global.v{{4.b32|2.b64}}

// INFO: image [[ARCH]]: PTX of {{[0-9]+}} B cubin of {{[0-9]+}} B
// INFO: | gemm_kernel | {{ *[1-9][0-9]*}} | {{ *[1-9][0-9]*}} | {{ *[1-9][0-9]*}} | {{ *}}0 | {{ *[1-9][0-9]*}} x 16 B |

// There warpgroups multiply what TMA brings.
// SM90A:      gpu.binary @gemm_kernels
// SM90A-SAME:   #nvvm.target<O = 3, chip = "sm_90a",
// SM90A-SAME:   spill_loads = 0 : i32, spill_stores = 0 : i32, stack = 0 : i32
// SM90A-SAME:   bin = "\7FELF
// SM90A-SAME:   .target sm_90a\0A
// SM90A-SAME:   wgmma.mma_async.sync.aligned.m64n32k16
// SM90A-SAME:   cp.async.bulk.tensor.2d.global.shared::cta
// SM90A-SAME:   cp.async.bulk.tensor.2d.shared::cluster.global

// SM90A-INFO: image sm_90a: PTX of {{[0-9]+}} B cubin of {{[0-9]+}} B
// SM90A-INFO: | gemm_kernel |

// SM75:      gpu.binary
// SM75-SAME:   #nvvm.target<O = 3, chip = "sm_75",
// SM75-SAME:   bin = "\7FELF
// SM75-SAME:   .target sm_75\0A
// SM75-SAME:   mma.sync.aligned.m16n8k8
func.func @gemm(%A: !t, %B: !t, %C: !t) {
  cute.contract ins(%A, %B : !t, !t) outs(%C : !t) accumulate f32
  return
}
