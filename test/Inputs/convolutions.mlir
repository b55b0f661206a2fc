// Convolutions as products of a filter and of a tensor at coordinates, and rows by index; small, for the emulator.
//
// Activations X (C,W,H,N), filters F (K,(C,S,R)), results Y ((Q,P,N),K).
!x = !cute.memref<f16, gmem, align<16>, "(16,14,10,2):(1,16,224,2240)">
!f = !cute.memref<f16, gmem, align<16>, "(24,(16,3,3)):(144,(1,16,48))">
!y = !cute.memref<f16, gmem, align<16>, "(280,24):(24,1)">
!bias = !cute.memref<f16, gmem, align<16>, "(280,24):(0,1)">

// Padding of 1, so that the result has the size of the input; bias and ReLU.
!same = !cute.coord_tensor<"(0,-1,-1,0)", "((14,10,2),(16,3,3)):((1@1,1@2,1@3),(1@0,1@1,1@2))">
func.func @same(%X: !x, %F: !f, %Y: !y, %bias: !bias) {
  %o = cute.static : !cute.int_tuple<"(0,-1,-1,0)">
  %i = cute.make_arith_tuple_iter(%o) : (!cute.int_tuple<"(0,-1,-1,0)">) -> !cute.arith_tuple_iter<"(0,-1,-1,0)">
  %at = cute.make_view(%i) : !same
  cute.contract ins(%X, %F : !x, !f) outs(%Y : !y) accumulate f32 at A(%at : !same) epilogue ins(%bias : !bias) {
  ^bb0(%sum: f32, %b: f16):
    %zero = arith.constant 0.0 : f32
    %wide = arith.extf %b : f16 to f32
    %moved = arith.addf %sum, %wide : f32
    %kept = arith.maximumf %moved, %zero : f32
    %c = arith.truncf %kept : f32 to f16
    cute.yield %c : f16
  }
  return
}

// Steps of 2: 7 by 5 results.
!ys = !cute.memref<f32, gmem, align<16>, "(70,24):(24,1)">
!xb = !cute.memref<bf16, gmem, align<16>, "(16,14,10,2):(1,16,224,2240)">
!fb = !cute.memref<bf16, gmem, align<16>, "(24,(16,3,3)):(144,(1,16,48))">
!strided = !cute.coord_tensor<"(0,-1,-1,0)", "((7,5,2),(16,3,3)):((2@1,2@2,1@3),(1@0,1@1,1@2))">
func.func @strided(%X: !xb, %F: !fb, %Y: !ys) {
  %o = cute.static : !cute.int_tuple<"(0,-1,-1,0)">
  %i = cute.make_arith_tuple_iter(%o) : (!cute.int_tuple<"(0,-1,-1,0)">) -> !cute.arith_tuple_iter<"(0,-1,-1,0)">
  %at = cute.make_view(%i) : !strided
  cute.contract ins(%X, %F : !xb, !fb) outs(%Y : !ys) accumulate f32 at A(%at : !strided)
  return
}

// Taps that are 2 apart, padding of 2.
!dilated = !cute.coord_tensor<"(0,-2,-2,0)", "((14,10,2),(16,3,3)):((1@1,1@2,1@3),(1@0,2@1,2@2))">
func.func @dilated(%X: !x, %F: !f, %Y: !y) {
  %o = cute.static : !cute.int_tuple<"(0,-2,-2,0)">
  %i = cute.make_arith_tuple_iter(%o) : (!cute.int_tuple<"(0,-2,-2,0)">) -> !cute.arith_tuple_iter<"(0,-2,-2,0)">
  %at = cute.make_view(%i) : !dilated
  cute.contract ins(%X, %F : !x, !f) outs(%Y : !y) accumulate f32 at A(%at : !dilated)
  return
}

