#!/usr/bin/env python3
"""Measures the emulator on public suites of kernels with known races.

    tools/suites.py --cuda CUDA --scor DIR --indigo DIR --gpuverify DIR [--nvcc NVCC] [--seeds N] [--list] [--json FILE]

DIR is a checkout of each suite, whichever are given:

    --scor       github.com/csl-iisc/ScoR: microbenchmarks/src, 18 racy and 14 clean, with scopes
    --indigo     github.com/JohnJacobsonIII/HiRace-Artifact-SC24: indigo, 590 irregular kernels
    --gpuverify  github.com/mc-imperial/gpuverify: testsuite/CUDA, 183 kernels that pass or are expected to fail

CUDA is a folder with the headers and libdevice of a CUDA 12 toolkit: the packages nvidia-cuda-runtime-cu12,
nvidia-cuda-nvcc-cu12, nvidia-cuda-cccl-cu12 and nvidia-curand-cu12 of PyPI, copied into one folder. Needs clang 22.

With --nvcc ScoR and Indigo are compiled by that nvcc instead: bin/nvcc of the folder nvidia/cu13 that the packages nvidia-cuda-nvcc, nvidia-nvvm,
nvidia-cuda-crt, nvidia-cuda-runtime and nvidia-cuda-cccl of PyPI share. The two compilers do not write atomics alike.

Each kernel is compiled to PTX and run by `cute-run` (docs/emulator-ptx.md), with inputs that its suite or this script chooses and several
seeds. A table for each suite says what was found; --list names every kernel whose result
is not its label, and --json writes all results.

ScoR's payloads are volatile, which PTX takes for strong accesses of scope .sys: these do not race with each other, whatever else
is wrong. So ScoR is run twice: as it is, and with plain payloads (without the word), in which each missing order is a race.
"""

import argparse
import concurrent.futures
import json
import os
import random
import re
import struct
import subprocess
import sys
import tempfile
import threading

RACES = {"shared-race", "equal-writes", "global-race", "conflicting-writes", "missing-wait", "barrier-divergence"}

# GPUVerify's annotations. Assertions trap; what a test assumes of its arguments ends the threads that it does not hold for. What its
# prover alone can check is left out.
ANNOTATIONS = """
#include <cuda_runtime.h>
#include <cooperative_groups.h>
#include <curand_kernel.h>
namespace cooperative_groups { template <class Group> __device__ void synchronize(Group group) { group.sync(); } }
#define __assert(x) do { if (!(x)) __trap(); } while (0)
#define __assume(x) do { if (!(x)) asm volatile("exit;"); } while (0)
#define __requires(x) __assume(x)
#define __global_invariant(x) ((void)0)
#define __invariant(x) ((void)0)
#define __ensures(x) ((void)0)
#define __global_ensures(x) ((void)0)
#define __global_requires(x) __assume(x)
#define __axiom(x)
#define __requires_fresh_array(x) ((void)0)
#define __implies(a, b) (!(a) || (b))
#define __enabled() (true)
#define __uniform_int(x) (true)
#define __uniform_bool(x) (true)
#define __distinct_int(x) (true)
#define __ptr_offset_bytes(x) (0)
#define __read(x) (true)
#define __write(x) (true)
#define __no_read(x) (true)
#define __no_write(x) (true)
#define __read_implies(x, y) (true)
#define __write_implies(x, y) (true)
"""


class Refused(Exception):
    """A kernel that could not be compiled or run, with the reason."""


def clang(source, output, cuda, flags):
    """Compiles the device's side of a CUDA file; PTX, unless the flags say otherwise."""
    command = ["clang++-22", "-x", "cuda", source, "--cuda-device-only", "-S", "-o", output, "--cuda-gpu-arch=sm_80",
               f"--cuda-path={cuda}", "-Wno-everything", "-ferror-limit=1", *flags]
    return subprocess.run(command, capture_output=True, text=True)


def nvcc(program, source, flags):
    """The same by nvcc, with those of clang's flags that it has."""
    flags = [flag for flag in flags if not flag.startswith("-O")]
    return subprocess.run([program, "-ptx", "-arch=sm_80", "-w", *flags, source, "-o", "-"], capture_output=True, text=True)


