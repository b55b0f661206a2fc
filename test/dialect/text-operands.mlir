// Operands that are texts in place of values: coordinates, shapes, tilers and layouts that are static.
//
// RUN: cute-opt %s | FileCheck %s
// RUN: cute-opt %s --strip-types | cute-opt | FileCheck %s
// RUN: cute-opt %s --mlir-print-op-generic | cute-opt | FileCheck %s

!m = !cute.memref<f32, gmem, align<16>, "(128,64):(64,1)">

// A text has the type that its place asks for, and stands where the value beside it does.
// CHECK-LABEL: func.func @views
// CHECK-SAME: %[[A:.*]]: !cute.memref
func.func @views(%A: !m, %i: i32, %x: f32) {
  // CHECK-DAG: cute.static : !cute.tile<"[32:1;32:1]">
  %at = cute.make_coord(%i, _)
  // CHECK: cute.local_tile(%[[A]], %{{.*}}, %{{.*}}) : (!cute.memref<f32, gmem, align<16>, "(128,64):(64,1)">, !cute.tile<"[32:1;32:1]">, !cute.coord<"(?,_)">)
  %a = cute.local_tile(%A, "[32:1;32:1]", %at)
  // CHECK: cute.local_tile(%[[A]], %{{.*}}, %{{.*}}) {proj = #cute.coord<"(1,1,_)">}
  %b = cute.local_tile(%A, "[32:1;32:1;8:1]", "(1,_,_)", "(1,1,_)")
  // CHECK: cute.slice(%{{.*}}, %{{.*}}) : {{.*}}, !cute.coord<"(_,_,0)">
  %s = cute.slice(%a, "(_,_,0)")
  // CHECK: cute.memref.load(%[[A]], %{{.*}}) : ({{.*}}, !cute.coord<"(1,2)">) -> f32
  %v = cute.memref.load(%A, "(1,2)")
  // CHECK: cute.memref.store(%[[A]], %{{.*}}, %{{.*}}) : ({{.*}}, !cute.coord<"(1,2)">, f32)
  cute.memref.store(%A, "(1,2)", %x)
  // CHECK: cute.domain_offset
  %o = cute.domain_offset("(1,1)", %A)
  // CHECK: cute.local_partition
  %p = cute.local_partition(%A, "(8,4):(4,1)", "0")
  %shape = cute.get_shape(%A)
  // CHECK: cute.ceil_div(%{{.*}}, %{{.*}}) : (!cute.shape<"(128,64)">, !cute.shape<"(64,64)">) -> !cute.shape<"(2,1)">
  %grid = cute.ceil_div(%shape, "(64,64)")
  // CHECK: cute.zipped_divide
  %z = cute.zipped_divide(%A, "[64:1;64:1]") : (!m, !cute.tile<"[64:1;64:1]">) -> !cute.memref<f32, gmem, align<16>, "((64,64),(2,1)):((64,1),(4096,0))">
  // CHECK: cute.composition
  %c = cute.composition(%A, "(64,128):(128,1)")
  %iter = cute.get_iter(%A)
  // CHECK: cute.make_view(%{{.*}}, %{{.*}}) : !cute.memref<f32, gmem, align<16>, "(8,4):(4,1)">
  %w = cute.make_view(%iter, "(8,4):(4,1)")
  return
}

// Behind what the other operand is made by, be that the argument of a loop.
// CHECK-LABEL: func.func @loops
func.func @loops(%A: !m, %n: i32) {
  // CHECK-NEXT: cute.static : !cute.tile<"[64:1;64:1]">
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %first = cute.make_coord(%zero)
  // CHECK: scf.for
  %last = scf.for %i = %zero to %n step %one iter_args(%c = %first) -> (!cute.coord<"?">) : i32 {
    // CHECK-NEXT: cute.static : !cute.shape<"8">
    // CHECK: cute.zipped_divide
    %z = cute.zipped_divide(%A, "[64:1;64:1]")
    // CHECK: cute.increment_coord
    %next = cute.increment_coord(%c, "8")
    scf.yield %next : !cute.coord<"?">
  }
  return
}

!copy = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f32, 128 b>, layout_copy_tv = <"((8,32),4):((128,1),32)">, tiler_mn = <"[32:1;32:1]">>
!frag = !cute.memref<f32, rmem, "((4,1),4,2):((1,0),4,16)">
// Tiled copies and MMAs by their types, which say all of them.
// CHECK-LABEL: func.func @tiled
func.func @tiled(%A: !m, %thread: !cute.coord<"?">) {
  // CHECK: %[[PART:.*]] = cute.tiled.copy.partition_S(%{{.*}}, %arg0, %arg1)
  %part = cute.tiled.copy.partition_S(!copy, %A, %thread)
  // CHECK-NEXT: %[[COPY:.*]] = cute.static : !cute.tiled_copy
  // CHECK: %[[FRAG:.*]] = cute.memref.alloca
  %frag = cute.memref.alloca() : !frag
  // CHECK: cute.copy(%[[COPY]], %[[PART]], %[[FRAG]])
  cute.copy(!copy, %part, %frag)
  return
}

// Parameters stand in texts.
// CHECK-LABEL: func.func private @open
func.func private @open(%A: !cute.any, %i: !cute.coord<"(?,?)">) attributes {cute.parameters = {N = 64, TILES = "tile"}} {
  // CHECK-DAG: cute.static : !cute.tile<"[$N:1;$N:1]">
  // CHECK-DAG: cute.static : !cute.tile<"$TILES">
  // CHECK-DAG: cute.static : !cute.coord<"(_,$(N/16))">
  // CHECK: cute.local_tile
  %a = cute.local_tile(%A, "[$N:1;$N:1]", %i)
  // CHECK: cute.local_tile
  %b = cute.local_tile(%A, "$TILES", %i)
  // CHECK: cute.slice
  %c = cute.slice(%A, "(_,$(N/16))")
  return
}
