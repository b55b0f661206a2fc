// Registers, copies of an MMA and conversions whose types follow, and launches by a shape: with types left out and as they are printed.
//
// RUN: cute-opt %s | FileCheck %s
// RUN: cute-opt %s | cute-opt | FileCheck %s
// RUN: cute-opt %s --mlir-print-op-generic | cute-opt | FileCheck %s
// RUN: cute-opt %s --emit-bytecode | cute-opt | FileCheck %s
// RUN: cute-opt %s --strip-types | FileCheck %s --check-prefix=SHORT
// RUN: cute-opt %s --strip-types | cute-opt | FileCheck %s

!part = !cute.memref<f32, gmem, align<16>, "((4,1),2,(2,2)):((1,0),?,(4,256))">
!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(2,2,1):(1,2,0)">, permutation_MNK = <"[32:1;32:1;16:1]">>
!ldmatrix = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
!pair = !cute_nvgpu.atom.universal_copy<f16, 32 b>

// CHECK-LABEL: @fragments
// SHORT-LABEL: @fragments
func.func @fragments(%part: !part, %coords: !cute.coord_tensor<"(0,0)", "(8,(4,2)):(1@0,(1@1,4@1))">) {
  // The first mode is compact, the others follow in the order of their strides, those that are not known last.
  // CHECK: cute.make_fragment_like(%{{.*}}) : ({{.*}}) -> !cute.memref<f32, rmem, align<16>, "((4,1),2,(2,2)):((1,0),16,(4,8))">
  // SHORT: cute.make_fragment_like(%{{[a-z0-9]+}}){{$}}
  %f = cute.make_fragment_like(%part)
  // CHECK: cute.make_fragment_like(%{{.*}}) of f16 : ({{.*}}) -> !cute.memref<f16, rmem, align<16>, "((4,1),2,(2,2)):((1,0),16,(4,8))">
  // SHORT: cute.make_fragment_like(%{{[a-z0-9]+}}) of f16{{$}}
  %h = cute.make_fragment_like(%part) of f16
  // CHECK: cute.make_fragment_like(%{{.*}}) of i1 : ({{.*}}) -> !cute.memref<i1, rmem, align<16>, "(8,(4,2)):(1,(8,32))">
  %p = cute.make_fragment_like(%coords) of i1
  // CHECK: cute.convert(%{{.*}}) to bf16 : ({{.*}}) -> !cute.memref<bf16, rmem, "((4,1),2,(2,2)):((1,0),16,(4,8))">
  // SHORT: cute.convert(%{{[0-9]+}}) to bf16{{$}}
  %b = cute.convert(%f) to bf16
  return
}

// CHECK-LABEL: @shapes
func.func @shapes(%part: !part, %coords: !cute.coord_tensor<"(0,0)", "(8,(4,2)):(1@0,(1@1,4@1))">) {
  // CHECK: cute.get_shape(%{{.*}}) : !cute.memref<{{.*}}> -> !cute.shape<"((4,1),2,(2,2))">
  %s = cute.get_shape(%part)
  // CHECK: cute.get_shape(%{{.*}}) : !cute.coord_tensor<{{.*}}> -> !cute.shape<"(8,(4,2))">
  %c = cute.get_shape(%coords)
  return
}

// CHECK-LABEL: @copies
func.func @copies(%mma: !mma, %ldmatrix: !ldmatrix, %pair: !pair) {
  // CHECK: cute.mma.make_tiled_copy A {{.*}}layout_copy_tv = <"((4,8,2,2),((2,2,2),(1,1))):((64,1,16,0),((32,8,256),(32,512)))">, tiler_mn = <"[32:1;16:1]">>
  // SHORT: cute.mma.make_tiled_copy A (%{{[a-z0-9]+}}, %{{[a-z0-9]+}}){{$}}
  %A = cute.mma.make_tiled_copy A (%mma, %ldmatrix)
  // CHECK: cute.mma.make_tiled_copy B {{.*}}layout_copy_tv = <"((4,8,2,2),((2,2),(2,1))):((64,1,0,8),((32,256),(16,512)))">, tiler_mn = <"[32:1;16:1]">>
  %B = cute.mma.make_tiled_copy B (%mma, %ldmatrix)
  // CHECK: cute.mma.make_tiled_copy C {{.*}}layout_copy_tv = <"((4,8,2,2),((2,2),(1,2))):((64,1,16,256),((32,8),(32,512)))">, tiler_mn = <"[32:1;32:1]">>
  %C = cute.mma.make_tiled_copy C (%mma, %pair)
  return
}

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @k(%x: !part) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
      gpu.return
    }
  }
  // CHECK-LABEL: @launched
  func.func @launched(%x: !part, %grid: !cute.shape<"(?,4)">) {
    // CHECK: cute.launch @kernels::@k blocks(%{{.*}}) args(%{{.*}}) : !cute.shape<"(?,4)">, (!cute.memref<f32, gmem, align<16>, "((4,1),2,(2,2)):((1,0),?,(4,256))">)
    // SHORT: cute.launch @kernels::@k blocks(%{{[a-z0-9]+}}) args(%{{[a-z0-9]+}}){{$}}
    cute.launch @kernels::@k blocks(%grid) args(%x)
    return
  }
}
