// Every type, in another spelling than the canonical one where there is one. All three ways out
// and in again give the same text.
//
// RUN: cute-opt %s | cute-opt | FileCheck %s
// RUN: cute-opt %s --mlir-print-op-generic | cute-opt | FileCheck %s
// RUN: cute-opt %s --emit-bytecode -o %t.mlirbc && cute-opt %t.mlirbc | FileCheck %s

//===----------------------------------------------------------------------===//
// Values of the layout algebra
//===----------------------------------------------------------------------===//

// CHECK-LABEL: @int_tuple(
// CHECK-SAME:    !cute.int_tuple<"7">, !cute.int_tuple<"(1,(2,?))">, !cute.int_tuple<"()">
func.func private @int_tuple(!cute.int_tuple<"7">, !cute.int_tuple<" ( 1, (2 , ?) )">, !cute.int_tuple<"()">)

// Dynamic leaves: 32 bits unless said otherwise, and what is known to divide them.
// CHECK-LABEL: @dynamic(
// CHECK-SAME:    !cute.int_tuple<"(?,?)">, !cute.int_tuple<"(?{i64},?{div=8})">, !cute.int_tuple<"?{i64 div=16}">
func.func private @dynamic(!cute.int_tuple<"(?, ?{i32})">, !cute.int_tuple<"(?{i64},?{ div=8 })">,
                           !cute.int_tuple<"?{i64  div=16}">)

// CHECK-LABEL: @shape(!cute.shape<"(4,(2,?))">)
func.func private @shape(!cute.shape<"(4, (2, ?))">)

// CHECK-LABEL: @stride(!cute.stride<"(1,(4,?))">, !cute.stride<"(1@0,4@1)">, !cute.stride<"(1@1@0,0)">)
func.func private @stride(!cute.stride<"( 1, (4,?) )">, !cute.stride<"(1@0, 4@1)">, !cute.stride<"(1@1@0, 0)">)

// CHECK-LABEL: @coord(!cute.coord<"_">, !cute.coord<"(_,_,?)">, !cute.coord<"(3,(_,1))">)
func.func private @coord(!cute.coord<"_">, !cute.coord<"( _ , _ , ? )">, !cute.coord<"(3,(_,1))">)

// A shape alone is column-major.
// CHECK-LABEL: @layout(
// CHECK-SAME:    !cute.layout<"(2,3):(1,2)">, !cute.layout<"(2,3):(1,2)">, !cute.layout<"((2,2),8):((1,4),8)">
// CHECK-SAME:    !cute.layout<"(?,?{i64}):(1,?{div=8})">, !cute.layout<"(4,8):(1@1,1@0)">, !cute.layout<"8:1">
func.func private @layout(!cute.layout<"( 2, 3 ) : (1,2)">, !cute.layout<"(2,3)">, !cute.layout<"((2,2), 8):((1,4), 8)">,
                          !cute.layout<"(?,?{i64}):(1,?{div=8})">, !cute.layout<"(4,8):(1@1,1@0)">, !cute.layout<"8">)

// CHECK-LABEL: @tile(
// CHECK-SAME:    !cute.tile<"[128:1;(2,4):(1,8);_]">, !cute.tile<"_">, !cute.tile<"(4,2):(1,4)">, !cute.tile<"{{\[}}[4:1;_];8:2]">
func.func private @tile(!cute.tile<"[ 128:1 ; (2,4):(1,8) ; _ ]">, !cute.tile<"_">, !cute.tile<"(4,2)">, !cute.tile<"[[4;_];8:2]">)

// CHECK-LABEL: @swizzle(!cute.swizzle<"S<3,4,3>">, !cute.swizzle<"S<2,0,-3>">)
func.func private @swizzle(!cute.swizzle<"S< 3, 4, 3 >">, !cute.swizzle<"S<2,0,-3>">)

// CHECK-LABEL: @composed_layout(
// CHECK-SAME:    !cute.composed_layout<"S<3,5,4> o 0 o (8,4):(1,8)">, !cute.composed_layout<"(4,2):(2,1) o ? o 8:1">
func.func private @composed_layout(!cute.composed_layout<"S<3,5,4>  o  0  o  (8,4)">, !cute.composed_layout<"(4,2):(2,1) o ? o 8:1">)

//===----------------------------------------------------------------------===//
// Tensors: the alignment is the element's where it is not written, and then not printed either.
//===----------------------------------------------------------------------===//

// CHECK-LABEL: @ptr(
// CHECK-SAME:    !cute.ptr<f16, gmem>, !cute.ptr<f16, gmem>, !cute.ptr<f32, gmem, align<16>>
// CHECK-SAME:    !cute.ptr<f16, smem, S<1,4,3>>, !cute.ptr<f16, smem, align<1024>, S<3,4,3>>, !cute.ptr<i1, rmem>
func.func private @ptr(!cute.ptr<f16, gmem>, !cute.ptr<f16, gmem, align<2>>, !cute.ptr<f32, gmem, align<16>>,
                       !cute.ptr<f16, smem, S<1,4,3>>, !cute.ptr<f16, smem, align<1024>, S<3, 4, 3>>, !cute.ptr<i1, rmem>)

