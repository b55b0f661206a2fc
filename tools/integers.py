#!/usr/bin/env python3
"""Integer instructions of the project's own kernels, with LLVM's simplification alone and with the compiler's.

The corpus is what the lit tests run on the emulator: each function of each file, with the sizes of its first run. Each is compiled
with `simplify=false` and with `simplify=true`; the emulator counts the instructions of PTX that warps execute, `nvdisasm` shows
those of SASS.

    tools/integers.py --tools target/release --bin target/tools/bin [--json FILE] [PATTERN ...]

Prints a table in Markdown: PTX executed in all and of these integer arithmetic, SASS in the body of the innermost loop with the most
integer instructions and in all, registers of a thread; then geometric means.
"""

import argparse
import hashlib
import json
import math
import re
import shlex
import subprocess
import sys
import tempfile
from collections import namedtuple
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Opcodes of SASS that are integer arithmetic, with their uniform twins; moves are not.
INTEGER = set("IADD3 IADD VIADD IMAD LOP3 SHF LEA ISETP SEL IMNMX VIMNMX PRMT PLOP3 IABS POPC FLO".split())
WAYS = ("false", "true")

Case = namedtuple("Case", "name file options function arguments")
Figures = namedtuple("Figures", "executed integer loop code registers")


def corpus():
    """The first run of each function in each lit test, by the command that made its package."""
    cases = {}
    files = sorted((ROOT / "examples").rglob("*.mlir")) + sorted((ROOT / "test" / "compile").glob("*.*"))
    for file in files:
        packages = {}
        text = re.sub(r"\\\n(//)?", " ", file.read_text(errors="replace"))
        for command in re.findall(r"RUN:\s*(.*)", text):
            command = command.split("|")[0].split("2>&1")[0].strip()
            for macro, value in (("%S", str(file.parent)), ("%s", str(file)), ("%inputs", str(ROOT / "test" / "Inputs"))):
                command = command.replace(macro, value)
            try:
                words = shlex.split(command)
            except ValueError:
                continue
            if words[:1] == ["cute-opt"] and len(words) > 2:
                options = [word for word in words if word.startswith("--cute-compile=")]
                found = options and re.search(r"package=(\S+?)[\"']?$|package=(\S+)", options[0])
                if found and Path(words[1]).exists():
                    packages[found[1] or found[2]] = (words[1], options[0].removeprefix("--cute-compile="))
            elif words[:1] == ["cute-run"] and "--device=emulator" in words and len(words) > 1 and words[1] in packages:
                source, options = packages[words[1]]
                rest = [word for word in words[2:] if word != "--device=emulator"]
                arguments, function = [], None
                at = iter(rest)
                for word in at:
                    key, _, value = word.partition("=")
                    if key in ("--shape", "--layout", "--set", "--sms"):
                        arguments += [key, value or next(at)]
                    elif key == "--function":
                        function = value or next(at)
                    elif key in ("--seeds", "--seed") and not value:
                        next(at, None)
                name = Path(source).stem + (f":{function}" if function else "")
                if str(source).startswith(str(ROOT / "examples" / "kernels")):
                    name += " (by hand)"
                options = re.sub(r"\b(package|simplify|candidates)=\S+", "", options)
                cases.setdefault((source, function), Case(name, source, options.strip(), function, arguments))
    return sorted(cases.values(), key=lambda case: case.name)


def integer_instructions(cubin, disassembler, is_counted):
    """Integer instructions of the loop with the most of them that has no loop within, and of all the code, summed over some kernels."""
    text = subprocess.run([disassembler, "-c", cubin], capture_output=True, text=True, check=True).stdout
    code = loops = 0
    for section in re.split(r"^\s*\.section\s+\.text\.", text, flags=re.M)[1:]:
        if not is_counted(section.split(",")[0].split()[0]):
            continue
        labels, ops = {}, []
        for line in section.splitlines():
            label = re.match(r"\s*\.(L_x_\d+):", line)
            found = re.search(r"/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?(\S+)(.*?);", line)
            if label:
                labels[label[1]] = len(ops)
            elif found:
                ops.append((found[1].split(".")[0], found[2]))
        is_integer = [name in INTEGER or name[0] == "U" and name[1:] in INTEGER for name, _ in ops]
        code += sum(is_integer)
        backward = []
        for at, (name, rest) in enumerate(ops):
            target = re.search(r"`\(\.(L_x_\d+)\)", rest)
            if name == "BRA" and target and labels.get(target[1], at + 1) < at:
                backward.append((labels[target[1]], at))
        innermost = [a for a in backward if not any(b != a and a[0] <= b[0] and b[1] <= a[1] for b in backward)]
        loops += max((sum(is_integer[start : end + 1]) for start, end in innermost), default=0)
    return loops, code


