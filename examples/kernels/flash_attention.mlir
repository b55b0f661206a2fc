// FlashAttention 2, forward, for SM80 (Dao, 2023): O = softmax(scale Q K^T) V, for heads and batches, with any number of queries and keys.
//
// Q and O are (M, D, heads, batches), K and V (N, D, heads, batches); several neighbouring heads of Q may share one of K and V. With CAUSAL = 1 a query m
// has the keys up to m + N - M alone, so that the last query has all of them; a query without keys gets zeros.
//
// A block of 128 threads takes 128 queries of a head and goes over the keys, KEYS at a time, with the next tile of K and V on its way (the compiler's
// pipeline). Scores stay in registers: of each row the largest score that was met and the sum of the terms are kept, as in attention.mlir. Three things make
// it fast:
//
// - Each warp has 32 queries, so that what it loads of K and V from shared memory serves two products of 16 rows. D/16 slices of Q are operands, of which
//   KEPT stay in registers; the others are loaded from shared memory in each turn.
// - The maximum of a row is followed at a distance. What was summed up is made smaller only where a score is above the maximum that is used by more than 8
//   powers of two, which soon is rare; until then terms are at most 256, which f16 and f32 hold as exactly as terms of at most 1 (Dao's FlashAttention 4 does the same).
// - Scores become terms 16 keys at a time, so that the exponentials of the next keys run beside the products of these.
//
// The parameters: D, 64 or 128; T, f16 or bf16; KEYS, a multiple of 16; STAGES; KEPT, 0 to D/16; CAUSAL, 0 or 1. The defaults are of D = 128 and leave
// registers to spare on every architecture; from sm_80 to sm_90a, set=KEPT=2 is faster. For D = 64 set=D=64,KEYS=64,KEPT=4.
//
//     cute-opt examples/kernels/flash_attention.mlir --cute-compile="arch=sm_90a set=KEPT=2 package=flash.cutepkg" -o /dev/null
//     cute-run flash.cutepkg --bench --no-verify --layout "Q=(4096,128,16,4):(128,1,524288,8388608)" --layout "K=(4096,128,16,4):(128,1,524288,8388608)" \
//       --layout "V=(4096,128,16,4):(128,1,524288,8388608)" --layout "O=(4096,128,16,4):(128,1,524288,8388608)"
//
// Several tiles of queries; heads that share keys; rows that lie apart; fewer keys than a tile has, and fewer queries than keys, and more.
//
// RUN: cute-opt %s --cute-compile="arch=sm_80 package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator --seeds 2 --layout "Q=(150,128,4,1):(512,1,128,8)" --layout "O=(150,128,4,1):(512,1,128,8)" \
// RUN:   --layout "K=(77,128,2,1):(256,1,128,8)" --layout "V=(77,128,2,1):(264,1,128,8)"
// RUN: cute-opt %s --cute-compile="arch=sm_80 set=KEPT=2,CAUSAL=1 package=%t.causal.cutepkg" -o /dev/null
// RUN: cute-run %t.causal.cutepkg --device=emulator --layout "Q=(130,128,2,2):(128,1,16640,33280)" --layout "O=(130,128,2,2):(128,1,16640,33280)" \
// RUN:   --layout "K=(200,128,1,2):(128,1,25600,25600)" --layout "V=(200,128,1,2):(128,1,25600,25600)" --set scale=1
// RUN: cute-opt %s --cute-compile="arch=sm_80 set=D=64,KEYS=64,KEPT=4,T=bf16,CAUSAL=1 package=%t.64.cutepkg" -o /dev/null
// RUN: cute-run %t.64.cutepkg --device=emulator --layout "Q=(200,64,3,1):(64,1,12800,8)" --layout "O=(200,64,3,1):(64,1,12800,8)" \
// RUN:   --layout "K=(90,64,3,1):(64,1,5760,8)" --layout "V=(90,64,3,1):(64,1,5760,8)"

