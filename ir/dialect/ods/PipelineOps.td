//===- PipelineOps.td - rings of buffers between copies and their consumers ===//
//
// Part of cute-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CUTE_PIPELINE_OPS_TD
#define CUTE_PIPELINE_OPS_TD

include "CuteTypes.td"

def Cute_Pipelines : Cute_Group<"Pipelines", [{
  A ring of buffers that asynchronous copies fill. Tokens say what waits for what.
}]>;

def Cute_PipelineCreateOp : Cute_Op<"pipeline.create"> {
  let summary = "A ring of buffers, all free";
  let description = [{
    `free` is the token of the first use of each buffer.

    ```mlir
    %p, %free = cute.pipeline.create : !cute.pipeline<3>, !cute.token
    ```
  }];
  let results = (outs Res<Cute_PipelineType, "", [MemAlloc]>:$pipeline, Cute_TokenType:$free);
  let assemblyFormat = "attr-dict `:` qualified(type($pipeline)) `,` qualified(type($free))";
  let opDocGroup = Cute_Pipelines;
}

class Cute_SlotOp<string mnemonic> : Cute_Op<mnemonic> {
  let arguments = (ins Arg<Cute_PipelineType, "", [MemRead, MemWrite]>:$pipeline, Cute_TokenType:$token, I32:$iteration);
  let results = (outs I32:$slot);
  let assemblyFormat = "`(` $pipeline `,` $token `,` $iteration `)` attr-dict `:` qualified(type($pipeline))";
}

def Cute_ProducerAcquireOp : Cute_SlotOp<"pipeline.producer_acquire"> {
  let summary = "Waits until the buffer of an iteration is free, and gives its index";
  let description = [{
    `token` is the release of the buffer's last use.

    ```mlir
    // Given %p: !cute.pipeline<3>, %free: !cute.token, %k: i32
    %slot = cute.pipeline.producer_acquire(%p, %free, %k) : !cute.pipeline<3>
    ```
  }];
  let opDocGroup = Cute_Pipelines;
}

def Cute_ConsumerWaitOp : Cute_SlotOp<"pipeline.consumer_wait"> {
  let summary = "Waits until the buffer of an iteration is filled, and gives its index";
  let description = [{
    `token` is the commit that filled it.

    ```mlir
    // Given %p: !cute.pipeline<3>, %full: !cute.token, %k: i32
    %slot = cute.pipeline.consumer_wait(%p, %full, %k) : !cute.pipeline<3>
    ```
  }];
  let opDocGroup = Cute_Pipelines;
}

def Cute_ProducerTailOp : Cute_Op<"pipeline.producer_tail"> {
  let summary = "Waits until every committed copy of this thread has landed";
  let description = [{
    Behind it the pipeline's buffers are not written any more by this thread's copies.

    ```mlir
    // Given %p: !cute.pipeline<3>
    cute.pipeline.producer_tail(%p) : !cute.pipeline<3>
    ```
  }];
  let arguments = (ins Arg<Cute_PipelineType, "", [MemRead, MemWrite]>:$pipeline);
  let assemblyFormat = "`(` $pipeline `)` attr-dict `:` qualified(type($pipeline))";
  let opDocGroup = Cute_Pipelines;
}

class Cute_TokenOp<string mnemonic> : Cute_Op<mnemonic> {
  let arguments = (ins Arg<Cute_PipelineType, "", [MemRead, MemWrite]>:$pipeline);
  let results = (outs Cute_TokenType:$token);
  let assemblyFormat = "`(` $pipeline `)` attr-dict `:` qualified(type($pipeline))";
}

def Cute_ProducerCommitOp : Cute_TokenOp<"pipeline.producer_commit"> {
  let summary = "Closes the group of copies that fill a buffer";
  let description = [{
    Who waits for the token finds the copies landed that were issued since the last
    commit.

    ```mlir
    // Given %p: !cute.pipeline<3>
    %full = cute.pipeline.producer_commit(%p) : !cute.pipeline<3>
    ```
  }];
  let opDocGroup = Cute_Pipelines;
}

def Cute_ConsumerReleaseOp : Cute_TokenOp<"pipeline.consumer_release"> {
  let summary = "This thread reads the buffer no more";
  let description = [{
    The token lets a producer fill the buffer again.

    ```mlir
    // Given %p: !cute.pipeline<3>
    %free = cute.pipeline.consumer_release(%p) : !cute.pipeline<3>
    ```
  }];
  let opDocGroup = Cute_Pipelines;
}

#endif
