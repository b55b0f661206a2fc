//===- HopperOps.td - barriers, TMA and products of warpgroups, by hand ---===//
//
// Part of cute-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CUTE_HOPPER_OPS_TD
#define CUTE_HOPPER_OPS_TD

include "CuteNvgpu.td"
include "CuteTypes.td"

//===----------------------------------------------------------------------===//
// Barriers in shared memory
//===----------------------------------------------------------------------===//

def CuteNvgpu_Barriers : Cute_Group<"Barriers in shared memory", [{
  An mbarrier is 8 bytes of shared memory, an element of a tensor of i64: `%bars[%i]` is the element at index `%i`, and `%bars` alone the
  first. A pointer to one, `!cute.ptr<i64, smem>`, or LLVM's, `!llvm.ptr<3>`, stands for it as well. It counts arrivals, and bytes that asynchronous copies are to bring; when both are complete its phase ends, and the next begins.
  Phases are told apart by their parity (PTX ISA, mbarrier).
}]>;

/// Mbarriers, or a pointer to one.
def CuteNvgpu_Mbarriers : AnyTypeOf<[Cute_MemRefType, Cute_PtrType, Cute_LlvmPtrType],
    "mbarriers, !cute.memref<i64, smem, ...>, or a pointer to one, !cute.ptr<i64, smem> or !llvm.ptr<3>">;

/// An op on an mbarrier.
class CuteNvgpu_BarrierOp<string mnemonic, dag more, string syntax, string types> : CuteNvgpu_Op<mnemonic> {
  let arguments = !con((ins Arg<CuteNvgpu_Mbarriers, "", [MemRead, MemWrite]>:$barriers, Optional<I32>:$index), more);
  let assemblyFormat = "$barriers (`[` $index^ `]`)? " # syntax # " attr-dict `:` qualified(type($barriers))" # types;
  let opDocGroup = CuteNvgpu_Barriers;
}

def CuteNvgpu_MbarrierInitOp : CuteNvgpu_BarrierOp<"mbarrier_init", (ins I32:$count), "`,` $count", ""> {
  let summary = "Makes an mbarrier that so many arrivals end a phase of";
  let description = [{
    One thread does it, and `nvvm.fence.mbarrier.init` and a barrier of the block behind it let the others and asynchronous copies see it.

    ```mlir
    !bars = !cute.memref<i64, smem, align<8>, "4:1">
    // Given %full: !bars, %i: i32, %one: i32
    cute_nvgpu.mbarrier_init %full[%i], %one : !bars
    ```
  }];
}

def CuteNvgpu_MbarrierInvalOp : CuteNvgpu_BarrierOp<"mbarrier_inval", (ins), "", ""> {
  let summary = "Ends an mbarrier, so that its bytes may hold something else";
  let description = [{
    ```mlir
    !bars = !cute.memref<i64, smem, align<8>, "4:1">
    // Given %full: !bars, %i: i32
    cute_nvgpu.mbarrier_inval %full[%i] : !bars
    ```
  }];
}

def CuteNvgpu_MbarrierArriveOp : CuteNvgpu_BarrierOp<"mbarrier_arrive", (ins), "", ""> {
  let summary = "One arrival at an mbarrier";
  let description = [{
    What this thread did before is seen by those that wait for the phase.

    ```mlir
    !bars = !cute.memref<i64, smem, align<8>, "4:1">
    // Given %empty: !bars, %i: i32
    cute_nvgpu.mbarrier_arrive %empty[%i] : !bars
    ```
  }];
}

def CuteNvgpu_CpAsyncMbarrierArriveOp : CuteNvgpu_Op<"cp_async_mbarrier_arrive"> {
  let summary = "An arrival at an mbarrier once the thread's asynchronous copies so far are done (PTX ISA, cp.async.mbarrier.arrive)";
  let description = [{
    With `noinc` it is one of the arrivals that the mbarrier was made for; without, it expects one more first, so that the phase ends when it has come beside those.
    Products of warpgroups read what the copies wrote behind a wait and a `nvvm.fence.proxy` of theirs.

    ```mlir
    !bars = !cute.memref<i64, smem, align<8>, "4:1">
    // Given %full: !bars, %i: i32
    cute_nvgpu.cp_async_mbarrier_arrive %full[%i] noinc : !bars
    ```
  }];
  let arguments = (ins Arg<CuteNvgpu_Mbarriers, "", [MemRead, MemWrite]>:$barriers, Optional<I32>:$index, UnitAttr:$noinc);
  let assemblyFormat = "$barriers (`[` $index^ `]`)? (`noinc` $noinc^)? attr-dict `:` qualified(type($barriers))";
  let opDocGroup = CuteNvgpu_Barriers;
}

def CuteNvgpu_MbarrierArriveAtOp : CuteNvgpu_BarrierOp<"mbarrier_arrive_at", (ins I32:$block), "`,` $block", ""> {
  let summary = "One arrival at the mbarrier of a block of the cluster";
  let description = [{
    `block` is its rank in the cluster, and the mbarrier the one at the same place in its shared memory (PTX ISA, mapa, mbarrier.arrive). It says that
    this thread has read what it needed; what it wrote is not ordered for other blocks: an arrival that releases to the cluster waits
    for all writes of the thread, some microseconds over a loop's turns.

    ```mlir
    !bars = !cute.memref<i64, smem, align<8>, "4:1">
    // Given %empty: !bars, %i: i32, %block: i32
    cute_nvgpu.mbarrier_arrive_at %empty[%i], %block : !bars
    ```
  }];
}

