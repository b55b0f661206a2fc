#!/usr/bin/env python3
"""Runs whole CUDA programs of HeCBench on the emulator, and says what became of each.

    tools/programs.py --cuda CUDA --hecbench DIR --build DIR [--only NAME,NAME] [--most N,N] [--timeout SECONDS] [--json FILE]

--hecbench is a checkout of github.com/zjin-lcf/HeCBench (src/NAME-cuda). CUDA is a folder with the headers, libdevice, ptxas, fatbinary and
libcudart.so of a CUDA 12 toolkit. --build is a folder for the programs, which are compiled once by clang 22 and a host compiler.

A program runs with the arguments of its Makefile (`make run`), or with those of SMALL, as what takes a GPU a second takes an emulator hours.
Whole numbers of a Makefile are cut to each of --most in turn until the program says PASS, and those that its usage calls repetitions to 1.
Sizes that stand in a program's source are replaced, in a copy of it, as SMALL says. A program's verdict is looked for in what it prints.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys

# Programs whose sizes the rules above do not find: NAME: ARGUMENTS | TEXT -> TEXT & FLAG
SMALL = """
adv: 7 15 8 1 || mask: 8 8 8 1 || moe: 32 64 1 1 || nlll: 64 10 1 || rainflow: 16 1 || silu: 1 4 8 8 1 || wyllie: 100 1 1
asmooth: 64 50 3 1 || bitonic-sort: 8 2 || ccsd-trpdrv: 4 8 1 || goulash: 2 0.0001 || quantVLLM: 4 256 1 || surfel: 16 32 24 1 || wedford: 4 16 16 1
asta: -m 17 -n 128 -w 0 -r 1 || attention-paged: 1 4 64 128 16 1 || minisweep: --niterations 1 --ncell_x 4 --ncell_y 4 --ncell_z 8 --ne 4 --na 4 --nblock_z 2
atomicIntrinsics: 10 1 || attentionMultiHead: 1 || chi2: 64 64 32 32 64 1 || floydwarshall: 32 1 16 || groupnorm: 1 8 4 4 2 1 || jenkins-hash: 64 256 1
atomicReduction: 100000 1 || bilateral: 32 32 0.5 0.5 1 || mixbench: 40 1 || morphology: 3 3 64 64 1 || softmax-fused: 1 2 64 64 1
attentionMergeState: 16 4 128 1 || background-subtract: 64 64 0 6 || bgmv: --op bgmv_shrink --tokens 1 --hidden 256 --rank 16 --loras 4 --repeat 1 || bwt: 200
bezier-surface: -n 16 || gaussian: -q -t -s 16 || page-rank: -n 64 -i 2 || pointwise: 4 2 16 4 1 || pool: 1 2 16 16 4 4 1 || vanGenuchten: 8 8 8 1
bincount: 1024 1 || maxpool3d: 32 32 2 1 || multinomial: 64 64 1 || perplexity: 64 10 1 || scatterAdd: 64 8 8 1 || upsample: 1 4 8 8 1 || wmma: 0 16 16 16 1 1
flip: 3 16 1 || glu: 2 64 1 || gru: 4 16 1 || hwt1d: 256 1 || lif: 64 4 4 || rfs: 4 1000 || scan3: 1 1024 || scan: 1024 1 || scel: 4 64 1 || split: 4096 1
fpc: 16 1 || pso: 30 10 || rle: --i=1 || s8n: 2 64 1 || tissue: 8 1
ga: 256 64 11 1 || gelu: 2 16 64 1 || kalman: 4 10 3 1 || keogh: 16 256 1 || logprob: 4 2 64 1 || scan2: 1 1024 256 || stencil1d: 4096 1 || zoom: 1 1 16 16 1
ace: 2 | DATAXSIZE 400 -> DATAXSIZE 24 & DATAYSIZE 400 -> DATAYSIZE 24 & DATAZSIZE 400 -> DATAZSIZE 24 || atomicAggregate: 1 | nBlocks = 65536 -> nBlocks = 16
addBiasResidualLayerNorm: 1 | m = 4096 -> m = 4 & n <= 8192 -> n <= 512 || segsort: | 1UL << 25 -> 1UL << 13 & max_seg_sz = 5000 -> max_seg_sz = 2000
aidw: 1 1 1 | numk * 1024 -> numk * 512 || atomicCost: 1 1 | length = 922521600 -> length = 15360 || haccmk: 1 | n1 = 784 -> n1 = 32 & n2 = 15000 -> n2 = 256
aligned-types: | MEM_SIZE = 50000000 -> MEM_SIZE = 20000 & NUM_ITERATIONS = 1000 -> NUM_ITERATIONS = 1 || chemv: | REPEAT 1000 -> REPEAT 1 & -ffp-contract=off
all-pairs-distance: 1 | INSTANCES 224 -> INSTANCES 16 & ATTRIBUTES 4096 -> ATTRIBUTES 512 || projectile: 1 | num_elements = 10000000 -> num_elements = 1000
atomicPerf: 1 | 3*4*7*8*9*256 -> 4*256 || geglu: 1 | shape = 128; shape <= 512 -> shape = 4; shape <= 4 & shape = 4096; shape <= 8192 -> shape = 2; shape <= 2
axpby: 4 | (1024*1024) -> 1024 & chunk_size = 256; chunk_size <= 1024*1024 -> chunk_size = 256; chunk_size <= 1024 || winograd: | MAP_SIZE 1024 -> MAP_SIZE 64
base64e: | BASE_ARRAY_LENGTH 33554432 -> BASE_ARRAY_LENGTH 16384 & BASE_LOOP_COUNT 32 -> BASE_LOOP_COUNT 1 || cmembench: 1 | 4096*VECTOR_SIZE -> 2*VECTOR_SIZE
blockScan: 2 1 | i < 100 -> i < 1 || compute-score: -p=1 | 256*1024 -> 64 || overlap: | N = 1 << 22 -> N = 1 << 12 || qem: 1 | N = 1999999 -> N = 999
bspline-vgh: | WSIZE = 12000 -> WSIZE = 50 & NSIZE = 2003 -> NSIZE = 64 || threadcpy: 1 | 1024 * 1024 * 256 + 2 -> 1024 * 4 + 2 & i < 100 -> i < 1
channelSum: 8 8 1 | N <= 64 -> N <= 4 & C <= 512 -> C <= 32 || knn: 1 | ref_nb = 4096 -> ref_nb = 128 & query_nb = 4096 -> query_nb = 64 & dim = 68 -> dim = 8
concat: 1 | seq_len = 1024 -> seq_len = 16 & nhead <= 48 -> nhead <= 6 || streamOrderedAllocation: | repeat 100 -> repeat 1 & nelem = 33554432 -> nelem = 4096
concurrentKernels: 4 | (long)(kernel_time * clockRate) -> 1000 || fdtd3d: --dimx=32 --dimy=32 --dimz=32 --timesteps=2 | k_dim_min           96 -> k_dim_min 16
crossEntropy: 1 | bs = 128 -> bs = 2 & H = 8732 -> H = 64 & warmup = 10 -> warmup = 1 || libor: 1 | GRID_SIZE 1500 -> GRID_SIZE 10 & NPATH 96000 -> NPATH 640
degrid: | NPOINTS  40000 -> NPOINTS  64 & GCF_DIM  256 -> GCF_DIM  16 & IMG_SIZE 8192 -> IMG_SIZE 256 & REPEAT   100 -> REPEAT 1 & RAND_MAX*8000 -> RAND_MAX*240
dense-embedding: 100 8 1 | {768, 2048, 12288} -> {128, 256} || fsm: 64 | POPCNT  1024 -> POPCNT 2 & REPEAT  10 -> REPEAT 1 || qrg: 1 | N = 1048576 -> N = 4096
f16max: 1 | NUM_OF_BLOCKS 1048576 -> NUM_OF_BLOCKS 16 || fft: 0 1 | bytes *= 1024 * 1024 -> bytes *= 64 * 1024 || hadamard: 1 1 | dim <= 32768 -> dim <= 4096
fluidSim: 2 | lbm_height = 256 -> lbm_height = 16 || keccaktreehash: | NB_THREADS_BLOCKS 64 -> NB_THREADS_BLOCKS 2 & NB_INPUT_BLOCK 1024 -> NB_INPUT_BLOCK 32
fwt: 1 | log2Data = 23 -> log2Data = 14 || jaccard: 1 1 1 | -DDEBUG || linearprobing: 1 1 | 64*1024*1024 -> 1024 || randomAccess: 1 | 1024*1024*512 -> 1024*64
graphExecution: | size <= 1<<27 -> size <= 512 & maxBlocks = 512 -> maxBlocks = 4 || pnpoly: 1 | nPoints = 2e7 -> nPoints = 4096 & VERTICES 600 -> VERTICES 60
hellinger: 1 | m_size = 768 * 8 -> m_size = 8 * 8 & -DSINGLE || rotary: 1 | * 10000 -> * 4 || rtm8: 1 | nx 680 -> nx 48 & ny 134 -> ny 34 & nz 450 -> nz 40
jacobi: | N 2048 -> N 32 || vol2col: 1 | = 255 -> = 15
layout: 1 | TREE_NUM 4096 -> TREE_NUM 256 & TREE_SIZE 4096 -> TREE_SIZE 64 || streamPriority: 1 | N       = 1 << 24 -> N = 1 << 12 & iter < 256 -> iter < 2
lombscargle: 1 | x_shape = 1000 -> x_shape = 32 & freqs_shape = 100000 -> freqs_shape = 500 || mr: 1 | BENCHMARK_ITERATIONS 100000 -> BENCHMARK_ITERATIONS 200
minkowski: 1 | m_size = 512 * 8 -> m_size = 8 * 8 || moe-align: 1 | {1, 3, 256, 4096, 8192} -> {1, 3, 64} || threadfence: 1 1000 | blocks = 256 -> blocks = 4
score: 1 | num_classes = 1000 -> num_classes = 4 & batch_size = 128 -> batch_size = 2
"""


def small():
    """SMALL as a mapping of names to arguments, replacements and flags of the compiler."""
    found = {}
    for line in re.split(r"\n| \|\| ", SMALL.strip()):
        name, _, rest = line.partition(":")
        arguments, _, texts = rest.partition(" |")
        changes = [change.strip().split(" -> ") for change in texts.split(" & ") if change]
        found[name] = shlex.split(arguments), [change for change in changes if len(change) == 2], [change[0] for change in changes if len(change) == 1]
    return found


def makefile(folder):
    """Sources, arguments, folders of headers and macros of a program, as its Makefile has them."""
    path = os.path.join(folder, "Makefile")
    if not os.path.exists(path):
        return [], [], [], []
    text = pathlib.Path(path).read_text(errors="replace").replace("\\\n", " ")
    source = re.search(r"^source\s*[:+]?=\s*(.*)$", text, re.M)
    sources = source[1].split() if source else []
    run = re.search(r"^run:.*\n((?:\t.*\n?)+)", text, re.M)
    line = re.search(r"\./\$\(program\)(.*)|\./main(.*)", run[1]) if run else None
    arguments = shlex.split((line[1] or line[2] or "").split(";")[0].split(">")[0]) if line else []
    includes = [path for path in re.findall(r"-I\s*(\S+)", text) if "$" not in path]
    defines = [define for define in re.findall(r"-D\S+", text) if "$" not in define and define not in ("-DDEBUG", "-DDOUBLE_PRECISION")]
    return sources, arguments, includes, defines


def texts(folder):
    """Files of a program's source by their paths within its folder."""
    for at, _, files in os.walk(folder):
        for file in files:
            if file.endswith((".cu", ".cuh", ".c", ".cc", ".cpp", ".h", ".hpp")):
                yield os.path.relpath(os.path.join(at, file), folder), pathlib.Path(at, file).read_text(encoding="latin-1")


