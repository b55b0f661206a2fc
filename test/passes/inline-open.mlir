// Functions whose types each call gives.
//
// RUN: cute-opt %s --cute-inline | FileCheck %s
// RUN: cute-opt %s | cute-opt --cute-inline | FileCheck %s
// RUN: cute-opt %s --strip-types | cute-opt --cute-inline | FileCheck %s
// RUN: cute-opt %s --emit-bytecode | cute-opt --cute-inline | FileCheck %s
// RUN: cute-opt %s | FileCheck %s --check-prefix=OPEN

!half = !cute.memref<f16, gmem, align<16>, "(16,64):(64,1)">
!float = !cute.memref<f32, gmem, align<16>, "(128,64):(1,128)">
!halves = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"((8,16),8):((128,1),16)">, tiler_mn = <"[16:1;64:1]">>
!floats = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f32, 128 b>, layout_copy_tv = <"((32,8),4):((4,128),1)">, tiler_mn = <"[128:1;8:1]">>

// CHECK-LABEL: gpu.module @copies
gpu.module @copies {
  // The types of what depends on an argument are open, too; those of other values are known.
  // OPEN-LABEL: func.func private @copy
  // OPEN:         %[[T:.*]] = cute.make_coord({{.*}} : (i32) -> !cute.coord<"?">
  // OPEN:         cute.tiled.copy.partition_S(%{{.*}}, %{{.*}}, %[[T]]){{$}}
  // OPEN:         cute.call @part(%{{.*}}) : (!cute.any, !cute.any, !cute.coord<"?">) -> !cute.any
  // OPEN:         cute.copy(%{{.*}}) : (!cute.any, !cute.any, !cute.any)
  func.func private @copy(%copy: !cute.any, %from: !cute.any, %to: !cute.any, %thread: i32) {
    %t = cute.make_coord(%thread)
    %tS = cute.tiled.copy.partition_S(%copy, %from, %t)
    %tD = cute.call @part(%copy, %to, %t)
    cute.copy(%copy, %tS, %tD)
    return
  }
  func.func private @part(%copy: !cute.any, %to: !cute.any, %t: !cute.coord<"?">) -> !cute.any {
    %tD = cute.tiled.copy.partition_D(%copy, %to, %t)
    return %tD : !cute.any
  }
  // CHECK-NOT: func.func
  // CHECK-LABEL: gpu.func @kernel
  gpu.func @kernel(%A: !half, %B: !half, %C: !float, %D: !float, %i: i32) kernel {
    %halves = cute.static : !halves
    %floats = cute.static : !floats
    // CHECK: partition_S{{.*}} -> !cute.memref<f16, gmem, align<16>, "((8,1),1,1):((1,0),0,0)">
    // CHECK: partition_D{{.*}} -> !cute.memref<f16, gmem, align<16>, "((8,1),1,1):((1,0),0,0)">
    // CHECK: cute.copy({{.*}}) : (!cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>,
    cute.call @copy(%halves, %A, %B, %i)
    // CHECK: partition_S{{.*}} -> !cute.memref<f32, gmem, align<16>, "((4,1),1,8):((1,0),0,1024)">
    // CHECK: partition_D{{.*}} -> !cute.memref<f32, gmem, align<16>, "((4,1),1,8):((1,0),0,1024)">
    // CHECK: cute.copy({{.*}}) : (!cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f32, 128 b>,
    cute.call @copy(%floats, %C, %D, %i)
    gpu.return
  }
}

// Through loops, branches and regions; a function on numbers may be called so, and others call it still.
// CHECK-LABEL: gpu.module @regions
gpu.module @regions {
  func.func private @sum(%tensor: !cute.any, %n: i32, %odd: i1) -> f32 {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant 0.0 : f32
    %last = scf.for %i = %c0 to %n step %c1 iter_args(%t = %tensor) -> (!cute.any) : i32 {
      %same = scf.if %odd -> (!cute.any) {
        scf.yield %t : !cute.any
      } else {
        scf.yield %t : !cute.any
      }
      cute.transform(%same, %same) (%e: f32) {
        %d = func.call @twice(%e) : (f32) -> f32
        cute.yield %d
      }
      scf.yield %same : !cute.any
    }
    cute.transform(%last, %last) (%e) {
      cute.yield %e
    }
    %s = cute.reduce(%last, %zero) {kind = "add"}
    return %s : f32
  }
  // CHECK: func.func private @twice
  func.func private @twice(%x: f32) -> f32 {
    %y = arith.addf %x, %x : f32
    return %y : f32
  }
  // CHECK: gpu.func @kernel(%[[N:.*]]: i32, %[[ODD:.*]]: i1, %[[OUT:.*]]: !cute.memref
  gpu.func @kernel(%n: i32, %odd: i1, %out: !cute.memref<f32, gmem, "1:1">) kernel {
    %r = cute.memref.alloca() : !cute.memref<f32, rmem, "8:1">
    cute.clear(%r)
    // CHECK: scf.for {{.*}} -> (!cute.memref<f32, rmem, "8:1">)
    // CHECK:   scf.if %[[ODD]] -> (!cute.memref<f32, rmem, "8:1">)
    // CHECK:   cute.transform(%[[S:.*]], %[[S]]) : (!cute.memref<f32, rmem, "8:1">, !cute.memref<f32, rmem, "8:1">)
    // CHECK:     func.call @twice
    // CHECK: %[[SUM:.*]] = cute.reduce
    %s = cute.call @sum(%r, %n, %odd)
    // CHECK: %[[D:.*]] = arith.addf %[[SUM]], %[[SUM]] : f32
    %d = cute.call @twice(%s)
    %at = cute.static coord "0"
    // CHECK: cute.memref.store(%[[OUT]], %{{.*}}, %[[D]])
    cute.memref.store(%out, %at, %d)
    gpu.return
  }
}

// Views and coordinates of what is open are printed without their types, and read back.
// CHECK-LABEL: gpu.module @views
gpu.module @views {
  // OPEN-LABEL: func.func private @first
  // OPEN:         cute.make_view(%{{.*}}, %{{.*}}){{ *$}}
  // OPEN:         cute.make_identity_tensor(%{{.*}}){{ *$}}
  func.func private @first(%x: !cute.any, %layout: !cute.any, %shape: !cute.any) {
    %start = cute.get_iter(%x)
    %view = cute.make_view(%start, %layout)
    %coords = cute.make_identity_tensor(%shape)
    %at = cute.static coord "(0,0)"
    %c = cute.memref.load(%coords, %at)
    %row, %column = cute.get_scalars(%c) -> (i32, i32)
    %zero = arith.constant 0.0 : f32
    cute.memref.store(%view, %at, %zero)
    return
  }
  // CHECK-LABEL: gpu.func @kernel
  gpu.func @kernel(%A: !cute.memref<f32, gmem, "(4,8):(8,1)">) kernel {
    %layout = cute.static layout "(8,4):(1,8)"
    %shape = cute.static shape "(8,4)"
    // CHECK: cute.make_view({{.*}} : !cute.memref<f32, gmem, "(8,4):(1,8)">
    // CHECK: cute.make_identity_tensor({{.*}} : !cute.shape<"(8,4)">) : !cute.coord_tensor<"(0,0)", "(8,4):(1@0,1@1)">
    cute.call @first(%A, %layout, %shape)
    gpu.return
  }
}
