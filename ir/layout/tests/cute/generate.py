#!/usr/bin/env python3
"""Writes figures.txt: what CuTe C++ gives for tiled copies, tiled MMAs and partitions.

    generate.py CUTLASS_INCLUDE CUDA_INCLUDE > figures.txt

The program writes calls of CuTe's functions, compiles them for the host (`g++ -std=c++17`; CUDA's headers from the PyPI
packages nvidia-cuda-runtime, nvidia-cuda-crt and nvidia-cuda-cccl are enough) and rewrites what they print into the text
of this project: `_8` becomes `8`, and an integer that CuTe knows only at run time `8?`. A line is

    OPERATION ARGUMENT... => KEY=RESULT...

    mma     ATOM LAYOUT PERMUTATION                       the tiled MMA
    copy    SPEC                                          the tiled copy
    partA|partB|partC TENSOR ATOM LAYOUT PERMUTATION      a thread's part of an operand, and its fragment
    partS|partD TENSOR SPEC                               a thread's part of one side of a copy
    retile  FRAGMENT SPEC                                 a fragment as the copy sees it
    local_tile|inner|outer TENSOR TILER COORD PROJECTION
    local_partition TENSOR THREADS INDEX PROJECTION

    SPEC:  thrval COPY_ATOM BITS THREADS VALUES | A|B|C|Catom COPY_ATOM BITS MMA_ATOM LAYOUT PERMUTATION
         | S|D COPY_ATOM BITS SPEC | cotiled COPY_ATOM BITS TV DATA | impl COPY_ATOM BITS TV TILER

`off` lists THREAD:OFFSET, where a part begins. The random combinations come from a fixed seed.
"""

import random
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SEED = 5
CHUNK = 40  # cases a program

PREAMBLE = r"""
#include <cute/tensor.hpp>
#include <cute/atom/mma_atom.hpp>
#include <cute/atom/copy_atom.hpp>
using namespace cute;
template <class T> void tile(T const& t) {
  if constexpr (is_layout<T>::value) { print(t); }
  else if constexpr (is_underscore<T>::value) { print("_"); }
  else if constexpr (is_tuple<T>::value) {
    print("[");
    for_each(make_seq<tuple_size<T>::value>{}, [&](auto i) { if (i > 0) print(";"); tile(get<decltype(i)::value>(t)); });
    print("]");
  } else { print(t); print(":"); print(Int<1>{}); }
}
template <class F> void offsets(int n, F part) {
  print(" off=");
  int threads[] = {0, 1, 2, 5, 11, 17, n / 2, n - 1};
  for (int i = 0; i < 8; ++i) {
    if (i) print(";");
    printf("#%d#:", threads[i] % n); print(*part(threads[i] % n).data());
  }
}
template <class L> auto numbered(L const& l) { return make_tensor(counting_iterator<int>{0}, l); }
template <class M> void mma(M const& m) {
  print(" vmnk="); print(m.get_thr_layout_vmnk());
  print(" tile="); tile(make_tile(tile_size<0>(m), tile_size<1>(m), tile_size<2>(m)));
  print(" a="); print(m.get_layoutA_TV()); print(" b="); print(m.get_layoutB_TV()); print(" c="); print(m.get_layoutC_TV());
}
template <class C> void copy_(C const& c) {
  print(" tiler="); tile(typename C::Tiler_MN{}); print(" tv="); print(typename C::TiledLayout_TV{});
  print(" s="); print(c.get_layoutS_TV()); print(" d="); print(c.get_layoutD_TV());
}
template <class C, class T> void part_s(C const& c, T const& t) {
  print(" val="); print(c.get_slice(0).partition_S(t).layout());
  offsets(size(c), [&](int i) { return c.get_slice(i).partition_S(t); });
}
template <class C, class T> void part_d(C const& c, T const& t) {
  print(" val="); print(c.get_slice(0).partition_D(t).layout());
  offsets(size(c), [&](int i) { return c.get_slice(i).partition_D(t); });
}
template <int O, bool Frag, class M, class T> void part(M const& m, T const& t) {
  auto of = [&](int i) {
    auto s = m.get_slice(i);
    if constexpr (O == 0) return s.partition_A(t); else if constexpr (O == 1) return s.partition_B(t); else return s.partition_C(t);
  };
  auto p = of(0);
  print(" val="); print(p.layout());
  offsets(cosize(m.get_thr_layout_vmnk()), of);
  if constexpr (Frag && is_static<decltype(p.shape())>::value) {
    print(" frag=");
    if constexpr (O == 2) print(make_layout(p.shape())); else print(make_fragment_like<int>(p).layout());
  }
}
"""


