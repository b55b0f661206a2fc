// Views become addresses, atoms become instructions.
//
// The kernels below are written by hand, in value form, with their places in shared memory.
//
// RUN: cute-opt %s --cute-to-nvvm --canonicalize --cse --split-input-file | FileCheck %s
// RUN: cute-opt %s --cute-to-nvvm --canonicalize --cse --split-input-file | cute-opt --split-input-file | FileCheck %s

!async = !cute.tiled_copy<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, layout_copy_tv = <"((4,16),8):((128,1),16)">, tiler_mn = <"[16:1;32:1]">>
!A = !cute.memref<f16, gmem, align<16>, "(32,32):(64,1)">
!s = !cute.memref<f16, smem, align<512>, S<2,4,3>, "(32,32):(32,1)">
!gp = !cute.memref<f16, gmem, align<16>, "((8,1),2,1):((1,8),1024,32)">
!sp = !cute.memref<f16, smem, align<16>, S<2,4,3>, "((8,1),2,1):((1,8),512,32)">

// Tensors of the kernel are pointers to global memory, with what is known of them.
// CHECK-LABEL: gpu.module @copies
// CHECK:         llvm.mlir.global external @dynamic_smem() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
// CHECK:         gpu.func @async(%[[A:.*]]: !llvm.ptr<1> {llvm.align = 16 : i32, llvm.noalias}, %[[TID:.*]]: i32) kernel
// CHECK-NOT:     cute
// CHECK-DAG:     %[[C3:.*]] = arith.constant 3 : i32
// CHECK-DAG:     %[[C4:.*]] = arith.constant 4 : i32
// CHECK-DAG:     %[[C16:.*]] = arith.constant 16 : i32
// CHECK-DAG:     %[[C128:.*]] = arith.constant 128 : i32
// CHECK-DAG:     %[[MASK:.*]] = arith.constant 384 : i32
// CHECK-DAG:     %[[C512:.*]] = arith.constant 512 : i32
// CHECK-DAG:     %[[C1536:.*]] = arith.constant 1536 : i32
// CHECK-DAG:     %[[SMEM:.*]] = llvm.mlir.addressof @dynamic_smem : !llvm.ptr<3>
// From: 4 threads along a row, rows of 64 x 2 bytes.
// CHECK-DAG:     %[[X:.*]] = arith.remui %[[TID]], %[[C4]] : i32
// CHECK-DAG:     %[[XB:.*]] = arith.muli %[[X]], %[[C16]] : i32
// CHECK-DAG:     %[[Y:.*]] = arith.divui %[[TID]], %[[C4]] : i32
// CHECK-DAG:     %[[YB:.*]] = arith.muli %[[Y]], %[[C128]] : i32
// CHECK-DAG:     %[[FROM:.*]] = arith.addi %[[XB]], %[[YB]] : i32
// To: 16 bytes a thread, behind the tensor's 512 bytes; bits 7 and 8 are xored into bits 4 and 5.
// CHECK-DAG:     %[[TO:.*]] = arith.muli %[[TID]], %[[C16]] : i32
// CHECK-DAG:     %[[P:.*]] = llvm.getelementptr %[[A]][%[[FROM]]] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
// CHECK-DAG:     %[[O:.*]] = arith.addi %[[TO]], %[[C512]] : i32
// CHECK-DAG:     %[[BITS:.*]] = arith.andi %[[O]], %[[MASK]] : i32
// CHECK-DAG:     %[[DOWN:.*]] = arith.shrui %[[BITS]], %[[C3]] : i32
// CHECK-DAG:     %[[SWIZZLED:.*]] = arith.xori %[[O]], %[[DOWN]] : i32
// CHECK-DAG:     %[[Q:.*]] = llvm.getelementptr %[[SMEM]][%[[SWIZZLED]]] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
// CHECK:         nvvm.cp.async.shared.global %[[Q]], %[[P]], 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
// The second atom: 16 rows further, a constant where nothing is swizzled.
// CHECK-DAG:     %[[P2:.*]] = llvm.getelementptr %[[P]][2048] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
// CHECK-DAG:     %[[O2:.*]] = arith.addi %[[TO]], %[[C1536]] : i32
// CHECK-DAG:     %[[BITS2:.*]] = arith.andi %[[O2]], %[[MASK]] : i32
// CHECK-DAG:     %[[DOWN2:.*]] = arith.shrui %[[BITS2]], %[[C3]] : i32
// CHECK-DAG:     %[[SWIZZLED2:.*]] = arith.xori %[[O2]], %[[DOWN2]] : i32
// CHECK-DAG:     %[[Q2:.*]] = llvm.getelementptr %[[SMEM]][%[[SWIZZLED2]]]
// CHECK:         nvvm.cp.async.shared.global %[[Q2]], %[[P2]], 16, cache = cg
// CHECK:         gpu.return
gpu.module @copies {
  gpu.func @async(%A: !A {cute.noalias}, %i: i32) kernel {
    %atom = cute.make_atom() : () -> !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
    %copy = cute.make_tiled_copy(%atom) : !async
    %s = cute.memref.alloca() {offset = 512 : i64} : !s
    %t = cute.make_coord(%i) : (i32) -> !cute.coord<"?">
    %gp = cute.tiled.copy.partition_S(%copy, %A, %t) : (!async, !A, !cute.coord<"?">) -> !gp
    %sp = cute.tiled.copy.partition_D(%copy, %s, %t) : (!async, !s, !cute.coord<"?">) -> !sp
    cute.atom_copy(%copy, %gp, %sp) at [0, 0, 0] : (!async, !gp, !sp)
    cute.atom_copy(%copy, %gp, %sp) at [0, 1, 0] : (!async, !gp, !sp)
    gpu.return
  }
}

