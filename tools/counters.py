#!/usr/bin/env python3
"""Measures what single memory instructions of a warp cost, with Nsight Compute, on the GPU at hand.

    tools/counters.py patterns TABLE [--few]    writes every instruction with every pattern of addresses, not measured yet
    tools/counters.py measure TABLE [--ideals]  measures the lines of TABLE that have no figures, and fills them in
    tools/counters.py ptx                       prints the kernels

runtime/tests/counters/sm_90.txt is such a table, of fewer patterns, and `CUTE_COUNTERS=TABLE cargo test -p cute-runtime-tests
--test library counters` compares any other with what the emulator counts. A table has a line a launch of one warp:

    INSTRUCTION | LANES | FIGURES

LANES are byte offsets in lane order: `128` is one lane, `0+4x32` is 32 lanes that begin at 0 and step by 4, `-x16` are
16 inactive lanes. cp.async has offsets in shared memory, then a slash, then offsets in global memory. FIGURES are
`wavefronts=` in shared memory, `sectors=` and `lines=` of global memory, and of the first two `ideal_wavefronts=` and
`ideal_sectors=`.

Each launch executes its instruction once. Offsets come from the parameter space, which does not pass through L1, so a
counter counts that one instruction. Needs `ncu`, the right to read counters, and a driver, which assembles the PTX.
"""

import argparse
import csv
import ctypes
import io
import os
import random
import re
import subprocess
import sys
import tempfile

SHARED_BYTES = 40960
GLOBAL_BYTES = 1 << 20
# No value that memory holds, so that no result is ever stored, which ptxas cannot know.
MAGIC = 0x9E3779B9
# Launches of one run of ncu.
BATCH = 1000

# The counter of each figure. That of shared memory also counts one for a launch, and one for each instruction that is
# predicated off in all lanes: ptxas puts three such loads before a cp.async. It does not count cp.async.cg at all, of
# which no counter has the sectors that it asks for either.
WAVEFRONTS = "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"
SECTORS = "l1tex__t_sectors_pipe_lsu_mem_global_op_{op}.sum"
LINES = "l1tex__t_set_accesses_pipe_lsu_mem_global_op_{op}.sum"
TAGS = "memory_l1_tag_requests_global"
# What the profiler holds to be enough for the bytes of the active lanes. Slow: it patches the code.
IDEAL = {"ideal_wavefronts": "memory_l1_wavefronts_shared_ideal", "ideal_sectors": "memory_l2_theoretical_sectors_global_ideal"}
EXTRA = {"shared": 1, "cp.async": 4}
WIDTHS = {1: "u8", 2: "u16", 4: "u32", 8: "u64", 16: "v4.u32"}


def instructions():
    """Every instruction of a table: name, the PTX that executes it at [%s] or [%g], and the counters' op."""
    out = {}
    for width, ty in WIDTHS.items():
        value = "{%v0, %v1, %v2, %v3}" if width == 16 else {1: "%h0", 2: "%h0", 4: "%v0", 8: "%d0"}[width]
        for space, at in (("shared", "%s"), ("global", "%g")):
            out[f"ld.{space}.b{8 * width}"] = (f"@%p ld.{space}.{ty} {value}, [{at}];", "ld")
            out[f"st.{space}.b{8 * width}"] = (f"@%p st.{space}.{ty} [{at}], {value};", "st")
    for n in (1, 2, 4):
        regs = "{" + ", ".join(f"%v{i}" for i in range(n)) + "}"
        for trans in ("", ".trans"):
            shape = f"m8n8.x{n}{trans}.shared.b16"
            out[f"ldmatrix.x{n}{trans}"] = (f"ldmatrix.sync.aligned.{shape} {regs}, [%s];", "ld")
            out[f"stmatrix.x{n}{trans}"] = (f"stmatrix.sync.aligned.{shape} [%s], {regs};", "st")
    for kind, width in (("ca", 4), ("ca", 8), ("ca", 16), ("cg", 16)):
        text = f"@%p cp.async.{kind}.shared.global [%s], [%g], {width};\n    cp.async.wait_all;"
        out[f"cp.async.{kind}.{width}"] = (text, "ldgsts_cache_access" if kind == "ca" else "ldgsts_cache_bypass")
    for width in (4, 16):
        ty = WIDTHS[width]
        value = "{%v0, %v1, %v2, %v3}" if width == 16 else "%v0"
        out[f"ld.global.nc.b{8 * width}"] = (f"@%p ld.global.nc.{ty} {value}, [%g];", "ld")
    out["atom.shared.add.u32"] = ("@%p atom.shared.add.u32 %v0, [%s], 1;", "atom")
    out["atom.shared.cas.b32"] = ("@%p atom.shared.cas.b32 %v0, [%s], 1, 2;", "atom")
    out["atom.global.add.u32"] = ("@%p atom.global.add.u32 %v0, [%g], 1;", "atom")
    out["red.global.add.f32"] = ("@%p red.global.add.f32 [%g], %f0;", "red")
    return out


