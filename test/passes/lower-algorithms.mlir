// Algorithms on one thread's tensors become copies, products and elements.
//
// RUN: cute-opt %s --cute-lower-algorithms --split-input-file | FileCheck %s
// RUN: cute-opt %s --cute-lower-algorithms --split-input-file | cute-opt --cute-lower-algorithms --split-input-file | FileCheck %s

!atom = !cute_nvgpu.atom.universal_copy<f16, 128 b>
!g = !cute.memref<f16, gmem, align<16>, "(8,2):(1,64)">
!s = !cute.memref<f16, smem, align<16>, "(8,2):(1,8)">
!r = !cute.memref<f16, rmem, "(8,2):(1,8)">
!p = !cute.memref<i1, rmem, "(2):(1)">
!b = !cute.memref<i8, rmem, "(8,2):(0,1)">
!go = !cute.memref<f16, gmem, align<16>, "((2,4),2):((4,1),64)">
!so = !cute.memref<f16, smem, align<16>, "((2,4),2):((4,1),8)">

// An atom on (V,rest) becomes one on ((V,1),rest); a predicate has an element for each atom; values are in memory order.
//
// CHECK-LABEL: gpu.func @atoms
// CHECK:      cute.copy(%{{.*}}, %{{.*}}, %{{.*}}) : ({{.*}}, !cute.memref<f16, gmem, align<16>, "((8,1),2):((1,8),64)">, !cute.memref<f16, rmem, "((8,1),2):((1,8),8)">)
// CHECK:      cute.copy({{.*}}) : ({{.*}}, !cute.memref<f16, gmem, align<16>, "((8,1),2):((1,8),64)">, !cute.memref<f16, rmem, "((8,1),2):((1,8),8)">, !cute.memref<i1, rmem, "(2):(1)">)
// CHECK-NOT:  cute.copy_if
// CHECK:      %[[P:.*]] = cute.slice({{.*}}) : !cute.memref<i8, rmem, "(8,2):(0,1)">, !cute.coord<"(0,_)">
// CHECK:      cute.copy({{.*}}, %[[P]]) : ({{.*}}, !cute.memref<i8, rmem, "(2):(1)">)
// CHECK:      cute.copy({{.*}}) : ({{.*}}, !cute.memref<f16, gmem, align<16>, "(((4,2),1),2):(((1,4),4),64)">, !cute.memref<f16, smem, align<16>, "(((4,2),1),2):(((1,4),4),8)">)
// CHECK:      gpu.return
gpu.module @kernels {
  gpu.func @atoms(%g: !g, %go: !go, %a: !atom) kernel {
    %s = cute.memref.alloca() : !s
    %so = cute.memref.alloca() : !so
    %r = cute.memref.alloca() : !r
    %p = cute.memref.alloca() : !p
    %b = cute.memref.alloca() : !b
    cute.copy(%a, %g, %r) : (!atom, !g, !r)
    cute.copy(%a, %g, %r, %p) : (!atom, !g, !r, !p)
    cute.copy_if(%a, %b, %r, %s) : (!atom, !b, !r, !s)
    cute.copy(%a, %go, %so) : (!atom, !go, !so)
    gpu.return
  }
}

// -----

