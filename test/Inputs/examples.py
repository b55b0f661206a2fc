"""Prints the examples of a reference of ops, types and attributes as one file of MLIR for cute-opt.

    examples.py DOCS/OPS.MD

Each fence of MLIR becomes a module, behind a comment that names whose example it is. A line
`// Given %x: type, ...` declares what the example takes; aliases of types and functions, a line each, stand before that. Of types and
attributes each line that is not indented begins one. What lacks an example is an error, and so is an example that does not mention
what it is an example of.
"""

import re
import sys

KINDS = {"Attributes": "attribute", "Types": "type"}


def sections(text):
    """(dialect, kind, name, body) of each op, type and attribute."""
    dialect = kind = None
    for part in re.split(r"^(?=##+ )", text, flags=re.M):
        heading, _, body = part.partition("\n")
        if match := re.match(r"## '(\w+)' Dialect", heading):
            dialect, kind = match.group(1), "op"
        elif match := re.match(r"### (Operations|Attributes|Types)$", heading):
            kind = KINDS.get(match.group(1), "op")
        elif match := re.match(r"#####? `(\w+\.[\w.]+)` \(", heading):
            yield dialect, "op", match.group(1), body
        elif kind != "op" and (match := re.match(r"#### (\w+)$", heading)):
            yield dialect, kind, match.group(1), body


def module(kind, name, fence):
    """The fence as the body of a module."""
    lines = fence.rstrip("\n").split("\n")
    if kind != "op":
        # One may go on, indented, on the next line.
        lines = re.sub(r"\n\s+", " ", fence.rstrip("\n")).split("\n")
    if kind == "type":
        return "".join(f"func.func private @example{i}({line})\n" for i, line in enumerate(lines))
    if kind == "attribute":
        return "".join(f"func.func private @example{i}() attributes {{example = {line}}}\n" for i, line in enumerate(lines))
    aliases, given, body = [], [], []
    for line in lines:
        if re.match(r"!\w+ = |func\.func private @", line):
            aliases.append(line)
        elif match := re.match(r"// Given (.*)$", line):
            given.append(match.group(1))
        else:
            body.append("  " + line)
    if name not in fence:
        sys.exit(f"expected an example of {name} that has it, found:\n{fence}")
    arguments = ", ".join(given)
    return "\n".join([*aliases, f"func.func @example({arguments}) {{", *body, "  return", "}"]) + "\n"


def main():
    text = open(sys.argv[1], encoding="utf-8").read()
    names = []
    for dialect, kind, name, body in sections(text):
        # The signature that the tool prints for a type is no example.
        fences = re.findall(r"^```mlir\n(.*?)^```$", body, flags=re.M | re.S)
        if not fences:
            sys.exit(f"expected an example of the {kind} {name} in a fence of MLIR, found none")
        names.append((dialect, kind, name))
        for fence in fences:
            print(f"// {dialect} {kind} {name}\n{module(kind, name, fence)}\n// -----\n")
    for kind in ("op", "type", "attribute"):
        print(f"// {kind}s: {sum(k == kind for _, k, _ in names)}")


if __name__ == "__main__":
    main()
