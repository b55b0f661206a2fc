"""A kernel of one tile, 64 x 64: A and B by TMA, their product by wgmma, the sums stored as they are.

    wgmma.py TYPE_OF_A TYPE_OF_B TYPE_OF_SUMS MAJOR_OF_A MAJOR_OF_B SWIZZLE [rs]

With `rs` the product takes A from registers, where threads load it from shared memory.
"""

import sys

BITS = {"f16": 16, "bf16": 16, "tf32": 32, "f8E4M3FN": 8, "f8E5M2": 8, "i8": 8, "ui8": 8}
kind = "rs" if sys.argv[-1] == "rs" else "ss"
a, b, c, *majors, swizzle = [word for word in sys.argv[1:] if word != "rs"]
swizzle = int(swizzle)
size = BITS[a] // 8
step = 32 // size
# K of the tile: what the swizzle spans along it, or two steps.
wide = max(swizzle, 64) // size
width = (swizzle or 16) // size
align = 128 if swizzle == 0 else 8 * swizzle
pattern = {0: "", 32: "S<1,4,3>, ", 64: "S<2,4,3>, ", 128: "S<3,4,3>, "}[swizzle]


def operand(name, element, major):
    if swizzle == 0 and major == "k":
        # Rows of 16 bytes, eight one behind the other; a column of those, then the next.
        smem = f"((8,8),({width},{wide // width})):(({width},{8 * width}),(1,{64 * width}))"
        part = f"((64,({width},2)),1,{wide // step}):(({width},(1,{64 * width})),0,{128 * width})"
        box = (width, 64)
    elif major == "k":
        smem = f"(64,{wide}):({wide},1)" if wide == width else f"(64,({width},{wide // width})):({width},(1,{64 * width}))"
        steps = f"{wide // step}:{step}" if wide == width else None
        if steps:
            part = f"((64,{step}),1,{wide // step}):(({wide},1),0,{step})"
        else:
            # The columns of the swizzle are as wide as a step.
            part = f"((64,{step}),1,{wide // step}):(({width},1),0,{64 * width})"
        box = (width, 64)
    else:
        smem = f"(64,{wide}):(1,64)" if width == 64 else f"(({width},{64 // width}),{wide}):((1,{width * wide}),{width})"
        if width == 64:
            part = f"((64,{step}),1,{wide // step}):((1,64),0,{64 * step})"
        else:
            part = f"((({width},{64 // width}),{step}),1,{wide // step}):(((1,{width * wide}),{width}),0,{width * step})"
        box = (width, wide)
    gmem = f"(64,{wide}):({wide},1)" if major == "k" else f"(64,{wide}):(1,64)"
    modes = "(1@1,1@0)" if major == "k" else "(1@0,1@1)"
    bits = box[0] * box[1] * 8 * size
    dims = "(1@1,1@0)" if major == "k" else "(1@0,1@1)"
    layout = f'!cute.composed_layout<"{pattern.rstrip(", ")} o 0 o {smem}">' if swizzle else f'!cute.layout<"{smem}">'
    return f"""!g{name} = !cute.memref<{element}, gmem, align<16>, "{gmem}">
!layout_{name} = {layout}
!tma_{name} = !cute_nvgpu.atom.tma_load<{element}, copy_bits = {bits}, tma_gbasis = <"({box[0]},{box[1]}):{modes}">, swizzle = {swizzle}>
!coords_{name} = !cute.coord_tensor<"(0,0)", "(64,{wide}):{dims}">
!s{name} = !cute.memref<{element}, smem, align<{align}>, {pattern}"{smem}">
!part_{name} = !cute.memref<{element}, smem, align<{align}>, {pattern}"{part}">"""


if kind == "ss":
    load_A = "%a = cute.tiled.mma.partition A (%mma, %sA, %t) : (!mma, !sA, !cute.coord<\"?\">) -> !part_A"
    fence = "cute_nvgpu.wgmma_fence(%acc) : (!acc) -> ()"
    gemm = "cute.gemm(%mma, %acc, %a, %b, %acc) : (!mma, !acc, !part_A, !part_B, !acc)"
else:
    load_A = """%a_there = cute.tiled.mma.partition A (%mma, %sA, %t)
      %a = cute.mma.make_fragment A (%mma, %a_there)
      cute.autovec_copy(%a_there, %a)"""
    fence = "cute_nvgpu.wgmma_fence(%acc, %a)"
    gemm = "cute.gemm(%mma, %acc, %a, %b, %acc)"
