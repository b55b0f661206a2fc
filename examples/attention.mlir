// Attention: O = softmax(scale Q K^T) V, for each head of each batch, as one op on whole tensors and one kernel of it.
//
// The region says what the element of O is for a query m and a column e of V, by sums over the keys n and over the depth d. Its modes are (batch, head, m, n, d, e), and a tensor has the
// stride 0 along those that it does not have. A sum of products of f16 that f32 holds exactly is a product by tensor cores, so both are. What is inside, the scores and the
// softmax, is in registers only: a block takes 64 queries and goes over the keys 64 at a time; with a larger maximum, what was summed up is multiplied by the power that makes up for it. The same
// kernel by hand is `examples/kernels/attention.mlir`. `cute-run` verifies O by the region.
//
// RUN: cute-opt %s --cute-compile="arch=sm_90a package=%t.cutepkg" -o /dev/null
// RUN: cute-run %t.cutepkg --device=emulator --function=attention --shape Q=1x2x64x64x64x64 --shape K=1x2x64x64x64x64 --shape V=1x2x64x64x64x64 --shape O=1x2x64x64x64x64
// RUN: cute-run %t.cutepkg --device=emulator --function=attention --seeds 2 --shape Q=2x1x33x200x64x64 --shape K=2x1x33x200x64x64 --shape V=2x1x33x200x64x64 --shape O=2x1x33x200x64x64
// RUN: cute-run %t.cutepkg --device=emulator --function=swiglu --shape X=70x136x128 --shape G=70x136x128 --shape U=70x136x128 --shape Y=70x136x128
//
// On a GPU: cute-run attention.cutepkg --function=attention --bench --shape Q=1x16x8192x8192x64x64 ..., as above

!q = !cute.memref<f16, gmem, align<16>, "(?,?,?,?,64,64):(?{div=8},?{div=8},64,0,1,0)">
!k = !cute.memref<f16, gmem, align<16>, "(?,?,?,?,64,64):(?{div=8},?{div=8},0,64,1,0)">
!v = !cute.memref<f16, gmem, align<16>, "(?,?,?,?,64,64):(?{div=8},?{div=8},0,64,0,1)">
!o = !cute.memref<f16, gmem, align<16>, "(?,?,?,?,64,64):(?{div=8},?{div=8},64,0,0,1)">

func.func @attention(%Q: !q {cute.name = "Q"}, %K: !k {cute.name = "K"}, %V: !v {cute.name = "V"}, %O: !o {cute.name = "O"},
                     %scale: f32 {cute.name = "scale", cute.default = 0.125 : f32}) {
  cute.map ins(%Q, %K, %V) outs(%O) {
  ^bb0(%q: f16, %k: f16, %v: f16):
    %q32 = arith.extf %q : f16 to f32
    %k32 = arith.extf %k : f16 to f32
    %qk = arith.mulf %q32, %k32 : f32
    %dot = cute.all_reduce "add" %qk along [4] : f32
    %score = arith.mulf %dot, %scale : f32
    %largest = cute.all_reduce "maximum" %score along [3] : f32
    %below = arith.subf %score, %largest : f32
    %power = math.exp %below : f32
    %sum = cute.all_reduce "add" %power along [3] : f32
    %p = arith.truncf %power : f32 to f16
    %p32 = arith.extf %p : f16 to f32
    %v32 = arith.extf %v : f16 to f32
    %pv = arith.mulf %p32, %v32 : f32
    %weighted = cute.all_reduce "add" %pv along [3] : f32
    %mean = arith.divf %weighted, %sum : f32
    %o = arith.truncf %mean : f32 to f16
    cute.yield %o : f16
  }
  return
}

// Y = silu(X G^T) * (X U^T): two products of one factor, and what is made of both, without either in memory. Modes (m, n, k).
!x = !cute.memref<bf16, gmem, align<16>, "(?,?,128):(128,0,1)">
!w = !cute.memref<bf16, gmem, align<16>, "(?,?,128):(0,128,1)">
!y = !cute.memref<bf16, gmem, align<16>, "(?,?{div=8},128):(?{div=8},1,0)">

func.func @swiglu(%X: !x {cute.name = "X"}, %G: !w {cute.name = "G"}, %U: !w {cute.name = "U"}, %Y: !y {cute.name = "Y"}) {
  cute.map ins(%X, %G, %U) outs(%Y) {
  ^bb0(%x: bf16, %g: bf16, %u: bf16):
    %one = arith.constant 1.0 : f32
    %x32 = arith.extf %x : bf16 to f32
    %g32 = arith.extf %g : bf16 to f32
    %u32 = arith.extf %u : bf16 to f32
    %xg = arith.mulf %x32, %g32 : f32
    %xu = arith.mulf %x32, %u32 : f32
    %gate = cute.all_reduce "add" %xg along [2] : f32
    %up = cute.all_reduce "add" %xu along [2] : f32
    %less = arith.negf %gate : f32
    %power = math.exp %less : f32
    %beside = arith.addf %power, %one : f32
    %silu = arith.divf %gate, %beside : f32
    %out = arith.mulf %silu, %up : f32
    %y = arith.truncf %out : f32 to bf16
    cute.yield %y : bf16
  }
  return
}
