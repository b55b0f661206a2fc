#!/usr/bin/env python3
"""Runs whole CUDA programs of HeCBench on the emulator, and says what became of each.

    tools/programs.py --cuda CUDA --hecbench DIR --build DIR [--only NAME,NAME] [--timeout SECONDS] [--json FILE]

--hecbench is a checkout of github.com/zjin-lcf/HeCBench (src/NAME-cuda). CUDA is a folder with the headers, libdevice, ptxas, fatbinary and
libcudart.so of a CUDA 12 toolkit. --build is a folder for the programs, which are compiled once by clang 22 and a host compiler.

A program runs with the arguments of its Makefile (`make run`), or with the smaller ones that stand below: what takes a GPU a second takes an
emulator hours. Its own verdict, PASS or FAIL, is looked for in what it prints.
"""

import argparse
import concurrent.futures
import json
import os
import re
import shlex
import subprocess
import sys

# Arguments of programs whose own ones ask for too much work.
SMALLER = {}


def makefile(folder):
    """Sources and arguments of a program, as its Makefile has them."""
    with open(os.path.join(folder, "Makefile"), errors="replace") as file:
        text = file.read().replace("\\\n", " ")
    source = re.search(r"^source\s*[:+]?=\s*(.*)$", text, re.M)
    sources = source[1].split() if source else []
    run = re.search(r"^run:.*\n((?:\t.*\n?)+)", text, re.M)
    arguments = []
    if run:
        line = re.search(r"\./\$\(program\)(.*)|\./main(.*)", run[1])
        if line:
            arguments = shlex.split((line[1] or line[2] or "").split(";")[0].split(">")[0])
    includes = re.findall(r"-I\s*(\S+)", text)
    defines = [define for define in re.findall(r"-D\S+", text) if "$" not in define and define not in ("-DDEBUG",)]
    return sources, arguments, includes, defines


def build(options, folder, program):
    """Compiles a program; why it could not be, or nothing."""
    sources, _, includes, defines = makefile(folder)
    if not sources:
        return "its Makefile names no sources"
    if any("$" in source or not os.path.exists(os.path.join(folder, source)) for source in sources):
        return "a source is missing"
    command = ["clang++-22", "--no-offload-new-driver", "-O2", "-gline-tables-only", "-std=c++17", "--cuda-gpu-arch=sm_80", "--cuda-include-ptx=all",
               f"--cuda-path={options.cuda}", "-Wno-everything", "-ferror-limit=1", *[f"-I{path}" for path in includes if "$" not in path],
               *defines, "-x", "cuda", *sources, "-x", "none", "-L", os.path.join(options.cuda, "lib"), "-lcudart", "-lpthread", "-lm", "-o", program]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
    except subprocess.TimeoutExpired:
        return "compiling takes longer than 300 s"
    if done.returncode:
        wrong = [line for line in done.stderr.splitlines() if "error" in line or "undefined" in line]
        return "does not compile: " + (wrong[0].strip() if wrong else "no reason given")
    return None


def verdict(output):
    """A program's own verdict."""
    if re.search(r"\bFAIL(ED|S|URE)?\b|\bMISMATCH\b|[Ee]rror: (?!0)|verification failed", output, re.I) and not re.search(r"\bPASS", output):
        return "fail"
    if re.search(r"\bFAIL(ED|S|URE)?\b", output):
        return "fail"
    if re.search(r"\bPASS(ED|ES)?\b|\bSUCCE|\bOK\b|\bcorrect\b", output, re.I):
        return "pass"
    return "none"


def measure(options, name):
    folder = os.path.join(options.hecbench, "src", f"{name}-cuda")
    program = os.path.join(os.path.abspath(options.build), name)
    result = {"name": name, "compiled": True, "status": None, "verdict": None, "findings": [], "errors": [], "launches": 0, "why": None}
    if not os.path.exists(program):
        result["why"] = build(options, folder, program)
        if result["why"]:
            result["compiled"] = False
            return result
    if options.compile:
        return result
    _, arguments, _, _ = makefile(folder)
    arguments = SMALLER.get(name, arguments)
    report = program + ".report.json"
    command = [options.cute_run, f"--cuda-report={report}", "--findings=5", "--cuda", program, *arguments]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=options.timeout)
        output, result["status"] = done.stdout + done.stderr, done.returncode
        result["verdict"] = verdict(done.stdout)
        result["output"] = output[-4000:]
    except subprocess.TimeoutExpired as late:
        result["why"] = f"runs longer than {options.timeout} s"
        result["verdict"] = verdict((late.stdout or b"").decode(errors="replace"))
    try:
        with open(report) as file:
            told = json.load(file)
        result.update(findings=[f["kind"] for f in told["findings"]], errors=told["errors"], launches=told["launches"])
    except (OSError, ValueError):
        pass
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cuda", required=True)
    parser.add_argument("--hecbench", required=True)
    parser.add_argument("--build", required=True)
    parser.add_argument("--only")
    parser.add_argument("--compile", action="store_true", help="compile alone")
    parser.add_argument("--timeout", type=float, default=60)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--cute-run", default="target/release/cute-run")
    parser.add_argument("--json")
    options = parser.parse_args()
    options.cute_run = os.path.abspath(options.cute_run)
    options.hecbench = os.path.abspath(options.hecbench)
    os.makedirs(options.build, exist_ok=True)
    names = sorted(entry.removesuffix("-cuda") for entry in os.listdir(os.path.join(options.hecbench, "src")) if entry.endswith("-cuda"))
    if options.only:
        names = options.only.split(",")
    results = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for result in pool.map(lambda name: measure(options, name), names):
            results.append(result)
            kinds = ", ".join(sorted(set(result["findings"]))) or "no findings"
            words = result["why"] or f"{result['verdict']}, status {result['status']}, {result['launches']} launches, {kinds}"
            errors = f"; {result['errors'][0]}" if result["errors"] else ""
            print(f"{result['name']}: {words}{errors}", flush=True)
    if options.json:
        with open(options.json, "w") as file:
            json.dump(results, file, indent=1)
    compiled = [result for result in results if result["compiled"]]
    passed = [result for result in compiled if result["verdict"] == "pass" and result["why"] is None]
    print(f"\n{len(results)} programs, {len(compiled)} compiled, {len(passed)} ran to their own PASS")
    return 0


if __name__ == "__main__":
    sys.exit(main())