def CuteNvgpu_MbarrierArriveAndExpectTxOp
    : CuteNvgpu_BarrierOp<"mbarrier_arrive_and_expect_tx", (ins I32:$bytes), "`,` $bytes", ""> {
  let summary = "One arrival at an mbarrier, and bytes that copies are to bring in this phase";
  let description = [{
    ```mlir
    !bars = !cute.memref<i64, smem, align<8>, "4:1">
    // Given %full: !bars, %i: i32, %bytes: i32
    cute_nvgpu.mbarrier_arrive_and_expect_tx %full[%i], %bytes : !bars
    ```
  }];
}

def CuteNvgpu_MbarrierExpectTxOp
    : CuteNvgpu_BarrierOp<"mbarrier_expect_tx", (ins I32:$bytes), "`,` $bytes", ""> {
  let summary = "Bytes that copies are to bring in this phase of an mbarrier";
  let description = [{
    ```mlir
    !bars = !cute.memref<i64, smem, align<8>, "4:1">
    // Given %full: !bars, %i: i32, %bytes: i32
    cute_nvgpu.mbarrier_expect_tx %full[%i], %bytes : !bars
    ```
  }];
}

def CuteNvgpu_MbarrierWaitOp : CuteNvgpu_BarrierOp<"mbarrier_wait", (ins I32:$parity), "`,` $parity", ""> {
  let summary = "Waits until the phase of an mbarrier of that parity has ended";
  let description = [{
    The first phase has parity 0; a wait for parity 1 of a new mbarrier is over at once. A wait is for the current phase or the one
    before: of an older one it cannot tell.

    ```mlir
    !bars = !cute.memref<i64, smem, align<8>, "4:1">
    // Given %full: !bars, %i: i32, %parity: i32
    cute_nvgpu.mbarrier_wait %full[%i], %parity : !bars
    ```
  }];
}

def CuteNvgpu_MbarrierTryWaitOp
    : CuteNvgpu_BarrierOp<"mbarrier_try_wait", (ins I32:$parity), "`,` $parity", ""> {
  let summary = "Tells whether the phase of an mbarrier of that parity has ended, within a while";
  let description = [{
    The thread may sleep until then, but not for ever.

    ```mlir
    !bars = !cute.memref<i64, smem, align<8>, "4:1">
    // Given %full: !bars, %i: i32, %parity: i32
    %is = cute_nvgpu.mbarrier_try_wait %full[%i], %parity : !bars
    ```
  }];
  let results = (outs I1:$ended);
}

//===----------------------------------------------------------------------===//
// TMA
//===----------------------------------------------------------------------===//

def CuteNvgpu_TmaGroup : Cute_Group<"Copies of the tensor memory accelerator", [{
  A TMA atom is made by the function that launches, of a tensor in global memory and of the layout that a tile has in shared memory. A
  launch passes it to the kernel as a tensor map, together with the tensor of the coordinates of what it copies.
}]>;

/// An atom of TMA.
class CuteNvgpu_TmaType<string name, string mnem, string example> : CuteNvgpu_Type<name, mnem> {
  let description = [{
    `copy_bits` is what one copy moves, `tma_gbasis` the box: from the order of shared memory to the modes of the tensor.
    `swizzle` is the bytes that the swizzle of shared memory spans, 128, 64, 32, or 0 of none. It may be left out where
    `cute_nvgpu.atom.make_exec_tma` gives the atom: it is then that of the tensor map.

    ```mlir
    }] # example # [{
    ```
  }];
  let parameters = (ins "::mlir::Type":$valType, StringRefParameter<"box">:$basis, "int64_t":$bits, "int64_t":$swizzle);
  let assemblyFormat = [{ `<` $valType `,` `copy_bits` `=` $bits `,` custom<BoxAndSwizzle>($basis, $swizzle) `>` }];
}

def CuteNvgpu_TmaLoadType : CuteNvgpu_TmaType<"TmaLoad", "atom.tma_load",
    "!cute_nvgpu.atom.tma_load<f16, copy_bits = 131072, tma_gbasis = <\"(64,128):(1@1,1@0)\">, swizzle = 128>"> {
  let summary = "A box from global to shared memory by a tensor map (PTX ISA, cp.async.bulk.tensor)";
}

def CuteNvgpu_TmaStoreType : CuteNvgpu_TmaType<"TmaStore", "atom.tma_store",
    "!cute_nvgpu.atom.tma_store<f16, copy_bits = 131072, tma_gbasis = <\"(64,128):(1@1,1@0)\">, swizzle = 128>"> {
  let summary = "A box from shared to global memory by a tensor map (PTX ISA, cp.async.bulk.tensor)";
}

