// Two blocks of a cluster that arrive at each other's mbarriers, in the forms in which CuTe DSL prints that: the pointer as it is in the other block, an arrival of cluster scope, an
// attempt in a loop and a wait. Nobody waits for ever, and what was read before the arrival is not written over while it is read.
//
// RUN: cute-opt %s --cute-compile="arch=sm_90a package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator --sms 2 --seeds 3 --no-verify | FileCheck %s
// RUN: cute-opt %s --cute-compile="arch=sm_90a package=%t.w.cutepkg watchdog=true" -o /dev/null
// RUN: cute-run %t.w.cutepkg --device=emulator --sms 2 --no-verify | FileCheck %s
//
// CHECK: no findings

!rows = !cute.memref<f32, gmem, align<16>, "(2,128):(128,1)">
module attributes {gpu.container_module} {
  gpu.module @kernels {
    // Each block writes the row that the other one has read.
    gpu.func @exchange_rows(%A: !rows) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %c128 = arith.constant 128 : i32
      %ticks = arith.constant 10000000 : i32
      %t = nvvm.read.ptx.sreg.tid.x range <i32, 0, 1024> : i32
      %rank = nvvm.read.ptx.sreg.cluster.ctarank : i32
      %other = arith.xori %rank, %c1 : i32
      %smem = cute_nvgpu.arch.get_dyn_smem() : !cute.ptr<i8, smem, align<1024>>
      %first = cute.recast_iter(%smem) : !cute.ptr<i8, smem, align<1024>> to !cute.ptr<i64, smem, align<1024>>
      %one = cute.make_int_tuple() : () -> !cute.int_tuple<"1">
      %second = cute.add_offset(%first, %one) : (!cute.ptr<i64, smem, align<1024>>, !cute.int_tuple<"1">) -> !cute.ptr<i64, smem>
      %read = builtin.unrealized_conversion_cast %first : !cute.ptr<i64, smem, align<1024>> to !llvm.ptr<3>
      %written = builtin.unrealized_conversion_cast %second : !cute.ptr<i64, smem> to !llvm.ptr<3>
      %is = arith.cmpi eq, %t, %c0 : i32
      scf.if %is {
        nvvm.mbarrier.init.shared %read, %c128 : !llvm.ptr<3>, i32
        nvvm.mbarrier.init.shared %written, %c128 : !llvm.ptr<3>, i32
        nvvm.fence.mbarrier.init
      }
      nvvm.cluster.arrive.relaxed
      nvvm.cluster.wait

      %own = cute.make_coord(%rank, %t) : (i32, i32) -> !cute.coord<"(?,?)">
      %at = cute.make_coord(%other, %t) : (i32, i32) -> !cute.coord<"(?,?)">
      %x = cute.memref.load(%A, %own) : (!rows, !cute.coord<"(?,?)">) -> f32
      // The other block may write this row now.
      %there = nvvm.mapa.shared.cluster %read, %other : !llvm.ptr<3>, i32 -> <3>
      nvvm.mbarrier.txn %there, %c1 {kind = #nvvm.mbar_txn_kind<arrive>, space = #nvvm.mbar_space<cluster>} : !llvm.ptr<3>, i32
      scf.while : () -> () {
        %done = nvvm.mbarrier.wait.parity %read, %c0 {kind = #nvvm.mbar_wait<try>} : !llvm.ptr<3>, i32 -> i1
        %false = arith.constant false
        %again = arith.cmpi eq, %done, %false : i1
        scf.condition(%again)
      } do {
        scf.yield
      }
      cute.memref.store(%A, %at, %x) : (!rows, !cute.coord<"(?,?)">, f32) -> ()
      nvvm.mbarrier.txn %written, %c1 {kind = #nvvm.mbar_txn_kind<arrive>} : !llvm.ptr<3>, i32
      nvvm.mbarrier.try_wait.parity.shared %written, %c0, %ticks : !llvm.ptr<3>, i32, i32
      nvvm.cluster.arrive
      nvvm.cluster.wait
      gpu.return
    }
  }

  func.func @exchange(%A: !rows {cute.name = "A"}) {
    %one = arith.constant 1 : index
    %two = arith.constant 2 : index
    %threads = arith.constant 128 : index
    %bytes = arith.constant 16 : i32
    gpu.launch_func @kernels::@exchange_rows clusters in (%two, %one, %one) blocks in (%two, %one, %one) threads in (%threads, %one, %one)
      dynamic_shared_memory_size %bytes args(%A : !rows)
    return
  }
}