!mat = !cute.memref<!cute.param<"T">, gmem, align<16>, "(?,$D,?,?):(?{i64 div=8},1,?{i64 div=8},?{i64 div=8})">
// Tiles in shared memory, 64 columns beside each other: rows of 128 bytes, whose 16-byte pieces are exchanged by the number of the row, so that neither copies nor ldmatrix meet
// in a bank.
!sQ = !cute.memref<!cute.param<"T">, smem, align<1024>, S<3,4,3>, "(128,(64,$(D/64))):(64,(1,8192))">
!sK = !cute.memref<!cute.param<"T">, smem, align<1024>, S<3,4,3>, "($KEYS,(64,$(D/64))):(64,(1,$(KEYS*64)))">

!cp_async = !cute_nvgpu.atom.simt_async_copy<!cute.param<"T">, cache = global, 128 b>
!ldmatrix = !cute_nvgpu.atom.ldsm<val_type = !cute.param<"T">, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
!ldmatrix_t = !cute_nvgpu.atom.ldsm<val_type = !cute.param<"T">, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, t>
!mma_sync = !cute_nvgpu.sm80.mma<16x8x16, elem_type = (!cute.param<"T">, !cute.param<"T">, f32)>
!pair = !cute_nvgpu.atom.universal_copy<!cute.param<"T">, 32 b>
// 16 rows of 128 bytes at once, a vector a thread.
!copy = !cute.tiled_copy<!cp_async, layout_copy_tv = <"((8,16),8):((128,1),16)">, tiler_mn = <"[16:1;64:1]">>
// Four warps, one below the other, 16 of N at a time: what one ldmatrix loads of B.
!mma = !cute.tiled_mma<!mma_sync, atom_layout_MNK = <"(4,1,1):(1,4,4)">, permutation_MNK = <"[64:1;16:1;16:1]">>
// A number for each row of which a thread has scores: two of each atom, and two atoms.
!of_rows = !cute.memref<f32, rmem, "(2,2):(1,2)">

