//===- AlgorithmOps.td - what is done with tensors ------------------------===//
//
// Part of cute-opt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CUTE_ALGORITHM_OPS_TD
#define CUTE_ALGORITHM_OPS_TD

include "CuteTypes.td"

def Cute_Algorithms : Cute_Group<"Algorithms", [{
  What is done with whole tensors (`cute.contract`, `cute.map`), with the tiles of a block by all of its threads
  together (`cute.block.copy`, `cute.block.gemm`, `cute.block.map`, `cute.block.fuse`), or with the part of one thread. An op of one thread is
  done by every thread that comes to it, each on its own tensors; elements are counted colexicographically,
  the first mode fastest, as in CuTe. `cute-lower-algorithms` makes copies, products and elementwise
  ops on registers of all others.

  A transposition is a copy between views that lie differently: of a tile `(m,n)` into one whose view
  `cute.composition(%t, (m,n):(n,1))` reads it the other way round. On one side the elements of a
  thread are then apart; `cute.autovec_copy` finds what can still be moved together, and the swizzle
  of a shared tile keeps the rest from bank conflicts. Registers of a warp are transposed by `cute.copy`
  with the atom of movmatrix, `!cute_nvgpu.atom.movm`.
}]>;

/// An op on operands of several kinds, of which Rust verifies how many and which.
class Cute_AlgorithmOp<string mnemonic, list<Trait> traits = [MemoryEffects<[MemRead, MemWrite]>]>
    : Cute_Op<mnemonic, traits> {
  let arguments = (ins Variadic<AnyType>:$args);
  let assemblyFormat = "`(` $args `)` attr-dict `:` `(` type($args) `)`";
  let opDocGroup = Cute_Algorithms;
}

def Cute_ContractOp : Cute_Op<"contract", [AttrSizedOperandSegments]> {
  let summary = "A matrix product of whole tensors: A (M,K), B (N,K), C (M,N), or a batch of them";
  let description = [{
    C(m,n) is set to the sum over k of A(m,k) B(n,k), summed in the type behind `accumulate` and rounded
    once to C's: f16, bf16, tf32, f32 or f8 (as f16, which is exact, where no tensor core multiplies them by `mma.sync`) in f32, f16 in f16 too, f64 in f64, bytes of either sign in i32; C is
    of the type of the sums, or of f16 or bf16 where that is f32. The tensors are in global memory. `cute-tile` makes a kernel and a launch of it, by the
    plan that the op has as `cute.plan`, or by one that is chosen.

    Layouts say how each tensor lies: a transposition is another order of strides, what is used for a
    whole mode has the stride 0. Extents and strides may be dynamic (`?`), and are what a launch brings;
    what is known of them (`?{div=8}`) decides how many elements are moved at once. A third mode is the
    batch: A (M,K,L), B (N,K,L), C (M,N,L) are L products, and may be nested.

    An `epilogue` says what is stored in place of the sum. Its region is computed for each (m,n): the first
    argument is the sum, the others are the elements of the tensors behind its `ins`, which have C's shape
    (a bias for each column is `(M,N):(0,1)`, a factor for each row `(M,N):(1,0)`). It yields an element of
    each tensor behind `outs`, of that type. An input may be one of the outputs: it is read before it is
    written. The region has operations of `arith` and `math` on numbers, and may use the function's own
    numbers and constants. What is scaled (alpha), or added to what C held before (beta, `C +=`), is an epilogue.
    Numbers of f8 are read, and written rounded to the nearest, beyond the largest as that one, from sm_89 on.

    An output behind C that has the stride 0 along N, along M or along both is reduced there: it has at m, at n, or at all, the sum, mean,
    maximum or minimum of what the region yields to it, by the kind behind `reduce`, which is one of `cute.all_reduce`. Where several blocks have a part of a
    line, each leaves its own in a workspace, and a second kernel reduces those, in an order that is always the same.

    A `prologue A` or `prologue B` says what is multiplied in place of the elements of A or B as they are stored. Its region is
    computed for each (m,k) or (n,k): the first argument is the element, the others are those of the tensors behind its `ins`, which
    have the shape of A or B (a scale for each column n of the product is `(N,K):(1,0)`). It yields one number, whose type is the
    one that is multiplied. Elements of unsigned integers are arguments without a sign, which `uitofp` and `extui` read.

    A prologue may yield a second number of the type of the sums: a scale, by which the sum over a group of K is multiplied, once for the group and not once for each
    element. It is computed of no element, but of tensors that are the same for as many elements along K as a
    tile has, such as `(M,(128,K/128)):(1,(0,M))`. Factors of 8 bits with scales for blocks of 128 are such (DeepGEMM, and `torch.nn.functional.scaled_mm`): sums of a
    group stay in tensor cores, and what is multiplied by scales is added up in the type of the sums.

    Each of M, N and K may be nested, `((q,p,n),(c,s,r))`, and in other ways in each tensor: only their sizes are the same. An element is at
    the linear coordinates of its modes, the first leaf the fastest.

    `at A(%coords)` takes A from a tensor of other modes: A(m,k) is the element of the tensor at the coordinate that `%coords`, a
    tensor of the shape of A, has at (m,k), and 0 where that is outside of the tensor. A convolution is a product of the filter
    and of its input at the coordinates `((q,p,n),(c,s,r)):((1@1,1@2,1@3),(1@0,1@1,1@2))` from `(0,-1,-1,0)` on, which are steps and the
    padding: what lies outside is never read. `at B` is the same. `at C(%coords)` writes a part of a tensor, at coordinates that
    are inside of it, each once.

    `gather A(%index)` takes rows of A by index: A(m,k) is the element (`%index`(m), k) of the tensor, and 0 where the index is below 0 or
    not below the number of rows. The index tensor has a mode M of i32 or i64, and the batch where A has one; `gather B` takes rows of B.

    `groups M(%ends)` multiplies groups of rows by matrices of their own, as layers of mixed experts do: A is (M,K), C (M,N), and B (N,K,G) has a matrix
    for each of G groups. Group g has the rows from `%ends`(g-1), or 0 of the first, up to `%ends`(g), which is not one of them; a group may be empty. `%ends` is a tensor (G) of i32 or i64 in
    global memory, so that only the GPU needs to know it. Ends ascend from 0 to at most M; of others C has no rows that are to be relied on, and nothing outside of it is touched. Rows of C behind the last end stay as they are.

    ```mlir
    !half = !cute.memref<f16, gmem, align<16>, "(32,32):(32,1)">
    !image = !cute.memref<f16, gmem, align<16>, "(16,8,8):(1,16,128)">
    !filter = !cute.memref<f16, gmem, align<16>, "(32,(16,3,3)):(144,(1,16,48))">
    !out = !cute.memref<f16, gmem, align<16>, "(64,32):(32,1)">
    !im2col = !cute.coord_tensor<"(0,-1,-1)", "((8,8),(16,3,3)):((1@1,1@2),(1@0,1@1,1@2))">
    !experts = !cute.memref<f16, gmem, align<16>, "(100,32):(32,1)">
    !index = !cute.memref<i32, gmem, "32:1">
    !each = !cute.memref<f16, gmem, align<16>, "(32,32,4):(32,1,1024)">
    !ends = !cute.memref<i32, gmem, "4:1">
    !bias = !cute.memref<f16, gmem, align<16>, "(32,32):(0,1)">
    !bytes = !cute.memref<i8, gmem, align<16>, "(32,32):(32,1)">
    !scales = !cute.memref<f16, gmem, align<16>, "(32,32):(1,0)">
    !rows = !cute.memref<f32, gmem, align<16>, "(32,32):(1,0)">
    !any = !cute.memref<f16, gmem, align<16>, "(?,?{div=8}):(?{div=8},1)">
    !f8 = !cute.memref<f8E4M3FN, gmem, align<16>, "(32,32):(32,1)">
    !scales_p = !cute.memref<f32, gmem, align<16>, "(32,(16,2)):(1,(0,32))">
    !scales_q = !cute.memref<f32, gmem, align<16>, "((16,2),(16,2)):((0,2),(0,1))">
    // Given %A: !half, %B: !half, %C: !half, %X: !any, %Y: !any, %Z: !any, %P: !f8, %Q: !f8, %scales_p: !scales_p, %scales_q: !scales_q, %bias: !bias, %scale: f32, %W: !bytes, %scales: !scales, %I: !image, %F: !filter, %O: !out, %im2col: !im2col, %T: !experts, %index: !index, %E: !each, %ends: !ends, %most: !rows
    cute.contract ins(%A, %B : !half, !half) outs(%C : !half) accumulate f32
    // A convolution of 3 by 3 with padding, and rows of a table by index
    cute.contract ins(%I, %F : !image, !filter) outs(%O : !out) accumulate f32 at A(%im2col : !im2col)
    cute.contract ins(%T, %B : !experts, !half) outs(%C : !half) accumulate f32 gather A(%index : !index)
    // Rows of A by matrices of their groups
    cute.contract ins(%A, %E : !half, !each) outs(%C : !half) accumulate f32 groups M(%ends : !ends)
    cute.contract ins(%X, %Y : !any, !any) outs(%Z : !any) accumulate f32
    // C = max(scale A B^T + bias, 0)
    cute.contract ins(%A, %B : !half, !half) outs(%C : !half) accumulate f32 epilogue ins(%bias : !bias) {
    ^bb0(%sum: f32, %b: f16):
      %zero = arith.constant 0.0 : f32
      %scaled = arith.mulf %sum, %scale : f32
      %wide = arith.extf %b : f16 to f32
      %moved = arith.addf %scaled, %wide : f32
      %kept = arith.maximumf %moved, %zero : f32
      %c = arith.truncf %kept : f32 to f16
      cute.yield %c : f16
    }
    // C = scale A B^T + C, and the largest element of each row
    cute.contract ins(%A, %B : !half, !half) outs(%C, %most reduce maximum : !half, !rows) accumulate f32 epilogue ins(%C : !half) {
    ^bb0(%sum: f32, %before: f16):
      %scaled = arith.mulf %sum, %scale : f32
      %wide = arith.extf %before : f16 to f32
      %added = arith.addf %scaled, %wide : f32
      %c = arith.truncf %added : f32 to f16
      cute.yield %c, %added : f16, f32
    }
    // C = A B^T of 8 bits, with a scale for each row of A and each 16 of K, and one for each 16 by 16 of B
    cute.contract ins(%P, %Q : !f8, !f8) outs(%C : !half) accumulate f32 prologue A ins(%scales_p : !scales_p) {
    ^bb0(%p: f8E4M3FN, %s: f32):
      cute.yield %p, %s : f8E4M3FN, f32
    } prologue B ins(%scales_q : !scales_q) {
    ^bb0(%q: f8E4M3FN, %s: f32):
      cute.yield %q, %s : f8E4M3FN, f32
    }
    // C = A (s W)^T, of weights W of 8 bits with a scale s for each column
    cute.contract ins(%A, %W : !half, !bytes) outs(%C : !half) accumulate f32 prologue B ins(%scales : !scales) {
    ^bb0(%w: i8, %s: f16):
      %f = arith.sitofp %w : i8 to f16
      %x = arith.mulf %f, %s : f16
      cute.yield %x : f16
    }
    ```
  }];
  let arguments = (ins Arg<Cute_MemRefType, "A (M,K)", [MemRead]>:$a,
                       Arg<Cute_MemRefType, "B (N,K)", [MemRead]>:$b,
                       Arg<Variadic<Cute_MemRefType>, "C (M,N), and others of its shape", [MemWrite]>:$outputs,
                       Arg<Variadic<Cute_MemRefType>, "inputs of the epilogue", [MemRead]>:$inputs,
                       Arg<Variadic<Cute_MemRefType>, "inputs of the prologue of A", [MemRead]>:$inputs_a,
                       Arg<Variadic<Cute_MemRefType>, "inputs of the prologue of B", [MemRead]>:$inputs_b,
                       Optional<Cute_CoordTensorType>:$at_a, Optional<Cute_CoordTensorType>:$at_b,
                       Optional<Cute_CoordTensorType>:$at_c,
                       Arg<Optional<Cute_MemRefType>, "rows of A by index", [MemRead]>:$rows_a,
                       Arg<Optional<Cute_MemRefType>, "rows of B by index", [MemRead]>:$rows_b,
                       Arg<Optional<Cute_MemRefType>, "ends of groups of rows", [MemRead]>:$groups,
                       TypeAttr:$accumulate, OptionalAttr<StrArrayAttr>:$reduce);
  let regions = (region AnyRegion:$epilogue, AnyRegion:$prologue_a, AnyRegion:$prologue_b);
  let assemblyFormat = [{ `ins` `(` $a `,` $b `:` qualified(type($a)) `,` qualified(type($b)) `)`
    `outs` `(` custom<Outputs>($outputs, type($outputs), $reduce) `)` `accumulate` $accumulate attr-dict ``
    custom<Places>($at_a, type($at_a), $at_b, type($at_b), $at_c, type($at_c), $rows_a, type($rows_a), $rows_b, type($rows_b), $groups, type($groups)) ``
    custom<Prologues>($inputs_a, type($inputs_a), $prologue_a, $inputs_b, type($inputs_b), $prologue_b)
    (`epilogue` (`ins` `(` $inputs^ `:` qualified(type($inputs)) `)`)? $epilogue^)? }];
  let opDocGroup = Cute_Algorithms;
}

