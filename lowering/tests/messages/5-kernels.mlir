// Kernels, launches and whole tensors
//
// A block with too many threads
gpu.module @k {
  gpu.func @f() kernel attributes {known_block_size = array<i32: 2048, 1, 1>} {
    gpu.return
  }
}

// -----

// A tensor in shared memory as a kernel's argument
gpu.module @k {
  gpu.func @f(%s: !cute.memref<f32, smem, "8:1">) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    gpu.return
  }
}

// -----

// A tiled copy as a kernel's argument
gpu.module @k {
  gpu.func @f(%c: !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f32, 128 b>, layout_copy_tv = <"((32,8),4):((4,128),1)">, tiler_mn = <"[128:1;8:1]">>) kernel {
    gpu.return
  }
}

// -----

// More shared memory than a block can have
gpu.module @k {
  gpu.func @f(%D: !cute.memref<f32, gmem, "65536:1">) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %s = cute.memref.alloca() : !cute.memref<f32, smem, align<16>, "65536:1">
    %tx = gpu.thread_id x
    %i = arith.index_cast %tx : index to i32
    cute.cooperative_copy(%i, %s, %D) {threads = 128}
    gpu.return
  }
}

// -----

// An instruction that the architecture does not have
// arch=sm_75
!copy = !cute.tiled_copy<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, layout_copy_tv = <"((8,16),8):((128,1),16)">, tiler_mn = <"[16:1;64:1]">>
gpu.module @k {
  gpu.func @f(%S: !cute.memref<f16, gmem, align<16>, "(16,64):(64,1)">) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %tx = gpu.thread_id x
    %i = arith.index_cast %tx : index to i32
    %copy = cute.static : !copy
    %thread = cute.make_coord(%i)
    %s = cute.memref.alloca() : !cute.memref<f16, smem, align<16>, "(16,64):(64,1)">
    %from = cute.tiled.copy.partition_S(%copy, %S, %thread)
    %to = cute.tiled.copy.partition_D(%copy, %s, %thread)
    cute.copy(%copy, %from, %to)
    gpu.return
  }
}

// -----

// A product of whole tensors whose K differ
!a = !cute.memref<f16, gmem, align<16>, "(256,128):(128,1)">
!b = !cute.memref<f16, gmem, align<16>, "(256,64):(64,1)">
!c = !cute.memref<f16, gmem, align<16>, "(256,256):(256,1)">
func.func @f(%A: !a, %B: !b, %C: !c) {
  cute.contract ins(%A, %B : !a, !b) outs(%C : !c) accumulate f32
  return
}

// -----

// A product of types that no instruction multiplies
!a = !cute.memref<f16, gmem, align<16>, "(256,128):(128,1)">
!b = !cute.memref<bf16, gmem, align<16>, "(256,128):(128,1)">
!c = !cute.memref<f16, gmem, align<16>, "(256,256):(256,1)">
func.func @f(%A: !a, %B: !b, %C: !c) {
  cute.contract ins(%A, %B : !a, !b) outs(%C : !c) accumulate f32
  return
}

// -----

// A tile that is too large
// arch=sm_80 tile=256x256x64 stages=4
!t = !cute.memref<f16, gmem, align<16>, "(256,256):(256,1)">
func.func @f(%A: !t, %B: !t, %C: !t) {
  cute.contract ins(%A, %B : !t, !t) outs(%C : !t) accumulate f32
  return
}

// -----

// A map of outputs of another shape
!x = !cute.memref<f32, gmem, "(64,32):(32,1)">
!y = !cute.memref<f32, gmem, "(32,64):(64,1)">
func.func @f(%x: !x, %y: !y) {
  cute.map ins(%x : !x) outs(%y : !y) {
  ^bb0(%a: f32):
    cute.yield %a : f32
  }
  return
}

// -----

// Barriers by hand in a kernel that leaves them to the compiler
gpu.module @k {
  gpu.func @f() kernel attributes {known_block_size = array<i32: 128, 1, 1>, cute.synchronize} {
    %bars = cute.memref.alloca() : !cute.memref<i64, smem, align<8>, "4:1">
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    cute_nvgpu.mbarrier_init %bars[%c0], %c1
    gpu.return
  }
}

// -----

// A loop to be pipelined in a kernel that does not leave synchronisation to the compiler
gpu.module @k {
  gpu.func @f(%n: i32) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    scf.for %i = %c0 to %n step %c1 : i32 {
    } {cute.stages = 3 : i64}
    gpu.return
  }
}

// -----

