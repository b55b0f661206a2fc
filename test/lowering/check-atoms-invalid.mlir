// Atoms that the architecture has not, or that have no instruction yet: refused at the entry, and by the lowering itself.
//
// RUN: cute-opt %s --cute-check-atoms --split-input-file --verify-diagnostics
// RUN: cute-opt %s --cute-to-nvvm --split-input-file --verify-diagnostics

gpu.module @kernels [#nvvm.target<chip = "sm_80">] {
  gpu.func @fp8() kernel {
    // expected-error @below {{'cute.make_atom' op makes SM89_16x8x32_F32E4M3E4M3F32_TN, which exists on sm_89 and later; the kernel is compiled for sm_80: compile it for arch=sm_89, or choose an atom that sm_80 has}}
    %a = cute.make_atom() : () -> !cute_nvgpu.sm89.mma<16x8x32, elem_type = (f8E4M3FN, f8E4M3FN, f32)>
    gpu.return
  }
}

// -----

gpu.module @kernels [#nvvm.target<chip = "sm_80">] {
  gpu.func @red() kernel {
    // expected-error @below {{makes RED_ADD<64>, which exists on sm_90 and later; the kernel is compiled for sm_80}}
    %a = cute.make_atom() : () -> !cute_nvgpu.atom.red<bf16, add, 64 b>
    gpu.return
  }
}

// -----

// Each of the targets counts.
gpu.module @kernels [#nvvm.target<chip = "sm_90a">, #nvvm.target<chip = "sm_89">] {
  gpu.func @stsm() kernel {
    // expected-error @below {{makes SM90_U32x4_STSM_N, which exists on sm_90 and later; the kernel is compiled for sm_89}}
    %a = cute.make_atom() : () -> !cute_nvgpu.atom.stsm<f16, mode = <"(8,8)">, num_matrices = 4, n>
    gpu.return
  }
}

// -----

gpu.module @kernels [#nvvm.target<chip = "sm_90a">] {
  gpu.func @four_bits() kernel {
    // expected-error @below {{makes SM80_16x8x64_S32S4S4S32_TN, which is in the table, no instruction yet}}
    %a = cute.static : !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x64, elem_type = (i4, i4, i32)>, atom_layout_MNK = <"(1,1,1):(0,0,0)">, permutation_MNK = <"[_;_;_]">>
    gpu.return
  }
}

// -----

// What Turing does not have.
gpu.module @kernels [#nvvm.target<chip = "sm_75">] {
  gpu.func @turing() kernel {
    %a = cute.make_atom() : () -> !cute_nvgpu.sm75.mma<16x8x8, elem_type = (f16, f16, f32)>
    %l = cute.make_atom() : () -> !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
    // expected-error @below {{makes SM80_CP_ASYNC_16, which exists on sm_80 and later; the kernel is compiled for sm_75: compile it for arch=sm_80, or choose an atom that sm_75 has}}
    %c = cute.make_atom() : () -> !cute_nvgpu.atom.simt_async_copy<f16, cache = always, 128 b>
    gpu.return
  }
}

// -----

gpu.module @kernels [#nvvm.target<chip = "sm_75">] {
  gpu.func @bf16() kernel {
    // expected-error @below {{makes SM80_16x8x8_F32BF16BF16F32_TN, which exists on sm_80 and later; the kernel is compiled for sm_75}}
    %a = cute.make_atom() : () -> !cute_nvgpu.sm80.mma<16x8x8, elem_type = (bf16, bf16, f32)>
    gpu.return
  }
}
