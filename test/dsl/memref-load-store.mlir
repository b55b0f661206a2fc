// Fragments in registers, elements and vectors.
//
// RUN: cute-opt %s --split-input-file | cute-opt --split-input-file | FileCheck %s
// RUN: cute-opt %s --split-input-file --mlir-print-op-generic | cute-opt --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @fragment(
// CHECK: cute.make_shape() : () -> !cute.shape<"(1,1,4)">
// CHECK: cute.make_stride() : () -> !cute.stride<"(1,1,0)">
// CHECK: cute.make_layout({{%.+}}, {{%.+}}) : (!cute.shape<"(1,1,4)">, !cute.stride<"(1,1,0)">) -> !cute.layout<"(1,1,4):(1,1,0)">
// CHECK: cute.memref.alloca({{%.+}} : !cute.layout<"(1,1,4):(1,1,0)">) : !cute.memref<i8, rmem, align<32>, "(1,1,4):(1,1,0)">
// CHECK: return {{%.+}} : !cute.memref<i8, rmem, align<32>, "(1,1,4):(1,1,0)">
func.func @fragment() -> !cute.memref<i8, rmem, align<32>, "(1,1,4):(1,1,0)"> {
  %shape = cute.make_shape() : () -> !cute.shape<"(1,1,4)">
  %stride = cute.make_stride() : () -> !cute.stride<"(1,1,0)">
  %lay = cute.make_layout(%shape, %stride) : !cute.layout<"(1,1,4):(1,1,0)">
  %rmem = cute.memref.alloca(%lay) : !cute.memref<i8, rmem, align<32>, "(1,1,4):(1,1,0)">
  return %rmem : !cute.memref<i8, rmem, align<32>, "(1,1,4):(1,1,0)">
}

// -----

// CHECK-LABEL: func.func @fragment_without_operand(
// CHECK: cute.memref.alloca() : !cute.memref<f32, rmem, align<32>, "((2,2),4,8):((1,2),4,16)">
func.func @fragment_without_operand() {
  %rmem = cute.memref.alloca() : !cute.memref<f32, rmem, align<32>, "((2,2),4,8):((1,2),4,16)">
  return
}

// -----

// CHECK-LABEL: func.func @elements(
// CHECK: cute.make_coord({{%.+}}, {{%.+}}) : (i32, i32) -> !cute.coord<"(?,?)">
// CHECK: cute.memref.load({{%.+}}, {{%.+}}) : (!cute.memref<f32, rmem, align<32>, "(4,4):(1,4)">, !cute.coord<"(?,?)">) -> f32
// CHECK: cute.make_coord() : () -> !cute.coord<"0">
// CHECK: cute.memref.store({{%.+}}, {{%.+}}, {{%.+}}) : (!cute.memref<f32, rmem, align<32>, "(4,4):(1,4)">, !cute.coord<"0">, f32) -> ()
func.func @elements(%r: !cute.memref<f32, rmem, align<32>, "(4,4):(1,4)">, %x: i32, %y: i32) -> f32 {
  %coord = cute.make_coord(%x, %y) : (i32, i32) -> !cute.coord<"(?,?)">
  %0 = cute.memref.load(%r, %coord) : (!cute.memref<f32, rmem, align<32>, "(4,4):(1,4)">, !cute.coord<"(?,?)">) -> f32
  %coord_0 = cute.make_coord() : () -> !cute.coord<"0">
  cute.memref.store(%r, %coord_0, %0) : (!cute.memref<f32, rmem, align<32>, "(4,4):(1,4)">, !cute.coord<"0">, f32) -> ()
  return %0 : f32
}

// -----

// CHECK-LABEL: func.func @smem_element(
// CHECK: cute.make_coord({{%.+}}) : (i32) -> !cute.coord<"(?,0)">
// CHECK: cute.memref.store({{%.+}}, {{%.+}}, {{%.+}}) : (!cute.memref<f32, smem, align<1024>, "(2,2):(1,2)">, !cute.coord<"(?,0)">, f32) -> ()
func.func @smem_element(%s: !cute.memref<f32, smem, align<1024>, "(2,2):(1,2)">, %i: i32, %v: f32) {
  %coord = cute.make_coord(%i) : (i32) -> !cute.coord<"(?,0)">
  cute.memref.store(%s, %coord, %v) : (!cute.memref<f32, smem, align<1024>, "(2,2):(1,2)">, !cute.coord<"(?,0)">, f32) -> ()
  return
}

// -----

// CHECK-LABEL: func.func @gmem_element(
// CHECK: cute.make_coord({{%.+}}) : (i32) -> !cute.coord<"(?,0)">
// CHECK: cute.memref.load({{%.+}}, {{%.+}}) : (!cute.memref<i32, gmem, align<16>, "(2,4):(4,1)">, !cute.coord<"(?,0)">) -> i32
func.func @gmem_element(%g: !cute.memref<i32, gmem, align<16>, "(2,4):(4,1)">, %i: i32) -> i32 {
  %coord = cute.make_coord(%i) : (i32) -> !cute.coord<"(?,0)">
  %0 = cute.memref.load(%g, %coord) : (!cute.memref<i32, gmem, align<16>, "(2,4):(4,1)">, !cute.coord<"(?,0)">) -> i32
  return %0 : i32
}

// -----

// CHECK-LABEL: func.func @vectors(
// CHECK: cute.memref.load_vec {{%.+}} : !cute.memref<f32, rmem, align<32>, "((2,2),4,8):((1,2),4,16)">
// CHECK: cute.memref.store_vec {{%.+}}, {{%.+}} : vector<128xf16>, !cute.memref<f16, rmem, align<32>, "((2,2),4,8):((1,2),4,16)">
func.func @vectors(%r: !cute.memref<f32, rmem, align<32>, "((2,2),4,8):((1,2),4,16)">, %h: !cute.memref<f16, rmem, align<32>, "((2,2),4,8):((1,2),4,16)">) {
  %0 = cute.memref.load_vec %r : !cute.memref<f32, rmem, align<32>, "((2,2),4,8):((1,2),4,16)">
  %1 = arith.truncf %0 : vector<128xf32> to vector<128xf16>
  cute.memref.store_vec %1, %h : !cute.memref<f16, rmem, align<32>, "((2,2),4,8):((1,2),4,16)">
  return
}

// -----

// CHECK-LABEL: func.func @vectors_smem_gmem(
// CHECK: cute.memref.load_vec {{%.+}} : !cute.memref<f32, smem, align<16>, "(4):(1)">
// CHECK: cute.memref.store_vec {{%.+}}, {{%.+}} : vector<4xf32>, !cute.memref<f32, gmem, align<16>, "(4):(1)">
func.func @vectors_smem_gmem(%s: !cute.memref<f32, smem, align<16>, "(4):(1)">, %g: !cute.memref<f32, gmem, align<16>, "(4):(1)">) {
  %0 = cute.memref.load_vec %s : !cute.memref<f32, smem, align<16>, "(4):(1)">
  cute.memref.store_vec %0, %g : !cute.memref<f32, gmem, align<16>, "(4):(1)">
  return
}
