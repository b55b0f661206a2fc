// C that is A or B as well: a block would read what another one has overwritten, and the kernel's
// arguments say that they do not overlap.
//
// RUN: cute-opt %s --cute-tile="arch=sm_80" --verify-diagnostics -o /dev/null

!t = !cute.memref<f16, gmem, align<16>, "(64,64):(64,1)">
func.func @in_place(%A: !t, %C: !t) {
  // expected-error-re @below {{'cute.contract' op {{.*}}C}}
  cute.contract ins(%C, %A : !t, !t) outs(%C : !t) accumulate f32
  return
}
