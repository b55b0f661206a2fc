"""Enters the compiler at every level.

usage: levels.py INPUT OPTIONS: compiles with these options of --cute-compile and dumps the module
after each pass, with locations. Each dump must parse, verify and print as the same text again; and
compiled on with the passes that are left, it must give what the whole pipeline gives, with the same
places in the same file. Prints the passes, in order.
"""

import re
import subprocess
import sys

source, options = sys.argv[1:]


def cute_opt(*arguments, stdin=None):
    done = subprocess.run(["cute-opt", "--mlir-print-debuginfo", *arguments], input=stdin, capture_output=True)
    return done.returncode, done.stdout, done.stderr


def checked(what, *arguments, stdin=None):
    code, out, err = cute_opt(*arguments, stdin=stdin)
    if code != 0:
        sys.exit(f"{what}:\n{err.decode(errors='replace')}")
    return out, err


def top_level(text):
    """Splits `a,b{x=1},c(d,e)` at the commas outside of braces and parentheses."""
    parts, depth = [""], 0
    for c in text:
        depth += (c in "({") - (c in ")}")
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return parts


def leaves(text, path=()):
    """The passes of a pipeline in order, each with the ops that it is nested in."""
    for part in top_level(text):
        nested = re.fullmatch(r"([\w.]+)\((.*)\)", part)
        if nested:
            yield from leaves(nested.group(2), (*path, nested.group(1)))
        else:
            yield path, part


def pipeline_of(leaves):
    """The text of a pipeline of such passes."""
    parts = []
    for path, name in leaves:
        for op in reversed(path):
            name = f"{op}({name})"
        parts.append(name)
    return "builtin.module(" + ",".join(parts) + ")"


compile_ = f"--cute-compile={options}"
_, said = checked("no pipeline", source, compile_, "--dump-pass-pipeline", "-o", "/dev/null")
pipeline = re.search(r"builtin\.module\((.*)\)", said.decode(), re.DOTALL).group(1)
passes = list(leaves(re.sub(r"\s+(?=[(){},])|(?<=[(){},])\s+", "", pipeline.strip())))

whole, dump = checked("does not compile", source, compile_, "--mlir-print-ir-after-all",
                      "--mlir-print-ir-module-scope", "--mlir-disable-threading")
mark = re.compile(rb"^// -----// IR Dump After \S+ \(([\w-]+)\) \('([\w.]+)' operation.*$", re.MULTILINE)
marks = list(mark.finditer(dump))
ends = [m.start() for m in marks[1:]] + [len(dump)]
# The input has one kernel, so that each pass runs once.
if len(marks) != len(passes):
    sys.exit(f"expected a dump for each of the {len(passes)} passes, found {len(marks)}")
for done, (m, end) in enumerate(zip(marks, ends), 1):
    name = m.group(1).decode()
    module = dump[m.end():end]
    if not passes[done - 1][1].startswith(name):
        sys.exit(f"expected a dump after {passes[done - 1][1]}, found one after {name}")
    read, _ = checked(f"the module after {name} is not read again", "-", stdin=module)
    again, _ = checked(f"the module after {name} is not read a third time", "-", stdin=read)
    if again != read:
        sys.exit(f"the module after {name} changes when it is read again")
    print("read again after", name)
    if name.startswith("cute-") and passes[done:]:
        rest = pipeline_of(passes[done:])
        on, _ = checked(f"the module after {name} does not compile with {rest}", "-",
                        f"--pass-pipeline={rest}", stdin=module)
        if on != whole:
            sys.exit(f"compiled from the level after {name} the result is another")
        print("compiled on after", name)
