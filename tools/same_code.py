#!/usr/bin/env python3
"""Whether two versions of kernels are compiled to the same code: their PTX, to the byte, without the places of its lines.

Left out are `.loc`, `.file` and the names of places, and the numbers of lines that failed assertions name. Each kernel is compiled for the architecture that
its first RUN line says, and for sm_90a where it says none.

    git worktree add /tmp/before main
    tools/same_code.py /tmp/before/examples/kernels examples/kernels --tools target/debug

Prints a row in Markdown for each file with its lines and characters before and after, with comments and without, and whether the code
is the same; exits with 1 where one is not.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

PLACES = re.compile(r"^\s*\.(loc|file)\b.*\n|^\s*\.section\s+\.debug_str\s*\{[^}]*\}\n?|^\s*st\.param\.b32\s+\[param2\], \d+;\n", re.MULTILINE)


def code(tools, file):
    """The PTX of a file without places. Raises CalledProcessError where it is not compiled."""
    arch = re.search(r"arch=(\w+)", file.read_text())
    with tempfile.TemporaryDirectory() as folder:
        package, ptx = Path(folder, "kernel.cutepkg"), Path(folder, "kernel.ptx")
        options = f"arch={arch[1] if arch else 'sm_90a'} package={package}"
        # By its name alone, which a failed assertion prints: the folders differ.
        compile = [tools / "cute-opt", file.name, f"--cute-compile={options}", "-o", "/dev/null"]
        subprocess.run(compile, check=True, cwd=file.parent)
        subprocess.run([tools / "cute-run", package, "--emit", "ptx", "--to", ptx], check=True, stdout=subprocess.DEVNULL)
        return PLACES.sub("", ptx.read_text())


def size(file):
    """Lines and characters of a file, then those without comments, empty lines and indentation."""
    text = file.read_text()
    lines = [line.strip() for line in text.splitlines()]
    bare = [line for line in lines if line and not line.startswith("//")]
    return len(lines), len(text), len(bare), sum(map(len, bare))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--tools", type=Path, required=True, help="the folder of cute-opt and cute-run")
    arguments = parser.parse_args()
    files = sorted(file.relative_to(arguments.after) for file in arguments.after.rglob("*.mlir"))
    if not files:
        parser.error(f"expected files .mlir below {arguments.after}, found none")
    print("| file | lines | characters | without comments: lines | characters | code |\n| --- | --- | --- | --- | --- | --- |")
    different = 0
    for name in files:
        before, after = arguments.before / name, arguments.after / name
        if not before.exists():
            print(f"| {name} | | | | | new |")
            continue
        sizes = [f"{a} → {b}" for a, b in zip(size(before), size(after))]
        try:
            tools = arguments.tools.resolve()
            same = code(tools, before) == code(tools, after)
        except subprocess.CalledProcessError as error:
            print(f"{name}: {error}", file=sys.stderr)
            same = False
        different += not same
        print(f"| {name} | {' | '.join(sizes)} | {'same' if same else 'different'} |", flush=True)
    return different > 0


if __name__ == "__main__":
    sys.exit(main())