def CuteNvgpu_Im2colTmaLoadType : CuteNvgpu_Type<"Im2colTmaLoad", "atom.im2col_tma_load"> {
  let summary = "A column of pixels from global to shared memory by a tensor map (PTX ISA, im2col mode)";
  let description = [{
    `copy_bits` is what one copy moves, `tma_gbasis` the channels and pixels of a column, from the order of shared memory to the modes of a matrix (pixels, channels),
    `swizzle` the bytes that the swizzle of shared memory spans. The filter stands at places from `lower_corner`, counted from the first pixel, to `upper_corner`,
    counted from the last one, `stride` pixels apart: numbers along W, or W and H, or W, H and D.

    ```mlir
    !cute_nvgpu.atom.im2col_tma_load<f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, lower_corner = "(-1,-1)", upper_corner = "(-1,-1)", stride = "(1,1)", swizzle = 128>
    ```
  }];
  let parameters = (ins "::mlir::Type":$valType, StringRefParameter<"box">:$basis, StringRefParameter<"corner">:$lower, StringRefParameter<"corner">:$upper,
                        StringRefParameter<"stride">:$stride, "int64_t":$bits, "int64_t":$swizzle);
  let assemblyFormat = [{ `<` $valType `,` `copy_bits` `=` $bits `,` `tma_gbasis` `=` `<` $basis `>` `,` `lower_corner` `=` $lower `,`
    `upper_corner` `=` $upper `,` `stride` `=` $stride `,` `swizzle` `=` $swizzle `>` }];
}

def CuteNvgpu_TmaLoad : Type<CPred<"::llvm::isa<::cute_nvgpu::TmaLoadType>($_self)">, "a TMA atom that loads">;
def CuteNvgpu_Im2colTmaLoad : Type<CPred<"::llvm::isa<::cute_nvgpu::Im2colTmaLoadType>($_self)">, "a TMA atom that loads by im2col">;
def CuteNvgpu_AnyTmaLoad : AnyTypeOf<[CuteNvgpu_TmaLoad, CuteNvgpu_Im2colTmaLoad], "a TMA atom that loads">;
def CuteNvgpu_TmaStore : Type<CPred<"::llvm::isa<::cute_nvgpu::TmaStoreType>($_self)">, "a TMA atom that stores">;

class CuteNvgpu_MakeTmaOp<string mnemonic, Type atom> : CuteNvgpu_Op<mnemonic, [NoMemoryEffect]> {
  let arguments = (ins Cute_MemRefType:$tensor, Cute_AnyLayoutType:$layout, OptionalAttr<I64Attr>:$l2_promotion);
  let results = (outs atom:$atom, Cute_CoordTensorType:$coords);
  let assemblyFormat = [{ `(` operands `)` (`l2_promotion` $l2_promotion^)? attr-dict `:` functional-type(operands, results) }];
  let opDocGroup = CuteNvgpu_TmaGroup;
}

def CuteNvgpu_MakeTmaLoadOp : CuteNvgpu_MakeTmaOp<"atom.make_tma_load", CuteNvgpu_TmaLoad> {
  let summary = "A TMA atom that loads tiles of a tensor, and the tensor's coordinates";
  let description = [{
    Mode i of the layout in shared memory goes through a tile of mode i of the tensor; a swizzle acts on bytes. What lies outside of the
    tensor arrives as zeros. It stands in the function that launches, on an argument of that.

    Zeros from outside come more slowly than elements. With `rest` and a mode, the atom is one for the last tile along that mode: its box has as many elements along it as
    that tile has, the tensor's extent modulo the tile's, or all where none is left over. What is outside then neither arrives nor counts on an mbarrier. The
    box has to go through the whole of the tile along the mode, which is not the contiguous one. A kernel takes one atom or the other by `arith.select`: their types are the same.

    With `oob_fill "nan"` floats from outside arrive as NaN and not as zeros: what is computed of them shows it. `l2_promotion` is how many bytes a miss brings into L2 at least, 0, 64,
    128 or 256; it is 128 where it is left out, and changes no result.

    A map has five dimensions. Of a tensor of more modes the last dimension stands for several, along which the tile has one element and whose strides are known; along these an index
    outside of the tensor is another element, and no zero.

    ```mlir
    !mat = !cute.memref<f16, gmem, align<16>, "(?,?):(?{div=8},1)">
    !smem = !cute.composed_layout<"S<3,4,3> o 0 o (128,64):(64,1)">
    !tma = !cute_nvgpu.atom.tma_load<f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, swizzle = 128>
    // Given %A: !mat, %layout: !smem
    %atom, %coords = cute_nvgpu.atom.make_tma_load(%A, %layout) : (!mat, !smem) -> (!tma, !cute.coord_tensor<"(0,0)", "(?,?):(1@1,1@0)">)
    %last, %same = cute_nvgpu.atom.make_tma_load(%A, %layout) rest 0 : (!mat, !smem) -> (!tma, !cute.coord_tensor<"(0,0)", "(?,?):(1@1,1@0)">)
    %nan, %too = cute_nvgpu.atom.make_tma_load(%A, %layout) oob_fill "nan" l2_promotion 256 : (!mat, !smem) -> (!tma, !cute.coord_tensor<"(0,0)", "(?,?):(1@1,1@0)">)
    ```
  }];
  let arguments = (ins Cute_MemRefType:$tensor, Cute_AnyLayoutType:$layout, OptionalAttr<I64Attr>:$rest, OptionalAttr<StrAttr>:$oob_fill,
                       OptionalAttr<I64Attr>:$l2_promotion);
  let assemblyFormat = [{ `(` operands `)` (`rest` $rest^)? (`oob_fill` $oob_fill^)? (`l2_promotion` $l2_promotion^)? attr-dict `:`
    functional-type(operands, results) }];
}