// Stages of a loop without a copy: a warning
module attributes {gpu.container_module} {
  gpu.module @k {
    gpu.func @f(%D: !cute.memref<f32, gmem, "8:1">) kernel attributes {known_block_size = array<i32: 1, 1, 1>, cute.synchronize} {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %c8 = arith.constant 8 : i32
      %x = arith.constant 1.0 : f32
      scf.for %i = %c0 to %c8 step %c1 : i32 {
        %at = cute.make_coord(%i)
        cute.memref.store(%D, %at, %x)
      } {cute.stages = 3 : i64}
      gpu.return
    }
  }
  func.func @launch(%D: !cute.memref<f32, gmem, "8:1">) {
    %c1 = arith.constant 1 : index
    %threads = arith.constant 1 : index
    %c0 = arith.constant 0 : i32
    gpu.launch_func @k::@f blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1) dynamic_shared_memory_size %c0 args(%D : !cute.memref<f32, gmem, "8:1">)
    return
  }
}

// -----

// A function on tensors without its body
!T = !cute.memref<f32, gmem, "8:1">
gpu.module @k {
  func.func private @clear(%t: !T)
  gpu.func @f(%t: !T) kernel {
    func.call @clear(%t) : (!T) -> ()
    gpu.return
  }
}

// -----

// A function on tensors that calls itself
!T = !cute.memref<f32, gmem, "8:1">
gpu.module @k {
  func.func private @again(%t: !T) {
    func.call @again(%t) : (!T) -> ()
    return
  }
  gpu.func @f(%t: !T) kernel {
    func.call @again(%t) : (!T) -> ()
    gpu.return
  }
}

// -----

// A mistake in a function, as the kernel that calls it finds it
!T = !cute.memref<f32, gmem, align<16>, "(128,8):(1,128)">
!copy = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f32, 128 b>, layout_copy_tv = <"((32,8),4):((4,128),1)">, tiler_mn = <"[128:1;8:1]">>
gpu.module @k {
  func.func private @clear(%t: !T, %thread: !cute.coord<"?">) {
    %copy = cute.static : !copy
    %part = cute.tiled.copy.partition_D(%copy, %t, %thread)
    cute.clear(%part)
    return
  }
  gpu.func @f(%t: !T) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %tx = gpu.thread_id x
    %i = arith.index_cast %tx : index to i32
    %thread = cute.make_coord(%i)
    func.call @clear(%t, %thread) : (!T, !cute.coord<"?">) -> ()
    gpu.return
  }
}

// -----

// A TMA tensor whose strides are no multiples of 16 bytes
// arch=sm_90a
func.func @f(%A: !cute.memref<f16, gmem, align<16>, "(256,252):(252,1)">) {
  %l = cute.static "(64,64):(64,1)"
  %atom, %coords = cute_nvgpu.atom.make_tma_load(%A, %l)
  return
}

// -----

// A barrier of another type
func.func @f(%n: i32) {
  %bars = cute.memref.alloca() : !cute.memref<i32, smem, align<8>, "4:1">
  cute_nvgpu.mbarrier_init %bars[%n], %n
  return
}

// -----

// A launch that says nothing of shared memory
module attributes {gpu.container_module} {
  gpu.module @k {
    gpu.func @f() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
      gpu.return
    }
  }
  func.func @launch() {
    %c1 = arith.constant 1 : index
    %threads = arith.constant 32 : index
    gpu.launch_func @k::@f blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1)
    return
  }
}

// -----

// A launch of other threads than the kernel says
module attributes {gpu.container_module} {
  gpu.module @k {
    gpu.func @f() kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
      gpu.return
    }
  }
  func.func @launch() {
    %c1 = arith.constant 1 : index
    %threads = arith.constant 128 : index
    %c0 = arith.constant 0 : i32
    gpu.launch_func @k::@f blocks in (%c1, %c1, %c1) threads in (%threads, %c1, %c1) dynamic_shared_memory_size %c0
    return
  }
}

// -----

// Arguments in another order than the kernel takes them
module attributes {gpu.container_module} {
  gpu.module @k {
    gpu.func @f(%x: !cute.memref<f32, gmem, "8:1">, %n: i32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
      gpu.return
    }
  }
  func.func @launch(%x: !cute.memref<f32, gmem, "8:1">, %n: i32) {
    %grid = cute.static shape "1"
    cute.launch @k::@f blocks(%grid) args(%n, %x)
    return
  }
}

// -----

// A compute of an argument that is not there
module attributes {gpu.container_module} {
  gpu.module @k {
    gpu.func @f(%x: !cute.memref<f32, gmem, "8:1">, %y: !cute.memref<f32, gmem, "8:1">) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
      cute.autovec_copy(%x, %y)
      gpu.return
    }
  }
  func.func @launch(%x: !cute.memref<f32, gmem, "8:1">, %y: !cute.memref<f32, gmem, "8:1">) attributes {cute.computes = [{copy = array<i64: 1, 2>}]} {
    %grid = cute.static shape "1"
    cute.launch @k::@f blocks(%grid) args(%x, %y)
    return
  }
}
