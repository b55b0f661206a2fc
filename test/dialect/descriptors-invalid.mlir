// Descriptors of operands that wgmma cannot be told of, mbarriers that are none, and copies by TMA's atoms that are none.
//
// RUN: cute-opt %s --split-input-file --verify-diagnostics

func.func @layout(%p: !cute.ptr<f16, smem, align<1024>, S<3,4,3>>) {
  // expected-error @below {{`wgmma descriptor` expected an operand of 64 by 16 elements of 16 bits in one of the canonical K-major layouts, found (64,16):(16,1), which has (1,0) at 16; lay it out as S<3,4,3> o ((8,8),16):((64,512),1)}}
  %d = cute_nvgpu.make_gmma_smem_desc(%p : !cute.ptr<f16, smem, align<1024>, S<3,4,3>>) layout = <"((64,16),2,4):((16,1),4096,16)">, major = <k> -> !cute_nvgpu.smem_desc
  return
}

// -----

func.func @major(%p: !cute.ptr<f16, smem, align<1024>, S<3,4,3>>) {
  // expected-error @below {{expected major = <k> or <mn>, found <m>}}
  %d = cute_nvgpu.make_gmma_smem_desc(%p : !cute.ptr<f16, smem, align<1024>, S<3,4,3>>) layout = <"((64,16),2,4):((64,1),4096,16)">, major = <m> -> !cute_nvgpu.smem_desc
  return
}

// -----

func.func @start(%p: !cute.ptr<f16, smem, align<128>, S<3,4,3>>) {
  // expected-error @below {{expected a start at a multiple of 1024 bytes, where its swizzle begins, found align<128>; make the descriptor of the whole tensor, which is aligned so, and step from there by cute.add_offset or cute.slice}}
  %d = cute_nvgpu.make_gmma_smem_desc(%p : !cute.ptr<f16, smem, align<128>, S<3,4,3>>) layout = <"((64,16),2,4):((64,1),4096,16)">, major = <k> -> !cute_nvgpu.smem_desc
  return
}

// -----

func.func @between(%p: !cute.ptr<f16, smem, align<1024>, S<3,4,3>>) {
  // expected-error @below {{expected atoms that start in the first row of a pattern of the swizzle, at multiples of 16 bytes, found one at byte 8 of ((64,16),2,4):((64,1),4096,4)}}
  %d = cute_nvgpu.make_gmma_smem_desc(%p : !cute.ptr<f16, smem, align<1024>, S<3,4,3>>) layout = <"((64,16),2,4):((64,1),4096,4)">, major = <k> -> !cute_nvgpu.smem_desc
  return
}

// -----

func.func @space(%p: !cute.ptr<f16, gmem, align<1024>>) {
  // expected-error @below {{expected a pointer into smem, where wgmma reads its operands, found one into gmem}}
  %d = cute_nvgpu.make_gmma_smem_desc(%p : !cute.ptr<f16, gmem, align<1024>>) layout = <"((64,16),2,4):((64,1),4096,16)">, major = <k> -> !cute_nvgpu.smem_desc
  return
}

// -----

// expected-error @below {{expected descriptors, !cute_nvgpu.smem_desc, found f16}}
func.func @view(%d: !cute_nvgpu.smem_desc_view<f16, "(1,2):(0,512)">) {
  return
}

// -----

!view = !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1,2):(0,512)">
func.func @elements(%d: !view) {
  // expected-error @below {{expected a tensor, found descriptors, which only products of a warpgroup take; give the partition that they were made of}}
  cute.basic_copy(%d, %d) : (!view, !view)
  return
}

// -----

!view = !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(2,1):(512,0)">
!r = !cute.memref<f32, rmem, "(2,2):(1,2)">
func.func @by_elements(%d: !view, %r: !r) {
  // expected-error @below {{expected a tensor, found descriptors, which only products of a warpgroup take; give the partition that they were made of}}
  cute.gemm(%r, %d, %d, %r) : (!r, !view, !view, !r)
  return
}

// -----