// One tap, steps of 2: nothing is outside, and nothing is compared.
!f1 = !cute.memref<f16, gmem, align<16>, "(24,16):(16,1)">
!y1 = !cute.memref<f16, gmem, align<16>, "(70,24):(24,1)">
!pointwise = !cute.coord_tensor<"(0,0,0,0)", "((7,5,2),16):((2@1,2@2,1@3),1@0)">
func.func @pointwise(%X: !x, %F: !f1, %Y: !y1) {
  %o = cute.static : !cute.int_tuple<"(0,0,0,0)">
  %i = cute.make_arith_tuple_iter(%o) : (!cute.int_tuple<"(0,0,0,0)">) -> !cute.arith_tuple_iter<"(0,0,0,0)">
  %at = cute.make_view(%i) : !pointwise
  cute.contract ins(%X, %F : !x, !f1) outs(%Y : !y1) accumulate f32 at A(%at : !pointwise)
  return
}

// Two groups of 8 channels and 12 filters: the batch.
!fg = !cute.memref<f16, gmem, align<16>, "(12,(8,3,3),2):(72,(1,8,24),864)">
!yg = !cute.memref<f16, gmem, align<8>, "(280,12,2):(24,1,12)">
!grouped = !cute.coord_tensor<"(0,-1,-1,0)", "((14,10,2),(8,3,3),2):((1@1,1@2,1@3),(1@0,1@1,1@2),8@0)">
func.func @grouped(%X: !x, %F: !fg, %Y: !yg) {
  %o = cute.static : !cute.int_tuple<"(0,-1,-1,0)">
  %i = cute.make_arith_tuple_iter(%o) : (!cute.int_tuple<"(0,-1,-1,0)">) -> !cute.arith_tuple_iter<"(0,-1,-1,0)">
  %at = cute.make_view(%i) : !grouped
  cute.contract ins(%X, %F : !x, !fg) outs(%Y : !yg) accumulate f32 at A(%at : !grouped)
  return
}

// Three dimensions: X (C,W,H,D,N), taps (S,R,T).
!x3 = !cute.memref<f16, gmem, align<16>, "(8,6,5,4,2):(1,8,48,240,960)">
!f3 = !cute.memref<f16, gmem, align<16>, "(16,(8,3,3,3)):(216,(1,8,24,72))">
!y3 = !cute.memref<f16, gmem, align<16>, "(240,16):(16,1)">
!cube = !cute.coord_tensor<"(0,-1,-1,-1,0)", "((6,5,4,2),(8,3,3,3)):((1@1,1@2,1@3,1@4),(1@0,1@1,1@2,1@3))">
func.func @three(%X: !x3, %F: !f3, %Y: !y3) {
  %o = cute.static : !cute.int_tuple<"(0,-1,-1,-1,0)">
  %i = cute.make_arith_tuple_iter(%o) : (!cute.int_tuple<"(0,-1,-1,-1,0)">) -> !cute.arith_tuple_iter<"(0,-1,-1,-1,0)">
  %at = cute.make_view(%i) : !cube
  cute.contract ins(%X, %F : !x3, !f3) outs(%Y : !y3) accumulate f32 at A(%at : !cube)
  return
}

// Neighbours along W: X (W,H,C,N), elements one by one.
!xw = !cute.memref<f32, gmem, align<4>, "(7,5,6,2):(1,7,35,210)">
!fw = !cute.memref<f32, gmem, align<4>, "(9,(3,3,6)):(54,(1,3,9))">
!yw = !cute.memref<f32, gmem, align<4>, "((7,5,2),9):((1,7,315),35)">
!planes = !cute.coord_tensor<"(-1,-1,0,0)", "((7,5,2),(3,3,6)):((1@0,1@1,1@3),(1@0,1@1,1@2))">
func.func @planes(%X: !xw, %F: !fw, %Y: !yw) {
  %o = cute.static : !cute.int_tuple<"(-1,-1,0,0)">
  %i = cute.make_arith_tuple_iter(%o) : (!cute.int_tuple<"(-1,-1,0,0)">) -> !cute.arith_tuple_iter<"(-1,-1,0,0)">
  %at = cute.make_view(%i) : !planes
  cute.contract ins(%X, %F : !xw, !fw) outs(%Y : !yw) accumulate f32 at A(%at : !planes)
  return
}