def compile_ptx(source, options, flags):
    """The PTX of a CUDA file."""
    done = nvcc(options.nvcc, source, flags) if options.nvcc else clang(source, "-", options.cuda, flags)
    if done.returncode:
        reason = [line for line in done.stderr.splitlines() if "error:" in line]
        raise Refused("does not compile: " + (reason[0].split("error:")[1].strip() if reason else "no reason given"))
    return done.stdout


def entries(ptx):
    """Kernels of PTX, with their parameters: "pointer", the type of a number, or the bytes and the alignment of a structure."""
    found = {}
    for name, text in re.findall(r"\.entry\s+(\w+)\s*\((.*?)\)", ptx, re.S):
        params = []
        for param in text.split(","):
            kind = re.search(r"\.param\s+(?:\.align\s+(\d+)\s+)?\.([busf]\d+)\s*(\.ptr)?.*?(?:\[(\d+)\])?\s*$", param, re.S)
            if kind:
                structure = (int(kind[4]), int(kind[1] or 1)) if kind[4] else None
                params.append("pointer" if kind[3] else structure or kind[2])
        found[name] = params
    return found


def of_pointers(param):
    """Whether a parameter is a structure that is taken for pointers: of whole words, aligned as pointers are. What others hold are numbers."""
    return isinstance(param, tuple) and param[0] % 8 == 0 and param[1] == 8


def npy(elements):
    """A one-dimensional .npy file of i32."""
    header = "{'descr': '<i4', 'fortran_order': False, 'shape': (%d,), }" % len(elements)
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{len(elements)}i", *elements)


