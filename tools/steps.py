#!/usr/bin/env python3
"""Times of one product by kernels each of which has one more of Hopper's instructions than the one before, beside cuBLAS and Triton, in one run on one GPU.

    CUTE_TOOLS_DIR=FOLDER PYTHONPATH=python python3 tools/steps.py [--sizes 4096 8192] [--rounds 11]

FOLDER is as of tools/bars.py, and so are operands, graphs and rounds: random normal data in cold caches, each way checked against float32 first, rounds in an
order of their own. Triton's kernels are tuned over their configurations on each size; they are left out where Triton is not installed. What is printed are medians in microseconds, TFLOP/s,
and the share of time that each step takes off.
"""

import argparse
import random
import statistics
import sys

import torch

import bars
import cute_opt

try:
    import triton
    import triton.language as tl

    import peers
except ImportError:
    triton = None

LAUNCHES = 50
# A kernel, the architecture that it is compiled for, and what it has that the one before has not.
STEPS = [
    (None, "sm_80", "mma.sync, cp.async: a plan of sm_80"),
    ("wgmma_sm90", "sm_90a", "wgmma (by cp.async, no roles; C in f32)"),
    ("wgmma_tma_sm90", "sm_90a", "TMA (one warpgroup, 128x128)"),
    ("wgmma_tma_persistent", "sm_90a", "roles, two warpgroups, blocks that stay"),
    ("wgmma_cooperative", "sm_90a", "clusters, multicast, order of tiles, stmatrix"),
    ("wgmma_pingpong", "sm_90a", "(in its place) teams that take turns"),
    (None, "sm_90a", "from whole tensors: the compiler's plan"),
]

if triton:

    @triton.autotune(
        configs=[
            triton.Config({"BM": bm, "BN": bn, "BK": 64}, num_stages=stages, num_warps=warps)
            for bm, bn, stages, warps in [(128, 256, 3, 8), (128, 256, 4, 8), (128, 128, 4, 4), (128, 128, 4, 8)]
        ],
        key=["M", "N", "K"],
        do_bench=lambda call, quantiles: triton.testing.do_bench(call, warmup=5, rep=20, quantiles=quantiles),
    )
    @triton.jit
    def by_descriptors(A, B, C, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
        a = tl.make_tensor_descriptor(A, [M, K], [K, 1], [BM, BK])
        b = tl.make_tensor_descriptor(B, [N, K], [K, 1], [BN, BK])
        c = tl.make_tensor_descriptor(C, [M, N], [N, 1], [BM, BN])
        down, across = tl.cdiv(M, BM), tl.cdiv(N, BN)
        for tile in tl.range(tl.program_id(0), down * across, tl.num_programs(0), flatten=True):
            first = tile // (8 * across) * 8
            height = min(down - first, 8)
            row = (first + tile % (8 * across) % height) * BM
            column = tile % (8 * across) // height * BN
            total = tl.zeros((BM, BN), tl.float32)
            for depth in range(0, K, BK):
                total = tl.dot(a.load([row, depth]), b.load([column, depth]).T, total)
            c.store([row, column], total.to(tl.float16))

    def set_allocator():
        """Gives Triton the memory in which descriptors lie."""
        triton.set_allocator(lambda bytes, align, stream: torch.empty(bytes, device="cuda", dtype=torch.int8))

    def triton_persistent(a, b, c):
        (m, k), n = a.shape, b.shape[0]
        blocks = torch.cuda.get_device_properties(0).multi_processor_count
        by_descriptors[lambda meta: (min(blocks, triton.cdiv(m, meta["BM"]) * triton.cdiv(n, meta["BN"])),)](a, b, c, m, n, k)


def ways_of(row, size):
    """The ways of a product of that size: what is called with operands, and the tensor that it writes."""
    ways = {}
    for file, arch, name in STEPS:
        if file:
            kernel = cute_opt.compile(f"examples/kernels/sm90/{file}.mlir", arch)["gemm"]
        else:
            package = cute_opt.compile(row.kernels["known"], arch)
            kernel = package[next(iter(package))]
        ways[name] = lambda operands, kernel=kernel: kernel(*operands[:3])
    wide = torch.empty(size, size, device="cuda")
    sums = cute_opt.compile("examples/kernels/sm90/wgmma_sm90.mlir", "sm_90a")["gemm"]
    ways[STEPS[1][2]] = lambda operands: sums(operands[0], operands[1], wide, 1.0, 0.0)
    ways["cuBLAS"] = lambda operands: torch.matmul(operands[0], operands[1].t(), out=operands[2])
    if triton:
        ways["Triton, pointers"] = lambda operands: peers.triton_matmul(*operands[:3])
        ways["Triton, descriptors, blocks that stay"] = lambda operands: triton_persistent(*operands[:3])
    return ways, wide


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="*", default=[4096, 8192])
    parser.add_argument("--rounds", type=int, default=11)
    options = parser.parse_args()
    if triton:
        set_allocator()
    stream = torch.cuda.Stream()
    print(torch.cuda.get_device_name(), "PyTorch", torch.__version__, "Triton", triton.__version__ if triton else "not installed")
    for size in options.sizes:
        row = bars.plain(size, size, size)
        sets = [row.make() for _ in range(max(2, -(-3 * bars.CACHE // row.bytes)))]
        ways, wide = ways_of(row, size)
        for name, way in ways.items():
            checked = (lambda operands, way=way: (way(operands), operands[2].copy_(wide))) if name == STEPS[1][2] else way
            off = bars.off(row, sets, checked)
            if not off < row.error:
                sys.exit(f"{size}^3, {name}: wrong, off by {off}")
        graphs = {name: bars.recorded(way, sets, LAUNCHES, stream) for name, way in ways.items()}
        times = {name: [] for name in graphs}
        for _ in range(options.rounds):
            for name in random.sample(list(times), len(times)):
                times[name].append(bars.timed(graphs[name]) / LAUNCHES)
        print(f"{size}^3")
        before = None
        for name, own in times.items():
            median = statistics.median(own)
            less = "" if before is None or name not in {step[2] for step in STEPS} else f"{100 * (1 - median / before):6.1f} % less"
            print(f"  {name:<48} {median:8.1f} us {2e-6 * size**3 / median:6.0f} TFLOP/s {less}", flush=True)
            if "in its place" not in name:
                before = median


if __name__ == "__main__":
    main()
