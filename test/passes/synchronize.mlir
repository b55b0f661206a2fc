// Waits and barriers from the effects of ops.
//
// RUN: cute-opt %s --cute-synchronize --split-input-file | FileCheck %s
// RUN: cute-opt %s --cute-synchronize --split-input-file | cute-opt --split-input-file --cute-synchronize | FileCheck %s

!s = !cute.memref<f32, smem, align<16>, "32:1">
!c = !cute.coord<"?">

// Between a write and a read, between a read and a write; not between reads, nor where the author orders it.
// CHECK-LABEL: gpu.func @straight
// CHECK:         cute.memref.store
// CHECK-NEXT:    gpu.barrier
// CHECK-NEXT:    cute.memref.load
// CHECK-NEXT:    cute.memref.load
// CHECK-NEXT:    gpu.barrier
// CHECK-NEXT:    cute.memref.store
// CHECK-NEXT:    gpu.barrier
// CHECK-NEXT:    cute.memref.load
// CHECK-NEXT:    gpu.return
// CHECK-LABEL: gpu.func @by_the_author
// CHECK-NOT:     gpu.barrier
// CHECK:         gpu.return
gpu.module @kernels {
  gpu.func @straight(%i: !c, %j: !c, %v: f32) kernel attributes {cute.synchronize} {
    %s = cute.memref.alloca() : !s
    cute.memref.store(%s, %i, %v) : (!s, !c, f32) -> ()
    %x = cute.memref.load(%s, %j) : (!s, !c) -> f32
    %y = cute.memref.load(%s, %i) : (!s, !c) -> f32
    cute.memref.store(%s, %i, %v) : (!s, !c, f32) -> ()
    gpu.barrier
    %z = cute.memref.load(%s, %j) : (!s, !c) -> f32
    gpu.return
  }
  gpu.func @by_the_author(%i: !c, %j: !c, %v: f32) kernel {
    %s = cute.memref.alloca() : !s
    cute.memref.store(%s, %i, %v) : (!s, !c, f32) -> ()
    %x = cute.memref.load(%s, %j) : (!s, !c) -> f32
    gpu.return
  }
}

// -----

!copy = !cute.tiled_copy<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, layout_copy_tv = <"((4,16),8):((128,1),16)">, tiler_mn = <"[16:1;32:1]">>
!part = !cute.memref<f16, gmem, align<16>, "((8,1),2,1):((1,8),1024,32)">
!spart = !cute.memref<f16, smem, align<16>, S<2,4,3>, "((8,1),2,1):((1,8),512,32)">
!smem = !cute.memref<f16, smem, align<512>, S<2,4,3>, "(32,32):(32,1)">
!c = !cute.coord<"?">
!ij = !cute.coord<"(?,?)">

