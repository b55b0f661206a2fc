// The threads of tiled copies and tiled MMAs, against those of a block; parts by one tiled copy that another one copies.
//
// RUN: cute-opt %s --split-input-file --verify-diagnostics --cute-lower-algorithms -o /dev/null

!g = !cute.memref<f32, gmem, align<16>, "512:1">
!copy = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f32, 128 b>, layout_copy_tv = <"(128,4):(4,1)">, tiler_mn = <"[512:1]">>
!part = !cute.memref<f32, gmem, align<16>, "((4,1),1):((1,0),0)">
gpu.module @k {
  gpu.func @too_few(%A: !g) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %tx = gpu.thread_id x
    %t = arith.index_cast %tx : index to i32
    %c = cute.make_coord(%t) : (i32) -> !cute.coord<"?">
    %copy = cute.static : !copy
    // expected-error @below {{'cute.tiled.copy.partition_S' op is a part of 128, one for each thread of the tiled copy, but blocks have 64 threads along x: the parts of the others would be nobody's}}
    %p = cute.tiled.copy.partition_S(%copy, %A, %c) : (!copy, !g, !cute.coord<"?">) -> !part
    gpu.return
  }
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(2,2,1):(1,2,0)">, permutation_MNK = <"[32:1;32:1;16:1]">>
!s = !cute.memref<f16, smem, align<512>, S<2,4,3>, "(32,32):(32,1)">
gpu.module @k {
  gpu.func @too_few_for_a_product() kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %tx = gpu.thread_id x
    %t = arith.index_cast %tx : index to i32
    %c = cute.make_coord(%t) : (i32) -> !cute.coord<"?">
    %mma = cute.static : !mma
    %s = cute.memref.alloca() : !s
    // expected-error @below {{'cute.tiled.mma.partition' op is a part of 128, one for each thread of the tiled MMA, but blocks have 64 threads along x}}
    %p = cute.tiled.mma.partition A (%mma, %s, %c) : (!mma, !s, !cute.coord<"?">) -> !cute.memref<f16, smem, align<4>, S<2,4,3>, "((2,2,2),1,2):((1,256,8),0,16)">
    gpu.return
  }
}

// -----

!g = !cute.memref<f32, gmem, align<16>, "512:1">
!copy = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f32, 128 b>, layout_copy_tv = <"(128,4):(4,1)">, tiler_mn = <"[512:1]">>
!part = !cute.memref<f32, gmem, align<16>, "((4,1),1):((1,0),0)">
!frag = !cute.memref<f32, rmem, align<16>, "((4,1),1):((1,0),0)">
gpu.module @k {
  // Twice as many threads as parts: right under a branch or a predicate, and for one thread that is known.
  gpu.func @more(%A: !g, %B: !g) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %tx = gpu.thread_id x
    %t = arith.index_cast %tx : index to i32
    %c = cute.make_coord(%t) : (i32) -> !cute.coord<"?">
    %copy = cute.static : !copy
    // expected-note @below {{the part is taken here}}
    %p = cute.tiled.copy.partition_S(%copy, %A, %c) : (!copy, !g, !cute.coord<"?">) -> !part
    %q = cute.tiled.copy.partition_D(%copy, %B, %c) : (!copy, !g, !cute.coord<"?">) -> !part
    %f = cute.memref.alloca() : !frag
    // expected-warning @below {{'cute.copy' is done by all 256 threads of a block along x, on a part of 128: the others have no part, and reach beyond it; put it into an scf.if on the thread, or use a tiled operation of 256 threads}}
    cute.copy(%copy, %p, %f) : (!copy, !part, !frag)
    %c128 = arith.constant 128 : i32
    %in = arith.cmpi ult, %t, %c128 : i32
    scf.if %in {
      cute.copy(%copy, %f, %q) : (!copy, !frag, !part)
    }
    %first = cute.static : !cute.coord<"0">
    %one = cute.tiled.copy.partition_D(%copy, %B, %first) : (!copy, !g, !cute.coord<"0">) -> !part
    cute.copy(%copy, %f, %one) : (!copy, !frag, !part)
    gpu.return
  }
}

// -----

// The same types, and other threads: a thread's part by rows is not its part by columns.
!g = !cute.memref<f32, gmem, align<16>, "(128,128):(1,128)">
!atom = !cute_nvgpu.atom.universal_copy<f32, 128 b>
!down = !cute.tiled_copy<!atom, layout_copy_tv = <"((32,4),4):((4,128),1)">, tiler_mn = <"[128:1;4:1]">>
!turned = !cute.tiled_copy<!atom, layout_copy_tv = <"((4,32),4):((128,4),1)">, tiler_mn = <"[128:1;4:1]">>
!part = !cute.memref<f32, gmem, align<16>, "((4,1),1,32):((1,0),0,512)">
!frag = !cute.memref<f32, rmem, align<16>, "((4,1),1,32):((1,0),0,4)">
gpu.module @k {
  gpu.func @other(%A: !g, %B: !g) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %tx = gpu.thread_id x
    %t = arith.index_cast %tx : index to i32
    %c = cute.make_coord(%t) : (i32) -> !cute.coord<"?">
    %down = cute.static : !down
    %turned = cute.static : !turned
    // expected-note @below {{the part is taken here}}
    %p = cute.tiled.copy.partition_S(%turned, %A, %c) : (!turned, !g, !cute.coord<"?">) -> !part
    %q = cute.tiled.copy.partition_D(%down, %B, %c) : (!down, !g, !cute.coord<"?">) -> !part
    %f = cute.memref.alloca() : !frag
    // expected-warning @below {{'cute.copy' copies by one tiled copy a source that another one has divided, and to other parts: what a thread holds is not what this copy takes it to be; divide both sides by the tiled copy that copies}}
    cute.copy(%down, %p, %f) : (!down, !part, !frag)
    cute.copy(%down, %f, %q) : (!down, !frag, !part)
    gpu.return
  }
}