def Cute_MapOp : Cute_Op<"map", [AttrSizedOperandSegments]> {
  let summary = "Computes each element of whole tensors from those of others at the same place, and from reductions of them";
  let description = [{
    The tensors are in global memory and have one shape, of any number of modes; extents and strides may be
    dynamic. The region is computed for each index of that shape: its arguments are the elements of the tensors
    behind `ins`, and it yields an element of each tensor behind `outs`, of that type. Layouts say how each tensor
    lies: what is the same along a mode has the stride 0 there, and a transposition is another order of strides. An
    input may be one of the outputs, but none that is written once along a mode: it is read before it is written.

    `cute.all_reduce` in the region reduces a value over all indices of some modes, with those of the others fixed;
    what depends on it is computed from all of them. All reductions of a region are along the same modes, unless there are sums of
    products among them. An output that has the stride 0 along these modes is written once along them, and what is yielded to it must
    be the same along them.

    A sum of products of two factors, each of which differs along a mode that the other has not, is a **contraction**: of numbers of f16 or bf16, widened to f32, it is
    computed by tensor cores, with sums in f32. Factors are elements as they are stored; of a second contraction, along the columns
    of the first one, one factor is computed, and rounded to such a type. So softmax(Q K^T) V is a map over (M,N,D,E) of Q (M,.,D,.), K (.,N,D,.), V (.,N,.,E) and O (M,.,.,E),
    with strides of 0 where a tensor has no such mode. Beside contractions, reductions are of f32, along columns or along the columns of a second contraction;
    modes that are none of these are a batch. Where D is more than 256 or open, slices of it are summed up; where E is, blocks share it. Scores of a row are not kept: where a reduction along columns needs what another one gives, they are computed
    again, but for sums of what is proportional to a power, exp or exp2, of the scores less their maximum, which follow a running maximum. A row of scores that
    are all -inf is NaN, as the region says.

    The region has operations of `arith` and `math` on numbers, and may use the function's own numbers and
    constants. Numbers of f8 are written rounded to the nearest, beyond the largest as that one, from sm_89 on; unsigned bytes are read, and written as other ones. `cute-tile` makes one kernel of it, and where extents or strides are open a
    few, of which a launch takes one. Only `outs` are written: whatever else the region computes is in registers, but where few, long lines are reduced:
    several blocks have a part of each, and leave what it comes to in a workspace of the call.

    ```mlir
    !x = !cute.memref<f16, gmem, align<16>, "(?,4096):(4096,1)">
    !w = !cute.memref<f16, gmem, align<16>, "(?,4096):(0,1)">
    !s = !cute.memref<f32, gmem, align<16>, "(?,4096):(1,0)">
    // Given %X: !x, %W: !w, %Y: !x, %S: !s, %epsilon: f32
    // RMS norm, and the mean of the squares of each row
    cute.map ins(%X, %W : !x, !w) outs(%Y, %S : !x, !s) {
    ^bb0(%x: f16, %w: f16):
      %wide = arith.extf %x : f16 to f32
      %weight = arith.extf %w : f16 to f32
      %square = arith.mulf %wide, %wide : f32
      %mean = cute.all_reduce "mean" %square along [1] : f32
      %moved = arith.addf %mean, %epsilon : f32
      %scale = math.rsqrt %moved : f32
      %normed = arith.mulf %wide, %scale : f32
      %scaled = arith.mulf %normed, %weight : f32
      %y = arith.truncf %scaled : f32 to f16
      cute.yield %y, %mean : f16, f32
    }
    ```
  }];
  let arguments = (ins Arg<Variadic<Cute_MemRefType>, "", [MemRead]>:$inputs,
                       Arg<Variadic<Cute_MemRefType>, "", [MemWrite]>:$outputs);
  let regions = (region AnyRegion:$body);
  let assemblyFormat = [{ (`ins` `(` $inputs^ `:` qualified(type($inputs)) `)`)?
    `outs` `(` $outputs `:` qualified(type($outputs)) `)` $body attr-dict }];
  let opDocGroup = Cute_Algorithms;
}

