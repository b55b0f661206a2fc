#!/usr/bin/env python3
"""The host's time of a call from PyTorch, through TVM-FFI and through cute_opt, beside that of cuLaunchKernelEx with the same arguments, in turn.

    pip install apache-tvm-ffi
    cute-opt examples/linear_layer.mlir --cute-compile="arch=sm_90a package=linear_layer.cutepkg" -o /dev/null
    python3 tools/export_bench.py linear_layer.cutepkg [--rounds 7]

A layer of 64 rows on PyTorch's current stream. Calls are queued in lots that the driver's queue takes without waiting, and a lot's time is divided by its calls. In each round come lots of either, and then
`cute-run --bench-launch`, which measures cuLaunchKernelEx alone; what is printed are medians of rounds, in microseconds, and what a call takes beyond the driver.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile
import time

import torch
import tvm_ffi

import cute_opt

LOTS, CALLS = 100, 64


def lots(call):
    """The median microseconds of a call, of LOTS lots."""
    found = []
    for _ in range(LOTS):
        begin = time.perf_counter()
        for _ in range(CALLS):
            call()
        found.append((time.perf_counter() - begin) / CALLS * 1e6)
        torch.cuda.synchronize()
    return statistics.median(found)


def driver(package):
    """Microseconds of cuLaunchKernelEx, and of the library's call from Rust."""
    command = ["cute-run", package, "--function", "forward", "--shape", "x=64x256", "--shape", "y=64x256", "--bench-launch", "--json"]
    found = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)[0]
    return found["driver"]["median"] * 1e6, found["call"]["median"] * 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("package")
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    package = cute_opt.Package(pathlib.Path(options.package).read_bytes())
    library = tvm_ffi.load_module(str(package.export(tempfile.mkdtemp(), "linear_layer")))
    x, w = (torch.randn(n, 256, device="cuda", dtype=torch.float16) for n in (64, 256))
    y = torch.empty_like(x)
    exported, own = library["forward"], package["forward"]
    stream = torch.cuda.Stream()
    ways = {
        "PyTorch through TVM-FFI": lambda: exported(x, w, y),
        "PyTorch through cute_opt": lambda: own(x, w, y),
        "torch.mm": lambda: torch.mm(x, w, out=y),
    }
    times = {name: [] for name in [*ways, "cuLaunchKernelEx", "Rust"]}
    with torch.cuda.stream(stream):
        for call in ways.values():
            call()
        for _ in range(options.rounds):
            for name, call in ways.items():
                times[name].append(lots(call))
            alone, rust = driver(options.package)
            times["cuLaunchKernelEx"].append(alone)
            times["Rust"].append(rust)
    alone = statistics.median(times["cuLaunchKernelEx"])
    print(torch.cuda.get_device_name(), "PyTorch", torch.__version__)
    for name, own in times.items():
        median = statistics.median(own)
        print(f"{name:<28} {median:7.3f} us {median - alone:+7.3f}   {' '.join(f'{one:.2f}' for one in own)}")


if __name__ == "__main__":
    main()