// CHECK-LABEL: @memref(
// CHECK-SAME:    !cute.memref<f16, gmem, "(2,3):(1,2)">, !cute.memref<f16, gmem, "(2,3):(1,2)">
// CHECK-SAME:    !cute.memref<f16, smem, align<512>, S<2,4,3>, "(128,32,3):(32,1,4096)">
// CHECK-SAME:    !cute.memref<f32, gmem, align<16>, "(?,?):(?{i64 div=4},1)">
// CHECK-SAME:    !cute.memref<i8, rmem, "4:1">, !cute.memref<bf16, gmem, "8:1">, !cute.memref<i1, rmem, "8:1">
func.func private @memref(!cute.memref<f16, gmem, "( 2, 3 ) : (1,2)">, !cute.memref<f16, gmem, align<2>, "(2,3)">,
                          !cute.memref<f16, smem, align<512>, S<2,4,3>, "(128,32,3):(32,1,4096)">,
                          !cute.memref<f32, gmem, align<16>, "(?,?):(?{i64 div=4},1)">,
                          !cute.memref<i8, rmem, "4">, !cute.memref<bf16, gmem, "8">, !cute.memref<i1, rmem, "8">)

// Alignment and swizzle in either order.
// CHECK-LABEL: @order(!cute.memref<f16, smem, align<512>, S<2,4,3>, "8:1">)
func.func private @order(!cute.memref<f16, smem, S<2,4,3>, align<512>, "8:1">)

//===----------------------------------------------------------------------===//
// Atoms and tiled operations
//===----------------------------------------------------------------------===//

// CHECK-LABEL: @copy_atoms(
// CHECK-SAME:    !cute_nvgpu.atom.universal_copy<f16, 128 b>
// CHECK-SAME:    !cute_nvgpu.atom.universal_copy<f32, 32 b>
// CHECK-SAME:    !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
// CHECK-SAME:    !cute_nvgpu.atom.simt_async_copy<f32, cache = always, 32 b>
// CHECK-SAME:    !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
// CHECK-SAME:    !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 1, t>
// CHECK-SAME:    !cute_nvgpu.atom.red<f16, add, 64 b>
func.func private @copy_atoms(
  !cute_nvgpu.atom.universal_copy<f16, 128 b>,
  !cute_nvgpu.atom.universal_copy<f32, 32 b>,
  !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>,
  !cute_nvgpu.atom.simt_async_copy<f32, cache = always, 32 b>,
  !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>,
  !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 1, t>,
  !cute_nvgpu.atom.red<f16, add, 64 b>)

// CHECK-LABEL: @mma_atoms(
// CHECK-SAME:    !cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >
// CHECK-SAME:    !cute_nvgpu.sm80.mma<16x8x8, elem_type = (bf16, bf16, f32) >
// CHECK-SAME:    !cute_nvgpu.sm80.mma<16x8x8, elem_type = (tf32, tf32, f32) >
// CHECK-SAME:    !cute_nvgpu.sm80.mma<8x8x4, elem_type = (f64, f64, f64) >
// CHECK-SAME:    !cute_nvgpu.sm80.mma<16x8x32, elem_type = (i8, i8, i32) >
func.func private @mma_atoms(
  !cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>,
  !cute_nvgpu.sm80.mma<16x8x8, elem_type = (bf16, bf16, f32)>,
  !cute_nvgpu.sm80.mma<16x8x8, elem_type = (tf32, tf32, f32)>,
  !cute_nvgpu.sm80.mma<8x8x4, elem_type = (f64, f64, f64)>,
  !cute_nvgpu.sm80.mma<16x8x32, elem_type = (i8, i8, i32)>)

// CHECK-LABEL: @tiled_copy(
// CHECK-SAME:    !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"((4,32),8):((256,1),32)">, tiler_mn = <"[32:1;32:1]">>
func.func private @tiled_copy(
  !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>,
    layout_copy_tv = <"((4, 32), 8) : ((256, 1), 32)">, tiler_mn = <"[32; 32]">>)

// CHECK-LABEL: @tiled_mma(
// CHECK-SAME:    !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(2,2,1):(1,2,0)">, permutation_MNK = <"[32:1;32:1;16:1]">>
// CHECK-SAME:    !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,1,1):(0,0,0)">, permutation_MNK = <"_">>
func.func private @tiled_mma(
  !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>,
    atom_layout_MNK = <"(2,2,1) : (1,2,0)">, permutation_MNK = <"[32;32;16]">>,
  !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>,
    atom_layout_MNK = <"(1,1,1):(0,0,0)">, permutation_MNK = <"_">>)

// CHECK-LABEL: @pipeline(!cute.pipeline<3>, !cute.token)
func.func private @pipeline(!cute.pipeline<3>, !cute.token)

// CHECK-NOT: func.func
