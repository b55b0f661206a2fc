// Products and registers
//
// A tiled MMA of a shape that no instruction has
!mma = !cute_nvgpu.sm80.mma<16x8x4, elem_type = (f16, f16, f32)>
func.func @f(%a: !mma) {
  return
}

// -----

// A fragment of another type than the product's
!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(2,2,1):(1,2,0)">, permutation_MNK = <"[32:1;32:1;16:1]">>
func.func @f(%s: !cute.memref<bf16, smem, align<16>, "(32,16):(16,1)">, %i: i32) {
  %mma = cute.static : !mma
  %thread = cute.make_coord(%i)
  %p = cute.tiled.mma.partition A (%mma, %s, %thread)
  %r = cute.mma.make_fragment A (%mma, %p)
  return
}

// -----

// An operand of another name
!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(2,2,1):(1,2,0)">, permutation_MNK = <"[32:1;32:1;16:1]">>
func.func @f(%s: !cute.memref<f32, gmem, "(32,32):(32,1)">, %i: i32) {
  %mma = cute.static : !mma
  %thread = cute.make_coord(%i)
  %p = cute.tiled.mma.partition D (%mma, %s, %thread)
  return
}

// -----

// A tile that the tiled MMA does not divide
!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(2,2,1):(1,2,0)">, permutation_MNK = <"[32:1;32:1;16:1]">>
func.func @f(%s: !cute.memref<f16, smem, "(48,16):(16,1)">, %i: i32) {
  %mma = cute.static : !mma
  %thread = cute.make_coord(%i)
  %p = cute.tiled.mma.partition A (%mma, %s, %thread)
  return
}

// -----

// A and B with another K
!mma = !cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>
func.func @f(%A: !cute.memref<f16, rmem, "((2,2,2),2,1):((1,2,4),8,0)">, %B: !cute.memref<f16, rmem, "((2,2),2,2):((1,2),4,8)">,
             %C: !cute.memref<f32, rmem, "((2,2),2,2):((1,2),4,8)">) {
  %mma = cute.static : !mma
  cute.gemm(%mma, %C, %A, %B, %C)
  return
}

// -----

// An accumulator in f16
!mma = !cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>
func.func @f(%A: !cute.memref<f16, rmem, "((2,2,2),1,1):((1,2,4),0,0)">, %B: !cute.memref<f16, rmem, "((2,2),1,1):((1,2),0,0)">,
             %C: !cute.memref<f16, rmem, "((2,2),1,1):((1,2),0,0)">) {
  %mma = cute.static : !mma
  cute.gemm(%mma, %C, %A, %B, %C)
  return
}

// -----

// A whole product where one thread's is written
!t = !cute.memref<f16, gmem, align<16>, "(256,256):(256,1)">
func.func @f(%A: !t, %B: !t, %C: !t) {
  cute.gemm(%A, %B, %C)
  return
}

// -----

// A fragment in global memory
func.func @f() {
  %r = cute.memref.alloca() : !cute.memref<f32, gmem, "(4,2):(1,4)">
  return
}

// -----

// A fragment whose extents are not known
func.func @f() {
  %r = cute.memref.alloca() : !cute.memref<f32, rmem, "(?,2):(1,4)">
  return
}

// -----

// A fragment read before it is written
gpu.module @k {
  gpu.func @f(%D: !cute.memref<f32, gmem, "8:1">) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    %r = cute.memref.alloca() : !cute.memref<f32, rmem, "8:1">
    cute.autovec_copy(%r, %D)
    gpu.return
  }
}

// -----

// A fragment indexed by a loop that is not unrolled
gpu.module @k {
  gpu.func @f(%S: !cute.memref<f32, gmem, "8:1">, %D: !cute.memref<f32, gmem, "8:1">) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    %r = cute.memref.alloca() : !cute.memref<f32, rmem, "8:1">
    cute.autovec_copy(%S, %r)
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c8 = arith.constant 8 : i32
    scf.for %i = %c0 to %c8 step %c1 : i32 {
      %at = cute.make_coord(%i)
      %x = cute.memref.load(%r, %at)
      cute.memref.store(%D, %at, %x)
    }
    gpu.return
  }
}

// -----

// A region with another number of arguments
func.func @f(%t: !cute.memref<f16, rmem, "8:1">) {
  cute.transform(%t, %t) (%a, %b) {
    cute.yield %a
  }
  return
}

// -----

// A region that yields another type
func.func @f(%t: !cute.memref<f16, rmem, "8:1">, %x: f32) {
  cute.transform(%t, %t) (%a) {
    cute.yield %x
  }
  return
}

// -----

// A reduction of a kind that is not there
func.func @f(%t: !cute.memref<f32, rmem, "8:1">, %x: f32) {
  %s = cute.reduce(%t, %x) {kind = "maximum"}
  return
}

// -----

// A function of numbers that has no instruction
gpu.module @k {
  gpu.func @f(%S: !cute.memref<f32, gmem, "1:1">) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    %at = cute.static coord "0"
    %x = cute.memref.load(%S, %at)
    %y = math.atan %x : f32
    cute.memref.store(%S, %at, %y)
    gpu.return
  }
}

// -----

// A fragment of shared memory as an operand of a tiled copy's retile
!copy = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f32, 128 b>, layout_copy_tv = <"((32,8),4):((4,128),1)">, tiler_mn = <"[128:1;8:1]">>
func.func @f(%s: !cute.memref<f32, smem, align<16>, "((4,1),1,1):((1,0),0,0)">) {
  %copy = cute.static : !copy
  %r = cute.tiled.copy.retile(%copy, %s)
  return
}

// -----

// A region in braces alone
func.func @f(%t: !cute.memref<f16, rmem, "8:1">) {
  cute.transform(%t, %t) {
  ^bb0(%a: f16):
    cute.yield %a
  }
  return
}

// -----

// A conversion to the type that is there
func.func @f(%t: !cute.memref<f32, rmem, "8:1">) {
  %c = cute.convert(%t) to f32
  return
}

// -----

// A fragment seen as more elements than it has
gpu.module @k {
  gpu.func @f(%S: !cute.memref<f32, gmem, "8:1">, %D: !cute.memref<f32, gmem, "16:1">) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    %r = cute.memref.alloca() : !cute.memref<f32, rmem, "8:1">
    cute.autovec_copy(%S, %r)
    %wide = cute.static "16:1"
    %iter = cute.get_iter(%r)
    %w = cute.make_view(%iter, %wide)
    cute.autovec_copy(%w, %D)
    gpu.return
  }
}

// -----

// Sums of wgmma that the next turn reads before they are there
// arch=sm_90a
!mma = !cute.tiled_mma<!cute_nvgpu.sm90.mma<64x64x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
!part = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((64,16),1,4):((64,1),0,16)">
gpu.module @k {
  gpu.func @f(%n: i32, %D: !cute.memref<f32, gmem, "?:1">) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %a = cute.memref.alloca() : !part
    %sums = cute.memref.alloca() : !cute.memref<f32, rmem, "((2,2,8),1,1):((1,2,4),0,0)">
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    cute.clear(%sums)
    scf.for %i = %c0 to %n step %c1 : i32 {
      %x = cute.memref.load(%sums, (0, 0, 0))
      cute.memref.store(%D, (%i), %x)
      cute_nvgpu.wgmma_fence(%sums)
      cute.gemm(!mma, %sums, %a, %a, %sums)
      cute_nvgpu.wgmma_commit_group
    }
    cute_nvgpu.wgmma_wait_group 0 (%sums)
    gpu.return
  }
}
