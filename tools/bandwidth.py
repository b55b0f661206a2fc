#!/usr/bin/env python3
"""Measures packages that memory bounds beside a copy and PyTorch's own operations, in one run, in alternation.

    tools/bandwidth.py target/release/cute-run PACKAGE=SIZES [PACKAGE=SIZES ...] [--rounds N] [--set NAME=VALUE]

Each package computes one copy, transpose, softmax or rms_norm; SIZES is the shape of its first tensor, as 65536x4096. A round
times each package once, each operation of PyTorch that computes the same, and a device-to-device copy of as many bytes, on random
normal data; the device is kept busy before each, so that no launch is part of a time. Before that, each result is compared with
PyTorch's in f64, a part of the rows at a time, with the output poisoned. Printed are medians over rounds, in GB/s of the bytes that
must move: inputs read once, outputs written once. Needs PyTorch and an NVIDIA GPU of the packages' architecture.
"""

import argparse
import ctypes
import json
import re
import statistics
import subprocess
import sys
import tempfile

import torch

DTYPES = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64}
TOLERANCES = {torch.float16: 1e-3, torch.bfloat16: 8e-3, torch.float32: 1e-5}
# Cycles that the device waits while the host queues what is timed.
AHEAD = 400_000
PART = 4096

cuda = ctypes.CDLL("libcuda.so.1")