module attributes {gpu.container_module, cute.parameters = {D = 128, T = f16, KEYS = 32, STAGES = 2, KEPT = 0, CAUSAL = 0}} {
  gpu.module @kernels {
    cute.import "std/index"
    cute.import "std/copy"
    cute.import "std/mma"
    cute.import "std/softmax"

    // Tells of the vectors of tile %j whether their rows are within a shape.
    func.func private @part_within_rows(%coords: !cute.any, %j: i32, %shape: !cute.any) -> !cute.any {
      %first_at = cute.make_coord((0, 0), _, _, %j)
      %firsts = cute.slice(%coords, %first_at)
      %pred = cute.call @within(%firsts, %shape)
      return %pred : !cute.any
    }

    // Loads a piece of B, 16 of N in a slice of K, and adds its product with a slice of A to the sums of its columns.
    func.func private @multiply_piece(%mma: !cute.any, %a: !cute.any, %copy: !cute.any, %part: !cute.any, %b: !cute.any, %sums: !cute.any, %n: i32, %k: i32) {
      %filled = cute.tiled.copy.retile(%copy, %b)
      %piece = cute.make_coord(_, %n, %k)
      %from = cute.slice(%part, %piece)
      %to = cute.slice(%filled, %piece)
      cute.copy(%copy, %from, %to)
      %of_B = cute.make_coord(_, (_, %n), %k)
      %of_C = cute.make_coord(_, _, (_, %n))
      %b_piece = cute.slice(%b, %of_B)
      %sums_piece = cute.slice(%sums, %of_C)
      cute.gemm(%mma, %sums_piece, %a, %b_piece, %sums_piece)
      return
    }

    // Follows the maxima of the rows: where one grows by more than 8 powers of two, the rows' sums of terms and of values are made to fit the new maxima.
    func.func private @follow(%scores: !cute.any, %out: !cute.any, %largest: !cute.any, %sums: !cute.any, %factor: f32) {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %c2 = arith.constant 2 : i32
      %false = arith.constant false
      %far = arith.constant 8.0 : f32
      %found = cute.make_fragment_like(%largest)
      %grows = scf.for %i = %c0 to %c2 step %c1 iter_args(%of_others = %false) -> (i1) : i32 {
        %of_atom = scf.for %r = %c0 to %c2 step %c1 iter_args(%any = %of_others) -> (i1) : i32 {
          %row = cute.make_coord((_, %r), %i, _)
          %its = cute.make_coord(%r, %i)
          %scores_row = cute.slice(%scores, %row)
          %s = cute.memref.load_vec %scores_row
          %mine = cute.deferred "vector.reduction"<{kind = #vector.kind<maximumf>}>(%s) -> f32
          %max = cute.call @quad_max(%mine)
          cute.memref.store(%found, %its, %max)
          %before = cute.memref.load(%largest, %its) -> f32
          %above = arith.subf %max, %before : f32
          %powers = arith.mulf %above, %factor : f32
          %is_far = arith.cmpf ogt, %powers, %far : f32
          %or = arith.ori %any, %is_far : i1
          scf.yield %or : i1
        } {cute.unroll}
        scf.yield %of_atom : i1
      } {cute.unroll}
      scf.if %grows {
        scf.for %i = %c0 to %c2 step %c1 : i32 {
          scf.for %r = %c0 to %c2 step %c1 : i32 {
            %row = cute.make_coord((_, %r), %i, _)
            %its = cute.make_coord(%r, %i)
            %before = cute.memref.load(%largest, %its) -> f32
            %max = cute.memref.load(%found, %its) -> f32
            %new = arith.maximumf %before, %max : f32
            cute.memref.store(%largest, %its, %new)
            // 0 the first time, when nothing was summed up.
            %finite = cute.call @or_zero(%new)
            %above = arith.subf %before, %finite : f32
            %powers = arith.mulf %above, %factor : f32
            %less = math.exp2 %powers fastmath<afn> : f32
            %sum = cute.memref.load(%sums, %its) -> f32
            %new_sum = arith.mulf %sum, %less : f32
            cute.memref.store(%sums, %its, %new_sum)
            %out_row = cute.slice(%out, %row)
            cute.call @scale_by(%out_row, %less)
          } {cute.unroll}
        } {cute.unroll}
      }
      return
    }

    // Zero for the maximum of a row that has met no key, by which its terms are 0 and not NaN.
    func.func private @or_zero(%max: f32) -> f32 {
      %zero = arith.constant 0.0 : f32
      %lowest = arith.constant 0xFF800000 : f32
      %none = arith.cmpf oeq, %max, %lowest : f32
      %finite = arith.select %none, %zero, %max : f32
      return %finite : f32
    }

    // Makes terms of a slice of 16 keys of the scores, adds them to the sums, and gives them as an operand A of T.
    func.func private @terms(%scores: !cute.any, %less: !cute.any, %sums: !cute.any, %factor: f32, %k: i32) -> !cute.any {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %c2 = arith.constant 2 : i32
      scf.for %i = %c0 to %c2 step %c1 : i32 {
        scf.for %r = %c0 to %c2 step %c1 : i32 {
          %of_row = cute.make_coord((_, %r), %i, (_, %k))
          %its = cute.make_coord(%r, %i)
          %row = cute.slice(%scores, %of_row)
          %subtrahend = cute.memref.load(%less, %its) -> f32
          cute.transform(%row, %row) (%s: f32) {
            %powers = math.fma %s, %factor, %subtrahend : f32
            %term = math.exp2 %powers fastmath<afn> : f32
            cute.yield %term : f32
          }
          %all = cute.memref.load_vec %row
          %more = cute.deferred "vector.reduction"<{kind = #vector.kind<add>}>(%all) -> f32
          %sum = cute.memref.load(%sums, %its) -> f32
          %new_sum = arith.addf %sum, %more : f32
          cute.memref.store(%sums, %its, %new_sum)
        } {cute.unroll}
      } {cute.unroll}
      // Of a 16 x 16 piece of A a thread has what it has of two 16 x 8 pieces of C side by side, in the same order.
      %of_slice = cute.make_coord(_, _, (_, %k))
      %slice = cute.slice(%scores, %of_slice)
      %rounded = cute.convert(%slice) to !cute.param<"T">
      %start = cute.get_iter(%rounded)
      %a = cute.make_view(%start, "((2,2,2),2):((1,2,8),4)")
      return %a : !cute.any
    }

    gpu.func @flash_attention_kernel(%Q: !mat, %K: !mat, %V: !mat, %O: !mat, %scale: f32, %sharing: i32) kernel
        attributes {known_block_size = array<i32: 128, 1, 1>, cute.synchronize} {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %c2 = arith.constant 2 : i32
      %t = cute.call @thread()
      // Which queries the block has: the last ones first, which have the most keys where CAUSAL is 1.
      %bx = cute.call @block_x()
      %head = cute.call @block_y()
      %bz = gpu.block_id z
      %batch = arith.index_cast %bz : index to i32
      %gx = gpu.grid_dim x
      %blocks = arith.index_cast %gx : index to i32
      %bx_1 = arith.addi %bx, %c1 : i32
      %m = arith.subi %blocks, %bx_1 : i32
      %key_head = arith.divui %head, %sharing : i32
      %of_Q = cute.make_coord(_, _, %head, %batch)
      %of_K = cute.make_coord(_, _, %key_head, %batch)
      %q = cute.slice(%Q, %of_Q)
      %k = cute.slice(%K, %of_K)
      %v = cute.slice(%V, %of_K)
      %o = cute.slice(%O, %of_Q)
      %lq = cute.get_layout(%q)
      %lk = cute.get_layout(%k)
      %M, %ldQ = cute.get_scalars <{only_dynamic}>(%lq) -> (i32, i64)
      %N, %ldK = cute.get_scalars <{only_dynamic}>(%lk) -> (i32, i64)

      // Its tiles, and which of their rows there are.
      %queries = cute.static "[128:1;$D:1]"
      %keys = cute.static "[$KEYS:1;$D:1]"
      %mine = cute.make_coord(%m, 0)
      %all = cute.static coord "(_,0)"
      %iQ, %MD = cute.call @coordinates(%q)
      %iK, %ND = cute.call @coordinates(%k)
      %gQ = cute.local_tile(%q, %queries, %mine)
      %cQ = cute.local_tile(%iQ, %queries, %mine)
      %gK = cute.local_tile(%k, %keys, %all)
      %cK = cute.local_tile(%iK, %keys, %all)
      %gV = cute.local_tile(%v, %keys, %all)
      %gO = cute.local_tile(%o, %queries, %mine)

      // The second product sums over the keys, so its operand B is V with the keys as K mode: V transposed.
      %sQ = cute.memref.alloca() : !sQ
      %sK = cute.memref.alloca() : !sK
      %sV = cute.memref.alloca() : !sK
      %sV_start = cute.get_iter(%sV)
      %sVt = cute.make_view(%sV_start, "((64,$(D/64)),$KEYS):((1,$(KEYS*64)),64)")

      %copy = cute.static : !copy
      %mma = cute.static : !mma
      %ldmatrix = cute.make_atom() -> !ldmatrix
      %ldmatrix_t = cute.make_atom() -> !ldmatrix_t
      %pair = cute.make_atom() -> !pair
      %copy_Q = cute.mma.make_tiled_copy A (%mma, %ldmatrix)
      %copy_K = cute.mma.make_tiled_copy B (%mma, %ldmatrix)
      %copy_V = cute.mma.make_tiled_copy B (%mma, %ldmatrix_t)
      %copy_O = cute.mma.make_tiled_copy C (%mma, %pair)
      %tQgQ, %tQsQ = cute.call @parts(%copy, %gQ, %sQ, %t)
      %tKgK, %tKsK = cute.call @parts(%copy, %gK, %sK, %t)
      %tVgV, %tVsV = cute.call @parts(%copy, %gV, %sV, %t)
      %tQcQ = cute.tiled.copy.partition_S(%copy, %cQ, %t)
      %tKcK = cute.tiled.copy.partition_S(%copy, %cK, %t)
      %tSsQ = cute.tiled.copy.partition_S(%copy_Q, %sQ, %t)
      %tSsK = cute.tiled.copy.partition_S(%copy_K, %sK, %t)
      %tOsV = cute.tiled.copy.partition_S(%copy_V, %sVt, %t)

      // Fragments. The columns of S and O are in pairs of atoms, which a piece of B has.
      %rQ = cute.mma.make_fragment A (%mma, "((2,2,2),2,$(D/16))")
      %rK = cute.mma.make_fragment B (%mma, "((2,2),(2,$(KEYS/16)),$(D/16))")
      %rV = cute.mma.make_fragment B (%mma, "((2,2),(2,$(D/16)),$(KEYS/16))")
      %rS = cute.mma.make_fragment C (%mma, "((2,2),2,(2,$(KEYS/16)))")
      %rO = cute.mma.make_fragment C (%mma, "((2,2),2,(2,$(D/16)))")
      %tSrQ = cute.tiled.copy.retile(%copy_Q, %rQ)
      cute.clear(%rO)

      // Q, of which KEPT slices stay in registers. That its copies have to arrive first is seen by the compiler.
      %firsts_Q = cute.slice(%tQcQ, "((0,0),_,_)")
      %pQ = cute.call @within(%firsts_Q, %MD)
      cute.copy(%copy, %tQgQ, %tQsQ, %pQ)
      %kept = cute.param "KEPT"
      %slices_D = cute.param "D/16"
      %slices_N = cute.param "KEYS/16"
      scf.for %i = %c0 to %kept step %c1 : i32 {
        cute.call @load_step(%copy_Q, %tSsQ, %tSrQ, %i)
      } {cute.unroll}

      // Of each row the maximum that is used and the sum of this thread's terms. A term is exp(scale (s - max)) = 2^(s factor - max factor).
      %largest = cute.memref.alloca() : !of_rows
      %sums = cute.memref.alloca() : !of_rows
      %less = cute.memref.alloca() : !of_rows
      %zero = arith.constant 0.0 : f32
      %lowest = arith.constant 0xFF800000 : f32
      cute.fill(%largest, %lowest)
      cute.clear(%sums)
      %log2e = arith.constant 1.44269502 : f32
      %factor = arith.mulf %scale, %log2e : f32

      // Query m has keys up to m + shift. Of the block's tiles of keys, all queries have all keys of the first ones.
      %causal = cute.param "CAUSAL"
      %is_causal = arith.cmpi ne, %causal, %c0 : i32
      %later = arith.subi %N, %M : i32
      %shift = arith.select %is_causal, %later, %N : i32
      %c128 = arith.constant 128 : i32
      %tile = cute.param "KEYS"
      %first_query = arith.muli %m, %c128 : i32
      %next_query = arith.addi %first_query, %c128 : i32
      %of_first = arith.addi %first_query, %shift : i32
      %end_of_first = arith.addi %of_first, %c1 : i32
      %end_of_last = arith.addi %next_query, %shift : i32
      %for_all = arith.minsi %end_of_first, %N : i32
      %for_any = arith.minsi %end_of_last, %N : i32
      %whole = arith.floordivsi %for_all, %tile : i32
      %tiles = arith.ceildivsi %for_any, %tile : i32
      %MN = cute.make_shape(%M, %N)
      %pairs = cute.make_identity_tensor(%MN)
      %square = cute.static "[128:1;$KEYS:1]"

      scf.for %j = %c0 to %tiles step %c1 : i32 {
        // Rows beyond the last key are zero.
        %pK = cute.call @part_within_rows(%tKcK, %j, %ND)
        %tile_j = cute.make_coord(_, _, _, %j)
        %from_K = cute.slice(%tKgK, %tile_j)
        %from_V = cute.slice(%tVgV, %tile_j)
        cute.copy(%copy, %from_K, %tKsK, %pK)
        cute.copy(%copy, %from_V, %tVsV, %pK)

        // S = Q K^T.
        cute.clear(%rS)
        scf.for %i = %kept to %slices_D step %c1 : i32 {
          cute.call @load_step(%copy_Q, %tSsQ, %tSrQ, %i)
        } {cute.unroll}
        scf.for %i = %c0 to %slices_D step %c1 : i32 {
          %of_A = cute.make_coord(_, _, %i)
          %a = cute.slice(%rQ, %of_A)
          scf.for %n = %c0 to %slices_N step %c1 : i32 {
            cute.call @multiply_piece(%mma, %a, %copy_K, %tSsK, %rK, %rS, %n, %i)
          } {cute.unroll}
        } {cute.unroll}

        // In the last tiles, scores of keys that a query does not have are as low as can be.
        %masks = arith.cmpi sge, %j, %whole : i32
        scf.if %masks {
          %here = cute.make_coord(%m, %j)
          %cS = cute.local_tile(%pairs, %square, %here)
          %tcS = cute.tiled.mma.partition C(%mma, %cS, %t)
          cute.transform(%tcS, %rS, %rS) (%at, %s: f32) {
            %query, %key = cute.get_scalars(%at) -> (i32, i32)
            %last = arith.addi %query, %shift : i32
            %sees = arith.cmpi sle, %key, %last : i32
            %is_there = arith.cmpi slt, %key, %N : i32
            %has = arith.andi %sees, %is_there : i1
            %score = arith.select %has, %s, %lowest : f32
            cute.yield %score : f32
          }
        }

        // P V, 16 keys at a time.
        cute.call @follow(%rS, %rO, %largest, %sums, %factor)
        cute.transform(%largest, %less) (%max: f32) {
          %finite = cute.call @or_zero(%max)
          %scaled = arith.mulf %finite, %factor : f32
          %negative = arith.negf %scaled : f32
          cute.yield %negative : f32
        }
        scf.for %i = %c0 to %slices_N step %c1 : i32 {
          %p = cute.call @terms(%rS, %less, %sums, %factor, %i)
          scf.for %n = %c0 to %slices_D step %c1 : i32 {
            cute.call @multiply_piece(%mma, %p, %copy_V, %tOsV, %rV, %rO, %n, %i)
          } {cute.unroll}
        } {cute.unroll}
      } {cute.stages = #cute.param<"STAGES">}

      // Each row divided by its sum of all four threads that have terms of it; a row without keys is zero.
      scf.for %i = %c0 to %c2 step %c1 : i32 {
        scf.for %r = %c0 to %c2 step %c1 : i32 {
          %row = cute.make_coord((_, %r), %i, _)
          %its = cute.make_coord(%r, %i)
          %mine_of_sum = cute.memref.load(%sums, %its) -> f32
          %sum = cute.call @quad_sum(%mine_of_sum)
          %empty = arith.cmpf oeq, %sum, %zero : f32
          %quotient = llvm.call_intrinsic "llvm.nvvm.rcp.approx.ftz.f"(%sum) : (f32) -> f32
          %inverse = arith.select %empty, %zero, %quotient : f32
          %rO_row = cute.slice(%rO, %row)
          cute.call @scale_by(%rO_row, %inverse)
        } {cute.unroll}
      } {cute.unroll}
      %rounded = cute.convert(%rO) to !cute.param<"T">
      %tOrO = cute.tiled.copy.retile(%copy_O, %rounded)
      %tOgO = cute.tiled.copy.partition_D(%copy_O, %gO, %t)
      %tOcO = cute.tiled.copy.partition_D(%copy_O, %cQ, %t)
      %firsts = cute.static coord "((0,_),_,_)"
      %firsts_O = cute.slice(%tOcO, %firsts)
      %pO = cute.call @within(%firsts_O, %MD)
      cute.copy(%copy_O, %tOrO, %tOgO, %pO)
      gpu.return
    }
  }

  // The host: a block for each 128 queries of a head.
  func.func @flash_attention(%Q: !mat {cute.name = "Q"}, %K: !mat {cute.name = "K"}, %V: !mat {cute.name = "V"}, %O: !mat {cute.name = "O"},
                             %scale: f32 {cute.name = "scale", cute.default = 0.125 : f32})
      attributes {cute.computes = [{attention = array<i64: 0, 1, 2, 3>, scale = 4 : index, causal = #cute.param<"CAUSAL">, accumulate = f32}]} {
    %lQ = cute.get_layout(%Q)
    %lK = cute.get_layout(%K)
    %M, %heads, %batches, %ldQ, %hQ, %bQ = cute.get_scalars <{only_dynamic}>(%lQ) -> (i32, i32, i32, i64, i64, i64)
    %N, %key_heads, %key_batches, %ldK, %hK, %bK = cute.get_scalars <{only_dynamic}>(%lK) -> (i32, i32, i32, i64, i64, i64)
    %sharing = arith.divsi %heads, %key_heads : i32
    %c128 = arith.constant 128 : i32
    %m = arith.ceildivsi %M, %c128 : i32
    %grid = cute.make_shape(%m, %heads, %batches)
    cute.launch @kernels::@flash_attention_kernel blocks(%grid) args(%Q, %K, %V, %O, %scale, %sharing)
    return
  }
}
