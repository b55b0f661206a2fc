#!/usr/bin/env python3
"""How far the compiler's first choice of a plan is from the fastest of its candidates, shape by shape, on one GPU.

    CUTE_TOOLS_DIR=FOLDER python3 tools/choice.py --shape 4096x4096x4096 [--shape ...] [--candidates 32] [--results FOLDER]

FOLDER has cute-opt and cute-run of a release build. Each shape MxNxK is a product of f16 with sums in f32, both factors K-major, known sizes. Its
candidates are what the estimate has as the fastest, without a table of measured times unless --measured names one. All of them are verified and
timed in a few rounds; then the five fastest and the first choice alone, in turn, ten rounds. A line says what the first choice takes, what the fastest of these takes,
and the ratio; the last line how many first choices are within 3 %.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

TEXT = """func.func @gemm(%A: !cute.memref<f16, gmem, align<16>, "({m},{k}):({k},1)">, %B: !cute.memref<f16, gmem, align<16>, "({n},{k}):({k},1)">,
                %C: !cute.memref<f16, gmem, align<16>, "({m},{n}):({n},1)">) {{
  cute.contract ins(%A, %B) outs(%C) accumulate f32
  return
}}
"""
FASTEST = 5
#: The name of a table without times, beside the packages.
NONE = "none.json"


def program(name):
    return os.path.join(os.environ.get("CUTE_TOOLS_DIR", "target/release"), name)


def compile_plans(shape, package, options):
    """Compiles a product's plans to a package; `options` are further ones of --cute-compile. Raises what the compiler said."""
    m, n, k = shape
    asked = f"arch=sm_90a package={package} {options}"
    done = subprocess.run([program("cute-opt"), "-", f"--cute-compile={asked}", "-o", os.devnull], input=TEXT.format(m=m, n=n, k=k), text=True, capture_output=True)
    if done.returncode:
        raise RuntimeError(f"{shape}: {done.stderr}")


def measure(package, rounds, reps, results):
    """The times of a package's plans: a list of (candidate, plan, nanoseconds), those that are wrong or failed left out."""
    done = subprocess.run(
        [program("cute-run"), package, "--tune", f"--rounds={rounds}", f"--reps={reps}", "--warmup=1", f"--results={results}"],
        text=True,
        capture_output=True,
    )
    if done.returncode:
        print(done.stdout, done.stderr, file=sys.stderr)
    samples, plans = {}, {}
    with open(results, encoding="utf-8") as lines:
        for line in map(json.loads, lines):
            plans[line["candidate"]] = line["plan"]
            if line["outcome"] == "sample":
                samples.setdefault(line["candidate"], []).append(line["value"])
    return [(candidate, plans[candidate], statistics.median(values)) for candidate, values in sorted(samples.items())]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], epilog=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shape", action="append", required=True, metavar="MxNxK")
    parser.add_argument("--candidates", type=int, default=32)
    parser.add_argument("--measured", help="a table of measured times for the choice")
    parser.add_argument("--results", help="a folder that keeps packages and results")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as own:
        run(options, pathlib.Path(options.results or own))


def run(options, folder):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / NONE).write_text('{"format": 1, "generation": 1, "times": []}\n')
    table = options.measured or folder / NONE
    shapes = [tuple(map(int, shape.split("x"))) for shape in options.shape]
    names = ["x".join(map(str, shape)) for shape in shapes]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        made = [
            pool.submit(compile_plans, shape, folder / f"{own}.cutepkg", f"candidates={options.candidates} measured={table}")
            for shape, own in zip(shapes, names)
        ]
        for one in made:
            one.result()
    ratios = []
    for shape, own in zip(shapes, names):
        # A run takes long enough that few do.
        reps = 30 if 2 * shape[0] * shape[1] * shape[2] < 4e11 else 12
        times = measure(folder / f"{own}.cutepkg", 3, reps, folder / f"{own}.all.jsonl")
        if not times:
            print(f"{own:18} nothing was measured", flush=True)
            continue
        first = min(times)
        best = sorted(times, key=lambda one: one[2])[:FASTEST]
        again = [first, *(one for one in best if one[0] != first[0])]
        finals = finalists(own, folder, again, 10 * reps // 3)
        ratio = finals[0] / min(finals)
        fastest = again[finals.index(min(finals))][1]
        ratios.append(ratio)
        print(f"{own:18} {len(times):3} plans  first {finals[0] / 1e3:9.2f} us  fastest {min(finals) / 1e3:9.2f} us  {ratio:.3f}  {first[1]} | {fastest}", flush=True)
    within = sum(ratio <= 1.03 for ratio in ratios)
    print(f"{within} of {len(ratios)} first choices within 3 %; geometric mean {statistics.geometric_mean(ratios):.4f}, worst {max(ratios):.3f}")


def finalists(own, folder, plans, reps):
    """The medians of some plans, in turn over ten rounds, as nanoseconds in their order."""
    package = folder / f"{own}.cutepkg"
    results = folder / f"{own}.last.jsonl"
    # Those that are not to be measured again have failed, as far as the tool is told.
    numbers = {plan[0] for plan in plans}
    with open(folder / f"{own}.all.jsonl", encoding="utf-8") as lines, open(results, "w", encoding="utf-8") as out:
        for text in lines:
            line = json.loads(text)
            if line["outcome"] == "right":
                if line["candidate"] not in numbers:
                    line["outcome"], line["reason"] = "failed", "not measured again"
                out.write(json.dumps(line) + "\n")
    times = {candidate: time for candidate, _, time in measure(package, 10, reps, results)}
    return [times[plan[0]] for plan in plans]


if __name__ == "__main__":
    main()
