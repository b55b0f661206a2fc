// What no prologue can be is refused where it stands.
//
// RUN: cute-opt %s --cute-tile="arch=sm_80" --split-input-file --verify-diagnostics

!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
!b = !cute.memref<i8, gmem, align<16>, "(64,64):(64,1)">
func.func @shape(%A: !t, %B: !b, %C: !t, %scale: !t) {
  // expected-error @below {{expected a region of the arguments (i8, f16), found (i8)}}
  cute.contract ins(%A, %B : !t, !b) outs(%C : !t) accumulate f32 prologue B ins(%scale : !t) {
  ^bb0(%b: i8):
    %x = arith.sitofp %b : i8 to f16
    cute.yield %x : f16
  }
  return
}

// -----

!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
!v = !cute.memref<f16, gmem, align<16>, "(32,64):(1,0)">
func.func @shape(%A: !t, %B: !t, %C: !t, %scale: !v) {
  // expected-error @below {{expected an input of the prologue of A to have the shape of A, (64,64), found (32,64):(1,0); what is the same along a mode has the stride 0 there}}
  cute.contract ins(%A, %B : !t, !t) outs(%C : !t) accumulate f32 prologue A ins(%scale : !v) {
  ^bb0(%a: f16, %s: f16):
    %x = arith.mulf %a, %s : f16
    cute.yield %x : f16
  }
  return
}

// -----

!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
!s = !cute.memref<f16, smem, align<16>, "(64,64):(64,1)">
func.func @space(%A: !t, %B: !t, %C: !t, %scale: !s) {
  // expected-error @below {{expected an input of the prologue of B in gmem, found smem}}
  cute.contract ins(%A, %B : !t, !t) outs(%C : !t) accumulate f32 prologue B ins(%scale : !s) {
  ^bb0(%b: f16, %s: f16):
    cute.yield %b : f16
  }
  return
}

// -----

// Bytes without a sign are arguments without one, too.
!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
!u = !cute.memref<ui8, gmem, align<16>, "(64,64):(64,1)">
func.func @unsigned(%A: !t, %B: !u, %C: !t, %x: f16) {
  // expected-error @below {{expected a region of the arguments (i8), found (ui8)}}
  cute.contract ins(%A, %B : !t, !u) outs(%C : !t) accumulate f32 prologue B {
  ^bb0(%b: ui8):
    cute.yield %x : f16
  }
  return
}

// -----

!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
func.func @three(%A: !t, %B: !t, %C: !t) {
  // expected-error @below {{expected a prologue that ends in cute.yield of one number, or of one and a scale, found 3 of them}}
  cute.contract ins(%A, %B : !t, !t) outs(%C : !t) accumulate f32 prologue A {
  ^bb0(%a: f16):
    cute.yield %a, %a, %a : f16, f16, f16
  }
  return
}

// -----

!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
func.func @type_of_a_scale(%A: !t, %B: !t, %C: !t) {
  // expected-error @below {{expected a prologue of A that yields a scale of f32 behind what is multiplied, and sums of f32, which it multiplies; found f16 and sums of f32}}
  cute.contract ins(%A, %B : !t, !t) outs(%C : !t) accumulate f32 prologue A {
  ^bb0(%a: f16):
    cute.yield %a, %a : f16, f16
  }
  return
}

// -----

!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
func.func @sums_of_a_scale(%A: !t, %B: !t, %C: !t, %s: f32) {
  // expected-error @below {{expected a prologue of B that yields a scale of f32 behind what is multiplied, and sums of f32, which it multiplies; found f32 and sums of f16}}
  cute.contract ins(%A, %B : !t, !t) outs(%C : !t) accumulate f16 prologue B {
  ^bb0(%b: f16):
    cute.yield %b, %s : f16, f32
  }
  return
}

// -----

!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
func.func @scale_of_an_element(%A: !t, %B: !t, %C: !t) {
  // expected-error @below {{expected a scale that is the same for a group of elements, found one that the prologue of A computes of each element; multiply the element by it, and yield one number}}
  cute.contract ins(%A, %B : !t, !t) outs(%C : !t) accumulate f32 prologue A {
  ^bb0(%a: f16):
    %s = arith.extf %a : f16 to f32
    cute.yield %a, %s : f16, f32
  }
  return
}

// -----

!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
!s = !cute.memref<f32, gmem, align<4>, "(64,64):(64,1)">
func.func @scale_of_single_elements(%A: !t, %B: !t, %C: !t, %scale: !s) {
  // expected-error @below {{expected input 0 of the prologue of A, of which it computes a scale, to be the same for groups of elements along K, such as (128,56):(0,1), found (64,64):(64,1); multiply the element by it, and yield one number}}
  cute.contract ins(%A, %B : !t, !t) outs(%C : !t) accumulate f32 prologue A ins(%scale : !s) {
  ^bb0(%a: f16, %s: f32):
    cute.yield %a, %s : f16, f32
  }
  return
}

// -----

