#!/usr/bin/env python3
"""Runs programs that ptxas miscompiles on the emulator, and beside a GPU.

    tools/miscompiles.py emulate CHECKOUT --out DIR      # with target/release/cute-run, and ptxas for the binaries
    python3 DIR/miscompiles.py compare DIR               # on a machine with a GPU of --arch: libcuda, nothing else
    tools/miscompiles.py table DIR                       # the table of docs/emulator-suites.md

CHECKOUT is one of github.com/SemiAnalysisAI/FuzzX, whose folder ptx/known-miscompiles has 100 programs that ptxas has compiled to something else
than they say, or has crashed on. What each is launched with, its CUDA program beside it says, or input.bin, else 32 threads and zeros.

`emulate` says how many the emulator executes and what it finds, why it does not take the others, and where a word that it computes is not the one
that the suite's notes or the ISA call right (miscompiles.tsv, beside this script). It leaves in DIR what was emulated, and two binaries of each
program, by ptxas -O0 and -O3. `compare` runs both and says where they differ from what was emulated: where -O3 alone does, the emulator gives what
the text says and the optimizer's code does not. Each binary is run in a process that is given up when it takes too long or loses its context. What
was seen stands in DIR/compared.json.
"""

import argparse
import csv
import ctypes
import glob
import json
import os
import re
import select
import shutil
import struct
import subprocess
import sys
import time

WORDS = 4096
KNOWN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "miscompiles.tsv")


def constant(text, name, otherwise):
    found = re.search(rf"constexpr \w+ {name} = (0x[0-9a-fA-F]+|\d+)", text)
    return int(found[1], 0) if found else otherwise


def launch_of(path):
    """The kernel's name, its parameters as pointers and numbers, how many threads it has, what its input holds, and what its output at first."""
    folder = os.path.dirname(path)
    with open(path) as file:
        text = re.sub(r"//[^\n]*", "", file.read())
    name, params = re.search(r"\.entry\s+(\w+)\s*\((.*?)\)", text, re.S).groups()
    host = os.path.join(folder, "repro_nvcc_inline_ptx.cu")
    source = open(host).read() if os.path.exists(host) else ""
    words = [0] * 1024
    variant = os.path.join(folder, "input" + os.path.basename(path).removesuffix(".ptx").removeprefix("reduced") + ".bin")
    data = variant if os.path.exists(variant) else os.path.join(folder, "input.bin")
    if os.path.exists(data) and os.path.getsize(data):
        with open(data, "rb") as file:
            given = file.read()
        given = given[:len(given) // 4 * 4]
        words[:len(given) // 4] = struct.unpack(f"<{len(given) // 4}I", given)
    listed = re.search(r"\bh_in\[\w+\] = \{(.*?)\}", source, re.S)
    numbers = [int(number, 0) for number in re.findall(r"\b(0x[0-9a-fA-F]+|\d+)u?\b", listed[1])] if listed else []
    words[:len(numbers)] = numbers
    for i in range(8):
        words[i] = constant(source, f"kInput{i}", words[i])
    values = []
    for param in params.split(","):
        kind = re.search(r"\.param\s+\.(\w+)\s+(\w+)", param)
        if kind:
            pointer = kind[1] == "u64"
            values.append({"out_ptr": "out"}.get(kind[2], "in") if pointer else constant(source, "kX" if kind[2] == "x" else "kN", 32))
    return text, name, values, constant(source, "kThreads", 32), words, constant(source, "kSentinel", 0)


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
    executed, launches, rows, agree = 0, {}, facts(KNOWN), 0
    for path in paths:
        text, kernel, values, threads, given, fill = launch_of(path)
        name = os.path.relpath(path, known).replace(os.sep, "-").removesuffix(".ptx")
        base = os.path.join(options.out, name)
        # The GPU at hand stands in for the one that the programs were found on.
        text = re.sub(r"\.target\s+\w+", f".target {options.arch}", text)
        text = re.sub(r"\.version\s+7\.\d+", ".version 8.0", text)
        with open(f"{base}.ptx", "w") as file:
            file.write(text)
        for end, words in ((".in.npy", given), (".out.npy", [fill] * WORDS)):
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
        launches[name] = {"kernel": kernel, "values": values, "threads": threads, "fill": fill, "levels": assembled, "findings": sorted(findings)}
        if name not in rows:
            print(f"{name}: not in {os.path.basename(KNOWN)}")
            continue
        found, verdict = judged(rows[name], launches[name], words_of(f"{base}.emulated.npy"))
        agree += verdict == "agrees"
        if verdict == "DISAGREES":
            print(f"{name}: word {rows[name]['word']} is {found}, and should be {rows[name]['right']}")
    with open(os.path.join(options.out, "launches.json"), "w") as file:
        json.dump(launches, file, indent=1)
    shutil.copy(os.path.abspath(__file__), options.out)
    print(f"{len(paths)} programs: {executed} executed, {sum(bool(launch['findings']) for launch in launches.values())} with findings, {agree} as they should be")


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
        with open(cubin, "rb") as file:
            image = file.read()
        self.call("cuModuleLoadDataEx", ctypes.byref(module), image, 0, None, None)
        self.call("cuModuleGetFunction", ctypes.byref(function), module, launch["kernel"].encode())
        memory = {"in": self.memory(given), "out": self.memory([launch["fill"]] * WORDS)}
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


def serve(options):
    """Runs the binaries that lines of the input name, and answers each with a line: what memory holds then, or an error. An error of the driver ends
    it, as a context that has failed once fails for good."""
    with open(os.path.join(options.out, "launches.json")) as file:
        launches = json.load(file)
    gpu = Gpu()
    print(json.dumps("ready"), flush=True)
    for line in sys.stdin:
        name, level = line.split()
        base = os.path.join(options.out, name)
        try:
            print(json.dumps(gpu.run(f"{base}.{level}.cubin", launches[name], words_of(f"{base}.in.npy"))), flush=True)
        except RuntimeError as error:
            print(json.dumps(str(error)), flush=True)
            return


class Server:
    """A process that runs binaries, begun anew after each that it did not outlive."""

    def __init__(self, out, seconds):
        self.out, self.seconds, self.process, self.rest = out, seconds, None, b""

    def line(self, seconds):
        """The next line of the process, or nothing where it ended or took too long."""
        end = time.monotonic() + seconds
        while b"\n" not in self.rest:
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, end - time.monotonic()))
            more = os.read(self.process.stdout.fileno(), 1 << 16) if ready else b""
            if not more:
                return None
            self.rest += more
        line, self.rest = self.rest.split(b"\n", 1)
        return json.loads(line)

    def stop(self):
        """Ends the process, if it has not ended, and returns its last line of errors, or its status."""
        if self.process is None:
            return ""
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        try:
            self.process.wait(0.5)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self.process.stdout.close()
        errors = self.process.stderr.read()
        self.process.stderr.close()
        status, self.process, self.rest = self.process.wait(), None, b""
        lines = errors.decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else f"status {status}"

    def run(self, name, level):
        """What memory holds after a binary has run, or why it could not."""
        if self.process is None or self.process.poll() is not None:
            self.stop()
            command = [sys.executable, os.path.abspath(__file__), "serve", self.out]
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            if self.line(120) != "ready":
                sys.exit(f"no GPU: {self.stop()}")
        try:
            self.process.stdin.write(f"{name} {level}\n".encode())
            self.process.stdin.flush()
        except BrokenPipeError:
            return f"ended: {self.stop()}"
        begun = time.monotonic()
        answer = self.line(self.seconds)
        if answer is None:
            late = time.monotonic() - begun >= self.seconds
            reason = self.stop()
            return f"longer than {self.seconds} s" if late else f"ended: {reason}"
        if isinstance(answer, str):
            self.stop()
            return answer
        return tuple(answer)


