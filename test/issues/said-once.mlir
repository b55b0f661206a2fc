// What the author wrote wrong, once, where it is wrong, with what was perhaps meant.
//
// RUN: cute-opt %s --split-input-file --verify-diagnostics
// RUN: not cute-opt %s --split-input-file 2>&1 | FileCheck %s
//
// No op is printed whole behind a wrong type.
// CHECK: expected a result of type
// CHECK-NOT: see current operation

func.func @type(%l: !cute.layout<"(4,8):(1,4)">) {
  // expected-error @below {{'cute.coalesce' op expected a result of type '!cute.layout<"32:1">', which follows from its operands, found '!cute.layout<"(4,8):(1,4)">'}}
  %c = "cute.coalesce"(%l) : (!cute.layout<"(4,8):(1,4)">) -> !cute.layout<"(4,8):(1,4)">
  return
}

// -----

func.func @op() {
  // expected-error @below {{custom op 'cute.memref.aloca' is unknown; did you mean 'cute.memref.alloca'?}}
  %f = cute.memref.aloca() : !cute.memref<f32, rmem, "4:1">
  return
}

// -----

func.func @atom_op(%a: !cute_nvgpu.atom.universal_copy<f32, 32 b>) {
  // expected-error @below {{custom op 'cute_nvgpu.atom.get_valeu' is unknown; did you mean 'cute_nvgpu.atom.get_value'?}}
  %f = cute_nvgpu.atom.get_valeu(%a)
  return
}

// -----

func.func @nothing_near() {
  // expected-error @below {{custom op 'cute.frobnicate' is unknown}}
  cute.frobnicate
  return
}

// -----

func.func @attribute(%a: !cute.memref<f32, gmem, align<16>, "4:1">, %b: !cute.memref<f32, rmem, align<16>, "4:1">) {
  // expected-error @below {{'cute.autovec_copy' op has no attribute 'max_vec_bit'; did you mean 'max_vec_bits'?}}
  cute.autovec_copy(%a, %b) {max_vec_bit = 64 : i64} : (!cute.memref<f32, gmem, align<16>, "4:1">, !cute.memref<f32, rmem, align<16>, "4:1">)
  return
}

// -----

// What a vector needs is said at the argument that the tensor is a part of.
!A = !cute.memref<f16, gmem, align<16>, "(?,?):(?{i64 div=4},1)">
!copy = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"((4,8),8):((64,1),8)">, tiler_mn = <"[8:1;32:1]">>
!tile = !cute.memref<f16, gmem, align<8>, "(32,32):(?{i64 div=4},1)">
!frag = !cute.memref<f16, rmem, align<16>, "((8,1),4,1):((1,0),8,0)">
gpu.module @k {
  // expected-note @below {{the tensor is a part of this argument of type !cute.memref<f16, gmem, align<16>, "(?,?):(?{i64 div=4},1)">: a 16-byte copy needs ?{div=8} as its stride, where that is true of every launch}}
  gpu.func @argument(%A: !A, %block: !cute.coord<"(?,?)">, %t: !cute.coord<"?">) kernel {
    %tile = cute.static : !cute.tile<"[32:1;32:1]">
    %copy = cute.static : !copy
    %g = cute.local_tile(%A, %tile, %block) : (!A, !cute.tile<"[32:1;32:1]">, !cute.coord<"(?,?)">) -> !tile
    %p = cute.tiled.copy.partition_S(%copy, %g, %t) : (!copy, !tile, !cute.coord<"?">) -> !cute.memref<f16, gmem, align<8>, "((8,1),4,1):((1,0),?{i64 div=32},0)">
    %f = cute.memref.alloca() : !frag
    // expected-error @below {{'cute.copy' op the source is accessed 16 bytes at a time but is aligned to 8 bytes}}
    cute.copy(%copy, %p, %f) : (!copy, !cute.memref<f16, gmem, align<8>, "((8,1),4,1):((1,0),?{i64 div=32},0)">, !frag)
    gpu.return
  }
}
