#!/usr/bin/env python3
"""Integer instructions of SASS that a GPU executes, with LLVM's simplification alone and with the compiler's, counted by ncu in one call.

    tools/executed.py --tools target/release [--seconds 300] [--json FILE] [PATTERN ...]

The corpus is that of tools/integers.py: what the lit tests run on the emulator, compiled with `simplify=false` (`llvm`) and with `simplify=true` (`all`).
What is made there for GPUs before sm_90 is made for sm_90 here; the GPU is one of sm_90. Each case is run both ways, one after the other, until all are
done or the time is over. Prints, as Markdown, thread instructions that are integer arithmetic (`smsp__sass_thread_inst_executed_op_integer_pred_on`),
warp instructions, and registers of a thread, then geometric means by kind of kernel.
"""

import argparse
import collections
import concurrent.futures
import csv
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from integers import KINDS, WAYS, corpus, kind, mean, run

METRICS = {
    "integer": "smsp__sass_thread_inst_executed_op_integer_pred_on.sum",
    "executed": "smsp__inst_executed.sum",
    "registers": "launch__registers_per_thread",
}
COMPARED = ("llvm", "all")
#: Chips that the GPU runs nothing of, and the one that their kernels are compiled for in place of them.
OTHERS = re.compile(r"arch=sm_[78]\d|arch=sm_12\d")


def options_of(case, way):
    """The options of --cute-compile by which a case is compiled for the GPU."""
    options = OTHERS.sub("arch=sm_90", case.options)
    return f"{re.sub(r'arch=[^ ]*,[^ ]*', 'arch=sm_90a', options)} {WAYS[way]}"


def compile_file(file, options, tools, folder):
    """The package of a file; nothing where it could not be compiled."""
    package = folder / f"{hashlib.sha256(f'{file} {options}'.encode()).hexdigest()[:16]}.cutepkg"
    done = run(tools / "cute-opt", file, f"--cute-compile={options} package={package}", "-o", os.devnull)
    return None if done is None else package


def command_of(case, package, tools):
    """The command that runs a case on the GPU, whose number of multiprocessors is its own."""
    function = ["--function", case.function] if case.function else []
    arguments, words = [], iter(case.arguments)
    for word, value in zip(words, words):
        arguments += [] if word == "--sms" else [word, value]
    return [str(tools / "cute-run"), str(package), "--device=cuda", "--no-verify", *function, *arguments]


def launch(jobs, pids, seconds):
    """Runs commands one after the other, as long as there is time, and writes which process each was; ncu counts in them."""
    end = time.monotonic() + seconds
    with open(jobs, encoding="utf-8") as given, open(pids, "w", encoding="utf-8") as told:
        for name, commands in json.load(given):
            if time.monotonic() > end:
                break
            for way, command in commands.items():
                process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                code = process.wait()
                told.write(json.dumps([process.pid, name, way, code]) + "\n")


def count(jobs, folder, seconds):
    """What ncu counts of each case and way, summed over its launches; registers are the most of these."""
    listed, told, log = folder / "jobs.json", folder / "pids.jsonl", folder / "ncu.csv"
    listed.write_text(json.dumps(jobs))
    command = ["ncu", "--target-processes", "all", "--csv", "--log-file", log, "--metrics", ",".join(METRICS.values())]
    command += [sys.executable, __file__, "--launch", listed, told, str(seconds)]
    subprocess.run([str(word) for word in command], check=True)
    who = {}
    for line in told.read_text().splitlines():
        pid, name, way, code = json.loads(line)
        if code == 0:
            who[pid] = (name, way)
        else:
            print(f"{name} ({way}) ended with {code}", file=sys.stderr)
    rows = collections.defaultdict(lambda: collections.defaultdict(lambda: dict.fromkeys(METRICS, 0)))
    names = {metric: name for name, metric in METRICS.items()}
    text = [line for line in log.read_text().splitlines() if line.startswith('"')]
    for row in csv.DictReader(text):
        metric, found = names.get(row.get("Metric Name")), who.get(int(row["Process ID"])) if row.get("Process ID", "").isdigit() else None
        if metric is None or found is None:
            continue
        figures, value = rows[found[0]][found[1]], float(row["Metric Value"].replace(",", ""))
        figures[metric] = max(figures[metric], value) if metric == "registers" else figures[metric] + value
    return {name: ways for name, ways in rows.items() if set(ways) == set(COMPARED)}


