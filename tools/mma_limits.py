#!/usr/bin/env python3
"""Rates of `mma.sync` from registers alone, by type, and the share of them that whole products reach, in one run on one GPU.

    tools/mma_limits.py FOLDER [--size 4096] [--k 16384] [--only i8] [--rounds 5]

FOLDER has release builds of cute-opt and cute-run. The probe is a loop of 16 instructions a warp, each into sums of its own, of random operands, eight warps a
block and two blocks a multiprocessor. The products are of matrices along K (C = A B^T), with the compiler's own choice of `mma.sync` plans for sm_90, and are verified before they are timed.
Rounds take the probe and the product of each type in turn; printed are medians, in 10^12 operations a second.
"""

import argparse
import ctypes
import json
import random
import statistics
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

# By the name of the type in a product: the instruction, its sums, words of A and of B a thread, operations, and the types of C and of sums in a product.
ROWS = {
    "f16": ("m16n8k16.row.col.f32.f16.f16.f32", "f", 4, 2, 2 * 16 * 8 * 16, "f16", "f32"),
    "bf16": ("m16n8k16.row.col.f32.bf16.bf16.f32", "f", 4, 2, 2 * 16 * 8 * 16, "bf16", "f32"),
    "tf32": ("m16n8k8.row.col.f32.tf32.tf32.f32", "f", 4, 2, 2 * 16 * 8 * 8, "f32", "f32"),
    "i8": ("m16n8k32.row.col.s32.s8.s8.s32", "r", 4, 2, 2 * 16 * 8 * 32, "i32", "i32"),
}
SIDE = 4
THREADS, BLOCKS, TURNS = 256, 2, 20000


def probe(name):
    """PTX of a kernel k(in, out) whose warps multiply in a loop."""
    instruction, kind, of_a, of_b, *_ = ROWS[name]
    bits = {"f": "f32", "r": "s32"}[kind]
    lines = []
    a = lambda i, at: f"%a{i * of_a + at}"
    b = lambda i, at: f"%b{i * of_b + at}"
    c = lambda i, j, at: f"%c{(i * SIDE + j) * 4 + at}"
    for at in range(SIDE * of_a):
        lines.append(f"ld.global.b32 %a{at}, [%from+{4 * at}];")
    for at in range(SIDE * of_b):
        lines.append(f"ld.global.b32 %b{at}, [%from+{4 * (at + 7)}];")
    for at in range(4 * SIDE * SIDE):
        lines.append(f"mov.b32 %c{at}, 0;")
    lines += [f"mov.u32 %i, {TURNS};", "LOOP:"]
    for i in range(SIDE):
        for j in range(SIDE):
            sums = ", ".join(c(i, j, at) for at in range(4))
            of = ", ".join(a(i, at) for at in range(of_a)), ", ".join(b(j, at) for at in range(of_b))
            lines.append(f"mma.sync.aligned.{instruction} {{{sums}}}, {{{of[0]}}}, {{{of[1]}}}, {{{sums}}};")
    lines += ["sub.s32 %i, %i, 1;", "setp.ne.s32 %p, %i, 0;", "@%p bra LOOP;"]
    for at in range(1, 4 * SIDE * SIDE):
        lines.append(f"add.{bits} %c0, %c0, %c{at};")
    body = "\n".join(lines)
    return f"""
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 from, .param .u64 to) .maxntid {THREADS}, 1, 1 {{
.reg .b32 %a<{SIDE * of_a}>;
.reg .b32 %b<{SIDE * of_b}>;
.reg .{bits} %c<{4 * SIDE * SIDE}>;
.reg .b32 %i;
.reg .b32 %t;
.reg .b32 %n;
.reg .b32 %u;
.reg .b64 %from;
.reg .b64 %to;
.reg .pred %p;
ld.param.u64 %from, [from];
ld.param.u64 %to, [to];
mov.u32 %t, %tid.x;
mad.wide.u32 %from, %t, 64, %from;
mov.u32 %n, %ctaid.x;
mad.lo.u32 %u, %n, {THREADS}, %t;
mad.wide.u32 %to, %u, 4, %to;
{body}
st.global.b32 [%to], %c0;
ret;
}}
"""