def CuteNvgpu_MakeIm2colTmaLoadOp : CuteNvgpu_Op<"atom.make_im2col_tma_load", [NoMemoryEffect]> {
  let summary = "A TMA atom that loads what a convolution multiplies, and the coordinates of that";
  let description = [{
    The tensor is one of images, `(C,W,N)`, `(C,W,H,N)` or `(C,W,H,D,N)`, whose channels lie side by side: NHWC. What a convolution multiplies is a
    matrix `(M,(C,S,R))` of it: a row for each place at which the filter stands, along W first, then H, D and the images; a column for each channel of each
    element of the filter, S along W, R along H, T along D. The layout in shared memory is of a tile of that, pixels and channels, and a tile of the coordinates goes to
    `cute_nvgpu.tma_load` as that of a tiled atom does: a column of pixels goes on over the ends of rows and of images. What lies outside of an image, or
    behind the last one, arrives as zeros.

    `lower_corner` is the first place, counted from the first pixel, and `upper_corner` the last one, counted from the last pixel, along W, H and D: of a convolution with padding they
    are `-padding` and `padding - (filter - 1) * dilation`, as CUTLASS computes them. `stride` is from one place to the next, `dilation` from one element of the `filter` to
    the next, each 1 where it is left out; with a negative `dilation` the first element is the last pixel, as gradients have it.

    The coordinates are, in this order, the channel, the number of the place, the offsets of the element of the filter along W, H and D, and how many places there
    are along each, by which the hardware's coordinates are computed of the number.

    ```mlir
    !x = !cute.memref<f16, gmem, align<16>, "(?,?,?,?):(1,?{div=8},?{div=8},?{div=8})">
    !smem = !cute.composed_layout<"S<3,4,3> o 0 o (128,64):(64,1)">
    !tma = !cute_nvgpu.atom.im2col_tma_load<f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, lower_corner = "(-1,-1)", upper_corner = "(-1,-1)", stride = "(2,2)", swizzle = 128>
    // Given %X: !x, %layout: !smem
    %atom, %coords = cute_nvgpu.atom.make_im2col_tma_load(%X, %layout) lower_corner [-1, -1] upper_corner [-1, -1] stride [2, 2] filter [3, 3]
      : (!x, !smem) -> (!tma, !cute.coord_tensor<"(0,0,0,0,?,?)", "(?,(?,3,3)):(1@1,(1@0,1@2,1@3))">)
    ```
  }];
  let arguments = (ins Cute_MemRefType:$tensor, Cute_AnyLayoutType:$layout, DenseI64ArrayAttr:$lower_corner, DenseI64ArrayAttr:$upper_corner,
                       OptionalAttr<DenseI64ArrayAttr>:$stride, DenseI64ArrayAttr:$filter, OptionalAttr<DenseI64ArrayAttr>:$dilation,
                       OptionalAttr<StrAttr>:$oob_fill, OptionalAttr<I64Attr>:$l2_promotion);
  let results = (outs CuteNvgpu_Im2colTmaLoad:$atom, Cute_CoordTensorType:$coords);
  let assemblyFormat = [{ `(` operands `)` `lower_corner` $lower_corner `upper_corner` $upper_corner (`stride` $stride^)? `filter` $filter
    (`dilation` $dilation^)? (`oob_fill` $oob_fill^)? (`l2_promotion` $l2_promotion^)? attr-dict `:` functional-type(operands, results) }];
  let opDocGroup = CuteNvgpu_TmaGroup;
}

def CuteNvgpu_MakeTmaStoreOp : CuteNvgpu_MakeTmaOp<"atom.make_tma_store", CuteNvgpu_TmaStore> {
  let summary = "A TMA atom that stores tiles of a tensor, and the tensor's coordinates";
  let description = [{
    As `cute_nvgpu.atom.make_tma_load`; what lies outside of the tensor is not stored. TMA stores whole 16 bytes along the contiguous mode, so that the tensor's extent there is of
    whole 16 bytes: it is an error otherwise, of the launch where only that knows the extent.

    ```mlir
    !mat = !cute.memref<f16, gmem, align<16>, "(?,?):(?{div=8},1)">
    !smem = !cute.layout<"(128,64):(64,1)">
    !tma = !cute_nvgpu.atom.tma_store<f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, swizzle = 0>
    // Given %C: !mat, %layout: !smem
    %atom, %coords = cute_nvgpu.atom.make_tma_store(%C, %layout) : (!mat, !smem) -> (!tma, !cute.coord_tensor<"(0,0)", "(?,?):(1@1,1@0)">)
    ```
  }];
}

def CuteNvgpu_PrefetchTmaDescOp : CuteNvgpu_Op<"prefetch_tma_desc"> {
  let summary = "Brings a tensor map into the cache";
  let description = [{
    One thread does it, early.

    ```mlir
    !tma = !cute_nvgpu.atom.tma_load<f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, swizzle = 128>
    // Given %atom: !tma
    cute_nvgpu.prefetch_tma_desc(%atom) : !tma
    ```
  }];
  let arguments = (ins AnyTypeOf<[CuteNvgpu_TmaLoad, CuteNvgpu_Im2colTmaLoad, CuteNvgpu_TmaStore,
                                  Cute_Named<"cute_nvgpu.atom.non_exec_tiled_tma_load">, Cute_Named<"cute_nvgpu.atom.non_exec_tiled_tma_store">]>:$atom);
  let assemblyFormat = "`(` $atom `)` attr-dict `:` qualified(type($atom))";
  let opDocGroup = CuteNvgpu_TmaGroup;
}

