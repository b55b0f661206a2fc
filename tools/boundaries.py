#!/usr/bin/env python3
"""Checks of whole products on one GPU by NVIDIA's tools, over the plans that the compiler has for them.

    tools/boundaries.py sanitize FOLDER [--shapes 50] [--candidates 24] [--tools memcheck racecheck synccheck] [--jobs 8]
    tools/boundaries.py conflicts FOLDER [--candidates 60] [--only "sm_90 f16 kk"]

FOLDER has cute-opt and cute-run. `sanitize` takes products whose extents are at the boundaries of tiles, vectors and warps, of several types and transposes, and runs all
candidates of each, for sm_90a and with the instructions of sm_90, under compute-sanitizer, which is to find nothing; each candidate is compared with the product first. `conflicts`
runs candidates of a product with an open K under Nsight Compute, for two numbers of turns of the main loop, and counts conflicts of banks, of loads (ldmatrix among them) and stores: those of the turns
between are of the loop. Both print what they found and exit with 1 if there is anything; conflicts are beside the wavefronts of the same accesses, as some hundredths come from what else a
multiprocessor does at the time.
"""

import argparse
import concurrent.futures
import csv
import io
import itertools
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

EXTENTS = [1, 2, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 63, 64, 65, 96, 127, 128, 129, 136, 191, 192, 193, 255, 256, 257, 264, 320, 383, 385]
# Elements of A and B, of C, and of sums.
TYPES = [("f16", "f16", "f32"), ("f16", "f16", "f32"), ("bf16", "bf16", "f32"), ("f16", "f32", "f32"), ("tf32", "f32", "f32"), ("i8", "i32", "i32")]
TYPES_90A = [("f8E4M3FN", "bf16", "f32")]
CONFLICTS = [f"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{op}.sum" for op in ("ld", "st")]
WAVEFRONTS = "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"
# The share of wavefronts that are counted as conflicts where there are none.
NOISE = 0.02
SECONDS = 240


def matrix(element, rows, columns, by_rows):
    strides = f"{columns},1" if by_rows else f"1,{rows}"
    return f'!cute.memref<{element}, gmem, align<16>, "({rows},{columns}):({strides})">'


def product(m, n, k, types, majors):
    element, out, sums = types
    a, b, c = matrix(element, m, k, majors[0]), matrix(element, n, k, majors[1]), matrix(out, m, n, True)
    return f"""func.func @product(%A: {a}, %B: {b}, %C: {c}) {{
  cute.contract ins(%A, %B) outs(%C) accumulate {sums}
  return
}}
"""


