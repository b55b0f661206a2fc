//===- CuteAttrs.td - values of the layout algebra as attributes ----------===//
//
// Part of cute-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CUTE_ATTRS_TD
#define CUTE_ATTRS_TD

include "CuteBase.td"

/// The parameter is the canonical text, as in the type of the same name.
class Cute_TextAttr<string name, string mnem> : AttrDef<Cute_Dialect, name> {
  let mnemonic = mnem;
  let parameters = (ins StringRefParameter<"canonical text">:$text);
  let hasCustomAssemblyFormat = 1;
}

def Cute_IntTupleAttr : Cute_TextAttr<"IntTuple", "int_tuple"> {
  let summary = "The value of an `!cute.int_tuple`";
  let description = [{
    What `cute.static` of that type folds to.

    ```mlir
    #cute.int_tuple<"(1,(2,?))">
    ```
  }];
}
def Cute_ShapeAttr : Cute_TextAttr<"Shape", "shape"> {
  let summary = "The value of a `!cute.shape`";
  let description = [{
    What `cute.static` of that type folds to.

    ```mlir
    #cute.shape<"(4,(2,8))">
    ```
  }];
}
def Cute_StrideAttr : Cute_TextAttr<"Stride", "stride"> {
  let summary = "The value of a `!cute.stride`";
  let description = [{
    What `cute.static` of that type folds to.

    ```mlir
    #cute.stride<"(1@0,1@1)">
    ```
  }];
}
def Cute_CoordAttr : Cute_TextAttr<"Coord", "coord"> {
  let summary = "The value of a `!cute.coord`";
  let description = [{
    What `cute.static` of that type folds to.

    ```mlir
    #cute.coord<"(_,1)">
    ```
  }];
}
def Cute_LayoutAttr : Cute_TextAttr<"Layout", "layout"> {
  let summary = "The value of a `!cute.layout`";
  let description = [{
    What `cute.static` of that type folds to.

    ```mlir
    #cute.layout<"(4,8):(1,4)">
    ```
  }];
}
def Cute_TileAttr : Cute_TextAttr<"Tile", "tile"> {
  let summary = "The value of a `!cute.tile`";
  let description = [{
    What `cute.static` of that type folds to.

    ```mlir
    #cute.tile<"[128:1;_]">
    ```
  }];
}
def Cute_SwizzleAttr : Cute_TextAttr<"Swizzle", "swizzle"> {
  let summary = "The value of a `!cute.swizzle`";
  let description = [{
    What `cute.static` of that type folds to.

    ```mlir
    #cute.swizzle<"S<3,4,3>">
    ```
  }];
}
def Cute_ComposedLayoutAttr : Cute_TextAttr<"ComposedLayout", "composed_layout"> {
  let summary = "The value of a `!cute.composed_layout`";
  let description = [{
    What `cute.static` of that type folds to.

    ```mlir
    #cute.composed_layout<"S<3,5,4> o 0 o (8,4):(1,8)">
    ```
  }];
}

def Cute_ParamAttr : Cute_TextAttr<"Param", "param"> {
  let summary = "The value of a parameter, or an integer that is computed of some";
  let description = [{
    Stands for what a parameter of a module or function is given: an integer, a type, a layout or a tile. Arithmetic on parameters is
    `+ - *`, `/` (exact, or an error), `%`, `ceil_div`, `min`, `max` and parentheses. It may be an argument of a `cute.call`, an integer that an
    attribute of the dialect says (`cute.stages`, `cute.unroll`), and part of what `cute.given` says.

    ```mlir
    #cute.param<"D">
    #cute.param<"D/16">
    ```
  }];
}

//===----------------------------------------------------------------------===//
// The way in which a kernel computes what it computes
//===----------------------------------------------------------------------===//

def Cute_MovementAttr : AttrDef<Cute_Dialect, "Movement"> {
  let mnemonic = "movement";
  let summary = "A step on the way of an operand's tile: a copy by one atom";
  let description = [{
    By which atom the threads of a block copy a tile, and how they know that it is done: `immediate`,
    with the instruction, `group`, by commit and wait of cp.async, `mbarrier`, by the bytes of a TMA load, or `bulk`, by the bulk group of a TMA
    store; as the atom does.

    Where the tile stops in shared memory, `smem` is its layout there in elements, after a swizzle of
    byte addresses where it has one, and `buffers` the number of tiles that lie there at once.

    ```mlir
    #cute.movement<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, group, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 3>
    #cute.movement<!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, immediate>
    ```
  }];
  let parameters = (ins "::mlir::Type":$atom,
    StringRefParameter<"immediate, group, mbarrier or bulk">:$completion,
    StringRefParameter<"swizzle or empty">:$swizzle,
    StringRefParameter<"layout or empty">:$layout, "int64_t":$buffers);
  let assemblyFormat = [{
    `<` $atom `,` custom<Keyword>($completion) ``
        custom<SharedTile>($swizzle, $layout, $buffers) `>` }];
  let genVerifyDecl = 1;
}

