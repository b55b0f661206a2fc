// What a kernel would compute otherwise than its text says is refused at the op: rounding that conversions do not have, indices of more than 32 bits.
//
// RUN: cute-opt %s --cute-check --split-input-file --verify-diagnostics

gpu.module @k {
  gpu.func @upward(%x: f32) kernel {
    // The mode that conversions have may be written.
    %y = arith.truncf %x to_nearest_even : f32 to f16
    // expected-error @below {{expected 'arith.truncf' with the rounding mode to_nearest_even, or with none, which is the same, as that is how conversions round; found upward; take it away, or write an instruction that rounds so, such as cvt.rz.f16.f32, by llvm.inline_asm}}
    %z = arith.truncf %x upward : f32 to f16
    gpu.return
  }
}

// -----

!s = !cute.memref<f32, rmem, "8:1">
!d = !cute.memref<f16, rmem, "8:1">
gpu.module @k {
  gpu.func @in_a_region() kernel {
    %s = cute.memref.alloca() : !s
    %d = cute.memref.alloca() : !d
    cute.transform(%s, %d) : (!s, !d) {
    ^bb0(%x: f32):
      // expected-error @below {{found toward_zero; take it away}}
      %y = arith.truncf %x toward_zero : f32 to f16
      cute.yield %y : f16
    }
    gpu.return
  }
}

// -----

gpu.module @k {
  func.func @called(%x: f32) -> bf16 {
    // expected-error @below {{found to_nearest_away; take it away}}
    %y = arith.truncf %x to_nearest_away : f32 to bf16
    return %y : bf16
  }
}

// -----

gpu.module @k {
  gpu.func @wide() kernel {
    %least = arith.constant -2147483648 : index
    %most = arith.constant 2147483647 : index
    %wide = arith.constant 5000000000 : i64
    // expected-error @below {{expected an index that 32 bits with a sign hold, which an index of a kernel has, found 5000000000; compute with i64}}
    %c = arith.constant 5000000000 : index
    gpu.return
  }
}

// -----

gpu.module @k {
  gpu.func @below() kernel {
    // expected-error @below {{found -2147483649; compute with i64}}
    %c = arith.constant -2147483649 : index
    gpu.return
  }
}
