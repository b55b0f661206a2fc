#!/usr/bin/env python3
"""Times of the products by which this compiler is measured, beside cuBLAS and in turn with it, in one run on one GPU.

    CUTE_TOOLS_DIR=FOLDER PYTHONPATH=python python3 tools/bars.py [--only WORDS] [--rounds 11] [--json FILE]

FOLDER has cute-opt and libcute_native.so of a release build; an installed wheel needs neither variable. The packages are compiled first, as many at a
time as there are processors, by the compiler's own choice of plans. Each row is a problem; its ways are the kernel of this compiler and those that it is compared with.
Each way is checked once against float32, recorded into a CUDA graph that runs through as many sets of operands as exceed the cache three times, and
timed in rounds, in an order of its own in each; what is printed are medians in microseconds, and the first way's time over each other's.
--only takes words, and leaves the rows in whose names none of them stands.
"""

import argparse
import concurrent.futures
import json
import os
import random
import statistics

import torch
import torch.nn.functional as F

import cute_opt

CACHE = 50_000_000
# Ways that compute something else than their row does, whose times are to be compared.
OTHERS = ("rounded up", "the product alone", "cuBLAS, the product alone", "f16 weights", "cuBLAS, f16 weights")
ELEMENTS = {torch.float16: "f16", torch.bfloat16: "bf16", torch.float8_e4m3fn: "f8E4M3FN", torch.float32: "f32", torch.int8: "i8"}


def ref(element, layout, align=16):
    return f'!cute.memref<{element}, gmem, align<{align}>, "{layout}">'


def matrix(element, rows, columns, by_rows=True, open_=False):
    """The type of a matrix; an open one takes extents that 8 divides."""
    if open_:
        rows, columns = "?{div=8}", "?{div=8}"
        return ref(element, f"({rows},{columns}):({'?{div=8},1' if by_rows else '1,?{div=8}'})")
    return ref(element, f"({rows},{columns}):({f'{columns},1' if by_rows else f'1,{rows}'})")


def product(m, n, k, element="f16", out=None, majors="kk", open_=False):
    """IR of C (M,N) = A (M,K) times B (N,K) transposed."""
    a = matrix(element, m, k, majors[0] == "k", open_)
    b = matrix(element, n, k, majors[1] == "k", open_)
    c = matrix(out or element, m, n, True, open_)
    return f"""func.func @product(%A: {a}, %B: {b}, %C: {c}) {{
  cute.contract ins(%A, %B) outs(%C) accumulate f32
  return
}}
"""


def experts(groups, n, k, rows):
    """IR of rows in groups, each by a matrix of its own."""
    a, c = matrix("bf16", rows, k), matrix("bf16", rows, n)
    b, ends = ref("bf16", f"({n},{k},{groups}):({k},1,{n * k})"), ref("i32", f"{groups}:1", 4)
    return f"""func.func @product(%A: {a}, %B: {b}, %C: {c}, %ends: {ends}) {{
  cute.contract ins(%A, %B) outs(%C) accumulate f32 groups M(%ends)
  return
}}
"""


def residual(m, n, k):
    """IR of C = A B^T + R."""
    a, b, c = matrix("f16", m, k), matrix("f16", n, k), matrix("f16", m, n)
    return f"""func.func @product(%A: {a}, %B: {b}, %C: {c}, %R: {c}) {{
  cute.contract ins(%A, %B) outs(%C) accumulate f32 epilogue ins(%R) {{
  ^bb0(%sum: f32, %r: f16):
    %wide = arith.extf %r : f16 to f32
    %y = arith.addf %sum, %wide : f32
    %c = arith.truncf %y : f32 to f16
    cute.yield %c : f16
  }}
  return
}}
"""


def example(name):
    """The text of an example."""
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    with open(os.path.join(here, "examples", name)) as file:
        return file.read()


class Row:
    """A problem: the IR of its kernels by name, how a set of operands is made, the result in float32, and its ways."""

    def __init__(self, name, kernels, make, expected, ways, bytes_, error=4e-3):
        self.name, self.kernels, self.make, self.expected, self.ways, self.bytes, self.error = name, kernels, make, expected, ways, bytes_, error


def normal(*shape, dtype=torch.float16, scale=1.0):
    return (torch.randn(*shape, device="cuda") * scale).to(dtype)


