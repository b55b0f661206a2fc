#!/usr/bin/env python3
"""Runs programs that ptxas miscompiles on the emulator, and beside a GPU.

    tools/miscompiles.py emulate CHECKOUT --out DIR      # with target/release/cute-run, and ptxas for the binaries
    tools/miscompiles.py compare DIR                     # on a machine with a GPU of --arch: libcuda, nothing else

CHECKOUT is one of github.com/SemiAnalysisAI/FuzzX, whose folder ptx/known-miscompiles has 100 programs that ptxas has compiled to something else
than they say, or has crashed on. What each is launched with, its CUDA program beside it says, or input.bin, else 32 threads and zeros.

`emulate` says how many the emulator executes and what it finds, and why it does not take the others. It leaves in DIR what was emulated, and two
binaries of each program, by ptxas -O0 and -O3. `compare` runs both and says where they differ from what was emulated: where -O3 alone does, the
emulator gives what the text says and the optimizer's code does not.
"""

import argparse
import ctypes
import glob
import json
import os
import re
import struct
import subprocess
import sys

SENTINEL = 0xA5A5A5A5
WORDS = 4096


def constant(text, name, otherwise):
    found = re.search(rf"constexpr \w+ {name} = (0x[0-9a-fA-F]+|\d+)", text)
    return int(found[1], 0) if found else otherwise


def launch_of(path):
    """The kernel's name, its parameters as pointers and numbers, how many threads it has, and what its input holds."""
    folder = os.path.dirname(path)
    with open(path) as file:
        text = re.sub(r"//[^\n]*", "", file.read())
    name, params = re.search(r"\.entry\s+(\w+)\s*\((.*?)\)", text, re.S).groups()
    host = os.path.join(folder, "repro_nvcc_inline_ptx.cu")
    source = open(host).read() if os.path.exists(host) else ""
    words = [0] * 1024
    data = os.path.join(folder, "input.bin")
    if os.path.exists(data) and os.path.getsize(data):
        with open(data, "rb") as file:
            given = file.read()
        given = given[:len(given) // 4 * 4]
        words[:len(given) // 4] = struct.unpack(f"<{len(given) // 4}I", given)
    for i in range(8):
        words[i] = constant(source, f"kInput{i}", words[i])
    values = []
    for param in params.split(","):
        kind = re.search(r"\.param\s+\.(\w+)\s+(\w+)", param)
        if kind:
            pointer = kind[1] == "u64"
            values.append({"out_ptr": "out"}.get(kind[2], "in") if pointer else constant(source, "kX" if kind[2] == "x" else "kN", 32))
    return text, name, values, constant(source, "kThreads", 32), words


def npy(words):
    header = "{'descr': '<u4', 'fortran_order': False, 'shape': (%d,), }" % len(words)
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{len(words)}I", *words)


def words_of(path):
    with open(path, "rb") as file:
        data = file.read()
    at = 10 + struct.unpack("<H", data[8:10])[0]
    return struct.unpack(f"<{(len(data) - at) // 4}I", data[at:])


def emulate(options):
    os.makedirs(options.out, exist_ok=True)
    known = os.path.join(options.checkout, "ptx", "known-miscompiles")
    paths = sorted(glob.glob(os.path.join(known, "*", "*.ptx")))
    executed, launches = 0, {}
    for path in paths:
        text, kernel, values, threads, given = launch_of(path)
        name = os.path.relpath(path, known).replace(os.sep, "-").removesuffix(".ptx")
        base = os.path.join(options.out, name)
        # The GPU at hand stands in for the one that the programs were found on.
        text = re.sub(r"\.target\s+\w+", f".target {options.arch}", text)
        text = re.sub(r"\.version\s+7\.\d+", ".version 8.0", text)
        with open(f"{base}.ptx", "w") as file:
            file.write(text)
        for end, words in ((".in.npy", given), (".out.npy", [SENTINEL] * WORDS)):
            with open(base + end, "wb") as file:
                file.write(npy(words))
        command = [options.cute_run, f"{base}.ptx", "--kernel", kernel, "--grid=1", f"--block={threads}", "--json", f"--output=o={base}.emulated.npy",
                   f"--memory=i=u32[{len(given)}]={base}.in.npy", f"--memory=o=u32[{WORDS}]={base}.out.npy"]
        command += [f"--arg={'&o' if value == 'out' else '&i' if value == 'in' else f'u32={value}'}" for value in values]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        try:
            findings = {finding["kind"] for finding in json.loads(done.stdout)["findings"]}
        except ValueError:
            print(f"{name}: refused: {(done.stderr.strip().splitlines() or ['no reason given'])[0]}")
            continue
        executed += 1
        if findings:
            print(f"{name}: {', '.join(sorted(findings))}")
        assembled = []
        for level in "03":
            made = subprocess.run([options.ptxas, f"-O{level}", f"-arch={options.arch}", f"{base}.ptx", "-o", f"{base}.{level}.cubin"],
                                  capture_output=True, text=True, timeout=300)
            if made.returncode == 0:
                assembled.append(level)
            else:
                print(f"{name}: ptxas -O{level} fails: {(made.stderr.strip().splitlines() or ['a crash'])[0]}")
        launches[name] = {"kernel": kernel, "values": values, "threads": threads, "levels": assembled, "findings": sorted(findings)}
    with open(os.path.join(options.out, "launches.json"), "w") as file:
        json.dump(launches, file, indent=1)
    print(f"{len(paths)} programs: {executed} executed, {sum(bool(launch['findings']) for launch in launches.values())} with findings")


class Gpu:
    """A context of the driver."""

    def __init__(self):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuInit", 0)
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)

    def call(self, name, *arguments):
        status = getattr(self.cuda, name)(*arguments)
        if status:
            raise RuntimeError(f"{name}: error {status}")

    def memory(self, words):
        data, at = struct.pack(f"<{len(words)}I", *words), ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(at), ctypes.c_size_t(len(data)))
        self.call("cuMemcpyHtoD_v2", at, data, ctypes.c_size_t(len(data)))
        return at

    def run(self, cubin, launch, given):
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cuModuleLoad", ctypes.byref(module), cubin.encode())
        self.call("cuModuleGetFunction", ctypes.byref(function), module, launch["kernel"].encode())
        memory = {"in": self.memory(given), "out": self.memory([SENTINEL] * WORDS)}
        values = [memory[value] if value in memory else ctypes.c_uint32(value) for value in launch["values"]]
        pointers = (ctypes.c_void_p * max(1, len(values)))(*[ctypes.cast(ctypes.pointer(value), ctypes.c_void_p) for value in values])
        self.call("cuLaunchKernel", function, 1, 1, 1, launch["threads"], 1, 1, 0, None, pointers, None)
        self.call("cuCtxSynchronize")
        data = ctypes.create_string_buffer(WORDS * 4)
        self.call("cuMemcpyDtoH_v2", data, memory["out"], ctypes.c_size_t(WORDS * 4))
        for at in memory.values():
            self.call("cuMemFree_v2", at)
        self.call("cuModuleUnload", module)
        return struct.unpack(f"<{WORDS}I", data.raw)


