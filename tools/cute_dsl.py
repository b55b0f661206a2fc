#!/usr/bin/env python3
"""Times of Hopper's products, by hand and from whole tensors, in turn with CuTe DSL's persistent example, cuBLAS and Triton, in one run on one GPU.

    CUTE_TOOLS_DIR=FOLDER PYTHONPATH=python python3 tools/cute_dsl.py EXAMPLES [--sizes 2048 4096 8192] [--rounds 5]

EXAMPLES is the folder examples/python/CuTeDSL of a checkout of NVIDIA/cutlass; CuTe DSL (the package nvidia-cutlass-dsl) and PyTorch have to be there.
FOLDER is as of tools/bars.py. Ours, cuBLAS and, where it is installed, Triton (the kernels of tools/steps.py) are recorded into CUDA graphs of fifty launches, the example times fifty launches itself, behind a
compilation of two seconds in which the GPU rests, which is to its advantage where power bounds. All work on random normal data, in cold caches; ours
are compared with float32. What is printed are medians, and the time of each round, in microseconds.
"""

import argparse
import contextlib
import importlib.util
import io
import random
import statistics
import sys

import torch

import bars
import cute_opt
import steps

LAUNCHES = 50
KERNELS = {"by hand, cooperative": "wgmma_cooperative", "by hand, ping-pong": "wgmma_pingpong"}
# Tiles and clusters of the example.
CONFIGURATIONS = [((128, 256), (2, 1)), ((128, 256), (1, 1)), ((128, 128), (2, 1))]


def example(folder):
    """The example's module, whose tensors are filled with normal numbers: its own small integers draw less power."""
    import cutlass.torch

    matrix = cutlass.torch.matrix

    def normal(*arguments, **named):
        tensor = matrix(*arguments, **named)
        tensor.copy_(torch.randn(tensor.shape).to(tensor.dtype))
        return tensor

    cutlass.torch.matrix = normal
    sys.path.insert(0, folder)
    spec = importlib.util.spec_from_file_location("persistent", f"{folder}/cute/hopper/kernel/dense_gemm/dense_gemm_persistent.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def time_of_example(module, size, tile, cluster):
    """Microseconds of a product of f16 with sums of f32 by the example, as it times itself."""
    import cutlass

    types = (cutlass.Float16, cutlass.Float16, cutlass.Float16, cutlass.Float32)
    with contextlib.redirect_stdout(io.StringIO()):
        return module.run((size, size, size, 1), *types, "k", "k", "n", tile, cluster, 1, True, 1e-1, 5, LAUNCHES, True, True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("examples")
    parser.add_argument("--sizes", type=int, nargs="*", default=[2048, 4096, 8192])
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    module = example(options.examples)
    by_hand = {name: cute_opt.compile(f"examples/kernels/sm90/{file}.mlir", "sm_90a")["gemm"] for name, file in KERNELS.items()}
    if steps.triton:
        steps.set_allocator()
    stream = torch.cuda.Stream()
    for size in options.sizes:
        row = bars.plain(size, size, size)
        sets = [row.make() for _ in range(max(2, -(-3 * bars.CACHE // row.bytes)))]
        package = cute_opt.compile(row.kernels["known"], "sm_90a")
        ways = row.ways({"known": package[next(iter(package))]})
        ways = {"from whole tensors": ways["known"], "cuBLAS": ways["cuBLAS"]}
        for name, kernel in by_hand.items():
            ways[name] = lambda operands, kernel=kernel: kernel(*operands[:3])
        if steps.triton:
            ways["Triton, descriptors"] = lambda operands: steps.triton_persistent(*operands[:3])
        for name, way in ways.items():
            off = bars.off(row, sets, way)
            if not off < row.error:
                sys.exit(f"{size}^3, {name}: wrong, off by {off}")
        graphs = {name: bars.recorded(way, sets, LAUNCHES, stream) for name, way in ways.items()}
        examples = {f"CuTe DSL, {m}x{n}, clusters {cm}x{cn}": ((m, n), (cm, cn)) for (m, n), (cm, cn) in CONFIGURATIONS}
        times = {name: [] for name in [*graphs, *examples]}
        for _ in range(options.rounds):
            for name in random.sample(list(times), len(times)):
                if name in graphs:
                    times[name].append(bars.timed(graphs[name]) / LAUNCHES)
                else:
                    times[name].append(time_of_example(module, size, *examples[name]))
        print(f"{size}^3")
        for name, own in sorted(times.items(), key=lambda entry: statistics.median(entry[1])):
            median = statistics.median(own)
            print(f"  {name:<32} {median:8.1f} us {2e-6 * size**3 / median:6.0f} TFLOP/s   {' '.join(f'{time:.1f}' for time in own)}", flush=True)


if __name__ == "__main__":
    main()
