// Locations that a front end gives: names are steps, of several places the first counts, and what has none
// is nowhere.
//
// RUN: cute-opt %s --cute-emit-ptx --split-input-file -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// ptxas takes it.
// RUN: cute-opt %t.mlir --split-input-file --cute-assemble -o /dev/null

// A name of which PTX has no letters; what was inlined is where it was written, with the call. A call without a
// location does no harm.
// CHECK-LABEL: @host
// CHECK:       assembly = "
// CHECK-SAME:  kept(
// CHECK-SAME:  .loc\091 3 1\0A
// CHECK-SAME:  ld.volatile
// CHECK-SAME:  .entry k(
// CHECK-SAME:  .loc\091 6 1\0A
// CHECK-SAME:  .loc\091 7 5\0A\09.loc\091 7 5, function_name $L__info_string0, inlined_at 1 7 5\0A\09mov.u32
// CHECK-SAME:  .loc\091 7 5\0A\09st.volatile
// CHECK-SAME:  .loc\091 0 0\0A
// CHECK-SAME:  call.uni
// CHECK-SAME:  .loc\092 9 2\0A\09.loc\092 9 2, function_name $L__info_string1, inlined_at 2 9 2\0A\09st.volatile
// CHECK-SAME:  .loc\093 2 3\0A\09ret;
// CHECK-SAME:  }\0A\09.file\091 \22dir/na%C3%AFve %25.py\22\0A\09.file\092 \22b.py\22\0A\09.file\093 \22c.py\22\0A\09.section\09.debug_str\0A\09{\0A$L__info_string0:\0A\09.b8 105,100,120,0\0A$L__info_string1:\0A\09.b8 99,97,108,108,101,100,32,102,114,111,109,32,97,46,112,121,58,49,58,49,0\0A\09}\0A">
module attributes {gpu.container_module} {
  func.func private @host()
  gpu.module @kernels [#nvvm.target<chip = "sm_80", features = "+ptx80">] {
    llvm.func internal @kept(%p: !llvm.ptr<1>) -> i32 attributes {passthrough = ["noinline"]} {
      %x = llvm.load volatile %p : !llvm.ptr<1> -> i32 loc("dir/naïve %.py":3:1)
      llvm.return %x : i32 loc("dir/naïve %.py":3:1)
    } loc("dir/naïve %.py":3:1)
    llvm.func @k(%to: !llvm.ptr<1>) attributes {gpu.kernel, nvvm.kernel} {
      %x = nvvm.read.ptx.sreg.tid.x : i32 loc(fused[unknown, "idx"("inner"("dir/naïve %.py":7:5))])
      llvm.store volatile %x, %to : i32, !llvm.ptr<1> loc("dir/naïve %.py":7:5)
      %y = llvm.call @kept(%to) : (!llvm.ptr<1>) -> i32 loc(unknown)
      llvm.store volatile %y, %to : i32, !llvm.ptr<1> loc(callsite("b.py":9:2 at "a.py":1:1))
      llvm.return loc(fused<"more">["c.py":2:3, "d.py":4:5])
    } loc("dir/naïve %.py":6:1)
  }
}

// -----

// Nothing is said of what is from nowhere.
// CHECK-LABEL: @nowhere
// CHECK:       .visible .entry k
// CHECK-NOT:   .loc
// CHECK-NOT:   .file
// CHECK-NOT:   .section
module attributes {gpu.container_module} {
  func.func private @nowhere()
  gpu.module @kernels [#nvvm.target<chip = "sm_80">] {
    llvm.func @k(%to: !llvm.ptr<1>) attributes {gpu.kernel, nvvm.kernel} {
      %x = nvvm.read.ptx.sreg.tid.x : i32 loc(unknown)
      llvm.store %x, %to : i32, !llvm.ptr<1> loc("x.py":0:0)
      llvm.return loc("a step"(unknown))
    } loc(unknown)
  }
}

// -----

// PTX before 7.2 has no steps.
// CHECK-LABEL: @early
// CHECK:       .version 7.1
// CHECK-SAME:  .loc\091 7 5\0A\09mov.u32
// CHECK-SAME:  .file\091 \22a.py\22
// CHECK-NOT:   debug_str
module attributes {gpu.container_module} {
  func.func private @early()
  gpu.module @kernels [#nvvm.target<chip = "sm_80", features = "+ptx71">] {
    llvm.func @k(%to: !llvm.ptr<1>) attributes {gpu.kernel, nvvm.kernel} {
      %x = nvvm.read.ptx.sreg.tid.x : i32 loc("idx"("a.py":7:5))
      llvm.store %x, %to : i32, !llvm.ptr<1> loc("idx"("a.py":7:5))
      llvm.return loc("a.py":7:5)
    } loc("a.py":6:1)
  }
}

// -----

// What a loop carries from turn to turn is from where the argument of the block is: a line like those of operations.
// CHECK-LABEL: @turns
// CHECK:       .loc\091 9 5\0A\09mov
// CHECK-SAME:  .file\091 \22a.py\22
module attributes {gpu.container_module} {
  func.func private @turns()
  gpu.module @kernels [#nvvm.target<chip = "sm_80">] {
    llvm.func @k(%to: !llvm.ptr<1>, %n: i32, %by: i32) attributes {gpu.kernel, nvvm.kernel} {
      %zero = llvm.mlir.constant(0 : i32) : i32 loc("a.py":1:1)
      %one = llvm.mlir.constant(1 : i32) : i32 loc("a.py":1:1)
      llvm.br ^bb1(%zero, %n, %by : i32, i32, i32) loc("a.py":2:1)
    ^bb1(%i: i32 loc("a.py":9:5), %x: i32 loc("a.py":9:5), %y: i32 loc("a.py":9:5)):
      llvm.store volatile %y, %to : i32, !llvm.ptr<1> loc("a.py":5:1)
      %read = llvm.load volatile %to : !llvm.ptr<1> -> i32 loc("a.py":5:1)
      llvm.store volatile %x, %to : i32, !llvm.ptr<1> loc("a.py":5:1)
      %next = llvm.add %i, %one : i32 loc("a.py":6:1)
      %more = llvm.icmp "slt" %read, %n : i32 loc("a.py":3:1)
      llvm.cond_br %more, ^bb1(%next, %read, %x : i32, i32, i32), ^bb3 loc("a.py":3:1)
    ^bb3:
      llvm.store volatile %i, %to : i32, !llvm.ptr<1> loc("a.py":5:1)
      llvm.store volatile %x, %to : i32, !llvm.ptr<1> loc("a.py":5:1)
      llvm.store volatile %y, %to : i32, !llvm.ptr<1> loc("a.py":5:1)
      llvm.return loc("a.py":7:1)
    } loc("a.py":1:1)
  }
}
