// C = A B^T of f16, summed in f32, by wgmma without TMA: CuTe's tutorial wgmma_sm90.
//
// The threads themselves bring tiles of A and B into a ring in shared memory, 16 bytes at a time by `cp.async`, as on SM80. What is new is the product: a warpgroup
// of 128 threads starts it, and it reads its operands from shared memory as they lie there, so that nothing has to be loaded into fragments, and the threads
// are free while it is under way. Two tiles travel meanwhile.
//
// That makes three kinds of waiting, and this file says by hand which is where. Copies are in groups, of which a thread waits for its own. Products are in groups,
// too, of which a warpgroup waits for its own. What others have copied, and what others are done with, a barrier of the block tells. Besides, wgmma reads
// through the asynchronous proxy, as TMA does, while `cp.async` writes through the generic one: each thread puts a fence between the two.
//
// wgmma_tma_sm90.mlir is the same product by TMA, which takes copies, addresses and ragged edges off the threads. Here tiles divide the matrices.
//
//     cute-opt examples/kernels/sm90/wgmma_sm90.mlir --cute-compile="arch=sm_90a package=wgmma_sm90.cutepkg" -o /dev/null
//     cute-run wgmma_sm90.cutepkg --bench --shape A=4096x4096 --shape B=4096x4096 --shape C=4096x4096
//
// RUN: cute-opt %s --cute-compile="arch=sm_90a package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator --seeds 3 --shape A=128x448 --shape B=256x448 --shape C=128x256
// RUN: cute-run %t.cutepkg --device=emulator --seeds 2 --shape A=256x64 --shape B=256x64 --shape C=256x256
// RUN: cute-run %t.cutepkg --device=emulator --seeds 2 --layout "A=(128,128):(136,1)" --shape B=512x128 --layout "C=(128,512):(544,1)" --set alpha=2 --set beta=0.5

