// Copies
//
// Operands in the order of another function
!T = !cute.memref<f32, gmem, align<16>, "(128,8):(1,128)">
!copy = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f32, 128 b>, layout_copy_tv = <"((32,8),4):((4,128),1)">, tiler_mn = <"[128:1;8:1]">>
func.func @f(%S: !T, %i: i32) {
  %copy = cute.static : !copy
  %thread = cute.make_coord(%i)
  %t = cute.tiled.copy.partition_S(%S, %copy, %thread)
  return
}

// -----

// A tensor that is not partitioned
!T = !cute.memref<f16, gmem, align<16>, "(32,32):(32,1)">
!copy = !cute.tiled_copy<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, layout_copy_tv = <"((4,32),8):((256,1),32)">, tiler_mn = <"[32:1;32:1]">>
func.func @f(%S: !T) {
  %copy = cute.static : !copy
  %s = cute.memref.alloca() : !cute.memref<f16, smem, align<16>, "(32,32):(32,1)">
  cute.copy(%copy, %S, %s)
  return
}

// -----

// A vector along the mode that is not contiguous
!T = !cute.memref<f16, gmem, align<16>, "(128,64):(1,128)">
!copy = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"((8,16),8):((128,1),16)">, tiler_mn = <"[16:1;64:1]">>
func.func @f(%S: !T, %i: i32) {
  %copy = cute.static : !copy
  %thread = cute.make_coord(%i)
  %t = cute.tiled.copy.partition_S(%copy, %S, %thread)
  %r = cute.memref.alloca() : !cute.memref<f16, rmem, align<16>, "((8,1),8,1):((1,0),8,0)">
  cute.copy(%copy, %t, %r)
  return
}

// -----

// An alignment that an argument does not promise
!T = !cute.memref<f16, gmem, align<8>, "(128,64):(64,1)">
!copy = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"((8,16),8):((128,1),16)">, tiler_mn = <"[16:1;64:1]">>
func.func @f(%S: !T, %i: i32) {
  %copy = cute.static : !copy
  %thread = cute.make_coord(%i)
  %t = cute.tiled.copy.partition_S(%copy, %S, %thread)
  %r = cute.memref.alloca() : !cute.memref<f16, rmem, align<16>, "((8,1),8,1):((1,0),8,0)">
  cute.copy(%copy, %t, %r)
  return
}

// -----

// A divisor that an argument does not promise
!T = !cute.memref<f16, gmem, align<16>, "(?,?):(?{div=4},1)">
!copy = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"((8,16),8):((128,1),16)">, tiler_mn = <"[16:1;64:1]">>
func.func @f(%S: !T, %i: i32) {
  %copy = cute.static : !copy
  %thread = cute.make_coord(%i)
  %tiler = cute.static "[16:1;64:1]"
  %at = cute.make_coord(%i, %i)
  %g = cute.local_tile(%S, %tiler, %at)
  %t = cute.tiled.copy.partition_S(%copy, %g, %thread)
  %r = cute.memref.alloca() : !cute.memref<f16, rmem, align<16>, "((8,1),1,1):((1,0),0,0)">
  cute.copy(%copy, %t, %r)
  return
}

// -----

// A swizzle that takes vectors apart
func.func @f(%i: i32) {
  %s = cute.memref.alloca() : !cute.memref<f16, smem, align<1024>, S<3,3,3>, "(8,64):(64,1)">
  %copy = cute.static : !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"((8,8),8):((64,1),8)">, tiler_mn = <"[8:1;64:1]">>
  %thread = cute.make_coord(%i)
  %t = cute.tiled.copy.partition_S(%copy, %s, %thread)
  %r = cute.memref.alloca() : !cute.memref<f16, rmem, align<16>, "((8,1),1,1):((1,0),0,0)">
  cute.copy(%copy, %t, %r)
  return
}

// -----

// A swizzled tensor with a small alignment
func.func @f() {
  %s = cute.memref.alloca() : !cute.memref<f16, smem, align<128>, S<3,4,3>, "(8,64):(64,1)">
  return
}

// -----

// A fragment of another shape
!T = !cute.memref<f32, gmem, align<16>, "(128,64):(1,128)">
!copy = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f32, 128 b>, layout_copy_tv = <"((32,8),4):((4,128),1)">, tiler_mn = <"[128:1;8:1]">>
func.func @f(%S: !T, %i: i32) {
  %copy = cute.static : !copy
  %thread = cute.make_coord(%i)
  %t = cute.tiled.copy.partition_S(%copy, %S, %thread)
  %r = cute.memref.alloca() : !cute.memref<f32, rmem, align<16>, "((4,1),1,4):((1,0),0,4)">
  cute.copy(%copy, %t, %r)
  return
}

// -----

// Elements of another type
func.func @f(%a: !cute.memref<f32, rmem, "8:1">, %b: !cute.memref<f16, rmem, "8:1">) {
  cute.autovec_copy(%a, %b)
  return
}