def words(name, count):
    """Random operands: numbers between -1 and 1, or bytes."""
    make = random.Random(1)
    if name == "i8":
        return b"".join(make.getrandbits(32).to_bytes(4, "little") for _ in range(count))
    out = []
    for _ in range(count):
        if name == "f16":
            out.append(struct.pack("<2e", make.uniform(-1, 1), make.uniform(-1, 1)))
            continue
        high = [struct.pack("<f", make.uniform(-1, 1))[2:] for _ in range(2)]
        out.append(b"".join(high) if name == "bf16" else struct.pack("<f", make.uniform(-1, 1)))
    return b"".join(out)


class Gpu:
    """The first GPU, by its driver."""

    def __init__(self):
        self.cu = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        device, context, number = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_int()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)
        self.call("cuDeviceGetAttribute", ctypes.byref(number), 16, device)
        self.multiprocessors = number.value
        name = ctypes.create_string_buffer(100)
        self.call("cuDeviceGetName", name, 100, device)
        self.name = name.value.decode()

    def call(self, name, *arguments):
        code = getattr(self.cu, name)(*arguments)
        if code:
            sys.exit(f"{name} failed: error {code} of the driver")

    def loaded(self, name):
        """What launches the probe of a type and returns its rate."""
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), probe(name).encode() + b"\0")
        self.call("cuModuleGetFunction", ctypes.byref(function), module, b"k")
        source, target = ctypes.c_uint64(), ctypes.c_uint64()
        data = words(name, 16 * THREADS + 64)
        blocks = BLOCKS * self.multiprocessors
        self.call("cuMemAlloc_v2", ctypes.byref(source), len(data))
        self.call("cuMemAlloc_v2", ctypes.byref(target), 4 * THREADS * blocks)
        self.call("cuMemcpyHtoD_v2", source, data, len(data))
        events = [ctypes.c_void_p() for _ in range(2)]
        for event in events:
            self.call("cuEventCreate", ctypes.byref(event), 0)
        parameters = (ctypes.c_void_p * 2)(ctypes.addressof(source), ctypes.addressof(target))
        operations = blocks * THREADS // 32 * TURNS * SIDE * SIDE * ROWS[name][4]

        def rate():
            took = ctypes.c_float()
            self.call("cuEventRecord", events[0], None)
            self.call("cuLaunchKernel", function, blocks, 1, 1, THREADS, 1, 1, 0, None, parameters, None)
            self.call("cuEventRecord", events[1], None)
            self.call("cuCtxSynchronize")
            self.call("cuEventElapsedTime", ctypes.byref(took), *events)
            return operations / took.value / 1e9

        # The parameters' memory has to stay.
        rate.keeps = source, target
        rate()
        return rate


def product(folder, name, size, k, package):
    *_, out, sums = ROWS[name]
    of = lambda element, columns: f'!cute.memref<{element}, gmem, align<16>, "({size},{columns}):({columns},1)">'
    text = f"""func.func @product(%A: {of(name, k)}, %B: {of(name, k)}, %C: {of(out, size)}) {{
  cute.contract ins(%A, %B) outs(%C) accumulate {sums}
  return
}}
"""
    source = package.with_suffix(".mlir")
    source.write_text(text)
    subprocess.run([folder / "cute-opt", source, f"--cute-compile=arch=sm_90 package={package}", "-o", "/dev/null"], check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--size", type=int, default=4096)
    parser.add_argument("--k", type=int, help="the extent along which products are summed, where it is not the size as well")
    parser.add_argument("--only", nargs="+", choices=list(ROWS), default=list(ROWS))
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    k = options.k or options.size
    gpu = Gpu()
    print(gpu.name)
    with tempfile.TemporaryDirectory() as place:
        for name in options.only:
            package = Path(place) / f"{name}.cutepkg"
            product(options.folder, name, options.size, k, package)
            rate, found = gpu.loaded(name), [[], []]
            for turn in range(options.rounds):
                command = [options.folder / "cute-run", package, "--bench", "--json", *(["--no-verify"] if turn else [])]
                result = subprocess.run(command, check=True, capture_output=True)
                found[1].append(json.loads(result.stdout)["results"][0]["measurement"]["tflops"])
                found[0].append(statistics.median(rate() for _ in range(5)))
            limit, reached = (statistics.median(all_) for all_ in found)
            print(f"{name}: registers alone {limit:.0f}, {options.size}x{options.size}x{k} {reached:.0f}, {reached / limit:.3f} of it", flush=True)


if __name__ == "__main__":
    main()