// A (M,K), B (N,K) and C (M,N), rows one after the other, each at a multiple of 16 bytes. C has the sums as they are.
!mat = !cute.memref<f16, gmem, align<16>, "(?,?):(?{div=8},1)">
!matC = !cute.memref<f32, gmem, align<16>, "(?,?):(?{div=4},1)">
// Four tiles of rows of 128 bytes, in one of the arrangements that wgmma has for operands along whose rows K runs: the pieces of 16 bytes of a row are exchanged by
// the number of the row. By that the writes of the copies are free of conflicts as well.
!ring_A = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(128,64,4):(64,1,8192)">
!ring_B = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(256,64,4):(64,1,16384)">
// 32 x 8 threads with 1 x 8 elements each: 32 rows of a tile at once, 8 neighbours a whole line of 128 bytes.
!cp_async = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
!copy = !cute.tiled_copy<!cp_async, layout_copy_tv = <"((8,32),8):((256,1),32)">, tiler_mn = <"[32:1;64:1]">>
// A block's tile is 128 x 256 of C, 64 of K at a time: two warpgroups, one behind the other along M, have 64 x 256 each. A half of C is dealt out as the product of
// half as many columns would.
!wgmma = !cute_nvgpu.sm90.mma<64x256x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
!half_wgmma = !cute_nvgpu.sm90.mma<64x128x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
!mma = !cute.tiled_mma<!wgmma, atom_layout_MNK = <"(2,1,1):(1,0,0)">>
!half_mma = !cute.tiled_mma<!half_wgmma, atom_layout_MNK = <"(2,1,1):(1,0,0)">>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    cute.import "std/index"
    cute.import "std/copy"
    gpu.func @wgmma_kernel(%A: !mat, %B: !mat, %C: !matC, %alpha: f32, %beta: f32) kernel
        attributes {known_block_size = array<i32: 256, 1, 1>} {
      // Who this thread is, and which tile of C its block computes. Tiles of A and B are one behind the other along K.
      %t32 = cute.call @thread_index()
      %t = cute.make_coord(%t32)
      %m = cute.call @block_x()
      %n = cute.call @block_y()
      %cta = cute.static "[128:1;256:1;64:1]"
      %at = cute.make_coord(%m, %n, _)
      %gA = cute.local_tile(%A, %cta, %at, "(1,_,1)")
      %gB = cute.local_tile(%B, %cta, %at, "(_,1,1)")
      %gC = cute.local_tile(%C, %cta, %at, "(1,1,_)")
      %lA = cute.get_layout(%gA)
      %tiles, %ld = cute.get_scalars <{only_dynamic}>(%lA)
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %c2 = arith.constant 2 : i32
      %c4 = arith.constant 4 : i32
      %c128 = arith.constant 128 : i32
      %sA = cute.memref.alloca() : !ring_A
      %sB = cute.memref.alloca() : !ring_B

      // Copying into the ring. A thread's part is ((vector, vectors), of M, of K, tiles of K or places of the ring).
      %copy = cute.static : !copy
      %tAgA, %tAsA = cute.call @parts(%copy, %gA, %sA, %t)
      %tBgB, %tBsB = cute.call @parts(%copy, %gB, %sB, %t)

      // Multiplying. wgmma reads shared memory itself, so that a part of A or B is a warpgroup's: (values of the atom, atoms of M or N, of K, places of the ring). As
      // it is the same for all threads of the warpgroup, that of the first one will do, which the warp knows. The sums are in registers, 128 a thread.
      %group_of = arith.divui %t32, %c128 : i32
      %group = cute_nvgpu.arch.make_warp_uniform(%group_of)
      %group_first = arith.muli %group, %c128 : i32
      %g = cute.make_coord(%group_first)
      %mma = cute.static : !mma
      %tCsA = cute.tiled.mma.partition A (%mma, %sA, %g)
      %tCsB = cute.tiled.mma.partition B (%mma, %sB, %g)
      %acc = cute.mma.make_fragment C (%mma, "((2,2,32),1,1)")
      cute.clear(%acc)

      // Tiles 0 and 1 start on their way, each a group that can be waited for. One that is not there is an empty group.
      scf.for %p = %c0 to %c2 step %c1 : i32 {
        %is = arith.cmpi slt, %p, %tiles : i32
        scf.if %is {
          cute.call @copy_into(%copy, %tAgA, %p, %tAsA, %p)
          cute.call @copy_into(%copy, %tBgB, %p, %tBsB, %p)
        }
        nvvm.cp.async.commit.group
      } {cute.unroll}

      scf.for %k = %c0 to %tiles step %c1 : i32 {
        // What this thread has copied of tile k is there when no more than one group is under way, and behind the fence products see it.
        nvvm.cp.async.wait.group 1
        nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
        // The product of tile k - 2 is over when no more than one is under way.
        cute_nvgpu.wgmma_wait_group 1 (%acc)
        // Behind the barrier both are so for all threads: tile k is there, and nobody reads tile k - 2 any more.
        gpu.barrier

        // The product of tile k, which tensor cores begin when they are done with that of tile k - 1: between the two they do not wait for threads.
        %place = arith.remui %k, %c4 : i32
        %now = cute.make_coord(_, _, _, %place)
        %a = cute.slice(%tCsA, %now)
        %b = cute.slice(%tCsB, %now)
        cute_nvgpu.wgmma_fence(%acc)
        cute.gemm(%mma, %acc, %a, %b, %acc)
        cute_nvgpu.wgmma_commit_group

        // Tile k + 2 starts on its way, to where tile k - 2 was.
        %next = arith.addi %k, %c2 : i32
        %is = arith.cmpi slt, %next, %tiles : i32
        scf.if %is {
          %free = arith.remui %next, %c4 : i32
          cute.call @copy_into(%copy, %tAgA, %next, %tAsA, %free)
          cute.call @copy_into(%copy, %tBgB, %next, %tBsB, %free)
        }
        // A group even where it is empty, so that each turn has as many behind the one that it waits for.
        nvvm.cp.async.commit.group
      }
      cute_nvgpu.wgmma_wait_group 0 (%acc)

      // C = alpha * sums + beta * C, straight from registers. Four threads have 8 neighbours of a row between them, a whole sector of 32 bytes. A half at a time, so
      // that no more than 64 elements of C are in registers beside the sums; none is read where beta is 0.
      %half_mma = cute.static : !half_mma
      %tCgC = cute.tiled.mma.partition C (%half_mma, %gC, %t)
      %iter = cute.get_iter(%acc)
      %sums = cute.make_view(%iter, "((2,2,16),1,2):((1,2,4),0,64)")
      scf.for %h = %c0 to %c2 step %c1 : i32 {
        %half = cute.make_coord(_, _, %h)
        %x = cute.slice(%sums, %half)
        %y = cute.slice(%tCgC, %half)
        cute.axpby(%alpha, %x, %beta, %y)
      } {cute.unroll}
      gpu.return
    }
  }

  // The host: a block for each tile of C. Sizes come from the tensors themselves.
  func.func @gemm(%A: !mat {cute.name = "A"}, %B: !mat {cute.name = "B"}, %C: !matC {cute.name = "C"},
                  %alpha: f32 {cute.name = "alpha", cute.default = 1.0 : f32}, %beta: f32 {cute.name = "beta", cute.default = 0.0 : f32})
      attributes {cute.computes = [{gemm = array<i64: 0, 1, 2>, accumulate = f32, alpha = 3 : index, beta = 4 : index}]} {
    %c0 = arith.constant 0 : i32
    %bM = arith.constant 128 : i32
    %bN = arith.constant 256 : i32
    %bK = arith.constant 64 : i32
    %lA = cute.get_layout(%A)
    %lB = cute.get_layout(%B)
    %M, %K, %ldA = cute.get_scalars <{only_dynamic}>(%lA)
    %N, %K2, %ldB = cute.get_scalars <{only_dynamic}>(%lB)
    // Tiles must divide the problem: nothing above asks whether an element is there.
    %rM = arith.remsi %M, %bM : i32
    %rN = arith.remsi %N, %bN : i32
    %rK = arith.remsi %K, %bK : i32
    %rMN = arith.ori %rM, %rN : i32
    %r = arith.ori %rMN, %rK : i32
    %whole = arith.cmpi eq, %r, %c0 : i32
    cf.assert %whole, "expected M that is a multiple of 128, N of 256, and K of 64"
    %shape = cute.get_shape(%C)
    %grid = cute.ceil_div(%shape, "(128,256)")
    cute.launch @kernels::@wgmma_kernel blocks(%grid) args(%A, %B, %C, %alpha, %beta)
    return
  }
}
