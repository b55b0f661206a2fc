// A linear layer of 256 features and its gradients, for any number of rows that 8 divides: what a framework calls by name.
// examples/python/tvm_ffi_pytorch.py makes an operation of PyTorch of it.
//
//     cute-opt examples/linear_layer.mlir --cute-compile="arch=sm_90a package=linear_layer.cutepkg" -o /dev/null
//     cute-run linear_layer.cutepkg --export out

!rows = !cute.memref<f16, gmem, align<16>, "(?{div=8},256):(256,1)">
!weight = !cute.memref<f16, gmem, align<16>, "(256,256):(256,1)">
// The same tensors with their modes exchanged, as `tensor.t()` gives them.
!columns = !cute.memref<f16, gmem, align<16>, "(256,?{div=8}):(1,256)">
!transposed = !cute.memref<f16, gmem, align<16>, "(256,256):(1,256)">

// y = x w^T
func.func @forward(%x: !rows {cute.name = "x"}, %w: !weight {cute.name = "w"}, %y: !rows {cute.name = "y"}) {
  cute.contract ins(%x, %w) outs(%y) accumulate f32
  return
}

// dx = dy w
func.func @input_gradient(%dy: !rows {cute.name = "dy"}, %w: !transposed {cute.name = "w"}, %dx: !rows {cute.name = "dx"}) {
  cute.contract ins(%dy, %w) outs(%dx) accumulate f32
  return
}

// dw = dy^T x
func.func @weight_gradient(%dy: !columns {cute.name = "dy"}, %x: !columns {cute.name = "x"}, %dw: !weight {cute.name = "dw"}) {
  cute.contract ins(%dy, %x) outs(%dw) accumulate f32
  return
}
