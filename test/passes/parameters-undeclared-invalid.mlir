// A pass says of a function whose arguments name a parameter that nothing declares.
// RUN: cute-opt %s --cute-tile=arch=sm_80 --verify-diagnostics

// expected-error @below {{cute-tile expects values in the places of parameters, found T in an argument of type !cute.memref<!cute.param<"T">, gmem, align<16>, "(?,?):(?,1)">, which nothing around it declares; declare it in cute.parameters, and run cute-instantiate before}}
func.func @copy(%x: !cute.memref<!cute.param<"T">, gmem, align<16>, "(?,?):(?,1)">, %y: !cute.memref<!cute.param<"T">, gmem, align<16>, "(?,?):(?,1)">) {
  cute.map ins(%x : !cute.memref<!cute.param<"T">, gmem, align<16>, "(?,?):(?,1)">)
      outs(%y : !cute.memref<!cute.param<"T">, gmem, align<16>, "(?,?):(?,1)">) {
  ^bb0(%e: f16, %o: f16):
    cute.yield %e : f16
  }
  return
}
