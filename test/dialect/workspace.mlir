// Memory of a call beside its arguments, in functions that launch.
//
// RUN: cute-opt %s --split-input-file --verify-diagnostics --verify-roundtrip -o /dev/null
// RUN: cute-opt %s --split-input-file --verify-diagnostics --cse | FileCheck %s

// Each has bytes of its own.
// CHECK-LABEL: func.func @two
// CHECK:         cute.workspace(%arg0) : !cute.ptr<f32, gmem, align<256>>
// CHECK:         cute.workspace(%arg0) : !cute.ptr<f32, gmem, align<256>>
func.func @two(%bytes: index) -> (!cute.ptr<f32, gmem, align<256>>, !cute.ptr<f32, gmem, align<256>>) {
  %a = cute.workspace(%bytes) : !cute.ptr<f32, gmem, align<256>>
  %b = cute.workspace(%bytes) : !cute.ptr<f32, gmem, align<256>>
  return %a, %b : !cute.ptr<f32, gmem, align<256>>, !cute.ptr<f32, gmem, align<256>>
}

// -----

gpu.module @kernels {
  gpu.func @inside(%bytes: index) kernel {
    // expected-error @below {{'cute.workspace' op is for the host function that launches; expected it outside of kernels, and its pointer passed on as an argument}}
    %a = cute.workspace(%bytes) : !cute.ptr<f32, gmem, align<16>>
    gpu.return
  }
}

// -----

func.func @shared(%bytes: index) {
  // expected-error @below {{'cute.workspace' op expected a pointer into gmem, found !cute.ptr<f32, smem, align<16>>}}
  %a = cute.workspace(%bytes) : !cute.ptr<f32, smem, align<16>>
  return
}

// -----

func.func @aligned(%bytes: index) {
  // expected-error @below {{'cute.workspace' op expected an alignment of at most 256 bytes, which packages promise of a workspace, found 512}}
  %a = cute.workspace(%bytes) : !cute.ptr<f32, gmem, align<512>>
  return
}