// -----

// Four bytes at a time, through L1.
!async = !cute.tiled_copy<!cute_nvgpu.atom.simt_async_copy<f32, cache = always, 32 b>, layout_copy_tv = <"(32,1):(1,0)">, tiler_mn = <"[32:1]">>
// CHECK-LABEL: gpu.func @through_l1
// CHECK:         nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 4, cache = ca : !llvm.ptr<3>, !llvm.ptr<1>
gpu.module @kernels {
  gpu.func @through_l1(%A: !cute.memref<f32, gmem, "32:1">, %i: i32) kernel {
    %copy = cute.static : !async
    %s = cute.memref.alloca() {offset = 0 : i64} : !cute.memref<f32, smem, "32:1">
    %t = cute.make_coord(%i) : (i32) -> !cute.coord<"?">
    %gp = cute.tiled.copy.partition_S(%copy, %A, %t) : (!async, !cute.memref<f32, gmem, "32:1">, !cute.coord<"?">) -> !cute.memref<f32, gmem, "((1,1),1):((0,0),32)">
    %sp = cute.tiled.copy.partition_D(%copy, %s, %t) : (!async, !cute.memref<f32, smem, "32:1">, !cute.coord<"?">) -> !cute.memref<f32, smem, "((1,1),1):((0,0),32)">
    cute.atom_copy(%copy, %gp, %sp) at [0, 0] : (!async, !cute.memref<f32, gmem, "((1,1),1):((0,0),32)">, !cute.memref<f32, smem, "((1,1),1):((0,0),32)">)
    gpu.return
  }
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(1,1,1):(1,1,0)">, permutation_MNK = <"[16:1;16:1;16:1]">>
!ldsm = !cute.tiled_copy<!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, layout_copy_tv = <"((4,8),((2,2,2),(1,1))):((32,1),((16,8,128),(16,256)))">, tiler_mn = <"[16:1;16:1]">>
!s = !cute.memref<f16, smem, align<128>, "(16,16):(16,1)">
!p = !cute.memref<f16, smem, align<16>, "((8,1),1,1):((1,16),256,16)">

// CHECK-LABEL: gpu.func @product(
// CHECK-SAME:    %[[TID:.*]]: i32, %[[B:.*]]: vector<4xf16>, %[[C:.*]]: vector<4xf32>
// Row lane % 16, column 8 * (lane / 16).
// CHECK-DAG:     %[[C16:.*]] = arith.constant 16 : i32
// CHECK-DAG:     %[[C32:.*]] = arith.constant 32 : i32
// CHECK-DAG:     %[[SMEM:.*]] = llvm.mlir.addressof @dynamic_smem
// CHECK-DAG:     %[[ROW:.*]] = arith.remui %[[TID]], %[[C16]] : i32
// CHECK-DAG:     %[[ROWB:.*]] = arith.muli %[[ROW]], %[[C32]] : i32
// CHECK-DAG:     %[[COL:.*]] = arith.divui %[[TID]], %[[C16]] : i32
// CHECK-DAG:     %[[COLB:.*]] = arith.muli %[[COL]], %[[C16]] : i32
// CHECK-DAG:     %[[O:.*]] = arith.addi %[[ROWB]], %[[COLB]] : i32
// CHECK:         %[[P:.*]] = llvm.getelementptr %[[SMEM]][%[[O]]] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
// CHECK:         %[[LD:.*]] = nvvm.ldmatrix %[[P]] {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<row>, num = 4 : i32, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>} : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32, i32, i32)>
// CHECK-COUNT-4: llvm.extractvalue %[[LD]]
// Four registers of A, two of B, four of C and D.
// CHECK:         %[[D:.*]] = nvvm.mma.sync A[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}] B[%{{.*}}, %{{.*}}] C[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}]
// CHECK-SAME:      layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>
// CHECK-SAME:      shape = #nvvm.shape<m = 16, n = 8, k = 16>
// CHECK-SAME:      (vector<2xf16>, vector<2xf16>, f32) -> !llvm.struct<(f32, f32, f32, f32)>
// CHECK-COUNT-4: llvm.extractvalue %[[D]]
// CHECK-NOT:     vector.
// CHECK:         gpu.return
gpu.module @kernels {
  gpu.func @product(%i: i32, %b: vector<4xf16>, %c: vector<4xf32>, %out: !llvm.ptr) kernel {
    %atom = cute.make_atom() : () -> !cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>
    %mma = cute.make_tiled_mma(%atom) : !mma
    %latom = cute.make_atom() : () -> !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
    %copy = cute.make_tiled_copy(%latom) : !ldsm
    %s = cute.memref.alloca() {offset = 0 : i64} : !s
    %t = cute.make_coord(%i) : (i32) -> !cute.coord<"?">
    %p = cute.tiled.copy.partition_S(%copy, %s, %t) : (!ldsm, !s, !cute.coord<"?">) -> !p
    %a = cute.atom_load(%copy, %p) at [0, 0, 0] : (!ldsm, !p) -> vector<8xf16>
    %d = cute.atom_mma(%mma, %a, %b, %c) : (!mma, vector<8xf16>, vector<4xf16>, vector<4xf32>) -> vector<4xf32>
    llvm.store %d, %out : vector<4xf32>, !llvm.ptr
    gpu.return
  }
}

// -----

// Transposed, two matrices.
!ldsm = !cute.tiled_copy<!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 2, t>, layout_copy_tv = <"((4,8),(2,2)):((16,1),(8,64))">, tiler_mn = <"[8:1;16:1]">>
!p = !cute.memref<f16, smem, align<16>, "((8,1),1,1):((1,16),256,16)">
// CHECK-LABEL: gpu.func @transposed
// CHECK:         nvvm.ldmatrix %{{.*}} {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<col>, num = 2 : i32, shape = {{.*}}} : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32)>
gpu.module @kernels {
  gpu.func @transposed(%out: !llvm.ptr) kernel {
    %copy = cute.static : !ldsm
    %p = cute.memref.alloca() {offset = 0 : i64} : !p
    %a = cute.atom_load(%copy, %p) at [0, 0, 0] : (!ldsm, !p) -> vector<4xf16>
    llvm.store %a, %out : vector<4xf16>, !llvm.ptr
    gpu.return
  }
}

// -----

!c128 = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"(1,8):(0,1)">, tiler_mn = <"[8:1]">>
!c32 = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 32 b>, layout_copy_tv = <"(1,2):(0,1)">, tiler_mn = <"[2:1]">>
!c16 = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 16 b>, layout_copy_tv = <"(1,1):(0,0)">, tiler_mn = <"[1:0]">>
!p128 = !cute.memref<f16, gmem, align<16>, "((8,1),4):((1,0),8)">
!p32 = !cute.memref<f16, gmem, align<16>, "((2,4),4):((1,2),8)">
!p16 = !cute.memref<f16, gmem, "((1,8),4):((0,1),8)">

// Loads and stores of as many bytes as the atom has, in registers of 32 bits; constant offsets.
// CHECK-LABEL: gpu.func @vectors(
// CHECK-SAME:    %[[A:.*]]: !llvm.ptr<1> {llvm.align = 16 : i32}, %[[B:.*]]: !llvm.ptr<1> {llvm.align = 16 : i32}, %[[C:.*]]: !llvm.ptr<1> {llvm.align = 2 : i32}) kernel
// CHECK:         %[[P:.*]] = llvm.getelementptr %[[A]][48] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
// CHECK:         %[[V:.*]] = llvm.load %[[P]] {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xi32>
// CHECK:         llvm.store %[[V]], %[[A]] {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<1>
// CHECK:         %[[Q:.*]] = llvm.getelementptr %[[B]][56] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
// CHECK:         %[[W:.*]] = llvm.load %[[Q]] {alignment = 4 : i64} : !llvm.ptr<1> -> i32
// CHECK:         llvm.store %[[W]], %[[B]] {alignment = 4 : i64} : i32, !llvm.ptr<1>
// CHECK:         %[[R:.*]] = llvm.getelementptr %[[C]][6] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
// CHECK:         %[[X:.*]] = llvm.load %[[R]] {alignment = 2 : i64} : !llvm.ptr<1> -> i16
// CHECK:         llvm.store %[[X]], %[[C]] {alignment = 2 : i64} : i16, !llvm.ptr<1>
// CHECK:         gpu.return
gpu.module @kernels {
  gpu.func @vectors(%A: !p128, %B: !p32, %C: !p16) kernel {
    %c128 = cute.static : !c128
    %c32 = cute.static : !c32
    %c16 = cute.static : !c16
    %v = cute.atom_load(%c128, %A) at [0, 3] : (!c128, !p128) -> vector<8xf16>
    cute.atom_store(%c128, %v, %A) at [0, 0] : (!c128, vector<8xf16>, !p128)
    %w = cute.atom_load(%c32, %B) at [2, 3] : (!c32, !p32) -> vector<2xf16>
    cute.atom_store(%c32, %w, %B) at [0, 0] : (!c32, vector<2xf16>, !p32)
    %x = cute.atom_load(%c16, %C) at [3, 0] : (!c16, !p16) -> vector<1xf16>
    cute.atom_store(%c16, %x, %C) at [0, 0] : (!c16, vector<1xf16>, !p16)
    gpu.return
  }
}

// -----

!c128 = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"(1,8):(0,1)">, tiler_mn = <"[8:1]">>
!A = !cute.memref<f16, gmem, align<16>, "((8,1),1,65536,4):((1,8),0,65536,8)">
!row = !cute.memref<f16, gmem, align<16>, "((8,1),1):((1,8),0)">

// Beyond 2 GiB offsets have 64 bits; what a static coordinate adds is constant.
// CHECK-LABEL: gpu.func @wide(
// CHECK-SAME:    %[[A:.*]]: !llvm.ptr<1> {{.*}}, %[[I:.*]]: i32) kernel
// CHECK-DAG:     %[[STRIDE:.*]] = arith.constant 131072 : i64
// CHECK-DAG:     %[[I64:.*]] = arith.extui %[[I]] : i32 to i64
// CHECK:         %[[O:.*]] = arith.muli %[[I64]], %[[STRIDE]] : i64
// CHECK:         %[[P:.*]] = llvm.getelementptr %[[A]][%[[O]]] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
// CHECK:         %[[Q:.*]] = llvm.getelementptr %[[P]][48] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
// CHECK:         llvm.load %[[Q]]
gpu.module @kernels {
  gpu.func @wide(%A: !A, %i: i32) kernel {
    %copy = cute.static : !c128
    %c = cute.make_coord(%i) : (i32) -> !cute.coord<"(_,_,?,3)">
    %row = cute.slice(%A, %c) : !A, !cute.coord<"(_,_,?,3)">
    %v = cute.atom_load(%copy, %row) at [0, 0] : (!c128, !row) -> vector<8xf16>
    cute.atom_store(%copy, %v, %row) at [0, 0] : (!c128, vector<8xf16>, !row)
    gpu.return
  }
}

// -----

// What taking fragments apart left of the vector dialect.
// CHECK-LABEL: gpu.func @vectors_apart
// CHECK-NOT:     vector.extract
// CHECK-NOT:     vector.insert
// CHECK-NOT:     vector.from_elements
// CHECK:         llvm.extractelement %{{.*}} : vector<8xf16>
// CHECK:         llvm.insertelement %{{.*}} : vector<4xf16>
// CHECK:         gpu.return
gpu.module @kernels {
  gpu.func @vectors_apart(%v: vector<8xf16>, %w: vector<4xf16>, %out: !llvm.ptr) kernel {
    %a = vector.extract_strided_slice %v {offsets = [4], sizes = [4], strides = [1]} : vector<8xf16> to vector<4xf16>
    %b = vector.extract %v[1] : f16 from vector<8xf16>
    %c = vector.insert %b, %a [2] : f16 into vector<4xf16>
    %d = vector.from_elements %b, %b : vector<2xf16>
    llvm.store %c, %out : vector<4xf16>, !llvm.ptr
    llvm.store %d, %out : vector<2xf16>, !llvm.ptr
    gpu.return
  }
}

// -----

!t = !cute.memref<f16, gmem, align<16>, "8:1">

// A launch passes pointers.
// CHECK-LABEL: func.func @host(
// CHECK-SAME:    %[[T:.*]]: !cute.memref<f16, gmem, align<16>, "8:1">, %[[N:.*]]: i32)
// CHECK:         %[[P:.*]] = builtin.unrealized_conversion_cast %[[T]] : !cute.memref<f16, gmem, align<16>, "8:1"> to !llvm.ptr<1>
// CHECK:         gpu.launch_func @kernels::@kernel {{.*}} args(%[[P]] : !llvm.ptr<1>, %[[N]] : i32)
// CHECK:         gpu.func @kernel(%{{.*}}: !llvm.ptr<1> {llvm.align = 16 : i32}, %{{.*}}: i32) kernel
module attributes {gpu.container_module} {
  func.func @host(%t: !t, %n: i32) {
    %one = arith.constant 1 : index
    %zero = arith.constant 0 : i32
    gpu.launch_func @kernels::@kernel blocks in (%one, %one, %one) threads in (%one, %one, %one) dynamic_shared_memory_size %zero args(%t : !t, %n : i32)
    return
  }
  gpu.module @kernels {
    gpu.func @kernel(%t: !t, %n: i32) kernel {
      gpu.return
    }
  }
}

// -----

!async = !cute.tiled_copy<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, layout_copy_tv = <"((4,16),8):((128,1),16)">, tiler_mn = <"[16:1;32:1]">>
!A = !cute.memref<f16, gmem, align<16>, "((8,1),2,1):((1,8),1024,32)">
!s = !cute.memref<f16, smem, align<16>, "((8,1),2,1):((1,8),512,32)">

// A copy whose predicate is false reads nothing: zeros fill the 16 bytes.
// CHECK-LABEL: gpu.func @predicated(
// CHECK-SAME:    %[[A:.*]]: !llvm.ptr<1> {{.*}}, %[[IF:.*]]: i1) kernel
// CHECK-DAG:     %[[ALL:.*]] = arith.constant 16 : i32
// CHECK-DAG:     %[[NONE:.*]] = arith.constant 0 : i32
// CHECK:         %[[BYTES:.*]] = arith.select %[[IF]], %[[ALL]], %[[NONE]] : i32
// CHECK:         nvvm.cp.async.shared.global %{{.*}}, %[[A]], 16, cache = cg, %[[BYTES]] : !llvm.ptr<3>, !llvm.ptr<1>, i32
gpu.module @kernels {
  gpu.func @predicated(%A: !A, %if: i1) kernel {
    %copy = cute.static : !async
    %s = cute.memref.alloca() {offset = 0 : i64} : !s
    cute.atom_copy(%copy, %A, %s) at [0, 0, 0] if %if : (!async, !A, !s)
    gpu.return
  }
}
