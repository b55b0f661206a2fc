// Functions on tensors, layouts, atoms and tiled operations are put in place of their calls.
//
// RUN: cute-opt %s --cute-inline | FileCheck %s
// RUN: cute-opt %s --cute-inline --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s --check-prefix=LOC

!T = !cute.memref<f32, gmem, align<16>, "(?{div=128},?{div=8}):(1,?{div=128})">
!tile = !cute.memref<f32, gmem, align<16>, "(128,8):(1,?{div=128})">
!part = !cute.memref<f32, gmem, align<16>, "((4,1),1,1):((1,0),0,0)">
!copy = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f32, 128 b>, layout_copy_tv = <"((32,8),4):((4,128),1)">, tiler_mn = <"[128:1;8:1]">>
!frag = !cute.memref<f32, rmem, align<16>, "((4,1),1,1):((1,0),0,0)">

// CHECK-LABEL: gpu.module @copies
gpu.module @copies {
  // Nothing calls it.
  // CHECK-NOT: func.func
  func.func private @unused(%t: !T) {
    return
  }
  // A tensor, a tiled copy and coordinates in, a tensor out; one that calls another one.
  func.func private @part(%t: !T, %copy: !copy, %block: !cute.coord<"(?,?)">, %thread: !cute.coord<"?">) -> !part {
    %tiler = cute.static "[128:1;8:1]"
    %tile = cute.local_tile(%t, %tiler, %block)
    %part = cute.tiled.copy.partition_S(%copy, %tile, %thread)
    return %part : !part
  }
  func.func private @move(%from: !T, %to: !T, %block: !cute.coord<"(?,?)">, %thread: !cute.coord<"?">, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %copy = cute.static : !copy
    %s = func.call @part(%from, %copy, %block, %thread) : (!T, !copy, !cute.coord<"(?,?)">, !cute.coord<"?">) -> !part
    %r = func.call @registers() : () -> !frag
    scf.for %i = %c0 to %n step %c1 : i32 {
      cute.copy(%copy, %s, %r)
      %d = func.call @part(%to, %copy, %block, %thread) : (!T, !copy, !cute.coord<"(?,?)">, !cute.coord<"?">) -> !part
      cute.copy(%copy, %r, %d)
    }
    return
  }
  func.func private @registers() -> !frag {
    %r = cute.memref.alloca() : !frag
    return %r : !frag
  }
  // CHECK-LABEL: gpu.func @kernel
  // CHECK-SAME: (%[[S:.*]]: !cute.memref{{.*}}, %[[D:.*]]: !cute.memref{{.*}}, %[[N:.*]]: i32)
  gpu.func @kernel(%S: !T, %D: !T, %n: i32) kernel {
    %tx = gpu.thread_id x
    %bx = gpu.block_id x
    %t = arith.index_cast %tx : index to i32
    %b = arith.index_cast %bx : index to i32
    %thread = cute.make_coord(%t)
    %block = cute.make_coord(%b, %b)
    // CHECK:      %[[COPY:.*]] = cute.static : !cute.tiled_copy
    // CHECK:      %[[GS:.*]] = cute.local_tile(%[[S]],
    // CHECK-NEXT: %[[TS:.*]] = cute.tiled.copy.partition_S(%[[COPY]], %[[GS]],
    // CHECK-NEXT: %[[R:.*]] = cute.memref.alloca
    // CHECK-NEXT: scf.for %{{.*}} = %{{.*}} to %[[N]]
    // CHECK-NEXT:   cute.copy(%[[COPY]], %[[TS]], %[[R]])
    // CHECK:        %[[GD:.*]] = cute.local_tile(%[[D]],
    // CHECK-NEXT:   %[[TD:.*]] = cute.tiled.copy.partition_S(%[[COPY]], %[[GD]],
    // CHECK-NEXT:   cute.copy(%[[COPY]], %[[R]], %[[TD]])
    // CHECK-NOT:  func.call
    // LOC: cute.local_tile{{.*}} loc(callsite("{{.*}}inline.mlir":22:13 at callsite("{{.*}}inline.mlir":30:10 at "{{.*}}inline.mlir":[[@LINE+1]]:5)))
    func.call @move(%S, %D, %block, %thread, %n) : (!T, !T, !cute.coord<"(?,?)">, !cute.coord<"?">, i32) -> ()
    gpu.return
  }
}

// Functions on numbers, vectors and coordinates stay.
// CHECK-LABEL: gpu.module @numbers
gpu.module @numbers {
  // CHECK: func.func private @index
  func.func private @index(%c: !cute.coord<"(?,?)">, %n: i32) -> i32 {
    %l = cute.static "(8,8):(8,1)"
    %i = cute.crd2idx(%c, %l)
    %x = cute.get_scalars(%i)
    %s = arith.addi %x, %n : i32
    return %s : i32
  }
  // CHECK: gpu.func @kernel
  gpu.func @kernel(%n: i32) kernel {
    %c = cute.make_coord(%n, %n)
    // CHECK: func.call @index
    %i = func.call @index(%c, %n) : (!cute.coord<"(?,?)">, i32) -> i32
    gpu.return
  }
}

// One that calls what allocates is inlined as well, whatever its own types are.
// CHECK-LABEL: gpu.module @allocates
gpu.module @allocates {
  // CHECK-NOT: func.func
  func.func private @inner(%x: f32) -> f32 {
    %r = cute.memref.alloca() : !cute.memref<f32, rmem, "1:1">
    %at = cute.static coord "0"
    cute.memref.store(%r, %at, %x)
    %y = cute.memref.load(%r, %at)
    return %y : f32
  }
  func.func private @outer(%x: f32) -> f32 {
    %y = func.call @inner(%x) : (f32) -> f32
    %z = arith.addf %x, %y : f32
    return %z : f32
  }
  // CHECK: gpu.func @kernel(%[[X:.*]]: f32)
  gpu.func @kernel(%x: f32) kernel {
    // CHECK: %[[Y:.*]] = cute.memref.load
    // CHECK: arith.addf %[[X]], %[[Y]]
    %y = func.call @outer(%x) : (f32) -> f32
    gpu.return
  }
}
