#!/usr/bin/env python3
"""Runs the published tests of CuTe IR against cute-opt.

    tools/conformance.py PATH-TO-CHECKOUT [--cute-opt BIN] [--llvm FOLDER] [--filter WORD]... [--json]

PATH-TO-CHECKOUT is a checkout of NVIDIA/cutlass that has `cutlass_compiler/`; nothing is fetched, and
nothing in it is changed. Each file of the dialect's and of the folding pass's tests is run through its own
RUN lines with FileCheck. The words of diagnostics are free: where a RUN line verifies diagnostics, those that
are expected and those that come are compared by line and kind (error, warning, remark, note), and by how
many there are of each. An error of type inference counts once: MLIR's own second one behind it does not.

A file that does not pass is run again case by case (what stands between two `// -----`), so that one case
does not hide the others; a case is called after the first function in it.

Deviations are listed in docs/conformance.md, in the table under the heading "Deviations", a row for each file:
`| file | cases | reason |`. The exit status is 1 where a case fails that is not listed, 2 where nothing was
run, and 0 otherwise.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
TESTS = pathlib.Path("cutlass_compiler/cute_ir/test")
FOLDERS = ["Dialect/Cute", "Transforms/CuteFoldStatic"]
# What MLIR's -verify-diagnostics reads, and what it would print.
EXPECTED = re.compile(
    r"expected-(error|note|remark|warning)(?:-re)? *(@(?:\+\d+|-\d+|above|below|unknown))? *\{\{(.*?)\}\}"
)
# What MLIR says behind an error of type inference, where the error itself is said; cute-opt says it once.
SAID_AGAIN = "failed to infer returned types"
FOUND = re.compile(r"^(.*?):(?:(\d+):\d+:)? (error|note|remark|warning): (.*)$", re.M)
VERIFY = re.compile(r"--?verify-diagnostics(=\S+)?")
TIMEOUT_S = 120


def run_lines(text):
    """The commands after `RUN:`, continuation lines joined."""
    commands, pending = [], ""
    for match in re.finditer(r"RUN:(.*)", text):
        line = match.group(1).strip()
        if line.endswith("\\"):
            pending += line[:-1] + " "
        else:
            commands.append(pending + line)
            pending = ""
    return commands


def expected_diagnostics(text):
    """How many diagnostics each (line, kind) is to have; line 0 is an unknown one."""
    lines = text.splitlines()
    counts = collections.Counter()
    for number, line in enumerate(lines, 1):
        for kind, where, message in EXPECTED.findall(line):
            if SAID_AGAIN in message:
                continue
            at = number
            if where in ("@above", "@below"):
                step = 1 if where == "@below" else -1
                at += step
                while 0 < at <= len(lines) and EXPECTED.search(lines[at - 1]):
                    at += step
            elif where == "@unknown":
                at = 0
            elif where:
                at += int(where[1:])
            counts[at, kind] += 1
    return counts


def check_diagnostics(command, text, path, environment, scratch):
    """None where the diagnostics of the command stand where they are expected, else the first that does not."""
    command = VERIFY.sub("", command) + " --mlir-print-op-on-diagnostic=false -o /dev/null"
    # Without a word that mlir-opt would take for an expectation of its own; lines stay where they are.
    copy = scratch / f"{path.parent.name}-{path.name}"
    copy.write_text(text.replace("expected-", "expected_"))
    done = shell(command, copy, environment)
    if done.returncode not in (0, 1):
        return f"{command} ended with status {done.returncode}: {first_reason(done.stdout)}"
    found, words = collections.Counter(), {}
    for name, line, kind, message in FOUND.findall(done.stdout):
        key = (int(line) if line and name == str(copy) else 0, kind)
        found[key] += 1
        words.setdefault(key, message)
    expected = expected_diagnostics(text)
    for key in sorted(expected.keys() | found.keys()):
        if expected[key] != found[key]:
            said = f": {words[key]}" if key in words else ""
            return (f"line {key[0]}: expected {expected[key]} diagnostic(s) of kind {key[1]}, "
                    f"found {found[key]}{said}")
    return None


def shell(command, path, environment):
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", command.replace("%s", f"'{path}'")],
        env=environment, timeout=TIMEOUT_S,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
    )


def listed(document):
    """{file: names of cases} of the table of deviations."""
    if not document.exists():
        return {}
    section = document.read_text().partition("## Deviations")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `([^`]+\.mlir)` \| (.+?) \| .+ \|$", section, re.M)
    return {name: set(re.findall(r"`([^`]+)`", cases)) for name, cases in rows}


def first_reason(output):
    """The first line that says what went wrong."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    for line in lines:
        if "error:" in line or "panicked" in line:
            return line
    return lines[0] if lines else "failed and said nothing"


