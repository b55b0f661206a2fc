// Groups of rows: a block finds the group of its tile among the ends, and takes the rows from the group's first one on.
//
// RUN: cute-opt %s --cute-tile="arch=sm_80 tile=32x32x16 warps=1x2 stages=2" | FileCheck %s
// RUN: cute-opt %s --cute-tile="arch=sm_80 tile=32x32x16 warps=1x2 stages=2" | FileCheck %s --check-prefix=KERNEL
// RUN: cute-opt %s --cute-tile="arch=sm_90a instructions=wgmma tile=64x32x64" | FileCheck %s --check-prefix=ROLES
// RUN: cute-opt %s --cute-tile="arch=sm_90a instructions=wgmma tile=64x32x64" | cute-opt --cute-partition --cute-specialize-warps | FileCheck %s --check-prefix=CUT

!a = !cute.memref<f16, gmem, align<16>, "(100,128):(128,1)">
!b = !cute.memref<f16, gmem, align<16>, "(96,128,3):(128,1,12288)">
!c = !cute.memref<f16, gmem, align<16>, "(100,96):(96,1)">
!ends = !cute.memref<i32, gmem, "3:1">

// 100 / 32 + 3 places along M, and 3 tiles along N.
// CHECK-LABEL: func.func @known(
// CHECK-SAME:    groups = array<i64: 3>
// CHECK:         gpu.launch_func {{.*}} blocks in (%c18,
// KERNEL:       gpu.func @known_kernel({{.*}} known_grid_size = array<i32: 18, 1, 1>
// KERNEL:         arith.divui %{{.*}}, %c3_i32
// Of three groups two comparisons find one.
// KERNEL:         %[[END:.*]] = cute.memref.load(%arg3, %{{.*}})
// KERNEL:         %[[KEPT:.*]] = arith.minsi %[[END]], %c100_i32
// KERNEL:         arith.maxsi %[[KEPT]], %c0_i32
// KERNEL:         arith.cmpi ule
// KERNEL:         %[[HALF:.*]] = arith.select %{{.*}}, %{{.*}}, %c0_i32
// KERNEL:         cute.memref.load(%arg3, %{{.*}})
// KERNEL:         %[[GROUP:.*]] = arith.select %{{.*}}, %{{.*}}, %[[HALF]]
// Its first row is the end before it, and its end its own.
// KERNEL:         cute.memref.load(%arg3, %{{.*}})
// KERNEL:         %[[FIRST:.*]] = arith.select
// KERNEL:         cute.memref.load(%arg3, %{{.*}})
// KERNEL:         %[[THERE:.*]] = arith.cmpi ult
// KERNEL:         cute.make_coord(%[[FIRST]]) : {{.*}}"(?,0)">
// KERNEL:         cute.domain_offset(%{{.*}}, %arg0)
// KERNEL:         cute.make_coord(%[[GROUP]]) : {{.*}}"(_,_,?)">
// KERNEL:         cute.slice(%arg1,
// KERNEL:         cute.domain_offset(%{{.*}}, %arg2)
// A tile without rows has no turns.
// KERNEL:         %[[TURNS:.*]] = arith.select %[[THERE]], %c8_i32{{.*}}, %c0_i32
// KERNEL:         scf.for %{{.*}} to %[[TURNS]]

// A block stays: the tiles of all groups are counted once, and the group of each tile is the last one that no more tiles are before.
// ROLES:       gpu.func @known_kernel(
// ROLES:         %[[ALL:.*]]:2 = scf.for %[[AT:.*]] = %{{.*}} to %c3_i32 step %{{.*}} iter_args(%[[BEGIN:.*]] = %{{.*}}, %[[BEFORE:.*]] = %{{.*}})
// ROLES:           make_coord(%[[AT]])
// ROLES:           %[[END:.*]] = arith.maxsi %{{.*}}, %[[BEGIN]]
// ROLES:           %[[ROWS:.*]] = arith.subi %[[END]], %[[BEGIN]]
// ROLES:           arith.addi %[[ROWS]], %c63_i32
// ROLES:           %[[TILES:.*]] = arith.divui %{{.*}}, %c64_i32
// ROLES:           %[[BEHIND:.*]] = arith.addi %[[BEFORE]], %[[TILES]]
// ROLES:           scf.yield %[[END]], %[[BEHIND]]
// ROLES:         %[[TURNS:.*]] = arith.muli %[[ALL]]#1, %c3_i32
// ROLES:         scf.for %[[TURN:.*]] = %{{.*}} to %[[TURNS]] step
// ROLES:           %[[PLACE:.*]] = arith.divui %[[TURN]], %c3_i32
// ROLES:           %[[FOUND:.*]]:6 = scf.for
// ROLES:             arith.cmpi ule, %{{.*}}, %[[PLACE]]
// ROLES-NOT:       scf.if
// ROLES:           cute.make_coord(%[[FOUND]]#3)
// ROLES:           cute.domain_offset(%{{.*}}, %{{.*}}) : (!cute.coord<"(?,0)">, !cute.coord_tensor<
// ROLES:           cute_nvgpu.tma_load
// ROLES:           cute.block.copy C
// ROLES-NOT:       cute_nvgpu.tma_store

// Of groups whose number only a launch knows a block finds the group by its place, and leaves tiles without rows out.
// ROLES:       gpu.func @open_kernel(
// ROLES:         scf.for
// ROLES:           scf.if %{{.*}} {
// ROLES:             cute_nvgpu.tma_load
// ROLES:             cute.block.copy C

// Both roles read the ends.
// CUT:         gpu.func @known_kernel(
// CUT-COUNT-3:   cute.memref.load(%arg3,
func.func @known(%A: !a, %B: !b, %C: !c, %ends: !ends) {
  cute.contract ins(%A, %B : !a, !b) outs(%C : !c) accumulate f32 groups M(%ends : !ends)
  return
}

// The launch counts rows and groups.
!ao = !cute.memref<f16, gmem, align<16>, "(?,128):(128,1)">
!bo = !cute.memref<f16, gmem, align<16>, "(96,128,?):(128,1,12288)">
!co = !cute.memref<f16, gmem, align<16>, "(?,96):(96,1)">
!eo = !cute.memref<i64, gmem, "?:1">
// CHECK-LABEL: func.func @open(
// CHECK:         cf.assert %{{.*}}, "expected an end of a group for each matrix of B"
// CHECK:         cf.assert %{{.*}}, "expected at most 2147483647 rows in groups"
// CHECK:         cf.assert %{{.*}}, "expected 1 to 65536 groups of rows"
// CHECK:         %[[WHOLE:.*]] = arith.divsi
// CHECK:         %[[PLACES:.*]] = arith.addi %[[WHOLE]]
// CHECK:         arith.select %{{.*}}, %{{.*}}, %[[PLACES]]
func.func @open(%A: !ao, %B: !bo, %C: !co, %ends: !eo) {
  cute.contract ins(%A, %B : !ao, !bo) outs(%C : !co) accumulate f32 groups M(%ends : !eo)
  return
}
