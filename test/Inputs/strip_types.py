"""Prints each valid IR file below some folders by --strip-types, and checks that what is read back is the same module.

A file that cute-opt refuses, and one whose name says that it is invalid, is passed over. Says how many files and ops there
were, and exits with 1 where one differs.
"""

import subprocess
import sys
from pathlib import Path

OPTIONS = ["--split-input-file", "--allow-unregistered-dialect"]


def opt(text, *options):
    """What cute-opt prints for a text; nothing where it refuses it."""
    done = subprocess.run(["cute-opt", *OPTIONS, *options], input=text, capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else None


def main():
    files = [file for folder in sys.argv[1:] for file in sorted(Path(folder).rglob("*.mlir"))]
    read, short, wrong = 0, 0, 0
    for file in files:
        if "invalid" in file.name:
            continue
        full = opt(file.read_text())
        if full is None:
            continue
        read += 1
        stripped = opt(full, "--strip-types")
        if stripped is None or opt(stripped) != full:
            print(f"{file}: what --strip-types prints is not the same module")
            wrong += 1
            continue
        short += sum(a != b for a, b in zip(full.splitlines(), stripped.splitlines()))
    print(f"{read} files, {short} lines are shorter, {wrong} differ")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
