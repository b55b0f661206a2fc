// A tensor in global memory may have no elements: an extent of 0 is one that is known to be 0 whenever it is asked for.
//
// RUN: cute-opt %s --split-input-file --verify-diagnostics | FileCheck %s
// RUN: cute-opt %s --split-input-file --verify-diagnostics | cute-opt --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @types
// CHECK-SAME:  !cute.memref<f16, gmem, align<16>, "(5,0):(1,1)">
// CHECK-SAME:  !cute.memref<f16, gmem, align<16>, "(0,16):(16,1)">
// CHECK-SAME:  !cute.memref<f16, gmem, align<16>, "0:1">
func.func @types(%a: !cute.memref<f16, gmem, align<16>, "(5,0):(1,1)">, %b: !cute.memref<f16, gmem, align<16>, "( 0 , 16 ):(16,1)">,
                 %c: !cute.memref<f16, gmem, align<16>, "0:1">) {
  return
}

// -----

// It is a leaf of the tensor's layout, which layouts have no number for.
// CHECK-LABEL: func.func @layout
// CHECK:         cute.get_layout(%{{.*}}) : !cute.memref<f16, gmem, align<16>, "(5,0):(1,1)">
func.func @layout(%a: !cute.memref<f16, gmem, align<16>, "(5,0):(1,1)">) {
  %l = cute.get_layout(%a) : !cute.memref<f16, gmem, align<16>, "(5,0):(1,1)"> -> !cute.layout<"(5,?{div=0}):(1,1)">
  return
}

// -----

// CHECK-LABEL: module attributes {cute.parameters
// CHECK:         !cute.memref<f16, gmem, align<16>, "($D,16):(16,1)">
module attributes {cute.parameters = {D = 0}} {
  func.func @parameter(%a: !cute.memref<f16, gmem, align<16>, "($D,16):(16,1)">) {
    return
  }
}

// -----

// expected-error @+1 {{expected positive extents of a tensor in smem, found (5,0):(1,1); a tensor in gmem alone may have no elements}}
func.func @shared(%a: !cute.memref<f16, smem, align<16>, "(5,0):(1,1)">) {
  return
}

// -----

// expected-error @+1 {{expected positive integers (or `?`) in a shape, found (5,-1); make every extent at least 1}}
func.func @negative(%a: !cute.memref<f16, gmem, align<16>, "(5,-1):(1,1)">) {
  return
}

// -----

// expected-error @+1 {{expected positive integers (or `?`) in a shape, found (5,0); make every extent at least 1}}
func.func @no_tensor(%a: !cute.layout<"(5,0):(1,1)">) {
  return
}

// -----

// expected-error @+1 {{expected a positive divisor, or 0 of a number that is 0, found -8}}
func.func @divisor(%a: !cute.layout<"(5,?{div=-8}):(1,1)">) {
  return
}