def Cute_AllReduceOp : Cute_Op<"all_reduce", [Pure, AllTypesMatch<["value", "result"]>]> {
  let summary = "Reduces a value over all indices of some modes of the tensors of a `cute.map`";
  let description = [{
    The result is the same for all indices of these modes, with those of the other modes fixed. Kinds are
    "add" and "mean" of f32 and f64, "add" of i32 too, and "maximum" and "minimum" of any number, which are NaN where a value is NaN. The
    order in which values are added is not defined.

    ```mlir
    !x = !cute.memref<f32, gmem, align<16>, "(64,1000):(1000,1)">
    !y = !cute.memref<f32, gmem, align<16>, "(64,1000):(1,0)">
    // Given %X: !x, %Y: !y
    cute.map ins(%X : !x) outs(%Y : !y) {
    ^bb0(%x: f32):
      %sum = cute.all_reduce "add" %x along [1] : f32
      cute.yield %sum : f32
    }
    ```
  }];
  let arguments = (ins StrAttr:$kind, AnyType:$value, DenseI64ArrayAttr:$along);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$kind $value `along` $along attr-dict `:` type($value)";
  let opDocGroup = Cute_Algorithms;
}

def Cute_BlockMapOp : Cute_Op<"block.map", [AttrSizedOperandSegments]> {
  let summary = "Computes a block's part of a `cute.map`, by all threads of the block together";
  let description = [{
    The tensors are in global memory, of two modes: what is reduced along is the second one, columns, and the other is
    rows. `threads` are those of the block along rows and columns, and `values` the neighbours along a row that a thread
    holds together and the number of such vectors that it holds at once, which are as far apart as the threads of a row reach. Neighbouring threads are neighbours along columns, or, with `by_rows`, along
    rows.

    The block computes the rows from `at` on, as many as it has threads along rows, and of each, from `at` on, the columns that its threads hold
    at once; where the region has reductions, whole rows: `held` says that the threads of a row hold all of it at once, and without it, rows are
    read again for each reduction that depends on others. With `columns`, it reduces so many of each row alone, from `at` on: what other blocks reduce of it is theirs. What is beyond the extents is neither read nor written. The region is as of `cute.map`, and
    reductions are along mode 1.

    Rows may begin anywhere in memory: with `aligned_by`, the place of a tensor among inputs and outputs, vectors begin at the first element of a row of that tensor that is
    aligned as they are, and threads hold one element more each, of those before and behind. All tensors that have neighbours along columns and elements of their own in each row
    are promised to have rows that are as far from being aligned.

    With `stays` the block computes further rows, each as far behind the one before it as all blocks of the grid reach, up to the last. What is the same for all rows
    is loaded once, and the elements of a row while the one before it is computed. Rows are held, and where vectors begin at aligned elements, these rows of a thread are
    promised to be as far from being aligned as its first one: the number of blocks is a multiple of a vector's elements.

    Where nothing is reduced, inputs whose neighbours lie along rows may be `staged`: the block reads its part of them along rows, `row_vector`
    neighbours at once, into shared memory, from where threads read what they need.

    `cute-partition` makes loads, `cute.transform`, reductions over threads and stores of it.

    ```mlir
    !x = !cute.memref<f32, gmem, align<16>, "(64,1000):(1000,1)">
    // Given %X: !x, %Y: !x, %at: !cute.coord<"(?,0)">
    cute.block.map ins(%X : !x) outs(%Y : !x) at(%at : !cute.coord<"(?,0)">) threads [1, 128] values [4, 2] {
    ^bb0(%x: f32):
      %most = cute.all_reduce "maximum" %x along [1] : f32
      %less = arith.subf %x, %most : f32
      cute.yield %less : f32
    } {held}
    ```
  }];
  let arguments = (ins Arg<Variadic<Cute_MemRefType>, "", [MemRead]>:$inputs,
                       Arg<Variadic<Cute_MemRefType>, "", [MemWrite]>:$outputs,
                       Cute_CoordType:$at, DenseI64ArrayAttr:$threads, DenseI64ArrayAttr:$values,
                       UnitAttr:$by_rows, UnitAttr:$held, OptionalAttr<I64Attr>:$columns,
                       OptionalAttr<DenseI64ArrayAttr>:$staged, OptionalAttr<I64Attr>:$row_vector, OptionalAttr<I64Attr>:$aligned_by,
                       UnitAttr:$stays);
  let regions = (region AnyRegion:$body);
  let assemblyFormat = [{ (`ins` `(` $inputs^ `:` qualified(type($inputs)) `)`)?
    `outs` `(` $outputs `:` qualified(type($outputs)) `)` `at` `(` $at `:` qualified(type($at)) `)`
    `threads` $threads `values` $values $body attr-dict }];
  let opDocGroup = Cute_Algorithms;
}

