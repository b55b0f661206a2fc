// A loop that only adds what it loads: loads run ahead of the sums by the turns that `cute.stages` says, from global memory into registers and by way of
// shared memory, with the same result to the bit as without.
//
// RUN: cute-opt %s --cute-compile="arch=sm_80 package=%t.ahead" -o /dev/null 2>&1 | count 0
// RUN: sed 's/cute.stages = 3/cute.stages = 1/' %s > %t.one.mlir
// RUN: cute-opt %t.one.mlir --cute-compile="arch=sm_80 package=%t.one" -o /dev/null
// RUN: cute-run %t.one --function sum --device emulator --shape S=512x7 --output D=%t.npy --no-verify
// RUN: cute-run %t.ahead --function sum --device emulator --seeds 2 --shape S=512x7 --expect D=%t.npy --tolerance 0 --no-verify
// RUN: cute-run %t.ahead --function sum_staged --device emulator --seeds 2 --shape S=512x7 --expect D=%t.npy --tolerance 0 --no-verify

!src = !cute.memref<f32, gmem, align<16>, "(512,?):(1,512)">
!dst = !cute.memref<f32, gmem, align<16>, "512:1">
!copy = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f32, 128 b>, layout_copy_tv = <"(128,4):(4,1)">, tiler_mn = <"[512:1]">>
!async = !cute.tiled_copy<!cute_nvgpu.atom.simt_async_copy<f32, cache = global, 128 b>, layout_copy_tv = <"(128,4):(4,1)">, tiler_mn = <"[512:1]">>
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @sum_kernel(%S: !src, %D: !dst, %n: i32) kernel attributes {known_block_size = array<i32: 128, 1, 1>, cute.synchronize} {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %tx = gpu.thread_id x
      %i = arith.index_cast %tx : index to i32
      %t = cute.make_coord(%i)
      %to = cute.tiled.copy.partition_D(!copy, %D, %t)
      %sum = cute.make_fragment_like(%to)
      cute.clear(%sum)
      scf.for %k = %c0 to %n step %c1 : i32 {
        %at = cute.make_coord(_, %k)
        %s = cute.slice(%S, %at)
        %from = cute.tiled.copy.partition_S(!copy, %s, %t)
        %r = cute.make_fragment_like(%from)
        cute.copy(!copy, %from, %r)
        cute.transform(%sum, %r, %sum) (%a, %b) {
          %c = arith.addf %a, %b : f32
          cute.yield %c
        }
      } {cute.stages = 3}
      cute.copy(!copy, %sum, %to)
      gpu.return
    }

    gpu.func @staged_kernel(%S: !src, %D: !dst, %n: i32) kernel attributes {known_block_size = array<i32: 128, 1, 1>, cute.synchronize} {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %tx = gpu.thread_id x
      %i = arith.index_cast %tx : index to i32
      %t = cute.make_coord(%i)
      %to = cute.tiled.copy.partition_D(!copy, %D, %t)
      %sum = cute.make_fragment_like(%to)
      cute.clear(%sum)
      %shared = cute.memref.alloca() : !cute.memref<f32, smem, align<16>, "512:1">
      %fill = cute.tiled.copy.partition_D(!async, %shared, %t)
      %read = cute.tiled.copy.partition_S(!copy, %shared, %t)
      scf.for %k = %c0 to %n step %c1 : i32 {
        %at = cute.make_coord(_, %k)
        %s = cute.slice(%S, %at)
        %from = cute.tiled.copy.partition_S(!async, %s, %t)
        cute.copy(!async, %from, %fill)
        %r = cute.make_fragment_like(%read)
        cute.copy(!copy, %read, %r)
        cute.transform(%sum, %r, %sum) (%a, %b) {
          %c = arith.addf %a, %b : f32
          cute.yield %c
        }
      } {cute.stages = 3}
      cute.copy(!copy, %sum, %to)
      gpu.return
    }
  }
  func.func @sum(%S: !src {cute.name = "S"}, %D: !dst {cute.name = "D"}) {
    %l = cute.get_layout(%S)
    %n = cute.get_scalars <{only_dynamic}>(%l)
    %grid = cute.static shape "1"
    cute.launch @kernels::@sum_kernel blocks(%grid) args(%S, %D, %n)
    return
  }
  func.func @sum_staged(%S: !src {cute.name = "S"}, %D: !dst {cute.name = "D"}) {
    %l = cute.get_layout(%S)
    %n = cute.get_scalars <{only_dynamic}>(%l)
    %grid = cute.static shape "1"
    cute.launch @kernels::@staged_kernel blocks(%grid) args(%S, %D, %n)
    return
  }
}