// Bytes, with a filter of 5 by 1.
!x8 = !cute.memref<i8, gmem, align<16>, "(32,9,4,1):(1,32,288,1152)">
!f8 = !cute.memref<i8, gmem, align<16>, "(16,(32,5)):(160,(1,32))">
!y8 = !cute.memref<i32, gmem, align<16>, "(36,16):(16,1)">
!bytes = !cute.coord_tensor<"(0,-2,0,0)", "((9,4,1),(32,5)):((1@1,1@2,1@3),(1@0,1@1))">
func.func @bytes(%X: !x8, %F: !f8, %Y: !y8) {
  %o = cute.static : !cute.int_tuple<"(0,-2,0,0)">
  %i = cute.make_arith_tuple_iter(%o) : (!cute.int_tuple<"(0,-2,0,0)">) -> !cute.arith_tuple_iter<"(0,-2,0,0)">
  %at = cute.make_view(%i) : !bytes
  cute.contract ins(%X, %F : !x8, !f8) outs(%Y : !y8) accumulate i32 at A(%at : !bytes)
  return
}

// The gradient of the filter: K is (Q,P,N), and B the input at the coordinates of the taps.
!dy = !cute.memref<f16, gmem, align<16>, "(24,280):(1,24)">
!df = !cute.memref<f32, gmem, align<16>, "(24,144):(144,1)">
!taps = !cute.coord_tensor<"(0,-1,-1,0)", "((16,3,3),(14,10,2)):((1@0,1@1,1@2),(1@1,1@2,1@3))">
func.func @filter_gradient(%dY: !dy, %X: !x, %dF: !df) {
  %o = cute.static : !cute.int_tuple<"(0,-1,-1,0)">
  %i = cute.make_arith_tuple_iter(%o) : (!cute.int_tuple<"(0,-1,-1,0)">) -> !cute.arith_tuple_iter<"(0,-1,-1,0)">
  %at = cute.make_view(%i) : !taps
  cute.contract ins(%dY, %X : !dy, !x) outs(%dF : !df) accumulate f32 at B(%at : !taps)
  return
}

// The gradient of the input: steps back, of the result's gradient dY (K,Q,P,N) and of the filter as (C,(K,S,R)).
!dyt = !cute.memref<f16, gmem, align<16>, "(24,14,10,2):(1,24,336,3360)">
!ft = !cute.memref<f16, gmem, align<16>, "(16,(24,3,3)):(1,(144,16,48))">
!dx = !cute.memref<f16, gmem, align<16>, "(280,16):(16,1)">
!back = !cute.coord_tensor<"(0,1,1,0)", "((14,10,2),(24,3,3)):((1@1,1@2,1@3),(1@0,-1@1,-1@2))">
func.func @gradient(%dY: !dyt, %F: !ft, %dX: !dx) {
  %o = cute.static : !cute.int_tuple<"(0,1,1,0)">
  %i = cute.make_arith_tuple_iter(%o) : (!cute.int_tuple<"(0,1,1,0)">) -> !cute.arith_tuple_iter<"(0,1,1,0)">
  %at = cute.make_view(%i) : !back
  cute.contract ins(%dY, %F : !dyt, !ft) outs(%dX : !dx) accumulate f32 at A(%at : !back)
  return
}

