// Loops that never end by what their bounds and their steps say are refused; those that are written out have no counter that could run over.
//
// RUN: cute-opt %s --cute-check --split-input-file --verify-diagnostics
// RUN: not cute-opt %s --cute-expand-pipeline --split-input-file -o /dev/null 2>&1 | FileCheck %s --check-prefix=EXPAND
// RUN: not cute-opt %s --cute-fragments-to-values --split-input-file -o /dev/null 2>&1 | FileCheck %s --check-prefix=UNROLL

gpu.module @k {
  gpu.func @still(%n: i32) kernel {
    %zero = arith.constant 0 : i32
    // expected-error @below {{expected a loop that counts up, by a step of at least 1, found one by 0; count up, and compute of the counter what is to go down}}
    scf.for %i = %zero to %n step %zero : i32 {
    }
    gpu.return
  }
}

// -----

gpu.module @k {
  gpu.func @down(%n: index) kernel {
    %zero = arith.constant 0 : index
    %step = arith.constant -1 : index
    // expected-error @below {{expected a loop that counts up, by a step of at least 1, found one by -1}}
    scf.for %i = %n to %zero step %step {
    }
    gpu.return
  }
}

// -----

// The same is said of loops that are pipelined, and that are written out.
gpu.module @k {
  gpu.func @in_flight(%n: i32) kernel attributes {cute.synchronize} {
    %zero = arith.constant 0 : i32
    %step = arith.constant -2 : i32
    %p, %free = cute.pipeline.create : !cute.pipeline<2>, !cute.token
    // EXPAND: expected a loop that counts up, by a step of at least 1, found one by -2
    // expected-error @below {{expected a loop that counts up, by a step of at least 1, found one by -2}}
    scf.for %i = %zero to %n step %step : i32 {
      %slot = cute.pipeline.producer_acquire(%p, %free, %i) {cute.stage = 0 : i32, cute.order = 0 : i32} : !cute.pipeline<2>
    }
    gpu.return
  }
}

// -----

gpu.module @k {
  gpu.func @written_out(%n: i32) kernel {
    %zero = arith.constant 0 : i32
    %four = arith.constant 4 : i32
    %step = arith.constant -3 : i32
    // UNROLL: expected a loop that counts up, by a step of at least 1, found one by -3
    // expected-error @below {{expected a loop that counts up, by a step of at least 1, found one by -3}}
    scf.for %i = %four to %zero step %step : i32 {
    } {cute.unroll}
    gpu.return
  }
}

// -----

gpu.module @k {
  gpu.func @runs_over() kernel {
    %from = arith.constant 2147483640 : i32
    %to = arith.constant 2147483647 : i32
    %step = arith.constant 3 : i32
    // expected-error @below {{expected a loop whose counter, behind the last turn, is at most the largest i32, 2147483647; found bounds 2147483640 to 2147483647 in steps of 3, by which it becomes 2147483649; count in a wider type, or from 0 on}}
    scf.for %i = %from to %to step %step : i32 {
    }
    gpu.return
  }
}

// -----

// An index has 32 bits.
gpu.module @k {
  gpu.func @index() kernel {
    %from = arith.constant 2147483640 : index
    %to = arith.constant 2147483647 : index
    %step = arith.constant 3 : index
    // expected-error @below {{is at most the largest index, 2147483647; found}}
    scf.for %i = %from to %to step %step {
    }
    gpu.return
  }
}

// -----

gpu.module @k {
  gpu.func @unsigned() kernel {
    %from = arith.constant -8 : i32
    %to = arith.constant -1 : i32
    %step = arith.constant 3 : i32
    // expected-error @below {{is at most the largest i32, 4294967295; found bounds -8 to -1 in steps of 3, by which it becomes 4294967297}}
    scf.for unsigned %i = %from to %to step %step : i32 {
    }
    gpu.return
  }
}

// -----

gpu.module @k {
  gpu.func @sound() kernel {
    %from = arith.constant 2147483640 : i32
    %to = arith.constant 2147483647 : i32
    %one = arith.constant 1 : i32
    %step = arith.constant 3 : i32
    %wide_from = arith.constant 2147483640 : i64
    %wide_to = arith.constant 2147483647 : i64
    %wide_step = arith.constant 3 : i64
    // It ends at the largest number.
    scf.for %i = %from to %to step %one : i32 {
    }
    // No turn.
    scf.for %i = %to to %from step %step : i32 {
    }
    scf.for %i = %wide_from to %wide_to step %wide_step : i64 {
    }
    scf.for %i = %from to %to step %step : i32 {
    } {cute.unroll}
    gpu.return
  }
}