def Cute_BlockFuseOp : Cute_Op<"block.fuse", [AttrSizedOperandSegments]> {
  let summary = "Computes a block's part of a `cute.map` with sums of products, by all threads of the block together";
  let description = [{
    The tensors are in global memory, of four modes: rows M, columns N, K along which products of rows and columns are summed, and E,
    columns of products that are summed along N. The region is as of `cute.map`. A sum of products has the plan by which it is
    multiplied as `cute.plan`: the tile, the tiled MMA, the atoms and the places in shared memory. All plans have the rows of the
    block; those of products along K have its columns as N, and those of products along N have them as K. Where K is not known, or more than a plan's,
    it is summed up in slices of as many elements, of which the plan's stages are under way at once.

    The block computes the rows from `at` on, as many as the plans have. Of columns it computes, with `held`, those from `at` on, as many as
    the plans have, which are all columns if something is reduced along them. Otherwise it goes over all columns, as many at a time, and once more for each
    reduction along them that needs what another one gives of all columns. Sums of what is proportional to exp(s - m) or exp2(s - m), with m the maximum of s, need no turn of
    their own: what was summed up with a smaller maximum is multiplied by the power that makes up for it. Of E it computes all, or, where `at` has a third integer, those from
    there on, as many as the plans of products along N have; outputs that are the same along E are written by the block that begins with the first. What is beyond the extents is neither read nor written, and is in no reduction.

    `cute-partition` makes copies, `cute.gemm`, `cute.transform`, reductions over threads and stores of it.

    ```mlir
    !a = !cute.memref<f16, gmem, align<16>, "(64,64,64,1):(64,0,1,0)">
    !b = !cute.memref<f16, gmem, align<16>, "(64,64,64,1):(0,64,1,0)">
    !d = !cute.memref<f32, gmem, align<16>, "(64,64,64,1):(64,1,0,0)">
    // Given %A: !a, %B: !b, %D: !d, %at: !cute.coord<"(?{div=64},0)">
    cute.block.fuse ins(%A, %B : !a, !b) outs(%D : !d) at(%at : !cute.coord<"(?{div=64},0)">) {
    ^bb0(%a: f16, %b: f16):
      %wide_a = arith.extf %a : f16 to f32
      %wide_b = arith.extf %b : f16 to f32
      %ab = arith.mulf %wide_a, %wide_b : f32
      %sum = cute.all_reduce "add" %ab along [2] {cute.plan = #cute.plan<tile = 64x64x64, stages = 1, raster = 1,
        mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(4,1,1):(1,4,0)">, permutation_MNK = <"[64:1;16:1;16:1]">>,
        A = [<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, group, smem = <S<3,4,3>, "(64,64):(64,1)">, buffers = 1>,
             <!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, immediate>],
        B = [<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, group, smem = <S<3,4,3>, "(64,64):(64,1)">, buffers = 1>,
             <!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, immediate>],
        C = [<!cute_nvgpu.atom.universal_copy<f32, 64 b>, immediate, smem = <"(64,64):(64,1)">, buffers = 1>,
             <!cute_nvgpu.atom.universal_copy<f32, 128 b>, immediate>]>} : f32
      %most = cute.all_reduce "maximum" %sum along [1] : f32
      %less = arith.subf %sum, %most : f32
      cute.yield %less : f32
    } {held}
    ```
  }];
  let arguments = (ins Arg<Variadic<Cute_MemRefType>, "", [MemRead]>:$inputs,
                       Arg<Variadic<Cute_MemRefType>, "", [MemWrite]>:$outputs,
                       Cute_CoordType:$at, UnitAttr:$held);
  let regions = (region AnyRegion:$body);
  let assemblyFormat = [{ `ins` `(` $inputs `:` qualified(type($inputs)) `)`
    `outs` `(` $outputs `:` qualified(type($outputs)) `)` `at` `(` $at `:` qualified(type($at)) `)` $body attr-dict }];
  let opDocGroup = Cute_Algorithms;
}

def Cute_BlockCopyOp : Cute_Op<"block.copy", [AttrSizedOperandSegments]> {
  let summary = "Copies a tile of A, B or C into another of the same shape, by all threads of the block together";
  let description = [{
    Which thread copies which elements by which atom, the plan of the kernel says for that operand:
    `cute-partition` makes `cute.copy` of it, which is of one thread.

    C in registers goes to global memory through shared memory, or, as a whole tile, straight: as the tiled MMA holds it, by the
    widest vectors that both sides allow.

    A tile in global memory may reach over the end of its matrix: `within(%coords, %end)` has the
    coordinates of its elements and the first coordinate that is not there, or `_` for a mode in which the
    tile never reaches over the end. What is not there is read as 0, and is not written.

    With `whole = array<i64: 0>` the source, and with 1 the destination, is the whole matrix, of which the tile has the elements at the coordinates of `within`: each at
    what the matrix's layout gives for it, whose modes may be nested. Of A and B, `bounds(%places, %limits)` has a coordinate for each
    element of the matrix, and the first ones that are not there, `_` where all are: an element is there where all integers are at least 0 and below the
    limit. `rows(%index)`, registers that the threads of the block hold together, has an index for each element of the tile, which stands in
    place of its row; of rows that the matrix does not have the elements are 0.

    A copy of A or B from global memory into registers is of what a `cute.block.transform` of that operand reads in several turns
    of a loop: each thread holds what it needs of it, once where it is the same along a mode. So is one of C, of what a `cute.block.promote` reads; registers are also copied
    into others of their type.

    ```mlir
    !tile = !cute.memref<f16, gmem, align<16>, "(32,32):(64,1)">
    !smem = !cute.memref<f16, smem, align<512>, S<2,4,3>, "(32,32):(32,1)">
    !at = !cute.coord_tensor<"(?,?)", "(32,32):(1@0,1@1)">
    !matrix = !cute.memref<f16, gmem, align<16>, "((7,9),64):((64,512),1)">
    // Given %g: !tile, %s: !smem, %at: !at, %end: !cute.coord<"(?,_)">, %w: !matrix
    cute.block.copy A (%g, %s) : (!tile, !smem)
    cute.block.copy A (%g, %s) within(%at, %end : !at, !cute.coord<"(?,_)">) : (!tile, !smem)
    cute.block.copy A (%w, %s) within(%at, %end : !at, !cute.coord<"(?,_)">) {whole = array<i64: 0>} : (!matrix, !smem)
    ```
  }];
  let arguments = (ins Arg<Cute_MemRefType, "", [MemRead]>:$source,
                       Arg<Cute_MemRefType, "", [MemWrite]>:$destination,
                       Optional<Cute_CoordTensorType>:$coords, Optional<Cute_CoordType>:$end,
                       Optional<Cute_CoordTensorType>:$places, Optional<Cute_CoordType>:$limits,
                       Arg<Optional<Cute_MemRefType>, "", [MemRead]>:$rows,
                       OptionalAttr<DenseI64ArrayAttr>:$whole, I32Attr:$operand_id);
  let assemblyFormat = [{ custom<OperandId>($operand_id) `(` $source `,` $destination `)`
    (`within` `(` $coords^ `,` $end `:` qualified(type($coords)) `,` qualified(type($end)) `)`)?
    (`bounds` `(` $places^ `,` $limits `:` qualified(type($places)) `,` qualified(type($limits)) `)`)?
    (`rows` `(` $rows^ `:` qualified(type($rows)) `)`)? attr-dict `:`
    `(` qualified(type($source)) `,` qualified(type($destination)) `)` }];
  let opDocGroup = Cute_Algorithms;
}

def Cute_BlockWarpLoadOp : Cute_Op<"block.warp_load", [AttrSizedOperandSegments]> {
  let summary = "Copies a tile into shared memory by asynchronous copies of a warp, beside loads by TMA"
                " (PTX ISA, cp.async and cp.async.mbarrier.arrive)";
  let description = [{
    In a kernel with `cute.roles`, where `cute-specialize-warps` gives it to the warp that starts loads by TMA, and makes a ring of the tensor as of theirs: for
    numbers whose strides or bytes TMA does not take. Each thread of the warp copies single elements, of 4, 8 or 16 bytes: those that lie at several places of
    the tensor in shared memory. Elements along modes of stride 0 are copied once.

    `within(%coords, %end)` is that of `cute.block.copy`: what is not there is read as 0.

    ```mlir
    !scales = !cute.memref<f32, gmem, align<4>, "(128,128):(?,0)">
    !smem = !cute.memref<f32, smem, align<4>, "(128,128):(1,0)">
    !at = !cute.coord_tensor<"(?,?)", "(128,128):(1@0,1@1)">
    // Given %g: !scales, %s: !smem, %at: !at, %end: !cute.coord<"(?,_)">
    cute.block.warp_load (%g, %s) : (!scales, !smem)
    cute.block.warp_load (%g, %s) within(%at, %end : !at, !cute.coord<"(?,_)">) : (!scales, !smem)
    ```
  }];
  let arguments = (ins Arg<Cute_MemRefType, "", [MemRead]>:$source,
                       Arg<Cute_MemRefType, "", [MemWrite]>:$destination,
                       Optional<Cute_CoordTensorType>:$coords, Optional<Cute_CoordType>:$end);
  let assemblyFormat = [{ `(` $source `,` $destination `)`
    (`within` `(` $coords^ `,` $end `:` qualified(type($coords)) `,` qualified(type($end)) `)`)? attr-dict `:`
    `(` qualified(type($source)) `,` qualified(type($destination)) `)` }];
  let opDocGroup = Cute_Algorithms;
}

