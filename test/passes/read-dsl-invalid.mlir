// What of a kernel of CuTe DSL has no meaning here, or one that only its launches say.
//
// RUN: cute-opt %s --split-input-file --cute-read-dsl --verify-diagnostics

gpu.module @k {
  gpu.func @bytes() kernel {
    // expected-error @below {{expected launches of the kernel in the module that say how many bytes of shared memory there are, by dynamic_shared_memory_size %bytes, one arith.constant for all; or allocate tensors by cute.memref.alloca, which need no size}}
    %p = cute_nvgpu.arch.get_dyn_smem() : !cute.ptr<i8, smem, align<1024>>
    gpu.return
  }
}

// -----

gpu.module @k {
  gpu.func @fence() kernel {
    // expected-error @below {{expected products of a warpgroup, by !cute_nvgpu.sm90.mma, whose accumulators are made before this op, found none; or write cute_nvgpu.wgmma_fence(%acc) and wgmma_wait_group 0 (%acc), which are given them}}
    nvvm.wgmma.fence.aligned
    gpu.return
  }
}

// -----

!map = !cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90, f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, internal_val_type = f16>
gpu.module @k {
  // expected-error @below {{expected a gpu.launch_func of the kernel in the module, whose tensor map says how argument 0 is swizzled; or write the argument as !cute_nvgpu.atom.tma_load, which says it itself}}
  gpu.func @map(%map: !map) kernel {
    gpu.return
  }
}

// -----

!mat = !cute.memref<f16, gmem, align<16>, "(?,?):(?{div=8},1)">
!place = !cute.composed_layout<"S<3,4,3> o 0 o ((8,16),(64,1)):((64,512),(1,0))">
!map = !cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90, f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, internal_val_type = f16>
!coords = !cute.coord_tensor<"(0,0)", "(?,?):(1@1,1@0)">
func.func @shared(%A: !mat, %place: !place, %tile: !cute.layout<"(128,64):(1@0,1@1)">) {
  // expected-error @below {{expected num_multicast = 1, one block for each tile, found more; make the atom by cute_nvgpu.atom.make_tma_load, and load for several blocks by cute_nvgpu.tma_load with multicast(%mask)}}
  %map, %c = cute_nvgpu.atom.make_non_exec_tiled_tma_load(%A, %place, %tile) <{kind = <sm_90> num_multicast = 2}> : (!mat, !place, !cute.layout<"(128,64):(1@0,1@1)">) -> (!map, !coords)
  return
}

// -----

!mat = !cute.memref<f16, gmem, align<16>, "(?,?):(?{div=8},1)">
!place = !cute.composed_layout<"S<3,4,3> o 0 o ((8,16),(64,1)):((64,512),(1,0))">
!map = !cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90, f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, internal_val_type = f16>
!coords = !cute.coord_tensor<"(0,0)", "(?,?):(1@1,1@0)">
func.func @turned(%A: !mat, %place: !place, %tile: !cute.layout<"(128,64):(1@1,1@0)">) {
  // expected-error @below {{expected a tile that goes through modes of the tensor in order, such as (128,64):(1@0,1@1) for a place of 128 by 64, found (128,64):(1@1,1@0) for}}
  %map, %c = cute_nvgpu.atom.make_non_exec_tiled_tma_load(%A, %place, %tile) <{kind = <sm_90> num_multicast = 1}> : (!mat, !place, !cute.layout<"(128,64):(1@1,1@0)">) -> (!map, !coords)
  return
}

// -----

!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, swizzle = 128>
!s = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((8192,1)):((1,0))">
!x = !cute.coord_tensor<"(0,0)", "(((64,128),1)):(((1@0,1@1),0))">
gpu.module @k {
  gpu.func @nobody_waits(%atom: !load, %x: !x) kernel {
    %s = cute.memref.alloca() : !s
    // expected-error @below {{expected the atom with the mbarrier on which its bytes count, as cute_nvgpu.atom.set_value gives it: {field = #cute_nvgpu.atom_copy_field_tmaload<tma_bar>}}}
    cute.copy(%atom, %x, %s) : (!load, !x, !s)
    gpu.return
  }
}

// -----

!mat = !cute.memref<f16, gmem, align<16>, "(?,?):(?{div=8},1)">
!place = !cute.composed_layout<"S<3,4,3> o 0 o (128,64):(64,1)">
!tile = !cute.layout<"(128,64):(1@0,1@1)">
!map = !cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90, f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">>
!coords = !cute.coord_tensor<"(0,0)", "(?,?):(1@1,1@0)">
!s = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((128,64)):((64,1))">
!x = !cute.coord_tensor<"(0,0)", "((128,64)):((1@1,1@0))">
!p = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((8192,1)):((1,0))">
!q = !cute.coord_tensor<"(0,0)", "(((64,128),1)):(((1@0,1@1),0))">
module attributes {gpu.container_module} {
  gpu.module @k {
    gpu.func @two_blocks(%map: !map, %coords: !coords) kernel {
      %s = cute.memref.alloca() : !s
      %start = cute.get_iter(%coords) : !coords
      %x = cute.make_view(%start) : !x
      %block = cute.make_coord() : () -> !cute.coord<"0">
      %blocks = cute.static : !cute.layout<"2:1">
      // expected-error @below {{expected one block for a tile, 1:0, found !cute.layout<"2:1">; load for several blocks by cute_nvgpu.tma_load with multicast(%mask)}}
      %0, %1 = cute_nvgpu.atom.tma_partition(%map, %block, %blocks, %s, %x) : (!map, !cute.coord<"0">, !cute.layout<"2:1">, !s, !x) -> (!p, !q)
      gpu.return
    }
  }
  func.func @host(%A: !mat) {
    %one = arith.constant 1 : index
    %threads = arith.constant 128 : index
    %place = cute.static : !place
    %tile = cute.static : !tile
    %map, %c = cute_nvgpu.atom.make_non_exec_tiled_tma_load(%A, %place, %tile) <{kind = <sm_90> num_multicast = 1}> : (!mat, !place, !tile) -> (!map, !coords)
    gpu.launch_func @k::@two_blocks blocks in (%one, %one, %one) threads in (%threads, %one, %one) args(%map : !map, %c : !coords)
    return
  }
}

// -----

gpu.module @k {
  gpu.func @fewer_than_none() kernel {
    // expected-error @below {{expected 0 to 7 groups that may be under way, found -3}}
    nvvm.wgmma.wait.group.sync.aligned -3
    gpu.return
  }
}
