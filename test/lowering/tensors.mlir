// Tensors of dynamic layouts: a pointer and the leaves of the layout; offsets in 64 bits, with what is known of their divisors.
//
// RUN: cute-opt %s --cute-fragments-to-values --cute-lower-layouts --cse --canonicalize --split-input-file | FileCheck %s
// RUN: cute-opt %s --cute-fragments-to-values --cute-lower-layouts --cse --canonicalize --split-input-file | cute-opt --split-input-file | FileCheck %s
// RUN: cute-opt %s --cute-fragments-to-values --cute-lower-layouts --cute-to-nvvm --split-input-file | FileCheck %s --check-prefix=NVVM

!A = !cute.memref<f32, gmem, align<16>, "(?,?):(?{div=4},1)">

// A kernel's tensor is its pointer, its extents and its stride.
// CHECK-LABEL: gpu.func @tile(
// CHECK-SAME:    %[[A:[^:]*]]: !cute.ptr<f32, gmem, align<16>>, %[[M:[^:]*]]: i32, %[[N:[^:]*]]: i32, %[[LD:[^:]*]]: i32 {cute.divisor = 4 : i64}, %[[I:[^:]*]]: i32, %[[V:[^:]*]]: f32)
// CHECK-DAG:     %[[I64:.*]] = arith.extsi %[[I]] : i32 to i64
// CHECK-DAG:     %[[LD64:.*]] = arith.extsi %[[LD]] : i32 to i64
// CHECK-DAG:     %[[ROWS:.*]] = arith.muli %[[LD64]], %{{.*}} : i64
// CHECK-DAG:     %[[SKIP:.*]] = arith.muli %[[I64]], %[[ROWS]] : i64
// CHECK:         %[[O:.*]] = cute.make_int_tuple(%[[SKIP]]) : (i64) -> !cute.int_tuple<"?{i64 div=4}">
// CHECK:         %[[P:.*]] = cute.add_offset(%[[A]], %[[O]]) : (!cute.ptr<f32, gmem, align<16>>, !cute.int_tuple<"?{i64 div=4}">) -> !cute.ptr<f32, gmem, align<16>>
// An element: its place is the pointer's, and its coordinate 0.
// CHECK:         %[[E:.*]] = cute.make_view(%{{.*}}, %{{.*}}) : !cute.memref<f32, gmem, "1:0">
// CHECK:         cute.memref.store(%[[E]], %{{.*}}, %[[V]])
// NVVM-LABEL:  gpu.func @tile(
// NVVM-SAME:     %{{[^:]*}}: !llvm.ptr<1> {llvm.align = 16 : i32}, %{{[^:]*}}: i32
// NVVM:          llvm.store %{{.*}}, %{{.*}} {alignment = 4 : i64} : f32, !llvm.ptr<1>
gpu.module @kernels {
  gpu.func @tile(%A: !A, %i: i32, %v: f32) kernel {
    %tile = cute.static : !cute.tile<"[64:1;32:1]">
    %c = cute.make_coord(%i) : (i32) -> !cute.coord<"(?,0)">
    %t = cute.local_tile(%A, %tile, %c) : (!A, !cute.tile<"[64:1;32:1]">, !cute.coord<"(?,0)">) -> !cute.memref<f32, gmem, align<16>, "(64,32):(?{div=4},1)">
    %at = cute.static : !cute.coord<"(3,5)">
    cute.memref.store(%t, %at, %v) : (!cute.memref<f32, gmem, align<16>, "(64,32):(?{div=4},1)">, !cute.coord<"(3,5)">, f32) -> ()
    gpu.return
  }
}

// -----

!C = !cute.coord_tensor<"(0,0)", "(?,?):(1@0,1@1)">

// A coordinate tensor is integers alone: what a thread's element is, is computed from the thread.
// CHECK-LABEL: gpu.func @coordinates(
// CHECK-SAME:    %[[M:[^:]*]]: i32, %[[N:[^:]*]]: i32, %[[T:[^:]*]]: i32, %[[OUT:[^:]*]]:
// CHECK-NOT:     cute.local_partition
// CHECK-DAG:     %[[COLUMN:.*]] = arith.remsi %[[T]], %{{.*}}
// CHECK-DAG:     %[[ROW:.*]] = arith.divsi %[[T]], %{{.*}}
// CHECK-DAG:     arith.cmpi slt, %{{.*}}, %[[M]] : i32
// CHECK-DAG:     arith.cmpi slt, %{{.*}}, %[[N]] : i32
// CHECK:         llvm.store
gpu.module @kernels {
  gpu.func @coordinates(%m: i32, %n: i32, %i: i32, %out: !llvm.ptr<1>) kernel {
    %s = cute.make_shape(%m, %n) : (i32, i32) -> !cute.shape<"(?,?)">
    %id = cute.make_identity_tensor(%s : !cute.shape<"(?,?)">) : !C
    %threads = cute.static : !cute.layout<"(8,32):(32,1)">
    %t = cute.make_coord(%i) : (i32) -> !cute.coord<"?">
    %part = cute.local_partition(%id, %threads, %t) : (!C, !cute.layout<"(8,32):(32,1)">, !cute.coord<"?">)
      -> !cute.coord_tensor<"(?,?)", "(?,?):(8@0,32@1)">
    %o = cute.static : !cute.coord<"(1,2)">
    %c = cute.memref.load(%part, %o) : (!cute.coord_tensor<"(?,?)", "(?,?):(8@0,32@1)">, !cute.coord<"(1,2)">) -> !cute.coord<"(?,?)">
    %in = cute.elem_less(%c, %s) : (!cute.coord<"(?,?)">, !cute.shape<"(?,?)">) -> i1
    llvm.store %in, %out : i1, !llvm.ptr<1>
    gpu.return
  }
}

// -----

// What fits 32 bits in the tensor's type must fit them when the kernel runs.
// CHECK-LABEL: gpu.func @wide(
// CHECK:         cf.assert %{{.*}}, "'cute.zipped_divide' op expected values that fit 32 bits, found an overflow; make the leaves that it is computed from `?{i64}`"
gpu.module @kernels {
  gpu.func @wide(%A: !cute.memref<f32, gmem, "(?,?):(?,1)">, %v: f32) kernel {
    %tile = cute.static : !cute.tile<"[64:1;32:1]">
    %t = cute.zipped_divide(%A, %tile) : (!cute.memref<f32, gmem, "(?,?):(?,1)">, !cute.tile<"[64:1;32:1]">) -> !cute.memref<f32, gmem, "((64,32),(?,?)):((?,1),(?,32))">
    %at = cute.static : !cute.coord<"((3,5),(1,1))">
    cute.memref.store(%t, %at, %v) : (!cute.memref<f32, gmem, "((64,32),(?,?)):((?,1),(?,32))">, !cute.coord<"((3,5),(1,1))">, f32) -> ()
    gpu.return
  }
}