def Cute_BlockTransformOp : Cute_Op<"block.transform", [AttrSizedOperandSegments]> {
  let summary = "Computes each element of tiles from those of others at the same place, by all threads of the block together";
  let description = [{
    Of C, the first tensor is its tile in shared memory, of the type of the plan, or as all others a tile in global memory; those
    all have one shape. Where warpgroups multiply it may be a part of the sums in registers: then the one output is in registers as well, of the type of the plan,
    and each thread computes it of its sums. The region has an argument for each input and yields an element of
    each output. Which thread computes which elements, the plan of the kernel says: those that it would copy from C's tile to
    global memory. `cute-partition` makes a loop of loads, `cute.transform` and stores of it, which takes as many rows at a time as
    registers allow. Where all tensors are in global memory they may be parts of a tile, of as many rows as the threads copy at a time, or
    several times that.

    An output of C that has the stride 0 along rows, columns or both may be reduced, as of `cute.contract`: over the elements of the tile that
    are there. A mean is a sum here, which is divided where all parts are added.

    Of A or B, the inputs are tiles in global memory, or such as a `cute.block.copy` has brought into registers: those that are the
    same for all tiles along K. The output is the operand's tile in shared memory. A thread computes what it would copy there. Where the plan copies narrower elements than are
    multiplied, the first input is the tile in shared memory, of elements as they are stored, and the output is in registers: a thread computes what it multiplies.

    `within` is as of `cute.block.copy`: what is not there is neither read nor written, but in shared memory it is 0, whatever the
    region makes of 0. So are `whole`, of the places of inputs and then of outputs, and, for the first input of A and B, `bounds` and `rows`.

    ```mlir
    !sums = !cute.memref<f32, smem, align<1024>, "(32,32):(32,1)">
    !bias = !cute.memref<f16, gmem, align<16>, "(32,32):(0,1)">
    !tile = !cute.memref<f16, gmem, align<16>, "(32,32):(64,1)">
    !bytes = !cute.memref<i8, gmem, align<16>, "(32,32):(64,1)">
    !smem = !cute.memref<f16, smem, align<512>, S<2,4,3>, "(32,32):(32,1)">
    // Given %s: !sums, %b: !bias, %c: !tile, %w: !bytes, %sw: !smem
    cute.block.transform C ins(%s, %b : !sums, !bias) outs(%c : !tile) {
    ^bb0(%sum: f32, %bias: f16):
      %half = arith.truncf %sum : f32 to f16
      %moved = arith.addf %half, %bias : f16
      cute.yield %moved : f16
    }
    cute.block.transform B ins(%w : !bytes) outs(%sw : !smem) {
    ^bb0(%byte: i8):
      %half = arith.sitofp %byte : i8 to f16
      cute.yield %half : f16
    }
    ```
  }];
  let arguments = (ins Arg<Variadic<Cute_MemRefType>, "", [MemRead]>:$inputs,
                       Arg<Variadic<Cute_MemRefType>, "", [MemWrite]>:$outputs,
                       Optional<Cute_CoordTensorType>:$coords, Optional<Cute_CoordType>:$end,
                       Optional<Cute_CoordTensorType>:$places, Optional<Cute_CoordType>:$limits,
                       Arg<Optional<Cute_MemRefType>, "", [MemRead]>:$rows,
                       OptionalAttr<DenseI64ArrayAttr>:$whole, I32Attr:$operand_id,
                       OptionalAttr<StrArrayAttr>:$reduce);
  let regions = (region AnyRegion:$body);
  let assemblyFormat = [{ custom<OperandId>($operand_id) `` `ins` `(` $inputs `:` qualified(type($inputs)) `)`
    `outs` `(` custom<Outputs>($outputs, type($outputs), $reduce) `)`
    (`within` `(` $coords^ `,` $end `:` qualified(type($coords)) `,` qualified(type($end)) `)`)?
    (`bounds` `(` $places^ `,` $limits `:` qualified(type($places)) `,` qualified(type($limits)) `)`)?
    (`rows` `(` $rows^ `:` qualified(type($rows)) `)`)? $body attr-dict }];
  let opDocGroup = Cute_Algorithms;
}

def Cute_BlockGemmOp : Cute_Op<"block.gemm"> {
  let summary = "Adds the product of two tiles to a third, by all threads of the block together";
  let description = [{
    C(m,n) += the sum over k of A(m,k) B(n,k), with A and B in shared memory, or in registers where a `cute.block.transform` computes them, and C in registers, which the
    threads of the block hold together. `cute-partition` makes loads of fragments and `cute.gemm` of it, by
    the plan of the kernel. With `overwrite` it is C = the product, whatever C held.

    ```mlir
    !smem = !cute.memref<f16, smem, align<512>, S<2,4,3>, "(32,32):(32,1)">
    !acc = !cute.memref<f32, rmem, "(32,32):(32,1)">
    // Given %a: !smem, %b: !smem, %c: !acc
    cute.block.gemm(%a, %b, %c) : (!smem, !smem, !acc)
    cute.block.gemm(%a, %b, %c) {overwrite} : (!smem, !smem, !acc)
    ```
  }];
  let arguments = (ins Arg<Cute_MemRefType, "A (M,K)", [MemRead]>:$a,
                       Arg<Cute_MemRefType, "B (N,K)", [MemRead]>:$b,
                       Arg<Cute_MemRefType, "C (M,N)", [MemRead, MemWrite]>:$c,
                       UnitAttr:$overwrite);
  let assemblyFormat = [{ `(` $a `,` $b `,` $c `)` attr-dict `:`
    `(` qualified(type($a)) `,` qualified(type($b)) `,` qualified(type($c)) `)` }];
  let opDocGroup = Cute_Algorithms;
}

def Cute_BlockPromoteOp : Cute_Op<"block.promote"> {
  let summary = "Adds scaled sums of a group of K to those of all of K, by all threads of the block together";
  let description = [{
    sums(m,n) += group(m,n) scale(m,n), in the type of the sums: all are registers that the threads of the block hold together, as a product of the plan leaves
    them. The region computes the scale of an element from those of the tensors behind `ins`, which a `cute.block.copy C` has brought from global memory: a thread holds what is
    the same along rows or columns once.

    ```mlir
    !acc = !cute.memref<f32, rmem, "(32,32):(32,1)">
    !tile = !cute.memref<f32, gmem, align<4>, "(32,32):(1,0)">
    !rows = !cute.memref<f32, rmem, "(32,32):(1,0)">
    // Given %group: !acc, %sums: !acc, %tile: !tile, %rows: !rows
    cute.block.copy C (%tile, %rows) : (!tile, !rows)
    cute.block.promote(%group, %sums : !acc, !acc) ins(%rows : !rows) {
    ^bb0(%scale: f32):
      cute.yield %scale : f32
    }
    ```
  }];
  let arguments = (ins Arg<Cute_MemRefType, "sums of a group (M,N)", [MemRead]>:$group,
                       Arg<Cute_MemRefType, "sums (M,N)", [MemRead, MemWrite]>:$sums,
                       Arg<Variadic<Cute_MemRefType>, "", [MemRead]>:$inputs);
  let regions = (region AnyRegion:$body);
  let assemblyFormat = [{ `(` $group `,` $sums `:` qualified(type($group)) `,` qualified(type($sums)) `)`
    (`ins` `(` $inputs^ `:` qualified(type($inputs)) `)`)? $body attr-dict }];
  let opDocGroup = Cute_Algorithms;
}

