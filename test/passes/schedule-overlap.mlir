// What one turn computes beside what the next one does: a product's unit, that of a function, and the first one again, 64, 48 and 64
// cycles, one behind the other. In program order a turn's last operation is in the turn's own interval; as a modulo schedule in the
// next one, beside the function of the next turn.
//
// RUN: cute-opt %s --cute-assign-latencies --cute-schedule --split-input-file | FileCheck %s --check-prefix=ORDER
// RUN: cute-opt %s --cute-assign-latencies --cute-schedule=overlap=true --split-input-file | FileCheck %s --check-prefix=OVERLAP
// RUN: cute-opt %s --cute-assign-latencies --cute-schedule=overlap=true --cute-expand-pipeline --split-input-file | FileCheck %s --check-prefix=EXPAND
// RUN: cute-opt %s --cute-assign-latencies --cute-schedule=overlap=true --cute-print-schedule --split-input-file -o %t.mlir | FileCheck %s --check-prefix=TEXT

!t = !cute.memref<f32, gmem, align<4>, "1024:1">

// ORDER-LABEL: gpu.func @two_units
// ORDER:         cute.memref.load{{.*}}cute.stage = 0
// ORDER:         arith.mulf {{.*}}cute.stage = 1
// ORDER:         math.exp2 {{.*}}cute.stage = 1
// ORDER:         arith.addf {{.*}}cute.stage = 1
// OVERLAP-LABEL: gpu.func @two_units
// OVERLAP:         cute.memref.load{{.*}}cute.stage = 0
// OVERLAP:         arith.mulf {{.*}}cute.stage = 1
// OVERLAP:         math.exp2 {{.*}}cute.stage = 1
// OVERLAP:         arith.addf {{.*}}cute.stage = 2

// The loop hands the function's result and the sum on, and what was loaded ahead.
// EXPAND-LABEL: gpu.func @two_units
// EXPAND:         scf.if
// EXPAND:           scf.for {{.*}} iter_args(%[[X:.*]] = %{{.*}}, %[[E:.*]] = %{{.*}}, %[[SUM:.*]] = %{{.*}}) -> (f32, f32, f32)
// EXPAND-DAG:         %[[NEXT:.*]] = cute.memref.load
// EXPAND-DAG:         %[[M:.*]] = arith.mulf %[[X]], %{{.*}}
// EXPAND-DAG:         %[[E2:.*]] = math.exp2 %[[M]]
// EXPAND-DAG:         %[[S2:.*]] = arith.addf %[[SUM]], %[[E]]
// EXPAND:             scf.yield %[[NEXT]], %[[E2]], %[[S2]]

// TEXT:      two_units, the loop at {{.*}}: 3 stages, a turn every 135 cycles at least
// TEXT-NEXT: unit        busy  of a turn
// TEXT-NEXT: issue        135      100 %
gpu.module @kernels [#nvvm.target<chip = "sm_90">] {
  gpu.func @two_units(%g: !t, %out: !t, %n: i32, %f: f32, %zero: f32) kernel attributes {cute.synchronize} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %zero) -> (f32) : i32 {
      %at = cute.make_coord(%k) : (i32) -> !cute.coord<"?">
      %x = cute.memref.load(%g, %at) : (!t, !cute.coord<"?">) -> f32
      %a = arith.mulf %x, %f {cute.unit = "arithmetic", cute.cycles = 64 : i32, cute.latency = 66 : i32} : f32
      %b = math.exp2 %a {cute.unit = "special", cute.cycles = 48 : i32, cute.latency = 50 : i32} : f32
      %s = arith.addf %sum, %b {cute.unit = "arithmetic", cute.cycles = 64 : i32, cute.latency = 66 : i32} : f32
      scf.yield %s : f32
    } {cute.stages = 2 : i64}
    %at = cute.make_coord(%c0) : (i32) -> !cute.coord<"?">
    cute.memref.store(%out, %at, %r) : (!t, !cute.coord<"?">, f32) -> ()
    gpu.return
  }
}

// -----

!t = !cute.memref<f32, gmem, align<4>, "1024:1">

// What is handed over would need a quarter more registers: program order.
// OVERLAP-LABEL: gpu.func @too_many_registers
// OVERLAP:         arith.mulf {{.*}}cute.stage = 1
// OVERLAP:         math.exp2 {{.*}}cute.stage = 1
// OVERLAP:         arith.addf {{.*}}cute.stage = 1
gpu.module @kernels [#nvvm.target<chip = "sm_90">] {
  gpu.func @too_many_registers(%g: !t, %out: !t, %n: i32, %f: vector<64xf32>, %zero: vector<64xf32>) kernel attributes {cute.synchronize} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %zero) -> (vector<64xf32>) : i32 {
      %at = cute.make_coord(%k) : (i32) -> !cute.coord<"?">
      %x = cute.memref.load(%g, %at) : (!t, !cute.coord<"?">) -> f32
      %v = vector.broadcast %x : f32 to vector<64xf32>
      %a = arith.mulf %v, %f : vector<64xf32>
      %b = math.exp2 %a {cute.cycles = 48 : i32, cute.latency = 50 : i32} : vector<64xf32>
      %s = arith.addf %sum, %b : vector<64xf32>
      scf.yield %s : vector<64xf32>
    } {cute.stages = 2 : i64}
    %y = vector.reduction <add>, %r : vector<64xf32> into f32
    %at = cute.make_coord(%c0) : (i32) -> !cute.coord<"?">
    cute.memref.store(%out, %at, %y) : (!t, !cute.coord<"?">, f32) -> ()
    gpu.return
  }
}