print(operand("A", a, majors[0]))
print(operand("B", b, majors[1]))
print(f"""!gC = !cute.memref<{c}, gmem, align<16>, "(64,64):(64,1)">
!wgmma = !cute_nvgpu.sm90.mma<64x64x{step}, ab_major = ({majors[0]}, {majors[1]}), elem_type = ({a}, {b}, {c}), frag_kind = {kind}>
!mma = !cute.tiled_mma<!wgmma, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
!acc = !cute.memref<{c}, rmem, "((2,2,8),1,1):((1,2,4),0,0)">
!part_C = !cute.memref<{c}, gmem, align<{8 if c != "f16" else 4}>, "((2,2,8),1,1):((1,512,8),0,0)">
!bar = !cute.memref<i64, smem, align<8>, "1:0">
!shape = !cute.shape<"((2,2,8),1,1)">

module attributes {{gpu.container_module}} {{
  gpu.module @kernels {{
    gpu.func @tile(%tma_A: !tma_A, %A: !coords_A, %tma_B: !tma_B, %B: !coords_B, %C: !gC) kernel
        attributes {{known_block_size = array<i32: 128, 1, 1>}} {{
      %tx = gpu.thread_id x
      %t32 = arith.index_cast %tx : index to i32
      %t = cute.make_coord(%t32) : (i32) -> !cute.coord<"?">
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %bytes = arith.constant {2 * 64 * wide * size} : i32
      %sA = cute.memref.alloca() : !sA
      %sB = cute.memref.alloca() : !sB
      %bar = cute.memref.alloca() : !bar
      %is_first = arith.cmpi eq, %t32, %c0 : i32
      scf.if %is_first {{
        cute_nvgpu.mbarrier_init %bar[%c0], %c1 : !bar
        nvvm.fence.mbarrier.init
      }}
      gpu.barrier
      scf.if %is_first {{
        cute_nvgpu.mbarrier_arrive_and_expect_tx %bar[%c0], %bytes : !bar
        cute_nvgpu.tma_load(%tma_A, [%A], %sA) on %bar[%c0] : (!tma_A, [!coords_A], !sA), !bar
        cute_nvgpu.tma_load(%tma_B, [%B], %sB) on %bar[%c0] : (!tma_B, [!coords_B], !sB), !bar
      }}
      cute_nvgpu.mbarrier_wait %bar[%c0], %c0 : !bar
      %no = arith.constant false
      %wgmma = cute.make_atom(%no) : (i1) -> !wgmma
      %mma = cute.make_tiled_mma(%wgmma) : !mma
      %shape = cute.static : !shape
      %acc = cute.mma.make_fragment C (%mma, %shape) : (!mma, !shape) -> !acc
      // What is there is not added to.
      %seven = arith.constant {"7 : i32" if c == "i32" else f"7.0 : {c}"}
      cute.fill(%acc, %seven) : (!acc, {c})
      {load_A}
      %b = cute.tiled.mma.partition B (%mma, %sB, %t) : (!mma, !sB, !cute.coord<"?">) -> !part_B
      {fence}
      {gemm}
      cute_nvgpu.wgmma_commit_group
      cute_nvgpu.wgmma_wait_group 0 (%acc) : (!acc) -> ()
      %part = cute.tiled.mma.partition C (%mma, %C, %t) : (!mma, !gC, !cute.coord<"?">) -> !part_C
      cute.autovec_copy(%acc, %part) : (!acc, !part_C)
      gpu.return
    }}
  }}

  func.func @product(%A: !gA, %B: !gB, %C: !gC) attributes {{cute.computes = [{{gemm = array<i64: 0, 1, 2>, accumulate = {c}}}]}} {{
    %c0 = arith.constant 0 : i32
    %one = arith.constant 1 : index
    %threads = arith.constant 128 : index
    %layout_A = cute.static : !layout_A
    %layout_B = cute.static : !layout_B
    %tma_A, %of_A = cute_nvgpu.atom.make_tma_load(%A, %layout_A) : (!gA, !layout_A) -> (!tma_A, !coords_A)
    %tma_B, %of_B = cute_nvgpu.atom.make_tma_load(%B, %layout_B) : (!gB, !layout_B) -> (!tma_B, !coords_B)
    gpu.launch_func @kernels::@tile blocks in (%one, %one, %one) threads in (%threads, %one, %one)
      dynamic_shared_memory_size %c0 args(%tma_A : !tma_A, %of_A : !coords_A, %tma_B : !tma_B, %of_B : !coords_B, %C : !gC)
    return
  }}
}}""")
