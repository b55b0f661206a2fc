// Conversions of fragments between all types of numbers, and of elements of 8 bits in a region, on the emulator beside numbers of Python's own.
//
// RUN: %python %inputs/conversions.py %s %t f32 f8E4M3FN f8E5M2 i8 ui8 i32 i64 f16 bf16
// RUN: %python %inputs/conversions.py %s %t f16 f8E4M3FN f8E5M2 i8 ui8 i32 bf16 f32 f64
// RUN: %python %inputs/conversions.py %s %t bf16 f8E4M3FN i8 f16 f32
// RUN: %python %inputs/conversions.py %s %t f8E4M3FN f16 f32 f8E5M2 i8 ui8 bf16
// RUN: %python %inputs/conversions.py %s %t f8E5M2 f16 f32 f8E4M3FN i32
// RUN: %python %inputs/conversions.py %s %t i8 f16 f32 bf16 f8E4M3FN i32 ui8
// RUN: %python %inputs/conversions.py %s %t ui8 f16 f32 f8E5M2 i32 i8
// RUN: %python %inputs/conversions.py %s %t i32 f16 f32 f8E4M3FN i8 i64
// RUN: %python %inputs/conversions.py %s %t f64 f32 f16 i32 ui8
//
// Numbers of 8 bits are made from sm_89 on.
// RUN: not cute-opt %s --cute-compile="arch=sm_80 set=T=f32,U=f8E4M3FN" -o /dev/null 2>&1 | FileCheck %s
// CHECK: conversions.mlir:{{[0-9]+}}:{{[0-9]+}}: error: converts to f8E4M3FN, for which there are instructions from sm_89 on; compile it for one of these, or convert to f16
//
// In a region they are numbers as others are.
// RUN: cute-opt %s --cute-compile="arch=sm_90a set=T=f32,U=f16 package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --function=through --device=emulator

!A = !cute.memref<!cute.param<"T">, gmem, align<16>, "(32,8):(8,1)">
!B = !cute.memref<!cute.param<"U">, gmem, align<8>, "(32,8):(8,1)">
!E = !cute.memref<f8E4M3FN, gmem, align<8>, "(32,8):(8,1)">

module attributes {gpu.container_module, cute.parameters = {T = f32, U = f16}} {
  gpu.module @kernels {
    cute.import "std/index"
    gpu.func @convert_kernel(%A: !A, %B: !B) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
      %i = cute.call @thread_index()
      %at = cute.make_coord(%i, _)
      %a = cute.slice(%A, %at)
      %b = cute.slice(%B, %at)
      %from = cute.make_fragment_like(%a)
      cute.autovec_copy(%a, %from)
      %to = cute.convert(%from) to !cute.param<"U">
      cute.autovec_copy(%to, %b)
      gpu.return
    }

    // Doubles in f16 what is rounded to 8 bits.
    gpu.func @through_kernel(%A: !E, %B: !E) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
      %i = cute.call @thread_index()
      %at = cute.make_coord(%i, _)
      %a = cute.slice(%A, %at)
      %b = cute.slice(%B, %at)
      cute.transform(%a, %b) (%x: f8E4M3FN) {
        %y = arith.extf %x : f8E4M3FN to f16
        %z = arith.truncf %y : f16 to f8E4M3FN
        cute.yield %z
      }
      gpu.return
    }
  }

  func.func @convert(%A: !A {cute.name = "from"}, %B: !B {cute.name = "to"}) {
    %grid = cute.static shape "1"
    cute.launch @kernels::@convert_kernel blocks(%grid) args(%A, %B)
    return
  }

  func.func @through(%A: !E {cute.name = "from"}, %B: !E {cute.name = "to"}) attributes {cute.computes = [{copy = array<i64: 0, 1>}]} {
    %grid = cute.static shape "1"
    cute.launch @kernels::@through_kernel blocks(%grid) args(%A, %B)
    return
  }
}