def run(*command):
    """The output of a command; nothing where it fails, with what it says on stderr."""
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if result.returncode:
        print(f"{' '.join(map(str, command))}: {(result.stderr or result.stdout).strip()[:300]}", file=sys.stderr)
        return None
    return result.stdout


def measure(case, way, tools, binaries, folder):
    """Compiles a case, if no other of its file was, and runs it; nothing where either fails."""
    compiled = f"{case.file} {case.options} {way}"
    package = folder / f"{hashlib.sha256(compiled.encode()).hexdigest()[:16]}.cutepkg"
    cubin = package.with_suffix(".cubin")
    if not package.exists():
        options = f"{case.options} simplify={way} package={package}"
        if run(tools / "cute-opt", case.file, f"--cute-compile={options}", "-o", "/dev/null") is None:
            return None
        run(tools / "cute-run", package, "--emit", "cubin", "--to", cubin)
    function = ["--function", case.function] if case.function else []
    told = run(tools / "cute-run", package, "--device=emulator", "--report", "--no-verify", *function, *case.arguments)
    info = run(tools / "cute-run", package, "--info", "--json")
    if told is None or info is None or not cubin.exists():
        return None

    def is_counted(kernel):
        return not case.function or re.match(rf"{case.function}_(\d+_)?kernel", kernel)

    kernels = re.findall(r'"name": "(\w+)",\s*"registers": (\d+)', info)
    registers = [int(count) for kernel, count in kernels if is_counted(kernel)]
    executed = sum(int(n) for n in re.findall(r"^instructions: (\d+) by warps", told, re.M))
    integer = sum(int(n) for n in re.findall(r"^\| integer +\| +(\d+)", told, re.M))
    sass = integer_instructions(cubin, binaries / "nvdisasm", is_counted)
    return Figures(executed, integer, *sass, max(registers, default=0))


def mean(pairs):
    """The geometric mean of what is left, in percent less, over pairs that are not zero."""
    logs = [math.log(after / before) for before, after in pairs if before and after]
    return 100 * (math.exp(sum(logs) / len(logs)) - 1) if logs else 0.0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tools", type=Path, default=ROOT / "target" / "release", help="folder with cute-opt and cute-run")
    parser.add_argument("--bin", type=Path, default=ROOT / "target" / "tools" / "bin", help="folder with nvdisasm")
    parser.add_argument("--json", type=Path, help="writes the figures")
    parser.add_argument("patterns", nargs="*", help="regular expressions of names; all cases by default")
    arguments = parser.parse_args()
    rows = {}
    print("| kernel | PTX executed | integer | SASS, loop | SASS, integer | registers |\n| --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for case in corpus():
            if arguments.patterns and not any(re.search(pattern, case.name) for pattern in arguments.patterns):
                continue
            both = [measure(case, way, arguments.tools, arguments.bin, Path(folder)) for way in WAYS]
            if None in both:
                continue
            rows[case.name] = [figures._asdict() for figures in both]
            cells = [f"{a}, {b}" for a, b in zip(*both)]
            print(f"| {case.name} | {' | '.join(cells)} |", flush=True)
    print(f"\n{len(rows)} kernels and functions; geometric means of the change:")
    for key in Figures._fields:
        pairs = [(before[key], after[key]) for before, after in rows.values()]
        worse = [name for name, (before, after) in rows.items() if after[key] > before[key]]
        print(f"- {key}: {mean(pairs):+.1f} %; more in {len(worse)}: {', '.join(worse[:12])}")
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