def run(options, ptx, kernel, params, values, grid, block, limit=2_000_000):
    """Kinds of what the emulator finds in a kernel. The value of a pointer is the elements of memory of i32 and whether it is only read, that of
    another parameter a number."""
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "k.ptx"), "w") as file:
            file.write(ptx)
        memory, arguments = [], []

        def pointer(elements, only_read):
            name = f"m{len(memory)}"
            with open(os.path.join(folder, f"{name}.npy"), "wb") as file:
                file.write(npy(elements))
            memory.append(f'{name} = {{ is = "i32[{len(elements)}]={name}.npy", read-only = {str(only_read).lower()} }}')
            return f"&{name}"

        for param, value in zip(params, values):
            if param == "pointer":
                arguments.append(pointer(*value))
            elif of_pointers(param):
                arguments.append("{" + ", ".join(pointer(*value) for _ in range(param[0] // 8)) + "}")
            elif isinstance(param, tuple):
                arguments.append("bytes=" + (struct.pack("<i", value) * (param[0] // 4 + 1))[:param[0]].hex())
            else:
                arguments.append(f"{param}={value}")
        lines = ["[memory]", *memory, "[[launch]]", f'kernel = "{kernel}"', f"grid = {grid}", f"block = {block}", f"args = {json.dumps(arguments)}"]
        path = os.path.join(folder, "k.toml")
        with open(path, "w") as file:
            file.write("\n".join(lines) + "\n")
        command = [options.cute_run, path, "--json", f"--seeds={options.seeds}", f"--max-instructions={limit}"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=options.timeout)
        except subprocess.TimeoutExpired as late:
            raise Refused(f"runs longer than {options.timeout} s") from late
    try:
        result = json.loads(done.stdout)
    except ValueError as bad:
        raise Refused((done.stderr or done.stdout).strip().splitlines()[0] if done.stderr or done.stdout else "no output") from bad
    if done.returncode == 2:
        raise Refused(done.stderr.strip().splitlines()[0] if done.stderr else "no reason given")
    return {finding["kind"] for finding in result["findings"]}


def verdict(kinds):
    if kinds & RACES:
        return "race"
    return "other" if kinds else "clean"


class Unit:
    """Files that are compiled together, each in a namespace of its own, as most of the time goes into CUDA's headers."""

    def __init__(self, sources, flags, prologue=""):
        self.sources, self.flags, self.prologue = sources, flags, prologue
        self.lock, self.ptx = threading.Lock(), None

    def compile(self, options):
        with self.lock:
            if self.ptx is None:
                headers = ("cuda.h", "cuda_runtime.h", "cstdio", "stdio.h", "cstdlib", "algorithm")
                text = "".join(f"#include <{header}>\n" for header in headers) + "using std::max; using std::min;\n" + self.prologue
                for number, source in enumerate(self.sources):
                    text += f'namespace unit{number} {{\n#include "{source}"\n}}\n'
                with tempfile.NamedTemporaryFile("w", suffix=".cu") as file:
                    file.write(text)
                    file.flush()
                    self.ptx = compile_ptx(file.name, options, self.flags)
        return self.ptx

    def kernels(self, options, source):
        ptx, name = self.compile(options), f"unit{self.sources.index(source)}"
        return ptx, {kernel: params for kernel, params in entries(ptx).items() if f"_ZN{len(name)}{name}" in kernel}


class Single:
    """One file."""

    def __init__(self, flags):
        self.flags = flags

    def kernels(self, options, source):
        ptx = compile_ptx(source, options, self.flags)
        return ptx, entries(ptx)


class Case:
    """A kernel of a suite: how to compile and launch it, and whether its suite calls it racy."""

    def __init__(self, name, label, source, unit, launches):
        self.name, self.label, self.source, self.unit, self.launches = name, label, source, unit, launches

    def measure(self, options):
        kinds, error = set(), None
        try:
            ptx, kernels = self.unit.kernels(options, self.source)
            if not kernels:
                raise Refused("has no kernel")
            for kernel, params in kernels.items():
                if options.nvcc:
                    # It does not say which parameters are pointers; of these suites all of 64 bits are.
                    params = ["pointer" if param == "u64" else param for param in params]
                for values, grid, block in self.launches(params):
                    kinds |= run(options, ptx, kernel, params, values, grid, block)
        except Refused as reason:
            error = str(reason)
        result = "refused" if error and not kinds else verdict(kinds)
        return {"name": self.name, "label": self.label, "verdict": result, "kinds": sorted(kinds), "error": error}


def scor(folder, plain):
    """Microbenchmarks of ScoR. All parameters are one word of memory."""
    folder = os.path.join(folder, "microbenchmarks", "src")
    files = sorted(os.listdir(folder))
    sources = [os.path.abspath(os.path.join(folder, file)) for file in files]
    unit = Unit(sources, ["-O1"], "#define volatile\n" if plain else "")
    for file, source in zip(files, sources):
        with open(source) as text:
            text = text.read()
        grid, block = (int(re.search(rf"#define {name}\s+(\d+)", text)[1]) for name in ("NBLOCKS", "TPERBLK"))

        def launches(params, grid=grid, block=block):
            yield [([0] * 16, False) for _ in params], [grid, 1, 1], [block, 1, 1]

        label = "clean" if file.startswith("norace") else "racy"
        yield Case(file.removesuffix(".cu"), label, source, unit, launches)


def indigo(folder, blocks, threads):
    """Kernels of Indigo on a graph of 100 vertices. Names say which bugs they have."""
    folder = os.path.join(folder, "indigo")
    with open(os.path.join(folder, "input", "DAG_100n_200e.egr"), "rb") as file:
        data = file.read()
    words = struct.unpack(f"<{len(data) // 4}i", data)
    nodes, edges = words[:2]
    index, neighbours = words[2:3 + nodes], words[3 + nodes:]
    size = max(nodes, edges)
    chance = random.Random(1)
    first = [0] + [chance.randrange(nodes) for _ in range(size - 1)]
    second = [0] + [chance.randrange(edges) for _ in range(size - 1)]

    def launches(_):
        values = [(index, True), (neighbours, True), (first, False), (second, False), nodes]
        yield values, [blocks, 1, 1], [threads, 1, 1]

    sources = os.path.join(folder, "indigo_sources")
    flags = ["-O1", "-I", os.path.join(folder, "indigo_include")]
    for pattern in sorted(os.listdir(sources)):
        files = sorted(os.listdir(os.path.join(sources, pattern)))
        paths = [os.path.abspath(os.path.join(sources, pattern, file)) for file in files]
        unit = Unit(paths, flags)
        for file, path in zip(files, paths):
            name = file.removesuffix(".cu")
            racy = any(bug in name for bug in ("atomicBug", "syncBug", "guardBug", "raceBug"))
            label = ("racy" if racy else "clean") + (", boundsBug" if "boundsBug" in name else "")
            yield Case(name, label, path, unit, launches)


def dims(text, name, most):
    """Sizes of a grid or a block, halved until they are few enough."""
    found = re.search(rf"--{name}=(\[[\d,]+\]|\d+)", text)
    sizes = [int(size) for size in re.findall(r"\d+", found[1])] if found else [1]
    sizes += [1] * (3 - len(sizes))
    while sizes[0] * sizes[1] * sizes[2] > most:
        sizes[sizes.index(max(sizes))] //= 2
    return sizes


def gpuverify(folder, annotations):
    """GPUVerify's tests, without optimisation, which would remove stores that nothing reads."""
    folder = os.path.join(folder, "testsuite", "CUDA")
    for path, _, files in sorted(os.walk(folder)):
        for file in sorted(files):
            if not file.endswith(".cu"):
                continue
            source = os.path.join(path, file)
            with open(source, errors="replace") as text:
                first, second = (text.readline().strip() for _ in range(2))
            grid, block = dims(second, "gridDim", 64), dims(second, "blockDim", 1024)

            def launches(params, grid=grid, block=block):
                chance = random.Random(3)
                elements = 1 << 17
                fills = [[0] * elements, list(range(elements)), [chance.randrange(16) for _ in range(elements)]]
                for number, fill in zip((1, 64, 185), fills):
                    yield [(fill, False) if param == "pointer" or of_pointers(param) else number for param in params], grid, block

            flags = ["-O0", "-Xclang", "-include-pch", "-Xclang", annotations, *re.findall(r"-D\w+=\w+", second)]
            label = "racy" if "xfail" in first else "clean"
            yield Case(os.path.relpath(source, folder), label, source, Single(flags), launches)


def table(title, results):
    print(f"\n{title}")
    print("| label | kernels | race | other finding | clean | refused |\n| --- | --- | --- | --- | --- | --- |")
    for label in sorted({result["label"] for result in results}):
        these = [result["verdict"] for result in results if result["label"] == label]
        counts = [these.count(verdict) for verdict in ("race", "other", "clean", "refused")]
        print("| " + " | ".join(map(str, [label, len(these), *counts])) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cuda", required=True)
    for suite in ("scor", "indigo", "gpuverify"):
        parser.add_argument(f"--{suite}", metavar="DIR")
    parser.add_argument("--cute-run", default="target/release/cute-run")
    parser.add_argument("--nvcc", help="compiles ScoR and Indigo in place of clang")
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--blocks", type=int, default=64, help="of Indigo's kernels")
    parser.add_argument("--threads", type=int, default=128, help="of a block of Indigo's kernels")
    parser.add_argument("--timeout", type=float, default=120, help="seconds a run may take")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", default="", help="kernels whose name has this")
    parser.add_argument("--list", action="store_true", help="names kernels whose result is not their label")
    parser.add_argument("--json", metavar="FILE", help="writes all results")
    options = parser.parse_args()
    if options.nvcc and options.gpuverify:
        parser.error("--gpuverify is compiled by clang, whose headers its annotations are precompiled with; leave out --nvcc")
    everything = {}
    with tempfile.TemporaryDirectory() as scratch:
        annotations = os.path.join(scratch, "annotations.pch")
        if options.gpuverify:
            header = os.path.join(scratch, "annotations.h")
            with open(header, "w") as file:
                file.write(ANNOTATIONS)
            done = clang(header, annotations, options.cuda, ["-O0", "-Xclang", "-emit-pch"])
            if done.returncode:
                sys.exit(done.stderr)
        suites = []
        if options.scor:
            suites.append(("ScoR, as it is", scor(options.scor, False)))
            suites.append(("ScoR, with plain payloads", scor(options.scor, True)))
        if options.indigo:
            title = f"Indigo, {options.blocks} blocks of {options.threads} threads"
            suites.append((title, indigo(options.indigo, options.blocks, options.threads)))
        if options.gpuverify:
            suites.append(("GPUVerify", gpuverify(options.gpuverify, annotations)))
        for title, cases in suites:
            cases = [case for case in cases if options.only in case.name]
            with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
                results = list(pool.map(lambda case: case.measure(options), cases))
            table(title, results)
            everything[title] = results
            if options.list:
                for result in results:
                    expected = "race" if result["label"].startswith("racy") else "clean"
                    if result["verdict"] != expected:
                        print(f"{result['label']}: {result['name']}: {result['verdict']} {result['kinds']} {result['error'] or ''}")
    if options.json:
        with open(options.json, "w") as file:
            json.dump(everything, file, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
