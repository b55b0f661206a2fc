//===- HopperPipelines.td - rings of buffers that mbarriers guard, by hand -===//
//
// Part of cute-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CUTE_HOPPER_PIPELINES_TD
#define CUTE_HOPPER_PIPELINES_TD

include "CuteNvgpu.td"
include "CuteTypes.td"
include "HopperOps.td"

def CuteNvgpu_Pipelines : Cute_Group<"Pipelines with mbarriers", [{
  A ring of buffers, called places, that warps with roles pass on, as CUTLASS' `PipelineTmaAsync` and `PipelineAsync` do: those who copy fill one place after another,
  and those who compute read them in the same order. Each place has two mbarriers, one that its bytes complete and one at which its readers arrive.

  Both sides count what they fill or read, from 0 on through all tiles: number i is in place i modulo the number of places. Phases and their parities follow
  from that. How many bytes a place is to bring follows from the loads that are on it, how many arrivals from the warps that read it.
}]>;

def CuteNvgpu_PipelineCreateOp : CuteNvgpu_Op<"pipeline.create"> {
  let summary = "The mbarriers of a ring of buffers, all free";
  let description = [{
    `warps` warps of a block read each place, and each of them releases it. The shared memory that is filled is a tensor of the kernel's own; the ring is `cute.slice` of it at a place.

    In a cluster whose first `blocks` blocks fill each other's places, by loads with `multicast`, a place is free when the warps of all these blocks have released it, and its bytes are those
    that all of them send: each block starts the same loads.

    With `threads` a place is filled by `cp.async` of so many threads, each of which acquires it and commits it.

    It stands in the kernel's own block, before every use of a pipeline, as all threads of the block, or of the cluster, meet behind it.

    ```mlir
    %p = cute_nvgpu.pipeline.create warps 8 : !cute.pipeline<4, mbarrier>
    %q = cute_nvgpu.pipeline.create warps 8 blocks 2 : !cute.pipeline<4, mbarrier>
    %r = cute_nvgpu.pipeline.create warps 8 threads 128 : !cute.pipeline<4, mbarrier>
    ```
  }];
  let arguments = (ins I64Attr:$warps, OptionalAttr<I64Attr>:$blocks, OptionalAttr<I64Attr>:$threads);
  let results = (outs Res<Cute_PipelineType, "", [MemAlloc]>:$pipeline);
  let assemblyFormat = "`warps` $warps (`blocks` $blocks^)? (`threads` $threads^)? attr-dict `:` qualified(type($pipeline))";
  let opDocGroup = CuteNvgpu_Pipelines;
}

/// An op on what is number `iteration` in a pipeline.
class CuteNvgpu_PipelineOp<string mnemonic> : CuteNvgpu_Op<mnemonic> {
  let arguments = (ins Arg<Cute_PipelineType, "", [MemRead, MemWrite]>:$pipeline, I32:$iteration);
  let assemblyFormat = "`(` $pipeline `,` $iteration `)` attr-dict `:` qualified(type($pipeline))";
  let opDocGroup = CuteNvgpu_Pipelines;
}

class CuteNvgpu_PlaceOp<string mnemonic> : CuteNvgpu_PipelineOp<mnemonic> {
  let results = (outs I32:$place);
}

def CuteNvgpu_ProducerAcquireOp : CuteNvgpu_PlaceOp<"pipeline.producer_acquire"> {
  let summary = "Waits until a place is free, and gives its index";
  let description = [{
    One thread does so, which then starts the loads of that place, in the same block of operations, each `on` the pipeline at this index. Together they are what readers wait for.
    Where `cp.async` fills the ring, all threads that copy do so.

    ```mlir
    !tma = !cute_nvgpu.atom.tma_load<f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, swizzle = 128>
    !tile = !cute.coord_tensor<"(?,?)", "(128,64):(1@1,1@0)">
    !sA = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(128,64):(64,1)">
    // Given %p: !cute.pipeline<4, mbarrier>, %i: i32, %atom: !tma, %tile: !tile, %sA: !sA
    %place = cute_nvgpu.pipeline.producer_acquire(%p, %i) : !cute.pipeline<4, mbarrier>
    cute_nvgpu.tma_load(%atom, [%tile], %sA) on %p[%place] : (!tma, [!tile], !sA), !cute.pipeline<4, mbarrier>
    ```
  }];
}

def CuteNvgpu_ProducerCommitOp : CuteNvgpu_PipelineOp<"pipeline.producer_commit"> {
  let summary = "Says that a place is full once this thread's `cp.async` so far are done";
  let description = [{
    Of a pipeline with `threads`. The thread does not wait.

    ```mlir
    // Given %p: !cute.pipeline<4, mbarrier>, %i: i32
    cute_nvgpu.pipeline.producer_commit(%p, %i) : !cute.pipeline<4, mbarrier>
    ```
  }];
}