# ---- text to C++ ----


def parse(text):
    """A layout's tuple: ints, '8?' for dynamic ones, '_' or nested lists."""
    tokens = re.findall(r"[(),]|_|\d+\??", text)
    pos = 0

    def item():
        nonlocal pos
        token = tokens[pos]
        pos += 1
        if token != "(":
            return token
        out = []
        while tokens[pos] != ")":
            out.append(item())
            if tokens[pos] == ",":
                pos += 1
        pos += 1
        return out

    return item()


def value(t):
    if isinstance(t, list):
        return f"cute::make_tuple({','.join(map(value, t))})"
    if t == "_":
        return "_"
    return t[:-1] if t.endswith("?") else f"Int<{t}>{{}}"


def col_major(shape):
    """Compact strides: dynamic from the first dynamic extent on."""
    run, dynamic = 1, False

    def walk(s):
        nonlocal run, dynamic
        if isinstance(s, list):
            return [walk(x) for x in s]
        mine = "0" if s == "1" else f"{run}" + ("?" if dynamic else "")
        run *= int(s.rstrip("?"))
        dynamic = dynamic or s.endswith("?")
        return mine

    return walk(shape)


def text(t):
    return f"({','.join(map(text, t))})" if isinstance(t, list) else t


def full(layout):
    """With its stride written out."""
    if ":" in layout or layout.startswith("id"):
        return layout
    return f"{layout}:{text(col_major(parse(layout)))}"


def layout(l):
    shape, stride = full(l).split(":")
    return f"make_layout({value(parse(shape))},{value(parse(stride))})"


def tiler(t):
    """`[32:1;_;(2,4):(1,8)]`, or `_`."""
    if t == "_":
        return "_"
    if t.startswith("["):
        return f"make_tile({','.join(tiler(m) for m in t[1:-1].split(';'))})"
    shape, stride = t.split(":")
    return f"Int<{shape}>{{}}" if stride == "1" and "(" not in shape else layout(t)


def tensor(t):
    """A layout over a counting iterator, or `id(..)`: the coordinates of a shape."""
    if t.startswith("id"):
        return f"make_identity_tensor({value(parse(t[2:]))})"
    return f"numbered({layout(t)})"


ELEM = {8: "int8_t", 16: "half_t", 32: "float", 64: "double"}


def copy_atom(name, bits):
    return f"Copy_Atom<{name},{ELEM[int(bits)]}>{{}}"


def tiled_mma(m):
    atom, atoms, perm = m
    return f"make_tiled_mma({atom}{{}},{layout(atoms)},{tiler(perm)})"


def spec(s):
    kind, name, bits, *rest = s
    atom = copy_atom(name, bits)
    match kind:
        case "thrval":
            return f"make_tiled_copy({atom},{layout(rest[0])},{layout(rest[1])})"
        case "A" | "B" | "C":
            return f"make_tiled_copy_{kind}({atom},{tiled_mma(rest)})"
        case "Catom":
            return f"make_tiled_copy_C_atom({atom},{tiled_mma(rest)})"
        case "S" | "D":
            return f"make_tiled_copy_{kind}({atom},{spec(rest)})"
        case "cotiled":
            return f"make_cotiled_copy({atom},{layout(rest[0])},{layout(rest[1])})"
        case "impl":
            return f"make_tiled_copy_impl({atom},{layout(rest[0])},{tiler(rest[1])})"


