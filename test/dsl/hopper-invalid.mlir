// Forms of CuTe DSL that are not read: each says what to write in its place.
//
// RUN: cute-opt %s --split-input-file --verify-diagnostics

func.func @products(%d: !cute_nvgpu.smem_desc) {
  // expected-error @below {{'cute_nvgpu.arch.mma.SM90', as CuTe DSL prints it, is not read here (docs/dsl-ir.md); CuTe DSL lowers products to it: give the IR before its pass CuteExpandOps, or write cute.gemm(%mma, %d, %a, %b, %d)}}
  cute_nvgpu.arch.mma.SM90(shapeMNK = "(64,128,16)", A = %d)
  return
}

// -----

func.func @generic_products(%d: !cute_nvgpu.smem_desc) {
  // expected-error @below {{'cute_nvgpu.arch.mma.SM90', as CuTe DSL prints it, is not read here (docs/dsl-ir.md); CuTe DSL lowers products to it}}
  "cute_nvgpu.arch.mma.SM90"(%d, %d) : (!cute_nvgpu.smem_desc, !cute_nvgpu.smem_desc) -> ()
  return
}

// -----

func.func @copies(%p: !cute.ptr<f16, smem>) {
  // expected-error @below {{'cute_nvgpu.arch.copy.SM100.tma_load', as CuTe DSL prints it, is not read here (docs/dsl-ir.md); CuTe DSL lowers copies to it: give the IR before its pass CuteExpandOps, or write cute_nvgpu.tma_load(%atom, [%c0, %c1], %tile) on %bars[%i], or cute_nvgpu.tma_store}}
  cute_nvgpu.arch.copy.SM100.tma_load(%p)
  return
}

// -----

func.func @matrices(%p: !cute.ptr<f16, smem>) {
  // expected-error @below {{'cute_nvgpu.arch.copy.stsm', as CuTe DSL prints it, is not read here (docs/dsl-ir.md); CuTe DSL lowers copies to it: give the IR before its pass CuteExpandOps, or write cute.copy of a tiled copy, as of atom.stsm or atom.ldsm}}
  cute_nvgpu.arch.copy.stsm(%p)
  return
}

// -----

// expected-error @below {{'cute_nvgpu.tma_descriptor_tiled', as CuTe DSL prints it, is not read here (docs/dsl-ir.md); the launch makes tensor maps}}
func.func @maps(%p: !cute_nvgpu.tma_descriptor_tiled) {
  return
}

// -----

// expected-error @below {{expected sm_90, loads of one block, found sm_100_2sm; there are no loads of SM100's pairs of blocks here}}
func.func @pairs(%p: !cute_nvgpu.atom.non_exec_tiled_tma_load<sm_100_2sm, f16, copy_bits = 65536, tma_gbasis = <"(64,64):(1@1,1@0)">, internal_val_type = f16>) {
  return
}

// -----

func.func @barriers(%p: !llvm.ptr<3>, %n: i32) {
  // expected-error @below {{'nvvm.mbarrier.txn', as CuTe DSL prints it, is not read here (docs/dsl-ir.md); it is read on a line of its own, with its kind in its attributes, as CuTe DSL prints it; here it is cute_nvgpu.mbarrier_init, mbarrier_arrive_and_expect_tx, mbarrier_wait or one of their like, on %bars[%i] or on a pointer}}
  nvvm.mbarrier.txn %p, %n : !llvm.ptr<3>, i32
  return
}

// -----

func.func @kinds(%p: !llvm.ptr<3>, %n: i32) {
  // expected-error @below {{'mbar_txn_kind', as CuTe DSL prints it, is not read here (docs/dsl-ir.md); it is read as part of an nvvm.mbarrier.txn or nvvm.mbarrier.wait.parity on a line of its own; here the op's name says it}}
  "nvvm.mbarrier.txn"(%p, %n) <{kind = #nvvm.mbar_txn_kind<drop>}> : (!llvm.ptr<3>, i32) -> ()
  return
}

// -----

!ptr = !cute.ptr<f16, gmem>
// expected-error @below {{'cuda.kernel', as CuTe DSL prints it, is not read here (docs/dsl-ir.md); write the kernel as gpu.func @name(...) kernel in a gpu.module, and threads of a block as known_block_size}}
cuda.kernel @k(%p: !ptr) {
}

// -----

func.func @launches() {
  // expected-error @below {{'cuda.return_if_error', as CuTe DSL prints it, is not read here (docs/dsl-ir.md); the host's side of a launch is a func.func with gpu.launch_func or cute.launch here}}
  "cuda.return_if_error"() : () -> ()
  return
}

// -----

func.func @tensor_memory(%p: !cute.ptr<i32, smem>) {
  // expected-error @below {{'cute_nvgpu.arch.sm100.retrieve_tmem_ptr', as CuTe DSL prints it, is not read here (docs/dsl-ir.md); there is no tensor memory here: products of warpgroups are those of !cute_nvgpu.sm90.mma, of warps those of !cute_nvgpu.sm80.mma}}
  cute_nvgpu.arch.sm100.retrieve_tmem_ptr(%p)
  return
}

// -----

func.func @commit(%p: !llvm.ptr<3>) {
  // expected-error @below {{'nvvm.tcgen05.commit.arrive', as CuTe DSL prints it, is not read here (docs/dsl-ir.md); there is no tensor memory here: products of warpgroups are those of !cute_nvgpu.sm90.mma}}
  nvvm.tcgen05.commit.arrive %p : !llvm.ptr<3>
  return
}
