#!/usr/bin/env python3
"""Times of convolutions and of their gradients, beside cuDNN and in turn with it, in one run on one GPU.

    CUTE_TOOLS_DIR=FOLDER PYTHONPATH=python python3 tools/convolutions.py [--only WORDS] [--rounds 11] [--json FILE] [--options OPTIONS]

FOLDER has cute-opt and libcute_native.so of a release build; an installed wheel needs neither variable. Each row is one convolution of f16 with its
channels side by side (NHWC), known sizes and sums in f32. Its ways are the kernel of this compiler by its own choice of a plan, the same by
`mma.sync`, and PyTorch's, which asks cuDNN for its fastest algorithm (`torch.backends.cudnn.benchmark`). They are checked, recorded and timed as
tools/bars.py does it; behind the medians in microseconds stand TFLOP/s of the first way.
"""

import argparse
import concurrent.futures
import json
import os

import torch
import torch.nn.functional as F

import bars
import cute_opt


class Shape:
    """A convolution: images (N,C,*sizes), filters (K,C,*taps), steps, padding and dilation, each the same along all dimensions. Sizes run from the
    outermost dimension to W."""

    def __init__(self, n, c, sizes, k, taps, step=1, pad=None, apart=1):
        self.n, self.c, self.sizes, self.k, self.taps, self.step, self.apart = n, c, sizes, k, taps, step, apart
        self.pad = (taps[0] - 1) // 2 * apart if pad is None else pad
        self.places = [(size + 2 * self.pad - apart * (tap - 1) - 1) // step + 1 for size, tap in zip(sizes, taps)]

    def __str__(self):
        words = f"{self.n}x{'x'.join(map(str, self.sizes))}x{self.c} to {self.k} by {'x'.join(map(str, self.taps))}"
        return words + (f", steps of {self.step}" if self.step > 1 else "") + (f", {self.apart} apart" if self.apart > 1 else "")

    def of(self, name):
        """What a function of torch's calls by keyword."""
        return {"stride": self.step, "padding": self.pad, "dilation": self.apart} if name == "forward" else None

    def flops(self):
        product = 2 * self.n * self.c * self.k
        for places, taps in zip(self.places, self.taps):
            product *= places * taps
        return product


def leaves(extents, first=1):
    """`(a,b,...)` and the strides of these extents one behind the other."""
    strides = [first]
    for extent in extents:
        strides.append(strides[-1] * extent)
    return extents, strides[:-1]


def tuple_of(numbers):
    return f"({','.join(map(str, numbers))})" if len(numbers) > 1 else str(numbers[0])


def pixels(sizes, inner):
    """The modes (inner, W, H, .., N) of a tensor whose channels lie side by side."""
    extents, strides = leaves([inner, *reversed(sizes[1:]), sizes[0]])
    return bars.ref("f16", f"{tuple_of(extents)}:{tuple_of(strides)}")


def function(arguments, coordinates, start, factor):
    """A product of two factors, one of which is at coordinates."""
    return f"""func.func @product({', '.join(f'%{name}: {type_}' for name, type_ in arguments)}) {{
  %first = cute.static : !cute.int_tuple<"{start}">
  %from = cute.make_arith_tuple_iter(%first) : (!cute.int_tuple<"{start}">) -> !cute.arith_tuple_iter<"{start}">
  %at = cute.make_view(%from) : !cute.coord_tensor<"{start}", "{coordinates}">
  cute.contract ins(%A, %B) outs(%C) accumulate f32 at {factor}(%at)
  return
}}
"""


def steps(by, back=1):
    return [f"{back * by}@{1 + at}" for at in range(3)]


def forward(s):
    rank = len(s.sizes)
    x = pixels([s.n, *s.sizes], s.c)
    m, taps = [*reversed(s.places), s.n], [s.c, *reversed(s.taps)]
    across, along = leaves(taps)
    f = bars.ref("f16", f"({s.k},{tuple_of(across)}):({s.c * torch.tensor(s.taps).prod().item()},{tuple_of(along)})")
    y = bars.matrix("f16", s.n * torch.tensor(s.places).prod().item(), s.k)
    of_m = steps(s.step)[:rank] + [f"1@{rank + 1}"]
    of_k = ["1@0"] + steps(s.apart)[:rank]
    start = tuple_of([0] + [-s.pad] * rank + [0])
    return function([("A", x), ("B", f), ("C", y)], f"({tuple_of(m)},{tuple_of(taps)}):({tuple_of(of_m)},{tuple_of(of_k)})", start, "A")


def of_input(s):
    """The gradient of the input of a convolution in steps of 1."""
    rank = len(s.sizes)
    dy = pixels([s.n, *s.places], s.k)
    m, taps = [*reversed(s.sizes), s.n], [s.k, *reversed(s.taps)]
    along = leaves([s.c, *reversed(s.taps)])[1]
    f = bars.ref("f16", f"({s.c},{tuple_of(taps)}):(1,{tuple_of([s.c * torch.tensor(s.taps).prod().item()] + along[1:])})")
    dx = bars.matrix("f16", s.n * torch.tensor(s.sizes).prod().item(), s.c)
    of_m = steps(1)[:rank] + [f"1@{rank + 1}"]
    of_k = ["1@0"] + steps(s.apart, -1)[:rank]
    start = tuple_of([0] + [s.pad] * rank + [0])
    return function([("A", dy), ("B", f), ("C", dx)], f"({tuple_of(m)},{tuple_of(taps)}):({tuple_of(of_m)},{tuple_of(of_k)})", start, "A")


def of_filter(s):
    """The gradient of the filter."""
    rank = len(s.sizes)
    places = s.n * torch.tensor(s.places).prod().item()
    dy = bars.matrix("f16", s.k, places, False)
    x = pixels([s.n, *s.sizes], s.c)
    n, k = [s.c, *reversed(s.taps)], [*reversed(s.places), s.n]
    df = bars.matrix("f16", s.k, torch.tensor(n).prod().item())
    of_n = ["1@0"] + steps(s.apart)[:rank]
    of_k = steps(s.step)[:rank] + [f"1@{rank + 1}"]
    start = tuple_of([0] + [-s.pad] * rank + [0])
    return function([("A", dy), ("B", x), ("C", df)], f"({tuple_of(n)},{tuple_of(k)}):({tuple_of(of_n)},{tuple_of(of_k)})", start, "B")


def modes(x):
    """The modes (C,W,H,..,N) of a tensor of torch's (N,C,..,H,W)."""
    return x.permute(1, *range(x.dim() - 1, 1, -1), 0)


def filters(f):
    """The modes (K,C,S,R,..) of filters (K,C,..,R,S)."""
    return f.permute(0, 1, *range(f.dim() - 1, 1, -1))


def rows_of(y):
    """The matrix (pixels, channels) of a tensor whose channels lie side by side."""
    return y.permute(0, *range(2, y.dim()), 1).flatten(0, -2)


def row(s, kind):
    format_ = torch.channels_last if len(s.sizes) == 2 else torch.channels_last_3d
    conv = F.conv2d if len(s.sizes) == 2 else F.conv3d
    text = {"forward": forward, "of the input": of_input, "of the filter": of_filter}[kind](s)
    how = dict(stride=s.step, padding=s.pad, dilation=s.apart)
    backward = dict(bias_sizes=None, stride=[s.step] * len(s.sizes), padding=[s.pad] * len(s.sizes), dilation=[s.apart] * len(s.sizes))
    backward |= dict(transposed=False, output_padding=[0] * len(s.sizes), groups=1)

    def make():
        lain = lambda x: x.contiguous(memory_format=format_)
        x = lain(bars.normal(s.n, s.c, *s.sizes))
        f = lain(bars.normal(s.k, s.c, *s.taps, scale=(s.c * torch.tensor(s.taps).prod().item()) ** -0.5))
        y = lain(bars.normal(s.n, s.k, *s.places))
        out = {"forward": y, "of the input": x, "of the filter": f}[kind]
        # What is written comes third, as bars.py has it.
        return x, f, torch.empty_like(out), y

    def theirs(x, f, y):
        if kind == "forward":
            return conv(x, f, **how)
        mask = [kind == "of the input", kind == "of the filter", False]
        return torch.ops.aten.convolution_backward(y, x, f, output_mask=mask, **backward)[0 if mask[0] else 1]

    def ours(package):
        def way(t):
            x, f, out, y = t
            if kind == "forward":
                package(modes(x), filters(f), rows_of(out))
            elif kind == "of the input":
                package(modes(y), f.permute(1, 0, *range(f.dim() - 1, 1, -1)), rows_of(out))
            else:
                package(rows_of(y).t(), modes(x), out.permute(0, *range(2, f.dim()), 1).flatten(1))

        return way

    def cudnn(t):
        t[2].copy_(theirs(t[0], t[1], t[3])) if checking[0] else theirs(t[0], t[1], t[3])

    def ways(packages):
        found = {"known": ours(packages["known"])}
        if "mma.sync" in packages:
            found["mma.sync"] = ours(packages["mma.sync"])
        found["cuDNN"] = cudnn
        return found

    def expected(t):
        return theirs(t[0].float(), t[1].float(), t[3].float())

    size = 2 * (s.n * (s.c * torch.tensor(s.sizes).prod().item() + s.k * torch.tensor(s.places).prod().item()) + s.c * s.k * torch.tensor(s.taps).prod().item())
    name = str(s) if kind == "forward" else f"gradient {kind}, {s}"
    made = bars.Row(name, {"known": text}, make, expected, ways, size, 1e-2)
    made.flops = s.flops()
    return made


# cuDNN's result is copied only where it is checked: what is timed is the convolution alone.
checking = [True]


def rows():
    three, one, seven = [3, 3], [1, 1], [7, 7]
    shapes = [
        Shape(64, 64, [56, 56], 64, three),
        Shape(64, 128, [28, 28], 128, three),
        Shape(64, 256, [14, 14], 256, three),
        Shape(64, 512, [7, 7], 512, three),
        Shape(64, 128, [56, 56], 128, three, 2),
        Shape(64, 256, [56, 56], 512, one, 2),
        Shape(64, 8, [224, 224], 64, seven, 2),
        Shape(16, 320, [64, 64], 320, three),
        Shape(16, 640, [32, 32], 640, three),
        Shape(16, 1280, [16, 16], 1280, three),
        Shape(4, 512, [128, 128], 512, three),
        Shape(16, 256, [64, 64], 256, three, apart=2),
        Shape(2, 64, [16, 64, 64], 128, [3, 3, 3]),
        Shape(32, 96, [56, 56], 192, three),
        Shape(64, 32, [112, 112], 64, three),
    ]
    back = [shapes[0], shapes[2], shapes[7], shapes[12]]
    return [row(s, "forward") for s in shapes] + [row(s, kind) for s in back for kind in ("of the input", "of the filter")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", default=[], metavar="WORD")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--json", help="a file that gets a line for each row")
    parser.add_argument("--arch", nargs="+", default=["sm_90a", "sm_90"], help="architectures; the second is the way by mma.sync")
    options = parser.parse_args()
    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.allow_tf32 = False
    chosen = [row for row in rows() if not options.only or any(word in row.name for word in options.only)]
    ways = dict(zip(["known", "mma.sync"], options.arch))
    jobs = [(row, way) for row in chosen for way in ways]

    def compiled(job):
        row, way = job
        try:
            package = cute_opt.compile(row.kernels["known"], ways[way], cache=False)
        except Exception as error:
            return str(error).splitlines()[0]
        return next(package[name] for name in package)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        functions = dict(zip(((row.name, way) for row, way in jobs), pool.map(compiled, jobs)))
    off = bars.off

    def checked(row, sets, way):
        checking[0] = True
        found = off(row, sets, way)
        checking[0] = False
        return found

    bars.off = checked
    for row in chosen:
        own = {way: functions[row.name, way] for way in ways}
        refused = {way: why for way, why in own.items() if isinstance(why, str)}
        if "known" in refused:
            print(f"{row.name}: refused: {refused['known']}", flush=True)
            continue
        found, wrong = bars.times(row, {way: f for way, f in own.items() if way not in refused}, options.rounds)
        wrong |= refused
        first = next(iter(found.values()), None)
        shown = ", ".join(f"{name} {took:.1f}" + (f" ({first / took:.3f})" if at else f" ({row.flops / took / 1e6:.0f} TFLOP/s)") for at, (name, took) in enumerate(found.items()))
        print(f"{row.name}: {shown}" + "".join(f"; {name}: {why}" for name, why in wrong.items()), flush=True)
        if options.json:
            with open(options.json, "a") as file:
                print(json.dumps({"row": row.name, "times": found, "wrong": wrong}), file=file)
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
