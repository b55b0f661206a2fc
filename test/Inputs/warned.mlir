!t = !cute.memref<f32, gmem, align<16>, "64:1">
module attributes {gpu.container_module} {
func.func @f(%A: !t) {
  %one = arith.constant 1 : index
  %warp = arith.constant 32 : index
  %none = arith.constant 0 : i32
  gpu.launch_func @kernels::@kernel blocks in (%one, %one, %one) threads in (%warp, %one, %one) dynamic_shared_memory_size %none args(%A : !t)
  return
}
gpu.module @kernels [#nvvm.target<chip = "sm_80">] {
  gpu.func @kernel(%A: !t) kernel attributes {known_block_size = array<i32: 32, 1, 1>, cute.synchronize} {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %many = arith.constant 8 : i32
    %at = cute.make_coord() : () -> !cute.coord<"3">
    %v = arith.constant 1.0 : f32
    scf.for %i = %zero to %many step %one : i32 {
      cute.memref.store(%A, %at, %v) : (!t, !cute.coord<"3">, f32) -> ()
    } {cute.stages = 2 : i64}
    gpu.return
  }
}
}