// A read waits for the copies of all threads; the copies of one thread, by one view, go to places of their own;
// to one place they would overtake each other.
// CHECK-LABEL: gpu.func @copies
// CHECK:         cute.atom_copy
// CHECK-NEXT:    cute.atom_copy
// CHECK-NEXT:    nvvm.cp.async.commit.group
// CHECK-NEXT:    nvvm.cp.async.wait.group 0
// CHECK-NEXT:    gpu.barrier
// CHECK-NEXT:    cute.memref.load
// CHECK-LABEL: gpu.func @copied_twice
// CHECK:         cute.atom_copy
// CHECK-NEXT:    cute.atom_copy
// CHECK-NEXT:    nvvm.cp.async.commit.group
// CHECK-NEXT:    nvvm.cp.async.wait.group 0
// CHECK-NEXT:    gpu.barrier
// CHECK-NEXT:    cute.atom_copy
// CHECK-LABEL: gpu.func @waited_for
// CHECK:         nvvm.cp.async.wait.group 0
// CHECK-NEXT:    gpu.barrier
// CHECK-NEXT:    cute.memref.load
// CHECK-LABEL: gpu.func @still_under_way
// CHECK:         nvvm.cp.async.wait.group 1
// CHECK-NEXT:    gpu.barrier
// CHECK-NEXT:    nvvm.cp.async.commit.group
// CHECK-NEXT:    nvvm.cp.async.wait.group 0
// CHECK-NEXT:    gpu.barrier
// CHECK-NEXT:    cute.memref.load
gpu.module @kernels {
  gpu.func @copies(%copy: !copy, %from: !part, %t: !c, %i: !ij) kernel attributes {cute.synchronize} {
    %s = cute.memref.alloca() : !smem
    %to = cute.tiled.copy.partition_D(%copy, %s, %t) : (!copy, !smem, !c) -> !spart
    cute.atom_copy(%copy, %from, %to) at [0, 0, 0] : (!copy, !part, !spart)
    cute.atom_copy(%copy, %from, %to) at [0, 1, 0] : (!copy, !part, !spart)
    %x = cute.memref.load(%s, %i) : (!smem, !ij) -> f16
    gpu.return
  }
  gpu.func @copied_twice(%copy: !copy, %from: !part, %t: !c) kernel attributes {cute.synchronize} {
    %s = cute.memref.alloca() : !smem
    %to = cute.tiled.copy.partition_D(%copy, %s, %t) : (!copy, !smem, !c) -> !spart
    cute.atom_copy(%copy, %from, %to) at [0, 0, 0] : (!copy, !part, !spart)
    cute.atom_copy(%copy, %from, %to) at [0, 1, 0] : (!copy, !part, !spart)
    cute.atom_copy(%copy, %from, %to) at [0, 0, 0] : (!copy, !part, !spart)
    gpu.return
  }
  gpu.func @waited_for(%copy: !copy, %from: !part, %t: !c, %i: !ij) kernel attributes {cute.synchronize} {
    %s = cute.memref.alloca() : !smem
    %to = cute.tiled.copy.partition_D(%copy, %s, %t) : (!copy, !smem, !c) -> !spart
    cute.atom_copy(%copy, %from, %to) at [0, 0, 0] : (!copy, !part, !spart)
    nvvm.cp.async.commit.group
    nvvm.cp.async.wait.group 0
    %x = cute.memref.load(%s, %i) : (!smem, !ij) -> f16
    gpu.return
  }
  gpu.func @still_under_way(%copy: !copy, %from: !part, %t: !c, %i: !ij) kernel attributes {cute.synchronize} {
    %s = cute.memref.alloca() : !smem
    %to = cute.tiled.copy.partition_D(%copy, %s, %t) : (!copy, !smem, !c) -> !spart
    cute.atom_copy(%copy, %from, %to) at [0, 0, 0] : (!copy, !part, !spart)
    nvvm.cp.async.commit.group
    nvvm.cp.async.wait.group 1
    gpu.barrier
    %x = cute.memref.load(%s, %i) : (!smem, !ij) -> f16
    gpu.return
  }
}

// -----

!s = !cute.memref<f32, smem, align<16>, "32:1">
!c = !cute.coord<"?">

// A turn of the loop meets the next one at its end; what is before the loop meets it in front of it.
// CHECK-LABEL: gpu.func @loop
// CHECK:         cute.memref.store
// CHECK-NEXT:    gpu.barrier
// CHECK-NEXT:    scf.for
// CHECK-NEXT:      cute.memref.store
// CHECK-NEXT:      gpu.barrier
// CHECK-NEXT:      cute.memref.load
// CHECK-NEXT:      gpu.barrier
// CHECK-NEXT:    }
// CHECK-NEXT:    cute.memref.store
gpu.module @kernels {
  gpu.func @loop(%i: !c, %j: !c, %v: f32, %n: i32) kernel attributes {cute.synchronize} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %s = cute.memref.alloca() : !s
    cute.memref.store(%s, %i, %v) : (!s, !c, f32) -> ()
    scf.for %k = %c0 to %n step %c1 : i32 {
      cute.memref.store(%s, %i, %v) : (!s, !c, f32) -> ()
      %x = cute.memref.load(%s, %j) : (!s, !c) -> f32
    }
    cute.memref.store(%s, %j, %v) : (!s, !c, f32) -> ()
    gpu.return
  }
}

// -----

!s = !cute.memref<f32, smem, align<16>, "32:1">
!c = !cute.coord<"?">