def lain(x, by_rows):
    return x if by_rows else x.t().contiguous().t()


def plain(m, n, k, dtype=torch.float16, majors="kk", open_=False, name=None, over=None):
    """A product beside torch.matmul. `over` is a size whose own kernel is another way, on operands of that size."""
    element = ELEMENTS[dtype]
    kernels = {"known": product(m, n, k, element, majors=majors)}
    if open_:
        kernels["open"] = product(m, n, k, element, majors=majors, open_=True)
    if over:
        kernels["rounded up"] = product(*over, element, majors=majors)
    size = over or (m, n, k)

    def make():
        of = lambda m, n, k: (
            lain(normal(m, k, dtype=dtype), majors[0] == "k"),
            lain(normal(n, k, dtype=dtype, scale=k**-0.5), majors[1] == "k"),
            torch.empty(m, n, device="cuda", dtype=dtype),
        )
        return of(m, n, k) + (of(*over) if over else ())

    def ways(f):
        ways = {"known": lambda s: f["known"](*s[:3])}
        if open_:
            ways["open"] = lambda s: f["open"](*s[:3])
        ways["cuBLAS"] = lambda s: torch.matmul(s[0], s[1].t(), out=s[2])
        if over:
            ways["rounded up"] = lambda s: f["rounded up"](*s[3:])
        return ways

    title = name or (f"{m}^3" if m == n == k else f"{m}x{n}x{k}")
    return Row(title, kernels, make, lambda s: s[0].float() @ s[1].float().t(), ways, 2 * sum(a * b for a, b in [(m, k), (n, k), (m, n)]) * (2 if over else 1))


def fp8(m, n, k):
    """Numbers of 8 bits, C in bf16, beside cuBLASLt with fast accumulation."""
    one = lambda: torch.ones((), device="cuda")

    def make():
        e = torch.float8_e4m3fn
        return normal(m, k, dtype=e), normal(n, k, dtype=e, scale=0.1), torch.empty(m, n, device="cuda", dtype=torch.bfloat16), one(), one()

    def ways(f):
        return {
            "known": lambda s: f["known"](*s[:3]),
            "cuBLASLt": lambda s: torch._scaled_mm(s[0], s[1].t(), s[3], s[4], out_dtype=torch.bfloat16, use_fast_accum=True, out=s[2]),
        }

    kernels = {"known": product(m, n, k, "f8E4M3FN", "bf16")}
    return Row(f"fp8 {m}x{n}x{k}", kernels, make, lambda s: s[0].float() @ s[1].float().t(), ways, m * k + n * k + 2 * m * n, 1e-2)


