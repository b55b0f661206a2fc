#!/usr/bin/env python3
"""Runs kernels that Triton compiles on the emulator, and compares their results with NumPy's.

    CUTE_TOOLS_DIR=FOLDER PYTHONPATH=python python3 tools/triton_kernels.py [--arch 80 90] [--only WORD] [--seeds 3]

Needs the packages triton and numpy of PyPI, and no GPU. FOLDER has libcute_native.so (of a release build); an installed wheel needs neither variable.
The kernels are ordinary ones: rows, products by mma and wgmma, persistent ones by tensor descriptors that the kernel makes, with and without roles of warps, a
descriptor for each group of rows, attention, and reductions by atomics. For each it prints the largest error, and what was found, by kind.
"""

import argparse
import collections
import re

import numpy as np
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

import cute_opt

CASES = []


def case(**options):
    """A kernel with what is compiled into it, and what it is launched on."""
    return lambda make: CASES.append((make.__name__, options, make)) or make


@triton.jit
def softmax_kernel(x, y, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    value = tl.load(x + row * columns + at, mask=inside, other=-float("inf"))
    value = tl.exp(value - tl.max(value, 0))
    tl.store(y + row * columns + at, value / tl.sum(value, 0), mask=inside)


@triton.jit
def product_kernel(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    steps = tl.arange(0, BK)
    sums = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        of_a = tl.load(a + rows[:, None] * K + k + steps, mask=(rows[:, None] < M) & (k + steps < K), other=0.0)
        of_b = tl.load(b + (k + steps)[:, None] * N + columns, mask=((k + steps)[:, None] < K) & (columns < N), other=0.0)
        sums = tl.dot(of_a, of_b, sums)
    tl.store(c + rows[:, None] * N + columns, sums.to(tl.float16), mask=(rows[:, None] < M) & (columns < N))


@triton.jit
def persistent_kernel(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, BLOCKS: tl.constexpr, ROLES: tl.constexpr, FLAT: tl.constexpr):
    of_a = tl.make_tensor_descriptor(a, shape=[M, K], strides=[K, 1], block_shape=[BM, BK])
    of_b = tl.make_tensor_descriptor(b, shape=[N, K], strides=[K, 1], block_shape=[BN, BK])
    of_c = tl.make_tensor_descriptor(c, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    down = tl.cdiv(M, BM)
    for tile in tl.range(tl.program_id(0), down * tl.cdiv(N, BN), BLOCKS, flatten=FLAT, warp_specialize=ROLES):
        row, column = (tile % down) * BM, (tile // down) * BN
        sums = tl.zeros((BM, BN), dtype=tl.float32)
        for k in range(tl.cdiv(K, BK)):
            sums = tl.dot(of_a.load([row, k * BK]), of_b.load([column, k * BK]).T, sums)
        of_c.store([row, column], sums.to(tl.float16))


@triton.jit
def groups_kernel(a, b, c, sizes, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUPS: tl.constexpr):
    first = 0
    for group in range(GROUPS):
        rows = tl.load(sizes + group)
        of_a = tl.make_tensor_descriptor(a + first * K, shape=[rows, K], strides=[K, 1], block_shape=[BM, BK])
        of_b = tl.make_tensor_descriptor(b + group * N * K, shape=[N, K], strides=[K, 1], block_shape=[BN, BK])
        of_c = tl.make_tensor_descriptor(c + first * N, shape=[rows, N], strides=[N, 1], block_shape=[BM, BN])
        for tile in range(tl.program_id(0), tl.cdiv(rows, BM), 2):
            sums = tl.zeros((BM, BN), dtype=tl.float32)
            for k in range(tl.cdiv(K, BK)):
                sums = tl.dot(of_a.load([tile * BM, k * BK]), of_b.load([0, k * BK]).T, sums)
            of_c.store([tile * BM, 0], sums.to(tl.float16))
        first += rows


@triton.jit
def attention_kernel(q, k, v, out, length, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    of_q = tl.load(q + rows[:, None] * D + d, mask=rows[:, None] < length, other=0.0)
    most = tl.full((BM,), -float("inf"), dtype=tl.float32)
    total = tl.zeros((BM,), dtype=tl.float32)
    sums = tl.zeros((BM, D), dtype=tl.float32)
    for start in range(0, length, BN):
        at = start + tl.arange(0, BN)
        of_k = tl.load(k + at[None, :] * D + d[:, None], mask=at[None, :] < length, other=0.0)
        of_v = tl.load(v + at[:, None] * D + d, mask=at[:, None] < length, other=0.0)
        scores = tl.where(at[None, :] < length, tl.dot(of_q, of_k) * scale, -float("inf"))
        new = tl.maximum(most, tl.max(scores, 1))
        weights, kept = tl.exp(scores - new[:, None]), tl.exp(most - new)
        total = total * kept + tl.sum(weights, 1)
        sums = tl.dot(weights.to(tl.float16), of_v, sums * kept[:, None])
        most = new
    tl.store(out + rows[:, None] * D + d, (sums / total[:, None]).to(tl.float16), mask=rows[:, None] < length)


@triton.jit
def histogram_kernel(x, bins, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(bins + tl.load(x + at, mask=at < count, other=0), 1, mask=at < count)


def normal(rng, *shape, dtype=np.float16):
    return rng.standard_normal(shape).astype(dtype)


def product(a, b):
    return a.astype(np.float32) @ b.astype(np.float32)


@case()
def softmax(rng, compiled):
    x = normal(rng, 9, 700, dtype=np.float32)
    e = np.exp(x - x.max(1, keepdims=True))
    kernel = compiled(softmax_kernel, dict(x="*fp32", y="*fp32", columns="i32"), dict(BLOCK=1024))
    return kernel, 9, [x], (x.shape, np.float32), [700], e / e.sum(1, keepdims=True)


@case(warps=(4, 8))
def product_of_loads(rng, compiled, warps):
    a, b = normal(rng, 150, 200), normal(rng, 200, 136)
    kernel = compiled(product_kernel, dict(a="*fp16", b="*fp16", c="*fp16", M="i32", N="i32", K="i32"), dict(BM=64, BN=64, BK=32), num_warps=warps)
    return kernel, (3, 3), [a, b], ((150, 136), np.float16), [150, 136, 200], product(a, b)


@case(arch=90, warps=(4, 8), roles=(False, True), flat=(False, True))
def persistent(rng, compiled, warps, roles, flat):
    a, b = normal(rng, 200, 208), normal(rng, 136, 208)
    sizes = dict(BM=128, BN=16 * warps, BK=64, BLOCKS=2, ROLES=roles, FLAT=flat)
    kernel = compiled(persistent_kernel, dict(a="*fp16", b="*fp16", c="*fp16", M="i32", N="i32", K="i32"), sizes, num_warps=warps)
    return kernel, 2, [a, b], ((200, 136), np.float16), [200, 136, 208], product(a, b.T)


@case(arch=90)
def groups(rng, compiled):
    sizes = np.array([70, 64, 30], np.int32)
    a, b = normal(rng, int(sizes.sum()), 136), normal(rng, 3, 64, 136)
    ends = np.cumsum(sizes)
    expected = np.concatenate([product(a[end - size : end], b[group].T) for group, (end, size) in enumerate(zip(ends, sizes))])
    kernel = compiled(groups_kernel, dict(a="*fp16", b="*fp16", c="*fp16", sizes="*i32", N="i32", K="i32"), dict(BM=64, BN=64, BK=64, GROUPS=3))
    return kernel, 2, [a, b], (expected.shape, np.float16), [sizes, 64, 136], expected


@case(warps=(4, 8))
def attention(rng, compiled, warps):
    q, k, v = (normal(rng, 100, 64) for _ in range(3))
    scores = product(q, k.T) * 0.125
    weights = np.exp(scores - scores.max(1, keepdims=True))
    kernel = compiled(attention_kernel, dict(q="*fp16", k="*fp16", v="*fp16", out="*fp16", length="i32", scale="fp32"), dict(BM=64, BN=32, D=64), num_warps=warps)
    return kernel, 2, [q, k, v], ((100, 64), np.float16), [100, 0.125], weights / weights.sum(1, keepdims=True) @ v.astype(np.float32)


@case()
def histogram(rng, compiled):
    x = rng.integers(0, 50, 1000).astype(np.int32)
    kernel = compiled(histogram_kernel, dict(x="*i32", bins="*i32", count="i32"), dict(BLOCK=256))
    return kernel, 4, [x], np.zeros(50, np.int32), [1000], np.bincount(x, minlength=50)


def compiler(arch):
    """Compiles a kernel for an architecture."""

    def compiled(function, signature, constants, **options):
        signature = {**signature, **{name: "constexpr" for name in constants}}
        return triton.compile(ASTSource(function, signature, constants), target=GPUTarget("cuda", arch, 32), options=options)

    return compiled


def run(made, seed):
    """The error of a launch, as a part of the largest element, and its findings."""
    kernel, grid, inputs, out, rest, expected = made
    ptx, facts = kernel.asm["ptx"], kernel.metadata
    emulator = cute_opt.Emulator(ptx, seed=seed)
    inputs = [emulator.memory(array, read_only=True) for array in inputs]
    if isinstance(out, np.ndarray):
        of_out, (shape, dtype) = emulator.memory(out), (out.shape, out.dtype)
    else:
        shape, dtype = out
        of_out = emulator.memory(int(np.prod(shape)) * np.dtype(dtype).itemsize)
    rest = [emulator.memory(value, read_only=True) if isinstance(value, np.ndarray) else value for value in rest]
    blocks = int(np.prod(grid))
    # Memory that Triton's launcher gives each block, and that of its profiler.
    own = [emulator.memory(max(facts.global_scratch_size * blocks, 16)), emulator.memory(16)]
    threads = int(re.search(r"\.reqntid (\d+)", ptx)[1])
    emulator.launch(facts.name, grid=grid, block=threads, args=[*inputs, of_out, *rest, *own], shared=facts.shared)
    found = np.frombuffer(of_out.read(), dtype).reshape(shape).astype(np.float64)
    return np.abs(found - expected).max() / np.abs(expected).max(), emulator.findings


def ways(options):
    """All combinations of a case's options."""
    all_ = [{}]
    for name, values in options.items():
        all_ = [{**way, name: value} for way in all_ for value in values]
    return all_


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], epilog=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arch", type=int, nargs="+", default=[80, 90])
    parser.add_argument("--only", default="", help="only kernels in whose names it stands")
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    print(f"Triton {triton.__version__}")
    wrong = 0
    for arch in options.arch:
        for name, of, make in CASES:
            needs = of.get("arch", arch)
            if options.only not in name or needs > arch:
                continue
            for way in ways({key: values for key, values in of.items() if key != "arch"}):
                label = " ".join([f"sm_{arch} {name}", *(f"{key}={value}" for key, value in way.items())])
                made = make(np.random.default_rng(0), compiler(arch), **way)
                runs = [run(made, seed) for seed in range(options.seeds)]
                error = max(error for error, _ in runs)
                kinds = collections.Counter(finding.kind for _, findings in runs for finding in findings)
                wrong += not error < 2e-3
                print(f"{label}: off by {error:.1e}, {', '.join(f'{count} {kind}' for kind, count in kinds.items()) or 'no findings'}", flush=True)
                for text in sorted({str(finding) for finding in runs[0][1]}):
                    print("    " + text.replace("\n", "\n    "))
    raise SystemExit(1 if wrong else 0)


if __name__ == "__main__":
    main()