// Groups of 8 along K: no tile is as small.
!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
!s = !cute.memref<f32, gmem, align<4>, "(64,(8,8)):(8,(0,1))">
func.func @small_groups(%A: !t, %B: !t, %C: !t, %scale: !s) {
  // expected-error @below {{of smaller groups, multiply the elements by it, and yield one number}}
  cute.contract ins(%A, %B : !t, !t) outs(%C : !t) accumulate f32 prologue A ins(%scale : !s) {
  ^bb0(%a: f16, %s: f32):
    cute.yield %a, %s : f16, f32
  }
  return
}

// -----

!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
!s = !cute.memref<f32, gmem, align<4>, "((16,4),64):((0,1),0)">
!u = !cute.memref<f32, gmem, align<4>, "((32,2),64):((0,1),0)">
func.func @groups_of_rows(%A: !t, %B: !t, %C: !t, %scale: !s, %other: !u) {
  // expected-error @below {{expected groups of one size along the rows of a factor, found 16 and 32 in input 1 of the prologue of B; repeat numbers in the smaller groups}}
  cute.contract ins(%A, %B : !t, !t) outs(%C : !t) accumulate f32 prologue B ins(%scale, %other : !s, !u) {
  ^bb0(%b: f16, %s: f32, %u: f32):
    %x = arith.mulf %s, %u : f32
    cute.yield %b, %x : f16, f32
  }
  return
}

// -----

// Rows that lie in several pieces, and are not groups.
!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
!s = !cute.memref<f32, gmem, align<4>, "((16,4),64):((1,32),0)">
func.func @rows_in_pieces(%A: !t, %B: !t, %C: !t, %scale: !s) {
  // expected-error @below {{computes scales of input 0 of the prologue of A; expected a tensor of one extent and one stride along rows, or of groups of them as (128,32):(0,s), found ((16,4),64):((1,32),0)}}
  cute.contract ins(%A, %B : !t, !t) outs(%C : !t) accumulate f32 prologue A ins(%scale : !s) {
  ^bb0(%a: f16, %s: f32):
    cute.yield %a, %s : f16, f32
  }
  return
}

// -----

!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
!e = !cute.memref<f16, gmem, align<16>, "(64,64,2):(64,1,4096)">
!i = !cute.memref<i32, gmem, "2:1">
!s = !cute.memref<f32, gmem, align<4>, "((16,4),64):((0,1),0)">
func.func @groups_of_groups(%A: !t, %B: !e, %C: !t, %ends: !i, %scale: !s) {
  // expected-error @below {{has groups of rows, which begin anywhere; expected input 0 of the prologue of A with a number for each row, found ((16,4),64):((0,1),0)}}
  cute.contract ins(%A, %B : !t, !e) outs(%C : !t) accumulate f32 groups M(%ends : !i) prologue A ins(%scale : !s) {
  ^bb0(%a: f16, %s: f32):
    cute.yield %a, %s : f16, f32
  }
  return
}

// -----

!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
func.func @truth(%A: !t, %B: !t, %C: !t) {
  // expected-error @below {{expected a prologue of A that yields a number to be multiplied, found i1}}
  cute.contract ins(%A, %B : !t, !t) outs(%C : !t) accumulate f32 prologue A {
  ^bb0(%a: f16):
    %x = arith.cmpf olt, %a, %a : f16
    cute.yield %x : i1
  }
  return
}

// -----

!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
func.func @operation(%A: !t, %B: !t, %C: !t) {
  cute.contract ins(%A, %B : !t, !t) outs(%C : !t) accumulate f32 prologue B {
  ^bb0(%b: f16):
    // expected-error @below {{expected an operation on numbers in a prologue, which a kernel and the host compute alike: constants,}}
    %x = math.powf %b, %b : f16
    cute.yield %x : f16
  }
  return
}

// -----

!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
!b = !cute.memref<i8, gmem, align<16>, "(64,64):(64,1)">
func.func @integers(%A: !t, %B: !b, %C: !t) {
  cute.contract ins(%A, %B : !t, !b) outs(%C : !t) accumulate f32 prologue B {
  ^bb0(%b: i8):
    // expected-error @below {{expected integers of 8, 32 or 64 bits, or truth values, as the host computes them to verify a kernel, found i16 in 'arith.extsi'; use i32}}
    %w = arith.extsi %b : i8 to i16
    %x = arith.sitofp %w : i16 to f16
    cute.yield %x : f16
  }
  return
}

// -----

!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
func.func @signs(%A: !t, %B: !t, %C: !t) {
  cute.contract ins(%A, %B : !t, !t) outs(%C : !t) accumulate f32 prologue B {
  ^bb0(%b: f16):
    %is = arith.cmpf olt, %b, %b : f16
    // expected-error @below {{expected a number with a sign, found i1 in 'arith.sitofp'; of a truth value, 1 or 0 is arith.uitofp or arith.extui, others arith.select}}
    %x = arith.sitofp %is : i1 to f16
    cute.yield %x : f16
  }
  return
}

// -----

