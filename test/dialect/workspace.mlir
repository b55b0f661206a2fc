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

// What says where tensors of cute.computes are, and which of it is computed in a branch, is not taken away, though nothing uses it.
// CHECK-LABEL: func.func @said
// CHECK:         cute.compute_view 1 !cute.memref<f32, gmem, align<256>, "(?,4):(4,1)">(%{{.*}} : !cute.ptr<f32, gmem, align<256>>) leaves(%{{.*}} : i32)
// CHECK:         cute.compute_view 2 !cute.memref<f32, gmem, align<256>, "(4):(1)">(%{{.*}} : !cute.ptr<f32, gmem, align<256>>)
// CHECK:         cute.compute_here 0
func.func @said(%bytes: index, %n: i32) {
  %a = cute.workspace(%bytes) : !cute.ptr<f32, gmem, align<256>>
  cute.compute_view 1 !cute.memref<f32, gmem, align<256>, "(?,4):(4,1)"> (%a : !cute.ptr<f32, gmem, align<256>>) leaves(%n : i32)
  cute.compute_view 2 !cute.memref<f32, gmem, align<256>, "(4):(1)"> (%a : !cute.ptr<f32, gmem, align<256>>)
  cute.compute_here 0
  return
}

// -----

func.func @open(%p: !cute.ptr<f32, gmem, align<16>>) {
  // expected-error @below {{'cute.compute_view' op expected an integer for each of the 1 leaves that (?,4):(4,1) leaves open, found 0}}
  cute.compute_view 1 !cute.memref<f32, gmem, align<16>, "(?,4):(4,1)"> (%p : !cute.ptr<f32, gmem, align<16>>)
  return
}

// -----

func.func @number(%p: !cute.ptr<f32, gmem, align<16>>) {
  // expected-error @below {{'cute.compute_view' op expected the type of a tensor, found f32}}
  cute.compute_view 1 f32 (%p : !cute.ptr<f32, gmem, align<16>>)
  return
}

// -----

func.func @index() {
  // expected-error @below {{'cute.compute_here' op expected the index of a compute, found -2}}
  cute.compute_here -2
  return
}

// -----

gpu.module @kernels {
  gpu.func @here() kernel {
    // expected-error @below {{'cute.compute_here' op is for the host function whose cute.computes it belongs to; expected it outside of kernels}}
    cute.compute_here 0
    gpu.return
  }
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
