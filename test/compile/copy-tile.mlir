// Copies of tiles within bounds: from global memory to registers, to shared memory by cp.async and by registers, and back. Rows that end within a vector, at
// one, and before a tile begins; nothing behind them is read or written.
//
// RUN: cute-opt %s --cute-compile="arch=sm_90a package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --function=by_async --device=emulator --seeds 3 --shape src=70x203 --shape dst=70x203
// RUN: cute-run %t.cutepkg --function=by_async --device=emulator --seeds 3 --shape src=64x128 --shape dst=64x128
// RUN: cute-run %t.cutepkg --function=by_async --device=emulator --seeds 3 --shape src=1x1 --shape dst=1x1
// RUN: cute-run %t.cutepkg --function=by_registers --device=emulator --seeds 3 --shape src=70x203 --shape dst=70x203
// RUN: cute-run %t.cutepkg --function=by_registers --device=emulator --seeds 3 --shape src=1x5 --shape dst=1x5
// RUN: cute-run %t.cutepkg --function=straight --device=emulator --seeds 3 --shape src=70x203 --shape dst=70x203
// RUN: cute-run %t.cutepkg --function=through_shared --device=emulator --seeds 3 --shape src=70x203 --shape dst=70x203
// RUN: cute-run %t.cutepkg --function=vectors --device=emulator --seeds 3 --shape src=70x208 --shape dst=70x208
// RUN: cute-run %t.cutepkg --function=padded --device=emulator --seeds 3 --shape src=17x61 --no-verify
// RUN: %python %inputs/halo.py %t 17 61
// RUN: cute-run %t.cutepkg --function=padded_halo --device=emulator --seeds 3 --input src=%t.in.npy --expect dst=%t.out.npy --tolerance dst=0,0
// RUN: cute-run %t.cutepkg --function=halo --device=emulator --seeds 3 --input src=%t.in.npy --expect dst=%t.out.npy --tolerance dst=0,0
// RUN: cute-opt %s --cute-compile="arch=sm_80 set=T=f32,V=4 package=%t.f32.cutepkg" -o /dev/null
// RUN: cute-run %t.f32.cutepkg --function=by_async --device=emulator --seeds 3 --shape src=70x203 --shape dst=70x203
// RUN: cute-run %t.f32.cutepkg --function=by_registers --device=emulator --seeds 3 --shape src=70x203 --shape dst=70x203
//
// cp.async reads as many bytes as there are; where vectors are whole, all or nothing; no element is asked for by itself then.
// RUN: cute-opt %s --pass-pipeline="builtin.module(cute-instantiate,cute-inline,gpu.module(gpu.func(cute-lower-algorithms,cute-fragments-to-values)))" | FileCheck %s --check-prefix=ATOMS
// ATOMS-LABEL: gpu.func @by_async_kernel
// ATOMS: cute.atom_copy({{.*}}) at [0, 0, 0] count %
// ATOMS-LABEL: gpu.func @vectors_kernel
// ATOMS-NOT: scf.if
// ATOMS: cute.atom_load({{.*}}) at [0, 0, 0] if %{{.*}} else
// ATOMS-NOT: -> vector<1xf16>
// ATOMS: gpu.return

!M = !cute.memref<!cute.param<"T">, gmem, align<16>, "(?,?):(?{i64 div=$V},1)">
!P = !cute.memref<!cute.param<"T">, gmem, align<16>, "(32,$(16*V)):($(16*V),1)">
!W = !cute.memref<!cute.param<"T">, gmem, align<16>, "(?,?{div=$V}):(?{i64 div=$V},1)">
!async = !cute.tiled_copy<!cute_nvgpu.atom.simt_async_copy<!cute.param<"T">, cache = global, 128 b>, layout_copy_tv = <"((8,16),$V):(($(16*V),1),16)">, tiler_mn = <"[16:1;$(8*V):1]">>
!move = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<!cute.param<"T">, 128 b>, layout_copy_tv = <"((8,16),$V):(($(16*V),1),16)">, tiler_mn = <"[16:1;$(8*V):1]">>
!shared = !cute.memref<!cute.param<"T">, smem, align<128>, "(32,$(16*V)):($(16*V),1)">

