// Blocks with sums of products that nobody can do as they are written are refused where they stand.
//
// RUN: cute-opt %s --cute-partition --split-input-file --verify-diagnostics

#plan = #cute.plan<tile = 64x64x64, stages = 1, raster = 1, mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(4,1,1):(1,4,0)">, permutation_MNK = <"[64:1;16:1;16:1]">>, A = [<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, group, smem = <S<3,4,3>, "(64,64):(64,1)">, buffers = 1>, <!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, immediate>], B = [<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, group, smem = <S<3,4,3>, "(64,64):(64,1)">, buffers = 1>, <!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, immediate>], C = [<!cute_nvgpu.atom.universal_copy<f32, 64 b>, immediate, smem = <"(64,64):(64,1)">, buffers = 1>, <!cute_nvgpu.atom.universal_copy<f32, 128 b>, immediate>]>
!a = !cute.memref<f16, gmem, align<16>, "(64,64,64,1):(64,0,1,0)">
!b = !cute.memref<f16, gmem, align<16>, "(64,64,64,1):(0,64,1,0)">
!d = !cute.memref<f32, gmem, align<16>, "(64,64,64,1):(64,1,0,0)">
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @k(%A: !a, %B: !b, %D: !d) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      %at = cute.static : !cute.coord<"(0,0)">
      // expected-error @below {{'cute.block.fuse' op is done by the 128 threads of its plans; expected a kernel with known_block_size = array<i32: 128, 1, 1>}}
      cute.block.fuse ins(%A, %B : !a, !b) outs(%D : !d) at(%at : !cute.coord<"(0,0)">) {
      ^bb0(%a: f16, %b: f16):
        %aw = arith.extf %a : f16 to f32
        %bw = arith.extf %b : f16 to f32
        %ab = arith.mulf %aw, %bw : f32
        %s = cute.all_reduce "add" %ab along [2] {cute.plan = #plan} : f32
        cute.yield %s : f32
      } {held}
      gpu.return
    }
  }
}

// -----

#plan = #cute.plan<tile = 64x64x64, stages = 1, raster = 1, mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(4,1,1):(1,4,0)">, permutation_MNK = <"[64:1;16:1;16:1]">>, A = [<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, group, smem = <S<3,4,3>, "(64,64):(64,1)">, buffers = 1>, <!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, immediate>], B = [<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, group, smem = <S<3,4,3>, "(64,64):(64,1)">, buffers = 1>, <!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, immediate>], C = [<!cute_nvgpu.atom.universal_copy<f32, 64 b>, immediate, smem = <"(64,64):(64,1)">, buffers = 1>, <!cute_nvgpu.atom.universal_copy<f32, 128 b>, immediate>]>
!q = !cute.memref<f16, gmem, align<16>, "(64,64,64,96):(64,0,1,0)">
!k = !cute.memref<f16, gmem, align<16>, "(64,64,64,96):(0,64,1,0)">
!v = !cute.memref<f16, gmem, align<16>, "(64,64,64,96):(0,1,0,64)">
!d = !cute.memref<f32, gmem, align<16>, "(64,64,64,96):(96,0,0,1)">
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @k(%Q: !q, %K: !k, %V: !v, %D: !d) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
      %at = cute.static : !cute.coord<"(0,0)">
      cute.block.fuse ins(%Q, %K, %V : !q, !k, !v) outs(%D : !d) at(%at : !cute.coord<"(0,0)">) {
      ^bb0(%q: f16, %k: f16, %v: f16):
        %qw = arith.extf %q : f16 to f32
        %kw = arith.extf %k : f16 to f32
        %qk = arith.mulf %qw, %kw : f32
        %s = cute.all_reduce "add" %qk along [2] {cute.plan = #plan} : f32
        %h = arith.truncf %s : f32 to f16
        %hw = arith.extf %h : f16 to f32
        %vw = arith.extf %v : f16 to f32
        %hv = arith.mulf %hw, %vw : f32
        // expected-error @below {{'cute.all_reduce' op has a cute.plan of 64 elements along E; expected tensors of at most as many, or the first element along E behind the first row and the first column, found 96}}
        %o = cute.all_reduce "add" %hv along [1] {cute.plan = #plan} : f32
        cute.yield %o : f32
      } {held}
      gpu.return
    }
  }
}

