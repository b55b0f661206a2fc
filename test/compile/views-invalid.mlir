// Views that reach outside of their tensor, and views of one tensor that an op reads and writes where they have elements in common.
// RUN: cute-opt %s --cute-compile="arch=sm_80 package=%t.cutepkg" --split-input-file --verify-diagnostics -o /dev/null
// RUN: cute-opt %s --cute-compile="arch=sm_90a package=%t.cutepkg" --split-input-file --verify-diagnostics -o /dev/null

!x = !cute.memref<f16, gmem, align<16>, "(64,128):(128,1)">
!y = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
func.func @behind(%X: !x {cute.name = "X"}, %Y: !y {cute.name = "Y"}) {
  %start = cute.get_iter(%X)
  %more = cute.static : !cute.int_tuple<"72">
  %next = cute.add_offset(%start, %more)
  %a = cute.make_view(%next, "(64,64):(128,1)")
  // expected-error @below {{expected a view within X, from its first byte to its last; begin it at another element, or give it other extents}}
  cute.contract ins(%a, %a) outs(%Y) accumulate f32
  return
}

// -----

!x = !cute.memref<f16, gmem, align<16>, "(64,128):(128,1)">
func.func @larger(%X: !x, %Y: !x) {
  %start = cute.get_iter(%X)
  %a = cute.make_view(%start, "(65,128):(128,1)")
  %to = cute.get_iter(%Y)
  %b = cute.make_view(%to, "(65,128):(128,1)")
  // expected-error @below {{expected a view within argument 0, from its first byte to its last; begin it at another element, or give it other extents}}
  cute.map ins(%a) outs(%b) {
  ^bb0(%e: f16):
    cute.yield %e : f16
  }
  return
}

// -----

!x = !cute.memref<f16, gmem, align<16>, "(64,128):(128,1)">
func.func @overlapping(%X: !x) {
  %start = cute.get_iter(%X)
  %a = cute.make_view(%start, "(32,72):(128,1)")
  %half = cute.static : !cute.int_tuple<"64">
  %next = cute.add_offset(%start, %half)
  %b = cute.make_view(%next, "(32,72):(128,1)")
  // expected-error @below {{expected E0 and D0 apart, as one of them is written: both are views of one tensor, and neither ends before the other one begins, nor has columns of its own; write a tensor of its own, or other views}}
  cute.map ins(%a) outs(%b) {
  ^bb0(%e: f16):
    cute.yield %e : f16
  }
  return
}

// -----

!x = !cute.memref<f16, gmem, align<16>, "(64,128):(128,1)">
func.func @transposed(%X: !x) {
  %first = cute.make_coord(0, 0)
  %a = cute.local_tile(%X, "[64:1;64:1]", %first)
  %start = cute.get_iter(%X)
  %b = cute.make_view(%start, "(64,64):(1,128)")
  // expected-error @below {{expected E0 and D0 apart, as one of them is written}}
  cute.map ins(%a) outs(%b) {
  ^bb0(%e: f16):
    cute.yield %e : f16
  }
  return
}

// -----

// A view of more bytes than the workspace has.
!y = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
func.func @small(%X: !y, %Y: !y) {
  %bytes = arith.constant 4096 : index
  %w = cute.workspace(%bytes) : !cute.ptr<f16, gmem, align<256>>
  %a = cute.make_view(%w, "(64,64):(64,1)")
  // expected-error @below {{expected a view within the workspace, from its first byte to its last}}
  cute.map ins(%X) outs(%a) {
  ^bb0(%e: f16):
    cute.yield %e : f16
  }
  cute.map ins(%a) outs(%Y) {
  ^bb0(%e: f16):
    cute.yield %e : f16
  }
  return
}

// -----

// Two views of one part of the workspace.
!y = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
func.func @workspace(%X: !y, %Y: !y) {
  %bytes = arith.constant 8192 : index
  %w = cute.workspace(%bytes) : !cute.ptr<f16, gmem, align<256>>
  %a = cute.make_view(%w, "(64,64):(64,1)")
  %b = cute.make_view(%w, "(64,64):(1,64)")
  cute.map ins(%X) outs(%a) {
  ^bb0(%e: f16):
    cute.yield %e : f16
  }
  // expected-error @below {{expected E0 and D0 apart, as one of them is written}}
  cute.map ins(%a) outs(%b) {
  ^bb0(%e: f16):
    cute.yield %e : f16
  }
  cute.map ins(%b) outs(%Y) {
  ^bb0(%e: f16):
    cute.yield %e : f16
  }
  return
}

// -----

// A launch of one's own, of a kernel that is promised memory of its own: nothing says which elements it has.
!x = !cute.memref<f16, gmem, align<16>, "(64,128):(128,1)">
!h = !cute.memref<f16, gmem, align<16>, "(64,64):(128,1)">
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @copy(%x: !h {cute.noalias}, %y: !h {cute.noalias}) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
      %at = cute.make_coord(0, 0)
      %e = cute.memref.load(%x, %at)
      cute.memref.store(%y, %at, %e)
      gpu.return
    }
  }
  func.func @halves(%X: !x) {
    %one = arith.constant 1 : index
    %threads = arith.constant 32 : index
    %c0 = arith.constant 0 : i32
    %first = cute.make_coord(0, 0)
    %second = cute.make_coord(0, 1)
    %a = cute.local_tile(%X, "[64:1;64:1]", %first)
    %b = cute.local_tile(%X, "[64:1;64:1]", %second)
    // expected-error @below {{passes views of one tensor as arguments of a kernel that was promised, by cute.noalias, that what it writes is reached through one argument only; expected two tensors, or a kernel without the promise}}
    gpu.launch_func @kernels::@copy blocks in (%one, %one, %one) threads in (%threads, %one, %one) dynamic_shared_memory_size %c0 args(%a : !h, %b : !h)
    return
  }
}