/// Says when a copy is complete: mbarriers, or a pipeline that has some.
def CuteNvgpu_CompletedOn : AnyTypeOf<[Cute_MemRefType, Cute_PipelineType, Cute_PtrType, Cute_LlvmPtrType]>;

def CuteNvgpu_TmaLoadOp : CuteNvgpu_Op<"tma_load", [AttrSizedOperandSegments]> {
  let summary = "Starts copying a tile into shared memory by TMA";
  let description = [{
    One thread starts it. Its bytes count on the mbarrier, which waiters wait for; those outside of the tensor count as well. The tile is
    of the coordinates that were made together with the atom, or its first element's coordinates, one for each dimension of the map. By im2col these are
    the channel, the place along W, H and D, the image, and then the offsets along W, H and D.

    With `multicast` the bytes arrive in the shared memory of each block of the cluster whose bit is set in the mask, at the same place, and count on
    its mbarrier at the same place.

    `policy` says how L2 keeps what is read: "evict_first" for what is read once, "evict_last" for what others read again, "evict_unchanged", which leaves the order in
    which lines go as it is, and "evict_normal" (PTX ISA, createpolicy). The other copies have it as well. It changes no result.

    It may be on a place of a pipeline, `on %p[%place]`, which `cute_nvgpu.pipeline.producer_acquire` gave.

    Without an mbarrier, in a kernel with `cute.roles`, `cute-specialize-warps` chooses the thread, the place in a ring, and the barriers. There the atom may be one for the
    last tile (`rest` of `cute_nvgpu.atom.make_tma_load`), whose rows outside do not arrive: `rest(%rows, %missing)` says how many rows, elements along the first mode of the
    destination, such an atom brings, the same in all of the kernel, and how many rows of the tensor in shared memory are missing this time, from all blocks that load it
    together. The barrier then expects so many fewer, and the rows that may be missing are zeros from the beginning.

    ```mlir
    !bars = !cute.memref<i64, smem, align<8>, "4:1">
    !tma = !cute_nvgpu.atom.tma_load<f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, swizzle = 128>
    !tile = !cute.coord_tensor<"(?,?)", "(128,64):(1@1,1@0)">
    !sA = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(128,64):(64,1)">
    // Given %atom: !tma, %tile: !tile, %sA: !sA, %full: !bars, %i: i32
    cute_nvgpu.tma_load(%atom, [%tile], %sA) on %full[%i] : (!tma, [!tile], !sA), !bars
    // Given %both: i16
    cute_nvgpu.tma_load(%atom, [%tile], %sA) on %full[%i] multicast(%both) : (!tma, [!tile], !sA), !bars
    cute_nvgpu.tma_load(%atom, [%tile], %sA) on %full[%i] policy "evict_first" : (!tma, [!tile], !sA), !bars
    // Given %rows: i32, %missing: i32
    cute_nvgpu.tma_load(%atom, [%tile], %sA) rest(%rows, %missing) : (!tma, [!tile], !sA)
    ```
  }];
  // That coordinates and the tensor may have been exchanged is said by the verifier.
  let arguments = (ins CuteNvgpu_AnyTmaLoad:$atom, Variadic<AnyType>:$coords,
                       Arg<AnyType, "", [MemWrite]>:$destination,
                       Arg<Optional<CuteNvgpu_CompletedOn>, "", [MemRead, MemWrite]>:$barriers, Optional<I32>:$index, Optional<I16>:$mask,
                       Optional<I32>:$rest, Optional<I32>:$missing, OptionalAttr<StrAttr>:$policy);
  let assemblyFormat = [{ `(` $atom `,` `[` $coords `]` `,` $destination `)` (`on` $barriers^ `[` $index `]`)? (`multicast` `(` $mask^ `)`)?
    (`rest` `(` $rest^ `,` $missing `)`)? (`policy` $policy^)? attr-dict `:`
    `(` qualified(type($atom)) `,` `[` type($coords) `]` `,` qualified(type($destination)) `)` (`,` qualified(type($barriers))^)? }];
  let opDocGroup = CuteNvgpu_TmaGroup;
}

// What it writes is behind the map: no operand of this op.
def CuteNvgpu_TmaStoreOp : CuteNvgpu_Op<"tma_store", [MemoryEffects<[MemWrite]>]> {
  let summary = "Starts copying a tile out of shared memory by TMA";
  let description = [{
    One thread starts it, and waits for it by `nvvm.cp.async.bulk.commit.group` and `nvvm.cp.async.bulk.wait_group`. What threads wrote
    into shared memory it sees behind their `nvvm.fence.proxy` and a barrier.

    With `reduce`, each element in global memory becomes that of itself and the tile's, as by atomic operations of relaxed order (PTX ISA,
    cp.reduce.async.bulk.tensor): `add` of f16, bf16, f32 and i32, `min` and `max` of f16, bf16 and i32, `and`, `or` and `xor` of i32. Several
    blocks may do so at one place.

    ```mlir
    !tma = !cute_nvgpu.atom.tma_store<f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, swizzle = 128>
    !tile = !cute.coord_tensor<"(?,?)", "(128,64):(1@1,1@0)">
    !sC = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(128,64):(64,1)">
    // Given %atom: !tma, %tile: !tile, %sC: !sC
    cute_nvgpu.tma_store(%atom, %sC, [%tile]) : (!tma, !sC, [!tile])
    cute_nvgpu.tma_store(%atom, %sC, [%tile]) reduce "add" : (!tma, !sC, [!tile])
    ```
  }];
  let arguments = (ins CuteNvgpu_TmaStore:$atom, Arg<Cute_MemRefType, "", [MemRead]>:$source,
                       Variadic<AnyTypeOf<[Cute_CoordTensorType, I32, I64]>>:$coords,
                       OptionalAttr<StrAttr>:$reduce, OptionalAttr<StrAttr>:$policy);
  let assemblyFormat = [{ `(` $atom `,` $source `,` `[` $coords `]` `)` (`reduce` $reduce^)? (`policy` $policy^)? attr-dict `:`
    `(` qualified(type($atom)) `,` qualified(type($source)) `,` `[` type($coords) `]` `)` }];
  let opDocGroup = CuteNvgpu_TmaGroup;
}

