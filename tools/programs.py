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
import re
import shlex
import shutil
import signal
import subprocess
import sys

# Programs whose sizes the rules above do not find: NAME: ARGUMENTS | TEXT -> TEXT & FLAG
SMALL = """
ace: 2 | DATAXSIZE 400 -> DATAXSIZE 24 & DATAYSIZE 400 -> DATAYSIZE 24 & DATAZSIZE 400 -> DATAZSIZE 24
addBiasResidualLayerNorm: 1 | m = 4096 -> m = 4 & n <= 8192 -> n <= 512
adv: 7 15 8 1
aidw: 1 1 1 | numk * 1024 -> numk * 512
aligned-types: | MEM_SIZE = 50000000 -> MEM_SIZE = 20000 & NUM_ITERATIONS = 1000 -> NUM_ITERATIONS = 1
all-pairs-distance: 1 | INSTANCES 224 -> INSTANCES 16 & ATTRIBUTES 4096 -> ATTRIBUTES 512
asmooth: 64 50 3 1
asta: -m 17 -n 128 -w 0 -r 1
atomicAggregate: 1 | nBlocks = 65536 -> nBlocks = 16
atomicCost: 1 1 | length = 922521600 -> length = 15360
atomicIntrinsics: 10 1
atomicPerf: 1 | 3*4*7*8*9*256 -> 4*256
atomicReduction: 100000 1
attention-paged: 1 4 64 128 16 1
attentionMergeState: 16 4 128 1
attentionMultiHead: 1
axpby: 4 | (1024*1024) -> 1024 & chunk_size = 256; chunk_size <= 1024*1024 -> chunk_size = 256; chunk_size <= 1024
background-subtract: 64 64 0 6
base64e: | BASE_ARRAY_LENGTH 33554432 -> BASE_ARRAY_LENGTH 16384 & BASE_LOOP_COUNT 32 -> BASE_LOOP_COUNT 1
bezier-surface: -n 16
bgmv: --op bgmv_shrink --tokens 1 --hidden 256 --rank 16 --loras 4 --repeat 1
bilateral: 32 32 0.5 0.5 1
bincount: 1024 1
bitonic-sort: 8 2
bitpermute: 1 | MAX_LG_DOMAIN_SIZE 28 -> MAX_LG_DOMAIN_SIZE 12
blockScan: 2 1 | i < 100 -> i < 1
bscan: 1 | 12*7*8*9*10 -> 2
bsearch: 1024 1 | -DDEBUG
bspline-vgh: | WSIZE = 12000 -> WSIZE = 50 & NSIZE = 2003 -> NSIZE = 64
btree: 1000 1000
bwt: 200
ccsd-trpdrv: 4 8 1
channelSum: 8 8 1 | N <= 64 -> N <= 4 & C <= 512 -> C <= 32
chemv: | REPEAT 1000 -> REPEAT 1 & -ffp-contract=off
chi2: 64 64 32 32 64 1
cmembench: 1 | 4096*VECTOR_SIZE -> 2*VECTOR_SIZE
compute-score: -p=1 | 256*1024 -> 64
concat: 1 | seq_len = 1024 -> seq_len = 16 & nhead <= 48 -> nhead <= 6
concurrentKernels: 4 | (long)(kernel_time * clockRate) -> 1000
crossEntropy: 1 | bs = 128 -> bs = 2 & H = 8732 -> H = 64 & warmup = 10 -> warmup = 1
degrid: | NPOINTS  40000 -> NPOINTS  64 & GCF_DIM  256 -> GCF_DIM  16 & IMG_SIZE 8192 -> IMG_SIZE 256 & REPEAT   100 -> REPEAT 1 & RAND_MAX*8000 -> RAND_MAX*240
dense-embedding: 100 8 1 | {768, 2048, 12288} -> {128, 256}
f16max: 1 | NUM_OF_BLOCKS 1048576 -> NUM_OF_BLOCKS 16
fdtd3d: --dimx=32 --dimy=32 --dimz=32 --timesteps=2 | k_dim_min           96 -> k_dim_min 16
fft: 0 1 | bytes *= 1024 * 1024 -> bytes *= 64 * 1024
flip: 3 16 1
floydwarshall: 32 1 16
fluidSim: 2 | lbm_height = 256 -> lbm_height = 16
fpc: 16 1
fresnel: 1 | interval = 1e-7 -> interval = 1e-2
fsm: 64 | POPCNT  1024 -> POPCNT 2 & REPEAT  10 -> REPEAT 1
fwt: 1 | log2Data = 23 -> log2Data = 14
ga: 256 64 11 1
gaussian: -q -t -s 16
geglu: 1 | shape = 128; shape <= 512 -> shape = 4; shape <= 4 & shape = 4096; shape <= 8192 -> shape = 2; shape <= 2
gelu: 2 16 64 1
gemv: -s 512 -i 1 -x 32 -y 4
glu: 2 64 1
goulash: 2 0.0001
gpp: 8 2 16 4
graphExecution: | size <= 1<<27 -> size <= 512 & maxBlocks = 512 -> maxBlocks = 4
groupnorm: 1 8 4 4 2 1
gru: 4 16 1
haccmk: 1 | n1 = 784 -> n1 = 32 & n2 = 15000 -> n2 = 256
hadamard: 1 1 | dim <= 32768 -> dim <= 4096
hellinger: 1 | m_size = 768 * 8 -> m_size = 8 * 8 & -DSINGLE
histogram: --i=1
hungarian: output.txt | n_tests = 100 -> n_tests = 1 & user_n = 1000 -> user_n = 16
hwt1d: 256 1
idivide: 1 | divisor_count = 100000 -> divisor_count = 4 & divident_count = 1000000 -> divident_count = 1000 & 32 * 1024 -> 4
jaccard: 1 1 1 | -DDEBUG
jacobi: | N 2048 -> N 32
jenkins-hash: 64 256 1
kalman: 4 10 3 1
keccaktreehash: | NB_THREADS_BLOCKS 64 -> NB_THREADS_BLOCKS 2 & NB_INPUT_BLOCK 1024 -> NB_INPUT_BLOCK 32
keogh: 16 256 1
knn: 1 | ref_nb = 4096 -> ref_nb = 128 & query_nb = 4096 -> query_nb = 64 & dim = 68 -> dim = 8
laplace: | NUM 1024 -> NUM 256
laplace3d: 16 16 16 1 1
layout: 1 | TREE_NUM 4096 -> TREE_NUM 256 & TREE_SIZE 4096 -> TREE_SIZE 64
lfib4: 1000
libor: 1 | GRID_SIZE 1500 -> GRID_SIZE 10 & NPATH 96000 -> NPATH 640
lif: 64 4 4
linearprobing: 1 1 | 64*1024*1024 -> 1024
logprob: 4 2 64 1
lombscargle: 1 | x_shape = 1000 -> x_shape = 32 & freqs_shape = 100000 -> freqs_shape = 500
mandelbrot: 1
mask: 8 8 8 1
match: 1 | NPTS (2048*8) -> NPTS (2*128)
matern: 4 1
maxpool3d: 32 32 2 1
md: 1 1
mdh: -itmax 1
merge: 256 1
minisweep: --niterations 1 --ncell_x 4 --ncell_y 4 --ncell_z 8 --ne 4 --na 4 --nblock_z 2
minkowski: 1 | m_size = 512 * 8 -> m_size = 8 * 8
minmax: 100 1
mixbench: 40 1
moe: 32 64 1 1
moe-align: 1 | {1, 3, 256, 4096, 8192} -> {1, 3, 64}
morphology: 3 3 64 64 1
mr: 1 | BENCHMARK_ITERATIONS 100000 -> BENCHMARK_ITERATIONS 200
mt: 1 | nPerRng = 5860 -> nPerRng = 4
multinomial: 64 64 1
nlll: 64 10 1
nqueen: 8 3 1
overlap: | N = 1 << 22 -> N = 1 << 12
overlay: 64 48
page-rank: -n 64 -i 2
particle-diffusion: 4 16
particlefilter: -x 16 -y 16 -z 2 -np 64
perplexity: 64 10 1
pnpoly: 1 | nPoints = 2e7 -> nPoints = 4096 & VERTICES 600 -> VERTICES 60
pointwise: 4 2 16 4 1
pool: 1 2 16 16 4 4 1
prefetch: 1 | numElements = 64 * 1024 * 1024 -> numElements = 16 * 1024
projectile: 1 | num_elements = 10000000 -> num_elements = 1000
pso: 30 10
qem: 1 | N = 1999999 -> N = 999
qrg: 1 | N = 1048576 -> N = 4096
quant3MatMul: 1 | m = 12288 * 4 -> m = 1024 & n = 12288; -> n = 256;
quantVLLM: 4 256 1
radixsort: 1 | 128*128*128*2 -> 128*128
radixsort2: -float -keysonly -n=16384
rainflow: 16 1
randomAccess: 1 | 1024*1024*512 -> 1024*64
reshapeKVCache: 4 4 64 1
rfs: 4 1000
rle: --i=1
romberg: 4 64 1
rotary: 1 | * 10000 -> * 4
rtm8: 1 | nx 680 -> nx 48 & ny 134 -> ny 34 & nz 450 -> nz 40
s8n: 2 64 1
scan: 1024 1
scan2: 1 1024 256
scan3: 1 1024
scatterAdd: 64 8 8 1
scel: 4 64 1
score: 1 | num_classes = 1000 -> num_classes = 4 & batch_size = 128 -> batch_size = 2
segsort: | 1UL << 25 -> 1UL << 13 & max_seg_sz = 5000 -> max_seg_sz = 2000
silu: 1 4 8 8 1
sobol: 256 4 1
softmax-fused: 1 2 64 64 1
sosfil: 1 | numSamples = 1000000 -> numSamples = 1000
split: 4096 1
ssm: 1 | kDim    = 2048 -> kDim = 64 & kSeqLen = 1024 -> kSeqLen = 1024
stencil1d: 4096 1
storeKVCache: 1 | item_size <= 1024 -> item_size <= 64 & batch_size <= 16384 -> batch_size <= 4
streamOrderedAllocation: | repeat 100 -> repeat 1 & nelem = 33554432 -> nelem = 4096
streamPriority: 1 | N       = 1 << 24 -> N = 1 << 12 & iter < 256 -> iter < 2
surfel: 16 32 24 1
threadcpy: 1 | 1024 * 1024 * 256 + 2 -> 1024 * 4 + 2 & i < 100 -> i < 1
threadfence: 1 1000 | blocks = 256 -> blocks = 4
tissue: 8 1
topk: 4 1
upsample: 1 4 8 8 1
vanGenuchten: 8 8 8 1
vol2col: 1 | = 255 -> = 15
wedford: 4 16 16 1
winograd: | MAP_SIZE 1024 -> MAP_SIZE 64
wmma: 0 16 16 16 1 1
wyllie: 100 1 1
zerocopy: 1 | nelem = 1024*1024; -> nelem = 1024*4; & 1024*1024*64 -> 1024*8
zoom: 1 1 16 16 1
"""


