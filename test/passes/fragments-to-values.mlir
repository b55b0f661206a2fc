// Register tensors become SSA vectors.
//
// The kernels below are written by hand, partitioned already, for one warp.
//
// RUN: cute-opt %s --cute-fragments-to-values --split-input-file | FileCheck %s
// RUN: cute-opt %s --cute-fragments-to-values --split-input-file | cute-opt --split-input-file | FileCheck %s

!mma_atom = !cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>
!mma = !cute.tiled_mma<!mma_atom, atom_layout_MNK = <"(1,1,1):(1,1,0)">, permutation_MNK = <"[16:1;16:1;16:1]">>
!ldsm_atom = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
!lda = !cute.tiled_copy<!ldsm_atom, layout_copy_tv = <"((4,8),((2,2,2),(1,1))):((32,1),((16,8,128),(16,256)))">, tiler_mn = <"[16:1;16:1]">>
!ldb = !cute.tiled_copy<!ldsm_atom, layout_copy_tv = <"((4,8),((2,2),(2,1))):((32,1),((16,128),(8,256)))">, tiler_mn = <"[16:1;16:1]">>
!pairs_atom = !cute_nvgpu.atom.universal_copy<f16, 32 b>
!stc = !cute.tiled_copy<!pairs_atom, layout_copy_tv = <"((4,8),((2,2),(1,2))):((32,1),((16,8),(16,128)))">, tiler_mn = <"[16:1;16:1]">>
!s = !cute.memref<f16, smem, align<128>, "(32,16):(16,1)">
!lpart = !cute.memref<f16, smem, align<16>, "((8,1),2,1):((1,16),256,16)">
!fa = !cute.memref<f16, rmem, "((2,2,2),2,1):((1,2,4),8,0)">
!ra = !cute.memref<f16, rmem, "((8,1),2,1):((1,0),8,0)">
!fb = !cute.memref<f16, rmem, "((2,2),4,1):((1,2),4,0)">
!rb = !cute.memref<f16, rmem, "((8,1),2,1):((1,0),8,0)">
!acc = !cute.memref<f32, rmem, "((2,2),2,4):((1,2),4,8)">
!half = !cute.memref<f16, rmem, "((2,2),2,4):((1,2),4,8)">
!rc = !cute.memref<f16, rmem, "((2,(2,2)),2,2):((1,(2,8)),4,16)">
!sc = !cute.memref<f16, smem, align<128>, "(32,32):(32,1)">
!cpart = !cute.memref<f16, smem, align<4>, "((2,(2,2)),2,2):((1,(256,8)),512,16)">