// What it reads is behind the map, and what it changes is a cache: nothing in memory depends on it.
def CuteNvgpu_TmaPrefetchOp : CuteNvgpu_Op<"tma_prefetch", [MemoryEffects<[MemWrite]>]> {
  let summary = "Starts bringing a tile into L2 by TMA";
  let description = [{
    One thread starts it, for a tile that it or another block loads later (PTX ISA, cp.async.bulk.prefetch.tensor). The tile is of the coordinates that were made
    together with the atom, in whole boxes of it, or the coordinates of one box's first element, one for each dimension of the map.

    ```mlir
    !tma = !cute_nvgpu.atom.tma_load<f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, swizzle = 128>
    !tile = !cute.coord_tensor<"(?,?)", "(128,64):(1@1,1@0)">
    // Given %atom: !tma, %tile: !tile
    cute_nvgpu.tma_prefetch(%atom, [%tile]) : (!tma, [!tile])
    cute_nvgpu.tma_prefetch(%atom, [%tile]) policy "evict_last" : (!tma, [!tile])
    ```
  }];
  let arguments = (ins CuteNvgpu_AnyTmaLoad:$atom, Variadic<AnyTypeOf<[Cute_CoordTensorType, I32, I64]>>:$coords, OptionalAttr<StrAttr>:$policy);
  let assemblyFormat = [{ `(` $atom `,` `[` $coords `]` `)` (`policy` $policy^)? attr-dict `:`
    `(` qualified(type($atom)) `,` `[` type($coords) `]` `)` }];
  let opDocGroup = CuteNvgpu_TmaGroup;
}

def CuteNvgpu_BulkLoadOp : CuteNvgpu_Op<"bulk_load"> {
  let summary = "Starts copying contiguous bytes into shared memory, without a tensor map (PTX ISA, cp.async.bulk)";
  let description = [{
    One thread starts it. Its bytes, a multiple of 16 from multiples of 16 on, count on the mbarrier. `policy` is that of `cute_nvgpu.tma_load`.

    ```mlir
    !bars = !cute.memref<i64, smem, align<8>, "4:1">
    !row = !cute.memref<f32, gmem, align<16>, "256:1">
    !srow = !cute.memref<f32, smem, align<16>, "256:1">
    // Given %row: !row, %srow: !srow, %full: !bars, %i: i32
    cute_nvgpu.bulk_load(%row, %srow) on %full[%i] : (!row, !srow), !bars
    ```

    From shared memory it copies to that of a block of the cluster, whose mbarrier the bytes count on. What threads wrote there before it sees behind their `nvvm.fence.proxy` and a barrier.

    ```mlir
    !theirs = !cute.memref<i64, dsmem, align<8>, "4:1">
    !srow = !cute.memref<f32, smem, align<16>, "256:1">
    !drow = !cute.memref<f32, dsmem, align<16>, "256:1">
    // Given %srow: !srow, %drow: !drow, %full: !theirs, %i: i32
    cute_nvgpu.bulk_load(%srow, %drow) on %full[%i] : (!srow, !drow), !theirs
    ```
  }];
  let arguments = (ins Arg<Cute_MemRefType, "", [MemRead]>:$source, Arg<Cute_MemRefType, "", [MemWrite]>:$destination,
                       Arg<CuteNvgpu_CompletedOn, "", [MemRead, MemWrite]>:$barriers, I32:$index, OptionalAttr<StrAttr>:$policy);
  let assemblyFormat = [{ `(` $source `,` $destination `)` `on` $barriers `[` $index `]` (`policy` $policy^)? attr-dict `:`
    `(` qualified(type($source)) `,` qualified(type($destination)) `)` `,` qualified(type($barriers)) }];
  let opDocGroup = CuteNvgpu_TmaGroup;
}

//===----------------------------------------------------------------------===//
// Distributed shared memory
//===----------------------------------------------------------------------===//

def CuteNvgpu_Dsmem : Cute_Group<"Distributed shared memory", [{
  The blocks of a cluster reach each other's shared memory: a tensor in `dsmem` is one of a block's shared tensors as it stands in a block of the cluster.
  Loads and stores of it are like those of other tensors, and `nvvm.cluster.arrive` and `nvvm.cluster.wait` order them. `st_async` and `cute_nvgpu.bulk_load` tell
  an mbarrier of the receiving block what has arrived. No block may end while another one may still reach its shared memory.
}]>;