def compare(options):
    gpu = Gpu()
    with open(os.path.join(options.out, "launches.json")) as file:
        launches = json.load(file)
    counts = {}
    for name, launch in launches.items():
        base = os.path.join(options.out, name)
        emulated, given = words_of(f"{base}.emulated.npy"), words_of(f"{base}.in.npy")
        same = {level: gpu.run(f"{base}.{level}.cubin", launch, given) == emulated for level in launch["levels"]}
        verdict = {
            (True, True): "as emulated by both",
            (True, False): "as emulated by -O0, otherwise by -O3",
            (False, True): "as emulated by -O3, otherwise by -O0",
            (False, False): "otherwise by both",
        }.get((same.get("0"), same.get("3")), f"as emulated by {', '.join(f'-O{level}' for level in same if same[level]) or 'none'}; the other does not assemble")
        counts.setdefault(verdict, []).append(name + (f" ({', '.join(launch['findings'])})" if launch["findings"] else ""))
    for verdict, names in sorted(counts.items()):
        print(f"{len(names)} {verdict}: {', '.join(names)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    first = commands.add_parser("emulate")
    first.add_argument("checkout")
    first.add_argument("--out", required=True)
    first.add_argument("--cute-run", default="target/release/cute-run")
    first.add_argument("--ptxas", default=os.environ.get("CUTE_PTXAS", "ptxas"))
    first.add_argument("--arch", default="sm_90")
    first.set_defaults(run=emulate)
    second = commands.add_parser("compare")
    second.add_argument("out")
    second.set_defaults(run=compare)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    sys.exit(main())
