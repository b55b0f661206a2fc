// Addresses as integers, and swizzles of offsets in elements.
//
// RUN: cute-opt %s --cute-lower-layouts --cute-to-nvvm --canonicalize --cse | FileCheck %s

// CHECK-LABEL: gpu.func @pointers(
// CHECK-SAME:    %[[P:.*]]: !llvm.ptr<1> {{.*}}, %[[I:.*]]: i64)
// CHECK-NEXT:    %[[N:.*]] = llvm.ptrtoint %[[P]] : !llvm.ptr<1> to i64
// CHECK-NEXT:    %[[S:.*]] = arith.addi %[[N]], %[[I]] : i64
// CHECK-NEXT:    %[[Q:.*]] = llvm.inttoptr %[[S]] : i64 to !llvm.ptr<1>
// CHECK-NEXT:    %[[E:.*]] = llvm.getelementptr %[[Q]][2] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
// CHECK-NEXT:    llvm.load %[[E]] {alignment = 2 : i64} : !llvm.ptr<1> -> f16

// S<3,3,3> on halves is S<3,4,3> on bytes: bits 7 to 9 are xored into bits 4 to 6.
// CHECK-LABEL: gpu.func @swizzled(
// CHECK-SAME:    %[[T:.*]]: i32,
// CHECK-DAG:     %[[C3:.*]] = arith.constant 3 : i32
// CHECK-DAG:     %[[MASK:.*]] = arith.constant 896 : i32
// CHECK-DAG:     %[[C128:.*]] = arith.constant 128 : i32
// CHECK-DAG:     %[[O:.*]] = arith.muli %[[T]], %[[C128]] : i32
// CHECK-DAG:     %[[Y:.*]] = arith.andi %[[O]], %[[MASK]] : i32
// CHECK-DAG:     %[[Z:.*]] = arith.shrui %[[Y]], %[[C3]] : i32
// CHECK-DAG:     arith.xori %[[O]], %[[Z]] : i32
gpu.module @k {
  gpu.func @pointers(%g: !cute.memref<f16, gmem, align<16>, "(64):(1)">, %i: i64) kernel {
    %p = cute.get_iter(%g) : !cute.memref<f16, gmem, align<16>, "(64):(1)">
    %n = cute.ptrtoint(%p) : !cute.ptr<f16, gmem, align<16>> to i64
    %s = arith.addi %n, %i : i64
    %a = cute.assume(%s) : (i64) -> !cute.i64<divby 2>
    %q = cute.inttoptr(%a) : !cute.i64<divby 2> to !cute.ptr<f16, gmem>
    %v = cute.make_view(%q) : !cute.memref<f16, gmem, "(4):(1)">
    %c = cute.make_coord() : () -> !cute.coord<"1">
    %e = cute.memref.load(%v, %c) : (!cute.memref<f16, gmem, "(4):(1)">, !cute.coord<"1">) -> f16
    cute.memref.store(%v, %c, %e) : (!cute.memref<f16, gmem, "(4):(1)">, !cute.coord<"1">, f16) -> ()
    gpu.return
  }
  gpu.func @swizzled(%t: i32, %x: f16) kernel {
    %s = cute.memref.alloca() {offset = 0 : i64} : !cute.memref<f16, smem, align<1024>, "S<3,3,3> o 0 o (8,64):(64,1)">
    %c = cute.make_coord(%t) : (i32) -> !cute.coord<"(?,0)">
    cute.memref.store(%s, %c, %x) : (!cute.memref<f16, smem, align<1024>, "S<3,3,3> o 0 o (8,64):(64,1)">, !cute.coord<"(?,0)">, f16) -> ()
    gpu.return
  }
}
