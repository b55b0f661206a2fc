// The threads of a tiled copy in a function, of which only its caller says how many there are. It is the pass that refuses it: nobody has to
// verify what it leaves.
//
// RUN: cute-opt %s --verify-diagnostics --verify-each=false --cute-inline -o /dev/null

!T = !cute.memref<f32, gmem, align<16>, "(128,8):(1,128)">
!copy = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f32, 128 b>, layout_copy_tv = <"((32,8),4):((4,128),1)">, tiler_mn = <"[128:1;8:1]">>
gpu.module @threads {
  func.func private @clear(%t: !T, %thread: !cute.coord<"?">) {
    %copy = cute.static : !copy
    // expected-error @below {{'cute.tiled.copy.partition_D' op is a part of 256, one for each thread of the tiled copy, but blocks have 128 threads along x}}
    %part = cute.tiled.copy.partition_D(%copy, %t, %thread)
    cute.clear(%part)
    return
  }
  gpu.func @kernel(%t: !T) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %tx = gpu.thread_id x
    %i = arith.index_cast %tx : index to i32
    %thread = cute.make_coord(%i)
    func.call @clear(%t, %thread) : (!T, !cute.coord<"?">) -> ()
    gpu.return
  }
}