// A branch that all threads take alike may have a barrier within; one that need not be taken gives none to what follows.
// CHECK-LABEL: gpu.func @branch
// CHECK:         cute.memref.store
// CHECK-NEXT:    scf.if
// CHECK-NEXT:      gpu.barrier
// CHECK-NEXT:    }
// CHECK-NEXT:    gpu.barrier
// CHECK-NEXT:    cute.memref.load
// CHECK-NEXT:    gpu.barrier
// CHECK-NEXT:    scf.if
// CHECK-NEXT:      cute.memref.store
// CHECK-NEXT:      gpu.barrier
// CHECK-NEXT:      cute.memref.load
// CHECK-NEXT:    } else {
// CHECK-NEXT:      cute.memref.store
// CHECK-NEXT:    }
// CHECK-NEXT:    gpu.barrier
// CHECK-NEXT:    cute.memref.load
gpu.module @kernels {
  gpu.func @branch(%i: !c, %j: !c, %v: f32, %if: i1) kernel attributes {cute.synchronize} {
    %s = cute.memref.alloca() : !s
    cute.memref.store(%s, %i, %v) : (!s, !c, f32) -> ()
    scf.if %if {
      gpu.barrier
    }
    %x = cute.memref.load(%s, %j) : (!s, !c) -> f32
    scf.if %if {
      cute.memref.store(%s, %i, %v) : (!s, !c, f32) -> ()
      %y = cute.memref.load(%s, %j) : (!s, !c) -> f32
    } else {
      cute.memref.store(%s, %i, %v) : (!s, !c, f32) -> ()
    }
    %z = cute.memref.load(%s, %j) : (!s, !c) -> f32
    gpu.return
  }
}

// -----

!s = !cute.memref<f32, smem, align<16>, "32:1">
!c = !cute.coord<"?">

// Tensors that have bytes in common meet also where the author orders accesses; what a pipeline orders does not meet itself.
// CHECK-LABEL: gpu.func @shared_bytes
// CHECK:         cute.memref.store
// CHECK-NEXT:    cute.memref.load
// CHECK-NEXT:    gpu.barrier
// CHECK-NEXT:    cute.memref.store
// CHECK-NEXT:    cute.memref.load
// CHECK-LABEL: gpu.func @ring
// CHECK:         cute.memref.store
// CHECK-NEXT:    cute.memref.load
// CHECK-NEXT:    gpu.barrier
// CHECK-NEXT:    cute.memref.store
gpu.module @kernels {
  gpu.func @shared_bytes(%i: !c, %v: f32) kernel {
    %a = cute.memref.alloca() {offset = 0 : i64} : !s
    %b = cute.memref.alloca() {offset = 64 : i64} : !s
    cute.memref.store(%a, %i, %v) : (!s, !c, f32) -> ()
    %x = cute.memref.load(%a, %i) : (!s, !c) -> f32
    cute.memref.store(%b, %i, %v) : (!s, !c, f32) -> ()
    %y = cute.memref.load(%b, %i) : (!s, !c) -> f32
    gpu.return
  }
  gpu.func @ring(%i: !c, %v: f32) kernel attributes {cute.synchronize} {
    %a = cute.memref.alloca() {cute.ring, offset = 0 : i64} : !s
    %b = cute.memref.alloca() {offset = 64 : i64} : !s
    cute.memref.store(%a, %i, %v) : (!s, !c, f32) -> ()
    %x = cute.memref.load(%a, %i) : (!s, !c) -> f32
    cute.memref.store(%b, %i, %v) : (!s, !c, f32) -> ()
    gpu.return
  }
}

// -----

!s = !cute.memref<f32, smem, align<16>, "32:1">
!g = !cute.memref<i32, gmem, align<16>, "4:1">
!c = !cute.coord<"?">

// All threads read the same from memory that they share, as vectors too.
// CHECK-LABEL: gpu.func @by_what_is_read
// CHECK:         scf.if
// CHECK-NEXT:      cute.memref.store
// CHECK-NEXT:      gpu.barrier
// CHECK-NEXT:      cute.memref.load
gpu.module @kernels {
  gpu.func @by_what_is_read(%g: !g, %i: !c, %j: !c, %v: f32) kernel attributes {cute.synchronize} {
    %s = cute.memref.alloca() : !s
    %all = cute.memref.load_vec %g : !g
    %n = vector.extract %all[1] : i32 from vector<4xi32>
    %if = arith.cmpi ult, %n, %n : i32
    scf.if %if {
      cute.memref.store(%s, %i, %v) : (!s, !c, f32) -> ()
      %x = cute.memref.load(%s, %j) : (!s, !c) -> f32
    }
    gpu.return
  }
}