def replaced(folder, copy, pairs):
    """Copies a program's source with texts replaced; why it could not be, or nothing."""
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(folder, copy, ignore=lambda at, names: [name for name in names if os.path.getsize(os.path.join(at, name)) > 1 << 22])
    missing = {old for old, _ in pairs}
    for path, text in texts(copy):
        missing -= {old for old in missing if old in text}
        for old, new in pairs:
            text = text.replace(old, new)
        pathlib.Path(copy, path).write_text(text, encoding="latin-1")
    return f"its source has no {missing.pop()!r}" if missing else None


def build(options, name, folder, program):
    """Compiles a program; why it could not be, or nothing."""
    sources, _, includes, defines = makefile(folder)
    if not sources:
        return "its Makefile names no sources"
    if any("$" in source or not os.path.exists(os.path.join(folder, source)) for source in sources):
        return "a source is missing"
    includes = [os.path.join(folder, path) if path.startswith("..") else path for path in includes]
    _, pairs, flags = small().get(name, ([], [], []))
    if pairs:
        sources = [os.path.join(folder, source) if source.startswith("..") else source for source in sources]
        original, folder = folder, os.path.join(os.path.abspath(options.build), "sources", name)
        if wrong := replaced(original, folder, pairs):
            return wrong
    command = ["clang++-22", "--no-offload-new-driver", "-O2", "-gline-tables-only", "-std=c++17", "--cuda-gpu-arch=sm_80", "--cuda-include-ptx=all",
               f"--cuda-path={options.cuda}", "-Wno-everything", "-ferror-limit=1", "-Xcuda-ptxas", "-O0", *[f"-I{path}" for path in includes],
               *defines, *flags,
               "-x", "cuda", *sources, "-x", "none", "-L", os.path.join(options.cuda, "lib"), "-lcudart", "-lpthread", "-lm", "-o", program]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=300)
    except subprocess.TimeoutExpired:
        return "compiling takes longer than 300 s"
    if done.returncode:
        wrong = [line for line in done.stderr.splitlines() if "error" in line or "undefined" in line]
        return "does not compile: " + (wrong[0].strip() if wrong else "no reason given")
    return None