!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
func.func @captured(%A: !t, %B: !t, %C: !t, %x: f16) {
  %twice = arith.addf %x, %x : f16
  cute.contract ins(%A, %B : !t, !t) outs(%C : !t) accumulate f32 prologue B {
  ^bb0(%b: f16):
    // expected-error @below {{a prologue of B uses a number that the function computes, found in 'arith.mulf'; expected elements that are its own arguments, numbers that are arguments of the function, and constants}}
    %y = arith.mulf %b, %twice : f16
    cute.yield %y : f16
  }
  return
}

// -----

!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
func.func @written(%A: !t, %B: !t, %C: !t) {
  // expected-error @below {{writes a tensor that a prologue reads, for other tiles as well; expected a tensor of its own}}
  cute.contract ins(%A, %B : !t, !t) outs(%C : !t) accumulate f32 prologue B ins(%C : !t) {
  ^bb0(%b: f16, %c: f16):
    %y = arith.mulf %b, %c : f16
    cute.yield %y : f16
  }
  return
}

// -----

// What is multiplied is what a prologue yields, and not what is stored.
!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
!b = !cute.memref<i8, gmem, align<16>, "(64,64):(64,1)">
func.func @types(%A: !t, %B: !b, %C: !t) {
  // expected-error @below {{no atom multiplies f16 and f32 here yet: expected B of f16, found f32}}
  cute.contract ins(%A, %B : !t, !b) outs(%C : !t) accumulate f32 prologue B {
  ^bb0(%b: i8):
    %x = arith.sitofp %b : i8 to f32
    cute.yield %x : f32
  }
  return
}

// -----

// A plan that somebody wrote stores what is computed from registers.
!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
func.func @plan(%A: !t, %B: !t, %C: !t) {
  // expected-error @below {{has a cute.plan that copies A into shared memory by SM80_CP_ASYNC_16, and a prologue that computes it in registers; expected !cute_nvgpu.atom.universal_copy}}
  cute.contract ins(%A, %B : !t, !t) outs(%C : !t) accumulate f32 {cute.plan = #cute.plan<tile = 64x64x32, stages = 2, raster = 8, mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(2,2,1):(1,2,0)">, permutation_MNK = <"[32:1;32:1;16:1]">>, A = [<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, group, smem = <S<2,4,3>, "(64,32):(32,1)">, buffers = 2>, <!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, immediate>], B = [<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, group, smem = <S<2,4,3>, "(64,32):(32,1)">, buffers = 2>, <!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, immediate>], C = [<!cute_nvgpu.atom.universal_copy<f16, 32 b>, immediate, smem = <S<3,4,3>, "(64,64):(64,1)">, buffers = 1>, <!cute_nvgpu.atom.universal_copy<f16, 128 b>, immediate>]>} prologue A {
  ^bb0(%a: f16):
    cute.yield %a : f16
  }
  return
}

// -----

// Of a transformation of a tile: an input in global memory, and an output in shared memory.
!h = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
!s = !cute.memref<f16, smem, align<128>, "(64,64):(64,1)">
func.func @tiles(%a: !h, %s: !s) {
  // expected-error @below {{'cute.block.transform' op expected the output in smem, found gmem}}
  cute.block.transform A ins(%a : !h) outs(%a : !h) {
  ^bb0(%x: f16):
    cute.yield %x : f16
  }
  return
}

// -----

!h = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
!s = !cute.memref<f16, smem, align<128>, "(64,64):(64,1)">
func.func @inputs(%a: !h, %s: !s) {
  // expected-error @below {{'cute.block.transform' op expected an input behind the first in gmem or rmem, found smem}}
  cute.block.transform B ins(%a, %s : !h, !s) outs(%s : !s) {
  ^bb0(%x: f16, %y: f16):
    cute.yield %x : f16
  }
  return
}

// -----

// In registers: of what is in shared memory, as a whole.
!h = !cute.memref<i8, gmem, align<16>, "(64,64):(64,1)">
!r = !cute.memref<f16, rmem, "(64,64):(64,1)">
func.func @in_registers(%a: !h, %r: !r) {
  // expected-error @below {{'cute.block.transform' op expected the first input of what is computed in registers in smem, found gmem}}
  cute.block.transform B ins(%a : !h) outs(%r : !r) {
  ^bb0(%x: i8):
    %y = arith.sitofp %x : i8 to f16
    cute.yield %y : f16
  }
  return
}

// -----

!s = !cute.memref<i8, smem, align<128>, "(64,64):(64,1)">
!r = !cute.memref<f16, rmem, "(64,64):(64,1)">
!at = !cute.coord_tensor<"(0,0)", "(64,64):(1@0,1@1)">
func.func @part(%s: !s, %r: !r, %at: !at, %end: !cute.coord<"(?,_)">) {
  // expected-error @below {{'cute.block.transform' op computes a factor in registers of a whole tile in shared memory; expected no coordinates, whole matrices or rows, which its copy into shared memory has}}
  cute.block.transform B ins(%s : !s) outs(%r : !r) within(%at, %end : !at, !cute.coord<"(?,_)">) {
  ^bb0(%x: i8):
    %y = arith.sitofp %x : i8 to f16
    cute.yield %y : f16
  }
  return
}
