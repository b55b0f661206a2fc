// A defect of MLIR 22: WhileMoveIfDown moves the branch into the second region of the loop, where what it yields of the first one is
// out of reach. The fuzzer leaves that pattern out (docs/fuzzing.md); once the first line fails, it need not.
// RUN: not cute-opt %s --canonicalize 2>&1 | FileCheck %s --check-prefix=MOVED
// RUN: cute-opt %s --canonicalize="disable-patterns={(anonymous namespace)::WhileMoveIfDown}" | FileCheck %s

// MOVED: error: operand #0 does not dominate this use

// CHECK: scf.while
// CHECK: arith.addi
// CHECK: scf.if
// CHECK: scf.condition
func.func private @use(i32)
func.func @f(%c: i1, %n: i32) {
  scf.while (%x = %n) : (i32) -> i32 {
    %v = arith.addi %x, %n : i32
    %y = scf.if %c -> i32 {
      func.call @use(%x) : (i32) -> ()
      scf.yield %v : i32
    } else {
      scf.yield %x : i32
    }
    scf.condition(%c) %y : i32
  } do {
  ^bb0(%z: i32):
    scf.yield %z : i32
  }
  return
}
