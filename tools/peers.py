#!/usr/bin/env python3
"""Measures packages beside cuBLAS and Triton on one GPU, in one run, in alternation.

    tools/peers.py target/release/cute-run PACKAGE[@MxNxK] [PACKAGE ...] [--rounds N]

Each package computes one GEMM; @MxNxK is the problem of one that leaves it open. A round times each
package (cute-run, which in the first round verifies it too), then cuBLAS through PyTorch and, where it
is installed and the package computes in f16, Triton's autotuned GEMM, on the package's shape, types and
layouts (f32 without TF32), on random normal data, through as many sets of inputs as exceed the L2 cache.
Printed is the median over rounds of each round's median, in TFLOP/s. Needs PyTorch.
"""

import argparse
import json
import re
import statistics
import subprocess

import torch

try:
    import triton
    import triton.language as tl
except ImportError:
    triton = None

REPS = 30


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("runner")
    parser.add_argument("packages", nargs="+")
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    print(torch.cuda.get_device_name(0), "PyTorch", torch.__version__, end=" ")
    print("Triton", triton.__version__ if triton else "not installed")
    print(f"{'package':40} {'M':>6} {'N':>6} {'K':>6} {'ours':>7} {'cuBLAS':>7} {'Triton':>7}")
    for package in args.packages:
        package = Package(args.runner, package)
        m, n, k = package.extents
        ours, cublas, others = [], [], []
        inputs = sets(package)
        for turn in range(args.rounds):
            ours.append(package.run(verify=turn == 0))
            cublas.append(rate(m, n, k, inputs, lambda a, b, c: torch.matmul(a, b.T, out=c)))
            if triton and package.is_half():
                others.append(rate(m, n, k, inputs, triton_matmul))
        figures = [statistics.median(x) if x else float("nan") for x in (ours, cublas, others)]
        print(f"{package.name:40} {m:6} {n:6} {k:6} " + " ".join(f"{x:7.1f}" for x in figures), flush=True)


class Package:
    """A GEMM's package: its tensors' extents, types and which of their modes is contiguous."""

    def __init__(self, runner, text):
        self.path, _, problem = text.partition("@")
        self.name, self.runner = self.path.rsplit("/", 1)[-1], runner
        info = json.loads(subprocess.run([runner, self.path, "--info", "--json"], check=True, capture_output=True).stdout)
        args = {arg["name"]: arg for arg in find(info, "functions")[0]["args"] if arg["kind"] == "tensor"}
        self.types = {name: args[name]["element"] for name in "ABC"}
        # "(M,K):(1,ldA)" has its columns one after the other.
        self.columns = {name: args[name]["layout"].split(":")[1].startswith("(1,") for name in "ABC"}
        self.options = []
        if problem:
            m, n, k = self.extents = tuple(int(extent) for extent in problem.split("x"))
            for name, rows, columns in (("A", m, k), ("B", n, k), ("C", m, n)):
                self.options += ["--shape", f"{name}={rows}x{columns}"]
        else:
            extents = {name: [int(x) for x in re.findall(r"\d+", args[name]["layout"].split(":")[0])] for name in "AB"}
            self.extents = extents["A"][0], extents["B"][0], extents["A"][1]

    def is_half(self):
        return all(kind == "f16" for kind in self.types.values()) and not any(self.columns.values())

    def tensor(self, name, rows, columns, fill):
        kind = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32}[self.types[name]]
        if self.columns[name]:
            return fill(columns, rows, device="cuda", dtype=kind).T
        return fill(rows, columns, device="cuda", dtype=kind)

    def run(self, verify):
        command = [self.runner, self.path, "--bench", "--json", "--reps", str(REPS), *self.options]
        result = subprocess.run(command if verify else command + ["--no-verify"], capture_output=True, check=True)
        return json.loads(result.stdout)["results"][0]["measurement"]["tflops"]


def find(value, name):
    """The first entry of that name, wherever it is."""
    if isinstance(value, dict):
        if name in value:
            return value[name]
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            found = find(item, name)
            if found is not None:
                return found
    return None


def sets(package):
    """Inputs that together exceed twice the L2 cache."""
    m, n, k = package.extents

    def one():
        a = package.tensor("A", m, k, torch.randn)
        b = package.tensor("B", n, k, torch.randn)
        return a, b, package.tensor("C", m, n, torch.empty)

    first = one()
    size = sum(x.numel() * x.element_size() for x in first[:2])
    count = max(2, min(64, -(-2 * torch.cuda.get_device_properties(0).L2_cache_size // size)))
    return [first] + [one() for _ in range(count - 1)]


def rate(m, n, k, inputs, call):
    for i in range(5):
        call(*inputs[i % len(inputs)])
    times = []
    for i in range(REPS):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        call(*inputs[i % len(inputs)])
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end))
    return 2 * m * n * k / statistics.median(times) / 1e9


if triton:
    CONFIGS = [
        triton.Config({"BM": bm, "BN": bn, "BK": bk}, num_stages=stages, num_warps=warps)
        for bm, bn, bk, stages, warps in [
            (128, 256, 64, 3, 8),
            (256, 128, 64, 3, 8),
            (128, 128, 64, 4, 4),
            (128, 128, 32, 4, 4),
            (64, 64, 64, 4, 4),
        ]
    ]

    @triton.autotune(configs=CONFIGS, key=["M", "N", "K"])
    @triton.jit
    def kernel(A, B, C, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
        group: tl.constexpr = 8
        block = tl.program_id(0)
        across, down = tl.cdiv(N, BN), tl.cdiv(M, BM)
        first = block // (group * across) * group
        height = min(down - first, group)
        row = first + block % (group * across) % height
        column = block % (group * across) // height
        rows, columns, depth = row * BM + tl.arange(0, BM), column * BN + tl.arange(0, BN), tl.arange(0, BK)
        a = A + rows[:, None] * K + depth[None, :]
        b = B + columns[None, :] * K + depth[:, None]
        total = tl.zeros((BM, BN), tl.float32)
        for _ in range(0, K, BK):
            total = tl.dot(tl.load(a), tl.load(b), total)
            a += BK
            b += BK
        tl.store(C + rows[:, None] * N + columns[None, :], total.to(tl.float16))

    def triton_matmul(a, b, c):
        (m, k), n = a.shape, b.shape[0]
        kernel[lambda meta: (triton.cdiv(m, meta["BM"]) * triton.cdiv(n, meta["BN"]),)](a, b, c, m, n, k)


if __name__ == "__main__":
    main()
