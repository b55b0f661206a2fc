// A kernel whose layouts are known when it runs: on to PTX, and through ptxas.
//
// RUN: cute-opt %s --pass-pipeline='builtin.module(cute-lower-layouts,cse,gpu.module(convert-scf-to-cf,convert-gpu-to-nvvm{index-bitwidth=32},reconcile-unrealized-casts),cute-emit-ptx,cute-assemble)' | FileCheck %s
// RUN: cute-opt %s --pass-pipeline='builtin.module(cute-lower-layouts,gpu.module(convert-scf-to-cf,convert-gpu-to-nvvm{index-bitwidth=32},reconcile-unrealized-casts),cute-emit-ptx)' | FileCheck %s --check-prefix=ASSERTS
// RUN: cute-opt %s --pass-pipeline='builtin.module(cute-lower-layouts{checks=false},cse,gpu.module(convert-scf-to-cf,convert-gpu-to-nvvm{index-bitwidth=32},reconcile-unrealized-casts),cute-emit-ptx)' | FileCheck %s --check-prefix=BARE

// CHECK:     gpu.binary @kernels
// CHECK-SAME:  show = {{{.*}}stack = 16 : i32
// ASSERTS:   .visible .entry show({{.*}}call.uni __assertfail
// BARE:      gpu.binary @kernels
// BARE-SAME:   .visible .entry tiled(
// BARE-SAME:   ld.global
// BARE-SAME:   st.global
// BARE-SAME:   .visible .entry show(
// BARE-SAME:   vprintf
// BARE-NOT:  __assertfail
module attributes {gpu.container_module} {
  gpu.module @kernels [#nvvm.target<chip = "sm_80">] {
    // Element i of the column-major tensor goes to place i of its 8x4 tiles, one after the other.
    gpu.func @tiled(%in: !llvm.ptr<1>, %out: !llvm.ptr<1>, %m: i32, %n: i32, %ld: i32) kernel {
      %bx = gpu.block_id x
      %tx = gpu.thread_id x
      %b = arith.index_cast %bx : index to i32
      %t = arith.index_cast %tx : index to i32
      %threads = arith.constant 256 : i32
      %first = arith.muli %b, %threads : i32
      %i = arith.addi %first, %t : i32
      %s = cute.make_shape(%m, %n) : (i32, i32) -> !cute.shape<"(?,?)">
      %idx = cute.make_int_tuple(%i) : (i32) -> !cute.int_tuple<"?">
      %c = cute.idx2crd(%idx, %s) : (!cute.int_tuple<"?">, !cute.shape<"(?,?)">) -> !cute.coord<"(?,?)">
      %inside = cute.elem_less(%c, %s) : (!cute.coord<"(?,?)">, !cute.shape<"(?,?)">) -> i1
      scf.if %inside {
        %rd = cute.make_stride(%ld) : (i32) -> !cute.stride<"(?,1)">
        %rows = cute.make_layout(%s, %rd) : (!cute.shape<"(?,?)">, !cute.stride<"(?,1)">) -> !cute.layout<"(?,?):(?,1)">
        %from = cute.layout_eval(%c, %rows) : (!cute.coord<"(?,?)">, !cute.layout<"(?,?):(?,1)">) -> !cute.int_tuple<"?">
        %cd = cute.make_stride(%m) : (i32) -> !cute.stride<"(1,?)">
        %columns = cute.make_layout(%s, %cd) : (!cute.shape<"(?,?)">, !cute.stride<"(1,?)">) -> !cute.layout<"(?,?):(1,?)">
        %tile = cute.static : !cute.tile<"[8:1;4:1]">
        %z = cute.zipped_divide(%columns, %tile) : (!cute.layout<"(?,?):(1,?)">, !cute.tile<"[8:1;4:1]">) -> !cute.layout<"((8,4),(?,?)):((1,?),(8,?))">
        %at = cute.make_coord(%i) : (i32) -> !cute.coord<"?">
        %to = cute.layout_eval(%at, %z) : (!cute.coord<"?">, !cute.layout<"((8,4),(?,?)):((1,?),(8,?))">) -> !cute.int_tuple<"?">
        %f = cute.get_scalars(%from) : !cute.int_tuple<"?">
        %o = cute.get_scalars(%to) : !cute.int_tuple<"?">
        %pf = llvm.getelementptr %in[%f] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
        %po = llvm.getelementptr %out[%o] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
        %v = llvm.load %pf : !llvm.ptr<1> -> f32
        llvm.store %v, %po : f32, !llvm.ptr<1>
      }
      gpu.return
    }
    gpu.func @show(%m: i32, %n: i32, %k: i32) kernel {
      %s = cute.make_shape(%m, %n) : (i32, i32) -> !cute.shape<"(?,?)">
      %d = cute.make_stride(%m) : (i32) -> !cute.stride<"(1,?)">
      %l = cute.make_layout(%s, %d) : (!cute.shape<"(?,?)">, !cute.stride<"(1,?)">) -> !cute.layout<"(?,?):(1,?)">
      %t = cute.make_shape(%k) : (i32) -> !cute.shape<"?">
      %r = cute.composition(%l, %t) : (!cute.layout<"(?,?):(1,?)">, !cute.shape<"?">) -> !cute.layout<"(?,?):(1,?)">
      cute.print(%r) : !cute.layout<"(?,?):(1,?)">
      gpu.return
    }
  }
}