// -----

// An asynchronous copy into registers
!copy = !cute.tiled_copy<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, layout_copy_tv = <"((8,16),8):((128,1),16)">, tiler_mn = <"[16:1;64:1]">>
func.func @f(%S: !cute.memref<f16, gmem, align<16>, "(16,64):(64,1)">, %i: i32) {
  %copy = cute.static : !copy
  %thread = cute.make_coord(%i)
  %t = cute.tiled.copy.partition_S(%copy, %S, %thread)
  %r = cute.memref.alloca() : !cute.memref<f16, rmem, align<16>, "((8,1),1,1):((1,0),0,0)">
  cute.copy(%copy, %t, %r)
  return
}

// -----

// A width that the cache operator does not have
!atom = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 64 b>
func.func @f(%a: !atom) {
  return
}

// -----

// More threads than the block has
!copy = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f32, 128 b>, layout_copy_tv = <"((32,8),4):((4,128),1)">, tiler_mn = <"[128:1;8:1]">>
gpu.module @k {
  gpu.func @f(%S: !cute.memref<f32, gmem, align<16>, "(128,64):(1,128)">) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %tx = gpu.thread_id x
    %i = arith.index_cast %tx : index to i32
    %thread = cute.make_coord(%i)
    %copy = cute.static : !copy
    %t = cute.tiled.copy.partition_S(%copy, %S, %thread)
    gpu.return
  }
}

// -----

// Fewer threads than the block has: a warning
!T = !cute.memref<f32, gmem, align<16>, "(128,64):(1,128)">
!copy = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f32, 128 b>, layout_copy_tv = <"((32,8),4):((4,128),1)">, tiler_mn = <"[128:1;8:1]">>
module attributes {gpu.container_module} {
  gpu.module @k {
    gpu.func @f(%S: !T) kernel attributes {known_block_size = array<i32: 512, 1, 1>} {
      %tx = gpu.thread_id x
      %i = arith.index_cast %tx : index to i32
      %thread = cute.make_coord(%i)
      %copy = cute.static : !copy
      %t = cute.tiled.copy.partition_S(%copy, %S, %thread)
      cute.clear(%t)
      gpu.return
    }
  }
  func.func @launch(%S: !T) {
    %c1 = arith.constant 1 : index
    %threads = arith.constant 512 : index
    %c0 = arith.constant 0 : i32
    gpu.launch_func @k::@f blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1) dynamic_shared_memory_size %c0 args(%S : !T)
    return
  }
}

// -----

// A copy of what another tiled copy has divided: a warning
!T = !cute.memref<f32, gmem, align<16>, "(128,64):(1,128)">
!one = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f32, 128 b>, layout_copy_tv = <"((32,8),4):((4,128),1)">, tiler_mn = <"[128:1;8:1]">>
!other = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f32, 128 b>, layout_copy_tv = <"((8,32),4):((128,4),1)">, tiler_mn = <"[128:1;8:1]">>
module attributes {gpu.container_module} {
  gpu.module @k {
    gpu.func @f(%S: !T, %D: !T) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
      %tx = gpu.thread_id x
      %i = arith.index_cast %tx : index to i32
      %thread = cute.make_coord(%i)
      %one = cute.static : !one
      %other = cute.static : !other
      %tS = cute.tiled.copy.partition_S(%one, %S, %thread)
      %tD = cute.tiled.copy.partition_D(%other, %D, %thread)
      cute.copy(%one, %tS, %tD)
      gpu.return
    }
  }
  func.func @launch(%S: !T, %D: !T) {
    %c1 = arith.constant 1 : index
    %threads = arith.constant 256 : index
    %c0 = arith.constant 0 : i32
    gpu.launch_func @k::@f blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1) dynamic_shared_memory_size %c0 args(%S : !T, %D : !T)
    return
  }
}

// -----

// A tile that the tiled copy does not divide
!copy = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f32, 128 b>, layout_copy_tv = <"((32,8),4):((4,128),1)">, tiler_mn = <"[128:1;8:1]">>
func.func @f(%S: !cute.memref<f32, gmem, align<16>, "(64,64):(1,64)">, %i: i32) {
  %copy = cute.static : !copy
  %thread = cute.make_coord(%i)
  %t = cute.tiled.copy.partition_S(%copy, %S, %thread)
  return
}

// -----

// A predicate for each element of a vector
!copy = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f32, 128 b>, layout_copy_tv = <"((32,8),4):((4,128),1)">, tiler_mn = <"[128:1;8:1]">>
func.func @f(%S: !cute.memref<f32, gmem, align<16>, "(128,8):(1,128)">, %i: i32) {
  %copy = cute.static : !copy
  %thread = cute.make_coord(%i)
  %t = cute.tiled.copy.partition_S(%copy, %S, %thread)
  %r = cute.memref.alloca() : !cute.memref<f32, rmem, align<16>, "((4,1),1,1):((1,0),0,0)">
  %p = cute.memref.alloca() : !cute.memref<i1, rmem, "((4,1),1,1):((1,0),0,0)">
  cute.copy(%copy, %t, %r, %p)
  return
}