def check(status):
    if status:
        sys.exit(f"the CUDA driver answers with error {status}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("runner")
    parser.add_argument("packages", nargs="+")
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    args = parser.parse_args()
    torch.cuda.init()
    torch.zeros(1, device="cuda")
    values = {name: float(value) for name, _, value in (text.partition("=") for text in args.set)}
    print(torch.cuda.get_device_name(0), "PyTorch", torch.__version__)
    print(f"{'package':36} {'sizes':>14} {'MB':>6} {'us':>7} {'GB/s':>6} {'copy':>6} {'PyTorch':>7} {'of copy':>7}  error")
    wrong = False
    for text in args.packages:
        package, _, sizes = text.rpartition("=")
        kernel = Kernel(args.runner, package, [int(size) for size in sizes.split("x")], values)
        error = kernel.error()
        wrong |= not error <= TOLERANCES[kernel.tensors[-1].dtype]
        calls = [kernel.launch, kernel.copy(), kernel.peer()]
        times = [[] for _ in calls]
        for turn in range(args.rounds + 3):
            for call, found in zip(calls, times):
                time = timed(call)
                if turn >= 3:
                    found.append(time)
        ours, copy, peer = (statistics.median(found) for found in times)
        bytes_ = kernel.bytes
        rate = lambda ms: bytes_ / ms / 1e6
        name = package.rsplit("/", 1)[-1].removesuffix(".cutepkg")
        print(
            f"{name:36} {sizes:>14} {bytes_ / 1e6:6.0f} {ours * 1e3:7.1f} {rate(ours):6.0f} {rate(copy):6.0f} {rate(peer):7.0f}"
            f" {copy / ours:7.1%}  {error:.1e}",
            flush=True,
        )
        del kernel, calls
        torch.cuda.empty_cache()
    sys.exit("a result is wrong" if wrong else 0)


def timed(call):
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    torch.cuda._sleep(AHEAD)
    start.record()
    call()
    end.record()
    end.synchronize()
    return start.elapsed_time(end)


class Kernel:
    """A package's only function with tensors, ready to be launched."""

    def __init__(self, runner, package, sizes, values):
        info = json.loads(subprocess.run([runner, package, "--info", "--json"], check=True, capture_output=True).stdout)
        self.function = find(info, "functions")[0]
        self.compute = self.function["computes"][0]
        kind = self.compute["kind"]
        roles = {"copy": "src dst", "transpose": "src dst", "softmax": "x out", "rms_norm": "x weight out"}[kind].split()
        self.at = [self.compute[role] for role in roles]
        arguments = self.function["args"]
        self.values = []
        for i, argument in enumerate(arguments):
            if argument["kind"] == "scalar":
                value = values.get(argument["name"], argument.get("default"))
                if value is None:
                    sys.exit(f"{package}: {argument['name']} has no value: give one, as --set {argument['name']}=1e-5 does")
                self.values.append(value)
                continue
            shape = sizes[::-1] if kind == "transpose" and i == self.at[1] else sizes
            self.values.append(tensor(argument, shape, i))
        self.tensors = [self.values[i] for i in self.at]
        self.bytes = sum(t.numel() * t.element_size() for t in self.tensors)
        self.launches = [self.prepare(runner, package, launch) for launch in self.function["launches"]]

    def prepare(self, runner, package, launch):
        with tempfile.NamedTemporaryFile() as file:
            subprocess.run([runner, package, "--emit", "cubin", "--to", file.name], check=True, capture_output=True)
            code = open(file.name, "rb").read()
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        check(cuda.cuModuleLoadData(ctypes.byref(module), code))
        check(cuda.cuModuleGetFunction(ctypes.byref(function), module, launch["kernel"].encode()))
        shared = self.evaluate(launch["dynamic_smem"])
        # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        check(cuda.cuFuncSetAttribute(function, 8, shared))
        given = [self.parameter(parameter) for parameter in launch["params"]]
        pointers = (ctypes.c_void_p * len(given))(*[ctypes.cast(ctypes.byref(g), ctypes.c_void_p) for g in given])
        sizes = [self.evaluate(size) for size in launch["grid"] + launch["block"]]
        return function, sizes, shared, given, pointers

    def parameter(self, parameter):
        ((kind, what),) = parameter.items()
        if kind == "pointer":
            return ctypes.c_uint64(self.values[what].data_ptr())
        if kind == "scalar":
            types = {"f32": ctypes.c_float, "f64": ctypes.c_double, "i32": ctypes.c_int32, "i64": ctypes.c_int64}
            return types[self.function["args"][what]["type"]](self.values[what])
        if kind == "leaf":
            wide = "i64" in leaves(self.function["args"][what[0]]["layout"])[what[1]][0]
            return (ctypes.c_int64 if wide else ctypes.c_int32)(self.leaf(what))
        expression, bits = what
        return (ctypes.c_int64 if bits == 64 else ctypes.c_int32)(self.evaluate(expression))

    def leaf(self, what):
        tensor, index = self.values[what[0]], what[1]
        known = list(tensor.shape) + list(tensor.stride())
        return known[leaves(self.function["args"][what[0]]["layout"])[index][1]]

    def evaluate(self, expression):
        if isinstance(expression, int):
            return expression
        ((name, operands),) = expression.items()
        if name == "leaf":
            return self.leaf(operands)
        if name == "scalar":
            return int(self.values[operands])
        # One operand stands alone.
        operands = operands if isinstance(operands, list) else [operands]
        operands = [self.evaluate(operand) for operand in operands]
        # No size is negative, so that quotients round alike.
        functions = {
            "add": lambda a, b: a + b,
            "sub": lambda a, b: a - b,
            "mul": lambda a, b: a * b,
            "div": lambda a, b: a // b,
            "floor_div": lambda a, b: a // b,
            "ceil_div": lambda a, b: -(-a // b),
            "rem": lambda a, b: a % b,
            "min": min,
            "max": max,
            "fits_32": lambda a: a,
            "non_negative": lambda a: a,
        }
        if name not in functions:
            sys.exit(f"{name} in an expression is not known here; known are {', '.join(functions)}")
        return functions[name](*operands)

    def launch(self):
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        for function, sizes, shared, _, pointers in self.launches:
            check(cuda.cuLaunchKernel(function, *sizes, shared, stream, pointers, None))

    def error(self):
        """|out - expected| / |expected|, both in f64."""
        out = self.tensors[-1]
        out.fill_(float("nan"))
        self.launch()
        torch.cuda.synchronize()
        difference = size = 0.0
        for first in range(0, out.shape[0], PART):
            rows = slice(first, first + PART)
            expected = self.expected(rows)
            difference += (out[rows].double() - expected).square().sum().item()
            size += expected.square().sum().item()
        return (difference / size) ** 0.5

    def expected(self, rows):
        kind, source = self.compute["kind"], self.tensors[0]
        if kind == "transpose":
            return source[:, rows].t().double()
        x = source[rows].double()
        if kind == "copy":
            return x
        if kind == "softmax":
            return torch.softmax(x, -1)
        return torch.nn.functional.rms_norm(x, x.shape[-1:], self.tensors[1].double(), self.epsilon())

    def epsilon(self):
        epsilon = self.compute["epsilon"]
        return self.values[epsilon["scalar"]] if isinstance(epsilon, dict) else epsilon

    def peer(self):
        """PyTorch's operation."""
        kind, source, out = self.compute["kind"], self.tensors[0], self.tensors[-1]
        if kind == "copy":
            return lambda: out.copy_(source)
        if kind == "transpose":
            return lambda: source.t().contiguous()
        if kind == "softmax":
            return lambda: torch.softmax(source, -1)
        weight, epsilon = self.tensors[1], self.epsilon()
        return lambda: torch.nn.functional.rms_norm(source, source.shape[-1:], weight, epsilon)

    def copy(self):
        """A copy that reads and writes as many bytes."""
        half = self.bytes // 2
        source = torch.randint(0, 255, (half,), dtype=torch.uint8, device="cuda")
        target = torch.empty_like(source)
        return lambda: target.copy_(source)


def leaves(layout):
    """(text, index among shape and strides) of each dynamic leaf of a layout without nested modes."""
    parts = re.findall(r"\?(?:\{[^}]*\})?|\d+", layout)
    return [(part, i) for i, part in enumerate(parts) if part.startswith("?")]


def tensor(argument, sizes, seed):
    """Random numbers in the layout that the argument asks for; open strides are those of a compact tensor, but for their div."""
    parts = re.findall(r"\?(?:\{[^}]*\})?|\d+", argument["layout"])
    rank = len(parts) // 2
    shape = [size if part.startswith("?") else int(part) for part, size in zip(parts[:rank], sizes if rank == len(sizes) else [0] * rank)]
    strides = parts[rank:]
    order = range(rank) if strides[0] == "1" else reversed(range(rank))
    step, found = 1, [0] * rank
    for mode in order:
        text = strides[mode]
        if text.startswith("?"):
            div = int((re.search(r"div=(\d+)", text) or [0, 1])[1])
            found[mode] = -(-step // div) * div
        else:
            found[mode] = int(text)
        step = found[mode] * shape[mode]
    generator = torch.Generator("cuda").manual_seed(seed)
    values = torch.empty_strided(shape, found, dtype=DTYPES[argument["element"]], device="cuda")
    return values.normal_(generator=generator)


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


if __name__ == "__main__":
    main()