def CuteNvgpu_MapDsmemOp : CuteNvgpu_Op<"arch.map_dsmem", [Pure]> {
  let summary = "A shared tensor or pointer as it is in a block of the cluster (PTX ISA, mapa)";
  let description = [{
    `block` is its rank in the cluster, the own one included. Each block of a kernel has its shared tensors at the same places.

    ```mlir
    !sum = !cute.memref<f32, smem, align<16>, "(4,8):(8,1)">
    // Given %sum: !sum, %block: i32
    %there = cute_nvgpu.arch.map_dsmem(%sum, %block) : (!sum, i32) -> !cute.memref<f32, dsmem, align<16>, "(4,8):(8,1)">
    ```
  }];
  let arguments = (ins AnyTypeOf<[Cute_MemRefType, Cute_PtrType]>:$tensor, I32:$block);
  let results = (outs AnyTypeOf<[Cute_MemRefType, Cute_PtrType]>:$result);
  let assemblyFormat = "`(` operands `)` attr-dict `:` functional-type(operands, $result)";
  let opDocGroup = CuteNvgpu_Dsmem;
}

def CuteNvgpu_StAsyncOp : CuteNvgpu_Op<"st_async"> {
  let summary = "Starts storing a number or a vector into the shared memory of a block of the cluster (PTX ISA, st.async)";
  let description = [{
    Each thread stores 4, 8 or 16 bytes, side by side. They count on the mbarrier, which is of the block that receives them, and are there for who has waited for its phase.

    ```mlir
    !bars = !cute.memref<i64, dsmem, align<8>, "4:1">
    !sum = !cute.memref<f32, dsmem, align<16>, "4:1">
    // Given %full: !bars, %i: i32, %v: vector<4xf32>, %there: !sum
    cute_nvgpu.st_async(%v, %there) on %full[%i] : (vector<4xf32>, !sum), !bars
    ```
  }];
  let arguments = (ins AnyType:$value, Arg<Cute_MemRefType, "", [MemWrite]>:$destination,
                       Arg<Cute_MemRefType, "", [MemRead, MemWrite]>:$barriers, I32:$index);
  let assemblyFormat = [{ `(` $value `,` $destination `)` `on` $barriers `[` $index `]` attr-dict `:`
    `(` type($value) `,` qualified(type($destination)) `)` `,` qualified(type($barriers)) }];
  let opDocGroup = CuteNvgpu_Dsmem;
}

def CuteNvgpu_BulkStoreOp : CuteNvgpu_Op<"bulk_store"> {
  let summary = "Starts copying contiguous bytes out of shared memory, without a tensor map (PTX ISA, cp.async.bulk)";
  let description = [{
    One thread starts it, and waits for it as for `cute_nvgpu.tma_store`.

    ```mlir
    !row = !cute.memref<f32, gmem, align<16>, "256:1">
    !srow = !cute.memref<f32, smem, align<16>, "256:1">
    // Given %srow: !srow, %row: !row
    cute_nvgpu.bulk_store(%srow, %row) : (!srow, !row)
    ```
  }];
  let arguments = (ins Arg<Cute_MemRefType, "", [MemRead]>:$source, Arg<Cute_MemRefType, "", [MemWrite]>:$destination,
                       OptionalAttr<StrAttr>:$policy);
  let assemblyFormat = [{ `(` $source `,` $destination `)` (`policy` $policy^)? attr-dict `:`
    `(` qualified(type($source)) `,` qualified(type($destination)) `)` }];
  let opDocGroup = CuteNvgpu_TmaGroup;
}

def CuteNvgpu_BulkPrefetchOp : CuteNvgpu_Op<"bulk_prefetch", [MemoryEffects<[MemWrite]>]> {
  let summary = "Starts bringing contiguous bytes into L2 (PTX ISA, cp.async.bulk.prefetch)";
  let description = [{
    One thread starts it, for a multiple of 16 bytes from a multiple of 16 on.

    ```mlir
    !row = !cute.memref<f32, gmem, align<16>, "256:1">
    // Given %row: !row
    cute_nvgpu.bulk_prefetch(%row) : !row
    ```
  }];
  let arguments = (ins Cute_MemRefType:$source, OptionalAttr<StrAttr>:$policy);
  let assemblyFormat = "`(` $source `)` (`policy` $policy^)? attr-dict `:` qualified(type($source))";
  let opDocGroup = CuteNvgpu_TmaGroup;
}

def CuteNvgpu_MakeWarpUniformOp : CuteNvgpu_Op<"arch.make_warp_uniform", [Pure, SameOperandsAndResultType]> {
  let summary = "A number that is the same in all threads of a warp, told to the assembler";
  let description = [{
    It is the first thread's, by a shuffle: where a branch depends on it, ptxas knows that the warp stays together, which it does not of
    a quotient of the thread's index.

    ```mlir
    // Given %warp: i32
    %same = cute_nvgpu.arch.make_warp_uniform(%warp) : i32
    ```
  }];
  let arguments = (ins I32:$value);
  let results = (outs I32:$result);
  let assemblyFormat = "`(` $value `)` attr-dict `:` type($result)";
  let opDocGroup = CuteNvgpu_Barriers;
}

def CuteNvgpu_GetDynSmemOp : CuteNvgpu_Op<"arch.get_dyn_smem", [Pure]> {
  let summary = "The start of the dynamic shared memory that a launch gives a kernel";
  let description = [{
    The launch says how much there is, `dynamic_shared_memory_size` of `gpu.launch_func`, as a constant: the kernel has a tensor of so many bytes, in front of which
    no other shared tensor lies. `cute.add_offset` and `cute.recast_iter` make pointers into it.

    ```mlir
    %p = cute_nvgpu.arch.get_dyn_smem() : !cute.ptr<i8, smem, align<1024>>
    ```
  }];
  let arguments = (ins);
  let results = (outs Cute_PtrType:$pointer);
  let assemblyFormat = "`(` `)` attr-dict `:` qualified(type($pointer))";
  let opDocGroup = CuteNvgpu_Barriers;
}

