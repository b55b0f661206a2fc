// Parts of C go out through two tiles in shared memory in turn, where one team has room for them: one is written while TMA reads the other.
//
// RUN: cute-opt %s --cute-tile="arch=sm_90a instructions=wgmma tile=128x256x64 warps=8x1" | FileCheck %s --check-prefix=WIDE
// RUN: cute-opt %s --cute-tile="arch=sm_90a instructions=wgmma tile=256x128x64 warps=8x1" | FileCheck %s --check-prefix=NARROW
// RUN: cute-opt %s --cute-tile="arch=sm_90a instructions=wgmma tile=128x192x64 warps=4x1 teams=2" | FileCheck %s --check-prefix=ONE
// RUN: cute-opt %s --cute-tile="arch=sm_90a instructions=wgmma tile=128x256x64 warps=8x1 cluster=1x1x2" | FileCheck %s --check-prefix=ONE
// WIDE:   C = [{{.*}}smem = <S<3,4,3>, "(128,64):(64,1)">, buffers = 2>, <!cute_nvgpu.atom.tma_store
// Half as many columns where two whole parts would take a place of the ring.
// NARROW: C = [{{.*}}smem = <S<2,4,3>, "(256,32):(32,1)">, buffers = 2>, <!cute_nvgpu.atom.tma_store
// Other teams hide the wait, and blocks that share a tile have parts that are neighbours.
// ONE:    C = [{{.*}}smem = <{{[^>]*>[^>]*}}>, buffers = 1>, <!cute_nvgpu.atom.tma_store

// A store that came before the last one must have read its tile.
// RUN: cute-opt %s --cute-compile="arch=sm_90a instructions=wgmma tile=128x256x64 warps=8x1 package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --emit=ptx --to %t.ptx && cat %t.ptx | FileCheck %s --check-prefix=PTX
// PTX: cp.async.bulk.wait_group.read{{.*}}1;

// RUN: cute-run %t.cutepkg --device=emulator --sms 3 --seeds 2 | FileCheck %s
// Seven parts of 32 columns, and three; the last one has a tile to itself, which the next tile of C waits for.
// RUN: cute-opt %s --cute-compile="arch=sm_90a instructions=wgmma tile=128x224x64 warps=8x1 package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator --sms 3 --seeds 2 | FileCheck %s
// RUN: cute-opt %s --cute-compile="arch=sm_90a instructions=wgmma tile=128x96x64 warps=8x1 stages=4 package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator --sms 3 --seeds 2 | FileCheck %s
// CHECK: right
// CHECK: no findings

// RUN: cute-opt %s --cute-tile="arch=sm_90a instructions=wgmma tile=128x256x64 warps=8x1" \
// RUN:   | sed 's/buffers = 2>, <!cute_nvgpu.atom.tma_store/buffers = 5>, <!cute_nvgpu.atom.tma_store/' | not cute-opt 2>&1 | FileCheck %s --check-prefix=MANY
// MANY: error: {{.*}}the way of C: expected 1 to 4 buffers for parts of (128,64):(64,1), found 5
!a = !cute.memref<f16, gmem, align<16>, "(300,200):(200,1)">
!b = !cute.memref<f16, gmem, align<16>, "(520,200):(200,1)">
!c = !cute.memref<f16, gmem, align<16>, "(300,520):(520,1)">
func.func @product(%A: !a, %B: !b, %C: !c) {
  cute.contract ins(%A, %B : !a, !b) outs(%C : !c) accumulate f32
  return
}