def CuteNvgpu_ConsumerWaitOp : CuteNvgpu_PlaceOp<"pipeline.consumer_wait"> {
  let summary = "Waits until a place is full, and gives its index";
  let description = [{
    ```mlir
    // Given %p: !cute.pipeline<4, mbarrier>, %i: i32
    %place = cute_nvgpu.pipeline.consumer_wait(%p, %i) : !cute.pipeline<4, mbarrier>
    ```
  }];
}

def CuteNvgpu_ConsumerReleaseOp : CuteNvgpu_PipelineOp<"pipeline.consumer_release"> {
  let summary = "This warp reads a place no more";
  let description = [{
    All threads of each warp that reads it do so, behind the wait for what reads it (`cute_nvgpu.wgmma_wait_group`). Where other instructions than `wgmma` read the ring, a fence of
    proxies is put ahead of the release.

    ```mlir
    // Given %p: !cute.pipeline<4, mbarrier>, %i: i32
    cute_nvgpu.pipeline.consumer_release(%p, %i) : !cute.pipeline<4, mbarrier>
    ```
  }];
}

def CuteNvgpu_NamedBarriersOp : CuteNvgpu_Op<"named_barriers"> {
  let summary = "So many barriers of the block that nothing else in the kernel uses: the number of the first, and those behind it";
  let description = [{
    A block has 16 barriers (PTX ISA, `barrier`), of which `gpu.barrier` is number 0. `cute-number-barriers` chooses numbers that no other barrier of the kernel has, be it written as a number or
    made by a pass. It stands in the kernel's own block.

    ```mlir
    // Given %group: i32, %threads: i32
    %first = cute_nvgpu.named_barriers 2
    %own = arith.addi %first, %group : i32
    nvvm.barrier id = %own number_of_threads = %threads
    ```
  }];
  let arguments = (ins I64Attr:$count);
  let results = (outs Res<I32, "", [MemAlloc]>:$first);
  let assemblyFormat = "$count attr-dict";
  let opDocGroup = CuteNvgpu_Barriers;
}

def Cute_Roles : Cute_Group<"Roles of warps", [{
  Warps of a block that do different things at the same time, as those of CUTLASS' warp-specialised kernels do: some bring tiles to shared memory, and others multiply them. What
  passes between them is a pipeline ([pipelines with mbarriers](#pipelines-with-mbarriers)), an mbarrier or a named barrier.
}]>;

def Cute_WarpSpecializeOp : Cute_Op<"warp_specialize", [RecursiveMemoryEffects, NoTerminator, SingleBlock]> {
  let summary = "Gives the warps of a block roles, each of which runs a region of its own";
  let description = [{
    The first role has the first warps of the block, the next one those behind them, and so on through all warps that `known_block_size` says. A region is given the index of the thread
    among those of its role, and the index of the warp among those of its role, which is the same in all threads of a warp, so that branches on it are uniform.

    `registers` is how many registers a thread of the role may have (PTX ISA, `setmaxnreg`): all roles say it or none, in multiples of 8 from 24 to 256, and each role has whole
    warpgroups then. Together they are at most what the block has. The kernel gets `nvvm.maxnreg`, by which ptxas knows what threads have before their roles begin.

    It stands in the kernel's own block, where all threads come by. Roles may share values from around the op. A barrier of the whole block within a role is an error, as the other
    roles never come there; so is a tensor in shared memory that one role writes and another touches where they have no mbarrier and no named barrier in common.

    ```mlir
    // Given %p: !cute.pipeline<4, mbarrier>, %i: i32
    cute.warp_specialize
    role(%t, %warp) warps 4 registers 40 {
      %place = cute_nvgpu.pipeline.producer_acquire(%p, %i) : !cute.pipeline<4, mbarrier>
    }
    role(%t, %warp) warps 8 registers 232 {
      %place = cute_nvgpu.pipeline.consumer_wait(%p, %i) : !cute.pipeline<4, mbarrier>
      cute_nvgpu.pipeline.consumer_release(%p, %i) : !cute.pipeline<4, mbarrier>
    }
    ```
  }];
  let arguments = (ins DenseI64ArrayAttr:$warps, OptionalAttr<DenseI64ArrayAttr>:$registers);
  let regions = (region VariadicRegion<SizedRegion<1>>:$roles);
  let assemblyFormat = "custom<Roles>($roles, $warps, $registers) attr-dict";
  let opDocGroup = Cute_Roles;
}

#endif