def CuteNvgpu_GetDynSmemSizeOp : CuteNvgpu_Op<"arch.get_dyn_smem_size", [Pure]> {
  let summary = "Bytes of dynamic shared memory that a launch gives a kernel (PTX ISA, %dynamic_smem_size)";
  let description = [{
    ```mlir
    %n = cute_nvgpu.arch.get_dyn_smem_size() : i32
    ```
  }];
  let arguments = (ins);
  let results = (outs I32:$bytes);
  let assemblyFormat = "`(` `)` attr-dict `:` type($bytes)";
  let opDocGroup = CuteNvgpu_Barriers;
}

//===----------------------------------------------------------------------===//
// Products of a warpgroup
//===----------------------------------------------------------------------===//

def CuteNvgpu_Wgmma : Cute_Group<"Products of a warpgroup", [{
  `cute.gemm` by `!cute_nvgpu.sm90.mma` starts products that go on while the threads do. `wgmma_fence` stands before the first of them,
  `wgmma_commit_group` behind the last, and `wgmma_wait_group` before anything else touches what they are given: their accumulators
  and the tensors in shared memory that they read (PTX ISA, wgmma). An atom of `frag_kind = rs` takes A from registers: a fragment,
  which the fence is given as well, and which is read but not written until the wait.
}]>;

class CuteNvgpu_AccumulatorsOp<string mnemonic, dag more, string syntax> : CuteNvgpu_Op<mnemonic> {
  let arguments = !con((ins Variadic<AnyType>:$accumulators), more);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = syntax # " `(` $accumulators `)` attr-dict `:` functional-type($accumulators, $results)";
  let opDocGroup = CuteNvgpu_Wgmma;
}

def CuteNvgpu_WgmmaFenceOp : CuteNvgpu_AccumulatorsOp<"wgmma_fence", (ins), ""> {
  let summary = "Orders what was done to accumulators before the products that follow";
  let description = [{
    All threads of the warpgroup do it, before the first product and whenever they have touched accumulators, or written fragments of A,
    since the last one. It is given the accumulators and those fragments, and later their values.

    ```mlir
    !acc = !cute.memref<f32, rmem, "((2,2,16),1,1):((1,2,4),0,0)">
    // Given %acc: !acc
    cute_nvgpu.wgmma_fence(%acc) : (!acc) -> ()
    ```
  }];
}

def CuteNvgpu_WgmmaCommitGroupOp : CuteNvgpu_Op<"wgmma_commit_group"> {
  let summary = "Closes the group of the products that were started";
  let description = [{
    ```mlir
    cute_nvgpu.wgmma_commit_group
    ```
  }];
  let assemblyFormat = "attr-dict";
  let opDocGroup = CuteNvgpu_Wgmma;
}

def CuteNvgpu_WgmmaWaitGroupOp : CuteNvgpu_AccumulatorsOp<"wgmma_wait_group", (ins I32Attr:$pending, OptionalAttr<I32Attr>:$kept), "$pending"> {
  let summary = "Waits for the groups of products but those that were committed last";
  let description = [{
    So many groups may still be under way, 0 to 7. It is given the accumulators of what it waits for: behind it they hold sums. Behind them
    stand `kept` values of A, which stay in their registers until then.

    ```mlir
    !acc = !cute.memref<f32, rmem, "((2,2,16),1,1):((1,2,4),0,0)">
    // Given %acc: !acc
    cute_nvgpu.wgmma_wait_group 0 (%acc) : (!acc) -> ()
    ```
  }];
}

def CuteNvgpu_AtomWgmmaOp : CuteNvgpu_Op<"atom_wgmma"> {
  let summary = "The products along K of one atom of a warpgroup, with B in shared memory";
  let description = [{
    `at` names the atom by its indices along M and N. A is a tensor in shared memory, or, of an atom that takes it from registers, these
    as a vector of i32, for one step of K after the other. The result is C, to which the products of all of K are under way to be added.

    ```mlir
    !mma = !cute.tiled_mma<!cute_nvgpu.sm90.mma<64x64x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
    !sA = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((64,16),1,4):((64,1),0,16)">
    // Given %mma: !mma, %a: !sA, %b: !sA, %c: vector<32xf32>
    %d = cute_nvgpu.atom_wgmma(%mma, %a, %b, %c) at [0, 0] : (!mma, !sA, !sA, vector<32xf32>) -> vector<32xf32>
    ```
  }];
  let arguments = (ins Cute_TiledMmaType:$mma, Arg<AnyTypeOf<[Cute_MemRefType, Cute_SmemDescViewType, AnyVectorOfAnyRank]>, "", [MemRead]>:$a,
                       Arg<AnyTypeOf<[Cute_MemRefType, Cute_SmemDescViewType]>, "", [MemRead]>:$b,
                       AnyVectorOfAnyRank:$c, DenseI64ArrayAttr:$at);
  let results = (outs AnyVectorOfAnyRank:$d);
  let assemblyFormat = "`(` operands `)` `at` $at attr-dict `:` functional-type(operands, $d)";
  let opDocGroup = CuteNvgpu_Wgmma;
}

#endif
