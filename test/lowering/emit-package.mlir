// The kernel package: what is launched, on what, and the code.
//
// RUN: rm -rf %t && mkdir %t
// RUN: cute-opt %s --cute-compile="arch=sm_80 tile=32x32x32 warps=1x2 stages=1 package=%t/gemm.cutepkg" -o /dev/null
// RUN: cute-run --info %t/gemm.cutepkg | FileCheck %s --check-prefix=INFO
// RUN: cute-run --info --json %t/gemm.cutepkg | FileCheck %s --check-prefix=JSON
// RUN: cute-run --emit ptx --to %t/gemm.ptx %t/gemm.cutepkg | FileCheck %s --check-prefix=EMIT
// RUN: FileCheck %s --check-prefix=PTX --input-file=%t/gemm.ptx
// RUN: cute-run --emit cubin --to %t/gemm.cubin %t/gemm.cutepkg
// RUN: %python -c "import sys; b = open(sys.argv[1], 'rb').read(); assert b[:4] == b'\x7fELF' and len(b) > 1000" %t/gemm.cubin

!A = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
!B = !cute.memref<f16, gmem, align<16>, "(96,64):(72,1)">
!C = !cute.memref<f16, gmem, align<16>, "(64,96):(96,1)">

// The arguments are named after what they are in the product, not after their order.
// INFO:      function product
// INFO:      | argument | element | layout {{ *}}| align | access |
// INFO:      | C        | f16     | (64,96):(96,1) | 16 B  | write  |
// INFO-NEXT: | A        | f16     | (64,64):(64,1) | 16 B  | read   |
// INFO-NEXT: | B        | f16     | (96,64):(72,1) | 16 B  | read   |
// INFO:      computes C(m,n) = sum over k of A(m,k) * B(n,k), accumulated in f32
// INFO:      launch 0: product_kernel(A, B, C), grid 6x1x1, block 64x1x1, {{[0-9]+}} B of dynamic shared memory
// INFO:      image sm_80: PTX of {{[1-9][0-9]*}} B cubin of {{[1-9][0-9]*}} B
// INFO:      | product_kernel | {{ *[1-9][0-9]*}} | {{ *}}0 B | {{ *[1-9][0-9]*}} B | {{ *}}0 B, 0 B | {{ *}}0 B | {{ *}}64 (at most 64) | .u64 .u64 .u64 |
// The instructions that the PTX below has.
// INFO-NEXT: instructions in the PTX{{:}}
// INFO-NEXT: | kernel {{ *}}| mma | ldmatrix | cp.async | global loads | global stores | shared loads | shared stores | barriers | integer | floating point | control | other | all |
// INFO:      | product_kernel | {{ *}}8 | {{ *}}6 | {{ *}}4 | {{ *}}0 | {{ *}}2 x 16 B | {{ *}}2 x 16 B | {{ *}}8 x 4 B | {{ *[1-9][0-9]*}} | {{ *[1-9][0-9]*}} |

// JSON: "producer": "cute-opt
// JSON: "name": "product"
// JSON: "arch": "sm_80"
// JSON: "instructions": {
// JSON-NEXT: "product_kernel": {
// JSON-NEXT: "mma": 8,
// JSON-NEXT: "ldmatrix": 6,
// JSON-NEXT: "cp_async": 4,
// JSON-NEXT: "global_loads": {},
// JSON-NEXT: "global_stores": {
// JSON-NEXT: "16": 2

// EMIT: gemm.ptx: PTX for sm_80, {{[1-9][0-9]*}} bytes

// PTX:           .target sm_80
// PTX:           .extern .shared .align 1024 .b8 dynamic_smem[]
// PTX:           .visible .entry product_kernel(
// PTX-NEXT:        .param .u64 .ptr .global .align 16 product_kernel_param_0,
// PTX-NEXT:        .param .u64 .ptr .global .align 16 product_kernel_param_1,
// PTX-NEXT:        .param .u64 .ptr .global .align 16 product_kernel_param_2
// PTX:           .{{maxntid|reqntid}} 64, 1, 1
// 2 vectors a thread of A, and of B
// PTX-COUNT-4:   cp.async.cg.shared.global {{.*}}, 16;
// PTX:           cp.async.commit_group;
// PTX:           cp.async.wait_group 0;
// PTX:           bar.sync 0;
// 2 atoms along M of A, 2 of B with one x4, for each of two k-slices
// PTX-COUNT-6:   ldmatrix.sync.aligned.m8n8.x4.shared.b16
// PTX-NOT:       ldmatrix
// PTX-COUNT-8:   mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// PTX-NOT:       mma.sync
// Pairs to shared memory, whole vectors to C.
// PTX-COUNT-8:   st.shared.b32
// PTX:           bar.sync 0;
// PTX:           ld.shared.v4.b32
// PTX:           st.global.v4.b32
// PTX:           ld.shared.v4.b32
// PTX:           st.global.v4.b32
// PTX-NOT:       st.global
// PTX:           ret;
func.func @product(%C: !C, %A: !A, %B: !B) {
  cute.contract ins(%A, %B : !A, !B) outs(%C : !C) accumulate f32
  return
}