// CHECK-LABEL: gpu.func @product
// CHECK-SAME:    (%[[MMA:.*]]: !cute.tiled_mma<{{.*}}>, %[[LDA:.*]]: !cute.tiled_copy<{{.*}}>, %[[LDB:.*]]: !cute.tiled_copy<{{.*}}>, %[[STC:.*]]: !cute.tiled_copy<{{.*}}>, %[[PA:.*]]: !cute.memref<{{.*}}>, %[[PB:.*]]: !cute.memref<{{.*}}>, %[[PC:.*]]: !cute.memref<{{.*}}>, %[[SHAPE:.*]]: !cute.shape<"((2,2),2,4)">)
// CHECK-NOT:     rmem
// CHECK-NOT:     cute.mma.make_fragment
// CHECK:         %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : vector<4xf32>
// The loop carries the 2 x 4 accumulators, and nothing else: A and B are written before they are read.
// CHECK:         %[[SUMS:.*]]:8 = scf.for %{{.*}} = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[C00:.*]] = %[[ZERO]], %[[C10:.*]] = %[[ZERO]], %[[C01:.*]] = %[[ZERO]], %[[C11:.*]] = %[[ZERO]], %[[C02:.*]] = %[[ZERO]], %[[C12:.*]] = %[[ZERO]], %[[C03:.*]] = %[[ZERO]], %[[C13:.*]] = %[[ZERO]])
// CHECK:           %[[A0:.*]] = cute.atom_load(%[[LDA]], %[[PA]]) at [0, 0, 0] : ({{.*}}) -> vector<8xf16>
// CHECK:           %[[A1:.*]] = cute.atom_load(%[[LDA]], %[[PA]]) at [0, 1, 0] : ({{.*}}) -> vector<8xf16>
// One ldmatrix.x4 has B of two atoms.
// CHECK:           %[[B01:.*]] = cute.atom_load(%[[LDB]], %[[PB]]) at [0, 0, 0] : ({{.*}}) -> vector<8xf16>
// CHECK:           %[[B0:.*]] = vector.extract_strided_slice %[[B01]] {offsets = [0], sizes = [4], strides = [1]} : vector<8xf16> to vector<4xf16>
// CHECK:           %[[B1:.*]] = vector.extract_strided_slice %[[B01]] {offsets = [4], sizes = [4], strides = [1]} : vector<8xf16> to vector<4xf16>
// CHECK:           %[[B23:.*]] = cute.atom_load(%[[LDB]], %[[PB]]) at [0, 1, 0]
// CHECK:           %[[B2:.*]] = vector.extract_strided_slice %[[B23]] {offsets = [0]
// CHECK:           %[[B3:.*]] = vector.extract_strided_slice %[[B23]] {offsets = [4]
// Odd rows backwards, so that the B of the turn is used again.
// CHECK:           %[[D00:.*]] = cute.atom_mma(%[[MMA]], %[[A0]], %[[B0]], %[[C00]]) : ({{.*}}, vector<8xf16>, vector<4xf16>, vector<4xf32>) -> vector<4xf32>
// CHECK:           %[[D01:.*]] = cute.atom_mma(%[[MMA]], %[[A0]], %[[B1]], %[[C01]])
// CHECK:           %[[D02:.*]] = cute.atom_mma(%[[MMA]], %[[A0]], %[[B2]], %[[C02]])
// CHECK:           %[[D03:.*]] = cute.atom_mma(%[[MMA]], %[[A0]], %[[B3]], %[[C03]])
// CHECK:           %[[D13:.*]] = cute.atom_mma(%[[MMA]], %[[A1]], %[[B3]], %[[C13]])
// CHECK:           %[[D12:.*]] = cute.atom_mma(%[[MMA]], %[[A1]], %[[B2]], %[[C12]])
// CHECK:           %[[D11:.*]] = cute.atom_mma(%[[MMA]], %[[A1]], %[[B1]], %[[C11]])
// CHECK:           %[[D10:.*]] = cute.atom_mma(%[[MMA]], %[[A1]], %[[B0]], %[[C10]])
// CHECK-NEXT:      scf.yield %[[D00]], %[[D10]], %[[D01]], %[[D11]], %[[D02]], %[[D12]], %[[D03]], %[[D13]] :
// CHECK:         %[[H00:.*]] = arith.truncf %[[SUMS]]#0 : vector<4xf32> to vector<4xf16>
// CHECK:         %[[H10:.*]] = arith.truncf %[[SUMS]]#1
// CHECK:         %[[H01:.*]] = arith.truncf %[[SUMS]]#2
// Pairs: of the atom (0,0) both rows, then those of its neighbour along N.
// CHECK:         %[[P0:.*]] = vector.extract_strided_slice %[[H00]] {offsets = [0], sizes = [2], strides = [1]} : vector<4xf16> to vector<2xf16>
// CHECK:         cute.atom_store(%[[STC]], %[[P0]], %[[PC]]) at [0, 0, 0] : ({{.*}}, vector<2xf16>, {{.*}})
// CHECK:         %[[P1:.*]] = vector.extract_strided_slice %[[H00]] {offsets = [2]
// CHECK:         cute.atom_store(%[[STC]], %[[P1]], %[[PC]]) at [1, 0, 0]
// CHECK:         %[[P2:.*]] = vector.extract_strided_slice %[[H01]] {offsets = [0]
// CHECK:         cute.atom_store(%[[STC]], %[[P2]], %[[PC]]) at [2, 0, 0]
// CHECK:         %[[P3:.*]] = vector.extract_strided_slice %[[H01]] {offsets = [2]
// CHECK:         cute.atom_store(%[[STC]], %[[P3]], %[[PC]]) at [3, 0, 0]
// CHECK:         %[[P4:.*]] = vector.extract_strided_slice %[[H10]] {offsets = [0]
// CHECK:         cute.atom_store(%[[STC]], %[[P4]], %[[PC]]) at [0, 1, 0]
// CHECK-COUNT-11: cute.atom_store
// CHECK-NOT:     cute.atom_store
// CHECK:         gpu.return
gpu.module @kernels {
  gpu.func @product(%mma: !mma, %lda: !lda, %ldb: !ldb, %stc: !stc, %pa: !lpart, %pb: !lpart, %pc: !cpart, %shape: !cute.shape<"((2,2),2,4)">) kernel {
    %acc = cute.mma.make_fragment C (%mma, %shape) : (!mma, !cute.shape<"((2,2),2,4)">) -> !acc
    cute.clear(%acc) : (!acc)
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c4 = arith.constant 4 : i32
    scf.for %k = %c0 to %c4 step %c1 : i32 {
      %a = cute.memref.alloca() : !fa
      %ra = cute.tiled.copy.retile(%lda, %a) : (!lda, !fa) -> !ra
      cute.copy(%lda, %pa, %ra) : (!lda, !lpart, !ra)
      %b = cute.memref.alloca() : !fb
      %rb = cute.tiled.copy.retile(%ldb, %b) : (!ldb, !fb) -> !rb
      cute.copy(%ldb, %pb, %rb) : (!ldb, !lpart, !rb)
      cute.gemm(%mma, %acc, %a, %b, %acc) : (!mma, !acc, !fa, !fb, !acc)
    }
    %half = cute.convert(%acc) : (!acc) -> !half
    %rc = cute.tiled.copy.retile(%stc, %half) : (!stc, !half) -> !rc
    cute.copy(%stc, %rc, %pc) : (!stc, !rc, !cpart)
    gpu.return
  }
}