def small():
    """SMALL as a mapping of names to arguments, replacements and flags of the compiler."""
    found = {}
    for line in SMALL.strip().splitlines():
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
    with open(path, errors="replace") as file:
        text = file.read().replace("\\\n", " ")
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
                with open(os.path.join(at, file), encoding="latin-1") as opened:
                    yield os.path.relpath(os.path.join(at, file), folder), opened.read()


def replaced(folder, copy, pairs):
    """Copies a program's source with texts replaced; why it could not be, or nothing."""
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(folder, copy, ignore=lambda at, names: [name for name in names if os.path.getsize(os.path.join(at, name)) > 1 << 22])
    missing = {old for old, _ in pairs}
    for path, text in texts(copy):
        missing -= {old for old in missing if old in text}
        for old, new in pairs:
            text = text.replace(old, new)
        with open(os.path.join(copy, path), "w", encoding="latin-1") as file:
            file.write(text)
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
        wrong = replaced(original, folder, pairs)
        if wrong:
            return wrong
    command = ["clang++-22", "--no-offload-new-driver", "-O2", "-gline-tables-only", "-std=c++17", "--cuda-gpu-arch=sm_80", "--cuda-include-ptx=all",
               f"--cuda-path={options.cuda}", "-Wno-everything", "-ferror-limit=1", "-Xcuda-ptxas", "-O0", *[f"-I{path}" for path in includes], *defines, *flags,
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
    if re.search(r"returned OK|VERIFICATION SUCCESSFUL", output, re.I):
        return "pass"
    if re.search(r"\bFAIL(ED|S|URE)?\b|\bMISMATCH\b|[Ee]rror: (?!0)|verification failed", output, re.I) and not re.search(r"\bPASS", output):
        return "fail"
    if re.search(r"\bFAIL(ED|S|URE)?\b", output):
        return "fail"
    if re.search(r"\bPASS(ED|ES)?\b|\bOK\b|\bcorrect\b", output, re.I):
        return "pass"
    return "none"


def arguments_of(options, name, folder):
    """The lists of arguments that a program is tried with."""
    table = small()
    if name in table:
        return [table[name][0]]
    arguments = makefile(folder)[1]
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
        if result["why"]:
            result["compiled"] = False
            return result
    if options.compile:
        return result
    for arguments in arguments_of(options, name, folder):
        execute(options, result, folder, program, arguments)
        if result["why"] or result["verdict"] == "pass" and result["launches"]:
            break
    return result


def execute(options, result, folder, program, arguments):
    """Runs a program with these arguments, and writes down what became of it."""
    report = program + ".report.json"
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
    if result["why"]:
        return
    try:
        with open(report) as file:
            told = json.load(file)
        result.update(findings=[found["kind"] for found in told["findings"]], errors=told["errors"], launches=told["launches"])
    except (OSError, ValueError):
        pass


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
    passed = [result for result in compiled if result["verdict"] == "pass" and result["why"] is None and result["launches"]]
    print(f"\n{len(results)} programs, {len(compiled)} compiled, {len(passed)} ran to their own PASS")
    return 0


if __name__ == "__main__":
    sys.exit(main())
