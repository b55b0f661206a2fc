#!/usr/bin/env python3
"""Integer instructions of the project's own kernels, with LLVM's simplification alone and with the compiler's.

The corpus is what the lit tests run on the emulator: each function of each file, with the sizes of its first run. Each is compiled in
several ways: `llvm` is `simplify=false`, `all` is what the compiler does; `eager` and `greedy` apply the same rules in cheaper ways, and `mlir`
has MLIR's canonicalisation in their place. LLVM's passes run behind each. The emulator counts the instructions of PTX that warps execute,
`nvdisasm` shows those of SASS.

    tools/integers.py --tools target/release --bin target/tools/bin [--ways llvm,all] [--json FILE] [PATTERN ...]
    tools/integers.py --tools target/release --times

Prints a table in Markdown: PTX executed in all and of these integer arithmetic, SASS in the body of the innermost loop with the most
integer instructions and in all, registers of a thread; then geometric means of the change from the first way to each other one, by kind of
kernel. With `--times`, how long the pass that simplifies takes for each kernel of the corpus.
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
WAYS = {"llvm": "simplify=false", "all": "simplify=true", "eager": "rules=eager", "greedy": "rules=greedy", "mlir": "rules=mlir"}

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
        options = f"{case.options} {WAYS[way]} package={package}"
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


# Kinds of kernels, by the first pattern that the name of one has.
KINDS = {
    "kernels by hand": r"\(by hand\)",
    "convolutions, gathers, gradients": r"conv|im2col|gather",
    "products with K split": r"split|parts",
    "fused regions, attention": r"fused|attention|swiglu|nested|experts|deep",
    "products with prologues, epilogues, reduced outputs": r"prologue|epilogue|reduced|linear_gelu|w8a16|scale",
    "maps and reductions": r"^maps|^map_|norms|algorithms|cluster|softmax",
    "other products: transposes, tails, batches, open sizes, types": r"",
}


def kind(name):
    """The kind of a kernel."""
    return next(kind for kind, pattern in KINDS.items() if re.search(pattern, name))


def compare(rows, ways):
    """Prints the geometric means of the change from the first way to each other one, by kind, and what has more than in the first."""
    for way in ways[1:]:
        print(f"\n{ways[0]} to {way}; geometric means of the change:\n")
        print("| kernels | how many | executed | integer | SASS, loop | SASS | registers |\n| --- | --- | --- | --- | --- | --- | --- |")
        for chosen in [*sorted(KINDS), "all"]:
            pairs = [(row[ways[0]], row[way]) for name, row in rows.items() if chosen in ("all", kind(name))]
            if pairs:
                means = [mean([(before[key], after[key]) for before, after in pairs]) for key in Figures._fields]
                cells = [f"{value:+.1f} %".replace("-", "−") for value in means]
                print(f"| {chosen} | {len(pairs)} | {' | '.join(cells)} |")
        print()
        for key in Figures._fields:
            worse = {name: (row[ways[0]][key], row[way][key]) for name, row in rows.items() if row[way][key] > row[ways[0]][key]}
            named = [f"{name} ({before}, {after})" for name, (before, after) in worse.items()]
            print(f"- {key}: more in {len(worse)}: {', '.join(named[:12])}")


def kernels_of(text):
    """Modules of one kernel each, of a module with several."""
    lines = text.splitlines()
    starts = [at for at, line in enumerate(lines) if re.match(r"\s*gpu\.func @", line)]
    depth = len(lines[starts[0]]) - len(lines[starts[0]].lstrip()) if starts else 0
    end = re.compile(rf" {{{depth}}}}}")
    spans = [(at, next(to for to in range(at + 1, len(lines)) if end.match(lines[to]))) for at in starts]
    module = next(at for at, line in enumerate(lines) if re.match(r"\s*gpu\.module @", line))
    needed = [line for line in lines[module + 1 :] if re.match(r"\s*llvm\.(mlir\.global|func)", line)]
    for at, to in spans:
        name = re.search(r"@(\w+)", lines[at])[1]
        yield name, "\n".join(["module {", lines[module], *needed, *lines[at : to + 1], "}", "}"])


def times(tools, patterns):
    """Prints how long the pass takes for each kernel, the quickest of five runs, and the percentiles of these."""
    taken = {}
    with tempfile.TemporaryDirectory() as folder:
        for case in {(case.file, case.options): case for case in corpus()}.values():
            if patterns and not any(re.search(pattern, case.name) for pattern in patterns):
                continue
            dump = ("--mlir-print-ir-before=cute-simplify-indices", "--mlir-print-ir-module-scope", "--mlir-disable-threading")
            command = [tools / "cute-opt", case.file, f"--cute-compile={case.options}", *dump, "-o", "/dev/null"]
            text = subprocess.run([str(word) for word in command], capture_output=True, text=True).stderr
            dumps = re.split(r"^// -----// IR Dump Before.*$", text, flags=re.M)[1:]
            # Where no plan spills, the first one is the one that is taken.
            module = next((dump for dump in dumps if "gpu.module" in dump), "")
            for name, kernel in kernels_of(module) if module else ():
                key = f"{Path(case.file).stem}:{name}"
                if key in taken:
                    continue
                file = Path(folder) / "kernel.mlir"
                file.write_text(kernel)
                command = [tools / "cute-opt", file, "--cute-simplify-indices", "--mlir-timing", "-o", "/dev/null"]
                found = []
                for _ in range(5):
                    told = subprocess.run([str(word) for word in command], capture_output=True, text=True).stderr
                    found += [float(s) for s in re.findall(r"([\d.]+) \([^)]*\)\s+cute-simplify-indices", told)]
                if found:
                    taken[key] = (1000 * min(found), len(kernel.splitlines()))
    ordered = sorted(taken.items(), key=lambda item: item[1])
    for name, (ms, lines) in ordered[::-1][:20]:
        print(f"{ms:8.1f} ms  {lines:6} operations  {name}")
    for part in (50, 90, 99):
        print(f"p{part}: {ordered[min(len(ordered) - 1, len(ordered) * part // 100)][1][0]:.1f} ms of {len(ordered)} kernels")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tools", type=Path, default=ROOT / "target" / "release", help="folder with cute-opt and cute-run")
    parser.add_argument("--bin", type=Path, default=ROOT / "target" / "tools" / "bin", help="folder with nvdisasm")
    parser.add_argument("--ways", default="llvm,all", help=f"ways to compile, the first one to compare with: of {', '.join(WAYS)}")
    parser.add_argument("--times", action="store_true", help="measures the pass instead")
    parser.add_argument("--json", type=Path, help="writes the figures")
    parser.add_argument("patterns", nargs="*", help="regular expressions of names; all cases by default")
    arguments = parser.parse_args()
    if arguments.times:
        return times(arguments.tools, arguments.patterns)
    ways = arguments.ways.split(",")
    if unknown := [way for way in ways if way not in WAYS]:
        parser.error(f"no such way: {', '.join(unknown)}")
    rows = {}
    print("| kernel | PTX executed | integer | SASS, loop | SASS, integer | registers |\n| --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for case in corpus():
            if arguments.patterns and not any(re.search(pattern, case.name) for pattern in arguments.patterns):
                continue
            found = [measure(case, way, arguments.tools, arguments.bin, Path(folder)) for way in ways]
            if None in found:
                continue
            rows[case.name] = {way: figures._asdict() for way, figures in zip(ways, found)}
            cells = [", ".join(map(str, figures)) for figures in zip(*found)]
            print(f"| {case.name} | {' | '.join(cells)} |", flush=True)
    compare(rows, ways)
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1))
    return None


if __name__ == "__main__":
    main()