def block_scales():
    """Scales of blocks of 128, e4m3, beside cuBLASLt with the same ones."""
    m, n, k = 4096, 4096, 7168

    def make():
        e = torch.float8_e4m3fn
        a, b = normal(m, k, dtype=e), normal(n, k, dtype=e)
        of_a = (torch.rand(k // 128, m, device="cuda") + 0.5).t()
        of_b = torch.rand(n // 128, k // 128, device="cuda") + 0.5
        return a, b, torch.empty(m, n, device="cuda", dtype=torch.bfloat16), of_a, of_b

    def expected(s):
        wide_a = s[0].float() * s[3].repeat_interleave(128, 1)
        wide_b = s[1].float() * s[4].repeat_interleave(128, 0).repeat_interleave(128, 1)
        return wide_a @ wide_b.t()

    def ways(f):
        def ours(s):
            of_a = s[3].as_strided((m, 128, k // 128), (1, 0, m))
            of_b = s[4].as_strided((128, n // 128, 128, k // 128), (0, k // 128, 0, 1))
            f["known"](*s[:3], of_a, of_b)

        return {
            "known": ours,
            "cuBLASLt": lambda s: torch._scaled_mm(s[0], s[1].t(), s[3], s[4].t(), out_dtype=torch.bfloat16, out=s[2]),
        }

    return Row("fp8, scales of 128, 4096x4096x7168", {"known": example("scaled_fp8.mlir")}, make, expected, ways, m * k + n * k + 2 * m * n, 1e-2)


def gelu():
    m = n = k = 4096

    def make():
        return normal(m, k), normal(n, k, scale=k**-0.5), torch.empty(m, n, device="cuda", dtype=torch.float16), normal(n)

    def eager(s):
        torch.addmm(s[3], s[0], s[1].t(), out=s[2])
        s[2].copy_(F.gelu(s[2]))

    def ways(f):
        return {
            "known": lambda s: f["known"](*s[:3], s[3].expand(m, n)),
            "the product alone": lambda s: f["product"](*s[:3]),
            "cuBLAS, the product alone": lambda s: torch.matmul(s[0], s[1].t(), out=s[2]),
            "eager": eager,
        }

    kernels = {"known": example("linear_gelu.mlir"), "product": product(m, n, k)}
    return Row("bias and GELU, 4096^3", kernels, make, lambda s: F.gelu(s[0].float() @ s[1].float().t() + s[3].float()), ways, 3 * 2 * m * n)


def with_residual():
    m = n = k = 4096

    def make():
        return normal(m, k), normal(n, k, scale=k**-0.5), torch.empty(m, n, device="cuda", dtype=torch.float16), normal(m, n)

    def ways(f):
        return {
            "known": lambda s: f["known"](*s[:3], s[3]),
            "the product alone": lambda s: f["product"](*s[:3]),
            "eager": lambda s: torch.addmm(s[3], s[0], s[1].t(), out=s[2]),
        }

    return Row(
        "residual, 4096^3", {"known": residual(m, n, k), "product": product(m, n, k)}, make, lambda s: s[0].float() @ s[1].float().t() + s[3].float(), ways, 4 * 2 * m * n
    )


def spread(groups, rows):
    """Rows of groups: a geometric series whose largest is 16 times its smallest, in random order."""
    series = [16 ** (at / (groups - 1)) for at in range(groups)]
    counts = [int(rows * one / sum(series)) for one in series]
    counts[-1] += rows - sum(counts)
    random.Random(1).shuffle(counts)
    return counts


def grouped(groups, n, k, rows):
    counts = spread(groups, rows)
    ends = torch.tensor(counts, dtype=torch.int32, device="cuda").cumsum(0, dtype=torch.int32)
    bounds = [0, *ends.tolist()]

    def make():
        bf16 = torch.bfloat16
        return normal(rows, k, dtype=bf16), normal(groups, n, k, dtype=bf16, scale=k**-0.5), torch.empty(rows, n, device="cuda", dtype=bf16)

    def each(s):
        for at, (begin, end) in enumerate(zip(bounds, bounds[1:])):
            torch.matmul(s[0][begin:end], s[1][at].t(), out=s[2][begin:end])

    def expected(s):
        return torch.cat([s[0][begin:end].float() @ s[1][at].float().t() for at, (begin, end) in enumerate(zip(bounds, bounds[1:]))])

    def ways(f):
        return {
            "known": lambda s: f["known"](s[0], s[1].permute(1, 2, 0), s[2], ends),
            "a loop of cuBLAS": each,
        }

    return Row(f"{groups} groups of {rows} rows, N {n}, K {k}", {"known": experts(groups, n, k, rows)}, make, expected, ways, 2 * (rows * (k + n) + groups * n * k), 1e-2)


def weights_of_bytes(m, n, k):
    text = example("w8a16.mlir")
    text = text.replace("(16,8192):(8192,1)", f"({m},{k}):({k},1)").replace("(8192,8192):(1,0)", f"({n},{k}):(1,0)").replace("(8192,8192):", f"({n},{k}):")
    text = text.replace("%C: !inputs", f"%C: {matrix('f16', m, n)}").replace("(8192,1)", f"({k},1)")

    def make():
        return normal(m, k), torch.randint(-127, 128, (n, k), device="cuda", dtype=torch.int8), torch.empty(m, n, device="cuda", dtype=torch.float16), normal(n, scale=1e-3), normal(n, k)

    def ways(f):
        return {
            "known": lambda s: f["known"](*s[:3], s[3].unsqueeze(1).expand(n, k)),
            "f16 weights": lambda s: f["product"](s[0], s[4], s[2]),
            "cuBLAS, f16 weights": lambda s: torch.matmul(s[0], s[4].t(), out=s[2]),
        }

    kernels = {"known": text, "product": product(m, n, k)}
    return Row(f"w8a16, {m}x{n}x{k}", kernels, make, lambda s: s[0].float() @ (s[1].float() * s[3].float().unsqueeze(1)).t(), ways, n * k)


def rows():
    all_ = [plain(size, size, size, open_=size in (4096, 8192)) for size in (512, 1024, 2048, 4096, 8192)]
    all_ += [plain(4096, 4096, 4096, majors=majors, name=f"4096^3, {majors}n") for majors in ("mk", "kn", "mn")]
    all_ += [plain(4096, 4096, 4096, torch.bfloat16, name="4096^3, bf16")]
    all_ += [plain(1000, 1000, 1000, over=(1024,) * 3), plain(3000, 3000, 3000, over=(3072,) * 3)]
    all_ += [plain(4095, 4095, 4096, over=(4096,) * 3), plain(4096, 4096, 4095, over=(4096,) * 3), plain(1001, 999, 1003, over=(1024,) * 3)]
    all_ += [plain(m, size, size) for size in (4096, 8192) for m in (1, 8, 16, 64)]
    all_ += [plain(128, 4096, 11008), fp8(4096, 4096, 4096), fp8(8192, 8192, 8192), block_scales(), gelu(), with_residual()]
    all_ += [weights_of_bytes(m, size, size) for size in (4096, 8192) for m in (16, 64, 512)]
    all_ += [weights_of_bytes(4096, 4096, 4096)]
    all_ += [grouped(8, 14336, 4096, 8192), grouped(64, 2048, 7168, 8192), grouped(64, 2048, 7168, 512)]
    return all_


def off(row, sets, way):
    """The largest error of what a way gives, of the largest element."""
    s = sets[0]
    want = row.expected(s)
    s[2].fill_(float("nan"))
    way(s)
    torch.cuda.synchronize()
    return ((s[2].float() - want).abs().max() / want.abs().max()).item()


def times(row, functions, rounds):
    count = max(2, min(48, -(-3 * CACHE // row.bytes)))
    sets = [row.make() for _ in range(count)]
    ways, wrong, graphs = row.ways(functions), {}, {}
    stream = torch.cuda.Stream()
    for name, way in list(ways.items()):
        if name not in OTHERS:
            error = off(row, sets, way)
            if not error < row.error:
                wrong[name] = f"off by {error:.3g} of the largest element"
                del ways[name]
    runs = count
    for name, way in ways.items():
        with torch.cuda.stream(stream):
            for s in sets:
                way(s)
        stream.synchronize()
        # As many runs as take 2 ms.
        runs = max(runs, min(200, int(2000 * count / timed(recorded(way, sets, count, stream)))))
    for name, way in ways.items():
        graphs[name] = recorded(way, sets, runs, stream)
    found = {name: [] for name in ways}
    for turn in range(rounds + 1):
        order = list(ways)
        random.shuffle(order)
        for name in order:
            took = timed(graphs[name]) / runs
            if turn:
                found[name].append(took)
    return {name: statistics.median(all_) for name, all_ in found.items()}, wrong


def compiled(text):
    return cute_opt.compile(text, "sm_90a", cache=False)


def recorded(way, sets, runs, stream):
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        for turn in range(runs):
            way(sets[turn % len(sets)])
    return graph


def timed(graph):
    """Microseconds of a graph's replay."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda._sleep(200_000)
    begin.record()
    graph.replay()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end) * 1000


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", default=[], metavar="WORD")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--json", help="a file that gets a line for each row")
    options = parser.parse_args()
    chosen = [row for row in rows() if not options.only or any(word in row.name for word in options.only)]
    texts = {text for row in chosen for text in row.kernels.values()}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        packages = dict(zip(texts, pool.map(compiled, texts)))
    for row in chosen:
        functions = {name: next(packages[text][only] for only in packages[text]) for name, text in row.kernels.items()}
        found, wrong = times(row, functions, options.rounds)
        first = next(iter(found.values()), None)
        shown = ", ".join(f"{name} {took:.1f}" + (f" ({first / took:.3f})" if at else "") for at, (name, took) in enumerate(found.items()))
        print(f"{row.name}: {shown}" + "".join(f"; {name}: {why}" for name, why in wrong.items()), flush=True)
        if options.json:
            with open(options.json, "a") as file:
                print(json.dumps({"row": row.name, "times": found, "wrong": wrong}), file=file)
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
