// Exchanges between warps that have too few elements or too many, in kernels and in the library's functions.
//
// RUN: cute-opt %s --cute-inline --split-input-file --verify-diagnostics

gpu.module @by_hand {
  gpu.func @few() kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %exchange = cute.memref.alloca() : !cute.memref<f32, smem, "4:1">
    // expected-error @+1 {{'cute.check_warps' op expected a tensor of 8 elements, one for each warp of the block's 256 threads, found 4 elements, 4:1; give it one of the layout 8:1}}
    cute.check_warps(%exchange)
    gpu.return
  }
}

// -----

gpu.module @by_hand {
  gpu.func @many() kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %exchange = cute.memref.alloca() : !cute.memref<f32, smem, "(4,4):(4,1)">
    cute.check_warps(%exchange)
    // expected-error @+1 {{'cute.check_warps' op expected a tensor of 8 elements, one for each warp of the block's 256 threads, found 16 elements, (4,4):(4,1); give it one of the layout 8:1}}
    cute.check_warps(%exchange) {exactly}
    gpu.return
  }
}

// -----

gpu.module @by_hand {
  gpu.func @another_block() kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %exchange = cute.memref.alloca() : !cute.memref<f32, smem, "8:1">
    %warps = arith.constant 4 : i32
    // expected-error @+1 {{'cute.check_warps' op is for blocks of 4 warps, but those of this kernel have 256 threads, which are 8; expected 8 as the number of warps}}
    cute.check_warps(%exchange, %warps)
    gpu.return
  }
}