def compare(options):
    with open(os.path.join(options.out, "launches.json")) as file:
        launches = json.load(file)
    server, counts, everything = Server(options.out, options.seconds), {}, {}
    for name, launch in launches.items():
        if options.only not in name:
            continue
        emulated, seen = words_of(os.path.join(options.out, f"{name}.emulated.npy")), {}
        for level in "03":
            if level not in launch["levels"]:
                seen[level] = "does not assemble"
                continue
            found = server.run(name, level)
            if isinstance(found, str):
                seen[level] = found
                continue
            differ = [i for i in range(WORDS) if found[i] != emulated[i]]
            seen[level] = [[i, emulated[i], found[i]] for i in differ]
        everything[name] = seen
        says = {level: "as emulated" if not found else found if isinstance(found, str) else "otherwise" for level, found in seen.items()}
        verdict = f"-O0 {says['0']}, -O3 {says['3']}"
        counts.setdefault(verdict, []).append(name + (f" ({', '.join(launch['findings'])})" if launch["findings"] else ""))
        for level, found in seen.items():
            if found and not isinstance(found, str):
                words = ", ".join(f"word {i}: {was:08x} emulated, {now:08x}" for i, was, now in found[:3])
                print(f"{name}: -O{level}: {len(found)} words differ; {words}", flush=True)
            elif found:
                print(f"{name}: -O{level}: {found}", flush=True)
    server.stop()
    with open(os.path.join(options.out, "compared.json"), "w") as file:
        json.dump(everything, file, indent=1)
    for verdict, names in sorted(counts.items()):
        print(f"{len(names)} {verdict}: {', '.join(names)}")


def facts(path):
    """The rows of miscompiles.tsv: of each program the word that was looked at, what it should hold and what ptxas makes of it, where to read in the
    ISA, and what is wrong. A word that nobody knows is empty."""
    with open(path, newline="") as file:
        return {row["program"]: row for row in csv.DictReader(file, delimiter="\t")}


def judged(row, launch, words):
    """What the emulator gives in the word of a row, and what that is beside what it should hold."""
    if launch["findings"]:
        return "", "undefined: " + ", ".join(launch["findings"])
    if not row["word"]:
        return "", row["right"] or "no notes"
    found = words[int(row["word"])]
    return f"{found:x}", "agrees" if found == int(row["right"], 16) else "DISAGREES"


def table(options):
    with open(os.path.join(options.out, "launches.json")) as file:
        launches = json.load(file)
    print("| program | what ptxas gets wrong | word | right | wrong | emulator | | ISA |\n| --- | --- | ---: | --- | --- | --- | --- | --- |")
    for name, row in facts(KNOWN).items():
        found, verdict = judged(row, launches[name], words_of(os.path.join(options.out, f"{name}.emulated.npy")))
        right = row["right"] if row["word"] else ""
        print("| " + " | ".join([name.removesuffix("-reduced"), row["what"], row["word"], right, row["wrong"], found, verdict, row["section"]]) + " |")


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
    second.add_argument("--seconds", type=float, default=20, help="that a binary may take")
    second.add_argument("--only", default="", help="programs whose name has this")
    second.set_defaults(run=compare)
    for name, does in (("table", table), ("serve", serve)):
        other = commands.add_parser(name)
        other.add_argument("out")
        other.set_defaults(run=does)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    sys.exit(main())