def run_text(text, commands, path, environment, scratch):
    """None where every RUN line passes on the file at `path`, which holds `text`, else the first reason."""
    for command in commands:
        try:
            if VERIFY.search(command):
                reason = check_diagnostics(command, text, path, environment, scratch)
            else:
                done = shell(command, path, environment)
                reason = first_reason(done.stdout) if done.returncode else None
        except subprocess.TimeoutExpired:
            reason = f"took longer than {TIMEOUT_S} s: {command}"
        if reason:
            return reason.replace(f"{path.parent}{os.sep}", "")
    return None


def run_file(path, environment, scratch):
    """{case: first reason} of the cases that fail."""
    text = path.read_text()
    commands = run_lines(text)
    if not commands:
        return {"(the file)": "has no RUN line"}
    whole = run_text(text, commands, path, environment, scratch)
    if not whole:
        return {}
    failed = {}
    for number, case in enumerate(re.split(r"^ *// -----.*$", text, flags=re.M)):
        name = re.search(r"func\.func[^@]*@(\w+)", case)
        if not name:
            continue
        copy = scratch / f"{path.parent.name}-{path.stem}-{number}.mlir"
        copy.write_text(case)
        if reason := run_text(case, commands, copy, environment, scratch):
            failed[name.group(1)] = reason.replace(f"{scratch}{os.sep}", "")
    return failed or {"(the file)": whole}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("checkout", type=pathlib.Path, help="a checkout of NVIDIA/cutlass")
    parser.add_argument("--cute-opt", type=pathlib.Path, metavar="BIN",
                        help="by default target/debug/cute-opt, or that of CARGO_TARGET_DIR")
    parser.add_argument("--llvm", type=pathlib.Path, default=pathlib.Path(
        os.environ.get("LLVM_TOOLS_DIR", "/usr/lib/llvm-22/bin")), help="where FileCheck is")
    parser.add_argument("--filter", action="append", default=[], metavar="WORD",
                        help="only files whose path has this in it; may be repeated")
    parser.add_argument("--json", action="store_true", help="the result as JSON")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    return parser.parse_args()


def main():
    options = arguments()
    binary = options.cute_opt or pathlib.Path(
        os.environ.get("CARGO_TARGET_DIR", ROOT / "target"), "debug", "cute-opt")
    tests = options.checkout / TESTS
    if not tests.is_dir():
        sys.exit(f"expected {TESTS} in the checkout, found none in {options.checkout}; "
                 "check out NVIDIA/cutlass 4.7 or later")
    if not shutil.which(binary):
        sys.exit(f"expected cute-opt at {binary}; run `cargo build -p cute-opt`, or name it with --cute-opt")
    if not shutil.which(options.llvm / "FileCheck"):
        sys.exit(f"expected FileCheck in {options.llvm}; name its folder with --llvm")
    files = sorted(f for folder in FOLDERS for f in (tests / folder).rglob("*.mlir"))
    names = [str(f.relative_to(tests)) for f in files]
    chosen = [(f, n) for f, n in zip(files, names)
              if not options.filter or any(word in n for word in options.filter)]
    if not chosen:
        print(f"no test of {len(files)} has {' or '.join(options.filter)} in its path", file=sys.stderr)
        return 2
    deviations = listed(ROOT / "docs" / "conformance.md")
    with tempfile.TemporaryDirectory(prefix="cute-conformance-") as scratch:
        scratch = pathlib.Path(scratch).resolve()
        tools = scratch / "bin"
        tools.mkdir()
        (tools / "cute-opt").symlink_to(pathlib.Path(shutil.which(binary)).resolve())
        environment = dict(os.environ, PATH=os.pathsep.join(
            [str(tools), str(options.llvm), os.environ.get("PATH", "")]))
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            results = list(pool.map(
                lambda item: run_file(item[0].resolve(), environment, scratch), chosen))
    failed = {name: cases for (_, name), cases in zip(chosen, results) if cases}
    passed = [name for (_, name) in chosen if name not in failed]
    unlisted = {name: sorted(cases.keys() - deviations.get(name, set()))
                for name, cases in failed.items() if cases.keys() - deviations.get(name, set())}
    stale = {name: sorted(deviations[name] - failed.get(name, {}).keys())
             for _, name in chosen if deviations.get(name, set()) - failed.get(name, {}).keys()}
    if options.json:
        print(json.dumps({"passed": passed, "failed": failed, "unlisted": unlisted,
                          "listed_but_passing": stale}, indent=2))
    else:
        for name, cases in failed.items():
            print(f"{'FAILED' if name in unlisted else 'listed'}: {name}")
            for case, reason in cases.items():
                print(f"    {'' if case in unlisted.get(name, []) else '(listed) '}{case}: {reason}")
        for name, cases in stale.items():
            print(f"passes, though it is listed: {name}: {', '.join(cases)}")
        print(f"{len(passed)} files passed, {len(failed)} failed, "
              f"of which {len(failed) - len(unlisted)} only in cases that are listed")
    return 1 if unlisted else 0


if __name__ == "__main__":
    sys.exit(main())