// As much at once as lies side by side in memory, whatever the order of registers.
//
// CHECK-LABEL: gpu.func @vectors
// CHECK:      cute.copy({{.*}}) : (!cute_nvgpu.atom.universal_copy<f16, 128 b>, !cute.memref<f16, gmem, align<16>, "((8,1),4):((1,0),64)">, !cute.memref<f16, rmem, "((8,1),4):((1,0),8)">)
// CHECK:      cute.copy({{.*}}) : (!cute_nvgpu.atom.universal_copy<f16, 64 b>, {{.*}}, !cute.memref<f16, rmem, "((4,1),(2,4)):((4,0),(16,1))">)
// CHECK:      cute.copy({{.*}}) : (!cute_nvgpu.atom.universal_copy<f16, 32 b>, !cute.memref<f16, gmem, align<4>, "((2,1),(8,2)):((1,0),(4,2))">, {{.*}})
// CHECK:      cute.copy({{.*}}) : (!cute_nvgpu.atom.universal_copy<f16, 32 b>, !cute.memref<f16, gmem, align<16>, "((2,1),(3,4)):((1,0),(2,8))">, {{.*}})
// CHECK:      cute.copy({{.*}}) : (!cute_nvgpu.atom.universal_copy<f16, 32 b>, {{.*}}, !cute.memref<f16, smem, align<256>, S<3,2,3>, "((2,1),16):((1,0),2)">)
// CHECK:      %[[V:.*]] = cute.memref.load_vec
// CHECK-NEXT: cute.memref.store_vec %[[V]]
// CHECK:      cute.copy({{.*}}) : (!cute_nvgpu.atom.universal_copy<f16, 128 b>, !cute.memref<f16, gmem, align<16>, "((8,1),1):((1,0),0)">, !cute.memref<f16, rmem, "((8,1),1):((1,0),0)">)
// CHECK:      cute.copy({{.*}}) : (!cute_nvgpu.atom.universal_copy<f16, 16 b>, {{.*}}, !cute.memref<f16, rmem, "((1,1),32):((0,0),1)">)
// CHECK:      gpu.return
!g = !cute.memref<f16, gmem, align<16>, "(8,4):(1,64)">
!packed = !cute.memref<f16, gmem, align<4>, "(8,4):(4,1)">
!odd = !cute.memref<f16, gmem, align<16>, "(6,4):(1,8)">
!swizzled = !cute.memref<f16, smem, align<256>, S<3,2,3>, "(8,4):(1,8)">
!twice = !cute.memref<f16, rmem, "(8,4):(1,0)">
!once = !cute.memref<f16, gmem, align<16>, "(8,4):(1,0)">
!r = !cute.memref<f16, rmem, "(8,4):(1,8)">
!t = !cute.memref<f16, rmem, "(8,4):(4,1)">
!ro = !cute.memref<f16, rmem, "(6,4):(1,6)">
gpu.module @kernels {
  gpu.func @vectors(%g: !g, %packed: !packed, %odd: !odd, %once: !once) kernel {
    %s = cute.memref.alloca() : !swizzled
    %r = cute.memref.alloca() : !r
    %t = cute.memref.alloca() : !t
    %ro = cute.memref.alloca() : !ro
    %two = cute.memref.alloca() : !twice
    cute.autovec_copy(%g, %r) : (!g, !r)
    cute.autovec_copy(%g, %t) {max_vec_bits = 64 : i64} : (!g, !t)
    cute.autovec_copy(%packed, %r) : (!packed, !r)
    cute.autovec_copy(%odd, %ro) : (!odd, !ro)
    cute.autovec_copy(%g, %s) : (!g, !swizzled)
    cute.autovec_copy(%r, %t) : (!r, !t)
    cute.autovec_copy(%once, %two) : (!once, !twice)
    cute.basic_copy(%g, %r) : (!g, !r)
    gpu.return
  }
}

// -----

