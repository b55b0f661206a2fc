#!/usr/bin/env python3
"""Times of many plans for products of one kind, beside torch.matmul, all in turn under the same conditions.

    for tile in 128x256 128x128; do
      cute-opt gemm.mlir --cute-compile="arch=sm_90a tile=${tile}x64 warps=8x1 instructions=wgmma package=p$tile.cutepkg" -o /dev/null
      cute-run p$tile.cutepkg --export libraries
    done
    tools/plans.py libraries --shape 4096x4096x4096 --shape 8192x8192x512 --rounds 5 --results times.jsonl

Each library has one function of A (M,K), B (N,K) and C (M,N) of one type, each extent open or known; it is timed at the shapes that it takes.
--majors says which modes are contiguous: kkn, rows one after the other, where it is left out; A by columns is mkn, B by columns knn. A plan is checked once for each shape against torch.matmul; those that are right, and torch.matmul in a CUDA graph, are timed in rounds, in an order of its own in each, by events around
runs in a row through as many sets of operands as exceed the cache, with the host ahead. Times are medians of the rounds.
"""

import argparse
import ctypes
import glob
import json
import os
import random
import re
import statistics
import sys
import time

import torch

BYTES_OF_SETS = 160_000_000
# DLPack's code and bits of a type.
CODES = {torch.float16: (2, 16), torch.bfloat16: (4, 16)}
# The error that an element may have, of the largest one: two roundings to the type.
ERRORS = {torch.float16: 4e-3, torch.bfloat16: 1e-2}


class Device(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("id", ctypes.c_int32)]


class DType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class Tensor(ctypes.Structure):
    """DLPack's DLTensor."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", Device),
        ("ndim", ctypes.c_int32),
        ("dtype", DType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("offset", ctypes.c_uint64),
    ]


class Value(ctypes.Structure):
    """The header's cute_value, of a tensor."""

    _fields_ = [("kind", ctypes.c_int32), ("zero", ctypes.c_uint32), ("tensor", ctypes.POINTER(Tensor))]


class Arguments:
    """The arguments of a call, with what they point to."""

    def __init__(self, tensors):
        self.tensors = tensors
        self.held = []
        self.values = (Value * len(tensors))()
        for place, tensor in enumerate(tensors):
            ints = ctypes.c_int64 * tensor.dim()
            own = Tensor(
                tensor.data_ptr(), Device(2, 0), tensor.dim(), DType(*CODES[tensor.dtype], 1), ints(*tensor.shape), ints(*tensor.stride()), 0
            )
            self.held.append(own)
            self.values[place] = Value(7, 0, ctypes.pointer(own))


class Plan:
    """A library's function."""

    def __init__(self, path, stream):
        self.name = os.path.basename(path)[len("lib") : -len(".so")]
        with open(os.path.join(os.path.dirname(path), self.name + ".json")) as file:
            (function,) = json.load(file)["functions"]
        a, b = [re.match(r"\((\?|\d+)[^,]*,(\?|\d+)", arg["layout"]) for arg in function["args"][:2]]
        # M, N and K, where they are numbers.
        self.extents = [None if extent == "?" else int(extent) for extent in (a[1], b[1], a[2])]
        self.call = getattr(ctypes.CDLL(path), function["c"])
        self.call.argtypes = [ctypes.c_void_p, ctypes.c_int32, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t]
        self.stream = ctypes.c_void_p(stream.cuda_stream)
        self.error = ctypes.create_string_buffer(512)

    def takes(self, shape):
        return all(extent in (None, size) for extent, size in zip(self.extents, shape))

    def run(self, arguments):
        if self.call(arguments.values, len(arguments.tensors), self.stream, self.error, 512):
            raise RuntimeError(self.error.value.decode())


