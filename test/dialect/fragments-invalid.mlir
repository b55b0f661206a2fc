// RUN: cute-opt %s --split-input-file --verify-diagnostics

func.func @coordinates_have_no_elements(%coords: !cute.coord_tensor<"(0,0)", "(8,4):(1@0,1@1)">) {
  // expected-error @below {{expected the type of elements of a fragment that is like coordinates: write it behind them, as in ' of i1'}}
  %p = cute.make_fragment_like(%coords)
  return
}

// -----

func.func @extents_are_known(%x: !cute.memref<f32, gmem, "(?,4):(4,1)">) {
  // expected-error @below {{make_fragment_like}}
  %f = cute.make_fragment_like(%x)
  return
}

// -----

func.func @another_type(%x: !cute.memref<f32, rmem, "4:1">) {
  // expected-error @below {{expected a result of f16, as it says behind 'to', found one of bf16}}
  %h = "cute.convert"(%x) {element = f16} : (!cute.memref<f32, rmem, "4:1">) -> !cute.memref<bf16, rmem, "4:1">
  return
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(2,2,1):(1,2,0)">, permutation_MNK = <"[32:1;32:1;16:1]">>
func.func @no_copy_atom(%mma: !mma) {
  // expected-error @below {{expected a copy atom, such as !cute_nvgpu.atom.universal_copy, found !cute.tiled_mma}}
  %c = cute.mma.make_tiled_copy A (%mma, %mma)
  return
}

// -----

func.func @four_modes(%grid: !cute.shape<"(2,2,2,2)">) {
  // expected-error @below {{'cute.launch' op expected a grid of one to three modes, found (2,2,2,2)}}
  cute.launch @kernels::@k blocks(%grid) args()
  return
}

// -----

gpu.module @kernels {
  gpu.func @k() kernel {
    %grid = cute.static shape "(2,2)"
    // expected-error @below {{'cute.launch' op is for the host function that launches; expected it outside of kernels}}
    cute.launch @kernels::@k blocks(%grid) args()
    gpu.return
  }
}