// -----

!async = !cute.tiled_copy<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, layout_copy_tv = <"((4,16),8):((128,1),16)">, tiler_mn = <"[16:1;32:1]">>
!vectors = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"((4,16),8):((128,1),16)">, tiler_mn = <"[16:1;32:1]">>
!g = !cute.memref<f16, gmem, align<16>, "((8,1),2,1):((1,8),1024,32)">
!s = !cute.memref<f16, smem, align<16>, S<2,4,3>, "((8,1),2,1):((1,8),512,32)">

// From memory to memory: an asynchronous atom at a time, or a load and a store.
// CHECK-LABEL: gpu.func @memory
// CHECK-SAME:    (%[[ASYNC:.*]]: !cute.tiled_copy<{{.*}}>, %[[V:.*]]: !cute.tiled_copy<{{.*}}>, %[[G:.*]]: !cute.memref<{{.*}}>, %[[S:.*]]: !cute.memref<{{.*}}>)
// CHECK:         cute.atom_copy(%[[ASYNC]], %[[G]], %[[S]]) at [0, 0, 0]
// CHECK-NEXT:    cute.atom_copy(%[[ASYNC]], %[[G]], %[[S]]) at [0, 1, 0]
// CHECK-NEXT:    %[[X:.*]] = cute.atom_load(%[[V]], %[[S]]) at [0, 0, 0] : ({{.*}}) -> vector<8xf16>
// CHECK-NEXT:    cute.atom_store(%[[V]], %[[X]], %[[G]]) at [0, 0, 0]
// CHECK-NEXT:    %[[Y:.*]] = cute.atom_load(%[[V]], %[[S]]) at [0, 1, 0]
// CHECK-NEXT:    cute.atom_store(%[[V]], %[[Y]], %[[G]]) at [0, 1, 0]
// CHECK-NEXT:    gpu.return
gpu.module @kernels {
  gpu.func @memory(%a: !async, %v: !vectors, %g: !g, %s: !s) kernel {
    cute.copy(%a, %g, %s) : (!async, !g, !s)
    cute.copy(%v, %s, %g) : (!vectors, !s, !g)
    gpu.return
  }
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(1,1,1):(1,1,0)">, permutation_MNK = <"_">>
!f = !cute.memref<f32, rmem, "((2,2),1,1):((1,2),0,0)">
!a = !cute.memref<f16, rmem, "((2,2,2),1,1):((1,2,4),0,0)">
!b = !cute.memref<f16, rmem, "((2,2),1,1):((1,2),0,0)">

// A loop that carries values of its own keeps them in front.
// CHECK-LABEL: gpu.func @carried
// CHECK:         %[[R:.*]]:2 = scf.for %[[K:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[I:.*]] = %{{.*}}, %[[C:.*]] = %{{.*}}) -> (i32, vector<4xf32>) : i32 {
// CHECK:           %[[J:.*]] = arith.addi %[[I]], %[[K]] : i32
// CHECK:           %[[D:.*]] = cute.atom_mma(%{{.*}}, %{{.*}}, %{{.*}}, %[[C]])
// CHECK:           scf.yield %[[J]], %[[D]] : i32, vector<4xf32>
// CHECK:         arith.index_cast %[[R]]#0 : i32 to index
// CHECK:         arith.truncf %[[R]]#1
gpu.module @kernels {
  gpu.func @carried(%mma: !mma, %x: i32) kernel {
    %acc = cute.memref.alloca() : !f
    %a = cute.memref.alloca() : !a
    %b = cute.memref.alloca() : !b
    cute.clear(%acc) : (!f)
    cute.clear(%a) : (!a)
    cute.clear(%b) : (!b)
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c4 = arith.constant 4 : i32
    %r = scf.for %k = %c0 to %c4 step %c1 iter_args(%i = %x) -> (i32) : i32 {
      %j = arith.addi %i, %k : i32
      cute.gemm(%mma, %acc, %a, %b, %acc) : (!mma, !f, !a, !b, !f)
      scf.yield %j : i32
    }
    %used = arith.index_cast %r : i32 to index
    %half = cute.convert(%acc) : (!f) -> !cute.memref<f16, rmem, "((2,2),1,1):((1,2),0,0)">
    gpu.return
  }
}

// -----

// Wider, too.
// CHECK-LABEL: gpu.func @wider
// CHECK:         arith.extf %{{.*}} : vector<4xf16> to vector<4xf32>
gpu.module @kernels {
  gpu.func @wider() kernel {
    %h = cute.memref.alloca() : !cute.memref<f16, rmem, "(4,2):(1,4)">
    cute.clear(%h) : (!cute.memref<f16, rmem, "(4,2):(1,4)">)
    %f = cute.convert(%h) : (!cute.memref<f16, rmem, "(4,2):(1,4)">) -> !cute.memref<f32, rmem, "(4,2):(1,4)">
    gpu.return
  }
}

// -----

// The stride of a mode with one atom may be open: what the atom moves follows from its own values.
// CHECK-LABEL: gpu.func @open
// CHECK:         %[[V:.*]] = cute.atom_load(%{{.*}}, %{{.*}}) at [0, 0, 0] : ({{.*}}) -> vector<4xf32>
// CHECK-NEXT:    cute.atom_store(%{{.*}}, %[[V]], %{{.*}}) at [0, 0, 0]
// CHECK-NEXT:    gpu.return
!copy = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f32, 128 b>, layout_copy_tv = <"(256,4):(4,1)">, tiler_mn = <"[128:1;8:1]">>
!g = !cute.memref<f32, gmem, align<16>, "((4,1),1,1):((1,?{div=4}),128,?{div=32})">
!s = !cute.memref<f32, smem, align<16>, "((4,1),1,1):((1,4),128,1024)">
gpu.module @kernels {
  gpu.func @open(%copy: !copy, %g: !g, %s: !s) kernel {
    cute.copy(%copy, %g, %s) : (!copy, !g, !s)
    gpu.return
  }
}

// -----

// Register indices are known where operations on constants give them: quotients, bits and shifts too.
!f = !cute.memref<f32, rmem, "8:1">
!c = !cute.coord<"?">
gpu.module @kernels {
  // CHECK-LABEL: gpu.func @known_indices
  // CHECK: vector.insert %{{.*}}, %{{.*}} [4] : f32 into vector<8xf32>
  // CHECK: vector.insert %{{.*}}, %{{.*}} [3] : f32 into vector<8xf32>
  // CHECK: vector.insert %{{.*}}, %{{.*}} [7] : f32 into vector<8xf32>
  // CHECK-NOT: rmem
  gpu.func @known_indices(%x: f32, %y: f32) kernel {
    %i13 = arith.constant 13 : i32
    %i6 = arith.constant 6 : i32
    %i2 = arith.constant 2 : i32
    %f = cute.memref.alloca() : !f
    cute.clear(%f) : (!f)
    %and = arith.andi %i13, %i6 : i32
    %shr = arith.shrui %i13, %i2 : i32
    %up = arith.ceildivsi %i13, %i2 : i32
    %at4 = cute.make_coord(%and) : (i32) -> !c
    %at3 = cute.make_coord(%shr) : (i32) -> !c
    %at7 = cute.make_coord(%up) : (i32) -> !c
    cute.memref.store(%f, %at4, %x) : (!f, !c, f32) -> ()
    cute.memref.store(%f, %at3, %y) : (!f, !c, f32) -> ()
    cute.memref.store(%f, %at7, %x) : (!f, !c, f32) -> ()
    %v = cute.memref.load(%f, %at7) : (!f, !c) -> f32
    gpu.printf "%f", %v : f32
    gpu.return
  }
}

// -----

// A turn of a loop that is written out makes its fragments anew, in a branch too: the branch of the second turn is given none of the first one's.
!f = !cute.memref<f32, rmem, "4:1">
!g = !cute.memref<f32, gmem, align<16>, "4:1">
gpu.module @kernels {
  // CHECK-LABEL: gpu.func @fragments_of_turns
  // CHECK:         scf.if %{{.*}} {
  // CHECK-NOT:     scf.if {{.*}} -> (vector
  // CHECK:         scf.if %{{.*}} {
  gpu.func @fragments_of_turns(%g: !g, %n: i32) kernel {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    scf.for %i = %c0 to %c2 step %c1 : i32 {
      %is = arith.cmpi eq, %i, %n : i32
      scf.if %is {
        %f = cute.memref.alloca() : !f
        %x = arith.constant 1.0 : f32
        %v = vector.broadcast %x : f32 to vector<4xf32>
        cute.memref.store_vec %v, %f : !f
        %w = cute.memref.load_vec %f : !f
        gpu.printf "%f", %x : f32
      }
    } {cute.unroll}
    gpu.return
  }
}

// -----

// A role of warps has no op that ends it: its last op has its regions, and reads fragments, as any other op.
!f = !cute.memref<f32, rmem, "4:1">
!g = !cute.memref<f32, gmem, align<16>, "4:1">
gpu.module @kernels {
  // CHECK-LABEL: gpu.func @roles
  // CHECK:         cute.warp_specialize
  // CHECK:         scf.if %{{.*}} {
  // CHECK-NEXT:      nvvm.barrier0
  // CHECK:         role
  // CHECK-NOT:     rmem
  // CHECK:         arith.constant dense<1.000000e+00> : vector<4xf32>
  // CHECK:         cute.memref.store_vec %{{.*}}, %{{.*}} : vector<4xf32>, !cute.memref<f32, gmem
  gpu.func @roles(%g: !g, %is: i1) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    cute.warp_specialize
    role(%t, %warp) warps 1 {
      scf.if %is {
        nvvm.barrier0
      }
    }
    role(%t, %warp) warps 1 {
      %f = cute.memref.alloca() : !f
      %x = arith.constant dense<1.0> : vector<4xf32>
      cute.memref.store_vec %x, %f : !f
      %w = cute.memref.load_vec %f : !f
      cute.memref.store_vec %w, %g : !g
    }
    gpu.return
  }
}