def show(rows):
    """Prints each case, and the geometric means of the change by kind."""
    print("| kernel | integer, LLVM alone | with the pass | change | all instructions | registers |\n| --- | ---: | ---: | ---: | ---: | --- |")

    def change(ways, key):
        return 100 * (ways["all"][key] / ways["llvm"][key] - 1) if ways["llvm"][key] else 0.0

    for name, ways in rows.items():
        of = {way: {key: int(value) for key, value in figures.items()} for way, figures in ways.items()}
        registers = f"{of['llvm']['registers']}, {of['all']['registers']}"
        print(f"| {name} | {of['llvm']['integer']:,} | {of['all']['integer']:,} | {change(ways, 'integer'):+.1f} % | {change(ways, 'executed'):+.1f} % | {registers} |")
    print("\n| kernels | how many | integer | all instructions | registers | more integer ones in |\n| --- | ---: | ---: | ---: | ---: | --- |")
    for chosen in [*sorted(KINDS), "all"]:
        own = {name: ways for name, ways in rows.items() if chosen in ("all", kind(name))}
        if own:
            means = [mean([(ways["llvm"][key], ways["all"][key]) for ways in own.values()]) for key in METRICS]
            worse = [f"{name} ({change(ways, 'integer'):+.1f} %)" for name, ways in own.items() if change(ways, "integer") > 0]
            print(f"| {chosen} | {len(own)} | {' | '.join(f'{value:+.1f} %' for value in means)} | {', '.join(worse) if chosen == 'all' else len(worse)} |")


def main():
    if sys.argv[1:2] == ["--launch"]:
        return launch(sys.argv[2], sys.argv[3], float(sys.argv[4]))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], epilog=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("patterns", nargs="*", help="regular expressions of names; all cases by default")
    parser.add_argument("--tools", type=Path, default=Path("target/release"), help="folder with cute-opt and cute-run")
    parser.add_argument("--seconds", type=float, default=300, help="no case begins after so many seconds under ncu")
    parser.add_argument("--json", help="writes the figures")
    arguments = parser.parse_args()
    chosen = [case for case in corpus() if not arguments.patterns or any(re.search(pattern, case.name) for pattern in arguments.patterns)]
    # Kinds in turn, so that a run that ends early has some of each.
    by_kind = collections.defaultdict(list)
    for case in chosen:
        by_kind[kind(case.name)].append(case)
    place = {case.name: (at, number) for number, cases in enumerate(by_kind.values()) for at, case in enumerate(cases_in_turn(cases))}
    chosen.sort(key=lambda case: place[case.name])
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        tools = arguments.tools.resolve()
        files = {(case.file, options_of(case, way)): None for case in chosen for way in COMPARED}
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            packages = dict(zip(files, pool.map(lambda one: compile_file(*one, tools, folder), files)))
        jobs = []
        for case in chosen:
            own = {way: packages[case.file, options_of(case, way)] for way in COMPARED}
            if all(own.values()):
                jobs.append((case.name, {way: command_of(case, package, tools) for way, package in own.items()}))
        rows = count(jobs, folder, arguments.seconds)
    show(rows)
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(rows, indent=1))
    return None


def cases_in_turn(cases):
    """Cases with those of one file apart from each other: the first of each file, then the second, and so on."""
    files = collections.defaultdict(list)
    for case in cases:
        files[case.file].append(case)
    most = max(map(len, files.values()))
    return [of[at] for at in range(most) for of in files.values() if at < len(of)]


if __name__ == "__main__":
    sys.exit(main())
