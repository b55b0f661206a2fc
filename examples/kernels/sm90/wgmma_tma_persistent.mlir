// C = A B^T in f16, summed in f32: warps with roles, and blocks that stay.
//
// A block has three warpgroups. One thread of the first brings tiles into a ring (TMA); the other two multiply them, 64 x 256 of C each (wgmma),
// and have its registers. There are as many blocks as multiprocessors, and each takes one tile of C after another, so that the tiles of the next
// one are on their way while the sums of the last one go out. C goes out in halves, through shared memory that a warpgroup has to itself.
//
//     cute-opt examples/kernels/sm90/wgmma_tma_persistent.mlir --cute-compile="arch=sm_90a package=persistent.cutepkg" -o /dev/null
//     cute-run persistent.cutepkg --bench --shape A=4096x4096 --shape B=4096x4096 --shape C=4096x4096
//
// RUN: cute-opt %s --cute-compile="arch=sm_90a package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator --sms 2 --seeds 2 --shape A=256x320 --shape B=512x320 --shape C=256x512
// RUN: cute-run %t.cutepkg --device=emulator --sms 1 --shape A=136x72 --shape B=264x72 --shape C=136x264

!mat = !cute.memref<f16, gmem, align<16>, "(?,?):(?{div=8},1)">
!coords = !cute.coord_tensor<"(0,0)", "(?,?):(1@1,1@0)">
// A block's tile: 128 x 256 of C, 64 of K at a time. A warpgroup's: 64 x 128 of C at a time on its way out.
!load_A = !cute_nvgpu.atom.tma_load<f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, swizzle = 128>
!load_B = !cute_nvgpu.atom.tma_load<f16, copy_bits = 262144, tma_gbasis = <"(64,256):(1@1,1@0)">, swizzle = 128>
!store = !cute_nvgpu.atom.tma_store<f16, copy_bits = 65536, tma_gbasis = <"(64,64):(1@1,1@0)">, swizzle = 128>
!ring_A = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(128,64,4):(64,1,8192)">
!ring_B = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(256,64,4):(64,1,16384)">
!outs = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(64,(64,2),2):(64,(1,4096),8192)">
!bars = !cute.memref<i64, smem, align<8>, "4:1">
// Two warpgroups, one behind the other along M. A half of C is dealt out as the product of half as many columns would.
!wgmma = !cute_nvgpu.sm90.mma<64x256x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
!half_wgmma = !cute_nvgpu.sm90.mma<64x128x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
!mma = !cute.tiled_mma<!wgmma, atom_layout_MNK = <"(2,1,1):(1,0,0)">>
!half = !cute.tiled_mma<!half_wgmma, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
!tCrH = !cute.memref<f16, rmem, "((2,2,16),1,1):((1,2,4),0,0)">

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @persistent_kernel(%load_A: !load_A, %A: !coords, %load_B: !load_B, %B: !coords, %store_C: !store, %C: !coords, %tiles_m: i32, %tiles: i32, %steps: i32) kernel
        attributes {known_block_size = array<i32: 384, 1, 1>} {
      %tx = gpu.thread_id x
      %bx = gpu.block_id x
      %gx = gpu.grid_dim x
      %t32 = arith.index_cast %tx : index to i32
      %block = arith.index_cast %bx : index to i32
      %blocks = arith.index_cast %gx : index to i32
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %c2 = arith.constant 2 : i32
      %c4 = arith.constant 4 : i32
      %c32 = arith.constant 32 : i32
      %c128 = arith.constant 128 : i32
      %c8 = arith.constant 8 : i32
      // A tile of A and one of B.
      %bytes = arith.constant 49152 : i32
      %cta = cute.static "[128:1;256:1;64:1]"
      %sA = cute.memref.alloca() : !ring_A
      %sB = cute.memref.alloca() : !ring_B
      %outs = cute.memref.alloca() : !outs
      %full = cute.memref.alloca() : !bars
      %empty = cute.memref.alloca() : !bars

      %is_first = arith.cmpi eq, %t32, %c0 : i32
      scf.if %is_first {
        cute_nvgpu.prefetch_tma_desc(%load_A)
        cute_nvgpu.prefetch_tma_desc(%load_B)
        cute_nvgpu.prefetch_tma_desc(%store_C)
        scf.for %p = %c0 to %c4 step %c1 : i32 {
          cute_nvgpu.mbarrier_init %full[%p], %c1
          cute_nvgpu.mbarrier_init %empty[%p], %c8
        } {cute.unroll}
        nvvm.fence.mbarrier.init
      }
      gpu.barrier

      cute.warp_specialize
      role(%thread, %warp) warps 4 registers 40 {
        %is_warp = arith.cmpi eq, %warp, %c0 : i32
        scf.if %is_warp {
          %leader = nvvm.elect.sync -> i1
          scf.if %leader {
            // Steps are counted through all tiles: step i is in place i mod 4, for the (i / 4)th time.
            %end = scf.for %tile = %block to %tiles step %blocks iter_args(%first = %c0) -> (i32) : i32 {
              %m = arith.remui %tile, %tiles_m : i32
              %n = arith.divui %tile, %tiles_m : i32
              %at = cute.make_coord(%m, %n, _)
              %gA = cute.local_tile(%A, %cta, %at, "(1,_,1)")
              %gB = cute.local_tile(%B, %cta, %at, "(_,1,1)")
              scf.for %k = %c0 to %steps step %c1 : i32 {
                %i = arith.addi %first, %k : i32
                %slot = arith.remui %i, %c4 : i32
                %round = arith.divui %i, %c4 : i32
                %odd = arith.andi %round, %c1 : i32
                // A new place is free.
                %parity = arith.xori %odd, %c1 : i32
                cute_nvgpu.mbarrier_wait %empty[%slot], %parity
                %from = cute.make_coord(_, _, %k)
                %to = cute.make_coord(_, _, %slot)
                %a = cute.slice(%gA, %from)
                %b = cute.slice(%gB, %from)
                %x = cute.slice(%sA, %to)
                %y = cute.slice(%sB, %to)
                cute_nvgpu.mbarrier_arrive_and_expect_tx %full[%slot], %bytes
                cute_nvgpu.tma_load(%load_A, [%a], %x) on %full[%slot]
                cute_nvgpu.tma_load(%load_B, [%b], %y) on %full[%slot]
              }
              %next = arith.addi %first, %steps : i32
              scf.yield %next : i32
            }
          }
        }
      }
      role(%thread, %warp) warps 8 registers 232 {
        %row = arith.divui %warp, %c4 : i32
        %within = arith.remui %thread, %c128 : i32
        %t = cute.make_coord(%within)
        // Operands in shared memory are the same for all threads of a warpgroup: its first one's will do, which the warp knows.
        %group_first = arith.muli %row, %c128 : i32
        %g = cute.make_coord(%group_first)
        %stores = arith.cmpi eq, %within, %c0 : i32
        // One thread of a warp says that the warp is done with a place.
        %lane = arith.remui %thread, %c32 : i32
        %frees = arith.cmpi eq, %lane, %c0 : i32
        %mma = cute.static : !mma
        %half = cute.static : !half
        %tCsA = cute.tiled.mma.partition A (%mma, %sA, %g)
        %tCsB = cute.tiled.mma.partition B (%mma, %sB, %g)
        %mine = cute.make_coord(_, _, %row)
        %sC = cute.slice(%outs, %mine)
        %tCsC = cute.tiled.mma.partition C (%half, %sC, %t)
        // A barrier of its own for each warpgroup.
        %barrier = arith.addi %row, %c1 : i32
        %end = scf.for %tile = %block to %tiles step %blocks iter_args(%first = %c0) -> (i32) : i32 {
          %m = arith.remui %tile, %tiles_m : i32
          %n = arith.divui %tile, %tiles_m : i32
          %acc = cute.mma.make_fragment C (%mma, "((2,2,32),1,1)")
          cute.clear(%acc)
          scf.for %k = %c0 to %steps step %c1 : i32 {
            %i = arith.addi %first, %k : i32
            %slot = arith.remui %i, %c4 : i32
            %round = arith.divui %i, %c4 : i32
            %parity = arith.andi %round, %c1 : i32
            cute_nvgpu.mbarrier_wait %full[%slot], %parity
            %now = cute.make_coord(_, _, _, %slot)
            %a = cute.slice(%tCsA, %now)
            %b = cute.slice(%tCsB, %now)
            cute_nvgpu.wgmma_fence(%acc)
            cute.gemm(%mma, %acc, %a, %b, %acc)
            cute_nvgpu.wgmma_commit_group
            // The step before is over, and its place free.
            cute_nvgpu.wgmma_wait_group 1 (%acc)
            %later = arith.cmpi sgt, %k, %c0 : i32
            %frees_one = arith.andi %later, %frees : i1
            scf.if %frees_one {
              %before = arith.subi %i, %c1 : i32
              %freed = arith.remui %before, %c4 : i32
              cute_nvgpu.mbarrier_arrive %empty[%freed]
            }
          }
          cute_nvgpu.wgmma_wait_group 0 (%acc)
          %next = arith.addi %first, %steps : i32
          %last = arith.subi %next, %c1 : i32
          %freed = arith.remui %last, %c4 : i32
          scf.if %frees {
            cute_nvgpu.mbarrier_arrive %empty[%freed]
          }

          // The sums, a half at a time.
          %iter = cute.get_iter(%acc)
          %sums = cute.make_view(%iter, "((2,2,16),1,1,2):((1,2,4),0,0,64)")
          %m2 = arith.muli %m, %c2 : i32
          %rows = arith.addi %m2, %row : i32
          %n2 = arith.muli %n, %c2 : i32
          scf.for %h = %c0 to %c2 step %c1 : i32 {
            %here = cute.make_coord(_, _, _, %h)
            %sum = cute.slice(%sums, %here)
            %columns = arith.addi %n2, %h : i32
            %to = cute.make_coord(%rows, %columns)
            %gC = cute.local_tile(%C, "[64:1;128:1]", %to)
            // What went out before, if anything has, has been read.
            %before = arith.addi %first, %h : i32
            %is_later = arith.cmpi sgt, %before, %c0 : i32
            %waits = arith.andi %is_later, %stores : i1
            scf.if %waits {
              nvvm.cp.async.bulk.wait_group 0 {read}
            }
            nvvm.barrier id = %barrier number_of_threads = %c128
            %f16 = cute.convert(%sum) -> !tCrH
            cute.autovec_copy(%f16, %tCsC)
            nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
            nvvm.barrier id = %barrier number_of_threads = %c128
            scf.if %stores {
              cute_nvgpu.tma_store(%store_C, %sC, [%gC])
              nvvm.cp.async.bulk.commit.group
            }
          } {cute.unroll}
          scf.yield %next : i32
        }
        scf.if %stores {
          nvvm.cp.async.bulk.wait_group 0
        }
      }
      gpu.return
    }
  }

  // The host: the maps, and as many blocks as there are multiprocessors, but no more than tiles.
  func.func @gemm(%A: !mat {cute.name = "A"}, %B: !mat {cute.name = "B"}, %C: !mat {cute.name = "C"})
      attributes {cute.computes = [{gemm = array<i64: 0, 1, 2>, accumulate = f32}]} {
    %c0 = arith.constant 0 : i32
    %bM = arith.constant 128 : i32
    %bN = arith.constant 256 : i32
    %bK = arith.constant 64 : i32
    %lA = cute.get_layout(%A)
    %lB = cute.get_layout(%B)
    %M, %K, %ldA = cute.get_scalars <{only_dynamic}>(%lA)
    %N, %K2, %ldB = cute.get_scalars <{only_dynamic}>(%lB)
    %m = arith.ceildivsi %M, %bM : i32
    %n = arith.ceildivsi %N, %bN : i32
    %steps = arith.ceildivsi %K, %bK : i32
    %tiles = arith.muli %m, %n : i32
    %sms_index = cute.sm_count() : index
    %sms = arith.index_cast %sms_index : index to i32
    %most = arith.minsi %sms, %tiles : i32
    %blocks = arith.index_cast %most : i32 to index
    %one = arith.constant 1 : index
    %threads = arith.constant 384 : index
    %load_A, %of_A = cute_nvgpu.atom.make_tma_load(%A, "S<3,4,3> o 0 o (128,64):(64,1)")
    %load_B, %of_B = cute_nvgpu.atom.make_tma_load(%B, "S<3,4,3> o 0 o (256,64):(64,1)")
    %store_C, %of_C = cute_nvgpu.atom.make_tma_store(%C, "S<3,4,3> o 0 o (64,(64,2)):(64,(1,4096))")
    gpu.launch_func @kernels::@persistent_kernel blocks in (%blocks, %one, %one) threads in (%threads, %one, %one)
      dynamic_shared_memory_size %c0
      args(%load_A : !load_A, %of_A : !coords, %load_B : !load_B, %of_B : !coords, %store_C : !store, %of_C : !coords, %m : i32, %tiles : i32, %steps : i32)
    return
  }
}
