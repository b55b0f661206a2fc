// Barriers in shared memory, fences and pointers to shared memory, as CuTe DSL prints them: the ops of NVIDIA's own NVVM dialect are read as those that are here.
//
// RUN: cute-opt %s --split-input-file | FileCheck %s
// RUN: cute-opt %s --split-input-file | cute-opt --split-input-file | FileCheck %s
// RUN: cute-opt %s --split-input-file --mlir-print-op-generic | cute-opt --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @pretty(
// CHECK-SAME:    %[[P:.+]]: !cute.ptr<i64, smem>, %[[N:.+]]: i32, %[[PHASE:.+]]: i32, %[[R:.+]]: i32)
// CHECK-NEXT:  %[[L:.+]] = builtin.unrealized_conversion_cast %[[P]] : !cute.ptr<i64, smem> to !llvm.ptr<3>
// CHECK-NEXT:  cute_nvgpu.mbarrier_init %[[L]], %[[N]] : !llvm.ptr<3>
// CHECK-NEXT:  nvvm.fence.mbarrier.init
// CHECK-NEXT:  cute_nvgpu.mbarrier_arrive_and_expect_tx %[[L]], %[[N]] : !llvm.ptr<3>
// CHECK-NEXT:  cute_nvgpu.mbarrier_expect_tx %[[L]], %[[N]] : !llvm.ptr<3>
// CHECK-NEXT:  nvvm.mbarrier.arrive %[[L]], %[[N]] : !llvm.ptr<3> -> i64
// CHECK-NEXT:  %[[THERE:.+]] = nvvm.mapa %[[L]], %[[R]] : !llvm.ptr<3> -> !llvm.ptr<7>
// CHECK-NEXT:  nvvm.mbarrier.arrive %[[THERE]], %[[N]] : !llvm.ptr<7>
// CHECK-NEXT:  cute_nvgpu.cp_async_mbarrier_arrive %[[L]] noinc : !llvm.ptr<3>
// CHECK-NEXT:  cute_nvgpu.mbarrier_wait %[[L]], %[[PHASE]] : !llvm.ptr<3>
// CHECK-NEXT:  cute_nvgpu.mbarrier_try_wait %[[L]], %[[PHASE]] : !llvm.ptr<3>
func.func @pretty(%p: !cute.ptr<i64, smem>, %n: i32, %phase: i32, %rank: i32) {
  %0 = builtin.unrealized_conversion_cast %p : !cute.ptr<i64, smem> to !llvm.ptr<3>
  nvvm.mbarrier.init.shared %0, %n : !llvm.ptr<3>, i32
  nvvm.fence.mbarrier.init
  nvvm.mbarrier.txn %0, %n {kind = #nvvm.mbar_txn_kind<arrive_expect_tx>} : !llvm.ptr<3>, i32
  nvvm.mbarrier.txn %0, %n {kind = #nvvm.mbar_txn_kind<expect_tx>} : !llvm.ptr<3>, i32
  nvvm.mbarrier.txn %0, %n {kind = #nvvm.mbar_txn_kind<arrive>} : !llvm.ptr<3>, i32
  %1 = nvvm.mapa.shared.cluster %0, %rank : !llvm.ptr<3>, i32 -> <3>
  nvvm.mbarrier.txn %1, %n {kind = #nvvm.mbar_txn_kind<arrive>, space = #nvvm.mbar_space<cluster>} : !llvm.ptr<3>, i32
  nvvm.cp.async.mbarrier.arrive.shared %0 {noinc = true} : !llvm.ptr<3>
  nvvm.mbarrier.try_wait.parity.shared %0, %phase, %n : !llvm.ptr<3>, i32, i32
  %2 = nvvm.mbarrier.wait.parity %0, %phase {kind = #nvvm.mbar_wait<try>} : !llvm.ptr<3>, i32 -> i1
  return
}

// -----

// As it is between the passes, with the scopes and spaces of later versions.
//
// CHECK-LABEL: func.func @generic(
// CHECK-SAME:    %[[P:.+]]: !cute.ptr<i64, smem, align<16>>, %[[N:.+]]: i32, %[[PHASE:.+]]: i32, %[[R:.+]]: i32)
// CHECK-NEXT:  %[[L:.+]] = builtin.unrealized_conversion_cast %[[P]] : !cute.ptr<i64, smem, align<16>> to !llvm.ptr<3>
// CHECK-NEXT:  cute_nvgpu.mbarrier_init %[[L]], %[[N]] : !llvm.ptr<3>
// CHECK-NEXT:  nvvm.fence.mbarrier.init
// CHECK-NEXT:  nvvm.barrier
// CHECK-NEXT:  nvvm.barrier id = %[[N]] number_of_threads = %[[R]]
// CHECK-NEXT:  cute_nvgpu.mbarrier_arrive_and_expect_tx %[[L]], %[[N]] : !llvm.ptr<3>
// CHECK-NEXT:  nvvm.mbarrier.arrive %[[L]], %[[N]] : !llvm.ptr<3> -> i64
// CHECK-NEXT:  %[[THERE:.+]] = nvvm.mapa %[[L]], %[[R]] : !llvm.ptr<3> -> !llvm.ptr<7>
// CHECK-NEXT:  nvvm.mbarrier.arrive %[[THERE]], %[[N]] : !llvm.ptr<7>
// CHECK-NEXT:  cute_nvgpu.cp_async_mbarrier_arrive %[[L]] noinc : !llvm.ptr<3>
// CHECK-NEXT:  cute_nvgpu.mbarrier_wait %[[L]], %[[PHASE]] : !llvm.ptr<3>
// CHECK-NEXT:  cute_nvgpu.mbarrier_try_wait %[[L]], %[[PHASE]] : !llvm.ptr<3>
"func.func"() <{function_type = (!cute.ptr<i64, smem, align<16>>, i32, i32, i32) -> (), sym_name = "generic"}> ({
^bb0(%p: !cute.ptr<i64, smem, align<16>>, %n: i32, %phase: i32, %rank: i32):
  %0 = "builtin.unrealized_conversion_cast"(%p) : (!cute.ptr<i64, smem, align<16>>) -> !llvm.ptr<3>
  "nvvm.mbarrier.init.shared"(%0, %n) : (!llvm.ptr<3>, i32) -> ()
  "nvvm.fence.mbarrier.init"() <{useIntrinsic = false}> : () -> ()
  "nvvm.barrier"() <{operandSegmentSizes = array<i32: 0, 0>}> : () -> ()
  "nvvm.barrier"(%n, %rank) <{operandSegmentSizes = array<i32: 1, 1>}> : (i32, i32) -> ()
  "nvvm.mbarrier.txn"(%0, %n) <{kind = #nvvm.mbar_txn_kind<arrive_expect_tx>, scope = #nvvm.mbar_scope<cta>, space = #nvvm.mbar_space<cta>}> : (!llvm.ptr<3>, i32) -> ()
  "nvvm.mbarrier.txn"(%0, %n) <{kind = #nvvm.mbar_txn_kind<arrive>, scope = #nvvm.mbar_scope<cta>, space = #nvvm.mbar_space<cta>}> : (!llvm.ptr<3>, i32) -> ()
  %1 = "nvvm.mapa.shared.cluster"(%0, %rank) : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>
  "nvvm.mbarrier.txn"(%1, %n) <{kind = #nvvm.mbar_txn_kind<arrive>, scope = #nvvm.mbar_scope<cta>, space = #nvvm.mbar_space<cluster>}> : (!llvm.ptr<3>, i32) -> ()
  "nvvm.cp.async.mbarrier.arrive.shared"(%0) <{noinc = true}> : (!llvm.ptr<3>) -> ()
  "nvvm.mbarrier.try_wait.parity.shared"(%0, %phase, %n) <{useIntrinsic = false}> : (!llvm.ptr<3>, i32, i32) -> ()
  %2 = "nvvm.mbarrier.wait.parity"(%0, %phase) <{kind = #nvvm.mbar_wait<try>, scope = #nvvm.mbar_scope<cta>}> : (!llvm.ptr<3>, i32) -> i1
  "func.return"() : () -> ()
}) : () -> ()

// -----

// A pointer of CuTe's stands for an mbarrier as one of LLVM's does.
//
// CHECK-LABEL: func.func @pointers(
// CHECK:       %[[P:.+]] = cute_nvgpu.arch.get_dyn_smem() : !cute.ptr<i8, smem, align<1024>>
// CHECK-NEXT:  cute_nvgpu.arch.get_dyn_smem_size() : i32
// CHECK-NEXT:  %[[B:.+]] = cute.recast_iter(%[[P]]) : !cute.ptr<i8, smem, align<1024>> to !cute.ptr<i64, smem, align<1024>>
// CHECK-NEXT:  cute_nvgpu.mbarrier_init %[[B]], %{{.+}} : !cute.ptr<i64, smem, align<1024>>
// CHECK-NEXT:  cute_nvgpu.mbarrier_arrive %[[B]] : !cute.ptr<i64, smem, align<1024>>
func.func @pointers(%n: i32) {
  %0 = cute_nvgpu.arch.get_dyn_smem() : !cute.ptr<i8, smem, align<1024>>
  %1 = "cute_nvgpu.arch.get_dyn_smem_size"() : () -> i32
  %2 = cute.recast_iter(%0) : !cute.ptr<i8, smem, align<1024>> to !cute.ptr<i64, smem, align<1024>>
  cute_nvgpu.mbarrier_init %2, %n : !cute.ptr<i64, smem, align<1024>>
  cute_nvgpu.mbarrier_arrive %2
  return
}