def Cute_BlockClusterSumOp : Cute_Op<"block.cluster_sum"> {
  let summary = "Adds the sums of the blocks of a cluster that share a tile, by all of their threads together";
  let description = [{
    Each block has a tile of sums in registers, whose columns are a share for each block of the cluster, one behind the other: block r adds up share r of all blocks, and has
    the results in its own registers; its other shares are what they were. Blocks exchange sums through `exchange` in shared memory, which holds for each thread its values of a
    share, once for each other block. `turn` counts the tiles that the block has added so before. `cute-partition` gives each thread its own part, and
    `cute-specialize-warps` makes stores to the other blocks and mbarriers of it.

    ```mlir
    !acc = !cute.memref<f32, rmem, "(64,128):(128,1)">
    !exchange = !cute.memref<f32, smem, align<16>, "((4,8),128,1):((1,512),4,4096)">
    // Given %sums: !acc, %exchange: !exchange, %turn: i32
    cute.block.cluster_sum(%sums, %exchange, %turn) : (!acc, !exchange)
    ```
  }];
  let arguments = (ins Arg<Cute_MemRefType, "", [MemRead, MemWrite]>:$sums, Arg<Cute_MemRefType, "", [MemRead, MemWrite]>:$exchange, I32:$turn);
  let assemblyFormat = [{ `(` $sums `,` $exchange `,` $turn `)` attr-dict `:` `(` qualified(type($sums)) `,` qualified(type($exchange)) `)` }];
  let opDocGroup = Cute_Algorithms;
}

def Cute_CopyOp : Cute_AlgorithmOp<"copy"> {
  let summary = "Copies one thread's tensor into another of the same shape, by an atom";
  let description = [{
    - `cute.copy(%tiled_copy, %src, %dst)` on its partitions ((atom values, rest), rest of M, ...);
    - `cute.copy(%atom, %src, %dst)` on tensors (V, rest...) whose first mode is the atom's values.

    Either takes a predicate behind the destination: a tensor of i1 or i8 in registers, with an
    extent for each of the rest modes, or for V as well, where V's own extent counts once (stride 0
    or extent 1) as the atom is one instruction. Where it is false, cp.async writes zeros, and any
    other atom writes nothing.

    For cp.async it may be of i32: how many of the atom's elements are read, from the first one in memory on. The others are
    written as zeros. A number below 0 is 0, and one above all elements is all of them, so that an extent less a
    coordinate will do.

    ```mlir
    !copy = !cute.tiled_copy<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, layout_copy_tv = <"((4,16),8):((128,1),16)">, tiler_mn = <"[16:1;32:1]">>
    !part = !cute.memref<f16, gmem, align<16>, "((8,1),2,1):((1,8),1024,32)">
    !spart = !cute.memref<f16, smem, align<16>, S<2,4,3>, "((8,1),2,1):((1,8),512,32)">
    !pred = !cute.memref<i1, rmem, "(1,2,1):(0,1,0)">
    !atom = !cute_nvgpu.atom.universal_copy<f32, 128 b>
    !rows = !cute.memref<f32, gmem, align<16>, "(4,2):(1,64)">
    !regs = !cute.memref<f32, rmem, align<16>, "(4,2):(1,4)">
    !counts = !cute.memref<i32, rmem, "(1,2,1):(0,1,0)">
    // Given %copy: !copy, %p: !part, %q: !spart, %if: !pred, %n: !counts, %atom: !atom, %r: !rows, %f: !regs
    cute.copy(%copy, %p, %q) : (!copy, !part, !spart)
    cute.copy(%copy, %p, %q, %if) : (!copy, !part, !spart, !pred)
    cute.copy(%copy, %p, %q, %n) : (!copy, !part, !spart, !counts)
    cute.copy(%atom, %r, %f) : (!atom, !rows, !regs)
    ```
  }];
}

def Cute_CopyIfOp : Cute_AlgorithmOp<"copy_if"> {
  let summary = "Copies the elements, or the atoms, at which a predicate holds";
  let description = [{
    `cute.copy_if(%pred, %src, %dst)` asks for each element; `cute.copy_if(%atom, %pred, %src, %dst)`
    for each atom, and is `cute.copy` with its predicate in CuTe's place. Nothing is read or written
    where the predicate is false, but that cp.async writes zeros.

    ```mlir
    !row = !cute.memref<f32, gmem, "(4):(1)">
    !pred = !cute.memref<i1, rmem, "(4):(1)">
    !regs = !cute.memref<f32, rmem, "(4):(1)">
    // Given %p: !pred, %g: !row, %f: !regs
    cute.copy_if(%p, %g, %f) : (!pred, !row, !regs)
    ```
  }];
}

def Cute_CopyTileOp : Cute_Op<"copy_tile", [AttrSizedOperandSegments]> {
  let summary = "Copies a thread's part of a tile, of what lies within bounds";
  let description = [{
    `%copy` is a tiled copy, `%thread` the coordinate of the thread. The source and the destination are tiles of one
    shape, or one of them is a tile and the other the thread's fragment: `cute.tiled.copy.partition_S` and `_D` of the
    tiles, and a `cute.copy`.

    `within(%coords, %shape)` says what there is of a tile in global memory: `%coords` has the coordinates of its elements, a tile of
    `cute.make_identity_tensor` that is cut as the tile itself is, and elements are there whose coordinates are less than `%shape`, and
    not negative, as those of a halo are behind `cute.domain_offset`. What is not there is neither read nor written, and is 0 in shared memory and in registers. How that is done follows from what the
    types say:

    - where vectors of the atom lie within the shape as a whole or not at all (an extent and a first coordinate that are
      multiples of the vector, as `?{div=8}`), a predicate for each vector;
    - else, where vectors begin at multiples of their length, cp.async with a count of elements for each, which reads no others;
    - else, for universal copies, a branch: by vectors where all of the tile is there, and element by element, each with its
      predicate, where it is not.

    Into shared memory by a universal copy a tile goes through registers.

    Errors: a fragment on both sides; bounds without a tile in global memory; other atoms, as those that reduce, where a vector
    may be there in part.

    ```mlir
    !copy = !cute.tiled_copy<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, layout_copy_tv = <"((4,16),8):((128,1),16)">, tiler_mn = <"[16:1;32:1]">>
    !tile = !cute.memref<f16, gmem, align<16>, "(32,32):(?{div=8},1)">
    !smem = !cute.memref<f16, smem, align<16>, S<2,4,3>, "(32,32):(32,1)">
    !at = !cute.coord_tensor<"(?,?)", "(32,32):(1@0,1@1)">
    // Given %copy: !copy, %t: !cute.coord<"?">, %g: !tile, %s: !smem, %at: !at, %shape: !cute.shape<"(?,?)">
    cute.copy_tile(%copy, %t, %g, %s) : (!copy, !cute.coord<"?">, !tile, !smem)
    cute.copy_tile(%copy, %t, %g, %s) within(%at, %shape : !at, !cute.shape<"(?,?)">) : (!copy, !cute.coord<"?">, !tile, !smem)
    ```
  }];
  defvar Bound = AnyTypeOf<[Cute_IntTupleType, Cute_ShapeType, Cute_CoordType],
    "!cute.int_tuple, !cute.shape or !cute.coord">;
  let arguments = (ins Cute_TiledCopyType:$copy, Cute_CoordType:$thread,
                       Arg<Cute_MemRefType, "", [MemRead]>:$source,
                       Arg<Cute_MemRefType, "", [MemWrite]>:$destination,
                       Optional<Cute_CoordTensorType>:$coords, Optional<Bound>:$shape);
  let assemblyFormat = [{ `(` $copy `,` $thread `,` $source `,` $destination `)`
    (`within` `(` $coords^ `,` $shape `:` qualified(type($coords)) `,` qualified(type($shape)) `)`)? attr-dict `:`
    `(` qualified(type($copy)) `,` qualified(type($thread)) `,` qualified(type($source)) `,` qualified(type($destination)) `)` }];
  let opDocGroup = Cute_Algorithms;
}

