// The state of atoms that is not known, or that the architecture does not take.
//
// RUN: cute-opt %s --cute-to-nvvm --split-input-file --verify-diagnostics

// Products of SM90 that a warp does are on later chips too.
gpu.module @kernels [#nvvm.target<chip = "sm_100a">, #nvvm.target<chip = "sm_87">] {
  gpu.func @doubles() kernel {
    // expected-error @below {{which exists on sm_90 and later; the kernel is compiled for sm_87: compile it for arch=sm_90, or choose an atom that sm_87 has}}
    %a = cute.make_atom() : () -> !cute_nvgpu.sm90.warp_mma<16x8x4, elem_type = (f64, f64, f64)>
    gpu.return
  }
}

// -----

gpu.module @kernels [#nvvm.target<chip = "sm_72">] {
  // expected-error @below {{unsupported architecture 'sm_72': expected one of sm_75, }}
  gpu.func @chip() kernel {
    gpu.return
  }
}

// -----

gpu.module @kernels [#nvvm.target<chip = "sm_80">] {
  gpu.func @unset() kernel {
    %a = cute.make_atom() : () -> !cute_nvgpu.atom.universal_copy<f32>
    // expected-error @below {{reads a part of the atom's state that nothing has set; set it by cute_nvgpu.atom.set_value first}}
    %p = cute_nvgpu.atom.get_value(%a : !cute_nvgpu.atom.universal_copy<f32>) {field = #cute_nvgpu.atom_copy_field_universal<cache_policy>} : i64
    gpu.return
  }
}

// -----

!policy_copy = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"(32,8):(8,1)">, tiler_mn = <"[256:1]">>
!policy_g = !cute.memref<f16, gmem, align<16>, "((8,1)):((1,0))">
// Turing's loads take no cache policy.
gpu.module @kernels [#nvvm.target<chip = "sm_75">] {
  gpu.func @policy(%a: !policy_g, %p: i64) kernel {
    %atom = cute.make_atom() : () -> !cute_nvgpu.atom.universal_copy<f16, 128 b>
    %set = cute_nvgpu.atom.set_value(%atom, %p : i64) {field = #cute_nvgpu.atom_copy_field_universal<cache_policy>} : !cute_nvgpu.atom.universal_copy<f16, 128 b>
    %copy = cute.make_tiled_copy(%set) : !policy_copy
    // expected-error @below {{copies with a cache policy, which exists on sm_80 and later; the kernel is compiled for sm_75: leave out cute_nvgpu.atom.set_value, or compile it for an architecture that has it}}
    %v = cute.atom_load(%copy, %a) at [0] : (!policy_copy, !policy_g) -> vector<8xf16>
    gpu.return
  }
}

// -----

!copy = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <"(32,8):(8,1)">, tiler_mn = <"[256:1]">>
!g = !cute.memref<f16, gmem, align<16>, "((8,1)):((1,0))">
gpu.module @kernels [#nvvm.target<chip = "sm_80">] {
  gpu.func @handed_on(%a: !g, %copy: !copy) kernel {
    // expected-error @below {{takes an atom whose state is not known here; expected one that the kernel makes by cute.make_atom}}
    %v = cute.atom_load(%copy, %a) at [0] : (!copy, !g) -> vector<8xf16>
    gpu.return
  }
}
