#!/usr/bin/env python3
"""Shares of a copy's bandwidth that softmax, layer norm and RMS norm of rows reach, in one run on one GPU.

    PYTHONPATH=python python3 tools/row_maps.py PACKAGE [PACKAGE ...] [--columns 4096 1001] [--rows 16384] [--rounds 15] [--only softmax]

A package is examples/norms.mlir compiled for the GPU; several are compared with each other. Each way is checked once against float64, recorded into a
CUDA graph that runs through as many sets of tensors as exceed the cache three times, and timed in rounds, in an order of its own in each, beside PyTorch's
copy_ of as many bytes. Printed are medians: microseconds of the copy, and of each package the share of the copy's bandwidth. Bytes are those of x and y: weights and
biases are a row each. Needs the wheel and PyTorch.
"""

import argparse
import random
import statistics

import torch
import torch.nn.functional as F

import cute_opt

CACHE = 50_000_000


def recorded(way, sets, runs):
    graph, stream = torch.cuda.CUDAGraph(), torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for s in sets:
            way(s)
    stream.synchronize()
    with torch.cuda.graph(graph, stream=stream):
        for turn in range(runs):
            way(sets[turn % len(sets)])
    return graph


def timed(graph, runs):
    """Microseconds of one of the runs of a graph."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda._sleep(200_000)
    begin.record()
    graph.replay()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) * 1000 / runs


def call(function, name):
    """A call of a function of a package on a set: x, y, a weight and a bias."""

    def way(s):
        x, y, weight, bias = s
        if name == "softmax":
            function(x, y)
        elif name == "layer_norm":
            function(x, weight.expand(x.shape), bias.expand(x.shape), y)
        else:
            function(x, weight.expand(x.shape), y, 1e-5)

    return way


def expected(name, x, weight, bias):
    x = x.double()
    if name == "softmax":
        return torch.softmax(x, 1)
    if name == "layer_norm":
        return F.layer_norm(x, x.shape[1:], weight.double(), bias.double())
    return F.rms_norm(x, x.shape[1:], weight.double(), 1e-5)


def check(name, way, s):
    """The largest error, of the largest element."""
    s[1].fill_(float("nan"))
    way(s)
    want = expected(name, s[0], *s[2:])
    return ((s[1].double() - want).abs().max() / want.abs().max()).item()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", nargs="+")
    parser.add_argument("--columns", type=int, nargs="+", default=[4096, 1000, 2000, 3000, 5000, 1001, 1500, 2500, 3001, 4998])
    parser.add_argument("--rows", type=int, default=16384)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--element", choices=["f16", "f32"], default="f16", help="that of all tensors in the packages")
    parser.add_argument("--only", nargs="+", default=["softmax", "rms_norm", "layer_norm"])
    options = parser.parse_args()
    packages = {path: cute_opt.Package.load(path) for path in options.packages}
    print(torch.cuda.get_device_name(0), "PyTorch", torch.__version__)
    wrong = False
    for columns in options.columns:
        dtype = {"f16": torch.float16, "f32": torch.float32}[options.element]
        size = 2 * dtype.itemsize * options.rows * columns
        count = max(2, -(-3 * CACHE // size))
        new = lambda *shape: torch.randn(*shape, device="cuda", dtype=dtype)
        sets = [(new(options.rows, columns), new(options.rows, columns), new(columns), new(columns)) for _ in range(count)]
        for name in options.only:
            ways = {"copy": lambda s: s[1].copy_(s[0])}
            ways |= {path: call(package[name], name) for path, package in packages.items()}
            for path, way in list(ways.items())[1:]:
                error = check(name, way, sets[0])
                if not error < 2e-3:
                    wrong = True
                    print(f"{name} of {columns} columns, {path}: off by {error:.3g} of the largest element")
            runs = max(count, 16)
            graphs = {path: recorded(way, sets, runs) for path, way in ways.items()}
            found = {path: [] for path in ways}
            for turn in range(options.rounds + 1):
                order = list(ways)
                random.shuffle(order)
                for path in order:
                    took = timed(graphs[path], runs)
                    if turn:
                        found[path].append(took)
            copy, *times = (statistics.median(all_) for all_ in found.values())
            shares = ", ".join(f"{path} {100 * copy / took:.1f} %" for path, took in zip(options.packages, times))
            print(f"{name} of {columns} columns: copy {copy:.1f} us, {shares}", flush=True)
    raise SystemExit(wrong)


if __name__ == "__main__":
    main()