// A product from shared memory is loaded k by k; D is what is added to from the second step on.
//
// CHECK-LABEL: gpu.func @product
// CHECK:      %[[A:.*]] = cute.memref.alloca() : !cute.memref<f32, smem
// CHECK:      %[[B:.*]] = cute.memref.alloca() : !cute.memref<f32, rmem, "(3,2):(1,3)">
// CHECK:      %[[C:.*]] = cute.memref.alloca() : !cute.memref<f32, rmem, "(4,3):(1,4)">
// CHECK:      %[[D:.*]] = cute.memref.alloca() : !cute.memref<f32, rmem, "(4,3):(1,4)">
// CHECK:      %[[FMA:.*]] = cute.make_atom() : () -> !cute_nvgpu.atom.universal_fma<1x1x1, (f32, f32) -> f32 >
// CHECK:      cute.slice(%[[A]], {{.*}}) : {{.*}}, !cute.coord<"(_,0)">
// CHECK:      %[[A0:.*]] = cute.memref.alloca() : !cute.memref<f32, rmem, "(4):(1)">
// CHECK:      cute.copy({{.*}}) : (!cute_nvgpu.atom.universal_copy<f32, 128 b>, {{.*}})
// CHECK:      %[[B0:.*]] = cute.slice(%[[B]], {{.*}}) : {{.*}}, !cute.coord<"(_,0)">
// CHECK:      cute.gemm(%[[FMA]], %[[D]], %[[A0]], %[[B0]], %[[C]])
// CHECK:      cute.slice(%[[A]], {{.*}}) : {{.*}}, !cute.coord<"(_,1)">
// CHECK:      cute.gemm(%[[FMA]], %[[D]], %{{.*}}, %{{.*}}, %[[D]])
// CHECK-NOT:  cute.gemm
// CHECK:      gpu.return
!sA = !cute.memref<f32, smem, align<16>, "(4,2):(1,4)">
!rB = !cute.memref<f32, rmem, "(3,2):(1,3)">
!rC = !cute.memref<f32, rmem, "(4,3):(1,4)">
gpu.module @kernels {
  gpu.func @product() kernel {
    %a = cute.memref.alloca() : !sA
    %b = cute.memref.alloca() : !rB
    %c = cute.memref.alloca() : !rC
    %d = cute.memref.alloca() : !rC
    cute.gemm(%d, %a, %b, %c) : (!rC, !sA, !rB, !rC)
    gpu.return
  }
}

// -----

!f = !cute.memref<f32, rmem, "(4):(1)">
!h = !cute.memref<f32, gmem, align<16>, "(4):(1)">
!p = !cute.memref<i1, rmem, "(2,2):(1,2)">
!c = !cute.coord_tensor<"(?,0)", "(2,2):(1@0,1@1)">
// CHECK-LABEL: gpu.func @elements
// CHECK-SAME: (%[[G:.*]]: {{.*}}, %{{.*}}: i32, %[[X:.*]]: f32)
// CHECK:      cute.clear(%[[F:.*]]) : (!cute.memref<f32, rmem, "(4):(1)">)
// CHECK:      cute.clear(%[[Z:.*]]) : (!cute.memref<f32, rmem, "(4):(1)">)
// CHECK:      %[[AT:.*]] = cute.get_iter(%[[Z]])
// CHECK:      %[[ZS:.*]] = cute.make_view(%[[AT]], {{.*}}) : !cute.memref<f32, rmem, "((4,1),1):((1,0),0)">
// CHECK:      cute.copy(%{{.*}}, %[[ZS]], %{{.*}}) : (!cute_nvgpu.atom.universal_copy<f32, 128 b>, {{.*}})
// CHECK:      %[[XS:.*]] = vector.from_elements %[[X]], %[[X]], %[[X]], %[[X]] : vector<4xf32>
// CHECK-NEXT: cute.memref.store_vec %[[XS]], %[[F]]
// CHECK-NEXT: %[[FS:.*]] = cute.memref.load_vec %[[F]]
// CHECK-NEXT: %[[XS2:.*]] = vector.from_elements %[[X]]
// CHECK-NEXT: arith.mulf %[[XS2]], %[[FS]] fastmath<contract> : vector<4xf32>
// CHECK-NOT:  load_vec
// CHECK:      cute.copy(
// CHECK:      cute.memref.load(%[[I:[^,]*]], {{.*}}) : (!cute.coord_tensor<"(?,0)", "(2,2):(1@0,1@1)">, !cute.coord<"0">) -> !cute.coord<"(?,0)">
// CHECK:      cute.elem_less(
// CHECK:      cute.memref.store(%[[P:[^,]*]], {{.*}}) : (!cute.memref<i1, rmem, "(2,2):(1,2)">, !cute.coord<"0">, i1)
// CHECK:      cute.memref.load(%[[I]], {{.*}}) : ({{.*}}, !cute.coord<"3">) -> !cute.coord<"(?,1)">
// CHECK:      cute.memref.store(%[[P]], {{.*}}) : ({{.*}}, !cute.coord<"3">, i1)
// CHECK-COUNT-4: arith.addf
// CHECK-NOT:  cute.transform
// CHECK-NOT:  cute.reduce
// CHECK-NOT:  cute.fill
// CHECK:      gpu.return
gpu.module @kernels {
  gpu.func @elements(%g: !h, %i: i32, %x: f32) kernel {
    %f = cute.memref.alloca() : !f
    %p = cute.memref.alloca() : !p
    %zero = arith.constant 0.0 : f32
    cute.clear(%f) : (!f)
    cute.clear(%g) : (!h)
    cute.fill(%f, %x) : (!f, f32)
    cute.axpby(%x, %f, %zero, %g) : (f32, !f, f32, !h)
    %offset = cute.make_int_tuple(%i) : (i32) -> !cute.int_tuple<"(?,0)">
    %iter = cute.make_arith_tuple_iter(%offset) : (!cute.int_tuple<"(?,0)">) -> !cute.arith_tuple_iter<"(?,0)">
    %l = cute.static : !cute.layout<"(2,2):(1@0,1@1)">
    %c = cute.make_view(%iter, %l) : !c
    %bound = cute.static : !cute.coord<"(7,2)">
    cute.transform(%c, %p) : (!c, !p) {
    ^bb0(%at: !cute.coord<"(?,?)">):
      %in = cute.elem_less(%at, %bound) : !cute.coord<"(?,?)">, !cute.coord<"(7,2)">
      cute.yield %in : i1
    }
    %sum = cute.reduce(%f, %zero) {kind = "add"} : (!f, f32) -> f32
    cute.fill(%g, %sum) : (!h, f32)
    gpu.return
  }
}