def ptx():
    """One module with a kernel an instruction."""
    parts = [".version 8.0\n.target sm_90\n.address_size 64\n"]
    for name, (text, _) in instructions().items():
        shared = f"    .shared .align 1024 .b8 memory[{SHARED_BYTES}];\n" if "%s" in text else ""
        base = "    mov.u32 %s, memory;\n    add.u32 %s, %s, %a0;\n" if shared else ""
        parts.append(f""".visible .entry {kernel(name)}(.param .align 4 .b8 shared_at[128], .param .align 4 .b8 global_at[128],
    .param .u32 mask, .param .u32 magic, .param .u64 global)
{{
    .reg .pred %p, %q;
    .reg .b16 %h0;
    .reg .b32 %lane, %a<2>, %s, %v<4>, %m, %magic;
    .reg .b64 %d0, %g, %i, %j, %t<2>;
    .reg .f32 %f0;
{shared}    mov.u32 %lane, %tid.x;
    mul.wide.u32 %i, %lane, 4;
    mov.b64 %t0, shared_at;
    add.s64 %t0, %t0, %i;
    ld.param.u32 %a0, [%t0];
    mov.b64 %t1, global_at;
    add.s64 %t1, %t1, %i;
    ld.param.u32 %a1, [%t1];
    ld.param.u32 %m, [mask];
    ld.param.u32 %magic, [magic];
    ld.param.u64 %g, [global];
    shr.u32 %m, %m, %lane;
    and.b32 %m, %m, 1;
    setp.ne.u32 %p, %m, 0;
    cvt.u64.u32 %j, %a1;
    add.s64 %j, %g, %j;
{base}    mov.b64 %t0, %g;
    mov.b64 %g, %j;
    cvt.u16.u32 %h0, %lane;
    mov.u32 %v0, %lane;
    mov.u32 %v1, %lane;
    mov.u32 %v2, %lane;
    mov.u32 %v3, %lane;
    cvt.u64.u32 %d0, %lane;
    cvt.rn.f32.u32 %f0, %lane;
    {text}
    mov.b64 {{%a0, %a1}}, %d0;
    xor.b32 %v0, %v0, %a0;
    xor.b32 %v0, %v0, %a1;
    cvt.u32.u16 %a0, %h0;
    xor.b32 %v0, %v0, %a0;
    xor.b32 %v0, %v0, %v1;
    xor.b32 %v0, %v0, %v2;
    xor.b32 %v0, %v0, %v3;
    setp.eq.u32 %q, %v0, %magic;
    @%q st.global.u32 [%t0], %v0;
    ret;
}}
""")
    return "\n".join(parts)


def kernel(name):
    return re.sub(r"\W", "_", name)


def width_of(name):
    if "matrix" in name:
        return 16
    return int(re.search(r"\d+$", name)[0]) // (1 if name.startswith("cp.async") else 8)


# Patterns: lists of 32 offsets, None for an inactive lane.