// -----

#plan = #cute.plan<tile = 64x64x64, stages = 1, raster = 1, mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(4,1,1):(1,4,0)">, permutation_MNK = <"[64:1;16:1;16:1]">>, A = [<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, group, smem = <S<3,4,3>, "(64,64):(64,1)">, buffers = 1>, <!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, immediate>], B = [<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, group, smem = <S<3,4,3>, "(64,64):(64,1)">, buffers = 1>, <!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, immediate>], C = [<!cute_nvgpu.atom.universal_copy<f32, 64 b>, immediate, smem = <"(64,64):(64,1)">, buffers = 1>, <!cute_nvgpu.atom.universal_copy<f32, 128 b>, immediate>]>
!a = !cute.memref<f16, gmem, align<16>, "(64,80,64,1):(64,0,1,0)">
!b = !cute.memref<f16, gmem, align<16>, "(64,80,64,1):(0,64,1,0)">
!d = !cute.memref<f32, gmem, align<16>, "(64,80,64,1):(80,1,0,0)">
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @k(%A: !a, %B: !b, %D: !d) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
      %at = cute.static : !cute.coord<"(0,0)">
      // expected-error @below {{'cute.block.fuse' op holds 64 columns of a block and reduces along columns; expected at most as many, found 80}}
      cute.block.fuse ins(%A, %B : !a, !b) outs(%D : !d) at(%at : !cute.coord<"(0,0)">) {
      ^bb0(%a: f16, %b: f16):
        %aw = arith.extf %a : f16 to f32
        %bw = arith.extf %b : f16 to f32
        %ab = arith.mulf %aw, %bw : f32
        %s = cute.all_reduce "add" %ab along [2] {cute.plan = #plan} : f32
        %m = cute.all_reduce "maximum" %s along [1] : f32
        %t = arith.subf %s, %m : f32
        cute.yield %t : f32
      } {held}
      gpu.return
    }
  }
}

// -----

#plan = #cute.plan<tile = 64x64x64, stages = 1, raster = 1, mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(4,1,1):(1,4,0)">, permutation_MNK = <"[64:1;16:1;16:1]">>, A = [<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, group, smem = <S<3,4,3>, "(64,64):(64,1)">, buffers = 1>, <!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, immediate>], B = [<!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, group, smem = <S<3,4,3>, "(64,64):(64,1)">, buffers = 1>, <!cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>, immediate>], C = [<!cute_nvgpu.atom.universal_copy<f32, 64 b>, immediate, smem = <"(64,64):(64,1)">, buffers = 1>, <!cute_nvgpu.atom.universal_copy<f32, 128 b>, immediate>]>
!a = !cute.memref<f16, gmem, align<16>, "(64,?,64,1):(64,0,1,0)">
!b = !cute.memref<f16, gmem, align<16>, "(64,?,64,1):(0,64,1,0)">
!d = !cute.memref<f32, gmem, align<16>, "(64,?,64,1):(?,1,0,0)">
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @k(%A: !a, %B: !b, %D: !d) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
      %at = cute.static : !cute.coord<"(0,0)">
      // expected-error @below {{'cute.block.fuse' op holds 64 columns of a block and reduces along columns; expected at most as many, found what a launch brings}}
      cute.block.fuse ins(%A, %B : !a, !b) outs(%D : !d) at(%at : !cute.coord<"(0,0)">) {
      ^bb0(%a: f16, %b: f16):
        %aw = arith.extf %a : f16 to f32
        %bw = arith.extf %b : f16 to f32
        %ab = arith.mulf %aw, %bw : f32
        %s = cute.all_reduce "add" %ab along [2] {cute.plan = #plan} : f32
        %m = cute.all_reduce "maximum" %s along [1] : f32
        %t = arith.subf %s, %m : f32
        cute.yield %t : f32
      } {held}
      gpu.return
    }
  }
}
