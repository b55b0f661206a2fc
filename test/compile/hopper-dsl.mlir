// C = A B^T in f16, summed in f32, by TMA and wgmma, in the forms in which CuTe DSL prints such a kernel: tensor maps and atoms that are made of them, mbarriers as pointers into
// dynamic shared memory, descriptors that step along K, and fences and waits that are given nothing. It is compiled and runs as kernels do that are written by hand here.
//
// RUN: cute-opt %s --cute-compile="arch=sm_90a package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator --seeds 3 --shape A=128x320 --shape B=128x320 --shape C=128x128
// RUN: cute-run %t.cutepkg --device=emulator --seeds 2 --shape A=136x456 --shape B=264x456 --shape C=136x264

!mat = !cute.memref<f16, gmem, align<16>, "(?,?):(?{div=8},1)">
!coords = !cute.coord_tensor<"(0,0)", "(?,?):(1@1,1@0)">
!place = !cute.composed_layout<"S<3,4,3> o 0 o ((8,16),(64,1)):((64,512),(1,0))">
!tile = !cute.layout<"(128,64):(1@0,1@1)">
!map = !cute_nvgpu.atom.non_exec_tiled_tma_load<sm_90, f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, internal_val_type = f16>
!out = !cute_nvgpu.atom.non_exec_tiled_tma_store<f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">, internal_val_type = f16>
!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 131072, mode = tiled, num_cta = 1, g_stride = <"()"> tma_gbasis = <"(64,128):(1@1,1@0)">>
!store = !cute_nvgpu.atom.tma_store<f16, copy_bits = 131072, mode = tiled, g_stride = <"()"> tma_gbasis = <"(64,128):(1@1,1@0)">>
!wgmma = !cute_nvgpu.sm90.mma<64x128x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
!mma = !cute.tiled_mma<!wgmma, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
!bytes = !cute.ptr<i8, smem, align<1024>>
!halves = !cute.ptr<f16, smem, align<1024>, S<3,4,3>>
!ring = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((8,16),(64,1),(1,4)):((64,512),(1,0),(0,8192))">
!boxes = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((8192,1),(1,4)):((1,0),(0,8192))">
!tCrH = !cute.memref<f16, rmem, "((2,2,16),2,1):((1,2,4),64,0)">

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @gemm_kernel(%map_A: !map, %A: !coords, %map_B: !map, %B: !coords, %map_C: !out, %C: !coords, %tiles: i32) kernel
        attributes {known_block_size = array<i32: 128, 1, 1>} {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %c3 = arith.constant 3 : i32
      %c4 = arith.constant 4 : i32
      %c32 = arith.constant 32 : i32
      %c128 = arith.constant 128 : i32
      %ticks = arith.constant 10000000 : i32
      // A tile of A and one of B.
      %tx = arith.constant 32768 : i32
      %t32 = nvvm.read.ptx.sreg.tid.x : i32
      %m = nvvm.read.ptx.sreg.ctaid.x : i32
      %n = nvvm.read.ptx.sreg.ctaid.y : i32
      %w = arith.divui %t32, %c32 : i32
      %warp = cute_nvgpu.arch.make_warp_uniform(%w) : i32
      %first = arith.cmpi eq, %warp, %c0 : i32
      scf.if %first {
        cute_nvgpu.prefetch_tma_desc(%map_A) : (!map) -> ()
        cute_nvgpu.prefetch_tma_desc(%map_B) : (!map) -> ()
        cute_nvgpu.prefetch_tma_desc(%map_C) : (!out) -> ()
      }

      // Four mbarriers that say what is full, four that say what is free, then the rings of A and B, then C.
      %smem = cute_nvgpu.arch.get_dyn_smem() : !bytes
      %full = cute.recast_iter(%smem) : !bytes to !cute.ptr<i64, smem, align<1024>>
      %i4 = cute.make_int_tuple() : () -> !cute.int_tuple<"4">
      %empty = cute.add_offset(%full, %i4) : (!cute.ptr<i64, smem, align<1024>>, !cute.int_tuple<"4">) -> !cute.ptr<i64, smem, align<32>>
      %oA = cute.make_int_tuple() : () -> !cute.int_tuple<"1024">
      %oB = cute.make_int_tuple() : () -> !cute.int_tuple<"66560">
      %oC = cute.make_int_tuple() : () -> !cute.int_tuple<"132096">
      %bA = cute.add_offset(%smem, %oA) : (!bytes, !cute.int_tuple<"1024">) -> !bytes
      %bB = cute.add_offset(%smem, %oB) : (!bytes, !cute.int_tuple<"66560">) -> !bytes
      %bC = cute.add_offset(%smem, %oC) : (!bytes, !cute.int_tuple<"132096">) -> !bytes
      %pA = cute.recast_iter(%bA) : !bytes to !halves
      %pB = cute.recast_iter(%bB) : !bytes to !halves
      %pC = cute.recast_iter(%bC) : !bytes to !halves
      %sA = cute.make_view(%pA) : !ring
      %sB = cute.make_view(%pB) : !ring
      scf.if %first {
        %leader = nvvm.elect.sync -> i1
        scf.if %leader {
          scf.for %p = %c0 to %c4 step %c1 : i32 {
            %i = cute.make_int_tuple(%p) : (i32) -> !cute.int_tuple<"?">
            %x = cute.add_offset(%full, %i) : (!cute.ptr<i64, smem, align<1024>>, !cute.int_tuple<"?">) -> !cute.ptr<i64, smem>
            %y = cute.add_offset(%empty, %i) : (!cute.ptr<i64, smem, align<32>>, !cute.int_tuple<"?">) -> !cute.ptr<i64, smem>
            %lx = builtin.unrealized_conversion_cast %x : !cute.ptr<i64, smem> to !llvm.ptr<3>
            %ly = builtin.unrealized_conversion_cast %y : !cute.ptr<i64, smem> to !llvm.ptr<3>
            nvvm.mbarrier.init.shared %lx, %c1 : !llvm.ptr<3>, i32
            nvvm.mbarrier.init.shared %ly, %c128 : !llvm.ptr<3>, i32
          }
          nvvm.fence.mbarrier.init
        }
      }
      nvvm.barrier

      // Tiles of A and B with a box as the first mode, in shared memory and as coordinates.
      %cta = cute.static : !cute.tile<"[128:1;64:1]">
      %atA = cute.make_coord(%m) : (i32) -> !cute.coord<"(?,_)">
      %atB = cute.make_coord(%n) : (i32) -> !cute.coord<"(?,_)">
      %gA = cute.local_tile(%A, %cta, %atA) : (!coords, !cute.tile<"[128:1;64:1]">, !cute.coord<"(?,_)">) -> !cute.coord_tensor<"(0,?{div=128})", "(128,64,?):(1@1,1@0,64@0)">
      %gB = cute.local_tile(%B, %cta, %atB) : (!coords, !cute.tile<"[128:1;64:1]">, !cute.coord<"(?,_)">) -> !cute.coord_tensor<"(0,?{div=128})", "(128,64,?):(1@1,1@0,64@0)">
      %hA = cute.group_modes(%gA) <0, 2> : (!cute.coord_tensor<"(0,?{div=128})", "(128,64,?):(1@1,1@0,64@0)">) -> !cute.coord_tensor<"(0,?{div=128})", "((128,64),?):((1@1,1@0),64@0)">
      %hB = cute.group_modes(%gB) <0, 2> : (!cute.coord_tensor<"(0,?{div=128})", "(128,64,?):(1@1,1@0,64@0)">) -> !cute.coord_tensor<"(0,?{div=128})", "((128,64),?):((1@1,1@0),64@0)">
      %fA = cute.group_modes(%sA) <0, 2> : (!ring) -> !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(((8,16),(64,1)),(1,4)):(((64,512),(1,0)),(0,8192))">
      %fB = cute.group_modes(%sB) <0, 2> : (!ring) -> !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(((8,16),(64,1)),(1,4)):(((64,512),(1,0)),(0,8192))">
      %block = cute.make_coord() : () -> !cute.coord<"0">
      %blocks = cute.static : !cute.layout<"(1):(0)">
      %tAsA, %tAgA = cute_nvgpu.atom.tma_partition(%map_A, %block, %blocks, %fA, %hA) : (!map, !cute.coord<"0">, !cute.layout<"(1):(0)">, !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(((8,16),(64,1)),(1,4)):(((64,512),(1,0)),(0,8192))">, !cute.coord_tensor<"(0,?{div=128})", "((128,64),?):((1@1,1@0),64@0)">) -> (!boxes, !cute.coord_tensor<"(0,?{div=128})", "(((64,128),1),?):(((1@0,1@1),0),64@0)">)
      %tBsB, %tBgB = cute_nvgpu.atom.tma_partition(%map_B, %block, %blocks, %fB, %hB) : (!map, !cute.coord<"0">, !cute.layout<"(1):(0)">, !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(((8,16),(64,1)),(1,4)):(((64,512),(1,0)),(0,8192))">, !cute.coord_tensor<"(0,?{div=128})", "((128,64),?):((1@1,1@0),64@0)">) -> (!boxes, !cute.coord_tensor<"(0,?{div=128})", "(((64,128),1),?):(((1@0,1@1),0),64@0)">)

      // The first tiles start on their way.
      scf.if %first {
        %leader = nvvm.elect.sync -> i1
        scf.if %leader {
          scf.for %p = %c0 to %c4 step %c1 : i32 {
            %is = arith.cmpi slt, %p, %tiles : i32
            scf.if %is {
              %i = cute.make_int_tuple(%p) : (i32) -> !cute.int_tuple<"?">
              %bar = cute.add_offset(%full, %i) : (!cute.ptr<i64, smem, align<1024>>, !cute.int_tuple<"?">) -> !cute.ptr<i64, smem>
              %lbar = builtin.unrealized_conversion_cast %bar : !cute.ptr<i64, smem> to !llvm.ptr<3>
              nvvm.mbarrier.txn %lbar, %tx {kind = #nvvm.mbar_txn_kind<arrive_expect_tx>} : !llvm.ptr<3>, i32
              %at = cute.make_coord(%p) : (i32) -> !cute.coord<"(_,?)">
              %x = cute.slice(%tAgA, %at) : !cute.coord_tensor<"(0,?{div=128})", "(((64,128),1),?):(((1@0,1@1),0),64@0)">, !cute.coord<"(_,?)">
              %y = cute.slice(%tBgB, %at) : !cute.coord_tensor<"(0,?{div=128})", "(((64,128),1),?):(((1@0,1@1),0),64@0)">, !cute.coord<"(_,?)">
              %u = cute.slice(%tAsA, %at) : !boxes, !cute.coord<"(_,?)">
              %v = cute.slice(%tBsB, %at) : !boxes, !cute.coord<"(_,?)">
              %eA = cute_nvgpu.atom.make_exec_tma(%map_A) : (!map) -> !load
              %oA2 = cute_nvgpu.atom.set_value(%eA, %bar : !cute.ptr<i64, smem>) {field = #cute_nvgpu.atom_copy_field_tmaload<tma_bar>} : !load
              cute.copy(%oA2, %x, %u) : (!load, !cute.coord_tensor<"(?{div=64},?{div=128})", "(((64,128),1)):(((1@0,1@1),0))">, !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((8192,1)):((1,0))">)
              %eB = cute_nvgpu.atom.make_exec_tma(%map_B) : (!map) -> !load
              %oB2 = cute_nvgpu.atom.set_value(%eB, %bar : !cute.ptr<i64, smem>) {field = #cute_nvgpu.atom_copy_field_tmaload<tma_bar>} : !load
              cute.copy_atom_call(%oB2, %y, %v) : (!load, !cute.coord_tensor<"(?{div=64},?{div=128})", "(((64,128),1)):(((1@0,1@1),0))">, !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((8192,1)):((1,0))">) -> ()
            }
          }
        }
      }

      // Operands are descriptors of the rings, an atom each: (1, atoms of M or N, steps of K, places).
      %true = arith.constant true
      %false = arith.constant false
      %atom = cute.make_atom(%false) : (i1) -> !wgmma
      %mma = cute.make_tiled_mma(%atom) : !mma
      %t = cute.make_coord(%t32) : (i32) -> !cute.coord<"?">
      %tCsA = cute.tiled.mma.partition A (%mma, %sA, %t) : (!mma, !ring, !cute.coord<"?">) -> !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((64,16),2,4,(1,4)):((64,1),4096,16,(0,8192))">
      %tCsB = cute.tiled.mma.partition B (%mma, %sB, %t) : (!mma, !ring, !cute.coord<"?">) -> !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((128,16),1,4,(1,4)):((64,1),0,16,(0,8192))">
      %dA = cute.mma.make_fragment A (%mma, %tCsA) : (!mma, !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((64,16),2,4,(1,4)):((64,1),4096,16,(0,8192))">) -> !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1,2,4,(1,4)):(0,512,2,(0,1024))">
      %dB = cute.mma.make_fragment B (%mma, %tCsB) : (!mma, !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((128,16),1,4,(1,4)):((64,1),0,16,(0,8192))">) -> !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1,1,4,(1,4)):(0,0,2,(0,1024))">
      %shape = cute.make_shape() : () -> !cute.shape<"((2,2,16),2,1)">
      %acc = cute.mma.make_fragment C (%mma, %shape) : (!mma, !cute.shape<"((2,2,16),2,1)">) -> !cute.memref<f32, rmem, align<32>, "((2,2,16),2,1):((1,2,4),64,0)">
      // What is there before is not added.
      %seven = arith.constant 7.0 : f32
      cute.fill(%acc, %seven)

      // The first product of all does not add to its accumulators: the loop carries the tiled MMA with that.
      %begin = cute_nvgpu.atom.set_value(%mma, %false : i1) {field = #cute_nvgpu.atom_mma_field_sm90<accum_c>} : !mma
      %end = scf.for %k = %c0 to %tiles step %c1 iter_args(%now = %begin) -> (!mma) : i32 {
        %slot = arith.remui %k, %c4 : i32
        %round = arith.divui %k, %c4 : i32
        %parity = arith.andi %round, %c1 : i32
        %i = cute.make_int_tuple(%slot) : (i32) -> !cute.int_tuple<"?">
        %bar = cute.add_offset(%full, %i) : (!cute.ptr<i64, smem, align<1024>>, !cute.int_tuple<"?">) -> !cute.ptr<i64, smem>
        %lbar = builtin.unrealized_conversion_cast %bar : !cute.ptr<i64, smem> to !llvm.ptr<3>
        nvvm.mbarrier.try_wait.parity.shared %lbar, %parity, %ticks : !llvm.ptr<3>, i32, i32
        nvvm.wgmma.fence.aligned
        // The steps of K: two by slices of the view, one by its iterator, and one by a descriptor that is made of a pointer.
        %k0 = cute.make_coord(%slot) : (i32) -> !cute.coord<"(_,_,0,?)">
        %k1 = cute.make_coord(%slot) : (i32) -> !cute.coord<"(_,_,1,?)">
        %k2 = cute.make_coord(%slot) : (i32) -> !cute.coord<"(_,_,2,?)">
        %a0 = cute.slice(%dA, %k0) : !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1,2,4,(1,4)):(0,512,2,(0,1024))">, !cute.coord<"(_,_,0,?)">
        %b0 = cute.slice(%dB, %k0) : !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1,1,4,(1,4)):(0,0,2,(0,1024))">, !cute.coord<"(_,_,0,?)">
        cute.gemm(%now, %acc, %a0, %b0, %acc) : (!mma, !cute.memref<f32, rmem, align<32>, "((2,2,16),2,1):((1,2,4),64,0)">, !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1,2):(0,512)">, !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1,1):(0,0)">, !cute.memref<f32, rmem, align<32>, "((2,2,16),2,1):((1,2,4),64,0)">)
        %adds = cute_nvgpu.atom.set_value(%now, %true : i1) {field = #cute_nvgpu.atom_mma_field_sm90<accum_c>} : !mma
        %a1 = cute.slice(%dA, %k1) : !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1,2,4,(1,4)):(0,512,2,(0,1024))">, !cute.coord<"(_,_,1,?)">
        %b1 = cute.slice(%dB, %k1) : !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1,1,4,(1,4)):(0,0,2,(0,1024))">, !cute.coord<"(_,_,1,?)">
        cute.gemm(%adds, %acc, %a1, %b1, %acc) : (!mma, !cute.memref<f32, rmem, align<32>, "((2,2,16),2,1):((1,2,4),64,0)">, !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1,2):(0,512)">, !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1,1):(0,0)">, !cute.memref<f32, rmem, align<32>, "((2,2,16),2,1):((1,2,4),64,0)">)
        %two = cute.make_int_tuple() : () -> !cute.int_tuple<"2">
        %ia = cute.get_iter(%a1) : !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1,2):(0,512)">
        %ib = cute.get_iter(%b1) : !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1,1):(0,0)">
        %ja = cute.add_offset(%ia, %two) : (!cute_nvgpu.smem_desc, !cute.int_tuple<"2">) -> !cute_nvgpu.smem_desc
        %jb = cute.add_offset(%ib, %two) : (!cute_nvgpu.smem_desc, !cute.int_tuple<"2">) -> !cute_nvgpu.smem_desc
        %a2 = cute.make_view(%ja) : !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1,2):(0,512)">
        %b2 = cute.make_view(%jb) : !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1,1):(0,0)">
        cute.gemm(%adds, %acc, %a2, %b2, %acc) : (!mma, !cute.memref<f32, rmem, align<32>, "((2,2,16),2,1):((1,2,4),64,0)">, !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1,2):(0,512)">, !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1,1):(0,0)">, !cute.memref<f32, rmem, align<32>, "((2,2,16),2,1):((1,2,4),64,0)">)
        %ma = cute_nvgpu.make_gmma_smem_desc(%pA : !halves) layout = <"((64,16),2,4,(1,4)):((64,1),4096,16,(0,8192))">, major = <k> -> !cute_nvgpu.smem_desc
        %mb = cute_nvgpu.make_gmma_smem_desc(%pB : !halves) layout = <"((128,16),1,4,(1,4)):((64,1),0,16,(0,8192))">, major = <k> -> !cute_nvgpu.smem_desc
        %va = cute.make_view(%ma) : !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1,2,4,(1,4)):(0,512,2,(0,1024))">
        %vb = cute.make_view(%mb) : !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1,1,4,(1,4)):(0,0,2,(0,1024))">
        %k3 = cute.make_coord(%slot) : (i32) -> !cute.coord<"(_,_,3,?)">
        %a3 = cute.slice(%va, %k3) : !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1,2,4,(1,4)):(0,512,2,(0,1024))">, !cute.coord<"(_,_,3,?)">
        %b3 = cute.slice(%vb, %k3) : !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1,1,4,(1,4)):(0,0,2,(0,1024))">, !cute.coord<"(_,_,3,?)">
        // An atom of M at a time.
        %m0 = cute.make_coord() : () -> !cute.coord<"(_,0)">
        %m1 = cute.make_coord() : () -> !cute.coord<"(_,1)">
        %x0 = cute.slice(%a3, %m0) : !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1,2):(0,512)">, !cute.coord<"(_,0)">
        %x1 = cute.slice(%a3, %m1) : !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1,2):(0,512)">, !cute.coord<"(_,1)">
        %y0 = cute.slice(%b3, %m0) : !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1,1):(0,0)">, !cute.coord<"(_,0)">
        %of0 = cute.make_coord() : () -> !cute.coord<"(_,0,0)">
        %of1 = cute.make_coord() : () -> !cute.coord<"(_,1,0)">
        %z0 = cute.slice(%acc, %of0) : !cute.memref<f32, rmem, align<32>, "((2,2,16),2,1):((1,2,4),64,0)">, !cute.coord<"(_,0,0)">
        %z1 = cute.slice(%acc, %of1) : !cute.memref<f32, rmem, align<32>, "((2,2,16),2,1):((1,2,4),64,0)">, !cute.coord<"(_,1,0)">
        cute.mma_atom_call(%adds, %z0, %x0, %y0, %z0) : (!mma, !cute.memref<f32, rmem, align<32>, "((2,2,16)):((1,2,4))">, !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">, !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">, !cute.memref<f32, rmem, align<32>, "((2,2,16)):((1,2,4))">) -> ()
        cute.mma_atom_call(%adds, %z1, %x1, %y0, %z1) : (!mma, !cute.memref<f32, rmem, align<32>, "((2,2,16)):((1,2,4))">, !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">, !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1):(0)">, !cute.memref<f32, rmem, align<32>, "((2,2,16)):((1,2,4))">) -> ()
        nvvm.wgmma.commit.group.sync.aligned
        nvvm.wgmma.wait.group.sync.aligned 0

        // The place is free, and takes the tile four turns on.
        %ebar = cute.add_offset(%empty, %i) : (!cute.ptr<i64, smem, align<32>>, !cute.int_tuple<"?">) -> !cute.ptr<i64, smem>
        %lebar = builtin.unrealized_conversion_cast %ebar : !cute.ptr<i64, smem> to !llvm.ptr<3>
        nvvm.mbarrier.txn %lebar, %c1 {kind = #nvvm.mbar_txn_kind<arrive>} : !llvm.ptr<3>, i32
        %next = arith.addi %k, %c4 : i32
        %is = arith.cmpi slt, %next, %tiles : i32
        %issues = arith.andi %is, %first : i1
        scf.if %issues {
          nvvm.mbarrier.try_wait.parity.shared %lebar, %parity, %ticks : !llvm.ptr<3>, i32, i32
          %leader = nvvm.elect.sync -> i1
          scf.if %leader {
            nvvm.mbarrier.txn %lbar, %tx {kind = #nvvm.mbar_txn_kind<arrive_expect_tx>} : !llvm.ptr<3>, i32
            %from = cute.make_coord(%next) : (i32) -> !cute.coord<"(_,?)">
            %to = cute.make_coord(%slot) : (i32) -> !cute.coord<"(_,?)">
            %x = cute.slice(%tAgA, %from) : !cute.coord_tensor<"(0,?{div=128})", "(((64,128),1),?):(((1@0,1@1),0),64@0)">, !cute.coord<"(_,?)">
            %y = cute.slice(%tBgB, %from) : !cute.coord_tensor<"(0,?{div=128})", "(((64,128),1),?):(((1@0,1@1),0),64@0)">, !cute.coord<"(_,?)">
            %u = cute.slice(%tAsA, %to) : !boxes, !cute.coord<"(_,?)">
            %v = cute.slice(%tBsB, %to) : !boxes, !cute.coord<"(_,?)">
            %eA = cute_nvgpu.atom.make_exec_tma(%map_A) : (!map) -> !load
            %oA2 = cute_nvgpu.atom.set_value(%eA, %bar : !cute.ptr<i64, smem>) {field = #cute_nvgpu.atom_copy_field_tmaload<tma_bar>} : !load
            cute.copy(%oA2, %x, %u) : (!load, !cute.coord_tensor<"(?{div=64},?{div=128})", "(((64,128),1)):(((1@0,1@1),0))">, !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((8192,1)):((1,0))">)
            %eB = cute_nvgpu.atom.make_exec_tma(%map_B) : (!map) -> !load
            %oB2 = cute_nvgpu.atom.set_value(%eB, %bar : !cute.ptr<i64, smem>) {field = #cute_nvgpu.atom_copy_field_tmaload<tma_bar>} : !load
            cute.copy(%oB2, %y, %v) : (!load, !cute.coord_tensor<"(?{div=64},?{div=128})", "(((64,128),1)):(((1@0,1@1),0))">, !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((8192,1)):((1,0))">)
          }
        }
        scf.yield %adds : !mma
      }

      // The sums as f16, to shared memory, and from there to C, 64 columns at a time.
      %sC = cute.make_view(%pC) : !cute.memref<f16, smem, align<1024>, S<3,4,3>, "(128,(64,2)):(64,(1,8192))">
      %half = cute.convert(%acc) -> !tCrH
      %tCsC = cute.tiled.mma.partition C (%mma, %sC, %t)
      cute.autovec_copy(%half, %tCsC)
      nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
      nvvm.barrier
      scf.if %first {
        %leader = nvvm.elect.sync -> i1
        scf.if %leader {
          %wide = cute.static : !cute.tile<"[128:1;128:1]">
          %atC = cute.make_coord(%m, %n) : (i32, i32) -> !cute.coord<"(?,?)">
          %gC = cute.local_tile(%C, %wide, %atC) : (!coords, !cute.tile<"[128:1;128:1]">, !cute.coord<"(?,?)">) -> !cute.coord_tensor<"(?{div=128},?{div=128})", "(128,128):(1@1,1@0)">
          %iC = cute.get_iter(%gC) : !cute.coord_tensor<"(?{div=128},?{div=128})", "(128,128):(1@1,1@0)">
          %hC = cute.make_view(%iC) : !cute.coord_tensor<"(?{div=128},?{div=128})", "((128,64),2):((1@1,1@0),64@0)">
          %fC = cute.make_view(%pC) : !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((128,64),2):((64,1),8192)">
          %bSG, %bGC = cute_nvgpu.atom.tma_partition(%map_C, %block, %blocks, %fC, %hC) : (!out, !cute.coord<"0">, !cute.layout<"(1):(0)">, !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((128,64),2):((64,1),8192)">, !cute.coord_tensor<"(?{div=128},?{div=128})", "((128,64),2):((1@1,1@0),64@0)">) -> (!cute.memref<f16, smem, align<1024>, S<3,4,3>, "((8192,1),2):((1,0),8192)">, !cute.coord_tensor<"(?{div=128},?{div=128})", "(((64,128),1),2):(((1@0,1@1),0),64@0)">)
          %eC = cute_nvgpu.atom.make_exec_tma(%map_C) : (!out) -> !store
          %h0 = cute.make_coord() : () -> !cute.coord<"(_,0)">
          %h1 = cute.make_coord() : () -> !cute.coord<"(_,1)">
          %x0 = cute.slice(%bSG, %h0)
          %x1 = cute.slice(%bSG, %h1)
          %y0 = cute.slice(%bGC, %h0)
          %y1 = cute.slice(%bGC, %h1)
          cute.copy(%eC, %x0, %y0)
          cute.copy(%eC, %x1, %y1)
          nvvm.cp.async.bulk.commit.group
          nvvm.cp.async.bulk.wait_group 0
        }
      }
      gpu.return
    }
  }

  func.func @gemm(%A: !mat {cute.name = "A"}, %B: !mat {cute.name = "B"}, %C: !mat {cute.name = "C"})
      attributes {cute.computes = [{gemm = array<i64: 0, 1, 2>, accumulate = f32}]} {
    %bM = arith.constant 128 : i32
    %bK = arith.constant 64 : i32
    %lA = cute.get_layout(%A)
    %lB = cute.get_layout(%B)
    %M, %K, %ldA = cute.get_scalars <{only_dynamic}>(%lA)
    %N, %K2, %ldB = cute.get_scalars <{only_dynamic}>(%lB)
    %m = arith.ceildivsi %M, %bM : i32
    %n = arith.ceildivsi %N, %bM : i32
    %tiles = arith.ceildivsi %K, %bK : i32
    %blocks_m = arith.index_cast %m : i32 to index
    %blocks_n = arith.index_cast %n : i32 to index
    %one = arith.constant 1 : index
    %threads = arith.constant 128 : index
    %bytes = arith.constant 164864 : i32
    %place = cute.static : !place
    %tile = cute.static : !tile
    %map_A, %of_A = cute_nvgpu.atom.make_non_exec_tiled_tma_load(%A, %place, %tile) <{kind = <sm_90> num_multicast = 1}> : (!mat, !place, !tile) -> (!map, !coords)
    %map_B, %of_B = cute_nvgpu.atom.make_non_exec_tiled_tma_load(%B, %place, %tile) <{kind = <sm_90> num_multicast = 1}> : (!mat, !place, !tile) -> (!map, !coords)
    %map_C, %of_C = cute_nvgpu.atom.make_non_exec_tiled_tma_store(%C, %place, %tile) : (!mat, !place, !tile) -> (!out, !coords)
    gpu.launch_func @kernels::@gemm_kernel blocks in (%blocks_m, %blocks_n, %one) threads in (%threads, %one, %one)
      dynamic_shared_memory_size %bytes
      args(%map_A : !map, %of_A : !coords, %map_B : !map, %of_B : !coords, %map_C : !out, %of_C : !coords, %tiles : i32)
    return
  }
}
