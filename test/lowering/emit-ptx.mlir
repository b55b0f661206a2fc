// GPU modules in the LLVM dialect become a gpu.binary of PTX.
//
// RUN: cute-opt %s --cute-emit-ptx --split-input-file -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// What came out is read again.
// RUN: cute-opt %t.mlir --split-input-file | FileCheck %s

// What an earlier pass has noted of the kernel goes along; functions that are no kernels are not noted.
// CHECK-LABEL: @host
// CHECK-NOT:   gpu.module
// CHECK:       gpu.binary @kernels
// CHECK-SAME:    #gpu.object<#nvvm.target<chip = "sm_80">, properties = {copy = {
// CHECK-SAME:    dynamic_smem = 256 : i32, place = ["{{.*}}emit-ptx.mlir", {{[0-9]+}}, {{[0-9]+}}]}},
// CHECK-SAME:    assembly = "
// CHECK-SAME:    .target sm_80
// CHECK-SAME:    .visible .entry copy(
// CHECK-SAME:    .param .u64 .ptr .global .align 16 copy_param_0
// CHECK-SAME:    .reqntid 64, 1, 1
// CHECK-SAME:    ld.global.{{(nc\.)?}}v4
// CHECK-SAME:    st.global.v4
// CHECK-NOT:   bin =
module attributes {gpu.container_module} {
  func.func private @host()
  gpu.module @kernels [#nvvm.target<chip = "sm_80">] {
    llvm.func internal @place(%tid: i32) -> i32 attributes {passthrough = ["noinline"]} {
      llvm.return %tid : i32
    }
    llvm.func @copy(%from: !llvm.ptr<1> {llvm.align = 16 : i32, llvm.noalias}, %to: !llvm.ptr<1> {llvm.align = 16 : i32, llvm.noalias})
        attributes {gpu.kernel, nvvm.kernel, nvvm.reqntid = array<i32: 64, 1, 1>, cute.dynamic_smem = 256 : i64} {
      %x = nvvm.read.ptx.sreg.tid.x : i32
      %tid = llvm.call @place(%x) : (i32) -> i32
      %p = llvm.getelementptr %from[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, !llvm.array<4 x i32>
      %q = llvm.getelementptr %to[%tid] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, !llvm.array<4 x i32>
      %v = llvm.load %p {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xi32>
      llvm.store %v, %q {alignment = 16 : i64} : vector<4xi32>, !llvm.ptr<1>
      llvm.return
    }
  }
}

// -----

// Two targets, two objects.
// CHECK-LABEL: @host2
// CHECK:       gpu.binary @kernels
// CHECK-SAME:    chip = "sm_80"{{.*}}assembly = "{{.*}}.target sm_80{{.*}}chip = "sm_90a"{{.*}}assembly = "{{.*}}.target sm_90a
module attributes {gpu.container_module} {
  func.func private @host2()
  gpu.module @kernels [#nvvm.target<chip = "sm_80">, #nvvm.target<chip = "sm_90a">] {
    llvm.func @nothing() attributes {gpu.kernel, nvvm.kernel} {
      llvm.return
    }
  }
}

// -----

// A loop over bytes stays one: LLVM 22 would make vectors of it, also where they reach over the place at which offsets begin anew.
// CHECK-LABEL: @bytes
// CHECK:       gpu.binary @kernels
// CHECK-SAME:    .visible .entry turned(
// CHECK-NOT:     ld.shared.v
// CHECK-NOT:     ld.shared.b32
// CHECK-SAME:    ld.shared.b8
// CHECK-NOT:     ld.shared.v
module attributes {gpu.container_module} {
  func.func private @bytes()
  gpu.module @kernels [#nvvm.target<chip = "sm_80">] {
    llvm.func @turned(%from: !llvm.ptr<3>, %to: !llvm.ptr<1> {llvm.noalias}, %count: i32)
        attributes {gpu.kernel, nvvm.kernel, nvvm.reqntid = array<i32: 64, 1, 1>} {
      %c0 = llvm.mlir.constant(0 : i32) : i32
      %c1 = llvm.mlir.constant(1 : i32) : i32
      %c849 = llvm.mlir.constant(849 : i32) : i32
      %c1024 = llvm.mlir.constant(1024 : i32) : i32
      llvm.br ^loop(%c0 : i32)
    ^loop(%i: i32):
      %far = llvm.add %i, %c849 : i32
      %at = llvm.urem %far, %c1024 : i32
      %p = llvm.getelementptr %from[%at] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
      %q = llvm.getelementptr %to[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i8
      %v = llvm.load %p {alignment = 1 : i64} : !llvm.ptr<3> -> i8
      llvm.store %v, %q {alignment = 1 : i64} : i8, !llvm.ptr<1>
      %next = llvm.add %i, %c1 : i32
      %more = llvm.icmp "ult" %next, %count : i32
      llvm.cond_br %more, ^loop(%next : i32), ^end
    ^end:
      llvm.return
    }
  }
}