// The gradient of the input of a convolution in steps of 2: a product for each parity of W and H, of the taps that meet there, and
// each writes its part of dX (C,W,H,N). Filters are F (C,S,R,K).
!dys = !cute.memref<f16, gmem, align<16>, "(24,7,5,2):(1,24,168,840)">
!fs = !cute.memref<f16, gmem, align<16>, "(16,3,3,24):(1,16,48,144)">
!dxs = !cute.memref<f16, gmem, align<16>, "(16,14,10,2):(1,16,224,2240)">
!a00 = !cute.coord_tensor<"(0,0,0,0)", "((7,5,2),(24,1,1)):((1@1,1@2,1@3),(1@0,0,0))">
!a10 = !cute.coord_tensor<"(0,1,0,0)", "((7,5,2),(24,2,1)):((1@1,1@2,1@3),(1@0,-1@1,0))">
!a01 = !cute.coord_tensor<"(0,0,1,0)", "((7,5,2),(24,1,2)):((1@1,1@2,1@3),(1@0,0,-1@2))">
!a11 = !cute.coord_tensor<"(0,1,1,0)", "((7,5,2),(24,2,2)):((1@1,1@2,1@3),(1@0,-1@1,-1@2))">
!b00 = !cute.coord_tensor<"(0,1,1,0)", "(16,(24,1,1)):(1@0,(1@3,0,0))">
!b10 = !cute.coord_tensor<"(0,0,1,0)", "(16,(24,2,1)):(1@0,(1@3,2@1,0))">
!b01 = !cute.coord_tensor<"(0,1,0,0)", "(16,(24,1,2)):(1@0,(1@3,0,2@2))">
!b11 = !cute.coord_tensor<"(0,0,0,0)", "(16,(24,2,2)):(1@0,(1@3,2@1,2@2))">
!c00 = !cute.coord_tensor<"(0,0,0,0)", "((7,5,2),16):((2@1,2@2,1@3),1@0)">
!c10 = !cute.coord_tensor<"(0,1,0,0)", "((7,5,2),16):((2@1,2@2,1@3),1@0)">
!c01 = !cute.coord_tensor<"(0,0,1,0)", "((7,5,2),16):((2@1,2@2,1@3),1@0)">
!c11 = !cute.coord_tensor<"(0,1,1,0)", "((7,5,2),16):((2@1,2@2,1@3),1@0)">
func.func @strided_gradient(%dY: !dys, %F: !fs, %dX: !dxs) {
  %o00 = cute.static : !cute.int_tuple<"(0,0,0,0)">
  %o10 = cute.static : !cute.int_tuple<"(0,1,0,0)">
  %o01 = cute.static : !cute.int_tuple<"(0,0,1,0)">
  %o11 = cute.static : !cute.int_tuple<"(0,1,1,0)">
  %i00 = cute.make_arith_tuple_iter(%o00) : (!cute.int_tuple<"(0,0,0,0)">) -> !cute.arith_tuple_iter<"(0,0,0,0)">
  %i10 = cute.make_arith_tuple_iter(%o10) : (!cute.int_tuple<"(0,1,0,0)">) -> !cute.arith_tuple_iter<"(0,1,0,0)">
  %i01 = cute.make_arith_tuple_iter(%o01) : (!cute.int_tuple<"(0,0,1,0)">) -> !cute.arith_tuple_iter<"(0,0,1,0)">
  %i11 = cute.make_arith_tuple_iter(%o11) : (!cute.int_tuple<"(0,1,1,0)">) -> !cute.arith_tuple_iter<"(0,1,1,0)">
  %a00 = cute.make_view(%i00) : !a00
  %a10 = cute.make_view(%i10) : !a10
  %a01 = cute.make_view(%i01) : !a01
  %a11 = cute.make_view(%i11) : !a11
  %b00 = cute.make_view(%i11) : !b00
  %b10 = cute.make_view(%i01) : !b10
  %b01 = cute.make_view(%i10) : !b01
  %b11 = cute.make_view(%i00) : !b11
  %c00 = cute.make_view(%i00) : !c00
  %c10 = cute.make_view(%i10) : !c10
  %c01 = cute.make_view(%i01) : !c01
  %c11 = cute.make_view(%i11) : !c11
  cute.contract ins(%dY, %F : !dys, !fs) outs(%dX : !dxs) accumulate f32 at A(%a00 : !a00) at B(%b00 : !b00) at C(%c00 : !c00)
  cute.contract ins(%dY, %F : !dys, !fs) outs(%dX : !dxs) accumulate f32 at A(%a10 : !a10) at B(%b10 : !b10) at C(%c10 : !c10)
  cute.contract ins(%dY, %F : !dys, !fs) outs(%dX : !dxs) accumulate f32 at A(%a01 : !a01) at B(%b01 : !b01) at C(%c01 : !c01)
  cute.contract ins(%dY, %F : !dys, !fs) outs(%dX : !dxs) accumulate f32 at A(%a11 : !a11) at B(%b11 : !b11) at C(%c11 : !c11)
  return
}