def Cute_PlanAttr : AttrDef<Cute_Dialect, "Plan"> {
  let mnemonic = "plan";
  let summary = "The way in which a kernel computes a product of whole tensors";
  let description = [{
    `cute-tile` chooses it, or takes the one that the product has as `cute.plan`, and leaves it on the
    kernel as `cute.plan`; all later passes execute it. A change to it there is a change of the kernel.

    - `tile`: M, N and K of the tile that a block computes at a time.
    - `stages`: iterations of the loop over K that are in flight at once; 1 is no pipelining.
    - `raster`: blocks, or clusters, along M that are neighbours in launch order, so that they share B in L2.
    - `split`: blocks that share the sums of a tile of C along K, each a range of its tiles; 1 where it is not written. Of more
      than 1, each leaves its sums in a workspace, and a second kernel adds them.
    - `stream`: blocks of a multiprocessor that run at once, and that the last tiles are dealt out to where they fill no whole wave (stream-K, Osama
      et al. 2023); 0, which is not written, for none. Tiles of whole waves have a block each, but for the last such wave where `split` is 2, so that ranges are no
      shorter than a tile. Of the others all tiles along K, one tile's behind the other's, are cut into even ranges, a block each: a tile that is within one range is
      done there, and blocks that share one, `split` of them at most, leave their sums in a workspace, for a second kernel to add.
    - `cluster_m`, `cluster_n`: blocks along M and N of a cluster, whose tiles of C are neighbours; 1 where it is not written. Those along M share the
      loads of B, those along N the loads of A: each loads a slice for all of them.
    - `cluster_k`: blocks of a cluster that share a tile of C along K, each a range of its tiles, and add their sums through shared memory: each
      adds and stores some of the columns of C. 1 where it is not written.
    - `teams`: groups of warpgroups of a block that take tiles of C in turn, each all of a tile; 1 where it is not written. With 2 (CUTLASS: ping-pong) one
      team's sums go out while the other multiplies. Each has a tile of C in shared memory; the ring of A and B is for all.
    - `mma`: the atom that multiplies, and its tiling over the warps of a team.
    - `A`, `B`, `C`: the movements of each operand in the order in which they happen. A and B come from
      global memory through shared memory into registers, in a ring of as many buffers as there are
      stages. C, rounded to its own type, goes from registers through one tile in shared memory into
      global memory. Where `split` is more than 1, sums go from registers to a tile in the workspace that has the layout of C's
      tile in shared memory, without its swizzle, and the second kernel accesses tiles of C by C's second movement; where `stream` is written, sums of
      whole tiles go through shared memory, as those of an epilogue do.

    Where A and B come by TMA, by one movement each, `mma` reads them from shared memory, and warps have roles: a warpgroup copies, the others
    multiply. C goes out in parts of as many columns as its tile in shared memory has; where that has several buffers, through them in turn, so that one is
    written while TMA reads another. Blocks stay, and take one tile of C after another.

    A copy between registers and shared memory is tiled as `mma` holds the operand in registers. In any
    other, neighbouring threads copy neighbouring vectors of a row.

    ```mlir
    #cute.plan<tile = 32x32x32, stages = 3, raster = 8,
      mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <"(1,2,1):(1,1,0)">, permutation_MNK = <"[16:1;32:1;16:1]">>,
      A = [<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, group, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 3>,
           <!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, immediate>],
      B = [<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, group, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 3>,
           <!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, immediate>],
      C = [<!cute_nvgpu.atom.universal_copy<f16, 32 b>, immediate, smem = <S<2,4,3>, "(32,32):(32,1)">, buffers = 1>,
           <!cute_nvgpu.atom.universal_copy<f16, 128 b>, immediate>]>
    ```
  }];
  let parameters = (ins "int64_t":$m, "int64_t":$n, "int64_t":$k, "int64_t":$stages,
    "int64_t":$raster, DefaultValuedParameter<"int64_t", "1">:$split, DefaultValuedParameter<"int64_t", "0">:$stream, DefaultValuedParameter<"int64_t", "1">:$clusterM,
    DefaultValuedParameter<"int64_t", "1">:$clusterN, DefaultValuedParameter<"int64_t", "1">:$clusterK, DefaultValuedParameter<"int64_t", "1">:$teams, "::mlir::Type":$mma, "::mlir::ArrayAttr":$a, "::mlir::ArrayAttr":$b,
    "::mlir::ArrayAttr":$c);
  let assemblyFormat = [{
    `<` `tile` `=` custom<ShapeMNK>($m, $n, $k) `,` `stages` `=` $stages `,`
        `raster` `=` $raster `,` (`split` `=` $split^ `,`)? (`stream` `=` $stream^ `,`)? (`cluster_m` `=` $clusterM^ `,`)? (`cluster_n` `=` $clusterN^ `,`)?
        (`cluster_k` `=` $clusterK^ `,`)?
        (`teams` `=` $teams^ `,`)? `mma` `=` $mma `,` `A` `=` custom<Movements>($a) `,`
        `B` `=` custom<Movements>($b) `,` `C` `=` custom<Movements>($c) `>` }];
  let genVerifyDecl = 1;
}

#endif