def patterns(w, limit, rng, full):
    """Offsets of accesses of w bytes a lane below `limit`, all aligned; `full` asks for every sharing structure."""
    lanes = range(32)
    out = [[0] * 32]
    out += [[k * w * l for l in lanes] for k in (1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 32, 33)]
    out += [[w * (31 - l) for l in lanes]]
    # Starts that are not at a line's, or at a sector's.
    out += [[start + k * w * l for l in lanes] for start in sorted({w, 16, 32, 64, 96, 112}) if start % w == 0 for k in (1, 2)]
    # Rows of 64, 128 and 256 bytes in vectors, plain, swizzled and padded.
    for row in (64, 128, 256):
        n = max(row // w, 1)
        out += [[row * (l % (32 // g)) + w * (l // (32 // g)) for l in lanes] for g in (1, 4) if w * g <= row]
        out += [[row * (l // n) + w * (l % n ^ l // n) for l in lanes] if n >= 32 // n and n < 32 else [(row + w) * l for l in lanes]]
    # Two halves, four quarters, each in order, on the same banks.
    out += [[4096 * (l // g) + w * (l % g) for l in lanes] for g in (16, 8, 4, 2)]
    # What lanes share, when the bits of the lane outside of s are dropped: in order, and at random places.
    subsets = range(32) if full else (0, 1, 2, 3, 4, 8, 15, 16, 23, 28, 29, 30)
    for s in subsets:
        out += [[w * (l & s) for l in lanes]]
        for spread in (1024, limit):
            places = [w * rng.randrange(spread // w) for _ in lanes]
            out += [[places[l & s] for l in lanes]]
    # The same for half of the warp alone.
    for s in (30, 29, 27, 28):
        places = [w * rng.randrange(limit // w) for _ in lanes]
        out += [[places[l & s] if l < 16 else places[l] for l in lanes], [w * (l & s if l < 16 else l) for l in lanes]]
    # Inactive lanes: those with a bit in t, in order and at random.
    for t in range(1, 32) if full else (1, 2, 4, 8, 16, 24, 31):
        places = [w * rng.randrange(limit // w) for _ in lanes]
        out += [[None if l & t else w * l for l in lanes], [None if l & t else places[l] for l in lanes]]
    for chance in (0.9, 0.7, 0.5, 0.3, 0.1):
        for spread in (256, 1024, limit):
            out += [[w * rng.randrange(spread // w) if rng.random() < chance else None for _ in lanes]]
    out += [[None] * 31 + [w], [None] * 32]
    # Permutations of a row, and a few random sets.
    for spread in (32 * w, 32 * w, 128, 256, 1024, 8192, limit, limit):
        out += [[w * rng.randrange(spread // w) for _ in lanes]]
    for _ in range(3):
        order = list(lanes)
        rng.shuffle(order)
        out += [[w * l for l in order]]
    seen, distinct = set(), []
    for p in out:
        if tuple(p) not in seen and all(a is None or 0 <= a <= limit - w for a in p):
            seen.add(tuple(p))
            distinct.append(p)
    return distinct


def table():
    """Every case: (instruction, offsets in shared memory or None, offsets in global memory or None)."""
    cases = []
    for name in instructions():
        rng = random.Random(name)
        w = width_of(name)
        line = [w * l for l in range(32)]
        if name.startswith("cp.async"):
            first, second = patterns(w, 32768, rng, False), patterns(w, 65536, rng, False)
            cases += [(name, p, keep(line, p)) for p in first[::2]]
            cases += [(name, keep(line, p), p) for p in second[::2]]
            # Both sides at once: rows of a tile to rows of shared memory, permutations, random places.
            rows = [[r * (l // n) + w * (l % n) for l in range(32)] for r in (64, 128, 256, 1024) for n in (4, 8, 16)]
            cases += [(name, a, b) for a in rows[::2] for b in rows[::3]]
            for p in first[1::4] + rows[1::2]:
                order = rng.sample(range(32), 32)
                other = rng.choice(second[-20:-3])
                cases += [(name, p, keep([w * l for l in order], p)), (name, keep(p, other), keep(other, p))]
        elif "global" in name:
            step = 4 if ".nc." in name or name.startswith(("atom", "red")) else 1
            cases += [(name, None, p) for p in patterns(w, 65536, rng, False)[::step]]
        else:
            full = name.startswith(("ld.shared", "st.shared")) and w >= 4
            ps = patterns(w, 32768, rng, full)
            if "matrix" in name:
                ps = [p for p in ps if None not in p]
            cases += [(name, p, None) for p in (ps[::7] if "trans" in name else ps)]
            if name.startswith("ld.shared") and w >= 8:
                # Halves that share in different ways.
                cases += [(name, [w * (l & ~a if l < 16 else l & ~b) for l in range(32)], None) for a, b in ((1, 2), (2, 1))]
    # With no lane active there is nothing to count.
    return [c for c in cases if any(a is not None for a in c[1] or c[2])]


def few():
    """Lines of a table that is small enough to read: the patterns that are short to write, and some of the others."""
    groups = {}
    for case in table():
        groups.setdefault(case[0], []).append(row(*case))
    out = []
    for name, lines in groups.items():
        short = [x for x in lines if len(x) < len(name) + 48]
        long = [x for x in lines if len(x) >= len(name) + 48]
        telling = name.startswith(("ld.shared.b64", "ld.shared.b128", "st.shared.b64", "st.shared.b128"))
        out += short[:: 1 if telling else 3] + long[:: max(len(long) // (20 if telling else 6), 1)]
    return out


def keep(offsets, like):
    return [a if b is not None else None for a, b in zip(offsets, like)]


# The table's text.


def runs(offsets):
    out, i = [], 0
    while i < 32:
        step = None
        j = i + 1
        while j < 32:
            a, b = offsets[j - 1], offsets[j]
            if (a is None) != (b is None):
                break
            d = 0 if a is None else b - a
            if step is None:
                step = d
            if d != step:
                break
            j += 1
        n = j - i
        if offsets[i] is None:
            out.append(f"-x{n}" if n > 1 else "-")
        elif n == 1 or (n == 2 and step != 0):
            out.append(str(offsets[i]))
            n = 1
        else:
            out.append(f"{offsets[i]}{step:+}x{n}")
        i += n
    return " ".join(out)


def lanes_of(text):
    out = []
    for part in text.split():
        m = re.fullmatch(r"(-|\d+)([+-]\d+)?(?:x(\d+))?", part)
        start, step, n = m[1], int(m[2] or 0), int(m[3] or 1)
        out += [None if start == "-" else int(start) + k * step for k in range(n)]
    if len(out) != 32:
        raise ValueError(f"expected 32 lanes, found {len(out)} in {text!r}")
    return out


def read(path):
    with open(path) as f:
        lines = f.read().splitlines()
    cases = []
    for n, line in enumerate(lines):
        if line and not line.startswith("#"):
            name, where, figures = (x.strip() for x in line.split("|"))
            places = [lanes_of(x) for x in where.split("/")]
            if name.startswith("cp.async"):
                shared, glob = places
            else:
                shared, glob = (None, places[0]) if "global" in name else (places[0], None)
            cases.append((n, name, shared, glob, figures))
    return lines, cases


def row(name, shared, glob, figures=""):
    where = " / ".join(runs(x) for x in (shared, glob) if x is not None)
    return f"{name} | {where} | {figures}".rstrip()


# Launching.


class Gpu:
    def __init__(self):
        self.cu = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        dev, ctx = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuDeviceGet", ctypes.byref(dev), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(ctx), dev)
        self.call("cuCtxSetCurrent", ctx)
        self.module = ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(self.module), ptx().encode() + b"\0")
        self.memory = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(self.memory), ctypes.c_size_t(GLOBAL_BYTES))
        self.call("cuMemsetD8_v2", self.memory, ctypes.c_ubyte(0), ctypes.c_size_t(GLOBAL_BYTES))
        self.functions = {}

    def call(self, name, *args):
        rc = getattr(self.cu, name)(*args)
        if rc:
            raise RuntimeError(f"{name} returned {rc}")

    def launch(self, name, shared, glob):
        if name not in self.functions:
            f = ctypes.c_void_p()
            self.call("cuModuleGetFunction", ctypes.byref(f), self.module, kernel(name).encode())
            self.functions[name] = f
        row = ctypes.c_uint32 * 32
        first = shared if shared is not None else glob
        args = [
            row(*(a or 0 for a in shared or [0] * 32)),
            row(*(a or 0 for a in glob or [0] * 32)),
            ctypes.c_uint32(sum(1 << i for i, a in enumerate(first) if a is not None)),
            ctypes.c_uint32(MAGIC),
            self.memory,
        ]
        params = (ctypes.c_void_p * len(args))(*(ctypes.cast(ctypes.byref(a), ctypes.c_void_p) for a in args))
        self.call("cuLaunchKernel", self.functions[name], 1, 1, 1, 32, 1, 1, 0, None, params, None)
        self.call("cuCtxSynchronize")


def figures_of(name, ideals):
    """The figures of an instruction: for each its counter, and what that counts besides."""
    op = instructions()[name][1]
    if "bypass" in op:
        return {"lines": (TAGS, 0)}
    out = {}
    if name.startswith("cp.async") or "global" not in name:
        out["wavefronts"] = (WAVEFRONTS, EXTRA["cp.async" if name.startswith("cp.async") else "shared"])
    if name.startswith("cp.async") or "global" in name:
        out |= {"sectors": (SECTORS.format(op=op), 0), "lines": (LINES.format(op=op), 0)}
    if ideals:
        out |= {f"ideal_{k}": (IDEAL[f"ideal_{k}"], 0) for k in ("wavefronts", "sectors") if k in out}
    return out


def profile(cases, metric):
    """A counter of each case, by ncu over a process that launches them one after the other."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as f:
        f.write("\n".join(row(name, s, g) for name, s, g in cases))
        f.flush()
        # The clocks stay as they are: counts do not depend on them.
        command = ["ncu", "--csv", "--page", "raw", "--clock-control", "none", "--cache-control", "none"]
        command += ["--metrics", metric, sys.executable, os.path.abspath(__file__), "launch", f.name]
        done = subprocess.run(command, capture_output=True, text=True)
    at = done.stdout.find('"ID"')
    if at < 0:
        raise RuntimeError(f"ncu gave no table:\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    rows = list(csv.DictReader(io.StringIO(done.stdout[at:])))[1:]
    if [r["Kernel Name"] for r in rows] != [kernel(name) for name, _, _ in cases]:
        raise RuntimeError(f"ncu gave {len(rows)} launches for {len(cases)}, or in another order:\n{done.stdout[:at][-2000:]}")
    return [int(float(r[metric].replace(",", ""))) for r in rows]


def measure(path, ideals):
    lines, cases = read(path)
    todo = {}
    # A counter a run: one that needs no second pass is not slowed down by saving and restoring memory.
    for n, name, s, g, figures in cases:
        if not figures:
            for figure, (metric, extra) in figures_of(name, ideals).items():
                todo.setdefault(metric, []).append((n, figure, extra, (name, s, g)))
    found = {}
    for metric, launches in todo.items():
        for at in range(0, len(launches), BATCH):
            part = launches[at : at + BATCH]
            for (n, figure, extra, _), count in zip(part, profile([x[3] for x in part], metric)):
                found.setdefault(n, []).append(f"{figure}={count - extra}")
            print(f"{metric}: {at + len(part)} of {len(launches)}", flush=True)
    for n, name, s, g, _ in cases:
        if n in found:
            lines[n] = row(name, s, g, " ".join(found[n]))
    with open(path, "w") as f:
        f.write("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("ptx")
    for verb in ("patterns", "measure", "launch"):
        sub = verbs.add_parser(verb)
        sub.add_argument("table")
        if verb == "patterns":
            sub.add_argument("--few", action="store_true")
        if verb == "measure":
            sub.add_argument("--ideals", action="store_true")
    args = parser.parse_args()
    if args.verb == "ptx":
        print(ptx())
    elif args.verb == "patterns":
        with open(args.table, "w") as f:
            f.write("\n".join(few() if args.few else [row(*c) for c in table()]) + "\n")
    elif args.verb == "launch":
        gpu = Gpu()
        for _, name, shared, glob, _ in read(args.table)[1]:
            gpu.launch(name, shared, glob)
    else:
        measure(args.table, args.ideals)


if __name__ == "__main__":
    main()
