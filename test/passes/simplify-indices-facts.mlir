// Facts that cute-simplify-indices has of the integers of a kernel, seen by what becomes of comparisons, signs and divisions.
//
// RUN: cute-opt %s --cute-simplify-indices --cse | FileCheck %s

gpu.module @kernels {
  // An extent that the kernel asserts, a multiple of 64: nothing is left over, and sixteenths rounded up to 64 are a shift. The
  // assertion stays.
  // CHECK-LABEL: gpu.func @asserted
  // CHECK: arith.cmpi sle
  // CHECK-NEXT: cf.assert
  // CHECK-NEXT: %[[TILES:.*]] = arith.shrui %arg1, %c10_i32
  // CHECK-NEXT: llvm.store %[[TILES]]
  gpu.func @asserted(%p: !llvm.ptr<1>, %n: i32 {cute.divisor = 64 : i64}) kernel {
    %c1 = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    %some = arith.cmpi sle, %c1, %n : i32
    cf.assert %some, "an extent of at least 1"
    %q = arith.divsi %n, %c64 : i32
    %whole = arith.muli %q, %c64 : i32
    %left = arith.subi %n, %whole : i32
    %c16 = arith.constant 16 : i32
    %quarter = arith.divsi %n, %c16 : i32
    %c3 = arith.constant 3 : i32
    %more = arith.addi %quarter, %c3 : i32
    %r = arith.divsi %more, %c64 : i32
    %s = arith.addi %r, %left : i32
    llvm.store %s, %p : i32, !llvm.ptr<1>
    gpu.return
  }

  // Nothing is known of an argument alone: signs stay.
  // CHECK-LABEL: gpu.func @unknown
  // CHECK: arith.divsi
  // CHECK: arith.extsi
  gpu.func @unknown(%p: !llvm.ptr<1>, %n: i32) kernel {
    %c64 = arith.constant 64 : i32
    %q = arith.divsi %n, %c64 : i32
    %w = arith.extsi %q : i32 to i64
    llvm.store %w, %p : i64, !llvm.ptr<1>
    gpu.return
  }

  // The least value and the divisor of an argument: eight columns are there or they are not, by one comparison.
  // CHECK-LABEL: gpu.func @of_arguments
  // CHECK: arith.cmpi ult
  // CHECK-NOT: arith.cmpi
  // CHECK: gpu.return
  gpu.func @of_arguments(%p: !llvm.ptr<1>, %n: i32 {cute.least = 0 : i64, cute.divisor = 8 : i64}) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c2 = arith.constant 2 : i32
    %c4 = arith.constant 4 : i32
    %c8 = arith.constant 8 : i32
    %x = gpu.thread_id x
    %t = arith.index_cast %x : index to i32
    %a = arith.muli %t, %c8 : i32
    %b = arith.addi %a, %c2 : i32
    %c = arith.addi %a, %c4 : i32
    %pa = arith.cmpi slt, %a, %n : i32
    %pb = arith.cmpi slt, %b, %n : i32
    %pc = arith.cmpi slt, %c, %n : i32
    llvm.store %pa, %p : i1, !llvm.ptr<1>
    llvm.store %pb, %p : i1, !llvm.ptr<1>
    llvm.store %pc, %p : i1, !llvm.ptr<1>
    gpu.return
  }

  // A tile that is whole, by the sizes of block and grid: nothing is compared.
  // CHECK-LABEL: gpu.func @whole
  // CHECK-NOT: arith.cmpi
  // CHECK-NOT: scf.if %{{[0-9]+}}
  // CHECK: gpu.return
  gpu.func @whole(%p: !llvm.ptr<1>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 4, 1, 1>} {
    %c128 = arith.constant 128 : i32
    %c512 = arith.constant 512 : i32
    %x = gpu.thread_id x
    %b = gpu.block_id x
    %t = arith.index_cast %x : index to i32
    %block = arith.index_cast %b : index to i32
    %start = arith.muli %block, %c128 : i32
    %at = arith.addi %start, %t : i32
    %there = arith.cmpi slt, %at, %c512 : i32
    scf.if %there {
      llvm.store %t, %p : i32, !llvm.ptr<1>
    }
    gpu.return
  }

  // Limits of the hardware: a thread index fits 10 bits in any block, and as 64 bits needs no sign.
  // CHECK-LABEL: gpu.func @limits
  // CHECK-NOT: arith.extsi
  // CHECK-NOT: arith.cmpi
  // CHECK: arith.extui
  gpu.func @limits(%p: !llvm.ptr<1>) kernel {
    %c1024 = arith.constant 1024 : i32
    %x = gpu.thread_id x
    %t = arith.index_cast %x : index to i32
    %w = arith.extsi %t : i32 to i64
    %below = arith.cmpi slt, %t, %c1024 : i32
    llvm.store %w, %p : i64, !llvm.ptr<1>
    llvm.store %below, %p : i1, !llvm.ptr<1>
    gpu.return
  }

  // The place of a ring, which a loop carries: it is 0, 1 or 2, so that what is added to an offset moves into the address.
  // CHECK-LABEL: gpu.func @ring
  // CHECK: scf.for
  // CHECK: %[[BASE:.*]] = llvm.getelementptr %arg0[%{{.*}}] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
  // CHECK: llvm.getelementptr %[[BASE]][4096]
  // CHECK: llvm.getelementptr %[[BASE]][8192]
  // CHECK: scf.yield
  gpu.func @ring(%p: !llvm.ptr<3>, %n: i32) kernel {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c3 = arith.constant 3 : i32
    %c4096 = arith.constant 4096 : i32
    %c8192 = arith.constant 8192 : i32
    %c16384 = arith.constant 16384 : i32
    %last = scf.for %k = %c0 to %n step %c1 iter_args(%place = %c0) -> (i32) : i32 {
      %start = arith.muli %place, %c16384 : i32
      %a = arith.addi %start, %c4096 : i32
      %b = arith.addi %start, %c8192 : i32
      %pa = llvm.getelementptr %p[%a] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
      %pb = llvm.getelementptr %p[%b] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
      %v = llvm.load %pa : !llvm.ptr<3> -> i32
      llvm.store %v, %pb : i32, !llvm.ptr<3>
      %after = arith.addi %place, %c1 : i32
      %over = arith.cmpi eq, %after, %c3 : i32
      %next = arith.select %over, %c0, %after : i32
      scf.yield %next : i32
    }
    llvm.store %last, %p : i32, !llvm.ptr<3>
    gpu.return
  }

  // What a loop adds up may be anything: it keeps its sign.
  // CHECK-LABEL: gpu.func @sum
  // CHECK: arith.extsi
  gpu.func @sum(%p: !llvm.ptr<1>, %n: i32) kernel {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %all = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %c0) -> (i32) : i32 {
      %w = arith.extsi %sum : i32 to i64
      llvm.store %w, %p : i64, !llvm.ptr<1>
      %next = arith.addi %sum, %n : i32
      scf.yield %next : i32
    }
    gpu.return
  }

  // A loop's counter: from 0 on, below what is 32 bits wide, and a multiple of 4.
  // CHECK-LABEL: gpu.func @counter
  // CHECK-NOT: arith.remsi
  // CHECK-NOT: arith.extsi
  // CHECK: gpu.return
  gpu.func @counter(%p: !llvm.ptr<1>) kernel {
    %c0 = arith.constant 0 : i32
    %c4 = arith.constant 4 : i32
    %c4000 = arith.constant 4000 : i32
    scf.for %k = %c0 to %c4000 step %c4 : i32 {
      %left = arith.remsi %k, %c4 : i32
      %sum = arith.addi %k, %left : i32
      %w = arith.extsi %sum : i32 to i64
      llvm.store %w, %p : i64, !llvm.ptr<1>
    }
    gpu.return
  }

  // A store comes before the assertion: nothing follows from it for what was stored.
  // CHECK-LABEL: gpu.func @too_late
  // CHECK: arith.divsi
  gpu.func @too_late(%p: !llvm.ptr<1>, %n: i32) kernel {
    %c1 = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    %q = arith.divsi %n, %c64 : i32
    llvm.store %q, %p : i32, !llvm.ptr<1>
    %some = arith.cmpi sle, %c1, %n : i32
    cf.assert %some, "an extent of at least 1"
    gpu.return
  }
}
