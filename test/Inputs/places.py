"""Prints where each instruction of PTX comes from.

usage: places.py [--op] < PTX or a module with a gpu.binary: a line an instruction, as
`FILE:LINE:COLUMN [STEP] OPCODE`, or `nowhere OPCODE`; with --op, the name of the op that stands in
that line of the file is in place of the place, as `{OP}`. A place is what PTX says of it: the last
`.loc` before the instruction in its function.
"""

import os
import re
import sys

text = sys.stdin.read()
binary = re.search(r'assembly = "((?:[^"\\]|\\.)*)"', text)
if binary:
    text = re.sub(r"\\([0-9A-F]{2})", lambda m: chr(int(m[1], 16)), binary[1])

files = dict(re.findall(r'^\s*\.file\s+(\d+) "(.*)"', text, re.MULTILINE))
files = {n: re.sub(r"%([0-9A-F]{2})", lambda m: chr(int(m[1], 16)), f) for n, f in files.items()}
steps = {label: bytes(int(b) for b in data.split(",")[:-1]).decode()
         for label, data in re.findall(r"^(\$L__info_string\d+):\s+\.b8 ([\d,]+)", text, re.MULTILINE)}


def op(file, line):
    try:
        with open(file) as source:
            text = source.read().split("\n")[line - 1]
    except OSError:
        return "{not read}"
    return "{" + re.match(r"\s*(?:%[\w:, %]+ = )?([\w.]*)", text)[1] + "}"


place, words = None, []
for line in text.split("\n"):
    line = line.split("//")[0].strip()
    if re.search(r"\.(entry|func)\b", line):
        place = None
    elif line.startswith(".loc"):
        _, file, row, column = line.replace(",", " ").split()[:4]
        step = re.search(r"function_name (\S+), inlined_at (\d+ \d+ \d+)", line)
        if step and step[2] != f"{file} {row} {column}":
            sys.exit(f"inlined somewhere else: {line}")
        place = None
        if row != "0":
            place = f"{os.path.basename(files[file])}:{row}:{column}"
            if "--op" in sys.argv:
                place = op(files[file], int(row))
            place += f" [{steps[step[1]]}]" if step else ""
    elif words or re.match(r"[@a-z][^:]*$", line):
        # An instruction, which may go over several lines.
        words += line.split()
        if line.endswith(";"):
            opcode = words[1] if words[0].startswith("@") else words[0]
            print(place or "nowhere", opcode.rstrip(";"))
            words = []