// -----

!thread = !cute.coord<"?">
!g = !cute.memref<f16, gmem, align<16>, "(64,32):(128,1)">
!s = !cute.memref<f16, smem, align<16>, "(64,32):(32,1)">
!odd = !cute.memref<f32, gmem, align<16>, "(5,8):(8,1)">
!sodd = !cute.memref<f32, smem, align<16>, "(5,8):(8,1)">
!pre = !cute.memref<f16, gmem, align<16>, "(48,2):(1,128)">
// Neighbouring threads copy neighbouring vectors; what is left is the first threads'. A column of 96 bytes is asked for by 32.
//
// CHECK-LABEL: gpu.func @together
// CHECK:      cute.copy({{.*}}) : (!cute_nvgpu.atom.universal_copy<f16, 128 b>, !cute.memref<f16, gmem, align<16>, "((8,1),2):((1,0),4096)">, !cute.memref<f16, smem, align<16>, "((8,1),2):((1,0),1024)">)
// CHECK:      cute.copy({{.*}}) : (!cute_nvgpu.atom.universal_copy<f32, 32 b>, !cute.memref<f32, gmem, "((1,1),5):((0,0),8)">, !cute.memref<f32, smem, "((1,1),5):((0,0),8)">)
// CHECK-NOT:  scf.if
// CHECK:      cute.copy({{.*}}) : (!cute_nvgpu.atom.universal_copy<f32, 128 b>, {{.*}})
// CHECK:      %[[THREE:.*]] = arith.constant 3 : i32
// CHECK:      %[[FIRST:.*]] = arith.cmpi slt, %{{.*}}, %[[THREE]] : i32
// CHECK:      scf.if %[[FIRST]] {
// CHECK:        cute.copy({{.*}}) : (!cute_nvgpu.atom.universal_copy<f32, 128 b>, {{.*}})
// CHECK:      }
// CHECK-COUNT-6: cute.prefetch({{.*}}) {level = "L1"} : (!cute.memref<f16, gmem, align<16>, "(16):(1)">)
// CHECK-NOT:  cute.prefetch
// CHECK:      gpu.return
gpu.module @kernels {
  gpu.func @together(%g: !g, %odd: !odd, %pre: !pre, %t: !thread) kernel {
    %s = cute.memref.alloca() : !s
    %so = cute.memref.alloca() : !sodd
    cute.cooperative_copy(%t, %g, %s) {threads = 128 : i64} : (!thread, !g, !s)
    cute.cooperative_copy(%t, %odd, %so) {threads = 8 : i64} : (!thread, !odd, !sodd)
    cute.cooperative_copy(%t, %odd, %so) {threads = 7 : i64} : (!thread, !odd, !sodd)
    cute.prefetch(%pre) {level = "L1"} : (!pre)
    gpu.return
  }
}