!mma = !cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32)>, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
!acc = !cute.memref<f32, rmem, "((2,2),2,1):((1,2),4,0)">
!dA = !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1,2):(0,512)">
!dB = !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1,1):(0,0)">
func.func @warps(%mma: !mma, %acc: !acc, %a: !dA, %b: !dB) {
  // expected-error @below {{expected A in rmem or smem, as SM80_16x8x16_F32F16F16F32_TN takes it, found descriptors, which products of a warpgroup take; give the partition that they were made of}}
  cute.gemm(%mma, %acc, %a, %b, %acc) : (!mma, !acc, !dA, !dB, !acc)
  return
}

// -----

func.func @pointer_with_an_index(%p: !cute.ptr<i64, smem>, %i: i32) {
  // expected-error @below {{expected a pointer to one mbarrier without an index, found !cute.ptr<i64, smem> with one; move the pointer by cute.add_offset}}
  cute_nvgpu.mbarrier_arrive %p[%i] : !cute.ptr<i64, smem>
  return
}

// -----

func.func @pointer_elsewhere(%p: !llvm.ptr<1>, %n: i32) {
  // expected-error @below {{expected mbarriers, or a pointer into shared memory, !cute.ptr<i64, smem> or !llvm.ptr<3>, found !llvm.ptr<1>}}
  cute_nvgpu.mbarrier_init %p, %n : !llvm.ptr<1>
  return
}

// -----

func.func @pointer_to_others(%p: !cute.ptr<i32, smem, align<8>>, %n: i32) {
  // expected-error @below {{expected mbarriers, a tensor of i64 in smem without a swizzle}}
  cute_nvgpu.mbarrier_init %p, %n : !cute.ptr<i32, smem, align<8>>
  return
}

// -----

func.func @dynamic() {
  // expected-error @below {{expected a pointer to bytes of shared memory without a swizzle, !cute.ptr<i8, smem, align<1024>>, found !cute.ptr<i64, smem>; cute.recast_iter makes one to other elements of it}}
  %p = cute_nvgpu.arch.get_dyn_smem() : !cute.ptr<i64, smem>
  return
}

// -----

!store = !cute_nvgpu.atom.tma_store<f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">>
func.func @state_of_a_store(%atom: !store, %bar: !cute.ptr<i64, smem>) {
  // expected-error @below {{expected no state of an atom that stores, found #cute_nvgpu.atom_copy_field_tmaload<tma_bar>; a policy of L2 is one of the copy: cute_nvgpu.tma_load with policy "evict_first", or its like}}
  %a = cute_nvgpu.atom.set_value(%atom, %bar : !cute.ptr<i64, smem>) {field = #cute_nvgpu.atom_copy_field_tmaload<tma_bar>} : !store
  return
}

// -----

!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">>
!s = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((8192,1)):((1,0))">
func.func @exchanged(%atom: !load, %x: !cute.coord_tensor<"(0,0)", "(((64,128),1)):(((1@0,1@1),0))">, %s: !s) {
  // expected-error @below {{expected the coordinates of a tile and a place in smem, as cute_nvgpu.atom.tma_partition gives them, found}}
  cute.copy(%atom, %s, %x) : (!load, !s, !cute.coord_tensor<"(0,0)", "(((64,128),1)):(((1@0,1@1),0))">)
  return
}

// -----

!load = !cute_nvgpu.atom.tma_load<f16, copy_bits = 131072, tma_gbasis = <"(64,128):(1@1,1@0)">>
!s = !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((4096,1)):((1,0))">
func.func @part_of_a_box(%atom: !load, %x: !cute.coord_tensor<"(0,0)", "(((64,64),1)):(((1@0,1@1),0))">, %s: !s) {
  // expected-error @below {{expected as many elements on both sides, in whole boxes of 8192, found 4096 and 4096}}
  cute.copy(%atom, %x, %s) : (!load, !cute.coord_tensor<"(0,0)", "(((64,64),1)):(((1@0,1@1),0))">, !s)
  return
}
