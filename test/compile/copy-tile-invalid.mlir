// What a copy within bounds cannot do is said at the copy.
//
// RUN: cute-opt %s --cute-compile=arch=sm_80 --split-input-file --verify-diagnostics -o /dev/null

!M = !cute.memref<f16, gmem, align<16>, "(?,?):(?{div=8},1)">
!async = !cute.tiled_copy<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, layout_copy_tv = <"((8,16),8):((128,1),16)">, tiler_mn = <"[16:1;64:1]">>
gpu.module @before_vectors {
  cute.import "std/index"
  gpu.func @f(%S: !M) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %thread = cute.call @thread()
    %shape = cute.get_shape(%S)
    %coords = cute.make_identity_tensor(%shape)
    %shifted = cute.domain_offset("(0,3)", %coords)
    %at = cute.static coord "(0,0)"
    %tile = cute.local_tile(%S, "[16:1;64:1]", %at)
    %places = cute.local_tile(%shifted, "[16:1;64:1]", %at)
    %to = cute.memref.alloca() : !cute.memref<f16, smem, align<16>, "(16,64):(64,1)">
    %copy = cute.static : !async
    // expected-error @below {{copies vectors of 8 elements by SM80_CP_ASYNC_16, which may begin before elements that are there, or not lie along one mode; expected coordinates along the vector that are multiples of 8, as those of a tile by cute.local_tile are, or a universal copy}}
    cute.copy_tile(%copy, %thread, %tile, %to) within(%places, %shape)
    gpu.return
  }
}

// -----

!M = !cute.memref<f16, gmem, align<16>, "(?,?):(?{div=8},1)">
gpu.module @tuples {
  cute.import "std/copy"
  gpu.func @f(%S: !M) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // expected-error @below {{expected the word for what a tuple is, which a call does not say, as in coord "(0,_)", found "(0,0)"}}
    %tile, %places, %shape = cute.call @tile_within(%S, "[16:1;64:1]", "(0,0)")
    gpu.return
  }
}
