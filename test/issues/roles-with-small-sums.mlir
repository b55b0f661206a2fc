// Roles with sums of 64x64: the kernel says how many registers threads have at entry, which roles share; else ptxas takes as few as it needs, and ignores what
// roles ask for (C7508).
//
// RUN: cute-opt %s --cute-compile="arch=sm_90a package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator --sms 2 --shape A=128x192 --shape B=128x192 --shape C=128x128 | FileCheck %s
// RUN: cute-run %t.cutepkg --emit ptx --to %t.ptx
// RUN: FileCheck %s --check-prefix=PTX < %t.ptx
// CHECK: right
// CHECK: no findings
// PTX: .maxnreg 96
// PTX: setmaxnreg.{{inc|dec}}
//
// Where somebody says how many blocks there are, it stays so.
// RUN: sed 's/cute.roles = /nvvm.minctasm = 2 : i32, cute.roles = /' %s > %t.two.mlir
// RUN: cute-opt %t.two.mlir --cute-compile="arch=sm_90a package=%t.two.cutepkg" -o /dev/null
// RUN: cute-run %t.two.cutepkg --emit ptx --to %t.two.ptx
// RUN: FileCheck %s --check-prefix=TWO < %t.two.ptx
// TWO-NOT: .maxnreg
// TWO: .minnctapersm 2

!mat = !cute.memref<f16, gmem, align<16>, "(?,?):(?{div=8},1)">
!coords = !cute.coord_tensor<"(0,0)", "(?,?):(1@1,1@0)">
!slot_A = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64):(64,1)">
!slot_B = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,64):(64,1)">
!wgmma = !cute_nvgpu.sm90.mma<64x64x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
!mma = !cute.tiled_mma<!wgmma, atom_layout_MNK = <"(1,1,1):(1,0,0)">>
!load_A = !cute_nvgpu.atom.tma_load<f16, copy_bits = 65536, tma_gbasis = <"(64,64):(1@1,1@0)">, swizzle = 128>
!load_B = !cute_nvgpu.atom.tma_load<f16, copy_bits = 65536, tma_gbasis = <"(64,64):(1@1,1@0)">, swizzle = 128>
!store = !cute_nvgpu.atom.tma_store<f16, copy_bits = 65536, tma_gbasis = <"(64,64):(1@1,1@0)">, swizzle = 128>
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @auto_kernel(%load_A: !load_A, %A: !coords, %load_B: !load_B, %B: !coords, %store_C: !store, %C: !coords, %tiles_m: i32, %tiles: i32, %steps: i32) kernel
        attributes {known_block_size = array<i32: 256, 1, 1>, cute.roles = array<i64: 40, 152>} {
      %tx = gpu.thread_id x
      %bx = gpu.block_id x
      %gx = gpu.grid_dim x
      %t32 = arith.index_cast %tx : index to i32
      %block = arith.index_cast %bx : index to i32
      %blocks = arith.index_cast %gx : index to i32
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %c4 = arith.constant 4 : i32
      %c32 = arith.constant 32 : i32
      %c128 = arith.constant 128 : i32
      %t = cute.make_coord(%t32)
      %warp_of = arith.divui %t32, %c32 : i32
      %warp = cute_nvgpu.arch.make_warp_uniform(%warp_of)
      %group = arith.divui %warp, %c4 : i32
      %group_first = arith.muli %group, %c128 : i32
      %g = cute.make_coord(%group_first)
      %cta = cute.static "[64:1;64:1;64:1]"
      %mma = cute.static : !mma
      %sA = cute.memref.alloca() : !slot_A
      %sB = cute.memref.alloca() : !slot_B
      %sC = cute.memref.alloca() : !slot_A
      %tCsA = cute.tiled.mma.partition A (%mma, %sA, %g)
      %tCsB = cute.tiled.mma.partition B (%mma, %sB, %g)
      %tCsC = cute.tiled.mma.partition C (%mma, %sC, %t)
      scf.for %tile = %block to %tiles step %blocks : i32 {
        %m = arith.remui %tile, %tiles_m : i32
        %n = arith.divui %tile, %tiles_m : i32
        %at = cute.make_coord(%m, %n, _)
        %gA = cute.local_tile(%A, %cta, %at, "(1,_,1)")
        %gB = cute.local_tile(%B, %cta, %at, "(_,1,1)")
        %acc = cute.mma.make_fragment C (%mma, "((2,2,8),1,1)")
        cute.clear(%acc)
        scf.for %k = %c0 to %steps step %c1 : i32 {
          %from = cute.make_coord(_, _, %k)
          %a = cute.slice(%gA, %from)
          %b = cute.slice(%gB, %from)
          cute_nvgpu.tma_load(%load_A, [%a], %sA)
          cute_nvgpu.tma_load(%load_B, [%b], %sB)
          cute.gemm(%mma, %acc, %tCsA, %tCsB, %acc)
        } {cute.stages = 4}
        %to = cute.make_coord(%m, %n)
        %gC = cute.local_tile(%C, "[64:1;64:1]", %to)
        %f16 = cute.convert(%acc) to f16
        cute.autovec_copy(%f16, %tCsC)
        cute_nvgpu.tma_store(%store_C, %sC, [%gC])
      }
      gpu.return
    }
  }
  func.func @gemm(%A: !mat {cute.name = "A"}, %B: !mat {cute.name = "B"}, %C: !mat {cute.name = "C"})
      attributes {cute.computes = [{gemm = array<i64: 0, 1, 2>, accumulate = f32}]} {
    %c0 = arith.constant 0 : i32
    %bM = arith.constant 64 : i32
    %bN = arith.constant 64 : i32
    %lA = cute.get_layout(%A)
    %lB = cute.get_layout(%B)
    %M, %K, %ldA = cute.get_scalars <{only_dynamic}>(%lA)
    %N, %K2, %ldB = cute.get_scalars <{only_dynamic}>(%lB)
    %m = arith.ceildivsi %M, %bM : i32
    %n = arith.ceildivsi %N, %bN : i32
    %c64 = arith.constant 64 : i32
    %steps = arith.ceildivsi %K, %c64 : i32
    %tiles = arith.muli %m, %n : i32
    %sms_index = cute.sm_count() : index
    %sms = arith.index_cast %sms_index : index to i32
    %most = arith.minsi %sms, %tiles : i32
    %blocks = arith.index_cast %most : i32 to index
    %one = arith.constant 1 : index
    %threads = arith.constant 256 : index
    %load_A, %of_A = cute_nvgpu.atom.make_tma_load(%A, "S<3,4,3> o 0 o (64,64):(64,1)")
    %load_B, %of_B = cute_nvgpu.atom.make_tma_load(%B, "S<3,4,3> o 0 o (64,64):(64,1)")
    %store_C, %of_C = cute_nvgpu.atom.make_tma_store(%C, "S<3,4,3> o 0 o (64,64):(64,1)")
    gpu.launch_func @kernels::@auto_kernel blocks in (%blocks, %one, %one) threads in (%threads, %one, %one)
      dynamic_shared_memory_size %c0
      args(%load_A : !load_A, %of_A : !coords, %load_B : !load_B, %of_B : !coords, %store_C : !store, %of_C : !coords, %m : i32, %tiles : i32, %steps : i32)
    return
  }
}