def verdict(output):
    """A program's own verdict."""
    wrong = r"\bFAIL(ED|S|URE)?\b" if re.search(r"\bPASS", output) else r"(?i)\bFAIL(ED|S|URE)?\b|\bMISMATCH\b|error: (?!0)"
    if re.search(wrong, output) and "returned OK" not in output:
        return "fail"
    return "pass" if re.search(r"(?i)\bPASS(ED|ES)?\b|\bOK\b|\bcorrect\b", output) else "none"


def arguments_of(options, name, folder):
    """The lists of arguments that a program is tried with."""
    arguments = makefile(folder)[1]
    if name in small():
        return [small()[name][0]]
    usages = [found[0] for _, text in texts(folder) for found in re.finditer(r"[Uu]sage[^;]*;", text)]
    named = [names for names in (re.findall(r"<([^<>\n]*)>", usage) for usage in usages) if len(names) == len(arguments)]
    tried = []
    for most in options.most:
        found = [str(min(int(argument), most)) if argument.isdigit() else argument for argument in arguments]
        for index, what in enumerate(named[0] if named else []):
            if found[index].isdigit() and re.search(r"repeat|iteration|runs|passes|times", what, re.I):
                found[index] = "1"
        if not named and len(found) > 1 and found[-1].isdigit():
            found[-1] = "1"
        if found not in tried:
            tried.append(found)
    return tried


