#!/usr/bin/env python3
"""How long files take to be compiled to packages, beside other texts of the same files: the least processor time of some runs each, in turn, in
milliseconds. That of ptxas counts; what else the machine does, does not.

    tools/compile_times.py target/release examples --before /tmp/before/examples

Each file is compiled for the architecture that its first RUN line says, and for sm_90a where it says none, as it stands, as cute-opt prints it with
all types, and, where the other folder has it and this compiler takes it, as it was. `text` is what it takes to read it, without compiling. Prints a row in Markdown for each
file and the sum of those that have all of them.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path


def took(command):
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise subprocess.CalledProcessError(child.returncode, command)
    return (usage.ru_utime + usage.ru_stime) * 1000


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tools", type=Path, help="the folder of cute-opt")
    parser.add_argument("files", type=Path, help="the folder of the files")
    parser.add_argument("--before", type=Path, help="the folder of the same files as they were")
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    opt = arguments.tools.absolute() / "cute-opt"
    sums = {}
    heads = ["text", "text with all types", "compiled", "with all types", "as it was"]
    print(f"| file | {' | '.join(heads)} |\n| --- |{' --- |' * len(heads)}")
    for file in sorted(arguments.files.rglob("*.mlir")):
        name = file.relative_to(arguments.files)
        arch = re.search(r"arch=(\w+)", file.read_text())
        with tempfile.TemporaryDirectory() as folder:
            full = Path(folder, "full.mlir")
            subprocess.run([opt, file, "-o", full], check=True)
            compiled = f"--cute-compile=arch={arch[1] if arch else 'sm_90a'} package={folder}/x.cutepkg"
            commands = [[opt, file], [opt, full], [opt, file, compiled], [opt, full, compiled]]
            before = arguments.before and arguments.before / name
            if before and before.exists():
                command = [opt, before, compiled, "-o", "/dev/null"]
                if subprocess.run(command, capture_output=True).returncode == 0:
                    commands.append(command[:3])
            try:
                times = [[took([*command, "-o", "/dev/null"]) for command in commands] for _ in range(arguments.runs)]
            except subprocess.CalledProcessError as error:
                print(f"{name}: {error}", file=sys.stderr)
                return 1
        least = [min(column) for column in zip(*times)]
        print(f"| {name} | {' | '.join(f'{ms:.1f}' for ms in least)} |", flush=True)
        if len(least) == len(heads):
            for head, ms in zip(heads, least):
                sums[head] = sums.get(head, 0) + ms
    if sums:
        print(f"| sum of those with all | {' | '.join(f'{sums[head]:.0f}' for head in heads)} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
