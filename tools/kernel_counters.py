#!/usr/bin/env python3
"""Measures what whole kernels cost, with Nsight Compute, on the GPU at hand.

    tools/kernel_counters.py measure TABLE  launches the kernels of TABLE under ncu and writes their counters into it
    tools/kernel_counters.py launch TABLE   launches them, and prints a hash of what each leaves in its last argument

runtime/tests/kernels/kernels.json is such a table: for each launch its kernel, the file of PTX beside the table, grid, block,
dynamic shared memory, and arguments (element, layout, access). runtime/tests/kernels.rs emulates the same launches and
compares. Arguments that are read hold `word`s; others hold zeros. Needs `ncu`, the right to read counters, and a
driver, which assembles the PTX.
"""

import argparse
import csv
import ctypes
import io
import json
import os
import subprocess
import sys

SASS = "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_{}.sum"
COUNTERS = [
    "memory_l1_wavefronts_shared",
    "memory_l1_wavefronts_shared_ideal",
    *(SASS.format(op) for op in ("ldsm", "st", "ld", "ldgsts", "atom")),
    *(f"l1tex__t_{what}_pipe_lsu_mem_global_op_{op}.sum" for op in ("ld", "st", "red") for what in ("requests", "sectors")),
    "memory_l2_theoretical_sectors_global_ideal",
    "launch__registers_per_thread",
    "launch__occupancy_limit_registers",
    "launch__occupancy_limit_warps",
    "launch__occupancy_limit_blocks",
]
BYTES = {"f16": 2, "f32": 4, "i32": 4}


def word(i):
    """What word i of an argument is; as f16, two numbers below 2."""
    return (i * 2654435761 >> 7 ^ i * i) & 0x3FFF3FFF


def size(layout):
    """Bytes of a compact layout, by its shape."""
    n = 1
    for extent in layout.split(":")[0].strip("()").split(","):
        n *= int(extent)
    return n


def launch(path):
    cu = ctypes.CDLL("libcuda.so.1")

    def call(name, *args):
        rc = getattr(cu, name)(*args)
        if rc:
            raise RuntimeError(f"{name} returned {rc}")

    call("cuInit", 0)
    device, context = ctypes.c_int(), ctypes.c_void_p()
    call("cuDeviceGet", ctypes.byref(device), 0)
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    call("cuCtxSetCurrent", context)
    with open(path) as f:
        table = json.load(f)
    for entry in table:
        with open(os.path.join(os.path.dirname(path), entry["ptx"]), "rb") as f:
            module, function = ctypes.c_void_p(), ctypes.c_void_p()
            call("cuModuleLoadData", ctypes.byref(module), f.read() + b"\0")
        call("cuModuleGetFunction", ctypes.byref(function), module, entry["kernel"].encode())
        pointers = []
        for element, layout, access in entry["args"]:
            words = size(layout) * BYTES[element] // 4
            data = (ctypes.c_uint32 * words)(*(word(i) if access == "read" else 0 for i in range(words)))
            pointer = ctypes.c_uint64()
            call("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(4 * words))
            call("cuMemcpyHtoD_v2", pointer, data, ctypes.c_size_t(4 * words))
            pointers.append(pointer)
        params = (ctypes.c_void_p * len(pointers))(*(ctypes.cast(ctypes.byref(p), ctypes.c_void_p) for p in pointers))
        call("cuLaunchKernel", function, *entry["grid"], *entry["block"], entry["dynamic_smem"], None, params, None)
        call("cuMemcpyDtoH_v2", data, pointers[-1], ctypes.c_size_t(4 * words))
        h = 0xCBF29CE484222325
        for value in data:
            h = (h ^ value) * 0x100000001B3 & (1 << 64) - 1
        print("left", f"{h:016x}", entry["kernel"], flush=True)


def measure(path):
    command = ["ncu", "--csv", "--page", "raw", "--clock-control", "none", "--cache-control", "none"]
    command += ["--metrics", ",".join(COUNTERS), sys.executable, os.path.abspath(__file__), "launch", path]
    done = subprocess.run(command, capture_output=True, text=True)
    at = done.stdout.find('"ID"')
    if at < 0:
        raise RuntimeError(f"ncu gave no table:\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    rows = list(csv.DictReader(io.StringIO(done.stdout[at:])))[1:]
    left = [line.split()[1] for line in done.stdout[:at].splitlines() if line.startswith("left ")]
    with open(path) as f:
        table = json.load(f)
    if [row["Kernel Name"] for row in rows] != [entry["kernel"] for entry in table] or len(left) != len(rows):
        raise RuntimeError(f"expected {len(table)} launches, ncu gave {len(rows)}:\n{done.stdout[:at][-2000:]}")
    for entry, row, value in zip(table, rows, left):
        entry["left"] = value
        entry["counters"] = {name: int(float(row[name].replace(",", ""))) for name in COUNTERS if row[name]}
    with open(path, "w") as f:
        lines = (json.dumps(entry).replace(', "counters": {', ',\n  "counters": {').replace('"counters": {', '"counters": {\n    ') for entry in table)
        f.write("[\n" + ",\n".join(lines) + "\n]\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("verb", choices=["measure", "launch"])
    parser.add_argument("table")
    args = parser.parse_args()
    (measure if args.verb == "measure" else launch)(args.table)


if __name__ == "__main__":
    main()