// -----

// A thread by its number
!T = !cute.memref<f32, gmem, align<16>, "(128,8):(1,128)">
!copy = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f32, 128 b>, layout_copy_tv = <"((32,8),4):((4,128),1)">, tiler_mn = <"[128:1;8:1]">>
func.func @f(%S: !T, %i: i32) {
  %copy = cute.static : !copy
  %t = cute.tiled.copy.partition_S(%copy, %S, %i)
  return
}

// -----

// A TMA load with its operands exchanged
// arch=sm_90a
func.func @f(%A: !cute.memref<f16, gmem, align<16>, "(256,256):(256,1)">, %bars: !cute.memref<i64, smem, align<8>, "4:1">, %i: i32) {
  %l = cute.static "(64,64):(64,1)"
  %atom, %coords = cute_nvgpu.atom.make_tma_load(%A, %l)
  %s = cute.memref.alloca() : !cute.memref<f16, smem, align<128>, "(64,64):(64,1)">
  cute_nvgpu.tma_load(%atom, [%s], %coords) on %bars[%i]
  return
}

// -----

// A TMA load of a tile of another size
// arch=sm_90a
func.func @f(%A: !cute.memref<f16, gmem, align<16>, "(256,256):(256,1)">, %bars: !cute.memref<i64, smem, align<8>, "4:1">, %i: i32) {
  %l = cute.static "(64,64):(64,1)"
  %atom, %coords = cute_nvgpu.atom.make_tma_load(%A, %l)
  %tiler = cute.static "[64:1;128:1]"
  %at = cute.make_coord(%i, %i)
  %g = cute.local_tile(%coords, %tiler, %at)
  %s = cute.memref.alloca() : !cute.memref<f16, smem, align<128>, "(64,64):(64,1)">
  cute_nvgpu.tma_load(%atom, [%g], %s) on %bars[%i]
  return
}

// -----

// Numbers of elements for a copy that moves whole vectors
!T = !cute.memref<f16, gmem, align<16>, "(8,2):(1,64)">
func.func @f(%S: !T, %counts: !cute.memref<i32, rmem, "(2):(1)">) {
  %copy = cute.make_atom() -> !cute_nvgpu.atom.universal_copy<f16, 128 b>
  %r = cute.memref.alloca() : !cute.memref<f16, rmem, align<16>, "(8,2):(1,8)">
  cute.copy(%copy, %S, %r, %counts)
  return
}

// -----

// Bounds for a tile that is cut otherwise than its coordinates
!T = !cute.memref<f16, gmem, align<16>, "(?,?):(?{div=8},1)">
!copy = !cute.tiled_copy<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, layout_copy_tv = <"((4,32),8):((256,1),32)">, tiler_mn = <"[32:1;32:1]">>
func.func @f(%S: !T, %i: i32, %t: !cute.coord<"?">) {
  %at = cute.make_coord(%i, 0)
  %shape = cute.get_shape(%S)
  %coords = cute.make_identity_tensor(%shape)
  %tile = cute.local_tile(%S, "[32:1;32:1]", %at)
  %places = cute.local_tile(%coords, "[32:1;64:1]", %at)
  %copy = cute.static : !copy
  %s = cute.memref.alloca() : !cute.memref<f16, smem, align<16>, "(32,32):(32,1)">
  cute.copy_tile(%copy, %t, %tile, %s) within(%places, %shape)
  return
}

// -----

// Rows that end within a vector, stored by an atom that moves whole ones
!T = !cute.memref<f32, gmem, align<16>, "(?,?):(?{div=4},1)">
!copy = !cute.tiled_copy<!cute_nvgpu.atom.red<f32, add, 128 b>, layout_copy_tv = <"((8,16),4):((64,1),16)">, tiler_mn = <"[16:1;32:1]">>
gpu.module @k {
  cute.import "std/copy"
  gpu.func @f(%S: !T, %i: i32) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %x = gpu.thread_id x
    %n = arith.index_cast %x : index to i32
    %thread = cute.make_coord(%n)
    %at = cute.make_coord(%i, 0)
    %tile, %places, %shape = cute.call @tile_within(%S, "[16:1;32:1]", %at)
    %copy = cute.static : !copy
    %r = cute.memref.alloca() : !cute.memref<f32, rmem, align<16>, "((4,1),1,1):((1,0),0,0)">
    cute.clear(%r)
    cute.copy_tile(%copy, %thread, %r, %tile) within(%places, %shape)
    gpu.return
  }
}