# ---- cases: (words, C++ statements) ----


def fulls(words):
    return [full(w) if re.fullmatch(r"\d+\??|\([\d(),?]*\)", w) else w for w in words]


def mma(m):
    return ["mma", m[0], full(m[1]), m[2]], f"mma({tiled_mma(m)});"


def part(operand, t, m):
    i = "ABC".index(operand)
    return [f"part{operand}", full(t), m[0], full(m[1]), m[2]], f"part<{i},{str(not t.startswith('id')).lower()}>({tiled_mma(m)},{tensor(t)});"


def spec_words(s):
    kind, name, bits, *rest = s
    if kind in "SD" and kind != "":
        return [kind, name, bits, *spec_words(rest)]
    return [kind, name, bits, *fulls(rest)]


def copy(s):
    return ["copy", *spec_words(s)], f"copy_({spec(s)});"


def side(which, t, s):
    return [f"part{which}", full(t), *spec_words(s)], f"part_{which.lower()}({spec(s)},{tensor(t)});"


def retile(frag, s):
    return ["retile", full(frag), *spec_words(s)], f'print(" val="); print({spec(s)}.retile({layout(frag)}));'


def fits(operand, name, bits, atom, atoms, size):
    """Whether a thread's values of an operand are whole atoms of a copy, as CuTe asserts."""
    x, y = {"A": (0, 2), "B": (1, 2), "C": (0, 1)}[operand]
    shape = ATOMS[atom][0]
    threads = 1 if atom == FMA else 8 if atom.startswith("SM70") else 32
    values = shape[x] * shape[y] // threads
    for i in (x, y):
        values *= size[i] // (shape[i] * int(parse(atoms.split(":")[0])[i]))
    if name in LDSM:
        unit = 32 * [1, 2, 4][LDSM.index(name) % 3] // bits
        return threads == 32 and values % unit == 0
    return values % (int(re.search(r"uint(\d+)_t", name).group(1)) // bits) == 0


def local(op, t, by, coord, proj):
    c = {"local_tile": "local_tile", "inner": "inner_partition", "outer": "outer_partition"}.get(op, op)
    by_text = layout(by) if op == "local_partition" else tiler(by)
    where = coord if op == "local_partition" else value(parse(coord))
    p = "" if proj == "-" else f",Step<{','.join('X' if x == '_' else '_' + x for x in parse(proj))}>{{}}"
    body = f"auto p={c}({tensor(t)},{by_text},{where}{p}); print(\" val=\"); print(p.layout()); print(\" off=#0#:\"); print(*p.data());"
    by_words = full(by) if op == "local_partition" else by
    return [op, full(t), by_words, coord, proj], body


U = {8: "UniversalCopy<uint8_t>", 16: "UniversalCopy<uint16_t>", 32: "UniversalCopy<uint32_t>", 64: "UniversalCopy<uint64_t>", 128: "UniversalCopy<uint128_t>"}
ASYNC = {4: "SM80_CP_ASYNC_CACHEALWAYS<uint32_t>", 8: "SM80_CP_ASYNC_CACHEALWAYS<uint64_t>", 16: "SM80_CP_ASYNC_CACHEALWAYS<uint128_t>"}
FMA = "UniversalFMA<float,float,float,float>"
SM70 = "SM70_8x8x4_F32F16F16F32_NT"
SM80 = "SM80_16x8x16_F16F16F16F16_TN"
NONE = "[_;_;_]"
LDSM = ["SM75_U32x1_LDSM_N", "SM75_U32x2_LDSM_N", "SM75_U32x4_LDSM_N", "SM75_U16x2_LDSM_T", "SM75_U16x4_LDSM_T", "SM75_U16x8_LDSM_T"]
# Name: (M, N, K), bits of A and B, bits of C.
ATOMS = {
    FMA: ((1, 1, 1), 32, 32),
    "SM70_8x8x4_F16F16F16F16_TN": ((8, 8, 4), 16, 16),
    "SM70_8x8x4_F16F16F16F16_NN": ((8, 8, 4), 16, 16),
    "SM70_8x8x4_F16F16F16F16_TT": ((8, 8, 4), 16, 16),
    SM70: ((8, 8, 4), 16, 32),
    "SM70_8x8x4_F32F16F16F32_TN": ((8, 8, 4), 16, 32),
    "SM75_16x8x8_F32F16F16F32_TN": ((16, 8, 8), 16, 32),
    "SM75_8x8x16_S32S8S8S32_TN": ((8, 8, 16), 8, 32),
    SM80: ((16, 8, 16), 16, 16),
    "SM80_16x8x8_F32F16F16F32_TN": ((16, 8, 8), 16, 32),
    "SM80_16x8x16_F32BF16BF16F32_TN": ((16, 8, 16), 16, 32),
    "SM80_16x8x4_F32TF32TF32F32_TN": ((16, 8, 4), 32, 32),
    "SM80_16x8x8_F32TF32TF32F32_TN": ((16, 8, 8), 32, 32),
    "SM80_8x8x4_F64F64F64F64_TN": ((8, 8, 4), 64, 64),
    "SM80_16x8x32_S32S8S8S32_TN": ((16, 8, 32), 8, 32),
    "SM89_16x8x32_F32E4M3E4M3F32_TN": ((16, 8, 32), 8, 32),
}


def tutorials():
    """CuTe's tutorials and documentation, and the examples that this project answers to."""
    out = []
    # sgemm_1: local tiles and partitions, m-major (NT) and k-major (TN).
    for a, s, thr in [("(512?,256?):(1,512?)", "(128,8):(1,128)", "(32,8):(1,32)"), ("(512?,256?):(256?,1)", "(128,8):(8,1)", "(32,8):(8,1)")]:
        out += [local("local_tile", a, "[128:1;128:1;8:1]", "(1?,2?,_)", p) for p in ["(1,_,1)", "(_,1,1)"]]
        stride = a.split(":")[1]
        g = f"(128,8,32?):({stride[1:-1]},{'4096?' if stride.startswith('(1,') else '8?'})"
        out += [local("local_partition", t, thr, i, "-") for t in [g, s] for i in ["0", "77", "255"]]
        out += [local("local_partition", s, "(16,16):(1,16)", i, p) for p in ["(1,_)", "(_,1)"] for i in ["0", "77", "255"]]
    out += [local("local_tile", "(512?,384?):(1,512?)", "[128:1;128:1;8:1]", "(1?,2?,_)", "(1,1,_)")]
    out += [local("local_partition", "(128,128):(1,512?)", "(16,16):(1,16)", i, "(1,1)") for i in ["0", "77", "255"]]
    # sgemm_2.
    for name, bits, thr, val, g, s in [
        (U[128], "32", "(32,8):(1,32)", "(4,1):(1,0)", "(128,8,32?):(1,512?,4096?)", "(128,8):(1,128)"),
        (U[32], "32", "(32,8):(8,1)", "(1,1):(0,0)", "(128,8,32?):(256?,1,8?)", "(128,8):(1,129)"),
    ]:
        c = ["thrval", name, bits, thr, val]
        out += [copy(c), side("S", g, c), side("D", s, c)]
        m = [FMA, "(16,16,1)", NONE]
        out += [mma(m), part("A", s, m), part("B", s, m), part("C", "(128,128):(1,512?)", m)]
        # sgemm_sm70 copies through registers.
        out += [retile("((4,1),1,1):((1,0),0,0)" if bits == "32" and "128" in name else "((1,1),4,1):((0,0),1,0)", c)]
    # sgemm_sm80: k-major halves by ldmatrix, and m-major floats.
    c = ["thrval", ASYNC[16], "16", "(16,8):(8,1)", "(1,8):(0,1)"]
    m = [SM80, "(2,2)", "[32:1;32:1;16:1]"]
    out += [copy(c), side("S", "(128,64,16?):(1024?,1,64?)", c), side("D", "(128,64,3):(64,1,8192)", c), mma(m)]
    out += [part("C", "(128,128):(1,512?)", m), part("A", "(128,64):(64,1)", m), part("B", "(128,64):(64,1)", m)]
    for atom in LDSM[2:3]:
        a, b = ["A", atom, "16", *m], ["B", atom, "16", *m]
        out += [copy(a), copy(b), side("S", "(128,64,3):(64,1,8192)", a), side("S", "(128,64,3):(64,1,8192)", b)]
        out += [retile("((2,2,2),4,4):((1,2,4),8,32)", a), retile("((2,2),8,4):((1,2),4,32)", b)]
    m = [FMA, "(16,16,1):(1,16,0)", "[_;_;_]"]
    c = ["thrval", ASYNC[16], "32", "(32,8):(1,32)", "(4,1):(1,0)"]
    a = ["A", U[32], "32", *m]
    out += [copy(c), side("D", "(128,8,3):(1,128,1024)", c), copy(a), side("S", "(128,8,3):(1,128,1024)", a)]
    # tiled_copy and tiled_copy_if: blocks of 128x64, also of a tensor that they do not divide.
    c = ["thrval", U[128], "32", "(32,8):(1,32)", "(4,1):(1,0)"]
    block = "(128,64):(1,256?)"
    out += [copy(c), side("S", block, c), side("D", block, c)]
    out += [local("local_partition", block, "(32,8):(1,32)", i, "-") for i in ["0", "100"]]
    out += [local("inner", "(256?,512?):(1,256?)", "[128:1;64:1]", x, "-") for x in ["(1?,3?)", "(_,_)", "(0,_)"]]
    out += [local("local_tile", x, "[128:1;64:1]", "(4?,4?)", "-") for x in ["(528?,300?):(1,528?)", "id(528?,300?)", "(528,300):(1,528)"]]
    tile = "(128,64):(1,528?)"
    out += [side("S", x, c) for x in [tile, "id(128,64)", "(528?,300?):(1,528?)", "id(528?,300?)", "(528,300):(1,528)", "id(528,300)"]]
    out += [local("outer", "id(528?,300?)", "[32:1;8:1]", "(3?,5?)", "-"), local("outer", "(24,8):(1,24)", "[4:1;2:1]", "5?", "-")]
    # 0t_mma_atom.
    interleaved = "(4,4,2):(1,8,4)"
    for atoms, perm in [
        ("(1,1,1)", NONE), ("(2,2):(2,1)", NONE), ("(2,2):(2,1)", "[32:1;32:1;4:1]"),
        ("(2,2):(2,1)", f"[{interleaved};32:1;4:1]"), ("(2,2)", f"[{interleaved};{interleaved};_]"), ("(2,2)", NONE),
    ]:
        m = [SM70, atoms, perm]
        out += [mma(m)]
        if atoms != "(1,1,1)":
            out += [part("A", "(64,16):(17,1)", m), part("B", "(64,16):(1,64)", m), part("C", "(64,64):(64,1)", m)]
        else:
            out += [part("C", "(64,96):(1,64)", m)]
    # 0x_gemm_tutorial.
    for thr in ["(32,8):(1,32)", "(32,8):(8,1)"]:
        out += [local("local_partition", "(128,8):(1,128)", thr, i, "-") for i in ["0", "100"]]
    # TiledCopy, worked out; and rank 1.
    for atom, bits, thr, val in [
        (U[16], "16", "(16,8):(8,1)", "(1,4)"), (U[16], "16", "(8,16):(1,8)", "(4,1)"), (ASYNC[16], "16", "(16,8):(8,1)", "(1,8)"),
        (ASYNC[16], "16", "(16,8):(8,1)", "(2,4)"), (ASYNC[16], "16", "(16,8):(8,1)", "(1,16)"), (ASYNC[16], "16", "(32,4):(4,1)", "(1,8)"),
        (ASYNC[16], "16", "(16,8):(1,16)", "(8,1)"), (U[128], "16", "(128):(1)", "(8):(1)"), (U[64], "32", "(4,8,2):(8,1,32)", "(1,2,2):(0,1,2)"),
    ]:
        out += [copy(["thrval", atom, bits, thr, val])]
    # A GEMM mainloop: tiles 64x16, 96x16 and 64x96.
    for atom, atoms in [("SM70_8x8x4_F16F16F16F16_TN", "(2,2,1)"), ("SM75_16x8x8_F32F16F16F32_TN", "(2,2,1)"), (SM80, "(2,2,1)"), (SM80, "(1,3,1)")]:
        m = [atom, atoms, NONE]
        out += [mma(m), part("A", "(64,16):(17,1)", m), part("B", "((32,3),16):((1,512),32)", m), part("C", "(64,96):(96,1)", m)]
    # A tile by its offsets.
    for atom, bits, tv, data in [
        (U[128], "16", "(32,8):(8,1)", "(16,16):(16,1)"), (U[128], "16", "(32,8):(8,1)", "(64,8):(1,64)"), (U[64], "16", "((8,4),4):((4,64),1)", "(64,4):(1,64)"),
        (U[32], "32", "((4,8),(1,2)):((1,16),(0,4))", "(16,16):(1,16)"), (U[64], "32", "(32,2):(2,1)", "((8,2),4):((1,32),8)"),
    ]:
        out += [copy(["cotiled", atom, bits, tv, data])]
    return out


def chance(rng):
    """Random combinations."""
    out = []
    layouts = ["(1,1,1)", "(2,1,1)", "(1,2,1)", "(2,2,1)", "(2,2,1):(2,1,0)", "(4,1,1)", "(1,4,1)", "(2,2,2)", "(1,1,2)", "(4,2,1):(1,4,0)", "(2,4,1):(4,1,0)"]

    def permuted(n, unit):
        """A layout of n elements, whose first mode is `unit` in a row, the others shuffled."""
        left, sizes = n // unit, []
        while left > 1:
            f = rng.choice([2, 2, 4])
            f = f if left % f == 0 else left
            sizes.append(f)
            left //= f
        if not sizes:
            return f"{n}:1"
        shape = ([unit] if unit > 1 else []) + sizes
        order = list(range(len(shape)))
        tail = order[1:] if unit > 1 else order
        rng.shuffle(tail)
        order = ([0] if unit > 1 else []) + tail
        stride, run = [0] * len(shape), 1
        for i in order:
            stride[i], run = run, run * shape[i]
        if len(shape) == 1:
            return f"{n}:1"
        return f"({','.join(map(str, shape))}):({','.join(map(str, stride))})"

    def matrix(x, y, deep):
        kind = rng.randrange(9)
        ld, rest = rng.choice([8, 24, 40]), ""
        if kind == 0:
            return f"({x},{y}):(1,{x})"
        if kind == 1:
            return f"({x},{y}):({y},1)"
        if kind == 2:
            return f"({x},{y}):({y + ld},1)"
        if kind == 3:
            return f"({x},{y}):({y + ld}?,1)"
        if kind == 4:
            return f"({x},{y},3):(1,{x},{x * y})"
        if kind == 5:
            return f"({x},{y},5?):(1,{x + ld}?,{(x + ld) * y}?)"
        if kind == 6:
            return f"id({x},{y})"
        if kind == 7 and y % 2 == 0:
            return f"({x},(2,{y // 2})):({y},(1,2))"
        return f"({x}?,{y}?):(1,{x + ld}?)" if not deep else f"({x},{y},2,3?):(7?,1,{x * y},{x * y * 2}?)"

    for atom, ((m, n, k), ab, c) in ATOMS.items():
        for _ in range(5):
            atoms = rng.choice(layouts)
            counts = parse(atoms.split(":")[0])
            share = [int(counts[i]) * (m, n, k)[i] for i in range(3)]
            size = [s * rng.choice([1, 1, 2]) for s in share]
            perm = []
            for i in range(3):
                how = rng.randrange(4)
                if how == 0:
                    perm.append("_")
                    size[i] = share[i]
                elif how == 1:
                    perm.append(f"{size[i]}:1")
                else:
                    # Whole atoms, or parts of them, as units that are moved.
                    atom_size = (m, n, k)[i]
                    perm.append(permuted(size[i], rng.choice([u for u in (1, 2, 4, 8, 16) if atom_size % u == 0])))
            t = [atom, atoms, f"[{';'.join(perm)}]"]
            out.append(mma(t))
            big = [s * rng.choice([1, 2, 3]) for s in size]
            for operand, (x, y) in {"A": (0, 2), "B": (1, 2), "C": (0, 1)}.items():
                deep = rng.random() < 0.5
                out.append(part(operand, matrix(big[x], big[y], deep), t))
                bits = c if operand == "C" else ab
                if rng.random() < 0.6:
                    wide = [U[w] for w in (16, 32, 64, 128) if w >= bits]
                    choice = rng.choice(wide + (LDSM[:3] * 2 if bits in (8, 16) else []) + (LDSM[3:] if bits == 16 else []))
                    s = [operand, choice, str(bits), *t]
                    of = side(rng.choice("SD"), matrix(big[x], big[y], deep), s)
                    if fits(operand, choice, bits, atom, atoms, size):
                        out += [copy(s), of]
            if rng.random() < 0.4:
                s = ["Catom", U[c], str(c), *t]
                out.append(copy(s))
    for _ in range(40):
        bits = rng.choice([8, 16, 32, 64])
        wide = rng.choice([w for w in (8, 16, 32, 64, 128) if w >= bits])
        per = wide // bits
        thr = (rng.choice([1, 2, 4, 8, 16]), rng.choice([4, 8, 16, 32]))
        val = rng.choice([(per, 1), (1, per), (per, 2), (2, per), (4, per), (per * 2, 1), (1, per * 4)])
        ts = f"({thr[0]},{thr[1]}):" + rng.choice([f"(1,{thr[0]})", f"({thr[1]},1)"])
        vs = f"({val[0]},{val[1]}):" + rng.choice([f"(1,{val[0]})", f"({val[1]},1)"])
        if rng.random() < 0.15 and thr[1] % 4 == 0:
            ts = f"({thr[0]},(4,{thr[1] // 4})):({thr[1]},({thr[1] // 4},1))"
        atom = rng.choice([U[wide]] + ([ASYNC[wide // 8]] if wide >= 32 else []))
        s = ["thrval", atom, str(bits), ts, vs]
        out.append(copy(s))
        x, y = thr[0] * val[0], thr[1] * val[1]
        big = (x * rng.choice([1, 2, 3]), y * rng.choice([1, 2, 3]))
        out += [side(w, matrix(*big, rng.random() < 0.5), s) for w in "SD"]
        # What the tile does not divide is rounded up.
        ragged = (big[0] + rng.choice([0, 1, 3]), big[1] + rng.choice([0, 5]))
        out.append(side("S", rng.choice([f"({ragged[0]},{ragged[1]}):({ragged[1]},1)", f"({ragged[0]}?,{ragged[1]}?):({ragged[1]}?,1)", f"id({ragged[0]},{ragged[1]})", f"id({ragged[0]}?,{ragged[1]}?)"]), s))
        if rng.random() < 0.3:
            other = [rng.choice("SD"), U[bits], str(bits), *s]
            out.append(copy(other))
    for atom in LDSM[:3]:
        for bits in ("8", "16", "32")[atom == LDSM[2] :]:  # a thread has 8 values of A
            s = ["A", atom, bits, SM80, "(2,2,1)", "[32:1;32:1;16:1]"]
            out.append(copy(["D", U[int(bits)], bits, *s]))
    for _ in range(20):
        tile = (rng.choice([2, 4, 8]), rng.choice([4, 8]))
        n = (tile[0] * rng.choice([1, 2, 3]), tile[1] * rng.choice([1, 2, 5]))
        by = f"[{tile[0]}:1;{tile[1]}:1]"
        t = matrix(*n, rng.random() < 0.5)
        out.append(local("inner", t, by, rng.choice(["(0,0)", "(_,0)", "(0,_)", "0", "(0?,0?)"]), "-"))
        out.append(local("outer", t, by, rng.choice(["(1,2)", "(_,3)", "(1,_)", "5", "(1?,2?)", "7?"]), "-"))
        thr = f"({tile[0]},{tile[1]}):" + rng.choice([f"(1,{tile[0]})", f"({tile[1]},1)"])
        out.append(local("local_partition", t, thr, str(rng.randrange(tile[0] * tile[1])), "-"))
    return out


# ---- compile, run, rewrite ----


def rewrite(line):
    """CuTe's integers as this project's: static ones plain, others with `?`; offsets and thread numbers plain."""

    def number(match):
        marked, digits = match.group(1), match.group(2)
        return digits if marked else digits + "?"

    words, _, results = line.partition(" => ")
    out = []
    for word in results.split(" "):
        key, _, result = word.partition("=")
        if key == "off":
            result = re.sub(r"#(\d+)#", r"\1", result)
            result = re.sub(r"_(\d)", r"\1", result)
        else:
            result = re.sub(r"(?<![@\d])(_?)(\d+)", number, result)
        out.append(f"{key}={result}" if key != word else word)
    return f"{words} => {' '.join(out)}"


def run(cutlass, cuda, cases, index):
    body = "\n".join(f'  {{ print("{" ".join(words)} =>"); {code} print("\\n"); }}' for words, code in cases)
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder, "cases.cpp"), Path(folder, "cases")
        source.write_text(f"{PREAMBLE}\nint main() {{\n{body}\n}}\n")
        flags = ["-std=c++17", "-O0", "-w", f"-I{cutlass}", f"-I{cuda}", f"-I{cuda}/cccl"]
        done = subprocess.run(["g++", *flags, source, "-o", program], capture_output=True, text=True, check=False)
        if done.returncode:
            sys.stderr.write(f"program {index}:\n{done.stderr[:3000]}\n")
            if len(cases) == 1:
                sys.stderr.write(f"left out: {' '.join(cases[0][0])}\n")
                return []
            middle = len(cases) // 2
            return run(cutlass, cuda, cases[:middle], index) + run(cutlass, cuda, cases[middle:], index)
        return subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines()


def main():
    cutlass, cuda = sys.argv[1:3]
    cases = tutorials() + chance(random.Random(SEED))
    chunks = [cases[i : i + CHUNK] for i in range(0, len(cases), CHUNK)]
    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(lambda c: run(cutlass, cuda, c[1], c[0]), enumerate(chunks)))
    seen = set()
    print("# What CuTe C++ (NVIDIA/cutlass 4.7.0, 7107b055) gives; made by generate.py, which says what the lines mean.")
    for line in (rewrite(line) for chunk in done for line in chunk):
        if line not in seen:
            seen.add(line)
            print(line)


if __name__ == "__main__":
    main()