def problems(count):
    """Sizes, types and transposes, always the same."""
    make = random.Random(20)
    for at in range(count):
        types = make.choice(TYPES)
        sizes = [make.choice(EXTENTS) for _ in range(3)]
        # Every third one has lines of whole vectors, which TMA and wide copies take.
        if at % 3:
            sizes[2] = -(-sizes[2] // 16) * 16
            sizes[1] = -(-sizes[1] // 16) * 16
        yield at, sizes, types, (make.random() < 0.7, make.random() < 0.7)


def compiled(folder, text, arch, candidates, package):
    source = package.with_suffix(".mlir")
    source.write_text(text)
    command = [folder / "cute-opt", source, f"--cute-compile=arch={arch} candidates={candidates} package={package}", "-o", "/dev/null"]
    return subprocess.run(command, capture_output=True, text=True)


def sanitized(job):
    """What a tool says of all candidates of a problem: a word, the number of candidates, and the end of its text."""
    options, place, (at, sizes, types, majors), arch = job
    name = f"{'x'.join(map(str, sizes))} {types[0]} to {types[1]}, {''.join('mk'[major] for major in majors)}, {arch}"
    package = Path(place) / f"{at}-{arch}.cutepkg"
    made = compiled(options.folder, product(*sizes, types, majors), arch, options.candidates, package)
    if made.returncode:
        return name, {"compile": made.stderr[-600:]}, 0
    info = json.loads(subprocess.run([options.folder / "cute-run", package, "--info", "--json"], capture_output=True, check=True).stdout)
    count = sum(len(choice["candidates"]) for function in info["functions"] for choice in function.get("choices", [])) or 1
    bad = {}
    for tool in options.tools:
        run = [options.folder / "cute-run", package, "--tune", "--reps", "1", "--warmup", "0", "--rounds", "1"]
        if count == 1:
            run = [options.folder / "cute-run", package]
        command = ["compute-sanitizer", "--tool", tool, "--error-exitcode", "9", *run]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            bad[tool] = "no end"
            continue
        said = done.stdout + done.stderr
        if done.returncode or "ERROR SUMMARY: 0 errors" not in said and "RACECHECK SUMMARY: 0 hazards" not in said:
            bad[tool] = said[-1500:]
    return name, bad, count


def sanitize(options):
    jobs = []
    with tempfile.TemporaryDirectory() as place:
        for problem in problems(options.shapes):
            for arch in ("sm_90a", "sm_90"):
                at, sizes, types, majors = problem
                if arch == "sm_90a" and at % 10 == 9:
                    problem = at, sizes, TYPES_90A[0], (True, True)
                jobs.append((options, place, problem, arch))
        all_, failed = 0, 0
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            for name, bad, count in pool.map(sanitized, jobs):
                all_ += count
                failed += bool(bad)
                for tool, said in bad.items():
                    print(f"{name}: {tool}: {said}", flush=True)
        print(f"{len(jobs)} packages with {all_} candidates under {', '.join(options.tools)}: {failed} with findings")
    return failed


def counted(options, package, k):
    """Conflicts and wavefronts by kernel."""
    shapes = [f"A=1024x{k}", f"B=1024x{k}"]
    run = [options.folder / "cute-run", package, "--tune", "--reps", "1", "--warmup", "0", "--rounds", "1"]
    run += itertools.chain.from_iterable(("--shape", shape) for shape in shapes)
    counters = [*CONFLICTS, WAVEFRONTS]
    command = ["ncu", "--csv", "--cache-control", "none", "--clock-control", "none", "--metrics", ",".join(counters), *run]
    done = subprocess.run(command, capture_output=True, text=True)
    lines = done.stdout.splitlines()
    start = next((at for at, line in enumerate(lines) if line.startswith('"ID"')), None)
    if start is None:
        sys.exit(f"ncu: {done.stdout[-800:]}{done.stderr[-800:]}")
    found = {}
    for row in csv.DictReader(io.StringIO("\n".join(lines[start:]))):
        if row["Metric Name"] in counters:
            kernel = found.setdefault(row["Kernel Name"], {})
            kernel.setdefault(row["Metric Name"], float(row["Metric Value"].replace(",", "")))
    return {name: (sum(values[one] for one in CONFLICTS), values[WAVEFRONTS]) for name, values in found.items()}


def conflicts(options):
    bad = 0
    open_k = '"(1024,?{div=64}):(?{div=64},1)"', '"(1024,?{div=64}):(1,1024)"'
    with tempfile.TemporaryDirectory() as place:
        for arch, element, majors in itertools.product(("sm_90", "sm_90a"), ("f16", "i8"), ((True, True), (False, False))):
            label = f"{arch} {element} {''.join('mk'[major] for major in majors)}"
            if element == "i8" and not majors[0] or options.only and label not in options.only:
                continue
            out, sums = {"f16": ("f16", "f32"), "i8": ("i32", "i32")}[element]
            a, b = (f"!cute.memref<{element}, gmem, align<16>, {open_k[not major]}>" for major in majors)
            text = f"""func.func @product(%A: {a} {{cute.name = "A"}}, %B: {b} {{cute.name = "B"}}, %C: {matrix(out, 1024, 1024, True)} {{cute.name = "C"}}) {{
  cute.contract ins(%A, %B) outs(%C) accumulate {sums}
  return
}}
"""
            package = Path(place) / "p.cutepkg"
            made = compiled(options.folder, text, arch, options.candidates, package)
            if made.returncode:
                sys.exit(made.stderr)
            short, long = (counted(options, package, k) for k in (1024, 2048))
            loops = {name: [more - less for more, less in zip(long[name], short[name])] for name in long if name in short}
            worse = {name: of for name, of in loops.items() if of[0] > NOISE * max(of[1], 1)}
            most = max((found / max(of, 1) for found, of in loops.values()), default=0)
            print(
                f"{label}: {len(loops)} kernels, {len(worse)} with conflicts of banks in the loop; at most {100 * most:.2f} % of wavefronts",
                flush=True,
            )
            for name, (found, of) in sorted(worse.items(), key=lambda one: -one[1][0])[:10]:
                print(f"  {name}: {found:.0f} conflicts in {of:.0f} wavefronts of 1024 along K")
            bad += len(worse)
    return bad


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["sanitize", "conflicts"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--shapes", type=int, default=50)
    parser.add_argument("--candidates", type=int)
    parser.add_argument("--tools", nargs="+", default=["memcheck", "racecheck", "synccheck"])
    parser.add_argument("--jobs", type=int, default=8)
    parser.add_argument("--only", nargs="+", help="conflicts of these alone, by architecture, type and the modes along which A and B lie")
    options = parser.parse_args()
    options.candidates = options.candidates or {"sanitize": 24, "conflicts": 60}[options.what]
    raise SystemExit(bool({"sanitize": sanitize, "conflicts": conflicts}[options.what](options)))


if __name__ == "__main__":
    main()