module attributes {gpu.container_module, cute.parameters = {T = f16, V = 8}} {
  gpu.module @kernels {
    cute.import "std/index"
    cute.import "std/copy"

    func.func private @place() -> (!cute.coord<"(?,?)">, !cute.coord<"?">) {
      %x = cute.call @block_x() -> i32
      %y = cute.call @block_y() -> i32
      %at = cute.make_coord(%x, %y)
      %thread = cute.call @thread()
      return %at, %thread : !cute.coord<"(?,?)">, !cute.coord<"?">
    }

    gpu.func @by_async_kernel(%S: !M, %D: !M) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
      %at, %thread = cute.call @place()
      %tiler = cute.static "[32:1;$(16*V):1]"
      %tile = cute.memref.alloca() : !shared
      %async = cute.static : !async
      %move = cute.static : !move
      cute.call @load_within(%async, %S, %tiler, %at, %tile, %thread)
      nvvm.cp.async.commit.group
      nvvm.cp.async.wait.group 0
      cute.call @store_within(%move, %tile, %D, %tiler, %at, %thread)
      gpu.return
    }

    gpu.func @by_registers_kernel(%S: !M, %D: !M) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
      %at, %thread = cute.call @place()
      %tiler = cute.static "[32:1;$(16*V):1]"
      %move = cute.static : !move
      %like = cute.local_tile(%S, %tiler, %at)
      %part = cute.tiled.copy.partition_S(%move, %like, %thread)
      %frag = cute.make_fragment_like(%part)
      cute.call @load_within(%move, %S, %tiler, %at, %frag, %thread)
      cute.call @store_within(%move, %frag, %D, %tiler, %at, %thread)
      gpu.return
    }

    gpu.func @straight_kernel(%S: !M {cute.noalias}, %D: !M {cute.noalias}) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
      %at, %thread = cute.call @place()
      %tiler = cute.static "[32:1;$(16*V):1]"
      %move = cute.static : !move
      %to = cute.local_tile(%D, %tiler, %at)
      cute.call @load_within(%move, %S, %tiler, %at, %to, %thread)
      gpu.return
    }

    gpu.func @through_shared_kernel(%S: !M, %D: !M) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
      %at, %thread = cute.call @place()
      %tiler = cute.static "[32:1;$(16*V):1]"
      %tile = cute.memref.alloca() : !shared
      %move = cute.static : !move
      cute.call @load_within(%move, %S, %tiler, %at, %tile, %thread)
      cute.call @store_within(%move, %tile, %D, %tiler, %at, %thread)
      gpu.return
    }

    // A whole tile of what there is of another one.
    gpu.func @padded_kernel(%S: !M, %D: !P) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
      %at, %thread = cute.call @place()
      %tile = cute.memref.alloca() : !shared
      %async = cute.static : !async
      %move = cute.static : !move
      %tiler = cute.static "[32:1;$(16*V):1]"
      cute.call @load_within(%async, %S, %tiler, %at, %tile, %thread)
      nvvm.cp.async.commit.group
      nvvm.cp.async.wait.group 0
      cute.copy_tile(%move, %thread, %tile, %D)
      gpu.return
    }

    // From a row and eight columns before the matrix on: zeros are there.
    func.func private @shifted(%S: !M) -> (!cute.any, !cute.any, !cute.any) {
      %coords, %shape = cute.call @coordinates(%S)
      %from = cute.domain_offset("(-1,-8)", %S)
      %places = cute.domain_offset("(-1,-8)", %coords)
      %at = cute.static coord "(0,0)"
      %tile = cute.local_tile(%from, "[32:1;$(16*V):1]", %at)
      %there = cute.local_tile(%places, "[32:1;$(16*V):1]", %at)
      return %tile, %there, %shape : !cute.any, !cute.any, !cute.any
    }

    gpu.func @padded_halo_kernel(%S: !M, %D: !P) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
      %thread = cute.call @thread()
      %gS, %cS, %shape = cute.call @shifted(%S)
      %tile = cute.memref.alloca() : !shared
      %async = cute.static : !async
      %move = cute.static : !move
      cute.copy_tile(%async, %thread, %gS, %tile) within(%cS, %shape)
      nvvm.cp.async.commit.group
      nvvm.cp.async.wait.group 0
      cute.copy_tile(%move, %thread, %tile, %D)
      gpu.return
    }

    gpu.func @halo_kernel(%S: !M, %D: !P) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
      %thread = cute.call @thread()
      %gS, %cS, %shape = cute.call @shifted(%S)
      %move = cute.static : !move
      %part = cute.tiled.copy.partition_S(%move, %gS, %thread)
      %frag = cute.make_fragment_like(%part)
      cute.copy_tile(%move, %thread, %gS, %frag) within(%cS, %shape)
      cute.copy_tile(%move, %thread, %frag, %D)
      gpu.return
    }

    // Rows of whole vectors: a predicate for each, and no branch.
    gpu.func @vectors_kernel(%S: !W, %D: !W) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
      %at, %thread = cute.call @place()
      %tiler = cute.static "[32:1;$(16*V):1]"
      %move = cute.static : !move
      %like = cute.local_tile(%S, %tiler, %at)
      %part = cute.tiled.copy.partition_S(%move, %like, %thread)
      %frag = cute.make_fragment_like(%part)
      cute.call @load_within(%move, %S, %tiler, %at, %frag, %thread)
      cute.call @store_within(%move, %frag, %D, %tiler, %at, %thread)
      gpu.return
    }
  }

  func.func @by_async(%S: !M {cute.name = "src"}, %D: !M {cute.name = "dst"}) attributes {cute.computes = [{copy = array<i64: 0, 1>}]} {
    %shape = cute.get_shape(%S)
    %grid = cute.ceil_div(%shape, "(32,$(16*V))")
    cute.launch @kernels::@by_async_kernel blocks(%grid) args(%S, %D)
    return
  }

  func.func @by_registers(%S: !M {cute.name = "src"}, %D: !M {cute.name = "dst"}) attributes {cute.computes = [{copy = array<i64: 0, 1>}]} {
    %shape = cute.get_shape(%S)
    %grid = cute.ceil_div(%shape, "(32,$(16*V))")
    cute.launch @kernels::@by_registers_kernel blocks(%grid) args(%S, %D)
    return
  }

  func.func @straight(%S: !M {cute.name = "src"}, %D: !M {cute.name = "dst"}) attributes {cute.computes = [{copy = array<i64: 0, 1>}]} {
    %shape = cute.get_shape(%S)
    %grid = cute.ceil_div(%shape, "(32,$(16*V))")
    cute.launch @kernels::@straight_kernel blocks(%grid) args(%S, %D)
    return
  }

  func.func @through_shared(%S: !M {cute.name = "src"}, %D: !M {cute.name = "dst"}) attributes {cute.computes = [{copy = array<i64: 0, 1>}]} {
    %shape = cute.get_shape(%S)
    %grid = cute.ceil_div(%shape, "(32,$(16*V))")
    cute.launch @kernels::@through_shared_kernel blocks(%grid) args(%S, %D)
    return
  }

  func.func @vectors(%S: !W {cute.name = "src"}, %D: !W {cute.name = "dst"}) attributes {cute.computes = [{copy = array<i64: 0, 1>}]} {
    %shape = cute.get_shape(%S)
    %grid = cute.ceil_div(%shape, "(32,$(16*V))")
    cute.launch @kernels::@vectors_kernel blocks(%grid) args(%S, %D)
    return
  }

  func.func @padded(%S: !M {cute.name = "src"}, %D: !P {cute.name = "dst"}) {
    %grid = cute.static shape "(1,1)"
    cute.launch @kernels::@padded_kernel blocks(%grid) args(%S, %D)
    return
  }

  func.func @padded_halo(%S: !M {cute.name = "src"}, %D: !P {cute.name = "dst"}) {
    %grid = cute.static shape "(1,1)"
    cute.launch @kernels::@padded_halo_kernel blocks(%grid) args(%S, %D)
    return
  }

  func.func @halo(%S: !M {cute.name = "src"}, %D: !P {cute.name = "dst"}) {
    %grid = cute.static shape "(1,1)"
    cute.launch @kernels::@halo_kernel blocks(%grid) args(%S, %D)
    return
  }
}
