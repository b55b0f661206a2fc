// Products of all kinds of shapes and types, for test/compile/shapes.test.

!m0 = !cute.memref<f16, gmem, align<16>, "(129,72):(72,1)">
!n0 = !cute.memref<f16, gmem, align<16>, "(136,72):(72,1)">
!c0 = !cute.memref<f16, gmem, align<16>, "(129,136):(136,1)">
func.func @ragged(%A: !m0, %B: !n0, %C: !c0) {
  cute.contract ins(%A, %B : !m0, !n0) outs(%C : !c0) accumulate f32
  return
}

// Nothing is aligned to more than an element.
!m1 = !cute.memref<f16, gmem, "(37,41):(41,1)">
!n1 = !cute.memref<f16, gmem, "(35,41):(1,35)">
!c1 = !cute.memref<f16, gmem, "(37,35):(35,1)">
func.func @unaligned(%A: !m1, %B: !n1, %C: !c1) {
  cute.contract ins(%A, %B : !m1, !n1) outs(%C : !c1) accumulate f32
  return
}

// -----

// A by columns, B by rows of four bytes, C by columns.
!m2 = !cute.memref<bf16, gmem, align<16>, "(40,50):(1,40)">
!n2 = !cute.memref<bf16, gmem, align<4>, "(33,50):(50,1)">
!c2 = !cute.memref<f32, gmem, align<16>, "(40,33):(1,40)">
func.func @columns(%A: !m2, %B: !n2, %C: !c2) {
  cute.contract ins(%A, %B : !m2, !n2) outs(%C : !c2) accumulate f32
  return
}

// -----

// A batch of 3 x 2, of which the 2 share an A and the 3 a B.
!m3 = !cute.memref<f16, gmem, align<16>, "(20,24,(3,2)):(24,1,(480,0))">
!n3 = !cute.memref<f16, gmem, align<16>, "(18,24,(3,2)):(24,1,(0,432))">
!c3 = !cute.memref<f16, gmem, align<16>, "(20,18,(3,2)):(18,1,(360,1080))">
func.func @batch(%A: !m3, %B: !n3, %C: !c3) {
  cute.contract ins(%A, %B : !m3, !n3) outs(%C : !c3) accumulate f32
  return
}

// -----

// Whatever the launch brings, rows of 16 bytes.
!m4 = !cute.memref<f16, gmem, align<16>, "(?,?{div=8}):(?{div=8},1)">
func.func @rows(%A: !m4, %B: !m4, %C: !m4) {
  cute.contract ins(%A, %B : !m4, !m4) outs(%C : !m4) accumulate f32
  return
}

// -----

// Whatever it brings.
!m5 = !cute.memref<f16, gmem, "(?,?):(?,?)">
func.func @anything(%A: !m5, %B: !m5, %C: !m5) {
  cute.contract ins(%A, %B : !m5, !m5) outs(%C : !m5) accumulate f32
  return
}

// -----

// Extents of 64 bits.
!m6 = !cute.memref<f16, gmem, align<16>, "(?{i64},?{i64 div=8}):(?{i64 div=8},1)">
func.func @wide(%A: !m6, %B: !m6, %C: !m6) {
  cute.contract ins(%A, %B : !m6, !m6) outs(%C : !m6) accumulate f32
  return
}

// -----

// Other elements than those of 16 bits: A by columns, which ldmatrix does not transpose.
!m7 = !cute.memref<tf32, gmem, align<16>, "(36,44):(1,36)">
!n7 = !cute.memref<tf32, gmem, align<16>, "(20,44):(44,1)">
!c7 = !cute.memref<f32, gmem, align<16>, "(36,20):(20,1)">
func.func @tf32(%A: !m7, %B: !n7, %C: !c7) {
  cute.contract ins(%A, %B : !m7, !n7) outs(%C : !c7) accumulate f32
  return
}

!m8 = !cute.memref<i8, gmem, align<16>, "(36,80):(80,1)">
!n8 = !cute.memref<ui8, gmem, align<16>, "(17,80):(83,1)">
!c8 = !cute.memref<i32, gmem, align<16>, "(36,17):(17,1)">
func.func @bytes(%A: !m8, %B: !n8, %C: !c8) {
  cute.contract ins(%A, %B : !m8, !n8) outs(%C : !c8) accumulate i32
  return
}

!m9 = !cute.memref<f64, gmem, align<16>, "(20,14):(14,1)">
!n9 = !cute.memref<f64, gmem, align<16>, "(22,14):(1,22)">
!c9 = !cute.memref<f64, gmem, align<16>, "(20,22):(22,1)">
func.func @f64(%A: !m9, %B: !n9, %C: !c9) {
  cute.contract ins(%A, %B : !m9, !n9) outs(%C : !c9) accumulate f64
  return
}

!m10 = !cute.memref<f8E5M2, gmem, align<16>, "(36,80):(80,1)">
!n10 = !cute.memref<f8E4M3FN, gmem, align<16>, "(24,80):(1,24)">
!c10 = !cute.memref<bf16, gmem, align<16>, "(36,24):(24,1)">
func.func @f8(%A: !m10, %B: !n10, %C: !c10) {
  cute.contract ins(%A, %B : !m10, !n10) outs(%C : !c10) accumulate f32
  return
}
