// What has no instruction.
//
// RUN: cute-opt %s --cute-to-nvvm --split-input-file --verify-diagnostics

!s = !cute.memref<f16, smem, align<128>, "8:1">
gpu.module @kernels {
  gpu.func @no_place() kernel {
    // expected-error @below {{expected a tensor that has its place in shared memory; run cute-allocate-shared first}}
    %s = cute.memref.alloca() : !s
    gpu.return
  }
}

// -----

!g = !cute.memref<f16, gmem, align<16>, "(32,32):(64,1)">
gpu.module @kernels {
  gpu.func @whole_copy(%a: !g, %b: !g) kernel {
    // expected-error @below {{'cute.block.copy' has no instruction form; an earlier pass of --cute-compile lowers it}}
    cute.block.copy A (%a, %b) : (!g, !g)
    gpu.return
  }
}

// -----

!g = !cute.memref<f16, gmem, align<16>, "(32,32):(64,1)">
gpu.module @kernels {
  gpu.func @whole_gemm(%a: !g, %b: !g) kernel {
    // expected-error @below {{'cute.contract' has no instruction form}}
    cute.contract ins(%a, %a : !g, !g) outs(%b : !g) accumulate f32
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @foreign_coordinate(%c: !cute.coord<"?">, %t: !cute.memref<f16, gmem, "(8,4):(1,8)">) kernel {
    %o = cute.static : !cute.coord<"(_,1)">
    %s = cute.slice(%t, %o) : !cute.memref<f16, gmem, "(8,4):(1,8)">, !cute.coord<"(_,1)">
    // expected-error @below {{expected a coordinate that this kernel makes; run cute-lower-layouts first}}
    %u = cute.slice(%t, %c) : !cute.memref<f16, gmem, "(8,4):(1,8)">, !cute.coord<"?">
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @no_instruction(%x: f32) kernel {
    // expected-error @below {{'math.acosh' has no instruction; write it with math.absf, math.ceil}}
    %0 = math.acosh %x : f32
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @too_wide(%x: vector<2xf64>) kernel {
    // expected-error @below {{'math.exp2' is an instruction of f32, and of f16 and bf16 through it; found f64: convert it}}
    %0 = math.exp2 %x : vector<2xf64>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @one_dimension(%x: f32) kernel {
    // expected-error @below {{expected a vector of one dimension}}
    %0 = vector.broadcast %x : f32 to vector<2x2xf32>
    gpu.return
  }
}

// -----

// Types of ours are no types of LLVM's.
gpu.module @kernels {
  gpu.func @address(%p: !llvm.ptr<1>, %i: i32) kernel {
    // expected-error @below {{'llvm.getelementptr' op has the type !cute.int_tuple<"30">; expected a type that LLVM has}}
    %q = llvm.getelementptr %p[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, !cute.int_tuple<"30">
    %v = llvm.load %q : !llvm.ptr<1> -> i8
    llvm.store %v, %p : i8, !llvm.ptr<1>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @within(%p: !llvm.ptr<1>, %i: i32) kernel {
    // expected-error @below {{'llvm.getelementptr' op has the type !cute.int_tuple<"30">; expected a type that LLVM has}}
    %q = llvm.getelementptr %p[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, !llvm.array<4 x !cute.int_tuple<"30">>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @long(%p: !llvm.ptr<1>, %q: !llvm.ptr<1>) kernel {
    // expected-error @below {{'llvm.load' op has the type vector<1099511627776xi32>; expected a vector of at most 4096 elements}}
    %v = llvm.load %p {alignment = 16 : i64} : !llvm.ptr<1> -> vector<1099511627776xi32>
    llvm.store %v, %q {alignment = 16 : i64} : vector<1099511627776xi32>, !llvm.ptr<1>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error @below {{'gpu.func' op has the type vector<100000xf32>; expected a vector of at most 4096 elements}}
  gpu.func @reduced(%p: !llvm.ptr<1>, %v: vector<100000xf32>) kernel {
    %a = vector.reduction <add>, %v : vector<100000xf32> into f32
    llvm.store %a, %p : f32, !llvm.ptr<1>
    gpu.return
  }
}

// -----

gpu.module @kernels {
  // expected-error @below {{'gpu.func' op has the type i4096; expected an integer of at most 128 bits}}
  gpu.func @wide(%i: i4096) kernel {
    gpu.return
  }
}

// -----

// A tensor that a branch gives has no address that is known.
!s = !cute.memref<f32, smem, align<16>, "(128,8):(1,128)">
gpu.module @kernels {
  gpu.func @chosen(%i: i1) kernel {
    %a = cute.memref.alloca() {offset = 0 : i64} : !s
    %b = cute.memref.alloca() {offset = 4096 : i64} : !s
    %x = scf.if %i -> !s {
      // expected-error @below {{'scf.yield' op takes a value of type !cute.memref<f32, smem, align<16>, "(128,8):(1,128)">, which has no form of its own on the level below}}
      scf.yield %a : !s
    } else {
      scf.yield %b : !s
    }
    gpu.return
  }
}

// -----

gpu.module @kernels {
  func.func private @load(%x: f32, %c: !cute.coord<"?">) -> f32 {
    return %x : f32
  }
  gpu.func @called(%x: f32, %p: !llvm.ptr<1>) kernel {
    %tx = gpu.thread_id x
    %t = arith.index_cast %tx : index to i32
    %c = cute.make_coord(%t) : (i32) -> !cute.coord<"?">
    // expected-error @below {{'func.call' op takes a value of type !cute.coord<"?">, which has no form of its own on the level below}}
    %w = func.call @load(%x, %c) : (f32, !cute.coord<"?">) -> f32
    llvm.store %w, %p : f32, !llvm.ptr<1>
    gpu.return
  }
}

// -----

// The tensor of a kernel itself, whose place a pointer takes.
gpu.module @kernels {
  func.func private @clear(!cute.memref<f32, gmem, "8:1">)
  gpu.func @argument(%t: !cute.memref<f32, gmem, "8:1">) kernel {
    // expected-error @below {{'func.call' op takes a value of type !cute.memref<f32, gmem, "8:1">, which has no form of its own on the level below}}
    func.call @clear(%t) : (!cute.memref<f32, gmem, "8:1">) -> ()
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @some_lanes(%x: f32) kernel {
    %c1 = arith.constant 1 : i32
    %c8 = arith.constant 8 : i32
    // expected-error @below {{'gpu.shuffle' op expected the constant 32 as its width, found 8: of another one the lanes behind it have no part in the instruction}}
    %y, %valid = gpu.shuffle xor %x, %c1, %c8 : f32
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @any_lanes(%x: f32, %w: i32) kernel {
    %c1 = arith.constant 1 : i32
    // expected-error @below {{'gpu.shuffle' op expected the constant 32 as its width, found one that is no constant}}
    %y, %valid = gpu.shuffle down %x, %c1, %w : f32
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @warp_of_a_thread() kernel {
    // expected-error @below {{'gpu.subgroup_id' has no instruction; divide the index of the thread in its block by 32: gpu.thread_id x, where a block has one dimension}}
    %0 = gpu.subgroup_id : index
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @size_of_a_warp() kernel {
    // expected-error @below {{'gpu.subgroup_size' has no instruction; write 32 in its place}}
    %0 = gpu.subgroup_size : index
    gpu.return
  }
}

// -----

gpu.module @kernels {
  gpu.func @remainder(%x: f32, %y: f32) kernel {
    // expected-error @below {{'arith.remf' has no instruction; write x - trunc(x / y) * y with arith.divf, math.trunc and math.fma}}
    %0 = arith.remf %x, %y : f32
    gpu.return
  }
}

// -----

// A tensor that a branch gives has no address that is known.
!s = !cute.memref<f32, smem, align<16>, "(128,8):(1,128)">
gpu.module @kernels {
  gpu.func @chosen(%i: i1) kernel {
    %a = cute.memref.alloca() {offset = 0 : i64} : !s
    %b = cute.memref.alloca() {offset = 4096 : i64} : !s
    %x = scf.if %i -> !s {
      // expected-error @below {{'scf.yield' op takes a value of type !cute.memref<f32, smem, align<16>, "(128,8):(1,128)">, which has no form of its own on the level below}}
      scf.yield %a : !s
    } else {
      scf.yield %b : !s
    }
    gpu.return
  }
}

// -----

// A tensor in shared memory that is one of two.
!s = !cute.memref<f32, smem, align<16>, "128:1">
gpu.module @kernels {
  gpu.func @chosen(%which: i1, %x: f32) kernel {
    %a = cute.memref.alloca() {offset = 0 : i64} : !s
    %b = cute.memref.alloca() {offset = 512 : i64} : !s
    // expected-error @below {{'arith.select' op takes a value of type !cute.memref<f32, smem, align<16>, "128:1">, which has no form of its own on the level below; expected it to be used where it is made: let branches, loops and calls hand on integers, and make coordinates and tensors of them there}}
    %s = arith.select %which, %a, %b : !s
    %c = cute.static : !cute.coord<"1">
    cute.memref.store(%s, %c, %x) : (!s, !cute.coord<"1">, f32) -> ()
    gpu.return
  }
}

// -----

!s = !cute.memref<f32, smem, align<16>, "128:1">
gpu.module @kernels {
  gpu.func @carried(%n: index, %x: f32) kernel {
    %a = cute.memref.alloca() {offset = 0 : i64} : !s
    %b = cute.memref.alloca() {offset = 512 : i64} : !s
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    // expected-error @below {{'scf.for' op takes a value of type !cute.memref<f32, smem, align<16>, "128:1">, which has no form of its own}}
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%s = %a, %t = %b) -> (!s, !s) {
      %c = cute.static : !cute.coord<"1">
      cute.memref.store(%s, %c, %x) : (!s, !cute.coord<"1">, f32) -> ()
      scf.yield %t, %s : !s, !s
    }
    gpu.return
  }
}