def measure(options, name):
    """Compiles and runs a program, and tells what became of it."""
    folder = os.path.join(options.hecbench, "src", f"{name}-cuda")
    program = os.path.join(os.path.abspath(options.build), name)
    result = {"name": name, "compiled": True, "status": None, "verdict": None, "findings": [], "errors": [], "launches": 0, "why": None}
    if not os.path.exists(program):
        result["why"] = build(options, name, folder, program)
        result["compiled"] = not result["why"]
    if result["why"] or options.compile:
        return result
    for arguments in arguments_of(options, name, folder):
        execute(options, result, folder, program, arguments)
        if result["why"] or result["verdict"] == "pass" and result["launches"]:
            break
    return result


def execute(options, result, folder, program, arguments):
    """Runs a program with these arguments, and writes down what became of it."""
    report = program + ".report.json"
    if os.path.exists(report):
        os.remove(report)
    result.update(arguments=arguments, status=None, verdict=None, findings=[], errors=[], launches=0, why=None)
    command = [options.cute_run, f"--cuda-report={report}", "--findings=5", "--cuda", program, *arguments]
    running = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               errors="replace", start_new_session=True)
    try:
        output, wrong = running.communicate(timeout=options.timeout)
    except subprocess.TimeoutExpired:
        os.killpg(running.pid, signal.SIGKILL)
        output, wrong = running.communicate()
        result["why"] = f"runs longer than {options.timeout:g} s"
    result.update(status=running.returncode, verdict=verdict(output), output=(output + wrong)[-4000:])
    if not result["why"] and os.path.exists(report):
        told = json.loads(pathlib.Path(report).read_text())
        result.update(findings=[found["kind"] for found in told["findings"]], errors=told["errors"], launches=told["launches"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cuda", required=True)
    parser.add_argument("--hecbench", required=True)
    parser.add_argument("--build", required=True)
    parser.add_argument("--only")
    parser.add_argument("--compile", action="store_true", help="compile alone")
    parser.add_argument("--timeout", type=float, default=60)
    parser.add_argument("--most", type=lambda text: [int(part) for part in text.split(",")], default=[64, 256, 1024, 16])
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--cute-run", default="target/release/cute-run")
    parser.add_argument("--json")
    options = parser.parse_args()
    options.cute_run = os.path.abspath(options.cute_run)
    options.hecbench = os.path.abspath(options.hecbench)
    os.makedirs(options.build, exist_ok=True)
    folders = os.listdir(os.path.join(options.hecbench, "src"))
    names = options.only.split(",") if options.only else sorted(entry.removesuffix("-cuda") for entry in folders if entry.endswith("-cuda"))
    results = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for result in pool.map(lambda name: measure(options, name), names):
            results.append(result)
            kinds = ", ".join(sorted(set(result["findings"]))) or "no findings"
            words = result["why"] or f"{result['verdict']}, status {result['status']}, {result['launches']} launches, {kinds}"
            errors = f"; {result['errors'][0]}" if result["errors"] else ""
            print(f"{result['name']}: {words}{errors}", flush=True)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(results, indent=1))
    compiled = [result for result in results if result["compiled"]]
    passed = [result for result in compiled if result["verdict"] == "pass" and not result["why"] and result["launches"]]
    refused = [result["name"] for result in passed if result["errors"]]
    print(f"\n{len(results)} programs, {len(compiled)} compiled, {len(passed)} ran to their own PASS, {len(refused)} of them despite refused calls")
    return 0


if __name__ == "__main__":
    sys.exit(main())