def microseconds(stream, reps, queue, host):
    """The times of a run on the GPU and on the host, among so many that `queue` puts on the stream while the GPU waits for as long as the host is
    thought to take, `host` microseconds a run."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    # Cycles of a clock of 2 GHz at most.
    torch.cuda._sleep(int(3_000 * host * reps) + 100_000)
    begin.record(stream)
    start = time.perf_counter()
    queue()
    host = (time.perf_counter() - start) * 1e6 / reps
    end.record(stream)
    torch.cuda.synchronize()
    return begin.elapsed_time(end) * 1000 / reps, host


def matrix(fill, rows, columns, by_rows, dtype):
    """A matrix on the GPU whose rows, or columns, lie one after the other."""
    if by_rows:
        return fill(rows, columns, device="cuda", dtype=dtype)
    return fill(columns, rows, device="cuda", dtype=dtype).t()


def measure(shape, plans, stream, rounds, dtype, majors):
    m, n, k = shape
    size = 2 * (m * k + n * k + m * n)
    count = max(2, min(40, -(-BYTES_OF_SETS // size)))
    sets = [
        (
            matrix(torch.randn, m, k, majors[0] == "k", dtype),
            matrix(torch.randn, n, k, majors[1] == "k", dtype),
            matrix(torch.empty, m, n, majors[2] == "n", dtype),
        )
        for _ in range(count)
    ]
    arguments = [Arguments(tensors) for tensors in sets]
    a, b, c = sets[0]
    expected = torch.matmul(a, b.t()).float()
    reps = int(max(3, min(40, 2000 / max(2 * m * n * k / 600e6, size / 3e6, 4))))

    for a_, b_, c_ in sets:
        torch.matmul(a_, b_.t(), out=c_)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        for turn in range(reps):
            a_, b_, c_ = sets[turn % count]
            torch.matmul(a_, b_.t(), out=c_)

    right, wrong = [], {}
    for plan in plans:
        c.fill_(float("nan"))
        try:
            plan.run(arguments[0])
            torch.cuda.synchronize()
        except RuntimeError as error:
            wrong[plan.name] = str(error)
            continue
        off = ((c.float() - expected).abs().max() / expected.abs().max().clamp(min=1)).item()
        if off < ERRORS[dtype]:
            right.append(plan)
        else:
            wrong[plan.name] = f"off by {off:.3g} of the largest element"

    times = {plan.name: [] for plan in right} | {"torch.matmul": []}
    hosts = {name: 20.0 for name in times}
    for turn in range(rounds + 1):
        order = [*right, None]
        random.shuffle(order)
        for plan in order:
            if plan is None:
                name, queue = "torch.matmul", graph.replay
            else:
                name = plan.name
                queue = lambda: [plan.run(arguments[at % count]) for at in range(reps)]
            run, hosts[name] = microseconds(stream, reps, queue, hosts[name])
            if turn > 0:
                times[name].append(run)
    return {name: statistics.median(all) for name, all in times.items()}, hosts, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("libraries", help="the folder of the libraries")
    parser.add_argument("--shape", action="append", required=True, metavar="MxNxK")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--type", choices=["f16", "bf16"], default="f16")
    parser.add_argument("--majors", choices=[a + b + c for a in "mk" for b in "nk" for c in "mn"], default="kkn")
    parser.add_argument("--results", help="a file that gets a line of JSON for each shape")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        sys.exit("error: expected a GPU, found none")
    dtype = {"f16": torch.float16, "bf16": torch.bfloat16}[options.type]
    stream = torch.cuda.Stream()
    torch.cuda.set_stream(stream)
    plans = [Plan(path, stream) for path in sorted(glob.glob(os.path.join(options.libraries, "lib*.so")))]
    if not plans:
        sys.exit(f"error: expected libraries, lib*.so, in {options.libraries}, found none; cute-run PACKAGE --export makes them")
    print(f"{torch.cuda.get_device_name()}, {options.type}, {options.majors}, {len(plans)} plans")
    for text in options.shape:
        shape = [int(part) for part in text.split("x")]
        here = [plan for plan in plans if plan.takes(shape)]
        times, hosts, wrong = measure(shape, here, stream, options.rounds, dtype, options.majors)
        peer = times.pop("torch.matmul")
        best = sorted(times, key=times.get)[:3]
        flops = 2e-6 * shape[0] * shape[1] * shape[2]
        print(f"{text}: torch.matmul {peer:.1f} us, {flops / peer:.0f} TFLOP/s;", *(f"{name} {times[name]:.1f} us" for name in best))
        for name, reason in wrong.items():
            print(f"  {name}: {reason}")
        if options.results:
            with open(options.results, "a") as file:
                file.write(json.dumps({"shape": shape, "torch": peer, "times": times, "hosts": hosts, "wrong": wrong}) + "\n")


main()