// Width, height and number of images that a launch brings; the rows of the result are all pixels.
!xo = !cute.memref<f16, gmem, align<16>, "(16,?,?,?):(1,?{div=8},?{div=8},?{div=8})">
!yo = !cute.memref<f16, gmem, align<16>, "(?,24):(?{div=8},1)">
!wo = !cute.coord_tensor<"(0,-1,-1,0)", "((?,?,?),(16,3,3)):((1@1,1@2,1@3),(1@0,1@1,1@2))">
func.func @open(%X: !xo, %F: !f, %Y: !yo) {
  %l = cute.get_layout(%X) : !xo
  %w, %h, %n, %s1, %s2, %s3 = cute.get_scalars(%l) {only_dynamic} : !cute.layout<"(16,?,?,?):(1,?{div=8},?{div=8},?{div=8})">
  %o = cute.static : !cute.int_tuple<"(0,-1,-1,0)">
  %i = cute.make_arith_tuple_iter(%o) : (!cute.int_tuple<"(0,-1,-1,0)">) -> !cute.arith_tuple_iter<"(0,-1,-1,0)">
  %shape = cute.make_shape(%w, %h, %n) : (i32, i32, i32) -> !cute.shape<"((?,?,?),(16,3,3))">
  %stride = cute.static : !cute.stride<"((1@1,1@2,1@3),(1@0,1@1,1@2))">
  %layout = cute.make_layout(%shape, %stride) : (!cute.shape<"((?,?,?),(16,3,3))">, !cute.stride<"((1@1,1@2,1@3),(1@0,1@1,1@2))">) -> !cute.layout<"((?,?,?),(16,3,3)):((1@1,1@2,1@3),(1@0,1@1,1@2))">
  %at = cute.make_view(%i, %layout) : !wo
  cute.contract ins(%X, %F : !xo, !f) outs(%Y : !yo) accumulate f32 at A(%at : !wo)
  return
}

// Rows of a table by index, with scales.
!t = !cute.memref<f16, gmem, align<16>, "(50,72):(72,1)">
!w = !cute.memref<f16, gmem, align<16>, "(40,72):(72,1)">
!r = !cute.memref<f16, gmem, align<16>, "(70,40):(40,1)">
!scale = !cute.memref<f32, gmem, align<4>, "(70,40):(1,0)">
!index = !cute.memref<i32, gmem, align<4>, "70:1">
func.func @rows(%T: !t, %W: !w, %C: !r, %I: !index, %scale: !scale) {
  cute.contract ins(%T, %W : !t, !w) outs(%C : !r) accumulate f32 gather A(%I : !index) epilogue ins(%scale : !scale) {
  ^bb0(%sum: f32, %s: f32):
    %y = arith.mulf %sum, %s : f32
    %c = arith.truncf %y : f32 to f16
    cute.yield %c : f16
  }
  return
}

// The rows of B by index, extents that only a launch knows, indices of 64 bits that are apart, and C column by column.
!to = !cute.memref<f32, gmem, align<4>, "(?,?):(?,1)">
!ro = !cute.memref<f32, gmem, align<4>, "(?,?):(1,?)">
!io = !cute.memref<i64, gmem, align<8>, "?:?">
func.func @columns(%A: !to, %T: !to, %C: !ro, %I: !io) {
  cute.contract ins(%A, %T : !to, !to) outs(%C : !ro) accumulate f32 gather B(%I : !io)
  return
}

// A batch of tables, each with its indices, of bytes that a prologue reads.
!tb = !cute.memref<i8, gmem, align<16>, "(30,48,3):(48,1,1440)">
!wb = !cute.memref<f16, gmem, align<16>, "(24,48,3):(48,1,1152)">
!rb = !cute.memref<f16, gmem, align<16>, "(20,24,3):(24,1,480)">
!ib = !cute.memref<i32, gmem, align<4>, "(20,3):(1,20)">
func.func @tables(%T: !tb, %W: !wb, %C: !rb, %I: !ib) {
  cute.contract ins(%T, %W : !tb, !wb) outs(%C : !rb) accumulate f32 gather A(%I : !ib) prologue A {
  ^bb0(%x: i8):
    %f = arith.sitofp %x : i8 to f16
    %one = arith.constant 1.0 : f16
    %y = arith.addf %f, %one : f16
    cute.yield %y : f16
  }
  return
}