def Cute_AutovecCopyOp : Cute_AlgorithmOp<"autovec_copy"> {
  let summary = "Copies one thread's tensor by the widest vectors that both sides allow";
  let description = [{
    As many elements at once as lie side by side on both sides (`max_common_vector`), as the
    alignment of both promises, as no swizzle takes apart, and as `max_vec_bits` (128) allows. The
    tensors have equal sizes; their shapes may differ. Elements that the destination holds once but
    names several times (stride 0) are copied once.

    ```mlir
    !src = !cute.memref<f16, gmem, align<16>, "(8,4):(1,64)">
    !dst = !cute.memref<f16, rmem, align<16>, "(8,4):(1,8)">
    // Given %a: !src, %f: !dst
    cute.autovec_copy(%a, %f) : (!src, !dst)
    cute.autovec_copy(%a, %f) {max_vec_bits = 64 : i64} : (!src, !dst)
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$args, OptionalAttr<I64Attr>:$max_vec_bits);
}

def Cute_BasicCopyOp : Cute_AlgorithmOp<"basic_copy"> {
  let summary = "Copies one thread's tensor element by element";
  let description = [{
    ```mlir
    !src = !cute.memref<f32, gmem, "(4,2):(8,1)">
    !dst = !cute.memref<f32, rmem, "(4,2):(1,4)">
    // Given %a: !src, %f: !dst
    cute.basic_copy(%a, %f) : (!src, !dst)
    ```
  }];
}

def Cute_GemmOp : Cute_AlgorithmOp<"gemm"> {
  let summary = "A matrix product of one thread: A (M,K), B (N,K), C (M,N)";
  let description = [{
    - `cute.gemm(%mma, %D, %A, %B, %C)`: D = A B + C, by an MMA atom or a tiled MMA;
    - `cute.gemm(%mma, %A, %B, %C)`: the same with C as D;
    - `cute.gemm(%D, %A, %B, %C)`: by fused multiply-adds of single elements.

    D and C are in registers, A and B there or in shared memory, from where they are loaded k by k.
    Their ranks are one of (V) x (V) => (V), (M) x (N) => (M,N), (M,K) x (N,K) => (M,N),
    (V,M) x (V,N) => (V,M,N) and (V,M,K) x (V,N,K) => (V,M,N); without V, the atom has one value.

    ```mlir
    !mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(1,2,1):(1,1,0)">, permutation_MNK = <"[16:1;32:1;16:1]">>
    !acc = !cute.memref<f32, rmem, "((2,2),2,2):((1,2),4,8)">
    !frgA = !cute.memref<f16, rmem, "((2,2,2),2,2):((1,2,4),16,8)">
    !frgB = !cute.memref<f16, rmem, "((2,2),2,2):((1,2),4,8)">
    !sA = !cute.memref<f32, smem, "(8,16):(16,64)">
    !sB = !cute.memref<f32, smem, "(4,16):(16,64)">
    !rC = !cute.memref<f32, rmem, "(8,4):(1,8)">
    // Given %mma: !mma, %a: !frgA, %b: !frgB, %c: !acc, %x: !sA, %y: !sB, %z: !rC
    cute.gemm(%mma, %c, %a, %b, %c) : (!mma, !acc, !frgA, !frgB, !acc)
    cute.gemm(%mma, %a, %b, %c) : (!mma, !frgA, !frgB, !acc)
    cute.gemm(%z, %x, %y, %z) : (!rC, !sA, !sB, !rC)
    ```
  }];
  // What was a product of whole tensors is led to its op.
  let assemblyFormat = [{ `(` $args `)` custom<OfOneThread>(ref($args)) attr-dict `:`
    `(` type($args) `)` }];
}

def Cute_ClearOp : Cute_Op<"clear"> {
  let summary = "Sets every element of a tensor to zero";
  let description = [{
    Positive zero in the element type.

    ```mlir
    !acc = !cute.memref<f32, rmem, "((2,2),2,2):((1,2),4,8)">
    // Given %acc: !acc
    cute.clear(%acc) : (!acc)
    ```
  }];
  let arguments = (ins Arg<Cute_MemRefType, "", [MemWrite]>:$tensor);
  let assemblyFormat = "`(` $tensor `)` attr-dict `:` `(` qualified(type($tensor)) `)`";
  let opDocGroup = Cute_Algorithms;
}

def Cute_FillOp : Cute_Op<"fill"> {
  let summary = "Sets every element of a tensor to one value";
  let description = [{
    ```mlir
    !acc = !cute.memref<f32, rmem, "(4,2):(1,4)">
    // Given %acc: !acc, %v: f32
    cute.fill(%acc, %v) : (!acc, f32)
    ```
  }];
  let arguments = (ins Arg<Cute_MemRefType, "", [MemWrite]>:$tensor, AnyType:$value);
  let assemblyFormat = "`(` operands `)` attr-dict `:` `(` qualified(type($tensor)) `,` type($value) `)`";
  let opDocGroup = Cute_Algorithms;
}

def Cute_AxpbyOp : Cute_AlgorithmOp<"axpby"> {
  let summary = "y = alpha x + beta y, element by element";
  let description = [{
    Operands: alpha, x, beta, y, and perhaps a predicate of y's size, where only elements at which it
    holds are computed. The scalars and both tensors have one element type. Where beta is the
    constant 0, y is not read.

    ```mlir
    !acc = !cute.memref<f32, rmem, "(4,2):(1,4)">
    !out = !cute.memref<f32, gmem, "(4,2):(1,64)">
    // Given %alpha: f32, %x: !acc, %beta: f32, %y: !out
    cute.axpby(%alpha, %x, %beta, %y) : (f32, !acc, f32, !out)
    ```
  }];
}

def Cute_TransformOp : Cute_Op<"transform", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Computes each element of a tensor from those of others at the same place";
  let description = [{
    The last tensor is written; the others are read, each an argument of the region, which yields the
    element. A single tensor is both. All have one size. An element of a coordinate tensor is a
    coordinate whose integers are all dynamic. Where types are left out, the region's arguments stand in brackets before it.

    ```mlir
    !f = !cute.memref<f32, rmem, "(4,2):(1,4)">
    !h = !cute.memref<f16, rmem, "(4,2):(1,4)">
    !p = !cute.memref<i1, rmem, "(4,2):(1,4)">
    !c = !cute.coord_tensor<"(?,0)", "(4,2):(1@0,1@1)">
    // Given %x: !f, %y: !h, %p: !p, %c: !c, %bound: !cute.coord<"(?,2)">
    cute.transform(%x, %y) : (!f, !h) {
    ^bb0(%e: f32):
      %s = arith.mulf %e, %e : f32
      %r = arith.truncf %s : f32 to f16
      cute.yield %r : f16
    }
    cute.transform(%c, %p) (%at) {
      %r = cute.elem_less(%at, %bound)
      cute.yield %r
    }
    ```
  }];
  let arguments = (ins Variadic<Cute_TensorType>:$tensors);
  let regions = (region AnyRegion:$body);
  let assemblyFormat = "`(` $tensors `)` attr-dict `:` `(` type($tensors) `)` $body";
  let opDocGroup = Cute_Algorithms;
}

def Cute_ReduceOp : Cute_Op<"reduce", [MemoryEffects<[MemRead]>]> {
  let summary = "One value of all elements of a tensor";
  let description = [{
    From the initial value on, the elements one after the other: by the region, of what there is so
    far and of an element, or by `kind`, one of "add", "mul", "min" and "max"; of these, the last two
    give NaN where an element is NaN. The value's type may differ from the elements' only where a
    region is given.

    ```mlir
    !f = !cute.memref<f32, rmem, "(4,2):(1,4)">
    // Given %x: !f, %zero: f32
    %sum = cute.reduce(%x, %zero) {kind = "add"} : (!f, f32) -> f32
    %sumsq = cute.reduce(%x, %zero) : (!f, f32) -> f32 {
    ^bb0(%a: f32, %e: f32):
      %s = arith.mulf %e, %e : f32
      %r = arith.addf %a, %s : f32
      cute.yield %r : f32
    }
    ```
  }];
  let arguments = (ins Cute_MemRefType:$tensor, AnyType:$init, OptionalAttr<StrAttr>:$kind);
  let results = (outs AnyType:$result);
  let regions = (region AnyRegion:$body);
  let assemblyFormat = [{ `(` operands `)` attr-dict `:` functional-type(operands, $result)
    ($body^)? }];
  let opDocGroup = Cute_Algorithms;
}

def Cute_YieldOp : Cute_Op<"yield", [Pure, Terminator, ParentOneOf<["TransformOp", "ReduceOp", "ContractOp", "BlockTransformOp", "BlockPromoteOp", "MapOp", "BlockMapOp", "BlockFuseOp"]>]> {
  let summary = "The values of a region";
  let description = [{
    One value of most; of an epilogue and of a map one for each output.

    ```mlir
    !f = !cute.memref<f32, rmem, "(4,2):(1,4)">
    // Given %x: !f
    cute.transform(%x) : (!f) {
    ^bb0(%e: f32):
      %r = arith.negf %e : f32
      cute.yield %r : f32
    }
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "$values attr-dict `:` type($values)";
  let opDocGroup = Cute_Algorithms;
}

def Cute_ConvertOp : Cute_Op<"convert"> {
  let summary = "A register tensor with each element converted to another type";
  let description = [{
    Between floating-point types it rounds to nearest even; numbers that `f8E4M3FN` or `f8E5M2` (from `sm_89` on) has no room for become the largest there is. Integers
    are with a sign where their type is signless, `i8`, and without where it says so, `ui8`. To integers it rounds toward zero, and what is outside of their range becomes the
    nearest number in it, NaN the least; between integers, bits are left out or added. The layout is kept. The type of elements may stand behind `to`, by which the result's type
    follows.

    ```mlir
    !acc = !cute.memref<f32, rmem, "((2,2),2,2):((1,2),4,8)">
    !half = !cute.memref<f16, rmem, "((2,2),2,2):((1,2),4,8)">
    // Given %acc: !acc
    %h = cute.convert(%acc) : (!acc) -> !half
    %i = cute.convert(%acc) to f16 : (!acc) -> !half
    %j = cute.convert(%acc) to i8 : (!acc) -> !cute.memref<i8, rmem, "((2,2),2,2):((1,2),4,8)">
    ```
  }];
  let arguments = (ins Arg<Cute_MemRefType, "", [MemRead]>:$tensor, OptionalAttr<TypeAttr>:$element);
  let results = (outs Res<Cute_MemRefType, "", [MemAlloc]>:$result);
  let assemblyFormat = "`(` $tensor `)` (`to` $element^)? attr-dict `:` functional-type($tensor, $result)";
  let opDocGroup = Cute_Algorithms;
}

def Cute_PrefetchOp : Cute_AlgorithmOp<"prefetch"> {
  let summary = "Asks for a global tensor to be brought into the cache";
  let description = [{
    One request for every 64 bytes that are touched. `level` is "L2" or "L1". The atom of
    `cute.prefetch(%atom, %src)` says by what the tensor will be copied; only its element type counts.
    See [prefetch](https://docs.nvidia.com/cuda/parallel-thread-execution/#data-movement-and-conversion-instructions-prefetch-prefetchu).

    ```mlir
    !src = !cute.memref<f16, gmem, align<16>, "(64,4):(1,1024)">
    // Given %a: !src
    cute.prefetch(%a) : (!src)
    cute.prefetch(%a) {level = "L1"} : (!src)
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$args, OptionalAttr<StrAttr>:$level);
}

def Cute_CooperativeCopyOp : Cute_AlgorithmOp<"cooperative_copy"> {
  let summary = "Copies between global and shared memory by a number of threads together";
  let description = [{
    Operands: the index of the thread, the source, the destination; `threads` is how many take part.
    Each moves vectors as wide as layouts, alignment, swizzles, `max_vec_bits` (128) and the share of
    a thread allow, neighbouring threads neighbouring vectors. A size that is no multiple of the
    threads leaves a rest to the first of them. Waits and barriers are the caller's.

    ```mlir
    !g = !cute.memref<f16, gmem, align<16>, "(64,32):(128,1)">
    !s = !cute.memref<f16, smem, align<16>, "(64,32):(32,1)">
    // Given %tid: !cute.coord<"?">, %a: !g, %b: !s
    cute.cooperative_copy(%tid, %a, %b) {threads = 128 : i64} : (!cute.coord<"?">, !g, !s)
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$args, I64Attr:$threads,
                       OptionalAttr<I64Attr>:$max_vec_bits);
}

def Cute_CooperativeGemmOp : Cute_AlgorithmOp<"cooperative_gemm"> {
  let summary = "A product of shared tensors by the threads of a tiled MMA together";
  let description = [{
    `cute.cooperative_gemm(%tid, %mma, %alpha, %A, %B, %beta, %C)`: C = alpha A B + beta C, with C in
    shared memory and the scalars in the accumulator's type; where beta is the constant 0, C is not
    read. `cute.cooperative_gemm(%tid, %mma, %A, %B, %C)` adds A B to the thread's fragment of C in
    registers. `copy_a` and `copy_b` are atoms that load A and B; the widest universal copies where
    none is given. Barriers are the caller's.

    ```mlir
    !mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(1,2,1):(1,1,0)">, permutation_MNK = <"[16:1;32:1;16:1]">>
    !half = !cute.memref<f16, smem, align<16>, "(32,32):(32,1)">
    !out = !cute.memref<f32, smem, align<16>, "(32,32):(32,1)">
    !acc = !cute.memref<f32, rmem, "((2,2),2,2):((1,2),4,8)">
    // Given %tid: !cute.coord<"?">, %mma: !mma, %x: f32, %A: !half, %B: !half, %C: !out, %c: !acc
    cute.cooperative_gemm(%tid, %mma, %x, %A, %B, %x, %C) : (!cute.coord<"?">, !mma, f32, !half, !half, f32, !out)
    cute.cooperative_gemm(%tid, %mma, %A, %B, %c) : (!cute.coord<"?">, !mma, !half, !half, !acc)
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$args, OptionalAttr<TypeAttr>:$copy_a,
                       OptionalAttr<TypeAttr>:$copy_b);
}

def Cute_CandidatesOp : Cute_Op<"candidates", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "The candidate that computes a product of whole tensors, of several that a package holds";
  let description = [{
    `cute-tile{candidates=N}` writes it into the function that launches, with an `scf.if` for each candidate behind it that
    launches its kernels. `cute-run --tune` chooses one after another; where nobody chooses, it is the first that suits the sizes.

    `plans` are the options that ask for each candidate, `problems` names the kind of product that each is a plan for, and `times` are their estimated times in
    picoseconds, negative of one that does not suit the sizes. With M, N, K, the number of products and `generation`, which says what kernels
    plans stand for, that is what a measured time is kept by (`docs/tuning.md`). `left_out` are those whose kernels could not be assembled, or spilled registers.

    ```mlir
    // Given %m: index, %n: index, %k: index, %one: index, %t0: index, %t1: index
    %i = cute.candidates of(%m, %n, %k, %one)
      plans ["tile=128x128x64 warps=2x2 stages=3", "tile=64x64x64 warps=2x2 stages=3"]
      problems ["f16 f16 f32 f16 kkn 8x8x8", "f16 f16 f32 f16 kkn 8x8x8"] generation 1 take(%t0, %t1)
    ```
  }];
  let arguments = (ins Index:$m, Index:$n, Index:$k, Index:$batch, Variadic<Index>:$times, StrArrayAttr:$plans,
                       StrArrayAttr:$problems, I64Attr:$generation, OptionalAttr<DenseI64ArrayAttr>:$left_out);
  let results = (outs Index:$chosen);
  let assemblyFormat = [{ `of` `(` $m `,` $n `,` $k `,` $batch `)` `plans` $plans `problems` $problems
    `generation` $generation `take` `(` $times `)` attr-dict }];
  let opDocGroup = Cute_Algorithms;
}

#endif
